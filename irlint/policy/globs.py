"""Which paths a glob pattern names, in the configuration and on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache

from irlint.parsers.opening import is_url


def matches(path: str, patterns: Iterable[str], root: str = "") -> bool:
    """Whether a path, or one of the folders that it lies in, is named by a pattern.

    A pattern without a slash names files and folders at any depth; one with a slash is read from ``root``, "" being the
    working folder. ``*`` and ``?`` stop at slashes, ``**`` stands for any number of folders.
    """
    listed = [pattern.replace(os.sep, "/").rstrip("/") for pattern in patterns]
    if not listed:
        return False
    parts = _parts(path, root)
    return any(_matches(parts, path, pattern) for pattern in listed)


def relative(path: str, root: str) -> str:
    """The path from ``root`` on, with forward slashes; an absolute path where it lies on another drive, and a URL as it is."""
    if is_url(path):
        return path
    try:
        return os.path.relpath(path, root or os.curdir).replace(os.sep, "/")
    except ValueError:
        return os.path.abspath(path).replace(os.sep, "/")


def is_literal(pattern: str) -> bool:
    """Whether a pattern has no wildcards."""
    return not any(mark in pattern for mark in "*?[")


def _parts(path: str, root: str) -> Sequence[str]:
    return [part for part in relative(path, root).split("/") if part not in ("", ".", "..")]


def _matches(parts: Sequence[str], path: str, pattern: str) -> bool:
    if os.path.isabs(pattern):
        parts = os.path.abspath(path).replace(os.sep, "/").split("/")
        return _anchored(parts, pattern.split("/"))
    if "/" not in pattern:
        return any(_same(part, pattern) for part in parts)
    wanted = [part for part in pattern.split("/") if part not in ("", ".", "..")]
    return _anchored(parts, wanted)


def _anchored(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the pattern fits the first parts of a path, all or some of them."""
    return bool(ends(parts, pattern, _same))


def ends(parts: Sequence[str], pattern: Sequence[str], same: Callable[[str, str], bool]) -> Collection[int]:
    """How many of the first parts of a path a pattern may stand for; ``**`` at its end stands for one or more, of which the fewest
    counts."""
    count = len(parts)
    found: Collection[int] = (0,)
    for at, wanted in enumerate(pattern):
        if not found:
            break
        if wanted == "**":
            found = range(min(found), count + (at < len(pattern) - 1))
        else:
            found = [end + 1 for end in found if end < count and same(parts[end], wanted)]
    return found


def _same(part: str, pattern: str) -> bool:
    from fnmatch import fnmatch

    return part == pattern or fnmatch(part, closed(pattern))


@lru_cache(maxsize=4096)
def closed(pattern: str) -> str:
    """The same pattern without brackets that are never closed: ``fnmatch`` looks for the end of each of them."""
    at = pattern.find("[")
    while at >= 0:
        end = at + 1 + pattern.startswith("!", at + 1)
        end = pattern.find("]", end + pattern.startswith("]", end))
        if end < 0:
            return pattern[:at] + pattern[at:].replace("[", "[[]")
        at = pattern.find("[", end)
    return pattern
