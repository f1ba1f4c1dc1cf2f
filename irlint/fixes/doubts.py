"""What speaks against edits that fix a problem: they are not suggested then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import CAST, TRANSPOSE
from irlint.fixes.outcomes import Outcome
from irlint.fixes.trials import DECLARED, is_demand
from irlint.inference.origins import shape_of
from irlint.model import Node, Problem
from irlint.model.tensor import Tensor
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

#: An error this many nodes behind an edit, or nearer, probably has the same cause.
NEAR = 3

#: What so many other nodes of an operator have, and none has otherwise, is right.
SIBLINGS = 2

#: The operators whose results have the width of their weights on the last axis; a bias is added to it.
PRODUCTS = ("MatMul", "MatMulInteger", "FusedMatMul")


def changes_sizes(edit: Edit) -> bool:
    """Whether an edit declares an input of the model with other sizes, and not in another order or number."""
    before, after = edit.before, edit.shape
    if edit.kind != "declaration" or after is None or before is None or len(before) != len(after):
        return False
    return sorted(map(str, before)) != sorted(map(str, after))


def is_doubtful(guess: Guess, problem: Problem, outcome: Outcome, problems: Sequence[Problem], inputs: Inputs) -> bool:
    """Whether something speaks against a guess that fixes a problem."""
    node = guess.within or problem.node
    assert node is not None
    return (
        _leaves_error_near(guess, node, outcome, problems, inputs)
        or is_against_others(guess, problem, inputs)
        or any(_reshapes_bias(edit, problem, inputs) for edit in guess.edits)
        or any(_wraps(edit, inputs) for edit in guess.edits)
        or (_resizes_input(guess) and _is_rather_wired_wrong(guess, outcome, problems, inputs))
        or (problem.fault.rule is INDEX_OUT_OF_RANGE and _is_index_of_many(guess, problem, inputs))
        or _strands(guess, inputs)
        or (not _resizes_input(guess) and any(value in inputs.graph.outputs for value in outcome.stale))
        or any(edit.kind == "insert" and _is_contradicted(edit, outcome, problems, inputs) for edit in guess.edits)
        or (is_demand(problem) and any(map(_undoes, guess.edits)))
        or (is_demand(problem) and guess.count < SIBLINGS and any(edit.kind == "insert" for edit in guess.edits))
    )


def _leaves_error_near(guess: Guess, node: Node, outcome: Outcome, problems: Sequence[Problem], inputs: Inputs) -> bool:
    """Whether an error is left at a node that takes what is edited, or stands close behind one that does."""
    fixed = {id(each) for each in outcome.fixed}
    left = {
        each.node
        for each in problems
        if each.is_error and not each.graph and each.because is None and id(each) not in fixed and each.node is not None
    }
    return bool(left) and any(each in left for each in _behind(_edited(guess, node, inputs), inputs))


def _edited(guess: Guess, node: Node, inputs: Inputs) -> list[Node]:
    """The nodes that edits change, and those that take the constants and inputs that they change."""
    names = {edit.name for edit in guess.edits if edit.kind in ("constant", "declaration") and edit.index is None}
    users = (each for value, several in inputs.users.items() if value.name in names for each in several)
    return [node, *users] if names else [node]


def _behind(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Node]:
    """Nodes, and those up to ``NEAR`` steps behind them."""
    found: Set[Node] = set(nodes)
    nearest = list(nodes)
    yield from nearest
    for _ in range(NEAR):
        users = (user for each in nearest for value in each.outputs if value for user in inputs.users.get(value, ()))
        nearest = [each for each in dict.fromkeys(users) if each not in found]
        found = found | set(nearest)
        yield from nearest


def is_against_others(guess: Guess, problem: Problem, inputs: Inputs) -> bool:
    """Whether a guess sets an attribute that several other nodes have as the node has it, and none as the guess sets
    it."""
    node = guess.within or problem.node
    assert node is not None
    return any(_is_as_at_siblings(edit, node, inputs) for edit in guess.edits if edit.kind == "attribute")


def _is_as_at_siblings(edit: Edit, node: Node, inputs: Inputs) -> bool:
    """Whether several other nodes have the attribute as this one has it, and none as the edit sets it; or all of those
    whose constants have the same shapes have it."""
    guesses = inputs.guesses
    if edit.before is None or edit.index != node.index:
        return False
    before, value = (tuple(each) if isinstance(each, list) else each for each in (edit.before, edit.value))
    siblings = [each for each in guesses.of(node) if each is not node]
    others = [guesses.had(each, edit.name) for each in siblings]
    if others.count(before) >= SIBLINGS and value not in others:
        return True
    shapes = _shapes_of_constants(node, inputs)
    alike = {guesses.had(each, edit.name) for each in siblings if _shapes_of_constants(each, inputs) == shapes}
    return any(shapes) and alike == {before}


def _shapes_of_constants(node: Node, inputs: Inputs) -> list[object]:
    """The shape of each input of a node that is a constant of several axes."""
    shapes = (shape_of(each, inputs.known) if inputs.makers.is_constant(each) else None for each in node.inputs if each)
    return [shape if shape is not None and len(shape) > 1 else None for shape in shapes]


def _reshapes_bias(edit: Edit, problem: Problem, inputs: Inputs) -> bool:
    """Whether an edit gives another shape to what is added to a product: its width is rather wrong."""
    node = problem.node
    if edit.kind != "constant" or edit.of != "shape" or node is None or len(node.inputs) != 2:
        return False
    makers = [inputs.makers.of(value) for value in node.inputs if value is not None and value.name != edit.name]
    return any(each is not None and each.node is not None and each.node.op in PRODUCTS for each in makers)


def _wraps(edit: Edit, inputs: Inputs) -> bool:
    """Whether a Cast is inserted between bytes with and without a sign, which changes numbers: rather a zero point is
    missing."""
    value = inputs.edited(edit)[1]
    known = inputs.known.types.get(value) if value is not None else None
    if edit.kind != "insert" or edit.name != CAST or not isinstance(known, Tensor):
        return False
    return {known.dtype, dict(edit.value)["to"]} == {"int8", "uint8"}


def _is_contradicted(edit: Edit, outcome: Outcome, problems: Sequence[Problem], inputs: Inputs) -> bool:
    """Whether the file declares otherwise what a node is inserted behind, or what comes then."""
    _, value = inputs.edited(edit)
    fixed = {id(each) for each in outcome.fixed}
    declared = {each.value for each in problems if each.fault.rule.family == DECLARED and id(each) not in fixed}
    return bool(outcome.stale) or (value is not None and value.name in declared)


def _is_index_of_many(guess: Guess, problem: Problem, inputs: Inputs) -> bool:
    """Whether a guess is another index into what is no list of sizes: any in the range would fit."""
    value = problem.node.inputs[0] if problem.node is not None else None
    known = inputs.known.types.get(value) if value is not None else None
    indexed = any(edit.kind == "constant" for edit in guess.edits)
    return indexed and isinstance(known, Tensor) and known.rank != 1


def _is_rather_wired_wrong(guess: Guess, outcome: Outcome, problems: Sequence[Problem], inputs: Inputs) -> bool:
    """Whether other sizes of inputs leave an error, or a value without a user that no faulty node makes, or are such as
    flattened axes have."""
    fixed = {id(each) for each in outcome.fixed}
    left = any(each.is_error and each.because is None and id(each) not in fixed for each in problems)
    faulty = {value for each in problems if each.node is not None for value in each.node.outputs}
    spare = any(inputs.is_made(value) and value not in faulty for value, _ in inputs.spare)
    alone = len(outcome.fixed) == 1
    return left or spare or any(_is_flattened(e) or (alone and _is_of_another_axis(e, inputs)) for e in guess.edits)


def _is_of_another_axis(edit: Edit, inputs: Inputs) -> bool:
    """Whether an axis gets a size that a value has beside the one that it had: the axes are rather mixed up."""
    pairs = [(one, other) for one, other in zip(edit.before or (), edit.shape or ()) if one != other]
    if len(pairs) != 1 or not all(isinstance(each, int) and each > 1 for each in pairs[0]):
        return False
    shapes = (shape_of(value, inputs.known) for node in inputs.graph.nodes for value in node.outputs)
    return any(set(pairs[0]) <= set(shape) for shape in shapes if shape is not None)


def _is_flattened(edit: Edit) -> bool:
    """Whether a size becomes the product of two."""
    before, after = edit.before or (), edit.shape or ()
    sizes = {each for each in before if isinstance(each, int) and each > 1}
    pairs = zip(before, after) if len(before) == len(after) else ()
    return any(
        isinstance(one, int) and isinstance(other, int) and one > 1 and other % one == 0 and other // one in sizes
        for one, other in pairs
    )


def _resizes_input(guess: Guess) -> bool:
    return any(edit.kind == "declaration" and edit.shape is not None for edit in guess.edits)


def _strands(guess: Guess, inputs: Inputs) -> bool:
    """Whether edits take a value from its only user: one that was connected by mistake has its own users still."""
    connected = {edit.value for edit in guess.edits if edit.kind == "input"}
    for edit in guess.edits if guess.within is None else ():
        node, value = inputs.edited(edit)
        if edit.kind != "input" or edit.swaps or value is None or value.name in connected:
            continue
        elsewhere = node is not None and node.inputs.count(value) > 1
        kept = elsewhere or value in inputs.graph.undefined or value in inputs.graph.outputs
        if not kept and all(each is node for each in inputs.users.get(value, ())):
            return True
    return False


def _undoes(edit: Edit) -> bool:
    """Whether an edit keeps the axes of a Transpose in their order, for which no model has one."""
    return edit.kind == "attribute" and edit.op == TRANSPOSE and list(edit.value) == list(range(len(edit.value)))
