"""What the NPU of Qualcomm does with models, as its compiler for HTP architecture 73 and SoC 60 was asked."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from command.process import run
from targets.matrices import of

import irlint


def newest(text: str, **options: object) -> tuple[str, int]:
    """The verdict of the newest release, and how many nodes stay on the CPU."""
    found = irlint.targets(onnx.parser.parse_model(text), targets=["qnn"], **options)  # type: ignore[arg-type]
    (entry,) = found["targets"]
    return entry["verdict"], entry.get("fallback", 0)


FLOATS = "(float[3,4] x) => (float[3,4] y)"
QUANTIZED = """(float[1,4] x) => (float[1,4] y) <float s = {0.1}, uint8 z = {128}> { q = QuantizeLinear (x, s, z)
d = DequantizeLinear (q, s, z) r = Relu (d) p = QuantizeLinear (r, s, z) y = DequantizeLinear (p, s, z) }"""
DOUBLES = "(double[1,2,4,4] x) => (double[1,2,2,2] y) { y = MaxPool <kernel_shape = [3,3]> (x) }"
HALVES = "(float16[N,4] x) => (float16[N,4] y) <float16 s = {13312}> { y = PRelu (x, s) }"
SHAPELESS = """(float[M,N] x) => (float[M,N] y, int64[2] z) <int64[1] s = {2}, int64[1] e = {9}, int64[2] c = {1, 1}>
{ y = Exp (x) h = Shape (x) n = Slice (h, s, e) z = Concat <axis = 0> (c, n) }"""
GELU = """(float[1,4] x) => (float[1,4] y) <float r = {1.4142135}, float one = {1}, float half = {0.5}>
{ a = Div (x, r) b = Erf (a) c = Add (b, one) d = Mul (x, c) y = Mul (d, half) }"""


@pytest.mark.parametrize(
    ("text", "verdict", "on_cpu"),
    [
        (of(17, f"{FLOATS} {{ y = Relu (x) }}"), "runs", 0),
        (of(17, f"{FLOATS} {{ y = Erf (x) }}"), "runs", 1),
        (of(17, "(float[3,4] x) => (int64[3,4] y) { y = Cast <to = 7> (x) }"), "runs", 1),
        (of(17, "(float[N,4] x) => (float[N,4] y) { z = Relu (x) y = Exp (z) }"), "runs", 2),
        (of(17, "(float[3,4] x, int64[2] i) => (float[2,4] y) { y = Gather (x, i) }"), "runs", 0),
        (of(13, QUANTIZED), "runs", 2),
        (of(17, GELU), "runs", 0),
        (of(17, f"{FLOATS} <float e = {{2}}> {{ d = Sub (x, e) r = Relu (d) y = Mul (r, e) }}"), "runs", 0),
        (of(17, "(float[N,4] x) => (float[N,4] y) { z = Relu (x) y = Reciprocal (z) }"), "refused", 0),
        (of(17, "(float[N,4] x) => (float[N,4] y) <float s = {1}> { y = PRelu (x, s) }"), "runs", 1),
        (of(17, HALVES), "refused", 0),
        (of(17, "(int64[1,1,2,2,2] x) => (int64[1,1,2,2,2] y) { y = Add (x, x) }"), "refused", 0),
        (of(17, DOUBLES), "refused", 0),
        (of(17, SHAPELESS), "unknown", 0),
        (of(18, HALVES.replace("PRelu (x, s)", "HardSwish (x)")), "refused", 0),
        (of(17, HALVES.replace("PRelu (x, s)", "HardSwish (x)")), "runs", 1),
    ],
)
def test_the_newest_release(text: str, verdict: str, on_cpu: int) -> None:
    assert newest(text) == (verdict, on_cpu)


def test_the_answer_holds_for_given_sizes() -> None:
    text = of(17, "(float[N,4] x) => (float[N,4] y) { y = Relu (x) }")
    assert newest(text) == ("runs", 1)
    assert newest(text, shapes={"x": (3, 4)}) == ("runs", 0)


def test_nodes_on_the_cpu_are_notes_and_a_refusal_is_an_error() -> None:
    left = irlint.check(onnx.parser.parse_model(of(17, f"{FLOATS} {{ y = Erf (x) }}")), targets=["qnn"])
    assert [(each.rule.code, each.severity.value) for each in left.findings] == [("IRL818", "note")]
    refused = irlint.check(onnx.parser.parse_model(of(17, DOUBLES)), targets=["qnn"])
    assert [each.rule.code for each in refused.errors] == ["IRL814"]


MIXED = of(
    17,
    "(float[3,4] x, float[N,4] z) => (float[3,4] y, float[N,4] w, int64[2,K] k) "
    "{ a = Relu (x) b = Erf (a) c = Relu (b) d = Exp (a) y = Add (c, d) w = Relu (z) k = NonZero (x) }",
)


def test_the_partitions_are_those_that_onnxruntime_makes() -> None:
    """Two for the NPU, as the provider of 2.7 was asked."""
    (entry,) = irlint.targets(onnx.parser.parse_model(MIXED), targets=["qnn"], coverage=True)["targets"]
    found = entry["coverage"]
    parts = [(each["place"], each["nodes"]) for each in found["partitions"]]
    assert parts == [("npu", ["a", "d"]), ("cpu", ["b", "w", "k"]), ("npu", ["c", "y"])]
    assert [found[each] for each in ("nodes", "npu", "cpu", "removed", "refused")] == [7, 4, 3, 0, 0]
    assert entry["fallback"] == found["cpu"]
    given = [(each["name"], each.get("op")) for each in found["dynamic"]]
    assert given == [("z", None), ("k", "NonZero")]


def test_what_is_computed_when_the_model_is_loaded_is_in_no_partition() -> None:
    text = of(17, "(float[3,4] x) => (float[3,4] y) { s = Shape (x) n = Size (s) i = Identity (x) y = Relu (i) }")
    (entry,) = irlint.targets(onnx.parser.parse_model(text), targets=["qnn"], coverage=True)["targets"]
    found = entry["coverage"]
    assert [each["nodes"] for each in found["partitions"]] == [["y"]]
    assert found["removed"] == found["nodes"] - 1


def test_the_report_lists_the_partitions(tmp_path: Path) -> None:
    onnx.save(onnx.parser.parse_model(MIXED), tmp_path / "m.onnx")
    shown = run("targets", "m.onnx", "--target", "qnn", "--coverage", cwd=tmp_path).stdout
    assert "coverage by qnn 2.7: 7 nodes; 4 on the NPU, 3 on the CPU\n" in shown
    assert "  2. CPU: 3 nodes: Erf, Relu, NonZero\n" in shown
    assert "  dynamic: z [N, 4], an input\n" in shown
    assert "coverage" not in run("targets", "m.onnx", "--target", "qnn", cwd=tmp_path).stdout
