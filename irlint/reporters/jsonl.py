"""The report as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

from irlint.findings.report import CheckedFile, Finding, Report
from irlint.findings.tally import unreported
from irlint.lazy_typing import Any

SCHEMA = "irlint-jsonl-1"


def rendered(report: Report) -> str:
    """The line of the run, the lines of each file, and the line of the summary."""
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    files = "".join(of_file(file, by_path.get(file.path, ())) for file in report.files)
    return run(report.version) + files + end(report.as_dict()["summary"])


def run(version: str, **more: Any) -> str:
    """The first line, with the schema and the version of irlint."""
    return _line("run", {"schema": SCHEMA, "version": version, **more})


def of_file(file: CheckedFile, findings: Iterable[Finding]) -> str:
    """The lines of the findings of a file, then the line of the file."""
    entry = file.as_dict()
    entry |= {"about": entry.pop("kind")} if file.kind else {}
    entry |= {"producer": file.producer} if file.producer else {}
    entry |= {name: count for name, count in unreported(file).items() if count}
    entry |= {"size": file.size, "stamp": file.stamp} if file.size is not None else {}
    return "".join(_line("finding", finding.as_dict()) for finding in findings) + _line("file", entry)


def end(summary: dict[str, Any]) -> str:
    """The last line."""
    return _line("summary", summary)


def _line(kind: str, entry: dict[str, Any]) -> str:
    return json.dumps({"kind": kind, **entry}, ensure_ascii=False, separators=(",", ":")) + "\n"
