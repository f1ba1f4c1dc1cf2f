"""The report as one JSON document."""

from __future__ import annotations

from irlint.findings.report import Report


def rendered(report: Report) -> str:
    """The document ``irlint-report-1``."""
    import json

    return json.dumps(report.as_dict(), indent=2, ensure_ascii=False) + "\n"
