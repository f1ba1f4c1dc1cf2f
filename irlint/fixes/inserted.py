"""The nodes that a fix inserts before an input: what each makes of the value there."""

from __future__ import annotations

from collections.abc import Callable

from irlint.dims import product
from irlint.model.tensor import INTEGERS, Tensor

CAST, TRANSPOSE, SQUEEZE, UNSQUEEZE, FLATTEN = "Cast", "Transpose", "Squeeze", "Unsqueeze", "Flatten"
RESHAPE = "Reshape"

#: From this opset on the axes of Squeeze and Unsqueeze are an input.
AXES_ARE_AN_INPUT = 13


def cast(given: Tensor, to: str) -> Tensor:
    """A value of the shape ``given``, and of another element type."""
    return Tensor(to, given.shape, given.value if to in INTEGERS and given.dtype in INTEGERS else None)


def transposed(given: Tensor, perm: tuple[int, ...]) -> Tensor | None:
    """A value with its axes in the order of ``perm``; None where these are not its axes."""
    shape = given.shape
    if not shape or sorted(perm) != list(range(len(shape))):
        return None
    return Tensor(given.dtype, tuple(shape[axis] for axis in perm))


def squeezed(given: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """A value without some axes of size 1; None where one of them has another size."""
    shape = given.shape
    if shape is None or any(axis >= len(shape) or shape[axis] != 1 for axis in axes):
        return None
    return Tensor(given.dtype, tuple(dim for at, dim in enumerate(shape) if at not in axes), given.value)


def unsqueezed(given: Tensor, axes: tuple[int, ...]) -> Tensor | None:
    """A value with more axes of size 1, at these places of the result; None where its rank is unknown."""
    if given.shape is None:
        return None
    shape = list(given.shape)
    for axis in sorted(axes):
        shape.insert(axis, 1)
    return Tensor(given.dtype, tuple(shape), given.value)


def flattened(given: Tensor, axis: int) -> Tensor | None:
    """A value as a matrix, of the axes before ``axis`` and of the others; None where its shape is unknown."""
    if given.shape is None:
        return None
    return Tensor(given.dtype, (product(given.shape[:axis]), product(given.shape[axis:])), given.value)


#: What each makes of a type, given its attributes; the names of axes are those of ONNX.
RESULTS: dict[str, Callable[..., Tensor | None]] = {
    CAST: cast,
    TRANSPOSE: transposed,
    SQUEEZE: squeezed,
    UNSQUEEZE: unsqueezed,
    FLATTEN: flattened,
}

#: The attribute of each that says what it makes.
NAMES = {CAST: "to", TRANSPOSE: "perm", SQUEEZE: "axes", UNSQUEEZE: "axes", FLATTEN: "axis"}
