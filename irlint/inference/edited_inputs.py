"""Inputs whose shape was changed in an IR while its ports kept the old one: the error that this leads to is what counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.inference.known import Known
from irlint.model import Node, Port, Problem, Value
from irlint.model.tensor import Tensor, shape_text
from irlint.records import replaced


def at_the_break(
    problems: Sequence[Problem], roots: Mapping[int, int], known: Known
) -> tuple[Sequence[Problem], Mapping[int, int]]:
    """The problems and the roots of those that follow from others: of ports that contradict an input of the model, the first error of
    an operator that follows stands for itself, and they follow from it."""
    ports = {
        at: port for at in dict.fromkeys(roots.values()) if (port := _port_of_an_input(problems[at], known)) is not None
    }
    told, moved = list(problems), dict(roots)
    for at, (_, value, _) in ports.items():
        if at in moved:
            continue
        same = [other for other, (_, given, _) in ports.items() if given is value]
        error = next((each for each, root in roots.items() if root in same and _breaks(problems[each])), None)
        if error is None:
            continue
        moved.update({each: error for each, root in roots.items() if root in same})
        moved.update(dict.fromkeys(same, error))
        del moved[error]
        told[error] = _with_note(problems[error], *ports[at], known)
    return told, moved


def _port_of_an_input(problem: Problem, known: Known) -> tuple[Port, Value, Node] | None:
    """The input port that a problem is about, the value of an input of the model that it gets, and the node that is this input."""
    node, graph = problem.node, known.model.graph
    if (
        node is None
        or graph is None
        or problem.graph
        or problem.value is not None
        or problem.fault.role != "declaration"
    ):
        return None
    for port, value in zip(node.input_ports, node.inputs):
        if value is not None and value in graph.inputs and problem.place == node.located(port.place):
            maker = next((each for each in graph.nodes if value in each.outputs), None)
            return None if maker is None else (port, value, maker)
    return None


def _breaks(problem: Problem) -> bool:
    return problem.is_error and problem.by_rule and problem.node is not None and not problem.graph


def _with_note(problem: Problem, port: Port, value: Value, maker: Node, known: Known) -> Problem:
    """The error with the two shapes of the input."""
    given = known.types.get(value)
    if not isinstance(given, Tensor):
        return problem
    note = (
        f"{maker.op} {maker.label!r} (layer {maker.id}) is {shape_text(given.shape)}, and the ports that it leads to declare "
        f"{shape_text(port.type.shape)}: with that shape this is gone"
    )
    return replaced(problem, fault=problem.fault.changed(notes=(*problem.fault.notes, note)))
