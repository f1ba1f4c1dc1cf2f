"""The graphs of a model, the topological order of a graph, and which nodes depend on which."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from irlint.model import Graph, Model, Node, Value
from irlint.records import record


@record
class Order:
    """The topological order of a graph."""

    #: The sorted nodes, in the order of the file as far as possible.
    nodes: tuple[Node, ...]
    #: The nodes on cycles and between two cycles, which ``nodes`` omits.
    cyclic: tuple[Node, ...] = ()
    #: (a node that uses a value of a later node in the file, the value).
    early: tuple[tuple[Node, Value], ...] = ()


def used(node: Node) -> list[Value]:
    """The values that a node and its bodies use."""
    found = [value for value in node.inputs if value is not None]
    for _, body in node.bodies:
        found += body.captured
    return found


def used_values(graph: Graph) -> set[Value]:
    """The values that the nodes and bodies of a graph use, and the outputs of the graph."""
    found = set(chain.from_iterable([node.inputs for node in graph.nodes]))
    for body in graph.bodies:
        found.update(body.captured)
    found.update(graph.outputs)
    found.discard(None)
    return found  # type: ignore[return-value]


def varying(graph: Graph, nodes: Iterable[Node]) -> set[Value]:
    """The values that may depend on a graph's inputs. ``nodes`` are the graph's nodes in topological order."""
    found = {value for value in graph.inputs if value not in graph.constants}
    for node in nodes:
        if not found.isdisjoint(node.inputs) or node.bodies:
            found.update(value for value in node.outputs if value is not None)
    return found


def producers(graph: Graph) -> dict[Value, Node]:
    """The node that computes each value of a graph."""
    return {value: node for node in graph.nodes for value in node.outputs if value is not None}


def users(graph: Graph) -> dict[Value, list[Node]]:
    """The nodes that have each value as an input; uses inside bodies are not included."""
    found: dict[Value, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value is not None:
                found.setdefault(value, []).append(node)
    return found


def uses(value: Value | None, nodes: Iterable[Node]) -> list[tuple[Node, int]]:
    """(node, index of the input) for each use of a value by ``nodes``; [] for None. Repeated nodes count once."""
    users = dict.fromkeys(nodes if value is not None else ())
    return [(node, port) for node in users for port, each in enumerate(node.inputs) if each is value]


def has_only_constants(graph: Graph | None) -> bool:
    """Whether ONNX Runtime runs no node of a graph, because each node is a Constant or has no inputs and outputs."""
    nodes = graph.nodes if graph is not None else ()
    return all(node.op == "Constant" or not (node.inputs or node.outputs) for node in nodes)


def ordered(graph: Graph) -> Order:
    """The topological order of a graph, with its cyclic and early nodes."""
    if _is_ordered(graph):
        return Order(graph.nodes)
    makers = producers(graph)
    seen: set[Value | None] = set()
    early: list[tuple[Node, Value]] = []
    for node in graph.nodes:
        early += [(node, value) for value in used(node) if value not in seen and value in makers]
        seen.update(node.outputs)
    return _sorted(graph, makers, tuple(early))


def _is_ordered(graph: Graph) -> bool:
    inputs: set[Value | None] = set()
    for node in graph.nodes:
        inputs.update(node.inputs)
        if node.bodies:
            inputs.update(used(node))
        if not inputs.isdisjoint(node.outputs) and any(value in inputs for value in node.outputs if value is not None):
            return False
    return True


def _sorted(graph: Graph, makers: Mapping[Value, Node], early: tuple[tuple[Node, Value], ...]) -> Order:
    """The order of an unsorted graph. Nodes that depend on a cycle come last."""
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
        next_ready = []
        for user in users.get(node, ()):
            waiting[user].discard(node)
            if not waiting[user]:
                next_ready.append(user)
        ready += sorted(next_ready, key=lambda user: -user.index)
    done = set(result)
    remaining = [node for node in graph.nodes if node not in done]
    cyclic = _on_cycles(remaining, waiting)
    result += [node for node in remaining if node not in cyclic]
    return Order(tuple(result), tuple(node for node in remaining if node in cyclic), early)


def _on_cycles(unsorted: list[Node], waiting: Mapping[Node, set[Node]]) -> set[Node]:
    """The nodes on cycles and between two cycles. Other nodes that depend on a cycle are not included."""
    every = set(unsorted)
    predecessors_of = {node: waiting[node] & every for node in unsorted}
    users: dict[Node, set[Node]] = {node: set() for node in unsorted}
    for node, predecessors in predecessors_of.items():
        for other in predecessors:
            users[other].add(node)
    cyclic = every.copy()
    ends = [node for node in unsorted if not users[node]]
    while ends:
        node = ends.pop()
        cyclic.discard(node)
        for other in predecessors_of[node]:
            users[other].discard(node)
            if not users[other] and other in cyclic:
                ends.append(other)
    return cyclic


def live(graph: Graph, keeps_alive: Collection[str], makers: Mapping[Value, Node] | None = None) -> set[Node]:
    """The nodes that the runtime creates: those of the types in ``keeps_alive``, and all nodes on which they depend.

    If ``keeps_alive`` is empty, the runtime creates all nodes. ``makers`` is the result of ``producers`` for the graph,
    or None if the caller does not have it.
    """
    if not keeps_alive:
        return set(graph.nodes)
    makers = producers(graph) if makers is None else makers
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
    """Every graph of a model: the main graph, then the graphs of the functions, each followed by its bodies."""
    waiting = [function.graph for function in reversed(tuple(model.functions.values()))]
    if model.graph is not None:
        waiting.append(model.graph)
    while waiting:
        graph = waiting.pop()
        yield graph
        waiting += reversed(graph.bodies)


def graph_at(model: Model, path: str) -> Graph | None:
    """The first graph with this path; None if no graph has it."""
    return next((graph for graph in graphs(model) if graph.path == path), None)


def downstream(node: Node, graph: Graph) -> set[Node]:
    """A node and all nodes that depend on it through inputs."""
    users_of = users(graph)
    found, waiting = {node}, [node]
    while waiting:
        for value in waiting.pop().outputs:
            for user in users_of.get(value, ()) if value is not None else ():
                if user not in found:
                    found.add(user)
                    waiting.append(user)
    return found
