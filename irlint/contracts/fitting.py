"""Finds sizes of several symbols that satisfy all conditions: the least sizes, usual sizes, and the greatest sizes.

Each symbol has a leader: the number or the root that it equals. A root is a symbol that is its own leader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from irlint.contracts.formulas import Formula
from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import decided, replaced_in
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.findings.statements import Relation

#: If a size has no upper end, or one above FARTHEST, the greatest size is this many times the least size.
OPEN_RANGE = 16

#: The largest number of combinations of sizes that are tried.
MAX_TRIES = 4096

#: The largest number of single sizes in the combinations that are tried. With many roots, this allows fewer
#: combinations than MAX_TRIES.
MOST_LOOKS = 400_000

#: When two symbols are solved together, at most this many sizes of the first symbol are tried.
MOST_SOLVED = 512

#: A size that satisfies the conditions is searched from the target down over at most this many sizes.
MAX_STEPS = 2048

#: Larger sizes are not examined one by one.
FARTHEST = 100_000


def points(
    roots: Sequence[str],
    sizes: Mapping[str, Sizes],
    texts: Sequence[str],
    leaders: Mapping[str, int | str],
    joint: Sequence[Sequence[Relation]] = (),
) -> list[dict[str, int]]:
    """The least, the usual and the greatest sizes of all symbols; each of the three satisfies all conditions.

    ``leaders`` maps each symbol to its leader. ``sizes`` has the possible sizes of roots. ``texts`` are the conditions,
    and ``joint`` has those on several sizes as alternatives, of which at least one must hold. Raises ValueError if no
    sizes are found.
    """
    conditions = [_Condition(text, leaders) for text in texts]
    by_root: dict[str, list[_Condition]] = {}
    for each in conditions:
        for root in {leader for leader in each.leaders.values() if isinstance(leader, str)}:
            by_root.setdefault(root, []).append(each)

    def hold(point: Mapping[str, int], changed: str = "") -> bool:
        return all(each.holds(point) for each in (by_root.get(changed, ()) if changed else conditions))

    least = _least(roots, sizes, hold)
    least = _solved_in_pairs(roots, sizes, hold, joint) if least is None else least
    if least is None:
        raise ValueError(f"no sizes were found that fit: {' and '.join(texts)}")
    ends = {}
    for name in roots:
        greatest = sizes.get(name, ALL).greatest
        ends[name] = OPEN_RANGE * least[name] if greatest is None or greatest > FARTHEST else greatest
    greatest_point = _grown(least, ends, sizes, hold)
    middle = {name: (least[name] + greatest_point[name]) // 2 for name in roots}
    usual = _grown(least, middle, sizes, hold)
    return [
        {name: each if isinstance(each, int) else point[each] for name, each in leaders.items()}
        for point in (least, usual, greatest_point)
    ]


class _Condition:
    """A condition as a formula, with the ``leaders`` of its symbols."""

    __slots__ = ("formula", "leaders")

    def __init__(self, text: str, leaders: Mapping[str, int | str]) -> None:
        self.formula = Formula(text)
        self.leaders = {name: leaders[name] for name in self.formula.names if name in leaders}

    def holds(self, point: Mapping[str, int]) -> bool:
        """Whether the condition holds for these sizes of the roots."""
        known = {name: each if isinstance(each, int) else point[each] for name, each in self.leaders.items()}
        return self.formula.holds(known)


#: Returns whether sizes of the roots satisfy the conditions; with ``changed``, whether the conditions on this root are
#: satisfied.
Hold = Callable[..., bool]


def _least(roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int] | None:
    """The first sizes of the roots that satisfy the conditions, beginning with the least sizes.

    Combinations are tried in the order of their total number of steps above the least sizes; a step goes from one
    possible size to the next. Returns None if the limits on tries are reached.
    """
    point = {name: sizes[name].least if name in sizes else 1 for name in roots}
    if hold(point):
        return point
    candidates = {name: _first(sizes.get(name, ALL), MAX_TRIES) for name in roots}
    tries = 0
    for extra in range(MAX_TRIES):
        for steps in _distributed(extra, len(roots)):
            tries += 1
            if tries > min(MAX_TRIES, MOST_LOOKS // len(roots)):
                return None
            if all(step < len(candidates[name]) for name, step in zip(roots, steps)):
                point = {name: candidates[name][step] for name, step in zip(roots, steps)}
                if hold(point):
                    return point
    return None


def _solved_in_pairs(
    roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold, joint: Sequence[Sequence[Relation]]
) -> dict[str, int] | None:
    """Sizes that satisfy the conditions and of which only two differ from the least sizes; None if none are found.

    For each size of one root, the least size of another root is solved. The result has the least sum for the first two
    roots with which sizes are found.
    """
    start = {name: sizes[name].least if name in sizes else 1 for name in roots}
    best: dict[str, int] | None = None
    remaining_looks = MOST_LOOKS
    for one, other in combinations(roots, 2):
        beside = {name: size for name, size in start.items() if name not in (one, other)}
        for size in _first(sizes.get(one, ALL), MOST_SOLVED):
            if best is not None and size + start[other] > best[one] + best[other]:
                break
            remaining_looks -= len(roots) + len(joint)
            if remaining_looks < 0:
                return best
            known = {**beside, one: size}
            least = _least_of(other, sizes.get(other, ALL), known, joint)
            point = {**known, other: least or 0}
            if least is not None and hold(point) and (best is None or sum(point.values()) < sum(best.values())):
                best = point
        if best is not None:
            return best
    return None


def _least_of(name: str, sizes: Sizes, known: Mapping[str, int], joint: Sequence[Sequence[Relation]]) -> int | None:
    """The least size of one symbol that satisfies the conditions, given the ``known`` sizes of the other symbols.

    Returns None if there is no such size, or if the conditions are too complex.
    """
    found: Sizes | None = sizes
    for relations in joint:
        about_name = [replaced_in(each, known) for each in relations]
        if name not in symbols_in(about_name):
            continue
        fulfilled = solved(each for each in about_name if decided(each) is not False)
        found = met(found, fulfilled) if found is not None and fulfilled is not None else None
    return None if found is None or found.is_empty else found.least


def _first(sizes: Sizes, count: int) -> list[int]:
    """The first ``count`` sizes of a set that are at most FARTHEST."""
    found: list[int] = []
    for size in sizes.elements(min(FARTHEST, sizes.greatest or FARTHEST)):
        found.append(size)
        if len(found) == count:
            break
    return found


def _distributed(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``places`` integers of at least 0 with the sum ``total``."""
    for bars in combinations(range(total + places - 1), places - 1) if places else ():
        yield tuple(map(lambda before, after: after - before - 1, (-1, *bars), (*bars, total + places - 1)))


def _grown(start: Mapping[str, int], ends: Mapping[str, int], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int]:
    """Sizes that satisfy the conditions, found by raising each size from ``start`` in turn until no size rises.

    In each round, the target of every size doubles, up to its end. The size becomes the largest one that satisfies the
    conditions within MAX_STEPS below the target.
    """
    point = dict(start)
    factor = 2
    while True:
        before = dict(point)
        for name, end in ends.items():
            possible = sizes.get(name, ALL)
            target = min(end, factor * start[name])
            for size in range(target, max(point[name], target - MAX_STEPS), -1):
                if size not in possible:
                    continue
                previous, point[name] = point[name], size
                if hold(point, changed=name):
                    break
                point[name] = previous
        if point == before and all(factor * start[name] >= end for name, end in ends.items()):
            return point
        factor *= 2
