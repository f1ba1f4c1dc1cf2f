"""What is known of a size from more than one side."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, at_least, bounds, floordiv


def narrower(a: MaybeDim, b: MaybeDim) -> MaybeDim:
    """Of two names for one size the one that tells more; ``a`` where neither does."""
    if a is None or b is None or a == b:
        return b if a is None else a
    (least, most), (low, high) = bounds(a), bounds(b)
    inside = (low or 0) >= (least or 0) and (most is None or (high is not None and high <= most))
    return b if inside and (least, most) != (low, high) else a


def whole_quotient(count: Dim, divisor: Dim) -> Dim:
    """The quotient of two sizes of which one divides the other: 1 where it is at most that, and there are elements.

    Raises ZeroDivisionError and TooComplex.
    """
    found = floordiv(count, divisor)
    return 1 if at_least(count, 1) and bounds(found)[1] == 1 else found
