"""Constants, shapes, ranges, one-hot and random tensors against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from oracles.engines import (
    assert_same_verdict,
    irlint_on_onnx,
    node_case_difference,
    node_cases,
    onnx_verdict,
    openvino_verdict,
)

import irlint.ops.math.sampling
from irlint.dims import Dim, symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.layout.creation import (
    constant_of_shape,
    filled,
    one_hot_shape,
    ov_shape_of_typed,
    range_size,
    ranged,
    shape_contents,
)

assert irlint.ops.math.sampling.ov_random_uniform

H, N = symbol("H"), symbol("N")
OPS = "Constant ConstantOfShape Range EyeLike OneHot RandomNormal RandomUniform RandomNormalLike RandomUniformLike"
OPS += " Multinomial Bernoulli Shape Size"


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def scalar(entry: float, dtype: type = np.int64) -> np.ndarray:
    return np.array(entry, dtype)


def own_cases(*ops: str) -> list[Any]:
    """Node tests of these operators themselves, with scalars as arrays, so that they become constants."""
    result = []
    for case in node_cases(*ops):
        if len(case.model.graph.node) > 1:
            continue
        sets = [
            ([np.asarray(x) if isinstance(x, np.generic) else x for x in given], wanted)
            for given, wanted in case.data_sets
        ]
        result.append(dataclasses.replace(case, data_sets=sets))
    return result


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", own_cases(*OPS.split()), ids=lambda case: case.name)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


# --- Constant ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "opset", "expected"),
    [
        ({"value": numpy_helper.from_array(np.ones((2, 3), np.float32))}, 1, ("float32", (2, 3))),
        ({"value_float": 1.5}, 12, ("float32", ())),
        ({"value_floats": [1.5, 2.5]}, 12, ("float32", (2,))),
        ({"value_int": 3}, 12, ("int64", ())),
        ({"value_ints": [3, 4, 5]}, 12, ("int64", (3,))),
        ({"value_string": "a"}, 12, ("string", ())),
        ({"value_strings": ["a", "b"]}, 12, ("string", (2,))),
    ],
)
def test_every_form_of_a_constant(attributes: dict[str, Any], opset: int, expected: tuple[str, Any]) -> None:
    model = onnx_model("Constant", [], attributes, opset)
    assert irlint_on_onnx(model) == [expected]
    assert opset == 1 or onnx_verdict(model)[0][1] == expected[1]


def test_a_sparse_constant_is_dense() -> None:
    values = helper.make_tensor("v", TensorProto.FLOAT, [2], [1.0, 2.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("i", TensorProto.INT64, [2], [0, 3]), [2, 3])
    assert irlint_on_onnx(onnx_model("Constant", [], {"sparse_value": sparse}, 13)) == [("float32", (2, 3))]


def test_a_constant_has_a_value() -> None:
    """Of two, ONNX Runtime takes the first; ``make_node`` sorts them."""
    assert irlint_on_onnx(onnx_model("Constant", [], {}, 13))[:6] == "IRL360"
    assert irlint_on_onnx(onnx_model("Constant", [], {"value_int": 1, "value_floats": [1.0]}, 13)) == [
        ("float32", (1,))
    ]


# --- shapes -----------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 9), max_size=5), st.integers(-7, 7), st.none() | st.integers(-7, 7))
def test_shape_is_cut_as_a_list(dims: list[int], start: int, end: int | None) -> None:
    found = shape_contents(tuple(dims), "int64", start, end)
    clamp = [
        min(max(place + len(dims) if place < 0 else place, 0), len(dims))
        for place in (start, len(dims) if end is None else end)
    ]
    assert found.value == tuple(dims[clamp[0] : clamp[1]])


def test_symbolic_shapes() -> None:
    assert shape_contents((1, H, None), "int32") == Tensor("int32", (3,), (1, H, None))
    assert shape_contents(None, "int64") == Tensor("int64", (None,))
    assert constant_of_shape(Tensor("int64", (2,), (N, 3))) == Tensor("float32", (N, 3))
    assert constant_of_shape(Tensor("int64", (2,), (1, 2))).value == (0.0, 0.0)
    assert constant_of_shape(Tensor("int64", (2,))).shape == (None, None)
    assert constant_of_shape(Tensor("int64", (None,))).shape is None
    assert filled((2,), "int64", 7).value == (7, 7)


def test_the_default_output_type_of_shape_of_is_disputed() -> None:
    assert isinstance(openvino_verdict(*ir_document("ShapeOf", "opset3", [Input("float32", 2)])), str)
    with stated() as statements:
        assert ov_shape_of_typed(Tensor("float32", (2,))) == Tensor("int64", (1,), (2,))
    assert [fault.severity for fault in statements.faults] == [Severity.WARNING]


def test_intervals_of_a_parameter_have_their_bounds() -> None:
    assert_same_verdict("ShapeOf", "opset1", [Input("float32", "2..4", None, 3)])
    verdict = assert_same_verdict(
        "Concat", "opset1", [Input("float32", "5..7", 3), Input("float32", "1..4", 3)], {"axis": 1}
    )
    assert verdict[:6] == "IRL340"


# --- ranges -----------------------------------------------------------------------------------------------------------


@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_ranges_of_whole_numbers(start: int, limit: int, step: int) -> None:
    expected = list(range(start, limit, step))
    assert range_size(start, limit, step) == len(expected)
    assert ranged(start, step, len(expected), "int64").value == tuple(expected)


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


# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "code"),
    [
        ("ConstantOfShape", [i64(2, -3)], {}, "IRL361"),
        ("ConstantOfShape", [scalar(2)], {}, "IRL339"),
        ("ConstantOfShape", [i64(2)], {"value": numpy_helper.from_array(np.ones(2))}, "IRL510"),
        ("Range", [scalar(0), scalar(5), scalar(0)], {}, "IRL362"),
        ("Range", [i64(0, 1), scalar(5), scalar(1)], {}, "IRL339"),
        ("EyeLike", [Input("float32", 2, 3, 4)], {}, "IRL339"),
        ("EyeLike", [Input("float32", 2, 3)], {"dtype": 8}, "IRL510"),
        ("OneHot", [Input("int64", 2), scalar(-3), i64(0, 1)], {}, "IRL361"),
        ("OneHot", [Input("int64", 2), i64(3, 3), i64(0, 1)], {}, "IRL339"),
        ("OneHot", [Input("int64", 2), scalar(3), i64(0, 1, 2)], {}, "IRL339"),
        ("OneHot", [Input("int64", 2), scalar(3), i64(0, 1)], {"axis": 2}, "IRL300"),
        ("RandomNormal", [], {"shape": [2, -1]}, "IRL361"),
        ("RandomUniform", [], {"shape": [2], "dtype": 7}, "IRL510"),
        ("RandomUniformLike", [Input("int64", 2)], {}, "IRL401"),
        ("Multinomial", [Input("float32", 2, 3, 4)], {}, "IRL339"),
        ("Multinomial", [Input("float32", 2, 3)], {"sample_size": -1}, "IRL361"),
    ],
)
def test_faults(op: str, inputs: list[Any], attributes: dict[str, Any], code: str) -> None:
    assert irlint_on_onnx(onnx_model(op, inputs, attributes, 17))[:6] == code


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("Multinomial", [Input("float32", 2, 3)], {"sample_size": 4}, ("int32", (2, 4))),
        ("RandomNormal", [], {"shape": [2, 3], "dtype": 11}, ("float64", (2, 3))),
        ("RandomNormalLike", [Input("int64", 2, 3)], {"dtype": 1}, ("float32", (2, 3))),
        ("EyeLike", [Input("float32", 2, 3)], {"dtype": 7}, ("int64", (2, 3))),
        ("Bernoulli", [Input("float32", 2, 3)], {"dtype": 9}, ("bool", (2, 3))),
        ("Range", [scalar(3), scalar(0), scalar(-2)], {}, ("int64", (2,))),
        ("Size", [Input("float32", 2, 3)], {}, ("int64", ())),
    ],
)
def test_types_and_shapes(op: str, inputs: list[Any], attributes: dict[str, Any], expected: tuple[str, Any]) -> None:
    model = onnx_model(op, inputs, attributes, 17)
    assert irlint_on_onnx(model) == [expected]
    assert onnx_verdict(model) == [expected]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

F32, I64 = np.float32, np.int64
INDICES = Input("int64", 2, 3)
ON, OFF = scalar(1, F32), scalar(0, F32)

RANGES = [
    [scalar(2), scalar(10), scalar(3)],
    [scalar(2), Input("int64"), scalar(3)],
    [scalar(2), i64(10), scalar(3)],
    [scalar(2), scalar(10), scalar(0)],
    [scalar(2), scalar(10), scalar(-1)],
    [scalar(2.0, float), scalar(10), scalar(1)],
    [scalar(2.5, float), scalar(10.0, float), scalar(0.5, float)],
    [scalar(2, np.int32), scalar(10), scalar(1, np.int32)],
    [Input("int64", None), scalar(10), scalar(1)],
    [Input("bool"), scalar(1, bool), scalar(1, bool)],
    [Input.any_rank("int64"), scalar(10), scalar(1)],
]


@pytest.mark.parametrize("inputs", RANGES, ids=range(len(RANGES)))
def test_openvino_ranges(inputs: list[Any]) -> None:
    assert_same_verdict("Range", "opset1", inputs)
    for output_type in ("i64", "i32", "f32", "boolean", "dynamic"):
        assert_same_verdict("Range", "opset4", inputs, {"output_type": output_type})
    assert_same_verdict("Range", "opset4", inputs)


@pytest.mark.parametrize("version", ["opset1", "opset16"])
@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ([INDICES, scalar(5), ON, OFF], {"axis": -1}),
        ([INDICES, scalar(5), ON, OFF], {"axis": 0}),
        ([INDICES, scalar(5), ON, OFF], {"axis": 3}),
        ([INDICES, scalar(5), ON, OFF], {"axis": -4}),
        ([INDICES, scalar(5), ON, OFF], {}),
        ([Input("int64"), scalar(5), ON, OFF], {"axis": 0}),
        ([INDICES, i64(5), ON, OFF], {"axis": -1}),
        ([INDICES, scalar(-5), ON, OFF], {"axis": -1}),
        ([INDICES, scalar(0), ON, OFF], {"axis": -1}),
        ([Input("int64", 2, None), Input("int64"), ON, OFF], {"axis": -1}),
        ([Input("float32", 2), scalar(5), ON, OFF], {"axis": -1}),
        ([INDICES, scalar(5, float), ON, OFF], {"axis": -1}),
        ([INDICES, scalar(5), ON, scalar(0)], {"axis": -1}),
        ([INDICES, scalar(5), np.ones(1, F32), OFF], {"axis": -1}),
        ([Input.any_rank("int64"), scalar(5), ON, OFF], {"axis": 7}),
        ([Input("bool", 2), scalar(5, np.int16), ON, OFF], {"axis": -1}),
    ],
)
def test_openvino_one_hot(version: str, inputs: list[Any], attributes: dict[str, object]) -> None:
    assert_same_verdict("OneHot", version, inputs, attributes)


EYE = [scalar(3), scalar(4), scalar(0)]
F = {"output_type": "f32"}


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        ("ShapeOf", "opset3", [Input("float32", 2, None)], {"output_type": "i32"}),
        ("ShapeOf", "opset3", [Input("float32", 2, None)], {"output_type": "f32"}),
        ("ShapeOf", "opset17", [Input("float32", 2, None)], {"output_type": "i64"}),
        ("ShapeOf", "opset3", [Input.any_rank("float32")], {"output_type": "i32"}),
        ("ShapeOf", "opset1", [Input("string", 2, None)], {}),
        ("OneHot", "opset16", [INDICES, scalar(5), ON, OFF], {"axis": 1, "negative_indices_mode": "ignore-negative"}),
        ("OneHot", "opset16", [INDICES, scalar(5), ON, OFF], {"axis": 1, "negative_indices_mode": "normalize"}),
        ("Eye", "opset9", EYE, F),
        ("Eye", "opset9", EYE, {}),
        ("Eye", "opset9", EYE, {"output_type": "boolean"}),
        ("Eye", "opset9", [i64(3), i64(4), i64(0)], F),
        ("Eye", "opset9", [i64(3, 3), i64(4), i64(0)], F),
        ("Eye", "opset9", [scalar(-3), *EYE[1:]], F),
        ("Eye", "opset9", [Input("int32", None), *EYE[1:]], F),
        ("Eye", "opset9", [*EYE, i64(2, 5)], F),
        ("Eye", "opset9", [*EYE, Input("int64", 2)], F),
        ("Eye", "opset9", [*EYE, Input("int64", None)], F),
        ("Eye", "opset9", [*EYE, i64(-2)], F),
        ("Eye", "opset9", [*EYE, scalar(2)], F),
        ("Eye", "opset9", [scalar(3, float), *EYE[1:]], F),
        ("Eye", "opset9", [*EYE[:2], Input("int64", 2)], F),
        ("Eye", "opset9", [*EYE[:2], scalar(0, float)], F),
        ("RandomUniform", "opset8", [i64(2, 3), OFF, ON], F),
        ("RandomUniform", "opset8", [i64(2, 3), ON, ON], F),
        ("RandomUniform", "opset8", [i64(2, 3), np.zeros(1, F32), np.ones(1, F32)], F),
        ("RandomUniform", "opset8", [i64(2, 3), np.zeros(2, F32), np.ones(1, F32)], F),
        ("RandomUniform", "opset8", [scalar(2), OFF, ON], F),
        ("RandomUniform", "opset8", [Input("int64", 2), OFF, ON], F),
        ("RandomUniform", "opset8", [Input("int64", None), OFF, ON], F),
        ("RandomUniform", "opset8", [i64(2, 3), OFF, ON], {"output_type": "i32"}),
        ("RandomUniform", "opset8", [i64(2, 3), scalar(0), scalar(1)], {"output_type": "i64"}),
        ("RandomUniform", "opset8", [i64(2, 3), scalar(0), scalar(1)], {}),
        ("RandomUniform", "opset8", [i64(2, 3), OFF, scalar(1, float)], F),
        ("RandomUniform", "opset8", [i64(2, -1), OFF, ON], F),
        ("RandomUniform", "opset8", [i64(2, -3), OFF, ON], F),
        ("RandomUniform", "opset8", [np.ones(2, F32), OFF, ON], F),
        ("RandomUniform", "opset8", [i64(2, 3), OFF, ON], {**F, "alignment": "pytorch", "global_seed": 3}),
        ("RandomUniform", "opset8", [i64(2, 3), OFF, ON], {**F, "alignment": "torch"}),
        ("Multinomial", "opset13", [Input("float32", 2, 5), scalar(7)], {"convert_type": "i32"}),
        ("Multinomial", "opset13", [Input("float32", 2, 5), i64(7)], {}),
        ("Multinomial", "opset13", [Input("float32", 5), i64(7)], {"convert_type": "i32"}),
        ("Multinomial", "opset13", [Input("float32", 2, 5), i64(-4)], {"convert_type": "i32"}),
        ("Multinomial", "opset13", [Input("float32", None, 5), Input("int32")], {"convert_type": "i64"}),
        ("Multinomial", "opset13", [Input("float32", 2, 5), i64(4, 5)], {"convert_type": "i64"}),
        ("Multinomial", "opset13", [Input("int32", 2, 5), i64(4)], {"convert_type": "i64"}),
        ("Multinomial", "opset13", [Input.any_rank("float32"), i64(4)], {"convert_type": "i32"}),
    ],
)
def test_openvino_agrees(op: str, version: str, inputs: list[Any], attributes: dict[str, object]) -> None:
    assert_same_verdict(op, version, inputs, attributes)
