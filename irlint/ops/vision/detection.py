"""Non-maximum suppression in both formats, which selects boxes from candidates."""

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

_SHORT_FLOATS = frozenset({"float32", "float16", "bfloat16"})


@record
class Candidates:
    """The numbers of images, classes and boxes of a non-maximum suppression."""

    images: MaybeDim
    classes: MaybeDim
    boxes: MaybeDim


def candidates(boxes: Tensor, scores: Tensor, coordinates: int = 4) -> Candidates:
    """The numbers of images, classes and boxes, from boxes [images, boxes, coordinates] and scores [images, classes,
    boxes].

    Raises a ``BOXES_MISMATCH`` fault.
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


def per_region_candidates(boxes: Tensor, scores: Tensor, counts: Tensor) -> Candidates:
    """The numbers of images, classes and boxes, from boxes [classes, boxes, 4] and scores [classes, boxes] of all
    images, and from ``counts`` [images], the number of boxes of each image.

    Raises a ``BOXES_MISMATCH`` fault. Source: OpenVINO MulticlassNms-9 with three inputs.
    """
    classes = narrower(size(boxes, 0, 3), size(scores, 0, 2))
    count = narrower(size(boxes, 1, 3), size(scores, 1, 2))
    axes: tuple[tuple[str, MaybeDim], ...] = (("the number of classes", classes), ("the number of boxes", count))
    check(boxes, Expected(0, "boxes", (*axes, ("the number of coordinates", 4)), BOXES_MISMATCH))
    check(scores, Expected(1, "scores", axes, BOXES_MISMATCH))
    images = size(counts, 0, 1)
    check(counts, Expected(2, "roisnum", (("the number of images", images),), BOXES_MISMATCH))
    return Candidates(images, classes, count)


def selected(most: MaybeDim, context: Context) -> MaybeDim:
    """The number of selected boxes: a symbol of the node, the same for all outputs, that is at most ``most``; 0 if
    ``most`` is 0."""
    upper = None if most is None else bounds(most)[1]
    return 0 if upper == 0 else context.unknown("selected", upper)


def _per_class(found: Candidates, most: MaybeDim) -> MaybeDim:
    """The maximum number of selected boxes if at most ``most`` boxes of each class of each image are selected; None if
    ``most`` is negative."""
    if isinstance(most, int) and most < 0:
        return None
    return product((found.images, found.classes, smallest(found.boxes, most)))


# --- NonMaxSuppression ------------------------------------------------------------------------------------------------


#: The names of the inputs of a NonMaxSuppression from index 2 on.
LIMITS = ("max_output_boxes_per_class", "iou_threshold", "score_threshold")


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
    """ONNX NonMaxSuppression of every version: [selected, 3]. A limit with several elements is only a warning, because
    ONNX Runtime reads one element."""
    if center_point_box not in (0, 1):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f"attribute `center_point_box` is {center_point_box}; it must be 0 (corners) or 1 (centers)",
            help="use 0 or 1",
            attribute="center_point_box",
        )
    found = candidates(boxes, scores)
    limits = (max_output_boxes_per_class, iou_threshold, score_threshold)
    for index, (tensor, name) in enumerate(zip(limits, LIMITS), 2):
        try:
            expect_one(tensor, index, name)
        except Fault as fault:
            warn(fault.lowered(Severity.WARNING))
    _expect_overlap(iou_threshold)
    most: MaybeDim = 0 if max_output_boxes_per_class is None else number(max_output_boxes_per_class)
    return Tensor("int64", (selected(_per_class(found, most), context), 3))


def _expect_overlap(iou_threshold: Tensor | None) -> None:
    """Checks that a known threshold is between 0 and 1. Raises an ``OVERLAP_OUT_OF_RANGE`` fault."""
    threshold = None if iou_threshold is None else iou_threshold.scalar
    if isinstance(threshold, (int, float)) and not 0 <= threshold <= 1:
        raise OVERLAP_OUT_OF_RANGE.fault(
            f"input 3 (iou_threshold) is {threshold:g}; the overlap of two boxes is between 0 and 1",
            help="use a number from 0 to 1",
            input=3,
        )


def _expect_scalars(*tensors: Tensor | None) -> None:
    """Checks that the inputs from index 2 on are scalars. Raises an ``INPUT_RANK_REFUSED`` fault."""
    for index, (tensor, name) in enumerate(zip(tensors, LIMITS), 2):
        expect_rank(tensor, index, 0, what=name)


def _most(stated: Tensor | None) -> MaybeDim:
    """The value of OpenVINO's ``max_output_boxes_per_class``, an integer of any type; 0 if it is omitted."""
    if stated is None:
        return 0
    known = stated.scalar
    return int(known) if isinstance(known, (int, float)) else known


def _known_coordinates(count: int) -> Callable[[Layer], Fault | None]:
    """The check for boxes whose last axis is dynamic. The CPU plugin requires that its size is known as ``count``."""

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
        allowed=frozenset({"float16", "bfloat16", "float32"}),
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
    """OpenVINO NonMaxSuppression-1: [min(boxes, max_output_boxes_per_class * classes), 3]. The number of images is
    ignored."""
    _expect_scalars(max_output_boxes_per_class, iou_threshold, score_threshold)
    found, most = candidates(boxes, scores), _most(max_output_boxes_per_class)
    negative = isinstance(most, int) and most < 0
    return Tensor("int64", (None if negative else smallest(found.boxes, product((most, found.classes))), 3))


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
    """OpenVINO NonMaxSuppression-3: like version 1; ``output_type`` is the type of the indices."""
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
    _expect_scalars(max_output_boxes_per_class, iou_threshold, score_threshold)
    found = candidates(boxes, scores)
    return Tensor(INDEX_NAMES[output_type], (_per_class(found, _most(max_output_boxes_per_class)), 3))


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
    """OpenVINO NonMaxSuppression-5 and -9: the indices and the scores of the selected boxes, both [selected, 3], and
    the number of selected boxes."""
    thresholds = ((3, "iou_threshold", iou_threshold), (4, "score_threshold", score_threshold))
    floats = ((0, "", boxes), (1, "", scores), *thresholds, (5, "soft_nms_sigma", soft_nms_sigma))
    for index, name, tensor in floats:
        expect_type(tensor, index, _SHORT_FLOATS)
        if name:
            expect_one(tensor, index, name)
    expect_one(max_output_boxes_per_class, 2, "max_output_boxes_per_class")
    most = _most(max_output_boxes_per_class) if max_output_boxes_per_class is not None else None
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
    """OpenVINO NMSRotated-13: like NonMaxSuppression-9, with boxes of 5 numbers, of which the last is an angle."""
    for index, tensor in ((0, boxes), (1, scores), (3, iou_threshold), (4, score_threshold)):
        expect_type(tensor, index, REAL)
    expect_type(max_output_boxes_per_class, 2, INTEGERS)
    expect_one(max_output_boxes_per_class, 2, "max_output_boxes_per_class")
    expect_one(iou_threshold, 3, "iou_threshold")
    expect_one(score_threshold, 4, "score_threshold")
    return _selection(candidates(boxes, scores, 5), _most(max_output_boxes_per_class), output_type, context=context)


def _selection(
    found: Candidates, most: MaybeDim, output_type: IndexType, *, context: Context
) -> tuple[Tensor, Tensor, Tensor]:
    shape = (selected(_per_class(found, most), context), 3)
    dtype = INDEX_NAMES[output_type]
    return Tensor(dtype, shape), Tensor("float32", shape), Tensor(dtype, (1,))


# --- MulticlassNms, MatrixNms -----------------------------------------------------------------------------------------


@group
@record
class KeptBoxes:
    """The common attributes of MulticlassNms and MatrixNms: which boxes they select, and in which order."""

    sort_result_type: SortResult = "none"
    sort_result_across_batch: bool = False
    output_type: IndexType = "i64"
    score_threshold: float = 0.0
    nms_top_k: int = -1
    keep_top_k: int = -1
    background_class: int = -1
    normalized: bool = True

    def most(self, found: Candidates) -> MaybeDim:
        """The maximum number of boxes in the result: at most ``nms_top_k`` for each class and ``keep_top_k`` for each
        image. A negative number is no limit."""
        of_class = found.boxes if self.nms_top_k < 0 else smallest(found.boxes, self.nms_top_k)
        of_image = product((found.classes, of_class))
        return product((found.images, of_image if self.keep_top_k < 0 else smallest(of_image, self.keep_top_k)))


def _selection_of_all_classes(
    boxes: Tensor, scores: Tensor, found: Candidates, *, kept: KeptBoxes, context: Context
) -> tuple[Tensor, Tensor, Tensor]:
    """The class, score and corners of each selected box, the index of each selected box, and the number of selected
    boxes of each image."""
    dtype = common_type((boxes, scores))
    count, index_type = selected(kept.most(found), context), INDEX_NAMES[kept.output_type]
    return Tensor(dtype, (count, 6)), Tensor(index_type, (count, 1)), Tensor(index_type, (found.images,))


def _check_limits(boxes: Tensor, scores: Tensor, kept: KeptBoxes) -> None:
    expect_type(boxes, 0, _SHORT_FLOATS)
    expect_type(scores, 1, _SHORT_FLOATS)
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
    """OpenVINO MulticlassNms-8: all classes of an image share their boxes."""
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
    """OpenVINO MulticlassNms-9: like version 8; with ``roisnum``, each class has a list of the boxes of all images."""
    _check_limits(boxes, scores, kept)
    expect_attribute(nms_eta, 0, "nms_eta", most=1)
    expect_type(roisnum, 2, {"int32", "int64"})
    found = candidates(boxes, scores) if roisnum is None else per_region_candidates(boxes, scores, roisnum)
    return _selection_of_all_classes(boxes, scores, found, kept=kept, context=context)


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
