"""Non-maximum suppression, regions of interest, prior boxes and proposals against ONNX's node tests and OpenVINO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cases.models import Fed as Given
from cases.models import Input, ir_document
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import openvino_verdict

from irlint.dims import Dim, MaybeDim, bounds, symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import stated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.ops.shared.prior_boxes import aspect_ratios
from irlint.ops.vision.detection import candidates, selected
from irlint.ops.vision.detection_output import Detection, ov_detection_output_1, ov_detection_output_8
from irlint.ops.vision.priors import PriorBoxes, ov_prior_box_8
from irlint.ops.vision.regions import aligned, ov_region_yolo
from irlint.parsers import openvino as parser

H, W, N = symbol("H"), symbol("W"), symbol("N")
Attributes = dict[str, object]


def f32(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def i64(*dims: int | str | None) -> Input:
    return Input("int64", *dims)


# --- ONNX -------------------------------------------------------------------------------------------------------------

X, ROIS, IMAGES = f32(2, 3, 16, 16), f32(5, 4), i64(5)


# --- OpenVINO: regions ------------------------------------------------------------------------------------------------

ALIGN = {"pooled_h": 6, "pooled_w": 7, "sampling_ratio": 2, "spatial_scale": 0.5}


YOLO = {"axis": 1, "end_axis": 3, "coords": 4, "classes": 80, "num": 5, "do_softmax": True, "mask": "0,1,2"}
YOLO_3 = {**YOLO, "do_softmax": False}


# --- OpenVINO: prior boxes and detections -----------------------------------------------------------------------------


GRID, IMAGE = np.array([3, 4], np.int64), np.array([30, 40], np.int64)


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


# --- what OpenVINO accepts and nobody should --------------------------------------------------------------------------


@pytest.mark.oracle
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
    assert ov_prior_box_8(grid, Tensor("int64", (2,)), boxes=PriorBoxes(0.5, (4.0,))).shape == (2, 4 * H * W)
    x = Tensor("float32", (N, 255, H, W))
    yolo = {"axis": 1, "end_axis": 3, "coords": 4, "classes": 80, "num": 3}
    assert ov_region_yolo(x, **yolo, do_softmax=True).shape == (N, 255 * H * W)  # type: ignore[arg-type]
    assert ov_region_yolo(x, **yolo, do_softmax=False, mask=(0, 1)).shape == (N, 170, H, W)  # type: ignore[arg-type]
    rois = Tensor("float32", (N, 4))
    assert aligned(Tensor("float32", (1, 8, H, W)), rois, Tensor("int64", (None,)), pooled=(7, 7)) == (N, 8, 7, 7)


def test_detections_of_symbolic_priors() -> None:
    tensors = (Tensor("float32", (N, 4 * H)), Tensor("float32", (N, 21 * H)), Tensor("float32", (1, 2, 4 * H)))
    with stated() as statements:
        kept = ov_detection_output_8(*tensors, detection=Detection((200,), 0.5, normalized=True))
    assert kept.shape == (1, 1, 200 * N, 7)
    assert not statements.requirements


def test_one_region_for_each_index() -> None:
    with stated() as statements:
        aligned(Tensor("float32", (1, 8, H, W)), Tensor("float32", (N, 4)), Tensor("int64", (H,)), pooled=(7, 7))
    assert [requirement.condition for requirement in statements.requirements] == ["H == N"]


@given(st.lists(st.sampled_from([0.5, 1.0, 2.0, 3.0, 1 / 3]), max_size=5), st.booleans())
def test_aspect_ratios_are_counted_once(ratios: list[float], flip: bool) -> None:
    distinct = {round(ratio, 6) for ratio in [1.0, *ratios, *([1 / ratio for ratio in ratios] if flip else [])]}
    assert aspect_ratios(tuple(ratios), flip) == len(distinct)


def test_the_number_of_classes_that_fits_the_scores_is_named() -> None:
    detection = Detection(keep_top_k=(200,), nms_threshold=0.5, normalized=True)
    with pytest.raises(Fault) as caught:
        ov_detection_output_1(
            Tensor("float32", (1, 40)),
            Tensor("float32", (1, 20)),
            Tensor("float32", (1, 2, 40)),
            num_classes=3,
            detection=detection,
        )
    assert "is 20, which is 2 scores for each of 10 prior boxes; num_classes=3 requires 3" in caught.value.message
    assert caught.value.help.startswith('write num_classes="2"')
