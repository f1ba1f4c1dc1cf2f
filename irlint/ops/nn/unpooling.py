"""MaxUnpool and Col2Im of ONNX."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, product, quotient
from irlint.findings.statements import agree, divides, reaches
from irlint.findings.wording import counted
from irlint.model.tensor import CONTENTS_LIMIT, Tensor, shape_text
from irlint.ops import onnx
from irlint.ops.shared.attributes import expect_range
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.operands import OPERAND_MISMATCH, expect_axes, expect_shape, expect_spatial_rank
from irlint.ops.shared.windows import (
    WINDOW_EXCEEDS_INPUT,
    OnnxWindow,
    Window,
    expect_pads_below_kernel,
    onnx_window,
    per_axis,
    transposed_sizes,
    window_count,
)


@onnx("MaxUnpool", since=9, may_be_external={"output_shape": None})
def max_unpool(
    X: Tensor,
    I: Tensor,  # noqa: E741
    output_shape: Tensor | None = None,
    *,
    kernel_shape: Ints,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX MaxUnpool."""
    x = X.shape
    expect_spatial_rank(x)
    if x is not None:
        expect_shape(I, 1, "I", wanted=x, why="one index for each element of input 0")
    count = len(kernel_shape) if x is None else len(x) - 2
    kernel = per_axis(kernel_shape, count, "kernel_shape")
    window = onnx_window(OnnxWindow(strides=strides, pads=pads), count, kernel)
    expect_pads_below_kernel(window)
    sizes = None if output_shape is None else output_shape.ints
    if output_shape is not None:
        expect_shape(output_shape, 2, "output_shape", wanted=(count + 2,), why="an entry for each axis of input 0")
    if output_shape is None or x is None:
        return Tensor(
            X.dtype, None if x is None else (*x[:2], *transposed_sizes(x, window, count, output_padding=(0,) * count))
        )
    if sizes is None:
        return Tensor(X.dtype, (*x[:2], *[None] * count))
    _check_output_shape(x, sizes, window)
    return Tensor(X.dtype, sizes)


def _check_output_shape(x: Shape, sizes: Shape, window: Window) -> None:
    """Checks that ``sizes`` has the batch and the channels of ``x``, and that all windows fit into its spatial axes."""
    covered = transposed_sizes(x, window, len(x) - 2, output_padding=(0,) * (len(x) - 2))
    for axis, dim in enumerate(sizes):
        why = f"axis {axis} of the output is entry {axis} of input 2"
        wanted = x[axis] if axis < 2 else covered[axis - 2]
        if agree(dim, wanted, why) if axis < 2 else reaches(dim, wanted, why):
            continue
        raise OPERAND_MISMATCH.fault(
            f"input 2 (output_shape) is {shape_text(sizes)}: entry {axis} is {dim}, expected "
            f"{'' if axis < 2 else 'at least '}{wanted}",
            help=f"write {wanted} for entry {axis}",
            input=2,
        )


@onnx("Col2Im", since=18)
def col2im(
    input: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    *,
    dilations: Ints | None = None,
    pads: Ints | None = None,
    strides: Ints | None = None,
) -> Tensor:
    """ONNX Col2Im-18: [N, C, *image_shape] from [N, C * product(block_shape), blocks]."""
    x = input.shape
    expect_axes(x, 3, 0, axes="batch, channels times the elements of a block, and blocks")
    count = _spatial_count(image_shape, block_shape, strides, dilations)
    if count is None:
        return Tensor(input.dtype)
    expect_shape(image_shape, 1, "image_shape", wanted=(count,), why="an entry for each spatial axis")
    expect_shape(block_shape, 2, "block_shape", wanted=(count,), why="an entry for each spatial axis")
    image: Shape = image_shape.ints or (None,) * count
    block: Shape = block_shape.ints or (None,) * count
    expect_range(image, 1, "image_shape")
    expect_range(block, 1, "block_shape")
    window = onnx_window(OnnxWindow(strides=strides, dilations=dilations, pads=pads), count, block)
    if x is None:
        return Tensor(input.dtype, (None, None, *image))
    _expect_blocks(x, _block_count(image, window))
    return Tensor(input.dtype, (x[0], _image_channels(x, product(block)), *image))


def _spatial_count(image_shape: Tensor, block_shape: Tensor, *lists: Ints | None) -> int | None:
    """The number of spatial axes; None if it is unknown or too large."""
    lengths = [x.shape[0] for x in (image_shape, block_shape) if x.shape is not None and len(x.shape) == 1]
    known = [length for length in lengths if isinstance(length, int)] + [len(values) for values in lists if values]
    return known[0] if known and known[0] <= CONTENTS_LIMIT else None


def _block_count(image: Shape, window: Window) -> MaybeDim:
    counts: list[MaybeDim] = []
    for position, size in enumerate(image):
        span, begin, end = window.spans[position], window.begin[position], window.end[position]
        if size is None or span is None:
            return None
        if not reaches(size, span - begin - end, f"a block spans {span} on axis {position} of the image"):
            raise WINDOW_EXCEEDS_INPUT.fault(
                f"axis {position} of the image is {size}, {size + begin + end} with its padding, and a block spans "
                f"{span}",
                help="use a smaller block or dilation, or pad more",
                input=1,
            )
        counts.append(window_count(size, span, window.strides[position], begin=begin, end=end))
    return product(counts)


def _expect_blocks(x: Shape, blocks: MaybeDim) -> None:
    if agree(x[2], blocks, "axis 2 of input 0 has one entry for each block of the image"):
        return
    raise OPERAND_MISMATCH.fault(
        f"input 0 is {shape_text(x)} with {x[2]} blocks on axis 2, and the image has {blocks}",
        help=f"give axis 2 the size {blocks}, or correct image_shape, block_shape, strides, pads or dilations",
        input=0,
        marks=((0, 2),),
        aligned="left",
        remark=f"the image has {blocks} blocks",
    )


def _image_channels(x: Shape, elements: MaybeDim) -> MaybeDim:
    if x[1] is None or elements is None:
        return None
    if isinstance(elements, int) and not divides(
        elements, x[1], f"axis 1 of input 0 is divided into blocks of {counted(elements, 'element')}"
    ):
        raise OPERAND_MISMATCH.fault(
            f"input 0 is {shape_text(x)}: axis 1 is {x[1]}, not a multiple of the {counted(elements, 'element')} of a "
            "block",
            help=f"give axis 1 a multiple of {elements}, or correct block_shape",
            input=0,
            marks=((0, 1),),
            aligned="left",
            remark=f"not a multiple of {elements}",
        )
    exact = quotient(x[1], elements)
    return exact if exact is not None or not isinstance(elements, int) else x[1] // elements
