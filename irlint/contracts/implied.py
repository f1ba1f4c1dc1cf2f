"""Finds demands that follow from others, so that a contract lists each condition once and in its shortest form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from itertools import combinations, groupby, product

from irlint.contracts.simplified import decided, replaced_in
from irlint.dims import Dim, TooComplex, at_least, symbols
from irlint.findings.statements import Relation

#: If a demand has more other demands than this, only those with a common symbol are examined, and no pairs of them.
MOST_IN_PAIRS = 12

#: At most this many proofs are tried to shorten demands, and as many to remove demands. If more were needed, some
#: alternatives and demands that follow from others remain.
MOST_PROOFS = 2000

#: The alternatives of a demand, at least one of which must hold.
Alternatives = tuple[Relation, ...]


def without_implied(demands: Sequence[Alternatives]) -> list[Alternatives | None]:
    """Each demand with only the alternatives that it needs; None in place of a demand that follows from others."""
    remaining: list[Alternatives | None] = list(demands)
    names = [symbols_in(each) for each in demands]
    with suppress(_Exhausted):
        _shorten_each(remaining, names)
    with suppress(_Exhausted):
        _remove_implied(remaining, names)
    return remaining


def _shorten_each(demands: list[Alternatives | None], names: Sequence[frozenset[str]]) -> None:
    """Removes alternatives that are not needed; raises _Exhausted."""
    single = by_name([own if each and len(each) == 1 else () for own, each in zip(names, demands)])
    proofs = _Proofs()
    for at, each in enumerate(demands):
        if each is not None and len(each) > 1:
            certain = [other[0] for other in _others(demands, at, names, single) if len(other) == 1]
            demands[at] = proofs.shortened(each, certain)


def _remove_implied(demands: list[Alternatives | None], names: Sequence[frozenset[str]]) -> None:
    """Replaces demands that follow from others by None, the last ones first; raises _Exhausted."""
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
    """The demands other than demand ``at``: all if they are few, else those with a common symbol in ``places``."""
    indices = range(len(demands)) if _are_few(demands) else related(names[at], places)
    return [other for place in indices if place != at and (other := demands[place]) is not None]


def _are_few(demands: Sequence[Alternatives | None]) -> bool:
    return sum(each is not None for each in demands) <= MOST_IN_PAIRS + 1


def symbols_in(relations: Iterable[Relation]) -> frozenset[str]:
    """The symbols in relations."""
    return frozenset[str]().union(*(symbols(side) for each in relations for side in (each.left, each.right)))


def by_name(names: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """Maps each name to the indices of the entries with this name, in order."""
    places: dict[str, list[int]] = {}
    for at, each in enumerate(names):
        for name in each:
            places.setdefault(name, []).append(at)
    return places


def related(names: Iterable[str], places: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """The indices in ``places`` of the entries with at least one of the names, in order and each once.

    Conditions without a common symbol are independent.
    """
    return (place for place, _ in groupby(merge(*(places.get(name, ()) for name in names))))


class _Exhausted(Exception):
    """All proofs were tried."""


class _Proofs:
    """Tries at most MOST_PROOFS proofs; each further one raises _Exhausted."""

    def __init__(self) -> None:
        self.tried = 0

    def shortened(self, alternatives: Alternatives, certain: Sequence[Relation]) -> Alternatives:
        """The alternatives without each one that, with the ``certain`` relations, implies another alternative."""
        needed = list(alternatives)
        for each in alternatives:
            others = [other for other in needed if other is not each]
            if others and any(self._implies([each, *certain], other) for other in others):
                needed = others
        return tuple(needed)

    def follows(self, alternatives: Alternatives, others: Sequence[Alternatives]) -> bool:
        """Whether one of ``alternatives`` holds whenever each of the ``others`` has an alternative that holds."""
        return all(any(self._implies(given, each) for each in alternatives) for given in product(*others))

    def _implies(self, given: Sequence[Relation], relation: Relation) -> bool:
        self.tried += 1
        if self.tried > MOST_PROOFS:
            raise _Exhausted
        return _is_implied(relation, given)


def _is_implied(relation: Relation, given: Sequence[Relation]) -> bool:
    """Whether a relation is proven to hold for all sizes for which all relations in ``given`` hold; also True if no
    sizes meet all of ``given``."""
    values: dict[str, Dim] = {}
    for each in given:
        values.update(_determined(replaced_in(each, values)))
    relation, *facts = (replaced_in(each, values) for each in (relation, *given))
    if decided(relation) or any(decided(fact) is False for fact in facts):
        return True
    known = [difference for each in facts for difference in _differences(each)]
    needed = _differences(relation)
    return bool(needed) and all(any(_is_at_least(each, other) for other in known) for each in needed)


def _determined(relation: Relation) -> dict[str, Dim]:
    """The symbol on one side of an equality, mapped to the other side without this symbol; {} if there is none."""
    for side, other in ((relation.left, relation.right), (relation.right, relation.left)):
        if relation.kind == "==" and str(side) in symbols(side) and str(side) not in symbols(other):
            return {str(side): other}
    return {}


def _differences(relation: Relation) -> list[Dim]:
    """Expressions that are all at least 0 exactly if an equality or inequality holds; [] if it is too complex, and for
    a divisibility."""
    if relation.kind == "%":
        return []
    try:
        difference = relation.left - relation.right
    except TooComplex:
        return []
    return [difference] if relation.kind == ">=" else [difference, -difference]


def _is_at_least(large: Dim, small: Dim) -> bool:
    """Whether ``large >= small`` is proven for all sizes."""
    try:
        return at_least(large - small, 0) is True
    except TooComplex:
        return False
