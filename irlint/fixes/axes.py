"""How a Reshape divides the elements of a value into axes."""

from __future__ import annotations

from irlint.contracts.simplified import has_extremes
from irlint.dims import Dim, Shape, product
from irlint.model.tensor import Tensor, Type


def mixes_axes(given: Type | None, made: Type | None) -> bool | None:
    """Whether a Reshape does more than join and divide axes; None if a shape is unknown or too complex.

    ``[N, 12, 32]`` to ``[N, 12, 4, 8]`` divides one axis. ``[N, 12, 32]`` to ``[N, 8, 6, 8]`` mixes two.
    """
    before, after = (each.shape if isinstance(each, Tensor) else None for each in (given, made))
    ends = [_ends(shape) for shape in (before, after) if shape is not None]
    if len(ends) < 2 or None in ends[0] or None in ends[1]:
        return None
    shared = [end for end in ends[0] if end in ends[1]]
    is_complex = any(has_extremes(dim) for dim in (*(before or ()), *(after or ())) if dim is not None)
    mixes = any(min(counts) > 1 for counts in zip(*(_counts(each, shared) for each in ends)))
    return None if mixes and is_complex else mixes


def _ends(shape: Shape) -> list[Dim | None]:
    """The number of elements up to the end of each axis longer than 1."""
    return [product(shape[: axis + 1]) for axis, dim in enumerate(shape) if dim != 1]


def _counts(ends: list[Dim | None], shared: list[Dim | None]) -> list[int]:
    """The number of axes between shared ends, and after the last one."""
    places = [*(ends.index(end) + 1 for end in shared), len(ends)]
    return [place - before for before, place in zip([0, *places], places)]
