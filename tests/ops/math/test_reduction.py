"""Reductions and accumulations against ONNX's node tests, OpenVINO, ONNX Runtime and NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnxruntime_verdict

from irlint.dims import symbol
from irlint.findings.faults import Fault
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.kernels import contents
from irlint.ops.math.reduction import FOLDS, accumulated, cum_sum, ov_cum_sum, reduced, reduced_contents

F = "float32"
N, H, W = symbol("N"), symbol("H"), symbol("W")

LATE = ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceMean", "ReduceL1", "ReduceL2")
LATE += ("ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
CASES = node_cases("ReduceSum", *LATE, "ArgMax", "ArgMin", "CumSum", "CumProd")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_cases(case: Any) -> None:
    assert node_case_difference(case) is None


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

ARITHMETIC = ("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceL1", "ReduceL2")


@pytest.mark.parametrize("op", [*ARITHMETIC, "ReduceLogicalAnd", "ReduceLogicalOr"])
@pytest.mark.parametrize("dtype", [F, "float16", "bfloat16", "float64", "int32", "int64", "uint8", "int4", "bool"])
def test_openvino_types(op: str, dtype: str) -> None:
    assert_same_verdict(op, "opset4", [Input(dtype, 2, 3), i64(1)])


@pytest.mark.parametrize("dtype", [F, "int32", "int64", "uint8", "int8", "uint64", "bool"])
def test_openvino_types_of_axes(dtype: str) -> None:
    assert_same_verdict("ReduceSum", "opset1", [Input(F, 2, 3), Input(dtype, 1)], finer=True)


@pytest.mark.parametrize("keep_dims", [None, True, False])
@pytest.mark.parametrize(
    "axes",
    [
        i64(0),
        i64(),
        i64(0, 0),
        i64(0, -2),
        i64(1, 0),
        i64(2),
        i64(-3),
        np.array(1),
        np.array([[0], [1]]),
        np.array([1, 0], np.int32),
        np.array([1], np.uint8),
        np.array([1], np.float32),
        Input("int64", 1),
        Input("int64"),
        Input("int64", 3),
        Input("int64", None),
        Input("int64", 2, 2),
        Input.any_rank("int64"),
    ],
    ids=str,
)
@pytest.mark.parametrize("dims", [(2, 3), (None, 3), (1, 3), None])
def test_openvino_axes(dims: Any, axes: Any, keep_dims: bool | None) -> None:
    x = Input.any_rank(F) if dims is None else Input(F, *dims)
    assert_same_verdict(
        "ReduceMax", "opset1", [x, axes], {} if keep_dims is None else {"keep_dims": keep_dims}, finer=True
    )


@pytest.mark.parametrize("keep_dims", [True, False])
@pytest.mark.parametrize(
    "inputs",
    [
        [Input(F, 2, 3)],
        [Input(F), i64()],
        [Input(F), i64(0)],
        [Input(F), i64(0, -1)],
        [Input(F), i64(1)],
        [Input(F), np.array(-1)],
        [Input.any_rank(F), i64(7)],
    ],
)
def test_openvino_ranks(inputs: list[Any], keep_dims: bool) -> None:
    assert_same_verdict("ReduceProd", "opset1", inputs, {"keep_dims": keep_dims}, finer=True)


@pytest.mark.parametrize(
    "inputs",
    [
        [Input(F, 2, 3), np.array(1)],
        [Input(F, 2, 3), np.array(-2)],
        [Input(F, 2, 3), np.array(2)],
        [Input(F, 2, 3), np.array([0, 1])],
        [Input(F, 2, 3), Input("int32")],
        [Input(F, 2, 3), Input("uint8")],
        [Input(F, 2, 3), Input(F)],
        [Input(F, 2, 3)],
        [Input("bool", 2, 3), np.array(0)],
        [Input(F), np.array(0)],
        [Input.any_rank(F), np.array(9)],
    ],
)
def test_openvino_cum_sum(inputs: list[Any]) -> None:
    assert_same_verdict("CumSum", "opset3", inputs, {"exclusive": True})


def test_openvino_cum_sum_warns_of_its_axis() -> None:
    with stated() as statements:
        ov_cum_sum(Tensor(F, (2, 3)), Tensor("int64", (), (2,)))
        ov_cum_sum(Tensor(F, (2, 3)), Tensor("int64", (2,), (0, 1)))
    assert [fault.rule.code for fault in statements.faults] == ["IRL300", "IRL339"]


# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", [None, [0], [-1], [1, 0], [0, 0], [2], [-3]], ids=str)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_axes_as_onnx_runtime_says(opset: int, axes: list[int] | None, keepdims: int) -> None:
    attributes: dict[str, Any] = {"keepdims": keepdims}
    inputs: list[Any] = [Input(F, 2, 3)]
    if axes is not None and opset == 18:
        inputs.append(i64(*axes))
    elif axes is not None:
        attributes["axes"] = axes
    model = onnx_model("ReduceMean", inputs, attributes, opset)
    theirs, ours = onnxruntime_verdict(model), irlint_on_onnx(model)
    assert isinstance(theirs, str) == isinstance(ours, str)
    if not isinstance(ours, str):
        assert [shape for _, shape in ours] == [shape for _, shape in theirs]


@pytest.mark.parametrize(
    ("inputs", "attributes", "expected"),
    [
        ([Input(F, 2, 3)], {}, (1, 1)),
        ([Input(F, 2, 3)], {"keepdims": 0}, ()),
        ([Input(F, 2, 3)], {"noop_with_empty_axes": 1}, (2, 3)),
        ([Input(F, 2, 3), i64()], {"noop_with_empty_axes": 1, "keepdims": 0}, (2, 3)),
        ([Input(F, 2, 3), i64()], {}, (1, 1)),
        ([Input(F, 2, 3), Input("int64", 0)], {}, (1, 1)),
        ([Input(F, 2, 3), Input("int64", 1)], {}, (None, None)),
        ([Input(F, 2, 3), Input("int64", 1)], {"keepdims": 0}, (None,)),
        ([Input(F, 3, 3), Input("int64", 1)], {"keepdims": 0}, (3,)),
        ([Input(F, 2, 3), Input("int64", None)], {}, (None, None)),
        ([Input(F, 2, 3), Input("int64", None)], {"keepdims": 0}, None),
        ([Input.any_rank(F)], {"keepdims": 0}, ()),
        ([Input.any_rank(F)], {}, None),
        ([Input.any_rank(F), i64(0)], {}, None),
        ([Input(F)], {}, ()),
    ],
)
def test_axes_as_an_input(inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    assert irlint_on_onnx(onnx_model("ReduceSum", inputs, attributes, 13)) == [(F, expected)]


@pytest.mark.parametrize("op", ["ReduceSum", *LATE])
@pytest.mark.parametrize("opset", [1, 11, 13, 18, 21])
def test_every_version(op: str, opset: int) -> None:
    by_input = opset >= (13 if op == "ReduceSum" else 18)
    inputs = [Input(F, 2, 3), i64(1)] if by_input else [Input(F, 2, 3)]
    model = onnx_model(op, inputs, {"keepdims": 0} if by_input else {"axes": [1], "keepdims": 0}, opset)
    assert irlint_on_onnx(model) == [(F, (2,))]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "opset", "expected"),
    [
        ("ReduceSum", [Input(F, 2, 3), i64(2)], {}, 13, "IRL300"),
        ("ReduceSum", [Input(F, 2, 3), np.array([[0], [1]])], {}, 13, "IRL339"),
        ("ReduceSum", [Input(F), i64(0)], {}, 13, "IRL300"),
        ("ReduceSum", [Input(F, 2, 3), np.array([0], np.int32)], {}, 13, "IRL401"),
        ("ReduceMax", [Input(F, 2, 3)], {"axes": [-3]}, 13, "IRL300"),
        ("ArgMax", [Input(F, 2, 3)], {"axis": 2}, 13, "IRL300"),
        ("ArgMax", [Input(F, 2, 0)], {"axis": 1}, 13, "IRL355"),
        ("ArgMin", [Input(F, 0)], {}, 1, "IRL355"),
        ("CumSum", [Input(F, 2, 3), np.array(2)], {}, 14, "IRL300"),
        ("CumSum", [Input(F, 2, 3), i64(0, 1)], {}, 14, "IRL339"),
        ("CumSum", [Input(F), np.array(0)], {}, 14, "IRL300"),
    ],
)
def test_onnx_faults(op: str, inputs: list[Any], attributes: dict[str, Any], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


@pytest.mark.parametrize(
    ("op", "attributes", "opset", "expected"),
    [
        ("ArgMax", {}, 1, (1, 3)),
        ("ArgMin", {"axis": -1, "keepdims": 0}, 11, (2,)),
        ("ArgMax", {"axis": 1, "select_last_index": 1}, 13, (2, 1)),
    ],
)
def test_arg_extremes(op: str, attributes: dict[str, Any], opset: int, expected: Any) -> None:
    assert irlint_on_onnx(onnx_model(op, [Input(F, 2, 3)], attributes, opset)) == [("int64", expected)]


@pytest.mark.parametrize(("dtype", "expected"), [("uint8", "uint32"), ("int8", "int32")])
def test_onnx_runtimes_sum_of_integers(dtype: str, expected: str) -> None:
    model = onnx_model("ReduceSumInteger", [Input(dtype, 2, 3)], {"axes": [1], "keepdims": 0}, domain="com.microsoft")
    assert irlint_on_onnx(model) == [(expected, (2,))]


def test_a_scalar_of_axes_is_only_a_warning() -> None:
    assert irlint_on_onnx(onnx_model("ReduceSum", [Input(F, 2, 3), np.array(1)], {}, 13)) == [(F, (2, 1))]


# --- contents and symbols ---------------------------------------------------------------------------------------------


def contents_of(op: str, x: Tensor, axes: tuple[int, ...], keepdims: bool = False) -> Any:
    return reduced_contents(x, axes, reduced(x.shape, axes, keepdims), *FOLDS[op])


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
    assert reduced((H, H), None, False, 1) == (H,)
    assert cum_sum(Tensor("int64", (3,), (N, 1, H)), Tensor("int64", (), (0,))).value == (N, N + 1, N + H + 1)


ARRAYS = st.lists(st.integers(0, 3), min_size=0, max_size=3)


@settings(max_examples=200, deadline=None)
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


@settings(max_examples=100, deadline=None)
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
    assert accumulated(x, axis, exclusive, reverse, contents.plus, 0) == tuple(expected.ravel().tolist())


def test_axes_out_of_range() -> None:
    with pytest.raises(Fault, match=r"axes is 3 and input 0 has 3 axes"):
        reduced((2, 3, 4), (3,), True)
