"""Sizes of several symbols that go together: the least, usual ones, and the greatest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations

from irlint.contracts.formulas import Formula
from irlint.contracts.implied import symbols_in
from irlint.contracts.simplified import decided, replaced_in
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.findings.statements import Relation

#: Where a size has no upper end and a tool wants one, it is so many times the least.
OPEN_RANGE = 16

#: The sizes that are tried before they count as incompatible, of many symbols so few that each is looked at so often in
#: all.
MAX_TRIES = 4096
MOST_LOOKS = 400_000

#: For so many sizes of one symbol the one that goes with them is solved.
MOST_SOLVED = 512

#: So far below what is wanted a size that goes with the others is looked for.
MAX_STEPS = 2048

#: A larger size is not looked at one by one.
FARTHEST = 100_000


def points(
    roots: Sequence[str],
    sizes: Mapping[str, Sizes],
    texts: Sequence[str],
    leaders: Mapping[str, int | str],
    joint: Sequence[Sequence[Relation]] = (),
) -> list[dict[str, int]]:
    """The least sizes that go together, usual ones, and the greatest; raises ValueError where none are found.

    ``leaders`` are the numbers or the roots that symbols are. ``texts`` have to hold, and ``joint`` are those on
    several sizes, as the relations of which one has to hold.
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
    """A text that holds or does not, and the ``leaders`` of the symbols in it."""

    __slots__ = ("formula", "leaders")

    def __init__(self, text: str, leaders: Mapping[str, int | str]) -> None:
        self.formula = Formula(text)
        self.leaders = {name: leaders[name] for name in self.formula.names if name in leaders}

    def holds(self, point: Mapping[str, int]) -> bool:
        """Whether it holds where roots have these sizes."""
        known = {name: each if isinstance(each, int) else point[each] for name, each in self.leaders.items()}
        return self.formula.holds(known)


#: Whether sizes go together; where they did before one was ``changed``, only what is about that one is looked at.
Hold = Callable[..., bool]


def _least(roots: Sequence[str], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int] | None:
    """The sizes with the least sum, of those that are near the least of each."""
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
    """The sizes with the least sum of which all but two are the least of each: one of two is tried, the other
    solved."""
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
    """The least size of one symbol that goes with those of the others."""
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
    """Each way to share ``total`` steps among so many places, as bars between stars."""
    for bars in combinations(range(total + places - 1), places - 1) if places else ():
        yield tuple(map(lambda before, after: after - before - 1, (-1, *bars), (*bars, total + places - 1)))


def _grown(start: Mapping[str, int], ends: Mapping[str, int], sizes: Mapping[str, Sizes], hold: Hold) -> dict[str, int]:
    """The sizes that go together and are reached by doubling each in turn, none past its end."""
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
