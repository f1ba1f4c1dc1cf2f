"""Pooling of regions of interest, and RegionYolo."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, product, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE, expect_attribute
from irlint.ops.shared.axes import Floats, Ints, axis_of
from irlint.ops.shared.compiling import known_sizes
from irlint.ops.shared.element_types import REAL, common_type, expect_type
from irlint.ops.shared.expectations import Expected, check, expect_rank
from irlint.ops.shared.sizes import narrower, size
from irlint.ops.signatures import group
from irlint.records import record

REGIONS_MISMATCH = Rule(
    "IRL386",
    "regions-mismatch",
    Severity.ERROR,
    "Regions of interest do not have the shape that the operator requires.",
    why=(
        "RoiAlign needs regions [regions, 4] (corners), and a separate list of image indices. ROIPooling and "
        "PSROIPooling need [regions, 5], with the image index first. ROIAlignRotated needs [regions, 5], with the "
        "angle last. Runtimes refuse other shapes."
    ),
    fix="Give the regions the shape in the message, and one image index for each region.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,256,50,50] x, float[100,5] rois, int64[100] images) => (float[100,256,7,7] y)
{ y = RoiAlign <output_height = 7, output_width = 7> (x, rois, images) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,256,50,50] x, float[100,4] rois, int64[100] images) => (float[100,256,7,7] y)
{ y = RoiAlign <output_height = 7, output_width = 7> (x, rois, images) }""",
)

_YOLO = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,CHANNELS,13,13" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>1</dim><dim>CHANNELS</dim><dim>13</dim><dim>13</dim></port></output></layer>
<layer id="1" name="yolo" type="RegionYolo" version="opset1">\
<data axis="1" end_axis="3" coords="4" classes="80" num="9" mask="0,1,2" do_softmax="false"/><input><port id="0"/>\
</input><output><port id="1" precision="FP32"><dim>1</dim><dim>255</dim><dim>13</dim><dim>13</dim></port></output>\
</layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>"""

CHANNELS_MISMATCH = Rule(
    "IRL387",
    "region-channels-mismatch",
    Severity.ERROR,
    "The number of channels of a feature map contradicts the attributes.",
    why=(
        "PSROIPooling needs output_dim * group_size * group_size channels (output_dim * spatial_bins_x * "
        "spatial_bins_y in bilinear mode), and OpenVINO refuses any other number. RegionYolo needs (coords + classes "
        "+ 1) channels for each anchor. OpenVINO does not check this number and reads beyond the feature map; in "
        "that case, irlint warns."
    ),
    fix="Correct the attributes, or connect the matching feature map.",
    bad=_YOLO.replace("CHANNELS", "250"),
    good=_YOLO.replace("CHANNELS", "255"),
)

Pooling = Literal["avg", "max"]
CoordinateMode = Literal["half_pixel", "output_half_pixel"]
AlignedMode = Literal["asymmetric", "half_pixel_for_nn", "half_pixel"]
Sampling = Literal["max", "bilinear"]
DeformableMode = Literal["bilinear_deformable"]


def _region_count(rois: Tensor, index: int, coordinates: int, *, count: MaybeDim = None) -> MaybeDim:
    """The number of regions of ``rois`` [regions, coordinates]; ``count`` is the number in other inputs."""
    count = narrower(size(rois, 0, 2), count)
    axes: tuple[tuple[str, MaybeDim], ...] = (
        ("the number of regions", count),
        ("the number of coordinates", coordinates),
    )
    check(rois, Expected(index, "rois", axes, REGIONS_MISMATCH))
    return count


def _channel_count(x: Tensor) -> MaybeDim:
    expect_rank(x, 0, 4, what="feature map")
    return size(x, 1, 4)


def _extent(pooled: int, name: str, severity: Severity | None = Severity.WARNING) -> MaybeDim:
    """A size of the result. OpenVINO reads -1 as unknown, and a smaller number as 0."""
    expect_attribute(pooled, 1, name, severity=severity)
    return None if pooled == -1 else max(pooled, 0)


# --- RoiAlign ---------------------------------------------------------------------------------------------------------


def aligned(x: Tensor, rois: Tensor, images: Tensor, *, pooled: Sequence[MaybeDim], coordinates: int = 4) -> Shape:
    """The shape [regions, channels, *pooled]. ``images``, input 2, has an image index for each region.

    Raises a ``REGIONS_MISMATCH`` or ``INPUT_RANK_REFUSED`` fault.
    """
    channels = _channel_count(x)
    count = _region_count(rois, 1, coordinates, count=size(images, 0, 1))
    axes: tuple[tuple[str, MaybeDim], ...] = (("the number of regions", count),)
    check(images, Expected(2, "batch_indices", axes, REGIONS_MISMATCH))
    return (count, channels, *pooled)


@onnx("RoiAlign", since=10, any_case=("mode",))
def roi_align_10(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    mode: Pooling = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """ONNX RoiAlign-10."""
    expect_attribute(output_height, 1, "output_height")
    expect_attribute(output_width, 1, "output_width")
    expect_attribute(sampling_ratio, 0, "sampling_ratio")
    return Tensor(X.dtype, aligned(X, rois, batch_indices, pooled=(output_height, output_width)))


@onnx("RoiAlign", since=16, any_case=("mode",), lenient=("coordinate_transformation_mode",))
def roi_align_16(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    coordinate_transformation_mode: CoordinateMode = "half_pixel",
    mode: Pooling = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """ONNX RoiAlign-16 and 22."""
    sizes = {"output_height": output_height, "output_width": output_width}
    return roi_align_10(X, rois, batch_indices, mode=mode, sampling_ratio=sampling_ratio, **sizes)


_ALIGN_ABSENT = {"pooled_h": 0, "pooled_w": 0, "sampling_ratio": 0, "spatial_scale": 0.0, "mode": "avg"}


@group
@record
class AlignedGrid:
    """The common attributes of OpenVINO's ROIAlign operations."""

    pooled_h: int
    pooled_w: int
    sampling_ratio: int
    spatial_scale: float


def _ov_aligned(
    data: Tensor, rois: Tensor, batch_indices: Tensor, *, grid: AlignedGrid, coordinates: int = 4
) -> Tensor:
    expect_type(data, 0, REAL)
    expect_type(rois, 1, REAL)
    expect_type(batch_indices, 2, INTEGERS)
    pooled = (_extent(grid.pooled_h, "pooled_h"), _extent(grid.pooled_w, "pooled_w"))
    return Tensor(common_type((data, rois)), aligned(data, rois, batch_indices, pooled=pooled, coordinates=coordinates))


@openvino("ROIAlign", since=3, until=8, absent=_ALIGN_ABSENT)
def ov_roi_align_3(
    data: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    grid: AlignedGrid,
    mode: Pooling,
) -> Tensor:
    """OpenVINO ROIAlign-3."""
    return _ov_aligned(data, rois, batch_indices, grid=grid)


@openvino("ROIAlign", since=9, absent=_ALIGN_ABSENT)
def ov_roi_align_9(
    data: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    grid: AlignedGrid,
    mode: Pooling,
    aligned_mode: AlignedMode = "asymmetric",
) -> Tensor:
    """OpenVINO ROIAlign-9."""
    return _ov_aligned(data, rois, batch_indices, grid=grid)


@openvino("ROIAlignRotated", since=15, absent={name: value for name, value in _ALIGN_ABSENT.items() if name != "mode"})
def ov_roi_align_rotated(
    data: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    grid: AlignedGrid,
    clockwise_mode: bool = False,
) -> Tensor:
    """OpenVINO ROIAlignRotated-15; a region has 5 numbers."""
    return _ov_aligned(data, rois, batch_indices, grid=grid, coordinates=5)


# --- regions whose first number is the index of the image -------------------------------------------------------------


def _expect_scale(spatial_scale: float) -> None:
    if spatial_scale > 0:
        return
    raise ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `spatial_scale` is {spatial_scale:g}; it has to be above 0",
        help="write the size of the feature map divided by the size of the image",
        attribute="spatial_scale",
    )


@openvino("ROIPooling", since=2, absent={"spatial_scale": 0.0}, labels={"opset1": 2}, strict=("method",))
def ov_roi_pooling(
    feat: Tensor,
    coords: Tensor,
    *,
    pooled_h: int | None = None,
    pooled_w: int | None = None,
    spatial_scale: float,
    method: Sampling = "max",
    output_size: Ints | None = None,
    output_roi: Ints | None = None,
) -> Tensor:
    """OpenVINO ROIPooling-2: [regions, channels, pooled_h, pooled_w]."""
    expect_type(feat, 0, REAL)
    expect_type(coords, 1, REAL)
    _expect_scale(spatial_scale)
    height, width = _height_and_width(output_roi, output_size)
    pooled = (
        _roi_pooling_extent(height if pooled_h is None else pooled_h, "pooled_h"),
        _roi_pooling_extent(width if pooled_w is None else pooled_w, "pooled_w"),
    )
    dtype = common_type((feat, coords))
    return Tensor(dtype, (_region_count(coords, 1, 5), _channel_count(feat), *pooled))


def _height_and_width(output_roi: Ints | None, output_size: Ints | None) -> Ints:
    """``output_roi`` or else ``output_size``; (0, 0) if both are omitted."""
    name, sizes = ("output_size", output_size) if output_roi is None else ("output_roi", output_roi)
    if sizes is None or len(sizes) == 2:
        return sizes or (0, 0)
    raise ATTRIBUTE_OUT_OF_RANGE.fault(
        f"attribute `{name}` has {counted(len(sizes), 'entry', 'entries')}; the operation needs 2",
        help="write the height and the width, or `pooled_h` and `pooled_w` instead",
        attribute=name,
    )


def _roi_pooling_extent(pooled: int, name: str) -> MaybeDim:
    """As ``_extent``, with errors for 0 and -1: OpenVINO refuses 0, and does not compile -1."""
    return _extent(pooled, name, Severity.WARNING if pooled < -1 else None)


@openvino(
    "PSROIPooling",
    absent={"output_dim": 0, "spatial_scale": 0.0},
    refused_without={"mode": "average", "group_size": 1},
    compiles=known_sizes,
)
def ov_ps_roi_pooling(
    input: Tensor,
    coords: Tensor,
    *,
    output_dim: int,
    spatial_scale: float,
    group_size: int,
    mode: str,
    spatial_bins_x: int = 0,
    spatial_bins_y: int = 0,
) -> Tensor:
    """OpenVINO PSROIPooling-1: [regions, output_dim, group_size, group_size]."""
    expect_type(input, 0, REAL)
    expect_type(coords, 1, REAL)
    _expect_scale(spatial_scale)
    if mode not in ("average", "bilinear"):
        raise ATTRIBUTE_OUT_OF_RANGE.fault(
            f'attribute `mode` is "{mode}"; OpenVINO accepts "average" and "bilinear", in lower case',
            help='write mode="average" or "bilinear"',
            attribute="mode",
        )
    expect_attribute(group_size, 1, "group_size")
    names = ("group_size", "group_size") if mode == "average" else ("spatial_bins_x", "spatial_bins_y")
    across, down = (group_size, group_size) if mode == "average" else (spatial_bins_x, spatial_bins_y)
    expect_attribute(across, 1, names[0])
    expect_attribute(down, 1, names[1])
    channels = _channel_count(input)
    if same(channels, output_dim * across * down) is False:
        raise _channels_fault(
            input,
            f"`output_dim` * `{names[0]}` * `{names[1]}`",
            f"{output_dim} * {across} * {down}",
            wanted=output_dim * across * down,
        )
    return Tensor(input.dtype, (_region_count(coords, 1, 5), max(output_dim, 0), group_size, group_size))


def _channels_fault(x: Tensor, formula: str, numbers: str, *, wanted: int) -> Fault:
    assert x.shape is not None
    return CHANNELS_MISMATCH.fault(
        f"axis 1 of input 0 has {counted(x.shape[1], 'channel')}; expected {formula} = {numbers} = {wanted}",
        help="correct the attributes, or connect the matching feature map",
        input=0,
        marks=((0, 1),),
        aligned="left",
    )


@openvino(
    "DeformablePSROIPooling",
    absent={"output_dim": 0, "spatial_scale": 0.0},
    fills_in=True,
    strict=("mode",),
    compiles=known_sizes,
)
def ov_deformable_ps_roi_pooling(
    input: Tensor,
    coords: Tensor,
    offsets: Tensor | None = None,
    *,
    output_dim: int,
    spatial_scale: float,
    group_size: int = 1,
    mode: DeformableMode = "bilinear_deformable",
    spatial_bins_x: int = 1,
    spatial_bins_y: int = 1,
    trans_std: float = 1.0,
    part_size: int = 1,
) -> Tensor:
    """OpenVINO DeformablePSROIPooling-1: [regions, output_dim, group_size, group_size]."""
    expect_attribute(group_size, 1, "group_size")
    expect_attribute(output_dim, 1, "output_dim")
    _channel_count(input)
    expect_rank(coords, 1, 2, what="coords")
    expect_rank(offsets, 2, 4, what="offsets")
    return Tensor(input.dtype, (size(coords, 0, 2), output_dim, group_size, group_size))


@openvino(
    "ExperimentalDetectronROIFeatureExtractor",
    since=6,
    labels={"experimental": 6, "extension": 6},
    absent={"output_size": 0, "sampling_ratio": 0, "pyramid_scales": ()},
)
def ov_roi_feature_extractor(
    rois: Tensor,
    feature_map: Tensor,
    *more: Tensor,
    output_size: int,
    sampling_ratio: int,
    pyramid_scales: Ints,
    aligned: bool = False,
) -> tuple[Tensor, Tensor]:
    """OpenVINO ExperimentalDetectronROIFeatureExtractor-6: the features of the regions, and the regions."""
    pyramid = (feature_map, *more)
    for index, tensor in enumerate((rois, *pyramid)):
        expect_type(tensor, index, REAL)
    count = _region_count(rois, 0, 4)
    channels = narrower(*(size(layer, 1, 4) for layer in pyramid))
    axes: tuple[tuple[str, MaybeDim], ...] = (
        ("the number of images", 1),
        ("the number of channels", channels),
        ("the height", None),
        ("the width", None),
    )
    for index, layer in enumerate(pyramid, 1):
        check(layer, Expected(index, "feature map", axes, REGIONS_MISMATCH))
    extent, dtype = _extent(output_size, "output_size"), common_type((rois, *pyramid))
    return Tensor(dtype, (count, channels, extent, extent)), Tensor(dtype, (count, 4))


# --- RegionYolo -------------------------------------------------------------------------------------------------------


@openvino(
    "RegionYolo",
    absent={"axis": 0, "coords": 0, "classes": 0, "end_axis": 0, "num": 0, "do_softmax": False},
    documented={"do_softmax": True},
    ignores_extra_inputs=True,
)
def ov_region_yolo(
    data: Tensor,
    *,
    axis: int,
    coords: int,
    classes: int,
    end_axis: int,
    num: int,
    do_softmax: bool,
    mask: Ints = (),
    anchors: Floats = (),
) -> Tensor:
    """OpenVINO RegionYolo-1. With ``do_softmax``, the axes from ``axis`` to ``end_axis`` are merged into one."""
    expect_type(data, 0, REAL)
    expect_rank(data, 0, 4, what="data")
    x, channels_per_anchor = data.shape, coords + classes + 1
    anchor_count = num if do_softmax else len(mask)
    channels = size(data, 1, 4)
    if isinstance(channels, int) and channels != channels_per_anchor * anchor_count:
        what = "`num`" if do_softmax else "the length of `mask`"
        formula, numbers = f"(`coords` + `classes` + 1) * {what}", f"{channels_per_anchor} * {anchor_count}"
        fault = _channels_fault(data, formula, numbers, wanted=channels_per_anchor * anchor_count)
        warn(fault.lowered(Severity.WARNING))
    if x is None:
        return Tensor(data.dtype)
    if not do_softmax:
        return Tensor(data.dtype, (x[0], max(channels_per_anchor * len(mask), 0), *x[2:]))
    first, last = axis_of(axis, 4), axis_of(end_axis, 4, "end_axis")
    if last < first:
        return Tensor(data.dtype, x)
    return Tensor(data.dtype, (*x[:first], product(x[first : last + 1]), *x[last + 1 :]))
