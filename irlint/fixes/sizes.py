"""Guesses that resize an input of the model: the sizes for which a problem disappears are solved from the requirements,
not tried at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice, takewhile
from math import gcd

from irlint.checks.frozen import NO_SIZES_FIT
from irlint.contracts.fixed import ends_sizes, fixes_products, units
from irlint.contracts.simplified import decided, simplified, without_common_factors
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.dims import Dim, Expr, MaybeDim, Shape, TooComplex, evaluated, symbol, symbols
from irlint.findings.edits import Edit
from irlint.findings.statements import Relation, Requirement
from irlint.fixes.arrangements import OF_AXES
from irlint.fixes.conditions import is_met
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inferred_again import WholeTrials
from irlint.fixes.other_values import GUESS, LAST, SELDOM, USUAL, layouts, neighbors
from irlint.fixes.outcomes import DECLARED, Outcome
from irlint.fixes.trials import Trials
from irlint.inference.known import Known
from irlint.inference.origins import Makers, shape_of, sources
from irlint.model import Graph, Node, Problem, Value
from irlint.model.tensor import Tensor
from irlint.ops.math.linear import MATMUL_MISMATCH, OPERAND_SHAPE
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.records import record, replaced

#: The symbol of the unknown size; for several sizes in proportion, their common factor.
WANTED = symbol("a fed size", 1)

#: At most this many inputs are resized, and at most this many nearby sizes are tested if a requirement cannot be
#: solved.
INPUTS = 3
FAR = 1024

#: In each direction, at most this many allowed sizes are tried, and at most this many neighbors of the first that fits.
#: If that many fit, the first one is a bound.
TRIED = 4
NEIGHBORS = 8

#: A requirement that fewer sizes than this satisfy is taken for a fault of the model.
FEW = 6

#: Conditions of more characters than this are not solved.
LONG = 240

#: An input with this many axes is taken for an image, whose spatial sizes change together.
IMAGE = 4

#: An input of the model may be redeclared for a node if at most this many nodes lie between them.
NEAR = 8

#: An input may lack its first axis if at most this many nodes lie between it and a node.
FARTHER = 32

#: The longest path (in nodes) back to an input.
REACH = 600


def leaves_sizes(requirement: Requirement) -> bool:
    """Whether a requirement leaves more than ``FEW`` sizes. A requirement on several sizes is taken to leave enough,
    unless it fixes a product."""
    if not is_met(requirement.any_of):
        return False
    if len(requirement.condition) > LONG:
        return True
    relations = [simplified(without_common_factors(each)) for each in requirement.any_of]
    relations = [each for each in relations if decided(each) is not False]
    if not relations:
        return False
    names = {name for each in relations for name in (*symbols(each.left), *symbols(each.right))}
    if len(names) > 1:
        wide = _without_one(tuple(relations))
        return not fixes_products(wide) or any(_leave_sizes(units(each)) for each in wide)
    return _leaves(relations) if names else any(decided(each) for each in relations)


def leaves_unmet(problem: Problem, outcome: Outcome, known: Known) -> bool:
    """Whether another node than that of a contradiction still has a requirement that no usual sizes meet."""
    others = (each for each in known.requires if each.node is not problem.node and not each.graph)
    kept = (each for each in others if not any(value in outcome.types for value in each.node.inputs))
    return problem.fault.rule is NO_SIZES_FIT and any(not is_met(each.requirement.any_of) for each in kept)


def _leave_sizes(factors: Sequence[Relation]) -> bool:
    """Whether there are factors, of one symbol each, and every one leaves more than ``FEW`` sizes."""
    alone = all(len(symbols(each.left)) == 1 for each in factors)
    return bool(factors) and alone and all(_leaves([each], of_a_factor=True) for each in factors)


def _leaves(relations: Sequence[Relation], *, of_a_factor: bool = False) -> bool:
    """Whether relations on one symbol leave more than ``FEW`` sizes, and are no equality that ends them, except for one
    factor of a product; True if they cannot be solved."""
    sizes = solved(relations)
    if sizes is None or sizes.greatest is None:
        return True
    return not (sizes.is_empty or sizes.few(FEW) or (ends_sizes(tuple(relations)) and not of_a_factor))


def resized(
    problem: Problem, clashing: Sequence[tuple[Value, int]], guesses: Guesses, trials: Trials | WholeTrials
) -> Iterator[Guess]:
    """Other sizes of the inputs from which the clashing sizes come. For each input: all its axes in proportion, then
    each axis; then the first axis of all inputs that share its size."""
    known, makers, node = guesses.known, guesses.makers, problem.node
    axes: dict[Value, dict[int, None]] = {}
    for value, axis in clashing:
        for given, at in sources(value, axis, makers, REACH):
            shape = shape_of(given, known)
            if node is None or makers.is_constant(given):
                continue
            if given in node.inputs and not (
                _may_be_wrong(given, problem, makers, trials) or _meets_stored_sizes(given, clashing, makers)
            ):
                continue
            if shape is not None and isinstance(shape[at], int) and shape[at] != 0:
                axes.setdefault(given, {})[at] = None
    for given, every in list(axes.items())[:INPUTS] if node is not None else ():
        is_direct = node is not None and given in node.inputs
        for at, some in enumerate(_together(shape_of(given, known) or (), tuple(sorted(every)))):
            yield from _fed(
                problem,
                [given],
                some,
                guesses,
                trials,
                likely=LAST if _is_oblong(shape_of(given, known) or (), some) else GUESS if at or is_direct else SELDOM,
                sure=not is_direct,
            )
    for size in dict.fromkeys((shape_of(given, known) or (None,))[0] for given, every in axes.items() if 0 in every):
        batch = [given for given in trials.inputs if (shape_of(given, known) or (None,))[0] == size]
        if len(batch) > 1:
            yield from _fed(problem, batch, (0,), guesses, trials, likely=SELDOM, sure=True)


def declared_otherwise(problem: Problem, node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Redeclares inputs of the model that reach a node: without an axis of size 1, with a batch axis, or an image with
    its axes in another order."""
    known, found = guesses.known, dict[Value, None]()
    for each in islice(_before(node, guesses.makers), NEAR):
        found.update(dict.fromkeys(value for value in each.inputs if value in guesses.graph.inputs))
    for value in list(found)[:INPUTS]:
        shape = shape_of(value, known) if value is not None and not guesses.makers.is_constant(value) else None
        if value is None or not shape or not isinstance(value.type, Tensor):
            continue
        direct = value in node.inputs and problem.fault.rule not in (MATMUL_MISMATCH, OPERAND_SHAPE)
        count = int(value in node.inputs)
        for other in dict.fromkeys(_otherwise(shape)):
            yield Guess((guesses.declared(value, other),), SELDOM if direct else GUESS, count=count, about=value)
        for other in _with_one_more(shape, node, guesses) if direct and problem.fault.rule in OF_AXES else ():
            yield Guess((guesses.declared(value, other),), GUESS, count=count, about=value)


def declared_in_order(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Declares an input of the model on which a node depends with its axes in the order that several other inputs of
    the same sizes have."""
    shapes = {value: shape_of(value, guesses.known) or () for value in guesses.graph.inputs}
    before = {value for each in _before(node, guesses.makers) for value in each.inputs}
    for value in (each for each in shapes if each in before and each not in guesses.known.overridden):
        alike = [each for other, each in shapes.items() if other is not value and _are_permuted(each, shapes[value])]
        if len(set(alike)) == 1 < len(alike) and alike[0] != shapes[value]:
            yield Guess((guesses.declared(value, alike[0]),), USUAL, count=len(alike), about=value)


def _are_permuted(one: Shape, other: Shape) -> bool:
    """Whether two shapes have the same sizes, some of them named, in any order."""
    named = any(isinstance(dim, Expr) for dim in one)
    return named and len(one) > 1 and sorted(map(str, one)) == sorted(map(str, other))


def declared_as_sibling(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Declares an input of the model on which a node depends with the shape of another input, if that has the same
    sizes and one axis more or fewer; or with the dynamic batch axis that outputs have and no input has."""
    inputs = [value for value in guesses.graph.inputs if value not in guesses.known.overridden]
    shapes = {value: shape for value in inputs if (shape := shape_of(value, guesses.known)) is not None}
    before = {value for each in _before(node, guesses.makers) for value in each.inputs}
    for value in (each for each in shapes if each in before):
        others = (shape for each, shape in shapes.items() if each is not value)
        for other in dict.fromkeys(each for each in others if _is_one_axis_apart(shapes[value], each)):
            yield Guess((guesses.declared(value, other),), USUAL, count=1, about=value)
        for batch in _lost_batch(guesses.graph, shapes.values()):
            yield Guess((guesses.declared(value, (batch, *shapes[value])),), USUAL, count=1, about=value)


def _lost_batch(graph: Graph, given: Iterable[Shape]) -> Iterator[Expr]:
    """The dynamic size of the first axis of all outputs, if no input has a dynamic first axis of its name."""
    declared = [each.type.shape or () for each in graph.outputs if isinstance(each.type, Tensor)]
    firsts = {shape[0] if shape else None for shape in declared}
    sizes = {dim for shape in given for dim in shape}
    yield from (each for each in firsts if len(firsts) == 1 and isinstance(each, Expr) and each not in sizes)


def _is_one_axis_apart(one: Shape, other: Shape) -> bool:
    """Whether one of two shapes of at least two named or long axes is the other without one axis."""
    short, long = sorted((one, other), key=len)
    without = [(*long[:axis], *long[axis + 1 :]) for axis in range(len(long))]
    named = [dim for dim in short if dim not in (1, None)]
    return len(short) + 1 == len(long) and len(named) > 1 and short in without


def batched(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Redeclares inputs of the model that reach a node with one more axis at the front: that of another input with more
    axes."""
    known, inputs = guesses.known, [value for value in guesses.graph.inputs if value not in guesses.graph.constants]
    shapes = {value: shape_of(value, known) or () for value in inputs}
    near = {value for each in islice(_before(node, guesses.makers), FARTHER) for value in each.inputs}
    for value, shape in shapes.items():
        firsts = dict.fromkeys(
            each[0] for other, each in shapes.items() if other is not value and len(each) > len(shape)
        )
        for first in firsts if value in near and shape else ():
            yield Guess((guesses.declared(value, (first, *shape)),), GUESS, about=value)


def _before(node: Node, makers: Makers) -> Iterator[Node]:
    """A node and the nodes before it, the nearest first."""
    found = {node: None}
    waiting = [node]
    for each in waiting:
        yield each
        for value in each.inputs:
            maker = makers.of(value) if value is not None else None
            if maker is not None and maker.node is not None and maker.node not in found:
                found[maker.node] = None
                waiting.append(maker.node)


def _otherwise(shape: Shape) -> Iterator[Shape]:
    """Other shapes with the same elements."""
    for axis, dim in enumerate(shape):
        if dim == 1 and len(shape) > 1:
            yield (*shape[:axis], *shape[axis + 1 :])
    if all(isinstance(dim, int) and dim > 1 for dim in shape):
        yield (1, *shape)
    for perm in dict.fromkeys((*layouts(len(shape)), *neighbors(len(shape)))) if len(shape) >= IMAGE else ():
        other = tuple(shape[axis] for axis in perm)
        if other != shape and perm[0] == 0 and all(isinstance(dim, int) for dim in shape):
            yield other


def _with_one_more(shape: Shape, node: Node, guesses: Guesses) -> Iterator[Shape]:
    """The shape with one more axis, of a size that an input of the node has."""
    shapes = (shape_of(value, guesses.known) for value in node.inputs)
    sizes = dict.fromkeys(dim for each in shapes for dim in each or () if isinstance(dim, int))
    others = ((*shape[:axis], dim, *shape[axis:]) for dim in sizes for axis in range(len(shape) + 1))
    yield from dict.fromkeys(others) if all(isinstance(dim, int) for dim in shape) else ()


def _may_be_wrong(value: Value, problem: Problem, makers: Makers, trials: Trials | WholeTrials) -> bool:
    """Whether an input of the model that a node takes directly is resized: if its sizes meet only constants, or are
    broadcast with computed sizes. Of two inputs of the model, either may be wrong."""
    given = problem.node.inputs if problem.node is not None else ()
    others = [each for each in given if each not in (None, value) and not makers.is_constant(each)]
    return not others or (problem.fault.rule is BROADCAST_MISMATCH and not set(others) & set(trials.inputs))


def _meets_stored_sizes(value: Value, clashing: Sequence[tuple[Value, int]], makers: Makers) -> bool:
    """Whether all sizes that clash with those of a value come from constants, such as a table."""
    others = [sources(each, axis, makers, REACH) for each, axis in clashing if each is not value]
    return bool(others) and all(found and all(makers.is_constant(each) for each, _ in found) for found in others)


def _together(shape: Shape, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The sets of axes to change together, the likely ones first: the axes longer than 1, then the spatial axes, then
    single axes. In an image, an axis of the same length as one of them is added."""
    is_image = len(shape) >= IMAGE
    long = tuple(axis for axis in axes if shape[axis] != 1) or axes
    if is_image:
        long = tuple(
            at for at, dim in enumerate(shape) if at in long or (dim != 1 and dim in [shape[each] for each in long])
        )
    spatial = tuple(axis for axis in long if axis > 1) if is_image else ()
    single = [(axis,) for axis in axes if axis != 1 or not is_image]
    return [each for each in dict.fromkeys((long, spatial, *single)) if each]


def _is_oblong(shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether other sizes of these axes make a square image oblong."""
    spatial = range(2, len(shape)) if len(shape) >= IMAGE else ()
    return any(at in axes for at in spatial) and any(shape[at] == shape[axes[-1]] for at in spatial if at not in axes)


def _fed(
    problem: Problem,
    given: Sequence[Value],
    axes: tuple[int, ...],
    guesses: Guesses,
    trials: Trials | WholeTrials,
    *,
    likely: int,
    sure: bool,
) -> Iterator[Guess]:
    """Guesses that resize ``axes`` of the given inputs, which all have the same sizes there."""
    node, shape = problem.node, shape_of(given[0], trials.known)
    assert node is not None
    assert shape is not None
    sizes = [dim for axis in axes if isinstance(dim := shape[axis], int)]
    common = gcd(*sizes)

    def edits(part: Dim) -> tuple[Edit, ...]:
        new = [size // common * part for size in sizes]
        shapes = [(value, shape_of(value, trials.known) or ()) for value in given]
        return tuple(guesses.declared(value, _with(each, axes, new)) for value, each in shapes)

    carried = trials.carried(edits(WANTED), node)
    if carried is None:
        return
    answer, demands = carried
    if problem.fault.rule.family == DECLARED:
        wanted = _as_declared(problem, answer.outputs or ())
    else:
        wanted = [_without_one(each.any_of) for each in answer.requirements] if answer.outputs is not None else []

    def fits(part: int) -> bool:
        return trials.outcome(edits(part), problem) is not None

    alike = _at_inputs_alike(given[0], axes[0], trials) if len(axes) == 1 else set()
    allowed = _allowed((*wanted, *(each.any_of for each in demands)))
    if allowed is None or common in allowed:
        return
    for step in (-1, 1):
        first = next(filter(fits, islice(allowed.beyond(common, step), TRIED)), None)
        if first is not None:
            beside = takewhile(lambda part: part in allowed and fits(part), count(first + step, step))
            others = list(islice(beside, NEIGHBORS))
            is_bound = step < 0 and len(others) == NEIGHBORS
            usual = first if is_bound else _roundest(first, *others)
            part = next((each for each in (first, *others) if each in alike), usual)
            yield Guess(edits(part), likely, about=(*given, *axes), sure=not others and sure)


def _at_inputs_alike(value: Value, axis: int, trials: Trials | WholeTrials) -> set[object]:
    """The sizes that other inputs of the model have on an axis, if they otherwise have the same shape."""
    shapes = [list(shape_of(each, trials.known) or ()) for each in trials.inputs if each is not value]
    own = list(shape_of(value, trials.known) or ())
    fitting = (each for each in shapes if len(each) == len(own))
    return {each[axis] for each in fitting if [*each[:axis], *each[axis + 1 :]] == [*own[:axis], *own[axis + 1 :]]}


def _without_one(relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The alternatives of a requirement without those that broadcast a size of 1."""
    return tuple(each for each in relations if each.right != 1) or relations


def _with(shape: Shape, axes: Sequence[int], sizes: Sequence[Dim]) -> Shape:
    found = dict(zip(axes, sizes))
    return tuple(found.get(axis, dim) for axis, dim in enumerate(shape))


def _as_declared(problem: Problem, outputs: Sequence[object]) -> list[tuple[Relation, ...]]:
    """The requirement that the output has the declared sizes."""
    assert problem.node is not None
    for value, given in zip(problem.node.outputs, outputs):
        declared = value.type if value is not None and value.name == problem.value else None
        if not isinstance(given, Tensor) or not isinstance(declared, Tensor):
            continue
        pairs: Iterable[tuple[MaybeDim, MaybeDim]] = zip(given.shape or (), declared.shape or ())
        return [
            (Relation("==", one, other),)
            for one, other in pairs
            if one is not None and isinstance(other, int) and one != other
        ]
    return []


@record
class Allowed:
    """The sizes that satisfy all requirements. They are in ``sizes``; each entry of ``unsolved`` lists alternative
    relations, of which one must hold for the size."""

    sizes: Sizes
    unsolved: tuple[Sequence[Relation], ...] = ()

    def __contains__(self, size: int) -> bool:
        return size in self.sizes and self._holds(size)

    def beyond(self, size: int, step: int) -> Iterator[int]:
        """The allowed sizes above ``size`` (``step`` 1) or below it (-1), the nearest first."""
        found = self.sizes.beyond(size, step)
        return filter(self._holds, islice(found, FAR)) if self.unsolved else found

    def _holds(self, size: int) -> bool:
        return all(any(_holds(each, size) for each in relations) for relations in self.unsolved)


def _allowed(demands: Iterable[Sequence[Relation]]) -> Allowed | None:
    """The sizes that satisfy all requirements on the wanted size alone; None if there are no such requirements."""
    of_one = [each for each in demands if {name for one in each for name in _names(one)} == symbols(WANTED)]
    allowed = Allowed(ALL)
    for relations in of_one:
        sizes = solved([simplified(each) for each in relations]) if _is_short(relations) else None
        both = met(allowed.sizes, sizes) if sizes is not None else None
        if both is None:
            allowed = replaced(allowed, unsolved=(*allowed.unsolved, relations))
        else:
            allowed = replaced(allowed, sizes=both)
    return allowed if of_one else None


def _is_short(relations: Sequence[Relation]) -> bool:
    return sum(len(str(each)) for each in relations) <= LONG


def _holds(relation: Relation, number: int) -> bool:
    """Whether a relation holds for this number as the wanted size."""
    sizes = dict.fromkeys(symbols(WANTED), number)
    try:
        left, right = evaluated(relation.left, sizes), evaluated(relation.right, sizes)
    except (TooComplex, ZeroDivisionError, RecursionError):
        return False
    return left >= right if relation.kind == ">=" else left == right


def _roundest(*numbers: int) -> int:
    """The number that can be halved most often."""
    return max(numbers, key=lambda number: number & -number)


def _names(relation: Relation) -> frozenset[str]:
    return symbols(relation.left) | symbols(relation.right)
