"""The parts of a snippet, as plain data.

The clashing axes of a value are the axes that the fault is about: the sizes there contradict other sizes.
"""

from __future__ import annotations

from irlint.records import record


@record
class Piece:
    """A part of a line."""

    text: str
    #: ``primary`` (at fault), ``second`` or "".
    mark: str = ""
    #: The text below the mark.
    label: str = ""
    #: If a line is too long, unmarked pieces are omitted: first those with 3, then those with 2, then those with 1.
    #: Pieces with 0 are never omitted.
    expendable: int = 0
    #: The name at the end of the text, which is shortened if the line is too long.
    name: str = ""


@record
class Line:
    """A line of the model."""

    #: The number or name before the line.
    gutter: str
    pieces: tuple[Piece, ...]
    #: The types of the outputs of a node.
    comment: str = ""
    #: Whether lines of the model before this line are omitted.
    gap: bool = False
    #: Whether this line is cut from a longer line of the model.
    part: bool = False


@record
class Row:
    """A value in a table of shapes."""

    label: str
    #: None if no shape is shown.
    dims: tuple[str, ...] | None
    dtype: str = ""
    #: Texts on the origin of the value, the longest first. The first one that fits is shown.
    origins: tuple[str, ...] = ()
    #: The line of the origin in the document.
    line: int | None = None
    #: The clashing axes.
    marked: tuple[int, ...] = ()
    name: str = ""
    #: The text in place of a shape.
    instead: str = ""
    #: The column of the first axis; None if the alignment of the table decides.
    offset: int | None = None
    #: The value of a scalar.
    scalar: str = ""


@record
class Table:
    """A table of shapes."""

    rows: tuple[Row, ...]
    #: ``right`` (at the last axes) or ``left`` (at the first axes).
    aligned: str = "right"
    #: The text beside the marks.
    remark: str = ""
    #: The number of omitted inputs.
    hidden: int = 0


@record
class WireValue:
    """The value of a wire."""

    name: str
    #: None if the shape is unknown.
    dims: tuple[str, ...] | None
    dtype: str = ""
    #: The clashing axes.
    marked: tuple[int, ...] = ()
    #: Whether the finding is about the value.
    at_fault: bool = False


@record
class Box:
    """A node, or a value at an end of the graph."""

    #: ``fault`` (the node at fault), ``node``, ``input``, ``output``, or ``missing`` for an undefined value.
    kind: str
    op: str
    name: str
    #: The index or id of a node; "" for a value.
    index: str = ""
    #: The constants that a node uses.
    constants: tuple[WireValue, ...] = ()


@record
class Wire:
    """A value that leads from one box to another."""

    #: Indices of boxes.
    start: int
    end: int
    value: WireValue
    #: The index of the input of the second node.
    input: int = 0


@record
class Neighbourhood:
    """The node at fault, in the first box, and the nodes around it."""

    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]


@record
class Snippet:
    """The excerpt of a model under a finding."""

    #: The place as a text.
    place: str = ""
    lines: tuple[Line, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    #: The name of the node or value in ``place``, and ``place`` without it.
    name: str = ""
    unnamed: str = ""
    around: Neighbourhood | None = None
    #: The fingerprint of an error with the same cause, or "".
    explained_by: str = ""
    #: (long symbol, letter that replaces it).
    letters: tuple[tuple[str, str], ...] = ()
    #: (element type, its name in the format).
    types: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> dict[str, None]:
        """The names in the lines and the table, each once."""
        found = dict.fromkeys(piece.name for line in self.lines for piece in line.pieces if piece.name)
        if self.table is not None:
            found.update(dict.fromkeys(row.name for row in self.table.rows if row.name))
        return found
