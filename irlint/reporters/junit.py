"""The report as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.findings.faults import Severity
from irlint.findings.report import CheckedFile, Finding, Report
from irlint.records import record
from irlint.reporters import excerpt
from irlint.reporters.headlines import headline, place_in_graph
from irlint.reporters.plain import safe

ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;"})


@record
class _Case:
    """A test case. ``outcome`` is ``failure``, ``error``, ``skipped``, ``system-out`` or empty."""

    name: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    text: str = ""


def rendered(report: Report, fail_on: str = "error") -> str:
    """A test suite for each file, with a test case for each finding. A file without findings has one case.

    A case passes if its finding is below the severity ``fail_on``. In an unreadable file, cases
    of findings are errors. A skipped file, and an unreadable file without findings, has one skipped case.
    """
    least = Severity.ERROR.rank if fail_on == "never" else Severity(fail_on).rank
    found: dict[str, list[Finding]] = {}
    for finding in report.findings:
        found.setdefault(finding.path, []).append(finding)
    suites = [(file.path, _cases(file, found.pop(file.path, []), least)) for file in report.files]
    suites += [(path, _distinct(_found(each, "failure", least) for each in rest)) for path, rest in found.items()]
    counts = _counts([case for _, cases in suites for case in cases])
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="irlint"{counts}>']
    for path, cases in suites:
        lines.append(f'  <testsuite name="{_escaped(path)}"{_counts(cases)}>')
        lines += [_element(path, case) for case in cases]
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _cases(file: CheckedFile, findings: Sequence[Finding], least: int) -> list[_Case]:
    if findings:
        outcome = "error" if file.status == "unreadable" else "failure"
        return _distinct(_found(finding, outcome, least) for finding in findings)
    if file.status == "unreadable":
        return [_Case("not checked", "skipped", message="it could not be read, so its findings are not reported")]
    if file.status == "skipped":
        return [_Case("not checked", "skipped", message=file.reason or "")]
    return [_Case("no findings")]


def _found(finding: Finding, outcome: str, least: int) -> _Case:
    where = place_in_graph(finding.graph, finding.node if finding.node is not None else finding.value)
    name = f"{finding.rule.code} {finding.rule.name}" + (f": {where}" if where else "")
    passed = outcome == "failure" and finding.severity.rank < least
    return _Case(
        name, "system-out" if passed else outcome, finding.rule.code, headline(finding), excerpt.of_one(finding)
    )


def _distinct(cases: Iterable[_Case]) -> list[_Case]:
    counts: dict[str, int] = {}
    result = []
    for case in cases:
        counts[case.name] = count = counts.get(case.name, 0) + 1
        name = case.name if count == 1 else f"{case.name} ({count})"
        result.append(_Case(name, case.outcome, case.kind, case.message, case.text))
    return result


def _counts(cases: Sequence[_Case]) -> str:
    names = {"tests": None, "failures": "failure", "errors": "error", "skipped": "skipped"}
    return "".join(
        f' {name}="{len(cases) if outcome is None else sum(case.outcome == outcome for case in cases)}"'
        for name, outcome in names.items()
    )


def _element(path: str, case: _Case) -> str:
    head = f'    <testcase classname="{_escaped(path)}" name="{_escaped(case.name)}"'
    if not case.outcome:
        return f"{head}/>"
    text = "\n".join(safe(line) for line in case.text.split("\n")).translate(ENTITIES).replace("&#10;", "\n")
    if case.outcome == "system-out":
        return f"{head}><system-out>{text}</system-out></testcase>"
    kind = f' type="{case.kind}"' if case.kind else ""
    return f'{head}><{case.outcome}{kind} message="{_escaped(case.message)}">{text}</{case.outcome}></testcase>'


def _escaped(text: str) -> str:
    return safe(text).translate(ENTITIES)
