"""Computes the intervals of functions of one number, such as activations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import inf, isinf

from irlint.checks.transfers import ANY, Interval, Site, Transfer, held
from irlint.ops.shared.contents import FINITE, INFINITE_FROM

#: The names of the hyperbolic functions.
HYPERBOLIC = {"Cosh": "cosine", "Sinh": "sine"}

#: The largest number whose exponential is finite.
LARGEST_EXPONENT = {dtype: math.log(FINITE[dtype] if limit == inf else limit) for dtype, limit in INFINITE_FROM.items()}

#: The maximum error of the results of these functions in runtimes.
ERROR = 1e-5

#: The greatest magnitude at which an activation is computed. Beyond it, the limit of the activation is used.
FAR = 1e4


def rectified(given: Sequence[Interval], site: Site) -> Interval:
    return Interval(max(given[0].low, 0), max(given[0].high, 0))


def root(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.high < 0 or x.low < 0 == x.high:
        return Interval(why=f"input 0 is {x.text}: its root is NaN{'' if x.high else ', or 0 for 0'}")
    return held(math.sqrt(max(x.low, 0)), math.sqrt(x.high), site.dtype)


def logarithm(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    if x.is_zero:
        return Interval(-inf, -inf)
    if x.high <= 0:
        return Interval(why=f"input 0 is {x.text}: its logarithm is NaN{'' if x.high else ', or minus infinity for 0'}")
    return Interval(math.log(x.low) if x.low > 0 else -inf, math.log(x.high) if x.high < inf else inf)


def exponential(given: Sequence[Interval], site: Site) -> Interval:
    (x,) = given
    limit = LARGEST_EXPONENT.get(site.dtype or "")
    if limit is None:
        return Interval(0)
    if limit < x.low < inf:
        return Interval(why=f"input 0 is {x.text}: its exponential is infinite in {site.dtype}")
    ends = [inf if end > limit else math.exp(end) for end in (x.low, x.high)]
    return held(ends[0], ends[1], site.dtype)


def hyperbolic(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of Cosh (at least 1) or of Sinh (any number). Large numbers give half of an exponential, so the
    result may be infinite."""
    (x,) = given
    limit = LARGEST_EXPONENT.get(site.dtype or "", inf) + math.log(2)
    if limit < x.low < inf or -inf < x.high < -limit:
        return Interval(
            why=f"input 0 is {x.text}: its hyperbolic {HYPERBOLIC[site.node.op]} is infinite in {site.dtype}"
        )
    return Interval(1) if site.node.op == "Cosh" else ANY


def defined(least: float, most: float, what: str, gives: Interval) -> Transfer:
    """The transfer of a function that is defined from ``least`` to ``most``. It returns the interval ``gives``, or the
    reason ``what`` if every number of input 0 is outside that range."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        (x,) = given
        if x.high < least or x.low > most or (most == inf and x.low < x.high == least):
            return Interval(why=f"input 0 is {x.text}: {what}")
        return gives

    return transfer


def artanh(given: Sequence[Interval], site: Site) -> Interval:
    x = given[0]
    if x.high <= -1 or x.low >= 1:
        return Interval(why=f"input 0 is {x.text}: its inverse hyperbolic tangent is infinite or NaN")
    return ANY


def growing(function: Callable[[float], float], least: float, most: float) -> Transfer:
    """The transfer of a function that increases with its input, from the limit ``least`` to the limit ``most``."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        x = given[0]
        if x.is_zero and function(0) == 0:
            return Interval(0, 0)
        low, high = least, most
        if x.low > -FAR:
            low = max(least, function(min(x.low, FAR)) - ERROR)
        if x.high < FAR:
            high = min(most, function(max(x.high, -FAR)) + ERROR)
        return Interval(low, high)

    return transfer


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -FAR / 100 else 0.0


def soft_sign(x: float) -> float:
    return x / (1 + abs(x))


def soft_plus(x: float) -> float:
    return x if x > FAR / 100 else math.log1p(math.exp(x))


def dipping(least: float) -> Transfer:
    """The transfer of an activation such as Gelu. A positive input gives a result from 0 to the input, a negative input
    a result from ``least`` to 0."""

    def transfer(given: Sequence[Interval], site: Site) -> Interval:
        x = given[0]
        is_default = len(given) == 1 and "alpha" not in site.node.attributes
        return Interval(0 if x.low >= 0 else least, max(x.high, 0) + ERROR) if is_default else ANY

    return transfer


def linear_unit(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of Elu and Celu, which are above -alpha."""
    x, alpha = given[0], site.number("alpha", 1)
    lowest = 0 if x.low >= 0 else max(-alpha, min(x.low, alpha * x.low)) - ERROR
    return Interval(lowest, max(x.high, 0)) if alpha > 0 else ANY


def scaled_linear_unit(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of Selu, whose factors are attributes or inputs 1 and 2."""
    x = given[0]
    ends = given[1:3] if len(given) > 2 else ()
    alpha, gamma = (
        (each.high if each.low == each.high else math.nan for each in ends)
        if ends
        else (
            site.number("alpha", 1.67326),
            site.number("gamma", 1.0507),
        )
    )
    if not (alpha > 0 and gamma > 0):
        return ANY
    return Interval(0 if x.low >= 0 else -1.00001 * alpha * gamma - ERROR, max(x.high, 0) * gamma * 1.00001)


def parametric(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of PRelu, which keeps positive numbers."""
    return given[0] if given[0].low >= 0 else ANY


def floored(given: Sequence[Interval], site: Site) -> Interval:
    return _stepped(given[0], math.floor, math.floor)


def raised(given: Sequence[Interval], site: Site) -> Interval:
    return _stepped(given[0], math.ceil, math.ceil)


def to_integers(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of rounded numbers. A half may be rounded up or down."""
    return _stepped(given[0], lambda end: math.ceil(end - 0.5), lambda end: math.floor(end + 0.5))


def _stepped(x: Interval, low: Callable[[float], int], high: Callable[[float], int]) -> Interval:
    return Interval(x.low if isinf(x.low) else low(x.low), x.high if isinf(x.high) else high(x.high))


def leaky(given: Sequence[Interval], site: Site) -> Interval:
    slope = site.number("alpha", 0.01)
    return Interval(min(given[0].low * slope, 0), max(given[0].high, 0)) if 0 < slope <= 1 else ANY


def opposite(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a negated condition."""
    return Interval(1 - given[0].high, 1 - given[0].low)


def sign(given: Sequence[Interval], site: Site) -> Interval:
    low, high = ((end > 0) - (end < 0) for end in (given[0].low, given[0].high))
    return Interval(low, high)


def circular(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of a sine."""
    return given[0] if given[0].is_zero else Interval(-1, 1)
