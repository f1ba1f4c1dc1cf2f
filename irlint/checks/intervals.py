"""The intervals of the values of a graph, computed on demand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from irlint.checks.transfers import (
    ANY,
    ARITY,
    CONVERTING,
    ELEMENTWISE,
    FOLLOWED,
    GATHERED,
    KEEPING,
    SPLITTING,
    Interval,
    Parts,
    Site,
    Transfer,
    joined,
    of_type,
)
from irlint.dims import Shape
from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.tensor import Extent, Tensor
from irlint.ops.shared.contents import fits, spread, static

#: At most this many operators are followed back from a value.
DEPTH = 24


class Intervals:
    """The intervals of the values of one graph, computed on demand."""

    def __init__(self, known: Known, makers: Mapping[Value, Node]) -> None:
        self.known = known
        self.makers = makers
        self._found: dict[tuple[Value, bool], Parts] = {}

    def tensor(self, value: Value | None) -> Tensor | None:
        """The type of a value; None if it is unknown or no tensor."""
        found = self.known.types.get(value) if value is not None else None
        return found if isinstance(found, Tensor) else None

    def whole(self, value: Value | None) -> Interval:
        """One interval for all elements of a value."""
        return self.parts(value, each=False)[0]

    def parts(self, value: Value | None, *, each: bool = True, depth: int = DEPTH) -> Parts:
        """One interval for all elements of a value, or with ``each`` one for each element if its shape is static and
        small.

        Elements that are never finite may be any number here, so that the nodes that use them are not reported, too.
        """
        if value is None or depth == 0:
            return (ANY,)
        key = (value, each)
        found = self._found.get(key)
        if found is None:
            self._found[key] = (ANY,)
            self._found[key] = found = self._computed(value, each, depth)
        return found

    def results(self, node: Node, *, each: bool = True, depth: int = DEPTH) -> Parts:
        """The parts of output 0 of a node, with the reasons for which elements are not finite."""
        tensor = self.tensor(node.outputs[0] if node.outputs else None)
        dtype = None if tensor is None else tensor.dtype
        if self.known.format.operator_name(node.domain, node.op) != node.op:
            return (of_type(dtype),)
        each = each and tensor is not None and fits(tensor.shape)
        transfer = ELEMENTWISE.get(node.op)
        if transfer is not None and tensor is not None:
            return self._elementwise(transfer, node, tensor, each=each, depth=depth - 1)
        kept = KEEPING.get(node.op)
        if kept is not None:
            return self.parts(node.inputs[0] if node.inputs else None, each=each, depth=depth - 1)
        gathered = GATHERED.get(node.op)
        if gathered is None:
            return (of_type(dtype),)
        given = [self.parts(value, each=False, depth=depth - 1)[0] for value in node.inputs]
        return (gathered(given, Site(node, dtype)) if given else ANY,)

    def by_constant(self, node: Node) -> tuple[int, Parts]:
        """For a result of dynamic shape: the index of the only constant input with different elements, and the result
        for each of them. (-1, ()) if there is no such input, or if the shape is static and small."""
        tensor, transfer = self.tensor(node.outputs[0] if node.outputs else None), ELEMENTWISE.get(node.op)
        if tensor is None or transfer is None or fits(tensor.shape) or len(node.inputs) < ARITY.get(transfer, 1):
            return -1, ()
        known = [self.tensor(value) for value in node.inputs]
        columns = [_constant(each, True) if each is not None else () for each in known]
        several = [index for index, column in enumerate(columns) if len(column) > 1]
        if len(several) != 1:
            return -1, ()
        site, at = Site(node, tensor.dtype), several[0]
        others = [self.whole(value) for value in node.inputs]
        return at, tuple([_applied(transfer, [*others[:at], part, *others[at + 1 :]], site) for part in columns[at]])

    def _elementwise(self, transfer: Transfer, node: Node, tensor: Tensor, *, each: bool, depth: int) -> Parts:
        site = Site(node, tensor.dtype)
        inputs = node.inputs[:1] if node.op in CONVERTING else node.inputs
        each = each and _is_aligned_right(node)
        columns = [self.parts(value, each=each, depth=depth) for value in inputs]
        if len(columns) < ARITY.get(transfer, 1):
            return (ANY,)
        if max(map(len, columns)) == 1:
            return (_applied(transfer, [column[0] for column in columns], site),)
        rows = [self._spread(column, value, tensor.shape) for column, value in zip(columns, inputs)]
        return tuple([_applied(transfer, row, site) for row in zip(*rows)])

    def _spread(self, column: Parts, value: Value | None, onto: Shape | None) -> Parts:
        known = self.tensor(value)
        shape = known.shape if known is not None and fits(known.shape) else None
        if len(column) == 1 or shape is None or math.prod(static(shape)) != len(column):
            column, shape = (joined(column),), ()
        return spread(column, shape, onto or ())  # type: ignore[arg-type, return-value]

    def _computed(self, value: Value, each: bool, depth: int) -> Parts:
        tensor = self.tensor(value)
        constant = _constant(tensor, each) if tensor is not None else ()
        if constant:
            return constant
        node = self.makers.get(value)
        if node is None or node.op not in FOLLOWED or node in self.known.faulted:
            return (of_type(None if tensor is None else tensor.dtype),)
        if node.outputs[0] is not value and node.op not in SPLITTING:
            return (of_type(None if tensor is None else tensor.dtype),)
        return _without_reasons(self.results(node, each=each, depth=depth))


def _applied(transfer: Transfer, given: Sequence[Interval], site: Site) -> Interval:
    """The interval that a transfer gives; any number if Python cannot compute its ends."""
    try:
        return transfer(given, site)
    except (ArithmeticError, ValueError):
        return ANY


def _constant(tensor: Tensor, each: bool) -> Parts:
    """The interval of the numbers of a constant, or with ``each`` one for each number; () if a number is unknown or
    NaN. Equal numbers have one interval."""
    if tensor.value is None:
        span = tensor.extent
        if not isinstance(span, Extent) or span.nans or span.infinities or span.least is None or span.most is None:
            return ()
        return (Interval(span.least, span.most),)
    numbers = [entry for entry in tensor.value if isinstance(entry, (int, float)) and entry == entry]
    if not numbers or len(numbers) < len(tensor.value):
        return ()
    least, most = float(min(numbers)), float(max(numbers))
    if each and least < most:
        return tuple([Interval(float(entry), float(entry)) for entry in numbers])
    return (Interval(least, most),)


def _is_aligned_right(node: Node) -> bool:
    """Whether a node broadcasts its inputs as NumPy does."""
    rule = node.attributes.get("auto_broadcast")
    return "axis" not in node.attributes and (rule is None or rule.value == "numpy")


def _without_reasons(parts: Parts) -> Parts:
    """The parts, in which elements that are never finite may be any number."""
    return tuple(ANY if part.why else part for part in parts) if any(part.why for part in parts) else parts
