"""Pooling over windows, and MaxRoiPool."""

from __future__ import annotations

from irlint.dims import Expr, Shape, at_least, same
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_range
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, without_negatives, without_strings
from irlint.ops.shared.operands import RANK_MISMATCH, expect_axes, expect_shape, expect_spatial_rank
from irlint.ops.shared.windows import (
    WINDOW_EXCEEDS_INPUT,
    OnnxWindow,
    OpenvinoWindow,
    Rounding,
    Window,
    arranged,
    channel_axis,
    expect_no_dilated_same,
    expect_one_padding,
    expect_pads_below_kernel,
    onnx_window,
    openvino_window,
    per_axis,
    window_sizes,
)

DType = str
FloorOrCeil = Literal["floor", "ceil"]

_ABSENT_LISTS: dict[str, object] = {"strides": (), "pads_begin": (), "pads_end": (), "kernel": ()}


# --- ONNX -------------------------------------------------------------------------------------------------------------


def pooled(
    x: Shape | None, kernel_shape: Ints | None, window: OnnxWindow, *, ceil_mode: int, first: int = 2
) -> Shape | None:
    """The shape of an ONNX pooling; None if the number of spatial axes is unknown. ``first`` is the first spatial axis.

    Raises a ``RANK_MISMATCH``, ``ATTRIBUTE_OUT_OF_RANGE`` or ``WINDOW_EXCEEDS_INPUT`` fault.
    """
    expect_spatial_rank(x)
    expect_one_padding(window, Severity.WARNING)
    count = len(x) - 2 if x is not None else len(kernel_shape or ())
    if not count:
        return None
    if kernel_shape is None:
        return None if x is None else arranged(x[0], x[channel_axis(len(x), first)], (None,) * count, first=first)
    kernel = per_axis(kernel_shape, count, "kernel_shape")
    resolved = onnx_window(window, count, kernel, ceil=ceil_mode == 1, first=first)
    expect_pads_below_kernel(resolved)
    expect_no_dilated_same(resolved)
    if x is None:
        return (None,) * (count + 2)
    expect_elements(x, first)
    filled_shape = None
    if any(isinstance(dim, Expr) for dim in x):
        from irlint.ops.shared.truncated_windows import filled

        filled_shape = filled(x, first)
    sizes = window_sizes(filled_shape or x, resolved, count, lenient=True, filled=filled_shape is not None)
    return arranged(x[0], x[channel_axis(len(x), first)], sizes, first=first)


def expect_elements(x: Shape, first: int = 2, with_batch: bool = False) -> None:
    """Raises a ``WINDOW_EXCEEDS_INPUT`` fault if an axis of input 0 other than the batch has the size 0.

    If ``with_batch``, the batch must not be empty either. Otherwise, all sizes are valid if the batch may be empty.
    """
    if not with_batch and not at_least(x[0], 1):
        return
    for axis in range(0 if with_batch else 1, len(x)):
        if same(x[axis], 0):
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"input 0 is {shape_text(x)}: axis {axis} is 0, and there is nothing to pool",
                help=f"use an input with a size of at least 1 on axis {axis}",
                input=0,
                marks=((0, axis),),
                aligned="left",
                remark="nothing to pool",
            )


@onnx("MaxPool", since=1)
def max_pool(
    X: Tensor, *, window: OnnxWindow, ceil_mode: int = 0, kernel_shape: Ints, storage_order: int = 0
) -> tuple[Tensor, Tensor]:
    """ONNX MaxPool: the maxima and, from opset 8 on, their indices."""
    if storage_order not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `storage_order` is {storage_order}; it must be 0 (row major) or 1 (column major)",
            help="write 0 or 1",
            attribute="storage_order",
        )
    shape = pooled(X.shape, kernel_shape, window, ceil_mode=ceil_mode)
    return Tensor(X.dtype, shape), Tensor("int64", shape)


@onnx("AveragePool", since=1)
def average_pool(
    X: Tensor, *, window: OnnxWindow, ceil_mode: int = 0, count_include_pad: int = 0, kernel_shape: Ints
) -> Tensor:
    """ONNX AveragePool."""
    return Tensor(X.dtype, pooled(X.shape, kernel_shape, window, ceil_mode=ceil_mode))


@onnx("LpPool", since=1)
def lp_pool(
    X: Tensor, *, window: OnnxWindow, ceil_mode: int = 0, kernel_shape: Ints | None = None, p: float = 2.0
) -> Tensor:
    """ONNX LpPool. In opset 1, ``kernel_shape`` is optional and ``p`` is a float."""
    return Tensor(X.dtype, pooled(X.shape, kernel_shape, window, ceil_mode=ceil_mode))


@onnx("MaxRoiPool", since=1)
def max_roi_pool(X: Tensor, rois: Tensor, *, pooled_shape: Ints, spatial_scale: float = 1.0) -> Tensor:
    """ONNX MaxRoiPool."""
    expect_axes(X.shape, 4, 0, axes="batch, channels, height and width")
    expect_axes(rois.shape, 2, 1, axes="regions, and the 5 numbers of a region")
    per_axis(pooled_shape, 2, "pooled_shape")
    expect_range(pooled_shape, 1, "pooled_shape")
    if not spatial_scale > 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `spatial_scale` is {spatial_scale:g}; it has to be above 0",
            help="write the size of the feature map divided by the size of the image",
            attribute="spatial_scale",
        )
    regions = None if rois.shape is None else rois.shape[0]
    expect_shape(rois, 1, "rois", wanted=(regions, 5), why="batch index, x1, y1, x2, y2")
    return Tensor(X.dtype, (regions, None if X.shape is None else X.shape[1], *pooled_shape))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _ov_pooled(
    data: Tensor,
    kernel: Ints,
    window: OpenvinoWindow,
    *,
    rounding: Rounding,
    dilations: Ints = (),
    exclude_pad: bool = False,
) -> Shape:
    x, count = data.shape, len(kernel)
    begin, end = window.pads_begin, window.pads_end
    for name, values in (("pads_begin", begin), ("pads_end", end), ("dilations", dilations)):
        _expect_length_of_kernel(values or None, count, name)
    _expect_length_of_kernel(window.strides, count, "strides")
    expect_spatial_rank(x, highest=5)
    if x is not None:
        per_axis(kernel, len(x) - 2, "kernel")
    expect_range(kernel, 1, "kernel")
    if window.auto_pad == "explicit":
        _expect_valid_pads(begin, end, exclude_pad)
    resolved = openvino_window(window, count, kernel, dilations=dilations, rounding=rounding)
    if exclude_pad and resolved is not None and x is not None:
        _expect_no_window_in_padding(resolved)
    if x is None:
        return (None,) * (count + 2)
    expect_elements(x, with_batch=True)
    return arranged(x[0], x[1], window_sizes(x, resolved, count))


def _expect_valid_pads(pads_begin: Ints, pads_end: Ints, exclude_pad: bool) -> None:
    for position, (begin, end) in enumerate(zip(pads_begin, pads_end)):
        # OpenVINO reads a sum of -1 as dynamic. With exclude_pad, it treats a negative pad as larger than the window.
        if begin + end == -1 or (exclude_pad and min(begin, end) < 0):
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"spatial axis {position} is padded by {begin} and {end}; padding must be at least 0",
                help="pad by 0 or more",
                attribute="pads_begin" if begin < 0 else "pads_end",
            )


def _expect_length_of_kernel(values: Ints | None, count: int, name: str) -> None:
    if values is None or len(values) == count:
        return
    raise RANK_MISMATCH.fault(
        f"`{name}` is {list(values)} with {counted(len(values), 'entry', 'entries')}, and the kernel has {count}",
        help=f"write `{name}` with {counted(count, 'entry', 'entries')}",
        attribute=name,
    )


def _expect_no_window_in_padding(window: Window) -> None:
    for position, span in enumerate(window.spans):
        pads = (window.begin[position], window.end[position])
        if isinstance(span, int) and max(pads) >= span:
            axis = window.first + position
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"axis {axis} is padded by {pads[0]} and {pads[1]}, and the window spans {span}: with exclude-pad, a "
                "window in the padding has no element to average",
                help=f"pad by at most {span - 1}, or write exclude-pad as false",
                input=0,
                marks=((0, axis),),
                aligned="left",
                remark=f"the window spans {span}",
            )


_TYPES_WITHOUT_INDICES = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"})
_COMPILED = first_of(without_strings, without_negatives("strides", "pads_begin"))


def _compiled_indices(layer: Layer) -> Fault | None:
    dtype = layer.dtype(0)
    if dtype not in _TYPES_WITHOUT_INDICES or 1 not in layer.used:
        return None
    return not_compiled(
        f"input 0 is {dtype}, for which the CPU plugin computes no indices of the maxima",
        help="convert input 0 to float32, or do not use the indices",
        input=0,
    )


def _compiled_maxima(layer: Layer) -> Fault | None:
    """Returns the fault of MaxPool-1 if the indices are unused: the CPU plugin then replaces the layer by MaxPool-1."""
    return None if 1 in layer.used else _COMPILED(layer)


_COMPILED_WITH_INDICES = first_of(without_strings, _compiled_indices, _compiled_maxima)


@openvino("MaxPool", until=7, absent=_ABSENT_LISTS, compiles=_COMPILED, ignores_extra_inputs=True)
def ov_max_pool_1(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    kernel: Ints,
    rounding_type: FloorOrCeil = "floor",
) -> Tensor:
    """OpenVINO MaxPool-1."""
    return Tensor(data.dtype, _ov_pooled(data, kernel, window, rounding=rounding_type))


@openvino("MaxPool", since=8, until=13, absent=_ABSENT_LISTS, compiles=_COMPILED_WITH_INDICES)
def ov_max_pool_8(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints = (),
    kernel: Ints,
    rounding_type: FloorOrCeil = "floor",
    index_element_type: DType | None = "int64",
    axis: int = 0,
) -> tuple[Tensor, Tensor]:
    """OpenVINO MaxPool-8: the maxima and their indices. An index counts the elements of the axes from ``axis`` on."""
    shape = _ov_pooled(data, kernel, window, rounding=rounding_type, dilations=dilations)
    return _with_indices(data, shape, index_element_type, axis=axis)


@openvino("MaxPool", since=14, absent=_ABSENT_LISTS, compiles=_COMPILED_WITH_INDICES)
def ov_max_pool_14(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints = (),
    kernel: Ints,
    rounding_type: Rounding = "floor",
    index_element_type: DType | None = "int64",
    axis: int = 0,
) -> tuple[Tensor, Tensor]:
    """OpenVINO MaxPool-14, which adds PyTorch's rounding of output sizes."""
    shape = _ov_pooled(data, kernel, window, rounding=rounding_type, dilations=dilations)
    return _with_indices(data, shape, index_element_type, axis=axis)


def _with_indices(data: Tensor, shape: Shape, index_type: DType | None, *, axis: int) -> tuple[Tensor, Tensor]:
    if data.shape is not None:
        axis_of(axis, len(data.shape))
    if index_type not in ("int32", "int64"):
        warn(index_type_fault(index_type).lowered(Severity.WARNING))
    return Tensor(data.dtype, shape), Tensor(index_type, shape)


def index_type_fault(index_type: DType | None) -> Fault:
    """The ``ATTRIBUTE_OUT_OF_RANGE`` fault for an ``index_element_type`` that is neither int32 nor int64."""
    return ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `index_element_type` is {index_type or 'dynamic'}; indices are int32 or int64",
        help="write i32 or i64",
        attribute="index_element_type",
    )


def _compiled_dilations(layer: Layer) -> Fault | None:
    if layer.attributes["dilations"]:
        return None
    ones = ",".join("1" for _ in layer.attributes.get("kernel") or (1, 1))
    return not_compiled(
        "`dilations` is missing: the specification has a default, but the CPU plugin of OpenVINO 2026.4 crashes",
        help=f'write dilations="{ones}"',
        attribute="dilations",
    )


@openvino(
    "AvgPool",
    until=13,
    absent={**_ABSENT_LISTS, "exclude_pad": True},
    spelled={"exclude_pad": "exclude-pad"},
    compiles=_COMPILED,
)
def ov_avg_pool_1(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: FloorOrCeil = "floor",
) -> Tensor:
    """OpenVINO AvgPool-1."""
    shape = _ov_pooled(data, kernel, window, rounding=rounding_type, exclude_pad=exclude_pad)
    return Tensor(data.dtype, shape)


@openvino(
    "AvgPool",
    since=14,
    until=15,
    absent={**_ABSENT_LISTS, "exclude_pad": True},
    spelled={"exclude_pad": "exclude-pad"},
    compiles=_COMPILED,
)
def ov_avg_pool_14(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: Rounding = "floor",
) -> Tensor:
    """OpenVINO AvgPool-14, which adds PyTorch's rounding of output sizes."""
    shape = _ov_pooled(data, kernel, window, rounding=rounding_type, exclude_pad=exclude_pad)
    return Tensor(data.dtype, shape)


@openvino(
    "AvgPool",
    since=16,
    absent={**_ABSENT_LISTS, "exclude_pad": True},
    spelled={"exclude_pad": "exclude-pad"},
    compiles=first_of(_COMPILED, _compiled_dilations),
)
def ov_avg_pool_16(
    data: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints = (),
    kernel: Ints,
    exclude_pad: bool,
    rounding_type: Rounding = "floor",
) -> Tensor:
    """OpenVINO AvgPool-16, which adds dilations."""
    shape = _ov_pooled(data, kernel, window, rounding=rounding_type, dilations=dilations, exclude_pad=exclude_pad)
    return Tensor(data.dtype, shape)
