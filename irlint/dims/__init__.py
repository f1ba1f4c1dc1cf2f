"""The arithmetic of sizes: integers, and integer polynomials over symbols, floor divisions, min and max.

A ``Dim`` is an int, or a polynomial over symbols (``Expr``). None is an unknown size. Proofs assume that each symbol is
an integer within its bounds, and that no divisor is 0.
"""

from __future__ import annotations

from math import gcd, prod

from irlint.dims.limits import at_least, bounds
from irlint.dims.polynomials import (
    Bounds,
    Dim,
    Expr,
    MaybeDim,
    Shape,
    TooComplex,
    atoms_of,
    divided,
    factors_of,
    floordiv,
    mapped,
    symbol,
    terms_of,
    unused_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: With more integers than this, a product is not computed beyond 2**64, because that would take quadratic time.
MANY = 64

__all__ = [
    "Bounds",
    "Dim",
    "Expr",
    "MaybeDim",
    "Shape",
    "TooComplex",
    "at_least",
    "bounds",
    "broadcast_parts",
    "broadcast_size",
    "ceildiv",
    "divisible",
    "elements",
    "evaluated",
    "floordiv",
    "guarded",
    "largest",
    "product",
    "quotient",
    "same",
    "smallest",
    "substituted",
    "symbol",
    "symbols",
    "total",
    "unused_name",
]


def guarded(function: Callable[..., MaybeDim], *args: object) -> MaybeDim:
    """``function(*args)``, or None if it raises TooComplex."""
    try:
        return function(*args)
    except TooComplex:
        return None


def elements(shape: Sequence[int]) -> int:
    """The number of elements of a static shape. With more than MANY axes, the number is exact only below 2**64."""
    if len(shape) <= MANY:
        return prod(shape)
    count = 1
    for size in shape:
        count *= size
        if abs(count) >= 1 << 64:
            return 0 if 0 in shape else count
    return count


def product(dims: Iterable[MaybeDim]) -> MaybeDim:
    """The product; None if a factor is None and no factor is 0, or if the result is too complex.

    The product of more than MANY integers is exact only below 2**64.
    """
    factors = tuple(dims)
    if any(dim == 0 for dim in factors):
        return 0
    if None in factors:
        return None
    if len(factors) > MANY and all(isinstance(factor, int) for factor in factors):
        return elements(factors)  # type: ignore[arg-type]
    return guarded(prod, factors)


def total(dims: Iterable[MaybeDim]) -> MaybeDim:
    """The sum; None if a term is None or the result is too complex."""
    terms = tuple(dims)
    return None if None in terms else guarded(sum, terms)


def ceildiv(a: Dim, b: Dim) -> Dim:
    """The ceiling of a / b for a positive b; raises ZeroDivisionError and TooComplex."""
    return floordiv(a + b - 1, b)


def quotient(a: Dim, b: Dim) -> Dim | None:
    """``a / b`` if ``b`` divides ``a``; None if it does not, or if the division is too complex."""
    if isinstance(b, Expr):
        try:
            result, remainder = divided(a, b)
        except TooComplex:
            return None
        return result if remainder == 0 else None
    if b == 0 or any(factor % b for factor in terms_of(a).values()):
        return None
    return a // b


def smallest(*dims: MaybeDim) -> MaybeDim:
    """The minimum; None if a dim is None or the result is too complex."""
    from irlint.dims.extremes import extreme

    return None if None in dims else guarded(extreme, "min", dims)


def largest(*dims: MaybeDim) -> MaybeDim:
    """The maximum; None if a dim is None or the result is too complex."""
    from irlint.dims.extremes import extreme

    return None if None in dims else guarded(extreme, "max", dims)


def broadcast_size(*dims: MaybeDim) -> MaybeDim:
    """The size to which compatible ``dims`` are broadcast; None if a dim is None or the result is too complex."""
    from irlint.dims.extremes import joint_size

    return None if None in dims else guarded(joint_size, dims)


def broadcast_parts(dim: Dim) -> tuple[Dim, ...]:
    """The sizes that were broadcast to ``dim``; ``(dim,)`` if ``dim`` is no result of ``broadcast_size``."""
    if isinstance(dim, int):
        return (dim,)
    from irlint.dims.extremes import broadcast_parts as parts_of

    return tuple(dict.fromkeys(parts_of(dim)))


def substituted(a: Dim, sizes: Mapping[str, Dim]) -> Dim:
    """``a`` with the symbols in ``sizes`` replaced by their sizes. Raises TooComplex.

    Each size must be within the bounds of its symbol.
    """
    return mapped(a, lambda atom: sizes.get(atom.name), {})


def evaluated(a: Dim, sizes: Mapping[str, int]) -> int:
    """The value of ``a`` for these sizes of its symbols.

    Raises KeyError for a symbol without a size, ZeroDivisionError for a divisor of 0, and TooComplex.
    """
    value = mapped(a, lambda atom: sizes[atom.name], {})
    assert isinstance(value, int)
    return value


def symbols(a: Dim) -> frozenset[str]:
    """The names of all symbols in ``a``, including those inside quotients, minima and maxima."""
    atoms = set(atoms_of(a))
    names = frozenset(atom.name for atom in atoms if atom.name)
    return names.union(*(symbols(part) for atom in atoms for part in atom.parts))


def same(a: MaybeDim, b: MaybeDim, *, positive: bool = False) -> bool | None:
    """True if ``a`` and ``b`` are equal for all sizes, False if they always differ, None if neither is proven.

    ``positive`` assumes that every symbol is at least 1.
    """
    if a is b:
        return None if a is None else True
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    from irlint.dims.proofs import raised, vanishes

    try:
        return vanishes(mapped(a - b, raised, {}) if positive else a - b)
    except TooComplex:
        return None


def divisible(a: Dim, n: int) -> bool | None:
    """True if ``n`` divides ``a`` for all sizes, False if it never does, None if neither is proven."""
    if isinstance(a, int):
        return a == 0 or a % n == 0
    if all(factor % n == 0 for factor in a.terms.values()):
        return True
    if a.terms.get((), 0) % gcd(n, *factors_of(a)):
        return False
    from irlint.dims.proofs import vanishes

    try:
        return vanishes(a % n)
    except TooComplex:
        return None
