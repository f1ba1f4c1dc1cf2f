"""Convolutions: plain, transposed, deformable, quantized and grouped, in both formats."""

from __future__ import annotations

from typing import Literal

from irlint.diagnostics import Rule, Severity, agree, divides, warn
from irlint.dims import MaybeDim, Shape, at_least, product, quotient, same
from irlint.ops import Context, onnx, openvino
from irlint.ops.attribute_values import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.axes import Floats, Ints
from irlint.ops.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.windows import (
    OPERAND_MISMATCH,
    RANK_MISMATCH,
    AutoPad,
    PadType,
    Window,
    arranged,
    channel_axis,
    expect_no_dilated_same,
    expect_one_padding,
    expect_range,
    expect_rank,
    expect_shape,
    expect_single,
    expect_spatial_rank,
    onnx_window,
    openvino_window,
    per_axis,
    spatial,
    transposed_size,
    transposed_sizes,
    window_sizes,
)
from irlint.tensor import INTEGERS, Tensor, shape_text

BinaryMode = Literal["xnor-popcount"]
CausalActivation = Literal["none", "silu", "swish"]

_NHWC = "com.ms.internal.nhwc"
_NCHWC = "com.microsoft.nchwc"
_MS = "com.microsoft"
_EMPTY: dict[str, object] = {"strides": (), "pads_begin": (), "pads_end": (), "dilations": ()}

CHANNELS_MISMATCH = Rule(
    "IRL310",
    "conv-channels-mismatch",
    Severity.ERROR,
    "The input's channels are not those that the weights are made for.",
    why="""The weights of a convolution take a fixed number of input channels: axis 1 of W times `group` in ONNX, axis 1 of
the filters in OpenVINO (axes 0 and 2 of grouped ones), axis 0 of a transposed convolution's weights. ONNX Runtime refuses
another input when it comes to the node, OpenVINO when it loads the model.""",
    mend="""Feed a tensor with that many channels, or use the weights that belong to it. Often the axes are in another order:
[N, H, W, C] where [N, C, H, W] is expected.""",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv (x, w) }""",
)

GROUPS_MISMATCH = Rule(
    "IRL311",
    "conv-groups-mismatch",
    Severity.ERROR,
    "The channels cannot be divided into the groups of the convolution.",
    why="""Each group takes an equal part of the input channels and gives an equal part of the output channels, so `group` has
to be at least 1 and to divide both. Runtimes refuse the node otherwise; some divide by zero.""",
    mend="Set `group` to a number that divides the input and output channels; 1 for a plain convolution.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,8,8] x, float[7,3,3,3] w) => (float[1,7,6,6] y) { y = Conv <group = 2> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,8,8] x, float[8,3,3,3] w) => (float[1,8,6,6] y) { y = Conv <group = 2> (x, w) }""",
)

BIAS_MISMATCH = Rule(
    "IRL312",
    "conv-bias-mismatch",
    Severity.ERROR,
    "The bias of a convolution is not a list with one element for each output channel.",
    why="""The bias is added to each output channel and is not broadcast: it has one axis, of as many elements as there are
output channels. ONNX Runtime refuses any other when it comes to the node.""",
    mend="Give the bias one axis with an element for each output channel, or leave it out and use an Add node.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w, float[1] b) => (float[1,16,6,6] y) { y = Conv (x, w, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w, float[16] b) => (float[1,16,6,6] y) { y = Conv (x, w, b) }""",
)

KERNEL_SHAPE_MISMATCH = Rule(
    "IRL313",
    "kernel-shape-mismatch",
    Severity.ERROR,
    "The attribute `kernel_shape` is not the shape of the kernel in the weights.",
    why="""The kernel's sizes stand in the weights; `kernel_shape` may only repeat them. ONNX Runtime refuses the node
otherwise, when it comes to it.""",
    mend="Remove `kernel_shape`, or write the spatial sizes of the weights.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,4,4] y) { y = Conv <kernel_shape = [5, 5]> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv <kernel_shape = [3, 3]> (x, w) }""",
)

OUTPUT_SHAPE_UNREACHABLE = Rule(
    "IRL319",
    "output-shape-unreachable",
    Severity.WARNING,
    "A transposed convolution is to give more elements than its windows reach, and not all runtimes do.",
    why="""From n elements, a window of k and a stride of s come s * (n - 1) + k elements, and up to s - 1 more that a
convolution back would leave out. Beyond that ONNX Runtime refuses the node ("inconsistent with input spatial dimensions"),
also where the specification allows it: an `output_padding` below the dilation.""",
    mend="Ask for fewer elements (`output_shape`, `output_padding`), and add the rest with a Pad node.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,5,5] x, float[4,2,3,3] w) => (float[1,2,20,20] y) {
  y = ConvTranspose <strides = [2, 2], output_shape = [20, 20]> (x, w)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,5,5] x, float[4,2,3,3] w) => (float[1,2,12,12] y) {
  y = ConvTranspose <strides = [2, 2], output_shape = [12, 12]> (x, w)
}""",
)

# --- what all convolutions share --------------------------------------------------------------------------------------


def _times(dim: MaybeDim, factor: MaybeDim) -> MaybeDim:
    return product((dim, factor))


def _dim(shape: Shape | None, axis: int) -> MaybeDim:
    return None if shape is None else shape[axis]


def _surer(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """Of two dims that are one size, the one that says more."""
    return b if a is None or isinstance(b, int) else a


def _expect_channels(x: Shape | None, w: Shape | None, wanted: MaybeDim, first: int, weights: int, text: str) -> None:
    """Makes sure that input 0 has the ``wanted`` channels of the weights, which are input ``weights``."""
    if x is None or w is None:
        return
    axis = channel_axis(len(x), first)
    if agree(x[axis], wanted, f"axis {axis} of input 0 are the channels that input {weights} takes"):
        return
    elsewhere = [other for other, dim in enumerate(x) if other not in (0, axis) and same(dim, wanted)]
    hint = f"axis {elsewhere[0]} is {wanted}: transpose input 0" if elsewhere else f"feed {wanted} channels"
    raise CHANNELS_MISMATCH.fault(
        f"input 0 is {shape_text(x)} with {x[axis]} channels on axis {axis}, and input {weights}, {shape_text(w)}, "
        f"takes {wanted}{text}",
        help=f"{hint}, or use weights for {x[axis]}",
        input=0,
        marks=((0, axis),),
        aligned="left",
        remark=f"the weights take {wanted}",
    )


def _expect_groups(group: int, dim: MaybeDim, index: int, axis: int, what: str, name: str = "group") -> None:
    """Makes sure that ``group`` is at least 1 and divides ``dim``, the ``what`` on an axis of input ``index``."""
    if group < 1:
        raise GROUPS_MISMATCH.fault(
            f"`{name}` is {group}; it has to be at least 1", help=f"write 1 for `{name}`, or more", attribute=name
        )
    if not divides(group, dim, f"axis {axis} of input {index} is divided into {group} groups"):
        raise GROUPS_MISMATCH.fault(
            f"axis {axis} of input {index} is {dim}, the {what}, and `{name}` is {group}, which does not divide it",
            help=f"use a `{name}` that divides {dim}",
            input=index,
            marks=((index, axis),),
            aligned="left",
            remark=f"not a multiple of {group}",
        )


def _expect_bias(bias: Tensor | None, channels: MaybeDim, index: int) -> None:
    if bias is None or bias.shape is None:
        return
    if len(bias.shape) == 1 and agree(bias.shape[0], channels, f"input {index} is added to each output channel"):
        return
    wanted = "?" if channels is None else channels
    raise BIAS_MISMATCH.fault(
        f"input {index} (the bias) is {shape_text(bias.shape)}; expected is [{wanted}], an element for each of the "
        "output channels",
        help=f"give input {index} the shape [{wanted}]",
        input=index,
    )


def _kernel(kernel_shape: Ints | None, w: Shape | None, count: int, weights: int) -> Shape:
    """The spatial sizes of ONNX weights. Raises a ``KERNEL_SHAPE_MISMATCH`` fault where ``kernel_shape`` denies them."""
    own: Shape = (None,) * count if w is None else w[2:]
    if kernel_shape is None:
        return own
    kernel_shape = per_axis(kernel_shape, count, "kernel_shape", 1)
    for position, (written, dim) in enumerate(zip(kernel_shape, own)):
        if not agree(dim, written, f"axis {position + 2} of input {weights} is the kernel_shape"):
            raise KERNEL_SHAPE_MISMATCH.fault(
                f"`kernel_shape` is {list(kernel_shape)} and input {weights} is {shape_text(w)}: "
                f"axis {position + 2} is {dim} against {written}",
                help=f"remove `kernel_shape`, or write {shape_text(own)}",
                input=weights,
                marks=((weights, position + 2),),
                remark=f"`kernel_shape` says {written}",
            )
    return kernel_shape


def _spatial_count(x: Shape | None, w: Shape | None, weights: int, *lists: Ints | None) -> int | None:
    """The number of spatial axes by the ranks of input and weights, else by the attributes that have one entry each.

    Raises a ``RANK_MISMATCH`` fault.
    """
    expect_spatial_rank(x)
    if x is not None:
        expect_rank(w, len(x), weights, f"as input 0, {shape_text(x)}, has them")
    elif w is not None and len(w) < 3:
        raise RANK_MISMATCH.fault(
            f"input {weights} is {shape_text(w)} with {len(w)} axes: expected are at least 3, two for channels",
            help=f"give input {weights} two channel axes and the spatial ones",
            input=weights,
        )
    known = x if x is not None else w
    if known is not None:
        return len(known) - 2
    return next((len(values) for values in lists if values), None)


# --- ONNX: convolution ------------------------------------------------------------------------------------------------


def _convolved(
    x: Shape | None,
    w: Shape | None,
    group: int,
    kernel_shape: Ints | None,
    strides: Ints | None,
    dilations: Ints | None,
    pads: Ints | None,
    auto_pad: str = "NOTSET",
    *,
    first: int = 2,
    weights: int = 1,
    blocked: bool = False,
    lenient: bool = False,
) -> Shape | None:
    """The shape of an ONNX convolution; W is [M, C / group, k1, …] in every layout.

    ``blocked`` leaves the channels unjudged, which are in blocks.
    """
    count = _spatial_count(x, w, weights, kernel_shape, strides, dilations)
    expect_one_padding(auto_pad, pads)
    if count is None:
        return None
    kernel = _kernel(kernel_shape, w, count, weights)
    window = onnx_window(count, kernel, strides, dilations, pads, auto_pad, first=first)
    expect_no_dilated_same(window)
    if not blocked:
        _expect_groups(group, _dim(w, 0), weights, 0, "output channels")
        text = f" ({w[1]} for each of {group} groups)" if w is not None and group > 1 else ""
        _expect_channels(x, w, _times(_dim(w, 1), group), first, weights, text)
    sizes = window_sizes(x, window, count, lenient=lenient)
    return arranged(_dim(x, 0), _dim(w, 0), sizes, first)


@onnx("Conv", since=1)
def conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX Conv of every version."""
    _expect_bias(B, _dim(W.shape, 0), 2)
    return Tensor(X.dtype, _convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, auto_pad))


@onnx("FusedConv", domain=_MS)
@onnx("NhwcFusedConv", domain=_MS)
def fused_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Z: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
    context: Context,
) -> Tensor:
    """com.microsoft FusedConv and NhwcFusedConv: Z, of the output's shape, is added before the activation."""
    first = 1 if context.op == "NhwcFusedConv" else 2
    _expect_bias(B, _dim(W.shape, 0), 2)
    shape = _convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, auto_pad, first=first)
    if shape is not None:
        expect_shape(Z, 3, "Z", shape, "the shape of the output")
    return Tensor(X.dtype, shape)


@onnx("NhwcConv", domain=_MS)
@onnx("Conv", domain=_NHWC)
def nhwc_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
) -> Tensor:
    """com.microsoft NhwcConv, com.ms.internal.nhwc Conv: the channels are the last axis of X and Y."""
    _expect_bias(B, _dim(W.shape, 0), 2)
    shape = _convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, auto_pad, first=1)
    return Tensor(X.dtype, shape)


@onnx("Conv", domain=_NCHWC)
def nchwc_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Sum: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
) -> Tensor:
    """com.microsoft.nchwc Conv: channels in blocks, so that their number is not judged."""
    shape = _convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, auto_pad, blocked=True)
    return Tensor(X.dtype, shape)


@onnx("ConvInteger", since=10)
def conv_integer(
    x: Tensor,
    w: Tensor,
    x_zero_point: Tensor | None = None,
    w_zero_point: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX ConvInteger-10."""
    expect_single(x_zero_point, 2, "x_zero_point")
    _expect_per_channel(w_zero_point, 3, "w_zero_point", _dim(w.shape, 0))
    if w_zero_point is not None and w_zero_point.shape and same(w_zero_point.shape[0], 1) is False:
        warn(
            OPERAND_MISMATCH.fault(
                f"input 3 (w_zero_point) is {shape_text(w_zero_point.shape)}, one for each output channel: the "
                'specification allows "a scalar or a 1-D tensor", ONNX Runtime takes a single element',
                help="use one zero point for all output channels",
                input=3,
                severity=Severity.NOTE,
            )
        )
    return Tensor("int32", _convolved(x.shape, w.shape, group, kernel_shape, strides, dilations, pads, auto_pad))


def _expect_per_channel(tensor: Tensor | None, index: int, name: str, channels: MaybeDim) -> None:
    """Raises an ``OPERAND_MISMATCH`` fault where input ``index`` has neither one element nor one for each channel."""
    if tensor is None or tensor.shape is None or not tensor.shape:
        return
    size = tensor.shape[0]
    if len(tensor.shape) == 1 and (same(size, 1) is not False or same(size, channels) is not False):
        return
    wanted = "?" if channels is None else channels
    raise OPERAND_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(tensor.shape)}; expected is a scalar, or a list of 1 or {wanted} "
        "elements, one for each output channel",
        help=f"give input {index} the shape [] or [{wanted}]",
        input=index,
    )


@onnx("QLinearConv", since=10)
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
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX QLinearConv-10: weights are quantized as a whole, or by output channel."""
    _expect_quantization(x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)
    window = (kernel_shape, strides, dilations, pads, auto_pad)
    return Tensor(y_zero_point.dtype, _convolved(x.shape, w.shape, group, *window, weights=3))


@onnx("QLinearConv", domain=_NHWC)
@onnx("QLinearConv", domain=_MS)
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
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    channels_last: int = 0,
    context: Context,
) -> Tensor:
    """com.microsoft QLinearConv, with the channels as the last axis by ``channels_last`` or by the domain."""
    _expect_quantization(x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)
    first = 1 if channels_last or context.node.domain == _NHWC else 2
    window = (kernel_shape, strides, dilations, pads, auto_pad)
    return Tensor(y_zero_point.dtype, _convolved(x.shape, w.shape, group, *window, first=first, weights=3))


def _expect_quantization(
    x_scale: Tensor,
    x_zero_point: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    bias: Tensor | None,
) -> None:
    channels = _dim(w.shape, 0)
    expect_single(x_scale, 1, "x_scale")
    expect_single(x_zero_point, 2, "x_zero_point")
    expect_single(y_scale, 6, "y_scale")
    expect_single(y_zero_point, 7, "y_zero_point")
    _expect_per_channel(w_scale, 4, "w_scale", channels)
    _expect_per_channel(w_zero_point, 5, "w_zero_point", channels)
    _expect_bias(bias, channels, 8)


# --- ONNX: transposed convolution -------------------------------------------------------------------------------------


@onnx("ConvTranspose", since=1)
def conv_transpose(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX ConvTranspose of every version; W is [C, M / group, k1, …]."""
    window = (kernel_shape, strides, dilations, pads, auto_pad)
    shape = _transposed(X.shape, W.shape, group, window, output_padding, output_shape, 2)
    _expect_bias(B, None if shape is None else shape[1], 2)
    return Tensor(X.dtype, shape)


@onnx("ConvTranspose", domain=_NHWC)
def nhwc_conv_transpose(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    auto_pad: AutoPad = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
) -> Tensor:
    """com.ms.internal.nhwc ConvTranspose: the channels are the last axis of X and Y."""
    window = (kernel_shape, strides, dilations, pads, auto_pad)
    return Tensor(X.dtype, _transposed(X.shape, W.shape, group, window, output_padding, output_shape, 1))


def _transposed(
    x: Shape | None,
    w: Shape | None,
    group: int,
    attributes: tuple[Ints | None, Ints | None, Ints | None, Ints | None, str],
    output_padding: Ints | None,
    output_shape: Ints | None,
    first: int,
) -> Shape | None:
    """The shape of an ONNX transposed convolution; ``attributes`` are kernel_shape, strides, dilations, pads, auto_pad."""
    kernel_shape, strides, dilations, pads, auto_pad = attributes
    count = _spatial_count(x, w, 1, kernel_shape, strides, dilations, output_shape)
    expect_one_padding(auto_pad, pads)
    if count is None:
        return None
    kernel = _kernel(kernel_shape, w, count, 1)
    window = onnx_window(count, kernel, strides, dilations, pads, auto_pad, first=first)
    _expect_groups(group, _dim(w, 0), 1, 0, "input channels")
    _expect_channels(x, w, _dim(w, 0), first, 1, "")
    added = _output_padding(output_padding, window, output_shape is not None)
    channels = _times(_dim(w, 1), group)
    if output_shape is None:
        return arranged(_dim(x, 0), channels, transposed_sizes(x, window, count, added), first)
    sizes = per_axis(output_shape, count, "output_shape", 1)
    expect_range(sizes, 1, "output_shape")
    _expect_reachable(x, window, sizes)
    return arranged(_dim(x, 0), channels, sizes, first)


def _output_padding(given: Ints | None, window: Window, shaped: bool) -> Ints:
    """``output_padding``, each entry of which has to be less than the stride or the dilation.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault; states one of ``OUTPUT_SHAPE_UNREACHABLE`` between the two.
    """
    added = per_axis(given, len(window.strides), "output_padding", 0)
    expect_range(added, 0, "output_padding")
    for position, extra in enumerate(added):
        stride, dilation = window.strides[position], window.dilations[position]
        if extra >= max(stride, dilation):
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"entry {position} of `output_padding` is {extra}, the stride {stride} and the dilation {dilation}: "
                "it has to be less than one of them",
                help=f"write at most {max(stride, dilation) - 1}",
                attribute="output_padding",
            )
        if extra >= stride and not shaped:
            warn(
                OUTPUT_SHAPE_UNREACHABLE.fault(
                    f"entry {position} of `output_padding` is {extra}, the stride {stride} and the dilation {dilation}: "
                    '"must be less than the corresponding stride/dilation dimension" by the specification, '
                    "less than the stride by ONNX Runtime",
                    help=f"write at most {stride - 1}, and add the rest with a Pad node",
                    attribute="output_padding",
                )
            )
    return added


def _expect_reachable(x: Shape | None, window: Window, sizes: Ints) -> None:
    if x is None:
        return
    for position, (size, wanted) in enumerate(zip(spatial(x, window.first), sizes)):
        span, stride = window.span(position), window.strides[position]
        if size is None or span is None:
            continue
        full = transposed_size(size, span, stride, stride - 1)
        if at_least(full, wanted) is False:
            warn(
                OUTPUT_SHAPE_UNREACHABLE.fault(
                    f"`output_shape` is {list(sizes)}: {wanted} on axis {window.first + position}, where input 0 is {size}, "
                    f"the stride {stride} and the window spans {span}, which reach {full} at most",
                    help=f"write at most {full}, and add the rest with a Pad node",
                    attribute="output_shape",
                )
            )


# --- ONNX: deformable and causal convolution --------------------------------------------------------------------------


@onnx("DeformConv", since=19)
def deform_conv(
    X: Tensor,
    W: Tensor,
    offset: Tensor,
    B: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    offset_group: int = 1,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX DeformConv-19: an offset along each axis, and a weight in ``mask``, for each element of each window."""
    shape = _convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, lenient=True)
    _expect_bias(B, _dim(W.shape, 0), 3)
    _expect_groups(offset_group, None if X.shape is None else X.shape[1], 0, 1, "input channels", "offset_group")
    if shape is not None:
        elements = None if W.shape is None else product((*W.shape[2:], offset_group))
        sizes = shape[2:]
        expect_shape(offset, 2, "offset", (shape[0], _times(elements, len(sizes)), *sizes), "a vector for each element")
        expect_shape(mask, 4, "mask", (shape[0], elements, *sizes), "a weight for each element")
    return Tensor(X.dtype, shape)


@onnx("CausalConvWithState", since=27)
def causal_conv_with_state(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past_state: Tensor | None = None,
    *,
    activation: CausalActivation = "none",
) -> tuple[Tensor, Tensor]:
    """ONNX CausalConvWithState-27: depthwise over the last axis; the state holds the last k - 1 positions."""
    x, w = input.shape, weight.shape
    expect_rank(x, 3, 0, "batch, channels and length")
    expect_rank(w, 3, 1, "channels, 1 and the kernel")
    channels, kernel = _dim(x, 1), _dim(w, 2)
    expect_range((kernel,), 1, "weight")
    expect_shape(weight, 1, "weight", (channels, 1, kernel), "depthwise")
    _expect_bias(bias, channels if channels is not None else _dim(w, 0), 2)
    state: Shape = (_dim(x, 0), channels, None if kernel is None else kernel - 1)
    expect_shape(past_state, 3, "past_state", state, "the last k - 1 positions")
    return Tensor(input.dtype, x), Tensor(input.dtype, state)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _ov_count(x: Shape | None, w: Shape | None, weights: int, extra: int, *lists: Ints) -> int | None:
    """The number of spatial axes; filters have ``extra`` axes more than the data. Raises a ``RANK_MISMATCH`` fault."""
    expect_spatial_rank(x, highest=5)
    if x is not None:
        axes = f"{extra} more than input 0, {shape_text(x)}" if extra else f"as input 0, {shape_text(x)}, has them"
        expect_rank(w, len(x) + extra, weights, axes)
        return len(x) - 2
    if w is not None:
        expect_spatial_rank(w[extra:])
        return len(w) - 2 - extra
    return next((len(values) for values in lists if values), None)


def _ov_kernel(w: Shape | None, count: int) -> tuple[Shape, bool]:
    """The spatial sizes of filters, and whether they are sound: the library takes a kernel of 0 in silence."""
    kernel: Shape = (None,) * count if w is None else w[len(w) - count :]
    return kernel, expect_range(kernel, 1, "filters", Severity.WARNING)


def _ov_convolved(
    x: Shape | None,
    w: Shape | None,
    attributes: tuple[Ints, Ints, Ints, Ints, PadType],
    weights: int = 1,
    extra: int = 0,
) -> Shape | None:
    """The spatial sizes of an OpenVINO convolution, None where their number is not known.

    ``attributes`` are strides, dilations, pads_begin, pads_end and auto_pad.
    """
    count = _ov_count(x, w, weights, extra, *attributes[:4])
    if count is None:
        return None
    kernel, sound = _ov_kernel(w, count)
    window = openvino_window(count, kernel, *attributes)
    return window_sizes(x, window if sound else None, count)


@openvino("Convolution", absent=_EMPTY)
def ov_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO Convolution-1: filters [C_out, C_in, k1, …]."""
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, filters))
    return Tensor(dtype, _plain(data, filters, (strides, dilations, pads_begin, pads_end, auto_pad)))


def _plain(data: Tensor, filters: Tensor, attributes: tuple[Ints, Ints, Ints, Ints, PadType]) -> Shape | None:
    x, w = data.shape, filters.shape
    sizes = _ov_convolved(x, w, attributes)
    _expect_channels(x, w, _dim(w, 1), 2, 1, "")
    return None if sizes is None else arranged(_dim(x, 0), _dim(w, 0), sizes)


@openvino("BinaryConvolution", absent={**_EMPTY, "mode": "xnor-popcount", "pad_value": 0.0})
def ov_binary_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    mode: BinaryMode,
    pad_value: float,
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO BinaryConvolution-1: two spatial axes; the result has the type of the data."""
    expect_type(data, 0, ARITHMETIC)
    expect_rank(data.shape, 4, 0, "batch, channels, height and width")
    return Tensor(data.dtype, _plain(data, filters, (strides, dilations, pads_begin, pads_end, auto_pad)))


def _grouped_channels(x: Shape | None, w: Shape | None, own: int) -> MaybeDim:
    """The groups of filters [G, …] whose axis ``own`` holds the input channels of one group."""
    if x is None or w is None:
        return _dim(w, 0)
    wanted = _times(w[0], w[own])
    _expect_channels(x, w, wanted, 2, 1, f" ({w[own]} for each of {w[0]} groups)")
    part = w[own]
    if isinstance(w[0], int) or x[1] is None or part is None:
        return w[0]
    if isinstance(part, int) and part:
        _expect_groups(part, x[1], 0, 1, "input channels", "channels of a group")
    return _surer(w[0], quotient(x[1], part))


@openvino("GroupConvolution", absent=_EMPTY)
def ov_group_convolution(
    data: Tensor,
    filters: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
) -> Tensor:
    """OpenVINO GroupConvolution-1: filters [G, C_out / G, C_in / G, k1, …]."""
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, filters))
    x, w = data.shape, filters.shape
    sizes = _ov_convolved(x, w, (strides, dilations, pads_begin, pads_end, auto_pad), extra=1)
    groups = _grouped_channels(x, w, 2)
    return Tensor(dtype, None if sizes is None else arranged(_dim(x, 0), _times(groups, _dim(w, 1)), sizes))


@openvino("ConvolutionBackpropData", absent=_EMPTY)
@openvino("GroupConvolutionBackpropData", absent=_EMPTY)
def ov_convolution_backprop_data(
    data: Tensor,
    filters: Tensor,
    output_shape: Tensor | None = None,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
    output_padding: Ints = (),
    context: Context,
) -> Tensor:
    """OpenVINO (Group)ConvolutionBackpropData-1: filters [C_in, C_out, k1, …], or [G, C_in / G, C_out / G, k1, …].

    Without ``output_shape`` SAME means no padding.
    """
    extra = 1 if context.op == "GroupConvolutionBackpropData" else 0
    expect_type(data, 0, ARITHMETIC)
    expect_type(output_shape, 2, INTEGERS)
    dtype = common_type((data, filters))
    x, w = data.shape, filters.shape
    count = _ov_count(x, w, 1, extra, _as_list(output_shape), strides, dilations, pads_begin, pads_end)
    if count is None:
        return Tensor(dtype)
    kernel, sound = _ov_kernel(w, count)
    pad_type = "valid" if auto_pad.startswith("same") else auto_pad
    window = openvino_window(count, kernel, strides, dilations, pads_begin, pads_end, pad_type)
    added = per_axis(output_padding or None, count, "output_padding", 0)
    if extra:
        channels = _times(_grouped_channels(x, w, 1), _dim(w, 2))
    else:
        _expect_channels(x, w, _dim(w, 0), 2, 1, "")
        channels = _dim(w, 1)
    if output_shape is not None:
        sizes = _given_sizes(output_shape, count)
    else:
        sizes = transposed_sizes(x, window if sound else None, count, added, lenient=True)
    return Tensor(dtype, arranged(_dim(x, 0), channels, sizes))


def _as_list(output_shape: Tensor | None) -> Ints:
    """As many entries as ``output_shape`` has, where that is known."""
    if output_shape is None or not output_shape.shape or not isinstance(output_shape.shape[0], int):
        return ()
    return (1,) * output_shape.shape[0]


def _given_sizes(output_shape: Tensor, count: int) -> Shape:
    """The spatial sizes that the input ``output_shape`` holds. Raises an ``OPERAND_MISMATCH`` fault."""
    expect_shape(output_shape, 2, "output_shape", (count,), "an entry for each spatial axis")
    sizes = output_shape.ints
    if sizes is None:
        return (None,) * count
    for position, size in enumerate(sizes):
        if at_least(size, 0) is False:
            raise OPERAND_MISMATCH.fault(
                f"entry {position} of input 2 (output_shape) is {size}; a size is at least 0",
                help="write the size of the output on each spatial axis",
                input=2,
            )
    return sizes


@openvino("DeformableConvolution", until=7, absent={**_EMPTY, "group": 0, "deformable_group": 0})
def ov_deformable_convolution_1(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
    group: int,
    deformable_group: int,
) -> Tensor:
    """OpenVINO DeformableConvolution-1."""
    attributes = (strides, dilations, pads_begin, pads_end, auto_pad)
    return _ov_deformed(data, offsets, filters, None, attributes, group, deformable_group)


@openvino("DeformableConvolution", since=8, absent={**_EMPTY, "group": 0, "deformable_group": 0})
def ov_deformable_convolution_8(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    mask: Tensor | None = None,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
    group: int,
    deformable_group: int,
    bilinear_interpolation_pad: bool = False,
) -> Tensor:
    """OpenVINO DeformableConvolution-8, with a weight for each element of each window."""
    expect_type(mask, 3, ARITHMETIC)
    attributes = (strides, dilations, pads_begin, pads_end, auto_pad)
    return _ov_deformed(data, offsets, filters, mask, attributes, group, deformable_group)


def _ov_deformed(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    mask: Tensor | None,
    attributes: tuple[Ints, Ints, Ints, Ints, PadType],
    group: int,
    deformable_group: int,
) -> Tensor:
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, offsets, filters))
    x, w = data.shape, filters.shape
    for index, tensor in enumerate((data, offsets, filters, mask)):
        expect_rank(None if tensor is None else tensor.shape, 4, index, "two of them spatial")
    _expect_groups(group, _dim(x, 1), 0, 1, "input channels")
    _expect_groups(group, _dim(w, 0), 2, 0, "output channels")
    _expect_groups(deformable_group, _dim(offsets.shape, 1), 1, 1, "offsets", "deformable_group")
    _expect_channels(x, w, _times(_dim(w, 1), group), 2, 2, f" ({_dim(w, 1)} for each of {group} groups)")
    sizes = _ov_convolved(x, w, attributes, weights=2)
    if sizes is None:
        if offsets.shape is None:
            return Tensor(dtype)
        sizes = (None, None)
    elements = None if w is None else product((*w[2:], deformable_group))
    batch = _dim(x, 0)
    expect_shape(offsets, 1, "offsets", (batch, _times(elements, 2), *sizes), "two for each element of the kernel")
    sizes = tuple(_surer(size, _dim(offsets.shape, axis)) for axis, size in enumerate(sizes, 2))
    expect_shape(mask, 3, "mask", (batch, elements, *sizes), "one for each element of the kernel")
    return Tensor(dtype, arranged(_surer(batch, _dim(offsets.shape, 0)), _dim(w, 0), sizes))
