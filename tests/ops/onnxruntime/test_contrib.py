"""What ONNX Runtime adds to ONNX, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from oracles.engines import irlint_on_onnx


def flex(attributes: str = "", k: str = "2,2,6,8", v: str = "2,2,6,9") -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["" : 24, "ai.onnx.preview" : 1]>
    g (float[2,4,5,8] q, float[{k}] k, float[{v}] v) => (y) {{ y = ai.onnx.preview.FlexAttention {attributes} (q, k, v) }}"""
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (flex(), [("float32", (2, 4, 5, 9))]),
        (flex(k="N,2,S,8"), [("float32", (2, 4, 5, 9))]),
        (flex(k="2,3,6,8", v="2,3,6,9"), "IRL380"),
        (flex(k="3,2,6,8"), "IRL381"),
        (flex(k="2,2,6,7"), "IRL381"),
        (flex(k="2,2,7,8"), "IRL381"),
        (flex(k="2,6,8"), "IRL381"),
        (flex("<score_mod = s (float[B,H,L,S] x) => (z) { z = Identity (x) }>"), [("float32", (2, 4, 5, 9))]),
        (flex("<score_mod = s (float[B,H,L,S] x) => (z) { z = Transpose (x) }>"), "IRL391"),
        (flex("<score_mod = s (int64[B,H,L,S] x) => (x) { }>"), "IRL391"),
        (flex("<prob_mod = s (float[B,H,L,S] x, float[1] u) => (z) { z = Add (x, u) }>"), "IRL390"),
    ],
)
def test_flex_attention(model: onnx.ModelProto, expected: Any) -> None:
    verdict = irlint_on_onnx(model)
    assert (verdict.split()[0] if isinstance(verdict, str) else verdict) == expected


def search(op: str, lists: str, outputs: str = "y") -> onnx.ModelProto:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    g (int32[N,S] ids) => ({outputs}) <int32[1] most = {{20}}, int32[1] least = {{1}}, int32[1] beams = {{4}}, int32[1] back = {{2}}>
    {{ {outputs} = com.microsoft.{op} <decoder = d (int32[B,T] x) => (z) {{ z = Identity (x) }}, eos_token_id = 1,
       pad_token_id = 1, vocab_size = 50> ({lists}) }}"""
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (search("GreedySearch", "ids, most, least"), [("int32", (None, 20))]),
        (search("GreedySearch", "ids, most"), [("int32", (None, 20))]),
        (search("BeamSearch", 'ids, most, "", beams, back'), [("int32", (None, 2, 20))]),
        (
            search("BeamSearch", "ids, most, least, beams, back", "y, s, t"),
            [("int32", (None, 2, 20)), ("float32", (None, 2)), ("float32", (None, None, 4, 50))],
        ),
        (search("Sampling", "ids, most", "y, s"), [("int32", (None, 20)), ("float32", (None, 50))]),
    ],
)
def test_sequences_are_as_long_as_the_most(model: onnx.ModelProto, expected: Any) -> None:
    assert irlint_on_onnx(model) == expected
