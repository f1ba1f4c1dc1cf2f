"""The nodes around a node at fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from irlint.inference.origins import Maker
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, used
from irlint.model.tensor import Tensor, type_text
from irlint.records import replaced
from irlint.snippets.drawing import Box, Neighbourhood, Wire, WireValue
from irlint.snippets.tables import contradicted, dims_text, marked_axes

if TYPE_CHECKING:
    from irlint.snippets.finding import Snippets

#: The largest numbers of boxes before users are added (BOXES), of steps back from the node at fault (BACK), and of
#: users of an output (AHEAD).
BOXES = 12
BACK = 3
AHEAD = 2

#: The largest number of constants in a box.
CONSTANTS = 4

#: The clashing axes of each value at fault.
Marks = Mapping[Value, tuple[int, ...]]


class Surroundings:
    """Collects the nodes around the findings of one model."""

    def __init__(self, snippets: Snippets) -> None:
        self.snippets = snippets
        self.known = snippets.known
        self.graphs = {graph.path: graph for graph in graphs(snippets.model)}
        self._users: dict[str, dict[Value, list[Node]]] = {}

    def of(self, problem: Problem) -> Neighbourhood | None:
        """The nodes around a problem; None if it names no node, and no value that ``_node_at`` finds."""
        graph = self.graphs.get(problem.graph)
        if graph is None:
            return None
        node = problem.node or self._node_at(graph, problem.value)
        if node is None:
            return None
        types_match = self.snippets.types_match(problem)
        return _Collection(self, graph, types_match, self._marks(problem, node) if types_match else {}).around(node)

    def _node_at(self, graph: Graph, name: str | None) -> Node | None:
        """The node that computes a named input, constant or output of the graph, or the first user."""
        for value in (*graph.inputs, *graph.constants, *graph.outputs) if name is not None else ():
            if value.name == name:
                maker = self.snippets.makers.of(value)
                if maker is not None and maker.node is not None:
                    return maker.node
                return next(iter(self.users(graph).get(value, ())), None)
        return None

    def _marks(self, problem: Problem, node: Node) -> dict[Value, tuple[int, ...]]:
        found: dict[Value, tuple[int, ...]] = {}
        for index, axes in marked_axes(problem.fault, node, self.known).items() if problem.node is not None else ():
            value = node.inputs[index]
            if value is not None:
                found[value] = axes
        at = problem.fault.input
        if at is not None and 0 <= at < len(node.inputs):
            value = node.inputs[at]
            if value is not None:
                found.setdefault(value, ())
        disputed = contradicted(problem, self.known)
        if disputed is not None:
            found[disputed.value] = disputed.axes
        return found

    def users(self, graph: Graph) -> Mapping[Value, list[Node]]:
        """The nodes that use each value of a graph."""
        if graph.path not in self._users:
            found: dict[Value, list[Node]] = {}
            for node in graph.nodes:
                for value in dict.fromkeys(used(node)):
                    found.setdefault(value, []).append(node)
            self._users[graph.path] = found
        return self._users[graph.path]


class _Collection:
    def __init__(self, around: Surroundings, graph: Graph, types_match: bool, marks: Marks) -> None:
        self.makers = around.snippets.makers
        self.known = around.known
        self.users = around.users(graph)
        self.painter = around.snippets.painter
        self.graph = graph
        self.types_match = types_match
        self.marks = marks
        self.boxes: list[Box] = []
        self.wires: list[Wire] = []
        #: The indices of the boxes of nodes and values.
        self.places: dict[object, int] = {}

    def around(self, node: Node) -> Neighbourhood:
        """A node and the nodes before and after it."""
        self._add_node_box(node, "fault")
        step = [node]
        for _ in range(BACK):
            step = [each for at in step for each in self._add_before(at)]
        for value in node.outputs:
            if value is None:
                continue
            for user in [each for each in self.users.get(value, ()) if each not in self.places][:AHEAD]:
                if len(self.boxes) < BOXES + AHEAD:
                    self._add_wire(node, value, self._add_node_box(user, "node"), user)
            outputs_are_nodes = self.known.format.output_node is not None
            if value in self.graph.outputs and value not in self.places and not outputs_are_nodes:
                self._add_wire(node, value, self._add_value_box(value, "output"))
        return Neighbourhood(tuple(self.boxes), tuple(self.wires))

    def _add_before(self, node: Node) -> Iterator[Node]:
        """Adds boxes and wires for the inputs of a node, except for constants. Yields the new nodes."""
        at_fault = [value for value in self.marks if value in node.inputs]
        for value in dict.fromkeys((*at_fault, *(value for value in used(node) if value is not None))):
            maker = self.makers.of(value)
            if self._is_constant(maker):
                continue
            start: object = value if maker is None or maker.node is None else maker.node
            if start in self.places:
                self._add_wire(start, value, self.places[node], node)
            elif len(self.boxes) < BOXES:
                if maker is None or maker.node is None:
                    self._add_value_box(value, "input" if maker is not None else "missing")
                else:
                    self._add_node_box(maker.node, "node")
                    yield maker.node
                self._add_wire(start, value, self.places[node], node)

    def _is_constant(self, maker: Maker | None) -> bool:
        if maker is None:
            return False
        return maker.constant is not None or (
            maker.node is not None and maker.node.op == self.known.format.constant_node
        )

    def _add_node_box(self, node: Node, kind: str) -> int:
        """Adds the box of a node; returns its index."""
        kind = {self.known.format.input_node: "input", self.known.format.output_node: "output"}.get(node.op, kind)
        name = node.name or node.label
        self.places[node] = len(self.boxes)
        self.boxes.append(Box(kind, node.op, name, str(node.id or node.index), tuple(self._constants(node))))
        return self.places[node]

    def _add_value_box(self, value: Value, kind: str) -> int:
        """Adds the box of a value; returns its index."""
        self.places[value] = len(self.boxes)
        self.boxes.append(Box(kind, {"missing": "undefined"}.get(kind, kind), value.name))
        return self.places[value]

    def _constants(self, node: Node) -> Iterator[WireValue]:
        """At most CONSTANTS constants that a node uses, those at fault first."""
        found = [value for value in node.inputs if value is not None and self._is_constant(self.makers.of(value))]
        found.sort(key=lambda value: value not in self.marks)
        for value in found[:CONSTANTS]:
            maker = self.makers.of(value)
            named = maker.node.label if maker is not None and maker.node is not None else value.name
            yield replaced(self._carried(value), name=named)

    def _add_wire(self, start: object, value: Value, end: int, user: Node | None = None) -> None:
        inputs = user.inputs if user is not None else ()
        at = inputs.index(value) if value in inputs else len(inputs)
        self.wires.append(Wire(self.places[start], end, self._carried(value), at))

    def _carried(self, value: Value) -> WireValue:
        """A value with its clashing axes and, if the types match, its type."""
        known = self.known.types.get(value) if self.types_match else None
        at_fault, axes = value in self.marks, self.marks.get(value, ())
        if not isinstance(known, Tensor):
            return WireValue(value.name, None, "" if known is None else type_text(known), (), at_fault)
        return WireValue(value.name, dims_text(known.shape), self.painter.element_type(known.dtype), axes, at_fault)
