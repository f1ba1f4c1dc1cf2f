"""Resize, Upsample and Interpolate against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import irlint_on_onnx

from irlint.dims import evaluated, symbol
from irlint.ops.vision.scaling import onnx_scaled, openvino_scaled, resized

X = Input("float32", 1, 3, 10, 20)
H = symbol("H")


def f32(*entries: float) -> np.ndarray:
    return np.array(entries, np.float32)


def run(inputs: list[object], attributes: dict[str, object], opset: int, op: str = "Resize") -> tuple[int, ...]:
    model = onnx_model(op, inputs, attributes, opset)  # type: ignore[arg-type]
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return tuple(session.run(None, {"in0": np.zeros((1, 3, 10, 20), np.float32)})[0].shape)


@pytest.mark.oracle
@pytest.mark.parametrize("scale", [0.1, 0.3, 0.33, 0.49999, 0.7, 1.1, 1.3, 2.3, 1 / 3, 2 / 3, 1.7, 0.5, 1.5, 2.0])
def test_sizes_are_onnx_runtimes(scale: float) -> None:
    inputs = [X, None, f32(1, 1, scale, scale)]
    expected = run(inputs, {}, 19)
    assert irlint_on_onnx(onnx_model("Resize", inputs, opset=19)) == [("float32", expected)]
    assert expected[2:] == (onnx_scaled(10, scale), onnx_scaled(20, scale))


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        (2.0, "2*H"),
        (0.5, "H//2"),
        (1.5, "H + H//2"),
        (1 / 3, "H//3"),
        (0.25, "H//4"),
        (1.0, "H"),
        (0.123456, "None"),
        (None, "None"),
        (symbol("S"), "H*S"),
    ],
)
def test_symbolic_sizes(scale: object, expected: str) -> None:
    number = float(np.float32(scale)) if isinstance(scale, float) else scale
    assert str(resized(H, number, onnx_scaled)) == expected  # type: ignore[arg-type]
    assert str(resized(H, number, openvino_scaled)) == expected  # type: ignore[arg-type]


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2000))
def test_fractions_are_exact(numerator: int, denominator: int, size: int) -> None:
    scale = float(np.float32(numerator / denominator))
    for scaled in (onnx_scaled, openvino_scaled):
        symbolic = resized(H, scale, scaled)
        if symbolic is not None:
            assert evaluated(symbolic, {"H": size}) == scaled(size, scale)
