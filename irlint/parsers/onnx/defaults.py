"""Finds the defaults of a function's attributes that calls of the function use."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from irlint.findings.faults import Severity
from irlint.model import Problem
from irlint.parsers.onnx.graph_records import FunctionRecord, GraphRecord, NodeRecord
from irlint.records import replaced


def defaults_in_use(record: FunctionRecord, graphs: Iterable[GraphRecord]) -> set[str]:
    """The attributes of a function that its nodes use, and that at least one call in ``graphs`` does not set."""
    key = record.domain, record.name, record.overload
    calls = [node for graph in graphs for node in _nodes(graph) if (node.domain, node.op, node.overload) == key]
    references = {attribute.reference for node in _nodes(record.graph) for attribute in node.attributes.values()}
    return {name for name in references if name and any(name not in call.attributes for call in calls)}


def lowered_if_unused(problem: Problem, path: str, used: Collection[str]) -> Problem:
    """The ``problem`` of a default of the function at ``path``, as a warning if the default is not in ``used``."""
    attribute_of_body = problem.graph.removeprefix(f"{path}/").partition("/")[0]
    if problem.fault.attribute in used or attribute_of_body in used:
        return problem
    return replaced(problem, fault=problem.fault.at_most(Severity.WARNING))


def _nodes(graph: GraphRecord) -> Iterator[NodeRecord]:
    """The nodes of a graph and of its bodies."""
    waiting = [graph]
    while waiting:
        for node in waiting.pop().nodes:
            yield node
            for attribute in node.attributes.values():
                if isinstance(attribute.value, GraphRecord):
                    waiting.append(attribute.value)
                elif attribute.kind == "GRAPHS":
                    waiting += attribute.value or ()
