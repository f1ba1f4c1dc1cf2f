"""Doubts: reasons to suggest a guess that fixes a problem without writing it to the file."""

from __future__ import annotations

from collections.abc import Callable

from irlint.checks.equal_sizes import EQUAL_SIZES
from irlint.fixes.doubts import SIBLINGS, TYPE_ATTRIBUTES, Case, takes_target
from irlint.fixes.fixable import may_be_fixed
from irlint.fixes.guess import MANY, Guess
from irlint.fixes.guesses import STRIDES
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST, TRANSPOSE
from irlint.fixes.other_values import UNSURE, USUAL
from irlint.fixes.rewired import reordered
from irlint.fixes.trials import is_demand
from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import FLOATS, INTEGERS, Tensor
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

#: The attributes that give the element type of a result.
TYPED = (*TYPE_ATTRIBUTES, "value")

#: Two integers that show whether an operator rounds a quotient.
DIVIDED = (7, 2)


def is_unsure(case: Case) -> bool:
    """Whether the guess is suggested but not written to the file."""
    return (
        case.outranked
        or case.guess.likely == UNSURE
        or not case.guess.sure
        or any(doubt(case) for doubt in UNSURE_WHERE)
    )


def _leaves_problems(case: Case) -> bool:
    """Whether the guess makes a size dynamic again, while another problem remains that is not about other sizes."""
    names = {name for name, _ in case.problem.sizes}
    left = (each for each in case.left if may_be_fixed(each, case.inputs.known) and each is not case.problem)
    return is_demand(case.problem) and any(
        not names or not each.sizes or not names.isdisjoint(name for name, _ in each.sizes) for each in left
    )


def _is_of_a_warning(case: Case) -> bool:
    """Whether a guess for a warning changes more than constants. An unused value that fixes many problems is taken."""
    is_decided = any(each.is_error or is_demand(each) for each in (case.problem, *case.outcome.fixed))
    if _connects(case.guess) and len(case.outcome.fixed) >= MANY:
        return False
    return not is_decided and any(edit.kind != "constant" for edit in case.guess.edits)


def _leaves_value_over(case: Case) -> bool:
    """Whether an unused value remains that the node could take. An axis that is out of range is out of range in a value
    of the same rank, too."""
    is_decided = case.problem.is_error or is_demand(case.problem)
    of_axis = case.problem.fault.rule is AXIS_OUT_OF_RANGE
    return not _connects(case.guess) and is_decided and not of_axis and case.left_over


def _leaves_index_over(case: Case) -> bool:
    """Whether an unused result with fewer axes is connected, while an unused integer remains: a node may be lost that
    selected an element of the former value by this integer."""
    spare = case.inputs.spare
    made = {value.name: known for value, known in spare if case.inputs.is_made(value)}
    constants = [known for value, known in spare if value.name not in made]
    indices = [known for known in constants if known.ints is not None and len(known.ints) == 1]
    for edit in case.guess.edits if indices else ():
        before = case.inputs.edited(edit)[1] if edit.kind == "input" else None
        old, new = case.inputs.known.types.get(before) if before is not None else None, made.get(str(edit.value))
        ranks = [each.rank if isinstance(each, Tensor) else None for each in (old, new)]
        if ranks[0] is not None and ranks[1] is not None and ranks[0] > ranks[1]:
            return True
    return False


def may_lack_node(case: Case) -> bool:
    """Whether the guess gives a node other strides, and neither the nodes in its place in other blocks have them, nor
    do they make windows adjacent: a lost pooling before a size, or other strides of another node, explain as much."""
    guesses, twins = case.inputs.guesses, case.inputs.blocks.twins(case.node)
    usual = {guesses.had(each, STRIDES) for each in twins}
    given = [edit for edit in case.guess.edits if edit.name == STRIDES]
    values = [each.value for each in given if len(each.value) == len(each.before or each.value)]
    return any(usual != {value} and value != guesses.window(case.node) for value in values)


def _is_axis_of_index(case: Case) -> bool:
    """Whether the guess sets another axis for an index out of range, and no other node has this axis."""
    about, count = case.guess.about, case.guess.count
    return case.problem.fault.rule is INDEX_OUT_OF_RANGE and isinstance(about, str) and "ax" in about and not count


def _is_axis_of_input(case: Case) -> bool:
    """Whether an axis is out of range in an input of the model. The input may be declared with too few axes."""
    node, inputs = case.problem.node, case.inputs.graph.inputs
    takes_input = node is not None and any(value in inputs for value in node.inputs)
    return case.problem.fault.rule is AXIS_OUT_OF_RANGE and takes_input and not _connects(case.guess)


def _inserts_for_demand(case: Case) -> bool:
    """Whether a node is inserted only to make a size dynamic again, and few nodes in the model are like it; or only so
    that two sizes need not be equal. Another block has no such node, and no declaration agrees with it. A node that
    makes several sizes dynamic is inserted if no other edit does."""
    inserts = any(edit.kind == "insert" for edit in case.guess.edits) and case.guess.likely != USUAL
    if is_demand(case.problem) and inserts and case.guess.count < SIBLINGS and _is_undone(case):
        return True
    if len(case.outcome.fixed) > 1 and not case.rivals:
        return False
    alone = all(is_demand(each) for each in case.outcome.fixed)
    few = case.guess.count < SIBLINGS or case.problem.fault.rule is EQUAL_SIZES
    return is_demand(case.problem) and inserts and alone and few


def _is_undone(case: Case) -> bool:
    """Whether an inserted Transpose follows another one, or undoes one on the path to its value: rather that one is
    wrong."""
    inputs = case.inputs
    for edit in case.guess.edits:
        value = inputs.edited(edit)[1] if edit.kind == "insert" and edit.name == TRANSPOSE else None
        maker = inputs.makers.of(value) if value is not None else None
        last = maker.node if maker is not None else None
        if last is not None and last.op == TRANSPOSE:
            return True
        order = dict(edit.value).get("perm") if last is not None else None
        for each in inputs.graph.nodes if order else ():
            if _inverse(each) == order and (last is each or last in downstream(each, inputs.graph)):
                return True
    return False


def _inverse(node: Node) -> tuple[int, ...]:
    """The order of axes that undoes that of a node; () if it has none."""
    perm = node.attributes.get("perm")
    order = list(perm.value) if perm is not None and isinstance(perm.value, (list, tuple)) else []
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def _is_rather_swapped(case: Case) -> bool:
    """Whether exchanged inputs of a node, or one Transpose less, are as likely as an attribute or a Transpose that few
    other nodes have."""
    others = all(edit.kind == "attribute" or edit.name == TRANSPOSE for edit in case.guess.edits)
    return (
        others
        and case.guess.count < SIBLINGS
        and any(each.swaps or _bypasses(each, case.inputs) for each in case.rivals)
    )


def _bypasses(guess: Guess, inputs: Inputs) -> bool:
    """Whether a guess connects what a Transpose takes, in place of its result."""
    edit, *more = guess.edits
    before = reordered(inputs.edited(edit)[1], inputs.makers) if edit.kind == "input" and not more else None
    return before is not None and before.name == edit.value


def _retypes_input(case: Case) -> bool:
    """Whether an input of the model is declared with another element type, although a Cast would do and no similar node
    takes an input of that type. Unless that is bool, only if the model converts the input elsewhere. If the file
    declares a value that no node computes, that may be the result of a lost Cast."""
    declared = {edit.name: edit.dtype for edit in case.guess.edits if edit.kind == "declaration" and edit.dtype}
    casts = (edit.name == CAST for each in case.rivals for edit in each.edits if edit.kind == "insert")
    if declared and case.inputs.graph.undefined_value_info:
        return True
    if case.guess.count or not declared or not any(casts):
        return False
    values = (value for value in case.inputs.graph.inputs if value.name in declared)
    return any(declared[each.name] == "bool" or _is_converted(each, case.inputs) for each in values)


def _transposes_input(case: Case) -> bool:
    """Whether a Transpose is inserted between an input of the model and its only user, only to make sizes dynamic:
    rather the input is declared with its axes in another order."""
    if not is_demand(case.problem):
        return False
    inserted = (edit for edit in case.guess.edits if edit.kind == "insert" and edit.name == TRANSPOSE)
    values = [case.inputs.edited(edit)[1] for edit in inserted]
    return any(
        each in case.inputs.graph.inputs and len(case.inputs.users.get(each, ())) == 1 for each in values if each
    )


def _is_converted(value: Value, inputs: Inputs) -> bool:
    """Whether a Cast converts a value, or one that is computed from it without a change of its element type."""
    type_of, seen = inputs.known.types.get, {value}
    waiting = [value]
    for each in waiting:
        for user in inputs.users.get(each, ()):
            if user.op == CAST:
                return True
            made = {one for one in user.outputs if one is not None} - seen
            waiting += [one for one in made if dtype_of(type_of(one)) == dtype_of(type_of(value))]
            seen |= made
    return False


def _changes_others(case: Case) -> bool:
    """Whether a constant that several nodes use changes, or is exchanged for another constant, only so that a size is
    dynamic again."""
    kept = {edit.value for edit in case.guess.edits}
    replacing = (case.inputs.edited(edit)[1] for edit in case.guess.edits if edit.kind == "input")
    lost = [each for each in replacing if each is not None and each.name not in kept]
    is_spare = any(edit.kind == "input" and case.inputs.is_spare_result(str(edit.value)) for edit in case.guess.edits)
    if is_demand(case.problem) and not is_spare and any(map(case.inputs.makers.is_constant, lost)):
        return True
    names = {edit.name for edit in case.guess.edits if edit.kind == "constant"}
    users = (len(several) for value, several in case.inputs.users.items() if value.name in names)
    return is_demand(case.problem) and len(names) == 1 and max(users, default=0) > SIBLINGS


def _changes_rank(case: Case) -> bool:
    """Whether an input of the model is declared with another number of axes. Whoever feeds it decides that, unless
    another input has these axes."""
    return case.guess.likely != USUAL and any(
        len(each.shape or ()) != len(each.before or ()) for each in case.guess.edits if each.kind == "declaration"
    )


def _writes_rest(case: Case) -> bool:
    """Whether a constant gets the entry -1, which is the remaining elements for a node that takes it as a target, and a
    number for another one."""
    inputs = case.inputs
    for edit in case.guess.edits:
        is_new = edit.kind == "constant" and edit.of == "entries" and -1 in edit.value and -1 not in (edit.before or ())
        several = [users for value, users in inputs.users.items() if is_new and value.name == edit.name]
        takes = {takes_target(user, edit.name, inputs.known) for users in several for user in users}
        if len(takes) > 1:
            return True
    return False


def _casts_computed(case: Case) -> bool:
    """Whether a Cast to floats is inserted behind an operator that rounds integers: rather its input is cast."""
    for edit in case.guess.edits:
        casts = edit.kind == "insert" and edit.name == CAST and dict(edit.value).get("to") in FLOATS
        value = case.inputs.edited(edit)[1] if casts else None
        maker = case.inputs.makers.of(value) if value is not None else None
        if maker is not None and maker.node is not None and _rounds(maker.node, case.inputs.known):
            return True
    return False


def _lacks_type(case: Case) -> bool:
    """Whether a Cast is inserted behind a node without the attribute that gives its element type: rather that is
    lost."""
    for edit in case.guess.edits:
        value = case.inputs.edited(edit)[1] if edit.kind == "insert" and edit.name == CAST else None
        maker = case.inputs.makers.of(value) if value is not None else None
        call = case.inputs.known.calls.get(maker.node) if maker is not None and maker.node is not None else None
        stated = call.signature.attributes if call is not None and call.signature is not None else {}
        given = (call.attributes or {}) if call is not None else {}
        if any(name in stated and name not in given for name in TYPED):
            return True
    return False


def _rounds(node: Node, known: Known) -> bool:
    """Whether a node computes an integer from an integer and a float, or divides integers."""
    call = known.calls.get(node)
    fold = call.operator.fold if call is not None and call.operator is not None else None
    types = [dtype_of(known.types.get(value)) if value is not None else None for value in node.inputs]
    is_mixed = bool(types) and types[0] in INTEGERS and any(each in FLOATS for each in types[1:])
    is_binary = len(node.inputs) == len(DIVIDED)
    return is_mixed or (is_binary and fold is not None and fold(*DIVIDED) == DIVIDED[0] // DIVIDED[1])


def _connects(guess: Guess) -> bool:
    """Whether an edit connects an existing value."""
    return any(edit.kind == "input" or edit.inputs for edit in guess.edits)


#: The reasons only to suggest a guess, and not to write it.
UNSURE_WHERE: tuple[Callable[[Case], bool], ...] = (
    _leaves_problems,
    _is_of_a_warning,
    _leaves_value_over,
    _leaves_index_over,
    _is_axis_of_index,
    may_lack_node,
    _is_axis_of_input,
    _inserts_for_demand,
    _is_rather_swapped,
    _retypes_input,
    _transposes_input,
    _changes_others,
    _casts_computed,
    _lacks_type,
    _writes_rest,
    _changes_rank,
)
