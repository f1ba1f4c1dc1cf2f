"""Checks of complete models. A format lists modules of this package in ``checks`` and ``last_checks``. Each of these
modules has a function ``problems``."""

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
    """The problems that the ``checks`` of the format find. If the model has no error so far, also those of its
    ``last_checks``."""
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
    """All problems of a model: of the parser, of inference, of the checks, and of ``targets``.

    ``targets`` are the runtime releases for which the model is intended. An error of inference, checks or targets gets
    a lower severity if no runtime runs its place. A model without a graph has only problems of the parser and of
    inference.
    """
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
    """The problems ``after``. If ``because`` of a problem is a problem of ``before``, it becomes the one of ``after``.

    ``after`` has the same problems as ``before``, in the same order, with other contents.
    """
    moved = {id(one): other for one, other in zip(before, after) if one is not other}
    return [
        replaced(each, because=moved[id(each.because)]) if moved and id(each.because) in moved else each
        for each in after
    ]


def _unused(graph: Graph, keeps_alive: tuple[str, ...], inside: bool = False) -> set[Node]:
    """The layers of a graph and of its bodies that OpenVINO never creates.

    If ``inside``, the graph is the body of a layer that OpenVINO never creates. Then it creates no layer of the body.
    """
    alive = set() if inside else live(graph, keeps_alive)
    found = {node for node in graph.nodes if node not in alive}
    for node in graph.nodes:
        for _, body in node.bodies:
            found |= _unused(body, keeps_alive, node in found)
    return found


def _reasons(known: Known) -> Callable[[Problem], list[Obstacle]]:
    """A function that returns the reasons why a runtime does not run the place of a problem.

    The reasons are: the layer is never created, the function is never called, or only the shape of the layer's output
    is needed. An undefined output of an uncalled function has no reason: every runtime examines the outputs of
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
    """The problem with the severity that it has if a runtime does not run its place for ``reasons``. Without reasons,
    the problem is unchanged."""
    if not reasons:
        return problem
    from irlint.inference.levels import leveled

    fault = leveled(problem.fault, reasons, form)
    return problem if fault is None or fault is problem.fault else replaced(problem, fault=fault)
