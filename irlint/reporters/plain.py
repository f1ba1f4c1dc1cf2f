"""Escapes texts for output, and makes the places, counts and closing lines of text reports."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.findings.faults import SEVERITIES, Severity
from irlint.findings.report import POINTER_SKIPPED, CheckedFile, Finding, Report
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.model.formats import FORMATS
from irlint.reporters.ansi import RESET, ROLES

#: The codes that irlint writes between ``ESC [`` and ``m`` to set colors.
PAINTS = frozenset((*ROLES.values(), RESET))

#: The replacements of control characters in XML, except for tabs and line ends.
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}

UTF_8 = ("utf-8", "utf8")


def safe(text: str) -> str:
    """The text in one line, with unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def inert(text: str) -> str:
    """The text with each line made ``safe``, and with CI commands escaped."""
    return unheard("\n".join(map(safe, text.split("\n"))))


#: CI commands begin with ``::`` at the start of a line, or with ``##[``. By notation: (replacement of ``::``,
#: replacement of ``##[``).
ESCAPED = {
    "text": ("\\x3a:", "#\\x23["),
    "json": ("::", "#\\u0023["),
    "xml": ("&#58;:", "#&#35;["),
    "markdown": ("\\::", "#\\#["),
}


def visible(text: str, notation: str = "text") -> str:
    """The text with control characters escaped, except for the codes of colors.

    A text with the notation ``json`` or "" stays unchanged. All output passes through this function.
    """
    if notation == "xml":
        return text.translate(CONTROLS)
    if notation not in ("text", "markdown"):
        return text
    return "\n".join(line if line.isprintable() else _safe_between_colors(line) for line in text.split("\n"))


def _safe_between_colors(line: str) -> str:
    first, *rest = line.split("\x1b[")
    parts = [safe(first)]
    for each in rest:
        code, end, text = each.partition("m")
        parts.append(f"\x1b[{code}m{safe(text)}" if end and code in PAINTS else safe(f"\x1b[{each}"))
    return "".join(parts)


def unheard(text: str, notation: str = "text") -> str:
    """The ``visible`` text with CI commands escaped. In JSON, unprintable characters are escaped, too."""
    text = visible(text, notation)
    if notation == "json" and not (text.isascii() and "\x7f" not in text):
        text = "\n".join(line if line.isprintable() else _json_escaped(line) for line in text.split("\n"))
    if "::" not in text and "##[" not in text:
        return text
    begin, inside = ESCAPED[notation]
    return "\n".join(
        line.replace("::", begin, 1) if line.lstrip().startswith("::") else line
        for line in text.replace("##[", inside).split("\n")
    )


def _json_escaped(line: str) -> str:
    def escaped(character: str) -> str:
        digits = character.encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{digits[at : at + 4]}" for at in range(0, len(digits), 4))

    return "".join(each if each.isprintable() else escaped(each) for each in line)


def spelled(text: str, encoding: str) -> str:
    """The text with escapes for the characters that an encoding lacks."""
    if text.isascii() or encoding.lower() in UTF_8:
        return text
    return text.encode(encoding, "backslashreplace").decode(encoding)


def headed(found: Mapping[str, Any]) -> str:
    """The head of a report on one model: its notes, then its path and format."""
    notes = "".join(f"note: {safe(each)}\n" for each in found.get("notes", ()))
    return f"{notes}{safe(found['path'])} ({found['format']})"


def brief(text: str, limit: int = 300) -> str:
    """The ``safe`` text, without its middle if it has more than ``limit`` characters."""
    shown = safe(text)
    half = limit // 2 - 2
    return shown if len(shown) <= limit else f"{shown[:half]}...{shown[-half:]}"


def place(finding: Finding) -> str:
    """The place of a finding, such as ``models/m.xml:418:3``. Without a line, only the path."""
    if finding.line is None:
        return safe(finding.path)
    return f"{safe(finding.path)}:{finding.line}:{finding.column or 1}"


#: The names of the rules about models that declare sizes with which they do not work.
LIMITED = ("frozen-size", "equal-sizes", "no-sizes-fit")


def summary(report: Report) -> str:
    """The closing lines, with counts of findings and files."""
    checked = [file for file in report.files if file.status != "skipped"]
    noun = "file" if any(file.kind for file in checked) else "model"
    return f"{_found(report, counted(len(checked), noun))}\n{_checked(report, checked)}.\n"


def _found(report: Report, models: str) -> str:
    """The line about the findings; ``models`` is the number of checked files with its noun."""
    counts = [counted(report.count(severity), severity.value) for severity in SEVERITIES if report.count(severity)]
    if not report.models and not report.lacking:
        return "Nothing to check."
    if not counts and report.lacking:
        return "Not checked." if models.startswith("0 ") else f"No findings in the {models} that could be checked."
    if not counts:
        return "No new findings." if report.hidden else "No findings."
    hit = len({finding.path for finding in report.findings})
    found = f"Found {_joined(counts)} in {hit} of {models}"
    if report.following:
        root = "it" if sum(map(report.count, SEVERITIES)) == 1 else "them"
        found += f"; {report.following} more {'follows' if report.following == 1 else 'follow'} from {root}"
    return f"{found}.{_fixable(report)}{_failing(report)}"


def _failing(report: Report) -> str:
    """If the check passes although a warning states that only some sizes work, a line about that; else ""."""
    limited = any(each.rule.name in LIMITED and each.severity is Severity.WARNING for each in report.findings)
    return "\nOnly some sizes work: `--fail-on warning` makes this fail." if limited and report.ok else ""


def _checked(report: Report, checked: list[CheckedFile]) -> str:
    """The line with the number of checked models, and the numbers of files and findings that are not reported."""
    known = [sum(file.format == form.name and file.status == "checked" for file in checked) for form in FORMATS]
    kinds = [f"{count} {form.title}" for count, form in zip(known, FORMATS) if count]
    unreadable = sum(file.status == "unreadable" for file in checked)
    skipped = len(report.files) - len(checked)
    pointers = sum(file.reason == POINTER_SKIPPED for file in report.files)
    lacking = len(report.lacking)
    packages = ", ".join(sorted({file.lacking for file in report.lacking}))
    targets = "target" if len(report.targets) == 1 else "targets"
    rest = (
        (len(report.targets), f"{targets}: {', '.join(report.targets)}"),
        (lacking, f"{counted(lacking, 'model')} not checked without the package {packages}"),
        (skipped - pointers - lacking, no_models(skipped - pointers - lacking)),
        (pointers, f"skipped {counted(pointers, 'Git LFS pointer')}"),
        (report.suppressed, f"{counted(report.suppressed, 'finding')} suppressed"),
        (report.errors_hidden, errors_hidden(report.errors_hidden, report.configuration)),
        (report.hidden, f"{counted(report.hidden, 'finding')} in the baseline"),
    )
    models = f"Checked {_joined(kinds)} {'model' if sum(known) == 1 else 'models'}" if kinds else "Checked nothing"
    stated = counted(sum(bool(file.kind) for file in checked), "configuration")
    if not stated.startswith("0 "):
        models = f"{models} and {stated}" if kinds else f"Checked {stated}"
    if unreadable:
        sound = f"{_joined(kinds)} checked, " if kinds else ""
        models = f"{counted(sum(known) + unreadable, 'model')}: {sound}{unreadable} unreadable"
    return "; ".join([models, *(text for count, text in rest if count)])


def _fixable(report: Report) -> str:
    safe_ones = sum(each.fix is not None and each.fix.applicability == "safe" for each in report.findings)
    count = sum(each.fix is not None for each in report.findings) - safe_ones
    if not count:
        return f" {safe_ones} fixable with `irlint fix`." if safe_ones else ""
    if not safe_ones:
        return f"\n{count} fixable with `irlint fix --unsafe-fixes`."
    return f"\n{safe_ones} fixable with `irlint fix`, {count} more with --unsafe-fixes."


def errors_hidden(count: int, configuration: str) -> str:
    """``2 errors hidden by irlint.toml``."""
    return f"{counted(count, 'error')} hidden by {safe(configuration) or 'the configuration'}"


def no_models(count: int) -> str:
    """``11 are not models``."""
    return "1 is not a model" if count == 1 else f"{count} are not models"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
