"""Selects the values of a model for a listing."""

from __future__ import annotations

from collections.abc import Iterable, Set

from irlint.model import Graph, Model, Node, Value
from irlint.model.order import graphs, used
from irlint.records import record
from irlint.run.names import NotOneValue, names_of, proposals, resolved


@record
class Selection:
    """The conditions for selected values. A selected value satisfies all conditions that are set."""

    #: Globs. At least one must match the name of the value or of the node that computes the value.
    nodes: tuple[str, ...] = ()
    #: The name of a node or value. The node of a selected value is at most ``depth`` steps from this node.
    around: str = ""
    depth: int = 1
    #: Whether the value must be an input or output of the model.
    ends: bool = False


def selected(model: Model, selection: Selection) -> Set[Value] | None:
    """The selected values; None for all values.

    Raises NotOneValue if a glob matches no value, or if ``around`` does not name exactly one value.
    """
    sets: list[Set[Value]] = []
    if selection.nodes:
        sets.append(_matching(model, selection.nodes))
    if selection.around:
        sets.append(_around(model, selection.around, selection.depth))
    if selection.ends and model.graph is not None:
        sets.append(ends(model.graph))
    return set.intersection(*map(set, sets)) if sets else None


def ends(graph: Graph) -> Set[Value]:
    """The inputs of a graph that are not constants, and its outputs."""
    return {value for value in graph.inputs if value not in graph.constants} | set(graph.outputs)


def _matching(model: Model, globs: Iterable[str]) -> Set[Value]:
    from fnmatch import fnmatchcase

    names = names_of(model)
    found: set[Value] = set()
    for glob in globs:
        matches = {each.value for text, each in names if text == glob or fnmatchcase(text, glob)}
        if not matches:
            bare = glob.strip("*?")
            raise NotOneValue(f"no value or node matches {glob!r}", proposals(bare, [text for text, _ in names]))
        found |= matches
    return found


def _around(model: Model, name: str, depth: int) -> Set[Value]:
    """The outputs of all nodes within ``depth`` steps of a node, and the inputs of those within ``depth - 1`` steps.

    A step leads to a node that computes an input or uses an output. No step leads from a constant to its users.
    """
    center = resolved(name, model)
    makers, users = _edges(model)
    constant = model.format.constant_node if model.format is not None else None
    found = {center.value}
    nodes = [center.node] if center.node is not None else []
    neighbors = [] if nodes else list(users.get(center.value, ()))
    seen = set(nodes)
    for _ in range(depth):
        if not nodes and not neighbors:
            break
        for node in nodes:
            found.update(used(node))
            neighbors += [makers[value] for value in used(node) if value in makers]
            if node.op != constant:
                neighbors += [user for value in node.outputs if value is not None for user in users.get(value, ())]
        nodes, neighbors = [node for node in dict.fromkeys(neighbors) if node not in seen], []
        seen.update(nodes)
    return found | {value for node in seen for value in node.outputs if value is not None}


def _edges(model: Model) -> tuple[dict[Value, Node], dict[Value, list[Node]]]:
    """(node that computes a value, by value; nodes that use a value, by value)."""
    makers: dict[Value, Node] = {}
    users: dict[Value, list[Node]] = {}
    for graph in graphs(model):
        for node in graph.nodes:
            makers.update({value: node for value in node.outputs if value is not None})
            for value in used(node):
                users.setdefault(value, []).append(node)
    return makers, users
