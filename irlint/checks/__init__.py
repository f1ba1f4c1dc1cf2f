"""Rules about whole models: each module has a function ``problems`` from what is known of a model to what it sees."""

from __future__ import annotations

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
    return found


def every_problem(known: Known) -> list[Problem]:
    """What the parser, the walk and every check say of a model, each with the problem that it follows from, and as a warning
    where it stands in a layer that the runtime never creates.
    """
    model = known.model
    if model.graph is None:
        return [*model.problems, *known.problems]
    later = [*known.problems, *problems(known)]
    if not (later or model.problems):
        return []
    from irlint.inference.causes import explained

    dead = _dead(model.graph, known.format.keeps_alive)
    return explained([*model.problems, *(_softened(problem, dead) for problem in later)], known)


def _dead(graph: Graph, keeps_alive: tuple[str, ...], inside: bool = False) -> set[Node]:
    """The layers that OpenVINO never creates, those in the bodies of such layers among them."""
    alive = set() if inside else live(graph, keeps_alive)
    found = {node for node in graph.nodes if node not in alive}
    for node in graph.nodes:
        for _, body in node.bodies:
            found |= _dead(body, keeps_alive, node in found)
    return found


def _softened(problem: Problem, dead: set[Node]) -> Problem:
    if problem.node not in dead or not problem.is_error:
        return problem
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))
