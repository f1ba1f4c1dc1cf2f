"""The lines of an IR document in a snippet."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence

from irlint.model import Node, Place
from irlint.parsers.openvino.positions import line_and_column, line_starts
from irlint.parsers.openvino.xml import Broken, decoded, fixed, start_tags
from irlint.records import record
from irlint.snippets.drawing import Line, Piece

#: Lines of more than LONG characters are cut to AROUND characters before and after their marks.
LONG = 400
AROUND = 150

#: The largest extent of spots of a long line that share a line of the snippet.
TOGETHER = 48

#: The largest number of lines in a snippet.
LINES = 8

_ATTRIBUTE = r"(?<=\s){}\s*=\s*(?:\"[^\"]*\"|'[^']*')"


@record
class Spot:
    """A part of the text, with the mark and label of a ``Piece``."""

    start: int
    end: int
    mark: str = ""
    label: str = ""


class Document:
    """The text of an IR document, with the positions of its lines and start tags."""

    __slots__ = ("text", "lines", "starts", "ends")

    def __init__(self, data: bytes) -> None:
        self.text = decoded(data).text
        self.lines = line_starts(self.text)
        self.starts, self.ends = array("q"), array("q")
        for tag in start_tags(self.text):
            self.starts.append(tag.start)
            self.ends.append(tag.end)

    def position(self, place: Place | None) -> tuple[int, int] | None:
        """(line, column) of a place, both from 1; None if the document has no such place."""
        spot = self.spot(place)
        return None if spot is None else self.line_and_column(spot.start)

    def line_and_column(self, index: int) -> tuple[int, int]:
        """(line, column) of an index of the text, both from 1."""
        return line_and_column(self.lines, index)

    def spot(self, place: Place | None, mark: str = "", label: str = "") -> Spot | None:
        """The spot of the attribute of a place or, without one, of its start tag; None without such a tag."""
        if place is None or not 0 <= place.element < len(self.starts):
            return None
        start, end = self.starts[place.element], self.ends[place.element]
        if place.attribute is not None:
            found = re.compile(_ATTRIBUTE.format(re.escape(place.attribute))).search(self.text, start, end)
            if found is not None:
                return Spot(found.start(), found.end(), mark, label)
        return Spot(start, end, mark, label)

    def tag(self, element: int) -> str:
        """The name of a start tag, or "" without such a tag."""
        if not 0 <= element < len(self.starts):
            return ""
        found = re.compile(r"<([^\s/>]+)").match(self.text, self.starts[element])
        return found[1] if found else ""

    def dim(self, port: Place | None, axis: int, mark: str, label: str) -> Spot | None:
        """The spot of the number in a ``<dim>`` of a port; None if the port has no such dim."""
        if port is None:
            return None
        element = port.element + 1 + axis
        if any(self.tag(each) != "dim" for each in range(port.element + 1, element + 1)):
            return None
        start = self.ends[element]
        end = self.text.find("<", start)
        return Spot(start, end, mark, label) if end > start and "\n" not in self.text[start:end] else None

    def broken(self) -> tuple[int, bool] | None:
        """(index at which the markup breaks, whether the file is truncated); None if the document can be read."""
        try:
            fixed(self.text)
        except Broken as error:
            return min(error.at, len(self.text)), error.truncated
        return None

    # --- lines --------------------------------------------------------------------------------------------------------

    def drawn(self, spots: Iterable[Spot | None]) -> tuple[Line, ...]:
        """The marked lines of the spots in the order of the document, at most LINES."""
        by_line: dict[int, list[Spot]] = {}
        for spot in sorted(
            dict.fromkeys(spot for spot in spots if spot is not None), key=lambda spot: (spot.start, -spot.end)
        ):
            by_line.setdefault(self.line_and_column(spot.start)[0], []).append(spot)
        lines: list[Line] = []
        last = 0
        for number, here in by_line.items():
            for group in self._groups(number, here):
                if len(lines) < LINES:
                    lines.append(self._line(number, group, gap=bool(last) and number > last + 1))
                last = number
        return tuple(lines)

    def _groups(self, number: int, spots: list[Spot]) -> list[list[Spot]]:
        """The spots of one line, grouped by the lines of the snippet; without unmarked ones beside marked ones."""
        start, end = self._start_and_end(number)
        if end - start <= LONG:
            return [[spot for spot in spots if spot.mark] or spots[:1]]
        groups = [[spots[0]]]
        for spot in spots[1:]:
            if groups[-1][0].mark and spot.end - groups[-1][0].start <= TOGETHER:
                groups[-1].append(spot)
            else:
                groups.append([spot])
        return groups

    def _start_and_end(self, number: int) -> tuple[int, int]:
        start = self.lines[number - 1]
        end = self.lines[number] if number < len(self.lines) else len(self.text)
        while end > start and self.text[end - 1] in "\r\n":
            end -= 1
        return start, end

    def _line(self, number: int, spots: Sequence[Spot], *, gap: bool) -> Line:
        start, end = self._start_and_end(number)
        left, right = start, end
        if end - start > LONG:
            left = max(start, min(spots[0].start, end) - AROUND * bool(spots[0].mark))
            right = min(end, max(min(spot.end, spots[0].start + LONG) for spot in spots) + AROUND)
        pieces = [Piece("...")] if left > start else []
        at = left
        for spot in spots:
            first, last = max(spot.start, at), min(max(spot.end, spot.start), right)
            if first > right or (last <= first and spot.start < end):
                continue
            pieces.append(Piece(_shown(self.text[at:first])))
            pieces.append(Piece(_shown(self.text[first:last]) or " ", spot.mark, spot.label))
            at = max(last, first)
        pieces.append(Piece(_shown(self.text[at:right]) + "..." * (right < end)))
        part = left > start or right < end
        return Line(str(number), tuple(piece for piece in pieces if piece.text), gap=gap, part=part)


def _shown(text: str) -> str:
    return text.replace("\t", "    ")


def layer_text(node: Node) -> str:
    """``layer 5 "/backbone/conv1"``."""
    return "layer" + f" {node.id}" * bool(node.id) + f' "{node.name}"' * bool(node.name)
