"""Corrections for the port maps of an IR: two entries with exchanged ids, and steps of more than one element."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from irlint.findings.edits import Edit
from irlint.fixes.document import Edits
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.parsers.openvino.types import PortMapEntry
from irlint.records import replaced

#: The name of the map of a loop, and of the ids in its entries. Longer maps are not searched.
MAP, IDS, LONGEST = "port_map", ("external_port_id", "internal_layer_id"), 24


def exchanged(problem: Problem, known: Known) -> Iterator[Edits]:
    """Swaps an id of each two entries in the port map of the layer that has a problem, or in whose body it is. Of two
    entries that are otherwise equal, only the outer ids are swapped."""
    for node in _mapped(problem, known):
        entries = node.attributes[MAP].value
        for one, other in combinations(range(len(entries)), 2):
            first, second = entries[one], entries[other]
            for name in IDS[:1] if _parts(first) == _parts(second) else IDS:
                ids = getattr(first, name), getattr(second, name)
                if None not in ids and ids[0] != ids[1]:
                    swapped = (_edit(node, name, one, ids), _edit(node, name, other, ids[::-1]))
                    yield tuple(replaced(each, swaps=True) for each in swapped)


def _mapped(problem: Problem, known: Known) -> Iterator[Node]:
    """The layer with a port map that has a problem, or in whose body it is."""
    graph = known.model.graph
    for node in graph.nodes if graph is not None else ():
        held = node.attributes.get(MAP)
        inside = (problem.graph == body.path or problem.graph.startswith(f"{body.path}/") for _, body in node.bodies)
        if held is not None and (node is problem.node or any(inside)) and len(held.value) <= LONGEST:
            yield node


def unsliced(problem: Problem, known: Known) -> Iterator[Edits]:
    """Lets each entry of a port map with longer steps or parts take or give one element for each iteration."""
    for node in _mapped(problem, known):
        for at, entry in enumerate(node.attributes[MAP].value):
            stride = -1 if (entry.stride or 1) < 0 else 1
            given = {"stride": (entry.stride, stride), "part_size": (entry.part_size, 1)}
            changed = {name: pair for name, pair in given.items() if pair[0] not in (None, pair[1])}
            if entry.axis is not None and changed:
                yield tuple(_edit(node, name, at, pair) for name, pair in changed.items())


def _parts(entry: PortMapEntry) -> tuple[object, ...]:
    """How an entry slices its value, and in which direction it passes it."""
    return entry.kind, entry.axis, entry.start, entry.end, entry.stride, entry.part_size, entry.purpose


def _edit(node: Node, name: str, at: int, ids: tuple[object, ...]) -> Edit:
    place = {"node": node.label, "index": node.index, "op": node.op, "layer": node.id or "", "name": name}
    return Edit("attribute", "port_map", value=str(ids[1]), before=str(ids[0]), input=at, **place)  # type: ignore[arg-type]
