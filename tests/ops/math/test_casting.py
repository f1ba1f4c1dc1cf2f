"""Casts, conversions and identities against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.model.tensor import NUMBERED_TYPES, Optional, Sequence, Tensor
from irlint.ops.math.casting import identity, promoted, promoted_by_scalar, retyped

X = Input("float32", 2, None)
N = symbol("N")


def own_cases(*ops: str) -> list[Any]:
    """Node tests of these operators themselves; one leaves the shapes of a sequence's elements open."""
    cases = [case for case in node_cases(*ops) if len(case.model.graph.node) == 1]
    return [case for case in cases if case.name != "test_identity_sequence"]


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize("case", own_cases("Cast", "CastLike", "BitCast", "Identity"), ids=lambda case: case.name)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    assert node_case_difference(case, symbolic) is None


@pytest.mark.parametrize(
    ("op", "opset", "attributes", "verdict"),
    [
        ("Cast", 1, {"to": "INT64"}, "int64"),
        ("Cast", 1, {"to": "float16"}, "float16"),
        ("Cast", 1, {"to": "FLOAT99"}, "IRL510"),
        ("Cast", 6, {"to": 7}, "int64"),
        ("Cast", 6, {"to": 8}, "IRL510"),
        ("Cast", 9, {"to": 8}, "string"),
        ("Cast", 13, {"to": 17}, "IRL510"),
        ("Cast", 19, {"to": 17}, "float8_e4m3fn"),
        ("Cast", 19, {"to": 0}, "IRL510"),
        ("Cast", 21, {"to": 99}, "IRL510"),
        ("Cast", 25, {"to": 27}, "IRL510"),
        ("Cast", 28, {"to": 27}, "float6_e2m3"),
        ("Cast", 28, {"to": 28}, "float6_e3m2"),
        ("Cast", 28, {"to": 29}, "IRL510"),
        ("BitCast", 28, {"to": 27}, "IRL510"),
        ("BitCast", 26, {"to": 6}, "int32"),
        ("BitCast", 26, {"to": 7}, "IRL364"),
    ],
)
def test_named_and_numbered_types(op: str, opset: int, attributes: dict[str, object], verdict: str) -> None:
    found = irlint_on_onnx(onnx_model(op, [Input("float32", 2, 3)], attributes, opset))
    assert (found[:6] if isinstance(found, str) else found[0][0]) == verdict


def test_every_element_type_of_onnx_is_numbered() -> None:
    assert sorted(onnx.TensorProto.DataType.values()) == list(range(len(NUMBERED_TYPES) + 1))


def test_contents_are_cast() -> None:
    known = Tensor("int64", (4,), (1, N, None, 300))
    assert retyped(known, "float32").value == (1.0, N, None, 300.0)
    assert retyped(known, "uint8").value == (1, N, None, None)
    assert retyped(known, "string").value == (None, None, None, None)
    assert retyped(Tensor("float32", (2,), (1.9, -1.9)), "int64").value == (1, -1)
    assert retyped(Tensor("float32", (2,), (0.0, 2.0)), "bool").value == (False, True)
    assert retyped(known, None) == Tensor(None, (4,))


@pytest.mark.parametrize("known", [Sequence(Tensor("float32", (N,))), Optional(Tensor("bool")), Tensor("int8", (2, N))])
def test_identity_keeps_every_kind(known: Any) -> None:
    assert identity(known) is known


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        ("Convert", "opset1", [X], {"destination_type": "i64"}),
        ("Convert", "opset17", [X], {"destination_type": "F16"}),
        ("Convert", "opset1", [X], {}),
        ("Convert", "opset1", [X], {"destination_type": "dynamic"}),
        ("Convert", "opset1", [X], {"destination_type": "FP16"}),
        ("Convert", "opset1", [Input("string", 2)], {"destination_type": "f32"}),
        ("Convert", "opset1", [Input.any_rank("bool")], {"destination_type": "u8"}),
        ("ConvertLike", "opset1", [X, Input("int32")], {}),
        ("ConvertLike", "opset1", [X], {}),
        ("Identity", "opset16", [X], {}),
        ("Identity", "opset15", [X], {}),
        ("FakeConvert", "opset13", [X, Input("float32", 1)], {}),
        ("FakeConvert", "opset13", [X, Input("float32", 1)], {"destination_type": "f16"}),
        ("FakeConvert", "opset13", [X, Input("float32", 2, 1), Input("float32", 2, 1)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [X, Input("float32", 2, 1), Input("float32", 3)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [X, Input("float32", 2, 2, 3)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [Input("float32", 2, 3), Input("float32", 4)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [Input("float32", 1, 3), Input("float32", 2, 3)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [X, Input("float16", 1)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [Input("int32", 2), Input("int32", 1)], {"destination_type": "f8e5m2"}),
        ("FakeConvert", "opset13", [Input.any_rank("float32"), Input("float32", 2, 1)], {"destination_type": "f8e5m2"}),
    ],
)
def test_openvino_agrees(op: str, version: str, inputs: list[Any], attributes: dict[str, object]) -> None:
    assert_same_verdict(op, version, inputs, attributes)


TYPES = ("bool", "uint4", "uint8", "uint16", "uint32", "uint64", "int4", "int8", "int16", "int32", "int64")
TYPES += ("float16", "bfloat16", "float32", "float64")
SAFETY = [{}, {"promote_unsafe": True}]


@pytest.mark.parametrize("attributes", SAFETY, ids=["safe", "unsafe"])
@pytest.mark.parametrize("scalar", [False, True], ids=["tensors", "with_a_scalar"])
@pytest.mark.parametrize("left", TYPES)
def test_openvino_promotes_the_same_way(left: str, scalar: bool, attributes: dict[str, object]) -> None:
    attributes = {**attributes, "pytorch_scalar_promotion": scalar}
    for right in TYPES:
        inputs = [Input(left, 2), Input(right) if scalar else Input(right, 2, 2)]
        assert_same_verdict("ConvertPromoteTypes", "opset14", inputs, attributes, outputs=2)


def test_openvino_promotes_uint64_to_the_target() -> None:
    attributes = {"u64_integer_promotion_target": "i64", "promote_unsafe": True}
    assert_same_verdict(
        "ConvertPromoteTypes", "opset14", [Input("uint64", 4), Input("int32", 2)], attributes, outputs=2
    )
    unknown = [Input("float16", 2), Input.any_rank("float32")]
    assert_same_verdict("ConvertPromoteTypes", "opset14", unknown, {"pytorch_scalar_promotion": True}, outputs=2)
    texts = [Input("string", 2), Input("string", 2)]
    assert_same_verdict("ConvertPromoteTypes", "opset14", texts, outputs=2)


@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("unsafe", [False, True])
def test_promotion_is_the_same_in_either_order(a: str, unsafe: bool) -> None:
    for b in TYPES:
        assert promoted(a, b, unsafe=unsafe, target="float32") == promoted(b, a, unsafe=unsafe, target="float32")
        if unsafe:
            assert promoted_by_scalar(a, b, unsafe=True, target="float32") is not None


def test_cast_of_small_contents_reaches_a_shape() -> None:
    model = onnx_model("Cast", [np.array([2, 3], np.int32)], {"to": 7}, 13)
    assert irlint_on_onnx(model) == [("int64", (2,))]
