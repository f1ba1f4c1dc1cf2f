"""What the parser of TensorRT for RTX has against models."""

from __future__ import annotations

import pytest
from targets.matrices import FLOATS, matrix, of


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
        (of(17, "(string[2] x) => (string[2] y) { y = Identity (x) }"), "refused"),
        (of(17, f"{FLOATS} {{ y = custom.Thing (x) }}", more=', "custom" : 1'), "unknown"),
    ],
)  # fmt: skip
def test_the_newest_release(text: str, verdict: str) -> None:
    assert newest(text)[0] == verdict


def test_a_relu_runs_on_every_release() -> None:
    rows = matrix(of(17, f"{FLOATS} {{ y = Relu (x) }}"), "tensorrt-rtx")
    assert {name: verdict for name, (verdict, _) in rows.items()} == dict.fromkeys(("1.4", "1.5", "1.6", "1.7"), "runs")


def test_a_quantized_constant_is_not_refused() -> None:
    """Where the nodes around decide about an element type, nothing is called refused."""
    text = of(13, "(float[2] x) => (float[2] y) <float s = {1.0}, uint8 z = {0}> "
              "{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }")  # fmt: skip
    assert newest(text)[0] != "refused"
