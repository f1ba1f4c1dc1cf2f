"""DetectionOutput of OpenVINO."""

from __future__ import annotations

from irlint.dims import MaybeDim, divisible, product, quotient, same
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor
from irlint.ops import openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.element_types import REAL, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check, expect_rank
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.ops.vision.priors import PRIORS_MISMATCH, Axes
from irlint.records import record

CODE_TYPES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")


def _prior_count(logits: Tensor, priors: Tensor, offsets_per_prior: int | None, *, numbers_per_prior: int) -> MaybeDim:
    """The number of prior boxes, from axis 2 of ``priors`` and axis 1 of ``logits``."""
    counts: list[MaybeDim] = []
    for index, tensor, axis, per_prior in ((2, priors, 2, numbers_per_prior), (0, logits, 1, offsets_per_prior)):
        found = size(tensor, axis, axis + 1)
        if found is None or per_prior is None:
            continue
        if divisible(found, per_prior) is False:
            raise PRIORS_MISMATCH.fault(
                f"axis {axis} of input {index} is {found}; expected a multiple of {per_prior}, the number of entries "
                "for each prior box",
                help="connect the predictions of the prior boxes, or correct the attributes",
                input=index,
                marks=((index, axis),),
                aligned="left",
            )
        counts.append(quotient(found, per_prior))
    return narrower(*counts)


def _class_count(predictions: Tensor, priors: MaybeDim) -> MaybeDim:
    found = size(predictions, 1, 2)
    if found is None or priors is None:
        return None
    if isinstance(priors, int) and (priors == 0 or divisible(found, priors) is False):
        raise PRIORS_MISMATCH.fault(
            f"axis 1 of input 1 (class_preds) is {found}; expected a multiple of the "
            f"number of prior boxes, which is {priors}",
            help="connect the class predictions of the prior boxes",
            input=1,
            marks=((1, 1),),
            aligned="left",
        )
    return quotient(found, priors)


def _divided_size(index: int, tensor: Tensor, divisor: int, *, what: str) -> int | None:
    """The size of axis 1 divided by ``divisor``; None if the size is unknown. ``what`` explains ``divisor``."""
    found = size(tensor, 1, 2)
    if not isinstance(found, int) or not divisor:
        return None
    if found % divisor:
        raise PRIORS_MISMATCH.fault(
            f"axis 1 of input {index} is {found}; expected a multiple of {divisor}: {what}",
            help="connect the predictions of the prior boxes, or correct the attributes",
            input=index,
            marks=((index, 1),),
            aligned="left",
        )
    return found // divisor


@group
@record
class Detection:
    """The common attributes of both versions of DetectionOutput."""

    keep_top_k: Ints
    nms_threshold: float
    background_label_id: int = 0
    top_k: int = -1
    variance_encoded_in_target: bool = False
    code_type: str = "caffe.PriorBoxParameter.CORNER"
    share_location: bool = True
    confidence_threshold: float = 0.0
    clip_after_nms: bool = False
    clip_before_nms: bool = False
    decrease_label_id: bool = False
    normalized: bool = False
    objectness_score: float = 0.0
    input_height: int = 1
    input_width: int = 1


def _detections(
    tensors: tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None], num_classes: int | None, detection: Detection
) -> Tensor:
    """The result [1, 1, detections, 7]. ``num_classes`` is None if the operation has no such attribute."""
    _expect_code_type(detection.code_type)
    _expect_both_auxiliary_inputs(*tensors[3:])
    if not detection.keep_top_k:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            "attribute `keep_top_k` is an empty list; OpenVINO reads its first number and crashes",
            help="write the number of boxes to keep for an image, or -1 for all",
            attribute="keep_top_k",
        )
    logits, predictions, priors, more_predictions, more_logits = tensors
    for index, tensor in ((0, logits), (1, predictions), (2, priors)):
        expect_type(tensor, index, REAL)
    dtype = common_type((logits, predictions))
    for index, tensor, rank in ((0, logits, 2), (1, predictions, 2), (2, priors, 3)):
        expect_rank(tensor, index, rank)
    images = narrower(size(logits, 0, 2), size(predictions, 0, 2))
    classes: MaybeDim = num_classes
    boxes_per_prior = 1 if detection.share_location else classes
    numbers_per_prior = 4 if detection.normalized else 5
    count = _prior_count(
        logits,
        priors,
        4 * boxes_per_prior if isinstance(boxes_per_prior, int) else None,
        numbers_per_prior=numbers_per_prior,
    )
    if classes is None:
        classes = _class_count(predictions, count)
        boxes_per_prior = 1 if detection.share_location else classes
    if not isinstance(count, int) and isinstance(classes, int) and classes > 0:
        count = narrower(_divided_size(1, predictions, classes, what="one score for each class"), count)
    elif isinstance(count, int) and boxes_per_prior is None:
        classes = boxes_per_prior = _divided_size(0, logits, 4 * count, what="4 offsets for each prior box")
    batch: Axes = (("the number of images", images),)
    offsets = product((count, boxes_per_prior, 4))
    first = size(priors, 0, 3)
    prior_images = images if first is None or same(first, 1) is False else None
    rows = 1 if detection.variance_encoded_in_target else 2
    predicted = "prior box" if detection.share_location else "prior box and class"
    axes: Axes = (*batch, (f"4 for each {predicted}", offsets))
    check(logits, Expected(0, "box_logits", axes, PRIORS_MISMATCH))
    found = size(predictions, 1, 2)
    if num_classes is not None and isinstance(count, int) and isinstance(found, int):
        if found != count * num_classes and count and not found % count:
            raise PRIORS_MISMATCH.fault(
                f"axis 1 of input 1 (class_preds) is {found}, which is {counted(found // count, 'score')} for each "
                f"of {count} prior boxes; num_classes={num_classes} requires {num_classes} for each, "
                f"{count * num_classes} in total",
                help=f'write num_classes="{found // count}", or connect the predictions of {num_classes} classes',
                input=1,
                attribute="num_classes",
                marks=((1, 1),),
                aligned="left",
            )
    scores: Axes = (*batch, ("the number of prior boxes times the number of classes", product((count, classes))))
    check(predictions, Expected(1, "class_preds", scores, PRIORS_MISMATCH))
    prior_axes: Axes = (
        ("1 or the number of images", prior_images),
        ("the number of rows", rows),
        (f"{numbers_per_prior} for each prior box", product((count, numbers_per_prior))),
    )
    check(priors, Expected(2, "proposals", prior_axes, PRIORS_MISMATCH))
    pairs: Axes = (*batch, ("2 for each prior box", product((count, 2))))
    check(more_predictions, Expected(3, "aux_class_preds", pairs, PRIORS_MISMATCH))
    check(more_logits, Expected(4, "aux_box_preds", axes, PRIORS_MISMATCH))
    return Tensor(
        dtype,
        (1, 1, _detection_count(images, classes, count, keep_top_k=detection.keep_top_k, top_k=detection.top_k), 7),
    )


def _detection_count(
    images: MaybeDim, classes: MaybeDim, priors: MaybeDim, *, keep_top_k: Ints, top_k: int
) -> MaybeDim:
    if keep_top_k and keep_top_k[0] > 0:
        return product((images, keep_top_k[0]))
    return product((images, top_k if top_k > 0 and keep_top_k[:1] == (-1,) else priors, classes))


_DETECTION_ABSENT = {"nms_threshold": 0.0}


def _expect_code_type(code_type: str) -> None:
    if code_type not in CODE_TYPES:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `code_type` is "{code_type}"; OpenVINO accepts "{CODE_TYPES[0]}" and "{CODE_TYPES[1]}"',
            help="write one of these texts",
            attribute="code_type",
        )


def _expect_both_auxiliary_inputs(aux_class_preds: Tensor | None, aux_box_preds: Tensor | None) -> None:
    if aux_class_preds is None or aux_box_preds is not None:
        return
    raise PRIORS_MISMATCH.fault(
        "input 3 (aux_class_preds) is connected, but input 4 (aux_box_preds) is not; the operation needs 3 or 5 inputs",
        help="connect input 4, or remove input 3",
        input=4,
    )


#: Attributes of Caffe's DetectionOutput that the Model Optimizer writes. OpenVINO's operation does not have them.
_CAFFE_DETECTION = (
    *("eta", "height", "height_scale", "interp_mode", "label_map_file", "name_size_file", "num_test_image"),
    *("output_directory", "output_format", "output_name_prefix", "pad_value", "prob", "save_file", "visualize"),
    *("visualize_threshold", "width", "width_scale"),
)


@openvino(
    "DetectionOutput",
    until=7,
    absent={**_DETECTION_ABSENT, "num_classes": 0},
    fills_in=True,
    legacy=_CAFFE_DETECTION,
)
def ov_detection_output_1(
    box_logits: Tensor,
    class_preds: Tensor,
    proposals: Tensor,
    aux_class_preds: Tensor | None = None,
    aux_box_preds: Tensor | None = None,
    *,
    num_classes: int,
    detection: Detection,
    resize_mode: str = "",
    pad_mode: str = "",
) -> Tensor:
    """OpenVINO DetectionOutput-1."""
    expect_attribute(num_classes, 1, "num_classes")
    tensors = (box_logits, class_preds, proposals, aux_class_preds, aux_box_preds)
    return _detections(tensors, num_classes, detection)


@openvino("DetectionOutput", since=8, absent=_DETECTION_ABSENT, fills_in=True)
def ov_detection_output_8(
    box_logits: Tensor,
    class_preds: Tensor,
    proposals: Tensor,
    aux_class_preds: Tensor | None = None,
    aux_box_preds: Tensor | None = None,
    *,
    detection: Detection,
) -> Tensor:
    """OpenVINO DetectionOutput-8: the number of classes follows from the inputs."""
    tensors = (box_logits, class_preds, proposals, aux_class_preds, aux_box_preds)
    return _detections(tensors, None, detection)
