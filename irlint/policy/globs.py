"""The glob patterns of the configuration and the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain

from irlint.lazy_typing import Generic, TypeVar
from irlint.parsers.opening import is_url

Entry = TypeVar("Entry")


def matches(path: str, patterns: Iterable[str], root: str = "") -> bool:
    """Whether a pattern matches a path or a folder that contains it.

    A pattern matches at any depth if it has no slash, or only one at its end. Other patterns are absolute or relative
    to ``root``. ``*`` and ``?`` match no slashes. ``**`` matches any number of folders.
    """
    listed = list(map(_normalized, patterns))
    if not listed:
        return False
    parts = _parts(path, root)
    return any(_matches(parts, path, pattern) for pattern in listed)


class ByGlob(Generic[Entry]):
    """Entries with a glob each. The entry applies to the files that its glob, relative to ``root``, matches.

    A glob with a slash and without wildcards also matches a file if both lead to the same path through links.
    """

    __slots__ = ("_named", "_others", "_resolved", "entries", "globs", "root")
    __match_args__ = ("globs", "entries", "root")

    def __init__(self, globs: Iterable[str] = (), entries: Iterable[Entry] = (), root: str = "") -> None:
        self.globs, self.entries, self.root = tuple(globs), tuple(entries), root
        self._named: dict[str, list[int]] = {}
        self._others: list[int] = []
        #: The indices of globs without wildcards, by the path to which their links lead; None until it is needed.
        self._resolved: dict[str, list[int]] | None = None
        for at, glob in enumerate(self.globs):
            if is_literal(glob):
                self._named.setdefault(_name_of_pattern(_normalized(glob)), []).append(at)
            else:
                self._others.append(at)

    def __len__(self) -> int:
        return len(self.globs)

    def fitting(self, path: str) -> list[int]:
        """The indices of the entries whose glob matches a file, in ascending order."""
        if not self:
            return []
        parts = _parts(path, self.root)
        found = {at for at in self._others if _matches(parts, path, _normalized(self.globs[at]))}
        if self._named:
            for name in _names_of_path(parts, path):
                found.update(self._named.get(name, ()))
            for name in _resolved_folders(path):
                found.update(self._by_resolved_path().get(name, ()))
        return sorted(found)

    def _by_resolved_path(self) -> dict[str, list[int]]:
        if self._resolved is None:
            self._resolved = {}
            for at, glob in enumerate(self.globs):
                for name in _resolved_pattern(_normalized(glob), self.root):
                    self._resolved.setdefault(name, []).append(at)
        return self._resolved

    def of(self, path: str) -> list[Entry]:
        """The entries whose glob matches a file, in their order."""
        return [self.entries[at] for at in self.fitting(path)]

    def fitting_any(self, paths: Iterable[str]) -> set[int]:
        """The indices of the entries whose glob matches one of the files."""
        return {at for path in paths for at in self.fitting(path)}


def _name_of_pattern(pattern: str) -> str:
    """The name of a pattern without wildcards. The pattern matches a path if ``_names_of_path`` has this name."""
    if not os.path.isabs(pattern) and "/" in pattern:
        pattern = "./" + "/".join(_split(pattern))
    return os.path.normcase(pattern)


def _names_of_path(parts: Sequence[str], path: str) -> Iterator[str]:
    """The texts that a pattern may use for a path or a folder of it.

    These are its parts, paths from the root such as ``./a/b``, and absolute paths.
    """
    rooted = ("./" + "/".join(parts[:end]) for end in range(len(parts) + 1))
    return chain(map(os.path.normcase, chain(parts, rooted)), _folders(os.path.abspath(path)))


def _resolved_pattern(pattern: str, root: str) -> tuple[str, ...]:
    """The path of a pattern after its links are resolved; () if it has wildcards or no slash."""
    if not is_literal(pattern) or "/" not in pattern:
        return ()
    return tuple(_folders(_resolved(os.path.join(root, pattern))))[-1:]


def _resolved_folders(path: str) -> Iterator[str]:
    """The path after its links are resolved, and the folders that contain it; nothing for a URL."""
    return iter(()) if is_url(path) else _folders(_resolved(path))


def _resolved(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # The path contains NUL.
        return os.path.abspath(path)


def _folders(path: str) -> Iterator[str]:
    """The folders that contain an absolute path, then the path."""
    parts = path.replace(os.sep, "/").split("/")
    return (os.path.normcase("/".join(parts[:end])) for end in range(2, len(parts) + 1))


def relative(path: str, root: str) -> str:
    """The path relative to ``root``, with forward slashes.

    A path on another drive becomes absolute. A URL stays as it is.
    """
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
    return _split(relative(path, root))


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".", "..")]


def _normalized(pattern: str) -> str:
    return pattern.replace(os.sep, "/").rstrip("/")


def _matches(parts: Sequence[str], path: str, pattern: str) -> bool:
    if os.path.isabs(pattern):
        parts = os.path.abspath(path).replace(os.sep, "/").split("/")
        return _matches_start(parts, pattern.split("/"))
    if "/" not in pattern:
        return any(_part_matches(part, pattern) for part in parts)
    return _matches_start(parts, _split(pattern))


def _matches_start(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether a pattern matches the path, or a folder that contains it."""
    return bool(ends(parts, pattern, _part_matches))


def ends(parts: Sequence[str], pattern: Sequence[str], same: Callable[[str, str], bool]) -> Collection[int]:
    """The numbers n for which a pattern matches the first n parts of a path.

    A ``**`` at the end matches at least one part. For such a pattern, use only whether the result is empty.
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


def _part_matches(part: str, pattern: str) -> bool:
    from fnmatch import fnmatch

    return part == pattern or fnmatch(part, closed(pattern))


@lru_cache(maxsize=4096)
def closed(pattern: str) -> str:
    """The pattern with unclosed brackets escaped. The time of ``fnmatch`` is quadratic in their number."""
    at = pattern.find("[")
    while at >= 0:
        end = at + 1 + pattern.startswith("!", at + 1)
        end = pattern.find("]", end + pattern.startswith("]", end))
        if end < 0:
            return pattern[:at] + pattern[at:].replace("[", "[[]")
        at = pattern.find("[", end)
    return pattern
