"""Candidates that change the order or number of an input's axes, or the lists of axes, sizes and factors of a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from irlint.checks.frozen import NO_SIZES_FIT
from irlint.dims import Shape
from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.inserted import FLATTEN, SQUEEZE, TRANSPOSE, UNSQUEEZE
from irlint.fixes.node_edits import inverse_order
from irlint.fixes.other_values import LAST_RESORT, ONLY_SUGGESTED, POSSIBLE, PROBABLE, layouts, neighbors, with_an_axis
from irlint.fixes.trials import limits_sizes
from irlint.inference.origins import inputs_of, shape_of
from irlint.lazy_typing import Any
from irlint.model import Node, Problem, Value
from irlint.model.order import downstream, uses
from irlint.model.tensor import FLOATS, INTEGERS, Tensor, Type
from irlint.ops.shared.axes import PERM_LENGTH
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED
from irlint.ops.shared.operands import MATMUL_MISMATCH, RANK_MISMATCH
from irlint.ops.signatures import FACTORS, PARTS, roles
from irlint.records import replaced

#: The rules about an input with too many or too few axes.
OF_AXES = (RANK_MISMATCH, PERM_LENGTH)

#: At most this many orders of axes are tried.
ORDERS = 12

#: The factors by which models resize, the most frequent one first.
USUAL_FACTORS = (2, 4, 3)

#: The number of axes of a matrix.
MATRIX = 2

#: The role of an input that lists axes.
AXES = "axes"


def rearranged(problem: Problem, node: Node, editor: Editor) -> Iterator[Candidate]:
    """Candidates with a similar operator, with another number or order of an input's axes, or with a reshaped
    constant."""
    known = editor.known
    yield from _with_similar_operator(node, editor)
    inputs = inputs_of(node, known)
    for port, (value, given) in enumerate(zip(node.inputs, inputs)):
        if value is None or not isinstance(given, Tensor) or given.shape is None:
            continue
        if editor.joins_weights(node) and editor.makers.is_constant(value):
            continue
        if problem.fault.rule is INPUT_RANK_REFUSED and port == problem.fault.input:
            yield from editor.constants.without_axis(value, given)
        if problem.fault.rule in OF_AXES or known.format.writer == "onnx":
            yield from _with_inserted_node(problem, node, port, given, editor)
        if problem.fault.rule in OF_AXES:
            continue
        if problem.fault.rule is MATMUL_MISMATCH and len(given.shape) > 1:
            rank = len(given.shape)
            perm = (*range(rank - 2), rank - 1, rank - 2)
            yield Candidate((editor.inserted(TRANSPOSE, node, port, (("perm", perm),)),), POSSIBLE)
        elif (
            (problem.fault.rule.family == "broadcasting" or limits_sizes(problem))
            and editor.makers.is_constant(value)
            and len(given.shape) == 1
        ):
            following = tuple(dict.fromkeys((value, *_constants_applied_next(node, given, editor))))
            for values in dict.fromkeys(((value,), following)):
                yield from _with_trailing_axes(values, given, inputs, editor)


def _with_similar_operator(node: Node, editor: Editor) -> Iterator[Candidate]:
    call = editor.known.calls[node]
    for other in call.operator.confused_with if call.operator is not None else ():
        edit = Edit("rename", "operator", "", node.label, node.index, node.op, other, op=node.op, layer=node.id or "")
        yield Candidate((edit,), PROBABLE)


def _with_inserted_node(problem: Problem, node: Node, port: int, given: Tensor, editor: Editor) -> Iterator[Candidate]:
    """Inserts a Squeeze, Unsqueeze, Flatten or Transpose before an input."""
    grade = PROBABLE if problem.fault.rule in OF_AXES else POSSIBLE
    rank = len(given.shape or ())
    if limits_sizes(problem):
        yield from _transposed(node, port, given, editor)
        is_impossible = problem.fault.rule is NO_SIZES_FIT
        if is_impossible and editor.known.format.writer == "onnx" and given.dtype in INTEGERS:
            edit = editor.inserted(UNSQUEEZE, node, port, (("axes", (rank,)),))
            yield Candidate((edit,), PROBABLE, subject=(node, port))
        return
    if _lacks_entries_of_two_axes(problem, node, rank, editor):
        return
    for axis, dim in enumerate(given.shape or ()):
        if dim == 1:
            is_model_input = node.inputs[port] in editor.graph.inputs and problem.fault.rule not in OF_AXES
            edit = editor.inserted(SQUEEZE, node, port, (("axes", (axis,)),))
            yield Candidate((edit,), ONLY_SUGGESTED if is_model_input else grade, subject=(node, port))
    if editor.known.format.writer != "onnx":
        return
    ones = tuple(axis for axis, dim in enumerate(given.shape or ()) if dim == 1 and axis)
    if len(ones) > 1:
        yield Candidate((editor.inserted(SQUEEZE, node, port, (("axes", ones),)),), grade, subject=(node, port))
    if rank > 2:
        yield Candidate((editor.inserted(FLATTEN, node, port, (("axis", 1),)),), POSSIBLE, evidence=1)
    ranks = [
        each.rank or 0
        for at, each in enumerate(inputs_of(node, editor.known))
        if isinstance(each, Tensor) and at != port
    ]
    stretches = problem.fault.rule.family == "broadcasting" and rank >= max(ranks, default=0)
    for axis in range(0 if stretches else rank + 1):
        yield Candidate((editor.inserted(UNSQUEEZE, node, port, (("axes", (axis,)),)),), grade, subject=(node, port))
    yield from _transposed(node, port, given, editor)


def _lacks_entries_of_two_axes(problem: Problem, node: Node, rank: int, editor: Editor) -> bool:
    """Whether the input that the fault names lists all axes of a value of ``rank`` axes but two: batch and channels."""
    types, index = inputs_of(node, editor.known), problem.fault.input
    named = types[index] if index is not None and index < len(types) else None
    return isinstance(named, Tensor) and named.dtype in (*INTEGERS, "float32") and named.shape == (rank - 2,)


def _transposed(node: Node, port: int, given: Tensor, editor: Editor) -> Iterator[Candidate]:
    for perm, count in _likely_orders(len(given.shape or ()), editor):
        grade = LAST_RESORT if editor.moves_batch(given.shape or (), perm) else POSSIBLE
        yield Candidate((editor.inserted(TRANSPOSE, node, port, (("perm", perm),)),), grade, evidence=count)


def transposed_as_declared(problem: Problem, node: Node, editor: Editor) -> Iterator[Candidate]:
    """Inserts a Transpose before an input, if the output is declared with the same sizes in another order."""
    for value in node.outputs if editor.known.format.writer == "onnx" else ():
        declared = value.type if value is not None and value.name == problem.value else None
        given = editor.known.types.get(value) if value is not None else None
        shapes = [each.shape for each in (declared, given) if isinstance(each, Tensor) and each.shape is not None]
        sizes = {tuple(sorted(map(str, each))) for each in shapes}
        if len(set(shapes)) <= 1 or len(sizes) > 1:
            continue
        for port, known in enumerate(inputs_of(node, editor.known)):
            if isinstance(known, Tensor) and known.rank == len(shapes[0]):
                yield from _transposed(node, port, known, editor)


def _likely_orders(rank: int, editor: Editor) -> list[tuple[tuple[int, ...], int]]:
    """(order of axes, number of Transposes that use it): orders in use, then layouts and exchanges of neighbors."""
    found: dict[tuple[int, ...], int] = {}
    for node in editor.graph.nodes:
        perm = node.attributes.get("perm")
        if perm is not None and isinstance(perm.value, (list, tuple)) and len(perm.value) == rank:
            found[tuple(perm.value)] = found.get(tuple(perm.value), 0) + 1
    for each in (*layouts(rank), *neighbors(rank)):
        found.setdefault(each, 0)
    return [(each, count) for each, count in list(found.items())[:ORDERS] if each != tuple(range(rank))]


def transposed_before(node: Node, nodes: Sequence[Node], editor: Editor) -> Iterator[Candidate]:
    """Inserts a Transpose that undoes an earlier Transpose or changes the layout, before ``node`` or one of ``nodes``.

    ``nodes`` come before ``node``, the nearest first.
    """
    if editor.known.format.writer != "onnx":
        return
    transposes = ((inverse_order(each), each) for each in nodes if each.op == TRANSPOSE)
    undone = {order: downstream(each, editor.graph) for order, each in transposes if order}
    # A Transpose whose input only it uses can take another order of axes instead.
    for at, each in enumerate((node, *nodes)):
        first = each.inputs[0] if each.inputs else None
        users = editor.users.get(first, ()) if first is not None else ()
        places = [(each, 0)] if each.op != TRANSPOSE else uses(first, users)
        if each.op == TRANSPOSE and len(places) == 1:
            continue
        given = inputs_of(each, editor.known)[:1]
        shape = given[0].shape if given and isinstance(given[0], Tensor) else None
        rank = len(shape or ())
        for order in dict.fromkeys((*undone, *(layouts(rank) if at else ()))):
            is_undone = each in undone.get(order, ())
            if len(order) == rank and (is_undone or order in layouts(rank)):
                edits = (editor.inserted(TRANSPOSE, *use, (("perm", order),)) for use in places)
                yield Candidate(tuple(edits), POSSIBLE, each, evidence=-at)


def transposed_constants(ends: Iterable[tuple[Value, int]], node: Node, editor: Editor) -> Iterator[Candidate]:
    """The constants from which clashing sizes come, or those of all siblings, with their axes in another order."""
    for value in dict.fromkeys(value for value, _ in ends):
        known = editor.known.types.get(value)
        if not isinstance(known, Tensor) or not known.shape or known.dtype not in FLOATS:
            continue
        for user in editor.users.get(value, ()):
            for candidate in editor.transposed(value, known.shape, user, user.inputs.index(value)):
                yield replaced(candidate, node=user)
    yield from _transposed_everywhere(node, editor)


def _transposed_everywhere(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Transposes the matrices of unequal sizes that a node and its siblings take: a program stored all in this order.

    It is only suggested, as the square matrices may be transposed as well.
    """
    for port, value in enumerate(node.inputs if node in editor.known.faulted else ()):
        others = [each.inputs[port] for each in editor.siblings(node) if port < len(each.inputs)]
        shapes = {each: shape_of(each, editor.known) or () for each in (value, *others) if _is_matrix(each, editor)}
        if value in shapes and len(shapes) > 1:
            edits = [editor.constant(each, shape[::-1], "shape") for each, shape in shapes.items() if each is not None]
            yield Candidate(tuple(edits), LAST_RESORT, subject=port, sure=False)


def _is_matrix(value: Value | None, editor: Editor) -> bool:
    """Whether a value is a constant of floats with two axes of unequal sizes."""
    known = editor.known.types.get(value) if value is not None else None
    shape = known.shape or () if isinstance(known, Tensor) and known.dtype in FLOATS else ()
    return editor.makers.is_constant(value) and len(shape) == MATRIX and shape[0] != shape[1]


def _constants_applied_next(node: Node, given: Tensor, editor: Editor) -> Iterator[Value]:
    """The constants of the type ``given`` that the next nodes apply to the result, one after another. An example is a
    standard deviation after a mean."""
    waiting = [node]
    for each in waiting:
        for user in (user for value in each.outputs if value is not None for user in editor.users.get(value, ())):
            for value, known in zip(user.inputs, inputs_of(user, editor.known)):
                has_same_type = isinstance(known, Tensor) and (known.dtype, known.shape) == (given.dtype, given.shape)
                if has_same_type and value is not None and editor.makers.is_constant(value) and user not in waiting:
                    waiting.append(user)
                    yield value


def _with_trailing_axes(
    values: Sequence[Value], given: Tensor, inputs: Sequence[Type | None], editor: Editor
) -> Iterator[Candidate]:
    """Reshapes constant lists so that they apply to an axis before the last: ``[C]`` becomes ``[C, 1, 1]``."""
    assert given.shape is not None
    (size,) = given.shape
    others = (
        each.shape for each in inputs if isinstance(each, Tensor) and each is not given and each.shape is not None
    )
    for rank, axis in dict.fromkeys((len(each), axis) for each in others for axis in range(len(each) - 1)):
        shape = (size, *(1,) * (rank - 1 - axis))
        edits = tuple(editor.constant(value, shape, "shape") for value in values)
        yield Candidate(edits, PROBABLE, subject=values[0])


# --- lists ------------------------------------------------------------------------------------------------------------


def with_other_lists(node: Node, editor: Editor, others: Sequence[Type | None] = ()) -> Iterator[Candidate]:
    """Candidates with other part sizes (of Split), other factors (of Resize), or one axis more or fewer in a list.

    Equal parts that stay equal are only suggested: perhaps one part has another size.
    """
    known = editor.known
    call, inputs = known.calls[node], inputs_of(node, known)
    if call.operator is None or call.signature is None or not inputs:
        return
    given = call.attributes or {}
    axes = {name: AXES for name in call.signature.inputs if "axes" in name}
    for name, role in {**axes, **roles(call.operator.function)}.items():
        port = call.signature.inputs.index(name) if name in call.signature.inputs else None
        value = node.inputs[port] if port is not None and port < len(node.inputs) else None
        if role == PARTS and isinstance(given.get(name), tuple):
            for sizes in _other_parts(given[name], inputs, others):
                even = int(len(set(sizes)) == 1)
                edit, sure = editor.attribute(node, name, sizes, given[name]), len(set(given[name])) > even
                yield Candidate((edit,), PROBABLE, evidence=even, sure=sure)
            yield from _with_even_input(node, given[name], inputs, editor)
        if value is None or role not in (AXES, PARTS, FACTORS) or not editor.makers.is_constant(value):
            continue
        before = known.types.get(value)
        if not isinstance(before, Tensor) or before.value is None:
            continue
        for entries in _other_lists(role, before.value, inputs, others):
            count = int(USUAL_FACTORS[0] in entries if role == FACTORS else role == PARTS and len(set(entries)) == 1)
            sure = role != PARTS or len(set(before.value)) > count
            yield Candidate((editor.constant(value, entries),), PROBABLE, evidence=count, subject=value, sure=sure)
        yield from _with_even_input(node, before.value, inputs, editor) if role == PARTS else ()


def _other_lists(
    role: str, value: Sequence[Any], inputs: Sequence[Type | None], others: Sequence[Type | None]
) -> Iterable[tuple[Any, ...]]:
    if role == PARTS:
        return _other_parts(value, inputs, others)
    rank = inputs[0].rank or 0 if isinstance(inputs[0], Tensor) else 0
    if role == FACTORS:
        return _other_factors(
            value, rank, [each.shape or () for each in (*inputs[:1], *others) if isinstance(each, Tensor)]
        )
    return with_an_axis(tuple(value), rank)


def _other_parts(
    value: Sequence[Any], inputs: Sequence[Type | None], others: Sequence[Type | None]
) -> dict[tuple[int, ...], None]:
    """Other sizes for the parts of an axis: equal parts stay equal, one part gets the rest, or two parts keep their
    sum."""
    found: dict[tuple[int, ...], None] = {}
    if not all(type(each) is int and each >= 0 for each in value):
        return found
    data = inputs[0]
    axes = data.shape if isinstance(data, Tensor) and data.shape is not None else ()
    for dim in axes:
        if (part := _equal_part(dim, value)) is not None:
            found[(part,) * len(value)] = None
        for at, each in enumerate(value):
            rest = dim - sum(value) + each if isinstance(dim, int) and dim != sum(value) else 0
            if rest > 0:
                found[(*value[:at], rest, *value[at + 1 :])] = None
    shapes = [each.shape for each in others if isinstance(each, Tensor) and each.shape is not None]
    sizes = dict.fromkeys(dim for shape in shapes for dim in shape if isinstance(dim, int) and dim > 0)
    for at, to, size in ((at, to, size) for at in range(len(value)) for to in range(len(value)) for size in sizes):
        rest = value[at] + value[to] - size
        if at != to and rest > 0 and size != value[at]:
            changed = list(value)
            changed[at], changed[to] = size, rest
            found[tuple(changed)] = None
    return found


def _equal_part(dim: object, value: Sequence[Any]) -> int | None:
    """The size of each part of an axis of size ``dim``, if the sizes in ``value`` are equal and do not fit the axis."""
    is_other = isinstance(dim, int) and len(set(value)) == 1 < len(value) and dim != sum(value)
    return dim // len(value) if is_other and isinstance(dim, int) and dim % len(value) == 0 else None


def _with_even_input(
    node: Node, value: Sequence[Any], inputs: Sequence[Type | None], editor: Editor
) -> Iterator[Candidate]:
    """Declares the input of the model that a node splits with an axis as long as its parts, which have equal sizes."""
    data, shape = node.inputs[0], inputs[0].shape if isinstance(inputs[0], Tensor) else None
    if data is None or shape is None or data not in editor.graph.inputs or data in editor.graph.constants:
        return
    for axis, dim in enumerate(shape):
        if _equal_part(dim, value) is not None:
            edit = editor.declared(data, (*shape[:axis], sum(value), *shape[axis + 1 :]))
            yield Candidate((edit,), PROBABLE, evidence=1, subject=(data, axis))


def _other_factors(value: Sequence[Any], rank: int, shapes: Sequence[Shape]) -> Iterator[tuple[Any, ...]]:
    """Other lists of factors. Missing first axes get the factor 1. Otherwise one factor becomes a usual factor, 1, the
    factor of another axis, or a ratio of sizes."""
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
