"""A model as its file states it, with nothing inferred: ONNX and OpenVINO IR in the same records."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import Any
from irlint.model.formats import Format
from irlint.model.tensor import Tensor, Type
from irlint.records import NOTHING, record

#: The key in ``metadata_props`` (ONNX) and ``rt_info`` (IR) whose value lists rules not to report.
IGNORE = "irlint.ignore"


#: At most this many problems of one rule and severity are listed for a file.
MOST_LISTED = 20_000

#: The last IR version of ONNX in which each initializer must be a graph input, whose value callers cannot change.
LAST_WITH_INPUTS = 3


@record
class Place:
    """A position in an XML file: the number of a start tag, from 0, and the name of one of its attributes, or None.

    Line, column and byte offset are computed only for files with findings. The places of attributes and ports are
    relative: their numbers count from the start tag of the layer, so that equal layers have equal places.
    ``Node.located`` converts them to places in the document.
    """

    element: int
    attribute: str | None = None

    def located(self, place: Place) -> Place:
        """The place in the document of ``place``, which is relative to the layer that begins here."""
        return Place(self.element + place.element, place.attribute)


@record
class Declaration:
    """A type that the file declares for a value.

    ``by`` is the kind of the declaration: ``input``, ``output``, ``value_info`` or ``port``. ``flaw`` is the missing
    part of an invalid type.
    """

    by: str
    type: Type
    place: Place | None = None
    flaw: str = ""


@record(eq=False)
class Value:
    """A value of a graph, equal only to itself.

    ``name`` is the ONNX tensor name; for OpenVINO, ``LAYER_ID:PORT_ID``. ``port`` is the output's index (ONNX) or
    the XML port id (OpenVINO); None for ONNX graph inputs and initializers.
    """

    name: str
    declared: tuple[Declaration, ...] = ()
    port: int | None = None
    place: Place | None = None

    @property
    def type(self) -> Type | None:
        """The first declared type, or None."""
        return self.declared[0].type if self.declared else None


@record
class Stored:
    """The position of the bytes of a constant: ``size`` bytes from ``offset`` in ``file`` (None: inside the model).

    ``available`` is the number of bytes from ``offset`` to the end of the file. It is negative if the file ends before
    ``offset``, and None if the file is missing. ``reason`` states why the bytes cannot be read. ``linked`` is
    why the ONNX checker refuses a file that can be read: ``is a symbolic link``. ``coded`` is the range of bytes in the
    model that contains the elements as varints or strings.
    """

    size: int | None
    offset: int = 0
    file: str | None = None
    available: int | None = None
    reason: str | None = None
    linked: str | None = None
    coded: tuple[int, int] | None = None


@record
class Constant:
    """An initializer, a ``Const`` layer or a tensor attribute; ``tensor.value`` is set only for small tensors.

    ``stored`` is None for a sparse tensor, and for numbers that are an attribute. ``faults`` are the faults of its
    TensorProto, warnings if only the ONNX checker refuses it. ``parts`` are the values and the indices of a sparse
    tensor.
    """

    tensor: Tensor
    stored: Stored | None = None
    place: Place | None = None
    faults: tuple[Fault, ...] = ()
    parts: tuple[Constant, ...] = ()


@record
class Attribute:
    """An attribute as it is in the file.

    ``kind`` is ONNX's (``INT``, ``FLOATS``, ``TENSOR``, ``GRAPH`` …); of an IR, it is ``TEXT``, ``PORT_MAP``,
    ``BACK_EDGES`` or ``GRAPH``. ``value`` is a Python value of that kind: a ``Constant`` for ``TENSOR``, a ``Graph``
    for ``GRAPH``, a ``Type`` for ``TYPE_PROTO``. ``reference`` is the attribute of the enclosing ONNX function to which
    this one refers. ``cut`` is the position of a long text in the file; ``value`` is then only its beginning.
    """

    kind: str
    value: Any
    reference: str | None = None
    place: Place | None = None
    cut: tuple[int, int] | None = None


@record
class Port:
    """An input or output port of an IR layer: its XML id and its declaration."""

    id: int
    type: Tensor
    place: Place
    names: tuple[str, ...] = ()


@record(eq=False)
class Node:
    """An ONNX node or an IR layer.

    ``version`` is the opset version that the file imports for the domain (ONNX: int, None without an import), or the
    layer's ``version`` text. ``inputs`` and ``outputs`` contain None for an ONNX empty name and an unconnected port.
    ``bodies`` are the graphs among its attributes, by attribute name. ``metadata`` contains the entries of
    ``metadata_props`` or ``rt_info`` for irlint: those under IGNORE.
    """

    name: str
    op: str
    domain: str
    version: int | str | None
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value | None, ...]
    attributes: Mapping[str, Attribute] = NOTHING
    index: int = 0
    place: Place | None = None
    id: str | None = None
    input_ports: tuple[Port, ...] = ()
    output_ports: tuple[Port, ...] = ()
    overload: str = ""
    metadata: Mapping[str, str] = NOTHING
    bodies: tuple[tuple[str, Graph], ...] = ()

    @property
    def label(self) -> str:
        """The name of the node; if it is empty, the name of the first output, or ""."""
        if self.name:
            return self.name
        return next((value.name for value in self.outputs if value is not None), "")

    def located(self, place: Place | None) -> Place | None:
        """The place in the document of ``place``, which is relative to this node; None if one of the two is unknown."""
        return None if place is None or self.place is None else self.place.located(place)


def bodies_among(attributes: Mapping[str, Attribute]) -> tuple[tuple[str, Graph], ...]:
    """The graphs among attributes, by attribute name."""
    found: list[tuple[str, Graph]] = []
    for name, attribute in attributes.items():
        if attribute.reference is not None:
            continue
        if attribute.kind == "GRAPH":
            found.append((name, attribute.value))
        elif attribute.kind == "GRAPHS":
            found += [(f"{name}[{position}]", graph) for position, graph in enumerate(attribute.value)]
    return tuple(found)


@record(eq=False)
class Graph:
    """A graph: the main one (``path`` is ""), a body (``NODE/ATTRIBUTE``) or the graph of a function.

    ``outputs`` are the values that the graph returns. ``undefined`` has a value for each used name that nothing
    defines. ``captured`` are the values of enclosing graphs that this graph or its bodies use. ``stray`` are names in
    ``value_info`` without a value. ``bodies`` are the bodies of its nodes, in order. ``pieces`` is the number of
    GraphProto messages in the file that the parser merged into this graph; usually 1. ``annotated`` is True if
    quantization annotations refer to its values.
    """

    path: str
    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: Mapping[Value, Constant]
    nodes: tuple[Node, ...]
    undefined: tuple[Value, ...] = ()
    captured: tuple[Value, ...] = ()
    stray: tuple[str, ...] = ()
    bodies: tuple[Graph, ...] = ()
    pieces: int = 1
    annotated: bool = False

    def __post_init__(self) -> None:
        self.bodies = tuple([body for node in self.nodes if node.bodies for _, body in node.bodies])  # type: ignore[misc]


@record(eq=False)
class Function:
    """A model-local ONNX function; ``attributes`` maps each attribute to its default, or to None.

    ``unnamed`` is the first input or output with an empty name, such as ``input 0``, or "". ``imports`` are the opsets
    as the file lists them, and ``opsets`` the versions that apply: the last one of each domain.
    """

    domain: str
    name: str
    overload: str
    graph: Graph
    attributes: Mapping[str, Attribute | None]
    opsets: Mapping[str, int]
    unnamed: str = ""
    imports: tuple[tuple[str, int], ...] = ()


@record
class Problem:
    """A fault with its place.

    ``by_rule``: the rule of the node's operator (in ``ops``) or the check of compilation found the fault. ``disputes``
    are the values whose types the problem makes doubtful, and ``domain`` is the domain whose import is wrong.
    ``because`` is the problem from which this problem follows, or None. ``target`` is the runtime release that the
    problem is about. ``sizes`` has each symbol that the problem restricts, with its only size, or None if several sizes
    or none work. ``count`` is the number of equal problems that this problem represents.
    """

    fault: Fault
    graph: str = ""
    node: Node | None = None
    value: str | None = None
    place: Place | None = None
    by_rule: bool = False
    disputes: tuple[Value, ...] = ()
    domain: str | None = None
    because: Problem | None = None
    target: str = ""
    sizes: tuple[tuple[str, int | None], ...] = ()
    count: int = 1

    @property
    def is_error(self) -> bool:
        """Whether the problem is reported as an error."""
        return self.fault.severity is Severity.ERROR


@record(eq=False)
class Model:
    """A model file.

    ``graph`` is None if the file could not be read; ``problems`` then state why. ``imports`` are the operator sets as
    listed, and ``opsets`` the versions that apply. ``symbols`` maps the identifier of a size to its name in the file,
    if the two differ. ``producer`` is the tool that wrote the file, with its version, or "". ``trained``: graphs for
    training, which irlint does not read, use names of the main graph.
    """

    path: str
    format: Format | None
    format_version: str | None = None
    graph: Graph | None = None
    functions: Mapping[tuple[str, str, str], Function] = NOTHING
    opsets: Mapping[str, int] = NOTHING
    symbols: Mapping[str, str] = NOTHING
    metadata: Mapping[str, str] = NOTHING
    problems: tuple[Problem, ...] = ()
    imports: tuple[tuple[str, int], ...] = ()
    producer: str = ""
    trained: bool = False

    @property
    def inputs_have_defaults(self) -> bool:
        """Whether callers can feed a graph input with an initializer another value: from IR version 4 of ONNX on."""
        version = self.format_version or ""
        return not version.removeprefix("-").isdecimal() or int(version) > LAST_WITH_INPUTS

    @property
    def nodes(self) -> int:
        """The number of nodes in all graphs and functions."""
        graphs = [] if self.graph is None else [self.graph]
        graphs += [function.graph for function in self.functions.values()]
        count = 0
        while graphs:
            graph = graphs.pop()
            count += len(graph.nodes)
            graphs += [body for node in graph.nodes for _, body in node.bodies]
        return count
