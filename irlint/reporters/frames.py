"""Lines of a model with marks under them, and tables of shapes, as text."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.drawing import Line, Piece, Row, Table
from irlint.records import record, replaced
from irlint.reporters.canvas import Canvas, Run, display
from irlint.reporters.plain import safe

#: A table shows so many axes; of more only the first, the last and those around the clash.
AXES = 12

#: Names in a line that is too long are cut down to so many characters.
NAME = 20

#: What stands, at its longest, for what is left out of a list.
ELISION = ", ..., "

#: The last column of a table is at least so wide.
NARROW = 12

#: A dim is shown up to so many characters.
DIM = 32


def frame(lines: Sequence[Line], canvas: Canvas) -> None:
    """The lines in order, each with its marks and labels under it."""
    fitted = [
        _fitted([replaced(p, text=safe(p.text), label=safe(p.label)) for p in line.pieces], canvas.room)
        for line in lines
    ]
    widths = [_length(pieces) for pieces in fitted]
    column = max((width for width, line in zip(widths, lines) if line.comment), default=0) + 2
    for line, pieces, width in zip(lines, fitted, widths):
        if line.gap:
            canvas.gap()
        runs: list[Run] = [(piece.text, _role(piece, canvas) if piece.mark == "primary" else "") for piece in pieces]
        comment = safe(line.comment)
        for start in (column, width + 2) if comment else ():
            if start + display(comment) <= canvas.room:
                runs += [(" " * (start - width), ""), (comment, "dim")]
                break
        canvas.row(line.gutter, runs)
        _marks(pieces, canvas)


def _role(piece: Piece, canvas: Canvas) -> str:
    return canvas.severity if piece.mark == "primary" else "second"


def _fitted(pieces: list[Piece], room: int) -> list[Piece]:
    """The pieces that fit into a line: what is most spare is dropped, then names are cut, then dropped, too."""
    if _length(pieces) <= room:
        return pieces
    kept = _without(pieces, 2, room)
    excess = _length(kept) - room
    for index in reversed(range(len(kept))):
        text = kept[index].text
        if excess > 0 and kept[index].spare and not kept[index].mark and len(text) > NAME:
            kept[index] = replaced(kept[index], text=_cut(text, max(NAME, len(text) - excess)))
            excess -= display(text) - display(kept[index].text)
    if excess > 0:
        kept = _without(kept, 1, room)
    return kept if _length(kept) <= room else _window(kept, room)


def _length(pieces: Sequence[Piece]) -> int:
    return sum(display(piece.text) for piece in pieces)


def _without(pieces: list[Piece], spare: int, room: int) -> list[Piece]:
    """The pieces without so many of the last spare ones as it takes, ``...`` in their place."""
    total = _length(pieces)
    dropped: set[int] = set()
    for index in reversed(range(len(pieces))):
        if total <= room:
            break
        if pieces[index].spare == spare and not pieces[index].mark:
            dropped.add(index)
            joins = (index - 1 in dropped) + (index + 1 in dropped)
            total += len(ELISION) * (1 - joins) - display(pieces[index].text)
    kept: list[Piece] = []
    for index, piece in enumerate(pieces):
        if index not in dropped:
            kept.append(piece)
        elif index - 1 not in dropped:
            kept.append(Piece(_elision(pieces, dropped, index)))
    return kept


def _elision(pieces: list[Piece], dropped: set[int], first: int) -> str:
    """What stands for the pieces that are dropped from ``first`` on."""
    last = first
    while last + 1 in dropped:
        last += 1
    before = ", " if pieces[first].text == ", " else ""
    after = ", " if last > first and pieces[last].text == ", " else ""
    return f"{before}...{after}"


def _window(pieces: list[Piece], room: int) -> list[Piece]:
    """So much of the pieces as fits around the first primary mark."""
    marked = next((i for i, piece in enumerate(pieces) if piece.mark == "primary"), None)
    if marked is None:
        marked = next((i for i, piece in enumerate(pieces) if piece.mark), 0)
    start = sum(len(piece.text) for piece in pieces[:marked])
    size = min(len(pieces[marked].text), room - 6)
    whole = sum(len(piece.text) for piece in pieces)
    left = max(0, min(start - (room - size) // 2, whole - room))
    if start + size <= room - 3:
        left = 0
    right = min(whole, left + room)
    first, last = left + 3 * (left > 0), right - 3 * (right < whole)
    cut = [Piece("...")] * (left > 0)
    at = 0
    for piece in pieces:
        text = piece.text[max(0, first - at) : max(0, last - at)]
        at += len(piece.text)
        if text:
            cut.append(replaced(piece, text=text))
    return cut + [Piece("...")] * (right < whole)


@record
class _Mark:
    column: int
    piece: Piece


def _marks(pieces: Sequence[Piece], canvas: Canvas) -> None:
    """The marks under a line: the last label beside its mark, the others hanging from theirs."""
    marks, column = [], 0
    for piece in pieces:
        if piece.mark:
            marks.append(_Mark(column, piece))
        column += display(piece.text)
    if not marks:
        return
    runs: list[Run] = []
    at = 0
    for mark in marks:
        length = max(1, display(mark.piece.text))
        runs += [(" " * (mark.column - at), ""), (_sign(mark.piece) * length, _role(mark.piece, canvas))]
        at = mark.column + length
    last = marks[-1].piece
    hanging = [mark for mark in marks[:-1] if mark.piece.label]
    if last.label and (not hanging or at + 1 + display(last.label) <= canvas.room):
        fits = at + 1 + display(last.label) <= canvas.room
        if fits:
            runs += [(" ", ""), (last.label, _role(last, canvas))]
        else:
            hanging = [marks[-1]]
    elif last.label:
        hanging.append(marks[-1])
    canvas.row("", runs)
    _hang(hanging, canvas)


def _sign(piece: Piece) -> str:
    return "^" if piece.mark == "primary" else "-"


def _hang(marks: list[_Mark], canvas: Canvas) -> None:
    if marks and (len(marks) > 1 or marks[0].column + display(marks[0].piece.label) <= canvas.room):
        _bars(marks, canvas, None)
    while marks:
        mark = marks.pop()
        _bars(marks, canvas, mark)


def _bars(marks: Sequence[_Mark], canvas: Canvas, labelled: _Mark | None) -> None:
    """A bar for each mark, and behind them the label of the last one; a long label begins further to the left."""
    runs: list[Run] = []
    at = 0
    for mark in marks:
        runs += [(" " * (mark.column - at), ""), ("|", _role(mark.piece, canvas))]
        at = mark.column + 1
    if labelled is not None:
        column = min(labelled.column, max(at + bool(marks), canvas.room - display(labelled.piece.label)))
        runs += [(" " * (column - at), ""), (labelled.piece.label, _role(labelled.piece, canvas))]
    canvas.row("", runs)


# --- tables -----------------------------------------------------------------------------------------------------------


def table(found: Table, canvas: Canvas) -> None:
    """The shapes under each other, a row of axis numbers above, and a mark under the axes that clash."""
    grid = _Grid(found, canvas)
    if grid.rank:
        canvas.row("", [(f"  {'axis':{grid.labels}}  {grid.header}", "dim")])
    apart = len({columns for columns in grid.marked if columns}) > 1
    last = max((index for index, columns in enumerate(grid.marked) if columns), default=-1)
    for index, row in enumerate(found.rows):
        canvas.row("", grid.row(index, row))
        if index == last or (apart and grid.marked[index]):
            canvas.row("", grid.underline(grid.marked[index], found.remark if index == last else ""))
    if found.hidden:
        canvas.row("", [(f"  ... {found.hidden} more inputs", "dim")])
    if last < 0 and found.remark:
        canvas.row("", [(" " * (grid.labels + 4) + f"{found.remark}", canvas.severity)])


class _Grid:
    """The columns of a table."""

    def __init__(self, found: Table, canvas: Canvas) -> None:
        self.canvas = canvas
        self.rows = found.rows
        ranks = [len(row.dims) for row in found.rows if row.dims is not None]
        self.rank = max(ranks, default=0)
        self.offsets = [
            self.rank - len(row.dims) if row.dims is not None and found.aligned == "right" else 0 for row in found.rows
        ]
        self.marked = [tuple(axis + offset for axis in row.marked) for row, offset in zip(found.rows, self.offsets)]
        self.shown = self._shown()
        self.widths = {column: self._width(column) for column in self.shown}
        self.labels = min(max([5, *(display(safe(row.label)) for row in found.rows)]), 28)
        self.body = sum(self.widths.values()) + 2 * max(0, len(self.shown) - 1) + 4
        self.dtypes = max((len(row.dtype) for row in found.rows), default=0)
        self.origins = self._origins()

    @property
    def header(self) -> str:
        cells = [f"{'' if column < 0 else column:>{self.widths[column]}}" for column in self.shown]
        return "  " + "  ".join(cells)

    def _shown(self) -> list[int]:
        if self.rank <= AXES:
            return list(range(self.rank))
        wanted = {0, 1, self.rank - 2, self.rank - 1}
        for columns in self.marked:
            for column in columns[:4]:
                wanted |= {column - 1, column, column + 1} & set(range(self.rank))
        shown: list[int] = []
        for column in sorted(wanted):
            if shown and column > shown[-1] + 1:
                shown.append(-column)
            shown.append(column)
        return shown

    def _cell(self, index: int, column: int) -> str | None:
        """The text of a dim, None where the shape has no such axis."""
        dims, at = self.rows[index].dims, column - self.offsets[index]
        if dims is None or not 0 <= at < len(dims):
            return None
        text = dims[at]
        return text if len(text) <= DIM else f"{text[: DIM - 3]}..."

    def _width(self, column: int) -> int:
        if column < 0:
            return 3
        return max([3, len(str(column)), *(len(self._cell(index, column) or "") for index in range(len(self.rows)))])

    def _origins(self) -> list[str]:
        """Where the values come from, as far as the page has room for it."""
        lines = max((3 + len(f"line {row.line}") for row in self.rows if row.line is not None), default=0)
        room = self.canvas.room - (2 + self.labels + 2 + self.body + 2 + self.dtypes + 3 + lines)
        return [_fitting([safe(text) for text in row.origins], max(room, NARROW)) for row in self.rows]

    def row(self, index: int, row: Row) -> list[Run]:
        label = _cut(safe(row.label), self.labels)
        runs: list[Run] = [("  " + label + " " * (self.labels - display(label)) + "  ", "")]
        runs += self._shape(index, row)
        origin = self.origins[index]
        tail = f"  {row.dtype:{self.dtypes}}" if self.dtypes else ""
        runs.append((tail, ""))
        if origin or row.line is not None:
            widest = max(map(display, self.origins))
            pad = " " * max(0, widest - display(origin)) if row.line is not None else ""
            runs.append((f"   {origin}{pad}" if widest else " ", "dim"))
        if row.line is not None:
            runs.append((f"   line {row.line}", "dim"))
        return runs

    def _shape(self, index: int, row: Row) -> list[Run]:
        """``[   1,  64 ]``, blank where the shape has no such axis."""
        if row.dims is None:
            return [("  of unknown rank".ljust(self.body), "dim")]
        if not row.dims:
            return [("[ ]  a scalar".ljust(self.body) if self.body > 12 else "[ ]".ljust(self.body), "")]
        runs: list[Run] = []
        cells: list[tuple[int, str | None]] = [
            (column, "..." if column < 0 else self._cell(index, column)) for column in self.shown
        ]
        there = [column for column, text in cells if text is not None and column >= 0]
        first, last = there[0], there[-1]
        for position, (column, text) in enumerate(cells):
            width = self.widths[column]
            inside = first <= abs(column) <= last
            lead = "[ " if column == first else "  "
            if not inside or text is None:
                runs.append((lead + " " * width, ""))
                continue
            runs.append((lead if position == 0 or column == first else " ", ""))
            runs.append((" " * (width - len(text)), ""))
            runs.append((text, "bad" if column in self.marked[index] else ""))
            runs.append((" ]" if column == last else ",", ""))
        length = sum(len(text) for text, _ in runs)
        return [*runs, (" " * (self.body - length), "")]

    def underline(self, columns: Sequence[int], remark: str) -> list[Run]:
        """``^^`` under the columns, then what they have in common."""
        runs: list[Run] = []
        at = 0
        for column in sorted(set(columns)):
            if column not in self.widths:
                continue
            texts = [self._cell(index, column) or "" for index, marked in enumerate(self.marked) if column in marked]
            length = max([1, *map(len, texts)])
            place = self.shown.index(column)
            start = 2 + self.labels + 2 + 2 + sum(self.widths[each] + 2 for each in self.shown[:place])
            start += self.widths[column] - length
            runs += [(" " * (start - at), ""), ("^" * length, self.canvas.severity)]
            at = start + length
        return [*runs, (f" {safe(remark)}", self.canvas.severity)] if remark else runs


def _fitting(texts: Sequence[str], room: int) -> str:
    """The first text that fits, else the last one, cut."""
    fits = next((text for text in texts if display(text) <= room), None)
    return fits if fits is not None else _cut(texts[-1], room) if texts else ""


def _cut(text: str, room: int) -> str:
    """The text, its middle left out where it is longer than ``room``."""
    if display(text) <= room:
        return text
    kept = room - 3
    tail = kept // 2
    return f"{text[: kept - tail]}...{text[len(text) - tail :]}"
