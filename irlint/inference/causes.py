"""Finds which problem follows from which. A problem that follows from no other is a root; reports show the roots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.findings.faults import Fault, Severity
from irlint.inference.consequences import DECLARED, Consequences
from irlint.inference.known import Known
from irlint.model import Problem
from irlint.model.formats import Format
from irlint.records import replaced


def explained(problems: Sequence[Problem], known: Known) -> list[Problem]:
    """The problems; each that follows from another has its root as ``because``.

    A root is as severe as the worst problem that follows from it. A problem that follows from a fixed size is at most
    as severe as its root.
    """
    roots: Mapping[int, int] = _roots(_causes(problems, known))
    if known.format.ports_declare and roots:
        from irlint.inference.edited_inputs import at_the_break

        problems, roots = at_the_break(problems, roots, known)
    worst = _worst(problems, roots)
    explained = [problem if at in roots else _as_bad_as(problem, worst[at]) for at, problem in enumerate(problems)]
    following: dict[int, list[Problem]] = {}
    for at, root in roots.items():
        following.setdefault(root, []).append(problems[at])
    for at, others in following.items():
        if _may_be_true(explained[at], known.format):
            explained[at] = _with_proof(explained[at], others, known.format)
    return [
        replaced(each, fault=_of_severity(each.fault, worst[at]), because=explained[roots[at]]) if at in roots else each
        for at, each in enumerate(explained)
    ]


def _causes(problems: Sequence[Problem], known: Known) -> dict[int, int]:
    """Maps the index of each problem that is not a root to the index of its direct cause."""
    facts = Consequences(problems, known)
    places = {id(problem): at for at, problem in enumerate(problems)}
    causes: dict[int, int] = {}
    for at, problem in enumerate(problems):
        cause = problem.because or facts.cause(problem)
        if cause is not None and cause is not problem:
            causes[at] = places[id(cause)]
    return causes


def _worst(problems: Sequence[Problem], roots: Mapping[int, int]) -> dict[int, Severity]:
    """The severity of each problem, by its index.

    A root gets the worst severity of the problems that follow from it. A problem that follows from a fixed size gets at
    most the severity of its root.
    """
    worst = {at: problem.fault.severity for at, problem in enumerate(problems)}
    for at, root in roots.items():
        if problems[root].sizes and not problems[at].is_error:
            worst[at] = min(worst[at], worst[root], key=_rank)
        else:
            worst[root] = max(worst[root], problems[at].fault.severity, key=_rank)
    return worst


def _rank(severity: Severity) -> int:
    return severity.rank


def _of_severity(fault: Fault, severity: Severity) -> Fault:
    return fault if fault.severity is severity else fault.lowered(severity)


def _roots(causes: Mapping[int, int]) -> dict[int, int]:
    """Maps each problem that is not a root to its root, both by index; in a cycle, the first problem is the root."""
    found: dict[int, int] = {}
    for at in causes:
        chain: dict[int, int] = {}
        while at in causes and at not in found and at not in chain:
            chain[at] = len(chain)
            at = causes[at]
        root = min(list(chain)[chain[at] :]) if at in chain else found.get(at, at)
        found |= dict.fromkeys(chain, root)
    return {at: found[at] for at in causes if found[at] != at}


def _as_bad_as(problem: Problem, severity: Severity) -> Problem:
    """The problem as a root with this severity."""
    if problem.fault.severity is severity and problem.because is None:
        return problem
    return replaced(problem, fault=problem.fault.lowered(severity), because=None)


def _may_be_true(problem: Problem, form: Format) -> bool:
    """Whether a problem is about a declaration that may be right, so that its node is wrong."""
    is_declared = problem.fault.rule.family == DECLARED and problem.fault.role == "declaration"
    return is_declared and (form.declared_shapes_hold or problem.node is None)


def _with_proof(problem: Problem, following: Sequence[Problem], form: Format) -> Problem:
    """The problem of a declaration; its help names the first error that disappears if the declaration is right."""
    error = next((each for each in following if each.is_error and each.by_rule and each.node is not None), None)
    if error is None or error.node is None:
        return problem
    if problem.node is None:
        help = f"store it as declared, which {error.node.op} {error.node.label!r} accepts"
        return replaced(problem, fault=problem.fault.changed(help=help))
    what = f"{error.fault.rule.code} at {error.node.op} {error.node.label!r}"
    stated = problem.node is not None and problem.node.op in (form.constant_node, form.input_node)
    at_fault = "`shape`" if stated else "this layer, or what leads here"
    help = f"correct {at_fault}: with the declared shape, {what} is fixed"
    return replaced(problem, fault=problem.fault.changed(help=help))
