"""Operators that move blocks of elements between axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from irlint.dims import Dim, MaybeDim, Shape, bounds, largest, product, same
from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.statements import agree, divides, reaches, warn
from irlint.findings.wording import counted, that_divides
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.layout.rearranging import CROP_EXCEEDS, ENTRIES_PER_AXIS, expect_per_axis
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.element_types import INDEX_TYPES, common_type, expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.shape_inputs import SIZE_NEGATIVE, entries, length, openvino_shape
from irlint.ops.shared.sizes import exact_quotient
from irlint.ops.shared.windows import same_count, spans_of, window_count

DepthMode = Literal["blocks_first", "depth_first"]
OnnxDepthMode = Literal["DCR", "CRD"]
PatchPad = Literal["valid", "same_upper", "same_lower", "explicit"]


NOT_DIVISIBLE = Rule(
    "IRL336",
    "axis-not-divisible-into-blocks",
    Severity.ERROR,
    "The size of an axis is not a multiple of the block or group size.",
    why=(
        "DepthToSpace needs a number of channels that is a multiple of blocksize * blocksize. SpaceToDepth needs a "
        "height and width that are multiples of the block size. ONNX Runtime fails at run time, and OpenVINO when it "
        "loads the model."
    ),
    fix="Pad or crop the axis to a multiple, or use a block size that divides the axis.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,9,4,4] x) => (float[1,2,8,8] y) { y = DepthToSpace <blocksize = 2> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8,4,4] x) => (float[1,2,8,8] y) { y = DepthToSpace <blocksize = 2> (x) }""",
    refused=(Refusal("openvino_frontend"),),
)


#: The largest block size that a help suggests.
LARGEST_BLOCK = 8


def parted(
    dim: MaybeDim, count: int, axis: int, *, what: str, instead: str = "", without_pads: MaybeDim = None
) -> MaybeDim:
    """``dim // count``, after checking that ``count`` divides the size ``dim``. Raises a ``NOT_DIVISIBLE`` fault.

    ``what`` is the name of ``count``, and ``instead`` the beginning of the help. ``without_pads`` is the size of the
    axis if ``dim`` includes pads.
    """
    if dim is None:
        return None
    is_padded = same(without_pads, dim) is False
    if not divides(count, dim, f"axis {axis}{' with its pads' if is_padded else ''} is a multiple of {what}"):
        size = f"{without_pads}, and {dim} with its pads" if is_padded else dim
        raise NOT_DIVISIBLE.fault(
            f"axis {axis} of input 0 is {size}, which is not a multiple of {count}, {what}",
            help=f"{instead}make axis {axis}{' with its pads' if is_padded else ''} a multiple of {count}",
            input=0,
            marks=((0, axis),),
        )
    return exact_quotient(dim, count)


def _other_count(what: str, dim: MaybeDim, count: int) -> str:
    """The beginning of a help: ``use a block size that divides 10 (2, 5 or 10), or ``; "" for a dynamic size."""
    return f"use {what} {that_divides(dim, count, least=2)}, or " if isinstance(dim, int) and dim > 1 else ""


def _expect_positive(number: int, attribute: str) -> None:
    if number < 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{attribute}` is {number}; it must be at least 1", help="use 1 or more", attribute=attribute
        )


# --- depth and space --------------------------------------------------------------------------------------------------


def _elements_text(block: Sequence[int]) -> str:
    return f"the number of elements of a block ({' * '.join(map(str, block))})"


def depth_to_space(shape: Shape, block: int) -> Shape:
    """[N, C, *D] to [N, C / block**k, *(D * block)] for k spatial axes."""
    axes = len(shape) - 2
    blocks = [
        str(size) for size in range(2, LARGEST_BLOCK + 1) if isinstance(shape[1], int) and not shape[1] % size**axes
    ]
    instead = f"use blocks of {' or '.join(blocks)}, or " if blocks else ""
    depth = parted(shape[1], block**axes, 1, what=_elements_text([block] * axes), instead=instead)
    return (shape[0], depth, *(product((dim, block)) for dim in shape[2:]))


def space_to_depth(shape: Shape, block: int) -> Shape:
    """[N, C, *D] to [N, C * block**k, *(D / block)] for k spatial axes."""
    spatial = [
        parted(dim, block, axis, what="the block size", instead=_other_count("a block size", dim, block))
        for axis, dim in enumerate(shape[2:], 2)
    ]
    return (shape[0], product((shape[1], block ** (len(shape) - 2))), *spatial)


@onnx("DepthToSpace")
def onnx_depth_to_space(input: Tensor, *, blocksize: int, mode: OnnxDepthMode = "DCR") -> Tensor:
    """ONNX DepthToSpace."""
    _expect_positive(blocksize, "blocksize")
    expect_rank(input, 0, 4)
    return Tensor(input.dtype, depth_to_space(input.shape or (None,) * 4, blocksize))


@onnx("SpaceToDepth")
def onnx_space_to_depth(input: Tensor, *, blocksize: int, mode: OnnxDepthMode = "DCR") -> Tensor:
    """ONNX SpaceToDepth."""
    _expect_positive(blocksize, "blocksize")
    expect_rank(input, 0, 4)
    return Tensor(input.dtype, space_to_depth(input.shape or (None,) * 4, blocksize))


def _openvino_block(block_size: int | None) -> int:
    if block_size is None:
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                "attribute `block_size` is absent: its default is 1 in the specification, but 0 in OpenVINO, which "
                "refuses the layer",
                help='write block_size="1"',
                severity=Severity.WARNING,
            )
        )
        return 1
    _expect_positive(block_size, "block_size")
    return block_size


@openvino("DepthToSpace", absent={"mode": "blocks_first"})
def ov_depth_to_space(data: Tensor, *, mode: DepthMode, block_size: int | None = None) -> Tensor:
    """OpenVINO DepthToSpace-1."""
    block = _openvino_block(block_size)
    expect_rank(data, 0, least=3)
    return Tensor(data.dtype, None if data.shape is None else depth_to_space(data.shape, block))


@openvino("SpaceToDepth", absent={"mode": "blocks_first"})
def ov_space_to_depth(data: Tensor, *, mode: DepthMode, block_size: int | None = None) -> Tensor:
    """OpenVINO SpaceToDepth-1."""
    block = _openvino_block(block_size)
    expect_rank(data, 0, least=3)
    return Tensor(data.dtype, None if data.shape is None else space_to_depth(data.shape, block))


# --- batch and space --------------------------------------------------------------------------------------------------


def _lists(
    data: Tensor, inputs: Sequence[Tensor], names: Sequence[str], *, negative: Severity | None = None
) -> list[tuple[MaybeDim, ...] | None]:
    """[block sizes, begins, ends], None for an unknown list. Negative begins and ends have severity ``negative``."""
    expect_rank(data, 0, least=2)
    for index, (x, name) in enumerate(zip(inputs, names), 1):
        expect_type(x, index, INTEGERS)
        expect_rank(x, index, 1, what=name)
        expect_per_axis(length(x), data.shape, index, what=name)
    counts = [length(x) if not x.shape or x.value is not None else x.shape[0] for x in inputs]
    if any(same(a, b) is False for a in counts for b in counts):
        raise ENTRIES_PER_AXIS.fault(
            f"{', '.join(names)} have {', '.join('?' if c is None else str(c) for c in counts)} entries; each list "
            "needs one entry per axis",
            help="give the three lists the same length",
            input=1,
        )
    blocks = _at_least(entries(inputs[0]), 1, 1)
    return [blocks, *(_at_least(entries(x), 0, index, severity=negative) for index, x in enumerate(inputs[1:], 2))]


def _at_least(
    listed: tuple[MaybeDim, ...] | None, lowest: int, index: int, *, severity: Severity | None = None
) -> tuple[MaybeDim, ...] | None:
    """The entries, after checking that no entry is below ``lowest``. With ``severity``, a lower entry is only reported.

    Of these, the library reads -1 as unknown (None), and any other as ``lowest``.
    """
    if listed is None:
        return None
    for position, entry in enumerate(listed):
        if not isinstance(entry, int) or entry >= lowest:
            continue
        fault = SIZE_NEGATIVE.fault(
            f"entry {position} of input {index} is {entry}; it must be at least {lowest}",
            help=f"use {lowest} or more",
            input=index,
            severity=severity,
        )
        if severity is None:
            raise fault
        warn(fault)
    return tuple(None if entry == -1 else max(entry, lowest) if isinstance(entry, int) else entry for entry in listed)


@openvino("BatchToSpace", since=2)
def ov_batch_to_space(data: Tensor, block_shape: Tensor, crops_begin: Tensor, crops_end: Tensor) -> Tensor:
    """OpenVINO BatchToSpace-2."""
    inputs = (block_shape, crops_begin, crops_end)
    common_type(inputs, first=1)
    blocks, begin, end = _lists(data, inputs, ("block_shape", "crops_begin", "crops_end"))
    shape = data.shape
    if shape is None:
        return Tensor(data.dtype)
    if blocks is None or None in blocks:
        return Tensor(data.dtype, (None,) * len(shape))
    result = [_batch_part(shape[0], blocks)]
    for axis in range(1, len(shape)):
        full = product((shape[axis], blocks[axis]))
        if full is None or begin is None or end is None or begin[axis] is None or end[axis] is None:
            result.append(None)
            continue
        remaining = full - begin[axis] - end[axis]  # type: ignore[operator]
        if not reaches(remaining, 0, f"axis {axis} is cropped by {begin[axis]} and {end[axis]}"):
            raise CROP_EXCEEDS.fault(
                f"axis {axis} of input 0 is {shape[axis]}, becomes {full} (block {blocks[axis]}), and is cropped by "
                f"{begin[axis]} and {end[axis]}",
                help=f"crop at most {full}",
                input=2,
                marks=((0, axis),),
            )
        result.append(0 if bounds(remaining)[1] == 0 else remaining)
    return Tensor(data.dtype, tuple(result))


def _batch_part(dim: MaybeDim, blocks: Sequence[MaybeDim]) -> MaybeDim:
    static = [block for block in blocks if isinstance(block, int)]
    return parted(dim, prod(static), 0, what=_elements_text(static)) if len(static) == len(blocks) else None


@openvino("SpaceToBatch", since=2)
def ov_space_to_batch(data: Tensor, block_shape: Tensor, pads_begin: Tensor, pads_end: Tensor) -> Tensor:
    """OpenVINO SpaceToBatch-2."""
    inputs = (block_shape, pads_begin, pads_end)
    blocks, begin, end = _lists(data, inputs, ("block_shape", "pads_begin", "pads_end"), negative=Severity.WARNING)
    shape = data.shape
    if shape is None:
        return Tensor(data.dtype)
    if blocks is None or None in blocks:
        return Tensor(data.dtype, (None,) * len(shape))
    result = [product((shape[0], product(blocks)))]
    for axis in range(1, len(shape)):
        block = blocks[axis]
        pads = (None if begin is None else begin[axis], None if end is None else end[axis])
        full = shape[axis] if None not in (shape[axis], *pads) else None
        if full is None or not isinstance(block, int):
            result.append(None)
            continue
        padded = full + pads[0] + pads[1]  # type: ignore[operator]
        result.append(parted(padded, block, axis, what="the block", without_pads=full))
    return Tensor(data.dtype, tuple(result))


# --- channels ---------------------------------------------------------------------------------------------------------


@openvino("ShuffleChannels", missing=(2,))
def ov_shuffle_channels(data: Tensor, *, axis: int = 1, group: int = 1) -> Tensor:
    """OpenVINO ShuffleChannels-1."""
    _expect_positive(group, "group")
    expect_rank(data, 0, least=1)
    if data.shape is not None:
        place = axis_of(axis, len(data.shape))
        dim = data.shape[place]
        parted(dim, group, place, what="the number of groups", instead=_other_count("a number of groups", dim, group))
    return Tensor(data.dtype, data.shape)


@openvino("ReorgYolo", since=2, labels={"opset1": 2}, ignores_extra_inputs=True)
def ov_reorg_yolo(data: Tensor, *, stride: Ints) -> Tensor:
    """OpenVINO ReorgYolo-1: [N, C, H, W] to [N, C * s * s, H / s, W / s]; s is the first entry of ``stride``."""
    expect_rank(data, 0, 4)
    if not stride:
        raise ATTRIBUTE_OUT_OF_RANGE.fault("attribute `stride` is empty", help='write stride="2"', attribute="stride")
    _expect_positive(stride[0], "stride")
    if data.shape is None:
        return Tensor(data.dtype)
    block = stride[0]
    if not reaches(data.shape[1], block * block, "there are at least stride * stride channels"):
        raise NOT_DIVISIBLE.fault(
            f"axis 1 of input 0 is {data.shape[1]}, less than stride * stride = {block * block}",
            help="use a smaller stride",
            input=0,
            marks=((0, 1),),
        )
    return Tensor(data.dtype, space_to_depth(data.shape, block))


# --- patches ----------------------------------------------------------------------------------------------------------


@openvino(
    "ExtractImagePatches",
    since=3,
    absent={"sizes": (), "strides": (), "rates": (), "auto_pad": "explicit"},
    ignores_extra_inputs=True,
)
def ov_extract_image_patches(data: Tensor, *, sizes: Ints, strides: Ints, rates: Ints, auto_pad: PatchPad) -> Tensor:
    """OpenVINO ExtractImagePatches-3: [N, C, H, W] to [N, sizes[0] * sizes[1] * C, rows, columns]."""
    sound = True
    for name, listed in (("sizes", sizes), ("strides", strides), ("rates", rates)):
        if len(listed) == 2 and min(listed) >= 1:
            continue
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{name}` is {list(listed)}; it needs two entries of at least 1, for rows and columns",
            help=f"write two numbers of at least 1 as `{name}`",
            attribute=name,
        )
        if len(listed) != 2 or 0 in listed:
            raise fault
        warn(fault.lowered(Severity.WARNING))
        sound = False
    if auto_pad == "explicit":
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            'attribute `auto_pad` is "explicit"; the operation supports valid, same_upper and same_lower',
            help="use one of these texts",
            attribute="auto_pad",
        )
    expect_rank(data, 0, 4)
    shape = data.shape or (None,) * 4
    if not sound:
        return Tensor(data.dtype, (shape[0], None, None, None))
    counts: list[MaybeDim] = []
    for dim, span, stride in zip(shape[2:], spans_of(sizes, rates), strides):
        assert span is not None
        counts.append(None if dim is None else _patch_count(dim, span, stride, auto_pad=auto_pad))
    return Tensor(data.dtype, (shape[0], product((shape[1], sizes[0] * sizes[1])), *counts))


def _patch_count(dim: Dim, span: Dim, stride: int, *, auto_pad: str) -> MaybeDim:
    if auto_pad != "valid":
        return same_count(dim, span, stride)
    return largest(window_count(dim, span, stride, begin=0, end=0), 0)


@openvino("Col2Im", since=15)
def ov_col2im(
    data: Tensor,
    output_size: Tensor,
    kernel_size: Tensor,
    *,
    strides: Ints | None = None,
    dilations: Ints | None = None,
    pads_begin: Ints | None = None,
    pads_end: Ints | None = None,
) -> Tensor:
    """OpenVINO Col2Im-15: [C * product(kernel_size), L] to [C, *output_size], with an optional leading batch axis."""
    _expect_written(strides=strides, dilations=dilations, pads_begin=pads_begin, pads_end=pads_end)
    steps, rates = _pair(strides, "strides", 1, lowest=1), _pair(dilations, "dilations", 1, lowest=0)
    before, after = _pair(pads_begin, "pads_begin", 0, lowest=0), _pair(pads_end, "pads_end", 0, lowest=0)
    expect_rank(data, 0, 2, 3)
    for index, x in ((1, output_size), (2, kernel_size)):
        expect_type(x, index, INDEX_TYPES)
        _expect_two(x, index)
    common_type((output_size, kernel_size), first=1)
    image = openvino_shape(output_size, 1) or (None, None)
    kernel = _at_least(entries(kernel_size), 1, 2) or (None, None)
    if data.shape is None:
        return Tensor(data.dtype)
    counts = [
        None if dim is None or span is None else window_count(dim, span, step, begin=begin, end=end)
        for dim, span, step, begin, end in zip(image, spans_of(kernel, rates), steps, before, after)
    ]
    blocks = product(counts)
    if not agree(data.shape[-1], blocks, "the last axis of input 0 has one entry for each block of the image"):
        raise NOT_DIVISIBLE.fault(
            f"input 0 is {shape_text(data.shape)} with {data.shape[-1]} blocks, and the image of {shape_text(image)} "
            f"has {blocks}",
            help=(
                f"give the last axis of input 0 {counted(blocks, 'entry', 'entries')}, or correct the size of the image"
            ),
            input=0,
            marks=((0, len(data.shape) - 1),),
        )
    elements = product(kernel)
    axis = len(data.shape) - 2
    channels = (
        parted(data.shape[axis], elements, axis, what="the elements of a block") if isinstance(elements, int) else None
    )
    return Tensor(data.dtype, (*data.shape[:-2], channels, *image))


def _expect_written(**attributes: Ints | None) -> None:
    absent = [name for name, listed in attributes.items() if listed is None]
    if absent:
        warn(
            ATTRIBUTE_OUT_OF_RANGE.fault(
                f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} absent: the specification has defaults, "
                "but OpenVINO 2026.4 crashes",
                help='write strides="1,1" dilations="1,1" pads_begin="0,0" pads_end="0,0"',
                severity=Severity.WARNING,
            )
        )


def _pair(listed: Ints | None, name: str, default: int, *, lowest: int) -> Ints:
    if listed is None:
        return (default, default)
    if len(listed) != 2 or min(listed) < lowest:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `{name}` is {list(listed)}; it needs two entries of at least {lowest}",
            help=f"write two numbers as `{name}`",
            attribute=name,
        )
        if len(listed) <= 2 or min(listed[:2]) < lowest:
            raise fault
        warn(fault.lowered(Severity.WARNING))
    return listed[:2]


def _expect_two(x: Tensor, index: int) -> None:
    expect_rank(x, index, 1)
    count = length(x)
    if count not in (None, 2):
        raise ENTRIES_PER_AXIS.fault(
            f"input {index} has {counted(count, 'entry', 'entries')}; it needs 2, for height and width",
            help="write the height and the width",
            input=index,
        )
