"""Rules about whole models: each module has a function ``problems`` from what is known of a model to what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from irlint.findings.faults import Severity
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem
from irlint.model.order import live
from irlint.records import replaced


def problems(known: Known) -> list[Problem]:
    """What the checks of its format say of a model."""
    found: list[Problem] = []
    for name in known.format.checks:
        found += import_module(f"{__name__}.{name}").problems(known)
    if any(each.fault.role == "size" for each in found):
        from irlint.checks import size_names

        found = size_names.with_consequences(found, known)
    if not any(problem.is_error for problem in (*known.model.problems, *known.problems, *found)):
        for name in known.format.last_checks:
            found += import_module(f"{__name__}.{name}").problems(known)
    return found


def every_problem(known: Known, targets: Sequence[str] = ()) -> list[Problem]:
    """What the parser, the walk and every check say of a model, each with the problem that it follows from, and as a warning
    where it stands in a layer that the runtime never creates; ``targets`` are releases that have to take it.
    """
    model = known.model
    if model.graph is None:
        return [*model.problems, *known.problems]
    later = [*known.problems, *problems(known)]
    if targets:
        from irlint.checks.targets import of_targets

        later = of_targets(known, targets, later)
    if not (later or model.problems):
        return []
    from irlint.inference.causes import explained

    dead = _dead(model.graph, known.format.keeps_alive)
    found = [_of_idle(_softened(problem, dead), known) for problem in later]
    every = [*model.problems, *_with_causes(later, found)]
    return explained(_with_meant(every, known) if known.format.ports_declare else _with_opsets(every, known), known)


def _with_causes(before: Sequence[Problem], after: Sequence[Problem]) -> list[Problem]:
    """The problems ``after`` a change of some, each that follows from one with what became of it."""
    moved = {id(one): other for one, other in zip(before, after) if one is not other}
    return [
        replaced(each, because=moved[id(each.because)]) if moved and id(each.because) in moved else each
        for each in after
    ]


def _with_opsets(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems; those of operators that begin with a later opset tell what else that changes."""
    if all(each.fault.rule.code != "IRL509" for each in problems):
        return problems
    from irlint.inference.opsets import with_what_else

    return with_what_else(problems, known)


#: The rules about ports that no edge brings a value to, and the families of those that an edge from the wrong layer breaks.
UNFED = frozenset({"IRL105", "IRL108", "IRL507"})
MISLED = frozenset({"broadcasting", "shapes", "element-types", "declarations"})


def _with_meant(problems: list[Problem], known: Known) -> list[Problem]:
    """The problems; those of edges that are missing or lead from the wrong layer tell which are meant."""
    counted = [each.fault for each in problems if each.fault.severity is not Severity.NOTE]
    if any(fault.severity is Severity.ERROR and fault.rule.code in UNFED for fault in counted):
        from irlint.checks.sources import with_sources

        problems = with_sources(problems, known)
    if any(fault.rule.family in MISLED for fault in counted):
        from irlint.checks.edges import with_meant_edges

        problems = with_meant_edges(problems, known)
    return problems


def _dead(graph: Graph, keeps_alive: tuple[str, ...], inside: bool = False) -> set[Node]:
    """The layers that OpenVINO never creates, those in the bodies of such layers among them."""
    alive = set() if inside else live(graph, keeps_alive)
    found = {node for node in graph.nodes if node not in alive}
    for node in graph.nodes:
        for _, body in node.bodies:
            found |= _dead(body, keeps_alive, node in found)
    return found


#: The rules about names inside a graph. A runtime does not build the graph of a function that nothing calls.
NAMES_INSIDE = frozenset({"IRL101", "IRL102", "IRL103", "IRL104"})


def _of_idle(problem: Problem, known: Known) -> Problem:
    """A problem of the names in a function that nothing calls, as a warning; of its outputs, it stays what it is."""
    inside = problem.graph in known.idle and problem.is_error and problem.fault.rule.code in NAMES_INSIDE
    if not inside or (problem.node is None and problem.fault.rule.role == "undefined"):
        return problem
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))


def _softened(problem: Problem, dead: set[Node]) -> Problem:
    if problem.node not in dead or not problem.is_error:
        return problem
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))
