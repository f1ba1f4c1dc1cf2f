"""The text report, for use inside a report of another form."""

from __future__ import annotations

from irlint.findings.report import Finding, Report
from irlint.reporters import text


def of_one(finding: Finding) -> str:
    """The text report on one finding."""
    return text.rendered(Report((), (finding,), ""), quiet=True).rstrip("\n")


def of_all(report: Report) -> str:
    """The text report without the summary."""
    return text.rendered(report, quiet=True).rstrip("\n")


def within(text: str, room: int) -> str:
    """The first findings of a text report, as many as fit into ``room`` bytes, then MORE if some do not fit."""
    if len(text.encode("utf-8", "backslashreplace")) <= room:
        return text
    kept: list[str] = []
    for block in text.split("\n\n"):
        room -= len(block.encode("utf-8", "backslashreplace")) + 2
        if room < len(MORE):
            break
        kept.append(block)
    return "\n\n".join([*kept, MORE])


MORE = "... and more that do not fit here"
