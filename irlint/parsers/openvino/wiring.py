"""The layers and edges of a graph of an IR, by their ids.

A layer is live if OpenVINO creates it. OpenVINO creates each Parameter, Result and Assign, and each layer on which a
Result or an Assign depends. A layer without a valid id counts as live.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from irlint.findings.faults import Severity
from irlint.lazy_typing import Literal
from irlint.model import Place, Value
from irlint.parsers.openvino.layers import MISSING_ATTRIBUTE, Element, Layer, LayerReader
from irlint.records import record

#: Layers of these types make all layers on which they depend live.
SINKS = frozenset({"Result", "Assign"})

#: The children that a layer without bodies may have.
PLAIN = frozenset({"data", "input", "output", "rt_info"})

_NUMBERS = ("from-layer", "from-port", "to-layer", "to-port")

Side = Literal["from", "to"]


@record
class Edge:
    """An ``<edge>``; ``source`` and ``target`` are (layer id, port id)."""

    source: tuple[int, int]
    target: tuple[int, int]
    #: The ordinal of the start tag.
    element: int

    @property
    def from_layer(self) -> int:
        return self.source[0]

    @property
    def from_port(self) -> int:
        return self.source[1]

    @property
    def to_layer(self) -> int:
        return self.target[0]

    @property
    def to_port(self) -> int:
        return self.target[1]

    @property
    def place(self) -> Place:
        """The place of the start tag."""
        return Place(self.element)

    def end(self, side: Side) -> tuple[int, int]:
        """(layer id, port id) at one end."""
        return self.source if side == "from" else self.target


@record(frozen=False, eq=False)
class Wiring:
    """The layers and edges of one graph. A tuple of two integers is always (layer id, port id)."""

    layers: Sequence[Layer]
    edges: list[Edge]
    by_key: dict[int, list[Layer]]
    #: The missing ends of edges that have a complaint. A missing port is (side of the edge, layer id, port id), and a
    #: missing layer is ("layer", layer id, 0).
    reported: set[tuple[str, int, int]]
    #: For each input port: (layer that has the port, positions of the port that no edge has used yet, in descending
    #: order). Of several layers with one id, the last counts.
    targets: dict[tuple[int, int], tuple[Layer, list[int]]]
    sources: dict[tuple[int, int], Value]
    ids: dict[tuple[str, int], list[int]]
    #: Whether an edge could not be read.
    incomplete: bool = False
    #: The number of layers that edges cannot name, because they have no id or the id of another layer.
    nameless: int = 0
    #: Indices of the complaints about lost edges: edges that give no port a value.
    lost_edge_complaints: Sequence[int] = ()
    edge_counts: dict[str, dict[int, dict[int, int]]] | None = None
    live_sources: set[int] | None = None
    live_keys: set[int] | None = None
    first_edges: dict[tuple[int, int], Edge] | None = None
    users: dict[int, list[int]] | None = None
    #: The number of times that ``ends`` wanted to search the graph for a help.
    searches: int = 0

    def edges_at(self, kind: str, key: int | None) -> dict[int, int]:
        """The number of edges at each port of a layer, by port id; ``kind`` is ``input`` or ``output``."""
        if self.edge_counts is None:
            self.edge_counts = {"input": {}, "output": {}}
            for edge in self.edges:
                for kind_of_port, (layer, port) in (("input", edge.target), ("output", edge.source)):
                    counts = self.edge_counts[kind_of_port].setdefault(layer, {})
                    counts[port] = counts.get(port, 0) + 1
        return {} if key is None else self.edge_counts[kind].get(key, {})

    def feeds_live_layer(self, key: int) -> bool:
        """Whether an edge leads from a layer with the id ``key`` to a live layer."""
        if self.live_sources is None:
            self.live_sources = {edge.from_layer for edge in self.edges if self.is_live(edge.to_layer)}
        return key in self.live_sources

    @property
    def unknown(self) -> set[int]:
        """The layer ids that edges use, and that no layer has."""
        named = {edge.source[0] for edge in self.edges} | {edge.target[0] for edge in self.edges}
        return named - self.by_key.keys()

    def is_live(self, key: int) -> bool:
        """Whether a layer with this id is live."""
        if self.live_keys is None:
            self.live_keys = {layer.key for layer in self.layers if layer.live and layer.key is not None}
        return key in self.live_keys

    def first_into(self, end: tuple[int, int]) -> Edge:
        """The first edge into a port."""
        if self.first_edges is None:
            self.first_edges = {edge.target: edge for edge in reversed(self.edges)}
        return self.first_edges[end]

    def users_of(self, key: int) -> Sequence[int]:
        """The ids of the layers to which edges from the layer ``key`` lead."""
        if self.users is None:
            self.users = {}
            for edge in self.edges:
                self.users.setdefault(edge.from_layer, []).append(edge.to_layer)
        return self.users.get(key, ())

    def ids_at(self, side: Side, key: int) -> list[int]:
        """The ids of the output ports (``from``) or input ports (``to``) of all layers with the id ``key``.

        Returns ``[-1]`` if an id of a port is invalid or repeated.
        """
        if (side, key) not in self.ids:
            layers = self.by_key.get(key, ())
            ids = [port.id for each in layers for port in (each.outputs if side == "from" else each.inputs)]
            self.ids[side, key] = [-1] if min(ids, default=0) < 0 or len(set(ids)) < len(ids) else ids
        return self.ids[side, key]

    def is_ambiguous(self, layer: Layer) -> bool:
        """Whether a layer has no id, or the id of another layer."""
        return layer.key is None or len(self.by_key[layer.key]) > 1


@record
class UnconnectedPorts:
    """Input ports of a layer into which no edge leads."""

    layer: Layer
    #: The positions of the ports among the inputs of the layer.
    ports: tuple[int, ...]
    #: Whether OpenVINO refuses the layer because of these ports.
    refused: bool


def wiring_of(layers: Sequence[Layer], elements: Iterable[Element | Edge], reader: LayerReader) -> Wiring:
    """The wiring of a graph; complains of edges with missing or invalid numbers."""
    wiring = _without_edges(layers)
    unreadable = {layer.id for layer in layers if layer.key is None and layer.id} if wiring.nameless else set[str]()
    read = [each if isinstance(each, Edge) else _edge(each, unreadable, reader) for each in elements]
    wiring.edges = [edge for edge in read if edge is not None]
    wiring.incomplete = len(wiring.edges) < len(read)
    return wiring


def _without_edges(layers: Sequence[Layer]) -> Wiring:
    by_key: dict[int, list[Layer]] = {}
    targets: dict[tuple[int, int], tuple[Layer, list[int]]] = {}
    sources: dict[tuple[int, int], Value] = {}
    for layer in layers:
        key = layer.key
        if key is None:
            continue
        by_key.setdefault(key, []).append(layer)
        for position in reversed(range(len(layer.inputs))):
            end = key, layer.inputs[position].id
            known = targets.get(end)
            if known is not None and known[0] is layer:
                known[1].append(position)
            else:
                targets[end] = layer, [position]
        for value in reversed(layer.values):
            sources[key, value.port] = value  # type: ignore[index]
    nameless = len(layers) - sum(map(len, by_key.values()))
    return Wiring(layers, [], by_key, set(), targets, sources, {}, nameless=nameless)


def _edge(element: Element, unreadable: Collection[str], reader: LayerReader) -> Edge | None:
    if element.get("from-layer") in unreadable or element.get("to-layer") in unreadable:
        return None
    absent = [name for name in _NUMBERS if element.get(name) is None]
    if absent:
        if not reader.complaints.omits(MISSING_ATTRIBUTE, Severity.ERROR, Place(reader.ordinals[element])):
            reader.missing(element, absent, None)
        return None
    from_layer = reader.number(element, "from-layer")
    from_port = reader.number(element, "from-port")
    to_layer = reader.number(element, "to-layer")
    to_port = reader.number(element, "to-port")
    if from_layer is None or from_port is None or to_layer is None or to_port is None:
        return None
    return Edge((from_layer, from_port), (to_layer, to_port), reader.ordinals[element])


def mark_live(wiring: Wiring) -> None:
    """Sets ``live`` of each layer."""
    sources: dict[int, list[int]] = {}
    for edge in wiring.edges:
        sources.setdefault(edge.target[0], []).append(edge.source[0])
    waiting = [layer.key for layer in wiring.layers if layer.type in SINKS and layer.key is not None]
    seen = set(waiting)
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    for layer in wiring.layers:
        layer.live = layer.key in seen or layer.type == "Parameter" or layer.key is None
