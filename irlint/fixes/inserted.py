"""The output types of nodes that fixes insert before an input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product as iterate
from math import prod

from irlint.dims import Shape, product
from irlint.lazy_typing import Any
from irlint.model.tensor import INTEGERS, Tensor

CAST, TRANSPOSE, SQUEEZE, UNSQUEEZE, FLATTEN = "Cast", "Transpose", "Squeeze", "Unsqueeze", "Flatten"
RESHAPE = "Reshape"

#: From this opset on, the axes of Squeeze and Unsqueeze are an input.
AXES_ARE_AN_INPUT = 13


def cast(given: Tensor, to: str) -> Tensor:
    """The type after a Cast to the element type ``to``."""
    return Tensor(to, given.shape, given.value if to in INTEGERS and given.dtype in INTEGERS else None)


def transposed(given: Tensor, perm: tuple[int, ...]) -> Tensor | None:
    """The type after a Transpose; None if ``perm`` does not list the axes."""
    shape = given.shape
    if not shape or sorted(perm) != list(range(len(shape))):
        return None
    after = tuple(shape[axis] for axis in perm)
    is_known = given.value is not None and given.dtype in INTEGERS
    known = _elements_transposed(given.value or (), shape, perm) if is_known else None
    if given.extent is None:
        return Tensor(given.dtype, after, known)
    from irlint.ops.shared import bounds

    return Tensor(given.dtype, after, known, bounds.permuted(given, perm))


def _elements_transposed(elements: Sequence[Any], shape: Shape, perm: Sequence[int]) -> tuple[Any, ...] | None:
    """The elements of a value after a Transpose; None if a size is unknown."""
    sizes = [dim for dim in shape if isinstance(dim, int)]
    if len(sizes) != len(shape):
        return None
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    places = iterate(*(range(sizes[axis]) for axis in perm))
    return tuple(elements[sum(at * steps[axis] for at, axis in zip(place, perm))] for place in places)


def _rearranged(given: Tensor, shape: Shape) -> Tensor:
    """The type with another shape and the elements in the same order."""
    from irlint.ops.shared.contents import rearranged

    return rearranged(given, shape)


def squeezed(given: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """The type after a Squeeze; None if an axis does not have size 1."""
    shape = given.shape
    if shape is None or any(axis >= len(shape) or shape[axis] != 1 for axis in axes):
        return None
    return _rearranged(given, tuple(dim for at, dim in enumerate(shape) if at not in axes))


def unsqueezed(given: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """The type after an Unsqueeze by axes of the result; None if the rank is unknown."""
    if given.shape is None:
        return None
    shape = list(given.shape)
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return _rearranged(given, tuple(shape))


def flattened(given: Tensor, axis: int) -> Tensor | None:
    """The type after a Flatten to a matrix; None if the shape is unknown."""
    if given.shape is None:
        return None
    return _rearranged(given, (product(given.shape[:axis]), product(given.shape[axis:])))


#: The functions of the output types, by operator. Parameters have the names of ONNX's attributes.
RESULTS: dict[str, Callable[..., Tensor | None]] = {
    CAST: cast,
    TRANSPOSE: transposed,
    SQUEEZE: squeezed,
    UNSQUEEZE: unsqueezed,
    FLATTEN: flattened,
}

#: The attributes that decide the output types, by operator.
NAMES = {CAST: "to", TRANSPOSE: "perm", SQUEEZE: "axes", UNSQUEEZE: "axes", FLATTEN: "axis"}
