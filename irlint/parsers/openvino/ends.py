"""The help for a wrong edge: the port or layer that the edge probably should name."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Port
from irlint.model.tensor import Tensor, Type, shape_text

if TYPE_CHECKING:
    from irlint.parsers.openvino.layers import Layer
    from irlint.parsers.openvino.wiring import Edge, Wiring


#: The graph is searched for the helps of at most this many faults.
SEARCHED = 10


def port_help(edge: Edge, side: str, layer: Layer, wiring: Wiring) -> str:
    """The help for an edge that names no port of its layer at one end (``from`` or ``to``).

    It names the only port that fits the other end, or else the only unused output port elsewhere that fits.
    """
    kind, ports = ("output", layer.outputs) if side == "from" else ("input", layer.inputs)
    several = f"; if a layer has several <{kind}> elements, only the first counts"
    general = f'correct "{side}-port" of the edge, or give the layer the port{several * layer.repeats}'
    if not _is_searched(wiring):
        return general
    wanted = _declared(edge, wiring) if side == "from" else _given(edge, wiring)
    if wanted is None:
        return general
    named = wiring.edges_at(kind, layer.key)
    behind = _behind(edge, wiring) if side == "from" else ()
    free = [port for port in ports if side == "from" or port.id not in named]
    fitting = [port for port in free if _are_alike(port.type, wanted) and layer.key not in behind]
    if len(fitting) == 1:
        verb = "gives" if side == "from" else "declares"
        return f'write {side}-port="{fitting[0].id}": {kind} port {fitting[0].id} {verb} {shape_text(wanted.shape)}'
    unused = list(_unused(wanted, behind, wiring)) if side == "from" and not fitting else []
    if len(unused) != 1:
        return general
    other, port = unused[0]
    return (
        f'write from-layer="{other.key}" from-port="{port.id}": {other.type} "{other.name}" is unused and has '
        "the "
        f"{shape_text(wanted.shape)} that input port {edge.to_port} of layer {edge.to_layer} declares"
    )


def edge_help(edge: Edge, other: Edge, wiring: Wiring) -> str:
    """The help for two edges into one port: to remove the one whose source does not fit the port's declaration."""
    general = "remove one of the two edges, or connect it to another port"
    if edge.from_layer == other.from_layer or not _is_searched(wiring):
        return general
    wanted = _declared(edge, wiring)
    given = [(each, _given(each, wiring)) for each in (edge, other)]
    fitting = [each for each, type in given if wanted and isinstance(type, Tensor) and _are_alike(type, wanted)]
    if wanted is None or len(fitting) != 1:
        return general
    wrong = other if fitting[0] is edge else edge
    return (
        f"remove the edge from layer {wrong.from_layer}, or connect it to another port: port {edge.to_port} declares "
        f"{shape_text(wanted.shape)}, the shape of layer {fitting[0].from_layer}"
    )


def _is_searched(wiring: Wiring) -> bool:
    """Whether the graph may be searched for the help of one more fault; counts the search."""
    wiring.searches += 1
    return wiring.searches <= SEARCHED


def _declared(edge: Edge, wiring: Wiring) -> Tensor | None:
    """The declared type of the input port to which an edge leads; None if it declares no axes."""
    target = wiring.targets.get(edge.target)
    types = (port.type for port in (target[0].inputs if target is not None else ()) if port.id == edge.to_port)
    return next((type for type in types if type.shape), None)


def _given(edge: Edge, wiring: Wiring) -> Tensor | None:
    """The declared type of the output port from which an edge leads; None if it declares no axes."""
    value = wiring.sources.get(edge.source)
    type = value.type if value is not None else None
    return type if isinstance(type, Tensor) and type.shape else None


def _unused(wanted: Tensor, behind: Collection[int], wiring: Wiring) -> Iterator[tuple[Layer, Port]]:
    """The output ports of this type that no edge leaves, except in the layers with ids in ``behind``."""
    for layer in wiring.layers:
        named = wiring.edges_at("output", layer.key)
        for port in layer.outputs if layer.key is not None and layer.key not in behind else ():
            if port.id not in named and _are_alike(port.type, wanted):
                yield layer, port


def _behind(edge: Edge, wiring: Wiring) -> set[int]:
    """The ids of the target layer of an edge and of all layers that use its results: an edge from them makes a
    cycle."""
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
