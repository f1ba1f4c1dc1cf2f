"""Constants, shapes, ranges, one-hot and random tensors against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import onnx_model
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from oracles.engines import irlint_on_onnx

import irlint.ops.math.sampling
from irlint.dims import Dim, symbol
from irlint.findings.faults import Fault
from irlint.model.tensor import Tensor
from irlint.ops.layout.creation import constant_of_shape, filled, shape_values
from irlint.ops.layout.one_hot import one_hot_shape
from irlint.ops.layout.ranges import range_size, ranged

assert irlint.ops.math.sampling.ov_random_uniform

H, N = symbol("H"), symbol("N")


# --- Constant ---------------------------------------------------------------------------------------------------------


def test_a_sparse_constant_is_dense() -> None:
    values = helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 2.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", TensorProto.INT64, [2], [0, 3]), [2, 3])
    assert irlint_on_onnx(onnx_model("Constant", [], {"sparse_value": sparse}, 13)) == [("float32", (2, 3))]


# --- shapes -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(-7, 7), st.none() | st.integers(-7, 7))
def test_shape_is_cut_as_a_list(dims: list[int], start: int, end: int | None) -> None:
    found = shape_values(tuple(dims), "int64", start, end=end)
    clamp = [
        min(max(place + len(dims) if place < 0 else place, 0), len(dims))
        for place in (start, len(dims) if end is None else end)
    ]
    assert found.value == tuple(dims[clamp[0] : clamp[1]])


def test_symbolic_shapes() -> None:
    assert shape_values((1, H, None), "int32") == Tensor("int32", (3,), (1, H, None))
    assert shape_values(None, "int64") == Tensor("int64", (None,))
    assert constant_of_shape(Tensor("int64", (2,), (N, 3))) == Tensor("float32", (N, 3))
    assert constant_of_shape(Tensor("int64", (2,), (1, 2))).value == (0.0, 0.0)
    assert constant_of_shape(Tensor("int64", (2,))).shape == (None, None)
    assert constant_of_shape(Tensor("int64", (None,))).shape is None
    assert filled((2,), "int64", 7).value == (7, 7)


# --- ranges -----------------------------------------------------------------------------------------------------------


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_ranges_of_whole_numbers(start: int, limit: int, step: int) -> None:
    expected = list(range(start, limit, step))
    assert range_size(start, limit, step) == len(expected)
    assert ranged(start, step, len(expected), dtype="int64").value == tuple(expected)


@given(st.integers(-40, 40), st.integers(-40, 40), st.integers(-8, 8).filter(bool))
def test_ranges_of_fractions(start: int, limit: int, step: int) -> None:
    assert range_size(start / 8, limit / 8, step / 8) == len(np.arange(start / 8, limit / 8, step / 8))


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0, N, 1), "N"),
        ((0, N, 2), "(N + 1)//2"),
        ((N, 0, -1), "N"),
        ((2, N + 2, 1), "N"),
        ((1, N, 1), "max(N - 1, 0)"),
        ((0.0, N, 1.0), "N"),
        ((H, N + H, 3), "(N + 2)//3"),
    ],
)
def test_symbolic_ranges(ends: tuple[Dim, Dim, Dim], expected: str) -> None:
    assert str(range_size(*ends)) == expected


def test_unknown_ranges() -> None:
    assert range_size(0, N, H) is None
    assert range_size(0, None, 1) is None
    assert range_size(0.5, N, 1) is None
    with pytest.raises(Fault, match="step"):
        range_size(0, N, 0)


def test_one_hot_shapes() -> None:
    assert one_hot_shape((N, 3), 5, -1) == (N, 3, 5)
    assert one_hot_shape((N, 3), H, 0) == (H, N, 3)
    assert one_hot_shape(None, 5, 9) is None
