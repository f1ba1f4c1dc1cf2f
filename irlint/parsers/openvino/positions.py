"""Positions of XML elements in the text of a document: line, column and byte."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from irlint.parsers.openvino.xml import Decoded, decoded, start_tags
from irlint.records import NOTHING, record

LINE_END = re.compile(r"\r\n|\r|\n")


def line_starts(text: str) -> array[int]:
    """The indices at which the lines of a text begin, in ascending order."""
    found = array("q", [0])
    found.extend(end.end() for end in LINE_END.finditer(text))
    return found


@record
class Position:
    """The position of a start tag. Lines and columns count from 1, columns in code points; offsets are bytes from 0.

    The end is the position after the ``>`` or, in a broken tag, after the ``<``.
    """

    line: int
    column: int
    offset: int
    end_line: int
    end_column: int
    end_offset: int
    #: The start line, start column, end line and end column of the first attribute with each name.
    attributes: Mapping[str, tuple[int, int, int, int]] = NOTHING

    def of(self, attribute: str | None) -> tuple[int, int, int, int]:
        """(start line, start column, end line, end column) of an attribute or, without it, of the start tag."""
        tag = self.line, self.column, self.end_line, self.end_column
        return tag if attribute is None else self.attributes.get(attribute, tag)


def positions(data: bytes, elements: Iterable[int]) -> dict[int, Position]:
    """The positions of the start tags with these ordinals, by ordinal. Tags after broken markup have no position."""
    wanted = set(elements)
    if not wanted:
        return {}
    source = decoded(data)
    lines = line_starts(source.text)
    offsets = Offsets(source)
    found: dict[int, Position] = {}
    for tag in start_tags(source.text):
        if tag.ordinal not in wanted:
            continue
        names: dict[str, tuple[int, int, int, int]] = {}
        for name, index, end in tag.names:
            if name not in names:
                names[name] = (*line_and_column(lines, index), *line_and_column(lines, end))
        start, behind = line_and_column(lines, tag.start), line_and_column(lines, tag.end)
        found[tag.ordinal] = Position(*start, offsets.of(tag.start), *behind, offsets.of(tag.end), names)
        if len(found) == len(wanted):
            break
    return found


def line_and_column(lines: Sequence[int], index: int) -> tuple[int, int]:
    """The line and column of an index, both counted from 1. ``lines`` has the index at which each line begins."""
    line = bisect_right(lines, index)
    return line, index - lines[line - 1] + 1


class Offsets:
    """Converts indices in a text to byte offsets. Each call must pass an index that is not below the last one."""

    __slots__ = ("source", "index", "offset", "plain")

    def __init__(self, source: Decoded) -> None:
        self.source = source
        self.index = 0
        self.offset = source.mark_size
        self.plain = source.encoding == "utf-8" and source.text.isascii()

    def of(self, index: int) -> int:
        if self.plain:
            return self.source.mark_size + index
        errors = "surrogateescape" if self.source.encoding == "utf-8" else "replace"
        self.offset += len(self.source.text[self.index : index].encode(self.source.encoding, errors))
        self.index = index
        return self.offset
