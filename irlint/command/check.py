"""A check from its options and the configuration to its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from irlint.command import results, settings
from irlint.command.options import COMMANDS
from irlint.command.streams import emit, emit_stderr, fail, reason
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.reporters.forms import FORMS, Form

if TYPE_CHECKING:
    from irlint.findings.report import Report
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy
    from irlint.run.search import Excluded
    from irlint.run.sources import Source

#: The bytes of standard input that are read at once.
PIECE = 1 << 22

#: In these formats, an interrupted run prints a partial report.
READ_BY_PEOPLE = ("text", "concise")


def check(paths: Sequence[str], options: Mapping[str, Any]) -> NoReturn:
    """Checks the models that ``paths`` name, writes the reports and ends with the exit status.

    ``options`` has a value for each name in DEFAULTS.
    """
    paths = settings.expanded(paths)
    config = settings.configuration(options)
    options = settings.merged(options, config)
    settings.refuse_contradictions(paths, options)
    if options["show_files"]:
        _show_files(paths, options, config)
    outputs = settings.outputs(options, config, paths)
    policy = settings.policy(options, config)
    forms = (FORMS[options["format"]], *(form for form, _ in outputs))
    excluded = settings.excluded(paths, options, config)
    if options["resume"] or forms[0].streamed:
        _stream(paths, options, config, policy, excluded)
    interruptions: list[str] = []
    report = _checked(paths, options, config, policy, forms, excluded, interruptions)
    if interruptions:
        results.publish(report, options, ())
        emit_stderr("".join(interruptions))
        raise SystemExit(130)
    if not any(file.status != "skipped" for file in report.files) and not (
        options["allow_empty"] or excluded.unchanged
    ):
        from irlint.command.empty import fail_empty

        fail_empty(_without_stdin(paths), report.files, options, config, excluded)
    settings.refuse_overwriting(
        [file for _, file in outputs], (file.path for file in report.files), "a report and a model"
    )
    report, policy, names = results.without_renamed(report, policy)
    notices = [
        *results.renames(names, options),
        *results.notices(paths, options, config, policy, report, excluded),
    ]
    if options["update_baseline"]:
        report, notice = results.with_new_baseline(report, options, policy, names)
        notices.append(notice)
    results.publish(report, options, outputs)
    results.log(report, options, config, notices)
    results.finish(report, options["fail_on"])


def _stream(
    paths: Sequence[str], options: Mapping[str, Any], config: Config | None, policy: Policy | None, excluded: Excluded
) -> None:
    """Checks the models, writes each result at once, and ends the run. Returns if an option needs a full report."""
    from irlint.command import streaming

    if not streaming.wanted(options):
        return
    with failing() as bars:
        progress = None if options["no_progress"] else _progress(bars)
        streaming.check(_without_stdin(paths), options, config, policy, excluded, progress)


def _show_files(paths: Sequence[str], options: Mapping[str, Any], config: Config | None) -> NoReturn:
    from irlint.reporters.plain import safe
    from irlint.run.search import models

    skip, excluded = config is not None and config.skips_pointers, settings.excluded(paths, options, config)
    with failing():
        from irlint.run.files import local_and_remote, remote_files

        local, remote = local_and_remote(_without_stdin(paths))
        found = models(local, excluded, options["force_exclude"], skip)
        found += map(str, remote_files(remote, excluded, options["force_exclude"]))
    if options["stdin_filename"] is not None:
        found = [*found, options["stdin_filename"]]
    if not found and not options["allow_empty"] and not excluded.unchanged:
        from irlint.command.empty import fail_empty

        fail_empty(_without_stdin(paths), (), options, config, excluded)
    emit("".join(f"{safe(path.replace(os.sep, '/'))}\n" for path in found))
    if not options["quiet"]:
        results.note(excluded.unfollowed_links())
    raise SystemExit(0)


def _without_stdin(paths: Sequence[str]) -> list[str]:
    return [path for path in paths if path != "-"]


def _checked(
    paths: Sequence[str],
    options: Mapping[str, Any],
    config: Config | None,
    policy: Policy | None,
    forms: Sequence[Form],
    excluded: Excluded,
    interruptions: list[str],
) -> Report:
    """The report on the models.

    If Ctrl-C ends the run and the format is one of READ_BY_PEOPLE, the report is partial, and ``interruptions`` gets a
    message.
    """
    from irlint.run.files import checked

    def interrupted(done: int, files: int) -> None:
        if options["format"] not in READ_BY_PEOPLE:
            raise KeyboardInterrupt
        interruptions.append(f"irlint: interrupted: {done:,} of {files:,} models were checked\n")

    with failing() as bars:
        return checked(
            _without_stdin(paths),
            settings=settings.of_files(options, config, policy, forms),
            excluded=excluded,
            force_exclude=options["force_exclude"],
            in_memory=from_stdin(options["stdin_filename"]),
            jobs=options["jobs"],
            executor=options["executor"],
            advance=None if options["no_progress"] else _progress(bars),
            interrupted=interrupted,
        )


class failing:
    """A context in which an OSError or ValueError ends the run with a message and status 2.

    BrokenPipeError passes. The context returns a list. At its end, it removes the progress bars in this list.
    """

    def __enter__(self) -> list[Any]:
        self.bars: list[Any] = []
        return self.bars

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        for bar in self.bars:
            bar.close()
        from irlint.run.search import MissingPaths

        if isinstance(error, MissingPaths):
            _fail_missing(error.paths)
        if isinstance(error, BrokenPipeError):
            return
        if isinstance(error, OSError):
            fail(reason(error))
        if isinstance(error, ValueError):
            fail(str(error))


def from_stdin(name: str | None) -> list[Source]:
    """The model on standard input, in a list; [] without ``--stdin-filename``."""
    if name is None:
        return []
    from irlint.run.sources import Source

    return [Source(name, _standard_input(name))]


def _standard_input(name: str) -> bytes:
    """All bytes of a model on standard input. Data of another kind are cut to the limit for a configuration."""
    from irlint.model.formats import FORMATS
    from irlint.parsers import HEAD, kind
    from irlint.parsers.opening import MOST

    stream = sys.stdin.buffer
    head = stream.read(HEAD)
    is_model = kind(name, head) in [form.name for form in FORMATS] and head[:1] != b"\0"
    most = MOST["standard input" if is_model else "configuration"]
    data = bytearray(head)
    while len(data) <= most and (piece := stream.read(min(most, PIECE))):
        data += piece
    if is_model and len(data) > most:
        fail(
            f"standard input has more than {most:,} bytes, which is the most that irlint reads of it",
            "help: write the model to a file and name the file",
        )
    return bytes(data)


def _progress(bars: list[Any]) -> Callable[[int | None, str], Callable[[int], None]]:
    """A function that starts a progress bar, adds it to ``bars``, and returns the function that updates it.

    If standard error cannot show a bar, the update function does nothing.
    """

    def advance(total: int | None, name: str) -> Callable[[int], None]:
        if sys.stderr is None or sys.stderr.closed or not sys.stderr.isatty():
            return lambda done: None
        from irlint.command.progress import Bar, Checking, wanted

        if not wanted(sys.stderr):
            return lambda done: None
        bars.append(Checking(name) if name else Bar(total))
        return bars[0]  # type: ignore[no-any-return]

    return advance


def _fail_missing(paths: Sequence[str]) -> NoReturn:
    lines = [f"no such file or folder: {path}" for path in paths]
    fail(lines[0], *lines[1:], *_command_help(paths))


def _command_help(missing: Sequence[str]) -> list[str]:
    """A help if the first argument is a missing path that resembles a command."""
    word = "".join(sys.argv[1:2])
    if word not in missing or os.path.splitext(word)[1] or os.path.basename(word) != word:
        return []
    from irlint.findings.wording import closest

    close = closest(word, COMMANDS)
    return [f"help: did you mean `irlint {close}`?"] if close else []
