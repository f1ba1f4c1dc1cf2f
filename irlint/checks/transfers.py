"""Computes the intervals of the results of operators from those of their inputs.

An interval contains every element that is not NaN, for all inputs of the model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite, isinf

from irlint.model import Node
from irlint.model.tensor import BITS, INTEGERS, UNSIGNED
from irlint.ops.shared.contents import FINITE, INFINITE_FROM, rounded
from irlint.records import record

#: The names of the hyperbolic functions.
HYPERBOLIC = {"Cosh": "cosine", "Sinh": "sine"}

#: The largest number whose exponential is finite.
LARGEST_EXPONENT = {dtype: math.log(FINITE[dtype] if limit == inf else limit) for dtype, limit in INFINITE_FROM.items()}


@record
class Interval:
    """The smallest and the largest number that elements may be. ``why`` is the reason for which no element is finite,
    except at the border of a function's domain (the root of 0); "" if another one may be finite."""

    low: float = -inf
    high: float = inf
    why: str = ""

    @property
    def is_infinite(self) -> bool:
        """Whether every element is the same infinity."""
        return self.low == self.high and isinf(self.low)

    @property
    def is_zero(self) -> bool:
        """Whether every element is 0."""
        return self.low == self.high == 0

    @property
    def text(self) -> str:
        """``-1``, ``at most -1``, ``at least 2`` or ``between 2 and 3``."""
        if self.low == self.high:
            return f"{self.low:g}"
        if self.low == -inf:
            return f"at most {self.high:g}"
        return f"at least {self.low:g}" if self.high == inf else f"between {self.low:g} and {self.high:g}"


ANY = Interval()
BETWEEN_0_AND_1 = Interval(0, 1)
NOT_NEGATIVE = Interval(0, inf)

#: One interval for all elements of a value, or one interval for each element.
Parts = tuple[Interval, ...]


@record
class Site:
    """The place where an interval is computed: the node, and the element type of its result."""

    node: Node
    dtype: str | None

    @property
    def is_of_one(self) -> bool:
        """Whether both inputs are the same value."""
        return self.node.inputs[0] is self.node.inputs[1]

    def number(self, name: str, default: float) -> float:
        """An attribute as a number, in either format; ``default`` if the attribute is omitted, and NaN if it is no
        number."""
        found = self.node.attributes.get(name)
        if found is None:
            return default
        try:
            return float(found.value)
        except (TypeError, ValueError):
            return math.nan


Transfer = Callable[[Sequence[Interval], Site], Interval]


def of_type(dtype: str | None) -> Interval:
    """The interval of all numbers of an element type."""
    if dtype == "bool":
        return BETWEEN_0_AND_1
    if dtype not in INTEGERS:
        return ANY
    if dtype in UNSIGNED:
        return Interval(0, (1 << BITS[dtype]) - 1)
    half = 1 << BITS[dtype] - 1
    return Interval(-half, half - 1)


def joined(given: Sequence[Interval]) -> Interval:
    """The smallest interval that contains all ``given`` intervals; all numbers if ``given`` is empty."""
    if len(given) == 1:
        return given[0]
    return Interval(min([each.low for each in given], default=-inf), max([each.high for each in given], default=inf))


def held(low: float, high: float, dtype: str | None) -> Interval:
    """An interval after conversion to an element type: numbers beyond the range of a floating-point type become
    infinite, and float16 and float32 round the others."""
    return Interval(_held(low, dtype), _held(high, dtype))


def _held(number: float, dtype: str | None) -> float:
    if abs(number) >= INFINITE_FROM.get(dtype or "", inf):
        return math.copysign(inf, number)
    return rounded(number, dtype) or 0.0 if dtype in ("float16", "float32") else number


def _sum(given: Sequence[Interval], site: Site) -> Interval:
    infinite = {each for each in given if each.is_infinite}
    if len(infinite) > 1:
        return Interval(why="infinity is added to minus infinity, which gives NaN")
    if infinite:
        return infinite.pop()
    return held(sum([each.low for each in given]), sum([each.high for each in given]), site.dtype)


def _difference(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    if site.is_of_one:
        return Interval(0, 0)
    if a.is_infinite and a == b:
        return Interval(why="infinity is subtracted from itself, which gives NaN")
    return _sum((a, Interval(-b.high, -b.low)), site)


def _product(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    if site.is_of_one and not a.is_infinite:
        least = min(abs(a.low), abs(a.high)) if a.low > 0 or a.high < 0 else 0.0
        return held(least * least, max(abs(a.low), abs(a.high)) ** 2, site.dtype)
    return _multiplied(a, b, site)


def _multiplied(a: Interval, b: Interval, site: Site) -> Interval:
    """The interval of the products of independent numbers."""
    for one, other in ((a, b), (b, a)):
        if one.is_infinite and other.low <= 0 <= other.high:
            return Interval(why=f"a factor is {one.text}: each product is infinite, or NaN where the other is 0")
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return held(min(corners), max(corners), site.dtype)


def _times(a: float, b: float) -> float:
    return 0.0 if 0 in (a, b) else a * b


def _quotient(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    if site.dtype in INTEGERS:
        return of_type(site.dtype)
    if b.is_zero:
        return Interval(why="input 1 is 0: the quotient is infinite, or NaN for 0 / 0")
    if site.is_of_one:
        return Interval(1, 1)
    return _multiplied(a, _inverse(b), site) if b.low > 0 or b.high < 0 else ANY


def _inverse(given: Interval) -> Interval:
    return Interval(1 / given.high, 1 / given.low)


def _reciprocal(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.is_zero:
        return Interval(why="input 0 is 0: its reciprocal is infinite")
    return _inverse(x) if x.low > 0 or x.high < 0 else ANY


def _power(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of powers. Only their sign is computed; a single exponent may also show that no power is finite."""
    x, exponent = given
    power = exponent.low
    if exponent.low != exponent.high or not isfinite(power):
        return NOT_NEGATIVE if x.low >= 0 else ANY
    is_negative = x.high < 0 or (x.low < 0 == x.high and power > 0)
    if is_negative and power != int(power) and (power > 0 or x.low > -inf) and not x.is_infinite:
        text = "such a power does not exist" if x.high else "such a power exists only for 0"
        return Interval(why=f"input 0 is {x.text} and the exponent is {power:g}: {text}")
    if x.is_zero and power < 0:
        return Interval(why=f"input 0 is 0 and the exponent is {power:g}: the power is infinite")
    if x.high <= 0 and power > 0 and power % 2 == 1:
        return held(-inf, x.high**power, site.dtype)
    return NOT_NEGATIVE if x.low >= 0 or power % 2 == 0 else ANY


def _negated(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(-given[0].high, -given[0].low)


def _magnitude(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    least = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return Interval(least, max(abs(x.low), abs(x.high)))


def _least(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(min([each.low for each in given]), min([each.high for each in given]))


def _most(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(max([each.low for each in given]), max([each.high for each in given]))


def _clipped(given: Sequence[Interval], site: Site) -> Interval:
    low, high = site.number("min", -inf), site.number("max", inf)
    least = given[1] if len(given) > 1 and site.node.inputs[1] is not None else Interval(low, low)
    most = given[2] if len(given) > 2 else Interval(high, high)
    return _least((_most((given[0], least), site), most), site)


def _chosen(given: Sequence[Interval], site: Site) -> Interval:
    condition, then, otherwise = given
    if condition.low > 0:
        return then
    return otherwise if condition.is_zero else joined((then, otherwise))


def _comparison(larger: int, *, strict: bool) -> Transfer:
    """The transfer of a comparison that is true where input ``larger`` is larger than the other one, or equal unless
    ``strict``: 0 where that is false for all numbers, and for NaN."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        most, least = given[larger].high, given[1 - larger].low
        return Interval(0, 0) if most < least or (strict and most == least) else BETWEEN_0_AND_1

    return transfer


def _converted(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of converted numbers. If one of them may be outside of an integer type, all numbers of this type."""
    x = given[0]
    if site.dtype not in INFINITE_FROM:
        every = of_type(site.dtype)
        inside = site.dtype in INTEGERS and every.low <= x.low and x.high <= every.high
        return Interval(math.trunc(x.low), math.trunc(x.high)) if inside else every
    found = held(x.low, x.high, site.dtype)
    if found.is_infinite and isfinite(x.low) and isfinite(x.high) and x.low != x.high:
        return Interval(why=f"input 0 is {x.text}, and {site.dtype} holds numbers up to {FINITE[site.dtype]:.6g}")
    return found


def _rectified(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(max(given[0].low, 0), max(given[0].high, 0))


def _root(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.high < 0 or x.low < 0 == x.high:
        return Interval(why=f"input 0 is {x.text}: its root is NaN{'' if x.high else ', or 0 for 0'}")
    return held(math.sqrt(max(x.low, 0)), math.sqrt(x.high), site.dtype)


def _logarithm(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.is_zero:
        return Interval(-inf, -inf)
    if x.high <= 0:
        return Interval(why=f"input 0 is {x.text}: its logarithm is NaN{'' if x.high else ', or minus infinity for 0'}")
    return Interval(math.log(x.low) if x.low > 0 else -inf, math.log(x.high) if x.high < inf else inf)


def _exponential(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    limit = LARGEST_EXPONENT.get(site.dtype or "")
    if limit is None:
        return Interval(0)
    if limit < x.low < inf:
        return Interval(why=f"input 0 is {x.text}: its exponential is infinite in {site.dtype}")
    ends = [inf if end > limit else math.exp(end) for end in (x.low, x.high)]
    return held(ends[0], ends[1], site.dtype)


def _hyperbolic(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of Cosh and Sinh, which are half an exponential for large numbers. Only Cosh gets a lower limit."""
    (x,) = given
    limit = LARGEST_EXPONENT.get(site.dtype or "", inf) + math.log(2)
    if limit < x.low < inf or -inf < x.high < -limit:
        return Interval(
            why=f"input 0 is {x.text}: its hyperbolic {HYPERBOLIC[site.node.op]} is infinite in {site.dtype}"
        )
    return Interval(1) if site.node.op == "Cosh" else ANY


def _defined(least: float, most: float, what: str, gives: Interval) -> Transfer:
    """The transfer of a function that is defined from ``least`` to ``most``. It returns the interval ``gives``, or the
    reason ``what`` if every number of input 0 is outside that range."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        (x,) = given
        if x.high < least or x.low > most or (most == inf and x.low < x.high == least):
            return Interval(why=f"input 0 is {x.text}: {what}")
        return gives

    return transfer


def _artanh(given: Sequence[Interval], site: Site) -> Interval:
    x = given[0]
    if x.high <= -1 or x.low >= 1:
        return Interval(why=f"input 0 is {x.text}: its inverse hyperbolic tangent is infinite or NaN")
    return ANY


def _floored(given: Sequence[Interval], site: Site) -> Interval:
    low, high = [end if isinf(end) else math.floor(end) for end in (given[0].low, given[0].high)]
    return Interval(low, high)


def _leaky(given: Sequence[Interval], site: Site) -> Interval:
    slope = site.number("alpha", 0.01)
    return Interval(min(given[0].low * slope, 0), max(given[0].high, 0)) if 0 < slope <= 1 else ANY


def _length(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the Euclidean norm of given elements."""
    ends = [_magnitude((each,), site) for each in given]
    return held(math.hypot(*(each.low for each in ends)), math.hypot(*(each.high for each in ends)), site.dtype)


def _total(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the sum of an unknown number of elements, at least one."""
    x = given[0]
    if x.low >= 0:
        return Interval(0, 0) if x.is_zero else Interval(x.low, inf)
    return Interval(-inf, x.high) if x.high <= 0 else ANY


def _logarithm_of_total(given: Sequence[Interval], site: Site) -> Interval:
    return _logarithm((_total(given, site),), site)


def _dequantized(given: Sequence[Interval], site: Site) -> Interval:
    zero = given[2] if len(given) > 2 else Interval(0, 0)
    return _multiplied(_sum((given[0], Interval(-zero.high, -zero.low)), site), given[1], site)


def _levels(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of FakeQuantize: it contains both output limits, inputs 3 and 4."""
    return joined(given[3:5])


def _range(low: float, high: float) -> Transfer:
    found = Interval(low, high)
    return lambda given, site: found


def _same(given: Sequence[Interval], site: Site) -> Interval:
    return given[0]


def _all(given: Sequence[Interval], site: Site) -> Interval:
    return joined(given)


#: Operators that convert to another element type.
CONVERTING = ("Cast", "CastLike", "Convert", "ConvertLike")

COMPARISONS: Mapping[str, Transfer] = {
    "Greater": _comparison(0, strict=True),
    "Less": _comparison(1, strict=True),
    **dict.fromkeys(("GreaterOrEqual", "GreaterEqual"), _comparison(0, strict=False)),
    **dict.fromkeys(("LessOrEqual", "LessEqual"), _comparison(1, strict=False)),
}

#: The transfers of elementwise operators of either format.
ELEMENTWISE: Mapping[str, Transfer] = {
    **dict.fromkeys(("Add", "Sum"), _sum),
    **dict.fromkeys(("Sub", "Subtract"), _difference),
    **dict.fromkeys(("Mul", "Multiply"), _product),
    **dict.fromkeys(("Div", "Divide"), _quotient),
    "Reciprocal": _reciprocal,
    **dict.fromkeys(("Pow", "Power"), _power),
    **dict.fromkeys(("Neg", "Negative"), _negated),
    "Abs": _magnitude,
    **dict.fromkeys(("Min", "Minimum"), _least),
    **dict.fromkeys(("Max", "Maximum"), _most),
    **dict.fromkeys(("Clip", "Clamp"), _clipped),
    **dict.fromkeys(("Where", "Select"), _chosen),
    **COMPARISONS,
    **dict.fromkeys(("And", "LogicalAnd"), _least),
    **dict.fromkeys(("Or", "LogicalOr"), _most),
    **dict.fromkeys(CONVERTING, _converted),
    **dict.fromkeys(("Relu", "ReLU"), _rectified),
    "LeakyRelu": _leaky,
    "Sqrt": _root,
    "Log": _logarithm,
    "Exp": _exponential,
    **dict.fromkeys(HYPERBOLIC, _hyperbolic),
    "Floor": _floored,
    "Asin": _defined(-1, 1, "its inverse sine is NaN", Interval(-1.5708, 1.5708)),
    "Acos": _defined(-1, 1, "its inverse cosine is NaN", Interval(0, 3.1416)),
    "Acosh": _defined(1, inf, "its inverse hyperbolic cosine is NaN below 1", NOT_NEGATIVE),
    "Atanh": _artanh,
    **dict.fromkeys(("Sigmoid", "HardSigmoid", "HSigmoid"), _range(0, 1)),
    **dict.fromkeys(("Tanh", "Erf", "Sin", "Cos", "Softsign", "SoftSign", "Sign"), _range(-1, 1)),
    "Atan": _range(-1.5708, 1.5708),
    **dict.fromkeys(("Softplus", "SoftPlus", "ThresholdedRelu"), _range(0, inf)),
}

#: Operators that keep the elements of input 0 and their order, so that intervals of single elements stay valid.
KEEPING: Mapping[str, Transfer] = dict.fromkeys(("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"), _same)

#: The transfers of operators for which only one interval of all elements is computed.
GATHERED: Mapping[str, Transfer] = {
    **dict.fromkeys(("Transpose", "Expand", "Broadcast", "Tile", "Slice", "StridedSlice", "Gather", "Split"), _same),
    **dict.fromkeys(("GatherElements", "GatherND", "VariadicSplit", "DepthToSpace", "SpaceToDepth"), _same),
    **dict.fromkeys(("ReduceMax", "ReduceMin", "ReduceMean", "MaxPool", "GlobalMaxPool", "GlobalAveragePool"), _same),
    "Concat": _all,
    "ReduceSum": _total,
    "ReduceLogSum": _logarithm_of_total,
    "DequantizeLinear": _dequantized,
    "FakeQuantize": _levels,
    **dict.fromkeys(("Softmax", "SoftMax", "Hardmax"), _range(0, 1)),
    **dict.fromkeys(("LogSoftmax",), _range(-inf, 0)),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceSumSquare", "Shape", "ShapeOf", "Size"), _range(0, inf)),
}

#: The transfers of reductions of elements with known intervals.
REDUCING: Mapping[str, Transfer] = {"ReduceMax": _most, "ReduceMin": _least, "ReduceSum": _sum, "ReduceL2": _length}

#: The number of inputs that a transfer needs; others need at least one.
ARITY: Mapping[Transfer, int] = {
    **dict.fromkeys((_difference, _product, _quotient, _power, *COMPARISONS.values()), 2),
    **dict.fromkeys((_chosen,), 3),
}

#: Operators whose outputs all have the interval of output 0.
SPLITTING = frozenset(("Split", "VariadicSplit"))

#: The operators with a transfer.
TRANSFERS: Mapping[str, Transfer] = {**ELEMENTWISE, **KEEPING, **GATHERED}
