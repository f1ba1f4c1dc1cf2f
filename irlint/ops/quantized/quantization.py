"""QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, ceildiv, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Relation, agree, require_any, warn
from irlint.findings.wording import counted, size_help
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, onnx
from irlint.ops.quantized.parameters import warn_of_scale
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.broadcast import merged
from irlint.ops.shared.contents import extent
from irlint.ops.shared.element_types import ELEMENT_TYPES_DIFFER
from irlint.ops.signatures import UNLIKELY, with_roles
from irlint.schemas import MICROSOFT

SCALE_MISMATCH = Rule(
    "IRL370",
    "quantization-scale-mismatch",
    Severity.ERROR,
    "The shape of a quantization scale is neither per tensor, nor per axis, nor per block.",
    why=(
        "A scale has one of three forms: a single number for the tensor; a list with one entry for each index of "
        "`axis`; or, with `block_size` B, a tensor with the rank and the sizes of the input, except that the size of "
        "`axis` is divided by B and rounded up. ONNX Runtime fails at the node for any other shape."
    ),
    fix=(
        "Correct `axis` or the shape of the scale. The default of `axis` is 1, even for weights whose channels are "
        "on axis 0."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[8] scale) => (uint8[1,3,8,8] y) { y = QuantizeLinear (x, scale) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[3] scale) => (uint8[1,3,8,8] y) { y = QuantizeLinear (x, scale) }""",
)

ZERO_POINT_MISMATCH = Rule(
    "IRL371",
    "quantization-zero-point-mismatch",
    Severity.ERROR,
    "A zero point does not have the shape of its scale.",
    why="Each scale needs one zero point. ONNX Runtime fails at the node if the shapes differ.",
    fix="Give the zero point the shape of the scale.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8] x, float[3] scale, int8[4] zero) => (int8[1,3,8] y) { y = QuantizeLinear (x, scale, zero) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8] x, float[3] scale, int8[3] zero) => (int8[1,3,8] y) { y = QuantizeLinear (x, scale, zero) }""",
)


ZERO_POINT_NOT_ZERO = Rule(
    "IRL736",
    "quantization-zero-point-not-zero",
    Severity.WARNING,
    "A zero point of int32 or of a small floating-point type is not 0.",
    why=(
        "By the specification, the zero point must be 0 or omitted if these types are dequantized. If it is not 0, "
        "some runtimes subtract it, and other runtimes ignore it."
    ),
    fix="Use 0, or remove the zero point.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (int32[2,3] x, float s) => (float[2,3] y) <int32 z = {3}> { y = DequantizeLinear (x, s, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (int32[2,3] x, float s) => (float[2,3] y) <int32 z = {0}> { y = DequantizeLinear (x, s, z) }""",
    uncalled=False,
)


# --- scales and zero points -------------------------------------------------------------------------------------------


def check_scale(x: Shape | None, scale: Shape | None, zero: Shape | None, *, axis: int, block_size: int = 0) -> None:
    """Checks the shapes of the scale (input 1) and the zero point (input 2).

    Raises a ``SCALE_MISMATCH``, a ``ZERO_POINT_MISMATCH`` or an ``AXIS_OUT_OF_RANGE`` fault.
    """
    if scale is None:
        return
    if _is_certainly_single(scale):
        _check_single_zero(scale, zero)
        if block_size and (x is None or len(x) != len(scale)):
            warn(_blocks_of_one(scale, block_size))
        return
    if x is not None:
        if block_size:
            _check_blocks(x, scale, axis_of(axis, len(x)), block_size=block_size)
        else:
            _check_per_axis(x, scale, axis)
    may_be_single = len(scale) == 1 and same(scale[0], 1) is not False
    if zero is not None and not (may_be_single and _is_certainly_single(zero)):
        _check_zero(scale, zero)


def _check_zero(scale: Shape, zero: Shape) -> None:
    try:
        merged((None, scale, zero), ZERO_POINT_MISMATCH, "the zero point has the shape of the scale")
    except Fault as fault:
        help = f"store the zero point as {shape_text(scale)}, like the scale, with its value in each entry"
        raise (fault.changed(help=help) if _is_certainly_single(zero) else fault) from None


def _blocks_of_one(scale: Shape, block_size: int) -> Fault:
    return SCALE_MISMATCH.fault(
        f"attribute `block_size` is {block_size} and input 1 is {shape_text(scale)}, a single scale: the specification "
        'uses the attribute "only for blocked quantization", and ONNX Runtime fails',
        help="remove `block_size`, or write a scale for each block",
        input=1,
        severity=Severity.WARNING,
    )


def _is_certainly_single(scale: Shape) -> bool:
    return not scale or (len(scale) == 1 and same(scale[0], 1) is True)


def _check_single_zero(scale: Shape, zero: Shape | None) -> None:
    if zero is None or not zero or (len(zero) == 1 and agree(zero[0], 1, "the scale is a single number")):
        return
    raise ZERO_POINT_MISMATCH.fault(
        f"input 1 is {shape_text(scale)}, a single scale, and input 2 is {shape_text(zero)}",
        help="give the zero point the shape of the scale",
        input=2,
    )


def _check_per_axis(x: Shape, scale: Shape, axis: int) -> None:
    count = scale[0] if len(scale) == 1 else None
    if len(scale) == 1 and same(count, 1) is None:
        _allow_either(x, count, axis)
        return
    place = axis_of(axis, len(x))
    if len(scale) == 1 and agree(x[place], count, f"the scale has one entry for each index of axis {place}"):
        return
    raise SCALE_MISMATCH.fault(
        f"input 1 is {shape_text(scale)} and axis {place} of input 0 is {x[place]}: a scale must be a single number, "
        "or a list with one entry for each index of that axis",
        help=_scale_help(x, scale, place),
        input=1,
        marks=((0, place), *((1, index) for index in range(len(scale)))),
    )


def _allow_either(x: Shape, count: MaybeDim, axis: int) -> None:
    """Requires that ``count``, an unknown number of scales, is 1 or the size of ``axis``."""
    if count is None or not -len(x) <= axis < len(x):
        return
    dim = x[axis]
    if dim is not None and not same(dim, count):
        require_any(
            Relation("==", count, dim),
            Relation("==", count, 1),
            why=f"the scale of axis {axis} has {counted(count, 'entry', 'entries')}",
        )


def _scale_help(x: Shape, scale: Shape, axis: int) -> str:
    if len(scale) == 1:
        others = [other for other, dim in enumerate(x) if other != axis and same(dim, scale[0])]
        if others:
            return (
                f"give the scale and the zero point {counted(x[axis], 'entry', 'entries')}, or set `axis` to "
                f"{others[0]}, whose size is {scale[0]}"
            )
        return (
            f"give the scale and the zero point {counted(x[axis], 'entry', 'entries')}, use one entry, or "
            f"{size_help(axis, scale[0])}"
        )
    return f"give the scale and the zero point {counted(x[axis], 'entry', 'entries')}, or one entry"


def _check_blocks(x: Shape, scale: Shape, axis: int, *, block_size: int) -> None:
    if len(scale) != len(x):
        raise SCALE_MISMATCH.fault(
            f"input 1 has {counted(len(scale), 'axis', 'axes')} and input 0 has {len(x)}: with "
            f"block_size {block_size} both need the same number",
            help="give the scale the rank of the input, or set `block_size` to 0",
            input=1,
        )
    for other, (dim, count) in enumerate(zip(x, scale)):
        expected = dim if other != axis or dim is None else ceildiv(dim, block_size)
        if not agree(expected, count, f"axis {other} of the scale has one entry for each block"):
            blocks = f" in blocks of {block_size}" if other == axis else ""
            raise SCALE_MISMATCH.fault(
                f"axis {other} is {dim} in input 0 and {count} in input 1; {dim}{blocks} needs {expected} scales",
                help=f"{size_help(other, expected, 1)}, or correct {'`block_size`' if other == axis else 'input 0'}",
                input=1,
                marks=((0, other), (1, other)),
                aligned="left",
            )


def _expect_block_size(block_size: int) -> None:
    if block_size < 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `block_size` is {block_size}; it has to be positive, or 0 for no blocks",
            help="use the number of elements that share a scale",
            attribute="block_size",
        )


# --- QuantizeLinear ---------------------------------------------------------------------------------------------------


def _quantized(
    x: Tensor, scale: Tensor, zero: Tensor | None, *, axis: int, block_size: int = 0, dtype: str | None = None
) -> Tensor:
    _expect_block_size(block_size)
    warn_of_scale(scale, 1, "scale", divides=True)
    check_scale(x.shape, scale.shape, None if zero is None else zero.shape, axis=axis, block_size=block_size)
    if zero is None:
        return Tensor(dtype or "uint8", x.shape)
    if dtype is not None and zero.dtype is not None and dtype != zero.dtype:
        raise ELEMENT_TYPES_DIFFER.fault(
            f"attribute `output_dtype` is {dtype} and input 2, the zero point, is {zero.dtype}: both determine the "
            "type of the result",
            help=f"remove `output_dtype`, or convert the zero point to {dtype}",
            input=2,
        )
    return Tensor(zero.dtype or dtype, x.shape)


@onnx("QuantizeLinear", since=10)
def quantize_10(x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None) -> Tensor:
    """ONNX QuantizeLinear-10. ONNX Runtime also accepts a scale for each index of axis 1."""
    return _quantized(x, y_scale, y_zero_point, axis=1)


@onnx("QuantizeLinear", since=13)
@onnx("QuantizeLinear", domain=MICROSOFT)
@with_roles(axis=UNLIKELY)
def quantize_13(x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None, *, axis: int = 1) -> Tensor:
    """ONNX QuantizeLinear-13."""
    return _quantized(x, y_scale, y_zero_point, axis=axis)


@onnx("QuantizeLinear", since=19)
@with_roles(axis=UNLIKELY)
def quantize_19(
    x: Tensor, y_scale: Tensor, y_zero_point: Tensor | None = None, *, axis: int = 1, saturate: int = 1
) -> Tensor:
    """ONNX QuantizeLinear-19."""
    return _quantized(x, y_scale, y_zero_point, axis=axis)


@onnx("QuantizeLinear", since=21)
@with_roles(axis=UNLIKELY)
def quantize_21(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    context: Context,
) -> Tensor:
    """ONNX QuantizeLinear-21, with blocks."""
    dtype = numbered_type(output_dtype, context, "output_dtype") if output_dtype else None
    return _quantized(x, y_scale, y_zero_point, axis=axis, block_size=block_size, dtype=dtype)


@onnx("QuantizeLinear", since=23)
@with_roles(axis=UNLIKELY)
def quantize_23(
    x: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    saturate: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    context: Context,
) -> Tensor:
    """ONNX QuantizeLinear-23."""
    if x.dtype is not None and y_scale.dtype is not None and x.dtype != y_scale.dtype:
        warn(_scale_of_another_type(x.dtype, y_scale.dtype))
    dtype = numbered_type(output_dtype, context, "output_dtype") if output_dtype else None
    return _quantized(x, y_scale, y_zero_point, axis=axis, block_size=block_size, dtype=dtype)


def _scale_of_another_type(dtype: str, scale: str) -> Fault:
    return ELEMENT_TYPES_DIFFER.fault(
        f"input 0 is {dtype} and input 1, the scale, is {scale}: the specification allows different types since "
        "opset 23, but ONNX Runtime before 1.32 fails",
        help=f"convert the scale to {dtype}",
        input=1,
        severity=Severity.WARNING,
    )


# --- DequantizeLinear -------------------------------------------------------------------------------------------------


def _dequantized(x: Tensor, scale: Tensor, zero: Tensor | None, *, axis: int, block_size: int = 0) -> Tensor:
    _expect_block_size(block_size)
    warn_of_scale(scale, 1, "scale")
    check_scale(x.shape, scale.shape, None if zero is None else zero.shape, axis=axis, block_size=block_size)
    _warn_of_zero_point(zero)
    return Tensor(scale.dtype, x.shape)


def _warn_of_zero_point(zero: Tensor | None) -> None:
    span = extent(zero)
    if zero is None or span is None or not (zero.dtype == "int32" or (zero.dtype or "").startswith("float")):
        return
    if span.nans or span.least or span.most:
        entry = "NaN" if span.nans else span.most or span.least
        warn(
            ZERO_POINT_NOT_ZERO.fault(
                f"input 2 is {zero.dtype} and contains {entry}: a zero point of this type must be 0",
                help="write 0, or remove the input",
                input=2,
            )
        )


@onnx("DequantizeLinear", since=10)
def dequantize_10(x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None) -> Tensor:
    """ONNX DequantizeLinear-10. ONNX Runtime also accepts a scale for each index of axis 1."""
    return _dequantized(x, x_scale, x_zero_point, axis=1)


@onnx("DequantizeLinear", since=13)
@onnx("DequantizeLinear", domain=MICROSOFT)
@with_roles(axis=UNLIKELY)
def dequantize_13(x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None, *, axis: int = 1) -> Tensor:
    """ONNX DequantizeLinear-13."""
    return _dequantized(x, x_scale, x_zero_point, axis=axis)


@onnx("DequantizeLinear", since=21)
@with_roles(axis=UNLIKELY)
def dequantize_21(
    x: Tensor, x_scale: Tensor, x_zero_point: Tensor | None = None, *, axis: int = 1, block_size: int = 0
) -> Tensor:
    """ONNX DequantizeLinear-21, with blocks."""
    return _dequantized(x, x_scale, x_zero_point, axis=axis, block_size=block_size)


@onnx("DequantizeLinear", since=23)
@with_roles(axis=UNLIKELY)
def dequantize_23(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    context: Context,
) -> Tensor:
    """ONNX DequantizeLinear-23: ``output_dtype`` may differ from the type of the scale."""
    result = _dequantized(x, x_scale, x_zero_point, axis=axis, block_size=block_size)
    return Tensor(numbered_type(output_dtype, context, "output_dtype"), x.shape) if output_dtype else result


@onnx("DynamicQuantizeLinear", since=11)
def dynamic_quantize(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """ONNX DynamicQuantizeLinear-11: (quantized tensor, scale, zero point)."""
    return Tensor("uint8", x.shape), Tensor("float32", ()), Tensor("uint8", ())
