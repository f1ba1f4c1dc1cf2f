"""Operators on strings, against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Fed as Given
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnxruntime_verdict

OPERATORS = ("StringConcat", "StringNormalizer", "RegexFullMatch", "TfIdfVectorizer", "StringSplit")

#: How many strings are left, and how many pieces a string has, depends on the strings.
DATA_DEPENDENT = ("test_string_split", "test_strnormalizer_export_monday")


@pytest.mark.parametrize("case", node_cases(*OPERATORS), ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    difference = node_case_difference(case)
    if case.name.startswith(DATA_DEPENDENT):
        assert difference is None or difference.startswith("unknown"), difference
    else:
        assert difference is None


def strings(*dims: int | None) -> Input:
    return Input("string", *dims)


def places(*dims: int | None, dtype: str = "int32") -> Input:
    return Input(dtype, *dims)


def numbers(*entries: int) -> np.ndarray:
    return np.array(entries, np.int32)


BYTES = Input("uint8", 10)

PACKED: list[tuple[Given, ...]] = [
    (places(2), places(2), BYTES),
    (places(2, 3), places(2, 3), BYTES),
    (places(2), places(3), BYTES),
    (places(2), places(None), BYTES),
    (places(2), places(2, dtype="int64"), BYTES),
    (places(), places(), BYTES),
    (places(2), places(2), Input("uint8", 2, 10)),
    (places(2), places(2), Input("uint8")),
    (places(2), places(2), Input("int8", 10)),
    (places(2, dtype="int8"), places(2, dtype="int8"), BYTES),
    (places(2, dtype="float32"), places(2, dtype="float32"), BYTES),
    (places(2, dtype="uint32"), places(2, dtype="uint32"), BYTES),
    (Input.any_rank("int32"), places(2), BYTES),
    (places(2), places(2, 1), BYTES),
    (places(2), places(2), Input.any_rank("uint8")),
    (numbers(0, 3), numbers(3, 5), BYTES),
    (numbers(0, 3), numbers(3, 10), BYTES),
    (numbers(0, 3), numbers(3, 11), BYTES),
    (numbers(4, 3), numbers(3, 5), BYTES),
    (numbers(-1, 3), numbers(3, 5), BYTES),
    (numbers(0, 0), numbers(3, 3), BYTES),
    (numbers(5, 6), numbers(3, 4), BYTES),
]


@pytest.mark.parametrize("inputs", PACKED, ids=range(len(PACKED)))
def test_pack_as_openvino(inputs: tuple[Given, ...]) -> None:
    assert_same_verdict("StringTensorPack", "opset15", inputs)


@pytest.mark.parametrize(
    "given", [strings(2, 3), strings(), strings(None), Input.any_rank("string"), Input("uint8", 3)]
)
def test_unpack_as_openvino(given: Input) -> None:
    assert_same_verdict("StringTensorUnpack", "opset15", (given,), outputs=3)


GRAMS: dict[str, Any] = {
    "mode": "TF",
    "ngram_indexes": [0, 1, 2, 3, 4, 5, 6],
    "ngram_counts": [0, 4],
    "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
    "max_skip_count": 0,
    "min_gram_length": 2,
    "max_gram_length": 2,
}

FAULTS: list[tuple[Input, dict[str, Any], str]] = [
    (Input("int32"), {}, "IRL339"),
    (Input("int32", 2, 3, 4), {}, "IRL339"),
    (Input("int32", 12), {"mode": "X"}, "IRL506"),
    (Input("int32", 12), {"ngram_counts": [0, 40]}, "IRL513"),
    (Input("int32", 12), {"weights": [1.0, 2.0]}, "IRL513"),
    (Input("int32", 12), {"pool_int64s": None}, "IRL513"),
    (Input("int32", 12), {"min_gram_length": 3}, "IRL510"),
    (Input("int32", 12), {"max_gram_length": 3}, "IRL510"),
    (Input("int32", 12), {"max_skip_count": -1}, "IRL510"),
]


@pytest.mark.parametrize(("given", "changes", "code"), FAULTS)
def test_faults_of_tf_idf_vectorizer_are_onnxruntimes(given: Input, changes: dict[str, Any], code: str) -> None:
    attributes = {name: value for name, value in (GRAMS | changes).items() if value is not None}
    model = onnx_model("TfIdfVectorizer", [given], attributes, 9)
    verdict = irlint_on_onnx(model)
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code
    assert isinstance(onnxruntime_verdict(model), str)


SHAPES: list[tuple[str, list[Given], dict[str, Any], int, list[Any]]] = [
    ("TfIdfVectorizer", [Input("int32", 12)], GRAMS, 9, [("float32", (7,))]),
    ("TfIdfVectorizer", [Input("int32", None, 6)], GRAMS, 9, [("float32", (None, 7))]),
    ("TfIdfVectorizer", [Input.any_rank("int32")], GRAMS, 9, [("float32", None)]),
    ("StringNormalizer", [strings(3)], {}, 10, [("string", (3,))]),
    ("StringNormalizer", [strings(1, 3)], {"stopwords": ["a"]}, 10, [("string", (1, None))]),
    ("StringConcat", [strings(2), strings(3, 1)], {}, 20, [("string", (3, 2))]),
    ("RegexFullMatch", [strings(2, None)], {"pattern": "a"}, 20, [("bool", (2, None))]),
    ("StringSplit", [strings(2, 3)], {}, 20, [("string", (2, 3, None)), ("int64", (2, 3))]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), SHAPES)
def test_shapes(op: str, inputs: list[Given], attributes: dict[str, Any], opset: int, expected: list[Any]) -> None:
    assert irlint_on_onnx(onnx_model(op, inputs, attributes, opset, outputs=len(expected))) == expected


@pytest.mark.parametrize(
    ("op", "inputs", "opset", "code"),
    [
        ("StringNormalizer", [strings(2, 3)], 10, "IRL339"),
        ("StringNormalizer", [strings()], 10, "IRL339"),
        ("StringNormalizer", [strings(1, 1, 3)], 10, "IRL339"),
        ("StringConcat", [strings(2), strings(3)], 20, "IRL201"),
        ("StringConcat", [strings(2), Input("int32", 2)], 20, "IRL401"),
        ("StringSplit", [Input("int32", 2)], 20, "IRL401"),
    ],
)
def test_fault(op: str, inputs: list[Given], opset: int, code: str) -> None:
    model = onnx_model(op, inputs, {}, opset, outputs=2 if op == "StringSplit" else 1)
    verdict = irlint_on_onnx(model)
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code
    assert isinstance(onnxruntime_verdict(model), str)
