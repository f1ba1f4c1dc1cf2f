"""TopK, NonZero, Unique, Compress and searches against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st

from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.indexing.selecting import distinct, lines, top_values
from irlint.parsers import onnx as parser

X = Input("float32", 2, 3, 10)


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def F(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


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
    values, indices = top_values(known, axis, k, largest=largest)
    assert indices == tuple(order.ravel().tolist())
    assert values == tuple(np.take_along_axis(array, order, axis).ravel().tolist())
    assert distinct(known, None) == len(np.unique(array))
    assert distinct(known, axis) == np.unique(array, axis=axis).shape[axis]


def test_lines_run_along_an_axis() -> None:
    assert lines((2, 3), 0) == [[0, 3], [1, 4], [2, 5]]
    assert lines((2, 3), 1) == [[0, 1, 2], [3, 4, 5]]


def test_k_reaches_a_symbolic_axis() -> None:
    model = onnx_model("TopK", [F("N", "H"), i64(5)], {}, 11, outputs=2)
    known = inferred(parser.read("m.onnx", model.SerializeToString()))
    assert [each.requirement.condition for each in known.requires] == ["H >= 5"]


def test_an_unknown_k_is_one_size_of_at_most_the_axis() -> None:
    model = onnx_model("TopK", [X, Input("int64", 1)], {}, 11, outputs=2)
    known = inferred(parser.read("m.onnx", model.SerializeToString()))
    assert known.model.graph is not None
    values, indices = (known.types[value] for value in known.model.graph.outputs)
    assert isinstance(values, Tensor)
    assert isinstance(indices, Tensor)
    assert values.shape == indices.shape
