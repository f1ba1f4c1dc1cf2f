"""Checks of the filters of convolutions, and the shapes of their outputs."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, Shape, product, quotient, same
from irlint.findings.faults import Rule, Severity
from irlint.findings.statements import agree, divides
from irlint.findings.wording import counted, multiple_help, that_divides
from irlint.model.tensor import Tensor, shape_text
from irlint.ops.shared.attributes import expect_range
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.operands import RANK_MISMATCH, expect_axes, expect_spatial_rank
from irlint.ops.shared.sizes import dim_of, narrower
from irlint.ops.shared.windows import (
    OnnxWindow,
    OpenvinoWindow,
    arranged,
    channel_axis,
    expect_no_dilated_same,
    expect_one_padding,
    onnx_window,
    openvino_window,
    per_axis,
    window_sizes,
)

#: The values that the library uses if an OpenVINO convolution omits these lists.
ABSENT_LISTS: dict[str, object] = {"strides": (), "pads_begin": (), "pads_end": (), "dilations": ()}

CHANNELS_MISMATCH = Rule(
    "IRL310",
    "conv-channels-mismatch",
    Severity.ERROR,
    "The number of input channels does not match the weights.",
    why=(
        "The weights of a convolution determine the number of input channels: axis 1 of W times `group` in ONNX, "
        "axis 1 of the filters in OpenVINO (axes 0 and 2 if grouped), and axis 0 of the weights of a transposed "
        "convolution. ONNX Runtime refuses another number at the node, and OpenVINO when it loads the model."
    ),
    fix=(
        "Pass a tensor with that number of channels, or use the matching weights. Often the order of the axes is "
        "wrong: [N, H, W, C] instead of [N, C, H, W]."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv (x, w) }""",
)

GROUPS_MISMATCH = Rule(
    "IRL311",
    "conv-groups-mismatch",
    Severity.ERROR,
    "The channels cannot be divided into the groups of the convolution.",
    why=(
        "Each group uses an equal share of the input channels and computes an equal share of the output channels. So "
        "`group` must be at least 1 and must divide both numbers. Runtimes refuse any other node; some divide by "
        "zero."
    ),
    fix=(
        "Set `group` to a number that divides the input and the output channels, or use weights for these groups. An "
        "ordinary convolution has 1."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,8,8] x, float[7,3,3,3] w) => (float[1,7,6,6] y) { y = Conv <group = 2> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,6,8,8] x, float[8,3,3,3] w) => (float[1,8,6,6] y) { y = Conv <group = 2> (x, w) }""",
)

BIAS_MISMATCH = Rule(
    "IRL312",
    "conv-bias-mismatch",
    Severity.ERROR,
    "The bias of a convolution does not have exactly one element for each output channel.",
    why=(
        "The bias is added to the output channels without broadcasting: it has one axis, with one element for each "
        "output channel. ONNX Runtime refuses any other bias at the node."
    ),
    fix="Give the bias one axis with an element for each output channel, or remove the bias and use an Add node.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w, float[1] b) => (float[1,16,6,6] y) { y = Conv (x, w, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w, float[16] b) => (float[1,16,6,6] y) { y = Conv (x, w, b) }""",
)

KERNEL_SHAPE_MISMATCH = Rule(
    "IRL313",
    "kernel-shape-mismatch",
    Severity.ERROR,
    "The attribute `kernel_shape` differs from the shape of the kernel in the weights.",
    why=(
        "The shape of the weights determines the sizes of the kernel, and `kernel_shape` can only repeat them. If "
        "they differ, ONNX Runtime refuses the node when it reaches it."
    ),
    fix="Remove `kernel_shape`, or write the spatial sizes of the weights.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,4,4] y) { y = Conv <kernel_shape = [5, 5]> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[16,3,3,3] w) => (float[1,16,6,6] y) { y = Conv <kernel_shape = [3, 3]> (x, w) }""",
)


def expect_channels(
    x: Shape | None, w: Shape | None, wanted: MaybeDim, *, first: int = 2, weights: int = 1, text: str = ""
) -> None:
    """Checks that input 0 has the number of channels that the weights require. Raises a ``CHANNELS_MISMATCH`` fault.

    ``first`` is the first spatial axis, and ``weights`` is the index of the input with the weights. ``text`` follows
    the required number in the message.
    """
    if x is None or w is None:
        return
    axis = channel_axis(len(x), first)
    if agree(x[axis], wanted, f"axis {axis} of input 0 has the channels that input {weights} needs"):
        return
    elsewhere = [other for other, dim in enumerate(x) if other not in (0, axis) and same(dim, wanted)]
    elsewhere = elsewhere if len(elsewhere) == 1 else []
    hint = f"axis {elsewhere[0]} is {wanted}: transpose input 0" if elsewhere else f"pass {wanted} channels"
    raise CHANNELS_MISMATCH.fault(
        f"{counted(x[axis], 'channel')} {'arrives' if x[axis] == 1 else 'arrive'} (axis {axis} of input 0), but the "
        f"weights{f' (input {weights})' * (weights != 1)} need {wanted}{text}",
        help=f"{hint}, or use weights for {x[axis]}",
        input=0,
        marks=((0, axis),),
        aligned="left",
        remark=f"the weights need {wanted}",
    )


def expect_groups(group: int, dim: MaybeDim, what: str, *, index: int, axis: int, name: str = "group") -> None:
    """Checks that ``group`` is at least 1 and divides the size ``dim`` of an axis. Raises a ``GROUPS_MISMATCH`` fault.

    In the message, ``what`` names what the axis counts, and ``name`` is the name of ``group``.
    """
    if group < 1:
        raise GROUPS_MISMATCH.fault(
            f"`{name}` is {group}; it has to be at least 1", help=f"write 1 for `{name}`, or more", attribute=name
        )
    if not divides(group, dim, f"axis {axis} of input {index} is divided into {group} groups"):
        raise GROUPS_MISMATCH.fault(
            f"the {dim} {what} (axis {axis} of input {index}) are not a multiple of `{name}`, {group}",
            help=f"use a `{name}` {that_divides(dim, group)}, or {multiple_help(axis, group, index)}",
            input=index,
            marks=((index, axis),),
            aligned="left",
            remark=f"not a multiple of {group}",
        )


def weights_help(channels: MaybeDim) -> str:
    """``use weights with 24 output channels``."""
    return f"use weights with {counted(channels, 'output channel')}"


def expect_bias(bias: Tensor | None, channels: MaybeDim, index: int) -> None:
    """Checks that a bias is a list of ``channels`` elements. Raises a ``BIAS_MISMATCH`` fault."""
    if bias is None or bias.shape is None:
        return
    if len(bias.shape) == 1 and agree(bias.shape[0], channels, f"input {index} has one element per output channel"):
        return
    wanted = "?" if channels is None else channels
    raise BIAS_MISMATCH.fault(
        f"input {index} (the bias) is {shape_text(bias.shape)}; expected [{wanted}], an element for each of the "
        "output channels",
        help=f"give input {index} the shape [{wanted}]"
        + (f", or {weights_help(bias.shape[0])}" if len(bias.shape) == 1 else ""),
        input=index,
    )


def kernel_of(w: Shape | None, count: int, kernel_shape: Ints | None, *, weights: int = 1) -> Shape:
    """``kernel_shape`` or, if it is None, the ``count`` spatial sizes of ONNX weights.

    Raises a ``KERNEL_SHAPE_MISMATCH`` fault if the two differ, or the fault of ``per_axis``.
    """
    from_weights: Shape = (None,) * count if w is None else w[2:]
    if kernel_shape is None:
        return from_weights
    kernel_shape = per_axis(kernel_shape, count, "kernel_shape")
    for position, (written, dim) in enumerate(zip(kernel_shape, from_weights)):
        if not agree(dim, written, f"axis {position + 2} of input {weights} is entry {position} of kernel_shape"):
            raise KERNEL_SHAPE_MISMATCH.fault(
                f"axis {position + 2} of input {weights} is {dim}, but entry {position} of `kernel_shape` is {written}",
                help=f"use weights with the window {shape_text(kernel_shape)}, or remove `kernel_shape`",
                input=weights,
                marks=((weights, position + 2),),
                remark=f"`kernel_shape` is {written}",
            )
    return kernel_shape


def spatial_count(x: Shape | None, w: Shape | None, lists: Sequence[Ints | None], *, weights: int = 1) -> int | None:
    """The number of spatial axes of an ONNX convolution, from the input, the weights or ``lists``; None if unknown.

    Raises a ``RANK_MISMATCH`` fault.
    """
    expect_spatial_rank(x)
    if x is not None:
        expect_axes(w, len(x), weights, axes="as many as input 0 has", extra=0)
    elif w is not None and len(w) < 3:
        raise RANK_MISMATCH.fault(
            f"input {weights} has {counted(len(w), 'axis', 'axes')}; expected at least 3, two for channels",
            help=f"give input {weights} two channel axes and the spatial ones",
            input=weights,
        )
    known = x if x is not None else w
    if known is not None:
        return len(known) - 2
    return next((len(values) for values in lists if values), None)


def convolved(
    x: Shape | None,
    w: Shape | None,
    window: OnnxWindow,
    *,
    group: int = 1,
    kernel_shape: Ints | None = None,
    first: int = 2,
    weights: int = 1,
    blocked: bool = False,
    lenient: bool = False,
) -> Shape | None:
    """The output shape of an ONNX convolution with weights [M, C / group, k1, …]; None if the rank is unknown.

    ``first`` is the first spatial axis of input 0, and ``weights`` is the index of the input with the weights.
    ``blocked``: channels and groups are not checked. See ``window_sizes`` for ``lenient``. Raises faults of filters and
    windows.
    """
    count = spatial_count(x, w, (kernel_shape, window.strides, window.dilations), weights=weights)
    batch = x[0] if x is not None else None
    channels, wanted = w[:2] if w is not None else (None, None)
    expect_one_padding(window)
    if count is None:
        return None
    kernel = kernel_of(w, count, kernel_shape, weights=weights)
    placed = onnx_window(window, count, kernel, first=first)
    expect_no_dilated_same(placed)
    text = ""
    if group != 1 and not blocked:
        expect_groups(group, channels, "output channels", index=weights, axis=0)
        text = f" ({wanted} for each of {group} groups)"
        wanted = product((wanted, group))
    if not blocked:
        expect_channels(x, w, wanted, first=first, weights=weights, text=text)
    sizes = window_sizes(x, placed, count, lenient=lenient)
    return arranged(batch, channels, sizes, first=first)


def ov_spatial_count(
    x: Shape | None, w: Shape | None, lists: Sequence[Ints], *, weights: int = 1, extra: int = 0
) -> int | None:
    """The number of spatial axes of an OpenVINO convolution, from the data, the filters or ``lists``; None if unknown.

    Filters have ``extra`` more axes than the data. Raises a ``RANK_MISMATCH`` fault.
    """
    expect_spatial_rank(x, highest=5)
    if x is not None:
        axes = f"{extra} more than input 0 has" if extra else "as many as input 0 has"
        expect_axes(w, len(x) + extra, weights, axes=axes, extra=extra)
        return len(x) - 2
    if w is not None:
        expect_spatial_rank(w[extra:])
        return len(w) - 2 - extra
    return next((len(values) for values in lists if values), None)


def ov_kernel(w: Shape | None, count: int) -> tuple[Shape, bool]:
    """(Spatial sizes of filters, whether no size is 0). A size of 0 is reported as a warning."""
    kernel: Shape = (None,) * count if w is None else w[len(w) - count :]
    return kernel, expect_range(kernel, 1, "filters", severity=Severity.WARNING)


def ov_convolved(
    x: Shape | None, w: Shape | None, window: OpenvinoWindow, *, dilations: Ints, weights: int = 1, extra: int = 0
) -> Shape | None:
    """The spatial output sizes of an OpenVINO convolution; None if the rank is unknown."""
    lists = (window.strides, dilations, window.pads_begin, window.pads_end)
    count = ov_spatial_count(x, w, lists, weights=weights, extra=extra)
    if count is None:
        return None
    kernel, sound = ov_kernel(w, count)
    placed = openvino_window(window, count, kernel, dilations=dilations)
    return window_sizes(x, placed if sound else None, count)


def group_count(x: Shape | None, w: Shape | None, axis: int) -> MaybeDim:
    """The number of groups of an OpenVINO convolution with filters [G, …].

    The size of ``axis`` of the filters is the number of input channels in a group.

    Raises a ``CHANNELS_MISMATCH`` or ``GROUPS_MISMATCH`` fault.
    """
    if x is None or w is None:
        return dim_of(w, 0)
    wanted = product((w[0], w[axis]))
    expect_channels(x, w, wanted, text=f" ({w[axis]} for each of {w[0]} groups)")
    part = w[axis]
    if isinstance(w[0], int) or x[1] is None or part is None:
        return w[0]
    if isinstance(part, int) and part:
        expect_groups(part, x[1], "input channels", index=0, axis=1, name="channels of a group")
    return narrower(w[0], quotient(x[1], part))
