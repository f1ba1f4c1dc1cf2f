"""A cache of results: if nothing that a check has read changed, the result of a model is not computed again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Set
from hashlib import blake2b

from irlint.inference.answers import NOT_WORKED_OUT
from irlint.lazy_typing import Any
from irlint.model.formats import FORMATS
from irlint.parsers.opening import whole
from irlint.parsers.trace import Beside, Read, Trace, is_same, is_same_beside
from irlint.records import record, replaced
from irlint.run.files import Outcome, Settings, outcome
from irlint.run.plain_data import made, plain
from irlint.run.writing import permissions, put

#: Rules about checks that were not completed: their results are not stored.
FLEETING = (NOT_WORKED_OUT,)

#: The hash of the latest settings, because a run has only one.
_known: list[tuple[Settings, bytes]] = []


@record
class Entry:
    """A stored result: the path and the folder from which it was named, the hash of the settings, the files that were
    read, and the outcome."""

    path: str
    folder: str
    asked: bytes
    reads: tuple[Read, ...]
    facts: tuple[Beside, ...]
    outcome: Outcome


def remembered(settings: Settings, path: str) -> Outcome:
    """The outcome of a file: the stored one if nothing changed, else a new one, which is then stored."""
    file, asked = _file(settings.cache, path), _asked(settings)
    entry = _read(file)
    if entry is not None and _is_about(entry, path) and entry.asked == asked and _is_true(entry, path):
        return entry.outcome
    with Trace() as trace:
        found = outcome(replaced(settings, cache="", stamped=False), path)
    if found.file.status == "checked" and found.error is None and _is_lasting(found) and _is_plain(trace):
        _write(file, Entry(path, os.getcwd(), asked, trace.reads(), tuple(trace.facts), found))
    return found


def _is_about(entry: Entry, path: str) -> bool:
    """Whether an entry belongs to this path, its findings are all about this file, and the file was read."""
    shown = path.replace(os.sep, "/")
    places = {entry.outcome.file.path, *(finding.path for finding in entry.outcome.findings)}
    is_read = any(each.path == path and each.parts for each in entry.reads)
    return (entry.path, entry.folder) == (path, os.getcwd()) and places == {shown} and is_read


def _is_true(entry: Entry, path: str) -> bool:
    form = entry.outcome.file.format
    if entry.facts and form not in [each.name for each in FORMATS]:
        return False
    try:
        return all(map(is_same, entry.reads)) and all(is_same_beside(each, path, form or "") for each in entry.facts)
    except (ValueError, OverflowError):
        return False


def _is_lasting(found: Outcome) -> bool:
    return not any(finding.rule in FLEETING for finding in found.findings)


def _is_plain(trace: Trace) -> bool:
    """Whether every file beside the model was present and sound. Otherwise the report also depends on other files in
    the folder."""
    return all(each.facts[1] is None for each in trace.facts)


def _file(folder: str, path: str) -> str:
    """The cache file of a path, which is relative to the working folder."""
    name = blake2b(f"{os.getcwd()}\0{path}".encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(folder, name[:2], name[2:])


def _asked(settings: Settings) -> bytes:
    """A hash of everything beside the model that an outcome depends on: the settings, the program, and the packages
    that read files."""
    if not _known or _known[0][0] is not settings:
        relevant = replaced(settings, cache="", timeout=None, stamped=False)
        text = repr((_canonical(relevant), sys.version, *_program()))
        _known[:] = [(settings, blake2b(text.encode("utf-8", "backslashreplace")).digest())]
    return _known[0][1]


def _canonical(value: Any) -> Any:
    """A value in a form whose text is equal for equal values."""
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


def _program() -> Iterator[tuple[str, int, int]]:
    """The path, size and modification time of the files of irlint and of the packages that read files."""
    from importlib.util import find_spec

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder, folders, files in os.walk(package):
        folders.sort()
        yield from (_stamp(os.path.join(folder, file)) for file in sorted(files) if not file.endswith(".pyc"))
    for name in ("onnx", "lxml", "google.protobuf"):
        spec = find_spec(name)
        yield _stamp(spec.origin) if spec is not None and spec.origin else (name, 0, 0)


def _stamp(file: str) -> tuple[str, int, int]:
    status = os.stat(file)
    return file, status.st_size, status.st_mtime_ns


def _read(file: str) -> Entry | None:
    import json

    try:
        found: Entry = made(Entry, json.loads(whole(file, "document")))
    except (OSError, ValueError, RecursionError):
        return None
    return found


def _write(file: str, entry: Entry) -> None:
    """Stores an entry. An error is ignored; the next run then computes the result again."""
    import json

    try:
        text = json.dumps(plain(entry), separators=(",", ":"))
        os.makedirs(os.path.dirname(file), exist_ok=True)
        put(file, [text.encode()], permissions(file))
    except (OSError, TypeError):
        return
