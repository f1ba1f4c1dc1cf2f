"""Matrix products: MatMul and Gemm with their quantized and fused kin, and Einsum."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.diagnostics import Fault, Rule, Severity, agree, warn
from irlint.dims import Dim, MaybeDim, Shape, ceildiv, product, same
from irlint.ops import onnx, openvino
from irlint.ops.attribute_values import ATTRIBUTE_OUT_OF_RANGE, NUMBERED_TYPES
from irlint.ops.broadcast import broadcast, clash, joined, merged, stretched, stretches
from irlint.ops.element_types import ARITHMETIC, common_type, expect_type
from irlint.tensor import FLOATS, SparseTensor, Tensor, shape_text

MATMUL_MISMATCH = Rule(
    "IRL320",
    "matmul-inner-mismatch",
    Severity.ERROR,
    "The axes that a matrix product sums over differ in size.",
    why="""A product of [M, K] and [K, N] pairs each column of the first with a row of the second. Where the two Ks differ,
no runtime can compute it.""",
    mend="Give both the same K. Often one operand is transposed: set transA/transB (Gemm), transpose_a/transpose_b (OpenVINO).",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,768] x, float[512,768] w) => (float[2,512] y) { y = MatMul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,768] x, float[768,512] w) => (float[2,512] y) { y = MatMul (x, w) }""",
)

OPERAND_SHAPE = Rule(
    "IRL321",
    "matmul-operand-shape",
    Severity.ERROR,
    "An operand of a matrix product, or what belongs to it, has a shape that it cannot have.",
    why="""Gemm takes matrices of two axes, MatMul no scalars; scales, zero points and biases have one element, or one for
each row or column that they belong to; packed weights have the size that the attributes say.""",
    mend="Reshape the operand as the message says; for more than two axes use MatMul instead of Gemm.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = Gemm (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = MatMul (x, w) }""",
)

EQUATION_INVALID = Rule(
    "IRL322",
    "einsum-equation-invalid",
    Severity.ERROR,
    "An Einsum equation cannot be read, or does not fit the inputs.",
    why="""The equation has one term for each input, separated by commas; each term one letter for each axis, with at most one
ellipsis for the rest; what follows `->` uses letters of the terms.""",
    mend="Correct the equation: the message says which term, and what it does not fit.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = Einsum <equation = "bij,jk->bik"> (x, w) }""",
)

EINSUM_MISMATCH = Rule(
    "IRL323",
    "einsum-sizes-differ",
    Severity.ERROR,
    "One letter of an Einsum equation stands for axes of different sizes.",
    why="A letter names one index, which runs over all axes that it stands for at once: their sizes are equal, or 1.",
    mend="Use another letter, or make the sizes equal.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[4,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }""",
)


def multiplied(
    a: Shape | None,
    b: Shape | None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    inputs: tuple[int, int] = (0, 1),
) -> Shape | None:
    """The shape of NumPy's ``matmul``: the last two axes are matrices, those before them are broadcast.

    A vector is a row on the left and a column on the right, its transposition is ignored, and its axis of 1 leaves the
    result. ``inputs`` are the input indices of ``a`` and ``b``.

    Raises a ``MATMUL_MISMATCH``, ``OPERAND_SHAPE`` or ``BROADCAST_MISMATCH`` fault.
    Sources: ONNX MatMul; OpenVINO MatMul-1.
    """
    for shape, index in ((a, inputs[0]), (b, inputs[1])):
        if shape == ():
            raise OPERAND_SHAPE.fault(
                f"input {index} is a scalar; a matrix product takes inputs of at least one axis",
                help="multiply by a scalar with Mul (OpenVINO: Multiply)",
                input=index,
            )
    if a is None or b is None:
        return None
    row, inner_a = (-1, -2) if transpose_a and len(a) > 1 else (-2, -1)
    inner_b, column = (-1, -2) if transpose_b and len(b) > 1 else (-2, -1)
    if len(b) == 1:
        inner_b = -1
    _same_inner(a, b, inner_a % len(a), inner_b % len(b), inputs)
    batch = _batch(a, b, inputs)
    rows = (a[row],) if len(a) > 1 else ()
    columns = (b[column],) if len(b) > 1 else ()
    return batch + rows + columns


def _same_inner(a: Shape, b: Shape, inner_a: int, inner_b: int, inputs: tuple[int, int]) -> None:
    left, right = inputs
    why = f"axis {inner_a} of input {left} and axis {inner_b} of input {right} are summed over together"
    if agree(a[inner_a], b[inner_b], why):
        return
    help = f"make axis {inner_a} of input {left} and axis {inner_b} of input {right} equal"
    if len(b) > 1 and same(a[inner_a], b[-1 if inner_b != len(b) - 1 else -2]):
        help = f"transpose the last two axes of input {right}: then it fits"
    elif len(a) > 1 and same(b[inner_b], a[-1 if inner_a != len(a) - 1 else -2]):
        help = f"transpose the last two axes of input {left}: then it fits"
    raise MATMUL_MISMATCH.fault(
        f"axis {inner_a} of input {left}, {shape_text(a)}, is {a[inner_a]} and axis {inner_b} of input {right}, "
        f"{shape_text(b)}, is {b[inner_b]}: the product sums over both, so they have to be equal",
        help=help,
        input=right,
        marks=((left, inner_a), (right, inner_b)),
        remark="differ, and the product sums over both",
    )


def _batch(a: Shape, b: Shape, inputs: tuple[int, int]) -> Shape:
    """The axes before the matrices, broadcast together."""
    left, right = inputs
    shapes: list[Shape | None] = [()] * (max(inputs) + 1)
    shapes[left], shapes[right] = a[:-2], b[:-2]
    try:
        batch = broadcast(shapes)
    except Fault as fault:
        text = (
            f"input {left} is {shape_text(a)} and input {right} is {shape_text(b)}; of the axes before the matrices, "
        )
        raise fault.changed(message=text + fault.message) from None
    assert batch is not None
    return batch


def expect_matrix(shape: Shape | None, index: int, what: str = "") -> None:
    """Makes sure that an input has two axes. Raises an ``OPERAND_SHAPE`` fault."""
    if shape is None or len(shape) == 2:
        return
    raise OPERAND_SHAPE.fault(
        f"input {index} is {shape_text(shape)} with {len(shape)} axes; {what or 'it'} has to be a matrix of two axes",
        help=f"reshape input {index} to two axes (Flatten), or use MatMul",
        input=index,
    )


def expect_length(shape: Shape | None, index: int, length: MaybeDim, what: str, scalar: bool = True) -> None:
    """Makes sure that a vector has ``length`` elements, or with ``scalar`` one. Raises an ``OPERAND_SHAPE`` fault."""
    if shape is None or (scalar and product(shape) == 1) or len(shape) > 1:
        return
    if not shape:
        raise OPERAND_SHAPE.fault(
            f"input {index} is a scalar; {what} has one axis of {length} elements",
            help=f"give input {index} the shape {shape_text((length,))}",
            input=index,
        )
    why = f"{what} has {length} elements"
    if not (stretches if scalar else agree)(shape[0], length, why):
        wanted = f"1 or {length} elements" if scalar else f"{length} elements"
        raise OPERAND_SHAPE.fault(
            f"input {index} is {shape_text(shape)}; {what} has {wanted}",
            help=f"give input {index} the shape {shape_text((length,))}",
            input=index,
            marks=((index, 0),),
        )


def expect_squares(shape: Shape | None, index: int) -> None:
    """Makes sure that the last two axes are those of square matrices. Raises an ``OPERAND_SHAPE`` fault."""
    if shape is None:
        return
    rank = len(shape)
    if rank >= 2 and agree(shape[-2], shape[-1], f"input {index} holds square matrices"):
        return
    raise OPERAND_SHAPE.fault(
        f"input {index} is {shape_text(shape)}; its last two axes have to be those of square matrices",
        help="make the last two axes equal" if rank >= 2 else "give the input two axes of one size",
        input=index,
        marks=((index, rank - 2), (index, rank - 1)) if rank >= 2 else (),
        remark="have to be equal",
    )


@onnx("Det", since=11)
def det(x: Tensor) -> Tensor:
    """ONNX Det-11: a number for each square matrix in the last two axes."""
    expect_squares(x.shape, 0)
    return Tensor(x.dtype, None if x.shape is None else x.shape[:-2])


@onnx("Inverse", domain="com.microsoft")
def inverse(x: Tensor) -> Tensor:
    """com.microsoft Inverse-1: of each square matrix in the last two axes."""
    expect_squares(x.shape, 0)
    return Tensor(x.dtype, x.shape)


@openvino("Inverse", since=14)
def ov_inverse(data: Tensor, *, adjoint: bool = False) -> Tensor:
    """OpenVINO Inverse-14: of each square matrix in the last two axes."""
    expect_type(data, 0, FLOATS)
    expect_squares(data.shape, 0)
    return Tensor(data.dtype, data.shape)


# --- MatMul -----------------------------------------------------------------------------------------------------------


@onnx("MatMul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """ONNX MatMul."""
    return Tensor(a.dtype or b.dtype, multiplied(a.shape, b.shape))


@openvino("MatMul")
def ov_matmul(a: Tensor, b: Tensor, *, transpose_a: bool = False, transpose_b: bool = False) -> Tensor:
    """OpenVINO MatMul-1: any element type; transposition is ignored for vectors."""
    return Tensor(common_type((a, b)), multiplied(a.shape, b.shape, transpose_a, transpose_b))


@onnx("MatMulInteger", since=10)
def matmul_integer(
    a: Tensor, b: Tensor, a_zero_point: Tensor | None = None, b_zero_point: Tensor | None = None
) -> Tensor:
    """ONNX MatMulInteger-10; a zero point is for all of its input, each row of A or each column of B."""
    shape = multiplied(a.shape, b.shape)
    _per_row(a_zero_point, 2, a.shape, "a zero point of A")
    _per_column(b_zero_point, 3, b.shape, "a zero point of B")
    return Tensor("int32", shape)


def _per_row(x: Tensor | None, index: int, matrix: Shape | None, what: str) -> None:
    if x is not None and matrix is not None:
        expect_length(x.shape, index, matrix[-2] if len(matrix) > 1 else 1, what)


def _per_column(x: Tensor | None, index: int, matrix: Shape | None, what: str, transposed: bool = False) -> None:
    if x is not None and matrix is not None:
        expect_length(x.shape, index, matrix[-2 if transposed else -1] if len(matrix) > 1 else 1, what)


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
        _per_row(x, index, a.shape, "a scale or zero point of a")
    for x, index in ((b_scale, 4), (b_zero_point, 5)):
        _per_column(x, index, b.shape, "a scale or zero point of b")
    return Tensor(y_zero_point.dtype, shape)


@openvino("GroupedMatMul", since=17, until=17)
def grouped_matmul(mat_a: Tensor, mat_b: Tensor, offsets: Tensor | None = None) -> Tensor:
    """OpenVINO GroupedMatMul-17: [M, K] cut into groups of rows, or [G, M, K], times the transposed [G, N, K]."""
    dtype = common_type((mat_a, mat_b))
    a, b = mat_a.shape, mat_b.shape
    if offsets is not None:
        expect_type(offsets, 2, ("int32", "int64"))
    if a is None or b is None:
        return Tensor(dtype)
    if len(b) != 3 or len(a) not in (2, 3):
        raise OPERAND_SHAPE.fault(
            f"input 0 is {shape_text(a)} and input 1 is {shape_text(b)}; they have to have 2 and 3 axes, or 3 and 3",
            help="give input 1 the axes [groups, columns, inner], input 0 [rows, inner] or [groups, rows, inner]",
            input=1 if len(b) != 3 else 0,
        )
    if len(a) == 3:
        groups = merged(((a[0],), (b[0],)), OPERAND_SHAPE, "both have one matrix for each group")
        product_shape = multiplied(a[1:], b[1:], False, True)
        return Tensor(dtype, None if groups is None or product_shape is None else (*groups, *product_shape))
    if offsets is None or (offsets.shape is not None and len(offsets.shape) != 1):
        given = "is missing" if offsets is None else f"is {shape_text(offsets.shape)}"
        raise OPERAND_SHAPE.fault(
            f"input 2 {given}; where input 0 has 2 axes, it tells in one axis where each group of rows ends",
            help="connect the offsets, one for each group",
            input=2,
        )
    _same_inner(a, b, 1, 2, (0, 1))
    return Tensor(dtype, (a[0], b[1]))


# --- Gemm -------------------------------------------------------------------------------------------------------------


def general_product(
    a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool, inputs: tuple[int, int] = (0, 1)
) -> tuple[MaybeDim, MaybeDim]:
    """The two sizes of a product of two matrices, None where an input does not tell.

    Raises an ``OPERAND_SHAPE`` or ``MATMUL_MISMATCH`` fault.
    """
    expect_matrix(a.shape, inputs[0], "A")
    expect_matrix(b.shape, inputs[1], "B")
    if a.shape is not None and b.shape is not None:
        multiplied(a.shape, b.shape, transpose_a, transpose_b, inputs)
    rows = None if a.shape is None else a.shape[1 if transpose_a else 0]
    columns = None if b.shape is None else b.shape[0 if transpose_b else 1]
    return rows, columns


@onnx("Gemm", since=7)
def gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """ONNX Gemm-7 and later: C is stretched onto the product; from 11 on it may be left out."""
    shape = general_product(a, b, bool(transA), bool(transB))
    return Tensor(a.dtype or b.dtype, stretched(shape, c.shape, 2, what="input 2 (C)") if c is not None else shape)


@onnx("Gemm", since=1)
def gemm_with_broadcast(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    broadcast: int = 0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """ONNX Gemm-1 and 6: C is stretched only with ``broadcast``, else it has the shape of the product."""
    shape = general_product(a, b, bool(transA), bool(transB))
    if broadcast:
        return Tensor(a.dtype or b.dtype, stretched(shape, c.shape, 2, what="input 2 (C)"))
    merged((shape, None, c.shape), why="before opset 7 Gemm stretches its input 2 (C) only with broadcast=1")
    return Tensor(a.dtype or b.dtype, shape)


# --- Einsum -----------------------------------------------------------------------------------------------------------

ELLIPSIS = "..."
Term = tuple[str, ...]


def equation_terms(equation: str) -> tuple[tuple[Term, ...], Term | None]:
    """The terms of an Einsum equation, each the tuple of its letters and ellipsis, and what follows ``->``, if it does.

    Raises an ``EQUATION_INVALID`` fault.
    """
    left, arrow, right = equation.partition("->")
    terms = tuple(_term(text, equation) for text in left.split(","))
    return terms, _term(right, equation) if arrow else None


def _term(text: str, equation: str) -> Term:
    before, dots, after = text.partition(ELLIPSIS)
    for letter in before + after:
        if letter.isascii() and letter.isalpha():
            continue
        wrong = "a second ellipsis" if dots and ELLIPSIS in after else f'"{letter}"'
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the term "{text}" has {wrong}, where only letters and one ellipsis may be',
            help="write one letter for each axis, and at most one ... in each term",
            attribute="equation",
        )
    return (*before, *([ELLIPSIS] if dots else []), *after)


def _expect_terms_fit(terms: Sequence[Term], output: Term, shapes: Sequence[Shape | None], equation: str) -> None:
    if len(terms) != len(shapes):
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}" with {len(terms)} terms, and there are {len(shapes)} inputs',
            help="write one term for each input, separated by commas",
            attribute="equation",
        )
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        letters = sum(label != ELLIPSIS for label in term)
        if shape is None or len(shape) == letters or (ELLIPSIS in term and len(shape) > letters):
            continue
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": its term {index}, "{"".join(term)}", has {letters} letters, '
            f"and input {index} is {shape_text(shape)} with {len(shape)} axes",
            help=f"write {len(shape)} letters in term {index}"
            + (", or put ... for the rest" if len(shape) > letters else ""),
            input=index,
            attribute="equation",
        )
    known = {label for term in terms for label in term} | {ELLIPSIS}
    strange = [label for label in output if label not in known]
    if strange:
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the result has the letter {strange[0]}, which is in no term',
            help="use only letters of the terms after ->",
            attribute="equation",
        )


def einsum_shape(equation: str, terms: Sequence[Term], output: Term, shapes: Sequence[Shape | None]) -> Shape | None:
    """The shape of an Einsum's result; sizes that one letter stands for are equal or 1.

    Raises an ``EQUATION_INVALID`` or ``EINSUM_MISMATCH`` fault.
    """
    _expect_terms_fit(terms, output, shapes, equation)
    columns: dict[str, list[tuple[int, int, MaybeDim]]] = {}
    covered: list[Shape | None] = []
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        start = term.index(ELLIPSIS) if ELLIPSIS in term else len(term)
        width = 0 if shape is None else len(shape) - sum(label != ELLIPSIS for label in term)
        covered.append(() if ELLIPSIS not in term else None if shape is None else shape[start : start + width])
        for position, label in enumerate(term):
            axis = position if position < start else position - 1 + width
            if label != ELLIPSIS:
                columns.setdefault(label, []).append((index, axis, None if shape is None else shape[axis]))
    sizes: dict[str, MaybeDim] = {letter: _one_size(letter, column) for letter, column in columns.items()}
    middle = _covered(covered)
    if ELLIPSIS in output and middle is None:
        return None
    result: list[MaybeDim] = []
    for label in output:
        result += (middle or ()) if label == ELLIPSIS else (sizes[label],)
    return tuple(result)


def _one_size(letter: str, column: Sequence[tuple[int, int, MaybeDim]]) -> MaybeDim:
    pair = clash([(position, dim) for position, (_, _, dim) in enumerate(column)])
    if pair is None:
        return joined([(index, dim) for index, _, dim in column], f"the letter {letter}")
    (left, axis_a, a), (right, axis_b, b) = column[pair[0]], column[pair[2]]
    raise EINSUM_MISMATCH.fault(
        f"the letter {letter} stands for axis {axis_a} of input {left}, which is {a}, and for axis {axis_b} of input "
        f"{right}, which is {b}: they have to be equal, or one of them 1",
        help=f"make both sizes equal, or use two letters instead of {letter}",
        input=right,
        marks=((left, axis_a), (right, axis_b)),
        remark="differ, and are one letter",
    )


def _covered(shapes: Sequence[Shape | None]) -> Shape | None:
    """The axes that the ellipses stand for, broadcast together."""
    try:
        return broadcast(shapes)
    except Fault as fault:
        raise EINSUM_MISMATCH.fault(
            f"of the axes that the ellipsis stands for, {fault.message}", help=fault.help, input=fault.input
        ) from None


def _implicit(terms: Sequence[Term], letters: list[str]) -> Term:
    dots = (ELLIPSIS,) if any(ELLIPSIS in term for term in terms) else ()
    return (*dots, *sorted(letters))


@onnx("Einsum", since=12)
def einsum(*xs: Tensor, equation: str) -> Tensor:
    """ONNX Einsum-12: spaces are ignored; without ``->`` the result has the letters that occur once."""
    terms, output = equation_terms(equation.replace(" ", ""))
    if output is None:
        letters = [label for term in terms for label in term if label != ELLIPSIS]
        output = _implicit(terms, [letter for letter in letters if letters.count(letter) == 1])
    repeated = [label for label in output if output.count(label) > 1]
    if repeated:
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the result has the letter {repeated[0]} more than once',
            help="name each axis of the result by a letter of its own",
            attribute="equation",
        )
    shapes = [x.shape for x in xs]
    shape = einsum_shape(equation, terms, output, shapes)
    _expect_one_width(equation, terms, output, shapes)
    return Tensor(next((x.dtype for x in xs if x.dtype is not None), None), shape)


def _expect_one_width(equation: str, terms: Sequence[Term], output: Term, shapes: Sequence[Shape | None]) -> None:
    """ONNX: an ellipsis stands for the same number of axes everywhere, and stays in the result."""
    widths = [
        (index, len(shape) - len(term) + 1)
        for index, (term, shape) in enumerate(zip(terms, shapes))
        if shape is not None and ELLIPSIS in term
    ]
    odd = next(((index, width) for index, width in widths if width != widths[0][1]), None)
    if odd is not None:
        raise EQUATION_INVALID.fault(
            f'the equation is "{equation}": the ellipsis stands for {widths[0][1]} axes in input {widths[0][0]} and '
            f"for {odd[1]} in input {odd[0]}; it has to be the same number everywhere",
            help=f"give input {odd[0]} axes of 1 in front (Unsqueeze)",
            input=odd[0],
            attribute="equation",
        )
    if ELLIPSIS not in output and any(width for _, width in widths):
        warn(
            EQUATION_INVALID.fault(
                f'the equation is "{equation}": the ellipsis stands for {widths[0][1]} axes and is not in the result; '
                "ONNX Runtime and NumPy refuse to sum over them",
                help="write ... after -> as well, or letters instead of it",
                attribute="equation",
                severity=Severity.WARNING,
            )
        )


@openvino("Einsum", since=7, absent={"equation": ""})
def ov_einsum(*xs: Tensor, equation: str) -> Tensor:
    """OpenVINO Einsum-7: no spaces; without ``->`` the result has the letters that stand in one term only."""
    for index, x in enumerate(xs):
        expect_type(x, index, ARITHMETIC)
    dtype = common_type(xs)
    terms, output = equation_terms(equation)
    if output is None:
        letters = [label for term in terms for label in term if label != ELLIPSIS]
        output = _implicit(terms, [letter for letter in letters if sum(letter in term for term in terms) == 1])
    shapes = [x.shape for x in xs]
    _expect_terms_fit(terms, output, shapes, equation)
    for index, (term, shape) in enumerate(zip(terms, shapes)):
        if shape is not None:
            _expect_squares(index, term, shape)
    return Tensor(dtype, einsum_shape(equation, terms, output, shapes))


def _expect_squares(index: int, term: Term, shape: Shape) -> None:
    """OpenVINO: axes of one input that share a letter are equal, and none is stretched from 1."""
    first: dict[str, int] = {}
    for position, label in enumerate(term):
        after = ELLIPSIS in term[:position]
        axis = position - len(term) + len(shape) if after else position
        if label == ELLIPSIS:
            continue
        other = first.setdefault(label, axis)
        if not agree(shape[other], shape[axis], f"axes {other} and {axis} of input {index} share the letter {label}"):
            raise EINSUM_MISMATCH.fault(
                f"the letter {label} stands for axis {other} of input {index}, which is {shape[other]}, and for its axis "
                f"{axis}, which is {shape[axis]}: they have to be equal",
                help=f"use two letters instead of {label}",
                input=index,
                marks=((index, other), (index, axis)),
                remark="differ, and are one letter",
            )


# --- ONNX Runtime's own products --------------------------------------------------------------------------------------

_MICROSOFT = "com.microsoft"


@onnx("FusedMatMul", domain=_MICROSOFT)
def fused_matmul(
    a: Tensor,
    b: Tensor,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """ONNX Runtime's FusedMatMul: ``transBatchA`` moves the first axis of A behind its batch axes."""
    left = _batch_moved(a.shape) if transBatchA else a.shape
    right = _batch_moved(b.shape) if transBatchB else b.shape
    return Tensor(a.dtype or b.dtype, multiplied(left, right, bool(transA), bool(transB)))


def _batch_moved(shape: Shape | None) -> Shape | None:
    return shape if shape is None or len(shape) < 3 else (*shape[1:-1], shape[0], shape[-1])


@onnx("FusedMatMulActivation", domain=_MICROSOFT)
def fused_matmul_activation(
    a: Tensor,
    b: Tensor,
    *,
    activation: str,
    activation_alpha: float | None = None,
    activation_axis: int | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> Tensor:
    """ONNX Runtime's FusedMatMul with an activation behind it."""
    return fused_matmul(a, b, transA=transA, transB=transB, transBatchA=transBatchA, transBatchB=transBatchB)


@onnx("TransposeMatMul", domain=_MICROSOFT)
def transpose_matmul(a: Tensor, b: Tensor, *, alpha: float = 1.0, transA: int = 0, transB: int = 0) -> Tensor:
    """ONNX Runtime's TransposeMatMul, the elder FusedMatMul."""
    return fused_matmul(a, b, transA=transA, transB=transB)


@onnx("SparseToDenseMatMul", domain=_MICROSOFT)
def sparse_to_dense_matmul(
    a: SparseTensor, b: Tensor, *, alpha: float = 1.0, transA: int = 0, transB: int = 0
) -> Tensor:
    """ONNX Runtime's SparseToDenseMatMul: a sparse matrix times a dense one."""
    return Tensor(b.dtype, multiplied(a.shape, b.shape, bool(transA), bool(transB)))


@onnx("GemmFastGelu", domain=_MICROSOFT)
def gemm_fast_gelu(x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """ONNX Runtime's GemmFastGelu: MatMul, then a bias, then a GELU."""
    return Tensor(x.dtype or w.dtype, _biased(multiplied(x.shape, w.shape), bias, 2))


def _biased(shape: Shape | None, bias: Tensor | None, index: int) -> Shape | None:
    if bias is not None and shape:
        expect_length(bias.shape, index, shape[-1], "the bias", scalar=False)
    return shape


@onnx("FusedGemm", domain=_MICROSOFT)
def fused_gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    activation: str | None = None,
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    """ONNX Runtime's Gemm with an activation behind it."""
    return gemm(a, b, c, transA=transA, transB=transB)


@onnx("GemmFloat8", domain=_MICROSOFT)
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
    return Tensor(NUMBERED_TYPES[dtype - 1], general_product(a, b, bool(transA), bool(transB)))


@onnx("QGemm", domain=_MICROSOFT)
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
    shape = general_product(a, b, bool(transA), bool(transB), (0, 3))
    for x, index in ((b_scale, 4), (b_zero_point, 5)):
        _per_column(x, index, b.shape, "a scale or zero point of B", bool(transB))
    if c is not None:
        stretched(shape, c.shape, 6, what="input 6 (C)")
    return Tensor("float32" if y_scale is None or y_zero_point is None else y_zero_point.dtype, shape)


@onnx("MatMulInteger16", domain=_MICROSOFT)
def matmul_integer16(a: Tensor, b: Tensor) -> Tensor:
    """ONNX Runtime's MatMulInteger16: uint32 for two unsigned inputs, else int32."""
    unsigned = a.dtype == "uint16" and b.dtype == "uint16"
    known = a.dtype is not None and b.dtype is not None
    return Tensor(("uint32" if unsigned else "int32") if known else None, multiplied(a.shape, b.shape))


@onnx("MatMulIntegerToFloat", domain=_MICROSOFT)
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
        _per_column(x, index, b.shape, "a scale or zero point of B")
    return Tensor(a_scale.dtype or b_scale.dtype, _biased(shape, bias, 6))


@onnx("DynamicQuantizeMatMul", domain=_MICROSOFT)
def dynamic_quantize_matmul(
    a: Tensor, b: Tensor, b_scale: Tensor, b_zero_point: Tensor | None = None, bias: Tensor | None = None
) -> Tensor:
    """ONNX Runtime's DynamicQuantizeMatMul."""
    shape = multiplied(a.shape, b.shape)
    for x, index in ((b_scale, 2), (b_zero_point, 3)):
        _per_column(x, index, b.shape, "a scale or zero point of B")
    return Tensor(a.dtype, _biased(shape, bias, 4))


def by_packed_weights(a: Shape | None, inner: MaybeDim, columns: MaybeDim, what: str) -> Shape | None:
    """The product with weights of which only the sizes are told. Raises a ``MATMUL_MISMATCH`` fault."""
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


def _expect_count(x: Tensor, index: int, count: Dim, what: str) -> None:
    if x.shape is not None and same(product(x.shape), count) is False:
        raise OPERAND_SHAPE.fault(
            f"input {index} is {shape_text(x.shape)} with {product(x.shape)} elements; {what} has {count}",
            help="check the attributes against the weights that were packed",
            input=index,
        )


@onnx("MatMulNBits", domain=_MICROSOFT)
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
    shape = by_packed_weights(a.shape, K, N, "the attribute K")
    blocks = -(-K // block_size)
    if not weight_prepacked:
        _expect_count(b, 1, N * blocks * (block_size * bits // 8), f"a packed [{N}, {K}] of {bits} bits")
        _expect_count(scales, 2, N * blocks, f"one scale for each of {blocks} blocks in {N} columns")
    return Tensor(a.dtype or scales.dtype, _biased(shape, bias, 5))


@onnx("MatMulBnb4", domain=_MICROSOFT)
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
    _expect_count(b, 1, (N * K + 1) // 2, f"a packed [{N}, {K}] of 4 bits")
    if block_size > 0:
        _expect_count(absmax, 2, ceildiv(N * K, block_size), f"one scale for each block of {block_size}")
    return Tensor(a.dtype or absmax.dtype, by_packed_weights(a.shape, inner, columns, f"{'K' if transB else 'N'}"))


@onnx("MatMulFpQ4", domain=_MICROSOFT)
def matmul_fpq4(a: Tensor, b: Tensor, b_shape: Tensor, *, blk_quant_type: int = 1) -> Tensor:
    """ONNX Runtime's MatMulFpQ4: ``B_shape`` holds [K, N]."""
    sizes = b_shape.ints or (None, None)
    if len(sizes) != 2:
        raise OPERAND_SHAPE.fault(
            f"input 2 (B_shape) has {len(sizes)} elements; it has to hold the two sizes of B",
            help="give it the values [K, N]",
            input=2,
        )
    return Tensor(a.dtype, by_packed_weights(a.shape, sizes[0], sizes[1], "B_shape"))
