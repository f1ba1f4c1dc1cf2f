"""The inputs of the nodes at fault, as data."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from irlint.findings.report import Operand
from irlint.findings.wording import bounded
from irlint.model import Node, Problem
from irlint.run.listing import typed
from irlint.snippets.finding import Snippets
from irlint.snippets.tables import marked_axes

#: At most this many inputs of a node are listed.
MOST = 8


def operands(snippets: Snippets, problem: Problem) -> tuple[Operand, ...]:
    """The inputs of a problem's node, at most MOST. They have no types unless these are those of the fault."""
    node, fault = problem.node, problem.fault
    if node is None or not node.inputs:
        return ()
    types_match = snippets.types_match(problem)
    marks = marked_axes(fault, node, snippets.known) if fault.marks and types_match else {}
    indices = _shown(snippets.present_inputs(node), (*marks, fault.input))
    return tuple(_operand(snippets, node, index, marks.get(index, ()), types_match) for index in indices)


def _operand(snippets: Snippets, node: Node, index: int, axes: tuple[int, ...], types_match: bool) -> Operand:
    value = node.inputs[index]
    assert value is not None
    maker = snippets.makers.of(value)
    producer = bounded(maker.node.label) if maker is not None and maker.node is not None else None
    known = typed(snippets.known.types.get(value) if types_match else None)
    shape = None if known["shape"] is None else tuple(known["shape"])
    return Operand(index, bounded(value.name), known["dtype"], shape, producer, axes)


def _shown(present: Sequence[int], at_fault: Iterable[int | None]) -> Sequence[int]:
    """The indices of at most MOST inputs, sorted: those at fault, then the first other inputs in ``present``."""
    if len(present) <= MOST:
        return present
    faulty = [index for index in dict.fromkeys(at_fault) if index is not None and _is_in(present, index)][:MOST]
    others = [index for index in present[: MOST + len(faulty)] if index not in faulty]
    return sorted([*faulty, *others[: MOST - len(faulty)]])


def _is_in(indices: Sequence[int], index: int) -> bool:
    at = bisect_left(indices, index)
    return at < len(indices) and indices[at] == index
