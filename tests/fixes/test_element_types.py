"""Suggested fixes of element types: of all inputs that a node refuses, and at the nodes that give values their types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
from cases.ir_documents import edge, layer, net, parameter, result, written
from oracles.openvino_worker import outcomes

import irlint

#: A graph, and behind | the first sentence of its message, and the suggestion.
REFUSED_TYPES = """
(int64[1,4] x, int64[1,4] s) => (float[1,4,8] y) <float[9,8] a, float[9,8] b, float[2,8] c, float[8] g, float[8] h> { y, m = com.microsoft.EmbedLayerNormalization (x, s, a, b, c, g, h) } | inputs 0 (input_ids) and 1 (segment_ids) are int64 | declare `x` as int32, and declare `s` as int32
(int64[1,4] i, int64[1,4] j) => (int64[1,4] k, float[1,4,8] y) <float[9,8] a, float[9,8] b, float[2,8] c, float[8] g, float[8] h> { k = Neg (i) x = Abs (i) s = Abs (j) y, m = com.microsoft.EmbedLayerNormalization (x, s, a, b, c, g, h) } | inputs 0 (input_ids) and 1 (segment_ids) are int64 | insert a Cast with `to = int32` before input 0, and insert a Cast with `to = int32` before input 1
(float[2] x, float[2] s) => (float[2] y) { a = And (x, s) y = Cast <to = 1> (a) } | inputs 0 (A) and 1 (B) are float32 | declare `x` as bool, and declare `s` as bool
(float[2] x, bool[2] s) => (float[2] y) { a = And (x, s) y = Cast <to = 1> (a) } | input 0 (A) is float32 | insert a Cast with `to = bool` before input 0
(float[2] x, int64[2] s) => (float[2] y) { a = And (x, s) y = Cast <to = 1> (a) } | input 0 (A) is float32; the operator takes bool since opset 7; input 1 (B) is int64 | declare `x` as bool, and declare `s` as bool
(float[2] x) => (float[2] y) { c = Cast <to = 1> (x) a = And (c, c) y = Cast <to = 1> (a) } | inputs 0 (A) and 1 (B) are float32 | set `to = 9` in Cast[0]
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", REFUSED_TYPES)
def test_all_inputs_of_a_refused_type_are_reported_and_corrected(line: str) -> None:
    import onnxruntime

    text, fact, suggestion = line.split(" | ")
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>\ng {text}')
    for value in model.graph.value_info:
        if value.name not in {each.name for each in model.graph.initializer}:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(shape, "float32"), value.name))
    data = model.SerializeToString()
    with pytest.raises(Exception, match="Type 'tensor"):
        onnxruntime.InferenceSession(data)
    (root,) = [each for each in irlint.check(data).findings if each.severity.value == "error"]
    assert root.message.startswith(fact)
    assert root.suggestion == suggestion
    assert (root.fix is None) == ("declare `x` as bool" in suggestion)
    if root.fix is not None:
        onnxruntime.InferenceSession(irlint.fix(data, unsafe=True).data)


@pytest.mark.oracle
def test_all_inputs_of_a_refused_type_are_reported_in_an_ir(tmp_path: Path) -> None:
    layers = [parameter(0), layer(1, "LogicalAnd", "01", "2", data='<data auto_broadcast="numpy"/>'), result(2)]
    path = written(tmp_path, net(layers, [edge(0, 0, 1, 0), edge(0, 0, 1, 1), edge(1, 2, 2, 0)]))
    root = next(each for each in irlint.check(path).findings if each.rule.code == "IRL401")
    assert root.message.startswith("inputs 0 and 1 are float32; the operator takes")
    assert root.help.startswith("convert inputs 0 and 1 to bool")
    assert outcomes([path])[0][0] != "ok"


SEQUENCE_BODY = (
    "(int64 i, bool d, seq(float16[2]) t) => (bool e, seq(float16[2]) v) { e = Identity (d) v = SequenceInsert (t, x) }"
)
STATE_BODY = "(int64 i, bool d, float16[2] t) => (bool e, float16[2] v) { e = Identity (d) v = Add (t, x) }"
STATES = "<int64 n = {3}, bool c = {1}, int64[1] k = {2}, float[2] w = {0,1}>"

#: The nodes of a graph with the input float16[2] `x` and the output float16 `y`, and behind | the suggestion.
TYPED_ELSEWHERE = f"""
s = SequenceEmpty <dtype = 1> () t = SequenceInsert (s, x) u = SequenceInsert (t, x) y = ConcatFromSequence <axis = 0> (u) | set `dtype = 10` in SequenceEmpty[0]
s = SequenceEmpty () t = SequenceInsert (s, x) y = ConcatFromSequence <axis = 0> (t) | set `dtype = 10` in SequenceEmpty[0]
s = SequenceEmpty <dtype = 1> () u = Loop <body = b {SEQUENCE_BODY}> (n, c, s) y = ConcatFromSequence <axis = 0> (u) | set `dtype = 10` in SequenceEmpty[0]
s = SequenceEmpty <dtype = 1> () r = Identity (s) u = Loop <body = b {SEQUENCE_BODY}> (n, c, r) y = ConcatFromSequence <axis = 0> (u) | set `dtype = 10` in SequenceEmpty[0]
s = SequenceEmpty <dtype = 1> () u = Loop <body = b {SEQUENCE_BODY.replace("seq(float16[2]) t", "seq(float[2]) t")}> (n, c, s) y = ConcatFromSequence <axis = 0> (u) | set `dtype = 10` in SequenceEmpty[0], and declare `t` as float16; this also fixes 1 more
s = SequenceEmpty <dtype = 1> () q = Loop <body = o (int64 j, bool f, seq(float16[2]) g) => (bool h, seq(float16[2]) u) {{ h = Identity (f) u = Loop <body = b {SEQUENCE_BODY}> (n, c, g) }}> (n, c, s) y = ConcatFromSequence <axis = 0> (q) | set `dtype = 10` in SequenceEmpty[0]
s = Cast <to = 1> (x) y = Loop <body = b {STATE_BODY}> (n, c, s) | set `to = 10` in Cast[0]
s = Constant <value = float[2] {{0, 1}}> () y = Loop <body = b {STATE_BODY}> (n, c, s) | store constant `s` as float16
y = Loop <body = b {STATE_BODY}> (n, c, w) | store constant `w` as float16
s = ConstantOfShape <value = float[1] {{0}}> (k) y = Loop <body = b {STATE_BODY}> (n, c, s) | insert a Cast with `to = float16` before input 2
""".strip().splitlines()


@pytest.mark.oracle
@pytest.mark.parametrize("line", TYPED_ELSEWHERE)
def test_a_type_is_corrected_where_a_sequence_or_a_state_gets_it(line: str) -> None:
    import onnxruntime

    nodes, _, suggestion = line.partition(" | ")
    text = f"(float16[2] x) => (float16[a] y) {STATES} {{ {nodes} }}"
    data = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\ng {text}').SerializeToString()
    with pytest.raises(Exception, match="Type"):
        onnxruntime.InferenceSession(data)
    (root,) = [each for each in irlint.check(data).findings if each.severity.value == "error" and not each.because]
    assert root.suggestion == suggestion
    fixed = irlint.fix(data, unsafe=True).data
    onnxruntime.InferenceSession(fixed).run(None, {"x": np.ones(2, "float16")})


@pytest.mark.oracle
def test_a_state_whose_body_returns_its_type_is_not_changed() -> None:
    import onnxruntime

    text = (
        "(float[2] x) => (float[a] y) <int64 n = {3}, bool c = {1}> { s = SequenceEmpty <dtype = 1> () u = Loop <body = b "
        "(int64 i, bool d, seq(float16[2]) t) => (bool e, seq(float[2]) v) { e = Identity (d) v = SequenceInsert (t, x) }> "
        "(n, c, s) y = ConcatFromSequence <axis = 0> (u) }"
    )
    data = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]>\ng {text}').SerializeToString()
    with pytest.raises(Exception, match="Type"):
        onnxruntime.InferenceSession(data)
    assert not any("SequenceEmpty" in each.suggestion for each in irlint.check(data).findings)
