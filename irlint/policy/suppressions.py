"""Which findings are reported, and at what severity: selected rules, suppressions and the baseline, as plain data."""

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

#: Findings that no suppression and no baseline hides: the check itself did not take place.
ALWAYS = frozenset([CHECK_CRASHED.code, CHECK_TIMED_OUT.code])

#: At most this many unused entries of a model are listed.
UNUSED_SHOWN = 5

#: The width of an entry that is the code or the name of one rule; the width of a prefix of codes is its length.
ONE_RULE = 100

#: The phrase by which messages about weights files not fetched from Git LFS are recognized.
POINTER = "is a Git LFS pointer"


@record
class FileIgnores:
    """Rules that are not reported for the files that a glob matches. ``place`` is the entry's file and line."""

    glob: str
    codes: frozenset[str]
    place: str


@record
class Suppression:
    """A ``[[suppress]]`` entry. "" and None match every file, rule or node. ``place`` is the entry's file and line."""

    file: str
    codes: frozenset[str] | None
    node: str
    reason: str
    expires: date | None
    place: str

    def fits(self, finding: Finding) -> bool:
        """Whether it hides a finding in a file that it covers: the rule and the node must match."""
        if self.codes is not None and finding.rule.code not in self.codes:
            return False
        if not self.node:
            return True
        from fnmatch import fnmatchcase

        return any(each == self.node or fnmatchcase(each, closed(self.node)) for each in _names(finding))

    def expiry(self) -> str:
        """The notice that the entry has expired."""
        return (
            f"{self.described()} expired on {self.expires} and no longer hides findings: fix them, or set a "
            "later "
            f"date; its reason was: {self.reason}"
        )

    def described(self) -> str:
        """Its place, file and node, as notices show them."""
        parts = [f"{label} {text}" for label, text in (("file", self.file), ("node", self.node)) if text]
        return f"{self.place}: the suppression ({', '.join(parts) or 'of every file'})"


def _names(finding: Finding) -> tuple[str, ...]:
    """The names by which an entry may select the node or the value of a finding."""
    name = finding.node if finding.node is not None else finding.value or ""
    return (name, f"{finding.graph}/{name}") if finding.graph else (name,)


class _Entries:
    """The entries for a file, with their indices. Entries that name one node are found by its name."""

    def __init__(self, policy: Policy, path: str) -> None:
        self.named: dict[str, list[tuple[int, Suppression]]] = {}
        self.others: list[tuple[int, Suppression]] = []
        for at in policy.suppress.fitting(path):
            entry = policy.suppress.entries[at]
            named = entry.node and is_literal(entry.node)
            (self.named.setdefault(entry.node, []) if named else self.others).append((at, entry))

    def fitting(self, finding: Finding) -> list[int]:
        """The indices of the entries that hide a finding."""
        if not self.named and not self.others:
            return []
        beside = [*self.others, *(each for name in _names(finding) for each in self.named.get(name, ()))]
        return sorted(at for at, entry in beside if entry.fits(finding))


def in_force(entries: Iterable[Suppression], today: date | None = None) -> tuple[Suppression, ...]:
    """The entries that have not expired on a day, which is the current one by default."""
    if today is None:
        from datetime import date

        today = date.today()
    return tuple(entry for entry in entries if entry.expires is None or today <= entry.expires)


def by_file(entries: Sequence[Suppression], root: str) -> ByGlob[Suppression]:
    """The entries by the globs of their files, which are relative to ``root``."""
    return ByGlob((entry.file or "**" for entry in entries), entries, root)


@record
class Selection:
    """A selection of rules by code: those in ``select`` (None: those selected before) without ``ignore``, and those in
    ``extend``."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    extend: frozenset[str] = frozenset()

    def chosen(self, code: str, before: bool) -> bool:
        """Whether a rule is reported after this selection; ``before`` is whether it was reported without it."""
        chosen = before if self.select is None else code in self.select
        return code in self.extend or (chosen and code not in self.ignore)


def selection(select: Iterable[str] | None, ignore: Iterable[str], extend: Iterable[str]) -> Selection:
    """The selection by lists of codes, prefixes of codes and names; with None for ``select``, nothing is deselected.

    If a rule is both selected and ignored, the longer entry wins; entries of equal length ignore the rule.
    """
    chosen = _widths(select) if select is not None else {}
    more, less = _widths(extend), _widths(ignore)
    for code, width in chosen.items():
        more[code] = max(width, more.get(code, 0))
    ignored = frozenset(code for code, width in less.items() if width >= more.get(code, 0))
    return Selection(frozenset(chosen) if select is not None else None, ignored, frozenset(more) - ignored)


def severities(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Levels by rule code, from pairs of a rule and its level. The longer entry wins, then the later one."""
    widths: dict[str, int] = {}
    levels: dict[str, str] = {}
    for name, level in entries:
        for code, width in _widths([name]).items():
            if width >= widths.get(code, 0):
                widths[code], levels[code] = width, level
    return levels


def _widths(names: Iterable[str]) -> dict[str, int]:
    """The length of the longest matching entry, by rule code; a complete code or a name counts as ONE_RULE."""
    from irlint.policy.rulebook import codes

    widths: dict[str, int] = {}
    for name in names:
        for code in codes(name):
            width = len(name) if code != name.upper() and code.startswith(name.upper()) else ONE_RULE
            widths[code] = max(width, widths.get(code, 0))
    return widths


@record
class Policy:
    """Which findings a run reports, and at what severity.

    ``selections`` apply one after another. ``suppress`` holds the entries that have not expired. ``baseline`` holds the
    fingerprints of findings to hide, by file and rule; its files are relative to ``baseline_root``. ``pointers`` is
    True if LFS pointers are no fault. ``source`` is the configuration of this policy, and ``without`` is the policy
    without that configuration.
    """

    selections: tuple[Selection, ...] = ()
    severities: tuple[tuple[str, str], ...] = ()
    file_ignores: ByGlob[FileIgnores] = ByGlob()
    suppress: ByGlob[Suppression] = ByGlob()
    baseline: Mapping[str, Mapping[str, frozenset[str]]] | None = None
    baseline_root: str = ""
    pointers: bool = False
    source: str = ""
    without: Policy | None = None

    def reports(self, code: str) -> bool:
        """Whether a rule is reported at all."""
        chosen = True
        for selection in self.selections:
            chosen = selection.chosen(code, chosen)
        return chosen


@record
class Remaining:
    """The findings of a file that are reported, and the number and reasons of the others.

    ``kept`` has the index of each reported finding, and the finding with its final severity. ``suppressed`` is the
    number of findings that a suppression hides, or that are about accepted LFS pointers. ``used`` are the indices of
    the suppressions that hide something. ``hidden`` has the code and fingerprint of each finding in the baseline.
    ``silenced`` are all suppressed and hidden findings. ``errors_hidden`` is the number of errors that only the
    configuration hides or lowers, without those that follow from another error.
    """

    kept: tuple[tuple[int, Finding], ...]
    suppressed: int = 0
    used: tuple[int, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    silenced: tuple[Silenced, ...] = ()
    errors_hidden: int = 0


def remaining(policy: Policy, path: str, findings: Sequence[Finding]) -> Remaining:
    """The findings of one file that a policy leaves."""
    off: frozenset[str] = frozenset()
    for entry in policy.file_ignores.of(path):
        off |= entry.codes
    entries = _Entries(policy, path)
    known = (policy.baseline or {}).get(relative(path, policy.baseline_root), {}) if policy.baseline else {}
    levels = dict(policy.severities)
    kept: list[tuple[int, Finding]] = []
    hidden: list[tuple[str, str]] = []
    silenced: list[Silenced] = []
    used: set[int] = set()
    suppressed = 0
    for index, finding in enumerate(findings):
        code = finding.rule.code
        if code in off or not policy.reports(code):
            continue
        fitting = [] if code in ALWAYS else entries.fitting(finding)
        used.update(fitting)
        if fitting or (policy.pointers and POINTER in finding.message):
            suppressed += 1
            reason = policy.suppress.entries[fitting[0]].reason if fitting else "Git LFS pointers are accepted here"
            silenced.append(Silenced(finding, "configuration", reason))
        elif finding.fingerprint in known.get(code, ()) and code not in ALWAYS:
            hidden.append((code, finding.fingerprint))
            silenced.append(Silenced(finding, "baseline"))
        else:
            kept.append((index, replaced(finding, severity=Severity(levels[code])) if code in levels else finding))
    lost = _errors_hidden(policy, findings, kept, hidden) if policy.without is not None else 0
    return Remaining(tuple(kept), suppressed, tuple(sorted(used)), tuple(hidden), tuple(silenced), lost)


def _errors_hidden(
    policy: Policy,
    findings: Sequence[Finding],
    kept: Sequence[tuple[int, Finding]],
    hidden: Sequence[tuple[str, str]],
) -> int:
    """The number of errors that would be reported without the configuration, but are hidden or lowered with it.

    Findings in the baseline and errors that follow from another error are not counted.
    """
    without = policy.without
    assert without is not None
    levels = dict(without.severities)
    known = {index for index, finding in kept if finding.severity is Severity.ERROR}
    in_baseline = set(hidden)
    errors = [
        (index, finding)
        for index, finding in enumerate(findings)
        if levels.get(finding.rule.code, finding.severity.value) == Severity.ERROR.value
        and without.reports(finding.rule.code)
    ]
    roots = {finding.fingerprint for _, finding in errors}
    return sum(
        index not in known and (each.rule.code, each.fingerprint) not in in_baseline and each.because not in roots
        for index, each in errors
    )


def ignored(model: Model, problems: Sequence[Problem]) -> tuple[list[bool], list[str]]:
    """Whether the metadata of the model or of a node hides each problem, and notices about unused entries there."""
    from irlint.policy.rulebook import named

    whole = _listed(model.metadata)
    nodes = {id(node): node for graph in graphs(model) for node in graph.nodes if node.metadata}
    if not whole and not nodes:
        return [False] * len(problems), []
    used: set[tuple[int, str]] = set()
    of_model: dict[str, list[tuple[int, str]]] = {}
    result = []
    for problem in problems:
        rule = problem.fault.rule
        if rule.code not in of_model:
            of_model[rule.code] = [(0, name) for name in whole if named(rule, name)]
            used.update(of_model[rule.code])
        owner = id(problem.node) if problem.node is not None else 0
        own = _listed(nodes[owner].metadata) if owner in nodes else ()
        fitting = [(owner, name) for name in own if named(rule, name)]
        used.update(fitting)
        result.append(bool(fitting or of_model[rule.code]))
    listed = [("the model", name) for name in whole if (0, name) not in used]
    for owner, node in nodes.items():
        listed += [(f'{node.op} "{node.label}"', name) for name in _listed(node.metadata) if (owner, name) not in used]
    notices = [_unused(model.path, where, name) for where, name in listed[:UNUSED_SHOWN]]
    if len(listed) > UNUSED_SHOWN:
        notices.append(f"{model.path.replace(os.sep, '/')}: and {len(listed) - UNUSED_SHOWN} more unused entries")
    return result, notices


def _unused(path: str, where: str, name: str) -> str:
    """The notice about an unused or unknown name in the metadata of the model or a node."""
    from irlint.policy.rulebook import codes, every_rule, suggestion

    fault = "which is unused; remove it" if codes(name) else f"which is no rule{suggestion(name, every_rule())}"
    return f"{path.replace(os.sep, '/')}: {IGNORE} in {where} lists {name}, {fault}"


def _listed(metadata: Mapping[str, str]) -> tuple[str, ...]:
    text = metadata.get(IGNORE, "") if metadata else ""
    return tuple(text.replace(",", " ").replace(";", " ").split())


def stale(
    entries: ByGlob[Suppression], used: frozenset[int], checked: Iterable[str], whole: bool, policy: Policy
) -> Iterator[str]:
    """Notices of suppressions that hide nothing.

    ``checked`` are the files of the run, and ``whole`` is true if it checked the complete folder of the configuration.
    Without that, there are only notices of entries that name a checked file without wildcards. Entries whose rules are
    not reported are skipped.
    """
    if len(used) == len(entries):
        return
    fitting = entries.fitting_any(checked)
    for index, entry in enumerate(entries.entries):
        if index in used or (entry.codes is not None and not any(map(policy.reports, entry.codes))):
            continue
        covered = index in fitting
        if whole or (covered and entry.file and is_literal(entry.file)):
            yield (
                f"{entry.described()} is unused{'; remove it' if covered else ': no file that it matches was checked'}"
            )
