"""The text of large sizes: three digits and a suffix (``4.13G``), the largest terms first."""

from __future__ import annotations

from contextlib import suppress

from irlint.dims import evaluated, symbols
from irlint.dims.polynomials import Dim, Expr, Monomial, canonical, lone_atom, terms_of

#: The size of every symbol in ``magnitude``.
TYPICAL = 64

#: At most this many terms of a sum are shown.
MOST_TERMS = 4

#: At most this many sizes of a maximum are shown.
MOST_SIZES = 3

#: The suffix of each power of 1000.
SUFFIXES = ("", "K", "M", "G", "T", "P", "E")


def magnitude(size: Dim) -> int:
    """The value of ``size`` for symbols of 64, to sort expressions. If a divisor is 0, symbols are 65, else 1.

    0 if a divisor is 0 in each case.
    """
    for typical in (TYPICAL, TYPICAL + 1, 1):
        with suppress(ZeroDivisionError):
            return evaluated(size, dict.fromkeys(symbols(size), typical))
    return 0


def figure(count: int) -> str:
    """``4.13G`` for 4130000000: three digits and a suffix. Numbers below 10,000 are exact."""
    if count < 0:
        return f"-{figure(-count)}"
    if count < 10_000:
        return str(count)
    index = min((len(f"{count}") - 1) // 3, len(SUFFIXES) - 1)
    value = count / 1000**index
    if value >= 999.5 and index < len(SUFFIXES) - 1:
        value, index = value / 1000, index + 1
    return f"{value:.{max(0, 2 - (value >= 9.995) - (value >= 99.95))}f}{SUFFIXES[index]}"


def rounded(size: Dim) -> str:
    """A size with rounded coefficients: its MOST_TERMS largest terms, or the MOST_SIZES largest sizes of a maximum."""
    if isinstance(size, int):
        return figure(size)
    terms = terms_of(size).items()
    maximum = lone_atom(size, "max")
    if maximum is not None and maximum[1] == 0:
        sizes = sorted(maximum[0].parts, key=magnitude, reverse=True)
        others = (
            [f"{len(sizes) - MOST_SIZES} others"] if len(sizes) > MOST_SIZES + 1 else map(rounded, sizes[MOST_SIZES:])
        )
        return f"max({', '.join([*map(rounded, sizes[:MOST_SIZES]), *others])})"
    parts = [(-magnitude(canonical({monomial: abs(factor)})), _term(monomial, factor)) for monomial, factor in terms]
    shown = [text for _, text in sorted(parts)[:MOST_TERMS]]
    text = " + ".join(shown).replace("+ -", "- ")
    more = len(terms) - MOST_TERMS
    return text if more <= 0 else f"{text} + {more} smaller {'term' if more == 1 else 'terms'}"


def _term(monomial: Monomial, factor: int) -> str:
    if not monomial:
        return figure(factor)
    name = str(Expr({monomial: 1}))
    if factor == 1:
        return name
    is_quotient = len(monomial) == 1 and monomial[0].kind == "//"
    return f"{figure(factor)}*({name})" if is_quotient else f"{figure(factor)}*{name}"
