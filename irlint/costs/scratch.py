"""The memory beside inputs and outputs that ONNX Runtime needs while a node runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from irlint.costs.products import Operation
from irlint.dims import MaybeDim, Shape, TooComplex, broadcast_size, product, total


def _size(node: Operation, name: str, first: int = 0, end: int | None = None) -> MaybeDim:
    """The product of the sizes of an input's axes from ``first`` to ``end`` (excluded)."""
    shape = node.named.get(name)
    return None if shape is None else product(shape[first:end])


def _columns(node: Operation, data: str, weights: str) -> MaybeDim:
    """Transposed convolutions: the products of one image with the filter, before they are added."""
    return product((_size(node, data, 2), _size(node, weights, 1)))


def _gates(node: Operation) -> MaybeDim:
    """LSTM and GRU: the gates. With two directions, also a copy of the input and of the output."""
    steps, weights = _size(node, "x", 0, 2), node.named.get("w")
    if weights is None or len(weights) != 3:
        return None
    gates = product((steps, *weights[:2]))
    return gates if weights[0] == 1 else total((gates, _size(node, "x"), product((steps, _size(node, "r", 2)))))


def _states(node: Operation) -> MaybeDim:
    """RNN: the states of a sequence."""
    return product((_size(node, "x", 0, 2), _size(node, "r", 2)))


def _intermediate(node: Operation) -> MaybeDim:
    """Operators that ONNX Runtime computes as two operations: the result of the first operation."""
    return None if node.output is None else product(node.output)


def _transposed(node: Operation) -> MaybeDim:
    """Functions along an axis: transposed copies of the input and of the output, unless the axis is the last one."""
    shape = node.output
    is_last = shape is not None and node.attribute("axis", -1) in (-1, len(shape) - 1)
    return 0 if is_last else product((2, None if shape is None else product(shape)))


def _selected(node: Operation) -> MaybeDim:
    """Where: the elements that the condition selects from each of the two other inputs."""
    condition, *others = node.inputs
    return total(_broadcast_elements(condition, other) for other in others)


def _broadcast_elements(one: Shape | None, other: Shape | None) -> MaybeDim:
    if one is None or other is None:
        return None
    pairs = zip_longest(reversed(one), reversed(other), fillvalue=1)
    return product([broadcast_size(*pair) for pair in pairs])


#: The formulas of the number of elements, by the names that the decorators of operators use.
FORMULAS: Mapping[str, Callable[..., MaybeDim]] = {
    "columns": _columns,
    "gates": _gates,
    "states": _states,
    "intermediate": _intermediate,
    "selected": _selected,
    "transposed": _transposed,
}


def elements(formula: Sequence[str | int], node: Operation) -> MaybeDim:
    """The number of elements of this additional memory; None if a size is unknown."""
    name, *arguments = formula
    try:
        return FORMULAS[str(name)](node, *arguments)
    except TooComplex:
        return None
