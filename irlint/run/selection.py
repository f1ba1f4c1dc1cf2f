"""Selects the values of a model for a listing."""

from __future__ import annotations

from collections.abc import Iterable, Set

from irlint.model import Graph, Model, Node, Value
from irlint.model.order import graphs, used
from irlint.records import record
from irlint.run.names import NotOneValue, names_of, proposals, resolved


@record
class Selection:
    """Selects the values that satisfy all of these conditions.

    If there are ``nodes``, one of these globs matches the name of the value or of its node. If there is ``around``, the
    node of the value is at most ``depth`` steps from this node. With ``ends``, the value is an input or output of the
    model.
    """

    nodes: tuple[str, ...] = ()
    around: str = ""
    depth: int = 1
    ends: bool = False


def selected(model: Model, selection: Selection) -> Set[Value] | None:
    """The selected values; None for all values.

    Raises NotOneValue if a glob matches no value, or unless ``around`` names exactly one value.
    """
    parts: list[Set[Value]] = []
    if selection.nodes:
        parts.append(_fitting(model, selection.nodes))
    if selection.around:
        parts.append(_around(model, selection.around, selection.depth))
    if selection.ends and model.graph is not None:
        parts.append(ends(model.graph))
    return set.intersection(*map(set, parts)) if parts else None


def ends(graph: Graph) -> Set[Value]:
    """The inputs of a graph that are not constants, and its outputs."""
    return {value for value in graph.inputs if value not in graph.constants} | set(graph.outputs)


def _fitting(model: Model, globs: Iterable[str]) -> Set[Value]:
    """The values that one of the globs matches."""
    from fnmatch import fnmatchcase

    names = names_of(model)
    found: set[Value] = set()
    for glob in globs:
        fitting = {each.value for text, each in names if text == glob or fnmatchcase(text, glob)}
        if not fitting:
            bare = glob.strip("*?")
            raise NotOneValue(f"no value or node matches {glob!r}", proposals(bare, [text for text, _ in names]))
        found |= fitting
    return found


def _around(model: Model, name: str, depth: int) -> Set[Value]:
    """The outputs of all nodes within ``depth`` steps of a node, and the inputs of the nodes within one step less.

    A step goes from a node to a node that makes one of its inputs or uses one of its outputs. No step starts from a
    constant to the nodes that use it.
    """
    center = resolved(name, model)
    makers, users = _edges(model)
    constant = model.format.constant_node if model.format is not None else None
    found = {center.value}
    nodes = [center.node] if center.node is not None else []
    beside = [] if nodes else list(users.get(center.value, ()))
    seen = set(nodes)
    for _ in range(depth):
        if not nodes and not beside:
            break
        for node in nodes:
            found.update(used(node))
            beside += [makers[value] for value in used(node) if value in makers]
            if node.op != constant:
                beside += [user for value in node.outputs if value is not None for user in users.get(value, ())]
        nodes, beside = [node for node in dict.fromkeys(beside) if node not in seen], []
        seen.update(nodes)
    return found | {value for node in seen for value in node.outputs if value is not None}


def _edges(model: Model) -> tuple[dict[Value, Node], dict[Value, list[Node]]]:
    """The node that computes each value, and the nodes that use it."""
    makers: dict[Value, Node] = {}
    users: dict[Value, list[Node]] = {}
    for graph in graphs(model):
        for node in graph.nodes:
            makers.update({value: node for value in node.outputs if value is not None})
            for value in used(node):
                users.setdefault(value, []).append(node)
    return makers, users
