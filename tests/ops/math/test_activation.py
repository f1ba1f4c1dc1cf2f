"""Activations, Softmax and Dropout against ONNX's node tests, OpenVINO and ONNX Runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cases.models import Input, ir_document

from irlint.dims import symbol
from irlint.findings.faults import Severity
from irlint.findings.statements import Relation, stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.math.activation import clamp, clip, ov_prelu, prelu, prelu_per_channel
from irlint.ops.onnxruntime.fused_activation import bias_split_gelu, bitmask_dropout
from irlint.parsers import openvino as parser

F = "float32"
N, C, H = symbol("N"), symbol("C"), symbol("H")


def f32(*dims: Any) -> Tensor:
    return Tensor(F, dims)


# --- OpenVINO ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "slope"),
    [
        ((1, 3, 4, 4), (3,)),
        ((1, 3, 4, 4), (4,)),
        ((1, 3, 4, 4), (3, 1, 1)),
        ((1, 3, 4, 4), (1,)),
        ((1, C, 4, 4), (3,)),
        ((1, 3, 4, 4), (H,)),
    ],
)
def test_openvino_prelu(x: Any, slope: Any) -> None:
    with stated() as statements:
        assert ov_prelu(f32(*x), f32(*slope)).shape == x
    assert not statements.faults


# --- ONNX -------------------------------------------------------------------------------------------------------------


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

X = Input(F, 2, 8)


def test_halves_and_bits_of_symbols() -> None:
    with stated() as statements:
        assert str(bias_split_gelu(f32(N, 2, C), f32(C)).shape[-1]) == "C//2"
    assert [requirement.any_of for requirement in statements.requirements] == [(Relation("%", C, 2),)]
    assert str(bitmask_dropout(f32(N, 32))[1].shape[0]) == "N"


@pytest.mark.parametrize(
    ("op", "version", "inputs"),
    [("SoftMax", "opset1", [X]), ("Elu", "opset1", [X]), ("Clamp", "opset1", [X])],
)
def test_an_absent_attribute_is_reported(op: str, version: str, inputs: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_bytes(ir_document(op, version, inputs, {})[0])
    problems = inferred(parser.read(path)).problems
    assert {problem.fault.rule.name for problem in problems} == {"missing-attribute"}
    assert {problem.fault.severity for problem in problems} == {Severity.WARNING}
