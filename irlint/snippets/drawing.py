"""The parts of a snippet (the excerpt of the model under a finding) as plain data, which any process can send and
render."""

from __future__ import annotations

from irlint.records import record


@record
class Piece:
    """A part of a line. ``mark`` is ``primary`` (at fault), ``second`` or "", and ``label`` is the text below the mark.

    If the page is too narrow, unmarked pieces are omitted: first those whose ``expendable`` is 3, then 2, then 1;
    pieces with 0 never. ``name`` is the name at the end of the text, which may be shortened.
    """

    text: str
    mark: str = ""
    label: str = ""
    expendable: int = 0
    name: str = ""


@record
class Line:
    """A line of the model. ``gutter`` is its number or name, and ``comment`` describes its result. ``gap``: lines
    before it are omitted. ``part``: it is only a part of a very long line."""

    gutter: str
    pieces: tuple[Piece, ...]
    comment: str = ""
    gap: bool = False
    part: bool = False


@record
class Row:
    """A value in a table of shapes. ``marked`` are the clashing axes. ``dims`` is None if no shape is shown, and
    ``instead`` is the text in its place. ``scalar`` is the value of a scalar.

    ``origins`` are texts on the origin of the value, the longest first; the first text that fits is shown. ``line`` is
    the line of the origin in the document. ``offset`` is the column of the first axis; if it is None, the alignment of
    the table decides.
    """

    label: str
    dims: tuple[str, ...] | None
    dtype: str = ""
    origins: tuple[str, ...] = ()
    line: int | None = None
    marked: tuple[int, ...] = ()
    name: str = ""
    instead: str = ""
    offset: int | None = None
    scalar: str = ""


@record
class Table:
    """Shapes in rows, aligned at their last axes (``right``) or their first axes (``left``). ``remark`` is the text
    beside the marks, and ``hidden`` the number of omitted inputs."""

    rows: tuple[Row, ...]
    aligned: str = "right"
    remark: str = ""
    hidden: int = 0


@record
class Carried:
    """A value that a line of the drawing carries. ``marked`` are its clashing axes. ``at_fault``: the finding is about
    the value. ``dims`` is None if the shape is unknown."""

    name: str
    dims: tuple[str, ...] | None
    dtype: str = ""
    marked: tuple[int, ...] = ()
    at_fault: bool = False


@record
class Box:
    """A box of the drawing: a node, or a value at an end of the graph. ``kind`` is ``fault`` (the node at fault),
    ``node``, ``input``, ``output``, or ``missing`` for an undefined value. ``index`` is the index or the id of a node,
    "" for a value. ``held`` are the constants that the node uses."""

    kind: str
    op: str
    name: str
    index: str = ""
    held: tuple[Carried, ...] = ()


@record
class Wire:
    """A line of the drawing, which carries a value from the box ``start`` to the box ``end``. ``input`` is the index of
    the input of the node in the second box."""

    start: int
    end: int
    value: Carried
    input: int = 0


@record
class Neighbourhood:
    """The nodes around the node at fault, which is the first box."""

    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]


@record
class Drawing:
    """The snippet of a finding: its place, the lines of the model, the table of shapes, and notes on the origins of
    sizes.

    * ``name``: the uncut name of the node or value at the place; ``unnamed``: the place without this name.
    * ``around``: the nodes around the node at fault, for forms that draw them.
    * ``letters``: pairs of a long symbol and the letter that replaces it.
    * ``types``: pairs of an element type and its name in the format.
    * ``behind``: the fingerprint of the error that explains the same mistake, "" if there is none.
    """

    place: str = ""
    lines: tuple[Line, ...] = ()
    table: Table | None = None
    notes: tuple[str, ...] = ()
    name: str = ""
    unnamed: str = ""
    around: Neighbourhood | None = None
    behind: str = ""
    letters: tuple[tuple[str, str], ...] = ()
    types: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> dict[str, None]:
        """The names in the lines and the table, each once."""
        found = dict.fromkeys(piece.name for line in self.lines for piece in line.pieces if piece.name)
        if self.table is not None:
            found.update(dict.fromkeys(row.name for row in self.table.rows if row.name))
        return found
