"""Verdicts that are kept: of a model of which all that its check has read is as it was, the outcome need not be worked out again."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, Set
from hashlib import blake2b

from irlint.inference.answers import NOT_WORKED_OUT
from irlint.lazy_typing import Any
from irlint.parsers.trace import Beside, Read, Trace, is_same, is_told
from irlint.records import record, replaced
from irlint.run.files import Outcome, Settings, outcome

#: Rules about checks that came to nothing: what they say is not kept.
FLEETING = (NOT_WORKED_OUT,)

#: The modules whose records an entry may have; nothing else is made of one.
KEPT = ("irlint.findings.faults", "irlint.findings.report", "irlint.parsers.trace", "irlint.pictures.drawing", __name__)

#: What is known of settings and of the program, by the settings: one run has one.
_known: list[tuple[Settings, bytes]] = []


@record
class Entry:
    """What was found of a model, by whom and how it was asked, and what was read for that."""

    asked: bytes
    reads: tuple[Read, ...]
    told: tuple[Beside, ...]
    outcome: Outcome


def remembered(settings: Settings, path: str) -> Outcome:
    """The outcome of a file: the one that is kept if it is still true, else a new one, which is kept."""
    file, asked = _file(settings.cache, path), _asked(settings)
    entry = _read(file)
    if entry is not None and entry.asked == asked and _is_true(entry, path):
        return entry.outcome
    with Trace() as trace:
        found = outcome(replaced(settings, cache="", stamped=False), path)
    if found.file.status == "checked" and found.error is None and _is_lasting(found) and _is_plain(trace):
        _write(file, Entry(asked, trace.reads(), tuple(trace.told), found))
    return found


def _is_true(entry: Entry, path: str) -> bool:
    return all(map(is_same, entry.reads)) and all(
        is_told(each, path, entry.outcome.file.format or "") for each in entry.told
    )


def _is_lasting(found: Outcome) -> bool:
    return not any(finding.rule in FLEETING for finding in found.findings)


def _is_plain(trace: Trace) -> bool:
    """Whether nothing beside the model is missing or odd: what is said then depends on what else lies there."""
    return all(each.told[1] is None for each in trace.told)


def _file(folder: str, path: str) -> str:
    """The file for a path, as it is named from the working folder."""
    name = blake2b(f"{os.getcwd()}\0{path}".encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(folder, name[:2], name[2:])


def _asked(settings: Settings) -> bytes:
    """A hash of all that an outcome depends on beside the model: settings, this program, and what it reads schemas with."""
    if not _known or _known[0][0] is not settings:
        lasting = replaced(settings, cache="", timeout=None, stamped=False)
        text = repr((_canonical(lasting), sys.version, *_program()))
        _known[:] = [(settings, blake2b(text.encode("utf-8", "backslashreplace")).digest())]
    return _known[0][1]


def _canonical(value: Any) -> Any:
    """A value as what has the same text whenever it is equal."""
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
    """The files of this program, and what tells the packages that it reads with: their sizes and when they were written."""
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


class _Reader(pickle.Unpickler):
    """Makes nothing but records of a few modules."""

    def find_class(self, module: str, name: str) -> Any:
        from importlib import import_module

        found = vars(import_module(module)).get(name) if module in KEPT else None
        if module == "irlint.run.files" and name == "Outcome":
            return Outcome
        if isinstance(found, type) and (hasattr(found, "__match_args__") or name == "Severity"):
            return found
        raise pickle.UnpicklingError(f"{module}.{name}")


def _read(file: str) -> Entry | None:
    try:
        with open(file, "rb") as stream:
            found = _Reader(io.BytesIO(stream.read())).load()
    except Exception:
        return None
    return found if isinstance(found, Entry) else None


def _write(file: str, entry: Entry) -> None:
    """Keeps an entry; where that cannot be, the next run works it out again."""
    try:
        os.makedirs(os.path.dirname(file), exist_ok=True)
        own = f"{file}.{os.getpid()}"
        with open(own, "wb") as stream:
            pickle.dump(entry, stream, protocol=5)
        os.replace(own, file)
    except (OSError, pickle.PicklingError):
        return
