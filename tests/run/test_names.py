"""Which value of a model a name stands for."""

from __future__ import annotations

import onnx
import pytest

from irlint.model import Model
from irlint.parsers.onnx import read
from irlint.parsers.openvino import read as read_ir
from irlint.run.names import NotOneValue, completions, resolved

ONNX = """<ir_version: 10, opset_import: ["" : 17, "f" : 1]>
g (bool c, float[2] x) => (float[2] y, float[2] z, float[2] t) {
  ["/head/Split"] "a.0", "a.1" = Split (x)
  ["/head/Join"] a = Concat <axis = 0> ("a.0", "a.1")
  ["/tail/Join"] z = Concat <axis = 0> ("a.1", "a.0")
  [pick] y = If (c) <
    then_branch = then () => (float[2] v) { v = Neg (x) },
    else_branch = other () => (float[2] v) { [Join] w = Relu (x) v = Neg (w) } >
  t = f.Twice (x)
}
<domain: "f", opset_import: ["" : 17]>
Twice (a) => (b) { d = Exp (a) b = Add (d, d) }"""

IR = """<net name="m" version="11">
<layers>
<layer id="0" name="images" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>
<output><port id="0" precision="FP32" names="pixels,input:0"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="7" name="block/relu" type="ReLU" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input>
<output><port id="1" precision="FP32"><dim>2</dim><dim>3</dim></port></output></layer>
<layer id="8" name="result" type="Result" version="opset1"><input><port id="0"><dim>2</dim><dim>3</dim></port></input>\
</layer>
</layers>
<edges><edge from-layer="0" from-port="0" to-layer="7" to-port="0"/>\
<edge from-layer="7" from-port="1" to-layer="8" to-port="0"/></edges>
</net>"""


def model(text: str) -> Model:
    if text.startswith("<net"):
        return read_ir("m.xml", text.encode())
    return read("m.onnx", onnx.parser.parse_model(text).SerializeToString())


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        (ONNX, "a", "a"),
        (ONNX, "/head/Split", "a.0"),
        (ONNX, "Split", "a.0"),
        (ONNX, "head/Join", "a"),
        (ONNX, "pick", "y"),
        (ONNX, "pick/then_branch/v", "pick/then_branch/v"),
        (ONNX, "then_branch/v", "pick/then_branch/v"),
        (ONNX, "pick/else_branch/Join", "pick/else_branch/w"),
        (ONNX, "w", "pick/else_branch/w"),
        (ONNX, "relu", "pick/else_branch/w"),
        (ONNX, "d", "function:f:Twice/d"),
        (ONNX, "Twice/b", "function:f:Twice/b"),
        (IR, "7", "7:1"),
        (IR, "7:1", "7:1"),
        (IR, "relu", "7:1"),
        (IR, "input:0", "0:0"),
        (IR, "result", "7:1"),
    ],
)
def test_names(text: str, name: str, value: str) -> None:
    assert resolved(name, model(text)).name == value


@pytest.mark.parametrize(
    ("text", "name", "helps"),
    [
        (ONNX, "v", ("`pick/then_branch/v`, of Neg", "`pick/else_branch/v`, of Neg")),
        (ONNX, "/Join", ('`a`, of Concat "/head/Join"', '`z`, of Concat "/tail/Join"', '`pick/else_branch/w`, of Relu '
            '"Join"')),
        (ONNX, "HEAD", ("help: did you mean `/head/Split`, `/head/Join`?",)),
        (ONNX, "/had/Split", ("help: did you mean `/head/Split`, `/head/Join`?",)),
        (ONNX, "nothing like it", ("help: `irlint shapes` lists all values",)),
        (ONNX, "", ("help: `irlint shapes` lists all values",)),
        (IR, "image", ("help: did you mean `images`?",)),
    ],
)  # fmt: skip
def test_names_of_no_value_or_several(text: str, name: str, helps: tuple[str, ...]) -> None:
    with pytest.raises(NotOneValue) as raised:
        resolved(name, model(text))
    assert raised.value.helps == helps


def test_completions() -> None:
    assert completions("/head/", model(ONNX)) == ["/head/Join", "/head/Split"]
