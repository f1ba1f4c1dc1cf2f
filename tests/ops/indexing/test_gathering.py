"""Gather, GatherElements, GatherND and GatherTree against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.indexing.gathering import (
    elements_contents,
    gather,
    gather_nd,
    gathered,
    gathered_contents,
    ov_gather_8,
    ov_gather_nd_8,
)

X = Input("float32", 2, 3, 10)
H, W = symbol("H"), symbol("W")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


@pytest.mark.parametrize("case", node_cases("Gather", "GatherElements", "GatherND"), ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


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
    assert gathered_contents(known, asked, axis) == tuple(expected.ravel().tolist())
    along = np.resize(np.array(picked or [0]), shape)
    if picked:
        taken = Tensor("int64", tuple(shape), tuple(along.ravel().tolist()))
        expected = np.take_along_axis(array, along, axis)
        assert elements_contents(known, taken, axis) == tuple(expected.ravel().tolist())


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


GATHERS = [
    ((X, i64(0, 2), np.array(1)), {}),
    ((X, i64(0, 3), np.array(1)), {}),
    ((X, i64(0, -1), np.array(1)), {}),
    ((X, i64(0, 2), i64(1)), {}),
    ((X, i64(0, 2), i64(1, 1)), {}),
    ((X, i64(0, 2), np.array(3)), {}),
    ((X, i64(0, 2), np.array(-3)), {}),
    ((X, i64(0, 2), np.array(-4)), {}),
    ((X, Input("int64", 2, 2), Input("int64")), {}),
    ((X, Input("int64", 2), Input("int64", 2)), {}),
    ((X, np.zeros(1, np.float32), np.array(1)), {}),
    ((X, i64(1), np.array(1, np.float32)), {}),
    ((Input("float32"), np.array(0), np.array(0)), {}),
    ((X, Input.any_rank("int64"), np.array(1)), {}),
    ((Input.any_rank("float32"), i64(1), np.array(1)), {}),
    ((X, Input("int64", 2, 4), np.array(1)), {"batch_dims": 1}),
    ((X, Input("int64", 3, 4), np.array(1)), {"batch_dims": 1}),
    ((X, Input("int64", 2, 4), np.array(2)), {"batch_dims": -1}),
    ((X, Input("int64", 2, 4), np.array(0)), {"batch_dims": 1}),
    ((X, Input("int64", 2, 3), np.array(2)), {"batch_dims": 2}),
    ((X, Input("int64", 2, 3), np.array(2)), {"batch_dims": 3}),
    ((X, Input("int64", 2, 4), Input("int64")), {"batch_dims": 1}),
    ((X, Input.any_rank("int64"), np.array(1)), {"batch_dims": 1}),
    ((X, Input.any_rank("int64"), np.array(1)), {"batch_dims": -1}),
    ((X, Input("int64", None, 4), np.array(1)), {"batch_dims": 1}),
    ((Input("float32", None, 3), Input("int64", None, 4), np.array(1)), {"batch_dims": 1}),
    ((Input.any_rank("float32"), Input("int64", 2, 4), np.array(1)), {"batch_dims": 1}),
    ((Input.any_rank("float32"), Input("int64", 2, 4), np.array(1)), {"batch_dims": 3}),
    ((Input.any_rank("float32"), Input("int64", 2, 4), np.array(-1)), {"batch_dims": 1}),
]


@pytest.mark.parametrize("version", ["opset1", "opset7", "opset8"])
@pytest.mark.parametrize(("inputs", "attributes"), GATHERS, ids=range(len(GATHERS)))
def test_gather_as_openvino(version: str, inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Gather", version, list(inputs), attributes)  # type: ignore[arg-type]


GATHER_ELEMENTS = [
    ((X, Input("int64", 2, 3, 4)), 2),
    ((X, Input("int64", 2, 5, 4)), 2),
    ((X, Input("int64", 2, 2, 4)), 2),
    ((X, Input("int64", 2, 3)), 2),
    ((X, Input("int64", 2, 3, 2)), 3),
    ((X, Input("int64", 2, 3, 2)), -1),
    ((X, Input("int64", 2, 3, 2)), -4),
    ((X, Input("int32", 2, 3, 4)), 2),
    ((X, Input("uint32", 2, 3, 4)), 2),
    ((X, Input.any_rank("int64")), 2),
    ((X, Input.any_rank("int64")), 3),
    ((Input.any_rank("float32"), Input("int64", 2, 3, 4)), 2),
    ((Input.any_rank("float32"), Input("int64", 2, 3, 4)), 5),
    ((Input.any_rank("float32"), Input.any_rank("int64")), 5),
    ((Input("float32", None, 3, 10), Input("int64", 2, None, 4)), 2),
    ((Input("float32"), Input("int64")), 0),
    ((Input("float32", 3), Input("int64", 9)), 0),
    ((Input("float32", 5, None, 10), Input("int64", None, 7, None)), 2),
]


@pytest.mark.parametrize(("inputs", "axis"), GATHER_ELEMENTS, ids=range(len(GATHER_ELEMENTS)))
def test_gather_elements_as_openvino(inputs: tuple[object, ...], axis: int) -> None:
    assert_same_verdict("GatherElements", "opset6", list(inputs), {"axis": axis})  # type: ignore[arg-type]


GATHER_NDS = [
    ((X, np.array([[0, 1]])), 0),
    ((X, np.array([[0, 3]])), 0),
    ((X, Input("int64", 4, 4)), 0),
    ((X, Input("int64", 2, 1)), 1),
    ((X, Input("int64", 3, 1)), 1),
    ((X, Input("int64", 2, 3)), 1),
    ((X, Input("int64", 2)), 1),
    ((X, Input("int64", 2, 3, 1)), 2),
    ((X, Input("int64", 2, 3, 1, 1)), 2),
    ((X, Input("int64", 2, 3, 4, 0)), 2),
    ((X, Input("int64", 2, 3, 10, 1)), 3),
    ((X, np.array(1)), 0),
    ((Input("float32"), Input("int64", 1)), 0),
    ((X, Input("int64", 2, None)), 0),
    ((X, Input("int64", None, 2)), 0),
    ((X, Input.any_rank("int64")), 0),
    ((X, Input.any_rank("int64")), 4),
    ((Input.any_rank("float32"), Input("int64", 2, 2)), 0),
    ((X, Input("float32", 2, 2)), 0),
    ((X, Input("int64", 2, 2)), -1),
    ((X, Input("int64", None, 3, None)), 2),
    ((Input("float32", None, None, 10), Input("int64", None, 5, 1)), 2),
    ((Input("float32", None, 3, 10), Input("int64", 4, None, 2, 1)), 2),
    ((Input("float32", None, None, 10), Input("int64", None, None, 2, 1)), 2),
    ((X, Input("int64", 4, 0)), 0),
]


@pytest.mark.parametrize("version", ["opset5", "opset8"])
@pytest.mark.parametrize(("inputs", "batch_dims"), GATHER_NDS, ids=range(len(GATHER_NDS)))
def test_gather_nd_as_openvino(version: str, inputs: tuple[object, ...], batch_dims: int) -> None:
    assert_same_verdict("GatherND", version, list(inputs), {"batch_dims": batch_dims})  # type: ignore[arg-type]


def tree(steps: tuple[int | None, ...] | None, parents: tuple[int | None, ...], length: tuple[int | None, ...]):
    first = Input.any_rank("int32") if steps is None else Input("int32", *steps)
    return first, Input("int32", *parents), Input("int32", *length), Input("int32")


TREES = [
    tree((5, 2, 3), (5, 2, 3), (2,)),
    tree((5, 2, 3), (5, 2, 4), (2,)),
    tree((5, 2, 3), (5, 2, 3), (3,)),
    tree((5, 2, 3), (5, 2, 3), (2, 1)),
    tree((5, 2), (5, 2), (2,)),
    tree((None, 2, 3), (5, None, 3), (2,)),
    tree((5, 2, 3), (5, 2, 3), (None,)),
    tree(None, (5, 2, 3), (2,)),
    tree(None, (5, 2, 3, 1), (2,)),
    (*tree((5, 2, 3), (5, 2, 3), (2,))[:3], Input("int32", 1)),
    (*tree((5, 2, 3), (5, 2, 3), (2,))[:3], Input("int64")),
    (Input("bool", 5, 2, 3), Input("bool", 5, 2, 3), Input("bool", 2), Input("bool")),
]


@pytest.mark.parametrize("inputs", TREES, ids=range(len(TREES)))
def test_gather_tree_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("GatherTree", "opset1", list(inputs))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("Gather", [X, i64(0, 3)], {"axis": 1}, "IRL346"),
        ("Gather", [X, i64(-4)], {"axis": 1}, "IRL346"),
        ("Gather", [X, np.array(0)], {"axis": 3}, "IRL300"),
        ("Gather", [Input("float32"), np.array(0)], {}, "IRL339"),
        ("GatherElements", [X, Input("int64", 2, 5, 4)], {"axis": 2}, "IRL347"),
        ("GatherElements", [X, Input("int64", 2, 3)], {"axis": 2}, "IRL347"),
        ("GatherElements", [X, Input("int64", 2, 3, 2)], {"axis": 3}, "IRL300"),
        ("GatherElements", [Input("float32", 3), i64(0, 3)], {}, "IRL346"),
        ("GatherND", [X, np.array([[0, 3]])], {}, "IRL346"),
        ("GatherND", [X, np.array([[0, 1, 2, 3]])], {}, "IRL347"),
        ("GatherND", [X, np.array([[0], [1], [2]])], {"batch_dims": 1}, "IRL347"),
        ("GatherND", [X, np.array([[0, 1]])], {"batch_dims": -1}, "IRL347"),
        ("GatherND", [X, np.array(1)], {}, "IRL347"),
        ("GatherND", [Input("float32"), Input("int64", 1)], {}, "IRL347"),
    ],
)
def test_faults(op: str, inputs: list[object], attributes: dict[str, object], expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


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
