"""Which port or edge of an IR is meant where an edge names a port that its layer does not have, or one that is taken."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Port
from irlint.model.tensor import Tensor, Type, shape_text

if TYPE_CHECKING:
    from irlint.parsers.openvino.edges import Edge, Wiring
    from irlint.parsers.openvino.layers import Layer


def port_meant(edge: Edge, side: str, layer: Layer, wiring: Wiring) -> str:
    """What to write for the end of an edge (``from`` or ``to``) that names no port of its layer: the port that fits the other end, or
    the layer that leads nowhere and fits it."""
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    wanted = _declared(edge, wiring) if side == "from" else _given(edge, wiring)
    named = wiring.edges_at(kind, layer.key)
    free = [port for port in ports if side == "from" or port.id not in named]
    behind = _behind(edge, wiring) if side == "from" else ()
    fitting = [
        port for port in free if wanted is not None and _are_alike(port.type, wanted) and layer.key not in behind
    ]
    if wanted is not None and len(fitting) == 1:
        verb = "gives" if side == "from" else "declares"
        return f'write {side}-port="{fitting[0].id}": {kind} port {fitting[0].id} {verb} {shape_text(wanted.shape)}'
    idle = list(_idle(wanted, edge, wiring)) if side == "from" and wanted is not None and not fitting else []
    if wanted is not None and len(idle) == 1:
        other, port = idle[0]
        return (
            f'write from-layer="{other.key}" from-port="{port.id}": {other.type} "{other.name}" leads nowhere and gives the '
            f"{shape_text(wanted.shape)} that input port {edge.to_port} of layer {edge.to_layer} declares"
        )
    several = f"; of several <{kind}> elements in a layer only the first counts"
    return f'correct "{side}-port" of the edge, or give the layer the port{several * layer.repeats}'


def edge_meant(edge: Edge, other: Edge, wiring: Wiring) -> str:
    """Which of two edges into one port to remove: the one whose source does not give what the port declares."""
    wanted = _declared(edge, wiring)
    given = [(each, _given(each, wiring)) for each in (edge, other)]
    fitting = [each for each, type in given if wanted and isinstance(type, Tensor) and _are_alike(type, wanted)]
    if wanted is None or len(fitting) != 1 or edge.from_layer == other.from_layer:
        return "remove one of the two edges, or lead it to another port"
    wrong = other if fitting[0] is edge else edge
    return (
        f"remove the edge from layer {wrong.from_layer}, or lead it to another port: port {edge.to_port} declares the "
        f"{shape_text(wanted.shape)} that layer {fitting[0].from_layer} gives"
    )


def _declared(edge: Edge, wiring: Wiring) -> Tensor | None:
    """What the input port declares that an edge leads to, where it says its axes."""
    layer = wiring.targets.get((edge.to_layer, edge.to_port))
    types = (port.type for port in (layer.inputs if layer is not None else ()) if port.id == edge.to_port)
    return next((type for type in types if type.shape), None)


def _given(edge: Edge, wiring: Wiring) -> Tensor | None:
    """What the output port declares that an edge leads from, where it says its axes."""
    _, value = wiring.sources.get((edge.from_layer, edge.from_port), (None, None))
    type = value.type if value is not None else None
    return type if isinstance(type, Tensor) and type.shape else None


def _idle(wanted: Tensor, edge: Edge, wiring: Wiring) -> Iterator[tuple[Layer, Port]]:
    """The output ports of other layers that no edge leads from and that declare a type."""
    behind = _behind(edge, wiring)
    for layer in wiring.layers:
        named = wiring.edges_at("output", layer.key)
        for port in layer.outputs if layer.key is not None and layer.key not in behind else ():
            if port.id not in named and _are_alike(port.type, wanted):
                yield layer, port


def _behind(edge: Edge, wiring: Wiring) -> set[int]:
    """The layer that an edge leads to and all that use what it gives: an edge from these would make a cycle."""
    users: dict[int, list[int]] = {}
    for each in wiring.edges:
        if each is not edge:
            users.setdefault(each.from_layer, []).append(each.to_layer)
    found, waiting = {edge.to_layer}, [edge.to_layer]
    while waiting:
        fresh = set(users.get(waiting.pop(), ())) - found
        found |= fresh
        waiting += fresh
    return found


def _are_alike(one: Type, other: Tensor) -> bool:
    if not isinstance(one, Tensor) or one.shape != other.shape:
        return False
    return None in (one.dtype, other.dtype) or one.dtype == other.dtype
