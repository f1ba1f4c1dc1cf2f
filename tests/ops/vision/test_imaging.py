"""Grids, crops and colour formats against ONNX's node tests, ONNX Runtime's rules and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.vision import imaging

X = Input("float32", 1, 3, 10, 20)
H, W = symbol("H"), symbol("W")


def i64(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def F(*dims: int | None) -> Input:
    return Input("float32", *dims)


def U(*dims: int | None) -> Input:
    return Input("uint8", *dims)


ANY, ANY_BYTES = Input.any_rank("float32"), Input.any_rank("uint8")
CASES = node_cases("GridSample", "AffineGrid", "CenterCropPad")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


SHAPES = [
    ("GridSample", [X, F(1, 5, 6, 2)], {"mode": "bilinear"}, 16, (1, 3, 5, 6)),
    ("GridSample", [F(1, 3, 4, 5, 6), F(1, 5, 6, 7, 3)], {"mode": "cubic"}, 20, (1, 3, 5, 6, 7)),
    ("AffineGrid", [F(2, 2, 3), i64(2, 3, 5, 6)], {}, 20, (2, 5, 6, 2)),
    ("AffineGrid", [F(2, 3, 4), i64(2, 3, 4, 5, 6)], {}, 20, (2, 4, 5, 6, 3)),
    ("AffineGrid", [F(2, 2, 3), Input("int64", 4)], {}, 20, (None, None, None, 2)),
    ("CenterCropPad", [X, i64(1, 3, 5, 5)], {}, 18, (1, 3, 5, 5)),
    ("CenterCropPad", [X, i64(5, 50)], {"axes": [2, -1]}, 18, (1, 3, 5, 50)),
    ("CenterCropPad", [X, Input("int64", 2)], {"axes": [2, 3]}, 18, (1, 3, None, None)),
    ("ImageDecoder", [U(5)], {"pixel_format": "Grayscale"}, 20, (None, None, 1)),
    ("ImageDecoder", [U(5)], {}, 20, (None, None, 3)),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), SHAPES, ids=range(len(SHAPES)))
def test_shapes(op: str, inputs: list[object], attributes: dict[str, object], opset: int, expected: object) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))  # type: ignore[arg-type]
    assert [shape for _, shape in verdict] == [expected]


FAULTS = [
    ("GridSample", [X, F(2, 5, 6, 2)], {}, 16, "IRL368"),
    ("GridSample", [X, F(1, 5, 6, 3)], {}, 20, "IRL368"),
    ("GridSample", [X, F(1, 5, 2)], {}, 22, "IRL368"),
    ("GridSample", [X, F(1, 5, 6, 2)], {"mode": "linear"}, 16, "IRL506"),
    ("GridSample", [X, F(1, 5, 6, 2)], {"mode": "bilinear"}, 20, "IRL506"),
    ("GridSample", [X, F(1, 5, 6, 2)], {"padding_mode": "x"}, 20, "IRL506"),
    ("AffineGrid", [F(1, 2, 3), i64(2, 3, 5, 6)], {}, 20, "IRL368"),
    ("AffineGrid", [F(2, 2, 3), i64(2, 3, 4, 5, 6)], {}, 20, "IRL368"),
    ("AffineGrid", [F(2, 3, 4), i64(2, 3, 5, 6)], {}, 20, "IRL368"),
    ("AffineGrid", [F(2, 2, 3), Input("int64", 3)], {}, 20, "IRL368"),
    ("CenterCropPad", [X, i64(5, 5)], {}, 18, "IRL365"),
    ("CenterCropPad", [X, i64(5, 5)], {"axes": [2, 4]}, 18, "IRL300"),
    ("CenterCropPad", [X, i64(5, 5)], {"axes": [2, 2]}, 18, "IRL301"),
    ("CenterCropPad", [X, i64(5, -5)], {"axes": [2, 3]}, 18, "IRL361"),
    ("ImageDecoder", [U(5, 3)], {}, 20, "IRL339"),
    ("ImageDecoder", [U(5)], {"pixel_format": "X"}, 20, "IRL506"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "expected"), FAULTS, ids=range(len(FAULTS)))
def test_faults(op: str, inputs: list[object], attributes: dict[str, object], opset: int, expected: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))  # type: ignore[arg-type]
    assert isinstance(verdict, str)
    assert verdict.startswith(expected)


SIZE = np.array([5, 6], np.int32)
CONTRIB = [
    ("GridSample", [X, F(1, 5, 6, 2)], (1, 3, 5, 6)),
    ("GridSample", [X, F(1, 5, 6, 3)], "IRL368"),
    ("CropAndResize", [X, F(4, 4), Input("int32", 4), SIZE], (4, 3, 5, 6)),
    ("CropAndResize", [X, F(4, 5), Input("int32", 4), SIZE], "IRL368"),
    ("CropAndResize", [X, F(4, 4), Input("int32", 3), SIZE], "IRL368"),
    ("CropAndResize", [X, F(4, 4), Input("int32", 4), np.array([5, 6, 7], np.int32)], "IRL365"),
]


@pytest.mark.parametrize(("op", "inputs", "expected"), CONTRIB, ids=range(len(CONTRIB)))
def test_onnx_runtime_operators(op: str, inputs: list[object], expected: object) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, domain="com.microsoft"))  # type: ignore[arg-type]
    if isinstance(expected, str):
        assert isinstance(verdict, str)
        assert verdict.startswith(expected)
    else:
        assert verdict == [("float32", expected)]


def test_planes_state_what_their_sizes_need() -> None:
    with stated() as statements:
        (plane,) = imaging.rgb_to_nv12(Tensor("uint8", (1, H, W, 3)))
        image = imaging.nv12_to_rgb(Tensor("uint8", (1, H, W, 1)))
    assert [str(dim) for dim in plane.shape or ()] == ["1", "3*(H//2)", "W", "1"]
    assert [str(dim) for dim in image.shape or ()] == ["1", "2*(H//3)", "W", "3"]
    needs = [requirement.any_of[0] for requirement in statements.requirements]
    assert [(each.kind, each.left, each.right) for each in needs] == [
        ("%", H, 2),
        ("%", W, 2),
        ("%", H, 3),
        ("%", W, 2),
    ]


GRIDS = [
    ((X, F(1, 5, 6, 2)), {}),
    ((X, F(2, 5, 6, 2)), {}),
    ((X, F(1, 5, 6, 3)), {}),
    ((X, F(1, 5, 2)), {}),
    ((F(1, 3, 4, 5, 6), F(1, 5, 6, 7, 3)), {}),
    ((X, F(1, 5, 6, 2)), {"mode": "linear"}),
    ((X, F(1, 5, 6, 2)), {"mode": "bicubic"}),
    ((X, F(1, 5, 6, 2)), {"padding_mode": "x"}),
    ((X, Input("float16", 1, 5, 6, 2)), {}),
    ((X, Input("int32", 1, 5, 6, 2)), {}),
    ((Input("bool", 1, 3, 4, 4), F(1, 5, 6, 2)), {}),
    ((ANY, F(1, 5, 6, 2)), {}),
    ((X, ANY), {}),
    ((F(None, 3, 4, 4), F(1, 5, None, 2)), {}),
    ((X, F(1, 5, 6, None)), {}),
    ((ANY, ANY), {}),
]


@pytest.mark.parametrize(("inputs", "attributes"), GRIDS, ids=range(len(GRIDS)))
def test_grid_sample_as_openvino(inputs: tuple[Input, ...], attributes: dict[str, object]) -> None:
    assert_same_verdict("GridSample", "opset9", inputs, attributes)


SINGLE_PLANES = [
    U(1, 720, 640, 1),
    U(1, 721, 640, 1),
    U(1, 722, 640, 1),
    U(1, 720, 641, 1),
    U(1, 720, 640, 3),
    U(720, 640, 1),
    U(None, None, None, 1),
    ANY_BYTES,
    Input("int32", 1, 720, 640, 1),
    Input("float16", 1, 720, 640, 1),
]


@pytest.mark.parametrize("op", ["NV12toRGB", "NV12toBGR", "I420toRGB", "I420toBGR"])
@pytest.mark.parametrize("plane", SINGLE_PLANES, ids=range(len(SINGLE_PLANES)))
def test_one_plane_as_openvino(op: str, plane: Input) -> None:
    assert_same_verdict(op, "opset8", [plane])


Y = U(1, 480, 640, 1)
TWO_PLANES = [
    (Y, U(1, 240, 320, 2)),
    (Y, U(1, 240, 320, 1)),
    (Y, U(1, 240, 321, 2)),
    (U(1, 481, 640, 1), U(1, 240, 320, 2)),
    (U(2, 480, 640, 1), U(1, 240, 320, 2)),
    (Y, F(1, 240, 320, 2)),
    (U(None, None, None, 1), U(1, 240, 320, 2)),
    (ANY_BYTES, U(1, 240, 320, 2)),
    (Y, ANY_BYTES),
    (Y, U(1, 240, 320, 1), U(1, 240, 320, 1)),
    (U(None, None, None, 1), U(None, 240, None, 2)),
    (U(1, 480, 641, 1), U(None, None, None, 2)),
    (Y, U(240, 320, 2)),
    (U(1, 480, 640, 2), U(1, 240, 320, 2)),
]


@pytest.mark.parametrize("inputs", TWO_PLANES, ids=range(len(TWO_PLANES)))
def test_two_planes_as_openvino(inputs: tuple[Input, ...]) -> None:
    assert_same_verdict("NV12toRGB", "opset8", inputs)


CHROMA = U(1, 240, 320, 1)
THREE_PLANES = [
    (Y, CHROMA, CHROMA),
    (Y, CHROMA, U(1, 240, 321, 1)),
    (Y, U(1, 240, 320, 2), CHROMA),
    (Y, CHROMA),
    (U(None, None, None, 1), CHROMA, CHROMA),
    (Y, CHROMA, F(1, 240, 320, 1)),
    (ANY_BYTES, U(None, 240, 320, 1), U(1, None, 320, 1)),
    (ANY_BYTES, ANY_BYTES, ANY_BYTES),
]


@pytest.mark.parametrize("inputs", THREE_PLANES, ids=range(len(THREE_PLANES)))
def test_three_planes_as_openvino(inputs: tuple[Input, ...]) -> None:
    assert_same_verdict("I420toBGR", "opset8", inputs)


APART = {"single_plane": False}
TO_NV12 = [
    (U(1, 480, 640, 3), {}, 1),
    (U(1, 481, 640, 3), {}, 1),
    (U(1, 480, 640, 1), {}, 1),
    (U(480, 640, 3), {}, 1),
    (U(1, 480, 640, 3), APART, 2),
    (U(1, 480, 641, 3), APART, 2),
    (U(None, None, None, 3), APART, 2),
    (U(None, None, None, 3), {}, 1),
    (ANY_BYTES, APART, 2),
    (F(1, 480, 640, 3), {}, 1),
    (Input("int32", 1, 480, 640, 3), {}, 1),
]


@pytest.mark.parametrize("op", ["RGBtoNV12", "BGRtoNV12"])
@pytest.mark.parametrize(("image", "attributes", "outputs"), TO_NV12, ids=range(len(TO_NV12)))
def test_to_nv12_as_openvino(op: str, image: Input, attributes: dict[str, object], outputs: int) -> None:
    assert_same_verdict(op, "opset17", [image], attributes, outputs)
