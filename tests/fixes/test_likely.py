"""Which of several edits that fit a broken model is suggested: the one that restores it. ONNX Runtime is asked."""

from __future__ import annotations

import re
from pathlib import Path

import numpy
import onnx.helper
import onnx.numpy_helper
import onnx.parser
import pytest
from cases.ir_documents import written
from fixes.test_restored import HEAD, feeds, outputs
from oracles.openvino_worker import outcomes

import irlint
from irlint import parsers
from irlint.findings.edits import Edit
from irlint.fixes.blocks import blocks_of
from irlint.fixes.flow import Flow
from irlint.fixes.inputs import Inputs
from irlint.inference.walk import inferred

#: A sound graph, what is replaced in it, by what, and the suggestion; "=" before it: it is written and restores the graph.
LIKELY = [
    ("a table that is stored transposed", "(int64[S] i, float[4,S] x) => (float[4,S] y) <float[6,4] w> { g = Gather (w, i) t = Transpose <perm = [1,0]> (g) y = Add (t, x) }", "float[6,4] w", "float[4,6] w", "transpose constant `w` with (1, 0), from [4, 6] to [6, 4]"),
    ("filters with exchanged channels", "(float[1,4,3,3] x) => (float[1,2,4,4] y) <float[4,2,2,2] w> { y = ConvTranspose (x, w) }", "[4,2,2,2] w", "[2,4,2,2] w", "transpose constant `w` with (1, 0, 2, 3), from [2, 4, 2, 2] to [4, 2, 2, 2]"),
    ("biases with their last axis moved", "(float[4,9,9] x) => (float[4,9,9] y) <float[4,9,9] w> { r = Relu (x) y = Add (r, w) }", "[4,9,9] w", "[9,9,4] w", "transpose constant `w` with (2, 0, 1), from [9, 9, 4] to [4, 9, 9]"),
    ("strides that a table shows", "(float[1,3,16] x) => (float[1,8,4] y) <float[4,3,3] u, float[4,4,3] v, float[8,4] p> { a = Conv <pads = [1,1]> (x, u) b = Relu (a) c = Conv <pads = [1,1], strides = [2]> (b, v) t = Transpose <perm = [0,2,1]> (c) y = Add (t, p) }", "strides = [2]", "strides = [1]", "set `strides = [2]` in Conv[2], or change 16 to 8 on axis 2 of input `x`, or change 8 to 16 on axis 0 of constant `p`"),
    ("a class token before the others", "(float[N,3,8,8] x) => (float[N,5,4] y) <float[4,3,4,4] w, float[5,4] p, float[4] t, int64[1] z = {0}, int64[1] o = {1}, int64[2] k = {1,4}, int64[3] r = {0,4,-1}> { c = Conv <strides = [4,4]> (x, w) f = Reshape (c, r) q = Transpose <perm = [0,2,1]> (f) h = Shape (x) n = Slice (h, z, o) s = Concat <axis = 0> (n, k) e = Expand (t, s) j = Concat <axis = 1> (e, q) y = Add (j, p) }", "j = Concat <axis = 1> (e, q) y = Add (j, p)", "y = Add (q, p)", "insert a Concat with `axis = 1` of `e`, which nothing uses, and `q` before input 0"),
    ("a start that the other slices have", "(float[N,5,4] x) => (float[N,2,2,4] y, float[N,2,2,4] u, float[N,2,2,4] v) <int64[4] t = {0,2,2,4}, int64[1] a = {1}, int64[1] b = {1}, int64[1] c = {1}, int64[1] e = {9}, int64[1] m = {1}> { f = Slice (x, a, e, m) y = Reshape (f, t) g = Slice (x, b, e, m) u = Reshape (g, t) h = Slice (x, c, e, m) v = Reshape (h, t) }", "c = {1}", "c = {0}", "= change 0 to 1 in constant `c` in Slice[4]"),
    ("a Cast like that of the other input", "(int64[N,S] m, int64[N,S] k) => (bool[N,1,S] y) <int64[1] a = {1}> { c = Cast <to = 9> (k) d = Unsqueeze (c, a) u = Unsqueeze (m, a) b = Cast <to = 9> (u) y = And (d, b) }", "b = Cast <to = 9> (u) y = And (d, b)", "y = And (d, u)", "= insert a Cast with `to = bool` before input 1 in And[3]"),
    ("tuples of indices", "(float[8] x, int64[N] i, float[N] z) => (float[8] y, float[8] v, int64[N,1] w) <int64[1] a = {1}> { n = Abs (i) w = Unsqueeze (i, a) t = Unsqueeze (n, a) y = ScatterND (x, t, z) v = ScatterND (y, t, z) }", "t = Unsqueeze (n, a) y = ScatterND (x, t, z) v = ScatterND (y, t, z)", "y = ScatterND (x, n, z) v = ScatterND (y, n, z)", "insert an Unsqueeze with `axes = [1]` before input 1, and insert an Unsqueeze with `axes = [1]` before input 1 in ScatterND[3]"),
    ("pads as in the other blocks", '(float[N,2,S,T] x) => (float[N,2,?,?] y) <int32[8] q = {0,0,1,1,0,0,1,1}, int64[4] k = {0,1,0,1}> { "/b.0/Cast" = Cast <to = 7> (q) "/b.1/Cast" = Cast <to = 7> (q) "/b.0/Pad" = Pad (x, "/b.0/Cast") "/b.1/Relu" = Relu ("/b.0/Pad") "/b.1/Pad" = Pad ("/b.1/Relu", "/b.1/Cast") y = Relu ("/b.1/Pad") }', 'Pad ("/b.1/Relu", "/b.1/Cast")', 'Pad ("/b.1/Relu", k)', "= connect `/b.1/Cast`, as in other blocks, as input 1"),
    ("groups that fit the filters", "(float[N,8,9] x) => (float[N,6,9] y) <float[8,8,1] u, float[6,4,1] w> { a = Conv (x, u) b = Relu (a) c = Conv (b, u) y = Conv <group = 2> (c, w) }", "group = 2", "group = 1", "= set `group = 2`"),
    ("channels that an input declares", "(float[N,3,9] x) => (float[N,6,9] y) <float[6,3,1] w> { y = Conv (x, w) }", "float[N,3,9] x", "float[N,6,9] x", "change 6 to 3 on axis 1 of input `x`, or change 3 to 6 on axis 1 of constant `w`"),
    ("letters that are exchanged", "(float[N,4] x) => (float[N,4] y) { t = Tanh (x) y = Relu (t) }", "Tanh", "Tahn", "= set op_type to Tanh"),
    ("outputs that are exchanged", "(float[N,4] x) => (float[N,3] y) <int8[4,3] w = {1,2,3,4,5,6,7,8,9,1,2,3}, float s = {0.1}> { q, a, z = DynamicQuantizeLinear (x) m = MatMulInteger (q, w, z) f = Cast <to = 1> (m) t = Mul (a, s) y = Mul (f, t) }", "q, a, z =", "q, z, a =", "= connect `a` as input 2, and connect `z` as input 0 in Mul[3]"),
    ("an index that is left over", "(float[N,S,4] x) => (float[N,3] y) <float[4,3] w, int64 i = {0}> { e = ReduceMean <axes = [1], keepdims = 0> (x) v = Tanh (e) r = Relu (x) g = Gather <axis = 1> (r, i) y = Gemm (g, w) }", "g = Gather <axis = 1> (r, i) y = Gemm (g, w)", "y = Gemm (r, w)", "connect `v`, which nothing uses, as input 0 in Relu[2]"),
    ("the end of an encoder in all blocks of a decoder", '(float[N,S,4] x, float[N,T,8] z) => (float[N,T,6] y) <float[4,4] u, float[4,6] v, float[4,6] w, float[4,6] p, float[4,6] q, float[8,6] a, float[8,6] b> { "/e/layers.0/p/MatMul" = MatMul (x, u) "/e/layers.0/n/Relu" = Relu ("/e/layers.0/p/MatMul") "/e/layers.1/p/MatMul" = MatMul ("/e/layers.0/n/Relu", u) "/e/layers.1/n/Relu" = Relu ("/e/layers.1/p/MatMul") "/d/layers.0/q/MatMul" = MatMul (z, a) "/d/layers.0/k/MatMul" = MatMul ("/e/layers.1/n/Relu", v) "/d/layers.0/v/MatMul" = MatMul ("/e/layers.1/n/Relu", w) "/d/layers.0/t/Transpose" = Transpose <perm = [0,2,1]> ("/d/layers.0/k/MatMul") "/d/layers.0/s/MatMul" = MatMul ("/d/layers.0/q/MatMul", "/d/layers.0/t/Transpose") "/d/layers.0/o/MatMul" = MatMul ("/d/layers.0/s/MatMul", "/d/layers.0/v/MatMul") "/d/layers.1/q/MatMul" = MatMul (z, b) "/d/layers.1/k/MatMul" = MatMul ("/e/layers.1/n/Relu", p) "/d/layers.1/v/MatMul" = MatMul ("/e/layers.1/n/Relu", q) "/d/layers.1/t/Transpose" = Transpose <perm = [0,2,1]> ("/d/layers.1/k/MatMul") "/d/layers.1/s/MatMul" = MatMul ("/d/layers.1/q/MatMul", "/d/layers.1/t/Transpose") "/d/layers.1/o/MatMul" = MatMul ("/d/layers.1/s/MatMul", "/d/layers.1/v/MatMul") y = Add ("/d/layers.0/o/MatMul", "/d/layers.1/o/MatMul") }', 'MatMul ("/e/layers.1/n/Relu", v)', 'MatMul (z, v)', "= connect `/e/layers.1/n/Relu`, as in other blocks, as input 0"),
    ("the length in all targets", "(float[N,17,8] x) => (float[N,17,8] y) <int64[4] t = {-1,17,2,4}, int64[3] u = {-1,17,8}> { r = Reshape (x, t) e = Relu (r) f = Reshape (e, u) y = Add (x, f) }", "{-1,17,2,4}, int64[3] u = {-1,17,8}", "{-1,18,2,4}, int64[3] u = {-1,18,8}", "change 18 to 17 in constant `t` (entry 1), and likewise in `u`"),
    ("filters of adjacent windows", "(float[N,3,8,8] x) => (float[N,4,2,2] y) <float[4,3,4,4] w> { y = Conv <kernel_shape = [4,4], strides = [4,4]> (x, w) }", "float[4,3,4,4] w", "float[4,3,3,3] w", "set `kernel_shape = [3, 3]`"),
    ("channels, with a bias behind an Identity", "(float[N,3,9] x) => (float[N,6,9] y) <float[6,3,1] w, float[6] b> { i = Identity (b) y = Conv (x, w, i) }", "float[N,3,9] x", "float[N,6,9] x", "change 6 to 3 on axis 1 of input `x`, or change 3 to 6 on axis 1 of constant `w`"),
    ("an image with its channels last", "(float[N,3,H,W] x) => (float[N,4,H,W] y) <float[4,3,1,1] w> { y = Conv (x, w) }", "float[N,3,H,W] x", "float[N,H,W,3] x", "declare input `x` as [N, 3, H, W]"),
    ("weights that two products have exchanged", '(float[N,4] x) => (float[N,9] y) <float[4,6] u, float[6,9] v, float[6] b> { m = MatMul (x, u) a = Add (m, b) r = Relu (a) y = MatMul (r, v) }', "m = MatMul (x, u) a = Add (m, b) r = Relu (a) y = MatMul (r, v)", "m = MatMul (x, v) a = Add (m, b) r = Relu (a) y = MatMul (r, u)", "= swap input 1, `v`, with input 1 of MatMul[3], `u`"),
    ("an input that other nodes of the operator have", "(float[N,3,4] x, float[N,3,6] z) => (float[N,3,4] q, float[N,3,4] k, float[N,3,4] v, float[N,3,6] w) <float[4,4] a, float[4,4] b, float[4,4] c> { r = Relu (x) t = Tanh (z) w = Neg (t) q = MatMul (r, a) k = MatMul (r, b) v = MatMul (r, c) }", "MatMul (r, c)", "MatMul (t, c)", "connect `r`, as 2 other MatMul nodes do, as input 0"),
    ("a square image", "(float[1,3,16,16] x) => (float[1,64,4] y) <float[4,3,2,2] w, float[64,4] p, int64[3] t = {1,4,-1}> { c = Conv <strides = [2,2]> (x, w) r = Reshape (c, t) q = Transpose <perm = [0,2,1]> (r) y = Add (q, p) }", "float[1,3,16,16] x", "float[1,3,16,32] x", "change 32 to 16 on axis 3 of input `x`"),
    ("a table for other heads", "(float[N,S,8] x, float[S,T] i) => (float[N,2,S,S] y) <float[8,8] u, float[8,8] v, float[1,2,1,1] p, int64[4] t = {0, 0, -1, 4}, int64[4] r = {0, 0, -1, 4}> { a = MatMul (x, u) b = Reshape (a, t) q = Transpose <perm = [0,2,1,3]> (b) c = MatMul (x, v) d = Reshape (c, r) k = Transpose <perm = [0,2,3,1]> (d) m = MatMul (q, k) y = Add (m, p) }", "float[1,2,1,1] p", "float[1,4,1,1] p", "change 4 to 2 in constant `t` (entry 3), and likewise in `r`, or change 4 to 2 on axis 1 of constant `p`"),
    ("a mask without the axis of the tokens", "(int64[N,S] i, int64[N,S] m) => (float[N,S,4] y) <float[9,4] t, int64[1] k = {2}> { e = Gather (t, i) u = Unsqueeze (m, k) f = Cast <to = 1> (u) y = Mul (e, f) }", "int64[N,S] m", "int64[N] m", "declare input `m` as [N, S]"),
    ("an image without its width", "(float[N,3,H,W] x) => (float[N,4,H,W] y) <float[4,3,1,1] w> { y = Conv (x, w) }", "float[N,3,H,W] x", "float[N,3,H] x", "= declare input `x` as [N, 3, H, x_3]"),
    ("a frame of bytes", "(uint8[N,3,H,W] x) => (float[N,3,H,W] y) <float[3,1,1] m> { c = Cast <to = 1> (x) y = Sub (c, m) }", "c = Cast <to = 1> (x) y = Sub (c, m)", "y = Sub (x, m)", "= insert a Cast with `to = float32` before input 0 in Sub[0]"),
    ("an image of another size than the target was traced with", "(float[1,3,16,16] x) => (float[1,2,2,4,4] y) <float[4,3,3,3] w, int64[5] t = {1,2,2,4,4}> { c = Conv <pads = [1,1,1,1], strides = [2,2]> (x, w) p = MaxPool <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2]> (c) y = Reshape (p, t) }", "float[1,3,16,16] x", "float[1,3,24,24] x", "change 24 to 16 on axes 2 and 3 of input `x`"),
    ("the last part that a Concat lost", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,2] y) <int64[1] o = {1}, int64[3] i = {1,2,5}, float[3,2] w> { u_0 = Unsqueeze (a, o) u_1 = Unsqueeze (b, o) u_2 = Unsqueeze (c, o) j = Concat <axis = 1> (u_0, u_1, u_2) t = Transpose <perm = [0,2,1]> (j) m = MatMul (j, t) f = Flatten (m) g = Gather <axis = 1> (f, i) y = MatMul (g, w) }", "(u_0, u_1, u_2) t", "(u_0, u_1) t", "= connect `u_2`, which nothing uses, as input 2 in Concat[3]"),
    ("the second part that a Concat lost", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,2] y) <int64[1] o = {1}, int64[3] i = {1,2,5}, float[3,2] w> { u_0 = Unsqueeze (a, o) u_1 = Unsqueeze (b, o) u_2 = Unsqueeze (c, o) j = Concat <axis = 1> (u_0, u_1, u_2) t = Transpose <perm = [0,2,1]> (j) m = MatMul (j, t) f = Flatten (m) g = Gather <axis = 1> (f, i) y = MatMul (g, w) }", "(u_0, u_1, u_2) t", "(u_0, u_2) t", "= connect `u_1`, which nothing uses, as input 1 in Concat[3], and connect `u_2` as input 2 in Concat[3]"),
    ("the first part that a Concat lost", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,2] y) <int64[1] o = {1}, int64[3] i = {1,2,5}, float[3,2] w> { u_0 = Unsqueeze (a, o) u_1 = Unsqueeze (b, o) u_2 = Unsqueeze (c, o) j = Concat <axis = 1> (u_0, u_1, u_2) t = Transpose <perm = [0,2,1]> (j) m = MatMul (j, t) f = Flatten (m) g = Gather <axis = 1> (f, i) y = MatMul (g, w) }", "(u_0, u_1, u_2) t", "(u_1, u_2) t", "= connect `u_0`, which nothing uses, `u_1` and `u_2` as inputs 0 to 2 in Concat[3]"),
    ("a lost part without a number", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,2] y) <int64[1] o = {1}, int64[3] i = {1,2,5}, float[3,2] w> { p = Unsqueeze (a, o) q = Unsqueeze (b, o) r = Unsqueeze (c, o) j = Concat <axis = 1> (p, q, r) t = Transpose <perm = [0,2,1]> (j) m = MatMul (j, t) f = Flatten (m) g = Gather <axis = 1> (f, i) y = MatMul (g, w) }", "(p, q, r) t", "(p, q) t", "connect `r`, which nothing uses (check the order of the inputs), as input 2 in Concat[3]"),
    ("a lost part beside a single other part", "(float[N,4] a, float[N,4] b) => (float[N,3] y) <float[8,3] w> { r_1 = Relu (a) r_2 = Relu (b) j = Concat <axis = 1> (r_2, r_1) y = MatMul (j, w) }", "(r_2, r_1)", "(r_2)", "connect `r_1`, which nothing uses (check the order of the inputs), as input 0 in Concat[2], and connect `r_2` as input 1 in Concat[2]"),
    ("a lost part in the order of another Concat", "(float[N,4] a, float[N,4] b) => (float[N,3] y, float[N,8] z) <float[8,3] w> { r_1 = Relu (a) r_2 = Relu (b) j = Concat <axis = 1> (r_2, r_1) y = MatMul (j, w) s_1 = Neg (a) s_2 = Neg (b) z = Concat <axis = 1> (s_2, s_1) }", "(r_2, r_1)", "(r_2)", "= connect `r_1`, which nothing uses, as input 1 in Concat[2]"),
    ("a lost part between descending parts", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,3] y) <float[12,3] w> { r_1 = Relu (a) r_2 = Relu (b) r_3 = Relu (c) j = Concat <axis = 1> (r_3, r_2, r_1) y = MatMul (j, w) }", "(r_3, r_2, r_1)", "(r_3, r_1)", "= connect `r_2`, which nothing uses, as input 1 in Concat[3], and connect `r_1` as input 2 in Concat[3]"),
    ("a lost part in the order of computation that other nodes show", "(float[N,4] a, float[N,4] b) => (float[N,3] y, float[N,8] z) <float[8,3] w> { p = Relu (a) q = Exp (b) j = Concat <axis = 1> (q, p) y = MatMul (j, w) s = Neg (a) t = Abs (b) z = Concat <axis = 1> (t, s) }", "(q, p)", "(p)", "= connect `q`, which nothing uses, as input 0 in Concat[2], and connect `p` as input 1 in Concat[2]"),
    ("two parts that a Concat may have lost", "(float[N,4] a, float[N,4] b, float[N,4] c) => (float[N,2] y) <int64[1] o = {1}, int64[3] i = {1,2,5}, float[3,2] w> { u_0 = Unsqueeze (a, o) u_1 = Unsqueeze (b, o) u_2 = Unsqueeze (c, o) u_3 = Unsqueeze (c, o) j = Concat <axis = 1> (u_0, u_1, u_2) t = Transpose <perm = [0,2,1]> (j) m = MatMul (j, t) f = Flatten (m) g = Gather <axis = 1> (f, i) y = MatMul (g, w) }", "(u_0, u_1, u_2) t", "(u_0, u_1) t", "connect `u_2`, which nothing uses, as input 2 in Concat[4], or connect `u_3`, which nothing uses, as input 2 in Concat[4]"),
    ("a lost part of another width", "(float[N,4] a, float[N,8] b, float[N,2] c) => (float[N,3] y) <float[14,3] w> { r_1 = Relu (a) r_2 = Relu (b) r_3 = Relu (c) j = Concat <axis = 1> (r_1, r_2, r_3) y = MatMul (j, w) }", "(r_1, r_2, r_3)", "(r_1, r_2)", "connect `r_3`, which nothing uses, as input 2 in Concat[3]"),
    ("an unused part of a width that does not fit", "(float[N,4] a, float[N,8] b, float[N,2] c) => (float[N,3] y) <float[12,3] w> { r_1 = Relu (a) r_2 = Relu (b) r_3 = Relu (c) j = Concat <axis = 1> (r_1, r_2) y = MatMul (j, w) }", "float[12,3] w", "float[13,3] w", "change 13 to 12 on axis 0 of constant `w`"),
    ("a summand that a Sum lost", "(float[1,4] a, float[3,1] b) => (float[12] y) <int64[1] t = {12}> { u_0 = Relu (a) u_1 = Relu (b) s = Sum (u_0, u_1) y = Reshape (s, t) }", "(u_0, u_1)", "(u_0)", "connect `u_1`, which nothing uses, as input 1 in Sum[2]"),
    ("groups of two nodes that the others have", "(float[1,8,4,4] x) => (float[1,8,4,4] y) <float[8,4,1,1] w> { a = Conv <group = 2> (x, w) b = Conv <group = 2> (a, w) c = Conv <group = 2> (b, w) y = Conv <group = 2> (c, w) }", "c = Conv <group = 2> (b, w) y = Conv <group = 2> (c, w)", "c = Conv <group = 3> (b, w) y = Conv <group = 3> (c, w)", "= set `group = 2`, and set `group = 2` in Conv[3]"),
    ("equal parts of a longer input", "(float[N,8,3] x) => (float[N,?,3] y, float[N,?,3] z) <int64[2] k = {4,4}> { a, b = Split <axis = 1> (x, k) y = Neg (a) z = Exp (b) }", "float[N,8,3] x", "float[N,10,3] x", "change 4 to 5 in constant `k` (entries 0 and 1), or change 10 to 8 on axis 1 of input `x`"),
    ("equal parts that are added", "(float[N,8,3] x) => (float[N,4,3] y) <int64[2] k = {4,4}> { r = Relu (x) a, b = Split <axis = 1> (r, k) y = Add (a, b) }", "{4,4}", "{3,3}", "change 3 to 4 in constant `k` (entries 0 and 1)"),
    ("parts before a weight", "(float[N,10,3] x) => (float[N,4,3] y, float[N,5,3] z) <int64[2] k = {4,6}, float[5,6,1] w> { r = Relu (x) a, b = Split <axis = 1> (r, k) y = Neg (a) z = Conv (b, w) }", "{4,6}", "{4,4}", "= change 4 to 6 in constant `k` (entry 1)"),
    ("three equal parts of a computed axis", "(float[N,4] x) => (float[N,?] y, float[N,?] z, float[N,?] u) <int64[3] k = {4,4,4}, float[4,12] w> { m = MatMul (x, w) a, b, c = Split <axis = 1> (m, k) y = Neg (a) z = Exp (b) u = Abs (c) }", "{4,4,4}", "{2,2,2}", "change 2 to 4 in constant `k` (entries 0, 1 and 2)"),
    ("a table of biases that two nodes use", "(float[N,4,5,5] x, float[N,1,1,5] m) => (float[N,4,5,5] y) <int64[5,5] i = {0,1,2,3,4,1,0,1,2,3,2,1,0,1,2,3,2,1,0,1,4,3,2,1,0}, float[7,4] w, float k = {3}, int64[1] z = {0}> { q = Mul (m, k) g = Gather (w, i) t = Transpose <perm = [2,0,1]> (g) b = Unsqueeze (t, z) c = Add (x, b) d = Softmax (c) e = Add (d, b) f = Relu (e) h = Add (f, q) l = Relu (h) y = Add (l, q) }", "float[7,4] w", "float[7,6] w", "change 4 to 6 on axis 1 of input `x`, or change 6 to 4 on axis 1 of constant `w`; then update 1 declaration"),
    ("another value than one that a body uses", "(float[N,4] x, bool c) => (float[N,3] y, float[N,8] t, float[N,4] w) <float[4,8] a, float[8,3] b> { v = Relu (x) t = MatMul (x, a) y = MatMul (t, b) w = If (c) <then_branch = t () => (float[N,4] p) { p = Neg (v) }, else_branch = e () => (float[N,4] q) { q = Abs (v) }> }", "y = MatMul (t, b)", "y = MatMul (v, b)", "connect `t` as input 0"),
]  # fmt: skip


def model_of(text: str) -> onnx.ModelProto:
    """The model of a graph; constants of floats without numbers get random ones."""
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    for node in model.graph.node:
        node.name = node.output[0]
    for at, value in enumerate(model.graph.value_info):
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT and all(shape):
            numbers = numpy.random.default_rng(at).standard_normal(shape).astype("float32")
            model.graph.initializer.append(onnx.numpy_helper.from_array(numbers, value.name))
    del model.graph.value_info[:]
    return model


def assert_suggested(text: str, old: str, new: str, expected: str) -> None:
    """Breaks a sound graph, and compares the suggestion. ONNX Runtime runs both, and the model with a written edit."""
    assert text.count(old) == 1
    sound, broken = model_of(text), model_of(text.replace(old, new))
    feed = feeds(sound)
    wanted = outputs(sound, feed)
    with pytest.raises(Exception, match=r"."):
        outputs(broken, feed)
    assert not [each for each in irlint.check(sound, ignore=["IRL9"]).findings if each.severity.value == "error"]
    root = next(each for each in irlint.check(broken, ignore=["IRL9"]).findings if each.severity.value != "note")
    assert root.suggestion.partition(";")[0] in expected
    assert (root.fix is not None) == expected.startswith("=")
    if root.fix is not None:
        found = outputs(irlint.fix(broken.SerializeToString(), unsafe=True).data, feed)
        assert all(numpy.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


@pytest.mark.oracle
@pytest.mark.parametrize(("what", "text", "old", "new", "expected"), LIKELY)
def test_the_edit_that_restores_a_model_is_suggested(what: str, text: str, old: str, new: str, expected: str) -> None:
    assert_suggested(text, old, new, expected)


#: What is wrong in the Parameter of the past keys of a second layer, and the suggestion.
PAST = [
    ('element_type="f32"', 'element_type="f16"', "FP32", "FP16", 'declare input "past.1.k" as float32 in Parameter (layer 1)'),
    ('shape="?,2,?,4"', 'shape="?,3,?,4"', "<dim>2</dim>", "<dim>3</dim>", 'change 3 to 2 on axis 1 of input "past.1.k" in Parameter (layer 1)'),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("sound", "wrong", "port", "other", "expected"), PAST)
def test_an_input_is_declared_as_those_with_similar_names(
    sound: str, wrong: str, port: str, other: str, expected: str, tmp_path: Path
) -> None:
    import openvino
    from openvino import opset13 as op

    pasts = [op.parameter([-1, 2, -1, 4], numpy.float32, name=f"past.{at}.k") for at in range(2)]
    x = op.parameter([-1, 2, -1, 4], numpy.float32, name="x")
    joined = [op.result(op.concat([past, op.relu(x)], 2), name=f"present.{at}") for at, past in enumerate(pasts)]
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model(joined, [*pasts, x], "m"), path, compress_to_fp16=False)
    text = path.read_text()
    assert not irlint.check(path).findings
    at = text.index('name="past.1.k"')
    layer = text[at : text.index("</layer>", at)]
    assert sound in layer
    path.write_text(text.replace(layer, layer.replace(sound, wrong).replace(port, other)))
    assert outcomes([path])[0][0] != "ok"
    (found,) = [each for each in irlint.check(path).findings if each.suggestion]
    assert found.suggestion == expected
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert path.read_text() == text


#: A graph of which other values are connected as inputs of nodes (node, input, value), and whether that breaks it.
FLOWS = [
    ("(float[N,4] x) => (float[N,4] y) { a = Neg (x) b = Abs (a) y = Exp (b) }", ("a", 0, "b"), True),
    ("(float[N,4] x) => (float[N,4] y) { a = Neg (x) b = Abs (a) y = Exp (b) }", ("y", 0, "a"), False),
    ("(float[N,4] x) => (float[N,4] y) <float[4] w = {1,2,3,4}> { s = Shape (x) e = Expand (w, s) b = Abs (x) y = Exp (b) }", ("y", 0, "e"), True),
    ("(float[N,4] x) => (int64[2] y) { s = Shape (x) b = Cast <to = 7> (x) y = Neg (b) }", ("y", 0, "s"), False),
    ("(float[N,4] x, float[N,4] z) => (float[N,4] y) { a = Add (x, z) b = Abs (x) y = Exp (a) }", ("y", 0, "b"), True),
    ("(float[N,4] x, float[N,4] z) => (float[N,4] y, float[N,4] v) { a = Add (x, z) v = Abs (z) y = Exp (a) }", ("y", 0, "x"), False),
    ("(float[N,4] x) => (float[N,4] y) { a = Neg (y) y = Exp (a) }", ("a", 0, "x"), False),
]  # fmt: skip


@pytest.mark.parametrize(("text", "edit", "expected"), FLOWS)
def test_an_edit_makes_no_cycle_and_keeps_what_inputs_do(text: str, edit: tuple[str, int, str], expected: bool) -> None:
    model = parsers.read("m.onnx", model_of(text).SerializeToString())
    assert model.graph is not None
    label, port, value = edit
    node = next(each for each in model.graph.nodes if each.label == label)
    connected = Edit("input", "node", "", label, node.index, value=value, input=port)
    assert Flow(inferred(model), model.graph).is_broken_by([connected]) == expected


@pytest.mark.oracle
@pytest.mark.parametrize(("shape", "dims"), [("4,1,3,3", (4, 1, 3, 3)), ("1,4,1,3,3", (1, 4, 1, 3, 3))])
def test_a_constant_gets_the_shape_that_its_port_declares(shape: str, dims: tuple[int, ...], tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    x = op.parameter([1, 4, 8, 8], numpy.float32, name="x")
    weights = op.constant(numpy.arange(36, dtype="float32").reshape(4, 1, 1, 3, 3), name="w")
    y = op.group_convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1])
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(y)], [x], "m"), path, compress_to_fp16=False)
    text = path.read_text()
    at = text.index('name="w"')
    layer = text[at : text.index("</layer>", at)]
    begin, end = layer.index("<dim>"), layer.rindex("</dim>") + len("</dim>")
    wrong = layer[:begin] + "".join(f"<dim>{dim}</dim>" for dim in dims) + layer[end:]
    assert 'shape="4, 1, 1, 3, 3"' in wrong
    path.write_text(text.replace(layer, wrong.replace("4, 1, 1, 3, 3", shape)))
    assert outcomes([path])[0][0] != "ok"
    (found,) = [each for each in irlint.check(path).findings if each.suggestion]
    assert found.suggestion.startswith('set shape="4,1,1,3,3" in Const (layer')
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert outcomes([path])[0][0] == "ok"
    assert not irlint.check(path).findings


@pytest.mark.oracle
def test_an_entry_of_a_port_map_takes_one_element_at_a_time(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[2] / "fixtures/openvino/bad/IRL153-slices-uneven.xml"
    path = written(tmp_path, fixture.read_text(), b"")
    (found,) = irlint.check(path).findings
    assert found.suggestion == 'set stride="1" in entry 1 of the port map'
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert outcomes([path])[0][0] == "ok"
    assert not irlint.check(path).findings


@pytest.mark.oracle
def test_a_converted_value_gets_the_element_type_that_is_declared(tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    m, k, z = (op.parameter([2, 3], numpy.int64, name=name) for name in ("m", "k", "z"))
    casts = [op.convert(m, "boolean", name="mask"), op.convert(op.parameter([2, 3], numpy.int32, name="p"), "i64")]
    fed = casts[1].input_value(0).get_node()
    counts = [op.convert(op.relu(each), "f32") for each in (k, z)]
    joined = op.logical_and(casts[0], op.greater(k, z))
    results = [op.result(each) for each in (joined, casts[1], *counts)]
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model(results, [m, k, z, fed], "m"), path, compress_to_fp16=False)
    text = path.read_text()
    assert not irlint.check(path).findings
    path.write_text(text.replace('destination_type="boolean"', 'destination_type="i64"'))
    assert outcomes([path])[0][0] != "ok"
    found = next(each for each in irlint.check(path).findings if each.severity.value == "error")
    assert found.suggestion.startswith('set destination_type="boolean" in Convert')
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert path.read_text() == text


@pytest.mark.oracle
def test_both_pads_are_those_of_another_convolution(tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    x = op.parameter([1, 4, 200], numpy.float32, name="x")
    y = x
    for at in range(2):
        weights = op.constant(numpy.ones((4, 4, 3), "float32"), name=f"w{at}")
        y = op.convolution(y, weights, [2], [1], [1], [1], name=f"c{at}")
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(y)], [x], "m"), path, compress_to_fp16=False)
    text = path.read_text()
    at = text.index('name="c1"')
    layer = text[at : text.index("</layer>", at)]
    wrong = layer.replace('pads_begin="1"', 'pads_begin="0"').replace('pads_end="1"', 'pads_end="0"')
    assert wrong.count('="0"') == layer.count('="0"') + 2
    path.write_text(text.replace(layer, wrong))
    (shape,) = [each.partial_shape for each in openvino.Core().read_model(path).outputs]
    assert shape[2].get_length() == 49
    found = [each for each in irlint.check(path).findings if not each.because]
    assert found[0].suggestion.partition(";")[0] == 'set pads_begin="1" and pads_end="1"'
    path.write_bytes(irlint.fix(path, unsafe=True).data)
    assert path.read_text() == text


LOOPED = """(int64 n, float[N,3] x, float[4,5,3] k) => (float[N,3] y) <bool c = {1}> {
  y = Loop (n, c, x) <body = b (int64 i, bool d, float[N,3] s) => (bool e, float[N,3] u) {
    e = Identity (d) g = Gather (k, i) m = ReduceSum <keepdims = 1> (g) u = Add (s, m) }> }"""


@pytest.mark.oracle
@pytest.mark.parametrize(("entry", "other"), [("2", "3"), ("3", "2")])
def test_a_parameter_gets_the_input_that_fits_it(entry: str, other: str, tmp_path: Path) -> None:
    """Two entries of a port map have one Parameter; OpenVINO gives the other one no value."""
    import openvino

    onnx.save(onnx.parser.parse_model(f"{HEAD}g {LOOPED}"), tmp_path / "m.onnx")
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.convert_model(tmp_path / "m.onnx"), path, compress_to_fp16=False)
    text = path.read_text()
    assert not irlint.check(path).findings
    ids = dict(re.findall(r'<input external_port_id="(\d)" internal_layer_id="(\d)"', text))
    start = f'<input external_port_id="{entry}" internal_layer_id='
    path.write_text(text.replace(f'{start}"{ids[entry]}"', f'{start}"{ids[other]}"'))
    root = next(each for each in irlint.check(path).findings if each.suggestion)
    assert root.suggestion.startswith(f'set internal_layer_id="{ids[entry]}" in entry')
    assert irlint.fix(path, unsafe=True).data == text.encode()


PATCHES = """(float[N,H,W,2] x) => (float[?,?,?,8] y) <int64[1] o = {0}, int64[1] i = {1}, int64[1] e = {9223372036854775807}, int64[1] two = {2}, int64[1] h = {1}, int64[1] w = {2}, int64[1] v = {2}> {
  a = Slice (x, o, e, h, two) b = Slice (x, i, e, h, two) p = Slice (a, o, e, w, two) q = Slice (b, o, e, v, two)
  r = Slice (a, i, e, w, two) s = Slice (b, i, e, w, two) y = Concat <axis = 3> (p, q, r, s) }"""


@pytest.mark.oracle
def test_an_axis_that_explains_a_declared_size_and_conditions_that_no_sizes_meet(tmp_path: Path) -> None:
    import openvino

    onnx.save(onnx.parser.parse_model(f"{HEAD}g {PATCHES}"), tmp_path / "m.onnx")
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.convert_model(tmp_path / "m.onnx"), path, compress_to_fp16=False)
    weights = path.with_suffix(".bin")
    text, size = path.read_text(), weights.stat().st_size
    weights.write_bytes(weights.read_bytes() + numpy.int64(3).tobytes())
    (offset,) = re.findall(r'name="v" type="Const" version="opset1">\s*<data [^>]*offset="(\d+)"', text)
    path.write_text(re.sub(rf'(name="v" type="Const".*?offset=)"{offset}"', rf'\1"{size}"', text, flags=re.DOTALL))
    broken = openvino.compile_model(path, "CPU")
    with pytest.raises(RuntimeError, match="Concat node"):
        broken({0: numpy.zeros((1, 4, 4, 2), "float32")})
    found = [each for each in irlint.check(path).findings if each.severity.value == "error"]
    assert {each.rule.code for each in found} == {"IRL601", "IRL609"}
    (root,) = [each for each in found if not each.because]
    assert root.suggestion.startswith("change 3 to 2 in constant layer")


def test_an_undefined_value_is_replaced_once_at_each_input() -> None:
    model = model_of("(float[2,3] x) => (float[2,3] y) { a = Relu (x) y = Add (u, u) }")
    known = inferred(parsers.read("m.onnx", model.SerializeToString()))
    assert known.model.graph is not None
    node = known.model.graph.nodes[-1]
    (found,) = Inputs(blocks_of(known, known.model.graph).editor).with_unused([node], {node: 0})
    assert [(edit.value, edit.input) for edit in found.edits] == [("a", 0), ("a", 1)]
