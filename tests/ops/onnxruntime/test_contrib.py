"""What ONNX Runtime adds to ONNX, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from cases.models import Fed as Given
from cases.models import Input, onnx_model
from oracles.engines import irlint_on_onnx, node_case_difference, node_cases

MS = "com.microsoft"


def floats(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def ints(*dims: int | str | None) -> Input:
    return Input("int64", *dims)


def strings(*dims: int) -> Input:
    return Input("string", *dims)


def run(model: onnx.ModelProto, inputs: list[Given]) -> list[tuple[str, tuple[int, ...]]]:
    """The types and shapes that ONNX Runtime gives for zeros."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    given = [each for each in inputs if isinstance(each, Input)]
    arrays = [np.full(x.dims, "a b", object) if x.dtype == "string" else np.zeros(x.dims, x.dtype) for x in given]
    feeds = {info.name: array for info, array in zip(session.get_inputs(), arrays)}
    return [("string" if y.dtype == object else str(y.dtype), y.shape) for y in session.run(None, feeds)]


@pytest.mark.parametrize("case", node_cases("FlexAttention", "Det", "SwiGLU"), ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    assert node_case_difference(case) is None


TOKENS = {"mark": 0, "mincharnum": 1, "pad_value": "#", "separators": [" "]}
IMAGE = floats(2, 3, 20, 30)

SOUND: list[tuple[str, str, list[Given], dict[str, Any]]] = [
    (MS, "CDist", [floats(3, 4), floats(5, 4)], {"metric": "euclidean"}),
    (MS, "Inverse", [floats(2, 3, 3)], {}),
    (MS, "MurmurHash3", [ints(3, 2)], {}),
    (MS, "MurmurHash3", [ints(3, 2)], {"positive": 0}),
    (MS, "NGramRepeatBlock", [ints(3, 2), floats(3, 100)], {"ngram_size": 2}),
    (MS, "SampleOp", [floats(3)], {}),
    (MS, "Tokenizer", [strings(0)], TOKENS),
    (MS, "Tokenizer", [strings(2, 0)], TOKENS),
    (MS, "UnfoldTensor", [floats(3, 10)], {"size": 3, "step": 2}),
    (MS, "UnfoldTensor", [floats(10, 3)], {"size": 10, "dim": 0}),
    ("", "Affine", [IMAGE], {"alpha": 1.0, "beta": 2.0}),
    ("", "ParametricSoftplus", [IMAGE], {"alpha": 1.0, "beta": 2.0}),
    ("", "ScaledTanh", [IMAGE], {"alpha": 1.0, "beta": 2.0}),
    ("", "Scale", [IMAGE], {"scale": 2.0}),
    ("", "ImageScaler", [IMAGE], {"bias": [1.0, 2.0, 3.0]}),
    ("", "Crop", [IMAGE], {"border": [2, 1, 3, 4]}),
    ("", "Crop", [IMAGE], {"border": [2, 1, 3, 4], "scale": [5, 6]}),
]


@pytest.mark.parametrize(("domain", "op", "inputs", "attributes"), SOUND, ids=[each[1] for each in SOUND])
def test_as_onnxruntime(domain: str, op: str, inputs: list[Given], attributes: dict[str, Any]) -> None:
    model = onnx_model(op, inputs, attributes, 17 if domain else 7, domain)
    assert irlint_on_onnx(model) == run(model, inputs)


BROKEN: list[tuple[str, str, list[Given], dict[str, Any], str]] = [
    (MS, "CDist", [floats(3, 4), floats(5, 3)], {"metric": "euclidean"}, "IRL320"),
    (MS, "CDist", [floats(2, 3, 4), floats(2, 5, 4)], {"metric": "euclidean"}, "IRL339"),
    (MS, "Inverse", [floats(2, 3, 4)], {}, "IRL321"),
    (MS, "Inverse", [floats(3)], {}, "IRL321"),
    (MS, "Tokenizer", [strings(1, 2, 3)], TOKENS, "IRL339"),
    (MS, "UnfoldTensor", [floats(3, 2)], {"size": 3}, "IRL510"),
    ("", "Det", [floats(2, 3, 4)], {}, "IRL321"),
    ("", "ImageScaler", [IMAGE], {"bias": [1.0, 2.0]}, "IRL510"),
    ("", "ImageScaler", [floats(3, 20, 30)], {"bias": [1.0, 2.0, 3.0]}, "IRL339"),
    ("", "Crop", [IMAGE], {"border": [2, 1, 3]}, "IRL334"),
    ("", "Crop", [IMAGE], {"border": [2, 1, 0, 0], "scale": [5]}, "IRL334"),
    ("", "Crop", [IMAGE], {"border": [20, 20, 20, 20]}, "IRL335"),
    ("", "Crop", [IMAGE], {"border": [2, 1, 0, 0], "scale": [55, 6]}, "IRL335"),
]


@pytest.mark.parametrize(("domain", "op", "inputs", "attributes", "code"), BROKEN, ids=[each[1] for each in BROKEN])
def test_refused_as_by_onnxruntime(
    domain: str, op: str, inputs: list[Given], attributes: dict[str, Any], code: str
) -> None:
    model = onnx_model(op, inputs, attributes, 17 if domain else 11 if op == "Det" else 7, domain)
    verdict = irlint_on_onnx(model)
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code
    with pytest.raises(Exception, match=r"node|Node|kernel|attribute"):
        run(model, inputs)


BODY = "{ s (float[B,H,L,S] x) => (float[B,H,L,S] y) { y = Identity (x) } }"


def flex(attributes: str = "", k: str = "2,2,6,8", v: str = "2,2,6,9") -> onnx.ModelProto:
    text = f"""<ir_version: 10, opset_import: ["" : 24, "ai.onnx.preview" : 1]>
    g (float[2,4,5,8] q, float[{k}] k, float[{v}] v) => (y) {{ y = ai.onnx.preview.FlexAttention {attributes} (q, k, v) }}"""
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (flex(), [("float32", (2, 4, 5, 9))]),
        (flex(k="N,2,S,8"), [("float32", (2, 4, 5, 9))]),
        (flex(k="2,3,6,8", v="2,3,6,9"), "IRL380"),
        (flex(k="3,2,6,8"), "IRL381"),
        (flex(k="2,2,6,7"), "IRL381"),
        (flex(k="2,2,7,8"), "IRL381"),
        (flex(k="2,6,8"), "IRL381"),
        (flex("<score_mod = s (float[B,H,L,S] x) => (z) { z = Identity (x) }>"), [("float32", (2, 4, 5, 9))]),
        (flex("<score_mod = s (float[B,H,L,S] x) => (z) { z = Transpose (x) }>"), "IRL391"),
        (flex("<score_mod = s (int64[B,H,L,S] x) => (x) { }>"), "IRL391"),
        (flex("<prob_mod = s (float[B,H,L,S] x, float[1] u) => (z) { z = Add (x, u) }>"), "IRL390"),
    ],
)
def test_flex_attention(model: onnx.ModelProto, expected: Any) -> None:
    verdict = irlint_on_onnx(model)
    assert (verdict.split()[0] if isinstance(verdict, str) else verdict) == expected


def search(op: str, lists: str, outputs: str = "y") -> onnx.ModelProto:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    g (int32[N,S] ids) => ({outputs}) <int32[1] most = {{20}}, int32[1] least = {{1}}, int32[1] beams = {{4}}, int32[1] back = {{2}}>
    {{ {outputs} = com.microsoft.{op} <decoder = d (int32[B,T] x) => (z) {{ z = Identity (x) }}, eos_token_id = 1,
       pad_token_id = 1, vocab_size = 50> ({lists}) }}"""
    return onnx.parser.parse_model(text)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (search("GreedySearch", "ids, most, least"), [("int32", (None, 20))]),
        (search("GreedySearch", "ids, most"), [("int32", (None, 20))]),
        (search("BeamSearch", 'ids, most, "", beams, back'), [("int32", (None, 2, 20))]),
        (
            search("BeamSearch", "ids, most, least, beams, back", "y, s, t"),
            [("int32", (None, 2, 20)), ("float32", (None, 2)), ("float32", (None, None, 4, 50))],
        ),
        (search("Sampling", "ids, most", "y, s"), [("int32", (None, 20)), ("float32", (None, 50))]),
    ],
)
def test_sequences_are_as_long_as_the_most(model: onnx.ModelProto, expected: Any) -> None:
    assert irlint_on_onnx(model) == expected


X = floats(2, 3, 8)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "outputs", "expected"),
    [
        ("SoftmaxGrad", [X, X], {"axis": 2}, 1, [(2, 3, 8)]),
        ("GeluGrad", [X, X], {}, 1, [(2, 3, 8)]),
        (
            "LayerNormalizationGrad",
            [X, X, floats(2, 3, 1), floats(2, 3, 1), floats(8)],
            {"axis": -1},
            3,
            [(2, 3, 8), (8,), (8,)],
        ),
        ("SoftmaxCrossEntropyLossGrad", [floats(), floats(2, 10), ints(2)], {}, 1, [(2, 10)]),
        ("SoftmaxCrossEntropyLossGrad", [floats(2, 10), ints(2)], {}, 1, [(2, 10)]),
    ],
)
def test_gradients_have_the_shapes_of_what_they_are_of(
    op: str, inputs: list[Given], attributes: dict[str, Any], outputs: int, expected: list[Any]
) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, 17, MS, outputs))
    assert verdict == [("float32", shape) for shape in expected]
