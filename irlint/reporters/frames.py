"""Lines of a model with marks below them, as text.

``Piece.expendable`` states which pieces of a line are omitted first if the line is too long.
"""

from __future__ import annotations

from collections.abc import Sequence

from irlint.records import record, replaced
from irlint.reporters.canvas import Canvas, Run, cut, display, wrapped
from irlint.snippets.drawing import Line, Piece

#: If a line does not fit, wider attributes are cut to this width.
LONG = 48

#: The comments of lines are aligned unless they would begin after this column.
FAR = 100

#: The longest text that replaces omitted entries of a list.
ELISION = ", ..., "

#: A label gets at least this many columns, or as many as its text has if it is shorter. Bars of other marks are omitted
#: where the label needs room.
LABEL = 24


def frame(lines: Sequence[Line], canvas: Canvas) -> None:
    """Writes the lines with their marks and labels."""
    fitted = [
        _fitted(_without(list(line.pieces), 3, canvas.ample), canvas.ample if line.part else canvas.room)
        for line in lines
    ]
    widths = [_length(pieces) for pieces in fitted]
    column = max((width for width, line in zip(widths, lines) if line.comment), default=0) + 2
    column = column if column <= FAR else 0
    for line, pieces, width in zip(lines, fitted, widths):
        if line.gap:
            canvas.gap()
        runs: list[Run] = [(piece.text, _role(piece, canvas) if piece.mark == "primary" else "") for piece in pieces]
        for start in (column, width + 2) if line.comment else ():
            if width < start <= canvas.room - display(line.comment):
                runs += [(" " * (start - width), ""), (line.comment, "dim")]
                break
        canvas.row(line.gutter, runs)
        _marks(pieces, canvas)


def crowding(lines: Sequence[Line], room: int, expendable: int) -> set[str]:
    """The names in lines that do not fit even without their unmarked pieces, if these are ``expendable`` or more."""
    found: set[str] = set()
    for line in lines:
        kept = list(line.pieces)
        for step in range(3, expendable - 1, -1):
            kept = _without(kept, step, room)
        if _length(kept) > room:
            found.update(piece.name for piece in kept if piece.name)
    return found


def _role(piece: Piece, canvas: Canvas) -> str:
    return canvas.severity if piece.mark == "primary" else "second"


def _fitted(pieces: list[Piece], room: int) -> list[Piece]:
    """The pieces, made to fit into ``room`` columns.

    Omits expendable pieces first, then cuts long texts, then keeps only a window around a mark.
    """
    kept = pieces
    for step in (3, 2, 1):
        if _length(kept) <= room:
            return kept
        kept = _without(kept, step, room)
    if _length(kept) > room:
        kept = [
            replaced(each, text=cut(each.text, LONG))
            if each.expendable and not each.name and display(each.text) > LONG
            else each
            for each in kept
        ]
    return kept if _length(kept) <= room else _window(kept, room)


def _length(pieces: Sequence[Piece]) -> int:
    return display("".join([piece.text for piece in pieces]))


def _without(pieces: list[Piece], step: int, room: int) -> list[Piece]:
    """The pieces. As many unmarked pieces with ``expendable == step`` as necessary are replaced by ``...``."""
    total = _length(pieces)
    dropped: set[int] = set()
    for index in reversed(range(len(pieces))):
        if total <= room:
            break
        piece = pieces[index]
        if piece.expendable != step or piece.mark:
            continue
        # A comma is omitted only with the entry after it.
        is_omitted = index + 1 in dropped if piece.text == ", " else _saves(pieces, index)
        if is_omitted:
            dropped.add(index)
            neighbors = (index - 1 in dropped) + (index + 1 in dropped)
            total += len(ELISION) * (1 - neighbors) - display(piece.text)
    kept: list[Piece] = []
    for index, piece in enumerate(pieces):
        if index not in dropped:
            kept.append(piece)
        elif index - 1 not in dropped:
            kept.append(Piece(_elision(pieces, dropped, index)))
    return kept


def _saves(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a piece is longer than ``...``, or is an entry of a list."""
    beside = [each.text for each in (*pieces[max(0, index - 1) : index], *pieces[index + 1 : index + 2])]
    return ", " in beside or len(pieces[index].text) > 3


def _elision(pieces: list[Piece], dropped: set[int], first: int) -> str:
    """The text in place of the dropped pieces from ``first`` on."""
    last = first
    while last + 1 in dropped:
        last += 1
    before = ", " if pieces[first].text == ", " else ""
    after = ", " if last > first and pieces[last].text == ", " else ""
    return f"{before}...{after}"


def _window(pieces: list[Piece], room: int) -> list[Piece]:
    """The part of the pieces around the first primary mark, or else around the first mark, that fits."""
    marked = next((i for i, piece in enumerate(pieces) if piece.mark == "primary"), None)
    if marked is None:
        marked = next((i for i, piece in enumerate(pieces) if piece.mark), 0)
    start = _length(pieces[:marked])
    size = min(display(pieces[marked].text), room - 6)
    length = _length(pieces)
    left = max(0, min(start - (room - size) // 2, length - room))
    if start + size <= room - 3:
        left = 0
    right = min(length, left + room)
    first, last = left + 3 * (left > 0), right - 3 * (right < length)
    cut_off = [Piece("...")] * (left > 0)
    at = 0
    for piece in pieces:
        text = _between(piece.text, first - at, last - at)
        at += display(piece.text)
        if text:
            cut_off.append(replaced(piece, text=text))
    return cut_off + [Piece("...")] * (right < length)


def _between(text: str, first: int, last: int) -> str:
    """The characters of a text that lie completely between the columns ``first`` and ``last``."""
    if text.isascii():
        return text[max(0, first) : max(0, last)]
    at, kept = 0, ""
    for character in text:
        columns = display(character)
        if at >= first and at + columns <= last and (columns or kept):
            kept += character
        at += columns
    return kept


@record
class _Mark:
    column: int
    piece: Piece


def _marks(pieces: Sequence[Piece], canvas: Canvas) -> None:
    """Writes the marks under a line, and their labels."""
    if not any(piece.mark for piece in pieces):
        return
    marks, column = [], 0
    for piece in pieces:
        if piece.mark:
            marks.append(_Mark(column, piece))
        column += display(piece.text)
    runs: list[Run] = []
    at = 0
    for mark in marks:
        length = max(1, display(mark.piece.text))
        runs += [(" " * (mark.column - at), ""), (_sign(mark.piece) * length, _role(mark.piece, canvas))]
        at = mark.column + length
    last = marks[-1].piece
    hanging = [mark for mark in marks[:-1] if mark.piece.label]
    if last.label and at + 1 + display(last.label) <= canvas.room:
        runs += [(" ", ""), (last.label, _role(last, canvas))]
    elif last.label:
        hanging.append(marks[-1])
    canvas.row("", runs)
    _hang(hanging, canvas)


def _sign(piece: Piece) -> str:
    return "^" if piece.mark == "primary" else "-"


def _hang(marks: list[_Mark], canvas: Canvas) -> None:
    """Writes the labels below their marks, the last label first. Bars connect the other marks with their labels."""
    if marks and (len(marks) > 1 or marks[0].column + display(marks[0].piece.label) <= canvas.room):
        _bars(marks, canvas, None)
    while marks:
        mark = marks.pop()
        _bars(marks, canvas, mark)


def _bars(marks: Sequence[_Mark], canvas: Canvas, labelled: _Mark | None) -> None:
    """Writes a bar below each of ``marks``, then the label of ``labelled``."""
    label = labelled.piece.label if labelled is not None else ""
    wide = min(display(label), canvas.room)
    if labelled is not None and marks and canvas.room - marks[-1].column - 2 < min(LABEL, wide):
        marks = [mark for mark in marks if mark.column < canvas.room - wide - 1]
    bars: list[Run] = []
    at = 0
    for mark in marks:
        bars += [(" " * (mark.column - at), ""), ("|", _role(mark.piece, canvas))]
        at = mark.column + 1
    if labelled is None:
        canvas.row("", bars)
        return
    left = at + bool(marks)
    column = min(labelled.column, max(left, canvas.room - wide))
    for line in wrapped(label, canvas.room - column):
        canvas.row("", [*bars, (" " * (column - at), ""), (line, _role(labelled.piece, canvas))])
