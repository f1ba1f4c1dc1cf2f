"""How data flow from the inputs of a graph to its outputs, and whether edits break this flow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain
from operator import or_

from irlint.findings.edits import Edit
from irlint.inference.known import Known
from irlint.model import Graph, Node, Value
from irlint.model.order import used
from irlint.model.tensor import INTEGERS, Tensor
from irlint.records import NOTHING

#: The values that edits connect, by index of the node and by port.
Connected = Mapping[int, Mapping[int, list[Value | None]]]

#: Two bit masks: the inputs on whose elements a value depends, and the inputs on whose elements or shapes it depends.
Bits = tuple[int, int]


class Cycle(Exception):
    """A node depends on its own result."""


class Flow:
    """The flow of data in the main graph. Dependence on the shape of an input counts only for outputs of integers."""

    def __init__(self, known: Known, graph: Graph) -> None:
        self.known = known
        self.graph = graph
        self.makers = known.makers(graph)

    def is_broken_by(self, edits: Sequence[Edit]) -> bool:
        """Whether edits create a cycle, cut an output off from all inputs, or leave an input without effect."""
        connected = self._connected(edits)
        if not connected or self._before is None:
            return False
        try:
            after = self._reached(connected)
        except Cycle:
            return True
        effective, left = reduce(or_, self._before, 0), reduce(or_, after, 0)
        return bool(effective & ~left) or any(one and not other for one, other in zip(self._before, after))

    def _connected(self, edits: Sequence[Edit]) -> Connected:
        found: dict[int, dict[int, list[Value | None]]] = {}
        nodes = {node.index: node for node in self.graph.nodes}
        for edit in edits:
            node = nodes.get(edit.index) if edit.index is not None and not edit.graph else None
            if node is None or edit.input is None or not (edit.kind == "input" or edit.inputs):
                continue
            ports = found.setdefault(node.index, {})
            if edit.kind == "input":
                ports[edit.input] = [self.values.get(str(edit.value))]
            elif edit.input < len(node.inputs):
                others = [self.values.get(name) for name in edit.inputs]
                ports[edit.input] = [*ports.get(edit.input, [node.inputs[edit.input]]), *others]
        return found

    @cached_property
    def values(self) -> dict[str, Value]:
        """The values of the graph by name."""
        return {value.name: value for value in (*self.graph.constants, *self.graph.inputs, *self.makers)}

    @cached_property
    def _inputs(self) -> dict[Value, int]:
        """A bit for each input of the model."""
        given = [each for each in self.graph.inputs if each not in self.graph.constants]
        return {value: 1 << at for at, value in enumerate(given)}

    @cached_property
    def _before(self) -> list[int] | None:
        """The inputs on which each output depends; None if the graph has a cycle."""
        try:
            return self._reached({})
        except Cycle:
            return None

    def _reached(self, connected: Connected) -> list[int]:
        """The inputs on which each output depends, as bit masks. Raises Cycle."""
        bits: dict[Node, Bits] = {}
        begun: set[Node] = set()
        waiting = [maker for each in self.graph.outputs if (maker := self.makers.get(each)) is not None]
        waiting += [node for node in self.graph.nodes if node.index in connected]
        while waiting:
            node = waiting[-1]
            values = list(self._inputs_after(node, connected))
            ahead = [maker for each in values if (maker := self.makers.get(each)) is not None and maker not in bits]
            if node in bits or not ahead:
                waiting.pop()
                if node not in bits:
                    data, shapes = self._bits(values, bits)
                    bits[node] = (0, shapes) if self._is_of_shape(node) else (data, shapes)
                continue
            if node in begun:
                raise Cycle
            begun.add(node)
            waiting += ahead
        return [self._bits([each], bits)[self._is_of_integers(each)] for each in self.graph.outputs]

    def _inputs_after(self, node: Node, connected: Connected) -> Iterator[Value]:
        ports = connected.get(node.index, NOTHING)
        given = dict(enumerate([each] for each in node.inputs))
        captured = used(node)[sum(value is not None for value in node.inputs) :]
        for value in (*chain.from_iterable({**given, **ports}.values()), *captured):
            if value is not None:
                yield value

    def _bits(self, values: Sequence[Value], bits: Mapping[Node, Bits]) -> Bits:
        data = shapes = 0
        for value in values:
            maker = self.makers.get(value)
            one, other = bits[maker] if maker is not None else (0, 0)
            own = self._inputs.get(value, 0)
            data, shapes = data | one | own, shapes | other | own
        return data, shapes

    def _is_of_shape(self, node: Node) -> bool:
        call = self.known.calls.get(node)
        return call is not None and call.operator is not None and call.operator.of_shape

    @cached_property
    def only_of_shapes(self) -> set[Value]:
        """The values that are no integers, and depend on no element of an input of the model, but perhaps on shapes."""
        found = {each for each in self.graph.inputs if each not in self.graph.constants}
        for node in self.known.order(self.graph).nodes:
            if node.bodies or (not self._is_of_shape(node) and not found.isdisjoint(node.inputs)):
                found.update(each for each in node.outputs if each is not None)
        return {each for each in self.makers if each not in found and not self._is_of_integers(each)}

    def _is_of_integers(self, value: Value) -> bool:
        known = self.known.types.get(value)
        return isinstance(known, Tensor) and known.dtype in INTEGERS
