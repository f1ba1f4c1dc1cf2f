"""Objections: reasons to reject a candidate that fixes a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice
from operator import attrgetter

from irlint.checks.declared import SHAPE_CONTRADICTED
from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.case import Case, is_permutation, takes_as, takes_target
from irlint.fixes.conditions import leaves_another_formula, leaves_unmet_requirement
from irlint.fixes.constants import PADS
from irlint.fixes.disconnected import doubles_input, loses_values
from irlint.fixes.indices import INDICES
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import CAST, TRANSPOSE
from irlint.fixes.numbers import hides_clash, is_any_index, is_one_number_of_several
from irlint.fixes.other_values import EVIDENT, ONLY_SUGGESTED, SPATIAL
from irlint.fixes.ratios import values_in_ratio
from irlint.fixes.rechecking import TYPE_ATTRIBUTES
from irlint.fixes.slices import LAST_END
from irlint.fixes.trials import limits_sizes
from irlint.fixes.variadic import adds_input_in_vain
from irlint.inference.consequences import DECLARED
from irlint.inference.origins import shape_of
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import FLOATS, Tensor, tensor_shape

#: An error at most this many nodes after an edit probably has the same cause as the problem.
NEAR = 3

#: This many siblings are evidence for a value that all of them have.
SIBLINGS = 2

#: A size may be rounded if it changes by at most one part in this many.
ROUNDED = 8

#: The number of edits that exchange two inputs.
PAIR = 2

#: Matrix products. A bias that is as wide as their weights may be added to the result.
PRODUCTS = ("MatMul", "MatMulInteger", "FusedMatMul")


def is_rejected(case: Case) -> bool:
    """Whether an objection forbids to suggest the candidate."""
    return any(objection(case) for objection in REJECTED_IF)


def may_be_named(case: Case) -> bool:
    """Whether a report may name the candidate as less likely. It may then disconnect values."""
    return not any(objection(case) for objection in REJECTED_IF if objection is not loses_values)


def is_excluded(case: Case) -> bool:
    """Whether an objection excludes the candidate, so that the next one is considered."""
    return any(objection(case) for objection in EXCLUDED_IF)


def is_excluded_by_similarity(case: Case) -> bool:
    """Whether the only objections that exclude the candidate compare the node with similar nodes."""
    return any(objection(case) for objection in BY_SIMILARITY) and not any(
        objection(case) for objection in EXCLUDED_IF if objection not in BY_SIMILARITY
    )


def _leaves_error_near(case: Case) -> bool:
    """Whether an error remains at an edited node, or at most ``NEAR`` nodes after it."""
    faulty = case.faulty_nodes()
    edited = _edited_nodes(case.candidate, case.node, case.inputs)
    return bool(faulty) and any(each in faulty for each in _near_after(edited, case.inputs))


def _edited_nodes(candidate: Candidate, node: Node, inputs: Inputs) -> list[Node]:
    names = {edit.name for edit in candidate.edits if edit.kind in ("constant", "declaration") and edit.index is None}
    return [node, *(user for name in names for user in inputs.users_of(name))]


def _near_after(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Node]:
    found: Set[Node] = set(nodes)
    nearest = list(nodes)
    yield from nearest
    for _ in range(NEAR):
        users = (user for node in nearest for value in node.outputs if value for user in inputs.users.get(value, ()))
        nearest = [each for each in dict.fromkeys(users) if each not in found]
        found = found | set(nearest)
        yield from nearest


def _leaves_error_of_old_input(case: Case) -> bool:
    """Whether the old value of the input leads to another error of the same rule. Then this value is probably wrong."""
    inputs, faulty = case.inputs, case.unfixed_nodes(case.problem.fault.rule)
    for edit in case.candidate.edits if faulty else ():
        node, value = inputs.edited(edit)
        if edit.kind in ("input", "insert") and not edit.swaps and value is not None:
            users = [each for each in inputs.users.get(value, ()) if each is not node]
            if any(each in faulty for each in _near_after(users, inputs)):
                return True
    return False


def differs_from_siblings(case: Case) -> bool:
    """Whether an attribute gets a value that no sibling has, while several siblings have the old one.

    Candidates that are only suggested are exempt.
    """
    edits = case.candidate.edits if case.candidate.grade != ONLY_SUGGESTED else ()
    return any(edit.kind == "attribute" and _siblings_oppose_edit(edit, case.node, case.inputs) for edit in edits)


def _siblings_oppose_edit(edit: Edit, node: Node, inputs: Inputs) -> bool:
    """Whether several siblings, or all with equal shapes of weights, have the old value, and no sibling the new one."""
    editor = inputs.editor
    if edit.before is None or edit.index != node.index or edit.name in TYPE_ATTRIBUTES:
        return False
    before, value = (tuple(each) if isinstance(each, list) else each for each in (edit.before, edit.value))
    siblings = editor.siblings_of_ranks(node) if edit.name == "axis" else editor.siblings(node)
    if edit.name == "perm":
        siblings = [each for each in siblings if _operators_beside(each, inputs) == _operators_beside(node, inputs)]
    others = [editor.value_of(each, edit.name) for each in siblings]
    fits = value in (*editor.fitting_groups(node, edit.name), *values_in_ratio(node, edit.name, {}, editor))
    if others.count(before) >= SIBLINGS and value not in others and not fits:
        return True
    shapes = _shapes_of_constants(node, inputs)
    values = {editor.value_of(each, edit.name) for each in siblings if _shapes_of_constants(each, inputs) == shapes}
    return any(shapes) and values == {before}


def _operators_beside(node: Node, inputs: Inputs) -> set[str]:
    """The operators that compute the inputs of a node."""
    makers = (inputs.node_of(value) for value in node.inputs)
    return {maker.op for maker in makers if maker is not None}


def _differs_from_twins(case: Case) -> bool:
    """Whether the twins have the old number, or are connected as the node is before the edits, and not edited too."""
    inputs = case.inputs
    connected = [(edit, inputs.edited(edit)[0]) for edit in case.candidate.edits if edit.kind in ("input", "insert")]
    edited = {node for _, node in connected}
    for edit, node in connected:
        if node is None or edited.issuperset(inputs.blocks.twins(node)):
            continue
        if inputs.blocks.is_connected_as_twins(edit, node):
            return True
    for edit in case.candidate.edits:
        for node in (case.node,) if edit.kind == "attribute" else inputs.users_of(edit.name):
            if inputs.blocks.has_number_of_twins(edit, node):
                return len(case.candidate.edits) == 1
    return False


def _shapes_of_constants(node: Node, inputs: Inputs) -> list[object]:
    """For each input, its shape if it is a constant with two or more axes, else None."""
    shapes = (shape_of(each, inputs.known) if inputs.makers.is_constant(each) else None for each in node.inputs if each)
    return [shape if shape is not None and len(shape) > 1 else None for shape in shapes]


def _reshapes_bias(case: Case) -> bool:
    """Whether a constant that is added to a matrix product is reshaped. Its width is probably wrong."""
    node = case.problem.node
    shapes = (edit for edit in case.candidate.edits if edit.kind == "constant" and edit.of == "shape")
    names = {edit.name for edit in shapes if len(edit.before or ()) == 1 != len(edit.value)}
    if not names or node is None or len(node.inputs) != 2:
        return False
    others = (case.inputs.node_of(each) for each in node.inputs if each is not None and each.name not in names)
    return any(each is not None and each.op in PRODUCTS for each in others)


def _casts_between_signs(case: Case) -> bool:
    """Whether a Cast between int8 and uint8 is inserted, which changes numbers. A zero point is probably missing."""
    for edit in case.candidate.edits:
        value = case.inputs.edited(edit)[1]
        known = case.inputs.known.types.get(value) if value is not None else None
        casts = edit.kind == "insert" and edit.name == CAST and isinstance(known, Tensor)
        if casts and isinstance(known, Tensor) and {known.dtype, dict(edit.value)["to"]} == {"int8", "uint8"}:
            return True
    return False


def _is_contradicted(case: Case) -> bool:
    """Whether an inserted node follows a value with a wrong declaration, or makes other declarations wrong."""
    inserted = [edit for edit in case.candidate.edits if edit.kind == "insert"]
    fixed = {id(each) for each in case.outcome.fixed}
    family = (problem for problem in case.problems if problem.fault.rule.family == DECLARED)
    declared = {each.value for each in family if id(each) not in fixed}
    values = (case.inputs.edited(edit)[1] for edit in inserted)
    return bool(inserted) and (
        bool(case.outcome.stale) or any(value is not None and value.name in declared for value in values)
    )


def _leaves_contradiction_before(case: Case) -> bool:
    """Whether an earlier node still has another shape than the file declares. Then that node is probably wrong."""
    if case.candidate.grade == EVIDENT or case.problem.node is None:
        return False
    declared = (each for each in case.remaining if each.fault.rule is SHAPE_CONTRADICTED and not each.graph)
    nodes = (each.node for each in islice(declared, NEAR) if each.node not in (None, case.problem.node))
    return any(case.problem.node in downstream(each, case.inputs.graph) for each in nodes if each is not None)


def _may_hide_wrong_connection(case: Case) -> bool:
    if not case.candidate.resizes_input or case.candidate.evidence >= SIBLINGS:
        return False
    inputs, edits = case.inputs, case.candidate.edits
    faulty = {value for each in case.problems if each.node is not None for value in each.node.outputs}
    unused = any(inputs.is_made(value) and value not in faulty for value, _ in inputs.unused_values)
    alone = len(case.outcome.fixed) == 1
    odd = any(_is_flattened(edit) or (alone and _is_of_another_axis(edit, inputs)) for edit in edits)
    return unused or odd or any(problem.is_error for problem in case.remaining)


def _is_of_another_axis(edit: Edit, inputs: Inputs) -> bool:
    """Whether one size changes, and another value has both the old and the new size. Probably axes are exchanged."""
    pairs = [(one, other) for one, other in zip(edit.before or (), edit.shape or ()) if one != other]
    if len(pairs) != 1 or not all(isinstance(each, int) and each > 1 for each in pairs[0]):
        return False
    if abs(pairs[0][0] - pairs[0][1]) * ROUNDED <= min(pairs[0]):
        return False
    shapes = (shape_of(value, inputs.known) for node in inputs.graph.nodes for value in node.outputs)
    return any(set(pairs[0]) <= set(shape) for shape in shapes if shape is not None)


def _is_flattened(edit: Edit) -> bool:
    """Whether a size is multiplied by another size of the shape."""
    before, after = edit.before or (), edit.shape or ()
    sizes, pairs = {each for each in before if isinstance(each, int) and each > 1}, zip(before, after)
    return len(before) == len(after) and any(
        isinstance(one, int) and isinstance(other, int) and one > 1 and other % one == 0 and other // one in sizes
        for one, other in pairs
    )


def _swaps_constant(case: Case) -> bool:
    """Whether a swap moves a constant from an input where siblings have one to an input where no sibling has one."""
    inputs, edits = case.inputs, case.candidate.edits
    node = inputs.edited(edits[0])[0]
    is_evident = case.candidate.grade == EVIDENT
    if is_evident or not case.candidate.swaps or not node or len(edits) != PAIR or edits[0].index != edits[1].index:
        return False
    one, other = (edit.input or 0 for edit in edits)
    own = [inputs.makers.is_constant(each) for each in node.inputs]
    after = list(own)
    after[one], after[other] = own[other], own[one]
    stored = [[inputs.makers.is_constant(each) for each in sibling.inputs] for sibling in inputs.editor.siblings(node)]
    return own != after and own in stored and after not in stored


def _leaves_only_constants(case: Case) -> bool:
    """Whether an edit replaces a computed input, so that all inputs of the node are constants."""
    inputs, is_constant = case.inputs, case.inputs.makers.is_constant
    after: dict[Node, dict[int, Value | None]] = {}
    for edit in case.candidate.edits:
        node, value = inputs.edited(edit)
        if (
            edit.kind == "input"
            and not edit.swaps
            and node is not None
            and not (value is not None and is_constant(value))
        ):
            after.setdefault(node, dict(enumerate(node.inputs)))
    for edit in case.candidate.edits:
        node = inputs.edited(edit)[0]
        if edit.kind == "input" and node in after and edit.input is not None:
            after[node][edit.input] = inputs.flow.values.get(str(edit.value))
    given = ([each for each in values.values() if each is not None] for values in after.values())
    return any(values and all(map(is_constant, values)) for values in given)


def _replaces_sizes(case: Case) -> bool:
    """Whether an edit connects data in place of a target shape whose sizes are known."""
    known = case.inputs.known
    for edit in case.candidate.edits:
        (node, before), after = case.inputs.edited(edit), case.inputs.flow.values.get(str(edit.value))
        if edit.kind == "input" and node is not None and before is not None and after is not None:
            types = known.types.get(before), known.types.get(after)
            sizes = [each.value if isinstance(each, Tensor) else None for each in types]
            if sizes[0] is not None and sizes[1] is None and takes_target(node, before.name, known):
                return True
    return False


def _repeats_node(case: Case) -> bool:
    """Whether the edited node repeats another node: both have the same operator, attributes and inputs.

    Exporters repeat nodes that read a shape.
    """
    for edit in case.candidate.edits if len(case.candidate.edits) == 1 else ():
        node = case.inputs.edited(edit)[0]
        value = case.inputs.flow.values.get(str(edit.value)) if edit.kind == "input" else None
        known = case.inputs.known.types.get(value) if value is not None and case.inputs.is_made(value) else None
        call = case.inputs.known.calls.get(node) if node is not None else None
        of_shape = call is not None and call.operator is not None and call.operator.of_shape
        if node is None or of_shape or not isinstance(known, Tensor) or known.dtype not in FLOATS:
            continue
        after = tuple(value if port == edit.input else each for port, each in enumerate(node.inputs))
        others = (each for each in case.inputs.editor.siblings(node) if each.attributes == node.attributes)
        if any(each.inputs == after for each in others):
            return True
    return False


def _makes_output_stale(case: Case) -> bool:
    """Whether the declaration of an output of the model becomes wrong, although no input of the model is resized."""
    return not case.candidate.resizes_input and any(value in case.inputs.graph.outputs for value in case.outcome.stale)


def _pads_whole_windows(case: Case) -> bool:
    """Whether new pads are as wide as the window, so that a window would lie outside of the data."""
    for edit in case.candidate.edits:
        node = case.inputs.edited(edit)[0] if edit.kind == "attribute" and edit.name in PADS else None
        data = shape_of(node.inputs[0], case.inputs.known) if node is not None and node.inputs else None
        window = case.inputs.editor.window(node) if node is not None else ()
        window = window[-len(data[SPATIAL:]) :] if data is not None and len(data) > SPATIAL else window
        dilations = case.inputs.editor.value_of(node, "dilations") or (1,) * len(window) if node is not None else ()
        widths = [(size - 1) * step + 1 for size, step in zip(window, dilations)]
        pads = edit.value if isinstance(edit.value, (list, tuple)) else ()
        if widths and any(pad >= widths[at % len(widths)] for at, pad in enumerate(pads)):
            return True
    return False


def _changes_shared(case: Case) -> bool:
    """Whether a shared constant other than a target shape changes, although the faulty node does not use it."""
    names = {edit.name for edit in case.candidate.edits if edit.of == "entries"}
    for value, users in case.inputs.users.items() if names else ():
        if value.name in names and case.problem.node not in users and len(users) > SIBLINGS:
            is_shown = case.candidate.evidence > len(users) or len(case.outcome.fixed) >= len(users)
            is_shown = is_shown or case.inputs.editor.constants.distinct.separates(case.candidate.edits)
            if is_shown or all(map(is_permutation, case.candidate.edits)):
                return False
            return not all(takes_target(user, value.name, case.inputs.known) for user in users)
    return False


def _breaks_flow(case: Case) -> bool:
    return case.inputs.flow.is_broken_by(case.candidate.edits)


def _makes_transpose_useless(case: Case) -> bool:
    """Whether a Transpose gets the order that keeps all axes. For an error, a sibling must have its old order."""
    editor = case.inputs.editor
    edits = [edit for edit in case.candidate.edits if edit.kind == "attribute" and edit.op == TRANSPOSE]
    kept = [edit for edit in edits if list(edit.value) == list(range(len(edit.value)))]
    others = [editor.value_of(each, "perm") for each in editor.siblings(case.node)]
    alone = any(len(edit.value) == 1 for edit in kept)
    return alone or any(limits_sizes(case.problem) or tuple(edit.before or ()) in others for edit in kept)


def _fixes_a_size(case: Case) -> bool:
    """Whether the problem is a limit on sizes, and an entry that allows all sizes becomes a number.

    Such entries are -1, 0 and ``LAST_END``. Also, whether an entry of a target shape becomes 1.
    """
    entries = (edit for edit in case.candidate.edits if (edit.kind, edit.of) == ("constant", "entries"))
    for edit in entries if limits_sizes(case.problem) else ():
        if is_permutation(edit):
            continue
        users, pairs = case.inputs.users_of(edit.name), list(zip(edit.before or (), edit.value))
        shapes = any(takes_target(user, edit.name, case.inputs.known) for user in users)
        indices = users and all(takes_as((INDICES,), user, edit.name, case.inputs.known) for user in users)
        from_dynamic = (-1, 0, LAST_END) if shapes or len(pairs) > 1 else (LAST_END,)
        if not indices and any(one in from_dynamic and 0 < other < LAST_END for one, other in pairs):
            return True
        if shapes and any(other == 1 != one and type(one) is int for one, other in pairs):
            return True
    return False


def _empties_value(case: Case) -> bool:
    types = ((case.inputs.known.types.get(each), new) for each, new in case.outcome.types.items())
    shapes = ((tensor_shape(old), tensor_shape(new)) for old, new in types)
    return any(old is not None and 0 not in old and 0 in (new or ()) for old, new in shapes)


def _leaves_unmet_requirement(case: Case) -> bool:
    """Whether another node has a requirement that no usual sizes meet. Then that node is probably wrong."""
    return leaves_unmet_requirement(case.problem, case.outcome, case.inputs.known)


#: Objections that compare the node with similar nodes. Another mistake may explain such a difference.
BY_SIMILARITY: tuple[Callable[[Case], bool], ...] = (
    differs_from_siblings,
    _differs_from_twins,
    _makes_transpose_useless,
)

#: The objections that exclude one candidate; others are considered.
EXCLUDED_IF: tuple[Callable[[Case], bool], ...] = (
    attrgetter("outcome.mixes_axes"),
    _fixes_a_size,
    _leaves_error_of_old_input,
    differs_from_siblings,
    _differs_from_twins,
    loses_values,
    doubles_input,
    _swaps_constant,
    _leaves_only_constants,
    _replaces_sizes,
    _repeats_node,
    _makes_output_stale,
    _is_contradicted,
    _leaves_contradiction_before,
    _makes_transpose_useless,
    _breaks_flow,
    _pads_whole_windows,
    _changes_shared,
    _empties_value,
    _leaves_unmet_requirement,
    adds_input_in_vain,
    hides_clash,
    lambda case: leaves_another_formula(case.outcome),
)

#: The objections that end the search: nothing is suggested.
REJECTED_IF: tuple[Callable[[Case], bool], ...] = (
    *EXCLUDED_IF,
    _leaves_error_near,
    _reshapes_bias,
    _casts_between_signs,
    _may_hide_wrong_connection,
    is_any_index,
    is_one_number_of_several,
)
