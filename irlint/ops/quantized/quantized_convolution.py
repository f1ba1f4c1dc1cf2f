"""Convolutions of quantized tensors: ConvInteger and QLinearConv."""

from __future__ import annotations

from irlint.dims import MaybeDim, same
from irlint.findings.faults import Severity
from irlint.findings.statements import warn
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx
from irlint.ops.quantized.parameters import warn_of_scale
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.filters import convolved, expect_bias, weights_help
from irlint.ops.shared.operands import OPERAND_MISMATCH, expect_single
from irlint.ops.shared.sizes import dim_of
from irlint.ops.shared.windows import OnnxWindow
from irlint.schemas import MICROSOFT, NHWC


@onnx("ConvInteger", since=10, macs=("windowed", "w"))
def conv_integer(
    x: Tensor,
    w: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
) -> Tensor:
    """ONNX ConvInteger-10."""
    expect_single(x_zero_point, 2, "x_zero_point")
    _expect_per_channel(w_zero_point, 3, "w_zero_point", channels=dim_of(w.shape, 0))
    if w_zero_point is not None and w_zero_point.shape and same(w_zero_point.shape[0], 1) is False:
        warn(
            OPERAND_MISMATCH.fault(
                f"input 3 (w_zero_point) is {shape_text(w_zero_point.shape)}, one number for each output channel: the "
                'specification allows "a scalar or a 1-D tensor", but ONNX Runtime requires a single element',
                help="use one zero point for all output channels",
                input=3,
                severity=Severity.NOTE,
            )
        )
    return Tensor("int32", convolved(x.shape, w.shape, window, group=group, kernel_shape=kernel_shape))


def _expect_per_channel(tensor: Tensor | None, index: int, name: str, *, channels: MaybeDim) -> None:
    """Checks that an input has one element, or one for each channel. Raises an ``OPERAND_MISMATCH`` fault."""
    if tensor is None or tensor.shape is None or not tensor.shape:
        return
    size = tensor.shape[0]
    if len(tensor.shape) == 1 and (same(size, 1) is not False or same(size, channels) is not False):
        return
    count = "?" if channels is None else channels
    raise OPERAND_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(tensor.shape)}; expected a scalar, or a list of "
        + ("1 element" if count == 1 else f"1 element or of {count} elements, one for each output channel"),
        help=f"give input {index} the shape [] or [{count}]"
        + (f", or {weights_help(size)}" if len(tensor.shape) == 1 else ""),
        input=index,
    )


@onnx("QLinearConv", since=10, macs=("windowed", "w"))
def qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    B: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
) -> Tensor:
    """ONNX QLinearConv-10."""
    _expect_quantization(
        x_scale,
        x_zero_point,
        w,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        bias=B,
    )
    shape = convolved(x.shape, w.shape, window, group=group, kernel_shape=kernel_shape, weights=3)
    return Tensor(y_zero_point.dtype, shape)


@onnx("QLinearConv", domain=NHWC, macs=("windowed", "w"))
@onnx("QLinearConv", domain=MICROSOFT, macs=("windowed", "w"))
def ms_qlinear_conv(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    B: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
    channels_last: int = 0,
    context: Context,
) -> Tensor:
    """com.microsoft and com.ms.internal.nhwc QLinearConv. In com.ms.internal.nhwc, the channels are the last axis."""
    _expect_quantization(
        x_scale,
        x_zero_point,
        w,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        bias=B,
    )
    first = 1 if channels_last or context.domain == NHWC else 2
    shape = convolved(x.shape, w.shape, window, group=group, kernel_shape=kernel_shape, first=first, weights=3)
    return Tensor(y_zero_point.dtype, shape)


def _expect_quantization(
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    *,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor | None,
) -> None:
    channels = dim_of(w.shape, 0)
    for index, name, scale in ((1, "x_scale", x_scale), (4, "w_scale", w_scale), (6, "y_scale", y_scale)):
        warn_of_scale(scale, index, name)
    expect_single(x_scale, 1, "x_scale")
    expect_single(x_zero_point, 2, "x_zero_point")
    expect_single(y_scale, 6, "y_scale")
    expect_single(y_zero_point, 7, "y_zero_point")
    _expect_per_channel(w_scale, 4, "w_scale", channels=channels)
    _expect_per_channel(w_zero_point, 5, "w_zero_point", channels=channels)
    expect_bias(bias, channels, 8)
