"""Elementwise operators with several inputs: arithmetic, comparison, logic and selection."""

from __future__ import annotations

import operator

from irlint.dims import Shape, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import FLOATS, INTEGERS, Scalar, Tensor, shape_text
from irlint.ops import LATER, OPENVINO, Context, onnx, openvino, without_rule
from irlint.ops.shared import contents
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.auto_broadcast import Broadcasting, broadcast_by, past_end
from irlint.ops.shared.broadcast import broadcast, merged, stretches
from irlint.ops.shared.compiling import Layer, aligned_as_numpy, first_of, not_compiled
from irlint.ops.shared.contents import Fold, computed, extent
from irlint.ops.shared.element_types import ARITHMETIC, BITWISE, LOGICAL, common_type, expect_type

ShiftDirection = Literal["LEFT", "RIGHT"]

_AXIS = {"auto_broadcast_axis": "auto_broadcast.auto_broadcast_axis"}


# --- arithmetic on single entries -------------------------------------------------------------------------------------


def _not_greater(a: Scalar, b: Scalar) -> Scalar:
    return contents.not_less(b, a)


def _greater(a: Scalar, b: Scalar) -> Scalar:
    return contents.less(b, a)


def _squared_difference(a: Scalar, b: Scalar) -> Scalar:
    return contents.times(contents.minus(a, b), contents.minus(a, b))


DIVISION_BY_ZERO = Rule(
    "IRL706",
    "integer-division-by-zero",
    Severity.ERROR,
    "Integers are divided by a constant that contains 0.",
    why=(
        "Integers have no infinity, so the quotient and the remainder are undefined. ONNX Runtime refuses a Div or "
        "Mod with such a constant when it loads the model. If the divisor is computed, ONNX Runtime fails when the "
        "node runs."
    ),
    fix="Correct the divisor, or divide floating-point numbers.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] x) => (int64[2] y) <int64[2] b = {2, 0}> { y = Div (x, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (int64[2] x) => (int64[2] y) <int64[2] b = {2, 1}> { y = Div (x, b) }""",
    uncalled=False,
)


FLOAT_DIVISION_BY_ZERO = Rule(
    "IRL732",
    "division-by-zero",
    Severity.WARNING,
    "Floating-point numbers are divided by a constant that contains 0.",
    why="The quotient is infinite, or NaN for 0 / 0, and so are the results computed from it.",
    fix="Correct the divisor.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float d = {0.0}> { y = Div (x, d) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) <float d = {2.0}> { y = Div (x, d) }""",
    uncalled=False,
    role="nan",
)


def _divisor_text(b: Tensor, dtype: str) -> str:
    return "a scalar" if b.shape == () else f"{dtype}{shape_text(b.shape)}"


def _warn_of_zero(a: Tensor, b: Tensor) -> None:
    """Warns if floating-point numbers are divided by a constant that contains 0."""
    dtype = b.dtype or a.dtype
    if dtype in FLOATS and (span := extent(b)) is not None and span.has_zero:
        verb = "is" if b.value is not None and len(b.value) == 1 else "contains a"
        warn(
            FLOAT_DIVISION_BY_ZERO.fault(
                f"input 1 is {_divisor_text(b, dtype)} and {verb} 0: the quotient is infinite or NaN",
                help="correct the divisor",
                input=1,
            )
        )


def _expect_no_zero(a: Tensor, b: Tensor) -> None:
    """Checks that a constant divisor ``b`` does not contain 0. Warns of floating-point numbers, raises for integers."""
    _warn_of_zero(a, b)
    dtype = b.dtype or a.dtype
    if dtype not in INTEGERS or b.value is None:
        return
    zeros = [index for index, entry in enumerate(b.value) if isinstance(entry, int) and entry == 0]
    if not zeros:
        return
    raise DIVISION_BY_ZERO.fault(
        f"input 1 is {_divisor_text(b, dtype)} and "
        + ("is 0" if len(b.value) == 1 else f"has a 0 at index {zeros[0]} of its elements")
        + ": integers cannot be divided by 0",
        help="correct the divisor, or cast both inputs to a floating-point type",
        input=1,
    )


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _remainder_of_dynamic_sizes(layer: Layer) -> Fault | None:
    """The fault of a remainder of floats with ``pdpd`` broadcasting and dynamic sizes."""
    if layer.attributes["broadcasting"].auto_broadcast != "pdpd" or layer.dtype(0) not in FLOATS:
        return None
    if layer.sizes(0) is not None and layer.sizes(1) is not None:
        return None
    return not_compiled(
        'attribute `auto_broadcast` is "pdpd", for which the CPU plugin does not compute remainders of floats with '
        "dynamic sizes",
        help='write auto_broadcast="numpy", or all sizes of the inputs',
        attribute="auto_broadcast",
    )


def _floats_aligned_as_numpy(layer: Layer) -> Fault | None:
    return aligned_as_numpy(layer) if layer.dtype(0) in FLOATS else None


@openvino(
    spelled=_AXIS,
    folds={
        "Add": contents.plus,
        "Multiply": contents.times,
        "Power": contents.power,
        "Maximum": contents.greater,
        "Minimum": contents.lesser,
    },
)
@openvino(spelled=_AXIS, compiles=_floats_aligned_as_numpy, folds={"Subtract": contents.minus})
@openvino(spelled=_AXIS, kept=True, folds={"SquaredDifference": _squared_difference})
def ov_arithmetic(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, fold: Fold) -> Tensor:
    """OpenVINO arithmetic on numbers of one element type."""
    expect_type(a, 0, ARITHMETIC)
    expect_type(b, 1, ARITHMETIC)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return computed(fold, (a, b), shape, dtype=dtype)


@openvino(
    spelled=_AXIS,
    folds={"Mod": contents.truncated_remainder},
    compiles=first_of(_remainder_of_dynamic_sizes, _floats_aligned_as_numpy),
)
@openvino(spelled=_AXIS, folds={"FloorMod": contents.floored_remainder})
def ov_remainder(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, fold: Fold) -> Tensor:
    """OpenVINO Mod-1 (the sign of the dividend) and FloorMod-1 (the sign of the divisor)."""
    _warn_of_zero(a, b)
    return ov_arithmetic(a, b, broadcasting=broadcasting, fold=fold)


@openvino("Divide", spelled=_AXIS, compiles=_floats_aligned_as_numpy)
def ov_divide(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, m_pythondiv: bool = True) -> Tensor:
    """OpenVINO Divide-1. With ``m_pythondiv``, quotients of integers are rounded down, otherwise towards zero."""
    expect_type(a, 0, ARITHMETIC)
    expect_type(b, 1, ARITHMETIC)
    _warn_of_zero(a, b)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    of_integers = contents.floored_quotient if m_pythondiv else contents.truncated_quotient
    quotient = contents.real_quotient if dtype in FLOATS else of_integers
    return computed(quotient, (a, b), shape, dtype=dtype)


@openvino(
    spelled=_AXIS,
    compiles=aligned_as_numpy,
    folds={
        "Equal": contents.equal,
        "NotEqual": contents.unequal,
        "Greater": _greater,
        "GreaterEqual": contents.not_less,
        "Less": contents.less,
        "LessEqual": _not_greater,
    },
)
def ov_comparison(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, fold: Fold) -> Tensor:
    """OpenVINO comparisons of inputs of one element type."""
    common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return computed(fold, (a, b), shape, dtype="bool")


@openvino(
    spelled=_AXIS,
    compiles=aligned_as_numpy,
    folds={"LogicalAnd": contents.both, "LogicalOr": contents.either, "LogicalXor": operator.ne},
)
@openvino(until=1, spelled=_AXIS, folds={"Xor": operator.ne})
def ov_logical(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, fold: Fold) -> Tensor:
    """OpenVINO logical operations on booleans."""
    expect_type(a, 0, LOGICAL)
    expect_type(b, 1, LOGICAL)
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return computed(fold, (a, b), shape, dtype="bool")


@openvino(
    since=13,
    spelled=_AXIS,
    kept=True,
    compiles=aligned_as_numpy,
    folds={"BitwiseAnd": operator.and_, "BitwiseOr": operator.or_, "BitwiseXor": operator.xor},
)
def ov_bitwise(a: Tensor, b: Tensor, *, broadcasting: Broadcasting, fold: Fold) -> Tensor:
    """OpenVINO BitwiseAnd/Or/Xor-13 on integers or booleans."""
    expect_type(a, 0, BITWISE)
    expect_type(b, 1, BITWISE)
    dtype = common_type((a, b))
    shape = broadcast_by(broadcasting, (a.shape, b.shape))
    return computed(fold, (a, b), shape, dtype=dtype)


@openvino("BitwiseLeftShift", "BitwiseRightShift", since=15, spelled=_AXIS)
def ov_shift(a: Tensor, b: Tensor, *, broadcasting: Broadcasting) -> Tensor:
    """OpenVINO BitwiseLeftShift/RightShift-15 on integers."""
    expect_type(a, 0, INTEGERS)
    expect_type(b, 1, INTEGERS)
    dtype = common_type((a, b))
    return Tensor(dtype, broadcast_by(broadcasting, (a.shape, b.shape)))


@openvino("Select", spelled=_AXIS)
def ov_select(cond: Tensor, then: Tensor, otherwise: Tensor, *, broadcasting: Broadcasting) -> Tensor:
    """OpenVINO Select-1. The library also broadcasts ``then`` and ``otherwise`` to ``cond``."""
    expect_type(cond, 0, LOGICAL)
    dtype = common_type((then, otherwise), first=1)
    if broadcasting.auto_broadcast == "numpy":
        shape = broadcast((cond.shape, then.shape, otherwise.shape))
    elif broadcasting.auto_broadcast == "pdpd":
        shape = broadcast_by(broadcasting, (then.shape, otherwise.shape, cond.shape), indices=(1, 2, 0))
    else:
        shape = merged((cond.shape, then.shape, otherwise.shape), why="nothing is broadcast")
    return _selected(cond, then, otherwise, shape=shape, dtype=dtype)


def _selected(cond: Tensor, then: Tensor, otherwise: Tensor, *, shape: Shape | None, dtype: str | None) -> Tensor:
    value = contents.folded(contents.chosen, (cond, then, otherwise), shape, dtype=dtype, partial=True)
    if value is not None or (then.extent is None and otherwise.extent is None):
        return Tensor(dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(dtype, shape, None, bounds.chosen(cond, then, otherwise, shape=shape))


# --- ONNX -------------------------------------------------------------------------------------------------------------


@onnx(since=7, folds={"Add": contents.plus, "Sub": contents.minus, "Mul": contents.times})
@onnx(since=18, folds={"BitwiseAnd": operator.and_, "BitwiseOr": operator.or_, "BitwiseXor": operator.xor})
def arithmetic(a: Tensor, b: Tensor, *, fold: Fold) -> Tensor:
    """ONNX arithmetic with multidirectional broadcasting."""
    result = computed(fold, (a, b), broadcast((a.shape, b.shape)), dtype=a.dtype or b.dtype)
    if result.value is None or None not in result.value or fold not in (contents.times, contents.real_quotient):
        return result
    from irlint.ops.shared.quotients import product_ratio, quotient_ratio, with_ratios

    return with_ratios(result, a, b, ratio=product_ratio if fold is contents.times else quotient_ratio)


@onnx("Div", since=7)
def div(a: Tensor, b: Tensor) -> Tensor:
    """ONNX Div-7: quotients of integers are rounded towards zero."""
    _expect_no_zero(a, b)
    quotient = contents.real_quotient if (a.dtype or b.dtype) in FLOATS else contents.truncated_quotient
    return arithmetic(a, b, fold=quotient)


@onnx("Pow", since=7)
def power(x: Tensor, y: Tensor) -> Tensor:
    """ONNX Pow-7: the result has the type of ``x``."""
    return computed(contents.power, (x, y), broadcast((x.shape, y.shape)), dtype=x.dtype)


@onnx(
    since=7,
    folds={
        "And": contents.both,
        "Or": contents.either,
        "Xor": operator.ne,
        "Equal": contents.equal,
        "Greater": _greater,
        "Less": contents.less,
    },
)
@onnx(since=12, folds={"GreaterOrEqual": contents.not_less, "LessOrEqual": _not_greater})
def comparison(a: Tensor, b: Tensor, *, fold: Fold) -> Tensor:
    """ONNX comparisons and logic with multidirectional broadcasting."""
    return computed(fold, (a, b), broadcast((a.shape, b.shape)), dtype="bool")


@onnx("BitShift", since=11)
def bit_shift(x: Tensor, y: Tensor, *, direction: ShiftDirection) -> Tensor:
    """ONNX BitShift-11."""
    shape = broadcast((x.shape, y.shape))
    shift = operator.lshift if direction == "LEFT" else operator.rshift
    return Tensor(x.dtype, shape, contents.folded(shift, (x, y), shape, dtype=x.dtype))


@onnx("Mod", since=10)
def mod(a: Tensor, b: Tensor, *, fmod: int = 0, context: Context) -> Tensor:
    """ONNX Mod-10: the result has the sign of the divisor or, with ``fmod``, of the dividend."""
    if fmod not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `fmod` is {fmod}; it must be 0 or 1",
            help="write fmod=1 for floating-point numbers",
            attribute="fmod",
        )
    dtype = a.dtype or b.dtype
    if fmod == 0 and dtype in FLOATS and context.version < 28:
        fault = ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `fmod` is 0 and input 0 is {dtype}: up to opset 27 floating-point numbers need fmod=1, and "
            "ONNX Runtime fails without it",
            help="write fmod=1",
            attribute="fmod",
        )
        warn(fault.lowered(Severity.WARNING))
    _expect_no_zero(a, b)
    shape = broadcast((a.shape, b.shape))
    remainder = contents.truncated_remainder if fmod else contents.floored_remainder
    return Tensor(a.dtype, shape, contents.folded(remainder, (a, b), shape, dtype=a.dtype))


@onnx(since=8, folds={"Max": contents.greater, "Min": contents.lesser, "Sum": contents.plus})
@onnx("Mean", since=8)
def variadic(*xs: Tensor, fold: Fold | None) -> Tensor:
    """ONNX Max, Min, Sum and Mean with multidirectional broadcasting of any number of inputs."""
    shape = broadcast([x.shape for x in xs])
    return computed(fold if len(xs) <= 2 else None, xs, shape, dtype=_first_type(xs))


@onnx("Max", "Min", "Sum", "Mean", since=1)
def variadic_of_one_shape(*xs: Tensor, consumed_inputs: object = None) -> Tensor:
    """ONNX Max, Min, Sum and Mean before opset 8, without broadcasting."""
    shape = merged([x.shape for x in xs], why="before opset 8 the operator does not broadcast")
    return Tensor(_first_type(xs), shape)


def _first_type(xs: tuple[Tensor, ...]) -> str | None:
    return next((x.dtype for x in xs if x.dtype is not None), None)


@onnx("Where", since=9, scratch=("selected",))
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """ONNX Where-9."""
    shape = broadcast((condition.shape, x.shape, y.shape))
    return _selected(condition, x, y, shape=shape, dtype=x.dtype or y.dtype)


AXIS_MISMATCH = Rule(
    "IRL206",
    "legacy-broadcast-mismatch",
    Severity.ERROR,
    "In an opset below 7, the second input must be a single element or match consecutive axes of the first input.",
    why=(
        "Up to opset 6, an elementwise operator broadcasts only with `broadcast=1`, and only its second input. The "
        "second input is aligned with the axes of the first input from `axis` on or, without `axis`, with the last "
        "axes of the first input. A size of 1 is not broadcast, except if the second input has a single element."
    ),
    fix=(
        "Set `axis` to the axis of the first input that matches the first axis of the second input, or convert the "
        "model to opset 7 or later."
    ),
    bad="""<ir_version: 3, opset_import: ["" : 6], metadata_props: ["irlint.ignore" : "IRL808"]>
g (float[2,3,4,5] x, float[3,5] b) => (float[2,3,4,5] y) { y = Add <broadcast = 1, axis = 1> (x, b) }""",
    good="""<ir_version: 3, opset_import: ["" : 6], metadata_props: ["irlint.ignore" : "IRL808"]>
g (float[2,3,4,5] x, float[3,4] b) => (float[2,3,4,5] y) { y = Add <broadcast = 1, axis = 1> (x, b) }""",
)


def legacy_broadcast(a: Shape | None, b: Shape | None, enabled: int, *, axis: int | None) -> Shape | None:
    """The shape of an elementwise operator of opsets 1 to 6; ``enabled`` is the attribute ``broadcast``.

    Raises a ``SHAPES_DIFFER`` or ``AXIS_MISMATCH`` fault; if a size of 1 is broadcast, reports it as a warning.
    """
    if not enabled:
        return merged((a, b), why="before opset 7, inputs are broadcast only with the attribute broadcast=1")
    if a is None or b is None or all(same(dim, 1) for dim in b):
        return a
    start = len(a) - len(b) if axis is None else axis + len(a) if axis < 0 else axis
    if start < 0 or start + len(b) > len(a):
        raise AXIS_MISMATCH.fault(
            past_end(a, b, start),
            help=f"give input 1 at most {counted(len(a), 'axis', 'axes')}"
            if len(b) > len(a)
            else "set `axis` to the axis of input 0 that matches the first axis of input 1",
            input=1,
        )
    clashes, ones = [], []
    for axis_b, dim in enumerate(b):
        axis_a = start + axis_b
        if not stretches(dim, a[axis_a], f"axis {axis_b} of input 1 is aligned with axis {axis_a} of input 0"):
            clashes.append((axis_a, axis_b))
        elif same(dim, 1) and same(a[axis_a], 1) is False:
            ones.append((axis_a, axis_b))
    if clashes:
        raise _alignment_fault(a, b, start, clashes=clashes)
    if ones:
        warn(_alignment_fault(a, b, start, clashes=ones).lowered(Severity.WARNING))
    return a


def _alignment_fault(a: Shape, b: Shape, start: int, *, clashes: list[tuple[int, int]]) -> Fault:
    axis_a, axis_b = clashes[0]
    return AXIS_MISMATCH.fault(
        f"input 1 is {shape_text(b)} and is aligned with input 0, {shape_text(a)}, from axis {start} on: "
        f"axis {axis_a} is {a[axis_a]} against {b[axis_b]}",
        help="set `axis` to the axis of input 0 that matches the first axis of input 1",
        input=1,
        marks=tuple(mark for axis_a, axis_b in clashes for mark in ((0, axis_a), (1, axis_b))),
        remark="differ",
    )


@onnx("Add", "Sub", "Mul", "Div", since=1)
def legacy_arithmetic(
    a: Tensor, b: Tensor, *, broadcast: int = 0, axis: int | None = None, consumed_inputs: object = None
) -> Tensor:
    """ONNX Add, Sub, Mul and Div of versions 1 and 6."""
    return Tensor(a.dtype or b.dtype, legacy_broadcast(a.shape, b.shape, broadcast, axis=axis))


@onnx("Pow", since=1)
def legacy_pow(x: Tensor, y: Tensor, *, broadcast: int = 0, axis: int | None = None) -> Tensor:
    """ONNX Pow-1."""
    return Tensor(x.dtype or y.dtype, legacy_broadcast(x.shape, y.shape, broadcast, axis=axis))


@onnx("And", "Or", "Xor", "Equal", "Greater", "Less", since=1)
def legacy_comparison(a: Tensor, b: Tensor, *, broadcast: int = 0, axis: int | None = None) -> Tensor:
    """ONNX And, Or, Xor, Equal, Greater and Less of version 1."""
    return Tensor("bool", legacy_broadcast(a.shape, b.shape, broadcast, axis=axis))


without_rule("Atan2", domain=OPENVINO, help=LATER)
