"""Resize and Upsample of ONNX."""

from __future__ import annotations

import math
from collections.abc import Sequence

from irlint.dims import Expr, MaybeDim, Shape, at_least, same
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import wants_arithmetic, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import Scalar, Tensor
from irlint.ops import onnx
from irlint.ops.shared.attributes import ATTRIBUTE_OUT_OF_RANGE
from irlint.ops.shared.axes import Floats, Ints, axes_of
from irlint.ops.shared.contents import rounded
from irlint.ops.shared.expectations import expect_rank
from irlint.ops.shared.shape_inputs import length
from irlint.ops.signatures import FACTORS, with_roles
from irlint.ops.vision.scaling import onnx_scaled, resized

RESIZE_COUNT_MISMATCH = Rule(
    "IRL365",
    "resize-count-mismatch",
    Severity.ERROR,
    "The number of scales or sizes differs from the number of resized axes.",
    why=(
        "Without `axes`, a resize needs a scale or a size for every axis of the data, including batch and channels. "
        "With `axes`, it needs one for each of these axes. Runtimes refuse any other number when they load the model."
    ),
    fix="Use a scale of 1 for an axis that keeps its size, or list the resized axes in `axes`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,16,16] y) <float[2] scales = {2, 2}> { y = Resize (x, "", scales) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,16,16] y) <float[4] scales = {1, 1, 2, 2}> { y = Resize (x, "", scales) }""",
)

RESIZE_SCALE_REFUSED = Rule(
    "IRL366",
    "resize-scale-not-positive",
    Severity.ERROR,
    "A resize has a scale or size that is not positive and finite, or an Upsample has a scale below 1.",
    why="ONNX Runtime refuses the model. For an IR, this is a warning: OpenVINO gives the axis the size 0, or fails "
    "when the model runs.",
    fix="Use a positive scale. To make a tensor smaller, use Resize instead of Upsample.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,N,8] y) <float[4] scales = {1, 1, -2, 1}> { y = Resize (x, "", scales) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,16,8] y) <float[4] scales = {1, 1, 2, 1}> { y = Resize (x, "", scales) }""",
)

RESIZE_TARGET_UNCLEAR = Rule(
    "IRL367",
    "resize-target-unclear",
    Severity.ERROR,
    "A Resize has both scales and sizes, or neither.",
    why=(
        "Either scales or sizes must determine the size of the result; runtimes refuse both or neither. An empty list "
        'counts as omitted. A `keep_aspect_ratio_policy` other than "stretch" requires sizes.'
    ),
    fix="Replace the scales or the sizes by an empty name.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,8] y) { y = Resize (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,8] y) <int64[2] sizes = {2, 8}> { y = Resize (x, "", "", sizes) }""",
    refused=(Refusal("onnxruntime"),),
)

# --- shared functions -------------------------------------------------------------------------------------------------


def _rounded_size(size: float) -> MaybeDim:
    product = rounded(size, "float32")
    return math.floor((product or 0.0) + 0.5) if product is None or math.isfinite(product) else None


def replaced(shape: Shape, axes: Sequence[int], dims: Sequence[MaybeDim]) -> Shape:
    """``shape`` with the sizes ``dims`` on ``axes``. If an axis is repeated, its last size is used."""
    result = list(shape)
    for axis, dim in zip(axes, dims):
        result[axis] = dim
    return tuple(result)


def with_aspect_ratio(dims: Sequence[MaybeDim], sizes: Sequence[MaybeDim], policy: str) -> list[MaybeDim]:
    """``dims``, all scaled by one factor: the least ratio of a size to its dim for ``not_larger``, else the largest."""
    pairs = [(dim, size) for dim, size in zip(dims, sizes) if isinstance(dim, int) and isinstance(size, int)]
    if len(pairs) < len(dims) or len(pairs) < len(sizes) or any(dim == 0 for dim, _ in pairs):
        return [None] * len(dims)
    scales = [rounded(size / dim, "float32") or 0.0 for dim, size in pairs]
    scale = min(scales) if policy == "not_larger" else max(scales)
    return [_rounded_size(scale * dim) for dim, _ in pairs]


# --- Resize -----------------------------------------------------------------------------------------------------------

Mode = Literal["nearest", "linear", "cubic"]
UpsampleMode1 = Literal["nearest", "bilinear", "linear"]
CoordinateMode = Literal[
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
]
NearestMode = Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
Policy = Literal["stretch", "not_larger", "not_smaller"]


def _entries(
    tensor: Tensor,
    count: int,
    index: int | None,
    *,
    what: str,
    has_axes: bool = False,
    unchanged: Sequence[MaybeDim] = (),
) -> tuple[Scalar, ...]:
    """The ``count`` entries of input ``index``, or of an attribute if ``index`` is None.

    ``unchanged`` has the entries that keep the sizes of the axes, for a help with a complete list.
    """
    found = None if tensor.value is None else len(tensor.value)
    if found is None and tensor.shape is not None and len(tensor.shape) == 1 and isinstance(tensor.shape[0], int):
        found = tensor.shape[0]
    if found is not None and found != count:
        source = f"input {index}" if index is not None else "the attribute"
        complete = (*unchanged[: count - found], *(tensor.value or ())) if found < len(unchanged) else ()
        entries = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in complete)
        example = f", such as [{entries}]" if len(complete) == count and None not in complete else ""
        raise RESIZE_COUNT_MISMATCH.fault(
            f"{source} ({what}) has {counted(found, 'entry', 'entries')}; the resized axes need {count}",
            help=f"give `{what}` {counted(count, 'entry', 'entries')}{example}"
            + ", or name the axes in `axes`" * has_axes,
            input=index,
        )
    return (None,) * count if tensor.value is None else tensor.value


def scale_fault(scales: Sequence[Scalar], least: float, index: int | None) -> Fault | None:
    """Returns a fault if a scale is not positive and finite, or is below ``least``."""
    for axis, scale in enumerate(scales):
        if scale is None or isinstance(scale, Expr) or (0 < scale < math.inf and scale >= least):
            continue
        wanted = (
            "positive and finite" if least == 0 else f"at least {least:g}, as Upsample does not make a tensor smaller"
        )
        return RESIZE_SCALE_REFUSED.fault(
            f"entry {axis} of the scales is {scale:g}; it has to be {wanted}",
            help="use a positive scale" if least == 0 else "use Resize, or a scale of 1 or more",
            input=index,
        )
    return None


def _expect_scales(scales: Sequence[Scalar], least: float, index: int | None) -> None:
    fault = scale_fault(scales, least, index)
    if fault is not None:
        raise fault


def _with_scale_per_axis(x: Tensor, scales: Tensor, index: int | None, *, least: float, mode: str) -> Tensor:
    if x.shape is None:
        return Tensor(x.dtype)
    ones = (1,) * len(x.shape)
    factors = _entries(scales, len(x.shape), index, what="scales", unchanged=ones)
    _expect_scales(factors, least, index)
    if mode != "nearest":
        from irlint.ops.shared.resized_axes import by_scales, warn_of_mode

        warn_of_mode(x, mode, by_scales(factors))
    return Tensor(x.dtype, tuple(resized(dim, factor, onnx_scaled) for dim, factor in zip(x.shape, factors)))


def _is_omitted(tensor: Tensor | None) -> bool | None:
    """Whether an optional list is omitted or empty; None if this is unknown."""
    if tensor is None:
        return True
    if tensor.value is not None:
        return not tensor.value
    if tensor.shape is None:
        return None
    if any(dim == 0 for dim in tensor.shape):
        return True
    return False if all(at_least(dim, 1) for dim in tensor.shape) else None


@onnx("Resize", since=10)
@with_roles(scales=FACTORS)
def resize_10(X: Tensor, scales: Tensor, *, mode: Mode = "nearest") -> Tensor:
    """ONNX Resize-10."""
    return _with_scale_per_axis(X, scales, 1, least=0, mode=mode)


@onnx("Resize", since=11, read_if={"nearest_mode": ("mode", "nearest")}, empty=("nearest_mode",))
@with_roles(scales=FACTORS)
def resize_11(
    X: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    coordinate_transformation_mode: CoordinateMode = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    mode: Mode = "nearest",
    nearest_mode: NearestMode = "round_prefer_floor",
) -> Tensor:
    """ONNX Resize-11 and 13."""
    _warn_of_ignored_attributes(mode, exclude_outside, 0)
    _expect_roi(X, roi, None, mode=coordinate_transformation_mode)
    _warn_of_unknown_length(X, sizes)
    return _resized(X, scales, sizes, mode=mode)


@onnx("Resize", since=18, read_if={"nearest_mode": ("mode", "nearest")}, empty=("nearest_mode",))
@with_roles(scales=FACTORS)
def resize_18(
    X: Tensor,
    roi: Tensor | None = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
    *,
    antialias: int = 0,
    axes: Ints | None = None,
    coordinate_transformation_mode: CoordinateMode = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: Policy = "stretch",
    mode: Mode = "nearest",
    nearest_mode: NearestMode = "round_prefer_floor",
) -> Tensor:
    """ONNX Resize-18 and 19."""
    _warn_of_ignored_attributes(mode, exclude_outside, antialias)
    axes = axes or None
    _expect_roi(X, roi, axes, mode=coordinate_transformation_mode)
    _warn_of_unknown_length(X, sizes)
    return _resized(
        X,
        scales,
        sizes,
        mode=mode,
        axes=axes,
        policy=keep_aspect_ratio_policy,
        has_axes=True,
        antialias=bool(antialias),
    )


def _warn_of_ignored_attributes(mode: str, exclude_outside: int, antialias: int) -> None:
    modes = {"exclude_outside": (exclude_outside, ("cubic",)), "antialias": (antialias, ("linear", "cubic"))}
    for name, (value, allowed) in modes.items():
        if value and mode not in allowed:
            fault = ATTRIBUTE_OUT_OF_RANGE.fault(
                f'attribute `{name}` is {value} and `mode` is "{mode}": the specification ignores `{name}` in this '
                f"mode, but ONNX Runtime accepts it only with {' and '.join(allowed)}",
                help=f"remove `{name}`",
                attribute=name,
            )
            warn(fault.lowered(Severity.WARNING))


def _warn_of_unknown_length(x: Tensor, sizes: Tensor | None) -> None:
    if sizes is None or x.rank is None or isinstance(length(sizes), int):
        return
    fault = RESIZE_COUNT_MISMATCH.fault(
        "the number of entries of input 3 (sizes) is unknown: the specification allows this, but ONNX Runtime assumes "
        "0 entries and refuses the model",
        help="declare the shape of the sizes",
        input=3,
    )
    warn(fault.lowered(Severity.WARNING))


def _expect_roi(x: Tensor, roi: Tensor | None, axes: Ints | None, *, mode: str) -> None:
    count = x.rank if axes is None else len(axes)
    if mode == "tf_crop_and_resize" and roi is not None and count is not None and _is_omitted(roi) is not True:
        _entries(roi, 2 * count, 1, what="roi")


def _resized(
    x: Tensor,
    scales: Tensor | None,
    sizes: Tensor | None,
    *,
    mode: str,
    axes: Ints | None = None,
    policy: str = "stretch",
    has_axes: bool = False,
    antialias: bool = False,
) -> Tensor:
    _expect_one_target(scales, sizes, policy)
    if sizes is not None and sizes.value is None:
        expect_rank(sizes, 3, 1, what="sizes")
    if x.shape is None:
        return Tensor(x.dtype)
    resized_axes = tuple(range(len(x.shape))) if axes is None else axes_of(axes, len(x.shape))
    if policy != "stretch" and axes and min(axes) < 0:
        from irlint.ops.shared.resized_axes import warn_of_negative_axes

        warn_of_negative_axes(policy, axes)
    dims = [x.shape[axis] for axis in resized_axes]
    targets: Sequence[MaybeDim] = [None] * len(resized_axes)
    factors: Sequence[Scalar] = ()
    without_scales, without_sizes = _is_omitted(scales), _is_omitted(sizes)
    if sizes is not None and (without_scales is True or without_sizes is False):
        entries = _entries(sizes, len(resized_axes), 3, what="sizes", has_axes=has_axes, unchanged=dims)
        targets = _targets_of_sizes(resized_axes, dims, entries, policy=policy)
    elif scales is not None and without_sizes is True:
        ones = (1,) * len(resized_axes)
        factors = _entries(scales, len(resized_axes), 2, what="scales", has_axes=has_axes, unchanged=ones)
        targets = _targets_of_scales(resized_axes, dims, factors)
    if mode != "nearest":
        from irlint.ops.shared.resized_axes import by_scales, by_sizes, require_kept, warn_of_mode

        if not factors and policy == "stretch":
            require_kept(x, mode, dict(zip(resized_axes, targets)), antialias=antialias)
        changes = by_scales(factors) if factors else by_sizes(dims, targets, together=policy != "stretch")
        warn_of_mode(x, mode, changes, axes=resized_axes, antialias=antialias)
    return Tensor(x.dtype, replaced(x.shape, resized_axes, targets))


def _targets_of_sizes(
    resized_axes: Sequence[int], dims: Sequence[MaybeDim], entries: Sequence[Scalar], *, policy: str
) -> Sequence[MaybeDim]:
    stated = _checked_sizes(entries, dims)
    targets = stated if policy == "stretch" else with_aspect_ratio(dims, stated, policy)
    if wants_arithmetic():
        from irlint.ops.shared import formulas

        formulas.listed(resized_axes, targets, stated, what="the sizes")
    return targets


def _targets_of_scales(
    resized_axes: Sequence[int], dims: Sequence[MaybeDim], factors: Sequence[Scalar]
) -> Sequence[MaybeDim]:
    _expect_scales(factors, 0, 2)
    targets = [resized(dim, factor, onnx_scaled) for dim, factor in zip(dims, factors)]
    if wants_arithmetic():
        from irlint.ops.shared import formulas

        formulas.scaled(resized_axes, dims, factors=factors, dims=targets)
    return targets


def _expect_one_target(scales: Tensor | None, sizes: Tensor | None, policy: str) -> None:
    omitted = (_is_omitted(scales), _is_omitted(sizes))
    if omitted in ((True, True), (False, False)):
        both = omitted == (False, False)
        raise RESIZE_TARGET_UNCLEAR.fault(
            f"{'both' if both else 'neither'} scales {'and' if both else 'nor'} sizes are present; either scales or "
            "sizes must set the size of the result",
            help="remove the scales or the sizes" if both else "add scales or sizes",
        )
    if omitted[0] is False and policy != "stretch":
        raise RESIZE_TARGET_UNCLEAR.fault(
            f'keep_aspect_ratio_policy is "{policy}" and scales are present: the policy works only with sizes',
            help="use sizes, or set the policy to stretch",
            attribute="keep_aspect_ratio_policy",
        )


def _checked_sizes(sizes: Sequence[Scalar], dims: Sequence[MaybeDim]) -> list[MaybeDim]:
    """The known ``sizes``. Raises a fault for a negative size, and for 0 on an axis that is not empty."""
    for position, (size, dim) in enumerate(zip(sizes, dims)):
        if isinstance(size, int) and (size < 0 or (size == 0 and same(dim, 0) is False)):
            raise RESIZE_SCALE_REFUSED.fault(
                f"entry {position} of the sizes is {size}; it has to be positive",
                help="use a size of 1 or more",
                input=3,
            )
    return [size if isinstance(size, (int, Expr)) else None for size in sizes]


# --- Upsample ---------------------------------------------------------------------------------------------------------


@onnx("Upsample", since=1)
def upsample_1(X: Tensor, *, height_scale: float, width_scale: float, mode: UpsampleMode1 = "nearest") -> Tensor:
    """ONNX Upsample-1."""
    expect_rank(X, 0, 4)
    _expect_scales((height_scale, width_scale), 1, None)
    if X.shape is None:
        return Tensor(X.dtype)
    targets = (resized(X.shape[2], height_scale, onnx_scaled), resized(X.shape[3], width_scale, onnx_scaled))
    return Tensor(X.dtype, replaced(X.shape, (2, 3), targets))


@onnx("Upsample", since=7)
def upsample_7(X: Tensor, *, scales: Floats, mode: Mode = "nearest") -> Tensor:
    """ONNX Upsample-7."""
    return _with_scale_per_axis(X, Tensor("float32", (len(scales),), tuple(scales)), None, least=1, mode=mode)


@onnx("Upsample", since=9, until=9)
@with_roles(scales=FACTORS)
def upsample_9(X: Tensor, scales: Tensor, *, mode: Mode = "nearest") -> Tensor:
    """ONNX Upsample-9."""
    return _with_scale_per_axis(X, scales, 1, least=1, mode=mode)
