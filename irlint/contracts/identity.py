"""Numbers for the nodes and values of two models, which are equal for equal nodes and values with any names.

The number of a node depends on its operator, its attributes, and all nodes before it.
"""

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

#: Numbers with at most this relative difference are equal in float32.
FLOAT32 = 1e-7

#: The default entries of the attributes of a window.
WINDOW_DEFAULTS = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}

#: A longer text of an attribute is shown by its beginning and a hash; a longer text of a constant, by a hash alone.
LONGEST = 60

#: Longer lists are shown by their first SHOWN entries and a hash.
LISTED = 32

#: The elements of a tensor are shown if they are at most this many.
SHOWN = 8

#: Returns a hash of the elements of a constant, or None if they cannot be read.
Digest = Callable[[Constant], "str | None"]

#: The numbers for an omitted input, and for a value that is not defined before the node.
OMITTED, UNMADE = -1, -2


class Numbers:
    """Maps keys to numbers: equal keys of both models to equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, *key: Hashable) -> int:
        """The number of a key."""
        return self._known.setdefault(key, len(self._known))


@record(frozen=False, eq=False)
class Wired:
    """A graph with the numbers of its nodes and values.

    ``nodes`` are in topological order, nodes of cycles last; nodes that represent inputs, constants and outputs are
    omitted. ``makers`` maps each value to the node that makes it and the index of the output. ``leaves`` has the
    numbers of all other values, which are inputs and constants. ``typed`` has numbers for the same values, equal for
    constants of equal types. ``deep`` has the numbers of nodes, and ``values`` those of values; each depends on
    everything before the node or value. ``constants`` are the constants among the leaves, None for unknown elements.
    """

    graph: Graph
    nodes: list[Node]
    makers: dict[Value, tuple[Node, int]]
    leaves: dict[Value, int]
    typed: dict[Value, int]
    deep: dict[Node, int]
    values: dict[Value, int]
    constants: dict[Value, Constant | None]
    has_bodies: bool = False


class Identity:
    """Computes the numbers of the nodes and values of one model, and stores each graph in ``graphs``."""

    def __init__(self, known: Known, numbers: Numbers, digest: Digest) -> None:
        self.known = known
        self.numbers = numbers
        self.digest = digest
        self.graphs: dict[Graph, Wired] = {}
        self._functions: dict[Function, int] = {}
        self._attributes: dict[int, int] = {}
        self._locals: dict[Node, int] = {}
        self._bodied: set[Node] = set()

    # --- graphs -----------------------------------------------------------------------------------------------------

    def wired(self, graph: Graph, leaves: Mapping[Value, int], outer: Mapping[Value, int] = NOTHING) -> Wired:
        """The graph with its numbers: ``leaves`` has those of its inputs, ``outer`` those of captured values."""
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
                        constants[value] = self.held(node, value, graph)
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
        found = Wired(graph, nodes, makers, exact, typed, {}, {**captured, **exact}, constants)
        found.has_bodies = any(map(self.has_bodies, nodes))
        self.graphs[graph] = found
        for node in nodes:
            found.deep[node] = self._number(node, found.values, self._body)
            self._add_outputs(node, found.deep[node], found.values)
        return found

    def loose(self, wired: Wired, outer: Mapping[Value, int] = NOTHING) -> tuple[dict[Node, int], dict[Value, int]]:
        """Numbers of nodes and values that ignore the elements of constants, but not those of tensors in attributes."""
        values = {**{value: outer[value] for value in wired.graph.captured if value in outer}, **wired.typed}
        nodes: dict[Node, int] = {}
        for node in wired.nodes:
            nodes[node] = self._number(node, values, self._loose_body)
            self._add_outputs(node, nodes[node], values)
        return nodes, values

    def _add_outputs(self, node: Node, number: int, values: dict[Value, int]) -> None:
        for at, value in enumerate(node.outputs):
            if value is not None:
                values[value] = self.numbers.of("output", number, at)

    def is_leaf(self, node: Node) -> bool:
        """Whether a node represents an input or a constant."""
        form = self.known.format
        return node.op in (form.input_node, form.constant_node) and not any(node.inputs)

    def _number(
        self,
        node: Node,
        values: Mapping[Value, int],
        number_of: Callable[[Graph, Mapping[Value, int]], tuple[int, ...]],
    ) -> int:
        """The number of a node; ``number_of`` returns the numbers of the outputs of a body."""
        inputs = self.inputs(node, values)
        if not self.has_bodies(node):
            return self.numbers.of("node", self.local(node), inputs)
        bodies = tuple([(name, number_of(body, values)) for name, body in node.bodies])
        return self.numbers.of("node", self.local(node), inputs, bodies)

    def has_bodies(self, node: Node) -> bool:
        """Whether a node has bodies."""
        self.local(node)
        return node in self._bodied

    def inputs(self, node: Node, values: Mapping[Value, int]) -> tuple[int, ...]:
        """The numbers of the inputs of a node, without omitted inputs at the end."""
        return tuple([OMITTED if value is None else values.get(value, UNMADE) for value in trimmed(node.inputs)])

    def _body(self, body: Graph, values: Mapping[Value, int]) -> tuple[int, ...]:
        """The numbers of the outputs of a body or a function."""
        leaves = {value: self.numbers.of("body input", at) for at, value in enumerate(body.inputs)}
        found = self.wired(body, leaves, values)
        return tuple([found.values.get(value, UNMADE) for value in body.outputs])

    def _loose_body(self, body: Graph, values: Mapping[Value, int]) -> tuple[int, ...]:
        _, inner = self.loose(self.graphs[body], values)
        return tuple([inner.get(value, UNMADE) for value in body.outputs])

    def function(self, function: Function) -> int:
        """The number of a function of the model, which depends on its name only if the function calls itself."""
        if function not in self._functions:
            self._functions[function] = self.numbers.of("recursive", function.name)
            outputs = self._body(function.graph, NOTHING)
            attributes = tuple(sorted((name, repr(each and each.value)) for name, each in function.attributes.items()))
            self._functions[function] = self.numbers.of("function", outputs, attributes)
        return self._functions[function]

    def called(self, node: Node) -> Function | None:
        """The function of the model that a node calls, or None."""
        return (
            self.known.model.functions.get((node.domain, node.op, node.overload))
            if self.known.model.functions
            else None
        )

    # --- nodes ------------------------------------------------------------------------------------------------------

    def local(self, node: Node) -> int:
        """The number of a node that depends on its operator, its attributes and the count of its outputs only."""
        if node not in self._locals:
            function = self.called(node)
            op = self.op(node) if function is None else self.numbers.of("call", self.function(function))
            attributes = tuple(sorted((name, self.attribute(node, name)) for name in self.counted(node)))
            count = max((at + 1 for at, value in enumerate(node.outputs) if value is not None), default=0)
            self._locals[node] = self.numbers.of("local", op, attributes, count)
            if any(True for _ in node.bodies):
                self._bodied.add(node)
        return self._locals[node]

    def op(self, node: Node) -> int:
        """The number of a node's operator; for a layer of an IR, it depends on the opset, too."""
        version = node.version if isinstance(node.version, str) else ""
        return self.numbers.of("op", node.domain, node.op, node.overload, version)

    def counted(self, node: Node) -> list[str]:
        """The names of a node's attributes without bodies and without attributes that have their default values."""
        call = self.known.calls.get(node)
        if call is None or call.signature is None or not call.attributes:
            return [name for name, each in node.attributes.items() if each.kind not in ("GRAPH", "GRAPHS")]
        bound, defaults = call.attributes, call.signature.attributes
        return [
            name
            for name, each in node.attributes.items()
            if each.kind not in ("GRAPH", "GRAPHS")
            and not (name in bound and name in defaults and _is_default(name, bound[name], defaults[name][1]))
        ]

    def attribute(self, node: Node, name: str) -> int:
        """The number of an attribute's value."""
        attribute = node.attributes[name]
        if attribute.kind in ("PORT_MAP", "BACK_EDGES"):
            return self.numbers.of(attribute.kind, tied(node, name))
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
            return self.numbers.of(kind, tuple([self.constant(each) for each in value]))
        if kind == "TEXT":
            return self.numbers.of(kind, blankless(value))
        if kind == "TYPE_PROTO":
            return self.numbers.of(kind, type_text(value))
        return self.numbers.of(kind, repr(value), self._cut(attribute))

    def _cut(self, attribute: Attribute) -> str:
        """The hash of the complete text of an attribute of which the model has only the beginning; else ""."""
        if attribute.cut is None:
            return ""
        return self.digest(Constant(Tensor("string"), Stored(None, coded=attribute.cut))) or ""

    # --- constants --------------------------------------------------------------------------------------------------

    def constant(self, constant: Constant, *, exact: bool = True) -> int:
        """The number of a constant, which depends on its type and, with ``exact``, on its elements."""
        tensor = constant.tensor
        contents = self.digest(constant) or "" if exact else ""
        return self.numbers.of("constant", tensor.dtype, repr(tensor.shape), contents)

    def _constant_node(self, node: Node, value: Value, constant: Constant | None) -> tuple[int, int]:
        """The numbers of the output of a node without inputs: with and without the elements."""
        if constant is None:
            number = self.numbers.of("leaf", self.local(node), value.port)
            return number, number
        return self.constant(constant), self.constant(constant, exact=False)

    def held(self, node: Node, value: Value, graph: Graph) -> Constant | None:
        """The constant that a node without inputs returns; None if its elements are unknown."""
        if value in graph.constants:
            return graph.constants[value]
        for attribute in node.attributes.values():
            if attribute.kind in TENSORS and attribute.value is not None:
                return attribute.value  # type: ignore[no-any-return]
        known = self.known.types.get(value)
        return Constant(known) if isinstance(known, Tensor) and known.value is not None else None


def _is_default(name: str, value: object, default: object) -> bool:
    """Whether an attribute has its default value, for floats in float32. WINDOW_DEFAULTS has the defaults of lists that
    a schema states as None."""
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


def tied(node: Node, name: str) -> str:
    """A port map, or the back edges of a body, as a text with positions instead of ids."""
    attribute = node.attributes[name]
    name_of_body = name.replace("port_map", "body").replace("back_edges", "body")
    layers = next((_ends(body) for each, body in node.bodies if each == name_of_body), {})
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


def _ends(body: Graph) -> dict[str | None, str]:
    """Maps the ids of the layers for inputs and outputs of a body to ``input 0``, ``output 0`` and so on."""
    inputs = {value: at for at, value in enumerate(body.inputs)}
    found: dict[str | None, str] = {
        node.id: f"input {inputs[value]}" for node in body.nodes for value in node.outputs[:1] if value in inputs
    }
    last = [node for node in body.nodes if node.inputs and not node.outputs]
    return found | {node.id: f"output {at}" for at, node in enumerate(last)}


def blankless(text: str) -> str:
    """An attribute's text without blanks around the entries of a list."""
    return ",".join(part.strip() for part in text.split(",")).strip()


def constant_text(constant: Constant, digest: Digest) -> str:
    """A constant as a text with its elements or their hash: ``int64[2] = [1, -1]``, ``float32[64, 3] #1a2b3c4d``."""
    tensor = constant.tensor
    text = type_text(tensor)
    if tensor.value is not None and len(tensor.value) <= SHOWN:
        entries = ", ".join(f"{each:.9g}" if isinstance(each, float) else str(each) for each in tensor.value)
        if len(entries) <= LONGEST:
            return f"{text} = {entries}" if tensor.shape == () else f"{text} = [{entries}]"
    found = digest(constant)
    return text if found is None else f"{text} #{found[:8]}"


def attribute_text(node: Node, name: str, digest: Digest) -> str:
    """The value of an attribute as a text for people."""
    attribute = node.attributes[name]
    kind, value = attribute.kind, attribute.value
    if isinstance(value, LongList):
        value = tuple(value)
    if attribute.reference is not None:
        return f"@{attribute.reference}"
    if kind in TENSORS and value is not None:
        return constant_text(value, digest)
    if kind in ("TENSORS", "SPARSE_TENSORS"):
        return f"[{', '.join(constant_text(each, digest) for each in value)}]"
    if kind in ("PORT_MAP", "BACK_EDGES"):
        return tied(node, name)
    if kind == "TYPE_PROTO":
        return type_text(value)
    if kind == "TEXT":
        return blankless(value).replace(",", ", ")
    if kind == "STRING":
        text = f'"{value}"'
        if attribute.cut:
            found = digest(Constant(Tensor("string"), Stored(None, coded=attribute.cut))) or ""
            return f'{text[:LONGEST]}..." #{found[:8]}'
        return text if len(text) <= LONGEST else f'{text[:LONGEST]}..." #{_hash(value)}'
    if isinstance(value, tuple) and len(value) > LISTED:
        first = ", ".join(_scalar_text(each) for each in value[:SHOWN])
        return f"{len(value)} entries [{first}, ...] #{_hash(value)}"
    if isinstance(value, tuple):
        return f"[{', '.join(_scalar_text(each) for each in value)}]"
    return _scalar_text(value)


def _hash(value: object) -> str:
    from hashlib import sha256

    return sha256(repr(value).encode(), usedforsecurity=False).hexdigest()[:8]


def _scalar_text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    return f'"{value}"' if isinstance(value, str) else str(value)
