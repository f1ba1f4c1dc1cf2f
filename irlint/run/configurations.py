"""Checks one configuration file of another tool, such as ``config.pbtxt``, against the models beside it."""

from __future__ import annotations

import os

from irlint import folders
from irlint.findings.report import CheckedFile, Finding
from irlint.findings.wording import bounded
from irlint.folders.statements import ConfigFault
from irlint.parsers.opening import NotListed, file_bytes, lies_elsewhere
from irlint.records import replaced
from irlint.run.files import Settings, with_policy
from irlint.run.one_file import SNIPPETS_PER_RULE, fingerprint

#: Why a configuration behind a URL is skipped.
NOT_LISTED = "the server does not list the folder of the configuration: copy the folder to this machine"


def inspected(path: str, data: bytes | None, settings: Settings) -> tuple[CheckedFile, tuple[Finding, ...]]:
    """(entry of a configuration file, findings that the policy of ``settings`` reports).

    Raises OSError if the configuration or a model beside it cannot be opened.
    """
    text = (file_bytes(path, "configuration") if data is None else data).decode("utf-8", "replace")
    try:
        checked = folders.checked(path, text)
    except NotListed:
        return CheckedFile(path, None, status="skipped", reason=NOT_LISTED), ()
    name = path.replace(os.sep, "/")
    if checked.reason:
        return CheckedFile(name, None, status="skipped", reason=checked.reason, kind=checked.kind), ()
    counts: dict[str, int] = {}
    faults = sorted(checked.faults, key=lambda each: (each.span.line, each.span.column))
    findings = tuple(_finding(name, each, counts) for each in faults)
    file, findings = with_policy(settings.policy, path, CheckedFile(name, None, kind=checked.kind), findings)
    if not settings.silenced:
        file = replaced(file, silenced=())
    if settings.drawn and not lies_elsewhere(path):
        findings = tuple(_drawn(text, each) for each in findings[:SNIPPETS_PER_RULE]) + findings[SNIPPETS_PER_RULE:]
    return file, findings


def _finding(path: str, found: ConfigFault, counts: dict[str, int]) -> Finding:
    fault, span = found.fault, found.span
    return Finding(
        path,
        fault.rule,
        fault.severity,
        fault.message,
        help=fault.help or fault.rule.advice,
        value=None if found.value is None else bounded(found.value),
        line=span.line,
        column=span.column,
        end_line=span.end_line,
        end_column=span.end_column,
        related=found.related,
        fingerprint=fingerprint((fault.rule.code, found.value or ""), counts),
    )


def _drawn(text: str, finding: Finding) -> Finding:
    from irlint.snippets.text_lines import marked_line

    assert finding.line is not None and finding.column is not None and finding.end_column is not None
    snippet = marked_line(text, line=finding.line, column=finding.column, end_column=finding.end_column)
    notes = tuple(f"{each.node}: {each.message}" for each in finding.related)
    return replaced(finding, detail=replaced(snippet, notes=notes))
