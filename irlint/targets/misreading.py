"""Removes attributes and inputs of later opsets from a model, as some releases ignore these when they read it."""

from __future__ import annotations

from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Node
from irlint.records import record, replaced
from irlint.schemas import OFFICIAL_DOMAINS, OfficialSchema, official
from irlint.targets import tables


@record
class Misread:
    """A model without the attributes and inputs that releases ignore."""

    known: Known
    #: The releases that ignore these attributes and inputs, as a bit mask.
    releases: int
    #: The operators of the changed nodes.
    operators: tuple[str, ...]


def misread(known: Known, table: str, releases: int) -> Misread | None:
    """The model as releases read it; None if no release ignores all attributes and inputs from later opsets.

    Only nodes of the main graph are changed.
    """
    graph = known.model.graph
    if graph is None or not tables.has(table, "drops "):
        return None
    others: dict[Node, Node] = {}
    for node in graph.nodes:
        schema = official(node.op, node.version, node.domain) if _is_official(node) else None
        other = node if schema is None else _without(node, schema)
        if other is node:
            continue
        if len(other.inputs) < len(node.inputs):
            releases &= tables.holds(table, f"drops {node.domain}:{node.op} inputs")
        if len(other.attributes) < len(node.attributes):
            releases &= tables.holds(table, f"drops {node.domain}:{node.op} attributes")
        others[node] = other
    if not others or not releases:
        return None
    changed = replaced(graph, nodes=tuple(others.get(node, node) for node in graph.nodes))
    names = tuple(dict.fromkeys(node.op for node in others))
    return Misread(inferred(replaced(known.model, graph=changed)), releases, names)


def _is_official(node: Node) -> bool:
    return isinstance(node.version, int) and node.domain in OFFICIAL_DOMAINS


def _without(node: Node, schema: OfficialSchema) -> Node:
    """The node without the attributes and inputs that the schema does not have. If nothing is removed, the same
    object."""
    attributes = {name: each for name, each in node.attributes.items() if name in schema.attributes}
    inputs = node.inputs[: schema.max_input]
    if len(attributes) == len(node.attributes) and len(inputs) == len(node.inputs):
        return node
    return replaced(node, attributes=attributes, inputs=inputs)
