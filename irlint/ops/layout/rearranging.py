"""Operators that repeat, crop, reverse or shift elements along axes, and Trilu."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.dims import MaybeDim, Shape, at_least, product, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, explain_size, reaches, reaches_if_any
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared import contents as fold
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Ints, axes_of, axis_of
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.element_types import (
    INDEX_TYPES,
    LOGICAL,
    expect_type,
)
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE, extremes
from irlint.ops.shared.shape_inputs import entries, known_integers, length, stated_size
from irlint.schemas import MICROSOFT

ReverseMode = Literal["index", "mask"]


ENTRIES_PER_AXIS = Rule(
    "IRL334",
    "entries-per-axis-mismatch",
    Severity.ERROR,
    "A list with one number per axis has the wrong length.",
    why=(
        "Repeats, pads, crops and block sizes have one entry per axis. ONNX pads have two entries per axis: all "
        "beginnings first, then all ends. Runtimes refuse any other length."
    ),
    fix=(
        "Write one entry for each axis of the data (two in ONNX pads). Use 1 for repeats and block sizes, or 0 for "
        "pads and crops, on axes that do not change."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) <int64[1] repeats = {2}> { y = Tile (x, repeats) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[4,3] y) <int64[2] repeats = {2, 1}> { y = Tile (x, repeats) }""",
)

CROP_EXCEEDS = Rule(
    "IRL335",
    "crop-exceeds-input",
    Severity.ERROR,
    "A negative pad or a crop removes more elements than the axis has.",
    why="ONNX Runtime fails at run time. OpenVINO silently treats the size as unknown.",
    fix="Remove no more elements than the axis has.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[N,3] y) <int64[4] pads = {-1, 0, -2, 0}> { y = Pad (x, pads) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[1,3] y) <int64[4] pads = {-1, 0, 0, 0}> { y = Pad (x, pads) }""",
)

SEQUENCE_LENGTHS = Rule(
    "IRL338",
    "sequence-lengths-mismatch",
    Severity.ERROR,
    "The number of sequence lengths differs from the number of sequences.",
    why="ReverseSequence needs one length for each entry of the batch axis. Runtimes refuse any other number.",
    fix="Write one length for each entry of the batch axis, or correct `batch_axis`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,4] x, int64[5] lens) => (float[5,4] y) { y = ReverseSequence (x, lens) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[5,4] x, int64[4] lens) => (float[5,4] y) { y = ReverseSequence (x, lens) }""",
)


def picked(
    x: Tensor, shape: Shape, source: Callable[[int, int], int | None], *, filler: Scalar = None
) -> Contents | None:
    """The values of a result of ``shape`` with entries of ``x``; None if they are unknown or too many.

    ``source(axis, position)`` maps a position in the result to a position in ``x``, or to None for the ``filler``.
    """
    if x.value is None or not fold.fits(x.shape) or not fold.fits(shape):
        return None
    assert x.shape is not None
    steps = fold.strides(fold.static(x.shape))
    result: list[Scalar] = []
    for indices in fold.positions(shape):
        origin = [source(axis, position) for axis, position in enumerate(indices)]
        known = [position * step for position, step in zip(origin, steps) if position is not None]
        result.append(x.value[sum(known)] if len(known) == len(origin) else filler)
    return tuple(result)


def expect_per_axis(count: MaybeDim, shape: Shape | None, index: int | None, *, what: str, times: int = 1) -> None:
    """Checks that a list has ``times`` numbers for each axis of ``shape``. Raises an ``ENTRIES_PER_AXIS`` fault.

    ``index`` is the input with the list, or None for an attribute.
    """
    if shape is None or same(count, times * len(shape)) is not False:
        return
    place = f"`{what}`" if index is None else f"input {index} ({what})"
    axes = counted(count // times, "axis", "axes") if isinstance(count, int) and count and not count % times else ""
    raise ENTRIES_PER_AXIS.fault(
        f"{place} has {counted(count, 'entry', 'entries')} and input 0 has {counted(len(shape), 'axis', 'axes')}: "
        f"{counted(times * len(shape), 'entry', 'entries')} are expected",
        help=f"write {times * len(shape)} numbers" + (f", or give input 0 {axes}" if axes else ""),
        input=index if index is not None else 0,
    )


# --- Tile -------------------------------------------------------------------------------------------------------------


def tiled(x: Tensor, repeats: Sequence[MaybeDim]) -> Tensor:
    """``x`` repeated along each axis."""
    sizes = x.shape
    assert sizes is not None
    shape = tuple(product((dim, times)) for dim, times in zip(sizes, repeats))

    def source(axis: int, position: int) -> int:
        dim = sizes[axis]
        assert isinstance(dim, int)
        return position % dim

    value = picked(x, shape, source)
    if value is not None or (x.value is None and x.extent is None):
        return Tensor(x.dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(x.dtype, shape, None, bounds.tiled(x, repeats))


@onnx("Tile", since=1)
def tile_along_axis(input: Tensor, tiles: Tensor, axis: Tensor) -> Tensor:
    """ONNX Tile-1: ``tiles`` and ``axis`` have the data's element type."""
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


@openvino("Tile", read_at_load=(1,))
def ov_tile(data: Tensor, repeats: Tensor) -> Tensor:
    """OpenVINO Tile-1. The library reads negative repeats as 0."""
    expect_type(repeats, 1, INTEGERS)
    expect_rank(repeats, 1, 1, what="repeats")
    listed = entries(repeats)
    if listed is None or data.shape is None:
        return Tensor(data.dtype)
    rank = max(len(listed), len(data.shape))
    times = [1] * (rank - len(listed)) + [0 if at_least(entry, 0) is False else entry for entry in listed]
    return tiled(fold.rearranged(data, (1,) * (rank - len(data.shape)) + data.shape), times)


# --- Crop -------------------------------------------------------------------------------------------------------------


@onnx("Crop", until=9)
def crop(input: Tensor, *, border: Ints, scale: Ints = ()) -> Tensor:
    """ONNX Crop, formerly experimental: [N, C, H, W] without its ``border`` (left, top, right, bottom).

    ``scale`` is the remaining (height, width); it replaces the border at the right and bottom.
    """
    expect_rank(input, 0, 4)
    if input.shape is None:
        return Tensor(input.dtype, (None, None, *(scale or (None, None))))
    for name, given, count in (("border", border, (4,)), ("scale", scale, (0, 2))):
        if len(given) not in count:
            raise ENTRIES_PER_AXIS.fault(
                f"`{name}` has {counted(len(given), 'entry', 'entries')}; it needs {count[-1]} "
                f"({'left, top, right, bottom' if name == 'border' else 'height, width'})",
                help=f"give `{name}` {counted(count[-1], 'entry', 'entries')}",
                attribute=name,
            )
    left, top, right, bottom = border
    vertical, horizontal = scale or (bottom, right)
    height = _cropped(input.shape, 2, top, amount=vertical, is_kept=bool(scale))
    width = _cropped(input.shape, 3, left, amount=horizontal, is_kept=bool(scale))
    for axis, dim in ((2, height), (3, width)):
        explain_size(axis, dim, part_of=input.shape[axis])
    return Tensor(input.dtype, (*input.shape[:2], height, width))


def _cropped(shape: Shape, axis: int, before: int, *, amount: int, is_kept: bool) -> MaybeDim:
    """The size of a cropped axis; ``amount`` elements are removed at its end or, with ``is_kept``, remain."""
    found = shape[axis]
    if not reaches(found, before + amount, f"axis {axis} has the elements that are removed and kept"):
        raise CROP_EXCEEDS.fault(
            f"axis {axis} of input 0 is {found}; {before} elements are removed at its start, and {amount} are "
            f"{'kept' if is_kept else 'removed at its end'}",
            help=f"reduce the sum of both to at most {found}",
            input=0,
            marks=((0, axis),),
        )
    if is_kept:
        return amount
    return None if found is None else found - before - amount


# --- reversed and shifted ---------------------------------------------------------------------------------------------


@openvino("Reverse", until=1, absent={"mode": "index"}, read_at_load=(1,))
def ov_reverse(data: Tensor, reversed_axes: Tensor, *, mode: ReverseMode) -> Tensor:
    """OpenVINO Reverse-1."""
    expect_type(reversed_axes, 1, LOGICAL if mode == "mask" else INTEGERS)
    expect_rank(reversed_axes, 1, 1, what="reversed_axes")
    if mode == "mask":
        count = length(reversed_axes) if reversed_axes.shape is None else reversed_axes.shape[0]
        expect_per_axis(count, data.shape, 1, what="reversed_axes")
        return Tensor(data.dtype, data.shape)
    named = known_integers(reversed_axes)
    if named is not None and data.shape is not None:
        axes_of(named, len(data.shape), repeats=True)
    return Tensor(data.dtype, data.shape)


def _reverse_sequence(data: Tensor, lengths: Tensor, batch_axis: int, *, sequence_axis: int) -> Tensor:
    expect_rank(data, 0, least=2)
    expect_rank(lengths, 1, 1, what="sequence lengths")
    if data.shape is None:
        return Tensor(data.dtype)
    batch = axis_of(batch_axis, len(data.shape), "the batch axis")
    time = axis_of(sequence_axis, len(data.shape), "the sequence axis")
    count = lengths.shape[0] if lengths.shape is not None else None
    dim = data.shape[batch]
    if not agree(dim, count, f"input 1 has one length for each entry of axis {batch} of input 0"):
        raise SEQUENCE_LENGTHS.fault(
            f"input 1 has {count} sequence lengths and axis {batch} of input 0 is {dim}",
            help=f"write {dim} lengths, or correct `batch_axis`",
            input=1,
            marks=((0, batch), (1, 0)),
            aligned="left",
        )
    _check_lengths(data.shape[time], lengths, time)
    exact = count if isinstance(count, int) or dim is None else dim
    return Tensor(data.dtype, (*data.shape[:batch], exact, *data.shape[batch + 1 :]))


def _check_lengths(dim: MaybeDim, lengths: Tensor, axis: int) -> None:
    _, most = extremes(lengths)
    for longest in most:
        why = f"a sequence of {longest} is reversed along axis {axis}"
        if not reaches_if_any(product(lengths.shape or ()), dim, longest, why):
            raise INDEX_OUT_OF_RANGE.fault(
                f"input 1 contains the length {longest}, but axis {axis} of input 0 has {counted(dim, 'element')}",
                help=f"use lengths of at most {dim}",
                input=1,
                marks=((0, axis),),
            )


@onnx("ReverseSequence", since=10)
def reverse_sequence(input: Tensor, sequence_lens: Tensor, *, batch_axis: int = 1, time_axis: int = 0) -> Tensor:
    """ONNX ReverseSequence-10: batch and time are the first two axes, in either order."""
    for name, axis in (("batch_axis", batch_axis), ("time_axis", time_axis)):
        if axis > 1:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {axis}; it must be 0 or 1", help="transpose the input", attribute=name
            )
    if batch_axis == time_axis:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"`batch_axis` and `time_axis` are both {batch_axis}; one must be 0 and the other 1",
            help="set one of the two to 0 and the other to 1",
            attribute="time_axis",
        )
    return _reverse_sequence(input, sequence_lens, batch_axis, sequence_axis=time_axis)


@openvino("ReverseSequence")
def ov_reverse_sequence(data: Tensor, seq_lengths: Tensor, *, batch_axis: int = 0, seq_axis: int = 1) -> Tensor:
    """OpenVINO ReverseSequence-1."""
    expect_type(seq_lengths, 1, INTEGERS | FLOATS)
    return _reverse_sequence(data, seq_lengths, batch_axis, sequence_axis=seq_axis)


def _shift_for_each(layer: Layer) -> Fault | None:
    """The fault of a scalar shift for several axes of data with known sizes."""
    shift, axes = layer.sizes(1), layer.sizes(2)
    if layer.sizes(0) is None or shift != () or not axes or axes[0] == 1:
        return None
    return not_compiled(
        f"input 1 (shift) is a scalar and input 2 (axes) is {shape_text(axes)}: the CPU plugin requires one shift "
        "for each axis",
        help="repeat the shift for each axis",
        input=1,
    )


@openvino("Roll", since=7, kept=True, compiles=_shift_for_each)
def ov_roll(data: Tensor, shift: Tensor, axes: Tensor) -> Tensor:
    """OpenVINO Roll-7: one shift for all ``axes``, or one shift for each axis."""
    expect_type(shift, 1, INDEX_TYPES)
    expect_type(axes, 2, INDEX_TYPES)
    expect_rank(shift, 1, 0, 1, what="shift")
    expect_rank(axes, 2, 0, 1, what="axes")
    if shift.shape is not None and len(shift.shape) == 1 and axes.shape is not None:
        if not axes.shape or not agree(shift.shape[0], axes.shape[0], "there is one shift for each axis"):
            raise ENTRIES_PER_AXIS.fault(
                f"input 1 (shift) is {shape_text(shift.shape)} and input 2 (axes) is {shape_text(axes.shape)}: a "
                "list of shifts needs one entry for each axis",
                help="write one shift for each axis, or a scalar for all",
                input=1,
            )
    named = known_integers(axes)
    if named is not None and data.shape is not None:
        axes_of(named, max(len(data.shape), 1), repeats=True)
    return Tensor(data.dtype, data.shape)


@onnx("Trilu", since=14)
@onnx("Trilu", domain=MICROSOFT)
def trilu(input: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """ONNX Trilu-14, com.microsoft Trilu."""
    expect_rank(input, 0, least=2)
    expect_one(k, 1, "k")
    return Tensor(input.dtype, input.shape, _triangle(input, 0 if k is None else k.scalar, upper=bool(upper)))


def _triangle(input: Tensor, diagonal: Scalar, *, upper: bool) -> Contents | None:
    """The values of the upper or lower triangle of each matrix; None if they are unknown."""
    if input.value is None or not fold.fits(input.shape) or not isinstance(diagonal, int):
        return None
    rows, columns = fold.static(input.shape or ())[-2:]
    zero = 0.0 if input.dtype in FLOATS else 0
    offsets = [index % columns - index // columns % rows - diagonal for index in range(len(input.value))]
    kept = [offset >= 0 if upper else offset <= 0 for offset in offsets]
    return tuple([entry if is_kept else zero for entry, is_kept in zip(input.value, kept)])
