"""Parameters and bytes: which stored tensors are parameters, and how many bytes each element type takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

import irlint
from irlint.costs.stored import QUANTIZATION, SETTINGS, SETTINGS_OF_OPERATORS
from irlint.ops import tables
from irlint.ops.signatures import signature

HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]> g '

#: Graphs, and the tensors that are parameters of those that they store, with their elements.
GRAPHS = {
    "weights and a shape": (
        "(float[2,6] x) => (y) <float[6,4] w = {0}, int64[2] s = {4, 2}> { m = MatMul (x, w) y = Reshape (m, s) }",
        24,
    ),
    "axes, starts and ends": (
        "(float[2,6] x) => (y) <int64[1] a = {0}, int64[1] b = {1}> { y = Slice (x, a, b, a) }",
        0,
    ),
    "a part of a computed shape": (
        "(float[N,6] x) => (y) <int64[1] a = {2}, int64[1] b = {3}> {"
        " s = Shape <start = 0, end = 1> (x) t = Concat <axis = 0> (s, a, b) y = Reshape (x, t) }",
        0,
    ),
    "an index, and the table": (
        "(float[2] x) => (y) <float[5,2] t = {0}, int64[1] i = {3}> { g = Gather (t, i) y = Add (x, g) }",
        10,
    ),
    "scales and zero points": (
        "(float[2,3] x) => (y) <int8[3,4] w = {0}, float s = {0.5}, int8 z = {0}> {"
        " d = DequantizeLinear (w, s, z) y = MatMul (x, d) }",
        12,
    ),
    "a constant node": (
        "(float[3] x) => (y) { c = Constant <value = float[3] {1, 2, 3}> () y = Add (x, c) }",
        3,
    ),
    "a computed shape that is data, too": (
        "(float[6] x) => (y, s2) <int64[2] s = {2, 3}> { y = Reshape (x, s) s2 = Identity (s) }",
        2,
    ),
    "a mask": ("(float[2] x) => (y) <bool[2] m = {1}, float[1] z = {0}> { y = Where (m, x, z) }", 3),
    "what nothing uses": ("(float[3] x) => (y) <float[7] u = {0}> { y = Relu (x) }", 7),
    "a constant that a branch captures": (
        "(float[2,3] x, bool c) => (y) <float[3,5] w = {0}, int64[2] s = {2, 5}> { y = If (c) <"
        "then_branch = g () => (t) { t = MatMul (x, w) },"
        " else_branch = g () => (e) { m = MatMul (x, w) e = Reshape (m, s) }> }",
        15,
    ),
}


def filled(text: str) -> onnx.ModelProto:
    """The model of a text; an initializer of one written element has all of its elements."""
    model = onnx.parser.parse_model(HEAD + text)
    for tensor in model.graph.initializer:
        count = int(np.prod(tensor.dims))
        field = tensor.int64_data or tensor.float_data or tensor.int32_data
        field.extend([field[0]] * (count - len(field)))
    return model


@pytest.mark.parametrize("name", GRAPHS)
def test_parameters(name: str) -> None:
    text, expected = GRAPHS[name]
    assert irlint.info(filled(text))["parameters"] == expected


@pytest.mark.parametrize(
    ("dtype", "count", "size"),
    [
        (TensorProto.FLOAT, 5, 20),
        (TensorProto.FLOAT16, 5, 10),
        (TensorProto.INT4, 5, 3),
        (TensorProto.BOOL, 5, 5),
        (TensorProto.DOUBLE, 5, 40),
    ],
)
def test_bytes(dtype: int, count: int, size: int) -> None:
    tensor = helper.make_tensor("w", dtype, [count], np.zeros(count), raw=False)
    node = helper.make_node("Identity", ["w"], ["y"])
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", dtype, [count])], [tensor])
    found = irlint.info(helper.make_model(graph))
    assert (found["parameters"], found["bytes"], sum(found["bytes_by_type"].values())) == (count, size, size)


def test_texts_have_the_bytes_from_the_first_to_the_last_one() -> None:
    texts = helper.make_tensor("t", TensorProto.STRING, [2], [b"cat", b"horse"])
    node = helper.make_node("Identity", ["t"], ["y"])
    graph = helper.make_graph([node], "g", [], [helper.make_tensor_value_info("y", TensorProto.STRING, [2])], [texts])
    assert irlint.info(helper.make_model(graph))["bytes"] == len("cat") + 2 + len("horse")


def test_tensors_of_one_place_in_a_weights_file_count_once(tmp_path: Path) -> None:
    weights = [numpy_helper.from_array(np.zeros((8, 8), np.float32), name) for name in ("v", "w")]
    nodes = [helper.make_node("MatMul", ["x", "v"], ["m"]), helper.make_node("MatMul", ["m", "w"], ["y"])]
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 8])] for name in "xy"]
    model = helper.make_model(helper.make_graph(nodes, "g", *ends, weights))
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.data", size_threshold=0)
    model = onnx.load(path, load_external_data=False)
    assert _costs(path) == (128, 512)
    for entry in model.graph.initializer[1].external_data:
        entry.value = "0" if entry.key == "offset" else entry.value
    path.write_bytes(model.SerializeToString())
    assert _costs(path) == (64, 256)


def _costs(path: Path) -> tuple[Any, Any]:
    found = irlint.info(path)
    return found["parameters"], found["bytes"]


@pytest.mark.oracle
def test_scales_and_zero_points_of_compressed_weights_are_no_parameters(tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as ops

    x = ops.parameter([1, 4], np.float32)
    weights = ops.convert(ops.constant(np.ones((3, 4), np.uint8)), "f32")
    centered = ops.subtract(weights, ops.convert(ops.constant(np.ones((3, 1), np.uint8)), "f32"))
    scaled = ops.multiply(centered, ops.constant(np.ones((3, 1), np.float32)))
    model = openvino.Model([ops.matmul(x, scaled, False, True)], [x])
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    found = irlint.info(tmp_path / "m.xml")
    assert (found["parameters"], found["parameters_by_type"], found["macs"]) == (12, {"uint8": 12}, 12)


def test_every_name_of_a_setting_is_that_of_an_input() -> None:
    operators = [each for table in tables() for versions in table.values() for each in versions]
    names = {name for each in operators for name in signature(each.function).inputs}
    assert names >= SETTINGS | QUANTIZATION
    for op, also in SETTINGS_OF_OPERATORS.items():
        mine = {name for each in operators if each.name == op for name in signature(each.function).inputs}
        assert mine >= set(also), op


#: The formal inputs of ONNX's schemas that are shapes, axes, indices, counts and lengths.
FORMAL = frozenset(
    {
        *("shape", "axes", "axis", "indices", "starts", "ends", "steps", "start", "limit", "delta", "split", "pads"),
        *("repeats", "tiles", "sizes", "scales", "roi", "K", "k", "depth", "size", "target_shape", "trip_count", "M"),
        *("sequence_lens", "output_shape", "position", "frame_length", "frame_step", "dft_length", "cond"),
        "max_output_boxes_per_class",
    }
)

#: The attributes that hold graphs.
BODIES = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)


def second_count(model: onnx.ModelProto) -> int:
    """The parameters by the names that ONNX's schemas give to inputs, from the last node to the first."""
    versions = {each.domain: each.version for each in model.opset_import}
    stored = {each.name: int(np.prod(each.dims)) for each in model.graph.initializer}
    data = {each.name for each in model.graph.output}
    used = data | {name for node in model.graph.node for name in node.input}
    for node in reversed(model.graph.node):
        if node.op_type == "Constant":
            stored[node.output[0]] = int(np.prod(node.attribute[0].t.dims))
        if data.isdisjoint(node.output):
            continue
        formal = onnx.defs.get_schema(node.op_type, versions[node.domain], node.domain).inputs
        for at, name in enumerate(node.input):
            called = formal[min(at, len(formal) - 1)].name
            is_scale = "quantize" in node.op_type.lower() and called.endswith(("scale", "zero_point"))
            if called not in FORMAL and not is_scale and node.op_type != "ConstantOfShape":
                data.add(name)
    return sum(count for name, count in stored.items() if name in data or name not in used)


@pytest.mark.parametrize("name", [name for name, (text, _) in GRAPHS.items() if "If (" not in text])
def test_another_count_gives_the_same(name: str) -> None:
    model = filled(GRAPHS[name][0])
    assert second_count(model) == irlint.info(model)["parameters"]


def _is_countable(model: onnx.ModelProto) -> bool:
    """Whether a model has no bodies, no functions, and only operators with a schema."""
    if model.functions or any(each.type in BODIES for node in model.graph.node for each in node.attribute):
        return False
    domains = {each.domain: each.version for each in model.opset_import}
    return all(onnx.defs.has(node.op_type, domains.get(node.domain, 1), node.domain) for node in model.graph.node)


def test_another_count_gives_the_same_for_fixtures() -> None:
    paths = sorted((Path(__file__).parents[2] / "fixtures/onnx/good").glob("*.onnx"))
    models = {path: onnx.load(path, load_external_data=False) for path in paths}
    counts = {path: second_count(model) for path, model in models.items() if _is_countable(model)}
    assert len(counts) > 100
    assert counts == {path: irlint.info(path)["parameters"] for path in counts}
