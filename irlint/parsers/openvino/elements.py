"""The elements of an XML document without namespaces, made by the standard library's expat: importing lxml takes longer than most checks."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.lazy_typing import overload

#: What stands for a CDATA section in a document that lxml reads: a processing instruction of this name, as lxml gives the text of a
#: section together with that around it.
SECTION = "irlint-cdata"


class Element:
    """An element with the methods of lxml's that are used here. ``text`` stands before its first child, ``tail`` behind its end."""

    __slots__ = ("tag", "attrib", "children", "text", "tail")

    def __init__(self, tag: str, attrib: dict[str, str]) -> None:
        self.tag = tag
        self.attrib = attrib
        self.children: list[Element] = []
        self.text: str | None = None
        self.tail: str | None = None

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    def __len__(self) -> int:
        return len(self.children)

    @overload
    def get(self, name: str) -> str | None: ...

    @overload
    def get(self, name: str, default: str) -> str: ...

    def get(self, name: str, default: str | None = None) -> str | None:
        return self.attrib.get(name, default)

    def iterchildren(self, *tags: str) -> Iterator[Element]:
        """The children of these names, or all of them with ``*``."""
        return iter(self.children if "*" in tags else [each for each in self.children if each.tag in tags])

    def iter(self, tag: str) -> Iterator[Element]:
        """The element and what is inside it in the order of the start tags, those of a name or all with ``*``."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if tag in ("*", element.tag):
                yield element
            waiting += reversed(element.children)


def read(text: str) -> Element | None:
    """The root of a document without a declaration; None where expat refuses it, or a name has a prefix."""
    from pyexpat import ExpatError, ParserCreate

    around = [Element("", {})]
    characters: list[str] = []

    def told() -> None:
        """Gives the characters since the last tag to what they stand in, or behind."""
        element = around[-1]
        if element.children:
            element.children[-1].tail = "".join(characters)
        else:
            element.text = "".join(characters)
        characters.clear()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if characters:
            told()
        element = Element(tag, attributes)
        around[-1].children.append(element)
        around.append(element)

    def end(_: str) -> None:
        if characters:
            told()
        around.pop()

    names: dict[str, str] = {}
    parser = ParserCreate(intern=names)
    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters.append
    try:
        parser.Parse(text, True)
    except ExpatError:
        return None
    return None if any(":" in name for name in names) else around[0].children[0]
