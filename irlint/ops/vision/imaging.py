"""Grid sampling, cropping, decoding and color conversion."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, at_least, floordiv, quotient, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import agree, divides, explain_size
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared.attributes import expect_range
from irlint.ops.shared.axes import Ints, axes_of
from irlint.ops.shared.compiling import not_implemented
from irlint.ops.shared.element_types import REAL, common_type, expect_type
from irlint.ops.shared.expectations import expect_rank, warn_of_rank
from irlint.ops.shared.shape_inputs import stated_shape
from irlint.ops.shared.sizes import narrower
from irlint.ops.vision.resampling import RESIZE_COUNT_MISMATCH, replaced
from irlint.schemas import MICROSOFT

GRID_MISMATCH = Rule(
    "IRL368",
    "sampling-grid-mismatch",
    Severity.ERROR,
    "The shape of a sampling grid, of its transformation or of boxes contradicts the shape of the image.",
    why=(
        "For images with d spatial axes, a grid has the same number of axes as the images, the same batch size, and "
        "d coordinates on its last axis. AffineGrid's theta has the shape [N, d, d+1]. Runtimes refuse other shapes."
    ),
    fix="Give the grid the shape [N, H_out, W_out, 2], or [N, D_out, H_out, W_out, 3] for volumes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[1,4,4,3] grid) => (float[1,3,4,4] y) { y = GridSample (x, grid) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[1,4,4,2] grid) => (float[1,3,4,4] y) { y = GridSample (x, grid) }""",
)

_NV12 = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,HEIGHT,640,1" element_type="u8"/><output>\
<port id="0" precision="U8"><dim>1</dim><dim>HEIGHT</dim><dim>640</dim><dim>1</dim></port></output></layer>
<layer id="1" name="c" type="NV12toRGB" version="opset8"><input><port id="0"/></input><output>\
<port id="1" precision="U8"><dim>1</dim><dim>480</dim><dim>640</dim><dim>3</dim></port></output></layer>
<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>\
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>"""

IMAGE_PLANES_MISMATCH = Rule(
    "IRL369",
    "image-planes-mismatch",
    Severity.ERROR,
    "The planes of a color conversion do not form an image of the format.",
    why=(
        "NV12 and I420 store brightness at full resolution and color at half resolution. As a single plane, the "
        "shape is [N, H*3/2, W, 1]. As separate planes, Y is [N, H, W, 1]; UV is [N, H/2, W/2, 2], or U and V are "
        "[N, H/2, W/2, 1] each. OpenVINO refuses odd sizes and other planes."
    ),
    fix="Give the planes the shapes of the format, with an even width and height.",
    bad=_NV12.replace("HEIGHT", "721"),
    good=_NV12.replace("HEIGHT", "720"),
)


# --- GridSample -------------------------------------------------------------------------------------------------------

GridMode16 = Literal["bilinear", "nearest", "bicubic"]
GridMode = Literal["linear", "nearest", "cubic"]
PaddingMode = Literal["zeros", "border", "reflection"]


def grid_sampled(x: Shape | None, grid: Shape | None) -> Shape | None:
    """The shape [N, C, *grid[1:-1]] of a sampled image [N, C, ...]; None if both ranks are unknown.

    Raises a ``GRID_MISMATCH`` fault. Source: ONNX GridSample, OpenVINO GridSample-9.
    """
    rank = next((len(shape) for shape in (x, grid) if shape is not None), None)
    if rank is None:
        return None
    if x is not None and grid is not None and len(x) != len(grid):
        raise _grid_fault(
            f"input 0 has {counted(len(x), 'axis', 'axes')} and input 1 has {len(grid)}: both need the same number"
        )
    image: Shape = x if x is not None else (None,) * rank
    points: Shape = grid if grid is not None else (None,) * rank
    if same(points[-1], rank - 2) is False:
        raise _grid_fault(
            f"the last axis of input 1 is {points[-1]}; images with {rank - 2} spatial axes need {rank - 2} "
            "coordinates",
            (1, rank - 1),
        )
    if not agree(image[0], points[0], "image and grid have the same batch size"):
        raise _grid_fault(
            f"axis 0 is {image[0]} in input 0 and {points[0]} in input 1: the batches differ", (0, 0), (1, 0)
        )
    batch = points[0] if image[0] is None or isinstance(points[0], int) else image[0]
    return (batch, image[1], *points[1:-1])


def _grid_fault(message: str, *marks: tuple[int, int]) -> Fault:
    return GRID_MISMATCH.fault(
        message,
        help="give the grid the shape [N, ..., d] for images of d spatial axes",
        input=1,
        marks=marks,
        aligned="left",
    )


def _onnx_grid_sampled(x: Tensor, grid: Tensor, mode: str) -> Tensor:
    for index, (tensor, what) in enumerate(((x, "X"), (grid, "grid"))):
        expect_rank(tensor, index, least=3, what=what)
    shape = grid_sampled(x.shape, grid.shape)
    if mode.endswith("cubic"):
        warn_of_rank(x, 0, 4, what=f'X, with the mode "{mode}"')
    else:
        warn_of_rank(x, 0, 4, 5, what="X")
    return Tensor(x.dtype, shape)


@onnx("GridSample", since=16)
@onnx("GridSample", domain=MICROSOFT)
def grid_sample_16(
    X: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: GridMode16 = "bilinear",
    padding_mode: PaddingMode = "zeros",
) -> Tensor:
    """ONNX GridSample-16, com.microsoft GridSample."""
    return _onnx_grid_sampled(X, grid, mode)


@onnx("GridSample", since=20)
def grid_sample_20(
    X: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: GridMode = "linear",
    padding_mode: PaddingMode = "zeros",
) -> Tensor:
    """ONNX GridSample-20 and 22."""
    return _onnx_grid_sampled(X, grid, mode)


@openvino("GridSample", since=9)
def ov_grid_sample(
    data: Tensor,
    grid: Tensor,
    *,
    align_corners: bool = False,
    mode: GridMode16 = "bilinear",
    padding_mode: PaddingMode = "zeros",
) -> Tensor:
    """OpenVINO GridSample-9."""
    expect_type(grid, 1, REAL)
    expect_rank(data, 0, 4)
    expect_rank(grid, 1, 4)
    shape = grid_sampled(data.shape, grid.shape)
    return Tensor(data.dtype, (None,) * 4 if shape is None else shape)


@onnx("AffineGrid", since=20)
def affine_grid(theta: Tensor, size: Tensor, *, align_corners: int = 0) -> Tensor:
    """ONNX AffineGrid-20: a grid [N, ..., d] from theta [N, d, d + 1] and the size [N, C, ...]."""
    expect_rank(theta, 0, 3)
    target = stated_shape(size, 1)
    if target is not None and len(target) not in (4, 5):
        raise GRID_MISMATCH.fault(
            f"input 1 has {counted(len(target), 'entry', 'entries')}; a size is [N, C, H, W] or [N, C, D, H, W]",
            help="give 4 or 5 entries",
            input=1,
        )
    if target is None:
        return Tensor(theta.dtype)
    spatial = len(target) - 2
    for axis, wanted in enumerate((target[0], spatial, spatial + 1)):
        if theta.shape is not None and not agree(theta.shape[axis], wanted, f"axis {axis} of theta is {wanted}"):
            raise GRID_MISMATCH.fault(
                f"input 0 (theta) is {shape_text(theta.shape)} and the size is {shape_text(target)}: axis {axis} of "
                f"theta is {theta.shape[axis]}; expected {wanted}",
                help=f"give theta the shape [{shape_text(target[:1])[1:-1]}, {spatial}, {spatial + 1}]",
                input=0,
                marks=((0, axis),),
            )
    return Tensor(theta.dtype, (target[0], *target[2:], spatial))


# --- cropping and decoding --------------------------------------------------------------------------------------------


@onnx("CenterCropPad", since=18)
def center_crop_pad(input_data: Tensor, shape: Tensor, *, axes: Ints | None = None) -> Tensor:
    """ONNX CenterCropPad-18."""
    target = stated_shape(shape, 1)
    if input_data.shape is None:
        return Tensor(input_data.dtype, target if axes is None else None)
    rank = len(input_data.shape)
    resized_axes = tuple(range(rank)) if axes is None else axes_of(axes, rank)
    if target is not None and len(target) != len(resized_axes):
        raise RESIZE_COUNT_MISMATCH.fault(
            f"input 1 has {counted(len(target), 'entry', 'entries')} for {counted(len(resized_axes), 'axis', 'axes')}",
            help=f"give the shape {counted(len(resized_axes), 'entry', 'entries')}, or name the axes in `axes`",
            input=1,
        )
    sizes = (None,) * len(resized_axes) if target is None else target
    for axis, size in zip(resized_axes, sizes):
        if at_least(input_data.shape[axis], size):
            explain_size(axis, size, part_of=input_data.shape[axis])
    return Tensor(input_data.dtype, replaced(input_data.shape, resized_axes, sizes))


PixelFormat = Literal["RGB", "BGR", "Grayscale"]


@onnx("ImageDecoder", since=20)
def image_decoder(encoded_stream: Tensor, *, pixel_format: PixelFormat = "RGB") -> Tensor:
    """ONNX ImageDecoder-20: an image [H, W, C]."""
    expect_rank(encoded_stream, 0, 1)
    return Tensor("uint8", (None, None, 1 if pixel_format == "Grayscale" else 3))


CropMode = Literal["bilinear", "nearest"]


@onnx("CropAndResize", domain=MICROSOFT, may_be_external={"crop_size": None})
def crop_and_resize(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    crop_size: Tensor,
    *,
    mode: CropMode = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """com.microsoft CropAndResize: [R, C, *crop_size], from ``rois`` [R, 4]."""
    for index, (tensor, rank) in enumerate(((X, 4), (rois, 2), (batch_indices, 1), (crop_size, 1))):
        expect_rank(tensor, index, rank)
    boxes = rois.shape or (None, None)
    count = (batch_indices.shape or (None,))[0]
    if not agree(boxes[1], 4, "a box has four coordinates") or not agree(boxes[0], count, "each box has a batch index"):
        raise GRID_MISMATCH.fault(
            f"input 1 is {shape_text(rois.shape)} and input 2 is {shape_text(batch_indices.shape)}; they must be [R, "
            "4] and [R]",
            help="give each box four coordinates and a batch index",
            input=1,
        )
    sizes = stated_shape(crop_size, 3)
    if sizes is not None and len(sizes) != 2:
        raise RESIZE_COUNT_MISMATCH.fault(
            f"input 3 has {counted(len(sizes), 'entry', 'entries')}; a crop has a height and a width",
            help="give 2 entries",
            input=3,
        )
    expect_range(sizes or (), 1, "crop_size")
    channels = None if X.shape is None else X.shape[1]
    regions = boxes[0] if boxes[0] is not None else count
    return Tensor(X.dtype, (regions, channels, *(sizes or (None, None))))


# --- color formats ----------------------------------------------------------------------------------------------------

PIXELS = REAL | {"uint8"}


def _planes_fault(message: str, index: int, *axes: int) -> Fault:
    return IMAGE_PLANES_MISMATCH.fault(
        message,
        help="give the planes the shapes of the format, with an even width and height",
        input=index,
        marks=tuple((index, axis) for axis in axes),
    )


def _plane(tensor: Tensor, index: int, channels: int) -> Shape:
    """The shape [N, H, W, C] of a plane."""
    expect_rank(tensor, index, 4)
    shape: Shape = tensor.shape if tensor.shape is not None else (None,) * 4
    if not agree(shape[3], channels, f"input {index} has {channels} channels"):
        raise _planes_fault(f"axis 3 is {shape[3]} in input {index}; it has to be {channels}", index, 3)
    return shape


def _divided(dim: MaybeDim, axis: int, index: int, *, divisor: int = 2) -> MaybeDim:
    if dim is None:
        return None
    if not divides(divisor, dim, f"axis {axis} of input {index} is a multiple of {divisor}"):
        what = "even" if divisor == 2 else f"a multiple of {divisor}"
        raise _planes_fault(f"axis {axis} is {dim} in input {index}; it has to be {what}", index, axis)
    exact = quotient(dim, divisor)
    return floordiv(dim, divisor) if exact is None else exact


def image_of_planes(luma: Shape, chroma: Sequence[tuple[int, Shape]]) -> Shape:
    """The shape [N, H, W, 3] of an image. Raises an ``IMAGE_PLANES_MISMATCH`` fault.

    ``luma`` is the shape of the plane Y, or of the only plane if ``chroma`` is empty. Each entry of ``chroma`` is
    (index of the input, shape of its plane).
    """
    batch, height, width, _ = luma
    if not chroma:
        rows = _divided(height, 1, 0, divisor=3)
        _divided(width, 2, 0)
        return (batch, None if rows is None else rows * 2, width, 3)
    for index, plane in chroma:
        wanted = (plane[0], *(None if dim is None else dim * 2 for dim in plane[1:3]))
        for axis, (size, dim) in enumerate(zip((batch, height, width), wanted)):
            why = f"axis {axis} of input {index} is {'equal to' if not axis else 'half of'} axis {axis} of input 0"
            if not agree(size, dim, why):
                raise _planes_fault(
                    f"axis {axis} is {size} in input 0 and {plane[axis]} in input {index}; {plane[axis]} in "
                    f"input {index} requires {dim} in input 0",
                    index,
                    axis,
                )
        batch, height, width = map(narrower, (batch, height, width), wanted)
    _divided(height, 1, 0)
    _divided(width, 2, 0)
    return (batch, height, width, 3)


@openvino("NV12toRGB", "NV12toBGR", since=8)
def nv12_to_rgb(image: Tensor, uv: Tensor | None = None) -> Tensor:
    """OpenVINO NV12toRGB-8 and NV12toBGR-8: from one plane, or Y and UV."""
    dtype = common_type((image, uv))
    expect_type(image, 0, PIXELS)
    chroma = [] if uv is None else [(1, _plane(uv, 1, 2))]
    return Tensor(dtype, image_of_planes(_plane(image, 0, 1), chroma))


@openvino("I420toRGB", "I420toBGR", since=8)
def i420_to_rgb(image: Tensor, u: Tensor | None = None, v: Tensor | None = None) -> Tensor:
    """OpenVINO I420toRGB-8 and I420toBGR-8: from one plane, or Y, U and V."""
    if u is not None and v is None:
        raise _planes_fault("the layer has 2 inputs; I420 needs one plane, or the three planes Y, U and V", 1)
    dtype = common_type((image, u, v))
    expect_type(image, 0, PIXELS)
    chroma = [(index, _plane(plane, index, 1)) for index, plane in ((1, u), (2, v)) if plane is not None]
    return Tensor(dtype, image_of_planes(_plane(image, 0, 1), chroma))


@openvino("RGBtoNV12", "BGRtoNV12", since=17, until=17, compiles=not_implemented)
def rgb_to_nv12(data: Tensor, *, single_plane: bool = True) -> tuple[Tensor, ...]:
    """OpenVINO RGBtoNV12-17 and BGRtoNV12-17: one plane, or Y and UV."""
    expect_type(data, 0, ("uint8", "bfloat16", "float16", "float32", "float64"))
    batch, height, width, _ = _plane(data, 0, 3)
    rows, columns = _divided(height, 1, 0), _divided(width, 2, 0)
    if single_plane:
        return (Tensor(data.dtype, (batch, None if rows is None else rows * 3, width, 1)),)
    return Tensor(data.dtype, (batch, height, width, 1)), Tensor(data.dtype, (batch, rows, columns, 2))
