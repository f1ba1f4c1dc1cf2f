"""Checks of the shapes of operands: of a matrix product, a convolution or a pooling."""

from __future__ import annotations

from irlint.dims import Shape, same
from irlint.findings.faults import Refusal, Rule, Severity
from irlint.findings.statements import agree
from irlint.findings.wording import axes_help, counted
from irlint.model.tensor import Tensor, shape_text

MATMUL_MISMATCH = Rule(
    "IRL320",
    "matmul-inner-mismatch",
    Severity.ERROR,
    "The two axes that a matrix product sums over have different sizes.",
    why=(
        "A product of [M, K] and [K, N] multiplies each row of the first matrix with each column of the second. If "
        "the two Ks differ, no runtime can compute it."
    ),
    fix=(
        "Make both Ks equal. Often one operand is transposed: set transA/transB (Gemm) or transpose_a/transpose_b "
        "(OpenVINO)."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,768] x, float[512,768] w) => (float[2,512] y) { y = MatMul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,768] x, float[768,512] w) => (float[2,512] y) { y = MatMul (x, w) }""",
    refused=(
        Refusal("onnxruntime", ("dead if sized", "as declared")),
        Refusal("openvino_frontend", ("dead if sized",)),
        Refusal("tensorrt_rtx", ("dead if sized",)),
    ),
)

OPERAND_SHAPE = Rule(
    "IRL321",
    "matmul-operand-shape",
    Severity.ERROR,
    "An operand or parameter of a matrix product has an invalid shape.",
    why=(
        "Gemm needs matrices with two axes, and MatMul accepts no scalars. Scales, zero points and biases need one "
        "element, or one element for each row or column. The size of packed weights follows from the attributes."
    ),
    fix="Reshape the operand as the message says. For more than two axes, use MatMul instead of Gemm.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = Gemm (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3,4] x, float[4,5] w) => (float[2,3,5] y) { y = MatMul (x, w) }""",
)


RANK_MISMATCH = Rule(
    "IRL314",
    "window-rank-mismatch",
    Severity.ERROR,
    "The input, the weights and the attributes of a window have different numbers of spatial axes.",
    why=(
        "A convolution or pooling over n spatial axes needs n + 2 axes in its input and its weights, and n entries "
        "in `strides`, `dilations` and the kernel. ONNX `pads` has 2n entries: all beginnings first, then all ends. "
        "Runtimes refuse anything else when they load the model."
    ),
    fix=(
        "Give every attribute one entry for each spatial axis of the input. The input also needs a batch axis and a "
        "channel axis."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,6,6] y) { y = MaxPool <kernel_shape = [3, 3], strides = [1]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,6,6] y) { y = MaxPool <kernel_shape = [3, 3], strides = [1, 1]> (x) }""",
)

OPERAND_MISMATCH = Rule(
    "IRL315",
    "window-operand-mismatch",
    Severity.ERROR,
    "An additional input of a convolution or pooling does not fit the other inputs.",
    why=(
        "Scales and zero points have one element, or one per output channel. Offsets, masks and indices have an "
        "entry for each window. A shape input has one entry per axis. Runtimes refuse anything else, most of them "
        "only at the node."
    ),
    fix="Give the input the shape in the message, or correct the weights and attributes from which the shape follows.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,2,2] x, int64[1,1,2,3] i) => (float[1,1,4,4] y) {
  y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,2,2] x, int64[1,1,2,2] i) => (float[1,1,4,4] y) {
  y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i)
}""",
)


def expect_axes(shape: Shape | None, rank: int, index: int, *, axes: str, extra: int | None = None) -> None:
    """Checks that input ``index`` has ``rank`` axes; ``axes`` ends the message. Raises a ``RANK_MISMATCH`` fault.

    ``extra`` is the difference of ``rank`` and the rank of input 0, unless this rank is not the reason for ``rank``.
    """
    if shape is None or len(shape) == rank:
        return
    fitting = len(shape) - (extra or 0)
    raise RANK_MISMATCH.fault(
        f"input {index} has {counted(len(shape), 'axis', 'axes')}; expected {rank}, {axes}",
        help=axes_help(index, rank, 0, rank_of_other=0 if extra is None or fitting < 3 else fitting),
        input=index,
    )


def expect_spatial_rank(shape: Shape | None, highest: int | None = None) -> None:
    """Checks that input 0 has from 3 to ``highest`` axes. Raises a ``RANK_MISMATCH`` fault."""
    if shape is None or (len(shape) >= 3 and (highest is None or len(shape) <= highest)):
        return
    allowed = "at least 3" if highest is None else f"3 to {highest}"
    raise RANK_MISMATCH.fault(
        f"input 0 has {counted(len(shape), 'axis', 'axes')}; expected {allowed}: batch, channels and spatial axes",
        help="give input 0 a batch axis, a channel axis and one to three spatial axes",
        input=0,
    )


def expect_shape(tensor: Tensor | None, index: int, name: str, *, wanted: Shape, why: str = "") -> None:
    """Checks that an input has the shape ``wanted``; ``why`` is the reason. Raises an ``OPERAND_MISMATCH`` fault."""
    if tensor is None or tensor.shape is None:
        return
    shape = tensor.shape
    axes: list[int] = []
    if len(shape) == len(wanted):
        reason = f"axis {{}} of input {index} ({name}) follows from the other inputs"
        axes = [i for i, (a, b) in enumerate(zip(shape, wanted)) if not agree(a, b, reason.format(i))]
        if not axes:
            return
    places = "; ".join(f"axis {i} is {shape[i]} and not {wanted[i]}" for i in axes)
    raise OPERAND_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(shape)}; expected {shape_text(wanted)}"
        + (f": {places}" if places else "")
        + (f" ({why})" if why else ""),
        help=f"give input {index} the shape {shape_text(wanted)}",
        input=index,
        marks=tuple((index, i) for i in axes),
        remark=f"expected {shape_text(wanted)}",
    )


def expect_single(tensor: Tensor | None, index: int, name: str) -> None:
    """Checks that an input is a scalar or a list of one element. Raises an ``OPERAND_MISMATCH`` fault."""
    if tensor is None or tensor.shape is None or not tensor.shape:
        return
    if len(tensor.shape) == 1 and same(tensor.shape[0], 1) is not False:
        return
    raise OPERAND_MISMATCH.fault(
        f"input {index} ({name}) is {shape_text(tensor.shape)}; expected a scalar, or a list of one element",
        help=f"give input {index} the shape []",
        input=index,
    )
