"""Finds nodes in bodies whose results are not finite in the first iteration, which starts from the initial values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from irlint.checks.carried import FEEDS, Feed, counter, slice_count
from irlint.checks.examined import RANGED, REPEATING
from irlint.checks.intervals import Intervals
from irlint.checks.ranges import ALWAYS_NAN, FAULTY_INPUT, HELPS
from irlint.checks.transfers import Interval, Parts, joined
from irlint.checks.values import Values
from irlint.checks.zeros import is_replaced
from irlint.findings.faults import Fault
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, users
from irlint.model.tensor import FLOATS
from irlint.ops.shared.bodies import truth
from irlint.ops.shared.contents import fits, static

#: Operators whose results are NaN for infinite operands.
OF_INFINITE = frozenset(("Add", "Sum", "Sub", "Subtract"))

#: Operators that are examined.
EXAMINED = OF_INFINITE | frozenset(RANGED)


def problems(values: Values) -> Iterator[Problem]:
    """The problems of nodes that depend on the iteration and whose results are never finite in the first iteration."""
    for graph in graphs(values.known.model):
        for node in graph.nodes:
            if node.op in REPEATING and node.bodies and node not in values.known.faulted and _runs(values, node):
                yield from _of_node(values, node)


def _runs(values: Values, node: Node) -> bool:
    """Whether the body of a node may run. The body of a Loop never runs if its trip count is 0 or its condition
    false."""
    if node.op != "Loop":
        return True
    trips, condition = [*node.inputs, None, None][:2]
    types = values.known.types
    return (trips is None or truth(types.get(trips)) is not False) and (
        condition is None or truth(types.get(condition)) is not False
    )


def _of_node(values: Values, node: Node) -> Iterator[Problem]:
    for name, body in node.bodies:
        try:
            feeds, number = dict(FEEDS[node.op](node, name, body)), counter(node, name, body)
        except (Fault, IndexError):
            return
        first = Intervals(values.known, like=values.intervals)
        _enter(first, node, feeds)
        changing = set(feeds)
        if number is not None:
            first.state(number, (Interval(0, 0),))
            changing.add(number)
        for each, fault in _never_finite(first, body, changing):
            yield Problem(fault, body.path, each, place=each.place)


def _enter(first: Intervals, node: Node, feeds: Mapping[Value, Feed]) -> None:
    """States in ``first`` the intervals that the inputs of a body have in the first iteration."""
    slices = slice_count(node) or 0 if node.op == "Scan" and _is_plain(node) else 0
    for at, (value, feed) in enumerate(feeds.items()):
        is_slice = feed.later is None and at >= len(feeds) - slices
        first.state(value, _first_slice(first, feed.initial) if is_slice else first.parts(feed.initial))


def _is_plain(node: Node) -> bool:
    """Whether a Scan takes its slices along axis 0, from the first one on."""
    return not {"scan_input_axes", "scan_input_directions"} & node.attributes.keys()


def _first_slice(first: Intervals, value: Value | None) -> Parts:
    parts, known = first.parts(value), first.tensor(value)
    if known is None or not known.shape or not fits(known.shape) or len(parts) != prod(static(known.shape)):
        return (joined(parts),)
    return parts[: len(parts) // (static(known.shape)[0] or 1)] or (joined(parts),)


def _never_finite(first: Intervals, body: Graph, changing: set[Value]) -> Iterator[tuple[Node, Fault]]:
    """(node, fault) of each node of a body that depends on ``changing`` values and is not finite in the first
    iteration."""
    readers = users(body)
    for node in first.known.order(body).nodes:
        if changing.isdisjoint(node.inputs):
            continue
        changing.update(value for value in node.outputs if value is not None)
        if node.op not in EXAMINED or node in first.known.faulted or not node.outputs or node.outputs[0] is None:
            continue
        why = next((part.why for part in first.results(node) if part.why), "")
        if why and _counts(first, node) and not is_replaced(readers, node.outputs[0], node.op):
            yield (
                node,
                ALWAYS_NAN.fault(
                    f"in the first iteration, {why}",
                    help=HELPS.get(node.op, "correct the initial values"),
                    input=FAULTY_INPUT.get(node.op, 0),
                ),
            )


def _counts(first: Intervals, node: Node) -> bool:
    """Whether a node computes in floating point, and its inputs are finite, so that it causes the fault itself.

    Operators of OF_INFINITE may have infinite inputs, because they compute NaN from these.
    """
    made = first.tensor(node.outputs[0])
    is_infinite = any(part.is_infinite for value in node.inputs if value is not None for part in first.parts(value))
    return made is not None and made.dtype in FLOATS and (node.op in OF_INFINITE or not is_infinite)
