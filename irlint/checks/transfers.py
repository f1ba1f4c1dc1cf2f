"""Computes the intervals of sums, products, choices and reductions from the intervals of their operands.

An interval contains every element that is not NaN, for all inputs of the model. This assumes that the smallest
integer is not negated, that no NaN is converted to an integer, and that reciprocals are finite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import inf, isfinite, isinf

from irlint.model import Node
from irlint.model.tensor import BITS, INTEGERS, UNSIGNED
from irlint.ops.shared.contents import FINITE, INFINITE_FROM, rounded
from irlint.records import record

#: The relative error of powers, by element type.
ROUNDING = {"float16": 1e-3, "float32": 1e-4, "float64": 1e-4}


#: Sums of integers are assumed to have at most this many elements.
MOST_SUMMED = 1 << 30


@record
class Interval:
    """The smallest and the largest number that elements may be.

    ``why`` is the reason why no element can be finite; "" if an element can be, or if every element is the same
    infinity. A single number at the border of a function's domain, such as the root of 0, does not count as finite.
    """

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
        """The interval in words: ``-1``, ``at most -1``, ``at least 2`` or ``between 2 and 3``."""
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
    """The node for which an interval is computed, and facts about the node."""

    node: Node
    #: The element type of the result.
    dtype: str | None
    #: Whether both inputs have the same elements.
    is_of_one: bool = False
    #: The number of elements from which each result of a reduction is computed; None if it is unknown.
    count: int | None = None
    #: Whether the conditions of a conjunction exclude each other.
    is_never: bool = False

    def number(self, name: str, default: float) -> float:
        """The number in an attribute, in either format; ``default`` if the attribute is omitted, NaN if it is not a
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


def common(a: Interval, b: Interval) -> Interval:
    """The interval of the numbers that are in both intervals, which must overlap."""
    return Interval(max(a.low, b.low), min(a.high, b.high))


def widened(before: Interval, after: Interval) -> Interval:
    """The interval ``after``. Each limit that differs from the limit of ``before`` becomes infinite."""
    return Interval(after.low if after.low == before.low else -inf, after.high if after.high == before.high else inf)


def held(low: float, high: float, dtype: str | None) -> Interval:
    """The interval from ``low`` to ``high`` after conversion to an element type. Numbers beyond the range of a
    floating-point type become infinite; float16 and float32 round the other numbers. Integers beyond the range of
    their type overflow, and may be any number of it."""
    if dtype in INTEGERS:
        every = of_type(dtype)
        return Interval(low, high) if every.low <= low and high <= every.high else every
    return Interval(_held(low, dtype), _held(high, dtype))


def _held(number: float, dtype: str | None) -> float:
    if abs(number) >= INFINITE_FROM.get(dtype or "", inf):
        return math.copysign(inf, number)
    return rounded(number, dtype) or 0.0 if dtype in ("float16", "float32") else number


def added(given: Sequence[Interval], site: Site) -> Interval:
    infinite = {each for each in given if each.is_infinite}
    if len(infinite) > 1:
        return Interval(why="infinity is added to minus infinity, which gives NaN")
    if infinite:
        return infinite.pop()
    return held(sum([each.low for each in given]), sum([each.high for each in given]), site.dtype)


def difference(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    if site.is_of_one:
        return Interval(0, 0)
    if a.is_infinite and a == b:
        return Interval(why="infinity is subtracted from itself, which gives NaN")
    return added((a, Interval(-b.high, -b.low)), site)


def product(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    return square(a, site) if site.is_of_one and not a.is_infinite else multiplied(a, b, site)


def square(x: Interval, site: Site) -> Interval:
    """The interval of the squares of numbers."""
    ends = magnitude((x,), site)
    return held(ends.low * ends.low, ends.high * ends.high, site.dtype)


def square_of_difference(given: Sequence[Interval], site: Site) -> Interval:
    apart = difference(given, site)
    return apart if apart.why else square(apart, site)


def multiplied(a: Interval, b: Interval, site: Site) -> Interval:
    """The interval of the products of independent numbers."""
    for one, other in ((a, b), (b, a)):
        if one.is_infinite and other.low <= 0 <= other.high:
            return Interval(why=f"a factor is {one.text}: each product is infinite, or NaN where the other is 0")
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return held(min(corners), max(corners), site.dtype)


def _times(a: float, b: float) -> float:
    return 0.0 if 0 in (a, b) else a * b


def quotient(given: Sequence[Interval], site: Site) -> Interval:
    a, b = given
    if site.dtype in INTEGERS:
        return of_type(site.dtype)
    if b.is_zero:
        return Interval(why="input 1 is 0: the quotient is infinite, or NaN for 0 / 0")
    if site.is_of_one:
        return Interval(1, 1)
    return multiplied(a, _inverse(b), site) if b.low > 0 or b.high < 0 else ANY


def _inverse(given: Interval) -> Interval:
    return Interval(1 / given.high, 1 / given.low)


def reciprocal(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.is_zero:
        return Interval(why="input 0 is 0: its reciprocal is infinite")
    return _inverse(x) if x.low > 0 or x.high < 0 else ANY


def power(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of powers. For most powers except squares, only the sign is computed. A single exponent may also
    show that no power is finite."""
    x, exponent = given
    power = exponent.low
    if exponent.is_zero or x.low == x.high == 1:
        return Interval(1, 1)
    if exponent.is_infinite:
        return _of_infinite_exponent(magnitude((x,), site), power)
    if exponent.low != exponent.high or not isfinite(power):
        return NOT_NEGATIVE if x.low >= 0 else ANY
    if power == 2 == exponent.high and not x.is_infinite:
        return square(x, site)
    is_negative = x.high < 0 or (x.low < 0 == x.high and power > 0)
    if is_negative and power != int(power) and (power > 0 or x.low > -inf) and not x.is_infinite:
        text = "such a power does not exist" if x.high else "such a power exists only for 0"
        return Interval(why=f"input 0 is {x.text} and the exponent is {power:g}: {text}")
    if x.is_zero and power < 0:
        return Interval(why=f"input 0 is 0 and the exponent is {power:g}: the power is infinite")
    if x.high <= 0 and power > 0 and power % 2 == 1:
        return held(-inf, x.high**power, site.dtype)
    if x.low == x.high > 0 and isfinite(x.low):
        return _power_of_numbers(x.low, power, site)
    return NOT_NEGATIVE if x.low >= 0 or power % 2 == 0 else ANY


def _power_of_numbers(x: float, power: float, site: Site) -> Interval:
    """The interval of the power of two numbers. It contains the different roundings of runtimes."""
    if site.dtype not in ROUNDING:
        return NOT_NEGATIVE
    limit, exponent, error = FINITE[site.dtype], power * math.log2(x), ROUNDING[site.dtype]
    if exponent >= math.ceil(math.log2(limit)):
        return Interval(
            why=f"{x:g} to the power of {power:g} is beyond {limit:.6g}, the largest number of {site.dtype}"
        )
    found = x**power if exponent < math.log2(limit) - 1 else inf
    return held(found * (1 - error), found * (1 + error), site.dtype) if found < inf else NOT_NEGATIVE


def _of_infinite_exponent(x: Interval, power: float) -> Interval:
    """The interval of powers with the infinite exponent ``power``. ``x`` is the interval of the magnitudes of the
    bases.

    Depending on the sign of ``power``, magnitudes on one side of 1 give 0, and magnitudes on the other side infinity.
    """
    if (power > 0 and x.low > 1) or (power < 0 and x.high < 1):
        return Interval(
            why=f"the magnitude of input 0 is {x.text} and the exponent is {power:g}: the power is infinite"
        )
    return Interval(0, 0) if (x.high < 1 if power > 0 else x.low > 1) else NOT_NEGATIVE


def negated(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(-given[0].high, -given[0].low)


def magnitude(given: Sequence[Interval], site: Site) -> Interval:
    x = given[0]
    nearest = 0 if x.low <= 0 <= x.high else min(abs(x.low), abs(x.high))
    return Interval(nearest, max(abs(x.low), abs(x.high)))


def least(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(min([each.low for each in given]), min([each.high for each in given]))


def most(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(max([each.low for each in given]), max([each.high for each in given]))


def conjunction(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(0, 0) if site.is_never else least(given, site)


def clipped(given: Sequence[Interval], site: Site) -> Interval:
    low, high = site.number("min", -inf), site.number("max", inf)
    bottom = given[1] if len(given) > 1 and site.node.inputs[1] is not None else Interval(low, low)
    top = given[2] if len(given) > 2 else Interval(high, high)
    return least((most((given[0], bottom), site), top), site)


def chosen(given: Sequence[Interval], site: Site) -> Interval:
    condition, then, otherwise = given
    if condition.low > 0:
        return then
    return otherwise if condition.is_zero else joined((then, otherwise))


def comparison(larger: int, *, strict: bool) -> Transfer:
    """The transfer of a comparison that is true if input ``larger`` is larger than the other input. Unless ``strict``,
    it is also true if both are equal. The interval is 0 if the comparison is false for all numbers."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        most, least = given[larger].high, given[1 - larger].low
        return Interval(0, 0) if most < least or (strict and most == least) else BETWEEN_0_AND_1

    return transfer


def converted(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of converted numbers. If a number may be outside of an integer type, the interval of this type."""
    x = given[0]
    if site.dtype not in INFINITE_FROM:
        every = of_type(site.dtype)
        inside = site.dtype in INTEGERS and every.low <= x.low and x.high <= every.high
        return Interval(math.trunc(x.low), math.trunc(x.high)) if inside else every
    found = held(x.low, x.high, site.dtype)
    if found.is_infinite and isfinite(x.low) and isfinite(x.high) and x.low != x.high:
        return Interval(why=f"input 0 is {x.text}, and {site.dtype} holds numbers up to {FINITE[site.dtype]:.6g}")
    return found


def dequantized(given: Sequence[Interval], site: Site) -> Interval:
    zero = given[2] if len(given) > 2 else Interval(0, 0)
    return multiplied(added((given[0], Interval(-zero.high, -zero.low)), site), given[1], site)


def levels(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of FakeQuantize, which contains both output limits."""
    return joined(given)


def within(low: float, high: float) -> Transfer:
    found = Interval(low, high)
    return lambda given, site: found


def same(given: Sequence[Interval], site: Site) -> Interval:
    return given[0]


def any_of(given: Sequence[Interval], site: Site) -> Interval:
    return joined(given)


def with_zero(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a result that contains elements of input 0 and zeros."""
    return joined((given[0], Interval(0, 0)))


def padded(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a Pad, which contains its fill value."""
    mode = site.node.attributes.get("mode") or site.node.attributes.get("pad_mode")
    if mode is not None and mode.value not in ("constant", b"constant"):
        return given[0]
    at = 3 if "pad_mode" in site.node.attributes else 2
    fill = site.number("value", 0)
    return joined(
        (given[0], given[at] if len(given) > at and site.node.inputs[at] is not None else Interval(fill, fill))
    )


def pooled(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of averages of windows, which may count the zeros of the padding."""
    counts, excludes = site.number("count_include_pad", 0), site.node.attributes.get("exclude-pad")
    is_counted = counts != 0 or (excludes is not None and str(excludes.value).lower() not in ("true", "1"))
    return with_zero(given, site) if is_counted else given[0]


def resized(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a Resize or Interpolate; any number in cubic mode, which may exceed the numbers of the input."""
    mode = site.node.attributes.get("mode")
    text = mode.value.decode() if mode is not None and isinstance(mode.value, bytes) else mode.value if mode else ""
    if "cubic" in str(text):
        return ANY
    outside = site.number("extrapolation_value", 0)
    return joined((given[0], Interval(outside, outside), Interval(0, 0)))


def accumulated(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of sums of an unknown number of elements. Only the sign of the sums is known."""
    x = given[0]
    if site.dtype in INTEGERS:
        return held(min(x.low * MOST_SUMMED, 0), max(x.high * MOST_SUMMED, 0), site.dtype)
    return Interval(0 if x.low >= 0 else -inf, 0 if x.high <= 0 else inf)


def dropped(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a Dropout, which changes its input only in training."""
    return given[0] if len(given) < 3 else accumulated(given, site)


def scattered(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of data of which some elements are replaced by updates, input 2."""
    reduction = site.node.attributes.get("reduction")
    replaces = reduction is None or reduction.value in ("none", b"none")
    return joined((given[0], given[2])) if replaces else ANY


def one_hot(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the values of a OneHot, which are input 2 in ONNX, and inputs 2 and 3 in OpenVINO."""
    return joined(given[2:])


def drawn(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of uniformly distributed random numbers, whose ends are attributes or inputs 1 and 2."""
    if len(given) > 2:
        return Interval(given[1].low, given[2].high)
    low, high = site.number("low", 0), site.number("high", 1)
    return Interval(low, high) if low <= high else ANY


def shares(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a Softmax, which gives 1 for rows of one element."""
    return Interval(1, 1) if site.count == 1 else BETWEEN_0_AND_1


def logarithms_of_shares(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(0, 0) if site.count == 1 else Interval(-inf, 0)


def anything(given: Sequence[Interval], site: Site) -> Interval:
    return ANY
