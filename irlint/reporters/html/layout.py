"""The layout of a drawing: boxes are in rows, each node below the nodes that it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from irlint.records import record
from irlint.snippets.drawing import Neighbourhood, Wire

#: The space between boxes in a row.
APART = 28

#: The width that is reserved for a line that passes a row.
PASSING = 16


@record
class Layout:
    """The rows from the top, each with its items from the left, the center of each item, and the total width.

    An item is the index of a box (from 0), or a line that passes the row: -1 minus its index.
    """

    rows: tuple[tuple[int, ...], ...]
    middles: Mapping[tuple[int, int], float]
    width: float


def laid_out(picture: Neighbourhood, widths: Sequence[float]) -> Layout:
    """The layout of a drawing; ``widths`` are those of its boxes."""
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
    return _aligned(rows, widths, beside, -first)


def _order(picture: Neighbourhood, box: int) -> int:
    """The order of a box in its row: the place among the inputs of the node that uses it."""
    return min((wire.input for wire in picture.wires if wire.start == box), default=0)


def _ranks(picture: Neighbourhood) -> list[int]:
    """The row of each box: 0 for the node at fault, one less for each step to its inputs, one more for each step to its
    users."""
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


#: For an item of a row, the items connected with it: in the row above (False) and in the row below (True).
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
    """Orders a row by the positions of the connected items in the rows above and below."""
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


def _aligned(rows: list[list[int]], widths: Sequence[float], beside: Beside, start: int) -> Layout:
    """The items of each row side by side, as close as possible to the connected items in the row towards ``start``."""
    wide = [[widths[item] if item >= 0 else PASSING for item in row] for row in rows]
    middles: dict[tuple[int, int], float] = {}
    for at in (*range(start, -1, -1), *range(start + 1, len(rows))):
        towards = at + 1 if at < start else at - 1
        wanted = []
        for item in rows[at]:
            found = [
                middles[towards, other]
                for other in beside.get((at, item, towards > at), ())
                if (towards, other) in middles
            ]
            wanted.append(sum(found) / len(found) if found else 0.0)
        for item, place in zip(rows[at], _apart(wanted, wide[at])):
            middles[at, item] = place
    sides = [(middles[at, item], width / 2) for at, row in enumerate(rows) for item, width in zip(row, wide[at])]
    least, most = min(middle - half for middle, half in sides), max(middle + half for middle, half in sides)
    return Layout(tuple(map(tuple, rows)), {place: at - least for place, at in middles.items()}, most - least)


def _apart(wanted: Sequence[float], wide: Sequence[float]) -> list[float]:
    """The centers of items side by side, in order, as close as possible to the ``wanted`` centers."""
    placed: list[float] = []
    for index, want in enumerate(wanted):
        least = placed[-1] + (wide[index - 1] + wide[index]) / 2 + APART if placed else want
        placed.append(max(want, least))
    shift = sum(want - place for want, place in zip(wanted, placed)) / max(1, len(wanted))
    return [place + shift for place in placed]
