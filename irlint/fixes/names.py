"""Edits of names that are spelled wrong, and of the opset that a model imports: each has one edit that is likely."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.binding.calls import OPSET_LACKS_OPERATOR, UNKNOWN_ATTRIBUTE, UNKNOWN_OPERATOR
from irlint.checks.structure import UNDEFINED_NAME
from irlint.findings.edits import Edit
from irlint.inference.known import Known
from irlint.inference.opsets import ANOTHER_OPSET
from irlint.lazy_typing import Literal
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs


def corrections(problem: Problem, known: Known) -> tuple[Edit, ...]:
    """The edits that replace what a problem says by what was intended; () where that is not known."""
    fault, node = problem.fault, problem.node
    if not fault.intended or problem.graph.startswith("function:"):
        return ()
    if fault.rule is UNDEFINED_NAME:
        return tuple(_reconnected(problem, known))
    if fault.rule in (ANOTHER_OPSET, OPSET_LACKS_OPERATOR):
        domain = problem.domain if node is None else node.domain
        return (Edit("opset", "opset_import", name=domain or "", value=int(fault.intended)),)
    if node is None:
        return ()
    name = fault.attribute if fault.rule is UNKNOWN_ATTRIBUTE else node.op if fault.rule is UNKNOWN_OPERATOR else None
    if name is None:
        return ()
    of: Literal["attribute", "operator"] = "attribute" if fault.rule is UNKNOWN_ATTRIBUTE else "operator"
    layer = node.id or ""
    return (Edit("rename", of, problem.graph, node.label, node.index, name, fault.intended, op=node.op, layer=layer),)


def _reconnected(problem: Problem, known: Known) -> Iterator[Edit]:
    """The intended value as every input that has the undefined name; as an output of the graph it is renamed."""
    graph = next(each for each in graphs(known.model) if each.path == problem.graph)
    value = next((each for each in graph.undefined if each.name == problem.value), None)
    if value is None:
        return
    if value in graph.outputs:
        yield Edit("rename", "value", problem.graph, name=problem.fault.intended, value=value.name)
        return
    yield from _as_inputs(value, problem.fault.intended, known, problem.graph)


def _as_inputs(value: Value, intended: str, known: Known, path: str) -> Iterator[Edit]:
    for graph in graphs(known.model):
        for node in _users(graph, path):
            for port, given in enumerate(node.inputs):
                if given is value:
                    yield Edit(
                        "input", "node", graph.path, node.label, node.index, "", intended, input=port, op=node.op
                    )


def _users(graph: Graph, path: str) -> Iterator[Node]:
    """The nodes of a graph that is the one of a path, or inside it."""
    inside = not path or graph.path == path or graph.path.startswith(f"{path}/")
    yield from graph.nodes if inside else ()
