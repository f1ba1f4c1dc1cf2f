"""The findings that are reported, and their severities: selections of rules, suppressions and the baseline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from irlint.findings.faults import Severity
from irlint.findings.report import Finding, Silenced
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import IGNORE
from irlint.model.order import graphs
from irlint.parsers.faults import CHECK_CRASHED, CHECK_TIMED_OUT
from irlint.policy.globs import ByGlob, closed, is_literal, relative
from irlint.records import record, replaced

if TYPE_CHECKING:
    from datetime import date

    from irlint.model import Model, Problem

#: Neither suppressions nor baselines hide these rules, because the file was not checked completely.
ALWAYS = frozenset([CHECK_CRASHED.code, CHECK_TIMED_OUT.code])

#: Of the unused entries in the metadata of a model, at most this many are listed.
UNUSED_SHOWN = 5

#: If several entries match a rule, the entry with the largest width decides. The width of a prefix of codes is the
#: number of its characters. A code or a name, which selects one rule, has this width.
ONE_RULE = 100

#: All messages about Git LFS pointers have these words.
POINTER = "is a Git LFS pointer"


@record
class FileIgnores:
    """Rules that are not reported for some files."""

    glob: str
    codes: frozenset[str]
    #: The file and line of the entry.
    place: str


@record
class Suppression:
    """A ``[[suppress]]`` entry."""

    #: A glob; "" matches all files.
    file: str
    #: None matches all rules.
    codes: frozenset[str] | None
    #: A glob; "" matches all nodes.
    node: str
    reason: str
    expires: date | None
    #: The file and line of the entry.
    place: str

    def fits(self, finding: Finding) -> bool:
        """Whether the rule and the node of a finding match the entry."""
        if self.codes is not None and finding.rule.code not in self.codes:
            return False
        if not self.node:
            return True
        from fnmatch import fnmatchcase

        return any(name == self.node or fnmatchcase(name, closed(self.node)) for name in _names(finding))

    def expiry(self) -> str:
        """The notice that the entry has expired."""
        return (
            f"{self.described()} expired on {self.expires} and no longer hides findings: fix them, or set a later "
            f"date; its reason was: {self.reason}"
        )

    def described(self) -> str:
        """The place, the file and the node of the entry, for notices."""
        parts = [f"{label} {text}" for label, text in (("file", self.file), ("node", self.node)) if text]
        return f"{self.place}: the suppression ({', '.join(parts) or 'of every file'})"


def _names(finding: Finding) -> tuple[str, ...]:
    """The names of a finding's node or, without a node, of its value."""
    name = finding.node if finding.node is not None else finding.value or ""
    return (name, f"{finding.graph}/{name}") if finding.graph else (name,)


class _Entries:
    """The ``[[suppress]]`` entries that match a file, with their indices in the policy."""

    def __init__(self, policy: Policy, path: str) -> None:
        #: The entries with a ``node`` without wildcards, by this name.
        self.named: dict[str, list[tuple[int, Suppression]]] = {}
        self.others: list[tuple[int, Suppression]] = []
        for at in policy.suppress.fitting(path):
            entry = policy.suppress.entries[at]
            is_named = entry.node and is_literal(entry.node)
            (self.named.setdefault(entry.node, []) if is_named else self.others).append((at, entry))

    def fitting(self, finding: Finding) -> list[int]:
        """The indices of the entries that hide a finding."""
        if not self.named and not self.others:
            return []
        candidates = [*self.others, *(entry for name in _names(finding) for entry in self.named.get(name, ()))]
        return sorted(at for at, entry in candidates if entry.fits(finding))


def in_force(entries: Iterable[Suppression], today: date | None = None) -> tuple[Suppression, ...]:
    """The entries that have not expired on the day ``today``; None means the current day."""
    if today is None:
        from datetime import date

        today = date.today()
    return tuple(entry for entry in entries if entry.expires is None or today <= entry.expires)


def by_file(entries: Sequence[Suppression], root: str) -> ByGlob[Suppression]:
    """The entries by the globs of their files, relative to ``root``."""
    return ByGlob((entry.file or "**" for entry in entries), entries, root)


@record
class Selection:
    """A selection of rules by code: those of ``select`` without those of ``ignore``, and those of ``extend``."""

    #: None selects the rules that an earlier selection has selected.
    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    extend: frozenset[str] = frozenset()

    def chosen(self, code: str, before: bool) -> bool:
        """Whether this selection selects the rule. ``before`` states whether the earlier selection selected it."""
        chosen = before if self.select is None else code in self.select
        return code in self.extend or (chosen and code not in self.ignore)


def selection(select: Iterable[str] | None, ignore: Iterable[str], extend: Iterable[str]) -> Selection:
    """The selection from lists of codes, prefixes of codes and names.

    If a rule is both selected and ignored, the entry with the larger width decides. If the widths are equal, the rule
    is ignored.
    """
    selected = _widths(select) if select is not None else {}
    added, removed = _widths(extend), _widths(ignore)
    for code, width in selected.items():
        added[code] = max(width, added.get(code, 0))
    ignored = frozenset(code for code, width in removed.items() if width >= added.get(code, 0))
    return Selection(frozenset(selected) if select is not None else None, ignored, frozenset(added) - ignored)


def severities(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The level of each rule, by code.

    Of the entries that match a rule, those with the largest width count, and of these the last.
    """
    widths: dict[str, int] = {}
    levels: dict[str, str] = {}
    for name, level in entries:
        for code, width in _widths([name]).items():
            if width >= widths.get(code, 0):
                widths[code], levels[code] = width, level
    return levels


def _widths(names: Iterable[str]) -> dict[str, int]:
    """By code of a rule: the largest width of the ``names`` that match the rule."""
    from irlint.policy.rulebook import codes

    widths: dict[str, int] = {}
    for name in names:
        for code in codes(name):
            width = len(name) if code != name.upper() and code.startswith(name.upper()) else ONE_RULE
            widths[code] = max(width, widths.get(code, 0))
    return widths


@record
class Policy:
    """Decides which findings a run reports, and with which severities."""

    #: Selections of rules. Each changes the result of the selection before it.
    selections: tuple[Selection, ...] = ()
    #: (code of a rule, level of its findings).
    severities: tuple[tuple[str, str], ...] = ()
    file_ignores: ByGlob[FileIgnores] = ByGlob()
    #: The entries that have not expired.
    suppress: ByGlob[Suppression] = ByGlob()
    #: The fingerprints of findings to hide, by file and code.
    baseline: Mapping[str, Mapping[str, frozenset[str]]] | None = None
    #: The folder to which the files in the baseline are relative.
    baseline_root: str = ""
    #: Whether findings about Git LFS pointers are suppressed.
    accepts_pointers: bool = False
    #: The path of the configuration file; "" without one.
    source: str = ""
    #: The policy that the same run would have without its configuration.
    without_configuration: Policy | None = None

    def reports(self, code: str) -> bool:
        """Whether the selections together select the rule with this code."""
        is_chosen = True
        for selection in self.selections:
            is_chosen = selection.chosen(code, is_chosen)
        return is_chosen


@record
class Remaining:
    """The findings of a file, divided into reported and unreported ones."""

    #: (index, finding with its final severity) of each reported finding.
    kept: tuple[tuple[int, Finding], ...]
    #: The number of findings that a suppression hides, or that are about accepted LFS pointers.
    suppressed: int = 0
    #: The indices of the suppressions that hide a finding.
    used: tuple[int, ...] = ()
    #: (code, fingerprint) of each finding that the baseline hides.
    hidden: tuple[tuple[str, str], ...] = ()
    #: All suppressed and hidden findings.
    silenced: tuple[Silenced, ...] = ()
    #: The number of errors that the configuration hides or lowers. Errors in the baseline and errors that follow from
    #: another error do not count.
    errors_hidden: int = 0


def remaining(policy: Policy, path: str, findings: Sequence[Finding]) -> Remaining:
    """Divides the findings of one file into those that the policy reports and the others."""
    ignored_codes: frozenset[str] = frozenset()
    for entry in policy.file_ignores.of(path):
        ignored_codes |= entry.codes
    entries = _Entries(policy, path)
    in_baseline = (policy.baseline or {}).get(relative(path, policy.baseline_root), {}) if policy.baseline else {}
    levels = dict(policy.severities)
    kept: list[tuple[int, Finding]] = []
    hidden: list[tuple[str, str]] = []
    silenced: list[Silenced] = []
    used: set[int] = set()
    suppressed = 0
    for index, finding in enumerate(findings):
        code = finding.rule.code
        if code in ignored_codes or not policy.reports(code):
            continue
        fitting = [] if code in ALWAYS else entries.fitting(finding)
        used.update(fitting)
        if fitting or (policy.accepts_pointers and POINTER in finding.message):
            suppressed += 1
            reason = policy.suppress.entries[fitting[0]].reason if fitting else "Git LFS pointers are accepted here"
            silenced.append(Silenced(finding, "configuration", reason))
        elif finding.fingerprint in in_baseline.get(code, ()) and code not in ALWAYS:
            hidden.append((code, finding.fingerprint))
            silenced.append(Silenced(finding, "baseline"))
        else:
            kept.append((index, replaced(finding, severity=Severity(levels[code])) if code in levels else finding))
    errors_hidden = _errors_hidden(policy, findings, kept, hidden) if policy.without_configuration is not None else 0
    return Remaining(tuple(kept), suppressed, tuple(sorted(used)), tuple(hidden), tuple(silenced), errors_hidden)


def _errors_hidden(
    policy: Policy,
    findings: Sequence[Finding],
    kept: Sequence[tuple[int, Finding]],
    hidden: Sequence[tuple[str, str]],
) -> int:
    without_configuration = policy.without_configuration
    assert without_configuration is not None
    levels = dict(without_configuration.severities)
    reported = {index for index, finding in kept if finding.severity is Severity.ERROR}
    in_baseline = set(hidden)
    errors = [
        (index, finding)
        for index, finding in enumerate(findings)
        if levels.get(finding.rule.code, finding.severity.value) == Severity.ERROR.value
        and without_configuration.reports(finding.rule.code)
    ]
    roots = {finding.fingerprint for _, finding in errors}
    return sum(
        index not in reported
        and (finding.rule.code, finding.fingerprint) not in in_baseline
        and finding.because not in roots
        for index, finding in errors
    )


def ignored(model: Model, problems: Sequence[Problem]) -> tuple[list[bool], list[str]]:
    """(for each problem, whether metadata ignores it; notices about entries that match no problem or no rule)."""
    from irlint.policy.rulebook import named

    names_of_model = _ignored_rules(model.metadata)
    nodes = {id(node): node for graph in graphs(model) for node in graph.nodes if node.metadata}
    if not names_of_model and not nodes:
        return [False] * len(problems), []
    # (id of the node or 0 for the model, name of a rule).
    used: set[tuple[int, str]] = set()
    of_model: dict[str, list[tuple[int, str]]] = {}
    result = []
    for problem in problems:
        rule = problem.fault.rule
        if rule.code not in of_model:
            of_model[rule.code] = [(0, name) for name in names_of_model if named(rule, name)]
            used.update(of_model[rule.code])
        owner = id(problem.node) if problem.node is not None else 0
        names_of_node = _ignored_rules(nodes[owner].metadata) if owner in nodes else ()
        of_node = [(owner, name) for name in names_of_node if named(rule, name)]
        used.update(of_node)
        result.append(bool(of_node or of_model[rule.code]))
    listed = [("the model", name) for name in names_of_model if (0, name) not in used]
    for owner, node in nodes.items():
        listed += [
            (f'{node.op} "{node.label}"', name) for name in _ignored_rules(node.metadata) if (owner, name) not in used
        ]
    notices = [_unused(model.path, where, name) for where, name in listed[:UNUSED_SHOWN]]
    if len(listed) > UNUSED_SHOWN:
        notices.append(f"{model.path.replace(os.sep, '/')}: and {len(listed) - UNUSED_SHOWN} more unused entries")
    return result, notices


def _unused(path: str, where: str, name: str) -> str:
    from irlint.policy.rulebook import codes, every_rule, suggestion

    fault = "which is unused; remove it" if codes(name) else f"which is no rule{suggestion(name, every_rule())}"
    return f"{path.replace(os.sep, '/')}: {IGNORE} in {where} lists {name}, {fault}"


def _ignored_rules(metadata: Mapping[str, str]) -> tuple[str, ...]:
    text = metadata.get(IGNORE, "") if metadata else ""
    return tuple(text.replace(",", " ").replace(";", " ").split())


def stale(
    entries: ByGlob[Suppression], used: frozenset[int], checked: Iterable[str], is_complete: bool, policy: Policy
) -> Iterator[str]:
    """Notices about the entries that hide no finding.

    ``used`` are the indices of the entries that hide a finding. If the run is not complete, an entry has a notice only
    if its file has no wildcards and was checked.
    """
    if len(used) == len(entries):
        return
    fitting = entries.fitting_any(checked)
    for index, entry in enumerate(entries.entries):
        if index in used or (entry.codes is not None and not any(map(policy.reports, entry.codes))):
            continue
        has_file = index in fitting
        if is_complete or (has_file and entry.file and is_literal(entry.file)):
            what = "; remove it" if has_file else ": no file that it matches was checked"
            yield f"{entry.described()} is unused{what}"
