"""BatchNormalization in inference and training mode, and OpenVINO's BatchNormInference."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Shape, same
from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.nn.normalization import CHANNEL_PARAMETERS, channels_of, checked_channels, expect_epsilon, with_channels
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.broadcast import merged
from irlint.ops.shared.contents import extent
from irlint.ops.shared.element_types import REAL, common_type, expect_type
from irlint.ops.shared.expectations import expect_rank

TRAINING_OUTPUTS = Rule(
    "IRL326",
    "training-outputs-mismatch",
    Severity.ERROR,
    "The number of outputs contradicts the training mode.",
    why=(
        "With `training_mode`, BatchNormalization returns Y, the running mean and the running variance. Without "
        "`training_mode`, it returns only Y. ONNX Runtime refuses any other number of outputs."
    ),
    fix="Remove the extra outputs, or correct `training_mode`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[1,3,8] y, float[3] n, float[3] w)
{ y, n, w = BatchNormalization (x, s, b, m, v) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[1,3,8] y)
{ y = BatchNormalization (x, s, b, m, v) }""",
    refused=(Refusal("onnxruntime", ("dead",)),),
)


VARIANCE_NEGATIVE = Rule(
    "IRL731",
    "variance-negative",
    Severity.WARNING,
    "A variance is negative or NaN.",
    why=(
        "The values are divided by the square root of the variance plus epsilon. If this sum is negative, it has no "
        "square root, and the channel becomes NaN. Runtimes report no error."
    ),
    fix="Export the statistics again. A variance is at least 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b, float[2] m) => (float[1,2,3] y) <float[2] v = {1.0, -0.5}>
{ y = BatchNormalization (x, s, b, m, v) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b, float[2] m) => (float[1,2,3] y) <float[2] v = {1.0, 0.5}>
{ y = BatchNormalization (x, s, b, m, v) }""",
    uncalled=False,
    role="nan",
)


def _warn_of_variance(var: Tensor, epsilon: float) -> None:
    span = extent(var)
    if span is None or not (span.nans or (span.least is not None and span.least + max(epsilon, 0) < 0)):
        return
    found = "NaN" if span.nans else f"{span.least:g}"
    warn(
        VARIANCE_NEGATIVE.fault(
            f"input 4 (var) contains {found}, and epsilon is {epsilon:g}: their sum has no square root",
            help="export the statistics again",
            input=4,
        )
    )


def _batch_normalized(
    x: Tensor, scale: Tensor, b: Tensor, *, mean: Tensor, var: Tensor, epsilon: float, spatial: bool = True
) -> tuple[Tensor, Shape | None]:
    """(Y, shape of the statistics). If not ``spatial``, each element of an example has its own parameters."""
    expect_rank(x, 0, least=1, what="X")
    _warn_of_variance(var, epsilon)
    names = ("scale", "B", "mean", "var")
    parameters = [(position, name, p.shape) for position, (name, p) in enumerate(zip(names, (scale, b, mean, var)), 1)]
    if not spatial:
        merged((None, *(shape for _, _, shape in parameters)), why="all parameters must have the same shape")
        return Tensor(x.dtype, x.shape), scale.shape
    channels = checked_channels(x.shape, parameters, channels_of(x.shape))
    return Tensor(x.dtype, with_channels(x.shape, channels)), (channels,)


def _expect_1_or_5_outputs(outputs: int) -> None:
    if outputs not in (1, 5):
        raise TRAINING_OUTPUTS.fault(
            f"the node has {counted(outputs, 'output')}; before opset 14, it must have 1 output, or 5 outputs for "
            "training",
            help="remove the outputs from index 1 on",
        )


@onnx("BatchNormalization", since=14)
def batch_normalization(
    x: Tensor,
    scale: Tensor,
    b: Tensor,
    input_mean: Tensor,
    input_var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX BatchNormalization-14: Y and, in training mode, the running mean and variance."""
    y, statistics = _batch_normalized(x, scale, b, mean=input_mean, var=input_var, epsilon=epsilon)
    wanted = 3 if training_mode else 1
    if context.outputs != wanted:
        raise TRAINING_OUTPUTS.fault(
            f"the node has {counted(context.outputs, 'output')}; with training_mode={training_mode} it must have "
            f"{wanted}",
            help="remove the outputs from index 1 on"
            if wanted == 1
            else "add all three outputs, or remove training_mode",
            attribute="training_mode",
        )
    return y, Tensor(input_mean.dtype, statistics), Tensor(input_var.dtype, statistics)


@onnx("BatchNormalization", since=9)
def batch_normalization_9(
    x: Tensor,
    scale: Tensor,
    b: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX BatchNormalization-9: Y and, if the node has five outputs, four statistics."""
    _expect_1_or_5_outputs(context.outputs)
    y, statistics = _batch_normalized(x, scale, b, mean=mean, var=var, epsilon=epsilon)
    return (y, *[Tensor(x.dtype, statistics)] * 4)


@onnx("BatchNormalization", since=7)
def batch_normalization_7(
    x: Tensor,
    scale: Tensor,
    b: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    spatial: int = 1,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX BatchNormalization-7: Y and, if the node has five outputs, four statistics."""
    _expect_1_or_5_outputs(context.outputs)
    y, statistics = _batch_normalized(x, scale, b, mean=mean, var=var, epsilon=epsilon, spatial=bool(spatial))
    return (y, *[Tensor(x.dtype, statistics)] * 4)


@onnx("BatchNormalization", since=6)
def batch_normalization_6(
    x: Tensor,
    scale: Tensor,
    b: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    epsilon: float = 1e-5,
    is_test: int = 0,
    momentum: float = 0.9,
    spatial: int = 1,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX BatchNormalization-6."""
    return batch_normalization_7(x, scale, b, mean, var, epsilon=epsilon, spatial=spatial, context=context)


@onnx("BatchNormalization", since=1)
def batch_normalization_1(
    x: Tensor,
    scale: Tensor,
    b: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    consumed_inputs: Ints,
    epsilon: float = 1e-5,
    is_test: int = 0,
    momentum: float = 0.9,
    spatial: int = 1,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX BatchNormalization-1."""
    return batch_normalization_7(x, scale, b, mean, var, epsilon=epsilon, spatial=spatial, context=context)


def _ov_batch_normalized(
    data: Tensor, index: int, parameters: Sequence[tuple[int, str, Tensor]], *, epsilon: float
) -> Tensor:
    """The normalized ``data``. Each of ``parameters`` is (input index, name, tensor), and the last is the variance."""
    inputs = ((index, "data", data), *parameters)
    for position, _, tensor in inputs:
        expect_type(tensor, position, REAL)
    dtype = common_type([tensor for _, _, tensor in sorted(inputs, key=lambda entry: entry[0])])
    expect_epsilon(epsilon)
    _warn_of_variance(parameters[-1][2], epsilon)
    expect_rank(data, index, least=2, what="data, after gamma and beta" if index else "data")
    shapes = [(position, name, tensor.shape) for position, name, tensor in parameters]
    channels = checked_channels(data.shape, shapes, None if data.shape is None else data.shape[1], index=index)
    if same(channels, 0):
        raise CHANNEL_PARAMETERS.fault(
            f"input {index}, {shape_text(data.shape)}, has 0 channels; it needs at least 1",
            help="make sure that axis 1 is not empty",
            input=index,
        )
    return Tensor(dtype, with_channels(data.shape, channels))


@openvino("BatchNormInference", until=4, absent={"epsilon": 0.0})
def ov_batch_norm_1(
    gamma: Tensor, beta: Tensor, data: Tensor, mean: Tensor, variance: Tensor, *, epsilon: float
) -> Tensor:
    """OpenVINO BatchNormInference-1."""
    parameters = ((0, "gamma", gamma), (1, "beta", beta), (3, "mean", mean), (4, "variance", variance))
    return _ov_batch_normalized(data, 2, parameters, epsilon=epsilon)


@openvino("BatchNormInference", since=5, absent={"epsilon": 0.0})
def ov_batch_norm_5(
    data: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, *, epsilon: float
) -> Tensor:
    """OpenVINO BatchNormInference-5."""
    parameters = ((1, "gamma", gamma), (2, "beta", beta), (3, "mean", mean), (4, "variance", variance))
    return _ov_batch_normalized(data, 0, parameters, epsilon=epsilon)
