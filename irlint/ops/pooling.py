"""Pooling over windows, over whole images and over regions, the way back from it, and blocks of images."""

from __future__ import annotations

from typing import Literal

from irlint.diagnostics import Fault, Severity, agree, divides, reaches, warn
from irlint.dims import MaybeDim, Shape, at_least, product, quotient, same
from irlint.ops import Context, onnx, openvino
from irlint.ops.attribute_values import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.axes import Floats, Ints, axis_of
from irlint.ops.windows import (
    OPERAND_MISMATCH,
    RANK_MISMATCH,
    WINDOW_EXCEEDS_INPUT,
    AutoPad,
    PadType,
    Rounding,
    Window,
    arranged,
    channel_axis,
    expect_no_dilated_same,
    expect_one_padding,
    expect_pads_below_kernel,
    expect_range,
    expect_rank,
    expect_shape,
    expect_single,
    expect_spatial_rank,
    onnx_window,
    openvino_window,
    per_axis,
    spanned,
    spatial,
    transposed_sizes,
    window_count,
    window_sizes,
)
from irlint.tensor import Tensor, shape_text

DType = str
WholeRounding = Literal["floor", "ceil"]

_NHWC = "com.ms.internal.nhwc"
_NCHWC = "com.microsoft.nchwc"
_MS = "com.microsoft"
_EMPTY: dict[str, object] = {"strides": (), "pads_begin": (), "pads_end": (), "kernel": ()}

# --- ONNX: windows ----------------------------------------------------------------------------------------------------


def _pooled(
    x: Shape | None,
    kernel_shape: Ints | None,
    strides: Ints | None,
    pads: Ints | None,
    auto_pad: str,
    dilations: Ints | None = None,
    ceil_mode: int = 0,
    first: int = 2,
) -> Shape | None:
    """The shape of an ONNX pooling.

    With ``ceil_mode`` no window begins in the padding at the end: ONNX since opset 22, ONNX Runtime in every opset.
    """
    expect_spatial_rank(x)
    expect_one_padding(auto_pad, pads, Severity.WARNING)
    count = len(x) - 2 if x is not None else len(kernel_shape or ())
    if not count:
        return None
    if kernel_shape is None:
        return None if x is None else arranged(x[0], x[channel_axis(len(x), first)], (None,) * count, first)
    kernel = per_axis(kernel_shape, count, "kernel_shape", 1)
    window = onnx_window(count, kernel, strides, dilations, pads, auto_pad, ceil=bool(ceil_mode), first=first)
    expect_pads_below_kernel(window)
    expect_no_dilated_same(window)
    if x is None:
        return (None,) * (count + 2)
    _expect_elements(x, first)
    return arranged(x[0], x[channel_axis(len(x), first)], window_sizes(x, window, count, lenient=True), first)


def _expect_elements(x: Shape, first: int = 2, batch: bool = False) -> None:
    """Raises a ``WINDOW_EXCEEDS_INPUT`` fault where input 0 has no channel, or nothing on a spatial axis.

    With ``batch`` the batch may not be empty either; without, an empty batch excuses the rest.
    """
    if not batch and not at_least(x[0], 1):
        return
    for axis in range(0 if batch else 1, len(x)):
        if same(x[axis], 0):
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"input 0 is {shape_text(x)}: axis {axis} is 0, and there is nothing to pool",
                help=f"feed an input with at least 1 on axis {axis}",
                input=0,
                marks=((0, axis),),
                aligned="left",
                remark="nothing to pool",
            )


def _storage_order(value: int) -> None:
    if value not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `storage_order` is {value}; it is 0 (row major) or 1 (column major)",
            help="write 0 or 1",
            attribute="storage_order",
        )


def _with_indices(dtype: str | None, shape: Shape | None) -> tuple[Tensor, Tensor]:
    return Tensor(dtype, shape), Tensor("int64", shape)


@onnx("MaxPool", since=1)
def max_pool_1(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX MaxPool-1."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("AveragePool", since=1)
def average_pool_1(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX AveragePool-1."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("MaxPool", since=8)
def max_pool_8(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
) -> tuple[Tensor, Tensor]:
    """ONNX MaxPool-8: the second output holds where each maximum stands."""
    _storage_order(storage_order)
    return _with_indices(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("MaxPool", since=10)
def max_pool_10(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
) -> tuple[Tensor, Tensor]:
    """ONNX MaxPool-10 and later."""
    _storage_order(storage_order)
    return _with_indices(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, dilations, ceil_mode))


@onnx("AveragePool", since=7)
def average_pool_7(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    count_include_pad: int = 0,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX AveragePool-7."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("AveragePool", since=10)
def average_pool_10(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX AveragePool-10."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, None, ceil_mode))


@onnx("AveragePool", since=19)
def average_pool_19(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX AveragePool-19 and later."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, dilations, ceil_mode))


@onnx("LpPool", since=1)
def lp_pool_1(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints | None = None,
    p: float = 2.0,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX LpPool-1."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("LpPool", since=2)
def lp_pool_2(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints,
    p: int = 2,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX LpPool-2."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad))


@onnx("LpPool", since=18)
def lp_pool_18(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    p: int = 2,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX LpPool-18 and later."""
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, dilations, ceil_mode))


@onnx("MaxPool", "AveragePool", "LpPool", domain=_NHWC)
@onnx("MaxPool", "AveragePool", domain=_NCHWC)
@onnx("NhwcMaxPool", domain=_MS)
def ms_pool(
    X: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Ints | None = None,
    kernel_shape: Ints,
    p: int = 2,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
    context: Context,
) -> tuple[Tensor, Tensor]:
    """ONNX Runtime's poolings: channels last, or in blocks as the second axis (com.microsoft.nchwc)."""
    first = 2 if context.node.domain == _NCHWC else 1
    return _with_indices(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, dilations, ceil_mode, first))


@onnx("QLinearAveragePool", domain=_MS)
@onnx("QLinearAveragePool", domain=_NHWC)
def qlinear_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    ceil_mode: int = 0,
    channels_last: int = 0,
    count_include_pad: int = 0,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
    context: Context,
) -> Tensor:
    """com.microsoft QLinearAveragePool."""
    _expect_scales(x_scale, x_zero_point, y_scale, y_zero_point)
    first = 1 if channels_last or context.node.domain == _NHWC else 2
    return Tensor(X.dtype, _pooled(X.shape, kernel_shape, strides, pads, auto_pad, None, ceil_mode, first))


def _expect_scales(*tensors: Tensor | None) -> None:
    names = ("x_scale", "x_zero_point", "y_scale", "y_zero_point")
    for index, (tensor, name) in enumerate(zip(tensors, names), 1):
        expect_single(tensor, index, name)


# --- ONNX: whole images -----------------------------------------------------------------------------------------------


def _pooled_whole(x: Shape | None, first: int = 2) -> Shape | None:
    """Every spatial axis becomes 1. ONNX Runtime refuses an input without one."""
    if x is None:
        return None
    if len(x) < 3:
        fault = RANK_MISMATCH.fault(
            f"input 0 is {shape_text(x)} with {len(x)} axes: expected are at least 3, batch, channels and spatial ones",
            help="give input 0 a spatial axis (Unsqueeze)",
            input=0,
            severity=Severity.WARNING if len(x) == 2 else None,
        )
        if len(x) < 2:
            raise fault
        warn(fault)
    _expect_elements(x, first)
    return arranged(x[0], x[channel_axis(len(x), first)], (1,) * (len(x) - 2), first)


@onnx("GlobalAveragePool", "GlobalMaxPool", since=1)
@onnx("GlobalAveragePool", "GlobalMaxPool", domain=_NCHWC)
def global_pool(X: Tensor) -> Tensor:
    """ONNX GlobalAveragePool and GlobalMaxPool of every version."""
    return Tensor(X.dtype, _pooled_whole(X.shape))


@onnx("GlobalLpPool", since=1)
def global_lp_pool_1(X: Tensor, *, p: float = 2.0) -> Tensor:
    """ONNX GlobalLpPool-1."""
    return Tensor(X.dtype, _pooled_whole(X.shape))


@onnx("GlobalLpPool", since=2)
def global_lp_pool_2(X: Tensor, *, p: int = 2) -> Tensor:
    """ONNX GlobalLpPool-2 and later."""
    return Tensor(X.dtype, _pooled_whole(X.shape))


@onnx("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", domain=_NHWC)
def nhwc_global_pool(X: Tensor, *, p: int = 2) -> Tensor:
    """com.ms.internal.nhwc GlobalAveragePool, GlobalMaxPool and GlobalLpPool."""
    return Tensor(X.dtype, _pooled_whole(X.shape, first=1))


@onnx("QLinearGlobalAveragePool", domain=_MS)
def qlinear_global_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    *,
    channels_last: int = 0,
) -> Tensor:
    """com.microsoft QLinearGlobalAveragePool."""
    _expect_scales(x_scale, x_zero_point, y_scale, y_zero_point)
    return Tensor(X.dtype, _pooled_whole(X.shape, first=1 if channels_last else 2))


# --- ONNX: the way back, regions, blocks ------------------------------------------------------------------------------


@onnx("MaxUnpool", since=9)
def max_unpool(
    X: Tensor,
    I: Tensor,  # noqa: E741
    output_shape: Tensor | None = None,
    *,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX MaxUnpool-9 and later; ``output_shape`` names every axis."""
    x = X.shape
    expect_spatial_rank(x)
    if x is not None:
        expect_shape(I, 1, "I", x, "a place for each element of input 0")
    count = len(kernel_shape) if x is None else len(x) - 2
    kernel = per_axis(kernel_shape, count, "kernel_shape", 1)
    window = onnx_window(count, kernel, strides, None, pads)
    expect_pads_below_kernel(window)
    given = None if output_shape is None else output_shape.ints
    if output_shape is not None:
        expect_shape(output_shape, 2, "output_shape", (count + 2,), "an entry for each axis of input 0")
    if output_shape is None or x is None:
        return Tensor(X.dtype, None if x is None else (*x[:2], *transposed_sizes(x, window, count, (0,) * count)))
    if given is None:
        return Tensor(X.dtype, (*x[:2], *[None] * count))
    _expect_unpooled(x, given, window)
    return Tensor(X.dtype, given)


def _expect_unpooled(x: Shape, given: Shape, window: Window) -> None:
    """Makes sure that ``given`` keeps batch and channels of ``x``, and has room for what comes from each window."""
    least = transposed_sizes(x, window, len(x) - 2, (0,) * (len(x) - 2))
    for axis, dim in enumerate(given):
        why = f"axis {axis} of the output is entry {axis} of input 2"
        wanted = x[axis] if axis < 2 else least[axis - 2]
        if agree(dim, wanted, why) if axis < 2 else reaches(dim, wanted, why):
            continue
        raise OPERAND_MISMATCH.fault(
            f"input 2 (output_shape) is {shape_text(given)}: entry {axis} is {dim}, expected is "
            f"{'' if axis < 2 else 'at least '}{wanted}",
            help=f"write {wanted} for entry {axis}",
            input=2,
        )


@onnx("MaxRoiPool", since=1)
def max_roi_pool(X: Tensor, rois: Tensor, *, pooled_shape: Ints, spatial_scale: float = 1.0) -> Tensor:
    """ONNX MaxRoiPool of every version: regions [n, 5], each with its batch index."""
    expect_rank(X.shape, 4, 0, "batch, channels, height and width")
    expect_rank(rois.shape, 2, 1, "regions, and 5 numbers for each")
    per_axis(pooled_shape, 2, "pooled_shape", 1)
    expect_range(pooled_shape, 1, "pooled_shape")
    if spatial_scale <= 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `spatial_scale` is {spatial_scale:g}; it has to be above 0",
            help="write the quotient of the feature map's and the image's size",
            attribute="spatial_scale",
        )
    regions = None if rois.shape is None else rois.shape[0]
    expect_shape(rois, 1, "rois", (regions, 5), "batch index, x1, y1, x2, y2")
    return Tensor(X.dtype, (regions, None if X.shape is None else X.shape[1], *pooled_shape))


@onnx("Col2Im", since=18)
def col2im(
    input: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    *,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX Col2Im-18: [N, C * product(block_shape), blocks] to [N, C, *image_shape]."""
    x = input.shape
    expect_rank(x, 3, 0, "batch, channels times the elements of a block, and blocks")
    count = _listed(image_shape, block_shape, strides, dilations)
    if count is None:
        return Tensor(input.dtype)
    expect_shape(image_shape, 1, "image_shape", (count,), "an entry for each spatial axis")
    expect_shape(block_shape, 2, "block_shape", (count,), "an entry for each spatial axis")
    image: Shape = image_shape.ints or (None,) * count
    block: Shape = block_shape.ints or (None,) * count
    expect_range(image, 1, "image_shape")
    expect_range(block, 1, "block_shape")
    window = onnx_window(count, block, strides, dilations, pads)
    if x is None:
        return Tensor(input.dtype, (None, None, *image))
    _expect_blocks(x, _blocks(image, window))
    return Tensor(input.dtype, (x[0], _image_channels(x, product(block)), *image))


def _listed(image_shape: Tensor, block_shape: Tensor, *lists: Ints | None) -> int | None:
    """The number of spatial axes by the first list of one entry each whose length is known."""
    lengths = [x.shape[0] for x in (image_shape, block_shape) if x.shape is not None and len(x.shape) == 1]
    known = [length for length in lengths if isinstance(length, int)] + [len(values) for values in lists if values]
    return known[0] if known else None


def _blocks(image: Shape, window: Window) -> MaybeDim:
    counts: list[MaybeDim] = []
    for position, size in enumerate(image):
        span, begin, end = window.span(position), window.begin[position], window.end[position]
        if size is None or span is None:
            return None
        if not reaches(size, span - begin - end, f"a block spans {span} on axis {position} of the image"):
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"axis {position} of the image is {size}, {size + begin + end} with its padding, and a block spans {span}",
                help="use a smaller block or dilation, or pad more",
                input=1,
            )
        counts.append(window_count(size, span, window.strides[position], begin, end))
    return product(counts)


def _expect_blocks(x: Shape, blocks: MaybeDim) -> None:
    if agree(x[2], blocks, "axis 2 of input 0 are the blocks of the image"):
        return
    raise OPERAND_MISMATCH.fault(
        f"input 0 is {shape_text(x)} with {x[2]} blocks on axis 2, and the image has {blocks}",
        help=f"give axis 2 the size {blocks}, or correct image_shape, block_shape, strides, pads or dilations",
        input=0,
        marks=((0, 2),),
        aligned="left",
        remark=f"the image has {blocks} blocks",
    )


def _image_channels(x: Shape, elements: MaybeDim) -> MaybeDim:
    if x[1] is None or elements is None:
        return None
    if isinstance(elements, int) and not divides(
        elements, x[1], f"axis 1 of input 0 are blocks of {elements} elements"
    ):
        raise OPERAND_MISMATCH.fault(
            f"input 0 is {shape_text(x)}: axis 1 is {x[1]}, no multiple of the {elements} elements of a block",
            help=f"give axis 1 a multiple of {elements}, or correct block_shape",
            input=0,
            marks=((0, 1),),
            aligned="left",
            remark=f"not a multiple of {elements}",
        )
    exact = quotient(x[1], elements)
    return exact if exact is not None or not isinstance(elements, int) else x[1] // elements


# --- ONNX Runtime: channels in blocks ---------------------------------------------------------------------------------


@onnx("ReorderInput", domain=_NCHWC)
def reorder_input(X: Tensor, *, channels_last: int = 0) -> Tensor:
    """com.microsoft.nchwc ReorderInput: channels are rounded up to the machine's block, of at most 16."""
    x = X.shape
    if x is None or len(x) < 2:
        return Tensor(X.dtype)
    first = 1 if channels_last else 2
    channels = x[channel_axis(len(x), first)]
    whole = isinstance(channels, int) and channels % 16 == 0
    return Tensor(X.dtype, arranged(x[0], channels if whole else None, spatial(x, first)))


@onnx("ReorderOutput", domain=_NCHWC)
def reorder_output(X: Tensor, *, channels: int = 0, channels_last: int = 0) -> Tensor:
    """com.microsoft.nchwc ReorderOutput: the first ``channels`` of the blocks."""
    expect_range((channels,), 1, "channels")
    if X.shape is None or len(X.shape) < 2:
        return Tensor(X.dtype)
    return Tensor(X.dtype, arranged(X.shape[0], channels, X.shape[2:], 1 if channels_last else 2))


@onnx("Upsample", domain=_NCHWC)
def nchwc_upsample(
    X: Tensor,
    *,
    scales: Ints | None = None,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "asymmetric",
) -> Tensor:
    """com.microsoft.nchwc Upsample by whole factors, one for each axis."""
    if X.shape is None or scales is None:
        return Tensor(X.dtype)
    per_axis(scales, len(X.shape), "scales", 1)
    expect_range(scales, 1, "scales")
    return Tensor(X.dtype, tuple(product((dim, scale)) for dim, scale in zip(X.shape, scales)))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _ov_pooled(
    data: Tensor,
    kernel: Ints,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    auto_pad: PadType,
    rounding: Rounding,
    dilations: Ints = (),
    exclude_pad: bool = False,
) -> Shape:
    """The shape of an OpenVINO pooling; the number of spatial axes is the kernel's."""
    x, count = data.shape, len(kernel)
    for name, values in (("pads_begin", pads_begin), ("pads_end", pads_end), ("dilations", dilations)):
        _as_kernel(values or None, count, name)
    _as_kernel(strides, count, "strides")
    expect_spatial_rank(x, highest=5)
    if x is not None:
        per_axis(kernel, len(x) - 2, "kernel", 1)
    expect_range(kernel, 1, "kernel")
    if auto_pad == "explicit":
        _expect_added(pads_begin, pads_end)
    window = openvino_window(count, kernel, strides, dilations, pads_begin, pads_end, auto_pad, rounding)
    if exclude_pad and window is not None and x is not None:
        _expect_data_in_windows(window)
    if x is None:
        return (None,) * (count + 2)
    _expect_elements(x, batch=True)
    return arranged(x[0], x[1], window_sizes(x, window, count))


def _expect_added(pads_begin: Ints, pads_end: Ints) -> None:
    """Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault where the library refuses what an axis is padded by: -1, which it takes for open."""
    for position, (begin, end) in enumerate(zip(pads_begin, pads_end)):
        if begin + end == -1:
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"spatial axis {position} is padded by {begin} and {end}; they have to be at least 0",
                help="pad by 0 or more",
                attribute="pads_begin" if begin < 0 else "pads_end",
            )


def _as_kernel(values: Ints | None, count: int, name: str) -> None:
    """Raises a ``RANK_MISMATCH`` fault where an attribute has not as many entries as the kernel."""
    if values is None or len(values) == count:
        return
    raise RANK_MISMATCH.fault(
        f"`{name}` is {list(values)} with {len(values)} entries, and the kernel has {count}",
        help=f"write `{name}` with {count} entries",
        attribute=name,
    )


def _expect_data_in_windows(window: Window) -> None:
    """Raises a ``WINDOW_EXCEEDS_INPUT`` fault where a window of an average without padding lies in the padding alone."""
    for position, kernel in enumerate(window.kernel):
        span = spanned(kernel, window.dilations[position])
        pads = (window.begin[position], window.end[position])
        if isinstance(span, int) and max(pads) >= span:
            axis = window.first + position
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"axis {axis} is padded by {pads[0]} and {pads[1]}, and the window spans {span}: with exclude-pad the "
                "average of a window in the padding has no element",
                help=f"pad by at most {span - 1}, or write exclude-pad as false",
                input=0,
                marks=((0, axis),),
                aligned="left",
                remark=f"the window spans {span}",
            )


@openvino("MaxPool", until=7, absent=_EMPTY)
def ov_max_pool_1(
    data: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    rounding_type: WholeRounding = "floor",
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO MaxPool-1."""
    return Tensor(data.dtype, _ov_pooled(data, kernel, strides, pads_begin, pads_end, auto_pad, rounding_type))


@openvino("MaxPool", since=8, until=13, absent=_EMPTY)
def ov_max_pool_8(
    data: Tensor,
    *,
    strides: Ints,
    dilations: Ints = (),
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    rounding_type: WholeRounding = "floor",
    auto_pad: PadType = "explicit",
    index_element_type: DType | None = "int64",
    axis: int = 0,
) -> tuple[Tensor, Tensor]:
    """OpenVINO MaxPool-8, with the indices of the maxima counted from ``axis`` on."""
    window = (kernel, strides, pads_begin, pads_end, auto_pad, rounding_type, dilations)
    return _indexed(data, _ov_pooled(data, *window), index_element_type, axis)


@openvino("MaxPool", since=14, absent=_EMPTY)
def ov_max_pool_14(
    data: Tensor,
    *,
    strides: Ints,
    dilations: Ints = (),
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    rounding_type: Rounding = "floor",
    auto_pad: PadType = "explicit",
    index_element_type: DType | None = "int64",
    axis: int = 0,
) -> tuple[Tensor, Tensor]:
    """OpenVINO MaxPool-14, which rounds in PyTorch's way too."""
    window = (kernel, strides, pads_begin, pads_end, auto_pad, rounding_type, dilations)
    return _indexed(data, _ov_pooled(data, *window), index_element_type, axis)


def _indexed(data: Tensor, shape: Shape, index_type: DType | None, axis: int) -> tuple[Tensor, Tensor]:
    if data.shape is not None:
        axis_of(axis, len(data.shape))
    if index_type not in ("int32", "int64"):
        warn(_index_type(index_type).lowered(Severity.WARNING))
    return Tensor(data.dtype, shape), Tensor(index_type, shape)


def _index_type(index_type: DType | None) -> Fault:
    return ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `index_element_type` is {index_type}; indices are int32 or int64",
        help="write i32 or i64",
        attribute="index_element_type",
    )


@openvino("AvgPool", until=13, absent={**_EMPTY, "exclude_pad": True}, spelled={"exclude_pad": "exclude-pad"})
def ov_avg_pool_1(
    data: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: WholeRounding = "floor",
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO AvgPool-1."""
    window = (kernel, strides, pads_begin, pads_end, auto_pad, rounding_type)
    return Tensor(data.dtype, _ov_pooled(data, *window, exclude_pad=exclude_pad))


@openvino("AvgPool", since=14, until=15, absent={**_EMPTY, "exclude_pad": True}, spelled={"exclude_pad": "exclude-pad"})
def ov_avg_pool_14(
    data: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: Rounding = "floor",
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO AvgPool-14, which rounds in PyTorch's way too."""
    window = (kernel, strides, pads_begin, pads_end, auto_pad, rounding_type)
    return Tensor(data.dtype, _ov_pooled(data, *window, exclude_pad=exclude_pad))


@openvino("AvgPool", since=16, absent={**_EMPTY, "exclude_pad": True}, spelled={"exclude_pad": "exclude-pad"})
def ov_avg_pool_16(
    data: Tensor,
    *,
    strides: Ints,
    dilations: Ints = (),
    pads_begin: Ints,
    pads_end: Ints,
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: Rounding = "floor",
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO AvgPool-16, with dilations."""
    window = (kernel, strides, pads_begin, pads_end, auto_pad, rounding_type, dilations)
    return Tensor(data.dtype, _ov_pooled(data, *window, exclude_pad=exclude_pad))


def _adaptive(data: Tensor, output_shape: Tensor) -> Shape | None:
    """The shape of an OpenVINO adaptive pooling: ``output_shape`` holds the spatial sizes, -1 an unknown one."""
    x = data.shape
    expect_spatial_rank(x, highest=5)
    if x is None:
        return None
    target = output_shape.shape
    if target is None or len(target) < 2:
        expect_shape(output_shape, 1, "output_shape", (len(x) - 2,), "an entry for each spatial axis")
    else:
        expect_shape(output_shape, 1, "output_shape", (len(x) - 2, *[1] * (len(target) - 1)))
    sizes = output_shape.ints or (None,) * (len(x) - 2)
    return (*x[:2], *(None if same(size, -1) else 0 if at_least(size, 0) is False else size for size in sizes))


@openvino("AdaptiveAvgPool", since=8)
def adaptive_avg_pool(data: Tensor, output_shape: Tensor) -> Tensor:
    """OpenVINO AdaptiveAvgPool-8."""
    return Tensor(data.dtype, _adaptive(data, output_shape))


@openvino("AdaptiveMaxPool", since=8)
def adaptive_max_pool(
    data: Tensor, output_shape: Tensor, *, index_element_type: DType | None = "int64"
) -> tuple[Tensor, Tensor]:
    """OpenVINO AdaptiveMaxPool-8."""
    if index_element_type not in ("int32", "int64"):
        raise _index_type(index_element_type)
    shape = _adaptive(data, output_shape)
    return Tensor(data.dtype, shape), Tensor(index_element_type, shape)
