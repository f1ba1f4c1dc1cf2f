"""Cautions: reasons to suggest a candidate without writing it to the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.dims import product, same
from irlint.fixes.candidate import MANY, SEVERAL, Candidate, changes_sizes
from irlint.fixes.case import Case, is_permutation, takes_target
from irlint.fixes.editor import STRIDES
from irlint.fixes.fixable import may_be_fixed
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import TRANSPOSE
from irlint.fixes.node_edits import inverse_order
from irlint.fixes.objections import SIBLINGS
from irlint.fixes.other_values import EVIDENT, ONLY_SUGGESTED
from irlint.fixes.rechecking import sets_no_size
from irlint.fixes.rewired import before_operator
from irlint.fixes.sister_inputs import are_sisters
from irlint.fixes.trials import limits_sizes
from irlint.fixes.type_cautions import (
    casts_repeated_input,
    casts_rounded_result,
    retypes_input,
    type_attribute_is_missing,
)
from irlint.inference.origins import inputs_of
from irlint.model.order import downstream
from irlint.model.tensor import Tensor, Type
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE, extremes


def is_unsure(case: Case) -> bool:
    """Whether the candidate is suggested, and not written: because of its grade, rank or ``sure``, or by a caution."""
    return (
        case.outranked
        or case.candidate.grade == ONLY_SUGGESTED
        or not case.candidate.sure
        or any(caution(case) for caution in UNWRITTEN_IF)
    )


def _leaves_problems(case: Case) -> bool:
    """Whether the problem limits dynamic sizes, and a remaining problem may concern the same sizes."""
    names = {name for name, _ in case.problem.sizes}
    remaining = (each for each in case.remaining if may_be_fixed(each, case.inputs.known) and each is not case.problem)
    return limits_sizes(case.problem) and any(
        not names or not problem.sizes or not names.isdisjoint(name for name, _ in problem.sizes)
        for problem in remaining
    )


def _is_bold_for_warning(case: Case) -> bool:
    """Whether the candidate fixes no error and no limit on sizes, and changes more than constants.

    A candidate that connects a value, fixes at least ``MANY`` problems and leaves no error is an exception.
    """
    is_decided = any(each.is_error or limits_sizes(each) for each in (case.problem, *case.outcome.fixed))
    leaves_error = any(each.is_error for each in case.remaining)
    if _connects_value(case.candidate) and len(case.outcome.fixed) >= MANY and not leaves_error:
        return False
    return not is_decided and any(edit.kind != "constant" for edit in case.candidate.edits)


def _reveals_limit(case: Case) -> bool:
    """Whether the problem is no limit on sizes, the edits set sizes, and a node limits sizes after them."""
    sets_sizes = not all(map(sets_no_size, case.candidate.edits))
    return case.outcome.keeps_limit and sets_sizes and not limits_sizes(case.problem)


def _leaves_unused_value(case: Case) -> bool:
    """Whether the candidate connects no value, although an unused value would fix the error or limit as well."""
    is_decided = case.problem.is_error or limits_sizes(case.problem)
    of_axis = case.problem.fault.rule is AXIS_OUT_OF_RANGE
    return not _connects_value(case.candidate) and is_decided and not of_axis and case.unused_value_fixes


def _empties_input(case: Case) -> bool:
    """Whether the candidate leaves an input empty while a constant of more than one element is unused.

    The node may have lost that constant as an input, so that the later inputs moved to earlier places.
    """
    empties = any(edit.kind == "input" and not edit.value for edit in case.candidate.edits)
    unused = case.inputs.unused_values if empties else []
    return any(not case.inputs.is_made(value) and product(known.shape or ()) != 1 for value, known in unused)


def _leaves_unused_index(case: Case) -> bool:
    """Whether the candidate connects a value with fewer axes while an integer constant is unused.

    A missing Gather may have used that integer as its index.
    """
    unused = case.inputs.unused_values
    computed = {value.name: known for value, known in unused if case.inputs.is_made(value)}
    constants = [known for value, known in unused if value.name not in computed]
    indices = [known for known in constants if known.ints is not None and len(known.ints) == 1]
    for edit in case.candidate.edits if indices else ():
        before = case.inputs.edited(edit)[1] if edit.kind == "input" else None
        old, new = case.inputs.known.types.get(before) if before is not None else None, computed.get(str(edit.value))
        ranks = [each.rank if isinstance(each, Tensor) else None for each in (old, new)]
        if ranks[0] is not None and ranks[1] is not None and ranks[0] > ranks[1]:
            return True
    return False


def may_lack_node(case: Case) -> bool:
    """Whether the new strides differ from the strides of the node's twins and from the size of its window.

    A missing pooling node would explain the sizes as well, unless the old strides leave gaps between the windows.
    """
    editor, twins = case.inputs.editor, case.inputs.blocks.twins(case.node)
    at_twins = {editor.value_of(each, STRIDES) for each in twins}
    given = [edit for edit in case.candidate.edits if edit.name == STRIDES]
    window = editor.window(case.node) if given else ()
    pairs = [(each.value, each.before or ()) for each in given if len(each.value) == len(each.before or each.value)]
    gaps = [bool(before) and all(step > size > 1 for step, size in zip(before, window)) for _, before in pairs]
    values = [value for (value, _), has_gaps in zip(pairs, gaps) if not has_gaps]
    return any(at_twins != {value} and value != window for value in values)


def _is_axis_of_index(case: Case) -> bool:
    """Whether the candidate fixes an index out of range by another axis, and no other node has this axis.

    It does not matter if the indices are all those of the other axis.
    """
    subject, is_index = case.candidate.subject, case.problem.fault.rule is INDEX_OUT_OF_RANGE
    is_axis = is_index and isinstance(subject, str) and "ax" in subject
    return is_axis and not case.candidate.evidence and not _are_all_indices(case)


def _are_all_indices(case: Case) -> bool:
    """Whether the indices range from 0 to the last index of the axis that the candidate sets."""
    (edit, *_), types = case.candidate.edits, inputs_of(case.node, case.inputs.known)
    data, indices = (each if isinstance(each, Tensor) else None for each in (*types, None, None)[:2])
    if data is None or indices is None or not isinstance(edit.value, int) or edit.value >= len(data.shape or ()):
        return False
    least, most = extremes(indices)
    return least == (0,) and len(most) == 1 and same(most[0] + 1, (data.shape or ())[edit.value]) is True


def _is_axis_of_input(case: Case) -> bool:
    """Whether an axis is out of range at a node that takes an input of the model.

    Perhaps that input is declared with too few axes.
    """
    node, inputs = case.problem.node, case.inputs.graph.inputs
    takes_input = node is not None and any(value in inputs for value in node.inputs)
    return case.problem.fault.rule is AXIS_OUT_OF_RANGE and takes_input and not _connects_value(case.candidate)


def _inserts_without_evidence(case: Case) -> bool:
    """Whether the candidate inserts a node only to remove a limit on sizes, and few other nodes support this.

    The name of a value that the file declares and nothing computes supports it as well, if the operator is part of it.
    """
    inserts = any(edit.kind == "insert" for edit in case.candidate.edits) and case.candidate.grade != EVIDENT
    if limits_sizes(case.problem) and inserts and case.candidate.evidence < SIBLINGS and _repeats_transpose(case):
        return True
    if len(case.outcome.fixed) > 1 and not case.rivals:
        return False
    lost = " ".join(case.inputs.graph.undefined_value_info).casefold()
    if lost and all(edit.name.casefold() in lost for edit in case.candidate.edits):
        return False
    alone = all(limits_sizes(each) for each in case.outcome.fixed)
    few = case.candidate.evidence < SIBLINGS or case.problem.fault.rule is EQUAL_SIZES
    return limits_sizes(case.problem) and inserts and alone and few


def _repeats_transpose(case: Case) -> bool:
    """Whether an inserted Transpose follows another Transpose, or undoes one on the path to it.

    Perhaps that earlier Transpose is wrong.
    """
    inputs = case.inputs
    for edit in case.candidate.edits:
        value = inputs.edited(edit)[1] if edit.kind == "insert" and edit.name == TRANSPOSE else None
        last = inputs.node_of(value)
        if last is not None and last.op == TRANSPOSE:
            return True
        order = dict(edit.value).get("perm") if last is not None else None
        for each in inputs.graph.nodes if order else ():
            if inverse_order(each) == order and (last is each or last in downstream(each, inputs.graph)):
                return True
    return False


def _may_be_swapped(case: Case) -> bool:
    """Whether the candidate only sets attributes or inserts a Transpose, and another candidate is as likely.

    The other candidate swaps inputs, or bypasses a Transpose.
    """
    others = all(edit.kind == "attribute" or edit.name == TRANSPOSE for edit in case.candidate.edits)
    return (
        others
        and case.candidate.evidence < SIBLINGS
        and any(candidate.swaps or _bypasses_transpose(candidate, case.inputs) for candidate in case.rivals)
    )


def _bypasses_transpose(candidate: Candidate, inputs: Inputs) -> bool:
    edit, *more = candidate.edits
    if edit.kind != "input" or more:
        return False
    before = before_operator(inputs.edited(edit)[1], TRANSPOSE, inputs.makers)
    return before is not None and before.name == edit.value


def _transposes_input(case: Case) -> bool:
    """Whether a Transpose of an input of the model is doubtful. Perhaps its declaration has the wrong order of axes.

    The Transpose removes a limit on sizes and the input has no other user, or the Transpose permutes an image for a
    convolution and does not only move the channels.
    """
    inserted = [edit for edit in case.candidate.edits if edit.kind == "insert" and edit.name == TRANSPOSE]
    node, limits = case.problem.node, limits_sizes(case.problem)
    is_image = node is not None and bool(case.inputs.editor.filter_sizes(node))
    for edit in inserted:
        value = case.inputs.edited(edit)[1]
        if value is None or value not in case.inputs.graph.inputs:
            continue
        if is_image and not _moves_channels(dict(edit.value)["perm"]):
            return True
        if limits and len(case.inputs.users.get(value, ())) == 1:
            return True
    return False


def _moves_channels(perm: Sequence[int]) -> bool:
    """Whether axes are permuted from channels last to channels first, or the other way round."""
    spatial = range(1, len(perm) - 1)
    return tuple(perm) in ((0, len(perm) - 1, *spatial), (0, *(each + 1 for each in spatial), 1))


def is_plausible_redeclaration(candidate: Candidate, inputs: Inputs) -> bool:
    """Whether the candidate declares other axes for an input of the model, or the element type of a similar input.

    Inputs are similar if their names start with the same letters.
    """
    types = {edit.name: edit.dtype for edit in candidate.edits if edit.kind == "declaration" and edit.dtype}
    given = inputs.graph.inputs
    return candidate.redeclares or any(
        are_sisters(one, other) and dtype_of(other.type) == types[one.name]
        for one in given
        for other in given
        if one.name in types and other is not one
    )


def _changes_shared_constant(case: Case) -> bool:
    """Whether the candidate changes a shared constant, or disconnects a constant, only to remove a limit on sizes.

    Another order of the same entries, and a change that makes equal constants distinct, are accepted.
    """
    kept = {edit.value for edit in case.candidate.edits}
    replacing = (case.inputs.edited(edit)[1] for edit in case.candidate.edits if edit.kind == "input")
    lost = [each for each in replacing if each is not None and each.name not in kept]
    is_unused = any(
        edit.kind == "input" and case.inputs.is_unused_result(str(edit.value)) for edit in case.candidate.edits
    )
    if limits_sizes(case.problem) and not is_unused and any(map(case.inputs.makers.is_constant, lost)):
        return True
    if any(each.is_error and each is not case.problem for each in case.outcome.fixed):
        return False
    entries = [edit for edit in case.candidate.edits if (edit.kind, edit.of) == ("constant", "entries")]
    if case.inputs.editor.constants.distinct.separates(entries) or (entries and all(map(is_permutation, entries))):
        return False
    names = {edit.name for edit in case.candidate.edits if edit.kind == "constant"}
    users = (len(several) for value, several in case.inputs.users.items() if value.name in names)
    return limits_sizes(case.problem) and len(names) == 1 and max(users, default=0) > SIBLINGS


def is_only_shown(case: Case) -> bool:
    """Whether the edits are shown, and never written to the file.

    Either they resize an input of the model, and neither weights nor inputs with similar names confirm the new size.
    Or they transpose a constant: perhaps only its dims are wrong, and its elements are in the right order.
    """
    edits = case.candidate.edits
    values = [case.inputs.edited(edit)[1] for edit in edits if edit.kind == "insert" and edit.name == TRANSPOSE]
    transposes = any(value is not None and case.inputs.makers.is_constant(value) for value in values)
    has_sisters = case.candidate.grade == EVIDENT and case.candidate.evidence >= SEVERAL
    return transposes or (any(map(changes_sizes, edits)) and not has_sisters and not _weights_agree(case))


def _weights_agree(case: Case) -> bool:
    """Whether the candidate leaves no error, and fixes errors at nodes that have more than one weight in total.

    Then these weights agree on the new size of the input.
    """
    is_constant, type_of = case.inputs.makers.is_constant, case.inputs.known.types.get
    nodes = {each.node for each in case.outcome.fixed if each.is_error and each.node is not None}
    values = {value for node in nodes for value in node.inputs if value is not None and is_constant(value)}
    weights = [value for value in values if (_rank_of(type_of(value)) or 0) > 1]
    return len(weights) > 1 and not case.faulty_nodes()


def _changes_rank(case: Case) -> bool:
    """Whether the candidate declares an input of the model with more or fewer axes, and is not EVIDENT.

    It is accepted if the file declares the new shapes of many values. Fewer axes are also accepted if the outputs of
    the model then have their declared ranks.
    """
    edits = [edit for edit in case.candidate.edits if edit.kind == "declaration"]
    more = [len(edit.shape or ()) - len(edit.before or ()) for edit in edits]
    if case.candidate.grade == EVIDENT or not any(more) or _gives_declared_shapes(case):
        return False
    return max(more) > 0 or not _gives_declared_ranks(case)


def _gives_declared_shapes(case: Case) -> bool:
    """Whether the candidate gives at least ``MANY`` values their declared shapes, and all others keep or get them."""
    contradicted = [each for each in case.outcome.fixed if each.fault.rule is SHAPE_CONTRADICTED]
    left = any(each.is_error or each.fault.rule is SHAPE_CONTRADICTED for each in case.remaining)
    return len(contradicted) >= MANY and not left and not case.outcome.stale


def _gives_declared_ranks(case: Case) -> bool:
    """Whether the outputs of the model after the faulty node have their declared ranks, and no declaration is stale.

    Only outputs count that are computed from values with known ranks; there must be at least one.
    """
    inputs, node, after = case.inputs, case.problem.node, case.outcome.types
    behind = downstream(node, inputs.graph) if node is not None else ()
    makers = {value: maker for value in inputs.graph.outputs if (maker := inputs.node_of(value)) in behind}
    inferred = [
        value
        for value, maker in makers.items()
        if maker is not None
        and None not in [_rank_of(after.get(each, inputs.known.types.get(each))) for each in maker.inputs if each]
    ]
    return bool(inferred) and not case.outcome.stale and all(_rank_of(value.type) is not None for value in inferred)


def _rank_of(type: Type | None) -> int | None:
    return type.rank if isinstance(type, Tensor) else None


def _writes_minus_one(case: Case) -> bool:
    """Whether a constant gets the entry -1, and its users read -1 in different ways.

    A target shape reads -1 as "the remaining elements", any other user as a number. It does not matter if the file
    declares the new shapes of many values, or stores each list only once.
    """
    inputs = case.inputs
    if _gives_declared_shapes(case) or inputs.editor.constants.distinct.stored:
        return False
    for edit in case.candidate.edits:
        is_new = edit.kind == "constant" and edit.of == "entries" and -1 in edit.value and -1 not in (edit.before or ())
        several = [users for value, users in inputs.users.items() if is_new and value.name == edit.name]
        takes = {takes_target(user, edit.name, inputs.known) for users in several for user in users}
        if len(takes) > 1:
            return True
    return False


def _connects_value(candidate: Candidate) -> bool:
    return any(edit.kind == "input" or edit.inputs for edit in candidate.edits)


#: The cautions. If one applies, the candidate is suggested and not written.
UNWRITTEN_IF: tuple[Callable[[Case], bool], ...] = (
    _leaves_problems,
    _is_bold_for_warning,
    _reveals_limit,
    _leaves_unused_value,
    _empties_input,
    _leaves_unused_index,
    _is_axis_of_index,
    may_lack_node,
    _is_axis_of_input,
    _inserts_without_evidence,
    _may_be_swapped,
    retypes_input,
    _transposes_input,
    _changes_shared_constant,
    casts_rounded_result,
    casts_repeated_input,
    type_attribute_is_missing,
    _writes_minus_one,
    _changes_rank,
)
