"""Complains of the edges and ports of an IR: missing ends, repeated ids, ports without an edge."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Severity
from irlint.model import Place, Port
from irlint.parsers.openvino.edge_rules import DANGLING_EDGE, DUPLICATE_EDGE, UNCONNECTED_PORT
from irlint.parsers.openvino.ends import edge_help, port_help
from irlint.parsers.openvino.layers import INVALID_PORT, Complaint, Layer, LayerReader
from irlint.parsers.openvino.wiring import Edge, Side, UnconnectedPorts, Wiring


def complain_of_reversed_edge(edge: Edge, wiring: Wiring, reader: LayerReader) -> None:
    """Complains of an edge that would fit if its two ends were swapped."""
    source, target = wiring.by_key[edge.from_layer][-1], wiring.by_key[edge.to_layer][-1]
    fault = DANGLING_EDGE.fault(
        f"edge from input port {edge.from_port} of {source.text} to output port {edge.to_port} of {target.text}: its "
        "direction is reversed",
        help="swap from-layer and from-port of the edge with to-layer and to-port",
        severity=Severity.ERROR if source.live or target.live else Severity.WARNING,
    )
    reader.complain(fault, edge.place, source)


def complain_of_end(edge: Edge, wiring: Wiring, reader: LayerReader, side: Side) -> None:
    """Complains of an edge with a missing layer or port at one end, unless another complaint covers this end."""
    key, id = edge.end(side)
    if key not in wiring.by_key:
        if ("layer", key, 0) not in wiring.reported and (side == "from" or not wiring.feeds_live_layer(key)):
            wiring.reported.add(("layer", key, 0))
            _complain_of_unknown_layer(edge, side, wiring, reader)
        return
    ids = wiring.ids_at(side, key)
    token = side, key, id if ids else -1
    if token in wiring.reported or ids == [-1]:
        return
    if side == "from" or not ids:
        wiring.reported.add(token)
    _complain_of_unknown_port(edge, side, wiring, reader)


def _complain_of_unknown_layer(edge: Edge, side: Side, wiring: Wiring, reader: LayerReader) -> None:
    (key, _), (other, _) = edge.end(side), edge.end("to" if side == "from" else "from")
    refused = side == "from" and wiring.is_live(other)
    severity, place = Severity.ERROR if refused else Severity.WARNING, Place(edge.element, f"{side}-layer")
    if reader.complaints.omits(DANGLING_EDGE, severity, place):
        return
    others = wiring.by_key.get(other)
    text = others[-1].text if others else f"layer {other}"
    ends = f"from layer {key} to {text}" if side == "from" else f"from {text} to layer {key}"
    fault = DANGLING_EDGE.fault(
        f"edge {ends}: no layer has the id {key}",
        help=f'correct "{side}-layer" of the edge' + ", or remove it" * (not refused),
        severity=severity,
    )
    reader.complain(fault, place, others[-1] if others else None)


def _complain_of_unknown_port(edge: Edge, side: Side, wiring: Wiring, reader: LayerReader) -> None:
    target = wiring.by_key.get(edge.to_layer)
    severity = Severity.ERROR if target and target[-1].live else Severity.WARNING
    place = Place(edge.element, f"{side}-port")
    if reader.complaints.omits(DANGLING_EDGE, severity, place):
        return
    key, id = edge.end(side)
    layer = wiring.by_key[key][-1]
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    fault = DANGLING_EDGE.fault(
        f"edge {side} port {id} of {layer.text}, which has {_listed(kind, ports)}",
        help=port_help(edge, side, layer, wiring),
        severity=severity,
    )
    reader.complain(fault, place, layer)


def complain_of_duplicate_edge(edge: Edge, layer: Layer, wiring: Wiring, reader: LayerReader) -> None:
    """Complains of an edge into a port that already has an edge."""
    severity, place = Severity.ERROR if layer.live else Severity.WARNING, Place(edge.element, "to-port")
    if reader.complaints.omits(DUPLICATE_EDGE, severity, place):
        return
    first = wiring.first_into(edge.target)
    fault = DUPLICATE_EDGE.fault(
        f"edge from layer {edge.from_layer} to input port {edge.to_port} of {layer.text}, into which "
        f"{'the edge' if first.from_layer != edge.from_layer else 'another edge'} from layer {first.from_layer} "
        "already leads",
        help=edge_help(edge, first, wiring),
        severity=severity,
    )
    reader.complain(fault, place, layer)


def complain_of_duplicate_ports(layer: Layer, wiring: Wiring, version: int, reader: LayerReader) -> None:
    """Complains of each port of a layer that has the id of an earlier port on the same side."""
    for kind, ports in (("input", layer.inputs), ("output", layer.outputs)):
        first = {port.id: at for at, port in reversed(list(enumerate(ports)))}
        if len(first) == len(ports):
            continue
        named = wiring.edges_at(kind, layer.key)
        misnamed = not named.keys() <= first.keys()
        for at, port in enumerate(ports):
            if first[port.id] == at or port.id < 0:
                continue
            edges = named.get(port.id, 0)
            refused = version > 10 or (kind == "input" and (edges > 1 or at < len(ports) - 1))
            is_error = layer.live and (misnamed or (edges > 0 and refused))
            fault = INVALID_PORT.fault(
                f"two {kind} ports of {layer.text} have the id {port.id}",
                help="give each port of a layer its own id",
                attribute="id",
                severity=Severity.ERROR if is_error else Severity.WARNING,
            )
            reader.complain(fault, layer.place.located(Place(port.place.element, "id")), layer)


def complain_of_unconnected_ports(
    found: Sequence[UnconnectedPorts], wiring: Wiring, reader: LayerReader, place: Place
) -> None:
    """Complains of ports into which no edge leads.

    For each complaint about a lost edge, omits one of these complaints, because the lost edge probably belongs to the
    port. If OpenVINO refuses the port, the complaint about the lost edge becomes an error.
    """
    if len(found) > 1 and not wiring.edges:
        refused = any(each.refused for each in found)
        fault = UNCONNECTED_PORT.fault(
            f"the graph has no edges, so no edge leads into the input ports of {len(found)} layers",
            help="write the <edges> of the graph; only its first <edges> element counts",
            severity=Severity.ERROR if refused else Severity.WARNING,
        )
        reader.complain(fault, place)
        return
    for at, each in zip(wiring.lost_edge_complaints, found):
        if each.refused:
            lost = reader.complaints[at]
            reader.complaints[at] = Complaint(lost.fault.changed(severity=Severity.ERROR), lost.place, each.layer)
    for each in found[len(wiring.lost_edge_complaints) :]:
        _complain_of_unconnected_port(each, reader)


def _complain_of_unconnected_port(found: UnconnectedPorts, reader: LayerReader) -> None:
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
