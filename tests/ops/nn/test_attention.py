"""Attention, rotary embeddings and the fused transformer operators against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.nn.attention import scaled_dot_product_attention
from irlint.parsers import onnx as onnx_parser


@pytest.mark.parametrize("symbolic", [False, True], ids=["static", "symbolic"])
@pytest.mark.parametrize(
    "case", node_cases("Attention", "LinearAttention", "RotaryEmbedding"), ids=lambda case: case.name
)
def test_onnx_node_cases(case: Any, symbolic: bool) -> None:
    difference = node_case_difference(case, symbolic)
    assert difference is None or (symbolic and difference.startswith("unknown"))


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

ANY = "any"
PLAIN: dict[str, Any] = {
    "q": (2, 8, 10, 64),
    "k": (2, 8, 12, 64),
    "v": (2, 8, 12, 32),
    "m": None,
    "s": None,
    "sink": None,
}
UNKNOWN_BATCH = {"q": (None, 8, 10, 64), "k": (None, 8, 12, 64), "v": (None, 8, 12, 32)}
FULL = {"m": (10, 12), "s": ()}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"causal": None},
        {"k": (2, 8, 12, 65)},
        {"v": (2, 8, 13, 32)},
        {"k": (3, 8, 12, 64)},
        {"k": (1, 8, 12, 64), "v": (1, 8, 12, 32)},
        {"k": (2, 4, 12, 64), "v": (2, 4, 12, 32)},
        {"q": (8, 10, 64), "k": (8, 12, 64), "v": (8, 12, 32)},
        {"q": (10, 64), "k": (12, 64), "v": (12, 32)},
        {"k": (12, 64), "v": (12, 32)},
        {"k": (8, 12, 64), "v": (8, 12, 32)},
        {"k": (5, 12, 64), "v": (5, 12, 32)},
        {"q": (8, 10, 64)},
        {"q": (1, 8, 10, 64)},
        {"q": (2, 1, 10, 64)},
        {"m": (2, 8, 10, 12)},
        {"m": (10, 12)},
        {"m": (1, 1, 1, 12)},
        {"m": ()},
        {"m": (1,)},
        {"m": (12,)},
        {"m": (1, 1)},
        {"m": (10, 1)},
        {"m": (11, 12)},
        {"m": (10, 13)},
        {"m": (1, 2, 8, 10, 12)},
        {"m": (3, 8, 10, 12)},
        {"q": (1, 8, 10, 64), "k": (1, 8, 12, 64), "v": (1, 8, 12, 32), "m": (3, 8, 10, 12)},
        {"q": (2, 8, 1, 64), "m": (10, 12)},
        {"k": (2, 8, 1, 64), "v": (2, 8, 1, 32), "m": (10, 12)},
        {"m": (10, 12), "m_type": "bool"},
        {"m": (10, 12), "m_type": "int32"},
        {"m": (10, 12), "m_type": "float16"},
        {"m": (11, 13), "causal": True},
        FULL,
        FULL | {"s": (1,)},
        FULL | {"s": (2,)},
        FULL | {"s": (1, 1)},
        FULL | {"s_type": "float16"},
        FULL | {"sink": (1, 8, 1, 1)},
        FULL | {"sink": (2, 8, 10, 1)},
        FULL | {"sink": (1, 8, 1, 2)},
        FULL | {"sink": (8,)},
        FULL | {"sink": (1, 7, 1, 1)},
        FULL | {"sink": (3, 8, 1, 1)},
        FULL | {"sink": (1, 8, 5, 1)},
        {"q": ANY},
        {"k": ANY},
        {"v": ANY},
        {"q": ANY, "k": ANY, "v": ANY},
        {"q": ANY, "m": (2, 8, 10, 12)},
        {"q": (2, 8, 10, None), "k": ANY, "v": ANY},
        {"m": ANY},
        {"q": (None, 8, None, 64), "k": (None, 8, None, 64), "v": (None, 8, None, 64)},
        {"q": (None, 8, 10, 64), "v": (2, None, 12, 32)},
        UNKNOWN_BATCH | {"m": (2, 1, 10, 12)},
        UNKNOWN_BATCH | {"m": (1, 1, 10, 12)},
        {"q": (2, 8, None, 64), "m": (10, 12)},
        {"k_type": "float16"},
        {"q_type": "int32", "k_type": "int32", "v_type": "int32"},
        {"q_type": "float16", "k_type": "float16", "v_type": "float16"},
    ],
)
def test_openvino_says_the_same(changes: dict[str, Any]) -> None:
    given = PLAIN | changes
    kinds = {name: given.get(f"{name}_type", "float32") for name in PLAIN}
    inputs = [
        Input.any_rank(kinds[name]) if given[name] == ANY else Input(kinds[name], *given[name])
        for name in PLAIN
        if given[name] is not None
    ]
    causal = given.get("causal", False)
    attributes = {} if causal is None else {"causal": causal}
    assert_same_verdict("ScaledDotProductAttention", "opset13", inputs, attributes)


def test_symbolic_sizes() -> None:
    batch, length, keys, head = (symbol(name) for name in ("B", "L", "S", "E"))
    query = Tensor("float32", (batch, 8, length, head))
    key, value = Tensor("float32", (batch, 8, keys, 64)), Tensor("float32", (batch, 8, keys, 32))
    with stated() as statements:
        result = scaled_dot_product_attention(query, key, value, causal=False)
    assert result == Tensor("float32", (batch, 8, length, 32))
    assert [requirement.condition for requirement in statements.requirements] == ["E == 64"]


# --- ONNX -------------------------------------------------------------------------------------------------------------


def runs(model: onnx.ModelProto) -> list[tuple[int, ...]] | None:
    """The shapes that ONNX Runtime computes from small numbers, None where it refuses."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        kinds = {
            "tensor(float)": np.float32,
            "tensor(int32)": np.int32,
            "tensor(int64)": np.int64,
            "tensor(uint8)": np.uint8,
        }
        return [
            array.shape
            for array in session.run(None, {i.name: np.zeros(i.shape, kinds[i.type]) for i in session.get_inputs()})
        ]
    except Exception:
        return None


def f32(*shapes: tuple[int, ...] | None) -> list[Input | None]:
    return [None if shape is None else Input("float32", *shape) for shape in shapes]


Q4, K4, V4 = (2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 10)
Q3, K3, V3 = (2, 4, 24), (2, 6, 24), (2, 6, 30)
HEADS = {"q_num_heads": 3, "kv_num_heads": 3}


@pytest.mark.parametrize(
    ("shapes", "attributes", "outputs", "expected"),
    [
        ((Q4, K4, V4), {}, 1, [(2, 3, 4, 10)]),
        ((Q3, K3, V3), HEADS, 1, [(2, 4, 30)]),
        ((Q3, K3, V3), {}, 1, "IRL380"),
        ((Q3, K3, V3), {"q_num_heads": 5, "kv_num_heads": 5}, 1, "IRL380"),
        (((2, 6, 4, 8), K4, V4), {}, 1, [(2, 6, 4, 10)]),
        (((2, 4, 4, 8), K4, V4), {}, 1, "IRL380"),
        ((Q4, K4, (2, 2, 6, 10)), {}, 1, "IRL380"),
        ((Q4, (2, 3, 6, 5), V4), {}, 1, "IRL381"),
        ((Q4, K4, (2, 3, 7, 10)), {}, 1, "IRL381"),
        ((Q4, (1, 3, 6, 8), (1, 3, 6, 10)), {}, 1, "IRL381"),
        ((Q4, K3, V3), HEADS, 1, "IRL381"),
        (((4, 8), (6, 8), (6, 8)), {}, 1, "IRL381"),
        ((Q4, K4, V4, (4, 6)), {}, 1, [(2, 3, 4, 10)]),
        ((Q4, K4, V4, (2, 1, 4, 6)), {}, 1, [(2, 3, 4, 10)]),
        ((Q4, K4, V4, (5, 6)), {}, 1, "IRL382"),
        ((Q4, K4, V4, (4, 7)), {}, 1, "IRL382"),
        ((Q4, K4, V4, (3, 3, 4, 6)), {}, 1, "IRL382"),
        ((Q4, K4, V4, None, (2, 3, 7, 8), (2, 3, 7, 10)), {}, 3, [(2, 3, 4, 10), (2, 3, 13, 8), (2, 3, 13, 10)]),
        ((Q3, K3, V3, None, (2, 3, 7, 8), (2, 3, 7, 10)), HEADS, 3, [(2, 4, 30), (2, 3, 13, 8), (2, 3, 13, 10)]),
        ((Q4, K4, V4, None, (2, 5, 7, 8), (2, 5, 7, 10)), {}, 3, "IRL383"),
        ((Q4, K4, V4, None, (2, 3, 7, 8)), {}, 1, "IRL383"),
        ((Q4, K4, V4), {"qk_matmul_output_mode": 4}, 4, "IRL510"),
        ((Q4, K4, V4), {"qk_matmul_output_mode": 4}, 1, [(2, 3, 4, 10)]),
    ],
)  # fmt: skip
def test_onnx_attention(shapes: Any, attributes: dict[str, Any], outputs: int, expected: Any) -> None:
    model = onnx_model("Attention", f32(*shapes), attributes, 23, outputs=outputs)
    ours = irlint_on_onnx(model)
    assert (ours[:6] if isinstance(ours, str) else [shape for _, shape in ours]) == expected, ours
    assert runs(model) == (None if isinstance(expected, str) else expected)


@pytest.mark.parametrize(
    ("shapes", "ids", "attributes", "code"),
    [
        (((2, 3, 4, 8), (50, 4), (50, 4)), (2, 4), {}, None),
        (((2, 3, 4, 8), (2, 4, 4), (2, 4, 4)), None, {}, None),
        (((2, 4, 24), (50, 4), (50, 4)), (2, 4), {"num_heads": 3}, None),
        (((2, 3, 4, 8), (50, 2), (50, 2)), (2, 4), {"rotary_embedding_dim": 4}, None),
        (((2, 4, 24), (50, 4), (50, 4)), (2, 4), {}, "IRL380"),
        (((2, 3, 4, 7), (50, 3), (50, 3)), (2, 4), {}, None),
        (((2, 3, 4, 8), (50, 8), (50, 8)), (2, 4), {}, "IRL384"),
        (((2, 3, 4, 8), (50, 4), (50, 3)), (2, 4), {}, "IRL384"),
        (((2, 3, 4, 8), (50, 4), (50, 4)), (2, 5), {}, "IRL384"),
        (((4, 8), (50, 4), (50, 4)), (2, 4), {}, "IRL381"),
    ],
)
def test_onnx_rotary_embedding(shapes: Any, ids: Any, attributes: dict[str, Any], code: str | None) -> None:
    inputs = [*f32(*shapes), None if ids is None else Input("int64", *ids)]
    model = onnx_model("RotaryEmbedding", inputs, attributes, 23)
    ours = irlint_on_onnx(model)
    assert (ours[:6] if isinstance(ours, str) else None) == code, ours
    assert runs(model) == (None if code else [shapes[0]])


# --- com.microsoft ----------------------------------------------------------------------------------------------------

X, W, B = (2, 3, 12), (12, 36), (36,)
IDS = Input("int32", 2, 5)
TABLES = f32((9, 8), (20, 8), (2, 8), (8,), (8,))
LENGTHS = [np.array([2, 2], np.int32), np.array(3, np.int32)]
GROUPS = {"num_heads": 4, "kv_num_heads": 2}
U8 = Input("uint8", 2, 3, 12), Input("uint8", 12, 36)
WEIGHTS = f32((4, 16, 8), None, (4, 8, 16))

FUSED: list[tuple[str, list[Any], dict[str, Any], Any]] = [
    ("Attention", f32(X, W, B), {"num_heads": 3}, [X]),
    ("Attention", f32(X, W, B, None, (2, 2, 3, 5, 4)), {"num_heads": 3}, [X, (2, 2, 3, 8, 4)]),
    ("Attention", f32(X, W, B), {"num_heads": 3}, [X, (2, 2, 3, 3, 4)]),
    ("Attention", f32(X, (12, 30), (30,)), {"num_heads": 3, "qkv_hidden_sizes": [12, 12, 6]}, [(2, 3, 6)]),
    ("Attention", f32(X, (12, 30), (30,)), {"num_heads": 3, "qkv_hidden_sizes": [12, 12, 9]}, "IRL384"),
    ("Attention", f32(X, (12, 30), (30,)), {"num_heads": 3, "qkv_hidden_sizes": [9, 12, 9]}, "IRL510"),
    ("Attention", f32(X, (11, 36), B), {"num_heads": 3}, "IRL384"),
    ("Attention", f32(X, W, (35,)), {"num_heads": 3}, "IRL384"),
    ("Attention", f32((2, 12), W, B), {"num_heads": 3}, "IRL381"),
    ("Attention", f32(X, W, B), {"num_heads": 5}, "IRL380"),
    ("Attention", f32(X, W, B, None, (2, 2, 4, 5, 4)), {"num_heads": 3}, "IRL383"),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 12)), {"num_heads": 3}, [X]),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 6)), {"num_heads": 3}, [(2, 3, 6)]),
    ("MultiHeadAttention", f32(X, (2, 3, 5, 4), (2, 3, 5, 4)), {"num_heads": 3}, [X]),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 12)), {"num_heads": 3}, [X, (2, 3, 5, 4), (2, 3, 5, 4)]),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 12), None, None, None, (2, 3, 7, 4), (2, 3, 7, 4)), {"num_heads": 3}, [X, (2, 3, 12, 4), (2, 3, 12, 4)]),
    ("MultiHeadAttention", f32(X, (2, 5, 9), (2, 5, 12)), {"num_heads": 3}, "IRL381"),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 6, 12)), {"num_heads": 3}, "IRL381"),
    ("MultiHeadAttention", f32(X, (1, 5, 12), (1, 5, 12)), {"num_heads": 3}, "IRL381"),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 12)), {"num_heads": 5}, "IRL380"),
    ("MultiHeadAttention", f32(X, (2, 5, 12), (2, 5, 10)), {"num_heads": 3}, "IRL380"),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 3, 16), (2, 3, 16), (2, 2, 7, 8), (2, 2, 7, 8)), *LENGTHS], GROUPS, [(2, 3, 32), (2, 2, 7, 8), (2, 2, 7, 8)]),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 3, 16), (2, 3, 16), None, None), *LENGTHS], GROUPS, [(2, 3, 32), (2, 2, 3, 8), (2, 2, 3, 8)]),
    ("GroupQueryAttention", [*f32((2, 3, 64), None, None, None, None), *LENGTHS], GROUPS, [(2, 3, 32), (2, 2, 3, 8), (2, 2, 3, 8)]),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 3, 8), (2, 3, 8), None, None), *LENGTHS], GROUPS, "IRL381"),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 4, 16), (2, 4, 16), None, None), *LENGTHS], GROUPS, "IRL381"),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 3, 24), (2, 3, 24), None, None), *LENGTHS], GROUPS | {"kv_num_heads": 3}, "IRL380"),
    ("GroupQueryAttention", [*f32((2, 3, 32), (2, 3, 16), (2, 3, 16), (2, 4, 7, 8), (2, 4, 7, 8)), *LENGTHS], GROUPS, "IRL383"),
    ("DecoderMaskedMultiHeadAttention", [*f32((2, 1, 12), (2, 1, 12), (2, 1, 12), None, None, (2, 3, 7, 4), (2, 3, 7, 4)), np.array([4], np.int32)], {"num_heads": 3, "past_present_share_buffer": 1}, [(2, 1, 12), (2, 3, 7, 4), (2, 3, 7, 4)]),
    ("QAttention", [*U8, *f32(B, (), ())], {"num_heads": 3}, [X]),
    ("QAttention", [*U8, *f32((35,), (), ())], {"num_heads": 3}, "IRL384"),
    ("EmbedLayerNormalization", [IDS, IDS, *TABLES, IDS], {}, [(2, 5, 8), (2,)]),
    ("EmbedLayerNormalization", [IDS, None, *f32((9, 8), (20, 8), None, (8,), (8,))], {}, [(2, 5, 8), (2,), (2, 5, 8)]),
    ("EmbedLayerNormalization", [IDS, None, *f32((9, 8), (20, 7), None, (8,), (8,))], {}, "IRL384"),
    ("EmbedLayerNormalization", [IDS, None, *f32((9, 8), (20, 8), None, (7,), (8,))], {}, "IRL384"),
    ("EmbedLayerNormalization", [IDS, Input("int32", 2, 4), *TABLES], {}, "IRL381"),
    ("RotaryEmbedding", [*f32((2, 3, 16)), Input("int64", 2, 3), *f32((50, 4), (50, 4))], {"num_heads": 2}, [(2, 3, 16)]),
    ("RotaryEmbedding", [*f32((2, 2, 3, 8)), Input("int64", 1), *f32((50, 4), (50, 4))], {}, [(2, 2, 3, 8)]),
    ("RotaryEmbedding", [*f32((2, 2, 3, 8)), Input("int64", 2, 3), *f32((50, 4), (50, 3))], {}, "IRL384"),
    ("RotaryEmbedding", [*f32((3, 8)), Input("int64", 3), *f32((50, 4), (50, 4))], {}, "IRL381"),
    ("MoE", [*f32((6, 8), (6, 4)), *WEIGHTS], {"k": 2}, [(6, 8)]),
    ("MoE", [*f32((6, 8), (5, 4)), *WEIGHTS], {"k": 2}, "IRL381"),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), FUSED)
def test_fused_operators(op: str, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    outputs = 1 if isinstance(expected, str) else len(expected)
    if op in ("GroupQueryAttention", "EmbedLayerNormalization") or "past" in str(attributes):
        outputs = max(outputs, 3 if op == "GroupQueryAttention" else 2)
    model = onnx_model(op, inputs, attributes, 17, "com.microsoft", outputs)
    ours = irlint_on_onnx(model)
    if isinstance(expected, str):
        assert isinstance(ours, str)
        assert ours[:6] == expected, ours
        assert runs(model) is None
        return
    assert not isinstance(ours, str), ours
    computed = runs(model)
    assert computed == expected
    for (dtype, mine), theirs in zip(ours, expected):
        assert dtype is not None
        assert mine is not None
        assert len(mine) == len(theirs)
        assert all(a in (b, None) for a, b in zip(mine, theirs))


#: Operators that ONNX Runtime has no CPU kernel for: what their specification says.
SPECIFIED: list[tuple[str, list[Any], dict[str, Any], list[tuple[int, ...]]]] = [
    ("MultiHeadAttention", f32((2, 3, 12), (2, 5, 3, 2, 4)), {"num_heads": 3}, [(2, 3, 12)]),
    ("MultiHeadAttention", f32((2, 3, 3, 3, 4)), {"num_heads": 3}, [(2, 3, 12)]),
    ("PackedAttention", [*f32((7, 12), W, B), Input("int32", 2, 5), Input("int32", 3)], {"num_heads": 3}, [(7, 12)]),
    ("PackedMultiHeadAttention", [*f32((7, 3, 3, 4), None, None, None), Input("int32", 2, 5), Input("int32", 3)], {"num_heads": 3}, [(7, 12)]),
    ("RemovePadding", [*f32((2, 5, 8)), Input("int32", 2)], {}, [(None, 8), (2, 5), (3,), (1,)]),
    ("RestorePadding", [*f32((7, 8)), Input("int32", 2, 5)], {}, [(2, 5, 8)]),
    ("LongformerAttention", [*f32((2, 8, 12), (12, 36), B, (2, 8), (12, 36), B), Input("int32", 2, 8)], {"num_heads": 3, "window": 2}, [(2, 8, 12)]),
    ("RelativePositionBias", [*f32((32, 4)), np.array([3], np.int64), np.array([5], np.int64)], {"max_distance": 16}, [(1, 4, 3, 5)]),
    ("GatedRelativePositionBias", f32((2, 5, 12), (12,), (1, 3, 5, 5), (4, 8), (8,), (1, 3, 1, 1)), {"num_heads": 3}, [(2, 3, 5, 5)]),
    ("SparseAttention", [*f32((1, 16, 32), (1, 16, 16), (1, 16, 16), (1, 2, 16, 8), (1, 2, 16, 8)), Input("int32", 1, 2), Input("int32", 1, 1), Input("int32"), Input("int32", 1)], GROUPS | {"sparse_block_size": 16}, [(1, 16, 32), (1, 2, 16, 8), (1, 2, 16, 8)]),
    ("DecoderAttention", [*f32((3, 2, 12), (5, 2, 12), (12, 12), (12, 24), B, None, None, None), *[Input("bool", 1)] * 4], {"num_heads": 3}, [(3, 2, 12), (2, 3, None, 4), (2, 3, None, 4)]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "attributes", "expected"), SPECIFIED)
def test_specified_operators(op: str, inputs: list[Any], attributes: dict[str, Any], expected: Any) -> None:
    model = onnx_model(op, inputs, attributes, 17, "com.microsoft", len(expected))
    assert [shape for _, shape in irlint_on_onnx(model)] == expected


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
