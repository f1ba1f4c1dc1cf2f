"""The snippet of a text file."""

from __future__ import annotations

from irlint.snippets.drawing import Line, Piece, Snippet

#: A line is cut to this many characters.
CHARACTERS = 160


def marked_line(text: str, *, line: int, column: int, end_column: int) -> Snippet:
    """The snippet of a line, empty if the line does not exist or is blank. Line and columns count from 1."""
    lines = text.split("\n")
    if line > len(lines) or not lines[line - 1].strip():
        return Snippet()
    shown = lines[line - 1].rstrip("\r").replace("\t", " ")[:CHARACTERS]
    before, part, after = shown[: column - 1], shown[column - 1 : end_column - 1], shown[end_column - 1 :]
    pieces = (Piece(before), Piece(part, "primary" if part else ""), Piece(after))
    return Snippet(lines=(Line(str(line), tuple(each for each in pieces if each.text)),))
