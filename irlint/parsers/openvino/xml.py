"""Reads the text of an XML document tag by tag, as leniently as OpenVINO's parser, and corrects it for lxml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from irlint.parsers.openvino.elements import DECLARATIONS, SECTION, WITHOUT_LINES
from irlint.records import record

_NAME = r"[A-Za-z_:\x80-\U0010ffff][-A-Za-z0-9_:.\x80-\U0010ffff]*"
_BLANK = r"[ \t\r\n]"
_ATTRIBUTE = re.compile(rf"{_BLANK}+({_NAME}){_BLANK}*={_BLANK}*(?:\"([^\"]*)\"|'([^']*)')")
_TOKEN = re.compile(
    rf"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?{_NAME}.*?\?>|<!DOCTYPE"
    rf"|</(?P<end>{_NAME}){_BLANK}*>"
    rf"|<(?P<start>{_NAME})(?P<attributes>(?:{_BLANK}+{_NAME}{_BLANK}*={_BLANK}*(?:\"[^\"]*\"|'[^']*'))*)"
    rf"{_BLANK}*(?P<empty>/?)>"
    r"|<",
    re.DOTALL,
)
_CHARACTER = re.compile(r"\S")
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
_NUMBERED = re.compile(r"&#(?:x([0-9A-Fa-f]+)|([0-9]+));")
_ENDING = re.compile(r"&#(?:0+|x0+);.*", re.DOTALL)
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ENCODING = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']((?:iso-8859|windows-125)[-0-9]+|latin1)[\"']", re.IGNORECASE)
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32-le"),
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_FIRST_BYTES = (
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)


#: Texts, and values of attributes, are cut to these numbers of characters.
LONGEST_TEXT = 1 << 16
LONGEST_VALUE = 1 << 20

#: Elements at a greater depth become siblings at this depth.
DEEPEST = 200


@record
class Decoded:
    """A decoded document."""

    text: str
    encoding: str
    #: The number of bytes of the byte order mark, 0 without one.
    mark_size: int


def decoded(data: bytes) -> Decoded:
    """A document, decoded by its byte order mark, its first bytes or its declaration, else as UTF-8.

    In UTF-8, invalid bytes become lone surrogates (``surrogateescape``).
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return Decoded(_text(data[len(mark) :], encoding), encoding, len(mark))
    for first, encoding in _FIRST_BYTES:
        if data.startswith(first):
            return Decoded(_text(data, encoding), encoding, 0)
    declared = _ENCODING.match(data[:256].lstrip())
    if declared is None:
        return Decoded(_text(data, "utf-8"), "utf-8", 0)
    name = declared[1].decode("ascii")
    try:
        return Decoded(data.decode(name, "replace"), name, 0)
    except LookupError:
        return Decoded(_text(data, "utf-8"), "utf-8", 0)


def _text(data: bytes, encoding: str) -> str:
    return data.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")


@record
class StartTag:
    """A start tag of a document; ``attributes`` is the text of its attributes."""

    ordinal: int
    start: int
    end: int
    attributes_start: int
    attributes: str

    @property
    def names(self) -> Iterator[tuple[str, int, int]]:
        """(name, index of the name, index after the attribute) of each attribute."""
        for attribute in _ATTRIBUTE.finditer(self.attributes):
            yield attribute[1], self.attributes_start + attribute.start(1), self.attributes_start + attribute.end()


def tokens(text: str) -> Iterator[tuple[re.Match[str], int]]:
    """(token, index after the token) of each token of a text. A token ``<`` is broken markup."""
    at = 0
    while True:
        for token in _TOKEN.finditer(text, at):
            at = token.end()
            if at - token.start() == len(_DOCTYPE) and token[0] == _DOCTYPE:
                at = _behind_doctype(text, at)
                yield token, at
                break
            yield token, at
        else:
            return


_DOCTYPE = "<!DOCTYPE"
_IN_DOCTYPE = re.compile(r"""<!\[|<!(?!-)|<\?|<!--|["'<>]""")
_IGNORED = re.compile(r"<!\[|\]\]>")

#: The ends of parts of a DOCTYPE, by their beginnings.
_ENDS = {"<?": "?>", "<!--": "-->", '"': '"', "'": "'"}


def _behind_doctype(text: str, at: int) -> int:
    """The index after the DOCTYPE whose keyword ends at ``at``, as in pugixml; raises Broken if there is no end."""
    begin = at - len(_DOCTYPE)
    depth = 1
    while depth:
        found = _IN_DOCTYPE.search(text, at)
        if found is None or found[0] == "<":
            raise Broken("the DOCTYPE does not end", begin, 0, truncated=found is None)
        sign, at = found[0], found.end()
        if sign == "<![":
            at = _behind_ignored(text, at, begin)
        elif sign in _ENDS:
            at = text.find(_ENDS[sign], at) + len(_ENDS[sign])
            if at < found.end():
                raise Broken(f"the DOCTYPE does not end: {sign} is not closed in it", begin, 0)
        else:
            depth += 1 if sign == "<!" else -1
    return at


def _behind_ignored(text: str, at: int, begin: int) -> int:
    depth = 1
    while depth:
        found = _IGNORED.search(text, at)
        if found is None:
            raise Broken("the DOCTYPE does not end: a section is not closed in it", begin, 0, truncated=True)
        depth += 1 if found[0] == "<![" else -1
        at = found.end()
    return at


def start_tags(text: str) -> Iterator[StartTag]:
    """The start tags of a text, in order. Broken markup is a tag without attributes, and the last one."""
    ordinal = 0
    with suppress(Broken):
        for token, end in tokens(text):
            if token["start"]:
                yield StartTag(ordinal, token.start(), end, token.start("attributes"), token["attributes"])
                ordinal += 1
            elif end == token.start() + 1:
                yield StartTag(ordinal, token.start(), end, token.start(), "")
                return


@record
class Leniency:
    """A defect that XML forbids and OpenVINO's parser accepts."""

    kind: str
    at: int
    #: The ordinal of the last start tag before ``at``.
    ordinal: int
    attribute: str | None = None


@record(eq=False, frozen=False)
class Broken(Exception):
    """A document that OpenVINO cannot parse."""

    message: str
    at: int
    #: The ordinal of the element that contains ``at``, or of the broken tag at ``at``.
    ordinal: int
    #: Whether the document ends too early.
    truncated: bool = False


@record
class Fixed:
    """The root element of a document, written as well-formed XML."""

    text: str
    #: The number of elements.
    elements: int
    leniencies: tuple[Leniency, ...]
    #: Whether the root has only tags and text. A declaration and comments may stand outside of the root.
    plain: bool


def fixed(text: str) -> Fixed:
    """The document as OpenVINO's parser reads it, as well-formed XML. Raises Broken if that parser refuses it."""
    return _Fixer(text.rstrip("\0")).result()


class _Fixer:
    __slots__ = ("text", "parts", "leniencies", "open", "ordinal", "elements", "done", "plain")

    def __init__(self, text: str) -> None:
        self.text = text
        self.parts: list[str] = []
        self.leniencies: list[Leniency] = []
        self.open: list[tuple[str, int, int]] = []
        self.ordinal = -1
        self.elements = 0
        self.done = False
        self.plain = True

    def result(self) -> Fixed:
        end = 0
        for token, behind in tokens(self.text):
            if self.done and not self.open and self.text.find("\0", end, token.start()) >= 0:
                break
            self._characters(end, token.start())
            self._expect_no_nul(token.start(), behind)
            self._token(token)
            end = behind
        if self.open:
            raise Broken(f"the file ends inside {self._inside()}", len(self.text), self.open[-1][2], truncated=True)
        if not self.done:
            raise Broken("the file has no element", len(self.text), 0)
        self._characters(end, len(self.text))
        return Fixed("".join(self.parts), self.elements, tuple(self.leniencies), self.plain)

    def _token(self, token: re.Match[str]) -> None:
        if token["start"]:
            self._start(token)
        elif token["end"]:
            self._end(token)
        elif token.end() == token.start() + 1:
            self._broken(token.start())
        else:
            self._comment_or_section(token)

    def _comment_or_section(self, token: re.Match[str]) -> None:
        start, end = token.span()
        if self.text.startswith(_DOCTYPE, start) and self.open:
            raise Broken("a DOCTYPE is inside an element", start, self.open[-1][2])
        declared = start == 0 and self.text[start:end] in DECLARATIONS
        self.plain = self.plain and (declared or (not self.open and _is_plain_comment(self.text[start:end])))
        if not self.open or self.done:
            return
        if self.text.startswith("<![CDATA[", start):
            content = self.text[start + 9 : min(end - 3, start + 9 + LONGEST_TEXT)]
            self.parts.append(f"<?{SECTION} {_ILLEGAL.sub(chr(0xFFFD), content).replace('?>', '?' + chr(0xFFFD))}?>")
        else:
            self.parts.append("<!---->")

    def _start(self, token: re.Match[str]) -> None:
        self.ordinal += 1
        name = token["start"]
        if self.done and not self.open:
            self._forgive("text after the root element", token.start())
        if not self.done:
            self.elements += 1
            self.plain = self.plain and name.isascii() and ":" not in name
            empty = token["empty"] or "/" * (len(self.open) >= DEEPEST)
            self.parts.append(f"<{_lxml_name(name)}{self._attributes(token)}{empty}>")
        if not token["empty"]:
            self.open.append((name, token.start(), self.ordinal))
        elif not self.open:
            self.done = True

    def _attributes(self, token: re.Match[str]) -> str:
        kept: dict[str, str] = {}
        for attribute in _ATTRIBUTE.finditer(self.text, *token.span("attributes")):
            name, at = attribute[1], attribute.start(1)
            begin, end = attribute.span(2) if attribute.start(2) >= 0 else attribute.span(3)
            value = self.text[begin : min(end, begin + LONGEST_VALUE)]
            self.plain = self.plain and name.isascii() and ":" not in name
            if name in kept:
                self._forgive(f'the attribute "{name}" for the second time', at, name)
                continue
            if "<" in value:
                self._forgive(f'a bare "<" in the attribute "{name}"', at, name)
            kept[name] = self._escaped(value, at, name).replace("<", "&lt;").replace('"', "&quot;")
        named = [(name, value) for name, value in kept.items() if name != "xmlns" and not name.startswith("xmlns:")]
        return "".join([f' {_lxml_name(name)}="{value}"' for name, value in named])

    def _escaped(self, value: str, at: int, attribute: str | None = None) -> str:
        where = f' in the attribute "{attribute}"' if attribute else ""
        if "&#" in value and _ENDING.search(value):
            self._forgive(f"a NUL character, at which OpenVINO stops reading{where}", at, attribute)
            value = _ENDING.sub("", value)
        if _ILLEGAL.search(value):
            self._forgive(f"a character that XML does not allow{where}", at, attribute)
            value = _ILLEGAL.sub("\ufffd", value)
        if "&" in value and _REFERENCE.search(value):
            self._forgive(f'a bare "&"{where}', at, attribute)
            value = _REFERENCE.sub("&amp;", value)
        if "&#" in value and any(_is_illegal(each) for each in _NUMBERED.finditer(value)):
            self._forgive(f"a character that XML does not allow{where}", at, attribute)
            value = _NUMBERED.sub(lambda each: "\ufffd" if _is_illegal(each) else each[0], value)
        return value

    def _end(self, token: re.Match[str]) -> None:
        name = token["end"]
        if not self.open:
            raise Broken(f"</{name}> closes an element that is not open", token.start(), max(self.ordinal, 0))
        opened, start, ordinal = self.open[-1]
        if opened != name:
            at = line_and_column(self.text, start)
            message = f"</{name}> appears instead of </{opened}>, which was opened in line {at[0]}"
            raise Broken(message, token.start(), ordinal)
        self.open.pop()
        if self.done:
            return
        if len(self.open) < DEEPEST:
            self.parts.append(f"</{_lxml_name(name)}>")
        self.done = not self.open

    def _characters(self, start: int, end: int) -> None:
        if self.open or not self.done:
            self._expect_no_nul(start, end)
        found = _CHARACTER.search(self.text, start, end)
        if found is None:
            return
        if not self.open or self.done:
            self._forgive(f"text {'after' if self.done else 'before'} the root element", start)
            return
        characters = self.text[max(start, found.start() - 1) : min(end, found.start() + LONGEST_TEXT)]
        self.parts.append(self._escaped(characters, found.start()).replace("]]>", "]]&gt;"))

    def _expect_no_nul(self, start: int, end: int) -> None:
        at = self.text.find("\0", start, end)
        if at >= 0:
            raise Broken("a NUL character ends the text", at, max(self.ordinal, 0), truncated=True)

    def _broken(self, at: int) -> None:
        rest = self.text[at : at + 100_000]
        ordinal = self.ordinal + 1
        if rest.startswith(("<!--", "<![CDATA[", "<?xml", "<!DOCTYPE")) or ">" not in rest:
            raise Broken(f"the file ends inside a tag{self._within()}", at, ordinal, truncated=True)
        shown = rest[:40].split("\n", 1)[0]
        raise Broken(f'"{shown}" is not a tag: a "<" or a quotation mark is misplaced', at, ordinal)

    def _within(self) -> str:
        return f" of {self._inside()}" if self.open else ""

    def _inside(self) -> str:
        name, start, _ = self.open[-1]
        return f"<{name}>, which was opened in line {line_and_column(self.text, start)[0]}"

    def _forgive(self, kind: str, at: int, attribute: str | None = None) -> None:
        self.leniencies.append(Leniency(kind, at, max(self.ordinal, 0), attribute))


def _is_plain_comment(text: str) -> bool:
    """Whether a token is a comment that XML allows, in printable ASCII."""
    inside = text[4:-3]
    return (
        text.startswith("<!--")
        and text.isascii()
        and text.translate(WITHOUT_LINES).isprintable()
        and "--" not in inside
        and not inside.endswith("-")
    )


def _lxml_name(name: str) -> str:
    """The name in a form that lxml accepts. Colons and characters outside of ASCII are replaced by their codes."""
    if name.isascii() and ":" not in name:
        return name
    return "_" + "".join([each if each.isascii() and each != ":" else f"\xb7{ord(each):x}" for each in name])


def _is_illegal(reference: re.Match[str]) -> bool:
    digits = (reference[1] or reference[2]).lstrip("0")
    if len(digits) > 7:
        return True
    code = int(digits or "0", 16 if reference[1] else 10)
    return code > 0x10FFFF or _ILLEGAL.match(chr(code)) is not None


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """The line and column of an index, both from 1; ``\\r\\n``, ``\\n`` and ``\\r`` end a line."""
    before = text[:index]
    if "\r" in before:
        before = before.replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
