"""Searches the edits that fix an error in a body: as in the main graph, and then each edit is tried in the file."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.outcomes import Outcome
from irlint.fixes.rechecking import Rechecked
from irlint.fixes.search import Found, Search
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.model import Graph, Problem
from irlint.model.order import graphs
from irlint.records import replaced

#: The best edits are given up if the file refuses so many.
REFUSED = 3

#: The kinds of edits that other graphs know nothing of.
INSIDE = ("attribute", "input", "constant")


def found_in_body(problem: Problem, known: Known, problems: Sequence[Problem], rechecked: Rechecked) -> Found | None:
    """The best edits of the body of an error that its file confirms; None if there are none."""
    by_path = {graph.path: graph for graph in graphs(known.model)}
    graph = by_path.get(problem.graph)
    if graph is None:
        return None
    own = {id(each): replaced(each, graph="") for each in problems if each.graph == problem.graph}
    own.setdefault(id(problem), replaced(problem, graph=""))
    search = Search(known, graph, Makers(known), list(own.values()), None)
    others = (node for each in by_path.values() if each is not graph for node in each.nodes)
    elsewhere = {value.name for node in others for value in node.inputs if value is not None}
    refused: list[tuple[Edit, ...]] = []
    while len(refused) < REFUSED and (found := search.best(own[id(problem)], refused)) is not None:
        alternatives = [tuple(_placed(each, problem.graph, by_path) for each in edits) for edits in found.alternatives]
        outcomes = [_outcome(edits, problem, rechecked, elsewhere) for edits in alternatives]
        if outcomes[0] is not None and None not in outcomes:
            return replaced(found, alternatives=tuple(alternatives), outcome=outcomes[0], or_help=False)
        refused += found.alternatives
    return None


def _outcome(
    edits: Sequence[Edit], problem: Problem, rechecked: Rechecked, elsewhere: Container[str]
) -> Outcome | None:
    """The outcome of edits for the file; None if they change more than the body, such as a constant that nodes
    ``elsewhere`` use, or leave what follows from the problem."""
    for each in edits:
        if each.kind not in INSIDE or each.of == "shape" or (each.kind == "constant" and each.name in elsewhere):
            return None
    outcome = rechecked.outcome(edits, problem)
    follow = {id(each) for each in rechecked.problems if each.because is problem}
    return outcome if outcome is not None and follow <= {id(each) for each in outcome.fixed} else None


def _placed(edit: Edit, path: str, by_path: Mapping[str, Graph]) -> Edit:
    """The edit in a graph: that of the body, or for a constant the nearest graph around it that has the constant."""
    if edit.kind == "constant":
        holding = [each for each, graph in by_path.items() if any(held.name == edit.name for held in graph.constants)]
        around = [each for each in holding if each == path or not each or path.startswith(f"{each}/")]
        path = max(around, key=len, default=path)
    return replaced(edit, graph=path)
