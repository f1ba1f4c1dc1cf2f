"""Fourier transforms; ``signal`` has the short-time transforms."""

from __future__ import annotations

from irlint.dims import Expr, MaybeDim, Shape, floordiv, same
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Relation, agree, reaches, require_any
from irlint.findings.wording import counted
from irlint.model.tensor import Tensor, shape_text
from irlint.ops import onnx, openvino
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE, AXIS_REPEATED
from irlint.ops.shared.compiling import Layer, constants_at, first_of, not_compiled
from irlint.ops.shared.element_types import INDEX_TYPES, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import entries, known_integers, length, number, openvino_shape

COMPLEX_LAYOUT = Rule(
    "IRL511",
    "complex-layout-mismatch",
    Severity.ERROR,
    "The last axis of a signal does not have the size that real or complex numbers need.",
    why=(
        "In the input of a Fourier transform, complex numbers have two entries on the last axis. In ONNX, real "
        "numbers have one. With `onesided`, the ONNX operator transforms real numbers into half of a spectrum; with "
        "`inverse` as well, it transforms half of a spectrum into real numbers."
    ),
    fix="Give the last axis the size in the message, or change `onesided`.",
    bad="""<ir_version: 9, opset_import: ["" : 20]>
g (float[1,16,2] x) => (float[1,9,2] y) { y = DFT <onesided = 1> (x) }""",
    good="""<ir_version: 9, opset_import: ["" : 20]>
g (float[1,16,1] x) => (float[1,9,2] y) { y = DFT <onesided = 1> (x) }""",
)

FRAME_MISMATCH = Rule(
    "IRL512",
    "frame-mismatch",
    Severity.ERROR,
    "The length of a transform, its frames, its window or its spectrum contradict each other.",
    why=(
        "A transform needs at least one point, and a list of axes one length for each axis. A frame must not be "
        "longer than the signal, the step must be positive, and the window must be as long as the frame (in OpenVINO, "
        "not longer). The spectrum of a frame has frame_size // 2 + 1 frequencies. Runtimes refuse other sizes."
    ),
    fix="Correct the frame length, the step or the window. The message lists the sizes.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,128,1] x) => (float[1,15,9,2] y) <int64 step = {8}, float[12] window = {1,1,1,1,1,1,1,1,1,1,1,1},
int64 frame = {16}> { y = STFT (x, step, window, frame) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,128,1] x) => (float[1,15,9,2] y) <int64 step = {8}, int64 frame = {16}> { y = STFT (x, step, "", frame) }""",
)

OV_SIGNAL_TYPES = frozenset({"float16", "float32", "bfloat16"})


def onesided_size(points: MaybeDim) -> MaybeDim:
    """The number of frequencies of a real signal of ``points`` samples."""
    return None if points is None else floordiv(points, 2) + 1


def real_size(frequencies: MaybeDim) -> MaybeDim:
    """The default number of samples of a real signal whose half spectrum has ``frequencies`` entries."""
    return None if frequencies is None else 2 * (frequencies - 1)


def with_size(shape: Shape, axis: int, new: MaybeDim) -> Shape:
    """``shape`` with another size on ``axis``."""
    return (*shape[:axis], new, *shape[axis + 1 :])


# --- ONNX DFT ---------------------------------------------------------------------------------------------------------


@onnx("DFT", since=17)
def dft_by_attribute(
    input: Tensor, dft_length: Tensor | None = None, *, axis: int = 1, inverse: int = 0, onesided: int = 0
) -> Tensor:
    """ONNX DFT-17: the last axis has 1 entry (real numbers) or 2 entries (complex numbers)."""
    return _transformed(input, dft_length, axis, inverse=inverse != 0, onesided=onesided != 0)


@onnx("DFT", since=20)
def dft(
    input: Tensor,
    dft_length: Tensor | None = None,
    axis: Tensor | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    """ONNX DFT-20: ``axis`` is an input, by default -2."""
    expect_scalar(axis, 2, "axis")
    at = -2 if axis is None else number(axis)
    return _transformed(
        input, dft_length, at if isinstance(at, int) else None, inverse=inverse != 0, onesided=onesided != 0
    )


def expect_scalar(x: Tensor | None, index: int, name: str, *, read: bool = True) -> None:
    """Checks that an input is a scalar. Raises an ``INPUT_RANK_REFUSED`` fault.

    ``read``: ONNX Runtime reads the input when it loads the model, if the input is constant. If ONNX Runtime does not
    read the input then, it accepts any shape of one element, and the fault is reported as a warning.
    """
    is_known = (
        x is not None and x.value is not None and not any(entry is None or isinstance(entry, Expr) for entry in x.value)
    )
    expect_one(x, index, name, scalar=True, any_rank=not read or not is_known)


def _transformed(x: Tensor, dft_length: Tensor | None, axis: int | None, *, inverse: bool, onesided: bool) -> Tensor:
    expect_rank(x, 0, least=2)
    expect_scalar(dft_length, 1, "dft_length")
    points = None if dft_length is None else number(dft_length)
    if dft_length is not None and not reaches(points, 1, "a transform has at least one point"):
        raise FRAME_MISMATCH.fault(
            f"input 1 (dft_length) is {points}; a transform has at least 1 point", help="use 1 or more", input=1
        )
    if x.shape is None:
        return Tensor(x.dtype)
    rank = len(x.shape)
    check_layout(x.shape, inverse, onesided)
    last = 1 if inverse and onesided else 2
    if axis is None:
        return Tensor(x.dtype, (*([None] * (rank - 1)), last))
    if not (-rank <= axis < -1 or 0 <= axis < rank - 1):
        raise AXIS_OUT_OF_RANGE.fault(
            f"axis is {axis} and input 0 is {shape_text(x.shape)}, whose last axis contains the parts of complex "
            f"numbers: allowed: {-rank} to -2 and 0 to {rank - 2}",
            help="use an axis before the last axis",
            input=0,
        )
    at = axis % rank
    new = points
    if dft_length is None:
        new = real_size(x.shape[at]) if inverse and onesided else x.shape[at]
    if onesided and not inverse:
        new = onesided_size(new)
    return Tensor(x.dtype, (*with_size(x.shape, at, new)[:-1], last))


def check_layout(shape: Shape, inverse: bool, onesided: bool) -> None:
    """Checks that the last axis of input 0 has the size that the transform needs. Raises a ``COMPLEX_LAYOUT`` fault."""
    last, axis = shape[-1], len(shape) - 1
    if onesided:
        wanted, kind = (2, "an inverse one-sided DFT needs complex") if inverse else (1, "a one-sided DFT needs real")
        if agree(last, wanted, f"{kind} numbers"):
            return
        raise layout_fault(shape, f"{kind} numbers, so this axis must be {wanted}")
    one, two = same(last, 1), same(last, 2)
    if one is False and two is False:
        raise layout_fault(shape, "it must be 1 (real numbers) or 2 (complex numbers)")
    if last is not None and not one and not two:
        require_any(
            Relation("==", last, 1), Relation("==", last, 2), why=f"axis {axis} contains real or complex numbers"
        )


def layout_fault(shape: Shape, expected: str, input: int = 0) -> Fault:
    axis = len(shape) - 1
    return COMPLEX_LAYOUT.fault(
        f"axis {axis}, the last axis of input {input}, is {shape[-1]}: {expected}",
        help=f"give axis {axis} this size, with Unsqueeze or Reshape",
        input=input,
        marks=((input, axis),),
        remark="real and imaginary part",
    )


# --- OpenVINO DFT, IDFT, RDFT, IRDFT ----------------------------------------------------------------------------------


@openvino("DFT", "IDFT", since=7, fills_in=True, read_at_load=(1,))
def ov_dft(data: Tensor, axes: Tensor, signal_size: Tensor | None = None) -> Tensor:
    """OpenVINO DFT-7 and IDFT-7: complex numbers from complex numbers."""
    shape, at, sizes = _ov_fourier(data, axes, signal_size, complex_input=True)
    if shape is None:
        return Tensor(data.dtype)
    if signal_size is None:
        return Tensor(data.dtype, shape)
    if at is None:
        return Tensor(data.dtype, (*([None] * (len(shape) - 1)), shape[-1]))
    for axis, new in zip(at, sizes or (None,) * len(at)):
        shape = shape if new == -1 else with_size(shape, axis, new)
    return Tensor(data.dtype, shape)


def _compiled_sizes(layer: Layer) -> Fault | None:
    data = layer.inputs[0]
    lengths = layer.inputs[2] if len(layer.inputs) > 2 else None
    if not isinstance(data, Tensor) or not isinstance(lengths, Tensor) or data.shape is None or lengths.shape is None:
        return None
    if not all(isinstance(dim, int) for dim in (*data.shape, *lengths.shape)):
        return None
    if -1 in (lengths.value or ()):
        return not_compiled(
            f"input 2 (signal_size) is {list(lengths.value or ())}: -1 means the size of the axis in the "
            "specification, but the CPU plugin uses it as a size if all sizes of input 0 are known, "
            f"{shape_text(data.shape)}",
            help="write the size of the axis instead of -1",
            input=2,
        )
    if 2 not in layer.varying:
        return None
    return not_compiled(
        "input 2 (signal_size) depends on the inputs of the model, but the CPU plugin requires a constant if all "
        f"sizes of input 0 are known, {shape_text(data.shape)}",
        help="make input 2 a constant",
        input=2,
    )


_COMPILED = first_of(constants_at(1), _compiled_sizes)


@openvino("RDFT", since=9, compiles=_COMPILED)
def ov_rdft(data: Tensor, axes: Tensor, signal_size: Tensor | None = None) -> Tensor:
    """OpenVINO RDFT-9: complex numbers from real numbers."""
    shape, at, sizes = _ov_fourier(data, axes, signal_size, complex_input=False)
    if shape is None:
        return Tensor(data.dtype)
    if at is None:
        return Tensor(data.dtype, (*([None] * len(shape)), 2))
    if signal_size is not None:
        for axis, new in zip(at, sizes or (None,) * len(at)):
            shape = shape if new == -1 else with_size(shape, axis, new)
    points = shape[at[-1]]
    return Tensor(data.dtype, (*with_size(shape, at[-1], 0 if points == 0 else onesided_size(points)), 2))


@openvino("IRDFT", since=9, compiles=_COMPILED)
def ov_irdft(data: Tensor, axes: Tensor, signal_size: Tensor | None = None) -> Tensor:
    """OpenVINO IRDFT-9: real numbers from half a spectrum."""
    if axes.value == ():
        _expect_some_axis(0)
    shape, at, sizes = _ov_fourier(data, axes, signal_size, complex_input=True)
    if shape is None:
        return Tensor(data.dtype)
    if at is None:
        return Tensor(data.dtype, (None,) * (len(shape) - 1))
    last = at[-1]
    lengths: Shape = (-1,) * len(at) if signal_size is None else sizes or (None,) * len(at)
    result = shape[:-1]
    for axis, new in zip(at, lengths):
        dim = shape[axis]
        default = real_size(dim) if axis == last and dim != 0 else dim
        result = with_size(result, axis, default if new == -1 else new)
    return Tensor(data.dtype, result)


def _ov_fourier(
    data: Tensor, axes: Tensor, signal_size: Tensor | None, *, complex_input: bool
) -> tuple[Shape | None, tuple[int, ...] | None, Shape | None]:
    """(Shape of the data, axes counted from 0, entries of ``signal_size``), with None for an unknown part."""
    expect_type(data, 0, OV_SIGNAL_TYPES)
    expect_type(axes, 1, INDEX_TYPES)
    expect_type(signal_size, 2, INDEX_TYPES)
    expect_rank(data, 0, least=2 if complex_input else 1)
    expect_rank(axes, 1, 1)
    expect_rank(signal_size, 2, 1)
    count = length(axes)
    if signal_size is not None and not agree(length(signal_size), count, "signal_size has one entry for each axis"):
        raise FRAME_MISMATCH.fault(
            f"input 1 (axes) has {counted(count, 'entry', 'entries')} and input 2 (signal_size) has "
            f"{length(signal_size)}: expected one size for each axis",
            help="give both inputs the same number of entries",
            input=2,
        )
    sizes = _stated_sizes(signal_size)
    if data.shape is None:
        return None, None, sizes
    if complex_input and not agree(data.shape[-1], 2, "the last axis contains complex numbers"):
        raise layout_fault(data.shape, "a complex number has two parts")
    rank = len(data.shape) - complex_input
    listed = known_integers(axes)
    if listed is None:
        _expect_at_most(rank, count, " before the last axis" if complex_input else "")
        if not complex_input:
            _expect_some_axis(count)
        return data.shape, None, sizes
    if not complex_input:
        _expect_some_axis(len(listed))
    return data.shape, _ov_axes(listed, rank, complex_input), sizes


def _stated_sizes(signal_size: Tensor | None) -> Shape | None:
    """The entries of ``signal_size``, where -1 keeps the size of the axis; None if they are unknown."""
    listed = None if signal_size is None else entries(signal_size)
    if signal_size is None or listed is None:
        return None
    stated = openvino_shape(signal_size, 2) or ()
    return tuple(-1 if entry == -1 else found for entry, found in zip(listed, stated))


def _expect_at_most(most: int, count: int | None, which: str) -> None:
    if count is not None and count > most:
        raise AXIS_REPEATED.fault(
            f"input 1 (axes) has {counted(count, 'entry', 'entries')} and input 0 has "
            f"{counted(most, 'axis', 'axes')}{which}",
            help="list each axis once",
            input=1,
        )


def _expect_some_axis(count: int | None) -> None:
    if count == 0:
        raise FRAME_MISMATCH.fault(
            "input 1 (axes) is empty; expected at least one axis, the last of which is halved",
            help="name an axis",
            input=1,
        )


def _ov_axes(listed: tuple[int, ...], rank: int, complex_input: bool) -> tuple[int, ...]:
    """The axes counted from 0."""
    wrong = [axis for axis in listed if not -rank <= axis < rank]
    if wrong:
        but = ", the last of which contains the parts of complex numbers" if complex_input else ""
        raise AXIS_OUT_OF_RANGE.fault(
            f"input 1 (axes) contains axis {wrong[0]} and input 0 has "
            f"{counted(rank + complex_input, 'axis', 'axes')}{but}; allowed: {-rank} to {rank - 1}",
            help=f"use axes in the range {-rank} to {rank - 1}",
            input=1,
        )
    at = tuple(axis % rank for axis in listed)
    if len(set(at)) < len(at):
        twice = next(axis for position, axis in enumerate(at) if axis in at[:position])
        raise AXIS_REPEATED.fault(
            f"input 1 (axes) is {list(listed)}: axis {twice} appears twice", help="list each axis once", input=1
        )
    return at
