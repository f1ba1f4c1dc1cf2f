"""Suggestions without support in the model name other places that may be wrong instead."""

from __future__ import annotations

import numpy
import onnx.numpy_helper
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: The window partition of a feature map.
WINDOWS = (
    "(float[N,{},12,16] x) => (float[N,a,b,c,d,16] y) <int64[1] i = {{0}}, int64[1] j = {{1}}, int64[1] k = {{2}}, "
    "int64[1] f = {{4}}, int64[1] m = {{4}}, int64[1] v = {{4}}, int64[1] e = {{16}}> "
    "{{ o = Relu (x) s = Shape (x) n = Gather (s, i) h = Gather (s, j) w = Gather (s, k) p = Div (h, f) "
    "q = Div (w, f) t = Concat <axis = 0> (n, p, m, q, v, e) y = Reshape (o, t) }}"
)

#: Attention with a table of biases, whose number of heads is axis 1.
HEADS = (
    "(float[N,s,32] x) => (float[N,h,s,s] y) <int64[1] i = {{0}}, int64[1] o = {{1}}, int64[1] l = {{-1}}, "
    "int64[1] d = {{8}}, int64[2] r = {{0, 1}}> {{ f = Shape (x) n = Gather (f, i) g = Gather (f, o) "
    "t = Concat <axis = 0> (n, g, l, d) v = MatMul (x, query) u = Reshape (v, t) q = Transpose <perm = [0,2,1,3]> (u) "
    "k = Transpose <perm = [0,2,3,1]> (u) m = MatMul (q, k) y = Add (m, {}) }}"
)

#: An encoder of the pixels of an image. Two nodes use them.
TOKENS = (
    "(float[N,3,32,32] x) => (float[A,N,5] y, float[N,a,b] z) <int64[3] t = {{0, 8, -1}}> {{ "
    "c = Conv <strides = [2,2]> (x, conv) {} p = Transpose <perm = [1,0,2]> (r) y = MatMul (p, linear) "
    "z = Add (r, place) }}"
)
WEIGHTS = {
    "eight": (1, 8, 1, 1),
    "four": (1, 4, 1, 1),
    "query": (32, 32),
    "conv": (8, 3, 2, 2),
    "linear": (8, 5),
    "place": (1, 256, 8),
}

#: (pattern of a graph, its wrong part, its right part, suggestion).
MODELS = [
    (
        WINDOWS,
        "10",
        "8",
        "change 4 to 5 in constant `m`, or change 4 to 5 in constant `v`; "
        "or, less likely, change 10 to 8 on axis 1 of input `x`",
    ),
    (
        HEADS,
        "eight",
        "four",
        "change 8 to 4 in constant `d`; or, less likely, change 8 to 4 on axis 1 of constant `eight`",
    ),
    (
        TOKENS,
        "r = Reshape (c, t)",
        "o = Reshape (c, t) r = Transpose <perm = [0,2,1]> (o)",
        "insert a Transpose with `perm = [0, 2, 1]` before input 0 in Transpose[2], and insert a Transpose with "
        "`perm = [0, 2, 1]` before input 0 in Add[4]; this also fixes 1 more",
    ),
]


def _model(text: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"{HEAD}g {text}")
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(numpy.zeros(shape, "float32"), name)
        for name, shape in WEIGHTS.items()
        if name in text
    )
    return model


def _runs(model: onnx.ModelProto) -> bool:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        (given,) = session.get_inputs()
        shape = [dim if isinstance(dim, int) else 2 for dim in given.shape]
        session.run(None, {given.name: numpy.zeros(shape, "float32")})
    except Exception:
        return False
    return True


@pytest.mark.oracle
@pytest.mark.parametrize(("pattern", "wrong", "right", "suggestion"), MODELS)
def test_other_places_are_less_likely(pattern: str, wrong: str, right: str, suggestion: str) -> None:
    broken, sound = _model(pattern.format(wrong)), _model(pattern.format(right))
    assert (_runs(broken), _runs(sound)) == (False, True)
    found = next(each for each in irlint.check(broken).findings if each.severity.value == "error")
    assert found.suggestion == suggestion
    assert all(each.severity.value != "error" for each in irlint.check(sound).findings)


def test_several_targets_are_not_rewritten_where_another_size_of_an_input_fits() -> None:
    """The second map has the same windows, and the correction of the first map fixes it, too."""
    text = (
        WINDOWS.format(10)
        .replace(") => (", ") => (float[N,a,b,c,d,16] z, ")
        .replace(
            "y = Reshape (o, t)",
            "y = Reshape (o, t) g = Concat <axis = 0> (n, p, m, q, v, e) r = Exp (x) z = Reshape (r, g)",
        )
    )
    found = irlint.check(_model(text)).findings[0]
    assert (found.rule.code, found.fix) == ("IRL330", None)
    assert "input `x`" in found.suggestion


def test_k_of_a_topk_may_be_wrong_and_no_window_lies_outside_of_the_data() -> None:
    text = (
        "(float[1,3,16,16] x) => (float[1,80] y, int64[1,80] i) <int64[1] k = {80}> { "
        "c = Conv <kernel_shape = [2,2], strides = [2,2]> (x, conv) r = Relu (c) o = Conv (r, one) "
        "f = Flatten (o) y, i = TopK (f, k) }"
    )
    model = _model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.zeros((1, 8, 1, 1), "float32"), "one"))
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.rule.code == "IRL349"
    assert found.fix is None
    assert "or use a k of at most 64" in found.suggestion
    assert "pads = [1, 1, 1, 1]` in Conv[2]" not in found.suggestion
