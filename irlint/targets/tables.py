"""The measured facts about releases of runtimes, in compressed tables that ``tests/make/targets.py`` writes.

The first line of a table lists the releases, oldest first. Each other line is a fact, ``|``, and a hexadecimal bit mask
of the releases for which the fact holds; bit 0 is the oldest. These lines are sorted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

EVERY = "every release that was measured"


@cache
def _table(runtime: str) -> tuple[tuple[str, ...], list[str]]:
    import os

    with open(os.path.join(os.path.dirname(__file__), "measured", f"{runtime}.z"), "rb") as file:
        return uncompressed(file.read())


def uncompressed(data: bytes) -> tuple[tuple[str, ...], list[str]]:
    """(releases, lines with facts) of a compressed table."""
    from zlib import decompress

    head, *lines = decompress(data).decode("ascii").splitlines()
    return tuple(head.split()[1:]), lines


def compressed(releases: Sequence[str], lines: Sequence[str]) -> bytes:
    """A compressed table with these releases and lines."""
    from zlib import compress

    return compress("\n".join([" ".join(["releases", *releases]), *lines]).encode("ascii"), 9)


def releases(runtime: str) -> tuple[str, ...]:
    """The measured releases, oldest first."""
    return _table(runtime)[0]


def facts(runtime: str, start: str) -> list[tuple[str, int]]:
    """(text after ``start``, releases) of each fact that begins with ``start``."""
    lines, found = _table(runtime)[1], []
    at = bisect_left(lines, start)
    while at < len(lines) and lines[at].startswith(start):
        rest, _, mask = lines[at][len(start) :].rpartition("|")
        found.append((rest, int(mask, 16)))
        at += 1
    return found


@cache
def has(runtime: str, start: str) -> bool:
    """Whether a fact begins with ``start``."""
    lines = _table(runtime)[1]
    at = bisect_left(lines, start)
    return at < len(lines) and lines[at].startswith(start)


@cache
def holds(runtime: str, fact: str) -> int:
    """The releases for which a fact holds."""
    lines, lead = _table(runtime)[1], f"{fact}|"
    at = bisect_left(lines, lead)
    return int(lines[at][len(lead) :], 16) if at < len(lines) and lines[at].startswith(lead) else 0


@cache
def greatest(runtime: str, start: str) -> tuple[int, ...]:
    """The greatest number after ``start`` in the facts of each release; 0 if there is none."""
    found = facts(runtime, start)
    count = len(releases(runtime))
    return tuple(max((int(rest) for rest, mask in found if mask >> at & 1), default=0) for at in range(count))


def short(release: str) -> str:
    """The first two numbers of a release."""
    return ".".join(release.split(".")[:2])


def spans(runtime: str, mask: int) -> str:
    """The releases in a bit mask with a verb: ``1.18 and later have``, ``1.16 to 1.20 have``, ``1.19 has``."""
    text = ranges(runtime, mask)
    return f"{text} {'has' if text == EVERY or ' ' not in text else 'have'}"


def ranges(runtime: str, mask: int) -> str:
    """The releases in a bit mask: ``1.18 and later``, ``1.16 to 1.20, 1.22``."""
    names = [short(release) for release in releases(runtime)]
    if mask == (1 << len(names)) - 1:
        return EVERY
    parts: list[str] = []
    for first, last in _runs(mask, len(names)):
        if last == len(names) - 1 and first < last:
            parts.append(f"{names[first]} and later")
        else:
            parts.append(names[first] if first == last else f"{names[first]} to {names[last]}")
    return ", ".join(parts)


def _runs(mask: int, count: int) -> Iterator[tuple[int, int]]:
    """(first, last) of each run of bits in a mask."""
    first = None
    for at in range(count + 1):
        if at < count and mask >> at & 1:
            first = at if first is None else first
        elif first is not None:
            yield first, at - 1
            first = None
