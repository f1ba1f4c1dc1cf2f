"""Concat and the splits against NumPy, ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnx_verdict

from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.joining import _with_rest as with_rest
from irlint.ops.layout.joining import (
    concat,
    concatenated,
    even_sizes,
    joined_contents,
    nearly_even_sizes,
    split_up,
    stated_sizes,
)

H, W, N = symbol("H"), symbol("W"), symbol("N")
F = "float32"


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def scalar(entry: float, dtype: type = np.int64) -> np.ndarray:
    return np.array(entry, dtype)


def own_cases(*ops: str) -> list[Any]:
    return [case for case in node_cases(*ops) if len(case.model.graph.node) == 1]


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", own_cases("Concat", "Split"), ids=lambda case: case.name)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


# --- laws -------------------------------------------------------------------------------------------------------------


@given(st.data())
def test_contents_are_numpys(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
    parts, start = [], 0
    for size in sizes:
        own = [size if place == axis % len(shape) else dim for place, dim in enumerate(shape)]
        parts.append(np.arange(start, start + int(np.prod(own))).reshape(own))
        start += parts[-1].size
    whole = np.concatenate(parts, axis)
    tensors = [Tensor("int64", part.shape, tuple(part.ravel().tolist())) for part in parts]
    joined = concat(*tensors, axis=axis)
    assert joined == Tensor("int64", whole.shape, tuple(whole.ravel().tolist()))
    assert split_up(joined, axis % len(shape), sizes) == tuple(tensors)


def test_unknown_contents_leave_holes() -> None:
    known, unknown = Tensor("int64", (2,), (1, H)), Tensor("int64", (1,))
    assert concat(known, unknown, axis=0).value == (1, H, None)
    assert joined_contents([unknown, unknown], (2,), 0) is None
    assert joined_contents([known, Tensor("int64", (N,))], (N + 2,), 0) is None


def test_symbolic_sizes() -> None:
    assert concatenated([(N, H, 3), (N, W, 3)], 1) == (N, H + W, 3)
    assert concatenated([(N, None), (N, 3)], 1) == (N, None)
    assert concatenated([None, (2, H)], 1) == (2, None)
    assert concatenated([None, None], 5) is None
    assert even_sizes(6 * N, 3, 0) == (2 * N,) * 3
    assert nearly_even_sizes(7, 3, 0) == (3, 3, 1)
    assert nearly_even_sizes(N, 1, 0) == (N,)
    assert [str(size) for size in nearly_even_sizes(H, 2, 0)] == ["(H + 1)//2", "H//2"]
    assert with_rest(H, (2, -1, 3), 0) == (2, H - 5, 3)
    assert stated_sizes(H, (2, None), 0, 1) == (2, None)
    assert stated_sizes(10, (2, None), 0, 1) == (2, 8)


def test_a_static_size_wins_over_a_symbol() -> None:
    with stated() as statements:
        assert concatenated([(H, 2), (20, 3), (H, 1)], 1) == (20, 6)
    assert {requirement.condition for requirement in statements.requirements} == {"H == 20", "20 == H"}
    with stated(), pytest.raises(Fault, match="axis 0 is 20 in input 1 and 40 in input 2"):
        concatenated([(H, 2), (20, 3), (40, 1)], 1)


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda: concatenated([(H, 2), (W, 2)], 1), "H == W"),
        (lambda: even_sizes(H, 4, 0), "H % 4 == 0"),
        (lambda: stated_sizes(H, (2, 3), 0, 1), "H == 5"),
        (lambda: stated_sizes(H, (2, 3, None), 0, 1), "H >= 5"),
        (lambda: with_rest(H, (2, -1), 0), "H >= 2"),
    ],
)
def test_requirements(call: Any, condition: str) -> None:
    with stated() as statements:
        call()
    assert [requirement.condition.replace("(H)", "H") for requirement in statements.requirements] == [condition]


@pytest.mark.parametrize(
    ("shapes", "axis", "message"),
    [
        (((1, 64, 40, 40), (1, 32, 20, 20)), 1, "axis 2 is 40 in input 0 and 20 in input 1; axis 3"),
        (((2, 3), (2, 3, 4)), 0, "2 axes against 3"),
        (((H, 2), (H + 1, 2)), 1, "axis 0 is H in input 0 and H \\+ 1 in input 1"),
        (((2, 3), (2, 3)), 2, "allowed is -2 to 1"),
    ],
)
def test_mismatches(shapes: tuple[Any, ...], axis: int, message: str) -> None:
    with pytest.raises(Fault, match=message):
        concatenated(shapes, axis)


# --- ONNX -------------------------------------------------------------------------------------------------------------

X64, X74 = Input(F, 6, 4), Input(F, 7, 4)


@pytest.mark.parametrize(
    ("op", "opset", "inputs", "attributes", "outputs", "expected"),
    [
        ("Concat", 1, [Input(F, 2, 3), Input(F, 2, 4)], {}, 1, [(2, 7)]),
        ("Concat", 4, [Input(F, 2, 3), Input(F, 2, 4)], {"axis": -1}, 1, [(2, 7)]),
        ("Concat", 13, [Input(F, 2, 3), Input(F, 2, 4)], {"axis": 0}, 1, "IRL340"),
        ("Concat", 13, [Input(F, 2, 3), Input(F, 0)], {"axis": 0}, 1, "IRL340"),
        ("Concat", 13, [Input(F), Input(F)], {"axis": 0}, 1, "IRL300"),
        ("Concat", 13, [Input(F, 2), Input("int32", 2)], {"axis": 0}, 1, "IRL402"),
        ("Split", 1, [X64], {"axis": 1}, 2, [(6, 2), (6, 2)]),
        ("Split", 1, [X64], {"axis": 0, "split": [2, 4]}, 2, [(2, 4), (4, 4)]),
        ("Split", 1, [X64, Input(F, 2)], {}, 2, [(None, 4), (None, 4)]),
        ("Split", 2, [X64], {"axis": 0}, 4, "IRL342"),
        ("Split", 11, [X64], {"axis": -1}, 2, [(6, 2), (6, 2)]),
        ("Split", 11, [X64], {"split": [2, 2]}, 2, "IRL341"),
        ("Split", 11, [X64], {"split": [2, 4]}, 3, "IRL343"),
        ("Split", 11, [X64], {"split": [2, 4]}, 1, "IRL343"),
        ("Split", 13, [X74], {}, 2, "IRL342"),
        ("Split", 13, [X64, i64(2, 4)], {}, 2, [(2, 4), (4, 4)]),
        ("Split", 13, [X64, i64(7, -1)], {}, 2, "IRL361"),
        ("Split", 13, [X64, Input("int64", 2)], {}, 2, [(None, 4), (None, 4)]),
        ("Split", 13, [X64, Input("int64", 3)], {}, 2, "IRL343"),
        ("Split", 18, [X74], {}, 2, "IRL343"),
        ("Split", 18, [X74], {"num_outputs": 2}, 2, [(4, 4), (3, 4)]),
        ("Split", 18, [X74], {"num_outputs": 2}, 3, "IRL343"),
        ("Split", 18, [Input(F, 5, 4)], {"num_outputs": 4}, 4, "IRL342"),
        ("Split", 18, [Input(F, 3, 4)], {"num_outputs": 4}, 4, [(1, 4), (1, 4), (1, 4), (0, 4)]),
        ("Split", 18, [X64], {"num_outputs": 0}, 1, "IRL510"),
        ("Split", 18, [X64, i64(2, 4)], {"num_outputs": 2}, 2, "IRL343"),
        ("Split", 18, [X64, i64(2, 5)], {}, 2, "IRL341"),
        ("Split", 18, [Input.any_rank(F), i64(2, 5)], {}, 2, [None, None]),
        ("Split", 18, [X64, i64(2, 4)], {"axis": 2}, 2, "IRL300"),
    ],
)
def test_onnx(
    op: str, opset: int, inputs: list[Any], attributes: dict[str, Any], outputs: int, expected: list[Any] | str
) -> None:
    found = irlint_on_onnx(onnx_model(op, inputs, attributes, opset, outputs=outputs))
    if isinstance(expected, str):
        assert found[:6] == expected
    else:
        assert found == [(F, shape) for shape in expected]


@pytest.mark.parametrize("opset", [2, 11, 13, 18])
@pytest.mark.parametrize("sizes", [[2, 4], [6, 0], [1, 4], [3]])
def test_onnx_refuses_the_same_sizes(opset: int, sizes: list[int]) -> None:
    given = [X64] if opset < 13 else [X64, i64(*sizes)]
    model = onnx_model("Split", given, {"split": sizes} if opset < 13 else {}, opset, outputs=2)
    ours, theirs = irlint_on_onnx(model), onnx_verdict(model)
    assert isinstance(ours, str) == isinstance(theirs, str)
    assert isinstance(ours, str) or ours == theirs


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "axis"),
    [
        ([Input(F, 2, 3), Input(F, 2, 5)], None),
        ([Input(F, 2, 3), Input(F, 2, 5)], 1),
        ([Input(F, 2, 3), Input(F, 2, 5)], -1),
        ([Input(F, 2, 3), Input(F, 2, 5)], 2),
        ([Input(F, 2, 3), Input(F, 5)], 0),
        ([Input(F), Input(F)], 0),
        ([Input(F, 2, 3), Input(F, None, 5)], 1),
        ([Input.any_rank(F), Input(F, 2, 5)], 1),
        ([Input.any_rank(F), Input(F, 2, 5)], 7),
        ([Input.any_rank(F), Input(F, 2, 5), Input(F, 3, 5)], 1),
        ([Input(F, 2, 3), Input("int32", 2, 5)], 1),
        ([Input(F, 2, 3)], 1),
        ([Input(F, 2, "1..4"), Input(F, 2, "..3")], 1),
        ([Input(F, "5..7", 3), Input(F, "1..4", 3)], 1),
        ([], 1),
    ],
)
def test_openvino_concat(inputs: list[Any], axis: int | None) -> None:
    assert_same_verdict("Concat", "opset1", inputs, {} if axis is None else {"axis": axis})


@pytest.mark.parametrize(
    ("inputs", "splits", "outputs"),
    [
        ([X64, scalar(0)], 3, 3),
        ([X64, i64(0)], 3, 3),
        ([X64, scalar(-1)], 2, 2),
        ([X64, scalar(2)], 2, 2),
        ([X64, scalar(0)], 4, 4),
        ([X64, scalar(0)], None, 1),
        ([X64, scalar(0)], 0, 1),
        ([X64, scalar(0)], -2, 2),
        ([X64, scalar(0)], 3, 2),
        ([X64, scalar(0)], 2, 3),
        ([Input(F, None, 4), scalar(0)], 2, 2),
        ([X64, Input("int64")], 2, 2),
        ([Input.any_rank(F), scalar(0)], 2, 2),
        ([X64, scalar(0, float)], 2, 2),
        ([Input(F, 0, 4), scalar(0)], 2, 2),
    ],
)
def test_openvino_split(inputs: list[Any], splits: int | None, outputs: int) -> None:
    assert_same_verdict("Split", "opset1", inputs, {} if splits is None else {"num_splits": splits}, outputs)


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ([X64, scalar(0), i64(2, 4)], 2),
        ([X64, scalar(0), i64(2, -1)], 2),
        ([X64, scalar(0), i64(-1, -1)], 2),
        ([X64, scalar(0), i64(2, 3)], 2),
        ([X64, scalar(0), i64(2, 3, -1)], 3),
        ([X64, scalar(0), i64(2, 4, -1)], 3),
        ([X64, scalar(0), i64(2, 6, -1)], 3),
        ([X64, scalar(0), i64(-2, 4, -1)], 3),
        ([X64, i64(0), i64(2, 4)], 2),
        ([X64, i64(0, 1), i64(2, 4)], 2),
        ([X64, scalar(2), i64(2, 4)], 2),
        ([X64, scalar(0), Input("int64", 2)], 2),
        ([X64, scalar(0), Input("int64", 3)], 2),
        ([X64, Input("int32"), i64(2, 4)], 2),
        ([Input(F, None, 4), scalar(0), i64(2, 4)], 2),
        ([Input(F, None, 4), scalar(0), i64(2, -1)], 2),
        ([X64, scalar(0), i64(6)], 1),
        ([X64, scalar(0), scalar(6)], 1),
        ([X64, scalar(0), np.array([[2, 4]])], 2),
        ([Input.any_rank(F), scalar(0), i64(2, 4)], 2),
        ([X64, scalar(0), i64(2, 4)], 3),
        ([X64, scalar(0), i64(2, 4)], 1),
        ([X64, scalar(0), i64(0, 6)], 2),
    ],
)
def test_openvino_variadic_split(inputs: list[Any], outputs: int) -> None:
    assert_same_verdict("VariadicSplit", "opset1", inputs, {}, outputs)


def test_sizes_beyond_the_axis_are_a_warning_in_openvino() -> None:
    with stated() as statements:
        assert with_rest(6, (2, 6, -1), 0) == (2, 6, 0)
    assert [fault.severity for fault in statements.faults] == [Severity.WARNING]
