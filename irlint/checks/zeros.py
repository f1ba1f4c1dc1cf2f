"""Finds values that contain 0 for all data."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from irlint.checks.examined import CHOOSING, CLAMPING, SATURATING, SCATTERING, UNLIMITED
from irlint.checks.reductions import softmax_axis
from irlint.checks.transfer_table import CONVERTING, KEEPING
from irlint.checks.transfers import Site
from irlint.checks.values import Values
from irlint.model import Node, Value
from irlint.model.tensor import Tensor

#: Operators that replace infinity, whose result for infinity is finite, or that may drop the infinite element.
REPLACING = CHOOSING | CLAMPING | SATURATING | SCATTERING | {"Exp", "Reciprocal", "Slice", "StridedSlice", "Gather"}

#: Operators that keep each 0 of input 0.
OF_ZERO = frozenset(
    (*CONVERTING, *KEEPING, "Transpose", "Expand", "Broadcast", "Tile", "Sqrt", "Abs", "Neg", "Negative")
)

#: At most this many operators are followed back from a value.
STEPS = 6

#: The extremes of rows.
EXTREMES = frozenset(("ReduceMax", "ReduceMin"))


def holds_zero(values: Values, value: Value | None, steps: int = STEPS) -> str:
    """The reason why a value contains 0 for all data; "" if this is unknown."""
    node = values.makers.get(value) if value is not None else None
    tensor = values.known.types.get(value) if value is not None else None
    if node is None or not steps or node.outputs[0] is not value or node in values.known.faulted:
        return ""
    if node.op in OF_ZERO and node.inputs:
        return holds_zero(values, node.inputs[0], steps - 1)
    check = HOLDING.get(node.op)
    return check(values, node, tensor) if check is not None and isinstance(tensor, Tensor) else ""


def is_replaced(readers: Mapping[Value, list[Node]], value: Value | None, op: str) -> bool:
    """Whether a user of ``value`` may replace the infinity or NaN that operator ``op`` computed, or has a finite result
    for the infinity."""
    replacing = REPLACING if op in UNLIMITED else CHOOSING
    return any(
        node.op in replacing or (node.op in KEEPING and is_replaced(readers, node.outputs[0], op))
        for node in (readers.get(value, ()) if value is not None else ())
    )


def _one_hot(values: Values, node: Node, made: Tensor) -> str:
    stated, rank = Site(node, None).number("axis", -1), len(made.shape or ())
    levels = values.intervals.parts(node.inputs[2 if len(node.inputs) == 3 else 3])
    axis = next((each for each in range(-rank, rank) if each == stated and levels[0].is_zero), None)
    return _of_several(node, made, axis)


def _hard(values: Values, node: Node, made: Tensor) -> str:
    return _of_several(node, made, softmax_axis(node, len(made.shape)) if made.shape is not None else None)


def _of_several(node: Node, made: Tensor, axis: int | None) -> str:
    size = made.shape[axis] if axis is not None and made.shape is not None else None
    return f"`{node.label}` chooses one of {size} classes" if isinstance(size, int) and size > 1 else ""


def _count(values: Values, node: Node, made: Tensor) -> str:
    return f"`{node.label}` starts at 0" if values.number(node, 0) == 0 else ""


def _earlier_sum(values: Values, node: Node, made: Tensor) -> str:
    exclusive = node.attributes.get("exclusive")
    is_exclusive = exclusive is not None and str(exclusive.value).lower() in ("true", "1")
    return f"one sum of `{node.label}` is that of no element" if is_exclusive else ""


def _distance(values: Values, node: Node, made: Tensor) -> str:
    """The reason for a difference between a value and its largest or smallest element; "" for other differences, and if
    the extreme lost some of its axes."""
    for index in (0, 1):
        extreme = values.maker(node, index)
        other = node.inputs[1 - index]
        is_extreme = extreme is not None and extreme.op in EXTREMES and extreme.inputs[0] is other
        if is_extreme and _rank(values, node.inputs[index]) in (0, _rank(values, other)) and _rank(values, other) >= 0:
            return f"`{node.label}` subtracts the largest or smallest element from itself"
    return ""


def _rank(values: Values, value: Value | None) -> int:
    """The number of axes of a value; -1 if it is unknown."""
    known = values.intervals.tensor(value)
    return -1 if known is None or known.shape is None else len(known.shape)


#: The functions that return the reason why a result contains 0 for all data, by operator.
HOLDING: Mapping[str, Callable[[Values, Node, Tensor], str]] = {
    "OneHot": _one_hot,
    "Hardmax": _hard,
    "Range": _count,
    "CumSum": _earlier_sum,
    **dict.fromkeys(("Sub", "Subtract"), _distance),
}
