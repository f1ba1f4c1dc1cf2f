"""Fused normalizations of ONNX Runtime."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Shape, floordiv, product, same
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import agree, divides, warn
from irlint.findings.wording import counted, size_help
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.nn.normalization import (
    CHANNEL_PARAMETERS,
    checked_channels,
    expect_epsilon,
    expect_groups,
    statistics_shape,
    with_channels,
)
from irlint.ops.shared.attributes import expect_attribute
from irlint.ops.shared.broadcast import UNIDIRECTIONAL_MISMATCH, merged, stretched
from irlint.ops.shared.expectations import expect_rank
from irlint.schemas import MICROSOFT


def _sum_shape(shape: Shape | None, skip: Shape | None) -> Shape | None:
    """The shape of the sum of input 0 and ``skip``. ONNX Runtime compares only the ranks and the last two axes."""
    if shape is None or skip is None:
        return shape
    pairs = list(zip(reversed(shape), reversed(skip)))[:2]
    if all(same(a, b) is not False for a, b in pairs):
        try:
            return stretched(shape, skip, 1, what="input 1 (skip)")
        except Fault as fault:
            if len(skip) > len(shape):
                raise
            warn(fault.lowered(Severity.WARNING))
            return shape
    raise UNIDIRECTIONAL_MISMATCH.fault(
        f"input 1 (skip) is {shape_text(skip)} and input 0 is {shape_text(shape)}: the last two axes must be equal",
        help="give both inputs the same shape",
        input=1,
        marks=tuple(
            mark
            for back, (a, b) in enumerate(pairs, 1)
            if same(a, b) is False
            for mark in ((0, len(shape) - back), (1, len(skip) - back))
        ),
    )


def _skip_layer_normalized(
    x: Tensor, skip: Tensor, parameters: Sequence[tuple[int, str, Tensor | None]]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """(Y, mean, inverse standard deviation, sum). Each of ``parameters`` is (input index, name, tensor)."""
    expect_rank(x, 0, 2, 3, what="input")
    expect_rank(skip, 1, 2, 3, what="skip")
    shape = _sum_shape(x.shape, skip.shape)
    hidden = x.shape[-1] if x.shape else None
    for index, name, parameter in parameters:
        expect_rank(parameter, index, 1, what=name)
        if parameter is None or not parameter.shape:
            continue
        if not agree(parameter.shape[0], hidden, f"input {index} ({name}) is as long as the last axis of input 0"):
            raise CHANNEL_PARAMETERS.fault(
                f"input {index} ({name}) is {shape_text(parameter.shape)}; the last axis of input 0, "
                f"{shape_text(x.shape)}, is {hidden}",
                help=f"give input {index} the shape {shape_text((hidden,))}, or "
                f"{size_help(len(x.shape or ()) - 1, parameter.shape[0])}",
                input=index,
                marks=((0, len(x.shape or ()) - 1), (index, 0)),
            )
    statistics = Tensor("float32", statistics_shape(x.shape, -1))
    total = Tensor(x.dtype, shape)
    return total, statistics, statistics, total


@onnx("SkipLayerNormalization", domain=MICROSOFT)
def skip_layer_normalization(
    x: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    epsilon: float = 1e-12,
) -> tuple[Tensor, ...]:
    """com.microsoft SkipLayerNormalization. The fourth output is the sum that is normalized."""
    expect_epsilon(epsilon)
    return _skip_layer_normalized(x, skip, ((2, "gamma", gamma), (3, "beta", beta), (4, "bias", bias)))


@onnx("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def skip_simplified_layer_normalization(
    x: Tensor, skip: Tensor, gamma: Tensor, bias: Tensor | None = None, *, epsilon: float = 1e-12
) -> tuple[Tensor, ...]:
    """com.microsoft SkipSimplifiedLayerNormalization."""
    expect_epsilon(epsilon)
    return _skip_layer_normalized(x, skip, ((2, "gamma", gamma), (3, "bias", bias)))


def _grouped(
    x: Tensor, parameters: Sequence[tuple[int, str, Shape | None]], groups: int, *, channels_last: int
) -> Tensor:
    expect_rank(x, 0, 4, what="X")
    axis = 3 if channels_last else 1
    channels = checked_channels(x.shape, parameters, None if x.shape is None else x.shape[axis])
    expect_groups(groups, channels, "groups", axis=axis)
    return Tensor(x.dtype, with_channels(x.shape, channels, axis))


@onnx("GroupNorm", domain=MICROSOFT)
def group_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    activation: int,
    channels_last: int = 1,
    epsilon: float = 1e-5,
    groups: int,
) -> Tensor:
    """com.microsoft GroupNorm on four axes."""
    return _grouped(x, ((1, "gamma", gamma.shape), (2, "beta", beta.shape)), groups, channels_last=channels_last)


@onnx("SkipGroupNorm", domain=MICROSOFT)
def skip_group_norm(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    skip: Tensor,
    bias: Tensor | None = None,
    *,
    activation: int,
    channels_last: int = 1,
    epsilon: float = 1e-5,
    groups: int,
) -> tuple[Tensor, Tensor]:
    """com.microsoft SkipGroupNorm. The second output is the sum that is normalized."""
    y = _grouped(x, ((1, "gamma", gamma.shape), (2, "beta", beta.shape)), groups, channels_last=channels_last)
    return y, y


@onnx("QOrderedLayerNormalization", domain=MICROSOFT)
def qordered_layer_normalization(
    x: Tensor,
    scale_x: Tensor,
    scale: Tensor,
    b: Tensor | None,
    scale_y: Tensor,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    order_X: int = 1,
    order_Y: int = 1,
) -> Tensor:
    """com.microsoft QOrderedLayerNormalization."""
    statistics_shape(x.shape, axis)
    return Tensor(x.dtype, x.shape)


GateActivation = Literal["silu", "swish", "sigmoid"]


@onnx("GatedRMSNorm", domain=MICROSOFT)
def gated_rms_norm(
    x: Tensor,
    scale: Tensor,
    gate: Tensor,
    *,
    activation: GateActivation = "silu",
    epsilon: float = 1e-5,
) -> Tensor:
    """com.microsoft GatedRMSNorm: divides the last axis into groups as long as ``scale``, and normalizes each group."""
    elements = None if scale.shape is None else product(scale.shape)
    last = x.shape[-1] if x.shape else None
    why = "the number of elements of the scale divides the last axis of input 0"
    if isinstance(elements, int) and (elements == 0 or not divides(elements, last, why)):
        raise CHANNEL_PARAMETERS.fault(
            f"input 1 (scale) has {counted(elements, 'element')}; their number must divide {last}, the last axis of "
            "input 0",
            help=f"give input 1 the shape {shape_text((last,))}",
            input=1,
        )
    return Tensor(x.dtype, merged((x.shape, None, gate.shape), why="X and the gate must have the same shape"))


@onnx("BranchwiseRMSNorm", domain=MICROSOFT)
def branchwise_rms_norm(
    x: Tensor, scale: Tensor | None = None, *, epsilon: float = 1e-5, num_branches: int = 0
) -> Tensor:
    """com.microsoft BranchwiseRMSNorm. X is [..., branches, H] or, with ``num_branches``, [..., branches * H]."""
    expect_attribute(num_branches, 0, "num_branches")
    expect_rank(x, 0, least=1 if num_branches else 2, what="X")
    if not x.shape:
        return Tensor(x.dtype)
    branches, hidden = (num_branches, x.shape[-1]) if num_branches else x.shape[-2:]
    if num_branches:
        expect_groups(num_branches, hidden, "num_branches", axis=len(x.shape) - 1)
        hidden = None if hidden is None else floordiv(hidden, num_branches)
    if scale is not None and scale.shape is not None:
        _expect_branch_scale(scale.shape, ((hidden,), (product((branches, hidden)),), (branches, hidden)))
    return Tensor(x.dtype, x.shape)


def _expect_branch_scale(scale: Shape, allowed: Sequence[Shape]) -> None:
    for shape in allowed:
        if len(shape) == len(scale) and all(same(a, b) is not False for a, b in zip(scale, shape)):
            return
    raise CHANNEL_PARAMETERS.fault(
        f"input 1 (scale) is {shape_text(scale)}; expected {' or '.join(map(shape_text, allowed))}",
        help=f"give input 1 the shape {shape_text(allowed[0])}",
        input=1,
    )
