"""Pad."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import MaybeDim, bounds, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import reaches, wants_arithmetic, warn
from irlint.findings.wording import counted
from irlint.lazy_typing import Literal
from irlint.model.tensor import INTEGERS, Scalar, Tensor
from irlint.ops import onnx, openvino
from irlint.ops.layout.rearranging import CROP_EXCEEDS, expect_per_axis, picked
from irlint.ops.shared import contents as fold
from irlint.ops.shared.axes import Ints, axes_of
from irlint.ops.shared.compiling import Layer, not_compiled
from irlint.ops.shared.element_types import (
    ELEMENT_TYPE_REFUSED,
    ELEMENT_TYPES_DIFFER,
    expect_type,
)
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import entries, known_integers, length
from irlint.schemas import MICROSOFT

PadMode = Literal["constant", "reflect", "edge", "wrap"]
OpenvinoPadMode = Literal["constant", "edge", "reflect", "symmetric"]

PAD_EXCEEDS = Rule(
    "IRL337",
    "pad-exceeds-input",
    Severity.ERROR,
    "The padding is larger than its mode allows for the size of the data.",
    why=(
        "Mode `edge` needs at least one element, `reflect` needs one more element than it adds, and `symmetric` "
        "needs as many as it adds. OpenVINO refuses the layer. ONNX Runtime loads the model and fails at run time; "
        "in ONNX, irlint warns."
    ),
    fix="Reduce the padding, split it into two Pad nodes, or use mode `constant`. If a size is wrongly declared as 0, "
    "correct the declaration.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[0,3] x) => (float[1,3] y) <int64[4] pads = {1, 0, 0, 0}> { y = Pad <mode = "edge"> (x, pads) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[3,3] y) <int64[4] pads = {1, 0, 0, 0}> { y = Pad <mode = "edge"> (x, pads) }""",
)


def padded(
    x: Tensor, begin: Sequence[MaybeDim], end: Sequence[MaybeDim], *, mode: str, filler: Scalar, input: int | None
) -> Tensor:
    """``x`` with ``begin`` and ``end`` elements added to each axis; a negative number removes elements.

    ``filler`` is the added value in mode constant. ``input`` is the index of the input with the pads, None for an
    attribute. Raises a ``CROP_EXCEEDS`` fault. Sources: ONNX Pad-2 to 25, OpenVINO Pad-1 and 12.
    """
    sizes_before = x.shape
    assert sizes_before is not None
    sizes: list[MaybeDim] = []
    for axis, (dim, before, after) in enumerate(zip(sizes_before, begin, end)):
        if dim is None or before is None or after is None:
            sizes.append(None)
            continue
        sizes.append(dim + before + after)
        if not reaches(sizes[-1], 0, f"axis {axis} is cropped by {before} and {after}"):
            raise CROP_EXCEEDS.fault(
                f"axis {axis} of input 0 is {dim} and is padded by {before} and {after}: "
                f"{counted(sizes[-1], 'element')} would remain",
                help=f"remove at most {counted(dim, 'element')}",
                input=input,
                marks=((0, axis),),
            )

    def source(axis: int, position: int) -> int | None:
        dim, before = sizes_before[axis], begin[axis]
        assert isinstance(dim, int) and isinstance(before, int)
        origin = position - before
        if mode == "edge" and dim:
            return min(max(origin, 0), dim - 1)
        return origin if 0 <= origin < dim else None

    shape = tuple(sizes)
    if wants_arithmetic():
        from irlint.ops.shared import formulas

        formulas.padded(sizes_before, shape, begin=begin, end=end)
    return Tensor(x.dtype, shape, picked(x, shape, source, filler=filler) if mode in ("constant", "edge") else None)


def expect_enough(
    x: Tensor, pads: Sequence[tuple[MaybeDim, MaybeDim]], mode: str, *, severity: Severity | None
) -> None:
    """Checks that each axis has the elements that its padding repeats. Raises a ``PAD_EXCEEDS`` fault.

    With ``severity``, reports the fault at that severity, except if the axis is empty.
    """
    surplus = {"reflect": 1, "symmetric": 0}
    # OpenVINO refuses to reflect an empty axis, even if the padding is 0.
    lowest = 0 if mode == "reflect" and severity is None else 1
    for axis, (dim, amounts) in enumerate(zip(x.shape or (), pads)):
        for stated in amounts:
            amount = None if stated is None else bounds(stated)[0]
            if mode == "constant" or amount is None or amount < lowest:
                continue
            least = amount + surplus[mode] if mode in surplus else 1
            by = amount if isinstance(stated, int) else f"at least {amount}"
            if reaches(dim, least, f'axis {axis} is padded by {by} with mode "{mode}"'):
                continue
            fault = PAD_EXCEEDS.fault(
                f'axis {axis} of input 0 is {dim} and is padded by {by}: with mode "{mode}" it needs at least {least}',
                help=f"use mode `constant`, or give axis {axis} of input 0 a size of at least {least}"
                if same(dim, 0)
                else "reduce the padding, or use another mode",
                input=0,
                marks=((0, axis),),
                severity=None if same(dim, 0) else severity,
            )
            if fault.severity is Severity.ERROR:
                raise fault
            warn(fault)


def _onnx_pad(
    x: Tensor, pads: Sequence[MaybeDim], axes: Sequence[int], *, mode: str, filler: Scalar, input: int | None
) -> Tensor:
    assert x.shape is not None
    begin: list[MaybeDim] = [0] * len(x.shape)
    end = list(begin)
    for position, axis in enumerate(axes):
        begin[axis], end[axis] = pads[position], pads[position + len(axes)]
    expect_enough(x, list(zip(begin, end)), mode, severity=Severity.WARNING)
    return padded(x, begin, end, mode=mode, filler=filler, input=input)


def _pad_by_attribute(x: Tensor, pads: Ints, mode: str, *, value: float, name: str) -> Tensor:
    if x.shape is None:
        return Tensor(x.dtype, (None,) * (len(pads) // 2))
    expect_per_axis(len(pads), x.shape, None, what=name, times=2)
    return _onnx_pad(x, pads, range(len(x.shape)), mode=mode, filler=fold.cast(value, x.dtype), input=None)


@onnx("Pad", since=1)
def pad_by_paddings(data: Tensor, *, paddings: Ints, mode: PadMode = "constant", value: float = 0.0) -> Tensor:
    """ONNX Pad-1."""
    return _pad_by_attribute(data, paddings, mode, value=value, name="paddings")


@onnx("Pad", since=2)
def pad_by_attribute(data: Tensor, *, pads: Ints, mode: PadMode = "constant", value: float = 0.0) -> Tensor:
    """ONNX Pad-2."""
    return _pad_by_attribute(data, pads, mode, value=value, name="pads")


@onnx("Pad", since=11)
def pad(
    data: Tensor,
    pads: Tensor,
    constant_value: Tensor | None = None,
    axes: Tensor | None = None,
    *,
    mode: PadMode = "constant",
) -> Tensor:
    """ONNX Pad-11 and later."""
    expect_rank(pads, 1, 1, what="pads")
    expect_one(constant_value, 2, "constant_value", any_rank=True)
    filler = constant_value.scalar if constant_value is not None else fold.cast(0, data.dtype)
    if data.shape is None:
        return Tensor(data.dtype)
    rank = len(data.shape)
    chosen = tuple(range(rank))
    if axes is not None:
        expect_rank(axes, 3, 1, what="axes")
        named = known_integers(axes)
        if named is None:
            return Tensor(data.dtype, (None,) * rank)
        chosen = axes_of(named, rank)
    expect_per_axis(length(pads), tuple(data.shape[axis] for axis in chosen), 1, what="pads", times=2)
    listed = entries(pads) or (None,) * (2 * len(chosen))
    return _onnx_pad(data, listed, chosen, mode=mode, filler=filler, input=1)


@onnx("Pad", since=1, domain=MICROSOFT, may_be_external={"pads": None})
def microsoft_pad(data: Tensor, pads: Tensor, value: Tensor | None = None, *, mode: PadMode = "constant") -> Tensor:
    """com.microsoft Pad: like ONNX Pad-11, with pads of [2 * rank] or [1, 2 * rank]."""
    expect_rank(pads, 1, 1, 2, what="pads")
    flat = pads if pads.shape is None or len(pads.shape) == 1 else Tensor(pads.dtype, pads.shape[1:], pads.value)
    return pad(data, flat, value, mode=mode)


def _compiled_pad(layer: Layer) -> Fault | None:
    if layer.sizes(0) != () or not layer.varying:
        return None
    return not_compiled(
        "input 0 is a scalar, but the CPU plugin needs at least one axis", help="remove the layer", input=0
    )


@openvino("Pad", until=11, absent={"pad_mode": "constant"}, fills_in=True, compiles=_compiled_pad)
@openvino("Pad", since=12, absent={"pad_mode": "constant"}, fills_in=True, compiles=_compiled_pad)
def ov_pad(
    data: Tensor, pads_begin: Tensor, pads_end: Tensor, pad_value: Tensor | None = None, *, pad_mode: OpenvinoPadMode
) -> Tensor:
    """OpenVINO Pad-1 and 12. In the library, negative numbers also crop in Pad-1."""
    if data.dtype == "string" and pad_mode != "constant":
        raise ELEMENT_TYPE_REFUSED.fault(
            f'input 0 is string, which OpenVINO pads with pad_mode="constant" only, and pad_mode is "{pad_mode}"',
            help='write pad_mode="constant"',
            attribute="pad_mode",
            input=0,
        )
    names = ("pads_begin", "pads_end")
    for index, x in enumerate((pads_begin, pads_end), 1):
        expect_type(x, index, INTEGERS)
        expect_rank(x, index, 1, what=names[index - 1])
        expect_per_axis(length(x), data.shape, index, what=names[index - 1])
    filler = fold.cast(0, data.dtype)
    if pad_value is not None and pad_mode == "constant":
        expect_one(pad_value, 3, "pad_value", scalar=True)
        _expect_same_type(data, pad_value)
        filler = pad_value.scalar
    if data.shape is None:
        return Tensor(data.dtype)
    rank = len(data.shape)
    begin, end = (entries(x) or (None,) * rank for x in (pads_begin, pads_end))
    expect_enough(data, list(zip(begin, end)), pad_mode, severity=None)
    return padded(data, begin, end, mode=pad_mode, filler=filler, input=1)


def _expect_same_type(data: Tensor, pad_value: Tensor) -> None:
    if None in (data.dtype, pad_value.dtype) or data.dtype == pad_value.dtype:
        return
    raise ELEMENT_TYPES_DIFFER.fault(
        f"input 0 is {data.dtype} and input 3 (pad_value) is {pad_value.dtype}: they must have the same element type",
        help=f"convert input 3 to {data.dtype}",
        input=3,
    )
