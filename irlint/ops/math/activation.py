"""Activations with parameters, Clip, Dropout, Softmax, and tests for NaN and infinity."""

from __future__ import annotations

import math

from irlint.dims import Shape, product, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared import contents as fold
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.broadcast import UNIDIRECTIONAL_MISMATCH, merged, stretched, stretches
from irlint.ops.shared.compiling import Layer, constants_at, not_compiled
from irlint.ops.shared.element_types import ARITHMETIC, REAL, common_type, expect_type
from irlint.ops.shared.expectations import expect_one

Approximate = Literal["none", "tanh"]
ApproximationMode = Literal["ERF", "TANH"]

RANGE_EMPTY = Rule(
    "IRL328",
    "clip-range-empty",
    Severity.ERROR,
    "The lower limit is greater than the upper limit.",
    why="The range is empty. ONNX Runtime (Clip below opset 11) and OpenVINO (Clamp) refuse the model.",
    fix="Swap the limits.",
    bad="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3] x) => (float[2,3] y) { y = Clip <min = 6.0, max = 0.0> (x) }""",
    good="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3] x) => (float[2,3] y) { y = Clip <min = 0.0, max = 6.0> (x) }""",
)


def unchanged(x: Tensor) -> Tensor:
    """The output of an operator that keeps the shape and the element type of its input, but not the values."""
    return Tensor(x.dtype, x.shape)


# --- activations ------------------------------------------------------------------------------------------------------


@onnx("LeakyRelu", since=6)
@openvino("Elu", absent={"alpha": 0.0}, ignores_extra_inputs=True)
def leaky(x: Tensor, *, alpha: float = 0.01) -> Tensor:
    """ONNX LeakyRelu-6; OpenVINO Elu-1, which accepts any element type."""
    return unchanged(x)


@onnx("LeakyRelu", since=1)
def leaky_relu_1(x: Tensor, *, alpha: float = 0.01, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX LeakyRelu-1."""
    return unchanged(x)


@onnx("Elu", since=6)
@onnx("Celu", since=12)
@onnx("ThresholdedRelu", since=10, early=True)
@onnx("Swish", since=24)
def with_alpha(x: Tensor, *, alpha: float = 1.0) -> Tensor:
    """ONNX Elu-6, Celu-12, ThresholdedRelu-10 and Swish-24."""
    return unchanged(x)


@onnx("SwiGLU", since=28)
def swiglu(a: Tensor, b: Tensor, *, alpha: float = 1.0) -> Tensor:
    """ONNX SwiGLU-28: both inputs have the same shape, without broadcasting."""
    return Tensor(a.dtype, merged((a.shape, b.shape), why="gate and value have the same shape"))


@onnx("Elu", since=1)
def elu_1(x: Tensor, *, alpha: float = 1.0, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX Elu-1."""
    return unchanged(x)


@onnx("Selu", since=6)
def selu(x: Tensor, *, alpha: float = 1.6732631921768188, gamma: float = 1.0507010221481323) -> Tensor:
    """ONNX Selu-6."""
    return unchanged(x)


@onnx("Selu", since=1)
def selu_1(x: Tensor, *, alpha: float = 1.6732, gamma: float = 1.0507, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX Selu-1."""
    return unchanged(x)


@openvino("Selu", compiles=constants_at(1, 2), ignores_extra_inputs=True)
def ov_selu(x: Tensor, alpha: Tensor, lambda_value: Tensor) -> Tensor:
    """OpenVINO Selu-1: the parameters may have any shape."""
    for index, tensor in enumerate((x, alpha, lambda_value)):
        expect_type(tensor, index, REAL)
    return Tensor(common_type((x, alpha, lambda_value)), x.shape)


@onnx("HardSigmoid", since=6)
def hard_sigmoid(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5) -> Tensor:
    """ONNX HardSigmoid-6."""
    return unchanged(x)


@onnx("HardSigmoid", since=1)
def hard_sigmoid_1(x: Tensor, *, alpha: float = 0.2, beta: float = 0.5, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX HardSigmoid-1."""
    return unchanged(x)


@openvino("HardSigmoid", compiles=constants_at(1, 2), ignores_extra_inputs=True)
def ov_hard_sigmoid(x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """OpenVINO HardSigmoid-1."""
    expect_one(alpha, 1, "alpha", scalar=True)
    expect_one(beta, 2, "beta", scalar=True)
    return Tensor(common_type((x, alpha, beta)), x.shape)


@openvino("Swish", since=4)
def ov_swish(x: Tensor, beta: Tensor | None = None) -> Tensor:
    """OpenVINO Swish-4."""
    expect_type(x, 0, REAL)
    expect_one(beta, 1, "beta", scalar=True)
    return Tensor(common_type((x, beta)), x.shape)


@onnx("Gelu", since=20)
def gelu(x: Tensor, *, approximate: Approximate = "none") -> Tensor:
    """ONNX Gelu-20."""
    return unchanged(x)


@openvino("Gelu", since=2, until=6)
def ov_gelu_2(x: Tensor) -> Tensor:
    """OpenVINO Gelu-2."""
    expect_type(x, 0, REAL)
    return unchanged(x)


@openvino("Gelu", since=7)
def ov_gelu_7(x: Tensor, *, approximation_mode: ApproximationMode = "ERF") -> Tensor:
    """OpenVINO Gelu-7."""
    expect_type(x, 0, REAL)
    return unchanged(x)


@onnx("Shrink", since=9)
def shrink(x: Tensor, *, bias: float = 0.0, lambd: float = 0.5) -> Tensor:
    """ONNX Shrink-9."""
    return unchanged(x)


@onnx("IsNaN", since=9)
def is_nan(x: Tensor) -> Tensor:
    """ONNX IsNaN-9."""
    return Tensor("bool", x.shape)


@onnx("IsInf", since=10)
def is_inf(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    """ONNX IsInf-10."""
    return Tensor("bool", x.shape)


@openvino("IsFinite", "IsNaN", since=10, ignores_extra_inputs=True)
def ov_is(x: Tensor) -> Tensor:
    """OpenVINO IsFinite-10 and IsNaN-10."""
    expect_type(x, 0, REAL)
    return Tensor("bool", x.shape)


@openvino("IsInf", since=10, ignores_extra_inputs=True)
def ov_is_inf(x: Tensor, *, detect_negative: bool = True, detect_positive: bool = True) -> Tensor:
    """OpenVINO IsInf-10."""
    return ov_is(x)


# --- PRelu ------------------------------------------------------------------------------------------------------------


@onnx("PRelu", since=7)
def prelu(x: Tensor, slope: Tensor) -> Tensor:
    """ONNX PRelu-7: the slope is broadcast to the input."""
    return Tensor(x.dtype or slope.dtype, stretched(x.shape, slope.shape, 1, what="input 1 (slope)"))


@onnx("PRelu", since=6)
def prelu_per_channel(x: Tensor, slope: Tensor) -> Tensor:
    """ONNX PRelu-6: the slope has one element, or one element for each channel (axis 1)."""
    _expect_slopes(x.shape, slope.shape)
    return Tensor(x.dtype or slope.dtype, x.shape)


@onnx("PRelu", since=1)
def prelu_1(x: Tensor, slope: Tensor, *, consumed_inputs: Ints | None = None) -> Tensor:
    """ONNX PRelu-1."""
    return prelu_per_channel(x, slope)


def _expect_slopes(shape: Shape | None, slope: Shape | None) -> None:
    count = None if slope is None else product(slope)
    channels = None if shape is None or len(shape) < 2 else shape[1]
    if stretches(count, channels, "the slope has one element for each channel"):
        return
    raise UNIDIRECTIONAL_MISMATCH.fault(
        f"input 1 (slope) has {counted(count, 'element')}; before opset 7, it needs 1 element, or {channels}, one for "
        "each channel of input 0",
        help=f"give input 1 the shape [{channels}]",
        input=1,
        marks=((0, 1),),
    )


@openvino("PRelu", spellings=("PReLU",), kept=True)
def ov_prelu(x: Tensor, slope: Tensor) -> Tensor:
    """OpenVINO PRelu-1: the slope has one element for each channel, or is broadcast to the input."""
    if x.shape is None or slope.shape is None or _is_per_channel(x.shape, slope.shape):
        return unchanged(x)
    clashes = [
        (axis, of_slope)
        for axis, of_slope in zip(range(len(x.shape) - 1, -1, -1), range(len(slope.shape) - 1, -1, -1))
        if same(slope.shape[of_slope], x.shape[axis]) is False and same(slope.shape[of_slope], 1) is False
    ]
    if clashes:
        raise UNIDIRECTIONAL_MISMATCH.fault(
            f"input 1 (slope) is {shape_text(slope.shape)} and input 0 is {shape_text(x.shape)}: the slope has not one "
            "number for each channel, and cannot be broadcast to input 0",
            help="give input 1 one element, or one element for each channel (axis 1) of input 0",
            input=1,
            marks=tuple(mark for axis, of_slope in clashes for mark in ((0, axis), (1, of_slope))),
        )
    return unchanged(x)


def _is_per_channel(shape: Shape, slope: Shape) -> bool:
    return len(slope) == 1 and len(shape) > 1 and same(slope[0], shape[1]) is not False


# --- Clip -------------------------------------------------------------------------------------------------------------


def clipped(x: Tensor, low: Scalar, high: Scalar) -> Tensor:
    """``x`` clamped to ``low`` and ``high``; None is an unknown limit."""

    def clamped(entry: Scalar) -> Scalar:
        raised = entry if low == -math.inf else fold.greater(entry, low)
        return raised if high == math.inf else fold.lesser(raised, high)

    is_known = low is not None and high is not None
    return fold.computed(clamped if is_known else None, (x,), x.shape, dtype=x.dtype)


@onnx("Clip", since=11)
def clip(x: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """ONNX Clip-11. If ``min`` is greater than ``max``, the result is ``max``."""
    expect_one(min, 1, "min")
    expect_one(max, 2, "max")
    low: Scalar = -math.inf if min is None else min.scalar
    high: Scalar = math.inf if max is None else max.scalar
    return clipped(x, low, high)


def _expect_range(low: float | None, high: float | None) -> None:
    if low is None or high is None or low <= high:
        return
    raise RANGE_EMPTY.fault(
        f"attribute `min` is {low:g} and attribute `max` is {high:g}: `min` has to be at most `max`",
        help="swap the two limits",
        attribute="min",
    )


@onnx("Clip", since=6)
def clip_by_attribute(x: Tensor, *, min: float = -3.4028234663852886e38, max: float = 3.4028234663852886e38) -> Tensor:
    """ONNX Clip-6."""
    _expect_range(min, max)
    return unchanged(x)


@onnx("Clip", since=1)
def clip_1(
    x: Tensor, *, min: float | None = None, max: float | None = None, consumed_inputs: Ints | None = None
) -> Tensor:
    """ONNX Clip-1."""
    _expect_range(min, max)
    return unchanged(x)


@openvino("Clamp", absent={"min": 0.0, "max": 0.0}, ignores_extra_inputs=True)
def clamp(x: Tensor, *, min: float, max: float) -> Tensor:
    """OpenVINO Clamp-1: any numeric element type."""
    expect_type(x, 0, ARITHMETIC)
    _expect_range(min, max)
    integral = all(math.isinf(limit) or limit.is_integer() for limit in (min, max))
    return clipped(x, min, max) if integral else unchanged(x)


# --- Dropout ----------------------------------------------------------------------------------------------------------


@onnx("Dropout", since=12)
def dropout(
    data: Tensor, ratio: Tensor | None = None, training_mode: Tensor | None = None, *, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    """ONNX Dropout-12: the mask is boolean."""
    expect_one(ratio, 1, "ratio", scalar=True)
    expect_one(training_mode, 2, "training_mode", scalar=True)
    return unchanged(data), Tensor("bool", data.shape)


@onnx("Dropout", since=10)
def dropout_10(data: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """ONNX Dropout-10: the mask is boolean."""
    return unchanged(data), Tensor("bool", data.shape)


@onnx("Dropout", since=7)
def dropout_7(data: Tensor, *, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """ONNX Dropout-7: the mask has the input's element type."""
    return unchanged(data), unchanged(data)


@onnx("Dropout", since=6)
def dropout_6(data: Tensor, *, is_test: int = 0, ratio: float = 0.5) -> tuple[Tensor, Tensor]:
    """ONNX Dropout-6."""
    return unchanged(data), unchanged(data)


@onnx("Dropout", since=1)
def dropout_1(
    data: Tensor, *, consumed_inputs: Ints | None = None, is_test: int = 0, ratio: float = 0.5
) -> tuple[Tensor, Tensor]:
    """ONNX Dropout-1."""
    return unchanged(data), unchanged(data)


# --- Softmax ----------------------------------------------------------------------------------------------------------


def along_axis(x: Tensor, axis: int, scalar: bool = False, *, negative: bool = True) -> Tensor:
    """``x`` without its values, after checking that it has the axis. ``scalar``: axis 0 of a scalar is accepted.

    Raises an ``AXIS_OUT_OF_RANGE`` fault; unless ``negative``, negative axes are out of range.
    """
    if x.shape is not None:
        axis_of(axis, max(len(x.shape), 1) if scalar else len(x.shape), "attribute `axis`", negative=negative)
    return unchanged(x)


@onnx("Softmax", "LogSoftmax", "Hardmax", since=13, scratch=("transposed",))
def softmax(x: Tensor, *, axis: int = -1) -> Tensor:
    """ONNX Softmax, LogSoftmax and Hardmax from opset 13 on."""
    return along_axis(x, axis)


@onnx("Softmax", "LogSoftmax", "Hardmax", since=1)
def softmax_of_matrix(x: Tensor, *, axis: int = 1) -> Tensor:
    """ONNX Softmax, LogSoftmax and Hardmax before opset 13: the axes from ``axis`` on count as one."""
    return along_axis(x, axis)


@openvino(
    "Softmax", until=7, absent={"axis": 0}, documented={"axis": 1}, spellings=("SoftMax",), ignores_extra_inputs=True
)
def ov_softmax_1(x: Tensor, *, axis: int) -> Tensor:
    """OpenVINO Softmax-1. The default axis is 1 in the specification and 0 in the library."""
    return along_axis(x, axis, scalar=True, negative=False)


def _without_booleans(layer: Layer) -> Fault | None:
    if layer.dtype(0) != "bool":
        return None
    return not_compiled(
        "input 0 is bool, but the CPU plugin computes the operation with reductions, which need numbers",
        help="convert input 0 to f32",
        input=0,
        forbidden=True,
    )


@openvino("Softmax", since=8, ignores_extra_inputs=True)
@openvino("LogSoftmax", since=5, compiles=_without_booleans, ignores_extra_inputs=True)
def ov_softmax_8(x: Tensor, *, axis: int = 1) -> Tensor:
    """OpenVINO Softmax-8 and LogSoftmax-5."""
    return along_axis(x, axis, scalar=True)
