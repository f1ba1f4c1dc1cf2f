"""Odd models that can be read: every command reads them to the end, and no rule fails."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

import irlint
from irlint.ops.shared.port_maps import GOOD

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

#: A number of more digits than Python converts to an integer.
LONG = "9" * 5000

CLASSIFIED = """<ir_version: 8, opset_import: ["" : 17], metadata_props: ["author" : "Ultralytics", "task" : "{TASK}",
"head" : "Pose", "names" : "{0: 'cat'}", "stride" : "{STRIDE}", "kpt_shape" : "{POINTS}"]>
g (float[1,3,64,64] images) => (float[1,84,84] output0)
{ s = Constant <value = int64[3] {1, 84, 84}> () a = ReduceMean <keepdims = 0> (images) output0 = Expand (a, s) }"""

#: Graphs with the opsets 17 of ai.onnx and 1 of ai.onnx.ml, or 18 for Col2Im.
GRAPHS = {
    "a long number in the name of an output": f"(float[3] x) => (y) {{ a = Relu (x) y = Relu (a_output_{LONG}) }}",
    "a long number in similar names": f"(float[3] x{LONG}, float[3] z) => (y) {{ y = Add (z, x{LONG}9) }}",
    "a long label": (
        f'(int64[3] x) => (y) {{ a = ai.onnx.ml.CategoryMapper <cats_int64s = [1], cats_strings = ["{LONG}"], '
        'default_string = "0"> (x) y = Cast <to = 7> (a) }'
    ),
    "a billion spatial axes": "(float[1,4,4] x, int64[1000000000] s) => (y) { y = Col2Im (x, s, s) }",
    "an axis of one element in four parts": "(float[1] x) => (a, b, c, d) { a, b, c, d = Split (x) }",
    "a large axis in four parts": "(float[8589934593] x) => (a, b, c, d) { a, b, c, d = Split (x) }",
    "a scalar in windows": (
        "(float x) => (y) { y = AveragePool <ceil_mode = 2, kernel_shape = [3, 1], strides = [0, 1]> (x) }"
    ),
    "a window of no size": (
        "(float x) => (y) { y = MaxPool <kernel_shape = [1, 0], dilations = [1, 1], pads = [0], strides = [1, 1]> (x) }"
    ),
    "a declared state of one axis": (
        "(float[8,1,1] x, float[4] k, float[8,1,1] v) => (float[8,1,1] y, float[4] s) "
        "{ y, s = com.microsoft.LinearAttention <kv_num_heads = 1, q_num_heads = 1> (x, k, v) }"
    ),
    "no letter in an equation": '(float[3] x) => (y) { y = Einsum <equation = "_"> (x) }',
    "a divisor of more axes than the declared result": (
        "(float[2,3] x) => (float[2,3] y) <float[2,2,2] d = {1,0,0,2,2,0,1,5}> { y = Div (z, d) }"
    ),
    "weights of one axis": (
        "(float[1,3,8,8] x) => (y) <float[0] w = {}, float[8] b = {1,1,1,1,1,1,1,1}, float[4,8,1,1] v> "
        "{ a = Conv (x, w, b) y = Conv (a, v) }"
    ),
    "a node without inputs and outputs": (
        "(float[4] x) => (y) <float s = {0.5}, int8 z = {0}, uint8 v = {0}> "
        "{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, v) r = Relu (x) }"
    ),
}


def read_to_the_end(data: bytes, name: str) -> None:
    found = irlint.check(data, name=name).findings
    assert {each.rule.code for each in found}.isdisjoint({"IRL008", "IRL599"}), [each.message for each in found]
    irlint.fix(data, name=name, unsafe=True)
    for command in (irlint.info, irlint.shapes, irlint.targets):
        command(data, name=name)


@pytest.mark.parametrize("what", GRAPHS)
def test_odd_onnx_model(what: str) -> None:
    opset = 18 if "Col2Im" in GRAPHS[what] else 17
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "ai.onnx.ml" : 1, "com.microsoft" : 1]> g '
    read_to_the_end(onnx.parser.parse_model(head + GRAPHS[what]).SerializeToString(), "m.onnx")


@pytest.mark.parametrize("removed", range(3))
def test_a_node_without_inputs_or_outputs(removed: int) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]> g '
    model = onnx.parser.parse_model(head + GRAPHS["a node without inputs and outputs"])
    for each in (model.graph.node[removed].input, model.graph.node[removed].output):
        kept = list(each)
        del each[:]
        read_to_the_end(model.SerializeToString(), "m.onnx")
        each.extend(kept)


@pytest.mark.parametrize(
    ("task", "stride", "points"),
    [("detect", LONG, "[1, 1]"), ("detect", "-", "[1, 1]"), ("pose", "32", f"[-{LONG[:4000]}, {LONG[:4000]}]")],
)
def test_long_numbers_in_the_metadata_of_a_detector(task: str, stride: str, points: str) -> None:
    text = CLASSIFIED.replace("{TASK}", task).replace("{STRIDE}", stride).replace("{POINTS}", points)
    read_to_the_end(onnx.parser.parse_model(text).SerializeToString(), "m.onnx")


PARAMETER = (
    '<layer id="{ID}" name="p{ID}" type="Parameter" version="opset1"><data shape="{SHAPE}" element_type="{TYPE}"/>'
    '<output><port id="0" precision="{PRECISION}"/></output></layer>'
)
RESULT = '<layer id="{ID}" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>'


def parameter(id: int, shape: str, type: str = "f32", precision: str = "FP32") -> str:
    text = PARAMETER.replace("{ID}", str(id)).replace("{SHAPE}", shape)
    return text.replace("{TYPE}", type).replace("{PRECISION}", precision)


def document(layers: list[str], edges: list[tuple[str, str, str, str]]) -> bytes:
    lines = [f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges]
    return (
        f'<net name="g" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(lines)}</edges></net>'.encode()
    )


def test_a_hundred_million_spatial_axes() -> None:
    layer = (
        '<layer id="3" name="c" type="ConvolutionBackpropData" version="opset1"><data strides="" dilations="" '
        'pads_begin="" pads_end=""/><input><port id="0"/><port id="1"/><port id="2"/></input>'
        '<output><port id="3" precision="FP32"/></output></layer>'
    )
    inputs = [parameter(0, "..."), parameter(1, "..."), parameter(2, "100000000", "i64", "I64")]
    edges = [(str(at), "0", "3", str(at)) for at in range(3)]
    read_to_the_end(document([*inputs, layer, RESULT.replace("{ID}", "4")], [*edges, ("3", "3", "4", "0")]), "m.xml")


def test_an_unused_layer_with_a_large_id() -> None:
    port = '<input><port id="0"/></input><output><port id="1" precision="FP32"/></output>'
    relus = [f'<layer id="{id}" name="n{id}" type="ReLU" version="opset1">{port}</layer>' for id in (1, 10**15)]
    edges = [("0", "0", "1", "0"), ("1", "1", "2", "0"), ("0", "0", str(10**15), "0")]
    read_to_the_end(document([parameter(0, "2"), *relus, RESULT.replace("{ID}", "2")], edges), "m.xml")


@pytest.mark.parametrize("text", ['port_map="1"', 'back_edges="1"', 'body="1"', 'body="1" port_map=""'])
def test_texts_with_the_names_of_elements(text: str) -> None:
    port = '<input><port id="0"/></input><output><port id="1" precision="FP32"/></output>'
    layer = f'<layer id="1" name="t" type="TensorIterator" version="opset1"><data {text}/>{port}</layer>'
    edges = [("0", "0", "1", "0"), ("1", "1", "2", "0")]
    read_to_the_end(document([parameter(0, "2"), layer, RESULT.replace("{ID}", "2")], edges), "m.xml")


@pytest.mark.oracle
def test_openvino_ignores_a_text_with_the_name_of_an_element() -> None:
    import openvino

    text = GOOD.replace('version="opset1"><input>', 'version="opset1"><data port_map="1" back_edges="1"/><input>', 1)
    assert text != GOOD
    assert not irlint.check(text.encode(), name="m.xml").findings
    openvino.Core().read_model(text.encode(), b"")


def test_a_constant_without_outputs() -> None:
    path = FIXTURES / "openvino/bad/IRL751-attention-scale-zero.xml"
    text = path.read_text("utf-8").replace('shape="1,2,4"', 'shape="1"').replace(' causal="false"', "")
    start = text.index("<output>", text.index('name="scale"'))
    end = text.index("</output>", start) + len("</output>")
    read_to_the_end((text[:start] + text[end:]).encode(), "m.xml")
