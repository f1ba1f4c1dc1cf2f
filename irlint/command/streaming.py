"""A check that writes the findings of each file at once.

With ``--resume``, it writes a journal, and continues the interrupted run in the journal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from irlint import __version__
from irlint.command import results, settings
from irlint.command.streams import emit, emit_stderr, fail, notify, write_blocks
from irlint.findings.report import CheckedFile, Report
from irlint.findings.tally import Tally, entry_of
from irlint.lazy_typing import TYPE_CHECKING, Any, BinaryIO, NoReturn
from irlint.parsers.opening import is_url
from irlint.parsers.remote.locations import Located, shown
from irlint.records import replaced
from irlint.reporters import jsonl, statistics
from irlint.reporters.forms import FORMS
from irlint.run import journal
from irlint.run.files import (
    Outcome,
    local_and_remote,
    named_files,
    outcomes,
    remote_files,
    require_inputs,
    with_opening_error,
)
from irlint.run.search import Excluded, discovered

if TYPE_CHECKING:
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy

#: The options whose values change the findings. A journal is continued only with equal values.
DECISIVE = ("select", "ignore", "extend_select", "severity", "shape", "target", "weights", "no_ignores")

#: At most this many skipped files, and about as many printed notices, are kept in memory.
MOST_KEPT = 1000

Advance = Callable[[int | None, str], Callable[[int], None]]


def wanted(options: Mapping[str, Any]) -> bool:
    """Whether a check can write its results file by file."""
    if options["resume"]:
        return True
    needs_report = options["output"] or options["update_baseline"] or options["stdin_filename"] is not None
    return FORMS[options["format"]].streamed and not needs_report


def check(
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    excluded: Excluded,
    advance: Advance | None,
) -> NoReturn:
    """Checks the models that ``paths`` name, and ends with the exit status.

    ``advance`` starts a progress bar. Raises the errors of ``files.checked``.
    """
    _refuse_contradictions(options)
    chosen = replaced(settings.of_files(options, config, policy, [FORMS["jsonl"]]), stamped=True)
    names = [shown(path) if is_url(path) else path for path in paths]
    header = jsonl.run(__version__, paths=names, settings=_digest(options, config))
    sink = _Journal(options["resume"], header) if options["resume"] else _Output(header)
    here, urls = local_and_remote(paths)
    local = discovered(here, excluded, options["force_exclude"])
    remote = remote_files(urls, excluded, options["force_exclude"])
    only = local[0] if len(local) == 1 and not urls else ""
    progress = advance(None if urls else len(local), only) if advance is not None and (urls or local) else None
    files = sink.unchecked(chain(local, remote))
    found = outcomes(files, chosen, options["jobs"], ordered=True, executor=options["executor"])
    named = named_files(here)
    keeps = policy is not None or bool(chosen.shapes) or bool(chosen.models)
    kept, skipped = _written(
        (with_opening_error(outcome, named, policy) for outcome in found), sink, options, keeps, progress
    )
    tally = sink.closed()
    if tally.files == tally.skipped and not (options["allow_empty"] or excluded.unchanged):
        from irlint.command.empty import fail_empty

        fail_empty(paths, skipped, options, config, excluded)
    require_inputs(chosen, kept, {})
    _finish(tally, paths, options, config, policy, kept, excluded)
    results.refuse_lacking(skipped)
    results.end(tally.worst, options["fail_on"])


def _written(
    found: Iterable[Outcome],
    sink: _Output | _Journal,
    options: Mapping[str, Any],
    keeps: bool,
    progress: Callable[[int], None] | None,
) -> tuple[list[CheckedFile], list[CheckedFile]]:
    """Writes the findings of each file, and calls ``progress`` with the number of files.

    Returns (all files if ``keeps``, else none; skipped files). After the first MOST_KEPT skipped files, only files that
    need a missing package are added.
    """
    kept: list[CheckedFile] = []
    skipped: list[CheckedFile] = []
    printed: set[str] = set()
    for number, outcome in enumerate(found, 1):
        sink.add(outcome)
        if keeps:
            kept.append(outcome.file)
        elif outcome.file.notices and not options["quiet"]:
            results.note(notice for notice in outcome.file.notices if notice not in printed)
            printed.update(outcome.file.notices if len(printed) < MOST_KEPT else ())
        if options["verbose"]:
            emit_stderr(f"irlint: {results.of_file(outcome.file, len(outcome.findings))}\n")
        if outcome.file.status == "skipped" and (len(skipped) < MOST_KEPT or outcome.file.lacking):
            skipped.append(outcome.file)
        if progress is not None:
            progress(sink.unchanged + number)
    return kept, skipped


def _refuse_contradictions(options: Mapping[str, Any]) -> None:
    if not options["resume"]:
        return
    for name in ("output", "update_baseline"):
        if options[name]:
            fail(f"--resume collects no report for --{name.replace('_', '-')}", "help: remove one of them")
    if options["stdin_filename"] is not None:
        fail("--resume does not check the model on standard input")


def _digest(options: Mapping[str, Any], config: Config | None) -> str:
    from hashlib import sha256

    found = sha256(repr([options[name] for name in DECISIVE]).encode("utf-8", "backslashreplace"))
    for file in (config.file if config is not None else None, options["baseline"]):
        if file and os.path.isfile(file):
            with open(file, "rb") as stream:
                found.update(b"\0" + stream.read())
    return found.hexdigest()[:16]


def _finish(
    tally: Tally,
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    kept: Sequence[CheckedFile],
    excluded: Excluded,
) -> None:
    """Writes the summary of ``--resume``, the notices and the statistics."""
    text = statistics.rendered(tally) if options["statistics"] else ""
    if options["resume"]:
        emit(("" if options["quiet"] else statistics.headline(tally, config.file if config is not None else "")) + text)
        text = ""
        if options["format"] not in ("text", "jsonl"):
            file = options["resume"]
            notify(f"note: with --resume, irlint prints only a summary in text; {file} has the findings, in JSON Lines")
    report = Report(tuple(kept), (), __version__)
    # A journal does not record which suppressions earlier runs used, so unused suppressions cannot be reported.
    reviewed = policy if not options["resume"] else None
    notices = results.notices(paths, options, config, reviewed, report, excluded)
    results.log(report, {**options, "verbose": False}, config, notices, text)


class _Output:
    """Writes JSON Lines to standard output."""

    unchanged = 0

    def __init__(self, header: str) -> None:
        self.header = header
        self.tally = Tally()

    def unchecked(self, files: Iterable[str | Located]) -> Iterable[str | Located]:
        """The files to check: all files."""
        return files

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file. Before the first file, writes the header."""
        self.tally.add(entry_of(outcome.file), [finding.as_dict() for finding in outcome.findings])
        emit(self.header + jsonl.of_file(outcome.file, outcome.findings), "utf-8", "json")
        self.header = ""

    def closed(self) -> Tally:
        """Writes the last line if a file was checked, and returns the counts."""
        if self.tally.files:
            emit(jsonl.end(self.tally.summary()), "utf-8", "json")
        return self.tally


class _Journal:
    """Writes JSON Lines to a journal. Skips each file that the journal already has in its current state."""

    def __init__(self, file: str, header: str) -> None:
        self.file = file
        self.header = header
        self.has_other_header = False
        #: The number of files in the journal when it was opened.
        self.blocks = 0
        #: The position at which this run begins to write.
        self.start = 0
        #: The number of files that need no check.
        self.unchanged = 0
        #: The keys of the files in the journal when it was opened.
        self.known: set[int] = set()
        #: The keys of the unchanged files.
        self.current: set[int] = set()
        try:
            self.stream: BinaryIO = open(file, "r+b" if os.path.exists(file) else "x+b")  # noqa: SIM115
            self._read()
        except journal.BrokenJournal as error:
            fail(f"--resume: {file} is no journal of a check: {error}", "help: name another file, or remove this one")
        except OSError as error:
            fail(f"--resume: cannot write {file}: {error.strerror}")

    def _read(self) -> None:
        """Reads the journal, removes an incomplete end, and writes the header of a new file."""
        end = 0
        if self.stream.seek(0, os.SEEK_END):
            self.stream.seek(0)
            _refuse_other_run(self.file, journal.header(self.stream), self.header)
            end = self.stream.tell()
            self.stream.seek(0)
            self.has_other_header = self.stream.read(end) != self.header.encode("utf-8", "surrogatepass")
            for block in journal.blocks(self.stream):
                self.blocks += 1
                if block.key is not None:
                    self.known.add(block.key)
                end = block.end
        self.start = end
        self.stream.seek(end)
        self.stream.truncate()
        if not end:
            self._write(self.header)

    def unchecked(self, files: Iterable[str | Located]) -> Iterator[str | Located]:
        """The files that the journal does not have in their current state. Counts the other files."""
        for file in files:
            key = _key(file)
            if key is not None and key in self.known:
                self.current.add(key)
                self.unchanged += 1
            else:
                yield file

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file. Omits a file that needs a missing package, so that the next run checks it."""
        if outcome.file.lacking:
            return
        self._write(jsonl.of_file(outcome.file, outcome.findings))

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text.encode("utf-8", "surrogatepass"))
            self.stream.flush()
        except OSError as error:
            fail(f"--resume: cannot write {self.file}: {error.strerror}")

    def closed(self) -> Tally:
        """Removes the lines of changed files and of files that this run did not find.

        Writes the last line, and returns the counts of the complete journal.
        """
        if self.unchanged < self.blocks or self.has_other_header:
            self._compact()
        self.stream.close()
        tally, _ = journal.tally(self.file)
        with open(self.file, "ab") as self.stream:
            self._write(jsonl.end(tally.summary()))
        return tally

    def _compact(self) -> None:
        write_blocks(self.file, self._header_and_kept_blocks(), "--resume")
        self.stream.close()

    def _header_and_kept_blocks(self) -> Iterator[bytes]:
        self.stream.seek(0)
        journal.header(self.stream)
        yield self.header.encode("utf-8", "surrogatepass")
        with open(self.file, "rb") as lines:
            for block in journal.blocks(self.stream):
                lines.seek(block.start)
                if block.start >= self.start or block.key in self.current:
                    yield lines.read(block.end - block.start)


def _refuse_other_run(file: str, found: Mapping[str, Any], header: str) -> None:
    """Ends the run if a journal is of another version, other options or other paths."""
    expected = json.loads(header)
    differing = [
        what
        for name, what in (("version", "version of irlint"), ("settings", "options"))
        if found.get(name) != expected[name]
    ]
    listed = found.get("paths")
    paths = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    if not set(paths) & set(expected["paths"]):
        differing.append("paths")
    if differing:
        recorded = f": {', '.join(paths) or 'none'} there" if differing == ["paths"] else ""
        text = f"--resume: {file} records a run with other {' and '.join(differing)}{recorded}"
        fail(text, "help: remove the file to begin a new run, or name another file")


def _key(file: str | Located) -> int | None:
    """The journal's key of a file in its current state; None if its size is unknown."""
    if not isinstance(file, str):
        return None if file.size is None else journal.key(str(file), file.size, file.stamp)
    try:
        status = os.stat(file)
    except OSError:
        return None
    return journal.key(file.replace(os.sep, "/"), status.st_size, str(status.st_mtime_ns))
