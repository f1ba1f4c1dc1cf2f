"""The memory that ONNX Runtime needs for a node beside its inputs and outputs, while the node runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from irlint.costs.products import Operation
from irlint.dims import MaybeDim, Shape, TooComplex, broadcast_size, product, total


def _size(node: Operation, name: str, first: int = 0, behind: int | None = None) -> MaybeDim:
    """The product of some sizes of an input."""
    shape = node.named.get(name)
    return None if shape is None else product(shape[first:behind])


def _columns(node: Operation, data: str, weights: str) -> MaybeDim:
    """A transposed convolution of one image of a batch: its products with the filter, before they are added up."""
    return product((_size(node, data, 2), _size(node, weights, 1)))


def _gates(node: Operation) -> MaybeDim:
    """LSTM and GRU: every gate of the sequence. Two directions are computed at the same time; the one from the end has
    copies of its input and output."""
    steps, weights = _size(node, "x", 0, 2), node.named.get("w")
    if weights is None or len(weights) != 3:
        return None
    gates = product((steps, *weights[:2]))
    return gates if weights[0] == 1 else total((gates, _size(node, "x"), product((steps, _size(node, "r", 2)))))


def _states(node: Operation) -> MaybeDim:
    """RNN: the states of a sequence."""
    return product((_size(node, "x", 0, 2), _size(node, "r", 2)))


def _intermediate(node: Operation) -> MaybeDim:
    """An operator that is computed by two others: what is between them."""
    return None if node.output is None else product(node.output)


def _turned(node: Operation) -> MaybeDim:
    """A function along an axis that is not the last one: its input and output with that axis as the last one."""
    shape = node.output
    is_last = shape is not None and node.attribute("axis", -1) in (-1, len(shape) - 1)
    return 0 if is_last else product((2, None if shape is None else product(shape)))


def _selected(node: Operation) -> MaybeDim:
    """Where: the elements of each of the two inputs that the condition selects, before they are joined."""
    condition, *others = node.inputs
    return total(_stretched(condition, each) for each in others)


def _stretched(one: Shape | None, other: Shape | None) -> MaybeDim:
    """The elements of two inputs that are broadcast against each other."""
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
    """How many elements a node needs by the formula of its operator; None if a size is unknown."""
    name, *arguments = formula
    try:
        return FORMULAS[str(name)](node, *arguments)
    except TooComplex:
        return None
