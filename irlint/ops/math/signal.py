"""Short-time Fourier transforms, window functions and the mel scale."""

from __future__ import annotations

from irlint.dims import MaybeDim, Shape, at_least, floordiv, largest, same
from irlint.findings.faults import Severity
from irlint.findings.statements import agree, reaches, warn
from irlint.model.tensor import Tensor
from irlint.ops import Context, onnx, openvino
from irlint.ops.math.fourier import FRAME_MISMATCH, check_layout, expect_scalar, layout_fault, onesided_size
from irlint.ops.shared.attributes import numbered_type
from irlint.ops.shared.element_types import INDEX_TYPES, REAL, common_type, expect_type
from irlint.ops.shared.expectations import expect_one, expect_rank
from irlint.ops.shared.shape_inputs import SIZE_NEGATIVE, number, stated_size


def frame_count(signal: MaybeDim, frame: MaybeDim, step: MaybeDim) -> MaybeDim:
    """The number of frames of ``frame`` samples in ``signal`` samples; a frame begins every ``step`` samples."""
    if signal is None or frame is None or step is None or not at_least(step, 1):
        return None
    return floordiv(signal - frame, step) + 1


# --- ONNX STFT --------------------------------------------------------------------------------------------------------


@onnx("STFT", since=17)
def stft(
    signal: Tensor,
    frame_step: Tensor,
    window: Tensor | None = None,
    frame_length: Tensor | None = None,
    *,
    onesided: int = 1,
) -> Tensor:
    """ONNX STFT-17: [batch, frames, frequencies, 2] from a signal [batch, samples, 1 or 2]."""
    expect_rank(signal, 0, 2, 3)
    expect_one(frame_step, 1, "frame_step", any_rank=True)
    expect_scalar(frame_length, 3, "frame_length")
    expect_rank(window, 2, 1)
    batch, samples = (None, None) if signal.shape is None else signal.shape[:2]
    if signal.shape is not None and len(signal.shape) == 3:
        check_layout(signal.shape, inverse=False, onesided=False)
    step, frame = number(frame_step), number(frame_length)
    frame = _frame_length(frame, window)
    if window is None and frame_length is None:
        frame = samples
    _check_frame(samples, frame, step, input=3 if frame_length is not None else 2)
    bins = onesided_size(frame) if onesided else frame
    return Tensor(signal.dtype, (batch, frame_count(samples, frame, step), bins, 2))


def _frame_length(frame: MaybeDim, window: Tensor | None) -> MaybeDim:
    """The length of a frame: ``frame``, or else the length of the window."""
    points = window.shape[0] if window is not None and window.shape else None
    if agree(frame, points, "the window is as long as a frame"):
        return points if frame is None else frame
    raise FRAME_MISMATCH.fault(
        f"input 2 (window) has {points} samples and input 3 (frame_length) is {frame}: the sizes must be equal",
        help="give the window as many samples as a frame has",
        input=2,
    )


def _check_frame(samples: MaybeDim, frame: MaybeDim, step: MaybeDim, *, input: int) -> None:
    """Checks that step and frame are positive, and that a frame is not longer than the signal."""
    if not reaches(step, 1, "the frame step is at least 1"):
        raise FRAME_MISMATCH.fault(f"the frame step is {step}; it has to be at least 1", help="use a positive step")
    if not reaches(frame, 1, "a frame has at least one sample"):
        raise FRAME_MISMATCH.fault(
            f"a frame has {frame} samples; it needs at least 1", help="use a positive length", input=input
        )
    if not reaches(samples, frame, "a frame is not longer than the signal"):
        raise FRAME_MISMATCH.fault(
            f"a frame has {frame} samples and the signal has {samples}: a frame must not be longer than the signal",
            help=f"use frames of at most {samples} samples, or pass a signal of at least {frame}",
            input=input,
        )


# --- ONNX windows, mel scale ------------------------------------------------------------------------------------------


@onnx("HannWindow", "HammingWindow", "BlackmanWindow", since=17)
def window_function(size: Tensor, *, output_datatype: int = 1, periodic: int = 1, context: Context) -> Tensor:
    """ONNX HannWindow, HammingWindow and BlackmanWindow-17: ``size`` samples."""
    dtype = numbered_type(output_datatype, context, "output_datatype", all_bits=True)
    expect_scalar(size, 0, "size")
    points = number(size)
    if not reaches(points, 1, "a window has at least one sample"):
        raise FRAME_MISMATCH.fault(
            f"input 0 (size) is {points}; a window has at least 1 sample", help="use 1 or more", input=0
        )
    return Tensor(dtype, (points,))


@onnx("MelWeightMatrix", since=17)
def mel_weight_matrix(
    num_mel_bins: Tensor,
    dft_length: Tensor,
    sample_rate: Tensor,
    lower_edge_hertz: Tensor,
    upper_edge_hertz: Tensor,
    *,
    output_datatype: int = 1,
    context: Context,
) -> Tensor:
    """ONNX MelWeightMatrix-17: [dft_length // 2 + 1, num_mel_bins]."""
    dtype = numbered_type(output_datatype, context, "output_datatype", all_bits=True)
    names = ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz")
    inputs = (num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz)
    for index, (name, tensor) in enumerate(zip(names, inputs)):
        expect_scalar(tensor, index, name, read=index < 2)
    bins = stated_size(number(num_mel_bins), 0, "num_mel_bins")
    return Tensor(dtype, (onesided_size(stated_size(number(dft_length), 1, "dft_length")), bins))


# --- OpenVINO STFT, ISTFT ---------------------------------------------------------------------------------------------


@openvino("STFT", since=15, absent={"transpose_frames": False})
def ov_stft(
    signal: Tensor, window: Tensor, frame_size: Tensor, frame_step: Tensor, *, transpose_frames: bool
) -> Tensor:
    """OpenVINO STFT-15: [frames, frequencies, 2], after an optional batch axis.

    With ``transpose_frames``, it is [frequencies, frames, 2].
    """
    _check_frame_inputs(signal, window, frame_size, frame_step=frame_step, name="signal", ranks=(1, 2))
    frame, step = number(frame_size), number(frame_step)
    samples = signal.shape[-1] if signal.shape else None
    _check_frame(samples, frame, step, input=2)
    _check_window(window, frame)
    if signal.shape is None:
        return Tensor(signal.dtype)
    bins, frames = onesided_size(frame), frame_count(samples, frame, step)
    middle = (bins, frames) if transpose_frames else (frames, bins)
    return Tensor(signal.dtype, (*signal.shape[:-1], *middle, 2))


@openvino("ISTFT", since=16, absent={"center": False, "normalized": False}, fills_in=True)
def ov_istft(
    data: Tensor,
    window: Tensor,
    frame_size: Tensor,
    frame_step: Tensor,
    signal_length: Tensor | None = None,
    *,
    center: bool,
    normalized: bool,
) -> Tensor:
    """OpenVINO ISTFT-16: [samples] from [frequencies, frames, 2], both after an optional batch axis."""
    _check_frame_inputs(data, window, frame_size, frame_step=frame_step, name="data", ranks=(3, 4))
    expect_type(signal_length, 4, INDEX_TYPES)
    expect_one(signal_length, 4, "signal_length")
    frame, step = number(frame_size), number(frame_step)
    _check_frame(None, frame, step, input=2)
    _check_window(window, frame)
    if data.shape is None:
        return Tensor(data.dtype)
    _check_spectrum(data.shape, frame)
    samples = number(signal_length)
    if signal_length is None:
        samples = _default_length(data.shape[-2], frame, step, center=center)
    elif samples == -1:
        samples = None
    elif at_least(samples, 0) is False:
        fault = SIZE_NEGATIVE.fault(
            f"input 4 (signal_length) is {samples}, which OpenVINO reads as 0",
            help="use the number of samples, at least 1",
            input=4,
        )
        warn(fault.lowered(Severity.WARNING))
        samples = 0
    return Tensor(data.dtype, (*data.shape[:-3], samples))


def _check_frame_inputs(
    data: Tensor, window: Tensor, frame_size: Tensor, *, frame_step: Tensor, name: str, ranks: tuple[int, ...]
) -> None:
    """Checks the types and the ranks of the inputs of OpenVINO's transforms."""
    expect_type(data, 0, REAL)
    expect_type(window, 1, REAL)
    common_type((data, window))
    expect_type(frame_size, 2, INDEX_TYPES)
    expect_type(frame_step, 3, INDEX_TYPES)
    expect_rank(data, 0, *ranks, what=name)
    expect_rank(window, 1, 1, what="window")
    expect_rank(frame_size, 2, 0, what="frame_size")
    expect_rank(frame_step, 3, 0, what="frame_step")


def _check_window(window: Tensor, frame: MaybeDim) -> None:
    """Checks that the window is not empty and not longer than a frame."""
    points = window.shape[0] if window.shape else None
    not_longer = reaches(frame, points, "the window is not longer than a frame")
    if not_longer and reaches(points, 1, "a window has at least one sample"):
        return
    of_frame, most = ("", "the length of a frame") if frame is None else (f" and a frame has {frame}", frame)
    raise FRAME_MISMATCH.fault(
        f"input 1 (window) has {points} samples{of_frame}; allowed: 1 to {most}",
        help="give the window at least one sample, and at most as many as a frame has",
        input=1,
        marks=((1, 0),),
    )


def _check_spectrum(shape: Shape, frame: MaybeDim) -> None:
    """Checks the number of frequencies. Warns of a last axis whose size is not 2."""
    axis, bins = len(shape) - 3, onesided_size(frame)
    if not agree(shape[axis], bins, "a frame has frame_size // 2 + 1 frequencies"):
        raise FRAME_MISMATCH.fault(
            f"axis {axis} of input 0 is {shape[axis]}; frames of {frame} samples have {bins} frequencies",
            help=f"give axis {axis} the size {bins}, or correct frame_size",
            input=0,
            marks=((0, axis),),
            remark="frequencies",
        )
    if same(shape[-1], 2) is False:
        warn(layout_fault(shape, "a complex number has two parts").lowered(Severity.WARNING))


def _default_length(frames: MaybeDim, frame: MaybeDim, step: MaybeDim, *, center: bool) -> MaybeDim:
    before = largest(None if frames is None else frames - 1, 0)
    if before is None or step is None or frame is None:
        return None
    return before * step + (frame % 2 if center else frame)
