"""Interpolate of OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, Expr, MaybeDim, at_least
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import wants_arithmetic, warn
from irlint.findings.wording import counted, span
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Scalar, Tensor, shape_text
from irlint.ops import openvino
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, AXIS_REPEATED, Ints
from irlint.ops.shared.compiling import Layer, first_of, known_shape, not_compiled, types_at
from irlint.ops.shared.element_types import expect_type
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.shape_inputs import length
from irlint.ops.signatures import FACTORS, with_roles
from irlint.ops.vision.resampling import RESIZE_COUNT_MISMATCH, replaced, scale_fault
from irlint.ops.vision.scaling import openvino_scaled, resized

SIZE_TYPES = frozenset({"int32", "int64", "uint32", "uint64"})
SCALE_TYPES = frozenset({"float32", "float16", "bfloat16"})
IMAGE_TYPES = frozenset({"float16", "float32", "float64", "bfloat16", "int8", "uint8", "int32", "int64"})
InterpolateMode4 = Literal["nearest", "linear", "linear_onnx", "cubic"]
InterpolateMode = Literal["nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow"]
ShapeMode = Literal["sizes", "scales"]
InterpolateCoordinates = Literal[
    "half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"
]
InterpolateNearest = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]


def _compiled_sizes(layer: Layer) -> Fault | None:
    sizes, axis_count = layer.inputs[1], len(set(layer.attributes["axes"]))
    size_count = length(sizes) if isinstance(sizes, Tensor) else None
    if size_count is None or 1 in (size_count, axis_count) or size_count == axis_count:
        return None
    return not_compiled(
        f"input 1 has {counted(size_count, 'entry', 'entries')} and `axes` names {counted(axis_count, 'axis', 'axes')}",
        help="give input 1 an entry for each of the axes",
        input=1,
        forbidden=True,
    )


def _compiled_mode(layer: Layer) -> Fault | None:
    mode = layer.attributes["mode"]
    if mode in ("nearest", "linear", "linear_onnx", "cubic"):
        return None
    return not_compiled(
        f'attribute `mode` is "{mode}", but the CPU plugin supports "nearest", "linear", "linear_onnx" and "cubic"',
        help="write one of these modes",
        attribute="mode",
        forbidden=mode != "area",
    )


@openvino(
    "Interpolate",
    until=3,
    absent={"axes": (), "mode": ""},
    fills_in=True,
    strict=("pads_begin", "pads_end"),
    compiles=first_of(
        types_at(
            1,
            allowed=frozenset({"int32", "int64", "uint32", "uint64"}),
            reason="OpenVINO replaces the layer by Interpolate of opset4, which accepts",
        ),
        _compiled_sizes,
        _compiled_mode,
    ),
)
def interpolate_0(
    data: Tensor,
    target_spatial_shape: Tensor,
    *,
    axes: Ints,
    mode: str,
    align_corners: bool = True,
    antialias: bool = False,
    pads_begin: Ints = (),
    pads_end: Ints = (),
) -> Tensor:
    """OpenVINO Interpolate-0. Input 1 holds the new sizes of the axes, sorted by axis."""
    expect_type(target_spatial_shape, 1, INTEGERS)
    if data.shape is None:
        return Tensor(data.dtype)
    resized_axes = sorted(set(_checked_axes(axes, len(data.shape), None)))
    sizes = target_spatial_shape.ints or ()
    if target_spatial_shape.value is not None and len(target_spatial_shape.value) < len(resized_axes):
        raise RESIZE_COUNT_MISMATCH.fault(
            f"input 1 has {counted(len(target_spatial_shape.value), 'entry', 'entries')} for "
            f"{counted(len(resized_axes), 'axis', 'axes')}",
            help=f"give input 1 {counted(len(resized_axes), 'entry', 'entries')}, or name fewer axes",
            input=1,
        )
    targets = [
        _not_negative(sizes[position]) if position < len(sizes) else None for position in range(len(resized_axes))
    ]
    return Tensor(data.dtype, replaced(data.shape, resized_axes, targets))


def _not_negative(size: MaybeDim) -> MaybeDim:
    if isinstance(size, int):
        return max(size, 0)
    return size if size is not None and at_least(size, 0) else None


def _checked_axes(axes: Sequence[int], rank: int, index: int | None) -> Sequence[int]:
    for axis in axes:
        if not 0 <= axis < rank:
            raise AXIS_OUT_OF_RANGE.fault(
                f"axes is {list(axes)} and input 0 has {counted(rank, 'axis', 'axes')}; allowed: {span(0, rank - 1)}",
                help=f"use axes in the range 0 to {rank - 1}" if rank else "give the input at least one axis",
                input=index,
            )
    if len(set(axes)) < len(axes):
        warn(
            AXIS_REPEATED.fault(
                f"axes is {list(axes)}: an axis appears more than once; OpenVINO "
                + ("counts it once" if index is None else "uses the last of its sizes, or all its scales"),
                help="list each axis once",
                input=index,
                severity=Severity.WARNING,
            )
        )
    return axes


@openvino(
    "Interpolate",
    since=4,
    until=10,
    absent={"mode": "nearest", "shape_calculation_mode": "sizes"},
    fills_in=True,
    strict=("pads_begin", "pads_end"),
)
@with_roles(scales=FACTORS)
def interpolate_4(
    data: Tensor,
    sizes: Tensor,
    scales: Tensor,
    axes: Tensor | None = None,
    *,
    mode: InterpolateMode4,
    shape_calculation_mode: ShapeMode,
    coordinate_transformation_mode: InterpolateCoordinates = "half_pixel",
    nearest_mode: InterpolateNearest = "round_prefer_floor",
    antialias: bool = False,
    pads_begin: Ints = (),
    pads_end: Ints = (),
    cube_coeff: float = -0.75,
) -> Tensor:
    """OpenVINO Interpolate-4."""
    expect_type(sizes, 1, SIZE_TYPES)
    expect_type(scales, 2, SCALE_TYPES)
    index, target = (1, sizes) if shape_calculation_mode == "sizes" else (2, scales)
    expect_rank(target, index, 1)
    return _interpolated(data, index, target, axes_index=3, axes=axes, pads_begin=pads_begin, pads_end=pads_end)


def _compiled_pillow(layer: Layer) -> Fault | None:
    """Returns a fault if a mode of Pillow resizes axis 0 of data with four axes."""
    before, after = layer.sizes(0), known_shape(layer.outputs[0])
    mode = layer.attributes["mode"]
    if not mode.endswith("_pillow") or before is None or after is None or len(before) != 4 or not layer.varying:
        return None
    padded = before[0] + sum(sum(layer.attributes[name][:1]) for name in ("pads_begin", "pads_end"))
    if padded == after[0]:
        return None
    return not_compiled(
        f'axis 0 is {padded} and becomes {after[0]}, but with mode="{mode}", the CPU plugin does not resize axis 0',
        help="remove axis 0 from the axes, or choose another mode",
        attribute="mode",
    )


@openvino(
    "Interpolate",
    since=11,
    absent={"mode": "nearest", "shape_calculation_mode": "sizes"},
    fills_in=True,
    strict=("pads_begin", "pads_end"),
    compiles=_compiled_pillow,
)
@with_roles(scales_or_sizes=FACTORS)
def interpolate_11(
    image: Tensor,
    scales_or_sizes: Tensor,
    axes: Tensor | None = None,
    *,
    mode: InterpolateMode,
    shape_calculation_mode: ShapeMode,
    coordinate_transformation_mode: InterpolateCoordinates = "half_pixel",
    nearest_mode: InterpolateNearest = "round_prefer_floor",
    antialias: bool = False,
    pads_begin: Ints = (),
    pads_end: Ints = (),
    cube_coeff: float = -0.75,
) -> Tensor:
    """OpenVINO Interpolate-11."""
    expect_type(scales_or_sizes, 1, SIZE_TYPES if shape_calculation_mode == "sizes" else SCALE_TYPES)
    expect_rank(scales_or_sizes, 1, 1)
    return _interpolated(image, 1, scales_or_sizes, axes_index=2, axes=axes, pads_begin=pads_begin, pads_end=pads_end)


def _interpolated(
    data: Tensor,
    index: int,
    target: Tensor,
    *,
    axes_index: int,
    axes: Tensor | None,
    pads_begin: Ints,
    pads_end: Ints,
) -> Tensor:
    expect_type(data, 0, IMAGE_TYPES)
    expect_type(axes, axes_index, SIZE_TYPES)
    expect_rank(axes, axes_index, 1)
    if data.shape is None:
        return Tensor(data.dtype)
    listed = tuple(range(len(data.shape))) if axes is None else axes.ints
    if listed is None or not all(isinstance(axis, int) for axis in listed):
        return Tensor(data.dtype, (None,) * len(data.shape))
    resized_axes = _checked_axes([axis for axis in listed if isinstance(axis, int)], len(data.shape), axes_index)
    padded = tuple(
        _padded(dim, pads_begin[axis] if axis < len(pads_begin) else 0, pads_end[axis] if axis < len(pads_end) else 0)
        for axis, dim in enumerate(data.shape)
    )
    entries = _entries(target, len(resized_axes), index)
    are_scales = target.dtype in SCALE_TYPES
    fault = scale_fault(entries[: len(resized_axes)], 0, index) if are_scales else None
    if fault is not None:
        warn(fault.lowered(Severity.WARNING))
    dims = list(padded)
    for axis, entry in zip(resized_axes, entries):
        if are_scales:
            dims[axis] = resized(dims[axis], entry, openvino_scaled)
        else:
            dims[axis] = _not_negative(_as_dim(entry))
    if wants_arithmetic() and not are_scales:
        from irlint.ops.shared import formulas

        stated = [_as_dim(entry) for entry in entries]
        formulas.listed(resized_axes, stated, stated, what="the sizes")
    return Tensor(data.dtype, tuple(dims))


def _as_dim(entry: Scalar) -> MaybeDim:
    return entry if isinstance(entry, (int, Expr)) else None


def _padded(dim: MaybeDim, begin: Dim, end: Dim) -> MaybeDim:
    return None if dim is None else dim + begin + end


def _entries(target: Tensor, count: int, index: int) -> tuple[Scalar, ...]:
    """The entries of ``target``, a list of sizes or scales, of which ``count`` are needed.

    Raises a ``RESIZE_COUNT_MISMATCH`` fault for fewer entries, and warns of more entries.
    """
    if target.value is None:
        return (None,) * count
    if len(target.value) < count:
        raise RESIZE_COUNT_MISMATCH.fault(
            f"input {index} is {shape_text(target.shape)}: {counted(len(target.value), 'entry', 'entries')} for "
            f"{counted(count, 'axis', 'axes')}",
            help=f"give input {index} {counted(count, 'entry', 'entries')}, or name fewer axes",
            input=index,
        )
    if len(target.value) > count:
        warn(
            RESIZE_COUNT_MISMATCH.fault(
                f"input {index} has {counted(len(target.value), 'entry', 'entries')} for "
                f"{counted(count, 'axis', 'axes')}; OpenVINO ignores the other entries",
                help=f"give input {index} {counted(count, 'entry', 'entries')}",
                input=index,
                severity=Severity.WARNING,
            )
        )
    return target.value
