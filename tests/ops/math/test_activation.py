"""Activations, Softmax and Dropout against ONNX's node tests, OpenVINO and ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cases.models import Input, ir_document, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnxruntime_verdict

from irlint.dims import symbol
from irlint.findings.faults import Severity
from irlint.findings.statements import Relation, stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.math.activation import clamp, clip, ov_prelu, prelu, prelu_per_channel
from irlint.ops.onnxruntime.fused_activation import bias_split_gelu, bitmask_dropout
from irlint.parsers import openvino as parser

F = "float32"
FLOATING = ("float32", "float16", "bfloat16", "float64")
OTHERS = ("int32", "int64", "uint8", "int8", "int4", "uint4", "bool")
N, C, H = symbol("N"), symbol("C"), symbol("H")

CASES = node_cases(
    "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "HardSigmoid", "PRelu", "Clip", "Gelu", "Swish", "Shrink"
) + node_cases("Dropout", "Softmax", "LogSoftmax", "Hardmax", "IsNaN", "IsInf")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_node_cases(case: Any) -> None:
    assert node_case_difference(case) is None


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def one(dtype: str) -> list[Any]:
    return [Input(dtype, 2, 3)]


@pytest.mark.parametrize("dtype", FLOATING + OTHERS)
@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        ("Clamp", "opset1", one, {"min": 0, "max": 6}),
        ("Elu", "opset1", one, {"alpha": 1.0}),
        ("Selu", "opset1", lambda t: [Input(t, 2, 3), Input(t, 1), Input(t, 1)], {}),
        ("HardSigmoid", "opset1", lambda t: [Input(t, 2, 3), Input(t), Input(t)], {}),
        ("Swish", "opset4", lambda t: [Input(t, 2, 3), Input(t)], {}),
        ("Swish", "opset4", one, {}),
        ("Gelu", "opset2", one, {}),
        ("Gelu", "opset7", one, {"approximation_mode": "tanh"}),
        ("PReLU", "opset1", lambda t: [Input(t, 1, 3, 4), Input(t, 3)], {}),
        ("SoftMax", "opset1", one, {"axis": 1}),
        ("SoftMax", "opset8", one, {"axis": -1}),
        ("LogSoftmax", "opset5", one, {"axis": 1}),
        ("IsFinite", "opset10", one, {}),
        ("IsInf", "opset10", one, {"detect_negative": False}),
        ("IsNaN", "opset10", one, {}),
    ],
)
def test_openvino_types(op: str, version: str, inputs: Any, attributes: dict[str, Any], dtype: str) -> None:
    assert_same_verdict(op, version, inputs(dtype), attributes)


@pytest.mark.parametrize("dims", [(2, 3), (3,), (), (None, 3), (2, 3, 4), None])
@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, -2, -3])
@pytest.mark.parametrize(
    ("op", "version"), [("SoftMax", "opset1"), ("Softmax", "opset7"), ("SoftMax", "opset8"), ("LogSoftmax", "opset5")]
)
def test_openvino_softmax(op: str, version: str, axis: int | None, dims: Any) -> None:
    x = Input.any_rank(F) if dims is None else Input(F, *dims)
    assert_same_verdict(op, version, [x], {} if axis is None else {"axis": axis})


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        ("Clamp", "opset1", [Input(F, 2)], {"min": 2, "max": 1}),
        ("Clamp", "opset1", [Input(F, 2)], {"min": 1, "max": 1}),
        ("Clamp", "opset1", [Input("int32", 2)], {"min": "-inf", "max": "inf"}),
        ("Clamp", "opset1", [Input.any_rank(F)], {}),
        ("Elu", "opset1", [Input(F, None)], {}),
        ("Gelu", "opset7", [Input(F, 2)], {"approximation_mode": "erfx"}),
        ("HardSigmoid", "opset1", [Input(F, 2), Input(F, 1), Input(F)], {}),
        ("HardSigmoid", "opset1", [Input(F, 2), Input(F), Input(F, 1)], {}),
        ("HardSigmoid", "opset1", [Input(F, 2), Input(F), Input.any_rank(F)], {}),
        ("HardSigmoid", "opset1", [Input(F, 2), Input("float16"), Input(F)], {}),
        ("Selu", "opset1", [Input(F, 2), Input(F, 3), Input(F, 5, 5)], {}),
        ("Selu", "opset1", [Input(F, 2), Input(F, 1), Input("float16", 1)], {}),
        ("Swish", "opset4", [Input(F, 2), Input(F, 1)], {}),
        ("Swish", "opset4", [Input(F, 2), Input("float16")], {}),
        ("Swish", "opset3", [Input(F, 2)], {}),
        ("PReLU", "opset1", [Input(F, 1, 3, 4, 4), Input("int32", 7, 1, 1, 1, 9, 9)], {}),
        ("PRelu", "opset1", [Input(F, 1, 3, 4, 4), Input(F, 7)], {}),
        ("PRelu", "opset1", [Input(F), Input(F)], {}),
        ("PRelu", "opset1", [Input(F, 2)], {}),
        ("PRelu", "opset1", [Input.any_rank(F), Input(F, 2)], {}),
    ],
)
def test_openvino_activations(op: str, version: str, inputs: list[Any], attributes: dict[str, Any]) -> None:
    assert_same_verdict(op, version, inputs, attributes)


@pytest.mark.parametrize(
    ("x", "slope", "warned"),
    [
        ((1, 3, 4, 4), (3,), False),
        ((1, 3, 4, 4), (4,), False),
        ((1, 3, 4, 4), (3, 1, 1), False),
        ((1, 3, 4, 4), (1,), False),
        ((1, C, 4, 4), (3,), False),
        ((1, 3, 4, 4), (H,), False),
        ((1, 3, 4, 4), (7,), True),
        ((1, 3, 4, 4), (1, 5, 1, 1), True),
    ],
)
def test_openvino_prelu_warns(x: Any, slope: Any, warned: bool) -> None:
    with stated() as statements:
        assert ov_prelu(f32(*x), f32(*slope)).shape == x
    assert [fault.rule.code for fault in statements.faults] == ["IRL202"] * warned


# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("dims", [(2, 3), (3,), ()])
@pytest.mark.parametrize("axis", [None, 0, 2, -2, -3])
def test_softmax_as_onnx_runtime_says(op: str, opset: int, dims: Any, axis: int | None) -> None:
    model = onnx_model(op, [Input(F, *dims)], {} if axis is None else {"axis": axis}, opset)
    ours = irlint_on_onnx(model)
    assert isinstance(ours, str) == isinstance(onnxruntime_verdict(model), str)
    assert ours[0] == (F, dims) or str(ours).startswith("IRL300")


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "opset", "expected"),
    [
        ("PRelu", [Input(F, 2, 3, 4, 4), Input(F, 3)], {}, 16, "IRL202"),
        ("PRelu", [Input(F, 2, 3, 4, 4), Input(F, 2, 1, 5, 1, 1)], {}, 9, "IRL202"),
        ("PRelu", [Input(F, 2, 3, 4, 4), Input(F, 4)], {}, 6, "IRL202"),
        ("PRelu", [Input(F, 2, 3, 4, 4), Input(F, 4)], {"consumed_inputs": [0]}, 1, "IRL202"),
        ("Clip", [Input(F, 2, 3), Input(F, 3)], {}, 13, "IRL339"),
        ("Clip", [Input(F, 2, 3), Input(F), Input(F, 1, 1)], {}, 11, "IRL339"),
        ("Clip", [Input(F, 2, 3)], {"min": 6.0, "max": 0.0}, 6, "IRL328"),
        ("Clip", [Input(F, 2, 3)], {"min": 6.0, "max": 0.0}, 1, "IRL328"),
        ("Dropout", [Input(F, 2, 3), Input(F, 1)], {}, 13, "IRL339"),
        ("Dropout", [Input(F, 2, 3), None, Input("bool", 1)], {}, 13, "IRL339"),
        ("Gelu", [Input(F, 2, 3)], {"approximate": "erf"}, 20, "IRL506"),
        ("Softmax", [Input(F, 3)], {}, 11, "IRL300"),
    ],
)
def test_onnx_faults(op: str, inputs: list[Any], attributes: dict[str, Any], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "opset", "dtypes"),
    [
        ("LeakyRelu", [Input(F, 2, 3)], {"alpha": 0.1, "consumed_inputs": [0]}, 1, [F]),
        ("Elu", [Input(F, 2, 3)], {"consumed_inputs": [0]}, 1, [F]),
        ("Selu", [Input(F, 2, 3)], {"consumed_inputs": [0]}, 1, [F]),
        ("HardSigmoid", [Input(F, 2, 3)], {"consumed_inputs": [0]}, 1, [F]),
        ("Clip", [Input(F, 2, 3)], {"consumed_inputs": [0], "max": 6.0}, 1, [F]),
        ("Clip", [Input(F, 2, 3), None, Input(F, 1)], {}, 13, [F]),
        ("PRelu", [Input(F, 2, 3), Input(F, 3)], {}, 6, [F]),
        ("PRelu", [Input(F, 2, 3), Input(F, 1)], {"consumed_inputs": [0]}, 1, [F]),
        ("Dropout", [Input(F, 2, 3)], {"is_test": 1, "consumed_inputs": [0]}, 1, [F, F]),
        ("Dropout", [Input(F, 2, 3)], {"is_test": 1}, 6, [F, F]),
        ("Dropout", [Input("float16", 2, 3)], {}, 7, ["float16", "float16"]),
        ("Dropout", [Input(F, 2, 3)], {}, 10, [F, "bool"]),
        ("Dropout", [Input(F, 2, 3), Input(F), Input("bool")], {"seed": 1}, 22, [F, "bool"]),
        ("IsInf", [Input(F, 2, 3)], {"detect_negative": 0}, 10, ["bool"]),
        ("Affine", [Input(F, 2, 3)], {"alpha": 2.0}, 9, [F]),
        ("Scale", [Input(F, 2, 3)], {"scale": 2.0}, 9, [F]),
    ],
)
def test_every_version(op: str, inputs: list[Any], attributes: dict[str, Any], opset: int, dtypes: list[str]) -> None:
    model = onnx_model(op, inputs, attributes, opset, outputs=len(dtypes))
    assert irlint_on_onnx(model) == [(dtype, (2, 3)) for dtype in dtypes]


def test_clip_keeps_contents() -> None:
    sizes = Tensor("int64", (3,), (H, -2, 900))
    limit = {"min": Tensor("int64", (), (0,)), "max": Tensor("int64", (), (224,))}
    assert clip(sizes, limit["min"]).value == (H, 0, 900)
    assert clip(Tensor("int64", (2,), (-5, 300)), **limit).value == (0, 224)
    assert clip(sizes, Tensor("int64", ())).value is None
    assert clamp(Tensor("int64", (2,), (-5, 300)), min=0.0, max=7.0).value == (0, 7)
    assert clamp(Tensor("int64", (2,), (-5, 300)), min=0.5, max=7.0).value is None


def test_slopes_state_what_they_need() -> None:
    with stated() as statements:
        assert prelu(f32(N, C, H, H), f32(64, 1, 1)).shape == (N, C, H, H)
        prelu_per_channel(f32(N, C, H), f32(64))
    assert [requirement.condition for requirement in statements.requirements] == ["64 == C", "64 == C"]


# --- ONNX Runtime's own -----------------------------------------------------------------------------------------------

Q = [Input("uint8", 2, 8), Input(F), Input("uint8"), Input(F), Input("uint8")]
X = Input(F, 2, 8)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "expected"),
    [
        ("Gelu", [X], {}, [(F, (2, 8))]),
        ("QuickGelu", [X], {"alpha": 1.0}, [(F, (2, 8))]),
        ("ScaledSiLU", [X], {}, [(F, (2, 8))]),
        ("IsAllFinite", [X, Input(F, 3)], {"isnan_only": 1}, [("bool", ())]),
        ("BiasGelu", [X, Input(F, 8)], {}, [(F, (2, 8))]),
        ("BiasGelu", [X, Input(F, 7)], {}, "IRL321"),
        ("FastGelu", [X], {}, [(F, (2, 8))]),
        ("FastGelu", [X, Input(F, 7)], {}, "IRL321"),
        ("BiasAdd", [Input(F, 1, 2, 8), Input(F, 8), Input(F, 1, 2, 8)], {}, [(F, (1, 2, 8))]),
        ("BiasAdd", [Input(F, 1, 2, 8), Input(F, 8), Input(F, 1, 3, 8)], {}, "IRL203"),
        ("BiasSplitGelu", [Input(F, 1, 2, 8), Input(F, 8)], {}, [(F, (1, 2, 4))]),
        ("BiasSplitGelu", [Input(F, 1, 2, 7), Input(F, 7)], {}, "IRL321"),
        ("BiasDropout", [X, Input(F, 8), None, Input(F)], {}, [(F, (2, 8)), ("bool", (2, 8))]),
        ("BitmaskDropout", [X], {}, [(F, (2, 8)), ("uint32", (1,))]),
        ("BitmaskBiasDropout", [Input(F, 9, 8), Input(F, 8)], {}, [(F, (9, 8)), ("uint32", (3,))]),
        ("BiasSoftmax", [X, X], {"axis": 1, "is_inner_broadcast": 0}, [(F, (2, 8))]),
        ("QLinearSigmoid", Q, {}, [("uint8", (2, 8))]),
        ("QLinearLeakyRelu", Q, {"alpha": 0.1}, [("uint8", (2, 8))]),
        ("QLinearSoftmax", Q, {"axis": 1, "opset": 13}, [("uint8", (2, 8))]),
        ("QLinearSoftmax", Q, {"axis": 2, "opset": 13}, "IRL300"),
    ],
)
def test_onnx_runtimes_activations(op: str, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    outputs = 1 if isinstance(expected, str) else len(expected)
    ours = irlint_on_onnx(onnx_model(op, inputs, attributes, domain="com.microsoft", outputs=outputs))
    assert ours[: len(expected)] == expected


def test_halves_and_bits_of_symbols() -> None:
    with stated() as statements:
        assert str(bias_split_gelu(f32(N, 2, C), f32(C)).shape[-1]) == "C//2"
    assert [requirement.any_of for requirement in statements.requirements] == [(Relation("%", C, 2),)]
    assert str(bitmask_dropout(f32(N, 32))[1].shape[0]) == "N"


@pytest.mark.parametrize(
    ("op", "version", "inputs"),
    [("SoftMax", "opset1", [X]), ("Elu", "opset1", [X]), ("Clamp", "opset1", [X])],
)
def test_an_absent_attribute_is_told(op: str, version: str, inputs: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_bytes(ir_document(op, version, inputs, {})[0])
    problems = inferred(parser.read(path)).problems
    assert {problem.fault.rule.name for problem in problems} == {"missing-attribute"}
    assert {problem.fault.severity for problem in problems} == {Severity.WARNING}
