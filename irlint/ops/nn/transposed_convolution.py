"""Transposed convolutions in both formats."""

from __future__ import annotations

from irlint.dims import Shape, at_least, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import reaches, warn
from irlint.model.tensor import CONTENTS_LIMIT, INTEGERS, Tensor
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_range
from irlint.ops.shared.axes import Floats, Ints
from irlint.ops.shared.compiling import Layer, first_of, known_filters, not_compiled, without_negatives
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.shared.filters import (
    ABSENT_LISTS,
    expect_bias,
    expect_channels,
    expect_groups,
    group_count,
    kernel_of,
    ov_kernel,
    ov_spatial_count,
    spatial_count,
)
from irlint.ops.shared.operands import OPERAND_MISMATCH, expect_shape
from irlint.ops.shared.sizes import dim_of
from irlint.ops.shared.windows import (
    OnnxWindow,
    OpenvinoWindow,
    Window,
    arranged,
    expect_one_padding,
    onnx_window,
    openvino_window,
    per_axis,
    spatial,
    transposed_size,
    transposed_sizes,
)
from irlint.records import replaced
from irlint.schemas import NHWC

OUTPUT_SHAPE_UNREACHABLE = Rule(
    "IRL319",
    "output-shape-unreachable",
    Severity.WARNING,
    "A transposed convolution requests a larger output than ONNX Runtime supports.",
    why=(
        "For n input elements, a window of k and a stride of s, the windows cover s * (n - 1) + k elements. The output "
        "may have up to s - 1 elements more, because a convolution with this stride ignores them. ONNX Runtime refuses "
        'a larger output ("inconsistent with input spatial dimensions"), although the specification allows an '
        "`output_padding` of up to the dilation - 1, even if this is the stride or more."
    ),
    fix="Request a smaller output (`output_shape`, `output_padding`), and add the missing elements with a Pad node.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,5,5] x, float[4,2,3,3] w) => (float[1,2,20,20] y) {
  y = ConvTranspose <strides = [2, 2], output_shape = [20, 20]> (x, w)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,5,5] x, float[4,2,3,3] w) => (float[1,2,12,12] y) {
  y = ConvTranspose <strides = [2, 2], output_shape = [12, 12]> (x, w)
}""",
)


@onnx("ConvTranspose", since=1, macs=("scattered", "X", "W"), scratch=("columns", "X", "W"))
def conv_transpose(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
) -> Tensor:
    """ONNX ConvTranspose."""
    shape = _transposed(
        X.shape,
        W.shape,
        window,
        group=group,
        kernel_shape=kernel_shape,
        output_padding=output_padding,
        output_shape=output_shape,
    )
    expect_bias(B, None if shape is None else shape[1], 2)
    return Tensor(X.dtype, shape)


@onnx("ConvTranspose", domain=NHWC, macs=("scattered", "X", "W"))
def nhwc_conv_transpose(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    *,
    window: OnnxWindow,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    output_shape: Ints | None = None,
    activation: str = "",
    activation_params: Floats | None = None,
) -> Tensor:
    """com.ms.internal.nhwc ConvTranspose: the channels are the last axis of X and Y."""
    shape = _transposed(
        X.shape,
        W.shape,
        window,
        group=group,
        kernel_shape=kernel_shape,
        output_padding=output_padding,
        output_shape=output_shape,
        first=1,
    )
    return Tensor(X.dtype, shape)


def _transposed(
    x: Shape | None,
    w: Shape | None,
    window: OnnxWindow,
    *,
    group: int,
    kernel_shape: Ints | None,
    output_padding: Ints | None,
    output_shape: Ints | None,
    first: int = 2,
) -> Shape | None:
    """The shape of an ONNX transposed convolution; ``first`` is the first spatial axis."""
    count = spatial_count(x, w, (kernel_shape, window.strides, window.dilations, output_shape))
    expect_one_padding(window)
    if count is None:
        return None
    resolved = onnx_window(window, count, kernel_of(w, count, kernel_shape), first=first)
    expect_groups(group, dim_of(w, 0), "input channels", index=1, axis=0)
    expect_channels(x, w, dim_of(w, 0), first=first)
    added = _output_padding(output_padding, resolved, output_shape is not None)
    channels = product((dim_of(w, 1), group))
    if output_shape is None:
        return arranged(dim_of(x, 0), channels, transposed_sizes(x, resolved, count, output_padding=added), first=first)
    sizes = per_axis(output_shape, count, "output_shape")
    expect_range(sizes, 1, "output_shape")
    _warn_of_uncovered(x, resolved, sizes)
    return arranged(dim_of(x, 0), channels, sizes, first=first)


def _output_padding(output_padding: Ints | None, window: Window, has_output_shape: bool) -> Ints:
    added = per_axis(output_padding, len(window.strides), "output_padding", default=0)
    expect_range(added, 0, "output_padding")
    for position, extra in enumerate(added):
        stride, dilation = window.strides[position], window.dilations[position]
        if extra >= max(stride, dilation):
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"entry {position} of `output_padding` is {extra}, the stride is {stride} and the dilation is "
                f"{dilation}: the entry must be less than the stride or the dilation",
                help=f"write at most {max(stride, dilation) - 1}",
                attribute="output_padding",
            )
        if extra >= stride and not has_output_shape:
            warn(
                OUTPUT_SHAPE_UNREACHABLE.fault(
                    f"entry {position} of `output_padding` is {extra}, the stride is {stride} and the dilation is "
                    f'{dilation}: by the specification, the entry "must be less than the corresponding '
                    'stride/dilation dimension", but ONNX Runtime requires less than the stride',
                    help=f"write at most {stride - 1}, and add the missing elements with a Pad node",
                    attribute="output_padding",
                )
            )
    return added


def _warn_of_uncovered(x: Shape | None, window: Window, sizes: Ints) -> None:
    if x is None:
        return
    for position, (size, wanted) in enumerate(zip(spatial(x, window.first), sizes)):
        span, stride = window.spans[position], window.strides[position]
        if size is None or span is None:
            continue
        full = transposed_size(size, span, stride, added=stride - 1)
        if not reaches(full, wanted, f"`output_shape` requires {wanted} on axis {window.first + position}"):
            warn(
                OUTPUT_SHAPE_UNREACHABLE.fault(
                    f"`output_shape` is {list(sizes)}: {wanted} on axis {window.first + position}, where input 0 is "
                    f"{size}, the stride is {stride} and the window spans {span}: at most {full} is possible",
                    help=f"write at most {full}, and add the missing elements with a Pad node",
                    attribute="output_shape",
                )
            )


def _compiled_target(layer: Layer) -> Fault | None:
    if layer.sizes(0) is None or 2 not in layer.varying:
        return None
    return not_compiled(
        "input 2 (output_shape) is computed when the model runs, and all sizes of input 0 are known: the CPU plugin "
        "requires a constant",
        help="make input 2 a constant, or make a size of input 0 dynamic",
        input=2,
    )


_COMPILED = first_of(known_filters, _compiled_target, without_negatives("strides", "pads_begin", "dilations"))


@openvino(
    "ConvolutionBackpropData",
    absent=ABSENT_LISTS,
    compiles=_COMPILED,
    confused_with=("GroupConvolutionBackpropData",),
    macs=("scattered", "data", "filters"),
)
@openvino(
    "GroupConvolutionBackpropData",
    absent=ABSENT_LISTS,
    fills_in=True,
    compiles=_COMPILED,
    confused_with=("ConvolutionBackpropData",),
    macs=("scattered", "data", "filters", 2),
)
def ov_convolution_backprop_data(
    data: Tensor,
    filters: Tensor,
    output_shape: Tensor | None = None,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
    output_padding: Ints = (),
    context: Context,
) -> Tensor:
    """OpenVINO ConvolutionBackpropData-1 and GroupConvolutionBackpropData-1."""
    extra = 1 if context.op == "GroupConvolutionBackpropData" else 0
    expect_type(data, 0, ARITHMETIC)
    expect_type(output_shape, 2, INTEGERS)
    dtype = common_type((data, filters))
    x, w = data.shape, filters.shape
    lists = (_list_of_length(output_shape), window.strides, dilations, window.pads_begin, window.pads_end)
    count = ov_spatial_count(x, w, lists, extra=extra)
    if count is None:
        return Tensor(dtype)
    kernel, is_valid = ov_kernel(w, count)
    # Without output_shape, OpenVINO adds no padding for SAME. With output_shape, padding does not change the sizes.
    if window.auto_pad.startswith("same"):
        window = replaced(window, auto_pad="valid")
    resolved = openvino_window(window, count, kernel, dilations=dilations)
    added = per_axis(output_padding or None, count, "output_padding", default=0)
    if extra:
        channels = product((group_count(x, w, 1), dim_of(w, 2)))
    else:
        expect_channels(x, w, dim_of(w, 0))
        channels = dim_of(w, 1)
    if output_shape is not None:
        sizes = _stated_sizes(output_shape, count)
    else:
        sizes = transposed_sizes(x, resolved if is_valid else None, count, output_padding=added, lenient=True)
    return Tensor(dtype, arranged(dim_of(x, 0), channels, sizes))


def _list_of_length(output_shape: Tensor | None) -> Ints:
    """A list of ones as long as ``output_shape``; empty if the length is unknown or too large."""
    count = output_shape.shape[0] if output_shape is not None and output_shape.shape else None
    return (1,) * count if isinstance(count, int) and count <= CONTENTS_LIMIT else ()


def _stated_sizes(output_shape: Tensor, count: int) -> Shape:
    expect_shape(output_shape, 2, "output_shape", wanted=(count,), why="an entry for each spatial axis")
    sizes = output_shape.ints
    if sizes is None:
        return (None,) * count
    for position, size in enumerate(sizes):
        if at_least(size, 0) is False:
            raise OPERAND_MISMATCH.fault(
                f"entry {position} of input 2 (output_shape) is {size}; a size must be at least 0",
                help="write the size of the output on each spatial axis",
                input=2,
            )
    return sizes
