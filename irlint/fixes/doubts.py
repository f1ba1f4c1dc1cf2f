"""Doubts: reasons not to suggest a guess that fixes a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from irlint.findings.edits import Edit
from irlint.fixes.contents import JOIN, TARGETS
from irlint.fixes.guess import Guess
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import CAST, TRANSPOSE
from irlint.fixes.outcomes import DECLARED, Outcome
from irlint.fixes.rewired import reordered
from irlint.fixes.sizes import leaves_unmet
from irlint.fixes.trials import ELEMENT_TYPES, is_demand
from irlint.inference.known import Known
from irlint.inference.origins import shape_of
from irlint.model import Node, Problem, Value
from irlint.model.tensor import Tensor, tensor_shape
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE
from irlint.records import record

#: An error at most this many nodes after an edit probably has the same cause as the problem.
NEAR = 3

#: If this many similar nodes have a value and no node has another one, the value is taken to be right.
SIBLINGS = 2

#: Of a size that is rounded, at most this part changes.
ROUNDED = 8

#: The attributes that name the element type of a result. Other nodes say nothing about it.
TYPE_ATTRIBUTES = ("to", "destination_type", "output_type", "dtype")

#: Two inputs are exchanged by so many edits.
PAIR = 2

#: The operators whose result has the width of their weights on the last axis; a bias is added to this result.
PRODUCTS = ("MatMul", "MatMulInteger", "FusedMatMul")


def changes_sizes(edit: Edit) -> bool:
    """Whether an edit declares an input of the model with other sizes. Other orders or numbers of axes do not count."""
    before, after = edit.before, edit.shape
    if edit.kind != "declaration" or after is None or before is None or len(before) != len(after):
        return False
    return sorted(map(str, before)) != sorted(map(str, after))


@record
class Case:
    """A guess that fixes a problem, with its outcome. ``problems`` are all problems of the model, ``rivals`` other
    guesses that fix as much. It is ``outranked`` by a guess against which only likeness speaks. With ``left_over``, an
    unused value fixes the problem, too."""

    guess: Guess
    problem: Problem
    outcome: Outcome
    problems: Sequence[Problem]
    inputs: Inputs
    rivals: Sequence[Guess] = ()
    outranked: bool = False
    left_over: bool = False

    @property
    def node(self) -> Node:
        """The node that the guess changes."""
        node = self.guess.within or self.problem.node
        assert node is not None
        return node

    @property
    def left(self) -> Iterator[Problem]:
        """The root problems that the guess does not fix."""
        fixed = {id(each) for each in self.outcome.fixed}
        return (each for each in self.problems if each.because is None and id(each) not in fixed)


def is_doubtful(case: Case) -> bool:
    """Whether a doubt forbids to suggest the guess."""
    return any(doubt(case) for doubt in AGAINST)


def is_mistaken(case: Case) -> bool:
    """Whether something speaks against a guess itself: the next one is looked for."""
    return any(doubt(case) for doubt in AGAINST_ITSELF)


def is_unlike(case: Case) -> bool:
    """Whether nothing but its likeness to other nodes, or to a node without effect, speaks against a guess."""
    return any(doubt(case) for doubt in OF_LIKENESS) and not any(
        doubt(case) for doubt in AGAINST_ITSELF if doubt not in OF_LIKENESS
    )


# --- reasons not to suggest a guess -----------------------------------------------------------------------------------


def _leaves_error_near(case: Case) -> bool:
    """Whether an error remains at an edited node, or at most ``NEAR`` nodes after one."""
    left = {each.node for each in case.left if each.is_error and not each.graph and each.node is not None}
    edited = _edited(case.guess, case.node, case.inputs)
    return bool(left) and any(each in left for each in _behind(edited, case.inputs))


def _edited(guess: Guess, node: Node, inputs: Inputs) -> list[Node]:
    """The node that a guess changes, and the nodes that use the constants and inputs that it changes."""
    names = {edit.name for edit in guess.edits if edit.kind in ("constant", "declaration") and edit.index is None}
    return [node, *(each for value, several in inputs.users.items() if value.name in names for each in several)]


def _behind(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Node]:
    """The nodes, and those at most ``NEAR`` steps after them."""
    found: Set[Node] = set(nodes)
    nearest = list(nodes)
    yield from nearest
    for _ in range(NEAR):
        users = (user for each in nearest for value in each.outputs if value for user in inputs.users.get(value, ()))
        nearest = [each for each in dict.fromkeys(users) if each not in found]
        found = found | set(nearest)
        yield from nearest


def _leaves_error_of_source(case: Case) -> bool:
    """Whether what an input was before still leads to an error of the same rule: rather that value is wrong."""
    rule, inputs = case.problem.fault.rule, case.inputs
    left = {each.node for each in case.left if each.is_error and not each.graph and each.fault.rule is rule}
    for edit in case.guess.edits if left else ():
        node, value = inputs.edited(edit)
        if edit.kind in ("input", "insert") and not edit.swaps and value is not None:
            users = [each for each in inputs.users.get(value, ()) if each is not node]
            if any(each in left for each in _behind(users, inputs)):
                return True
    return False


def is_against_others(case: Case) -> bool:
    """Whether the guess changes an attribute to a value that no similar node has, while several have the old value."""
    edits = case.guess.edits
    return any(edit.kind == "attribute" and _is_as_at_siblings(edit, case.node, case.inputs) for edit in edits)


def _is_as_at_siblings(edit: Edit, node: Node, inputs: Inputs) -> bool:
    """Whether several nodes of the operator have the old value and none has the new one. Also true if all nodes whose
    constants have the same shapes have the old value."""
    guesses = inputs.guesses
    if edit.before is None or edit.index != node.index or edit.name in TYPE_ATTRIBUTES:
        return False
    before, value = (tuple(each) if isinstance(each, list) else each for each in (edit.before, edit.value))
    siblings = [each for each in guesses.of(node) if each is not node]
    others = [guesses.had(each, edit.name) for each in siblings]
    fits = value in [*guesses.groups(node, edit.name)]
    if others.count(before) >= SIBLINGS and value not in others and not fits:
        return True
    shapes = _shapes_of_constants(node, inputs)
    alike = {guesses.had(each, edit.name) for each in siblings if _shapes_of_constants(each, inputs) == shapes}
    return any(shapes) and alike == {before}


def _is_against_twins(case: Case) -> bool:
    """Whether the guess changes a number in one block that the other blocks have as it was, or an input that is
    connected as theirs."""
    inputs = case.inputs
    wired = ((edit, inputs.edited(edit)[0]) for edit in case.guess.edits if edit.kind in ("input", "insert"))
    if any(node is not None and inputs.blocks.is_wired_as_twins(edit, node) for edit, node in wired):
        return True
    for edit in case.guess.edits:
        users = (user for value, several in inputs.users.items() if value.name == edit.name for user in several)
        for node in (case.node,) if edit.kind == "attribute" else users:
            if inputs.blocks.is_as_at_twins(edit, node):
                return len(case.guess.edits) == 1
    return False


def _shapes_of_constants(node: Node, inputs: Inputs) -> list[object]:
    """For each input, its shape if it is a constant with two or more axes, else None."""
    shapes = (shape_of(each, inputs.known) if inputs.makers.is_constant(each) else None for each in node.inputs if each)
    return [shape if shape is not None and len(shape) > 1 else None for shape in shapes]


def _reshapes_bias(case: Case) -> bool:
    """Whether a constant that is added to a matrix product gets another shape. More likely the width of this bias is
    wrong."""
    node, makers = case.problem.node, case.inputs.makers
    shapes = (edit for edit in case.guess.edits if edit.kind == "constant" and edit.of == "shape")
    names = {edit.name for edit in shapes if len(edit.before or ()) == 1}
    if not names or node is None or len(node.inputs) != 2:
        return False
    others = [makers.of(value) for value in node.inputs if value is not None and value.name not in names]
    return any(each is not None and each.node is not None and each.node.op in PRODUCTS for each in others)


def _wraps(case: Case) -> bool:
    """Whether a Cast between int8 and uint8 is inserted, which changes numbers. More likely a zero point is missing."""
    for edit in case.guess.edits:
        value = case.inputs.edited(edit)[1]
        known = case.inputs.known.types.get(value) if value is not None else None
        casts = edit.kind == "insert" and edit.name == CAST and isinstance(known, Tensor)
        if casts and isinstance(known, Tensor) and {known.dtype, dict(edit.value)["to"]} == {"int8", "uint8"}:
            return True
    return False


def _is_contradicted(case: Case) -> bool:
    """Whether a node is inserted at a value whose declaration contradicts it, or makes later declarations stale."""
    inserted = [edit for edit in case.guess.edits if edit.kind == "insert"]
    fixed = {id(each) for each in case.outcome.fixed}
    family = (each for each in case.problems if each.fault.rule.family == DECLARED)
    declared = {each.value for each in family if id(each) not in fixed}
    values = (case.inputs.edited(edit)[1] for edit in inserted)
    return bool(inserted) and (
        bool(case.outcome.stale) or any(value is not None and value.name in declared for value in values)
    )


def _is_index_of_many(case: Case) -> bool:
    """Whether the guess is another index into data that is no list of sizes: then every index in range would fit."""
    node = case.problem.node
    value = node.inputs[0] if node is not None and node.inputs else None
    known = case.inputs.known.types.get(value) if value is not None else None
    indexed = any(edit.kind == "constant" for edit in case.guess.edits)
    out_of_range = case.problem.fault.rule is INDEX_OUT_OF_RANGE
    return out_of_range and indexed and isinstance(known, Tensor) and known.rank != 1


def _is_rather_wired_wrong(case: Case) -> bool:
    """Whether a guess that resizes an input of the model hides a wrong connection: an error remains, a computed value
    stays unused, or the new size looks like that of flattened or exchanged axes."""
    if not resizes_input(case.guess) or case.guess.count >= SIBLINGS:
        return False
    inputs, edits = case.inputs, case.guess.edits
    faulty = {value for each in case.problems if each.node is not None for value in each.node.outputs}
    spare = any(inputs.is_made(value) and value not in faulty for value, _ in inputs.spare)
    alone = len(case.outcome.fixed) == 1
    odd = any(_is_flattened(edit) or (alone and _is_of_another_axis(edit, inputs)) for edit in edits)
    return spare or odd or any(each.is_error for each in case.left)


def _is_of_another_axis(edit: Edit, inputs: Inputs) -> bool:
    """Whether one axis gets a size that occurs together with the old size in another value: the axes are probably
    exchanged, unless the size is only rounded."""
    pairs = [(one, other) for one, other in zip(edit.before or (), edit.shape or ()) if one != other]
    if len(pairs) != 1 or not all(isinstance(each, int) and each > 1 for each in pairs[0]):
        return False
    if abs(pairs[0][0] - pairs[0][1]) * ROUNDED <= min(pairs[0]):
        return False
    shapes = (shape_of(value, inputs.known) for node in inputs.graph.nodes for value in node.outputs)
    return any(set(pairs[0]) <= set(shape) for shape in shapes if shape is not None)


def _is_flattened(edit: Edit) -> bool:
    """Whether a size becomes the product of two sizes."""
    before, after = edit.before or (), edit.shape or ()
    sizes, pairs = {each for each in before if isinstance(each, int) and each > 1}, zip(before, after)
    return len(before) == len(after) and any(
        isinstance(one, int) and isinstance(other, int) and one > 1 and other % one == 0 and other // one in sizes
        for one, other in pairs
    )


def resizes_input(guess: Guess) -> bool:
    """Whether a guess declares an input of the model with another shape."""
    return any(edit.kind == "declaration" and edit.shape is not None for edit in guess.edits)


def _strands(case: Case) -> bool:
    """Whether an edit disconnects a value from its only user, which it still has if it was connected by mistake, or
    connects a constant in place of computed data. At another node than the faulty one, only inputs of the model
    count."""
    replaced = any(map(case.inputs.replaces_computed, case.guess.edits))
    return replaced or strands(case, inputs_only=case.guess.within is not None)


def strands(case: Case, *, inputs_only: bool = False) -> bool:
    """Whether an edit disconnects a value, or with ``inputs_only`` an input of the model, from its only user. This does
    not count for a constant of an element type that the user refuses, or for what a loop counts."""
    guess, inputs = case.guess, case.inputs
    connected = {edit.value for edit in guess.edits if edit.kind == "input"}
    for edit in guess.edits:
        node, value = inputs.edited(edit)
        if edit.kind != "input" or edit.swaps or value is None or value.name in connected:
            continue
        if inputs_only and value not in inputs.graph.inputs:
            continue
        if inputs.makers.is_constant(value) and case.problem.fault.rule.family == ELEMENT_TYPES:
            continue
        if inputs.makers.is_constant(value) and node is not None and _is_lost_at(node, edit, inputs):
            continue
        if inputs.makers.is_constant(value) and inputs.is_spare_result(str(edit.value)):
            continue
        before = reordered(value, inputs.makers)
        if (before is not None and before.name == edit.value) or (node is not None and node.bodies):
            continue
        elsewhere = node is not None and node.inputs.count(value) > 1
        kept = elsewhere or value in inputs.graph.undefined or value in inputs.graph.outputs
        if not kept and all(each is node for each in inputs.users.get(value, ())):
            return True
    return False


def _is_lost_at(node: Node, edit: Edit, inputs: Inputs) -> bool:
    """Whether an edit connects an unused value as the nodes in the same place of other blocks are connected."""
    wired, unused = inputs.blocks.wired(node), {value.name for value, _ in inputs.spare}
    at = wired[edit.input] if edit.input is not None and edit.input < len(wired) else None
    return at is not None and at.name == edit.value and at.name in unused


def _swaps_constant(case: Case) -> bool:
    """Whether a constant is exchanged with a computed input, although the other nodes have constants where it is."""
    inputs, edits = case.inputs, case.guess.edits
    node = inputs.edited(edits[0])[0]
    if not case.guess.swaps or node is None or len(edits) != PAIR:
        return False
    one, other = (edit.input or 0 for edit in edits)
    own = [inputs.makers.is_constant(each) for each in node.inputs]
    after = list(own)
    after[one], after[other] = own[other], own[one]
    others = (each.inputs for each in inputs.guesses.of(node) if each is not node)
    stored = [[inputs.makers.is_constant(each) for each in values] for values in others]
    return own != after and own in stored and after not in stored


def _leaves_only_constants(case: Case) -> bool:
    """Whether a node that depends on an input of the model gets a constant, so that all its inputs are constants."""
    inputs, is_constant = case.inputs, case.inputs.makers.is_constant
    made = (each for maker in inputs.graph.nodes for each in maker.outputs if each is not None)
    names = {each.name: each for each in (*inputs.graph.inputs, *inputs.graph.constants, *made)}
    after: dict[Node, dict[int, Value | None]] = {}
    for edit in case.guess.edits:
        node, value = inputs.edited(edit)
        if (
            edit.kind == "input"
            and not edit.swaps
            and node is not None
            and not (value is not None and is_constant(value))
        ):
            after.setdefault(node, dict(enumerate(node.inputs)))
    for edit in case.guess.edits:
        node = inputs.edited(edit)[0]
        if edit.kind == "input" and node in after and edit.input is not None:
            after[node][edit.input] = names.get(str(edit.value))
    given = ([each for each in values.values() if each is not None] for values in after.values())
    return any(values and all(map(is_constant, values)) for values in given)


def _makes_output_stale(case: Case) -> bool:
    """Whether an output of the model then has a wrong declaration, although no input is resized."""
    return not resizes_input(case.guess) and any(value in case.inputs.graph.outputs for value in case.outcome.stale)


def _changes_shared(case: Case) -> bool:
    """Whether entries change of a constant that several nodes use, other than as a target shape, and the faulty node is
    not one of them: rather something between it and them is wrong, unless as many problems disappear as it has
    users."""
    names = {edit.name for edit in case.guess.edits if edit.kind == "constant" and edit.of == "entries"}
    for value, users in case.inputs.users.items() if names else ():
        if value.name in names and case.problem.node not in users and len(users) > SIBLINGS:
            all_fixed = len(case.outcome.fixed) >= len(users)
            return not all_fixed and not all(takes_target(user, value.name, case.inputs.known) for user in users)
    return False


def takes_target(node: Node, name: str, known: Known) -> bool:
    """Whether a node takes a value as a target shape, or joins it to one."""
    call = known.calls.get(node)
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    ports = [port for port, value in enumerate(node.inputs) if value is not None and value.name == name]
    return node.op == JOIN or all(port < len(names) and names[port] in TARGETS for port in ports)


def _breaks_flow(case: Case) -> bool:
    """Whether an edit makes a node depend on its own result, or an output independent of an input of the model."""
    return case.inputs.flow.is_broken_by(case.guess.edits)


def _undoes(case: Case) -> bool:
    """Whether an edit makes a Transpose keep the order of the axes, which no model needs. For an error, only if another
    Transpose has the order that it had, or the value has a single axis."""
    guesses = case.inputs.guesses
    edits = [edit for edit in case.guess.edits if edit.kind == "attribute" and edit.op == TRANSPOSE]
    kept = [edit for edit in edits if list(edit.value) == list(range(len(edit.value)))]
    others = [guesses.had(each, "perm") for each in guesses.of(case.node) if each is not case.node]
    alone = any(len(edit.value) == 1 for edit in kept)
    return alone or any(is_demand(case.problem) or tuple(edit.before or ()) in others for edit in kept)


def _is_one_number_of_several(case: Case) -> bool:
    """Whether another number for the same attribute, such as ``num_groups``, fixes as much, unless all similar nodes
    have the guessed one."""
    edit, *more = case.guess.edits
    if more or edit.kind != "attribute" or type(edit.value) is not int or "ax" in edit.name:
        return False
    guesses = case.inputs.guesses
    if {guesses.had(each, edit.name) for each in guesses.of(case.node) if each is not case.node} == {edit.value}:
        return False
    if edit.value in guesses.related(case.node, edit.name, {}):
        return False
    least = case.guess.count if edit.name in TYPE_ATTRIBUTES else min(0, case.guess.count)
    others = (each.edits[0] for each in case.rivals if len(each.edits) == 1 and each.count >= least)
    return any((each.kind, each.index, each.name) == (edit.kind, edit.index, edit.name) for each in others)


def _scrambles(case: Case) -> bool:
    """Whether a Reshape that joins or divides axes then mixes them, as a wrong number of heads does."""
    return case.outcome.scrambles


def _fixes_more(case: Case) -> bool:
    """Whether a target gets a number in place of -1 or 0, or a size of 1, although the problem is that sizes are
    fixed."""
    for edit in case.guess.edits if is_demand(case.problem) else ():
        if edit.kind != "constant" or edit.of != "entries":
            continue
        users, pairs = case.inputs.users_of(edit.name), list(zip(edit.before or (), edit.value))
        shapes = any(takes_target(user, edit.name, case.inputs.known) for user in users)
        if any(one in (-1, 0) and other > 0 for one, other in pairs):
            return True
        if shapes and any(other == 1 != one and type(one) is int for one, other in pairs):
            return True
    return False


def _empties(case: Case) -> bool:
    """Whether a value then has no elements, which had some."""
    types = ((case.inputs.known.types.get(each), new) for each, new in case.outcome.types.items())
    shapes = ((tensor_shape(old), tensor_shape(new)) for old, new in types)
    return any(old is not None and 0 not in old and 0 in (new or ()) for old, new in shapes)


def _leaves_unmet(case: Case) -> bool:
    """Whether another node of a contradiction still has a condition that no usual sizes meet: rather that is wrong."""
    return leaves_unmet(case.problem, case.outcome, case.inputs.known)


#: The reasons not to suggest a guess that another mistake in the model may explain.
OF_LIKENESS: tuple[Callable[[Case], bool], ...] = (is_against_others, _is_against_twins, _undoes)

#: The reasons not to suggest a guess that leave other guesses as they are.
AGAINST_ITSELF: tuple[Callable[[Case], bool], ...] = (
    _scrambles,
    _fixes_more,
    _leaves_error_of_source,
    is_against_others,
    _is_against_twins,
    _strands,
    _swaps_constant,
    _leaves_only_constants,
    _makes_output_stale,
    _is_contradicted,
    _undoes,
    _breaks_flow,
    _changes_shared,
    _empties,
    _leaves_unmet,
)

#: The reasons not to suggest a guess.
AGAINST: tuple[Callable[[Case], bool], ...] = (
    *AGAINST_ITSELF,
    _leaves_error_near,
    _reshapes_bias,
    _wraps,
    _is_rather_wired_wrong,
    _is_index_of_many,
    _is_one_number_of_several,
)
