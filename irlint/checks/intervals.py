"""The intervals of the values of a model, computed on demand."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from irlint.checks.reductions import matrix_product, reduced_count, row_length
from irlint.checks.transfer_table import (
    ARITY,
    CONJUNCTIONS,
    ELEMENTWISE,
    KEEPING,
    LARGER,
    OPERANDS,
    REDUCING,
    SPLITTING,
    TRANSFERS,
)
from irlint.checks.transfers import ANY, Interval, Parts, Site, Transfer, common, joined, of_type, same, widened
from irlint.dims import Shape
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import Extent, Scalar, Tensor
from irlint.ops.shared.contents import FINITE, are_finite, fits, is_spread, permuted, positions, spread, static
from irlint.parsers.weights import Weights
from irlint.records import record

if TYPE_CHECKING:
    from irlint.checks.carried import Bodies, Feed

#: At most this many operators are followed from a value back to its sources.
DEPTH = 24

#: The maximum number of attempts to find intervals that hold in all iterations of a body. From attempt WIDENED_FROM
#: on, limits that still grow are dropped.
ITERATIONS, WIDENED_FROM = 8, 3

#: Operators whose result is their input if they reduce axes of size 1.
SINGLE = frozenset(("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd"))

#: Operators of two inputs for which it matters whether both inputs are equal.
OF_TWO = frozenset(("Sub", "Subtract", "SquaredDifference", "Mul", "Multiply", "Div", "Divide"))

#: Operators with any number as result if input 0 may be any number and the others are finite.
ADDING = frozenset(("Add", "Sub", "Subtract"))

#: Reductions whose result grows with the number of elements.
COUNTED = frozenset(("ReduceSum", "ReduceL1", "ReduceSumSquare", "ReduceLogSum"))

#: Operators that compute each row along an axis separately.
OF_ROWS = frozenset(("Softmax", "SoftMax", "LogSoftmax", "Hardmax"))


@record
class Grid:
    """The intervals of a value. ``shape`` has the sizes of its last axes; a size of 1 means that one interval stands
    for all elements along the axis."""

    parts: Parts
    shape: tuple[int, ...]


#: Any number, for all elements.
EVERY = Grid((ANY,), ())


class Intervals:
    """The intervals of the values of a model, computed on demand. ``like`` are other intervals of the same model.

    Elements that are never finite may be any number here, so that only the node that computes them is reported.
    """

    def __init__(self, known: Known, like: Intervals | None = None) -> None:
        self.known = known
        self.like = like
        self._wholes: dict[Value, Interval] = {}
        self._parts: dict[Value, Parts] = {}
        self._grids: dict[Value, Grid] = {}

    def tensor(self, value: Value | None) -> Tensor | None:
        """The type of a value; None if it is unknown or no tensor."""
        found = self.known.types.get(value) if value is not None else None
        return found if isinstance(found, Tensor) else None

    def whole(self, value: Value | None, depth: int = DEPTH) -> Interval:
        """One interval for all elements of a value."""
        if value is None or depth == 0:
            return ANY
        found = self._wholes.get(value)
        if found is None:
            tensor = self.tensor(value)
            found = _constant(tensor)
            if found is None:
                self._wholes[value] = ANY
                node = self._followed(value)
                found = self._of_bodies(value, depth) if node is None else self.result(node, depth)
            self._wholes[value] = found = ANY if found.why else found
        return found

    def parts(self, value: Value | None, depth: int = DEPTH) -> Parts:
        """An interval for each element of a value whose shape is static and small; otherwise one for all of them."""
        if value is None or depth == 0:
            return (ANY,)
        found = self._parts.get(value)
        if found is None:
            self._parts[value] = (ANY,)
            tensor = self.tensor(value)
            found = _constants(tensor)
            if not found:
                node = self._followed(value)
                found = (self.whole(value, depth),) if node is None else self.results(node, depth)
            self._parts[value] = found = tuple(ANY if part.why else part for part in found)
        return found

    def state(self, value: Value, parts: Parts) -> None:
        """Sets the intervals of the elements of a value. They replace the intervals that follow from the model."""
        self._parts[value], self._wholes[value] = parts, joined(parts)

    def result(self, node: Node, depth: int = DEPTH) -> Interval:
        """One interval for all elements of output 0 of a node. If none can be finite, ``why`` of it has the reason."""
        tensor = self.tensor(node.outputs[0] if node.outputs else None)
        transfer = TRANSFERS.get(node.op)
        if transfer is None or tensor is None or self.known.format.operator_name(node.domain, node.op) != node.op:
            return _of_type(tensor)
        if transfer is matrix_product:
            return self._product(node, tensor, depth)
        first, *others = _operands(node) or (None,)
        span = self.whole(first, depth - 1)
        if transfer is same:
            return span
        if span is ANY and node.op in ADDING and all(map(self._is_finite, others)):
            return ANY
        given = [span, *[self.whole(value, depth - 1) for value in others]]
        return _applied(transfer, given, self._site(node, tensor))

    def _product(self, node: Node, tensor: Tensor, depth: int) -> Interval:
        """The interval of a matrix product; ANY if a factor has numbers of both signs. Factors that no node computes
        are examined first."""
        factors = sorted(node.inputs[:2], key=lambda value: value in self.makers)
        spans: list[Interval] = []
        for value in factors:
            spans.append(self.whole(value, depth - 1))
            if spans[-1].low < 0 < spans[-1].high:
                return ANY
        return _applied(matrix_product, spans, Site(node, tensor.dtype))

    def results(self, node: Node, depth: int = DEPTH) -> Parts:
        """An interval for each element of output 0 of a node. If an element cannot be finite, ``why`` has the
        reason."""
        tensor = self.tensor(node.outputs[0] if node.outputs else None)
        is_own = self.known.format.operator_name(node.domain, node.op) == node.op
        if tensor is None or not is_own or not fits(tensor.shape):
            return (self.result(node, depth),)
        if node.op in KEEPING:
            return self.parts(node.inputs[0] if node.inputs else None, depth - 1)
        if node.op in REDUCING:
            return self._reduced(node, tensor, depth)
        if node.op == "Expand" and tensor.shape is not None:
            return self._spread(self.parts(node.inputs[0], depth - 1), node.inputs[0], tensor.shape)
        transfer = ELEMENTWISE.get(node.op)
        if transfer is not None and _is_aligned_right(node):
            return self._elementwise(transfer, node, tensor, depth)
        if transfer is not None or not node.inputs:
            return (self.result(node, depth),)
        from irlint.checks.elements import elements_of

        return elements_of(self, node, tensor, depth) or (self.result(node, depth),)

    def spread_on(self, shape: Shape, value: Value) -> Parts:
        """An interval for each element of a value that is broadcast to a static shape."""
        return self._spread(self.parts(value), value, shape)

    def grid(self, value: Value | None, depth: int = DEPTH) -> Grid:
        """The intervals of a value of any shape. They differ only along axes along which elements of a constant
        differ."""
        if value is None or depth == 0:
            return EVERY
        found = self._grids.get(value)
        if found is None:
            self._grids[value] = EVERY
            self._grids[value] = found = self._grid(value, depth)
        return found

    def _grid(self, value: Value, depth: int) -> Grid:
        tensor, node = self.tensor(value), self._followed(value)
        stored = _constants(tensor)
        if tensor is not None and len(stored) > 1 and tensor.shape is not None:
            return Grid(stored, static(tensor.shape))
        if node is not None and not stored:
            if node.op in ("Expand", "Identity"):
                return self.grid(node.inputs[0], depth - 1)
            found = self.grid_of(node, depth)
            if found is not None:
                return Grid(tuple([ANY if part.why else part for part in found.parts]), found.shape)
        return Grid((self.whole(value, depth),), ())

    def grid_of(self, node: Node, depth: int = DEPTH) -> Grid | None:
        """The intervals of the result of an elementwise node or a MatMul. If elements cannot be finite, ``why`` has the
        reason. None if no constant has different elements, or if there are too many."""
        tensor, transfer = self.tensor(node.outputs[0] if node.outputs else None), ELEMENTWISE.get(node.op)
        if node.op == "MatMul":
            return self._columns(node, depth)
        if tensor is None or transfer is None or not _is_aligned_right(node):
            return None
        grids = [self.grid(value, depth - 1) for value in _operands(node)]
        rank = max([len(each.shape) for each in grids], default=0)
        shapes = [(1,) * (rank - len(each.shape)) + each.shape for each in grids]
        shape = tuple([max(sizes) for sizes in zip(*shapes)])
        if (
            not rank
            or not fits(shape)
            or any(size not in (1, most) for each in shapes for size, most in zip(each, shape))
        ):
            return None
        site = self._site(node, tensor)
        rows = [spread(each.parts, sizes, shape) for each, sizes in zip(grids, shapes)]  # type: ignore[arg-type]
        return Grid(tuple([_applied(transfer, row, site) for row in zip(*rows)]), shape)

    def _columns(self, node: Node, depth: int) -> Grid | None:
        """The intervals of the columns of a MatMul whose second input is a small constant matrix; None for others."""
        right = self.tensor(node.inputs[1] if len(node.inputs) > 1 else None)
        if right is None or not fits(right.shape):
            return None
        from irlint.checks.elements import columns

        found = columns(self, node, depth)
        return None if found is None else Grid(found, (len(found),))

    def rows(self, value: Value, axis: int = -1) -> tuple[Parts, int]:
        """(intervals of the elements of a value, row by row; number of intervals in a row). Rows lie along ``axis``,
        which is counted from the end. One interval may stand for a complete row or for several rows."""
        tensor = self.tensor(value)
        if tensor is not None and tensor.shape is not None and fits(tensor.shape):
            parts, shape = self.parts(value), static(tensor.shape)
        else:
            grid = self.grid(value)
            parts, shape = grid.parts, grid.shape
        if len(parts) == 1 or -axis > len(shape):
            return parts, 1
        order = [at for at in range(len(shape)) if at != axis + len(shape)] + [axis + len(shape)]
        return permuted(parts, shape, order), shape[axis]  # type: ignore[arg-type, return-value]

    def _is_finite(self, value: Value | None) -> bool:
        """Whether a value is a constant of finite numbers. False if only decoding the constant could show this."""
        tensor = self.tensor(value)
        return type(tensor) is Weights and tensor.is_moderate

    def origin(self, value: Value | None, steps: int = DEPTH) -> Value | None:
        """The earliest value that has the same shape and elements as ``value``. Skips each Identity and each reduction
        of axes of size 1 before ``value``."""
        node = self.makers.get(value) if value is not None and steps else None
        if node is None or not (node.op in SINGLE or node.op == "Identity") or not node.inputs:
            return value
        given, made = self.tensor(node.inputs[0]), self.tensor(value)
        is_same = given is not None and made is not None and given.shape is not None and given.shape == made.shape
        return self.origin(node.inputs[0], steps - 1) if is_same else value

    def _site(self, node: Node, tensor: Tensor) -> Site:
        if len(node.inputs) == 2 and node.op in OF_TWO:
            return Site(node, tensor.dtype, self.origin(node.inputs[0]) is self.origin(node.inputs[1]))
        if node.op in CONJUNCTIONS:
            return Site(node, tensor.dtype, is_never=self._exclude_each_other(node))
        if node.op in OF_ROWS:
            return Site(node, tensor.dtype, count=row_length(node, tensor))
        counted = self.tensor(node.inputs[0]) if node.op in COUNTED and node.inputs else None
        return Site(node, tensor.dtype, count=reduced_count(counted, tensor))

    def _exclude_each_other(self, node: Node) -> bool:
        """Whether a conjunction is never true: its conditions need a value above one limit and below a smaller one."""
        least: dict[Value | None, float] = {}
        most: dict[Value | None, float] = {}
        for each in self._comparisons(node):
            larger, smaller = each.inputs[LARGER[each.op]], each.inputs[1 - LARGER[each.op]]
            above, below = self.origin(larger), self.origin(smaller)
            least[above] = max(least.get(above, -math.inf), self.whole(smaller).low)
            most[below] = min(most.get(below, math.inf), self.whole(larger).high)
        return any(low > most.get(value, math.inf) for value, low in least.items())

    def _comparisons(self, node: Node, steps: int = DEPTH) -> Iterator[Node]:
        """The comparisons that must all be true if the conjunction ``node`` is true."""
        for value in node.inputs:
            maker = self.makers.get(value) if value is not None and steps else None
            if maker is not None and maker.op in LARGER and len(maker.inputs) == 2:
                yield maker
            elif maker is not None and (maker.op in CONJUNCTIONS or maker.op == "Identity"):
                yield from self._comparisons(maker, steps - 1)

    @cached_property
    def makers(self) -> Mapping[Value, Node]:
        """The node that computes each value."""
        if self.like is not None:
            return self.like.makers
        every = list(graphs(self.known.model))
        if len(every) == 1:
            return self.known.makers(every[0])
        return {value: node for graph in every for value, node in self.known.makers(graph).items()}

    @cached_property
    def bodies(self) -> Bodies | None:
        """The values that enter and leave the bodies of the model; None if the model has no bodies."""
        if self.like is not None:
            return self.like.bodies
        if not any(graph.bodies for graph in graphs(self.known.model)):
            return None
        from irlint.checks.carried import bodies_of

        return bodies_of(self.known)

    def _of_bodies(self, value: Value, depth: int) -> Interval:
        """The interval of a value that enters a body, or that a node with bodies returns. For other values, the
        interval of their element type."""
        tensor, bodies = self.tensor(value), self.bodies
        every = _of_type(tensor)
        if bodies is None:
            return every
        feed = bodies.feeds.get(value)
        if feed is not None and feed.later is not None:
            self._wholes |= self._stable(bodies.carried(feed.body), depth)
            return self._wholes[value]
        if feed is not None:
            return common(every, self.whole(feed.initial, depth - 1))
        made = bodies.returned.get(value, ())
        return common(every, joined([self.whole(each, depth - 1) for each in made])) if made else every

    def _stable(self, carried: Mapping[Value, Feed], depth: int) -> dict[Value, Interval]:
        """Intervals of carried values that hold in all iterations. They contain the initial values, and every iteration
        that starts inside them ends inside them."""
        state = {value: self.whole(feed.initial, depth - 1) for value, feed in carried.items()}
        for number in range(ITERATIONS):
            trial = Intervals(self.known, like=self)
            trial._wholes |= state
            after = {
                value: joined((state[value], trial.whole(feed.later, depth - 1))) for value, feed in carried.items()
            }
            if after == state:
                return state
            state = after if number < WIDENED_FROM else {value: widened(state[value], after[value]) for value in after}
        return {value: _of_type(self.tensor(value)) for value in carried}

    def _reduced(self, node: Node, tensor: Tensor, depth: int) -> Parts:
        """The intervals of a reduction: one for each element of the result, if each element of the input has one."""
        column, known = self.parts(node.inputs[0], depth - 1), self.tensor(node.inputs[0])
        shape = known.shape if known is not None and fits(known.shape) else None
        axes = self._axes(node, len(shape or ()))
        if len(column) == 1 or shape is None or axes is None or math.prod(static(shape)) != len(column):
            return (self.result(node, depth),)
        groups: dict[tuple[int, ...], list[Interval]] = {}
        for position, part in zip(positions(shape), column):
            kept = tuple([index for axis, index in enumerate(position) if axis not in axes])
            groups.setdefault(kept, []).append(part)
        site = self._site(node, tensor)
        return tuple([_applied(REDUCING[node.op], group, site) for group in groups.values()])

    def _axes(self, node: Node, rank: int) -> frozenset[int] | None:
        """The axes along which a node reduces its input, counted from 0; None if they are unknown."""
        attribute = node.attributes.get("axes")
        value = node.inputs[1] if len(node.inputs) > 1 else None
        if attribute is None and value is None:
            return None if "noop_with_empty_axes" in node.attributes else frozenset(range(rank))
        tensor = self.tensor(value)
        listed = attribute.value if attribute is not None else tensor.ints if tensor is not None else None
        axes = [axis % rank for axis in listed or () if isinstance(axis, int) and -rank <= axis < rank]
        return frozenset(axes) if listed and len(axes) == len(listed) else None

    def _elementwise(self, transfer: Transfer, node: Node, tensor: Tensor, depth: int) -> Parts:
        site, inputs = self._site(node, tensor), _operands(node)
        columns = [self.parts(value, depth - 1) for value in inputs]
        if max(map(len, columns), default=1) == 1:
            return (_applied(transfer, [column[0] for column in columns], site),)
        rows = [self._spread(column, value, tensor.shape) for column, value in zip(columns, inputs)]
        return tuple([_applied(transfer, row, site) for row in zip(*rows)])

    def _spread(self, column: Parts, value: Value | None, onto: Shape | None) -> Parts:
        known, wanted = self.tensor(value), onto or ()
        shape = known.shape if known is not None and fits(known.shape) else None
        # The declared output of a node with a fault may have another shape.
        if len(column) == 1 or not is_spread(shape, wanted) or math.prod(static(shape or ())) != len(column):
            column, shape = (joined(column),), ()
        return spread(column, shape or (), wanted)  # type: ignore[arg-type, return-value]

    def _followed(self, value: Value) -> Node | None:
        """The node that computes a value; None if nothing is known of the result of the node."""
        node = self.makers.get(value)
        if node is None or node.op not in TRANSFERS or node in self.known.faulted:
            return None
        return node if node.outputs[0] is value or node.op in SPLITTING else None


def _operands(node: Node) -> Sequence[Value | None]:
    """The inputs of a node whose elements determine its result."""
    chosen = OPERANDS.get(node.op)
    return node.inputs if chosen is None else node.inputs[chosen]


def _of_type(tensor: Tensor | None) -> Interval:
    return ANY if tensor is None else of_type(tensor.dtype)


def _applied(transfer: Transfer, given: Sequence[Interval], site: Site) -> Interval:
    """The interval that a transfer computes. ANY if there are too few inputs, or if Python cannot compute the ends. If
    varying finite numbers all become infinite, ``why`` of the interval has the reason."""
    if len(given) < ARITY.get(transfer, 1):
        return ANY
    try:
        found = transfer(given, site)
    except (ArithmeticError, ValueError):
        return ANY
    if found.is_infinite and site.dtype in FINITE and not any(each.is_infinite for each in given):
        if any(each.low < each.high for each in given):
            return Interval(why=f"every result is beyond {FINITE[site.dtype]:.6g}, the largest number of {site.dtype}")
    return found


def _constant(tensor: Tensor | None) -> Interval | None:
    """The interval of the numbers of a constant; None if a number is unknown or NaN."""
    if tensor is None:
        return None
    entries: Sequence[Any] | None = tensor.value
    if entries is None:
        span = tensor.extent
        if not isinstance(span, Extent) or span.nans or span.infinities or span.least is None or span.most is None:
            return None
        return Interval(span.least, span.most)
    are_numbers = type(tensor) is Weights and tensor.is_moderate
    if not entries or not (are_numbers or are_finite(entries) or all(map(_is_number, entries))):
        return None
    return Interval(float(min(entries)), float(max(entries)))


def _constants(tensor: Tensor | None) -> Parts:
    """The interval of each number of a constant; one if all are equal or only the extent is known; () if unknown."""
    found = _constant(tensor)
    if tensor is None or found is None or tensor.value is None or found.low == found.high:
        return () if found is None else (found,)
    return tuple([Interval(float(entry), float(entry)) for entry in tensor.value])  # type: ignore[arg-type]


def _is_number(entry: Scalar) -> bool:
    """Whether an element is known, and not NaN."""
    return isinstance(entry, (int, float)) and entry == entry


def _is_aligned_right(node: Node) -> bool:
    """Whether a node broadcasts its inputs as NumPy does."""
    rule = node.attributes.get("auto_broadcast")
    return "axis" not in node.attributes and (rule is None or rule.value == "numpy")
