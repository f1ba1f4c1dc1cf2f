"""Checks of the sliced ports of TensorIterator and Loop, and of a Loop's iteration number, trip count and condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import Shape, product, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted, that_divides
from irlint.model.tensor import Tensor, Type, shape_text, type_text
from irlint.ops.shared.bodies import CONTROL_INPUT, control_fault
from irlint.ops.shared.port_maps import GOOD, PORT_MAP_BROKEN, Entries, Ties
from irlint.parsers.openvino.types import BackEdge, PortMapEntry
from irlint.records import record

SLICES_UNEVEN = Rule(
    "IRL153",
    "slices-uneven",
    Severity.ERROR,
    "The slices of a port map do not divide their axis, or differ from the values in the body.",
    why=(
        "Each iteration uses `stride` elements of the axis between `start` and `end`. OpenVINO refuses the layer if "
        "the slices exceed the axis, do not end with it, differ in size from the body's parameter or result, or "
        "differ in number from those of another port."
    ),
    fix=(
        "Set `stride` and `part_size` to the size of the axis in the body. They must divide the distance from "
        "`start` to `end`."
    ),
    bad=GOOD.replace('internal_layer_id="2" axis="0"', 'internal_layer_id="2" axis="0" stride="2"'),
    good=GOOD,
)

#: The element types that OpenVINO accepts for the number of iterations of a Loop.
COUNT_TYPES = ("int16", "int32", "int64", "uint16", "uint32", "uint64")
#: The element types that OpenVINO accepts for the condition of a Loop.
CONDITION_TYPES = ("bool", "uint4", "uint8")

Sizes = tuple[int, ...]


@record
class SlicedPort:
    """An input that is divided into slices, or an output that is concatenated from slices."""

    entry: PortMapEntry
    #: The value outside the layer.
    outer: Type | None
    #: The slice in the body.
    part: Type | None


def check_sliced_ports(
    ports: Sequence[SlicedPort], values: Sequence[Type | None], counts: Sequence[tuple[PortMapEntry, int]] | None = None
) -> Sequence[tuple[PortMapEntry, int]]:
    """Checks the slices of ports. Raises a ``SLICES_UNEVEN`` or ``PORT_MAP_BROKEN`` fault.

    ``values`` are all inputs or outputs of the layer: if the shape of one is not static, OpenVINO checks nothing.
    ``counts`` has the numbers of slices of other ports; None skips the check that all ports have the same number.
    Returns ``counts`` and the numbers of slices of ``ports``.
    """
    if any(not isinstance(value, Tensor) or sizes(value.shape) is None for value in values):
        return ()
    result = list(counts or ())
    for port in ports:
        outer, part = (sizes(value.shape) if isinstance(value, Tensor) else None for value in (port.outer, port.part))
        axis = port.entry.axis or 0
        if not outer or not part or not 0 <= axis < len(outer) or port.entry.part_size < 0:
            continue
        if 0 in part or 0 in (*outer[:axis], *outer[axis + 1 :]):
            continue
        check_stride(port.entry)
        if port.entry.kind == "output":
            check_slice(outer, part, port.entry, axis=axis)
        if counts is not None:
            result.append((port.entry, slices(outer, port.entry, axis)))
    check_same_slices(result)
    return result


def sizes(shape: Shape | None) -> Sizes | None:
    """A static shape; None if the shape is not static."""
    if shape is None:
        return None
    known = tuple(size for size in shape if isinstance(size, int))
    return known if len(known) == len(shape) else None


def check_stride(entry: PortMapEntry) -> None:
    """Checks that the stride of slices is not 0. Raises a ``PORT_MAP_BROKEN`` fault."""
    if _step(entry) == 0:
        written = "0" if entry.stride == 0 else f"{entry.stride}, which OpenVINO reads as 0 (32 bits),"
        raise PORT_MAP_BROKEN.fault(
            f"`stride` is {written} for {_text(entry)}: OpenVINO divides by zero",
            help="write the size of one slice",
        )


def check_slice(outer: Sizes, part: Sizes, entry: PortMapEntry, *, axis: int) -> None:
    """Checks that ``part``, the shape in the body, is one slice of ``outer``. Raises a ``SLICES_UNEVEN`` fault."""
    step = _step(entry)
    if outer[axis] == 0:
        fault = SLICES_UNEVEN.fault(
            f"{_text(entry)} is {shape_text(outer)}: the body never runs, and OpenVINO may fail because there are no "
            "slices to concatenate",
            help="make the layer run at least once, or remove it",
        )
        warn(fault.lowered(Severity.WARNING))
        return
    expected = (*outer[:axis], step, *outer[axis + 1 :])
    if part != expected:
        raise SLICES_UNEVEN.fault(
            f"{_text(entry)} is {shape_text(outer)} and the body's value is {shape_text(part)}; a slice of stride "
            f"{entry.stride} along axis {axis} is {shape_text(expected)}",
            help=f'write stride="{part[axis]}"'
            if len(part) == len(outer)
            else "give the body's value the same number of axes",
        )


def _step(entry: PortMapEntry) -> int:
    """The number of elements in a slice."""
    return abs(_as_int32(entry.stride))


def _as_int32(number: int) -> int:
    """A number of a port map as the CPU plugin reads it, which keeps only the lower 32 bits."""
    return (number + 2**31) % 2**32 - 2**31


def slices(outer: Sizes, entry: PortMapEntry, axis: int) -> int:
    """The number of slices of a port. Raises a ``SLICES_UNEVEN`` fault."""
    size, step = outer[axis], _step(entry)
    # Negative positions count from the end: -1 is the position after the last element.
    positions = map(_as_int32, (entry.start, entry.end))
    start, end = (position + (size + 1) * (position < 0) for position in positions)
    low, high = (end, start) if _as_int32(entry.stride) < 0 else (start, end)
    if not 0 <= low < high <= size or high - low < step:
        raise SLICES_UNEVEN.fault(
            f"axis {axis} of {_text(entry)} has size {size}; start={entry.start}, end={entry.end} and "
            f"stride={entry.stride} select no slice of it",
            help="write a start and an end within the axis (-1 is its end), and a stride from start to end, at most as "
            "long as their distance",
        )
    if (high - low) % step:
        raise SLICES_UNEVEN.fault(
            f"{_text(entry)} has {high - low} elements on axis {axis} from start={entry.start} to end={entry.end}, "
            f"which is not a multiple of the slice size {step}",
            help=f"write a stride {that_divides(high - low, step)}, or pass a multiple of {step} elements",
        )
    return (high - low) // step


def check_same_slices(counts: Sequence[tuple[PortMapEntry, int]]) -> None:
    """Checks that all ports have the same number of slices. Raises a ``SLICES_UNEVEN`` fault."""
    other = next((count for count in counts if count[1] != counts[0][1]), None)
    if other is not None:
        raise SLICES_UNEVEN.fault(
            f"{_text(other[0])} has {counted(other[1], 'slice')} and {_text(counts[0][0])} {counts[0][1]}",
            help="give all ports one slice for each iteration",
        )


def _text(entry: PortMapEntry) -> str:
    return f"the {entry.kind} with external_port_id={entry.external_port_id}"


# --- the ports of a Loop ----------------------------------------------------------------------------------------------


def check_iteration_number(
    entries: Entries, back_edges: Sequence[BackEdge], ties: Ties, *, parameters: Mapping[int, Tensor]
) -> None:
    """Checks the Parameters that receive the iteration number. ``parameters`` has their declared types by position.

    Raises a ``PORT_MAP_BROKEN`` or ``CONTROL_INPUT`` fault.
    """
    for entry in entries:
        if entry.kind != "input" or entry.purpose != "current_iteration":
            continue
        place = ties.parameter(entry)
        if entry.external_port_id is not None and entry.external_port_id >= 0:
            raise PORT_MAP_BROKEN.fault(
                f"the iteration number has external_port_id={entry.external_port_id}, but comes from no input",
                help='write external_port_id="-1"',
            )
        if entry.axis is not None or any(edge.to_layer == entry.internal_layer_id for edge in back_edges):
            other = "slices" if entry.axis is not None else "the value of a back edge"
            raise PORT_MAP_BROKEN.fault(
                f"Parameter {entry.internal_layer_id} of the body receives the iteration number, and also {other}",
                help="give the body a Parameter for the iteration number alone",
            )
        known = parameters.get(place)
        if known is not None:
            _check_one(known, f"Parameter {entry.internal_layer_id} of the body, the iteration number,", COUNT_TYPES)


def check_trip_count(trip_count: Tensor, entries: Entries) -> None:
    """Checks that the trip count of a Loop with concatenated outputs is at least -1.

    Raises a ``CONTROL_INPUT`` fault.
    """
    count = trip_count.scalar
    if (
        isinstance(count, int)
        and count < -1
        and any(entry.axis is not None and entry.kind == "output" for entry in entries)
    ):
        raise CONTROL_INPUT.fault(
            f"the trip count is {count}, but an output is concatenated from the results of the iterations",
            help="write the number of iterations, or -1 to run while the condition is true",
            input=0,
        )


def check_condition(known: Type | None) -> None:
    """Checks that a body's condition is one boolean. Raises a ``CONTROL_INPUT`` fault."""
    if isinstance(known, Tensor):
        _check_one(known, "the condition that the body returns", CONDITION_TYPES, only_known=True)


def _check_one(known: Tensor, what: str, dtypes: Sequence[str], *, only_known: bool = False) -> None:
    """Checks that a tensor is a scalar or a list of one element. ``only_known``: accepts any list of unknown values."""
    fault = control_fault(Tensor(known.dtype), what, list(dtypes)) if known.dtype is not None else None
    if fault is not None:
        raise fault
    shape = known.shape
    if shape is None or shape == ():
        return
    size = product(shape)
    wrong = known.value is not None and same(size, 1) is False if only_known else size != 1
    if len(shape) > 1 or wrong:
        raise CONTROL_INPUT.fault(
            f"{what} is {type_text(known)}, expected a scalar or one element on one axis",
            help="reshape the value to a scalar",
        )
