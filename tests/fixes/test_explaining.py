"""What a finding says of the graph around it: unused inputs, and ports that declare what came in before."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
from command.process import run
from make.fixtures import ROOT

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def text_of(graph: str, folder: Path) -> str:
    path = folder / "model.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + graph), path)
    return " ".join(run("check", path).stdout.split())


def test_a_missing_input_names_the_input_that_nothing_uses(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[2,3] a, float[2,3] b) => (float[2,3] y) { y = Add (a, a) }")
    del model.graph.node[0].input[1]
    onnx.save(model, tmp_path / "model.onnx")
    text = run("check", tmp_path / "model.onnx").stdout
    assert "`b` is an input of the graph that nothing uses" in text


def test_a_refused_type_is_cast_to_that_of_the_other_input(tmp_path: Path) -> None:
    graph = "g (bool[2,3] a, float[3,4] b) => (float[2,4] y) { y = MatMul (a, b) }"
    assert "cast input 0 to float, the type of input 1" in text_of(graph, tmp_path)


def test_real_numbers_stay_real(tmp_path: Path) -> None:
    graph = "g (int64[2] a, float[2] b) => (float[2] y) { y = Add (a, b) }"
    assert "cast input 0 to float, or input 1 to int64" in text_of(graph, tmp_path)


def test_an_input_that_was_an_attribute(tmp_path: Path) -> None:
    text = text_of("g (float[2,1,3] a) => (float[2,3] y) <int64[1] axes = {1}> { y = Squeeze (a, axes) }", tmp_path)
    assert "IRL" not in text
    model = onnx.load(tmp_path / "model.onnx")
    model.opset_import[0].version = 11
    onnx.save(model, tmp_path / "model.onnx")
    text = " ".join(run("check", tmp_path / "model.onnx").stdout.split())
    assert "write what input 1 holds as the attribute `axes` and remove the input; or import opset 13" in text


def test_a_port_declares_what_came_in_before(tmp_path: Path) -> None:
    ir = (ROOT / "openvino" / "good" / "IRL320-matmul-inner-mismatch.xml").read_text()
    first = ir.index('shape="')
    dims = ir[first + 7 : ir.index('"', first + 7)]
    other = ",".join(str(int(each) + 1) for each in dims.split(","))
    (tmp_path / "model.xml").write_text(ir.replace(f'shape="{dims}"', f'shape="{other}"', 1))
    text = " ".join(run("check", tmp_path / "model.xml").stdout.split())
    assert "that the layer's port declares: correct what feeds it" in text
