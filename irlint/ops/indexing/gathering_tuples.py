"""GatherND."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, at_least, product
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.indexing.gathering import agree_on_batch, mismatch_fault, state_fault
from irlint.ops.shared.contents import fits, positions, strides
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.index_ranges import IndexedAxis, out_of_range
from irlint.ops.shared.sizes import narrower
from irlint.schemas import MICROSOFT


def gathered_nd(data: Shape | None, indices: Shape | None, batch_dims: int) -> Shape | None:
    """The shape of a GatherND: ``indices[:-1] + data[batch_dims + indices[-1]:]``.

    Raises an ``INDICES_MISMATCH`` fault.
    """
    for index, shape in enumerate((data, indices)):
        if shape and batch_dims < 0:
            raise mismatch_fault(f"batch_dims is {batch_dims}; it must be at least 0", "use 0 or more")
        if shape is not None and len(shape) <= max(batch_dims, 0):
            what = f"batch_dims is {batch_dims}, and " if shape else ""
            raise mismatch_fault(
                f"{what}input {index} is {shape_text(shape)}; input {index} needs at least "
                f"{counted(max(batch_dims, 0) + 1, 'axis', 'axes')}",
                f"give input {index} at least one axis after the batch axes",
            )
    if data is None or indices is None:
        return None
    length = indices[-1]
    limit = len(data) - batch_dims
    if at_least(limit, length) is False:
        raise too_long(data, indices, batch_dims)
    if not isinstance(length, int):
        return None
    return (*indices[:-1], *data[batch_dims + length :])


def too_long(data: Shape, indices: Shape, batch_dims: int = 0) -> Fault:
    """The fault of index tuples that are longer than the number of data axes after the batch axes."""
    length, limit = indices[-1], len(data) - batch_dims
    return mismatch_fault(
        f"the last axis of input 1 is {length}, so each index covers {counted(length, 'axis', 'axes')}, but input 0 "
        f"({shape_text(data)}) has only {limit}"
        + (f" after {counted(batch_dims, 'batch axis', 'batch axes')}" if batch_dims else ""),
        f"give input 1 a last axis of at most {limit}",
        (1, len(indices) - 1),
    )


def nd_values(data: Tensor, indices: Tensor, batch_dims: int, *, shape: Shape | None) -> Contents | None:
    """The values of a GatherND with a result of ``shape``, if they are few. Unknown elements are None."""
    if data.value is None or data.shape is None or indices.shape is None or indices.ints is None:
        return None
    if not fits(data.shape) or not fits(shape) or not fits(indices.shape):
        return None
    widths = strides(data.shape)  # type: ignore[arg-type]
    length = indices.shape[-1]
    assert isinstance(length, int)
    inner = widths[batch_dims + length - 1] if batch_dims + length else len(data.value)
    result: list[Scalar] = []
    for row, position in enumerate(positions(indices.shape[:-1])):
        numbers = indices.ints[row * length : (row + 1) * length]
        offset = nd_offset(numbers, data.shape, widths, batch=position[:batch_dims])
        result += [None] * inner if offset is None else data.value[offset : offset + inner]
    return tuple(result)


def nd_offset(
    numbers: Sequence[MaybeDim], shape: Shape, widths: Sequence[int], *, batch: Sequence[int] = ()
) -> int | None:
    """The row-major offset of the element or slice at (*batch, *numbers), in a tensor with the strides ``widths``.

    None if an index is unknown or out of range.
    """
    offset = sum(a * b for a, b in zip(batch, widths))
    for axis, number in enumerate(numbers, len(batch)):
        size = shape[axis]
        if not isinstance(number, int) or not isinstance(size, int) or not -size <= number < size:
            return None
        offset += (number % size) * widths[axis]
    return offset


def check_tuples(data: Tensor, indices: Tensor, batch_dims: int, *, severity: Severity) -> None:
    """Checks that known index tuples are within the data.

    Raises an ``INDEX_OUT_OF_RANGE`` fault if ``severity`` is an error; otherwise, reports the fault at this severity.
    """
    if data.shape is None or indices.shape is None or (indices.value is None and indices.extent is None):
        return
    length = indices.shape[-1]
    if not isinstance(length, int) or not length:
        return
    from irlint.ops.shared.bounds import column

    for position in range(length):
        axis = batch_dims + position
        indexed = IndexedAxis(data.shape[axis], axis, demanded=severity is Severity.ERROR)
        state_fault(out_of_range(column(indices, position), indexed, index=1), severity)


@onnx("GatherND", since=11)
@onnx("GatherND", domain=MICROSOFT)
def gather_nd_11(data: Tensor, indices: Tensor) -> Tensor:
    """ONNX GatherND-11, com.microsoft GatherND."""
    return gather_nd(data, indices)


@onnx("GatherND", since=12)
def gather_nd(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """ONNX GatherND-12."""
    shape = gathered_nd(data.shape, indices.shape, batch_dims)
    if data.shape is not None and indices.shape is not None:
        _check_onnx_batch(data.shape, indices.shape, batch_dims)
    check_tuples(data, indices, batch_dims, severity=Severity.ERROR)
    return Tensor(data.dtype, shape, nd_values(data, indices, batch_dims, shape=shape))


def _check_onnx_batch(data: Shape, indices: Shape, batch_dims: int) -> None:
    try:
        agree_on_batch(data, indices, batch_dims)
    except Fault as fault:
        data_batches, batches = product(data[:batch_dims]), product(indices[:batch_dims])
        if isinstance(data_batches, int) and isinstance(batches, int) and (data_batches == 0 or batches % data_batches):
            raise
        # ONNX Runtime only requires that the indices' number of batches is a multiple of the data's number of batches.
        warn(fault.lowered(Severity.WARNING))


@openvino("GatherND", since=5, until=7, kept=True, ignores_extra_inputs=True)
def ov_gather_nd_5(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """OpenVINO GatherND-5. The result has one batch axis, whose size is the product of all batch sizes."""
    result = ov_gather_nd_8(data, indices, batch_dims=batch_dims)
    if result.shape is None or batch_dims < 2:
        return result
    merged = (product(result.shape[:batch_dims]), *result.shape[batch_dims:])
    return Tensor(result.dtype, merged, result.value)


@openvino("GatherND", since=8, kept=True, ignores_extra_inputs=True)
def ov_gather_nd_8(data: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    """OpenVINO GatherND-8."""
    expect_type(indices, 1, INTEGERS, read=False)
    shape = gathered_nd(data.shape, indices.shape, batch_dims)
    if data.shape is not None and indices.shape is not None:
        agree_on_batch(data.shape, indices.shape, batch_dims)
    if shape is not None and data.shape is not None:
        shape = (*map(narrower, shape[:batch_dims], data.shape), *shape[batch_dims:])
    check_tuples(data, indices, batch_dims, severity=Severity.WARNING)
    return Tensor(data.dtype, shape, nd_values(data, indices, batch_dims, shape=shape))
