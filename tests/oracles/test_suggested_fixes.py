"""Broken models after their suggested fixes: ONNX Runtime computes what it does for the sound model."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : {}]>\ng '

#: A sound graph, and behind | what of its text is replaced by what, and the edits that fix that.
BROKEN = """
(float[1,64] x, float[10,64] w) => (float[1,10] y) { y = Gemm <transB = 1> (x, w) } | transB = 1 > transB = 0 | set `transB = 1` in Gemm[0]
(float[1,64] x, float[10,64] w) => (float[1,10] y) { y = Gemm <transB = 1> (x, w) } | transB > trnasB | rename the attribute `trnasB` to `transB` in Gemm[0]
(float[2,8,4] x) => (float[8,2,4] y) { y = Transpose <perm = [1,0,2]> (x) } | [1,0,2] > [1,0,2,3] | set `perm = [1, 0, 2]` in Transpose[0]
(float[2,3] x) => (float[2,3] y) { z = Relu (x) y = Exp (z) } | Relu > Rleu | set op_type to Relu in Rleu[0]
(float[2,3] x) => (float[2,3] y) { middle = Relu (x) y = Exp (middle) } | Exp (middle) > Exp (midle) | connect `middle` as input 0 in Exp[1]
(float[2,3] x) => (float[2,3] result) { z = Relu (x) result = Exp (z) } | result = Exp > reslt = Exp | rename `reslt` to `result`
(int64[2,3] x, float[2,3] z) => (float[2,3] y) { c = Cast <to = 1> (x) y = Mul (c, z) } | c = Cast <to = 1> (x) y = Mul (c, z) > y = Mul (x, z) | insert a Cast with `to = float32` before input 0 in Mul[0]
(float[2,3,4] x, float[3,2,5] z) => (float[3,4,5] y) { t = Transpose <perm = [1,2,0]> (x) y = MatMul (t, z) } | t = Transpose <perm = [1,2,0]> (x) y = MatMul (t, z) > y = MatMul (x, z) |
(float[2,3] x, float[2,3,4] z) => (float[2,3,4] y) <int64[1] a = {2}> { u = Unsqueeze (x, a) y = Add (u, z) } | u = Unsqueeze (x, a) y = Add (u, z) > y = Add (x, z) | insert an Unsqueeze with `a` as input 1 before input 0 in Add[0]
(float[2,48,8] x) => (float[2,48,4,2] y) <int64[4] t = {2, 48, 4, -1}> { y = Reshape (x, t) } | 48, 4, -1} > 47, 4, -1} | change 47 to 48 in constant `t` (entry 1)
(float[4,3] x) => (float[4,5] y) <float[3,5] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15}> { z = Relu (x) y = MatMul (z, w) } | float[4,3] x > float[4,7] x |
(float[2,3] x) => (float[2,3] y) <float[3] w = {1, 2, 3}> { y = Mul (x, w) } | float[3] w = {1, 2, 3} > float16[3] w = {15360, 16384, 16896} | store constant `w` as float32
(float[8,4] x, float[2,8] z) => (float[2,4] y) { y = MatMul (z, x) } | (z, x) > (x, z) | swap
(float[2,3] x) => (float[3] y) { y = ReduceSum <axes = [0], keepdims = 0> (x) } | keepdims = 0 > keepdims = 1 | | 11
(float[2,3] x) => (float[1,2,3] y) <int64[1] a = {0}> { y = Unsqueeze (x, a) } | | import opset 13 of ai.onnx | 11 13
(float[2,12] x) => (float[3,2,4] y) <int64[3] t = {2, 3, 4}> { a = Relu (x) r = Reshape (a, t) y = Transpose <perm = [1,0,2]> (r) } | r = Reshape (a, t) y = Transpose <perm = [1,0,2]> (r) > y = Transpose <perm = [1,0,2]> (a) | insert a Reshape with `t` as input 1 before input 0 in Transpose[1]
(float[4,3,1] x, float[3,5] z) => (float[5,4] u, float[5,4] v) { s = Squeeze <axes = [2]> (x) t = MatMul (s, z) u = Transpose <perm = [1,0]> (t) w = MatMul (s, z) v = Transpose <perm = [1,0]> (w) } | s = Squeeze <axes = [2]> (x) > s = Identity (x) | | 11
(float[N,4] x, float[4,3] w) => (float[N,3] y) { r = Relu (x) y = Gemm (r, w) } | Gemm (r > Gemm <transA = 1> (r | set `transA = 0` in Gemm[1]
(float[N,S,2,8] q, float[N,2,8,S] k) => (float[N,2,S,S] y) { r = Relu (q) t = Transpose <perm = [0,2,1,3]> (r) y = MatMul (t, k) } | t = Transpose <perm = [0,2,1,3]> (r) > t = Identity (r) | insert a Transpose with `perm = [0, 2, 1, 3]` before input 0 in MatMul[2]
(float[1,2,h,w] x) => (float[1,4,c,d] y) <int64[1] i = {3}, int64[1] j = {3}, int64[1] two = {2}, int64[3] none = {0, 0, 0}> { p = MaxPool <kernel_shape = [2,2], strides = [2,2], ceil_mode = 1> (x) s = Shape (x) t = Shape (p) a = Gather (s, i) b = Gather (t, j) d = Sub (a, b) e = Div (d, two) f = Sub (d, e) m = Concat <axis = 0> (none, e, none, f) q = Pad (p, m) k = MaxPool <kernel_shape = [1,1], strides = [2,1]> (x) y = Concat <axis = 1> (k, q) } | j = {3} > j = {2} | change 2 to 3 in constant `j`
(float[2,h] x) => (float[c,d,e] y) <int64[1] i = {1}, int64[1] seven = {7}, int64[1] six = {6}, int64[3] none = {0, 0, 0}, int64[1] w = {7}, int64[1] k = {2}> { s = Shape (x) n = Gather (s, i) m = Mul (n, six) r = Mod (m, seven) p = Concat <axis = 0> (none, r) q = Pad (x, p) t = Shape (q) u = Gather (t, i) v = Div (u, seven) c = Concat <axis = 0> (k, v, w) y = Reshape (q, c) } | w = {7} > w = {14} | change 14 to 7 in constant `w`
(float[b,s,8] x) => (float[b,s,2,4] y, float[b,s,4,2] z) <int64 i = {0}, int64 j = {1}, int64[1] a = {0}, int64[1] two = {2}, int64[1] four = {4}> { h = Shape (x) n = Gather (h, i) k = Shape (x) m = Gather (k, j) p = Unsqueeze (n, a) q = Unsqueeze (m, a) t = Concat <axis = 0> (p, q, two, four) y = Reshape (x, t) r = Unsqueeze (n, a) u = Concat <axis = 0> (r, q, four, two) z = Reshape (x, u) } | int64 i = {0} > int64[1] i = {1} | change 1 to 0 in constant `i`, reshape constant `i` from [1] to []
(float[N,4,past,8] k, float[N,4,past,8] v, float[N,4,past,8] w, float[N,4,s,8] x) => (float[N,4,t,8] a, float[N,4,t,8] b, float[N,4,t,8] c) { a = Concat <axis = 2> (k, x) b = Concat <axis = 2> (v, x) c = Concat <axis = 2> (w, x) } | float[N,4,past,8] w > float[N,past,4,8] w | declare input `w` as [N, 4, past, 8]
(float[N,H,W,3] x, float[4,3,3,3] w) => (float[N,4,a,b] y) <float[3,1,1] m = {1,2,3}, float[3,1,1] d = {4,5,6}> { t = Transpose <perm = [0,3,1,2]> (x) s = Sub (t, m) r = Div (s, d) y = Conv <pads = [1,1,1,1]> (r, w) } | float[3,1,1] m = {1,2,3}, float[3,1,1] d > float[3] m = {1,2,3}, float[3] d | reshape constant `m` from [3] to [3, 1, 1], reshape constant `d` from [3] to [3, 1, 1]
(uint8[1,2,4,4] x) => (uint8[1,2,4,4] y) <float s = {0.125}, float[2] r = {0.5, 0.25}, uint8 z = {0}, uint8[2,2,1,1] w = {1, 2, 3, 4}, int32[2] b = {20, 16}> { y = QLinearConv (x, s, z, w, r, z, s, z, b) } | int32[2] b = {20, 16} > float[2] b = {1.25, 0.5} | store constant `b` as int32, change [1.25, 0.5] to [20, 16] in constant `b`
(float[2] x) => (float[2] y) <float[2] b = {1.5, 2.5}, int64[1] o = {0}> { s = Slice (x, o, o) y = Add (x, b) } | b = {1.5, 2.5}, int64[1] o = {0} > b = {1.5, 2.5}, float[1] o = {0.5} |
(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) } | float[1,3,8,8] x > float[1,8,3,8] x | change 8 and 3 to 3 and 8 on axes 1 and 2 of input `x`
(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) } | float[1,3,8,8] x > float[3,8,8] x |
(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv <pads = [0,0,0,0]> (x, w) } | pads > padding | rename the attribute `padding` to `pads` in Conv[0]
(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv <group = 1> (x, w) } | group = 1 > group = 3 | set `group = 1` in Conv[0]
(float[2,5] x) => (float[2] y) <int64[1] b = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {1}> { s = Slice (x, b, e, a) y = Squeeze (s, a) } | e = {9223372036854775807} > e = {0} | change 0 to 9223372036854775807 in constant `e`
(float[2,9] x, float[2,4] z) => (float[2,4] y) <int64[1] b = {3}, int64[1] e = {7}, int64[1] a = {1}> { s = Slice (x, b, e, a) y = Add (s, z) } | e = {7} > e = {1} | change 1 to 7 in constant `e`
(float[1,8,4,4] x, float[4,128] w) => (float[1,4] y) { r = Relu (x) f = Flatten <axis = 1> (r) y = Gemm <transB = 1> (f, w) } | axis = 1 > axis = 3 | set `axis = 1` in Flatten[1]
(float[1,8,6,6] x, float[8,8,3,3] u, float[8,8,3,3] v, float[4,288] w) => (float[1,4] y) { a = Conv <pads = [1,1,1,1]> (x, u) b = Conv <pads = [1,1,1,1]> (a, v) f = Flatten (b) y = Gemm <transB = 1> (f, w) } | [1,1,1,1]> (a > [0,0,0,0]> (a | set `pads = [1, 1, 1, 1]` in Conv[1]
(float[2,3] x) => (float[2,3] y) { t = Constant <value = int64 {0}> () c = Cast <to = 1> (t) y = Clip (x, c) } | Clip (x, c) > Clip (x, t) | connect `c`, which nothing uses, as input 1 in Clip[2]
(float[1,8,8,8] x, float[8,8,3,3] w, float[4,32] v) => (float[1,4] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) c = Conv (p, w) f = Flatten (c) y = Gemm <transB = 1> (f, v) } | Conv (p > Conv (x | connect `p`, which nothing uses, as input 0 in Conv[1]
(float[2,3] x) => (float[2,3] y) { add_output = Relu (x) y = Exp (add_output) } | add_output = Relu > add_outputx = Relu | connect `add_outputx` as input 0 in Exp[1]
(float[2,8] x) => (float[2,2,4] y) <int64[3] t = {2, 2, 4}> { y = Reshape (x, t) } | {2, 2, 4} > {2, 2, 0} | change 0 to 4 in constant `t` (entry 2)
(float[batch,6] x) => (float[batch,2,3] y) <int64[3] t = {0, 2, 3}> { y = Reshape (x, t) } | {0, 2, 3} > {4, 2, 3} | change 4 to 0 in constant `t` (entry 0)
(float[2,3] x) => (float[2,3] y, float[2,3] z) { middle = Relu (x) y = Exp (middle) z = Neg (middle) } | middle = Relu > middle_0 = Relu | connect `middle_0` as input 0 in Exp[1], connect `middle_0` as input 0 in Neg[2]
(float[2,3] x, float[2,3] v) => (float[2,3] y, float[2,3] z) { hidden = Relu (x) y = Exp (hidden) z = Neg (hidden) } | hidden = Relu > model_hidden = Relu | connect `model_hidden`, which nothing uses, as input 0 in Exp[1], connect `model_hidden`, which nothing uses, as input 0 in Neg[2]
(float[2,3] x, bool c) => (float[2,3] y, float[2,3] z) { middle = Relu (x) y = Exp (middle) z = If (c) <then_branch = t () => (float[2,3] u) { u = Neg (middle) }, else_branch = e () => (float[2,3] w) { w = Abs (middle) }> } | middle = Relu > middle_0 = Relu | connect `middle_0` as input 0 in Exp[1], connect `middle_0` as input 0 in Neg[0], connect `middle_0` as input 0 in Abs[0]
(float[b,3,4] x, float[4,4] w) => (float[b,3,4] y) <float[4] v = {1,2,3,4}> { m = MatMul (x, w) y = Add (m, v) } | float[4] v = {1,2,3,4} > float[3] v = {1,2,3} |
(float[b,s,8] q) => (float[b,4,s,2] y, float[b,4,s,2] z) <int64[4] t = {0,0,4,2}> { r = Reshape (q, t) y = Transpose <perm = [0,2,1,3]> (r) k = Reshape (q, t) l = Transpose <perm = [0,2,1,3]> (k) z = Add (l, y) } | l = Transpose <perm = [0,2,1,3]> (k) z = Add (l, y) > z = Add (k, y) | insert a Transpose with `perm = [0, 2, 1, 3]` before input 0 in Add[3]
(float[b,4,4] x, float[b,4,4] k) => (float[b,2,4,4] y) <int64[4] t = {0, 0, 2, 2}, int64[4] u = {0, 0, 2, 2}> { q = Reshape (x, t) r = Transpose <perm = [0,2,1,3]> (q) j = Reshape (k, u) l = Transpose <perm = [0,2,3,1]> (j) y = MatMul (r, l) } | {0, 0, 2, 2}, int64[4] u = {0, 0, 2, 2} > {0, 0, 3, 2}, int64[4] u = {0, 0, 3, 2} | change 3 to 2 in constant `t` (entry 2), change 3 to 2 in constant `u` (entry 2)
(float[2,6] x) => (float[2,4] y) <float[6,4] w = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24}> { y = MatMul (x, w) } | float[6,4] w > float[24] w | reshape constant `w` from [24] to [6, 4]
(float[2,6] x, float[6,4] w, float[4] v) => (float[2,4] y) { y = Gemm (x, w, v) } | (x, w, v) > (v, w, x) | swap
(float[2,6] x, float[6,4] w) => (float[2,4] y) { y = MatMul (x, w) } | = MatMul > = onnx.MatMul | set the domain to "" in MatMul[0]
(float[1,2,4,5] x, float[3,2,3,3] w) => (float[1,3,4,5] y) <int64[8] p = {0,0,1,1,0,0,1,1}> { n = Transpose <perm = [0,2,3,1]> (x) r = Exp (n) t = Transpose <perm = [0,3,1,2]> (r) q = Pad (t, p) y = Conv (q, w) } | t = Transpose <perm = [0,3,1,2]> (r) q = Pad (t, p) > q = Pad (r, p) | set `perm = [0, 1, 2, 3]` in Transpose[0]
(float[b,4,5,2] x, float[3,2,3,3] w) => (float[b,3,4,5] y) <int64[8] p = {0,0,1,1,0,0,1,1}> { t = Transpose <perm = [0,3,1,2]> (x) q = Pad (t, p) y = Conv (q, w) } | t = Transpose <perm = [0,3,1,2]> (x) q = Pad (t, p) > q = Pad (x, p) | insert a Transpose with `perm = [0, 3, 1, 2]` before input 0 in Pad[0]
(float[b,12,8] x, float[8,8] w, float[8,8] v) => (float[b,12,8] y) <int64[4] t = {0, -1, 2, 4}, int64[3] u = {0, -1, 8}> { f = MatMul (x, w) g = Reshape (f, t) q = Transpose <perm = [0,2,1,3]> (g) h = MatMul (x, v) i = Reshape (h, t) k = Transpose <perm = [0,2,1,3]> (i) l = Transpose <perm = [0,1,3,2]> (k) a = MatMul (q, l) o = MatMul (a, k) m = Transpose <perm = [0,2,1,3]> (o) y = Reshape (m, u) } | l = Transpose <perm = [0,1,3,2]> (k) a = MatMul (q, l) > a = MatMul (q, k) | insert a Transpose with `perm = [0, 1, 3, 2]` before input 1 in MatMul[6]
(float[b,12,8] x, float[8,8] w, float[8,8] v) => (float[b,12,8] y) <int64[4] t = {0, -1, 2, 4}, int64[3] u = {0, -1, 8}> { f = MatMul (x, w) g = Reshape (f, t) q = Transpose <perm = [0,2,1,3]> (g) h = MatMul (x, v) i = Reshape (h, t) k = Transpose <perm = [0,2,1,3]> (i) l = Transpose <perm = [0,1,3,2]> (k) a = MatMul (q, l) o = MatMul (a, k) m = Transpose <perm = [0,2,1,3]> (o) y = Reshape (m, u) } | q = Transpose <perm = [0,2,1,3]> (g) h = MatMul (x, v) > q = Identity (g) h = MatMul (x, v) | insert a Transpose with `perm = [0, 2, 1, 3]` before input 0 in MatMul[7]
(float[b,3,16,16] x, float[6,3,4,4] w, float[6,5] v) => (float[b,16,5] y) <int64[3] t = {0, 6, -1}> { c = Conv <strides = [4,4]> (x, w) r = Reshape (c, t) p = Transpose <perm = [0,2,1]> (r) y = MatMul (p, v) } | p = Transpose <perm = [0,2,1]> (r) y = MatMul (p, v) > y = MatMul (r, v) | insert a Transpose with `perm = [0, 2, 1]` before input 0 in MatMul[2]
(float[b,3,16,16] x, float[6,3,4,4] w, float[6,5] v) => (float[b,16,5] y) <int64[3] t = {0, 6, -1}> { c = Conv <strides = [4,4]> (x, w) r = Reshape (c, t) p = Transpose <perm = [0,2,1]> (r) y = MatMul (p, v) } | [0,2,1] > [0,1,2] | set `perm = [0, 2, 1]` in Transpose[2]
(float[N,3,4] x) => (float[N,4,4] y, float[1,1,4] z) <float[1,1,4] c = {1,2,3,4}, int64[1] one = {1}, int64[1] k = {4}, int64[3] f = {1,1,4}, int64 i = {0}, int64[1] a = {0}> { s = Shape (x) n = Gather (s, i) u = Unsqueeze (n, a) t = Concat <axis = 0> (u, one, k) e = Expand (c, t) y = Concat <axis = 1> (e, x) z = Expand (c, f) } | e = Expand (c, t) > e = Expand (c, f) | connect `t`, which nothing uses, as input 1 in Expand[4]
(float[1,4,2,6] x, float[1,3,12] s) => (float[n,4] y) <int64[3] t = {1,4,-1}, int64[1] m = {5}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { b = Reshape (x, t) p = Transpose <perm = [0,2,1]> (b) v = NonMaxSuppression (p, s, m) g = Gather <axis = 1> (v, two) j = Squeeze (g, one) q = Squeeze (p, zero) y = Gather (q, j) } | b = Reshape (x, t) p = Transpose <perm = [0,2,1]> (b) > p = Reshape (x, t) | insert a Transpose with `perm = [0, 2, 1]` before input 0 in NonMaxSuppression[1], insert a Transpose with `perm = [0, 2, 1]` before input 0 in Squeeze[4]
(float[1,1,N] x) => (float[1,1,N] y) <float[1,1,3] w = {1,2,3}> { a = Conv <dilations = [1], pads = [1,1]> (x, w) b = Add (a, x) c = Conv <dilations = [2], pads = [2,2]> (b, w) d = Add (c, b) e = Conv <dilations = [4], pads = [4,4]> (d, w) f = Add (e, d) g = Conv <dilations = [8], pads = [8,8]> (f, w) y = Add (g, f) } | [4], pads > [8], pads | set `dilations = [4]` in Conv[4]
(float[1,8,4] a, float[1,16,4] b, float[1,24,4] c, float[1,32,4] d, float[8] s, float[16] t, float[24] u, float[32] v) => (float[1,8,4] e, float[1,16,4] f, float[1,24,4] g, float[1,32,4] h) { e = GroupNormalization <num_groups = 1> (a, s, s) f = GroupNormalization <num_groups = 2> (b, t, t) g = GroupNormalization <num_groups = 3> (c, u, u) h = GroupNormalization <num_groups = 4> (d, v, v) } | num_groups = 3 > num_groups = 5 | set `num_groups = 3` in GroupNormalization[2] | 21
(float[b,h,w,2] x) => (float[b,h,w,2] y) <int64[1] o = {0}, int64[1] p = {0}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] four = {4}, int64[1] max = {9223372036854775807}> { s = Shape (x) a = Slice (x, two, max, one) c = Slice (x, o, two, one) d = Concat <axis = 1> (a, c) e = Slice (d, two, max, two) f = Slice (d, p, two, two) g = Concat <axis = 2> (e, f) n = Gather (s, zero) k = Gather (s, one) q = Div (k, four) r = Gather (s, two) v = Div (r, four) t = Concat <axis = 0> (n, q, four, v, four, two) z = Reshape (g, t) u = Concat <axis = 0> (n, k, r, two) y = Reshape (z, u) } | o = {0}, int64[1] p > o = {1}, int64[1] p | change 1 to 0 in constant `o`
(float[n,h,w,3] x, float[4,3,1,1] k) => (float[n,4,a,b] y) <float[n,3,h,w] t> { t = Transpose <perm = [0,3,1,2]> (x) y = Conv (t, k) } | [0,3,1,2] > [0,2,3,1] | set `perm = [0, 3, 1, 2]` in Transpose[0]
(float[N,4,P,2] past, float[N,4,Q,2] other, float[N,s,8] x) => (float[N,4,a,2] y) <int64[4] h = {0,0,4,2}> { r = Reshape (x, h) t = Transpose <perm = [0,2,1,3]> (r) u = Transpose <perm = [0,2,1,3]> (r) c = Concat <axis = 2> (past, t) k = Transpose <perm = [0,1,3,2]> (c) q = MatMul (u, k) v = Concat <axis = 2> (other, u) y = MatMul (q, v) } | (past, t) > (past, r) | connect `t`, which nothing uses, as input 1 in Concat[3]
(float[s,N,3] x, float[1,8,3] w, float[1,8,2] r) => (float[s,1,N,2] y, float[1,1,2] z) <float[1,1,2] k = {0,0}, float[1,1,2] l = {0,0}, int64[1] one = {1}, int64[1] two = {2}> { d = Shape (x) b = Gather (d, one) t = Concat <axis = 0> (one, b, two) h = ConstantOfShape (t) y = LSTM <hidden_size = 2> (x, w, r, , , h, h) z = Add (k, l) } | , h, h) > , k, l) | connect `h`, which nothing uses, as input 5 in LSTM[4], connect `h`, which nothing uses, as input 6 in LSTM[4]
""".strip().splitlines()


def inputs(model: onnx.ModelProto, seed: int) -> dict[str, numpy.ndarray]:
    """What the model is given; a dynamic size is 4."""
    random = numpy.random.default_rng(seed)
    stored = {each.name for each in model.graph.initializer}
    found = {}
    for value in model.graph.input:
        if value.name not in stored:
            shape = [dim.dim_value or 4 for dim in value.type.tensor_type.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            found[value.name] = random.integers(-9, 9, shape).astype(dtype)
    return found


@pytest.mark.oracle
@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_model_computes_again(line: str, tmp_path: Path) -> None:
    import onnxruntime

    sound_text, change, edits, *opsets = (part.strip() for part in line.split("|"))
    broken_opset, _, opset = (opsets[0] if opsets else "17").partition(" ")
    before, _, after = (part.strip() for part in change.partition(" > "))
    assert before in sound_text
    sound = onnx.parser.parse_model(HEAD.format(opset or broken_opset) + sound_text)
    broken = onnx.parser.parse_model(HEAD.format(broken_opset) + sound_text.replace(before, after, 1))
    path = tmp_path / "m.onnx"
    path.write_bytes(broken.SerializeToString())
    found = irlint.fix(path, unsafe=True)
    if not edits:
        assert (found.edits, found.data) == ((), path.read_bytes())
        return
    assert found.report.ok
    assert edits == ", ".join(edit.text for edit in found.edits) or (
        edits == "swap" and all(e.swaps for e in found.edits)
    )
    suggested = [each.fix for each in irlint.check(path).findings if each.fix is not None]
    assert [each.applicability for each in suggested] == ["unsafe"]
    assert irlint.fix(found.data, unsafe=True).data == found.data
    given = inputs(sound, 1)
    wanted, given_again = (
        onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, given)
        for data in (sound.SerializeToString(), found.data)
    )
    for one, other in zip(wanted, given_again, strict=True):
        numpy.testing.assert_array_equal(one, other)
