"""Finds problems at several nodes with one cause: they use the same wrong constant, or layers with the same id.

A stale constant is one whose stored type differs from the type that the file declares for it.
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
    """The problem of the first node that refuses the type of a constant, if this one is about the same constant."""
    value = _refused(problem)
    given = known.types.get(value) if value is not None else None
    if value is None or not isinstance(given, Tensor) or given.value is None:
        return None
    first = next((each for each in refused.get(value, ()) if _refused(each) is value), problem)
    return None if first is problem else first


def _refused(problem: Problem) -> Value | None:
    """The value whose element type a problem is about, or None."""
    node, index = problem.node, problem.fault.input
    if problem.fault.rule is not ELEMENT_TYPE_REFUSED or not problem.by_rule or node is None or index is None:
        return None
    return node.inputs[index] if index < len(node.inputs) else None


def named_twice(problems: Sequence[Problem], known: Known) -> dict[Value, Problem]:
    """The outputs of layers whose id another layer has, each with the problem of the id."""
    losing = {(each.graph, each.node.id): each for each in problems if each.fault.loses and each.node is not None}
    return {
        value: losing[graph.path, node.id]
        for graph in graphs(known.model)
        for node in graph.nodes
        if (graph.path, node.id) in losing
        for value in node.outputs
        if value is not None
    }


def unlike_declared(problems: Sequence[Problem], known: Known) -> dict[int, Problem]:
    """The causes of problems that disappear if a stale constant has its declared type, by the ids of the problems.

    If the declaration of the constant is an error, the problems of its users follow from it. Otherwise all of them, and
    the declaration, follow from the error of the first user. If a user works, wrong declarations and errors after it
    follow from the declaration of the constant.
    """
    stale = _stale(problems, known)
    if not stale:
        return {}
    behind = _declared_behind(problems, stale, known)
    found = {id(problem): cause for problem, cause in behind.values()}
    doubted = {*stale, *behind}
    first: dict[Value, Problem] = {}
    for problem in problems:
        if problem.node is None or not problem.by_rule or not problem.is_error:
            continue
        value = next((each for each in problem.node.inputs if each in doubted), None)
        if value is None or not _is_gone_as_declared(problem, doubted, known):
            continue
        if value in behind or stale[value].is_error:
            found[id(problem)] = behind[value][1] if value in behind else stale[value]
            continue
        root = first.setdefault(value, problem)
        if root is not problem:
            found[id(problem)] = root
    for value, root in first.items():
        found[id(stale[value])] = root
    return found


def _declared_behind(
    problems: Sequence[Problem], stale: Mapping[Value | None, Problem], known: Known
) -> dict[Value | None, tuple[Problem, Problem]]:
    """The values computed from ``stale`` constants that would have their declared types if the constants did.

    Each has the problem of its own declaration and the problem of the constant.
    """
    found: dict[Value | None, tuple[Problem, Problem]] = {}
    heads: dict[int, Problem] = {}
    for problem in problems:
        node = problem.node
        if node is None or problem.fault.rule.family != DECLARED:
            continue
        port = _declared_port(problem, node)
        if port is None:
            continue
        cause = heads.get(id(problem.because))
        if problem.because is None and _is_as_declared(node, port, stale, known):
            cause = next((stale[each] for each in node.inputs if each in stale), None)
        if cause is not None:
            heads[id(problem)] = cause
            found[node.outputs[port]] = problem, cause
    return found


def _declared_port(problem: Problem, node: Node) -> int | None:
    """The index of the output that the problem of a declaration is about, or None."""
    named = (port for port, each in enumerate(node.outputs) if each is not None and each.name == problem.value)
    return next(named, None)


def _is_as_declared(node: Node, port: int, stale: Container[Value | None], known: Known) -> bool:
    """Whether the output ``port`` has its declared type if the ``stale`` inputs of the node have theirs."""
    value = node.outputs[port]
    if value is None or not any(each in stale for each in node.inputs):
        return False
    outputs = outputs_for(known, node, _inputs_as_declared(node, stale, known))
    if outputs is None or port >= len(outputs):
        return False
    return not any(differ(outputs[port], each.type) for each in value.declared)


def _stale(problems: Sequence[Problem], known: Known) -> dict[Value | None, Problem]:
    """The stale constants, each with the problem of its declaration."""
    named = {
        (each.graph, each.value): each for each in problems if each.fault.rule.family == DECLARED and not each.node
    }
    if not named:
        return {}
    return {
        value: named[graph.path, value.name]
        for graph in graphs(known.model)
        for value in graph.constants
        if value.declared and (graph.path, value.name) in named
    }


def _is_gone_as_declared(problem: Problem, stale: Container[Value | None], known: Known) -> bool:
    """Whether the problem of a node disappears if its ``stale`` inputs have their declared types."""
    assert problem.node is not None
    answer = asked_again(known, problem.node, _inputs_as_declared(problem.node, stale, known))
    if answer is None or answer.outputs is None:
        return False
    return all(each.rule is not problem.fault.rule for each in answer.faults)


def _inputs_as_declared(node: Node, stale: Container[Value | None], known: Known) -> list[Type | None]:
    declared = {value: _as_declared(value, known) for value in node.inputs if value is not None and value in stale}
    return known.types_of(node.inputs, declared)


def _as_declared(value: Value, known: Known) -> Type | None:
    """The declared type of a constant; if only the element type differs, with the stored values."""
    stored, declared = known.types.get(value), value.type
    if not isinstance(stored, Tensor) or not isinstance(declared, Tensor):
        return declared
    alike = filled(Tensor(declared.dtype, declared.shape), Tensor(stored.dtype, stored.shape))
    if isinstance(alike, Tensor) and alike.shape == stored.shape:
        return Tensor(alike.dtype, alike.shape, stored.value, stored.extent)
    return alike
