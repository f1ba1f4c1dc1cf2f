"""Makes the help for a wrong edge: names the port or layer that the edge should probably use."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Port
from irlint.model.tensor import Tensor, Type, shape_text

if TYPE_CHECKING:
    from irlint.parsers.openvino.layers import Layer
    from irlint.parsers.openvino.wiring import Edge, Wiring


#: For at most this many faults of a graph, the help searches the graph for the right port.
MOST_SEARCHES = 10


def port_help(edge: Edge, side: str, layer: Layer, wiring: Wiring) -> str:
    """The help for an edge that names a missing port of ``layer``. It proposes another port if only one port fits."""
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    several = f"; if a layer has several <{kind}> elements, only the first counts"
    general = f'correct "{side}-port" of the edge, or give the layer the port{several * layer.may_repeat_children}'
    if not _may_search(wiring):
        return general
    declared = _declared_target_type(edge, wiring) if side == "from" else _declared_source_type(edge, wiring)
    if declared is None:
        return general
    named = wiring.edges_at(kind, layer.key)
    downstream = _downstream(edge, wiring) if side == "from" else ()
    unclaimed = [port for port in ports if side == "from" or port.id not in named]
    fitting = [port for port in unclaimed if _are_alike(port.type, declared) and layer.key not in downstream]
    if len(fitting) == 1:
        verb = "gives" if side == "from" else "declares"
        return f'write {side}-port="{fitting[0].id}": {kind} port {fitting[0].id} {verb} {shape_text(declared.shape)}'
    unused = list(_unused_ports(declared, downstream, wiring)) if side == "from" and not fitting else []
    if len(unused) != 1:
        return general
    other, port = unused[0]
    return (
        f'write from-layer="{other.key}" from-port="{port.id}": {other.type} "{other.name}" is unused and has '
        "the "
        f"{shape_text(declared.shape)} that input port {edge.to_port} of layer {edge.to_layer} declares"
    )


def edge_help(edge: Edge, other: Edge, wiring: Wiring) -> str:
    """The help for two edges into one port. If only one edge fits the declared type, proposes to remove the other."""
    general = "remove one of the two edges, or connect it to another port"
    if edge.from_layer == other.from_layer or not _may_search(wiring):
        return general
    declared = _declared_target_type(edge, wiring)
    given = [(each, _declared_source_type(each, wiring)) for each in (edge, other)]
    fitting = [each for each, type in given if declared and isinstance(type, Tensor) and _are_alike(type, declared)]
    if declared is None or len(fitting) != 1:
        return general
    wrong = other if fitting[0] is edge else edge
    return (
        f"remove the edge from layer {wrong.from_layer}, or connect it to another port: port {edge.to_port} declares "
        f"{shape_text(declared.shape)}, the shape of layer {fitting[0].from_layer}"
    )


def _may_search(wiring: Wiring) -> bool:
    wiring.searches += 1
    return wiring.searches <= MOST_SEARCHES


def _declared_target_type(edge: Edge, wiring: Wiring) -> Tensor | None:
    """The declared type of the port into which an edge leads; None if it declares no axes."""
    target = wiring.targets.get(edge.target)
    types = (port.type for port in (target[0].inputs if target is not None else ()) if port.id == edge.to_port)
    return next((type for type in types if type.shape), None)


def _declared_source_type(edge: Edge, wiring: Wiring) -> Tensor | None:
    """The declared type of the port from which an edge leads; None if it declares no axes."""
    value = wiring.sources.get(edge.source)
    type = value.type if value is not None else None
    return type if isinstance(type, Tensor) and type.shape else None


def _unused_ports(declared: Tensor, downstream: Collection[int], wiring: Wiring) -> Iterator[tuple[Layer, Port]]:
    for layer in wiring.layers:
        named = wiring.edges_at("output", layer.key)
        for port in layer.outputs if layer.key is not None and layer.key not in downstream else ():
            if port.id not in named and _are_alike(port.type, declared):
                yield layer, port


def _downstream(edge: Edge, wiring: Wiring) -> set[int]:
    """The id of the layer into which an edge leads, and the ids of all layers that depend on this layer."""
    found, waiting = {edge.to_layer}, [edge.to_layer]
    while waiting:
        for user in wiring.users_of(waiting.pop()):
            if user not in found:
                found.add(user)
                waiting.append(user)
    return found


def _are_alike(one: Type, other: Tensor) -> bool:
    if not isinstance(one, Tensor) or one.shape != other.shape:
        return False
    return None in (one.dtype, other.dtype) or one.dtype == other.dtype
