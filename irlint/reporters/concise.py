"""The report with one line for each finding."""

from __future__ import annotations

from irlint.findings.report import Finding, Report
from irlint.reporters.headlines import and_following
from irlint.reporters.plain import brief, place, safe, summary


def rendered(report: Report, quiet: bool = False) -> str:
    """A line for each finding, then the summary unless ``quiet``."""
    lines = "".join(f"{line(finding)}\n" for finding in report.findings)
    if quiet:
        return lines
    return f"{lines}\n{summary(report)}" if lines else summary(report)


def line(finding: Finding) -> str:
    """``m.xml:418:3: error[IRL201] Add: … (add_12)``."""
    op = f" {brief(finding.op)}:" if finding.op else ""
    name = finding.node if finding.node is not None else finding.value
    where = f"{finding.graph}: {name}" if finding.graph and name else name or finding.graph
    suffix = f" ({brief(where)})" if where else ""
    head = f"{finding.severity.value}[{finding.rule.code}]"
    return f"{place(finding)}: {head}{op} {safe(finding.message)}{suffix}{and_following(finding)}"
