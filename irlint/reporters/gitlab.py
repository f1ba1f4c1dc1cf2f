"""The report for GitLab's Code Quality: a list of issues."""

from __future__ import annotations

from irlint.findings.report import Finding, Report
from irlint.reporters import excerpt, markdown
from irlint.reporters.headlines import headline, repository_paths
from irlint.reporters.plain import safe

SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


def rendered(report: Report) -> str:
    """The issues in document order, one on each line. No two issues have the same fingerprint."""
    import json

    places = repository_paths(report)
    counts: dict[str, int] = {}
    issues = []
    for finding in report.findings:
        key = "\0".join((places[finding.path], finding.rule.code, finding.fingerprint))
        counts[key] = counts.get(key, 0) + 1
        issues.append(_issue(finding, places[finding.path], f"{key}\0{counts[key]}"))
    text = ",\n".join(map(json.dumps, issues))
    return f"[\n{text}\n]\n" if text else "[]\n"


def _issue(finding: Finding, place: str, key: str) -> dict[str, object]:
    from hashlib import sha256

    return {
        "description": headline(finding),
        "content": {"body": markdown.fenced(excerpt.of_one(finding))},
        "check_name": finding.rule.code,
        "fingerprint": sha256(key.encode("utf-8", "backslashreplace")).hexdigest()[:32],
        "severity": SEVERITIES[finding.severity.value],
        "location": {"path": safe(place), "lines": {"begin": finding.line or 1}},
    }
