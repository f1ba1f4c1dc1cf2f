"""The page of a text report: lines after a gutter and a bar, and wrapped sentences."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

from irlint.reporters import ansi

#: Stands for a space at which a line must not break. It is a control character, so no ``safe`` text contains it.
GLUE = "\x1f"

#: A text in backticks or brackets with at most this many characters is not broken.
TOGETHER = 40

#: If the last line has at most this many columns, the clause that it ends moves into it.
ORPHAN = 12

#: A word that is longer than a line is broken after one of these characters, if possible.
BREAKS = frozenset("/.,:;_-+=)]")

#: The width of a line that need not fit the page, in columns.
UNBOUNDED = 2000

#: The first and the last of the Hangul letters that take no column of their own.
MIDDLE_JAMO = ("\u1160", "\u11ff")

#: (text, role that decides its color).
Run = tuple[str, str]


class Canvas:
    """A page of text. Its lines have a gutter, a bar ``|``, and text.

    ``gutter`` is the width of the gutter. ``intact`` is a text that is never broken. On an ``uncut`` page, sentences
    are wrapped, and other lines may be longer than the page. On a ``complete`` page, long lists keep all entries.
    """

    __slots__ = ("color", "columns", "complete", "gutter", "intact", "lines", "painted", "severity", "uncut")

    def __init__(
        self,
        columns: int,
        color: bool = False,
        gutter: int = 3,
        severity: str = "error",
        intact: str = "",
        *,
        uncut: bool = False,
        complete: bool = False,
    ) -> None:
        self.columns = columns
        self.color = color
        self.gutter = gutter
        self.severity = severity
        self.intact = intact
        self.uncut = uncut
        self.complete = complete
        #: ``painted(text, role)``: the text in the color of its role.
        self.painted = partial(ansi.painted, color=color)
        self.lines: list[str] = []

    def page(self, gutter: int, severity: str, intact: str) -> Canvas:
        """An empty page for the next finding, with the settings of this page."""
        return Canvas(self.columns, self.color, gutter, severity, intact, uncut=self.uncut, complete=self.complete)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def room(self) -> int:
        """The number of columns to the right of the bar, for lines of the model and for shapes."""
        return UNBOUNDED if self.uncut else self.columns - self.gutter - 3

    @property
    def ample(self) -> int:
        """Like ``room``, for lines of which only unmarked entries of long lists may be omitted."""
        return UNBOUNDED if self.complete else self.columns - self.gutter - 3

    def headline(self, tag: str, message: str) -> None:
        """``error[IRL201]: message``, wrapped."""
        first, *more = wrapped(f"{tag}: {message}", self.columns, self.columns - 6, self.intact)
        rest = first[len(tag) :] if first.startswith(tag) else first
        self.lines.append(self.painted(tag, self.severity) + self.painted(rest, "head"))
        self.lines += [" " * 6 + self.painted(line, "head") for line in more]

    def at(self, place: str, what: str) -> None:
        """``--> m.xml:418:3   layer 31``, in two lines if necessary."""
        arrow = " " * self.gutter + self.painted("-->", "gutter")
        if not what or self.fits(place, what):
            self.lines.append(f"{arrow} {place}" + f"   {what}" * bool(what))
            return
        self.lines.append(f"{arrow} {place}")
        indent = self.gutter + 4
        self.lines += [" " * indent + line for line in wrapped(what, self.columns - indent, intact=self.intact)]

    def fits(self, place: str, what: str) -> bool:
        """Whether a place and the text after it fit into one line."""
        return self.gutter + 4 + display(place) + 3 + display(what) <= self.columns

    def alone(self, text: str) -> None:
        """A text in one line below the place."""
        self.lines.append(" " * (self.gutter + 4) + text)

    def legend(self, texts: Iterable[str]) -> None:
        """The meanings of abbreviations, below the place."""
        indent = self.gutter + 4
        self.lines += [" " * indent + line for line in wrapped(", ".join(texts), self.columns - indent)]

    def bar(self) -> None:
        """A line with only the bar."""
        self.row("", [])

    def row(self, gutter: str, runs: list[Run]) -> None:
        """A line with a number or name before the bar."""
        left = list(runs)
        while left and not left[-1][0].strip():
            left.pop()
        bar = self.painted(f"{gutter:>{self.gutter}} |", "gutter")
        if not left:
            self.lines.append(bar)
            return
        left[-1] = left[-1][0].rstrip(), left[-1][1]
        self.lines.append(f"{bar} {''.join(self.painted(text, role) if role else text for text, role in left)}")

    def gap(self) -> None:
        """A line that stands for omitted lines."""
        self.lines.append(self.painted("...", "gutter"))

    def remark(self, tag: str, text: str, role: str) -> None:
        """``= help: declare it as …``, wrapped under its first word."""
        lead = " " * (self.gutter + 1)
        indent = len(f"{lead}= {tag}: ")
        first, *more = wrapped(text, self.columns - indent, intact=self.intact)
        self.lines.append(f"{lead}{self.painted('=', 'gutter')} {self.painted(tag, role)}: {first}")
        self.lines += [" " * indent + line for line in more]


def wrapped(text: str, room: int, later: int | None = None, intact: str = "") -> list[str]:
    """The text in lines of at most ``room`` columns, or ``later`` columns after the first line.

    Short parts in backticks or brackets, and words with ``intact``, are not broken.
    """
    later = room if later is None else later
    if len(text) <= room and display(text) <= room:
        return [text]
    lines: list[str] = []
    line = ""
    words = _with_unbroken_parts(text).split(" ")[::-1]
    while words:
        word = words.pop()
        space = later if lines else room
        if display(f"{line} {word}" if line else word) <= space:
            line = f"{line} {word}" if line else word
            continue
        if line:
            lines.append(line)
            line = ""
            words.append(word)
        elif GLUE in word:
            words += word.split(GLUE)[::-1]
        elif intact and intact in word:
            line = word
        else:
            first = _beginning(word, space)
            lines.append(first)
            words.append(word[len(first) :])
    result = [each.replace(GLUE, " ") for each in (*lines, line) if each] or [text]
    return _without_orphan(result, later)


def _without_orphan(lines: list[str], room: int) -> list[str]:
    """The lines. A short last line is joined with the text after the last colon of the line before it."""
    if len(lines) < 2 or display(lines[-1]) > ORPHAN:
        return lines
    head, colon, clause = lines[-2].rpartition(": ")
    moved = f"{clause} {lines[-1]}"
    if not colon or len(head) < room // 2 or display(moved) > room:
        return lines
    return [*lines[:-2], f"{head}:", moved]


def _beginning(word: str, room: int) -> str:
    """The longest beginning of a word that fits. If possible, it ends after one of BREAKS in its second half."""
    taken = fitting(word, room)
    ends = [index + 1 for index, character in enumerate(taken) if character in BREAKS]
    at = max(ends, default=0)
    return taken[:at] if at > len(taken) // 2 else taken


def _with_unbroken_parts(text: str) -> str:
    """The text with GLUE in place of the spaces in short parts in backticks or brackets."""
    parts = text.split("`")
    quoted = range(1, len(parts) - 1, 2)
    for index, part in enumerate(parts):
        if index not in quoted:
            parts[index] = _with_unbroken_brackets(part)
        elif len(part) <= TOGETHER:
            parts[index] = part.replace(" ", GLUE)
    return "`".join(parts)


def _with_unbroken_brackets(text: str) -> str:
    opened: list[int] = []
    letters = list(text)
    for index, letter in enumerate(letters):
        if letter in "([":
            opened.append(index)
        elif letter in ")]" and opened:
            start = opened.pop()
            if index - start <= TOGETHER:
                letters[start:index] = [GLUE if each == " " else each for each in letters[start:index]]
    return "".join(letters)


def fitting(text: str, room: int) -> str:
    """The beginning of a text that fits into ``room`` columns, at least one character."""
    taken = at = 0
    for character in text:
        taken += display(character)
        if taken > room and at:
            break
        at += 1
    return text[:at]


def cut(text: str, room: int) -> str:
    """The text with ``...`` in place of its middle if it needs more than ``room`` columns."""
    if display(text) <= room:
        return text
    kept = max(2, room - 3)
    return f"{fitting(text, kept - kept // 2)}...{ending(text, kept // 2)}"


def ending(text: str, room: int) -> str:
    """The end of a text that fits into ``room`` columns, without a leading combining mark."""
    tail = fitting(text[::-1], room)[::-1]
    while tail and display(tail[0]) == 0:
        tail = tail[1:]
    return tail


def display(text: str) -> int:
    """The number of columns of a text on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


@lru_cache(4096)
def _columns(character: str) -> int:
    from unicodedata import category, east_asian_width

    if category(character) in ("Mn", "Me") or MIDDLE_JAMO[0] <= character <= MIDDLE_JAMO[1]:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
