"""Arithmetic on the known values of small tensors. An entry is a number, a symbolic size, or None for unknown."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from itertools import product

from irlint.dims import Dim, Expr, MaybeDim, Shape, at_least, elements, floordiv, guarded, largest, same, smallest
from irlint.model.tensor import BITS, CONTENTS_LIMIT, INTEGERS, UNSIGNED, Contents, Extent, Scalar, Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from irlint.model.descriptions import Ratio

Fold = Callable[..., Scalar]

#: The letters of floating-point types in the ``struct`` module.
_CODES: dict[str | None, str] = {"float16": "e", "float32": "f", "float64": "d"}

#: The largest finite numbers of the floating-point types that overflow to infinity.
FINITE = {
    "float16": 65504.0,
    "bfloat16": (2 - 2.0**-7) * 2.0**127,
    "float32": (2 - 2.0**-23) * 2.0**127,
    "float64": (2 - 2.0**-52) * 2.0**1023,
}

#: The smallest numbers that a conversion to a floating-point type rounds to infinity.
INFINITE_FROM = {
    "float16": 65520.0,
    "bfloat16": (2 - 2.0**-8) * 2.0**127,
    "float32": (2 - 2.0**-24) * 2.0**127,
    "float64": math.inf,
}


def fits(shape: Shape | None) -> bool:
    """Whether a shape is static, and small enough that irlint stores the values of its tensors."""
    return shape is not None and all(isinstance(dim, int) for dim in shape) and elements(shape) <= CONTENTS_LIMIT  # type: ignore[arg-type]


def strides(shape: Sequence[int]) -> tuple[int, ...]:
    """The distance between neighbors on each axis, in elements, in row-major order."""
    result = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        result[axis] = result[axis + 1] * shape[axis + 1]
    return tuple(result)


def static(shape: Shape) -> tuple[int, ...]:
    """A static shape as plain integers."""
    assert all(isinstance(dim, int) for dim in shape)
    return shape  # type: ignore[return-value]


def is_spread(shape: Shape | None, onto: Shape) -> bool:
    """Whether a tensor of the static shape ``shape`` can be broadcast to the static shape ``onto``."""
    pairs = zip(reversed(shape or ()), reversed(onto))
    return shape is not None and len(shape) <= len(onto) and all(dim in (1, wanted) for dim, wanted in pairs)


def spread(value: Contents, shape: Shape, onto: Shape) -> Contents:
    """The values of a static tensor, broadcast to the static shape ``onto``."""
    if shape == onto:
        return value
    if len(value) == 1:
        return value * math.prod(static(onto))
    widths = strides(static(shape))
    offset = len(onto) - len(shape)
    steps = [0] * offset + [0 if dim == 1 else widths[axis] for axis, dim in enumerate(shape)]
    return tuple(value[index] for index in _offsets(onto, steps))


def _offsets(shape: Shape, steps: Sequence[int]) -> list[int]:
    offsets = [0]
    for size, step in zip(shape, steps):
        assert isinstance(size, int)
        offsets = [offset + step * position for offset in offsets for position in range(size)]
    return offsets


def permuted(value: Contents, shape: Shape, perm: Sequence[int]) -> Contents:
    """The values of a static tensor with its axes in the order ``perm``."""
    widths = strides(shape)  # type: ignore[arg-type]
    return tuple(value[index] for index in _offsets([shape[axis] for axis in perm], [widths[axis] for axis in perm]))  # type: ignore[arg-type]


def positions(shape: Shape) -> list[tuple[int, ...]]:
    """The indices of all elements of a static shape, in row-major order."""
    return list(product(*(range(size) for size in shape)))  # type: ignore[arg-type]


def rearranged(x: Tensor, shape: Shape | None) -> Tensor:
    """``x`` with another shape and the same order of elements."""
    if x.value is None and x.extent is None:
        return Tensor(x.dtype, shape)
    if x.value is None or not fits(shape) or _count(shape or ()) != len(x.value):
        from irlint.ops.shared import bounds

        return Tensor(x.dtype, shape, None, bounds.rearranged(x, shape))
    return Tensor(x.dtype, shape, x.value)


def folded(
    fold: Fold, tensors: Sequence[Tensor], shape: Shape | None, *, dtype: str | None, partial: bool = False
) -> Contents | None:
    """The values of the output of an elementwise operator; None if they are unknown or too many.

    ``partial``: ``fold`` accepts None, an unknown entry.
    """
    if any(x.shape is None or (x.value is None and not partial) for x in tensors) or not fits(shape):
        return None
    assert shape is not None
    columns = [
        spread(x.value, x.shape, shape) if x.value is not None and x.shape is not None else (None,) * _count(shape)
        for x in tensors
    ]
    entries = tuple(entry_of(fold, row, dtype, partial=partial) for row in zip(*columns))
    return None if partial and entries and all(entry is None for entry in entries) else entries


def computed(fold: Fold | None, tensors: tuple[Tensor, ...], shape: Shape | None, *, dtype: str | None) -> Tensor:
    """The result of an elementwise operator. ``fold`` computes an entry; without ``fold``, the values are unknown."""
    if fold is None:
        return Tensor(dtype, shape)
    partial = fold in (both, either)
    value = folded(fold, tensors, shape, dtype=dtype, partial=partial)
    for x in tensors:
        if value is not None or (x.value is None and x.extent is None):
            return Tensor(dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(dtype, shape, None, bounds.combined(fold, tensors, shape, dtype=dtype))


def _count(shape: Shape) -> int:
    return math.prod(static(shape))


def entry_of(fold: Fold, row: Sequence[Scalar | Ratio], dtype: str | None, *, partial: bool = False) -> Scalar:
    """The result of ``fold`` for one entry of each input, cast to ``dtype``. ``partial``: ``fold`` accepts None."""
    if None in row and not partial:
        return None
    try:
        return cast(fold(*row), dtype)
    except (ArithmeticError, TypeError, ValueError):
        return None


def chosen(condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
    if condition is None:
        return a if a is not None and equal(a, b) else None
    return a if condition else b


def both(a: Scalar, b: Scalar) -> Scalar:
    """Logical and; None counts as unknown."""
    if any(entry is not None and not entry for entry in (a, b)):
        return False
    return None if a is None or b is None else True


def either(a: Scalar, b: Scalar) -> Scalar:
    """Logical or; None counts as unknown."""
    if any(entry is not None and bool(entry) for entry in (a, b)):
        return True
    return None if a is None or b is None else False


def cast(entry: Scalar, dtype: str | None) -> Scalar:
    """An entry cast to ``dtype``; None if the result is unknown or out of range."""
    if entry is None or isinstance(entry, Expr):
        return entry if dtype in INTEGERS or (dtype is not None and "float" in dtype) else None
    if dtype == "bool":
        return bool(entry)
    if dtype in INTEGERS:
        return _as_integer(entry, dtype)
    if dtype is not None and dtype in _CODES:
        return rounded(float(entry), dtype)
    return None


def all_cast(entries: Contents, dtype: str | None) -> Contents:
    import struct

    form = f"{len(entries)}{_CODES.get(dtype, '')}"
    try:
        return struct.unpack(form, struct.pack(form, *entries))
    except (OverflowError, struct.error):
        return tuple([cast(entry, dtype) for entry in entries])


def _as_integer(entry: int | float, dtype: str) -> Scalar:
    if isinstance(entry, float) and not math.isfinite(entry):
        return None
    integer = int(entry)
    bits = BITS[dtype]
    low, high = (0, 1 << bits) if dtype in UNSIGNED else (-(1 << bits - 1), 1 << bits - 1)
    return integer if low <= integer < high else None


def rounded(number: float, dtype: str) -> float | None:
    """A number rounded to a floating-point type; None if it is too large."""
    import struct

    try:
        return float(struct.unpack(_CODES[dtype], struct.pack(_CODES[dtype], number))[0])
    except OverflowError:
        return None


def plus(a: Scalar, b: Scalar) -> Scalar:
    return _arithmetic(operator.add, a, b)


def minus(a: Scalar, b: Scalar) -> Scalar:
    return _arithmetic(operator.sub, a, b)


def times(a: Scalar, b: Scalar) -> Scalar:
    return _arithmetic(operator.mul, a, b)


def _arithmetic(fold: Callable[..., Scalar], a: Scalar, b: Scalar) -> Scalar:
    """The result of ``fold``; None if one of ``a`` and ``b`` is a symbolic size and the other is a fraction."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        dim_a, dim_b = _as_dim(a), _as_dim(b)
        return None if dim_a is None or dim_b is None else fold(dim_a, dim_b)
    return fold(a, b)


def _as_dim(entry: Scalar) -> MaybeDim:
    if isinstance(entry, float):
        return int(entry) if entry.is_integer() else None
    return entry


def truncated_quotient(a: Scalar, b: Scalar) -> Scalar:
    """ONNX's division: the quotient of integers is rounded towards zero."""
    if isinstance(a, float) or isinstance(b, float):
        return real_quotient(a, b)
    if isinstance(a, Expr) or isinstance(b, Expr):
        from irlint.ops.shared.quotients import truncated

        return truncated(a, b)  # type: ignore[arg-type]
    assert a is not None and b is not None
    magnitude = abs(a) // abs(b)
    return magnitude if (a < 0) == (b < 0) else -magnitude


def floored_quotient(a: Scalar, b: Scalar) -> Scalar:
    """OpenVINO's default division: the quotient of integers is rounded towards minus infinity."""
    if isinstance(a, float) or isinstance(b, float):
        return real_quotient(a, b)
    assert a is not None and b is not None
    return floordiv(a, b) if isinstance(b, int) or at_least(b, 1) else None


def real_quotient(a: Scalar, b: Scalar) -> Scalar:
    """Division of floating-point numbers."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return a if not isinstance(b, Expr) and b == 1 else None
    assert a is not None and b is not None
    return a / b


def floored_remainder(a: Scalar, b: Scalar) -> Scalar:
    """The remainder with the sign of the divisor (ONNX Mod with fmod=0, OpenVINO FloorMod)."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return a % b if at_least(b, 1) else None  # type: ignore[operator, arg-type]
    return a % b  # type: ignore[operator]


def truncated_remainder(a: Scalar, b: Scalar) -> Scalar:
    """The remainder with the sign of the dividend (ONNX Mod with fmod=1, OpenVINO Mod)."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        return floored_remainder(a, b) if at_least(a, 0) else None  # type: ignore[arg-type]
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)  # type: ignore[arg-type]
    return a - b * truncated_quotient(a, b)  # type: ignore[operator, arg-type]


def power(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, Expr):
        exponent = _as_dim(b)
        if not isinstance(exponent, int) or not 0 <= exponent <= 4:
            return None
        result: Dim = 1
        for _ in range(exponent):
            result = result * a
        return result
    if isinstance(b, Expr) or abs(b) > 64:  # type: ignore[arg-type]
        return None
    return a**b  # type: ignore[operator]


def lesser(*entries: Scalar) -> Scalar:
    return _extreme(min, smallest, entries)


def greater(*entries: Scalar) -> Scalar:
    return _extreme(max, largest, entries)


def _extreme(plain: Callable[..., Scalar], symbolic: Callable[..., MaybeDim], entries: Sequence[Scalar]) -> Scalar:
    if not any(isinstance(entry, Expr) for entry in entries):
        return plain(entries)
    dims = [_as_dim(entry) for entry in entries]
    return None if None in dims else symbolic(*dims)


def equal(a: Scalar, b: Scalar) -> Scalar:
    if isinstance(a, Expr) or isinstance(b, Expr):
        return same(_as_dim(a), _as_dim(b))
    return a == b


def unequal(a: Scalar, b: Scalar) -> Scalar:
    result = equal(a, b)
    return None if result is None else not result


def not_less(a: Scalar, b: Scalar) -> Scalar:
    """Whether a >= b, on the assumption that the sizes of the model's inputs are at least 1; None if unknown."""
    if isinstance(a, Expr) or isinstance(b, Expr):
        from irlint.dims.proofs import fed

        return at_least(guarded(fed, _as_dim(a)), guarded(fed, _as_dim(b)))
    return a >= b  # type: ignore[operator]


def less(a: Scalar, b: Scalar) -> Scalar:
    result = not_less(a, b)
    return None if result is None else not result


def are_finite(entries: Sequence[object]) -> bool:
    """Whether all entries are known, and none is NaN or infinite."""
    try:
        return all(map(math.isfinite, entries))  # type: ignore[arg-type]
    except TypeError:
        return False


def extent(tensor: Tensor | None) -> Extent | None:
    """The least and the largest known number of a tensor; None if no number is known."""
    if tensor is None:
        return None
    if tensor.value is None:
        return tensor.extent if isinstance(tensor.extent, Extent) else None
    numbers = [entry for entry in tensor.value if type(entry) is int or type(entry) is float]
    return spanned(numbers) if numbers else None


def spanned(numbers: list[int | float]) -> Extent:
    """The extent of known numbers."""
    finite = numbers if math.isfinite(sum(numbers)) else [entry for entry in numbers if math.isfinite(entry)]
    nans = sum(entry != entry for entry in numbers) if len(finite) < len(numbers) else 0
    return Extent(
        min(finite, default=None),
        max(finite, default=None),
        0 in finite,
        nans,
        len(numbers) - nans - len(finite),
    )
