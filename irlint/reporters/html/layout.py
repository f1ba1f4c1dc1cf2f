"""The layout of a drawing: rows of boxes, each below the boxes that it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from irlint.records import record
from irlint.snippets.drawing import Neighbourhood, Wire

#: The space between boxes in a row, in pixels.
SPACE = 28

#: The width that a line takes in a row that it passes, in pixels.
PASSING = 16


@record
class Layout:
    """A layout in pixels. A row has items: boxes, and lines that pass the row.

    The item for a box is its index. The item for the line with index N is -1 - N.
    """

    #: The items of each row from left to right. The rows are in order from the top.
    rows: tuple[tuple[int, ...], ...]
    #: The horizontal centers of items by (row, item).
    middles: Mapping[tuple[int, int], float]
    width: float


def laid_out(around: Neighbourhood, widths: Sequence[float]) -> Layout:
    """The layout of a drawing with boxes of these ``widths`` in pixels."""
    ranks = _ranks(around)
    first, last = min(ranks), max(ranks)
    rows: list[list[int]] = [[] for _ in range(first, last + 1)]
    for box in sorted(range(len(ranks)), key=lambda box: _order(around, box)):
        rows[ranks[box] - first].append(box)
    for index, wire in enumerate(around.wires):
        for rank in range(ranks[wire.start] + 1, ranks[wire.end]):
            rows[rank - first].append(-1 - index)
    connected = _connected(around.wires, ranks, first)
    # The sweeps go upwards and downwards in turn.
    for sweep in range(4):
        for row in range(len(rows)) if sweep % 2 else reversed(range(len(rows))):
            _sort(rows, row, connected)
    return _aligned(rows, widths, connected, -first)


def _order(around: Neighbourhood, box: int) -> int:
    """The smallest index of an input to which a line from ``box`` leads; 0 without such a line."""
    return min((wire.input for wire in around.wires if wire.start == box), default=0)


def _ranks(around: Neighbourhood) -> list[int]:
    """The row of each box: 0 for the node at fault, -1, -2, ... for boxes before it, and 1 for its users."""
    count = len(around.boxes)
    ranks: list[int | None] = [0, *[None] * (count - 1)]
    for _ in range(count):
        for wire in around.wires:
            below = ranks[wire.end]
            if below is None or below > 0 or wire.start == 0 or wire.start == wire.end:
                continue
            above = ranks[wire.start]
            # Without this limit, the ranks of boxes on a cycle would decrease forever.
            if above is None or above > below - 1 > -count:
                ranks[wire.start] = below - 1
    return [1 if rank is None else rank for rank in ranks]


#: By (row, item, below): the items to which a line leads from the item, in the row below (True) or above (False).
Connected = Mapping[tuple[int, int, bool], Sequence[int]]


def _connected(wires: Sequence[Wire], ranks: Sequence[int], first: int) -> Connected:
    found: dict[tuple[int, int, bool], list[int]] = {}
    for index, wire in enumerate(wires):
        start, end = ranks[wire.start], ranks[wire.end]
        path = [wire.start, *[-1 - index] * max(0, end - start - 1), wire.end]
        for at, (upper, lower) in enumerate(pairwise(path), start - first):
            found.setdefault((at, upper, True), []).append(lower)
            found.setdefault((at + 1, lower, False), []).append(upper)
    return found


def _sort(rows: list[list[int]], row: int, connected: Connected) -> None:
    """Orders the items of a row by the mean position of the items in the rows above and below to which lines lead."""
    places = {
        (at, item): index for at in (row - 1, row + 1) if 0 <= at < len(rows) for index, item in enumerate(rows[at])
    }

    def wanted(item: int) -> float:
        found = [
            places[at, other] / max(1, len(rows[at]) - 1)
            for below, at in ((False, row - 1), (True, row + 1))
            for other in connected.get((row, item, below), ())
            if (at, other) in places
        ]
        return sum(found) / len(found) if found else 0.5

    rows[row].sort(key=wanted)


def _aligned(rows: list[list[int]], widths: Sequence[float], connected: Connected, start: int) -> Layout:
    """The layout of the rows. Places the row ``start`` first, then the rows around it. Connected items are near."""
    item_widths = [[widths[item] if item >= 0 else PASSING for item in row] for row in rows]
    middles: dict[tuple[int, int], float] = {}
    for at in (*range(start, -1, -1), *range(start + 1, len(rows))):
        towards = at + 1 if at < start else at - 1
        wanted = []
        for item in rows[at]:
            found = [
                middles[towards, other]
                for other in connected.get((at, item, towards > at), ())
                if (towards, other) in middles
            ]
            wanted.append(sum(found) / len(found) if found else 0.0)
        for item, place in zip(rows[at], _side_by_side(wanted, item_widths[at])):
            middles[at, item] = place
    sides = [(middles[at, item], width / 2) for at, row in enumerate(rows) for item, width in zip(row, item_widths[at])]
    least, most = min(middle - half for middle, half in sides), max(middle + half for middle, half in sides)
    return Layout(tuple(map(tuple, rows)), {place: at - least for place, at in middles.items()}, most - least)


def _side_by_side(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """Centers of the items of a row, near the ``wanted`` centers. The items do not overlap."""
    placed: list[float] = []
    for index, want in enumerate(wanted):
        least = placed[-1] + (widths[index - 1] + widths[index]) / 2 + SPACE if placed else want
        placed.append(max(want, least))
    shift = sum(want - place for want, place in zip(wanted, placed)) / max(1, len(wanted))
    return [place + shift for place in placed]
