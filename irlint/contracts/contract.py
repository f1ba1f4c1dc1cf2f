"""What a whole model demands of the sizes of its inputs: each condition once, solved where it is about one size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from irlint.contracts.conditions import conditions
from irlint.contracts.implied import symbols_in, without_implied
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
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.dims import Dim, symbol, symbols
from irlint.findings.statements import Relation
from irlint.inference.holes import names_in
from irlint.inference.known import Demand, Known
from irlint.model import Node
from irlint.records import NOTHING, record

#: So often equalities are put into the other demands.
ROUNDS = 4

#: At most so many demands beside one are asked what they tell about it.
MOST_BESIDE = 100


@record
class Condition:
    """A text that Python evaluates, the demand that is the first to make it, and how many nodes do.

    ``when`` is the path of the body that may never run, for which alone the condition holds.
    """

    text: str
    demand: Demand
    nodes: int = 1
    when: str = ""


@record
class Contract:
    """The conditions of a model, in the order of the graph.

    ``sizes`` are the sizes that each symbol can have, for the symbols about which conditions that hold always say something,
    and ``values`` what a symbol is, where that is one number or another symbol. ``facts`` are at least 0 wherever they hold.
    ``satisfiable`` is False where no sizes of at least 1 fulfil them, and ``impossible`` are the demands that then contradict each other.
    ``unknown`` are demands on sizes that no input tells.
    """

    conditions: tuple[Condition, ...]
    sizes: Mapping[str, Sizes]
    satisfiable: bool
    impossible: tuple[Demand, ...]
    unknown: tuple[Demand, ...]
    values: Mapping[str, Dim] = NOTHING
    facts: tuple[Dim, ...] = ()

    def returned(self, a: Dim) -> Dim:
        """A size of an output, where the conditions hold."""
        bounded: dict[str, Dim] = {name: symbol(name, 1) for name in symbols(a) if not name.startswith("_")}
        bounded |= {name: symbol(name, sizes.least, sizes.greatest) for name, sizes in self.sizes.items()}
        return reduced(within(a, {**bounded, **self.values}, self.facts), self.sizes) if self.satisfiable else a


@record(eq=False)
class _Open:
    """A demand that is not proven, with what is left of its relations."""

    demand: Demand
    relations: tuple[Relation, ...]

    @property
    def names(self) -> frozenset[str]:
        return symbols_in(self.relations)


def contract_of(known: Known) -> Contract:
    """What the operators of a model demand, taken together."""
    graph = known.model.graph
    inputs: dict[str, None] = {}
    for value in graph.inputs if graph is not None else ():
        inputs.update(dict.fromkeys(sorted(names_in([known.types.get(value)]))))
    always = _Group(inputs)
    always.add(demand for demand in known.requires if not demand.when)
    found = always.conditions()
    for when in dict.fromkeys(demand.when for demand in known.requires if demand.when):
        group = _Group(inputs, always.values)
        group.add(demand for demand in known.requires if demand.when == when)
        stated = {each.text for each in found if not each.when}
        found += [each for each in group.conditions(when) if each.text not in stated]
    places = {id(demand): at for at, demand in enumerate(known.requires)}
    found.sort(key=lambda each: places[id(each.demand)])
    return Contract(
        tuple(found),
        always.sizes,
        not always.impossible,
        tuple(always.impossible),
        tuple(always.unknown),
        always.values,
        tuple(always.facts()),
    )


class _Group:
    """The demands that hold together."""

    def __init__(self, inputs: Iterable[str], values: Mapping[str, Dim] | None = None) -> None:
        self.inputs = {name: at for at, name in enumerate(inputs)}
        #: What a symbol is, where that is one number or another symbol.
        self.values: dict[str, Dim] = dict(values or {})
        self.sizes: dict[str, Sizes] = {}
        self.makers: dict[str, list[tuple[Demand, Sizes]]] = {}
        self.equal: list[tuple[str, Demand]] = []
        self.joint: list[_Open] = []
        self.raw: list[_Open] = []
        self.impossible: list[Demand] = []
        #: The nodes that demand each alternative of relations, of which only the first demand is looked at.
        self.nodes: dict[object, set[Node]] = {}
        self.unknown: list[Demand] = []

    def add(self, demands: Iterable[Demand]) -> None:
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
                waiting.append(_Open(demand, relations))
        for _ in range(ROUNDS):
            before = dict(self.values), self.joint
            waiting = [each for each in map(self._reduced, waiting) if each is not None and not self._taken(each)]
            self.joint = waiting
            if (self.values, [each.relations for each in waiting]) == (
                before[0],
                [each.relations for each in before[1]],
            ):
                break
        self._shorten()

    def _shorten(self) -> None:
        """Leaves of the demands on several sizes those that do not follow from others."""
        first: dict[object, _Open] = {}
        for each in self.joint:
            first.setdefault(key_of(each.relations), each)
        shortest = without_implied([each.relations for each in first.values()])
        self.joint = [
            _Open(each.demand, relations) for each, relations in zip(first.values(), shortest) if relations is not None
        ]

    def _reduced(self, each: _Open) -> _Open | None:
        """What is left of a demand; None where it is proven, or cannot hold."""
        left: list[Relation] = []
        for relation in each.relations:
            relation = replaced_in(relation, self.values)
            relation = simplified(without_extremes(relation, self._facts_about(relation, each)))
            holds = decided(relation)
            if holds:
                return None
            if holds is None and relation not in left:
                left.append(relation)
        if not left:
            self._contradicted(each.names, each.demand)
            return None
        return _Open(each.demand, tuple(left))

    def _facts_about(self, relation: Relation, apart: _Open) -> list[Dim]:
        """Of the facts that other demands say those that may tell which part a "min" or "max" of a relation is."""
        if not has_extremes(relation.left) and not has_extremes(relation.right):
            return []
        names = symbols_in([relation])
        beside = (each for each in self.joint if each.demand is not apart.demand and not names.isdisjoint(each.names))
        return [fact for each in islice(beside, MOST_BESIDE) for fact in _facts_of(each)]

    def facts(self) -> list[Dim]:
        """What the demands say is at least 0."""
        return [fact for each in self.joint for fact in _facts_of(each)]

    def _taken(self, each: _Open) -> bool:
        """Whether a demand says what one size is, or can be."""
        names = each.names
        if len(names) == 1:
            (name,) = names
            sizes = solved(each.relations)
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
        if sizes.is_full:
            return
        if together.is_empty:
            self._contradicted({name}, demand)
            return
        self.makers.setdefault(name, []).append((demand, sizes))
        self.sizes[name] = together
        single = together.single
        if single is not None:
            self.values[name] = single

    def _contradicted(self, names: Iterable[str], demand: Demand) -> None:
        """Notes a demand that nothing fulfils beside those that were there before."""
        if not self.impossible:
            self.impossible += [each for name in sorted(names) for each, _ in self.makers.get(name, [])]
        self.impossible.append(demand)

    def _count(self, demands: Iterable[Demand]) -> int:
        return len(set[Node]().union(*(self.nodes[key_of(each.requirement.any_of)] for each in demands)))

    def _equated(self, each: _Open) -> bool:
        """Whether two symbols are demanded to be equal: then the later one stands for the first from here on."""
        (relation,) = each.relations
        names = sorted(each.names)
        if len(names) != 2 or {str(relation.left), str(relation.right)} != set(names):
            return False
        kept, gone = sorted((relation.left, relation.right), key=lambda side: self.inputs[str(side)])
        self.equal.append((f"{kept!s} == {gone!s}", each.demand))
        self.values[str(gone)] = kept
        if str(gone) in self.sizes:
            sizes = self.sizes.pop(str(gone))
            makers = self.makers.pop(str(gone), [])
            together = met(self.sizes.get(str(kept), ALL), sizes)
            if together is None:
                return True
            for demand, own in makers:
                self._narrow(str(kept), demand, own, together)
        return True

    def conditions(self, when: str = "") -> list[Condition]:
        found = [Condition(text, demand, self._count([demand]), when) for text, demand in self.equal]
        for name, sizes in self.sizes.items():
            texts = conditions(name, sizes)
            makers = self.makers[name]
            if texts is None:
                found += self._as_they_are(((demand.requirement.condition, demand) for demand, _ in makers), when)
                continue
            for text in texts:
                alone = _makers_of(text, name, makers)
                found.append(Condition(text, alone[0], self._count(alone), when))
        rest = ((" or ".join(map(text_of, each.relations)), each.demand) for each in (*self.raw, *self.joint))
        return found + self._as_they_are(rest, when)

    def _as_they_are(self, stated: Iterable[tuple[str, Demand]], when: str) -> list[Condition]:
        demands: dict[str, list[Demand]] = {}
        for text, demand in stated:
            demands.setdefault(text, []).append(demand)
        return [Condition(text, each[0], self._count(each), when) for text, each in demands.items()]


def _facts_of(each: _Open) -> list[Dim]:
    """What a demand says is at least 0."""
    if len(each.relations) > 1 or each.relations[0].kind not in ("==", ">="):
        return []
    (relation,) = each.relations
    facts = [relation.left - relation.right]
    return [*facts, relation.right - relation.left] if relation.kind == "==" else facts


def _makers_of(text: str, name: str, makers: Sequence[tuple[Demand, Sizes]]) -> list[Demand]:
    """The demands of which each implies a condition; else those that do together, the one that completes it first."""
    code = compile(text, "condition", "eval")

    def implied(sizes: Sizes) -> bool:
        limit = sizes.modulus * 4 + 64
        greatest = sizes.greatest
        end = limit if greatest is None else min(greatest, 16 * limit)
        return all(eval(code, {"__builtins__": {}}, {name: size}) for size in sizes.elements(end))

    alone = [demand for demand, sizes in makers if implied(sizes)]
    if alone:
        return alone
    together: Sizes | None = ALL
    for at, (_, sizes) in enumerate(makers):
        together = met(together, sizes) if together is not None else None
        if together is None or implied(together):
            return [makers[at][0], *(demand for demand, _ in makers[:at])]
    return [demand for demand, _ in makers]
