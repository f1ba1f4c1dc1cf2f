"""Finds the nodes of a model that run on an NPU, their partitions, and the values with dynamic sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from irlint.inference.known import Known
from irlint.model import Graph, Node, Value
from irlint.model.tensor import Tensor
from irlint.records import record
from irlint.targets import judge, partitions
from irlint.targets.objections import STAYS_ON_CPU
from irlint.targets.runtimes import Runtime
from irlint.targets.uses import Use, is_fixed, uses

#: Places of nodes. ONNX Runtime computes or removes REMOVED nodes at load; the compiler refuses REFUSED nodes.
NPU, CPU, REMOVED, REFUSED = "npu", "cpu", "removed", "refused"


@record
class Partition:
    """Nodes that run together at one place."""

    place: str
    nodes: tuple[Node, ...]


@record
class Coverage:
    """The places of the nodes of a model."""

    places: Mapping[Node, str]
    #: In the order in which they run.
    partitions: tuple[Partition, ...]
    #: (value, its type if it is a tensor, the node that computes it or None) of each value where dynamic sizes begin.
    dynamic: tuple[tuple[Value, Tensor | None, Node | None], ...]


def coverage(known: Known, runtime: Runtime, column: int) -> Coverage:
    """The coverage of a model by the release in column ``column`` of the table. ``partitions`` omit nodes of
    functions."""
    graph = known.model.graph
    if graph is None:
        return Coverage({}, (), ())
    places = dict(_places(known, runtime, 1 << column))
    return Coverage(places, tuple(_partitions(graph, places)), tuple(_dynamic(known, graph)))


def _places(known: Known, runtime: Runtime, releases: int) -> Iterator[tuple[Node, str]]:
    """The places of nodes, except for nodes in bodies."""
    optimized = partitions.optimized(known, runtime.table)
    fused: dict[Node, str] = {}
    for each in uses(known, lambda use: use.node):
        if each.graph and not each.graph.startswith("function:"):
            continue
        use = optimized.visible(each)
        fused_node = optimized.fused.get(each.node)
        if use is None:
            yield each.node, REMOVED if fused_node is None else fused.get(fused_node, NPU)
            continue
        place = CPU if optimized.stays_on_cpu(use) else _place(use, runtime, releases)
        fused[each.node] = place
        yield each.node, place


def _place(use: Use, runtime: Runtime, releases: int) -> str:
    found = [objection for _, objection in judge.of_node(use, runtime, releases)]
    if any(each.rule is STAYS_ON_CPU for each in found):
        return CPU
    return REFUSED if any(each.is_certain for each in found) else NPU


def _partitions(graph: Graph, places: Mapping[Node, str]) -> Iterator[Partition]:
    """The partitions of ONNX Runtime. Each has all nodes of one place that can run after the partitions before it."""
    nodes = [node for node in graph.nodes if places.get(node, REMOVED) != REMOVED]
    makers = {value: node for node in graph.nodes for value in node.outputs if value is not None}
    levels: dict[Node, int] = {}
    for node in _topologically_sorted(graph.nodes, makers):
        before = [makers[value] for value in _inputs_with_bodies(node) if value in makers]
        place = places.get(node, REMOVED)
        levels[node] = max((levels[each] for each in before if each in levels), default=0)
        if place != REMOVED and levels[node] % 2 != (place == CPU):
            levels[node] += 1
    order = sorted(nodes, key=lambda node: levels.get(node, 0))
    for _, alike in groupby(order, key=lambda node: levels.get(node, 0)):
        for place, members in groupby(sorted(alike, key=places.__getitem__), key=places.__getitem__):
            yield Partition(place, tuple(members))


def _inputs_with_bodies(node: Node) -> Iterator[Value]:
    yield from (value for value in node.inputs if value is not None)
    for _, body in node.bodies:
        yield from body.captured


def _topologically_sorted(nodes: Sequence[Node], makers: Mapping[Value, Node]) -> list[Node]:
    """The nodes in an order in which each follows the nodes that compute its inputs. Cycles are ignored."""
    found: dict[Node, None] = {}
    entered: set[Node] = set()
    stack = [(node, False) for node in reversed(nodes)]
    while stack:
        node, is_done = stack.pop()
        if is_done:
            found[node] = None
        elif node not in entered:
            entered.add(node)
            stack.append((node, True))
            stack += [(makers[value], False) for value in _inputs_with_bodies(node) if value in makers]
    return list(found)


def _dynamic(known: Known, graph: Graph) -> Iterator[tuple[Value, Tensor | None, Node | None]]:
    """The dynamic inputs, and the dynamic outputs of nodes with static inputs."""
    for value in graph.inputs:
        if value not in graph.constants and not is_fixed(known.types.get(value)):
            yield value, _tensor(known, value), None
    for node in graph.nodes:
        if all(is_fixed(known.types.get(value)) for value in _inputs_with_bodies(node)):
            for given in node.outputs:
                if given is not None and not is_fixed(known.types.get(given)):
                    yield given, _tensor(known, given), node


def _tensor(known: Known, value: Value) -> Tensor | None:
    type = known.types.get(value)
    return type if isinstance(type, Tensor) else None
