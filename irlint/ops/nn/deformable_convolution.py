"""Deformable convolutions in both formats."""

from __future__ import annotations

from irlint.dims import product
from irlint.model.tensor import Tensor
from irlint.ops import onnx, openvino
from irlint.ops.kernels.axes import Ints
from irlint.ops.kernels.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.kernels.filters import (
    ABSENT_LISTS,
    convolved,
    dim_of,
    expect_bias,
    expect_channels,
    expect_groups,
    ov_convolved,
    surer,
)
from irlint.ops.kernels.windows import PadType, arranged, expect_rank, expect_shape


@onnx("DeformConv", since=19)
def deform_conv(
    X: Tensor,
    W: Tensor,
    offset: Tensor,
    B: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    offset_group: int = 1,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX DeformConv-19: an offset along each axis, and a weight in ``mask``, for each element of each window."""
    shape = convolved(X.shape, W.shape, group, kernel_shape, strides, dilations, pads, lenient=True)
    expect_bias(B, dim_of(W.shape, 0), 3)
    expect_groups(offset_group, None if X.shape is None else X.shape[1], 0, 1, "input channels", "offset_group")
    if shape is not None:
        elements = None if W.shape is None else product((*W.shape[2:], offset_group))
        sizes = shape[2:]
        expect_shape(
            offset, 2, "offset", (shape[0], product((elements, len(sizes))), *sizes), "a vector for each element"
        )
        expect_shape(mask, 4, "mask", (shape[0], elements, *sizes), "a weight for each element")
    return Tensor(X.dtype, shape)


@openvino("DeformableConvolution", until=7, absent={**ABSENT_LISTS, "group": 0, "deformable_group": 0})
def ov_deformable_convolution_1(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
    group: int,
    deformable_group: int,
) -> Tensor:
    """OpenVINO DeformableConvolution-1."""
    attributes = (strides, dilations, pads_begin, pads_end, auto_pad)
    return _ov_deformed(data, offsets, filters, None, attributes, group, deformable_group)


@openvino("DeformableConvolution", since=8, absent={**ABSENT_LISTS, "group": 0, "deformable_group": 0})
def ov_deformable_convolution_8(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    mask: Tensor | None = None,
    *,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: PadType = "explicit",
    group: int,
    deformable_group: int,
    bilinear_interpolation_pad: bool = False,
) -> Tensor:
    """OpenVINO DeformableConvolution-8, with a weight for each element of each window."""
    expect_type(mask, 3, ARITHMETIC)
    attributes = (strides, dilations, pads_begin, pads_end, auto_pad)
    return _ov_deformed(data, offsets, filters, mask, attributes, group, deformable_group)


def _ov_deformed(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    mask: Tensor | None,
    attributes: tuple[Ints, Ints, Ints, Ints, PadType],
    group: int,
    deformable_group: int,
) -> Tensor:
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, offsets, filters))
    x, w = data.shape, filters.shape
    for index, tensor in enumerate((data, offsets, filters, mask)):
        expect_rank(None if tensor is None else tensor.shape, 4, index, "two of them spatial")
    expect_groups(group, dim_of(x, 1), 0, 1, "input channels")
    expect_groups(group, dim_of(w, 0), 2, 0, "output channels")
    expect_groups(deformable_group, dim_of(offsets.shape, 1), 1, 1, "offsets", "deformable_group")
    expect_channels(x, w, product((dim_of(w, 1), group)), 2, 2, f" ({dim_of(w, 1)} for each of {group} groups)")
    sizes = ov_convolved(x, w, attributes, weights=2)
    if sizes is None:
        if offsets.shape is None:
            return Tensor(dtype)
        sizes = (None, None)
    elements = None if w is None else product((*w[2:], deformable_group))
    batch = dim_of(x, 0)
    expect_shape(offsets, 1, "offsets", (batch, product((elements, 2)), *sizes), "two for each element of the kernel")
    sizes = tuple(surer(size, dim_of(offsets.shape, axis)) for axis, size in enumerate(sizes, 2))
    expect_shape(mask, 3, "mask", (batch, elements, *sizes), "one for each element of the kernel")
    return Tensor(dtype, arranged(surer(batch, dim_of(offsets.shape, 0)), dim_of(w, 0), sizes))
