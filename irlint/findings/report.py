"""Findings, and the report on a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irlint.findings.faults import SEVERITIES, Rule, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.records import record, replaced

if TYPE_CHECKING:
    from irlint.findings.edits import Fix

#: The rule families for which reports show both the tried fix and the advice of the rule: a user may want to change a
#: declaration, or to convert a value.
DECLARED = "declarations"
BOTH = ("element-types", DECLARED)


@record
class Related:
    """Another node to which a finding refers."""

    node: str
    message: str
    line: int | None = None


@record
class Operand:
    """An input of the node of a finding.

    ``shape`` is as in ``irlint shapes``. ``producer`` is the node that computes the input, or None. ``axes`` are the
    axes at fault.
    """

    input: int
    name: str
    dtype: str | None = None
    shape: tuple[int | str | None, ...] | None = None
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
    """A fault with its place in a file; ``detail`` is plain data for the snippet of the text report.

    ``because`` is the fingerprint of the finding from which this finding follows, "" for a root. In a folded report,
    ``following`` has the findings that follow from this finding. ``target`` is the runtime release that the finding is
    about, or "". ``index`` is the index of the node in its graph. ``axis`` is the first axis at fault of the input at
    fault. ``end_line`` and ``end_column`` are the exclusive end of the place. ``suggestion`` is the text of a tried
    fix, such as ``set `axis = 1` ``, and ``fix`` has its edits.
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
    index: int | None = None
    axis: int | None = None
    operands: tuple[Operand, ...] = ()
    end_line: int | None = None
    end_column: int | None = None
    suggestion: str = ""
    fix: Fix | None = None

    def __repr__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        what = " ".join(filter(None, (self.op, self.node if self.node is not None else self.value)))
        place = f"{self.path}{line}: {what}" if what else f"{self.path}{line}"
        return f"<Finding {self.severity.value}[{self.rule.code}] {place}: {self.message}>"

    @property
    def helps(self) -> tuple[str, ...]:
        """The tried fix if there is one, else the help of the fault.

        For the families in BOTH, the tried fix and then the help, except for an error about a declaration, or of
        element types with a fix that can be written.
        """
        is_decided = self.severity is Severity.ERROR and (self.rule.family == DECLARED or self.fix is not None)
        both = self.rule.family in BOTH and not is_decided
        return tuple(each for each in (self.suggestion, self.help if both or not self.suggestion else "") if each)

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
            **({"operands": [each.as_dict() for each in self.operands]} if self.operands else {}),
            **({"end_line": self.end_line, "end_column": self.end_column} if self.end_line is not None else {}),
            **({"lever": self.suggestion} if self.suggestion else {}),
            **({"fix": self.fix.as_dict()} if self.fix is not None else {}),
            **({"url": page} if page else {}),
        }


def with_roots(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, where each finding becomes a root if the finding from which it follows is not in the list."""
    listed = list(findings)
    reported = {(finding.path, finding.fingerprint) for finding in listed}
    return [
        replaced(each, because="") if each.because and (each.path, each.because) not in reported else each
        for each in listed
    ]


@record
class Silenced:
    """A finding that is not reported.

    ``by`` is ``model`` if the model lists the rule to ignore, ``configuration`` if the configuration suppresses the
    finding, and ``baseline`` if the baseline contains it. ``reason`` is the reason of the suppression, or "".
    """

    finding: Finding
    by: str
    reason: str = ""


#: The counts that a summary has beside the severities, if they are not 0.
COUNTED = ("following", "suppressed", "hidden", "errors_hidden")

#: Why a Git LFS pointer is skipped when the configuration allows that.
POINTER_SKIPPED = "a Git LFS pointer: the model itself has not been fetched"


@record
class CheckedFile:
    """One file of a run; ``status`` is ``checked``, ``unreadable`` or ``skipped`` (with a ``reason``).

    ``suppressed`` is the number of suppressed findings, and ``used`` has the indices of the suppressions that matched.
    ``hidden`` has the code and fingerprint of each finding that the baseline hides. ``errors_hidden`` is the number of
    errors that the configuration hides or lowers. ``notices`` are messages for the user. ``missing`` are the names in
    ``--shape`` or in the configuration that are no inputs of the model.

    ``silenced`` has the unreported findings and ``facts`` the facts about the model, if an output format shows them.
    ``producer`` is the tool that wrote the file, or "". ``size`` is the number of bytes, and ``stamp`` is a text that
    changes when the file is written; both are set only for runs that can be resumed. ``lacking`` is the missing package
    because of which the file is skipped, or "". ``kind`` is the tool to which a configuration belongs, "" for a model.
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
    silenced: tuple[Silenced, ...] = ()
    producer: str = ""
    size: int | None = None
    stamp: str = ""
    facts: Any = None
    errors_hidden: int = 0
    lacking: str = ""
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
    """The results of one run.

    ``written`` is the function that renders the text report, from the report, ``color`` and ``columns``; None renders a
    line for each finding. ``configuration`` is the configuration file in use, or "".
    """

    files: tuple[CheckedFile, ...]
    findings: tuple[Finding, ...]
    version: str
    written: Callable[..., str] | None = None
    configuration: str = ""

    def __repr__(self) -> str:
        counts = [counted(self.count(each), each.value) for each in SEVERITIES if self.count(each)]
        unchecked = f", {counted(len(self.lacking), 'model')} not checked" if self.lacking else ""
        return f"<Report: {', '.join(counts) or 'no findings'} in {counted(self.models, 'model')}{unchecked}>"

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The text report, as ``irlint check`` prints it with ``width`` columns; by default, as it prints to a pipe."""
        if self.written is None:
            return "".join(f"{finding!r}\n" for finding in self.findings)
        return self.written(self, color=color) if width is None else self.written(self, color=color, columns=width)

    @property
    def models(self) -> int:
        """The number of files that were not skipped."""
        return sum(file.status != "skipped" for file in self.files)

    @property
    def ok(self) -> bool:
        """Whether a file was checked, no file has an error, and no file was skipped because of a missing package."""
        return self.models > 0 and not self.count(Severity.ERROR) and not self.lacking

    @property
    def lacking(self) -> tuple[CheckedFile, ...]:
        """The files that were skipped because of a missing package."""
        return tuple(file for file in self.files if file.lacking)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The errors that do not follow from another finding."""
        return self._roots(Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings that do not follow from another finding."""
        return self._roots(Severity.WARNING)

    def raise_for_errors(self) -> None:
        """Raises InvalidModel unless the report is ``ok``."""
        if not self.ok:
            raise InvalidModel(self)

    def _roots(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.severity is severity and not each.because)

    @property
    def following(self) -> int:
        """The number of findings that follow from others."""
        return sum(bool(finding.because) + len(finding.following) for finding in self.findings)

    def folded(self) -> Report:
        """The report with only its roots, each with the findings that follow from it."""
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
