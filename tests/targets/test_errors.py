"""Which errors of the check make a release refuse a model, held against the engines."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from targets.matrices import FLOATS, of
from targets.test_openvino import ir

import irlint

#: Graphs with an error, at opset 17: what the newest ONNX Runtime and the newest front end of OpenVINO do.
GRAPHS = [
    ("(float[2,3] x, float[2] z) => (y) { y = Add (x, z) }", "refused", "refused"),
    ("(float[2,3] x) => (y) <float[4,2] w = {1,1,1,1,1,1,1,1}> { y = MatMul (x, w) }", "refused", "refused"),
    ("(float[1,2,8] x) => (y) { y = MaxPool <kernel_shape = [3,3], dilations = [1,1]> (x) }", "refused", "refused"),
    (f"{FLOATS} {{ y = Add (x, missing) }}", "refused", "refused"),
    (f"{FLOATS} {{ z = Add (x, y) y = Relu (z) }}", "refused", "unknown"),
    ("(float[1] x) => (y) { c = com.microsoft.Constant <value = float[1] {1}> () y = Add (x, c) }", "runs", "refused"),
    ("(float[N,3] x, float[3] z) => (y) { s = Shape (z) t = Concat <axis = 0> (s, s) y = Reshape (z, t) }", "unknown",
     "refused"),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("graph", "onnxruntime", "openvino"), GRAPHS)
def test_errors_of_onnx_models(graph: str, onnxruntime: str, openvino: str, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(of(17, graph.replace("=> (y)", "=> (float[?,?] y)")))
    found = irlint.targets(model, targets=["onnxruntime", "openvino", "qnn"])["targets"]
    verdicts = {each["name"]: each["verdict"] for each in found}
    assert verdicts == {"onnxruntime": onnxruntime, "openvino": openvino, "qnn": onnxruntime}
    import onnxruntime as runtime
    import openvino as reader

    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    if onnxruntime == "refused":
        with pytest.raises(Exception, match="ONNXRuntimeError"):
            runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    else:
        runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    if openvino == "refused":
        with pytest.raises(RuntimeError):
            reader.Core().read_model(path)


#: An IR whose Softmax has another axis.
SOFTMAX = 'type="Softmax" version="opset8"><data axis="{}"/>'


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        (ir(SOFTMAX.format("1")), "runs"),
        (ir(SOFTMAX.format("5")), "refused"),
        (ir(SOFTMAX.format("one")), "refused"),
        (ir('type="Relu" version="opset1">').replace("<dim>3</dim></port></output></layer><layer id=\"2\"",
                                                     "<dim>4</dim></port></output></layer><layer id=\"2\""), "unknown"),
        (ir('type="Relu" version="opset1">').replace('to-layer="2" to-port="0"', 'to-layer="2" to-port="7"'),
         "refused"),
    ],
)  # fmt: skip
def test_errors_of_irs(text: str, verdict: str, tmp_path: Path) -> None:
    """A wrong declaration is an error, and OpenVINO compares none."""
    import openvino

    path = tmp_path / "m.xml"
    path.write_text(text)
    (entry,) = irlint.targets(path, targets=["openvino"])["targets"]
    assert entry["verdict"] == verdict
    if verdict == "refused":
        with pytest.raises(RuntimeError):
            openvino.Core().read_model(path)
    else:
        openvino.Core().compile_model(path, "CPU")


def test_a_refusal_that_follows_from_an_error_names_this_error() -> None:
    graph = (
        "(float[2,3] x) => (float[2,3] y) <int64[1] a = {0}> { u = Unsqueeze (x, a) v = Unsqueeze (u, a) y = Relu (v) }"
    )
    (entry,) = irlint.targets(onnx.parser.parse_model(of(11, graph)), targets=["onnxruntime"])["targets"]
    assert entry["verdict"] == "refused"
    assert [each["rule"] for each in entry["reasons"]] == ["nodes-of-another-opset"]


@pytest.mark.oracle
@pytest.mark.parametrize(("opset", "verdict"), [(7, "unknown"), (11, "refused")])
def test_shape_inference_of_first_versions_compares_little(opset: int, verdict: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(of(opset, "(float[2,3] x) => (float[2,3] y) { y = Softmax <axis = 4> (x) }"))
    (entry,) = irlint.targets(model, targets=["onnxruntime"])["targets"]
    assert entry["verdict"] == verdict
    if verdict == "refused":
        with pytest.raises(Exception, match="must be in"):
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    else:
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
