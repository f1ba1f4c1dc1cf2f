"""Finds sizes of several symbols that satisfy all conditions.

Symbols that must be equal have one leader: a number, or one of these symbols, which is called their root.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from irlint.contracts.formulas import Formula
from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import decided, replaced_in
from irlint.contracts.sizes import ALL, Sizes, between, met, solved
from irlint.findings.statements import Relation
from irlint.records import record

#: The greatest size is this many times the least size, if the size has no limit up to FARTHEST.
UNBOUNDED_RANGE = 16

#: The most combinations of sizes that are tried.
MAX_TRIES = 4096

#: The maximum number of sizes in all tried combinations together. With many roots, fewer combinations are tried.
MOST_SIZES = 400_000

#: The most sizes of one symbol for which another symbol is solved.
MOST_SOLVED = 512

#: The most sizes below a target that ``_grown`` tries.
MAX_STEPS = 2048

#: Larger sizes are not examined one by one.
FARTHEST = 100_000

#: A result of ``Constraints.hold``.
Hold = Callable[..., bool]


@record
class Constraints:
    """The conditions on the sizes of several symbols."""

    texts: Sequence[str]
    #: The number or the root that each symbol equals.
    leaders: Mapping[str, int | str]
    #: The conditions on several sizes, as alternatives.
    joint: Sequence[Sequence[Relation]] = ()

    def least(self, sizes: Mapping[str, Sizes]) -> dict[str, int] | None:
        """The least sizes of all symbols that satisfy the conditions; None if none are found.

        ``sizes`` are the possible sizes of roots.
        """
        found = _found(self.roots, sizes, self.hold(), self.joint)
        return None if found is None else self.of_all(found)

    def nearest(self, sizes: Mapping[str, Sizes], ends: Mapping[str, int]) -> dict[str, int] | None:
        """As ``least``, but the size of each root is raised toward its size in ``ends`` as far as possible."""
        hold = self.hold()
        found = _found(self.roots, sizes, hold, self.joint)
        if found is None:
            return None
        return self.of_all(_grown(found, {name: ends[name] for name in self.roots}, sizes, hold))

    @property
    def roots(self) -> list[str]:
        """The symbols that have no leader but themselves."""
        return sorted({leader for leader in self.leaders.values() if isinstance(leader, str)})

    def of_all(self, point: Mapping[str, int]) -> dict[str, int]:
        """The sizes of all symbols for the sizes of the roots."""
        return {name: leader if isinstance(leader, int) else point[leader] for name, leader in self.leaders.items()}

    def hold(self) -> Hold:
        """A function ``(point, changed)``: whether the sizes ``point`` of the roots satisfy the conditions.

        With the name of a root as ``changed``, the function examines only the conditions on this root.
        """
        conditions = [_Condition(text, self.leaders) for text in self.texts]
        by_root: dict[str, list[_Condition]] = {}
        for condition in conditions:
            for root in {leader for leader in condition.leaders.values() if isinstance(leader, str)}:
                by_root.setdefault(root, []).append(condition)
        return lambda point, changed="": all(
            condition.holds(point) for condition in (by_root.get(changed, ()) if changed else conditions)
        )


def points(
    constraints: Constraints, sizes: Mapping[str, Sizes], preferred: Mapping[str, Sizes]
) -> list[dict[str, int]]:
    """The least, middle and greatest sizes of all symbols. Each of the three satisfies all conditions.

    ``sizes`` are the possible sizes of roots. The middle sizes are chosen from ``preferred`` if possible. Raises
    ValueError if no sizes are found.
    """
    roots, hold = constraints.roots, constraints.hold()
    least = _found(roots, sizes, hold, constraints.joint)
    if least is None:
        raise ValueError(f"no sizes were found that fit: {' and '.join(constraints.texts)}")
    ends = {}
    for name in roots:
        greatest = sizes.get(name, ALL).greatest
        ends[name] = UNBOUNDED_RANGE * least[name] if greatest is None or greatest > FARTHEST else greatest
    greatest_point = _grown(least, ends, sizes, hold)
    within = {name: met(preferred.get(name, ALL), between(least[name], greatest_point[name])) for name in roots}
    chosen = {name: found for name, found in within.items() if found is not None and not found.is_empty}
    start = _found(roots, chosen, hold, constraints.joint) if len(chosen) == len(roots) else None
    if start is None:
        start, chosen = least, dict(sizes)
    halves = {name: (start[name] + greatest_point[name]) // 2 for name in roots}
    middle = _grown(start, halves, chosen, hold)
    return [constraints.of_all(point) for point in (least, middle, greatest_point)]


def _found(
    roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold, joint: Sequence[Sequence[Relation]]
) -> dict[str, int] | None:
    least = _least(roots, sizes, hold)
    return _solved_in_pairs(roots, sizes, hold, joint) if least is None else least


class _Condition:
    __slots__ = ("formula", "leaders")

    def __init__(self, text: str, leaders: Mapping[str, int | str]) -> None:
        self.formula = Formula(text)
        self.leaders = {name: leaders[name] for name in self.formula.names if name in leaders}

    def holds(self, point: Mapping[str, int]) -> bool:
        """Whether the condition holds for these sizes of the roots."""
        known = {name: leader if isinstance(leader, int) else point[leader] for name, leader in self.leaders.items()}
        return self.formula.holds(known)


def _least(roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int] | None:
    """The first sizes of the roots that satisfy the conditions; None if none are found.

    Combinations are tried in the order of their number of steps above the least sizes.
    """
    point = {name: sizes[name].least if name in sizes else 1 for name in roots}
    if hold(point):
        return point
    candidates = {name: _first_sizes(sizes.get(name, ALL), MAX_TRIES) for name in roots}
    tries = 0
    for extra in range(MAX_TRIES):
        for steps in _distributed(extra, len(roots)):
            tries += 1
            if tries > min(MAX_TRIES, MOST_SIZES // len(roots)):
                return None
            if all(step < len(candidates[name]) for name, step in zip(roots, steps)):
                point = {name: candidates[name][step] for name, step in zip(roots, steps)}
                if hold(point):
                    return point
    return None


def _solved_in_pairs(
    roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold, joint: Sequence[Sequence[Relation]]
) -> dict[str, int] | None:
    """Sizes that satisfy the conditions, of which at most two differ from the least sizes; None if none are found."""
    start = {name: sizes[name].least if name in sizes else 1 for name in roots}
    best: dict[str, int] | None = None
    remaining_sizes = MOST_SIZES
    for one, other in combinations(roots, 2):
        beside = {name: size for name, size in start.items() if name not in (one, other)}
        for size in _first_sizes(sizes.get(one, ALL), MOST_SOLVED):
            if best is not None and size + start[other] > best[one] + best[other]:
                break
            remaining_sizes -= len(roots) + len(joint)
            if remaining_sizes < 0:
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
    """The least size of one symbol for the ``known`` sizes of the others.

    Returns None if there is none, or if the conditions are too complex.
    """
    found: Sizes | None = sizes
    for relations in joint:
        about_name = [replaced_in(relation, known) for relation in relations]
        if name not in symbols_in(about_name):
            continue
        fulfilled = solved(relation for relation in about_name if decided(relation) is not False)
        found = met(found, fulfilled) if found is not None and fulfilled is not None else None
    return None if found is None or found.is_empty else found.least


def _first_sizes(sizes: Sizes, count: int) -> list[int]:
    found: list[int] = []
    for size in sizes.elements(min(FARTHEST, sizes.greatest or FARTHEST)):
        found.append(size)
        if len(found) == count:
            break
    return found


def _distributed(total: int, places: int) -> Iterator[tuple[int, ...]]:
    """All tuples of ``places`` integers of at least 0 with this sum."""
    for bars in combinations(range(total + places - 1), places - 1) if places else ():
        yield tuple(map(lambda before, after: after - before - 1, (-1, *bars), (*bars, total + places - 1)))


def _grown(start: Mapping[str, int], ends: Mapping[str, int], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int]:
    """Sizes between ``start`` and ``ends`` that satisfy the conditions, each raised as far as possible.

    In each round, every size has a target, which is twice the target of the round before. At most MAX_STEPS sizes below
    the target are tried.
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
