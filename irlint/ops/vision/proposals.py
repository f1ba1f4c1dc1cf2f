"""Region proposals of OpenVINO."""

from __future__ import annotations

from irlint.dims import MaybeDim, product, same
from irlint.findings.faults import Rule, Severity
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import Context, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.axes import Floats
from irlint.ops.shared.element_types import INDEX_NAMES, REAL, IndexType, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.ops.vision.detection import selected
from irlint.ops.vision.priors import Axes, layer_document, warn_of_axes
from irlint.records import record

_PROPOSAL = (
    'type="Proposal" version="opset1"><data base_size="16" pre_nms_topn="6000" post_nms_topn="300" nms_thresh="0.7" '
    'feat_stride="16" min_size="16" ratio="0.5,1,2" scale="8,16,32"/>'
)

PROPOSALS_MISMATCH = Rule(
    "IRL389",
    "proposal-inputs-mismatch",
    Severity.ERROR,
    "The sizes of the inputs of a region proposal contradict each other.",
    why=(
        "Scores, box deltas and anchors of a region proposal describe the same grid: they need the same number of "
        "images, height, width and number of anchors, and 4 deltas per anchor. OpenVINO refuses most other inputs. "
        "irlint warns of sizes that OpenVINO does not check, because it then computes a wrong result."
    ),
    fix=(
        "Connect scores, deltas and anchors of the same feature map, and correct the attributes with the number of "
        "anchors."
    ),
    bad=layer_document(_PROPOSAL, (("f32", "1,18,14,14"), ("f32", "1,72,14,14"), ("f32", "3")), "300,5"),
    good=layer_document(_PROPOSAL, (("f32", "1,18,14,14"), ("f32", "1,36,14,14"), ("f32", "3")), "300,5"),
)

Framework = Literal["", "tensorflow"]

# --- Proposal ---------------------------------------------------------------------------------------------------------

_PROPOSAL_ABSENT = {
    "base_size": 0,
    "pre_nms_topn": 0,
    "post_nms_topn": 0,
    "nms_thresh": 0.0,
    "feat_stride": 1,
    "min_size": 1,
    "ratio": (),
    "scale": (),
}


def _limit_as_size(count: int) -> MaybeDim:
    """The size of the result for the limit ``count``. OpenVINO reads -1 as unknown, and a smaller number as 0."""
    return None if count == -1 else max(count, 0)


@group
@record
class Anchors:
    """The common attributes of both versions of Proposal."""

    base_size: int
    pre_nms_topn: int
    post_nms_topn: int
    nms_thresh: float
    feat_stride: int
    min_size: int
    ratio: Floats
    scale: Floats
    clip_before_nms: bool = True
    clip_after_nms: bool = False
    normalize: bool = False
    box_size_scale: float = 1.0
    box_coordinate_scale: float = 1.0
    framework: Framework = ""


def _region_count(class_probs: Tensor, bbox_deltas: Tensor, image_shape: Tensor, *, anchors: Anchors) -> MaybeDim:
    for index, tensor in enumerate((class_probs, bbox_deltas, image_shape)):
        expect_type(tensor, index, REAL)
    images = narrower(size(class_probs, 0, 4), size(bbox_deltas, 0, 4))
    probabilities = size(class_probs, 1, 4)
    batch = ("the number of images", images)
    height, width = (narrower(size(class_probs, axis, 4), size(bbox_deltas, axis, 4)) for axis in (2, 3))
    grid: Axes = (("the height", height), ("the width", width))
    any_grid: Axes = (("the height", None), ("the width", None))
    check(class_probs, Expected(0, "class_probs", (batch, ("2 for each anchor", None), *any_grid), PROPOSALS_MISMATCH))
    deltas = product((probabilities, 2))
    axes: Axes = (batch, ("4 for each anchor", deltas), *any_grid)
    check(bbox_deltas, Expected(1, "bbox_deltas", axes, PROPOSALS_MISMATCH))
    warn_of_axes(bbox_deltas, Expected(1, "bbox_deltas", (batch, axes[1], *grid), PROPOSALS_MISMATCH))
    count, post_nms_topn = len(anchors.ratio) * len(anchors.scale), anchors.post_nms_topn
    if count:
        score_axes: Axes = (batch, ("2 for each pair of a `ratio` and a `scale`", 2 * count), *any_grid)
        warn_of_axes(class_probs, Expected(0, "class_probs", score_axes, PROPOSALS_MISMATCH))
    _expect_image_shape(image_shape)
    if post_nms_topn < 0:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `post_nms_topn` is {post_nms_topn}; OpenVINO reads the layer, but refuses to compile it",
            help="write the maximum number of regions of an image",
            attribute="post_nms_topn",
        )
    return product((images, post_nms_topn))


def _expect_image_shape(image_shape: Tensor) -> None:
    shape = image_shape.shape
    if shape is None or (len(shape) == 1 and (same(shape[0], 3) is not False or same(shape[0], 4) is not False)):
        return
    raise PROPOSALS_MISMATCH.fault(
        f"input 2 (image_shape) is {shape_text(shape)}; expected a list of 3 or 4 numbers",
        help="write height, width and one or two scales",
        input=2,
    )


@openvino("Proposal", until=3, absent=_PROPOSAL_ABSENT, strict=("framework",))
def ov_proposal_1(
    class_probs: Tensor,
    bbox_deltas: Tensor,
    image_shape: Tensor,
    *,
    anchors: Anchors,
) -> Tensor:
    """OpenVINO Proposal-1: regions [images * post_nms_topn, 5]."""
    count = _region_count(class_probs, bbox_deltas, image_shape, anchors=anchors)
    return Tensor(class_probs.dtype, (count, 5))


@openvino(
    "Proposal",
    since=4,
    absent=_PROPOSAL_ABSENT,
    strict=("framework",),
    labels={"experimental": 6, "extension": 6},
)
def ov_proposal_4(
    class_probs: Tensor,
    bbox_deltas: Tensor,
    image_shape: Tensor,
    *,
    anchors: Anchors,
) -> tuple[Tensor, Tensor]:
    """OpenVINO Proposal-4: regions [images * post_nms_topn, 5], and their probabilities."""
    count = _region_count(class_probs, bbox_deltas, image_shape, anchors=anchors)
    return Tensor(class_probs.dtype, (count, 5)), Tensor(class_probs.dtype, (count,))


@openvino(
    "GenerateProposals",
    since=9,
    absent={"min_size": 0.0, "nms_threshold": 0.0, "pre_nms_count": 0, "post_nms_count": 0},
    ignores_extra_inputs=True,
)
def ov_generate_proposals(
    im_info: Tensor,
    anchors: Tensor,
    deltas: Tensor,
    scores: Tensor,
    *,
    min_size: float,
    nms_threshold: float,
    pre_nms_count: int,
    post_nms_count: int,
    normalized: bool = True,
    nms_eta: float = 1.0,
    roi_num_type: IndexType = "i64",
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO GenerateProposals-9: regions, their scores, and the number of regions of each image."""
    expect_attribute(pre_nms_count, 1, "pre_nms_count")
    expect_attribute(post_nms_count, 1, "post_nms_count")
    if nms_eta != 1:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `nms_eta` is {nms_eta:g}; OpenVINO supports only 1", help="write 1", attribute="nms_eta"
        )
    images = narrower(size(im_info, 0, 2), size(deltas, 0, 4), size(scores, 0, 4))
    height = narrower(size(anchors, 0, 4), size(deltas, 2, 4), size(scores, 2, 4))
    width = narrower(size(anchors, 1, 4), size(deltas, 3, 4), size(scores, 3, 4))
    anchors_per_cell = narrower(size(anchors, 2, 4), size(scores, 1, 4))
    batch: Axes = (("the number of images", images),)
    grid: Axes = (("the height", height), ("the width", width))
    of_cell: Axes = (("the number of anchors", anchors_per_cell),)
    info = size(im_info, 1, 2)
    numbers: Axes = (("3 or 4 numbers", 3 if same(info, 4) is False else None),)
    check(im_info, Expected(0, "im_info", (*batch, *numbers), PROPOSALS_MISMATCH))
    axes = (*grid, *of_cell, ("the number of coordinates", 4))
    check(anchors, Expected(1, "anchors", axes, PROPOSALS_MISMATCH))
    axes = (*batch, ("4 for each anchor", product((anchors_per_cell, 4))), *grid)
    check(deltas, Expected(2, "boxesdeltas", axes, PROPOSALS_MISMATCH))
    check(scores, Expected(3, "scores", (*batch, *of_cell, *grid), PROPOSALS_MISMATCH))
    count = selected(product((images, post_nms_count)), context)
    dtype = im_info.dtype
    return Tensor(dtype, (count, 4)), Tensor(dtype, (count,)), Tensor(INDEX_NAMES[roi_num_type], (images,))


# --- Detectron --------------------------------------------------------------------------------------------------------


def _common_float_type(*tensors: Tensor) -> str | None:
    for index, tensor in enumerate(tensors):
        expect_type(tensor, index, REAL)
    return common_type(tensors)


@openvino(
    "ExperimentalDetectronDetectionOutput",
    since=6,
    labels={"experimental": 6, "extension": 6},
    absent={
        "score_threshold": 0.0,
        "nms_threshold": 0.0,
        "num_classes": 0,
        "post_nms_count": 0,
        "max_detections_per_image": 0,
        "max_delta_log_wh": 0.0,
        "deltas_weights": (),
    },
)
def ov_detectron_detection_output(
    rois: Tensor,
    deltas: Tensor,
    scores: Tensor,
    im_info: Tensor,
    *,
    score_threshold: float,
    nms_threshold: float,
    num_classes: int,
    post_nms_count: int,
    max_detections_per_image: int,
    class_agnostic_box_regression: bool = False,
    max_delta_log_wh: float,
    deltas_weights: Floats,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO ExperimentalDetectronDetectionOutput-6: boxes, classes and scores."""
    dtype = _common_float_type(rois, deltas, scores, im_info)
    count = narrower(size(rois, 0, 2), size(deltas, 0, 2), size(scores, 0, 2))
    regions: Axes = (("the number of regions", count),)
    axes: Axes = (*regions, ("the number of coordinates", 4))
    check(rois, Expected(0, "rois", axes, PROPOSALS_MISMATCH))
    axes = (*regions, ("4 for each of `num_classes`", 4 * num_classes))
    check(deltas, Expected(1, "deltas", axes, PROPOSALS_MISMATCH))
    check(scores, Expected(2, "scores", (*regions, ("`num_classes`", num_classes)), PROPOSALS_MISMATCH))
    info: Axes = (("1 image", 1), ("3 numbers: height, width and scale", 3))
    check(im_info, Expected(3, "im_info", info, PROPOSALS_MISMATCH))
    kept = _limit_as_size(max_detections_per_image)
    return Tensor(dtype, (kept, 4)), Tensor("int32", (kept,)), Tensor(dtype, (kept,))


@openvino(
    "ExperimentalDetectronGenerateProposalsSingleImage",
    since=6,
    labels={"experimental": 6, "extension": 6},
    absent={"min_size": 0.0, "nms_threshold": 0.0, "pre_nms_count": 0, "post_nms_count": 0},
)
def ov_detectron_proposals(
    im_info: Tensor,
    anchors: Tensor,
    deltas: Tensor,
    scores: Tensor,
    *,
    min_size: float,
    nms_threshold: float,
    pre_nms_count: int,
    post_nms_count: int,
) -> tuple[Tensor, Tensor]:
    """OpenVINO ExperimentalDetectronGenerateProposalsSingleImage-6: regions and scores."""
    dtype = _common_float_type(im_info, anchors, deltas, scores)
    anchors_per_cell = size(scores, 0, 3)
    height, width = (narrower(size(deltas, axis, 3), size(scores, axis, 3)) for axis in (1, 2))
    grid: Axes = (("the height", height), ("the width", width))
    check(im_info, Expected(0, "im_info", (("3 numbers: height, width and scale", 3),), PROPOSALS_MISMATCH))
    coordinates = ("the number of coordinates", 4)
    check(anchors, Expected(1, "anchors", (("the number of anchors", None), coordinates), PROPOSALS_MISMATCH))
    check(deltas, Expected(2, "deltas", (("4 for each anchor", None), *grid), PROPOSALS_MISMATCH))
    check(scores, Expected(3, "scores", (("the number of anchors", None), *grid), PROPOSALS_MISMATCH))
    anchor_axis = ("one anchor for each score in each cell", product((anchors_per_cell, height, width)))
    warn_of_axes(anchors, Expected(1, "anchors", (anchor_axis, coordinates), PROPOSALS_MISMATCH))
    delta_axis = ("4 for each anchor", product((anchors_per_cell, 4)))
    warn_of_axes(deltas, Expected(2, "deltas", (delta_axis, *grid), PROPOSALS_MISMATCH))
    kept = _limit_as_size(post_nms_count)
    return Tensor(dtype, (kept, 4)), Tensor(dtype, (kept,))


@openvino(
    "ExperimentalDetectronPriorGridGenerator",
    since=6,
    absent={"flatten": False},
    labels={"experimental": 6, "extension": 6},
    documented={"flatten": True},
)
def ov_detectron_prior_grid(
    priors: Tensor,
    feature_map: Tensor,
    im_data: Tensor,
    *,
    flatten: bool,
    h: int = 0,
    w: int = 0,
    stride_x: float = 0.0,
    stride_y: float = 0.0,
) -> Tensor:
    """OpenVINO ExperimentalDetectronPriorGridGenerator-6: [height, width, priors, 4].

    With ``flatten``, the first three axes become one.
    """
    dtype = _common_float_type(priors, feature_map, im_data)
    count = size(priors, 0, 2)
    axes: Axes = (("the number of priors", count), ("the number of coordinates", 4))
    check(priors, Expected(0, "priors", axes, PROPOSALS_MISMATCH))
    batch: Axes = (("the number of images", narrower(size(feature_map, 0, 4), size(im_data, 0, 4))),)
    image = (*batch, ("the number of channels", None), ("the height", None), ("the width", None))
    check(feature_map, Expected(1, "feature_map", image, PROPOSALS_MISMATCH))
    check(im_data, Expected(2, "im_data", image, PROPOSALS_MISMATCH))
    height, width = size(feature_map, 2, 4), size(feature_map, 3, 4)
    if flatten:
        return Tensor(dtype, (product((height, width, count)), 4))
    return Tensor(dtype, (height, width, count, 4))


@openvino("ExperimentalDetectronTopKROIs", since=6, labels={"experimental": 6, "extension": 6})
def ov_detectron_top_rois(rois: Tensor, rois_probs: Tensor, *, max_rois: int = 0) -> Tensor:
    """OpenVINO ExperimentalDetectronTopKROIs-6: [max_rois, 4]."""
    dtype = _common_float_type(rois, rois_probs)
    regions: Axes = (("the number of regions", narrower(size(rois, 0, 2), size(rois_probs, 0, 1))),)
    axes = (*regions, ("the number of coordinates", 4))
    check(rois, Expected(0, "input_rois", axes, PROPOSALS_MISMATCH))
    check(rois_probs, Expected(1, "rois_probs", regions, PROPOSALS_MISMATCH))
    return Tensor(dtype, (_limit_as_size(max_rois), 4))
