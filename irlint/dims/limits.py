"""Lower and upper bounds of polynomials."""

from __future__ import annotations

from functools import lru_cache
from math import inf, lcm

from irlint.dims.polynomials import (
    MAX_REMEMBERED,
    Atom,
    Bounds,
    Dim,
    Expr,
    MaybeDim,
    Monomial,
    TooComplex,
    atoms_of,
    canonical,
    mapped,
    symbol,
    terms_of,
    without,
)

#: A polynomial is split by the parts of a "min" or "max" only if its "min" and "max" terms together have at most this
#: many symbols and operations.
MAX_BRANCHING_SIZE = 16

#: A search for one lower bound examines at most this many polynomials.
MAX_RELAXED = 256


def at_least(a: MaybeDim, n: MaybeDim) -> bool | None:
    """True if ``a >= n`` for all sizes, False if ``a < n`` for all sizes, None if neither is proven."""
    if a is None or n is None:
        return None
    if isinstance(a, int) and isinstance(n, int):
        return a >= n
    try:
        (low, high), least = (bounds(a), n) if isinstance(n, int) else (bounds(a - n), 0)
    except TooComplex:
        return None
    if low is not None and low >= least:
        return True
    return False if high is not None and high < least else None


def bounds(a: Dim) -> Bounds:
    """The best known bounds of ``a``: (lower or None, upper or None), both inclusive."""
    return (a, a) if isinstance(a, int) else _bounds(a)


def quotient_bounds(numerator: Bounds, divisor: Bounds) -> Bounds:
    """The bounds of ``numerator // divisor`` for nonzero divisors; (None, None) if the divisor may be negative."""
    (low, high), (least, most) = numerator, divisor
    if least is None or least < 0:
        return None, None
    least = max(least, 1)
    if low is not None:
        low = low // least if low < 0 else 0 if most is None else low // max(most, 1)
    if high is not None:
        high = high // least if high >= 0 else -1 if most is None else high // max(most, 1)
    return low, high


def extreme_bounds(kind: str, limits: list[Bounds]) -> Bounds:
    """The bounds of a "min" or "max" (``kind``) of parts with the bounds ``limits``."""
    # A "min" has a lower bound only if all parts have one, and an upper bound if any part has one. "max" is reversed.
    pick, needs_all = (min, 0) if kind == "min" else (max, 1)
    ends = []
    for side in (0, 1):
        known = [limit for pair in limits if (limit := pair[side]) is not None]
        ends.append(pick(known) if known and (side != needs_all or len(known) == len(limits)) else None)
    return ends[0], ends[1]


@lru_cache(MAX_REMEMBERED)
def _bounds(a: Expr) -> Bounds:
    low, negated_high = _lower(a, Budget()), _lower(-a, Budget())
    return low, None if negated_high is None else -negated_high


class Budget:
    """The state of one search for a lower bound."""

    __slots__ = ("found", "remaining")

    def __init__(self) -> None:
        #: The number of polynomials that the search may still examine.
        self.remaining = MAX_RELAXED
        #: The lower bounds that were found, by polynomial; None for a polynomial without one.
        self.found: dict[Dim, int | None] = {}


def _lower(a: Dim, budget: Budget) -> int | None:
    """The best lower bound of ``a`` from several methods, or None."""
    if isinstance(a, int):
        return a
    if a in budget.found:
        return budget.found[a]
    found = [_interval_low(a)]
    budget.remaining -= 1
    if budget.remaining > 0 and len(a.terms) > 1 + (() in a.terms) and not _is_sum_of_symbols(a):
        for relaxed in (_low_without_quotients, _low_without_extremes, _low_above_lower_bounds):
            try:
                found.append(relaxed(a, budget))
            except TooComplex:
                continue
    best = budget.found[a] = max((low for low in found if low is not None), default=None)
    return best


def _is_sum_of_symbols(a: Expr) -> bool:
    """Whether each term is one symbol or the constant, so that ``_interval_low`` is exact."""
    return all(not monomial or (len(monomial) == 1 and not monomial[0].parts) for monomial in a.terms)


def _interval_low(a: Dim) -> int | None:
    """The sum of the lower bounds of all terms; None if a term has none."""
    result = 0
    for monomial, factor in terms_of(a).items():
        low, high = _monomial_bounds(monomial)
        end = low if factor > 0 else high
        if abs(end) == inf:
            return None
        result += factor * int(end)
    return result


def _monomial_bounds(monomial: Monomial) -> tuple[float, float]:
    """The bounds of a product of atoms; an unknown bound is infinite."""
    if not monomial:
        return 1, 1
    first, *others = [(-inf if a.low is None else a.low, inf if a.high is None else a.high) for a in monomial]
    low, high = first
    for ends in others:
        corners = [_corner(x, y) for x in (low, high) for y in ends]
        low, high = min(corners), max(corners)
    return low, high


def _corner(x: float, y: float) -> float:
    """x * y with 0 * inf == 0, also for integers that are too large for a float."""
    if x == 0 or y == 0:
        return 0
    return x * y if abs(x) != inf != abs(y) else inf if (x > 0) == (y > 0) else -inf


def _low_without_quotients(a: Expr, budget: Budget) -> int | None:
    """A lower bound of ``a`` with each n//d replaced by (n - d + 1)/d or n/d, so that common terms cancel."""
    relaxed = {monomial: _quotient_in(monomial) for monomial in a.terms}
    divisors = [divisor for _, divisor, _ in relaxed.values()]
    scale = lcm(*divisors)
    if scale == 1:
        return None
    result: Dim = 0
    for monomial, factor in a.terms.items():
        numerator, divisor, rest = relaxed[monomial]
        least = numerator - (divisor - 1) if factor > 0 else numerator
        result = result + canonical({rest: factor * (scale // divisor)}) * least
    low = _lower(result, budget)
    return None if low is None else -(-low // scale)


def _quotient_in(monomial: Monomial) -> tuple[Dim, int, Monomial]:
    """(numerator, divisor, other atoms) of the first quotient by a number, if no other atom may be negative.

    Else ``(1, 1, monomial)``.
    """
    for atom in monomial:
        divisor = atom.parts[1] if atom.kind == "//" else None
        rest = without(monomial, (atom,)) or ()
        if isinstance(divisor, int) and all(other.low is not None and other.low >= 0 for other in rest):
            return atom.parts[0], divisor, rest
    return 1, 1, monomial


def _low_without_extremes(a: Expr, budget: Budget) -> int | None:
    """A lower bound from the lower bounds of the ``branches``; None if ``a`` has no ``branching_atom``."""
    atom = branching_atom(a)
    if atom is None:
        return None
    lows = [_lower(branch, budget) for branch in branches(a, atom)]
    known = [low for low in lows if low is not None]
    if (atom.kind == "max") == (a.terms[(atom,)] > 0):
        return max(known, default=None)
    return min(known) if len(known) == len(lows) else None


def _low_above_lower_bounds(a: Expr, _: Budget) -> int | None:
    """A lower bound after all symbols are shifted to the lower bound 0."""
    has_low = any(not atom.parts and atom.low for atom in atoms_of(a))
    return _interval_low(mapped(a, _shifted, {})) if has_low else None


def _shifted(atom: Atom) -> Dim:
    low = atom.low or 0
    return symbol(atom.name, 0, None if atom.high is None else atom.high - low) + low


def branching_atom(a: Expr) -> Atom | None:
    """The first "min" or "max" that is a term by itself; None if no term is, or if these exceed MAX_BRANCHING_SIZE."""
    found = [monomial[0] for monomial in a.terms if len(monomial) == 1 and monomial[0].kind in ("min", "max")]
    return found[0] if found and sum(atom.size for atom in found) <= MAX_BRANCHING_SIZE else None


def branches(a: Expr, atom: Atom) -> list[Dim]:
    """One polynomial for each part of ``atom``: ``a`` with this part in place of the term ``atom``."""
    return [a + (part - Expr({(atom,): 1})) * a.terms[(atom,)] for part in atom.parts]
