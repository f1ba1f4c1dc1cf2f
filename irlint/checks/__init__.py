"""Checks of complete models. Each module that a format lists in ``checks`` or ``last_checks`` has a function
``problems``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from functools import cache
from importlib import import_module

from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Node, Problem
from irlint.model.formats import Format
from irlint.model.order import live
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.inference.levels import Obstacle


def problems(known: Known) -> list[Problem]:
    """The problems that the ``checks`` of the format find, and those of its ``last_checks``, which run only if there is
    no error yet."""
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


def found(known: Known, targets: Sequence[str] = ()) -> list[Problem]:
    """All problems of a model: of the parser, of inference, of the checks, and of the ``targets``, the releases for
    which the model is intended. Errors of inference, checks and targets get the severity for their place. A model
    without a graph has only problems of the parser and of inference."""
    model = known.model
    if model.graph is None:
        return [*model.problems, *known.problems]
    later = [*known.problems, *problems(known)]
    if any(each.fault.rule.role in ("value", "nan") for each in later):
        from irlint.checks.removed import without_removed

        later = without_removed(later, known)
    if targets:
        from irlint.checks.targets import of_targets

        later = of_targets(known, targets, later)
    if not (later or model.problems):
        return []
    reasons = _reasons(known)
    leveled = [_leveled(each, reasons(each), known.format) if each.is_error else each for each in later]
    return [*model.problems, *with_causes(later, leveled)]


def with_causes(before: Sequence[Problem], after: Sequence[Problem]) -> list[Problem]:
    """The problems ``after``, where each ``because`` that is a problem of ``before`` is replaced by its new version.
    ``after`` has the problems of ``before`` in the same order, some of them changed."""
    moved = {id(one): other for one, other in zip(before, after) if one is not other}
    return [
        replaced(each, because=moved[id(each.because)]) if moved and id(each.because) in moved else each
        for each in after
    ]


def _unused(graph: Graph, keeps_alive: tuple[str, ...], inside: bool = False) -> set[Node]:
    """The layers of a graph and of its bodies that OpenVINO never creates. With ``inside``, the graph is a body of such
    a layer, so OpenVINO creates none of its layers."""
    alive = set() if inside else live(graph, keeps_alive)
    found = {node for node in graph.nodes if node not in alive}
    for node in graph.nodes:
        for _, body in node.bodies:
            found |= _unused(body, keeps_alive, node in found)
    return found


def _reasons(known: Known) -> Callable[[Problem], list[Obstacle]]:
    """A function that returns the reasons for which a runtime does not run the place of a problem.

    The layer is never created, its function is never called, or only the shape of its output is needed. For an
    undefined output of an uncalled function there is no reason, because every runtime examines the outputs of
    functions.
    """
    graph = known.model.graph
    assert graph is not None
    unused = _unused(graph, known.format.keeps_alive)

    @cache
    def compiled() -> Container[Node]:
        from irlint.checks.compiling import Sources

        return Sources(graph, known).needed

    def reasons(problem: Problem) -> list[Obstacle]:
        found: list[Obstacle] = ["unused"] if problem.node in unused else []
        if problem.graph in known.uncalled and not (problem.node is None and problem.fault.rule.role == "undefined"):
            found.append("uncalled")
        if problem.fault.stage == "compile" and not problem.graph and problem.node not in compiled():
            found.append("shape only")
        return found

    return reasons


def _leveled(problem: Problem, reasons: Collection[Obstacle], form: Format) -> Problem:
    """The problem with the severity that ``reasons`` not to run its place leave; unchanged if there are none."""
    if not reasons:
        return problem
    from irlint.inference.levels import leveled

    fault = leveled(problem.fault, reasons, form)
    return problem if fault is None or fault is problem.fault else replaced(problem, fault=fault)
