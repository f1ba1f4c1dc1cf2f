"""What is known of a size, from one side or from several."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, at_least, bounds, floordiv
from irlint.model.tensor import Tensor


def dim_of(shape: Shape | None, axis: int) -> MaybeDim:
    """The size of an axis, None where not even the rank is known, or there is no such axis."""
    return None if shape is None or not -len(shape) <= axis < len(shape) else shape[axis]


def size(x: Tensor | None, axis: int, rank: int) -> MaybeDim:
    """The size of an axis of a tensor of that rank, None for any other."""
    return x.shape[axis] if x is not None and x.shape is not None and len(x.shape) == rank else None


def narrower(*sizes: MaybeDim) -> MaybeDim:
    """Of several names for one size the one that says most; the first of those that say as much."""
    result: MaybeDim = None
    for size in sizes:
        if result is None or (size is not None and not isinstance(result, int) and _says_more(size, result)):
            result = size
    return result


def _says_more(a: Dim, b: Dim) -> bool:
    """Whether the bounds of ``a`` lie within those of ``b``, and are not the same."""
    (low, high), (least, most) = bounds(a), bounds(b)
    inside = (low or 0) >= (least or 0) and (most is None or (high is not None and high <= most))
    return inside and (low, high) != (least, most)


def whole_quotient(count: Dim, divisor: Dim) -> Dim:
    """The quotient of two sizes of which one divides the other: 1 where it is at most that, and there are elements.

    Raises ZeroDivisionError and TooComplex.
    """
    found = floordiv(count, divisor)
    return 1 if at_least(count, 1) and bounds(found)[1] == 1 else found
