"""The report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Mapping

from irlint.findings.report import Finding, Report
from irlint.findings.wording import counted
from irlint.records import replaced
from irlint.reporters import excerpt
from irlint.reporters.headlines import headline, repository_paths
from irlint.reporters.plain import safe, summary
from irlint.reporters.repeated import once

#: The largest sizes on GitHub: of a comment in characters, and of a job summary in bytes.
COMMENT, PAGE = 65_536, 1_024_000

#: Escapes for the characters with a meaning in Markdown.
MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]()<>#|~!$@&"})

HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def rendered(report: Report) -> str:
    """The report as a comment on GitHub."""
    return page_of(report, COMMENT)


def page_of(report: Report, room: int) -> str:
    """A table of the worst findings, then the folded text report, in at most ``room`` bytes of UTF-8.

    Returns "" if no row fits. The text report has at most half of the bytes.
    """
    places = repository_paths(report)
    head = f"### irlint\n\n{summary(report)}\n"
    if not report.findings:
        return head if len(head.encode()) <= room else ""
    head += "| severity | rule | place | finding |\n| --- | --- | --- | --- |\n"
    kept, elsewhere = once(report.findings)
    findings = sorted(kept, key=lambda finding: -finding.severity.rank)
    full = _folded(replaced(report, findings=tuple(kept)), places, room // 2)
    left = room - len(head.encode()) - len(_more(len(findings))) - len(full.encode())
    rows: list[str] = []
    for finding in findings:
        row = _row(finding, places, len(elsewhere.get(id(finding), ())))
        left -= len(row.encode())
        if left < 0:
            break
        rows.append(row)
    if not rows and left < 0:
        return ""
    hidden = len(findings) - len(rows)
    return head + "".join(rows) + (_more(hidden) if hidden else "\n") + full


def _more(count: int) -> str:
    return f"\n{counted(count, 'more finding')}.\n\n"


def place_of(finding: Finding, places: Mapping[str, str]) -> str:
    """``models/m.xml:418:3``."""
    place = safe(places[finding.path])
    return place if finding.line is None else f"{place}:{finding.line}:{finding.column or 1}"


def _row(finding: Finding, places: Mapping[str, str], files: int) -> str:
    """The row of a finding. ``files`` more files have an equal finding."""
    place = place_of(finding, places).translate(MARKDOWN) + (f" and {counted(files, 'more file')}" if files else "")
    text = unlinked(headline(finding).translate(MARKDOWN))
    return f"| {finding.severity.value} | {finding.rule.code} {finding.rule.name} | {unlinked(place)} | {text} |\n"


def unlinked(text: str) -> str:
    """Markdown in which names do not become links."""
    return text.replace("://", "\\://").replace("www.", "www\\.")


def _folded(report: Report, places: Mapping[str, str], room: int) -> str:
    """The folded text reports on the first models, as many as fit into ``room`` bytes; "" if none fits."""
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    parts: list[str] = []
    for path, findings in by_path.items():
        title = f"<code>{safe(places[path]).translate(HTML)}</code>: {counted(len(findings), 'finding')}"
        inner = room - len(title.encode()) - FRAME
        text = excerpt.of_all(replaced(report, findings=tuple(findings)))
        details = excerpt.within(text, inner) if inner > 0 else ""
        part = f"<details>\n<summary>{title}</summary>\n\n{fenced(details)}\n\n</details>\n\n"
        room -= len(part.encode())
        if not details or room < 0:
            parts.append(f"The report is too long for {counted(len(by_path) - len(parts), 'more model')}.\n\n")
            break
        parts.append(part)
    return "".join(parts) if len(parts) > 1 or (parts and parts[0].startswith("<")) else ""


#: The number of bytes that are reserved for the markup around the report on a model.
FRAME = 400


def fenced(text: str) -> str:
    """A text as a block of code."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"
