"""Attention, rotary embeddings and the fused transformer operators against ONNX's node tests, ONNX Runtime and
OpenVINO."""

from __future__ import annotations

import pytest

from irlint.dims import symbol
from irlint.findings.faults import Fault
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


# --- ONNX -------------------------------------------------------------------------------------------------------------

HEADS = """<ir_version: 11, opset_import: ["" : 23]>
g (float[2,4,%d] q, float[2,6,%d] k, float[2,6,%d] v) => (y) {
  y = Attention <q_num_heads = %d, kv_num_heads = %d> (q, k, v) }"""

#: Hidden sizes of query, key and value, numbers of heads, and the suggested numbers.
SUGGESTED = [
    (
        (10, 10, 10),
        (3, 3),
        "write 1, 2, 5 or 10 for `q_num_heads` and `kv_num_heads`, or use hidden sizes that 3 divides",
    ),
    (
        (24, 24, 30),
        (5, 5),
        "write 1, 2, 3 or 6 for `q_num_heads` and `kv_num_heads`, or use hidden sizes that 5 divides",
    ),
    ((24, 12, 30), (5, 3), "write 6 for `q_num_heads`"),
    ((10, 10, 12), (2, 3), "write 2 for `kv_num_heads`"),
    (
        (24, 12, 12),
        (5, 5),
        "write 4 for `q_num_heads` and 2 for `kv_num_heads`, or 6 for `q_num_heads` and 3 for `kv_num_heads`",
    ),
    ((720, 720, 720), (7, 7), "write 6 or 8 for `q_num_heads` and `kv_num_heads`, or use hidden sizes that 7 divides"),
    ((10, 9, 9), (3, 3), "use a `q_num_heads` that divides 10 (1, 2, 5 or 10), or a hidden size that 3 divides"),
]


def faults_of(hidden: tuple[int, int, int], heads: tuple[int, int]) -> list[Fault]:
    import onnx.parser

    content = onnx.parser.parse_model(HEADS % (*hidden, *heads)).SerializeToString()
    return [problem.fault for problem in inferred(onnx_parser.read("model.onnx", content)).problems]


@pytest.mark.parametrize(("hidden", "heads", "advice"), SUGGESTED)
def test_suggested_numbers_of_heads(hidden: tuple[int, int, int], heads: tuple[int, int], advice: str) -> None:
    (fault,) = faults_of(hidden, heads)
    assert (fault.rule.code, fault.help) == ("IRL380", advice)


@pytest.mark.parametrize(
    ("hidden", "heads"),
    [((10, 10, 10), (2, 2)), ((10, 10, 10), (5, 5)), ((24, 24, 30), (6, 6)), ((24, 12, 30), (6, 3))]
    + [((24, 12, 12), (4, 2)), ((24, 12, 12), (6, 3)), ((10, 10, 12), (2, 2))],
)
def test_suggested_numbers_leave_no_fault(hidden: tuple[int, int, int], heads: tuple[int, int]) -> None:
    assert faults_of(hidden, heads) == []


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
