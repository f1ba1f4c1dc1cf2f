"""StridedSlice against OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, ir_document
from oracles.engines import assert_same_verdict, irlint_on_ir

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.model.tensor import Tensor
from irlint.ops.layout import striding

X = Input("float32", 2, 3, 10)
H = symbol("H")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def strided(begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...] = (), **masks: tuple[int, ...]):
    """The inputs and attributes of a StridedSlice of X; begin_mask and end_mask are 0 unless given."""
    inputs = [X, i64(*begin), i64(*end), *([i64(*strides)] if strides else [])]
    return inputs, {"begin_mask": (0,) * len(begin), "end_mask": (0,) * len(begin), **masks}


STRIDED_SLICES = [
    strided((0, 0, 0), (1, 2, 3), (1, 1, 1)),
    strided((0, 0, 0), (1, 2, 3)),
    strided((0, 0, 0), (1, 2, 3), begin_mask=(1, 1, 1), end_mask=(1, 1, 0)),
    strided((0, 0, 0), (1, 2, 3), begin_mask=(), end_mask=()),
    strided((0, 0, 0), (1, 2, 3), begin_mask=(2,), end_mask=(3,)),
    strided((0, 0, 0), (1, 2, 3), begin_mask=(1, 1, 1, 1, 1), end_mask=(1,)),
    strided((1, 2), (0, 2), shrink_axis_mask=(1, 1)),
    strided((-2, 2), (0, 2), shrink_axis_mask=(1, 1)),
    strided((1, 2), (0, 2), (-1, 1), shrink_axis_mask=(1, 1)),
    strided((1, 2), (0, 2), (0, 1), shrink_axis_mask=(1, 1)),
    strided((1, 2), (0, 2), (0, 1), shrink_axis_mask=(0, 1)),
    strided((0, 1), (0, 2), new_axis_mask=(1, 0)),
    strided((0, 1), (0, 2), new_axis_mask=(1, 0), shrink_axis_mask=(1, 0)),
    strided((0, 1), (0, 2), ellipsis_mask=(1, 0)),
    strided((0, 1), (0, 2), ellipsis_mask=(1, 1)),
    strided((1, 0, 1), (2, 0, 2), ellipsis_mask=(0, 1, 0), shrink_axis_mask=(1, 0, 0)),
    strided((1, 0, 0, 1), (2, 0, 0, 2), ellipsis_mask=(0, 1, 0, 0), new_axis_mask=(0, 0, 1, 0)),
    strided((1, 0, 0, 1), (2, 0, 0, 2), ellipsis_mask=(0, 1, 0, 0), new_axis_mask=(0, 1, 1, 0)),
    strided((0, 0, 0, 0), (1, 1, 1, 1)),
    strided((0, 0, 0, 0), (1, 1, 1, 1), new_axis_mask=(0, 1, 0, 0)),
    strided((0, 0), (1, 1, 1)),
    strided((0, 0), (1, 1), (1,)),
    strided((0, 0), (1, 1), (1, 0)),
    strided((-20,), (-30,), (-1,)),
    strided((-20, 5), (2, -30), (-1, -1)),
    strided((0, 0, 0), (1, 1, 1), ellipsis_mask=(0, 0, 1)),
    strided((0, 0, 0, 0), (1, 1, 1, 1), ellipsis_mask=(0, 0, 0, 1)),
    strided((0, 0, 0, 0), (1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0)),
    strided((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0, 0)),
    strided((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0, 0), new_axis_mask=(0, 1, 0, 0, 0)),
    strided((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0, 0), new_axis_mask=(0, 0, 1, 0, 0)),
    strided((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0, 0), new_axis_mask=(1, 0, 0, 1, 0)),
    strided((0, 0, 0, 0, 0), (1, 1, 1, 1, 1), ellipsis_mask=(0, 0, 1, 0, 0), shrink_axis_mask=(1, 0, 1, 1, 0)),
    strided((0, 0, 0), (1, 1, 1), begin_mask=(1,), end_mask=(1,)),
    strided((), ()),
]


@pytest.mark.parametrize(("inputs", "attributes"), STRIDED_SLICES, ids=range(len(STRIDED_SLICES)))
def test_strided_slice_as_openvino(inputs: list[object], attributes: dict[str, object]) -> None:
    assert_same_verdict("StridedSlice", "opset1", inputs, attributes)  # type: ignore[arg-type]


OPEN_STRIDED_SLICES = [
    ([X, i64(0, 0), np.array([1, 1], np.int32)], {}),
    ([X, np.zeros(2, np.float32), i64(1, 1)], {}),
    ([X, np.array(0), np.array(1)], {}),
    ([X, Input("int64", 2), Input("int64", 2)], {}),
    ([X, Input("int64", 2), Input("int64", 2)], {"begin_mask": (1, 0), "end_mask": (0, 0), "shrink_axis_mask": (0, 1)}),
    ([X, Input("int64", None), Input("int64", None)], {}),
    ([X, Input("int64", 2), Input("int64", 2), i64(0, 1)], {"shrink_axis_mask": (0, 1)}),
    ([X, Input("int64", 4), Input("int64", 4)], {}),
    ([X, Input("int64", 2), i64(1, 1)], {"begin_mask": (1, 0), "end_mask": (0, 0)}),
    ([X, Input("int64", 2, 1), i64(1, 1)], {}),
    ([X, i64(0, 0), i64(1, 1), Input("int64", 2)], {}),
    ([X, Input.any_rank("int64"), i64(1, 1)], {"begin_mask": (1, 0), "end_mask": (0, 0)}),
    ([Input.any_rank("float32"), i64(0, 0), i64(1, 1)], {}),
    ([Input("float32", None, 10), i64(0, 3), i64(2, 8), i64(1, 2)], {}),
    ([Input("float32"), i64(0), i64(1)], {}),
    ([Input("float32"), i64(0), i64(1)], {"begin_mask": (0,), "end_mask": (0,), "new_axis_mask": (1,)}),
    ([Input("float32"), i64(0), i64(1)], {"begin_mask": (0,), "end_mask": (0,), "ellipsis_mask": (1,)}),
]


@pytest.mark.parametrize(("inputs", "attributes"), OPEN_STRIDED_SLICES, ids=range(len(OPEN_STRIDED_SLICES)))
def test_open_strided_slice_as_openvino(inputs: list[object], attributes: dict[str, object]) -> None:
    masks = attributes or {"begin_mask": (0, 0), "end_mask": (0, 0)}
    assert_same_verdict("StridedSlice", "opset1", inputs, masks)  # type: ignore[arg-type]


def test_masks_tell_the_size_where_begin_and_end_are_unknown() -> None:
    inputs = [X, Input("int64", 2), Input("int64", 2), i64(1, 2)]
    masks = {"begin_mask": (1, 1), "end_mask": (1, 1)}
    assert assert_same_verdict("StridedSlice", "opset1", inputs, masks, finer=True) == [("float32", (2, 2, 10))]


def test_an_axis_removed_at_an_index_that_it_does_not_have() -> None:
    inputs, attributes = strided((5, 2), (0, 2), shrink_axis_mask=(1, 1))
    assert str(irlint_on_ir(*ir_document("StridedSlice", "opset1", inputs, attributes))).startswith(
        "IRL346 input 1 holds the index 5, and axis 0 has 2 elements: allowed is -2 to 1"
    )


@pytest.mark.parametrize(
    ("count", "rank", "masks", "expected"),
    [
        (2, 3, ((), ()), [("range", 0, 0), ("range", 1, 1), ("whole", 2, 2)]),
        (2, 3, ((0,), ()), [("new", 0, 0), ("range", 0, 1), ("whole", 1, 2), ("whole", 2, 2)]),
        (2, 3, ((), (1,)), [("range", 0, 0), ("whole", 1, 1), ("whole", 2, 1)]),
        (2, 1, ((), (0,)), [("range", 0, 1)]),
    ],
)
def test_plan(count: int, rank: int, masks: tuple[tuple[int, ...], tuple[int, ...]], expected: object) -> None:
    nothing = frozenset[int]()
    new_axis, ellipsis = map(frozenset, masks)
    assert striding.strided_plan(rank, count, striding.Masks(nothing, nothing, new_axis, nothing, ellipsis)) == expected
    with pytest.raises(Fault, match="at most one may be an ellipsis"):
        striding.strided_plan(rank, count, striding.Masks(nothing, nothing, nothing, nothing, frozenset({0, 1})))


def test_contents() -> None:
    shape = Tensor("int64", (4,), (1, 3, H, None))

    def taken(begin: int, end: int, **masks: tuple[int, ...]) -> Tensor:
        first, last = Tensor("int64", (1,), (begin,)), Tensor("int64", (1,), (end,))
        every = {"begin_mask": (0,), "end_mask": (0,), **masks}
        return striding.strided_slice(shape, first, last, **every, context=None)  # type: ignore[arg-type]

    assert taken(2, 3) == Tensor("int64", (1,), (H,))
    assert taken(-2, 0, end_mask=(1,)) == Tensor("int64", (2,), (H, None))
    assert taken(2, 3, shrink_axis_mask=(1,)) == Tensor("int64", (), (H,))
    assert taken(2, 3, new_axis_mask=(1,)) == Tensor("int64", (1, 4), (1, 3, H, None))
