"""The Scatter operators against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_ir, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.indexing.scattering import scatter_elements_18, scatter_nd_18, scatter_update, tensor_scatter

X = Input("float32", 2, 3, 10)
H = symbol("H")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def F(*dims: int | None) -> Input:
    return Input("float32", *dims)


def I(*dims: int | None) -> Input:  # noqa: E743
    return Input("int64", *dims)


ANY = Input.any_rank("float32")
CASES = node_cases("Scatter", "ScatterElements", "ScatterND", "TensorScatter")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


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


FAULTS = [
    ("ScatterElements", [X, I(2, 3, 4), F(2, 3, 5)], {}, 18, "IRL348"),
    ("ScatterElements", [X, I(2, 4, 4), F(2, 4, 4)], {}, 18, "IRL348"),
    ("ScatterElements", [X, I(2, 3), F(2, 3)], {}, 18, "IRL348"),
    ("ScatterElements", [X, I(2, 3, 4), F(2, 3, 4)], {"axis": 3}, 18, "IRL300"),
    ("ScatterElements", [F(3), i64(0, 3), F(2)], {}, 18, "IRL346"),
    ("ScatterElements", [F(3), i64(0, -4), F(2)], {}, 18, "IRL346"),
    ("Scatter", [X, I(2, 3, 4), F(2, 3, 4)], {}, 11, "IRL509"),
    ("ScatterND", [X, np.array([[0, 1]]), F(10)], {}, 18, "IRL348"),
    ("ScatterND", [X, np.array([[0, 1]]), F(1, 9)], {}, 18, "IRL348"),
    ("ScatterND", [X, np.array([[0, 3]]), F(1, 10)], {}, 18, "IRL346"),
    ("ScatterND", [X, np.array([[0, 1, 2, 3]]), F(1)], {}, 18, "IRL347"),
    ("ScatterND", [X, np.array(1), F(3, 10)], {}, 18, "IRL339"),
    ("ScatterND", [X, i64(1), F(1, 3, 10)], {}, 18, "IRL348"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 12, 4)], {}, 24, "IRL348"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 5)], {}, 24, "IRL348"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 2, 4)], {}, 24, "IRL348"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 4), i64(0, 0, 0)], {}, 24, "IRL348"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 4), i64(9, 0)], {}, 24, "IRL346"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 4)], {"axis": 0}, 24, "IRL300"),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 4)], {"mode": "x"}, 24, "IRL506"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_faults(op: str, inputs: list[object], attributes: dict[str, object], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


SOUND = [
    ("ScatterElements", [X, I(5, 3, 4), F(5, 3, 4)], {}, 18),
    ("ScatterElements", [X, I(1, 3, 4), F(1, 3, 4)], {"axis": 2}, 18),
    ("ScatterElements", [F(3), i64(0, -3), F(2)], {}, 18),
    ("ScatterElements", [F(), I(), F()], {}, 18),
    ("Scatter", [F(3), i64(0, -3), F(2)], {}, 9),
    ("ScatterND", [X, np.array([[0, -3]]), F(1, 10)], {}, 18),
    ("ScatterND", [X, I(4, 0), F(4, 2, 3, 10)], {}, 18),
    ("TensorScatter", [F(2, 3, 10, 4), F(2, 3, 2, 4), i64(9, 0)], {"mode": "circular"}, 24),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset"), SOUND, ids=range(len(SOUND)))
def test_sound(op: str, inputs: list[object], attributes: dict[str, object], opset: int) -> None:
    model = onnx_model(op, inputs, attributes, opset)  # type: ignore[arg-type]
    if inputs[0].dims == ():  # type: ignore[attr-defined]
        assert irlint_on_onnx(model).startswith("IRL300")  # type: ignore[union-attr]
        return
    assert irlint_on_onnx(model) == [("float32", inputs[0].dims)]  # type: ignore[attr-defined]


UPDATES = [
    (X, i64(0, 1), F(2, 2, 10), np.array(1)),
    (X, i64(0, 1), F(2, 2, 10), i64(1)),
    (X, i64(0, 1), F(2, 2, 10), i64(1, 1)),
    (X, i64(0, 1), F(2, 3, 10), np.array(1)),
    (X, i64(0, 1), F(3, 2), np.array(1)),
    (X, i64(0, 1), F(2, 2, 10), np.array(-2)),
    (X, i64(0, 1), F(2, 2, 10), np.array(3)),
    (X, I(2, 4), F(2, 2, 4, 10), np.array(1)),
    (X, F(2), F(2, 2, 10), np.array(1)),
    (X, i64(0, 1), Input("float16", 2, 2, 10), np.array(1)),
    (X, I(2), F(2, 9, 10), I()),
    (X, I(2), F(2, 2), I()),
    (X, Input.any_rank("int64"), F(2, 2, 10), np.array(1)),
    (ANY, i64(0, 1), F(2, 2, 10), np.array(1)),
    (X, np.array(0), F(2, 10), np.array(1)),
    (X, np.array(0), F(1, 1), np.array(1)),
    (X, i64(0), F(2, 1, 10), np.array(1, np.float32)),
    (X, i64(0, 1), F(), np.array(1)),
]


@pytest.mark.parametrize("inputs", UPDATES, ids=range(len(UPDATES)))
def test_scatter_update_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("ScatterUpdate", "opset3", list(inputs))  # type: ignore[arg-type]


INDICES = I(2, 3, 4)
ELEMENTS = [
    (X, INDICES, F(2, 3, 4), np.array(2)),
    (X, INDICES, F(2, 3, 5), np.array(2)),
    (X, I(5, 3, 4), F(5, 3, 4), np.array(2)),
    (X, I(2, 3), F(2, 3), np.array(2)),
    (X, INDICES, F(2, 3, 4), np.array(3)),
    (X, INDICES, F(2, 3, 4), np.array(-3)),
    (X, INDICES, F(2, 3, 4), i64(1, 1)),
    (X, INDICES, Input("float16", 2, 3, 4), np.array(2)),
    (X, F(2, 3, 4), F(2, 3, 4), np.array(2)),
    (X, INDICES, F(2, 3, 4), np.array(1, np.float32)),
    (X, INDICES, F(2, 3, 4), I()),
    (X, Input.any_rank("int64"), F(2, 3, 4), np.array(1)),
    (ANY, INDICES, F(2, 3, 5), np.array(1)),
    (X, INDICES, ANY, np.array(1)),
]


@pytest.mark.parametrize("version", ["opset3", "opset12"])
@pytest.mark.parametrize("inputs", ELEMENTS, ids=range(len(ELEMENTS)))
def test_scatter_elements_update_as_openvino(version: str, inputs: tuple[object, ...]) -> None:
    assert_same_verdict("ScatterElementsUpdate", version, list(inputs))  # type: ignore[arg-type]


@pytest.mark.parametrize("reduction", ["none", "sum", "prod", "min", "max", "mean", "x"])
@pytest.mark.parametrize("dtype", ["float32", "bool"])
def test_reductions_as_openvino(reduction: str, dtype: str) -> None:
    inputs = [Input(dtype, 3), i64(1), Input(dtype, 1), np.array(0)]
    assert_same_verdict("ScatterElementsUpdate", "opset12", inputs, {"reduction": reduction})


TUPLES = [
    (X, np.array([[0, 1]]), F(1, 10)),
    (X, np.array([[0, 1]]), F(10)),
    (X, np.array([[0, 1]]), F(1, 9)),
    (X, np.array([[0, 1, 2, 3]]), F(1)),
    (X, np.array(1), F(3, 10)),
    (X, i64(1), F(3, 10)),
    (X, i64(1), F(1, 3, 10)),
    (X, I(4, 0), F(4, 2, 3, 10)),
    (X, F(1, 2), F(1, 10)),
    (X, np.array([[0, 1]]), Input("float16", 1, 10)),
    (X, I(1, None), F(1, 10)),
    (X, Input.any_rank("int64"), F(1, 10)),
    (ANY, np.array([[0, 1]]), F(1, 10)),
    (X, np.array([[0, 1]]), ANY),
    (X, np.array([[0, 1]]), F(1, None)),
    (X, np.array([[0, 1]]), F()),
    (F(), I(0), F()),
    (X, I(None, 2), F(7, 10)),
]


@pytest.mark.parametrize("version", ["opset4", "opset15"])
@pytest.mark.parametrize("inputs", TUPLES, ids=range(len(TUPLES)))
def test_scatter_nd_update_as_openvino(version: str, inputs: tuple[object, ...]) -> None:
    assert_same_verdict("ScatterNDUpdate", version, list(inputs))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "version", "inputs"),
    [
        ("ScatterUpdate", "opset3", (X, i64(0, 5), F(2, 2, 10), np.array(1))),
        ("ScatterElementsUpdate", "opset12", (F(3), i64(5), F(1), np.array(0))),
        ("ScatterNDUpdate", "opset15", (X, np.array([[0, 5]]), F(1, 10))),
    ],
)
def test_openvino_stops_at_an_index_out_of_range_when_it_runs(
    op: str, version: str, inputs: tuple[object, ...]
) -> None:
    verdict = irlint_on_ir(*ir_document(op, version, list(inputs)))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith("IRL346")
