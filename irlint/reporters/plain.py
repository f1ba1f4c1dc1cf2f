"""What every report for people shares: safe texts, places, counts and the closing lines."""

from __future__ import annotations

from irlint.diagnostics import Finding, Report, Severity


def safe(text: str) -> str:
    """A text without control characters, so that a name in a model cannot steer a terminal or break a line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def place(finding: Finding) -> str:
    """``models/m.xml:418:3``, or the path alone."""
    if finding.line is None:
        return safe(finding.path)
    return f"{safe(finding.path)}:{finding.line}:{finding.column or 1}"


def counted(number: int, what: str) -> str:
    """``1 error``, ``2 errors``."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def summary(report: Report) -> str:
    """The closing lines: what was found, and what was checked."""
    checked = [file for file in report.files if file.status != "skipped"]
    skipped = len(report.files) - len(checked)
    counts = [counted(report.count(severity), severity.value) for severity in Severity if report.count(severity)]
    hit = len({finding.path for finding in report.findings})
    if counts:
        found = f"Found {_joined(counts)} in {hit} of {counted(len(checked), 'model')}."
    else:
        found = "No findings."
    kinds = [
        f"{sum(file.format == name for file in checked)} {label}"
        for name, label in (("onnx", "ONNX"), ("openvino", "IR"))
        if any(file.format == name for file in checked)
    ]
    unreadable = sum(file.status == "unreadable" for file in checked)
    told = f"Checked {_joined(kinds)} {'model' if len(checked) == 1 else 'models'}" if kinds else "Checked nothing"
    told += f"; {unreadable} could not be read" if unreadable else ""
    told += f"; skipped {skipped} .xml (not IR)" if skipped else ""
    return f"{found}\n{told}.\n"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
