"""``irlint fix``: fixes models, writes them, and reports the fixes and the remaining findings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from irlint.command import results, settings
from irlint.command.check import failing, from_stdin
from irlint.command.options import DEFAULTS
from irlint.command.streams import emit, emit_blocks, emit_stderr, fail, write_blocks
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.model.formats import FORMATS
from irlint.parsers.opening import beside, is_url
from irlint.reporters.forms import FORMS

if TYPE_CHECKING:
    from irlint.findings.edits import Edit
    from irlint.findings.report import Report
    from irlint.policy.configuration import Config
    from irlint.run.files import Outcome, Settings
    from irlint.run.fixing import Fixed, Wish

SCHEMA = "irlint-fix-1"


def fix(paths: Sequence[str], options: Mapping[str, Any]) -> NoReturn:
    """Fixes the models that ``paths`` name, reports the result, and ends with the exit status."""
    paths = settings.expanded(paths)
    config = settings.configuration({**DEFAULTS, **options})
    options = settings.merged({**DEFAULTS, **options}, config)
    _refuse_contradictions(paths, options)
    policy = settings.policy({**options, "baseline": None, "update_baseline": False}, config)
    run = _Run(options, settings.of_files({**options, "cache": None}, config, policy, (FORMS["text"],)))
    for path in _files(paths, options, config):
        run.file(path, None)
    for source in from_stdin(options["stdin_filename"]):
        run.file(source.path, source.data)
    run.end()


def _refuse_contradictions(paths: Sequence[str], options: Mapping[str, Any]) -> None:
    options_of_check = {"executor": "processes", "changed_since": None, "update_baseline": False}
    settings.refuse_contradictions(paths, {**options, **options_of_check})
    url = next(filter(is_url, paths), None)
    if url is not None:
        fail(f"{url} is not a file on this machine, so irlint cannot change it", "help: download it first")
    if options["output"] is not None and (len(paths) != 1 or os.path.isdir(paths[0])):
        fail("--output is for one file", "help: name one model, or remove --output to change the files in place")
    if options["freeze"] and not options["shape"]:
        fail("--freeze writes the shapes of --shape, which is not given")
    if options["output"] is not None and options["diff"]:
        fail("--diff writes no file, so it excludes --output", "help: remove one of them")


def _files(paths: Sequence[str], options: Mapping[str, Any], config: Config | None) -> list[str]:
    """The files to fix. Omits standard input, and links to files outside of the named folders."""
    from irlint.run.search import first_links, links_leading_out, models

    excluded = settings.excluded(paths, options, config)
    named = [path for path in paths if path != "-"]
    with failing():
        found = models(named, excluded, options["force_exclude"])
    outside = links_leading_out(found, named)
    found = [path for path in found if path not in outside]
    if outside:
        links = f"{counted(len(outside), 'link')} to files outside of the named paths ({first_links(outside)})"
        results.note([f"not fixed: {links}; name a file to fix it"])
    if not found and "-" not in paths and not options["allow_empty"]:
        fail("there is no model to fix among the paths", "help: name a model file, or a folder with models")
    return found


def missing_weights(path: str, output: str, found: Fixed) -> list[str]:
    """A notice for each weights file that exists beside ``path`` but not beside ``output``."""
    suffix = next((known.weights for known in FORMATS if known.name == found.after.outcome.file.format), "")
    pairs = [(os.path.splitext(path)[0] + suffix, os.path.splitext(output)[0] + suffix)] if suffix else []
    if not suffix and os.path.dirname(path) != os.path.dirname(output):
        pairs = [(beside(path, name), beside(output, name)) for name in found.external_data()]
    return [
        f"{output} reads its weights from {wanted}, which does not exist: copy {file} to it"
        for file, wanted in pairs
        if os.path.exists(file) and not os.path.exists(wanted)
    ]


class _Run:
    """A run of ``irlint fix``."""

    def __init__(self, options: Mapping[str, Any], files: Settings) -> None:
        self.options = options
        self.settings = files
        self.as_json = options["format"] == "json"
        #: The edits, other than fixes of findings, that the options request.
        self.wishes: list[Wish] = ["target"] * bool(files.targets)
        self.wishes += ["freeze"] * bool(options["freeze"])
        self.wishes += ["annotate"] * bool(options["annotate"])
        self.outcomes: list[Outcome] = []
        #: The JSON of each file.
        self.entries: list[dict[str, Any]] = []
        #: The lines of the text report.
        self.lines: list[str] = []
        self.changed_files = 0
        self.fixed_findings = 0
        #: The number of edits that options request.
        self.requested_edits = 0
        self.has_impossible_edit = False

    def file(self, path: str, data: bytes | None) -> None:
        """Fixes a model. ``data`` is the model from standard input, or None."""
        from irlint.run.fixing import fixed

        with failing():
            found = fixed(path, self.settings, data, self.wishes, unsafe=self.options["unsafe_fixes"])
            try:
                self._record(path, found, piped=data is not None)
            finally:
                found.close()

    def _record(self, path: str, found: Fixed, *, piped: bool) -> None:
        """Writes a fixed model and records its results."""
        changed = found.after is not found.before
        self.outcomes.append(found.after.outcome)
        self.changed_files += changed
        self.fixed_findings += len(found.fixes)
        written = self._written(path, found, changed, piped=piped)
        edits = [edit.as_dict() for edit in found.edits]
        remaining = [finding.fingerprint for finding in self.outcomes[-1].findings]
        self.entries.append({"path": path.replace(os.sep, "/"), "written": written, "edits": edits, "left": remaining})
        self.lines += [
            f"{path.replace(os.sep, '/')}: {fix.message} ({finding.rule.code})" for finding, fix in found.fixes
        ]
        self.lines += [f"{path.replace(os.sep, '/')}: {text}" for text in (*_texts(found.asked), *found.refused)]
        self.has_impossible_edit = self.has_impossible_edit or bool(found.refused)
        self.requested_edits += len(found.asked)
        if self.options["diff"] and changed:
            self.lines += difference(found)

    def _written(self, path: str, found: Fixed, changed: bool, *, piped: bool) -> bool:
        """Writes the model unless ``--diff`` is given, in place only if it changed; returns whether it wrote it."""
        if self.options["diff"]:
            return False
        if self.options["output"] is not None:
            write_blocks(self.options["output"], found.blocks(), "--output")
            self.lines += missing_weights(path, self.options["output"], found)
            return True
        if piped:
            emit_blocks(found.blocks())
            return True
        if changed:
            if not found.is_unchanged:
                fail(f"fix: {path} was changed meanwhile, so it is not written")
            write_blocks(path, found.blocks(), "fix")
        return changed

    def end(self) -> NoReturn:
        """Writes the report and ends the run with its exit status."""
        from irlint import __version__
        from irlint.findings.report import Report
        from irlint.run.files import require_inputs

        findings = [finding for outcome in self.outcomes for finding in outcome.findings]
        report = Report(tuple(outcome.file for outcome in self.outcomes), tuple(findings), __version__)
        if self.as_json:
            import json

            text = json.dumps({"schema": SCHEMA, "files": self.entries}, indent=2, ensure_ascii=False) + "\n"
        else:
            text = "".join(self.text(report))
        if self.options["stdin_filename"] is not None and not self.options["diff"]:
            emit_stderr(text)
        else:
            emit(text, *(("utf-8", "json") if self.as_json else ()))
        with failing():
            require_inputs(self.settings, report.files, {})
        if (self.options["diff"] and self.changed_files) or self.has_impossible_edit:
            raise SystemExit(1)
        results.finish(report, self.options["fail_on"])

    def unsafe_text(self, report: Report) -> str:
        """A text with the number of findings that --unsafe-fixes may fix; "" if there are none."""
        remaining = [] if self.options["unsafe_fixes"] else report.findings
        count = sum(finding.fix is not None and finding.fix.applicability == "unsafe" for finding in remaining)
        return f"; {count} more with --unsafe-fixes" if count else ""

    def text(self, report: Report) -> Iterator[str]:
        """The parts of the text report."""
        from irlint.reporters.plain import safe

        yield from ("\t".join(map(safe, line.split("\t"))) + "\n" for line in self.lines)
        actions = [f"fix {counted(self.fixed_findings, 'finding')}"] * bool(self.fixed_findings)
        actions += [f"make {counted(self.requested_edits, 'edit')}"] * bool(self.requested_edits)
        if actions:
            text = " and ".join(actions)
            text = f"would {text}" if self.options["diff"] else text.replace("fix", "fixed").replace("make", "made")
            yield f"{text} in {counted(self.changed_files, 'file')}{self.unsafe_text(report)}\n\n"
        yield FORMS["concise"].rendered(report, quiet=False)


#: The most requested edits of a file that the report names.
NAMED = 5


def _texts(edits: Sequence[Edit]) -> list[str]:
    more = len(edits) - NAMED
    return [edit.text for edit in edits[:NAMED]] + [f"and {counted(more, 'more edit')}"] * (more > 0)


#: The unchanged lines around a change.
AROUND = 3


def difference(found: Fixed) -> Iterator[str]:
    """The lines of a unified diff of a model. A binary model is compared as ``irlint diff --textconv`` prints it."""
    from difflib import unified_diff

    before, after = found.texts()
    name = found.path.replace(os.sep, "/")
    header = [f"--- {name} (before)", f"+++ {name} (after)"]
    for start, end in _changed_ranges(before, after):
        shown = after[start : end + len(after) - len(before)]
        for line in list(unified_diff(before[start:end], shown, lineterm="", n=AROUND))[2:]:
            yield from header
            header = []
            yield _renumbered(line, start) if line.startswith("@@") else line


def _changed_ranges(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges (start, end) of ``before`` that contain all changes, with AROUND lines on both sides.

    Only these ranges are compared with difflib, because it is slow for long texts. If the two texts have different
    lengths, there is a single range.
    """
    if len(before) == len(after):
        ranges: list[tuple[int, int]] = []
        for at in (at for at, pair in enumerate(zip(before, after)) if pair[0] != pair[1]):
            start = max(0, at - AROUND)
            if ranges and ranges[-1][1] >= start:
                start = ranges.pop()[0]
            ranges.append((start, min(len(before), at + AROUND + 1)))
        return ranges
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    same_end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    return [(max(0, start - AROUND), min(len(before), len(before) - same_end + AROUND))]


def _renumbered(header: str, lines: int) -> str:
    """The header of a hunk, such as ``@@ -1,7 +1,7 @@``, with ``lines`` added to both line numbers."""
    sign, *ranges, end = header.split(" ")
    starts = [text.partition(",") for text in ranges]
    moved = [f"{start[0]}{int(start[1:]) + lines}{comma}{count}" for start, comma, count in starts]
    return " ".join([sign, *moved, end])
