"""Parses XML documents in the form that OpenVINO writes. Other documents need lxml, whose import takes long."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.lazy_typing import overload

#: The name of the processing instructions that replace CDATA sections. lxml would join a section with text around it.
SECTION = "irlint-cdata"

BLANKS = " \t\r\n"

WITHOUT_LINES = {ord(each): None for each in "\t\r\n"}

#: The accepted XML declarations, all for UTF-8.
DECLARATIONS = frozenset(
    f"<?xml version={each}1.0{each}{encoding}{blank}?>"
    for each in "\"'"
    for encoding in ("", f" encoding={each}utf-8{each}", f" encoding={each}UTF-8{each}")
    for blank in ("", " ")
)

#: The character references that OpenVINO writes.
_CHARACTERS = {
    "amp": "&",
    "lt": "<",
    "gt": ">",
    "quot": '"',
    "apos": "'",
    "#9": "\t",
    "#09": "\t",
    "#10": "\n",
    "#13": "\r",
}

#: Documents with deeper elements are not parsed here.
_DEEPEST = 100

#: (name, attributes, whether the element is empty).
Tag = tuple[str, dict[str, str], bool]


class Element:
    """An element with the interface of lxml: ``text`` precedes its first child, and ``tail`` follows its end tag."""

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
        """The children with one of these names; ``*`` means all."""
        return iter(self.children if "*" in tags else [each for each in self.children if each.tag in tags])

    def iter(self, tag: str) -> Iterator[Element]:
        """The element and its descendants with this name (``*``: all), in the order of their start tags."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if tag in ("*", element.tag):
                yield element
            waiting += reversed(element.children)


def read(text: str) -> Element | None:
    """The root of a document without a declaration; None if it is not in the form that OpenVINO writes."""
    blank, *parts = text.split("<")
    root = Element("", {})
    around = [root]
    tags: dict[str, Tag | None] = {}
    for part in parts:
        inside, closed, behind = part.partition(">")
        if not closed:
            return None
        if inside.startswith("/"):
            if around.pop().tag != inside[1:] or not around:
                return None
        else:
            tag = tags[inside] if inside in tags else tags.setdefault(inside, _tag(inside))
            if tag is None or len(around) > _DEEPEST:
                return None
            element = Element(tag[0], tag[1])
            around[-1].children.append(element)
            if not tag[2]:
                around.append(element)
        if behind and not _place(behind, around[-1]):
            return None
    if len(around) > 1 or len(root.children) != 1 or (blank + (root.children[0].tail or "")).strip(BLANKS):
        return None
    return root.children[0]


def _place(text: str, element: Element) -> bool:
    """Adds a text to an element, after its last child if any. Returns False if OpenVINO does not write such a text."""
    if text.strip(BLANKS) and not (
        text.isascii() and text.translate(WITHOUT_LINES).isprintable() and not any(each in text for each in '&">')
    ):
        return False
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if element.children:
        element.children[-1].tail = text
    else:
        element.text = text
    return True


def _tag(inside: str) -> Tag | None:
    """The start tag with this text between ``<`` and ``>``; None if OpenVINO writes no tag in this form."""
    empty = inside.endswith("/")
    first, *parts = (inside[:-1] if empty else inside).removesuffix(" ").split('"')
    name, between, attribute = first.partition(" ")
    if not parts:
        return (name, {}, empty) if _is_plain_name(name) and not between else None
    if len(parts) % 2 or parts[-1] or not _is_plain_name(name):
        return None
    names = [f" {attribute}" if between else "", *parts[1:-1:2]]
    attributes: dict[str, str] = {}
    for each, written in zip(names, parts[::2]):
        key, value = each[1:-1], _decoded_value(written)
        if value is None or each[:1] != " " or each[-1:] != "=" or not _is_plain_name(key) or key in attributes:
            return None
        attributes[key] = value
    return None if "xmlns" in attributes else (name, attributes, empty)


def _is_plain_name(text: str) -> bool:
    return text[:1].isalpha() and text.isascii() and (text.isalnum() or _without_signs(text).isalnum())


def _without_signs(text: str) -> str:
    return text.replace("_", "a").replace("-", "a").replace(".", "a")


def _decoded_value(text: str) -> str | None:
    """The decoded value of an attribute; None if OpenVINO writes no value in this form."""
    if not text.isprintable() and text:
        return None
    if "&" not in text:
        return text
    first, *parts = text.split("&")
    found = [first]
    for part in parts:
        reference, ended, behind = part.partition(";")
        if not ended or reference not in _CHARACTERS:
            return None
        found += (_CHARACTERS[reference], behind)
    return "".join(found)
