"""Notes on constants that decide a clashing size, and that nodes without a problem use, too."""

from __future__ import annotations

from collections.abc import Iterator, Set

from irlint.findings.wording import counted
from irlint.fixes.clashes import FARTHEST, Clashes
from irlint.inference.origins import Makers, shape_of, steps
from irlint.model import Graph, Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.snippets.reasons import Naming

#: The operator with which exporters share constants that are equal by chance.
COPY = "Identity"

#: At most this many constants are named for one problem.
NAMED = 2


def notes_on_shared_constants(
    problem: Problem, graph: Graph, shared: Set[Value], makers: Makers, naming: Naming
) -> list[str]:
    """```t`` is also input 1 of Reshape[9] "b"; if that node needs it as it is, give Reshape[4] one of its own``, for
    each constant of which the problem's node takes a clashing size."""
    notes = []
    for node, value in dict.fromkeys(each for each in _deciding(problem, makers) if each[1] in shared):
        users = (each for each in graph.nodes if value in each.inputs and each not in (node, problem.node))
        others = [each for each in users if each not in makers.known.faulted and each.op != COPY]
        if others:
            more = f" and of {counted(len(others) - 1, 'more node')}" if len(others) > 1 else ""
            need = "these nodes need" if more else "that node needs"
            place = f"input {others[0].inputs.index(value)} of {naming.node(others[0])}{more}"
            own = f"if {need} it as it is, give {naming.short(node)} one of its own"
            notes.append(f"{naming.called(value)} is also {place}; {own}")
    return notes[:NAMED]


def _deciding(problem: Problem, makers: Makers) -> Iterator[tuple[Node, Value]]:
    """(node, constant) for the constants from which the clashing sizes come, with the nodes that take them."""
    node, fault = problem.node, problem.fault
    if node is None:
        return
    marked = {fault.input, *(index for index, _ in fault.marks)}
    for port, value in enumerate(node.inputs):
        if value is not None and makers.is_constant(value) and (port in marked or _has_axes(value, makers)):
            yield node, value
    for value, axis in Clashes(makers.known, makers).of(problem):
        *_, last = (None, *(each for each, _, _ in steps(value, axis, makers, FARTHEST)))
        size = (shape_of(value, makers.known) or ())[axis]
        for given in last.inputs if last is not None else ():
            if given is not None and makers.is_constant(given) and size in _numbers(given, makers):
                yield last, given


def _has_axes(constant: Value, makers: Makers) -> bool:
    return len(shape_of(constant, makers.known) or ()) > 1


def _numbers(constant: Value, makers: Makers) -> tuple[object, ...]:
    """The sizes of a constant, and its numbers if they are known."""
    known = makers.known.types.get(constant)
    return (*(known.shape or ()), *(known.ints or ())) if isinstance(known, Tensor) else ()
