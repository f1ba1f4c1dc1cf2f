"""The baseline: a file of known findings, by model, rule and fingerprint."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from irlint.findings.report import CheckedFile, Report, Silenced, with_roots
from irlint.lazy_typing import Any
from irlint.parsers.opening import whole
from irlint.policy.globs import relative
from irlint.policy.suppressions import ALWAYS
from irlint.records import record, replaced

SCHEMA = "irlint-baseline-1"

#: Fingerprints by file, relative to the folder of the baseline, and by the code of the rule.
Entries = Mapping[str, Mapping[str, frozenset[str]]]


class BrokenBaseline(ValueError):
    """A file that is no baseline."""


@record
class Change:
    """The entries of a new baseline, and the numbers of added, kept and removed ones."""

    entries: Entries
    added: int
    kept: int
    removed: int


def read(file: str) -> dict[str, dict[str, frozenset[str]]]:
    """The entries of a baseline file. Raises OSError, and BrokenBaseline for a file of another kind."""
    import json

    data = whole(file, "baseline")
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
        if not isinstance(fingerprints, list) or not all(isinstance(each, str) for each in fingerprints):
            raise BrokenBaseline(f"not a baseline: {code} of {name} is not a list of fingerprints")
        yield code, frozenset(fingerprints)


def _table(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenBaseline(f"not a baseline: {what} is not an object")
    return value


def text(entries: Entries) -> str:
    """The text of a baseline file: sorted, a line for each finding."""
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
    """The entries that hid nothing although their rule was checked in their file, and the entries of deleted files.

    ``report`` is the report of a run with the baseline. ``reports`` returns whether a rule was reported.
    """
    checked = {relative(file.path, root): set(file.hidden) for file in report.files if file.status == "checked"}
    left: dict[str, dict[str, frozenset[str]]] = {}
    for name, rules in entries.items():
        gone = name not in checked and not os.path.exists(os.path.join(root, name))
        for code, fingerprints in rules.items():
            if gone:
                left.setdefault(name, {})[code] = fingerprints
            elif name in checked and reports(code):
                unseen = frozenset(each for each in fingerprints if (code, each) not in checked[name])
                if unseen:
                    left.setdefault(name, {})[code] = unseen
    return left


def updated(
    entries: Entries, report: Report, root: str, reports: Callable[[str], bool], now: Entries | None = None
) -> Change:
    """The baseline after a run with it: its entries without the stale ones, and the findings that it did not hide.

    ``now`` are the entries that the baseline file has by now. Entries that another run has added stay.
    """
    unused = stale(entries, report, root, reports)
    result: dict[str, dict[str, frozenset[str]]] = {}
    for name, rules in (entries if now is None else now).items():
        for code, fingerprints in rules.items():
            result.setdefault(name, {})[code] = fingerprints - unused.get(name, {}).get(code, frozenset())
    kept = _count(result)
    new: dict[tuple[str, str], set[str]] = {}
    for finding in report.findings:
        if finding.rule.code not in ALWAYS:
            new.setdefault((finding.path, finding.rule.code), set()).add(finding.fingerprint)
    for (path, code), added in new.items():
        rules = result.setdefault(relative(path, root), {})
        rules[code] = rules.get(code, frozenset()) | added
    return Change(result, _count(result) - kept, kept, _count(unused))


def renamed(entries: Entries, report: Report, root: str, reports: Callable[[str], bool]) -> dict[str, str]:
    """The new names of renamed files, by their old names.

    The old file has entries and no longer exists; the new file has no entries and has all findings of the old one.
    Besides, both must have the same name in different folders, or a finding must name a node or a value.
    """
    found: dict[str, dict[tuple[str, str], bool]] = {}
    for finding in report.findings:
        place = found.setdefault(relative(finding.path, root), {})
        place[finding.rule.code, finding.fingerprint] = finding.node is not None or finding.value is not None
    new = {name: places for name, places in sorted(found.items()) if name not in entries}
    having: dict[tuple[str, str], list[str]] = {}
    for name, places in new.items():
        for code_and_fingerprint in places:
            having.setdefault(code_and_fingerprint, []).append(name)
    result: dict[str, str] = {}
    for name, rules in sorted(entries.items()):
        known = {(code, each) for code, fingerprints in rules.items() if reports(code) for each in fingerprints}
        if not known or name in found or os.path.exists(os.path.join(root, name)):
            continue
        rarest = min((having.get(place, []) for place in known), key=len)
        same = [each for each in rarest if each in new and known <= new[each].keys()]
        alike = [each for each in same if os.path.basename(each) == os.path.basename(name)]
        fitting = alike or [each for each in same if any(new[each][place] for place in known)]
        if fitting:
            result[name] = min(fitting, key=lambda each: len(new[each]))
            del new[result[name]]
    return result


def followed(entries: Entries, names: Mapping[str, str]) -> dict[str, Mapping[str, frozenset[str]]]:
    """The entries under the new ``names`` of their files."""
    return {names.get(name, name): rules for name, rules in entries.items()}


def hidden(report: Report, entries: Entries, root: str) -> Report:
    """The report without the findings in a baseline; the entries of their files list them as hidden."""
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
    """The entry of a file, with the findings that the baseline hides added."""
    places = tuple((each.finding.rule.code, each.finding.fingerprint) for each in known)
    return replaced(file, hidden=(*file.hidden, *places), silenced=(*file.silenced, *known))


def _count(entries: Entries) -> int:
    return sum(len(fingerprints) for rules in entries.values() for fingerprints in rules.values())


def listed(unused: Entries) -> str:
    """The text ``stale entries: 3 (a.onnx: IRL201; b.xml: IRL305)``, with at most three files."""
    names = [f"{name}: {', '.join(sorted(rules))}" for name, rules in sorted(unused.items())]
    shown = "; ".join(names[:3]) + "; ..." * (len(names) > 3)
    return f"stale entries: {_count(unused)} ({shown})"
