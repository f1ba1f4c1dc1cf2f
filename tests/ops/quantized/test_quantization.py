"""Quantization operators against ONNX's node tests, ONNX Runtime's rules and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, ir_document, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_ir, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.quantized.quantization import dequantize_21, fake_quantize, quantize_13

X = Input("float32", 2, 3, 8)
H, S = symbol("H"), symbol("S")

CASES = node_cases("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


def F(*dims: int | None) -> Input:
    return Input("float32", *dims)


def Z(*dims: int | None) -> Input:
    return Input("int8", *dims)


FITTING = [
    ([F()], {}, 10, "uint8"),
    ([F(1)], {}, 10, "uint8"),
    ([F(3)], {}, 10, "uint8"),
    ([F(), Z()], {}, 13, "int8"),
    ([F(), Z(1)], {}, 13, "int8"),
    ([F(1), Z()], {}, 13, "int8"),
    ([F(3), Z(3)], {}, 13, "int8"),
    ([F(8), Z(8)], {"axis": -1}, 13, "int8"),
    ([F()], {"axis": 5}, 13, "uint8"),
    ([F(None)], {}, 13, "uint8"),
    ([F(2, 3, 2), Z(2, 3, 2)], {"axis": 2, "block_size": 4}, 21, "int8"),
    ([F(2, 3, 3)], {"axis": 2, "block_size": 3}, 23, "uint8"),
    ([F()], {"output_dtype": 3}, 21, "int8"),
    ([F(), Z()], {"output_dtype": 3}, 25, "int8"),
]


@pytest.mark.parametrize(("rest", "attributes", "opset", "dtype"), FITTING, ids=range(len(FITTING)))
def test_scales_that_fit(rest: list[Input], attributes: dict[str, int], opset: int, dtype: str) -> None:
    assert irlint_on_onnx(onnx_model("QuantizeLinear", [X, *rest], attributes, opset)) == [(dtype, (2, 3, 8))]


FAULTS = [
    ([F(8)], {}, 10, "IRL370"),
    ([F(1, 3)], {}, 13, "IRL370"),
    ([F(1, 1, 1)], {}, 13, "IRL370"),
    ([F(2, 3, 8)], {}, 19, "IRL370"),
    ([F(3), Z()], {}, 13, "IRL371"),
    ([F(3), Z(4)], {}, 13, "IRL371"),
    ([F(), Z(3)], {}, 13, "IRL371"),
    ([F(8), Z(8)], {"axis": 3}, 13, "IRL300"),
    ([F(2, 3, 3)], {"axis": 2, "block_size": 4}, 21, "IRL370"),
    ([F(2, 3, 4)], {"axis": 2, "block_size": 3}, 21, "IRL370"),
    ([F(8)], {"axis": 2, "block_size": 3}, 21, "IRL370"),
    ([F(2, 3, 2)], {"axis": 2}, 21, "IRL370"),
    ([F()], {"block_size": -4}, 21, "IRL510"),
    ([F(), Z()], {"output_dtype": 2}, 21, "IRL402"),
    ([F()], {"output_dtype": 1}, 21, "IRL510"),
]


@pytest.mark.parametrize(("rest", "attributes", "opset", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_faults(rest: list[Input], attributes: dict[str, int], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model("QuantizeLinear", [X, *rest], attributes, opset))
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


def test_the_help_names_the_axis_that_fits() -> None:
    with pytest.raises(Exception, match="axis 1 of input 0 is 3") as caught:
        quantize_13(Tensor("float32", (2, 3, 8)), Tensor("float32", (8,)))
    assert caught.value.help == "set `axis` to 2, whose size is 8"  # type: ignore[attr-defined]


def test_requirements() -> None:
    with stated() as statements:
        quantize_13(Tensor("float32", (2, H, 8)), Tensor("float32", (3,)))
        quantize_13(Tensor("float32", (2, 3, 8)), Tensor("float32", (S,)))
        dequantize_21(Tensor("int8", (4, H)), Tensor("float32", (4, 2)), axis=1, block_size=16)
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["H == 3", "S == 3 or S == 1", "(H + 15)//16 == 2"]


S0 = F()
LIMITS = [
    ((X, S0, S0, S0, S0), {"levels": 256}),
    ((X, S0, S0, S0, S0), {"levels": 1}),
    ((X, S0, S0, S0, S0), {}),
    ((X, F(1, 3, 1), F(1, 3, 1), F(1), F(1)), {"levels": 256}),
    ((X, F(1, 4, 1), S0, S0, S0), {"levels": 256}),
    ((X, S0, S0, S0, F(4)), {"levels": 256}),
    ((F(1, 3, 8), F(5, 1, 1), S0, S0, S0), {"levels": 256}),
    ((X, F(2, 1, 1, 1), S0, S0, S0), {"levels": 2}),
    ((X, F(1, 3, 1, 1), S0, S0, S0), {"levels": 2}),
    ((Input("int8", 2, 3), S0, S0, S0, S0), {"levels": 256}),
    ((X, F(3), S0, S0, S0), {"levels": 256, "auto_broadcast": "none"}),
    ((X, X, X, X, X), {"levels": 256, "auto_broadcast": "none"}),
    ((X, F(3), F(3), F(3), F(3)), {"levels": 2, "auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": 1}),
    ((X, F(2), F(2), F(2), F(2)), {"levels": 2, "auto_broadcast": "pdpd", "auto_broadcast.auto_broadcast_axis": 1}),
    ((F(None, 3, 8), F(5, 3, 1), S0, S0, S0), {"levels": 256}),
    ((F(None, 3, 8), F(5, 3, 1), F(4, 1, 1), S0, S0), {"levels": 256}),
    ((Input.any_rank("float32"), F(3), S0, S0, S0), {"levels": 256}),
]


@pytest.mark.parametrize(("inputs", "attributes"), LIMITS, ids=range(len(LIMITS)))
def test_fake_quantize_as_openvino(inputs: tuple[Input, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("FakeQuantize", "opset1", inputs, attributes)


QS = np.array(0.5, np.float32)
QZ = np.array(3, np.uint8)


def q(*dims: int | str | None) -> Input:
    return Input("uint8", *dims)


CONTRIB = [
    ("QLinearAdd", [q(2, 3), QS, QZ, q(3), QS, QZ, QS, QZ], {}, ("uint8", (2, 3))),
    ("QLinearMul", [q(2, 3), QS, QZ, q(2, 1), QS, QZ, QS], {}, ("uint8", (2, 3))),
    ("QLinearAdd", [q(2, 3), QS, QZ, q(4), QS, QZ, QS, QZ], {}, "IRL201"),
    ("QLinearAdd", [q(2, 3), F(3), QZ, q(3), QS, QZ, QS, QZ], {}, "IRL339"),
    ("QLinearWhere", [Input("bool", 2, 1), q(3), QS, QZ, q(2, 3), QS, QZ, QS, QZ], {}, ("uint8", (2, 3))),
    ("QLinearAdd", [q(2, 3), QS, None, q(2, 1), QS, None, QS], {}, ("uint8", (2, 3))),
    ("MulInteger", [q(2, 3), None, q(3)], {}, ("int32", (2, 3))),
    ("MulInteger", [q(2, 3), QZ, q(3), QZ], {}, ("int32", (2, 3))),
    ("QLinearConcat", [QS, QZ, q(2, 3), QS, QZ, q(2, 4), QS, QZ], {"axis": 1}, ("uint8", (2, 7))),
    ("QLinearConcat", [QS, QZ, q(2, 3), QS, QZ, q(5, 4), QS, QZ], {"axis": 1}, "IRL340"),
    ("QLinearConcat", [QS, QZ, q(2, 3), QS, QZ, q(5, 4)], {"axis": 1}, "IRL372"),
    ("QuantizeLinear", [X, F(3), q(3)], {"axis": 1}, ("uint8", (2, 3, 8))),
    ("DequantizeLinear", [q(2, 3), F(4)], {"axis": 1}, "IRL370"),
    ("QLinearReduceMean", [q(2, 3), QS, QZ, QS, QZ], {"axes": [1], "keepdims": 1}, ("uint8", (2, 1))),
    ("GatherBlockQuantized", [q(32, 64), Input("int64", 5), F(32, 1)], {}, ("float32", (5, 128))),
    ("GatherBlockQuantized", [Input("int4", 32, 64), Input("int64", 5), F(32, 1)], {}, ("float32", (5, 64))),
    ("QuantizeBFP", [X], {"bfp_type": 1}, "IRL508"),
    ("DequantizeBFP", [q(None), np.array([2, 3]), np.array([3, 1])], {"bfp_type": 1}, ("float32", (2, 3))),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), CONTRIB, ids=range(len(CONTRIB)))
def test_onnx_runtime_operators(op: str, inputs: list[object], attributes: dict[str, int], expected: object) -> None:
    model = onnx_model(op, inputs, attributes, domain="com.microsoft")  # type: ignore[arg-type]
    verdict = irlint_on_onnx(model)
    if isinstance(expected, str):
        assert isinstance(verdict, str)
        assert verdict.startswith(expected)
    else:
        assert verdict == [expected]


def test_levels_below_two_are_a_warning() -> None:
    xml, weights = ir_document("FakeQuantize", "opset1", (X, S0, S0, S0, S0), {"levels": 1})
    assert irlint_on_ir(xml, weights) == [("float32", (2, 3, 8))]
    assert fake_quantize.__name__ == "fake_quantize"
