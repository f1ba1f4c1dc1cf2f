"""Ranks the candidates that fix a problem."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from irlint.dims import Shape, product, symbols
from irlint.findings.edits import Edit
from irlint.fixes.axes import mixes_axes
from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.indices import JOIN
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST, FLATTEN, RESHAPE, SQUEEZE, UNSQUEEZE
from irlint.fixes.other_values import LAST_RESORT
from irlint.fixes.rechecking import Outcome
from irlint.fixes.trials import Trials, limits_sizes
from irlint.inference.consequences import DECLARED
from irlint.inference.known import Known
from irlint.inference.origins import inputs_of
from irlint.model import Problem
from irlint.model.tensor import INTEGERS, Tensor, tensor_shape
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.filters import CHANNELS_MISMATCH
from irlint.records import record, replaced

#: At most this many equally good candidates are suggested.
SUGGESTED = 2

#: The same change is suggested at one of at most this many nodes.
PLACES = 4

#: The element types in which every usual integer except 0 differs from 0.
WIDE = ("int32", "int64", "float32", "float64")

#: The least number of times that a Concat has a repeated input.
REPEATED = 2


@record
class Tried:
    """A candidate that fixes the problem."""

    #: (fixed problems minus drawbacks, negated; grade; number of stale declarations; evidence, negated). Least is best.
    order: tuple[int, int, int, int]
    candidate: Candidate
    outcome: Outcome


def with_declared_results(found: list[Tried], problem: Problem, trials: Trials) -> list[Tried]:
    """The candidates with which the node of an error gives exactly the declared shapes; all if there are none.

    Only shapes that consist of numbers and of symbols of the model's inputs count.
    """
    node = problem.node if problem.is_error and problem.fault.rule.family != DECLARED else None
    values = [value for value in node.outputs if value is not None] if node is not None and len(found) > 1 else []
    declared = [tensor_shape(value.type) for value in values]
    known = [shape for shape in declared if shape is not None and None not in shape]
    if not declared or known != declared or not all(_names(shape) <= trials.input_symbols for shape in known):
        return found
    results = [[each.outcome.types.get(value, trials.known.types.get(value)) for value in values] for each in found]
    return [each for each, types in zip(found, results) if list(map(tensor_shape, types)) == declared] or found


def _names(shape: Shape) -> set[str]:
    return {name for dim in shape if dim is not None for name in symbols(dim)}


def unambiguous(found: list[Tried], problem: Problem) -> list[Tried]:
    """The candidates, without those that have no evidence and share their subject with too many others."""
    limit = 1 if problem.fault.rule is AXIS_OUT_OF_RANGE else SUGGESTED
    counts: dict[object, int] = {}
    for each in found:
        if each.candidate.evidence >= 0:
            counts[_kind(each, problem)] = counts.get(_kind(each, problem), 0) + 1
    of_constants = {id(tried) for tried in found if any(edit.kind == "constant" for edit in tried.candidate.edits)}
    dropped = of_constants if limit == 1 and len(of_constants) > SUGGESTED else set()
    if dropped and _have_equal_results([each for each in found if id(each) in dropped], problem):
        best = of_best_rank([each for each in found if id(each) in dropped])[0]
        return [each for each in found if each is best or id(each) not in dropped]
    return [
        tried
        for tried in found
        if id(tried) not in dropped
        and (
            tried.candidate.subject is None
            or tried.candidate.evidence > 0
            or counts.get(_kind(tried, problem), limit) <= limit
        )
    ]


def _have_equal_results(found: Sequence[Tried], problem: Problem) -> bool:
    """Whether an Unsqueeze gives the same shapes, and so the same results, with all candidates."""
    node = problem.node
    outputs = node.outputs if node is not None and node.op == UNSQUEEZE else ()
    results = [[each.outcome.types.get(value) for value in outputs if value is not None] for each in found]
    return bool(results[0]) and None not in results[0] and all(each == results[0] for each in results)


def _kind(tried: Tried, problem: Problem) -> tuple[object, ...]:
    candidate = tried.candidate
    has_grade = problem.fault.rule is not AXIS_OUT_OF_RANGE or candidate.grade == LAST_RESORT
    return candidate.node, candidate.subject, candidate.grade if has_grade else None


def of_best_rank(found: Sequence[Tried]) -> list[Tried]:
    """The candidates of the best rank."""
    return [tried for tried in found if tried.order == min(other.order for other in found)]


def groups(best: Sequence[Tried]) -> list[list[Tried]]:
    """The candidates in groups. Candidates that resize the same input form one group."""
    found: dict[object, list[Tried]] = {}
    for tried in best:
        sized = all(edit.shape is not None for edit in tried.candidate.edits)
        found.setdefault(tried.candidate.subject if sized else tried.candidate.edits, []).append(tried)
    return list(found.values())


def most_shown(best: Sequence[Tried]) -> int:
    """The number of candidates to suggest: more if all make the same change, each at another node."""
    changes = {
        (edit.kind, edit.op, edit.name, edit.value, len(tried.candidate.edits))
        for tried in best
        for edit in tried.candidate.edits[:1]
    }
    is_same = all((kind, count) == ("attribute", 1) for kind, *_, count in changes) and len(changes) == 1
    return PLACES if is_same and len(best) <= PLACES else SUGGESTED


def one_of_equivalent(best: list[Tried], problem: Problem) -> list[Tried]:
    """One candidate, if all candidates have the same effect; otherwise all of them."""
    first = best[0].outcome.inputs
    if all(_keeps_elements(tried) and tried.outcome.inputs == first for tried in best):
        if len({tuple((edit.index, edit.input) for edit in tried.candidate.edits[1:]) for tried in best}) == 1:
            return best[:1]
    return [min(best, key=_unspecific_entries)] if _give_same_shapes(best, problem) else best


def without_second_casts(best: list[Tried], inputs: Inputs) -> list[Tried]:
    """The candidates, without those that insert a Cast after a Cast that another candidate corrects.

    A candidate stays if the existing Cast changes numbers.
    """
    corrected = {
        each.candidate.edits[0].index for each in best if [edit.name for edit in each.candidate.edits] == ["to"]
    }
    return [each for each in best if not any(_casts_again(edit, corrected, inputs) for edit in each.candidate.edits)]


def _casts_again(edit: Edit, corrected: Container[int | None], inputs: Inputs) -> bool:
    first = inputs.node_of(inputs.edited(edit)[1]) if edit.kind == "insert" and edit.name == CAST else None
    if first is None or first.op != CAST or first.index not in corrected:
        return False
    given, result = (
        inputs.known.types.get(value) for value in (first.inputs[0], first.outputs[0]) if value is not None
    )
    keeps = dtype_of(given) in {*INTEGERS, "bool"} and dtype_of(result) in WIDE
    return keeps or (given is not None and dtype_of(given) == dtype_of(result))


def is_outranked(tried: Tried, others: Iterable[Tried], inputs: Inputs) -> bool:
    """Whether ``tried`` has no evidence, and one of ``others`` ranks as high and has another effect."""
    higher = [each.candidate for each in others if each.order <= tried.order]
    return tried.candidate.evidence <= 0 and not all(_does_as_bypass(each, tried.candidate, inputs) for each in higher)


def _does_as_bypass(candidate: Candidate, other: Candidate, inputs: Inputs) -> bool:
    """Whether ``candidate`` makes a Transpose keep the order of axes, and ``other`` bypasses this Transpose."""
    (edit, *more), first = candidate.edits, other.edits[0]
    maker = inputs.node_of(inputs.edited(first)[1]) if first.kind == "input" else None
    if more or maker is None or edit.index != maker.index or edit.name != "perm":
        return False
    return (
        maker.inputs[0] is not None and maker.inputs[0].name == first.value and list(edit.value) == sorted(edit.value)
    )


def _keeps_elements(tried: Tried) -> bool:
    """Whether a candidate only changes how the elements of one value are divided into axes, perhaps before several
    uses."""
    edit, *more = tried.candidate.edits
    match edit.kind, edit.of:
        case "insert", "node":
            keeps = edit.name in (SQUEEZE, UNSQUEEZE, FLATTEN, RESHAPE)
            return keeps and all(
                (each.kind, each.name, each.value) == ("insert", edit.name, edit.value) for each in more
            )
        case "constant", "shape":
            keeps = not edit.order
        case "attribute", "node":
            keeps = edit.op == FLATTEN
        case _:
            keeps = False
    return keeps and not more


def _give_same_shapes(best: Sequence[Tried], problem: Problem) -> bool:
    """Whether the candidates give the same shapes, and differ only in entries -1 or in entries 1 that are broadcast."""
    unspecific = {-1, 1} if problem.fault.rule.family == "broadcasting" else {-1}
    edits = [tried.candidate.edits for tried in best]
    if len(set(map(len, edits))) > 1 or not all(edit.of == "entries" for group in edits for edit in group):
        return False
    for group in zip(*edits):
        if len({edit.name for edit in group}) > 1 or len({len(edit.value) for edit in group}) > 1:
            return False
        if any(len(set(entries) - unspecific) > 1 for entries in zip(*(edit.value for edit in group))):
            return False
    shapes = [{value.name: tensor_shape(known) for value, known in tried.outcome.types.items()} for tried in best]
    return all(each == shapes[0] for each in shapes)


def _unspecific_entries(tried: Tried) -> int:
    """The number of entries -1 and 1 in the constants that a candidate changes."""
    return sum(edit.value.count(-1) + edit.value.count(1) for edit in tried.candidate.edits)


def using_most_unused_values(best: list[Tried], inputs: Inputs) -> list[Tried]:
    """The candidates that connect the largest number of unused values."""
    unused = {value.name for value, _ in inputs.unused_values}
    counts = [
        len(unused.intersection(name for edit in tried.candidate.edits for name in (str(edit.value), *edit.inputs)))
        for tried in best
    ]
    return [each for each, count in zip(best, counts) if count == max(counts)]


def keeping_most_values(best: list[Tried], inputs: Inputs) -> list[Tried]:
    """The candidates that disconnect the fewest values; all candidates if one of them does more than connect values."""
    if not all(edit.kind == "input" for tried in best for edit in tried.candidate.edits):
        return best
    counts = [len(inputs.disconnected(tried.candidate.edits)) for tried in best]
    return [each for each, count in zip(best, counts) if count == min(counts)]


def is_unlike_siblings(tried: Tried, inputs: Inputs) -> bool:
    """Whether a candidate connects the result of an operator as an input, and no sibling takes one of this operator
    there. There must be ``SEVERAL`` siblings."""
    for edit in tried.candidate.edits:
        node, _ = inputs.edited(edit)
        maker = inputs.node_of(inputs.flow.values.get(str(edit.value))) if edit.kind == "input" else None
        if node is None or maker is None or edit.swaps or edit.input is None:
            continue
        others = [each.inputs[edit.input] for each in inputs.editor.siblings(node) if edit.input < len(each.inputs)]
        makers = [inputs.node_of(each) for each in others]
        if len(others) >= SEVERAL and maker.op not in [each.op for each in makers if each is not None]:
            return True
    return False


def keeps_order(tried: Tried, inputs: Inputs) -> bool:
    """Whether a Concat with a repeated input gets inputs in the order of the nodes that compute them."""
    edit = tried.candidate.edits[0]
    node, before = inputs.edited(edit)
    if edit.kind != "input" or node is None or node.op != JOIN or node.inputs.count(before) < REPEATED:
        return False
    value = inputs.flow.values.get(str(edit.value))
    after = [value if at == edit.input else each for at, each in enumerate(node.inputs)]
    makers = [inputs.makers.of(each) for each in after if each is not None]
    places = [each.node.index for each in makers if each is not None and each.node is not None]
    return places == sorted(places)


def padding_half_windows(best: list[Tried], inputs: Inputs) -> list[Tried]:
    """The candidates with pads of half the window, which keep the size at strides of 1, if all set pads of one node."""
    edits = [tried.candidate.edits[0] for tried in best]
    node = inputs.edited(edits[0])[0]
    if node is None or any((edit.name, edit.index) != ("pads", node.index) for edit in edits):
        return best
    window = inputs.editor.window(node)
    steps = inputs.editor.value_of(node, "dilations") or (1,) * len(window)
    half = [(size - 1) * step // 2 for size, step in zip(window, steps)]
    return [tried for tried, edit in zip(best, edits) if list(edit.value) == half * 2]


def different(alternatives: Iterable[tuple[Edit, ...]]) -> tuple[tuple[Edit, ...], ...]:
    """The alternatives, without those that differ from another alternative only in ``called``."""
    found: dict[tuple[Edit, ...], tuple[Edit, ...]] = {}
    for edits in alternatives:
        found.setdefault(tuple(replaced(each, called="") for each in edits), edits)
    return tuple(found.values())


def shared(best: Sequence[Tried]) -> Outcome:
    """The outcome of the first candidate, with the problems that all candidates fix."""
    outcome = best[0].outcome
    sets = [{id(each) for each in tried.outcome.fixed} for tried in best]
    return replaced(outcome, fixed=tuple(each for each in outcome.fixed if all(id(each) in found for found in sets)))


def with_fewest_requirements(best: list[Tried], problem: Problem, trials: Trials) -> list[Tried]:
    """The candidates with which the node of a limit on sizes has the fewest requirements."""
    if not limits_sizes(problem) or problem.node is None:
        return best
    answers = [trials.answer_after(each.candidate.edits, problem.node) for each in best]
    counts = [len(answered[0].requirements) if answered is not None else 0 for answered in answers]
    return [each for each, count in zip(best, counts) if count == min(counts)]


def proves_little(problem: Problem, outcome: Outcome, known: Known) -> bool:
    """Whether a candidate makes a clashing size 1, which broadcasts to any size, or a Reshape that limits sizes mixes
    axes with it.

    Filters fix the number of channels, even if it is 1.
    """
    node = problem.node
    made = node.outputs[0] if node is not None and node.op == RESHAPE and limits_sizes(problem) else None
    if made is not None and mixes_axes(outcome.inputs[0], outcome.types.get(made, known.types.get(made))):
        return True
    is_fixed = problem.node is None or problem.fault.rule is CHANNELS_MISMATCH
    before = inputs_of(problem.node, known) if problem.node is not None and not is_fixed else []
    for index, axis in problem.fault.marks:
        if not 0 <= index < min(len(before), len(outcome.inputs)):
            continue
        one, other = (
            each.shape if isinstance(each, Tensor) else None for each in (before[index], outcome.inputs[index])
        )
        if one is None or other is None or len(one) != len(other) or not -len(one) <= axis < len(one):
            continue
        if other[axis] == 1 != one[axis] and product(one) != product(other):
            return True
    return False
