"""Expressions over one residue class of sizes, as polynomials on intervals.

The sizes of the class are ``residue + modulus*k``. Each expression is a function of k, for sizes of at least 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import zip_longest
from math import comb

from irlint.dims import Dim
from irlint.dims.polynomials import Atom

#: The coefficients, the constant first. The last one is not 0, except in the polynomial 0.
Polynomial = tuple[int, ...]

#: (first k, last k or None, polynomial on this interval).
Piece = tuple[int, int | None, Polynomial]

#: (first k, last k or None).
Interval = tuple[int, int | None]

#: (first k, last k or None, sign of an expression on this interval).
Sign = tuple[int, int | None, int]


class NeedsFinerModulus(Exception):
    """A quotient is a polynomial only if the modulus is multiplied by ``factor``."""

    def __init__(self, factor: int) -> None:
        super().__init__(factor)
        self.factor = factor


class Unsolvable(Exception):
    """A divisor is not a positive number, or the expression has too many pieces."""


#: Expressions with more pieces are too complex.
MAX_PIECES = 64


def pieces_of(a: Dim, residue: int, modulus: int) -> list[Piece]:
    """The pieces of an expression with one symbol; raises NeedsFinerModulus and Unsolvable."""
    first = 0 if residue else 1
    found: dict[Atom, list[Piece]] = {}

    def of_atom(atom: Atom) -> list[Piece]:
        if atom not in found:
            if not atom.parts:
                found[atom] = [(first, None, (residue, modulus))]
            else:
                parts = [of(part) for part in atom.parts]
                found[atom] = _quotient(*parts) if atom.kind == "//" else _extreme(atom.kind, parts)
        return found[atom]

    def of(part: Dim) -> list[Piece]:
        if isinstance(part, int):
            return [(first, None, (part,))]
        total: list[Piece] = [(first, None, (part.terms.get((), 0),))]
        for monomial, factor in part.terms.items():
            if not monomial:
                continue
            term = of_atom(monomial[0])
            for atom in monomial[1:]:
                term = _combined(term, of_atom(atom), _times)
            total = _combined(total, term, partial(_sum, times=factor))
        return total

    return of(a)


def where(pieces: list[Piece], wanted: Callable[[int], bool]) -> list[Interval]:
    """The intervals, in order, on which ``wanted`` accepts the sign (-1, 0 or 1) of the expression."""
    found: list[Interval] = []
    for first, last, polynomial in pieces:
        for low, high, sign in _signs(polynomial, first, last):
            if wanted(sign):
                if found and found[-1][1] == low - 1:
                    found[-1] = (found[-1][0], high)
                else:
                    found.append((low, high))
    return found


def _signs(polynomial: Polynomial, first: int, last: int | None) -> list[Sign]:
    """The signs on consecutive intervals."""
    if len(polynomial) <= 2:
        return _signs_of_line(polynomial, first, last)
    turns = [low for low, _, _ in _signs(_derivative(polynomial), first, last)]
    parts = zip(turns, [*(turn - 1 for turn in turns[1:]), last])
    return [sign for low, high in parts for sign in _signs_where_monotonic(polynomial, low, high)]


def _signs_of_line(polynomial: Polynomial, first: int, last: int | None) -> list[Sign]:
    """As ``_signs``, for a polynomial of at most two coefficients."""
    constant, *slopes = polynomial
    if not slopes:
        return [(first, last, (constant > 0) - (constant < 0))]
    found: list[Sign] = []
    before, rest = divmod(-constant, slopes[0])
    sign = 1 if slopes[0] > 0 else -1
    ends = (before if rest else before - 1, before, last)
    for end, part in zip(ends, (-sign, 0, sign)):
        high = end if last is None else last if end is None else min(end, last)
        if high is None or first <= high:
            found.append((first, high, part))
            first = first if high is None else high + 1
    return found


def _signs_where_monotonic(polynomial: Polynomial, low: int, high: int | None) -> Iterator[Sign]:
    """As ``_signs``, for an interval on which the polynomial is monotonic."""
    end = _bound(polynomial, low) if high is None else high
    while low <= end:
        sign = _sign_at(polynomial, low)
        if _sign_at(polynomial, end) == sign:
            yield low, high, sign
            return
        same, other = low, end
        while other - same > 1:
            middle = (same + other) // 2
            same, other = (middle, other) if _sign_at(polynomial, middle) == sign else (same, middle)
        yield low, same, sign
        low = other


def _bound(polynomial: Polynomial, low: int) -> int:
    """A k of at least ``low`` from which the sign stays the same (Cauchy's bound)."""
    largest = max(abs(factor) for factor in polynomial[:-1])
    return max(low, largest // abs(polynomial[-1]) + 2)


def _derivative(polynomial: Polynomial) -> Polynomial:
    """The polynomial p(k + 1) - p(k)."""
    places = range(len(polynomial))
    return tuple(sum(comb(at, place) * polynomial[at] for at in places[place + 1 :]) for place in places[:-1])


def _sign_at(polynomial: Polynomial, at: int) -> int:
    total = 0
    for factor in reversed(polynomial):
        total = total * at + factor
    return (total > 0) - (total < 0)


def _trimmed(polynomial: Polynomial) -> Polynomial:
    end = len(polynomial)
    while end > 1 and polynomial[end - 1] == 0:
        end -= 1
    return polynomial[:end]


def _sum(a: Polynomial, b: Polynomial, times: int) -> Polynomial:
    """a + times * b."""
    return _trimmed(tuple(factor + times * other for factor, other in zip_longest(a, b, fillvalue=0)))


def _times(a: Polynomial, b: Polynomial) -> Polynomial:
    product = [0] * (len(a) + len(b) - 1)
    for place, factor in enumerate(a):
        for other, by in enumerate(b):
            product[place + other] += factor * by
    return _trimmed(tuple(product))


def _combined(
    one: list[Piece], other: list[Piece], operation: Callable[[Polynomial, Polynomial], Polynomial]
) -> list[Piece]:
    """The pieces of ``operation`` on two expressions, where both are defined; raises Unsolvable."""
    result: list[Piece] = []
    at = 0
    for first, last, polynomial in one:
        while at < len(other):
            low, high, second = other[at]
            begin = max(first, low)
            end = high if last is None else last if high is None else min(last, high)
            if end is None or begin <= end:
                result.append((begin, end, operation(polynomial, second)))
            if high is None or (last is not None and high >= last):
                break
            at += 1
    if len(result) > MAX_PIECES:
        raise Unsolvable
    return result


def _quotient(numerator: list[Piece], divisor: list[Piece]) -> list[Piece]:
    if len(divisor) != 1 or len(divisor[0][2]) != 1 or divisor[0][2][0] <= 0:
        raise Unsolvable
    by = divisor[0][2][0]
    if any(factor % by for _, _, polynomial in numerator for factor in polynomial[1:]):
        raise NeedsFinerModulus(by)
    return [(first, last, tuple(factor // by for factor in polynomial)) for first, last, polynomial in numerator]


def _extreme(kind: str, parts: list[list[Piece]]) -> list[Piece]:
    """The "min" or "max" of expressions."""
    result, *others = parts
    for other in others:
        difference = _combined(result, other, partial(_sum, times=-1))
        chosen: list[Piece] = []
        for first, last, polynomial in difference:
            for low, high, sign in _signs(polynomial, first, last):
                smaller = sign <= 0
                source = result if smaller == (kind == "min") else other
                chosen += _cut(source, low, high)
        result = chosen
    return result


def _cut(pieces: list[Piece], low: int, high: int | None) -> list[Piece]:
    return _combined(pieces, [(low, high, (0,))], lambda a, _: a)
