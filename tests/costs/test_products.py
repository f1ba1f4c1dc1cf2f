"""The MACs of single nodes, counted by hand, and of the ways in which graphs contain others."""

from __future__ import annotations

from typing import Any

import onnx.parser
import pytest
from cases.models import document
from cases.notation import Case, cases

import irlint

#: A node, its MACs, and the arithmetic behind them.
NODES = """
onnx Conv@11 float32[2,6,10,10] float32[8,6,3,3] ; pads=[1,1,1,1] -> 2*8*10*10*6*3*3
onnx Conv@11 float32[2,6,10,10] float32[8,3,3,3] ; group=2 strides=[2,2] -> 2*8*4*4*3*3*3
onnx Conv@11 float32[N,6,H,10] float32[8,6,1,1] -> 480*H*N
onnx ConvTranspose@11 float32[2,6,5,5] float32[6,4,3,3] ; strides=[2,2] -> 2*6*5*5*4*3*3
onnx MatMul@13 float32[5,2,3] float32[3,7] -> 5*2*7*3
onnx MatMul@13 float32[3] float32[3] -> 3
onnx MatMul@13 float32[B,S,16] float32[16,4] -> 64*B*S
onnx Gemm@13 float32[3,2] float32[7,3] float32[7] ; transA=1 transB=1 -> 2*7*3
onnx Einsum@12 float32[2,3] float32[3,5] ; equation=ij,jk->ik -> 2*3*5
onnx Einsum@12 float32[4,2,3] float32[1,3,5] ; equation=...ij,...jk->...ik -> 4*2*3*5
onnx Einsum@12 float32[2,3] ; equation=ij->ji -> 0
onnx LSTM@14 float32[5,2,3] float32[1,16,3] float32[1,16,4] ; hidden_size=4 -> 5*2*16*(3+4)
onnx GRU@14 float32[5,2,3] float32[2,12,3] float32[2,12,4] ; hidden_size=4 direction=bidirectional -> 5*2*2*12*(3+4)
onnx RNN@14 float32[S,2,3] float32[1,4,3] float32[1,4,4] ; hidden_size=4 -> 56*S
onnx Attention@23 float32[2,4,5,8] float32[2,4,7,8] float32[2,4,7,6] -> 2*4*5*7*(8+6)
onnx Attention@23 float32[2,5,32] float32[2,7,32] float32[2,7,32] ; q_num_heads=4 kv_num_heads=4 -> 2*5*7*(32+32)
onnx QLinearConv@10 uint8[1,3,8,8] float32=0.1 uint8=0 uint8[4,3,3,3] float32=0.1 uint8=0 float32=0.1 uint8=0 -> 4*6*6*27
onnx ConvInteger@10 uint8[1,3,8,8] uint8[4,3,3,3] -> 4*6*6*27
onnx QLinearMatMul@21 uint8[2,3] float32=0.1 uint8=0 uint8[3,4] float32=0.1 uint8=0 float32=0.1 uint8=0 -> 2*4*3
onnx MatMulInteger@10 uint8[2,3] uint8[3,4] -> 2*4*3
onnx DeformConv@19 float32[1,4,8,8] float32[6,4,3,3] float32[1,18,6,6] -> 6*6*6*4*9
onnx com.microsoft.MatMulNBits@1 float32[2,3,32] uint8[8,1,16] float32[8] ; K=32 N=8 bits=4 block_size=32 -> 2*3*8*32
onnx com.microsoft.FusedMatMul@1 float32[3,2] float32[3,5] ; transA=1 -> 2*5*3
onnx com.microsoft.FusedConv@1 float32[1,3,8,8] float32[4,3,3,3] ; activation=Relu -> 4*6*6*27
onnx com.microsoft.Attention@1 float32[2,5,16] float32[16,48] float32[48] ; num_heads=4 -> 2*5*16*48+2*2*5*5*16
onnx com.microsoft.MultiHeadAttention@1 float32[2,3,12] float32[2,5,12] float32[2,5,6] ; num_heads=3 -> 2*3*5*(12+6)
onnx com.microsoft.MultiHeadAttention@1 float32[2,3,12] float32[2,3,5,4] float32[2,3,5,4] ; num_heads=3 -> 2*3*5*(12+12)
onnx com.microsoft.MultiHeadAttention@1 float32[2,5,3,3,4] ; num_heads=3 -> 2*5*5*(12+12)
onnx Relu@14 float32[2,3] -> 0
onnx Softmax@13 float32[2,3] -> 0
openvino Convolution@1 float32[2,6,10,10] float32[8,6,3,3] ; strides=1,1 pads_begin=1,1 pads_end=1,1 dilations=1,1 -> 2*8*100*54
openvino GroupConvolution@1 float32[2,6,10,10] float32[2,4,3,3,3] ; strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1 -> 2*8*64*27
openvino ConvolutionBackpropData@1 float32[2,6,5,5] float32[6,4,3,3] ; strides=2,2 pads_begin=0,0 pads_end=0,0 dilations=1,1 -> 2*6*25*36
openvino MatMul@1 float32[3,2] float32[7,3] ; transpose_a=true transpose_b=true -> 2*7*3
openvino MatMul@1 float32[2,3] float32[7,3] ; transpose_a=false transpose_b=true -> 2*7*3
openvino Einsum@7 float32[2,3] float32[3,5] ; equation=ij,jk->ik -> 2*3*5
openvino LSTMSequence@5(3) float32[2,5,3] float32[2,1,4] float32[2,1,4] int64{5,5} float32[1,16,3] float32[1,16,4] float32[1,16] ; hidden_size=4 direction=forward -> 2*5*16*(3+4)
openvino GRUCell@3 float32[2,3] float32[2,4] float32[12,3] float32[12,4] float32[12] ; hidden_size=4 -> 2*12*(3+4)
openvino ScaledDotProductAttention@13 float32[2,4,5,8] float32[2,4,7,8] float32[2,4,7,6] ; causal=false -> 2*4*5*7*(8+6)
"""

EVERY = [case for line in NODES.strip().splitlines() for case in cases(line)]


def info(case: Case) -> dict[str, Any]:
    path, data, _ = document(case.model)
    return irlint.info(data, name=path)


@pytest.mark.parametrize("case", EVERY, ids=lambda case: str(case.model))
def test_macs_of_a_node(case: Case) -> None:
    found = info(case)["macs"]
    assert found == (case.expected if isinstance(found, str) else eval(case.expected))


#: Graphs that contain others, and their MACs: an If has those of its larger branch, a Loop runs as often as is known.
GRAPHS = {
    "the larger branch": (
        "(float[2,3] x, bool c, float[3,5] w) => (y) { y = If (c) <then_branch = g () => (t) { t = MatMul (x, w) },"
        " else_branch = g () => (e) { m = MatMul (x, w) e = Add (m, m) n = MatMul (x, w) } > }",
        60,
    ),
    "a trip count": (
        "(float[2,2] x) => (y) { n = Constant <value_int = 7> () c = Constant <value_int = 1> () t = Cast <to = 9> (c)"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        7 * 8,
    ),
    "a trip count that is a size": (
        "(float[2,2] x, float[T] z) => (y) { n = Size (z) c = Constant <value_int = 1> () t = Cast <to = 9> (c)"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        "8*T",
    ),
    "an unknown trip count": (
        "(float[2,2] x, int64 n, bool t) => (y) {"
        " y = Loop (n, t, x) <body = g (int64 i, bool k, float[2,2] s) => (k2, s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) } > }",
        8,
    ),
    "a scan": (
        "(float[3,2] s, float[L,3,2] x, float[2,2] w) => (y, z) {"
        " y, z = Scan <num_scan_inputs = 1, body = g (float[3,2] a, float[3,2] b) => (p, q)"
        " { p = MatMul (a, w) q = Identity (b) } > (s, x) }",
        "12*L",
    ),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_macs_of_graphs(name: str) -> None:
    text, expected = GRAPHS[name]
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> g {text}')
    found = irlint.info(model)
    assert found["macs"] == expected
    assert "uncounted" not in found


def test_a_function_counts_at_each_call_with_its_own_sizes() -> None:
    text = """<ir_version: 10, opset_import: ["" : 17, "f" : 1]>
        g (float[2,3] x, float[3,3] w, float[5,3] z) => (y, v) { y = f.Twice (x, w) v = f.Twice (z, w) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]> Twice (a, b) => (c) { m = f.Once (a, b) c = f.Once (m, b) }
        <domain: "f", opset_import: ["" : 17, "f" : 1]> Once (a, b) => (c) { c = MatMul (a, b) }"""
    found = irlint.info(onnx.parser.parse_model(text))
    assert found["macs"] == 2 * 2 * 9 + 2 * 5 * 9


def test_a_custom_operator_is_not_counted() -> None:
    text = """<ir_version: 9, opset_import: ["" : 17, "my.domain" : 1]>
        g (float[2,3] x, float[3,5] w) => (float[2,5] z) { y = MatMul (x, w) z = my.domain.Special (y) }"""
    found = irlint.info(onnx.parser.parse_model(text))
    assert (found["macs"], found["uncounted"]) == (30, {"my.domain.Special": 1})


#: Models with sizes at which their expressions have the values of the counts at these fixed sizes.
SIZES = (1, 2, 3, 7, 32)
DYNAMIC = {
    "convolutions": "(float[N,3,H,16] x, float[4,3,3,3] w, float[5,4,3,3] v) => (z) {"
    " y = Conv <strides = [2,2], pads = [1,1,1,1]> (x, w) r = Relu (y) z = Conv <pads = [1,1,1,1]> (r, v) }",
    "attention": "(float[N,H,8] x) => (y) { t = Transpose <perm = [0,2,1]> (x) s = MatMul (x, t)"
    " p = Softmax (s) y = MatMul (p, x) }",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DYNAMIC)
def test_expressions_have_the_values_of_fixed_sizes(name: str, size: int) -> None:
    text = DYNAMIC[name]
    model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]> g {text}')
    shape = irlint.info(model)["inputs"][0]["shape"]
    sizes = {"N": size, "H": 2 * size + 1}
    dynamic, fixed = irlint.info(model), irlint.info(model, shapes={"x": [sizes.get(dim, dim) for dim in shape]})
    for count in ("macs", "peak_memory"):
        assert eval(dynamic[count], {"max": max, "min": min, **sizes}) == fixed[count]
    assert dynamic["macs"] != fixed["macs"]
