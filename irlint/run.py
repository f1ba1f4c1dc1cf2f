"""One run over several paths: which files there are to check, and the report on all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatch

from irlint.diagnostics import CheckedFile, Finding, Report
from irlint.dims import Shape

SUFFIXES = (".onnx", ".xml")


class MissingPaths(FileNotFoundError):
    """Paths that were named and do not exist; ``paths`` lists them all."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(f"no such file or folder: {', '.join(paths)}")
        self.paths = tuple(paths)


def discovered(paths: Iterable[str], exclude: Sequence[str] = (), force_exclude: bool = False) -> list[str]:
    """The files to check, sorted, each once: files as named, folders searched for ``.onnx`` and ``.xml`` files.

    ``exclude`` are glob patterns on the path or one of its parts; files that are named are excluded only with
    ``force_exclude``. Raises MissingPaths.
    """
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise MissingPaths(missing)
    found: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            for file in _files_in(path, exclude, set()):
                found.setdefault(os.path.realpath(file), file)
        elif not (force_exclude and excluded(path, exclude)):
            found.setdefault(os.path.realpath(path), path)
    return sorted(found.values(), key=lambda path: path.replace(os.sep, "/"))


def excluded(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or one of the folders it lies in, matches a pattern."""
    parts = os.path.normpath(path).replace(os.sep, "/").split("/")
    names = [*parts, *("/".join(parts[: end + 1]) for end in range(len(parts)))]
    return any(fnmatch(name, pattern.rstrip("/")) for pattern in patterns for name in names)


def _files_in(folder: str, exclude: Sequence[str], seen: set[str]) -> list[str]:
    real = os.path.realpath(folder)
    if real in seen:
        return []
    seen.add(real)
    found = []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        path = os.path.normpath(entry.path)
        if entry.name.startswith(".") or excluded(path, exclude):
            continue
        if entry.is_dir():
            found += _files_in(path, exclude, seen)
        elif entry.name.lower().endswith(SUFFIXES):
            found.append(path)
    return found


def checked(
    paths: Sequence[str],
    *,
    shapes: Mapping[str, Shape] | None = None,
    exclude: Sequence[str] = (),
    force_exclude: bool = False,
    draw: bool = False,
    stdin: tuple[str, bytes] | None = None,
    advance: Callable[[str], None] | None = None,
) -> Report:
    """The report on every model among ``paths``; ``stdin`` is a name and the bytes of a model that came that way.

    Raises MissingPaths, and ValueError where ``shapes`` names an input that no model has.
    """
    from irlint import __version__

    files: list[CheckedFile] = []
    findings: list[Finding] = []
    refusals: list[str] = []
    if stdin is not None:
        file, found = _inspected(*stdin, shapes, draw, refusals)
        files.append(file)
        findings += found
    for path in discovered(paths, exclude, force_exclude):
        if advance is not None:
            advance(path)
        skipped = _skipped(path)
        if skipped is not None:
            files.append(skipped)
            continue
        file, found = _inspected(path, None, shapes, draw, refusals)
        files.append(file)
        findings += found
    if refusals and len(refusals) == sum(file.status == "checked" for file in files):
        raise ValueError(refusals[0])
    return Report(tuple(files), tuple(findings), __version__)


def _inspected(
    path: str,
    data: bytes | None,
    shapes: Mapping[str, Shape] | None,
    draw: bool,
    refusals: list[str],
) -> tuple[CheckedFile, tuple[Finding, ...]]:
    from irlint.inspection import inspected

    try:
        return inspected(path, data, shapes, draw=draw)
    except ValueError as error:
        if not shapes:
            raise
        refusals.append(f"{path}: {error}")
        return inspected(path, data, draw=draw)


def _skipped(path: str) -> CheckedFile | None:
    """The entry of a ``.xml`` file that is no IR; None for any other file."""
    if not path.lower().endswith(".xml"):
        return None
    from irlint.parsers import HEAD, kind

    with open(path, "rb") as file:
        if kind(path, file.read(HEAD)) != "other-xml":
            return None
    name = path.replace(os.sep, "/")
    return CheckedFile(name, None, status="skipped", reason="its root element is not <net>: no OpenVINO IR")
