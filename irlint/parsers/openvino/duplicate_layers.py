"""Complains of layers that have the id of another layer. Removes layers that repeat another layer exactly."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.faults import Severity
from irlint.model import Place
from irlint.parsers.openvino.edge_rules import DUPLICATE_LAYER_ID
from irlint.parsers.openvino.layers import Layer, LayerReader
from irlint.parsers.openvino.wiring import PLAIN, Wiring


def without_repetitions(layers: list[Layer], reader: LayerReader) -> list[Layer]:
    """The layers without exact repetitions; complains of each repetition."""
    known: dict[int | None, Layer] = {}
    kept = []
    for layer in layers:
        first = known.setdefault(layer.key, layer)
        if first is layer or not _are_equal(first, layer):
            kept.append(layer)
            continue
        fault = DUPLICATE_LAYER_ID.fault(
            f'{layer.type} "{layer.name}" with the id {layer.key} appears twice in the graph',
            help="remove one of the two",
            severity=Severity.WARNING,
        )
        reader.complain(fault, Place(layer.place.element, "id"), first)
    return kept


def _are_equal(one: Layer, other: Layer) -> bool:
    if one.key is None or not (one.children.keys() | other.children.keys()) <= PLAIN:
        return False
    return _facts(one) == _facts(other)


def _facts(layer: Layer) -> list[object]:
    ports = [[(port.id, port.type, port.names) for port in side] for side in (layer.inputs, layer.outputs)]
    texts = {name: attribute.value for name, attribute in layer.attributes.items()}
    return [layer.name, layer.type, layer.version, texts, ports]


def complain_of_duplicate_layers(wiring: Wiring, reader: LayerReader) -> None:
    """Complains of each layer with the id of an earlier layer; adds it to ``wiring.nameless`` if edges use the id."""
    used = {edge.to_layer for edge in wiring.edges} | {edge.from_layer for edge in wiring.edges}
    missing = sorted(wiring.unknown)
    for key, layers in wiring.by_key.items():
        wiring.nameless += (len(layers) - 1) * (key in used)
        for again in layers[1:]:
            fault = DUPLICATE_LAYER_ID.fault(
                f'{layers[0].type} "{layers[0].name}" and {again.type} "{again.name}" have the same id, {key}',
                help=_other_id(missing, layers, wiring),
                severity=Severity.ERROR if key in used and wiring.is_live(key) else Severity.WARNING,
                loses=1,
            )
            reader.complain(fault, Place(again.place.element, "id"), again)


def _other_id(missing: Sequence[int], layers: Sequence[Layer], wiring: Wiring) -> str:
    """The help for ``layers`` with the same id. ``missing`` are the ids that edges use, and that no layer has."""
    if len(missing) != 1:
        return "change the id of one of the two, and the edges that refer to it"
    fitting = (
        [one for one, other in (layers, layers[::-1]) if _fit_if_renamed(one, other, missing[0], wiring)]
        if len(layers) == 2
        else []
    )
    if len(fitting) != 1:
        return f"give one of the two the id {missing[0]}, to which edges refer but which no layer has"
    sides = (("input", "into"), ("output", "from"))
    named = [(kind, word, sorted(wiring.edges_at(kind, missing[0]))) for kind, word in sides]
    leads = [f"{word} {kind} port{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}" for kind, word, ids in named if ids]
    return (
        f'give {fitting[0].type} "{fitting[0].name}" the id {missing[0]}, to which edges refer but which no layer has: '
        f"they lead {' and '.join(leads)}, which fits its ports but not those of the other layer"
    )


def _fit_if_renamed(layer: Layer, other: Layer, missing: int, wiring: Wiring) -> bool:
    return _has_named_ports(layer, missing, wiring) and _has_named_ports(other, other.key, wiring)


def _has_named_ports(layer: Layer, key: int | None, wiring: Wiring) -> bool:
    """Whether the edges of the layer id ``key`` fit the ports of ``layer``, and one leads into each of its inputs."""
    ins, outs = wiring.edges_at("input", key), wiring.edges_at("output", key)
    given = {port.id for port in layer.inputs}
    return ins.keys() == given and outs.keys() <= {port.id for port in layer.outputs}
