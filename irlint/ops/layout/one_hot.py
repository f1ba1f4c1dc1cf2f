"""OneHot."""

from __future__ import annotations

import math

from irlint.dims import MaybeDim, Shape
from irlint.findings.faults import Fault
from irlint.findings.statements import agree
from irlint.model.tensor import INTEGERS, Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.layout.creation import NegativeIndices
from irlint.ops.shared.axes import result_axis
from irlint.ops.shared.compiling import (
    Layer,
    first_of,
    not_compiled,
    readable_constants,
)
from irlint.ops.shared.element_types import common_type, expect_type
from irlint.ops.shared.expectations import INPUT_RANK_REFUSED, expect_one, expect_rank
from irlint.ops.shared.shape_inputs import stated_size


def one_hot_shape(indices: Shape | None, depth: MaybeDim, axis: int) -> Shape | None:
    """The shape of ``indices`` with an axis of size ``depth`` inserted at ``axis``.

    Raises an ``AXIS_OUT_OF_RANGE`` fault.
    """
    if indices is None:
        return None
    place = result_axis(axis, len(indices) + 1)
    return (*indices[:place], depth, *indices[place:])


@onnx("OneHot", since=9)
def one_hot(indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1) -> Tensor:
    """ONNX OneHot; ``values`` are [off_value, on_value]."""
    expect_rank(indices, 0, least=1, what="indices")
    expect_one(depth, 1, "depth")
    expect_rank(values, 2, 1, what="values")
    if values.shape is not None and not agree(values.shape[0], 2, "input 2 has two entries, off_value and on_value"):
        raise INPUT_RANK_REFUSED.fault(
            f"input 2 (values) is {shape_text(values.shape)}; it needs two numbers, off_value and on_value",
            help="give input 2 the shape [2]",
            input=2,
        )
    return Tensor(values.dtype, one_hot_shape(indices.shape, _depth(depth), axis))


def _depth(depth: Tensor) -> MaybeDim:
    entry = depth.scalar
    if isinstance(entry, float):
        entry = int(entry) if math.isfinite(entry) else None
    return stated_size(entry, 1, "depth")


def _ov_one_hot(indices: Tensor, depth: Tensor, on_value: Tensor, *, off_value: Tensor, axis: int) -> Tensor:
    expect_type(indices, 0, INTEGERS | {"bool"})
    expect_type(depth, 1, INTEGERS | {"bool"})
    for index, x in ((1, depth), (2, on_value), (3, off_value)):
        expect_one(x, index, ("", "depth", "on_value", "off_value")[index], scalar=True)
    dtype = common_type((on_value, off_value), first=2)
    return Tensor(dtype, one_hot_shape(indices.shape, _depth(depth), axis))


#: Element types of indices that the CPU plugin does not support.
_NOT_AS_INDICES = frozenset({"int8", "uint8", "int4", "uint4", "uint2", "bool"})


def _compiled_indices(layer: Layer) -> Fault | None:
    dtype = layer.dtype(0)
    if dtype not in _NOT_AS_INDICES:
        return None
    return not_compiled(
        f"input 0 (indices) is {dtype}, which the CPU plugin does not support",
        help="convert the indices to int32 or int64",
        input=0,
        forbidden=True,
    )


@openvino(
    "OneHot",
    until=15,
    absent={"axis": 0},
    compiles=first_of(_compiled_indices, readable_constants(1)),
    ignores_extra_inputs=True,
)
def ov_one_hot(indices: Tensor, depth: Tensor, on_value: Tensor, off_value: Tensor, *, axis: int) -> Tensor:
    """OpenVINO OneHot-1."""
    return _ov_one_hot(indices, depth, on_value, off_value=off_value, axis=axis)


@openvino(
    "OneHot",
    since=16,
    absent={"axis": 0},
    compiles=first_of(_compiled_indices, readable_constants(1)),
    ignores_extra_inputs=True,
)
def ov_one_hot_of_negatives(
    indices: Tensor,
    depth: Tensor,
    on_value: Tensor,
    off_value: Tensor,
    *,
    axis: int,
    negative_indices_mode: NegativeIndices = "ignore_negative",
) -> Tensor:
    """OpenVINO OneHot-16."""
    return _ov_one_hot(indices, depth, on_value, off_value=off_value, axis=axis)
