"""Quotients of sizes: integers rounded towards zero, and floats that the model later rounds to integers.

Floats give exact results here. Let N / k be a quotient of integers with 0 < N, k < 2**p, rounded to the nearest float
of p bits. Its floor, ceiling and integer part are equal to those of the exact quotient.

Proof: let n < N / k < n + 1. The quotient is at least 1/k away from n and from n + 1. Both n and n + 1 are floats, so
rounding could at most reach one of them. If 2**e <= n, neighboring floats are 2**(e + 1 - p) apart. Reaching n or n + 1
requires 1/k <= 2**(e - p), but then N > n*k >= 2**e * 2**(p - e) = 2**p. If n is 0, it requires 1/k <= 2**(-1 - p).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isfinite

from irlint.dims import Dim, Expr, MaybeDim, at_least, floordiv, guarded, largest, quotient
from irlint.dims.polynomials import atoms_of
from irlint.dims.proofs import fed
from irlint.model.descriptions import Ratio, Ratios
from irlint.model.tensor import INTEGERS, Scalar, Tensor
from irlint.ops.shared import contents

#: The element types whose quotients irlint tracks as ``Ratio``. 16-bit types are too small for sizes.
TRACKED = frozenset({"float32", "float64"})

#: Sizes are multiplied by at most this number, so that products of sizes below 2**20 stay exact in float32.
MOST_TIMES = 16

#: Divisors are below this number, as the proof requires for float32.
DIVISOR_LIMIT = 1 << 24

#: The dividend of a quotient of unknown sign may contain at most this many quotients, minima and maxima.
MOST_PARTS = 2


def truncated(a: Dim, b: Dim) -> MaybeDim:
    """a / b rounded towards zero; None if it is unknown. Assumes that sizes of the model's inputs are at least 1."""
    return guarded(_truncated, a, b)


def _truncated(a: Dim, b: Dim) -> MaybeDim:
    if at_least(-1, b):
        a, b = -a, -b
    if not at_least(fed(b), 1):
        return None
    exact = quotient(a, b)
    if exact is not None:
        return exact
    if at_least(fed(a), 0):
        return floordiv(a, b)
    if at_least(0, fed(a)):
        return -floordiv(-a, b)
    # Proofs with two cases for each quotient, minimum or maximum are slow.
    if sum(bool(atom.parts) for atom in atoms_of(a)) > MOST_PARTS:
        return None
    above, below = largest(a, 0), largest(-a, 0)
    return None if above is None or below is None else floordiv(above, b) - floordiv(below, b)


def with_ratios(result: Tensor, a: Tensor, b: Tensor, *, ratio: Callable[[Scalar, Scalar], Scalar | Ratio]) -> Tensor:
    """``result``, the quotient or product of ``a`` and ``b``. ``ratio`` of their entries replaces unknown entries."""
    if result.dtype not in TRACKED or result.value is None or result.shape is None:
        return result
    pairs = zip(
        *(
            contents.spread(x.value, x.shape, result.shape)
            for x in (a, b)
            if x.value is not None and x.shape is not None
        )
    )
    entries = tuple(ratio(*pair) if entry is None else entry for entry, pair in zip(result.value, pairs))
    known = tuple(None if isinstance(entry, Ratio) else entry for entry in entries)
    return Tensor(result.dtype, result.shape, known, Ratios(entries) if known != entries else None)


def quotient_ratio(a: Scalar, b: Scalar) -> Scalar | Ratio:
    """A symbolic size divided by a float; None if the result is not a tracked quotient."""
    if not isinstance(a, Expr) or not isinstance(b, float) or not isfinite(b) or b == 0:
        return None
    divisor, times = b.as_integer_ratio()
    return _ratio(a, times, divisor)


def product_ratio(a: Scalar, b: Scalar) -> Scalar | Ratio:
    """A symbolic size multiplied by a float; None if the result is not a tracked quotient."""
    if isinstance(b, Expr):
        a, b = b, a
    if not isinstance(a, Expr) or not isinstance(b, float) or not isfinite(b):
        return None
    times, divisor = b.as_integer_ratio()
    return _ratio(a, times, divisor)


def _ratio(a: Dim, times: int, divisor: int) -> Dim | Ratio | None:
    if abs(times) > MOST_TIMES or abs(divisor) >= DIVISOR_LIMIT:
        return None
    numerator = guarded(operator.mul, a, times if divisor > 0 else -times)
    if numerator is None:
        return None
    integer = quotient(numerator, abs(divisor))
    return Ratio(numerator, abs(divisor)) if integer is None else integer


def rounded(x: Tensor, fold: contents.Fold) -> Tensor | None:
    """A tensor of tracked quotients, rounded by ``fold``; None for any other tensor."""
    if not isinstance(x.extent, Ratios):
        return None
    return Tensor(x.dtype, x.shape, tuple(contents.entry_of(fold, (entry,), x.dtype) for entry in x.extent.entries))


def converted(x: Tensor, dtype: str | None) -> Tensor | None:
    """A tensor of tracked quotients, converted to ``dtype``; None for any other tensor."""
    if not isinstance(x.extent, Ratios):
        return None
    entries = (
        (truncated(entry.numerator, entry.divisor) if dtype in INTEGERS else None)
        if isinstance(entry, Ratio)
        else contents.cast(entry, dtype)
        for entry in x.extent.entries
    )
    return Tensor(dtype, x.shape, tuple(entries))
