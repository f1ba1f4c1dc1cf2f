"""Removes demands that follow from other demands, so that a contract lists each condition once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from itertools import combinations, groupby, product

from irlint.contracts.simplified import decided, replaced_in
from irlint.dims import Dim, TooComplex, at_least, symbols
from irlint.findings.statements import Relation

#: If a demand is compared with more demands than this, only demands with a common symbol are examined, and no pairs.
MOST_IN_PAIRS = 12

#: The most proofs that are tried to shorten demands, and again the most that are tried to remove demands.
MOST_PROOFS = 2000

#: The relations of a demand, at least one of which must hold.
Alternatives = tuple[Relation, ...]


def without_implied(demands: Sequence[Alternatives]) -> list[Alternatives | None]:
    """Each demand without superfluous alternatives; None for a demand that follows from other demands."""
    remaining: list[Alternatives | None] = list(demands)
    names = [symbols_in(demand) for demand in demands]
    with suppress(_Exhausted):
        _shorten_each(remaining, names)
    with suppress(_Exhausted):
        _remove_implied(remaining, names)
    return remaining


def _shorten_each(demands: list[Alternatives | None], names: Sequence[frozenset[str]]) -> None:
    single = by_name([own if demand and len(demand) == 1 else () for own, demand in zip(names, demands)])
    proofs = _Proofs()
    for at, demand in enumerate(demands):
        if demand is not None and len(demand) > 1:
            certain = [other[0] for other in _others(demands, at, names, single) if len(other) == 1]
            demands[at] = proofs.shortened(demand, certain)


def _remove_implied(demands: list[Alternatives | None], names: Sequence[frozenset[str]]) -> None:
    places = by_name(names)
    proofs = _Proofs()
    for at in range(len(demands) - 1, -1, -1):
        alternatives, others = demands[at] or (), _others(demands, at, names, places)
        pairs = combinations(others, 2) if _are_few(demands) else ()
        implied = any(proofs.follows(alternatives, [other]) for other in others)
        if implied or any(proofs.follows(alternatives, pair) for pair in pairs):
            demands[at] = None


def _others(
    demands: Sequence[Alternatives | None],
    at: int,
    names: Sequence[frozenset[str]],
    places: Mapping[str, Sequence[int]],
) -> list[Alternatives]:
    """The other demands. If there are many, only those that share a symbol with demand ``at``."""
    indices = range(len(demands)) if _are_few(demands) else related(names[at], places)
    return [other for place in indices if place != at and (other := demands[place]) is not None]


def _are_few(demands: Sequence[Alternatives | None]) -> bool:
    return sum(demand is not None for demand in demands) <= MOST_IN_PAIRS + 1


def symbols_in(relations: Iterable[Relation]) -> frozenset[str]:
    """The symbols in relations."""
    return frozenset[str]().union(
        *(symbols(side) for relation in relations for side in (relation.left, relation.right))
    )


def by_name(names: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """The indices of the entries with each name, in order."""
    places: dict[str, list[int]] = {}
    for at, names_of_entry in enumerate(names):
        for name in names_of_entry:
            places.setdefault(name, []).append(at)
    return places


def related(names: Iterable[str], places: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """The indices of the entries with at least one of the names, in order and without duplicates."""
    return (place for place, _ in groupby(merge(*(places.get(name, ()) for name in names))))


class _Exhausted(Exception):
    """No further proof is tried."""


class _Proofs:
    """Tries at most MOST_PROOFS proofs, then raises _Exhausted."""

    def __init__(self) -> None:
        self.tried = 0

    def shortened(self, alternatives: Alternatives, certain: Sequence[Relation]) -> Alternatives:
        """The alternatives, without any that implies another alternative. The ``certain`` relations hold."""
        needed = list(alternatives)
        for relation in alternatives:
            others = [other for other in needed if other is not relation]
            if others and any(self._implies([relation, *certain], other) for other in others):
                needed = others
        return tuple(needed)

    def follows(self, alternatives: Alternatives, others: Sequence[Alternatives]) -> bool:
        """Whether at least one of ``alternatives`` holds whenever all demands in ``others`` hold."""
        return all(any(self._implies(given, relation) for relation in alternatives) for given in product(*others))

    def _implies(self, given: Sequence[Relation], relation: Relation) -> bool:
        self.tried += 1
        if self.tried > MOST_PROOFS:
            raise _Exhausted
        return _is_implied(relation, given)


def _is_implied(relation: Relation, given: Sequence[Relation]) -> bool:
    """Whether a relation is proven for all sizes that meet the ``given`` relations."""
    values: dict[str, Dim] = {}
    for fact in given:
        values.update(_substitution(replaced_in(fact, values)))
    relation, *facts = (replaced_in(fact, values) for fact in (relation, *given))
    if decided(relation) or any(decided(fact) is False for fact in facts):
        return True
    known = [difference for fact in facts for difference in _differences(fact)]
    needed = _differences(relation)
    return bool(needed) and all(any(_is_at_least(difference, other) for other in known) for difference in needed)


def _substitution(relation: Relation) -> dict[str, Dim]:
    """If one side of an equality is a symbol, maps this symbol to the other side; else {}."""
    for side, other in ((relation.left, relation.right), (relation.right, relation.left)):
        if relation.kind == "==" and str(side) in symbols(side) and str(side) not in symbols(other):
            return {str(side): other}
    return {}


def _differences(relation: Relation) -> list[Dim]:
    """Expressions that are at least 0 exactly if a relation holds.

    Returns [] for a divisibility, and for a relation that is too complex.
    """
    if relation.kind == "%":
        return []
    try:
        difference = relation.left - relation.right
    except TooComplex:
        return []
    return [difference] if relation.kind == ">=" else [difference, -difference]


def _is_at_least(large: Dim, small: Dim) -> bool:
    try:
        return at_least(large - small, 0) is True
    except TooComplex:
        return False
