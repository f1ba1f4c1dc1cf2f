"""How the edges of an IR tie ports to ports, and which layers OpenVINO creates at all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.diagnostics import Rule, Severity
from irlint.model import Place, Value
from irlint.parsers.ir_layers import INVALID_PORT, Element, Layer, LayerReader
from irlint.records import record

_GOOD = """<net version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="2,3" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="1" name="sum" type="Add" version="opset1">
      <input>
        <port id="0"><dim>2</dim><dim>3</dim></port>
        <port id="1"><dim>2</dim><dim>3</dim></port>
      </input>
      <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2" name="r" type="Result" version="opset1">
      <input><port id="0"><dim>2</dim><dim>3</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
    <edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>
    <edge from-layer="1" from-port="2" to-layer="2" to-port="0"/>
  </edges>
</net>
"""
_SECOND_EDGE = '    <edge from-layer="0" from-port="0" to-layer="1" to-port="1"/>\n'

DANGLING_EDGE = Rule(
    "IRL105",
    "dangling-edge",
    Severity.ERROR,
    "An edge leads from or to a layer or a port that does not exist.",
    why="OpenVINO refuses such a model with a text that names neither the edge nor the port. "
    "Only an edge to a layer that does not exist is passed over in silence.",
    mend="Give the edge the ids of the layers and of the ports that it is to join.",
    bad=_GOOD.replace('to-layer="1" to-port="1"', 'to-layer="1" to-port="4"'),
    good=_GOOD,
)

DUPLICATE_LAYER_ID = Rule(
    "IRL106",
    "duplicate-layer-id",
    Severity.ERROR,
    "Two layers of a graph have the same id.",
    why="Edges name layers by their id: with two of them it is open which one is meant. "
    "OpenVINO takes the last one and drops the others without a word.",
    mend="Give each layer an id of its own, and the edges the id of the layer that is meant.",
    bad=_GOOD.replace(
        '    <layer id="2"',
        """    <layer id="1" name="product" type="Multiply" version="opset1">
      <input>
        <port id="0"><dim>2</dim><dim>3</dim></port>
        <port id="1"><dim>2</dim><dim>3</dim></port>
      </input>
      <output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output>
    </layer>
    <layer id="2\"""",
    ),
    good=_GOOD,
)

DUPLICATE_EDGE = Rule(
    "IRL107",
    "duplicate-edge",
    Severity.ERROR,
    "Two edges lead into one input port.",
    why="An input port takes one value. OpenVINO counts the edges as inputs and refuses the layer.",
    mend="Remove the edge that is too many, or lead it to the port that it is meant for.",
    bad=_GOOD.replace(_SECOND_EDGE, _SECOND_EDGE * 2),
    good=_GOOD,
)

UNCONNECTED_PORT = Rule(
    "IRL108",
    "unconnected-port",
    Severity.ERROR,
    "No edge leads into an input port.",
    why="The layer waits for a value that nothing gives. OpenVINO refuses the model.",
    mend="Add the edge, or remove the port where the input is optional.",
    bad=_GOOD.replace(_SECOND_EDGE, ""),
    good=_GOOD,
)

_SOURCES = frozenset({"Result", "Assign"})

#: Operations whose last inputs OpenVINO may fill in by itself: it accepts ports without an edge there.
_FILLED_IN = frozenset(
    {
        "Broadcast",
        "CTCGreedyDecoderSeqLen",
        "CTCLoss",
        "CumSum",
        "DFT",
        "DeformableConvolution",
        "DeformablePSROIPooling",
        "DetectionOutput",
        "EmbeddingBagOffsets",
        "EmbeddingBagOffsetsSum",
        "EmbeddingBagPacked",
        "EmbeddingBagPackedSum",
        "EmbeddingSegmentsSum",
        "Eye",
        "FakeConvert",
        "GRUCell",
        "GroupConvolutionBackpropData",
        "GroupedMatMul",
        "IDFT",
        "ISTFT",
        "Interpolate",
        "LSTMCell",
        "NonMaxSuppression",
        "Pad",
        "PriorBoxClustered",
        "RNNCell",
        "SegmentMax",
        "Slice",
        "SliceScatter",
        "StridedSlice",
        "Unique",
    }
)


@record
class Edge:
    """An ``<edge>``: layers and ports by their ids."""

    from_layer: int
    from_port: int
    to_layer: int
    to_port: int
    place: Place


@record(frozen=False, eq=False)
class Wiring:
    """The layers and edges of one graph; ``incomplete`` says that an edge of it could not be read.

    ``nameless`` counts the layers that no edge can mean, for want of an id of their own.
    """

    layers: Sequence[Layer]
    edges: list[Edge]
    by_key: dict[int, list[Layer]]
    reported: set[tuple[str, int, int]]
    incomplete: bool = False
    nameless: int = 0

    @property
    def unknown(self) -> set[int]:
        """The ids that edges name and no layer has."""
        named = {edge.from_layer for edge in self.edges} | {edge.to_layer for edge in self.edges}
        return named - self.by_key.keys()


def wired(
    layers: Sequence[Layer], elements: Iterable[Element], reader: LayerReader, *, version: int, live: bool
) -> dict[Layer, tuple[Value | None, ...]]:
    """The value that an edge brings to each input port of each layer, in the order of the ports in the file.

    Marks the layers that OpenVINO creates as live, none where the graph itself is not, and complains of edges
    and ports that do not fit: as errors where OpenVINO refuses them, as warnings where it passes them over.
    """
    wiring = _wiring(layers, elements, reader)
    if live:
        _mark_live(wiring)
    _complain_of_duplicate_layers(wiring, reader)
    if len(wiring.unknown) <= wiring.nameless:
        wiring.reported.update(("layer", key, 0) for key in wiring.unknown)
    inputs, excused = _connected(wiring, reader)
    for layer in layers:
        _complain_of_duplicate_ports(layer, wiring, reader)
        ambiguous = layer.key is None or len(wiring.by_key[layer.key]) > 1
        if not (wiring.incomplete or ambiguous or layer in excused):
            _complain_of_unconnected_ports(layer, inputs[layer], version, reader)
    return {layer: tuple(values) for layer, values in inputs.items()}


def _wiring(layers: Sequence[Layer], elements: Iterable[Element], reader: LayerReader) -> Wiring:
    by_key: dict[int, list[Layer]] = {}
    for layer in layers:
        if layer.key is not None:
            by_key.setdefault(layer.key, []).append(layer)
    wiring = Wiring(layers, [], by_key, set(), nameless=sum(layer.key is None for layer in layers))
    for element in elements:
        from_layer = reader.number(element, "from-layer")
        from_port = reader.number(element, "from-port")
        to_layer = reader.number(element, "to-layer")
        to_port = reader.number(element, "to-port")
        if from_layer is None or from_port is None or to_layer is None or to_port is None:
            wiring.incomplete = True
            continue
        place = Place(reader.ordinals[element])
        wiring.edges.append(Edge(from_layer, from_port, to_layer, to_port, place))
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


def _complain_of_duplicate_layers(wiring: Wiring, reader: LayerReader) -> None:
    used = {edge.to_layer for edge in wiring.edges} | {edge.from_layer for edge in wiring.edges}
    for key, layers in wiring.by_key.items():
        wiring.nameless += (len(layers) - 1) * (key in used)
        for again in layers[1:]:
            fault = DUPLICATE_LAYER_ID.fault(
                f'{again.type} "{again.name}" has the id {key}, which {layers[0].type} "{layers[0].name}" has already',
                help="give one of the two another id, and change the edges that mean it",
                severity=Severity.ERROR if key in used else Severity.WARNING,
            )
            reader.complain(fault, Place(again.place.element, "id"), again)


def _connected(wiring: Wiring, reader: LayerReader) -> tuple[dict[Layer, list[Value | None]], set[Layer]]:
    """The value for each input port, and the layers whose free ports another complaint explains already."""
    inputs: dict[Layer, list[Value | None]] = {layer: [None] * len(layer.inputs) for layer in wiring.layers}
    taken: dict[tuple[Layer, int], Edge] = {}
    excused: set[Layer] = set()
    for edge in wiring.edges:
        layer = _end(edge, wiring, reader, "to")
        source = _end(edge, wiring, reader, "from")
        if layer is None:
            excused.update(wiring.by_key.get(edge.to_layer, ()))
            continue
        value = None
        if source is not None:
            value = next(value for value in source.values if value.port == edge.from_port)
        free = [at for at, port in enumerate(layer.inputs) if port.id == edge.to_port and (layer, at) not in taken]
        if not free:
            _complain_of_duplicate_edge(edge, layer, reader)
            excused.add(layer)
            continue
        taken[layer, free[0]] = edge
        inputs[layer][free[0]] = value
        if source is None:
            excused.add(layer)
    return inputs, excused


def _end(edge: Edge, wiring: Wiring, reader: LayerReader, side: str) -> Layer | None:
    """The layer at one end of an edge if it has the port, else None, with a complaint."""
    key, id = (edge.from_layer, edge.from_port) if side == "from" else (edge.to_layer, edge.to_port)
    layers = wiring.by_key.get(key, ())
    for layer in reversed(layers):
        if any(port.id == id for port in (layer.outputs if side == "from" else layer.inputs)):
            return layer
    ids = [port.id for layer in layers for port in (layer.outputs if side == "from" else layer.inputs)]
    token = ("layer", key, 0) if not layers else (side, key, id)
    if token in wiring.reported or min(ids, default=0) < 0 or len(set(ids)) < len(ids):
        return None
    if side == "from" or not layers:
        wiring.reported.add(token)
    if layers:
        _complain_of_unknown_port(edge, side, wiring, reader)
    else:
        _complain_of_unknown_layer(edge, side, wiring, reader)
    return None


def _complain_of_unknown_layer(edge: Edge, side: str, wiring: Wiring, reader: LayerReader) -> None:
    key, other = (edge.from_layer, edge.to_layer) if side == "from" else (edge.to_layer, edge.from_layer)
    others = wiring.by_key.get(other)
    text = others[-1].text if others else f"layer {other}"
    ends = f"from layer {key} to {text}" if side == "from" else f"from {text} to layer {key}"
    refused = side == "from" and bool(others) and others[-1].live  # type: ignore[index]
    fault = DANGLING_EDGE.fault(
        f"edge {ends}: no layer has the id {key}",
        help=f'correct "{side}-layer" of the edge, or remove it',
        severity=Severity.ERROR if refused else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.place.element, f"{side}-layer"), others[-1] if others else None)


def _complain_of_unknown_port(edge: Edge, side: str, wiring: Wiring, reader: LayerReader) -> None:
    key, id = (edge.from_layer, edge.from_port) if side == "from" else (edge.to_layer, edge.to_port)
    layer = wiring.by_key[key][-1]
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    target = wiring.by_key.get(edge.to_layer)
    fault = DANGLING_EDGE.fault(
        f"edge {side} port {id} of {layer.text}, which has {_listed(kind, [port.id for port in ports])}",
        help=f'correct "{side}-port" of the edge, or give the layer the port;'
        + f" of several <{kind}> elements in a layer only the first counts",
        severity=Severity.ERROR if target and target[-1].live else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.place.element, f"{side}-port"), layer)


def _complain_of_duplicate_edge(edge: Edge, layer: Layer, reader: LayerReader) -> None:
    fault = DUPLICATE_EDGE.fault(
        f"edge from layer {edge.from_layer} to input port {edge.to_port} of {layer.text}, "
        "into which another edge leads already",
        help="remove one of the two edges, or lead it to another port",
        severity=Severity.ERROR if layer.live else Severity.WARNING,
    )
    reader.complain(fault, Place(edge.place.element, "to-port"), layer)


def _complain_of_duplicate_ports(layer: Layer, wiring: Wiring, reader: LayerReader) -> None:
    for kind, ports in (("input", layer.inputs), ("output", layer.outputs)):
        seen: set[int] = set()
        for port in ports:
            if port.id not in seen or port.id < 0:
                seen.add(port.id)
                continue
            used = any(
                (edge.to_layer, edge.to_port) == (layer.key, port.id)
                if kind == "input"
                else (edge.from_layer, edge.from_port) == (layer.key, port.id)
                for edge in wiring.edges
            )
            fault = INVALID_PORT.fault(
                f"two {kind} ports of {layer.text} have the id {port.id}",
                help="give each port of a layer an id of its own",
                attribute="id",
                severity=Severity.ERROR if used and layer.live else Severity.WARNING,
            )
            reader.complain(fault, Place(port.place.element, "id"), layer)


def _complain_of_unconnected_ports(layer: Layer, inputs: list[Value | None], version: int, reader: LayerReader) -> None:
    repeated = len({port.id for port in layer.inputs}) < len(layer.inputs)
    if repeated:
        return
    for at, port in enumerate(layer.inputs):
        if inputs[at] is not None or port.id < 0:
            continue
        gap = layer.type in _SOURCES or any(value is not None for value in inputs[at:])
        refused = gap or (version > 10 and (at == 0 or layer.op not in _FILLED_IN))
        fault = UNCONNECTED_PORT.fault(
            f"no edge leads into input port {port.id} of {layer.text}",
            help=f'add an edge with to-layer="{layer.id}" to-port="{port.id}", or remove the port',
            input=at,
            severity=Severity.ERROR if layer.live and refused else Severity.WARNING,
        )
        reader.complain(fault, port.place, layer)


def _listed(kind: str, ids: list[int]) -> str:
    if not ids:
        return f"no {kind} ports"
    if len(ids) == 1:
        return f"only the {kind} port {ids[0]}"
    shown = [str(id) for id in ids] if len(ids) < 12 else [*map(str, ids[:9]), "…", str(ids[-1])]
    return f"{kind} ports {', '.join(shown[:-1])} and {shown[-1]}"
