"""Finds edited inputs of an IR: the shape of an input was changed, but the ports that use it declare the old shape.

The first error of an operator is then the root, and the problems of the ports follow from this error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.inference.known import Known
from irlint.model import Graph, Node, Port, Problem, Value
from irlint.model.tensor import Tensor, shape_text
from irlint.records import replaced


def with_roots_of_edits(
    problems: Sequence[Problem], roots: Mapping[int, int], known: Known
) -> tuple[Sequence[Problem], Mapping[int, int]]:
    """(the problems, the index of each problem's root). The first error after an edited input is a root."""
    following: dict[int, list[int]] = {}
    for at, root in roots.items():
        following.setdefault(root, []).append(at)
    makers = _makers_of_inputs(known.model.graph)
    ports = {at: port for at in following if (port := _port_of_an_input(problems[at], makers)) is not None}
    ports_of: dict[Value, list[int]] = {}
    for at, (_, value, _) in ports.items():
        ports_of.setdefault(value, []).append(at)
    explained, new_roots = list(problems), dict(roots)
    for at, (_, value, _) in ports.items():
        if at in new_roots:
            continue
        same = ports_of[value]
        every = [at for root in same for at in following[root]]
        error = min((at for at in every if _is_error_of_rule(problems[at])), default=None)
        if error is None:
            continue
        new_roots.update(dict.fromkeys(every, error))
        new_roots.update(dict.fromkeys(same, error))
        del new_roots[error]
        explained[error] = _with_note(problems[error], *ports[at], known)
    return explained, new_roots


def _makers_of_inputs(graph: Graph | None) -> dict[Value, Node]:
    inputs = frozenset(() if graph is None else graph.inputs)
    nodes = () if graph is None else graph.nodes
    return {value: node for node in nodes for value in node.outputs if value in inputs}


def _port_of_an_input(problem: Problem, makers: Mapping[Value, Node]) -> tuple[Port, Value, Node] | None:
    """(the port at fault, the connected model input, the node of this input), or None."""
    node = problem.node
    if node is None or problem.graph or problem.value is not None or problem.fault.role != "declaration":
        return None
    for port, value in zip(node.input_ports, node.inputs):
        if value is not None and value in makers and problem.place == node.located(port.place):
            return port, value, makers[value]
    return None


def _is_error_of_rule(problem: Problem) -> bool:
    return problem.is_error and problem.by_rule and problem.node is not None and not problem.graph


def _with_note(problem: Problem, port: Port, value: Value, maker: Node, known: Known) -> Problem:
    inferred = known.types.get(value)
    if not isinstance(inferred, Tensor):
        return problem
    note = (
        f"{maker.op} {maker.label!r} (layer {maker.id}) is {shape_text(inferred.shape)}, and the ports that it leads "
        f"to declare {shape_text(port.type.shape)}; that shape fixes this"
    )
    return replaced(problem, fault=problem.fault.changed(notes=(*problem.fault.notes, note)))
