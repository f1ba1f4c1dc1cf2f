"""The commands: options, calls and exit status, nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from irlint import __version__

if TYPE_CHECKING:
    from irlint.diagnostics import Finding, Report, Rule

FORMATS = ("text", "concise", "json")
LEVELS = ("error", "warning", "note")


class _Commands(click.Group):
    """``irlint PATH…`` is short for ``irlint check PATH…``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        own = {"--help", "-h", "--version"}
        if args and args[0] not in self.commands and args[0] not in own:
            args = ["check", *args]
        return super().parse_args(ctx, args)


def fail(message: str, *more: str) -> NoReturn:
    """Ends the run as failed: nothing that was asked for has been decided."""
    click.echo(f"irlint: error: {message}", err=True)
    for line in more:
        click.echo(f"   = {line}", err=True)
    raise SystemExit(2)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, prog_name="irlint")
def commands() -> None:
    """Checks ONNX models and OpenVINO IR: shapes, broadcasting, types and structure, without a runtime.

    `irlint PATH...` is short for `irlint check PATH...`.
    """


@commands.command()
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Form of the report on standard output.")
@click.option("--output", "outputs", multiple=True, metavar="FORMAT=FILE", help="Also write the report to a file.")
@click.option("--select", multiple=True, metavar="RULES", help="Only these rules: codes, prefixes of codes, or names.")
@click.option("--ignore", multiple=True, metavar="RULES", help="Not these rules.")
@click.option("--extend-select", multiple=True, metavar="RULES", help="These rules as well as the selected ones.")
@click.option("--severity", "severities", multiple=True, metavar="RULE=LEVEL", help="error, warning or note for a rule.")
@click.option("--shape", "shapes", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640.")
@click.option("--fail-on", type=click.Choice((*LEVELS, "never")), default="error", help="Least severity for status 1.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Files and folders not to check.")
@click.option("--force-exclude", is_flag=True, help="Apply --exclude to files that are named, too.")
@click.option("--allow-empty", is_flag=True, help="Status 0 where there is nothing to check.")
@click.option("--stdin-filename", metavar="NAME", help="Name of the model that comes on standard input (PATH is -).")
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="Colour in the text report.")
@click.option("--no-progress", is_flag=True, help="No progress bar.")
@click.option("--statistics", is_flag=True, help="Count the findings of each rule.")
@click.option("-q", "--quiet", is_flag=True, help="No summary.")
@click.option("-v", "--verbose", is_flag=True, help="Show every finding in full, and name each file that is checked.")
def check(paths: tuple[str, ...], form: str, outputs: tuple[str, ...], **options: Any) -> None:
    """Checks models and reports findings.

    A PATH is a model file, a folder that is searched for models, or - with --stdin-filename.
    """
    chosen = _Chosen(options["select"], options["ignore"], options["extend_select"], options["severities"])
    targets = _targets(outputs)
    report = _checked(paths, options, draw=form == "text" or any(name == "text" for name, _ in targets))
    report = chosen.applied(report)
    _emit(_rendered(report, form, options, stream=True))
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


def _checked(paths: tuple[str, ...], options: dict[str, Any], draw: bool) -> Report:
    from irlint.run import MissingPaths, checked
    from irlint.shape_options import parsed_shapes

    if not paths:
        fail("no PATH was given", "help: name a model file, or a folder with models")
    name = options["stdin_filename"]
    if ("-" in paths) != (name is not None):
        fail("- reads a model from standard input, and needs --stdin-filename NAME", "help: give both, or neither")
    stdin = (name, sys.stdin.buffer.read()) if name is not None else None
    try:
        return checked(
            [path for path in paths if path != "-"],
            shapes=parsed_shapes(options["shapes"]),
            exclude=options["exclude"],
            force_exclude=options["force_exclude"],
            draw=draw,
            stdin=stdin,
        )
    except MissingPaths as error:
        lines = [f"no such file or folder: {path}" for path in error.paths]
        fail(lines[0], *lines[1:])
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        fail(f"--shape: {error}")


def _rendered(report: Report, form: str, options: dict[str, Any], stream: bool = False) -> str:
    if form == "json":
        from irlint.reporters.json import rendered

        return rendered(report)
    if form == "concise":
        from irlint.reporters import concise
        from irlint.reporters.plain import summary

        text = concise.rendered(report)
        return text.removesuffix(summary(report)).rstrip("\n") + "\n" * bool(report.findings) if options["quiet"] else text
    from irlint.reporters import text as drawing

    color = drawing.colored(options["color"], sys.stdout) if stream else False
    told = drawing.rendered(report, color=color, every=options["verbose"], quiet=options["quiet"])
    return told + (_statistics(report) if options["statistics"] else "")


def _statistics(report: Report) -> str:
    from collections import Counter

    counts = Counter((finding.rule.code, finding.rule.name) for finding in report.findings)
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "".join(f"{count:6}  {code}  {name}\n" for (code, name), count in rows)


def _emit(text: str) -> None:
    """Writes to standard output whatever its encoding; a closed pipe ends the run quietly."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write(file: str, text: str) -> None:
    """Writes a whole file, or none of it."""
    import tempfile

    folder = os.path.dirname(os.path.abspath(file))
    try:
        handle, name = tempfile.mkstemp(dir=folder, prefix=".irlint-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        fail(f"--output: cannot write {file}: {error.strerror}")


def _finish(report: Report, options: dict[str, Any]) -> NoReturn:
    from irlint.diagnostics import Severity

    if not any(file.status != "skipped" for file in report.files) and not options["allow_empty"]:
        skipped = f" ({len(report.files)} .xml skipped: no IR)" if report.files else ""
        fail(f"nothing to check{skipped}", "help: name a model or a folder with .onnx or .xml models; --allow-empty allows this")
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
        rules = every_rule()
        found: set[str] = set()
        for name in names:
            codes = {rule.code for rule in rules if rule.name == name or rule.code.startswith(name.upper())}
            if not codes:
                fail(f"{option}: unknown rule {name!r}{_suggestion(name, rules)}", "help: `irlint rules` lists every rule")
            found |= codes
        return found

    def applied(self, report: Report) -> Report:
        from dataclasses import replace

        from irlint.diagnostics import Severity

        def kept(finding: Finding) -> bool:
            code = finding.rule.code
            if code in self.extend:
                return True
            return (not self.select or code in self.select) and code not in self.ignore

        findings = [
            replace(finding, severity=Severity(self.severities[finding.rule.code]))
            if finding.rule.code in self.severities
            else finding
            for finding in report.findings
            if kept(finding)
        ]
        return replace(report, findings=tuple(findings))


def every_rule() -> list[Rule]:
    """Every rule, by code."""
    from importlib import import_module

    from irlint import ops
    from irlint.checks import CHECKS
    from irlint.diagnostics import RULES

    ops.load_all()
    for name in ("irlint.bind", "irlint.propagate", "irlint.parsers.onnx", "irlint.parsers.openvino"):
        import_module(name)
    for name in CHECKS:
        import_module(f"irlint.checks.{name}")
    return [RULES[code] for code in sorted(RULES)]


def _suggestion(name: str, rules: Iterable[Rule]) -> str:
    from difflib import get_close_matches

    names = [text for rule in rules for text in (rule.code, rule.name)]
    close = get_close_matches(name, names, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


@commands.command()
@click.argument("model")
@click.option("--format", "form", type=click.Choice(("text", "json")), default="text", help="Form of the listing.")
@click.option("--shape", "options", multiple=True, metavar="INPUT=DIMS", help="What if an input had this shape: x=N,3,640,640.")
def shapes(model: str, form: str, options: tuple[str, ...]) -> None:
    """Prints every value of a MODEL with its element type and inferred shape."""
    from irlint.listing import listed
    from irlint.shape_options import parsed_shapes

    try:
        found = listed(model, shapes=parsed_shapes(options))
    except FileNotFoundError:
        fail(f"no such file: {model}")
    except OSError as error:
        fail(f"{model}: {error.strerror}")
    except ValueError as error:
        fail(f"{model}: {error}")
    if form == "json":
        import json

        _emit(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
        return
    from irlint.reporters.listing import rendered

    _emit(rendered(found))


@commands.command()
@click.argument("rule")
def explain(rule: str) -> None:
    """Prints the page of a RULE, named by its code or its name."""
    rules = every_rule()
    found = next((each for each in rules if rule.upper() == each.code or rule == each.name), None)
    if found is None:
        fail(f"unknown rule {rule!r}{_suggestion(rule, rules)}", "help: `irlint rules` lists every rule")
    from irlint.reporters.pages import page

    _emit(page(found))


@commands.command()
def rules() -> None:
    """Lists every rule."""
    from irlint.reporters.pages import table

    _emit(table(every_rule()))


def main() -> None:
    """The entry point of the ``irlint`` command."""
    try:
        commands(prog_name="irlint")
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
