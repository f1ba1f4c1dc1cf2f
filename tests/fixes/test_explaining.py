"""What a finding says of the graph around it: unused inputs, and ports that declare what came in before."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy
import onnx.helper
import onnx.parser
import pytest
from command.process import run

import irlint

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
    assert "help: insert a Cast with `to = float32` before input 0 = rule" in text_of(graph, tmp_path)


def test_an_input_that_was_an_attribute(tmp_path: Path) -> None:
    graph = (
        "g (float[2,1,3] a, float[2,1,3] b) => (float[2,3] y) <int64[1] axes = {1}> "
        "{ c = Squeeze (a, axes) d = Squeeze (b) y = Add (c, d) }"
    )
    model = onnx.parser.parse_model(HEAD + graph)
    model.opset_import[0].version = 11
    model.graph.node[1].attribute.append(onnx.helper.make_attribute("axes", [1]))
    onnx.save(model, tmp_path / "model.onnx")
    text = " ".join(run("check", tmp_path / "model.onnx").stdout.split())
    assert "write the value of input 1 as the attribute `axes` and remove the input; or import opset 13" in text


IR = """<net version="11"><layers>
<layer id="0" name="a" type="Parameter" version="opset1"><data shape="SIZE,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>SIZE</dim><dim>3</dim></port></output></layer>
<layer id="1" name="b" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="2" name="c" type="Concat" version="opset1"><data axis="1"/>
<input><port id="0"><dim>2</dim><dim>3</dim></port><port id="1"><dim>2</dim><dim>3</dim></port></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>6</dim></port></output></layer>
<layer id="3" name="r" type="Result" version="opset1">
<input><port id="0"><dim>2</dim><dim>6</dim></port></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>
"""


def test_a_port_declares_what_came_in_before(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(IR.replace("SIZE", "2"))
    assert run("check", path).stdout.startswith("No findings.")
    path.write_text(IR.replace("SIZE", "5"))
    text = " ".join(run("check", path).stdout.split())
    assert "input 0 is not the [2, 3] that the layer's port declares: correct what feeds it" in text


@pytest.mark.oracle
def test_a_problem_follows_from_one_that_gets_a_note(tmp_path: Path) -> None:
    """The condition of a target that a wrong factor makes too small follows from the error of the convolution behind
    it, which gets a note about its port."""
    import openvino
    from openvino import opset13 as op

    def listed(number: int) -> Any:
        return op.constant(numpy.array([number]))

    x = op.parameter([-1, 3, -1, -1], numpy.float32, name="x")
    sizes = op.shape_of(x)
    batch, height, width = (op.gather(sizes, listed(at), op.constant(0)) for at in (0, 2, 3))
    halves = [op.divide(each, listed(2)) for each in (height, width)]
    parts = [batch, listed(3), halves[0], listed(2), halves[1], listed(2)]
    blocks = op.transpose(op.reshape(x, op.concat(parts, 0), False), op.constant(numpy.array([0, 1, 3, 5, 2, 4])))
    factor = listed(4)
    factor.set_friendly_name("factor")
    channels = op.multiply(listed(3), factor)
    flat = op.reshape(blocks, op.concat([batch, channels, *halves], 0), False)
    filters = op.constant(numpy.ones((5, 12, 1, 1), numpy.float32))
    y = op.convolution(flat, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(y, name="y")], [x], "m"), path, compress_to_fp16=False)
    weights = bytearray(path.with_suffix(".bin").read_bytes())
    stored = re.search(r'name="factor" .*?offset="(\d+)" size="8"', path.read_text("utf-8"), re.DOTALL)
    assert stored is not None
    weights[int(stored[1]) : int(stored[1]) + 8] = (2).to_bytes(8, "little")
    path.with_suffix(".bin").write_bytes(weights)
    text = run("check", path).stdout
    assert "IRL008" not in text
    assert "2 more follow from this" in text


SCAN = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[T,4] s, float[2] h) => (float[2] f, float[T,A] z)'
    " <float[4,WIDTH] w = {ZEROS}> { p = MatMul (s, w) q = Sigmoid (p)"
    " f, z = Scan <num_scan_inputs = 1, body = b (float[2] i, float[DECLARED] x) => (float[2] o, float[K] k)"
    " { o = Neg (i) k = OPERATION }> (h, q) }"
)


def scan(width: int, declared: int, operation: str) -> str:
    zeros = ", ".join(["0"] * 4 * width)
    text = SCAN.replace("WIDTH", str(width)).replace("ZEROS", zeros).replace("DECLARED", str(declared))
    return text.replace("OPERATION", operation)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("operation", "help", "loads"),
    [
        ("Neg (x)", "declare it as [4], or pass [2]", True),
        ("Mul (x, i)", "pass the sizes that `body` declares, which its nodes need", False),
    ],
)
def test_a_body_is_declared_as_its_node_passes_only_if_its_nodes_accept_that(
    operation: str, help: str, loads: bool
) -> None:
    import onnxruntime

    def load(width: int, declared: int) -> None:
        model = onnx.parser.parse_model(scan(width, declared, operation)).SerializeToString()
        onnxruntime.InferenceSession(model)

    load(2, 2)
    with pytest.raises(Exception, match="FAIL"):
        load(4, 2)
    if loads:
        load(4, 4)
    else:
        with pytest.raises(Exception, match="FAIL"):
            load(4, 4)
    (found,) = irlint.check(onnx.parser.parse_model(scan(4, 2, operation)), ignore=["IRL9"]).findings
    assert (found.rule.code, found.help) == ("IRL391", help)
    expected = "4 is axis 1 of initializer `w`, then kept by MatMul[0] and Sigmoid[1]"
    reason = "with these sizes, Mul[1] of `body` fails: axis 0 is 4 in input 0 and 2 in input 1"
    assert found.detail.notes[0] == expected
    assert (reason in found.detail.notes) != loads


def test_a_body_that_fails_with_both_shapes_is_corrected() -> None:
    (found, *_) = irlint.check(onnx.parser.parse_model(scan(4, 3, "Mul (x, i)"))).findings
    assert (found.rule.code, found.help) == ("IRL391", "correct the nodes of `body`, and make both shapes equal")
