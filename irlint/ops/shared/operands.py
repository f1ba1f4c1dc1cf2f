"""Checks of the shapes of the inputs of a convolution or pooling."""

from __future__ import annotations

from irlint.dims import Shape, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import agree
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor, shape_text

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
    fix="Give the input the shape in the message.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,2,2] x, int64[1,1,2,3] i) => (float[1,1,4,4] y) {
  y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,1,2,2] x, int64[1,1,2,2] i) => (float[1,1,4,4] y) {
  y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i)
}""",
)


def expect_axes(shape: Shape | None, rank: int, index: int, *, axes: str) -> None:
    """Checks that input ``index`` has ``rank`` axes, which ``axes`` describes. Raises a ``RANK_MISMATCH`` fault."""
    if shape is None or len(shape) == rank:
        return
    raise RANK_MISMATCH.fault(
        f"input {index} has {counted(len(shape), 'axis', 'axes')}; expected {rank}, {axes}",
        help=f"give input {index} {counted(rank, 'axis', 'axes')}",
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
