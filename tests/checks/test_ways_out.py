"""What is said about the way out: the cause first, and nothing that nobody would write."""

from __future__ import annotations

from pathlib import Path

import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: The help about a declaration in an ONNX model.
DECLARED = [
    ("(float[2,3] x) => (float[2,4] y) { y = Relu (x) }", "if 4 is meant, correct what gives 3; else declare [2, 3]"),
    (
        "(float[2,3] x) => (float[4,5] y) { y = Relu (x) }",
        "if [4, 5] is meant, correct what leads here; else declare [2, 3]",
    ),
    (
        "(float[2,3] x) => (float[2,1] y) <int64[1] s = {3}, int64[1] e = {4}, int64[1] a = {1}> { y = Slice (x, s, e, a) }",
        "correct what leads here",
    ),
    ("(float[2,3] x) => (float[2,3,1] y) { y = Relu (x) }", "else declare [2, 3]"),
]


@pytest.mark.parametrize(("text", "help"), DECLARED, ids=range(len(DECLARED)))
def test_what_to_do_about_a_declaration(text: str, help: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL601"]
    assert found.help.endswith(help)


IR = """<net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="1" name="w" type="Const" version="opset1"><data {data} offset="0" size="{size}"/>
<output><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port>
<port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></input>
<output><port id="2" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="3" name="y" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>2</dim><dim>3</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>
"""

#: The ``data`` of a constant of 2 x 3 numbers, its bytes, and the help about it.
CONSTANTS = [
    (
        'shape="3,2" element_type="f32"',
        24,
        "correct `shape`: with the shape that is declared, IRL201 at Add 'sum' is gone",
    ),
    (
        'shape="1,2" element_type="f32"',
        24,
        "correct `shape`: with the shape that is declared, IRL201 at Add 'sum' is gone",
    ),
    ('shape="1,3" element_type="f32"', 24, "correct the shape of the constant to [2, 3]"),
    ('shape="2,3" element_type="f32"', 12, "12 bytes are exactly what float16 needs: correct the element type"),
    ('shape="2,3" element_type="f32"', 20, "write the constant again with the shape of its data"),
]


@pytest.mark.parametrize(("data", "size", "help"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_what_to_do_about_a_constant(data: str, size: int, help: str, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(IR.format(data=data, size=size))
    path.with_suffix(".bin").write_bytes(bytes(24))
    found = [each for each in irlint.check(path).findings if not each.because and each.severity.value == "error"]
    assert [each.help.startswith(help) for each in found] == [True]
