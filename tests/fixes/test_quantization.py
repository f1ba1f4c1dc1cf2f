"""Suggestions for scales and zero points that do not fit their data. ONNX Runtime is asked."""

from __future__ import annotations

import numpy
import pytest
from fixes.test_likely import assert_suggested, model_of

import irlint

pytestmark = pytest.mark.oracle

CONSTANTS = "float s = {0.5}, float r = {0.25}, int8 a = {-8}, uint8 z = {0}, uint8 v = {5}"
WEIGHTS = ", int8[4,4] w = {1,2,3,4,1,2,3,4,1,2,3,4,1,2,3,4}"

#: The nodes of a sound graph, what is replaced, by what, and the suggestion; "=" before it: it is written.
NODES = [
    ("one of two zero points", "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = Relu (d) p = QuantizeLinear (e, r, v) y = DequantizeLinear (p, r, v)", "(p, r, v)", "(p, r, a)", "= connect `v` as input 2"),
    ("the same zero point at two nodes", "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = Relu (d) p = QuantizeLinear (e, s, z) y = DequantizeLinear (p, s, z)", "(q, s, z) e = Relu (d) p = QuantizeLinear (e, s, z) y = DequantizeLinear (p, s, z)", "(q, s, a) e = Relu (d) p = QuantizeLinear (e, s, z) y = DequantizeLinear (p, s, a)", "= connect `z` as input 2, and connect `z` as input 2 in DequantizeLinear[4]"),
    ("several zero points at two nodes", "q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z) e = Relu (d) p = QuantizeLinear (e, r, v) y = DequantizeLinear (p, r, v)", "(q, s, z) e = Relu (d) p = QuantizeLinear (e, r, v) y = DequantizeLinear (p, r, v)", "(q, s, a) e = Relu (d) p = QuantizeLinear (e, r, v) y = DequantizeLinear (p, r, a)", "= connect `z` as input 2, and connect `v` as input 2 in DequantizeLinear[4]"),
    ("another scale as well", "q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z)", "(q, s, z)", "(q, r, a)", "connect `s` as input 1, and connect `z` as input 2"),
    ("an omitted zero point", "q = QuantizeLinear (x, s) y = DequantizeLinear (q, s)", "(q, s)", "(q, s, a)", "= leave input 2 empty"),
    ("a Transpose between both nodes", "q = QuantizeLinear (x, s, z) t = Transpose <perm = [1,0]> (q) y = DequantizeLinear (t, s, z)", "(t, s, z)", "(t, s, a)", "= connect `z` as input 2"),
    ("four nodes between both nodes", "q = QuantizeLinear (x, s, z) a1 = Transpose <perm = [1,0]> (q) a2 = Identity (a1) a3 = Transpose <perm = [1,0]> (a2) t = Identity (a3) y = DequantizeLinear (t, s, z)", "(t, s, z)", "(t, r, a)", "connect `s` as input 1, and connect `z` as input 2"),
    ("the data of a product", "q = QuantizeLinear (x, s, z) c = QLinearMatMul (q, s, z, w, r, a, r, v) y = DequantizeLinear (c, r, v)", "(q, s, z, w", "(q, s, a, w", "= connect `z` as input 2"),
    ("the result of a product", "q = QuantizeLinear (x, s, z) c = QLinearMatMul (q, s, z, w, r, a, r, v) y = DequantizeLinear (c, r, v)", "(c, r, v)", "(c, r, a)", "= connect `v` as input 2"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "nodes", "old", "new", "expected"), NODES, ids=[each[0] for each in NODES])
def test_suggestion(what: str, nodes: str, old: str, new: str, expected: str) -> None:
    constants = CONSTANTS + WEIGHTS * ("w," in nodes)
    assert_suggested(f"(float[4,4] x) => (float[4,4] y) <{constants}> {{ {nodes} }}", old, new, expected)


def test_a_warning_about_sizes_that_the_error_hid() -> None:
    import onnxruntime

    text = (
        "(float[N,2,H,W] x) => (float[N,3] y) <float s = {0.5}, int8 a = {-8}, uint8 z = {0}, float[8,3] w> "
        "{ q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, a) f = Flatten (d) y = Gemm (f, w) }"
    )
    broken = model_of(text)
    with pytest.raises(Exception, match="bound to different types"):
        onnxruntime.InferenceSession(broken.SerializeToString())
    fixed = irlint.fix(broken, unsafe=True)
    assert fixed.edits[0].text == "connect `z` as input 2 in DequantizeLinear[1]"
    assert [each.rule.code for each in fixed.report.findings if each.severity.value == "warning"] == ["IRL608"]
    onnxruntime.InferenceSession(fixed.data).run(None, {"x": numpy.ones((1, 2, 2, 2), "float32")})
