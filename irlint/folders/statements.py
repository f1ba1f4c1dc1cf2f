"""A finding about a configuration, and its position in that file."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.findings.report import Related
from irlint.records import record


@record
class Span:
    """A part of a text: the line and column, from 1, of its first letter and of the position after its last."""

    line: int
    column: int
    end_line: int
    end_column: int


#: The beginning of a file.
START = Span(1, 1, 1, 1)


@record
class ConfigFault:
    """A fault in a configuration, with its position in the file. ``value`` is the name of the input or output that the
    fault is about, and ``related`` are places in the model."""

    fault: Fault
    span: Span = START
    value: str | None = None
    related: tuple[Related, ...] = ()


@record
class Checked:
    """The findings about a file of a ``kind``. If the file was skipped, ``reason`` says why."""

    kind: str
    found: tuple[ConfigFault, ...] = ()
    reason: str = ""
