"""The text of large sizes: three digits and a suffix (``4.13G``), the largest terms first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from irlint.dims import evaluated, symbols
from irlint.dims.polynomials import Dim, Expr, Monomial, canonical, lone_atom, terms_of
from irlint.records import NOTHING

#: The size that ``magnitude`` assumes for a symbol of unknown size.
TYPICAL = 64

#: At most this many terms of a sum are shown.
MOST_TERMS = 4

#: At most this many sizes of a maximum are shown.
MOST_SIZES = 3

#: At most this many symbols with their sizes are shown.
MOST_SYMBOLS = 6

#: The suffix of each power of 1000.
SUFFIXES = ("", "K", "M", "G", "T", "P", "E")


def magnitude(size: Dim, sizes: Mapping[str, int] = NOTHING) -> int:
    """An approximate value of ``size``, by which expressions are sorted.

    A symbol that is not in ``sizes`` has the value 64. If a divisor is then 0, the symbol has the value 65, and if that
    also fails, the value 1. If each of these values makes a divisor 0, returns 0.
    """
    for typical in (TYPICAL, TYPICAL + 1, 1):
        with suppress(ZeroDivisionError):
            return evaluated(size, {**dict.fromkeys(symbols(size), typical), **sizes})
    return 0


def sizes_text(sizes: Mapping[str, int]) -> str:
    """``batch = 1, height = 224, width = 224``; at most MOST_SYMBOLS symbols."""
    texts = [f"{name} = {size}" for name, size in sizes.items()]
    more = len(texts) - MOST_SYMBOLS
    return ", ".join(texts) if more <= 0 else f"{', '.join(texts[:MOST_SYMBOLS])} and {more} more"


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


def rounded(size: Dim, sizes: Mapping[str, int] = NOTHING) -> str:
    """The text of a size, with rounded coefficients.

    Only the MOST_TERMS largest terms are shown. Of a maximum, only the MOST_SIZES largest sizes are shown. Terms and
    sizes are compared by their ``magnitude``.
    """
    if isinstance(size, int):
        return figure(size)
    terms = terms_of(size).items()
    maximum = lone_atom(size, "max")
    if maximum is not None and maximum[1] == 0:
        parts = sorted(maximum[0].parts, key=lambda part: -magnitude(part, sizes))
        left = len(parts) - MOST_SIZES
        texts = [rounded(part, sizes) for part in (parts[:MOST_SIZES] if left > 1 else parts)]
        return f"max({', '.join([*texts, *([f'{left} others'] if left > 1 else [])])})"
    ranked = [
        (-magnitude(canonical({monomial: abs(factor)}), sizes), _term(monomial, factor)) for monomial, factor in terms
    ]
    shown = [text for _, text in sorted(ranked)[:MOST_TERMS]]
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
