"""Limits the listed problems of a file: after the first problems of a rule, one entry gives the number of the
others."""

from __future__ import annotations

from irlint.model import Problem
from irlint.records import replaced

#: The problems that are counted together: code of the rule, severity, and whether they follow from another problem.
Key = tuple[str, str, bool]


def limited(problems: list[Problem], most: int) -> list[Problem]:
    """The problems, at most ``most`` for each rule and severity. The others are replaced by one problem with their
    number, at the place of the first."""
    counts: dict[Key, int] = {}
    kept: list[Problem] = []
    left_out: dict[Key, list[Problem]] = {}
    for problem in problems:
        key = _key(problem)
        counts[key] = count = counts.get(key, 0) + problem.count
        (kept if count <= most and problem.count == 1 else left_out.setdefault(key, [])).append(problem)
    stand_ins: dict[int, Problem] = {}
    for each in sorted(left_out.values(), key=lambda every: every[0].because is not None):
        stand_in = _stand_in(each, counts[_key(each[0])], stand_ins)
        stand_ins.update(dict.fromkeys(map(id, each), stand_in))
        kept.append(stand_in)
    return [_with_root(problem, stand_ins) for problem in kept]


def _key(problem: Problem) -> Key:
    return problem.fault.rule.code, problem.fault.severity.value, problem.because is not None


def _stand_in(left_out: list[Problem], count: int, stand_ins: dict[int, Problem]) -> Problem:
    """The problem that replaces the unlisted ones; ``count`` is the number of all."""
    first, rule = left_out[0], left_out[0].fault.rule
    severity, number = first.fault.severity, sum(each.count for each in left_out)
    fault = rule.fault(
        f"{count:,} {severity.value}s of this file are of this rule, and {number:,} of them are not listed: this one "
        "and those after it",
        help="fix the listed ones, and check again",
        severity=severity,
        role="",
    )
    return _with_root(Problem(fault, first.graph, place=first.place, because=first.because), stand_ins)


def _with_root(problem: Problem, stand_ins: dict[int, Problem]) -> Problem:
    """The problem. If the problem that it follows from is unlisted, it follows from the replacement."""
    root = stand_ins.get(id(problem.because)) if problem.because is not None else None
    return problem if root is None else replaced(problem, because=root)
