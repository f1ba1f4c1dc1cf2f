"""What was measured of each release of a runtime: facts, each with the releases that it holds for.

The tables stand compressed in ``measured``; ``tests/make/targets.py`` writes them. A table begins with a line that lists the
releases, oldest first; every other line is a fact, ``|``, and the releases as a number with a bit for each.
"""

from __future__ import annotations

from functools import cache


@cache
def text(runtime: str) -> str:
    """The table of a runtime."""
    import os
    from zlib import decompress

    with open(os.path.join(os.path.dirname(__file__), "measured", f"{runtime}.z"), "rb") as file:
        return decompress(file.read()).decode("ascii")


@cache
def releases(runtime: str) -> tuple[str, ...]:
    """The releases that were measured, oldest first."""
    return tuple(text(runtime).partition("\n")[0].split()[1:])


def facts(runtime: str, start: str) -> list[tuple[str, int]]:
    """The facts that begin with ``start``: what follows that, and the releases."""
    table, found, lead = text(runtime), [], f"\n{start}"
    at = table.find(lead)
    while at >= 0:
        end = table.index("\n", at + 1)
        rest, _, mask = table[at + len(lead) : end].rpartition("|")
        found.append((rest, int(mask, 16)))
        at = table.find(lead, end)
    return found


@cache
def holds(runtime: str, fact: str) -> int:
    """The releases that a fact holds for, 0 for none."""
    table, lead = text(runtime), f"\n{fact}|"
    at = table.find(lead)
    return int(table[at + len(lead) : table.index("\n", at + 1)], 16) if at >= 0 else 0


@cache
def greatest(runtime: str, start: str) -> tuple[int, ...]:
    """For each release the greatest number that stands behind ``start`` in a fact, 0 where there is none."""
    found = facts(runtime, start)
    count = len(releases(runtime))
    return tuple(max((int(rest) for rest, mask in found if mask >> at & 1), default=0) for at in range(count))
