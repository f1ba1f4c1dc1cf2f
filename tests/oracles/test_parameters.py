"""The parameters that irlint counts against counts by other means, and why these differ."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from oracles.parameter_counts import of_ir, of_onnx

import irlint

pytestmark = pytest.mark.oracle

FIXTURES = Path(__file__).parents[2] / "fixtures"
LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
HEAD = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1]> g '

#: Why a count by ONNX's schemas differs: a graph, that count, and that of irlint.
SCHEMAS = {
    "integers whose bits are computed with are operands": (
        "(int64[2] x) => (y) <int64[2] m = {1, 2}> { y = BitwiseAnd (x, m) }",
        0,
        2,
    ),
    "texts are operands": ('(string[2] x) => (y) <string[1] t = {"a"}> { y = StringConcat (x, t) }', 0, 1),
    "a depth is a size, also where it may be a floating-point number": (
        "(int64[2] x) => (y) <float d = {3}, float[2] v = {0, 1}> { y = OneHot (x, d, v) }",
        3,
        2,
    ),
    "labels are operands": (
        "(float[2,3] x) => (y) <int64[2] t = {0, 2}, float[3] w = {1, 1, 1}> {"
        " y = NegativeLogLikelihoodLoss (x, t, w) }",
        3,
        5,
    ),
    "the int32 bias of a quantized convolution is a parameter": (
        "(uint8[1,1,2,2] x) => (y) <float s = {0.1}, uint8 z = {0}, int8[1,1,1,1] w = {3}, int8 o = {0},"
        " int32[1] b = {5}> { y = QLinearConv (x, s, z, w, s, o, s, z, b) }",
        1,
        2,
    ),
}


@pytest.mark.parametrize("reason", SCHEMAS)
def test_why_a_count_by_schemas_differs(reason: str) -> None:
    text, by_schemas, ours = SCHEMAS[reason]
    model = onnx.parser.parse_model(HEAD + text)
    assert (of_onnx(model), irlint.info(model)["parameters"]) == (by_schemas, ours)


def _has_schemas(model: onnx.ModelProto) -> bool:
    domains = {opset.domain: opset.version for opset in model.opset_import}
    return not model.functions and all(
        onnx.defs.has(node.op_type, domains.get(node.domain, 1), node.domain) for node in model.graph.node
    )


def test_a_count_by_schemas_gives_the_same() -> None:
    paths = [*sorted((FIXTURES / "onnx/good").glob("*.onnx")), *sorted(LIGHT.glob("*.onnx"))]
    models = {path: onnx.load(path, load_external_data=False) for path in paths}
    counts = {path.name: of_onnx(model) for path, model in models.items() if _has_schemas(model)}
    assert len(counts) > 150
    assert max(counts.values()) > 1000
    assert counts == {path.name: irlint.info(path)["parameters"] for path in paths if path.name in counts}


#: Models whose IRs are counted, with the number of their parameters.
CONVERTED = {
    "convolutions, and a shape": (
        "(float[1,3,8,8] x, float[1,4] z) => (y) <float[4,3,3,3] w = {1}, float[4] b = {1}, int64[2] s = {1, -1},"
        " float[144,4] m = {1}> { c = Conv (x, w, b) r = Reshape (c, s) p = MatMul (r, m) y = Add (p, z) }",
        4 * 27 + 4 + 144 * 4,
    ),
    "a table and its indices": (
        "(float[2,4] x, int64[2] i) => (y) <float[9,4] t = {1}, int64[1] a = {1}> {"
        " g = Gather (t, i) s = ReduceSum (g, a) y = Add (x, s) }",
        36,
    ),
    "quantized weights": (
        "(float[2,3] x) => (y) <int8[3,4] w = {3}, float[4] s = {0.5}, float[4] b = {1}> {"
        " d = DequantizeLinear <axis = 1> (w, s) p = MatMul (x, d) y = Add (p, b) }",
        12 + 4,
    ),
    "a recurrent layer": (
        "(float[5,1,3] x) => (y, h, c) <float[1,16,3] w = {1}, float[1,16,4] r = {1}, float[1,32] b = {1}> {"
        " y, h, c = LSTM <hidden_size = 4> (x, w, r, b) }",
        16 * 3 + 16 * 4 + 16 + 1,
    ),
}


def _converted(text: str, folder: Path) -> Path:
    """The IR of a model, whose constants are ones but for the first written element."""
    import openvino

    model = onnx.parser.parse_model(HEAD + text)
    for tensor in model.graph.initializer:
        array = np.ones(tensor.dims, onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
        stated = onnx.numpy_helper.to_array(tensor) if _is_whole(tensor) else array
        tensor.CopyFrom(onnx.numpy_helper.from_array(stated, tensor.name))
    onnx.save(model, folder / "m.onnx")
    openvino.save_model(openvino.convert_model(folder / "m.onnx"), folder / "m.xml", compress_to_fp16=False)
    return folder / "m.xml"


def _is_whole(tensor: onnx.TensorProto) -> bool:
    fields = (tensor.float_data, tensor.int64_data, tensor.int32_data)
    return max(map(len, fields)) == int(np.prod(tensor.dims))


@pytest.mark.parametrize("name", CONVERTED)
def test_a_count_by_element_types_gives_the_same_for_an_ir(name: str, tmp_path: Path) -> None:
    text, expected = CONVERTED[name]
    path = _converted(text, tmp_path)
    assert (of_ir(path), irlint.info(path)["parameters"]) == (expected, expected)


#: Why a count by element types differs for an IR: a model, that count, and that of irlint.
TYPES = {
    "integers that are compared are operands": (
        "(int64[2] x, float[2] z) => (y) <int64[2] m = {7, 8}> { c = Less (x, m) y = Where (c, z, z) }",
        0,
        2,
    ),
    "truths are operands": (
        "(bool[2] x) => (y) <bool[2] m = {1, 0}> { y = And (x, m) }",
        0,
        2,
    ),
    "numbers that only a size is computed from are no parameters": (
        "(float[1,1,4,4] x, float f) => (y) <float[2] o = {1, 1}, int64[1] n = {2}, float k = {0.5}> {"
        " g = Mul (f, k) e = Expand (g, n) s = Concat <axis = 0> (o, e) y = Resize (x, , s) }",
        3,
        0,
    ),
}


@pytest.mark.parametrize("reason", TYPES)
def test_why_a_count_by_element_types_differs(reason: str, tmp_path: Path) -> None:
    text, by_types, ours = TYPES[reason]
    path = _converted(text, tmp_path)
    assert (of_ir(path), irlint.info(path)["parameters"]) == (by_types, ours)
