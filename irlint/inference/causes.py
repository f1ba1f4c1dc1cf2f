"""Finds the root of each problem: the problem that causes it and that has no cause itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import elements
from irlint.findings.faults import Fault, Severity
from irlint.inference.consequences import DECLARED, Consequences
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.model.formats import Format
from irlint.model.tensor import shape_text, tensor_shape
from irlint.records import replaced


def explained(problems: Sequence[Problem], known: Known) -> list[Problem]:
    """The problems. Each has its root as ``because``, and the severity that ``_severities`` gives it."""
    roots: Mapping[int, int] = _roots(_causes(problems, known))
    if known.format.ports_declare and roots:
        from irlint.inference.edited_inputs import with_roots_of_edits

        problems, roots = with_roots_of_edits(problems, roots, known)
    severities = _severities(problems, roots)
    explained = [problem if at in roots else _as_root(problem, severities[at]) for at, problem in enumerate(problems)]
    following: dict[int, list[Problem]] = {}
    for at, root in roots.items():
        following.setdefault(root, []).append(problems[at])
    for at, others in following.items():
        if _may_be_right(explained[at], known.format):
            explained[at] = _with_help(explained[at], others, known)
    return [
        replaced(problem, fault=_of_severity(problem.fault, severities[at]), because=explained[roots[at]])
        if at in roots
        else problem
        for at, problem in enumerate(explained)
    ]


def _causes(problems: Sequence[Problem], known: Known) -> dict[int, int]:
    """The index of each problem's direct cause, by the index of the problem. Roots are missing."""
    consequences = Consequences(problems, known)
    places = {id(problem): at for at, problem in enumerate(problems)}
    causes: dict[int, int] = {}
    for at, problem in enumerate(problems):
        cause = problem.because or consequences.cause(problem)
        if cause is not None and cause is not problem:
            causes[at] = places[id(cause)]
    return causes


def _severities(problems: Sequence[Problem], roots: Mapping[int, int]) -> dict[int, Severity]:
    """The severity of each problem, by its index.

    A root is as severe as the worst problem that follows from it. A warning or note that follows from a fixed size is
    at most as severe as its root.
    """
    severities = {at: problem.fault.severity for at, problem in enumerate(problems)}
    for at, root in roots.items():
        if problems[root].sizes and not problems[at].is_error:
            severities[at] = min(severities[at], severities[root], key=_rank)
        else:
            severities[root] = max(severities[root], problems[at].fault.severity, key=_rank)
    return severities


def _rank(severity: Severity) -> int:
    return severity.rank


def _of_severity(fault: Fault, severity: Severity) -> Fault:
    return fault if fault.severity is severity else fault.lowered(severity)


def _roots(causes: Mapping[int, int]) -> dict[int, int]:
    """The index of each problem's root, by the index of the problem. The root of a cycle is its first problem."""
    found: dict[int, int] = {}
    for at in causes:
        places: dict[int, int] = {}
        while at in causes and at not in found and at not in places:
            places[at] = len(places)
            at = causes[at]
        cycle = list(places)[places[at] :] if at in places else []
        found |= dict.fromkeys(places, min(cycle) if cycle else found.get(at, at))
    return {at: found[at] for at in causes if found[at] != at}


def _as_root(problem: Problem, severity: Severity) -> Problem:
    if problem.fault.severity is severity and problem.because is None:
        return problem
    return replaced(problem, fault=problem.fault.lowered(severity), because=None)


def _may_be_right(problem: Problem, form: Format) -> bool:
    """Whether the declaration that ``problem`` refuses may be right, so that the node or constant is wrong."""
    is_declared = problem.fault.rule.family == DECLARED and problem.fault.role == "declaration"
    return is_declared and (form.declared_shapes_hold or problem.node is None)


def _with_help(problem: Problem, following: Sequence[Problem], known: Known) -> Problem:
    """The problem of a declaration, with a help that names the first error in ``following``."""
    error = next((other for other in following if other.is_error and other.by_rule and other.node is not None), None)
    if error is None or error.node is None:
        return problem
    if problem.node is None:
        help = f"store it as declared, which {error.node.op} {error.node.label!r} accepts"
        return replaced(problem, fault=problem.fault.changed(help=help))
    what = f"{error.fault.rule.code} at {error.node.op} {error.node.label!r}"
    has_shape = problem.node.op in (known.format.constant_node, known.format.input_node)
    at_fault = "`shape`" if has_shape else "this layer, or what leads here"
    help = f"correct {at_fault}: with the declared shape, {what} is fixed"
    if not _fits_bytes(problem.node, known):
        shape = shape_text(tensor_shape(problem.node.output_ports[0].type))
        help = f"store the constant again with the declared shape {shape}: then {what} is fixed"
    return replaced(problem, fault=problem.fault.changed(help=help))


def _fits_bytes(node: Node, known: Known) -> bool:
    """Whether the number of a constant's stored bytes fits the shape that its output port declares.

    True for a node that is no constant, and for unknown sizes.
    """
    value, graph = node.outputs[0] if node.outputs else None, known.model.graph
    constant = graph.constants.get(value) if graph is not None and value is not None else None
    declared = [dim for dim in (node.output_ports[0].type.shape or ()) if isinstance(dim, int)] if constant else []
    if constant is None or constant.stored is None or constant.stored.size is None:
        return True
    from irlint.parsers.weights import byte_size

    needed = byte_size(constant.tensor.dtype, elements(tuple(declared)))
    return needed is None or constant.stored.size == needed
