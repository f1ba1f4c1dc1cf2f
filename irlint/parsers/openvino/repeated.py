"""The layers and edges of a document as OpenVINO writes it, by its text: layers of the same text are read once, and their places counted."""

from __future__ import annotations

import re
from collections.abc import Iterable

from irlint.model import Attribute, Place, Port, Value
from irlint.parsers.openvino.edges import Edge
from irlint.parsers.openvino.layers import Element, Layer, LayerReader, tensor_names
from irlint.records import record

_HEAD = re.compile(
    r'id="([0-9]{1,9})" name="([^"\t\r\n]*)" type="([^"\t\r\n]*)" version="([^"\t\r\n]*)"[ \t\r\n]*>', re.ASCII
)
#: What stands between the numbers of the edges: before the first, between two of one edge, between two edges, behind the last.
_BETWEEN = (" from-port=", " to-layer=", " to-port=")
_FIRST_EDGE = re.compile(r"[ \t\r\n]*<edge from-layer=")
_NEXT_EDGE = re.compile(r"[ ]?/>[ \t\r\n]*<edge from-layer=")
_LAST_EDGE = re.compile(r"[ ]?/>[ \t\r\n]*")
_DECLARATION = re.compile(r"""[ \t\r\n]*<\?xml version=["']1\.0["']( encoding=["'][uU][tT][fF]-8["'])?[ ]?\?>""")

#: What a document has that is not as OpenVINO writes it, or that is more than layers and edges, behind what it is not found without:
#: bodies are graphs of their own.
_UNUSUAL = (
    ("!", "<!"),
    ("?", "<?"),
    *((each, each) for each in ("&", "'", "\0", "\ufeff")),
    ("xmlns", "xmlns"),
    ("body", "body"),
)

#: What differs between layers that are otherwise alike: the names of ports, and where constants lie.
_NAMES, _OFFSET = ' names="', ' offset="'


@record(eq=False)
class Template:
    """A layer that was read, None where others of its text have to be read each; ``named`` tells of each port whether it has names,
    and ``tags`` is the number of start tags in the text."""

    layer: Layer | None
    named: tuple[bool, ...]
    tags: int


@record
class Sections:
    """The text of each layer behind ``<layer ``, the ordinal of the first one's start tag; the edges, and the ordinal of ``<edges>``."""

    layers: list[str]
    layers_at: int
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
    # A letter that is rare is found faster than two of which the first is not.
    if any(rare in text and each in text for rare, each in _UNUSUAL):
        return None
    begin, end = text.find("<layers>"), text.find("</layers>")
    edges_begin = text.find("<edges>", end)
    edges_end = text.find("</edges>", edges_begin)
    if not 0 <= begin < end < edges_begin < edges_end:
        return None
    head, between, tail = text[:begin], text[end + 9 : edges_begin], text[edges_end + 8 :]
    if any(each in part for part in (head, between, tail) for each in ("<layers", "<edges")):
        return None
    layers = _layers(text[begin + 8 : end])
    edges_at = _started(text[:edges_begin])
    edges = _edges(text[edges_begin + 7 : edges_end], edges_at + 1)
    return None if layers is None or edges is None else Sections(layers, _started(head) + 1, edges, edges_at)


def _started(text: str) -> int:
    """How many start tags there are in a text without comments."""
    return text.count("<") - text.count("</")


def _layers(text: str) -> list[str] | None:
    blank, *texts = text.split("<layer ")
    texts = [each.rstrip() for each in texts]
    if blank.strip() or text.count("</layer>") != len(texts) or not all(each.endswith("</layer>") for each in texts):
        return None
    return texts


def _edges(text: str, ordinal: int) -> list[Edge] | None:
    parts = text.split('"')
    count = len(parts) // 8
    if len(parts) % 8 != 1 or not count:
        return None if text.strip() else []
    between = [set(parts[at::8]) for at in (2, 4, 6)]
    if (
        between != [{each} for each in _BETWEEN]
        or not _FIRST_EDGE.fullmatch(parts[0])
        or not _LAST_EDGE.fullmatch(parts[-1])
    ):
        return None
    if not all(_NEXT_EDGE.fullmatch(each) for each in set(parts[8:-1:8])):
        return None
    numbers = parts[1::2]
    if not all(each.isdecimal() and each.isascii() and len(each) < 10 for each in set(numbers)):
        return None
    ends = iter(map(int, numbers))
    return [
        Edge(source, port, target, entry, at)
        for at, (source, port, target, entry) in enumerate(zip(ends, ends, ends, ends), ordinal)
    ]


class RepeatedLayers:
    """Reads the layers of a document, of which ``elements`` are the elements; only the first of each text is read by ``reader``."""

    def __init__(self, found: Sections, elements: Iterable[Element], reader: LayerReader) -> None:
        self.texts = found.layers
        self.ordinal = found.layers_at
        self.elements = elements
        self.reader = reader
        self.templates: dict[tuple[str, ...], Template] = {}
        self.found: list[Element] | None = None

    def layers(self) -> list[Layer]:
        """The layers in the order of the document."""
        return [self._layer(text, at) for at, text in enumerate(self.texts)]

    def _layer(self, text: str, at: int) -> Layer:
        head = _HEAD.match(text)
        if head is None or "<rt_info" in text:
            return self._read(at, _started(text))
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
        template = self.templates.get(tuple(key))
        if template is None:
            return self._first(tuple(key), at, len(names), _started(text))
        sound = offset != "" and (offset is None or offset.isprintable()) and all(map(str.isprintable, names))
        if template.layer is None or not sound:
            return self._read(at, template.tags)
        place = Place(self.ordinal)
        self.ordinal += 1 + template.tags
        return _alike(template.layer, template.named, place, at, (id, name), offset, names)

    def _read(self, at: int, tags: int) -> Layer:
        """The layer as its elements say."""
        if self.found is None:
            self.found = list(self.elements)
        element = self.found[at]
        self.reader.ordinals.update((each, place) for place, each in enumerate(element.iter("*"), self.ordinal))
        self.ordinal += 1 + tags
        return self.reader.layer(element, at)

    def _first(self, key: tuple[str, ...], at: int, names: int, tags: int) -> Layer:
        """The layer as its elements say, kept for others of the same text if there is nothing to complain of."""
        told = len(self.reader.complaints)
        layer = self._read(at, tags)
        assert self.found is not None
        ports = list(self.found[at].iter("port"))
        named = tuple("names" in port.attrib for port in ports)
        kept = (
            len(self.reader.complaints) == told
            and layer.children.keys() <= {"data", "input", "output"}
            and [layer.place.located(port.place).element for port in (*layer.inputs, *layer.outputs)]
            == [self.reader.ordinals[each] for each in ports]
            and sum(named) == names
        )
        self.templates[key] = Template(layer if kept else None, named, tags)
        return layer


def _alike(
    origin: Layer,
    named: tuple[bool, ...],
    place: Place,
    at: int,
    identity: tuple[str, str],
    offset: str | None,
    names: list[str],
) -> Layer:
    """A layer of the text of another one, with its own place, id, name, offset and names of the ports that are ``named``."""
    number, name = int(identity[0]), identity[1]
    id = str(number)
    attributes, inputs, outputs = origin.attributes, origin.inputs, origin.outputs
    if offset is not None:
        attributes = {**attributes, "offset": Attribute("TEXT", offset, None, attributes["offset"].place)}
    if names:
        own = iter(names)
        ports = tuple(
            [
                Port(port.id, port.type, port.place, tensor_names(next(own))) if has_names else port
                for port, has_names in zip((*inputs, *outputs), named)
            ]
        )
        inputs, outputs = ports[: len(inputs)], ports[len(inputs) :]
    values = tuple(
        [
            Value(f"{id}:{port.id}", value.declared, port.id, place.located(port.place))
            for port, value in zip(outputs, origin.values)
        ]
    )
    return Layer(
        at,
        place,
        number,
        id,
        name,
        origin.type,
        origin.version,
        {},
        attributes,
        inputs,
        outputs,
        values,
        False,
        origin.data,
    )
