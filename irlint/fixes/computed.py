"""Candidates that change constants from which shapes are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, takewhile

from irlint.dims import MaybeDim
from irlint.fixes.candidate import OTHERS, SEVERAL, Candidate
from irlint.fixes.constants import SLICED
from irlint.fixes.editor import Editor
from irlint.fixes.indices import JOIN, LONGEST_INDEXED
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import RESHAPE, TRANSPOSE
from irlint.fixes.other_values import ENTRIES, EVIDENT, LAST_RESORT, POSSIBLE, PROBABLE
from irlint.fixes.slices import BOUNDS, other_bounds
from irlint.inference.origins import inputs_of, shape_of
from irlint.model import Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.records import replaced

#: At most this many nodes before a node are examined, and at most this many constants.
NODES, CONSTANTS = 24, 6

#: At most this many nodes before a node are examined for sizes that are read on the wrong axis.
FARTHER = 96

#: A wrong number probably differs by one of these factors, or by 1.
FACTORS = (2, 3, 4)

#: The number of inputs that may be exchanged in other operators than a Concat.
PAIR = 2

#: The operator that takes an element of a shape, in both formats.
TAKE = "Gather"


def computed(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Candidates that change constants from which the integers in a node's inputs are computed."""
    constants: dict[tuple[Node, int], Value] = {}
    for maker in nodes_that_compute(node, editor):
        call = editor.known.calls[maker]
        names = call.signature.inputs if call.signature is not None else ()
        for port, (value, known) in enumerate(zip(maker.inputs, inputs_of(maker, editor.known))):
            is_axes = names[port : port + 1] == (SLICED,)
            if value is not None and not is_axes and _is_known(known) and editor.makers.is_constant(value):
                constants[maker, port] = value
        if maker.op == JOIN or len(maker.inputs) == PAIR:
            yield from _with_inputs_exchanged(maker, editor)
        if maker.op == RESHAPE:
            yield from _with_axes_exchanged(maker, editor)
        if call.signature is not None and not BOUNDS.isdisjoint((*call.signature.inputs, *call.signature.attributes)):
            for candidate in other_bounds(maker, call, inputs_of(maker, editor.known), (), editor):
                yield replaced(candidate, node=maker)
    for (maker, port), value in list(constants.items())[:CONSTANTS]:
        if maker.op == TAKE and port:
            yield from _with_other_index(maker, port, value, editor)
        if not _is_index_of_siblings(maker, value, editor):
            yield from _with_other_number(maker, port, value, editor)


def _with_axes_exchanged(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Exchanges the axes of a table of two columns that a Reshape flattens, such as the pads of each axis.

    A Transpose before the Reshape is inserted, bypassed, or gets another order.
    """
    value, flat = (node.inputs[0] if node.inputs else None), node.outputs[0] if node.outputs else None
    types = [editor.known.types.get(each) if each is not None else None for each in (value, flat)]
    ranks = [each.rank if isinstance(each, Tensor) else None for each in types]
    maker = editor.makers.of(value) if value is not None else None
    if value is None or maker is None or maker.node is None or ranks != [PAIR, 1]:
        return
    if maker.node.op != TRANSPOSE:
        edit = editor.inserted(TRANSPOSE, node, 0, (("perm", (1, 0)),))
    elif editor.value_of(maker.node, "perm") == (0, 1):
        edit = editor.attribute(maker.node, "perm", (1, 0), (0, 1))
    else:
        edit = editor.connected(maker.node.inputs[0], node, 0)
    yield Candidate((edit,), EVIDENT, node)


def read_on_other_axis(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Candidates that read a size on another axis. The integers in a node's inputs are computed from this size."""
    for maker in nodes_that_compute(node, editor, FARTHER):
        value = maker.inputs[1] if maker.op == TAKE and len(maker.inputs) > 1 else None
        if value is not None and editor.makers.is_constant(value):
            yield from _with_other_index(maker, 1, value, editor)
            if not _is_index_of_siblings(maker, value, editor):
                yield from _with_other_number(maker, 1, value, editor)


def _with_other_index(node: Node, port: int, value: Value, editor: Editor) -> Iterator[Candidate]:
    """Connects another index: an unused constant, or any constant if another Gather shares the present index."""
    known, size = editor.known.types.get(value), _length(node, editor)
    if not isinstance(known, Tensor) or known.ints is None or size is None:
        return
    shared = _is_index_of_siblings(node, value, editor)
    for other in editor.graph.constants:
        new, unused = editor.known.types.get(other), not editor.users.get(other)
        if not isinstance(new, Tensor) or (new.dtype, new.shape) != (known.dtype, known.shape) or new == known:
            continue
        index = new.ints[0] if new.ints else None
        if isinstance(index, int) and -size <= index < size and (unused or shared):
            called = editor.called_unused(other) if unused else ""
            edit = editor.connected(other, node, port, called)
            yield Candidate((edit,), EVIDENT if unused else PROBABLE, node=node, evidence=int(unused))


def with_lost_part(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Joins one more part by a Concat of lists: a part that a sibling has, or an unused list."""
    yield from _with_part_of_sibling(node, inputs)
    yield from _with_unused_part(node, inputs)


def _with_unused_part(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Joins an unused list with the parts of a Concat, at each position."""
    known = inputs.editor.known.types.get
    for value, given in inputs.unused_values if node.op == JOIN else ():
        types = [known(each) if each is not None else None for each in node.inputs]
        are_lists = all(isinstance(each, Tensor) and each.rank == 1 and each.dtype == given.dtype for each in types)
        if not are_lists or given.rank != 1 or given.dtype not in INTEGERS or value in node.outputs:
            continue
        for port in range(len(node.inputs) + 1):
            after = (value, *node.inputs[port:])
            moved = [(at, each) for at, each in enumerate(after, port) if each is not None]
            edits = tuple(inputs.editor.connected(each, node, at) for at, each in moved)
            count = 1 + _copies_size(node, port, given, inputs)
            yield Candidate(edits, PROBABLE, node, evidence=count, subject=(node, value))


def _copies_size(node: Node, port: int, given: Tensor, inputs: Inputs) -> bool:
    """Whether a user of the joined list takes data whose size on the axis ``port`` is the entry of ``given``."""
    users = [user for made in node.outputs if made is not None for user in inputs.users.get(made, ())]
    shapes = [shape_of(user.inputs[0], inputs.known) or () for user in users if user.inputs]
    return any(given.ints == shape[port : port + 1] for shape in shapes if shape)


def _with_part_of_sibling(node: Node, inputs: Inputs) -> Iterator[Candidate]:
    """Joins the value that a sibling of a Concat joins with the same other parts."""
    for each in inputs.editor.siblings(node) if node.op == JOIN else ():
        for port, value in enumerate(each.inputs if len(each.inputs) == len(node.inputs) + 1 else ()):
            if (*each.inputs[:port], *each.inputs[port + 1 :]) == tuple(node.inputs) and value is not None:
                moved = enumerate(each.inputs[port:], port)
                edits = tuple(inputs.editor.connected(one, node, at) for at, one in moved if one is not None)
                yield Candidate(edits, EVIDENT, node, evidence=1)


def nodes_that_compute(node: Node, editor: Editor, limit: int = NODES) -> Iterator[Node]:
    """The nodes that compute the known integers in a node's inputs, the nearest first; about ``limit`` nodes."""
    waiting, seen = [node], {node}
    for each in waiting:
        if each is not node:
            yield each
        for value, known in zip(each.inputs, inputs_of(each, editor.known)):
            maker = editor.makers.of(value) if value is not None and _is_known(known) else None
            inner = maker.node if maker is not None and maker.constant is None else None
            if inner is None or inner in seen or len(seen) > limit or inner.op == editor.known.format.constant_node:
                continue
            seen.add(inner)
            waiting.append(inner)


def _is_known(known: Type | None) -> bool:
    """Whether a value consists of known integers, at most ``ENTRIES``."""
    ints = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
    return ints is not None and len(ints) <= ENTRIES


def _with_other_number(node: Node, port: int, value: Value, editor: Editor) -> Iterator[Candidate]:
    """Replaces the only number of a constant."""
    known = editor.known.types.get(value)
    ints = known.ints if isinstance(known, Tensor) else None
    number = ints[0] if ints is not None and len(ints) == 1 else None
    if not isinstance(number, int):
        return
    similar = {} if node.op == TAKE else _joined_by_siblings(node, number, editor)
    if node.op not in (TAKE, JOIN):
        similar = editor.similar_values(node, port)
    tried = {(number,)}
    for entries, count in list(similar.items())[:OTHERS]:
        if len(entries) == 1 and entries not in tried:
            tried.add(entries)
            for candidate in editor.constants.with_entries(node, port, value, entries, EVIDENT):
                yield replaced(candidate, node=node, evidence=count)
    likely = editor.constants.indices.beside_neighbors(node) if node.op == TAKE else ()
    for other in _other_indices(node, number, editor) if node.op == TAKE else _similar_numbers(number):
        if (other,) not in tried:
            for candidate in editor.constants.with_entries(node, port, value, (other,), PROBABLE):
                yield replaced(candidate, node=node, evidence=SEVERAL if other in likely else 0)


def _joined_by_siblings(node: Node, number: int, editor: Editor) -> dict[tuple[int, ...], int]:
    """The numbers that siblings of a Concat join instead of ``number``, with all other parts equal, and how often."""
    own, found = _parts_of(node, editor), dict[tuple[int, ...], int]()
    for each in editor.siblings(node):
        theirs = _parts_of(each, editor)
        (more, less) = (list((theirs - own).elements()), list((own - theirs).elements()))
        if less == [number] and len(more) == 1 and isinstance(more[0], int):
            found[(more[0],)] = found.get((more[0],), 0) + 1
    return found


def _parts_of(node: Node, editor: Editor) -> Counter[MaybeDim]:
    known = editor.known.types.get(node.outputs[0]) if node.op == JOIN and node.outputs and node.outputs[0] else None
    return Counter(known.ints or () if isinstance(known, Tensor) else ())


def _is_index_of_siblings(node: Node, value: Value, editor: Editor) -> bool:
    """Whether another Gather uses this constant as an index into the same list or shape."""
    users = (each for each in editor.users.get(value, ()) if each is not node and each.op == node.op == TAKE)
    return any(
        editor.constants.indices.indexed_value(each) is editor.constants.indices.indexed_value(node) for each in users
    )


def _other_indices(node: Node, number: int, editor: Editor) -> list[int]:
    size = _length(node, editor)
    return [each for each in range(size) if each != number % size] if size is not None else []


def _length(node: Node, editor: Editor) -> int | None:
    """The length of the short list from which a node takes elements; None for other values."""
    data = editor.known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    size = data.shape[0] if isinstance(data, Tensor) and data.shape is not None and len(data.shape) == 1 else None
    return size if isinstance(size, int) and 0 < size <= LONGEST_INDEXED else None


def _similar_numbers(number: int) -> list[int]:
    parts = [number // factor for factor in FACTORS if number % factor == 0]
    return list(dict.fromkeys((number - 1, number + 1, *parts, *(number * factor for factor in FACTORS))))


def _with_inputs_exchanged(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Exchanges neighbouring inputs. EVIDENT for parts of a target that then begins with more sizes of the data."""
    for port, (one, other) in enumerate(zip(node.inputs, node.inputs[1:])):
        if one is not None and other is not None and one is not other:
            edits = editor.connected(other, node, port), editor.connected(one, node, port + 1)
            computed = not editor.makers.is_constant(one) and not editor.makers.is_constant(other)
            grade = POSSIBLE if node.op != JOIN else PROBABLE if computed else LAST_RESORT
            after = (*node.inputs[:port], other, one, *node.inputs[port + 2 :])
            counts = [_sizes_copied(parts, node, editor) for parts in (node.inputs, after)]
            grade = EVIDENT if counts[0] < counts[1] > 1 else grade
            yield Candidate(tuple(replaced(edit, swaps=True) for edit in edits), grade, node=node)


def _sizes_copied(parts: Sequence[Value | None], node: Node, editor: Editor) -> int:
    """The number of first sizes of the data that a target of these parts, which a Concat joins, would keep."""
    users = [user for made in node.outputs if made is not None for user in editor.users.get(made, ())]
    shapes = [shape_of(user.inputs[0], editor.known) for user in users if user.inputs[1:2] == node.outputs[:1]]
    types = [editor.known.types.get(each) if each is not None else None for each in parts]
    lists = [each.ints if isinstance(each, Tensor) else None for each in types]
    if node.op != JOIN or not shapes or None in lists or None in shapes:
        return 0
    entries = list(chain.from_iterable(filter(None, lists)))
    return min(sum(takewhile(bool, (one == dim for one, dim in zip(entries, shape or ())))) for shape in shapes)
