"""The line of a text file that a finding is about."""

from __future__ import annotations

from irlint.snippets.drawing import Drawing, Line, Piece

#: A line is cut to this many characters.
CHARACTERS = 160


def marked_line(text: str, *, line: int, column: int, end_column: int) -> Drawing:
    """The snippet for a place in a text; empty if the line does not exist or is blank. Line and columns count from
    1."""
    lines = text.split("\n")
    if line > len(lines) or not lines[line - 1].strip():
        return Drawing()
    shown = lines[line - 1].rstrip("\r").replace("\t", " ")[:CHARACTERS]
    before, part, after = shown[: column - 1], shown[column - 1 : end_column - 1], shown[end_column - 1 :]
    pieces = (Piece(before), Piece(part, "primary" if part else ""), Piece(after))
    return Drawing(lines=(Line(str(line), tuple(each for each in pieces if each.text)),))
