"""The contract of a model: its conditions on the sizes of its inputs, such as ``H % 32 == 0``.

A demand is the requirement of one node. Demands on one size are solved exactly. Demands on several sizes are
simplified, and each of them is listed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from irlint.contracts.conditions import conditions
from irlint.contracts.implied import by_name, related, symbols_in, without_implied
from irlint.contracts.joint import about, contradicting
from irlint.contracts.residues import reduced
from irlint.contracts.simplified import (
    decided,
    has_extremes,
    key_of,
    replaced_in,
    simplified,
    text_of,
    within,
    without_extremes,
)
from irlint.contracts.sizes import ALL, Sizes, between, met, solved
from irlint.dims import Bounds, Dim, at_least, symbol, symbols
from irlint.dims.polynomials import atom_dim, atoms_of, terms_of
from irlint.findings.statements import Relation
from irlint.inference.known import Demand, Known
from irlint.inference.unknowns import names_in
from irlint.model import Node
from irlint.model.tensor import Type, tensor_shape
from irlint.records import NOTHING, record

#: The most rounds in which known values are inserted into the demands, and the most rounds of that and ``_fix``.
ROUNDS = 4

#: A demand on more sizes than this is not examined for its effect on a single size.
MOST_TOGETHER = 4

#: After this many demands on a single size could not be solved, further demands on a single size are not solved.
UNSOLVED = 32

#: At most this many demands on several sizes are simplified; the rest stay as the nodes state them.
MOST_SETTLED = 500

#: At most this many other demands are used to simplify a demand, and at most this many demands are examined by
#: ``_fix``.
MOST_BESIDE = 100


@record
class Condition:
    """A condition as a Python expression, a demand that implies it, and the number of ``nodes`` with such demands.

    If only a body that may never run needs the condition, ``when`` is the path of the body.
    """

    text: str
    demand: Demand
    nodes: int = 1
    when: str = ""


@record(eq=False)
class Open:
    """A demand that is not proven, with its alternative ``relations`` after known values were inserted."""

    demand: Demand
    relations: tuple[Relation, ...]

    @property
    def names(self) -> frozenset[str]:
        """The symbols in the relations."""
        return symbols_in(self.relations)


@record
class Contract:
    """The conditions of a model, in the order of the graph. All other fields are about unconditional demands.

    ``sizes`` maps each symbol that a demand limits to its possible sizes, and ``values`` maps a symbol to the number or
    symbol that it equals. ``facts`` are expressions that are at least 0 for all sizes that meet the demands.
    ``satisfiable`` is False if it is proven that no sizes of at least 1 meet the demands; ``impossible`` are then the
    contradicting demands. ``unknown`` are demands on sizes that no input determines. ``makers`` maps a symbol to the
    demands that limit it, each with the sizes that this demand allows. ``equal`` maps a symbol to the demand that makes
    it equal to an earlier one. ``joint`` are the demands on several sizes, and those on one size that were not solved.
    """

    conditions: tuple[Condition, ...]
    sizes: Mapping[str, Sizes]
    satisfiable: bool
    impossible: tuple[Demand, ...]
    unknown: tuple[Demand, ...]
    values: Mapping[str, Dim] = NOTHING
    facts: tuple[Dim, ...] = ()
    makers: Mapping[str, Sequence[tuple[Demand, Sizes]]] = NOTHING
    equal: Mapping[str, Demand] = NOTHING
    joint: tuple[Open, ...] = ()

    def returned(self, a: Dim) -> Dim:
        """A size of an output, simplified by the conditions."""
        bounded: dict[str, Dim] = {name: symbol(name, 1) for name in symbols(a) if not name.startswith("_")}
        bounded |= {name: symbol(name, sizes.least, sizes.greatest) for name, sizes in self.sizes.items()}
        return reduced(within(a, {**bounded, **self.values}, self.facts), self.sizes) if self.satisfiable else a


def contract_of(known: Known) -> Contract:
    """The contract of a model, from the demands of its operators."""
    graph = known.model.graph
    given = [known.types.get(value) for value in graph.inputs] if graph is not None else []
    limits = _limits(given)
    always = Group(limits)
    always.add(demand for demand in known.requires if not demand.when)
    demands: Sequence[Demand] = known.requires
    if graph is not None and not always.impossible and any(demand.when for demand in demands):
        from irlint.contracts.branches import demanded_by_both

        demands = demanded_by_both(demands, graph, lambda: Group(limits, always.values))
        if demands is not known.requires:
            always = Group(limits)
            always.add(demand for demand in demands if not demand.when)
    found = always.conditions()
    for when in dict.fromkeys(demand.when for demand in demands if demand.when):
        group = Group(limits, always.values)
        group.add(demand for demand in demands if demand.when == when)
        stated = {each.text for each in found if not each.when}
        found += [each for each in group.conditions(when) if each.text not in stated]
    places = {id(demand): at for at, demand in enumerate(demands)}
    found.sort(key=lambda each: places[id(each.demand)])
    return Contract(
        tuple(found),
        always.sizes,
        not always.impossible,
        tuple(always.impossible),
        tuple(always.unknown),
        always.values,
        tuple(always.facts()),
        always.makers,
        always.same,
        (*always.raw, *always.joint),
    )


def _limits(given: Sequence[Type | None]) -> dict[str, Bounds]:
    """The smallest size, at least 1, and the largest size (None: no end) of each symbol of the inputs, in order."""
    found: dict[str, Bounds] = {}
    for each in given:
        names = sorted(names_in([each]))
        shape = tensor_shape(each)
        atoms = {atom.name: atom for dim in shape or () if dim is not None for atom in atoms_of(dim) if not atom.parts}
        for name in names:
            atom = atoms.get(name)
            found.setdefault(name, (1, None) if atom is None else (max(atom.low or 1, 1), atom.high))
    return found


class Group:
    """Demands that apply together.

    ``limits`` has the smallest and largest size of each symbol of the inputs. ``sizes``, ``makers``, ``joint``,
    ``impossible`` and ``unknown`` are as in Contract. ``same`` is ``equal`` of Contract; ``equal`` has the texts and
    demands of the equalities. ``raw`` are the demands on one size that were not solved.
    """

    def __init__(self, limits: Mapping[str, Bounds], values: Mapping[str, Dim] | None = None) -> None:
        self.limits = limits
        self.inputs = {name: at for at, name in enumerate(limits)}
        #: Maps a symbol to the number or the earlier symbol that it equals.
        self.values: dict[str, Dim] = dict(values or {})
        self.sizes: dict[str, Sizes] = {}
        self.makers: dict[str, list[tuple[Demand, Sizes]]] = {}
        self.equal: list[tuple[str, Demand]] = []
        self.same: dict[str, Demand] = {}
        self.joint: list[Open] = []
        #: The indices in ``joint`` of the demands on each symbol.
        self._places: dict[str, list[int]] = {}
        self.raw: list[Open] = []
        self.impossible: list[Demand] = []
        #: The nodes with the same demand, by the key of the demand; only the first of equal demands is examined.
        self.nodes: dict[object, set[Node]] = {}
        self.unknown: list[Demand] = []

    def add(self, demands: Iterable[Demand]) -> None:
        """Solves and simplifies the demands, and stores the results. Must be called once."""
        waiting = []
        for demand in demands:
            relations = demand.requirement.any_of
            key = key_of(relations)
            seen = key in self.nodes
            self.nodes.setdefault(key, set()).add(demand.node)
            if seen:
                continue
            if symbols_in(relations) - self.inputs.keys():
                self.unknown.append(demand)
            else:
                waiting.append(Open(demand, relations))
        several = [each for each in waiting if len(each.names) > 1]
        unsettled = {id(each): each for each in several[MOST_SETTLED:]}
        waiting = [each for each in waiting if id(each) not in unsettled]
        for _ in range(ROUNDS):
            self._settle(waiting)
            self._fix()
            waiting = self.joint
            if all(self.values.keys().isdisjoint(each.names) for each in self.joint):
                break
        self._shorten()
        if not self.impossible and any(len(each.names) > 1 for each in self.joint):
            together = [*self.raw, *self.joint]
            places = contradicting([each.relations for each in together], self._bounds())
            behind = [each for at in places for each in self._with_others(together[at].demand)]
            self.impossible += {id(each): each for each in behind}.values()
        self.joint += unsettled.values()

    def _settle(self, waiting: list[Open]) -> None:
        """Inserts the known values of symbols into the demands until nothing changes, at most ROUNDS times.

        Demands on one size and equalities of two symbols are stored; ``joint`` becomes the list of all other demands.
        """
        for _ in range(ROUNDS):
            self._places = by_name(each.names for each in self.joint)
            before = dict(self.values), [each.relations for each in self.joint]
            waiting = [each for each in map(self._reduced, waiting) if each is not None and not self._stored(each)]
            self.joint = waiting
            if before == (self.values, [each.relations for each in waiting]):
                break

    def _fix(self) -> None:
        """Narrows each symbol of which a demand on several symbols allows only one size, or none."""
        limits = self._bounds()
        for each in self.joint[:MOST_BESIDE]:
            if len(each.relations) > 1 or len(each.names) > MOST_TOGETHER:
                continue
            for name in sorted(each.names):
                relation = about(each.relations[0], name, limits)
                sizes = solved([relation]) if relation is not None else None
                together = met(self.sizes.get(name, ALL), sizes) if sizes is not None else None
                if sizes is not None and together is not None and (together.is_empty or together.single is not None):
                    self._narrow(name, each.demand, sizes, together)

    def _bounds(self) -> dict[str, Bounds]:
        """The smallest and largest size of each symbol."""
        found = dict(self.limits)
        for name, sizes in self.sizes.items():
            low, high = found.get(name, (1, None))
            ends = [each for each in (high, sizes.greatest) if each is not None]
            found[name] = max(low or 1, sizes.least), min(ends, default=None)
        return found

    def _with_others(self, demand: Demand) -> list[Demand]:
        """The demands that limit the symbols of a demand or make them equal to others, then the demand itself."""
        names = dict.fromkeys(sorted(symbols_in(demand.requirement.any_of)))
        equal: list[Demand] = []
        for name in list(names):
            while name in self.same:
                equal.append(self.same[name])
                name = str(self.values[name])
                names[name] = None
        limiting = [each for name in names for each, _ in self.makers.get(name, ())]
        return [*({id(each): each for each in (*equal, *limiting) if each is not demand}.values()), demand]

    def _shorten(self) -> None:
        """Removes from ``joint`` the demands that follow from others, and the alternatives that are not needed."""
        first: dict[object, Open] = {}
        for each in self.joint:
            first.setdefault(key_of(each.relations), each)
        shortest = without_implied([each.relations for each in first.values()])
        self.joint = [
            Open(each.demand, relations) for each, relations in zip(first.values(), shortest) if relations is not None
        ]

    def _reduced(self, each: Open) -> Open | None:
        """The demand with known values inserted and simplified; None if it always holds.

        If no sizes meet the demand, records that in ``impossible`` and returns None.
        """
        possible: list[Relation] = []
        for relation in each.relations:
            relation = replaced_in(relation, self.values)
            relation = simplified(without_extremes(relation, self._facts_about(relation, each)))
            holds = decided(relation)
            if holds:
                return None
            if holds is None and relation not in possible:
                possible.append(relation)
        if not possible:
            self._contradicted(each.demand)
            return None
        return Open(each.demand, tuple(possible))

    def _facts_about(self, relation: Relation, origin: Open) -> list[Dim]:
        """The facts that may decide a "min" or "max" in a relation, from demands other than ``origin``."""
        if not has_extremes(relation.left) and not has_extremes(relation.right):
            return []
        near = (self.joint[at] for at in related(symbols_in([relation]), self._places))
        beside = (each for each in near if each.demand is not origin.demand)
        return [fact for each in islice(beside, MOST_BESIDE) for fact in _facts_of(each)]

    def demands(self) -> list[Demand]:
        """The demands that limit sizes or make them equal; demands that always hold or were not settled do not."""
        single = [demand for makers in self.makers.values() for demand, _ in makers]
        return [*single, *self.same.values(), *(each.demand for each in (*self.raw, *self.joint))]

    def facts(self) -> list[Dim]:
        """The expressions that are at least 0 for all sizes that meet the demands on several sizes."""
        return [fact for each in self.joint for fact in _facts_of(each)]

    def _stored(self, each: Open) -> bool:
        """Stores a demand on one size, or one that makes two symbols equal; returns False for any other demand."""
        names = each.names
        if len(names) == 1:
            (name,) = names
            sizes = solved(each.relations) if len(self.raw) < UNSOLVED else None
            together = met(self.sizes.get(name, ALL), sizes) if sizes is not None else None
            if sizes is None or together is None:
                self.raw.append(each)
                return True
            self._narrow(name, each.demand, sizes, together)
            return True
        if len(each.relations) == 1 and each.relations[0].kind == "==":
            return self._equated(each)
        return False

    def _narrow(self, name: str, demand: Demand, sizes: Sizes, together: Sizes) -> None:
        """Limits a symbol to ``together``, because a demand allows only ``sizes``; records a contradiction."""
        if sizes.is_full:
            return
        low, high = self.limits.get(name, (1, None))
        within_limits = met(together, between(low or 1, high))
        if together.is_empty or (within_limits is not None and within_limits.is_empty):
            self._contradicted(demand)
            return
        self.makers.setdefault(name, []).append((demand, sizes))
        self.sizes[name] = together
        single = together.single
        if single is not None:
            self.values[name] = single

    def _contradicted(self, demand: Demand) -> None:
        """Adds a demand to ``impossible``; if it is the first, also the demands that limit its symbols."""
        more = [demand] if self.impossible else self._with_others(demand)
        self.impossible += [each for each in more if not any(each is other for other in self.impossible)]

    def _count(self, demands: Iterable[Demand]) -> int:
        """The number of nodes with one of the demands."""
        return len(set[Node]().union(*(self.nodes[key_of(each.requirement.any_of)] for each in demands)))

    def _equated(self, each: Open) -> bool:
        """If a demand makes two symbols equal, stores that the earlier one replaces the later one; returns whether."""
        (relation,) = each.relations
        names = sorted(each.names)
        if len(names) != 2 or {str(relation.left), str(relation.right)} != set(names):
            return False
        earlier, later = sorted((relation.left, relation.right), key=lambda side: self.inputs[str(side)])
        self.equal.append((f"{earlier!s} == {later!s}", each.demand))
        self.values[str(later)] = earlier
        self.same[str(later)] = each.demand
        if str(later) in self.sizes:
            sizes = self.sizes.pop(str(later))
            makers = self.makers.pop(str(later), [])
            together = met(self.sizes.get(str(earlier), ALL), sizes)
            if together is None:
                return True
            for demand, allowed in makers:
                self._narrow(str(earlier), demand, allowed, together)
        return True

    def conditions(self, when: str = "") -> list[Condition]:
        """The demands as conditions; ``when`` is the path of the body of this group, "" for unconditional demands."""
        found = [Condition(text, demand, self._count([demand]), when) for text, demand in self.equal]
        for name, sizes in self.sizes.items():
            texts = conditions(name, sizes)
            makers = self.makers[name]
            if texts is None:
                found += self._as_they_are(((demand.requirement.condition, demand) for demand, _ in makers), when)
                continue
            for text in texts:
                implying = _makers_of(text, name, makers)
                found.append(Condition(text, implying[0], self._count(implying), when))
        rest = ((" or ".join(map(text_of, each.relations)), each.demand) for each in (*self.raw, *self.joint))
        return found + self._as_they_are(rest, when)

    def _as_they_are(self, stated: Iterable[tuple[str, Demand]], when: str) -> list[Condition]:
        """The conditions with these texts and demands; equal texts become one condition."""
        demands: dict[str, list[Demand]] = {}
        for text, demand in stated:
            demands.setdefault(text, []).append(demand)
        return [Condition(text, each[0], self._count(each), when) for text, each in demands.items()]


def _facts_of(each: Open) -> list[Dim]:
    """Expressions that are at least 0 for all sizes that meet a demand; [] for alternatives and divisibilities."""
    if len(each.relations) > 1 or each.relations[0].kind not in ("==", ">="):
        return []
    (relation,) = each.relations
    facts = [relation.left - relation.right]
    if at_least(relation.right, 1):
        facts += _factors_of(relation.left)
    return [*facts, relation.right - relation.left] if relation.kind == "==" else facts


def _factors_of(product: Dim) -> list[Dim]:
    """Expressions that are at least 0 if ``product`` is at least 1: each factor minus 1.

    Returns [] if ``product`` is a sum, or if one of its factors may be negative.
    """
    (atoms, factor), *others = terms_of(product).items()
    if others or factor < 0 or any(atom.low is None or atom.low < 0 for atom in atoms):
        return []
    return [atom_dim(atom) - 1 for atom in atoms]


def _makers_of(text: str, name: str, makers: Sequence[tuple[Demand, Sizes]]) -> list[Demand]:
    """The demands that each imply the condition ``text``.

    If no demand implies the condition alone, returns the first demands that imply it together, the last of them first,
    or all demands if that is not found.
    """
    if len(makers) == 1:
        return [makers[0][0]]
    from irlint.contracts.formulas import Formula

    formula = Formula(text)

    def implied(sizes: Sizes) -> bool:
        limit = sizes.modulus * 4 + 64
        greatest = sizes.greatest
        end = limit if greatest is None else min(greatest, 16 * limit)
        return all(formula.holds({name: size}) for size in sizes.elements(end))

    alone = [demand for demand, sizes in makers if implied(sizes)]
    if alone:
        return alone
    together: Sizes | None = ALL
    for at, (_, sizes) in enumerate(makers):
        together = met(together, sizes) if together is not None else None
        if together is None or implied(together):
            return [makers[at][0], *(demand for demand, _ in makers[:at])]
    return [demand for demand, _ in makers]
