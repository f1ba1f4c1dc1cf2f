"""What the node of a finding is given, as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.findings.report import Operand
from irlint.findings.wording import bounded
from irlint.model import Problem
from irlint.pictures.finding import Pictures
from irlint.pictures.tables import marked_axes
from irlint.run.listing import typed

#: Of a node with more inputs so many are told, those at fault among them.
MOST = 8


def operands(pictures: Pictures, problem: Problem) -> tuple[Operand, ...]:
    """The inputs of a problem's node that are not left out; without types where those that are known are not those of the fault."""
    node, fault, known = problem.node, problem.fault, pictures.known
    if node is None or not node.inputs:
        return ()
    marks = marked_axes(fault, node, known) if fault.marks else {}
    current = pictures.current(problem)
    found = []
    for index in _told([at for at, value in enumerate(node.inputs) if value is not None], (*marks, fault.input)):
        value = node.inputs[index]
        assert value is not None
        maker = pictures.makers.of(value)
        producer = bounded(maker.node.label) if maker is not None and maker.node is not None else None
        told = typed(known.types.get(value) if current else None)
        shape = None if told["shape"] is None else tuple(told["shape"])
        axes = marks.get(index, ()) if current else ()
        found.append(Operand(index, bounded(value.name), told["dtype"], shape, producer, axes))
    return tuple(found)


def _told(there: Sequence[int], at_fault: Iterable[int | None]) -> Sequence[int]:
    """The indices of the inputs to tell, in order."""
    if len(there) <= MOST:
        return there
    first = [index for index in dict.fromkeys(at_fault) if index is not None and index in there][:MOST]
    rest = [index for index in there if index not in first]
    return sorted([*first, *rest[: MOST - len(first)]])


def clashing_axis(given: Sequence[Operand], at_fault: int | None) -> int | None:
    """The first clashing axis of the input at fault, else of the first one that has any."""
    axes = [each.axes[0] for each in given if each.axes and each.input == at_fault]
    axes += [each.axes[0] for each in given if each.axes]
    return axes[0] if axes else None
