"""Non-maximum suppression."""

from __future__ import annotations

from collections.abc import Callable

from irlint.dims import MaybeDim, bounds, product, smallest
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import OPENVINO, Context, onnx, openvino, without_rule
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.compiling import Layer, first_of, not_compiled, readable_constants, types_at
from irlint.ops.shared.element_types import INDEX_NAMES, REAL, IndexType, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check, expect_one, expect_rank
from irlint.ops.shared.shape_inputs import number
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record

OVERLAP_OUT_OF_RANGE = Rule(
    "IRL716",
    "overlap-out-of-range",
    Severity.ERROR,
    "An overlap threshold is not between 0 and 1.",
    why=(
        "The overlap of two boxes is a ratio between 0 and 1. The specification allows no other threshold, and ONNX "
        "Runtime fails at run time."
    ),
    fix="Use a threshold between 0 and 1.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,4] b, float[1,2,6] s) => (int64[N,3] y) <int64 m = {3}, float i = {50}> { y = NonMaxSuppression (b, s, \
m, i) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,4] b, float[1,2,6] s) => (int64[N,3] y) <int64 m = {3}, float i = {0.5}> { y = NonMaxSuppression (b, s, \
m, i) }""",
    uncalled=False,
)

BOXES_MISMATCH = Rule(
    "IRL385",
    "boxes-scores-mismatch",
    Severity.ERROR,
    "The shapes of boxes and scores have different numbers of images, classes, boxes or coordinates.",
    why=(
        "Non-maximum suppression needs boxes of the shape [images, boxes, 4] (5 for rotated boxes) and scores of the "
        "shape [images, classes, boxes], which is one score per box and class. Runtimes refuse other shapes. Most "
        "detectors compute scores as [images, boxes, classes], which must be transposed."
    ),
    fix="Transpose the scores to [images, classes, boxes], and give each box 4 coordinates.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8400,4] boxes, float[1,8400,80] scores) => (int64[n,3] y) <int64[1] most = {20}>
{ y = NonMaxSuppression (boxes, scores, most) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,8400,4] boxes, float[1,80,8400] scores) => (int64[n,3] y) <int64[1] most = {20}>
{ y = NonMaxSuppression (boxes, scores, most) }""",
)

BoxEncoding = Literal["corner", "center"]
SortResult = Literal["classid", "score", "none"]
DecayFunction = Literal["gaussian", "linear"]

_UP_TO_FLOAT32 = frozenset({"float32", "float16", "bfloat16"})


@record
class Candidates:
    """The numbers of images, classes and boxes."""

    images: MaybeDim
    classes: MaybeDim
    boxes: MaybeDim


def candidates(boxes: Tensor, scores: Tensor, coordinates: int = 4) -> Candidates:
    """The numbers of images, classes and boxes.

    The inputs are boxes [images, boxes, coordinates] and scores [images, classes, boxes]. Raises a
    ``BOXES_MISMATCH`` fault.
    """
    images = narrower(size(boxes, 0, 3), size(scores, 0, 3))
    count = narrower(size(boxes, 1, 3), size(scores, 2, 3))
    axes: tuple[tuple[str, MaybeDim], ...] = (
        ("the number of images", images),
        ("the number of boxes", count),
        ("the number of coordinates", coordinates),
    )
    check(boxes, Expected(0, "boxes", axes, BOXES_MISMATCH))
    classes = size(scores, 1, 3)
    check(scores, Expected(1, "scores", (axes[0], ("the number of classes", classes), axes[1]), BOXES_MISMATCH))
    return Candidates(images, classes, count)


def per_region_candidates(boxes: Tensor, scores: Tensor, roisnum: Tensor) -> Candidates:
    """The numbers of images, classes and boxes, if each class has its own boxes.

    The inputs are boxes [classes, boxes, 4], scores [classes, boxes] and ``roisnum`` [images]. Raises a
    ``BOXES_MISMATCH`` fault. Source: OpenVINO MulticlassNms-9 with three inputs.
    """
    classes = narrower(size(boxes, 0, 3), size(scores, 0, 2))
    count = narrower(size(boxes, 1, 3), size(scores, 1, 2))
    axes: tuple[tuple[str, MaybeDim], ...] = (("the number of classes", classes), ("the number of boxes", count))
    check(boxes, Expected(0, "boxes", (*axes, ("the number of coordinates", 4)), BOXES_MISMATCH))
    check(scores, Expected(1, "scores", axes, BOXES_MISMATCH))
    images = size(roisnum, 0, 1)
    check(roisnum, Expected(2, "roisnum", (("the number of images", images),), BOXES_MISMATCH))
    return Candidates(images, classes, count)


def selected(most: MaybeDim, context: Context) -> MaybeDim:
    """The number of selected boxes: a new symbol with the upper bound ``most``, or 0 if ``most`` is 0."""
    upper = None if most is None else bounds(most)[1]
    return 0 if upper == 0 else context.unknown("selected", upper)


def _limit_of_all(counts: Candidates, class_limit: MaybeDim) -> MaybeDim:
    """The maximum number of selected boxes. ``class_limit`` is the maximum for each class of each image.

    Returns None if ``class_limit`` is negative.
    """
    if isinstance(class_limit, int) and class_limit < 0:
        return None
    return product((counts.images, counts.classes, smallest(counts.boxes, class_limit)))


# --- NonMaxSuppression ------------------------------------------------------------------------------------------------


#: The inputs of NonMaxSuppression from index 2 on.
_LIMIT_NAMES = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")


@onnx("NonMaxSuppression", since=10, may_be_external={"max_output_boxes_per_class": None})
def non_max_suppression(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    *,
    center_point_box: int = 0,
    context: Context,
) -> Tensor:
    """ONNX NonMaxSuppression: [selected, 3]. If a limit has several elements, ONNX Runtime reads only the first one.

    It reads a negative ``max_output_boxes_per_class`` as 0.
    """
    if center_point_box not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `center_point_box` is {center_point_box}; it must be 0 (corners) or 1 (centers)",
            help="use 0 or 1",
            attribute="center_point_box",
        )
    counts = candidates(boxes, scores)
    limits = (max_output_boxes_per_class, iou_threshold, score_threshold)
    for index, (tensor, name) in enumerate(zip(limits, _LIMIT_NAMES), 2):
        try:
            expect_one(tensor, index, name)
        except Fault as fault:
            warn(fault.lowered(Severity.WARNING))
    _expect_valid_overlap(iou_threshold)
    most: MaybeDim = 0 if max_output_boxes_per_class is None else number(max_output_boxes_per_class)
    most = max(most, 0) if isinstance(most, int) else most
    return Tensor("int64", (selected(_limit_of_all(counts, most), context), 3))


def _expect_valid_overlap(iou_threshold: Tensor | None) -> None:
    threshold = None if iou_threshold is None else iou_threshold.scalar
    if isinstance(threshold, (int, float)) and not 0 <= threshold <= 1:
        raise OVERLAP_OUT_OF_RANGE.fault(
            f"input 3 (iou_threshold) is {threshold:g}; the overlap of two boxes is between 0 and 1",
            help="use a number from 0 to 1",
            input=3,
        )


def _expect_scalar_limits(*tensors: Tensor | None) -> None:
    for index, (tensor, name) in enumerate(zip(tensors, _LIMIT_NAMES), 2):
        expect_rank(tensor, index, 0, what=name)


def _class_limit(limit: Tensor | None) -> MaybeDim:
    """The value of OpenVINO's ``max_output_boxes_per_class``; 0 if it is omitted."""
    if limit is None:
        return 0
    known = limit.scalar
    return int(known) if isinstance(known, (int, float)) else known


def _known_coordinates(count: int) -> Callable[[Layer], Fault | None]:
    """Returns a check that the size of the last axis of the boxes is known. The size must be ``count``."""

    def refused(layer: Layer) -> Fault | None:
        boxes = layer.inputs[0]
        if not isinstance(boxes, Tensor) or not boxes.shape or isinstance(boxes.shape[-1], int):
            return None
        return not_compiled(
            f"the last axis of input 0 (boxes) is {boxes.shape[-1]}, but the CPU plugin requires a known {count}",
            help=f"write {count} for the last axis of the boxes",
            input=0,
        )

    return refused


_COMPILED = first_of(
    readable_constants(2),
    _known_coordinates(4),
    types_at(
        3,
        4,
        allowed=_UP_TO_FLOAT32,
        reason="OpenVINO replaces the layer by NonMaxSuppression of opset9, which accepts",
    ),
)


@openvino("NonMaxSuppression", until=2, fills_in=True, compiles=_COMPILED)
def ov_nms_1(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    *,
    box_encoding: BoxEncoding = "corner",
    sort_result_descending: bool = True,
) -> Tensor:
    """OpenVINO NonMaxSuppression-1: [min(boxes, max_output_boxes_per_class * classes), 3]."""
    _expect_scalar_limits(max_output_boxes_per_class, iou_threshold, score_threshold)
    counts, most = candidates(boxes, scores), _class_limit(max_output_boxes_per_class)
    negative = isinstance(most, int) and most < 0
    return Tensor("int64", (None if negative else smallest(counts.boxes, product((most, counts.classes))), 3))


@openvino("NonMaxSuppression", since=3, until=3, fills_in=True, compiles=_COMPILED)
def ov_nms_3(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    *,
    box_encoding: BoxEncoding = "corner",
    sort_result_descending: bool = True,
    output_type: IndexType = "i64",
) -> Tensor:
    """OpenVINO NonMaxSuppression-3."""
    indices = ov_nms_1(boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold)
    return Tensor(INDEX_NAMES[output_type], indices.shape)


@openvino("NonMaxSuppression", since=4, until=4, fills_in=True, compiles=_COMPILED)
def ov_nms_4(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    *,
    box_encoding: BoxEncoding = "corner",
    sort_result_descending: bool = True,
    output_type: IndexType = "i64",
) -> Tensor:
    """OpenVINO NonMaxSuppression-4: [images * classes * min(boxes, max_output_boxes_per_class), 3]."""
    _expect_scalar_limits(max_output_boxes_per_class, iou_threshold, score_threshold)
    counts = candidates(boxes, scores)
    return Tensor(INDEX_NAMES[output_type], (_limit_of_all(counts, _class_limit(max_output_boxes_per_class)), 3))


@openvino("NonMaxSuppression", since=5, fills_in=True, compiles=first_of(readable_constants(2), _known_coordinates(4)))
def ov_nms_5(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor | None = None,
    iou_threshold: Tensor | None = None,
    score_threshold: Tensor | None = None,
    soft_nms_sigma: Tensor | None = None,
    *,
    box_encoding: BoxEncoding = "corner",
    sort_result_descending: bool = True,
    output_type: IndexType = "i64",
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO NonMaxSuppression-5 and 9: indices [selected, 3], scores [selected, 3], number of boxes [1]."""
    thresholds = ((3, "iou_threshold", iou_threshold), (4, "score_threshold", score_threshold))
    floats = ((0, "", boxes), (1, "", scores), *thresholds, (5, "soft_nms_sigma", soft_nms_sigma))
    for index, name, tensor in floats:
        expect_type(tensor, index, _UP_TO_FLOAT32)
        if name:
            expect_one(tensor, index, name)
    expect_one(max_output_boxes_per_class, 2, "max_output_boxes_per_class")
    most = _class_limit(max_output_boxes_per_class) if max_output_boxes_per_class is not None else None
    return _selection(candidates(boxes, scores), most, output_type, context=context)


@openvino("NMSRotated", since=13, compiles=_known_coordinates(5))
def ov_nms_rotated(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Tensor,
    iou_threshold: Tensor,
    score_threshold: Tensor,
    *,
    sort_result_descending: bool = True,
    output_type: IndexType = "i64",
    clockwise: bool = True,
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO NMSRotated-13; a box has 5 numbers."""
    for index, tensor in ((0, boxes), (1, scores), (3, iou_threshold), (4, score_threshold)):
        expect_type(tensor, index, REAL)
    expect_type(max_output_boxes_per_class, 2, INTEGERS)
    expect_one(max_output_boxes_per_class, 2, "max_output_boxes_per_class")
    expect_one(iou_threshold, 3, "iou_threshold")
    expect_one(score_threshold, 4, "score_threshold")
    return _selection(
        candidates(boxes, scores, 5), _class_limit(max_output_boxes_per_class), output_type, context=context
    )


def _selection(
    counts: Candidates, most: MaybeDim, output_type: IndexType, *, context: Context
) -> tuple[Tensor, Tensor, Tensor]:
    shape = (selected(_limit_of_all(counts, most), context), 3)
    dtype = INDEX_NAMES[output_type]
    return Tensor(dtype, shape), Tensor("float32", shape), Tensor(dtype, (1,))


# --- MulticlassNms, MatrixNms -----------------------------------------------------------------------------------------


@group
@record
class KeptBoxes:
    """The common attributes of MulticlassNms and MatrixNms."""

    sort_result_type: SortResult = "none"
    sort_result_across_batch: bool = False
    output_type: IndexType = "i64"
    score_threshold: float = 0.0
    nms_top_k: int = -1
    keep_top_k: int = -1
    background_class: int = -1
    normalized: bool = True

    def most(self, counts: Candidates) -> MaybeDim:
        """The maximum number of selected boxes. A negative ``nms_top_k`` or ``keep_top_k`` sets no limit."""
        of_class = counts.boxes if self.nms_top_k < 0 else smallest(counts.boxes, self.nms_top_k)
        of_image = product((counts.classes, of_class))
        return product((counts.images, of_image if self.keep_top_k < 0 else smallest(of_image, self.keep_top_k)))


def _selection_of_all_classes(
    boxes: Tensor, scores: Tensor, counts: Candidates, *, kept: KeptBoxes, context: Context
) -> tuple[Tensor, Tensor, Tensor]:
    """(class, score and corners of each box [selected, 6], its index [selected, 1], number of boxes [images])."""
    dtype = common_type((boxes, scores))
    count, index_type = selected(kept.most(counts), context), INDEX_NAMES[kept.output_type]
    return Tensor(dtype, (count, 6)), Tensor(index_type, (count, 1)), Tensor(index_type, (counts.images,))


def _check_limits(boxes: Tensor, scores: Tensor, kept: KeptBoxes) -> None:
    expect_type(boxes, 0, _UP_TO_FLOAT32)
    expect_type(scores, 1, _UP_TO_FLOAT32)
    expect_attribute(kept.nms_top_k, -1, "nms_top_k")
    expect_attribute(kept.keep_top_k, -1, "keep_top_k")
    expect_attribute(kept.background_class, -1, "background_class")


@openvino("MulticlassNms", since=8, until=8, compiles=_known_coordinates(4))
def ov_multiclass_nms_8(
    boxes: Tensor,
    scores: Tensor,
    *,
    kept: KeptBoxes,
    iou_threshold: float = 0.0,
    nms_eta: float = 1.0,
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO MulticlassNms-8."""
    _check_limits(boxes, scores, kept)
    expect_attribute(nms_eta, 0, "nms_eta", most=1)
    return _selection_of_all_classes(boxes, scores, candidates(boxes, scores), kept=kept, context=context)


@openvino("MulticlassNms", since=9, compiles=_known_coordinates(4))
def ov_multiclass_nms_9(
    boxes: Tensor,
    scores: Tensor,
    roisnum: Tensor | None = None,
    *,
    kept: KeptBoxes,
    iou_threshold: float = 0.0,
    nms_eta: float = 1.0,
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO MulticlassNms-9. With ``roisnum``, each class has its own boxes."""
    _check_limits(boxes, scores, kept)
    expect_attribute(nms_eta, 0, "nms_eta", most=1)
    expect_type(roisnum, 2, {"int32", "int64"})
    counts = candidates(boxes, scores) if roisnum is None else per_region_candidates(boxes, scores, roisnum)
    return _selection_of_all_classes(boxes, scores, counts, kept=kept, context=context)


@openvino("MatrixNms", since=8, compiles=_known_coordinates(4))
def ov_matrix_nms(
    boxes: Tensor,
    scores: Tensor,
    *,
    kept: KeptBoxes,
    decay_function: DecayFunction = "linear",
    gaussian_sigma: float = 2.0,
    post_threshold: float = 0.0,
    context: Context,
) -> tuple[Tensor, Tensor, Tensor]:
    """OpenVINO MatrixNms-8."""
    _check_limits(boxes, scores, kept)
    return _selection_of_all_classes(boxes, scores, candidates(boxes, scores), kept=kept, context=context)


without_rule(
    "MatrixNonMaxSuppression",
    domain=OPENVINO,
    help="write `MatrixNms`, which is the name of this operation in OpenVINO",
)
without_rule(
    "MulticlassNonMaxSuppression",
    domain=OPENVINO,
    help="write `MulticlassNms`, which is the name of this operation in OpenVINO",
)
