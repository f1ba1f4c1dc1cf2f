"""Rules, the faults that break them, and the findings that a report is made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum

from irlint.dims import Dim, MaybeDim, at_least, divisible, same
from irlint.lazy_typing import Any
from irlint.records import record


class Severity(Enum):
    """How bad a finding is; see the public interface for what each promises."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        return ("note", "warning", "error").index(self.value)


#: Every rule by its code. A rule enters when the module that it stands in is imported.
RULES: dict[str, Rule] = {}


@record
class Rule:
    """A rule and its page.

    ``summary`` is one sentence that states the defect; ``why`` says what goes wrong without it, ``mend`` what to do.
    ``bad`` breaks the rule and ``good`` keeps it: each the text of an example in ONNX's text syntax or IR XML.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str = ""
    mend: str = ""
    bad: str = ""
    good: str = ""

    def __post_init__(self) -> None:
        if self.code in RULES:
            raise ValueError(f"two rules have the code {self.code}")
        RULES[self.code] = self

    @property
    def advice(self) -> str:
        """``mend`` as the help of a fault, which begins in lower case and has no full stop."""
        return f"{self.mend[:1].lower()}{self.mend[1:]}".removesuffix(".")

    def fault(self, message: str, **details: Any) -> Fault:
        """The fault that breaks this rule; ``details`` are the other fields of ``Fault``."""
        return Fault(self, message, **details)


#: A message up to so many characters stays as it is; in longer ones, lists and then the middle are left out.
LONGEST = 600

#: Of a list that is cut so many entries are shown.
SHOWN_ENTRIES = 8


def shortened(text: str) -> str:
    """A text of at most LONGEST characters, its lists cut first."""
    parts = text.split("]")
    for index, part in enumerate(parts):
        before, bracket, inside = part.rpartition("[")
        entries = inside.split(", ", SHOWN_ENTRIES)
        if bracket and len(entries) > SHOWN_ENTRIES:
            count = inside.count(", ") + 1
            shown = ", ".join(entries[:SHOWN_ENTRIES])
            parts[index] = f"{before}[{shown}, ... ({count} entries)"
    told = "]".join(parts)
    half = LONGEST // 2 - 3
    return told if len(told) <= LONGEST else f"{told[:half]} ... {told[-half:]}"


class Fault(Exception):
    """One place that breaks a rule, before anyone has said where it stands.

    ``message`` says what is, then what was expected, with numbers, axes and input indices. ``input`` is the index of the
    input at fault. ``marks`` are the clashing axes as (input index, axis) pairs, and ``aligned`` tells whether the
    shapes line up on their last axes (``right``) or their first (``left``). ``severity`` overrides the rule's.
    """

    def __init__(
        self,
        rule: Rule,
        message: str,
        help: str = "",
        input: int | None = None,
        marks: tuple[tuple[int, int], ...] = (),
        aligned: str = "right",
        remark: str = "",
        attribute: str | None = None,
        severity: Severity | None = None,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message if len(message) <= LONGEST else shortened(message)
        self.help = help if len(help) <= LONGEST else shortened(help)
        self.input = input
        self.marks = marks
        self.aligned = aligned
        self.remark = remark
        self.attribute = attribute
        self.severity = severity
        self.notes = notes

    def changed(self, **details: Any) -> Fault:
        """The same fault with other values for some of its fields."""
        return Fault(**{**self.__dict__, **details})

    def lowered(self, severity: Severity) -> Fault:
        """The same fault as a finding of another severity."""
        return self.changed(severity=severity)


@record
class Relation:
    """``left == right``, ``left >= right`` or ``left % right == 0`` between two dims."""

    kind: str
    left: Dim
    right: Dim

    def __str__(self) -> str:
        if self.kind == "%":
            left, right = (
                text if text.replace("_", "").isalnum() else f"({text})" for text in map(str, (self.left, self.right))
            )
            return f"{left} % {right} == 0"
        return f"{self.left} {self.kind} {self.right}"


@record
class Requirement:
    """What an operator needs and could not prove: at least one of the relations holds."""

    any_of: tuple[Relation, ...]
    why: str

    @property
    def condition(self) -> str:
        """A text that Python evaluates to true or false."""
        return " or ".join(str(relation) for relation in self.any_of)


class Statements:
    """What the rule of one node has stated: requirements, and faults that do not stop it."""

    __slots__ = ("faults", "requirements")

    def __init__(self) -> None:
        self.requirements: list[Requirement] = []
        self.faults: list[Fault] = []


_current = Statements()


@contextmanager
def stated() -> Iterator[Statements]:
    """Collects what operator rules state inside the block."""
    global _current
    outer, _current = _current, Statements()
    try:
        yield _current
    finally:
        _current = outer


def statements() -> Statements:
    """What has been stated so far in the innermost block of ``stated``."""
    return _current


def warn(fault: Fault) -> None:
    """States a fault that leaves the node's outputs as they are."""
    _current.faults.append(fault)


def require(*any_of: Relation, why: str) -> None:
    """States that one of the relations has to hold."""
    _current.requirements.append(Requirement(any_of, why))


def agree(left: MaybeDim, right: MaybeDim, why: str) -> bool:
    """Whether two dims can be equal; where that is not proven, their equality is stated as a requirement."""
    proven = same(left, right)
    if proven is None and left is not None and right is not None:
        require(Relation("==", left, right), why=why)
    return proven is not False


def reaches(left: MaybeDim, least: MaybeDim, why: str) -> bool:
    """Whether ``left >= least`` can hold; where that is not proven, it is stated as a requirement."""
    proven = at_least(left, least)
    if proven is None and left is not None and least is not None:
        require(Relation(">=", left, least), why=why)
    return proven is not False


def divides(divisor: int, dim: MaybeDim, why: str) -> bool:
    """Whether ``dim`` can be a multiple of ``divisor``; where that is not proven, it is stated as a requirement."""
    if dim is None:
        return True
    proven = divisible(dim, divisor)
    if proven is None:
        require(Relation("%", dim, divisor), why=why)
    return proven is not False


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
    code and the fingerprint of each finding that the baseline hides. ``notices`` are for the person who runs the check.
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
