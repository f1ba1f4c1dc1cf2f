"""Matrix products, determinants and inverses."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, product
from irlint.findings.faults import Fault
from irlint.findings.statements import agree
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import SparseTensor, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared.broadcast import broadcast, merged, stretched, stretches
from irlint.ops.shared.compiling import not_implemented, with_elements
from irlint.ops.shared.element_types import REAL, common_type, expect_type
from irlint.ops.shared.operands import MATMUL_MISMATCH, OPERAND_SHAPE
from irlint.ops.signatures import group
from irlint.records import record
from irlint.schemas import MICROSOFT


def multiplied(
    a: Shape | None,
    b: Shape | None,
    transpose_a: bool = False,
    *,
    transpose_b: bool = False,
    inputs: tuple[int, int] = (0, 1),
) -> Shape | None:
    """The shape of NumPy's ``matmul``; None if a rank is unknown. Vectors are not transposed.

    ``inputs`` are the input indices of ``a`` and ``b``. Raises a ``MATMUL_MISMATCH``, ``OPERAND_SHAPE`` or
    ``BROADCAST_MISMATCH`` fault. Sources: ONNX MatMul; OpenVINO MatMul-1.
    """
    for shape, index in ((a, inputs[0]), (b, inputs[1])):
        if shape == ():
            raise OPERAND_SHAPE.fault(
                f"input {index} is a scalar; a matrix product needs inputs of at least one axis",
                help="multiply by a scalar with Mul (OpenVINO: Multiply)",
                input=index,
            )
    if a is None or b is None:
        return None
    row, inner_a = (-1, -2) if transpose_a and len(a) > 1 else (-2, -1)
    inner_b, column = (-1, -2) if transpose_b and len(b) > 1 else (-2, -1)
    if len(b) == 1:
        inner_b = -1
    _expect_equal_inner(a, b, inner_a % len(a), inner_b=inner_b % len(b), inputs=inputs)
    batch = _batch(a, b, inputs)
    rows = (a[row],) if len(a) > 1 else ()
    columns = (b[column],) if len(b) > 1 else ()
    return batch + rows + columns


def _expect_equal_inner(a: Shape, b: Shape, inner_a: int, *, inner_b: int, inputs: tuple[int, int]) -> None:
    """Checks that the axes over which a product sums have equal sizes."""
    left, right = inputs
    why = f"axis {inner_a} of input {left} and axis {inner_b} of input {right} are summed over together"
    if agree(a[inner_a], b[inner_b], why):
        return
    from irlint.ops.shared.facts import clash_text

    shapes = {left: a, right: b}
    raise MATMUL_MISMATCH.fault(
        f"{clash_text(shapes, [((left, inner_a), (right, inner_b))])}: the product sums over both",
        help=f"make axis {inner_a} of input {left} and axis {inner_b} of input {right} equal",
        input=right,
        marks=((left, inner_a), (right, inner_b)),
        remark="differ, and the product sums over both",
    )


def _batch(a: Shape, b: Shape, inputs: tuple[int, int]) -> Shape:
    """The shape to which the axes before the matrices are broadcast."""
    left, right = inputs
    shapes: list[Shape | None] = [()] * (max(inputs) + 1)
    shapes[left], shapes[right] = a[:-2], b[:-2]
    try:
        batch = broadcast(shapes)
    except Fault as fault:
        raise fault.changed(message=f"in the axes before the matrices, {fault.message}") from None
    assert batch is not None
    return batch


def expect_matrix(shape: Shape | None, index: int, what: str = "") -> None:
    """Checks that an input has two axes. Raises an ``OPERAND_SHAPE`` fault."""
    if shape is None or len(shape) == 2:
        return
    raise OPERAND_SHAPE.fault(
        f"input {index} has {counted(len(shape), 'axis', 'axes')}; {what or 'it'} must be a matrix of two axes",
        help=f"reshape input {index} to two axes (Flatten), or use MatMul",
        input=index,
    )


def expect_length(shape: Shape | None, index: int, length: MaybeDim, *, what: str, scalar: bool = True) -> None:
    """Checks that a list has ``length`` elements or, with ``scalar``, one element. Raises an ``OPERAND_SHAPE`` fault.

    An input with several axes is not checked.
    """
    if shape is None or (scalar and product(shape) == 1) or len(shape) > 1:
        return
    if not shape:
        raise OPERAND_SHAPE.fault(
            f"input {index} is a scalar; {what} must have one axis of {counted(length, 'element')}",
            help=f"give input {index} the shape {shape_text((length,))}",
            input=index,
        )
    why = f"{what} has {counted(length, 'element')}"
    if not (stretches if scalar else agree)(shape[0], length, why):
        wanted = f"1 or {counted(length, 'element')}" if scalar else f"{counted(length, 'element')}"
        raise OPERAND_SHAPE.fault(
            f"input {index} is {shape_text(shape)}; {what} must have {wanted}",
            help=f"give input {index} the shape {shape_text((length,))}, or make the last axis of the data {shape[0]}",
            input=index,
            marks=((index, 0),),
        )


def expect_squares(shape: Shape | None, index: int) -> None:
    """Checks that the last two axes of an input have equal sizes. Raises an ``OPERAND_SHAPE`` fault."""
    if shape is None:
        return
    rank = len(shape)
    if rank >= 2 and agree(shape[-2], shape[-1], f"input {index} holds square matrices"):
        return
    raise OPERAND_SHAPE.fault(
        f"input {index} is {shape_text(shape)}; its last two axes must be equal (square matrices)",
        help="make the last two axes equal" if rank >= 2 else "give the input two axes of equal size",
        input=index,
        marks=((index, rank - 2), (index, rank - 1)) if rank >= 2 else (),
        remark="have to be equal",
    )


@onnx("Det", since=11)
def det(x: Tensor) -> Tensor:
    """ONNX Det-11: the determinant of each square matrix in the last two axes."""
    expect_squares(x.shape, 0)
    return Tensor(x.dtype, None if x.shape is None else x.shape[:-2])


@onnx("Inverse", domain=MICROSOFT)
def inverse(x: Tensor) -> Tensor:
    """com.microsoft Inverse-1: the inverse of each square matrix in the last two axes."""
    expect_squares(x.shape, 0)
    return Tensor(x.dtype, x.shape)


@openvino("Inverse", since=14)
def ov_inverse(data: Tensor, *, adjoint: bool = False) -> Tensor:
    """OpenVINO Inverse-14: the inverse of each square matrix in the last two axes."""
    expect_type(data, 0, REAL)
    expect_squares(data.shape, 0)
    return Tensor(data.dtype, data.shape)


# --- MatMul -----------------------------------------------------------------------------------------------------------


@onnx("MatMul", macs=("matrix", "a"))
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """ONNX MatMul."""
    return Tensor(a.dtype or b.dtype, multiplied(a.shape, b.shape))


@openvino("MatMul", compiles=with_elements(0, 1, beside=(1,)), ignores_extra_inputs=True, macs=("matrix", "a"))
def ov_matmul(a: Tensor, b: Tensor, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """OpenVINO MatMul-1."""
    return Tensor(common_type((a, b)), multiplied(a.shape, b.shape, transpose_a, transpose_b=transpose_b))


@openvino("GroupedMatMul", since=17, until=17, fills_in=True, compiles=not_implemented, macs=("matrix", "mat_a"))
def grouped_matmul(mat_a: Tensor, mat_b: Tensor, offsets: Tensor | None = None) -> Tensor:
    """OpenVINO GroupedMatMul-17: ``mat_a`` is [M, K] in groups of rows or [G, M, K], and ``mat_b`` is [G, N, K]."""
    dtype = common_type((mat_a, mat_b))
    a, b = mat_a.shape, mat_b.shape
    if offsets is not None:
        expect_type(offsets, 2, ("int32", "int64"))
    if a is None or b is None:
        return Tensor(dtype)
    if len(b) != 3 or len(a) not in (2, 3):
        raise OPERAND_SHAPE.fault(
            f"input 0 is {shape_text(a)} and input 1 is {shape_text(b)}; they must have 2 and 3 axes, or 3 and 3",
            help="give input 1 the axes [groups, columns, inner], and input 0 [rows, inner] or [groups, rows, inner]",
            input=1 if len(b) != 3 else 0,
        )
    if len(a) == 3:
        groups = merged(((a[0],), (b[0],)), OPERAND_SHAPE, "both inputs have one matrix for each group")
        product_shape = multiplied(a[1:], b[1:], False, transpose_b=True)
        return Tensor(dtype, None if groups is None or product_shape is None else (*groups, *product_shape))
    if offsets is None or (offsets.shape is not None and len(offsets.shape) != 1):
        found = "is missing" if offsets is None else f"is {shape_text(offsets.shape)}"
        raise OPERAND_SHAPE.fault(
            f"input 2 {found}; if input 0 has 2 axes, input 2 must list the end of each group of rows",
            help="connect a list with one offset for each group",
            input=2,
        )
    _expect_equal_inner(a, b, 1, inner_b=2, inputs=(0, 1))
    return Tensor(dtype, (a[0], b[1]))


# --- Gemm -------------------------------------------------------------------------------------------------------------


def general_product(
    a: Tensor, b: Tensor, transpose_a: bool, *, transpose_b: bool, inputs: tuple[int, int] = (0, 1)
) -> tuple[MaybeDim, MaybeDim]:
    """The shape of a product of two matrices. Raises an ``OPERAND_SHAPE`` or ``MATMUL_MISMATCH`` fault."""
    expect_matrix(a.shape, inputs[0], "A")
    expect_matrix(b.shape, inputs[1], "B")
    if a.shape is not None and b.shape is not None:
        multiplied(a.shape, b.shape, transpose_a, transpose_b=transpose_b, inputs=inputs)
    rows = None if a.shape is None else a.shape[1 if transpose_a else 0]
    columns = None if b.shape is None else b.shape[0 if transpose_b else 1]
    return rows, columns


@group
@record
class OnnxProduct:
    """The attributes of a matrix product."""

    alpha: float = 1.0
    transA: int = 0
    transB: int = 0

    def of(self, a: Shape | None, b: Shape | None) -> Shape | None:
        """See ``multiplied``."""
        return multiplied(a, b, bool(self.transA), transpose_b=bool(self.transB))

    def of_matrices(self, a: Tensor, b: Tensor, inputs: tuple[int, int] = (0, 1)) -> tuple[MaybeDim, MaybeDim]:
        """See ``general_product``."""
        return general_product(a, b, bool(self.transA), transpose_b=bool(self.transB), inputs=inputs)


@group
@record
class GemmNumbers:
    """The numeric parameters of the activation that follows a product."""

    activation_alpha: float | None = None
    activation_beta: float | None = None
    activation_gamma: float | None = None


@onnx("Gemm", since=13, macs=("matrix", "a"))
@onnx("Gemm", since=7, until=12, late=True, macs=("matrix", "a"))
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    product: OnnxProduct,
    beta: float = 1.0,
) -> Tensor:
    """ONNX Gemm-7 and later: C is broadcast to the product."""
    shape = product.of_matrices(a, b)
    if c is not None:
        stretched(shape, c.shape, 2, what="input 2 (C)")
    return Tensor(a.dtype or b.dtype, shape)


@onnx("Gemm", since=1, late=True, macs=("matrix", "a"))
def gemm_with_broadcast(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    product: OnnxProduct,
    beta: float = 1.0,
    broadcast: int = 0,
) -> Tensor:
    """ONNX Gemm-1 and 6: C must have the shape of the product or, with ``broadcast``, is broadcast to it."""
    shape = product.of_matrices(a, b)
    if broadcast:
        return Tensor(a.dtype or b.dtype, stretched(shape, c.shape, 2, what="input 2 (C)"))
    merged((shape, None, c.shape), why="before opset 7, Gemm broadcasts its input 2 (C) only with broadcast=1")
    return Tensor(a.dtype or b.dtype, shape)


# --- ONNX Runtime's own products --------------------------------------------------------------------------------------


@onnx("FusedMatMul", domain=MICROSOFT, macs=("batch_transposed",))
def fused_matmul(
    a: Tensor,
    b: Tensor,
    *,
    product: OnnxProduct,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """com.microsoft FusedMatMul: ``transBatchA`` and ``transBatchB`` move the first axis to the last but one."""
    left = _with_first_axis_moved(a.shape) if transBatchA else a.shape
    right = _with_first_axis_moved(b.shape) if transBatchB else b.shape
    return Tensor(a.dtype or b.dtype, product.of(left, right))


def _with_first_axis_moved(shape: Shape | None) -> Shape | None:
    return shape if shape is None or len(shape) < 3 else (*shape[1:-1], shape[0], shape[-1])


@onnx("FusedMatMulActivation", domain=MICROSOFT, macs=("batch_transposed",))
def fused_matmul_activation(
    a: Tensor,
    b: Tensor,
    *,
    product: OnnxProduct,
    numbers: GemmNumbers,
    activation: str,
    activation_axis: int | None = None,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """com.microsoft FusedMatMulActivation: FusedMatMul, then an activation."""
    return fused_matmul(a, b, product=product, transBatchA=transBatchA, transBatchB=transBatchB)


@onnx("TransposeMatMul", domain=MICROSOFT, macs=("matrix", "a"))
def transpose_matmul(
    a: Tensor,
    b: Tensor,
    *,
    product: OnnxProduct,
) -> Tensor:
    """com.microsoft TransposeMatMul, the former name of FusedMatMul."""
    return fused_matmul(a, b, product=product)


@onnx("SparseToDenseMatMul", domain=MICROSOFT, macs=("matrix", "a"))
def sparse_to_dense_matmul(
    a: SparseTensor,
    b: Tensor,
    *,
    product: OnnxProduct,
) -> Tensor:
    """com.microsoft SparseToDenseMatMul: the product of a sparse and a dense matrix."""
    return Tensor(b.dtype, product.of(a.shape, b.shape))


@onnx("GemmFastGelu", domain=MICROSOFT, macs=("matrix", "x"))
def gemm_fast_gelu(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """com.microsoft GemmFastGelu: MatMul, then a bias, then a GELU."""
    return Tensor(x.dtype or w.dtype, biased(multiplied(x.shape, w.shape), bias, 2))


def biased(shape: Shape | None, bias: Tensor | None, index: int) -> Shape | None:
    """Returns the shape of a product after checking that its bias has one element for each column.

    Raises an ``OPERAND_SHAPE`` fault.
    """
    if bias is not None and shape:
        expect_length(bias.shape, index, shape[-1], what="the bias", scalar=False)
    return shape


GemmActivation = Literal[
    "Relu", "Tanh", "Sigmoid", "LeakyRelu", "HardSigmoid", "Elu", "Selu", "Celu", "Softplus", "Softsign", "Thresholde"
        "dRelu",
    "ScaledTanh", "ParametricSoftplus",
]  # fmt: skip


@onnx("FusedGemm", domain=MICROSOFT, macs=("matrix", "a"))
def fused_gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    product: OnnxProduct,
    numbers: GemmNumbers,
    activation: GemmActivation,
    beta: float = 1.0,
) -> Tensor:
    """com.microsoft FusedGemm: Gemm, then an activation."""
    return gemm(a, b, c, product=product)
