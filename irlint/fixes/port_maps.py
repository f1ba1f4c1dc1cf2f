"""Corrections for the port maps and back edges of an IR."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from irlint.dims import Shape, same
from irlint.findings.edits import Edit
from irlint.fixes.document import Edits
from irlint.inference.known import Known
from irlint.inference.origins import shape_of
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor, tensor_shape
from irlint.parsers.openvino.types import BackEdge, PortMapEntry
from irlint.records import replaced

#: The name of the map of a loop, and of the ids in its entries.
MAP, IDS = "port_map", ("external_port_id", "internal_layer_id")

#: Longer maps are not searched.
LONGEST = 24

#: The id of the Result at which a back edge starts.
FROM = "from-layer"


def exchanged(problem: Problem, known: Known) -> Iterator[Edits]:
    """Swaps an id between two entries of the port map of the layer, or of the layer around the body."""
    for node in _layers_with_map(problem, known):
        entries = node.attributes[MAP].value
        for one, other in combinations(range(len(entries)), 2):
            first, second = entries[one], entries[other]
            for name in IDS[:1] if _slicing(first) == _slicing(second) else IDS:
                ids = getattr(first, name), getattr(second, name)
                if None not in ids and ids[0] != ids[1]:
                    swapped = (_edit(node, name, one, ids), _edit(node, name, other, ids[::-1]))
                    yield tuple(replaced(each, swaps=True) for each in swapped)


def _layers_with_map(problem: Problem, known: Known) -> Iterator[Node]:
    """The layer of a problem, or the layers around its body, if they have port maps."""
    graph = known.model.graph
    for node in graph.nodes if graph is not None else ():
        port_map = node.attributes.get(MAP)
        inside = (problem.graph == body.path or problem.graph.startswith(f"{body.path}/") for _, body in node.bodies)
        if port_map is not None and (node is problem.node or any(inside)) and len(port_map.value) <= LONGEST:
            yield node


def unsliced(problem: Problem, known: Known) -> Iterator[Edits]:
    """Makes an entry of a port map pass one element in each iteration."""
    for node in _layers_with_map(problem, known):
        for at, entry in enumerate(node.attributes[MAP].value):
            stride = -1 if (entry.stride or 1) < 0 else 1
            given = {"stride": (entry.stride, stride), "part_size": (entry.part_size, 1)}
            changed = {name: pair for name, pair in given.items() if pair[0] not in (None, pair[1])}
            if entry.axis is not None and changed:
                yield tuple(_edit(node, name, at, pair) for name, pair in changed.items())


def sliced_as_declared(problem: Problem, known: Known) -> Iterator[Edits]:
    """Makes an entry without an axis pass slices: those that its Parameter declares, or that its Result computes.

    The slices follow one another in the direction of the other entries.
    """
    for node in _layers_with_map(problem, known):
        entries: Sequence[PortMapEntry] = node.attributes[MAP].value
        backwards = [each.stride < 0 for each in entries if each.axis is not None]
        for at, entry in enumerate(entries):
            whole, slice = _shapes(node, entry, known) if entry.axis is None else ((), ())
            differing = [axis for axis, (one, other) in enumerate(zip(whole, slice)) if same(one, other) is False]
            size = slice[differing[0]] if len(whole) == len(slice) and len(differing) == 1 else None
            if not isinstance(size, int) or size < 1:
                continue
            is_backward = bool(backwards) and all(backwards)
            changed = {"axis": (None, differing[0])}
            changed |= {"start": (None, -1), "end": (None, 0), "stride": (None, -size)} if is_backward else {}
            changed |= {"stride": (None, size)} if size > 1 and not is_backward else {}
            changed |= {"part_size": (None, size)} if size > 1 else {}
            yield tuple(_edit(node, name, at, pair) for name, pair in changed.items())


def _shapes(node: Node, entry: PortMapEntry, known: Known) -> tuple[Shape, Shape]:
    """The shapes of the value outside and inside the body that an entry connects; () for an unknown one."""
    inner = next((each for _, body in node.bodies for each in body.nodes if each.id == entry.internal_layer_id), None)
    ports = node.input_ports if entry.kind == "input" else node.output_ports
    outer = next((at for at, port in enumerate(ports) if port.id == entry.external_port_id), None)
    if inner is None or outer is None:
        return (), ()
    if entry.kind == "output":
        return tensor_shape(ports[outer].type) or (), shape_of(next(iter(inner.inputs), None), known) or ()
    value = next(iter(inner.outputs), None)
    return shape_of(node.inputs[outer], known) or (), tensor_shape(value.type if value is not None else None) or ()


def on_other_axis(problem: Problem, known: Known) -> Iterator[Edits]:
    """Slices an input, or all inputs that are sliced along its axis, along another axis."""
    for node in _layers_with_map(problem, known):
        entries: Sequence[PortMapEntry] = node.attributes[MAP].value
        sliced = [at for at, each in enumerate(entries) if each.kind == "input" and each.axis is not None]
        for at in sliced:
            values = dict(zip([port.id for port in node.input_ports], node.inputs))
            value = values.get(entries[at].external_port_id or 0)
            given = known.types.get(value) if value is not None else None
            rank, old = (given.rank or 0) if isinstance(given, Tensor) else 0, entries[at].axis or 0
            alike = [each for each in sliced if entries[each].axis == entries[at].axis]
            for axis in range(rank):
                for several in dict.fromkeys(((at,), tuple(alike))) if axis != old % rank else ():
                    yield tuple(_edit(node, "axis", each, (old, axis)) for each in several)


def with_unused_ids(problem: Problem, known: Known) -> Iterator[Edits]:
    """Replaces an id in an entry or a back edge by the id of an unused Result, Parameter or input of the layer."""
    for node in _layers_with_map(problem, known):
        entries, edges = node.attributes[MAP].value, _back_edges(node)
        results, parameters = _ids(node, known.format.output_node), _ids(node, known.format.input_node)
        used = {each.internal_layer_id for each in entries} | {each.from_layer for each in edges}
        outer = {edit.external_port_id for edit in entries if edit.kind == "input"}
        for at, entry in enumerate(entries):
            inner = [each for each in (parameters if entry.kind == "input" else results) if each not in used]
            for id in inner:
                yield (_edit(node, IDS[1], at, (entry.internal_layer_id, id)),)
            for port in range(len(node.inputs)) if entry.kind == "input" else ():
                if port not in outer:
                    yield (_edit(node, IDS[0], at, (entry.external_port_id, port)),)
        yield from _started_at([each for each in results if each not in used], node)


def restarted(problem: Problem, known: Known) -> Iterator[Edits]:
    """Starts a back edge at another Result, at which no back edge starts."""
    for node in _layers_with_map(problem, known):
        carried = {each.from_layer for each in _back_edges(node)}
        yield from _started_at([each for each in _ids(node, known.format.output_node) if each not in carried], node)


def _started_at(results: Sequence[str], node: Node) -> Iterator[Edits]:
    for at, edge in enumerate(_back_edges(node)):
        for id in results:
            yield (replaced(_edit(node, FROM, at, (edge.from_layer, id)), of="back_edges"),)


def _back_edges(node: Node) -> Sequence[BackEdge]:
    attribute = node.attributes.get("back_edges")
    found: Sequence[BackEdge] = attribute.value if attribute is not None else ()
    return found


def _ids(node: Node, op: str | None) -> list[str]:
    """The ids of the Parameters or the Results (``op``) of the bodies of a layer."""
    return [each.id for _, body in node.bodies for each in body.nodes if each.op == op and each.id]


def _slicing(entry: PortMapEntry) -> tuple[object, ...]:
    """How an entry slices its value, and in which direction it passes the value."""
    return entry.kind, entry.axis, entry.start, entry.end, entry.stride, entry.part_size, entry.purpose


def _edit(node: Node, name: str, at: int, ids: tuple[object, ...]) -> Edit:
    place = {"node": node.label, "index": node.index, "op": node.op, "layer": node.id or "", "name": name}
    return Edit("attribute", "port_map", value=str(ids[1]), before=str(ids[0]), input=at, **place)  # type: ignore[arg-type]


#: The groups of corrections, the likely groups first.
STAGES = (with_unused_ids, restarted, exchanged, sliced_as_declared, unsliced, on_other_axis)
