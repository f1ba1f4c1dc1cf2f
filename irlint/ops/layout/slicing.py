"""Slice and SliceScatter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from irlint.dims import Dim, MaybeDim, Shape, at_least, ceildiv, largest, same, smallest
from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.statements import agree, explain_size
from irlint.findings.wording import axes_help, counted
from irlint.model.tensor import INTEGERS, Contents, Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.axes import Ints, axes_of
from irlint.ops.shared.contents import fits, strides
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.records import record

SLICE_STEP_ZERO = Rule(
    "IRL344",
    "slice-step-zero",
    Severity.ERROR,
    "A slice has a step of 0.",
    why="A step of 0 never reaches the end of the range, so runtimes refuse it.",
    fix="Use a step of 1 to take every element, or of -1 to take every element in reverse order.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,8] x) => (float[2,N] y)
<int64[1] starts = {0}, int64[1] ends = {4}, int64[1] axes = {1}, int64[1] steps = {0}>
{ y = Slice (x, starts, ends, axes, steps) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,8] x) => (float[2,2] y)
<int64[1] starts = {0}, int64[1] ends = {4}, int64[1] axes = {1}, int64[1] steps = {2}>
{ y = Slice (x, starts, ends, axes, steps) }""",
)

SLICE_LENGTHS_DIFFER = Rule(
    "IRL345",
    "slice-lengths-differ",
    Severity.ERROR,
    "The starts, ends, axes and steps of a slice have different lengths, or more entries than the data has axes.",
    why=(
        "Entry i of each list belongs to the i-th sliced axis. All lists must have the same length, which must not "
        "exceed the rank of the data. Runtimes refuse any other lists."
    ),
    fix="Give the same number of starts, ends, axes and steps.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,8] x) => (float[2,4] y)
<int64[2] starts = {0, 0}, int64[1] ends = {4}, int64[1] axes = {1}>
{ y = Slice (x, starts, ends, axes) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,8] x) => (float[2,4] y)
<int64[1] starts = {0}, int64[1] ends = {4}, int64[1] axes = {1}>
{ y = Slice (x, starts, ends, axes) }""",
    refused=(Refusal("onnxruntime", ("dead if sized",)),),
)

_SCATTER = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port></output></layer>
<layer id="1" name="u" type="Parameter" version="opset1"><data shape="ROWS,4" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>ROWS</dim><dim>4</dim></port></output></layer>
<layer id="2" name="i" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output>\
<port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="3" name="s" type="SliceScatter" version="opset15"><input><port id="0"/><port id="1"/><port id="2"/>\
<port id="3"/><port id="4"/></input><output><port id="5" precision="FP32"><dim>2</dim><dim>8</dim></port></output>\
</layer>
<layer id="4" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="3" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>\
<edge from-layer="2" from-port="0" to-layer="3" to-port="2"/>\
<edge from-layer="2" from-port="0" to-layer="3" to-port="3"/>\
<edge from-layer="2" from-port="0" to-layer="3" to-port="4"/>\
<edge from-layer="3" from-port="5" to-layer="4" to-port="0"/>
</edges></net>"""

UPDATES_NOT_SLICE = Rule(
    "IRL354",
    "slice-updates-mismatch",
    Severity.ERROR,
    "The updates of a SliceScatter do not have the shape of the slice.",
    why="The updates replace the slice element by element, without broadcasting.",
    fix=(
        "Give the updates the shape of data[start:stop:step] on the sliced axes, and the sizes of the data on the "
        "other axes."
    ),
    bad=_SCATTER.replace("ROWS", "3"),
    good=_SCATTER.replace("ROWS", "2"),
)

#: A start or end of at least this number means the end of the axis; at most minus this number, the start of the axis.
FAR = (1 << 31) - 1


@record
class Range:
    """``start:end:step`` of one axis."""

    start: MaybeDim
    end: MaybeDim
    step: MaybeDim


# --- shared functions -------------------------------------------------------------------------------------------------


def from_start(index: MaybeDim, dim: MaybeDim) -> MaybeDim:
    """``index`` counted from the start of an axis of size ``dim``; None if the sign of the index is unknown."""
    # The index dim - 1 counts from the start: it is negative only if the axis is empty.
    if index is None or at_least(index, 0) or (dim is not None and (same(dim - index, 1) or at_least(index, dim))):
        return index
    if dim is None or not at_least(-1, index):
        return None
    return index + dim


def range_length(dim: MaybeDim, taken: Range) -> MaybeDim:
    """The number of elements that a range selects from an axis of size ``dim``; None if it is unknown.

    Unlike NumPy, ONNX and OpenVINO move a start before the axis to the first element if the step is negative.
    """
    start, end, step = taken.start, taken.end, taken.step
    if dim is None or start is None or end is None or not isinstance(step, int):
        return None
    return (
        _ascending_length(dim, start, end, step=step) if step > 0 else _descending_length(dim, start, end, step=-step)
    )


def _ascending_length(dim: Dim, start: Dim, end: Dim, *, step: int) -> MaybeDim:
    first: MaybeDim = 0 if at_least(-FAR, start) else from_start(start, dim)
    last: MaybeDim = dim if at_least(end, FAR) else from_start(end, dim)
    if last == 0:
        return 0
    if first is None or last is None:
        return None
    if at_least(start, FAR):
        return 0
    return _steps(smallest(last - first, last, dim - first, dim), dim, step)


def _steps(distance: MaybeDim, dim: Dim, step: int) -> MaybeDim:
    """The number of steps that begin within ``distance`` elements of an axis of size ``dim``."""
    if distance is None or distance == dim or at_least(distance, 1 - step):
        return None if distance is None else ceildiv(distance, step)
    count = largest(distance, 0)
    return None if count is None else ceildiv(count, step)


def _descending_length(dim: Dim, start: Dim, end: Dim, *, step: int) -> MaybeDim:
    first: MaybeDim = dim - 1 if at_least(start, FAR) else from_start(start, dim)
    last: MaybeDim = -1 if at_least(-FAR, end) else from_start(end, dim)
    if first is None or last is None:
        return None
    if at_least(first, 0) or same(first, dim - 1):
        return _steps(smallest(first - last, first + 1, dim - 1 - last, dim), dim, step)
    first = smallest(largest(first, 0), dim - 1)
    last = largest(smallest(last, dim - 1), -1)
    return None if first is None or last is None else _steps(first - last, dim, step)


def range_positions(dim: int, taken: Range) -> range | None:
    """The positions that a range selects on an axis of size ``dim``; None if they are unknown."""
    start, end, step = taken.start, taken.end, taken.step
    if not isinstance(start, int) or not isinstance(end, int) or not isinstance(step, int):
        return None
    if step < 0 and start < -dim:
        start = 0
    first, last, _ = slice(start, end, step).indices(dim)
    return range(first, last, step)


def picked(value: Contents | None, shape: Shape | None, positions: Sequence[Sequence[int] | None]) -> Contents | None:
    """The values at ``positions`` of each axis; None if they are unknown."""
    if value is None or shape is None or not fits(shape) or None in positions:
        return None
    widths = strides(shape)  # type: ignore[arg-type]
    offsets = [[index * width for index in indices] for indices, width in zip(positions, widths) if indices is not None]
    return tuple(value[sum(parts)] for parts in product(*offsets))


def _emptiness(axis: int, dim: MaybeDim, taken: Range) -> str:
    """The text of an ascending slice that starts after the last element; "" for other slices."""
    if not isinstance(taken.start, int) or not isinstance(taken.step, int) or not isinstance(dim, int):
        return ""
    if taken.step < 0 or not 0 < dim <= taken.start:
        return ""
    return f"the slice starts at {taken.start} and axis {axis} has {counted(dim, 'element')}: the slice is empty"


def sliced(data: Tensor, ranges: Sequence[Range | None]) -> Tensor:
    """The part of ``data`` that the ranges of its axes select; None in place of a range keeps the axis."""
    if data.shape is None:
        return Tensor(data.dtype)
    shape = tuple(dim if taken is None else range_length(dim, taken) for dim, taken in zip(data.shape, ranges))
    for axis, (dim, taken) in enumerate(zip(data.shape, ranges)):
        if taken is not None:
            explain_size(axis, shape[axis], details=_emptiness(axis, dim, taken), part_of=dim)
    value = None
    if data.value is not None and fits(data.shape):
        places = [
            range(dim) if taken is None else range_positions(dim, taken)  # type: ignore[arg-type]
            for dim, taken in zip(data.shape, ranges)
        ]
        value = picked(data.value, data.shape, places)
    if value is not None or (data.value is None and data.extent is None):
        return Tensor(data.dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(data.dtype, shape, None, bounds.taken(data, list(map(start_and_step, data.shape, ranges))))


def start_and_step(dim: MaybeDim, taken: Range | None) -> tuple[MaybeDim, MaybeDim]:
    """(First position that a range selects, step), None for an unknown part. A ``taken`` of None keeps the axis."""
    if taken is None:
        return 0, 1
    start, step = taken.start, taken.step
    if not isinstance(step, int) or start is None or dim is None:
        return None, step
    if step > 0:
        first = 0 if at_least(-FAR, start) else from_start(start, dim)
        return largest(first, 0), step
    first = dim - 1 if at_least(start, FAR) else from_start(start, dim)
    is_within = same(first, dim - 1) or (at_least(first, 0) and at_least(dim - 1, first))
    return first if is_within else None, step


def entries(tensor: Tensor | None, count: int) -> tuple[MaybeDim, ...]:
    """The integers in a list of ``count`` entries."""
    known = None if tensor is None else tensor.ints
    return known if known is not None and len(known) == count else (None,) * count


# --- checks of the lists ----------------------------------------------------------------------------------------------

#: (Index, name, tensor) of an input that is a list.
Listed = tuple[int, str, Tensor | None]


def entry_count(lists: Sequence[Listed], data: Tensor) -> int | None:
    """The number of sliced axes, which is the length of all ``lists``; None if it is unknown.

    Raises a ``SLICE_LENGTHS_DIFFER`` or ``INPUT_RANK_REFUSED`` fault.
    """
    found: list[tuple[int, str, MaybeDim]] = []
    for index, name, tensor in lists:
        if tensor is None or tensor.shape is None:
            continue
        expect_rank(tensor, index, 1, what=name)
        found.append((index, name, tensor.shape[0]))
    first, other, expected = next(
        (row for row in found if isinstance(row[2], int)), found[0] if found else (0, "", None)
    )
    for index, name, length in found:
        if index != first and not agree(expected, length, f"{other} and {name} have one entry for each sliced axis"):
            raise SLICE_LENGTHS_DIFFER.fault(
                f"input {first} ({other}) has {counted(expected, 'entry', 'entries')} and input {index} ({name}) has "
                f"{length}",
                help=f"give `{other}` and `{name}` one entry for each sliced axis",
                input=index,
                marks=((first, 0), (index, 0)),
            )
    count = next((length for _, _, length in found if isinstance(length, int)), None)
    if count is not None and data.rank is not None and count > data.rank:
        raise SLICE_LENGTHS_DIFFER.fault(
            f"{counted(count, 'axis', 'axes')} are sliced, but input 0 has {data.rank}",
            help=f"slice at most {counted(data.rank, 'axis', 'axes')}",
            input=found[0][0],
        )
    return count


def refuse_zero_steps(steps: Sequence[MaybeDim], index: int | None) -> None:
    """Checks that no step is 0; ``index`` is the input with the steps. Raises a ``SLICE_STEP_ZERO`` fault."""
    for position, step in enumerate(steps):
        if step == 0:
            raise SLICE_STEP_ZERO.fault(
                f"entry {position} of the steps is 0; it must be positive, or negative for reverse order",
                help="use 1 to take every element",
                input=index,
            )


def _ranges(
    data: Tensor,
    starts: Tensor | None,
    ends: Tensor | None,
    *,
    steps: Tensor | None,
    axes: Tensor | None,
    count: int | None,
) -> tuple[Range | None, ...] | None:
    """The range of each axis of ``data``, where None keeps the axis; None if the rank is unknown."""
    rank = data.rank
    if rank is None:
        return None
    unknown = Range(None, None, None)
    if count is None:
        return (unknown,) * rank
    listed = tuple(range(count)) if axes is None else entries(axes, count)
    known = [axis for axis in listed if isinstance(axis, int)]
    places = axes_of(known, rank)
    if len(known) < count:
        return (unknown,) * rank
    result: list[Range | None] = [None] * rank
    rows = zip(entries(starts, count), entries(ends, count), (1,) * count if steps is None else entries(steps, count))
    for place, row in zip(places, rows):
        result[place] = Range(*row)
    return tuple(result)


# --- Slice ------------------------------------------------------------------------------------------------------------


def _listed(values: Ints | None) -> Tensor | None:
    return None if values is None else Tensor("int64", (len(values),), values)


@onnx("Slice", since=1)
def slice_by_attributes(data: Tensor, *, starts: Ints, ends: Ints, axes: Ints | None = None) -> Tensor:
    """ONNX Slice-1."""
    first, last, named = _listed(starts), _listed(ends), _listed(axes)
    _expect_equal_counts(("starts", starts), ("ends", ends), ("axes", axes))
    ranges = _ranges(data, first, last, steps=None, axes=named, count=entry_count(((0, "starts", first),), data))
    return Tensor(data.dtype) if ranges is None else sliced(data, ranges)


def _expect_equal_counts(*lists: tuple[str, Ints | None]) -> None:
    first, values = lists[0]
    for name, other in lists[1:]:
        if other is not None and values is not None and len(other) != len(values):
            raise SLICE_LENGTHS_DIFFER.fault(
                f"attribute `{first}` has {counted(len(values), 'entry', 'entries')} and `{name}` has {len(other)}",
                help=f"give `{first}` and `{name}` one entry for each sliced axis",
                attribute=name,
            )


@onnx("DynamicSlice", until=9, may_be_external={"starts": None, "ends": None, "axes": None})
def dynamic_slice(data: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None) -> Tensor:
    """ONNX DynamicSlice, formerly experimental."""
    return slice_by_inputs(data, starts, ends, axes)


@onnx("Slice", since=10)
def slice_by_inputs(
    data: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None, steps: Tensor | None = None
) -> Tensor:
    """ONNX Slice-10."""
    lists = ((1, "starts", starts), (2, "ends", ends), (3, "axes", axes), (4, "steps", steps))
    return _sliced_by_inputs(data, lists, starts, ends=ends, steps=steps, axes=axes, step_index=4)


def _sliced_by_inputs(
    data: Tensor,
    lists: Sequence[Listed],
    starts: Tensor,
    *,
    ends: Tensor,
    steps: Tensor | None,
    axes: Tensor | None,
    step_index: int,
) -> Tensor:
    count = entry_count(lists, data)
    if steps is not None and count is not None:
        refuse_zero_steps(entries(steps, count), step_index)
    ranges = _ranges(data, starts, ends, steps=steps, axes=axes, count=count)
    return Tensor(data.dtype) if ranges is None else sliced(data, ranges)


def bounded(result: Tensor, data: Tensor, context: Context) -> Tensor:
    """``result``, a slice of ``data``, with a symbol for each unknown size. The symbol is at most the data's size."""
    if result.shape is None or data.shape is None:
        return result
    shape = tuple(
        context.unknown(("taken", axis), before) if dim is None and isinstance(before, int) else dim
        for axis, (dim, before) in enumerate(zip(result.shape, data.shape))
    )
    return Tensor(result.dtype, shape, result.value, result.extent)


@openvino("Slice", since=8, fills_in=True)
def ov_slice(
    data: Tensor, start: Tensor, stop: Tensor, step: Tensor, axes: Tensor | None = None, *, context: Context
) -> Tensor:
    """OpenVINO Slice-8."""
    expect_rank(data, 0, least=1)
    lists = ((1, "start", start), (2, "stop", stop), (3, "step", step), (4, "axes", axes))
    for index, _, tensor in lists:
        expect_type(tensor, index, INTEGERS)
    return bounded(_sliced_by_inputs(data, lists, start, ends=stop, steps=step, axes=axes, step_index=3), data, context)


@openvino("SliceScatter", since=15, fills_in=True, kept=True)
def slice_scatter(
    data: Tensor,
    updates: Tensor,
    start: Tensor,
    stop: Tensor,
    step: Tensor,
    axes: Tensor | None = None,
) -> Tensor:
    """OpenVINO SliceScatter-15."""
    expect_rank(data, 0, least=1)
    expect_rank(updates, 1, least=1)
    lists = ((2, "start", start), (3, "stop", stop), (4, "step", step), (5, "axes", axes))
    for index, _, tensor in lists:
        expect_type(tensor, index, INTEGERS)
    window = _sliced_by_inputs(
        Tensor(data.dtype, data.shape), lists, start, ends=stop, steps=step, axes=axes, step_index=4
    )
    if data.shape is None:
        return Tensor(data.dtype, None if updates.shape is None else (None,) * len(updates.shape))
    if updates.shape is not None and window.shape is not None:
        _expect_slice(data.shape, updates.shape, window.shape)
    return Tensor(data.dtype, data.shape)


def _expect_slice(data: Shape, updates: Shape, window: Shape) -> None:
    if len(updates) != len(window):
        raise UPDATES_NOT_SLICE.fault(
            f"input 1 has {counted(len(updates), 'axis', 'axes')} and input 0 has {len(data)}",
            help=axes_help(1, len(data), 0, rank_of_other=len(updates)),
            input=1,
        )
    for axis, (given, wanted, most) in enumerate(zip(updates, window, data)):
        fits_slice = agree(given, wanted, f"axis {axis} of the updates has the size of the slice")
        if not fits_slice or (wanted is None and at_least(most, given) is False):
            raise UPDATES_NOT_SLICE.fault(
                f"input 1 is {shape_text(updates)} and the slice of input 0 to replace is {shape_text(window)}: "
                f"axis {axis} is {given} against {f'at most {most}' if wanted is None else wanted}",
                help=f"give axis {axis} of the updates the size of the slice, or slice {counted(given, 'element')}",
                input=1,
                marks=((1, axis),),
            )
