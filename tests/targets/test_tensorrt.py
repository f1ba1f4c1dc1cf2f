"""What the vendor's list says of ONNX models on TensorRT, and that each of its conditions is written out."""

from __future__ import annotations

import pytest
from make.measuring import tensorrt_page
from targets.matrices import FLOATS, known, matrix, of

from irlint.targets import tables
from irlint.targets.verdicts import REFUSED, RUNS, UNKNOWN, reasons

RUNTIME = "tensorrt"
IMAGE = "(float[1,3,8,8] x)"


def test_the_conditions_of_a_page() -> None:
    page = "\n".join(
        [
            "TensorRT supports operators in the inclusive range of opset 9 to opset 10.",
            "| Operator | Supported | Supported Types | Restrictions |",
            "| MaxPool | Y | FP32, INT8 | 2D or 3D pooling only. `Indices` output tensor unsupported |",
            "| TopK | Y | FP32, INT64 | `sorted` must be 1. `K` input must be an initializer |",
            "| Det | N |",
        ]
    )
    assert set(tensorrt_page.facts(page)) == {
        "opset  9",
        "opset  10",
        "op :MaxPool * 0=float32;float64;int8",
        "refuses :MaxPool rank-not 0 4,5",
        "refuses :MaxPool output 1",
        "op :TopK * 0=float32;float64;int64",
        "refuses :TopK attribute-not sorted 1",
        "refuses :TopK not-constant 1",
    }


@pytest.mark.parametrize(
    ("opset", "graph", "outcome"),
    [
        (17, f"{FLOATS} {{ y = Relu (x) }}", RUNS),
        (17, "(double[2] x) => (double[2] y) { y = Relu (x) }", RUNS),
        (17, "(uint16[2] x) => (uint16[2] y) { y = Identity (x) }", REFUSED),
        (17, "(float[2] x) => (float[2] y) { y = Det (x) }", REFUSED),
        (8, f"{FLOATS} {{ y = Relu (x) }}", REFUSED),
        (26, f"{FLOATS} {{ y = Relu (x) }}", REFUSED),
        (17, f"{IMAGE} => (float y) {{ y = MaxPool <kernel_shape = [2,2]> (x) }}", RUNS),
        (17, f"{IMAGE} => (float y) {{ y = MaxPool <kernel_shape = [2,2], dilations = [2,2]> (x) }}", REFUSED),
        (17, f"{IMAGE} => (float y, int64 i) {{ y, i = MaxPool <kernel_shape = [2,2]> (x) }}", REFUSED),
        (17, "(float[1,3,8] x) => (float y) { y = AveragePool <kernel_shape = [2]> (x) }", REFUSED),
        (18, "(float[2,3] x, int64[1] a) => (float y) { y = ReduceSum (x, a) }", REFUSED),
        (18, "(float[2,3] x) => (float y) <int64[1] a = {1}> { y = ReduceSum (x, a) }", RUNS),
        (16, "(float[4] x, int64[2,1] i, float[2] u) => (float y) { y = "
            "ScatterND <reduction = \"add\"> (x, i, u) }", REFUSED),
        (13, f"{IMAGE} => (float y) <float[4] s = {{1, 1, 2, 2}}> {{ y = "
            "Resize <mode = \"cubic\"> (x, , s) }", REFUSED),
        (13, f"{IMAGE} => (float y) <float[4] s = {{1, 1, 2, 2}}> {{ y = Resize <mode = \"linear\"> (x, , s) }}", RUNS),
        (17, f"{FLOATS} {{ y = my.domain.Special (x) }}", UNKNOWN),
    ],
)  # fmt: skip
def test_the_newest_list(opset: int, graph: str, outcome: str) -> None:
    assert matrix(of(opset, graph, more=', "my.domain" : 1'), RUNTIME)["10.15"][0] == outcome


def test_sixty_four_bit_integers_are_cast_by_early_releases() -> None:
    rows = matrix(of(13, "(int64[2] x) => (int64[2] y) { y = Add (x, x) }"), RUNTIME)
    assert (rows["8.2"][0], rows["10.1"][0]) == (RUNS, RUNS)


def test_the_condition_is_reported() -> None:
    rows = matrix(of(17, f"{IMAGE} => (float y, int64 i) {{ y, i = MaxPool <kernel_shape = [2,2]> (x) }}"), RUNTIME)
    assert "MaxPool (12): the vendor's list refuses it with an output 1" in rows["10.15"][1]


#: A graph, and the help of the newest list and of the newest measured release.
HELPS = [
    (
        "(int8[3] q) => (float[3] y) <float s = {1}, int8 z = {4}> { y = DequantizeLinear (q, s, z) }",
        "quantize again symmetrically, so that input 2 is 0",
        "quantize again symmetrically, so that input 2 is 0",
    ),
    (
        "(float[3] x) => (int8[3] y) <float s = {1}, int8 z = {4}> { y = QuantizeLinear (x, s, z) }",
        "quantize again symmetrically, so that input 2 is 0",
        "quantize again symmetrically, so that input 2 is 0",
    ),
    (
        "(float[3] x) => (float[3] y) <float s = {1}, int32[3] q = {4, 5, 6}> "
        "{ b = DequantizeLinear (q, s) y = Add (x, b) }",
        "leave input 0 unquantized, in float, as is usual for a bias",
        "leave input 0 unquantized, in float, as is usual for a bias",
    ),
    (
        "(float[3] x) => (float[3] y) <float s = {1}, uint8[3] q = {4, 5, 6}> "
        "{ b = DequantizeLinear (q, s) y = Add (x, b) }",
        "quantize input 0 again, to what it takes: float4_e2m1, float8_e4m3fn, int4, int8",
        "quantize input 0 again, to another element type",
    ),
    (
        "(uint16[2] x) => (uint16[2] y) { y = Identity (x) }",
        "cast to what it takes: bfloat16, bool, float16, float32, float64, int32, int64",
        "",
    ),
]


@pytest.mark.parametrize(("graph", "listed", "measured"), HELPS)
def test_the_help_keeps_the_numbers(graph: str, listed: str, measured: str) -> None:
    model = known(of(13, graph))
    for runtime, help in (("tensorrt", listed), ("tensorrt-rtx", measured)):
        newest = 1 << len(tables.releases(runtime)) - 1
        helps = {each.objection.help for each in reasons(model, runtime) if each.releases & newest}
        assert not help or help in helps
