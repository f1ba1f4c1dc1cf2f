"""Finds problems at several nodes with one cause: a wrong constant, or layers with the same id.

The stored type of a stale constant differs from its declared type.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from irlint.inference.contradictions import differ
from irlint.inference.known import Known
from irlint.inference.questions import asked_again, outputs_for
from irlint.inference.unknowns import filled
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, Type
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED

#: The family of rules about declarations.
DECLARED = "declarations"


def first_refused(problem: Problem, refused: Mapping[Value, Sequence[Problem]], known: Known) -> Problem | None:
    """The problem of the first node that refuses the constant that ``problem`` refuses.

    None if ``problem`` is the first one, or if the refused value is no small constant.
    """
    value = _refused_value(problem)
    stored = known.types.get(value) if value is not None else None
    if value is None or not isinstance(stored, Tensor) or stored.value is None:
        return None
    first = next((other for other in refused.get(value, ()) if _refused_value(other) is value), problem)
    return None if first is problem else first


def _refused_value(problem: Problem) -> Value | None:
    """The value with the refused element type, or None."""
    node, index = problem.node, problem.fault.input
    if problem.fault.rule is not ELEMENT_TYPE_REFUSED or not problem.by_rule or node is None or index is None:
        return None
    return node.inputs[index] if index < len(node.inputs) else None


def ambiguous_outputs(problems: Sequence[Problem], known: Known) -> dict[Value, Problem]:
    """The problem of an id that several layers have, for each output of these layers."""
    by_id = {
        (problem.graph, problem.node.id): problem
        for problem in problems
        if problem.fault.loses and problem.node is not None
    }
    return {
        value: by_id[graph.path, node.id]
        for graph in graphs(known.model)
        for node in graph.nodes
        if (graph.path, node.id) in by_id
        for value in node.outputs
        if value is not None
    }


def causes_of_stale(problems: Sequence[Problem], known: Known) -> dict[int, Problem]:
    """The causes of problems that disappear with the declared type of a stale constant, by the ids of the problems.

    If the problem of the declaration is an error, it is the cause. Otherwise the first error of a node that uses the
    constant is the cause. For a value that is computed from the constant, the problem of the declaration is always the
    cause.
    """
    stale = _stale(problems, known)
    if not stale:
        return {}
    computed = _computed_from_stale(problems, stale, known)
    found = {id(problem): cause for problem, cause in computed.values()}
    doubted = {*stale, *computed}
    first: dict[Value, Problem] = {}
    for problem in problems:
        if problem.node is None or not problem.by_rule or not problem.is_error:
            continue
        value = next((operand for operand in problem.node.inputs if operand in doubted), None)
        if value is None or not _disappears_as_declared(problem, doubted, known):
            continue
        if value in computed or stale[value].is_error:
            found[id(problem)] = computed[value][1] if value in computed else stale[value]
            continue
        root = first.setdefault(value, problem)
        if root is not problem:
            found[id(problem)] = root
    for value, root in first.items():
        found[id(stale[value])] = root
    return found


def _computed_from_stale(
    problems: Sequence[Problem], stale: Mapping[Value | None, Problem], known: Known
) -> dict[Value | None, tuple[Problem, Problem]]:
    """The values that have their declared types if the ``stale`` constants have their declared types.

    Each is mapped to (problem of the value's declaration, problem of the constant's declaration).
    """
    found: dict[Value | None, tuple[Problem, Problem]] = {}
    causes: dict[int, Problem] = {}
    for problem in problems:
        node = problem.node
        if node is None or problem.fault.rule.family != DECLARED:
            continue
        port = _declared_port(problem, node)
        if port is None:
            continue
        cause = causes.get(id(problem.because))
        if problem.because is None and _is_as_declared(node, port, stale, known):
            cause = next((stale[operand] for operand in node.inputs if operand in stale), None)
        if cause is not None:
            causes[id(problem)] = cause
            found[node.outputs[port]] = problem, cause
    return found


def _declared_port(problem: Problem, node: Node) -> int | None:
    """The index of the output whose declaration has the problem, or None."""
    ports = (port for port, value in enumerate(node.outputs) if value is not None and value.name == problem.value)
    return next(ports, None)


def _is_as_declared(node: Node, port: int, stale: Container[Value | None], known: Known) -> bool:
    """Whether the output has its declared type if the ``stale`` inputs have their declared types."""
    value = node.outputs[port]
    if value is None or not any(operand in stale for operand in node.inputs):
        return False
    outputs = outputs_for(known, node, _inputs_as_declared(node, stale, known))
    if outputs is None or port >= len(outputs):
        return False
    return not any(differ(outputs[port], declaration.type) for declaration in value.declared)


def _stale(problems: Sequence[Problem], known: Known) -> dict[Value | None, Problem]:
    """The stale constants, each with the problem of its declaration."""
    named = {
        (problem.graph, problem.value): problem
        for problem in problems
        if problem.fault.rule.family == DECLARED and not problem.node
    }
    if not named:
        return {}
    return {
        value: named[graph.path, value.name]
        for graph in graphs(known.model)
        for value in graph.constants
        if value.declared and (graph.path, value.name) in named
    }


def _disappears_as_declared(problem: Problem, stale: Container[Value | None], known: Known) -> bool:
    """Whether the problem disappears if the ``stale`` inputs have their declared types."""
    assert problem.node is not None
    answer = asked_again(known, problem.node, _inputs_as_declared(problem.node, stale, known))
    if answer is None or answer.outputs is None:
        return False
    return all(fault.rule is not problem.fault.rule for fault in answer.faults)


def _inputs_as_declared(node: Node, stale: Container[Value | None], known: Known) -> list[Type | None]:
    declared = {value: _as_declared(value, known) for value in node.inputs if value is not None and value in stale}
    return known.types_of(node.inputs, declared)


def _as_declared(value: Value, known: Known) -> Type | None:
    """The declared type of a value, with the stored values if only the element type differs."""
    stored, declared = known.types.get(value), value.type
    if not isinstance(stored, Tensor) or not isinstance(declared, Tensor):
        return declared
    merged = filled(Tensor(declared.dtype, declared.shape), Tensor(stored.dtype, stored.shape))
    if isinstance(merged, Tensor) and merged.shape == stored.shape:
        return Tensor(merged.dtype, merged.shape, stored.value, stored.extent)
    return merged
