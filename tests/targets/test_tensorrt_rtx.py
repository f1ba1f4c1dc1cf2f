"""What the parser of TensorRT for RTX has against models."""

from __future__ import annotations

import onnx.parser
import pytest
from targets.matrices import FLOATS, matrix, of

import irlint

IMAGES = "(float[1,2,N,N] x) => (float[1,2,M,M] y)"


def newest(text: str) -> tuple[str, list[str]]:
    return list(matrix(text, "tensorrt-rtx").values())[-1]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (of(17, f"{FLOATS} {{ y = Relu (x) }}"), "runs"),
        (of(13, "(float[1,2,4,4] x) => (float[1,2,2,2] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }"), "runs"),
        (
            of(13, "(float[1,2,4,4] x) => (float[1,2,3,3] y, int64[1,2,3,3] i) {"
            "y, i = MaxPool <kernel_shape = [2, 2]> (x) }"),
            "refused",
        ),
        (of(17, "(float[1,2,2] x) => (float[1] y) { y = Det (x) }"), "refused"),
        (
            of(18, "(float[2,3] x, int64[2,3] i) => (float[2,3] y) {"
            'y = ScatterElements <reduction = "none"> (x, i, x) }'),
            "runs",
        ),
        (of(13, "(float[] x) => (float[] y) { y = Flatten <axis = 0> (x) }"), "runs"),
        (of(13, "(float[] x) => (float[] y) { y = Flatten (x) }"), "refused"),
        (of(17, f"{IMAGES} {{ y = AveragePool <kernel_shape = [316, 316]> (x) }}"), "runs"),
        (of(17, f"{IMAGES} {{ y = AveragePool <kernel_shape = [317, 317]> (x) }}"), "refused"),
        (
            of(13, "(float[2] x) => (int8[2] y) <float s = {1.0}, int8 z = {3}> { y = QuantizeLinear (x, s, z) }"),
            "refused",
        ),
        (of(17, "(float[1,N,1] x) => (float[N] y) { y = Squeeze (x) }"), "runs"),
        (of(17, "(string[2] x) => (string[2] y) { y = Identity (x) }"), "refused"),
        (of(17, f"{FLOATS} {{ y = custom.Thing (x) }}", more=', "custom" : 1'), "unknown"),
    ],
)  # fmt: skip
def test_the_newest_release(text: str, verdict: str) -> None:
    assert newest(text)[0] == verdict


def test_a_relu_runs_on_every_release() -> None:
    rows = matrix(of(17, f"{FLOATS} {{ y = Relu (x) }}"), "tensorrt-rtx")
    assert {name: verdict for name, (verdict, _) in rows.items()} == dict.fromkeys(("1.4", "1.5", "1.6", "1.7"), "runs")


def test_errors_of_the_check_that_are_refused() -> None:
    model = onnx.parser.parse_model(of(17, "(float[2,3] x, float[2,4] z) => (float[2,4] y) { y = Add (x, z) }"))
    (entry,) = irlint.targets(model, targets=["tensorrt-rtx"])["targets"]
    assert (entry["verdict"], [each["rule"] for each in entry["reasons"]]) == ("refused", ["broadcast-mismatch"])


def test_axes_of_a_squeeze_were_needed_for_dynamic_sizes() -> None:
    rows = matrix(of(17, "(float[1,N,1] x) => (float[N] y) { y = Squeeze (x) }"), "tensorrt-rtx")
    assert [verdict for verdict, _ in rows.values()] == ["refused", "refused", "refused", "runs"]


def test_a_quantized_constant_is_not_refused() -> None:
    """Where the nodes around decide about an element type, nothing is called refused."""
    text = of(13, "(float[2] x) => (float[2] y) <float s = {1.0}, uint8 z = {0}> "
              "{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }")  # fmt: skip
    assert newest(text)[0] != "refused"
