"""What a report names beside the best candidates: changes elsewhere that fit as well, and the general help of the rule.

Without evidence in the rest of the model, the best candidate is only the likeliest of several places that may be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.clashes import Clashes
from irlint.fixes.editor import STRIDES
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import FLATTEN, SQUEEZE, UNSQUEEZE
from irlint.fixes.other_values import EVIDENT, LAST_RESORT, ONLY_SUGGESTED
from irlint.fixes.ranking import Tried
from irlint.fixes.suggestion import DECLARATION, WEIGHTS, place
from irlint.inference.origins import inputs_of
from irlint.model import Problem
from irlint.model.tensor import Tensor
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.ops.shared.filters import CHANNELS_MISMATCH, KERNEL_SHAPE_MISMATCH

#: At most this many changes are named, with the best ones.
NAMED = 3

#: The places of data, from which sizes come.
OF_DATA = (DECLARATION, WEIGHTS)

#: The rules whose general help also names the data.
OF_CHANNELS = (CHANNELS_MISMATCH, BROADCAST_MISMATCH)

#: Multiples of this number are usual sizes.
ROUND = 8


def is_supported(best: Sequence[Tried]) -> bool:
    """Whether the rest of the model supports the best candidate."""
    return best[0].candidate.grade == EVIDENT or best[0].candidate.evidence > 0


def elsewhere(
    best: Sequence[Tried], every: Sequence[Tried], inputs: Inputs, may_be_named: Callable[[Tried], bool]
) -> tuple[tuple[Edit, ...], ...]:
    """Edits of other kinds of places than the best candidates change, which fix as much; the likeliest of each kind.

    Inputs of the model and weights come first. ``every`` has all candidates that fix the problem.
    """
    found: dict[str, tuple[Edit, ...]] = {place(tried.candidate.edits): () for tried in best}
    count = NAMED - len({tried.candidate.edits for tried in best})
    others = [each for each in every if each not in best]
    for tried in sorted(others, key=lambda each: (place(each.candidate.edits) not in OF_DATA, each.order[1:])):
        candidate = tried.candidate
        is_worse = tried.order[0] > best[0].order[0] + (candidate.grade == ONLY_SUGGESTED)
        if is_worse or place(candidate.edits) in found or _is_far_fetched(candidate):
            continue
        if not _changes_same_value(candidate, best, inputs) and may_be_named(tried):
            found[place(candidate.edits)] = candidate.edits
    return tuple(filter(None, found.values()))[: max(count, 0)]


def changes_rank(best: Sequence[Tried]) -> bool:
    """Whether the best candidates only insert nodes that add or remove axes."""
    edits = (edit for tried in best for edit in tried.candidate.edits)
    return all((edit.kind, edit.name) in (("insert", SQUEEZE), ("insert", UNSQUEEZE)) for edit in edits)


def is_doubted(best: Sequence[Tried], others: Sequence[tuple[Edit, ...]]) -> bool:
    """Whether the best candidate fixes several problems, and another declaration fixes them, too.

    A wrong number in one place rarely causes several problems, and a wrong input does so often.
    """
    return len(best[0].outcome.fixed) > 1 and any(place(edits) == DECLARATION for edits in others)


def _changes_same_value(candidate: Candidate, best: Sequence[Tried], inputs: Inputs) -> bool:
    values = set(_changed_values(candidate, inputs))
    return any(not values.isdisjoint(_changed_values(tried.candidate, inputs)) for tried in best)


def _changed_values(candidate: Candidate, inputs: Inputs) -> Iterator[str]:
    """The values that a candidate declares, rewrites, or replaces by the result of a new node."""
    for edit in candidate.edits:
        value = inputs.edited(edit)[1] if edit.kind == "insert" else None
        if edit.kind in ("constant", "declaration"):
            yield edit.name
        elif value is not None:
            yield value.name


def _is_far_fetched(candidate: Candidate) -> bool:
    """Whether a candidate swaps inputs, inserts several nodes or a Flatten, declares odd sizes, or is a last resort and
    changes no weights."""
    if candidate.swaps or (candidate.grade == LAST_RESORT and place(candidate.edits) != WEIGHTS):
        return True
    inserted = [edit.name for edit in candidate.edits if edit.kind == "insert"]
    if len(inserted) > 1 or FLATTEN in inserted:
        return True
    declared = (edit for edit in candidate.edits if edit.kind == "declaration" and edit.shape is not None)
    pairs = (pair for edit in declared for pair in zip(edit.before or (), edit.shape or ()) if pair[0] != pair[1])
    return any(
        isinstance(old, int) and isinstance(new, int) and new % ROUND and _roundness(new) <= _roundness(old)
        for old, new in pairs
    )


def _roundness(size: int) -> int:
    """The largest power of 2 that divides a size."""
    return size & -size


def or_help(problem: Problem, candidate: Candidate, inputs: Inputs, clashes: Clashes) -> bool:
    """Whether the general help states another cause that is as likely, such as a wrong constant."""
    about_axes = isinstance(candidate.subject, str) and "ax" in candidate.subject
    is_only_suggested = candidate.grade == ONLY_SUGGESTED
    if is_only_suggested and (candidate.subject == STRIDES or problem.fault.rule in OF_CHANNELS):
        return True
    if problem.fault.rule is KERNEL_SHAPE_MISMATCH and not candidate.sure:
        return True
    is_connection = all(edit.kind == "input" for edit in candidate.edits)
    if candidate.grade == LAST_RESORT and is_connection and not candidate.evidence and not candidate.sure:
        return True
    call = inputs.known.calls.get(problem.node) if problem.node is not None else None
    if call is not None and call.signature is not None and "k" in map(str.lower, call.signature.inputs):
        from irlint.ops.indexing.selecting import TOPK_TOO_LARGE

        if problem.fault.rule is TOPK_TOO_LARGE:
            return True
    if problem.node is None or candidate.evidence or not about_axes or candidate.node not in (None, problem.node):
        return False
    ranks = [each.rank for each in inputs_of(problem.node, inputs.known) if isinstance(each, Tensor)]
    if problem.fault.rule is AXIS_OUT_OF_RANGE and len(ranks) > 1 and len(set(ranks)) == 1:
        return False
    return any(inputs.makers.is_constant(value) for value, _ in clashes.of(problem))
