"""A finding about a configuration, and its position in that file."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.findings.report import Related
from irlint.records import record


@record
class Span:
    """A part of a text: line and column, from 1, of its first letter, and those after its last letter."""

    line: int
    column: int
    end_line: int
    end_column: int


#: The beginning of a file.
START = Span(1, 1, 1, 1)


@record
class Disagreement:
    """A fault of a statement, where it stands, the input or output that it is about, and the nodes of the model that
    contradict it."""

    fault: Fault
    span: Span = START
    value: str | None = None
    related: tuple[Related, ...] = ()


@record
class Checked:
    """What was found in a file of a ``kind``; with a ``reason`` it is no file of that kind, and was skipped."""

    kind: str
    found: tuple[Disagreement, ...] = ()
    reason: str = ""
