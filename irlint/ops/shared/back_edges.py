"""Checks of OpenVINO's loops: whether the value of a back edge fits the Parameter that receives it in the next
iteration."""

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
    """The inputs of a body in the first iteration, and its outputs, by the positions of Parameters and Results. There
    are no outputs if they were not inferred."""

    arguments: Sequence[Type | None]
    outputs: Sequence[Type | None]


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
    """Checks that the second of ``trips`` iterations accepts the values that the first one carries; None is unknown.

    The plugin allocates memory with the shape of a Parameter. If the Result is also an output of the layer, a Loop
    ``widens`` the Parameter to dynamic sizes, but does not compile another rank. A TensorIterator does so if the
    Parameter or the Result has a dynamic size.

    A ``CARRIED_TYPE`` fault is raised if the body needs the value, and either the rank keeps a Loop from compiling or
    the second iteration certainly runs. Otherwise the fault is a warning.
    """
    outward = {
        each.internal_layer_id for each in entries if each.kind == "output" and (each.external_port_id or 0) >= 0
    }
    uncut = {each.internal_layer_id for each in entries if each.kind == "input" and each.axis is None}
    tied = [each for each in back_edges if each.to_layer in uncut]
    for edge in tied if first.outputs else ():
        pair = _handed_on(edge, ties, first)
        if pair is None:
            continue
        given, left = pair
        at_once = widens and edge.from_layer in outward and given.rank != left.rank
        widened = edge.from_layer in outward and (widens or _has_open_sizes(given, left))
        later = _clash(given, left) and not widened and not (isinstance(trips, int) and trips < 2)
        if not at_once and not later:
            continue
        needed = _is_needed(ties.parameters[str(edge.to_layer)], body, entries, back_edges=back_edges, ties=ties)
        when = "OpenVINO does not compile it" if at_once else "the second iteration cannot use it"
        fault = CARRIED_TYPE.fault(
            f"the back edge from Result {edge.from_layer} passes {type_text(left)} to Parameter {edge.to_layer}, "
            f"which starts with {type_text(given)}: {when}",
            help=_help_for(edge, given, ties, first=first, outward=outward),
            place=edge.place,
        )
        if needed and (at_once or isinstance(trips, int)):
            raise fault
        warn(fault.lowered(Severity.WARNING))


def _handed_on(edge: BackEdge, ties: Ties, first: Iteration) -> tuple[Tensor, Tensor] | None:
    """The first value of a Parameter, and the value that a back edge carries to it; None unless both are tensors of
    known rank."""
    if edge.to_layer not in ties.parameters or edge.from_layer not in ties.results:
        return None
    given, left = first.arguments[ties.parameters[edge.to_layer]], first.outputs[ties.results[edge.from_layer]]
    if not isinstance(given, Tensor) or not isinstance(left, Tensor) or given.shape is None or left.shape is None:
        return None
    return given, left


def _clash(given: Tensor, left: Tensor) -> bool:
    """Whether the memory of a Parameter cannot hold another value. A scalar fits a list of one element, and the
    reverse; no elements always fit."""
    one, other = given.shape or (), left.shape or ()
    if 0 in other or (len(one) < 2 and len(other) < 2 and product(one) == 1 and product(other) == 1):
        return False
    return len(one) != len(other) or any(same(a, b) is False for a, b in zip(one, other))


def _has_open_sizes(*values: Tensor) -> bool:
    return any(not isinstance(dim, int) for each in values for dim in each.shape or ())


def _is_needed(place: int, body: Graph, entries: Entries, *, back_edges: Sequence[BackEdge], ties: Ties) -> bool:
    """Whether the loop's condition, or each of its outputs, depends on a Parameter, perhaps in later iterations only.
    OpenVINO drops everything that leads only to unused outputs."""
    ids = {position: id for id, position in ties.parameters.items()}
    names = {value: ids[position] for position, value in enumerate(body.inputs) if position in ids}
    ends = [(each.purpose, each.internal_layer_id) for each in entries if each.kind == "output"]
    read = [(purpose, _read(body, ties, id, names=names, back_edges=back_edges)) for purpose, id in ends]
    wanted = names.get(body.inputs[place])
    if any(purpose and wanted in found for purpose, found in read):
        return True
    outward = [found for purpose, found in read if not purpose]
    return bool(outward) and all(wanted in found for found in outward)


def _read(
    body: Graph, ties: Ties, id: str | None, *, names: dict[Value, str], back_edges: Sequence[BackEdge]
) -> Collection[str]:
    """The Parameters on which a Result depends, including those of earlier iterations."""
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
            again = (each.from_layer for each in back_edges if each.to_layer == names[value])
            waiting += [body.outputs[ties.results[each]] for each in again if each in ties.results]
        if value in makers:
            waiting += [each for each in makers[value].inputs if each is not None]
    return found


def _help_for(edge: BackEdge, given: Tensor, ties: Ties, *, first: Iteration, outward: Collection[str | None]) -> str:
    """The help, which names the Result with the initial type if there is only one; outputs of the layer come first."""
    fitting = [
        id
        for id, position in ties.results.items()
        if isinstance(made := first.outputs[position], Tensor)
        and (made.dtype, made.shape) == (given.dtype, given.shape)
    ]
    fitting = [id for id in fitting if id in outward] or fitting
    if len(fitting) != 1:
        return f"start it at a Result with {type_text(given)}, or reshape the value at the end of the body"
    return f'write from-layer="{fitting[0]}": Result {fitting[0]} has {type_text(given)}'
