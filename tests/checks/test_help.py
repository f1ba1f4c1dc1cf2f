"""The help: the cause first, and nothing that nobody would write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
import onnx
import onnx.numpy_helper
import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: The help about a declaration in an ONNX model.
DECLARED = [
    (
        "(float[2,3] x) => (float[2,4] y) { y = Relu (x) }",
        "if 4 is intended, correct the origin of 3; otherwise declare [2, 3]",
    ),
    (
        "(float[2,3] x) => (float[4,5] y) { y = Relu (x) }",
        "if [4, 5] is intended, correct the layers before this one; otherwise declare [2, 3]",
    ),
    (
        "(float[2,3] x) => (float[2,1] y) <int64[1] s = {3}, int64[1] e = {4}, int64[1] a = {1}> { y = Slice (x, s, e, "
        "a) }",
        "correct the layers before this one",
    ),
    ("(float[2,3] x) => (float[2,3,1] y) { y = Relu (x) }", "otherwise declare [2, 3]"),
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
        "correct `shape`: with the declared shape, IRL201 at Add 'sum' is fixed",
    ),
    (
        'shape="1,2" element_type="f32"',
        24,
        "correct `shape`: with the declared shape, IRL201 at Add 'sum' is fixed",
    ),
    ('shape="1,3" element_type="f32"', 24, "correct the shape of the constant to [2, 3]"),
    ('shape="2,3" element_type="f32"', 12, 'write size="24": the ports declare float32[2, 3], too'),
    ('shape="2,4" element_type="f32"', 20, "write the constant again with the shape of its data"),
    (
        'shape="2,5" element_type="f32"',
        20,
        "write the constant again with the shape of its data; or, if its 20 bytes are numbers of float16, correct the "
        "element type, and insert a Convert to float32",
    ),
]


@pytest.mark.parametrize(("data", "size", "help"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_what_to_do_about_a_constant(data: str, size: int, help: str, tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(IR.format(data=data, size=size))
    path.with_suffix(".bin").write_bytes(bytes(24))
    found = [each for each in irlint.check(path).findings if not each.because and each.severity.value == "error"]
    assert [each.help.startswith(help) for each in found] == [True]


@pytest.mark.oracle
def test_bytes_of_another_shape_name_the_shapes_that_have_them() -> None:
    import onnxruntime

    def stored(*dims: int) -> bytes:
        text = f"g (float[2,4] x) => (float[2,N] y) <float[{dims[0]},{dims[1]}] w> {{ y = MatMul (x, w) }}"
        model = onnx.parser.parse_model(f"{HEAD}{text}")
        (declared,) = model.graph.value_info
        model.graph.value_info.remove(declared)
        model.graph.initializer.add(name="w", data_type=onnx.TensorProto.FLOAT, dims=dims, raw_data=bytes(48))
        return model.SerializeToString()

    onnxruntime.InferenceSession(stored(4, 3))
    with pytest.raises(Exception, match="Incompatible dimensions"):
        onnxruntime.InferenceSession(stored(2, 3))
    found = [each for each in irlint.check(onnx.load_from_string(stored(2, 3))).findings if each.rule.code == "IRL703"]
    assert "such as [4, 3] or [2, 6]" in found[0].help


DATA = 'shape="2,3" element_type="f32"'

#: What is replaced in the model by what, the rule that this breaks, and the help about it.
BREACHES = [
    (
        '<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>',
        "",
        "IRL108",
        """add an edge with to-layer="2" to-port="1": connect Const 'w' (layer 1), which is unused and has the type """
        "that input 1 declares",
    ),
    (
        'from-layer="2" from-port="2"',
        'from-layer="2" from-port="0"',
        "IRL105",
        'write from-port="2": output port 2 gives [2, 3]',
    ),
    (
        'to-layer="2" to-port="1"',
        'to-layer="2" to-port="7"',
        "IRL105",
        'write to-port="1": input port 1 declares [2, 3]',
    ),
    (
        'from-layer="1" from-port="0" to-layer="2"',
        'from-layer="2" from-port="5" to-layer="2"',
        "IRL105",
        'write from-layer="1" from-port="0": Const "w" is unused and has the [2, 3] that input port 1 of layer 2 '
        "declares",
    ),
    (
        'from-layer="1" from-port="0" to-layer="2"',
        'from-layer="0" from-port="5" to-layer="2"',
        "IRL105",
        'write from-port="0": output port 0 gives [2, 3]',
    ),
    (
        '<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>',
        '<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/><edge from-layer="0" from-port="0" to-layer="2" '
        'to-port="1"/>',
        "IRL107",
        "remove one of the two edges, or connect it to another port",
    ),
    (
        '<edge from-layer="0" from-port="0" to-layer="2"',
        '<edge from-layer="2" from-port="2" to-layer="2"',
        "IRL103",
        "connect Parameter 'x' (layer 0), which is unused and has the type that input 0 of Add 'sum' declares",
    ),
    ('auto_broadcast="numpy"', 'auto_broadcast="always"', "IRL506", 'write "none", "explicit", "numpy" or "pdpd"'),
    (
        'offset="0"',
        'offset="24"',
        "IRL702",
        "fixed by offset 0: the 24 bytes there belong to no other constant",
    ),
    (
        'offset="0"',
        'offset="8"',
        "IRL702",
        "fixed by offset 0: the 24 bytes there belong to no other constant",
    ),
    (
        '<data shape="2,3" element_type="f32"/>',
        '<data shape="1,3" element_type="f32"/>',
        "IRL601",
        'if [2, 3] is intended, write shape="2,3"; otherwise declare [1, 3]',
    ),
    (
        '<layer id="1"',
        '<layer id="0"',
        "IRL106",
        "give one of the two the id 1, to which edges refer but which no layer has",
    ),
    (
        'auto_broadcast="numpy"|shape="2,3" element_type="f32" offset="0" size="24"/>\n<output>'
        '<port id="0" precision="FP32"><dim>2</dim><dim>3</dim>',
        'auto_broadcast="none"|shape="2,1" element_type="f32" offset="0" size="8"/>\n<output>'
        '<port id="0" precision="FP32"><dim>2</dim><dim>1</dim>',
        "IRL203",
        'write auto_broadcast="numpy", which broadcasts these shapes, or make the shapes equal',
    ),
]


@pytest.mark.parametrize(("before", "after", "code", "help"), BREACHES, ids=range(len(BREACHES)))
def test_what_to_do_about_a_layer(before: str, after: str, code: str, help: str, tmp_path: Path) -> None:
    text = IR.format(data=DATA, size=24)
    for old, new in zip(before.split("|"), after.split("|")):
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "model.xml"
    path.write_text(text)
    path.with_suffix(".bin").write_bytes(bytes(24))
    assert [each.help for each in irlint.check(path).findings if each.rule.code == code] == [help]


#: Graphs with one error, and what to do about it.
SHAPES = [
    (
        "(float[1,64,5,5] x, float[1,32,5,7] z) => (y) { y = Concat <axis = 1> (x, z) }",
        "make axis 3 equal in all inputs",
    ),
    (
        "(float[1,64,5,5] x, float[1,64,5,7] z) => (y) { y = Concat <axis = 1> (x, z) }",
        "join along axis 3, or make axis 3 equal in all inputs",
    ),
    (
        "(float[1,16,32] x, float[32,16] z) => (y) { y = Add (x, z) }",
        "make 16 and 32 in input 0 equal to 32 and 16 in input 1, or one of each pair 1",
    ),
    (
        "(float[1,10,12,12] x, float[20,12,5,5] w) => (y) { y = Conv (x, w) }",
        "pass 12 channels, or use weights for 10",
    ),
    (
        "(float[1,10,9,12] x, float[20,12,5,5] w) => (y) { y = Conv (x, w) }",
        "axis 3 is 12: transpose input 0, or use weights for 10",
    ),
    (
        "(float[2] x, bool c) => (y) { y = If (c) <then_branch = a (float z) => (float[2] v) { v = Relu (x) }, "
        "else_branch = b () => (float[2] u) { u = Abs (x) }> }",
        "remove the inputs of `then_branch`",
    ),
    (
        "(int64 m, bool c, float[3] x) => (y) { y = Loop (m, c, x) <body = b (int64 i, float[3] s) => (bool o, "
        "float[3] t) "
        "{ o = Identity (k) t = Relu (s) }> }",
        "give `body` 3 inputs: its nodes use 'k', which nothing defines",
    ),
    (
        "(int64 m, float[2] x, float[N,4] h) => (y, z) { y, z = Loop (m, , x, h) <body = b (int64 i, bool d, "
        "float[2] s, "
        "float[N,4] k, float[N,3] v) => (bool e, float[2] t, float[N,4] w, float[N,3] u) { e = Identity (d) "
        "t = Neg (s) "
        "w = Neg (k) u = Neg (v) }> }",
        "pass an initial value of `v` ([N, 3]) as input 4 of the Loop and add its final value as output 2, "
        "or remove it "
        "from the body",
    ),
    (
        "(int64 m, float[2] x, float[N,4] h) => (y, z) { y, z = Loop (m, , x, h) <body = b (int64 i, bool d, "
        "float[N,3] "
        "v, float[2] s, float[N,4] k) => (bool e, float[N,3] u, float[2] t, float[N,4] w) { e = Identity (d) "
        "t = Neg (s) "
        "w = Neg (k) u = Neg (v) }> }",
        "pass an initial value of `v` ([N, 3]) as input 2 of the Loop and add its final value as output 0, "
        "or remove it "
        "from the body",
    ),
    (
        "(int64 m, float[N,4] h) => (y, z) { y, z = Loop (m, , h) <body = b (int64 i, bool d, float[2] s, "
        "float[N,4] k) "
        "=> (bool e, float[2] t, float[N,4] w) { e = Identity (d) t = Neg (s) w = Neg (k) }> }",
        "pass an initial value of `s` ([2]) as input 2 of the Loop, or remove it from the body",
    ),
    (
        "(int64 m, float[2] x) => (y) { y = Loop (m, , x) <body = b (int64 i, bool d, float[2] s, int64 v, int64 w) => "
        "(bool e, float[2] t) { e = Identity (d) t = Neg (s) }> }",
        "pass values for `v` and `w` as inputs 3 and 4, or remove `v` and `w` from `body`",
    ),
    (
        "(float[4] a, float[3,2] x) => (y, z) { y, z = Scan <num_scan_inputs = 1, body = b (float[4] s, float[5] v, "
        "float[2] k) => (float[4] t, float[5] u, float[2] w) { t = Neg (s) u = Neg (v) w = Neg (k) }> (a, x) }",
        "pass an initial value of `v` ([5]) as input 1 of the Scan and add its final value as output 1, or remove it "
        "from the body",
    ),
]


@pytest.mark.parametrize(("text", "help"), SHAPES, ids=range(len(SHAPES)))
def test_what_to_do_about_shapes(text: str, help: str) -> None:
    report = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}"))
    (found,) = [each for each in report.findings if each.severity.value == "error" and not each.because]
    assert found.help == help


#: Models with a name for two values, and the help about it.
DOUBLED = [
    ("<float[1] w = {1}, float[1] w = {1}> { y = Add (x, w) }", "remove one of them: both are equal"),
    ("<int64[1] w = {1}, int64[1] w = {1}> { y = Unsqueeze (x, w) }", "remove one of them: both are equal"),
    (
        "<int64[1] w = {1}, int64[1] w = {2}> { [u] y = Unsqueeze (x, w) }",
        "rename one of them, and update the nodes that use it: 'u'",
    ),
    (
        "{ [a] z = Relu (x) [b] z = Neg (x) [u] y = Abs (z) }",
        "rename one of them, and update the nodes that use it: 'u'",
    ),
    (
        "<float[1] w = {1}, float[1] w = {2}> { y = Add (x, w) }",
        "rename one of them, and update the nodes that use it: node 0 (Add)",
    ),
    ("{ y = Relu (x) y = Neg (x) }", "rename one of them, and update the nodes that use it"),
    (
        "{ z = Relu (x) t = Abs (z) z = Neg (t) y = Add (z, w) }",
        "rename the output of node 2 (Neg) to 'w', which node 3 (Add) uses but nothing computes",
    ),
    (
        "{ z = Relu (x) z = Neg (x) [u] t = Abs (z) [v] y = Add (z, w) }",
        "rename one of them, and update the nodes that use it: 'u', 'v'",
    ),
]


def test_nodes_that_are_named_after_what_they_give_decide_which_name_is_wrong() -> None:
    nodes = "{ [Add_92] v92 = Add (x, x) [Neg_95] v92 = Neg (x) y = Mul (v92, x) }"
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (y) {nodes}")
    for node in model.graph.node:
        node.output[:] = [name.removeprefix("v") for name in node.output]
        node.input[:] = [name.removeprefix("v") for name in node.input]
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL102"]
    assert found.help.startswith(
        "rename output 0 of node 'Neg_95' to '95', after which the node is named, and update the nodes that use it: "
        "node 2 (Mul)"
    )


#: Names of three nodes of a chain, what they compute, the right name of the last one, and the end of the help.
NUMBERED = [
    (
        ("c/c.2/Relu", "c/mid/Neg", "c/c.5/Relu"),
        ("c/c.2/Relu_out", "m", "c/c.2/Relu_out"),
        "c/c.5/Relu_out",
        "the nodes that use it: 'last'",
    ),
    (("node_conv", "mid", "node_conv_1"), ("conv", "m", "conv"), "conv_1", "the nodes that use it: 'last'"),
    (("att_2", "mid", "att_3"), ("present_2", "m", "present_2"), "present_3", "the nodes that use it: 'last'"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("nodes", "names", "right", "end"), NUMBERED)
def test_the_number_in_which_two_nodes_differ_decides_which_name_is_wrong(
    nodes: Sequence[str], names: Sequence[str], right: str, end: str
) -> None:
    import onnxruntime

    def chain(last: str) -> onnx.ModelProto:
        given = ["x", names[0], names[1]]
        made = [
            onnx.helper.make_node(op, [one], [other], name)
            for op, one, other, name in zip(("Relu", "Neg", "Relu"), given, (*names[:2], last), nodes, strict=True)
        ]
        ends = [onnx.helper.make_tensor_value_info(each, onnx.TensorProto.FLOAT, [2]) for each in "xy"]
        graph = onnx.helper.make_graph(
            [*made, onnx.helper.make_node("Abs", [last], ["y"], "last")], "g", ends[:1], ends[1:]
        )
        return onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", 17)])

    with pytest.raises(Exception, match="Duplicate definition"):
        onnxruntime.InferenceSession(chain(names[2]).SerializeToString())
    onnxruntime.InferenceSession(chain(right).SerializeToString())
    (found,) = [each for each in irlint.check(chain(names[2])).findings if each.rule.code == "IRL102"]
    assert found.help.startswith(f"rename output 0 of node {nodes[2]!r} to {right!r}")
    assert found.help.endswith(end)


@pytest.mark.parametrize(("nodes", "help"), DOUBLED, ids=range(len(DOUBLED)))
def test_what_to_do_about_two_values_of_one_name(nodes: str, help: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (y) {nodes}").SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL102"]
    assert found.help == help


def test_the_other_of_two_initializers_of_one_name_is_no_suggestion() -> None:
    text = "g (float[n,4] x) => (y) <float[1,1] w = {1}, float[4,1] w = {1, 1, 1, 1}> { y = MatMul (x, w) }"
    found = irlint.check(onnx.parser.parse_model(f"{HEAD}{text}")).findings
    assert "'w' is listed twice among the initializers" in [each.message for each in found]
    assert not any("which nothing uses" in f"{each}" for each in found)


def test_an_input_without_a_shape_is_named_first() -> None:
    model = onnx.parser.parse_model(f"{HEAD}g (float[2] x) => (float[2] y) {{ y = Relu (x) }}")
    model.graph.input[0].type.tensor_type.ClearField("shape")
    messages = [each.message for each in irlint.check(model).findings if each.rule.code == "IRL118"]
    assert messages == ["input 'x' has no declared shape; the ONNX checker refuses the model"]


#: Models of opset 11, the rule that they break, and how the help about it ends.
REFUSED = [
    (
        "(float[2,3] x, float s) => (y) { y = DequantizeLinear (x, s) }",
        "IRL401",
        "cast input 0 to int32, or to another of these types",
    ),
    (
        "(uint8[1,1,4,4] x, float s, uint8 z, int8[1,1,1,1] w, int8 u, float[1] b) => (y) { y = QLinearConv (x, s, z, "
        "w, s, u, s, z, b) }",
        "IRL401",
        "quantize input 8: round(B / (x_scale * w_scale)); a Cast would truncate its numbers",
    ),
    (
        "(float[1,1,4,4] x) => (y) <float[2] s = {2, 2}> { y = Resize (x, s, s) }",
        "IRL365",
        "give `scales` 4 entries, such as [1, 1, 2, 2]",
    ),
    (
        "(float[N,3,8,8] x, float[0] r) => (y) <int64[2] s = {16, 16}> { y = Resize (x, r, r, s) }",
        "IRL365",
        "give `sizes` 4 entries, such as [N, 3, 16, 16]",
    ),
    (
        "(bfloat16[2,3] x) => (y) { y = Relu (x) }",
        "IRL401",
        "or use opset 13, whose operator supports bfloat16",
    ),
    (
        "(float16[1] a = {1}) => (float16[1] y) <float16[1] b = {1}, float16[1] c = {1}> { s = Add (a, b) y = Add (s, "
        "c) }",
        "IRL602",
        "convert the initializer to float16, the type of 2 others, or declare float32",
    ),
]


@pytest.mark.parametrize(("text", "code", "help"), REFUSED, ids=range(len(REFUSED)))
def test_what_to_do_about_an_element_type(text: str, code: str, help: str, tmp_path: Path) -> None:
    model = onnx.parser.parse_model(f"{HEAD.replace('17', '11')}g {text}")
    for stored in model.graph.initializer:
        if stored.name == "a":
            stored.CopyFrom(onnx.helper.make_tensor("a", onnx.TensorProto.FLOAT, [1], [1]))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == code]
    assert found.help.endswith(help)


@pytest.mark.parametrize(
    ("size", "help"),
    [
        ("N", "set `allowzero = 0`, so that 0 copies axis 0 of input 0 (N), or replace the -1 by the size"),
        ("0", "replace the -1 by the size"),
    ],
)
def test_a_target_with_a_literal_zero(size: str, help: str) -> None:
    text = f"(float[{size},6] x) => (y) <int64[3] t = {{0, -1, 2}}> {{ y = Reshape <allowzero = 1> (x, t) }}"
    found = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}")).findings
    assert [each.help for each in found if each.rule.code == "IRL331"] == [help]


#: Models that only one size of n suits, and how the help about it begins.
FROZEN = [
    (
        "(float[n,6] x) => (y) <int64[2] s = {4, 6}> { y = Reshape (x, s) }",
        "compute the target from the input (with -1, or with its Shape), or declare 4",
    ),
    (
        "(float[2,n,6] x, float[2,n,6] z) => (y) { y = MatMul (x, z) }",
        "with the last two axes of input 0 or of input 1 swapped, it works for every size; or declare 6",
    ),
    (
        "(float[2,n,6] x) => (y, z) <int64[2] s = {3, 3}> { y, z = Split <axis = 1> (x, s) }",
        "6 is axis 2 of input 0: if that axis is intended, correct `axis`; or declare 6",
    ),
]


@pytest.mark.parametrize(("text", "help"), FROZEN, ids=range(len(FROZEN)))
def test_what_to_do_about_a_frozen_size(text: str, help: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL608"]
    assert found.help == help


@pytest.mark.parametrize(
    ("graph", "text"),
    [
        (
            "(float[1,64,8,8] x) => (y, z) <float[4,64,1,1] heads_0_w = {0}> { y = Conv (x, heads_0_w) z = Conv (x, "
            "heads_1_w) }",
            "restore it (float32[4, 64, 1, 1], as 'heads_0_w' is), or",
        ),
        (
            "(float[2,8] x) => (y, z) <float[8] norm_b = {0}> { w = Identity (norm_w) u = Mul (x, norm_w) y = Add (u, "
            "norm_b) z = Mul (y, w) }",
            "restore it (float32[8] fits where it is used), or",
        ),
        (
            "(float[2,8] x) => (y) <float[8] fc_b = {0}> { u = MatMul (x, fc_w) y = Add (u, fc_b) }",
            "restore it, or",
        ),
        (
            "(float[2,8] x) => (y) <float[8] val_168 = {0}, float[3] val_181 = {0}> { u = Mul (x, val_168) y = Add (u, "
            "val_18) }",
            "restore the initializer 'val_18', or connect `val_168`, which fits, if the name is misspelled",
        ),
    ],
)
def test_of_what_type_a_missing_initializer_is(graph: str, text: str) -> None:
    report = irlint.check(onnx.parser.parse_model(f"{HEAD}g {graph}"))
    (found,) = {each.help for each in report.findings if each.rule.code == "IRL101"}
    assert text in found


def test_the_input_that_comes_from_a_later_node_of_the_file_is_the_first_of_a_cycle() -> None:
    nodes = "a = Relu (x) b = Exp (a) c = Add (b, g) d = Abs (c) e = Neg (d) f = Sqrt (e) g = Sin (f) y = Mul (g, a)"
    report = irlint.check(onnx.parser.parse_model(f"{HEAD}g (float[2] x) => (float[2] y) {{ {nodes} }}"))
    notes = [line.strip() for line in report.text(width=120).splitlines() if "= note:" in line]
    assert notes[0] == "= note: input 1 of Add 'c' is the output of Sin 'g', which comes later in the file"


def test_an_input_behind_a_fault_that_nothing_declares_is_not_called_declared() -> None:
    nodes = "{ s = Softmax <axis = 2> (x) y = Reshape (s, t) }"
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,3] x) => (y) <int64[2] t = {{-1, -1}}> {nodes}")
    assert "not known: output of x -> Softmax[0]" in irlint.check(model, select=["IRL331"]).text(width=120)


def test_a_name_that_is_given_twice_is_marked_where_it_stands() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[2,3] x) => (y) {{ same = Relu (x) same = Neg (x) y = Abs (same) }}"
    )
    report = irlint.check(model, select=["IRL102"]).text(width=100)
    assert "[1] | same = Neg (x)\n    | ^^^^\n" in report


def test_a_later_opset_states_which_other_nodes_have_to_follow() -> None:
    nodes = "{ a = LayerNormalization (x, w) b = Squeeze <axes = [0]> (a) c = Squeeze <axes = [0]> (b) y = Relu (c) }"
    text = f"{HEAD.replace('17', '12')}g (float[1,1,3] x, float[3] w) => (float[3] y) {nodes}"
    (found,) = [each for each in irlint.check(onnx.parser.parse_model(text)).findings if each.rule.code == "IRL509"]
    assert found.help == (
        "import opset 17 or later, and write Squeeze 'b' and 1 more node for it: no attribute `axes` at opset 17, only "
        "up to "
        "opset 12; at opset 17, `axes` is an input"
    )
    alone = text.replace("b = Squeeze <axes = [0]> (a) c = Squeeze <axes = [0]> (b)", "c = Relu (a)")
    (found,) = [each for each in irlint.check(onnx.parser.parse_model(alone)).findings if each.rule.code == "IRL509"]
    assert found.help == "import opset 17 or later"


#: An output of a custom operator, the end of the message and the beginning of the help.
CUSTOM = [
    ("float[2,3]", "and uses the declared shapes of its outputs", "describe the operator under [[operators]]"),
    ("float[]", "and the shapes of its outputs are not all declared", "declare the shapes in value_info"),
]


@pytest.mark.parametrize(("declared", "message", "help"), CUSTOM, ids=("declared", "not declared"))
def test_a_custom_operator_is_described_or_its_outputs_are_declared(
    declared: str, message: str, help: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.onnx"
    text = f"""<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
g (float[2,3] x) => ({declared} y) {{ y = my.domain.Special (x) }}"""
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    (found,) = [each for each in irlint.check(path).findings if each.rule.code == "IRL502"]
    assert found.message.endswith(message)
    assert found.help.startswith(help)


#: The direction of an LSTM, the number of directions of W, R and B, the width of what follows, and the suggestion.
DIRECTIONS = [
    ("", (2, 2, 2), 16, "set `direction = bidirectional`"),
    ("", (2, 2, 2), 8, "set `direction = bidirectional`, or use weights for 1 direction"),
    ("bidirectional", (1, 1, 1), 8, "set `direction = forward`"),
    ("bidirectional", (1, 1, 1), 16, "set `direction = forward`, or use weights for 2 directions"),
    ("", (2, 1, 1), 8, "give W the shape [num_directions, 4*hidden_size, input_size]"),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("direction", "counts", "width", "expected"), DIRECTIONS)
def test_weights_for_another_number_of_directions(
    direction: str, counts: tuple[int, int, int], width: int, expected: str
) -> None:
    import onnxruntime

    given = f'direction = "{direction}", ' if direction else ""
    text = f"""g (float[S,N,6] x) => (float[S,N,5] y) <int64[3] t = {{0, 0, {width}}}> {{
  o = LSTM <{given}hidden_size = 8> (x, w, r, b) p = Transpose <perm = [0, 2, 1, 3]> (o) q = Reshape (p, t)
  y = MatMul (q, f) }}"""
    model = onnx.parser.parse_model(HEAD + text)
    shapes = {"w": (counts[0], 32, 6), "r": (counts[1], 32, 8), "b": (counts[2], 64), "f": (width, 5)}
    for name, shape in shapes.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(numpy.ones(shape, "float32"), name))
    x = numpy.ones((3, 2, 6), "float32")
    with pytest.raises(Exception, match=r"must have shape|[Dd]imension"):
        onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL375"]
    assert (found.suggestion or found.help) == expected


#: An operator of an unknown domain, the severity of the finding, and the beginning of its help.
DOMAINS = [
    ("com.microsft.FastGelu", "warning", 'set the domain to "com.microsoft"'),
    ("my.domain.FastGelu", "note", 'set the domain to "com.microsoft" if you intend the operator of this name there;'),
    ("my.domain.Gelu", "note", 'set the domain to "" or "com.microsoft" if you intend the operator'),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "severity", "help"), DOMAINS)
def test_the_domain_that_has_an_operator(name: str, severity: str, help: str) -> None:
    import onnxruntime

    domain = name.rpartition(".")[0]
    text = f"""<ir_version: 8, opset_import: ["" : 17, "{domain}" : 1]>
g (float[2,3] x) => (float[2,3] y) {{ y = {name} (x) }}"""
    model = onnx.parser.parse_model(text)
    with pytest.raises(Exception, match="not a registered function"):
        onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = [each for each in irlint.check(model).findings if each.rule.code == "IRL502"]
    assert found.severity.value == severity
    assert found.help.startswith(help)
    if severity == "warning":
        onnxruntime.InferenceSession(irlint.fix(model, unsafe=True).data)


#: A node, and words of its message.
WORDED = [
    (
        "(float[4,3] x, int64[2,3] i) => (y) { y = GatherND (x, i) }",
        "so each index covers 3 axes, but input 0 ([4, 3]) has only 2",
    ),
    ("(float[2,3] x) => (float[2,3] y) <float d = {0.0}> { y = Div (x, d) }", "input 1 is a scalar and is 0"),
    ("(int64[2] x) => (int64[2] y) <int64 d = {0}> { y = Div (x, d) }", "input 1 is a scalar and is 0"),
    ("(float[1,8,2] x) => (y) { y = DFT <onesided = 1> (x) }", "needs real numbers, so this axis must be 1"),
]


@pytest.mark.parametrize(("text", "message"), WORDED, ids=range(len(WORDED)))
def test_the_words_of_a_message(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(f"{HEAD}g {text}").SerializeToString())
    assert [each.message for each in irlint.check(path).findings if message in each.message]


#: The opset of the model, the opset and the nodes of a function, and the difference between the opsets.
FUNCTION_OPSETS = [
    (21, 12, "b = Neg (a)", "which has another version of the operator"),
    (11, 13, "b = LessOrEqual (a, a)", "and only opset 13 has the operator"),
    (20, 3, "b = IsInf (a)", "and only opset 20 has the operator"),
    (21, 12, "c = Neg (a) b = Neg (c)", "which has another version of the operator; 1 more node differs"),
]


@pytest.mark.parametrize(("model", "function", "nodes", "difference"), FUNCTION_OPSETS)
def test_how_the_opset_of_a_function_differs(model: int, function: int, nodes: str, difference: str) -> None:
    text = f"""<ir_version: 10, opset_import: ["" : {model}, "f" : 1]>
g (float[2] x) => (y) {{ y = f.F (x) }} <domain: "f", opset_import: ["" : {function}]> F (a) => (b) {{ {nodes} }}"""
    (found,) = [each for each in irlint.check(onnx.parser.parse_model(text)).findings if each.rule.code == "IRL133"]
    expected = f"the function imports opset {function} of ai.onnx, and the model imports opset {model}, {difference}"
    assert found.message == expected


#: A node of ``y`` that takes a value of another kind, and the help.
OTHER_KINDS = [
    ("y = Concat <axis = 0> (s)", "use ConcatFromSequence, which takes a sequence"),
    ("y = Relu (s)", "take one element of input 0 with SequenceAt, or all with ConcatFromSequence"),
    ("y = SequenceLength (x)", "make a sequence of input 0, with SequenceConstruct or SplitToSequence"),
    ("o = Optional (x) y = Relu (o)", "take the element of input 0 with OptionalGetElement"),
    (
        "m = ai.onnx.ml.ZipMap <classlabels_int64s = [0, 1, 2]> (x) y = Relu (m)",
        "connect the tensor from which input 0 is made, such as the input of ZipMap",
    ),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("nodes", "help"), OTHER_KINDS)
def test_sequences_maps_and_optional_values_are_not_cast(nodes: str, help: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(
        f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
g (float[2,3] x) => (y) {{ s = SequenceConstruct (x, x) {nodes} }}"""
    )
    found = [each for each in irlint.check(model).findings if each.rule.code == "IRL401"]
    assert [each.help for each in found] == [help]
    with pytest.raises(Exception, match="INVALID_GRAPH"):
        onnxruntime.InferenceSession(model.SerializeToString())
