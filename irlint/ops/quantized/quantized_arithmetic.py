"""ONNX Runtime's operators on quantized and packed tensors, except convolutions and matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Shape, ceildiv, total
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import CONTENTS_LIMIT, UNKNOWN, Tensor
from irlint.ops import Context, onnx
from irlint.ops.indexing.gathering import gather
from irlint.ops.layout.joining import concatenated
from irlint.ops.math.activation import along_axis, unchanged
from irlint.ops.math.reduction import reduced
from irlint.ops.quantized.parameters import (
    ZERO_POINT_LEFT_OUT,
    expect_one_number,
    expect_one_of,
    expect_zero_points,
    warn_of_many,
    warn_of_scale,
)
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, numbered_type
from irlint.ops.shared.axes import Ints, axis_of
from irlint.ops.shared.broadcast import broadcast
from irlint.ops.shared.element_types import common_type, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import length, stated_shape
from irlint.schemas import MICROSOFT

INPUTS_NOT_TRIPLES = Rule(
    "IRL372",
    "quantized-inputs-not-triples",
    Severity.ERROR,
    "The inputs of a QLinearConcat are not groups of tensor, scale and zero point.",
    why=(
        "The scale and zero point of the result come first. Then each tensor is followed by its own scale and zero "
        "point. Runtimes refuse any other number of inputs."
    ),
    fix="List each input as a tensor, its scale and its zero point.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float s, uint8 z, uint8[2] a, uint8[2] b) => (uint8[4] y)
{ y = com.microsoft.QLinearConcat <axis = 0> (s, z, a, s, z, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
g (float s, uint8 z, uint8[2] a, uint8[2] b) => (uint8[4] y)
{ y = com.microsoft.QLinearConcat <axis = 0> (s, z, a, s, z, b, s, z) }""",
    refused=(Refusal("onnxruntime", ("dead by size",)),),
)


def _expect_single(parameters: Sequence[tuple[int, str, Tensor | None]], *, scalar: bool = False) -> None:
    for index, what, tensor in parameters:
        if what.endswith("scale"):
            warn_of_scale(tensor, index, what)
        expect_one(tensor, index, what, scalar=scalar)


@onnx("QLinearAdd", "QLinearMul", domain=MICROSOFT)
def qlinear_arithmetic(
    A: Tensor,
    A_scale: Tensor,
    A_zero_point: Tensor | None = None,
    B: Tensor = UNKNOWN,
    B_scale: Tensor = UNKNOWN,
    B_zero_point: Tensor | None = None,
    C_scale: Tensor = UNKNOWN,
    C_zero_point: Tensor | None = None,
    *,
    context: Context,
) -> Tensor:
    """com.microsoft QLinearAdd and QLinearMul."""
    expect_zero_points(
        context, (2, "A_zero_point", A_zero_point), (5, "B_zero_point", B_zero_point), (7, "C_zero_point", C_zero_point)
    )
    _expect_single(
        (
            (1, "A_scale", A_scale),
            (2, "A_zero_point", A_zero_point),
            (4, "B_scale", B_scale),
            (5, "B_zero_point", B_zero_point),
            (6, "C_scale", C_scale),
            (7, "C_zero_point", C_zero_point),
        ),
        scalar=True,
    )
    return Tensor(A.dtype or B.dtype, _broadcast_at(((0, A.shape), (3, B.shape))))


def _broadcast_at(shapes: Sequence[tuple[int, Shape | None]]) -> Shape | None:
    """The shape to which the inputs are broadcast, from (index of the input, shape); None if a rank is unknown."""
    if any(shape is None for _, shape in shapes):
        return None
    by_index: list[Shape | None] = [()] * (shapes[-1][0] + 1)
    for index, shape in shapes:
        by_index[index] = shape
    return broadcast(by_index)


@onnx("QLinearWhere", domain=MICROSOFT)
def qlinear_where(
    condition: Tensor,
    X: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor,
    Y: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
    z_scale: Tensor,
    z_zero_point: Tensor,
) -> Tensor:
    """com.microsoft QLinearWhere."""
    warn_of_many((2, "x_scale", x_scale), (3, "x_zero_point", x_zero_point), (5, "y_scale", y_scale))
    warn_of_many((6, "y_zero_point", y_zero_point), (7, "z_scale", z_scale), (8, "z_zero_point", z_zero_point))
    return Tensor(X.dtype or Y.dtype, _broadcast_at(((0, condition.shape), (1, X.shape), (4, Y.shape))))


@onnx("MulInteger", domain=MICROSOFT)
def mul_integer(
    A: Tensor,
    A_zero_point: Tensor | None = None,
    B: Tensor = UNKNOWN,
    B_zero_point: Tensor | None = None,
    *,
    context: Context,
) -> Tensor:
    """com.microsoft MulInteger."""
    expect_zero_points(context, (1, "A_zero_point", A_zero_point), (3, "B_zero_point", B_zero_point))
    _expect_single(((1, "A_zero_point", A_zero_point), (3, "B_zero_point", B_zero_point)))
    return Tensor("int32", _broadcast_at(((0, A.shape), (2, B.shape))))


@onnx("QLinearConcat", domain=MICROSOFT)
def qlinear_concat(Y_scale: Tensor, Y_zero_point: Tensor, *inputs: Tensor, axis: int) -> Tensor:
    """com.microsoft QLinearConcat. The ``inputs`` are triples of a tensor, its scale and its zero point."""
    if len(inputs) % 3 or not inputs:
        raise INPUTS_NOT_TRIPLES.fault(
            f"{counted(len(inputs), 'input')} follow the scale and zero point of the result; the number must be a "
            "multiple of 3: a tensor, its scale and its zero point",
            help="list each input as tensor, scale, zero point",
        )
    _check_triples(Y_zero_point, inputs)
    warn_of_many((0, "Y_scale", Y_scale), (1, "Y_zero_point", Y_zero_point))
    shapes = [None if position % 3 else tensor.shape for position, tensor in enumerate(inputs)]
    shape = concatenated([None, None, *shapes], axis)
    if shape is not None:
        place = axis_of(axis, len(shape))
        size = total(None if part is None else part[place] for part in shapes[::3])
        shape = (*shape[:place], size, *shape[place + 1 :])
    return Tensor(Y_zero_point.dtype or common_type(inputs[::3], first=2), shape)


def _check_triples(Y_zero_point: Tensor, inputs: Sequence[Tensor]) -> None:
    for position, tensor in enumerate(inputs):
        index = position + 2
        if position % 3 == 1:
            expect_type(tensor, index, ("float32",))
        elif Y_zero_point.dtype is not None:
            expect_type(tensor, index, (Y_zero_point.dtype,))
        if position % 3:
            check = expect_one_number if tensor.value is not None else warn_of_many
            check((index, "scale" if position % 3 == 1 else "zero point", tensor))


@onnx("QLinearReduceMean", domain=MICROSOFT)
def qlinear_reduce_mean(
    data: Tensor,
    data_scale: Tensor,
    data_zero_point: Tensor | None = None,
    reduced_scale: Tensor = UNKNOWN,
    reduced_zero_point: Tensor | None = None,
    *,
    axes: Ints,
    keepdims: int,
) -> Tensor:
    """com.microsoft QLinearReduceMean."""
    return Tensor(data.dtype, reduced(data.shape, axes, bool(keepdims)))


@onnx("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(
    data: Tensor,
    indices: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    *,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    block_size: int = 128,
    bits: int = 4,
) -> Tensor:
    """com.microsoft GatherBlockQuantized."""
    per_entry = _elements_per_entry(data, bits)
    if block_size < 16 or block_size & (block_size - 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `block_size` is {block_size}; it has to be a power of 2 of at least 16",
            help="use the block size that the data was quantized with",
            attribute="block_size",
        )
    if data.shape is None:
        return Tensor(scales.dtype)
    expect_rank(data, 0, least=2, what="data")
    last = None if data.shape[-1] is None or per_entry is None else data.shape[-1] * per_entry
    unpacked = Tensor(data.dtype, (*data.shape[:-1], last))
    gathered_axis, blocked_axis = axis_of(gather_axis, len(data.shape)), axis_of(quantize_axis, len(data.shape))
    if data.dtype == "uint8" and (gathered_axis != 0 or (gathered_axis == blocked_axis and per_entry != 1)):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `gather_axis` is {gather_axis} and `quantize_axis` is {quantize_axis}: for uint8, "
            "gather_axis must be 0, and if a byte has several elements, quantize_axis must be another axis",
            help="gather on axis 0 and quantize on the last axis",
            attribute="gather_axis",
        )
    assert unpacked.shape is not None
    blocks = tuple(
        dim if axis != blocked_axis or dim is None else ceildiv(dim, block_size)
        for axis, dim in enumerate(unpacked.shape)
    )
    expect_one_of(
        (2, "scales", scales), blocks, what=f"one scale for each block of {block_size} on axis {blocked_axis}"
    )
    if zero_points is not None:
        packed = (*blocks[:-1], None if per_entry is None or blocks[-1] is None else ceildiv(blocks[-1], per_entry))
        expect_one_of((3, "zero_points", zero_points), packed, what="one number for each scale, packed as the data")
    return Tensor(
        scales.dtype, gather(unpacked, Tensor(indices.dtype, indices.shape, indices.value), axis=gather_axis).shape
    )


def _elements_per_entry(data: Tensor, bits: int) -> int | None:
    """The number of quantized elements that one entry of ``data`` stores; None if the type of ``data`` is unknown.

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` fault for wrong ``bits``.
    """
    if data.dtype != "uint8":
        return None if data.dtype is None else 1
    if bits not in (2, 4, 8):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `bits` is {bits}; for uint8, it must be 2, 4 or 8",
            help="use the number of bits of an element",
            attribute="bits",
        )
    return 8 // bits


@onnx("QuantizeBFP", domain=MICROSOFT)
def quantize_bfp(x: Tensor, *, bfp_type: int, block_dim: int = -1) -> tuple[Tensor, Tensor, Tensor]:
    """com.microsoft QuantizeBFP: (packed bytes, shape of x, strides of x)."""
    strides = Tensor("int64", (x.rank,))
    return Tensor("uint8", (None,)), Tensor("int64", (x.rank,), x.shape), strides


@onnx("DequantizeBFP", domain=MICROSOFT, may_be_external={"shape": None, "strides": None})
def dequantize_bfp(
    x: Tensor, shape: Tensor, strides: Tensor, *, bfp_type: int, block_dim: int = -1, dtype: int = 1, context: Context
) -> Tensor:
    """com.microsoft DequantizeBFP."""
    result = stated_shape(shape, 1)
    count = length(strides)
    if result is None and count is not None and count <= CONTENTS_LIMIT:
        result = (None,) * count
    return Tensor(numbered_type(dtype, context), result)


# --- activations ------------------------------------------------------------------------------------------------------


def _expect_single_numbers(*parameters: Tensor | None) -> None:
    """Checks that inputs 1 to 4, the scales and zero points of X and Y, are single numbers.

    Raises an ``INPUT_RANK_REFUSED`` fault.
    """
    warn_of_scale(parameters[0], 1, "X_scale")
    warn_of_scale(parameters[2], 3, "Y_scale")
    for index, name in enumerate(("X_scale", "X_zero_point", "Y_scale", "Y_zero_point"), 1):
        expect_one(parameters[index - 1], index, name)


def _warn_of_four_inputs(context: Context) -> None:
    if len(context.node.inputs) == 4:
        warn(
            ZERO_POINT_LEFT_OUT.fault(
                "there is no input 4 (Y_zero_point): it is optional in the schema, but ONNX Runtime crashes if the "
                "node has only 4 inputs",
                help="add a zero point of 0 or an empty name as input 4",
                input=3,
                severity=Severity.WARNING,
            )
        )


@onnx("QLinearSigmoid", domain=MICROSOFT)
def qlinear_sigmoid(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor = UNKNOWN,
    y_zero_point: Tensor | None = None,
    *,
    context: Context,
) -> Tensor:
    """com.microsoft QLinearSigmoid."""
    _warn_of_four_inputs(context)
    _expect_single_numbers(x_scale, x_zero_point, y_scale, y_zero_point)
    return unchanged(x)


@onnx("QLinearLeakyRelu", domain=MICROSOFT)
def qlinear_leaky_relu(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor = UNKNOWN,
    y_zero_point: Tensor | None = None,
    *,
    alpha: float = 0.01,
    context: Context,
) -> Tensor:
    """com.microsoft QLinearLeakyRelu."""
    _warn_of_four_inputs(context)
    _expect_single_numbers(x_scale, x_zero_point, y_scale, y_zero_point)
    return unchanged(x)


@onnx("QLinearSoftmax", domain=MICROSOFT)
def qlinear_softmax(
    x: Tensor,
    x_scale: Tensor,
    x_zero_point: Tensor | None = None,
    y_scale: Tensor = UNKNOWN,
    y_zero_point: Tensor = UNKNOWN,
    *,
    axis: int = -1,
    opset: int,
) -> Tensor:
    """com.microsoft QLinearSoftmax."""
    try:
        _expect_single_numbers(x_scale, x_zero_point, y_scale, y_zero_point)
    except Fault as fault:
        # ONNX Runtime refuses several numbers only in a constant ``x_scale``. Otherwise, it uses the first number.
        if fault.input == 1 and x_scale.value is not None:
            raise
        warn(fault.lowered(Severity.WARNING))
    return along_axis(x, axis)
