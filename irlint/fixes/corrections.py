"""Edits of what no question to an operator tells: names, opsets, attributes that are missing, types that a file declares of its constants."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.binding.calls import MISSING_ATTRIBUTE, OPSET_LACKS_OPERATOR, UNKNOWN_ATTRIBUTE, UNKNOWN_OPERATOR
from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.checks.meant import spare_values
from irlint.checks.structure import UNDEFINED_NAME
from irlint.findings.edits import Edit
from irlint.fixes.inserted import CAST
from irlint.inference.causes import differ
from irlint.inference.known import Known
from irlint.inference.opsets import ANOTHER_OPSET, is_of_an_opset
from irlint.lazy_typing import Literal
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import NUMBERED_TYPES, Tensor
from irlint.schemas import OFFICIAL_DOMAINS, official_versions

Edits = tuple[Edit, ...]

#: The attribute that names an element type by its number, the types that are likely, and an axis, which has fewer values than this.
TO, AXIS, AXES = "to", "axis", 8
LIKELY_TYPES = ("float32", "int64", "float16", "int32", "bool", "float64")


def corrections(problem: Problem, known: Known) -> Iterator[Edits]:
    """The edits, each of which may replace what a problem is about by what was intended."""
    fault = problem.fault
    if problem.graph.startswith("function:"):
        return
    if fault.rule is UNDEFINED_NAME:
        yield from _reconnected(problem, known)
    elif fault.rule is MISSING_ATTRIBUTE and problem.node is not None and fault.attribute is not None:
        yield from _added(problem, problem.node, fault.attribute, known)
    elif fault.rule in (TYPE_CONTRADICTED, SHAPE_CONTRADICTED) and problem.node is None:
        yield from _declared_as_stored(problem, known)
    elif fault.intended:
        yield from _intended(problem)
    elif problem.node is not None and is_of_an_opset(problem):
        yield from _other_opsets(problem.node, known)


def may_be_corrected(problem: Problem) -> bool:
    """Whether there may be corrections of a problem."""
    fault = problem.fault
    if fault.rule in (TYPE_CONTRADICTED, SHAPE_CONTRADICTED, UNDEFINED_NAME) and problem.node is None:
        return True
    return bool(fault.intended) or is_of_an_opset(problem)


def _intended(problem: Problem) -> Iterator[Edits]:
    fault, node = problem.fault, problem.node
    if fault.rule in (ANOTHER_OPSET, OPSET_LACKS_OPERATOR):
        domain = problem.domain if node is None else node.domain
        yield (Edit("opset", "opset_import", name=domain or "", value=int(fault.intended)),)
    elif node is not None and fault.rule in (UNKNOWN_ATTRIBUTE, UNKNOWN_OPERATOR):
        of: Literal["attribute", "operator"] = "attribute" if fault.rule is UNKNOWN_ATTRIBUTE else "operator"
        name = fault.attribute if fault.rule is UNKNOWN_ATTRIBUTE else node.op
        layer = node.id or ""
        yield (
            Edit(
                "rename", of, problem.graph, node.label, node.index, name or "", fault.intended, op=node.op, layer=layer
            ),
        )


def _other_opsets(node: Node, known: Known) -> Iterator[Edits]:
    """The nearest opsets at which the operator of a node is another one, those that are later first."""
    imported = known.model.opsets.get(node.domain)
    if imported is None or node.domain not in OFFICIAL_DOMAINS or known.format.ports_declare:
        return
    versions = official_versions(node.op, node.domain)
    later = [since for since in versions if since > imported]
    earlier = [since - 1 for since in reversed(versions) if 1 < since <= imported]
    for opset in (*later, *earlier):
        yield (Edit("opset", "opset_import", name=node.domain, value=opset),)


def _added(problem: Problem, node: Node, name: str, known: Known) -> Iterator[Edits]:
    """The missing attribute, as other nodes of the operator have it, or with each of a few values."""
    values: dict[object, None] = {}
    for each in graphs(known.model):
        for other in each.nodes:
            held = other.attributes.get(name) if other.op == node.op else None
            if held is not None and held.reference is None and isinstance(held.value, (int, float, str, list, tuple)):
                values[tuple(held.value) if isinstance(held.value, list) else held.value] = None
    if name == TO:
        values.update(dict.fromkeys(NUMBERED_TYPES.index(each) + 1 for each in LIKELY_TYPES))
    elif name == AXIS:
        given = known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
        rank = given.rank if isinstance(given, Tensor) else None
        values.update(dict.fromkeys(range(rank if rank is not None else AXES)))
    for value in values:
        yield (
            Edit(
                "attribute", "node", problem.graph, node.label, node.index, name, value, op=node.op, layer=node.id or ""
            ),
        )


def _declared_as_stored(problem: Problem, known: Known) -> Iterator[Edits]:
    """An input declared as its initializer is; of element types also the initializer as it is declared, and casts wherever it is used."""
    graph = next((each for each in graphs(known.model) if each.path == problem.graph), None)
    value = next((each for each in graph.constants if each.name == problem.value), None) if graph is not None else None
    stored = known.types.get(value) if value is not None else None
    if graph is None or value is None or not isinstance(stored, Tensor) or not isinstance(value.type, Tensor):
        return
    if problem.fault.rule is SHAPE_CONTRADICTED:
        yield (
            Edit("declaration", "node", problem.graph, name=value.name, shape=stored.shape, before=value.type.shape),
        )
        return
    declared = Edit("declaration", "node", problem.graph, name=value.name, dtype=stored.dtype or "")
    yield (declared,)
    yield (Edit("constant", "type", problem.graph, name=value.name, value=value.type.dtype),)
    cast = (("to", value.type.dtype),)
    uses = [(node, port) for node in graph.nodes for port, given in enumerate(node.inputs) if given is value]
    yield (
        declared,
        *(
            Edit("insert", "node", problem.graph, node.label, node.index, CAST, cast, input=port, op=node.op)
            for node, port in uses
        ),
    )


def _reconnected(problem: Problem, known: Known) -> Iterator[Edits]:
    """The intended value as every input that has the undefined name; of an output of the graph, another value with its name."""
    graph = next(each for each in graphs(known.model) if each.path == problem.graph)
    value = next((each for each in graph.undefined if each.name == problem.value), None)
    if value is None:
        return
    if value not in graph.outputs:
        if problem.fault.intended:
            yield tuple(_as_inputs(value, problem.fault.intended, known, problem.graph))
        return
    made = {each for node in graph.nodes for each in node.outputs}
    unused = [each for each in spare_values(graph) if each in made and each not in graph.outputs]
    names = dict.fromkeys(
        (problem.fault.intended, *(each.name for each in unused if not differ(known.types.get(each), value.type)))
    )
    for name in names:
        if name:
            yield (Edit("rename", "value", problem.graph, name=name, value=value.name),)


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
