"""What the text report shows of a finding: plain data, the same in every process."""

from __future__ import annotations

from irlint.records import record


@record
class Piece:
    """A part of a line; ``mark`` is ``primary``, ``second`` or "".

    A narrow page leaves out what is ``spare`` and has no mark, 3 first and 1 last. ``name`` is the name that the text
    ends with, which may be cut there.
    """

    text: str
    mark: str = ""
    label: str = ""
    spare: int = 0
    name: str = ""


@record
class Line:
    """A line of the model; ``gap`` is True where lines before it are omitted, ``comment`` what is known of its result,
    and ``part`` that this is only a part of a very long one."""

    gutter: str
    pieces: tuple[Piece, ...]
    comment: str = ""
    gap: bool = False
    part: bool = False


@record
class Row:
    """A value in a table of shapes; ``marked`` are the clashing axes. ``dims`` is None where there is no shape to show,
    and ``instead`` then says why. ``scalar`` is what a scalar holds.

    ``origins`` say where the value comes from, the longest text first; a narrow page takes the first that fits.
    ``offset`` is the column of its first axis, where that does not follow from how the table is aligned.
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
    """Shapes under each other, aligned on their last axes (``right``) or their first (``left``)."""

    rows: tuple[Row, ...]
    aligned: str = "right"
    remark: str = ""
    hidden: int = 0


@record
class Carried:
    """A value between two nodes: ``marked`` are its clashing axes, ``at_fault`` is True where it is at fault, ``dims``
    are None where no shape is known."""

    name: str
    dims: tuple[str, ...] | None
    dtype: str = ""
    marked: tuple[int, ...] = ()
    at_fault: bool = False


@record
class Box:
    """A node; ``kind`` is ``fault``, ``node``, ``input``, ``output`` or, for what nothing makes, ``missing``. ``held``
    are the constants that it takes."""

    kind: str
    op: str
    name: str
    index: str = ""
    held: tuple[Carried, ...] = ()


@record
class Wire:
    """A value from one box to another, both by their index; ``input`` is the place that it has among what the second
    takes."""

    start: int
    end: int
    value: Carried
    input: int = 0


@record
class Neighbourhood:
    """The nodes around the one at fault, which is the first box."""

    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]


@record
class Drawing:
    """A finding's picture: what stands at its place, the lines of the model, the shapes, and how they came to be.

    ``name`` is the whole name of what stands there, and ``unnamed`` the place without it. ``around`` are the nodes
    around it, where a form shows them. ``letters`` are symbols with the letter that stands for each, ``types`` element
    types with what the format calls them. ``behind`` is the fingerprint of the error that explains the same mistake.
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
        """The names in its lines and its table, each once."""
        found = dict.fromkeys(piece.name for line in self.lines for piece in line.pieces if piece.name)
        if self.table is not None:
            found.update(dict.fromkeys(row.name for row in self.table.rows if row.name))
        return found
