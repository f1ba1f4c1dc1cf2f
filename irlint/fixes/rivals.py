"""Rivals of the best guess: another part of the model that may be wrong instead, with the same effect."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.fixes.doubts import resizes_input
from irlint.fixes.guesses import STRIDES
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.other_values import USUAL
from irlint.fixes.ranking import Tried, first
from irlint.inference.known import Known
from irlint.model.tensor import Tensor

#: A wrong distance of two taps of a convolution and a wrong padding before it have the same effect.
DILATIONS, PAD = "dilations", "Pad"


def with_rivals(best: list[Tried], every: Sequence[Tried], inputs: Inputs) -> list[Tried]:
    """The best guess with its rivals, among all that fix the problem."""
    equal = [each for each in every if each.order[0] == best[0].order[0]]
    best = _reordered(best, equal) or best
    return _with_padding([*best, *_tables(best[0], every)], equal, inputs)


def _reordered(best: Sequence[Tried], equal: Sequence[Tried]) -> list[Tried]:
    """The guesses that insert a Transpose, if the best ones change sizes that an input of the model declares. Of
    several orders of axes, the first one beside those; [] if there is none."""
    found = [each for each in equal if all((e.kind, e.name) == ("insert", TRANSPOSE) for e in each.guess.edits)]
    if not found or not all(resizes_input(each.guess) and not each.guess.redeclares for each in best):
        return []
    found = first(found)
    return found if len(found) == 1 else [found[0], best[0]]


def explaining(best: Sequence[Tried], known: Known) -> list[Tried]:
    """The guesses without those that connect an unused list of axes, if others insert the node that took this list."""
    inserted = [value for each in best for edit in each.guess.edits if edit.kind == "insert" for _, value in edit.value]
    lists = {value.name for value, held in known.types.items() if isinstance(held, Tensor) and held.value in inserted}
    taken = lists.union(name for each in best for edit in each.guess.edits for name in edit.inputs)
    return [each for each in best if not any(edit.kind == "input" and edit.value in taken for edit in each.guess.edits)]


def _tables(best: Tried, every: Sequence[Tried]) -> list[Tried]:
    """The only constant that gets another size with the same effect as another size of an input, or as another number
    in several constants: a table may be that of another variant of the model."""
    renumbers = len(best.guess.edits) > 1 and all(edit.of == "entries" for edit in best.guess.edits)
    if not resizes_input(best.guess) and not renumbers:
        return []
    found = [each for each in every if [edit.of for edit in each.guess.edits] == ["shape"]]
    found = [each for each in found if len(each.outcome.fixed) >= len(best.outcome.fixed)]
    return found if len(found) == 1 else []


def with_strides(best: list[Tried], every: Sequence[Tried]) -> list[Tried]:
    """The best guesses. If they change strides of 1 to 2, or halve or double the size of an input or of a table, then
    each of these is as likely: the nearest node that may have lost its strides comes first. The size of an input comes
    first if several nodes may have lost the strides that others have."""
    strided = [each for each in every if _is_doubled(each)]
    sized = [each for each in every if _is_resized_by_two(each)]
    if not strided or not best or best[0] not in (*strided, *sized):
        return best
    if best[0].order[1] == USUAL:
        inputs = [each for each in sized if each.order[0] == best[0].order[0] and resizes_input(each.guess)]
        return [inputs[0], strided[0]] if inputs and len(best) > 1 else best
    others = {each.guess.edits[0].name: each for each in reversed(sized)}
    return [strided[0], *(each for each in sized if each in others.values())]


def _is_doubled(tried: Tried) -> bool:
    """Whether a guess changes strides of 1 to 2."""
    edit, *more = tried.guess.edits
    return not more and edit.name == STRIDES and set(edit.before or (1,)) == {1} and set(edit.value) == {2}


def _is_resized_by_two(tried: Tried) -> bool:
    """Whether a guess halves or doubles the sizes of axes of an input of the model, or of a constant."""
    for edit in tried.guess.edits:
        after = edit.shape if edit.kind == "declaration" else edit.value if edit.of == "shape" else None
        pairs = [] if after is None else [pair for pair in zip(edit.before or (), after) if pair[0] != pair[1]]
        if not pairs or not all(_is_double(one, other) or _is_double(other, one) for one, other in pairs):
            return False
    return True


def _is_double(one: object, other: object) -> bool:
    return isinstance(one, int) and isinstance(other, int) and one == 2 * other


def _with_padding(best: list[Tried], every: Sequence[Tried], inputs: Inputs) -> list[Tried]:
    """The best guess, and with other dilations also the padding that fits the present ones, or the reverse. Only
    dilations that fill a gap in those of similar nodes are better than the padding."""
    dilated = [each for each in every if [edit.name for edit in each.guess.edits] == [DILATIONS]]
    padded = [each for each in every if each.guess.within is not None and each.guess.within.op == PAD]
    padded = [each for each in padded if [edit.of for edit in each.guess.edits] == ["entries"]]
    if not dilated or not padded or best[0] not in (*dilated, *padded):
        return best
    filling = [each for each in dilated if _fills_gap(each, inputs)]
    others = padded if best[0] in dilated else dilated
    return filling[:1] or [*best, first(others)[0]]


def _fills_gap(tried: Tried, inputs: Inputs) -> bool:
    edit = tried.guess.edits[0]
    node = inputs.edited(edit)[0]
    return node is not None and inputs.guesses.fills_gap(node, edit)
