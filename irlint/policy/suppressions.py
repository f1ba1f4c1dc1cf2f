"""Which findings are reported, and at what severity: selections of rules, suppressions and the baseline."""

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

#: The rules whose findings no suppression and no baseline hides, because the file was not checked completely.
ALWAYS = frozenset([CHECK_CRASHED.code, CHECK_TIMED_OUT.code])

#: At most this many unused entries of a model are listed.
UNUSED_SHOWN = 5

#: The width of an entry that is a code or a name. The width of a prefix of codes is the number of its characters.
ONE_RULE = 100

#: The phrase in messages about weights that are a Git LFS pointer.
POINTER = "is a Git LFS pointer"


@record
class FileIgnores:
    """Rules that are not reported for the files that a glob matches. ``place`` is the file and line of the entry."""

    glob: str
    codes: frozenset[str]
    place: str


@record
class Suppression:
    """A ``[[suppress]]`` entry; ``place`` is the file and line of the entry.

    A ``file`` or ``node`` of "" matches all files or nodes, and ``codes`` of None matches all rules.
    """

    file: str
    codes: frozenset[str] | None
    node: str
    reason: str
    expires: date | None
    place: str

    def fits(self, finding: Finding) -> bool:
        """Whether the rule and the node of a finding match the entry; the file is not compared."""
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
        """The place, the file and the node of the entry, as notices show them."""
        parts = [f"{label} {text}" for label, text in (("file", self.file), ("node", self.node)) if text]
        return f"{self.place}: the suppression ({', '.join(parts) or 'of every file'})"


def _names(finding: Finding) -> tuple[str, ...]:
    """The names by which an entry may name the node of a finding or, without a node, its value."""
    name = finding.node if finding.node is not None else finding.value or ""
    return (name, f"{finding.graph}/{name}") if finding.graph else (name,)


class _Entries:
    """The entries for a file, with their indices.

    ``named`` has the entries whose ``node`` has no wildcards, by this name, and ``others`` all other entries.
    """

    def __init__(self, policy: Policy, path: str) -> None:
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
        candidates = [*self.others, *(each for name in _names(finding) for each in self.named.get(name, ()))]
        return sorted(at for at, entry in candidates if entry.fits(finding))


def in_force(entries: Iterable[Suppression], today: date | None = None) -> tuple[Suppression, ...]:
    """The entries that have not expired on a day, which is today by default."""
    if today is None:
        from datetime import date

        today = date.today()
    return tuple(entry for entry in entries if entry.expires is None or today <= entry.expires)


def by_file(entries: Sequence[Suppression], root: str) -> ByGlob[Suppression]:
    """The entries by the globs of their files, which are relative to ``root``."""
    return ByGlob((entry.file or "**" for entry in entries), entries, root)


@record
class Selection:
    """A selection of rules by code: the rules in ``select`` without those in ``ignore``, and the rules in ``extend``.

    If ``select`` is None, the rules that were selected before take its place.
    """

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    extend: frozenset[str] = frozenset()

    def chosen(self, code: str, before: bool) -> bool:
        """Whether this selection has a rule; ``before`` states whether the rule was selected before."""
        chosen = before if self.select is None else code in self.select
        return code in self.extend or (chosen and code not in self.ignore)


def selection(select: Iterable[str] | None, ignore: Iterable[str], extend: Iterable[str]) -> Selection:
    """The selection from lists of codes, prefixes of codes and names; ``select`` is None if there is no such list.

    If a rule is both selected and ignored, the entry with the larger width wins; for equal widths, it is ignored.
    """
    selected = _widths(select) if select is not None else {}
    added, less = _widths(extend), _widths(ignore)
    for code, width in selected.items():
        added[code] = max(width, added.get(code, 0))
    ignored = frozenset(code for code, width in less.items() if width >= added.get(code, 0))
    return Selection(frozenset(selected) if select is not None else None, ignored, frozenset(added) - ignored)


def severities(entries: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The level of each rule, by code, from pairs of an entry and a level.

    Of several entries for a rule, the one with the largest width counts, and of these the last one.
    """
    widths: dict[str, int] = {}
    levels: dict[str, str] = {}
    for name, level in entries:
        for code, width in _widths([name]).items():
            if width >= widths.get(code, 0):
                widths[code], levels[code] = width, level
    return levels


def _widths(names: Iterable[str]) -> dict[str, int]:
    """The largest width of an entry that matches a rule, by the code of the rule."""
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

    ``selections`` apply one after another. ``severities`` are pairs of a code and a level. ``suppress`` has the entries
    that have not expired. ``baseline`` has the fingerprints of findings to hide, by file and rule; its files are
    relative to ``baseline_root``. ``pointers`` is True if LFS pointers are no fault. ``source`` is the configuration
    file, and ``without`` is the policy of the same run without a configuration.
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
        """Whether the selections have a rule."""
        is_chosen = True
        for selection in self.selections:
            is_chosen = selection.chosen(code, is_chosen)
        return is_chosen


@record
class Remaining:
    """The findings of a file that are reported, and counts of the other findings.

    ``kept`` has the index of each reported finding, and the finding with its final severity. ``suppressed`` is the
    number of findings that a suppression hides or that are about accepted LFS pointers. ``used`` has the indices of the
    suppressions that hide a finding. ``hidden`` has the code and fingerprint of each finding that the baseline hides.
    ``silenced`` are all suppressed and hidden findings. ``errors_hidden`` is the number of errors that the
    configuration hides or lowers, without errors in the baseline and errors that follow from another error.
    """

    kept: tuple[tuple[int, Finding], ...]
    suppressed: int = 0
    used: tuple[int, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    silenced: tuple[Silenced, ...] = ()
    errors_hidden: int = 0


def remaining(policy: Policy, path: str, findings: Sequence[Finding]) -> Remaining:
    """The findings of one file that are reported under a policy."""
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
        if fitting or (policy.pointers and POINTER in finding.message):
            suppressed += 1
            reason = policy.suppress.entries[fitting[0]].reason if fitting else "Git LFS pointers are accepted here"
            silenced.append(Silenced(finding, "configuration", reason))
        elif finding.fingerprint in in_baseline.get(code, ()) and code not in ALWAYS:
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
    """``errors_hidden`` of Remaining."""
    without = policy.without
    assert without is not None
    levels = dict(without.severities)
    reported = {index for index, finding in kept if finding.severity is Severity.ERROR}
    in_baseline = set(hidden)
    errors = [
        (index, finding)
        for index, finding in enumerate(findings)
        if levels.get(finding.rule.code, finding.severity.value) == Severity.ERROR.value
        and without.reports(finding.rule.code)
    ]
    roots = {finding.fingerprint for _, finding in errors}
    return sum(
        index not in reported and (each.rule.code, each.fingerprint) not in in_baseline and each.because not in roots
        for index, each in errors
    )


def ignored(model: Model, problems: Sequence[Problem]) -> tuple[list[bool], list[str]]:
    """For each problem, whether metadata of the model or of the problem's node lists its rule; and notices about
    entries of metadata that are unused or no rule."""
    from irlint.policy.rulebook import named

    names_of_model = _listed(model.metadata)
    nodes = {id(node): node for graph in graphs(model) for node in graph.nodes if node.metadata}
    if not names_of_model and not nodes:
        return [False] * len(problems), []
    # Entries are pairs of the id of the node, 0 for the model, and the name.
    used: set[tuple[int, str]] = set()
    of_model: dict[str, list[tuple[int, str]]] = {}
    result = []
    for problem in problems:
        rule = problem.fault.rule
        if rule.code not in of_model:
            of_model[rule.code] = [(0, name) for name in names_of_model if named(rule, name)]
            used.update(of_model[rule.code])
        owner = id(problem.node) if problem.node is not None else 0
        names_of_node = _listed(nodes[owner].metadata) if owner in nodes else ()
        of_node = [(owner, name) for name in names_of_node if named(rule, name)]
        used.update(of_node)
        result.append(bool(of_node or of_model[rule.code]))
    listed = [("the model", name) for name in names_of_model if (0, name) not in used]
    for owner, node in nodes.items():
        listed += [(f'{node.op} "{node.label}"', name) for name in _listed(node.metadata) if (owner, name) not in used]
    notices = [_unused(model.path, where, name) for where, name in listed[:UNUSED_SHOWN]]
    if len(listed) > UNUSED_SHOWN:
        notices.append(f"{model.path.replace(os.sep, '/')}: and {len(listed) - UNUSED_SHOWN} more unused entries")
    return result, notices


def _unused(path: str, where: str, name: str) -> str:
    """The notice that ``name`` in the metadata of the model or a node (``where``) is unused or no rule."""
    from irlint.policy.rulebook import codes, every_rule, suggestion

    fault = "which is unused; remove it" if codes(name) else f"which is no rule{suggestion(name, every_rule())}"
    return f"{path.replace(os.sep, '/')}: {IGNORE} in {where} lists {name}, {fault}"


def _listed(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The names of rules that metadata lists to ignore."""
    text = metadata.get(IGNORE, "") if metadata else ""
    return tuple(text.replace(",", " ").replace(";", " ").split())


def stale(
    entries: ByGlob[Suppression], used: frozenset[int], checked: Iterable[str], is_complete: bool, policy: Policy
) -> Iterator[str]:
    """Notices about the entries that hide nothing; ``used`` are the indices of the other entries.

    ``checked`` are the files of the run. ``is_complete`` is True if the run checked the complete folder of the
    configuration; if not, there are only notices about entries that name a checked file without wildcards. Entries
    whose rules are not reported are skipped.
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
