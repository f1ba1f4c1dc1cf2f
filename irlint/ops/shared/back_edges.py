"""Checks of OpenVINO's loops: whether a Parameter can receive the value of its back edge in the next iteration."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from irlint.dims import MaybeDim, product, same
from irlint.findings.faults import Severity
from irlint.findings.statements import warn
from irlint.model import Graph, Value
from irlint.model.order import producers
from irlint.model.tensor import Tensor, Type, type_text
from irlint.ops.shared.bodies import CARRIED_TYPE
from irlint.ops.shared.port_maps import Entries, Ties
from irlint.parsers.openvino.types import BackEdge
from irlint.records import record


@record
class Iteration:
    """The inputs and outputs of a body in the first iteration, by the positions of its Parameters and Results."""

    arguments: Sequence[Type | None]
    #: () if they are not inferred.
    outputs: Sequence[Type | None]
    #: Whether a layer of the body fails in the second iteration.
    stops: bool = False


def check_back_edges(
    body: Graph,
    entries: Entries,
    back_edges: Sequence[BackEdge],
    *,
    ties: Ties,
    first: Iteration,
    trips: MaybeDim,
    widens: bool,
) -> None:
    """Checks that the second iteration accepts the values that the first iteration passes to it.

    ``widens``: the layer is a Loop. OpenVINO then makes a Parameter dynamic if an output of the layer uses the Result
    of its back edge.

    Raises a ``CARRIED_TYPE`` fault; if the failure is uncertain or harmless, reports it as a warning.
    """
    outward = {
        entry.internal_layer_id for entry in entries if entry.kind == "output" and (entry.external_port_id or 0) >= 0
    }
    unsliced = {entry.internal_layer_id for entry in entries if entry.kind == "input" and entry.axis is None}
    to_unsliced = [edge for edge in back_edges if edge.to_layer in unsliced]
    for edge in to_unsliced if first.outputs else ():
        pair = _start_and_return(edge, ties, first)
        if pair is None:
            continue
        start, returned = pair
        not_compiled = widens and edge.from_layer in outward and start.rank != returned.rank
        widened = not first.stops and edge.from_layer in outward and (widens or _has_dynamic_sizes(start, returned))
        # The CPU plugin allocates the memory of a Parameter with the shape of its first value.
        fails_later = _clash(start, returned) and not widened and not (isinstance(trips, int) and trips < 2)
        if not not_compiled and not fails_later:
            continue
        needed = _is_needed(ties.parameters[str(edge.to_layer)], body, entries, back_edges=back_edges, ties=ties)
        when = "OpenVINO does not compile the layer" if not_compiled else "the second iteration cannot use this value"
        fault = CARRIED_TYPE.fault(
            f"the back edge from Result {edge.from_layer} passes {type_text(returned)} to Parameter {edge.to_layer}, "
            f"which starts with {type_text(start)}: {when}",
            help=_help_for(start, ties, entries, back_edges=back_edges, first=first),
            place=edge.place,
        )
        if needed and (not_compiled or isinstance(trips, int)):
            raise fault
        warn(fault.lowered(Severity.WARNING))


def _start_and_return(edge: BackEdge, ties: Ties, first: Iteration) -> tuple[Tensor, Tensor] | None:
    """(First value of a Parameter, value from its back edge); None unless both are tensors of known rank."""
    if edge.to_layer not in ties.parameters or edge.from_layer not in ties.results:
        return None
    start, returned = first.arguments[ties.parameters[edge.to_layer]], first.outputs[ties.results[edge.from_layer]]
    if not isinstance(start, Tensor) or not isinstance(returned, Tensor):
        return None
    return None if start.shape is None or returned.shape is None else (start, returned)


def _clash(start: Tensor, returned: Tensor) -> bool:
    """Whether memory with the shape of ``start`` cannot hold the value ``returned``."""
    one, other = start.shape or (), returned.shape or ()
    if 0 in other or (len(one) < 2 and len(other) < 2 and product(one) == 1 and product(other) == 1):
        return False
    return len(one) != len(other) or any(same(a, b) is False for a, b in zip(one, other))


def _has_dynamic_sizes(*values: Tensor) -> bool:
    return any(not isinstance(dim, int) for value in values for dim in value.shape or ())


def _is_needed(position: int, body: Graph, entries: Entries, *, back_edges: Sequence[BackEdge], ties: Ties) -> bool:
    """Whether the loop's condition, or every output of the layer, depends on the Parameter at a position."""
    ids = {position: id for id, position in ties.parameters.items()}
    names = {value: ids[at] for at, value in enumerate(body.inputs) if at in ids}
    ends = [(entry.purpose, entry.internal_layer_id) for entry in entries if entry.kind == "output"]
    read = [(purpose, _parameters_of(body, ties, id, names=names, back_edges=back_edges)) for purpose, id in ends]
    parameter = names.get(body.inputs[position])
    if any(purpose and parameter in found for purpose, found in read):
        return True
    outward = [found for purpose, found in read if not purpose]
    return bool(outward) and all(parameter in found for found in outward)


def _parameters_of(
    body: Graph, ties: Ties, id: str | None, *, names: dict[Value, str], back_edges: Sequence[BackEdge]
) -> Collection[str]:
    """The ids of the Parameters on which a Result depends, directly or through back edges."""
    makers = producers(body)
    found: set[str] = set()
    seen: set[Value] = set()
    waiting = [body.outputs[ties.results[id]]] if id in ties.results else []
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in names:
            found.add(names[value])
            sources = (edge.from_layer for edge in back_edges if edge.to_layer == names[value])
            waiting += [body.outputs[ties.results[source]] for source in sources if source in ties.results]
        if value in makers:
            waiting += [source for source in makers[value].inputs if source is not None]
    return found


def _help_for(start: Tensor, ties: Ties, entries: Entries, *, back_edges: Sequence[BackEdge], first: Iteration) -> str:
    """The help. It names the Result that fits, if there is exactly one: no back edge uses it, and it can have the type
    of ``start``. Results that no output of the layer uses take precedence."""
    ends = {each.internal_layer_id for each in entries if each.kind == "output"}
    carried = {each.from_layer for each in back_edges}
    fitting = [id for id, at in ties.results.items() if id not in carried and _can_be(first.outputs[at], start)]
    unused = [id for id in fitting if id not in ends]
    found = unused or fitting
    if len(found) != 1:
        return f"start the back edge at a Result with {type_text(start)}, or reshape the value at the end of the body"
    (id,) = found
    which = ", which nothing uses," if unused else ""
    return f'write from-layer="{id}": Result {id}{which} has {type_text(first.outputs[ties.results[id]])}'


def _can_be(made: Type | None, start: Tensor) -> bool:
    """Whether a value has the element type of ``start``, and may have its shape."""
    known = isinstance(made, Tensor) and made.shape is not None and made.dtype == start.dtype
    return known and isinstance(made, Tensor) and not _clash(start, made)
