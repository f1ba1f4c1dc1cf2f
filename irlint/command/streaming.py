"""A check that writes the findings of each file at once and keeps none. It can continue an interrupted run."""

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
from irlint.run.files import Outcome, local_and_remote, named_files, opened, outcomes, remote_files, require_inputs
from irlint.run.search import Excluded, discovered

if TYPE_CHECKING:
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy

#: The options that change the findings.
DECISIVE = ("select", "ignore", "extend_select", "severity", "shape", "target", "weights", "no_ignores")

#: The most skipped files that are kept for the message of an empty run, and about the most notices that are kept to
#: print equal ones only once.
PASSED = 1000

Advance = Callable[[int | None, str], Callable[[int], None]]


def wanted(options: Mapping[str, Any]) -> bool:
    """Whether a check can write all results file by file, without a complete report."""
    if options["resume"]:
        return True
    kept = options["output"] or options["update_baseline"] or options["stdin_filename"] is not None
    return FORMS[options["format"]].streamed and not kept


def check(
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    excluded: Excluded,
    advance: Advance | None,
) -> NoReturn:
    """Checks the models among ``paths``, writes the findings of each, and ends with the exit status.

    Raises the errors of ``files.checked``.
    """
    _judge(options)
    chosen = replaced(settings.of_files(options, config, policy, [FORMS["jsonl"]]), stamped=True)
    names = [shown(path) if is_url(path) else path for path in paths]
    head = jsonl.run(__version__, paths=names, settings=_digest(options, config))
    sink = _Resumed(options["resume"], head) if options["resume"] else _Streamed(head)
    here, there = local_and_remote(paths)
    local = discovered(here, excluded, options["force_exclude"])
    remote = remote_files(there, excluded, options["force_exclude"])
    only = local[0] if len(local) == 1 and not there else ""
    heard = advance(None if there else len(local), only) if advance is not None and (there or local) else None
    files = sink.missing(chain(local, remote))
    found = outcomes(files, chosen, options["jobs"], ordered=True, executor=options["executor"])
    named = named_files(here)
    keeps = policy is not None or bool(chosen.shapes) or bool(chosen.models)
    kept, passed = _written((opened(each, named, policy) for each in found), sink, options, keeps, heard)
    tally = sink.closed()
    if tally.files == tally.skipped and not (options["allow_empty"] or excluded.unchanged):
        from irlint.command.empty import fail_empty

        fail_empty(paths, passed, options, config, excluded)
    require_inputs(chosen, kept, {})
    _finish(tally, paths, options, config, policy, kept, excluded)
    results.refuse_lacking(passed)
    results.end(tally.worst, options["fail_on"])


def _written(
    found: Iterable[Outcome],
    sink: _Streamed | _Resumed,
    options: Mapping[str, Any],
    keeps: bool,
    heard: Callable[[int], None] | None,
) -> tuple[list[CheckedFile], list[CheckedFile]]:
    """Writes the findings of each file.

    Returns the entries of all files, [] unless ``keeps``, and the entries of skipped files: PASSED at most, and all
    that lack a package.
    """
    kept: list[CheckedFile] = []
    passed: list[CheckedFile] = []
    seen: set[str] = set()
    for number, outcome in enumerate(found, 1):
        sink.add(outcome)
        if keeps:
            kept.append(outcome.file)
        elif outcome.file.notices and not options["quiet"]:
            results.note(notice for notice in outcome.file.notices if notice not in seen)
            seen.update(outcome.file.notices if len(seen) < PASSED else ())
        if options["verbose"]:
            emit_stderr(f"irlint: {results.of_file(outcome.file, len(outcome.findings))}\n")
        if outcome.file.status == "skipped" and (len(passed) < PASSED or outcome.file.lacking):
            passed.append(outcome.file)
        if heard is not None:
            heard(sink.before + number)
    return kept, passed


def _judge(options: Mapping[str, Any]) -> None:
    if not options["resume"]:
        return
    for name in ("output", "update_baseline"):
        if options[name]:
            fail(f"--resume keeps no report for --{name.replace('_', '-')}", "help: remove one of them")
    if options["stdin_filename"] is not None:
        fail("--resume is for models in files, and - is none")


def _digest(options: Mapping[str, Any], config: Config | None) -> str:
    """A text that differs if the options or the configuration change the findings."""
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
    text = statistics.rendered(tally) if options["statistics"] else ""
    if options["resume"]:
        emit(("" if options["quiet"] else statistics.headline(tally, config.file if config is not None else "")) + text)
        text = ""
        if options["format"] not in ("text", "jsonl"):
            file = options["resume"]
            notify(f"note: with --resume, irlint prints only a summary in text; {file} has the findings, in JSON Lines")
    report = Report(tuple(kept), (), __version__)
    # A journal does not record which suppressions the earlier runs used.
    whole = policy if not options["resume"] else None
    notices = results.notices(paths, options, config, whole, report, excluded)
    results.account(report, {**options, "verbose": False}, config, notices, text)


class _Streamed:
    """Writes the lines of each file to standard output."""

    before = 0

    def __init__(self, head: str) -> None:
        self.head = head
        self.tally = Tally()

    def missing(self, files: Iterable[str | Located]) -> Iterable[str | Located]:
        """The files to check: all of them."""
        return files

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file."""
        self.tally.add(entry_of(outcome.file), [each.as_dict() for each in outcome.findings])
        emit(self.head + jsonl.of_file(outcome.file, outcome.findings), "utf-8", "json")
        self.head = ""

    def closed(self) -> Tally:
        """Writes the last line and returns the counts."""
        if self.tally.files:
            emit(jsonl.end(self.tally.summary()), "utf-8", "json")
        return self.tally


class _Resumed:
    """Writes the lines of each file to a journal, unless the journal has the file in its current state."""

    def __init__(self, file: str, head: str) -> None:
        self.file = file
        self.head = head
        self.other_head = False
        #: The number of its files, the position of the first new line, and the number of unchanged files.
        self.blocks = self.begun = self.before = 0
        #: The keys of its files, and of those that are unchanged.
        self.known: set[int] = set()
        self.current: set[int] = set()
        try:
            self.stream: BinaryIO = open(file, "r+b" if os.path.exists(file) else "x+b")  # noqa: SIM115
            self._begin(head)
        except journal.BrokenJournal as error:
            fail(f"--resume: {file} is no journal of a check: {error}", "help: remove it, or give another file")
        except OSError as error:
            fail(f"--resume: cannot write {file}: {error.strerror}")

    def _begin(self, head: str) -> None:
        end = 0
        if self.stream.seek(0, os.SEEK_END):
            self.stream.seek(0)
            _judge_header(self.file, journal.header(self.stream), head)
            end = self.stream.tell()
            self.stream.seek(0)
            self.other_head = self.stream.read(end) != head.encode("utf-8", "surrogatepass")
            for block in journal.blocks(self.stream):
                self.blocks += 1
                if block.key is not None:
                    self.known.add(block.key)
                end = block.end
        self.begun = end
        self.stream.seek(end)
        self.stream.truncate()
        if not end:
            self._write(head)

    def missing(self, files: Iterable[str | Located]) -> Iterator[str | Located]:
        """The files to check: those that the journal does not have in their current state."""
        for file in files:
            key = _key(file)
            if key is not None and key in self.known:
                self.current.add(key)
                self.before += 1
            else:
                yield file

    def add(self, outcome: Outcome) -> None:
        """Writes the findings of a file. A file that lacks a package is omitted, so that the next run checks it."""
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
        """Removes the entries of deleted and changed files and writes the last line; returns the counts."""
        if self.before < self.blocks or self.other_head:
            self._compact()
        self.stream.close()
        tally, _ = journal.tally(self.file)
        with open(self.file, "ab") as self.stream:
            self._write(jsonl.end(tally.summary()))
        return tally

    def _compact(self) -> None:
        """Replaces the journal by one without the entries of deleted and changed files."""
        write_blocks(self.file, self._kept(), "--resume")
        self.stream.close()

    def _kept(self) -> Iterator[bytes]:
        self.stream.seek(0)
        journal.header(self.stream)
        yield self.head.encode("utf-8", "surrogatepass")
        with open(self.file, "rb") as lines:
            for block in journal.blocks(self.stream):
                lines.seek(block.start)
                if block.start >= self.begun or block.key in self.current:
                    yield lines.read(block.end - block.start)


def _judge_header(file: str, found: Mapping[str, Any], head: str) -> None:
    """Ends the run if a journal is of another version, other options, or only other paths."""
    own = json.loads(head)
    differing = [
        what
        for name, what in (("version", "version of irlint"), ("settings", "options"))
        if found.get(name) != own[name]
    ]
    listed = found.get("paths")
    paths = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    if not set(paths) & set(own["paths"]):
        differing.append("paths")
    if differing:
        there = f": {', '.join(paths) or 'none'} there" if differing == ["paths"] else ""
        text = f"--resume: {file} is of a run with other {' and '.join(differing)}{there}"
        fail(text, "help: remove it to begin anew, or give another file")


def _key(file: str | Located) -> int | None:
    if not isinstance(file, str):
        return None if file.size is None else journal.key(str(file), file.size, file.stamp)
    try:
        status = os.stat(file)
    except OSError:
        return None
    return journal.key(file.replace(os.sep, "/"), status.st_size, str(status.st_mtime_ns))
