"""Matrix products of quantized and of packed weights."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, ceildiv, product, same
from irlint.findings.statements import agree
from irlint.findings.wording import counted
from irlint.model.tensor import NUMBERED_TYPES, Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.kernels.broadcast import stretched
from irlint.ops.math.linear import MATMUL_MISMATCH, OPERAND_SHAPE, biased, expect_length, general_product, multiplied
from irlint.schemas import MICROSOFT


@onnx("MatMulInteger", since=10)
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """ONNX MatMulInteger-10; a zero point is for all of its input, each row of A or each column of B."""
    shape = multiplied(a.shape, b.shape)
    _per_row(a_zero_point, 2, a.shape, what="a zero point of A")
    _per_column(b_zero_point, 3, b.shape, what="a zero point of B")
    return Tensor("int32", shape)


def _per_row(x: Tensor | None, index: int, matrix: Shape | None, *, what: str) -> None:
    if x is not None and matrix is not None:
        expect_length(x.shape, index, matrix[-2] if len(matrix) > 1 else 1, what=what)


def _per_column(x: Tensor | None, index: int, matrix: Shape | None, *, what: str, transposed: bool = False) -> None:
    if x is not None and matrix is not None:
        expect_length(x.shape, index, matrix[-2 if transposed else -1] if len(matrix) > 1 else 1, what=what)


@onnx("QLinearMatMul", since=10)
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
    """ONNX QLinearMatMul-10 and 21; the result has the type of its zero point."""
    shape = multiplied(a.shape, b.shape, inputs=(0, 3))
    for x, index in ((a_scale, 1), (a_zero_point, 2)):
        _per_row(x, index, a.shape, what="a scale or zero point of a")
    for x, index in ((b_scale, 4), (b_zero_point, 5)):
        _per_column(x, index, b.shape, what="a scale or zero point of b")
    return Tensor(y_zero_point.dtype, shape)


@onnx("GemmFloat8", domain=MICROSOFT)
def gemm_float8(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    scale_a: Tensor | None = None,
    scale_b: Tensor | None = None,
    scale_y: Tensor | None = None,
    *,
    activation: str | None = None,
    alpha: float = 1.0,
    beta: float = 0.0,
    dtype: int = 1,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """ONNX Runtime's GemmFloat8; ``dtype`` numbers the result's element type."""
    if not 1 <= dtype <= len(NUMBERED_TYPES):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `dtype` is {dtype}, which is no element type",
            help="use a number of TensorProto.DataType",
            attribute="dtype",
        )
    return Tensor(NUMBERED_TYPES[dtype - 1], general_product(a, b, bool(transA), transpose_b=bool(transB)))


@onnx("QGemm", domain=MICROSOFT)
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
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """ONNX Runtime's quantized Gemm: float32 where no scale for the result is given."""
    shape = general_product(a, b, bool(transA), transpose_b=bool(transB), inputs=(0, 3))
    for x, index in ((b_scale, 4), (b_zero_point, 5)):
        _per_column(x, index, b.shape, what="a scale or zero point of B", transposed=bool(transB))
    if c is not None:
        stretched(shape, c.shape, 6, what="input 6 (C)")
    return Tensor("float32" if y_scale is None or y_zero_point is None else y_zero_point.dtype, shape)


@onnx("MatMulInteger16", domain=MICROSOFT)
def matmul_integer16(a: Tensor, b: Tensor) -> Tensor:
    """ONNX Runtime's MatMulInteger16: uint32 for two unsigned inputs, else int32."""
    unsigned = a.dtype == "uint16" and b.dtype == "uint16"
    known = a.dtype is not None and b.dtype is not None
    return Tensor(("uint32" if unsigned else "int32") if known else None, multiplied(a.shape, b.shape))


@onnx("MatMulIntegerToFloat", domain=MICROSOFT)
def matmul_integer_to_float(
    a: Tensor,
    b: Tensor,
    a_scale: Tensor,
    b_scale: Tensor,
    a_zero_point: Tensor | None = None,
    b_zero_point: Tensor | None = None,
    bias: Tensor | None = None,
) -> Tensor:
    """ONNX Runtime's MatMulIntegerToFloat: the result has the type of the scales."""
    shape = multiplied(a.shape, b.shape)
    for x, index in ((b_scale, 3), (b_zero_point, 5)):
        _per_column(x, index, b.shape, what="a scale or zero point of B")
    return Tensor(a_scale.dtype or b_scale.dtype, biased(shape, bias, 6))


@onnx("DynamicQuantizeMatMul", domain=MICROSOFT)
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """ONNX Runtime's DynamicQuantizeMatMul."""
    shape = multiplied(a.shape, b.shape)
    for x, index in ((b_scale, 2), (b_zero_point, 3)):
        _per_column(x, index, b.shape, what="a scale or zero point of B")
    return Tensor(a.dtype, biased(shape, bias, 4))


def by_packed_weights(a: Shape | None, inner: MaybeDim, columns: MaybeDim, *, what: str) -> Shape | None:
    """The product with weights of which only the sizes are known. Raises a ``MATMUL_MISMATCH`` fault."""
    if a is None or not a:
        return None
    if not agree(a[-1], inner, f"axis {len(a) - 1} of input 0 is the inner size of the weights"):
        raise MATMUL_MISMATCH.fault(
            f"axis {len(a) - 1} of input 0, {shape_text(a)}, is {a[-1]}, and {what} says {inner}",
            help=f"make the last axis of input 0 {inner}",
            input=0,
            marks=((0, len(a) - 1),),
        )
    return (*a[:-1], columns)


def _expect_count(x: Tensor, index: int, count: Dim, *, what: str) -> None:
    if x.shape is not None and same(product(x.shape), count) is False:
        raise OPERAND_SHAPE.fault(
            f"input {index} is {shape_text(x.shape)} with {counted(product(x.shape), 'element')}; {what} has {count}",
            help="check the attributes against the weights that were packed",
            input=index,
        )


@onnx("MatMulNBits", domain=MICROSOFT)
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
    """ONNX Runtime's MatMulNBits: [..., K] times weights of N columns, packed in blocks of ``bits`` wide elements."""
    if block_size < 16 or block_size & (block_size - 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `block_size` is {block_size}; it has to be a power of 2 of at least 16",
            help="use the block size that the weights were packed with",
            attribute="block_size",
        )
    shape = by_packed_weights(a.shape, K, N, what="the attribute K")
    blocks = -(-K // block_size)
    if not weight_prepacked:
        _expect_count(b, 1, N * blocks * (block_size * bits // 8), what=f"a packed [{N}, {K}] of {bits} bits")
        _expect_count(scales, 2, N * blocks, what=f"one scale for each of {blocks} blocks in {N} columns")
    return Tensor(a.dtype or scales.dtype, biased(shape, bias, 5))


@onnx("MatMulBnb4", domain=MICROSOFT)
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
    """ONNX Runtime's MatMulBnb4: weights of 4 bits, [N, K], flattened and packed in pairs."""
    inner, columns = (K, N) if transB else (N, K)
    _expect_count(b, 1, (N * K + 1) // 2, what=f"a packed [{N}, {K}] of 4 bits")
    if block_size > 0:
        _expect_count(absmax, 2, ceildiv(N * K, block_size), what=f"one scale for each block of {block_size}")
    return Tensor(a.dtype or absmax.dtype, by_packed_weights(a.shape, inner, columns, what=f"{'K' if transB else 'N'}"))


@onnx("MatMulFpQ4", domain=MICROSOFT)
def matmul_fpq4(a: Tensor, b: Tensor, b_shape: Tensor, *, blk_quant_type: int = 1) -> Tensor:
    """ONNX Runtime's MatMulFpQ4: ``B_shape`` holds [K, N]."""
    sizes = b_shape.ints or (None, None)
    if len(sizes) != 2:
        raise OPERAND_SHAPE.fault(
            f"input 2 (B_shape) has {counted(len(sizes), 'element')}; it has to hold the two sizes of B",
            help="give it the values [K, N]",
            input=2,
        )
    return Tensor(a.dtype, by_packed_weights(a.shape, sizes[0], sizes[1], what="B_shape"))
