"""The results of a check: the report in its formats, the baseline, notices, and the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.command.streams import emit, emit_stderr, encoding, fail, locked, notify, write
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.reporters.forms import FORMS, Form

if TYPE_CHECKING:
    from irlint.findings.faults import Severity
    from irlint.findings.report import CheckedFile, Report
    from irlint.policy.baseline import Entries
    from irlint.policy.configuration import Config
    from irlint.policy.globs import ByGlob
    from irlint.policy.suppressions import Policy
    from irlint.run.search import Excluded


#: A message about missing packages names at most this many files.
SHOWN = 4


def publish(report: Report, options: Mapping[str, Any], outputs: Sequence[tuple[Form, str]]) -> None:
    """Writes the report to standard output, to the files of ``--output``, and to the summary page of CI."""
    form = FORMS[options["format"]]
    emit(_rendered(report, form, options, to_stdout=True), "utf-8" if form.document else None, form.notation)
    if form.page:
        _append_page(report, form)
    for other, file in outputs:
        _make_folder(file)
        write(file, _rendered(report, other, options), "--output", other.notation)


def _make_folder(file: str) -> None:
    try:
        os.makedirs(os.path.dirname(os.path.abspath(file)), exist_ok=True)
    except OSError as error:
        fail(f"--output: cannot write {file}: {error.strerror}")
    except RecursionError:
        fail(f"--output: cannot write {file}: its folders are nested too deep")


def _rendered(report: Report, form: Form, options: Mapping[str, Any], to_stdout: bool = False) -> str:
    """The text of the report in a format, with colors and a width for standard output."""
    if form.document:
        return form.rendered(report, fail_on=options["fail_on"])
    if not report.findings:
        from irlint.reporters.plain import summary

        return "" if options["quiet"] else summary(report)
    from irlint.reporters import ansi

    shown = form.rendered(
        report,
        color=ansi.colored(options["color"], sys.stdout) if to_stdout else False,
        every=options["verbose"],
        quiet=options["quiet"],
        columns=ansi.terminal_width(sys.stdout) if to_stdout else None,
        encoding=encoding() if to_stdout else "utf-8",
    )
    return shown + (_statistics(report) if options["statistics"] else "")


def _statistics(report: Report) -> str:
    from irlint.findings import tally
    from irlint.reporters.statistics import rendered

    return rendered(tally.of(report))


def _append_page(report: Report, form: Form) -> None:
    """Appends the page of the format to the file in its environment variable, if there is one."""
    file = os.environ.get(form.page)
    if not file:
        return
    try:
        with open(file, "ab") as stream:
            stream.write(form.paged(report, stream.tell()).encode())
    except OSError as error:
        notify(f"warning: cannot write {form.page} {file}: {error.strerror}")


def without_renamed(report: Report, policy: Policy | None) -> tuple[Report, Policy | None, dict[str, str]]:
    """Applies the baseline to renamed files.

    Returns (report, policy, new names by old names).
    """
    if policy is None or not policy.baseline or not report.findings:
        return report, policy, {}
    from irlint.policy import baseline
    from irlint.records import replaced

    root = policy.baseline_root
    names = baseline.renamed(policy.baseline, report, root, policy.reports)
    if not names:
        return report, policy, {}
    entries = baseline.under_new_names(policy.baseline, names)
    return baseline.hidden(report, entries, root), replaced(policy, baseline=entries), names


def renames(names: Mapping[str, str], options: Mapping[str, Any]) -> Iterator[str]:
    """The notices about files in the baseline that were renamed."""
    advice = "" if options["update_baseline"] else "; --update-baseline writes the new name"
    yield from (f"{options['baseline']}: {old} was renamed to {new}{advice}" for old, new in names.items())


def with_new_baseline(
    report: Report, options: Mapping[str, Any], policy: Policy | None, names: Mapping[str, str]
) -> tuple[Report, str]:
    """Updates the baseline file. ``names`` are the new names of renamed files.

    Returns (report without the findings in the baseline, notice).
    """
    from irlint.policy import baseline

    assert policy is not None
    file, root = options["baseline"], policy.baseline_root
    with locked(file):
        change = baseline.updated(policy.baseline or {}, report, root, policy.reports, _current(file, names))
        write(file, baseline.text(change.entries), "--update-baseline")
    notice = f"wrote {file}: {change.added} added, {change.kept} kept, {change.removed} removed"
    return baseline.hidden(report, change.entries, root), notice


def _current(file: str, names: Mapping[str, str]) -> Entries | None:
    """The current entries of a baseline file, which another run may have changed; None if it is unreadable."""
    from irlint.policy import baseline

    try:
        return baseline.under_new_names(baseline.read(file), names)
    except (OSError, baseline.BrokenBaseline):
        return None


def notices(
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    report: Report,
    excluded: Excluded,
) -> Iterator[str]:
    """The notices of a run: about skipped files, about checked files, and about entries that hide nothing."""
    ignored = excluded.ignored_files
    yield from excluded.unfollowed_links()
    if excluded.unchanged:
        yield f"not checked: {counted(excluded.unchanged, 'model')} unchanged since {options['changed_since']}"
    if ignored:
        first = next(iter(ignored.values()))
        more = ", ..." if len(set(ignored.values())) > 1 else ""
        advice = "name a file to check it, or add --no-respect-gitignore"
        yield f"not checked: {counted(len(ignored), 'model')} that git ignores ({first}{more}); {advice}"
    yield from dict.fromkeys(notice for file in report.files for notice in file.notices)
    if policy is None:
        return
    if config is not None:
        from irlint.policy.suppressions import stale

        in_force = {id(entry) for entry in policy.suppress.entries}
        yield from (entry.expiry() for entry in config["suppress"] if id(entry) not in in_force)
        used = frozenset(at for file in report.files for at in file.used)
        files = [*(file.path for file in report.files if file.status != "skipped"), *ignored]
        partly = options["exclude"] or options["changed_since"]
        is_complete = not partly and any(_contains(path, config.root) for path in paths)
        yield from stale(policy.suppress, used, files, is_complete, policy)
        if is_complete:
            yield from unmatched(config.file_ignores, files, "per-file-ignores")
            yield from unmatched(config.models, files, "[[models]]")
    if policy.baseline and not options["update_baseline"]:
        from irlint.policy import baseline

        unused = baseline.stale(policy.baseline, report, policy.baseline_root, policy.reports)
        if unused:
            yield f"{options['baseline']}: {baseline.listed(unused)}; --update-baseline removes them"


def unmatched(entries: ByGlob[Any], files: Iterable[str], key: str) -> Iterator[str]:
    """A notice about each glob of the configuration key ``key`` that matches none of the files."""
    fitting = entries.fitting_any(files) if entries else ()
    for at, (glob, entry) in enumerate(zip(entries.globs, entries.entries)):
        if at not in fitting:
            yield f'{entry.place}: "{glob}" of {key} matches no checked file: correct it, or remove it'


def _contains(path: str, root: str) -> bool:
    inner, outer = (os.path.normcase(os.path.join(os.path.realpath(folder), "")) for folder in (root, path))
    return os.path.isdir(path) and inner.startswith(outer)


def log(
    report: Report, options: Mapping[str, Any], config: Config | None, notices: Iterable[str], counts: str = ""
) -> None:
    """Writes to standard error: with ``--verbose``, the checked files; then the statistics; then the notices.

    The statistics are written only if the format is a document. ``counts`` is their text, or "" to make it.
    """
    if options["verbose"]:
        emit_stderr("".join(f"irlint: {line}\n" for line in _verbose_lines(report, config)))
    if options["statistics"] and FORMS[options["format"]].document:
        emit_stderr(counts or _statistics(report))
    if not options["quiet"]:
        note(notices)


def note(notices: Iterable[str]) -> None:
    """Writes each notice as a line of standard error."""
    from irlint.reporters.plain import safe

    emit_stderr("".join(f"irlint: note: {safe(notice)}\n" for notice in notices))


def _verbose_lines(report: Report, config: Config | None) -> Iterator[str]:
    from irlint.reporters.plain import safe

    yield f"the configuration is {safe(config.file)}" if config is not None else "no configuration"
    counts: dict[str, int] = {}
    for finding in report.folded().findings:
        counts[finding.path] = counts.get(finding.path, 0) + 1
    for file in report.files:
        yield of_file(file, counts.get(file.path, 0))


def of_file(file: CheckedFile, findings: int) -> str:
    """The result of a file in one line."""
    from irlint.reporters.plain import safe

    result = file.reason or f"{counted(file.nodes, 'node')}, {counted(findings, 'finding')}"
    return f"{safe(file.path)}: {file.status}, {result}"


def finish(report: Report, fail_on: str) -> NoReturn:
    """Ends the run with the exit status that its findings decide, or with 2 if a package is missing."""
    refuse_lacking(report.files)
    severities = (finding.severity for finding in report.findings)
    end(max(severities, key=lambda severity: severity.rank, default=None), fail_on)


def refuse_lacking(files: Iterable[CheckedFile]) -> None:
    """Ends the run with status 2 if a file was not checked because a package is missing."""
    lacking = [file for file in files if file.lacking]
    if lacking:
        names = sorted({file.lacking for file in lacking})
        lines = [f"{file.path}: {file.reason}" for file in lacking[:SHOWN]]
        fail(f"{counted(len(lacking), 'model')} not checked", *lines, f"help: pip install {' '.join(names)}")


def end(worst: Severity | None, fail_on: str) -> NoReturn:
    """Ends the run with status 1 if the worst severity is at least ``fail_on``, else with 0.

    ``worst`` is None without findings. ``fail_on`` may be "never".
    """
    if fail_on == "never" or worst is None:
        raise SystemExit(0)
    from irlint.findings.faults import Severity

    raise SystemExit(int(worst.rank >= Severity(fail_on).rank))
