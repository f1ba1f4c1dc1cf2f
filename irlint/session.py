"""A check from its options to its exit status, and what all commands share: the standard output and failed runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from irlint.diagnostics import Finding, Report

#: The forms that other programs read: the name of each is that of its module, whose ``rendered`` makes a text of a report.
DOCUMENTS = ("json", "sarif", "github", "gitlab", "junit")
FORMATS = ("text", "concise", *DOCUMENTS)
LEVELS = ("error", "warning", "note")

#: The options of ``check`` and what they are where nobody gives them.
DEFAULTS: Mapping[str, Any] = {
    "form": "text",
    "outputs": (),
    "select": (),
    "ignore": (),
    "extend_select": (),
    "severities": (),
    "shapes": (),
    "fail_on": "error",
    "exclude": (),
    "force_exclude": False,
    "allow_empty": False,
    "stdin_filename": None,
    "color": "auto",
    "no_progress": False,
    "statistics": False,
    "quiet": False,
    "verbose": False,
}


def fail(message: str, *more: str) -> NoReturn:
    """Ends the run as failed: nothing that was asked for has been decided."""
    lines = [f"irlint: error: {message}", *(f"   = {line}" for line in more)]
    if sys.stderr is not None:
        sys.stderr.write("".join(f"{line}\n" for line in lines))
    raise SystemExit(2)


def check(paths: tuple[str, ...], options: Mapping[str, Any]) -> NoReturn:
    """Checks the models among ``paths``, writes the reports and ends with the exit status; ``options`` as in DEFAULTS."""
    chosen = _Chosen(options["select"], options["ignore"], options["extend_select"], options["severities"])
    targets = _targets(options["outputs"])
    form = options["form"]
    report = _checked(paths, options, draw=form == "text" or any(name == "text" for name, _ in targets))
    report = chosen.applied(report)
    emit(_rendered(report, form, options, stream=True), "utf-8" if form in DOCUMENTS else None)
    if form == "github":
        _append_summary(report)
    for name, file in targets:
        _write(file, _rendered(report, name, options))
    _finish(report, options)


def _targets(outputs: Iterable[str]) -> list[tuple[str, str]]:
    targets = []
    for output in outputs:
        name, equals, file = output.partition("=")
        if name not in FORMATS or not equals or not file:
            fail(f"--output {output}: it has to be FORMAT=FILE, FORMAT one of {', '.join(FORMATS)}")
        targets.append((name, file))
    return targets


def _checked(paths: tuple[str, ...], options: Mapping[str, Any], draw: bool) -> Report:
    from irlint.run import Excluded, MissingPaths, Settings, checked
    from irlint.shape_options import parsed_shapes

    if not paths:
        fail("no PATH was given", "help: name a model file, or a folder with models")
    name = options["stdin_filename"]
    if ("-" in paths) != (name is not None):
        fail("- reads a model from standard input, and needs --stdin-filename NAME", "help: give both, or neither")
    if name is not None and sys.stdin is None:
        fail("standard input is closed")
    stdin = (name, sys.stdin.buffer.read()) if name is not None else None
    try:
        return checked(
            [path for path in paths if path != "-"],
            settings=Settings(parsed_shapes(options["shapes"]), draw, options["verbose"]),
            excluded=Excluded(tuple(options["exclude"])),
            force_exclude=options["force_exclude"],
            stdin=stdin,
        )
    except MissingPaths as error:
        lines = [f"no such file or folder: {path}" for path in error.paths]
        fail(lines[0], *lines[1:])
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        fail(f"--shape: {error}")


def _rendered(report: Report, form: str, options: Mapping[str, Any], stream: bool = False) -> str:
    if form == "junit":
        from irlint.reporters import junit

        return junit.rendered(report, options["fail_on"])
    if form in DOCUMENTS:
        from importlib import import_module

        document: str = import_module(f"irlint.reporters.{form}").rendered(report)
        return document
    if form == "concise":
        from irlint.reporters import concise
        from irlint.reporters.plain import summary

        text = concise.rendered(report)
        return (
            text.removesuffix(summary(report)).rstrip("\n") + "\n" * bool(report.findings) if options["quiet"] else text
        )
    if not report.findings:
        from irlint.reporters.plain import summary

        return "" if options["quiet"] else summary(report)
    from irlint.reporters import text as drawing

    color = drawing.colored(options["color"], sys.stdout) if stream else False
    columns = drawing.width(sys.stdout) if stream else drawing.PIPE_WIDTH
    told = drawing.rendered(report, color=color, every=options["verbose"], quiet=options["quiet"], columns=columns)
    return told + (_statistics(report) if options["statistics"] else "")


def _statistics(report: Report) -> str:
    from collections import Counter

    counts = Counter((finding.rule.code, finding.rule.name) for finding in report.findings)
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "".join(f"{count:6}  {code}  {name}\n" for (code, name), count in rows)


def emit(text: str, encoding: str | None = None) -> None:
    """Writes to standard output, in its own encoding if none is given; a closed pipe ends the run quietly."""
    if sys.stdout is None:
        return
    encoding = encoding or sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        discard_output()
    except OSError as error:
        discard_output()
        fail(f"cannot write to standard output: {error.strerror}")


def discard_output() -> None:
    """Lets go of what standard output did not take, so that the interpreter does not try again when it ends."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _append_summary(report: Report) -> None:
    """Adds the report to the summary of a step of a GitHub workflow, where the run is one."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    from irlint.reporters.github import PAGE, page

    try:
        with open(file, "ab") as stream:
            stream.write(page(report, PAGE - stream.tell()).encode())
    except OSError as error:
        sys.stderr.write(f"irlint: warning: cannot write GITHUB_STEP_SUMMARY {file}: {error.strerror}\n")


def _write(file: str, text: str) -> None:
    """Writes a whole file, or none of it; devices and pipes are written to, and links are followed."""
    import tempfile

    target = os.path.realpath(file)
    folder = os.path.dirname(target)
    try:
        if os.path.exists(file) and not os.path.isfile(file):
            with open(file, "wb") as device:
                device.write(text.encode("utf-8", "backslashreplace"))
            return
        handle, name = tempfile.mkstemp(dir=folder, prefix=".irlint-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
                stream.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        fail(f"--output: cannot write {file}: {error.strerror}")


def _finish(report: Report, options: Mapping[str, Any]) -> NoReturn:
    from irlint.diagnostics import Severity

    if not any(file.status != "skipped" for file in report.files) and not options["allow_empty"]:
        skipped = f" ({len(report.files)} .xml skipped: no IR)" if report.files else ""
        fail(
            f"nothing to check{skipped}",
            "help: name a model or a folder with .onnx or .xml models; --allow-empty allows this",
        )
    if options["fail_on"] == "never":
        raise SystemExit(0)
    least = Severity(options["fail_on"]).rank
    raise SystemExit(int(any(finding.severity.rank >= least for finding in report.findings)))


class _Chosen:
    """Which rules are reported, and at what severity."""

    def __init__(
        self, select: Iterable[str], ignore: Iterable[str], extend: Iterable[str], severities: Iterable[str]
    ) -> None:
        self.select = self._codes("--select", select)
        self.ignore = self._codes("--ignore", ignore)
        self.extend = self._codes("--extend-select", extend)
        self.severities: dict[str, str] = {}
        for entry in severities:
            rule, _, level = entry.partition("=")
            if level not in LEVELS:
                fail(f"--severity {entry}: it has to be RULE=LEVEL, LEVEL one of {', '.join(LEVELS)}")
            for code in self._codes("--severity", [rule]):
                self.severities[code] = level

    def _codes(self, option: str, entries: Iterable[str]) -> set[str]:
        names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
        if not names:
            return set()
        from irlint.rulebook import every_rule, named, suggestion

        rules = every_rule()
        found: set[str] = set()
        for name in names:
            codes = {rule.code for rule in rules if named(rule, name)}
            if not codes:
                fail(
                    f"{option}: unknown rule {name!r}{suggestion(name, rules)}",
                    "help: `irlint rules` lists every rule",
                )
            found |= codes
        return found

    def applied(self, report: Report) -> Report:
        from irlint.diagnostics import Severity
        from irlint.records import replaced

        def kept(finding: Finding) -> bool:
            code = finding.rule.code
            if code in self.extend:
                return True
            return (not self.select or code in self.select) and code not in self.ignore

        findings = [
            replaced(finding, severity=Severity(self.severities[finding.rule.code]))
            if finding.rule.code in self.severities
            else finding
            for finding in report.findings
            if kept(finding)
        ]
        return replaced(report, findings=tuple(findings))
