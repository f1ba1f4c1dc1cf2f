"""Simplifies quotients by the residues of their symbols: ``4*((H + 3)//4)`` is ``H`` if ``H % 4 == 0``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import gcd, prod

from irlint.contracts.sizes import Sizes
from irlint.dims import Dim, TooComplex, floordiv, symbols
from irlint.dims.extremes import extreme
from irlint.dims.polynomials import Atom, atom_dim, terms_of

#: A size is simplified at most this many times.
ROUNDS = 4

#: The most combinations of residues.
MOST_CASES = 64

#: A fact about a size, as (modulus, rest): ``size % modulus == rest``. With modulus 0, the size equals ``rest``. With
#: modulus 1, the size may be any integer.
Congruence = tuple[int, int]


def reduced(a: Dim, sizes: Mapping[str, Sizes]) -> Dim:
    """The size ``a`` with simpler quotients. ``sizes`` has the possible sizes of each symbol."""
    known = {name: found for name in symbols(a) if name in sizes and (found := _rests(sizes[name]))}
    if not known:
        return a
    try:
        for _ in range(ROUNDS):
            before, a = a, _with_simplified_quotients(a, known)
            if a == before:
                break
    except (TooComplex, ZeroDivisionError):
        pass
    return a


def _rests(sizes: Sizes) -> list[Congruence]:
    """One congruence for each possible residue of the sizes.

    Returns [] if every residue is possible, if none is, or if more than MOST_CASES are.
    """
    present = [residue for residue, intervals in enumerate(sizes.classes) if intervals]
    if not 0 < len(present) < min(sizes.modulus, MOST_CASES + 1):
        return []
    return [(sizes.modulus, residue) for residue in present]


#: The possible congruences of each symbol.
Rests = Mapping[str, list[Congruence]]


def _with_simplified_quotients(a: Dim, known: Rests) -> Dim:
    total: Dim = 0
    for monomial, factor in terms_of(a).items():
        term: Dim = 1
        for atom in monomial:
            part: Dim
            if atom.kind == "//":
                numerator, divisor = (_with_simplified_quotients(operand, known) for operand in atom.parts)
                part, factor = _quotient(numerator, divisor, factor, known)
            elif atom.parts:
                part = extreme(atom.kind, tuple(_with_simplified_quotients(argument, known) for argument in atom.parts))
            else:
                part = atom_dim(atom)
            term = term * part
        total = total + term * factor
    return total


def _quotient(numerator: Dim, divisor: Dim, factor: int, known: Rests) -> tuple[Dim, int]:
    """(size, new factor). The product of the two is ``factor*(numerator//divisor)``.

    Let ``g`` be a common divisor of ``factor`` and ``divisor``. If ``numerator % divisor`` is always at least ``c`` and
    at most ``c + divisor//g - 1``, then ``g*(numerator//divisor)`` equals ``(numerator - c)//(divisor//g)``.
    """
    rests = _rests_of(numerator, divisor, known) if isinstance(divisor, int) and divisor > 1 else []
    if not rests or not isinstance(divisor, int):
        return floordiv(numerator, divisor), factor
    common = gcd(factor, divisor)
    for shared in range(common, 0, -1):
        if common % shared:
            continue
        least, greatest = max(rests) - divisor // shared + 1, min(rests)
        if least <= greatest:
            constant = terms_of(numerator).get((), 0)
            subtracted = min(max(constant, least), greatest)
            return floordiv(numerator - subtracted, divisor // shared), factor // shared
    return floordiv(numerator, divisor), factor


def _rests_of(a: Dim, divisor: int, known: Rests) -> list[int]:
    """The possible rests of ``a`` modulo ``divisor``; [] if they are unknown or too many."""
    names = sorted(symbols(a) & known.keys())
    if prod(len(known[name]) for name in names) > MOST_CASES:
        return []
    found = set()
    for case in _cases(names, known):
        modulus, rest = _congruence(a, case)
        if modulus % divisor:
            return []
        found.add(rest % divisor)
    return sorted(found)


def _cases(names: list[str], known: Rests) -> Iterator[Mapping[str, Congruence]]:
    for chosen in product(*(known[name] for name in names)):
        yield dict(zip(names, chosen))


def _congruence(a: Dim, case: Mapping[str, Congruence]) -> Congruence:
    """The congruence of a size, from the congruences of its symbols."""
    modulus, rest = 0, 0
    for monomial, factor in terms_of(a).items():
        term: Congruence = (0, factor)
        for atom in monomial:
            term = _times(term, _of_atom(atom, case))
        modulus, rest = gcd(modulus, term[0]), rest + term[1]
    return modulus, rest % modulus if modulus else rest


def _times(one: Congruence, other: Congruence) -> Congruence:
    modulus = gcd(one[0] * other[0], one[0] * other[1], other[0] * one[1])
    return modulus, one[1] * other[1]


def _of_atom(atom: Atom, case: Mapping[str, Congruence]) -> Congruence:
    """The congruence of a symbol, or of a quotient whose divisor divides the modulus; else that of any integer."""
    if not atom.parts:
        return case.get(atom.name, (1, 0))
    divisor = atom.parts[1] if atom.kind == "//" else None
    if not isinstance(divisor, int):
        return 1, 0
    modulus, rest = _congruence(atom.parts[0], case)
    return (modulus // divisor, rest // divisor) if modulus % divisor == 0 else (1, 0)
