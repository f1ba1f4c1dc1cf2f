"""Non-maximum suppression, regions of interest, prior boxes and proposals against ONNX's node tests and OpenVINO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cases.models import Fed as Given
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import (
    assert_same_verdict,
    irlint_on_onnx,
    node_case_difference,
    node_cases,
    onnx_verdict,
    openvino_verdict,
)

from irlint.dims import Dim, MaybeDim, bounds, symbol
from irlint.findings.faults import Severity
from irlint.findings.statements import stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.vision.detection import candidates, selected
from irlint.ops.vision.priors import aspect_ratios, ov_detection_output_8, ov_prior_box_8
from irlint.ops.vision.regions import aligned, ov_region_yolo
from irlint.parsers import openvino as parser

H, W, N = symbol("H"), symbol("W"), symbol("N")
ANY = Input.any_rank("float32")
Attributes = dict[str, object]


def f32(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def i64(*dims: int | str | None) -> Input:
    return Input("int64", *dims)


def count(number: float, dtype: type = np.int64, rank: int = 0) -> np.ndarray:
    return np.full((1,) * rank, number, dtype)


def half(rank: int = 0, dtype: type = np.float32) -> np.ndarray:
    return count(0.5, dtype, rank)


# --- ONNX -------------------------------------------------------------------------------------------------------------

#: The number of boxes that are chosen depends on what the boxes are.
_NMS_CASES = node_cases("NonMaxSuppression")


@pytest.mark.parametrize("case", node_cases("RoiAlign"), ids=lambda case: case.name)
def test_roi_align_node_cases(case: object) -> None:
    assert node_case_difference(case) is None


@pytest.mark.parametrize("case", _NMS_CASES, ids=lambda case: case.name)
def test_nms_node_cases(case: object) -> None:
    assert irlint_on_onnx(case.model) == [("int64", (None, 3))]  # type: ignore[attr-defined]


X, ROIS, IMAGES = f32(2, 3, 16, 16), f32(5, 4), i64(5)
POOL = {"output_height": 6, "output_width": 7}


@pytest.mark.parametrize("opset", [10, 16, 22])
@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((X, ROIS, IMAGES), (5, 3, 6, 7)),
        ((f32(2, None, 16, 16), f32(None, 4), i64(None)), (None, None, 6, 7)),
        ((Input.any_rank("float32"), ROIS, Input.any_rank("int64")), (5, None, 6, 7)),
        ((X, f32(None, 4), IMAGES), (5, 3, 6, 7)),
        ((X, f32(5, 5), IMAGES), "IRL386"),
        ((X, ROIS, i64(6)), "IRL386"),
        ((X, f32(5, 4, 1), IMAGES), "IRL386"),
        ((X, ROIS, i64(5, 1)), "IRL386"),
        ((f32(2, 3, 16), ROIS, IMAGES), "IRL339"),
    ],
)
def test_onnx_roi_align(opset: int, inputs: tuple[Given, ...], expected: object) -> None:
    verdict = irlint_on_onnx(onnx_model("RoiAlign", inputs, POOL, opset))
    assert verdict[:6] == expected if isinstance(expected, str) else verdict == [("float32", expected)]


BOXES, SCORES = f32(2, 10, 4), f32(2, 3, 10)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ((BOXES, SCORES), (0, 3)),
        ((BOXES, SCORES, count(4, rank=1)), (None, 3)),
        ((BOXES, SCORES, count(0)), (0, 3)),
        ((BOXES, SCORES, i64()), (None, 3)),
        ((BOXES, SCORES, i64(), half(1), half()), (None, 3)),
        ((BOXES, SCORES, None, half(1)), (0, 3)),
        ((f32(2, 10, 5), SCORES), "IRL385"),
        ((BOXES, f32(2, 10, 3)), "IRL385"),
        ((f32(1, 10, 4), SCORES), "IRL385"),
        ((f32(10, 4), SCORES), "IRL385"),
        ((BOXES, SCORES, i64(2)), (None, 3)),
        ((BOXES, SCORES, i64(), f32(3)), (None, 3)),
    ],
)
@pytest.mark.parametrize("opset", [10, 11])
def test_onnx_nms(opset: int, inputs: tuple[Given, ...], expected: object) -> None:
    verdict = irlint_on_onnx(onnx_model("NonMaxSuppression", inputs, {}, opset))
    assert verdict[:6] == expected if isinstance(expected, str) else verdict == [("int64", expected)]


def test_official_inference_agrees_on_nms() -> None:
    model = onnx_model("NonMaxSuppression", (BOXES, SCORES, i64()), {}, 11)
    assert onnx_verdict(model) == irlint_on_onnx(model)


# --- OpenVINO: non-maximum suppression --------------------------------------------------------------------------------

NMS: list[tuple[tuple[Given, ...], Attributes]] = [
    ((BOXES, SCORES, count(4)), {}),
    ((BOXES, SCORES, count(40)), {}),
    ((BOXES, SCORES, count(0)), {}),
    ((BOXES, SCORES, count(-1)), {}),
    ((BOXES, SCORES, count(4, rank=1)), {}),
    ((BOXES, SCORES, count(4, np.int32)), {}),
    ((BOXES, SCORES, count(4, np.float32)), {}),
    ((BOXES, SCORES, np.array([4, 5], np.int64)), {}),
    ((BOXES, SCORES, i64()), {}),
    ((BOXES, SCORES, i64(1)), {}),
    ((BOXES, SCORES, i64(2)), {}),
    ((BOXES, SCORES, i64(None)), {}),
    ((BOXES, SCORES, i64(1, 1)), {}),
    ((BOXES, SCORES, count(4), half()), {}),
    ((BOXES, SCORES, count(4), half(0, np.float16)), {}),
    ((BOXES, SCORES, count(4), count(1)), {}),
    ((BOXES, SCORES, count(4), half(), np.array([0.5, 0.4], np.float32)), {}),
    ((BOXES, SCORES, count(4), half(), half(), half()), {}),
    ((BOXES, SCORES, count(4), half(), half(), half(1)), {}),
    ((BOXES, SCORES, count(4)), {"box_encoding": "center", "sort_result_descending": "false"}),
    ((BOXES, SCORES, count(4)), {"box_encoding": "middle"}),
    ((f32(2, 10, 5), SCORES, count(4)), {}),
    ((f32(2, 10), SCORES, count(4)), {}),
    ((f32(1, 10, 4), SCORES, count(4)), {}),
    ((f32(2, 11, 4), SCORES, count(4)), {}),
    ((BOXES, f32(2, 10), count(4)), {}),
    ((f32(2, None, 4), SCORES, i64()), {}),
    ((f32(None, 10, None), SCORES, count(4)), {}),
    ((BOXES, f32(2, None, 10), count(4)), {}),
    ((BOXES, f32(None, 3, 10), i64()), {}),
    ((ANY, SCORES, i64()), {}),
    ((BOXES, ANY, i64()), {}),
    ((i64(2, 10, 4), SCORES, count(4)), {}),
    ((Input("float16", 2, 10, 4), SCORES, count(4)), {}),
    ((Input("float64", 2, 10, 4), SCORES, count(4)), {}),
]


@pytest.mark.parametrize(("version", "outputs"), [(1, 1), (3, 1), (4, 1), (5, 3), (9, 3)])
@pytest.mark.parametrize(("inputs", "attributes"), NMS)
def test_ov_nms(version: int, outputs: int, inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("NonMaxSuppression", f"opset{version}", inputs, attributes, outputs)


@pytest.mark.parametrize("output_type", ["i32", "i64", "f32", "u64"])
@pytest.mark.parametrize(("version", "outputs"), [(3, 1), (4, 1), (5, 3), (9, 3)])
def test_ov_nms_output_type(version: int, outputs: int, output_type: str) -> None:
    attributes = {"output_type": output_type}
    assert_same_verdict("NonMaxSuppression", f"opset{version}", (BOXES, SCORES, count(4)), attributes, outputs)


THREE = (count(4), half(), half())


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((f32(2, 10, 5), SCORES, *THREE), {"clockwise": "false", "output_type": "i32"}),
        ((f32(2, 10, 5), SCORES, *THREE), {"output_type": "f32"}),
        ((f32(2, 10, 5), SCORES), {}),
        ((BOXES, SCORES, *THREE), {}),
        ((f32(1, 10, 5), SCORES, *THREE), {}),
        ((f32(2, None, 5), SCORES, *THREE), {}),
        ((f32(2, 10, 5), SCORES, i64(2), *THREE[1:]), {}),
        ((f32(2, 10, 5), SCORES, i64(1), *THREE[1:]), {}),
        ((f32(2, 10, 5), SCORES, count(4, np.float32), *THREE[1:]), {}),
        ((f32(2, 10, 5), SCORES, count(4), count(1), half()), {}),
        ((i64(2, 10, 5), SCORES, *THREE), {}),
        ((Input("float64", 2, 10, 5), SCORES, *THREE), {}),
    ],
)
def test_ov_nms_rotated(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("NMSRotated", "opset13", inputs, attributes, 3)


KEPT: list[tuple[tuple[Given, ...], Attributes]] = [
    ((BOXES, SCORES), {}),
    ((BOXES, SCORES), {"nms_top_k": 4, "keep_top_k": 5, "background_class": 0}),
    ((BOXES, SCORES), {"nms_top_k": -2}),
    ((BOXES, SCORES), {"keep_top_k": -2}),
    ((BOXES, SCORES), {"keep_top_k": 0}),
    ((BOXES, SCORES), {"nms_top_k": 0}),
    ((BOXES, SCORES), {"background_class": -2}),
    ((BOXES, SCORES), {"sort_result_type": "classid", "sort_result_across_batch": True, "output_type": "i32"}),
    ((BOXES, SCORES), {"sort_result_type": "size"}),
    ((BOXES, SCORES), {"output_type": "f32"}),
    ((f32(2, 10, 5), SCORES), {}),
    ((f32(2, 11, 4), SCORES), {}),
    ((f32(1, 10, 4), SCORES), {}),
    ((f32(2, 10), SCORES), {}),
    ((BOXES, f32(2, 3)), {}),
    ((f32(2, None, 4), SCORES), {}),
    ((BOXES, f32(2, None, 10)), {}),
    ((f32(None, 10, 4), f32(None, 3, 10)), {}),
    ((ANY, ANY), {}),
    ((i64(2, 10, 4), SCORES), {}),
    ((Input("float16", 2, 10, 4), SCORES), {}),
    ((Input("float16", 2, 10, 4), Input("float16", 2, 3, 10)), {}),
    ((Input("float64", 2, 10, 4), Input("float64", 2, 3, 10)), {}),
]


@pytest.mark.parametrize(("op", "version"), [("MulticlassNms", 8), ("MulticlassNms", 9), ("MatrixNms", 8)])
@pytest.mark.parametrize(("inputs", "attributes"), KEPT)
def test_ov_nms_of_classes(op: str, version: int, inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict(op, f"opset{version}", inputs, attributes, 3)


LISTED = (f32(3, 10, 4), f32(3, 10), i64(2))


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (LISTED, {}),
        (LISTED, {"nms_top_k": 4, "keep_top_k": 5}),
        ((*LISTED[:2], Input("int32", 2)), {}),
        ((f32(3, 10, 4), f32(3, 11), i64(2)), {}),
        ((f32(4, 10, 4), f32(3, 10), i64(2)), {}),
        ((*LISTED[:2], i64(2, 1)), {}),
        ((*LISTED[:2], f32(2)), {}),
        ((BOXES, SCORES, i64(2)), {}),
        ((f32(3, None, 4), f32(3, 10), i64(None)), {}),
        ((ANY, ANY, i64(None)), {}),
        ((BOXES, SCORES), {"nms_eta": 1.5}),
        ((BOXES, SCORES), {"nms_eta": -0.5}),
    ],
)
def test_ov_nms_of_listed_regions(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("MulticlassNms", "opset9", inputs, attributes, 3)


@pytest.mark.parametrize("attributes", [{"decay_function": "gaussian", "gaussian_sigma": 1}, {"decay_function": "no"}])
def test_ov_matrix_nms_decay(attributes: Attributes) -> None:
    assert_same_verdict("MatrixNms", "opset8", (BOXES, SCORES), attributes, 3)


# --- OpenVINO: regions ------------------------------------------------------------------------------------------------

ALIGN = {"pooled_h": 6, "pooled_w": 7, "sampling_ratio": 2, "spatial_scale": 0.5}
ALIGNED: list[tuple[tuple[Given, ...], Attributes]] = [
    ((X, ROIS, IMAGES), {}),
    ((X, ROIS, Input("int32", 5)), {}),
    ((X, ROIS, f32(5)), {}),
    ((X, ROIS, i64(6)), {}),
    ((X, f32(5, 6), IMAGES), {}),
    ((X, f32(5, 4, 1), IMAGES), {}),
    ((X, ROIS, i64(5, 1)), {}),
    ((f32(2, 3, 16), ROIS, IMAGES), {}),
    ((ANY, ROIS, IMAGES), {}),
    ((X, ANY, IMAGES), {}),
    ((X, ANY, Input.any_rank("int64")), {}),
    ((X, f32(None, None), i64(None)), {}),
    ((X, ROIS, IMAGES), {"pooled_h": 0}),
    ((X, ROIS, IMAGES), {"pooled_w": -1}),
    ((X, ROIS, IMAGES), {"spatial_scale": 0}),
    ((i64(2, 3, 16, 16), ROIS, IMAGES), {}),
    ((Input("float16", 2, 3, 16, 16), ROIS, IMAGES), {}),
    ((Input("float64", 2, 3, 16, 16), Input("float64", 5, 4), IMAGES), {}),
]


@pytest.mark.parametrize(("inputs", "attributes"), ALIGNED)
@pytest.mark.parametrize(
    ("op", "version", "extra"),
    [
        ("ROIAlign", 3, {"mode": "avg"}),
        ("ROIAlign", 9, {"mode": "MAX", "aligned_mode": "half_pixel"}),
        ("ROIAlignRotated", 15, {"clockwise_mode": True}),
    ],
)
def test_ov_roi_align(
    op: str, version: int, extra: Attributes, inputs: tuple[Given, ...], attributes: Attributes
) -> None:
    if op == "ROIAlignRotated":
        inputs = tuple(f32(5, 5) if given is ROIS else given for given in inputs)
    assert_same_verdict(op, f"opset{version}", inputs, {**ALIGN, **extra, **attributes})


@pytest.mark.parametrize("attributes", [{"mode": "sum"}, {"aligned_mode": "asymmetrical"}, {"mode": "avg"}])
def test_ov_roi_align_modes(attributes: Attributes) -> None:
    assert_same_verdict("ROIAlign", "opset9", (X, ROIS, IMAGES), {**ALIGN, "mode": "avg", **attributes})


POOLED = {"pooled_h": 6, "pooled_w": 7, "spatial_scale": 0.5}


@pytest.mark.parametrize("version", ["opset1", "opset2"])
@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((X, f32(5, 5)), POOLED),
        ((X, f32(5, 5)), {**POOLED, "method": "bilinear"}),
        ((X, f32(5, 5)), {**POOLED, "method": "mean"}),
        ((X, f32(5, 5)), {**POOLED, "pooled_h": 0}),
        ((X, f32(5, 5)), {**POOLED, "spatial_scale": 0}),
        ((X, f32(5, 5)), {"spatial_scale": 1, "output_size": "3,4"}),
        ((X, f32(5, 5)), {"spatial_scale": 1, "output_roi": "3,4"}),
        ((X, f32(5, 5)), {"spatial_scale": 1}),
        ((X, ROIS), POOLED),
        ((X, f32(5, 5, 1)), POOLED),
        ((f32(2, 3, 16), f32(5, 5)), POOLED),
        ((ANY, f32(5, 5)), POOLED),
        ((X, ANY), POOLED),
        ((X, f32(None, None)), POOLED),
        ((i64(2, 3, 16, 16), f32(5, 5)), POOLED),
        ((X, i64(5, 5)), POOLED),
        ((Input("float16", 2, 3, 16, 16), f32(5, 5)), POOLED),
        ((Input("float64", 2, 3, 16, 16), Input("float64", 5, 5)), POOLED),
    ],
)
def test_ov_roi_pooling(version: str, inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("ROIPooling", version, inputs, attributes)


MAPS = f32(1, 98, 16, 16)
GROUPS = {"output_dim": 2, "group_size": 7, "spatial_scale": 0.06, "mode": "average"}
BINS = {**GROUPS, "mode": "bilinear", "spatial_bins_x": 3, "spatial_bins_y": 2}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((MAPS, f32(5, 5)), GROUPS),
        ((f32(1, 99, 16, 16), f32(5, 5)), GROUPS),
        ((f32(1, 196, 16, 16), f32(5, 5)), GROUPS),
        ((f32(1, None, 16, 16), f32(5, 5)), GROUPS),
        ((MAPS, ROIS), GROUPS),
        ((f32(1, 98, 16), f32(5, 5)), GROUPS),
        ((MAPS, f32(5)), GROUPS),
        ((ANY, f32(5, 5)), GROUPS),
        ((MAPS, ANY), GROUPS),
        ((MAPS, f32(5, 5)), {**GROUPS, "group_size": 0}),
        ((MAPS, f32(5, 5)), {**GROUPS, "output_dim": 0}),
        ((ANY, f32(5, 5)), {**GROUPS, "output_dim": 0}),
        ((MAPS, f32(5, 5)), {**GROUPS, "mode": "max"}),
        ((MAPS, f32(5, 5)), {**GROUPS, "spatial_scale": 0}),
        ((MAPS, f32(5, 5)), BINS),
        ((f32(1, 12, 16, 16), f32(5, 5)), BINS),
        ((f32(1, 12, 16, 16), f32(5, 5)), {**BINS, "spatial_bins_x": 0}),
        ((MAPS, f32(5, 5)), {name: value for name, value in GROUPS.items() if name != "group_size"}),
        ((MAPS, f32(5, 5)), {}),
        ((i64(1, 98, 16, 16), f32(5, 5)), GROUPS),
        ((MAPS, i64(5, 5)), GROUPS),
        ((Input("float16", 1, 98, 16, 16), f32(5, 5)), GROUPS),
    ],
)
def test_ov_ps_roi_pooling(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("PSROIPooling", "opset1", inputs, attributes)


DEFORMABLE = {"output_dim": 2, "group_size": 7, "spatial_scale": 0.06}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((MAPS, f32(5, 5)), DEFORMABLE),
        ((MAPS, f32(5, 5), f32(5, 2, 7, 7)), {**DEFORMABLE, "part_size": 7, "trans_std": 0.1, "spatial_bins_x": 4}),
        ((MAPS, f32(5, 5), f32(5, 2, 7)), DEFORMABLE),
        ((f32(1, 98, 16), f32(5, 5)), DEFORMABLE),
        ((MAPS, f32(5)), DEFORMABLE),
        ((ANY, f32(5, 5)), DEFORMABLE),
        ((MAPS, ANY), DEFORMABLE),
        ((MAPS, f32(5, 5)), {**DEFORMABLE, "group_size": 0}),
        ((MAPS, f32(5, 5)), {**DEFORMABLE, "output_dim": -1}),
        ((i64(1, 98, 16, 16), f32(5, 5)), DEFORMABLE),
        ((MAPS, f32(5, 5)), {}),
    ],
)
def test_ov_deformable_ps_roi_pooling(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("DeformablePSROIPooling", "opset1", inputs, attributes)


PYRAMID = {"output_size": 7, "sampling_ratio": 2, "pyramid_scales": "4,8,16,32"}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((f32(9, 4), f32(1, 8, 20, 20), f32(1, 8, 10, 10)), PYRAMID),
        ((f32(9, 4),), PYRAMID),
        ((f32(9, 5), f32(1, 8, 20, 20)), PYRAMID),
        ((f32(9, 4), f32(1, 8, 20, 20), f32(1, 7, 10, 10)), PYRAMID),
        ((f32(9, 4), f32(2, 8, 20, 20)), PYRAMID),
        ((f32(9, 4), f32(8, 20, 20)), PYRAMID),
        ((f32(4), f32(1, 8, 20, 20)), PYRAMID),
        ((ANY, f32(1, 8, 20, 20)), PYRAMID),
        ((f32(9, 4), ANY), PYRAMID),
        ((f32(None, 4), f32(1, None, 4, 4), f32(1, 8, 2, 2)), PYRAMID),
        ((f32(9, 4), f32(1, 8, 20, 20)), {**PYRAMID, "output_size": 0}),
        ((i64(9, 4), f32(1, 8, 20, 20)), PYRAMID),
        ((f32(9, 4), Input("float16", 1, 8, 20, 20)), PYRAMID),
        ((f32(9, 4), f32(1, 8, 20, 20)), {"output_size": 7}),
    ],
)
def test_ov_roi_feature_extractor(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("ExperimentalDetectronROIFeatureExtractor", "opset6", inputs, attributes, 2)


YOLO = {"axis": 1, "end_axis": 3, "coords": 4, "classes": 80, "num": 5, "do_softmax": True, "mask": "0,1,2"}
YOLO_3 = {**YOLO, "do_softmax": False}
DATA = f32(1, 425, 13, 14)


@pytest.mark.parametrize(
    ("data", "attributes"),
    [
        (DATA, YOLO),
        (DATA, YOLO_3),
        (DATA, {**YOLO_3, "mask": ""}),
        (f32(1, 250, 13, 13), YOLO_3),
        (DATA, {**YOLO, "end_axis": -1}),
        (DATA, {**YOLO, "axis": 2}),
        (DATA, {**YOLO, "axis": 0}),
        (DATA, {**YOLO, "axis": 3, "end_axis": 1}),
        (DATA, {**YOLO, "end_axis": 4}),
        (DATA, {**YOLO, "axis": -5}),
        (DATA, {**YOLO_3, "end_axis": 7}),
        (ANY, YOLO),
        (f32(None, None, 13, None), YOLO),
        (f32(None, None, 13, None), YOLO_3),
        (f32(1, 2, 3), YOLO),
        (i64(1, 425, 13, 13), YOLO),
        (DATA, {}),
        (DATA, {name: value for name, value in YOLO.items() if name != "do_softmax"}),
    ],
)
def test_ov_region_yolo(data: Input, attributes: Attributes) -> None:
    assert_same_verdict("RegionYolo", "opset1", (data,), attributes)


# --- OpenVINO: prior boxes and detections -----------------------------------------------------------------------------

LOGITS, PREDICTIONS, PRIORS = f32(2, 40), f32(2, 30), f32(1, 2, 40)
THREE_INPUTS = (LOGITS, PREDICTIONS, PRIORS)
DETECTIONS: list[tuple[tuple[Given, ...], Attributes]] = [
    (THREE_INPUTS, {}),
    (THREE_INPUTS, {"keep_top_k": -1}),
    (THREE_INPUTS, {"keep_top_k": -1, "top_k": 4}),
    (THREE_INPUTS, {"keep_top_k": 0}),
    (THREE_INPUTS, {"keep_top_k": "5,6"}),
    (THREE_INPUTS, {"variance_encoded_in_target": True}),
    ((LOGITS, PREDICTIONS, f32(1, 1, 40)), {"variance_encoded_in_target": True}),
    ((LOGITS, PREDICTIONS, f32(1, 1, 40)), {}),
    ((LOGITS, PREDICTIONS, f32(1, 2, 50)), {"normalized": False}),
    (THREE_INPUTS, {"normalized": False}),
    ((LOGITS, PREDICTIONS, f32(2, 2, 40)), {}),
    ((LOGITS, PREDICTIONS, f32(3, 2, 40)), {}),
    ((LOGITS, PREDICTIONS, f32(2, 40)), {}),
    ((f32(2, 120), PREDICTIONS, PRIORS), {"share_location": False}),
    (THREE_INPUTS, {"share_location": False}),
    ((f32(2, 44), PREDICTIONS, PRIORS), {}),
    ((f32(2, 41), PREDICTIONS, PRIORS), {}),
    ((LOGITS, f32(2, 31), PRIORS), {}),
    ((f32(3, 40), PREDICTIONS, PRIORS), {}),
    ((f32(2, 40, 1), PREDICTIONS, PRIORS), {}),
    ((LOGITS, f32(2, 30, 1), PRIORS), {}),
    ((ANY, PREDICTIONS, PRIORS), {}),
    ((LOGITS, ANY, PRIORS), {}),
    ((LOGITS, PREDICTIONS, ANY), {}),
    ((ANY, PREDICTIONS, PRIORS), {"keep_top_k": -1}),
    ((f32(None, None), f32(None, None), PRIORS), {"keep_top_k": -1}),
    ((ANY, ANY, ANY), {}),
    ((*THREE_INPUTS, f32(2, 20)), {}),
    ((*THREE_INPUTS, f32(2, 20), LOGITS), {"objectness_score": 0.5}),
    ((*THREE_INPUTS, f32(2, 21), LOGITS), {}),
    ((*THREE_INPUTS, f32(3, 20), LOGITS), {}),
    ((*THREE_INPUTS, f32(2, 20), f32(2, 41)), {}),
    (THREE_INPUTS, {"code_type": "caffe.PriorBoxParameter.CENTER_SIZE", "input_height": 2, "input_width": 2}),
    (THREE_INPUTS, {"code_type": "corner"}),
    ((i64(2, 40), PREDICTIONS, PRIORS), {}),
    ((Input("float16", 2, 40), PREDICTIONS, PRIORS), {}),
    ((LOGITS, PREDICTIONS, Input("float16", 1, 2, 40)), {}),
]


@pytest.mark.parametrize(("version", "extra"), [("opset1", {"num_classes": 3}), ("opset8", {})])
@pytest.mark.parametrize(("inputs", "attributes"), DETECTIONS)
def test_ov_detection_output(
    version: str, extra: Attributes, inputs: tuple[Given, ...], attributes: Attributes
) -> None:
    common = {"keep_top_k": 200, "nms_threshold": 0.5, "normalized": True}
    assert_same_verdict("DetectionOutput", version, inputs, {**common, **extra, **attributes}, finer=True)


@pytest.mark.parametrize("classes", [None, 0, -1, 4])
def test_ov_detection_output_classes(classes: int | None) -> None:
    attributes = {"keep_top_k": 7, "nms_threshold": 0.5, "normalized": True}
    if classes is not None:
        attributes["num_classes"] = classes
    assert_same_verdict("DetectionOutput", "opset1", THREE_INPUTS, attributes)


GRID, IMAGE = np.array([3, 4], np.int64), np.array([30, 40], np.int64)
PRIOR_BOXES: list[tuple[tuple[Given, ...], Attributes]] = [
    ((GRID, IMAGE), {"min_size": 16, "max_size": 38, "aspect_ratio": "2,3", "flip": 1}),
    ((GRID, IMAGE), {"min_size": 16, "aspect_ratio": "2,0.5", "flip": 1}),
    ((GRID, IMAGE), {"min_size": 16, "aspect_ratio": "1,2,2"}),
    ((GRID, IMAGE), {"min_size": 16, "aspect_ratio": "2,2.000005"}),
    ((GRID, IMAGE), {"min_size": 16, "aspect_ratio": "2,2.0000001"}),
    ((GRID, IMAGE), {"min_size": 16, "aspect_ratio": 0, "flip": 1}),
    ((GRID, IMAGE), {"min_size": "16,17", "max_size": "38,39,40", "aspect_ratio": 2}),
    ((GRID, IMAGE), {"min_size": "16,17", "max_size": "38", "aspect_ratio": 2, "scale_all_sizes": False}),
    ((GRID, IMAGE), {}),
    ((GRID, IMAGE), {"scale_all_sizes": False}),
    ((GRID, IMAGE), {"fixed_size": "16,32", "density": "2,3", "aspect_ratio": 2, "flip": 1}),
    ((GRID, IMAGE), {"fixed_size": "16,32", "density": "2,3,4", "fixed_ratio": "1,2"}),
    ((GRID, IMAGE), {"fixed_size": "16,32", "density": "2.7,1", "min_size": 4, "aspect_ratio": 2}),
    ((GRID, IMAGE), {"density": "2,3", "fixed_ratio": 1, "min_size": 4, "max_size": 8, "aspect_ratio": 2}),
    ((GRID, i64(2)), {"min_size": 4}),
    ((GRID, i64(3)), {"min_size": 4}),
    ((i64(2), IMAGE), {"min_size": 4}),
    ((i64(3), IMAGE), {"min_size": 4}),
    ((i64(None), IMAGE), {"min_size": 4}),
    ((Input.any_rank("int64"), IMAGE), {"min_size": 4}),
    ((i64(), IMAGE), {"min_size": 4}),
    ((GRID, i64(2, 1)), {"min_size": 4}),
    ((np.array([3], np.int64), IMAGE), {"min_size": 4}),
    ((np.array([1, 2, 3], np.int64), IMAGE), {"min_size": 4}),
    ((np.array([-3, 4], np.int64), IMAGE), {"min_size": 4}),
    ((np.array([-1, 4], np.int64), IMAGE), {"min_size": 4}),
    ((np.array([3, 4], np.int32), IMAGE), {"min_size": 4}),
    ((np.array([3, 4], np.float32), IMAGE), {"min_size": 4}),
    ((GRID, f32(2)), {"min_size": 4}),
]


@pytest.mark.parametrize("version", ["opset1", "opset8"])
@pytest.mark.parametrize(("inputs", "attributes"), PRIOR_BOXES)
def test_ov_prior_box(version: str, inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("PriorBox", version, inputs, {"offset": 0.5, "step": 16, **attributes})


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((GRID, IMAGE), {}),
        ((GRID,), {}),
        ((GRID, IMAGE), {"width": "1,2"}),
        ((GRID, IMAGE), {"width": "", "height": ""}),
        ((i64(2), IMAGE), {}),
        ((GRID, f32(2)), {}),
        ((GRID, i64()), {}),
        ((GRID, IMAGE), {"step": 4, "clip": False, "step_w": 16, "step_h": 16, "variance": "0.1,0.1,0.2,0.2"}),
    ],
)
def test_ov_prior_box_clustered(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    common = {"offset": 0.5, "width": "1,2,3", "height": "4,5,6"}
    assert_same_verdict("PriorBoxClustered", "opset1", inputs, {**common, **attributes})


# --- OpenVINO: proposals ----------------------------------------------------------------------------------------------

PROPOSAL = {
    "base_size": 16,
    "pre_nms_topn": 6000,
    "post_nms_topn": 300,
    "nms_thresh": 0.7,
    "feat_stride": 16,
    "min_size": 16,
    "ratio": "0.5,1,2",
    "scale": "8,16,32",
}
PROBABILITIES, DELTAS = f32(2, 18, 14, 14), f32(2, 36, 14, 14)


@pytest.mark.parametrize(("version", "outputs"), [("opset1", 1), ("opset4", 2)])
@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((PROBABILITIES, DELTAS, f32(3)), PROPOSAL),
        ((PROBABILITIES, DELTAS, f32(4)), PROPOSAL),
        ((PROBABILITIES, DELTAS, f32(2)), PROPOSAL),
        ((PROBABILITIES, DELTAS, f32(1, 3)), PROPOSAL),
        ((PROBABILITIES, DELTAS, f32(None)), PROPOSAL),
        ((ANY, DELTAS, f32(3)), PROPOSAL),
        ((PROBABILITIES, ANY, f32(3)), PROPOSAL),
        ((ANY, ANY, ANY), PROPOSAL),
        ((PROBABILITIES, f32(3, 36, 14, 14), f32(3)), PROPOSAL),
        ((f32(None, 18, 14, 14), DELTAS, f32(3)), PROPOSAL),
        ((PROBABILITIES, f32(2, 36, 14, 15), f32(3)), PROPOSAL),
        ((PROBABILITIES, f32(2, 37, 14, 14), f32(3)), PROPOSAL),
        ((f32(2, 17, 14, 14), f32(2, 34, 14, 14), f32(3)), PROPOSAL),
        ((f32(2, 18, 14), DELTAS, f32(3)), PROPOSAL),
        ((PROBABILITIES, f32(2, 36, 14), f32(3)), PROPOSAL),
        ((PROBABILITIES, DELTAS, f32(3)), {**PROPOSAL, "post_nms_topn": 0}),
        ((PROBABILITIES, DELTAS, f32(3)), {**PROPOSAL, "post_nms_topn": -1}),
        ((PROBABILITIES, DELTAS, f32(3)), {}),
        ((i64(2, 18, 14, 14), DELTAS, f32(3)), PROPOSAL),
        ((PROBABILITIES, DELTAS, i64(3)), PROPOSAL),
        ((Input("float16", 2, 18, 14, 14), DELTAS, f32(3)), PROPOSAL),
    ],
)
def test_ov_proposal(version: str, outputs: int, inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("Proposal", version, inputs, attributes, outputs)


GENERATE = {"min_size": 0, "nms_threshold": 0.7, "pre_nms_count": 1000, "post_nms_count": 100}
GENERATED = (f32(2, 3), f32(20, 33, 3, 4), f32(2, 12, 20, 33), f32(2, 3, 20, 33))


def replaced(inputs: tuple[Given, ...], index: int, new: Given) -> tuple[Given, ...]:
    return (*inputs[:index], new, *inputs[index + 1 :])


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (GENERATED, {}),
        (replaced(GENERATED, 0, f32(2, 4)), {}),
        (replaced(GENERATED, 0, f32(2, 5)), {}),
        (replaced(GENERATED, 0, f32(3, 3)), {}),
        (replaced(GENERATED, 0, f32(2)), {}),
        (replaced(GENERATED, 1, f32(20, 33, 3, 5)), {}),
        (replaced(GENERATED, 1, f32(20, 33, 4, 4)), {}),
        (replaced(GENERATED, 1, f32(21, 33, 3, 4)), {}),
        (replaced(GENERATED, 1, f32(20, 33, 12)), {}),
        (replaced(GENERATED, 2, f32(2, 13, 20, 33)), {}),
        (replaced(GENERATED, 3, f32(2, 4, 20, 33)), {}),
        (replaced(GENERATED, 3, f32(2, 3, 20, 34)), {}),
        (replaced(GENERATED, 3, f32(3, 3, 20, 33)), {}),
        (replaced(GENERATED, 0, f32(None, 3)), {}),
        ((f32(None, 3), GENERATED[1], f32(None, 12, 20, 33), f32(None, 3, None, None)), {}),
        ((ANY, ANY, ANY, ANY), {}),
        (GENERATED, {"post_nms_count": 0}),
        (GENERATED, {"pre_nms_count": 0}),
        (GENERATED, {"roi_num_type": "i32", "normalized": False}),
        (GENERATED, {"roi_num_type": "f32"}),
        (GENERATED, {"nms_eta": 0.9}),
        (replaced(GENERATED, 0, Input("float16", 2, 3)), {}),
    ],
)
def test_ov_generate_proposals(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("GenerateProposals", "opset9", inputs, {**GENERATE, **attributes}, 3)


SINGLE = (f32(3), f32(1980, 4), f32(12, 20, 33), f32(3, 20, 33))


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (SINGLE, {}),
        (replaced(SINGLE, 0, f32(4)), {}),
        (replaced(SINGLE, 0, f32(1, 3)), {}),
        (replaced(SINGLE, 1, f32(1980, 5)), {}),
        (replaced(SINGLE, 1, f32(1979, 4)), {}),
        (replaced(SINGLE, 2, f32(12, 20, 34)), {}),
        (replaced(SINGLE, 2, f32(12, 21, 33)), {}),
        (replaced(SINGLE, 2, f32(13, 20, 33)), {}),
        (replaced(SINGLE, 2, f32(1, 12, 20, 33)), {}),
        ((ANY, ANY, ANY, ANY), {}),
        (SINGLE, {"post_nms_count": 0}),
        (SINGLE, {"post_nms_count": -1}),
        (replaced(SINGLE, 0, i64(3)), {}),
    ],
)
def test_ov_detectron_proposals(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    name = "ExperimentalDetectronGenerateProposalsSingleImage"
    for version in ("opset6", "experimental"):
        assert_same_verdict(name, version, inputs, {**GENERATE, **attributes}, 2)


DETECTRON = {
    "score_threshold": 0.05,
    "nms_threshold": 0.5,
    "num_classes": 81,
    "post_nms_count": 2000,
    "max_detections_per_image": 100,
    "max_delta_log_wh": 4.1,
    "deltas_weights": "10,10,5,5",
}
DETECTED = (f32(9, 4), f32(9, 324), f32(9, 81), f32(1, 3))


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (DETECTED, {}),
        (replaced(DETECTED, 0, f32(9, 5)), {}),
        (replaced(DETECTED, 0, f32(9, 4, 1)), {}),
        (replaced(DETECTED, 1, f32(9, 325)), {}),
        (replaced(DETECTED, 1, f32(8, 324)), {}),
        (replaced(DETECTED, 2, f32(9, 80)), {}),
        (replaced(DETECTED, 3, f32(3)), {}),
        (replaced(DETECTED, 3, f32(1, 4)), {}),
        ((ANY, ANY, ANY, ANY), {}),
        (DETECTED, {"class_agnostic_box_regression": True}),
        (DETECTED, {"max_detections_per_image": 0}),
        (DETECTED, {"max_detections_per_image": -1}),
        (DETECTED, {"num_classes": 0}),
        (replaced(DETECTED, 0, Input("float16", 9, 4)), {}),
        (replaced(DETECTED, 0, i64(9, 4)), {}),
    ],
)
def test_ov_detectron_detection_output(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    name = "ExperimentalDetectronDetectionOutput"
    assert_same_verdict(name, "opset6", inputs, {**DETECTRON, **attributes}, 3)


CELLS = (f32(3, 4), f32(1, 256, 25, 42), f32(1, 3, 800, 1344))


@pytest.mark.parametrize("flatten", [True, False])
@pytest.mark.parametrize(
    "inputs",
    [
        CELLS,
        replaced(CELLS, 0, f32(3, 5)),
        replaced(CELLS, 0, f32(3, 4, 1)),
        replaced(CELLS, 1, f32(256, 25, 42)),
        replaced(CELLS, 1, f32(2, 256, 25, 42)),
        replaced(CELLS, 2, f32(1, 3, 800)),
        replaced(CELLS, 0, ANY),
        replaced(CELLS, 0, i64(3, 4)),
        (f32(None, 4), f32(1, 1, None, 4), CELLS[2]),
        (ANY, ANY, ANY),
    ],
)
def test_ov_detectron_prior_grid(flatten: bool, inputs: tuple[Given, ...]) -> None:
    attributes = {"flatten": flatten, "h": 5, "w": 6, "stride_x": 4.0, "stride_y": 4.0}
    assert_same_verdict("ExperimentalDetectronPriorGridGenerator", "opset6", inputs, attributes)


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((f32(1000, 4), f32(1000)), {"max_rois": 100}),
        ((f32(1000, 4), f32(1000)), {}),
        ((f32(1000, 4), f32(1000)), {"max_rois": -1}),
        ((f32(1000, 5), f32(1000)), {"max_rois": 100}),
        ((f32(1000, 4), f32(1001)), {"max_rois": 100}),
        ((f32(1000, 4), f32(1000, 1)), {"max_rois": 100}),
        ((f32(1000, 4), Input("float16", 1000)), {"max_rois": 100}),
        ((i64(1000, 4), i64(1000)), {"max_rois": 100}),
        ((ANY, ANY), {"max_rois": 100}),
    ],
)
def test_ov_detectron_top_rois(inputs: tuple[Given, ...], attributes: Attributes) -> None:
    assert_same_verdict("ExperimentalDetectronTopKROIs", "opset6", inputs, attributes)


# --- what OpenVINO accepts and nobody should --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "version", "inputs", "attributes"),
    [
        ("RegionYolo", "opset1", (f32(1, 250, 13, 13),), YOLO_3),
        ("RegionYolo", "opset1", (f32(1, 255, 13, 13),), YOLO),
        ("Proposal", "opset1", (PROBABILITIES, f32(2, 36, 14, 15), f32(3)), PROPOSAL),
        ("Proposal", "opset1", (f32(2, 17, 14, 14), f32(2, 34, 14, 14), f32(3)), PROPOSAL),
        ("PriorBox", "opset1", (GRID, i64(3)), {"min_size": 4, "offset": 0.5}),
        ("ROIAlign", "opset3", (X, ROIS, IMAGES), {**ALIGN, "mode": "avg", "pooled_h": 0}),
    ],
)
def test_warnings(op: str, version: str, inputs: tuple[Given, ...], attributes: Attributes, tmp_path: Path) -> None:
    xml, weights = ir_document(op, version, inputs, attributes)
    (tmp_path / "model.xml").write_bytes(xml)
    (tmp_path / "model.bin").write_bytes(weights)
    assert not isinstance(openvino_verdict(xml, weights), str)
    faults = [problem.fault for problem in inferred(parser.read(tmp_path / "model.xml")).problems]
    assert [fault.severity for fault in faults] == [Severity.WARNING]


# --- symbolic sizes ---------------------------------------------------------------------------------------------------


class Unknowns:
    """The part of a rule's context that names sizes which depend on data."""

    def unknown(self, key: object, upper: int | None = None) -> Dim:
        return symbol(f"_{key}", 0, upper)


@pytest.mark.parametrize(("most", "expected"), [(0, 0), (24, 24), (None, None), (N * 6, None)])
def test_what_is_selected_is_bounded(most: MaybeDim, expected: int | None) -> None:
    chosen = selected(most, Unknowns())  # type: ignore[arg-type]
    assert chosen is not None
    assert bounds(chosen)[1] == expected


def test_symbolic_results() -> None:
    found = candidates(Tensor("float32", (N, W, 4)), Tensor("float32", (N, 80, W)))
    assert (found.images, found.classes, found.boxes) == (N, 80, W)
    grid = Tensor("int64", (2,), (H, W))
    assert ov_prior_box_8(grid, Tensor("int64", (2,)), min_size=(4.0,), offset=0.5).shape == (2, 4 * H * W)
    x = Tensor("float32", (N, 255, H, W))
    yolo = {"axis": 1, "end_axis": 3, "coords": 4, "classes": 80, "num": 3}
    assert ov_region_yolo(x, **yolo, do_softmax=True).shape == (N, 255 * H * W)  # type: ignore[arg-type]
    assert ov_region_yolo(x, **yolo, do_softmax=False, mask=(0, 1)).shape == (N, 170, H, W)  # type: ignore[arg-type]
    rois = Tensor("float32", (N, 4))
    assert aligned(Tensor("float32", (1, 8, H, W)), rois, Tensor("int64", (None,)), (7, 7)) == (N, 8, 7, 7)


def test_detections_of_symbolic_priors() -> None:
    tensors = (Tensor("float32", (N, 4 * H)), Tensor("float32", (N, 21 * H)), Tensor("float32", (1, 2, 4 * H)))
    with stated() as statements:
        kept = ov_detection_output_8(*tensors, keep_top_k=(200,), nms_threshold=0.5, normalized=True)
    assert kept.shape == (1, 1, 200 * N, 7)
    assert not statements.requirements


def test_one_region_for_each_index() -> None:
    with stated() as statements:
        aligned(Tensor("float32", (1, 8, H, W)), Tensor("float32", (N, 4)), Tensor("int64", (H,)), (7, 7))
    assert [requirement.condition for requirement in statements.requirements] == ["H == N"]


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0, 1 / 3]), max_size=5), st.booleans())
def test_aspect_ratios_are_counted_once(ratios: list[float], flip: bool) -> None:
    distinct = {round(ratio, 6) for ratio in [1.0, *ratios, *([1 / ratio for ratio in ratios] if flip else [])]}
    assert aspect_ratios(tuple(ratios), flip) == len(distinct)
