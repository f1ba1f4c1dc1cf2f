"""Candidates with other indices, for nodes that select elements of a short list or an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.dims import MaybeDim
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.other_values import EVIDENT, POSSIBLE, PROBABLE
from irlint.inference.origins import shape_of
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Node, Value
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.fixes.constants import Changed, Constants

#: The name of inputs that select elements.
INDICES = "indices"

#: Other indices are tried for axes of at most this length.
LONGEST_INDEXED = 6

#: The operator that joins the parts of a target, in both formats.
JOIN = "Concat"

#: The operators between an index and the target that the selected size is a part of.
BETWEEN = ("Unsqueeze", "Cast", "Convert", "Reshape", "Squeeze")


class Indices:
    """Candidates that change indices."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.editor = constants.editor
        self.known = constants.known
        self.makers = constants.makers

    def others(
        self, node: Node, port: int, constant: Value, entries: Sequence[MaybeDim], tried: set[Changed]
    ) -> Iterator[Candidate]:
        """Other indices into a short list, or the only one that no sibling takes of a short axis.

        Indices that no sibling takes come first. Neighboring parts of a target support neighboring indices.
        """
        size, entry = self._length(node), entries[0]
        if size is None or len(entries) > 1 or not isinstance(entry, int):
            return
        missing = self.missing(node)
        if missing is not None and missing != entry:
            yield from self._with_index(node, port, constant, (missing, size), (EVIDENT, SEVERAL), tried)
        if len(shape_of(node.inputs[0], self.known) or ()) != 1 or missing is not None:
            return
        taken, expected = self._taken(node), self.beside_neighbors(node)
        for new in range(size):
            if new not in (entry, entry + size):
                count = int(new not in taken) + (SEVERAL if new in expected else 0)
                grade = PROBABLE if count else POSSIBLE
                yield from self._with_index(node, port, constant, (new, size), (grade, count), tried)

    def _with_index(
        self,
        node: Node,
        port: int,
        constant: Value,
        index: tuple[int, int],
        rank: tuple[int, int],
        tried: set[Changed],
    ) -> Iterator[Candidate]:
        """Selects an index of (index, length), with this (grade, evidence)."""
        (new, size), (grade, count) = index, rank
        for candidate in self.constants.with_entries(node, port, constant, (new,), grade):
            tried.update(((constant, (new,)), (constant, (new - size,))))
            yield replaced(candidate, evidence=count)

    def other_scalars(self, node: Node, port: int, constant: Value, entries: Sequence[MaybeDim]) -> Iterator[Candidate]:
        """Turns a list of one index into another index, a scalar, if all siblings index the same data by scalars."""
        shapes = {shape_of(each.inputs[port], self.known) for each in self.with_equal_data(node)}
        if shapes != {()} or shape_of(constant, self.known) != (1,) or not self.makers.is_constant(constant):
            return
        scalar = self.editor.constant(constant, (), "shape")
        for candidate in self.others(node, port, constant, entries, set()):
            edits = candidate.edits
            if candidate.evidence and len(edits) == 1 and edits[0].kind == "constant":
                yield replaced(candidate, edits=(*edits, scalar), subject=(constant, scalar))

    def missing(self, node: Node) -> int | None:
        """The only index of a short axis that no sibling takes, if all others are taken; None if there is none."""
        size, others = self._length(node), self.with_equal_data(node)
        taken = {entry % size for entry in self._taken(node) if size is not None and -size <= entry < size}
        left = [each for each in range(size or 0) if each not in taken]
        axes = {self._axis(each) for each in (node, *others)}
        return left[0] if len(left) == 1 and len(axes) == 1 and (others or size == 1) else None

    def _length(self, node: Node) -> int | None:
        """The length of the axis that a node indexes; None if it is unknown or long."""
        shape, axis = shape_of(node.inputs[0], self.known) if node.inputs else None, self._axis(node)
        size = shape[axis] if shape and axis is not None and -len(shape) <= axis < len(shape) else None
        return size if isinstance(size, int) and size <= LONGEST_INDEXED else None

    def _axis(self, node: Node) -> int | None:
        given: Any = self.editor.value_of(node, "axis")
        if given is None and len(node.inputs) > 2:
            given = (self.editor.value_of(node, 2) or (None,))[0]
        return given if isinstance(given, int) else 0 if len(node.inputs) == 2 else None

    def _taken(self, node: Node) -> set[Any]:
        return {entry for each in self.with_equal_data(node) for entry in self.editor.value_of(each, 1) or ()}

    def with_equal_data(self, node: Node) -> list[Node]:
        """The siblings that index the same value."""
        others = (each for each in self.editor.siblings(node) if len(each.inputs) > 1)
        return [each for each in others if self.indexed_value(each) == self.indexed_value(node)]

    def indexed_value(self, node: Node) -> Value | None:
        """The first input of a node. If that input is the shape of a value, this value."""
        value = node.inputs[0]
        maker = self.makers.of(value) if value is not None else None
        inner = maker.node if maker is not None else None
        call = self.known.calls.get(inner) if inner is not None else None
        of_shape = call is not None and call.operator is not None and call.operator.of_shape
        return inner.inputs[0] if of_shape and inner is not None and inner.inputs else value

    def beside_neighbors(self, node: Node) -> set[int]:
        """The indices that follow, or precede, those of the neighboring parts of targets: 2 beside the part for 3."""
        found: set[int] = set()
        for target, port in self._targets(node):
            for step in (-1, 1):
                at = port + step
                index = self._index_of_part(target.inputs[at], node) if 0 <= at < len(target.inputs) else None
                found.update(() if index is None else (index - step,))
        return found

    def _targets(self, node: Node) -> Iterator[tuple[Node, int]]:
        """(node that joins the selected size with others, its input)."""
        waiting = list(node.outputs)
        for value in waiting:
            for user in self.editor.users.get(value, ()) if value is not None else ():
                if user.op in BETWEEN:
                    waiting += user.outputs
                elif user.op == JOIN:
                    yield from ((user, port) for port, each in enumerate(user.inputs) if each is value)

    def _index_of_part(self, value: Value | None, node: Node) -> int | None:
        """The index that selects a part of a target from the data of a node."""
        while value is not None and (maker := self.makers.of(value)) is not None and maker.node is not None:
            if maker.node.op == node.op and maker.node is not node:
                equal = self.indexed_value(maker.node) == self.indexed_value(node)
                entries = self.editor.value_of(maker.node, 1) if equal else None
                return entries[0] if entries and len(entries) == 1 and isinstance(entries[0], int) else None
            value = maker.node.inputs[0] if maker.node.op in BETWEEN and maker.node.inputs else None
        return None
