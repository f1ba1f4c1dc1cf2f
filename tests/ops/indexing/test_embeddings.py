"""Embedding lookups, segments and sparse rows against OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, ir_document
from oracles.engines import assert_same_verdict, irlint_on_ir

ANY = Input.any_rank("float32")
ANY_INT = Input.any_rank("int64")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def F(*dims: int | None) -> Input:
    return Input("float32", *dims)


def I(*dims: int | None) -> Input:  # noqa: E743
    return Input("int64", *dims)


T = F(10, 4)
OFFSETS = [
    (T, I(6), I(3)),
    (T, I(6), I(3), I()),
    (T, I(6), I(3), I(), F(6)),
    (T, I(6), I(3), I(), F(5)),
    (T, I(6, 1), I(3)),
    (T, I(6), I(3, 1)),
    (T, I(6), I(3), I(1)),
    (T, Input("int32", 6), I(3)),
    (T, F(6), I(3)),
    (F(10, 4, 5), I(6), I(3)),
    (F(10), I(6), I(3)),
    (F(), I(6), I(3)),
    (ANY, I(6), I(3)),
    (T, I(6), I(None)),
    (T, I(6), I(3), I(), Input("float16", 6)),
    (T, I(6), I(3), Input("int32")),
    (T, ANY_INT, ANY_INT),
]


@pytest.mark.parametrize(("op", "version"), [("EmbeddingBagOffsetsSum", "opset3"), ("EmbeddingBagOffsets", "opset15")])
@pytest.mark.parametrize("inputs", OFFSETS, ids=range(len(OFFSETS)))
def test_bags_by_offsets_as_openvino(op: str, version: str, inputs: tuple[Input, ...]) -> None:
    assert_same_verdict(op, version, inputs)


PACKED = [
    (T, I(3, 2)),
    (T, I(3, 2), F(3, 2)),
    (T, I(3, 2), F(3, 3)),
    (T, I(3)),
    (F(10, 4, 5), I(3, 2)),
    (ANY, I(3, 2)),
    (T, ANY_INT),
    (T, I(None, 2), F(3, 2)),
    (T, F(3, 2)),
    (F(), I(3, 2)),
    (T, I(3, 2), Input("float16", 3, 2)),
    (T, ANY_INT, F(3, 2)),
]


@pytest.mark.parametrize(("op", "version"), [("EmbeddingBagPackedSum", "opset3"), ("EmbeddingBagPacked", "opset15")])
@pytest.mark.parametrize("inputs", PACKED, ids=range(len(PACKED)))
def test_packed_bags_as_openvino(op: str, version: str, inputs: tuple[Input, ...]) -> None:
    assert_same_verdict(op, version, inputs)


@pytest.mark.parametrize(
    ("op", "inputs", "reduction"),
    [
        ("EmbeddingBagOffsets", (T, I(6), I(3)), "mean"),
        ("EmbeddingBagOffsets", (T, I(6), I(3)), "max"),
        ("EmbeddingBagOffsets", (T, I(6), I(3), I(), F(6)), "mean"),
        ("EmbeddingBagPacked", (T, I(3, 2)), "mean"),
        ("EmbeddingBagPacked", (T, I(3, 2), F(3, 2)), "mean"),
    ],
)
def test_reductions_as_openvino(op: str, inputs: tuple[Input, ...], reduction: str) -> None:
    assert_same_verdict(op, "opset15", inputs, {"reduction": reduction})


THREE = np.array(3)
SEGMENTS = [
    (T, I(6), I(6), THREE),
    (T, I(6), I(6), I()),
    (T, I(6), I(5), THREE),
    (T, I(6), I(6), I(1)),
    (T, I(6), I(6), THREE, I()),
    (T, I(6), I(6), THREE, I(), F(6)),
    (T, I(6), I(6), THREE, I(), F(5)),
    (T, I(6, 1), I(6, 1), THREE),
    (T, I(6), I(6), np.array(-3)),
    (F(10, 4, 5), I(6), I(6), THREE),
    (ANY, I(6), I(6), THREE),
    (T, I(6), Input("int32", 6), THREE),
    (T, I(6), I(6), F()),
    (T, I(6), I(6), THREE, I(1)),
    (F(), I(6), I(6), THREE),
    (T, I(6), I(6), np.array(3, np.int32)),
    (T, I(None), I(6), THREE),
]


@pytest.mark.parametrize("inputs", SEGMENTS, ids=range(len(SEGMENTS)))
def test_embedding_segments_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("EmbeddingSegmentsSum", "opset3", list(inputs))  # type: ignore[arg-type]


IDS = i64(*[0] * 9, 4)
MAXIMA = [
    ((T, I(10)), "ZERO"),
    ((T, I(9)), "ZERO"),
    ((T, I(10), THREE), "ZERO"),
    ((T, I(10), I()), "ZERO"),
    ((T, IDS), "ZERO"),
    ((T, IDS, THREE), "ZERO"),
    ((T, I(10, 1)), "ZERO"),
    ((T, I(10), I(1)), "ZERO"),
    ((T, F(10)), "ZERO"),
    ((F(), I(10)), "ZERO"),
    ((ANY, I(10), THREE), "ZERO"),
    ((Input("bool", 10), I(10)), "ZERO"),
    ((T, I(10)), "LOWEST"),
    ((T, I(10)), "x"),
    ((T, I(10), np.array(-3)), "ZERO"),
    ((T, ANY_INT), "ZERO"),
    ((T, Input("int32", 10), THREE), "ZERO"),
    ((T, i64(0, 2, 1, *[3] * 7)), "ZERO"),
    ((F(None, 4), I(10), THREE), "ZERO"),
]


@pytest.mark.parametrize(("inputs", "fill_mode"), MAXIMA, ids=range(len(MAXIMA)))
def test_segment_max_as_openvino(inputs: tuple[object, ...], fill_mode: str) -> None:
    assert_same_verdict("SegmentMax", "opset16", list(inputs), {"fill_mode": fill_mode})  # type: ignore[arg-type]


DENSE = i64(3, 5)
ROWS = [
    (F(4), DENSE, I(4, 2), F()),
    (F(4), I(2), I(4, 2), F()),
    (F(4), DENSE, I(5, 2), F()),
    (F(4), DENSE, I(4, 3), F()),
    (F(4), i64(3, 5, 6), I(4, 2), F()),
    (F(4, 1), DENSE, I(4, 2), F()),
    (F(4), DENSE, I(4, 2), F(1)),
    (F(4), DENSE, I(4, 2), Input("float16")),
    (F(4), DENSE, np.array([[0, 0], [0, 1], [2, 0], [2, 1]]), F()),
    (F(4), DENSE, np.array([[0, 0], [1, 1], [2, 0], [2, 1]]), F()),
    (F(None), DENSE, I(4, 2), F()),
    (ANY, ANY_INT, ANY_INT, ANY),
    (F(4), Input("int32", 2), I(4, 2), F()),
    (F(4), np.array([3, 5], np.float32), I(4, 2), F()),
    (F(1), DENSE, np.array([[3, 0]]), F()),
    (F(1), DENSE, np.array([[0, 7]]), F()),
    (Input("string", 4), DENSE, I(4, 2), Input("string")),
]


@pytest.mark.parametrize("inputs", ROWS, ids=range(len(ROWS)))
def test_sparse_rows_as_openvino(inputs: tuple[object, ...]) -> None:
    assert_same_verdict("SparseFillEmptyRows", "opset16", list(inputs), outputs=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("op", "version", "inputs", "expected"),
    [
        ("EmbeddingBagPackedSum", "opset3", (T, I(3, 2), F(3, 3)), "IRL352"),
        ("EmbeddingBagPackedSum", "opset3", (T, I(3)), "IRL339"),
        ("EmbeddingBagPackedSum", "opset3", (T, np.array([[10, 0]])), "IRL346"),
        ("EmbeddingBagOffsetsSum", "opset3", (T, i64(3, -1), I(3)), "IRL346"),
        ("SegmentMax", "opset16", (T, i64(0, 2, 1, *[3] * 7)), "IRL352"),
        ("SparseFillEmptyRows", "opset16", (F(4), DENSE, I(5, 2), F()), "IRL351"),
        ("SparseFillEmptyRows", "opset16", (F(1), DENSE, np.array([[3, 0]]), F()), "IRL346"),
    ],
)
def test_faults(op: str, version: str, inputs: tuple[object, ...], expected: str) -> None:
    attributes = {"fill_mode": "ZERO"} if op == "SegmentMax" else {}
    verdict = irlint_on_ir(*ir_document(op, version, list(inputs), attributes))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)
