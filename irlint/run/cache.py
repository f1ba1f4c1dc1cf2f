"""A cache of outcomes. A stored outcome is used if the settings, and all bytes that the check read, are unchanged."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Set
from hashlib import blake2b

from irlint.inference.answers import NOT_WORKED_OUT
from irlint.lazy_typing import Any
from irlint.model.formats import FORMATS
from irlint.parsers.opening import file_bytes
from irlint.parsers.trace import Beside, Read, Trace, is_same, is_same_beside
from irlint.records import record, replaced
from irlint.run.files import Outcome, Settings, outcome
from irlint.run.plain_data import plain, record_from
from irlint.run.writing import permissions, replace_file

#: An outcome with a finding of these rules is not stored, because its check was incomplete.
INCOMPLETE = (NOT_WORKED_OUT,)

#: The latest settings and their hash.
_latest_settings: list[tuple[Settings, bytes]] = []


@record
class Entry:
    """A stored outcome."""

    path: str
    #: The working folder of the run.
    folder: str
    #: The hash of the settings.
    settings: bytes
    reads: tuple[Read, ...]
    facts: tuple[Beside, ...]
    outcome: Outcome


def cached_outcome(settings: Settings, path: str) -> Outcome:
    """The stored outcome of a file. Without one, checks the file, and stores the outcome if the check was complete."""
    file, hash_of_settings = _file(settings.cache, path), _hash_of(settings)
    entry = _read(file)
    if entry is not None and _is_about(entry, path) and entry.settings == hash_of_settings and _is_current(entry, path):
        return entry.outcome
    with Trace() as trace:
        found = outcome(replaced(settings, cache="", stamped=False), path)
    if found.file.status == "checked" and found.error is None and _is_complete(found) and _has_all_data(trace):
        _write(file, Entry(path, os.getcwd(), hash_of_settings, trace.reads(), tuple(trace.facts), found))
    return found


def _is_about(entry: Entry, path: str) -> bool:
    """Whether ``entry`` and all its findings are about the file at ``path``, and its check read this file."""
    shown = path.replace(os.sep, "/")
    subjects = {entry.outcome.file.path, *(finding.path for finding in entry.outcome.findings)}
    was_read = any(each.path == path and each.parts for each in entry.reads)
    return (entry.path, entry.folder) == (path, os.getcwd()) and subjects == {shown} and was_read


def _is_current(entry: Entry, path: str) -> bool:
    form = entry.outcome.file.format
    if entry.facts and form not in [each.name for each in FORMATS]:
        return False
    try:
        return all(map(is_same, entry.reads)) and all(is_same_beside(each, path, form or "") for each in entry.facts)
    except (ValueError, OverflowError):
        return False


def _is_complete(found: Outcome) -> bool:
    return not any(finding.rule in INCOMPLETE for finding in found.findings)


def _has_all_data(trace: Trace) -> bool:
    # If a data file is missing, the report depends on other files in the folder, which are not recorded.
    return all(each.facts[1] is None for each in trace.facts)


def _file(folder: str, path: str) -> str:
    name = blake2b(f"{os.getcwd()}\0{path}".encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(folder, name[:2], name[2:])


def _hash_of(settings: Settings) -> bytes:
    """A hash of the settings, Python, irlint, and the packages that read files."""
    if not _latest_settings or _latest_settings[0][0] is not settings:
        relevant = replaced(settings, cache="", timeout=None, stamped=False)
        text = repr((_canonical(relevant), sys.version, *_program()))
        _latest_settings[:] = [(settings, blake2b(text.encode("utf-8", "backslashreplace")).digest())]
    return _latest_settings[0][1]


def _canonical(value: Any) -> Any:
    """The value in another form. Its ``repr`` does not depend on the identity of objects or the order of sets."""
    names = getattr(type(value), "__match_args__", None)
    if names:
        return (type(value).__name__, *(_canonical(getattr(value, name)) for name in names))
    if isinstance(value, Mapping):
        return ("mapping", *((repr(key), _canonical(each)) for key, each in value.items()))
    if isinstance(value, Set):
        return ("set", *sorted(map(repr, value)))
    if isinstance(value, (list, tuple)):
        return tuple(map(_canonical, value))
    return repr(value)


def _program() -> Iterator[object]:
    """Facts that change if irlint's code, or a package that reads files, changes.

    Two installations of the same files give the same facts. In a checkout, each file counts by its path, size and
    modification time.
    """
    from importlib.util import find_spec

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield from _recorded(os.path.dirname(package)) or _stamps(package)
    for name, distribution in (("onnx", "onnx"), ("lxml", "lxml"), ("google.protobuf", "protobuf")):
        spec = find_spec(name)
        folder = (spec.origin or "") if spec is not None else ""
        for _ in ("__init__.py", *name.split(".")):
            folder = os.path.dirname(folder)
        yield name, _metadata(folder, distribution)


def _recorded(folder: str) -> list[str]:
    """The lines with the hashes of irlint's files that an installer has written below ``folder``; [] in a checkout."""
    lines: list[str] = []
    for name in _metadata(folder, "irlint"):
        try:
            with open(os.path.join(folder, name, "RECORD"), encoding="utf-8") as file:
                lines += [line for line in file if line.startswith("irlint/") and ".pyc" not in line]
        except OSError:
            continue
    return sorted(lines)


def _metadata(folder: str, distribution: str) -> list[str]:
    """The names of the folders with the metadata of a distribution, such as ``onnx-1.23.2.dist-info``."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if name.startswith(f"{distribution}-") and name.endswith(".dist-info"))


def _stamps(package: str) -> Iterator[tuple[str, int, int]]:
    """(path, size, modification time) of the files of a folder."""
    for folder, folders, files in os.walk(package):
        folders.sort()
        for file in sorted(files):
            if not file.endswith(".pyc"):
                status = os.stat(os.path.join(folder, file))
                yield os.path.join(folder, file), status.st_size, status.st_mtime_ns


def _read(file: str) -> Entry | None:
    """The entry in a cache file; None without a valid entry."""
    import json

    try:
        found: Entry = record_from(Entry, json.loads(file_bytes(file, "document")))
    except (OSError, ValueError, RecursionError):
        return None
    return found


def _write(file: str, entry: Entry) -> None:
    """Stores an entry; errors are ignored."""
    import json

    try:
        text = json.dumps(plain(entry), separators=(",", ":"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        replace_file(file, [text.encode()], permissions(file))
    except (OSError, TypeError):
        return
