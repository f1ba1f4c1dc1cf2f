"""Limits the listed problems of a file. One problem for each ``Key`` states the number of unlisted problems."""

from __future__ import annotations

from irlint.findings.wording import are
from irlint.model import Problem
from irlint.records import replaced

#: (code of the rule, severity, whether the problem follows from another problem). Problems with equal keys are counted
#: together.
Key = tuple[str, str, bool]


def limited(problems: list[Problem], most: int) -> list[Problem]:
    """At most ``most`` problems for each key. At the end, one problem for a key states the number of unlisted ones."""
    counts: dict[Key, int] = {}
    listed: list[Problem] = []
    unlisted: dict[Key, list[Problem]] = {}
    for problem in problems:
        key = _key(problem)
        counts[key] = count = counts.get(key, 0) + problem.count
        (listed if count <= most and problem.count == 1 else unlisted.setdefault(key, [])).append(problem)
    replacements: dict[int, Problem] = {}
    # Roots come first. If a root is replaced, the problems that follow from it get the replacement as their root.
    for group in sorted(unlisted.values(), key=lambda problems: problems[0].because is not None):
        replacement = _replacement(group, counts[_key(group[0])], replacements)
        replacements.update(dict.fromkeys(map(id, group), replacement))
        listed.append(replacement)
    return [_with_root(problem, replacements) for problem in listed]


def _key(problem: Problem) -> Key:
    return problem.fault.rule.code, problem.fault.severity.value, problem.because is not None


def _replacement(unlisted: list[Problem], count: int, replacements: dict[int, Problem]) -> Problem:
    """The problem that replaces the ``unlisted`` problems of one key. ``count`` is the number of all its problems."""
    first, rule = unlisted[0], unlisted[0].fault.rule
    severity, number = first.fault.severity, sum(each.count for each in unlisted)
    fault = rule.fault(
        f"{count:,} {severity.value}s of this file are of this rule, and {number:,} of these {are(number)} not listed: "
        f"the {severity.value} at this place and all later ones",
        help=f"fix the listed {severity.value}s, and check again",
        severity=severity,
        role="",
    )
    return _with_root(Problem(fault, first.graph, place=first.place, because=first.because), replacements)


def _with_root(problem: Problem, replacements: dict[int, Problem]) -> Problem:
    """The problem. If its root was replaced, the replacement is its root."""
    root = replacements.get(id(problem.because)) if problem.because is not None else None
    return problem if root is None else replaced(problem, because=root)
