"""Connects the ports of layers along the edges of an IR, as OpenVINO does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.model import Place, Value
from irlint.parsers.openvino.layers import Element, Layer, LayerReader, has_repeated_ids
from irlint.parsers.openvino.operations import FILLED_IN
from irlint.parsers.openvino.wiring import SINKS, Edge, UnconnectedPorts, Wiring, mark_live, wiring_of

#: The entry of ``Wiring.targets`` for an edge whose target port does not exist.
_NO_TARGET: tuple[None, list[int]] = (None, [])


def wired(
    layers: Sequence[Layer],
    elements: Iterable[Element | Edge],
    reader: LayerReader,
    place: Place,
    *,
    version: int,
    live: bool,
) -> None:
    """Sets ``given`` of each layer, and complains of edges and ports that do not fit.

    If OpenVINO creates the graph (``live``), also sets ``live`` of each layer. A complaint is an error if OpenVINO
    refuses the model, else a warning. ``place`` is the place of ``<edges>``.
    """
    wiring = wiring_of(layers, elements, reader)
    if not layers:
        return
    if live:
        mark_live(wiring)
    if len(wiring.by_key) + wiring.nameless < len(layers):
        from irlint.parsers.openvino.duplicate_layers import complain_of_duplicate_layers

        complain_of_duplicate_layers(wiring, reader)
    unknown = wiring.unknown
    if len(unknown) <= wiring.nameless:
        wiring.reported.update(("layer", key, 0) for key in unknown)
    excused = _connect(wiring, reader)
    for layer in layers:
        if layer.has_repeated_ids:
            from irlint.parsers.openvino.edge_complaints import complain_of_duplicate_ports

            complain_of_duplicate_ports(layer, wiring, version, reader)
    lacking = [layer for layer in layers if None in layer.given and layer not in excused]
    if lacking and not wiring.incomplete:
        from irlint.parsers.openvino.edge_complaints import complain_of_unconnected_ports

        certain = [layer for layer in lacking if not wiring.is_ambiguous(layer)]
        found = [each for layer in certain for each in _unconnected_ports(layer, version)]
        complain_of_unconnected_ports(found, wiring, reader, place)


def _connect(wiring: Wiring, reader: LayerReader) -> set[Layer]:
    """Sets ``given`` of each layer; returns the layers whose unconnected ports another complaint explains."""
    targets, sources = wiring.targets, wiring.sources
    excused: set[Layer] = set()
    lost: list[Edge] = []
    for edge in wiring.edges:
        target, unused = targets.get(edge.target, _NO_TARGET)
        value = sources.get(edge.source)
        if target is None or value is None:
            _complain_of_ends(edge, target, value, wiring, reader)
        if target is None:
            lost.append(edge)
        elif unused:
            target.given[unused.pop()] = value
            if value is None:
                excused.add(target)
        else:
            from irlint.parsers.openvino.edge_complaints import complain_of_duplicate_edge

            complain_of_duplicate_edge(edge, target, wiring, reader)
            lost.append(edge)
    if lost:
        unconnected_layers = {layer for layer in wiring.layers if None in layer.given}
        for key in {edge.to_layer for edge in lost}:
            excused.update(unconnected_layers.intersection(wiring.by_key.get(key, ())))
        wiring.lost_edge_complaints = _lost_edge_complaints(lost, unconnected_layers, wiring, reader)
    return excused


def _lost_edge_complaints(
    lost: Iterable[Edge], unconnected_layers: Iterable[Layer], wiring: Wiring, reader: LayerReader
) -> list[int]:
    """The indices of the complaints about ``lost`` edges. Omits edges into layers that have unconnected ports."""
    by_element = {complaint.place.element: at for at, complaint in enumerate(reader.complaints)}
    by_layer: dict[int, int] = {}
    for edge in wiring.edges:
        if edge.element in by_element:
            by_layer |= dict.fromkeys((edge.from_layer, edge.to_layer), by_element[edge.element])
    unconnected_keys = {layer.key for layer in unconnected_layers}
    found = []
    for edge in lost:
        about_layer = None if edge.to_layer in wiring.by_key else by_layer.get(edge.to_layer)
        at = by_element.get(edge.element, about_layer)
        if at is not None and edge.to_layer not in unconnected_keys:
            found.append(at)
    return found


def _complain_of_ends(
    edge: Edge, target: Layer | None, value: Value | None, wiring: Wiring, reader: LayerReader
) -> None:
    from irlint.parsers.openvino.edge_complaints import complain_of_end, complain_of_reversed_edge

    if target is None and value is None and _is_reversed(edge, wiring):
        complain_of_reversed_edge(edge, wiring, reader)
    else:
        has_source = value is not None or edge.from_layer in wiring.by_key
        complain_of_end(edge, wiring, reader, "to" if target is None and has_source else "from")


def _is_reversed(edge: Edge, wiring: Wiring) -> bool:
    return edge.source in wiring.targets and edge.target in wiring.sources


def _unconnected_ports(layer: Layer, version: int) -> list[UnconnectedPorts]:
    """A record for each unconnected port. If no edge leads into any of several ports, there is only one record."""
    if has_repeated_ids(layer.inputs):
        return []
    found = [at for at, port in enumerate(layer.inputs) if layer.given[at] is None and port.id >= 0]
    if len(found) > 1 and len(found) == len(layer.given):
        return [UnconnectedPorts(layer, tuple(found), layer.live)]
    last = max((at for at, value in enumerate(layer.given) if value is not None), default=-1)
    return [
        UnconnectedPorts(layer, (at,), layer.live and (at < last or _is_required(layer, at, version))) for at in found
    ]


def _is_required(layer: Layer, at: int, version: int) -> bool:
    """Whether OpenVINO refuses a layer if no edge leads into its inputs from position ``at`` on."""
    if at == 0 and layer.type in SINKS:
        return True
    return version > 10 and (at == 0 or at >= FILLED_IN.get(layer.op, 0))
