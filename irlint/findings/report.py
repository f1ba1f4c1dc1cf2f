"""The findings of a run, and the report that they are."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.lazy_typing import Any
from irlint.records import record, replaced


@record
class Related:
    """Another node that a finding speaks of."""

    node: str
    message: str
    line: int | None = None


@record
class Finding:
    """A fault with its place in a file; ``detail`` is what the text report draws, plain data only.

    ``because`` is the fingerprint of the finding that this one follows from, "" for a root; in a report that is folded,
    ``following`` are those that follow from it. ``target`` is the release of a runtime that it is about, "" for any.
    """

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
    because: str = ""
    following: tuple[Finding, ...] = ()
    target: str = ""

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
            **({"because": self.because} if self.because else {}),
            **({"target": self.target} if self.target else {}),
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

    @property
    def following(self) -> int:
        """How many findings follow from others."""
        return sum(bool(finding.because) + len(finding.following) for finding in self.findings)

    def folded(self) -> Report:
        """The report with its roots only, each with what follows from it."""
        found: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            if finding.because:
                found.setdefault((finding.path, finding.because), []).append(finding)
        if not found:
            return self
        roots = (
            replaced(root, following=tuple(found.get((root.path, root.fingerprint), ())))
            for root in self.findings
            if not root.because
        )
        return replaced(self, findings=tuple(roots))

    def count(self, severity: Severity) -> int:
        """How many roots are of a severity."""
        return sum(finding.severity is severity and not finding.because for finding in self.findings)

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
                **{key: count for key in ("following", "suppressed", "hidden") if (count := getattr(self, key))},
            },
        }
