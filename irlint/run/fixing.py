"""Fixes, applied to a model until none is left: what the file becomes, and what is found in it then."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from importlib import import_module
from io import BytesIO

from irlint import parsers
from irlint.findings.edits import Edit, Fix
from irlint.findings.faults import Rule, Severity
from irlint.findings.report import Finding
from irlint.lazy_typing import TYPE_CHECKING, Any, BinaryIO
from irlint.model.formats import FORMATS
from irlint.parsers.opening import opened, shrunk, whole_of
from irlint.records import record, replaced
from irlint.run.files import Outcome, Settings, outcome

if TYPE_CHECKING:
    from irlint.fixes.wire import Piece

#: A fix may make room for another one; after so many rounds, what is left is left.
ROUNDS = 20

#: A file of at most so many bytes is fixed in memory, a larger one in a file beside it.
SMALL = 1 << 24

#: So much is copied at once.
BLOCK = 1 << 20


@record(eq=False)
class Version:
    """A model as it was or is to be: its ``stream``, what its parser reads of that, and its findings."""

    stream: BinaryIO
    data: Any
    outcome: Outcome


@record(eq=False)
class Fixed:
    """A model before and after ``fixes``; ``after`` is ``before`` where there are none. ``state`` tells the file that was read from any
    other one; it is None of a model in memory."""

    path: str
    before: Version
    after: Version
    fixes: tuple[tuple[Finding, Fix], ...] = ()
    state: tuple[int, ...] | None = None

    @property
    def is_current(self) -> bool:
        """Whether the file is still as it was when it was opened. Raises OSError."""
        return self.state is None or self.state == _state(os.stat(self.path))

    def blocks(self) -> Iterator[bytes]:
        """The bytes of the file as it is to be."""
        self.after.stream.seek(0)
        while block := self.after.stream.read(BLOCK):
            yield block

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was changed, in this order."""
        return tuple(dict.fromkeys(edit for _, fix in self.fixes for edit in fix.edits))

    def texts(self) -> tuple[list[str], list[str]]:
        """The model before and after, as ``irlint diff --textconv`` prints it without hashes of weights."""
        from irlint.inference.walk import inferred
        from irlint.reporters.textconv import rendered

        models = [parsers.read(self.path, version.data) for version in (self.before, self.after)]
        before, after = [rendered(inferred(model), lambda _: None).splitlines() for model in models]
        return before, after

    def close(self) -> None:
        """Closes the files, and removes the one beside the model."""
        for version in (self.before, self.after):
            version.stream.close()


def fixed(path: str, settings: Settings, data: bytes | None = None) -> Fixed:
    """A model at a path, or in ``data``, with the safe fixes of its findings, which leave it without a finding that is new.

    Raises OSError where it cannot be opened.
    """
    quick = replaced(settings, draw=False, operands=False, cache="")
    stream = BytesIO(data) if data is not None else opened(path)
    state = _state(os.fstat(stream.fileno())) if data is None else None
    before = _version(path, stream, quick)
    if before.outcome.error is not None:
        raise before.outcome.error
    after, fixes = _tidied(path, before, quick, None)
    if _is_worse(after.outcome, before.outcome):
        after, fixes = _tidied_by_rule(path, before, quick)
    return Fixed(path, before, after, tuple(fixes), state)


def _state(status: os.stat_result) -> tuple[int, ...]:
    """What changes when a file is written or replaced."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _version(path: str, stream: BinaryIO, settings: Settings) -> Version:
    data = _read(path, stream)
    return Version(stream, data, outcome(settings, path, data))


def _read(path: str, stream: BinaryIO) -> Any:
    """What the parser reads of a file: of a large ONNX model all but the weights."""
    if isinstance(stream, BytesIO):
        return stream.getvalue()
    stream.seek(0)
    kind = parsers.kind(path, stream.read(parsers.HEAD))
    stream.seek(0)
    if any(form.name == kind and form.has_lines for form in FORMATS):
        return whole_of(stream, path, "document")
    from irlint.parsers.onnx import bytes_of

    return bytes_of(stream)


Applied = list[tuple[Finding, Fix]]


def _tidied(path: str, version: Version, settings: Settings, rules: Collection[Rule] | None) -> tuple[Version, Applied]:
    """A model with the fixes of some rules, None for all, until there are none, and these."""
    applied: Applied = []
    for _ in range(ROUNDS):
        found = [each for each in version.outcome.findings if each.fix is not None]
        chosen = [(each, each.fix) for each in found if each.fix and (rules is None or each.rule in rules)]
        changed = _changed(path, version, settings, [fix for _, fix in chosen]) if chosen else None
        if changed is None or _same_bytes(changed.data, version.data):
            break
        version = changed
        applied += chosen
    return version, applied


def _same_bytes(one: Any, other: Any) -> bool:
    """Whether two buffers are equal; compared in pieces, for they may be large."""
    ends = range(0, len(one), BLOCK)
    return len(one) == len(other) and all(one[at : at + BLOCK] == other[at : at + BLOCK] for at in ends)


def _tidied_by_rule(path: str, before: Version, settings: Settings) -> tuple[Version, Applied]:
    """A model with the fixes of as many rules as leave nothing new."""
    after, fixes = before, list[tuple[Finding, Fix]]()
    kept: set[Rule] = set()
    for rule in dict.fromkeys(each.rule for each in before.outcome.findings if each.fix is not None):
        tried, found = _tidied(path, before, settings, {*kept, rule})
        if not _is_worse(tried.outcome, before.outcome):
            after, fixes = tried, found
            kept.add(rule)
    return after, fixes


def _is_worse(after: Outcome, before: Outcome) -> bool:
    """Whether a model has more findings of some rule than it had; what is unused is only looked for where there is no error."""
    hidden = any(each.severity is Severity.ERROR for each in before.findings)
    counts = Counter(each.rule for each in after.findings if not (hidden and each.rule.family == "hygiene"))
    counts.subtract(each.rule for each in before.findings)
    return after.error is not None or any(count > 0 for count in counts.values())


def _changed(path: str, version: Version, settings: Settings, fixes: Iterable[Fix]) -> Version | None:
    """The model after some fixes; None where they cannot be written."""
    model = parsers.read(path, version.data)
    if model.format is None or not model.format.writer:
        return None
    from irlint.fixes.wire import Unwritable
    from irlint.parsers.onnx.protobuf import Damage

    writer = import_module(f"irlint.fixes.{model.format.writer}")
    edits = dict.fromkeys(edit for fix in fixes for edit in fix.edits)
    try:
        pieces = writer.rewritten(version.data, model, edits)
    except (Unwritable, Damage, IndexError):
        return None
    stream = _joined(path, pieces, version.stream)
    return _version(path, stream, settings)


def _joined(path: str, pieces: Iterable[Piece], source: BinaryIO) -> BinaryIO:
    """The pieces of a file as one, in memory or, of a large one, in a nameless file beside it."""
    source.seek(0, os.SEEK_END)
    result: BinaryIO
    if source.tell() <= SMALL:
        result = BytesIO()
    else:
        from tempfile import TemporaryFile

        result = TemporaryFile(dir=os.path.dirname(os.path.realpath(path)))  # noqa: SIM115
    for piece in pieces:
        if isinstance(piece, bytes):
            result.write(piece)
        else:
            _copy(source, *piece, result)
    result.flush()
    return result


def _copy(source: BinaryIO, start: int, end: int, target: BinaryIO) -> None:
    source.seek(start)
    while start < end:
        block = source.read(min(BLOCK, end - start))
        if not block:
            raise shrunk(source)
        target.write(block)
        start += len(block)
