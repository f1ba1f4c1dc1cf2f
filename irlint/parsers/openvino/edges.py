"""How the edges of an IR tie ports to ports, and which layers OpenVINO creates at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.findings.faults import Severity
from irlint.model import Place, Port, Value
from irlint.parsers.openvino.edge_rules import DANGLING_EDGE, DUPLICATE_EDGE, DUPLICATE_LAYER_ID, UNCONNECTED_PORT
from irlint.parsers.openvino.layers import INVALID_PORT, Complaint, Element, Layer, LayerReader
from irlint.parsers.openvino.operations import FILLED_IN
from irlint.records import record

_SOURCES = frozenset({"Result", "Assign"})

#: The children of a layer without bodies.
PLAIN = frozenset({"data", "input", "output", "rt_info"})


@record
class Edge:
    """An ``<edge>``: layers and ports by their ids."""

    from_layer: int
    from_port: int
    to_layer: int
    to_port: int
    element: int

    @property
    def place(self) -> Place:
        """Its start tag."""
        return Place(self.element)


@record(frozen=False, eq=False)
class Wiring:
    """The layers and edges of one graph; ``incomplete`` says that an edge of it could not be read.

    ``nameless`` counts the layers that no edge can mean, for want of an id of their own. ``lost`` holds, for each edge that
    leads to no port, the index of the complaint that says so. ``targets`` and ``sources`` hold, by ids of layer and port, the last
    layer with that input port, and the last with that output port beside the value there. ``searches`` counts the faults
    whose help was looked for in the graph.
    """

    layers: Sequence[Layer]
    edges: list[Edge]
    by_key: dict[int, list[Layer]]
    reported: set[tuple[str, int, int]]
    targets: dict[tuple[int, int], Layer]
    sources: dict[tuple[int, int], tuple[Layer, Value]]
    ids: dict[tuple[str, int], list[int]]
    incomplete: bool = False
    nameless: int = 0
    lost: Sequence[int] = ()
    named: dict[str, dict[int, dict[int, int]]] | None = None
    awaited: set[int] | None = None
    live: set[int] | None = None
    first: dict[tuple[int, int], Edge] | None = None
    users: dict[int, list[int]] | None = None
    searches: int = 0

    def edges_at(self, kind: str, key: int | None) -> dict[int, int]:
        """How many edges name each ``input`` or ``output`` port of a layer."""
        if self.named is None:
            self.named = {"input": {}, "output": {}}
            for edge in self.edges:
                ends = ("input", edge.to_layer, edge.to_port), ("output", edge.from_layer, edge.from_port)
                for side, layer, port in ends:
                    counts = self.named[side].setdefault(layer, {})
                    counts[port] = counts.get(port, 0) + 1
        return {} if key is None else self.named[kind].get(key, {})

    def is_awaited(self, key: int) -> bool:
        """Whether a layer that OpenVINO creates is to take a value of one of this id."""
        if self.awaited is None:
            self.awaited = {edge.from_layer for edge in self.edges if self.is_live(edge.to_layer)}
        return key in self.awaited

    @property
    def unknown(self) -> set[int]:
        """The ids that edges name and no layer has."""
        named = {edge.from_layer for edge in self.edges} | {edge.to_layer for edge in self.edges}
        return named - self.by_key.keys()

    def is_live(self, key: int) -> bool:
        """Whether OpenVINO creates a layer of this id."""
        if self.live is None:
            self.live = {layer.key for layer in self.layers if layer.live and layer.key is not None}
        return key in self.live

    def first_into(self, end: tuple[int, int]) -> Edge:
        """The first edge into a port, by the ids of its layer and of the port."""
        if self.first is None:
            self.first = {(edge.to_layer, edge.to_port): edge for edge in reversed(self.edges)}
        return self.first[end]

    def users_of(self, key: int) -> Sequence[int]:
        """The ids of the layers to which edges lead from a layer."""
        if self.users is None:
            self.users = {}
            for edge in self.edges:
                self.users.setdefault(edge.from_layer, []).append(edge.to_layer)
        return self.users.get(key, ())

    def ids_at(self, side: str, key: int) -> list[int]:
        """The ids of the output ports (``from``) or input ports (``to``) of the layers of an id; only a -1 where they are ambiguous."""
        if (side, key) not in self.ids:
            layers = self.by_key.get(key, ())
            ids = [port.id for each in layers for port in (each.outputs if side == "from" else each.inputs)]
            self.ids[side, key] = [-1] if min(ids, default=0) < 0 or len(set(ids)) < len(ids) else ids
        return self.ids[side, key]


def wired(
    layers: Sequence[Layer],
    elements: Iterable[Element | Edge],
    reader: LayerReader,
    place: Place,
    *,
    version: int,
    live: bool,
) -> dict[Layer, tuple[Value | None, ...]]:
    """The value that an edge brings to each input port of each layer, in the order of the ports in the file.

    Marks the layers that OpenVINO creates as live, none where the graph itself is not, and complains of edges
    and ports that do not fit: as errors where OpenVINO refuses them, as warnings where it passes them over. ``place`` is
    that of the edges.
    """
    wiring = _wiring(layers, elements, reader)
    if not layers:
        return {}
    if live:
        _mark_live(wiring)
    _complain_of_duplicate_layers(wiring, reader)
    if len(wiring.unknown) <= wiring.nameless:
        wiring.reported.update(("layer", key, 0) for key in wiring.unknown)
    inputs, excused = _connected(wiring, reader)
    open_ports: list[OpenPorts] = []
    for layer in layers:
        if len(layer.inputs) > 1 or len(layer.outputs) > 1:
            _complain_of_duplicate_ports(layer, wiring, version, reader)
        if None not in inputs[layer]:
            continue
        ambiguous = layer.key is None or len(wiring.by_key[layer.key]) > 1
        if not (wiring.incomplete or ambiguous or layer in excused):
            open_ports += _open_ports(layer, inputs[layer], version)
    _complain_of_open_ports(open_ports, wiring, reader, place)
    return {layer: tuple(values) for layer, values in inputs.items()}


def _wiring(layers: Sequence[Layer], elements: Iterable[Element | Edge], reader: LayerReader) -> Wiring:
    by_key: dict[int, list[Layer]] = {}
    targets: dict[tuple[int, int], Layer] = {}
    sources: dict[tuple[int, int], tuple[Layer, Value]] = {}
    for layer in layers:
        if layer.key is None:
            continue
        by_key.setdefault(layer.key, []).append(layer)
        for port in layer.inputs:
            targets[layer.key, port.id] = layer
        for port, value in zip(reversed(layer.outputs), reversed(layer.values)):
            sources[layer.key, port.id] = layer, value
    wiring = Wiring(
        layers, [], by_key, set(), targets, sources, {}, nameless=sum(layer.key is None for layer in layers)
    )
    unreadable = {layer.id for layer in layers if layer.key is None and layer.id}
    for element in elements:
        if isinstance(element, Edge):
            wiring.edges.append(element)
            continue
        if unreadable and not unreadable.isdisjoint((element.get("from-layer"), element.get("to-layer"))):
            wiring.incomplete = True
            continue
        from_layer = reader.number(element, "from-layer")
        from_port = reader.number(element, "from-port")
        to_layer = reader.number(element, "to-layer")
        to_port = reader.number(element, "to-port")
        if from_layer is None or from_port is None or to_layer is None or to_port is None:
            wiring.incomplete = True
            continue
        wiring.edges.append(Edge(from_layer, from_port, to_layer, to_port, reader.ordinals[element]))
    return wiring


def _mark_live(wiring: Wiring) -> None:
    sources: dict[int, list[int]] = {}
    for edge in wiring.edges:
        sources.setdefault(edge.to_layer, []).append(edge.from_layer)
    waiting = [layer.key for layer in wiring.layers if layer.type in _SOURCES and layer.key is not None]
    seen = set(waiting)
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if source not in seen:
                seen.add(source)
                waiting.append(source)
    for layer in wiring.layers:
        layer.live = layer.key in seen or layer.type == "Parameter" or layer.key is None


def without_repetitions(layers: list[Layer], reader: LayerReader) -> list[Layer]:
    """The layers without those that say of one id what an earlier layer says of it; complains of each."""
    known: dict[int | None, Layer] = {}
    if len({layer.key for layer in layers}) == len(layers):
        return layers
    kept = []
    for layer in layers:
        first = known.setdefault(layer.key, layer)
        if first is layer or not _says_the_same(first, layer):
            kept.append(layer)
            continue
        fault = DUPLICATE_LAYER_ID.fault(
            f'{layer.type} "{layer.name}" with the id {layer.key} stands in the graph twice',
            help="remove one of the two",
            severity=Severity.WARNING,
        )
        reader.complain(fault, Place(layer.place.element, "id"), first)
    return kept


def _says_the_same(one: Layer, other: Layer) -> bool:
    """Whether two layers of one id, neither with a body, are of one type, with the same attributes and ports."""
    if one.key is None or not (one.children.keys() | other.children.keys()) <= PLAIN:
        return False
    return _sayings(one) == _sayings(other)


def _sayings(layer: Layer) -> list[object]:
    ports = [[(port.id, port.type, port.names) for port in side] for side in (layer.inputs, layer.outputs)]
    texts = {name: attribute.value for name, attribute in layer.attributes.items()}
    return [layer.name, layer.type, layer.version, texts, ports]


def _complain_of_duplicate_layers(wiring: Wiring, reader: LayerReader) -> None:
    used = {edge.to_layer for edge in wiring.edges} | {edge.from_layer for edge in wiring.edges}
    if len(wiring.by_key) + wiring.nameless == len(wiring.layers):
        return
    missing = sorted(wiring.unknown)
    meant = f"the id {missing[0]}, which edges mean and no layer has" if len(missing) == 1 else "another id"
    for key, layers in wiring.by_key.items():
        wiring.nameless += (len(layers) - 1) * (key in used)
        for again in layers[1:]:
            told = _meant(missing[0], layers, wiring) if len(missing) == 1 and len(layers) == 2 else ""
            fault = DUPLICATE_LAYER_ID.fault(
                f'{again.type} "{again.name}" has the id {key}, which {layers[0].type} "{layers[0].name}" has already',
                help=told
                or f"give one of the two {meant}"
                + (", and change the edges that mean it" if len(missing) != 1 else ""),
                severity=Severity.ERROR if key in used and wiring.is_live(key) else Severity.WARNING,
                loses=1,
            )
            reader.complain(fault, Place(again.place.element, "id"), again)


def _meant(missing: int, layers: Sequence[Layer], wiring: Wiring) -> str:
    """Which of two layers of one id is to have the missing one: that whose ports the edges name, while they name those of the
    other by the id of both; "" where both fit, or none."""
    key = layers[0].key
    fitting = [
        one for one, other in (layers, layers[::-1]) if _named(missing, one, wiring) and _named(key, other, wiring)
    ]
    if len(fitting) != 1:
        return ""
    lead = (
        f"{way} {kind} port{'s' * (len(ports) > 1)} {', '.join(map(str, sorted(ports)))}"
        for kind, way in (("input", "into"), ("output", "from"))
        if (ports := wiring.edges_at(kind, missing))
    )
    return (
        f'give {fitting[0].type} "{fitting[0].name}" the id {missing}, which edges mean and no layer has: '
        f"they lead {' and '.join(lead)}, which fits its ports and not those of the other"
    )


def _named(key: int | None, layer: Layer, wiring: Wiring) -> bool:
    """Whether a layer has the ports that edges name of an id, with one edge for each input."""
    ins, outs = wiring.edges_at("input", key), wiring.edges_at("output", key)
    given = {port.id for port in layer.inputs}
    return ins.keys() == given and outs.keys() <= {port.id for port in layer.outputs}


def _connected(wiring: Wiring, reader: LayerReader) -> tuple[dict[Layer, list[Value | None]], set[Layer]]:
    """The value for each input port, and the layers whose free ports another complaint explains already."""
    inputs: dict[Layer, list[Value | None]] = {layer: [None] * len(layer.inputs) for layer in wiring.layers}
    free: dict[tuple[Layer, int], list[int]] = {}
    for layer in wiring.layers:
        for position in reversed(range(len(layer.inputs))):
            free.setdefault((layer, layer.inputs[position].id), []).append(position)
    excused: set[Layer] = set()
    lost: list[Edge] = []
    for edge in wiring.edges:
        target, value = _ends(edge, wiring, reader)
        if target is None:
            lost.append(edge)
            continue
        places = free[target, edge.to_port]
        if not places:
            _complain_of_duplicate_edge(edge, target, wiring, reader)
            lost.append(edge)
            continue
        inputs[target][places.pop()] = value
        if value is None:
            excused.add(target)
    told = {complaint.place.element: at for at, complaint in enumerate(reader.complaints)}
    unknown = {
        key: told[edge.element]
        for edge in wiring.edges
        if edge.element in told
        for key in (edge.from_layer, edge.to_layer)
        if key not in wiring.by_key
    }
    open_layers = {layer for layer, values in inputs.items() if None in values} if lost else set()
    open_keys = {layer.key for layer in open_layers}
    for key in {edge.to_layer for edge in lost}:
        excused.update(open_layers.intersection(wiring.by_key.get(key, ())))
    at = [told.get(edge.element, unknown.get(edge.to_layer)) for edge in lost if edge.to_layer not in open_keys]
    wiring.lost = [index for index in at if index is not None]
    return inputs, excused


def _ends(edge: Edge, wiring: Wiring, reader: LayerReader) -> tuple[Layer | None, Value | None]:
    """The layer that an edge leads to and the value that it brings, None for an end that it does not have, with one complaint."""
    target = wiring.targets.get((edge.to_layer, edge.to_port))
    _, source = wiring.sources.get((edge.from_layer, edge.from_port), (None, None))
    if target is None and source is None and _is_reversed(edge, wiring):
        _complain_of_reversed_edge(edge, wiring, reader)
    elif source is None and edge.from_layer not in wiring.by_key:
        _complain_of_end(edge, wiring, reader, "from")
    elif target is None:
        _complain_of_end(edge, wiring, reader, "to")
    elif source is None:
        _complain_of_end(edge, wiring, reader, "from")
    return target, source


def _is_reversed(edge: Edge, wiring: Wiring) -> bool:
    """Whether an edge would fit the other way round."""
    return (edge.from_layer, edge.from_port) in wiring.targets and (edge.to_layer, edge.to_port) in wiring.sources


def _complain_of_reversed_edge(edge: Edge, wiring: Wiring, reader: LayerReader) -> None:
    source, target = wiring.by_key[edge.from_layer][-1], wiring.by_key[edge.to_layer][-1]
    fault = DANGLING_EDGE.fault(
        f"edge from input port {edge.from_port} of {source.text} to output port {edge.to_port} of {target.text}: "
        "it is the wrong way round",
        help="swap from-layer and from-port of the edge with to-layer and to-port",
        severity=Severity.ERROR if source.live or target.live else Severity.WARNING,
    )
    reader.complain(fault, edge.place, source)


def _complain_of_end(edge: Edge, wiring: Wiring, reader: LayerReader, side: str) -> None:
    """Complains of an end that an edge does not have, unless another complaint tells it."""
    key, id = (edge.from_layer, edge.from_port) if side == "from" else (edge.to_layer, edge.to_port)
    layers, ids = wiring.by_key.get(key, ()), wiring.ids_at(side, key)
    token = ("layer", key, 0) if not layers else (side, key, id if ids else -1)
    if token in wiring.reported or ids == [-1]:
        return
    if not layers and side == "to" and wiring.is_awaited(key):
        return
    if side == "from" or not layers or not ids:
        wiring.reported.add(token)
    if layers:
        _complain_of_unknown_port(edge, side, wiring, reader)
    else:
        _complain_of_unknown_layer(edge, side, wiring, reader)


def _complain_of_unknown_layer(edge: Edge, side: str, wiring: Wiring, reader: LayerReader) -> None:
    key, other = (edge.from_layer, edge.to_layer) if side == "from" else (edge.to_layer, edge.from_layer)
    others = wiring.by_key.get(other)
    text = others[-1].text if others else f"layer {other}"
    ends = f"from layer {key} to {text}" if side == "from" else f"from {text} to layer {key}"
    refused = side == "from" and wiring.is_live(other)
    fault = DANGLING_EDGE.fault(
        f"edge {ends}: no layer has the id {key}",
        help=f'correct "{side}-layer" of the edge' + ", or remove it" * (not refused),
        severity=Severity.ERROR if refused else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.element, f"{side}-layer"), others[-1] if others else None)


def _complain_of_unknown_port(edge: Edge, side: str, wiring: Wiring, reader: LayerReader) -> None:
    key, id = (edge.from_layer, edge.from_port) if side == "from" else (edge.to_layer, edge.to_port)
    layer = wiring.by_key[key][-1]
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    target = wiring.by_key.get(edge.to_layer)
    from irlint.parsers.openvino.ends import port_meant

    fault = DANGLING_EDGE.fault(
        f"edge {side} port {id} of {layer.text}, which has {_listed(kind, ports)}",
        help=port_meant(edge, side, layer, wiring),
        severity=Severity.ERROR if target and target[-1].live else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.element, f"{side}-port"), layer)


def _complain_of_duplicate_edge(edge: Edge, layer: Layer, wiring: Wiring, reader: LayerReader) -> None:
    from irlint.parsers.openvino.ends import edge_meant

    end = edge.to_layer, edge.to_port
    first = wiring.first_into(end)
    fault = DUPLICATE_EDGE.fault(
        f"edge from layer {edge.from_layer} to input port {edge.to_port} of {layer.text}, into which "
        f"{'the edge' if first.from_layer != edge.from_layer else 'another edge'} from layer {first.from_layer} leads already",
        help=edge_meant(edge, first, wiring),
        severity=Severity.ERROR if layer.live else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.element, "to-port"), layer)


def _complain_of_duplicate_ports(layer: Layer, wiring: Wiring, version: int, reader: LayerReader) -> None:
    for kind, ports in (("input", layer.inputs), ("output", layer.outputs)):
        seen: set[int] = set()
        ids = {port.id for port in ports}
        if len(ids) == len(ports):
            continue
        named = wiring.edges_at(kind, layer.key)
        misnamed = not named.keys() <= ids
        for at, port in enumerate(ports):
            if port.id not in seen or port.id < 0:
                seen.add(port.id)
                continue
            edges = named.get(port.id, 0)
            refused = version > 10 or (kind == "input" and (edges > 1 or at < len(ports) - 1))
            if misnamed:
                edges, refused = 1, True
            fault = INVALID_PORT.fault(
                f"two {kind} ports of {layer.text} have the id {port.id}",
                help="give each port of a layer an id of its own",
                attribute="id",
                severity=Severity.ERROR if edges and refused and layer.live else Severity.WARNING,
            )
            reader.complain(fault, layer.place.located(Place(port.place.element, "id")), layer)


@record
class OpenPorts:
    """Input ports of a layer into which no edge leads, by their places in it; ``refused`` says that OpenVINO wants one there."""

    layer: Layer
    ports: tuple[int, ...]
    refused: bool


def _open_ports(layer: Layer, inputs: list[Value | None], version: int) -> Iterator[OpenPorts]:
    """The open ports of a layer: all in one where it has no others."""
    if len({port.id for port in layer.inputs}) < len(layer.inputs):
        return
    found = []
    last = max((at for at, value in enumerate(inputs) if value is not None), default=-1)
    for at, port in enumerate(layer.inputs):
        if inputs[at] is not None or port.id < 0:
            continue
        gap = (at == 0 and layer.type in _SOURCES) or at < last
        refused = gap or (version > 10 and (at == 0 or at >= FILLED_IN.get(layer.op, 0)))
        found.append(OpenPorts(layer, (at,), layer.live and refused))
    if len(found) > 1 and len(found) == len(inputs):
        found = [OpenPorts(layer, tuple(range(len(inputs))), layer.live)]
    yield from found


def _complain_of_open_ports(found: list[OpenPorts], wiring: Wiring, reader: LayerReader, place: Place) -> None:
    """Complains of open ports, except those that are open because an edge leads to no port."""
    if len(found) > 1 and not wiring.edges:
        refused = any(each.refused for each in found)
        fault = UNCONNECTED_PORT.fault(
            f"the graph has no edges, so no edge leads into the input ports of {len(found)} layers",
            help="write the <edges> of the graph; only its first <edges> element counts",
            severity=Severity.ERROR if refused else Severity.WARNING,
        )
        reader.complain(fault, place)
        return
    for at, each in zip(wiring.lost, found):
        if each.refused:
            lost = reader.complaints[at]
            reader.complaints[at] = Complaint(lost.fault.lowered(Severity.ERROR), lost.place, each.layer)
    for each in found[len(wiring.lost) :]:
        _complain_of_open_port(each, reader)


def _complain_of_open_port(found: OpenPorts, reader: LayerReader) -> None:
    layer, first = found.layer, found.layer.inputs[found.ports[0]]
    ids = [str(layer.inputs[at].id) for at in found.ports]
    shown = f"port {ids[0]}" if len(ids) == 1 else f"ports {', '.join(ids[:-1])} and {ids[-1]}"
    fault = UNCONNECTED_PORT.fault(
        f"no edge leads into input {shown} of {layer.text}",
        help=f'add an edge with to-layer="{layer.id}" to-port="{first.id}"'
        + ", or remove the port" * (not found.refused),
        input=found.ports[0],
        severity=Severity.ERROR if found.refused else Severity.WARNING,
    )
    reader.complain(fault, layer.place.located(first.place), layer)


def _listed(kind: str, ports: Sequence[Port]) -> str:
    if not ports:
        return f"no {kind} ports"
    if len(ports) == 1:
        return f"only the {kind} port {ports[0].id}"
    some = ports if len(ports) < 12 else ports[:9]
    shown = [str(port.id) for port in some] + ["…", str(ports[-1].id)] * (len(some) < len(ports))
    return f"{kind} ports {', '.join(shown[:-1])} and {shown[-1]}"
