"""Computes an interval for each element of a result, for operators that do not compute element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import prod

from irlint.checks.transfer_table import OPERANDS
from irlint.checks.transfers import ANY, Interval, Parts, Site, accumulated, joined, multiplied
from irlint.inference.answers import ask
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Node, Value
from irlint.model.tensor import Tensor
from irlint.ops.shared.contents import fits, static
from irlint.parsers.weights import Weights

if TYPE_CHECKING:
    from irlint.checks.intervals import Intervals

#: WRITING: operators that replace elements by 0. TAKING: all operators whose results are elements of their inputs.
WRITING = frozenset(("Trilu",))
TAKING = WRITING | frozenset(
    (
        *("Transpose", "Expand", "Broadcast", "Tile", "Slice", "StridedSlice", "Gather", "GatherElements", "GatherND"),
        *("DepthToSpace", "SpaceToDepth", "ReverseSequence", "Roll", "Concat"),
    )
)

#: Determinants are computed for at most ROWS rows, and for integers below LARGEST, which runtimes do not round.
ROWS, LARGEST = 4, 1024

ZERO = Interval(0, 0)


def elements_of(intervals: Intervals, node: Node, tensor: Tensor, depth: int) -> Parts | None:
    """An interval for each element of output 0 of a node; None if nothing is known of single elements.

    ``tensor`` is the type of the output, which must be small.
    """
    compute = COMPUTED.get(node.op, _taken if node.op in TAKING else None)
    found = compute(intervals, node, depth) if compute is not None else None
    return found if found is not None and len(found) == prod(static(tensor.shape or ())) else None


def columns(intervals: Intervals, node: Node, depth: int) -> Parts | None:
    """The intervals of the columns of a MatMul whose second input is a small constant matrix; None for other products.

    Also None if no column can have another sign than the complete product.
    """
    right = node.inputs[1] if len(node.inputs) > 1 else None
    span = intervals.whole(right, depth - 1)
    if span.low > 0 or span.high < 0:
        return None
    given = intervals.whole(node.inputs[0], depth - 1)
    if given.low < 0 < given.high and not _may_have_zeros(intervals.tensor(right)):
        return None
    rows = _matrix(intervals, node, depth)
    if rows is None:
        return None
    site = Site(node, "float32")
    return tuple([accumulated((multiplied(given, joined(column), site),), site) for column in zip(*rows)])


def _may_have_zeros(known: Tensor | None) -> bool:
    """Whether a matrix may contain 0. False only if all its numbers are known, finite and not 0."""
    return not (type(known) is Weights and known.is_moderate) or 0 in (known.value or (0,))


def _matrix(intervals: Intervals, node: Node, depth: int) -> list[Parts] | None:
    """The rows of the second factor of a MatMul; None if the factor is not small or has one interval for all
    elements."""
    right = node.inputs[1] if len(node.inputs) > 1 else None
    known = intervals.tensor(right)
    if known is None or known.shape is None or len(known.shape) != 2 or not fits(known.shape):
        return None
    parts, (height, width) = intervals.parts(right, depth - 1), static(known.shape)
    if len(parts) != height * width or len(parts) < 2:
        return None
    rows = [parts[at : at + width] for at in range(0, len(parts), width)]
    transposes = node.attributes.get("transpose_b")
    is_turned = transposes is not None and str(transposes.value).lower() in ("true", "1")
    return list(zip(*rows)) if is_turned else rows


def _product(intervals: Intervals, node: Node, depth: int) -> Parts | None:
    made, found = intervals.tensor(node.outputs[0]), columns(intervals, node, depth)
    if found is None or made is None or not made.shape or static(made.shape)[-1] != len(found):
        return None
    return found * prod(static(made.shape)[:-1])


def _taken(intervals: Intervals, node: Node, depth: int) -> Parts | None:
    """The intervals of a result whose elements are elements of the inputs.

    The inputs get the numbers 1, 2, 3 ... as values. The values that the operator infers show which element is where.
    """
    call, types = intervals.known.calls.get(node), intervals.known.types_of(node.inputs)
    given: list[Interval] = [ZERO]
    for index in range(len(node.inputs))[OPERANDS.get(node.op, slice(None))]:
        known = types[index]
        if not isinstance(known, Tensor) or not fits(known.shape):
            return None
        parts = _each(intervals, node.inputs[index], known, depth)
        types[index] = Tensor(known.dtype, known.shape, tuple(range(len(given), len(given) + len(parts))))
        given += parts
    if call is None or (node.op not in WRITING and all(part == given[-1] for part in given[1:])):
        return None
    outputs = ask(call, types, outputs=len(node.outputs)).outputs
    made = outputs[0] if outputs else None
    if not isinstance(made, Tensor) or made.value is None:
        return None
    return tuple([given[int(entry)] if isinstance(entry, (int, float)) else ANY for entry in made.value])


def _each(intervals: Intervals, value: Value | None, known: Tensor, depth: int) -> Parts:
    parts = intervals.parts(value, depth - 1)
    count = prod(static(known.shape or ()))
    return parts if len(parts) == count else (joined(parts),) * count


def _chosen_classes(intervals: Intervals, node: Node, depth: int) -> Parts | None:
    """The intervals of a OneHot whose new axis is the last one."""
    made, indices = intervals.tensor(node.outputs[0]), intervals.tensor(node.inputs[0])
    axis = node.attributes.get("axis")
    if made is None or not made.shape or indices is None or not fits(indices.shape):
        return None
    if axis is not None and str(axis.value) not in ("-1", str(len(made.shape) - 1)):
        return None
    off, on = _levels(intervals, node, depth)
    depth_of_classes = static(made.shape)[-1]
    return tuple(
        [
            _class(index, number, depth_of_classes, off=off, on=on)
            for index in _each(intervals, node.inputs[0], indices, depth)
            for number in range(depth_of_classes)
        ]
    )


def _levels(intervals: Intervals, node: Node, depth: int) -> tuple[Interval, Interval]:
    """(interval of the classes that are not chosen, interval of the chosen class) of a OneHot."""
    if len(node.inputs) == 4:
        return intervals.whole(node.inputs[3], depth - 1), intervals.whole(node.inputs[2], depth - 1)
    parts = intervals.parts(node.inputs[2], depth - 1)
    return parts[0], parts[-1]


def _class(index: Interval, number: int, count: int, *, off: Interval, on: Interval) -> Interval:
    """The interval of class ``number`` if the chosen class lies in ``index``. A negative index counts from the end."""
    may_be = any(index.low <= each <= index.high for each in (number, number - count))
    if index.low == index.high >= 0:
        return on if may_be else off
    return joined((off, on)) if may_be else off


def _determinant(intervals: Intervals, node: Node, depth: int) -> Parts | None:
    """The determinant of a matrix of small integers."""
    known = intervals.tensor(node.inputs[0])
    shape = known.shape if known is not None and fits(known.shape) else None
    if shape is None or len(shape) != 2 or not 0 < static(shape)[0] <= ROWS or shape[0] != shape[1]:
        return None
    parts, size = intervals.parts(node.inputs[0], depth - 1), static(shape)[0]
    numbers = [part.low for part in parts]
    is_exact = all(part.low == part.high and abs(part.low) < LARGEST and part.low % 1 == 0 for part in parts)
    if len(parts) != size * size or not is_exact:
        return None
    total = sum(
        _sign(order) * prod([numbers[row * size + column] for row, column in enumerate(order)])
        for order in permutations(range(size))
    )
    return (Interval(total, total),)


def _sign(order: Sequence[int]) -> int:
    swaps = sum([before > after for at, after in enumerate(order) for before in order[:at]])
    return -1 if swaps % 2 else 1


#: The function that computes the intervals of single elements, for operators that compute new numbers.
COMPUTED: Mapping[str, Callable[[Intervals, Node, int], Parts | None]] = {
    "MatMul": _product,
    "OneHot": _chosen_classes,
    "Det": _determinant,
}
