"""Operators that work element by element: arithmetic, comparison, logic, selection and activations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable

from irlint.dims import Expr, Shape, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Scalar, Tensor, shape_text
from irlint.ops import LATER, OPENVINO, Context, onnx, openvino, without_rule
from irlint.ops.kernels import contents as fold
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.kernels.auto_broadcast import Broadcasting, broadcast_by
from irlint.ops.kernels.broadcast import broadcast, merged, stretches
from irlint.ops.kernels.element_types import ARITHMETIC, BITWISE, LOGICAL, common_type, expect_type

RoundMode = Literal["half_to_even", "half_away_from_zero"]
ShiftDirection = Literal["LEFT", "RIGHT"]

_AXIS = {"auto_broadcast_axis": "auto_broadcast.auto_broadcast_axis"}

FOLDS: dict[str, Callable[..., Scalar]] = {
    "Add": fold.plus,
    "Sum": fold.plus,
    "Sub": fold.minus,
    "Subtract": fold.minus,
    "Mul": fold.times,
    "Multiply": fold.times,
    "Div": fold.truncated_quotient,
    "Divide": fold.floored_quotient,
    "Pow": fold.power,
    "Power": fold.power,
    "Max": fold.greater,
    "Maximum": fold.greater,
    "Min": fold.lesser,
    "Minimum": fold.lesser,
    "Mod": fold.truncated_remainder,
    "FloorMod": fold.floored_remainder,
    "Equal": fold.equal,
    "NotEqual": fold.unequal,
    "Less": fold.less,
    "LessOrEqual": lambda a, b: fold.not_less(b, a),
    "LessEqual": lambda a, b: fold.not_less(b, a),
    "Greater": lambda a, b: fold.less(b, a),
    "GreaterOrEqual": fold.not_less,
    "GreaterEqual": fold.not_less,
    "And": fold.both,
    "LogicalAnd": fold.both,
    "Or": fold.either,
    "LogicalOr": fold.either,
    "Xor": lambda a, b: a != b,
    "LogicalXor": lambda a, b: a != b,
    "BitwiseAnd": operator.and_,
    "BitwiseOr": operator.or_,
    "BitwiseXor": operator.xor,
    "SquaredDifference": lambda a, b: fold.times(fold.minus(a, b), fold.minus(a, b)),
    "Neg": lambda x: -x,
    "Negative": lambda x: -x,
    "Not": operator.not_,
    "LogicalNot": operator.not_,
    "Abs": lambda x: x if isinstance(x, Expr) and fold.not_less(x, 0) else abs(x),
    "Floor": lambda x: x if isinstance(x, (int, Expr)) else float(math.floor(x)),
    "Ceil": lambda x: x if isinstance(x, (int, Expr)) else float(math.ceil(x)),
    "Ceiling": lambda x: x if isinstance(x, (int, Expr)) else float(math.ceil(x)),
    "Round": lambda x: x if isinstance(x, (int, Expr)) else float(round(x)),
    "Sqrt": lambda x: None if isinstance(x, Expr) else math.sqrt(x),
    "Reciprocal": lambda x: None if isinstance(x, Expr) else 1.0 / x,
    "Exp": lambda x: None if isinstance(x, Expr) else math.exp(x),
    "Log": lambda x: None if isinstance(x, Expr) else math.log(x),
    "Relu": lambda x: fold.greater(x, 0),
    "Sign": lambda x: None if isinstance(x, Expr) else (x > 0) - (x < 0),
}

#: Folds that can know the result without one of their entries.
PARTIAL = frozenset({"And", "LogicalAnd", "Or", "LogicalOr"})


def _elementwise(op: str, tensors: tuple[Tensor, ...], shape: Shape | None, dtype: str | None) -> Tensor:
    if op not in FOLDS:
        return Tensor(dtype, shape)
    return Tensor(dtype, shape, fold.folded(FOLDS[op], tensors, shape, dtype, partial=op in PARTIAL))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@openvino("Add", "Subtract", "Multiply", "Power", "Maximum", "Minimum", "Mod", "FloorMod", spelled=_AXIS)
@openvino("SquaredDifference", spelled=_AXIS)
def ov_arithmetic(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
    context: Context,
) -> Tensor:
    """OpenVINO binary arithmetic: equal numeric element types, broadcast by ``auto_broadcast``."""
    expect_type(a, 0, ARITHMETIC)
    expect_type(b, 1, ARITHMETIC)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return _elementwise(context.op, (a, b), shape, dtype)


@openvino("Divide", spelled=_AXIS)
def ov_divide(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
    m_pythondiv: bool = True,
) -> Tensor:
    """OpenVINO Divide-1; whole numbers are rounded down with ``m_pythondiv``, towards zero without."""
    expect_type(a, 0, ARITHMETIC)
    expect_type(b, 1, ARITHMETIC)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return _elementwise("Divide" if m_pythondiv else "Div", (a, b), shape, dtype)


@openvino("Equal", "NotEqual", "Greater", "GreaterEqual", "Less", "LessEqual", spelled=_AXIS)
def ov_comparison(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
    context: Context,
) -> Tensor:
    """OpenVINO comparisons: equal element types of any kind; the result is boolean."""
    common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return _elementwise(context.op, (a, b), shape, "bool")


@openvino("LogicalAnd", "LogicalOr", "LogicalXor", spelled=_AXIS)
@openvino("Xor", until=1, spelled=_AXIS)
def ov_logical(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
    context: Context,
) -> Tensor:
    """OpenVINO logical operations on booleans."""
    expect_type(a, 0, LOGICAL)
    expect_type(b, 1, LOGICAL)
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return _elementwise(context.op, (a, b), shape, "bool")


@openvino("BitwiseAnd", "BitwiseOr", "BitwiseXor", since=13, spelled=_AXIS)
def ov_bitwise(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
    context: Context,
) -> Tensor:
    """OpenVINO BitwiseAnd/Or/Xor-13 on integers or booleans."""
    expect_type(a, 0, BITWISE)
    expect_type(b, 1, BITWISE)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return _elementwise(context.op, (a, b), shape, dtype)


@openvino("BitwiseLeftShift", "BitwiseRightShift", since=15, spelled=_AXIS)
def ov_shift(
    a: Tensor,
    b: Tensor,
    *,
    broadcasting: Broadcasting,
) -> Tensor:
    """OpenVINO BitwiseLeftShift/RightShift-15 on integers."""
    expect_type(a, 0, INTEGERS)
    expect_type(b, 1, INTEGERS)
    dtype = common_type((a, b))
    return Tensor(dtype, broadcast_by(broadcasting, (a.shape, b.shape)))


@openvino("Select", spelled=_AXIS)
def ov_select(
    cond: Tensor,
    then: Tensor,
    otherwise: Tensor,
    *,
    broadcasting: Broadcasting,
) -> Tensor:
    """OpenVINO Select-1: ``else``, ``then`` and ``cond`` are broadcast together; the library lets ``cond`` enlarge them."""
    expect_type(cond, 0, LOGICAL)
    dtype = common_type((then, otherwise), first=1)
    if broadcasting.auto_broadcast == "numpy":
        shape = broadcast((cond.shape, then.shape, otherwise.shape))
    elif broadcasting.auto_broadcast == "pdpd":
        shape = broadcast_by(broadcasting, (then.shape, otherwise.shape, cond.shape))
    else:
        shape = merged((cond.shape, then.shape, otherwise.shape), why="nothing is broadcast")
    return _selected(cond, then, otherwise, shape, dtype)


def _selected(cond: Tensor, then: Tensor, otherwise: Tensor, shape: Shape | None, dtype: str | None) -> Tensor:
    return Tensor(dtype, shape, fold.folded(fold.chosen, (cond, then, otherwise), shape, dtype, partial=True))


# --- ONNX -------------------------------------------------------------------------------------------------------------


DIVISION_BY_ZERO = Rule(
    "IRL706",
    "integer-division-by-zero",
    Severity.ERROR,
    "Whole numbers are divided by a constant that has a 0 in it.",
    why="""Whole numbers have no infinity: the quotient and the remainder do not exist. ONNX Runtime refuses a Div or Mod whose
divisor is such a constant when it loads the model, and stops at one that it works out.""",
    mend="Correct the divisor, or divide floating-point numbers.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] x) => (int64[2] y) <int64[2] b = {2, 0}> { y = Div (x, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] x) => (int64[2] y) <int64[2] b = {2, 1}> { y = Div (x, b) }""",
)


def _expect_no_zero(a: Tensor, b: Tensor) -> None:
    """Makes sure that whole numbers ``a`` can be divided by ``b``. Raises a ``DIVISION_BY_ZERO`` fault."""
    if (b.dtype or a.dtype) not in INTEGERS or b.value is None:
        return
    zeros = [index for index, entry in enumerate(b.value) if isinstance(entry, int) and entry == 0]
    if not zeros:
        return
    raise DIVISION_BY_ZERO.fault(
        f"input 1 is {b.dtype or a.dtype}{shape_text(b.shape)} and "
        + ("is 0" if len(b.value) == 1 else f"has a 0 at index {zeros[0]}")
        + ": whole numbers cannot be divided by it",
        help="correct the divisor, or cast both inputs to a floating-point type",
        input=1,
    )


@onnx("Add", "Sub", "Mul", "Div", "Pow", since=7)
@onnx("BitwiseAnd", "BitwiseOr", "BitwiseXor", since=18)
def arithmetic(a: Tensor, b: Tensor, *, context: Context) -> Tensor:
    """ONNX binary arithmetic with multidirectional broadcasting; the result has the type of A."""
    if context.op == "Div":
        _expect_no_zero(a, b)
    shape = broadcast((a.shape, b.shape))
    return _elementwise(context.op, (a, b), shape, a.dtype or (b.dtype if context.op != "Pow" else None))


@onnx("And", "Or", "Xor", "Equal", "Greater", "Less", since=7)
@onnx("GreaterOrEqual", "LessOrEqual", since=12)
def comparison(a: Tensor, b: Tensor, *, context: Context) -> Tensor:
    """ONNX comparisons and logic with multidirectional broadcasting; the result is boolean."""
    return _elementwise(context.op, (a, b), broadcast((a.shape, b.shape)), "bool")


@onnx("BitShift", since=11)
def bit_shift(x: Tensor, y: Tensor, *, direction: ShiftDirection) -> Tensor:
    """ONNX BitShift-11."""
    shape = broadcast((x.shape, y.shape))
    shift = operator.lshift if direction == "LEFT" else operator.rshift
    return Tensor(x.dtype, shape, fold.folded(shift, (x, y), shape, x.dtype))


@onnx("Mod", since=10)
def mod(a: Tensor, b: Tensor, *, fmod: int = 0, context: Context) -> Tensor:
    """ONNX Mod-10: the sign of the divisor, or with ``fmod``, which floats need up to opset 27, that of the dividend."""
    if fmod not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `fmod` is {fmod}; it is 0 or 1",
            help="write fmod=1 for floating-point numbers",
            attribute="fmod",
        )
    dtype = a.dtype or b.dtype
    if fmod == 0 and dtype in FLOATS and context.version < 28:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `fmod` is 0 and input 0 is {dtype}: up to opset 27 floating-point numbers need fmod=1, and ONNX "
            "Runtime stops without it",
            help="write fmod=1",
            attribute="fmod",
        )
        warn(fault.lowered(Severity.WARNING))
    _expect_no_zero(a, b)
    shape = broadcast((a.shape, b.shape))
    remainder = fold.truncated_remainder if fmod else fold.floored_remainder
    return Tensor(a.dtype, shape, fold.folded(remainder, (a, b), shape, a.dtype))


@onnx("Max", "Min", "Sum", "Mean", since=8)
def variadic(*xs: Tensor, context: Context) -> Tensor:
    """ONNX Max, Min, Sum and Mean with multidirectional broadcasting of any number of inputs."""
    shape = broadcast([x.shape for x in xs])
    return _elementwise(context.op if len(xs) <= 2 else "", xs, shape, _first_type(xs))


@onnx("Max", "Min", "Sum", "Mean", since=1)
def variadic_of_one_shape(*xs: Tensor, consumed_inputs: object = None) -> Tensor:
    """ONNX Max, Min, Sum and Mean before opset 8: all inputs of one shape; ``consumed_inputs`` is of version 1."""
    shape = merged([x.shape for x in xs], why="before opset 8 the operator does not broadcast")
    return Tensor(_first_type(xs), shape)


def _first_type(xs: tuple[Tensor, ...]) -> str | None:
    return next((x.dtype for x in xs if x.dtype is not None), None)


@onnx("Where", since=9)
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """ONNX Where-9 with multidirectional broadcasting of all three inputs."""
    shape = broadcast((condition.shape, x.shape, y.shape))
    return _selected(condition, x, y, shape, x.dtype or y.dtype)


AXIS_MISMATCH = Rule(
    "IRL206",
    "legacy-broadcast-mismatch",
    Severity.ERROR,
    "Before opset 7 the second input has to be a single element or a continuous part of the first.",
    why="""Up to opset 6 an elementwise operator broadcasts only with `broadcast=1`, only its second input, and lays it along
the first one's axes from `axis` on (both end together where `axis` is not given). No size 1 is stretched inside it.""",
    mend="Set `axis` to the axis on which the second input begins, or convert the model to opset 7 or later.",
    bad="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3,4,5] x, float[3,5] b) => (float[2,3,4,5] y) { y = Add <broadcast = 1, axis = 1> (x, b) }""",
    good="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3,4,5] x, float[3,4] b) => (float[2,3,4,5] y) { y = Add <broadcast = 1, axis = 1> (x, b) }""",
)


def _legacy(a: Shape | None, b: Shape | None, enabled: int, axis: int | None) -> Shape | None:
    """ONNX elementwise broadcasting of opset versions 1 to 6 (attributes ``broadcast`` and ``axis``)."""
    if not enabled:
        return merged((a, b), why="before opset 7 nothing is broadcast without the attribute broadcast=1")
    if a is None or b is None or all(same(dim, 1) for dim in b):
        return a
    start = len(a) - len(b) if axis is None else axis + len(a) if axis < 0 else axis
    if start < 0 or start + len(b) > len(a):
        raise AXIS_MISMATCH.fault(
            f"input 1 is {shape_text(b)} and reaches from axis {start} to axis {start + len(b) - 1} of input 0, "
            f"which is {shape_text(a)}",
            help="set `axis` to the axis of input 0 on which input 1 begins",
            input=1,
        )
    clashes, ones = [], []
    for own, dim in enumerate(b):
        if not stretches(dim, a[start + own], "the second input is a part of the first"):
            clashes.append((start + own, own))
        elif same(dim, 1) and same(a[start + own], 1) is False:
            ones.append((start + own, own))
    if clashes:
        raise _part_fault(a, b, start, clashes)
    if ones:
        warn(_part_fault(a, b, start, ones).lowered(Severity.WARNING))
    return a


def _part_fault(a: Shape, b: Shape, start: int, clashes: list[tuple[int, int]]) -> Fault:
    wide, own = clashes[0]
    return AXIS_MISMATCH.fault(
        f"input 1 is {shape_text(b)} and lies on input 0, {shape_text(a)}, from axis {start} on: "
        f"axis {wide} is {a[wide]} against {b[own]}",
        help="set `axis` to the axis of input 0 on which input 1 begins",
        input=1,
        marks=tuple(mark for wide, own in clashes for mark in ((0, wide), (1, own))),
        remark="differ",
    )


@onnx("Add", "Sub", "Mul", "Div", since=1)
def legacy_arithmetic(
    a: Tensor, b: Tensor, *, broadcast: int = 0, axis: int | None = None, consumed_inputs: object = None
) -> Tensor:
    """ONNX Add, Sub, Mul and Div of versions 1 and 6."""
    return Tensor(a.dtype or b.dtype, _legacy(a.shape, b.shape, broadcast, axis))


@onnx("Pow", since=1)
def legacy_pow(x: Tensor, y: Tensor, *, broadcast: int = 0, axis: int | None = None) -> Tensor:
    """ONNX Pow-1."""
    return Tensor(x.dtype or y.dtype, _legacy(x.shape, y.shape, broadcast, axis))


@onnx("And", "Or", "Xor", "Equal", "Greater", "Less", since=1)
def legacy_comparison(a: Tensor, b: Tensor, *, broadcast: int = 0, axis: int | None = None) -> Tensor:
    """ONNX And, Or, Xor, Equal, Greater and Less of version 1."""
    return Tensor("bool", _legacy(a.shape, b.shape, broadcast, axis))


# --- activations ------------------------------------------------------------------------------------------------------


@onnx("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Reciprocal", since=6)
@onnx("Acos", "Asin", "Atan", "Cos", "Sin", "Tan", since=7)
@onnx("Acosh", "Asinh", "Atanh", "Cosh", "Sinh", "Sign", "Erf", since=9)
@onnx("Round", since=11)
@onnx("Not", "Softplus", "Softsign", since=1)
@onnx("HardSwish", since=14)
@onnx("Mish", "BitwiseNot", since=18)
@openvino("LogicalNot")
def unary(x: Tensor, *, context: Context) -> Tensor:
    """Element by element; the result has the input's type and shape."""
    return _elementwise(context.op, (x,), x.shape, x.dtype)


@openvino("Abs", "Acos", "Asin", "Atan", "Ceiling", "Cos", "Cosh", "Erf", "Exp", "Floor", "Log", "Negative")
@openvino("Relu", spellings=("ReLU",))
@openvino("Sigmoid", "Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh")
@openvino("Acosh", "Asinh", "Atanh", "HSwish", since=4)
@openvino("HSigmoid", since=5)
def ov_unary(x: Tensor, *, context: Context) -> Tensor:
    """OpenVINO arithmetic on one tensor of numbers."""
    expect_type(x, 0, ARITHMETIC)
    return unary(x, context=context)


@openvino("Mish", "SoftPlus", since=4)
@openvino("SoftSign", since=9)
@openvino("ErfInv", since=17, until=17)
def ov_float_unary(x: Tensor) -> Tensor:
    """OpenVINO activations of floating-point numbers."""
    expect_type(x, 0, FLOATS)
    return Tensor(x.dtype, x.shape)


@openvino("Round", since=5)
def ov_round(x: Tensor, *, mode: RoundMode = "half_to_even") -> Tensor:
    """OpenVINO Round-5 of any element type."""
    return _elementwise("Round" if mode == "half_to_even" else "", (x,), x.shape, x.dtype)


@openvino("BitwiseNot", since=13)
def ov_bitwise_not(x: Tensor) -> Tensor:
    """OpenVINO BitwiseNot-13 on integers or booleans."""
    expect_type(x, 0, BITWISE)
    return Tensor(x.dtype, x.shape)


@onnx("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Floor", "Ceil", "Reciprocal", since=1)
def legacy_unary(x: Tensor, *, consumed_inputs: object = None) -> Tensor:
    """The first versions of ONNX activations, with the attribute ``consumed_inputs``."""
    return Tensor(x.dtype, x.shape)


without_rule("Atan2", domain=OPENVINO, help=LATER)
