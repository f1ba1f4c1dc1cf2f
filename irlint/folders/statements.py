"""Records of faults in a configuration, with their positions."""

from __future__ import annotations

from irlint.findings.faults import Fault
from irlint.findings.report import Related
from irlint.records import record


@record
class Span:
    """A part of a text. Lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    #: The column after the last letter.
    end_column: int


#: The beginning of a file.
START = Span(1, 1, 1, 1)


@record
class ConfigFault:
    """A fault in a configuration, with its position."""

    fault: Fault
    span: Span = START
    #: The name of the input or output at fault.
    value: str | None = None
    #: Inputs, outputs or nodes of the model that the fault is about.
    related: tuple[Related, ...] = ()


@record
class Checked:
    """The findings about a configuration."""

    #: The kind of the configuration, such as ``triton``.
    kind: str
    faults: tuple[ConfigFault, ...] = ()
    #: The reason why the file was skipped; "" if it was checked.
    reason: str = ""
