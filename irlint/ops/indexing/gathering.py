"""Gather, GatherElements and GatherTree."""

from __future__ import annotations

from irlint.dims import Shape
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, reaches, warn
from irlint.findings.wording import axes_help, counted, size_help
from irlint.model.tensor import INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.broadcast import merged
from irlint.ops.shared.compiling import Layer, constants_at, first_of, not_compiled, readable_constants, types_at
from irlint.ops.shared.contents import fits, positions, strides
from irlint.ops.shared.element_types import ARITHMETIC, INDEX_TYPES, common_type, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.index_ranges import IndexedAxis, out_of_range
from irlint.ops.shared.sizes import narrower

INDICES_MISMATCH = Rule(
    "IRL347",
    "gather-indices-mismatch",
    Severity.ERROR,
    "The shape of a gather's indices contradicts the shape of the data.",
    why=(
        "The batch axes of Gather must have equal sizes in data and indices. The indices of GatherElements must have "
        "the rank of the data, and no axis except `axis` may be larger than in the data (in OpenVINO, it must be "
        "equal). The last axis of GatherND's indices must not be longer than the number of data axes after the batch "
        "axes."
    ),
    fix="Reshape the indices as the operator requires, or correct `axis` and `batch_dims`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x, int64[2,3] i) => (float[2] y) { y = GatherND (x, i) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x, int64[2,2] i) => (float[2] y) { y = GatherND (x, i) }""",
)


def state_fault(fault: Fault | None, severity: Severity) -> None:
    """Raises a fault if ``severity`` is an error; otherwise, reports the fault at this severity."""
    if fault is None:
        return
    if severity is Severity.ERROR:
        raise fault
    warn(fault.lowered(severity))


def mismatch_fault(message: str, help: str, *marks: tuple[int, int]) -> Fault:
    """The fault of indices (input 1) with a wrong shape. A mark is (input, axis)."""
    return INDICES_MISMATCH.fault(message, help=help, input=1, marks=marks, aligned="left")


# --- Gather -----------------------------------------------------------------------------------------------------------


def gathered(data: Shape | None, indices: Shape | None, axis: int | None, *, batch_dims: int = 0) -> Shape | None:
    """The shape of a Gather: ``data[:axis] + indices[batch_dims:] + data[axis+1:]``.

    ``axis`` is counted from 0; it is None if it is unknown.
    """
    if data is None or indices is None:
        return None
    if axis is None:
        return (*_batch(data, indices, batch_dims), *(None,) * (len(data) + len(indices) - 1 - 2 * batch_dims))
    return (*_batch(data, indices, batch_dims), *data[batch_dims:axis], *indices[batch_dims:], *data[axis + 1 :])


def _batch(data: Shape, indices: Shape, batch_dims: int) -> Shape:
    return tuple(map(narrower, data[:batch_dims], indices))


def gathered_values(data: Tensor, indices: Tensor, axis: int) -> Contents | None:
    """The values that Gather selects, if they are known and few."""
    shape, numbers = data.shape, indices.ints
    if data.value is None or shape is None or not fits(shape) or numbers is None or indices.shape is None:
        return None
    if not fits(gathered(shape, indices.shape, axis)):
        return None
    size = shape[axis]
    inner = strides(shape)[axis]  # type: ignore[arg-type]
    assert isinstance(size, int)
    result: list[Scalar] = []
    for start in range(0, len(data.value), size * inner or 1):
        for index in numbers:
            if not isinstance(index, int) or not -size <= index < size:
                result += [None] * inner
                continue
            first = start + (index % size) * inner
            result += data.value[first : first + inner]
    return tuple(result)


@onnx("Gather")
def gather(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """ONNX Gather."""
    # Before opset 11, runtimes allow negative indices, but the specification does not.
    expect_rank(data, 0, least=1)
    place = None if data.rank is None else axis_of(axis, data.rank)
    return _gathered(data, indices, place, batch_dims=0, negative=True, severity=Severity.ERROR)


def _gathered(
    data: Tensor, indices: Tensor, axis: int | None, *, batch_dims: int, negative: bool, severity: Severity
) -> Tensor:
    value = None
    if axis is not None and data.shape is not None:
        indexed = IndexedAxis(data.shape[axis], axis, negative=negative, demanded=severity is Severity.ERROR)
        state_fault(out_of_range(indices, indexed, index=1), severity)
        value = gathered_values(data, indices, axis) if batch_dims == 0 else None
    shape = gathered(data.shape, indices.shape, axis, batch_dims=batch_dims)
    if value is not None or axis is None or batch_dims or (data.value is None and data.extent is None):
        return Tensor(data.dtype, shape, value)
    from irlint.ops.shared import bounds

    return Tensor(data.dtype, shape, None, bounds.gathered(data, indices, axis))


def _without_entries(layer: Layer) -> Fault | None:
    """The fault of a Gather with known sizes and an empty result."""
    data, indices, axis = layer.sizes(0), layer.sizes(1), layer.inputs[2]
    place = axis.scalar if isinstance(axis, Tensor) else None
    if data is None or not indices or not isinstance(place, int) or not -len(data) <= place < len(data):
        return None
    others = (*data[: place % len(data)], *data[place % len(data) + 1 :])
    if 0 not in (*others, *indices):
        return None
    index = 0 if 0 in others else 1
    return not_compiled(
        f"input {index} is {shape_text((data, indices)[index])}: the result is empty, and the CPU plugin crashes",
        help="remove the operation, or make a size of input 0 or 1 dynamic",
        input=index,
    )


_COMPILED = first_of(constants_at(2), _without_entries)


@openvino(
    "Gather",
    since=1,
    until=6,
    compiles=first_of(
        _without_entries,
        readable_constants(2),
        types_at(1, 2, allowed=INTEGERS, reason="OpenVINO replaces the layer by Gather of opset7, which accepts"),
    ),
)
def ov_gather_1(data: Tensor, indices: Tensor, axis: Tensor) -> Tensor:
    """OpenVINO Gather-1. A negative index selects zeros."""
    return _ov_gathered(data, indices, axis, batch_dims=0, negative=False)


@openvino("Gather", since=7, until=7, compiles=_COMPILED)
def ov_gather_7(data: Tensor, indices: Tensor, axis: Tensor, *, batch_dims: int = 0) -> Tensor:
    """OpenVINO Gather-7."""
    expect_type(indices, 1, INTEGERS, read=False)
    expect_type(axis, 2, INTEGERS)
    return _ov_gathered(data, indices, axis, batch_dims=batch_dims, negative=False)


@openvino("Gather", since=8, compiles=_COMPILED)
def ov_gather_8(data: Tensor, indices: Tensor, axis: Tensor, *, batch_dims: int = 0) -> Tensor:
    """OpenVINO Gather-8. A negative index counts from the end."""
    expect_type(indices, 1, INTEGERS, read=False)
    expect_type(axis, 2, INTEGERS)
    return _ov_gathered(data, indices, axis, batch_dims=batch_dims, negative=True)


def _ov_gathered(data: Tensor, indices: Tensor, axis: Tensor, *, batch_dims: int, negative: bool) -> Tensor:
    expect_one(axis, 2, "axis")
    expect_rank(data, 0, least=1)
    entry = axis.scalar
    place = int(entry) if isinstance(entry, (int, float)) else None
    if place is not None and data.rank is not None:
        place = axis_of(place, data.rank)
    if batch_dims < 0 and indices.rank is None:
        return Tensor(data.dtype)
    batch = batch_dims + (indices.rank or 0) if batch_dims < 0 else batch_dims
    if batch < 0:
        rank = indices.rank or 0
        refused = batch < -rank and data.rank is not None
        accepted = "" if refused else ", although OpenVINO accepts it"
        warn(
            INDICES_MISMATCH.fault(
                f"batch_dims is {batch_dims} and input 1 has {counted(rank, 'axis', 'axes')}; batch_dims must be at "
                f"least {-rank}{accepted}",
                help="use the number of batch axes of both inputs",
                attribute="batch_dims",
                severity=Severity.ERROR if refused else Severity.WARNING,
            )
        )
        return Tensor(data.dtype)
    _check_batch(data.shape, indices.shape, batch, attribute=batch_dims, axis=place)
    if data.rank is None:
        return Tensor(data.dtype)
    return _gathered(data, indices, place, batch_dims=batch, negative=negative, severity=Severity.WARNING)


def _check_batch(data: Shape | None, indices: Shape | None, batch: int, *, attribute: int, axis: int | None) -> None:
    """Checks the number ``batch`` and the sizes of the batch axes. The message shows ``attribute``, the file's number.

    Raises an ``INDICES_MISMATCH`` fault.
    """
    limits = [
        (None if data is None else len(data), "axes of input 0"),
        (None if indices is None else len(indices), "axes of input 1"),
    ]
    if axis is not None and axis >= 0:
        limits.append((axis, "value of the axis"))
    for limit, what in limits:
        if batch < 0 or (limit is not None and batch > limit):
            raise INDICES_MISMATCH.fault(
                f"batch_dims is {attribute}; it has to be at most {limit}, the "
                f"{'number of ' if 'axes' in what else ''}{what}",
                help="lower `batch_dims`, or gather along a later axis",
                attribute="batch_dims",
            )
    if data is not None and indices is not None:
        agree_on_batch(data, indices, batch)


def agree_on_batch(data: Shape, indices: Shape, batch_dims: int) -> None:
    """Checks that the batch axes of data and indices are equal. Raises an ``INDICES_MISMATCH`` fault."""
    for axis in range(batch_dims):
        if not agree(data[axis], indices[axis], f"batch axis {axis} is equal in data and indices"):
            raise mismatch_fault(
                f"batch axis {axis} is {data[axis]} in input 0 and {indices[axis]} in input 1; it has to be equal",
                f"make axis {axis} equal in both inputs, or lower `batch_dims`",
                (0, axis),
                (1, axis),
            )


# --- GatherElements ---------------------------------------------------------------------------------------------------


def _expect_equal_ranks(data: Shape | None, indices: Shape | None, index: int = 1) -> None:
    if data is None or indices is None or len(data) == len(indices):
        return
    raise INDICES_MISMATCH.fault(
        f"input 0 has {counted(len(data), 'axis', 'axes')} and input {index} has "
        f"{len(indices)}: both need the same number",
        help=axes_help(index, len(data), 0, rank_of_other=len(indices)),
        input=index,
    )


def values_of_elements(data: Tensor, indices: Tensor, axis: int) -> Contents | None:
    """The values that GatherElements selects, if they are known and few."""
    shape, numbers = data.shape, indices.ints
    if data.value is None or shape is None or numbers is None or indices.shape is None:
        return None
    if not fits(shape) or not fits(indices.shape):
        return None
    widths, size = strides(shape), shape[axis]  # type: ignore[arg-type]
    assert isinstance(size, int)
    result: list[Scalar] = []
    for position, number in zip(positions(indices.shape), numbers):
        if not isinstance(number, int) or not -size <= number < size:
            result.append(None)
            continue
        source = (*position[:axis], number % size, *position[axis + 1 :])
        result.append(data.value[sum(a * b for a, b in zip(source, widths))])
    return tuple(result)


@onnx("GatherElements", since=11)
def gather_elements(data: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    """ONNX GatherElements."""
    _expect_equal_ranks(data.shape, indices.shape)
    rank = data.rank if data.rank is not None else indices.rank
    if rank is None:
        return Tensor(data.dtype)
    place = axis_of(axis, rank)
    if data.shape is None or indices.shape is None:
        return Tensor(data.dtype, indices.shape)
    for other, (size, part) in enumerate(zip(data.shape, indices.shape)):
        why = f"axis {other} of the indices is at most as large as axis {other} of the data"
        if other != place and not reaches(size, part, why):
            raise mismatch_fault(
                f"axis {other} is {size} in input 0 and {part} in input 1; on all axes except {place}, the indices "
                "must not be larger than the data",
                f"make axis {other} of the indices at most {size}",
                (0, other),
                (1, other),
            )
    return _elements(data, indices, place, shape=indices.shape)


def _elements(data: Tensor, indices: Tensor, axis: int, *, shape: Shape) -> Tensor:
    if data.shape is not None:
        state_fault(out_of_range(indices, IndexedAxis(data.shape[axis], axis), index=1), Severity.ERROR)
    return Tensor(data.dtype, shape, values_of_elements(data, indices, axis))


@openvino("GatherElements", since=6, absent={"axis": 0}, kept=True)
def ov_gather_elements(data: Tensor, indices: Tensor, *, axis: int) -> Tensor:
    """OpenVINO GatherElements-6."""
    expect_type(indices, 1, INDEX_TYPES)
    place = axis if data.rank is None else axis_of(axis, data.rank)
    for index, tensor in enumerate((data, indices)):
        expect_rank(tensor, index, least=1)
    _expect_equal_ranks(data.shape, indices.shape)
    if data.shape is None or indices.shape is None:
        if data.shape is None:
            return Tensor(data.dtype, indices.shape)
        return Tensor(data.dtype, (*data.shape[:place], None, *data.shape[place + 1 :]))
    shape = list(indices.shape)
    for other, (a, b) in enumerate(zip(data.shape, indices.shape)):
        if other == place:
            continue
        if not agree(a, b, f"axis {other} is equal in data and indices"):
            raise mismatch_fault(
                f"axis {other} is {a} in input 0 and {b} in input 1; on all axes except {place}, both must be equal",
                f"make axis {other} equal in both inputs",
                (0, other),
                (1, other),
            )
        shape[other] = narrower(b, a)
    return _elements(data, indices, place, shape=tuple(shape))


# --- GatherTree -------------------------------------------------------------------------------------------------------


@openvino("GatherTree")
def gather_tree(step_ids: Tensor, parent_ids: Tensor, max_seq_len: Tensor, end_token: Tensor) -> Tensor:
    """OpenVINO GatherTree-1. The shape of the ids and the result is [time, batch, beam]."""
    dtype = common_type((step_ids, parent_ids, max_seq_len, end_token))
    expect_type(step_ids, 0, ARITHMETIC)
    shape = merged(
        (step_ids.shape, parent_ids.shape), INDICES_MISMATCH, "step_ids and parent_ids must have the same shape"
    )
    expect_rank(Tensor(dtype, shape), 0, 3, what="step_ids")
    expect_rank(max_seq_len, 2, 1, what="max_seq_len")
    expect_rank(end_token, 3, 0, what="end_token")
    if shape is not None and max_seq_len.shape is not None:
        if not agree(shape[1], max_seq_len.shape[0], "max_seq_len has one entry for each batch"):
            raise INDICES_MISMATCH.fault(
                f"axis 1 is {shape[1]} in input 0 and input 2 has {counted(max_seq_len.shape[0], 'entry', 'entries')}; "
                "input 2 needs one entry for each batch",
                help=f"give max_seq_len {counted(shape[1], 'entry', 'entries')}, or "
                f"{size_help(1, max_seq_len.shape[0])}",
                input=2,
                marks=((0, 1), (2, 0)),
            )
        shape = (shape[0], narrower(shape[1], max_seq_len.shape[0]), shape[2])
    return Tensor(dtype, shape)
