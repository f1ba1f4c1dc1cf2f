"""Candidates that declare inputs of the model with other sizes or axes. Sizes are solved from requirements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count, islice, takewhile
from math import gcd

from irlint.contracts.simplified import simplified, without_common_factors
from irlint.contracts.sizes import ALL, Sizes, met, solved
from irlint.dims import Dim, Expr, MaybeDim, Shape, TooComplex, evaluated, symbols
from irlint.findings.edits import Edit
from irlint.findings.statements import Relation, Requirement
from irlint.fixes.arrangements import OF_AXES
from irlint.fixes.candidate import Candidate
from irlint.fixes.conditions import LONG, without_broadcasts_of_one
from irlint.fixes.editor import Editor
from irlint.fixes.other_values import LAST_RESORT, POSSIBLE, PROBABLE, SPATIAL, layouts, neighbors
from irlint.fixes.rechecking import Outcome, Rechecked
from irlint.fixes.trials import Trials
from irlint.inference.answers import Answer
from irlint.inference.consequences import DECLARED
from irlint.inference.known import Known
from irlint.inference.origins import FRESH, Makers, shape_of, sources
from irlint.inference.walk import inferred
from irlint.model import Node, Problem, Value
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.ops.shared.operands import MATMUL_MISMATCH, OPERAND_SHAPE
from irlint.ops.shared.windows import WINDOW_EXCEEDS_INPUT
from irlint.records import record, replaced

#: At most this many inputs are resized.
INPUTS = 3

#: At most this many sizes are tested if a requirement cannot be solved.
TESTED = 1024

#: In each direction, at most this many allowed sizes are tried.
TRIED = 4

#: After the first size that fits, at most this many further sizes are tried. If all fit, the first size is a bound.
NEIGHBORS = 32

#: An input with at least this many axes is taken for an image, whose spatial sizes change together.
IMAGE = 4

#: An image has at most this many channels. A larger axis 1 is a spatial axis, or has the channels of features.
CHANNELS = 4

#: Inputs of the model are redeclared first if one of this many nodes, the nearest to the faulty one, takes them.
NEAR = 8

#: The longest path (in nodes) from a clashing size back to its origin.
REACH = 600

#: A model is inferred again at most this often.
MOST_TRIALS = 8


class SizeTrials:
    """Tries declared sizes for problems in bodies. It has the methods of ``Trials`` that ``resized`` calls.

    The complete model is inferred again.
    """

    def __init__(self, known: Known, rechecked: Rechecked) -> None:
        graph = known.model.graph
        self.known = known
        self.rechecked = rechecked
        self.inputs = [value for value in graph.inputs if value not in graph.constants] if graph is not None else []
        self.questions_left = MOST_TRIALS

    def answer_after(self, edits: Sequence[Edit], node: Node) -> tuple[Answer, list[Requirement]] | None:
        """(answer of a node in a body, requirements of other nodes); None if the node fails or no trials are left."""
        shapes = {edit.name: edit.shape for edit in edits if edit.shape is not None}
        self.questions_left -= 1
        if self.questions_left < 0:
            return None
        try:
            known = inferred(self.known.model, {**self.rechecked.shapes, **shapes})
        except (TooComplex, ValueError):
            return None
        own = tuple(each.requirement for each in known.requires if each.node is node)
        if node in known.faulted or not own:
            return None
        outputs = tuple(known.types.get(value) if value is not None else None for value in node.outputs)
        return Answer(outputs, (), own), [each.requirement for each in known.requires if each.node is not node]

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits that fix a problem; None as in ``Rechecked.outcome``."""
        return self.rechecked.outcome(edits, problem)


def resized(
    problem: Problem, clashing: Sequence[tuple[Value, int]], editor: Editor, trials: Trials | SizeTrials
) -> Iterator[Candidate]:
    """Declares other sizes for the inputs of the model from which clashing sizes come.

    First several axes change in proportion, then single axes. Last, the batch axis changes in all inputs with its size,
    and another axis of ids or a mask in all inputs of the same shape.
    """
    known, makers, node = editor.known, editor.makers, problem.node
    axes: dict[Value, dict[int, None]] = {}
    for value, axis in clashing:
        for given, at in sources(value, axis, makers, REACH):
            shape = shape_of(given, known)
            if node is None or makers.is_constant(given):
                continue
            if given in node.inputs and not (
                _may_be_resized(given, problem, makers, trials) or _clashes_only_with_constants(given, clashing, makers)
            ):
                continue
            if shape is not None and isinstance(shape[at], int) and shape[at] != 0:
                axes.setdefault(given, {})[at] = None
    for given, found in list(axes.items())[:INPUTS]:
        is_direct = node is not None and given in node.inputs
        shape = shape_of(given, known) or ()
        for at, together in enumerate(_axes_to_resize(shape, tuple(sorted(found)))):
            grade = POSSIBLE if at or is_direct else PROBABLE
            grade = LAST_RESORT if _is_oblong(shape, together) else grade
            yield from _with_fitting_sizes(problem, [given], together, editor, trials, grade=grade, sure=not is_direct)
    shapes = {given: shape_of(given, known) or () for given in trials.inputs if axes}
    ids = {given for given in axes if isinstance(each := known.types.get(given), Tensor) and each.dtype in INTEGERS}
    resizable = [
        (at, given) for given, found in axes.items() if given in shapes for at in found if not at or given in ids
    ]
    for at, shape in dict.fromkeys((at, shapes[given]) for at, given in resizable):
        several = [each for each, other in shapes.items() if (other[:1] == shape[:1] if at == 0 else other == shape)]
        if len(several) > 1:
            yield from _with_fitting_sizes(problem, several, (at,), editor, trials, grade=PROBABLE, sure=True)


def with_other_axes(problem: Problem, node: Node, editor: Editor) -> Iterator[Candidate]:
    """Declares other axes for inputs of the model: no axis of size 1, a new batch axis, or another order of axes.

    Inputs near the node come first.
    """
    known, found = editor.known, dict[Value, None]()
    for each in islice(nodes_before(node, editor.makers), NEAR):
        found.update(dict.fromkeys(value for value in each.inputs if value in editor.graph.inputs))
    farther = [value for value in editor.graph.inputs if value not in found and not problem.is_error]
    for value in (*list(found)[:INPUTS], *farther[:INPUTS]):
        shape = shape_of(value, known) if value is not None and not editor.makers.is_constant(value) else None
        if value is None or not shape or not isinstance(value.type, Tensor):
            continue
        is_direct = value in node.inputs and problem.is_error
        is_direct = is_direct and problem.fault.rule not in (MATMUL_MISMATCH, OPERAND_SHAPE)
        count = int(value in node.inputs)
        # A window may exceed the channels of an image. Channels on the last axis may lack a Transpose instead.
        is_between = problem.fault.rule is WINDOW_EXCEEDS_INPUT and isinstance(shape[-1], Expr)
        for other in dict.fromkeys(_other_shapes(shape, dynamic=is_between or not problem.is_error)):
            yield Candidate(
                (editor.declared(value, other),), PROBABLE if is_direct else POSSIBLE, evidence=count, subject=value
            )
        for other in _with_one_more_axis(shape, node, editor) if is_direct and problem.fault.rule in OF_AXES else ():
            yield Candidate((editor.declared(value, other),), POSSIBLE, evidence=count, subject=value)


def nodes_before(node: Node, makers: Makers) -> Iterator[Node]:
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


def _other_shapes(shape: Shape, *, dynamic: bool) -> Iterator[Shape]:
    for axis, dim in enumerate(shape):
        if dim == 1 and len(shape) > 1:
            yield (*shape[:axis], *shape[axis + 1 :])
    if all(isinstance(dim, int) and dim > 1 for dim in shape):
        yield (1, *shape)
    for perm in dict.fromkeys((*layouts(len(shape)), *neighbors(len(shape)))) if len(shape) >= IMAGE else ():
        other = tuple(shape[axis] for axis in perm)
        is_layout = dynamic and perm in layouts(len(shape)) and any(isinstance(dim, int) for dim in shape[1:])
        if other != shape and perm[0] == 0 and (is_layout or all(isinstance(dim, int) for dim in shape)):
            yield other


def _with_one_more_axis(shape: Shape, node: Node, editor: Editor) -> Iterator[Shape]:
    """The shape with one more axis. Its size is a size of an input of the node."""
    shapes = (shape_of(value, editor.known) for value in node.inputs)
    sizes = dict.fromkeys(dim for each in shapes for dim in each or () if isinstance(dim, int))
    others = ((*shape[:axis], dim, *shape[axis:]) for dim in sizes for axis in range(len(shape) + 1))
    yield from dict.fromkeys(others) if all(isinstance(dim, int) for dim in shape) else ()


def _may_be_resized(value: Value, problem: Problem, makers: Makers, trials: Trials | SizeTrials) -> bool:
    given = problem.node.inputs if problem.node is not None else ()
    others = [each for each in given if each not in (None, value) and not makers.is_stored(each)]
    return not others or (problem.fault.rule is BROADCAST_MISMATCH and not set(others) & set(trials.inputs))


def _clashes_only_with_constants(value: Value, clashing: Sequence[tuple[Value, int]], makers: Makers) -> bool:
    others = [sources(each, axis, makers, REACH) for each, axis in clashing if each is not value]
    return bool(others) and all(found and all(makers.is_constant(each) for each, _ in found) for found in others)


def _axes_to_resize(shape: Shape, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The sets of axes to change together: first all axes longer than 1, then the spatial axes, then single axes."""
    is_image = len(shape) >= IMAGE
    long = tuple(axis for axis in axes if shape[axis] != 1) or axes
    if is_image:
        long = tuple(
            at for at, dim in enumerate(shape) if at in long or (dim != 1 and dim in [shape[each] for each in long])
        )
    spatial = tuple(axis for axis in long if axis > 1) if is_image else ()
    single = [(axis,) for axis in axes if axis != 1 or not is_image or _exceeds(shape[1], CHANNELS)]
    return [each for each in dict.fromkeys((long, spatial, *single)) if each]


def _exceeds(size: MaybeDim, limit: int) -> bool:
    return isinstance(size, int) and size > limit


def _is_oblong(shape: Shape, axes: tuple[int, ...]) -> bool:
    """Whether only some of the equal spatial sizes of an image change, so that the image becomes oblong."""
    spatial = range(2, len(shape)) if len(shape) >= IMAGE else ()
    return any(at in axes for at in spatial) and any(shape[at] == shape[axes[-1]] for at in spatial if at not in axes)


def _with_fitting_sizes(
    problem: Problem,
    given: Sequence[Value],
    axes: tuple[int, ...],
    editor: Editor,
    trials: Trials | SizeTrials,
    *,
    grade: int,
    sure: bool,
) -> Iterator[Candidate]:
    """Declares other sizes on ``axes`` of the inputs ``given``, which have the same sizes on these axes.

    The symbol FRESH stands for the new size. If several sizes change in proportion, FRESH is their common factor.
    """
    node, shape = problem.node, shape_of(given[0], trials.known)
    assert node is not None
    assert shape is not None
    sizes = [dim for axis in axes if isinstance(dim := shape[axis], int)]
    common = gcd(*sizes)

    def edits(part: Dim) -> tuple[Edit, ...]:
        new = [size // common * part for size in sizes]
        shapes = [(value, shape_of(value, trials.known) or ()) for value in given]
        return tuple(editor.declared(value, _with_sizes(each, axes, new)) for value, each in shapes)

    answered = trials.answer_after(edits(FRESH), node)
    if answered is None:
        return
    answer, demands = answered
    required: list[tuple[Relation, ...]] = []
    if problem.fault.rule.family == DECLARED:
        required = _declared_requirements(problem, answer.outputs or ())
    elif answer.outputs is not None:
        required = [without_broadcasts_of_one(requirement.any_of) for requirement in answer.requirements]

    @cache
    def fits(part: int) -> bool:
        return trials.outcome(edits(part), problem) is not None

    similar = _sizes_of_similar_inputs(given[0], axes[0], trials) if len(axes) == 1 else []
    allowed = _allowed((*required, *(requirement.any_of for requirement in demands)))
    if allowed is None or common in allowed:
        return
    preferred = dict.fromkeys((*similar, *(_other_sizes(shape, axes[0]) if len(axes) == 1 else ())))
    fitting = [part for part in preferred if part in allowed and fits(part)]
    for part in fitting:
        yield Candidate(edits(part), grade, evidence=similar.count(part), subject=(*given, *axes), sure=sure)
    for step in () if set(fitting) & set(similar) else (-1, 1):
        first = next(filter(fits, islice(allowed.beyond(common, step), TRIED)), None)
        if first is not None:
            near = list(islice(takewhile(allowed.__contains__, count(first + step, step)), NEIGHBORS))
            # If the first size is the roundest, one more size is enough: it shows whether other sizes fit.
            others = list(takewhile(fits, near[:1] if first == _roundest(first, *near) else near))
            is_bound = step < 0 and (len(others) == NEIGHBORS or (others[-1:] or [first]) == [1])
            roundest = first if is_bound else _roundest(first, *others)
            if roundest not in fitting:
                is_pixel = len(shape) >= IMAGE and min(axes) >= SPATIAL and roundest * max(sizes) == common
                likely = LAST_RESORT if is_pixel else grade
                yield Candidate(edits(roundest), likely, subject=(*given, *axes), sure=not others and sure)


def _other_sizes(shape: Shape, axis: int) -> list[int]:
    """The sizes of the other spatial axes of an image."""
    spatial = range(SPATIAL, len(shape)) if len(shape) >= IMAGE and axis >= SPATIAL else ()
    return [dim for at in spatial if at != axis and isinstance(dim := shape[at], int)]


def _sizes_of_similar_inputs(value: Value, axis: int, trials: Trials | SizeTrials) -> list[int]:
    """The sizes that other inputs of the model have on an axis. On all other axes, both inputs have equal sizes.

    Two dynamic sizes count as equal.
    """
    shapes = [_numbers(shape_of(each, trials.known) or ()) for each in trials.inputs if each is not value]
    own = _numbers(shape_of(value, trials.known) or ())
    fitting = [each for each in shapes if len(each) == len(own)]
    sizes = [each[axis] for each in fitting if [*each[:axis], *each[axis + 1 :]] == [*own[:axis], *own[axis + 1 :]]]
    return [each for each in sizes if each is not None]


def _numbers(shape: Shape) -> list[int | None]:
    return [dim if isinstance(dim, int) else None for dim in shape]


def _with_sizes(shape: Shape, axes: Sequence[int], sizes: Sequence[Dim]) -> Shape:
    found = dict(zip(axes, sizes))
    return tuple(found.get(axis, dim) for axis, dim in enumerate(shape))


def _declared_requirements(problem: Problem, outputs: Sequence[object]) -> list[tuple[Relation, ...]]:
    """The requirements that each size of the output equals the declared size."""
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
    """The sizes that satisfy all requirements."""

    sizes: Sizes
    #: The requirements that cannot be solved. Of each requirement, one relation must hold.
    unsolved: tuple[Sequence[Relation], ...] = ()

    def __contains__(self, size: int) -> bool:
        return size in self.sizes and self._holds(size)

    def beyond(self, size: int, step: int) -> Iterator[int]:
        """The allowed sizes above ``size`` (``step`` 1) or below it (-1), the nearest first."""
        found = self.sizes.beyond(size, step)
        return filter(self._holds, islice(found, TESTED)) if self.unsolved else found

    def _holds(self, size: int) -> bool:
        return all(any(_holds(each, size) for each in relations) for relations in self.unsolved)


def _allowed(demands: Iterable[Sequence[Relation]]) -> Allowed | None:
    """The allowed new sizes; None if every requirement names other symbols than the new size."""
    new = symbols(FRESH)
    of_one = [each for each in (_about(new, relations) for relations in demands) if each]
    allowed = Allowed(ALL)
    for relations in of_one:
        sizes = solved([simplified(each) for each in relations]) if _is_short(relations) else None
        both = met(allowed.sizes, sizes) if sizes is not None else None
        if both is None:
            allowed = replaced(allowed, unsolved=(*allowed.unsolved, relations))
        else:
            allowed = replaced(allowed, sizes=both)
    return allowed if of_one else None


def _about(new: frozenset[str], relations: Sequence[Relation]) -> Sequence[Relation]:
    """The relations, without common factors if they then name no other symbols than ``new``; () if they always do."""
    named = frozenset(name for each in relations for name in _names(each))
    if named == new or not new < named:
        return relations if named == new else ()
    divided = [without_common_factors(each) for each in relations]
    return divided if all(_names(each) == new for each in divided) else ()


def _is_short(relations: Sequence[Relation]) -> bool:
    return sum(len(str(each)) for each in relations) <= LONG


def _holds(relation: Relation, number: int) -> bool:
    """Whether a relation holds for this number as the new size."""
    sizes = dict.fromkeys(symbols(FRESH), number)
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
