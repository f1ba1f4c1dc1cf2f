"""The clashing sizes of problems, and the nodes and constants from which these sizes come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from irlint.fixes.indices import JOIN
from irlint.fixes.trials import limits_sizes
from irlint.inference.consequences import DECLARED
from irlint.inference.known import Known
from irlint.inference.origins import Makers, Position, shape_of, steps, trail
from irlint.model import Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

#: A clashing size is traced back through at most this many nodes.
FARTHEST = 64


class Clashes:
    """The clashing sizes of the problems of one model: the sizes that contradict each other."""

    def __init__(self, known: Known, makers: Makers) -> None:
        self.known = known
        self.makers = makers

    def of(self, problem: Problem) -> list[tuple[Value, int]]:
        """(value, axis) of each clashing size of a problem."""
        node, fault = problem.node, problem.fault
        assert node is not None
        if fault.rule.family == DECLARED and not limits_sizes(problem):
            for value in node.outputs:
                shape, declared = shape_of(value, self.known), value.type if value is not None else None
                if value is None or value.name != problem.value or shape is None or not isinstance(declared, Tensor):
                    continue
                pairs = zip(shape, declared.shape or ())
                found = [(value, axis) for axis, (one, other) in enumerate(pairs) if one != other]
                return [*found, *self.joined(found)]
            return []
        first = shape_of(node.inputs[0], self.known) if node.inputs else None
        indices = shape_of(node.inputs[1], self.known) if fault.rule is INDEX_OUT_OF_RANGE and node.inputs[1:] else None
        found = []
        marks = fault.marks or tuple((0, each) for each in range(len(first or ())))
        for index, axis in (*marks, *((1, each) for each in range(len(indices or ())))):
            value = node.inputs[index] if 0 <= index < len(node.inputs) else None
            shape = shape_of(value, self.known)
            if value is not None and shape is not None and -len(shape) <= axis < len(shape):
                found.append((value, axis % len(shape)))
        measured = self._measured(node.inputs[0]) if indices is not None else None
        return [*found, *((measured, axis) for axis in range(len(shape_of(measured, self.known) or ())) if measured)]

    def _measured(self, value: Value | None) -> Value | None:
        """The value that has ``value`` as its shape (ShapeOf); None if ``value`` is no shape."""
        maker = self.makers.of(value) if value is not None else None
        node = maker.node if maker is not None else None
        call = self.known.calls.get(node) if node is not None else None
        of_shape = call is not None and call.operator is not None and call.operator.of_shape
        return node.inputs[0] if of_shape and node is not None and node.inputs else None

    def joined(self, clashing: Sequence[tuple[Value, int]]) -> list[tuple[Value, int]]:
        """The input sizes that a node combined into a clashing size; [] unless there are several."""
        found = []
        for value, axis in clashing:
            *_, (node, made, place) = ((None, value, axis), *steps(value, axis, self.makers, FARTHEST))
            if node is None:
                continue
            for each in self.makers.deciding(node, Position(node.outputs.index(made), place)):
                given = node.inputs[each.port]
                if given is not None and not each.in_contents:
                    found.append((given, each.index))
        return found if len(found) > 1 else []

    def nodes_before(self, node: Node, clashing: Sequence[tuple[Value, int]]) -> list[Node]:
        """The nodes that compute the inputs of ``node``, then the nodes on the paths to clashing sizes, the nearest
        first. Nodes that are on all these paths are omitted."""
        paths: dict[Value, dict[Node, int]] = {}
        for value, axis in clashing:
            path = paths.setdefault(value, {})
            for at, (each, _, _) in enumerate(steps(value, axis, self.makers, FARTHEST)):
                path[each] = min(at, path.get(each, at))
        shared = set.intersection(*map(set, paths.values())) if len(paths) > 1 else set()
        near = sorted(
            ((at, each) for path in paths.values() for each, at in path.items() if each not in shared),
            key=itemgetter(0),
        )
        direct = [
            maker.node for value in node.inputs if value is not None and (maker := self.makers.of(value)) is not None
        ]
        every = dict.fromkeys((*(each for each in direct if each is not None), *(each for _, each in near)))
        return [each for each in every if self._may_change(each, node)]

    def all_nodes_before(self, node: Node, clashing: Sequence[tuple[Value, int]]) -> list[Node]:
        """The nodes on the paths to clashing sizes, and those on the paths to sizes that make up a clashing size."""
        products = [each for place in clashing for each in self.joined([place])]
        parts = (each for place in products for each in self.joined([place]))
        nodes_of_parts = (each for place in (*products, *parts) for each in self.nodes_before(node, [place]))
        return list(dict.fromkeys((*self.nodes_before(node, clashing), *nodes_of_parts)))

    def nodes_to_change(self, node: Node, clashing: Sequence[tuple[Value, int]]) -> list[Node]:
        """The nodes of ``all_nodes_before``, after those that produced an empty input of a Concat."""
        nodes = self.all_nodes_before(node, clashing)
        return list(dict.fromkeys((*self._emptying(nodes), *nodes)))

    def _emptying(self, nodes: Sequence[Node]) -> Iterator[Node]:
        """The nodes that produced an empty input of a Concat in ``nodes``, such as a Slice past the end."""
        for value in (value for node in nodes if node.op == JOIN for value in node.inputs):
            at = value
            while at is not None and 0 in (shape_of(at, self.known) or ()):
                maker = self.makers.of(at)
                if maker is None or maker.node is None:
                    break
                yield maker.node
                at = maker.node.inputs[0] if maker.node.inputs else None

    def _may_change(self, node: Node, faulty: Node) -> bool:
        call = self.known.calls.get(node)
        fixed = (self.known.format.constant_node, self.known.format.input_node)
        return node is not faulty and call is not None and not node.bodies and not call.broken and node.op not in fixed

    def constants_of(self, value: Value, axis: int) -> Iterator[tuple[Value, int]]:
        """(constant, axis) from which a size comes; nothing if it does not come from a constant."""
        found = trail(value, axis, self.makers)
        if found is not None and self.makers.is_constant(found.value):
            yield found.value, found.axis
