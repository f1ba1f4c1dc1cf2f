"""A fast reader for documents that OpenVINO wrote. A layer with the same text as an earlier layer is copied from it.

The comparison of texts ignores the parts that each layer has of its own: id, name, offset, names of ports and names of
fused layers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from irlint.model import Attribute, Declaration, Place, Port, Value
from irlint.parsers.openvino import elements
from irlint.parsers.openvino.elements import BLANKS, DECLARATIONS
from irlint.parsers.openvino.layers import LONGEST_NAME, Element, Layer, LayerReader, Ordinals, tensor_names
from irlint.parsers.openvino.rt_info import UNCHECKED
from irlint.parsers.openvino.wiring import PLAIN, Edge
from irlint.records import record

#: The text before each attribute of a layer, as OpenVINO writes it.
_HEAD = ("id=", " name=", " type=", " version=")

#: The text before the numbers of an edge.
_EDGE = "<edge from-layer="
_BETWEEN = (" from-port=", " to-layer=", " to-port=")

#: A document is not read here if a layer, or a part outside of the layers and edges, has more characters.
_LONGEST = 1 << 22

#: A document with more digits in an id is not read here.
_DIGITS = 9

#: The texts before the values that may differ between layers with the same text.
_NAMES, _OFFSET = ' names="', ' offset="'
_FUSED = '<attribute name="fused_names" version="0" value="'

#: The own parts of a layer: (id, name, offset of a constant or None, names of ports).
Own = tuple[str, str, str | None, list[str]]


@record(eq=False)
class Template:
    """A layer from which later layers with the same text are copied."""

    #: The layer; None if layers with this text cannot be copied.
    layer: Layer | None
    #: The number of start tags in the layer.
    tags: int
    #: Whether each port has names.
    named_inputs: list[bool]
    named_outputs: list[bool]
    #: For each output: (port id, declarations, ordinal of its start tag in the layer).
    values: tuple[tuple[int | None, tuple[Declaration, ...], int], ...]
    #: The place of the attribute ``offset`` if it is an own part, else None.
    offset: Place | None


@record(eq=False)
class Sections:
    """A document in parts."""

    #: The text of each layer after ``<layer ``.
    layers: list[str]
    #: For each layer, the index of the first layer with the same text.
    first: list[int]
    #: For each layer, its own parts; None if the layer must be read instead of copied.
    own: list[Own | None]
    #: The ordinal of the start tag of the first layer.
    layers_at: int
    edges: list[Edge]
    #: The ordinal of the start tag of ``<edges>``.
    edges_at: int
    #: The tree of the document, without the edges and without the layers that are copied.
    root: Element
    #: The number of start tags in all layers, and the number in layers that must be read.
    layer_tags: int
    read_tags: int


def sections(data: bytes) -> Sections | None:
    """The parts of a document; None if it is not in the form that OpenVINO writes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    declared = text.find("?>", 0, 64)
    start = declared + 2 if text[: declared + 2] in DECLARATIONS else 0
    begin, end = text.find("<layers>"), text.find("</layers>")
    edges_begin = text.find("<edges>", end)
    edges_end = text.find("</edges>", edges_begin)
    if not 0 <= begin < end < edges_begin < edges_end:
        return None
    if max(begin - start, edges_begin - end, len(text) - edges_end) > _LONGEST or _has_long_layer(text, begin, end):
        return None
    head, between, tail = text[start : begin + 8], text[end:edges_begin], text[edges_end:]
    if head.count("<") != 2 or between.count("<") != 1:
        return None
    blank, *layers = text[begin + 8 : end].split("<layer ")
    first, own = _grouped(layers)
    unique = [text for text, each in zip(layers, own) if each is None]
    if blank.strip(BLANKS) or not all(each.rstrip(BLANKS).endswith("</layer>") for each in unique):
        return None
    layers_at, tags = _started(head), _started_in(layers, first)
    edges_at = layers_at + tags + _started(between)
    edges = _edges(text[edges_begin + 7 : edges_end], edges_at + 1)
    if edges is None:
        return None
    read = "".join([f"<layer {each}" for each in unique])
    root = elements.read(f"{head}{read}{between}<edges>{tail}")
    if root is None or not _is_net(root, len(unique)):
        return None
    return Sections(layers, first, own, layers_at, edges, edges_at, root, tags, _started(read))


def _has_long_layer(text: str, begin: int, end: int) -> bool:
    while end - begin > _LONGEST:
        found = text.rfind("<layer ", begin, begin + _LONGEST)
        if found <= begin:
            return True
        begin = found
    return False


def _is_net(root: Element, layers: int) -> bool:
    """Whether the root begins with its only <layers> and <edges>, and <layers> has exactly ``layers`` layers."""
    names = [child.tag for child in root]
    if names[:2] != ["layers", "edges"] or {"layers", "edges"} & set(names[2:]):
        return False
    return [child.tag for child in root.children[0]] == ["layer"] * layers


def _started(text: str) -> int:
    return text.count("<") - text.count("</")


def _started_in(texts: list[str], first: list[int]) -> int:
    return sum((1 + _started(texts[at])) * count for at, count in Counter(first).items())


def _grouped(texts: list[str]) -> tuple[list[int], list[Own | None]]:
    """The fields ``first`` and ``own`` of ``Sections``."""
    known: dict[tuple[str, ...], int] = {}
    first: list[int] = []
    found: list[Own | None] = []
    for at, text in enumerate(texts):
        key, own = _separated(text)
        same = at if key is None else known.setdefault(key, at)
        first.append(same)
        found.append(None if same == at else own)
    return first, found


def _separated(text: str) -> tuple[tuple[str, ...] | None, Own | None]:
    """(key, own parts of a layer). Layers with the same text have equal keys.

    The key is None if OpenVINO does not write a layer in this form. The own parts are None if they need decoding.
    """
    parts = text.split('"', 8)
    if len(parts) < 9:
        return None, None
    before_id, id, before_name, name, before_type, type, before_version, version, rest = parts
    if (before_id, before_name, before_type, before_version) != _HEAD or rest[:1] != ">":
        return None, None
    named: list[str] = []
    if _NAMES in rest:
        rest, *named = rest.split(_NAMES)
    key = [type, version, rest]
    offset: str | None = None
    if type == "Const":
        start, stated, left = rest.partition(_OFFSET)
        if stated:
            offset, _, left = left.partition('"')
            key[2:] = [start, _OFFSET, left]
    names = []
    for each in named:
        own, _, left = each.partition('"')
        names.append(own)
        key.append(left)
    key, fused = _without_fused_names(key) if _FUSED in text else (key, [])
    texts = "".join([name, offset or "", *names, *fused])
    are_sound = (
        _is_number(id) and len(id) <= _DIGITS and offset != "" and len(texts) <= LONGEST_NAME and _are_plain(texts)
    )
    return tuple(key), (id, name, offset, names) if are_sound else None


def _without_fused_names(key: list[str]) -> tuple[list[str], list[str]]:
    """(parts of a key without the names of fused layers, these names)."""
    kept, fused = [], []
    for part in key:
        first, *others = part.split(_FUSED)
        kept.append(first)
        for each in others:
            own, _, left = each.partition('"')
            fused.append(own)
            kept += (_FUSED, left)
    return kept, fused


def _is_number(text: str) -> bool:
    return text.isdecimal() and text.isascii()


def _are_plain(text: str) -> bool:
    return text.isprintable() and "<" not in text and ">" not in text and "&" not in text


def _edges(text: str, ordinal: int) -> list[Edge] | None:
    parts = text.split('"')
    count = len(parts) // 8
    if len(parts) % 8 != 1 or not count:
        return None if text.strip(BLANKS) else []
    between = [set(parts[at::8]) for at in (2, 4, 6)]
    if between != [{each} for each in _BETWEEN] or parts[0].lstrip(BLANKS) != _EDGE or _after_tag_end(parts[-1]) != "":
        return None
    if not all(_after_tag_end(each) == _EDGE for each in set(parts[8:-1:8])):
        return None
    numbers = parts[1::2]
    if "" in numbers or not _is_number("".join(numbers)) or max(map(len, numbers)) > _DIGITS:
        return None
    from_layer, from_port, to_layer, to_port = [map(int, parts[at::8]) for at in (1, 3, 5, 7)]
    return list(map(Edge, zip(from_layer, from_port), zip(to_layer, to_port), range(ordinal, ordinal + count)))


def _after_tag_end(text: str) -> str | None:
    """What follows the ``/>`` at the beginning of ``text``, without blanks; None if ``text`` begins otherwise."""
    rest = text.removeprefix(" ")
    return rest[2:].lstrip(BLANKS) if rest.startswith("/>") else None


class RestOrdinals(Ordinals):
    """The ordinals of start tags outside of the layers. ``RepeatedLayers`` adds the ordinals inside the layers."""

    def __init__(self, found: Sections) -> None:
        super().__init__(found.root)
        self.found = found

    def __missing__(self, element: Element) -> int:
        found = self.found
        for at, each in enumerate(self.root.iter("*")):
            if at < found.layers_at:
                self[each] = at
            elif at >= found.layers_at + found.read_tags:
                ordinal = at - found.read_tags + found.layer_tags
                self[each] = ordinal + len(found.edges) * (ordinal > found.edges_at)
        return self[element]


class RepeatedLayers:
    """Reads or copies the layers of a document. ``elements`` are the elements of the layers that must be read."""

    def __init__(self, found: Sections, elements: Iterable[Element], reader: LayerReader) -> None:
        self.found = found
        self.ordinal = found.layers_at
        self.elements = iter(elements)
        self.reader = reader
        self.read: dict[int, tuple[Layer, Element, bool]] = {}
        self.templates: dict[int, Template] = {}

    def layers(self) -> list[Layer]:
        """The layers in the order of the document."""
        return [self._layer(at, *each) for at, each in enumerate(zip(self.found.first, self.found.own))]

    def _layer(self, at: int, first: int, own: Own | None) -> Layer:
        if own is None:
            return self._read(at, next(self.elements))
        template = self.templates.get(first)
        if template is None:
            template = self.templates[first] = self._template(first, own)
        if template.layer is None:
            element = elements.read(f"<layer {self.found.layers[at]}")
            assert element is not None
            return self._read(at, element)
        ordinal = self.ordinal
        self.ordinal += template.tags
        return _copied(template.layer, template, own, at, ordinal)

    def _read(self, at: int, element: Element) -> Layer:
        reported = len(self.reader.complaints)
        before = self.ordinal
        for self.ordinal, each in enumerate(element.iter("*"), before):
            self.reader.ordinals[each] = self.ordinal
        self.ordinal += 1
        layer = self.reader.layer(element, at)
        self.read[at] = layer, element, len(self.reader.complaints) == reported
        return layer

    def _template(self, first: int, own: Own) -> Template:
        layer, element, sound = self.read[first]
        _, _, offset, own_names = own
        ports = list(element.iter("port"))
        named = ["names" in port.attrib for port in ports]
        info = layer.children.get("rt_info")
        stated = [] if info is None else list(info)
        names = [each.get("name") for each in stated if not len(each)]
        plain = len(set(names)) == len(stated) and UNCHECKED.issuperset(names)
        relative = [port.place.element for port in (*layer.inputs, *layer.outputs)]
        can_copy = (
            sound
            and layer.children.keys() <= PLAIN
            and (offset is None or _has_offset_first(element, layer.children.get("data")))
            and plain
            and len(list(element.iter("rt_info"))) == (info is not None)
            and [layer.place.element + each for each in relative] == [self.reader.ordinals[each] for each in ports]
            and sum(named) == len(own_names)
        )
        inputs = len(layer.inputs)
        return Template(
            layer if can_copy else None,
            sum(1 for _ in element.iter("*")),
            named[:inputs],
            named[inputs:],
            tuple([(each.port, each.declared, at) for each, at in zip(layer.values, relative[inputs:])]),
            layer.attributes["offset"].place if can_copy and offset is not None else None,
        )


def _has_offset_first(layer: Element, data: Element | None) -> bool:
    """Whether the first ` offset="` in a layer is the attribute of its <data>."""
    for element in layer.iter("*"):
        for name, value in element.attrib.items() if element is not layer else ():
            if name == "offset":
                return element is data
            if value.endswith(_OFFSET[:-1]):
                return False
    return False


def _copied(origin: Layer, template: Template, own: Own, at: int, ordinal: int) -> Layer:
    id, name, offset, names = own
    number = int(id)
    id = str(number)
    attributes, inputs, outputs = origin.attributes, origin.inputs, origin.outputs
    if offset is not None:
        attributes = {**attributes, "offset": Attribute("TEXT", offset, None, template.offset)}
    if names:
        own_names = iter(names)
        inputs = _named(inputs, template.named_inputs, own_names) if True in template.named_inputs else inputs
        outputs = _named(outputs, template.named_outputs, own_names)
    values = [
        Value(f"{id}:{port}", declared, port, Place(ordinal + element)) for port, declared, element in template.values
    ]
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
        [None] * len(inputs),
        inputs,
        outputs,
        tuple(values),
        False,
        origin.data,
        origin.has_repeated_ids,
    )


def _named(ports: Iterable[Port], named: Iterable[bool], names: Iterator[str]) -> tuple[Port, ...]:
    return tuple(
        [
            Port(port.id, port.type, port.place, tensor_names(next(names))) if has_names else port
            for port, has_names in zip(ports, named)
        ]
    )
