"""Corrections for the port maps of an IR: two entries with exchanged ids."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from irlint.findings.edits import Edit
from irlint.fixes.document import Edits
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.parsers.openvino.types import PortMapEntry

#: The name of the map of a loop, and of the ids in its entries. Longer maps are not searched.
MAP, IDS, LONGEST = "port_map", ("external_port_id", "internal_layer_id"), 24


def exchanged(problem: Problem, known: Known) -> Iterator[Edits]:
    """Swaps an id of each two entries in the port map of the layer that has a problem, or in whose body it is. Of two
    entries that are otherwise equal, only the outer ids are swapped."""
    graph = known.model.graph
    for node in graph.nodes if graph is not None else ():
        held = node.attributes.get(MAP)
        inside = (problem.graph == body.path or problem.graph.startswith(f"{body.path}/") for _, body in node.bodies)
        if held is None or not (node is problem.node or any(inside)) or len(held.value) > LONGEST:
            continue
        for one, other in combinations(range(len(held.value)), 2):
            first, second = held.value[one], held.value[other]
            for name in IDS[:1] if _parts(first) == _parts(second) else IDS:
                ids = getattr(first, name), getattr(second, name)
                if None not in ids and ids[0] != ids[1]:
                    yield _edit(node, name, one, ids), _edit(node, name, other, ids[::-1])


def _parts(entry: PortMapEntry) -> tuple[object, ...]:
    """How an entry slices its value, and in which direction it passes it."""
    return entry.kind, entry.axis, entry.start, entry.end, entry.stride, entry.part_size, entry.purpose


def _edit(node: Node, name: str, at: int, ids: tuple[object, ...]) -> Edit:
    place = {"node": node.label, "index": node.index, "op": node.op, "layer": node.id or "", "name": name}
    return Edit("attribute", "port_map", value=str(ids[1]), before=str(ids[0]), input=at, swaps=True, **place)  # type: ignore[arg-type]
