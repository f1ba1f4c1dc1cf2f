"""Two axes of inputs that have different names and have to be equal."""

from __future__ import annotations

from pathlib import Path

import numpy
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\ng '

#: A graph, and behind | the message; nothing where there is none.
MODELS = """
(float[b,s,8] x) => (float[n,m,8] y) { t = Transpose <perm = [1,0,2]> (x) y = Add (x, t) } | `b` and `s` of `x` are dynamic, but must be equal, or one of them 1
(float[b,s] x) => (float[n,m] y) { t = Transpose <perm = [1,0]> (x) y = Concat <axis = 0> (x, t) } | `s` and `b` of `x` are dynamic, but must be equal
(float[b,s] x) => (float[n,m] y) { t = Transpose <perm = [1,0]> (x) y = MatMul (x, x) z = Neg (t) } | `s` and `b` of `x` are dynamic, but must be equal
(float[b,s] x) => (float[b,b] y) { t = Transpose <perm = [1,0]> (x) y = MatMul (x, t) } |
(float[n,n] x) => (float[n,n] y) { t = Transpose <perm = [1,0]> (x) y = Add (x, t) } |
(float[b,s] x, float[c,s] z) => (float[n,s] y) { y = Add (x, z) } |
(float[2,s] x, float[2,t] z) => (float[4,s] y) { y = Concat <axis = 0> (x, z) } | note: `t` of `z` and `s` of `x` are dynamic, but must be equal
(float[2,b,s] x, float[2,c,t] z) => (float[4,b,s] y) { y = Concat <axis = 0> (x, z) } | note: `c` of `z` and `b` of `x` are dynamic, but must be equal, as must 1 more pair of sizes of different inputs
(float[b,2,h,w] x, float[2,2,1,1] k) => (float[n,c,d] y) <int64[3] t = {0, 2, -1}> { c = Conv <strides = [2,2]> (x, k) r = Reshape (c, t) p = Transpose <perm = [2,1,0]> (r) q = Transpose <perm = [0,1,2]> (r) y = Concat <axis = 2> (p, q) } | `b` of `x` is dynamic, but must equal ((h + 1)//2)*((w + 1)//2)
(float[1,2,h,w] x) => (float[1,2,c,d] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) t = Transpose <perm = [0,1,3,2]> (p) y = Concat <axis = 1> (p, t) } | `h` and `w` of `x` are dynamic, but max(h//2, 1) and max(w//2, 1) must be equal
(float[1,2,h,w] x) => (float[1,2,c,d] y) { p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) t = Transpose <perm = [0,1,3,2]> (x) q = MaxPool <kernel_shape = [3,3]> (t) y = Concat <axis = 1> (p, q) } |
(float[2,s] x, float[2,s] z) => (float[4,s] y) { y = Concat <axis = 0> (x, z) } |
(float[2,s] x, float[2,?] z) => (float[4,s] y) { y = Concat <axis = 0> (x, z) } |
(float[?,?] x) => (float[n,m] y) { t = Transpose <perm = [1,0]> (x) y = Add (x, t) } |
(float[4,s] x) => (float[n,m] y) { t = Transpose <perm = [1,0]> (x) y = Add (x, t) } |
(float[b,s] x, bool c) => (float[n,m] y) { y = If (c) <then_branch = t () => (float[n,m] u) { t = Transpose <perm = [1,0]> (x) u = Concat <axis = 0> (x, t) }, else_branch = e () => (float[n,m] w) { w = Neg (x) }> } |
""".strip().splitlines()


@pytest.mark.parametrize("line", MODELS)
def test_sizes_that_have_to_be_equal(line: str) -> None:
    text, message = (part.strip() for part in line.split("|"))
    found = [each for each in irlint.check(onnx.parser.parse_model(HEAD + text)).findings if each.rule.code == "IRL610"]
    texts = ["note: " * (each.severity.value == "note") + each.message for each in found]
    assert texts == ([message] if message else [])


@pytest.mark.oracle
def test_onnxruntime_takes_equal_sizes_alone() -> None:
    import onnxruntime

    path = Path(__file__).resolve().parents[2] / "fixtures" / "onnx" / "bad" / "IRL610-equal-sizes.onnx"
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for batch, length in ((2, 2), (1, 3), (3, 1)):
        session.run(None, {"x": numpy.zeros((batch, length, 8), "float32")})
    with pytest.raises(Exception, match="2 by 3"):
        session.run(None, {"x": numpy.zeros((2, 3, 8), "float32")})
