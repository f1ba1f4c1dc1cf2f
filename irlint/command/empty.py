"""The message of a run without a model to check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.command.streams import fail
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.findings.report import CheckedFile
    from irlint.policy.configuration import Config
    from irlint.run.search import Excluded

ALLOWED = "help: name a model or a folder with .onnx or .xml models; --allow-empty allows this"
FORCED = "help: `exclude` also applies to the named files because of --force-exclude"

#: The most lines about skipped files, and about patterns that exclude files.
SHOWN = 4


def fail_empty(
    paths: Sequence[str],
    skipped: Sequence[CheckedFile],
    options: Mapping[str, Any],
    config: Config | None,
    excluded: Excluded,
) -> NoReturn:
    """Ends a run without a model to check with status 2. ``skipped`` are the files that it found."""
    from irlint.command.results import refuse_lacking
    from irlint.findings.report import POINTER_SKIPPED
    from irlint.reporters.plain import no_models

    refuse_lacking(skipped)
    pointers = sum(file.reason == POINTER_SKIPPED for file in skipped)
    counts = [no_models(len(skipped) - pointers)] if len(skipped) > pointers else []
    counts += [f"{pointers} skipped: Git LFS pointers"] if pointers else []
    lines = [f"{file.path}: {file.reason}" for file in skipped if file.reason != POINTER_SKIPPED]
    lines = [
        *_first_lines(lines),
        *_first_lines([*_excluding(paths, options, config, excluded)]),
        *excluded.unfollowed_links(),
    ]
    details = f" ({', '.join(counts)})" if counts else ""
    fail(f"nothing to check{details}", *lines, ALLOWED)


def _first_lines(lines: Sequence[str]) -> list[str]:
    return [*lines[:SHOWN], *([f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else [])]


def _excluding(
    paths: Sequence[str], options: Mapping[str, Any], config: Config | None, excluded: Excluded
) -> Iterator[str]:
    """The lines about exclude patterns and git's patterns that match models."""
    from irlint.run.search import Excluded, models

    if excluded.here or excluded.there:
        found = models(paths, Excluded(git=excluded.git))
        for glob, count in _occurrences(excluded.by(path) for path in found):
            yield f"{_place(glob, options, config)} excludes {counted(count, 'model')}"
        if options["force_exclude"]:
            yield FORCED
    if excluded.git is not None:
        found = models(paths, replaced(excluded, git=None), options["force_exclude"])
        for line, count in _occurrences(excluded.git.by(path) for path in found):
            yield f"{line} ignores {counted(count, 'model')}; --no-respect-gitignore checks them"


def _occurrences(lines: Iterable[str]) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for line in lines:
        if line:
            counts[line] = counts.get(line, 0) + 1
    return [*counts.items()]


def _place(glob: str, options: Mapping[str, Any], config: Config | None) -> str:
    """The origin of an exclude pattern: ``irlint.toml:3: exclude "models/**"``, or ``--exclude models/**``."""
    if options["exclude"] or config is None:
        return f"--exclude {glob}"
    from irlint.policy.configuration import line_of

    return f'{config.file}:{line_of(config.file, "exclude", config["exclude"].index(glob))}: exclude "{glob}"'
