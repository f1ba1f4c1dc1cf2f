"""Tables of shapes, as text. Axes clash if the sizes of a table contradict each other there."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.wording import counted
from irlint.records import record
from irlint.reporters.canvas import UNBOUNDED, Canvas, Run, cut, display, wrapped
from irlint.reporters.plain import safe
from irlint.snippets.drawing import Row, Table

#: A table with more axes shows only the first axes, the last axes, and the axes around the clashing ones.
AXES = 12

#: The least width of the column of origins.
NARROW = 12

#: A remark that needs its own lines has at least this width, unless it is shorter.
LEAST_REMARK = 48

#: If a text replaces a shape, the text has at most this many columns.
INSTEAD = 40


@record
class _Limits:
    """The largest widths in a table, in columns."""

    dim: int
    #: The largest width of a clashing dim. ``dim`` is that of any other dim.
    clashing: int
    #: The least width of the column of origins; 0 omits it.
    tail: int = NARROW
    #: Whether the axes beside the clashing axes are shown.
    shows_neighbors: bool = True


#: The limits from the most readable to the least readable.
LIMITS = (
    _Limits(32, 32),
    _Limits(24, 32),
    _Limits(32, 32, 0),
    _Limits(24, 32, 0),
    _Limits(16, 32),
    _Limits(16, 32, 0),
    _Limits(12, 24),
    _Limits(12, 24, 0),
    _Limits(16, 32, NARROW, False),
    _Limits(16, 32, 0, False),
    _Limits(10, 16, 0, False),
    _Limits(8, 10, 0, False),
    _Limits(6, 8, 0, False),
)

#: With the first READABLE of LIMITS, dims are readable. Names are shortened before any later limits are used.
READABLE = 6

UNCUT = _Limits(UNBOUNDED, UNBOUNDED)


def table(found: Table, canvas: Canvas) -> None:
    """Writes the shapes in rows, with marks below the clashing axes."""
    grid = _fitted(found, canvas)
    if grid.rank:
        canvas.row("", [(f"  {'axis':{grid.labels}}{grid.header}", "dim")])
    # If the marked columns differ between rows, each row has its own line of marks.
    marks_differ = len({columns for columns in grid.marked if columns}) > 1
    last = max((index for index, columns in enumerate(grid.marked) if columns), default=-1)
    for index, row in enumerate(found.rows):
        canvas.row("", grid.row(index, row))
        if index == last or (marks_differ and grid.marked[index]):
            for line in grid.underline(grid.marked[index], found.remark if index == last else ""):
                canvas.row("", line)
    if found.hidden:
        canvas.row("", [(f"  ... {counted(found.hidden, 'more input')}", "dim")])
    if last < 0 and found.remark:
        before = min(grid.labels + 4, canvas.room // 2)
        for text in wrapped(safe(found.remark), canvas.room - before):
            canvas.row("", [(" " * before + text, canvas.severity)])


def _fitted(found: Table, canvas: Canvas) -> _Grid:
    """The grid for the first limits with which the table fits. If none fits, for the last limits."""
    if canvas.uncut:
        return _Grid(found, canvas, UNCUT)
    for limits in LIMITS:
        grid = _Grid(found, canvas, limits)
        if grid.width <= canvas.room:
            break
    return grid


def fits(found: Table | None, canvas: Canvas, *, readable: bool) -> bool:
    """Whether a table fits with its names as they are. If ``readable``, its dims must also stay readable."""
    if found is None or canvas.uncut:
        return True
    return any(_Grid(found, canvas, limits).width <= canvas.room for limits in LIMITS[: READABLE if readable else None])


class _Grid:
    """The columns of a table.

    * ``offsets``: for each row, the column of its first axis; ``marked``: for each row, the columns of its marked axes.
    * ``shown``: the shown columns; ``widths``: their widths.
    * ``labels``: the width of labels with names; ``body``: the width of shapes; ``width``: the width of the table.
    """

    def __init__(self, found: Table, canvas: Canvas, limits: _Limits) -> None:
        self.canvas = canvas
        self.limits = limits
        self.rows = found.rows
        ranks = [len(row.dims) for row in found.rows if row.dims is not None]
        self.rank = max(ranks, default=0)
        self.offsets = [first_column(row, self.rank if found.aligned == "right" else 0) for row in found.rows]
        self.marked = [tuple(axis + offset for axis in row.marked) for row, offset in zip(found.rows, self.offsets)]
        self.clashing = {column for columns in self.marked for column in columns}
        self.shown = self._shown()
        self.cells = [self._cells(row, offset) for row, offset in zip(found.rows, self.offsets)]
        self.widths = {column: self._width(column) for column in self.shown}
        self.names = _names([_label(row) for row in found.rows], [row.name for row in found.rows])
        self.labels = max([5, *map(display, self.names)])
        self.body = sum(self.widths.values()) + 2 * max(0, len(self.shown) - 1) + 4
        self.body = max([self.body, *(display(_instead(row)) for row in found.rows if row.dims is None)])
        self.body = max([self.body, *(display(_scalar(row)) for row in found.rows if row.dims == () and row.scalar)])
        self.dtypes = max((len(row.dtype) for row in found.rows), default=0)
        self.lines = max((3 + len(f"line {row.line}") for row in found.rows if row.line is not None), default=0)
        left = 2 + self.labels + 2 + self.body + (2 + self.dtypes) * bool(self.dtypes) + self.lines
        self.origins = self._origins(canvas.room - left - 3)
        self.width = left + (3 + limits.tail) * bool(limits.tail and any(row.origins for row in found.rows))

    @property
    def header(self) -> str:
        return "    " + "  ".join(f"{'' if column < 0 else column:>{self.widths[column]}}" for column in self.shown)

    def _shown(self) -> list[int]:
        """The shown columns. A negative number stands for a run of omitted columns."""
        if self.rank <= AXES and (self.limits.shows_neighbors or self.rank < 4):
            return list(range(self.rank))
        wanted = {0, self.rank - 1} | ({1, self.rank - 2} if self.limits.shows_neighbors else set())
        for columns in self.marked:
            for column in columns[:4]:
                beside = {column - 1, column + 1} if self.limits.shows_neighbors else set()
                wanted |= {column} | beside & set(range(self.rank))
        shown: list[int] = []
        for column in sorted(wanted):
            if shown and column > shown[-1] + 1:
                shown.append(-column)
            shown.append(column)
        return shown

    def _cells(self, row: Row, offset: int) -> dict[int, str]:
        """The texts of the shown dims of a row, by their columns."""
        limits = {column: self.limits.clashing if column in self.clashing else self.limits.dim for column in self.shown}
        dims = row.dims or ()
        own = [column for column in self.shown if column >= 0 and 0 <= column - offset < len(dims)]
        return {column: cut(safe(dims[column - offset]), limits[column]) for column in own}

    def _width(self, column: int) -> int:
        if column < 0:
            return 3
        return max([3, len(str(column)), *(display(cells[column]) for cells in self.cells if column in cells)])

    def _origins(self, room: int) -> list[str]:
        """For each value, the longest text on its origin that fits into ``room`` columns; "" if there is no room."""
        return [
            _first_fitting([safe(text) for text in row.origins], room) if room >= NARROW else "" for row in self.rows
        ]

    def row(self, index: int, row: Row) -> list[Run]:
        """The texts of a row."""
        name = self.names[index]
        runs: list[Run] = [("  " + name + " " * (self.labels - display(name)) + "  ", "")]
        runs += self._shape(index, row)
        runs.append((f"  {row.dtype:{self.dtypes}}" if self.dtypes else "", ""))
        origin = self.origins[index]
        if origin or row.line is not None:
            widest = max(map(display, self.origins))
            pad = " " * max(0, widest - display(origin)) if row.line is not None else ""
            runs.append((f"   {origin}{pad}" if widest else "", "dim"))
        if row.line is not None:
            runs.append((f"   line {row.line}", "dim"))
        return runs

    def _shape(self, index: int, row: Row) -> list[Run]:
        """``[   1,  64 ]``, blank in columns without an axis."""
        if row.dims is None:
            return [(_instead(row) + " " * (self.body - display(_instead(row))), "dim")]
        if not row.dims:
            scalar = _scalar(row)
            return [(scalar.ljust(self.body) if self.body >= display(scalar) else "[ ]".ljust(self.body), "")]
        runs: list[Run] = []
        cells = self.cells[index]
        first, last = min(cells), max(cells)
        for position, column in enumerate(self.shown):
            text = "..." if column < 0 else cells.get(column)
            width = self.widths[column]
            lead = "[ " if column == first else "  "
            if text is None or not first <= abs(column) <= last:
                runs.append((lead + " " * width, ""))
                continue
            runs.append((lead if position == 0 or column == first else " ", ""))
            runs.append((" " * (width - display(text)), ""))
            runs.append((text, "bad" if column in self.marked[index] else ""))
            runs.append((" ]" if column == last else ",", ""))
        length = display("".join(text for text, _ in runs))
        return [*runs, (" " * (self.body - length), "")]

    def underline(self, columns: Sequence[int], remark: str) -> list[list[Run]]:
        """Lines with ``^^`` below ``columns``, and with the remark."""
        runs: list[Run] = []
        at = 0
        for column in sorted(set(columns)):
            if column not in self.widths:
                continue
            texts = [cells.get(column, "") for cells, marked in zip(self.cells, self.marked) if column in marked]
            length = max([1, *map(display, texts)])
            place = self.shown.index(column)
            start = 2 + self.labels + 2 + 2 + sum(self.widths[each] + 2 for each in self.shown[:place])
            start += self.widths[column] - length
            runs += [(" " * (start - at), ""), ("^" * length, self.canvas.severity)]
            at = start + length
        if not remark:
            return [runs]
        text, before = safe(remark), display(runs[0][0]) if runs else 0
        if at + 1 + display(text) <= self.canvas.room:
            return [[*runs, (f" {text}", self.canvas.severity)]]
        if display(text) + 2 <= before:
            return [[(" " * (before - display(text) - 1), ""), (f"{text} ", self.canvas.severity), *runs[1:]]]
        start = max(0, min(before, self.canvas.room - min(display(text), LEAST_REMARK)))
        lines = wrapped(text, self.canvas.room - start)
        return [runs, *([(" " * start, ""), (line, self.canvas.severity)] for line in lines)]


def first_column(row: Row, end: int) -> int:
    """The column of the first axis of a row. If ``end`` is not 0, the last axis is in the column before ``end``."""
    if row.offset is not None or row.dims is None:
        return row.offset or 0
    return max(0, end - len(row.dims))


def _label(row: Row) -> str:
    return safe(row.label)


def _scalar(row: Row) -> str:
    return f"[ ]  the scalar {safe(row.scalar)}" if row.scalar else "[ ]  a scalar"


def _instead(row: Row) -> str:
    return cut(safe(row.instead or "of unknown rank"), INSTEAD)


def _names(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """``input 0  images``: the labels and names of the rows."""
    wide = max(map(display, labels), default=0)
    return [f"{label}{' ' * (wide - display(label))}  {name}" if name else label for label, name in zip(labels, names)]


def _first_fitting(texts: Sequence[str], room: int) -> str:
    """The first text that fits into ``room`` columns. If none fits, the last text, cut. "" if there are no texts."""
    if not texts:
        return ""
    return next((text for text in texts if display(text) <= room), cut(texts[-1], room))
