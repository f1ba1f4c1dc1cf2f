"""Initializers whose shape differs from their declaration in ``value_info``: which of the two is wrong? ONNX Runtime is
asked."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from fixes.test_restored import feeds, fixed, model_of, outputs
from onnx import ModelProto, TensorProto, helper, numpy_helper

import irlint

#: (what, graph, initializer, its wrong shape, whether ONNX Runtime runs it).
WRONG_SHAPES = [
    ("a table without its axes, against the declared axes of an output", "(int64[N,S] x) => (float[N,S,3] y) <float[4,3] w> { g = Gather (w, x) y = Add (g, g) }", "w", [12], True),
    ("a table without its axes, behind which sizes differ", "(int64[N,S] x) => (float[N,S,5] y) <float[4,6] w, float[6,5] v> { g = Gather (w, x) y = MatMul (g, v) }", "w", [24], False),
    ("an axis of size 1 elsewhere", "(float[N,4,H,W] x) => (float[N,4,H,W] y) <float[1,4,1,1] w> { a = Relu (x) y = Add (a, w) }", "w", [4, 1, 1, 1], False),
    ("axes in other proportions", "(float[N,6] x) => (float[N,4] y) <float[6,4] w> { y = MatMul (x, w) }", "w", [3, 8], False),
]  # fmt: skip


def models(text: str, name: str, shape: list[int]) -> tuple[ModelProto, ModelProto]:
    """(model with a random initializer, model that stores the initializer with another shape)."""
    model = model_of("(float[1] x) => (float[1] y) { y = Neg (x) }")
    parsed = onnx.parser.parse_graph(f"g {_without_initializers(text)[0]}")
    model.graph.CopyFrom(parsed)
    for at, (each, dims) in enumerate(_without_initializers(text)[1]):
        values = np.random.default_rng(at).normal(size=dims).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, each))
        model.graph.value_info.append(helper.make_tensor_value_info(each, TensorProto.FLOAT, dims))
    wrong = ModelProto()
    wrong.CopyFrom(model)
    for initializer in wrong.graph.initializer:
        if initializer.name == name:
            initializer.dims[:] = shape
    return model, wrong


def _without_initializers(text: str) -> tuple[str, list[tuple[str, list[int]]]]:
    before, _, rest = text.partition("<")
    declared, _, after = rest.partition(">")
    found = []
    for each in declared.split(", "):
        dims, name = each.removeprefix("float[").split("] ")
        found.append((name, [int(dim) for dim in dims.split(",")]))
    return before + after, found


@pytest.mark.oracle
@pytest.mark.parametrize(("what", "text", "name", "shape", "runs"), WRONG_SHAPES)
def test_the_declared_shape_is_stored(what: str, text: str, name: str, shape: list[int], runs: bool) -> None:
    sound, wrong = models(text, name, shape)
    feed = feeds(sound)
    if not runs:
        with pytest.raises(Exception, match="ONNXRuntimeError"):
            outputs(wrong, feed)
    for one, other in zip(outputs(fixed(wrong), feed), outputs(sound, feed)):
        assert np.array_equal(one, other)


def test_transposed_elements_are_left() -> None:
    text = "(float[N,6] x) => (float[N,4] y) <float[6,4] w> { y = MatMul (x, w) }"
    _, wrong = models(text, "w", [4, 6])
    assert list(onnx.load_from_string(fixed(wrong)).graph.initializer[0].dims) == [4, 6]


@pytest.mark.oracle
def test_a_stale_declaration_is_removed() -> None:
    """Other declarations that are stale alike prove nothing, if the model runs."""
    text = "(float[N,4] x) => (float[N,4] y) <float[1,4] w> { a = Relu (x) b = Neg (w) y = Add (a, b) }"
    _, model = models(text, "w", [4])
    model.graph.value_info.append(helper.make_tensor_value_info("b", TensorProto.FLOAT, [1, 4]))
    feed = feeds(model)
    data = fixed(model)
    assert np.array_equal(outputs(data, feed)[0], outputs(model, feed)[0])
    assert list(onnx.load_from_string(data).graph.initializer[0].dims) == [4]
    assert [each.rule.code for each in irlint.check(data).findings if each.rule.code < "IRL9"] == []


def test_a_declaration_that_another_edit_makes_right_stays() -> None:
    model = model_of(
        """(float[N,3,4] x) => (float[N,3,4] y) {
  a = Relu (x) b = Neg (x) zero = Constant <value_ints = [0]> () c = Unsqueeze (a, zero) d = Unsqueeze (b, zero)
  stack = Concat <axis = 1> (c, d) y = ReduceSum <keepdims = 0> (stack, zero) }"""
    )
    model.graph.value_info.append(helper.make_tensor_value_info("stack", TensorProto.FLOAT, [2, "N", 3, 4]))
    (finding,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL601"]
    assert (finding.suggestion, finding.fix) == ("set `axis = 0`", None)
    assert onnx.load_from_string(fixed(model)).graph == model.graph


def test_another_formula_of_the_declared_sizes_fits_no_declaration() -> None:
    """With strides of 16, the Conv computes (L + 140)//320, where L//20 is declared."""
    model = model_of(
        "(float[N,4,L] x) => (float[N,4,K] y) { p = Conv <strides = [20]> (x, v) c = Conv <pads = [8,0], strides = [1]>"
        " (p, w) y = Add (p, c) }"
    )
    for name, size in (("v", 20), ("w", 16)):
        model.graph.initializer.append(numpy_helper.from_array(np.ones((4, 4, size), np.float32), name))
    model.graph.value_info.append(helper.make_tensor_value_info("c", TensorProto.FLOAT, ["N", 4, "L//20"]))
    suggestions = {each.rule.code: each.suggestion for each in irlint.check(model).findings}
    assert (suggestions["IRL601"], suggestions["IRL613"]) == ("", "")


def test_elements_that_may_have_to_be_transposed_are_the_cause_and_not_written() -> None:
    """The table is declared as [8,2]. Reshape makes of its rows what no size of S fits."""
    text = (
        "(float[1,S,4] x, int64[1,S] i) => (float[1,S,4] y) <float[8,2] w> { g = Gather (w, i) t = Constant <value_ints ="
        " [1,-1,2]> () r = Reshape (g, t) c = Concat <axis = 2> (r, r) y = Add (x, c) }"
    )
    _, wrong = models(text, "w", [2, 8])
    wrong.graph.value_info.append(helper.make_tensor_value_info("g", TensorProto.FLOAT, [1, "S", 2]))
    (root,) = [each for each in irlint.check(wrong, ignore=["IRL9"]).findings if not each.because]
    assert root.suggestion.startswith("reshape constant `w` from [2, 8] to [8, 2]; this also fixes ")
    assert root.fix is None
    assert list(onnx.load_from_string(fixed(wrong)).graph.initializer[0].dims) == [2, 8]
