"""Functions on single sizes."""

from __future__ import annotations

from irlint.dims import Dim, MaybeDim, Shape, at_least, bounds, floordiv
from irlint.model.tensor import Tensor


def dim_of(shape: Shape | None, axis: int) -> MaybeDim:
    """The size of an axis; None if the rank is unknown or there is no such axis."""
    return None if shape is None or not -len(shape) <= axis < len(shape) else shape[axis]


def size(x: Tensor | None, axis: int, rank: int) -> MaybeDim:
    """The size of an axis of a tensor; None if it is unknown, or if the tensor has another rank."""
    return x.shape[axis] if x is not None and x.shape is not None and len(x.shape) == rank else None


def narrower(*sizes: MaybeDim) -> MaybeDim:
    """The most informative of several equal sizes: an integer, or else the size with the closest bounds."""
    result: MaybeDim = None
    for size in sizes:
        if result is None or (size is not None and not isinstance(result, int) and _is_narrower(size, result)):
            result = size
    return result


def _is_narrower(a: Dim, b: Dim) -> bool:
    """Whether the bounds of ``a`` are closer than the bounds of ``b``."""
    (low, high), (least, most) = bounds(a), bounds(b)
    inside = (low or 0) >= (least or 0) and (most is None or (high is not None and high <= most))
    return inside and (low, high) != (least, most)


def exact_quotient(count: Dim, divisor: Dim) -> Dim:
    """The quotient of a size and a divisor of it. Raises ZeroDivisionError and TooComplex."""
    found = floordiv(count, divisor)
    return 1 if at_least(count, 1) and bounds(found)[1] == 1 else found
