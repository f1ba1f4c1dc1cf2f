"""What was measured of each release of a runtime: facts, each with the releases that it holds for.

The tables stand compressed in ``measured``; ``tests/make/targets.py`` writes them. A table begins with a line that
lists the releases, oldest first; every other line is a fact, ``|``, and the releases as a number with a bit for each,
in the order of the lines.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache


@cache
def _table(runtime: str) -> tuple[tuple[str, ...], list[str]]:
    """The releases and the facts of a runtime."""
    import os
    from zlib import decompress

    with open(os.path.join(os.path.dirname(__file__), "measured", f"{runtime}.z"), "rb") as file:
        head, *lines = decompress(file.read()).decode("ascii").splitlines()
    return tuple(head.split()[1:]), lines


def releases(runtime: str) -> tuple[str, ...]:
    """The releases that were measured, oldest first."""
    return _table(runtime)[0]


def facts(runtime: str, start: str) -> list[tuple[str, int]]:
    """The facts that begin with ``start``: what follows that, and the releases."""
    lines, found = _table(runtime)[1], []
    at = bisect_left(lines, start)
    while at < len(lines) and lines[at].startswith(start):
        rest, _, mask = lines[at][len(start) :].rpartition("|")
        found.append((rest, int(mask, 16)))
        at += 1
    return found


@cache
def holds(runtime: str, fact: str) -> int:
    """The releases that a fact holds for, 0 for none."""
    lines, lead = _table(runtime)[1], f"{fact}|"
    at = bisect_left(lines, lead)
    return int(lines[at][len(lead) :], 16) if at < len(lines) and lines[at].startswith(lead) else 0


@cache
def greatest(runtime: str, start: str) -> tuple[int, ...]:
    """For each release the greatest number that stands behind ``start`` in a fact, 0 where there is none."""
    found = facts(runtime, start)
    count = len(releases(runtime))
    return tuple(max((int(rest) for rest, mask in found if mask >> at & 1), default=0) for at in range(count))
