"""Searches the edits that fix an error in a body, and checks the complete file with these edits."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from irlint.findings.edits import Edit
from irlint.findings.faults import ELEMENT_TYPES
from irlint.fixes.inserted import CAST
from irlint.fixes.node_edits import NodeEdits
from irlint.fixes.rechecking import Outcome, Rechecked
from irlint.fixes.search import Found, Search
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.model import Graph, Problem
from irlint.model.order import graphs, uses
from irlint.records import replaced

#: The search ends after this many edits that do not pass the check of the file.
REFUSED = 3

#: The kinds of edits that change one graph only.
INSIDE = ("attribute", "input", "constant")


def found_in_body(problem: Problem, known: Known, problems: Sequence[Problem], rechecked: Rechecked) -> Found | None:
    """The best edits for an error in a body; None if none passes the check of the file."""
    by_path = {graph.path: graph for graph in graphs(known.model)}
    graph = by_path.get(problem.graph)
    if graph is None:
        return None
    for edits in _reading_casts(problem, known, graph):
        outcome = rechecked.outcome(edits, problem)
        if outcome is not None:
            return Found((edits,), outcome, sure=True, written=True, or_help=False)
    own = {id(each): replaced(each, graph="") for each in problems if each.graph == problem.graph}
    own.setdefault(id(problem), replaced(problem, graph=""))
    search = Search(known, graph, Makers(known), list(own.values()), None)
    others = (node for each in by_path.values() if each is not graph for node in each.nodes)
    elsewhere = {value.name for node in others for value in node.inputs if value is not None}
    refused: list[tuple[Edit, ...]] = []
    while len(refused) < REFUSED and (found := search.best(own[id(problem)], refused)) is not None:
        alternatives = [tuple(_placed(each, problem.graph, by_path) for each in edits) for edits in found.alternatives]
        outcomes = [(edits, _outcome(edits, problem, rechecked, elsewhere)) for edits in alternatives]
        passed = {edits: outcome for edits, outcome in outcomes if outcome is not None}
        if passed:
            return replaced(found, alternatives=tuple(passed), outcome=next(iter(passed.values())), or_help=False)
        refused += found.alternatives
    return None


def _reading_casts(problem: Problem, known: Known, graph: Graph) -> Iterator[tuple[Edit, ...]]:
    """Connects, for a problem of element types, the result of the only Cast of a value that the body captures.

    Programs that convert a model to another type insert such a Cast for the nodes of the main graph only.
    """
    main = known.model.graph
    if problem.fault.rule.family != ELEMENT_TYPES or main is None:
        return
    makers = NodeEdits(known, Makers(known))
    for value in graph.captured:
        casts = [node for node in main.nodes if node.op == CAST and value in node.inputs]
        result = casts[0].outputs[0] if len(casts) == 1 and casts[0].outputs else None
        places = uses(value, graph.nodes)
        if result is not None and places:
            edits = (makers.connected(result, node, port) for node, port in places)
            yield tuple(replaced(edit, graph=problem.graph) for edit in edits)


def _outcome(
    edits: Sequence[Edit], problem: Problem, rechecked: Rechecked, elsewhere: Container[str]
) -> Outcome | None:
    """The outcome of edits for the complete file. None if a problem that follows from this one remains, if the faulty
    node then depends on a state of unknown size, or if the edits change another graph (except the element type of an
    input of the model)."""
    inputs = {value.name for value in rechecked.model.graph.inputs} if rechecked.model.graph is not None else set()
    for each in edits:
        if each.kind == "declaration" and each.dtype and each.name in inputs:
            continue
        if each.kind not in INSIDE or each.of == "shape" or (each.kind == "constant" and each.name in elsewhere):
            return None
    outcome = rechecked.outcome(edits, problem)
    if problem.fault.rule.family != ELEMENT_TYPES and rechecked.depends_on_state(edits, problem):
        return None
    follow = {id(each) for each in rechecked.problems if each.because is problem}
    return outcome if outcome is not None and follow <= {id(each) for each in outcome.fixed} else None


def _placed(edit: Edit, path: str, by_path: Mapping[str, Graph]) -> Edit:
    """The edit, moved to the graph at ``path``. A constant changes in the nearest surrounding graph that has it."""
    if edit.kind == "constant":
        owners = [each for each, graph in by_path.items() if any(one.name == edit.name for one in graph.constants)]
        around = [each for each in owners if each == path or not each or path.startswith(f"{each}/")]
        path = max(around, key=len, default=path)
    return edit if edit.kind == "declaration" else replaced(edit, graph=path)
