"""Where the boxes of a picture lie: in rows, each node below those that it takes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from irlint.pictures.drawing import Neighbourhood, Wire
from irlint.records import record

#: Between boxes of a row, and so often the boxes are drawn to what they are connected with.
APART = 28
SWEEPS = 8

#: The width that is kept free for a wire that passes a row.
PASSING = 16


@record
class Layout:
    """The rows from the top, each with its items from the left, where the middle of each item is, and the whole width.

    An item is the index of a box, or, for a wire that passes the row, its index below 0, counted from -1.
    """

    rows: tuple[tuple[int, ...], ...]
    middles: Mapping[tuple[int, int], float]
    width: float


def laid_out(picture: Neighbourhood, widths: Sequence[float]) -> Layout:
    """The boxes of a picture, which are so wide, in rows."""
    ranks = _ranks(picture)
    first, last = min(ranks), max(ranks)
    rows: list[list[int]] = [[] for _ in range(first, last + 1)]
    for box in sorted(range(len(ranks)), key=lambda box: _order(picture, box)):
        rows[ranks[box] - first].append(box)
    for index, wire in enumerate(picture.wires):
        for rank in range(ranks[wire.start] + 1, ranks[wire.end]):
            rows[rank - first].append(-1 - index)
    beside = _beside(picture.wires, ranks, first)
    for sweep in range(4):
        for row in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            _sort(rows, row, beside)
    return _aligned(rows, widths, beside)


def _order(picture: Neighbourhood, box: int) -> int:
    """Boxes stand in the order in which what they give is taken."""
    return min((wire.input for wire in picture.wires if wire.start == box), default=0)


def _ranks(picture: Neighbourhood) -> list[int]:
    """The row of each box: 0 for the node at fault, one less for what it takes from, one more for what takes from it."""
    count = len(picture.boxes)
    ranks: list[int | None] = [0, *[None] * (count - 1)]
    for _ in range(count):
        for wire in picture.wires:
            below = ranks[wire.end]
            if below is None or below > 0 or wire.start == 0 or wire.start == wire.end:
                continue
            above = ranks[wire.start]
            if above is None or above > below - 1 > -count:
                ranks[wire.start] = below - 1
    return [1 if rank is None else rank for rank in ranks]


#: For an item of a row the items that it is connected with, in the row above (False) and in that below (True).
Beside = Mapping[tuple[int, int, bool], Sequence[int]]


def _beside(wires: Sequence[Wire], ranks: Sequence[int], first: int) -> Beside:
    found: dict[tuple[int, int, bool], list[int]] = {}
    for index, wire in enumerate(wires):
        start, end = ranks[wire.start], ranks[wire.end]
        path = [wire.start, *[-1 - index] * max(0, end - start - 1), wire.end]
        for at, (upper, lower) in enumerate(pairwise(path), start - first):
            found.setdefault((at, upper, True), []).append(lower)
            found.setdefault((at + 1, lower, False), []).append(upper)
    return found


def _sort(rows: list[list[int]], row: int, beside: Beside) -> None:
    """Orders a row by where that lies which its items are connected with in the rows around it."""
    places = {
        (at, item): index for at in (row - 1, row + 1) if 0 <= at < len(rows) for index, item in enumerate(rows[at])
    }

    def wanted(item: int) -> float:
        found = [
            places[at, other] / max(1, len(rows[at]) - 1)
            for below, at in ((False, row - 1), (True, row + 1))
            for other in beside.get((row, item, below), ())
            if (at, other) in places
        ]
        return sum(found) / len(found) if found else 0.5

    rows[row].sort(key=wanted)


def _aligned(rows: list[list[int]], widths: Sequence[float], beside: Beside) -> Layout:
    """The items of each row next to each other, as near as may be to what they are connected with."""
    wide = [[widths[item] if item >= 0 else PASSING for item in row] for row in rows]
    middles: dict[tuple[int, int], float] = {}
    for at, row in enumerate(rows):
        left = -(sum(wide[at]) + APART * (len(row) - 1)) / 2
        for item, width in zip(row, wide[at]):
            middles[at, item] = left + width / 2
            left += width + APART
    for sweep in range(SWEEPS):
        for at in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            _pull(at, rows[at], wide[at], middles, beside)
    least = min(middles[at, item] - width / 2 for at, row in enumerate(rows) for item, width in zip(row, wide[at]))
    most = max(middles[at, item] + width / 2 for at, row in enumerate(rows) for item, width in zip(row, wide[at]))
    moved = {place: middle - least for place, middle in middles.items()}
    return Layout(tuple(map(tuple, rows)), moved, most - least)


def _pull(
    at: int, row: Sequence[int], wide: Sequence[float], middles: dict[tuple[int, int], float], beside: Beside
) -> None:
    wanted = []
    for item in row:
        found = [
            middles[at + step, other]
            for below, step in ((False, -1), (True, 1))
            for other in beside.get((at, item, below), ())
            if (at + step, other) in middles
        ]
        wanted.append(sum(found) / len(found) if found else middles[at, item])
    placed: list[float] = []
    for index, want in enumerate(wanted):
        least = placed[-1] + (wide[index - 1] + wide[index]) / 2 + APART if placed else want
        placed.append(max(want, least))
    shift = sum(want - place for want, place in zip(wanted, placed)) / max(1, len(row))
    for item, place in zip(row, placed):
        middles[at, item] = place + shift
