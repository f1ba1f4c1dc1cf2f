"""Pooling of ONNX Runtime."""

from __future__ import annotations

from irlint.model.tensor import UNKNOWN, Tensor
from irlint.ops import Context, onnx
from irlint.ops.nn.pooling import pooled
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.expectations import expect_one
from irlint.ops.shared.operands import expect_axes, expect_shape, expect_single
from irlint.ops.shared.windows import (
    AutoPad,
    OnnxWindow,
)
from irlint.schemas import MICROSOFT, NCHWC, NHWC


@onnx("MaxPool", "AveragePool", "LpPool", domain=NHWC)
@onnx("MaxPool", "AveragePool", domain=NCHWC)
@onnx("NhwcMaxPool", domain=MICROSOFT)
def ms_pool(
    X: Tensor,
    *,
    window: OnnxWindow,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    kernel_shape: Ints,
    p: int = 2,
    storage_order: int = 0,
    activation: str = "",
    activation_params: Floats | None = None,
    context: Context,
) -> tuple[Tensor, Tensor]:
    """Pooling with channels last (com.ms.internal.nhwc, com.microsoft) or in blocks (com.microsoft.nchwc)."""
    first = 2 if context.domain == NCHWC else 1
    shape = pooled(X.shape, kernel_shape, window, ceil_mode=ceil_mode, first=first)
    return Tensor(X.dtype, shape), Tensor("int64", shape)


@onnx("MaxpoolWithMask", domain=MICROSOFT)
def max_pool_with_mask(
    X: Tensor,
    M: Tensor,
    *,
    auto_pad: AutoPad = "NOTSET",
    kernel_shape: Ints,
    pads: Ints | None = None,
    storage_order: int = 0,
    strides: Ints | None = None,
) -> Tensor:
    """com.microsoft MaxpoolWithMask."""
    if X.shape is not None and M.shape is not None:
        expect_axes(M.shape, len(X.shape), 1, axes="as many as input 0 has", extra=0)
        expect_shape(M, 1, "M", wanted=(*M.shape[:2], *X.shape[2:]), why="the mask has the spatial sizes of input 0")
    window = OnnxWindow(auto_pad=auto_pad, pads=pads, strides=strides)
    return Tensor(X.dtype, pooled(X.shape, kernel_shape, window, ceil_mode=0))


@onnx("QLinearAveragePool", domain=MICROSOFT)
@onnx("QLinearAveragePool", domain=NHWC)
def qlinear_average_pool(
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor = UNKNOWN,
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
    """com.microsoft and com.ms.internal.nhwc QLinearAveragePool."""
    from irlint.ops.quantized.parameters import expect_zero_points

    parameters = (
        (1, "x_scale", x_scale),
        (2, "x_zero_point", x_zero_point),
        (3, "y_scale", y_scale),
        (4, "y_zero_point", y_zero_point),
    )
    expect_zero_points(context, parameters[1], parameters[3])
    for index, name, tensor in parameters:
        expect_one(tensor, index, name, scalar=True)
    first = 1 if channels_last or context.domain == NHWC else 2
    window = OnnxWindow(auto_pad, pads=pads, strides=strides)
    return Tensor(X.dtype, pooled(X.shape, kernel_shape, window, ceil_mode=ceil_mode, first=first))


def expect_scales(*tensors: Tensor | None) -> None:
    """Checks that inputs 1 to 4, the scales and zero points of X and Y, are single numbers.

    Raises an ``OPERAND_MISMATCH`` fault.
    """
    names = ("x_scale", "x_zero_point", "y_scale", "y_zero_point")
    for index, (tensor, name) in enumerate(zip(tensors, names), 1):
        expect_single(tensor, index, name)
