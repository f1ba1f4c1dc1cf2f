"""A model that was broken in one place computes after ``fix --unsafe-fixes`` what it computed before; where two edits
are as likely, it stays as it is. ONNX Runtime is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import ModelProto, helper

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>\n'

#: The sizes of named axes in the inputs of a test.
SIZES = {"N": 2, "S": 3, "T": 5, "H": 8, "W": 12}


def model_of(text: str) -> ModelProto:
    """The model of a graph; each node is named after its first output."""
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    for node in model.graph.node:
        node.name = node.output[0]
    return model


def feeds(model: ModelProto) -> dict[str, Any]:
    """Inputs for a model, the same ones for each input of a name and shape."""
    found = {}
    for at, each in enumerate(model.graph.input):
        tensor = each.type.tensor_type
        shape = [dim.dim_value or SIZES[dim.dim_param] for dim in tensor.shape.dim]
        values = np.random.default_rng(at).integers(0, 2, shape)
        found[each.name] = values.astype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    return found


def outputs(model: ModelProto | bytes, feed: dict[str, Any]) -> Sequence[Any]:
    import onnxruntime

    data = model if isinstance(model, bytes) else model.SerializeToString()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    result: Sequence[Any] = onnxruntime.InferenceSession(data, options, ["CPUExecutionProvider"]).run(None, feed)
    return result


def fixed(model: ModelProto) -> bytes:
    return irlint.fix(model.SerializeToString(), unsafe=True).data


def assert_restored(text: str, old: str, new: str) -> None:
    """Breaks a sound graph. ONNX Runtime refuses it, and after the fix it computes what the sound one computes."""
    assert text.count(old) == 1
    sound, broken = model_of(text), model_of(text.replace(old, new))
    feed = feeds(sound)
    expected = outputs(sound, feed)
    with pytest.raises(Exception, match=r"."):
        outputs(broken, feed)
    after = onnx.load_from_string(fixed(broken))
    named = [each.name for each in after.graph.input]
    assert named == list(feed)
    for one, other in zip(outputs(after, feed), expected, strict=True):
        np.testing.assert_array_equal(one, other)


#: Layers with one bias, in a model with other names that differ by a number at the end.
BIASES = """(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}, float[2] bias = {1,2}> {
  product = MatMul (x, w) linear = Add (product, bias) product_1 = MatMul (linear, w) linear_1 = Add (product_1, bias)
  product_2 = MatMul (linear_1, w) linear_2 = Add (product_2, bias) product_3 = MatMul (linear_2, w) y = Add (product_3, bias) }"""

#: A tree with one branch.
TREE = """(float[3,1] x) => (int64[3] y, float[3,2] p) { y, p = ai.onnx.ml.TreeEnsembleClassifier <
  class_ids = [0,1], class_nodeids = [1,2], class_treeids = [0,0], class_weights = [1.0,1.0], classlabels_int64s = [0,1], nodes_falsenodeids = [2,0,0],
  nodes_featureids = [0,0,0], nodes_modes = ["BRANCH_LEQ","LEAF","LEAF"], nodes_nodeids = [0,1,2], nodes_treeids = [0,0,0],
  nodes_truenodeids = [1,0,0], nodes_values = [0.5,0.0,0.0], post_transform = "NONE"> (x) }"""

#: A node with two bodies.
BRANCH = "b = If (c) <then_branch = then () => (float[2,3] u) { u = Neg (x) }, else_branch = other () => (float[2,3] v) { v = Abs (x) }>"
REPEATED = "(float[2,3] x, bool c) => (float[2,3] y) { " + BRANCH + " y = Exp (b) }"

#: Two blocks, with numbers in the names of outputs.
COUNTED = """(float[N,S,8] x) => (float[N,2,S,S] y, float[N,2,S,S] z) <int64[4] t = {0,0,2,4}> {
  "/b.0/Reshape" = Reshape (x, t) "/b.0/Transpose_1_output_0" = Transpose <perm = [0,2,1,3]> ("/b.0/Reshape") "/b.0/Transpose_1_output_0_Relu" = Relu ("/b.0/Transpose_1_output_0")
  "/b.0/Transpose_2_output_0" = Transpose <perm = [0,2,3,1]> ("/b.0/Reshape") "/b.0/Transpose_2_output_0_Relu" = Relu ("/b.0/Transpose_2_output_0")
  y = MatMul ("/b.0/Transpose_1_output_0_Relu", "/b.0/Transpose_2_output_0_Relu") n = Neg (x)
  "/b.1/Reshape" = Reshape (n, t) "/b.1/Transpose_1_output_0" = Transpose <perm = [0,2,1,3]> ("/b.1/Reshape") "/b.1/Transpose_1_output_0_Relu" = Relu ("/b.1/Transpose_1_output_0")
  "/b.1/Transpose_2_output_0" = Transpose <perm = [0,2,3,1]> ("/b.1/Reshape") "/b.1/Transpose_2_output_0_Relu" = Relu ("/b.1/Transpose_2_output_0")
  z = MatMul ("/b.1/Transpose_1_output_0_Relu", "/b.1/Transpose_2_output_0_Relu") }"""

#: Layers with two factors.
FACTORS = (
    "(float[N,S] x) => (float[N,S] y) <float g = {0.5}, float h = {0.25}> { c_0 = Abs (x) "
    + " ".join(
        f"e_{k} = Exp (c_{k - 1}) p_{k} = Mul (e_{k}, g) q_{k} = Mul (p_{k}, h) c_{k} = Add (q_{k}, c_{k - 1})"
        for k in range(1, 8)
    )
    + " y = Neg (c_7) }"
)

#: Layers that multiply a product by its Sigmoid.
GATED = (
    "(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}> { f_0 = Abs (x) "
    + " ".join(
        f"p_{k} = MatMul (f_{k - 1}, w) d_{k} = MatMul (p_{k}, w) e_{k} = Sigmoid (d_{k}) f_{k} = Mul (d_{k}, e_{k})"
        for k in range(1, 6)
    )
    + " y = MatMul (f_5, w) }"
)

#: Layers with a square.
SQUARES = (
    "(float[2,2] x) => (float[2,2] y) <float h = {0.5}> { f_0 = Abs (x) "
    + " ".join(f"d_{k} = Sub (f_{k - 1}, h) e_{k} = Mul (d_{k}, d_{k}) f_{k} = Sqrt (e_{k})" for k in range(1, 6))
    + " y = Neg (f_5) }"
)

#: Layers whose result is added to their input.
RESIDUAL = (
    "(float[2,4] x) => (float[2,4] y, float[2,2] z) <float[4,4] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, float[4,2] v = {1,2,3,4,5,6,7,8}, float[4] s = {1,1,1,1}> { t = MatMul (x, v) z = Neg (t) c_0 = Abs (x) "
    + " ".join(
        f"n_{k} = LayerNormalization (c_{k - 1}, s) m_{k} = MatMul (n_{k}, w) c_{k} = Add (c_{k - 1}, m_{k})"
        for k in range(1, 5)
    )
    + " y = Neg (c_4) }"
)

#: A series of outputs that other nodes use as well.
SERIES = """(float[N,S] x) => (float[N,S] cat, float[N,S] cat_1, float[N,S] cat_2, float[N,S] cat_3, float[N,S] cat_4, float[N,S] y) {
  cat = Neg (x) a = Exp (cat) cat_1 = Neg (a) b = Exp (cat_1) cat_2 = Neg (b) c = Exp (cat_2) cat_3 = Neg (c) d = Exp (cat_3) cat_4 = Neg (d) y = Exp (cat_4) }"""

#: A convolution whose window is larger than the number of channels.
PATCHES = f"(float[N,3,H,W] x) => (float[N,2,h,w] y) <float[2,3,4,4] k = {{{', '.join(map(str, range(96)))}}}> {{ e = Conv <strides = [4,4]> (x, k) y = Relu (e) }}"

BLOCKS = """(float[N,S,8] x) => (float[N,S,8] y) <int64[4] t = {0, 0, 2, 4}, int64[3] u = {0, 0, 8}> {
  "/b.0/Reshape" = Reshape (x, t) "/b.0/Transpose" = Transpose <perm = [0, 2, 1, 3]> ("/b.0/Reshape")
  "/b.0/Softmax" = Softmax <axis = 3> ("/b.0/Transpose") "/b.0/Transpose_1" = Transpose <perm = [0, 2, 1, 3]> ("/b.0/Softmax")
  "/b.0/Reshape_1" = Reshape ("/b.0/Transpose_1", u) "/b.0/Add" = Add ("/b.0/Reshape_1", x)
  "/b.1/Reshape" = Reshape ("/b.0/Add", t) "/b.1/Transpose" = Transpose <perm = [0, 2, 1, 3]> ("/b.1/Reshape")
  "/b.1/Softmax" = Softmax <axis = 3> ("/b.1/Transpose") "/b.1/Transpose_1" = Transpose <perm = [0, 2, 1, 3]> ("/b.1/Softmax")
  "/b.1/Reshape_1" = Reshape ("/b.1/Transpose_1", u) "/b.1/Add" = Add ("/b.1/Reshape_1", "/b.0/Add") y = Identity ("/b.1/Add") }"""

INDICES = """(float[N,S,8,8] x) => (int64[1] a, int64[1] b) <int64[1] "i.0" = {2}, int64[1] "i.1" = {2}> {
  "/b.0/Shape" = Shape (x) "/b.0/Gather" = Gather ("/b.0/Shape", "i.0")
  "/b.1/Shape" = Shape (x) "/b.1/Gather" = Gather ("/b.1/Shape", "i.1")
  a = Identity ("/b.0/Gather") b = Identity ("/b.1/Gather") }"""

QUANTIZED = """(float[2,4] x, float[4,2] z) => (float[2,4] y, float[4,2] v) <float s = {0.5}, uint8 o = {3}, float r = {0.25}, uint8 p = {7}> {
  q = QuantizeLinear (x, s, o) w = QuantizeLinear (z, r, p) v = DequantizeLinear (w, r, p)
  d = DequantizeLinear (q, s, o) n = Neg (d) y = Add (n, x) }"""

RANGES = """(float[N,S] x) => (float[N,S] y, int64[N] k) <int64 i = {0}, int64 j = {1}, int64 zero = {0}, int64 one = {1}, int64 begin = {0}, int64[1] a = {0}> {
  s = Shape (x) n = Gather (s, i) m = Gather (s, j) k = Range (zero, n, one) r = Range (begin, m, one)
  f = Cast <to = 1> (r) u = Unsqueeze (f, a) y = Add (x, u) }"""

CONTRADICTING = """(float[N,S,8] x) => (float[N,S,2,4] y, float[N,S,8] v) <int64[4] t = {0, 0, 2, 4}, int64[3] u = {0, 0, 8}> {
  y = Reshape (x, t) v = Reshape (y, u) }"""

LOOP = """(int64 n, bool c, float[2,3] x, int64[2] k) => (float[2,3] y, int64[2] z, float[?,2,3] w) {
  y, z, w = Loop (n, c, x, k) <body = b (int64 i, bool d, float[2,3] s, int64[2] t) => (bool e, float[2,3] u, int64[2] v, float[2,3] o) {
    e = Identity (d) u = Relu (s) v = Add (t, t) o = Neg (s) }> }"""

SCAN = """(float[3] s, float[4,3] x, float[4,3] z) => (float[3] y, float[4,3] v) {
  y, v = Scan <num_scan_inputs = 2, body = b (float[3] a, float[3] b, float[3] c) => (float[3] d, float[3] e) {
    d = Add (a, b) e = Mul (d, c) }> (s, x, z) }"""

SLICED = """(float[2,3,8,8] x) => (float[2,3,16,16] y) <int64[1] zero = {0}, int64[1] two = {2}, int64[2] k = {16, 16}> {
  s = Shape (x) b = Slice (s, zero, two) t = Concat <axis = 0> (b, k) y = Resize <mode = "nearest"> (x, , , t) }"""

#: Blocks that slice twice and four times: the nodes of one name have another place in each.
UNLIKE = """(float[N,8] x) => (float[N,4] y) <int64[1] o = {0}, int64[1] m = {4}, int64[1] e = {8}, int64[1] a = {1}, int64[1] u = {1}, int64[1] s = {2}, int64[1] t = {2}> {
  "/b.0/Slice" = Slice (x, o, m, a) "/b.0/Slice_1" = Slice (x, m, e, a) "/b.0/Slice_2" = Slice (x, u, e, a, s)
  "/b.0/Slice_3" = Slice (x, o, e, a, s) "/b.0/Add" = Add ("/b.0/Slice", "/b.0/Slice_1")
  "/b.0/Add_1" = Add ("/b.0/Slice_2", "/b.0/Slice_3") "/b.1/Slice" = Slice (x, u, e, a, s)
  "/b.1/Slice_1" = Slice (x, o, e, a, t) "/b.1/Add" = Add ("/b.1/Slice", "/b.1/Slice_1")
  z = Add ("/b.0/Add", "/b.0/Add_1") y = Add (z, "/b.1/Add") }"""

#: Two blocks whose Transpose has two users.
MEASURED = """(float[N,3,8] x) => (float[?,?,?,?] y, float[?,?,?,?] z) <int64[4] t = {0, 0, 2, 4}> {
  "/b.0/Reshape" = Reshape (x, t) "/b.0/Transpose" = Transpose <perm = [0, 2, 1, 3]> ("/b.0/Reshape")
  "/b.0/Shape" = Shape ("/b.0/Transpose") "/b.0/Relu" = Relu ("/b.0/Transpose") "/b.0/Expand" = Expand ("/b.0/Relu", "/b.0/Shape")
  "/b.1/Reshape" = Reshape (x, t) "/b.1/Transpose" = Transpose <perm = [0, 2, 1, 3]> ("/b.1/Reshape")
  "/b.1/Shape" = Shape ("/b.1/Transpose") "/b.1/Relu" = Relu ("/b.1/Transpose") "/b.1/Expand" = Expand ("/b.1/Relu", "/b.1/Shape")
  y = Add ("/b.0/Expand", "/b.1/Expand") z = Add ("/b.0/Relu", "/b.1/Relu") }"""

JOINED = """(float[3,3] x) => (float[3,6] y) <float[3,3] w = {1,2,3,4,5,6,7,8,9}> {
  "/b.0/Concat" = Concat <axis = 1> (x, w) "/b.1/Concat" = Concat <axis = 1> (w, x) y = Add ("/b.0/Concat", "/b.1/Concat")
  z = Concat <axis = 0> (x, x) v = Concat <axis = 0> (w, w) u = Add (z, v) }"""

SHARED = """(float[3,4] x) => (float[4] y, float[4] z, float[4] v) <int64[1] b = {0}, int64[1] e = {1}, int64[1] a = {0}> {
  s = Slice (x, b, e, a) y = Squeeze (s, a) n = Neg (x) t = Slice (n, b, e, a) z = Squeeze (t, a)
  r = Relu (x) u = Slice (r, b, e, a) v = Squeeze (u, a) }"""

UNUSED_INPUT = """(int64[N,S] m, float[N,S] x) => (int64[a,b] y, int64[1] v, float[N,S] z) <int64[1] one = {1}> {
  k = Shape (x) c = Neg (m) s = Shape (c) g = Gather (s, one) h = Gather (k, one) v = Add (g, h)
  y = Flatten <axis = 2> (c) z = Neg (x) }"""

WINDOWS = """(float[N,H,W,3] x) => (float[N,H,W,3] y) <int64 i = {0}, int64 j = {1}, int64 k = {2}, int64 d = {4}, int64 e = {4}, int64[1] z = {0}, int64[1] channels = {3}, int64[3] whole = {-1, 16, 3}, int64[1] c = {4}, int64[1] f = {4}, int64[1] g = {4}, int64[1] h = {4}> {
  s = Shape (x) s0 = Gather (s, i) s1 = Gather (s, j) s2 = Gather (s, k) h0 = Div (s1, d) w0 = Div (s2, e)
  batch = Unsqueeze (s0, z) height = Unsqueeze (s1, z) width = Unsqueeze (s2, z) rows = Unsqueeze (h0, z) columns = Unsqueeze (w0, z)
  t = Concat <axis = 0> (batch, rows, c, columns, f, channels) a = Reshape (x, t) b = Transpose <perm = [0, 1, 3, 2, 4, 5]> (a)
  m = Reshape (b, whole) r = Relu (m) u = Concat <axis = 0> (batch, rows, columns, g, h, channels) v = Reshape (r, u)
  w = Transpose <perm = [0, 1, 3, 2, 4, 5]> (v) q = Concat <axis = 0> (batch, height, width, channels) y = Reshape (w, q) }"""

RESIZED = """(float[1,2,H,W] x) => (float[1,2,?,?] y) <int64 i = {2}, int64 j = {3}, int64[1] z = {0}, int64[2] k = {1, 2}> {
  s = Shape (x) a = Gather (s, i) b = Gather (s, j) u = Unsqueeze (a, z) v = Unsqueeze (b, z) t = Concat <axis = 0> (k, u, v)
  p = AveragePool <kernel_shape = [2, 2], strides = [2, 2]> (x) r = Resize <mode = "nearest"> (p, , , t) y = Add (r, x) }"""

STATIC = RESIZED.replace("1,2,H,W", "1,2,8,12")

SIZED = """(float[N,S,8] x) => (int64[2] y, int64[2] z) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] b = {0}> {
  s = Shape (x) "/b.0/Gather" = Gather (s, i) "/b.0/Gather_1" = Gather (s, j) "/b.0/Unsqueeze" = Unsqueeze ("/b.0/Gather", a)
  "/b.0/Unsqueeze_1" = Unsqueeze ("/b.0/Gather_1", a) "/b.0/Concat" = Concat <axis = 0> ("/b.0/Unsqueeze", "/b.0/Unsqueeze_1")
  "/b.1/Gather" = Gather (s, i) "/b.1/Gather_1" = Gather (s, j) "/b.1/Unsqueeze_1" = Unsqueeze ("/b.1/Gather_1", a)
  "/b.1/Unsqueeze" = Unsqueeze ("/b.1/Gather", b) y = Concat <axis = 0> ("/b.1/Unsqueeze", "/b.1/Unsqueeze_1")
  z = Identity ("/b.0/Concat") }"""

#: Two blocks whose indices are scalars.
INDEXED = """(float[N,S,8] x) => (int64[2] y, int64[2] z) <int64 "i.0" = {0}, int64 "i.1" = {0}, int64 j = {1}, int64[1] a = {0}> {
  s = Shape (x) t = Shape (x) "/b.0/Gather" = Gather (s, "i.0") "/b.0/Gather_1" = Gather (s, j)
  "/b.0/Unsqueeze" = Unsqueeze ("/b.0/Gather", a) "/b.0/Unsqueeze_1" = Unsqueeze ("/b.0/Gather_1", a)
  z = Concat <axis = 0> ("/b.0/Unsqueeze", "/b.0/Unsqueeze_1") "/b.1/Gather" = Gather (t, "i.1") "/b.1/Gather_1" = Gather (t, j)
  "/b.1/Unsqueeze" = Unsqueeze ("/b.1/Gather", a) "/b.1/Unsqueeze_1" = Unsqueeze ("/b.1/Gather_1", a)
  y = Concat <axis = 0> ("/b.1/Unsqueeze", "/b.1/Unsqueeze_1") }"""

BRANCHES = """(bool c, float[2,3] x) => (float[2,3] y) { y = If (c) <then_branch = a () => (float[2,3] u) {
  n = Neg (x) u = Cast <to = 1> (n) }, else_branch = b () => (float[2,3] v) { v = Relu (x) }> }"""

PARTS = """(float[N,S,8] x) => (float[N,2,S,4] y) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] k = {2}, int64[1] m = {4}> {
  s = Shape (x) g = Gather (s, i) h = Gather (s, j) u = Unsqueeze (g, a) v = Unsqueeze (h, a) t = Concat <axis = 0> (u, v, k, m)
  r = Reshape (x, t) y = Transpose <perm = [0,2,1,3]> (r) }"""

#: Two blocks that join the parts of a shape.
JOINING = """(float[N,S,8] x) => (float[N,2,S,4] y, float[N,2,S,4] z) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] k = {2}, int64[1] m = {4}> {
  s = Shape (x) g = Gather (s, i) h = Gather (s, j) u = Unsqueeze (g, a) v = Unsqueeze (h, a)
  "/b.0/Concat" = Concat <axis = 0> (u, v, k, m) "/b.0/Reshape" = Reshape (x, "/b.0/Concat") y = Transpose <perm = [0,2,1,3]> ("/b.0/Reshape")
  "/b.1/Concat" = Concat <axis = 0> (u, v, k, m) "/b.1/Reshape" = Reshape (x, "/b.1/Concat") z = Transpose <perm = [0,2,1,3]> ("/b.1/Reshape") }"""

#: A Relu between two poolings.
POOLED = """(float[N,2,8,8] x) => (float[N,2,2,2] y) <int64[1] a = {0}> {
  p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) r = Relu (p) y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r) }"""

CAPTURED = """(bool c, float[2,3] x) => (float[2,3] y) <float[3] w = {1,2,3}> {
  y = If (c) <then_branch = a () => (float[2,3] u) { u = Mul (x, w) }, else_branch = b () => (float[2,3] v) { v = Add (x, w) }> }"""

HALVED = """(float[N,16,S] x, float[N,T,8] q) => (float[N,T,S] y) <int64[1] j = {1}, int64[1] one = {1}, int64[1] two = {2}, int64[1] z = {0}> {
  s = Shape (x) n = Gather (s, j) m = Add (n, one) d = Div (m, two) k = Slice (x, z, d, one) y = MatMul (q, k) }"""

#: A sound graph, what is replaced in it, and by what.
#: Attention. The head size 8 is in two targets, and the factor of queries and keys is its power -1/4.
HEADS = """(float[N,S,16] x) => (float[N,S,2] y) <int64[4] t = {0,0,-1,8}, int64[4] r = {0,0,-1,8}, int64[3] u = {0,0,-1},
    float c = {0.594603557}, float[16,2] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5}> {
  a = Reshape (x, t) q = Transpose <perm = [0,2,1,3]> (a) p = Mul (q, c) b = Reshape (x, r) k = Transpose <perm = [0,2,3,1]> (b)
  o = Mul (k, c) s = MatMul (p, o) m = MatMul (s, q) e = Transpose <perm = [0,2,1,3]> (m) f = Reshape (e, u) y = MatMul (f, w) }"""

#: The same with the square root of the head size, by which the scores are divided.
DIVIDED = (
    HEADS.replace("p = Mul (q, c) ", "")
    .replace("o = Mul (k, c) s = MatMul (p, o)", "d = MatMul (q, k) s = Div (d, c)")
    .replace("0.594603557", "2.828427125")
)

#: Each pair of adjacent rows and columns becomes four channels.
FOLDED = """(float[N,3,H,W] x) => (float[a,b,c,d,e,f] y) <int64[1] i = {0}, int64[1] h = {2}, int64[1] w = {3}, int64[1] c = {3}, int64[1] two = {2}> {
  s = Shape (x) n = Gather (s, i) hh = Gather (s, h) ww = Gather (s, w) p = Div (hh, two) q = Div (ww, two)
  t = Concat <axis = 0> (n, c, p, two, q, two) v = Reshape (x, t) z = Concat <axis = 0> (n, p, q, c, two, two) r = Reshape (v, z) y = Neg (r) }"""

#: A file that stores each list of integers once. Nodes share them.
SHARED = """(float[N,S,8] x) => (float[N,S,2,4] z, float[N] b, float[N,2,8] v) <int64 zero = {0}, int64 one = {1}, int64[1] o = {1},
  int64[1] p = {0}, int64[1] two = {2}, int64[4] t = {0,0,2,4}, int64[2] m = {1,2}, int64[1] q = {-1}> { s = Shape (x) n = Gather (s, one)
  i = Range (zero, n, one) c = Cast <to = 1> (i) u = Unsqueeze (c, o) y = Add (x, u) z = Reshape (y, t) v = Slice (y, p, two, o)
  w = Gather <axis = 1> (y, zero) b = ReduceSum <keepdims = 0> (w, q) }"""

#: The last two sizes of an image.
PARTS_OF_TARGET = """(float[N,3,H,W] x) => (float[a,b] y) <int64[1] i = {2}, int64[1] j = {3}, float v = {2}> {
  s = Shape (x) h = Gather (s, i) w = Gather (s, j) t = Concat <axis = 0> (h, w) y = Expand (v, t) }"""

#: Two poolings with the same strides.
STRIDED = """(float[N,2,H,W] x) => (float[N,2,a,b] y) {
  a = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [1,1,1,1]> (x) n = Neg (x)
  b = MaxPool <kernel_shape = [3,3], strides = [2,2], pads = [0,1,2,1]> (n) y = Add (a, b) }"""

#: The patches of an image.
UNSHUFFLED = """(float[N,3,H,W] x) => (float[N,3,a,2,b,2] y) <int64[1] i = {2}, int64[1] j = {3}, int64[1] two = {2}, int64[2] z = {0,0}, int64[1] m = {2}, int64[1] l = {2}> {
  s = Shape (x) h = Gather (s, i) w = Gather (s, j) p = Div (h, two) q = Div (w, two) t = Concat <axis = 0> (z, p, m, q, l) y = Reshape (x, t) }"""

#: The same beside an input of which few sizes work.
NARROW = (
    UNSHUFFLED.replace(
        "(float[N,3,H,W] x) => (", "(float[N,3,H,W] x, float[N,T,4] v, float[3,4] g) => (float[N,3,4] o, "
    )
    .replace("int64[2] z", "int64[1] e = {0}, int64[1] n = {99}, int64[1] k = {1}, int64[2] z")
    .replace("s = Shape (x)", "u = Slice (v, e, n, k, two) o = Add (u, g) s = Shape (x)")
)

RESTORED = [
    *((f"a size of windows, {name}", WINDOWS, f"int64[1] {name} = {{4}}", f"int64[1] {name} = {{8}}") for name in "cfgh"),
    *((f"a divisor, {name}", WINDOWS, f"int64 {name} = {{4}}", f"int64 {name} = {{8}}") for name in "de"),
    ("an index of a shape for two axes", STATIC, "Gather (s, j)", "Gather (s, i)"),
    ("exchanged parts of a shape", STATIC, "i = {2}, int64 j = {3}", "i = {3}, int64 j = {2}"),
    ("another number as an index of a shape", RESIZED, "j = {3}", "j = {2}"),
    ("another index than in other blocks", INDICES, '"i.1" = {2}', '"i.1" = {7}'),
    ("another order of axes than in other blocks", BLOCKS, '"/b.1/Transpose" = Transpose <perm = [0, 2, 1, 3]>', '"/b.1/Transpose" = Transpose <perm = [0, 1, 3, 2]>'),
    ("a node that other blocks have", BLOCKS, '"/b.1/Reshape_1" = Reshape ("/b.1/Transpose_1", u) "/b.1/Add" = Add ("/b.1/Reshape_1", "/b.0/Add")', '"/b.1/Add" = Add ("/b.1/Transpose_1", "/b.0/Add")'),
    ("the start of a Range", RANGES, "begin = {0}", "begin = {1}"),
    ("conditions that no sizes meet", CONTRADICTING, "t = {0, 0, 2, 4}", "t = {0, 0, 3, 4}"),
    ("a scale that was left out", QUANTIZED, "d = DequantizeLinear (q, s, o)", "d = DequantizeLinear (q, o)"),
    ("a result of another scale", QUANTIZED, "d = DequantizeLinear (q, s, o)", "d = DequantizeLinear (w, s, o)"),
    ("a slice of a shape", SLICED, "two = {2}", "two = {0}"),
    ("an input of another element type", "(float[2,3] x) => (float[2,2] y) <float[3,2] w = {1,2,3,4,5,6}> { y = MatMul (x, w) }", "(float[2,3] x)", "(double[2,3] x)"),
    ("an axis out of range in all inputs", "(float[2,3] x) => (float[2,4] y) <float[2,1] w = {1,2}> { v = Neg (x) y = Concat <axis = 1> (v, w) }", "axis = 1", "axis = 2"),
    ("exchanged inputs that are no neighbors", "(uint8[2,3] x, uint8 a, uint8 b) => (int32[2,2] y) <uint8[3,2] w = {1,2,3,4,5,6}> { y = MatMulInteger (x, w, a, b) }", "MatMulInteger (x, w, a, b)", "MatMulInteger (b, w, a, x)"),
    ("an unused value of another element type", "(float[N,S] x) => (int64[2] y, float[N,S] v) <int64[1] k = {7}, int64 i = {0}, int64[1] a = {0}> { v = Neg (x) s = Shape (x) g = Gather (s, i) u = Unsqueeze (g, a) y = Concat <axis = 0> (u, k) }", "Concat <axis = 0> (u, k)", "Concat <axis = 0> (v, k)"),
    ("unused weights among other unused constants", "(float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w = {1,2,3,4}, float[2] b = {1,2}, int64 n = {0}, int64 m = {0}> { y = Conv (x, w, b) }", "Conv (x, w, b)", "Conv (x, w, w)"),
    ("a part of a shape taken twice", "(float[N,S,8] x) => (float[?,?,?] y) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] r = {8}> { s = Shape (x) g = Gather (s, i) h = Gather (s, j) u = Unsqueeze (g, a) v = Unsqueeze (h, a) t = Concat <axis = 0> (u, v, r) y = Reshape (x, t) }", "Concat <axis = 0> (u, v, r)", "Concat <axis = 0> (u, u, r)"),
    ("a factor of the channels", "(float[1,2,3,3] x, float[1,2,6,6] z) => (float[1,2,6,6] y) <float[4] f = {1, 1, 2, 2}> { u = Resize (x, , f) y = Add (u, z) }", "f = {1, 1, 2, 2}", "f = {1, 1.5, 2, 2}"),
    ("a step of 0", "(float[2,8] x) => (float[2,4] y) <int64[1] b = {0}, int64[1] e = {4}, int64[1] a = {1}, int64[1] s = {1}> { y = Slice (x, b, e, a, s) }", "s = {1}", "s = {0}"),
    ("dilations for one axis only", "(float[1,1,5,5] x) => (float[1,1,4,4] y) <float[1,1,2,2] w = {1,2,3,4}> { y = Conv <dilations = [1,1], kernel_shape = [2,2]> (x, w) }", "dilations = [1,1]", "dilations = [1]"),
    ("parts that were equal", "(float[2,6] x) => (float[2,3] y, float[2,3] z) <int64[2] s = {3, 3}> { y, z = Split <axis = 1> (x, s) }", "s = {3, 3}", "s = {4, 3}"),
    ("axes for more axes than the value has", "(float[3,4] x) => (float[3,4,1,1] y) <int64[2] a = {2, 3}> { u = Unsqueeze (x, a) y = Transpose <perm = [0,1,3,2]> (u) }", "u = Unsqueeze (x, a) y = Transpose <perm = [0,1,3,2]> (u)", "y = Transpose <perm = [0,1,3,2]> (x)"),
    ("an input with an axis less than its sibling", "(float[N,8,S,T] x, float[N,8,S,T] z) => (float[N,8,S,T] y) { a = Transpose <perm = [0,3,1,2]> (x) b = Transpose <perm = [0,2,3,1]> (a) y = Add (b, z) }", "(float[N,8,S,T] x,", "(float[N,8,T] x,"),
    ("an operator with the attributes of another one", "(float[N,S] x) => (float[N,1] y) { y = ReduceMean <axes = [1], keepdims = 1> (x) }", "ReduceMean", "Mean"),
    ("an attribute named otherwise", "(float[2,3] x) => (float[2,1] y) <int64[1] i = {1}> { y = Gather <axis = 1> (x, i) }", "axis", "dim"),
    ("a lost input, by the operators of its like", "(float[2,3] x, float[2,3] z) => (float[2,3] y, float[2,3] v) { a = Abs (x) b = Exp (x) y = Div (a, b) c = Abs (z) d = Exp (z) v = Div (c, d) }", "Div (c, d)", "Div (c)"),
    ("weights that were left out, with unused counters", "(float[1,2,4,4] x) => (float[1,2,4,4] y, float[1,2,4,4] z) <float[2,2,1,1] w = {1,2,3,4}, float[2,2,1,1] u = {1,2,3,5}, int64 n = {0}> { y = Conv (x, w) z = Conv (y, u) }", "Conv (y, u)", "Conv (y)"),
    ("the name of an input", "(float[2,3] x) => (float[2,3] y) { y = Neg (x) }", "Neg (x)", "Neg (x_1)"),
    ("a number with a counter", '(float[2,3] x) => (float[2,3] y) <float[3] "12" = {1,2,3}, float[3] "b.1" = {1,2,3}> { z = Add (x, "b.1") y = Mul (z, "12") }', 'Mul (z, "12")', 'Mul (z, "12.1")'),
    ("a part of an axis, or the rest", "(float[2,48] x) => (float[2,?,8] y) <int64[3] t = {2, 6, 8}> { z = Neg (x) y = Reshape (z, t) }", "t = {2, 6, 8}", "t = {2, 7, 8}"),
    ("an operator of another domain", "(float[2,3] x) => (float[2,3] y) { y = LogSoftmax <axis = 1> (x) }", "LogSoftmax", "com.microsoft.LogSoftmax"),
    ("all inputs but the first", "(float[1,2,4,4] x) => (float[1,2,4,4] y) <float[2,2,1,1] w = {1,2,3,4}, float[2] b = {1,2}> { y = Conv (x, w, b) }", "Conv (x, w, b)", "Conv (w, b)"),
    ("a transposition that a declaration shows", "(float[N,6,2,4] x, float[N,2,4,6] z) => (float[N,2,6,6] y) <float[N,2,6,4] b> { a = Transpose <perm = [0,2,1,3]> (x) b = Neg (a) y = MatMul (b, z) }", "a = Transpose <perm = [0,2,1,3]> (x) b = Neg (a)", "b = Neg (x)"),
    ("swapped outputs of a body", LOOP, "(bool e, float[2,3] u, int64[2] v, float[2,3] o)", "(bool e, int64[2] v, float[2,3] u, float[2,3] o)"),
    ("a state and a stacked output that are swapped", LOOP, "(bool e, float[2,3] u, int64[2] v, float[2,3] o)", "(bool e, float[2,3] u, float[2,3] o, int64[2] v)"),
    ("swapped outputs of a branch", "(bool c, float[2,3] x, int64[2] k) => (float[2,3] y, int64[2] z) { y, z = If (c) <then_branch = a () => (float[2,3] u, int64[2] v) { u = Relu (x) v = Add (k, k) }, else_branch = b () => (float[2,3] p, int64[2] q) { p = Neg (x) q = Neg (k) }> }", "(float[2,3] u, int64[2] v)", "(int64[2] v, float[2,3] u)"),
    ("a number of scanned inputs", SCAN, "num_scan_inputs = 2", "num_scan_inputs = 1"),
    ("a number of scanned inputs beside their directions", SCAN, "num_scan_inputs = 2", "num_scan_inputs = 3, scan_input_directions = [0, 0]"),
    ("the window of filters", "(float[1,1,9,9] x) => (float[1,1,8,8] y) <float[1,1,2,2] w = {1,2,3,4}> { y = Conv <kernel_shape = [2,2]> (x, w) }", "kernel_shape = [2,2]", "kernel_shape = [5,2]"),
    ("a batch axis that only the output has", "(float[N,3,S,T] x) => (float[N,1,S,T] y) <float[1,3,1,1] w = {1,2,3}> { y = Conv (x, w) }", "(float[N,3,S,T] x)", "(float[3,S,T] x)"),
    ("a node that uses its own result, beside unused counters", "(float[2,3] x) => (float[2,3] y) <int64 n = {0}, int64 m = {0}> { a = Neg (x) y = Exp (a) }", "Exp (a)", "Exp (y)"),
    ("axes of another type before a loop", "(int64 n, bool c, float[2,3] x) => (float[1,2,3] y) <int64[1] a = {0}> { u = Unsqueeze (x, a) y = Loop (n, c, u) <body = b (int64 i, bool d, float[1,2,3] s) => (bool e, float[1,2,3] t) { e = Identity (d) t = Neg (s) }> }", "int64[1] a", "int32[1] a"),
    ("a transposition that others have", "(float[N,S,8] x, float[N,S,8] z) => (float[N,2,S,4] y) <int64[4] t = {0,0,2,4}> { a = Reshape (x, t) b = Transpose <perm = [0,2,1,3]> (a) c = Reshape (z, t) d = Transpose <perm = [0,2,1,3]> (c) e = Add (b, d) f = Reshape (x, t) g = Transpose <perm = [0,2,1,3]> (f) y = Mul (e, g) }", "g = Transpose <perm = [0,2,1,3]> (f) y = Mul (e, g)", "y = Mul (e, f)"),
    ("a part that was as long as the others", "(float[3,6] x) => (float[1,6] y, float[1,6] z, float[1,6] v) <int64[3] s = {1,1,1}> { y, z, v = Split <axis = 0> (x, s) }", "s = {1,1,1}", "s = {1,0,1}"),
    ("exchanged inputs of a block, in a model with a dynamic size", "(float[N,S,4] x) => (float[N,S,4] y) <float[4,4] \"w.0\" = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, float[4,4] \"w.1\" = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,8}, float[4,4] \"w.2\" = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,9}> { \"/b.0/MatMul\" = MatMul (x, \"w.0\") \"/b.1/MatMul\" = MatMul (\"/b.0/MatMul\", \"w.1\") \"/b.2/MatMul\" = MatMul (\"/b.1/MatMul\", \"w.2\") y = Identity (\"/b.2/MatMul\") }", "MatMul (\"/b.0/MatMul\", \"w.1\")", "MatMul (\"w.1\", \"/b.0/MatMul\")"),
    ("the element type of a Cast", "(int64[2,3] x, float[2,3] z) => (float[2,3] y, int64[2,3] u, int64[2,3] v) { c = Cast <to = 1> (x) y = Add (c, z) u = Cast <to = 7> (z) a = Abs (z) v = Cast <to = 7> (a) }", "c = Cast <to = 1> (x)", "c = Cast <to = 7> (x)"),
    ("a node that was lost before several users", "(float[N,4,6] x) => (float[?,?,?,?] y, int64[?] k) <int64 i = {0}, int64[1] a = {0}, int64[2] b = {2,2}, int64[1] c = {6}> { r = Relu (x) s = Shape (x) g = Gather (s, i) u = Unsqueeze (g, a) t = Concat <axis = 0> (u, b, c) v = Reshape (r, t) k = Shape (v) y = Transpose <perm = [0,2,1,3]> (v) }", "v = Reshape (r, t) k = Shape (v) y = Transpose <perm = [0,2,1,3]> (v)", "k = Shape (r) y = Transpose <perm = [0,2,1,3]> (r)"),
    ("sizes as scales", "(float[1,3,8,8] x) => (float[1,3,16,16] y) <int64[4] s = {1,3,16,16}> { y = Resize <mode = \"nearest\"> (x, , , s) }", "(x, , , s)", "(x, , s)"),
    ("computed sizes as scales", SLICED, "(x, , , t)", "(x, , t)"),
    ("scales as sizes", "(float[1,3,8,8] x) => (float[1,3,16,16] y) <float[4] s = {1,1,2,2}> { y = Resize <mode = \"nearest\"> (x, , s) }", "(x, , s)", "(x, , , s)"),
    ("a flag that the other nodes do not state", "(float[2,4] x) => (float[2,3] y) <float[4,5] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2}, float[5,3] v = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}> { a = Gemm (x, w) y = Gemm (a, v) }", "y = Gemm (a, v)", "y = Gemm <transB = 1> (a, v)"),
    ("the step of a Range", RANGES.replace("m, one", "m, step").replace("int64[1] a", "int64 step = {1}, int64[1] a"), "step = {1}", "step = {2}"),
    ("an unused input that explains two errors", UNUSED_INPUT, "Neg (m)", "Neg (k)"),
    ("a bound that three nodes share", SHARED, "e = {1}", "e = {0}"),
    ("an operator behind which a table fixes a size", "(float[N,S,2] x) => (float[N,3,2] y) <float[1,3,2] p = {1,2,3,4,5,6}> { z = Tanh (x) y = Add (z, p) }", "Tanh", "Tahn"),
    ("a constant behind an Identity", "(float[N,2] x) => (float[N,2] y, float[N,2] z) <float[2] b = {1,2}> { i = Identity (b) y = Add (x, i) n = Neg (x) z = Add (n, i) }", "float[2] b", "double[2] b"),
    ("a constant of the type that others have there", "(int64[N] x, int64[N] z) => (float[N] y, float[N] v) <int64 b = {2}, int64 c = {3}> { d = Div (x, b) y = Cast <to = 1> (d) e = Div (z, c) v = Cast <to = 1> (e) }", "int64 c", "int32 c"),
    ("the integers to which the others convert", "(float[N] x, float[N] z) => (float[N,2] y, int64[N] v) <float[2,2] w = {1,2,3,4}> { c = Cast <to = 7> (x) y = Gather (w, c) v = Cast <to = 7> (z) }", "c = Cast <to = 7>", "c = Cast <to = 1>"),
    ("an axis that is not the batch", "(float[N,4] x) => (int64[a,b] y) { e = Exp (x) y = ArgMax <axis = 1> (e) }", "axis = 1", "axis = 3"),
    ("a Transpose that only a Shape reads", "(float[N,S,4] x, float[1,1,4] z) => (float[N,S,4] y) { s = Shape (x) e = Expand (z, s) y = Add (e, x) }", "s = Shape (x)", "p = Transpose <perm = [1,0,2]> (x) s = Shape (p)"),
    ("a step, in blocks that are counted otherwise", UNLIKE, "t = {2}", "t = {1}"),
    ("a Transpose before two users, as in another block", MEASURED, '"/b.1/Transpose" = Transpose <perm = [0, 2, 1, 3]> ("/b.1/Reshape")\n  "/b.1/Shape" = Shape ("/b.1/Transpose") "/b.1/Relu" = Relu ("/b.1/Transpose")', '"/b.1/Shape" = Shape ("/b.1/Reshape") "/b.1/Relu" = Relu ("/b.1/Reshape")'),
    ("a missing node that another block has", BLOCKS, '"/b.1/Softmax" = Softmax <axis = 3> ("/b.1/Transpose") ', ""),
    ("a missing node with a constant, as in another block", BLOCKS, '"/b.1/Reshape_1" = Reshape ("/b.1/Transpose_1", u) ', ""),
    ("a missing attribute that another block has", JOINED, '"/b.1/Concat" = Concat <axis = 1>', '"/b.1/Concat" = Concat'),
    ("a missing window that equals the strides, as at other nodes", "(float[1,1,36,36] x) => (float[1,1,a,b] y, float[1,1,c,d] z, float[1,1,e,f] v) { y = AveragePool <kernel_shape = [9,9], strides = [9,9]> (x) z = AveragePool <kernel_shape = [6,6], strides = [6,6]> (x) v = AveragePool <kernel_shape = [3,3], strides = [3,3]> (x) }", "<kernel_shape = [3,3], strides = [3,3]>", "<strides = [3,3]>"),
    ("a mark at the end of the name of a used value", "(float[2,3] x) => (float[2,3] y, float[2,3] z) { a = Neg (x) y = Exp (a) z = Abs (a) }", "Exp (a)", "Exp (a_1)"),
    ("an Unsqueeze whose axes are left over, beside such a node in another block", SIZED, '"/b.1/Unsqueeze" = Unsqueeze ("/b.1/Gather", b) y = Concat <axis = 0> ("/b.1/Unsqueeze", "/b.1/Unsqueeze_1")', 'y = Concat <axis = 0> ("/b.1/Gather", "/b.1/Unsqueeze_1")'),
    ("a missing node that the siblings of its user have", "(float[N,4] x) => (float[N,4] y, float[N,4] z, float[N,4] v) { val_1 = Neg (x) val_2 = Softmax <axis = 0> (val_1) y = Exp (val_2) val_3 = Abs (x) val_4 = Softmax <axis = 0> (val_3) z = Exp (val_4) val_5 = Relu (x) val_6 = Softmax <axis = 0> (val_5) v = Exp (val_6) }", "val_6 = Softmax <axis = 0> (val_5) ", ""),
    ("a missing node by the operator in its name and an unused constant", "(float[N,4] x) => (float[N,4] y) <float c = {3}> { exp_1 = Exp (x) abs_1 = Abs (x) mul_1 = Mul (exp_1, abs_1) mul_2 = Mul (c, mul_1) y = Add (mul_2, x) }", "mul_2 = Mul (c, mul_1) ", ""),
    ("a missing node with the constant of another one", "(float[N,4] x) => (float[a,b,c] y) <int64[1] a = {1}> { cos = Cos (x) sin = Sin (x) unsqueeze_1 = Unsqueeze (cos, a) unsqueeze_2 = Unsqueeze (sin, a) y = Add (unsqueeze_1, unsqueeze_2) }", "unsqueeze_1 = Unsqueeze (cos, a) ", ""),
    ("a missing node with a value outside the block, in blocks that are counted otherwise", """(float[N,4] x) => (float[N,4] y) { "/Where" = Abs (x) "/b.0/Add" = Add (x, x) "/b.0/Div" = Neg ("/b.0/Add") "/b.0/Add_1" = Add ("/b.0/Div", "/Where") "/b.0/Exp" = Exp ("/b.0/Add_1")
  "/b.1/Div" = Neg ("/b.0/Exp") "/b.1/Add" = Add ("/b.1/Div", "/Where") "/b.1/Exp" = Exp ("/b.1/Add") y = Identity ("/b.1/Exp") }""", '"/b.1/Add" = Add ("/b.1/Div", "/Where") ', ""),
    ("a misspelled name beside an unused second result", "(float[2,5] x) => (float[2,3] y) <int64[1] k = {3}> { v, i = TopK (x, k) ca_output = Cast <to = 1> (i) y = Neg (ca_output) }", "Neg (ca_output)", "Neg (ca_outtput)"),
    ("a Reshape that the siblings of its user have", "(float[N,S,8] x) => (float[a,b,c,d] y) <int64[4] t = {0,0,2,4}> { p = Neg (x) u = Reshape (p, t) c = Transpose <perm = [0,2,1,3]> (u) q = Neg (p) v = Reshape (q, t) d = Transpose <perm = [0,2,1,3]> (v) y = Add (c, d) }", "v = Reshape (q, t) d = Transpose <perm = [0,2,1,3]> (v)", "d = Transpose <perm = [0,2,1,3]> (q)"),
    ("a Transpose of computed data", "(float[N,S,4] x) => (float[N,S,2] y) <float[4,2] w = {1,2,3,4,5,6,7,8}> { e = Exp (x) y = MatMul (e, w) }", "y = MatMul (e, w)", "t = Transpose <perm = [2,1,0]> (e) y = MatMul (t, w)"),
    ("a Cast of integers before a condition", "(int64[N,S] x) => (bool[N,S] y, bool[N,S] z) { p = Cast <to = 9> (x) a = Abs (x) c = Cast <to = 9> (a) y = And (p, c) z = And (p, p) }", "c = Cast <to = 9>", "c = Cast <to = 6>"),
    ("an element type before a table that fixes a size", "(float[N,S,2] x) => (float[N,3,2] y) <float[2] b = {1,2}, float[1,3,2] p = {1,2,3,4,5,6}> { z = Add (x, b) v = Add (z, b) y = Add (v, p) }", "float[2] b", "double[2] b"),
    ("an axis of a Slice, with conditions that hold for even sizes", "(float[N,H,W,3] x) => (float[N,a,b,12] y) <int64[1] o = {0}, int64[1] i = {1}, int64[1] e = {9223372036854775807}, int64[1] h = {1}, int64[1] w = {2}, int64[1] v = {2}, int64[1] s = {2}> { a = Slice (x, o, e, h, s) b = Slice (x, i, e, h, s) c = Slice (a, o, e, w, s) d = Slice (b, o, e, w, s) f = Slice (a, i, e, v, s) g = Slice (b, i, e, w, s) y = Concat <axis = 3> (c, d, f, g) }", "v = {2}", "v = {1}"),
    ("a number in one place of the targets of all blocks", """(float[N,S,8] x, float[N,2,T,4] k, float[N,2,T,4] v) => (float[N,2,a,4] y, float[N,2,b,4] z) <int64[4] "/b.0/t" = {0,-1,2,4}, int64[4] "/b.1/t" = {0,-1,2,4}> {
  "/b.0/Reshape" = Reshape (x, "/b.0/t") "/b.0/Transpose" = Transpose <perm = [0,2,1,3]> ("/b.0/Reshape") "/b.0/Concat" = Concat <axis = 2> (k, "/b.0/Transpose")
  "/b.1/Reshape" = Reshape (x, "/b.1/t") "/b.1/Transpose" = Transpose <perm = [0,2,1,3]> ("/b.1/Reshape") "/b.1/Concat" = Concat <axis = 2> (v, "/b.1/Transpose")
  y = Identity ("/b.0/Concat") z = Identity ("/b.1/Concat") }""", '"/b.0/t" = {0,-1,2,4}, int64[4] "/b.1/t" = {0,-1,2,4}', '"/b.0/t" = {0,-1,2,2}, int64[4] "/b.1/t" = {0,-1,2,2}'),
    ("a target before a size that a table has already fixed", "(float[N,S,8] x) => (float[N,8,2] y, float[N,3,8] m) <float[1,3,8] p = {0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3}, int64[3] t = {0,0,8}, float[3,2] c = {1,2,3,4,5,6}> { m = Add (x, p) r = Reshape (x, t) e = Transpose <perm = [0,2,1]> (r) y = MatMul (e, c) }", "t = {0,0,8}", "t = {0,0,7}"),
    ("a size of an input on which two weights agree", "(float[N,4] x) => (float[N,2] y, float[N,3] z) <float[4,2] w = {1,2,3,4,5,6,7,8}, float[4,3] v = {1,2,3,4,5,6,7,8,9,1,2,3}> { n = Neg (x) y = MatMul (n, w) z = MatMul (n, v) }", "(float[N,4] x)", "(float[N,5] x)"),
    ("an axis of 1 too many in an input, by the declared output", "(float[N,3,H,W] x) => (float[N,2,a,b] y) <float[2,3,1,1] w = {1,2,3,4,5,6}, int64[8] p = {0,0,1,1,0,0,1,1}> { e = Pad (x, p) y = Conv (e, w) }", "(float[N,3,H,W] x)", "(float[N,3,H,1,W] x)"),
    ("the name of an output with another separator", '(float[2,3] x) => (float[2,3] "in.8", float[2,3] z) { "in.8" = Neg (x) z = Exp ("in.8") }', '=> (float[2,3] "in.8"', '=> (float[2,3] "in_8"'),
    ("a Transpose that no other block has, in a model whose others have one order", """(float[N,S,8] x) => (float[N,S,S] y) <float[1,3,8] p = {0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3,4,0,1,2,3}> {
  "/b.0/Add" = Add (x, p) "/b.0/Transpose" = Transpose <perm = [0,2,1]> ("/b.0/Add") "/b.0/Exp" = Exp ("/b.0/Add") "/b.0/MatMul" = MatMul ("/b.0/Exp", "/b.0/Transpose")
  "/b.0/Softmax" = Softmax <axis = 2> ("/b.0/MatMul") "/b.0/MatMul_1" = MatMul ("/b.0/Softmax", "/b.0/Add")
  "/b.1/Transpose" = Transpose <perm = [0,2,1]> ("/b.0/MatMul_1") "/b.1/MatMul" = MatMul ("/b.0/MatMul_1", "/b.1/Transpose")
  "/b.1/Softmax" = Softmax <axis = 2> ("/b.1/MatMul") y = Identity ("/b.1/Softmax") }""", '"/b.0/Softmax" = Softmax <axis = 2> ("/b.0/MatMul")', 't = Transpose <perm = [2,1,0]> ("/b.0/MatMul") "/b.0/Softmax" = Softmax <axis = 2> (t)'),
    ("a Cast that changes no type", "(float[N,S] x) => (int64[N,S] y, int64[N,S] z) { p = Cast <to = 7> (x) f = Floor (x) c = Cast <to = 7> (f) y = Add (p, c) z = Add (p, p) }", "c = Cast <to = 7> (f)", "c = Cast <to = 1> (f)"),
    ("a Transpose that the siblings of a user have, several nodes before the condition", "(float[N,S,8] x, float[1,1,S,4] c) => (float[a,b,d,e] y, float[f,g,h,i] z) <int64[4] t = {0,0,2,4}> { n = Neg (x) u = Reshape (x, t) p = Transpose <perm = [0,2,1,3]> (u) r = Relu (p) y = Mul (r, c) v = Reshape (n, t) q = Transpose <perm = [0,2,1,3]> (v) s = Relu (q) z = Mul (s, c) }", "q = Transpose <perm = [0,2,1,3]> (v) s = Relu (q)", "s = Relu (v)"),
    ("a size of an input that several inputs of similar names have", "(float[N,2,S,8] k, float[N,2,T,8] past_0, float[N,2,T,8] past_1, float[N,2,T,8] past_2) => (float[N,2,a,8] y, float[N,2,b,8] z, float[N,2,c,8] v) { y = Concat <axis = 2> (past_0, k) z = Concat <axis = 2> (past_1, k) v = Concat <axis = 2> (past_2, k) }", "float[N,2,T,8] past_1", "float[N,1,T,8] past_1"),
    ("an index that is a scalar in the other block", INDEXED, 'int64 "i.1" = {0}', 'int64[1] "i.1" = {1}'),
    ("a lost output of a body", LOOP, "(bool e, float[2,3] u, int64[2] v, float[2,3] o)", "(bool e, float[2,3] u, int64[2] v)"),
    ("a branch that casts to another element type", BRANCHES, "(float[2,3] u) {\n  n = Neg (x) u = Cast <to = 1>", "(int64[2,3] u) {\n  n = Neg (x) u = Cast <to = 7>"),
    ("a lost part of a shape", PARTS, "(u, v, k, m)", "(u, k, m)"),
    ("a repeated part of a shape", PARTS, "(u, v, k, m)", "(u, u, v, k, m)"),
    ("a part of a shape that is a scalar", PARTS, "int64[1] m = {4}", "int64 m = {4}"),
    ("a lost part that another block has", JOINING, '"/b.1/Concat" = Concat <axis = 0> (u, v, k, m)', '"/b.1/Concat" = Concat <axis = 0> (u, k, m)'),
    ("an added node", POOLED, "y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (r)", "e = Unsqueeze (r, a) y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (e)"),
    ("the element type of an input that branches use", CAPTURED, "float[2,3] x", "int64[2,3] x"),
    ("exchanged operands of a computed size", HALVED, "Div (m, two)", "Div (two, m)"),
    ("an unused input under a shorter name", '(float[N,S] "past_values.1.key", float[N,S] "past.1.v") => (float[N,S] y, float[N,S] z) { y = Neg ("past_values.1.key") z = Exp ("past.1.v") }', 'Neg ("past_values.1.key")', 'Neg ("past.1.k")'),
    ("an initializer of the model without its prefix in a branch", CAPTURED.replace("[3] w", '[3] "router.w"').replace("x, w", 'x, "router.w"').replace('Add (x, "router.w")', "Abs (x)"), 'Mul (x, "router.w")', 'Mul (x, "w")'),
    ("a head size that a factor of queries and keys shows", HEADS, "t = {0,0,-1,8}, int64[4] r = {0,0,-1,8}", "t = {0,0,-1,7}, int64[4] r = {0,0,-1,7}"),
    ("a head size by whose root the scores are divided", DIVIDED, "t = {0,0,-1,8}, int64[4] r = {0,0,-1,8}", "t = {0,0,-1,7}, int64[4] r = {0,0,-1,7}"),
    ("an unused value, and a node whose name has only the operator and a number", '(float[N,4,8] x, float[N,1,4] z) => (float[N,5,2] y) <float[8,4] v = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5}, float[4,4] val_11 = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7}, float[4,2] val_39 = {1,2,3,4,5,6,7,8}> { g = MatMul (x, v) cat = Concat <axis = 1> (z, g) node_MatMul_12 = MatMul (cat, val_11) val = Tanh (node_MatMul_12) node_MatMul_40 = MatMul (val, val_39) y = Neg (node_MatMul_40) }', "MatMul (val, val_39)", "MatMul (x, val_39)"),
    ("a Flatten of all axes into the first one", "(float[N,3] x) => (float[a,3] y) <float[1,3] w = {1,2,3}> { f = Flatten <axis = 2> (x) y = MatMul (f, w) }", "axis = 2", "axis = 1"),
    ("a target that fixes a product of three sizes", "(float[N,S] x, float[N,T] z) => (float[a] y) <int64[1] t = {-1}> { c = Concat <axis = 1> (x, z) r = Reshape (c, t) y = Neg (r) }", "t = {-1}", "t = {7}"),
    ("exchanged pads and value", "(float[1,8] x) => (float[1,12] y) <int64[4] p = {0,2,0,2}, float v = {3}> { y = Pad (x, p, v) }", "(x, p, v)", "(x, v, p)"),
    ("the name of an output of a series, whose value has other uses", SERIES, "float[N,S] cat_2,", "float[N,S] logits,"),
    ("channels between the spatial axes, less than the window", PATCHES, "(float[N,3,H,W] x)", "(float[N,W,3,H] x)"),
    ("axes and starts that several slices share", "(float[N,S,24] x) => (float[N,S,8] y) <int64[1] z = {0}, int64[1] o = {1}, int64[1] t = {2}, int64[1] e = {3}, int64[5] k = {0,0,3,2,4}, int64[3] r = {0,0,8}, float[1,N,2,S,4] a, float[1,N,2,S,4] b, float[1,N,2,S,4] d> { h = Reshape (x, k) p = Transpose <perm = [2,0,3,1,4]> (h) a = Slice (p, z, o, z) q = Squeeze (a, z) b = Slice (p, o, t, z) c = Squeeze (b, z) d = Slice (p, t, e, z) v = Squeeze (d, z) w = Transpose <perm = [0,1,3,2]> (c) m = MatMul (q, w) u = MatMul (m, v) f = Transpose <perm = [0,2,1,3]> (u) y = Reshape (f, r) }", "z = {0}", "z = {2}"),
    ("an image without its channels", PATCHES, "(float[N,3,H,W] x)", "(float[N,H,W] x)"),
    ("an added Transpose that no sibling has", "(float[N,S,4] x) => (float[N,S,4] y) { a = Neg (x) b = Exp (a) c = Neg (b) d = Exp (c) e = Neg (d) f = Exp (e) y = Add (x, f) }", "f = Exp (e)", "t = Transpose <perm = [1,0,2]> (e) f = Exp (t)"),
    ("a node whose result is declared all the same", "(float[N,S,8] x, float[N,S,8] z, float[S,4] w) => (float[N,2,S,4] y, float[N,2,S,4] v) <int64[4] k = {0,0,2,4}, float[N,S,2,4] r_1, float[N,2,S,4] transpose_1, float[N,2,S,4] n_1> { r_0 = Reshape (z, k) transpose_0 = Transpose <perm = [0,2,1,3]> (r_0) n_0 = Neg (transpose_0) v = Mul (n_0, w) r_1 = Reshape (x, k) transpose_1 = Transpose <perm = [0,2,1,3]> (r_1) n_1 = Neg (transpose_1) m_1 = Exp (n_1) y = Mul (m_1, w) }", "transpose_1 = Transpose <perm = [0,2,1,3]> (r_1) n_1 = Neg (transpose_1)", "n_1 = Neg (r_1)"),
    ("an output whose sizes are named after a value", '(float[N,S] x) => (float[Negonnx_Exp_7_dim_0,Negonnx_Exp_7_dim_1] "onnx::Exp_7", float[N,S] y) { "onnx::Exp_7" = Neg (x) y = Exp ("onnx::Exp_7") }', '_dim_1] "onnx::Exp_7"', "_dim_1] output"),
    ("an input of a cycle that siblings have", "(float[N,4] x) => (float[N,4] y) <float h = {0.5}> { a = Exp (x) b = Mul (h, a) c = Add (x, b) d = Exp (c) e = Mul (h, d) f = Add (c, e) g = Exp (f) i = Mul (h, g) j = Add (f, i) y = Neg (j) }", "e = Mul (h, d)", "e = Mul (f, d)"),
    ("the type of a Cast that has an effect", "(bool[N,S] m) => (float[N,S,2] y) <float[2,2] w = {1,2,3,4}> { c = Cast <to = 6> (m) e = Cast <to = 7> (c) y = Gather (w, e) }", "Cast <to = 7> (c)", "Cast (c)"),
    ("the type of a Cast between floats", "(float16[2,3] x) => (float[2,3] y) { n = Neg (x) y = Cast <to = 1> (n) }", "<to = 1>", "<to = 6>"),
    ("a Cast of an input, where outputs are cast back", "(float[N,4] x) => (float[N,4] y) <float16[4] w = {1,2,3,4}> { c = Cast <to = 10> (x) m = Mul (c, w) n = Mul (w, m) y = Cast <to = 1> (n) }", "c = Cast <to = 10> (x) m = Mul (c, w)", "m = Mul (x, w)"),
    ("a target of one entry", "(float[3] x) => (float[3] y) <int64[1] t = {-1}> { r = Reshape (x, t) y = Neg (r) }", "t = {-1}", "t = {7}"),
    ("pads for twice as many axes, before a table that fixes a size", "(float[N,1,S] x) => (float[a,b,c] y) <float[1,1,1] k = {2}, float[1,1,3] p = {1,2,3}> { c = Conv <pads = [0,0]> (x, k) y = Add (c, p) }", "pads = [0,0]", "pads = [0,0,0,0]"),
    ("parts of a target in another order", "(float[N,4,H,W] x) => (float[N,P,4] y) <int64[1] i = {0}, int64[1] j = {2}, int64[1] m = {-1}, float[4] w = {1,2,3,4}> { s = Shape (x) p = Slice (s, i, j) c = Concat <axis = 0> (p, m) r = Reshape (x, c) t = Transpose <perm = [0,2,1]> (r) y = Add (t, w) }", "(p, m)", "(m, p)"),
    ("a head size beside a table that is joined with itself", "(float[N,S,16] x, float[1,S,4] f) => (float[N,2,S,8] y) <int64[4] t = {0,0,-1,8}, int64[1] a = {1}> { q = Reshape (x, t) u = Transpose <perm = [0,2,1,3]> (q) c = Concat <axis = -1> (f, f) e = Unsqueeze (c, a) y = Mul (u, e) }", "t = {0,0,-1,8}", "t = {0,0,-1,4}"),
    ("an operator with the more similar of two names that takes these types", "(float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }", "Add", "Ad"),
    ("a bias that is stored once for all layers", BIASES, "Add (product_3, bias)", "Add (product_3, bias_1)"),
    ("a list as long as the others of its kind", TREE, "nodes_treeids = [0,0,0]", "nodes_treeids = 0"),
    ("a Cast, by the type of its result", "(int64[N,S] m, float[S,N] x) => (float[S,N] y) <float z = {0}, bool[N,S] c, bool[S,N] t> { c = Cast <to = 9> (m) t = Transpose <perm = [1,0]> (c) y = Where (t, x, z) }", "c = Cast <to = 9> (m) t = Transpose <perm = [1,0]> (c)", "t = Transpose <perm = [1,0]> (m)"),
    ("an Unsqueeze of numbers in a row, by the shape of its result", "(float[N,S] x) => (float[1,S,1] y, int64[1,S,1] z) <int64 i = {1}, int64 o = {0}, int64[1] a = {0}, int64[1] b = {2}, int64[2] e = {0,2}, int64[1,S] u> { s = Shape (x) n = Gather (s, i) r = Range (o, n, i) u = Unsqueeze (r, a) v = Unsqueeze (u, b) y = Cast <to = 1> (v) z = Unsqueeze (r, e) w = Gather (s, a) f = Neg (w) }", "u = Unsqueeze (r, a) v = Unsqueeze (u, b)", "v = Unsqueeze (r, b)"),
    ("an Unsqueeze before two uses, by its result and others of its name", "(float[2] x, float[3] z) => (float[1,2,3] y, float[1,2,1] v) <int64[1] a = {1}, int64[1] b = {0}, int64[2] q = {0,1}, float[2,1] unsqueeze_1, float[2,3] m> { unsqueeze_1 = Unsqueeze (x, a) m = Max (unsqueeze_1, z) y = Unsqueeze (m, b) v = Unsqueeze (unsqueeze_1, b) g = Unsqueeze (z, a) h = Neg (g) }", "unsqueeze_1 = Unsqueeze (x, a) m = Max (unsqueeze_1, z) y = Unsqueeze (m, b) v = Unsqueeze (unsqueeze_1, b)", "m = Max (x, z) y = Unsqueeze (m, b) v = Unsqueeze (x, b)"),
    ("a Transpose that the block before has, beside others in the names of outputs", COUNTED, '"/b.1/Transpose_2_output_0" = Transpose <perm = [0,2,3,1]> ("/b.1/Reshape") "/b.1/Transpose_2_output_0_Relu" = Relu ("/b.1/Transpose_2_output_0")', '"/b.1/Transpose_2_output_0_Relu" = Relu ("/b.1/Reshape")'),
    ("an unused length, by the siblings of its user", "(float[N,S] x) => (float[S,N] y, float[N,S] z, int64[S] v) <int64 o = {0}, int64 i = {1}> { s = Shape (x) g = Gather (s, o) h = Gather (s, i) c = Cast <to = 7> (g) d = Cast <to = 7> (h) e = Cast <to = 7> (h) r = Range (o, c, i) q = Range (o, d, i) v = Range (o, e, i) k = Cast <to = 1> (r) l = Cast <to = 1> (q) t = Transpose <perm = [1,0]> (x) y = Add (t, k) z = Add (x, l) }", "Range (o, c, i)", "Range (o, d, i)"),
    ("the data of a convolution, before a normalization of groups", "(float[N,2,H,W] x) => (float[N,4,a,b] y) <float[4,2,2,2] w = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, int64[3] t = {0,2,-1}, float[2] u = {1,1}, float[2] v = {0,0}> { c = Conv <kernel_shape = [2,2]> (x, w) s = Shape (c) r = Reshape (c, t) n = InstanceNormalization (r, u, v) y = Reshape (n, s) }", "(x, w)", "(w, x)"),
    ("the shape to which the other operand is expanded", "(float[N] x, float[S] z) => (float[N,S] y) <int64[1] k = {1}, int64[1] l = {0}> { a = Unsqueeze (x, k) b = Unsqueeze (z, l) m = Max (a, b) s = Shape (m) e = Expand (a, s) f = Expand (b, s) y = Add (e, f) }", "Expand (a, s)", "Expand (a)"),
    ("an input of which only the shape is used", "(float[N,S] x) => (float[N,S] y) <float h = {0.5}> { a = Add (x, h) s = Shape (x) o = ConstantOfShape (s) y = Add (a, o) }", "Add (x, h)", "Add (h)"),
    ("a part of a target that uses itself", "(float[N,S,18] x) => (float[N,S,2,3,3] y) <int64[1] two = {2}, int64[1] three = {3}> { u = Shape <start = 0, end = 1> (x) v = Shape <start = 1, end = 2> (x) t = Concat <axis = 0> (u, v, two, three, three) y = Reshape (x, t) }", "(u, v, two, three, three)", "(u, v, two, three, t)"),
    ("a factor of the last layer, as in the others", FACTORS, "Mul (p_7, h)", "Mul (p_7)"),
    ("a factor from which the other one is computed", GATED, "Mul (d_2, e_2)", "Mul ( , e_2)"),
    ("a factor that is the other one", SQUARES, "Mul (d_2, d_2)", "Mul ( , d_2)"),
    ("the data before an empty input", "(float[1,1,4,4] x) => (float[1,1,16,16] y) <float[4] f = {1,1,2,2}> { r = Resize <mode = \"nearest\"> (x, , f) n = Neg (r) y = Resize <mode = \"nearest\"> (n, , f) }", "(n, , f)", "( , f)"),
    ("the first input of a layer, to which its result is added", RESIDUAL, "LayerNormalization (c_2, s)", "LayerNormalization (t, s)"),
    ("exchanged inputs of other types, before a table that fixes a size", "(float[N,S] x) => (float[a,b,c] y) <int64[1] i = {0}, float[1,1,3] p = {1,2,3}> { u = Unsqueeze (x, i) y = Add (u, p) }", "Unsqueeze (x, i)", "Unsqueeze (i, x)"),
    ("weights of another name, beside an unused constant", '(float[2,3] x) => (float[2,3] y) <int8[3] "b.w_q" = {1,2,3}, float s = {0.5}, int8 o = {0}> { c = Constant <value_float = 1.0> () d = DequantizeLinear ("b.w_q", s, o) y = Mul (x, d) }', 'int8[3] "b.w_q"', 'int8[3] "model.b.w_q"'),
    ("the size of another axis as a part of a length", "(float[N,2,S,4] x, float[N,2,T,4] p) => (float[N,2,a,4] y, int64[1] z) <int64[1] two = {2}, int64[1] four = {4}> { c = Concat <axis = 2> (p, x) n = Shape <start = 0, end = 1> (x) s = Shape <start = 2, end = 3> (x) t = Shape <start = 2, end = 3> (p) l = Add (t, s) e = Concat <axis = 0> (n, two, l, four) y = Expand (c, e) z = Mul (t, n) }", "l = Add (t, s)", "l = Add (n, s)"),
    ("a size in place of the list of all sizes", "(float[N,S] x) => (float[N,S] y, int64[2] z) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] b = {0}, float[8] p = {1,2,3,4,5,6,7,8}> { s = Shape (x) n = Gather (s, i) m = Gather (s, j) u = Unsqueeze (n, a) v = Unsqueeze (m, a) z = Concat <axis = 0> (u, v) e = Unsqueeze (m, a) q = Slice (p, b, e) y = Add (x, q) }", "e = Unsqueeze (m, a)", "e = Unsqueeze (z, a)"),
    ("the result of a layer, of which several nodes read an inner value", "(float[N,4] x) => (float[N,4] y) <float[4,8] u = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, float[8,4] d = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, float[4,4] p = {1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8}, float[4,4] q = {8,7,6,5,4,3,2,1,8,7,6,5,4,3,2,1}> { a = Relu (x) w = MatMul (a, u) r = Relu (w) o = MatMul (r, d) e = Add (a, o) k = MatMul (e, p) v = MatMul (e, q) y = Sub (k, v) }", "k = MatMul (e, p) v = MatMul (e, q)", "k = MatMul (r, p) v = MatMul (r, q)"),
    ("PyTorch's name of an axis", "(float[N,3] x) => (float[N,6] y) { y = Concat <axis = 1> (x, x) }", "axis = 1", "dim = 1"),
    ("PyTorch's name of a slope", "(float[N,3] x) => (float[N,3] y) { m = Neg (x) y = LeakyRelu <alpha = 0.5> (m) }", "alpha", "negative_slope"),
    ("NumPy's name of an element type", "(float[N,3] x) => (int64[N,3] y) { y = Cast <to = 7> (x) }", "to = 7", "dtype = 7"),
    ("a node with a body that stands twice", REPEATED, "y = Exp (b)", f"{BRANCH} y = Exp (b)"),
    ("one of two equal constants in a file that shares them", SHARED, "zero = {0}", "zero = {1}"),
    ("an axis of which the declared result is left", "(float[N,S] x) => (float[N,S,1] y) <int64[1] a = {2}> { n = Neg (x) y = Unsqueeze (n, a) }", "a = {2}", "a = {5}"),
    ("the only index that no other Gather takes", "(float[2,N,4] x) => (float[N,4] y) <int64 i = {0}, int64 j = {1}> { a = Gather (x, i) b = Gather (x, j) y = Sub (a, b) }", "j = {1}", "j = {2}"),
    ("the index before that of the next part of a target", PARTS_OF_TARGET, "i = {2}", "i = {5}"),
    ("an axis whose size only the result names", "(float[N,S,4] x) => (float[N,S,4] y) { p = Transpose <perm = [0,2,1]> (x) n = Neg (p) y = Transpose <perm = [0,2,1]> (n) }", "(float[N,S,4] x)", "(float[N,4] x)"),
    ("dilations that differ between axes", "(float[N,2,8,8] x, float[1,2,6,6] p) => (float[N,2,6,6] y) { c = MaxPool <kernel_shape = [3,3], dilations = [1,1]> (x) y = Add (c, p) }", "dilations = [1,1]", "dilations = [1,3]"),
    ("channels that move to the end of five axes", "(float[N,3,7,H,W] x) => (float[N,3,H,W,7] y) <float[7] b = {1,2,3,4,5,6,7}> { t = Transpose <perm = [0,1,3,4,2]> (x) y = Add (t, b) }", "[0,1,3,4,2]", "[0,3,1,2,4]"),
    ("a target whose result is declared", "(float[N,8,6] x, float[6,8] p) => (float[N,6,8] y) <int64[3] t = {-1,6,8}, float[N,6,8] r> { r = Reshape (x, t) y = Add (r, p) }", "{-1,6,8}", "{-1,8,6}"),
    ("strides that leave gaps between the windows", STRIDED, "strides = [2,2], pads = [0,1,2,1]", "strides = [5,5], pads = [0,1,2,1]"),
    ("the sizes of patches in both parts of a target", UNSHUFFLED, "m = {2}, int64[1] l = {2}", "m = {4}, int64[1] l = {4}"),
    ("the sizes of patches beside an input of which few sizes work", NARROW, "m = {2}, int64[1] l = {2}", "m = {4}, int64[1] l = {4}"),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("what", "text", "old", "new"), RESTORED)
def test_restored(what: str, text: str, old: str, new: str) -> None:
    assert_restored(text, old, new)


#: A broken graph of which two edits may be the right one, or a sound one.
UNTOUCHED = [
    ("inputs that are exchanged, or one of them transposed", "(float[N,8,4] v, float[N,8,8] p) => (float[a,b,c] y, float[N,8,8] z) { y = MatMul (v, p) z = Transpose <perm = [0,2,1]> (p) }"),
    ("a missing node whose name differs in the count", '(float[N,S] x) => (int64[2] y, int64[2] z) { "/Shape_output_0" = Shape (x) y = Neg ("/Shape_output_0") z = Neg ("/Shape_3_output_0") }'),
    ("a missing node of two unused values in an order that nothing shows", "(float[N,S] x) => (float[N,S] y, float[N,S] z) { exp_1 = Exp (x) abs_1 = Abs (x) sub_1 = Sub (x, x) z = Neg (sub_1) y = Neg (sub_2) }"),
    ("a size of an input that differs from one weight", "(float[N,5] x) => (float[N,2] y) <float[4,2] w> { n = Neg (x) y = MatMul (n, w) }"),
    ("a node that takes indices twice, beside unused values of a TopK", "(float[N,S] x) => (float[N,S] y) <int64[1] k = {2}, int64[2] p = {0,0}> { v, i = TopK (x, k) e = GatherElements <axis = 1> (i, i) t = ReduceMax <axes = [1], keepdims = 1> (e) y = Sub (x, t) }"),
    ("an order of axes, or one Transpose too many", "(float[N,4,S,S] x, float[N,1,S,S] m) => (float[N,4,S,S] y, float[N,4,S,S] z) { t = Transpose <perm = [0,3,2,1]> (x) y = Add (t, m) u = Transpose <perm = [0,1,3,2]> (x) z = Neg (u) }"),
    ("a Cast may be missing before a power of integers", "(float[N,8] x) => (float[N,8] y) <int64 j = {1}, float h = {0.5}> { s = Shape (x) g = Gather (s, j) p = Pow (g, h) y = Div (x, p) }"),
    ("a table of positions fixes a size", "(float[N,S,8] x, float[N,1,8] k) => (float[N,T,8] y) <float[1,5,8] p> { c = Concat <axis = 1> (k, x) y = Add (c, p) }"),
    ("filters that may lack a row", "(float[1,1,9,9] x) => (float[1,1,?,?] y) <float[1,1,1,2] w = {1,2}> { y = Conv <kernel_shape = [2,2]> (x, w) }"),
    ("integers that may be scales or sizes", "(float[1,1,8,8] x) => (float[a,b,c,d] y) <int64[4] s = {1,1,2,2}> { y = Resize <mode = \"nearest\"> (x, , s) }"),
    ("a head size that no factor shows", HEADS.replace("t = {0,0,-1,8}, int64[4] r = {0,0,-1,8}", "t = {0,0,-1,7}, int64[4] r = {0,0,-1,7}").replace("0.594603557", "0.7")),
    ("a size of another axis, which an entry -1 would hide", FOLDED.replace("(n, c, p, two, q, two)", "(n, c, ww, two, q, two)")),
    ("a cycle beside several unused values, of which one fits", "(float[2,4] x, float[2,4] z, float[2,5] u) => (float[2,4] y) { a = Add (x, d) d = Tanh (a) y = Add (d, x) }"),
    ("a cycle where siblings have different values", "(float[N,4] x) => (float[N,4] y) <float h = {0.5}, float k = {2}> { a = Exp (x) b = Mul (h, a) c = Add (x, b) d = Exp (c) e = Mul (f, d) f = Add (c, e) g = Exp (f) i = Mul (k, g) j = Add (f, i) y = Neg (j) }"),
    ("an added Transpose, or a sibling that has one as well", "(float[N,S,4] x) => (float[N,S,4] y, float[S,N,4] z) { a = Neg (x) b = Exp (a) c = Neg (b) d = Exp (c) e = Neg (d) t = Transpose <perm = [1,0,2]> (e) f = Exp (t) g = Neg (x) u = Transpose <perm = [1,0,2]> (g) z = Exp (u) y = Add (x, f) }"),
    ("a pooling that was lost on one of two paths", "(float[1,2,8,8] x) => (float[1,2,4,4] y) <float[2,2,3,3] k, float[2,2,1,1] w> { a = Conv <pads = [1,1,1,1], strides = [2,2]> (x, k) b = Conv <strides = [1,1]> (x, w) y = Add (a, b) }"),
    ("a pooling that was lost before a Resize", "(float[1,2,H,W] x) => (float[1,4,a,b] y) <float[2,2,3,3] k, float[4] two = {1,1,2,2}> { a = Conv <pads = [1,1,1,1]> (x, k) b = Conv <pads = [1,1,1,1]> (a, k) u = Resize <mode = \"nearest\"> (b, , two) y = Concat <axis = 1> (u, a) }"),
    ("a used value of a similar name, beside an unused one that fits", '(float[N,S] other, float[N,S] "past.1.v") => (float[N,S] y, float[N,S] z) { y = Neg ("past.1.k") z = Exp ("past.1.v") }'),
    ("an input that the model converts elsewhere", "(double[2,3] x) => (float[2,2] y, float[2,3] z) <float[3,2] w = {1,2,3,4,5,6}> { y = MatMul (x, w) z = Cast <to = 1> (x) }"),
    ("an output of another name, where two values of the series are no outputs", SERIES.replace("float[N,S] cat_2,", "float[N,S] logits,").replace("float[N,S] cat_1,", "")),
    ("an output of another shape than the outputs of the series", SERIES.replace("float[N,S] cat_2,", "float[N,T] logits,")),
    ("an output whose name is of the series, like the one value that is no output", SERIES.replace("float[N,S] cat_2,", "float[N,S] cat_7,")),
    ("two axes with the number of channels, both less than the window", PATCHES.replace("(float[N,3,H,W] x)", "(float[N,W,3,3] x)")),
    ("an operator with two equally similar names", "(float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Su (x, z) }"),
    ("a bias that is not that of all layers", BIASES.replace("float[2] bias = {1,2}", "float[2] bias = {1,2}, float[2] b = {2,1}").replace("Add (product_1, bias)", "Add (product_1, b)").replace("Add (product_3, bias)", "Add (product_3, bias_1)")),
    ("one of two inputs of which only the shapes are used", "(float[N,S] x, float[N,S] z) => (float[N,S] y) <float h = {0.5}> { a = Add (h) s = Shape (x) t = Shape (z) u = Max (s, t) o = ConstantOfShape (u) y = Add (a, o) }"),
    ("a factor that is computed otherwise in other layers", GATED.replace("Mul (d_4, e_4)", "Mul (p_4, e_4)").replace("Mul (d_2, e_2)", "Mul ( , e_2)")),
    ("a node with another body than that of the same name", "(float[2,3] x, bool c) => (float[2,3] y) { " + BRANCH + BRANCH.replace("Neg", "Exp") + " y = Exp (b) }"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text"), UNTOUCHED)
def test_untouched(what: str, text: str) -> None:
    model = model_of(text)
    for each in [each for each in model.graph.value_info if each.name in ("k", "w")]:
        shape = [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones(shape, np.float32), each.name))
    data = model.SerializeToString()
    assert [each for each in irlint.check(data).findings if each.severity.value != "note"]
    assert irlint.fix(data, unsafe=True).data == irlint.fix(data).data


def stamped(text: str, *, ir_version: int = 8, opset: int = 17) -> ModelProto:
    return onnx.parser.parse_model(f'<ir_version: {ir_version}, opset_import: ["" : {opset}]>\ng {text}')


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("(float[2,3] x) => (float[6] y) <int64[1] t = {6}> { y = Reshape (x, t) }", {"opset": 17}, {"opset": 4}),
        ("(float[2,3] x) => (float[6] y) <int64[1] t = {6}> { y = Reshape (x, t) }", {"opset": 17}, {"opset": 30}),
        ("(float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = Mul (x, w) }", {}, {"ir_version": 1}),
    ],
)
@pytest.mark.oracle
def test_versions_that_run(text: str, right: dict[str, int], wrong: dict[str, int]) -> None:
    feed = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    (expected,), (found,) = outputs(stamped(text, **right), feed), outputs(fixed(stamped(text, **wrong)), feed)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.oracle
def test_a_missing_import_is_the_latest_of_the_file_version() -> None:
    """LayerNormalization is of opset 17, which IR version 8 allows."""
    text = "(float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = LayerNormalization (x, w) }"
    broken = stamped(text)
    del broken.opset_import[:]
    feed = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    (expected,), (found,) = outputs(stamped(text), feed), outputs(fixed(broken), feed)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.oracle
def test_a_missing_import_of_another_domain_is_the_earliest_that_fits() -> None:
    sound = model_of("(int64[2] x) => (string[2] y) { y = ai.onnx.ml.CategoryMapper <cats_int64s = [0, 1], cats_strings = [\"a\", \"b\"]> (x) }")  # fmt: skip
    broken = onnx.ModelProto()
    broken.CopyFrom(sound)
    del broken.opset_import[1]
    after = onnx.load_from_string(fixed(broken))
    assert {each.domain: each.version for each in after.opset_import} == {"": 17, "ai.onnx.ml": 1}
    feed = feeds(sound)
    np.testing.assert_array_equal(outputs(after.SerializeToString(), feed)[0], outputs(sound, feed)[0])


BIASED = """(float[N,2] x) => (float[N,2] y) <float[2] "b.0.bias" = {1,2}> {
  "b.1.bias" = Identity ("b.0.bias") "/b.0/Neg" = Neg (x) "/b.0/Add" = Add ("b.0.bias", "/b.0/Neg") "/b.0/Exp" = Exp ("/b.0/Add")
  "/b.1/Neg" = Neg ("/b.0/Exp") "/b.1/Add" = Add ("b.1.bias", "/b.1/Neg") "/b.1/Exp" = Exp ("/b.1/Add") y = Identity ("/b.1/Exp") }"""


@pytest.mark.oracle
def test_a_missing_node_takes_the_weights_of_its_block() -> None:
    """Exporters store equal weights once, and name the others by an Identity that has no name of a block."""
    sound = model_of(BIASED)
    sound.graph.node[0].name = "Identity_7"
    broken = onnx.ModelProto()
    broken.CopyFrom(sound)
    (lost,) = [node for node in broken.graph.node if node.name == "/b.1/Add"]
    broken.graph.node.remove(lost)
    feed = feeds(sound)
    (expected,), (found,) = outputs(sound, feed), outputs(fixed(broken), feed)
    np.testing.assert_array_equal(found, expected)
    assert any("b.1.bias" in edit.text for edit in irlint.fix(broken, unsafe=True).edits)


def test_a_finding_without_corrections_does_not_count_as_searched() -> None:
    """Three findings of a file are searched. Before the size that is fixed come an operator of a later opset, nodes in
    the wrong order and an output without a shape."""
    model = stamped(
        """(float[b,s,8] x, float[8] w) => (float[b,s,8] y, float[b,s,8] v, float u) {
  v = Neg (k) k = LayerNormalization (x, w) u = Exp (x) q = Mul (x, x) m = ReduceMean <axes = [-1], keepdims = 0> (q)
  r = Sqrt (m) d = Div (x, r) y = Mul (d, w) }""",
        opset=11,
    )
    model.graph.output[2].type.tensor_type.ClearField("shape")
    findings = {each.rule.code: each.suggestion for each in irlint.check(model).findings}
    assert {"IRL104", "IRL118", "IRL509"} <= findings.keys()
    assert findings["IRL608"].startswith("set `keepdims = 1` in ReduceMean[4]")


DENSE = """(float[N,4,8] x) => (float[N,4,8] y) <int64[3] s = {4, 12, 1}> {
  "/b.0/Relu" = Relu (x) "/b.0/Neg" = Neg ("/b.0/Relu") "/b.0/Concat" = Concat <axis = 1> (x, "/b.0/Relu", "/b.0/Neg")
  "/b.0/W" = ConstantOfShape <value = float[1] {0.5}> (s) "/b.0/Conv" = Conv ("/b.0/Concat", "/b.0/W")
  "/b.1/Relu" = Relu ("/b.0/Conv") "/b.1/Neg" = Neg ("/b.1/Relu")
  "/b.1/Concat" = Concat <axis = 1> ("/b.0/Conv", "/b.1/Relu", "/b.1/Neg")
  "/b.1/W" = ConstantOfShape <value = float[1] {0.5}> (s) "/b.1/Conv" = Conv ("/b.1/Concat", "/b.1/W")
  y = Identity ("/b.1/Conv") }"""


@pytest.mark.oracle
def test_a_lost_part_is_not_one_that_is_there_already() -> None:
    sound, broken = model_of(DENSE), model_of(DENSE)
    (node,) = [each for each in broken.graph.node if each.name == "/b.1/Concat"]
    del node.input[1]
    feed = feeds(sound)
    with pytest.raises(Exception, match="Conv"):
        outputs(broken, feed)
    for one, other in zip(outputs(sound, feed), outputs(fixed(broken), feed), strict=True):
        np.testing.assert_array_equal(one, other)


def test_another_number_in_a_name_is_no_slip() -> None:
    model = model_of("(float[N,S] x) => (float[N,S] y) { val_256 = Exp (x) y = Neg (val_257) }")
    for node in model.graph.node:
        node.name = ""
    assert all(edit.kind != "input" for edit in irlint.fix(model, unsafe=True).edits)


@pytest.mark.oracle
@pytest.mark.parametrize("names", [("norm.weight", "norm.bias"), ("norm.bias", "norm.scale")])
def test_a_call_gets_the_constants_that_are_named_after_it(names: tuple[str, str]) -> None:
    sound = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[N,3] x) => (float[N,3] y) { r = Relu (x) n = local.Norm (r, scale, bias) y = Add (n, scale) }
<domain: "local", opset_import: ["" : 17]> Norm (x, scale, bias) => (y) { y = LayerNormalization (x, scale, bias) }"""
    )
    for at, name in enumerate(names):
        sound.graph.initializer.append(helper.make_tensor(name, onnx.TensorProto.FLOAT, [3], [at + 1.0, 2.0, 4.0]))
    given = sorted(names, key=lambda name: name.endswith("bias"))
    sound.graph.node[1].name = "/norm/LayerNormalization"
    sound.graph.node[1].input[1:] = given
    sound.graph.node[2].input[1] = given[0]
    broken = ModelProto()
    broken.CopyFrom(sound)
    del broken.graph.node[1].input[1:]
    feed = feeds(sound)
    with pytest.raises(Exception, match="INVALID_GRAPH"):
        outputs(broken, feed)
    np.testing.assert_array_equal(outputs(fixed(broken), feed)[0], outputs(sound, feed)[0])


def test_no_constant_becomes_an_input_of_another_name() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
g (float[N,3] x) => (float[N,3] y) <float[3] bias = {1, 2, 3}> { y = local.Norm (x) }
<domain: "local", opset_import: ["" : 17]> Norm (x, scale, bias) => (y) { y = LayerNormalization (x, scale, bias) }"""
    )
    found = next(each for each in irlint.check(model).findings if each.rule.code == "IRL507")
    assert (found.suggestion, found.help) == ("", "connect input 1 (scale)")
