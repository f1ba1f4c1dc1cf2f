"""Guesses that rearrange the inputs of a faulty node: one axis more or fewer, two axes exchanged, or a list of another
length. A guess is one or several edits that may fix the node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.checks.frozen import NO_SIZES_FIT
from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.inserted import FLATTEN, SQUEEZE, TRANSPOSE, UNSQUEEZE
from irlint.fixes.other_values import GUESS, LAST, SELDOM, UNSURE, layouts, neighbors, with_an_axis
from irlint.fixes.trials import is_demand
from irlint.inference.origins import inputs_of
from irlint.lazy_typing import Any
from irlint.model import Node, Problem, Value
from irlint.model.order import downstream
from irlint.model.tensor import FLOATS, INTEGERS, Tensor, Type
from irlint.ops.layout.transposing import PERM_LENGTH
from irlint.ops.math.linear import MATMUL_MISMATCH
from irlint.ops.shared.operands import RANK_MISMATCH
from irlint.ops.signatures import FACTORS, PARTS, roles
from irlint.records import replaced

#: The rules about an input with too many or too few axes.
OF_AXES = (RANK_MISMATCH, PERM_LENGTH)

#: Two shapes that differ: the declared one, and that which the node gives.
BOTH = 2

#: At most this many orders of axes are tried.
ORDERS = 12

#: The factors by which models resize, the most usual one first.
USUAL_FACTORS = (2, 4, 3)

#: The role of an input of this name: it lists axes.
AXES = "axes"


def rearranged(problem: Problem, node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Guesses for a faulty node: a similar operator, an input with another number or order of axes, and a constant with
    more axes."""
    known = guesses.known
    yield from _confused(node, guesses)
    inputs = inputs_of(node, known)
    for port, (value, given) in enumerate(zip(node.inputs, inputs)):
        if value is None or not isinstance(given, Tensor) or given.shape is None:
            continue
        if problem.fault.rule in OF_AXES or known.format.writer == "onnx":
            yield from _inserted(problem, node, port, given, guesses)
        if problem.fault.rule in OF_AXES:
            continue
        if problem.fault.rule is MATMUL_MISMATCH and len(given.shape) > 1:
            rank = len(given.shape)
            perm = (*range(rank - 2), rank - 1, rank - 2)
            yield Guess((guesses.inserted(TRANSPOSE, node, port, (("perm", perm),)),), GUESS)
        elif (
            (problem.fault.rule.family == "broadcasting" or is_demand(problem))
            and guesses.makers.is_constant(value)
            and len(given.shape) == 1
        ):
            following = tuple(dict.fromkeys((value, *_applied_next(node, given, guesses))))
            for values in dict.fromkeys(((value,), following)):
                yield from _raised(values, given, inputs, guesses)


def _confused(node: Node, guesses: Guesses) -> Iterator[Guess]:
    call = guesses.known.calls[node]
    for other in call.operator.confused_with if call.operator is not None else ():
        edit = Edit("rename", "operator", "", node.label, node.index, node.op, other, op=node.op, layer=node.id or "")
        yield Guess((edit,), SELDOM)


def _inserted(problem: Problem, node: Node, port: int, given: Tensor, guesses: Guesses) -> Iterator[Guess]:
    """Inserts a node before an input that removes or adds an axis of size 1, or reorders the axes."""
    likely = SELDOM if problem.fault.rule in OF_AXES else GUESS
    rank = len(given.shape or ())
    if is_demand(problem):
        yield from _transposed(node, port, given, guesses)
        is_impossible = problem.fault.rule is NO_SIZES_FIT
        if is_impossible and guesses.known.format.writer == "onnx" and given.dtype in INTEGERS:
            edit = guesses.inserted(UNSQUEEZE, node, port, (("axes", (rank,)),))
            yield Guess((edit,), SELDOM, about=(node, port))
        return
    for axis, dim in enumerate(given.shape or ()):
        if dim == 1:
            given_so = node.inputs[port] in guesses.graph.inputs and problem.fault.rule not in OF_AXES
            edit = guesses.inserted(SQUEEZE, node, port, (("axes", (axis,)),))
            yield Guess((edit,), UNSURE if given_so else likely, about=(node, port))
    if guesses.known.format.writer != "onnx":
        return
    ones = tuple(axis for axis, dim in enumerate(given.shape or ()) if dim == 1 and axis)
    if len(ones) > 1:
        yield Guess((guesses.inserted(SQUEEZE, node, port, (("axes", ones),)),), likely, about=(node, port))
    if rank > 2:
        yield Guess((guesses.inserted(FLATTEN, node, port, (("axis", 1),)),), GUESS, count=1)
    ranks = [
        each.rank or 0
        for at, each in enumerate(inputs_of(node, guesses.known))
        if isinstance(each, Tensor) and at != port
    ]
    stretches = problem.fault.rule.family == "broadcasting" and rank >= max(ranks, default=0)
    for axis in range(0 if stretches else rank + 1):
        yield Guess((guesses.inserted(UNSQUEEZE, node, port, (("axes", (axis,)),)),), likely, about=(node, port))
    yield from _transposed(node, port, given, guesses)


def _transposed(node: Node, port: int, given: Tensor, guesses: Guesses) -> Iterator[Guess]:
    for perm, count in _orders(len(given.shape or ()), guesses):
        likely = LAST if guesses.moves_batch(given.shape or (), perm) else GUESS
        yield Guess((guesses.inserted(TRANSPOSE, node, port, (("perm", perm),)),), likely, count=count)


def transposed_as_declared(problem: Problem, node: Node, guesses: Guesses) -> Iterator[Guess]:
    """A Transpose before an input of a node whose output is declared with the same sizes in another order."""
    for value in node.outputs if guesses.known.format.writer == "onnx" else ():
        declared = value.type if value is not None and value.name == problem.value else None
        given = guesses.known.types.get(value) if value is not None else None
        shapes = [each.shape for each in (declared, given) if isinstance(each, Tensor) and each.shape is not None]
        sizes = {tuple(sorted(map(str, each))) for each in shapes}
        if len(set(shapes)) < BOTH or len(sizes) > 1:
            continue
        for port, known in enumerate(inputs_of(node, guesses.known)):
            if isinstance(known, Tensor) and known.rank == len(shapes[0]):
                yield from _transposed(node, port, known, guesses)


def _orders(rank: int, guesses: Guesses) -> list[tuple[tuple[int, ...], int]]:
    """Orders of axes of this rank, each with the number of nodes in the model that use it: first the orders in use,
    then conversions between layouts, then exchanges of two neighbors. At most ``ORDERS``."""
    found: dict[tuple[int, ...], int] = {}
    for node in guesses.graph.nodes:
        perm = node.attributes.get("perm")
        if perm is not None and isinstance(perm.value, (list, tuple)) and len(perm.value) == rank:
            found[tuple(perm.value)] = found.get(tuple(perm.value), 0) + 1
    for each in (*layouts(rank), *neighbors(rank)):
        found.setdefault(each, 0)
    return [(each, count) for each, count in list(found.items())[:ORDERS] if each != tuple(range(rank))]


def transposed_before(node: Node, nodes: Sequence[Node], guesses: Guesses) -> Iterator[Guess]:
    """A Transpose before one of ``nodes``, which stand before ``node``, the nearest first: one that undoes another of
    them, or that brings the channels to the front or to the end."""
    if guesses.known.format.writer != "onnx":
        return
    perms = [(one, one.attributes.get("perm")) for one in nodes if one.op == TRANSPOSE]
    undone = {
        tuple(sorted(range(len(perm.value)), key=perm.value.__getitem__)): downstream(one, guesses.graph)
        for one, perm in perms
        if perm is not None and isinstance(perm.value, (list, tuple))
    }
    for at, each in enumerate(user for user in (node, *nodes) if user.op != TRANSPOSE):
        given = inputs_of(each, guesses.known)[:1]
        shape = given[0].shape if given and isinstance(given[0], Tensor) else None
        rank = len(shape or ())
        for order in dict.fromkeys((*undone, *(layouts(rank) if at else ()))):
            is_undone = each in undone.get(order, ())
            if len(order) == rank and (is_undone or order in layouts(rank)):
                edit = guesses.inserted(TRANSPOSE, each, 0, (("perm", order),))
                yield Guess((edit,), GUESS, each, count=-at)


def transposed_constants(ends: Iterable[tuple[Value, int]], guesses: Guesses) -> Iterator[Guess]:
    """The constants from which clashing sizes come, such as tables, with their axes in another order."""
    for value in dict.fromkeys(value for value, _ in ends):
        known = guesses.known.types.get(value)
        if not isinstance(known, Tensor) or not known.shape or known.dtype not in FLOATS:
            continue
        for user in guesses.users.get(value, ()):
            for guess in guesses.transposed(value, known.shape, user, user.inputs.index(value)):
                yield replaced(guess, within=user)


def _applied_next(node: Node, given: Tensor, guesses: Guesses) -> Iterator[Value]:
    """The constants of one type that are applied one after another to the result of a node, as a mean and a standard
    deviation are."""
    waiting = [node]
    for each in waiting:
        for user in (user for value in each.outputs if value is not None for user in guesses.users.get(value, ())):
            for value, known in zip(user.inputs, inputs_of(user, guesses.known)):
                is_like = isinstance(known, Tensor) and (known.dtype, known.shape) == (given.dtype, given.shape)
                if is_like and value is not None and guesses.makers.is_constant(value) and user not in waiting:
                    waiting.append(user)
                    yield value


def _raised(values: Sequence[Value], given: Tensor, inputs: Sequence[Type | None], guesses: Guesses) -> Iterator[Guess]:
    """Reshapes lists of numbers so that they apply to an axis that is not the last: ``[C]`` becomes ``[C, 1, 1]``."""
    assert given.shape is not None
    (size,) = given.shape
    others = (
        each.shape for each in inputs if isinstance(each, Tensor) and each is not given and each.shape is not None
    )
    for rank, axis in dict.fromkeys((len(each), axis) for each in others for axis in range(len(each) - 1)):
        shape = (size, *(1,) * (rank - 1 - axis))
        edits = tuple(guesses.constant(value, shape, "shape") for value in values)
        yield Guess(edits, SELDOM, about=values[0])


# --- lists ------------------------------------------------------------------------------------------------------------


def listed(node: Node, guesses: Guesses, others: Sequence[Type | None] = ()) -> Iterator[Guess]:
    """Guesses that change a list of the node: the sizes of the parts of an axis, equal parts first, one factor for each
    axis, or a list of axes with one axis more or fewer."""
    known = guesses.known
    call, inputs = known.calls[node], inputs_of(node, known)
    if call.operator is None or call.signature is None or not inputs:
        return
    given = call.attributes or {}
    axes = {name: AXES for name in call.signature.inputs if "axes" in name}
    for name, role in {**axes, **roles(call.operator.function)}.items():
        port = call.signature.inputs.index(name) if name in call.signature.inputs else None
        value = node.inputs[port] if port is not None and port < len(node.inputs) else None
        if role == PARTS and isinstance(given.get(name), tuple):
            for sizes in _parts(given[name], inputs, others):
                even = int(len(set(sizes)) == 1)
                yield Guess((guesses.attribute(node, name, sizes, given[name]),), SELDOM, count=even)
        if value is None or role not in (AXES, PARTS, FACTORS) or not guesses.makers.is_constant(value):
            continue
        before = known.types.get(value)
        if not isinstance(before, Tensor) or before.value is None:
            continue
        for contents in _lists(role, before.value, inputs, others):
            count = int(USUAL_FACTORS[0] in contents if role == FACTORS else role == PARTS and len(set(contents)) == 1)
            yield Guess((guesses.constant(value, contents),), SELDOM, count=count, about=value)


def _lists(
    role: str, value: Sequence[Any], inputs: Sequence[Type | None], others: Sequence[Type | None]
) -> Iterable[tuple[Any, ...]]:
    """Other lists that may have been intended."""
    if role == PARTS:
        return _parts(value, inputs, others)
    rank = inputs[0].rank or 0 if isinstance(inputs[0], Tensor) else 0
    if role == FACTORS:
        return _factors(value, rank, [each.shape or () for each in (*inputs[:1], *others) if isinstance(each, Tensor)])
    return with_an_axis(tuple(value), rank)


def _parts(
    value: Sequence[Any], inputs: Sequence[Type | None], others: Sequence[Type | None]
) -> dict[tuple[int, ...], None]:
    """Other sizes for the parts of an axis. Either one part takes the rest of the axis, or two parts change and keep
    their sum."""
    found: dict[tuple[int, ...], None] = {}
    if not all(type(each) is int and each >= 0 for each in value):
        return found
    data = inputs[0]
    axes = data.shape if isinstance(data, Tensor) and data.shape is not None else ()
    for dim in axes:
        for at, each in enumerate(value):
            rest = dim - sum(value) + each if isinstance(dim, int) and dim != sum(value) else 0
            if rest > 0:
                found[(*value[:at], rest, *value[at + 1 :])] = None
    shapes = [each.shape for each in others if isinstance(each, Tensor) and each.shape is not None]
    sizes = dict.fromkeys(dim for shape in shapes for dim in shape if isinstance(dim, int) and dim > 0)
    for at, to, size in ((at, to, size) for at in range(len(value)) for to in range(len(value)) for size in sizes):
        left = value[at] + value[to] - size
        if at != to and left > 0 and size != value[at]:
            changed = list(value)
            changed[at], changed[to] = size, left
            found[tuple(changed)] = None
    return found


def _factors(value: Sequence[Any], rank: int, shapes: Sequence[Shape]) -> Iterator[tuple[Any, ...]]:
    """Other lists of factors: with a factor of 1 for each of the first axes, if the list is shorter than the rank; or
    another factor in place of all equal ones, or for one axis: 1, that of another axis, or the one that gives a size of
    the later ``shapes``, if it is an integer or one divided by an integer."""
    missing = rank - len(value)
    if missing > 0 and value:
        yield (*(type(value[0])(1),) * missing, *value)
        return
    for factor in dict.fromkeys(each for each in value if each != 1):
        for other in dict.fromkeys((*value, *(type(factor)(each) for each in USUAL_FACTORS))):
            if other not in (1, factor):
                yield tuple(other if each == factor else each for each in value)
    data, *later = shapes
    for at, factor in enumerate(value if len(value) == len(data) else ()):
        size = data[at]
        sizes = [shape[at] for shape in later if len(shape) == len(data)]
        pairs = [(each, size) for each in sizes if isinstance(each, int) and isinstance(size, int) and each and size]
        ratios = [one / other for one, other in pairs if 0 in (one % other, other % one)]
        for other in dict.fromkeys((1, *value, *ratios)):
            if other != factor:
                yield (*value[:at], type(factor)(other), *value[at + 1 :])
