"""Applies fixes and requested edits to a model, and checks the result."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from importlib import import_module
from io import BytesIO

from irlint import parsers
from irlint.findings.edits import Applicability, Edit, Fix
from irlint.findings.faults import Rule, Severity
from irlint.findings.report import Finding
from irlint.fixes.wire import Unwritable
from irlint.lazy_typing import TYPE_CHECKING, Any, BinaryIO, Literal
from irlint.model import Graph
from irlint.model.formats import FORMATS
from irlint.model.order import graphs
from irlint.parsers.opening import open_file_bytes, opened, shrunk
from irlint.records import NOTHING, record, replaced
from irlint.run.files import Outcome, Settings, outcome

if TYPE_CHECKING:
    from irlint.fixes.wire import Piece

SAFE: Applicability = "safe"
UNSAFE: Applicability = "unsafe"

#: (finding, fix that was applied for it).
Applied = list[tuple[Finding, Fix]]

#: A fix may make another fix possible. At most this many rounds of safe fixes follow each other, and at most this many
#: suggested fixes are tried.
ROUNDS = 20

#: A model of at most this many bytes is rewritten in memory. A larger one is rewritten into a temporary file in the
#: folder of its path, or in the system's folder for temporary files if there is no such folder.
SMALL = 1 << 24

#: The number of bytes that are copied at once.
BLOCK = 1 << 20


@record(eq=False)
class Version:
    """One version of a model: before the fixes, after them, or between."""

    #: All bytes of this version.
    stream: BinaryIO
    #: The bytes for the parser. In a large ONNX file, zeros replace large weights.
    data: Any
    outcome: Outcome


@record(eq=False)
class Fixed:
    """A model before and after fixes."""

    path: str
    before: Version
    #: The last version. It is the object ``before`` if nothing was changed.
    after: Version
    fixes: tuple[tuple[Finding, Fix], ...] = ()
    #: The edits that fulfil wishes, in order.
    asked: tuple[Edit, ...] = ()
    #: For each wish whose edits were not applied, a text that states why.
    refused: tuple[str, ...] = ()
    #: The state of the file when it was opened; None for a model in memory.
    state: tuple[int, ...] | None = None

    @property
    def is_unchanged(self) -> bool:
        """Whether the file has not changed since it was opened. Raises OSError."""
        return self.state is None or self.state == _state(os.stat(self.path))

    def blocks(self) -> Iterator[bytes]:
        """The bytes of the fixed file."""
        self.after.stream.seek(0)
        while block := self.after.stream.read(BLOCK):
            yield block

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The applied edits, in order."""
        return (*dict.fromkeys(edit for _, fix in self.fixes for edit in fix.edits), *self.asked)

    def texts(self) -> tuple[list[str], list[str]]:
        """(lines before the fixes, lines after the fixes), to compare them.

        The lines of a binary model are those of ``irlint diff --textconv``, without hashes of weights.
        """
        if _has_lines(self.after.outcome.file.format):
            before, after = [
                version.data.decode("utf-8", "replace").splitlines() for version in (self.before, self.after)
            ]
            return before, after
        from irlint.inference.walk import inferred
        from irlint.reporters.textconv import rendered

        models = [parsers.read(self.path, version.data) for version in (self.before, self.after)]
        before, after = [rendered(inferred(model), lambda _: None).splitlines() for model in models]
        return before, after

    def external_data(self) -> list[str]:
        """The external data files of initializers of the fixed model, relative to its folder."""
        model = parsers.read(self.path, self.after.data)
        stored = [each.stored for graph in graphs(model) for each in graph.constants.values()]
        return sorted({each.file for each in stored if each is not None and each.file is not None})

    def close(self) -> None:
        """Closes the streams, which removes temporary files."""
        for version in (self.before, self.after):
            version.stream.close()


#: An option of ``irlint fix`` that requests edits, other than fixes of findings.
Wish = Literal["target", "freeze", "annotate"]


def fixed(
    path: str, settings: Settings, data: bytes | None = None, wishes: Sequence[Wish] = (), *, unsafe: bool = False
) -> Fixed:
    """A model after its safe fixes and the edits for the ``wishes``. With ``unsafe``, suggested fixes come first.

    ``settings`` has the targets and shapes for the wishes. Edits that cause new findings are not applied, except that
    a suggested fix may cause notes, and may reveal warnings about sizes or unused bytes. Raises OSError if the model
    cannot be opened.
    """
    quick = replaced(settings, drawn=False, operands=True, cache="")
    stream = BytesIO(data) if data is not None else opened(path)
    state = _state(os.fstat(stream.fileno())) if data is None else None
    before = _version(path, stream, quick)
    if before.outcome.error is not None:
        raise before.outcome.error
    # Suggested fixes come first, because they may use unused values, and safe fixes remove unused values.
    repaired, repairs = _with_suggested_fixes(path, before, quick) if unsafe else (before, Applied())
    after, fixes = _with_safe_fixes(path, repaired, quick, None)
    if _is_worse(after.outcome, repaired.outcome):
        after, fixes = _with_safe_fixes_by_rule(path, repaired, quick)
    fixes = [*repairs, *fixes]
    asked: list[Edit] = []
    refused: list[str] = []
    for wish in wishes:
        try:
            edits = _edits_for(wish, path, after, settings)
        except Unwritable as error:
            refused.append(f"--{wish} was not applied: {error}")
            continue
        if not edits:
            continue
        # The edits write the sizes into the file, so the settings no longer pass shapes.
        settings_of_wish = replaced(quick, shapes=NOTHING, models=()) if wish == "freeze" else quick
        base = _checked_again(path, after, settings_of_wish) if wish == "freeze" else after
        changed = _changed(path, base, settings_of_wish, edits)
        if changed is not None and not _is_worse(changed.outcome, base.outcome):
            after = changed
            asked += edits
        else:
            refused.append(_refusal(wish, changed, base))
    return Fixed(path, before, after, tuple(fixes), tuple(asked), tuple(refused), state)


def _edits_for(wish: Wish, path: str, version: Version, settings: Settings) -> list[Edit]:
    """The edits that fulfil a wish. Raises Unwritable."""
    from irlint.fixes import requested
    from irlint.inference.inputs import input_names, overridden
    from irlint.inference.walk import inferred

    model = parsers.read(path, version.data)
    if model.graph is None:
        return []
    if wish == "annotate":
        return list(requested.annotated(inferred(model)))
    if wish == "target":
        return list(requested.restamped(inferred(model), settings.targets))
    names = input_names(model)
    shapes = {name: shape for name, shape in settings.shapes.items() if name in names}
    return list(requested.with_fixed_sizes(inferred(model, shapes), overridden(model, shapes)))


def _checked_again(path: str, version: Version, settings: Settings) -> Version:
    return Version(version.stream, version.data, outcome(settings, path, version.data))


def _refusal(wish: Wish, changed: Version | None, before: Version) -> str:
    """Why the edits for a wish are not applied. ``changed`` is None if they cannot be written."""
    if changed is None:
        return f"--{wish} was not applied: its edits cannot be written into this file"
    rules = _growing(changed.outcome, before.outcome)
    new = [each for each in changed.outcome.findings if each.rule in rules]
    if not new:
        return f"--{wish} was not applied"
    return f"--{wish} was not applied: it would cause {new[0].rule.code} ({new[0].message})"


def _with_suggested_fixes(path: str, before: Version, settings: Settings) -> tuple[Version, Applied]:
    """A model after its suggested fixes. Safe fixes follow each suggested fix.

    A suggested fix is kept only if its finding disappears and it causes no new error or warning. It may reveal warnings
    about sizes or unused bytes.
    """
    after, applied = before, Applied()
    refused: set[tuple[Edit, ...]] = set()
    for _ in range(ROUNDS):
        suggested = (
            each for each in after.outcome.findings if each.fix is not None and each.fix.applicability == UNSAFE
        )
        finding = next((each for each in suggested if each.fix and each.fix.edits not in refused), None)
        if finding is None or finding.fix is None:
            break
        changed = _changed(path, after, settings, finding.fix.edits)
        tried, more = (after, Applied()) if changed is None else _with_safe_fixes(path, changed, settings, None)
        is_fixed = all(each.fingerprint != finding.fingerprint for each in tried.outcome.findings)
        # The warning at this node may be gone only because it moved to another node.
        if finding.severity is not Severity.ERROR and not _has_fewer(finding.rule, tried.outcome, after.outcome):
            is_fixed = False
        fix = finding.fix.edits, parsers.read(path, after.data).graph
        if changed is None or not is_fixed or _is_worse(tried.outcome, after.outcome, notes=False, fix=fix):
            refused.add(finding.fix.edits)
            continue
        after = tried
        applied += [(finding, finding.fix), *more]
    return after, applied


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _version(path: str, stream: BinaryIO, settings: Settings) -> Version:
    data = _read(path, stream)
    return Version(stream, data, outcome(settings, path, data))


def _read(path: str, stream: BinaryIO) -> Any:
    if isinstance(stream, BytesIO):
        return stream.getvalue()
    stream.seek(0)
    kind = parsers.kind(path, stream.read(parsers.HEAD))
    stream.seek(0)
    if _has_lines(kind):
        return open_file_bytes(stream, path, "document")
    from irlint.parsers.onnx import bytes_of

    return bytes_of(stream)


def _has_lines(format_name: str | None) -> bool:
    return any(form.name == format_name and form.has_lines for form in FORMATS)


def _with_safe_fixes(
    path: str, version: Version, settings: Settings, rules: Collection[Rule] | None
) -> tuple[Version, Applied]:
    """(model after all safe fixes for ``rules``, applied fixes). If ``rules`` is None, fixes findings of all rules."""
    applied: Applied = []
    for _ in range(ROUNDS):
        found = [each for each in version.outcome.findings if each.fix is not None and each.fix.applicability == SAFE]
        chosen = [(each, each.fix) for each in found if each.fix and (rules is None or each.rule in rules)]
        edits = dict.fromkeys(edit for _, fix in chosen for edit in fix.edits)
        changed = _changed(path, version, settings, edits) if chosen else None
        if changed is None or _same_bytes(changed.data, version.data):
            break
        version = changed
        applied += chosen
    return version, applied


def _same_bytes(one: Any, other: Any) -> bool:
    ends = range(0, len(one), BLOCK)
    return len(one) == len(other) and all(one[at : at + BLOCK] == other[at : at + BLOCK] for at in ends)


def _with_safe_fixes_by_rule(path: str, before: Version, settings: Settings) -> tuple[Version, Applied]:
    """Like ``_with_safe_fixes``, but omits each rule with fixes that cause new findings."""
    after, fixes = before, Applied()
    kept: set[Rule] = set()
    safe = (each for each in before.outcome.findings if each.fix is not None and each.fix.applicability == SAFE)
    for rule in dict.fromkeys(each.rule for each in safe):
        tried, found = _with_safe_fixes(path, before, settings, {*kept, rule})
        if not _is_worse(tried.outcome, before.outcome):
            after, fixes = tried, found
            kept.add(rule)
    return after, fixes


def _is_worse(
    after: Outcome, before: Outcome, *, notes: bool = True, fix: tuple[Sequence[Edit], Graph | None] | None = None
) -> bool:
    """Whether a model has more findings of any rule than before (see ``_growing``), or can no longer be opened."""
    return after.error is not None or bool(_growing(after, before, notes=notes, fix=fix))


def _growing(
    after: Outcome, before: Outcome, *, notes: bool = True, fix: tuple[Sequence[Edit], Graph | None] | None = None
) -> Collection[Rule]:
    """The rules of which a model has more findings than before.

    Does not count findings that a ``fix`` (edits, and the graph before) only reveals, and after errors those of rules
    that are checked only without errors. If ``notes`` is False, notes count only before the edits.
    """
    from irlint.checks.frozen import NO_SIZES_FIT
    from irlint.fixes.rechecking import is_revealed, size_limits

    had_errors = any(each.severity is Severity.ERROR for each in before.findings)
    new_rules = set(_rules_without_errors(before) if had_errors else ())
    # If no sizes fit, no limits on sizes are reported.
    if fix and any(each.rule is NO_SIZES_FIT for each in before.findings):
        new_rules.update(size_limits())
    found = (each for each in after.findings if notes or each.severity is not Severity.NOTE)
    found = (each for each in found if not (fix and is_revealed(each.rule, each.severity, *fix)))
    counts = Counter(each.rule for each in found if each.rule not in new_rules)
    counts.subtract(each.rule for each in before.findings)
    return {rule for rule, count in counts.items() if count > 0}


def _has_fewer(rule: Rule, after: Outcome, before: Outcome) -> bool:
    count, count_before = (sum(each.rule is rule for each in outcome.findings) for outcome in (after, before))
    return count < count_before


def _rules_without_errors(outcome: Outcome) -> Collection[Rule]:
    """The rules that irlint checks only if a model has no errors."""
    from irlint.checks.hygiene import UNUSED_NODE
    from irlint.policy.rule_index import RULES as MODULES
    from irlint.policy.rulebook import by_code

    names = [f"checks.{name}" for form in FORMATS if form.name == outcome.file.format for name in form.last_checks]
    return {UNUSED_NODE, *(by_code(code) for code, module in MODULES.items() if module in names)}


def _changed(path: str, version: Version, settings: Settings, edits: Iterable[Edit]) -> Version | None:
    """The model after the ``edits``; None if the edits cannot be written into the file."""
    model = parsers.read(path, version.data)
    if model.format is None or not model.format.writer:
        return None
    from irlint.parsers.onnx.protobuf import Damage

    writer = import_module(f"irlint.fixes.{model.format.writer}")
    try:
        pieces = writer.rewritten(version.data, model, edits)
    except (Unwritable, Damage, IndexError):
        return None
    stream = _joined(path, pieces, version.stream)
    return _version(path, stream, settings)


def _joined(path: str, pieces: Iterable[Piece], source: BinaryIO) -> BinaryIO:
    """The joined ``pieces``, in memory. If ``source`` is large, in a temporary file, see SMALL."""
    source.seek(0, os.SEEK_END)
    result: BinaryIO
    if source.tell() <= SMALL:
        result = BytesIO()
    else:
        from tempfile import TemporaryFile

        folder = os.path.dirname(os.path.realpath(path))
        result = TemporaryFile(dir=folder if os.path.isdir(folder) else None)  # noqa: SIM115
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
