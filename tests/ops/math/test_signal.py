"""Fourier transforms, window functions and the mel scale, against ONNX's node tests and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.math.fourier import onesided_size, real_size
from irlint.ops.math.signal import frame_count, ov_istft, ov_stft, stft

# --- ONNX: faults, and shapes by name ---------------------------------------------------------------------------------


@pytest.mark.parametrize("points", range(1, 30))
def test_sizes_are_those_of_numpy(points: int) -> None:
    assert onesided_size(points) == np.fft.rfft(np.zeros(points)).size
    assert real_size(points + 1) == np.fft.irfft(np.zeros(points + 1)).size


@pytest.mark.parametrize(("samples", "frame", "step"), [(48, 16, 4), (49, 16, 4), (16, 16, 100), (30, 7, 3)])
def test_frames_are_those_of_a_sliding_window(samples: int, frame: int, step: int) -> None:
    windows = np.lib.stride_tricks.sliding_window_view(np.zeros(samples), frame)[::step]
    assert frame_count(samples, frame, step) == len(windows)


def test_frames_of_a_named_signal() -> None:
    samples = symbol("S")
    with stated() as statements:
        result = stft(Tensor("float32", (1, samples, 1)), Tensor("int64", (), (4,)), Tensor("float32", (16,)))
    assert [str(dim) for dim in result.shape or ()] == ["1", "(S - 16)//4 + 1", "9", "2"] or str(
        (result.shape or ())[1]
    ) in ("S//4 - 3", "(S - 12)//4")
    assert [requirement.condition for requirement in statements.requirements] == ["S >= 16"]


def test_openvino_frames_of_a_named_signal_and_back() -> None:
    count = symbol("F")
    scalar = Tensor("int64", (), (16,)), Tensor("int64", (), (4,))
    window = Tensor("float32", (16,))
    back = ov_istft(Tensor("float32", (9, count, 2)), window, *scalar, center=False, normalized=False)
    assert [str(dim) for dim in back.shape or ()] == ["4*max(F - 1, 0) + 16"]
    with stated() as statements:
        forth = ov_stft(Tensor("float32", (symbol("S"),)), window, *scalar, transpose_frames=True)
    assert (forth.shape or ())[0] == 9
    assert [requirement.condition for requirement in statements.requirements] == ["S >= 16"]
