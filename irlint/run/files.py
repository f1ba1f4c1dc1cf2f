"""A run over several paths: finds the files, checks them, and reports on them."""

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

#: A path with one of these prefixes is a URL of a local file.
LOCAL = ("file://", "local://")

#: The package to install, by the name of the module that is imported.
PACKAGES = {"lxml": "lxml", "numpy": "numpy", "google": "protobuf"}

#: The name of the executor that uses processes of this machine.
PROCESSES = "processes"


@record
class Settings:
    """The settings for the check of each file. They are plain data, so that they can be sent to other processes."""

    #: The shapes of inputs that the user passed. They override the shapes in ``models``.
    shapes: Mapping[str, Shape] = NOTHING
    #: The ``[[models]]`` entries of the configuration.
    models: ByGlob[ModelShapes] | None = None
    #: Decides which findings are reported; None means all.
    policy: Policy | None = None
    #: Whether Git LFS pointers are skipped.
    skip_pointers: bool = False
    #: Whether to skip files that by both name and bytes are no models.
    skip_non_models: bool = False
    #: Whether to read the elements of large constants.
    weights: bool = False
    #: The labels of the releases that must load the models.
    targets: tuple[str, ...] = ()
    #: The time limit for each file in seconds; None for no limit.
    timeout: float | None = None
    #: Whether the metadata of a model can list rules to ignore.
    ignores: bool = True
    #: The folder in which outcomes are stored; "" if none are stored.
    cache: str = ""
    #: Whether the entry of each file has its size and modification time.
    stamped: bool = False
    #: As ``Form.drawn``: whether findings have snippets.
    drawn: bool = False
    #: As ``Form.silenced``: whether suppressed findings are included.
    silenced: bool = False
    #: As ``Form.facts``: whether facts about the models are included.
    facts: bool = False
    #: Whether findings have the inputs of their nodes, and suggested fixes.
    operands: bool = True
    #: Whether the causes of problems and fixes are searched.
    explained: bool = True
    #: Whether every finding has a snippet, instead of only the first findings of each rule.
    every: bool = False
    #: The name that messages use for the source of ``shapes``.
    shapes_by: str = SHAPE_OPTION
    #: The custom operators of the configuration.
    operators: tuple[Declared, ...] = ()


#: A check without any option.
DEFAULT = Settings()


@record
class Outcome:
    """The result of the check of one file."""

    file: CheckedFile
    findings: tuple[Finding, ...] = ()
    #: Why the file could not be opened.
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

    ``jobs`` is the number of processes; None for an automatic number. ``executor`` is as in ``sharing.shared``.
    ``advance(number of files, name of the only file or "")`` returns a function. This function is called with the
    number of finished files. After Ctrl-C, ``interrupted(number of finished files, number of all files)`` is called,
    and the report is about the finished files. Without ``interrupted``, raises KeyboardInterrupt.

    Raises MissingPaths, OSError if a named file cannot be opened or too many files are open, and ValueError if a
    shape is for an input that no model has.
    """
    from irlint import __version__

    settings = settings or Settings(shapes or {})
    here, there = local_and_remote(paths)
    files: list[str | Located] = [*discovered(here, excluded, force_exclude)]
    files += remote_files(there, excluded, force_exclude)
    found = [
        outcome(_without_missing_weights(settings) if each.alone else settings, each.path, each.data)
        for each in in_memory
    ]
    only = files[0] if len(files) == 1 and isinstance(files[0], str) else ""
    report_progress = advance(len(files), only) if advance is not None and files else None
    try:
        for each in outcomes(files, settings, jobs, executor=executor):
            found.append(each)
            if report_progress is not None:
                report_progress(len(found) - len(in_memory))
    except KeyboardInterrupt:
        if interrupted is None or not found:
            raise
        interrupted(len(found), len(files) + len(in_memory))
    named = named_files(here)
    found = [with_opening_error(each, named, settings.policy) for each in found]
    if len(found) == len(files) + len(in_memory):
        require_inputs(settings, [each.file for each in found], {each.path: each.data for each in in_memory})
    found.sort(key=lambda each: each.file.path)
    findings = [finding for each in found for finding in each.findings]
    source = settings.policy.source if settings.policy is not None else ""
    checked_files = tuple(each.file for each in found)
    return Report(checked_files, tuple(findings), __version__, _text, source, settings.targets)


def local_and_remote(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """(local paths among ``paths``, URLs among ``paths``)."""
    named = [path.partition("://")[2] if path.startswith(LOCAL) else path for path in paths]
    return [path for path in named if not is_url(path)], [path for path in named if is_url(path)]


def remote_files(urls: Sequence[str], excluded: Excluded | None, force_exclude: bool) -> Iterator[Located]:
    """The models behind URLs. Raises MissingPaths, and ValueError if a store is missing or cannot list its files."""
    if not urls:
        return iter(())
    from irlint.run.remote import located_files

    return located_files(urls, excluded or Excluded(), force_exclude)


def named_files(paths: Sequence[str]) -> frozenset[str]:
    """The real paths of the named files, without folders."""
    return frozenset(os.path.realpath(path) for path in paths if not os.path.isdir(path))


def _text(report: Report, **settings: Any) -> str:
    from irlint.reporters.text import rendered

    return rendered(report.folded(), **settings)


def _without_missing_weights(settings: Settings) -> Settings:
    """The settings for a model in an unknown folder. They ignore the rule about missing weights."""
    from irlint.checks.constants import WEIGHTS_MISSING
    from irlint.policy.suppressions import Policy, Selection

    policy = settings.policy or Policy()
    selections = (*policy.selections, Selection(ignore=frozenset([WEIGHTS_MISSING.code])))
    return replaced(settings, policy=replaced(policy, selections=selections))


#: If the number of processes is automatic, other processes start only after this many seconds.
ALONE_SECONDS = 1.0


def outcomes(
    files: Iterable[str | Located],
    settings: Settings,
    jobs: int | None,
    *,
    ordered: bool = False,
    executor: str = PROCESSES,
) -> Iterator[Outcome]:
    """The outcome of each file, checked in this process or by ``sharing.shared``.

    ``jobs`` is the number of processes; None for an automatic number. ``ordered`` and ``executor`` are as in
    ``sharing.shared``. Raises ValueError if the executor is not available.
    """
    processes = _processors() if jobs is None else jobs
    alone_until = monotonic() + ALONE_SECONDS
    rest = iter(files)
    for file in rest:
        if executor != PROCESSES:
            break
        if processes > 1 and (jobs is not None or monotonic() > alone_until or not isinstance(file, str)):
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
    """The outcome of one file. If the check crashes or takes too long, the outcome has a finding about that."""
    if not isinstance(path, str):
        from irlint.run.remote import outcome_of

        return outcome_of(replaced(settings, cache=""), path)
    if settings.cache and data is None and not is_configuration(path):
        from irlint.run.cache import cached_outcome

        found = cached_outcome(settings, path)
        return _stamped(found, path) if settings.stamped and found.error is None else found
    if settings.timeout is None:
        return _outcome(settings, path, data)
    from irlint.run.deadline import TimedOut, time_limit

    try:
        with time_limit(settings.timeout):
            return _outcome(settings, path, data)
    except TimedOut:
        return timed_out(settings.timeout, path)


def _outcome(settings: Settings, path: str, data: bytes | None) -> Outcome:
    opening.exhausted = None
    try:
        if is_configuration(path):
            from irlint.run import configurations

            return Outcome(*configurations.inspected(path, data, settings))
        entry = skipped(path, data, settings.skip_pointers, settings.skip_non_models)
        found = Outcome(entry) if entry is not None else _inspected(settings, path, data)
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
    from irlint import parsers

    form = parsers.kind(path, parsers.first_bytes(path) if data is None else data[: parsers.HEAD])
    reason = f"not checked: it needs the package {package}, which is not installed"
    return Outcome(CheckedFile(path.replace(os.sep, "/"), form, status="skipped", reason=reason, lacking=package))


def _crashed_by(path: str, error: Exception) -> Outcome:
    from irlint.run.failures import described

    return _crashed(path, described(error))


def _stamped(found: Outcome, path: str) -> Outcome:
    status = os.stat(path)
    return replaced(found, file=replaced(found.file, size=status.st_size, stamp=str(status.st_mtime_ns)))


def _inspected(settings: Settings, path: str, data: bytes | None) -> Outcome:
    from irlint.run.one_file import inspected

    try:
        return Outcome(*inspected(path, data, settings))
    except OSError:
        raise
    except Exception as error:
        from irlint.run.failures import crash, described

        file, findings = inspected(path, data, replaced(settings, explained=False))
        message = f"the search for causes and fixes failed: {described(error)}; the other findings are complete"
        return Outcome(file, (crash(path, message), *findings))


def given_shapes(settings: Settings, path: str) -> tuple[dict[str, Shape], dict[str, str]]:
    """(shapes that the settings state for inputs of a file, source of each shape except those by ``--shape``).

    A later entry of the configuration overrides an earlier entry. ``settings.shapes`` overrides all entries.
    """
    shapes: dict[str, Shape] = {}
    sources: dict[str, str] = {}
    for entry in settings.models.of(path) if settings.models else ():
        shapes |= entry.shapes
        sources |= dict.fromkeys(entry.shapes, entry.place)
    sources = {name: source for name, source in sources.items() if name not in settings.shapes}
    if settings.shapes_by != SHAPE_OPTION:
        sources |= dict.fromkeys(settings.shapes, settings.shapes_by)
    return {**shapes, **settings.shapes}, sources


def budgets(settings: Settings, path: str) -> tuple[Budget, ...]:
    """The limits on the cost of a file. If several entries set the same limit, the last one counts."""
    entries = settings.models.of(path) if settings.models else ()
    return tuple({each.name: each for entry in entries for each in entry.budgets}.values())


def require_inputs(settings: Settings, files: Iterable[CheckedFile], in_memory: Mapping[str, bytes | None]) -> None:
    """Raises ValueError if the settings state a shape for an input that no checked model has.

    A shape in a ``[[models]]`` entry applies only to models that match the entry. ``in_memory`` has the bytes of models
    in memory, by path.
    """
    if not settings.shapes and not settings.models:
        return
    readable = [file for file in files if file.status == "checked"]
    for name in settings.shapes:
        _require([name], readable, f"{settings.shapes_by} {name}".replace("= ", "="), in_memory)
    if not settings.models:
        return
    files_of_entry: dict[int, list[CheckedFile]] = {}
    for file in readable:
        for at in settings.models.fitting(file.path):
            files_of_entry.setdefault(at, []).append(file)
    for at, entry in enumerate(settings.models.entries):
        _require(entry.shapes, files_of_entry.get(at, ()), entry.place, in_memory)


def _require(
    names: Iterable[str], files: Sequence[CheckedFile], source: str, in_memory: Mapping[str, bytes | None]
) -> None:
    missing = frozenset.intersection(*(frozenset(file.missing) for file in files)) if files else frozenset()
    for name in names:
        if name in missing:
            raise ValueError(f"{source}: no input named {name}{_inputs(files[0].path, in_memory)}")


def _inputs(path: str, in_memory: Mapping[str, bytes | None]) -> str:
    """The inputs of a model as the end of a message; "" for an unreadable model."""
    from irlint import parsers
    from irlint.inference.inputs import listed_inputs

    try:
        model = parsers.read(path, in_memory.get(path))
    except OSError:
        return ""
    return f"; the inputs of {path} are {listed_inputs(model)}" if model.graph is not None else ""


def with_opening_error(found: Outcome, named: Collection[str], policy: Policy | None) -> Outcome:
    """The outcome ``found``. If it has an ``error``, a finding replaces the error.

    Raises the error instead if the file is in ``named``, or if too many files are open.
    """
    error, path = found.error, found.file.path
    if error is None:
        return found
    if error.errno in NO_HANDLES or (os.path.realpath(path) in named and not is_url(path)):
        raise error
    from irlint.parsers.faults import UNREADABLE_FILE

    message = f"{_what_is_at(path)} cannot be opened: {_lowered(error.strerror or str(error))}"
    other = error.filename is not None and os.fspath(error.filename) != path
    outcome = _unchecked(path, UNREADABLE_FILE, f"{message} ({os.fspath(error.filename)})" if other else message)
    return Outcome(*with_policy(policy, path, outcome.file, outcome.findings))


def with_policy(
    policy: Policy | None, path: str, file: CheckedFile, findings: tuple[Finding, ...]
) -> tuple[CheckedFile, tuple[Finding, ...]]:
    """(entry of a file with the counts of unreported findings, reported findings)."""
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


def _lowered(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def died(path: str | Located, ending: str) -> Outcome:
    """The outcome of a file whose process crashed. ``ending`` is a phrase such as "ended with status 1"."""
    return _crashed(str(path), f"the process that checked it {ending}")


def timed_out(seconds: float, path: str | Located) -> Outcome:
    """The outcome of a file whose check took too long."""
    from irlint.parsers.faults import CHECK_TIMED_OUT

    message = f"the check of this file was stopped after {seconds:g} seconds (--timeout) and has no result"
    return _unchecked(str(path), CHECK_TIMED_OUT, message, CHECK_TIMED_OUT.advice)


def _crashed(path: str, reason: str) -> Outcome:
    from irlint.run.failures import crash

    found = crash(path, f"the check of this file failed: {reason}")
    return Outcome(CheckedFile(found.path, None, status="unreadable"), (found,))


def _unchecked(path: str, rule: Rule, message: str, advice: str = "") -> Outcome:
    """The outcome of a file that could not be checked. It has one finding, of ``rule``."""
    from irlint.run.failures import about_file

    found = about_file(path, rule, message, advice)
    return Outcome(CheckedFile(found.path, None, status="unreadable"), (found,))
