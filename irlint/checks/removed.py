"""Removes problems of values that do not affect the results of the model, because later nodes replace the values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from irlint.checks.examined import CHOOSING, CLAMPING, UNLIMITED
from irlint.checks.intervals import Intervals
from irlint.checks.transfer_table import KEEPING
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, used
from irlint.ops.shared.bodies import truth

#: Operators that read only the shape of their input.
OF_SHAPES = frozenset(("Shape", "ShapeOf", "Size"))

#: Operators that test elements for NaN and infinity.
TESTING = frozenset(("IsNaN", "IsInf", "IsFinite"))

#: The names of the branch of an If that a true condition chooses.
OF_TRUTH = frozenset(("then_branch", "then_body"))


def without_removed(problems: Sequence[Problem], known: Known) -> list[Problem]:
    """The problems, except those of three kinds of values: only the shape is read, the branch is never chosen, or later
    nodes replace the NaN or infinity."""
    reading = Reading(known)
    return [
        each
        for each in problems
        if each.is_error or not (each.fault.rule.role in ("value", "nan") and reading.is_removed(each))
    ]


class Reading:
    """Finds whether the results of a model depend on values with problems."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.intervals = Intervals(known)
        self.graphs = {graph.path: graph for graph in graphs(known.model)}
        self._users: dict[Graph, Mapping[Value, list[Node]]] = {}
        self.unchosen = frozenset(self._unchosen())

    def is_removed(self, problem: Problem) -> bool:
        """Whether the results of the model do not depend on the elements of the value with the problem."""
        graph, node = self.graphs.get(problem.graph), problem.node
        if graph is None or node is None:
            return False
        if graph.path in self.unchosen:
            return True
        removing = OF_SHAPES
        if problem.fault.rule.role == "nan":
            removing |= TESTING | CHOOSING
            if node.op in UNLIMITED and self._is_partial(node):
                removing |= CLAMPING
        made = [value for value in node.outputs if value is not None and self._readers(graph, value)]
        return bool(made) and not any(self._reaches(graph, value, removing) for value in made)

    def _unchosen(self) -> Iterator[str]:
        """The paths of the graphs in branches that a known condition does not choose."""
        for graph in self.graphs.values():
            for node in graph.nodes:
                for name, body in node.bodies:
                    chosen = truth(self.known.types.get(node.inputs[0])) if node.op == "If" and node.inputs[0] else None
                    if chosen is not None and chosen != (name in OF_TRUTH):
                        yield from _inside(body)

    def _readers(self, graph: Graph, value: Value) -> Sequence[Node | None]:
        """The nodes that read a value of a graph, and None if the graph returns it."""
        if graph not in self._users:
            found: dict[Value, list[Node]] = {}
            for node in graph.nodes:
                for each in used(node):
                    found.setdefault(each, []).append(node)
            self._users[graph] = found
        return [*self._users[graph].get(value, ()), *([None] if value in graph.outputs else ())]

    def _reaches(self, graph: Graph, value: Value, removing: Set[str]) -> bool:
        """Whether elements of a value reach an output of the graph, or a node whose operator is not in ``removing``."""
        for node in self._readers(graph, value):
            if node is None or node.bodies:
                return True
            if node.op in removing and not (node.op in CHOOSING and self._chooses(node, value)):
                continue
            if node.op not in KEEPING or any(self._reaches(graph, each, removing) for each in node.outputs if each):
                return True
        return False

    def _chooses(self, node: Node, value: Value) -> bool:
        """Whether a Where or Select uses ``value`` as the condition, or always chooses all its elements."""
        condition = self.intervals.whole(node.inputs[0])
        chosen = 1 if condition.low > 0 else 2
        return value is node.inputs[0] or (condition.low == condition.high and value is node.inputs[chosen])

    def _is_partial(self, node: Node) -> bool:
        """Whether some elements of the result of a node may be finite while others are never finite."""
        parts, grid = self.intervals.results(node), self.intervals.grid_of(node)
        if len(parts) == 1 and grid is not None:
            parts = grid.parts
        finite = [not (part.why or part.is_infinite) for part in parts]
        return any(finite) and not all(finite)


def _inside(graph: Graph) -> Iterator[str]:
    yield graph.path
    for body in graph.bodies:
        yield from _inside(body)
