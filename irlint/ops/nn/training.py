"""Losses, gradients and optimizer steps of ONNX."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx
from irlint.ops.shared.expectations import expect_rank

Reduction = Literal["none", "sum", "mean"]
MomentumMode = Literal["standard", "nesterov"]
Strings = tuple[str, ...]

TARGET_MISMATCH = Rule(
    "IRL515",
    "loss-target-mismatch",
    Severity.ERROR,
    "The shape of a loss's targets or weights contradicts the shape of the scores.",
    why=(
        "Scores have the shape [N, C, d1, …], with one number for each of the C classes. Targets contain class "
        "indices and have no class axis: [N, d1, …]. Weights have one element per class. Runtimes refuse other "
        "shapes when they load the model."
    ),
    fix=(
        "Give the targets the shape of the scores without axis 1. If the targets are class probabilities, use "
        "another loss."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[8,10] x, int64[9] target) => (float loss) { loss = NegativeLogLikelihoodLoss (x, target) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[8,10] x, int64[8] target) => (float loss) { loss = NegativeLogLikelihoodLoss (x, target) }""",
)

GROUPS_UNEVEN = Rule(
    "IRL516",
    "training-inputs-uneven",
    Severity.ERROR,
    "The inputs of a training operator do not form complete groups.",
    why=(
        "The first two inputs of an optimizer are the learning rate and the update count. Then it needs all optimized "
        "tensors, one gradient for each tensor, and one state of each kind for each tensor. It returns the updated "
        "tensors and states. Gradient needs one input for each name in `xs` and `zs`, and returns one output for each "
        "name in `xs`."
    ),
    fix="For each optimized tensor, connect one tensor of each kind, in the order of the kinds.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
g (float r, int64 t, float[2] x, float[2] dx) => (float[2] y) { y = ai.onnx.preview.training.Adagrad (r, t, x, dx) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : 1]>
g (float r, int64 t, float[2] x, float[2] dx, float[2] h) => (float[2] y, float[2] k)
{ y, k = ai.onnx.preview.training.Adagrad (r, t, x, dx, h) }""",
)


def loss_shape(scores: Shape | None, target: Shape | None, weight: Shape | None) -> Shape | None:
    """The shape of the losses: the shape of the scores [N, C, d1, …] without C. Raises a ``TARGET_MISMATCH`` fault."""
    if scores is not None and weight and not agree(scores[1], weight[0], "one weight for each class"):
        expected = f"expected [{scores[1]}], one weight for each class; ONNX Runtime reads only the weights it needs"
        warn(
            _loss_fault(scores, weight, ((0, 1), (2, 0)), name="weight", expected=expected, input=2).lowered(
                Severity.WARNING
            )
        )
    if scores is None or target is None:
        return target if scores is None else (scores[0], *scores[2:])
    wanted = (scores[0], *scores[2:])
    if len(wanted) != len(target):
        expected = f"expected {counted(len(wanted), 'axis', 'axes')}, {shape_text(wanted)}"
        raise _loss_fault(scores, target, (), name="target", expected=expected, input=1)
    result: list[MaybeDim] = []
    for axis, (a, b) in enumerate(zip(wanted, target)):
        of_scores = axis + (axis > 0)
        if not agree(a, b, f"axis {of_scores} of the scores is axis {axis} of the targets"):
            expected = f"axis {axis} is {b}, expected {a}, the size of axis {of_scores} of input 0"
            raise _loss_fault(scores, target, ((0, of_scores), (1, axis)), name="target", expected=expected, input=1)
        result.append(b if a is None or (isinstance(b, int) and not isinstance(a, int)) else a)
    return tuple(result)


def _loss_fault(
    scores: Shape, other: Shape, marks: tuple[tuple[int, int], ...], *, name: str, expected: str, input: int
) -> Fault:
    return TARGET_MISMATCH.fault(
        f"input 0 is {shape_text(scores)} and input {input} ({name}) is {shape_text(other)}: {expected}",
        help=f"give input {input} the expected shape, or correct input 0",
        input=input,
        marks=marks,
        aligned="left",
        remark="differ" if marks else "",
    )


@onnx("NegativeLogLikelihoodLoss", since=12, lenient=("reduction",))
def negative_log_likelihood_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """ONNX NegativeLogLikelihoodLoss-12: a scalar or, if ``reduction`` is "none", a loss for each target."""
    expect_rank(input, 0, least=2)
    expect_rank(weight, 2, 1)
    shape = loss_shape(input.shape, target.shape, None if weight is None else weight.shape)
    return Tensor(input.dtype, shape if reduction == "none" else ())


@onnx("SoftmaxCrossEntropyLoss", since=12, lenient=("reduction",))
def softmax_cross_entropy_loss(
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> tuple[Tensor, Tensor]:
    """ONNX SoftmaxCrossEntropyLoss-12: the loss, and the log probabilities."""
    loss = negative_log_likelihood_loss(scores, labels, weights, ignore_index=ignore_index, reduction=reduction)
    return loss, Tensor(scores.dtype, scores.shape)


# --- ai.onnx.preview.training -----------------------------------------------------------------------------------------


def stepped(inputs: tuple[Tensor, ...], states: int, context: Context) -> tuple[Tensor, ...]:
    """The outputs of an optimizer: the updated tensors, then their states. Raises a ``GROUPS_UNEVEN`` fault.

    ``inputs`` are all tensors, then all gradients, then all states. ``states`` is the number of states of a tensor.
    """
    groups = states + 2
    count, remainder = divmod(len(inputs), groups)
    if remainder:
        raise GROUPS_UNEVEN.fault(
            f"{counted(len(inputs), 'input')} follow the rate and the count; the operator needs {groups} inputs for "
            "each optimized tensor",
            help="connect the same number of tensors, gradients and states",
            input=2,
        )
    if context.outputs > count * (states + 1):
        raise GROUPS_UNEVEN.fault(
            f"the node has {counted(context.outputs, 'output')}; the operator returns {states + 1} for each of "
            f"{counted(count, 'tensor')}",
            help=f"use at most {counted(count * (states + 1), 'output')}",
        )
    without_gradients = (*inputs[:count], *inputs[2 * count :])
    return tuple(Tensor(x.dtype, x.shape) for x in without_gradients)


@onnx("Adagrad", since=1, domain="ai.onnx.preview.training")
def adagrad(
    r: Tensor,
    t: Tensor,
    *inputs: Tensor,
    decay_factor: float = 0.0,
    epsilon: float = 9.999999974752427e-07,
    norm_coefficient: float = 0.0,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX Adagrad-1. ``inputs`` are tensors, gradients and accumulated squares."""
    return stepped(inputs, 1, context)


@onnx("Adam", since=1, domain="ai.onnx.preview.training")
def adam(
    r: Tensor,
    t: Tensor,
    *inputs: Tensor,
    alpha: float = 0.8999999761581421,
    beta: float = 0.9990000128746033,
    epsilon: float = 9.999999974752427e-07,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX Adam-1. ``inputs`` are tensors, gradients, averaged gradients and averaged squares."""
    return stepped(inputs, 2, context)


@onnx("Momentum", since=1, domain="ai.onnx.preview.training")
def momentum(
    r: Tensor,
    t: Tensor,
    *inputs: Tensor,
    alpha: float,
    beta: float,
    mode: MomentumMode,
    norm_coefficient: float,
    context: Context,
) -> tuple[Tensor, ...]:
    """ONNX Momentum-1. ``inputs`` are tensors, gradients and momenta."""
    return stepped(inputs, 1, context)


@onnx("Gradient", since=1, domain="ai.onnx.preview.training")
def gradient(*inputs: Tensor, xs: Strings, y: str, zs: Strings | None = None, context: Context) -> tuple[Tensor, ...]:
    """ONNX Gradient-1: the derivative of ``y`` for each of ``xs``, with the shape of this input."""
    names = len(xs) + len(zs or ())
    if len(inputs) != names or context.outputs > len(xs):
        raise GROUPS_UNEVEN.fault(
            f"the node has {counted(len(inputs), 'input')} and {context.outputs} outputs; `xs` names {len(xs)} tensors "
            f"and `zs` {names - len(xs)}: expected {counted(names, 'input')} and at most {len(xs)} outputs",
            help="connect an input for each name in `xs` and `zs`, and an output for each name in `xs`",
        )
    return tuple(Tensor(x.dtype, x.shape) for x in inputs[: len(xs)])
