"""Integer polynomials over symbols, floor divisions, min and max, in a canonical form.

An atom is a symbol or an operation such as ``H//2``. A monomial is a product of atoms, and a term is a monomial with
its coefficient.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The largest number of terms.
MAX_TERMS = 64

#: The largest number of atoms in a monomial.
MAX_DEGREE = 64

#: The largest number of symbols and operations in an atom.
MAX_ATOM_SIZE = 256

#: The deepest nesting of operations in an atom. Python parses at most 200 levels of parentheses.
MAX_ATOM_DEPTH = 64

#: The largest absolute value of a coefficient.
MAX_COEFFICIENT = 2**1024

#: The number of results that each cache keeps.
MAX_REMEMBERED = 20_000

#: The kind of a symbol for a size that depends on data, which may be 0. Sizes of inputs are at least 1.
BY_DATA = "data"


class TooComplex(Exception):
    """An expression exceeds a limit, such as MAX_TERMS."""


class Atom:
    """A symbol (``kind`` is "" or BY_DATA), or the quotient ("//"), "min" or "max" of ``parts``.

    Equal atoms are the same object.
    """

    __slots__ = ("degree", "depth", "high", "key", "kind", "low", "name", "parts", "size")

    def __init__(self, kind: str, name: str, parts: tuple[Dim, ...], limits: Bounds) -> None:
        self.kind = kind
        self.name = name
        self.parts = parts
        self.low, self.high = limits
        self.size: int = 1 + sum(atom.size for part in parts for atom in atoms_of(part))
        self.depth: int = 1 + max((atom.depth for part in parts for atom in atoms_of(part)), default=0)
        degrees = [_degree(part) for part in parts]
        self.degree: int = max(1, degrees[0] - degrees[1] if kind == "//" else max(degrees, default=1))
        numbers = [part for part in parts if isinstance(part, int)]
        self.key = (bool(parts), name or str(parts[0]), kind, numbers, str(parts or limits))

    def __reduce__(self) -> tuple[object, ...]:
        if self.parts:
            return operation, (self.kind, self.parts)
        return _symbol, (self.name, self.low, self.high, self.kind)

    def __str__(self) -> str:
        if self.kind == "//":
            from irlint.dims.notation import quotient_text

            numerator, divisor = self.parts
            return quotient_text(numerator, divisor)
        return f"{self.kind}({', '.join(map(str, self.parts))})" if self.parts else self.name


class Expr:
    """An integer polynomial that is not constant.

    ``terms`` maps monomials, which are sorted tuples of atoms, to nonzero coefficients. The operators return an int if
    the result is constant, and raise TooComplex. ``str`` returns a Python expression.
    """

    __slots__ = ("_hash", "_text", "_formatted", "terms")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._hash: int | None = None
        self._text: str | None = None
        self._formatted: str | None = None

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
        return _product(self.terms, terms_of(other)) if isinstance(other, (int, Expr)) else NotImplemented

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
            from irlint.dims.notation import text

            self._text = text(self)
        return self._text

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        """The text for messages, with ``max(a, b)`` for the size to which ``a`` and ``b`` are broadcast."""
        if self._formatted is None:
            from irlint.dims.notation import formatted

            self._formatted = formatted(self)
        return format(self._formatted, specification)


Dim = int | Expr
MaybeDim = Dim | None
Shape = tuple[MaybeDim, ...]
Monomial = tuple[Atom, ...]
Terms = dict[Monomial, int]
Bounds = tuple[int | None, int | None]

_interned: dict[tuple[object, ...], Atom] = {}


def symbol(name: str, lower: int = 0, upper: int | None = None, *, by_data: bool = False) -> Dim:
    """The symbol with this name (a Python identifier) and these bounds. If the bounds are equal, returns the number.

    ``by_data``: the size depends on data. Other symbols are sizes of inputs.
    """
    return lower if lower == upper else Expr({(_symbol(name, lower, upper, BY_DATA if by_data else ""),): 1})


def unused_name(wanted: str, taken: set[str], numbers: dict[str, int]) -> str:
    """The first of ``wanted``, ``wanted_2``, ``wanted_3`` … that is not in ``taken``. Adds the name to ``taken``.

    ``numbers`` stores the last number of each wanted name, so that many calls with one name take linear time.
    """
    name, number = wanted, numbers.get(wanted, 1)
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    numbers[wanted] = number
    taken.add(name)
    return name


def floordiv(a: Dim, b: Dim) -> Dim:
    """The floor of a / b. Raises ZeroDivisionError and TooComplex."""
    if isinstance(b, Expr):
        return _floor_by_expr(a, b)
    if isinstance(a, int):
        return a // b
    if b == 0:
        raise ZeroDivisionError(f"{a} is divided by zero")
    return _floor_by_int(a, b) if b > 0 else _floor_by_int(-a, -b)


def _symbol(name: str, low: int, high: int | None, kind: str = "") -> Atom:
    key = (name, low, high, kind)
    return _interned.get(key) or _interned.setdefault(key, Atom(kind, name, (), (low, high)))


def operation(kind: str, parts: tuple[Dim, ...]) -> Atom:
    """The atom with this kind and these simplified parts."""
    key = (kind, parts)
    if key not in _interned:
        from irlint.dims.limits import bounds, extreme_bounds, quotient_bounds

        limits = [bounds(part) for part in parts]
        found = quotient_bounds(*limits) if kind == "//" else extreme_bounds(kind, limits)
        _interned[key] = Atom(kind, "", parts, found)
    return _interned[key]


def atom_dim(atom: Atom) -> Expr:
    """The polynomial ``atom``. Raises TooComplex if the atom is too large or too deep."""
    if atom.size > MAX_ATOM_SIZE:
        raise TooComplex(f"{atom.size} symbols and operations in one atom")
    if atom.depth > MAX_ATOM_DEPTH:
        raise TooComplex(f"{atom.depth} operations within each other")
    return Expr({(atom,): 1})


def canonical(terms: Terms) -> Dim:
    """The Dim with these terms, which have nonzero coefficients. Raises TooComplex."""
    if len(terms) > MAX_TERMS:
        raise TooComplex(f"{len(terms)} terms")
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    if max(terms.values()) > MAX_COEFFICIENT or min(terms.values()) < -MAX_COEFFICIENT:
        raise TooComplex("a coefficient that no size has")
    return Expr(terms)


def _sum(left: Terms, right: Dim, scale: int) -> Dim:
    terms = left.copy()
    for monomial, factor in terms_of(right).items():
        value = terms.get(monomial, 0) + scale * factor
        if value:
            terms[monomial] = value
        else:
            terms.pop(monomial, None)
    return canonical(terms)


def _product(left: Terms, right: Terms) -> Dim:
    terms: Terms = {}
    for monomial, factor in left.items():
        for other, other_factor in right.items():
            both = _monomial(monomial, other)
            terms[both] = terms.get(both, 0) + factor * other_factor
    return canonical({monomial: factor for monomial, factor in terms.items() if factor})


def _monomial(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    if len(left) + len(right) > MAX_DEGREE:
        raise TooComplex(f"degree {len(left) + len(right)}")
    return tuple(sorted(left + right, key=lambda atom: atom.key))


def rank(monomial: Monomial) -> tuple[int, list[object]]:
    """A sort key for graded lexicographic order; the leading monomial has the smallest key."""
    return -len(monomial), [atom.key for atom in monomial]


def without(monomial: Monomial, part: Monomial) -> Monomial | None:
    """``monomial`` divided by ``part``; None if ``part`` does not divide it."""
    remaining = list(monomial)
    for atom in part:
        if atom not in remaining:
            return None
        remaining.remove(atom)
    return tuple(remaining)


def terms_of(a: Dim) -> Terms:
    """The terms of ``a``; a number other than 0 has only a constant term."""
    return a.terms if isinstance(a, Expr) else {(): a} if a else {}


def atoms_of(a: Dim) -> Iterator[Atom]:
    """The atoms of all terms, with repetitions, without atoms inside other atoms."""
    return (atom for monomial in a.terms for atom in monomial) if isinstance(a, Expr) else iter(())


def factors_of(a: Dim) -> list[int]:
    """The coefficients of all terms except the constant."""
    return [factor for monomial, factor in terms_of(a).items() if monomial]


def _degree(a: Dim) -> int:
    return max((sum(atom.degree for atom in monomial) for monomial in terms_of(a)), default=0)


def lone_atom(a: Dim, kind: str) -> tuple[Atom, int] | None:
    """(atom, constant) if ``a`` is ``atom + constant`` with an atom of this kind, else None."""
    if isinstance(a, int):
        return None
    monomials = [monomial for monomial in a.terms if monomial]
    if len(monomials) != 1 or len(monomials[0]) != 1 or a.terms[monomials[0]] != 1:
        return None
    atom = monomials[0][0]
    return (atom, a.terms.get((), 0)) if atom.kind == kind else None


def mapped(a: Dim, replacement: Callable[[Atom], MaybeDim], images: dict[Atom, Dim]) -> Dim:
    """``a`` with ``replacement(atom)`` for each symbol; None keeps the symbol.

    ``images`` is a cache for this replacement; pass {}. Raises TooComplex and ZeroDivisionError.
    """
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
    parts = tuple(mapped(part, replacement, images) for part in atom.parts)
    size = None if parts else replacement(atom)
    if size is not None:
        return size
    if parts == atom.parts:
        return Expr({(atom,): 1})
    if atom.kind == "//":
        return floordiv(*parts)
    from irlint.dims.extremes import extreme

    return extreme(atom.kind, parts)


@lru_cache(MAX_REMEMBERED)
def _floor_by_int(a: Dim, divisor: int) -> Dim:
    """The floor of a / divisor in canonical form, for a positive divisor."""
    if divisor == 1:
        return a
    if all(factor < 0 for factor in factors_of(a)):
        return -_floor_by_int(divisor - 1 - a, divisor)
    whole, rest = _split(terms_of(a), divisor)
    if not any(rest):
        return canonical(whole)
    common = gcd(divisor, *(factor for monomial, factor in rest.items() if monomial))
    rest = {monomial: factor // common for monomial, factor in rest.items() if monomial or factor >= common}
    return canonical(whole) + _floor(Expr(rest), divisor // common)


def _split(terms: Terms, divisor: int) -> tuple[Terms, Terms]:
    """(whole, rest) with terms == divisor * whole + rest, and a constant of ``rest`` from 0 to ``divisor - 1``.

    The other coefficients of ``rest`` have at most half the absolute value of ``divisor``, or are all positive.
    """
    rest = {monomial: factor % divisor for monomial, factor in terms.items() if factor % divisor}
    if any(monomial and 2 * factor <= divisor for monomial, factor in rest.items()):
        large = [monomial for monomial, factor in rest.items() if monomial and 2 * factor > divisor]
        rest |= {monomial: rest[monomial] - divisor for monomial in large}
    whole = {monomial: (factor - rest.get(monomial, 0)) // divisor for monomial, factor in terms.items()}
    return {monomial: factor for monomial, factor in whole.items() if factor}, rest


@lru_cache(MAX_REMEMBERED)
def _floor_by_expr(a: Dim, divisor: Expr) -> Dim:
    if divisor.terms[min(divisor.terms, key=rank)] < 0:
        a, divisor = -a, -divisor
    a, reduced = _cancelled(a, divisor)
    if isinstance(reduced, int):
        return floordiv(a, reduced)
    whole, rest = divided(a, reduced)
    split = isinstance(whole, int) or isinstance(rest, int) or len(reduced.terms) == 1
    return whole + _floor(rest, reduced) if split else _floor(a, reduced)


def _floor(a: Dim, divisor: Dim) -> Dim:
    """The floor of a / divisor for operands without common factors."""
    from irlint.dims.limits import bounds, quotient_bounds

    limits = bounds(divisor)
    inner = lone_atom(a, "//")
    if inner and limits[0] is not None and limits[0] >= 0:
        (numerator, inner_divisor), constant = inner[0].parts, inner[1]
        return floordiv(numerator + constant * inner_divisor, inner_divisor * divisor)
    found = (lone_atom(a, "max") or lone_atom(a, "min")) if isinstance(divisor, int) else None
    if found and any(lone_atom(part, "//") for part in found[0].parts):
        from irlint.dims.extremes import extreme

        return extreme(found[0].kind, tuple(floordiv(part + found[1], divisor) for part in found[0].parts))
    low, high = quotient_bounds(bounds(a), limits)
    if a == 0 or (low is not None and low == high):
        return low or 0
    return atom_dim(operation("//", (a, divisor)))


def divided(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """(whole, rest) with a == b * whole + rest. If b divides a, ``rest`` is 0. Raises TooComplex."""
    leading = min(b.terms, key=rank)
    scale = b.terms[leading]
    work = terms_of(a).copy()
    whole: Terms = {}
    rest: Terms = {}
    while work:
        if len(work) + len(whole) > 4 * MAX_TERMS:
            raise TooComplex("polynomial division")
        monomial = min(work, key=rank)
        ratio = without(monomial, leading)
        times, remainder = (0, work[monomial]) if ratio is None else divmod(work[monomial], scale)
        if remainder:
            rest[monomial] = remainder
        if ratio is None or times == 0:
            del work[monomial]
            continue
        whole[ratio] = times
        work[monomial] -= remainder
        for other, factor in b.terms.items():
            both = _monomial(ratio, other)
            work[both] = work.get(both, 0) - times * factor
            if work[both] == 0:
                del work[both]
    return canonical(whole), canonical(rest)


def _cancelled(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """Both polynomials, divided by the number and the atoms that all their terms share."""
    monomials = [*b.terms, *terms_of(a)]
    number = gcd(*terms_of(a).values(), *b.terms.values())
    common: Monomial = ()
    for atom in monomials[0]:
        if all(without(monomial, (*common, atom)) is not None for monomial in monomials):
            common = (*common, atom)
    left, right = (
        {without(monomial, common) or (): factor // number for monomial, factor in terms.items()}
        for terms in (terms_of(a), b.terms)
    )
    return canonical(left), canonical(right)
