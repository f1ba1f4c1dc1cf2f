"""Matrix products of quantized matrices and of packed weights."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, at_least, ceildiv, product, same
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import agree, warn
from irlint.findings.wording import counted, size_help
from irlint.model.tensor import NUMBERED_TYPES, Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.math.linear import OnnxProduct, biased, multiplied
from irlint.ops.quantized.parameters import (
    expect_by_column,
    expect_by_row,
    expect_one_number,
    expect_one_of,
    expect_one_shape,
    warn_of_scale,
)
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.broadcast import stretched
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.operands import MATMUL_MISMATCH, OPERAND_SHAPE
from irlint.ops.shared.sizes import dim_of
from irlint.ops.signatures import UNLIKELY, with_roles
from irlint.schemas import MICROSOFT


@onnx("MatMulInteger", since=10, macs=("matrix", "a"))
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """ONNX MatMulInteger-10."""
    shape = multiplied(a.shape, b.shape)
    expect_by_row(a, (2, "a_zero_point", a_zero_point))
    expect_by_column(b, (3, "b_zero_point", b_zero_point))
    return Tensor("int32", shape)


@onnx("QLinearMatMul", since=10, macs=("matrix", "a"))
def qlinear_matmul(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    y_scale: Tensor,
    y_zero_point: Tensor,
) -> Tensor:
    """ONNX QLinearMatMul-10 and 21."""
    shape = multiplied(a.shape, b.shape, inputs=(0, 3))
    expect_by_row(a, (1, "a_scale", a_scale), (2, "a_zero_point", a_zero_point))
    expect_by_column(b, (4, "b_scale", b_scale), (5, "b_zero_point", b_zero_point))
    expect_one_number((6, "y_scale", y_scale), (7, "y_zero_point", y_zero_point))
    return Tensor(y_zero_point.dtype, shape)


@onnx("GemmFloat8", domain=MICROSOFT, macs=("matrix", "a"))
def gemm_float8(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    scale_a: Tensor | None = None,
    scale_b: Tensor | None = None,
    scale_y: Tensor | None = None,
    *,
    product: OnnxProduct,
    activation: str | None = None,
    beta: float = 0.0,
    dtype: int = 1,
) -> Tensor:
    """com.microsoft GemmFloat8."""
    if not 1 <= dtype <= len(NUMBERED_TYPES):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `dtype` is {dtype}, which is not an element type",
            help="use a number of TensorProto.DataType",
            attribute="dtype",
        )
    return Tensor(NUMBERED_TYPES[dtype - 1], product.of_matrices(a, b))


@onnx("QGemm", domain=MICROSOFT, late=True, macs=("matrix", "a"))
def qgemm(
    a: Tensor,
    a_scale: Tensor,
    a_zero_point: Tensor,
    b: Tensor,
    b_scale: Tensor,
    b_zero_point: Tensor,
    c: Tensor | None = None,
    y_scale: Tensor | None = None,
    y_zero_point: Tensor | None = None,
    *,
    product: OnnxProduct,
) -> Tensor:
    """com.microsoft QGemm."""
    shape = product.of_matrices(a, b, inputs=(0, 3))
    expect_one_number((1, "a_scale", a_scale), (2, "a_zero_point", a_zero_point))
    columns = None if b.shape is None or len(b.shape) != 2 else b.shape[0 if product.transB else 1]
    for parameter in ((4, "b_scale", b_scale), (5, "b_zero_point", b_zero_point)):
        expect_one_of(parameter, (), (1,), (columns,), what="one number for B, or one number for each column of B")
    expect_one_shape((4, "b_scale", b_scale), (5, "b_zero_point", b_zero_point))
    expect_one_number((7, "y_scale", y_scale), (8, "y_zero_point", y_zero_point))
    if c is not None:
        stretched(shape, c.shape, 6, what="input 6 (C)")
    return Tensor("float32" if y_scale is None or y_zero_point is None else y_zero_point.dtype, shape)


@onnx("MatMulInteger16", domain=MICROSOFT, macs=("matrix", "a"))
def matmul_integer16(a: Tensor, b: Tensor) -> Tensor:
    """com.microsoft MatMulInteger16."""
    unsigned = a.dtype == "uint16" and b.dtype == "uint16"
    known = a.dtype is not None and b.dtype is not None
    return Tensor(("uint32" if unsigned else "int32") if known else None, multiplied(a.shape, b.shape))


@onnx("MatMulIntegerToFloat", domain=MICROSOFT, macs=("matrix", "a"))
def matmul_integer_to_float(
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """com.microsoft MatMulIntegerToFloat."""
    shape = multiplied(a.shape, b.shape)
    if a_scale.shape is not None and len(a_scale.shape) == 1 and same(a_scale.shape[0], 1) is False:
        expect_one_of((2, "a_scale", a_scale), (dim_of(a.shape, -1),), what="one scale for each column of A")
        warn(_per_column_of_a(a_scale))
    else:
        expect_one_number((2, "a_scale", _scalar_if_one(a_scale)))
    expect_one_number((4, "a_zero_point", a_zero_point))
    expect_by_column(b, (3, "b_scale", _scalar_if_one(b_scale)), (5, "b_zero_point", b_zero_point))
    _expect_bias(bias, 6, shape)
    return Tensor(a_scale.dtype or b_scale.dtype, biased(shape, bias, 6))


def _scalar_if_one(scale: Tensor) -> Tensor:
    """Returns ``scale``, as a scalar if it has one element."""
    single = scale.shape is not None and all(same(dim, 1) is True for dim in scale.shape)
    return Tensor(scale.dtype, (), scale.value, scale.extent) if single else scale


def _expect_bias(bias: Tensor | None, index: int, shape: Shape | None) -> None:
    if bias is not None and bias.shape is not None and shape and isinstance(shape[-1], int):
        columns = shape[-1]
        expectation = f"the bias has {columns}, one for each column"
        _expect_count(bias, index, columns, expectation=expectation, help=f"give input {index} the shape [{columns}]")


def _per_column_of_a(a_scale: Tensor) -> Fault:
    return OPERAND_SHAPE.fault(
        f"input 2 (a_scale) is {shape_text(a_scale.shape)}: ONNX Runtime's documents allow \"a scalar or a 1-D "
        'tensor", but it accepts only a single number',
        help="use one scale for the complete A",
        input=2,
        severity=Severity.WARNING,
    )


@onnx("DynamicQuantizeMatMul", domain=MICROSOFT, macs=("matrix", "a"))
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """com.microsoft DynamicQuantizeMatMul."""
    shape = multiplied(a.shape, b.shape)
    expect_by_column(b, (2, "b_scale", _scalar_if_one(b_scale)), (3, "b_zero_point", b_zero_point))
    _expect_bias(bias, 4, shape)
    return Tensor(a.dtype, biased(shape, bias, 4))


def by_packed_weights(a: Shape | None, inner: MaybeDim, columns: MaybeDim, *, what: str) -> Shape | None:
    """The shape of the product of ``a`` and packed weights [inner, columns]. ``what`` names the source of ``inner``.

    Raises a ``MATMUL_MISMATCH`` or ``OPERAND_SHAPE`` fault.
    """
    if a is None:
        return None
    if not a:
        raise OPERAND_SHAPE.fault(
            "input 0 is a scalar; the product sums over its last axis", help="give input 0 an axis", input=0
        )
    if not agree(a[-1], inner, f"axis {len(a) - 1} of input 0 has the number of rows of the weights"):
        raise MATMUL_MISMATCH.fault(
            f"axis {len(a) - 1} of input 0 is {a[-1]}, but {what} is {inner}",
            help=f"{size_help(len(a) - 1, inner)}, or use weights for {a[-1]}",
            input=0,
            marks=((0, len(a) - 1),),
        )
    return (*a[:-1], columns)


_USE_PACKING_ATTRIBUTES = "use the attributes with which the weights were packed"


def _expect_count(x: Tensor, index: int, count: Dim, *, expectation: str, help: str = _USE_PACKING_ATTRIBUTES) -> None:
    """Checks that input ``index`` has ``count`` elements. Raises an ``OPERAND_SHAPE`` fault."""
    if x.shape is not None and same(product(x.shape), count) is False:
        raise _count_fault(x, index, expectation, help=help)


def _count_fault(x: Tensor, index: int, expectation: str, *, help: str = _USE_PACKING_ATTRIBUTES) -> Fault:
    return OPERAND_SHAPE.fault(
        f"input {index} is {shape_text(x.shape)} with {counted(product(x.shape or ()), 'element')}; {expectation}",
        help=help,
        input=index,
    )


def _packed_matrix(rows: int, columns: int, bits: int) -> str:
    return f"a matrix [{rows}, {columns}] of {bits}-bit weights"


def _expect_at_least(x: Tensor, index: int, count: int, *, expectation: str) -> None:
    """Raises an ``OPERAND_SHAPE`` fault for fewer than ``count`` elements. Warns of more elements."""
    found = product(x.shape) if x.shape is not None else None
    if same(found, count) is not False:
        return
    fault = _count_fault(x, index, expectation)
    if at_least(found, count) is False:
        raise fault
    warn(fault.lowered(Severity.WARNING))


@onnx("MatMulNBits", domain=MICROSOFT, macs=("matrix", "a"))
@with_roles(weight_prepacked=UNLIKELY)
def matmul_nbits(
    a: Tensor,
    b: Tensor,
    scales: Tensor,
    zero_points: Tensor | None = None,
    g_idx: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    K: int,
    N: int,
    accuracy_level: int = 0,
    bits: int = 4,
    block_size: int,
    weight_prepacked: int = 0,
) -> Tensor:
    """com.microsoft MatMulNBits: A [..., K] times packed weights [N, K] with ``bits`` for each weight."""
    if not _is_block_size(block_size):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `block_size` is {block_size}; it has to be a power of 2 of at least 16",
            help="use the block size that the weights were packed with",
            attribute="block_size",
        )
    shape = by_packed_weights(a.shape, K, N, what="the attribute K")
    blocks = -(-K // block_size)
    if not weight_prepacked:
        block_bytes, matrix = block_size * bits // 8, _packed_matrix(N, K, bits)
        _expect_count(
            b, 1, N * blocks * block_bytes, expectation=f"{matrix} is packed into {N * blocks * block_bytes} bytes"
        )
        expect_one_of((1, "B", b), (N, blocks, block_bytes), what=matrix, instead=_other_blocks(b, K, bits))
        what = f"one scale for each {_blocks_of_columns(blocks, N)}"
        _expect_count(scales, 2, N * blocks, expectation=f"expected {N * blocks}, {what}")
        expect_one_of((2, "scales", scales), (N * blocks,), (N, blocks), what=what)
        _check_zero_points(zero_points, N, blocks, bits=bits)
        expect_one_of((4, "g_idx", g_idx), (K,), (blocks * block_size,), what="the group of each row of the weights")
    expect_one_of((5, "bias", bias), (N,), what="one number for each column")
    warn_of_scale(scales, 2, "scales", any_sign=True)
    return Tensor(a.dtype or scales.dtype, shape)


def _is_block_size(size: int) -> bool:
    return size >= 16 and not size & (size - 1)


def _other_blocks(b: Tensor, K: int, bits: int) -> str:
    """The help to set the block size that the shape [columns, blocks, bytes of a block] of the weights states."""
    blocks, block_bytes = b.shape[1:] if b.shape is not None and len(b.shape) == 3 else (None, None)
    if not isinstance(blocks, int) or not isinstance(block_bytes, int) or bits < 1:
        return ""
    size = block_bytes * 8 // bits
    return f"set `block_size = {size}`" if _is_block_size(size) and ceildiv(K, size) == blocks else ""


def _check_zero_points(zero_points: Tensor | None, columns: int, blocks: int, *, bits: int) -> None:
    if zero_points is None or zero_points.dtype is None:
        return
    is_packed = zero_points.dtype == "uint8"
    per_column = -(-blocks * bits // 8) if is_packed else blocks
    what = f"one number for each {_blocks_of_columns(blocks, columns)}"
    what += f", packed to {bits} bits" if is_packed and bits < 8 else ""
    expect_one_of((3, "zero_points", zero_points), (columns * per_column,), (columns, per_column), what=what)


def _blocks_of_columns(blocks: int, columns: int) -> str:
    return f"block: {counted(columns, 'column')} of {counted(blocks, 'block')}"


@onnx("MatMulBnb4", domain=MICROSOFT, macs=("matrix", "a"))
def matmul_bnb4(
    a: Tensor,
    b: Tensor,
    absmax: Tensor,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    training_mode: int = 0,
    transB: int = 1,
) -> Tensor:
    """com.microsoft MatMulBnb4. The weights [N, K] are flattened. Each byte stores two weights."""
    inner, columns = (K, N) if transB else (N, K)
    expect_attribute(quant_type, 0, "quant_type", most=1)
    expect_attribute(K, 1, "K")
    expect_attribute(N, 1, "N")
    if block_size not in (16, 32, 64, 128, 256):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `block_size` is {block_size}; ONNX Runtime supports 16, 32, 64, 128 and 256",
            help="use the block size that the weights were packed with",
            attribute="block_size",
        )
    size, blocks = (N * K + 1) // 2, -(-N * K // block_size)
    _expect_at_least(b, 1, size, expectation=f"{_packed_matrix(N, K, 4)} is packed into {counted(size, 'byte')}")
    _expect_at_least(absmax, 2, blocks, expectation=f"expected {blocks}, one scale for each block of {block_size}")
    return Tensor(a.dtype or absmax.dtype, by_packed_weights(a.shape, inner, columns, what=f"{'K' if transB else 'N'}"))


@onnx("MatMulFpQ4", domain=MICROSOFT, macs=("matrix", "a"))
def matmul_fpq4(a: Tensor, b: Tensor, b_shape: Tensor, *, blk_quant_type: int = 1) -> Tensor:
    """com.microsoft MatMulFpQ4. The values of ``b_shape`` are [K, N], the shape of the unpacked B."""
    expect_rank(b, 1, 1, what="B")
    expect_rank(b_shape, 2, 1, what="B_shape")
    sizes = (None, None) if b_shape.ints is None else b_shape.ints
    if len(sizes) != 2:
        raise OPERAND_SHAPE.fault(
            f"input 2 (B_shape) has {counted(len(sizes), 'element')}; it must contain the two sizes of B",
            help="give input 2 the values [K, N]",
            input=2,
        )
    inner, columns = sizes
    if isinstance(inner, int) and isinstance(columns, int):
        blocks, block_bytes = ceildiv(inner, 32), 21 if blk_quant_type else 20
        size = columns * blocks * block_bytes
        expectation = f"B of [{inner}, {columns}] in blocks of 32 elements and {block_bytes} bytes has {size} bytes"
        _expect_count(b, 1, size, expectation=expectation)
    return Tensor(a.dtype, by_packed_weights(a.shape, inner, columns, what="B_shape"))
