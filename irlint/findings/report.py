"""Findings, and the report on a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irlint.findings.faults import SEVERITIES, Rule, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.findings.edits import Fix

#: The rule families for which reports show both the tried fix and the help.
DECLARATIONS = "declarations"
WITH_BOTH_HELPS = ("element-types", DECLARATIONS)


@record
class Related:
    """Another node to which a finding refers."""

    node: str
    message: str
    line: int | None = None


@record
class Operand:
    """An input of the node of a finding."""

    input: int
    name: str
    dtype: str | None = None
    #: As in ``irlint shapes``.
    shape: tuple[int | str | None, ...] | None = None
    #: The node that computes the input.
    producer: str | None = None
    axes: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The operand as ``check --format json`` prints it."""
        return {
            "input": self.input,
            "name": self.name,
            "dtype": self.dtype,
            "shape": None if self.shape is None else list(self.shape),
            "producer": self.producer,
            **({"axes": list(self.axes)} if self.axes else {}),
        }


@record
class Finding:
    """A fault with its place in a file."""

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
    #: Plain data for the snippet of the text report.
    detail: Any = None
    #: The fingerprint of the finding that causes this one; "" for a root.
    because: str = ""
    #: In a folded report, the findings that follow from this one.
    following: tuple[Finding, ...] = ()
    #: The release of a runtime, for a finding about a target.
    target: str = ""
    index: int | None = None
    #: The first axis at fault of ``input``.
    axis: int | None = None
    operands: tuple[Operand, ...] = ()
    #: The end of the place. The character at this column does not belong to the place.
    end_line: int | None = None
    end_column: int | None = None
    #: The text of a tried fix, such as ``set `axis = 1` ``.
    suggestion: str = ""
    fix: Fix | None = None

    def __repr__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        what = " ".join(filter(None, (self.op, self.node if self.node is not None else self.value)))
        place = f"{self.path}{line}: {what}" if what else f"{self.path}{line}"
        return f"<Finding {self.severity.value}[{self.rule.code}] {place}: {self.message}>"

    @property
    def helps(self) -> tuple[str, ...]:
        """The tried fix if there is one, else the help. Findings of the families in WITH_BOTH_HELPS have both.

        An error has only one of the two if it is about a declaration, or if irlint can write its fix.
        """
        is_decided = self.severity is Severity.ERROR and (self.rule.family == DECLARATIONS or self.fix is not None)
        both = self.rule.family in WITH_BOTH_HELPS and not is_decided
        is_shown = (both and self.help not in self.suggestion) or not self.suggestion
        return tuple(filter(None, (self.suggestion, self.help if is_shown else "")))

    def as_dict(self) -> dict[str, Any]:
        """The finding as ``check --format json`` prints it."""
        from irlint.findings.documentation import url

        page = url(self.rule.code)
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
            **({"index": self.index} if self.index is not None else {}),
            **({"axis": self.axis} if self.axis is not None else {}),
            **({"operands": [operand.as_dict() for operand in self.operands]} if self.operands else {}),
            **({"end_line": self.end_line, "end_column": self.end_column} if self.end_line is not None else {}),
            **({"lever": self.suggestion} if self.suggestion else {}),
            **({"fix": self.fix.as_dict()} if self.fix is not None else {}),
            **({"url": page} if page else {}),
        }


def with_roots(findings: Iterable[Finding]) -> list[Finding]:
    """The findings; a finding becomes a root if its cause is not among them."""
    findings = list(findings)
    places = {(finding.path, finding.fingerprint) for finding in findings}
    return [
        replaced(finding, because="") if finding.because and (finding.path, finding.because) not in places else finding
        for finding in findings
    ]


@record
class Silenced:
    """A finding that is not reported."""

    finding: Finding
    #: What suppresses the finding: ``model``, ``configuration`` or ``baseline``.
    by: str
    #: The reason of the suppression, or "".
    reason: str = ""


#: The counts that a summary has beside the severities; counts of 0 are omitted.
COUNTED = ("following", "suppressed", "hidden", "errors_hidden")

#: Why a Git LFS pointer is skipped.
POINTER_SKIPPED = "a Git LFS pointer: the model itself has not been fetched"


@record
class CheckedFile:
    """One file of a run."""

    path: str
    format: str | None
    format_version: str | None = None
    nodes: int = 0
    #: ``checked``, ``unreadable`` or ``skipped``.
    status: str = "checked"
    #: Why the file is skipped.
    reason: str | None = None
    suppressed: int = 0
    #: The indices of the suppressions that match.
    used: tuple[int, ...] = ()
    #: The findings that the baseline hides, as (code, fingerprint).
    hidden: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    #: The names in ``--shape`` or in the configuration that are no inputs of the model.
    missing: tuple[str, ...] = ()
    #: The unreported findings, if an output format shows them.
    silenced: tuple[Silenced, ...] = ()
    #: The tool that wrote the file, or "".
    producer: str = ""
    #: The number of bytes, for runs that can be resumed.
    size: int | None = None
    #: A text that changes when the file is written, for runs that can be resumed.
    stamp: str = ""
    #: The facts about the model, if an output format shows them.
    facts: Any = None
    #: The number of errors that the configuration hides or lowers.
    errors_hidden: int = 0
    #: The missing package that the file needs, or "".
    lacking: str = ""
    #: The tool to which a configuration file belongs; "" for a model.
    kind: str = ""

    def as_dict(self) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "path": self.path,
            "format": self.format,
            "format_version": self.format_version,
            "nodes": self.nodes,
            "status": self.status,
            **({"kind": self.kind} if self.kind else {}),
        }
        return entry if self.reason is None else {**entry, "reason": self.reason}


@record
class Report:
    """The results of one run."""

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    version: str
    #: Renders the text report, from the report, ``color`` and ``columns``.
    renderer: Callable[..., str] | None = None
    #: The configuration file in use, or "".
    configuration: str = ""
    #: The releases that must load the models: ``onnxruntime@1.17``.
    targets: tuple[str, ...] = ()

    def __repr__(self) -> str:
        counts = [counted(self.count(severity), severity.value) for severity in SEVERITIES if self.count(severity)]
        unchecked = f", {counted(len(self.lacking), 'model')} not checked" if self.lacking else ""
        return f"<Report: {', '.join(counts) or 'no findings'} in {counted(self.models, 'model')}{unchecked}>"

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The text report with ``width`` columns. The default is the width that ``irlint check`` uses for a pipe."""
        if self.renderer is None:
            return "".join(f"{finding!r}\n" for finding in self.findings)
        return self.renderer(self, color=color) if width is None else self.renderer(self, color=color, columns=width)

    @property
    def models(self) -> int:
        """The number of files that were not skipped."""
        return sum(file.status != "skipped" for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether a file was checked, no root is an error, and no package is missing."""
        return self.models > 0 and not self.count(Severity.ERROR) and not self.lacking

    @property
    def lacking(self) -> tuple[CheckedFile, ...]:
        """The files that were skipped because of a missing package."""
        return tuple(file for file in self.files if file.lacking)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The roots that are errors."""
        return self._roots(Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The roots that are warnings."""
        return self._roots(Severity.WARNING)

    def raise_for_errors(self) -> None:
        """Raises InvalidModel unless the report is ``ok``."""
        if not self.ok:
            raise InvalidModel(self)

    def _roots(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity is severity and not finding.because)

    @property
    def following(self) -> int:
        """The number of findings that are no roots."""
        return sum(bool(finding.because) + len(finding.following) for finding in self.findings)

    def folded(self) -> Report:
        """The report with only its roots, which contain the findings that follow from them."""
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
        """The number of roots with a severity."""
        return len(self._roots(severity))

    @property
    def suppressed(self) -> int:
        """The number of suppressed findings."""
        return sum(file.suppressed for file in self.files)

    @property
    def hidden(self) -> int:
        """The number of findings that the baseline hides."""
        return sum(len(file.hidden) for file in self.files)

    @property
    def errors_hidden(self) -> int:
        """The number of errors that the configuration hides or lowers."""
        return sum(file.errors_hidden for file in self.files)

    def as_dict(self) -> dict[str, Any]:
        """The report as ``check --format json`` prints it."""
        return {
            "schema": "irlint-report-1",
            "version": self.version,
            **({"targets": list(self.targets)} if self.targets else {}),
            "files": [file.as_dict() for file in self.files],
            "findings": [finding.as_dict() for finding in self.findings],
            "summary": {
                "files": len(self.files),
                "errors": self.count(Severity.ERROR),
                "warnings": self.count(Severity.WARNING),
                "notes": self.count(Severity.NOTE),
                **{key: count for key in COUNTED if (count := getattr(self, key))},
            },
        }


class InvalidModel(ValueError):
    """Raised for a report that is not ``ok``; its text is the text report."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        return str(self.report)
