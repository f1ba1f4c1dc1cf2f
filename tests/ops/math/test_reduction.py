"""Reductions and accumulations against ONNX's node tests, OpenVINO, ONNX Runtime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops import openvino_versions
from irlint.ops.math.reduction import accumulated, cum_sum, ov_cum_sum, reduced, reduced_values
from irlint.ops.shared import contents

F = "float32"
N, H, W = symbol("N"), symbol("H"), symbol("W")


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_openvino_cum_sum_warns_of_its_axis() -> None:
    with stated() as statements:
        ov_cum_sum(Tensor(F, (2, 3)), Tensor("int64", (), (2,)))
        ov_cum_sum(Tensor(F, (2, 3)), Tensor("int64", (2,), (0, 1)))
    assert [fault.rule.code for fault in statements.faults] == ["IRL300", "IRL339"]


# --- contents and symbols ---------------------------------------------------------------------------------------------


def contents_of(op: str, x: Tensor, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    combine, empty = openvino_versions(op)[0].fold
    return reduced_values(x, axes, reduced(x.shape, axes, keepdims), combine=combine, empty=empty)


def test_symbolic_contents() -> None:
    sizes = Tensor("int64", (3,), (N, 4, H))
    assert contents_of("ReduceProd", sizes, (0,)) == (4 * N * H,)
    assert contents_of("ReduceSum", sizes, (0,), keepdims=True) == (N + H + 4,)
    assert contents_of("ReduceProd", Tensor("int64", (3,), (N, None, 2)), (0,)) == (None,)
    assert contents_of("ReduceProd", Tensor("int64", (0,), ()), (0,)) == (1,)
    assert contents_of("ReduceSum", Tensor("int64", (0,), ()), (0,)) == (0,)
    assert contents_of("ReduceMax", Tensor("int64", (0,), ()), (0,)) is None
    assert [str(entry) for entry in contents_of("ReduceMax", Tensor("int64", (2,), (H, W)), (0,))] == ["max(H, W)"]
    assert contents_of("ReduceMean", Tensor("int64", (1,), (H,)), (0,)) == (H,)
    assert contents_of("ReduceMean", Tensor("int64", (2,), (1, 2)), (0,)) == (None,)
    assert contents_of("ReduceLogicalAnd", Tensor("bool", (2,), (True, False)), (0,)) == (False,)


def test_symbolic_shapes() -> None:
    assert reduced((N, H, W), (1,), True) == (N, 1, W)
    assert reduced((N, H, W), (-1, 0), False) == (H,)
    assert reduced((N, 1, W), None, True) == (None, 1, None)
    assert reduced((H, H), None, False, count=1) == (H,)
    assert cum_sum(Tensor("int64", (3,), (N, 1, H)), Tensor("int64", (), (0,))).value == (N, N + 1, N + H + 1)


ARRAYS = st.lists(st.integers(0, 3), min_size=0, max_size=3)


@given(st.data())
def test_reductions_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(ARRAYS)
    array = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
    )
    array = array.astype(np.int64).reshape(shape)
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))) if shape else ())
    keepdims = data.draw(st.booleans())
    x = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    for op, ufunc in {
        "ReduceSum": np.add,
        "ReduceProd": np.multiply,
        "ReduceMax": np.maximum,
        "ReduceMin": np.minimum,
    }.items():
        try:
            expected = ufunc.reduce(array, axis=axes, keepdims=keepdims)
        except ValueError:
            assert contents_of(op, x, axes, keepdims) in (None, ())
            continue
        assert reduced(x.shape, axes, keepdims) == expected.shape
        assert contents_of(op, x, axes, keepdims) == tuple(expected.ravel().tolist())


@given(st.data())
def test_cumulative_sums_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) * 7 % 11
    axis = data.draw(st.integers(0, len(shape) - 1))
    exclusive, reverse = data.draw(st.booleans()), data.draw(st.booleans())
    turned = np.flip(array, axis) if reverse else array
    expected = np.cumsum(turned, axis) - (turned if exclusive else 0)
    expected = np.flip(expected, axis) if reverse else expected
    x = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    assert accumulated(x, axis, exclusive, reverse=reverse, combine=contents.plus, first=0) == tuple(
        expected.ravel().tolist()
    )


def test_axes_out_of_range() -> None:
    with pytest.raises(Fault, match=r"axes is 3 and input 0 has 3 axes"):
        reduced((2, 3, 4), (3,), True)
