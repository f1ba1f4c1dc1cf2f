"""Counts of findings by rule, operator and exporter, over many files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irlint.findings.faults import SEVERITIES, Severity
from irlint.findings.report import COUNTED, Report
from irlint.lazy_typing import Any

#: At most this many operators and exporters are counted separately. The others share the name OTHERS.
MOST_NAMES = 10_000
OTHERS = "(others)"

#: The exporter of a file that names none.
UNKNOWN = "(unknown)"

Entry = Mapping[str, Any]


class Tally:
    """Counts over files and their findings, which are dictionaries as in JSON reports.

    ``severities``, ``rules`` and ``operators`` count roots: findings that follow from no other finding.
    """

    def __init__(self) -> None:
        # ``with_roots`` counts the files with a root, and ``following`` the findings that are no roots.
        self.files = self.skipped = self.unreadable = self.with_roots = 0
        self.following = self.suppressed = self.hidden = self.errors_hidden = 0
        self.severities = dict.fromkeys((severity.value for severity in SEVERITIES), 0)
        self.formats: dict[str, int] = {}
        #: By the code and the name of the rule.
        self.rules: dict[tuple[str, str], int] = {}
        self.operators: dict[str, int] = {}
        #: By exporter: [models, models with errors, roots].
        self.exporters: dict[str, list[int]] = {}
        #: The highest severity of all findings.
        self.worst: Severity | None = None

    def add(self, file: Entry, findings: Iterable[Entry]) -> None:
        """Counts a file and, unless the file is skipped, its findings."""
        self.files += 1
        self.suppressed += file.get("suppressed", 0)
        self.hidden += file.get("hidden", 0)
        self.errors_hidden += file.get("errors_hidden", 0)
        if file["status"] == "skipped":
            self.skipped += 1
            return
        self.unreadable += file["status"] == "unreadable"
        if file["status"] == "checked":
            _count(self.formats, file["format"])
        roots = [finding for finding in findings if self._add_finding(finding)]
        self.with_roots += bool(roots)
        producer = file.get("producer") or UNKNOWN
        if producer not in self.exporters and len(self.exporters) >= MOST_NAMES:
            producer = OTHERS
        counts = self.exporters.setdefault(producer, [0, 0, 0])
        counts[0] += 1
        counts[1] += any(root["severity"] == Severity.ERROR.value for root in roots)
        counts[2] += len(roots)

    def _add_finding(self, finding: Entry) -> bool:
        """Counts a finding. Returns whether the finding is a root."""
        severity = Severity(finding["severity"])
        if self.worst is None or severity.rank > self.worst.rank:
            self.worst = severity
        if finding.get("because"):
            self.following += 1
            return False
        self.severities[severity.value] += 1
        rule = finding["code"], finding["rule"]
        self.rules[rule] = self.rules.get(rule, 0) + 1
        if finding["op"]:
            _count(self.operators, finding["op"])
        return True

    def summary(self) -> dict[str, int]:
        """The counts as ``check --format json`` has them."""
        more = {name: count for name in COUNTED if (count := getattr(self, name))}
        return {"files": self.files, **{f"{name}s": count for name, count in self.severities.items()}, **more}

    def as_dict(self) -> dict[str, Any]:
        """All counts, as ``irlint summary --format json`` prints them."""
        return {
            "schema": "irlint-summary-1",
            "summary": {**self.summary(), "skipped": self.skipped, "unreadable": self.unreadable},
            "rules": [{"code": code, "rule": name, "findings": n} for (code, name), n in most_first(self.rules)],
            "operators": [{"op": op, "findings": count} for op, count in most_first(self.operators)],
            "exporters": [
                {"producer": name, "models": models, "with_errors": broken, "findings": count}
                for name, (models, broken, count) in most_models_first(self.exporters)
            ],
        }


def of(report: Report) -> Tally:
    """The counts for a report."""
    found: dict[str, list[Entry]] = {}
    for finding in report.findings:
        found.setdefault(finding.path, []).append(finding.as_dict())
    tally = Tally()
    for file in report.files:
        tally.add(entry_of(file), found.get(file.path, ()))
    return tally


def entry_of(file: Any) -> Entry:
    """The entry of a file for ``Tally.add``."""
    return {**file.as_dict(), "producer": file.producer, **unreported(file)}


def unreported(file: Any) -> dict[str, int]:
    """The counts of a file's unreported findings.

    These are suppressed findings, findings that the baseline hides, and errors that the configuration hides or lowers.
    """
    return {"suppressed": file.suppressed, "hidden": len(file.hidden), "errors_hidden": file.errors_hidden}


def most_first(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """The pairs (name, count), the largest count first, then by name."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def most_models_first(exporters: Mapping[str, list[int]]) -> list[tuple[str, list[int]]]:
    """The pairs (exporter, counts), the exporter of the most models first, then by name."""
    return sorted(exporters.items(), key=lambda entry: (-entry[1][0], entry[0]))


def _count(counts: dict[str, int], key: str) -> None:
    key = key if key in counts or len(counts) < MOST_NAMES else OTHERS
    counts[key] = counts.get(key, 0) + 1
