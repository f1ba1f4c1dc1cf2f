"""Fused activations and Dropout of ONNX Runtime, and operators that were experimental in early versions of ONNX."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, ceildiv, floordiv, product
from irlint.findings.statements import agree, divides
from irlint.findings.wording import counted, size_help
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.math.activation import along_axis, unchanged
from irlint.ops.math.linear import expect_length
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.broadcast import merged, stretched
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.operands import OPERAND_SHAPE
from irlint.schemas import MICROSOFT


@onnx("Gelu", domain=MICROSOFT)
def fused_gelu(x: Tensor) -> Tensor:
    """com.microsoft Gelu."""
    return unchanged(x)


@onnx("QuickGelu", domain=MICROSOFT)
def quick_gelu(x: Tensor, *, alpha: float = 1.702) -> Tensor:
    """com.microsoft QuickGelu."""
    return unchanged(x)


@onnx("ScaledSiLU", domain=MICROSOFT)
def scaled_silu(x: Tensor, scale: Tensor | None = None, *, alpha: float = 1.0) -> Tensor:
    """com.microsoft ScaledSiLU."""
    return unchanged(x)


@onnx("IsAllFinite", domain=MICROSOFT)
def is_all_finite(*xs: Tensor, isinf_only: int = 0, isnan_only: int = 0) -> Tensor:
    """com.microsoft IsAllFinite: one boolean for all inputs."""
    return Tensor("bool", ())


def _last_dim(x: Tensor) -> MaybeDim:
    return x.shape[-1] if x.shape else None


@onnx("BiasGelu", domain=MICROSOFT)
def bias_gelu(a: Tensor, b: Tensor) -> Tensor:
    """com.microsoft BiasGelu: adds a bias along the last axis, then applies GELU."""
    expect_rank(b, 1, 0, 1, what="B")
    expect_length(b.shape, 1, _last_dim(a), what="the bias", scalar=False)
    return Tensor(a.dtype or b.dtype, a.shape)


@onnx("FastGelu", domain=MICROSOFT)
def fast_gelu(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """com.microsoft FastGelu: adds an optional bias along the last axis, then applies GELU."""
    if bias is not None:
        expect_rank(bias, 1, 0, 1, what="bias")
        expect_length(bias.shape, 1, _last_dim(x), what="the bias", scalar=False)
    return unchanged(x)


@onnx("BiasAdd", domain=MICROSOFT)
def bias_add(x: Tensor, bias: Tensor, skip: Tensor) -> Tensor:
    """com.microsoft BiasAdd: adds a bias along the last axis of ``x``, then ``skip``."""
    expect_length(bias.shape, 1, _last_dim(x), what="the bias", scalar=False)
    return Tensor(x.dtype, merged((x.shape, None, skip.shape), why="both inputs must have the same shape"))


@onnx("BiasSplitGelu", domain=MICROSOFT)
def bias_split_gelu(x: Tensor, bias: Tensor) -> Tensor:
    """com.microsoft BiasSplitGelu: one half of the last axis is multiplied with the GELU of the other half."""
    expect_rank(x, 0, 3, what="X")
    expect_length(bias.shape, 1, _last_dim(x), what="the bias", scalar=False)
    if not x.shape:
        return Tensor(x.dtype)
    last = x.shape[-1]
    if not divides(2, last, f"axis {len(x.shape) - 1} is split in two halves"):
        raise OPERAND_SHAPE.fault(
            f"axis {len(x.shape) - 1} of input 0, {shape_text(x.shape)}, is {last}; it is split into two halves, so "
            "it must be even",
            help=f"give axis {len(x.shape) - 1} an even size",
            input=0,
            marks=((0, len(x.shape) - 1),),
        )
    return Tensor(x.dtype, (*x.shape[:-1], None if last is None else floordiv(last, 2)))


@onnx("BiasDropout", domain=MICROSOFT)
def bias_dropout(
    data: Tensor,
    bias: Tensor,
    residual: Tensor | None = None,
    ratio: Tensor | None = None,
    training_mode: Tensor | None = None,
    *,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """com.microsoft BiasDropout: adds a bias, applies Dropout, then adds a residual."""
    shape = stretched(data.shape, bias.shape, 1, what="input 1 (bias)")
    return Tensor(data.dtype, shape), Tensor("bool", shape)


def _bitmask_shape(shape: Shape | None) -> Shape:
    count = None if shape is None else product(shape)
    return (None if count is None else ceildiv(count, 32),)


@onnx("BitmaskDropout", domain=MICROSOFT)
def bitmask_dropout(
    data: Tensor, ratio: Tensor | None = None, training_mode: Tensor | None = None, *, seed: int | None = None
) -> tuple[Tensor, Tensor]:
    """com.microsoft BitmaskDropout. Each uint32 of the mask holds one bit for each of 32 elements."""
    return unchanged(data), Tensor("uint32", _bitmask_shape(data.shape))


@onnx("BitmaskBiasDropout", domain=MICROSOFT)
def bitmask_bias_dropout(
    data: Tensor,
    bias: Tensor,
    residual: Tensor | None = None,
    ratio: Tensor | None = None,
    training_mode: Tensor | None = None,
    *,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """com.microsoft BitmaskBiasDropout. Each uint32 of the mask holds one bit for each of 32 elements."""
    shape = stretched(data.shape, bias.shape, 1, what="input 1 (bias)")
    return Tensor(data.dtype, shape), Tensor("uint32", _bitmask_shape(shape))


@onnx("BiasSoftmax", domain=MICROSOFT)
def bias_softmax(data: Tensor, bias: Tensor, *, axis: int = 1, is_inner_broadcast: int) -> Tensor:
    """com.microsoft BiasSoftmax."""
    return along_axis(data, axis)


@onnx("QOrderedGelu", domain=MICROSOFT)
def qordered_gelu(
    x: Tensor, scale_x: Tensor, scale_y: Tensor, *, order_X: int | None = None, order_Y: int | None = None
) -> Tensor:
    """com.microsoft QOrderedGelu."""
    return unchanged(x)


@onnx("Affine", until=9)
def affine(x: Tensor, *, alpha: float = 1.0, beta: float = 0.0) -> Tensor:
    """ONNX Affine, formerly experimental."""
    return unchanged(x)


@onnx("ParametricSoftplus", "ScaledTanh", until=9)
def with_alpha_and_beta(x: Tensor, *, alpha: float, beta: float) -> Tensor:
    """ONNX ParametricSoftplus and ScaledTanh, formerly experimental. ONNX Runtime requires both attributes."""
    return unchanged(x)


@onnx("Scale", until=9)
def scaled(x: Tensor, *, scale: float = 1.0) -> Tensor:
    """ONNX Scale, formerly experimental."""
    return unchanged(x)


@onnx("ImageScaler", until=9)
def image_scaler(x: Tensor, *, bias: tuple[float, ...] = (), scale: float = 1.0) -> Tensor:
    """ONNX ImageScaler, formerly experimental: ``bias`` has an entry for each channel of [N, C, H, W]."""
    expect_rank(x, 0, 4)
    channels = None if x.shape is None else x.shape[1]
    if not agree(channels, len(bias), "there is a bias for each channel"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `bias` has {counted(len(bias), 'entry', 'entries')} and axis 1 of input 0 is {channels}: "
            "expected one entry for each channel",
            help=f"give `bias` {counted(channels, 'entry', 'entries')}, or {size_help(1, len(bias))}",
            attribute="bias",
        )
    return unchanged(x)
