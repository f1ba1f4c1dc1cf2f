"""The places of elements in the text of an XML document."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from irlint.parsers.openvino.types import BLANKS
from irlint.parsers.openvino.xml import StartTag, tokens


class Element:
    """An element. ``inside_end`` is the start of its end tag, ``end`` the index after that tag."""

    __slots__ = ("name", "tag", "children", "inside_end", "end")

    def __init__(self, name: str, tag: StartTag) -> None:
        self.name = name
        self.tag = tag
        self.children: list[Element] = []
        self.inside_end = self.end = tag.end

    @property
    def is_empty(self) -> bool:
        """Whether the element has no end tag."""
        return self.inside_end == self.end

    def named(self, name: str) -> list[Element]:
        """The children of this name."""
        return [each for each in self.children if each.name == name]


class Outline:
    """The elements with the ``wanted`` ordinals, and the edges and layers of ``graphs``, by ordinal."""

    def __init__(self, text: str, wanted: Collection[int], graphs: Collection[int]) -> None:
        self.text = text
        self.elements: dict[int, Element] = {}
        self.edges: dict[int, Element] = {}
        self.layers: dict[int, Element] = {}
        parts = {"edges": self.edges, "layers": self.layers}
        ordinal = -1
        around: list[tuple[int, Element | None]] = [(-1, None)]
        for token, end in tokens(text):
            if token["start"]:
                ordinal += 1
                within, parent = around[-1]
                part = parts.get(token["start"]) if within in graphs else None
                is_part = part is not None and within not in part
                element = None
                if parent is not None or is_part or ordinal in wanted:
                    tag = StartTag(ordinal, token.start(), end, token.start("attributes"), token["attributes"])
                    element = self.elements[ordinal] = Element(token["start"], tag)
                if parent is not None and element is not None:
                    parent.children.append(element)
                if part is not None and is_part and element is not None:
                    part[within] = element
                if not token["empty"]:
                    around.append((ordinal, element))
            elif token["end"] and len(around) > 1:
                _, closed = around.pop()
                if closed is not None:
                    closed.inside_end, closed.end = token.start(), end

    def blank_before(self, at: int) -> str:
        """The blanks before an index."""
        begin = at
        while begin and self.text[begin - 1] in BLANKS:
            begin -= 1
        return self.text[begin:at]

    def attributes(self, element: Element) -> Iterator[tuple[str, int, int, int]]:
        """(name, start, start of the value, end after the closing quote) of the attributes of an element."""
        for name, start, end in element.tag.names:
            yield name, start, self.text.index(self.text[end - 1], start, end) + 1, end

    def value(self, element: Element, name: str) -> str:
        """The text of an attribute, as written; "" if there is none."""
        return next(
            (self.text[begin : end - 1] for each, _, begin, end in self.attributes(element) if each == name), ""
        )
