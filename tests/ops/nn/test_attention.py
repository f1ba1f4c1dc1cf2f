"""Attention, rotary embeddings and the fused transformer operators against ONNX's node tests, ONNX Runtime and
OpenVINO."""

from __future__ import annotations

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.nn.scaled_dot_product import scaled_dot_product_attention
from irlint.parsers import onnx as onnx_parser

# --- OpenVINO ---------------------------------------------------------------------------------------------------------


def test_symbolic_sizes() -> None:
    batch, length, keys, head = (symbol(name) for name in ("B", "L", "S", "E"))
    query = Tensor("float32", (batch, 8, length, head))
    key, value = Tensor("float32", (batch, 8, keys, 64)), Tensor("float32", (batch, 8, keys, 32))
    with stated() as statements:
        result = scaled_dot_product_attention(query, key, value, causal=False)
    assert result == Tensor("float32", (batch, 8, length, 32))
    assert [requirement.condition for requirement in statements.requirements] == ["E == 64"]


# --- com.microsoft ----------------------------------------------------------------------------------------------------


def test_symbolic_cache() -> None:
    text = """<ir_version: 10, opset_import: ["" : 23]>
g (float[B,3,S,8] q, float[B,3,S,8] k, float[B,3,S,8] v, float[B,3,P,8] pk, float[B,3,P,8] pv) => (y, nk, nv) {
  y, nk, nv = Attention (q, k, v, , pk, pv) }"""
    import onnx.parser

    known = inferred(onnx_parser.read("model.onnx", onnx.parser.parse_model(text).SerializeToString()))
    batch, length, past = (symbol(name) for name in ("B", "S", "P"))
    assert not known.problems
    assert not known.requires
    assert known.model.graph is not None
    shapes = [known.types[value].shape for value in known.model.graph.outputs]  # type: ignore[union-attr]
    assert shapes == [(batch, 3, length, 8), (batch, 3, past + length, 8), (batch, 3, past + length, 8)]
