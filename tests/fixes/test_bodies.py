"""Errors in bodies: the size of the model's input that fits, and what follows from an error in a branch. ONNX Runtime
is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
from onnx import ModelProto

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
SQUEEZED = """v = Conv <strides = [64]> (x, k) s = Shape (v) g = Gather (s, i) c = Equal (g, one)
  q = If (c) <then_branch = t () => (float[a,b] p) { p = Squeeze (v, two) }, else_branch = e () => (float[d,e,f] r) { r = Identity (v) }>
  y = Transpose <perm = [1,0]> (q)"""
NESTED = f"""h = Equal (rate, n) y = If (h) <then_branch = tt () => (float[m,n] yy) {{ {SQUEEZED.replace("y =", "yy =")} }},
  else_branch = ff () => (float[m,n] zz) {{ w = Conv <strides = [64]> (x, k) z = Squeeze (w, two) zz = Transpose <perm = [1,0]> (z) }}>"""

#: A graph, in which ~ is the size of the last axis of its input: a wrong one, one that fits, the numbers of errors that
#: follow from none, and of all errors.
SIZED = [
    ("(bool b, float[4,2,~] x) => (float[4,2] y) { y = If (b) <then_branch = t () => (float[a,b] p) { p = Squeeze (x, two) }, else_branch = e () => (float[d,e] r) { r = ReduceMean <axes = [2], keepdims = 0> (x) }> }", 3, 1, (1, 1)),
    ("(bool b, float[4,2,~] x) => (float[4,2] y) { y = If (b) <then_branch = t () => (float[a,b] p) { r = ReduceMax <axes = [2], keepdims = 1> (x) u = Concat <axis = 2> (x, r) w = Squeeze (u, two) p = Relu (w) }, else_branch = e () => (float[d,e] r) { r = ReduceMean <axes = [2], keepdims = 0> (x) }> }", 3, None, (1, 1)),
    (f"(float[1,1,~] x) => (float[4,1] y) {{ {SQUEEZED} }}", 256, 127, (1, 2)),
    (f"(float[1,1,~] x, int64 rate) => (float[4,1] y) {{ {NESTED} }}", 256, 127, (2, 3)),
]  # fmt: skip


def model_of(text: str, size: int) -> ModelProto:
    constants = "<int64[1] two = {2}, int64 one = {1}, int64 i = {2}, int64 n = {16000}>"
    model = onnx.parser.parse_model(f"{HEAD}g {text.replace('~', str(size)).replace('{', constants + ' {', 1)}")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((4, 1, 64), "float32"), "k"))
    return model


def ran(model: ModelProto) -> Any:
    import onnxruntime

    feeds = {}
    for each in model.graph.input:
        shape = [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
        feeds[each.name] = np.full(shape, 16000 if each.name == "rate" else 1, dtype)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "wrong", "right", "counts"), SIZED)
def test_the_size_of_an_input_that_fits_a_body(
    text: str, wrong: int, right: int | None, counts: tuple[int, int]
) -> None:
    with pytest.raises(Exception, match=r"[Ss]queeze"):
        ran(model_of(text, wrong))
    found = [each for each in irlint.check(model_of(text, wrong)).findings if each.severity.value == "error"]
    roots = [each for each in found if not each.because]
    assert (len(roots), len(found)) == counts
    assert all(each.rule.code == "IRL332" and each.graph and each.fix is None for each in roots)
    if right is None:
        assert not roots[0].suggestion
        return
    also = f"; this also fixes {len(found) - 1} more" if len(found) > 1 else ""
    assert {each.suggestion for each in roots} == {f"change {wrong} to {right} on axis 2 of input `x`{also}"}
    assert not [each for each in irlint.check(model_of(text, right)).findings if each.severity.value != "note"]
    ran(model_of(text, right))


#: A model whose loop runs once more than its input has rows.
ONCE_MORE = """(float[~,4] x) => (float[?,4] y) <int64 zero = {0}, int64 one = {1}, bool d = {1}> {
  s = Shape (x) n = Gather (s, zero) m = Add (n, one)
  y = Loop (m, d) <body = b (int64 i, bool c) => (bool e, float[4] o) {
    e = Identity (c) r = Gather <axis = 0> (x, i) o = Relu (r) }> }"""


@pytest.mark.oracle
@pytest.mark.parametrize("rows", ["7", "S"])
def test_a_trip_count_that_is_one_too_large(rows: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(f"{HEAD}g {ONCE_MORE.replace('~', rows)}")
    feed = {"x": np.ones((7, 4), "float32")}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, feed)
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.suggestion == "connect `n`, without the Add, as input 0 in Loop[3]"
    (y,) = onnxruntime.InferenceSession(irlint.fix(model, unsafe=True).data).run(None, feed)
    assert y.shape == (7, 4)
