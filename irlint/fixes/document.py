"""The edges of an IR as its document states them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from irlint.findings.edits import Edit
from irlint.fixes.outline import Element, Outline
from irlint.fixes.wire import Unwritable
from irlint.model import Graph, Node, Value
from irlint.parsers.openvino.types import natural
from irlint.records import record

#: The attributes of an edge that name its source and its target.
ENDS = ("from-layer", "from-port", "to-layer", "to-port")

#: The ordinal of ``<net>``. Elements are counted in document order, from 0.
ROOT = 0

#: The ids of a layer and of a port; None if the text is not a number.
End = tuple[int | None, int | None]

Edits = tuple[Edit, ...]

#: Groups of alternative edits, the likely groups first.
Stages = Iterator[Iterable[Edits]]

#: The families of rules that a wrong edge breaks.
MISLED = frozenset({"broadcasting", "shapes", "element-types", "declarations", "operators"})

#: If more ports contradict their values, probably an old exporter wrote them all, and no edit is proposed.
PORTS = 8

#: An input port: its layer and its index among the layer's inputs.
Input = tuple[Node, int]


@record(eq=False)
class Wire:
    """An ``<edge>``."""

    element: Element
    #: The four ids in the order of ``ENDS``; None where the text is not a number.
    ids: tuple[int | None, ...]

    @property
    def source(self) -> End:
        """The ids of the layer and of the port where the edge begins."""
        return self.ids[0], self.ids[1]

    @property
    def target(self) -> End:
        """The ids of the layer and of the port where the edge ends."""
        return self.ids[2], self.ids[3]


class Wires:
    """The layers of a graph, and its edges after ``read``."""

    def __init__(self, graph: Graph, ordinal: int) -> None:
        self.graph = graph
        self.ordinal = ordinal
        self.nodes = {node.index: node for node in graph.nodes}
        self.ids = Counter(node.id for node in graph.nodes)
        self.makers: dict[str, tuple[Node, int, Value]] = {}
        self.inputs: dict[End, Input] = {}
        self.outputs: dict[End, Value] = {}
        for node in graph.nodes:
            own = self.own_id(node)
            for at, port in enumerate(node.input_ports if own is not None else ()):
                self.inputs[own, port.id] = node, at
            for port, value in zip(node.output_ports, node.outputs):
                if value is not None:
                    self.makers[value.name] = node, port.id, value
                if value is not None and own is not None:
                    self.outputs[own, port.id] = value
        self.every: list[Wire] = []
        self._by_target: dict[End, list[Wire]] = {}

    def read(self, outline: Outline) -> None:
        """Adds the edges of a document."""
        edges = outline.edges.get(self.ordinal)
        for each in edges.named("edge") if edges is not None else ():
            wire = Wire(each, tuple(number(outline.value(each, name)) for name in ENDS))
            self.every.append(wire)
            self._by_target.setdefault(wire.target, []).append(wire)

    def own_id(self, node: Node) -> int | None:
        """The id by which edges name a layer; None if it is not a number, or another layer has it."""
        return None if self.ids[node.id] > 1 else number(node.id or "")

    def key(self, node: Node) -> int:
        """The id by which edges name a layer. Raises Unwritable if there is none."""
        own = self.own_id(node)
        if own is None:
            raise Unwritable("the layer has no id of its own")
        return own

    def end(self, name: str) -> End:
        """(layer, port) that make a value. Raises Unwritable if there is no such value."""
        if name not in self.makers:
            raise Unwritable("there is no such value")
        node, port, _ = self.makers[name]
        return self.key(node), port

    def value(self, wire: Wire) -> Value | None:
        """The value that an edge carries; None if no port is at its source."""
        return self.outputs.get(wire.source)

    def target(self, wire: Wire) -> Input | None:
        """The input at the target of an edge; None if no port is there."""
        return self.inputs.get(wire.target)

    def into(self, end: End) -> list[Wire]:
        """The edges into a port."""
        return self._by_target.get(end, [])

    def of_layer(self, id: int) -> list[Wire]:
        """The edges that begin or end at a layer."""
        return [each for each in self.every if id in (each.ids[0], each.ids[2])]

    @cached_property
    def broken(self) -> list[Wire]:
        """The edges without a port at their source or at their target."""
        return [each for each in self.every if self.value(each) is None or self.target(each) is None]

    @cached_property
    def unconnected(self) -> list[Input]:
        """The inputs without an edge."""
        return [found for end, found in self.inputs.items() if end not in self._by_target]

    @property
    def doubled(self) -> Iterator[tuple[Input, list[Wire]]]:
        """The inputs with several edges, and these edges."""
        found: dict[Input, list[Wire]] = {}
        for each in self.every:
            target = self.target(each)
            if target is not None:
                found.setdefault(target, []).append(each)
        return ((target, wires) for target, wires in found.items() if len(wires) > 1)

    def nearest(self, source: End, target: End) -> Wire | None:
        """The broken edge that shares most ids with an edge from ``source`` to ``target``; None if none shares two."""
        ids = (*source, *target)
        counted = [(sum(one == other for one, other in zip(each.ids, ids)), each) for each in self.broken]
        most = max((count for count, _ in counted), default=0)
        found = [each for count, each in counted if count == most]
        return found[0] if most > 1 else None


def wires_of(graph: Graph, paths: Iterable[str]) -> dict[str, Wires]:
    """The layers of the graphs with these paths, by path. Paths that several graphs share are omitted."""
    wanted = set(paths)
    found: dict[str, list[tuple[Graph, int]]] = {}
    for each, ordinal in _graphs(graph, ROOT):
        if each.path in wanted:
            found.setdefault(each.path, []).append((each, ordinal))
    return {path: Wires(*several[0]) for path, several in found.items() if len(several) == 1}


def _graphs(graph: Graph, ordinal: int) -> Iterator[tuple[Graph, int]]:
    """A graph and the bodies in it, with the ordinals of their elements."""
    yield graph, ordinal
    for node in graph.nodes:
        for name, body in node.bodies:
            place = node.located(node.attributes[name].place)
            if place is not None:
                yield from _graphs(body, place.element)


def number(text: str) -> int | None:
    """The natural number in a text; None if the text is not one."""
    try:
        return natural(text)
    except ValueError:
        return None
