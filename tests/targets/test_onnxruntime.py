"""Which releases of ONNX Runtime take a model, and why the others do not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from targets import matrices
from targets.matrices import FLOATS, of

from irlint.targets import tables
from irlint.targets.tables import short
from irlint.targets.verdicts import REFUSED, RUNS, UNKNOWN, target

RUNTIME = "onnxruntime"


def matrix(text: str) -> Mapping[str, tuple[str, list[str]]]:
    return matrices.matrix(text, RUNTIME)


def test_a_plain_model_runs_everywhere() -> None:
    rows = matrix(of(17, f"{FLOATS} {{ y = Relu (x) }}"))
    assert all(each == (RUNS, []) for each in rows.values())


def test_ir_versions_and_opsets_have_limits() -> None:
    rows = matrix(of(21, f"{FLOATS} {{ y = Relu (x) }}", ir_version=10))
    assert rows["1.16"] == (
        REFUSED,
        ["IR version 10; the release takes 9 at most", "opset 21 of ai.onnx; the release takes 19 at most"],
    )
    assert rows["1.18"] == (RUNS, [])


@pytest.mark.parametrize(
    ("opset", "graph", "release", "outcome"),
    [
        (20, f"{FLOATS} {{ y = Gelu (x) }}", "1.17", RUNS),
        (18, f"{FLOATS} {{ y = Gelu (x) }}", "1.31", REFUSED),
        (16, "(double[2,3] x) => (double[2,3] y) { y = Relu (x) }", "1.17", RUNS),
        (16, "(bfloat16[2,3] x) => (bfloat16[2,3] y) { y = Sin (x) }", "1.17", REFUSED),
        (17, "(float16[2,3] x) => (float16[2,3] y) { y = Sin (x) }", "1.17", RUNS),
        (5, "(float16[2,3] x) => (float16[2,3] y) { y = Sigmoid (x) }", "1.17", REFUSED),
        (18, "(double[2,3] x) => (double[2,3] y) { y = Mish (x) }", "1.17", RUNS),
        (18, "(bfloat16[2,3] x) => (bfloat16[2,3] y) { y = Mish (x) }", "1.17", REFUSED),
        (14, "(float[1,3,2] x, float[1,4,2] w, float[1,4,4] r) => (float[1,3,1,4] y) "
             "{ y = RNN <layout = 1, hidden_size = 4> (x, w, r) }", "1.31", REFUSED),
        (22, "(float[1,3,8,8] x, float[2,4] r, int64[2] b) => "
            "(float[2,3,1,1] y) { y = RoiAlign (x, r, b) }", "1.31", REFUSED),
        (21, "(float[1,3,8,8] x, float[2,4] r, int64[2] b) => "
            "(float[2,3,1,1] y) { y = RoiAlign (x, r, b) }", "1.31", RUNS),
        (28, f"{FLOATS} {{ y = Celu (x) }}", "1.31", REFUSED),
        (28, f"{FLOATS} {{ y = Celu (x) }}", "1.32", RUNS),
        (28, "(uint8[2] x, float s) => (float[2] y) { y = DequantizeLinear (x, s) }", "1.32", REFUSED),
    ],
)  # fmt: skip
def test_kernels_and_functions_decide(opset: int, graph: str, release: str, outcome: str) -> None:
    assert matrix(of(opset, graph))[release][0] == outcome


def test_what_keeps_a_model_from_a_release_is_reported() -> None:
    rows = matrix(
        of(22, "(float[1,3,8,8] x, float[2,4] r, int64[2] b) => (float[2,3,1,1] y) { y = RoiAlign (x, r, b) }")
    )
    assert rows["1.31"][1] == ["RoiAlign (22): no CPU kernel of version 22; the last one is of version 16"]
    rows = matrix(of(28, "(float[2] x) => (float6e2m3[2] y) { y = Cast <to = 27> (x) }"))
    assert rows["1.32"][1] == ["Cast (28): version 28 has no CPU kernel that makes float6_e2m3 of float32"]
    rows = matrix(of(20, "(float16[2] x) => (float16[2] y) { y = Gelu (x) }"))
    assert rows["1.16"][1][-1] == "Gelu (20): not in the release; 1.17 and later have it"


def test_a_function_is_judged_with_the_types_of_its_values() -> None:
    rows = matrix(of(16, "(bfloat16[2,3] x) => (bfloat16[2,3] y) { y = LeakyRelu (x) }"))
    assert rows["1.17"][1] == [
        "LeakyRelu (16): no kernel of version 16 for bfloat16, and the function that stands for it needs "
        "Less (version 13 has no CPU kernel for bfloat16)"
    ]


BODIES = """(bool c, bfloat16[2] x) => (bfloat16[2] y) {
  y = If (c) <then_branch = t () => (bfloat16[2] a) { a = Sin (x) }, else_branch = e () => (bfloat16[2] b) { b = Identity (x) }>
}"""


def test_bodies_are_judged() -> None:
    outcome, why = matrix(of(16, BODIES))["1.31"]
    assert outcome == REFUSED
    assert why == ["Sin (7): version 7 has no CPU kernel for bfloat16"]


FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
g (float[2] x, bfloat16[2] z) => (float[2] y, bfloat16[2] w) { y = f.Twice (x) w = f.Twice (z) }
<domain: "f", opset_import: ["" : 17]> Twice (a) => (b) { b = Sin (a) }"""


def test_a_function_of_the_model_is_judged_for_each_type_that_it_is_called_with() -> None:
    assert matrix(FUNCTION)["1.31"] == (REFUSED, ["Sin (7): version 7 has no CPU kernel for bfloat16"])
    assert matrix(FUNCTION.replace("bfloat16", "float16"))["1.31"] == (RUNS, [])


def test_custom_operators_are_not_known() -> None:
    outcome, why = matrix(of(17, f"{FLOATS} {{ y = my.domain.Special (x) }}", more=', "my.domain" : 1'))["1.31"]
    assert outcome == UNKNOWN
    assert why == ["my.domain.Special (1): a custom operator, which a release takes where its library is registered"]


def test_the_kernels_of_com_microsoft_and_its_attributes_by_release() -> None:
    graph = f"{FLOATS} {{ y = com.microsoft.QuickGelu <alpha = 1.0> (x) }}"
    assert matrix(of(17, graph, more=', "com.microsoft" : 1'))["1.31"] == (RUNS, [])


def test_targets_are_named_by_their_releases() -> None:
    newest = short(tables.releases(RUNTIME)[-1])
    assert target("onnxruntime").label == f"onnxruntime@{newest}"
    assert target("onnxruntime@1.17.3").column == target("onnxruntime@1.17").column
    assert target("onnxruntime@9.9").uses_earlier_release
    assert target("onnxruntime@1").column == target("onnxruntime").column
    assert target("onnxruntime@1.2").column is None
    for wrong in ("onnxruntim", "onnxruntime@", "onnxruntime@x", ""):
        with pytest.raises(ValueError, match="target"):
            target(wrong)
