"""PriorBox and PriorBoxClustered of OpenVINO."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, product
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import openvino
from irlint.ops.shared.axes import Floats
from irlint.ops.shared.compiling import Layer, first_of, not_compiled
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import Expected, check, expect_rank
from irlint.ops.shared.prior_boxes import aspect_ratios, priors_of_cell
from irlint.ops.shared.shape_inputs import openvino_shape
from irlint.ops.signatures import group
from irlint.records import record

_PARAMETER = """<layer id="{0}" name="in{0}" type="Parameter" version="opset1"><data shape="{1}" element_type="{2}"/>\
<output><port id="0" precision="{3}">{4}</port></output></layer>
"""


def layer_document(layer: str, inputs: tuple[tuple[str, str], ...], output: str) -> str:
    """The text of an IR with one layer, its inputs and a Result. ``layer`` is the start of the layer's element.

    Each of ``inputs`` is (element type, shape), and ``output`` is the declared shape of the output.
    """

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
{parameters}<layer id="{count}" name="x" {layer}<input>{ports}</input><output>\
<port id="{count}" precision="FP32">{dims(output)}</port></output></layer>
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
    "Prior boxes, their attributes and their predictions have different numbers of boxes.",
    why=(
        "DetectionOutput needs 4 offsets and one score per class for each prior box, in these shapes: offsets [N, "
        "priors * 4], scores [N, priors * classes], and priors [1 or N, 2, priors * 4]. With "
        "variance_encoded_in_target, the priors have one row; if they are not normalized, each box has 5 numbers. "
        "PriorBoxClustered needs one height for each width. OpenVINO refuses other shapes."
    ),
    fix="Compute predictions and priors from the same feature maps, and correct the attributes.",
    bad=layer_document(_DETECTION, (("f32", "1,40"), ("f32", "1,30"), ("f32", "1,2,44")), "1,1,10,7"),
    good=layer_document(_DETECTION, (("f32", "1,40"), ("f32", "1,30"), ("f32", "1,2,40")), "1,1,10,7"),
)

Axes = tuple[tuple[str, MaybeDim], ...]


def warn_of_axes(tensor: Tensor, expected: Expected) -> None:
    """Warns if ``tensor`` cannot have the expected axes. Use this for axes that OpenVINO does not check."""
    try:
        check(tensor, expected)
    except Fault as fault:
        warn(fault.lowered(Severity.WARNING))


def _help_of_lengths(widths: int, heights: int) -> str:
    fewer, more = ("width", "height") if widths < heights else ("height", "width")
    count = abs(widths - heights)
    return f"write {counted(count, 'more entry', 'more entries')} of `{fewer}`, or {count} fewer of `{more}`"


def _prior_boxes(output_size: Tensor, image_size: Tensor, boxes_per_cell: int) -> Tensor:
    """The result [2, 4 * height * width * boxes_per_cell]."""
    for index, (tensor, name) in enumerate(((output_size, "output_size"), (image_size, "image_size"))):
        expect_type(tensor, index, INTEGERS)
        expect_rank(tensor, index, 1, what=name)
        axes: Axes = (("2 numbers: height and width", 2),)
        sizes = Expected(index, name, axes, PRIORS_MISMATCH)
        if index == 0 and tensor.value is not None:
            check(tensor, sizes)
        else:
            warn_of_axes(tensor, sizes)
    feature_map: Shape | None = openvino_shape(output_size, 0)
    if feature_map is None or len(feature_map) != 2:
        return Tensor("float32", (2, None))
    return Tensor("float32", (2, product((4, *feature_map, boxes_per_cell))))


def _warn_of_fixed_sizes(boxes: PriorBoxes) -> None:
    fixed_size, density = boxes.fixed_size, boxes.density
    if fixed_size and len(density) < len(fixed_size):
        warn(
            PRIORS_MISMATCH.fault(
                f"`fixed_size` has {counted(len(fixed_size), 'entry', 'entries')} and `density` has {len(density)}; "
                "OpenVINO does not check this, and the boxes of sizes without a density are uninitialized",
                help="write `density` with an entry for each `fixed_size`",
                attribute="density" if density else "fixed_size",
                severity=Severity.WARNING,
            )
        )
    elif fixed_size and boxes.min_size:
        warn(
            PRIORS_MISMATCH.fault(
                "with `fixed_size`, the output has no room for the boxes of `min_size`; OpenVINO does not check this, "
                "and writes past the end of the output",
                help="remove `min_size`, or `fixed_size` and `density`",
                attribute="min_size",
                severity=Severity.WARNING,
            )
        )


_OFFSET_ABSENT = {"offset": 0.0}


def _compiled_types(layer: Layer) -> Fault | None:
    first, second = layer.dtype(0), layer.dtype(1)
    if first == second or not {0, 1} <= layer.fixed or {first, second} <= {None, "int64", "uint64"}:
        return None
    return not_compiled(
        f"input 0 is a constant of {first} and input 1 is a constant of {second}, but the CPU plugin reads both as "
        f"{first}",
        help="convert both constants to int64",
        input=1,
    )


def _compiled_variance(layer: Layer) -> Fault | None:
    count = len(layer.attributes["variance"])
    if count in (0, 1, 4):
        return None
    return not_compiled(
        f"`variance` has {counted(count, 'entry', 'entries')}; it needs 1 or 4",
        help="write one number for all coordinates, or one number for each of the 4 coordinates",
        attribute="variance",
        forbidden=True,
    )


@group
@record
class PriorBoxes:
    """The common attributes of both versions of PriorBox."""

    offset: float
    min_size: Floats = ()
    max_size: Floats = ()
    aspect_ratio: Floats = ()
    flip: bool = False
    clip: bool = False
    step: float = 0.0
    variance: Floats = ()
    scale_all_sizes: bool = True
    fixed_ratio: Floats = ()
    fixed_size: Floats = ()
    density: Floats = ()

    def ratio_count(self) -> int:
        """The number of aspect ratios."""
        return aspect_ratios(self.aspect_ratio, self.flip)

    def count_per_cell(self) -> int:
        """The number of boxes in a cell of the feature map."""
        return priors_of_cell(
            self.ratio_count(),
            len(self.min_size),
            len(self.max_size),
            scale_all_sizes=self.scale_all_sizes,
            fixed_sizes=len(self.fixed_size),
            density=self.density,
            fixed_ratios=len(self.fixed_ratio),
        )


def _compiled_lists(layer: Layer) -> Fault | None:
    """Returns a fault if the inputs are constants, and OpenVINO reads or writes past the end of a list."""
    if not all(isinstance(x, Tensor) and x.value is not None for x in layer.inputs[:2]):
        return None
    boxes: PriorBoxes = layer.attributes["boxes"]
    ratio_count, fixed = boxes.ratio_count(), boxes.fixed_size
    if fixed and not boxes.density and (boxes.fixed_ratio or ratio_count > 1):
        return not_compiled(
            "`fixed_size` and ratios are present without `density`, but OpenVINO reads an entry of `density` for each "
            "fixed size",
            help="write `density` with an entry for each `fixed_size`",
            attribute="fixed_size",
            forbidden=True,
        )
    room, written = boxes.count_per_cell(), len(boxes.min_size) * (ratio_count if boxes.scale_all_sizes else 1)
    if fixed or room >= written:
        return None
    return not_compiled(
        f"with `density`, the output has room for {max(room, 0)} boxes in each cell, but OpenVINO writes {written} for "
        "`min_size`",
        help="remove `density`, which applies only to `fixed_size`",
        attribute="density",
        forbidden=True,
    )


_COMPILED_BOXES = first_of(_compiled_variance, _compiled_types, _compiled_lists)


@openvino("PriorBox", until=7, absent=_OFFSET_ABSENT, compiles=_COMPILED_BOXES)
def ov_prior_box_1(
    output_size: Tensor,
    image_size: Tensor,
    *,
    boxes: PriorBoxes,
) -> Tensor:
    """OpenVINO PriorBox-1: boxes and variances, [2, 4 * priors]."""
    _warn_of_fixed_sizes(boxes)
    return _prior_boxes(output_size, image_size, boxes.count_per_cell())


@openvino("PriorBox", since=8, absent=_OFFSET_ABSENT, compiles=_COMPILED_BOXES)
def ov_prior_box_8(
    output_size: Tensor,
    image_size: Tensor,
    *,
    boxes: PriorBoxes,
    min_max_aspect_ratios_order: bool = True,
) -> Tensor:
    """OpenVINO PriorBox-8: boxes and variances, [2, 4 * priors]."""
    _warn_of_fixed_sizes(boxes)
    return _prior_boxes(output_size, image_size, boxes.count_per_cell())


@openvino(
    "PriorBoxClustered",
    absent=_OFFSET_ABSENT,
    fills_in=True,
    compiles=first_of(_compiled_variance, _compiled_types),
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
    """OpenVINO PriorBoxClustered-1: boxes and variances, [2, 4 * priors]."""
    if len(width) != len(height):
        raise PRIORS_MISMATCH.fault(
            f"attribute `width` has {counted(len(width), 'entry', 'entries')} and `height` has {len(height)}: each "
            "box needs a width and a height",
            help=_help_of_lengths(len(width), len(height)),
            attribute="height",
        )
    return _prior_boxes(output_size, image_size, len(width))
