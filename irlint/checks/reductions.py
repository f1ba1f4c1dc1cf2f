"""Computes the intervals of reductions, from an interval for each element or from one interval for all elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf, isfinite

from irlint.checks.curves import logarithm
from irlint.checks.transfers import (
    ANY,
    MOST_SUMMED,
    Interval,
    Site,
    accumulated,
    added,
    held,
    joined,
    magnitude,
    multiplied,
    of_type,
    square,
)
from irlint.checks.values import integer_in
from irlint.model import Node
from irlint.model.tensor import INTEGERS, Tensor

#: The opset from which on a Softmax works on the last axis by default.
LAST_AXIS_SINCE = 13

#: The relative error of sums and means of many elements.
ROUGHLY = 1e-2


def length(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the Euclidean norm of elements with an interval each. The squares may be infinite, the norm
    not. Squares of integers may overflow."""
    if site.dtype in INTEGERS:
        return of_type(site.dtype)
    ends = [magnitude((each,), site) for each in given]
    low, high = math.hypot(*(each.low for each in ends)), math.hypot(*(each.high for each in ends))
    return held(low, inf if sum_of_squares(given, site).high == inf else high, site.dtype)


def sum_of_magnitudes(given: Sequence[Interval], site: Site) -> Interval:
    return added([magnitude((each,), site) for each in given], site)


def sum_of_squares(given: Sequence[Interval], site: Site) -> Interval:
    return added([square(each, site) for each in given], site)


def mean(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the mean of elements with an interval each. The sum may be infinite although the mean is not."""
    largest = sum_of_magnitudes(given, site)
    if largest.is_zero or largest.why or largest == of_type(site.dtype):
        return largest
    if largest.high == inf:
        return accumulated((joined(given),), site)
    sums = added(given, site)
    return _widened(sums.low / len(given), sums.high / len(given))


def multiple(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the product of elements with an interval each."""
    found = given[0]
    for each in given[1:]:
        found = multiplied(found, each, site)
        if found.why:
            return found
    return found


def _widened(low: float, high: float) -> Interval:
    """The interval from ``low`` to ``high``, extended by the rounding errors of many elements."""
    return Interval(low - ROUGHLY * abs(low), high + ROUGHLY * abs(high)) if isfinite(low) or isfinite(high) else ANY


def total(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the sum of one or more elements that share one interval."""
    x, count = given[0], site.count
    if x.is_zero or count == 1:
        return x
    if site.dtype in INTEGERS:
        fewest, most = count or 1, count or MOST_SUMMED
        low, high = x.low * (fewest if x.low >= 0 else most), x.high * (fewest if x.high <= 0 else most)
        return held(low, high, site.dtype)
    if count is not None and x.low > 0:
        found = _widened(x.low * count, x.high * count)
        return held(found.low, found.high, site.dtype)
    if x.low >= 0:
        return Interval(x.low, inf)
    return Interval(-inf, x.high) if x.high <= 0 else ANY


def total_magnitude(given: Sequence[Interval], site: Site) -> Interval:
    return total((magnitude(given, site),), site)


def total_square(given: Sequence[Interval], site: Site) -> Interval:
    return total((square(given[0], site),), site)


def norm(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the Euclidean norm of elements that share one interval. Squares of integers may overflow."""
    if site.dtype in INTEGERS:
        return of_type(site.dtype)
    ends = magnitude(given, site)
    return ends if ends.is_zero else Interval(ends.low, inf)


def total_product(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the product of elements that share one interval."""
    x = given[0]
    if x.is_zero:
        return x
    if site.dtype in INTEGERS and not 0 <= x.low <= x.high <= 1:
        return of_type(site.dtype)
    return Interval(1 if x.low >= 1 else 0, 1 if x.high <= 1 else inf) if x.low >= 0 else ANY


def logarithm_of_exponentials(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of the logarithm of a sum of exponentials, which is at least the largest exponent."""
    return Interval(given[0].low, inf)


def logarithm_of_total(given: Sequence[Interval], site: Site) -> Interval:
    return logarithm((total(given, site),), site)


def matrix_product(given: Sequence[Interval], site: Site) -> Interval:
    """The interval of sums of products, of which only the sign is known."""
    found = multiplied(given[0], given[1], site)
    return found if found.why else accumulated((found,), site)


def softmax_axis(node: Node, rank: int) -> int | None:
    """The axis of a Softmax of ``rank`` axes, counted from the end; None if it is unknown. Also None if the Softmax
    works on several axes, as it may before opset 13."""
    attribute, is_old = node.attributes.get("axis"), isinstance(node.version, int) and node.version < LAST_AXIS_SINCE
    default = 1 if is_old or isinstance(node.version, str) else -1
    axis = default if attribute is None else integer_in(attribute)
    if axis is None:
        return None
    axis = axis - rank if axis >= 0 else axis
    is_one = -rank <= axis < 0 and (axis == -1 or not is_old)
    return axis if is_one else None


def row_length(node: Node, tensor: Tensor) -> int | None:
    """The number of elements of each row of a Softmax; None if it is unknown."""
    axis = softmax_axis(node, len(tensor.shape)) if tensor.shape is not None else None
    size = tensor.shape[axis] if axis is not None and tensor.shape is not None else None
    return size if isinstance(size, int) else None


def reduced_count(given: Tensor | None, made: Tensor) -> int | None:
    """The number of elements from which each result of a reduction is computed; None if a size is unknown."""
    if given is None or given.shape is None or made.shape is None:
        return None
    sizes, kept = list(given.shape), [dim for dim in made.shape if dim != 1]
    for dim in kept:
        if dim in sizes:
            sizes.remove(dim)
    reduced = [size for size in sizes if isinstance(size, int)]
    is_known = len(reduced) == len(sizes) == len(given.shape) - len(kept) and 0 not in reduced
    return math.prod(reduced) if is_known else None
