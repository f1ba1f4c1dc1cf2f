"""Reads the ``<layer>`` elements of an IR: identity, ports and attributes.

A complaint is a fault with its position in the document. Readers collect complaints; they do not raise faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.dims import MaybeDim
from irlint.findings.faults import Fault, Rule, Severity
from irlint.lazy_typing import Any
from irlint.model import MOST_LISTED, Attribute, Declaration, Place, Port, Stored, Value
from irlint.model.tensor import Tensor
from irlint.parsers.faults import LONG_NAME
from irlint.parsers.openvino.elements import SECTION
from irlint.parsers.openvino.operations import SPELLINGS
from irlint.parsers.openvino.types import BLANKS, integer, leading_number, natural, port_precision, renamed_type
from irlint.records import record

#: A name with more characters is replaced by its first SHOWN_OF_LONG characters, its length and a hash.
LONGEST_NAME = 1 << 16
SHOWN_OF_LONG = 48

#: An element of a tree from lxml or from the module ``elements``.
Element = Any

_GOOD = """<net version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="?,3" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    <layer id="1" name="y" type="Relu" version="opset1">
      <input><port id="0"><dim>-1</dim><dim>3</dim></port></input>
      <output><port id="1" precision="FP32"><dim>-1</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>-1</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
  </edges>
</net>
"""

MISSING_ATTRIBUTE = Rule(
    "IRL110",
    "missing-layer-attribute",
    Severity.ERROR,
    "A layer, a port or an edge lacks a required attribute, or the attribute is not a number as required.",
    why=(
        "Without an id, name, type and version, OpenVINO cannot create or connect a layer. It refuses the file even "
        "if the layer is unused."
    ),
    fix="Correct the attribute, or write the IR again with openvino.save_model.",
    bad=_GOOD.replace(' name="y"', ""),
    good=_GOOD,
    role="wiring",
)

INVALID_PORT = Rule(
    "IRL111",
    "invalid-port",
    Severity.ERROR,
    "A port has an invalid dim, precision or id.",
    why=(
        "A dim is an integer, or -1 for a dynamic size; only the shape of a Parameter can have intervals. OpenVINO "
        "refuses other texts and unknown precisions, and reads 2.5 as 2."
    ),
    fix="Use -1 for a dynamic size, and a precision such as FP32, FP16 or I64.",
    bad=_GOOD.replace('<port id="0"><dim>-1</dim>', '<port id="0"><dim>?</dim>', 1),
    good=_GOOD,
    role="wiring",
)


@record
class Complaint:
    """A fault in a document."""

    fault: Fault
    place: Place
    layer: Layer | None = None


@record(frozen=False, eq=False)
class Layer:
    """A ``<layer>`` of the document. The places of its data, attributes and ports count from ``place``."""

    index: int
    place: Place
    #: The id as a number; None if the id is missing or invalid.
    key: int | None
    id: str
    name: str
    type: str
    version: str | None
    children: dict[str, Element]
    attributes: dict[str, Attribute]
    #: The value of each input port, in the order of the file; None for a port into which no edge leads.
    given: list[Value | None]
    #: The ports. The id of a port without a valid id is -1.
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    values: tuple[Value, ...] = ()
    #: Whether OpenVINO creates the layer.
    live: bool = False
    data: Place | None = None
    #: Whether two inputs or two outputs have the same id.
    has_repeated_ids: bool = False
    #: Whether two children may have the same name.
    may_repeat_children: bool = False

    @property
    def op(self) -> str:
        """The type in the spelling of the specification."""
        return SPELLINGS.get(self.type, self.type)

    @property
    def text(self) -> str:
        """The layer as messages name it: ``layer 3 "conv1"``."""
        return "layer" + f" {self.id}" * self.id.isdecimal() + f' "{self.name}"' * bool(self.name)


class Complaints(list[Complaint]):
    """The complaints about one graph: at most MOST_LISTED for each rule and severity.

    ``counts`` has the number of all complaints, including omitted ones. ``omitted`` has one complaint for each rule
    and severity with omitted complaints.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[tuple[str, str], int] = {}
        self.omitted: dict[tuple[str, str], Complaint] = {}

    def omits(self, rule: Rule, severity: Severity, place: Place) -> bool:
        """Counts a complaint. Returns whether the caller must omit the complaint, because there are enough like it."""
        key = rule.code, severity.value
        self.counts[key] = count = self.counts.get(key, 0) + 1
        if count <= MOST_LISTED:
            return False
        if key not in self.omitted:
            self.omitted[key] = Complaint(rule.fault(rule.summary, severity=severity), place, None)
        return True


class Ordinals(dict[Element, int]):
    """The ordinals of the start tags of a document."""

    def __init__(self, root: Element) -> None:
        self.root = root

    def __missing__(self, element: Element) -> int:
        self.update((each, ordinal) for ordinal, each in enumerate(self.root.iter("*")))
        return self[element]


class LayerReader:
    """Reads the layers of a document."""

    __slots__ = ("ordinals", "complaints", "types", "numbers", "headers", "constants", "has_long_name")

    def __init__(self, ordinals: dict[Element, int]) -> None:
        self.ordinals = ordinals
        self.complaints = Complaints()
        self.has_long_name = False
        # Caches of parts that were read without a complaint, by their texts in the document.
        self.types: dict[tuple[str | None, ...], Tensor] = {}
        self.numbers: dict[str | None, int] = {}
        self.headers: dict[tuple[str | None, ...], tuple[Tensor, int | None, int | None]] = {}
        self.constants: dict[tuple[str | None, ...], tuple[Tensor, Stored | None]] = {}

    def layer(self, element: Element, index: int) -> Layer:
        """The layer in a ``<layer>``. If several children have the same name, only the first is read."""
        texts, children = element.attrib, first_children(element)
        layer = Layer(
            index=index,
            place=Place(self.ordinals[element]),
            key=None,
            id=texts.get("id", ""),
            name=self._name(texts.get("name", ""), element),
            type=texts.get("type", ""),
            version=texts.get("version"),
            children=children,
            attributes={},
            given=[],
            may_repeat_children=len(children) < len(element),
        )
        absent = [name for name in ("id", "name", "type", "version") if name not in texts]
        if absent:
            self.missing(element, absent, layer)
        if "id" in texts:
            layer.key = self.number(element, "id", layer)
        if layer.key is not None:
            layer.id = str(layer.key)
        self._read_ports(layer)
        self._read_data(layer)
        return layer

    def is_only_counted(self, element: Element) -> bool:
        """Whether to skip the layer: it has neither id nor children, and enough such layers have a complaint."""
        if len(element) or "id" in element.attrib:
            return False
        return self.complaints.omits(MISSING_ATTRIBUTE, Severity.ERROR, Place(self.ordinals[element]))

    def _name(self, text: str, element: Element) -> str:
        """The name; if it is longer than LONGEST_NAME, a short replacement. Complains of the first long name."""
        if len(text) <= LONGEST_NAME:
            return text
        if not self.has_long_name:
            self.has_long_name = True
            fault = LONG_NAME.fault(
                f"a name has {len(text):,} characters or more",
                help="convert the model again with shorter names, and find out where the file comes from",
            )
            self.complain(fault, Place(self.ordinals[element], "name" if element.tag == "layer" else "names"))
        from hashlib import sha256

        digest = sha256(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        return f"{text[:SHOWN_OF_LONG]}... ({len(text)} characters, #{digest[:32]})"

    def number(self, element: Element, name: str, layer: Layer | None = None, *, signed: bool = False) -> int | None:
        """The integer in an attribute, at least 0 unless ``signed``; None, with a complaint, if missing or invalid."""
        text = element.get(name)
        known = self.numbers.get(text)
        if known is not None:
            return known
        if text is None:
            self.missing(element, [name], layer)
            return None
        try:
            if signed:
                return integer(text)
            return self.numbers.setdefault(text, natural(text))
        except ValueError:
            expected = "an integer" if signed else "an integer of at least 0"
            message = f'{_described(element, layer)} has {name}="{text}"; expected {expected}'
            fault = MISSING_ATTRIBUTE.fault(message, help=f'write the number into "{name}"', attribute=name)
            self.complain(fault, Place(self.ordinals[element], name), layer)
            return None

    def missing(self, element: Element, names: list[str], layer: Layer | None) -> None:
        """Complains that an element lacks attributes."""
        listed = ", ".join(f'"{name}"' for name in names)
        some = "attribute" if len(names) == 1 else "attributes"
        message = f"{_described(element, layer)} has no {some} {listed}"
        fault = MISSING_ATTRIBUTE.fault(message, help=f"write the {some} {listed}")
        self.complain(fault, Place(self.ordinals[element]), layer)

    def complain(self, fault: Fault, place: Place, layer: Layer | None = None) -> None:
        """Adds a fault with its place to the complaints."""
        self.complaints.append(Complaint(fault, place, layer))

    def _read_ports(self, layer: Layer) -> None:
        layer.inputs = self._ports(layer, "input")
        layer.outputs = self._ports(layer, "output")
        layer.given = [None] * len(layer.inputs)
        layer.has_repeated_ids = has_repeated_ids(layer.inputs) or has_repeated_ids(layer.outputs)
        layer.values = tuple(
            Value(
                f"{layer.id or '?'}:{port.id}",
                (Declaration("port", port.type, port.place),),
                port.id,
                layer.place.located(port.place),
            )
            for port in layer.outputs
        )

    def _read_data(self, layer: Layer) -> None:
        data = layer.children.get("data")
        if data is None:
            return
        ordinal = self.ordinals[data] - layer.place.element
        layer.data = Place(ordinal)
        layer.attributes = {
            name: Attribute("TEXT", text, place=Place(ordinal, name)) for name, text in data.attrib.items()
        }

    def _ports(self, layer: Layer, side: str) -> tuple[Port, ...]:
        parent = layer.children.get(side)
        if parent is None:
            return ()
        return tuple(self._port(port, layer, side) for port in parent.iterchildren("port"))

    def _port(self, element: Element, layer: Layer, side: str) -> Port:
        id = self.number(element, "id", layer)
        names = element.get("names")
        type = self._type(element, layer, side)
        place = Place(self.ordinals[element] - layer.place.element)
        found = tensor_names(names) if names else ()
        if names and len(names) > LONGEST_NAME:
            found = tuple([self._name(name, element) for name in found])
        return Port(-1 if id is None else id, type, place, found)

    def _type(self, element: Element, layer: Layer, side: str) -> Tensor:
        dims = [*element.iterchildren("dim")]
        key = (side, element.get("precision"), *[dim.text if not len(dim) else next(texts(dim), "") for dim in dims])
        known = self.types.get(key)
        if known is not None:
            return known
        before = len(self.complaints)
        shown = f"{side} port {element.get('id', '?')} of {layer.text}"
        shape = tuple(self._dim(dim, axis, shown, layer) for axis, dim in enumerate(dims))
        type = Tensor(self._precision(element, shown, side, layer), shape)
        if len(self.complaints) == before:
            self.types[key] = type
        return type

    def _precision(self, element: Element, shown: str, side: str, layer: Layer) -> str | None:
        text = element.get("precision")
        if text is None:
            if side == "output":
                self.missing(element, ["precision"], layer)
            return None
        try:
            return port_precision(text)
        except ValueError:
            severity = Severity.ERROR if side == "output" else Severity.WARNING
            name = renamed_type(text, port=True)
            fault = INVALID_PORT.fault(
                f'{shown} has precision "{text}", which is not an element type that a port can have',
                help=f'write "{name}"' if name else "write one of FP32, FP16, BF16, I64, I32, U8, BOOL …",
                attribute="precision",
                severity=severity,
            )
            self.complain(fault, Place(self.ordinals[element], "precision"), layer)
            return None

    def _dim(self, element: Element, axis: int, shown: str, layer: Layer) -> MaybeDim:
        text = next(texts(element), "")
        if text == "-1":
            return None
        try:
            number, rest = leading_number(text)
        except ValueError:
            number, rest = -2, ""
        if number >= -1 and not rest:
            return None if number == -1 else number
        outcome = "but must be an integer or -1"
        severity = Severity.ERROR
        if number >= -1:
            outcome, severity = f"which OpenVINO reads as {number}", Severity.WARNING
        fault = INVALID_PORT.fault(
            f'dim {axis} of {shown} is "{text.strip()}", {outcome}',
            help="write an integer, or -1 for a dynamic size; only the shape of a Parameter can have intervals",
            severity=severity,
        )
        self.complain(fault, Place(self.ordinals[element]), layer)
        return None


def has_repeated_ids(ports: Sequence[Port]) -> bool:
    """Whether two of the ports have the same id."""
    return len(ports) > 1 and len({port.id for port in ports}) < len(ports)


def texts(element: Element) -> Iterator[str]:
    """The parts of an element's text between its children and comments, except for blank parts.

    OpenVINO reads only the first part. Each CDATA section is a part of its own.
    """
    if element.text and element.text.strip(BLANKS):
        yield element.text
    for each in element:
        if getattr(each, "target", None) == SECTION:
            yield each.text or ""
        if each.tail and each.tail.strip(BLANKS):
            yield each.tail


def first_children(element: Element) -> dict[str, Element]:
    """The first child of each name."""
    found: dict[str, Element] = {}
    for child in element.iterchildren("*"):
        found.setdefault(child.tag, child)
    return found


def tensor_names(text: str) -> tuple[str, ...]:
    """The names in a ``names`` attribute; commas separate them, and ``\\,`` is a comma inside a name."""
    if "\\," not in text:
        return tuple([name for name in text.split(",") if name])
    parts = text.replace("\\,", "\0").split(",")
    return tuple(name.replace("\0", ",") for name in parts if name)


def _described(element: Element, layer: Layer | None) -> str:
    if layer is None:
        return f"an <{element.tag}>"
    if element.tag == "layer":
        return layer.text if layer.text != "layer" else "a layer"
    if element.tag == "port":
        side = "input" if element in list(layer.children.get("input", ())) else "output"
        id = element.get("id", "")
        return f"{side} port {id} of {layer.text}" if id.isdecimal() else f"an {side} port of {layer.text}"
    return f"an <{element.tag}> of {layer.text}"
