"""Operators that lay out prior boxes, and those that decode what a network predicts for them."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, divisible, product, quotient, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import openvino
from irlint.ops.kernels.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.kernels.axes import Floats, Ints
from irlint.ops.kernels.compiling import Layer, first_of, not_compiled
from irlint.ops.kernels.element_types import REAL, common_type, expect_type
from irlint.ops.kernels.expectations import Expected, check, expect_rank
from irlint.ops.kernels.prior_boxes import aspect_ratios, priors_of_cell
from irlint.ops.kernels.shape_inputs import openvino_shape
from irlint.ops.kernels.sizes import narrower, size

_PARAMETER = """<layer id="{0}" name="in{0}" type="Parameter" version="opset1"><data shape="{1}" element_type="{2}"/><output><port id="0" precision="{3}">{4}</port></output></layer>
"""


def layer_document(layer: str, inputs: tuple[tuple[str, str], ...], output: str) -> str:
    """An IR of one layer named x: ``inputs`` are (element type, shape) pairs, ``output`` is the declared shape."""

    def dims(shape: str) -> str:
        return "".join(f"<dim>{dim}</dim>" for dim in shape.split(","))

    precisions = {"f32": "FP32", "i64": "I64"}
    count = len(inputs)
    parameters = "".join(
        _PARAMETER.format(index, shape, kind, precisions[kind], dims(shape))
        for index, (kind, shape) in enumerate(inputs)
    )
    ports = "".join(f'<port id="{index}"/>' for index in range(count))
    edges = "".join(
        f'<edge from-layer="{index}" from-port="0" to-layer="{count}" to-port="{index}"/>' for index in range(count)
    )
    return f"""<?xml version="1.0"?>
<net name="g" version="11"><layers>
{parameters}<layer id="{count}" name="x" {layer}<input>{ports}</input><output><port id="{count}" precision="FP32">{dims(output)}</port></output></layer>
<layer id="{count + 1}" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
{edges}<edge from-layer="{count}" from-port="{count}" to-layer="{count + 1}" to-port="0"/>
</edges></net>"""


_DETECTION = (
    'type="DetectionOutput" version="opset8"><data keep_top_k="10" nms_threshold="0.5" normalized="true" '
    'code_type="caffe.PriorBoxParameter.CORNER"/>'
)

PRIORS_MISMATCH = Rule(
    "IRL388",
    "prior-boxes-mismatch",
    Severity.ERROR,
    "Prior boxes, their attributes, and what is predicted for them do not count the same boxes.",
    why="""DetectionOutput takes 4 offsets and one score per class for each prior box: [N, priors * 4], [N, priors * classes]
and priors [1 or N, 2, priors * 4] (one row with variance_encoded_in_target, 5 numbers each where they are not normalized).
PriorBoxClustered needs a height for each width. OpenVINO refuses anything else.""",
    mend="Make the predictions come from the same feature maps as the priors, and correct the attributes.",
    bad=layer_document(_DETECTION, (("f32", "1,40"), ("f32", "1,30"), ("f32", "1,2,44")), "1,1,10,7"),
    good=layer_document(_DETECTION, (("f32", "1,40"), ("f32", "1,30"), ("f32", "1,2,40")), "1,1,10,7"),
)

CODE_TYPES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")
Axes = tuple[tuple[str, MaybeDim], ...]


def advised(tensor: Tensor, expected: Expected) -> None:
    """States as a warning what OpenVINO does not look at."""
    try:
        check(tensor, expected)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))


# --- DetectionOutput --------------------------------------------------------------------------------------------------


def _priors(logits: Tensor, priors: Tensor, of_location: int | None, *, of_prior: int) -> MaybeDim:
    """The number of prior boxes: by the priors' ``of_prior`` numbers each, else by the ``of_location`` offsets of each.

    Raises a ``PRIORS_MISMATCH`` fault where the numbers are no multiple of that.
    """
    counts: list[MaybeDim] = []
    for index, tensor, axis, each in ((2, priors, 2, of_prior), (0, logits, 1, of_location)):
        found = size(tensor, axis, axis + 1)
        if found is None or each is None:
            continue
        if divisible(found, each) is False:
            raise PRIORS_MISMATCH.fault(
                f"axis {axis} of input {index} is {found}; expected is a multiple of {each}, "
                "the numbers of each prior box",
                help="connect the predictions of the prior boxes, or correct the attributes",
                input=index,
                marks=((index, axis),),
                aligned="left",
            )
        counts.append(quotient(found, each))
    return narrower(*counts)


def _classes(predictions: Tensor, priors: MaybeDim) -> MaybeDim:
    """The number of classes by the predictions [images, priors * classes]. Raises a ``PRIORS_MISMATCH`` fault."""
    found = size(predictions, 1, 2)
    if found is None or priors is None:
        return None
    if isinstance(priors, int) and (priors == 0 or divisible(found, priors) is False):
        raise PRIORS_MISMATCH.fault(
            f"axis 1 of input 1 (class_preds) is {found}; expected is a multiple of the "
            f"number of prior boxes, which is {priors}",
            help="connect the class predictions of the prior boxes",
            input=1,
            marks=((1, 1),),
            aligned="left",
        )
    return quotient(found, priors)


def _whole_part(index: int, tensor: Tensor, each: int, *, what: str) -> int | None:
    """How often ``each`` goes into axis 1 of input ``index``, None where its size is not known.

    Raises a ``PRIORS_MISMATCH`` fault where it is no multiple.
    """
    found = size(tensor, 1, 2)
    if not isinstance(found, int) or not each:
        return None
    if found % each:
        raise PRIORS_MISMATCH.fault(
            f"axis 1 of input {index} is {found}; expected is a multiple of {each}: {what}",
            help="connect the predictions of the prior boxes, or correct the attributes",
            input=index,
            marks=((index, 1),),
            aligned="left",
        )
    return found // each


def _detections(
    tensors: tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None],
    classes: MaybeDim,
    share_location: bool,
    *,
    normalized: bool,
    variance_encoded_in_target: bool,
    keep: tuple[Ints, int],
) -> Tensor:
    """[1, 1, detections, 7] after making sure that the five inputs count the same boxes; ``keep`` is (keep_top_k, top_k).

    Raises an ``ATTRIBUTE_OUT_OF_RANGE`` or a ``PRIORS_MISMATCH`` fault.
    """
    if not keep[0]:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            "attribute `keep_top_k` is an empty list, of which OpenVINO reads the first number, and crashes",
            help="write how many boxes an image keeps, -1 for all",
            attribute="keep_top_k",
        )
    logits, predictions, priors, more_predictions, more_logits = tensors
    for index, tensor in ((0, logits), (1, predictions), (2, priors)):
        expect_type(tensor, index, REAL)
    dtype = common_type((logits, predictions))
    for index, tensor, rank in ((0, logits, 2), (1, predictions, 2), (2, priors, 3)):
        expect_rank(tensor, index, rank)
    images = narrower(size(logits, 0, 2), size(predictions, 0, 2))
    located = 1 if share_location else classes
    of_prior = 4 if normalized else 5
    count = _priors(logits, priors, 4 * located if isinstance(located, int) else None, of_prior=of_prior)
    if classes is None:
        classes = _classes(predictions, count)
        located = 1 if share_location else classes
    if not isinstance(count, int) and isinstance(classes, int) and classes > 0:
        count = narrower(_whole_part(1, predictions, classes, what="one score for each class"), count)
    elif isinstance(count, int) and located is None:
        classes = located = _whole_part(0, logits, 4 * count, what="4 for each prior box")
    batch: Axes = (("the number of images", images),)
    offsets = product((count, located, 4))
    first = size(priors, 0, 3)
    own = images if first is None or same(first, 1) is False else None
    rows = 1 if variance_encoded_in_target else 2
    axes: Axes = (*batch, ("4 for each prior box", offsets))
    check(logits, Expected(0, "box_logits", axes, PRIORS_MISMATCH))
    scores: Axes = (*batch, ("the number of prior boxes times that of classes", product((count, classes))))
    check(predictions, Expected(1, "class_preds", scores, PRIORS_MISMATCH))
    row: Axes = (
        ("1 or the number of images", own),
        ("the number of rows", rows),
        (f"{of_prior} for each prior box", product((count, of_prior))),
    )
    check(priors, Expected(2, "proposals", row, PRIORS_MISMATCH))
    pairs: Axes = (*batch, ("2 for each prior box", product((count, 2))))
    check(more_predictions, Expected(3, "aux_class_preds", pairs, PRIORS_MISMATCH))
    check(more_logits, Expected(4, "aux_box_preds", axes, PRIORS_MISMATCH))
    return Tensor(dtype, (1, 1, _detection_count(images, classes, count, kept=keep[0], top=keep[1]), 7))


def _detection_count(images: MaybeDim, classes: MaybeDim, priors: MaybeDim, *, kept: Ints, top: int) -> MaybeDim:
    """How many rows the detections have: the limits of each image, else of each class, else every box of every class."""
    if kept and kept[0] > 0:
        return product((images, kept[0]))
    return product((images, top if top > 0 and kept[:1] == (-1,) else priors, classes))


_DETECTION_ABSENT = {"nms_threshold": 0.0}


def _expect_code_type(code_type: str) -> None:
    """The library reads this text, unlike others, in its exact case."""
    if code_type not in CODE_TYPES:
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `code_type` is "{code_type}"; OpenVINO takes "{CODE_TYPES[0]}" and "{CODE_TYPES[1]}"',
            help="write one of these",
            attribute="code_type",
        )


def _expect_pair(first: Tensor | None, second: Tensor | None) -> None:
    """Makes sure that the auxiliary predictions are both there; raises where only one is."""
    if first is None or second is not None:
        return
    raise PRIORS_MISMATCH.fault(
        "input 3 (aux_class_preds) is there and input 4 (aux_box_preds) is not; the operation takes 3 inputs or 5",
        help="connect input 4, or remove input 3",
        input=4,
    )


#: What the Model Optimizer left on the operation of Caffe's parameters.
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
    background_label_id: int = 0,
    top_k: int = -1,
    variance_encoded_in_target: bool = False,
    keep_top_k: Ints,
    code_type: str = "caffe.PriorBoxParameter.CORNER",
    share_location: bool = True,
    nms_threshold: float,
    confidence_threshold: float = 0.0,
    clip_after_nms: bool = False,
    clip_before_nms: bool = False,
    decrease_label_id: bool = False,
    normalized: bool = False,
    objectness_score: float = 0.0,
    input_height: int = 1,
    input_width: int = 1,
    resize_mode: str = "",
    pad_mode: str = "",
) -> Tensor:
    """OpenVINO DetectionOutput-1, with the attributes that the Model Optimizer left on it."""
    expect_attribute(num_classes, 1, "num_classes")
    _expect_code_type(code_type)
    _expect_pair(aux_class_preds, aux_box_preds)
    tensors = (box_logits, class_preds, proposals, aux_class_preds, aux_box_preds)
    keep = (keep_top_k, top_k)
    return _detections(
        tensors,
        num_classes,
        share_location,
        normalized=normalized,
        variance_encoded_in_target=variance_encoded_in_target,
        keep=keep,
    )


@openvino("DetectionOutput", since=8, absent=_DETECTION_ABSENT, fills_in=True)
def ov_detection_output_8(
    box_logits: Tensor,
    class_preds: Tensor,
    proposals: Tensor,
    aux_class_preds: Tensor | None = None,
    aux_box_preds: Tensor | None = None,
    *,
    background_label_id: int = 0,
    top_k: int = -1,
    variance_encoded_in_target: bool = False,
    keep_top_k: Ints,
    code_type: str = "caffe.PriorBoxParameter.CORNER",
    share_location: bool = True,
    nms_threshold: float,
    confidence_threshold: float = 0.0,
    clip_after_nms: bool = False,
    clip_before_nms: bool = False,
    decrease_label_id: bool = False,
    normalized: bool = False,
    objectness_score: float = 0.0,
    input_height: int = 1,
    input_width: int = 1,
) -> Tensor:
    """OpenVINO DetectionOutput-8: the number of classes follows from the inputs."""
    _expect_code_type(code_type)
    _expect_pair(aux_class_preds, aux_box_preds)
    tensors = (box_logits, class_preds, proposals, aux_class_preds, aux_box_preds)
    keep = (keep_top_k, top_k)
    return _detections(
        tensors,
        None,
        share_location,
        normalized=normalized,
        variance_encoded_in_target=variance_encoded_in_target,
        keep=keep,
    )


# --- PriorBox ---------------------------------------------------------------------------------------------------------


def _lacking(widths: int, heights: int) -> str:
    """What to write for boxes of which some have no width, or no height."""
    fewer, more = ("width", "height") if widths < heights else ("height", "width")
    count = abs(widths - heights)
    return f"write {counted(count, 'more entry', 'more entries')} of `{fewer}`, or {count} fewer of `{more}`"


def _prior_boxes(output_size: Tensor, image_size: Tensor, of_cell: int) -> Tensor:
    """[2, 4 * height * width * of_cell]; ``output_size`` lists height and width of the feature map."""
    for index, (tensor, name) in enumerate(((output_size, "output_size"), (image_size, "image_size"))):
        expect_type(tensor, index, INTEGERS)
        expect_rank(tensor, index, 1, what=name)
        axes: Axes = (("height and width", 2),)
        sizes = Expected(index, name, axes, PRIORS_MISMATCH)
        if index == 0 and tensor.value is not None:
            check(tensor, sizes)
        else:
            advised(tensor, sizes)
    listed: Shape | None = openvino_shape(output_size, 0)
    if listed is None or len(listed) != 2:
        return Tensor("float32", (2, None))
    return Tensor("float32", (2, product((4, *listed, of_cell))))


_NO_OFFSET = {"offset": 0.0}


def _compiled_sizes(layer: Layer) -> Fault | None:
    """What is wrong with the two constants that are read as one type."""
    first, second = layer.dtype(0), layer.dtype(1)
    if first == second or not {0, 1} <= layer.fixed or {first, second} <= {None, "int64", "uint64"}:
        return None
    return not_compiled(
        f"input 0 is a constant of {first} and input 1 one of {second}, which the CPU plugin reads as the type of input 0",
        help="let both constants be of int64",
        input=1,
    )


def _compiled_variance(layer: Layer) -> Fault | None:
    count = len(layer.attributes["variance"])
    if count in (0, 1, 4):
        return None
    return not_compiled(
        f"`variance` has {counted(count, 'entry', 'entries')}, and it takes 1 or 4",
        help="write one number for all coordinates, or one for each of the four",
        attribute="variance",
    )


def _compiled_count(layer: Layer) -> Fault | None:
    """What is wrong with prior boxes that are made while the layer is compiled: OpenVINO writes past their end."""
    if not all(isinstance(each, Tensor) and each.value is not None for each in layer.inputs[:2]):
        return None
    given = layer.attributes
    ratios, fixed, density = aspect_ratios(given["aspect_ratio"], given["flip"]), given["fixed_size"], given["density"]
    if fixed and not density and (given["fixed_ratio"] or ratios > 1):
        return not_compiled(
            "there are `fixed_size` and ratios, and no `density`, of which OpenVINO reads an entry for each size",
            help="write `density` with an entry for each `fixed_size`",
            attribute="fixed_size",
        )
    least = len(given["min_size"])
    room = priors_of_cell(
        ratios,
        least,
        len(given["max_size"]),
        scale_all_sizes=given["scale_all_sizes"],
        fixed=len(fixed),
        density=density,
        fixed_ratios=len(given["fixed_ratio"]),
    )
    made = least * (ratios if given["scale_all_sizes"] else 1)
    if fixed or room >= made:
        return None
    return not_compiled(
        f"`density` leaves room for {room} boxes in each cell, and `min_size` makes {made}",
        help="remove `density`, which belongs to `fixed_size`",
        attribute="density",
    )


_COMPILED_BOXES = first_of(_compiled_variance, _compiled_sizes, _compiled_count)


@openvino("PriorBox", until=7, absent=_NO_OFFSET, compiles=_COMPILED_BOXES)
def ov_prior_box_1(
    output_size: Tensor,
    image_size: Tensor,
    *,
    min_size: Floats = (),
    max_size: Floats = (),
    aspect_ratio: Floats = (),
    flip: bool = False,
    clip: bool = False,
    step: float = 0.0,
    offset: float,
    variance: Floats = (),
    scale_all_sizes: bool = True,
    fixed_ratio: Floats = (),
    fixed_size: Floats = (),
    density: Floats = (),
) -> Tensor:
    """OpenVINO PriorBox-1: boxes and variances, [2, 4 * priors]."""
    ratios = aspect_ratios(aspect_ratio, flip)
    of_cell = priors_of_cell(
        ratios,
        len(min_size),
        len(max_size),
        scale_all_sizes=scale_all_sizes,
        fixed=len(fixed_size),
        density=density,
        fixed_ratios=len(fixed_ratio),
    )
    return _prior_boxes(output_size, image_size, of_cell)


@openvino("PriorBox", since=8, absent=_NO_OFFSET, compiles=_COMPILED_BOXES)
def ov_prior_box_8(
    output_size: Tensor,
    image_size: Tensor,
    *,
    min_size: Floats = (),
    max_size: Floats = (),
    aspect_ratio: Floats = (),
    flip: bool = False,
    clip: bool = False,
    step: float = 0.0,
    offset: float,
    variance: Floats = (),
    scale_all_sizes: bool = True,
    fixed_ratio: Floats = (),
    fixed_size: Floats = (),
    density: Floats = (),
    min_max_aspect_ratios_order: bool = True,
) -> Tensor:
    """OpenVINO PriorBox-8: version 1 with an order of the boxes."""
    ratios = aspect_ratios(aspect_ratio, flip)
    of_cell = priors_of_cell(
        ratios,
        len(min_size),
        len(max_size),
        scale_all_sizes=scale_all_sizes,
        fixed=len(fixed_size),
        density=density,
        fixed_ratios=len(fixed_ratio),
    )
    return _prior_boxes(output_size, image_size, of_cell)


@openvino(
    "PriorBoxClustered",
    absent=_NO_OFFSET,
    fills_in=True,
    compiles=first_of(_compiled_variance, _compiled_sizes),
    legacy=("flip", "img_h", "img_size", "img_w", "max_size", "min_size"),
)
def ov_prior_box_clustered(
    output_size: Tensor,
    image_size: Tensor,
    *,
    width: Floats = (),
    height: Floats = (),
    clip: bool = True,
    step: float = 0.0,
    step_w: float = 0.0,
    step_h: float = 0.0,
    offset: float,
    variance: Floats = (),
) -> Tensor:
    """OpenVINO PriorBoxClustered-1: one box of each width and height in every cell."""
    if len(width) != len(height):
        raise PRIORS_MISMATCH.fault(
            f"attribute `width` has {counted(len(width), 'entry', 'entries')} and `height` has {len(height)}: each box has one of both",
            help=_lacking(len(width), len(height)),
            attribute="height",
        )
    return _prior_boxes(output_size, image_size, len(width))
