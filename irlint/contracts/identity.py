"""Numbers for the nodes and values of two models. Equal nodes and values have equal numbers, whatever their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence

from irlint.inference.known import Known
from irlint.model import Attribute, Constant, Function, Graph, Node, Stored, Value
from irlint.model.lists import LongList
from irlint.model.order import ordered
from irlint.model.tensor import Tensor, type_text
from irlint.records import NOTHING, record

#: The kinds of attributes that hold tensors.
TENSORS = frozenset({"TENSOR", "SPARSE_TENSOR"})

#: Numbers with at most this relative difference count as equal in float32.
FLOAT32 = 1e-7

#: The default entries of list attributes that describe a window.
WINDOW_DEFAULTS = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}

#: Longer texts are shown as their beginning and a hash.
LONGEST = 60

#: Of longer lists, only the first SHOWN entries are shown, and a hash.
LISTED = 32

#: A tensor with more elements is shown by its type and a hash.
SHOWN = 8

#: Returns a hash of a constant's elements, or None if they cannot be read.
Digest = Callable[[Constant], "str | None"]

#: The numbers of an omitted input, and of a value that no earlier node makes.
OMITTED, UNMADE = -1, -2


class Numbers:
    """Maps equal keys of both models to equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, *key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))


@record(frozen=False, eq=False)
class NumberedGraph:
    """A graph with the numbers of its nodes and values."""

    graph: Graph
    #: The nodes in topological order, nodes on cycles last. Nodes for inputs, constants and outputs are omitted.
    nodes: list[Node]
    #: The node that makes a value, and the index of the output.
    makers: dict[Value, tuple[Node, int]]
    #: The numbers of inputs and constants.
    leaves: dict[Value, int]
    #: As ``leaves``, but constants of equal types have equal numbers.
    typed: dict[Value, int]
    #: The numbers of nodes. The number of a node depends on all nodes that lead to it.
    deep: dict[Node, int]
    #: The numbers of values. The number of a value depends on all nodes that lead to it.
    values: dict[Value, int]
    #: The constants among the leaves; None if the elements are unknown.
    constants: dict[Value, Constant | None]
    has_bodies: bool = False


class Numbering:
    """Computes the numbers of the nodes and values of one model, and stores its ``graphs``."""

    def __init__(self, known: Known, numbers: Numbers, digest: Digest) -> None:
        self.known = known
        self.numbers = numbers
        self.digest = digest
        self.graphs: dict[Graph, NumberedGraph] = {}
        self._functions: dict[Function, int] = {}
        self._attributes: dict[int, int] = {}
        self._numbers_of_nodes: dict[Node, int] = {}
        self._nodes_with_bodies: set[Node] = set()

    # --- graphs -----------------------------------------------------------------------------------------------------

    def numbered(
        self, graph: Graph, leaves: Mapping[Value, int], outer: Mapping[Value, int] = NOTHING
    ) -> NumberedGraph:
        """The graph with its numbers.

        ``leaves`` are the numbers of the graph's inputs. ``outer`` are the numbers of values in the enclosing graphs.
        """
        order = ordered(graph)
        makers: dict[Value, tuple[Node, int]] = {}
        exact: dict[Value, int] = dict(leaves)
        typed: dict[Value, int] = dict(leaves)
        nodes = []
        constants: dict[Value, Constant | None] = {}
        for node in (*order.nodes, *order.cyclic):
            if self.is_leaf(node):
                for value in node.outputs:
                    if value is not None and value not in exact:
                        constants[value] = self.constant_of(node, value, graph)
                        exact[value], typed[value] = self._constant_node(node, value, constants[value])
                continue
            if node.op == self.known.format.output_node:
                continue
            nodes.append(node)
            makers |= {value: (node, at) for at, value in enumerate(node.outputs) if value is not None}
        for value, constant in graph.constants.items():
            constants[value] = constant
            exact[value], typed[value] = self.constant(constant), self.constant(constant, exact=False)
        captured = {value: outer[value] for value in graph.captured if value in outer}
        found = NumberedGraph(graph, nodes, makers, exact, typed, {}, {**captured, **exact}, constants)
        found.has_bodies = any(map(self.has_bodies, nodes))
        self.graphs[graph] = found
        for node in nodes:
            found.deep[node] = self._number(node, found.values, self._body)
            self._add_outputs(node, found.deep[node], found.values)
        return found

    def numbers_by_type(
        self, numbered: NumberedGraph, outer: Mapping[Value, int] = NOTHING
    ) -> tuple[dict[Node, int], dict[Value, int]]:
        """Numbers of nodes and values. The elements of constants do not matter, except those in attributes."""
        values = {**{value: outer[value] for value in numbered.graph.captured if value in outer}, **numbered.typed}
        nodes: dict[Node, int] = {}
        for node in numbered.nodes:
            nodes[node] = self._number(node, values, self._body_by_type)
            self._add_outputs(node, nodes[node], values)
        return nodes, values

    def _add_outputs(self, node: Node, number: int, values: dict[Value, int]) -> None:
        for at, value in enumerate(node.outputs):
            if value is not None:
                values[value] = self.numbers.of("output", number, at)

    def is_leaf(self, node: Node) -> bool:
        """Whether a node stands for an input or a constant."""
        form = self.known.format
        return node.op in (form.input_node, form.constant_node) and not any(node.inputs)

    def _number(
        self,
        node: Node,
        values: Mapping[Value, int],
        number_of: Callable[[Graph, Mapping[Value, int]], tuple[int, ...]],
    ) -> int:
        """The number of a node. ``number_of`` numbers the outputs of a body."""
        inputs = self.inputs(node, values)
        if not self.has_bodies(node):
            return self.numbers.of("node", self.local(node), inputs)
        bodies = tuple([(name, number_of(body, values)) for name, body in node.bodies])
        return self.numbers.of("node", self.local(node), inputs, bodies)

    def has_bodies(self, node: Node) -> bool:
        """Whether a node has bodies."""
        self.local(node)
        return node in self._nodes_with_bodies

    def inputs(self, node: Node, values: Mapping[Value, int]) -> tuple[int, ...]:
        """The numbers of a node's inputs, without omitted inputs at the end."""
        return tuple([OMITTED if value is None else values.get(value, UNMADE) for value in trimmed(node.inputs)])

    def _body(self, body: Graph, values: Mapping[Value, int]) -> tuple[int, ...]:
        leaves = {value: self.numbers.of("body input", at) for at, value in enumerate(body.inputs)}
        found = self.numbered(body, leaves, values)
        return tuple([found.values.get(value, UNMADE) for value in body.outputs])

    def _body_by_type(self, body: Graph, values: Mapping[Value, int]) -> tuple[int, ...]:
        _, inner = self.numbers_by_type(self.graphs[body], values)
        return tuple([inner.get(value, UNMADE) for value in body.outputs])

    def function(self, function: Function) -> int:
        """The number of a function by its nodes. Its name counts only if the function calls itself."""
        if function not in self._functions:
            self._functions[function] = self.numbers.of("recursive", function.name)
            outputs = self._body(function.graph, NOTHING)
            attributes = tuple(
                sorted((name, repr(attribute and attribute.value)) for name, attribute in function.attributes.items())
            )
            self._functions[function] = self.numbers.of("function", outputs, attributes)
        return self._functions[function]

    def called(self, node: Node) -> Function | None:
        """The function of the model that a node calls, or None."""
        functions = self.known.model.functions
        return functions.get((node.domain, node.op, node.overload)) if functions else None

    # --- nodes ------------------------------------------------------------------------------------------------------

    def local(self, node: Node) -> int:
        """The number of a node by its operator, its attributes and its count of outputs."""
        if node not in self._numbers_of_nodes:
            function = self.called(node)
            op = self.op(node) if function is None else self.numbers.of("call", self.function(function))
            attributes = tuple(sorted((name, self.attribute(node, name)) for name in self.compared_attributes(node)))
            count = max((at + 1 for at, value in enumerate(node.outputs) if value is not None), default=0)
            self._numbers_of_nodes[node] = self.numbers.of("local", op, attributes, count)
            if any(True for _ in node.bodies):
                self._nodes_with_bodies.add(node)
        return self._numbers_of_nodes[node]

    def op(self, node: Node) -> int:
        """The number of a node's operator. For a layer of an IR, the number also depends on its opset."""
        version = node.version if isinstance(node.version, str) else ""
        return self.numbers.of("op", node.domain, node.op, node.overload, version)

    def compared_attributes(self, node: Node) -> list[str]:
        """The names of a node's attributes, except bodies and attributes that have their default value."""
        call = self.known.calls.get(node)
        if call is None or call.signature is None or not call.attributes:
            return [name for name, attribute in node.attributes.items() if attribute.kind not in ("GRAPH", "GRAPHS")]
        bound, defaults = call.attributes, call.signature.attributes
        return [
            name
            for name, attribute in node.attributes.items()
            if attribute.kind not in ("GRAPH", "GRAPHS")
            and not (name in bound and name in defaults and _is_default(name, bound[name], defaults[name][1]))
        ]

    def attribute(self, node: Node, name: str) -> int:
        """The number of an attribute's value."""
        attribute = node.attributes[name]
        if attribute.kind in ("PORT_MAP", "BACK_EDGES"):
            return self.numbers.of(attribute.kind, port_map_text(node, name))
        number = self._attributes.get(id(attribute))
        if number is None:
            number = self._attributes[id(attribute)] = self._plain_attribute(attribute)
        return number

    def _plain_attribute(self, attribute: Attribute) -> int:
        kind, value = attribute.kind, attribute.value
        if attribute.reference is not None:
            return self.numbers.of("reference", attribute.reference)
        if kind in TENSORS:
            return self.constant(value)
        if kind in ("TENSORS", "SPARSE_TENSORS"):
            return self.numbers.of(kind, tuple([self.constant(tensor) for tensor in value]))
        if kind == "TEXT":
            return self.numbers.of(kind, without_blanks(value))
        if kind == "TYPE_PROTO":
            return self.numbers.of(kind, type_text(value))
        return self.numbers.of(kind, repr(value), self._hash_of_cut(attribute))

    def _hash_of_cut(self, attribute: Attribute) -> str:
        """The hash of the complete text if only its beginning was read; otherwise ""."""
        if attribute.cut is None:
            return ""
        return self.digest(Constant(Tensor("string"), Stored(None, coded=attribute.cut))) or ""

    # --- constants --------------------------------------------------------------------------------------------------

    def constant(self, constant: Constant, *, exact: bool = True) -> int:
        """The number of a constant by its type and, if ``exact``, its elements."""
        tensor = constant.tensor
        contents = self.digest(constant) or "" if exact else ""
        return self.numbers.of("constant", tensor.dtype, repr(tensor.shape), contents)

    def _constant_node(self, node: Node, value: Value, constant: Constant | None) -> tuple[int, int]:
        """(the number by type and elements, the number by type alone)."""
        if constant is None:
            number = self.numbers.of("leaf", self.local(node), value.port)
            return number, number
        return self.constant(constant), self.constant(constant, exact=False)

    def constant_of(self, node: Node, value: Value, graph: Graph) -> Constant | None:
        """The constant that a node without inputs returns; None if its elements are unknown."""
        if value in graph.constants:
            return graph.constants[value]
        for attribute in node.attributes.values():
            if attribute.kind in TENSORS and attribute.value is not None:
                return attribute.value  # type: ignore[no-any-return]
        known = self.known.types.get(value)
        return Constant(known) if isinstance(known, Tensor) and known.value is not None else None


def _is_default(name: str, value: object, default: object) -> bool:
    """Whether an attribute has its default value. Floats are compared in float32.

    For an attribute of a window, such as ``strides``, a default of None means the list of WINDOW_DEFAULTS.
    """
    if isinstance(value, float) and isinstance(default, float):
        return math.isclose(value, default, rel_tol=FLOAT32)
    if default is None and name in WINDOW_DEFAULTS and isinstance(value, tuple):
        return set(value) == {WINDOW_DEFAULTS[name]}
    return type(value) is type(default) and value == default


def trimmed(inputs: Sequence[Value | None]) -> Sequence[Value | None]:
    """The inputs without omitted inputs at the end."""
    count = len(inputs)
    while count and inputs[count - 1] is None:
        count -= 1
    return inputs[:count]


def port_map_text(node: Node, name: str) -> str:
    """A port map or the back edges of a body, with positions instead of ids."""
    attribute = node.attributes[name]
    name_of_body = name.replace("port_map", "body").replace("back_edges", "body")
    layers = next((_layer_positions(body) for body_name, body in node.bodies if body_name == name_of_body), {})
    ports = {port.id: at for ports in (node.input_ports, node.output_ports) for at, port in enumerate(ports)}
    rows = []
    for entry in attribute.value:
        fields = []
        for name in entry.__match_args__:
            value = getattr(entry, name)
            if name == "place":
                continue
            if "layer" in name:
                value = layers.get(value, value)
            elif "port" in name:
                value = ports.get(value, value)
            fields.append(f"{name}={value}")
        rows.append(" ".join(fields))
    return "; ".join(sorted(rows))


def _layer_positions(body: Graph) -> dict[str | None, str]:
    """Texts such as ``input 0`` for the layers of a body's inputs and outputs, by the ids of the layers."""
    inputs = {value: at for at, value in enumerate(body.inputs)}
    found: dict[str | None, str] = {
        node.id: f"input {inputs[value]}" for node in body.nodes for value in node.outputs[:1] if value in inputs
    }
    last = [node for node in body.nodes if node.inputs and not node.outputs]
    return found | {node.id: f"output {at}" for at, node in enumerate(last)}


def without_blanks(text: str) -> str:
    """A list without blanks around its entries."""
    return ",".join(part.strip() for part in text.split(",")).strip()


def constant_text(constant: Constant, digest: Digest) -> str:
    """A constant with its elements or their hash: ``int64[2] = [1, -1]``, ``float32[64, 3] #1a2b3c4d``."""
    tensor = constant.tensor
    text = type_text(tensor)
    if tensor.value is not None and len(tensor.value) <= SHOWN:
        entries = ", ".join(f"{entry:.9g}" if isinstance(entry, float) else str(entry) for entry in tensor.value)
        if len(entries) <= LONGEST:
            return f"{text} = {entries}" if tensor.shape == () else f"{text} = [{entries}]"
    found = digest(constant)
    return text if found is None else f"{text} #{found[:8]}"


def attribute_text(node: Node, name: str, digest: Digest) -> str:
    """The value of an attribute."""
    attribute = node.attributes[name]
    kind, value = attribute.kind, attribute.value
    if isinstance(value, LongList):
        value = tuple(value)
    if attribute.reference is not None:
        return f"@{attribute.reference}"
    if kind in TENSORS and value is not None:
        return constant_text(value, digest)
    if kind in ("TENSORS", "SPARSE_TENSORS"):
        return f"[{', '.join(constant_text(tensor, digest) for tensor in value)}]"
    if kind in ("PORT_MAP", "BACK_EDGES"):
        return port_map_text(node, name)
    if kind == "TYPE_PROTO":
        return type_text(value)
    if kind == "TEXT":
        return without_blanks(value).replace(",", ", ")
    if kind == "STRING":
        text = f'"{value}"'
        if attribute.cut:
            found = digest(Constant(Tensor("string"), Stored(None, coded=attribute.cut))) or ""
            return f'{text[:LONGEST]}..." #{found[:8]}'
        return text if len(text) <= LONGEST else f'{text[:LONGEST]}..." #{_hash(value)}'
    if isinstance(value, tuple) and len(value) > LISTED:
        first = ", ".join(_scalar_text(entry) for entry in value[:SHOWN])
        return f"{len(value)} entries [{first}, ...] #{_hash(value)}"
    if isinstance(value, tuple):
        return f"[{', '.join(_scalar_text(entry) for entry in value)}]"
    return _scalar_text(value)


def _hash(value: object) -> str:
    from hashlib import sha256

    return sha256(repr(value).encode(), usedforsecurity=False).hexdigest()[:8]


def _scalar_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    return f'"{value}"' if isinstance(value, str) else str(value)
