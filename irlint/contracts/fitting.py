"""Finds sizes of several symbols that satisfy all conditions: the least ones, usual ones, and the greatest.

Each symbol has a leader: the number, or the root, to which it is equal. A root is a symbol that is its own leader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from irlint.contracts.formulas import Formula
from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import decided, replaced_in
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.findings.statements import Relation

#: If a size has no upper end, the greatest size is this many times the least.
OPEN_RANGE = 16

#: The largest number of combinations that are tried; with many roots it is smaller, so that at most MOST_LOOKS single
#: sizes are examined.
MAX_TRIES = 4096
MOST_LOOKS = 400_000

#: When two symbols are solved together, at most this many sizes of the first one are tried.
MOST_SOLVED = 512

#: A matching size is searched at most this far below the wanted one.
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
    """The least, usual and greatest sizes that satisfy all conditions; raises ValueError if none are found.

    ``leaders`` maps each symbol to its leader. ``texts`` are the conditions. ``joint`` has the conditions on several
    sizes as alternatives, of which at least one must hold.
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
        own = sizes.get(name, ALL)
        greatest = own.greatest
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


#: Whether sizes satisfy the conditions. With ``changed``, only conditions on that root are examined.
Hold = Callable[..., bool]


def _least(roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int] | None:
    """The sizes with the least sum that satisfy the conditions; None if none are near the least of each."""
    point = {name: sizes[name].least if name in sizes else 1 for name in roots}
    if hold(point):
        return point
    candidates = {name: _first(sizes.get(name, ALL), MAX_TRIES) for name in roots}
    tries = 0
    for extra in range(MAX_TRIES):
        for steps in _shared(extra, len(roots)):
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
    """The sizes with the least sum in which only two symbols differ from their least sizes; None if none are found.

    For each size of the first of the two, the least size of the second is solved.
    """
    start = {name: sizes[name].least if name in sizes else 1 for name in roots}
    best: dict[str, int] | None = None
    left = MOST_LOOKS
    for one, other in combinations(roots, 2):
        beside = {name: size for name, size in start.items() if name not in (one, other)}
        for size in _first(sizes.get(one, ALL), MOST_SOLVED):
            if best is not None and size + start[other] > best[one] + best[other]:
                break
            left -= len(roots) + len(joint)
            if left < 0:
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
    """The least size of one symbol that satisfies the conditions, given the sizes of the others; None if there is
    none."""
    found: Sizes | None = sizes
    for relations in joint:
        own = [replaced_in(each, known) for each in relations]
        if not any(name in symbols_in([each]) for each in own):
            continue
        fulfilled = solved(each for each in own if decided(each) is not False)
        found = met(found, fulfilled) if found is not None and fulfilled is not None else None
    return None if found is None or found.is_empty else found.least


def _first(sizes: Sizes, count: int) -> list[int]:
    found: list[int] = []
    for size in sizes.elements(min(FARTHEST, sizes.greatest or FARTHEST)):
        found.append(size)
        if len(found) == count:
            break
    return found


def _shared(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``places`` integers of at least 0 with the sum ``total``."""
    for bars in combinations(range(total + places - 1), places - 1) if places else ():
        yield tuple(map(lambda before, after: after - before - 1, (-1, *bars), (*bars, total + places - 1)))


def _grown(start: Mapping[str, int], ends: Mapping[str, int], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int]:
    """Sizes that satisfy the conditions, reached by doubling each size in turn up to its end."""
    point = dict(start)
    factor = 2
    while True:
        before = dict(point)
        for name, end in ends.items():
            own = sizes.get(name, ALL)
            target = min(end, factor * start[name])
            for size in range(target, max(point[name], target - MAX_STEPS), -1):
                if size not in own:
                    continue
                known, point[name] = point[name], size
                if hold(point, changed=name):
                    break
                point[name] = known
        if point == before and all(factor * start[name] >= end for name, end in ends.items()):
            return point
        factor *= 2
