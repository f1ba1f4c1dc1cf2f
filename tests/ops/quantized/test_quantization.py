"""Quantization operators against ONNX's node tests, ONNX Runtime's rules and OpenVINO."""

from __future__ import annotations

import pytest
from cases.models import Input, ir_document
from oracles.engines import irlint_on_ir

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.quantized.fake_quantize import fake_quantize
from irlint.ops.quantized.quantization import dequantize_21, quantize_13

X = Input("float32", 2, 3, 8)
H, S = symbol("H"), symbol("S")


def F(*dims: int | None) -> Input:
    return Input("float32", *dims)


def test_the_help_names_the_axis_that_fits() -> None:
    with pytest.raises(Exception, match="axis 1 of input 0 is 3") as caught:
        quantize_13(Tensor("float32", (2, 3, 8)), Tensor("float32", (8,)))
    assert caught.value.help.endswith("or set `axis` to 2, whose size is 8")  # type: ignore[attr-defined]


def test_requirements() -> None:
    with stated() as statements:
        quantize_13(Tensor("float32", (2, H, 8)), Tensor("float32", (3,)))
        quantize_13(Tensor("float32", (2, 3, 8)), Tensor("float32", (S,)))
        dequantize_21(Tensor("int8", (4, H)), Tensor("float32", (4, 2)), axis=1, block_size=16)
    conditions = [requirement.condition for requirement in statements.requirements]
    assert conditions == ["H == 3", "S == 3 or S == 1", "(H + 15)//16 == 2"]


S0 = F()


def test_levels_below_two_are_a_warning() -> None:
    xml, weights = ir_document("FakeQuantize", "opset1", (X, S0, S0, S0, S0), {"levels": 1})
    assert irlint_on_ir(xml, weights) == [("float32", (2, 3, 8))]
    assert fake_quantize.__name__ == "fake_quantize"
