"""Phrases of messages, and the search for a similar name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isqrt

#: If a number has at most this many divisors, a help names them all.
FEW = 8

#: The divisors of larger numbers are not searched.
LARGEST = 1 << 32


def counted(count: object, one: str, many: str = "") -> str:
    """``1 axis``, ``2 axes``: a number and its noun. The default plural appends an "s" to ``one``."""
    noun = one if str(count) == "1" else many or f"{one}s"
    return f"{count} {noun}"


def size_help(axis: int, size: object, input: int = 0) -> str:
    """``give axis 2 of input 0 the size 1``."""
    return f"give axis {axis} of input {input} the size {size}"


def multiple_help(axis: int, count: object, input: int = 0) -> str:
    """``make axis 1 of input 0 a multiple of 3``."""
    return f"make axis {axis} of input {input} a multiple of {count}"


def that_divides(number: object, near: int, *, least: int = 1) -> str:
    """``that divides 32 (1, 2, 4, 8, 16 or 32)``: with all divisors of at least ``least``, or the nearest ones.

    If there are more than ``FEW`` divisors, only the nearest ones to ``near`` are named. None are named for a size that
    is unknown, no natural number, or greater than ``LARGEST``.
    """
    if not isinstance(number, int) or not least <= number <= LARGEST:
        return f"that divides {number}"
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    found = sorted(each for each in {*small, *(number // each for each in small)} if each >= least)
    below, above = [each for each in found if each <= near][-1:], [each for each in found if each > near][:1]
    shown = f" ({either(*found)})" if len(found) <= FEW else f", such as {either(*below, *above)}"
    return f"that divides {number}{shown}"


def least_help(axis: int, least: object, input: int = 0) -> str:
    """``make axis 1 of input 0 at least 3``."""
    return f"make axis {axis} of input {input} at least {least}"


def axes_help(index: int, rank: int, other: int, *, rank_of_other: int) -> str:
    """``give input 1 3 axes, or input 0 4``. The second part is left out if ``rank_of_other`` is 0 or less."""
    alternative = f", or input {other} {rank_of_other}" if rank_of_other > 0 else ""
    return f"give input {index} {counted(rank, 'axis', 'axes')}{alternative}"


def either(*words: object) -> str:
    """``a``, ``a or b``, or ``a, b or c``."""
    *rest, last = map(str, words)
    return f"{', '.join(rest)} or {last}" if rest else last


def listed(texts: list[str]) -> str:
    """``a``, or ``a, b and c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def first_few(texts: Sequence[object], most: int) -> str:
    """The first ``most`` texts, and the number of the others: ``a, b and 3 more``."""
    more = len(texts) - most
    return ", ".join(map(str, texts[:most])) + (f" and {more} more" if more > 0 else "")


def are(count: int) -> str:
    """``is`` for a count of 1, else ``are``."""
    return "is" if count == 1 else "are"


def span(lowest: int, highest: int) -> str:
    """``0 to 3``, ``2``, or ``none`` if ``highest`` is below ``lowest``."""
    return "none" if highest < lowest else str(lowest) if highest == lowest else f"{lowest} to {highest}"


def shortened(name: str) -> str:
    """A name in a message: without its middle if it has more than 120 characters."""
    return name if len(name) <= 120 else f"{name[:60]}...{name[-50:]}"


def bounded(name: str) -> str:
    """A name in a report, for people or programs: without its middle if it has more than 1000 characters."""
    return name if len(name) <= 1000 else f"{name[:600]}...{name[-300:]}"


#: Names with more characters are not compared.
LONGEST_COMPARED = 200


def closest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The candidate that is most similar to a name, preferably the only one with the same letters in another case, or
    one with them in another order.

    None if the similarity of every candidate is below ``cutoff`` (0 to 1), or if the name is too long.
    """
    if len(name) > LONGEST_COMPARED:
        return None
    letters, candidates = _letters(name), list(candidates)
    cased = [candidate for candidate in candidates if candidate.casefold() == name.casefold()]
    if len(cased) == 1:
        return cased[0]
    possible = [
        candidate
        for candidate in candidates
        if len(candidate) <= LONGEST_COMPARED and _may_be_similar(letters, candidate, cutoff)
    ]
    if not possible:
        return None
    from difflib import get_close_matches

    close = get_close_matches(name, possible, cutoff=cutoff)
    return next((candidate for candidate in close if sorted(candidate) == sorted(name)), close[0] if close else None)


def _letters(name: str) -> bytes:
    return name.encode("latin-1", "replace")


def _may_be_similar(letters: bytes, candidate: str, cutoff: float) -> bool:
    """False if two names share too few letters; this is faster than a comparison."""
    least = cutoff * (len(letters) + len(candidate)) / 2
    if min(len(letters), len(candidate)) < least:
        return False
    others = _letters(candidate)
    return (
        len(letters) - len(letters.translate(None, others)) >= least
        and len(others) - len(others.translate(None, letters)) >= least
    )
