"""The texts of faults about clashing sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.dims import MaybeDim, Shape
from irlint.model.tensor import shape_text, size_text

#: An axis of an input: the index of the input, and the axis.
Axis = tuple[int, int]

#: The shapes of inputs by their indices.
Shapes = Sequence[Shape | None] | Mapping[int, Shape | None]


def clash_text(shapes: Shapes, pairs: Sequence[tuple[Axis, Axis]], *, aligned: bool = False) -> str:
    """The text for pairs of clashing axes: "axis 3 is 56 in input 0 and 55 in input 1".

    ``aligned``: the broadcast rule aligns shapes at their last axes. The text also shows both shapes of the first pair
    if there are several pairs, or if aligned shapes differ in rank.
    """
    (left, a), (right, b) = pairs[0]
    one, other = shapes[left], shapes[right]
    assert one is not None and other is not None
    both_shapes = f": input {left} is {shape_text(one)} and input {right} is {shape_text(other)}"
    if aligned and len(one) != len(other):
        base = max(len(one), len(other)) - len(one)
        return "; ".join(_pair_text(shapes, pair, pair[0][1] + base) for pair in pairs) + both_shapes
    if len(pairs) > 1:
        return "; ".join(_pair_text(shapes, pair, pair[0][1]) for pair in pairs) + both_shapes
    if a == b:
        return f"axis {a} is {size_text(one[a])} in input {left} and {size_text(other[b])} in input {right}"
    return f"{size_text(one[a])} (axis {a} of input {left}) against {size_text(other[b])} (axis {b} of input {right})"


def _pair_text(shapes: Shapes, pair: tuple[Axis, Axis], axis: int) -> str:
    (left, a), (right, b) = pair
    return f"axis {axis} is {size_text(_size(shapes, left, a))} against {size_text(_size(shapes, right, b))}"


def _size(shapes: Shapes, index: int, axis: int) -> MaybeDim:
    shape = shapes[index]
    return None if shape is None else shape[axis]
