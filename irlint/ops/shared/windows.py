"""The sliding windows of convolution and pooling: checks of attributes, and output sizes."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import Dim, MaybeDim, Shape, at_least, bounds, floordiv, largest, same, smallest
from irlint.dims.polynomials import lone_atom
from irlint.findings.faults import Fault, Refusal, Rule, Severity
from irlint.findings.statements import reaches, wants_arithmetic, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.ops.shared.attributes import expect_range
from irlint.ops.shared.axes import Ints
from irlint.ops.shared.operands import RANK_MISMATCH
from irlint.ops.signatures import TOGETHER, UNLIKELY, group, with_roles
from irlint.records import record

#: ONNX Runtime reads the empty text as NOTSET.
AutoPad = Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""]
PadType = Literal["explicit", "same_upper", "same_lower", "valid"]
Rounding = Literal["floor", "ceil", "ceil_torch"]

WINDOW_EXCEEDS_INPUT = Rule(
    "IRL316",
    "window-exceeds-input",
    Severity.ERROR,
    "The window is larger than the padded input.",
    why=(
        "The output would have no element, or a negative number of elements, on that axis. OpenVINO refuses the "
        "model when it loads it. ONNX Runtime refuses a convolution at the node. Its poolings return an empty "
        "output, or use a window that exceeds the input; for these, irlint warns."
    ),
    fix=(
        "Use a smaller kernel or dilation, more padding, or a larger input. If only an inner size is too small, the "
        "model needs larger inputs."
    ),
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,5,5] x, float[8,3,7,7] w) => (float[1,8,1,1] y) { y = Conv (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,5,5] x, float[8,3,7,7] w) => (float[1,8,3,3] y) { y = Conv <pads = [2, 2, 2, 2]> (x, w) }""",
)

AUTO_PAD_CONFLICT = Rule(
    "IRL317",
    "auto-pad-conflict",
    Severity.ERROR,
    "`auto_pad` and `pads` are both given.",
    why=(
        "ONNX forbids both attributes together. ONNX Runtime refuses such a convolution when it loads the model. For "
        "a pooling, ONNX Runtime uses `auto_pad`, but ONNX shape inference uses `pads`; then irlint warns, except for "
        "VALID with pads of 0."
    ),
    fix="Keep one of them: `pads`, or `auto_pad` if the padding has to depend on the size of the input.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) {
  y = Conv <auto_pad = "SAME_UPPER", pads = [1, 1, 1, 1]> (x, w)
}""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,8,8] y) { y = Conv <pads = [1, 1, 1, 1]> (x, w) }""",
    refused=(Refusal("onnxruntime", ("dead",)),),
)

PADDING_NOT_PORTABLE = Rule(
    "IRL318",
    "padding-not-portable",
    Severity.WARNING,
    "The specification allows this padding, but ONNX Runtime does not support it.",
    why=(
        'By the ONNX specification, `pads` "can take any value greater than or equal to 0", and `auto_pad` works '
        'with dilations. ONNX Runtime refuses a pooling whose pads are not smaller than the kernel ("Pad should be '
        'smaller than kernel."). It refuses a convolution with SAME padding and dilations ("Dilation not supported '
        'for AutoPadType::SAME_UPPER or AutoPadType::SAME_LOWER."). For a pooling with SAME padding and dilations, its '
        "output size differs from the specification."
    ),
    fix="Insert a Pad node before the pooling, or write the padding of a dilated window as `pads`.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,11,11] y) { y = MaxPool <kernel_shape = [2, 2], pads = [2, 2, 2, 2]> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,3,9,9] y) { y = MaxPool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x) }""",
)

# --- sizes of one axis ------------------------------------------------------------------------------------------------


def spans_of(kernel: Shape, dilations: Sequence[int]) -> Shape:
    """The numbers of elements that a window spans: dilation * (kernel - 1) + 1."""
    return tuple(None if size is None else (size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations))


def window_count(size: Dim, span: Dim, stride: int, *, begin: int, end: int, rounding: Rounding = "floor") -> MaybeDim:
    """The number of windows of ``span`` elements on an axis with the padding ``begin`` and ``end``.

    ``ceil`` also counts a last window that reaches past the end of the axis; ``ceil_torch`` counts this window only if
    it begins before the end padding. Sources: ONNX MaxPool-22, AveragePool-22; OpenVINO MaxPool-14, AvgPool-14.
    """
    if rounding == "floor":
        return floor_of(size + (begin + end + stride - span), stride)
    room = size + (begin + end - span)
    if rounding == "ceil":
        return ceiling_of(room + stride, stride)
    if isinstance(span, int) and end >= span:
        return ceiling_of(room, stride)
    if isinstance(span, int):
        return ceiling_of(size + begin + min(end + stride - span, 0), stride)
    return smallest(ceiling_of(room + stride, stride), ceiling_of(size + begin, stride))


def same_count(size: Dim, span: MaybeDim, stride: int, *, rounding: Rounding = "floor") -> MaybeDim:
    """The number of windows with SAME padding: ceil(size / stride); None if it depends on an unknown ``span``.

    With ``ceil``, a window that is shorter than the stride may give one window more.
    """
    count = ceiling_of(size, stride)
    if rounding != "ceil" or (span is not None and at_least(span, stride)):
        return count
    return None if span is None else largest(count, ceiling_of(size - span + stride, stride))


def floor_of(a: Dim, divisor: int) -> MaybeDim:
    """The floor of a / divisor. If ``a`` is a maximum, divides each of its parts, so that quotients are simplified."""
    if isinstance(a, int):
        return a // divisor
    first, *others = (floordiv(part, divisor) for part in parts_of_largest(a))
    return largest(first, *others) if others else first


def ceiling_of(a: Dim, divisor: int) -> MaybeDim:
    """The ceiling of a / divisor, computed by ``floor_of``."""
    return floor_of(a + divisor - 1, divisor)


def parts_of_largest(a: Dim) -> tuple[Dim, ...]:
    """The sizes whose maximum is ``a``; (``a``,) if ``a`` is not a maximum, or if no part has an upper bound."""
    found = lone_atom(a, "max")
    if found is None or all(bounds(part)[1] is None for part in found[0].parts):
        return (a,)
    return tuple(part + found[1] for part in found[0].parts)


def transposed_size(size: Dim, span: Dim, stride: int, *, added: int) -> Dim:
    """The size of an axis with ``size`` windows of ``span`` elements, plus ``added`` elements."""
    return (size - 1) * stride + span + added


# --- layouts ----------------------------------------------------------------------------------------------------------


def spatial(shape: Shape, first: int) -> Shape:
    """The spatial sizes of a shape; ``first`` is the first spatial axis: 2, or 1 if the channels are last."""
    return shape[2:] if first == 2 else shape[1:-1]


def channel_axis(rank: int, first: int) -> int:
    """The axis of the channels; ``first`` is the first spatial axis."""
    return 1 if first == 2 else rank - 1


def arranged(batch: MaybeDim, channels: MaybeDim, sizes: Sequence[MaybeDim], *, first: int = 2) -> Shape:
    """The shape with these sizes; ``first`` is the first spatial axis."""
    return (batch, channels, *sizes) if first == 2 else (batch, *sizes, channels)


# --- attributes -------------------------------------------------------------------------------------------------------


@with_roles(dilations=UNLIKELY)
@group
@record
class OnnxWindow:
    """The attributes of windows that ONNX convolutions and poolings share."""

    auto_pad: AutoPad = "NOTSET"
    dilations: Ints | None = None
    pads: Ints | None = None
    strides: Ints | None = None


@with_roles(dilations=UNLIKELY, pads_begin=TOGETHER, pads_end=TOGETHER)
@group
@record
class OpenvinoWindow:
    """The attributes of windows that OpenVINO convolutions and poolings share."""

    strides: Ints
    pads_begin: Ints
    pads_end: Ints
    auto_pad: PadType = "explicit"


@record
class Window:
    """A window, with one entry in each list for each spatial axis."""

    kernel: Shape
    #: The number of elements that the window spans.
    spans: Shape
    strides: Ints
    dilations: Ints
    #: The padding before the data.
    begin: Ints
    #: The padding after the data.
    end: Ints
    #: SAME padding, which follows from the size of the input; ``begin`` and ``end`` are 0.
    same: bool = False
    rounding: Rounding = "floor"
    #: The first spatial axis.
    first: int = 2
    auto_pad: str = ""

    def described(self, position: int) -> str:
        """The text of a message: ``the kernel is 7 on axis 2``."""
        axis, kernel, dilation = self.first + position, self.kernel[position], self.dilations[position]
        if dilation == 1:
            return f"the kernel is {kernel} on axis {axis}"
        return f"the window spans {self.spans[position]} on axis {axis} (kernel {kernel}, dilation {dilation})"


def per_axis(given: Ints | None, count: int, name: str, *, default: int = 1, times: int = 1) -> Ints:
    """An attribute with ``times`` entries for each of ``count`` spatial axes; if it is None, ``default`` everywhere.

    Raises a ``RANK_MISMATCH`` fault.
    """
    if given is None:
        return (default,) * (count * times)
    if len(given) == count * times:
        return given
    each = "one for each" if times == 1 else "two for each (all beginnings, then all ends)"
    raise RANK_MISMATCH.fault(
        f"`{name}` is {list(given)}, {counted(len(given), 'entry', 'entries')} for "
        f"{counted(count, 'spatial axis', 'spatial axes')}: expected {count * times}, {each}",
        help=f"write `{name}` with {counted(count * times, 'entry', 'entries')}",
        attribute=name,
    )


def onnx_window(given: OnnxWindow, count: int, kernel: Shape, *, ceil: bool = False, first: int = 2) -> Window:
    """The window that ONNX attributes describe; ``auto_pad`` takes precedence over ``pads``.

    Raises a ``RANK_MISMATCH`` or ``ATTRIBUTE_OUT_OF_RANGE`` fault.
    """
    strides = per_axis(given.strides, count, "strides", default=1)
    dilations = per_axis(given.dilations, count, "dilations", default=1)
    pads = per_axis(given.pads, count, "pads", default=0, times=2)
    expect_range(strides, 1, "strides")
    expect_range(dilations, 1, "dilations")
    expect_range(pads, 0, "pads")
    expect_range(kernel, 1, "kernel_shape")
    rounding: Rounding = "ceil_torch" if ceil else "floor"
    spans = spans_of(kernel, dilations)
    if given.auto_pad in ("NOTSET", ""):
        return Window(kernel, spans, strides, dilations, pads[:count], pads[count:], rounding=rounding, first=first)
    same, none = given.auto_pad != "VALID", (0,) * count
    return Window(kernel, spans, strides, dilations, none, none, same, rounding, first, given.auto_pad)


def expect_one_padding(given: OnnxWindow, severity: Severity | None = None) -> None:
    """Checks that not both ``auto_pad`` and ``pads`` are present. Raises an ``AUTO_PAD_CONFLICT`` fault.

    With ``severity``, reports the fault at that severity, except for VALID with pads of 0.
    """
    auto_pad, pads = given.auto_pad, given.pads
    if auto_pad in ("NOTSET", "") or pads is None:
        return
    if severity is not None and auto_pad == "VALID" and not any(pads):
        return
    fault = AUTO_PAD_CONFLICT.fault(
        f'auto_pad is "{auto_pad}" and pads is {list(pads)}: ONNX does not allow both',
        help="remove one of them; with `pads`, set auto_pad to NOTSET or remove it",
        attribute="pads",
        severity=severity,
    )
    if severity is None:
        raise fault
    warn(fault)


def expect_no_dilated_same(window: Window) -> None:
    """Reports a ``PADDING_NOT_PORTABLE`` fault for SAME padding with a dilated ONNX window."""
    for position, dilation in enumerate(window.dilations):
        if window.same and dilation > 1 and same(window.kernel[position], 1) is False:
            warn(
                PADDING_NOT_PORTABLE.fault(
                    f"auto_pad is SAME and dilations is {list(window.dilations)}: the specification allows it, but "
                    "ONNX Runtime does not support it",
                    help="write the padding as `pads`",
                    attribute="auto_pad",
                )
            )
            return


def expect_pads_below_kernel(window: Window) -> None:
    """Reports a ``PADDING_NOT_PORTABLE`` fault if pads of an ONNX pooling are not smaller than the kernel."""
    for position, kernel in enumerate(window.kernel):
        pads = (window.begin[position], window.end[position])
        if isinstance(kernel, int) and max(pads) >= kernel:
            warn(
                PADDING_NOT_PORTABLE.fault(
                    f"axis {window.first + position} is padded by {pads[0]} and {pads[1]}, and the kernel is {kernel}: "
                    'the specification allows this, but ONNX Runtime refuses it ("Pad should be smaller than kernel.")',
                    help=f"pad by at most {kernel - 1}, or insert a Pad node",
                    attribute="pads",
                )
            )
            return


def openvino_window(
    given: OpenvinoWindow, count: int, kernel: Shape, *, dilations: Ints = (), rounding: Rounding = "floor"
) -> Window | None:
    """The window that OpenVINO attributes describe; None, with a warning, if a number is negative.

    Raises a ``RANK_MISMATCH`` fault, or an ``ATTRIBUTE_OUT_OF_RANGE`` fault for zeros in ``strides`` and ``dilations``.
    """
    strides = per_axis(given.strides or None, count, "strides", default=1)
    dilations = per_axis(dilations or None, count, "dilations", default=1)
    begin = per_axis(given.pads_begin or None, count, "pads_begin", default=0)
    end = per_axis(given.pads_end or None, count, "pads_end", default=0)
    sound = True
    for name, values in (("strides", strides), ("dilations", dilations)):
        sound &= expect_range(values, 1, name, severity=None if 0 in values else Severity.WARNING)
    if given.auto_pad == "explicit":
        sound &= expect_range(begin, 0, "pads_begin", severity=Severity.WARNING)
        sound &= expect_range(end, 0, "pads_end", severity=Severity.WARNING)
    else:
        begin = end = (0,) * count
    if not sound:
        return None
    same = given.auto_pad.startswith("same")
    spans = spans_of(kernel, dilations)
    return Window(kernel, spans, strides, dilations, begin, end, same, rounding, auto_pad=given.auto_pad.upper())


# --- sizes ------------------------------------------------------------------------------------------------------------


def window_sizes(
    shape: Shape | None, window: Window | None, count: int, *, lenient: bool = False, filled: bool = False
) -> Shape:
    """The ``count`` spatial sizes after a convolution or pooling of input 0, which has ``shape``.

    Raises a ``WINDOW_EXCEEDS_INPUT`` fault if the padded input is smaller than the window. ``lenient``: an input that
    is too small by less than two strides is only a warning; with counts that are rounded up, an input that is too small
    by less than one stride is accepted. ``filled``: the spatial sizes are at least 1.
    """
    if shape is None or window is None:
        return (None,) * count
    sizes = spatial(shape, window.first)
    result = tuple(
        _window_size(size, window, position, lenient=lenient, filled=filled) for position, size in enumerate(sizes)
    )
    if wants_arithmetic():
        from irlint.ops.shared.formulas import windowed

        for position, (size, dim) in enumerate(zip(sizes, result)):
            windowed(window, position, size=size, dim=dim)
    return result


def _window_size(size: MaybeDim, window: Window, position: int, *, lenient: bool, filled: bool) -> MaybeDim:
    span, stride = window.spans[position], window.strides[position]
    if size is None:
        return None
    if window.same:
        return same_count(size, span, stride, rounding=window.rounding)
    if span is None:
        return None
    begin, end = window.begin[position], window.end[position]
    least = span - (begin + end)
    overhang = stride - 1 if lenient and window.rounding != "floor" else 0
    fits = at_least(size, least - overhang)
    if fits is None:
        least -= 2 * stride - 1 if lenient else 0
        if not filled or not at_least(1, least):
            reaches(size, least, window.described(position))
    if fits is False:
        fault = _exceeding(size, span, window, position=position)
        room = size + (begin + end) - span
        if not lenient or at_least(room, 1 - 2 * stride) is False:
            raise fault
        warn(fault.lowered(Severity.WARNING))
        return 1 - (-room // stride) if isinstance(room, int) else None
    if fits is None and lenient and window.rounding == "floor":
        from irlint.ops.shared.truncated_windows import truncated_count

        return truncated_count(size, span, stride, pads=begin + end, filled=filled)
    return window_count(size, span, stride, begin=begin, end=end, rounding=window.rounding)


def _exceeding(size: Dim, span: Dim, window: Window, *, position: int) -> Fault:
    axis, pads = window.first + position, window.begin[position] + window.end[position]
    padded = f", {size + pads} with its padding," if pads else ""
    return WINDOW_EXCEEDS_INPUT.fault(
        f"axis {axis} of input 0 is {size}{padded} and {window.described(position)}",
        help=f"make axis {axis} at least {span - pads}, or use a smaller kernel or more padding",
        input=0,
        marks=((0, axis),),
        aligned="left",
        remark=f"the window spans {span}",
    )


def transposed_sizes(
    shape: Shape | None, window: Window | None, count: int, *, output_padding: Sequence[int], lenient: bool = False
) -> Shape:
    """The ``count`` spatial sizes after a transposed convolution of input 0, which has ``shape``.

    Raises a ``WINDOW_EXCEEDS_INPUT`` fault if a resulting size is below 1; ``lenient``: 0 is reported as a warning.
    """
    if shape is None or window is None:
        return (None,) * count
    result: list[MaybeDim] = []
    for position, size in enumerate(spatial(shape, window.first)):
        span, stride = window.spans[position], window.strides[position]
        pads = window.begin[position] + window.end[position]
        if size is None or span is None:
            result.append(None)
            continue
        full = transposed_size(size, span, stride, added=output_padding[position] - pads)
        if wants_arithmetic():
            from irlint.ops.shared.formulas import transposed

            transposed(window, position, size=size, dim=full, added=output_padding[position])
        if window.same:
            result.append(smallest(size * stride, full))
            continue
        if not reaches(full, 1, f"axis {window.first + position} has elements after the padding is removed"):
            fault = _nothing_left(size, full, pads, axis=window.first + position)
            if not lenient or at_least(full, 0) is False:
                raise fault
            warn(fault.lowered(Severity.WARNING))
        result.append(full)
    return tuple(result)


def _nothing_left(size: Dim, full: Dim, pads: int, *, axis: int) -> Fault:
    removed = f"{full + pads}; the padding removes {pads}, which leaves {full}" if pads else str(full)
    return WINDOW_EXCEEDS_INPUT.fault(
        f"axis {axis} of input 0 is {size}, which gives {removed}",
        help="reduce the padding, or use a larger kernel or stride",
        input=0,
        marks=((0, axis),),
        aligned="left",
        remark=f"becomes {full}",
    )
