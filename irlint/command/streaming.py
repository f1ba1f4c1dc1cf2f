"""A check that writes the findings of each file at once and keeps none in memory. With ``--resume`` it writes a
journal, and continues the interrupted run that the journal records."""

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

#: The options whose values change the findings. A journal is continued only with the same values.
DECISIVE = ("select", "ignore", "extend_select", "severity", "shape", "target", "weights", "no_ignores")

#: The limit of two things that are kept in memory: skipped files, for the message of a run that checks nothing, and
#: printed notices, so that a notice is not printed twice.
KEPT = 1000

Advance = Callable[[int | None, str], Callable[[int], None]]


def wanted(options: Mapping[str, Any]) -> bool:
    """Whether the options need no complete report, so that a check can write the results file by file."""
    if options["resume"]:
        return True
    complete = options["output"] or options["update_baseline"] or options["stdin_filename"] is not None
    return FORMS[options["format"]].streamed and not complete


def check(
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    excluded: Excluded,
    advance: Advance | None,
) -> NoReturn:
    """Checks the models that ``paths`` name, writes the findings of each, and ends with the exit status.

    ``advance`` starts a progress bar, as in ``files.checked``. Raises the errors of ``files.checked``.
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
    files = sink.missing(chain(local, remote))
    found = outcomes(files, chosen, options["jobs"], ordered=True, executor=options["executor"])
    named = named_files(here)
    keeps = policy is not None or bool(chosen.shapes) or bool(chosen.models)
    kept, skipped = _written(
        (with_opening_error(each, named, policy) for each in found), sink, options, keeps, progress
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
    """Writes the findings of each file, and calls ``progress`` with the number of files done.

    Returns two lists: all files if ``keeps``, else none; and the skipped files, of which those after the first KEPT are
    left out unless they were skipped because a package is missing.
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
            printed.update(outcome.file.notices if len(printed) < KEPT else ())
        if options["verbose"]:
            emit_stderr(f"irlint: {results.of_file(outcome.file, len(outcome.findings))}\n")
        if outcome.file.status == "skipped" and (len(skipped) < KEPT or outcome.file.lacking):
            skipped.append(outcome.file)
        if progress is not None:
            progress(sink.unchanged + number)
    return kept, skipped


def _refuse_contradictions(options: Mapping[str, Any]) -> None:
    """Ends the run if an option contradicts ``--resume``."""
    if not options["resume"]:
        return
    for name in ("output", "update_baseline"):
        if options[name]:
            fail(f"--resume collects no report for --{name.replace('_', '-')}", "help: remove one of them")
    if options["stdin_filename"] is not None:
        fail("--resume needs models in files, and - is none")


def _digest(options: Mapping[str, Any], config: Config | None) -> str:
    """A hash of what can change the findings: the DECISIVE options, the configuration file and the baseline file."""
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
    """Writes what follows the findings: with ``--resume`` a summary, and always the notices and the statistics."""
    text = statistics.rendered(tally) if options["statistics"] else ""
    if options["resume"]:
        emit(("" if options["quiet"] else statistics.headline(tally, config.file if config is not None else "")) + text)
        text = ""
        if options["format"] not in ("text", "jsonl"):
            file = options["resume"]
            notify(f"note: with --resume, irlint prints only a summary in text; {file} has the findings, in JSON Lines")
    report = Report(tuple(kept), (), __version__)
    # A journal does not record which suppressions were used by earlier runs, so unused suppressions are not reported.
    reviewed = policy if not options["resume"] else None
    notices = results.notices(paths, options, config, reviewed, report, excluded)
    results.log(report, {**options, "verbose": False}, config, notices, text)


class _Output:
    """Writes the lines of each file to standard output, as JSON Lines."""

    #: The number of files that need no check.
    unchanged = 0

    def __init__(self, header: str) -> None:
        self.header = header
        self.tally = Tally()

    def missing(self, files: Iterable[str | Located]) -> Iterable[str | Located]:
        """The files to check: all of them."""
        return files

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file, after the header if it is the first."""
        self.tally.add(entry_of(outcome.file), [each.as_dict() for each in outcome.findings])
        emit(self.header + jsonl.of_file(outcome.file, outcome.findings), "utf-8", "json")
        self.header = ""

    def closed(self) -> Tally:
        """Writes the last line, if there is any, and returns the counts."""
        if self.tally.files:
            emit(jsonl.end(self.tally.summary()), "utf-8", "json")
        return self.tally


class _Journal:
    """Writes the lines of each file to a journal, unless it already has the lines of the file in its current state.

    Attributes:
        other_header: Whether the header that was read differs from ``header``.
        blocks: The number of files in the journal when it was opened.
        new: The position at which this run began to write.
        unchanged: The number of files that need no check, because the journal has them in their current state.
        known: The keys of the files in the journal when it was opened.
        current: The keys of the unchanged files.
    """

    def __init__(self, file: str, header: str) -> None:
        self.file = file
        self.header = header
        self.other_header = False
        self.blocks = self.new = self.unchanged = 0
        self.known: set[int] = set()
        self.current: set[int] = set()
        try:
            self.stream: BinaryIO = open(file, "r+b" if os.path.exists(file) else "x+b")  # noqa: SIM115
            self._read()
        except journal.BrokenJournal as error:
            fail(f"--resume: {file} is no journal of a check: {error}", "help: name another file, or remove this one")
        except OSError as error:
            fail(f"--resume: cannot write {file}: {error.strerror}")

    def _read(self) -> None:
        """Reads the journal, removes an incomplete end, and writes the header if the file is empty."""
        end = 0
        if self.stream.seek(0, os.SEEK_END):
            self.stream.seek(0)
            _refuse_other_run(self.file, journal.header(self.stream), self.header)
            end = self.stream.tell()
            self.stream.seek(0)
            self.other_header = self.stream.read(end) != self.header.encode("utf-8", "surrogatepass")
            for block in journal.blocks(self.stream):
                self.blocks += 1
                if block.key is not None:
                    self.known.add(block.key)
                end = block.end
        self.new = end
        self.stream.seek(end)
        self.stream.truncate()
        if not end:
            self._write(self.header)

    def missing(self, files: Iterable[str | Located]) -> Iterator[str | Located]:
        """The files to check: those that the journal does not have in their current state. Counts the others."""
        for file in files:
            key = _key(file)
            if key is not None and key in self.known:
                self.current.add(key)
                self.unchanged += 1
            else:
                yield file

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file. One that lacks a package is left out, so that the next run checks it."""
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
        """Removes the lines of changed files and of files that this run did not find, and writes the last line. Returns
        the counts of the whole journal."""
        if self.unchanged < self.blocks or self.other_header:
            self._compact()
        self.stream.close()
        tally, _ = journal.tally(self.file)
        with open(self.file, "ab") as self.stream:
            self._write(jsonl.end(tally.summary()))
        return tally

    def _compact(self) -> None:
        """Replaces the journal by one with the header of this run and only the lines to keep."""
        write_blocks(self.file, self._kept(), "--resume")
        self.stream.close()

    def _kept(self) -> Iterator[bytes]:
        """The header, the lines of unchanged files, and the lines that this run wrote."""
        self.stream.seek(0)
        journal.header(self.stream)
        yield self.header.encode("utf-8", "surrogatepass")
        with open(self.file, "rb") as lines:
            for block in journal.blocks(self.stream):
                lines.seek(block.start)
                if block.start >= self.new or block.key in self.current:
                    yield lines.read(block.end - block.start)


def _refuse_other_run(file: str, found: Mapping[str, Any], header: str) -> None:
    """Ends the run if a journal's header ``found`` differs from ``header`` in the version or the options, or if the two
    have no path in common."""
    expected = json.loads(header)
    differing = [
        what
        for name, what in (("version", "version of irlint"), ("settings", "options"))
        if found.get(name) != expected[name]
    ]
    listed = found.get("paths")
    paths = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    if not set(paths) & set(expected["paths"]):
        differing.append("paths")
    if differing:
        recorded = f": {', '.join(paths) or 'none'} there" if differing == ["paths"] else ""
        text = f"--resume: {file} is of a run with other {' and '.join(differing)}{recorded}"
        fail(text, "help: remove it to begin anew, or name another file")


def _key(file: str | Located) -> int | None:
    """The journal's key of a file in its current state; None if its size is unknown."""
    if not isinstance(file, str):
        return None if file.size is None else journal.key(str(file), file.size, file.stamp)
    try:
        status = os.stat(file)
    except OSError:
        return None
    return journal.key(file.replace(os.sep, "/"), status.st_size, str(status.st_mtime_ns))
