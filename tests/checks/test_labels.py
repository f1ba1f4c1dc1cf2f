"""Class labels that are converted to numbers. ONNX Runtime is asked which texts it reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import onnx.helper
import onnx.parser
import pytest
from onnx import ModelProto

import irlint

pytestmark = pytest.mark.oracle

TEXTS = ("cat", "1", "1.5", "12abc", " 3", "", "-1", "nan", "inf", "0x1A", "9" * 20, "1e5", "+7", ".5", "-", "\u0661")
LARGE_TEXTS = (str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), "1" * 5000, "0" * 5000 + "1", "1e999")


def mapped(texts: Sequence[str], dtype: int) -> ModelProto:
    """A model that maps 0 to the first text, 1 to the second one and so on, and converts the text."""
    nodes = [
        onnx.helper.make_node(
            "CategoryMapper",
            ["x"],
            ["a"],
            domain="ai.onnx.ml",
            cats_int64s=list(range(len(texts))),
            cats_strings=list(texts),
            default_string=texts[0],
        ),
        onnx.helper.make_node("Cast", ["a"], ["y"], to=dtype),
    ]
    ends = [
        [onnx.helper.make_tensor_value_info(name, kind, ["N"])]
        for name, kind in (("x", onnx.TensorProto.INT64), ("y", dtype))
    ]
    opsets = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("ai.onnx.ml", 1)]
    return onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", *ends), opset_imports=opsets, ir_version=8)


def test_a_default_that_is_a_number() -> None:
    model = mapped(["cat", "dog"], onnx.TensorProto.INT64)
    (default,) = [each for each in model.graph.node[0].attribute if each.name == "default_string"]
    default.s = b"0"
    assert runs(model, {"x": numpy.full(1, 7, "int64")})
    assert not runs(model, {"x": numpy.zeros(1, "int64")})
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL718"]
    assert found.severity.value == "warning"


def runs(model: ModelProto, feed: dict[str, Any]) -> bool:
    import onnxruntime

    session = onnxruntime.InferenceSession(model.SerializeToString())
    try:
        session.run(None, feed)
    except onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException:
        return False
    return True


@pytest.mark.parametrize("dtype", ["FLOAT", "DOUBLE", "FLOAT16", "INT8", "INT64", "UINT8", "UINT64", "BOOL"])
def test_texts_of_numbers(dtype: str) -> None:
    for text in (*TEXTS, *LARGE_TEXTS):
        model = mapped([text], onnx.TensorProto.DataType.Value(dtype))
        found = [each.severity.value for each in irlint.check(model).findings if each.rule.code == "IRL718"]
        assert found == [] if runs(model, {"x": numpy.zeros(1, "int64")}) else found == ["error"], (text, dtype)


def test_a_warning_if_some_labels_are_numbers() -> None:
    model = mapped(["1", "two", "3"], onnx.TensorProto.INT64)
    (found,) = irlint.check(model).findings
    assert (found.rule.code, found.severity.value) == ("IRL718", "warning")
    assert found.message.endswith("no 64-bit integer is at the beginning of 'two' (1 of 3 labels)")
    assert runs(model, {"x": numpy.array([0, 2])})
    assert not runs(model, {"x": numpy.array([0, 1])})


@pytest.mark.parametrize(("labels", "expected"), [('"cat", "dog"', ["IRL718"]), ('"0", "1"', [])])
def test_labels_of_a_classifier(labels: str, expected: list[str]) -> None:
    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]> g (float[N,2] x) => (int64[N] y, float[N,2] s) {{
        a, s = ai.onnx.ml.LinearClassifier <classlabels_strings = [{labels}], coefficients = [1.0, 2.0, 3.0, 4.0],
        intercepts = [0.5, 0.5]> (x) y = Cast <to = 7> (a) }}"""
    )
    assert [each.rule.code for each in irlint.check(model, ignore=["IRL9"]).findings] == expected
    assert runs(model, {"x": numpy.ones((3, 2), "float32")}) is not bool(expected)
