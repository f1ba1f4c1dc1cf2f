"""Gather, GatherElements, GatherND and GatherTree against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.indexing.gathering import gather, gathered, gathered_values, ov_gather_8, values_of_elements
from irlint.ops.indexing.gathering_tuples import gather_nd, ov_gather_nd_8

H, W = symbol("H"), symbol("W")


@given(st.data())
def test_contents_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    array = np.arange(np.prod(shape)).reshape(shape)
    picked = data.draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), min_size=0, max_size=4))
    indices = np.array(picked, np.int64).reshape((1, -1))
    expected = np.take(array, indices, axis)
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    asked = Tensor("int64", indices.shape, tuple(picked))
    assert gathered(tuple(shape), indices.shape, axis) == expected.shape
    assert gathered_values(known, asked, axis) == tuple(expected.ravel().tolist())
    along = np.resize(np.array(picked or [0]), shape)
    if picked:
        taken = Tensor("int64", tuple(shape), tuple(along.ravel().tolist()))
        expected = np.take_along_axis(array, along, axis)
        assert values_of_elements(known, taken, axis) == tuple(expected.ravel().tolist())


def test_symbolic_contents() -> None:
    shape = Tensor("int64", (3,), (1, H, None))
    assert gather(shape, Tensor("int64", (), (-2,))) == Tensor("int64", (), (H,))
    assert gather(shape, Tensor("int64", (2,), (2, 0))) == Tensor("int64", (2,), (None, 1))
    assert gather(shape, Tensor("int64", (2,), (None, 0))) == Tensor("int64", (2,), (None, 1))
    assert gather_nd(shape, Tensor("int64", (1, 1), (1,))) == Tensor("int64", (1,), (H,))


def test_an_index_needs_its_axis_to_reach_so_far() -> None:
    with stated() as statements:
        gather(Tensor("float32", (H, W)), Tensor("int64", (2,), (0, 4)), axis=1)
        gather(Tensor("float32", (H, W)), Tensor("int64", (), (-3,)))
    assert [requirement.condition for requirement in statements.requirements] == ["W >= 5", "H >= 3"]
    assert not statements.faults


def test_openvino_reads_zeros_out_of_range() -> None:
    axis = Tensor("int64", (), (0,))
    with stated() as statements:
        ov_gather_8(Tensor("float32", (4, 3)), Tensor("int64", (1,), (4,)), axis)
    assert [fault.rule.name for fault in statements.faults] == ["index-out-of-range"]


def test_batches_differ_whatever_the_index_tuple_is() -> None:
    with pytest.raises(Fault, match="batch axis 1 is 3 in input 0 and 5 in input 1"):
        ov_gather_nd_8(Tensor("float32", (2, 3, 10)), Tensor("int64", (None, 5, None)), batch_dims=2)


def test_onnx_runtime_lets_batches_be_multiples() -> None:
    data, indices = Tensor("float32", (2, 3, 10)), Tensor("int64", (4, 1))
    with stated() as statements:
        assert gather_nd(data, indices, batch_dims=1).shape == (4, 10)
    assert [fault.rule.name for fault in statements.faults] == ["gather-indices-mismatch"]
    with pytest.raises(Fault, match="batch axis 0 is 2 in input 0 and 3 in input 1"):
        gather_nd(data, Tensor("int64", (3, 1)), batch_dims=1)
