"""Values that one mistake makes wrong at several nodes: a constant of a type that they refuse, or that is not what the
file declares, and what layers of one id give."""

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
    """The problem of the first node that refuses the type of a constant, where this is that of a later one."""
    value = _refused(problem)
    given = known.types.get(value) if value is not None else None
    if value is None or not isinstance(given, Tensor) or given.value is None:
        return None
    first = next((each for each in refused.get(value, ()) if _refused(each) is value), problem)
    return None if first is problem else first


def _refused(problem: Problem) -> Value | None:
    """The value whose element type a problem is about."""
    node, index = problem.node, problem.fault.input
    if problem.fault.rule is not ELEMENT_TYPE_REFUSED or not problem.by_rule or node is None or index is None:
        return None
    return node.inputs[index] if index < len(node.inputs) else None


def named_twice(problems: Sequence[Problem], known: Known) -> dict[Value, Problem]:
    """What the layers give whose id another layer of the graph has, each with the problem that says so."""
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
    """By their identities, the problems that go away where a stored constant is as declared in the file, each with its
    cause.

    Where the declaration of the constant is an error, those of its users follow from it; else all of them follow from
    the error of the first user. Declarations behind a user that works follow from that of the constant, and errors
    behind them as well.
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
    """The values that nodes make of ``stale`` constants and that would be as they are declared where the constants
    were, each with the problem of its declaration and with that of the constant."""
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
    """The output of a node that the problem of a declaration is about."""
    named = (port for port, each in enumerate(node.outputs) if each is not None and each.name == problem.value)
    return next(named, None)


def _is_as_declared(node: Node, port: int, stale: Container[Value | None], known: Known) -> bool:
    """Whether a node has ``stale`` inputs, and an output is what the file declares of it where these are so, too."""
    value = node.outputs[port]
    if value is None or not any(each in stale for each in node.inputs):
        return False
    outputs = outputs_for(known, node, _inputs_as_declared(node, stale, known))
    if outputs is None or port >= len(outputs):
        return False
    return not any(differ(outputs[port], each.type) for each in value.declared)


def _stale(problems: Sequence[Problem], known: Known) -> dict[Value | None, Problem]:
    """The constants of which the file declares something else than is stored, each with the problem of that."""
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
    """Whether the problem of a node goes away where its ``stale`` inputs are as they are declared."""
    assert problem.node is not None
    answer = asked_again(known, problem.node, _inputs_as_declared(problem.node, stale, known))
    if answer is None or answer.outputs is None:
        return False
    return all(each.rule is not problem.fault.rule for each in answer.faults)


def _inputs_as_declared(node: Node, stale: Container[Value | None], known: Known) -> list[Type | None]:
    declared = {value: _as_declared(value, known) for value in node.inputs if value is not None and value in stale}
    return known.types_of(node.inputs, declared)


def _as_declared(value: Value, known: Known) -> Type | None:
    """The declared type of a constant; with the stored contents where only the element type is another one."""
    stored, declared = known.types.get(value), value.type
    if not isinstance(stored, Tensor) or not isinstance(declared, Tensor):
        return declared
    alike = filled(Tensor(declared.dtype, declared.shape), Tensor(stored.dtype, stored.shape))
    if isinstance(alike, Tensor) and alike.shape == stored.shape:
        return Tensor(alike.dtype, alike.shape, stored.value, stored.extent)
    return alike
