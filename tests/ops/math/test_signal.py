"""Fourier transforms, window functions and the mel scale, against ONNX's node tests and OpenVINO."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Fed as Given
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases

from irlint.dims import symbol
from irlint.findings.statements import stated
from irlint.model.tensor import Tensor
from irlint.ops.math.signal import frame_count, onesided_size, ov_istft, ov_stft, real_size, stft

OPERATORS = ("DFT", "STFT", "HannWindow", "HammingWindow", "BlackmanWindow", "MelWeightMatrix")


def floats(*dims: int | None) -> Input:
    return Input("float32", *dims)


def ints(*entries: int) -> np.ndarray:
    return np.array(entries, np.int64)


def one(entry: float, dtype: type = np.int64) -> np.ndarray:
    return np.array(entry, dtype)


@pytest.mark.parametrize("case", node_cases(*OPERATORS), ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    assert node_case_difference(case) is None


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

UNKNOWN_COUNTS = Input("int64", 2)

FOURIER: list[tuple[Given, ...]] = [
    (floats(2, 10, 10, 2), ints(1, 2)),
    (floats(2, 10, 10, 2), ints(1, -1)),
    (floats(2, 10, 10, 2), ints(-1, -2)),
    (floats(2, 10, 10, 2), ints(3)),
    (floats(2, 10, 10, 2), ints(-3)),
    (floats(2, 10, 10, 2), ints(-4)),
    (floats(2, 10, 10, 2), ints(-5)),
    (floats(2, 10, 10, 2), ints(1, 1)),
    (floats(2, 10, 10, 2), ints(0, 1, 2)),
    (floats(2, 10, 10, 2), ints(0, 1, 2, 3)),
    (floats(2, 10, 10, 3), ints(0, 1)),
    (floats(2, 10, 10, None), ints(0, 1)),
    (floats(2, 9, 9, 2), ints(1)),
    (floats(2), ints(0)),
    (floats(), ints(0)),
    (floats(5, 2), ints(0)),
    (floats(0, 0, 0, 2), ints(1, 2)),
    (floats(2, 1, 1, 2), ints(1, 2)),
    (floats(2, 10, 10, 2), one(1)),
    (floats(2, 10, 10, 2), ints(1, 2), ints(5, -1)),
    (floats(2, 10, 10, 2), ints(1, 2), ints(-1, 5)),
    (floats(2, 10, 10, 2), ints(1, 2), ints(5, 0)),
    (floats(2, 10, 10, 2), ints(1, 2), ints(5, -2)),
    (floats(2, 10, 10, 2), ints(1, 2), ints(5)),
    (floats(2, 10, 10, 2), ints(1, 2), one(5)),
    (floats(2, 10, 10, 2), ints(1, 2), Input("int64", 3)),
    (floats(2, 10, 10, 2), UNKNOWN_COUNTS, ints(3, 4)),
    (floats(2, 10, 10, 2), UNKNOWN_COUNTS, ints(3, 4, 5)),
    (floats(2, 10, 10, 2), UNKNOWN_COUNTS),
    (floats(2, 10, 10, 2), Input("int64", 4)),
    (floats(2, 10, 10, 2), Input("int64", 2, 2)),
    (floats(2, 10, 10, 2), Input.any_rank("int64")),
    (Input.any_rank("float32"), ints(1, 2)),
    (Input.any_rank("float32"), ints(1, 2), ints(5, 6)),
    (Input.any_rank("float32"), ints(1, 1), ints(5, 6)),
    (floats(None, None, None, 2), ints(1, 2)),
    (floats(None, None, None, 2), ints(1, 2), ints(7, -1)),
    (Input("int32", 2, 10, 2), ints(0, 1)),
    (Input("float16", 2, 10, 2), ints(0, 1)),
    (Input("float64", 2, 10, 2), ints(0, 1)),
    (floats(2, 10, 2), np.array([0.0], np.float32)),
    (floats(2, 10, 2), ints(0).astype(np.int8)),
    (floats(2, 10, 2), ints(0).astype(np.int32)),
    (floats(2, 10, 2), ints(0), ints(3).astype(np.int16)),
]


@pytest.mark.parametrize("inputs", FOURIER, ids=range(len(FOURIER)))
@pytest.mark.parametrize(
    ("op", "version"), [("DFT", "opset7"), ("IDFT", "opset7"), ("RDFT", "opset9"), ("IRDFT", "opset16")]
)
def test_fourier_as_openvino(op: str, version: str, inputs: tuple[Given, ...]) -> None:
    assert_same_verdict(op, version, inputs)


def test_empty_axes_of_a_full_transform_are_fine() -> None:
    assert_same_verdict("DFT", "opset7", (floats(2, 10, 10, 2), ints()))


def test_unknown_signal_size_leaves_every_named_axis_open() -> None:
    verdict = assert_same_verdict("DFT", "opset7", (floats(2, 10, 10, 2), ints(1, 2), UNKNOWN_COUNTS))
    assert verdict == [("float32", (2, None, None, 2))]


STFT: list[tuple[Given, ...]] = [
    (floats(2, 48), floats(16), one(16), one(4)),
    (floats(48), floats(16), one(16), one(4)),
    (floats(1, 2, 48), floats(16), one(16), one(4)),
    (floats(), floats(16), one(16), one(4)),
    (floats(48), floats(17), one(16), one(4)),
    (floats(48), floats(15), one(16), one(4)),
    (floats(48), floats(0), one(16), one(4)),
    (floats(48), floats(1, 16), one(16), one(4)),
    (floats(48), floats(16), ints(16), one(4)),
    (floats(48), floats(16), one(16), ints(4)),
    (floats(48), floats(16), one(0), one(4)),
    (floats(48), floats(16), one(-1), one(4)),
    (floats(48), floats(16), one(49), one(4)),
    (floats(48), floats(16), one(48), one(4)),
    (floats(48), floats(16), one(17), one(5)),
    (floats(48), floats(16), one(16), one(0)),
    (floats(48), floats(16), one(16), one(-4)),
    (floats(48), floats(16), one(16), one(100)),
    (floats(48), floats(16), Input("int64"), one(4)),
    (floats(None), floats(None), one(16), one(4)),
    (floats(None, None), floats(None), one(16), one(4)),
    (Input.any_rank("float32"), floats(None), one(16), one(4)),
    (floats(48), Input.any_rank("float32"), one(16), one(4)),
    (floats(48), floats(16), Input.any_rank("int64"), one(4)),
    (Input("int32", 48), floats(16), one(16), one(4)),
    (Input("float16", 48), floats(16), one(16), one(4)),
    (Input("float16", 48), Input("float16", 16), one(16), one(4)),
    (Input("float64", 48), Input("float64", 16), one(16), one(4)),
    (floats(48), floats(16), one(16, np.int8), one(4)),
    (floats(48), floats(16), one(16, np.int32), one(4)),
    (floats(48), floats(16), one(16), one(4, np.float32)),
]


@pytest.mark.parametrize("inputs", STFT, ids=range(len(STFT)))
@pytest.mark.parametrize("transpose_frames", [False, True])
def test_stft_as_openvino(inputs: tuple[Given, ...], transpose_frames: bool) -> None:
    assert_same_verdict("STFT", "opset15", inputs, {"transpose_frames": transpose_frames})


def test_stft_of_an_unknown_step_still_knows_its_frequencies() -> None:
    inputs = (floats(48), floats(16), one(16), Input("int64"))
    verdict = assert_same_verdict("STFT", "opset15", inputs, {"transpose_frames": False}, finer=True)
    assert verdict == [("float32", (None, 9, 2))]


ISTFT: list[tuple[Given, ...]] = [
    (floats(2, 9, 9, 2), floats(16), one(16), one(4)),
    (floats(2, 9, 9, 2), floats(16), one(16), one(4), one(40)),
    (floats(9, 9, 2), floats(16), one(16), one(4), ints(40)),
    (floats(9, 9, 2), floats(16), one(16), one(4), one(-1)),
    (floats(9, 9, 2), floats(16), one(16), one(4), one(-7)),
    (floats(9, 9, 2), floats(16), one(16), one(4), one(0)),
    (floats(9, 9, 2), floats(16), one(16), one(4), Input("int64")),
    (floats(9, 9, 2), floats(16), one(16), one(4), Input("int64", 1)),
    (floats(9, 9, 2), floats(16), one(16), one(4), ints(1, 2)),
    (floats(9, 9, 2), floats(16), one(16), one(0)),
    (floats(9, 9, 2), floats(16), one(16), one(20)),
    (floats(9, 9, 2), floats(16), one(17), one(4)),
    (floats(9, 9, 2), floats(17), one(16), one(4)),
    (floats(9, 9, 2), floats(16), one(18), one(4)),
    (floats(8, 9, 2), floats(16), one(16), one(4)),
    (floats(9, 9, 3), floats(16), one(16), one(4)),
    (floats(9, 2), floats(16), one(16), one(4)),
    (floats(1, 1, 9, 9, 2), floats(16), one(16), one(4)),
    (floats(9, 0, 2), floats(16), one(17), one(4)),
    (floats(9, 1, 2), floats(16), one(16), one(4)),
    (floats(9, None, 2), floats(16), one(16), one(4)),
    (floats(None, 9, 2), floats(16), one(16), one(4)),
    (floats(9, 9, None), floats(16), one(16), one(4)),
    (floats(9, 9, 2), floats(None), one(16), one(4)),
    (floats(9, 9, 2), floats(16), Input("int64"), one(4)),
    (floats(9, 9, 2), floats(16), one(16), Input("int64")),
    (Input.any_rank("float32"), floats(16), one(16), one(4)),
    (Input.any_rank("float32"), floats(16), one(16), one(4), one(40)),
    (floats(9, 9, 2), floats(2, 16), one(16), one(4)),
    (floats(9, 9, 2), floats(16), ints(16), one(4)),
    (Input("float64", 9, 9, 2), Input("float64", 16), one(16), one(4)),
    (Input("int32", 9, 9, 2), Input("int32", 16), one(16), one(4)),
    (floats(9, 9, 2), floats(16), one(16), one(4), one(40, np.int8)),
    (floats(9, 9, 2), floats(16), one(0), one(4)),
    (floats(9, 9, 2), floats(16), one(-16), one(4)),
]


@pytest.mark.parametrize("inputs", ISTFT, ids=range(len(ISTFT)))
@pytest.mark.parametrize("center", [False, True])
def test_istft_as_openvino(inputs: tuple[Given, ...], center: bool) -> None:
    assert_same_verdict("ISTFT", "opset16", inputs, {"center": center, "normalized": False})


# --- ONNX: faults, and shapes by name ---------------------------------------------------------------------------------

FAULTS: list[tuple[str, list[Given], dict[str, Any], int, str]] = [
    ("DFT", [floats(2, 10, 2)], {"onesided": 1}, 20, "IRL511"),
    ("DFT", [floats(2, 10, 1)], {"onesided": 1, "inverse": 1}, 17, "IRL511"),
    ("DFT", [floats(2, 10, 3)], {}, 20, "IRL511"),
    ("DFT", [floats(10)], {}, 20, "IRL339"),
    ("DFT", [floats(2, 10, 1), None, one(2)], {}, 20, "IRL300"),
    ("DFT", [floats(2, 10, 1), None, one(-1)], {}, 20, "IRL300"),
    ("DFT", [floats(2, 10, 1), None, one(-4)], {}, 20, "IRL300"),
    ("DFT", [floats(10, 2)], {}, 17, "IRL300"),
    ("DFT", [floats(2, 10, 1), ints(7)], {}, 20, "IRL339"),
    ("DFT", [floats(2, 10, 1), one(0)], {}, 20, "IRL512"),
    ("STFT", [floats(1, 48, 1), one(4), floats(15), one(16)], {}, 17, "IRL512"),
    ("STFT", [floats(1, 48, 1), one(0), floats(16)], {}, 17, "IRL512"),
    ("STFT", [floats(1, 48, 1), one(4), floats(49)], {}, 17, "IRL512"),
    ("STFT", [floats(1, 48, 1), one(4), None, one(0)], {}, 17, "IRL512"),
    ("STFT", [floats(1, 48, 3), one(4), floats(16)], {}, 17, "IRL511"),
    ("STFT", [floats(1, 48, 1), one(4), floats(1, 16)], {}, 17, "IRL339"),
    ("STFT", [floats(48), one(4), floats(16)], {}, 17, "IRL339"),
    ("HannWindow", [one(0)], {}, 17, "IRL512"),
    ("HannWindow", [ints(10)], {}, 17, "IRL339"),
    ("HammingWindow", [one(10)], {"output_datatype": 8}, 17, "IRL510"),
    ("MelWeightMatrix", [one(-8), one(16), one(99), one(0, np.float32), one(9, np.float32)], {}, 17, "IRL361"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "opset", "code"), FAULTS)
def test_fault(op: str, inputs: list[Given], attributes: dict[str, Any], opset: int, code: str) -> None:
    verdict = irlint_on_onnx(onnx_model(op, inputs, attributes, opset))
    assert isinstance(verdict, str), verdict
    assert verdict.split()[0] == code


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
