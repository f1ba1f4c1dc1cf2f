"""Orders within a model: its graphs, the sorted nodes of a graph, nodes on cycles, and live nodes.

A node is live if a runtime keeps it, because an output or a node with an effect depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from irlint.model import Graph, Model, Node, Value
from irlint.records import record


@record
class Order:
    """The nodes of a graph, sorted so that each node comes after those whose values it uses.

    ``nodes`` keeps the order of the file as far as possible. ``cyclic`` are nodes on cycles; they are not in ``nodes``.
    ``late`` lists, in ONNX, the nodes that use a value of a later node.
    """

    nodes: tuple[Node, ...]
    cyclic: tuple[Node, ...] = ()
    late: tuple[tuple[Node, Value], ...] = ()


def used(node: Node) -> list[Value]:
    """The values that a node uses, including those that its bodies take from the graph around them."""
    found = [value for value in node.inputs if value is not None]
    for _, body in node.bodies:
        found += body.captured
    return found


def used_values(graph: Graph) -> set[Value]:
    """The values that the nodes and bodies of a graph use, and its outputs."""
    found = set(chain.from_iterable([node.inputs for node in graph.nodes]))
    for body in graph.bodies:
        found.update(body.captured)
    found.update(graph.outputs)
    found.discard(None)
    return found  # type: ignore[return-value]


def varying(graph: Graph, nodes: Iterable[Node]) -> set[Value]:
    """The values of a graph that depend on its inputs, of ``nodes`` in topological order."""
    found = {value for value in graph.inputs if value not in graph.constants}
    for node in nodes:
        if not found.isdisjoint(node.inputs) or node.bodies:
            found.update(value for value in node.outputs if value is not None)
    return found


def producers(graph: Graph) -> dict[Value, Node]:
    """Maps each value of a graph to the node that computes it."""
    return {value: node for node in graph.nodes for value in node.outputs if value is not None}


def users(graph: Graph) -> dict[Value, list[Node]]:
    """Maps each value that nodes of a graph take as inputs to these nodes."""
    found: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None:
                found.setdefault(value, []).append(node)
    return found


def has_only_constants(graph: Graph | None) -> bool:
    """Whether a graph has only nodes that ONNX Runtime does not run.

    These are Constants, which it converts to initializers, and nodes without inputs and outputs, which it ignores.
    """
    nodes = graph.nodes if graph is not None else ()
    return all(node.op == "Constant" or not (node.inputs or node.outputs) for node in nodes)


def ordered(graph: Graph) -> Order:
    """The nodes of ``graph`` in topological order, and those that cannot be ordered."""
    if _is_ordered(graph):
        return Order(graph.nodes)
    makers = producers(graph)
    seen: set[Value | None] = set()
    late: list[tuple[Node, Value]] = []
    for node in graph.nodes:
        late += [(node, value) for value in used(node) if value not in seen and value in makers]
        seen.update(node.outputs)
    return _sorted(graph, makers, tuple(late))


def _is_ordered(graph: Graph) -> bool:
    """Whether no node of a graph uses its own result or the result of a later node."""
    met: set[Value | None] = set()
    for node in graph.nodes:
        met.update(node.inputs)
        if node.bodies:
            met.update(used(node))
        if not met.isdisjoint(node.outputs) and any(value in met for value in node.outputs if value is not None):
            return False
    return True


def _sorted(graph: Graph, makers: Mapping[Value, Node], late: tuple[tuple[Node, Value], ...]) -> Order:
    waiting: dict[Node, set[Node]] = {}
    users: dict[Node, list[Node]] = {}
    for node in graph.nodes:
        waiting[node] = {makers[value] for value in used(node) if value in makers}
        for producer in waiting[node]:
            users.setdefault(producer, []).append(node)
    ready = [node for node in reversed(graph.nodes) if not waiting[node]]
    result: list[Node] = []
    while ready:
        node = ready.pop()
        result.append(node)
        freed = []
        for user in users.get(node, ()):
            waiting[user].discard(node)
            if not waiting[user]:
                freed.append(user)
        ready += sorted(freed, key=lambda each: -each.index)
    done = set(result)
    left = [node for node in graph.nodes if node not in done]
    cyclic = _on_cycles(left, waiting)
    result += [node for node in left if node not in cyclic]
    return Order(tuple(result), tuple(node for node in left if node in cyclic), late)


def _on_cycles(left: list[Node], waiting: Mapping[Node, set[Node]]) -> set[Node]:
    """The nodes on a cycle among ``left``, the nodes that cannot be ordered; those that only depend on one are
    excluded."""
    remaining = set(left)
    ahead = {node: {other for other in waiting[node] if other in remaining} for node in left}
    users: dict[Node, set[Node]] = {node: set() for node in left}
    for node, needs in ahead.items():
        for other in needs:
            users[other].add(node)
    cyclic = set(left)
    ends = [node for node in left if not users[node]]
    while ends:
        node = ends.pop()
        cyclic.discard(node)
        for other in ahead[node]:
            users[other].discard(node)
            if not users[other] and other in cyclic:
                ends.append(other)
    return cyclic


def live(graph: Graph, keeps_alive: Collection[str]) -> set[Node]:
    """The nodes of a type in ``keeps_alive`` and all nodes on which these depend; a runtime drops the others.

    All nodes if ``keeps_alive`` is empty.
    """
    if not keeps_alive:
        return set(graph.nodes)
    makers = producers(graph)
    waiting = [node for node in graph.nodes if node.op in keeps_alive]
    found = set(waiting)
    while waiting:
        for value in waiting.pop().inputs:
            maker = makers.get(value) if value is not None else None
            if maker is not None and maker not in found:
                found.add(maker)
                waiting.append(maker)
    return found


def graphs(model: Model) -> Iterator[Graph]:
    """Every graph of a model: the main one, its bodies, and the functions."""
    waiting = [function.graph for function in reversed(tuple(model.functions.values()))]
    if model.graph is not None:
        waiting.append(model.graph)
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += reversed(graph.bodies)


def downstream(node: Node, graph: Graph) -> set[Node]:
    """A node and all nodes that depend on it; an edge from one of them to the node would create a cycle."""
    users_of = users(graph)
    found, waiting = {node}, [node]
    while waiting:
        for value in waiting.pop().outputs:
            for user in users_of.get(value, ()) if value is not None else ():
                if user not in found:
                    found.add(user)
                    waiting.append(user)
    return found
