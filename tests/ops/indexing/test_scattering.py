"""The Scatter operators against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.indexing.caches import tensor_scatter
from irlint.ops.indexing.scattering import (
    scatter_elements_18,
    scatter_nd_18,
    scatter_nd_update_15,
    scatter_update,
)

H = symbol("H")


def known(array: np.ndarray) -> Tensor:
    return Tensor("int64", array.shape, tuple(array.ravel().tolist()))


@given(st.data())
def test_contents_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    array = np.arange(np.prod(shape)).reshape(shape)
    rows = data.draw(st.permutations(range(shape[axis])))
    indices = np.broadcast_to(np.expand_dims(rows, tuple(range(1, len(shape) - axis))), shape)
    updates = -array - 1
    expected = array.copy()
    np.put_along_axis(expected, indices, updates, axis)
    result = scatter_elements_18(known(array), known(indices), known(updates), axis=axis)
    assert result.value == tuple(expected.ravel().tolist())
    place = data.draw(st.integers(-shape[axis], shape[axis] - 1))
    expected = array.copy()
    part = expected.take([place], axis) * 0 - 7
    np.moveaxis(expected, axis, 0)[place] = -7
    result = scatter_update(known(array), known(np.array([place])), known(part), known(np.array(axis)))
    assert result.value == tuple(expected.ravel().tolist())
    row = data.draw(st.integers(-shape[0], shape[0] - 1))
    expected = array.copy()
    expected[row] += 5
    result = scatter_nd_18(known(array), known(np.array([[row]])), known(array[[row]] * 0 + 5), reduction="add")
    assert result.value == tuple(expected.ravel().tolist())


def test_symbolic_contents() -> None:
    shape = Tensor("int64", (3,), (1, H, None))
    place, size = Tensor("int64", (1,), (2,)), Tensor("int64", (1,), (H * 2,))
    assert scatter_elements_18(shape, place, size).value == (1, H, H * 2)
    unknown = Tensor("int64", (1,), (None,))
    assert scatter_elements_18(shape, unknown, size).value is None


def test_requirements() -> None:
    with stated() as statements:
        scatter_nd_18(Tensor("float32", (4, H)), Tensor("int64", (2, 1)), Tensor("float32", (2, 8)))
        tensor_scatter(Tensor("float32", (1, H, 4)), Tensor("float32", (1, 3, 4)))
    assert [requirement.condition for requirement in statements.requirements] == ["8 == H", "H >= 3"]


def test_dynamic_index_tuples() -> None:
    """ONNX Runtime refuses indices [1] with updates [1]; OpenVINO runs them where both are dynamic."""
    for scatter, conditions in ((scatter_nd_18, ["H == 0", "H == 2"]), (scatter_nd_update_15, [])):
        with stated() as statements:
            scatter(Tensor("float32", (512,)), Tensor("int64", (H,)), Tensor("float32", (H,)))
            scatter(Tensor("float32", (4, 8)), Tensor("int64", (3, H)), Tensor("float32", (3,)))
        assert [requirement.condition for requirement in statements.requirements] == conditions
