"""A model as its file states it, without inference. ONNX and OpenVINO IR have the same records."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import Any
from irlint.model.formats import Format
from irlint.model.tensor import Tensor, Type
from irlint.records import NOTHING, record

#: The key in ``metadata_props`` (ONNX) and ``rt_info`` (IR) that suppresses rules.
IGNORE = "irlint.ignore"

#: At most this many problems of one rule and severity are listed for a file.
MOST_LISTED = 20_000

#: Up to this IR version of ONNX, each initializer must be a graph input, and callers cannot change its value.
LAST_WITH_INPUTS = 3


@record
class Place:
    """A position in an XML file. Attributes and ports have places relative to their layer (``Node.located``)."""

    #: The index of a start tag: the number of start tags before it in the document or in the layer.
    element: int
    attribute: str | None = None

    def located(self, place: Place) -> Place:
        """The place in the document of a ``place`` that is relative to this layer."""
        return Place(self.element + place.element, place.attribute)


@record
class Declaration:
    """A type that the file declares for a value."""

    #: ``input``, ``output``, ``value_info`` or ``port``.
    by: str
    type: Type
    place: Place | None = None
    #: The missing part of an invalid type, or "".
    flaw: str = ""


@record(eq=False)
class Value:
    """A value of a graph, equal only to itself."""

    #: The ONNX tensor name; in an IR, ``LAYER_ID:PORT_ID``.
    name: str
    declared: tuple[Declaration, ...] = ()
    #: The index of the node's output (ONNX) or the XML port id (IR); None for ONNX graph inputs and initializers.
    port: int | None = None
    place: Place | None = None

    @property
    def type(self) -> Type | None:
        """The first declared type, or None."""
        return self.declared[0].type if self.declared else None


@record
class Stored:
    """The position of a constant's bytes: ``size`` bytes in ``file``, from ``offset`` on."""

    size: int | None
    offset: int = 0
    #: None for the model's own file.
    file: str | None = None
    #: The number of bytes from ``offset`` to the end of the file, negative if ``offset`` is beyond the end. None if the
    #: file is missing.
    available: int | None = None
    #: Why the bytes cannot be read.
    reason: str | None = None
    #: Why the ONNX checker refuses a readable file, such as ``is a symbolic link``.
    linked: str | None = None
    #: The range of bytes in the model file, for elements that are stored as varints or strings.
    coded: tuple[int, int] | None = None


@record
class Constant:
    """An initializer, a ``Const`` layer or a tensor attribute."""

    tensor: Tensor
    #: None for a sparse tensor, and for numbers in an attribute.
    stored: Stored | None = None
    place: Place | None = None
    #: The faults of the TensorProto. A fault is a warning if only the ONNX checker refuses the model because of it.
    faults: tuple[Fault, ...] = ()
    #: The values and the indices of a sparse tensor.
    parts: tuple[Constant, ...] = ()


@record
class Attribute:
    """An attribute as it is in the file."""

    #: ONNX's AttributeType (``INT``, ``TENSOR``, …); in an IR, ``TEXT``, ``PORT_MAP``, ``BACK_EDGES`` or ``GRAPH``.
    kind: str
    #: A ``Constant`` for ``TENSOR``, a ``Graph`` for ``GRAPH``, a ``Type`` for ``TYPE_PROTO``.
    value: Any
    #: The name in ``ref_attr_name``: the enclosing function's attribute that has the value (ONNX).
    reference: str | None = None
    place: Place | None = None
    #: The range of a long text in the file; ``value`` is then only the beginning of the text.
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
    """An ONNX node or an IR layer."""

    name: str
    op: str
    domain: str
    #: The imported opset version of the domain (ONNX; None without an import), or the layer's ``version``.
    version: int | str | None
    #: None for an empty name or an unconnected port.
    inputs: tuple[Value | None, ...]
    outputs: tuple[Value | None, ...]
    attributes: Mapping[str, Attribute] = NOTHING
    index: int = 0
    place: Place | None = None
    id: str | None = None
    input_ports: tuple[Port, ...] = ()
    output_ports: tuple[Port, ...] = ()
    overload: str = ""
    #: The entry IGNORE of ``metadata_props`` or ``rt_info``, if there is one.
    metadata: Mapping[str, str] = NOTHING
    #: The graphs among the attributes: (attribute, graph).
    bodies: tuple[tuple[str, Graph], ...] = ()

    @property
    def label(self) -> str:
        """The name of the node; if it is empty, the name of the first output, or ""."""
        if self.name:
            return self.name
        return next((value.name for value in self.outputs if value is not None), "")

    def located(self, place: Place | None) -> Place | None:
        """The place in the document of a ``place`` that is relative to this node; None if one of them is unknown."""
        return None if place is None or self.place is None else self.place.located(place)


def bodies_among(attributes: Mapping[str, Attribute]) -> tuple[tuple[str, Graph], ...]:
    """The graphs among attributes: (attribute, graph)."""
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
    """The main graph, a body, or the graph of a function."""

    #: "" for the main graph, ``NODE/ATTRIBUTE`` for a body.
    path: str
    name: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    constants: Mapping[Value, Constant]
    nodes: tuple[Node, ...]
    #: One value for each name that a node or output uses and nothing defines.
    undefined: tuple[Value, ...] = ()
    #: The values of enclosing graphs that this graph or its bodies use.
    captured: tuple[Value, ...] = ()
    #: The names in ``value_info`` that belong to no value of the graph.
    undefined_value_info: tuple[str, ...] = ()
    #: The type of each of these names.
    undefined_types: tuple[Type | None, ...] = ()
    bodies: tuple[Graph, ...] = ()
    #: The number of GraphProto messages that the parser merged into this graph.
    pieces: int = 1
    #: Whether the graph has quantization annotations.
    annotated: bool = False

    def __post_init__(self) -> None:
        self.bodies = tuple([body for node in self.nodes if node.bodies for _, body in node.bodies])  # type: ignore[misc]


@record(eq=False)
class Function:
    """A model-local ONNX function."""

    domain: str
    name: str
    overload: str
    graph: Graph
    #: The defaults of the attributes; None without a default.
    attributes: Mapping[str, Attribute | None]
    #: The version of each domain. If a domain is imported several times, the last import applies.
    opsets: Mapping[str, int]
    #: The first input or output with an empty name, such as ``input 0``, or "".
    unnamed: str = ""
    #: All opset imports of the function, in the order of the file.
    imports: tuple[tuple[str, int], ...] = ()


@record
class Problem:
    """A fault with its place."""

    fault: Fault
    graph: str = ""
    node: Node | None = None
    value: str | None = None
    place: Place | None = None
    #: Whether the operator's rule found the fault, or the check whether the runtime compiles the model.
    by_rule: bool = False
    #: The values whose types the fault makes doubtful.
    disputes: tuple[Value, ...] = ()
    #: The domain with a wrong import.
    domain: str | None = None
    #: The problem that causes this problem.
    because: Problem | None = None
    #: The release of a runtime, for a problem about a target.
    target: str = ""
    #: The symbols that the problem restricts, each with the only size that works. The size is None if no size works, or
    #: if several do.
    sizes: tuple[tuple[str, int | None], ...] = ()
    #: The number of equal problems that this one represents.
    count: int = 1

    @property
    def is_error(self) -> bool:
        """Whether the severity is error."""
        return self.fault.severity is Severity.ERROR


@record(eq=False)
class Model:
    """A model file. The functions have the keys (domain, name, overload)."""

    path: str
    format: Format | None
    format_version: str | None = None
    #: None if the file cannot be read.
    graph: Graph | None = None
    functions: Mapping[tuple[str, str, str], Function] = NOTHING
    #: The version of each domain. If a domain is imported several times, the last import applies.
    opsets: Mapping[str, int] = NOTHING
    #: The names of sizes in the file, by the names of their symbols, if the two names differ.
    symbols: Mapping[str, str] = NOTHING
    metadata: Mapping[str, str] = NOTHING
    problems: tuple[Problem, ...] = ()
    #: All opset imports of the model, in the order of the file.
    imports: tuple[tuple[str, int], ...] = ()
    #: The tool that wrote the file, with its version, or "".
    producer: str = ""
    #: Whether the file has training graphs. irlint does not read these graphs, which use names of the main graph.
    has_training_graphs: bool = False

    @property
    def inputs_have_defaults(self) -> bool:
        """Whether callers can replace the value of an initializer that is a graph input (ONNX: from IR version 4)."""
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
