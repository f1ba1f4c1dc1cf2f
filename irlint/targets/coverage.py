"""Which nodes of a model an NPU takes, in which partitions, and what stays dynamic."""

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

#: Where a node runs: on the NPU, on the CPU, nowhere since it is computed or removed when the model is loaded, or
#: nowhere since the compiler refuses it.
NPU, CPU, REMOVED, REFUSED = "npu", "cpu", "removed", "refused"


@record
class Partition:
    """Nodes that run together: where, and which."""

    place: str
    nodes: tuple[Node, ...]


@record
class Coverage:
    """The nodes of a model by the place where they run, the partitions in the order in which they run, and the values
    of dynamic size that come from no other, each with the node that gives it, None for an input."""

    places: Mapping[Node, str]
    partitions: tuple[Partition, ...]
    dynamic: tuple[tuple[Value, Tensor | None, Node | None], ...]


def coverage(known: Known, runtime: Runtime, column: int) -> Coverage:
    """What an NPU takes of a model, as the release in a column of the table does. A node that stands in a function is
    in no partition of its callers."""
    graph = known.model.graph
    if graph is None:
        return Coverage({}, (), ())
    places = dict(_places(known, runtime, 1 << column))
    return Coverage(places, tuple(_partitions(graph, places)), tuple(_dynamic(known, graph)))


def _places(known: Known, runtime: Runtime, releases: int) -> Iterator[tuple[Node, str]]:
    """Where each node runs; those of bodies run where the node with the body does."""
    ahead = partitions.ahead(known, runtime.table)
    fused: dict[Node, str] = {}
    for each in uses(known, lambda use: use.node):
        if each.graph and not each.graph.startswith("function:"):
            continue
        use = ahead.judged(each)
        whole = ahead.fused.get(each.node)
        if use is None:
            yield each.node, REMOVED if whole is None else fused.get(whole, NPU)
            continue
        place = CPU if ahead.is_left(use) else _place(use, runtime, releases)
        fused[each.node] = place
        yield each.node, place


def _place(use: Use, runtime: Runtime, releases: int) -> str:
    found = [objection for _, objection in judge.of_node(use, runtime, releases)]
    if any(each.rule is STAYS_ON_CPU for each in found):
        return CPU
    return REFUSED if any(each.is_certain for each in found) else NPU


def _partitions(graph: Graph, places: Mapping[Node, str]) -> Iterator[Partition]:
    """The partitions as ONNX Runtime makes them: of all nodes that can run next, those of one place go together until
    none of them is left."""
    nodes = [node for node in graph.nodes if places.get(node, REMOVED) != REMOVED]
    makers = {value: node for node in graph.nodes for value in node.outputs if value is not None}
    levels: dict[Node, int] = {}
    for node in _sorted(graph.nodes, makers):
        before = [makers[value] for value in _taken(node) if value in makers]
        place = places.get(node, REMOVED)
        levels[node] = max((levels[each] for each in before if each in levels), default=0)
        if place != REMOVED and levels[node] % 2 != (place == CPU):
            levels[node] += 1
    order = sorted(nodes, key=lambda node: levels.get(node, 0))
    for _, alike in groupby(order, key=lambda node: levels.get(node, 0)):
        for place, members in groupby(sorted(alike, key=places.__getitem__), key=places.__getitem__):
            yield Partition(place, tuple(members))


def _taken(node: Node) -> Iterator[Value]:
    """The values that a node takes, in its bodies too."""
    yield from (value for value in node.inputs if value is not None)
    for _, body in node.bodies:
        yield from body.captured


def _sorted(nodes: Sequence[Node], makers: Mapping[Value, Node]) -> list[Node]:
    """The nodes, each behind those whose results it takes; in a cycle as they stand."""
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
            stack += [(makers[value], False) for value in _taken(node) if value in makers]
    return list(found)


def _dynamic(known: Known, graph: Graph) -> Iterator[tuple[Value, Tensor | None, Node | None]]:
    """The inputs of dynamic size, and what nodes of static inputs give with one."""
    for value in graph.inputs:
        if value not in graph.constants and not is_fixed(known.types.get(value)):
            yield value, _tensor(known, value), None
    for node in graph.nodes:
        if all(is_fixed(known.types.get(value)) for value in _taken(node)):
            for given in node.outputs:
                if given is not None and not is_fixed(known.types.get(given)):
                    yield given, _tensor(known, given), node


def _tensor(known: Known, value: Value) -> Tensor | None:
    type = known.types.get(value)
    return type if isinstance(type, Tensor) else None
