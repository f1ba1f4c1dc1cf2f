"""Suggestions for mistakes of which an easy edit hides the cause: wrong connections, added nodes, factors."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest
from cases.ir_documents import INPUT, OUTPUT, const, edge, layer, loop, net, parameter, result, unary, written
from oracles.openvino_worker import outcomes

import irlint
from irlint import parsers
from irlint.fixes.search import Search
from irlint.fixes.sister_inputs import with_batch_axis
from irlint.inference.origins import Makers
from irlint.inference.walk import inferred

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
UNET = (
    "(float[1,3,~] x, float[4,3,3,3] u, float[6,4,3,3] v, float[6,6,3,3] w, float[6,4,2,2] k, float[5,8,3,3] z)"
    " => (float[1,5,a,b] y) <float[4] two = {1, 1, 2, 2}> {"
    " c = Conv <pads = [1,1,1,1]> (x, u) r = Relu (c) p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r)"
    " d = Conv <pads = [1,1,1,1]> (p, v) s = Relu (d) q = MaxPool <kernel_shape = [2,2], strides = [2,2]> (s)"
    " e = Conv <pads = [1,1,1,1]> (q, w) f = Relu (e) g = Resize (f, , two) h = Add (g, s)"
    " i = ConvTranspose <strides = [2,2]> (h, k) j = Concat <axis = 1> (i, r) y = Conv <pads = [1,1,1,1]> (j, z) }"
)

#: Nodes behind a Conv. Each trial of a change before them asks them all.
RELUS = " ".join(f"r{at + 1} = Relu (r{at})" for at in range(120))

#: A graph, whose inputs after the first one are its weights, and behind | the suggestion of its first root.
MODELS = f"""
{UNET.replace("~", "16,16").replace("(i, r)", "(i, s)")} | connect `r`, one of 2 values of its shape, as input 1
{UNET.replace("~", "H,W").replace("(i, r)", "(i, s)")} | connect `r`, one of 2 values of its shape, as input 1; this also fixes 1 more
{UNET.replace("~", "16,16").replace("(g, s)", "(g, r)")} | connect `s`, one of 2 values of its shape, as input 1
{UNET.replace("~", "H,W").replace("(g, s)", "(g, r)")} | connect `s`, one of 2 values of its shape, as input 1; this also fixes 2 more
(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) {{ t = Transpose <perm = [0,3,1,2]> (x) y = Conv (t, w) }} | connect `x`, without the Transpose, as input 0
(float[N,3,H,W] x, float[4,3,3,3] w) => (float[N,4,h,w] y) {{ t = Transpose <perm = [0,3,1,2]> (x) y = Conv (t, w) }} | connect `x`, without the Transpose, as input 0
(float[N,3,H,W] x, float[4,3,1,1] w) => (float[N,7,h,w] y) <float[4] f = {{1, 1, 3, 3}}> {{ a = Conv <strides = [2,2]> (x, w) u = Resize (a, , f) y = Concat <axis = 1> (u, x) }} | change 3 to 2 in constant `f` (entries 2 and 3)
(float[N,3,8,8] x, float[4,3,1,1] w) => (float[N,7,8,8] y) <float[4] f = {{1, 1, 3, 3}}> {{ a = Conv <strides = [2,2]> (x, w) u = Resize (a, , f) y = Concat <axis = 1> (u, x) }} | change 3 to 2 in constant `f` (entries 2 and 3)
(float[1,3,65,64] x, float[3,4,2,2] w) => (float[1,7,a,b] y) {{ r = Relu (x) p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r) u = ConvTranspose <strides = [2,2]> (p, w) y = Concat <axis = 1> (r, u) }} | change 65 to 64 or 66 on axis 2 of input `x`
(float[N,3,H,W] x, float[6,3,4,4] w, float[6,5] v) => (float[N,M,5] y) <int64[3] s = {{0, 6, -1}}> {{ c = Conv <strides = [4,4]> (x, w) r = Reshape (c, s) y = MatMul (r, v) }} | insert a Transpose with `perm = [0, 2, 1]` before input 0
(float[N,s,8] x, float[8,8] w) => (float[N,s,8] y) <int64[4] t = {{0, -1, 2, 4}}, int64[3] u = {{0, -1, 8}}> {{ a = Reshape (x, t) q = Transpose <perm = [0,2,1,3]> (a) b = MatMul (x, w) c = Reshape (b, t) k = Transpose <perm = [0,2,1,3]> (c) p = MatMul (q, k) o = MatMul (p, k) r = Transpose <perm = [0,2,1,3]> (o) y = Reshape (r, u) }} | insert a Transpose with `perm = [0, 1, 3, 2]` before input 1
(float[N,4,H,W] x, float[4,4,3,3] v, float[4,4,3,3] w) => (float[N,8,a,b] y) <float[4] f = {{1, 1, 2, 2}}> {{ p = Conv <pads = [1,1,1,1], strides = [2,2], dilations = [2,2]> (x, v) q = Conv <pads = [1,1,1,1], strides = [2,2], dilations = [1,1]> (p, w) r = Resize (q, , f) t = Add (r, p) u = Resize (t, , f) y = Concat <axis = 1> (u, x) }} | set `dilations = [1, 1]` in Conv[0]; this also fixes 1 more
(float[N,3,H,W] x, float[4,3,3,3] w, float[5,64] v) => (float[N,5] y) {{ c = Conv <pads = [1,1,1,1]> (x, w) f = Flatten (c) y = Gemm (f, v) }} | set `transB = 1`
(float[N,8,4] x) => (float[N,4,8] y) <int64[1] o = {{0}}, int64[1] s = {{1}}, int64[1] e = {{2}}, int64[1] m = {{9223372036854775807}}, int64[1] two = {{2}}> {{ a = Slice (x, o, e, s, two) b = Slice (x, s, m, s, two) y = Concat <axis = 2> (a, b) }} | change 2 to 9223372036854775807 in constant `e`
(float[N,9] x) => (int64[N] y) {{ a = ArgMax <axis = 1, keepdims = 0> (x) y = Cast <to = 6> (a) }} | declare `y` as int32, or set `to = 7`
(float[N,9] x) => (float[N] y) {{ a = ArgMax <axis = 1, keepdims = 0> (x) y = Cast <to = 6> (a) }} | set `to = 1`, or declare `y` as int32
(float16[N,9] x) => (float16[N,9] y, float16[N,9] z) {{ y = Cast <to = 1> (x) z = Cast <to = 10> (x) }} | declare `y` as float32, or set `to = 10`
(int64[N,9] x) => (float[N,9] y, float[N,9] z) {{ y = Cast <to = 6> (x) z = Cast <to = 1> (x) }} | set `to = 1`
(float[1,3,8,8] x, float[4,3,3,3] u, float[6,5,3,3] v, float[6] b) => (float[1,6,4,4] y) {{ c = Conv (x, u) y = Conv (c, v, b) }} | change 4 to 5 on axis 0 of constant `u`, or change 5 to 4 on axis 1 of constant `v`; or pass 5 channels, or use weights for 4
(float[1,3,8,8] x, float[4,3,3,3] u, float[4] a, float[6,5,3,3] v) => (float[1,6,4,4] y) {{ c = Conv (x, u, a) y = Conv (c, v) }} | change 4 to 5 on axis 0 of constant `u`, and change 4 to 5 on axis 0 of constant `a`, or change 5 to 4 on axis 1 of constant `v`; or pass 5 channels, or use weights for 4
(float[1,3,8,8] x, float[5,3,3,3] u, float[4] a, float[6,4,3,3] v) => (float[1,6,4,4] y) {{ c = Conv (x, u, a) y = Conv (c, v) }} | change 5 to 4 on axis 0 of constant `u`
(float[1,3,224,224] x, float[8,3,16,16] w, float[1,196,8] p) => (float[1,196,8] y) <int64[3] t = {{1, 8, 196}}> {{ c = Conv (x, w) r = Reshape (c, t) q = Transpose <perm = [0,2,1]> (r) y = Add (q, p) }} | set `strides = [16, 16]` in Conv[0], or change 224 to 29 on axes 2 and 3 of input `x`
(float[1,3,224,224] x, float[8,3,16,16] w, float[1,196,8] p) => (float[1,196,8] y) <int64[3] t = {{1, 8, -1}}> {{ c = Conv (x, w) r = Reshape (c, t) q = Transpose <perm = [0,2,1]> (r) y = Add (q, p) }} | set `strides = [16, 16]` in Conv[0], or change 224 to 29 on axes 2 and 3 of input `x`
(float[1,3,32,32] x, float[8,3,3,3] w, float[1568,5] v) => (float[1,5] y) <int64[2] t = {{1, 1568}}> {{ c = Conv (x, w) p = MaxPool <kernel_shape = [2,2]> (c) q = MaxPool <kernel_shape = [2,2]> (p) f = Reshape (q, t) y = MatMul (f, v) }} | set `strides = [2, 2]` in MaxPool[2]
(float[1,3,224,224] x, float[8,3,16,16] w, float[1,49,8] p) => (float[1,196,8] y) <int64[3] t = {{1, 8, -1}}> {{ c = Conv <strides = [16,16]> (x, w) r = Reshape (c, t) q = Transpose <perm = [0,2,1]> (r) y = Add (q, p) }} | change 224 to 112 on axes 2 and 3 of input `x`, or change 49 to 196 on axis 1 of constant `p`; then update 1 declaration
(float[1,2,h,w] x) => (float[1,4,c,d] y) <int64[1] i = {{3}}, int64[1] j = {{2}}, int64[1] two = {{2}}, int64[3] none = {{0, 0, 0}}> {{ p = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (x) s = Shape (x) t = Shape (p) a = Gather (s, i) b = Gather (t, j) d = Sub (a, b) e = Div (d, two) f = Sub (d, e) m = Concat <axis = 0> (none, e, none, f) q = Pad (p, m) k = MaxPool <kernel_shape = [1,1], strides = [2,1]> (x) y = Concat <axis = 1> (k, q) }} | change 2 to 3 in constant `j`
(float[2,h] x) => (float[c,d,e] y) <int64[1] i = {{1}}, int64[1] seven = {{7}}, int64[1] six = {{6}}, int64[3] none = {{0, 0, 0}}, int64[1] w = {{14}}, int64[1] k = {{2}}> {{ s = Shape (x) n = Gather (s, i) m = Mul (n, six) r = Mod (m, seven) p = Concat <axis = 0> (none, r) q = Pad (x, p) t = Shape (q) u = Gather (t, i) v = Div (u, seven) c = Concat <axis = 0> (k, v, w) y = Reshape (q, c) }} | change 14 to 7 in constant `w`
(float[N,2,H,W] x, float[7,2,3,3] w, float[7,7,3,3] v) => (int64[n,3] y) <float[4] f = {{1, 1, 2, 2}}, int64[3] t = {{0, 7, -1}}, int64[1] o = {{0}}, int64[1] four = {{4}}, int64[1] seven = {{7}}, int64[1] two = {{2}}, int64[1] max = {{20}}> {{ a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w) b = Conv <pads = [1,1,1,1], strides = [2,2]> (a, v) u = Resize (b, , f) c = Concat <axis = 1> (a, u) d = Reshape (a, t) e = Transpose <perm = [0,2,1]> (d) g = Slice (e, o, four, two) s = Slice (e, four, seven, two) y = NonMaxSuppression (g, s, max) }} | insert a Transpose with `perm = [0, 2, 1]` before input 1
(float[1,3,32,32] x, float[4,3,3,3] u, float[4,4,3,3] v, float[4,4,3,3] w, float[4,4,3,3] z, float[1,4,4,4] p) => (float[1,4,4,4] y) {{ a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, u) b = Conv <pads = [1,1,1,1], strides = [1,1]> (a, v) c = Conv <pads = [1,1,1,1], strides = [1,1]> (b, w) d = Conv <pads = [1,1,1,1], strides = [2,2]> (c, z) y = Add (d, p) }} | change 32 to 16 on axes 2 and 3 of input `x`, or set `strides = [2, 2]` in Conv[2]
(float[1,3,32,32] x, float[4,3,3,3] u, float[4,4,3,3] v, float[4,4,3,3] w, float[4,4,3,3] z, float[1,4,4,4] p) => (float[1,4,4,4] y, float[1,4,k,l] r120) {{ a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, u) b = Conv <pads = [1,1,1,1], strides = [1,1]> (a, v) c = Conv <pads = [1,1,1,1], strides = [1,1]> (b, w) r0 = Conv <pads = [1,1,1,1], strides = [2,2]> (c, z) {RELUS} y = Add (r0, p) }} | change 32 to 16 on axes 2 and 3 of input `x`, or set `strides = [2, 2]` in Conv[2]
(float[1,4,H,W] x, float[4,4,3,3] u, float[4,4,1,1] v) => (float[1,4,a,b] y) {{ c = Conv <pads = [1,1,1,1], strides = [2,2]> (x, u) d = Conv <pads = [1,1,1,1], strides = [1,1]> (c, u) e = Conv <pads = [1,1,1,1], strides = [1,1]> (d, u) f = Conv <pads = [1,1,1,1], strides = [1,1]> (e, u) g = Conv <strides = [2,2]> (f, v) h = Conv <pads = [1,1,1,1], strides = [2,2]> (g, u) i = Conv <strides = [1,1]> (h, v) p = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (f) j = Conv <strides = [1,1]> (p, v) y = Add (i, j) }} | set `strides = [1, 1]` in Conv[4] or Conv[5]; this also fixes 1 more
(int64[N,96] x, float[77,8] w) => (float[96,8] y) <int64 z = {{0}}, int64 i = {{1}}> {{ s = Shape (x) n = Gather (s, i) r = Range (z, n, i) y = Gather (w, r) }} | change 96 to 77 on axis 1 of input `x`; then update 1 declaration
(float[N,3,4] x, float[1,1,4] c, float[1,3,4] p) => (float[N,4,4] y) <int64[1] one = {{1}}, int64[1] k = {{4}}, int64 i = {{0}}, int64[1] a = {{0}}> {{ s = Shape (x) n = Gather (s, i) u = Unsqueeze (n, a) t = Concat <axis = 0> (u, one, k) e = Expand (c, t) q = Concat <axis = 1> (e, x) y = Add (q, p) }} | change 3 to 2 on axis 1 of input `x`, or change 3 to 4 on axis 1 of constant `p`; then update 1 declaration
(float[N,s,8] x, float[8,10] w, float[2,4] v, float[1,9,4] p) => (float[N,9,4] y, float[N,s,4] z, float[N,s,4] u) <int64[3] k = {{4, 4, 4}}> {{ m = MatMul (x, w) a, z, u = Split <axis = 2> (m, k) b = MatMul (a, v) y = Add (b, p) }} | change 4 to 2 in constant `k` (entry 0)
(float[N,21,H,W] x) => (float[N,3,7,H,W] y) <int64[1] three = {{3}}, int64[1] six = {{6}}, int64 i = {{0}}, int64[1] a = {{0}}, int64[1] two = {{2}}, int64[1] four = {{4}}> {{ s = Shape (x) n = Gather (s, i) u = Unsqueeze (n, a) v = Slice (s, two, four) t = Concat <axis = 0> (u, three, six, v) y = Reshape (x, t) }} | change 6 to 7 in constant `six`
""".strip().splitlines()


@pytest.mark.parametrize("line", MODELS)
def test_suggestion(line: str) -> None:
    text, _, expected = line.partition(" | ")
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    for value in list(model.graph.input)[1:]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.zeros(shape, "float32"), value.name))
        model.graph.input.remove(value)
    found = irlint.check(model, ignore=["IRL9", "IRL118"]).findings
    assert [each.suggestion for each in found if not each.because][:1] == [expected]


def test_the_help_for_each_axis_names_its_own_size() -> None:
    text = (
        "(float[1,4,H,W] x) => (float[1,4,a,b] y) { c = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1]> (x) d = MaxPool "
        "<kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (c) y = Add (d, c) }"
    )
    found = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}"), ignore=["IRL9", "IRL118"]).findings
    assert [f"has {each}" in (one.suggestion or "") for one, each in zip(found, "HW", strict=True)] == [True, True]


#: A graph whose inputs are no weights, and behind | the suggestion of its first root.
FED = """
(float[N,4,past,8] k, float[N,4,past,8] v, float[N,past,4,8] w, float[N,4,s,8] x) => (float[N,4,t,8] a, float[N,4,t,8] b, float[N,4,t,8] c) { a = Concat <axis = 2> (k, x) b = Concat <axis = 2> (v, x) c = Concat <axis = 2> (w, x) } | declare input `w` as [N, 4, past, 8]
(float[N,4,past,8] k, float[N,past,4,8] w, float[N,4,s,8] x) => (float[N,4,t,8] a, float[N,4,t,8] c) { a = Concat <axis = 2> (k, x) c = Concat <axis = 2> (w, x) } | insert a Transpose with `perm = [0, 2, 1, 3]` before input 0
(float[N,2,past,8] past_0_key, float[N,2,past,8] past_0_value, float[N,4,past,8] past_1_key, float[N,2,s,8] x) => (float[N,2,t,8] a, float[N,2,t,8] b, float[N,2,t,8] c) { a = Concat <axis = 2> (past_0_key, x) b = Concat <axis = 2> (past_0_value, x) c = Concat <axis = 2> (past_1_key, x) } | change 4 to 2 on axis 1 of input `past_1_key`
(uint8[N,8] x) => (float[N,8] y) <float[8] w> { y = Sub (x, w) } | insert a Cast with `to = float32` before input 0
(bool[N,8] x) => (float[N,8] y) <float[8] w> { y = Mul (x, w) } | declare `x` as float32, or insert a Cast with `to = float32` before input 0
(int64[N,8] x) => (float[N,8] y) { y = Neg (x) } | declare `x` as float32, or declare `y` as int64
(int64[batch,seq] ids, int64[seq] mask) => (float[batch,seq,4] y, int64 n) <float[9,4] t, int64 one = {1}, int64[1] two = {2}> { e = Gather (t, ids) s = Shape (mask) n = Gather (s, one) u = Unsqueeze (mask, two) f = Cast <to = 1> (u) y = Mul (e, f) } | declare input `mask` as [batch, seq]; this also fixes 1 more
(int64[batch,seq] ids, int64[batch] mask) => (float[batch,seq,4] y) <float[9,4] t, int64[1] two = {2}> { e = Gather (t, ids) u = Unsqueeze (mask, two) f = Cast <to = 1> (u) y = Mul (e, f) } | declare input `mask` as [batch, seq]
(float[N,3,H] x) => (float[N,4,a,b] y) <float[4,3,3,3] w> { y = Conv (x, w) } | declare input `x` as [N, 3, H, x_3]
(int64[N,s] ids) => (float[N,s,4] y) <float[9,4] w> { y = Gather (ids, w) } | swap inputs 0 and 1
(int32[6] b) => (float[6] y) <float[6] s, int8[6] z> { y = DequantizeLinear <axis = 0> (b, s, z) } | store constant `z` as int32
(float[2,9,32] x) => (float[2,9,17] y) <float[17,16] w> { t = Transpose <perm = [1,0]> (w) y = MatMul (x, t) } | change 32 to 16 on axis 2 of input `x`; or change 16 to 32 on axis 1 of constant `w`
(float16[N,seq,4] x) => (float[N,seq,4] y) <float[1,8,4] w, int64[1] z = {0}, int64[1] one = {1}, int64[1] two = {2}> { i = Shape (x) e = Slice (i, one, two) t = Slice (w, z, e, one) y = Add (x, t) } | declare `x` as float32
(int64[1,9] x, int64[1,9] m) => (float[1,S,4] y) <float[9,4] e, float[1,8,4] w, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { g = Gather (e, x) s = Shape (x) n = Gather (s, one) t = Slice (w, zero, n, one) a = Add (g, t) u = Unsqueeze (m, two) f = Cast <to = 1> (u) y = Mul (a, f) } | change 9 to 8 on axis 1 of input `x`, and change 9 to 8 on axis 1 of input `m`
""".strip().splitlines()


@pytest.mark.parametrize("line", FED)
def test_suggestion_for_an_input(line: str) -> None:
    text, _, expected = line.partition(" | ")
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    stored = {each.name for each in model.graph.initializer}
    for value in [each for each in model.graph.value_info if each.name not in stored]:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        model.graph.initializer.append(
            onnx.numpy_helper.from_array(numpy.full(shape, dtype == "float32", dtype), value.name)
        )
    found = irlint.check(model, ignore=["IRL9", "IRL118"]).findings
    assert [each.suggestion for each in found if not each.because][:1] == [expected]


def test_a_weight_gets_the_shape_that_it_has_in_other_blocks() -> None:
    names = [f"/layers.{at}/v_proj/MatMul" for at in range(3)]
    nodes = [
        onnx.helper.make_node("MatMul", [f"x{at}", f"w{at}"], [f"x{at + 1}"], name) for at, name in enumerate(names)
    ]
    shapes = [(4, 4), (6, 4), (4, 4)]
    weights = [onnx.numpy_helper.from_array(numpy.zeros(shape, "float32"), f"w{at}") for at, shape in enumerate(shapes)]
    ends = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", 4]) for name in ("x0", "x3")]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    (found,) = irlint.check(onnx.helper.make_model(graph)).findings
    assert found.suggestion == "change 6 to 4 on axis 0 of constant `w1`"
    assert found.fix is None


#: The part of a model between a QuantizeLinear and what uses it; the zero point `u` is an initializer of its own.
QUANTIZED = """
q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, u) | connect `z` as input 2
q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, r, u) | connect `z` as input 2
q = Cast <to = 3> (x) y = DequantizeLinear (q, s, u) | store constant `u` as int8 with the value -128
d = DequantizeLinear (w, s, u) y = Add (x, d) | store constant `u` as int8
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", QUANTIZED)
def test_a_zero_point_is_that_of_the_data_and_is_not_retyped(line: str) -> None:
    import onnxruntime

    nodes, _, expected = line.partition(" | ")
    constants = "float s = {0.5}, float r = {0.5}, int8 z = {-128}, uint8 u = {0}, int8[2,3] w = {1,2,3,4,5,6}"
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (float[2,3] y) <{constants}> {{ {nodes} }}")
    with pytest.raises(Exception, match="bound to different types"):
        onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.suggestion == expected
    assert (found.fix is not None) == ("connect" in expected)
    if found.fix is not None:
        fixed = irlint.fix(model, unsafe=True)
        x = numpy.array([[0, 1, 2], [60, 100, 127]], "float32")
        (y,) = onnxruntime.InferenceSession(fixed.data).run(None, {"x": x})
        assert numpy.array_equal(x, y)


#: The dilations and the causal padding of stacked convolutions of two taps, and behind | the suggestion for them.
STACKED = """
1 2 8 8, 1 2 4 8 | set `dilations = [4]` in Conv[9]
1 2 8, 1 2 4 | set `dilations = [4]` in Conv[9], or change 4 to 8 in constant `k2` (entry 2)
1 2 4, 1 2 8 | change 8 to 4 in constant `k2` (entry 2); this also fixes 1 more
1 2 4 8, 1 2 8 8 | set `dilations = [8]` in Conv[9], or change 8 to 4 in constant `k2` (entry 2); this also fixes 1 more
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", STACKED)
def test_dilations_and_padding_are_alternatives_unless_a_gap_shows_which_is_wrong(line: str) -> None:
    import onnxruntime

    numbers, _, expected = line.partition(" | ")
    dilations, pads = (part.split() for part in numbers.split(","))
    lists = ", ".join(f"int64[6] k{at} = {{0,0,{pad},0,0,0}}" for at, pad in enumerate(pads))
    nodes = "".join(
        f"p{at} = Pad (a{at}, k{at}) c{at} = Conv <dilations = [{each}], kernel_shape = [2]> (p{at}, w) "
        f"t{at} = Tanh (c{at}) a{at + 1} = Add (a{at}, t{at}) "
        for at, each in enumerate(dilations)
    )
    weights = "float[2,2,2] w = {1,2,3,4,5,6,7,8}"
    graph = f"g (float[N,2,T] a0) => (float[N,2,T] y) <{lists}, {weights}> {{ {nodes} y = Neg (a{len(pads)}) }}"
    model = onnx.parser.parse_model(f"{HEAD}{graph}")
    x = numpy.zeros((1, 2, 20), "float32")
    with pytest.raises(Exception, match="Add"):
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"a0": x})
    found = irlint.check(model, ignore=["IRL9"]).findings[0]
    assert found.suggestion == expected
    assert (found.fix is None) == (", or" in expected)
    if found.fix is not None:
        onnxruntime.InferenceSession(irlint.fix(model, unsafe=True).data).run(None, {"a0": x})


#: Two target shapes with the number of values of a box, the first one wrong, and behind | the suggestion.
BOXES = """
q = Concat <axis = 0> (n, rest, k) y = Reshape (p, q) | change 85 to 7 in constant `j`, and likewise in `k`
u = Concat <axis = 0> (n, k) v = Reshape (z, u) y = Identity (p) | change 85 to 7 in constant `j`
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", BOXES)
def test_a_wrong_number_of_several_targets_is_corrected_in_all_of_them(line: str) -> None:
    import onnxruntime

    nodes, _, expected = line.partition(" | ")
    constants = "int64[1] zero = {0}, int64[1] three = {3}, int64[1] two = {2}, int64[1] rest = {-1}"
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[N,21,H] x, float[N,85] z) => (float[N,a,b] y) "
        f"<{constants}, int64[1] j = {{85}}, int64[1] k = {{85}}> {{ s = Shape (x) n = Gather (s, zero) "
        f"h = Gather (s, two) t = Concat <axis = 0> (n, three, j, h) r = Reshape (x, t) "
        f"p = Transpose <perm = [0,1,3,2]> (r) {nodes} }}"
    )
    if "Identity" in nodes:
        model.graph.output[0].CopyFrom(onnx.helper.make_tensor_value_info("y", 1, ["N", 3, "H", 7]))
        model.graph.output.append(onnx.helper.make_tensor_value_info("v", 1, ["N", 85]))
    given = {"x": numpy.zeros((2, 21, 4), "float32"), "z": numpy.zeros((2, 85), "float32")}
    with pytest.raises(Exception, match="Reshape"):
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, given)
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL330"]
    assert found.suggestion.partition(";")[0] == expected
    onnxruntime.InferenceSession(irlint.fix(model, unsafe=True).data).run(None, given)


#: A wrong text of ``rounding_type`` or ``auto_pad``, and behind | the suggestion.
WORDS = """
rounding_type=flor | set rounding_type="floor"
rounding_type=round | set rounding_type="floor", or set rounding_type="ceil"
auto_pad=same | set auto_pad="same_upper", or set auto_pad="same_lower"
auto_pad=same_uper | set auto_pad="same_upper"
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", WORDS)
def test_a_word_that_is_not_allowed_becomes_the_nearest_one(line: str, tmp_path: Path) -> None:
    text, _, expected = line.partition(" | ")
    name, _, word = text.partition("=")
    stated = {"kernel": "1", "strides": "1", "pads_begin": "0", "pads_end": "0", "auto_pad": "valid"} | {name: word}
    document = unary(
        "AvgPool", "<data exclude-pad='true' " + " ".join(f'{key}="{each}"' for key, each in stated.items()) + "/>"
    )
    document = document.replace("<dim>2</dim><dim>3</dim>", "<dim>2</dim><dim>3</dim><dim>4</dim>")
    path = written(tmp_path, document.replace('shape="2,3"', 'shape="2,3,4"'), b"")
    (found,) = irlint.check(path, ignore=["IRL720"]).findings
    assert found.suggestion == expected
    assert (found.fix is None) == (", or" in expected)
    assert outcomes([path])[0][0] != "ok"
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert (outcomes([path])[0][0] == "ok") == (found.fix is not None)


@pytest.mark.oracle
@pytest.mark.parametrize("port", ["FP16", "FP32"])
def test_a_constant_gets_the_element_type_of_its_bytes(port: str, tmp_path: Path) -> None:
    stated = const(1, 'element_type="f16" shape="2,3" offset="0" size="24"').replace("FP32", port)
    layers, edges = [parameter(0), stated, layer(2, "Add", "01", "2"), result(3)], [edge(0, 0, 2, 0), edge(1, 0, 2, 1)]
    path = written(tmp_path, net(layers, [*edges, edge(2, 2, 3, 0)]), numpy.arange(6, dtype="float32").tobytes())
    (found,) = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    declared = ", and declare output port 0 as float32" * (port == "FP16")
    assert found.suggestion.partition(";")[0] == f'set element_type="f32" in Const (layer 1){declared}'
    assert outcomes([path])[0][0] != "ok"
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert outcomes([path])[0][0] == "ok"
    assert not irlint.check(path).findings


@pytest.mark.oracle
def test_a_constant_in_a_body_gets_the_element_type_that_its_port_declares(tmp_path: Path) -> None:
    inside = [parameter(0), const(1, 'element_type="i32" shape="2,3" offset="0" size="24"'), layer(3, "Add", "01", "2")]
    edges = [edge(0, 0, 3, 0), edge(1, 0, 3, 1), edge(3, 2, 2, 0)]
    path = written(tmp_path, loop(INPUT + OUTPUT, inside=[*inside, result(2)], body_edges=edges), b"\0" * 24)
    found = irlint.check(path).findings
    assert [each.suggestion for each in found if not each.because] == [
        'set element_type="f32" in Const (layer 1); this also fixes 1 more'
    ]
    assert outcomes([path])[0][0] != "ok"
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert outcomes([path])[0][0] == "ok"
    assert not irlint.check(path).findings


#: A graph, and what is declared of a value that no node computes, or nothing: | the suggestion, which is not written.
ONLY_SUGGESTED = """
(float[N,4] x) => (float16[N,5] y) <float16[4,5] w = {15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360, 15360}> { y = MatMul (x, w) } | lost | declare `x` as float16
(float[seq,N,4] x, float[N,1,3] h, float[1,9,4] w, float[1,9,3] r) => (float[seq,1,N,3] y, float[1,N,3] z) { y, z = GRU <hidden_size = 3> (x, w, r, , , h) } | | declare input `h` as [1, N, 3], or insert a Transpose with `perm = [1, 0, 2]` before input 5
""".strip().splitlines()


@pytest.mark.parametrize("line", ONLY_SUGGESTED)
def test_an_edit_at_an_input_of_the_model_is_only_suggested(line: str) -> None:
    text, lost, expected = (part.strip() for part in line.split("|"))
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    for name in filter(None, [lost]):
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT16, ["N", 4]))
    found = [each for each in irlint.check(model).findings if each.suggestion]
    assert found[0].suggestion.startswith(expected)
    assert found[0].fix is None


@pytest.mark.oracle
def test_the_imported_opset_is_one_that_leaves_no_error() -> None:
    import onnxruntime

    body = "(float[2,3] x) => (float[2,1] y) { y = ReduceLogSumExp <axes = [1]> (x) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 2]> g {body}')
    del model.opset_import[0]
    found = irlint.fix(model, unsafe=True)
    assert found.edits[0].text == "import opset 17 of ai.onnx"
    onnxruntime.InferenceSession(found.data)
    model.opset_import.add(domain="", version=18)
    with pytest.raises(Exception, match="Unrecognized attribute: axes"):
        onnxruntime.InferenceSession(model.SerializeToString())


@pytest.mark.oracle
def test_a_cast_before_an_output_is_an_alternative_where_other_outputs_have_one() -> None:
    import onnxruntime

    nodes = "h = Cast <to = 10> (x) a = Mul (h, w) b = Neg (a) y = Cast <to = 1> (a)"
    ends = "g (float[2] x) => (float[2] y, float[2] z) <float16[1] w = {{15360}}> {{ {} }}"
    right = onnx.parser.parse_model(HEAD + ends.format(f"{nodes} z = Cast <to = 1> (b)"))
    onnxruntime.InferenceSession(right.SerializeToString())
    wrong = onnx.parser.parse_model(HEAD + ends.format(nodes.replace("b = Neg", "z = Neg")))
    with pytest.raises(Exception, match="does not match expected type"):
        onnxruntime.InferenceSession(wrong.SerializeToString())
    (found,) = [each for each in irlint.check(wrong).findings if each.severity.value == "error"]
    cast = "insert a Cast with `to = float32` before the output, as before `y`"
    assert found.suggestion == f"declare `z` as float16; or {cast}"
    assert found.fix is None


def test_joined_weights_of_query_key_and_value_are_not_transposed() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (float[2,3,12] x) => (float[2,3,12] y) '
        "<float[36] b> { y = com.microsoft.Attention <num_heads = 3> (x, w, b) }"
    )
    model = onnx.parser.parse_model(text)
    for name, shape in (("w", (36, 12)), ("b", (36,))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), name))
    del model.graph.value_info[:]
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert (found.rule.code, found.suggestion) == ("IRL384", "")
    assert found.help.endswith("join them along axis 1; otherwise transpose the weights")


def test_an_image_without_its_width_and_a_node_without_outputs() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[N,3,H] x) => (float[N,4,a,b] y) {{ y = Conv (x, w) z = Relu (x) }}"
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones((4, 3, 3, 3), "float32"), "w"))
    del model.graph.node[1].output[:]
    found = [each.rule.code for each in irlint.check(model).findings if each.severity.value == "error"]
    assert "IRL314" in found
    assert "IRL008" not in found


@pytest.mark.parametrize(("shape", "is_written"), [("N,64,64,3", True), ("N,64,3,64", False)])
def test_an_image_is_transposed_only_from_another_layout(shape: str, is_written: bool) -> None:
    text = f"(float[{shape}] x, float[8,3,4,4] w) => (float[N,8,16,16] y) {{ y = Conv <strides = [4,4]> (x, w) }}"
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.zeros((8, 3, 4, 4), "float32"), "w"))
    del model.graph.input[1]
    found = irlint.check(model, ignore=["IRL9"]).findings[0]
    assert (found.suggestion.startswith("insert a Transpose"), found.fix is not None) == (True, is_written)


#: The name that a body reads, the name of the value in the main graph, whether another node uses the value, whether the
#: value is found.
RENAMED_OUTSIDE = """
/a/b.0/Exp _a_b_0_Exp used found
/stem/b.0/Exp /backbone/b.0/Exp used found
/net/stem/b.0/Exp /net/backbone/b.0/Exp used found
/stem.0/b/Exp /stem.1/b/Exp used unknown
/stem.0/b/Exp /stem.1/b/Exp unused unknown
/Exp_1_output_0 start/Exp_1_output_0 used found
start/Exp_1_output_0 /Exp_1_output_0 used found
exp_257 model.exp_257 used found
model.exp_257 exp_257 used found
/b/Exp_output_0 /b/Exp_output_0_renamed unused found
/b/Exp_output_0 /b/Exp_output_0_renamed used unknown
/b/Exp_output_0 /b/Exp_output_0_1 used found
/b/Exp_output_0 /b/Log_output_0 used unknown
"""


@pytest.mark.oracle
@pytest.mark.parametrize("line", RENAMED_OUTSIDE.strip().splitlines())
def test_a_body_reads_the_value_that_was_renamed_outside(line: str, tmp_path: Path) -> None:
    import onnxruntime

    inside, outside, uses, outcome = line.split()
    branches = ", ".join(f'{each}_branch = {each} () => (float[2] v) {{ v = Neg ("{inside}") }}' for each in ("t", "e"))
    branches = branches.replace("t_branch", "then_branch").replace("e_branch = e", "else_branch = e")
    user = f'w = Sqrt ("{outside}")' if uses == "used" else "w = Sqrt (x)"
    text = (
        f'(float[2] x, bool c) => (float[2] y, float[2] w, float[2] "/stem.0/Abs") {{ "{outside}" = Exp (x) {user} '
        f'"/stem.0/Abs" = Abs (x) y = If (c) <{branches}> }}'
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    root = next(each for each in irlint.check(path).findings if each.severity.value == "error")
    is_found = outcome == "found"
    assert root.suggestion.startswith(f"connect `{outside}` as input 0") == is_found
    assert (root.fix is not None) == is_found
    if not is_found:
        return
    fixed = irlint.fix(path.read_bytes(), unsafe=True).data
    feeds = {"x": numpy.array([0, 1], "float32"), "c": numpy.array(True)}
    (result, *_) = onnxruntime.InferenceSession(fixed).run(None, feeds)
    numpy.testing.assert_allclose(result, -numpy.exp(feeds["x"]), rtol=1e-6)


#: The name that a node reads, the name of the unused value, and what the help says.
RENAMED_INSIDE = """
exp_257 model.exp_257 | connect `model.exp_257` as input 0
/Exp_output_0 /Exp_output_0_renamed | connect `/Exp_output_0_renamed` as input 0
"""


@pytest.mark.oracle
@pytest.mark.parametrize("line", RENAMED_INSIDE.strip().splitlines())
def test_a_node_reads_the_value_that_was_renamed(line: str) -> None:
    import onnxruntime

    names, _, help = line.partition(" | ")
    used, made = names.split()
    text = f'(float[2] x) => (float[2] y, float[2] z) {{ "{made}" = Exp (x) z = Abs (x) y = Neg ("{used}") }}'
    data = onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString()
    (root,) = [each for each in irlint.check(data).findings if each.severity.value == "error"]
    assert root.suggestion.startswith(help)
    fixed = irlint.fix(data, unsafe=True).data
    (result, _) = onnxruntime.InferenceSession(fixed).run(None, {"x": numpy.array([0, 1], "float32")})
    numpy.testing.assert_allclose(result, -numpy.exp(numpy.array([0, 1], "float32")), rtol=1e-6)


@pytest.mark.oracle
def test_a_value_is_named_only_if_the_nodes_behind_its_reader_accept_it() -> None:
    import onnxruntime

    text = (
        "(float[2,3] x, bool axis_1, int64 axis_2) => (float[2,2] y) <int64[1] n = {0}, int64[1] e = {2}> "
        "{ a = Unsqueeze (axis, n) y = Slice (x, n, e, a) }"
    )
    data = onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString()
    root = next(each for each in irlint.check(data).findings if each.severity.value == "error")
    assert "axis_2" in root.suggestion
    assert "axis_1" not in root.suggestion
    with pytest.raises(Exception, match="tensor\\(bool\\)"):
        onnxruntime.InferenceSession(
            onnx.parser.parse_model(f"{HEAD}g {text.replace('(axis,', '(axis_1,')}").SerializeToString()
        )
    onnxruntime.InferenceSession(
        onnx.parser.parse_model(f"{HEAD}g {text.replace('(axis,', '(axis_2,')}").SerializeToString()
    )


@pytest.mark.oracle
def test_a_body_reads_the_cast_of_a_captured_value() -> None:
    import onnxruntime

    text = (
        "(float[N,4] x, int64 n, bool c, float16[N,4] s) => (float16[N,4] y) { h = Cast <to = 10> (x) a = Neg (h) "
        "b = Add (a, s) y = Loop (n, c, b) <body = g (int64 i, bool d, float16[N,4] p) => (bool e, float16[N,4] q) "
        "{ e = Identity (d) r = Relu (x) q = Add (r, p) }> }"
    )
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    found = next(each for each in irlint.check(model).findings if each.severity.value == "error")
    assert found.suggestion == "connect `h` as input 0 in Relu[1]"
    fixed = irlint.fix(model, unsafe=True).data
    feeds = {
        "x": numpy.ones((2, 4), "float32"),
        "n": numpy.array(1),
        "c": numpy.array(True),
        "s": numpy.full((2, 4), 5, "float16"),
    }
    (y,) = onnxruntime.InferenceSession(fixed).run(None, feeds)
    assert numpy.array_equal(y, numpy.full((2, 4), 5, "float16"))


def test_no_input_becomes_what_another_input_is_cast_from() -> None:
    text = (
        "(float[N,39,32] x) => (float[N,a,32] y) { m = MatMul (x, u) e = Add (b, m) t = Transpose <perm = [0,2,1]> (e) "
        "c = Conv <pads = [8,8]> (t, w) g = Relu (c) r = Transpose <perm = [0,2,1]> (g) k = Cast <to = 1> (r) "
        "y = Add (e, k) }"
    )
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    for name, shape in (("w", (32, 32, 16)), ("u", (32, 32)), ("b", (32,))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.zeros(shape, "float32"), name))
    found = next(each for each in irlint.check(model).findings if each.severity.value == "error")
    assert found.rule.code == "IRL201"
    assert "`r`" not in found.suggestion


@pytest.mark.oracle
def test_a_second_tree_with_the_id_of_the_first() -> None:
    import onnxruntime

    def model_of(trees: str, ids: str) -> onnx.ModelProto:
        lists = (
            f"nodes_treeids = [{trees}], nodes_nodeids = [{ids}], nodes_featureids = [0,0,0,0,0,0], "
            'nodes_values = [0.5,0.0,0.0,0.5,0.0,0.0], nodes_modes = ["BRANCH_LEQ","LEAF","LEAF","BRANCH_LEQ","LEAF","LEAF"], '
            "nodes_truenodeids = [1,0,0,1,0,0], nodes_falsenodeids = [2,0,0,2,0,0], n_targets = 1, target_ids = [0,0,0,0], "
            f"target_treeids = [{trees[2:5]},{trees[8:]}], target_nodeids = [1,2,1,2], target_weights = [1.0,2.0,1.0,2.0]"
        )
        head = HEAD.replace('"" : 17', '"" : 17, "ai.onnx.ml" : 3')
        text = f"(float[N,3] x) => (float[N,1] y) {{ y = ai.onnx.ml.TreeEnsembleRegressor <{lists}> (x) }}"
        return onnx.parser.parse_model(f"{head}g {text}")

    (found,) = irlint.check(model_of("0,0,0,0,0,0", "0,1,2,0,1,2")).findings
    assert "at entries 3 to 5 of `nodes_treeids`, and for its leaves in `target_treeids`" in found.help
    with pytest.raises(Exception, match="already"):
        onnxruntime.InferenceSession(model_of("0,0,0,0,0,0", "0,1,2,0,1,2").SerializeToString())
    sound = model_of("0,0,0,1,1,1", "0,1,2,0,1,2")
    assert not irlint.check(sound).findings
    (y,) = onnxruntime.InferenceSession(sound.SerializeToString()).run(None, {"x": numpy.ones((1, 3), "float32")})
    assert y == 4
    (other,) = irlint.check(model_of("0,0,0,0,0,0", "0,1,2,3,1,4")).findings
    assert other.help == "give each node of a tree its own id"


@pytest.mark.oracle
def test_parts_of_a_sequence_that_nothing_reads() -> None:
    import onnxruntime

    text = (
        "(float[N,96] x) => (float[N,32] y) <int64[~] k = {32,32,32$}, int64 i = {0}, int64 j = {2}> { "
        "s = SplitToSequence <axis = 1> (x, k) a = SequenceAt (s, i) b = SequenceAt (s, j) y = Add (a, b) }"
    )
    sound, broken = (
        onnx.parser.parse_model(f"{HEAD}g {text.replace('~', count).replace('$', more)}")
        for count, more in (("3", ""), ("4", ",32"))
    )
    with pytest.raises(Exception, match=r"[Ss]plit"):
        onnxruntime.InferenceSession(broken.SerializeToString())
    (found,) = irlint.check(broken).findings
    change = "change [32, 32, 32, 32] to [32, 32, 32] in constant `k`"
    assert found.suggestion == f"{change}; or, less likely, change 96 to 128 on axis 1 of input `x`"
    feeds = {"x": numpy.arange(192, dtype="float32").reshape(2, 96)}
    fixed = irlint.fix(broken, unsafe=True).data
    (y, wanted) = (
        onnxruntime.InferenceSession(each).run(None, feeds)[0] for each in (fixed, sound.SerializeToString())
    )
    assert numpy.array_equal(y, wanted)
    last = onnx.parser.parse_model(f"{HEAD}g {text.replace('~', '4').replace('$', ',32').replace('{2}', '{3}')}")
    (found,) = irlint.check(last).findings
    assert found.suggestion == "change 96 to 128 on axis 1 of input `x`"


@pytest.mark.oracle
@pytest.mark.parametrize("shape", ["N,1,1,T", "N,T"])
def test_a_mask_that_already_has_the_new_axes(shape: str) -> None:
    import onnxruntime

    text = (
        f"(float[N,2,S,T] x, float[{shape}] m) => (float[N,S,2,T] y) <int64[1] i = {{1}}, int64[1] j = {{2}}> {{ "
        "a = Unsqueeze (m, i) b = Unsqueeze (a, j) c = Neg (b) d = Add (x, c) y = Transpose <perm = [0,2,1,3]> (d) }"
    )
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    feeds = {"x": numpy.ones((2, 2, 3, 5), "float32"), "m": numpy.ones((2, 5), "float32")}
    if shape == "N,T":
        assert not irlint.check(model).findings
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
        return
    (found,) = irlint.check(model).findings
    assert found.suggestion == (
        "connect `m`, without Unsqueeze[0] and Unsqueeze[1], as input 0 in Neg[2], or declare input `m` as [N, T]"
    )
    four = {**feeds, "m": feeds["m"].reshape(2, 1, 1, 5)}
    with pytest.raises(Exception, match="perm"):
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, four)
    model.graph.node[2].input[0] = "m"
    onnxruntime.InferenceSession(model.SerializeToString()).run(None, four)


def test_new_axes_that_fit_are_not_bypassed() -> None:
    text = (
        "(float[N,2,S,T] x, float[N,1,T] m) => (float[N,2,S,T] y) <int64[1] i = {1}, int64[2] t = {0,7}> { "
        "b = Unsqueeze (m, i) d = Add (x, b) y = Reshape (d, t) }"
    )
    findings = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}")).findings
    assert not any("without Unsqueeze" in each.suggestion for each in findings)


@pytest.mark.oracle
def test_places_that_may_have_lost_their_strides() -> None:
    import onnxruntime

    text = (
        "(float[1,3,16,16] x, float[4,3,3,3] u, float[8,4,3,3] v, float[8,8,3,3] w, float[8,64] p) => (float[1,8,n] y) "
        "<int64[1] i = {2}, int64[1] one = {1}, int64[1] two = {2}, int64[2] t = {1,8}> { "
        "a = Conv <pads = [1,1,1,1], strides = [1,1]> (x, u) b = Conv <pads = [1,1,1,1], strides = [2,2]> (a, v) "
        "c = Conv <pads = [1,1,1,1], strides = [1,1]> (b, w) s = Shape (x) h = Gather (s, i) d = Sub (h, one) "
        "e = Div (d, two) f = Add (e, one) k = Mul (f, f) g = Concat <axis = 0> (t, k) r = Reshape (c, g) y = Add (r, p) }"
    )

    def model_of(text: str) -> onnx.ModelProto:
        model = onnx.parser.parse_model(f"{HEAD}g {text}")
        for value in list(model.graph.input)[1:]:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), value.name))
            model.graph.input.remove(value)
        return model

    def run(model: onnx.ModelProto) -> None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        session.run(None, {"x": numpy.ones((1, 3, 16, 16), "float32")})

    assert not irlint.check(model_of(text)).findings
    run(model_of(text))
    broken = model_of(text.replace("[2,2]", "[1,1]"))
    (found,) = irlint.check(broken).findings
    assert found.suggestion.startswith("set `strides = [2, 2]` in Conv[0], Conv[1] or Conv[2]; or use a target with")
    assert found.fix is None
    with pytest.raises(Exception, match="reshape"):
        run(broken)
    for at in range(3):
        model = model_of(text.replace("[2,2]", "[1,1]"))
        model.graph.node[at].attribute[1].ints[:] = [2, 2]
        run(model)


@pytest.mark.oracle
def test_no_constant_makes_the_batch_size_even() -> None:
    import onnxruntime

    def model_of(size: int, part: int) -> onnx.ModelProto:
        text = (
            f"(float[N,{size},4] x) => (float[M,16] y) <int64[1] i = {{1}}, int64[1] k = {{4}}, int64[1] l = {{{part}}}, "
            "int64[1] z = {0}, int64[1] c = {4}, int64[2] t = {-1,16}> { s = Shape (x) n = Gather (s, i) d = Div (n, k) e = Relu (x) "
            "g = Concat <axis = 0> (z, d, l, c) r = Reshape (e, g) y = Reshape (r, t) }"
        )
        return onnx.parser.parse_model(f"{HEAD}g {text}")

    def run(model: onnx.ModelProto, size: int) -> None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        session.run(None, {"x": numpy.ones((3, size, 4), "float32")})

    (found,) = irlint.check(model_of(10, 4)).findings
    assert found.suggestion == "change 10 to 8 or 12 on axis 1 of input `x`"
    run(model_of(8, 4), 8)
    for part in (4, 5):
        with pytest.raises(Exception, match=r"[Rr]eshape"):
            run(model_of(10, part), 10)


@pytest.mark.oracle
def test_matrices_that_are_all_transposed() -> None:
    import onnxruntime

    text = "(float[N,4] x) => (float[N,4] y) { a = MatMul (x, u) r = Relu (a) b = MatMul (r, v) s = Relu (b) y = MatMul (s, w) }"
    shapes = {"u": (4, 6), "v": (6, 4), "w": (4, 4)}
    matrices = {name: numpy.random.default_rng(0).random(shape, "float32") for name, shape in shapes.items()}

    def model_of(transposed: str) -> onnx.ModelProto:
        model = onnx.parser.parse_model(f"{HEAD}g {text}")
        for name, each in matrices.items():
            stored = numpy.ascontiguousarray(each.T) if name in transposed else each
            model.graph.initializer.append(onnx.numpy_helper.from_array(stored, name))
        return model

    assert not irlint.check(model_of("")).findings
    onnxruntime.InferenceSession(model_of("").SerializeToString())
    with pytest.raises(Exception, match="MatMul"):
        onnxruntime.InferenceSession(model_of("uvw").SerializeToString())
    root = next(each for each in irlint.check(model_of("uvw")).findings if each.severity.value == "error")
    assert "transpose constant `u` with (1, 0), from [6, 4] to [4, 6], and transpose constant `v`" in root.suggestion
    assert root.fix is None
    root = next(each for each in irlint.check(model_of("u")).findings if each.severity.value == "error")
    assert "`v`" not in root.suggestion.partition(";")[0]


@pytest.mark.parametrize(("axes", "declared"), [("B,S", []), ("S", [("B", "S")])])
def test_a_new_batch_axis_has_a_size_of_its_own(axes: str, declared: list[tuple[str, ...]], tmp_path: Path) -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (int64[{axes}] ids, float[B,3,P] past) => (y, z) {{ y = Neg (ids) z = Relu (past) }}"
    )
    onnx.save(model, tmp_path / "m.onnx")
    known = inferred(parsers.read(str(tmp_path / "m.onnx")))
    assert known.model.graph is not None
    search = Search(known, known.model.graph, Makers(known), (), None)
    found = [each.edits[0].shape for each in with_batch_axis(known.model.graph.nodes[0], search.editor)]
    assert [tuple(map(str, shape or ())) for shape in found] == declared


def test_a_connection_without_support_is_not_the_only_help() -> None:
    model = onnx.parser.parse_model(
        f"""{HEAD}g (float[1,3,12,12] x) => (float[1,3,8,8] y) {{
  a = Conv (x, u) i = Relu (a) c = Conv (i, v) n = InstanceNormalization (c, s, b) y = Add (n, i) }}"""
    )
    for name, shape in {"u": (3, 3, 3, 3), "v": (3, 3, 3, 3), "s": (3,), "b": (3,)}.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), name))
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL201"]
    assert found.suggestion == "connect `c` as input 1; or make axes 2 and 3 equal in both inputs, or 1 in one of them"
    assert found.fix is None
