"""Which demands follow from others: conditions on two sizes of at least 1 are stated once, in their shortest form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import combinations, groupby, product

from irlint.contracts.simplified import decided, replaced_in
from irlint.dims import Dim, TooComplex, at_least, symbols
from irlint.findings.statements import Relation

#: Of more demands no two are looked at together.
MOST_IN_PAIRS = 12

#: So often one demand is held against another: of very many, some that follow from others may remain.
MOST_COMPARED = 2000

#: The alternatives of a demand, one of which has to hold.
Alternatives = tuple[Relation, ...]


def without_implied(demands: Sequence[Alternatives]) -> list[Alternatives | None]:
    """The demands with the alternatives that are needed; None for one that follows from the others."""
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
    """The symbols that relations are about."""
    return frozenset[str]().union(*(symbols(side) for each in relations for side in (each.left, each.right)))


def by_name(names: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    """The places of what has each name, in order."""
    places: dict[str, list[int]] = {}
    for at, each in enumerate(names):
        for name in each:
            places.setdefault(name, []).append(at)
    return places


def related(names: Iterable[str], places: Mapping[str, Sequence[int]]) -> Iterator[int]:
    """The places, in order, that have one of the names: conditions without a common symbol are independent."""
    return (place for place, _ in groupby(merge(*(places.get(name, ()) for name in names))))


def _shortened(alternatives: Alternatives, certain: Sequence[Relation]) -> Alternatives:
    """Without an alternative that leads, with what is certain, to another one of them."""
    kept = list(alternatives)
    for each in alternatives:
        others = [other for other in kept if other is not each]
        if others and any(_holds_where(other, [each, *certain]) for other in others):
            kept = others
    return tuple(kept)


def _follows(alternatives: Alternatives, others: Sequence[Alternatives]) -> bool:
    """Whether one of ``alternatives`` holds where one of each of the ``others`` does."""
    return all(any(_holds_where(each, given) for each in alternatives) for given in product(*others))


def _holds_where(relation: Relation, given: Sequence[Relation]) -> bool:
    """Whether a relation is proven to hold where all that is ``given`` does."""
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
    """What is at least 0 exactly where the relation holds; None where no such expression exists."""
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
