"""Which of the guesses that fix a problem are the best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.lost_nodes import keeps_elements
from irlint.fixes.other_values import LAST
from irlint.fixes.outcomes import Outcome
from irlint.model import Problem
from irlint.model.tensor import tensor_shape
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.records import record, replaced

#: At most this many equally good guesses are suggested.
SUGGESTED = 2


@record
class Tried:
    """A guess that fixes the problem, and its outcome. A smaller ``order`` is better."""

    order: tuple[int, int, int, int]
    guess: Guess
    outcome: Outcome


def deciding(found: list[Tried], problem: Problem) -> list[Tried]:
    """Drops guesses about something for which too many values fix the problem equally well. A value that other nodes
    use is kept."""
    limit = 1 if problem.fault.rule is AXIS_OUT_OF_RANGE else SUGGESTED
    counts: dict[object, int] = {}
    for each in found:
        if each.guess.count >= 0:
            counts[_kind(each, problem)] = counts.get(_kind(each, problem), 0) + 1
    indices = {id(each) for each in found if any(edit.kind == "constant" for edit in each.guess.edits)}
    dropped = indices if limit == 1 and len(indices) > SUGGESTED else set()
    return [
        each
        for each in found
        if id(each) not in dropped
        and (each.guess.about is None or each.guess.count > 0 or counts.get(_kind(each, problem), limit) <= limit)
    ]


def _kind(tried: Tried, problem: Problem) -> tuple[object, ...]:
    likely = tried.guess.likely if problem.fault.rule is not AXIS_OUT_OF_RANGE or tried.guess.likely == LAST else 0
    return tried.guess.within, tried.guess.about, likely


def first(found: Sequence[Tried]) -> list[Tried]:
    return [each for each in found if each.order == min(other.order for other in found)]


def groups(best: Sequence[Tried]) -> list[list[Tried]]:
    """The guesses in groups. Guesses that resize the same input form one group."""
    found: dict[object, list[Tried]] = {}
    for each in best:
        sized = all(edit.shape is not None for edit in each.guess.edits)
        found.setdefault(each.guess.about if sized else each.guess.edits, []).append(each)
    return list(found.values())


def are_equivalent(best: Sequence[Tried]) -> bool:
    """Whether several guesses give the node the same inputs: the same elements with the same axes."""
    first = best[0].outcome.inputs
    return all(
        len(each.guess.edits) == 1 and keeps_elements(each.guess.edits[0]) and each.outcome.inputs == first
        for each in best
    )


def same_shapes(best: Sequence[Tried], problem: Problem) -> bool:
    """Whether several guesses differ only in that one writes -1 into a constant where another writes a number, or 1
    into a target to which a value is broadcast, after which all values have the same shapes."""
    unspecific = {-1, 1} if problem.fault.rule.family == "broadcasting" else {-1}
    edits = [each.guess.edits for each in best]
    if len(set(map(len, edits))) > 1 or not all(edit.of == "entries" for group in edits for edit in group):
        return False
    for group in zip(*edits):
        if len({edit.name for edit in group}) > 1 or len({len(edit.value) for edit in group}) > 1:
            return False
        if any(len(set(entries) - unspecific) > 1 for entries in zip(*(edit.value for edit in group))):
            return False
    shapes = [{value.name: tensor_shape(known) for value, known in each.outcome.types.items()} for each in best]
    return all(each == shapes[0] for each in shapes)


def rests(tried: Tried) -> int:
    """The number of entries -1 and 1 in the constants that a guess changes."""
    return sum(edit.value.count(-1) + edit.value.count(1) for edit in tried.guess.edits)


def different(alternatives: Iterable[tuple[Edit, ...]]) -> tuple[tuple[Edit, ...], ...]:
    """The alternatives, without those that differ only in the name of a value in messages."""
    found: dict[tuple[Edit, ...], tuple[Edit, ...]] = {}
    for edits in alternatives:
        found.setdefault(tuple(replaced(each, called="") for each in edits), edits)
    return tuple(found.values())


def shared(best: Sequence[Tried]) -> Outcome:
    """The outcome of the first guess, without the problems that the other guesses do not fix."""
    outcome = best[0].outcome
    sets = [{id(each) for each in tried.outcome.fixed} for tried in best]
    return replaced(outcome, fixed=tuple(each for each in outcome.fixed if all(id(each) in found for found in sets)))
