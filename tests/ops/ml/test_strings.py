"""Operators on strings, against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from typing import Any

import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, onnxruntime_verdict


def strings(*dims: int | None) -> Input:
    return Input("string", *dims)


@pytest.mark.oracle
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


@pytest.mark.oracle
@pytest.mark.parametrize(("given", "changes", "code"), FAULTS)
def test_faults_of_tf_idf_vectorizer_are_onnxruntimes(given: Input, changes: dict[str, Any], code: str) -> None:
    attributes = {name: value for name, value in (GRAMS | changes).items() if value is not None}
    model = onnx_model("TfIdfVectorizer", [given], attributes, 9)
    verdict = irlint_on_onnx(model)
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code
    assert isinstance(onnxruntime_verdict(model), str)
