"""Operators that repeat, pad, crop, turn around or shift a tensor along its axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.dims import MaybeDim, Shape, at_least, bounds, product, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import agree, reaches, reckon, reckoning, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.kernels import contents as fold
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.kernels.axes import Ints, axes_of, axis_of
from irlint.ops.kernels.element_types import (
    ELEMENT_TYPE_REFUSED,
    ELEMENT_TYPES_DIFFER,
    INDEX_TYPES,
    LOGICAL,
    expect_type,
)
from irlint.ops.kernels.expectations import expect_one, expect_rank
from irlint.ops.kernels.shape_inputs import entries, length, stated_size, whole
from irlint.schemas import MICROSOFT

PadMode = Literal["constant", "reflect", "edge", "wrap"]
OpenvinoPadMode = Literal["constant", "edge", "reflect", "symmetric"]
ReverseMode = Literal["index", "mask"]


ENTRIES_PER_AXIS = Rule(
    "IRL334",
    "entries-per-axis-mismatch",
    Severity.ERROR,
    "A list that has one number for each axis is of another length.",
    why="""Repeats, pads, crops and block sizes are listed axis by axis, pads in ONNX as all beginnings and then all ends.
Runtimes refuse a list of another length.""",
    mend="State one number for each axis of the data (ONNX pads: two), 1 or 0 where nothing is to happen.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) <int64[1] repeats = {2}> { y = Tile (x, repeats) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) <int64[2] repeats = {2, 1}> { y = Tile (x, repeats) }""",
)

CROP_EXCEEDS = Rule(
    "IRL335",
    "crop-exceeds-input",
    Severity.ERROR,
    "More is cut off an axis than it has.",
    why="Negative pads and crops remove elements; ONNX Runtime stops when it runs, OpenVINO gives up on the size in silence.",
    mend="Cut off at most the size of the axis.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[N,3] y) <int64[4] pads = {-1, 0, -2, 0}> { y = Pad (x, pads) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[1,3] y) <int64[4] pads = {-1, 0, 0, 0}> { y = Pad (x, pads) }""",
)

PAD_EXCEEDS = Rule(
    "IRL337",
    "pad-exceeds-input",
    Severity.ERROR,
    "The padding repeats more of the data than there is.",
    why="""`edge` needs an element to repeat, `reflect` one more element than it adds, `symmetric` as many as it adds. OpenVINO
refuses the layer; ONNX Runtime stops when it runs, though NumPy would reflect again and again: there it is a warning.""",
    mend="Pad less, pad twice, or use `constant`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[0,3] x) => (float[1,3] y) <int64[4] pads = {1, 0, 0, 0}> { y = Pad <mode = "edge"> (x, pads) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[3,3] y) <int64[4] pads = {1, 0, 0, 0}> { y = Pad <mode = "edge"> (x, pads) }""",
)

SEQUENCE_LENGTHS = Rule(
    "IRL338",
    "sequence-lengths-mismatch",
    Severity.ERROR,
    "There is another number of sequence lengths than there are sequences.",
    why="ReverseSequence takes one length for each entry of the batch axis; runtimes refuse any other number.",
    mend="State one length for each entry of the batch axis, or correct `batch_axis`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,4] x, int64[5] lens) => (float[5,4] y) { y = ReverseSequence (x, lens) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,4] x, int64[4] lens) => (float[5,4] y) { y = ReverseSequence (x, lens) }""",
)


def picked(
    x: Tensor, shape: Shape, source: Callable[[int, int], int | None], *, filler: Scalar = None
) -> Contents | None:
    """The contents of a result of ``shape`` whose entries come from ``x``.

    ``source`` tells, for an axis and a position on it in the result, the position in ``x``; None is the ``filler``.
    """
    if x.value is None or not fold.fits(x.shape) or not fold.fits(shape):
        return None
    assert x.shape is not None
    steps = fold.strides(fold.static(x.shape))
    result: list[Scalar] = []
    for place in fold.positions(shape):
        origin = [source(axis, position) for axis, position in enumerate(place)]
        known = [position * step for position, step in zip(origin, steps) if position is not None]
        result.append(x.value[sum(known)] if len(known) == len(origin) else filler)
    return tuple(result)


def expect_per_axis(count: MaybeDim, shape: Shape | None, index: int | None, *, what: str, times: int = 1) -> None:
    """Makes sure that a list has ``times`` numbers for each axis of ``shape``. Raises an ``ENTRIES_PER_AXIS`` fault."""
    if shape is None or same(count, times * len(shape)) is not False:
        return
    place = f"`{what}`" if index is None else f"input {index} ({what})"
    raise ENTRIES_PER_AXIS.fault(
        f"{place} has {counted(count, 'entry', 'entries')} and input 0 is {shape_text(shape)} with {counted(len(shape), 'axis', 'axes')}: "
        f"{counted(times * len(shape), 'entry', 'entries')} are expected",
        help=f"state {times * len(shape)} numbers",
        input=index if index is not None else 0,
    )


# --- Tile -------------------------------------------------------------------------------------------------------------


def tiled(x: Tensor, repeats: Sequence[MaybeDim]) -> Tensor:
    """``x`` repeated along each axis; ``repeats`` has one entry for each."""
    own = x.shape
    assert own is not None
    shape = tuple(product((dim, times)) for dim, times in zip(own, repeats))

    def source(axis: int, position: int) -> int:
        dim = own[axis]
        assert isinstance(dim, int)
        return position % dim

    return Tensor(x.dtype, shape, picked(x, shape, source))


@onnx("Tile", since=1)
def tile_along_axis(input: Tensor, tiles: Tensor, axis: Tensor) -> Tensor:
    """ONNX Tile-1: repeated along one axis; both numbers are inputs of the data's type."""
    if input.shape is None:
        return Tensor(input.dtype)
    times, place = tiles.scalar, axis.scalar
    if not isinstance(place, (int, float)):
        return Tensor(input.dtype, (None,) * len(input.shape))
    along = axis_of(int(place), len(input.shape))
    count = int(times) if isinstance(times, (int, float)) else None
    return tiled(input, [count if position == along else 1 for position in range(len(input.shape))])


@onnx("Tile", since=6)
def tile(input: Tensor, repeats: Tensor) -> Tensor:
    """ONNX Tile-6 and 13."""
    expect_rank(repeats, 1, 1, what="repeats")
    expect_per_axis(length(repeats), input.shape, 1, what="repeats")
    listed = entries(repeats)
    if listed is None or input.shape is None:
        count = len(input.shape) if input.shape is not None else None if listed is None else len(listed)
        return Tensor(input.dtype, None if count is None else (None,) * count)
    return tiled(input, [stated_size(entry, 1, f"entry {axis} of the repeats") for axis, entry in enumerate(listed)])


@openvino("Tile")
def ov_tile(data: Tensor, repeats: Tensor) -> Tensor:
    """OpenVINO Tile-1: the shorter of shape and repeats is filled up with 1s in front; the library takes less than 0 for 0."""
    expect_type(repeats, 1, INTEGERS)
    expect_rank(repeats, 1, 1, what="repeats")
    listed = entries(repeats)
    if listed is None or data.shape is None:
        return Tensor(data.dtype)
    rank = max(len(listed), len(data.shape))
    times = [1] * (rank - len(listed)) + [0 if at_least(entry, 0) is False else entry for entry in listed]
    return tiled(Tensor(data.dtype, (1,) * (rank - len(data.shape)) + data.shape, data.value), times)


# --- Pad --------------------------------------------------------------------------------------------------------------


def padded(
    x: Tensor, begin: Sequence[MaybeDim], end: Sequence[MaybeDim], *, mode: str, filler: Scalar, input: int | None
) -> Tensor:
    """``x`` with elements added to both ends of every axis, or removed where a number is negative.

    Raises a ``CROP_EXCEEDS`` fault. Sources: ONNX Pad-2 to 25, OpenVINO Pad-1 and 12.
    """
    own = x.shape
    assert own is not None
    sizes: list[MaybeDim] = []
    for axis, (dim, before, after) in enumerate(zip(own, begin, end)):
        if dim is None or before is None or after is None:
            sizes.append(None)
            continue
        sizes.append(dim + before + after)
        if not reaches(sizes[-1], 0, f"axis {axis} is cropped by {before} and {after}"):
            raise CROP_EXCEEDS.fault(
                f"axis {axis} of input 0 is {dim} and is padded by {before} and {after}: {counted(sizes[-1], 'element')} would be left",
                help=f"cut off at most {counted(dim, 'element')}",
                input=input,
                marks=((0, axis),),
            )

    def source(axis: int, position: int) -> int | None:
        dim, before = own[axis], begin[axis]
        assert isinstance(dim, int) and isinstance(before, int)
        origin = position - before
        if mode == "edge" and dim:
            return min(max(origin, 0), dim - 1)
        return origin if 0 <= origin < dim else None

    shape = tuple(sizes)
    if reckoning():
        from irlint.ops.kernels import formulas

        formulas.padded(own, shape, begin=begin, end=end)
    return Tensor(x.dtype, shape, picked(x, shape, source, filler=filler) if mode in ("constant", "edge") else None)


def expect_enough(
    x: Tensor, pads: Sequence[tuple[MaybeDim, MaybeDim]], mode: str, *, severity: Severity | None
) -> None:
    """Makes sure that each axis has the elements that its padding repeats.

    Raises a ``PAD_EXCEEDS`` fault, or states it where ``severity`` is a lower one; an empty axis is always an error. Without
    ``severity`` (OpenVINO) an axis that is reflected by 0 has to have an element too.
    """
    surplus = {"reflect": 1, "symmetric": 0}
    lowest = 0 if mode == "reflect" and severity is None else 1
    for axis, (dim, amounts) in enumerate(zip(x.shape or (), pads)):
        for stated in amounts:
            amount = None if stated is None else bounds(stated)[0]
            if mode == "constant" or amount is None or amount < lowest:
                continue
            least = amount + surplus[mode] if mode in surplus else 1
            by = amount if isinstance(stated, int) else f"at least {amount}"
            if reaches(dim, least, f'axis {axis} is padded by {by} with mode "{mode}"'):
                continue
            fault = PAD_EXCEEDS.fault(
                f'axis {axis} of input 0 is {dim} and is padded by {by}: with mode "{mode}" it needs at least {least}',
                help="pad less, or with another mode",
                input=0,
                marks=((0, axis),),
                severity=None if same(dim, 0) else severity,
            )
            if fault.severity is Severity.ERROR:
                raise fault
            warn(fault)


def _onnx_pad(
    x: Tensor, pads: Sequence[MaybeDim], axes: Sequence[int], *, mode: str, filler: Scalar, input: int | None
) -> Tensor:
    assert x.shape is not None
    begin: list[MaybeDim] = [0] * len(x.shape)
    end = list(begin)
    for position, axis in enumerate(axes):
        begin[axis], end[axis] = pads[position], pads[position + len(axes)]
    expect_enough(x, list(zip(begin, end)), mode, severity=Severity.WARNING)
    return padded(x, begin, end, mode=mode, filler=filler, input=input)


def _pad_by_attribute(x: Tensor, pads: Ints, mode: str, *, value: float, name: str) -> Tensor:
    if x.shape is None:
        return Tensor(x.dtype, (None,) * (len(pads) // 2))
    expect_per_axis(len(pads), x.shape, None, what=name, times=2)
    return _onnx_pad(x, pads, range(len(x.shape)), mode=mode, filler=fold.cast(value, x.dtype), input=None)


@onnx("Pad", since=1)
def pad_by_paddings(data: Tensor, *, paddings: Ints, mode: PadMode = "constant", value: float = 0.0) -> Tensor:
    """ONNX Pad-1, whose attribute is ``paddings``."""
    return _pad_by_attribute(data, paddings, mode, value=value, name="paddings")


@onnx("Pad", since=2)
def pad_by_attribute(data: Tensor, *, pads: Ints, mode: PadMode = "constant", value: float = 0.0) -> Tensor:
    """ONNX Pad-2."""
    return _pad_by_attribute(data, pads, mode, value=value, name="pads")


@onnx("Pad", since=11)
def pad(
    data: Tensor,
    pads: Tensor,
    constant_value: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: PadMode = "constant",
) -> Tensor:
    """ONNX Pad-11 and later; ``axes`` came with opset 18."""
    expect_rank(pads, 1, 1, what="pads")
    expect_one(constant_value, 2, "constant_value")
    filler = constant_value.scalar if constant_value is not None else fold.cast(0, data.dtype)
    if data.shape is None:
        return Tensor(data.dtype)
    rank = len(data.shape)
    chosen = tuple(range(rank))
    if axes is not None:
        expect_rank(axes, 3, 1, what="axes")
        named = whole(axes)
        if named is None:
            return Tensor(data.dtype, (None,) * rank)
        chosen = axes_of(named, rank)
    expect_per_axis(length(pads), tuple(data.shape[axis] for axis in chosen), 1, what="pads", times=2)
    listed = entries(pads) or (None,) * (2 * len(chosen))
    return _onnx_pad(data, listed, chosen, mode=mode, filler=filler, input=1)


@onnx("Pad", since=1, domain=MICROSOFT)
def microsoft_pad(data: Tensor, pads: Tensor, value: Tensor | None = None, *, mode: PadMode = "constant") -> Tensor:
    """com.microsoft Pad: like ONNX Pad-11, with pads of [2 * rank] or [1, 2 * rank]."""
    expect_rank(pads, 1, 1, 2, what="pads")
    flat = pads if pads.shape is None or len(pads.shape) == 1 else Tensor(pads.dtype, pads.shape[1:], pads.value)
    return pad(data, flat, value, mode=mode)


@openvino("Pad", until=11, absent={"pad_mode": "constant"}, fills_in=True)
@openvino("Pad", since=12, absent={"pad_mode": "constant"}, fills_in=True)
def ov_pad(
    data: Tensor, pads_begin: Tensor, pads_end: Tensor, pad_value: Tensor | None = None, *, pad_mode: OpenvinoPadMode
) -> Tensor:
    """OpenVINO Pad-1 and 12; the library lets both crop by negative numbers, and judges ``pad_value`` only if it is used."""
    if data.dtype == "string" and pad_mode != "constant":
        raise ELEMENT_TYPE_REFUSED.fault(
            f'input 0 is string, which OpenVINO pads with pad_mode="constant" only, and pad_mode is "{pad_mode}"',
            help='write pad_mode="constant"',
            attribute="pad_mode",
            input=0,
        )
    names = ("pads_begin", "pads_end")
    for index, x in enumerate((pads_begin, pads_end), 1):
        expect_type(x, index, INTEGERS)
        expect_rank(x, index, 1, what=names[index - 1])
        expect_per_axis(length(x), data.shape, index, what=names[index - 1])
    filler = fold.cast(0, data.dtype)
    if pad_value is not None and pad_mode == "constant":
        expect_one(pad_value, 3, "pad_value", scalar=True)
        _expect_same_type(data, pad_value)
        filler = pad_value.scalar
    if data.shape is None:
        return Tensor(data.dtype)
    rank = len(data.shape)
    begin, end = (entries(x) or (None,) * rank for x in (pads_begin, pads_end))
    expect_enough(data, list(zip(begin, end)), pad_mode, severity=None)
    return padded(data, begin, end, mode=pad_mode, filler=filler, input=1)


def _expect_same_type(data: Tensor, pad_value: Tensor) -> None:
    if None in (data.dtype, pad_value.dtype) or data.dtype == pad_value.dtype:
        return
    raise ELEMENT_TYPES_DIFFER.fault(
        f"input 0 is {data.dtype} and input 3 (pad_value) is {pad_value.dtype}: they have to be of one element type",
        help=f"convert input 3 to {data.dtype}",
        input=3,
    )


# --- Crop and Scale, dropped before ONNX was stable -------------------------------------------------------------------


@onnx("Crop")
def crop(input: Tensor, *, border: Ints, scale: Ints = ()) -> Tensor:
    """Crop of the default domain's experimental operators: [N, C, H, W] without its ``border`` (left, top, right, bottom).

    ``scale`` states the height and width that are left.
    """
    expect_rank(input, 0, 4)
    if input.shape is None:
        return Tensor(input.dtype, (None, None, *(scale or (None, None))))
    for name, given, count in (("border", border, (4,)), ("scale", scale, (0, 2))):
        if len(given) not in count:
            raise ENTRIES_PER_AXIS.fault(
                f"`{name}` has {counted(len(given), 'entry', 'entries')}; it has {count[-1]} "
                f"({'left, top, right, bottom' if name == 'border' else 'height, width'})",
                help=f"give `{name}` {counted(count[-1], 'entry', 'entries')}",
                attribute=name,
            )
    left, top, right, bottom = border
    below, beside = scale or (bottom, right)
    height = _cropped(input.shape, 2, top, rest=below, keeps=bool(scale))
    width = _cropped(input.shape, 3, left, rest=beside, keeps=bool(scale))
    for axis, dim in ((2, height), (3, width)):
        reckon(axis, dim, whole=input.shape[axis])
    return Tensor(input.dtype, (*input.shape[:2], height, width))


def _cropped(shape: Shape, axis: int, before: int, *, rest: int, keeps: bool) -> MaybeDim:
    """What is left of an axis without ``before``, and without ``rest`` or, with ``keeps``, only ``rest`` of it."""
    found = shape[axis]
    if not reaches(found, before + rest, f"axis {axis} is at least what is cut off"):
        raise CROP_EXCEEDS.fault(
            f"axis {axis} of input 0 is {found}; {before} of it are cut off before, and {rest} "
            f"{'are kept' if keeps else 'cut off after'}",
            help=f"let both be at most {found}",
            input=0,
            marks=((0, axis),),
        )
    if keeps:
        return rest
    return None if found is None else found - before - rest


# --- turned around and shifted ----------------------------------------------------------------------------------------


@openvino("Reverse", until=1, absent={"mode": "index"})
def ov_reverse(data: Tensor, reversed_axes: Tensor, *, mode: ReverseMode) -> Tensor:
    """OpenVINO Reverse-1: axes by their numbers, or by a mask of one boolean for each."""
    expect_type(reversed_axes, 1, LOGICAL if mode == "mask" else INTEGERS)
    expect_rank(reversed_axes, 1, 1, what="reversed_axes")
    if mode == "mask":
        count = length(reversed_axes) if reversed_axes.shape is None else reversed_axes.shape[0]
        expect_per_axis(count, data.shape, 1, what="reversed_axes")
        return Tensor(data.dtype, data.shape)
    named = whole(reversed_axes)
    if named is not None and data.shape is not None:
        axes_of(named, len(data.shape), repeats=True)
    return Tensor(data.dtype, data.shape)


def _reverse_sequence(data: Tensor, lengths: Tensor, batch_axis: int, *, sequence_axis: int) -> Tensor:
    expect_rank(data, 0, least=2)
    expect_rank(lengths, 1, 1, what="sequence lengths")
    if data.shape is None:
        return Tensor(data.dtype)
    batch = axis_of(batch_axis, len(data.shape), "the batch axis")
    axis_of(sequence_axis, len(data.shape), "the sequence axis")
    count = lengths.shape[0] if lengths.shape is not None else None
    dim = data.shape[batch]
    if not agree(dim, count, f"axis {batch} of input 0 are the sequences whose lengths input 1 states"):
        raise SEQUENCE_LENGTHS.fault(
            f"input 1 states {count} sequence lengths and axis {batch} of input 0, {shape_text(data.shape)}, is {dim}",
            help=f"state {dim} lengths, or correct `batch_axis`",
            input=1,
            marks=((0, batch), (1, 0)),
            aligned="left",
        )
    exact = count if isinstance(count, int) or dim is None else dim
    return Tensor(data.dtype, (*data.shape[:batch], exact, *data.shape[batch + 1 :]))


@onnx("ReverseSequence", since=10)
def reverse_sequence(input: Tensor, sequence_lens: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    """ONNX ReverseSequence-10: batch and time are the first two axes, in either order."""
    for name, axis in (("batch_axis", batch_axis), ("time_axis", time_axis)):
        if axis > 1:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {axis}; it is 0 or 1", help="transpose the input", attribute=name
            )
    if batch_axis == time_axis:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`batch_axis` and `time_axis` are both {batch_axis}; one is 0 and the other 1",
            help="use 0 for one and 1 for the other",
            attribute="time_axis",
        )
    return _reverse_sequence(input, sequence_lens, batch_axis, sequence_axis=time_axis)


@openvino("ReverseSequence")
def ov_reverse_sequence(data: Tensor, seq_lengths: Tensor, *, batch_axis: int = 0, seq_axis: int = 1) -> Tensor:
    """OpenVINO ReverseSequence-1."""
    expect_type(seq_lengths, 1, INTEGERS | FLOATS)
    return _reverse_sequence(data, seq_lengths, batch_axis, sequence_axis=seq_axis)


@openvino("Roll", since=7)
def ov_roll(data: Tensor, shift: Tensor, axes: Tensor) -> Tensor:
    """OpenVINO Roll-7: one shift for all ``axes``, or one for each."""
    expect_type(shift, 1, INDEX_TYPES)
    expect_type(axes, 2, INDEX_TYPES)
    expect_rank(shift, 1, 0, 1, what="shift")
    expect_rank(axes, 2, 0, 1, what="axes")
    if shift.shape is not None and len(shift.shape) == 1 and axes.shape is not None:
        if not axes.shape or not agree(shift.shape[0], axes.shape[0], "there is one shift for each axis"):
            raise ENTRIES_PER_AXIS.fault(
                f"input 1 (shift) is {shape_text(shift.shape)} and input 2 (axes) is {shape_text(axes.shape)}: "
                "a list of shifts has one for each of the axes",
                help="state one shift for each axis, or a scalar for all",
                input=1,
            )
    named = whole(axes)
    if named is not None and data.shape is not None:
        axes_of(named, max(len(data.shape), 1), repeats=True)
    return Tensor(data.dtype, data.shape)


@onnx("Trilu", since=14)
@onnx("Trilu", domain=MICROSOFT)
def trilu(input: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """ONNX Trilu-14, com.microsoft Trilu: the upper or lower triangle of matrices."""
    expect_rank(input, 0, least=2)
    return Tensor(input.dtype, input.shape)
