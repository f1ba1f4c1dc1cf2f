"""A finding on its way to the page: a gutter to the left, and texts that are wrapped beside it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from irlint.reporters import ansi

#: A character that no text has after control characters are escaped, in place of a space where no line may end.
GLUE = "\ue000"

#: What stands in backticks is not broken up to so many characters.
TOGETHER = 40

#: A text with the role that it is painted in.
Run = tuple[str, str]


@dataclass(slots=True)
class Canvas:
    """Lines of ``columns`` columns; ``gutter`` is the width of what stands before the bar."""

    columns: int
    color: bool = False
    gutter: int = 3
    severity: str = "error"
    lines: list[str] = field(default_factory=list, init=False)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def room(self) -> int:
        """The columns to the right of the bar."""
        return self.columns - self.gutter - 3

    def painted(self, text: str, role: str) -> str:
        return ansi.painted(text, role, self.color)

    def headline(self, tag: str, message: str) -> None:
        first, *more = wrapped(f"{tag}: {message}", self.columns, 6)
        rest = first[len(tag) :] if first.startswith(tag) else first
        self.lines.append(self.painted(tag, self.severity) + self.painted(rest, "head"))
        self.lines += [" " * 6 + self.painted(line.lstrip(), "head") for line in more]

    def at(self, place: str, what: str) -> None:
        """``--> m.xml:418:3   layer 31``; what does not fit stands in the next line."""
        arrow = " " * self.gutter + self.painted("-->", "gutter")
        if not what or self.gutter + 4 + display(place) + 3 + display(what) <= self.columns:
            self.lines.append(f"{arrow} {place}" + f"   {what}" * bool(what))
            return
        self.lines.append(f"{arrow} {place}")
        indent = self.gutter + 4
        self.lines += [" " * indent + line.lstrip() for line in wrapped(" " * indent + what, self.columns, indent)]

    def bar(self) -> None:
        self.row("", [])

    def row(self, gutter: str, runs: list[Run]) -> None:
        """A line with its number or name before the bar."""
        left = list(runs)
        while left and not left[-1][0].strip():
            left.pop()
        bar = self.painted(f"{gutter:>{self.gutter}} |", "gutter")
        if not left:
            self.lines.append(bar)
            return
        left[-1] = left[-1][0].rstrip(), left[-1][1]
        self.lines.append(f"{bar} {''.join(self.painted(text, role) for text, role in left)}")

    def gap(self) -> None:
        self.lines.append(self.painted("...", "gutter"))

    def remark(self, tag: str, text: str, role: str) -> None:
        """``= help: declare it as …``, wrapped under its first word."""
        lead = " " * (self.gutter + 1)
        indent = len(f"{lead}= {tag}: ")
        for position, line in enumerate(wrapped(" " * indent + text, self.columns, indent)):
            if position:
                self.lines.append(" " * indent + line.lstrip())
                continue
            self.lines.append(f"{lead}{self.painted('=', 'gutter')} {self.painted(tag, role)}: {line.lstrip()}")


def wrapped(text: str, columns: int, indent: int) -> list[str]:
    """The text in lines of at most ``columns`` columns where its words allow that, those behind the first indented."""
    if len(text) <= columns:
        return [text]
    lines = textwrap.wrap(
        _held_together(text),
        columns,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    )
    return [line.replace(GLUE, " ") for line in lines] or [text]


def _held_together(text: str) -> str:
    """The text with its short `quoted parts` as single words."""
    parts = text.split("`")
    quoted = range(1, len(parts) - 1, 2)
    return "`".join(
        part.replace(" ", GLUE) if index in quoted and len(part) <= TOGETHER else part
        for index, part in enumerate(parts)
    )


def display(text: str) -> int:
    """The number of columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
