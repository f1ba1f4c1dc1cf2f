"""OpenVINO's StridedSlice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import MaybeDim, Shape
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import explain_size
from irlint.findings.wording import counted
from irlint.model.tensor import INTEGERS, UNKNOWN, Contents, Tensor
from irlint.ops import Context, openvino
from irlint.ops.layout.slicing import (
    FAR,
    Range,
    bounded,
    entries,
    entry_count,
    from_start,
    picked,
    range_positions,
    refuse_zero_steps,
    sliced,
    start_and_step,
)
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.compiling import readable_constants
from irlint.ops.shared.contents import fits
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.index_ranges import IndexedAxis, out_of_range
from irlint.records import record

_STRIDED = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="2" element_type="i64"/><output>\
<port id="0" precision="I64"><dim>2</dim></port></output></layer>
<layer id="2" name="s" type="StridedSlice" version="opset1">\
<data begin_mask="0,0" end_mask="0,0" ellipsis_mask="MASK"/><input><port id="0"/><port id="1"/><port id="2"/></input>\
<output><port id="3" precision="FP32"><dim>-1</dim><dim>-1</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="2"/>\
<edge from-layer="2" from-port="3" to-layer="3" to-port="0"/>
</edges></net>"""

STRIDED_SLICE_MASK = Rule(
    "IRL350",
    "strided-slice-mask-wrong",
    Severity.ERROR,
    "The masks of a StridedSlice contradict each other or the rank of the data.",
    why=(
        "A mask is a list of 0 and 1 with one entry for each entry of `begin`. OpenVINO refuses the layer in three "
        "cases: masks that are not empty have different lengths, where an empty `begin_mask` has length 0; more than "
        "one entry is an ellipsis; or more entries select an axis (neither ellipsis nor new axis) than the data has "
        "axes."
    ),
    fix="Give every mask as many entries as `begin` has, each 0 or 1.",
    bad=_STRIDED.replace("MASK", "1,1"),
    good=_STRIDED.replace("MASK", "0,0"),
)


@record
class Masks:
    """The masks of a StridedSlice, each as the positions of its 1s."""

    begin: frozenset[int]
    end: frozenset[int]
    new_axis: frozenset[int]
    shrink_axis: frozenset[int]
    ellipsis: frozenset[int]


def _masks(written: Sequence[tuple[str, Ints]]) -> Masks:
    """The masks from ``written``, (name, entries) of each mask. Raises a ``STRIDED_SLICE_MASK`` fault."""
    # Empty masks are ignored, except for the first mask: it must not be empty if another mask has entries.
    lengths = {name: len(mask) for position, (name, mask) in enumerate(written) if mask or not position}
    for name, mask in written:
        if any(entry not in (0, 1) for entry in mask):
            raise STRIDED_SLICE_MASK.fault(
                f"{name} is {','.join(map(str, mask))}; its entries have to be 0 or 1",
                help=f"write `{name}` with only 0 and 1",
                attribute=name,
            )
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise STRIDED_SLICE_MASK.fault(
            f"the masks are of different lengths: {text}",
            help="give every mask one entry for each entry of `begin`",
            attribute=next(iter(lengths)),
        )
    return Masks(*(frozenset(i for i, entry in enumerate(mask) if entry) for _, mask in written))


#: The effects of a StridedSlice in the order of the output's axes: (kind, axis of the data, position of the entry).
#:
#: * ``new``: an axis is inserted
#: * ``shrink``: the axis is removed
#: * ``range``: the axis is sliced
#: * ``kept``: the axis is unchanged
Plan = list[tuple[str, int, int]]


def strided_plan(rank: int, count: int, masks: Masks) -> Plan:
    """The effects of ``count`` entries of `begin` on a tensor of ``rank`` axes.

    Raises a ``STRIDED_SLICE_MASK`` fault.
    """
    if len(masks.ellipsis) > 1:
        raise STRIDED_SLICE_MASK.fault(
            f"ellipsis_mask marks the entries {', '.join(map(str, sorted(masks.ellipsis)))}; at most one may be an "
            "ellipsis",
            help="mark one entry as the ellipsis",
            attribute="ellipsis_mask",
        )
    at = next((position for position in masks.ellipsis if position < count), None)
    new = {position for position in masks.new_axis if position < count and position != at}
    needed = count - len(new) - (at is not None)
    if needed > rank:
        raise STRIDED_SLICE_MASK.fault(
            f"{needed} of the {counted(count, 'entry', 'entries')} of `begin` slice an axis each, and input 0 has "
            f"{counted(rank, 'axis', 'axes')}",
            help="remove entries, or mark new axes and the ellipsis",
            input=1,
        )
    plan: Plan = []
    axis = 0
    for position in range(count):
        if position == at:
            plan += [("kept", axis + hidden, position) for hidden in range(rank - needed)]
            axis += rank - needed
        elif position in new:
            plan.append(("new", 0, position))
        else:
            plan.append(("shrink" if position in masks.shrink_axis else "range", axis, position))
            axis += 1
    plan += [("kept", rest, count) for rest in range(axis, rank)]
    return plan


def masked_range(begin: MaybeDim, end: MaybeDim, stride: MaybeDim, *, masks: Masks, position: int) -> Range:
    """The range of the entry at ``position``.

    Where the mask of ``begin`` is 1, the slice starts at the edge of the axis. The mask of ``end`` works alike.
    """
    backwards = isinstance(stride, int) and stride < 0
    if position in masks.begin:
        begin = None if stride is None else FAR if backwards else 0
    if position in masks.end:
        end = None if stride is None else -FAR if backwards else FAR
    return Range(begin, end, stride)


@openvino("StridedSlice", absent={"begin_mask": (), "end_mask": ()}, fills_in=True, compiles=readable_constants(3))
def strided_slice(
    data: Tensor,
    begin: Tensor,
    end: Tensor,
    stride: Tensor | None = None,
    *,
    begin_mask: Ints,
    end_mask: Ints,
    new_axis_mask: Ints = (),
    shrink_axis_mask: Ints = (),
    ellipsis_mask: Ints = (),
    context: Context,
) -> Tensor:
    """OpenVINO StridedSlice-1."""
    expect_type(begin, 1, INTEGERS)
    expect_type(end, 2, INTEGERS)
    masks = _masks(
        (
            ("begin_mask", begin_mask),
            ("end_mask", end_mask),
            ("new_axis_mask", new_axis_mask),
            ("shrink_axis_mask", shrink_axis_mask),
            ("ellipsis_mask", ellipsis_mask),
        )
    )
    count = entry_count(((1, "begin", begin), (2, "end", end), (3, "stride", stride)), UNKNOWN)
    if data.shape is None or count is None:
        return Tensor(data.dtype)
    plan = strided_plan(len(data.shape), count, masks)
    steps = (1,) * count if stride is None else entries(stride, count)
    refuse_zero_steps([steps[position] for kind, _, position in plan if kind == "range"], 3)
    rows = list(zip(entries(begin, count), entries(end, count), steps))
    ranges, removed = _ranges_and_removed(data.shape, plan, rows, masks=masks)
    kept = bounded(sliced(Tensor(data.dtype, data.shape), ranges), data, context)
    assert kept.shape is not None
    rest = [(kind, axis) for kind, axis, _ in plan if kind != "shrink"]
    shape = tuple(1 if kind == "new" else kept.shape[axis] for kind, axis in rest)
    for position, (kind, axis) in enumerate(rest):
        if kind == "range":
            explain_size(position, shape[position], part_of=data.shape[axis])
    value = _strided_values(data, ranges, removed)
    if data.extent is None:
        return Tensor(data.dtype, shape, value)
    from irlint.ops.shared import bounds

    places = [
        (from_start(removed[axis], dim), 0) if axis in removed else start_and_step(dim, taken)
        for axis, (dim, taken) in enumerate(zip(data.shape, ranges))
    ]
    kept_axes = [None if kind == "new" else axis for kind, axis in rest]
    return Tensor(data.dtype, shape, value, bounds.arranged(bounds.taken(data, places), kept_axes))


def _ranges_and_removed(
    shape: Shape, plan: Plan, rows: Sequence[tuple[MaybeDim, MaybeDim, MaybeDim]], *, masks: Masks
) -> tuple[list[Range | None], dict[int, MaybeDim]]:
    """(range of each axis or None if the axis is not sliced, {removed axis: selected index}).

    Raises an ``INDEX_OUT_OF_RANGE`` fault.
    """
    ranges: list[Range | None] = [None] * len(shape)
    removed: dict[int, MaybeDim] = {}
    for kind, axis, position in plan:
        if kind == "range":
            ranges[axis] = masked_range(*rows[position], masks=masks, position=position)
        if kind == "shrink":
            removed[axis] = 0 if position in masks.begin else rows[position][0]
            _expect_within(removed[axis], shape[axis], axis)
    return ranges, removed


def _expect_within(index: MaybeDim, dim: MaybeDim, axis: int) -> None:
    fault = out_of_range(Tensor("int64", (), (index,)), IndexedAxis(dim, axis), index=1)
    if fault is not None:
        raise fault


def _strided_values(data: Tensor, ranges: Sequence[Range | None], removed: Mapping[int, MaybeDim]) -> Contents | None:
    if data.value is None or data.shape is None or not fits(data.shape):
        return None
    places: list[Sequence[int] | None] = []
    for axis, (dim, taken) in enumerate(zip(data.shape, ranges)):
        assert isinstance(dim, int)
        if axis in removed:
            index = removed[axis]
            places.append((index % dim,) if isinstance(index, int) else None)
        else:
            places.append(range(dim) if taken is None else range_positions(dim, taken))
    return picked(data.value, data.shape, places)
