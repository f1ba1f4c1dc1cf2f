"""Rivals of the best candidate: changes of another part of the model that have the same effect."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.edits import Edit
from irlint.fixes.candidate import SEVERAL
from irlint.fixes.editor import STRIDES
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.other_values import EVIDENT, LAST_RESORT, ONLY_SUGGESTED
from irlint.fixes.ranking import Tried, of_best_rank
from irlint.inference.known import Known
from irlint.model.tensor import Tensor
from irlint.records import replaced

#: Wrong dilations of a convolution and a wrong Pad before it have the same effect.
DILATIONS, PAD = "dilations", "Pad"


def with_rivals(best: list[Tried], every: Sequence[Tried], inputs: Inputs) -> list[Tried]:
    """The best candidate and its rivals. ``every`` has all candidates that fix the problem."""
    equal = [tried for tried in every if tried.order[0] == best[0].order[0]]
    best = _with_transpose(best, equal) or [*best, *_reversed(best[0], equal)]
    best = _with_unusual_strides(best, equal, inputs)
    return _with_padding([*best, *_resized_tables(best[0], every)], equal, inputs)


def _reversed(best: Tried, equal: Sequence[Tried]) -> list[Tried]:
    """The candidate that makes the reverse change at another node: from the new value of ``best`` to its old value.

    [] if ``SEVERAL`` nodes already have the new value.
    """
    edit, *more = best.candidate.edits
    if more or edit.kind not in ("attribute", "constant") or best.candidate.evidence >= SEVERAL:
        return []
    others = [tried for tried in equal if len(tried.candidate.edits) == 1]
    edits = [tried.candidate.edits[0] for tried in others]
    exchanged = (edit.kind, edit.of, edit.value, edit.before)
    found = [tried for tried, one in zip(others, edits) if (one.kind, one.of, one.before, one.value) == exchanged]
    return [each for each in found if each.candidate.edits[0] != edit][:1]


def _with_transpose(best: Sequence[Tried], equal: Sequence[Tried]) -> list[Tried]:
    """The candidate that inserts a Transpose, if the best candidates declare other sizes for inputs of the model.

    If several orders of axes fit, the first of them and the best candidate. [] if no candidate inserts a Transpose.
    """
    found = [
        tried
        for tried in equal
        if all((edit.kind, edit.name) == ("insert", TRANSPOSE) for edit in tried.candidate.edits)
    ]
    if not found or not all(tried.candidate.resizes_input and not tried.candidate.redeclares for tried in best):
        return []
    found = of_best_rank(found)
    return found if len(found) == 1 else [found[0], best[0]]


def _with_unusual_strides(best: list[Tried], every: Sequence[Tried], inputs: Inputs) -> list[Tried]:
    """The best candidates. If the first sets strides, another candidate that sets the same strides may precede it.

    That candidate replaces unusual strides: no other node with its window has them.
    """
    edit, *more = best[0].candidate.edits
    if more or edit.name != STRIDES or _is_unusual(edit, inputs):
        return best
    equal = [tried for tried in every if tried.order[:3] == best[0].order[:3] and len(tried.candidate.edits) == 1]
    edits = [tried.candidate.edits[0] for tried in equal]
    unusual = [
        tried
        for tried, each in zip(equal, edits)
        if (each.name, each.value) == (STRIDES, edit.value) and _is_unusual(each, inputs)
    ]
    return [*unusual, *best] if len(unusual) == 1 else best


def _is_unusual(edit: Edit, inputs: Inputs) -> bool:
    """Whether the list that an edit changes is unusual: siblings have the same window, and none has this list."""
    node, editor = inputs.edited(edit)[0], inputs.editor
    others = editor.siblings(node) if node is not None else []
    similar = [each for each in others if node is not None and editor.window(each) == editor.window(node)]
    return bool(similar) and edit.before not in [editor.value_of(each, edit.name) for each in similar]


def without_lists_of_inserted(best: Sequence[Tried], known: Known) -> list[Tried]:
    """The candidates without those that connect a list which a node inserted by another candidate uses."""
    inserted = [
        value for tried in best for edit in tried.candidate.edits if edit.kind == "insert" for _, value in edit.value
    ]
    lists = {value.name for value, type in known.types.items() if isinstance(type, Tensor) and type.value in inserted}
    names = lists.union(name for tried in best for edit in tried.candidate.edits for name in edit.inputs)
    return [
        tried
        for tried in best
        if not any(edit.kind == "input" and edit.value in names for edit in tried.candidate.edits)
    ]


def _resized_tables(best: Tried, every: Sequence[Tried]) -> list[Tried]:
    """The candidate that resizes a constant, if there is only one such candidate.

    [] unless the best candidate resizes an input of the model, or changes a number in several constants.
    """
    renumbers = len(best.candidate.edits) > 1 and all(edit.of == "entries" for edit in best.candidate.edits)
    if not best.candidate.resizes_input and not renumbers:
        return []
    found = [tried for tried in every if [edit.of for edit in tried.candidate.edits] == ["shape"]]
    found = [tried for tried in found if len(tried.outcome.fixed) >= len(best.outcome.fixed)]
    return found if len(found) == 1 else []


def with_strides(best: list[Tried], every: Sequence[Tried]) -> list[Tried]:
    """The best candidates. If the first sets strides of 1 to 2, or halves or doubles a size, all that do so follow."""
    strided = [each for each in every if _doubles_strides(each)]
    sized = [each for each in every if _halves_or_doubles_size(each)]
    if not strided or not best or best[0] not in (*strided, *sized):
        return best
    if best[0].order[1] == EVIDENT:
        inputs = [tried for tried in sized if tried.order[0] == best[0].order[0] and tried.candidate.resizes_input]
        return [inputs[0], strided[0]] if inputs and len(best) > 1 else best
    others = {tried.candidate.edits[0].name: tried for tried in reversed(sized)}
    places = [each for each in best if each in strided] or strided[:1]
    return [*places, *(each for each in sized if each in others.values())]


def with_lost_strides(best: list[Tried], excluded: Sequence[Tried]) -> list[Tried]:
    """The best candidates. If there are none, or they make images oblong or single pixels, candidates that set strides
    of 1 to 2, although no similar node has such strides: perhaps the only ones were lost."""
    if any(tried.order[1] != LAST_RESORT or not tried.candidate.resizes_input for tried in best):
        return best
    found = of_best_rank([each for each in excluded if _doubles_strides(each)])
    found.sort(key=lambda each: each.candidate.edits[0].index or 0)
    named = [replaced(each, candidate=replaced(each.candidate, grade=ONLY_SUGGESTED, sure=False)) for each in found]
    return named or best


def _doubles_strides(tried: Tried) -> bool:
    edit, *more = tried.candidate.edits
    return not more and edit.name == STRIDES and set(edit.before or (1,)) == {1} and set(edit.value) == {2}


def _halves_or_doubles_size(tried: Tried) -> bool:
    for edit in tried.candidate.edits:
        after = edit.shape if edit.kind == "declaration" else edit.value if edit.of == "shape" else None
        pairs = [] if after is None else [pair for pair in zip(edit.before or (), after) if pair[0] != pair[1]]
        if not pairs or not all(_is_double(one, other) or _is_double(other, one) for one, other in pairs):
            return False
    return True


def _is_double(one: object, other: object) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one == 2 * other


def _with_padding(best: list[Tried], every: Sequence[Tried], inputs: Inputs) -> list[Tried]:
    """The best candidates. If the first changes dilations, a change of padding with the same effect follows.

    If the first changes padding, the change of dilations follows. Dilations that fill a gap of a series replace all.
    """
    dilated = [tried for tried in every if [edit.name for edit in tried.candidate.edits] == [DILATIONS]]
    padded = [tried for tried in every if tried.candidate.node is not None and tried.candidate.node.op == PAD]
    padded = [tried for tried in padded if [edit.of for edit in tried.candidate.edits] == ["entries"]]
    if not dilated or not padded or best[0] not in (*dilated, *padded):
        return best
    filling = [each for each in dilated if _fills_gap(each, inputs)]
    others = padded if best[0] in dilated else dilated
    return filling[:1] or [*best, of_best_rank(others)[0]]


def _fills_gap(tried: Tried, inputs: Inputs) -> bool:
    edit = tried.candidate.edits[0]
    node = inputs.edited(edit)[0]
    return node is not None and inputs.editor.fills_gap(node, edit)
