"""The arithmetic of sizes: whole numbers, and integer polynomials over symbols, floor divisions, min and max.

Symbols are whole numbers within their bounds and a divisor is never zero: proofs are under these conditions.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd, inf, lcm, prod

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_TERMS = 64
MAX_DEGREE = 64
MAX_ATOM_SIZE = 256
MAX_RESIDUES = 64
MAX_CASES = 256
MAX_BRANCHING_SIZE = 16
MAX_REMEMBERED = 20_000


class TooComplex(Exception):
    """An expression past the size that is worth reasoning about."""


class Atom:
    """A symbol, or the quotient ("//"), "min" or "max" of `parts`. Interned: equal atoms are one object."""

    __slots__ = ("degree", "high", "key", "kind", "low", "name", "parts", "size")

    def __init__(self, kind: str, name: str, parts: tuple[Dim, ...], limits: Bounds) -> None:
        self.kind = kind
        self.name = name
        self.parts = parts
        self.low, self.high = limits
        self.size: int = 1 + sum(atom.size for part in parts for atom in _atoms(part))
        degrees = [_degree(part) for part in parts]
        self.degree: int = max(1, degrees[0] - degrees[1] if kind == "//" else max(degrees, default=1))
        numbers = [part for part in parts if isinstance(part, int)]
        self.key = (bool(parts), name or str(parts[0]), kind, numbers, str(parts or limits))

    def __reduce__(self) -> tuple[object, ...]:
        if self.parts:
            return _operation, (self.kind, self.parts)
        return _symbol, (self.name, self.low, self.high)

    def __str__(self) -> str:
        if self.kind == "//":
            return _quotient_text(*self.parts)
        return f"{self.kind}({', '.join(map(str, self.parts))})" if self.parts else self.name


class Expr:
    """An integer polynomial that is not constant; equal polynomials are equal and hash alike.

    `terms` maps each monomial, a sorted tuple of atoms, to its coefficient, never zero. The operators return
    an int where the result is constant, and raise TooComplex where it has more than MAX_TERMS terms.
    """

    __slots__ = ("_hash", "_text", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._text: str | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return Expr, (self.terms,)

    def __add__(self, other: Dim) -> Dim:
        return _sum(self.terms, other, 1) if isinstance(other, (int, Expr)) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Dim) -> Dim:
        return _sum(self.terms, other, -1) if isinstance(other, (int, Expr)) else NotImplemented

    def __rsub__(self, other: int) -> Dim:
        return -self + other

    def __neg__(self) -> Expr:
        return Expr({monomial: -factor for monomial, factor in self.terms.items()})

    def __mul__(self, other: Dim) -> Dim:
        return _product(self.terms, _terms(other)) if isinstance(other, (int, Expr)) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rfloordiv__(self, other: int) -> Dim:
        return floordiv(other, self) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Dim) -> Dim:
        return self - other * floordiv(self, other) if isinstance(other, (int, Expr)) else NotImplemented

    def __rmod__(self, other: int) -> Dim:
        return other - self * floordiv(other, self) if isinstance(other, int) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self is other or (self.terms == other.terms if isinstance(other, Expr) else NotImplemented)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash

    def __bool__(self) -> bool:
        raise TypeError(f"whether {self} is zero is not known; compare with same() or at_least()")

    def __str__(self) -> str:
        if self._text is None:
            self._text = _text(self)
        return self._text

    __repr__ = __str__


Dim = int | Expr
MaybeDim = Dim | None
Shape = tuple[MaybeDim, ...]
Monomial = tuple[Atom, ...]
Terms = dict[Monomial, int]
Bounds = tuple[int | None, int | None]

_interned: dict[tuple[object, ...], Atom] = {}


def symbol(name: str, lower: int = 0, upper: int | None = None) -> Dim:
    """The size called `name`, a Python identifier; a number where the bounds leave only one."""
    return lower if lower == upper else Expr({(_symbol(name, lower, upper),): 1})


def guarded(function: Callable[..., MaybeDim], *args: object) -> MaybeDim:
    """`function(*args)`, or None where that is too complex."""
    try:
        return function(*args)
    except TooComplex:
        return None


def product(dims: Iterable[MaybeDim]) -> MaybeDim:
    """The product, 1 for none; 0 if any is 0, else None if any is None or the product is too complex."""
    factors = tuple(dims)
    if any(dim == 0 for dim in factors):
        return 0
    return None if None in factors else guarded(prod, factors)


def total(dims: Iterable[MaybeDim]) -> MaybeDim:
    """The sum, 0 for none; None if any is None or the sum is too complex."""
    terms = tuple(dims)
    return None if None in terms else guarded(sum, terms)


def floordiv(a: Dim, b: Dim) -> Dim:
    """The floor of a / b, exact where b divides the polynomial a; raises ZeroDivisionError and TooComplex."""
    if isinstance(b, Expr):
        return _floor_by_expr(a, b)
    if isinstance(a, int):
        return a // b
    if b == 0:
        raise ZeroDivisionError(f"{a} is divided by zero")
    return _floor_by_int(a, b) if b > 0 else _floor_by_int(-a, -b)


def ceildiv(a: Dim, b: Dim) -> Dim:
    """The ceiling of a / b for a positive b; raises ZeroDivisionError and TooComplex."""
    return floordiv(a + b - 1, b)


def quotient(a: Dim, b: Dim) -> Dim | None:
    """The exact quotient of two polynomials, None where b does not divide a, or is 0."""
    if isinstance(b, Expr):
        try:
            whole, rest = _divided(a, b)
        except TooComplex:
            return None
        return whole if rest == 0 else None
    if b == 0 or any(factor % b for factor in _terms(a).values()):
        return None
    return a // b


def smallest(*dims: MaybeDim) -> MaybeDim:
    """The minimum, None if any is None or the result is too complex."""
    return None if None in dims else guarded(_extreme, "min", dims)


def largest(*dims: MaybeDim) -> MaybeDim:
    """The maximum, None if any is None or the result is too complex."""
    return None if None in dims else guarded(_extreme, "max", dims)


def broadcast_size(*dims: MaybeDim) -> MaybeDim:
    """The size that sizes which are equal or 1 are broadcast to, None if any is None or the result is too complex.

    The result for sizes that are neither equal nor 1 means nothing.
    """
    return None if None in dims else guarded(_broadcast_size, dims)


def substituted(a: Dim, sizes: Mapping[str, Dim]) -> Dim:
    """`a` with the named symbols replaced by sizes that lie within their bounds; raises TooComplex."""
    return _mapped(a, lambda atom: sizes.get(atom.name), {})


def evaluated(a: Dim, sizes: Mapping[str, int]) -> int:
    """The value of `a` for the sizes of all its symbols."""
    value = _mapped(a, lambda atom: sizes[atom.name], {})
    assert isinstance(value, int)
    return value


def symbols(a: Dim) -> frozenset[str]:
    """The names of the symbols that `a` depends on."""
    names = frozenset(atom.name for atom in _atoms(a) if atom.name)
    return names.union(*(symbols(part) for atom in _atoms(a) for part in atom.parts))


def same(a: MaybeDim, b: MaybeDim, *, positive: bool = False) -> bool | None:
    """Whether a and b are equal, or differ, for all sizes; `positive` takes every symbol to be at least 1."""
    if a is b:
        return None if a is None else True
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    try:
        return _vanishes(_mapped(a - b, _raised, {}) if positive else a - b)
    except TooComplex:
        return None


def at_least(a: MaybeDim, n: MaybeDim) -> bool | None:
    """Whether a >= n holds, or fails, for all sizes."""
    if a is None or n is None:
        return None
    if isinstance(a, int) and isinstance(n, int):
        return a >= n
    try:
        low, high = bounds(a - n)
    except TooComplex:
        return None
    if low is not None and low >= 0:
        return True
    return False if high is not None and high < 0 else None


def divisible(a: Dim, n: int) -> bool | None:
    """Whether a % n == 0 holds, or fails, for all sizes."""
    terms = _terms(a)
    if all(factor % n == 0 for factor in terms.values()):
        return True
    if terms.get((), 0) % gcd(n, *_factors(a)):
        return False
    try:
        return _vanishes(a % n)
    except TooComplex:
        return None


def bounds(a: Dim) -> Bounds:
    """Numbers that `a` is never below and never above; None where none is known."""
    return (a, a) if isinstance(a, int) else _bounds(a)


def _symbol(name: str, low: int, high: int | None) -> Atom:
    key = (name, low, high)
    return _interned.get(key) or _interned.setdefault(key, Atom("", name, (), (low, high)))


def _operation(kind: str, parts: tuple[Dim, ...]) -> Atom:
    key = (kind, parts)
    if key not in _interned:
        limits = [bounds(part) for part in parts]
        found = _quotient_bounds(*limits) if kind == "//" else _extreme_bounds(kind, limits)
        _interned[key] = Atom(kind, "", parts, found)
    return _interned[key]


def _atom_dim(atom: Atom) -> Expr:
    if atom.size > MAX_ATOM_SIZE:
        raise TooComplex(f"{atom.size} symbols and operations in one atom")
    return Expr({(atom,): 1})


def _dim(terms: Terms) -> Dim:
    """The canonical Dim for terms without a zero coefficient."""
    if len(terms) > MAX_TERMS:
        raise TooComplex(f"{len(terms)} terms")
    if not terms:
        return 0
    return terms[()] if len(terms) == 1 and () in terms else Expr(terms)


def _sum(left: Terms, right: Dim, scale: int) -> Dim:
    terms = left.copy()
    for monomial, factor in _terms(right).items():
        value = terms.get(monomial, 0) + scale * factor
        if value:
            terms[monomial] = value
        else:
            terms.pop(monomial, None)
    return _dim(terms)


def _product(left: Terms, right: Terms) -> Dim:
    terms: Terms = {}
    for monomial, factor in left.items():
        for other, other_factor in right.items():
            both = _monomial(monomial, other)
            terms[both] = terms.get(both, 0) + factor * other_factor
    return _dim({monomial: factor for monomial, factor in terms.items() if factor})


def _monomial(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    if len(left) + len(right) > MAX_DEGREE:
        raise TooComplex(f"degree {len(left) + len(right)}")
    return tuple(sorted(left + right, key=lambda atom: atom.key))


def _rank(monomial: Monomial) -> tuple[int, list[object]]:
    """Ascending in this is descending in a graded lexicographic order, which products respect."""
    return -len(monomial), [atom.key for atom in monomial]


def _without(monomial: Monomial, part: Monomial) -> Monomial | None:
    remaining = list(monomial)
    for atom in part:
        if atom not in remaining:
            return None
        remaining.remove(atom)
    return tuple(remaining)


def _terms(a: Dim) -> Terms:
    return a.terms if isinstance(a, Expr) else {(): a} if a else {}


def _atoms(a: Dim) -> Iterator[Atom]:
    return (atom for monomial in _terms(a) for atom in monomial)


def _factors(a: Dim) -> list[int]:
    """The coefficients of all terms but the constant."""
    return [factor for monomial, factor in _terms(a).items() if monomial]


def _degree(a: Dim) -> int:
    return max((sum(atom.degree for atom in monomial) for monomial in _terms(a)), default=0)


def _alone(a: Dim, kind: str) -> tuple[Atom, int] | None:
    """The atom of that kind and the constant of which `a` is the sum, if it is one."""
    monomials = [monomial for monomial in _terms(a) if monomial]
    if len(monomials) != 1 or len(monomials[0]) != 1 or _factors(a) != [1]:
        return None
    atom = monomials[0][0]
    return (atom, _terms(a).get((), 0)) if atom.kind == kind else None


def _mapped(a: Dim, replacement: Callable[[Atom], MaybeDim], images: dict[Atom, Dim]) -> Dim:
    """`a` with every symbol replaced that has a replacement; `images` remembers atoms within one call."""
    if isinstance(a, int):
        return a
    result: Dim = 0
    for monomial, factor in a.terms.items():
        term: Dim = factor
        for atom in monomial:
            if atom not in images:
                images[atom] = _image(atom, replacement, images)
            term = term * images[atom]
        result = result + term
    return result


def _image(atom: Atom, replacement: Callable[[Atom], MaybeDim], images: dict[Atom, Dim]) -> Dim:
    parts = tuple(_mapped(part, replacement, images) for part in atom.parts)
    size = None if parts else replacement(atom)
    if size is not None:
        return size
    if parts == atom.parts:
        return Expr({(atom,): 1})
    return floordiv(*parts) if atom.kind == "//" else _extreme(atom.kind, parts)


@lru_cache(MAX_REMEMBERED)
def _floor_by_int(a: Dim, divisor: int) -> Dim:
    """The canonical floor of a / divisor for a positive divisor.

    Multiples of the divisor leave the numerator, common factors are cancelled, nested quotients joined.
    """
    if divisor == 1:
        return a
    if all(factor < 0 for factor in _factors(a)):
        return -_floor_by_int(divisor - 1 - a, divisor)
    whole, rest = _split(_terms(a), divisor)
    if not any(rest):
        return _dim(whole)
    common = gcd(divisor, *(factor for monomial, factor in rest.items() if monomial))
    rest = {monomial: factor // common for monomial, factor in rest.items() if monomial or factor >= common}
    return _dim(whole) + _floor(Expr(rest), divisor // common)


def _split(terms: Terms, divisor: int) -> tuple[Terms, Terms]:
    """`whole` and `rest` with terms == divisor * whole + rest; rest has small coefficients, one positive."""
    rest = {monomial: factor % divisor for monomial, factor in terms.items() if factor % divisor}
    if any(monomial and 2 * factor <= divisor for monomial, factor in rest.items()):
        large = [monomial for monomial, factor in rest.items() if monomial and 2 * factor > divisor]
        rest |= {monomial: rest[monomial] - divisor for monomial in large}
    whole = {monomial: (factor - rest.get(monomial, 0)) // divisor for monomial, factor in terms.items()}
    return {monomial: factor for monomial, factor in whole.items() if factor}, rest


@lru_cache(MAX_REMEMBERED)
def _floor_by_expr(a: Dim, divisor: Expr) -> Dim:
    if divisor.terms[min(divisor.terms, key=_rank)] < 0:
        a, divisor = -a, -divisor
    a, reduced = _cancelled(a, divisor)
    if isinstance(reduced, int):
        return floordiv(a, reduced)
    whole, rest = _divided(a, reduced)
    split = isinstance(whole, int) or isinstance(rest, int) or len(reduced.terms) == 1
    return whole + _floor(rest, reduced) if split else _floor(a, reduced)


def _floor(a: Dim, divisor: Dim) -> Dim:
    """The floor of a / divisor, both reduced: one quotient for nested ones, a number where bounds decide."""
    limits = bounds(divisor)
    inner = _alone(a, "//")
    if inner and limits[0] is not None and limits[0] >= 0:
        (numerator, inner_divisor), constant = inner[0].parts, inner[1]
        return floordiv(numerator + constant * inner_divisor, inner_divisor * divisor)
    low, high = _quotient_bounds(bounds(a), limits)
    if a == 0 or (low is not None and low == high):
        return low or 0
    return _atom_dim(_operation("//", (a, divisor)))


def _divided(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """`whole` and `rest` with a == b * whole + rest, by polynomial division; rest is 0 where b divides a."""
    lead = min(b.terms, key=_rank)
    scale = b.terms[lead]
    work = _terms(a).copy()
    whole: Terms = {}
    rest: Terms = {}
    while work:
        if len(work) + len(whole) > 4 * MAX_TERMS:
            raise TooComplex("polynomial division")
        monomial = min(work, key=_rank)
        ratio = _without(monomial, lead)
        times, left = (0, work[monomial]) if ratio is None else divmod(work[monomial], scale)
        if left:
            rest[monomial] = left
        if ratio is None or times == 0:
            del work[monomial]
            continue
        whole[ratio] = times
        work[monomial] -= left
        for other, factor in b.terms.items():
            both = _monomial(ratio, other)
            work[both] = work.get(both, 0) - times * factor
            if work[both] == 0:
                del work[both]
    return _dim(whole), _dim(rest)


def _cancelled(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """Both divided by the number and the atoms that all their terms share."""
    monomials = [*b.terms, *_terms(a)]
    number = gcd(*_terms(a).values(), *b.terms.values())
    common: Monomial = ()
    for atom in monomials[0]:
        if all(_without(monomial, (*common, atom)) is not None for monomial in monomials):
            common = (*common, atom)
    left, right = (
        {_without(monomial, common) or (): factor // number for monomial, factor in terms.items()}
        for terms in (_terms(a), b.terms)
    )
    return _dim(left), _dim(right)


def _extreme(kind: str, dims: tuple[Dim, ...]) -> Dim:
    """The minimum or maximum, without the dims that another one makes irrelevant."""
    pick = min if kind == "min" else max
    flat: list[Dim] = []
    for dim in dims:
        inner = _alone(dim, kind)
        flat.extend(inner[0].parts if inner and inner[1] == 0 else (dim,))
    numbers = [dim for dim in flat if isinstance(dim, int)]
    if numbers:
        flat = [_absorbed(kind, dim, pick(numbers)) for dim in flat]
    candidates: list[Dim] = sorted({dim for dim in flat if isinstance(dim, Expr)}, key=str)
    candidates += [pick(numbers)] if numbers else []
    kept: list[Dim] = []
    for index, dim in enumerate(candidates):
        others = kept + candidates[index + 1 :]
        if not any(at_least(other, dim) if kind == "max" else at_least(dim, other) for other in others):
            kept.append(dim)
    return kept[0] if len(kept) == 1 else _atom_dim(_operation(kind, tuple(kept)))


def _broadcast_size(dims: tuple[Dim, ...]) -> Dim:
    """The maximum, or 0 where the minimum is 0."""
    parts = tuple(part for dim in dims for part in _broadcast_parts(dim) if part != 1) or (1,)
    if sum(atom.size for part in parts for atom in _atoms(part)) > MAX_BRANCHING_SIZE:
        raise TooComplex(f"{len(parts)} sizes broadcast together")
    return _stretched(parts)


def _absorbed(kind: str, dim: Dim, limit: int) -> Dim:
    """`dim` as a part of an extreme that has the number `limit`: max(min(x, max(y, 0)), 0) is max(min(x, y), 0)."""
    outer = _alone(dim, "max" if kind == "min" else "min")
    if outer is None or outer[1]:
        return dim
    parts = tuple(_loosened(kind, part, limit) for part in outer[0].parts)
    return dim if parts == outer[0].parts else _extreme(outer[0].kind, parts)


def _loosened(kind: str, dim: Dim, limit: int) -> Dim:
    """`dim` without the number of an extreme that `limit` makes irrelevant."""
    inner = _alone(dim, kind)
    if inner is None or inner[1]:
        return dim
    numbers = [part for part in inner[0].parts if isinstance(part, int)]
    if not numbers or any((number > limit) if kind == "max" else (number < limit) for number in numbers):
        return dim
    return _extreme(kind, tuple(part for part in inner[0].parts if isinstance(part, Expr)))


def _stretched(parts: tuple[Dim, ...]) -> Dim:
    widest, present = _extreme("max", parts), _extreme("min", (*parts, 1))
    return widest if present in (1, _extreme("min", (widest, 1))) else widest * present


def _broadcast_parts(dim: Dim) -> tuple[Dim, ...]:
    """The sizes that `dim` is the broadcast size of: itself, or those of which it was made."""
    terms = _terms(dim)
    atoms = next(iter(terms), ())
    limit = next((atom for atom in atoms if atom.kind == "min" and 1 in atom.parts), None)
    if limit is None or terms != {atoms: 1}:
        return (dim,)
    widest: Dim = Expr({_without(atoms, (limit,)) or (): 1}) if len(atoms) > 1 else 1
    largest_of = _alone(widest, "max")
    parts = (*(largest_of[0].parts if largest_of else (widest,)), *limit.parts)
    parts = tuple(part for part in parts if part != 1)
    return parts if _stretched(parts) == dim else (dim,)


def _quotient_bounds(numerator: Bounds, divisor: Bounds) -> Bounds:
    (low, high), (least, most) = numerator, divisor
    if least is None or least < 0:
        return None, None
    least = max(least, 1)
    if low is not None:
        low = low // least if low < 0 else 0 if most is None else low // max(most, 1)
    if high is not None:
        high = high // least if high >= 0 else -1 if most is None else high // max(most, 1)
    return low, high


def _extreme_bounds(kind: str, limits: list[Bounds]) -> Bounds:
    pick, weak = (min, 0) if kind == "min" else (max, 1)
    ends = []
    for side in (0, 1):
        known = [limit for pair in limits if (limit := pair[side]) is not None]
        ends.append(pick(known) if known and (side != weak or len(known) == len(limits)) else None)
    return ends[0], ends[1]


@lru_cache(MAX_REMEMBERED)
def _bounds(a: Expr) -> Bounds:
    low, negated_high = _lower(a), _lower(-a)
    return low, None if negated_high is None else -negated_high


def _lower(a: Dim) -> int | None:
    """The best of several lower bounds."""
    if isinstance(a, int):
        return a
    found = [_interval_low(a)]
    if len(_factors(a)) > 1:
        for relaxed in (_low_without_quotients, _low_without_extremes, _low_above_lower_bounds):
            try:
                found.append(relaxed(a))
            except TooComplex:
                continue
    return max((low for low in found if low is not None), default=None)


def _interval_low(a: Dim) -> int | None:
    result = 0
    for monomial, factor in _terms(a).items():
        low, high = _monomial_bounds(monomial)
        end = low if factor > 0 else high
        if abs(end) == inf:
            return None
        result += factor * int(end)
    return result


def _monomial_bounds(monomial: Monomial) -> tuple[float, float]:
    low: float = 1
    high: float = 1
    for atom in monomial:
        ends = (-inf if atom.low is None else atom.low, inf if atom.high is None else atom.high)
        corners = [_corner(x, y) for x in (low, high) for y in ends]
        low, high = min(corners), max(corners)
    return low, high


def _corner(x: float, y: float) -> float:
    """x * y, where 0 * inf is 0 and a whole number may be too large for a float."""
    if x == 0 or y == 0:
        return 0
    return x * y if abs(x) != inf != abs(y) else inf if (x > 0) == (y > 0) else -inf


def _low_without_quotients(a: Expr) -> int | None:
    """A lower bound from (n - d + 1)/d <= n//d <= n/d: what quotients share with other terms cancels."""
    relaxed = {monomial: _relaxable(monomial) for monomial in a.terms}
    divisors = [divisor for _, divisor, _ in relaxed.values()]
    scale = lcm(*divisors)
    if scale == 1:
        return None
    result: Dim = 0
    for monomial, factor in a.terms.items():
        numerator, divisor, rest = relaxed[monomial]
        least = numerator - (divisor - 1) if factor > 0 else numerator
        result = result + _dim({rest: factor * (scale // divisor)}) * least
    low = _lower(result)
    return None if low is None else -(-low // scale)


def _relaxable(monomial: Monomial) -> tuple[Dim, int, Monomial]:
    """The numerator and the divisor of a quotient by a number, and the rest of the monomial, not negative."""
    for atom in monomial:
        divisor = atom.parts[1] if atom.kind == "//" else None
        rest = _without(monomial, (atom,)) or ()
        if isinstance(divisor, int) and all(other.low is not None and other.low >= 0 for other in rest):
            return atom.parts[0], divisor, rest
    return 1, 1, monomial


def _low_without_extremes(a: Expr) -> int | None:
    """A lower bound from putting each of its parts in the place of a min or max."""
    atom = _branching_atom(a)
    if atom is None:
        return None
    lows = [_lower(branch) for branch in _branches(a, atom)]
    known = [low for low in lows if low is not None]
    if (atom.kind == "max") == (a.terms[(atom,)] > 0):
        return max(known, default=None)
    return min(known) if len(known) == len(lows) else None


def _low_above_lower_bounds(a: Expr) -> int | None:
    """A lower bound from writing each symbol as its own lower bound plus a whole number."""
    shifted = any(not atom.parts and atom.low for atom in _atoms(a))
    return _interval_low(_mapped(a, _shifted, {})) if shifted else None


def _shifted(atom: Atom) -> Dim:
    low = atom.low or 0
    return symbol(atom.name, 0, None if atom.high is None else atom.high - low) + low


def _raised(atom: Atom) -> Dim:
    return symbol(atom.name, max(atom.low or 0, 1), atom.high)


def _branching_atom(a: Expr) -> Atom | None:
    """The first min or max that is a term, if they are few."""
    found = [monomial[0] for monomial in a.terms if len(monomial) == 1 and monomial[0].kind in ("min", "max")]
    return found[0] if found and sum(atom.size for atom in found) <= MAX_BRANCHING_SIZE else None


def _branches(a: Expr, atom: Atom) -> list[Dim]:
    """`a` with each part of the atom in the place of the term that is the atom."""
    return [a + (part - Expr({(atom,): 1})) * a.terms[(atom,)] for part in atom.parts]


@lru_cache(MAX_REMEMBERED)
def _vanishes(a: Dim) -> bool | None:
    """Whether `a` is 0, or is not, for all sizes."""
    verdict = _vanishes_plainly(a)
    if verdict is not None or isinstance(a, int):
        return verdict
    atom = _branching_atom(a)
    verdicts = map(_vanishes, _branches(a, atom)) if atom else map(_vanishes_plainly, _residue_cases(a))
    first = next(verdicts, None)
    return first if first is not None and all(verdict is first for verdict in verdicts) else None


def _vanishes_plainly(a: Dim) -> bool | None:
    if isinstance(a, int):
        return a == 0
    if a.terms.get((), 0) % gcd(*_factors(a)):
        return False
    low, high = bounds(a)
    if low == 0 == high:
        return True
    return False if (low is not None and low > 0) or (high is not None and high < 0) else None


def _residue_cases(a: Expr) -> Iterator[Dim]:
    """`a` with the symbols under quotients written as L*k + r, for every r; L makes the quotients whole."""
    periods: dict[Atom, int] = {}
    _note_periods(a, 1, periods)
    chosen: list[tuple[Atom, int]] = []
    cases = 1
    for atom, period in sorted(periods.items(), key=lambda item: (item[1], item[0].key)):
        if period <= MAX_RESIDUES and cases * period <= MAX_CASES:
            chosen.append((atom, period))
            cases *= period
    return _split_cases(a, chosen) if chosen else iter(())


def _split_cases(a: Dim, chosen: list[tuple[Atom, int]]) -> Iterator[Dim]:
    if not chosen:
        yield a
        return
    (atom, period), *others = chosen
    for residue in range(period):
        least = -((residue - (atom.low or 0)) // period)
        most = None if atom.high is None else (atom.high - residue) // period
        if most is None or least <= most:
            size = period * symbol(atom.name, least, most) + residue
            yield from _split_cases(_mapped(a, {atom: size}.get, {}), others)


def _note_periods(a: Dim, period: int, periods: dict[Atom, int]) -> None:
    for atom in _atoms(a):
        if period > 1 and not atom.parts:
            periods[atom] = lcm(periods.get(atom, 1), period)
        divisor = atom.parts[1] if atom.kind == "//" else 1
        for part in atom.parts:
            _note_periods(part, period * divisor if isinstance(divisor, int) else period, periods)


def _text(a: Expr) -> str:
    """Python's notation for `a`: terms by falling degree and then by name, the constant last."""
    short = _short_text(a)
    if short is not None:
        return short
    ordered = sorted(a.terms, key=lambda monomial: (-sum(atom.degree for atom in monomial), _rank(monomial)))
    first = next((monomial for monomial in ordered if monomial and a.terms[monomial] > 0), ordered[0])
    ordered.remove(first)
    text = _term_text(first, a.terms[first])
    for monomial in ordered:
        factor = a.terms[monomial]
        text += (" + " if factor > 0 else " - ") + _term_text(monomial, abs(factor))
    return text


def _short_text(a: Expr) -> str | None:
    """`a` as one quotient or one remainder, if it is one."""
    alone = _alone(a, "//")
    if alone:
        (numerator, divisor), constant = alone[0].parts, alone[1]
        return _quotient_text(numerator + constant * divisor, divisor)
    for monomial, factor in a.terms.items():
        if len(monomial) == 1 and monomial[0].kind == "//" and monomial[0].parts[1] == -factor:
            numerator = monomial[0].parts[0]
            if a - Expr({monomial: factor}) == numerator:
                return f"{_operand_text(numerator)} % {-factor}"
    return None


def _term_text(monomial: Monomial, factor: int) -> str:
    if factor == 1 and len(monomial) == 1:
        return str(monomial[0])
    names = [f"({atom})" if atom.kind == "//" else str(atom) for atom in monomial]
    if factor == -1 and names:
        return "-" + "*".join(names)
    return "*".join(names if factor == 1 and names else [str(factor), *names])


def _quotient_text(numerator: Dim, divisor: Dim) -> str:
    bare = isinstance(divisor, int) or str(divisor).isidentifier()
    return f"{_operand_text(numerator)}//{divisor if bare else f'({divisor})'}"


def _operand_text(a: Dim) -> str:
    """`a` as the left operand of // or %."""
    return f"({a})" if len(_terms(a)) > 1 or _alone(a, "//") else str(a)
