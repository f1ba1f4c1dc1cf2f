"""Finds the values that enter the inputs of Loop, Scan, TensorIterator and If bodies, and the values that leave
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.model import Graph, Node, Value
from irlint.model.order import graphs
from irlint.ops.shared.port_maps import Entries, merged_inputs, ordered, tied
from irlint.records import record

#: The number of inputs of an ONNX Loop before its carried values: trip count and condition.
BEFORE_CARRIED = 2

#: The attribute with the port map of each body of an IR.
PORT_MAPS = {"body": "port_map", "then_body": "then_port_map", "else_body": "else_port_map"}


@record
class Feed:
    """The values that an input of a body gets.

    ``initial`` is the value from outside in the first iteration. ``later`` is the output of the body that the input
    gets in later iterations; None if these get ``initial`` again or another slice of it.
    """

    body: Graph
    initial: Value | None
    later: Value | None = None


@record
class Bodies:
    """The values that enter and leave the bodies of a model.

    ``feeds`` maps each input of a body to its values. ``returned`` maps each output of a node with bodies to the value
    of the body that it returns. An If has two bodies, so its outputs have two values.
    """

    feeds: Mapping[Value, Feed]
    returned: Mapping[Value, Sequence[Value]]

    def carried(self, body: Graph) -> dict[Value, Feed]:
        """The inputs of a body that get an output of the same body in later iterations."""
        return {value: feed for value, feed in self.feeds.items() if feed.body is body and feed.later is not None}


def bodies_of(known: Known) -> Bodies:
    """The feeds and results of all bodies."""
    feeds: dict[Value, Feed] = {}
    returned: dict[Value, Sequence[Value]] = {}
    for graph in graphs(known.model):
        for node in graph.nodes:
            if not node.bodies or node.op not in FEEDS:
                continue
            try:
                feeds |= {value: feed for name, body in node.bodies for value, feed in FEEDS[node.op](node, name, body)}
                every = [list(_returned(node, name, body)) for name, body in node.bodies]
            except (Fault, IndexError):
                continue
            if len({len(each) for each in every}) == 1:
                returned |= dict(zip(filter(None, node.outputs), zip(*every)))
    return Bodies(feeds, returned)


def _of_loop(node: Node, name: str, body: Graph) -> Iterator[tuple[Value, Feed]]:
    """The feeds of a Loop of either format."""
    if "port_map" in node.attributes:
        yield from _of_port_map(node, name, body)
        return
    carried = node.inputs[BEFORE_CARRIED:]
    for value, initial, later in zip(body.inputs[BEFORE_CARRIED:], carried, body.outputs[1:]):
        yield value, Feed(body, initial, later)


def _of_scan(node: Node, name: str, body: Graph) -> Iterator[tuple[Value, Feed]]:
    """The feeds of a Scan-9. Its first inputs are states, and its last inputs are sliced."""
    slices = slice_count(node)
    if slices is None or len(node.inputs) != len(body.inputs):
        return
    states = len(node.inputs) - slices
    for at, (value, initial) in enumerate(zip(body.inputs, node.inputs)):
        yield value, Feed(body, initial, body.outputs[at] if at < states else None)


def slice_count(node: Node) -> int | None:
    """The attribute ``num_scan_inputs`` of a Scan; None if it is missing or no integer."""
    attribute = node.attributes.get("num_scan_inputs")
    return attribute.value if attribute is not None and type(attribute.value) is int else None


def _of_port_map(node: Node, name: str, body: Graph) -> Iterator[tuple[Value, Feed]]:
    entries, back_edges = _entries(node, name), node.attributes.get("back_edges")
    ties = tied(body, name)
    merged = merged_inputs(entries, back_edges.value if back_edges is not None else (), ties)
    for entry in ordered(entries, "input"):
        place = ties.parameter(entry, entries)
        later = body.outputs[merged[place]] if place in merged else None
        yield body.inputs[place], Feed(body, node.inputs[entry.external_port_id or 0], later)


def _of_branch(node: Node, name: str, body: Graph) -> Iterator[tuple[Value, Feed]]:
    """The feeds of a branch, which has inputs only in an IR."""
    if body.inputs:
        yield from _of_port_map(node, name, body)


def _entries(node: Node, name: str) -> Entries:
    attribute = node.attributes.get(PORT_MAPS.get(name, ""))
    return attribute.value if attribute is not None else ()


def _returned(node: Node, name: str, body: Graph) -> Iterator[Value]:
    """The value of a body that each used output of a node returns, or stacks over the iterations."""
    entries = _entries(node, name)
    if entries:
        ties = tied(body, name)
        values = [body.outputs[ties.result(entry, entries)] for entry in ordered(entries, "output")]
    else:
        values = list(body.outputs[1:] if node.op == "Loop" else body.outputs)
    for output, value in zip(node.outputs, values):
        if output is not None:
            yield value


def counter(node: Node, name: str, body: Graph) -> Value | None:
    """The input of a body that holds the number of the iteration, counted from 0; None if the body has no such
    input."""
    entries = _entries(node, name)
    if not entries:
        return body.inputs[0] if node.op == "Loop" and body.inputs else None
    entry = next((each for each in entries if each.kind == "input" and each.purpose == "current_iteration"), None)
    return None if entry is None else body.inputs[tied(body, name).parameter(entry, entries)]


#: The function that yields the feeds of a body, by operator.
FEEDS = {"Loop": _of_loop, "Scan": _of_scan, "TensorIterator": _of_port_map, "If": _of_branch}
