"""All inputs whose element types a node refuses are in one finding, and corrected by one suggested fix."""

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
