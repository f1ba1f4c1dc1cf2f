"""Which releases of OpenVINO read an IR, and an ONNX model."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from targets.matrices import FLOATS, matrix, of

import irlint
from irlint.targets import tables
from irlint.targets.verdicts import REFUSED, RUNS, UNKNOWN

RUNTIME = "openvino"

LOOP = "(int64 n, bool c, float[2] a) => (float[2] y) { y = Loop (n, c, a) <body = b (int64 i, bool ci, float[2] ai) =>"
STFT = "(float[{},128,1] x, float[16] w) => (float[?,15,9,2] y) <int64 s = {{8}}> {{ y = STFT (x, s, w) }}"

FRAMES = "(float[1,128] x, float[16] w) => (y) <int64 s = {8}, int64 l = {16}> { y = STFT (x, s, w, l) }"
BLOCKS = """(float[2,64] x, uint8[1,2,16] w, float[2] s) => (y) <uint8[1] z = {0}>
{ y = com.microsoft.MatMulNBits <K = 64, N = 1, bits = 4, block_size = 32> (x, w, s, z) }"""

DIMS = '<port id="{}" precision="FP32"><dim>2</dim><dim>3</dim></port>'


def ir(layer: str, version: int = 11, element_type: str = "f32") -> str:
    """A Parameter, a layer with an attribute list, and a Result."""
    precision = element_type.upper() if element_type != "f32" else "FP32"
    return (
        f'<net name="n" version="{version}"><layers><layer id="0" name="x" type="Parameter" version="opset1">'
        '<data shape="2,3" '
        f'element_type="{element_type}"/><output>{DIMS.format(0).replace("FP32", precision)}</output></layer>'
        f'<layer id="1" name="y" {layer}<input>{DIMS.format(0)}</input><output>{DIMS.format(1)}</output></layer>'
        f'<layer id="2" name="r" type="Result" version="opset1"><input>{DIMS.format(0)}</input></layer></layers><edges>'
        '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    )


def test_the_operations_of_an_opset_come_over_several_releases() -> None:
    rows = matrix(ir('type="Relu" version="opset15">'), RUNTIME)
    assert rows["2024.4"] == (
        REFUSED,
        ["Relu (opset15): no operation of this name in that opset; 2024.5 and later have one"],
    )
    assert rows["2024.5"] == (RUNS, [])
    assert {outcome for outcome, _ in matrix(ir('type="ReLU" version="opset1">'), RUNTIME).values()} == {RUNS}


def test_versions_and_element_types_of_irs() -> None:
    assert {outcome for outcome, _ in matrix(ir('type="Relu" version="opset1">', version=10), RUNTIME).values()} == {
        RUNS
    }
    rows = matrix(ir('type="ShapeOf" version="opset3"><data output_type="i64"/>', element_type="nf4"), RUNTIME)
    assert rows["2023.1"][0] == REFUSED
    assert rows["2024.0"] == (RUNS, [])


def test_an_extension_is_not_known() -> None:
    assert {outcome for outcome, _ in matrix(ir('type="Mine" version="extension">'), RUNTIME).values()} == {UNKNOWN}


def test_a_layer_that_leads_nowhere_does_not_count() -> None:
    text = ir('type="Relu" version="opset15">').replace('from-layer="1" from-port="1"', 'from-layer="0" from-port="0"')
    assert {outcome for outcome, _ in matrix(text, RUNTIME).values()} == {RUNS}


@pytest.mark.parametrize(
    ("opset", "graph", "release", "outcome"),
    [
        (17, f"{FLOATS} {{ y = Relu (x) }}", "2023.1", RUNS),
        (20, f"{FLOATS} {{ y = Gelu (x) }}", "2023.1", REFUSED),
        (20, f"{FLOATS} {{ y = Gelu (x) }}", "2024.0", RUNS),
        (17, f"{FLOATS} {{ y = com.microsoft.FastGelu (x) }}", "2024.0", REFUSED),
        (17, f"{FLOATS} {{ y = com.microsoft.FastGelu (x) }}", "2026.4", RUNS),
        (17, f"{FLOATS} {{ y = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x) }}", "2026.4", REFUSED),
        (13, f"{FLOATS} {{ y = Mod (x, x) }}", "2026.4", REFUSED),
        (13, f"{FLOATS} {{ y = Mod <fmod = 1> (x, x) }}", "2026.4", RUNS),
        (17, f"{FLOATS} {{ y = my.domain.Special (x) }}", "2026.4", UNKNOWN),
        (21, "(int4[2] x) => (int4[2] y) { y = Identity (x) }", "2024.0", REFUSED),
        (21, "(int4[2] x) => (int4[2] y) { y = Identity (x) }", "2026.4", RUNS),
        (
            17,
            "(uint8[1,2,9,9] x, uint8[3,2,3,3] w) => (int32[1,3,3,3] y) { y = ConvInteger <dilations = [2,2], "
            "strides = [2,2]> (x, w) }",
            "2023.1",
            RUNS,
        ),
        (17, "(bool[4,4] x) => (bool[4,4] y) { y = Trilu (x) }", "2024.0", RUNS),
        (
            17,
            "(float[2,3] x) => (float[4,3] y) { s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) }",
            "2026.4",
            RUNS,
        ),
        (17, f"{LOOP} (bool ci, float[2] ao) {{ ao = Add (ai, ai) }}> }}", "2025.4", RUNS),
        (17, f"{LOOP} (bool ci, float[2] ao) {{ ao = Add (ai, ai) }}> }}", "2026.0", REFUSED),
        (17, f"{LOOP} (bool co, float[2] ai) {{ co = Identity (ci) }}> }}", "2026.4", REFUSED),
        (17, f"{LOOP} (bool co, float[2] ao) {{ co = Identity (ci) ao = Add (ai, ai) }}> }}", "2026.4", RUNS),
        (17, FRAMES, "2025.2", REFUSED),
        (17, FRAMES, "2026.4", RUNS),
        (17, FRAMES.replace("128", "128,1"), "2025.2", REFUSED),
        (17, FRAMES.replace("128", "128,1"), "2026.1", RUNS),
        (17, BLOCKS, "2025.2", REFUSED),
        (17, BLOCKS, "2026.1", RUNS),
        (17, BLOCKS.replace("64", "32").replace("[1,2,16]", "[1,1,16]").replace("[2] s", "[1] s"), "2025.2", RUNS),
        (17, STFT.format("1"), "2026.4", RUNS),
        (17, STFT.format("N"), "2023.1", REFUSED),
        (17, STFT.format("N"), "2026.4", REFUSED),
    ],
)
def test_the_front_end_for_onnx(opset: int, graph: str, release: str, outcome: str) -> None:
    more = ', "com.microsoft" : 1, "ai.onnx.ml" : 3, "my.domain" : 1'
    assert matrix(of(opset, graph, more=more), RUNTIME)[release][0] == outcome


SPELLED = of(17, f"{FLOATS} {{ y = ai.onnx.Relu (x) }}")


def sparse(*, taken: bool, given: bool) -> bytes:
    """A model with a sparse initializer that a node takes, that is an output, or that nothing uses."""
    node = "y = Add (x, s)" if taken else "y = Relu (x)"
    outputs = "float[2] y, float[2] s" if given else "float[2] y"
    model = onnx.parser.parse_model(of(17, f"(float[2] x) => ({outputs}) {{ {node} }}"))
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [3.0])
    indices = helper.make_tensor("i", TensorProto.INT64, [1], [1])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2]))
    return bytes(model.SerializeToString())


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (onnx.parser.parse_model(SPELLED).SerializeToString(), REFUSED),
        (sparse(taken=True, given=False), REFUSED),
        (sparse(taken=False, given=True), REFUSED),
        (sparse(taken=False, given=False), RUNS),
    ],
)
def test_domains_and_sparse_tensors_that_the_front_end_does_not_read(data: bytes, verdict: str, tmp_path: Path) -> None:
    import openvino

    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    (entry,) = irlint.targets(path, targets=["openvino"])["targets"]
    assert entry["verdict"] == verdict
    if verdict == RUNS:
        openvino.Core().read_model(path)
    else:
        with pytest.raises(RuntimeError):
            openvino.Core().read_model(path)


FUNCTION = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[2] x) => (float[2] y) { y = f.Twice (x) }
<domain: "f", opset_import: ["" : 17]> Twice (a) => (b) { b = Add (a, a) }"""


def test_calls_of_functions_of_the_model_are_not_read() -> None:
    rows = matrix(FUNCTION, RUNTIME)
    assert {outcome for outcome, _ in rows.values()} == {REFUSED}
    assert not tables.holds(RUNTIME, "onnx-form local-function")
