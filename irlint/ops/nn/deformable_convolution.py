"""Deformable convolutions in both formats."""

from __future__ import annotations

from irlint.dims import product
from irlint.model.tensor import Tensor
from irlint.ops import onnx, openvino
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.compiling import without_negatives
from irlint.ops.shared.element_types import ARITHMETIC, common_type, expect_type
from irlint.ops.shared.filters import (
    ABSENT_LISTS,
    convolved,
    expect_bias,
    expect_channels,
    expect_groups,
    ov_convolved,
)
from irlint.ops.shared.operands import expect_axes, expect_shape
from irlint.ops.shared.sizes import dim_of, narrower
from irlint.ops.shared.windows import OnnxWindow, OpenvinoWindow, arranged


@onnx("DeformConv", since=19, macs=("windowed", "W"))
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
    """ONNX DeformConv-19."""
    window = OnnxWindow(strides=strides, dilations=dilations, pads=pads)
    shape = convolved(X.shape, W.shape, window, group=group, kernel_shape=kernel_shape, lenient=True)
    expect_bias(B, dim_of(W.shape, 0), 3)
    expect_groups(offset_group, dim_of(X.shape, 1), "input channels", index=0, axis=1, name="offset_group")
    if shape is not None:
        elements = None if W.shape is None else product((*W.shape[2:], offset_group))
        sizes = shape[2:]
        expect_shape(
            offset,
            2,
            "offset",
            wanted=(shape[0], product((elements, len(sizes))), *sizes),
            why="one number for each axis of each element",
        )
        expect_shape(mask, 4, "mask", wanted=(shape[0], elements, *sizes), why="one weight for each element")
    return Tensor(X.dtype, shape)


@openvino(
    "DeformableConvolution",
    until=7,
    absent={**ABSENT_LISTS, "group": 0, "deformable_group": 0},
    fills_in=True,
    refused_without={"group": 1, "deformable_group": 1},
    compiles=without_negatives("strides", known_from=2),
    macs=("windowed", "filters"),
)
def ov_deformable_convolution_1(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
    group: int,
    deformable_group: int,
) -> Tensor:
    """OpenVINO DeformableConvolution-1."""
    tensors = (data, offsets, filters, None)
    return _ov_deformed(tensors, window, dilations=dilations, group=group, deformable_group=deformable_group)


@openvino(
    "DeformableConvolution",
    since=8,
    absent={**ABSENT_LISTS, "group": 0, "deformable_group": 0},
    fills_in=True,
    refused_without={"group": 1, "deformable_group": 1},
    compiles=without_negatives("strides", known_from=2),
    macs=("windowed", "filters"),
)
def ov_deformable_convolution_8(
    data: Tensor,
    offsets: Tensor,
    filters: Tensor,
    mask: Tensor | None = None,
    *,
    window: OpenvinoWindow,
    dilations: Ints,
    group: int,
    deformable_group: int,
    bilinear_interpolation_pad: bool = False,
) -> Tensor:
    """OpenVINO DeformableConvolution-8, which adds the mask."""
    expect_type(mask, 3, ARITHMETIC)
    tensors = (data, offsets, filters, mask)
    return _ov_deformed(tensors, window, dilations=dilations, group=group, deformable_group=deformable_group)


def _ov_deformed(
    tensors: tuple[Tensor, Tensor, Tensor, Tensor | None],
    window: OpenvinoWindow,
    *,
    dilations: Ints,
    group: int,
    deformable_group: int,
) -> Tensor:
    """The result. ``tensors`` are (data, offsets, filters, mask or None)."""
    data, offsets, filters, mask = tensors
    expect_type(data, 0, ARITHMETIC)
    dtype = common_type((data, offsets, filters))
    x, w = data.shape, filters.shape
    for index, tensor in enumerate(tensors):
        expect_axes(None if tensor is None else tensor.shape, 4, index, axes="two of them spatial")
    expect_groups(group, dim_of(x, 1), "input channels", index=0, axis=1)
    expect_groups(group, dim_of(w, 0), "output channels", index=2, axis=0)
    expect_groups(deformable_group, dim_of(offsets.shape, 1), "offsets", index=1, axis=1, name="deformable_group")
    text = f" ({dim_of(w, 1)} for each of {group} groups)"
    expect_channels(x, w, product((dim_of(w, 1), group)), weights=2, text=text)
    sizes = ov_convolved(x, w, window, dilations=dilations, weights=2)
    if sizes is None:
        if offsets.shape is None:
            return Tensor(dtype)
        sizes = (None, None)
    elements = None if w is None else product((*w[2:], deformable_group))
    batch = dim_of(x, 0)
    expect_shape(
        offsets,
        1,
        "offsets",
        wanted=(batch, product((elements, 2)), *sizes),
        why="two numbers for each element of the kernel",
    )
    sizes = tuple(narrower(size, dim_of(offsets.shape, axis)) for axis, size in enumerate(sizes, 2))
    expect_shape(mask, 3, "mask", wanted=(batch, elements, *sizes), why="one weight for each element of the kernel")
    return Tensor(dtype, arranged(narrower(batch, dim_of(offsets.shape, 0)), dim_of(w, 0), sizes))
