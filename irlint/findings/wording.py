"""Phrases of messages: counts, lists and shortened names; and the search for a similar name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def counted(count: object, one: str, many: str = "") -> str:
    """``1 axis``, ``2 axes``: a number and its noun. ``many`` is the plural; the default appends an "s" to ``one``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def either(*words: object) -> str:
    """``a``, ``a or b``, or ``a, b or c``."""
    *rest, last = map(str, words)
    return f"{', '.join(rest)} or {last}" if rest else last


def listed(texts: list[str]) -> str:
    """``a``, or ``a, b and c``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def first_few(texts: Sequence[object], most: int) -> str:
    """``a, b and 3 more``: the first ``most`` texts, and the number of the others."""
    left = len(texts) - most
    return ", ".join(map(str, texts[:most])) + (f" and {left} more" if left > 0 else "")


def are(count: int) -> str:
    """``is`` or ``are``, for a subject of which there are ``count``."""
    return "is" if count == 1 else "are"


def span(lowest: int, highest: int) -> str:
    """``0 to 3``; ``0`` if both ends are 0; ``none`` if ``highest`` is below ``lowest``."""
    return "none" if highest < lowest else str(lowest) if highest == lowest else f"{lowest} to {highest}"


def shortened(name: str) -> str:
    """A name of at most 120 characters for messages: a longer one loses its middle."""
    return name if len(name) <= 120 else f"{name[:60]}...{name[-50:]}"


def bounded(name: str) -> str:
    """A name of about 1000 characters at most for reports, also those for programs: a longer one loses its middle."""
    return name if len(name) <= 1000 else f"{name[:600]}...{name[-300:]}"


#: Longer names are not compared with others.
COMPARED = 200


def closest(name: str, candidates: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The candidate most similar to a name; None if none is similar enough (``cutoff``, 0 to 1) or the name is too
    long."""
    if len(name) > COMPARED:
        return None
    letters = _letters(name)
    like = [each for each in candidates if len(each) <= COMPARED and _may_be_like(letters, each, cutoff)]
    if not like:
        return None
    from difflib import get_close_matches

    close = get_close_matches(name, like, n=1, cutoff=cutoff)
    return close[0] if close else None


def _letters(name: str) -> bytes:
    return name.encode("latin-1", "replace")


def _may_be_like(letters: bytes, candidate: str, cutoff: float) -> bool:
    """Whether two names have enough letters in common to be similar; much faster than a comparison."""
    least = cutoff * (len(letters) + len(candidate)) / 2
    if min(len(letters), len(candidate)) < least:
        return False
    own = _letters(candidate)
    return (
        len(letters) - len(letters.translate(None, own)) >= least
        and len(own) - len(own.translate(None, letters)) >= least
    )
