"""Slice and SliceScatter against NumPy, ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import evaluated, symbol
from irlint.model.tensor import Tensor
from irlint.ops.layout.slicing import FAR, Range, range_length, range_positions, slice_by_inputs

X = Input("float32", 2, 3, 10)
H = symbol("H")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


INDEX = st.one_of(st.integers(-12, 12), st.sampled_from([FAR, -FAR, 1 << 62, -(1 << 62)]))


@given(st.integers(0, 9), INDEX, INDEX, st.sampled_from([1, 2, 3, -1, -2, -3]))
def test_length_is_numpys(size: int, start: int, end: int, step: int) -> None:
    expected = np.arange(size)[slice(0 if step < 0 and start < -size else start, end, step)]
    taken = Range(start, end, step)
    assert range_length(size, taken) == len(expected)
    positions = range_positions(size, taken)
    assert positions is not None
    assert list(positions) == expected.tolist()
    symbolic = range_length(H, taken)
    assert symbolic is not None
    assert evaluated(symbolic, {"H": size}) == len(expected)


@pytest.mark.parametrize("case", node_cases("Slice"), ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


@pytest.mark.parametrize(
    ("start", "end", "step", "expected"),
    [
        (0, FAR, 1, "H"),
        (1, FAR, 2, "H//2"),
        (0, FAR, 2, "(H + 1)//2"),
        (0, 5, 1, "min(H, 5)"),
        (-1, FAR, 1, "min(H, 1)"),
        (0, -1, 1, "max(H - 1, 0)"),
        (-1, -FAR, -1, "H"),
        (0, H // 2, 1, "H//2"),
        (H // 2, FAR, 1, "H - H//2"),
        (0, H - 1, 1, "max(H - 1, 0)"),
        (0, H - 3, 1, "None"),
        (0, None, 1, "None"),
    ],
)
def test_symbolic_length(start: object, end: object, step: int, expected: str) -> None:
    assert str(range_length(H, Range(start, end, step))) == expected  # type: ignore[arg-type]


def test_contents_of_a_shape_are_sliced() -> None:
    shape = Tensor("int64", (4,), (1, 3, H, None))
    one = Tensor("int64", (1,), (2,))
    result = slice_by_inputs(shape, one, Tensor("int64", (1,), (FAR,)))
    assert result == Tensor("int64", (2,), (H, None))


OPENVINO_SLICES = [
    (X, i64(0), i64(5), i64(1), i64(2)),
    (X, i64(0), i64(5), i64(1)),
    (X, i64(-20), i64(-30), i64(-1), i64(2)),
    (X, i64(20), i64(-30), i64(-3), i64(2)),
    (X, i64(0), i64(5), i64(0), i64(2)),
    (X, i64(0, 0), i64(5, 2), i64(1, 1), i64(2, -1)),
    (X, i64(0, 0), i64(5, 2), i64(1, 1), i64(2, 3)),
    (X, i64(0, 0), i64(5, 2), i64(1, 1), i64(2, -4)),
    (X, i64(0, 0), i64(5), i64(1, 1), i64(2, 1)),
    (X, i64(0, 0, 0, 0), i64(5, 5, 5, 5), i64(1, 1, 1, 1)),
    (X, i64(0), i64(5), np.array([1], np.int32), i64(2)),
    (X, np.zeros(1, np.float32), i64(5), i64(1), i64(2)),
    (X, np.array(0), i64(5), i64(1), i64(2)),
    (X, i64(0), i64(5), i64(1), i64(2), i64(2)),
    (X, Input("int64", 1), i64(5), i64(1), i64(2)),
    (X, Input("int64", None), i64(5), i64(1), i64(2)),
    (X, Input("int64", None), Input("int64", None), Input("int64", None)),
    (X, Input("int64", 1), Input("int64", 1), i64(1), Input("int64", 1)),
    (X, Input("int64", 2), Input("int64", 3), i64(1), Input("int64", 1)),
    (X, Input("int64", 2, 1), Input("int64", 2), i64(1, 1), Input("int64", 2)),
    (Input.any_rank("float32"), i64(0), i64(5), i64(1), i64(2)),
    (Input("float32"), i64(0), i64(5), i64(1), i64(2)),
    (Input("float32", None, 4), i64(0), i64(FAR), i64(1)),
    (Input("float32", "3..8", 4), i64(1), i64(2), i64(1)),
    (Input("float32", 0, 4), i64(-1), i64(-(2**31)), i64(-1)),
    (Input("float32", None, 4), i64(-1), i64(-1), i64(1)),
]


@pytest.mark.parametrize("inputs", OPENVINO_SLICES, ids=range(len(OPENVINO_SLICES)))
def test_slice_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("Slice", "opset8", list(inputs))  # type: ignore[arg-type]


WINDOW = (i64(0), i64(5), i64(1), i64(2))
SLICE_SCATTERS = [
    (X, Input("float32", 2, 3, 5), *WINDOW),
    (X, Input("float32", 2, 3, 4), *WINDOW),
    (X, Input("float32", 1), *WINDOW),
    (X, Input("float32", 3, 5), *WINDOW),
    (X, Input("float32"), *WINDOW),
    (X, Input("float32", 2, 3, None), *WINDOW),
    (X, Input("float32", 2, 3, 6), Input("int64", 1), *WINDOW[1:]),
    (X, Input("float32", 2, 3, 16), Input("int64", 1), *WINDOW[1:]),
    (X, Input("float32", 2, 3, 5), i64(0), i64(5), i64(0), i64(2)),
    (X, Input("float32", 2, 3, 5), i64(0), i64(5), i64(1), i64(3)),
    (X, Input("float32", 2, 3, 5), i64(0, 0), i64(5), i64(1), i64(2)),
    (X, Input("float32", 2, 3, 5), np.zeros(1, np.float32), *WINDOW[1:]),
    (X, Input("float32", 2, 3, 10), i64(0), i64(5), i64(1)),
    (X, Input.any_rank("float32"), *WINDOW),
    (Input.any_rank("float32"), Input("float32", 2, 3, 5), *WINDOW),
    (Input("float32", None, 3, 10), Input("float32", 2, 3, 5), *WINDOW),
    (Input("float32"), Input("float32"), i64(0), i64(5), i64(1), i64(0)),
]


@pytest.mark.parametrize("inputs", SLICE_SCATTERS, ids=range(len(SLICE_SCATTERS)))
def test_slice_scatter_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("SliceScatter", "opset15", list(inputs))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inputs", "attributes", "opset", "expected"),
    [
        ([X, i64(0), i64(5), i64(2), i64(0)], {}, 13, "IRL344"),
        ([X, i64(0, 0), i64(5), i64(2, 1)], {}, 13, "IRL345"),
        ([X, i64(0), i64(5), i64(2, 1)], {}, 13, "IRL345"),
        ([X, i64(0, 0, 0, 0), i64(5, 5, 5, 5)], {}, 13, "IRL345"),
        ([X, np.array(0), np.array(1)], {}, 13, "IRL339"),
        ([X, i64(0, 0), i64(5, 2), i64(2, -1)], {}, 13, "IRL301"),
        ([X, i64(0), i64(5), i64(-4)], {}, 13, "IRL300"),
        ([X], {"starts": [0, 0], "ends": [5]}, 9, "IRL345"),
        ([X], {"starts": [0, 0], "ends": [5, 2], "axes": [2, 2]}, 9, "IRL301"),
        ([X], {"starts": [0], "ends": [5], "axes": [3]}, 9, "IRL300"),
        ([X], {"starts": [0], "ends": [1], "axes": [1, 2]}, 9, "IRL345"),
    ],
)
def test_faults(inputs: list[object], attributes: dict[str, object], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model("Slice", inputs, attributes, opset))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


@pytest.mark.parametrize(
    ("inputs", "attributes", "opset", "expected"),
    [
        ([X, i64(-20), i64(-30), i64(2), i64(-1)], {}, 13, (2, 3, 1)),
        ([X, i64(), i64()], {}, 13, (2, 3, 10)),
        ([X, Input("int64", 2), Input("int64", 2)], {}, 13, (None, None, 10)),
        ([X, Input("int64", 2), Input("int64", 2), i64(1, 2)], {}, 13, (2, None, None)),
        ([X, Input("int64", None), Input("int64", None)], {}, 13, (None, None, None)),
        ([X], {"starts": [-3], "ends": [-1], "axes": [2]}, 9, (2, 3, 2)),
        ([X], {"starts": [0, 0], "ends": [5, 2]}, 1, (2, 2, 10)),
    ],
)
def test_shapes(inputs: list[object], attributes: dict[str, object], opset: int, expected: object) -> None:
    assert irlint_on_onnx(onnx_model("Slice", inputs, attributes, opset)) == [("float32", expected)]  # type: ignore[arg-type]
