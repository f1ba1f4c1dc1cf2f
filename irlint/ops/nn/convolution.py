"""Convolutions in both formats, except transposed and deformable convolutions."""

from __future__ import annotations

from irlint.dims import Shape, product
from irlint.findings.faults import Fault
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_range
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.compiling import (
    Layer,
    first_of,
    known_filters,
    types_at,
    without_negatives,
    without_negatives_at_known_axes,
)
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.shared.filters import (
    ABSENT_LISTS,
    convolved,
    expect_bias,
    expect_channels,
    group_count,
    ov_convolved,
)
from irlint.ops.shared.operands import expect_axes, expect_shape
from irlint.ops.shared.sizes import dim_of
from irlint.ops.shared.windows import OnnxWindow, OpenvinoWindow, arranged
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT, NCHWC, NHWC

BinaryMode = Literal["xnor-popcount"]
CausalActivation = Literal["none", "silu", "swish"]


# --- ONNX -------------------------------------------------------------------------------------------------------------


@onnx("Conv", since=1, macs=("windowed", "W"))
def conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
) -> Tensor:
    """ONNX Conv."""
    expect_bias(B, dim_of(W.shape, 0), 2)
    return Tensor(X.dtype, convolved(X.shape, W.shape, window, group=group, kernel_shape=kernel_shape))


FusedActivation = Literal["Relu", "Tanh", "Sigmoid", "LeakyRelu", "Clip", "HardSigmoid", "HardSwish"]

#: The number of entries that each activation needs in ``activation_params``.
_PARAMETER_COUNTS = {"LeakyRelu": 1, "Clip": 2, "HardSigmoid": 2}


@group
@record
class Activated:
    """The attributes for the activation that ONNX Runtime applies after a convolution."""

    activation: FusedActivation | None = None
    activation_params: Floats | None = None

    def check(self) -> None:
        """Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault if ``activation_params`` has a wrong number of entries."""
        wanted, found = _PARAMETER_COUNTS.get(self.activation or ""), len(self.activation_params or ())
        if wanted is None or found == wanted:
            return
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `activation_params` has {counted(found, 'entry', 'entries')}; {self.activation} needs {wanted}",
            help=f"write {counted(wanted, 'number')}",
            attribute="activation_params",
        )


@onnx("FusedConv", domain=MICROSOFT, macs=("windowed", "W"))
@onnx("NhwcFusedConv", domain=MICROSOFT, macs=("windowed", "W"))
def fused_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Z: Tensor | None = None,
    *,
    activated: Activated,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
    context: Context,
) -> Tensor:
    """com.microsoft FusedConv and NhwcFusedConv. Z is added before the activation."""
    activated.check()
    first = 1 if context.op == "NhwcFusedConv" else 2
    expect_bias(B, dim_of(W.shape, 0), 2)
    shape = convolved(X.shape, W.shape, window, group=group, kernel_shape=kernel_shape, first=first)
    if shape is not None:
        expect_shape(Z, 3, "Z", wanted=shape, why="the shape of the output")
    return Tensor(X.dtype, shape)


@onnx("NhwcConv", domain=MICROSOFT, macs=("windowed", "W"))
@onnx("Conv", domain=NHWC, macs=("windowed", "W"))
def nhwc_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    activated: Activated,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
) -> Tensor:
    """com.microsoft NhwcConv, com.ms.internal.nhwc Conv: the channels are the last axis of X and Y."""
    expect_bias(B, dim_of(W.shape, 0), 2)
    shape = convolved(X.shape, W.shape, window, group=group, kernel_shape=kernel_shape, first=1)
    return Tensor(X.dtype, shape)


@onnx("Conv", domain=NCHWC, macs=("windowed", "W"))
def nchwc_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Sum: Tensor | None = None,
    *,
    activated: Activated,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
) -> Tensor:
    """com.microsoft.nchwc Conv. The channels are stored in blocks, and irlint does not check their number.

    Sum is added before the activation.
    """
    activated.check()
    shape = convolved(X.shape, W.shape, window, group=group, kernel_shape=kernel_shape, blocked=True)
    if shape is not None:
        expect_shape(Sum, 3, "Sum", wanted=shape, why="the shape of the output")
    return Tensor(X.dtype, shape)


@onnx("CausalConvWithState", since=27, macs=("windowed", "weight"))
def causal_conv_with_state(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past_state: Tensor | None = None,
    *,
    activation: CausalActivation = "none",
) -> tuple[Tensor, Tensor]:
    """ONNX CausalConvWithState-27: the result of a depthwise convolution along the last axis, and the new state."""
    x, w = input.shape, weight.shape
    expect_axes(x, 3, 0, axes="batch, channels and length")
    expect_axes(w, 3, 1, axes="channels, 1 and the kernel")
    channels, kernel = dim_of(x, 1), dim_of(w, 2)
    expect_range((kernel,), 1, "weight")
    expect_shape(weight, 1, "weight", wanted=(channels, 1, kernel), why="depthwise")
    expect_bias(bias, channels if channels is not None else dim_of(w, 0), 2)
    state: Shape = (dim_of(x, 0), channels, None if kernel is None else kernel - 1)
    expect_shape(past_state, 3, "past_state", wanted=state, why="the last k - 1 positions")
    return Tensor(input.dtype, x), Tensor(input.dtype, state)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


#: The check for the CPU plugin. It omits ``pads_end``, because the plugin accepts negative numbers there.
COMPILED = first_of(
    known_filters,
    without_negatives("strides", known_from=0),
    without_negatives_at_known_axes("pads_begin", "dilations"),
)


@openvino(
    "Convolution",
    absent=ABSENT_LISTS,
    legacy=("output_padding", "group", "kernel"),
    compiles=COMPILED,
    ignores_extra_inputs=True,
    confused_with=("GroupConvolution",),
    macs=("windowed", "filters"),
)
def ov_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
) -> Tensor:
    """OpenVINO Convolution-1: filters [C_out, C_in, k1, …]."""
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, filters))
    return Tensor(dtype, _convolved_without_groups(data, filters, window, dilations=dilations))


def _convolved_without_groups(
    data: Tensor, filters: Tensor, window: OpenvinoWindow, *, dilations: Ints
) -> Shape | None:
    x, w = data.shape, filters.shape
    sizes = ov_convolved(x, w, window, dilations=dilations)
    expect_channels(x, w, dim_of(w, 1))
    return None if sizes is None else arranged(dim_of(x, 0), dim_of(w, 0), sizes)


def _compiled_binary_filters(layer: Layer) -> Fault | None:
    if 1 not in layer.fixed:
        return None
    return types_at(1, allowed=("uint1",), reason="for constant filters, the CPU plugin supports")(layer)


@openvino(
    "BinaryConvolution",
    absent={**ABSENT_LISTS, "mode": "xnor-popcount", "pad_value": 0.0},
    compiles=_compiled_binary_filters,
    ignores_extra_inputs=True,
    macs=("windowed", "filters"),
)
def ov_binary_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
    mode: BinaryMode,
    pad_value: float,
) -> Tensor:
    """OpenVINO BinaryConvolution-1."""
    expect_type(data, 0, ARITHMETIC)
    expect_axes(data.shape, 4, 0, axes="batch, channels, height and width")
    return Tensor(data.dtype, _convolved_without_groups(data, filters, window, dilations=dilations))


@openvino(
    "GroupConvolution",
    absent=ABSENT_LISTS,
    legacy=("output_padding", "group", "kernel"),
    compiles=COMPILED,
    ignores_extra_inputs=True,
    confused_with=("Convolution",),
    macs=("windowed", "filters", 2),
)
def ov_group_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
) -> Tensor:
    """OpenVINO GroupConvolution-1: filters [G, C_out / G, C_in / G, k1, …]."""
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, filters))
    x, w = data.shape, filters.shape
    sizes = ov_convolved(x, w, window, dilations=dilations, extra=1)
    groups = group_count(x, w, 2)
    return Tensor(dtype, None if sizes is None else arranged(dim_of(x, 0), product((groups, dim_of(w, 1))), sizes))
