"""The text report where another form holds it: on one finding, and in so much room."""

from __future__ import annotations

from irlint.findings.report import Finding, Report
from irlint.reporters import text


def of_one(finding: Finding) -> str:
    """What the text report says of a finding."""
    return text.rendered(Report((), (finding,), ""), quiet=True).rstrip("\n")


def of_all(report: Report) -> str:
    """What the text report says of the findings of a report."""
    return text.rendered(report, quiet=True).rstrip("\n")


def within(text: str, room: int) -> str:
    """So many whole findings from the beginning of a text report as have room in so many bytes, and that there are
    more."""
    if len(text.encode("utf-8", "backslashreplace")) <= room:
        return text
    kept: list[str] = []
    for block in text.split("\n\n"):
        room -= len(block.encode("utf-8", "backslashreplace")) + 2
        if room < len(MORE):
            break
        kept.append(block)
    return "\n\n".join([*kept, MORE])


#: What stands in place of the findings for which there is no room.
MORE = "... and more that do not fit here"
