"""The baseline: a file of known findings, by model, rule and fingerprint."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from irlint.findings.report import CheckedFile, Report, Silenced, with_roots
from irlint.lazy_typing import Any
from irlint.parsers.opening import file_bytes
from irlint.policy.globs import relative
from irlint.policy.suppressions import ALWAYS
from irlint.records import record, replaced

SCHEMA = "irlint-baseline-1"

#: Fingerprints of findings, by file and then by code. A file is relative to the folder of the baseline.
Entries = Mapping[str, Mapping[str, frozenset[str]]]


class BrokenBaseline(ValueError):
    """A file is no baseline; the text of the error states why."""


@record
class Change:
    """A new baseline, and the numbers of added, kept and removed entries."""

    entries: Entries
    added: int
    kept: int
    removed: int


def read(file: str) -> dict[str, dict[str, frozenset[str]]]:
    """The entries of a baseline file. Raises OSError, and BrokenBaseline if it is not a baseline."""
    import json

    data = file_bytes(file, "baseline")
    try:
        document = json.loads(data)
    except RecursionError:
        raise BrokenBaseline("not a baseline: it is nested too deeply") from None
    except ValueError as error:
        raise BrokenBaseline(f"not a baseline: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BrokenBaseline(f'not a baseline: its "schema" is not "{SCHEMA}"')
    return {name: dict(_rules(name, rules)) for name, rules in _table(document.get("findings"), "findings").items()}


def _rules(name: str, rules: Any) -> Iterable[tuple[str, frozenset[str]]]:
    for code, fingerprints in _table(rules, name).items():
        if not isinstance(fingerprints, list) or not all(isinstance(entry, str) for entry in fingerprints):
            raise BrokenBaseline(f"not a baseline: {code} of {name} is not a list of fingerprints")
        yield code, frozenset(fingerprints)


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenBaseline(f"not a baseline: {what} is not an object")
    return value


def text(entries: Entries) -> str:
    """The text of a baseline file: sorted, one finding per line."""
    import json

    findings = {
        name: {code: sorted(rules[code]) for code in sorted(rules) if rules[code]}
        for name, rules in sorted(entries.items())
        if any(rules.values())
    }
    return json.dumps({"schema": SCHEMA, "findings": findings}, indent=2, ensure_ascii=False) + "\n"


def stale(
    entries: Entries, report: Report, root: str, reports: Callable[[str], bool]
) -> dict[str, dict[str, frozenset[str]]]:
    """The stale entries: those that hid no finding, and those of deleted files.

    An entry is not stale if its rule or its file was not checked. ``report`` is the report of a run with the baseline.
    ``reports`` returns whether a rule is reported.
    """
    hidden_in = {relative(file.path, root): set(file.hidden) for file in report.files if file.status == "checked"}
    unused: dict[str, dict[str, frozenset[str]]] = {}
    for name, rules in entries.items():
        is_deleted = name not in hidden_in and not os.path.exists(os.path.join(root, name))
        for code, fingerprints in rules.items():
            if is_deleted:
                unused.setdefault(name, {})[code] = fingerprints
            elif name in hidden_in and reports(code):
                unseen = frozenset(
                    fingerprint for fingerprint in fingerprints if (code, fingerprint) not in hidden_in[name]
                )
                if unseen:
                    unused.setdefault(name, {})[code] = unseen
    return unused


def updated(
    entries: Entries, report: Report, root: str, reports: Callable[[str], bool], now: Entries | None = None
) -> Change:
    """The baseline after a run. Stale entries are removed, and reported findings are added.

    ``now`` are the current entries of the file, because another run may have changed the file. None means ``entries``.
    """
    unused = stale(entries, report, root, reports)
    result: dict[str, dict[str, frozenset[str]]] = {}
    for name, rules in (entries if now is None else now).items():
        for code, fingerprints in rules.items():
            result.setdefault(name, {})[code] = fingerprints - unused.get(name, {}).get(code, frozenset())
    kept = _count(result)
    reported: dict[tuple[str, str], set[str]] = {}
    for finding in report.findings:
        if finding.rule.code not in ALWAYS:
            reported.setdefault((finding.path, finding.rule.code), set()).add(finding.fingerprint)
    for (path, code), added in reported.items():
        rules = result.setdefault(relative(path, root), {})
        rules[code] = rules.get(code, frozenset()) | added
    return Change(result, _count(result) - kept, kept, _count(unused))


def renamed(entries: Entries, report: Report, root: str, reports: Callable[[str], bool]) -> dict[str, str]:
    """The new names of renamed files, by their old names.

    A file counts as renamed if it no longer exists, and a file without entries has a finding for each of its entries.
    In addition, both files must have the same name in different folders, or a finding must name a node or a value.
    """
    # By file, then by code and fingerprint: whether the finding names a node or a value.
    found: dict[str, dict[tuple[str, str], bool]] = {}
    for finding in report.findings:
        of_file = found.setdefault(relative(finding.path, root), {})
        of_file[finding.rule.code, finding.fingerprint] = finding.node is not None or finding.value is not None
    candidates = {name: keys for name, keys in sorted(found.items()) if name not in entries}
    files_with: dict[tuple[str, str], list[str]] = {}
    for name, keys in candidates.items():
        for key in keys:
            files_with.setdefault(key, []).append(name)
    result: dict[str, str] = {}
    for name, rules in sorted(entries.items()):
        known = {
            (code, fingerprint) for code, fingerprints in rules.items() if reports(code) for fingerprint in fingerprints
        }
        if not known or name in found or os.path.exists(os.path.join(root, name)):
            continue
        with_rarest = min((files_with.get(key, []) for key in known), key=len)
        with_all = [
            candidate for candidate in with_rarest if candidate in candidates and known <= candidates[candidate].keys()
        ]
        moved = [candidate for candidate in with_all if os.path.basename(candidate) == os.path.basename(name)]
        fitting = moved or [candidate for candidate in with_all if any(candidates[candidate][key] for key in known)]
        if fitting:
            result[name] = min(fitting, key=lambda candidate: len(candidates[candidate]))
            del candidates[result[name]]
    return result


def under_new_names(entries: Entries, names: Mapping[str, str]) -> dict[str, Mapping[str, frozenset[str]]]:
    """The entries under the new ``names`` of their files."""
    return {names.get(name, name): rules for name, rules in entries.items()}


def hidden(report: Report, entries: Entries, root: str) -> Report:
    """The report without the findings in a baseline. Each CheckedFile lists its findings in the baseline as hidden."""
    known: dict[str, list[Silenced]] = {}
    kept = []
    for finding in report.findings:
        if finding.fingerprint in entries.get(relative(finding.path, root), {}).get(finding.rule.code, ()):
            known.setdefault(finding.path, []).append(Silenced(finding, "baseline"))
        else:
            kept.append(finding)
    files = tuple(_hiding(file, known.get(file.path, [])) for file in report.files)
    return replaced(report, files=files, findings=tuple(with_roots(kept)))


def _hiding(file: CheckedFile, known: list[Silenced]) -> CheckedFile:
    keys = tuple((silenced.finding.rule.code, silenced.finding.fingerprint) for silenced in known)
    return replaced(file, hidden=(*file.hidden, *keys), silenced=(*file.silenced, *known))


def _count(entries: Entries) -> int:
    return sum(len(fingerprints) for rules in entries.values() for fingerprints in rules.values())


def listed(unused: Entries) -> str:
    """The number of stale entries, and at most three files: ``stale entries: 3 (a.onnx: IRL201; b.xml: IRL305)``."""
    names = [f"{name}: {', '.join(sorted(rules))}" for name, rules in sorted(unused.items())]
    shown = "; ".join(names[:3]) + "; ..." * (len(names) > 3)
    return f"stale entries: {_count(unused)} ({shown})"
