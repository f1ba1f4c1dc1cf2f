"""The report for GitHub Actions: workflow commands in the log, and a page for the job summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from irlint.findings.faults import SEVERITIES
from irlint.findings.report import Finding, Report
from irlint.findings.wording import counted
from irlint.reporters import excerpt, markdown
from irlint.reporters.headlines import headline, repository_paths
from irlint.reporters.markdown import place_of
from irlint.reporters.plain import safe, summary, unheard

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}

#: GitHub shows at most this many commands of each kind, and silently drops further ones.
SHOWN = 10

PAGE = markdown.PAGE

#: The largest size of the text report in the log, in bytes.
LOG = 1_000_000


def rendered(report: Report) -> str:
    """At most ten commands for each severity, then two folded parts, then the summary.

    The folded parts are the findings without a command, and the text report.
    """
    places = repository_paths(report)
    commands: list[str] = []
    rest: list[Finding] = []
    for severity in SEVERITIES:
        found = _spread([finding for finding in report.findings if finding.severity is severity])
        shown = found if len(found) <= SHOWN else found[: SHOWN - 1]
        commands += [_command(finding, places) for finding in shown]
        others = found[len(shown) :]
        rest += others
        if others:
            files = counted(len({finding.path for finding in others}), "file")
            text = f"{counted(len(others), f'more {severity.value}')} in {files}: the log of this step lists them"
            commands.append(f"::{COMMANDS[severity.value]} title=irlint::{_data(text)}")
    return "".join(f"{line}\n" for line in (*commands, *_folded(rest, places), *_in_full(report))) + _log(
        summary(report)
    )


def _spread(findings: Sequence[Finding]) -> list[Finding]:
    """The first finding of every file, then the second of every file, and so on."""
    counts: dict[str, int] = {}
    ranks = []
    for position, finding in enumerate(findings):
        counts[finding.path] = rank = counts.get(finding.path, 0) + 1
        ranks.append((rank, position))
    return [findings[position] for _, position in sorted(ranks)]


def _command(finding: Finding, places: Mapping[str, str]) -> str:
    properties = {"file": safe(places[finding.path])}
    if finding.line is not None:
        properties["line"] = str(finding.line)
        properties["col"] = str(finding.column or 1)
    properties["title"] = f"{finding.rule.code} {finding.rule.name}"
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = "\nhelp: ".join((headline(finding), *map(safe, finding.helps)))
    return f"::{COMMANDS[finding.severity.value]} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _folded(findings: Sequence[Finding], places: Mapping[str, str]) -> Iterable[str]:
    if not findings:
        return
    yield f"::group::{counted(len(findings), 'more finding')}"
    for finding in findings:
        yield _log(f"{finding.severity.value}[{finding.rule.code}] {place_of(finding, places)}: {headline(finding)}")
    yield "::endgroup::"


def _in_full(report: Report) -> Iterable[str]:
    if report.findings:
        yield "::group::The findings in full"
        yield unheard(excerpt.within(excerpt.of_all(report), LOG))
        yield "::endgroup::"


def _log(text: str) -> str:
    """A line in which ``##[`` begins no command. Commands of this older kind may begin anywhere in a line."""
    return text.replace("##[", "## [")


def page(report: Report, room: int = PAGE) -> str:
    """Markdown for the job summary, the worst findings first, in at most ``room`` bytes of UTF-8."""
    return markdown.page_of(report, room)
