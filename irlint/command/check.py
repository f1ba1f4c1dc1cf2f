"""A check from its options and the configuration to its exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from irlint.command.streams import complain, emit, encoding, fail, notify, write
from irlint.lazy_typing import TYPE_CHECKING, Any, NoReturn
from irlint.policy.options import DOCUMENTS, FORMATS, LEVELS

if TYPE_CHECKING:
    from irlint.findings.report import Report
    from irlint.policy.configuration import Config
    from irlint.policy.suppressions import Policy
    from irlint.run.files import Excluded

#: The names that a configuration file may have, the first one counting where a folder has several.
CONFIGURATIONS = ("irlint.toml", ".irlint.toml", "pyproject.toml")

NOTHING = "Nothing was linted.\n"
ALLOWED_EMPTY = "help: name a model or a folder with .onnx or .xml models; --allow-empty allows this"


def check(paths: tuple[str, ...], options: Mapping[str, Any]) -> NoReturn:
    """Checks the models among ``paths``, writes the reports and ends with the exit status; ``options`` as in DEFAULTS."""
    config = _configuration(options)
    options = _merged(options, config)
    _judge(paths, options)
    if options["show_files"]:
        _show_files(paths, options, config)
    targets = _targets(options["outputs"])
    policy = _policy(options, config)
    draw = "text" in (options["form"], *(name for name, _ in targets))
    report = _checked(paths, options, config, policy, draw)
    if not any(file.status != "skipped" for file in report.files) and not options["allow_empty"]:
        _fail_empty(report)
    notices = [*_notices(paths, options, config, policy, report)]
    if options["update_baseline"]:
        report, told = _updated(report, options, policy)
        notices.append(told)
    emit(_rendered(report, options["form"], options, stream=True), "utf-8" if options["form"] in DOCUMENTS else None)
    if options["form"] == "github":
        _append_summary(report)
    for name, file in targets:
        write(file, _rendered(report, name, options), "--output")
    _tell(report, options, notices)
    _finish(report, options["fail_on"])


def configurations(folder: str) -> Iterator[str]:
    """The files that may hold the configuration, from a folder up to the repository's root, the nearest first."""
    here = os.path.abspath(folder)
    lead = ""
    while True:
        for name in CONFIGURATIONS:
            if os.path.isfile(os.path.join(here, name)):
                yield lead + name
        above = os.path.dirname(here)
        if above == here or os.path.exists(os.path.join(here, ".git")):
            return
        here, lead = above, f"{os.pardir}{os.sep}{lead}"


def _configuration(options: Mapping[str, Any]) -> Config | None:
    named = options["config"]
    if named is not None and options["isolated"]:
        fail("--config and --isolated exclude each other", "help: give one of them")
    if named is not None:
        return _loaded(named) or fail(f"{named} has no table [tool.irlint]", end=NOTHING)
    if options["isolated"]:
        return None
    for file in configurations(os.curdir):
        if file.endswith("pyproject.toml") and not _may_speak(file):
            continue
        config = _loaded(file)
        if config is not None:
            return config
    return None


def _may_speak(file: str) -> bool:
    """Whether a ``pyproject.toml`` may have a table ``tool.irlint``: nothing else is worth a TOML parser."""
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError:
        return False
    if b"irlint" not in data:
        return False
    starts = (b"[tool.irlint", b"[[tool.irlint", b"tool.irlint", b"[tool]", b"tool=")
    return any(line.translate(None, b"\xef\xbb\xbf \t\"'").startswith(starts) for line in data.splitlines())


def _loaded(file: str) -> Config | None:
    from irlint.policy.configuration import ConfigError, loaded

    try:
        return loaded(file)
    except ConfigError as error:
        complain(str(error))
        raise SystemExit(2) from None
    except OSError as error:
        fail(f"cannot read the configuration {file}: {error.strerror}", end=NOTHING)


def _merged(options: Mapping[str, Any], config: Config | None) -> dict[str, Any]:
    """The options with what the configuration says in place of those that nobody gave."""
    merged = {**options, "configured": config.file if config is not None else ""}
    if config is not None:
        from irlint.policy.globs import relative

        merged["form"] = options["form"] or config.output_format
        merged["fail_on"] = options["fail_on"] or config.fail_on
        if not options["baseline"] and config.baseline:
            merged["baseline"] = relative(os.path.join(config.root, config.baseline), os.curdir)
    merged["form"] = merged["form"] or "text"
    merged["fail_on"] = merged["fail_on"] or "error"
    return merged


def _judge(paths: Sequence[str], options: Mapping[str, Any]) -> None:
    """Ends the run where its options do not go together."""
    if not paths:
        fail("no PATH was given", "help: name a model file, or a folder with models")
    name = options["stdin_filename"]
    if ("-" in paths) != (name is not None):
        fail("- reads a model from standard input, and needs --stdin-filename NAME", "help: give both, or neither")
    if name is not None and sys.stdin is None:
        fail("standard input is closed")
    if options["update_baseline"] and not options["baseline"]:
        fail("--update-baseline needs a file to write", "help: give --baseline FILE, or `baseline` in irlint.toml")


def _targets(outputs: Iterable[str]) -> list[tuple[str, str]]:
    targets = []
    for output in outputs:
        name, equals, file = output.partition("=")
        if name not in FORMATS or not equals or not file:
            fail(f"--output {output}: it has to be FORMAT=FILE, FORMAT one of {', '.join(FORMATS)}")
        targets.append((name, file))
    return targets


def _policy(options: Mapping[str, Any], config: Config | None) -> Policy | None:
    """What is reported; None where that is everything. The command line's rules act on what the configuration leaves."""
    lists = ("select", "ignore", "extend_select", "severities")
    if config is None and options["baseline"] is None and not any(options[name] for name in lists):
        return None
    from irlint.policy import suppressions

    rules = {name: _rules(f"--{name.replace('_', '-')}", options[name]) for name in lists[:3]}
    own = suppressions.selection(rules["select"], rules["ignore"] or (), rules["extend_select"] or ())
    levels = suppressions.severities(_levels(options["severities"]))
    file = options["baseline"]
    shared: dict[str, Any] = {"baseline": _baseline(file, options["update_baseline"]) if file else None}
    shared["baseline_root"] = os.path.dirname(os.path.abspath(file)) if file else ""
    if config is None:
        return suppressions.Policy((own,), tuple(levels.items()), **shared)
    return suppressions.Policy(
        (config.selection, own),
        tuple({**config.severity, **levels}.items()),
        root=config.root,
        file_ignores=config.file_ignores,
        suppress=tuple(entry for entry in config.suppress if not entry.expired()),
        pointers=config.lfs_pointers == "skip",
        **shared,
    )


def _rules(option: str, entries: Sequence[str]) -> list[str] | None:
    """The names of rules in the values of an option, None where it is not given."""
    if not entries:
        return None
    names = [name.strip() for entry in entries for name in entry.split(",") if name.strip()]
    if not names:
        fail(f"{option}: no rule is named", "help: `irlint rules` lists every rule")
    from irlint.policy.rulebook import codes, every_rule, suggestion

    for name in names:
        if not codes(name):
            told = suggestion(name, every_rule())
            fail(f"{option}: unknown rule {name!r}{told}", "help: `irlint rules` lists every rule")
    return names


def _levels(entries: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    for entry in entries:
        rule, _, level = entry.partition("=")
        if level not in LEVELS:
            fail(f"--severity {entry}: it has to be RULE=LEVEL, LEVEL one of {', '.join(LEVELS)}")
        pairs += [(name, level) for name in _rules("--severity", [rule]) or ()]
    return pairs


def _baseline(file: str, update: bool) -> Mapping[str, Mapping[str, frozenset[str]]]:
    from irlint.policy import baseline

    try:
        return baseline.read(file)
    except FileNotFoundError:
        if update:
            return {}
        fail(f"no such baseline: {file}", "help: --update-baseline writes it", end=NOTHING)
    except OSError as error:
        fail(f"cannot read the baseline {file}: {error.strerror}", end=NOTHING)
    except baseline.BrokenBaseline as error:
        told = "help: restore the file; or remove it, and write it again with --update-baseline"
        fail(f"{file} is {error}", told, end=NOTHING)


def _excluded(options: Mapping[str, Any], config: Config | None) -> Excluded:
    from irlint.run.files import Excluded

    if options["exclude"] or config is None:
        return Excluded(tuple(options["exclude"]))
    return Excluded(there=config.exclude, root=config.root)


def _show_files(paths: Sequence[str], options: Mapping[str, Any], config: Config | None) -> NoReturn:
    from irlint.reporters.plain import safe
    from irlint.run.files import MissingPaths, models

    skip = config is not None and config.lfs_pointers == "skip"
    named = [path for path in paths if path != "-"]
    try:
        found = models(named, _excluded(options, config), options["force_exclude"], skip)
    except MissingPaths as error:
        _fail_missing(error.paths)
    if options["stdin_filename"] is not None:
        found = [*found, options["stdin_filename"]]
    if not found and not options["allow_empty"]:
        fail("nothing to check", ALLOWED_EMPTY)
    emit("".join(f"{safe(path)}\n" for path in found))
    raise SystemExit(0)


def _checked(
    paths: Sequence[str], options: Mapping[str, Any], config: Config | None, policy: Policy | None, draw: bool
) -> Report:
    from irlint.policy.shape_options import parsed_shapes
    from irlint.run.files import MissingPaths, Settings, checked

    name = options["stdin_filename"]
    stdin = (name, sys.stdin.buffer.read()) if name is not None else None
    configured: dict[str, Any] = {}
    if config is not None:
        skip = config.lfs_pointers == "skip"
        configured = {"models": config.models, "root": config.root, "skip_pointers": skip}
    try:
        shapes = parsed_shapes(options["shapes"])
    except ValueError as error:
        fail(f"--shape: {error}")
    bars: list[Any] = []
    try:
        return checked(
            [path for path in paths if path != "-"],
            settings=Settings(shapes, draw, options["verbose"], policy, **configured),
            excluded=_excluded(options, config),
            force_exclude=options["force_exclude"],
            stdin=stdin,
            jobs=options["jobs"],
            advance=None if options["no_progress"] else _watched(bars),
        )
    except MissingPaths as error:
        _fail_missing(error.paths)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except ValueError as error:
        fail(str(error))
    finally:
        for bar in bars:
            bar.close()


def _watched(bars: list[Any]) -> Callable[[int], Callable[[int], None]]:
    """Makes the progress bar, where somebody watches, and keeps it in ``bars``."""

    def advance(total: int) -> Callable[[int], None]:
        from irlint.command.progress import Bar, wanted

        if not wanted(sys.stderr):
            return lambda done: None
        bars.append(Bar(total))
        return bars[0]  # type: ignore[no-any-return]

    return advance


def _fail_missing(paths: Sequence[str]) -> NoReturn:
    lines = [f"no such file or folder: {path}" for path in paths]
    fail(lines[0], *lines[1:])


def _fail_empty(report: Report) -> NoReturn:
    from irlint.findings.report import POINTER_SKIPPED

    pointers = sum(file.reason == POINTER_SKIPPED for file in report.files)
    others = len(report.files) - pointers
    told = [f"{others} .xml skipped: no IR"] * bool(others) + [f"{pointers} skipped: Git LFS pointers"] * bool(pointers)
    joined = ", ".join(told)
    fail(f"nothing to check{f' ({joined})' if told else ''}", ALLOWED_EMPTY)


def _notices(
    paths: Sequence[str], options: Mapping[str, Any], config: Config | None, policy: Policy | None, report: Report
) -> Iterator[str]:
    """What the person who runs the check should know of suppressions and the baseline."""
    yield from (notice for file in report.files for notice in file.notices)
    if policy is None:
        return
    if config is not None:
        from irlint.policy.suppressions import stale

        yield from (entry.told_expired() for entry in config.suppress if entry.expired())
        used = frozenset(at for file in report.files for at in file.used)
        files = [file.path for file in report.files if file.status != "skipped"]
        whole = not options["exclude"] and any(_holds(path, config.root) for path in paths)
        yield from stale(policy.suppress, used, files, whole, config.root, policy)
    if policy.baseline and not options["update_baseline"]:
        from irlint.policy import baseline

        idle = baseline.stale(policy.baseline, report, policy.baseline_root, policy.reports)
        if idle:
            yield f"{options['baseline']}: {baseline.told(idle)}; --update-baseline takes them out"


def _holds(path: str, root: str) -> bool:
    """Whether a folder is ``root`` or one around it."""
    return os.path.isdir(path) and os.path.join(os.path.realpath(root), "").startswith(
        os.path.join(os.path.realpath(path), "")
    )


def _updated(report: Report, options: Mapping[str, Any], policy: Policy | None) -> tuple[Report, str]:
    """Writes the baseline; the report without the findings that are now in it, and what was done."""
    from irlint.policy import baseline

    assert policy is not None
    file, root = options["baseline"], policy.baseline_root
    change = baseline.updated(policy.baseline or {}, report, root, policy.reports)
    write(file, baseline.text(change.entries), "--update-baseline")
    told = f"wrote {file}: {change.added} added, {change.kept} kept, {change.removed} removed"
    return baseline.hidden(report, change.entries, root), told


def _rendered(report: Report, form: str, options: Mapping[str, Any], stream: bool = False) -> str:
    if form == "junit":
        from irlint.reporters import junit

        return junit.rendered(report, options["fail_on"])
    if form in DOCUMENTS:
        from importlib import import_module

        document: str = import_module(f"irlint.reporters.{form}").rendered(report)
        return document
    statistics = _statistics(report) if options["statistics"] else ""
    if not report.findings:
        from irlint.reporters.plain import summary

        return "" if options["quiet"] else summary(report)
    if form == "concise":
        from irlint.reporters import concise

        lines = "".join(f"{concise.line(finding)}\n" for finding in report.findings)
        return (lines if options["quiet"] else concise.rendered(report)) + statistics
    from irlint.reporters import text as drawing

    told = drawing.rendered(
        report,
        color=drawing.colored(options["color"], sys.stdout) if stream else False,
        every=options["verbose"],
        quiet=options["quiet"],
        columns=drawing.width(sys.stdout) if stream else drawing.PIPE_WIDTH,
        encoding=encoding() if stream else "utf-8",
    )
    return told + statistics


def _statistics(report: Report) -> str:
    """How many findings each rule has, a line for each, the most frequent first."""
    from collections import Counter

    counts = Counter((finding.rule.code, finding.rule.name) for finding in report.findings)
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return "".join(f"{count:6}  {code}  {name}\n" for (code, name), count in rows)


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
        notify(f"warning: cannot write GITHUB_STEP_SUMMARY {file}: {error.strerror}")


def _tell(report: Report, options: Mapping[str, Any], notices: Iterable[str]) -> None:
    """Writes to standard error what is no part of the report."""
    from irlint.reporters.plain import safe

    if options["verbose"]:
        complain("".join(f"irlint: {line}\n" for line in _account(report, options)))
    if options["statistics"] and options["form"] in DOCUMENTS:
        complain(_statistics(report))
    if not options["quiet"]:
        complain("".join(f"irlint: note: {safe(notice)}\n" for notice in notices))


def _account(report: Report, options: Mapping[str, Any]) -> Iterator[str]:
    """The configuration, and what became of each file."""
    from irlint.findings.wording import counted
    from irlint.reporters.plain import safe

    yield f"the configuration is {safe(options['configured'])}" if options["configured"] else "no configuration"
    counts: dict[str, int] = {}
    for finding in report.findings:
        counts[finding.path] = counts.get(finding.path, 0) + 1
    for file in report.files:
        told = file.reason or f"{counted(file.nodes, 'node')}, {counted(counts.get(file.path, 0), 'finding')}"
        yield f"{safe(file.path)}: {file.status}, {told}"


def _finish(report: Report, fail_on: str) -> NoReturn:
    if fail_on == "never" or not report.findings:
        raise SystemExit(0)
    from irlint.findings.faults import Severity

    least = Severity(fail_on).rank
    raise SystemExit(int(any(finding.severity.rank >= least for finding in report.findings)))
