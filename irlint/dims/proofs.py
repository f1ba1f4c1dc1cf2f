"""Proofs that a polynomial is 0 for all sizes, or for none."""

from __future__ import annotations

from functools import lru_cache
from math import gcd, lcm

from irlint.dims.limits import bounds, branches, branching_atom
from irlint.dims.polynomials import (
    BY_DATA,
    MAX_REMEMBERED,
    Atom,
    Dim,
    Expr,
    MaybeDim,
    atoms_of,
    factors_of,
    mapped,
    symbol,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: A proof splits a symbol into at most this many residue classes.
MAX_RESIDUES = 64

#: A proof examines at most this many combinations of residue classes.
MAX_CASES = 256


@lru_cache(MAX_REMEMBERED)
def vanishes(a: Dim) -> bool | None:
    """True if ``a`` is 0 for all sizes, False if it is 0 for none, None if neither is proven."""
    verdict = _vanishes_by_bounds(a)
    if verdict is not None or isinstance(a, int):
        return verdict
    atom = branching_atom(a)
    verdicts = map(vanishes, branches(a, atom)) if atom else map(_vanishes_by_bounds, _residue_cases(a))
    first = next(verdicts, None)
    return first if first is not None and all(verdict is first for verdict in verdicts) else None


def _vanishes_by_bounds(a: Dim) -> bool | None:
    """As ``vanishes``, but considers only the coefficients and the bounds of ``a``."""
    if isinstance(a, int):
        return a == 0
    if a.terms.get((), 0) % gcd(*factors_of(a)):
        return False
    low, high = bounds(a)
    if low == 0 == high:
        return True
    return False if (low is not None and low > 0) or (high is not None and high < 0) else None


def _residue_cases(a: Expr) -> Iterator[Dim]:
    """One expression for each r from 0 to L - 1: ``a`` with a symbol inside quotients replaced by L*k + r.

    L is the period of the symbol, a multiple of the divisors. The quotients therefore become polynomials in k.
    """
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
    """One expression for each combination of remainders r: ``a`` with each chosen symbol replaced by period*k + r."""
    if not chosen:
        yield a
        return
    (atom, period), *others = chosen
    for residue in range(period):
        least = -((residue - (atom.low or 0)) // period)
        most = None if atom.high is None else (atom.high - residue) // period
        if most is None or least <= most:
            size = period * symbol(atom.name, least, most) + residue
            yield from _split_cases(mapped(a, {atom: size}.get, {}), others)


def _note_periods(a: Dim, period: int, periods: dict[Atom, int]) -> None:
    """Adds the period of each symbol inside a quotient to ``periods``: a multiple of the divisors around the symbol."""
    for atom in atoms_of(a):
        if period > 1 and not atom.parts:
            periods[atom] = lcm(periods.get(atom, 1), period)
        divisor = atom.parts[1] if atom.kind == "//" else 1
        for part in atom.parts:
            _note_periods(part, period * divisor if isinstance(divisor, int) else period, periods)


def raised(atom: Atom) -> Dim:
    """The symbol ``atom`` with a lower bound of at least 1."""
    return symbol(atom.name, max(atom.low or 0, 1), atom.high)


def fed(a: MaybeDim) -> MaybeDim:
    """``a`` with a lower bound of at least 1 for each size of an input. Raises TooComplex."""
    return None if a is None else mapped(a, lambda atom: None if atom.kind == BY_DATA else raised(atom), {})
