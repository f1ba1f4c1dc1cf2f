"""The glob patterns of the configuration and the command line, and the paths that they match."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from irlint.lazy_typing import Generic, TypeVar
from irlint.parsers.opening import is_url

Entry = TypeVar("Entry")


def matches(path: str, patterns: Iterable[str], root: str = "") -> bool:
    """Whether a pattern matches a path or one of its folders.

    A pattern without a slash matches files and folders at any depth. A pattern with a slash is relative to ``root``; ""
    is the working directory. ``*`` and ``?`` do not match slashes, and ``**`` matches any number of folders.
    """
    listed = list(map(_plain, patterns))
    if not listed:
        return False
    parts = _parts(path, root)
    return any(_matches(parts, path, pattern) for pattern in listed)


class ByGlob(Generic[Entry]):
    """Entries, each for the files that a glob matches (see ``matches``) relative to ``root``.

    Globs without wildcards are found through the parts of a path, so a large number of them costs little.
    """

    __slots__ = ("_named", "_others", "entries", "globs", "root")
    __match_args__ = ("globs", "entries", "root")

    def __init__(self, globs: Iterable[str] = (), entries: Iterable[Entry] = (), root: str = "") -> None:
        self.globs, self.entries, self.root = tuple(globs), tuple(entries), root
        self._named: dict[str, list[int]] = {}
        self._others: list[int] = []
        for at, glob in enumerate(self.globs):
            if is_literal(glob):
                self._named.setdefault(_named(_plain(glob)), []).append(at)
            else:
                self._others.append(at)

    def __len__(self) -> int:
        return len(self.globs)

    def fitting(self, path: str) -> list[int]:
        """The ascending indices of the entries whose glob matches a file."""
        if not self:
            return []
        parts = _parts(path, self.root)
        found = {at for at in self._others if _matches(parts, path, _plain(self.globs[at]))}
        if self._named:
            for name in _names(parts, path):
                found.update(self._named.get(name, ()))
        return sorted(found)

    def of(self, path: str) -> list[Entry]:
        """The entries whose glob matches a file, in their order."""
        return [self.entries[at] for at in self.fitting(path)]

    def fitting_any(self, paths: Iterable[str]) -> set[int]:
        """The indices of the entries whose glob matches at least one of several files."""
        return {at for path in paths for at in self.fitting(path)}


def _named(pattern: str) -> str:
    """The form of a pattern without wildcards that is among the ``_names`` of the paths that it matches."""
    if not os.path.isabs(pattern) and "/" in pattern:
        pattern = "./" + "/".join(_inside(pattern))
    return os.path.normcase(pattern)


def _names(parts: Sequence[str], path: str) -> Iterator[str]:
    """The forms in which patterns without wildcards may name a path or one of its folders."""
    above = os.path.abspath(path).replace(os.sep, "/").split("/")
    rooted = ("./" + "/".join(parts[:end]) for end in range(len(parts) + 1))
    absolute = ("/".join(above[:end]) for end in range(2, len(above) + 1))
    return map(os.path.normcase, chain(parts, rooted, absolute))


def relative(path: str, root: str) -> str:
    """The path relative to ``root``, with forward slashes. A path on another drive stays absolute, and a URL is
    unchanged."""
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
    return _inside(relative(path, root))


def _inside(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".", "..")]


def _plain(pattern: str) -> str:
    return pattern.replace(os.sep, "/").rstrip("/")


def _matches(parts: Sequence[str], path: str, pattern: str) -> bool:
    if os.path.isabs(pattern):
        parts = os.path.abspath(path).replace(os.sep, "/").split("/")
        return _anchored(parts, pattern.split("/"))
    if "/" not in pattern:
        return any(_same(part, pattern) for part in parts)
    return _anchored(parts, _inside(pattern))


def _anchored(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the pattern matches a path or one of its folders."""
    return bool(ends(parts, pattern, _same))


def ends(parts: Sequence[str], pattern: Sequence[str], same: Callable[[str, str], bool]) -> Collection[int]:
    """The numbers of leading parts of a path that a pattern can match; empty if it matches none.

    If the pattern ends with ``**``, which matches one or more parts, only whether the result is empty has a meaning.
    """
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
    """The pattern with unclosed brackets escaped, because ``fnmatch`` searches for the end of each of them."""
    at = pattern.find("[")
    while at >= 0:
        end = at + 1 + pattern.startswith("!", at + 1)
        end = pattern.find("]", end + pattern.startswith("]", end))
        if end < 0:
            return pattern[:at] + pattern[at:].replace("[", "[[]")
        at = pattern.find("[", end)
    return pattern
