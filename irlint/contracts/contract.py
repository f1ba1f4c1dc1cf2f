"""The contract of a model: its conditions on the sizes of its inputs, such as ``H % 32 == 0``.

A demand is the requirement of one node. Demands on one size are solved exactly, as sets of sizes. Demands on several
sizes are simplified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from irlint.contracts.conditions import conditions
from irlint.contracts.implied import by_name, related, symbols_in, without_implied
from irlint.contracts.joint import contradicting, inequality_about
from irlint.contracts.residues import reduced
from irlint.contracts.simplified import (
    decided,
    has_extremes,
    key_of,
    replaced_in,
    simplified,
    text_of,
    with_values,
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

#: The most rounds in which known values are inserted. Also the most rounds of insertion and narrowing.
ROUNDS = 4

#: A demand on more sizes than this narrows none of them.
MOST_TOGETHER = 4

#: After this many unsolved demands on single sizes, no more demands on single sizes are solved.
MOST_UNSOLVED = 32

#: The most demands on several sizes that are simplified.
MOST_SIMPLIFIED = 500

#: A demand is simplified by at most this many other demands. At most this many demands narrow single sizes.
MOST_BESIDE = 100


@record
class Condition:
    """A condition on sizes as a Python expression."""

    text: str
    #: A demand that implies the condition, alone or with earlier demands.
    demand: Demand
    #: The number of nodes with demands that imply the condition.
    nodes: int = 1
    #: The path of the body that needs the condition, if the body may never run; else "".
    when: str = ""


@record(eq=False)
class Unproven:
    """An unproven demand, and its alternatives with known values inserted."""

    demand: Demand
    relations: tuple[Relation, ...]

    @property
    def names(self) -> frozenset[str]:
        return symbols_in(self.relations)


@record
class Contract:
    """The conditions of a model, in the order of the graph.

    All other fields are about unconditional demands.
    """

    conditions: tuple[Condition, ...]
    #: The possible sizes of each symbol that a demand limits.
    sizes: Mapping[str, Sizes]
    #: False if it is proven that no sizes of at least 1 meet the demands.
    satisfiable: bool
    #: The contradictory demands of a contract that is not satisfiable.
    impossible: tuple[Demand, ...]
    #: The demands on sizes that no input determines.
    unknown: tuple[Demand, ...]
    #: The number or the earlier symbol that a symbol equals.
    values: Mapping[str, Dim] = NOTHING
    #: Expressions that are at least 0 for all sizes that meet the demands.
    facts: tuple[Dim, ...] = ()
    #: The demands that limit each symbol, and the sizes that each demand allows.
    limiting: Mapping[str, Sequence[tuple[Demand, Sizes]]] = NOTHING
    #: The demand that makes a symbol equal to an earlier symbol.
    equal: Mapping[str, Demand] = NOTHING
    #: The demands on several sizes, and the unsolved demands on one size.
    joint: tuple[Unproven, ...] = ()

    def simplified_size(self, a: Dim) -> Dim:
        """A size, simplified by the conditions."""
        bounded: dict[str, Dim] = {name: symbol(name, 1) for name in symbols(a) if not name.startswith("_")}
        bounded |= {name: symbol(name, sizes.least, sizes.greatest) for name, sizes in self.sizes.items()}
        return reduced(with_values(a, {**bounded, **self.values}, self.facts), self.sizes) if self.satisfiable else a


def contract_of(known: Known) -> Contract:
    """The contract of a model."""
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
        stated = {condition.text for condition in found if not condition.when}
        found += [condition for condition in group.conditions(when) if condition.text not in stated]
    positions = {id(demand): at for at, demand in enumerate(demands)}
    found.sort(key=lambda condition: positions[id(condition.demand)])
    return Contract(
        tuple(found),
        always.sizes,
        not always.impossible,
        tuple(always.impossible),
        tuple(always.unknown),
        always.values,
        tuple(always.facts()),
        always.limiting,
        always.equal,
        (*always.unsolved, *always.joint),
    )


def _limits(given: Sequence[Type | None]) -> dict[str, Bounds]:
    """The smallest size (at least 1) and the largest size (None: no end) of each symbol of the inputs."""
    found: dict[str, Bounds] = {}
    for known in given:
        names = sorted(names_in([known]))
        shape = tensor_shape(known)
        atoms = {atom.name: atom for dim in shape or () if dim is not None for atom in atoms_of(dim) if not atom.parts}
        for name in names:
            atom = atoms.get(name)
            found.setdefault(name, (1, None) if atom is None else (max(atom.low or 1, 1), atom.high))
    return found


class Group:
    """Demands that apply together. A field with the name of a field of Contract has the same meaning."""

    def __init__(self, limits: Mapping[str, Bounds], values: Mapping[str, Dim] | None = None) -> None:
        #: The smallest and largest size of each symbol of the inputs.
        self.limits = limits
        self.inputs = {name: at for at, name in enumerate(limits)}
        self.values: dict[str, Dim] = dict(values or {})
        self.sizes: dict[str, Sizes] = {}
        self.limiting: dict[str, list[tuple[Demand, Sizes]]] = {}
        #: The texts and demands of the equalities of two symbols.
        self.equalities: list[tuple[str, Demand]] = []
        self.equal: dict[str, Demand] = {}
        self.joint: list[Unproven] = []
        #: The indices in ``joint`` of the demands on each symbol.
        self._places: dict[str, list[int]] = {}
        #: The demands on one size that are too complex to solve.
        self.unsolved: list[Unproven] = []
        self.impossible: list[Demand] = []
        #: The nodes with equal demands, by the key of the demands. Of equal demands, only the first is examined.
        self.nodes: dict[object, set[Node]] = {}
        self.unknown: list[Demand] = []

    def add(self, demands: Iterable[Demand]) -> None:
        """Solves and simplifies the demands. May be called only once."""
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
                waiting.append(Unproven(demand, relations))
        several = [unproven for unproven in waiting if len(unproven.names) > 1]
        unsimplified = {id(unproven): unproven for unproven in several[MOST_SIMPLIFIED:]}
        waiting = [unproven for unproven in waiting if id(unproven) not in unsimplified]
        for _ in range(ROUNDS):
            self._insert_values(waiting)
            self._narrow_by_joint()
            waiting = self.joint
            if all(self.values.keys().isdisjoint(unproven.names) for unproven in self.joint):
                break
        self._remove_implied()
        if not self.impossible and any(len(unproven.names) > 1 for unproven in self.joint):
            together = [*self.unsolved, *self.joint]
            places = contradicting([unproven.relations for unproven in together], self._bounds())
            contradictory = [demand for at in places for demand in self._with_others(together[at].demand)]
            self.impossible += {id(demand): demand for demand in contradictory}.values()
        self.joint += unsimplified.values()

    def _insert_values(self, waiting: list[Unproven]) -> None:
        """Inserts the known values of symbols into the demands until nothing changes.

        Stores demands on one size and equalities of two symbols. The other demands become ``joint``.
        """
        for _ in range(ROUNDS):
            self._places = by_name(unproven.names for unproven in self.joint)
            before = dict(self.values), [unproven.relations for unproven in self.joint]
            waiting = [
                unproven
                for unproven in map(self._simplified, waiting)
                if unproven is not None and not self._try_to_store(unproven)
            ]
            self.joint = waiting
            if before == (self.values, [unproven.relations for unproven in waiting]):
                break

    def _narrow_by_joint(self) -> None:
        """Narrows each symbol of which a demand on several symbols allows at most one size."""
        limits = self._bounds()
        for unproven in self.joint[:MOST_BESIDE]:
            if len(unproven.relations) > 1 or len(unproven.names) > MOST_TOGETHER:
                continue
            for name in sorted(unproven.names):
                relation = inequality_about(unproven.relations[0], name, limits)
                sizes = solved([relation]) if relation is not None else None
                together = met(self.sizes.get(name, ALL), sizes) if sizes is not None else None
                if sizes is not None and together is not None and (together.is_empty or together.single is not None):
                    self._narrow(name, unproven.demand, sizes, together)

    def _bounds(self) -> dict[str, Bounds]:
        found = dict(self.limits)
        for name, sizes in self.sizes.items():
            low, high = found.get(name, (1, None))
            ends = [end for end in (high, sizes.greatest) if end is not None]
            found[name] = max(low or 1, sizes.least), min(ends, default=None)
        return found

    def _with_others(self, demand: Demand) -> list[Demand]:
        """The demands that limit the symbols of ``demand`` or make them equal to others, then ``demand`` itself."""
        names = dict.fromkeys(sorted(symbols_in(demand.requirement.any_of)))
        equal: list[Demand] = []
        for name in list(names):
            while name in self.equal:
                equal.append(self.equal[name])
                name = str(self.values[name])
                names[name] = None
        limiting = [other for name in names for other, _ in self.limiting.get(name, ())]
        return [*({id(other): other for other in (*equal, *limiting) if other is not demand}.values()), demand]

    def _remove_implied(self) -> None:
        first: dict[object, Unproven] = {}
        for unproven in self.joint:
            first.setdefault(key_of(unproven.relations), unproven)
        shortest = without_implied([unproven.relations for unproven in first.values()])
        self.joint = [
            Unproven(unproven.demand, relations)
            for unproven, relations in zip(first.values(), shortest)
            if relations is not None
        ]

    def _simplified(self, unproven: Unproven) -> Unproven | None:
        """The demand with known values inserted; None if the demand always holds or is impossible."""
        possible: list[Relation] = []
        for relation in unproven.relations:
            relation = replaced_in(relation, self.values)
            relation = simplified(without_extremes(relation, self._facts_about(relation, unproven)))
            holds = decided(relation)
            if holds:
                return None
            if holds is None and relation not in possible:
                possible.append(relation)
        if not possible:
            self._record_contradiction(unproven.demand)
            return None
        return Unproven(unproven.demand, tuple(possible))

    def _facts_about(self, relation: Relation, origin: Unproven) -> list[Dim]:
        """Facts from other demands, which may decide a "min" or "max" in the relation."""
        if not has_extremes(relation.left) and not has_extremes(relation.right):
            return []
        near = (self.joint[at] for at in related(symbols_in([relation]), self._places))
        beside = (unproven for unproven in near if unproven.demand is not origin.demand)
        return [fact for unproven in islice(beside, MOST_BESIDE) for fact in _facts_of(unproven)]

    def demands(self) -> list[Demand]:
        """The demands that limit sizes or make sizes equal."""
        single = [demand for limiting in self.limiting.values() for demand, _ in limiting]
        return [*single, *self.equal.values(), *(unproven.demand for unproven in (*self.unsolved, *self.joint))]

    def facts(self) -> list[Dim]:
        """Expressions that are at least 0 for all sizes that meet the joint demands."""
        return [fact for unproven in self.joint for fact in _facts_of(unproven)]

    def _try_to_store(self, unproven: Unproven) -> bool:
        """Stores a demand on one size, or an equality of two symbols. Returns False for other demands."""
        names = unproven.names
        if len(names) == 1:
            (name,) = names
            sizes = solved(unproven.relations) if len(self.unsolved) < MOST_UNSOLVED else None
            together = met(self.sizes.get(name, ALL), sizes) if sizes is not None else None
            if sizes is None or together is None:
                self.unsolved.append(unproven)
                return True
            self._narrow(name, unproven.demand, sizes, together)
            return True
        if len(unproven.relations) == 1 and unproven.relations[0].kind == "==":
            return self._try_to_equate(unproven)
        return False

    def _narrow(self, name: str, demand: Demand, sizes: Sizes, together: Sizes) -> None:
        """Limits a symbol to the sizes ``together`` because a demand allows only ``sizes``."""
        if sizes.is_full:
            return
        low, high = self.limits.get(name, (1, None))
        within_limits = met(together, between(low or 1, high))
        if together.is_empty or (within_limits is not None and within_limits.is_empty):
            self._record_contradiction(demand)
            return
        self.limiting.setdefault(name, []).append((demand, sizes))
        self.sizes[name] = together
        single = together.single
        if single is not None:
            self.values[name] = single

    def _record_contradiction(self, demand: Demand) -> None:
        more = [demand] if self.impossible else self._with_others(demand)
        self.impossible += [new for new in more if not any(new is other for other in self.impossible)]

    def _number_of_nodes(self, demands: Iterable[Demand]) -> int:
        return len(set[Node]().union(*(self.nodes[key_of(demand.requirement.any_of)] for demand in demands)))

    def _try_to_equate(self, unproven: Unproven) -> bool:
        """For an equality of two symbols, replaces the later symbol by the earlier one. False for other demands."""
        (relation,) = unproven.relations
        names = sorted(unproven.names)
        if len(names) != 2 or {str(relation.left), str(relation.right)} != set(names):
            return False
        earlier, later = sorted((relation.left, relation.right), key=lambda side: self.inputs[str(side)])
        self.equalities.append((f"{earlier!s} == {later!s}", unproven.demand))
        self.values[str(later)] = earlier
        self.equal[str(later)] = unproven.demand
        if str(later) in self.sizes:
            sizes = self.sizes.pop(str(later))
            limiting = self.limiting.pop(str(later), [])
            together = met(self.sizes.get(str(earlier), ALL), sizes)
            if together is None:
                return True
            for demand, allowed in limiting:
                self._narrow(str(earlier), demand, allowed, together)
        return True

    def conditions(self, when: str = "") -> list[Condition]:
        """The demands as conditions. ``when`` is the path of their body, or ""."""
        found = [Condition(text, demand, self._number_of_nodes([demand]), when) for text, demand in self.equalities]
        for name, sizes in self.sizes.items():
            texts = conditions(name, sizes)
            limiting = self.limiting[name]
            if texts is None:
                found += self._by_text(((demand.requirement.condition, demand) for demand, _ in limiting), when)
                continue
            for text in texts:
                implying = _implying(text, name, limiting)
                found.append(Condition(text, implying[0], self._number_of_nodes(implying), when))
        rest = (
            (" or ".join(map(text_of, unproven.relations)), unproven.demand)
            for unproven in (*self.unsolved, *self.joint)
        )
        return found + self._by_text(rest, when)

    def _by_text(self, stated: Iterable[tuple[str, Demand]], when: str) -> list[Condition]:
        demands: dict[str, list[Demand]] = {}
        for text, demand in stated:
            demands.setdefault(text, []).append(demand)
        return [Condition(text, equal[0], self._number_of_nodes(equal), when) for text, equal in demands.items()]


def _facts_of(unproven: Unproven) -> list[Dim]:
    """Expressions that are at least 0 for all sizes that meet a demand."""
    if len(unproven.relations) > 1 or unproven.relations[0].kind not in ("==", ">="):
        return []
    (relation,) = unproven.relations
    facts = [relation.left - relation.right]
    if at_least(relation.right, 1):
        facts += _facts_of_factors(relation.left)
    return [*facts, relation.right - relation.left] if relation.kind == "==" else facts


def _facts_of_factors(product: Dim) -> list[Dim]:
    """Each factor minus 1, for a product that is at least 1; [] for sums and negative factors."""
    (atoms, factor), *others = terms_of(product).items()
    if others or factor < 0 or any(atom.low is None or atom.low < 0 for atom in atoms):
        return []
    return [atom_dim(atom) - 1 for atom in atoms]


def _implying(text: str, name: str, limiting: Sequence[tuple[Demand, Sizes]]) -> list[Demand]:
    """The demands that each imply the condition ``text``.

    If no demand does, returns the first demands that imply the condition together. The last of these comes first.
    """
    if len(limiting) == 1:
        return [limiting[0][0]]
    from irlint.contracts.formulas import Formula

    formula = Formula(text)

    def implied(sizes: Sizes) -> bool:
        limit = sizes.modulus * 4 + 64
        greatest = sizes.greatest
        end = limit if greatest is None else min(greatest, 16 * limit)
        return all(formula.holds({name: size}) for size in sizes.elements(end))

    alone = [demand for demand, sizes in limiting if implied(sizes)]
    if alone:
        return alone
    together: Sizes | None = ALL
    for at, (_, sizes) in enumerate(limiting):
        together = met(together, sizes) if together is not None else None
        if together is None or implied(together):
            return [limiting[at][0], *(demand for demand, _ in limiting[:at])]
    return [demand for demand, _ in limiting]
