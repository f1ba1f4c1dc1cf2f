"""Values that one mistake makes wrong at several nodes: a constant of a type that they refuse, and what layers of one id give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.inference.known import Known
from irlint.model import Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor
from irlint.ops.kernels.element_types import ELEMENT_TYPE_REFUSED


def first_refused(problem: Problem, refused: Mapping[Value, Sequence[Problem]], known: Known) -> Problem | None:
    """The problem of the first node that refuses the type of a constant, where this is that of a later one."""
    value = _refused(problem)
    given = known.types.get(value) if value is not None else None
    if value is None or not isinstance(given, Tensor) or given.value is None:
        return None
    first = next((each for each in refused.get(value, ()) if _refused(each) is value), problem)
    return None if first is problem else first


def _refused(problem: Problem) -> Value | None:
    """The value whose element type a problem is about."""
    node, index = problem.node, problem.fault.input
    if problem.fault.rule is not ELEMENT_TYPE_REFUSED or not problem.by_rule or node is None or index is None:
        return None
    return node.inputs[index] if index < len(node.inputs) else None


def named_twice(problems: Sequence[Problem], known: Known) -> dict[Value, Problem]:
    """What the layers give whose id another layer of the graph has, each with the problem that says so."""
    told = {(each.graph, each.node.id): each for each in problems if each.fault.loses and each.node is not None}
    return {
        value: told[graph.path, node.id]
        for graph in graphs(known.model)
        for node in graph.nodes
        if (graph.path, node.id) in told
        for value in node.outputs
        if value is not None
    }
