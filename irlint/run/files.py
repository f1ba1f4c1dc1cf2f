"""One run over several paths: finds the files to check, and reports on all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from time import monotonic

from irlint.dims import Shape
from irlint.findings.faults import Rule
from irlint.findings.report import CheckedFile, Finding, Report
from irlint.folders import is_configuration
from irlint.inference.known import SHAPE_OPTION
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.parsers import opening
from irlint.parsers.opening import NO_HANDLES, is_url
from irlint.records import NOTHING, record, replaced
from irlint.run.search import Excluded, discovered, skipped

if TYPE_CHECKING:
    from irlint.costs.budgets import Budget
    from irlint.ops.signed import Declared
    from irlint.parsers.remote.locations import Located
    from irlint.policy.globs import ByGlob
    from irlint.policy.shape_options import ModelShapes
    from irlint.policy.suppressions import Policy
    from irlint.run.sources import Source

#: Prefixes of URLs that mean local paths.
LOCAL = ("file://", "local://")

#: Optional packages: the name to import, and the name to install.
PACKAGES = {"lxml": "lxml", "numpy": "numpy", "google": "protobuf"}

#: The name of the executor that uses processes of this machine.
PROCESSES = "processes"


@record
class Settings:
    """The settings of the check of each file, as plain data for every process.

    ``models`` are the ``[[models]]`` entries of the configuration; ``shapes`` override their shapes. ``policy`` selects
    the reported findings; None reports all. ``skip_pointers`` skips Git LFS pointers, and ``skip_non_models`` skips
    files that are certainly not models. ``weights`` reads large constants. ``targets`` are runtime releases that must
    load the models. ``timeout`` is in seconds per file, None for no limit. ``ignores`` applies the rules that models
    list under ``irlint.ignore``. ``cache`` is a folder for results, or "". ``stamped`` adds sizes and modification
    times to the entries of files.

    Five fields determine the data for the reports: ``drawn``, ``silenced`` and ``facts`` as in ``Form``,
    ``operands`` for the inputs of nodes, and ``every``, which removes the limit of drawn findings per rule.
    ``shapes_by`` is the source of the shapes in messages. ``operators`` are the custom operators of the
    configuration.
    """

    shapes: Mapping[str, Shape] = NOTHING
    models: ByGlob[ModelShapes] | None = None
    policy: Policy | None = None
    skip_pointers: bool = False
    skip_non_models: bool = False
    weights: bool = False
    targets: tuple[str, ...] = ()
    timeout: float | None = None
    ignores: bool = True
    cache: str = ""
    stamped: bool = False
    drawn: bool = False
    silenced: bool = False
    facts: bool = False
    operands: bool = True
    every: bool = False
    shapes_by: str = SHAPE_OPTION
    operators: tuple[Declared, ...] = ()


#: A check without any option.
DEFAULT = Settings()


@record
class Outcome:
    """The result for one file; ``error`` states why it could not be opened."""

    file: CheckedFile
    findings: tuple[Finding, ...] = ()
    error: OSError | None = None


def checked(
    paths: Sequence[str],
    *,
    shapes: Mapping[str, Shape] | None = None,
    settings: Settings | None = None,
    in_memory: Sequence[Source] = (),
    excluded: Excluded | None = None,
    force_exclude: bool = False,
    jobs: int | None = 1,
    advance: Callable[[int | None, str], Callable[[int], None]] | None = None,
    executor: str = PROCESSES,
    interrupted: Callable[[int, int], None] | None = None,
) -> Report:
    """The report on every model in ``paths`` and ``in_memory``.

    ``jobs`` is the number of processes, None for an automatic one, and ``executor`` starts them. ``advance(count,
    name)``, with a name only for a single file, returns a callback for the number of finished files. After Ctrl-C,
    ``interrupted`` receives the numbers of finished files and of all files, and the report covers the finished ones.

    Raises MissingPaths; OSError if a named file cannot be opened or too many files are open (an unreadable file in a
    folder is a finding); and ValueError if a shape is for an input that no model has.
    """
    from irlint import __version__

    settings = settings or Settings(shapes or {})
    here, there = apart(paths)
    files: list[str | Located] = [*discovered(here, excluded, force_exclude)]
    files += found_there(there, excluded, force_exclude)
    found = [outcome(_alone(settings) if each.alone else settings, each.path, each.data) for each in in_memory]
    only = files[0] if len(files) == 1 and isinstance(files[0], str) else ""
    heard = advance(len(files), only) if advance is not None and files else None
    try:
        for each in outcomes(files, settings, jobs, executor=executor):
            found.append(each)
            if heard is not None:
                heard(len(found) - len(in_memory))
    except KeyboardInterrupt:
        if interrupted is None or not found:
            raise
        interrupted(len(found), len(files) + len(in_memory))
    named = files_named(here)
    found = [opened(each, named, settings.policy) for each in found]
    if len(found) == len(files) + len(in_memory):
        judge_shapes(settings, [each.file for each in found], {each.path: each.data for each in in_memory})
    found.sort(key=lambda each: each.file.path)
    findings = [finding for each in found for finding in each.findings]
    source = settings.policy.source if settings.policy is not None else ""
    return Report(tuple(each.file for each in found), tuple(findings), __version__, _text, source)


def apart(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """The local paths and the URLs."""
    named = [path.partition("://")[2] if path.startswith(LOCAL) else path for path in paths]
    return [path for path in named if not is_url(path)], [path for path in named if is_url(path)]


def found_there(urls: Sequence[str], excluded: Excluded | None, force_exclude: bool) -> Iterator[Located]:
    """The models behind URLs. Raises MissingPaths, and ValueError if a store cannot list them."""
    if not urls:
        return iter(())
    from irlint.run.remote import listed

    return listed(urls, excluded or Excluded(), force_exclude)


def files_named(paths: Sequence[str]) -> frozenset[str]:
    """The named files, by their real paths."""
    return frozenset(os.path.realpath(path) for path in paths if not os.path.isdir(path))


def _text(report: Report, **settings: Any) -> str:
    """The function that renders a Report as text; the reporters are a layer above it."""
    from irlint.reporters.text import rendered

    return rendered(report.folded(), **settings)


def _alone(settings: Settings) -> Settings:
    """The settings for a model without known neighbor files: missing weights are not reported."""
    from irlint.policy.suppressions import Policy, Selection

    policy = settings.policy or Policy()
    from irlint.checks.constants import WEIGHTS_MISSING

    kept = (*policy.selections, Selection(ignore=frozenset([WEIGHTS_MISSING.code])))
    return replaced(settings, policy=replaced(policy, selections=kept))


#: An automatic number of processes begins with one; more start after this many seconds.
PATIENCE = 1.0


def outcomes(
    files: Iterable[str | Located],
    settings: Settings,
    jobs: int | None,
    *,
    ordered: bool = False,
    executor: str = PROCESSES,
) -> Iterator[Outcome]:
    """The outcome of each file as soon as it is known; ``ordered`` keeps the order of the files, otherwise the largest
    files start first.

    ``executor`` is PROCESSES, or a cluster for ``sharing.shared``. Raises ValueError if it is not available.
    """
    processes = _processors() if jobs is None else jobs
    until = monotonic() + PATIENCE
    rest = iter(files)
    for file in rest:
        if executor != PROCESSES:
            break
        if processes > 1 and (jobs is not None or monotonic() > until or not isinstance(file, str)):
            break
        yield outcome(settings, file)
    else:
        return
    from irlint.run.sharing import shared

    rest = chain([file], rest)
    if jobs is None and not isinstance(file, str):
        from irlint.run.remote import AT_ONCE

        processes = AT_ONCE

    yield from shared(rest, settings, processes, ordered=ordered, executor=executor)


def _processors() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def outcome(settings: Settings, path: str | Located, data: bytes | None = None) -> Outcome:
    """The outcome of one file; a defect of irlint or a timeout becomes a finding."""
    if not isinstance(path, str):
        from irlint.run.remote import outcome_of

        return outcome_of(replaced(settings, cache=""), path)
    if settings.cache and data is None and not is_configuration(path):
        from irlint.run.cache import remembered

        found = remembered(settings, path)
        return _stamped(found, path) if settings.stamped and found.error is None else found
    if settings.timeout is None:
        return _outcome(settings, path, data)
    from irlint.run.deadline import TimedOut, limited

    try:
        with limited(settings.timeout):
            return _outcome(settings, path, data)
    except TimedOut:
        return timed_out(settings.timeout, path)


def _outcome(settings: Settings, path: str, data: bytes | None) -> Outcome:
    opening.exhausted = None
    try:
        if is_configuration(path):
            from irlint.run import configurations

            return Outcome(*configurations.inspected(path, data, settings))
        passed = skipped(path, data, settings.skip_pointers, settings.skip_non_models)
        found = Outcome(passed) if passed is not None else _inspected(settings, path, data)
        if opening.exhausted is not None:
            raise opening.exhausted
        return _stamped(found, path) if settings.stamped and data is None else found
    except ModuleNotFoundError as error:
        package = PACKAGES.get((error.name or "").partition(".")[0])
        return _crashed_by(path, error) if package is None else _lacking(path, data, package)
    except OSError as error:
        return Outcome(CheckedFile(path, None), error=OSError(error.errno, error.strerror, error.filename or path))
    except Exception as error:
        return _crashed_by(path, error)


def _lacking(path: str, data: bytes | None, package: str) -> Outcome:
    """The outcome of a file that cannot be checked because a package is not installed."""
    from irlint import parsers

    form = parsers.kind(path, parsers.first_bytes(path) if data is None else data[: parsers.HEAD])
    reason = f"not checked: it needs the package {package}, which is not installed"
    return Outcome(CheckedFile(path.replace(os.sep, "/"), form, status="skipped", reason=reason, lacking=package))


def _crashed_by(path: str, error: Exception) -> Outcome:
    return _crashed(path, f"{type(error).__name__}: {_first_line(error)}{_raised_at(error)}")


def _stamped(found: Outcome, path: str) -> Outcome:
    status = os.stat(path)
    return replaced(found, file=replaced(found.file, size=status.st_size, stamp=str(status.st_mtime_ns)))


def _inspected(settings: Settings, path: str, data: bytes | None) -> Outcome:
    from irlint.run.one_file import inspected

    return Outcome(*inspected(path, data, settings))


def given(settings: Settings, path: str) -> tuple[dict[str, Shape], dict[str, str]]:
    """The shapes for the inputs of a file, and the source of each. The last matching entry of the configuration
    counts; ``settings.shapes`` overrides all entries."""
    shapes: dict[str, Shape] = {}
    places: dict[str, str] = {}
    for entry in settings.models.of(path) if settings.models else ():
        shapes |= entry.shapes
        places |= dict.fromkeys(entry.shapes, entry.place)
    own = settings.shapes
    places = {name: place for name, place in places.items() if name not in own}
    if settings.shapes_by != SHAPE_OPTION:
        places |= dict.fromkeys(own, settings.shapes_by)
    return {**shapes, **own}, places


def budgets(settings: Settings, path: str) -> tuple[Budget, ...]:
    """The limits on the cost of a file."""
    entries = [entry for entry in settings.models.of(path) if entry.budgets] if settings.models else []
    if not entries:
        return ()
    from irlint.costs.budgets import stated

    return stated((entry.budgets, entry.place) for entry in entries)


def judge_shapes(settings: Settings, files: Iterable[CheckedFile], in_memory: Mapping[str, bytes | None]) -> None:
    """Raises ValueError for a name in ``shapes`` that no checked model has as an input, or for one in a ``[[models]]``
    entry that no model of the entry has."""
    if not settings.shapes and not settings.models:
        return
    sound = [file for file in files if file.status == "checked"]
    for name in settings.shapes:
        _judge([name], sound, f"{settings.shapes_by} {name}".replace("= ", "="), in_memory)
    if not settings.models:
        return
    covered: dict[int, list[CheckedFile]] = {}
    for file in sound:
        for at in settings.models.fitting(file.path):
            covered.setdefault(at, []).append(file)
    for at, entry in enumerate(settings.models.entries):
        _judge(entry.shapes, covered.get(at, ()), entry.place, in_memory)


def _judge(
    names: Iterable[str], files: Sequence[CheckedFile], place: str, in_memory: Mapping[str, bytes | None]
) -> None:
    missing = frozenset.intersection(*(frozenset(file.missing) for file in files)) if files else frozenset()
    for name in names:
        if name in missing:
            raise ValueError(f"{place}: no input named {name}{_inputs(files[0].path, in_memory)}")


def _inputs(path: str, in_memory: Mapping[str, bytes | None]) -> str:
    """The part of a message that lists the inputs of a model."""
    from irlint import parsers
    from irlint.inference.inputs import input_names

    try:
        model = parsers.read(path, in_memory.get(path))
    except OSError:
        return ""
    return f"; the inputs of {path} are {', '.join(input_names(model))}" if model.graph is not None else ""


def opened(found: Outcome, named: Collection[str], policy: Policy | None) -> Outcome:
    """Turns the outcome of a file that could not be opened into a finding. Raises the error instead if the file was
    ``named``, or if too many files are open."""
    error, path = found.error, found.file.path
    if error is None:
        return found
    if error.errno in NO_HANDLES or (os.path.realpath(path) in named and not is_url(path)):
        raise error
    from irlint.parsers.faults import UNREADABLE_FILE

    message = f"{_what_is_at(path)} cannot be opened: {_lowered(error.strerror or str(error))}"
    other = error.filename is not None and os.fspath(error.filename) != path
    outcome = _unread(path, UNREADABLE_FILE, f"{message} ({os.fspath(error.filename)})" if other else message)
    return Outcome(*with_policy(policy, path, outcome.file, outcome.findings))


def with_policy(
    policy: Policy | None, path: str, file: CheckedFile, findings: tuple[Finding, ...]
) -> tuple[CheckedFile, tuple[Finding, ...]]:
    """The reported findings of a file without a model, and its entry with the number of the others."""
    if policy is None:
        return file, findings
    from irlint.policy.suppressions import remaining

    left = remaining(policy, path, findings)
    file = replaced(file, suppressed=left.suppressed, used=left.used, hidden=left.hidden, silenced=left.silenced)
    return replaced(file, errors_hidden=left.errors_hidden), tuple(finding for _, finding in left.kept)


def _what_is_at(path: str) -> str:
    if os.path.islink(path):
        return f"the link to {os.readlink(path)}"
    return "the folder" if os.path.isdir(path) else "the file"


def _first_line(error: BaseException) -> str:
    """The message of an error, without the lists that some libraries append."""
    return str(error).partition("\n")[0]


def _lowered(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def died(path: str | Located, ending: str) -> Outcome:
    """The outcome of a file whose process crashed."""
    return _crashed(str(path), f"the process that checked it {ending}")


def timed_out(seconds: float, path: str | Located) -> Outcome:
    """The outcome of a file whose check took too long."""
    from irlint.parsers.faults import CHECK_TIMED_OUT

    message = f"the check of this file was stopped after {seconds:g} seconds (--timeout) and has no result"
    return _unread(str(path), CHECK_TIMED_OUT, message, CHECK_TIMED_OUT.advice)


def _crashed(path: str, reason: str) -> Outcome:
    from irlint.parsers.faults import CHECK_CRASHED

    advice = "report this with the model, if you may share it; it is a defect of irlint, or a lack of memory"
    return _unread(path, CHECK_CRASHED, f"the check of this file failed: {reason}", advice)


def _unread(path: str, rule: Rule, message: str, advice: str = "") -> Outcome:
    """The finding for a file that was not checked."""
    from hashlib import sha256

    name = path.replace(os.sep, "/")
    fingerprint = sha256(rule.code.encode()).hexdigest()[:32]
    finding = Finding(name, rule, rule.severity, message, help=advice or rule.advice, fingerprint=fingerprint)
    return Outcome(CheckedFile(name, None, status="unreadable"), (finding,))


def _raised_at(error: Exception) -> str:
    """The innermost position in irlint's code in the traceback of an exception."""
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace(os.sep, "/")
        if "/irlint/" in file:
            found = f" (irlint/{file.rpartition('/irlint/')[2]}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return found
