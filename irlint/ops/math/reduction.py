"""Reductions, ArgMax and ArgMin, CumSum and CumProd."""

from __future__ import annotations

from functools import reduce

from irlint.dims import MaybeDim, Shape, TooComplex, at_least, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.model.tensor import INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import Context, onnx, openvino
from irlint.ops.shared import contents
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, Ints, axes_of, axis_of
from irlint.ops.shared.compiling import Layer, constants_at, first_of, not_compiled
from irlint.ops.shared.contents import Fold
from irlint.ops.shared.element_types import ARITHMETIC, LOGICAL, expect_type
from irlint.ops.shared.expectations import expect_list_of_axes, expect_one, expect_rank
from irlint.ops.shared.shape_inputs import known_integers, length, number
from irlint.schemas import MICROSOFT

ARG_OF_NOTHING = Rule(
    "IRL355",
    "arg-of-empty-axis",
    Severity.ERROR,
    "ArgMax or ArgMin reduces an empty axis.",
    why=(
        "An axis of size 0 has no largest or smallest element, so runtimes fail. If another axis is dynamic, irlint "
        "only warns, because the node works if the other axis also has size 0."
    ),
    fix="Correct the operator that made the axis empty, often a Slice or a Reshape with a 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,0] x) => (int64[2,1] y) { y = ArgMax <axis = 1> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (int64[2,1] y) { y = ArgMax <axis = 1> (x) }""",
)


def reduced(
    shape: Shape | None, axes: tuple[int, ...] | None, keepdims: bool, *, count: int | None = None
) -> Shape | None:
    """``shape`` with its ``axes`` removed or, with ``keepdims``, of size 1; None if the rank is unknown.

    ``count`` is the number of ``axes``, which may be known if the axes are not. Raises an ``AXIS_OUT_OF_RANGE`` fault.
    Sources: ONNX Reduce*; OpenVINO Reduce*.
    """
    if shape is None:
        return None
    if axes is None:
        return _reduced_at_unknown_axes(shape, keepdims, count)
    places = set(axes_of(axes, len(shape), repeats=True))
    if keepdims:
        return tuple(1 if axis in places else dim for axis, dim in enumerate(shape))
    return tuple(dim for axis, dim in enumerate(shape) if axis not in places)


def _reduced_at_unknown_axes(shape: Shape, keepdims: bool, count: int | None) -> Shape | None:
    if keepdims:
        return tuple(1 if same(dim, 1) else None for dim in shape)
    if count != 1 or not shape:
        return None
    equal = all(same(dim, shape[0]) for dim in shape)
    return (shape[0] if equal else None,) * (len(shape) - 1)


def reduced_values(
    x: Tensor, axes: tuple[int, ...] | None, shape: Shape | None, *, combine: Fold | None, empty: Scalar = None
) -> Contents | None:
    """The values of a reduction to ``shape``; None if they are unknown or too many. See ``Combination``."""
    if x.value is None or axes is None or combine is None or x.shape is None or not contents.fits(shape):
        return None
    places = set(axes_of(axes, len(x.shape), repeats=True))
    groups: dict[tuple[int, ...], list[Scalar]] = {}
    for position, entry in zip(contents.positions(x.shape), x.value):
        remaining = tuple(index for axis, index in enumerate(position) if axis not in places)
        groups.setdefault(remaining, []).append(entry)
    if not groups:
        count = len(contents.positions(shape or ()))
        return None if empty is None and count else (contents.cast(empty, x.dtype),) * count
    return tuple(_combined(combine, entries, x.dtype) for entries in groups.values())


def _combined(combine: Fold, entries: list[Scalar], dtype: str | None) -> Scalar:
    if None in entries:
        return None
    try:
        return contents.cast(reduce(lambda a, b: None if a is None else combine(a, b), entries), dtype)
    except (ArithmeticError, TypeError, ValueError, TooComplex):
        return None


def _either(a: Scalar, b: Scalar) -> Scalar:
    return bool(a) or bool(b)


def _both(a: Scalar, b: Scalar) -> Scalar:
    return bool(a) and bool(b)


def _no_mean(a: Scalar, b: Scalar) -> Scalar:
    """The mean of two or more elements, which irlint does not compute."""
    return None


#: How a reduction computes values: (function of two elements, result for no elements).
Combination = tuple[Fold, Scalar]
SUM: Combination = (contents.plus, 0)
PRODUCT: Combination = (contents.times, 1)
LARGEST: Combination = (contents.greater, None)
SMALLEST: Combination = (contents.lesser, None)
MEAN: Combination = (_no_mean, None)


def _reduction(
    fold: Combination | None, x: Tensor, axes: tuple[int, ...] | None, *, keepdims: bool, count: int | None = None
) -> Tensor:
    shape = reduced(x.shape, axes, keepdims, count=count)
    combine, empty = fold or (None, None)
    return Tensor(x.dtype, shape, reduced_values(x, axes, shape, combine=combine, empty=empty))


def _all_axes(x: Tensor) -> tuple[int, ...] | None:
    return None if x.shape is None else tuple(range(len(x.shape)))


def _all_reduced(fold: Combination | None, x: Tensor, keepdims: bool) -> Tensor:
    if x.shape is None and not keepdims:
        return Tensor(x.dtype, ())
    return _reduction(fold, x, _all_axes(x), keepdims=keepdims)


# --- ONNX -------------------------------------------------------------------------------------------------------------


def _is_accepted_scalar(x: Tensor, axes: Ints, version: int, *, checked_since: int) -> bool:
    """Whether ``x`` is a scalar for which ONNX Runtime accepts ``axes``. If so, reports a warning."""
    if x.rank != 0 or version >= checked_since:
        return False
    fault = AXIS_OUT_OF_RANGE.fault(
        f"axes is {list(axes)} and input 0 has 0 axes: the specification does not allow this; ONNX Runtime accepts "
        f"it before opset {checked_since}",
        help="give the input at least one axis",
        input=0,
        severity=Severity.WARNING,
    )
    warn(fault)
    return True


@onnx(folds={"ReduceMax": LARGEST, "ReduceMin": SMALLEST, "ReduceProd": PRODUCT, "ReduceMean": MEAN, "ReduceSum": SUM})
@onnx("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
def reduce_by_attribute(
    x: Tensor, *, axes: Ints | None = None, keepdims: int = 1, fold: Combination | None, context: Context
) -> Tensor:
    """ONNX reductions with the attribute ``axes``. Without ``axes``, all axes are reduced."""
    checked_since = 12 if fold in (LARGEST, SMALLEST) else 11
    if not axes or _is_accepted_scalar(x, axes, context.version, checked_since=checked_since):
        return _all_reduced(fold, x, keepdims == 1)
    return _reduction(fold, x, axes, keepdims=keepdims == 1)


@onnx(since=13, folds={"ReduceSum": SUM})
@onnx(since=18, folds={"ReduceMax": LARGEST, "ReduceMin": SMALLEST, "ReduceProd": PRODUCT, "ReduceMean": MEAN})
@onnx("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare", since=18)
def reduce_by_input(
    x: Tensor,
    axes: Tensor | None = None,
    *,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    fold: Combination | None,
) -> Tensor:
    """ONNX reductions with the input ``axes``. Without ``axes``, all axes are reduced, or none with
    ``noop_with_empty_axes``."""
    if axes is not None:
        expect_list_of_axes(axes)
    count = 0 if axes is None else length(axes)
    if count == 0:
        return x if noop_with_empty_axes else _all_reduced(fold, x, keepdims == 1)
    if count is None and keepdims != 1:
        return Tensor(x.dtype)
    return _reduction(fold, x, known_integers(axes), keepdims=keepdims == 1, count=count)


@onnx("ArgMax", "ArgMin", since=12)
def arg_extreme(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    """ONNX ArgMax and ArgMin from opset 12 on."""
    shape = reduced(x.shape, (axis,), keepdims == 1)
    if x.shape is not None and shape is not None and 0 in x.shape and 0 not in shape and None not in shape:
        position = axis_of(axis, len(x.shape))
        filled = all(at_least(dim, 1) for dim in shape)
        fault = ARG_OF_NOTHING.fault(
            f"axis {position} of input 0 is 0, so it has no largest or smallest element",
            help="make sure that the axis is not empty",
            input=0,
            marks=((0, position),),
            severity=None if filled else Severity.WARNING,
        )
        if filled:
            raise fault
        warn(fault)
    return Tensor("int64", shape)


@onnx("ArgMax", "ArgMin")
def arg_extreme_1(x: Tensor, *, axis: int = 0, keepdims: int = 1, context: Context) -> Tensor:
    """ONNX ArgMax and ArgMin before opset 12."""
    if _is_accepted_scalar(x, (axis,), context.version, checked_since=11):
        return Tensor("int64", ())
    return arg_extreme(x, axis=axis, keepdims=keepdims)


@onnx("ReduceSumInteger", domain=MICROSOFT)
def reduce_sum_integer(x: Tensor, *, axes: Ints, keepdims: int) -> Tensor:
    """com.microsoft ReduceSumInteger: uint32 for unsigned elements, int32 for signed elements."""
    dtype = None if x.dtype is None else "uint32" if x.dtype == "uint8" else "int32"
    return Tensor(dtype, reduced(x.shape, axes, keepdims == 1))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def _compiled_reduction(layer: Layer) -> Fault | None:
    x, axes = layer.inputs[:2]
    if not isinstance(axes, Tensor) or axes.value != () or layer.attributes["keep_dims"]:
        return None
    if not isinstance(x, Tensor) or (x.rank or 0) < 2:
        return None
    return not_compiled(
        "input 1 (axes) is empty and keep_dims is false: by the specification, the result is input 0 with its "
        f"{x.rank} axes, but the CPU plugin requires fewer axes",
        help="write keep_dims as true, or remove the layer, because it reduces nothing",
        input=1,
    )


@openvino(
    read_at_load=(1,),
    compiles=_compiled_reduction,
    ignores_extra_inputs=True,
    folds={"ReduceMax": LARGEST, "ReduceMin": SMALLEST, "ReduceProd": PRODUCT, "ReduceMean": MEAN, "ReduceSum": SUM},
)
@openvino("ReduceL1", "ReduceL2", since=4, read_at_load=(1,), compiles=_compiled_reduction, ignores_extra_inputs=True)
def ov_reduce(x: Tensor, axes: Tensor, *, keep_dims: bool = False, fold: Combination | None) -> Tensor:
    """OpenVINO reductions of numbers."""
    expect_type(x, 0, ARITHMETIC)
    return _ov_reduction(x, axes, keep_dims, fold=fold)


_COMPILED_LOGICAL = first_of(constants_at(1), _compiled_reduction)


@openvino(
    folds={"ReduceLogicalAnd": (_both, True)}, read_at_load=(1,), compiles=_COMPILED_LOGICAL, ignores_extra_inputs=True
)
@openvino(
    folds={"ReduceLogicalOr": (_either, False)},
    read_at_load=(1,),
    compiles=_COMPILED_LOGICAL,
    ignores_extra_inputs=True,
)
def ov_reduce_logical(x: Tensor, axes: Tensor, *, keep_dims: bool = False, fold: Combination | None) -> Tensor:
    """OpenVINO ReduceLogicalAnd-1 and ReduceLogicalOr-1."""
    expect_type(x, 0, LOGICAL)
    return _ov_reduction(x, axes, keep_dims, fold=fold)


def _ov_reduction(x: Tensor, axes: Tensor, keep_dims: bool, *, fold: Combination | None) -> Tensor:
    """The reduction along ``axes``; an empty list reduces no axis."""
    expect_type(axes, 1, INTEGERS)
    expect_rank(axes, 1, 0, 1, what="axes")
    count, listed = length(axes), known_integers(axes)
    scalar = x.rank == 0 and not keep_dims and listed is not None and set(listed) <= {0, -1}
    if count == 0 or scalar:
        return x
    return _reduction(fold, x, listed, keepdims=keep_dims, count=count)


# --- CumSum, CumProd --------------------------------------------------------------------------------------------------


def accumulated(x: Tensor, axis: int, exclusive: bool, *, reverse: bool, combine: Fold, first: int) -> Contents | None:
    """The values of a cumulative operation along ``axis``; None if they are unknown or too many.

    ``combine`` computes a value from the preceding value and an entry; ``first`` precedes the first entry.
    """
    if x.value is None or x.shape is None or not contents.fits(x.shape):
        return None
    result: dict[tuple[int, ...], Scalar] = {}
    running: dict[tuple[int, ...], Scalar] = {}
    pairs = list(zip(contents.positions(x.shape), x.value))
    for position, entry in reversed(pairs) if reverse else pairs:
        line = (*position[:axis], *position[axis + 1 :])
        before = running.get(line, contents.cast(first, x.dtype))
        running[line] = _combined(combine, [before, entry], x.dtype)
        result[position] = before if exclusive else running[line]
    return tuple(result[position] for position, _ in pairs)


def _accumulation(x: Tensor, axis: MaybeDim, exclusive: bool, *, reverse: bool, combine: Fold, first: int) -> Tensor:
    if x.shape is None or not isinstance(axis, int):
        return Tensor(x.dtype, x.shape)
    position = axis_of(axis, len(x.shape), "input 1 (axis)")
    value = accumulated(x, position, exclusive, reverse=reverse, combine=combine, first=first)
    if x.extent is None or combine is not contents.plus:
        return Tensor(x.dtype, x.shape, value)
    from irlint.ops.shared import bounds

    return Tensor(x.dtype, x.shape, value, bounds.summed(x, position, exclusive, reverse=reverse))


def _expect_flags(exclusive: int, reverse: int) -> None:
    for name, flag in (("exclusive", exclusive), ("reverse", reverse)):
        if flag not in (0, 1):
            raise ATTRIBUTE_OUT_OF_RANGE.fault(
                f"attribute `{name}` is {flag}; allowed: 0 and 1", help="use 0 or 1", attribute=name
            )


@onnx("CumSum", since=11)
def cum_sum(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    """ONNX CumSum-11. ONNX Runtime accepts a list of one element as the axis."""
    _expect_flags(exclusive, reverse)
    expect_one(axis, 1, "axis")
    return _accumulation(x, number(axis), bool(exclusive), reverse=bool(reverse), combine=contents.plus, first=0)


@onnx("CumProd", since=26)
def cum_prod(x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
    """ONNX CumProd-26."""
    _expect_flags(exclusive, reverse)
    expect_one(axis, 1, "axis")
    return _accumulation(x, number(axis), bool(exclusive), reverse=bool(reverse), combine=contents.times, first=1)


def _compiled_axis(layer: Layer) -> Fault | None:
    axis = layer.inputs[1]
    if not isinstance(axis, Tensor) or not axis.shape:
        return None
    return not_compiled(
        f"input 1 (axis) is {shape_text(axis.shape)}; the axis must be a scalar",
        help="make input 1 a scalar",
        input=1,
        forbidden=True,
    )


@openvino("CumSum", since=3, fills_in=True, kept=True, compiles=_compiled_axis, ignores_extra_inputs=True)
def ov_cum_sum(x: Tensor, axis: Tensor, *, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """OpenVINO CumSum-3. Faults of the axis are warnings, because the library checks it only when it runs the model."""
    expect_type(axis, 1, ("int32", "int64"))
    try:
        expect_one(axis, 1, "axis")
        return _accumulation(x, number(axis), exclusive, reverse=reverse, combine=contents.plus, first=0)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))
    return Tensor(x.dtype, x.shape)
