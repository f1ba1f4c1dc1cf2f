"""Errors of weights whose shape is wrong: the shape that ONNX Runtime accepts is suggested."""

from __future__ import annotations

import numpy
import onnx
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '

#: What is wrong, a sound graph, the weights with wrong shapes, and the first suggestion for the broken model.
#: The graph inputs other than ``x``, ``past``, ``n`` and ``c`` are weights.
WRONG = [
    ("one of two heads", "(float[1,4,2,2] x, float[27,4,1,1] w, float[27] b, float[27,4,1,1] v) => (float[1,3,9,8] y) <int64[4] t = {1,3,9,4}> { c = Conv (x, w, b) d = Conv (x, v) r = Reshape (c, t) s = Reshape (d, t) y = Concat <axis = 3> (r, s) }", {"w": (21, 4, 1, 1), "b": (21,)}, "change 21 to 27 on axis 0 of constant `w`, and change 21 to 27 on axis 0 of constant `b`"),
    ("gates of another cell", "(float[N,7] x, float[7,60] w, float[20] b) => (float[N,20] y) { p = MatMul (x, w) c, f, r = Split <axis = 1> (p) s = Add (c, b) t = Mul (s, f) y = Add (t, r) }", {"w": (7, 80)}, "change 80 to 60 on axis 1 of constant `w`"),
    ("a table for other heads", "(float[N,S,8] x, float[2,5] t) => (float[N,2,S,4] y) <int64[4] k = {0,0,2,4}, int64[1] i = {3}, int64[3] z = {0,2,3}, int64[1] o = {1}> { r = Reshape (x, k) q = Transpose <perm = [0,2,1,3]> (r) e = Gather <axis = 1> (t, i) f = Squeeze (e, o) h = Unsqueeze (f, z) y = Add (q, h) }", {"t": (3, 5)}, "change 3 to 2 on axis 0 of constant `t`"),
    ("a state that the body does not accept", "(float[N,3] x, float[3,4] w) => (float[N,4] y) <int64 n = {2}, bool c = {1}, float[4,4] k = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}> { h = MatMul (x, w) y = Loop <body = b (int64 i, bool d, float[N,4] s) => (bool e, float[N,4] t) { e = Identity (d) t = MatMul (s, k) }> (n, c, h) }", {"w": (3, 6)}, "change 6 to 4 on axis 1 of constant `w`; this also fixes 1 more"),
    ("scales of another layer", "(float[1,4,6,6] x, int8[8,4,1,1] w, float[8] s, int8[8] z) => (float[1,8,6,6] y) { f = DequantizeLinear <axis = 0> (w, s, z) y = Conv (x, f) }", {"s": (16,), "z": (16,)}, "change 16 to 8 on axis 0 of constant `s`, and likewise in `z`"),
    ("the last of three heads", "(float[1,4,2,2] x, float[2,4,1,1] u, float[2,4,1,1] v, float[2,4,1,1] w, float[4,4,1,1] r) => (float[1,6,k] y) <int64[3] s = {1,6,-1}, int64[3] t = {1,6,-1}, int64[3] q = {1,6,-1}> { a = Conv (x, u) b = Conv (x, v) c = Conv (x, w) p = Conv (x, r) d = Concat <axis = 1> (a, p) e = Concat <axis = 1> (b, p) f = Concat <axis = 1> (c, p) g = Reshape (d, s) h = Reshape (e, t) i = Reshape (f, q) y = Concat <axis = 2> (g, h, i) }", {"w": (3, 4, 1, 1)}, "change 3 to 2 on axis 0 of constant `w`"),
    ("keys with a head for each query", "(float[B,S,8] x, float[B,2,P,4] past, float[8,8] w) => (float[B,2,T,4] y) <int64[4] t = {0,0,-1,4}> { k = MatMul (x, w) r = Reshape (k, t) q = Transpose <perm = [0,2,1,3]> (r) y = Concat <axis = 2> (past, q) }", {"w": (8, 16)}, "change 16 to 8 on axis 1 of constant `w`"),
    ("rows of a pruned layer", "(float[N,S,8] x, float[8,6] u, float[6,8] v) => (float[N,S,8] y) { a = MatMul (x, u) g = Relu (a) b = MatMul (g, v) y = Add (x, b) }", {"v": (8, 8)}, "change 8 to 6 on axis 0 of constant `v`"),
    ("a bias before a node that limits the batch", "(float[N,4] x, float[4,6] w, float[6] b, float[2,1] k) => (float[M,6] y) { p = MatMul (x, w) s = Add (p, b) y = Mul (s, k) }", {"b": (8,)}, "change 8 to 6 on axis 0 of constant `b`"),
    ("coefficients of other points", "(float[N,5] x, float[40,5] r, float[40] v) => (float[N] y) { t = Transpose <perm = [1,0]> (r) k = MatMul (x, t) e = Exp (k) y = MatMul (e, v) }", {"v": (30,)}, "change 30 to 40 on axis 0 of constant `v`"),
    ("points of other coefficients", "(float[N,5] x, float[40,5] r, float[40] v) => (float[N] y) { t = Transpose <perm = [1,0]> (r) k = MatMul (x, t) e = Exp (k) y = MatMul (e, v) }", {"r": (30, 5)}, "change 30 to 40 on axis 0 of constant `r`"),
]  # fmt: skip


def models(text: str, wrong: dict[str, tuple[int, ...]]) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """The sound and the broken model."""
    made = []
    for shapes in ({}, wrong):
        model = onnx.parser.parse_model(HEAD + text)
        for value in [each for each in model.graph.input if each.name not in ("x", "past", "n", "c")]:
            given = value.type.tensor_type
            shape = shapes.get(value.name) or [dim.dim_value for dim in given.shape.dim]
            dtype = onnx.helper.tensor_dtype_to_np_dtype(given.elem_type)
            weights = numpy.full(shape, 0 if value.name == "z" else 1, dtype)
            model.graph.initializer.append(onnx.numpy_helper.from_array(weights, value.name))
            model.graph.input.remove(value)
        made.append(model)
    return made[0], made[1]


def computes(model: onnx.ModelProto) -> None:
    """Runs a model. Raises what ONNX Runtime raises."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    feeds = {
        each.name: numpy.ones([size if isinstance(size, int) else 2 for size in each.shape], "float32")
        for each in session.get_inputs()
    }
    session.run(None, feeds)


@pytest.mark.oracle
@pytest.mark.parametrize(("what", "text", "wrong", "expected"), WRONG)
def test_the_shape_with_which_a_model_runs_is_suggested(
    what: str, text: str, wrong: dict[str, tuple[int, ...]], expected: str
) -> None:
    sound, broken = models(text, wrong)
    computes(sound)
    with pytest.raises(Exception, match=r"."):
        computes(broken)
    root = next(each for each in irlint.check(broken).findings if each.severity.value == "error")
    assert expected in root.suggestion.split("; or ")
    assert root.fix is None


#: Why no weight is named, a graph whose inputs after ``x`` are weights, and a text that the suggestion lacks.
OTHER_CAUSES = [
    ("the scales of a Resize are in another order", "(float[N,4,H,W] x, float[8,4,3,3] u, float[4,8,1,1] v) => (float[N,8,h,w] y) <float[4] f = {1,2,2,1}> { a = Conv <strides = [2,2], pads = [1,1,1,1]> (x, u) b = Resize (a, , f) c = Conv (b, v) y = Concat <axis = 1> (x, c) }", "`u`"),
    ("the number of spatial elements is no weight", "(float[1,3,16,16] x, float[4,3,2,2] w) => (float[1,64,5] y) <int64[3] t = {1,-1,5}> { c = Conv <strides = [2,2]> (x, w) y = Reshape (c, t) }", "axis 2 of constant `w`"),
    ("an input has another type", "(int64[N,3] x, float[3,4] w) => (float[N,4] y) { y = MatMul (x, w) }", "`w`"),
    ("a Reshape would mix axes", "(float[1,3,16,32] x, float[4,3,2,2] w, float[64,4] p) => (float[1,64,4] y) <int64[3] t = {1,4,-1}> { c = Conv <strides = [2,2]> (x, w) r = Reshape (c, t) q = Transpose <perm = [0,2,1]> (r) y = Add (q, p) }", "`w`"),
    ("a state of another size enters a loop", "(int64 n, bool c, float[N,4] x, float[8,12] w) => (float[N,h] y) <int64[1] t = {12}, int64[1] i = {0}, int64[1] o = {1}> { s = Shape (x) b = Slice (s, i, o) d = Concat <axis = 0> (b, t) z = ConstantOfShape (d) y = Loop (n, c, z) <body = b (int64 k, bool e, float[N,h] p) => (bool f, float[N,q] r) { f = Identity (e) j = Concat <axis = 1> (x, p) r = Gemm <transB = 1> (j, w) }> }", "`w`"),
    ("an output is declared", "(float[N,3] x, float[3,4] w, float[5] b) => (float[N,5] y) <float[1] k = {1}> { m = MatMul (x, w) a = Add (m, b) y = Mul (a, k) }", "`b`"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "absent"), OTHER_CAUSES)
def test_a_weight_that_is_right_is_not_named(what: str, text: str, absent: str) -> None:
    _, broken = models(text, {})
    root = next(each for each in irlint.check(broken).findings if each.severity.value == "error")
    assert absent not in root.suggestion
