"""The findings of a run, and the report that they are."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.lazy_typing import Any
from irlint.records import record


@record
class Related:
    """Another node that a finding speaks of."""

    node: str
    message: str
    line: int | None = None


@record
class Finding:
    """A fault with its place in a file; ``detail`` is what the text report draws, plain data only."""

    path: str
    rule: Rule
    severity: Severity
    message: str
    help: str = ""
    graph: str = ""
    node: str | None = None
    op: str | None = None
    op_version: str | None = None
    value: str | None = None
    input: int | None = None
    line: int | None = None
    column: int | None = None
    related: tuple[Related, ...] = ()
    fingerprint: str = ""
    detail: Any = None

    def as_dict(self) -> dict[str, Any]:
        """The finding as ``check --format json`` prints it."""
        return {
            "path": self.path,
            "code": self.rule.code,
            "rule": self.rule.name,
            "severity": self.severity.value,
            "message": self.message,
            "help": self.help,
            "graph": self.graph,
            "node": self.node,
            "op": self.op,
            "op_version": self.op_version,
            "value": self.value,
            "input": self.input,
            "line": self.line,
            "column": self.column,
            "related": [{"node": r.node, "message": r.message, "line": r.line} for r in self.related],
            "fingerprint": self.fingerprint,
        }


#: Why a Git LFS pointer is skipped where the configuration allows that.
POINTER_SKIPPED = "a Git LFS pointer: the model itself has not been fetched"


@record
class CheckedFile:
    """One file of a run; ``status`` is ``checked``, ``unreadable`` or ``skipped`` (then with a ``reason``).

    ``suppressed`` counts the findings that suppressions hide, ``used`` are the indices of those that did; ``hidden`` holds the
    code and the fingerprint of each finding that the baseline hides. ``notices`` are for the person who runs the check, ``missing`` the
    names of inputs that were given a shape and that the model does not have.
    """

    path: str
    format: str | None
    format_version: str | None = None
    nodes: int = 0
    status: str = "checked"
    reason: str | None = None
    suppressed: int = 0
    used: tuple[int, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "path": self.path,
            "format": self.format,
            "format_version": self.format_version,
            "nodes": self.nodes,
            "status": self.status,
        }
        return entry if self.reason is None else {**entry, "reason": self.reason}


@record
class Report:
    """What one run has to say."""

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    version: str

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for finding in self.findings)

    @property
    def suppressed(self) -> int:
        """How many findings suppressions hide."""
        return sum(file.suppressed for file in self.files)

    @property
    def hidden(self) -> int:
        """How many findings the baseline hides."""
        return sum(len(file.hidden) for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """The report as ``check --format json`` prints it."""
        return {
            "schema": "irlint-report-1",
            "version": self.version,
            "files": [file.as_dict() for file in self.files],
            "findings": [finding.as_dict() for finding in self.findings],
            "summary": {
                "files": len(self.files),
                "errors": self.count(Severity.ERROR),
                "warnings": self.count(Severity.WARNING),
                "notes": self.count(Severity.NOTE),
                **{key: count for key in ("suppressed", "hidden") if (count := getattr(self, key))},
            },
        }
