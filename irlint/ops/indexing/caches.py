"""TensorScatter."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape
from irlint.findings.statements import agree, reaches
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor
from irlint.ops import onnx
from irlint.ops.indexing.scattering import mismatch
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, axis_of
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

CacheMode = Literal["linear", "circular"]


@onnx("TensorScatter", since=24)
def tensor_scatter(
    past_cache: Tensor,
    update: Tensor,
    write_indices: Tensor | None = None,
    *,
    axis: int = -2,
    mode: CacheMode = "linear",
) -> Tensor:
    """ONNX TensorScatter-24."""
    shape = past_cache.shape if past_cache.shape is not None else update.shape
    if shape is None:
        return Tensor(past_cache.dtype)
    place = axis_of(axis, len(shape))
    if place == 0:
        raise AXIS_OUT_OF_RANGE.fault(
            f"axis is {axis}, the batch axis of input 0 with {counted(len(shape), 'axis', 'axes')}; allowed: 1 to "
            f"{len(shape) - 1}",
            help="use the axis of the sequence",
            input=0,
        )
    cache = past_cache.shape
    if cache is not None and update.shape is not None:
        _check_update(cache, update.shape, place)
    if write_indices is not None and write_indices.shape is not None:
        _check_write_indices(write_indices, shape[0], cache, update=update.shape, axis=place, mode=mode)
    return Tensor(past_cache.dtype, cache)


def _check_update(cache: Shape, update: Shape, axis: int) -> None:
    if len(cache) != len(update):
        axes = counted(len(cache), "axis", "axes")
        raise mismatch(
            f"input 0 has {axes} and input 1 has {len(update)}: both need the same number",
            f"give the update {axes}",
            1,
        )
    for other, (size, dim) in enumerate(zip(cache, update)):
        why = (
            f"axis {other} of the update is at most as large as axis {other} of the cache"
            if other == axis
            else f"axis {other} is equal in the cache and the update"
        )
        if reaches(size, dim, why) if other == axis else agree(size, dim, why):
            continue
        allowed = f"at most {size}" if other == axis else str(size)
        raise mismatch(
            f"axis {other} is {size} in input 0 and {dim} in input 1; in the update it has to be {allowed}",
            f"give axis {other} of the update a size of {allowed}",
            1,
            (0, other),
            (1, other),
        )


def _check_write_indices(
    indices: Tensor, batch: MaybeDim, cache: Shape | None, *, update: Shape | None, axis: int, mode: str
) -> None:
    expect_rank(indices, 2, 1)
    assert indices.shape is not None
    if not agree(batch, indices.shape[0], "each batch has a write index"):
        raise mismatch(
            f"input 2 has {counted(indices.shape[0], 'entry', 'entries')} for {batch} batches",
            "give each batch one write index",
            2,
            (0, 0),
            (2, 0),
        )
    if mode == "circular" or cache is None or update is None:
        return
    size, length = cache[axis], update[axis]
    for index in indices.ints or ():
        if index is None or length is None or reaches(size, index + length, "the update ends within the cache"):
            continue
        raise INDEX_OUT_OF_RANGE.fault(
            f"input 2 holds the index {index}, and the update of {length} elements would end after axis {axis} of the "
            f"cache, which has {size}",
            help='use a smaller index, or mode="circular"',
            input=2,
            marks=((0, axis), (1, axis)),
        )
