"""Casts, conversions and identities against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from irlint.dims import symbol
from irlint.model.tensor import NUMBERED_TYPES, Optional, Sequence, Tensor
from irlint.ops.math.casting import identity, promoted, promoted_by_scalar, retyped

N = symbol("N")


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


TYPES = ("bool", "uint4", "uint8", "uint16", "uint32", "uint64", "int4", "int8", "int16", "int32", "int64")
TYPES += ("float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("unsafe", [False, True])
def test_promotion_is_the_same_in_either_order(a: str, unsafe: bool) -> None:
    for b in TYPES:
        assert promoted(a, b, unsafe=unsafe, target="float32") == promoted(b, a, unsafe=unsafe, target="float32")
        if unsafe:
            assert promoted_by_scalar(a, b, unsafe=True, target="float32") is not None
