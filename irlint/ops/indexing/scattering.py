"""The Scatter operators of both formats."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, at_least
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, reaches
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Contents, Scalar, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.indexing.gathering_tuples import check_tuples, nd_offset, too_long
from irlint.ops.shared import contents as fold
from irlint.ops.shared.axes import axis_of
from irlint.ops.shared.compiling import without_strings
from irlint.ops.shared.contents import Fold, fits, positions, strides
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED, INDEX_TYPES, common_type, expect_type
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED, expect_one, expect_rank
from irlint.ops.shared.index_ranges import IndexedAxis, out_of_range
from irlint.ops.shared.shape_inputs import number

UPDATES_MISMATCH = Rule(
    "IRL348",
    "scatter-updates-mismatch",
    Severity.ERROR,
    "The shape of a scatter's updates or indices contradicts the shape of the data.",
    why=(
        "The indices of ScatterElements must have the rank of the data, and its updates the shape of the indices. "
        "The updates of ScatterND must have the shape indices.shape[:-1] + data.shape[indices.shape[-1]:]. The "
        "updates of ScatterUpdate must have the shape data.shape[:axis] + indices.shape + data.shape[axis+1:]. The "
        "update of TensorScatter must not be longer than the cache on `axis`, and must have the sizes of the cache on "
        "the other axes. Runtimes refuse any other shape."
    ),
    fix="Give the updates the shape in the message.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x, int64[2,1] i, float[2,4] u) => (float[4,3] y) { y = ScatterND (x, i, u) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[4,3] x, int64[2,1] i, float[2,3] u) => (float[4,3] y) { y = ScatterND (x, i, u) }""",
)

REDUCTIONS: dict[str, Fold] = {
    "add": fold.plus,
    "sum": fold.plus,
    "mul": fold.times,
    "prod": fold.times,
    "max": fold.greater,
    "min": fold.lesser,
}


def mismatch(message: str, help: str, index: int, *marks: tuple[int, int]) -> Fault:
    """The fault of input ``index`` (indices or updates) with a wrong shape. A mark is (input, axis)."""
    return UPDATES_MISMATCH.fault(message, help=help, input=index, marks=marks, aligned="left")


def _expect_updates(updates: Shape | None, expected: Shape | None, why: str, *, as_indices: bool = False) -> None:
    """Checks the shape of the updates (input 2). Raises an ``UPDATES_MISMATCH`` fault.

    ``as_indices`` means that ``expected`` is the shape of the indices.
    """
    if updates is None or expected is None:
        return
    if len(updates) != len(expected):
        raise mismatch(
            f"input 2 has {counted(len(updates), 'axis', 'axes')}; the updates have to be {shape_text(expected)}: "
            f"{why}",
            f"give the updates the shape {shape_text(expected)}",
            2,
        )
    for axis, (a, b) in enumerate(zip(updates, expected)):
        if not agree(a, b, f"axis {axis} of the updates follows from {why}"):
            raise mismatch(
                f"axis {axis} is {a} in input 2, {shape_text(updates)}; the updates have to be "
                f"{shape_text(expected)}: {why}",
                f"make axis {axis} equal in inputs 1 and 2"
                if as_indices
                else f"give axis {axis} of the updates the size {b}",
                2,
                *([(1, axis)] if as_indices else []),
                (2, axis),
            )


def updated_values(
    data: Tensor, offsets: Sequence[int | None], updates: Sequence[Scalar], *, reduction: str
) -> Contents | None:
    """The values of ``data`` with ``updates`` at row-major ``offsets``.

    None for unknown data or offsets, and for a reduction that is not in ``REDUCTIONS``.
    """
    if data.value is None or None in offsets or (reduction != "none" and reduction not in REDUCTIONS):
        return None
    result = list(data.value)
    for offset, update in zip(offsets, updates):
        assert offset is not None
        before = result[offset]
        if reduction == "none":
            result[offset] = update
        else:
            result[offset] = None if before is None or update is None else REDUCTIONS[reduction](before, update)
    return tuple(result)


# --- ScatterElements --------------------------------------------------------------------------------------------------


def _values_of_elements(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int, reduction: str
) -> Contents | None:
    shape, numbers = data.shape, indices.ints
    if not fits(shape) or not fits(indices.shape) or numbers is None or updates.value is None:
        return None
    assert shape is not None and indices.shape is not None
    widths, size = strides(shape), shape[axis]  # type: ignore[arg-type]
    assert isinstance(size, int)
    offsets: list[int | None] = []
    for position, index in zip(positions(indices.shape), numbers):
        if not isinstance(index, int) or not -size <= index < size:
            offsets.append(None)
            continue
        target = (*position[:axis], index % size, *position[axis + 1 :])
        offsets.append(sum(a * b for a, b in zip(target, widths)))
    return updated_values(data, offsets, updates.value, reduction=reduction)


def _scatter_elements(data: Tensor, indices: Tensor, updates: Tensor, *, axis: int, reduction: str) -> Tensor:
    _expect_updates(updates.shape, indices.shape, "the shape of the indices", as_indices=True)
    rank = next((x.rank for x in (data, indices, updates) if x.rank is not None), None)
    if rank is None:
        return Tensor(data.dtype)
    place = axis_of(axis, rank)
    if data.shape is None or indices.shape is None:
        return Tensor(data.dtype, data.shape)
    _expect_rank_of_data(data.shape, indices.shape)
    for other, (size, part) in enumerate(zip(data.shape, indices.shape)):
        why = f"axis {other} of the indices is at most as large as axis {other} of the data"
        if other != place and not reaches(size, part, why):
            raise mismatch(
                f"axis {other} is {size} in input 0 and {part} in input 1; on all axes except {place}, the indices "
                "must not be larger than the data",
                f"make axis {other} of the indices at most {size}",
                1,
                (0, other),
                (1, other),
            )
    _check_range(indices, data.shape[place], place)
    return Tensor(data.dtype, data.shape, _values_of_elements(data, indices, updates, axis=place, reduction=reduction))


def _expect_rank_of_data(data: Shape, indices: Shape) -> None:
    if len(data) != len(indices):
        raise mismatch(
            f"input 0 has {counted(len(data), 'axis', 'axes')} and input 1 has {len(indices)}: "
            "both need the same number",
            f"give the indices {counted(len(data), 'axis', 'axes')}",
            1,
        )


Reduction16 = Literal["none", "add", "mul"]
Reduction18 = Literal["none", "add", "mul", "max", "min"]


@onnx("Scatter", since=9, until=10)
@onnx("ScatterElements", since=11)
def scatter_elements_11(data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0) -> Tensor:
    """ONNX ScatterElements-11, and Scatter-9, its former name."""
    return _scatter_elements(data, indices, updates, axis=axis, reduction="none")


@onnx("ScatterElements", since=16, lenient=("reduction",))
def scatter_elements_16(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: Reduction16 = "none"
) -> Tensor:
    """ONNX ScatterElements-16."""
    return _scatter_elements(data, indices, updates, axis=axis, reduction=reduction)


@onnx("ScatterElements", since=18, lenient=("reduction",))
def scatter_elements_18(
    data: Tensor, indices: Tensor, updates: Tensor, *, axis: int = 0, reduction: Reduction18 = "none"
) -> Tensor:
    """ONNX ScatterElements-18."""
    return _scatter_elements(data, indices, updates, axis=axis, reduction=reduction)


@openvino("ScatterElementsUpdate", since=3, until=11)
def scatter_elements_update_3(data: Tensor, indices: Tensor, updates: Tensor, axis: Tensor) -> Tensor:
    """OpenVINO ScatterElementsUpdate-3."""
    return scatter_elements_update_12(data, indices, updates, axis)


ElementsReduction = Literal["none", "sum", "prod", "min", "max", "mean"]


@openvino("ScatterElementsUpdate", since=12, compiles=without_strings)
def scatter_elements_update_12(
    data: Tensor,
    indices: Tensor,
    updates: Tensor,
    axis: Tensor,
    *,
    reduction: ElementsReduction = "none",
    use_init_val: bool = True,
) -> Tensor:
    """OpenVINO ScatterElementsUpdate-12."""
    common_type((data, None, updates))
    expect_type(indices, 1, INTEGERS | {"bool"})
    expect_type(axis, 3, INTEGERS)
    expect_rank(axis, 3, 0, 1, what="axis")
    if axis.value == ():
        raise INPUT_RANK_REFUSED.fault(
            "input 3 (axis) is empty; the operation needs one axis", help="name the axis", input=3
        )
    if reduction == "mean" and data.dtype == "bool":
        raise ELEMENT_TYPE_REFUSED.fault(
            'input 0 is bool, but reduction is "mean", which is computed only for numbers',
            help="use another reduction, or convert inputs 0 and 2 to numbers",
            input=0,
            attribute="reduction",
        )
    if data.shape is not None and indices.shape is not None:
        _expect_rank_of_data(data.shape, indices.shape)
    _expect_updates(updates.shape, indices.shape, "the shape of the indices", as_indices=True)
    place = axis.ints[0] if axis.ints else None
    if data.shape is None or not isinstance(place, int):
        return Tensor(data.dtype, data.shape)
    place = axis_of(place, len(data.shape))
    _check_range(indices, data.shape[place], place)
    # irlint computes no values for the reduction "mean", nor for a reduction without the initial values.
    computed = reduction if use_init_val or reduction == "none" else "mean"
    return Tensor(data.dtype, data.shape, _values_of_elements(data, indices, updates, axis=place, reduction=computed))


def _check_range(indices: Tensor, dim: MaybeDim, axis: int) -> None:
    """Checks that no known index lies outside ``axis`` of size ``dim``. Raises an ``INDEX_OUT_OF_RANGE`` fault."""
    fault = out_of_range(indices, IndexedAxis(dim, axis), index=1)
    if fault is not None:
        raise fault


# --- ScatterND --------------------------------------------------------------------------------------------------------


def tuple_updates(data: Shape | None, indices: Shape | None) -> Shape | None:
    """The shape of the updates of ScatterND: ``indices[:-1] + data[indices[-1]:]``.

    Raises an ``INDICES_MISMATCH`` fault.
    """
    if data is None or indices is None:
        return None
    length = indices[-1]
    if at_least(len(data), length) is False:
        raise too_long(data, indices)
    return (*indices[:-1], *data[length:]) if isinstance(length, int) else None


def _values_of_tuples(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str) -> Contents | None:
    numbers, values = indices.ints, updates.value
    if not fits(data.shape) or not fits(indices.shape) or numbers is None or values is None or not indices.shape:
        return None
    assert data.shape is not None
    widths, length = strides(data.shape), indices.shape[-1]  # type: ignore[arg-type]
    assert isinstance(length, int)
    rows = len(positions(indices.shape[:-1]))
    inner = len(values) // rows if rows else 0
    offsets: list[int | None] = []
    for row in range(rows):
        start = nd_offset(numbers[row * length : (row + 1) * length], data.shape, widths)
        offsets += [None if start is None else start + step for step in range(inner)]
    return updated_values(data, offsets, values, reduction=reduction)


def _expect_tuple_length(data: Tensor, indices: Tensor, updates: Tensor) -> None:
    """Checks that index tuples of dynamic length can have the length that the ranks of the inputs require.

    Raises an ``UPDATES_MISMATCH`` fault.
    """
    if data.rank is None or updates.rank is None or not indices.shape or isinstance(indices.shape[-1], int):
        return
    length = len(indices.shape) - 1 + data.rank - updates.rank
    why = f"updates of {counted(updates.rank, 'axis', 'axes')} need index tuples of length {length}"
    if not 0 <= length <= data.rank or not agree(indices.shape[-1], length, why):
        raise mismatch(
            f"input 0 has {counted(data.rank, 'axis', 'axes')}, input 1 has {len(indices.shape)} and input 2 has "
            f"{updates.rank}: the last axis of input 1, the length of an index tuple, would have to be {length}",
            "give input 2 the shape indices[:-1] + data[indices[-1]:]",
            2,
        )


def _scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str) -> Tensor:
    expect_rank(data, 0, least=1)
    expect_rank(indices, 1, least=1)
    _expect_updates(updates.shape, tuple_updates(data.shape, indices.shape), "indices[:-1] + data[indices[-1]:]")
    check_tuples(data, indices, 0, severity=Severity.ERROR)
    return Tensor(data.dtype, data.shape, _values_of_tuples(data, indices, updates, reduction=reduction))


def _onnx_scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: str) -> Tensor:
    _expect_tuple_length(data, indices, updates)
    return _scatter_nd(data, indices, updates, reduction=reduction)


@onnx("ScatterND", since=11)
def scatter_nd_11(data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """ONNX ScatterND-11."""
    return _onnx_scatter_nd(data, indices, updates, reduction="none")


@onnx("ScatterND", since=16, lenient=("reduction",))
def scatter_nd_16(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: Reduction16 = "none") -> Tensor:
    """ONNX ScatterND-16."""
    return _onnx_scatter_nd(data, indices, updates, reduction=reduction)


@onnx("ScatterND", since=18, lenient=("reduction",))
def scatter_nd_18(data: Tensor, indices: Tensor, updates: Tensor, *, reduction: Reduction18 = "none") -> Tensor:
    """ONNX ScatterND-18."""
    return _onnx_scatter_nd(data, indices, updates, reduction=reduction)


@openvino("ScatterNDUpdate", since=4, until=14, ignores_extra_inputs=True)
def scatter_nd_update_3(data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """OpenVINO ScatterNDUpdate-3, in opset4 to opset14."""
    return scatter_nd_update_15(data, indices, updates)


TupleReduction = Literal["none", "sum", "sub", "prod", "min", "max"]


@openvino("ScatterNDUpdate", since=15, compiles=without_strings, ignores_extra_inputs=True)
def scatter_nd_update_15(
    data: Tensor, indices: Tensor, updates: Tensor, *, reduction: TupleReduction = "none"
) -> Tensor:
    """OpenVINO ScatterNDUpdate-15."""
    common_type((data, None, updates))
    expect_type(indices, 1, INDEX_TYPES)
    return _scatter_nd(data, indices, updates, reduction=reduction)


# --- ScatterUpdate ----------------------------------------------------------------------------------------------------


@openvino("ScatterUpdate", since=3, ignores_extra_inputs=True)
def scatter_update(data: Tensor, indices: Tensor, updates: Tensor, axis: Tensor) -> Tensor:
    """OpenVINO ScatterUpdate-3."""
    common_type((data, None, updates))
    expect_type(indices, 1, INTEGERS)
    expect_type(axis, 3, INTEGERS)
    expect_one(axis, 3, "axis")
    if data.shape is None:
        return Tensor(data.dtype)
    place: MaybeDim = number(axis)
    if isinstance(place, int):
        place = axis_of(place, len(data.shape))
    if indices.shape is not None:
        expected: Shape = (None,) * (len(data.shape) + len(indices.shape) - 1)
        if isinstance(place, int):
            expected = (*data.shape[:place], *indices.shape, *data.shape[place + 1 :])
        _expect_updates(updates.shape, expected, "data[:axis] + indices + data[axis+1:]")
    if not isinstance(place, int):
        return Tensor(data.dtype, data.shape)
    _check_range(indices, data.shape[place], place)
    return Tensor(data.dtype, data.shape, _values_of_slices(data, indices, updates, axis=place))


def _values_of_slices(data: Tensor, indices: Tensor, updates: Tensor, *, axis: int) -> Contents | None:
    numbers = indices.ints
    if not fits(data.shape) or numbers is None or updates.value is None:
        return None
    assert data.shape is not None
    size, inner = data.shape[axis], strides(data.shape)[axis]  # type: ignore[arg-type]
    assert isinstance(size, int)
    offsets: list[int | None] = []
    for outer in range(len(positions(data.shape[:axis]))):
        for index in numbers:
            if not isinstance(index, int) or not -size <= index < size:
                return None
            start = (outer * size + index % size) * inner
            offsets += range(start, start + inner)
    return updated_values(data, offsets, updates.value, reduction="none")
