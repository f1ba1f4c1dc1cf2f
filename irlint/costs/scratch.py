"""The memory that ONNX Runtime needs for a node beside its inputs and outputs, while the node runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from irlint.costs.products import Operation
from irlint.dims import MaybeDim, Shape, TooComplex, broadcast_size, product, total


def _size(node: Operation, name: str, first: int = 0, end: int | None = None) -> MaybeDim:
    """The product of the sizes of an input from axis ``first`` up to axis ``end``, which is excluded."""
    shape = node.named.get(name)
    return None if shape is None else product(shape[first:end])


def _columns(node: Operation, data: str, weights: str) -> MaybeDim:
    """Transposed convolutions: the products of one image of the batch with the filter, before they are added up."""
    return product((_size(node, data, 2), _size(node, weights, 1)))


def _gates(node: Operation) -> MaybeDim:
    """LSTM and GRU: every gate of the sequence. If there are two directions, both are computed at the same time, and
    the reverse direction has copies of its input and output."""
    steps, weights = _size(node, "x", 0, 2), node.named.get("w")
    if weights is None or len(weights) != 3:
        return None
    gates = product((steps, *weights[:2]))
    return gates if weights[0] == 1 else total((gates, _size(node, "x"), product((steps, _size(node, "r", 2)))))


def _states(node: Operation) -> MaybeDim:
    """RNN: the states of a sequence."""
    return product((_size(node, "x", 0, 2), _size(node, "r", 2)))


def _intermediate(node: Operation) -> MaybeDim:
    """Operators that are computed by two others: the result of the first one, which has the shape of the output."""
    return None if node.output is None else product(node.output)


def _turned(node: Operation) -> MaybeDim:
    """Functions along an axis: copies of input and output in which this axis is the last one; 0 if it already is."""
    shape = node.output
    is_last = shape is not None and node.attribute("axis", -1) in (-1, len(shape) - 1)
    return 0 if is_last else product((2, None if shape is None else product(shape)))


def _selected(node: Operation) -> MaybeDim:
    """Where: two tensors, the elements that the condition selects from each of the two other inputs."""
    condition, *others = node.inputs
    return total(_broadcast_elements(condition, each) for each in others)


def _broadcast_elements(one: Shape | None, other: Shape | None) -> MaybeDim:
    """The number of elements of the shape to which two inputs are broadcast."""
    if one is None or other is None:
        return None
    pairs = zip_longest(reversed(one), reversed(other), fillvalue=1)
    return product([broadcast_size(*pair) for pair in pairs])


#: The formulas by the names that the decorators of operators give.
FORMULAS: Mapping[str, Callable[..., MaybeDim]] = {
    "columns": _columns,
    "gates": _gates,
    "states": _states,
    "intermediate": _intermediate,
    "selected": _selected,
    "turned": _turned,
}


def elements(formula: Sequence[str | int], node: Operation) -> MaybeDim:
    """The number of elements that a node needs, by the formula of its operator; None if a size is unknown."""
    name, *arguments = formula
    try:
        return FORMULAS[str(name)](node, *arguments)
    except TooComplex:
        return None
