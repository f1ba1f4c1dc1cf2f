"""Finds demands that follow from others, so that a contract lists each condition once and in its shortest form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import combinations, groupby, product

from irlint.contracts.simplified import decided, replaced_in
from irlint.dims import Dim, TooComplex, at_least, symbols
from irlint.findings.statements import Relation

#: Combinations of two demands are examined only up to this many demands.
MOST_IN_PAIRS = 12

#: At most this many comparisons of demands; if there are more, some that follow from others may remain.
MOST_COMPARED = 2000

#: The alternatives of a demand, at least one of which must hold.
Alternatives = tuple[Relation, ...]


def without_implied(demands: Sequence[Alternatives]) -> list[Alternatives | None]:
    """The demands without alternatives that are not needed; None for a demand that follows from the others."""
    left: list[Alternatives | None] = list(demands)
    count = len(left)
    names = [symbols_in(each) for each in demands]
    places = by_name(names)
    certain = by_name([each if len(demand) == 1 else () for each, demand in zip(names, demands)])
    compared = proofs = 0

    def others_of(at: int, among: Mapping[str, Sequence[int]]) -> list[Alternatives]:
        beside = range(len(left)) if count <= MOST_IN_PAIRS + 1 else related(names[at], among)
        return [other for place in beside if place != at and (other := left[place]) is not None]

    for at, each in enumerate(demands):
        given = [other[0] for other in others_of(at, certain) if len(other) == 1] if len(each) > 1 else []
        compared += len(given)
        proofs += len(each) if len(each) > 1 else 0
        if max(compared, proofs) > MOST_COMPARED:
            break
        left[at] = _shortened(each, given)
    for at in range(len(left) - 1, -1, -1):
        alternatives, others = left[at] or (), others_of(at, places)
        compared += len(others)
        if compared > MOST_COMPARED:
            break
        together = combinations(others, 2) if count <= MOST_IN_PAIRS + 1 else ()
        follows = any(_follows(alternatives, [other]) for other in others)
        if follows or any(_follows(alternatives, pair) for pair in together):
            left[at] = None
            count -= 1
    return left


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
    """The indices, in order, of the entries with one of the names; conditions without a common symbol are
    independent."""
    return (place for place, _ in groupby(merge(*(places.get(name, ()) for name in names))))


def _shortened(alternatives: Alternatives, certain: Sequence[Relation]) -> Alternatives:
    """The alternatives without those that, with the ``certain`` relations, imply another one."""
    kept = list(alternatives)
    for each in alternatives:
        others = [other for other in kept if other is not each]
        if others and any(_holds_where(other, [each, *certain]) for other in others):
            kept = others
    return tuple(kept)


def _follows(alternatives: Alternatives, others: Sequence[Alternatives]) -> bool:
    """Whether one of ``alternatives`` holds whenever each of the ``others`` has an alternative that holds."""
    return all(any(_holds_where(each, given) for each in alternatives) for given in product(*others))


def _holds_where(relation: Relation, given: Sequence[Relation]) -> bool:
    """Whether a relation is proven to hold if all relations in ``given`` do."""
    values: dict[str, Dim] = {}
    for each in given:
        each = replaced_in(each, values)
        for side, other in ((each.left, each.right), (each.right, each.left)):
            if each.kind == "==" and str(side) in symbols(side) and str(side) not in symbols(other):
                values[str(side)] = other
                break
    relation, *facts = (replaced_in(each, values) for each in (relation, *given))
    if decided(relation) or any(decided(fact) is False for fact in facts):
        return True
    differences = [fact for each in facts for fact in _not_negative(each)]
    return bool(wanted := _not_negative(relation)) and all(
        any(_reaches(each, fact) for fact in differences) for each in wanted
    )


def _not_negative(relation: Relation) -> list[Dim]:
    """Expressions that are all at least 0 exactly if the relation holds; [] if there are none."""
    if relation.kind == "%":
        return []
    try:
        difference = relation.left - relation.right
    except TooComplex:
        return []
    return [difference] if relation.kind == ">=" else [difference, -difference]


def _reaches(wanted: Dim, fact: Dim) -> bool:
    try:
        return at_least(wanted - fact, 0) is True
    except TooComplex:
        return False
