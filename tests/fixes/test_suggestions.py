"""The one thing to change: suggested only where it fixes the finding and brings no other, after few questions."""

from __future__ import annotations

import re
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx.parser
import pytest
from numpy import ones
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import irlint
from irlint.checks.structure import UNDEFINED_NAME
from irlint.dims import Dim, symbol
from irlint.findings.edits import Edit
from irlint.findings.faults import Severity
from irlint.findings.report import Report
from irlint.findings.statements import Relation, Requirement
from irlint.fixes import search
from irlint.fixes.conditions import allows_many_sizes
from irlint.fixes.rechecking import Outcome
from irlint.fixes.suggestions import Suggestion, Suggestions
from irlint.fixes.trials import Trials
from irlint.inference.origins import Makers
from irlint.model import Problem
from irlint.records import replaced
from irlint.run import fixing

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

#: A graph, and behind | the suggestion of its one root; nothing where there is none.
SUGGESTIONS = """
(float[1,64] x, float[10,64] w) => (float[1,10] y) { y = Gemm (x, w) }                               | set `transB = 1`
(float[1,32,8,8] x, float[1,32,8,8] z) => (float[1,64,8,8] y) { y = Concat <axis = 2> (x, z) }      | set `axis = 1`
(float[1,32,8,9] x, float[1,16,8,9] z) => (float[1,48,8,9] y) { y = Concat <axis = 2> (x, z) }      | set `axis = 1`
(float[2,8,4] x) => (float[8,2,4] y) { y = Transpose <perm = [1,0,2,3]> (x) }                        | set `perm = [1, 0, 2]`
(float[1,64,8,8] x, float[64,1,3,3] w) => (float[1,64,6,6] y) { y = Conv <group = 5> (x, w) }        | set `group = 64`
(float[8,4] x, float[2,8] z) => (float[2,4] y) { y = MatMul (x, z) }                                 | swap inputs 0 and 1
(float[2,48,8] x) => (float[2,48,?] y) <int64[3] t = {2, 47, -1}> { y = Reshape (x, t) }             | change 47 to 48 in constant `t` (entry 1)
(float[2,3,1] x) => (float[2,3] y) <int64[1] a = {1}> { y = Squeeze (x, a) }                         | change 1 to 2 in constant `a`; or, less likely, insert a Transpose with `perm = [0, 2, 1]` before input 0
(float[2,3] x) => (float[2,3] y) { s = Neg (x) t = Exp (x) z = Abs (x) u = Add (t, z) y = Add (u, sn) }  | connect `s`, which nothing uses, as input 1
(float[4,2] w, float[2,4] x, float[4] b) => (float[4,4] y) { t = MatMul (x, w) y = Add (t, b) }      | swap inputs 0 and 1 in MatMul[0]
(float[1,3,8,8] x, float[4,3,3,3] w, float[4,8,8] b) => (float[1,4,8,8] y) { t = Conv <pads = [0,0,0,0]> (x, w) y = Add (t, b) } | set `pads = [1, 1, 1, 1]` in Conv[0]
(float[1,4,8] x, float[1,4,6] z) => (float[1,8,6] y) <int64[3] t = {1, 4, 5}> { e = Resize (x, "", "", t) y = Concat <axis = 1> (e, z) } | change 5 to 6 in constant `t` (entry 2)
(float[1,4,20,30] x, float[96,20] w) => (float[1,20] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) f = Flatten (p) y = Gemm (f, w) } | change 20 and 30 to 8 and 12 on axes 2 and 3 of input `x`
(float[1,4,20,20] x, float[64,20] w) => (float[1,20] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) f = Flatten (p) y = Gemm (f, w) } | change 20 to 8 on axes 2 and 3 of input `x`
(float[4,6] x) => (float[1,24] y) <int64[2] t = {1, 6}> { z = Relu (x) y = Reshape (z, t) }          | change 6 to 24 in constant `t` (entry 1)
(float[2,3] x, float[2,3,4] z, float[2,3] q) => (float[2,3,4] y, float[2,1,3] v) <int64[1] one = {1}, int64[1] two = {2}> { a = Unsqueeze (x, two) b = Unsqueeze (x, one) c = Add (a, z) d = Add (b, z) y = Add (c, d) v = Unsqueeze (q, one) } | connect `two`, which holds [2], as input 1 in Unsqueeze[1]
(float[2,3] x, float[2,3] z, float[2,3,1] u) => (float[2,3] y) { a = Relu (u) b = Exp (z) y = Concat <axis = 1> (x, a) } |
(float[2,3] x, float16[2,3] z) => (float[2,3] y) { a = Cast <to = 10> (x) b = Relu (a) y = Add (b, x) } | set `to = 1` in Cast[0]
(float[b,s,8] x, float[8] w) => (float[b,s,8] y) { q = Mul (x, x) m = ReduceMean <axes = [-1], keepdims = 0> (q) r = Sqrt (m) d = Div (x, r) y = Mul (d, w) } | set `keepdims = 1` in ReduceMean[1]; this also fixes 1 more
(float[1,8,6] x, float[4,4,1] w) => (float[1,4,6] y) { a, b = Split <axis = 2> (x) y = Conv (a, w) } | set `axis = 1` in Split[0]
(float[1,70,9] x) => (float[1,64,9] y, float[1,6,9] z) <int64[2] s = {64, 80}> { y, z = Split <axis = 1> (x, s) } | change 80 to 6 in constant `s` (entry 1)
(float[1,8,9] x, float[4,4,1] w) => (float[1,4,9] y) <int64[2] s = {6, 2}> { a, b = Split <axis = 1> (x, s) y = Conv (b, w) } | change [6, 2] to [4, 4] in constant `s`
(float[1,3,4,4] x) => (float[1,3,8,8] y) <float[2] s = {2, 2}> { y = Resize (x, "", s) }             | change [2, 2] to [1, 1, 2, 2] in constant `s`
(float[1,4,8,8] x, float[1,4,6,6] z) => (float[1,8,6,6] y) <int64[4] t = {1, 4, 5, 5}> { e = Resize (x, "", "", t) y = Concat <axis = 1> (e, z) } | change 5 to 6 in constant `t` (entries 2 and 3)
(float[1,16,3,3] x) => (float[1,4,6,6] y) { y = DepthToSpace <blocksize = 3> (x) }                    | set `blocksize = 2`
(float[1,2,4,5] x) => (float[1,2,4,5] y) <float[2] s = {1, 1}> { y = PRelu (x, s) }                  | reshape constant `s` from [2] to [2, 1, 1]
(float[1,2,2,5] x) => (float[1,2,2,5] y) <float[2] s = {1, 1}> { y = PRelu (x, s) }                  | reshape constant `s` from [2] to [2, 1, 1], or reshape constant `s` from [2] to [2, 1]
(float[2,3,1,5] x) => (float[5,2,3] y) { y = Transpose <perm = [2,0,1]> (x) }                        | declare input `x` as [2, 3, 5]
(float[2,3,4,5] x) => (float[5,2,3] y) { y = Transpose <perm = [2,0,1]> (x) }                        |
(float[2,4,1,1] x, float[4,3] w) => (float[2,3] y) <int64[1] a = {3}> { s = Squeeze (x, a) y = MatMul (s, w) } | change [3] to [2, 3] in constant `a`; or, less likely, insert a Squeeze with `axes = [2]` before input 0
(float[2,3] x) => (float[2,3] y) { a = Relu (x) b = Abs (a) t = Exp (b) y = Neg (Relu_output_1) }    | connect `t`, which nothing uses, as input 0, and insert a Relu before input 0
(float[1,2,100,100] x, float[2,2,2,2] w, float[4,2,2,2] v) => (float[1,2,?,?] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) q = MaxPool <kernel_shape = [2,2], strides = [2,2]> (p) r = MaxPool <kernel_shape = [2,2], strides = [2,2]> (q) a = ConvTranspose <strides = [2,2]> (r, w) b = Concat <axis = 1> (q, a) c = ConvTranspose <strides = [2,2]> (b, v) d = Concat <axis = 1> (p, c) y = ConvTranspose <strides = [2,2]> (d, v) } | set `output_padding = [1, 1]` in ConvTranspose[3], or change 100 to 96 or 104 on axes 2 and 3 of input `x`
(int8[12,16,3] x, float[4,4] q) => (float[?,?,?] y) <float[16] s = {1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1}> { y = DequantizeLinear <axis = 0> (x, s) } | insert a Transpose with `perm = [1, 0, 2]` before input 0, or change 12 to 16 on axis 0 of input `x`; or, less likely, change 16 to 12 on axis 0 of constant `s`
(float[1,4,5] x, float[1,6,5] z, float[1,3,3] q) => (float[1,3,6] b, float[1,3,9] c, float[?,?,?] y) { b = Concat <axis = 2> (q, q) c = Concat <axis = 2> (b, q) y = Concat <axis = 2> (x, z) } |
(float[1,4,5] x, float[1,6,5] z, float[1,3,3] q) => (float[1,3,6] b, float[1,6,3] c, float[?,?,?] y) { b = Concat <axis = 2> (q, q) c = Concat <axis = 1> (q, q) y = Concat <axis = 2> (x, z) } | set `axis = 1`
(float[1,9,4] x, float[2] w) => (float[?,?,?] y) <int64[1] b = {0}, int64[1] e = {3}, int64[1] a = {2}> { s = Slice (x, b, e, a) y = Mul (s, w) } | change 3 to 2 in constant `e`, or change 4 to 2 on axis 2 of input `x`
(float[8,4] x, float[8,3] w) => (float[4,3] y) { t = Relu (x) y = MatMul (t, w) }                    | insert a Transpose with `perm = [1, 0]` before input 0
(float[2,4,8] x, float[3,4,8] w) => (float[?,?,?] y) { t = Relu (x) y = MatMul (t, w) }              |
(float[2,7,48] x) => (float[?,?] y) <int64[4] t = {2, 7, 3, 8}, int64[2] u = {14, -1}> { r = Reshape (x, t) y = Reshape (r, u) } | change 3 to 6 in constant `t` (entry 2), or change 8 to 16 in constant `t` (entry 3); or, less likely, change 48 to 24 on axis 2 of input `x`
(float[3,N] x) => (float[3] y, int64[?] j) <int64[1] a = {2}, int64[1] k = {2}> { y = ReduceSum <keepdims = 0> (x, a) i, j = TopK <axis = 0> (y, k) } | change 2 to 1 in constant `a`
(float[2,3] x, float[2,3,4,5] z) => (float[2,3] y, float[2,3,4,5] v) { y = Softmax <axis = 1> (x) v = Softmax <axis = 5> (z) } |
(float[2,3,4,5] x, float[2,3,4,5] z) => (float[2,3,4,5] y, float[2,3,4,5] v) { y = Softmax <axis = 2> (x) v = Softmax <axis = 5> (z) } | set `axis = 2`
(float[2,3] x) => (float[2,3] y) { y = Softmax <axis = 2> (x) }                                      |
(float[1,8,9] x) => (float[1,8,9] y) { y = Softmax <axis = 5> (x) }                                  |
(float[10000,N,8] x, float[8] b) => (float[N,M,8] y) { y = Add (x, b) }                              |
(float[2,3] x) => (float[3,3] y) { t = Exp (x) y = Concat <axis = 1> (t, t) }                        |
(float[2,3] x, float[2,4] z) => (float[2,3] y) { y = Add (x, z) }                                    |
(float[2,3] x, float[7,8] w) => (float[2,7] y) { y = Gemm (x, w) }                                   |
(float[2,12] x) => (float[3,2,4] y) <int64[3] t = {2, 3, 4}> { a = Relu (x) y = Transpose <perm = [1,0,2]> (a) } | insert a Reshape with `t` as input 1 before input 0
(float[2,3] x, float[2,4,3] z) => (float[2,4,3] y, float[2,3] v) <int64[1] a = {1}> { t = Relu (x) v = Neg (t) y = Add (t, z) } | insert an Unsqueeze with `a` as input 1 before input 0
(int64[N,8] x, float[8] w) => (float[N,8] y) { a = Neg (x) y = Mul (a, w) } | insert a Cast with `to = float32` before input 0
(float[1,16,16,8] x) => (float[1,?,16,8] y) <int64[6] t = {1, 4, 4, 4, 2, 8}, int64[4] u = {1, -1, 16, 8}> { r = Reshape (x, t) y = Reshape (r, u) } |
(float[1,16,16,8] x) => (float[?,?,8] y) <int64[6] t = {1, 4, 4, 4, 4, 8}, int64[3] u = {-1, 49, 8}> { r = Reshape (x, t) y = Reshape (r, u) } |
(float[4,5] x) => (int64[2] y) <int64 i = {0}, int64[1] k = {7}> { s = Shape (x) g = Gather (s, i) y = Concat <axis = 0> (k, g) } | reshape constant `i` from [] to [1]; or, less likely, insert an Unsqueeze with `axes = [0]` before input 1
(float[4] x, float[1] z) => (float[2] y) { r = ReduceSum <keepdims = 0> (x) t = Neg (r) y = Concat <axis = 0> (z, t) } | insert an Unsqueeze with `axes = [0]` before input 1
(float[1,32,3,32] x, float[8,3,3,3] w) => (float[1,8,30,30] y) { y = Conv (x, w) }                   | change 32 and 3 to 3 and 32 on axes 1 and 2 of input `x`
(float[1,1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) }                     | declare input `x` as [1, 3, 8, 8]
(float[3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) }                         | declare input `x` as [1, 3, 8, 8]
(float[2,5] x) => (float[2] y) <int64[1] b = {-1}, int64[1] e = {0}, int64[1] a = {1}> { s = Slice (x, b, e, a) y = Squeeze (s, a) } | change 0 to 9223372036854775807 in constant `e`
(float[2,9] x, float[2,4] z) => (float[2,4] y) <int64[1] b = {3}, int64[1] e = {1}, int64[1] a = {1}> { s = Slice (x, b, e, a) y = Add (s, z) } | change 1 to 7 in constant `e`
(float[1,8,4,4] x, float[4,128] w) => (float[1,4] y) { r = Relu (x) f = Flatten <axis = 2> (r) y = Gemm <transB = 1> (f, w) } | set `axis = 1` in Flatten[1]
(float[1,8,6,6] x, float[8,8,3,3] u, float[8,8,3,3] v, float[4,288] w) => (float[1,4] y) { a = Conv <pads = [1,1,1,1]> (x, u) b = Conv <pads = [0,0,0,0]> (a, v) f = Flatten (b) y = Gemm <transB = 1> (f, w) } | set `pads = [1, 1, 1, 1]` in Conv[1]
(float[N,4] x, float[4,3] w) => (float[N,3] y) { r = Relu (x) y = Gemm <transA = 1> (r, w) }           | set `transA = 0`; this also fixes 1 more
(float[1,3,8,8] x, float[9,3,3,3] w) => (float[1,9,6,6] y) { y = Conv <group = 2> (x, w) }           | set `group = 1`
(float[2,8] x) => (float[2,2,4] y) <int64[3] t = {2, 2, 0}> { y = Reshape (x, t) }                    | change 0 to 4 in constant `t` (entry 2)
""".strip().splitlines()


def check(text: str) -> Report:
    return irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}"), ignore=["IRL9", "IRL118"])


@pytest.mark.parametrize("line", SUGGESTIONS)
def test_suggestion(line: str) -> None:
    text, _, suggestion = (part.strip() for part in line.partition("|"))
    report = check(text)
    found = [finding.suggestion for finding in report.findings if not finding.because]
    assert found == [suggestion]
    assert not suggestion or f"= help: {suggestion}"[:60] in report.text(width=400)
    roots = [finding for finding in report.as_dict()["findings"] if "because" not in finding]
    assert {finding.get("lever", "") for finding in roots} == {suggestion}


#: A graph of com.microsoft, and behind | the suggestion and the help of its one error.
MICROSOFT = """
(float[1,16,128] x, uint8[64,4,8] b, float[256] s) => (y) { y = com.microsoft.MatMulNBits <K = 128, N = 64, bits = 4, block_size = 32> (x, b, s) } | set `bits = 2`
(float[2,8,16] q, float[2,8,16] k) => (y) { y = com.microsoft.MultiHeadAttention <num_heads = 3> (q, k, k) } | | use a `num_heads` that divides 16 (1, 2, 4, 8 or 16), or a hidden size that 3 divides
""".strip().splitlines()


@pytest.mark.parametrize("line", MICROSOFT)
def test_suggestion_of_a_contrib_operator(line: str) -> None:
    text, suggestion, *help = (part.strip() for part in line.split("|"))
    head = HEAD.replace('"" : 17', '"" : 17, "com.microsoft" : 1')
    report = irlint.check(onnx.parser.parse_model(f"{head}g {text}"), ignore=["IRL9", "IRL118"])
    (found,) = [each for each in report.findings if each.severity.value == "error"]
    assert found.suggestion == suggestion
    assert not help or [found.help] == help


def test_what_is_not_suggested() -> None:
    """A dilation that no other window has, an optional output of an LSTM, an entry that copies the size of the data."""
    dilated = (
        "(float[1,2,9,9] x, float[2,2,3,3] w, float[2,5,5] b) => (float[1,2,5,5] y) { t = Conv (x, w) y = Add (t, b) }"
    )
    assert "dilations" not in "".join(finding.suggestion for finding in check(dilated).findings)
    recurrent = """(float[5,2,6] x, float[1,32,6] w, float[1,32,8] r, float[1,32,4] q) => (float[5,1,2,8] y) {
  a, b, c = LSTM <hidden_size = 8> (x, w, r) d = Squeeze (a) y, h = LSTM <hidden_size = 8> (d, q, r) }"""
    assert not any("nothing uses" in finding.suggestion for finding in check(recurrent).findings)
    copied = "(float[2,7,48] x) => (float[?,?,?,?] y) <int64[4] t = {0, 0, 3, 8}> { y = Reshape (x, t) }"
    assert [finding.suggestion for finding in check(copied).findings] == [
        "change 3 to 6 in constant `t` (entry 2), or change 8 to 16 in constant `t` (entry 3);"
        " or, less likely, change 48 to 24 on axis 2 of input `x`"
    ]


def test_a_declaration_of_other_axes_is_the_root() -> None:
    model = onnx.parser.parse_model(
        f"""{HEAD}g (float[N,4,1,1] x, float[4,3] w) => (float[N,3] y, float[4,N] z) <int64[1] a = {{3}}> {{
  s = Squeeze (x, a) y = MatMul (s, w) z = Transpose <perm = [1,0]> (s) }}"""
    )
    model.graph.value_info.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, ["N", 4]))
    (root, *others) = irlint.check(model, ignore=["IRL9", "IRL118"]).findings
    assert (root.rule.code, root.severity.value, root.suggestion) == (
        "IRL601",
        "error",
        "change [3] to [2, 3] in constant `a`; this also fixes 2 more",
    )
    assert {each.because for each in others} == {root.fingerprint}


#: A graph, and behind | the fix of its first error, or nothing and what is only suggested.
FIXES = """
(float[B,3] x) => (int64[1] y, int64[1] z) <int64[1] i = {0}, int64[1] j = {4}> { s = Shape (x) y = Gather (s, i) z = Gather (s, j) } | change 4 to 1 in constant `j`
(float[B,3,5] x) => (int64[1] y, int64[1] z) <int64[1] i = {0}, int64[1] j = {4}> { s = Shape (x) y = Gather (s, i) z = Gather (s, j) } | | change 4 to 1 or 2 in constant `j`
(float[2,3,4] x) => (float[2,?] y) <int64[1] i = {0}, int64[1] z = {0}, int64[1] m = {-1}> { s = Shape (x) g = Gather (s, i) u = Unsqueeze (g, z) t = Concat <axis = 0> (u, m) y = Reshape (x, t) } | reshape constant `i` from [1] to []
(float[2,64] x, float[10,64] w, float[2,10] z) => (float[2,10] y) { t = Gemm <transB = 0> (x, w) y = Add (t, z) } | set `transB = 1` in Gemm[0]
(float[2,3] x) => (float[2,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { y = Gemm <transB = 1> (x, w) } | | set `transB = 0`
(float[2,3] x) => (float[2,2] y, float[2,2] v) <float[3,2] w = {1, 2, 3, 4, 5, 6}> { y = Gemm <transB = 1> (x, w) v = Gemm <transB = 0> (x, w) } | set `transB = 0` in Gemm[0]
(float[2,3] x, float[3] k) => (float[2,3] y) { v_add = Relu (x) q_mul = Exp (x) y = Add (v_add, q_add) } | | connect `q_mul`, which nothing uses, as input 1, or connect `k`, which nothing uses, as input 1
(float[2,3] x) => (float[2,3] y, float[2,3] z) { v_add = Relu (x) z = Exp (v_add) y = Add (x, v_ad) } | connect `v_add` as input 1 in Add[2]
(float[2,2,3,4] x) => (int64[?,?,?,?] y) { y = ArgMax <axis = 5> (x) } | |
(float[2,3] x) => (float[2,3] y) <int64 t = {0}> { y = Clip (x, t) } | store constant `t` as float32
(float[b,3,4] x, float[4,4] w) => (float[b,3,4] y) <float[3] v = {1,2,3}> { m = MatMul (x, w) y = Add (m, v) } | | change 3 to 4 on axis 0 of constant `v`; or reshape input 1 from [3] to [3, 1], which aligns equal sizes
(float[b,3,4] x, float[3,1] w) => (float[b,3,4] y) <float[3] v = {1,2,3}> { m = Sub (x, w) y = Add (m, v) } | reshape constant `v` from [3] to [3, 1]
(float[1,18292] x) => (float[1,1076,17] y) <int64[3] t = {1, -1, 18}> { y = Reshape (x, t) } | change 18 to 17 in constant `t` (entry 2)
(float[2,8,8] x) => (float[2,4,16] y) <int64[1] k = {3}, int64[1] w = {16}, int64[1] i = {0}, int64[1] j = {1}> { s = Shape (x) a = Gather (s, i) b = Gather (s, j) d = Div (b, k) t = Concat <axis = 0> (a, d, w) y = Reshape (x, t) } | change 3 to 2 in constant `k`
(uint8[1,1,4,4] x, float xs, uint8 xz, int8[1,1,3,3] w, float ws, int8 wz, float ys, uint8 yz) => (uint8[1,1,2,2] y) { y = QLinearConv (x, xs, xz, w, wz, ws, ys, yz) } | connect `ws` as input 4 in QLinearConv[0]connect `wz` as input 5 in QLinearConv[0]
(float[4,2,8] x, float[4,2,8] z, float[8,4,2] q) => (float[2,4,8] a, float[2,4,8] b, float[8,4,2] y) { a = Transpose <perm = [1,0,2]> (x) b = Transpose <perm = [1,0,2]> (z) c = Transpose <perm = [1,0,2]> (x) y = Add (c, q) } | |
(float[1,4,5] x, float[1,6,5] z, float[3,4,5] p, float[2,6,5] q) => (float[?,?,?] y, float[?,?,?] v) { y = Concat <axis = 2> (x, z) v = Concat <axis = 2> (p, q) } | | set `axis = 1`
(float[1,4,5] x, float[1,6,5] z, float[3,4,5] p, float[3,6,5] q) => (float[?,?,?] y, float[?,?,?] v) { y = Concat <axis = 2> (x, z) v = Concat <axis = 2> (p, q) } | set `axis = 1` in Concat[0]
(float[2,3] x) => (int64[2,3] y) { y = Relu (x) } | declare `y` as float32
(float[2,3] x) => (int64[2,3] y, int64[2,3] z) { y = Relu (x) z = Cast <to = 7> (x) } | |
(float[2,3] x) => (int64[2,3] y) <float[2,3] old> { y = Relu (x) } | |
(float[2,3] x, float[2,3] z) => (float[2,3] y) { c = Greater (x, z) y = Identity (c) } | |
(float[1,4,8] x, float[1,2,8] z) => (float[1,2,8] y, float[1,2,8] v) <int64[1] b = {2}, int64[1] c = {2}, int64[1] e = {2}, int64[1] f = {4}, int64[1] a = {1}> { p = Slice (x, b, e, a) v = Slice (x, c, f, a) y = Add (p, z) } | change 2 to 0 in constant `b`
(float[1,4,8] x, float[1,2,8] z) => (float[1,2,8] y) <int64[1] b = {2}, int64[1] e = {2}, int64[1] a = {1}> { p = Slice (x, b, e, a) y = Add (p, z) } | | change 2 to 4 in constant `e`, or change 2 to 0 in constant `b`
(float[2,3,4] x, float[2,1,6] z) => (float[2,1,18] y) <int64[1] i = {2}, int64[1] n = {-1}, int64[1] o = {1}> { s = Shape (x) g = Gather (s, i) t = Concat <axis = 0> (g, o, n) r = Reshape (x, t) y = Concat <axis = 2> (z, r) } | change 2 to 0 in constant `i`
(float[2,3] x, float[2,3] z) => (float[2,3] y) { a = Exp (z) y = Add (x) } | connect `a` as input 1 in Add[1]
(float[2,3] x, float[2,3] z) => (float[2,3] y) { a = Exp (z) y = Sub (x) } | | connect `a` as input 1, or connect `a` as input 0, and connect `x` as input 1
(float[1,1,8,8] x) => (float[1,2,7,8] y) <float[2] b = {1,2}, float[2,1,2,1] w = {1,2,3,4}> { y = Conv (x, b, b) } | connect `w`, which nothing uses, as input 1 in Conv[0]
(float[N,S,4] x, float[N,S,2,4,5] w) => (float[N,S,2,5] y) { y = Einsum <equation = "btc,bkcd->btkd"> (x, w) } | set `equation = btc,btkcd->btkd` in Einsum[0]
(float[1,9,8] x, float[4,3,3,3] w) => (float[1,4,7,6] y) { y = Conv (x, w) } | | declare input `x` as [1, 3, 9, 8]
(float16[2,4] x, float s, float[2,4] v) => (uint8[2,4] y, uint8[2,4] u) { y = QuantizeLinear (x, s) u = QuantizeLinear (v, s) } | declare `x` as float32
(float[1,1,8,8] x, float s, float t, int8 z) => (float[1,1,8,8] y) { q = QuantizeLinear (x, s) y = DequantizeLinear (q, t, z) } | |
(float[2,3] c, float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Where (c, a, b) } | | declare `c` as bool
(float[1,1,8,8] x) => (float[?,?,?,?] y) { y = SpaceToDepth <blocksize = 3> (x) } | |
""".strip().splitlines()


@pytest.mark.parametrize("line", FIXES)
def test_fix_is_sure_or_a_suggestion(line: str) -> None:
    text, fix, *suggestion = (part.strip() for part in line.split("|"))
    found = next(each for each in check(text).findings if each.severity.value == "error")
    assert "".join(each.text for each in (found.fix.edits if found.fix else ())) == fix
    if suggestion:
        assert found.suggestion == suggestion[0]


def test_a_constant_has_the_shape_that_is_declared() -> None:
    """The list that an index became makes errors at three nodes behind it."""
    model = onnx.parser.parse_model(
        f"""{HEAD}g (float[2,3,4] x) => (int64[2] y) <int64[1] z = {{0}}, int64[1] m = {{-1}}> {{
  i = Constant <value = int64[1] {{0}}> () s = Shape (x) g = Gather (s, i) u = Unsqueeze (g, z)
  y = Concat <axis = 0> (u, m) }}"""
    )
    for name, shape in {"i": [], "g": [], "u": [1]}.items():
        model.graph.value_info.append(helper.make_tensor_value_info(name, TensorProto.INT64, shape))
    root, *others = irlint.check(model, ignore=["IRL9"]).findings
    assert root.suggestion == "reshape constant `i` from [1] to []; this also fixes 3 more"
    assert {each.because for each in others} == {root.fingerprint}


def test_what_follows_is_gone_with_it() -> None:
    report = check(
        """(float[1,32,8,9] x, float[1,16,8,9] z, float[1,48,8,9] q) => (float[1,48,8,9] y) {
  a = Concat <axis = 3> (x, z) b = Relu (a) y = Add (b, q) }"""
    )
    assert [finding.suggestion for finding in report.findings if not finding.because] == ["set `axis = 1`"]


def test_a_constant_that_several_nodes_use() -> None:
    report = check(
        """(float[2,48,8] x, float[2,48,16] z) => (float[2,48,?] y, float[2,48,?] u) <int64[3] t = {2, 47, -1}> {
  y = Reshape (x, t) u = Reshape (z, t) }"""
    )
    root, other = report.findings
    assert root.suggestion == "change 47 to 48 in constant `t` (entry 1); this also fixes 1 more"
    assert (other.because, other.suggestion) == (root.fingerprint, "")


def test_what_one_fix_of_several_removes_follows_from_none() -> None:
    """Two edits remove both errors, and neither shows which of these is the mistake."""
    report = check("(float[2,3] x, float[2,4] z) => (float[?,?] y, float[?,?] u) { y = Add (x, z) u = Mul (x, z) }")
    assert [each.because for each in report.findings] == ["", ""]


def test_roots_are_no_followers_and_errors_follow_from_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fix of ``b`` removes ``c``, then that of ``a`` also ``b``; that of the warning ``w`` is the fix of the error
    ``e`` as well."""
    a, b, c, e = (Problem(UNDEFINED_NAME.fault(name, help="define it")) for name in "abce")
    w = Problem(c.fault.lowered(Severity.WARNING))
    fixed = {id(b): (b, c), id(a): (a, b), id(w): (w,), id(e): (w, e)}
    edits = (Edit("attribute", index=0, name="axis", value=1),)
    monkeypatch.setattr(Suggestions, "of", lambda _, each: Suggestion(each, (edits,), Outcome(fixed[id(each)])))
    known: Any = SimpleNamespace(model=SimpleNamespace(format=None))
    found = Suggestions(Makers(known), [b, a, w, e, c], Any).rooted()  # type: ignore[arg-type]
    assert found[:4] == [b, replaced(a, because=b), replaced(w, because=e), e]
    assert found[4].because is b


def test_what_is_hidden_takes_no_search_away() -> None:
    wrong = " ".join(f"a{axis} = Softmax <axis = {axis}> (x)" for axis in (5, 6, 7, 8))
    text = f"g (float[2,3] x, float[4,3] w) => (float[2,4] y) {{ {wrong} y = Gemm (x, w) }}"
    model = onnx.parser.parse_model(HEAD + text)
    hidden, *_, shown = irlint.check(model, ignore=["IRL9", "IRL118"]).findings
    assert shown.op == "Gemm"
    (finding,) = irlint.check(model, ignore=["IRL9", "IRL118", hidden.rule.code]).findings
    assert finding.suggestion == "set `transB = 1`"


def test_a_size_that_is_frozen() -> None:
    report = check(
        "(int64[N,T] ids, float[8,8] w, float[100,8] e) => (float[A,B,C] y) { h = Gather <axis = 1> (e, ids) y = "
        "MatMul (h, w) }"
    )
    assert {each.rule.code: each.suggestion for each in report.findings} == {"IRL608": "set `axis = 0` in Gather[0]"}


def test_what_is_declared_behind_a_changed_input_has_to_follow() -> None:
    report = check(
        "(float[2,3] x) => (float[2,?] y) <float[2,3] a, float[2,4] z = {1,2,3,4,5,6,7,8}> "
        "{ a = Relu (x) y = Add (a, z) }"
    )
    text = "change 3 to 4 on axis 1 of input `x`, or change 4 to 3 on axis 1 of constant `z`; then update 1 declaration"
    assert [each.suggestion for each in report.findings] == [text]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("2,3", "change 4 to 3 on axis 1 of input `z`"),
        ("2,4", "change 3 to 4 on axis 1 of input `x`"),
    ],
)
def test_other_sizes_of_inputs_are_only_suggested(output: str, text: str) -> None:
    graph = f"(float[2,3] x, float[2,4] z) => (float[{output}] y) {{ a = Relu (x) y = Add (a, z) }}"
    (found,) = check(graph).findings
    assert (found.suggestion, found.fix) == (text, None)


def test_what_brings_another_finding_is_not_suggested() -> None:
    fits = "(float[8,8] x, float[8,4] w, float[3,3] q) => (float[?,?] y) { t = Gemm (w, x) y = Add (t, q) }"
    assert [finding.suggestion for finding in check(fits).findings] == [""]


PRODUCT = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port></output></layer>
<layer id="1" name="w" type="Parameter" version="opset1"><data shape="3,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>3</dim><dim>8</dim></port></output></layer>
<layer id="2" name="p" type="MatMul" version="opset1"><data transpose_a="false" transpose_b="false"/>
<input><port id="0" precision="FP32"><dim>2</dim><dim>8</dim></port><port id="1" precision="FP32"><dim>3</dim>\
<dim>8</dim></port></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim>\
</port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"""


def test_an_ir_has_its_own_notation() -> None:
    found = {finding.rule.code: finding.suggestion for finding in irlint.check(PRODUCT.encode(), name="m.xml").findings}
    assert found["IRL320"] == 'set transpose_b="true"'


def test_what_an_input_port_declares_has_none() -> None:
    port = '<port id="{}" precision="FP32"><dim>2</dim><dim>{}</dim></port>'
    net = f"""<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,8" element_type="f32"/>\
<output>{port.format(0, 8)}</output></layer>
<layer id="1" name="s" type="SoftMax" version="opset1"><data axis="1"/><input>{port.format(0, 7)}</input>\
<output>{port.format(1, 8)}</output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input>{port.format(0, 8)}</input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""
    found = [(each.rule.code, each.suggestion) for each in irlint.check(net.encode(), name="m.xml").findings]
    assert found == [("IRL601", "")]


WINDOW = """<net version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,{channels},8,8" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>{channels}</dim><dim>8</dim><dim>8</dim></port></output></layer>
<layer id="1" name="w" type="Const" version="opset1">\
<data element_type="f32" shape="{weights}" offset="0" size="{size}"/>
<output><port id="0" precision="FP32">{dims}</port></output></layer>
<layer id="2" name="c" type="Convolution" version="opset1">\
<data strides="1,1" dilations="1,1" pads_begin="0,0" pads_end="0,0" auto_pad="explicit"/>
<input><port id="0" precision="FP32"><dim>1</dim><dim>{channels}</dim><dim>8</dim><dim>8</dim></port>\
<port id="1" precision="FP32">{dims}</port></input>
<output><port id="2" precision="FP32"><dim>1</dim><dim>4</dim><dim>{out}</dim><dim>{out}</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>1</dim><dim>4</dim>\
<dim>{out}</dim><dim>{out}</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"""

#: Channels, weights, and what is declared of a convolution, and its suggestion.
WINDOWS = [
    (3, (4, 3, 3, 3), 8, 'set pads_begin="1,1" and pads_end="1,1"'),
    (4, (4, 1, 1, 3, 3), 6, 'set type="GroupConvolution"'),
    (4, (1, 4, 1, 3, 3), 6, ""),
]


@pytest.mark.parametrize(("channels", "weights", "out", "suggestion"), WINDOWS)
def test_a_convolution_of_an_ir(
    channels: int, weights: tuple[int, ...], out: int, suggestion: str, tmp_path: Path
) -> None:
    size = 4 * prod(weights)
    dims = "".join(f"<dim>{each}</dim>" for each in weights)
    shape = ",".join(map(str, weights))
    path = tmp_path / "m.xml"
    path.write_text(WINDOW.format(channels=channels, weights=shape, size=size, dims=dims, out=out), encoding="utf-8")
    (tmp_path / "m.bin").write_bytes(bytes(size))
    found = [each for each in irlint.check(path, ignore=["IRL9"]).findings if not each.because]
    assert [each.suggestion for each in found] == [suggestion]


def test_few_questions_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [helper.make_node("Transpose", ["x"], ["v0"], perm=[0, 2, 1])]
    nodes += [helper.make_node("Relu", [f"v{at}"], [f"v{at + 1}"], name=f"/layers.{at}/Relu") for at in range(1000)]
    shape = [1, 16, 8, 8]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "v1000")]
    graph = helper.make_graph(nodes, "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    made: list[Trials] = []
    monkeypatch.setattr(search, "Trials", lambda *given, **named: made.append(Trials(*given, **named)) or made[-1])
    irlint.check(model, ignore=["IRL9"])
    assert [each.questions_left >= -1 for each in made] == [True]


def test_a_sound_model_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "Trials", None)
    assert check("(float[2,3] x) => (float[2,3] y) { y = Relu (x) }").ok


#: Graphs that lack a node, so that its input or its weights are unused and another name is undefined.
LACKING_A_NODE = """
(float[2,3] x) => (float[2,3] y) { "/fc.0/Gemm_output_0" = Neg (x) y = Exp ("/fc.1/Relu_output_0") }
(float[2,3] x) => (float[2,3] y) { "onnx::Conv_7" = Neg (x) y = Exp ("onnx::Cast_8") }
(float[2,3] x) => (float[2,3] y) <float[3] bias = {1, 2, 3}> { t = Neg (x) y = Add (t, "15") }
"""


@pytest.mark.parametrize("graph", LACKING_A_NODE.strip().splitlines())
def test_a_missing_node_is_not_replaced_by_what_nothing_uses(graph: str) -> None:
    names = {f"name{at}": name for at, name in enumerate(dict.fromkeys(re.findall(r'"(.*?)"', graph)))}
    for short, name in names.items():
        graph = graph.replace(f'"{name}"', short)
    model = onnx.parser.parse_model(f"{HEAD}g {graph}")
    for node in model.graph.node:
        node.input[:] = [names.get(each, each) for each in node.input]
        node.output[:] = [names.get(each, each) for each in node.output]
    assert not any(edit.kind == "input" for edit in irlint.fix(model.SerializeToString(), unsafe=True).edits)


#: What a value is called and what its user says, the other value of the graph, and whether that is the same name.
NAMES = """
fc.1 fc other True
t.1 t t.2 False
_fc_Relu_output_0 /fc/Relu_output_0 other True
model.fc.weight fc.weight other True
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_a_name_that_is_written_another_way(line: str) -> None:
    made, used, other, same = line.split()
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[2,3] x) => (float[2,3] y) {{ a = Relu (x) b = Exp (x) y = Add (b, c) }}"
    )
    names = {"a": made, "b": other, "c": used}
    for node in model.graph.node:
        node.input[:] = [names.get(each, each) for each in node.input]
        node.output[:] = [names.get(each, each) for each in node.output]
    texts = [edit.text for edit in irlint.fix(model.SerializeToString(), unsafe=True).edits]
    assert any(text.startswith(f"connect `{made}`") for text in texts) == (same == "True")


def test_a_list_of_one_number_becomes_that_number() -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[2,3] x) => (float[4,3] y) { y = Concat <axis = [0]> (x, x) }")
    fixed = irlint.fix(model.SerializeToString(), unsafe=True)
    assert [edit.text for edit in fixed.edits] == ["set `axis = 0` in Concat[0]"]
    assert ReferenceEvaluator(onnx.load_from_string(fixed.data)).run(None, {"x": ones((2, 3), "float32")})[0].shape == (
        4,
        3,
    )


def test_a_port_that_is_inserted_is_written_as_json() -> None:
    text = (FIXTURES / "openvino/good/IRL105-dangling-edge.xml").read_text("utf-8")
    port = '<port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port>'
    report = irlint.check(text.replace(port, "").encode(), name="m.xml")
    (edit,) = next(each["fix"]["edits"] for each in report.as_dict()["findings"] if "fix" in each)
    assert (edit["kind"], edit["of"], edit["value"], edit["shape"]) == ("insert", "port", "2", [2, 3])


@pytest.mark.parametrize("dims", [[2, -1, -1], [1 << 62, 2], [7], []])
def test_a_constant_that_does_not_fit_its_dims_breaks_no_search(dims: list[int]) -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (int64[2] x) => (int64[2] y) <float[2] c = {{1, 2}}> {{ y = Add (x, c) }}"
    )
    del model.graph.initializer[0].dims[:]
    model.graph.initializer[0].dims.extend(dims)
    del model.graph.initializer[0].float_data[:]
    codes = {each.rule.code for each in irlint.check(model).findings}
    assert "IRL008" not in codes and codes


def test_a_warning_that_moves_to_another_node_is_not_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The suggestion is made, and not applied, where as many findings of the rule are left."""
    graph = "(float[N,4] x, float[4,3] w) => (float[N,3] y) { r = Relu (x) y = Gemm <transA = 1> (r, w) }"
    model = onnx.parser.parse_model(f"{HEAD}g {graph}").SerializeToString()
    assert [edit.text for edit in irlint.fix(model, unsafe=True).edits] == ["set `transA = 0` in Gemm[1]"]
    monkeypatch.setattr(fixing, "_has_fewer", lambda rule, after, before: False)
    assert irlint.fix(model, unsafe=True).edits == ()
    monkeypatch.undo()
    one, two = (SimpleNamespace(findings=[SimpleNamespace(rule=UNDEFINED_NAME)] * count) for count in (1, 2))
    fewer = fixing._has_fewer
    assert (fewer(UNDEFINED_NAME, one, two), fewer(UNDEFINED_NAME, two, two)) == (True, False)  # type: ignore[arg-type]


H, W = symbol("H", 1), symbol("W", 1)


@pytest.mark.parametrize(
    ("product", "leaves"),
    [
        (((H + 9) // 10) * ((W + 9) // 10), True),
        (((H + 9) // 10) * W, False),
        ((H // 2) * (W // 2), False),
    ],
)
def test_a_product_that_has_to_be_1_leaves_the_sizes_of_its_factors(product: Dim, leaves: bool) -> None:
    assert allows_many_sizes(Requirement((Relation("==", product, 1),), "it is reshaped")) is leaves


@pytest.mark.parametrize(
    ("outputs", "help"),
    [
        (
            "c, s, t",
            "swap outputs 1 and 2 of the body, `s` and `t`, or return a tensor of float32 as output 1 of the body",
        ),
        ("c, s, s", "return a tensor of float32 as output 1 of the body"),
    ],
)
def test_outputs_of_a_body_are_exchanged_only_if_both_fit(outputs: str, help: str) -> None:
    model = onnx.parser.parse_model(
        f"""{HEAD}g (int64 m, bool k, float[2] x) => (float[2] y, seq(float[2]) z) {{
  e = SequenceEmpty () y, z = Loop (m, k, x, e) <body = b (int64 i, bool d, float[2] t0, seq(float[2]) s0) =>
  (bool c, seq(float[2]) p, float[2] q) {{ c = Identity (d) t = Relu (t0) s = SequenceInsert (s0, t) }}> }}"""
    )
    body = model.graph.node[1].attribute[0].g
    for output, name in zip(body.output, outputs.split(", "), strict=True):
        output.name = name
        output.ClearField("type")
    found = next(each for each in irlint.check(model).findings if each.rule.code == "IRL393")
    assert found.help == help


LOOP = """g (int64 m, bool k, float[2] x) => (float[2] y, float[n,2] v) {
  y, v = Loop (m, k, x) <body = b (int64 i, bool d, float[2] s) => (OUT) { c = Identity (d) t = Relu (s) u = Neg (t) }> }"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("outputs", "rule", "help"),
    [
        ("float[2] t, bool c, float[2] u", "IRL392", "swap outputs 0 and 1 of the body, `t` and `c`"),
        ("float[2] t, float[2] u, bool c", "IRL392", "cast output 0 of the body, the condition, to bool"),
        ("bool c, bool d, float[2] u", "IRL393", "cast output 1 of the body to float32, or pass bool as input 2"),
    ],
)
def test_outputs_of_a_loop_are_swapped_if_their_types_then_fit(outputs: str, rule: str, help: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(HEAD + LOOP.replace("OUT", outputs))
    with pytest.raises(Exception, match=r"Loop|Type Error"):
        onnxruntime.InferenceSession(model.SerializeToString())
    found = next(each for each in irlint.check(model).findings if each.rule.code == rule)
    assert found.help == help
    if help.startswith("swap"):
        sound = onnx.parser.parse_model(HEAD + LOOP.replace("OUT", "bool c, float[2] t, float[2] u"))
        onnxruntime.InferenceSession(sound.SerializeToString())
        assert not [each for each in irlint.check(sound).findings if each.severity.value == "error"]


def test_an_output_gets_the_name_of_a_node_that_nothing_uses() -> None:
    graph = (
        "(float[2,3] x) => (float[2,1] output) <int64[1] k = {1}> "
        "{ values, indices = TopK (x, k) j = Cast <to = 1> (indices) probabilities = Relu (j) }"
    )
    (found,) = [each for each in check(graph).findings if each.rule.code == "IRL101"]
    assert found.suggestion == "rename `probabilities` to `output`"


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("(float[N,4] x) => (int64[M] y) <int64[1] t = {-1}, int64 i = {0}> { s = Shape (x) h = Gather (s, i) y = Reshape (t, h) }", "swap inputs 0 and 1"),
        ("(float[N,4] x) => (float[N,5] y) <float[4] a = {1, 2, 3, 4}, float[2,2] w = {1, 2, 3, 4}> { s = Mul (x, a) y = MatMul (s, w) }", ""),
    ],
)  # fmt: skip
def test_no_search_fails(line: str, help: str) -> None:
    (found,) = irlint.check(onnx.parser.parse_model(f"{HEAD}g {line}")).findings
    assert found.rule.code != "IRL008"
    assert found.suggestion.startswith(help)
