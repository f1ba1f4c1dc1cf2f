"""Rules about whole models: each is a function from what is known of a model to the problems that it sees."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from irlint.diagnostics import Severity
from irlint.model import Graph, Model, Node, Problem, live
from irlint.propagate import Known
from irlint.records import replaced

#: The modules of this package; each has a function ``problems(known)``.
CHECKS = ("structure", "variables", "constants", "declared")


def problems(known: Known) -> list[Problem]:
    """What every check says of a model."""
    found: list[Problem] = []
    for name in CHECKS:
        found += import_module(f"{__name__}.{name}").problems(known)
    return found


def every_problem(known: Known) -> list[Problem]:
    """What the parser, the walk and every check say of a model: each mistake once, and as a warning where it stands in a
    layer that OpenVINO never creates.
    """
    model = known.model
    if model.graph is None:
        return [*model.problems, *known.problems]
    later = [*known.problems, *problems(known)]
    if model.format != "openvino" or not (later or model.problems):
        return [*model.problems, *later]
    from irlint.checks.consequences import once

    dead = _dead(model.graph)
    return once([*model.problems, *(_softened(problem, dead) for problem in later)], known)


def is_error(problem: Problem) -> bool:
    """Whether a problem is told as an error."""
    return (problem.fault.severity or problem.fault.rule.severity) is Severity.ERROR


def _dead(graph: Graph, inside: bool = False) -> set[Node]:
    """The layers that OpenVINO never creates, those in the bodies of such layers among them."""
    alive = set() if inside else live(graph)
    found = {node for node in graph.nodes if node not in alive}
    for node in graph.nodes:
        for _, body in node.bodies:
            found |= _dead(body, node in found)
    return found


def _softened(problem: Problem, dead: set[Node]) -> Problem:
    if problem.node not in dead or not is_error(problem):
        return problem
    return replaced(problem, fault=problem.fault.lowered(Severity.WARNING))


def graphs(model: Model) -> Iterator[Graph]:
    """Every graph of a model: the main one, the bodies inside it, and the functions."""
    waiting = [function.graph for function in reversed(tuple(model.functions.values()))]
    if model.graph is not None:
        waiting.append(model.graph)
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += reversed([body for node in graph.nodes for _, body in node.bodies])
