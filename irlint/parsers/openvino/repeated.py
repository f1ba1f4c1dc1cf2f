"""The layers and edges of a document as OpenVINO writes it, by its text: layers of the same text are read once, and their places counted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irlint.model import Attribute, Declaration, Place, Port, Value
from irlint.parsers.openvino.edges import Edge
from irlint.parsers.openvino.layers import Element, Layer, LayerReader, tensor_names
from irlint.records import record

_HEAD = re.compile(
    r'id="([0-9]{1,9})" name="([^"\t\r\n]*)" type="([^"\t\r\n]*)" version="([^"\t\r\n]*)"[ \t\r\n]*>', re.ASCII
)
_EDGE = re.compile(
    r'[ \t\r\n]*<edge from-layer="([0-9]{1,9})" from-port="([0-9]{1,9})" to-layer="([0-9]{1,9})" to-port="([0-9]{1,9})"[ ]?/>'
)
_DECLARATION = re.compile(r"""[ \t\r\n]*<\?xml version=["']1\.0["']( encoding=["'][uU][tT][fF]-8["'])?[ ]?\?>""")

#: What a document has that is not as OpenVINO writes it, or that is more than layers and edges: bodies are graphs of their own.
_UNUSUAL = ("<!", "<?", "&", "'", "xmlns", "body", "\0", "\ufeff")

#: What differs between layers that are otherwise alike: the names of ports, and where constants lie.
_NAMES, _OFFSET = ' names="', ' offset="'


@record(eq=False)
class Template:
    """A layer that was read, the ordinals of whose places begin at ``base``; ``named`` tells of each port whether it has names."""

    layer: Layer
    base: int
    named: tuple[bool, ...]


@record
class Sections:
    """The text of each layer behind ``<layer ``, with the ordinal of its start tag; the edges, and the ordinal of ``<edges>``."""

    layers: list[tuple[str, int]]
    edges: list[Edge]
    edges_at: int


def sections(data: bytes) -> Sections | None:
    """The layers and edges of a well-formed document; None for one that is not as OpenVINO writes it."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    declared = _DECLARATION.match(text)
    text = text[declared.end() :] if declared else text
    if any(each in text for each in _UNUSUAL):
        return None
    parts = [text.count(tag) for tag in ("<layers", "<layers>", "</layers>", "<edges", "<edges>", "</edges>")]
    begin, end = text.find("<layers>"), text.find("</layers>")
    edges_begin, edges_end = text.find("<edges>"), text.find("</edges>")
    if parts != [1] * 6 or not begin < end < edges_begin < edges_end:
        return None
    layers = _layers(text[begin + 8 : end], _started(text[: begin + 8]))
    edges_at = _started(text[:edges_begin])
    edges = _edges(text[edges_begin + 7 : edges_end], edges_at + 1)
    return None if layers is None or edges is None else Sections(layers, edges, edges_at)


def _started(text: str) -> int:
    """How many start tags there are in a text without comments."""
    return text.count("<") - text.count("</")


def _layers(text: str, ordinal: int) -> list[tuple[str, int]] | None:
    blank, *texts = text.split("<layer ")
    if blank.strip():
        return None
    found = []
    for each in texts:
        each = each.rstrip()
        if not each.endswith("</layer>") or each.count("</layer>") != 1:
            return None
        found.append((each, ordinal))
        ordinal += 1 + _started(each)
    return found


def _edges(text: str, ordinal: int) -> list[Edge] | None:
    found, end = [], 0
    for each in _EDGE.finditer(text):
        if each.start() != end:
            return None
        end = each.end()
        source, port, target, entry = each.groups()
        found.append(Edge(int(source), int(port), int(target), int(entry), Place(ordinal)))
        ordinal += 1
    return None if text[end:].strip() else found


class RepeatedLayers:
    """Reads the layers of ``texts``, of which ``elements`` are the elements; only the first of each text is read by ``reader``."""

    def __init__(self, texts: list[tuple[str, int]], elements: Iterable[Element], reader: LayerReader) -> None:
        self.texts = texts
        self.elements = elements
        self.reader = reader
        self.templates: dict[tuple[str, ...], Template | None] = {}
        self.found: list[Element] | None = None

    def layers(self) -> list[Layer]:
        """The layers in the order of the document."""
        return [self._layer(text, ordinal, at) for at, (text, ordinal) in enumerate(self.texts)]

    def _layer(self, text: str, ordinal: int, at: int) -> Layer:
        head = _HEAD.match(text)
        if head is None or "<rt_info" in text:
            return self._read(ordinal, at)
        id, name, op, version = head.groups()
        rest, *named = text[head.end() :].split(_NAMES)
        offset: str | None = None
        key, names = [op, version, rest], []
        if op == "Const":
            first, found, behind = rest.partition(_OFFSET)
            if found:
                offset, _, behind = behind.partition('"')
                key[2:] = [first, behind]
        for each in named:
            own, _, behind = each.partition('"')
            names.append(own)
            key.append(behind)
        template = self.templates.get(tuple(key), self)
        if template is self:
            return self._first(tuple(key), ordinal, at, len(names))
        if template is None or offset == "" or not all(each.isprintable() for each in (offset or "", *names)):
            return self._read(ordinal, at)
        assert isinstance(template, Template)
        return _alike(template, ordinal, at, (int(id), name), offset, names)

    def _read(self, ordinal: int, at: int) -> Layer:
        """The layer as its elements say."""
        if self.found is None:
            self.found = list(self.elements)
        element = self.found[at]
        self.reader.ordinals.update((each, ordinal + place) for place, each in enumerate(element.iter("*")))
        return self.reader.layer(element, at)

    def _first(self, key: tuple[str, ...], ordinal: int, at: int, names: int) -> Layer:
        """The layer as its elements say, kept for others of the same text if there is nothing to complain of."""
        told = len(self.reader.complaints)
        layer = self._read(ordinal, at)
        assert self.found is not None
        ports = list(self.found[at].iter("port"))
        named = tuple("names" in port.attrib for port in ports)
        kept = (
            len(self.reader.complaints) == told
            and layer.children.keys() <= {"data", "input", "output"}
            and [port.place.element for port in (*layer.inputs, *layer.outputs)]
            == [self.reader.ordinals[each] for each in ports]
            and sum(named) == names
        )
        self.templates[key] = Template(layer, ordinal, named) if kept else None
        return layer


def _alike(
    template: Template, ordinal: int, at: int, identity: tuple[int, str], offset: str | None, names: list[str]
) -> Layer:
    """A layer of the template's text at another place, with its own id, name, offset and names of ports."""
    origin, by = template.layer, ordinal - template.base
    number, name = identity
    attributes = {
        written: Attribute("TEXT", each.value, None, Place(each.place.element + by, written))  # type: ignore[union-attr]
        for written, each in origin.attributes.items()
    }
    if offset is not None:
        attributes["offset"] = Attribute("TEXT", offset, None, attributes["offset"].place)
    own = iter(names)
    ports = [
        Port(port.id, port.type, Place(port.place.element + by), tensor_names(next(own)) if has_names else ())
        for port, has_names in zip((*origin.inputs, *origin.outputs), template.named)
    ]
    count = len(origin.inputs)
    outputs = tuple(ports[count:])
    id = str(number)
    return Layer(
        at,
        Place(ordinal),
        number,
        id,
        name,
        origin.type,
        origin.version,
        {},
        attributes,
        tuple(ports[:count]),
        outputs,
        tuple(
            [
                Value(f"{id}:{port.id}", (Declaration("port", port.type, port.place),), port.id, port.place)
                for port in outputs
            ]
        ),
        False,
        None if origin.data is None else Place(origin.data.element + by),
    )
