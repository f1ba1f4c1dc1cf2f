"""TopK, NonZero, Unique, Compress and searches against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_ir, irlint_on_onnx, node_case_difference, node_cases

from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.indexing.selecting import distinct, lines, top_contents
from irlint.parsers import onnx as parser

X = Input("float32", 2, 3, 10)
ANY = Input.any_rank("float32")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def F(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


CASES = node_cases("TopK", "NonZero", "Unique", "Compress")
#: ONNX Runtime and the specification differ on NonZero of a scalar; sizes that depend on an input's data are not known.
DEPENDENT = ("test_nonzero", "test_unique", "test_compress")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    difference = node_case_difference(case)
    if difference is not None and case.name.startswith(DEPENDENT):  # type: ignore[attr-defined]
        assert difference.startswith("unknown")
        return
    assert difference is None


@given(st.data())
def test_top_contents_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(0, len(shape) - 1))
    count = int(np.prod(shape))
    array = np.array(data.draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))).reshape(shape)
    k = data.draw(st.integers(0, shape[axis]))
    largest = data.draw(st.booleans())
    known = Tensor("int64", tuple(shape), tuple(array.ravel().tolist()))
    order = np.argsort(-array if largest else array, axis=axis, kind="stable").take(range(k), axis)
    values, indices = top_contents(known, axis, k, largest)
    assert indices == tuple(order.ravel().tolist())
    assert values == tuple(np.take_along_axis(array, order, axis).ravel().tolist())
    assert distinct(known, None) == len(np.unique(array))
    assert distinct(known, axis) == np.unique(array, axis=axis).shape[axis]


def test_lines_run_along_an_axis() -> None:
    assert lines((2, 3), 0) == [[0, 3], [1, 4], [2, 5]]
    assert lines((2, 3), 1) == [[0, 1, 2], [3, 4, 5]]


SHAPES = [
    ("TopK", [X, i64(4)], {}, 11, [(2, 3, 4), (2, 3, 4)]),
    ("TopK", [X, i64(0)], {}, 11, [(2, 3, 0), (2, 3, 0)]),
    ("TopK", [X, i64(2)], {"axis": 0}, 24, [(2, 3, 10), (2, 3, 10)]),
    ("TopK", [X, Input("int64", 1)], {}, 10, [(2, 3, None), (2, 3, None)]),
    ("TopK", [F(2, 3, None), i64(4)], {}, 11, [(2, 3, 4), (2, 3, 4)]),
    ("TopK", [X], {"k": 4}, 1, [(2, 3, 4), (2, 3, 4)]),
    ("NonZero", [X], {}, 13, [(3, None)]),
    ("NonZero", [F()], {}, 13, [(None, None)]),
    ("NonZero", [i64(0, 1, 0, 2)], {}, 13, [(1, 2)]),
    ("Unique", [X], {}, 11, [(None,), (None,), (60,), (None,)]),
    ("Unique", [X], {"axis": -1}, 11, [(2, 3, None), (None,), (10,), (None,)]),
    ("Unique", [i64(3, 1, 3)], {}, 11, [(2,), (2,), (3,), (2,)]),
    ("Compress", [X, np.array([True, False, True])], {"axis": 1}, 11, [(2, 2, 10)]),
    ("Compress", [X, np.array([True, False, True, True])], {"axis": 1}, 11, [(2, 2, 10)]),
    ("Compress", [X, np.array([True, False])], {}, 11, [(1,)]),
    ("Compress", [X, Input("bool", 3)], {"axis": 1}, 9, [(2, None, 10)]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), SHAPES, ids=range(len(SHAPES)))
def test_shapes(op: str, inputs: list[object], attributes: dict[str, object], opset: int, expected: object) -> None:
    outputs = len(expected)  # type: ignore[arg-type]
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset, outputs=outputs))  # type: ignore[arg-type]
    assert [shape for _, shape in verdict] == expected


FAULTS = [
    ("TopK", [X, i64(11)], {}, 11, "IRL349"),
    ("TopK", [X, i64(4)], {"axis": 0}, 11, "IRL349"),
    ("TopK", [X, i64(-1)], {}, 11, "IRL361"),
    ("TopK", [X, np.array(4)], {}, 11, "IRL339"),
    ("TopK", [X, i64(4, 4)], {}, 11, "IRL339"),
    ("TopK", [X, i64(4)], {"axis": 3}, 11, "IRL300"),
    ("TopK", [F(), i64(1)], {}, 11, "IRL339"),
    ("TopK", [X], {"k": 11}, 1, "IRL349"),
    ("TopK", [X], {"k": 0}, 1, "IRL510"),
    ("Unique", [X], {"axis": 3}, 11, "IRL300"),
    ("Compress", [X, np.array([True])], {"axis": 3}, 11, "IRL300"),
    ("Compress", [F(), np.array([True])], {}, 11, "IRL339"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_faults(op: str, inputs: list[object], attributes: dict[str, object], opset: int, expected: str) -> None:
    outputs = 2 if op == "TopK" else 1
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset, outputs=outputs))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


def test_k_reaches_a_symbolic_axis() -> None:
    model = onnx_model("TopK", [F("N", "H"), i64(5)], {}, 11, outputs=2)
    known = inferred(parser.read("m.onnx", model.SerializeToString()))
    assert [requirement.condition for _, _, requirement in known.requires] == ["H >= 5"]


def test_an_unknown_k_is_one_size_of_at_most_the_axis() -> None:
    model = onnx_model("TopK", [X, Input("int64", 1)], {}, 11, outputs=2)
    known = inferred(parser.read("m.onnx", model.SerializeToString()))
    assert known.model.graph is not None
    values, indices = (known.types[value] for value in known.model.graph.outputs)
    assert isinstance(values, Tensor)
    assert isinstance(indices, Tensor)
    assert values.shape == indices.shape


TOP = {"axis": 2, "mode": "max", "sort": "value"}
FOUR = np.array(4)
TOPS = [
    ((X, FOUR), TOP),
    ((X, np.array(0)), TOP),
    ((X, np.array(-1)), TOP),
    ((X, i64(4)), TOP),
    ((X, i64(4, 4)), TOP),
    ((X, Input("int64")), TOP),
    ((X, np.array(4, np.float32)), TOP),
    ((X, np.array(4, np.int32)), TOP),
    ((X, FOUR), {**TOP, "axis": 3}),
    ((X, FOUR), {**TOP, "axis": -1}),
    ((X, FOUR), {**TOP, "axis": -4}),
    ((X, FOUR), {**TOP, "mode": "x"}),
    ((X, FOUR), {**TOP, "sort": "x"}),
    ((X, FOUR), {**TOP, "index_element_type": "i64"}),
    ((X, FOUR), {**TOP, "index_element_type": "f32"}),
    ((ANY, FOUR), TOP),
    ((F(2, 3, None), FOUR), TOP),
    ((F(2, 3, None), Input("int64")), TOP),
    ((Input("bool", 2, 3, 10), FOUR), TOP),
    ((F(), np.array(1)), {**TOP, "axis": 0}),
    ((X, Input("int64", 1)), TOP),
    ((X, Input.any_rank("int64")), TOP),
    ((X, FOUR), {**TOP, "stable": True}),
    ((X, FOUR), {**TOP, "stable": True, "sort": "none"}),
    ((F(4, 3), FOUR), {}),
]


@pytest.mark.parametrize("version", ["opset1", "opset3", "opset11"])
@pytest.mark.parametrize(("inputs", "attributes"), TOPS, ids=range(len(TOPS)))
def test_topk_as_openvino(version: str, inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("TopK", version, list(inputs), attributes, outputs=2)  # type: ignore[arg-type]


def test_openvino_refuses_a_k_beyond_the_axis_when_it_compiles() -> None:
    verdict = irlint_on_ir(*ir_document("TopK", "opset11", [X, np.array(11)], TOP, outputs=2))
    assert str(verdict).startswith("IRL349 k is 11 and axis 2 of input 0 has 10 elements")


NONZERO = [
    ((X,), {}),
    ((ANY,), {}),
    ((F(),), {}),
    ((np.array([[1, 0], [0, 2]]),), {}),
    ((X,), {"output_type": "i32"}),
    ((X,), {"output_type": "f32"}),
    ((Input("string", 2),), {}),
    ((F(None, 2),), {}),
]


@pytest.mark.parametrize(("inputs", "attributes"), NONZERO, ids=range(len(NONZERO)))
def test_nonzero_as_openvino(inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("NonZero", "opset3", list(inputs), attributes)  # type: ignore[arg-type]


ONE = np.array(1)
UNIQUES = [
    ((X,), {}),
    ((X, ONE), {}),
    ((X, np.array(3)), {}),
    ((X, np.array(-1)), {}),
    ((X, i64(1)), {}),
    ((X, i64(1, 1)), {}),
    ((X, np.array(1, np.float32)), {}),
    ((ANY,), {}),
    ((ANY, ONE), {}),
    ((F(),), {}),
    ((F(), np.array(0)), {}),
    ((i64(3, 1, 3),), {}),
    ((np.array([[3, 1, 3]]), ONE), {}),
    ((np.array([[3, 1, 3], [3, 1, 3]]), np.array(0)), {}),
    ((X,), {"index_element_type": "i32", "count_element_type": "i32"}),
    ((X,), {"index_element_type": "f32"}),
    ((F(None, 3),), {}),
    ((F(None, 3), np.array(0)), {}),
    ((F(2, 0), np.array(0)), {}),
]


@pytest.mark.parametrize(("inputs", "attributes"), UNIQUES, ids=range(len(UNIQUES)))
def test_unique_as_openvino(inputs: tuple[object, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Unique", "opset10", list(inputs), attributes, outputs=4)  # type: ignore[arg-type]


I64 = {"output_type": "i64"}
BUCKETS = [
    ((X, F(5)), I64),
    ((X, F(5, 1)), I64),
    ((X, F(0)), {"output_type": "i32"}),
    ((X, F()), I64),
    ((X, Input("int32", 5)), I64),
    ((Input("bool", 3), F(5)), I64),
    ((X, Input("bool", 5)), I64),
    ((ANY, ANY), I64),
    ((X, F(5)), {"output_type": "i8"}),
]


@pytest.mark.parametrize(("inputs", "attributes"), BUCKETS, ids=range(len(BUCKETS)))
def test_bucketize_as_openvino(inputs: tuple[Input, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("Bucketize", "opset3", inputs, attributes)


SEARCHES = [
    ((F(5), X), {}),
    ((F(2, 3, 7), X), {}),
    ((F(2, 4, 7), X), {}),
    ((F(3, 7), X), {}),
    ((F(2, 3, 7), X), {"right_mode": True}),
    ((F(2, 3, 7), X), {"output_type": "i32"}),
    ((F(2, 3, 7), X), {"output_type": "f32"}),
    ((Input("int32", 5), X), {}),
    ((ANY, X), {}),
    ((F(None, 3, 7), F(2, None, 10)), {}),
    ((F(2, 3, 7), ANY), {}),
    ((F(), X), {}),
    ((F(5), F()), {}),
]


@pytest.mark.parametrize(("inputs", "attributes"), SEARCHES, ids=range(len(SEARCHES)))
def test_search_sorted_as_openvino(inputs: tuple[Input, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("SearchSorted", "opset15", inputs, attributes)
