"""Range."""

from __future__ import annotations

import math

from irlint.dims import Dim, Expr, MaybeDim, at_least, ceildiv, largest
from irlint.findings.faults import Rule, Severity
from irlint.model.tensor import CONTENTS_LIMIT, FLOATS, Scalar, Tensor
from irlint.ops import Context, onnx, openvino
from irlint.ops.layout.creation import expect_result_type
from irlint.ops.shared import contents as fold
from irlint.ops.shared.compiling import (
    UNREADABLE,
    first_of,
    output_type_at,
    readable_constants,
)
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.shared.expectations import expect_one
from irlint.schemas import MICROSOFT

DType = str

STEP_ZERO = Rule(
    "IRL362",
    "range-step-zero",
    Severity.ERROR,
    "The step of a Range is 0.",
    why="The number of elements is (limit - start) divided by the step, so runtimes refuse a step of 0.",
    fix="Use a step other than 0.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g () => (int64[N] y) <int64 start = {0}, int64 limit = {5}, int64 delta = {0}> { y = Range (start, limit, delta) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g () => (int64[5] y) <int64 start = {0}, int64 limit = {5}, int64 delta = {1}> { y = Range (start, limit, delta) }""",
)

RANGE_NOT_FINITE = Rule(
    "IRL302",
    "range-not-finite",
    Severity.ERROR,
    "The start, limit or step of a Range is infinite or NaN.",
    why=(
        "The number of elements is (limit - start) divided by the step, rounded up. If this number is infinite or NaN, "
        "ONNX Runtime fails at the node. OpenVINO refuses an infinite or NaN start, stop or step when it reads the "
        "model."
    ),
    fix="Use finite numbers.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float[N] y) <float start = {0.0}, float limit = {inf}, float delta = {1.0}> { y = Range (start, limit, \
delta) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g () => (float[5] y) <float start = {0.0}, float limit = {5.0}, float delta = {1.0}> { y = Range (start, limit, \
delta) }""",
)


def range_size(start: Scalar, limit: Scalar, delta: Scalar) -> MaybeDim:
    """The number of entries of a range: max(ceil((limit - start) / delta), 0); None if it is unknown.

    Raises a ``STEP_ZERO`` or ``RANGE_NOT_FINITE`` fault.
    """
    if delta is not None and not isinstance(delta, Expr) and delta == 0:
        raise STEP_ZERO.fault("input 2 (the step) is 0, so the range never ends", help="use another step", input=2)
    if start is None or limit is None or delta is None or isinstance(delta, Expr):
        return None
    if not (isinstance(start, Expr) or isinstance(limit, Expr)):
        steps = (limit - start) / delta if _any_float(start, limit, delta) else -((start - limit) // delta)
        if not math.isfinite(steps):
            raise RANGE_NOT_FINITE.fault(
                f"the range from {start} to {limit} by {delta} has no finite number of elements",
                help="use finite numbers",
            )
        return max(math.ceil(steps), 0)
    ends = [int(end) if isinstance(end, float) and end.is_integer() else end for end in (start, limit, delta)]
    if any(isinstance(end, float) for end in ends):
        return None
    first, last, step = ends
    assert isinstance(step, int) and first is not None and last is not None
    span: Dim = last - first if step > 0 else first - last  # type: ignore[operator, assignment]
    distance = span if at_least(span, 0) else largest(span, 0)
    return None if distance is None else ceildiv(distance, abs(step))


def _any_float(*numbers: Scalar) -> bool:
    return any(isinstance(entry, float) for entry in numbers)


def ranged(start: Scalar, delta: Scalar, size: MaybeDim, *, dtype: str | None) -> Tensor:
    """The tensor of a range of ``size`` entries. Its values are stored or, if there are too many, described."""
    if start is None or delta is None:
        return Tensor(dtype, (size,))
    if not isinstance(size, int) or size > CONTENTS_LIMIT:
        from irlint.ops.shared import bounds

        return Tensor(dtype, (size,), None, bounds.ranged(start, delta, dtype))
    return Tensor(dtype, (size,), tuple(fold.cast(fold.plus(start, fold.times(i, delta)), dtype) for i in range(size)))


@onnx("Range", since=11)
def range_(start: Tensor, limit: Tensor, delta: Tensor, *, stash_type: int = 1, context: Context) -> Tensor:
    """ONNX Range. ONNX Runtime also accepts lists of one element, unless all three inputs are constants."""
    return _range(start, limit, delta, scalar=all(map(context.constant, range(3))))


def _range(start: Tensor, limit: Tensor, delta: Tensor, *, scalar: bool) -> Tensor:
    names = ("start", "limit", "delta")
    for index, x in enumerate((start, limit, delta)):
        expect_one(x, index, names[index], scalar=scalar)
    dtype = start.dtype or limit.dtype or delta.dtype
    return ranged(start.scalar, delta.scalar, range_size(start.scalar, limit.scalar, delta.scalar), dtype=dtype)


@onnx("Range", domain=MICROSOFT)
def microsoft_range(start: Tensor, limit: Tensor, delta: Tensor | None = None) -> Tensor:
    """com.microsoft Range; the default step is 1."""
    return _range(start, limit, delta if delta is not None else Tensor(start.dtype, (), (1,)), scalar=False)


def _ov_range(start: Tensor, stop: Tensor, step: Tensor, *, dtype: str | None) -> Tensor:
    names = ("start", "stop", "step")
    for index, x in enumerate((start, stop, step)):
        expect_type(x, index, ARITHMETIC)
        expect_one(x, index, names[index], scalar=True)
        if isinstance(x.scalar, float) and not math.isfinite(x.scalar):
            raise RANGE_NOT_FINITE.fault(
                f"input {index} ({names[index]}) is {x.scalar}; OpenVINO accepts only finite numbers",
                help=f"use a finite number as input {index}",
                input=index,
            )
    if step.scalar is not None and not isinstance(step.scalar, Expr) and step.scalar == 0:
        range_size(None, None, 0)
    first, last, advance = (_truncated(x.scalar, dtype) for x in (start, stop, step))
    if advance == 0:
        return Tensor(dtype, (0,))
    return ranged(first, advance, range_size(first, last, advance), dtype=dtype)


def _truncated(entry: Scalar, dtype: str | None) -> Scalar:
    return int(entry) if isinstance(entry, float) and math.isfinite(entry) and dtype not in FLOATS else entry


#: Element types of constants whose values Range does not read.
_UNREADABLE = UNREADABLE - {"bool", "nf4", "uint2"}


@openvino("Range", until=3, compiles=readable_constants(0, 1, 2, unreadable=_UNREADABLE))
def ov_range(start: Tensor, stop: Tensor, step: Tensor) -> Tensor:
    """OpenVINO Range-1."""
    return _ov_range(start, stop, step, dtype=common_type((start, stop, step)))


@openvino(
    "Range",
    since=4,
    absent={"output_type": None},
    compiles=first_of(
        readable_constants(0, 1, 2, unreadable=_UNREADABLE),
        output_type_at("output_type", ("uint3", "uint6"), computed=True),
    ),
)
def ov_range_typed(start: Tensor, stop: Tensor, step: Tensor, *, output_type: DType | None) -> Tensor:
    """OpenVINO Range-4: inputs are truncated to integers, unless ``output_type`` is a floating-point type."""
    expect_result_type(output_type, "output_type", ARITHMETIC, dynamic=True)
    return _ov_range(start, stop, step, dtype=output_type)
