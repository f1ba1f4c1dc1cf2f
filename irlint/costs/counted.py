"""The MACs and the peak activation memory of a model, with its bodies and functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from irlint.binding.calls import Call
from irlint.costs.activations import most, peak, size_of, weight
from irlint.costs.products import Operation, macs, operation
from irlint.costs.scratch import elements
from irlint.dims import MaybeDim, at_least, product, total
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.inference.recorded import Recorder
from irlint.inference.walk import Frame, Walk, given_attributes
from irlint.model import Attribute, Graph, Node, Value
from irlint.model.tensor import Sequence as SequenceType
from irlint.model.tensor import Tensor, Type, tensor_shape
from irlint.ops.shared.port_maps import Entries, input_of, ordered, sliced
from irlint.ops.signatures import signature
from irlint.records import NOTHING, record, replaced

#: A trip count of at least this number means no limit.
ENDLESS = 1 << 31

#: Calls that are nested deeper have unknown costs.
DEEPEST = 64


@record
class NodeCost:
    """The MACs of a node, over all known iterations of the bodies around it."""

    #: The path of the graph.
    graph: str
    node: Node
    operator: str
    macs: MaybeDim


@record
class Cost:
    """The cost of a graph or of a node."""

    macs: MaybeDim
    #: The peak memory in bytes; for a node, the peak memory of its bodies or its function.
    peak: MaybeDim
    #: The nodes that have MACs.
    nodes: tuple[NodeCost, ...] = ()
    #: The nodes of unknown operators.
    uncounted: tuple[Node, ...] = ()
    #: The bytes that a node needs beside its inputs and outputs.
    scratch: MaybeDim = 0


@record
class Scope:
    """The context in which a graph is counted."""

    types: Mapping[Value, Type | None]
    calls: Mapping[Node, Call]
    #: The attributes of the enclosing function.
    attributes: Mapping[str, Attribute | None] = NOTHING
    #: The nodes that call the enclosing functions.
    path: tuple[Node, ...] = ()


def counted(known: Known) -> Cost:
    """The cost of a model."""
    assert known.model.graph is not None
    return _Counter(known).graph(known.model.graph, Scope(known.types, known.calls), frozenset())


class _Counter:
    """Counts the graphs of a model."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.format = known.format
        #: The costs of functions, by the function, its input types and its attributes.
        self.calls: dict[object, Cost] = {}

    def graph(self, graph: Graph, scope: Scope, fixed: Set[Value]) -> Cost:
        """The cost of one run of a graph. ``fixed`` are the values that depend only on constants."""
        nodes = [node for node in self.known.order(graph).nodes if node.op != self.format.input_node]
        inputs = {node.outputs[0] for node in graph.nodes if node.op == self.format.input_node and node.outputs}
        all_fixed = set(fixed) | (graph.constants.keys() - inputs)
        counts: list[MaybeDim] = []
        listed: list[NodeCost] = []
        uncounted: list[Node] = []
        inside: dict[Node, MaybeDim] = {}
        scratch: dict[Node, MaybeDim] = {}
        for node in nodes:
            if all(value in all_fixed for value in node.inputs if value is not None) and not node.bodies:
                all_fixed.update(value for value in node.outputs if value is not None)
            cost = self.node(graph, node, scope, all_fixed)
            counts.append(cost.macs)
            listed += cost.nodes
            uncounted += cost.uncounted
            if cost.peak != 0:
                inside[node] = cost.peak
            if cost.scratch != 0 and not all_fixed.issuperset([value for value in node.outputs if value is not None]):
                scratch[node] = cost.scratch
        most_bytes = peak(graph, nodes, scope.types, all_fixed, inside, scratch)
        return Cost(total(counts), most_bytes, tuple(listed), tuple(uncounted))

    def node(self, graph: Graph, node: Node, scope: Scope, fixed: Set[Value]) -> Cost:
        call = scope.calls.get(node)
        if node.op in (self.format.constant_node, self.format.output_node):
            return Cost(0, 0)
        if call is None:
            return Cost(0, 0, (), (node,))
        if call.function is not None:
            return self._called(node, call, scope)
        inside = self._bodies(node, call, scope, fixed) if node.bodies else Cost(0, 0)
        if call.operator is None or call.attributes is None:
            return replaced(inside, uncounted=(node, *inside.uncounted))
        if not call.operator.macs and not call.operator.scratch:
            return inside
        types = [None if value is None else scope.types.get(value) for value in node.inputs]
        outputs = [None if value is None else scope.types.get(value) for value in node.outputs]
        names = signature(call.operator.function).inputs
        described = operation(names, types, outputs, call.attributes)
        if call.operator.scratch:
            inside = replaced(inside, scratch=_scratch(call.operator.scratch, described, outputs))
        if not call.operator.macs:
            return inside
        count = macs(call.operator.macs, described)
        own = NodeCost(graph.path, node, self.format.operator_name(node.domain, call.op), count)
        return replaced(inside, macs=total((count, inside.macs)), nodes=(own, *inside.nodes))

    def _bodies(self, node: Node, call: Call, scope: Scope, fixed: Set[Value]) -> Cost:
        """The cost of a node's bodies: for If, the most expensive branch; else all bodies in all iterations.

        If the number of iterations is unknown, one iteration counts.
        """
        costs = [self._body(body, scope, fixed) for _, body in node.bodies]
        if call.op == "If":
            return _of_largest_body(costs)
        if len(costs) > 1:
            return _of_all_bodies(costs)
        trips = trip_count(node, call, scope.types)
        count = 1 if trips is None else trips
        nodes = tuple(replaced(cost, macs=product((cost.macs, count))) for cost in costs[0].nodes)
        return replaced(costs[0], macs=product((costs[0].macs, count)), nodes=nodes)

    def _body(self, body: Graph, scope: Scope, fixed: Set[Value]) -> Cost:
        """The cost of one run of a body. A body that was not inferred before is inferred from its declared types."""
        if all(node in scope.calls for node in body.nodes if node.op != self.format.input_node):
            return self.graph(body, scope, fixed)
        if len(scope.path) >= DEEPEST:
            return Cost(None, None)
        walk = Walk(self.known.model, {}, self.known)
        frame = Frame(scope.attributes, path=scope.path, depth=len(scope.path))
        walk.graph(body, frame, Recorder(discards=True))
        return self.graph(body, Scope(walk.types, walk.calls, scope.attributes, scope.path), fixed)

    def _called(self, node: Node, call: Call, scope: Scope) -> Cost:
        """The cost of a function for the inputs and attributes of a call."""
        function = call.function
        assert function is not None
        if len(scope.path) >= DEEPEST:
            return Cost(None, None)
        types = [None if value is None else scope.types.get(value) for value in node.inputs]
        types += [None] * (len(function.graph.inputs) - len(types))
        attributes = given_attributes(call, function, scope.attributes)
        key = (function, tuple(types), tuple(sorted((name, id(value)) for name, value in attributes.items())))
        if key not in self.calls:
            path = (*scope.path, node)
            walk = Walk(self.known.model, {}, self.known)
            frame = Frame({**function.attributes, **attributes}, path=path, depth=len(path))
            walk.graph(function.graph, frame, Recorder(discards=True), types)
            inner = Scope(walk.types, walk.calls, frame.scope, path)
            self.calls[key] = self.graph(function.graph, inner, frozenset())
        return self.calls[key]


def _scratch(formula: Sequence[str | int], node: Operation, outputs: Sequence[Type | None]) -> MaybeDim:
    count, output = elements(formula, node), next((known for known in outputs if known is not None), None)
    return None if count is None or not isinstance(output, Tensor) else size_of(Tensor(output.dtype, (count,)))


def _of_largest_body(costs: Sequence[Cost]) -> Cost:
    larger = max(costs, key=lambda cost: weight(cost.macs))
    return replaced(
        larger,
        macs=most(cost.macs for cost in costs),
        peak=most(cost.peak for cost in costs),
        uncounted=tuple(node for cost in costs for node in cost.uncounted),
    )


def _of_all_bodies(costs: Sequence[Cost]) -> Cost:
    return Cost(
        total(cost.macs for cost in costs),
        most(cost.peak for cost in costs),
        tuple(node for cost in costs for node in cost.nodes),
        tuple(node for cost in costs for node in cost.uncounted),
    )


def trip_count(node: Node, call: Call, types: Mapping[Value, Type | None]) -> MaybeDim:
    """The largest number of iterations of a node's body; None if unknown."""
    known = [None if value is None else types.get(value) for value in node.inputs]
    attributes = call.attributes or {}
    if call.op == "Loop":
        return _limit(known[0] if known else None)
    if call.op == "Scan":
        count = attributes.get("num_scan_inputs", 1)
        axes = attributes.get("scan_input_axes") or (0,)
        shape = tensor_shape(known[-count]) if 0 < count <= len(known) else None
        axis = axes[0] if call.version > 8 else 1
        return shape[axis] if shape and -len(shape) <= axis < len(shape) else None
    if call.op == "SequenceMap":
        return known[0].length if known and isinstance(known[0], SequenceType) else None
    return _slice_count(
        attributes.get("port_map", ()), [tensor if isinstance(tensor, Tensor) else None for tensor in known]
    )


def _limit(found: Type | None) -> MaybeDim:
    """The largest trip count of a Loop by its first input; None if it is unknown or means no limit."""
    count = found.scalar if isinstance(found, Tensor) else None
    if count is None or isinstance(count, (bool, float)):
        return None
    return count if at_least(count, 0) and at_least(count, ENDLESS) is not True else None


def _slice_count(entries: Entries, inputs: Sequence[Tensor | None]) -> MaybeDim:
    cut = [entry for entry in ordered(entries, "input") if entry.axis is not None]
    if not cut:
        return None
    try:
        index, known = input_of(cut[0], inputs)
        return sliced(known, cut[0], index)[1]
    except Fault:
        return None
