"""Finds the constants that cause a problem because their shapes differ from those of their twins in other blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from irlint.dims import Shape
from irlint.fixes.blocks import NUMBER, Blocks, numbers_of
from irlint.fixes.conditions import allows_many_sizes
from irlint.fixes.editor import Editor
from irlint.fixes.trials import Trials, limits_sizes
from irlint.inference.known import Known
from irlint.inference.origins import Makers, shape_of
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import users
from irlint.model.tensor import FLOATS, Tensor
from irlint.records import record

#: A block with more odd shapes has other sizes than its twins on purpose, as the stages of a network have.
MOST_ODD = 2

#: The shape functions are asked at most this many times for one problem.
QUESTIONS = 600

#: At most this many nodes before a node are visited.
FARTHEST = 400


@record
class OddShape:
    """A constant whose shape differs from the one shape that its twins in all other blocks have."""

    node: Node
    port: int
    value: Value
    shape: Shape
    #: The shape of the twins, and the name of the block of one of them.
    expected: Shape
    block: str


class OddShapes:
    """The odd shapes of the constants of one graph."""

    def __init__(self, makers: Makers, graph: Graph, problems: Sequence[Problem]) -> None:
        self.makers = makers
        self.known: Known = makers.known
        self.graph = graph
        self.problems = problems
        self.editor = Editor(self.known, graph, makers, users(graph))
        self.blocks = Blocks(self.editor)

    def causing(self, problem: Problem) -> list[OddShape]:
        """The odd shapes before the node of a problem, in its block, that cause the problem.

        The problem disappears, and no other one appears, with the shape of the twins. One shape is enough, or all odd
        shapes of the block together are.
        """
        node = problem.node
        if node is None or problem.graph or not (problem.is_error or limits_sizes(problem)):
            return []
        if any(twin in self.known.faulted for twin in self.blocks.twins(node)):
            return []
        for block in _blocks(node.name):
            found = self._of_block(block)
            before = set(self._before(node, block)) if 0 < len(found) <= MOST_ODD else set()
            causes = self._tried(found, before, problem) if any(each.node in before for each in found) else []
            if causes:
                return causes
        return []

    def _tried(self, found: Sequence[OddShape], before: Set[Node], problem: Problem) -> list[OddShape]:
        """The only one of ``found`` at a node in ``before`` that fixes the problem alone; else all, if all fix it."""
        trials = Trials(self.makers, self.graph, self.problems, QUESTIONS, allows_many_sizes)
        edits = [self.editor.constant(each.value, each.expected, "shape") for each in found]
        pairs = [(each, edit) for each, edit in zip(found, edits) if each.node in before]
        alone = [each for each, edit in pairs if trials.outcome((edit,), problem) is not None]
        if alone or len(found) == 1:
            return alone if len(alone) == 1 else []
        return list(found) if trials.outcome(edits, problem) is not None else []

    def _of_block(self, block: str) -> list[OddShape]:
        """The odd shapes of all nodes of a block. They end after one more than MOST_ODD."""
        found: list[OddShape] = []
        for node in self.graph.nodes:
            found += self._of_node(node, block) if _is_in(node, block) else ()
            if len(found) > MOST_ODD:
                break
        return found

    def _of_node(self, node: Node, block: str) -> Iterator[OddShape]:
        ports = [port for port, value in enumerate(node.inputs) if self._weight_shape(value) is not None]
        count = len(NUMBER.findall(block))
        twins = [each for each in self.blocks.twins(node) if _differs_at(each, node, count - 1)] if ports else []
        for port in ports:
            value, shape = node.inputs[port], self._weight_shape(node.inputs[port])
            others = {self._weight_shape(each.inputs[port] if port < len(each.inputs) else None) for each in twins}
            expected = others.pop() if len(others) == 1 else None
            if value is not None and shape is not None and expected is not None and shape != expected:
                yield OddShape(node, port, value, shape, expected, _blocks(twins[0].name)[count - 1])

    def _weight_shape(self, value: Value | None) -> Shape | None:
        """The shape of a constant with floating-point numbers, or with several axes; None for another value."""
        known = self.known.types.get(value) if value is not None and self.makers.is_constant(value) else None
        shape = shape_of(value, self.known)
        is_weight = isinstance(known, Tensor) and (known.dtype in FLOATS or len(shape or ()) > 1)
        return shape if is_weight and shape else None

    def _before(self, node: Node, block: str) -> Iterator[Node]:
        """A node and the nodes before it in its block, the nearest first."""
        waiting, seen = [node], {node}
        for each in waiting:
            yield each
            for value in each.inputs if len(waiting) < FARTHEST else ():
                maker = self.makers.of(value) if value is not None else None
                made = maker.node if maker is not None else None
                if made is not None and made not in seen and _is_in(made, block):
                    seen.add(made)
                    waiting.append(made)


def _blocks(name: str) -> list[str]:
    """The names of the blocks around a node, such as ``layers.1``, by its name. A number at the end names no block."""
    return [name[: each.end()] for each in NUMBER.finditer(name) if each.end() < len(name)]


def _is_in(node: Node, block: str) -> bool:
    return node.name.startswith(block) and not node.name[len(block) : len(block) + 1].isdigit()


def _differs_at(one: Node, other: Node, place: int) -> bool:
    """Whether the names of two twins differ in the number at ``place``."""
    numbers, others = numbers_of(one), numbers_of(other)
    return place < min(len(numbers), len(others)) and numbers[place] != others[place]
