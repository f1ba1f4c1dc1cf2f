"""The files that git ignores, by the patterns of ``.gitignore`` files and ``.git/info/exclude``.

Source: https://git-scm.com/docs/gitignore. The last matching pattern decides. Patterns of deeper folders come later.
The user's git configuration is not read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from irlint.parsers.opening import file_bytes
from irlint.policy.globs import closed, ends, relative
from irlint.records import record

FILE = ".gitignore"


@record
class Pattern:
    """A pattern of a ``.gitignore`` file."""

    #: The parts of the pattern, which are compared with the parts of a path relative to the folder of the file. ``**``
    #: matches any number of folders.
    parts: tuple[str, ...]
    #: The file, the number of the line and its text, for messages.
    line: str
    folders_only: bool = False
    negated: bool = False


@record
class Level:
    """A folder with patterns."""

    #: The number of folders below the root of the repository.
    depth: int
    patterns: tuple[Pattern, ...]
    #: The nearest folder with patterns that contains this folder.
    above: Level | None


class GitIgnores:
    """The paths that git ignores."""

    def __init__(self) -> None:
        #: The files for which ``ignores`` returned True, with the lines that ignore them.
        self.ignored_files: dict[str, str] = {}
        self._roots: dict[str, str] = {}
        self._levels: dict[str, Level | None] = {}

    def ignores(self, path: str, is_folder: bool) -> bool:
        """Whether git ignores a path. The folder that contains the path must not be ignored itself."""
        line = self._line(os.path.abspath(path), is_folder)
        if line and not is_folder:
            self.ignored_files[path] = line
        return bool(line)

    def by(self, path: str) -> str:
        """The line that ignores a file or its folder, or ""."""
        absolute = os.path.abspath(path)
        root = self._root(os.path.dirname(absolute))
        parts = relative(absolute, root).split("/") if root else []
        for count in range(len(parts), 0, -1):
            line = self._line(os.path.join(root, *parts[:count]), count < len(parts))
            if line:
                return line
        return ""

    def _line(self, path: str, is_folder: bool) -> str:
        """The line that ignores a path, such as ``models/.gitignore:3: *.onnx``, or ""."""
        root = self._root(os.path.dirname(path))
        if not root:
            return ""
        parts = relative(path, root).split("/")
        level = self._level(os.path.dirname(path), root)
        while level is not None:
            below = parts[level.depth :]
            for pattern in reversed(level.patterns):
                if (is_folder or not pattern.folders_only) and _matches(below, pattern.parts):
                    return "" if pattern.negated else pattern.line
            level = level.above
        return ""

    def _root(self, folder: str) -> str:
        """The root of the repository that contains a folder, or ""."""
        visited = []
        while folder not in self._roots:
            visited.append(folder)
            above = os.path.dirname(folder)
            if os.path.exists(os.path.join(folder, ".git")):
                self._roots[folder] = folder
            elif above == folder:
                self._roots[folder] = ""
            else:
                folder = above
        for visited_folder in visited:
            self._roots.setdefault(visited_folder, self._roots[folder])
        return self._roots[folder]

    def _level(self, folder: str, root: str) -> Level | None:
        """The nearest folder with patterns, from ``folder`` up to ``root``, or None."""
        visited = []
        while folder not in self._levels:
            visited.append(folder)
            if folder == root:
                break
            folder = os.path.dirname(folder)
        level = self._levels.get(folder)
        for visited_folder in reversed(visited):
            files = (os.path.join(visited_folder, ".git", "info", "exclude"), os.path.join(visited_folder, FILE))
            patterns = tuple(pattern for file in files for pattern in _patterns(file))
            if patterns:
                depth = len(relative(visited_folder, root).split("/")) if visited_folder != root else 0
                level = Level(depth, patterns, level)
            self._levels[visited_folder] = level
        return level


def _patterns(file: str) -> Iterator[Pattern]:
    try:
        lines = file_bytes(file, "configuration").decode("utf-8-sig", "surrogateescape").split("\n")
    except OSError:
        return
    shown = relative(file, "")
    for number, line in enumerate((text.rstrip("\r") for text in lines), 1):
        pattern = _pattern(line, f"{shown}:{number}: {line.strip()}") if line else None
        if pattern is not None:
            yield pattern


def _pattern(line: str, source: str) -> Pattern | None:
    """The pattern in a line; None for a comment or an empty line."""
    text = line.rstrip(" ")
    text = f"{text} " if text.endswith("\\") and text != line else text
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text[negated:]
    folders_only, text = text.endswith("/"), text.rstrip("/")
    anchored = "/" in text
    parts = [_glob(part) for part in text.split("/") if part]
    if not parts:
        return None
    return Pattern(tuple(parts if anchored else ["**", *parts]), source, folders_only, negated)


def _glob(part: str) -> str:
    """A part of a pattern for ``fnmatch``: ``[^a]`` becomes ``[!a]``, and ``\\a`` becomes ``[a]``."""
    pieces = part.replace("[^", "[!").split("\\")
    return pieces[0] + "".join(f"[{piece[:1]}]{piece[1:]}" if piece else "" for piece in pieces[1:])


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if pattern[-1] != "**" and not _part_matches(parts[-1], pattern[-1]):
        return False
    found = ends(parts, pattern, _part_matches)
    return bool(found) if pattern[-1] == "**" else len(parts) in found


def _part_matches(part: str, pattern: str) -> bool:
    if not any(letter in pattern for letter in "*?["):
        return part == pattern
    from fnmatch import fnmatchcase

    return fnmatchcase(part, closed(pattern))
