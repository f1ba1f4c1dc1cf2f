"""The ONNX reader, held against the onnx package's own loading."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import AttributeProto, GraphProto, ModelProto, TensorProto, helper, numpy_helper
from timing import within

from irlint.dims import symbol
from irlint.model import Constant, Graph, Model, Node, Value
from irlint.model.tensor import FLOATS, Map, Opaque, Optional, Sequence, SparseTensor, Tensor
from irlint.parsers import onnx as reader
from irlint.parsers import weights
from irlint.parsers.onnx import protobuf, skeleton
from irlint.parsers.onnx.tensors import DTYPES
from irlint.records import replaced

F, INT64 = TensorProto.FLOAT, TensorProto.INT64


def info(name, *dims, dtype=F):
    return helper.make_tensor_value_info(name, dtype, dims)


def proto(nodes=(), inputs=(), outputs=(), initializers=(), *, opsets=(("", 21),), functions=(), **graph):
    main = helper.make_graph(nodes, "main", inputs, outputs, initializers, **graph)
    imports = [helper.make_opsetid(*entry) for entry in opsets]
    return helper.make_model(main, opset_imports=imports, ir_version=10, functions=functions)


def model(*args, **kwargs) -> Model:
    return parsed(proto(*args, **kwargs))


def parsed(source: ModelProto | str | bytes, path="m.onnx") -> Model:
    if isinstance(source, str):
        source = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {source}')
    return named(reader.read(path, source if isinstance(source, bytes) else source.SerializeToString()))


def named(found: Model) -> Model:
    """The model as if its graphs had names, which the smallest ones here do without."""
    return replaced(found, problems=tuple(each for each in found.problems if each.fault.rule.code != "IRL114"))


def graph(source) -> Graph:
    found = parsed(source)
    assert found.problems == ()
    assert found.graph is not None
    return found.graph


def names(values) -> list[str | None]:
    return [value and value.name for value in values]


def field(number: int, content: bytes | int) -> bytes:
    """A field by hand: a varint, or bytes with their length."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


RICH = """
m (float[N, 3, "H*W"] x, int64[K] unused, bool flag) => (float[N, M] y)
<float[2, 3] w = {1, 2, 3, 4, 5, 6}, int64[2] shape = {-1, 3}, float[N, "H*W"] mid>
{
  mid = Relu (x)
  [branch] z = If (flag) <
    then_branch = then () => (float[N] a) { a = Identity (mid) },
    else_branch = otherwise () => (b) { mid = Constant <value_ints = [1, 2]> () c = Cast <to = 1> (mid) b = Neg (c) }
  >
  y, , = Split <axis = -1, ratio: float = 0.5, mode = "up", list = [1.5, 2.5], texts = ["p", "q"]> (z, , w)
}
"""


@pytest.fixture(scope="module")
def rich() -> bytes:
    function = helper.make_function(
        "local",
        "Scaled",
        ["a"],
        ["b"],
        [helper.make_node("Mul", ["a", "a"], ["t"]), helper.make_node("LeakyRelu", ["t"], ["b"])],
        [helper.make_opsetid("", 18)],
        attributes=["alpha"],
    )
    reference = function.node[1].attribute.add()
    reference.name, reference.type, reference.ref_attr_name = "alpha", AttributeProto.FLOAT, "alpha"
    source = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21, "local" : 1]> {RICH}')
    source.functions.append(function)
    helper.set_model_props(source, {"author": "none"})
    return source.SerializeToString()


# the whole model


def same_tensor(source: TensorProto, found: Constant) -> None:
    assert (found.tensor.dtype, found.tensor.shape) == (DTYPES.get(source.data_type), tuple(source.dims))
    if source.HasField("raw_data"):
        assert found.stored is not None
        assert found.stored.size == len(source.raw_data)
    if math.prod(source.dims) <= 256:
        expected = numpy_helper.to_array(source).ravel()
        assert found.tensor.value is not None
        np.testing.assert_array_equal(np.array(found.tensor.value, expected.dtype), expected)


def same_attribute(source: AttributeProto, found) -> None:
    assert found.reference == (source.ref_attr_name or None)
    assert found.kind == AttributeProto.AttributeType.Name(source.type)
    if found.reference:
        return
    match found.kind:
        case "TENSOR":
            same_tensor(source.t, found.value)
        case "GRAPH":
            same_graph(source.g, found.value)
        case "STRING" | "STRINGS":
            texts = [found.value] if found.kind == "STRING" else list(found.value)
            assert texts == [text.decode() for text in ([source.s] if source.s else source.strings)]
        case "INTS" | "FLOATS":
            assert list(found.value) == list(helper.get_attribute_value(source))
        case _:
            assert found.value == helper.get_attribute_value(source)


def same_nodes(source, found: tuple[Node, ...]) -> None:
    assert len(source) == len(found)
    for index, (wanted, node) in enumerate(zip(source, found)):
        assert (node.name, node.op, node.domain) == (wanted.name, wanted.op_type, wanted.domain)
        assert (node.index, node.overload, node.place) == (index, wanted.overload, None)
        assert names(node.inputs) == [name or None for name in wanted.input]
        assert names(node.outputs) == [name or None for name in wanted.output]
        assert list(node.attributes) == [attribute.name for attribute in wanted.attribute]
        for attribute in wanted.attribute:
            same_attribute(attribute, node.attributes[attribute.name])


def same_graph(source: GraphProto, found: Graph) -> None:
    assert found.name == source.name
    assert names(found.inputs) == [entry.name for entry in source.input]
    assert names(found.outputs) == [entry.name for entry in source.output]
    assert names(found.constants) == [entry.name for entry in source.initializer]
    for tensor, constant in zip(source.initializer, found.constants.values()):
        same_tensor(tensor, constant)
    same_nodes(source.node, found.nodes)


def test_a_rich_model_is_read_as_onnx_reads_it(rich):
    source = onnx.load_model_from_string(rich)
    found = parsed(rich)
    assert found.graph is not None
    same_graph(source.graph, found.graph)
    same_nodes(source.functions[0].node, found.functions["local", "Scaled", ""].graph.nodes)
    assert (found.path, found.format.name, found.format_version) == ("m.onnx", "onnx", "10")
    assert (found.opsets, found.metadata, found.problems) == ({"": 21, "local": 1}, {"author": "none"}, ())
    assert found.symbols == {"H_W": "H*W"}


def test_a_file_and_its_bytes_give_the_same_model(rich, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(rich)
    for found in (reader.read(path), reader.read(str(path), memoryview(rich)), reader.read(path, bytearray(rich))):
        assert found.path == str(path)
        assert found.nodes == parsed(rich).nodes == 9
        same_graph(onnx.load_model_from_string(rich).graph, found.graph)


def test_a_file_that_cannot_be_opened_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        reader.read(tmp_path / "none.onnx")


@pytest.mark.parametrize("module", ["onnx", "google.protobuf", "numpy", "lxml", "re"])
def test_nothing_heavy_is_imported(module):
    code = f"import sys, irlint.parsers.onnx; sys.exit('{module}' in sys.modules)"
    root = Path(reader.__file__).parents[2]
    before = subprocess.run([sys.executable, "-c", f"import sys, dataclasses; sys.exit('{module}' in sys.modules)"])
    after = subprocess.run([sys.executable, "-c", code], cwd=root)
    assert after.returncode <= before.returncode


# names and values


def test_uses_and_definitions_are_one_value():
    found = graph("m (float[2] x) => (float[2] y) { t = Relu (x) y = Add (t, x) }")
    relu, add = found.nodes
    assert relu.inputs[0] is add.inputs[1] is found.inputs[0]
    assert add.inputs[0] is relu.outputs[0]
    assert add.outputs[0] is found.outputs[0]
    assert [relu.outputs[0].port, found.inputs[0].port, add.outputs[0].place] == [0, None, None]


def test_a_use_before_its_definition_is_the_same_value():
    found = graph("m (float[2] x) => (float[2] y) { y = Neg (t) t = Relu (x) }")
    assert found.nodes[0].inputs[0] is found.nodes[1].outputs[0]
    assert found.undefined == ()


def test_an_initializer_of_an_input_is_one_value():
    found = graph("m (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    assert list(found.constants) == [found.inputs[1]]
    assert found.nodes[0].inputs[1] is found.inputs[1]


def test_a_name_defined_twice_is_two_values_and_uses_mean_the_first_or_the_last_constant():
    one, two = (numpy_helper.from_array(np.float32([n]), "w") for n in (1, 2))
    nodes = [helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Neg", ["w"], ["t"])]
    found = graph(proto([*nodes, helper.make_node("Exp", ["t"], ["x"])], [info("x", 1)], [info("t", 1)], [one, two]))
    assert [constant.tensor.value for constant in found.constants.values()] == [(1.0,), (2.0,)]
    first, second = found.constants
    assert found.nodes[1].inputs == (second,) != (first,)
    assert found.nodes[2].inputs == found.outputs == found.nodes[0].outputs
    assert found.nodes[1].outputs[0] not in found.outputs
    assert found.nodes[0].inputs == found.inputs != found.nodes[2].outputs


def test_what_nothing_defines_is_one_value_per_name():
    nodes = [helper.make_node("Add", ["lost", "lost"], ["t"]), helper.make_node("Mul", ["t", "", "other"], ["y"])]
    found = graph(proto(nodes, [], [info("y"), info("gone", 3), info("lost")]))
    assert names(found.undefined) == ["lost", "other", "gone"]
    assert found.nodes[0].inputs == (found.undefined[0],) * 2
    assert found.nodes[1].inputs[1] is None
    assert found.outputs[1:] == (found.undefined[2], found.undefined[0])
    assert found.undefined[2].type == Tensor("float32", (3,))


NESTED = """
m (float[2] x, bool c) => (float[2] y) {
  w = Relu (x)
  [outer] y = If (c) <
    then_branch = a () => (p) {
      v = Neg (x)
      p = If (c) <then_branch = b () => (q) { q = Add (w, v) }, else_branch = d () => (w) { w = Exp (v) }>
    },
    else_branch = e () => (x) { g = Neg (nowhere) }
  >
}
"""


def test_bodies_capture_and_shadow():
    main = graph(NESTED)
    x, c = main.inputs
    w = main.nodes[0].outputs[0]
    then, otherwise = (body for _, body in main.nodes[1].bodies)
    v = then.nodes[0].outputs[0]
    inner, shadow = (body for _, body in then.nodes[1].bodies)
    assert (main.captured, then.captured) == ((), (x, c, w))
    assert (inner.captured, shadow.captured) == ((w, v), (v,))
    assert shadow.outputs == shadow.nodes[0].outputs != (w,)
    assert (otherwise.captured, otherwise.outputs) == ((x,), (x,))
    assert names(otherwise.undefined) == ["nowhere"]
    assert main.undefined == ()
    paths = ["outer/then_branch", "outer/else_branch", "outer/then_branch/p/then_branch"]
    assert [then.path, otherwise.path, inner.path] == paths


def test_a_body_sees_what_is_defined_after_it_but_not_what_a_sibling_defines():
    source = """m (bool c) => (float y) {
      y = If (c) <then_branch = a () => (p) { p = Neg (late) }, else_branch = b () => (q) { q = Neg (p) }>
      late = Constant <value_float = 1.0> () }"""
    main = graph(source)
    then, otherwise = (body for _, body in main.nodes[0].bodies)
    assert then.captured == main.nodes[1].outputs
    assert names(otherwise.undefined) == ["p"]


def test_graphs_attributes_are_numbered():
    bodies = [helper.make_graph([helper.make_node("Neg", ["x"], [f"o{n}"])], f"g{n}", [], []) for n in (0, 1)]
    node = helper.make_node("Many", ["x"], ["y"], domain="d", branches=bodies)
    main = graph(proto([node], [info("x", 2)], [info("y")]))
    assert [(name, body.path) for name, body in main.nodes[0].bodies] == [
        ("branches[0]", "y/branches[0]"),
        ("branches[1]", "y/branches[1]"),
    ]
    assert all(body.captured == main.inputs for _, body in main.nodes[0].bodies)


def test_functions_see_nothing_of_the_graph():
    body = helper.make_graph([helper.make_node("Neg", ["a"], ["n"])], "g", [], [info("n")])
    nodes = [
        helper.make_node("Add", ["a", "x"], ["t"]),
        helper.make_node("If", ["t"], ["b"], name="i", then_branch=body),
        helper.make_node("Norm", ["b"], ["c"], domain="other"),
    ]
    function = helper.make_function(
        "ai.onnx",
        "Own",
        ["a"],
        ["b"],
        nodes,
        [helper.make_opsetid("", 17)],
        ["plain"],
        [helper.make_attribute("alpha", 2)],
        overload="v2",
        value_info=[info("a", "N")],
    )
    found = model([helper.make_node("Own", ["x"], ["y"])], [info("x", "N")], [info("y")], functions=[function])
    own = found.functions["", "Own", "v2"]
    assert (own.domain, own.name, own.overload, own.opsets) == ("", "Own", "v2", {"": 17})
    assert names(own.graph.undefined) == ["x"]
    assert own.graph.inputs[0].declared[0].by == "value_info"
    assert own.graph.inputs[0].type == Tensor("float32", (symbol("N"),))
    assert [node.version for node in own.graph.nodes] == [17, 17, None]
    assert own.attributes["plain"] is None
    assert own.attributes["alpha"].value == 2
    ((_, inner),) = own.graph.nodes[1].bodies
    assert (own.graph.path, inner.path) == ("function::Own", "function::Own/i/then_branch")
    assert inner.captured == own.graph.inputs


def test_declarations_stand_in_the_order_of_their_weight():
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    extra = [info("x", 3), info("y", 4), info("nobody", 5)]
    found = graph(proto(nodes, [info("x", 1)], [info("y", 2), info("x", 2)], value_info=extra))
    assert [(entry.by, entry.type.shape) for entry in found.inputs[0].declared] == [
        ("input", (1,)),
        ("output", (2,)),
        ("value_info", (3,)),
    ]
    assert [entry.by for entry in found.outputs[0].declared] == ["output", "value_info"]


def test_versions_are_those_that_the_model_imports():
    nodes = [helper.make_node("A", [], ["a"], domain=domain) for domain in ("", "ai.onnx", "ai.onnx.ml", "x")]
    found = model(nodes, opsets=[("ai.onnx", 20), ("ai.onnx.ml", 3)])
    assert found.opsets == {"": 20, "ai.onnx.ml": 3}
    assert [(node.domain, node.version) for node in found.graph.nodes] == [
        ("", 20),
        ("", 20),
        ("ai.onnx.ml", 3),
        ("x", None),
    ]


@pytest.mark.parametrize(("ir_version", "opsets"), [(1, {"": 1}), (2, {"": 1}), (3, {}), (None, {})])
def test_a_model_without_imports(ir_version, opsets):
    head = b"" if ir_version is None else field(1, ir_version)
    found = parsed(head + field(7, field(1, field(2, b"y") + field(4, b"Relu"))))
    assert found.opsets == opsets
    assert found.graph.nodes[0].version == opsets.get("")
    assert found.format_version == (ir_version and str(ir_version))


# types and the names of sizes


def declared(*types):
    inputs = [helper.make_value_info(f"x{index}", known) for index, known in enumerate(types)]
    found = model([], inputs)
    return found, [value.type for value in found.graph.inputs]


T = helper.make_tensor_type_proto


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (T(F, [2, 0]), Tensor("float32", (2, 0))),
        (T(F, []), Tensor("float32", ())),
        (T(F, None), Tensor("float32", None)),
        (T(0, [1]), Tensor(None, (1,))),
        (T(99, [1]), Tensor(None, (1,))),
        (T(F, [-1, None, "?", "", "N"]), Tensor("float32", (None, None, None, None, symbol("N")))),
        (T(TensorProto.STRING, ["a"]), Tensor("string", (symbol("a"),))),
        (helper.make_sparse_tensor_type_proto(INT64, [4]), SparseTensor("int64", (4,))),
        (helper.make_sequence_type_proto(T(F, None)), Sequence(Tensor("float32"))),
        (
            helper.make_optional_type_proto(helper.make_sequence_type_proto(T(INT64, ["N"]))),
            Optional(Sequence(Tensor("int64", (symbol("N"),)))),
        ),
        (helper.make_map_type_proto(TensorProto.STRING, T(F, [])), Map("string", Tensor("float32", ()))),
        (onnx.TypeProto(), None),
        (onnx.TypeProto(opaque_type=onnx.TypeProto.Opaque(name="o")), Opaque("", "o")),
    ],
)
def test_types(source, expected):
    assert declared(source)[1] == [expected]


@pytest.mark.parametrize(
    ("texts", "identifiers"),
    [
        (["N", "H", "N"], ["N", "H", "N"]),
        (["past_sequence_length + 1"], ["past_sequence_length_1"]),
        (["a b", "a-b", "a_b"], ["a_b_2", "a_b_3", "a_b"]),
        (["2*N", "/x/Shape_0", "a__b"], ["d2_N", "x_Shape_0", "a__b"]),
        (["_hidden", "min", "None", "class"], ["hidden", "dim_min", "dim_None", "dim_class"]),
        (["***", "+", "dim"], ["dim_2", "dim_3", "dim"]),
        (["größe", "ä+ö"], ["größe", "dim"]),
    ],
)
def test_names_of_sizes(texts, identifiers):
    found, (known,) = declared(T(F, texts))
    assert [str(dim) for dim in known.shape] == identifiers
    assert found.symbols == {new: old for new, old in zip(identifiers, texts) if new != old}


def test_names_of_sizes_are_allotted_in_the_order_of_inputs_outputs_value_info_bodies():
    body = helper.make_graph([], "b", [], [info("x", "n!!!!")])
    found = model(
        [helper.make_node("If", ["x"], ["t", "y"], then_branch=body)],
        [info("x", "n!")],
        [info("y", "n!!")],
        value_info=[info("t", "n!!!")],
    )
    assert found.symbols == {"n": "n!", "n_2": "n!!", "n_3": "n!!!", "n_4": "n!!!!"}


# tensors

CONTENTS = {
    TensorProto.FLOAT: [1.5, -2.0, 0.1],
    TensorProto.DOUBLE: [1.5, -2.0, 1e300],
    TensorProto.FLOAT16: [1.5, -2.0, 65504.0],
    TensorProto.BFLOAT16: [1.5, -2.0, 1e30],
    TensorProto.FLOAT8E4M3FN: [1.5, -448.0, 0.002],
    TensorProto.FLOAT8E5M2: [1.5, -2.0, 57344.0],
    TensorProto.FLOAT4E2M1: [1.5, -2.0, 6.0],
    TensorProto.INT8: [1, -2, 127],
    TensorProto.UINT8: [1, 2, 255],
    TensorProto.INT16: [1, -2, 32767],
    TensorProto.UINT16: [1, 2, 65535],
    TensorProto.INT32: [1, -2, 2**31 - 1],
    TensorProto.UINT32: [1, 2, 2**32 - 1],
    TensorProto.INT64: [1, -2, 2**63 - 1],
    TensorProto.UINT64: [1, 2, 2**64 - 1],
    TensorProto.BOOL: [True, False, True],
    TensorProto.INT4: [1, -8, 7],
    TensorProto.UINT4: [1, 2, 15],
    TensorProto.INT2: [1, -2, 0],
    TensorProto.UINT2: [1, 2, 3],
}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("dtype", CONTENTS, ids=TensorProto.DataType.Name)
def test_contents(dtype, raw):
    typed = helper.make_tensor("w", dtype, [3], CONTENTS[dtype])
    array = numpy_helper.to_array(typed)
    source = numpy_helper.from_array(array, "w") if raw else typed
    assert source.HasField("raw_data") is raw
    (found,) = graph(proto(initializers=[source])).constants.values()
    kind = float if found.tensor.dtype in FLOATS else bool if dtype == TensorProto.BOOL else int
    assert found.tensor.value == tuple(map(kind, array))
    assert {type(item) for item in found.tensor.value} == {kind}
    size = weights.byte_size(found.tensor.dtype, 3)
    assert (found.stored.size, found.stored.available, found.stored.file) == (size, size, None)


@pytest.mark.parametrize("dtype", [TensorProto.COMPLEX64, TensorProto.COMPLEX128, TensorProto.STRING])
def test_what_has_no_scalars_has_no_contents(dtype):
    values = ["a", "b"] if dtype == TensorProto.STRING else [1 + 2j, 3 - 4j]
    (found,) = graph(proto(initializers=[helper.make_tensor("w", dtype, [2], values)])).constants.values()
    assert found.tensor == Tensor(DTYPES[dtype], (2,))
    assert found.stored.size == weights.byte_size(DTYPES[dtype], 2)


@pytest.mark.parametrize(("raw", "size"), [(False, 5), (True, 4)])
def test_floats_of_6_bits_are_stored_in_two_ways(raw, size):
    array = numpy_helper.to_array(helper.make_tensor("w", TensorProto.FLOAT6E2M3, [5], [1, 2, 3, 1, 0.5]))
    source = helper.make_tensor("w", TensorProto.FLOAT6E2M3, [5], array if raw else array.tolist(), raw)
    (found,) = graph(proto(initializers=[source])).constants.values()
    assert (found.tensor, found.stored.size) == (Tensor("float6_e2m3", (5,)), size)


@pytest.mark.parametrize(
    ("dtype", "dims", "fields", "size", "value"),
    [
        (1, [2], {"float_data": [1, 2, 3]}, 12, None),
        (1, [2], {"raw_data": b"1234567"}, 7, None),
        (1, [2], {}, 0, None),
        (1, [0], {}, 0, ()),
        (1, [-1], {"float_data": [1]}, 4, None),
        (1, [2**62, 2**62, 0], {}, 0, ()),
        (1, [2**62, 2**62], {"float_data": [1]}, 4, None),
        (7, [], {"int64_data": [-5]}, 8, (-5,)),
        (7, [1], {"int32_data": [5]}, 0, None),
        (22, [3], {"int32_data": [0x21, 0x0F]}, 2, (1, 2, -1)),
        (0, [1], {"float_data": [1]}, None, None),
        (99, [1], {"raw_data": b"1234"}, 4, None),
        (1, [257], {"raw_data": bytes(1028)}, 1028, None),
        (1, [256], {"raw_data": bytes(1024)}, 1024, (0.0,) * 256),
        (7, [300], {"int64_data": range(-150, 150)}, 2400, None),
    ],
)
def test_sizes_that_do_not_fit_the_shape(dtype, dims, fields, size, value):
    source = TensorProto(name="w", data_type=dtype, dims=dims, **fields)
    (found,) = graph(proto(initializers=[source])).constants.values()
    assert (found.stored.size, found.tensor.value, found.tensor.shape) == (size, value, tuple(dims))


def test_unpacked_elements_are_read_like_packed_ones():
    floats = b"".join(varint(4 << 3 | 5) + np.float32(n).tobytes() for n in (1, 2))
    ints = field(7, 5) + field(7, 2**64 - 1)
    for dtype, data, value in ((1, floats, (1.0, 2.0)), (7, ints, (5, -1))):
        tensor = field(1, 2) + field(2, dtype) + data + field(8, b"w")
        assert onnx.TensorProto.FromString(tensor).name == "w"
        (found,) = graph(field(1, 10) + field(7, field(5, tensor))).constants.values()
        assert (found.tensor.value, found.tensor.shape) == (value, (2,))


def test_a_sparse_initializer_is_a_constant_of_its_dense_shape():
    values = numpy_helper.from_array(np.float32([1, 2]), "s")
    indices = numpy_helper.from_array(np.int64([0, 5]))
    sparse = helper.make_sparse_tensor(values, indices, [3, 4])
    found = graph(proto([helper.make_node("Neg", ["s"], ["y"])], sparse_initializer=[sparse]))
    (constant,) = found.constants.values()
    assert list(found.constants) == [found.nodes[0].inputs[0]]
    assert constant.tensor == Tensor("float32", (3, 4))
    assert [part.tensor.value for part in constant.parts] == [(1.0, 2.0), (0, 5)]


@pytest.mark.parametrize("dtype", sorted(FLOATS - {"float32", "float64", "nf4"}))
def test_small_floats_are_those_of_ml_dtypes(dtype):
    exact = {"float4_e2m1": "float4_e2m1fn", "float8_e8m0": "float8_e8m0fnu"}
    kind = np.dtype("float16" if dtype == "float16" else getattr(ml_dtypes, exact.get(dtype, dtype)))
    bits = 4 if dtype == "float4_e2m1" else 8 * kind.itemsize
    codes = np.arange(1 << bits, dtype=f"u{kind.itemsize}")
    packed = (codes[::2] | codes[1::2] << 4) if bits == 4 else codes
    found = weights.contents(dtype, len(codes), packed.tobytes())
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.array(found), codes.view(kind).astype(np.float64))


@pytest.mark.parametrize(
    ("dtype", "count", "size"),
    [("int4", 3, 2), ("int2", 5, 2), ("float32", 3, 12), ("string", 2, None), (None, 2, None), ("int8", -1, None)],
)
def test_byte_size(dtype, count, size):
    assert weights.byte_size(dtype, count) == size
    assert size is None or weights.contents(dtype, count, b"\1" * (size - 1)) is None


# external data


def external(tmp_path, dims=(4,), data: bytes | None = np.arange(4, dtype="f4").tobytes(), **entries):
    if data is not None:
        (tmp_path / "w.bin").write_bytes(data)
    source = TensorProto(name="w", data_type=F, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "w.bin", **entries}.items():
        source.external_data.add(key=key, value=value)
    found = parsed(proto(initializers=[source]), str(tmp_path / "m.onnx"))
    assert found.problems == ()
    return next(iter(found.graph.constants.values()))


@pytest.mark.parametrize(
    ("dims", "entries", "stored", "value"),
    [
        ((4,), {}, (None, 0, 16), (0, 1, 2, 3)),
        ((4,), {"length": "16"}, (16, 0, 16), (0, 1, 2, 3)),
        ((4,), {"length": "0"}, (None, 0, 16), (0, 1, 2, 3)),
        ((2,), {"offset": "8", "length": "8", "checksum": "c"}, (8, 8, 8), (2, 3)),
        ((4,), {"offset": "8", "length": "16"}, (16, 8, 8), None),
        ((4,), {"length": "12"}, (12, 0, 16), None),
        ((1,), {"offset": "99"}, (None, 99, -83), None),
        ((0,), {"offset": "99"}, (None, 99, 0), None),
        ((0,), {"location": "w.bin"}, (None, 0, 16), None),
        ((1000,), {}, (None, 0, 16), None),
        ((4,), {"location": "sub/../w.bin"}, (None, 0, 16), (0, 1, 2, 3)),
    ],
)
def test_external_data(tmp_path, dims, entries, stored, value):
    (tmp_path / "sub").mkdir()
    found = external(tmp_path, dims, **entries)
    assert (found.stored.size, found.stored.offset, found.stored.available) == stored
    assert found.stored.file == entries.get("location", "w.bin")
    assert (found.tensor.value, found.stored.reason) == (value, None)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"location": "../w.bin"}, "outside"),
        ({"location": "a/../../w.bin"}, "outside"),
        ({"location": "..\\w.bin"}, "outside"),
        ({"location": "/etc/hostname"}, "an absolute path"),
        ({"location": ""}, "no location"),
        ({"location": "none.bin"}, "does not exist"),
        ({"location": "a\0b"}, "a does not exist"),
        ({"location": "."}, "not a file"),
        ({"offset": "-4"}, "offset is '-4'"),
        ({"offset": "0x0"}, "offset is '0x0'"),
        ({"length": "four"}, "length is 'four'"),
    ],
)
def test_external_data_that_cannot_be_had(tmp_path, entries, reason):
    found = external(tmp_path, **entries)
    assert reason in found.stored.reason
    assert found.tensor.value is None
    assert found.stored.file == entries.get("location", "w.bin")


def test_a_git_lfs_pointer_is_no_external_data(tmp_path):
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 16\n"
    found = external(tmp_path, data=pointer)
    assert "Git LFS pointer" in found.stored.reason
    assert found.tensor.value is None
    assert weights.is_lfs_pointer(pointer)
    assert not weights.is_lfs_pointer(pointer[1:])


# attributes


def attribute(**fields) -> AttributeProto:
    return AttributeProto(name="a", **fields)


def read_attribute(source: AttributeProto):
    node = helper.make_node("Op", ["x"], ["y"])
    node.attribute.append(source)
    found = model([node], [info("x", 2)])
    assert [problem.fault.rule.code for problem in found.problems] == ["IRL520"] * (not source.type)
    assert found.graph is not None
    return found.graph.nodes[0].attributes["a"]


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("kind", "fields", "value"),
    [
        ("FLOAT", {"f": 0.5}, 0.5),
        ("INT", {"i": -3}, -3),
        ("STRING", {"s": "größe".encode()}, "größe"),
        ("STRING", {"s": b"\xff\x00a"}, "\\xff\x00a"),
        ("FLOATS", {"floats": [0.5, -1.0]}, (0.5, -1.0)),
        ("INTS", {"ints": [2**63 - 1, -1, 300]}, (2**63 - 1, -1, 300)),
        ("STRINGS", {"strings": [b"a", b""]}, ("a", "")),
        ("TYPE_PROTO", {"tp": T(F, [2])}, Tensor("float32", (2,))),
        ("TYPE_PROTOS", {"type_protos": [T(F, [2]), T(INT64, None)]}, (Tensor("float32", (2,)), Tensor("int64"))),
    ],
)
def test_attributes(kind, fields, value, typed):
    found = read_attribute(attribute(type=kind if typed else 0, **fields))
    assert (found.kind, found.value, found.reference) == (kind, value, None)


@pytest.mark.parametrize(
    ("kind", "value"),
    [("FLOAT", 0.0), ("INT", 0), ("STRING", ""), ("INTS", ()), ("TENSORS", ()), ("GRAPHS", ()), (0, None)],
)
def test_attributes_that_hold_nothing(kind, value):
    assert read_attribute(attribute(type=kind)).value == value


def test_packed_attributes():
    packed = field(1, b"a") + field(7, np.float32([1, 2]).tobytes()) + field(20, 6)
    other = field(1, b"b") + field(8, varint(300) + varint(2**64 - 1)) + field(20, 7)
    node = field(4, b"Op") + field(5, packed) + field(5, other)
    found = graph(field(1, 10) + field(7, field(1, node))).nodes[0].attributes
    assert (found["a"].value, found["b"].value) == ((1.0, 2.0), (300, -1))


def test_tensor_attributes():
    tensor = numpy_helper.from_array(np.int64([[1, -2]]))
    assert read_attribute(attribute(type="TENSOR", t=tensor)).value.tensor == Tensor("int64", (1, 2), (1, -2))
    found = read_attribute(attribute(type="TENSORS", tensors=[tensor, tensor])).value
    assert [entry.tensor.value for entry in found] == [(1, -2)] * 2
    sparse = helper.make_sparse_tensor(tensor, tensor, [7])
    assert read_attribute(attribute(type="SPARSE_TENSOR", sparse_tensor=sparse)).value.tensor.shape == (7,)
    found = read_attribute(attribute(type="SPARSE_TENSORS", sparse_tensors=[sparse])).value
    assert [entry.tensor for entry in found] == [Tensor("int64", (7,))]


def test_a_reference_to_an_attribute_of_the_function_has_no_value():
    node = helper.make_node("Op", ["x"], ["y"])
    node.attribute.append(attribute(type="INTS", ref_attr_name="axes"))
    function = helper.make_function("f", "F", ["x"], ["y"], [node], [helper.make_opsetid("", 21)], ["axes"])
    source = proto([helper.make_node("F", ["x"], ["y"], domain="f")], [info("x", 2)])
    source.functions.append(function)
    found = parsed(source).functions["f", "F", ""].graph.nodes[0].attributes["a"]
    assert (found.kind, found.value, found.reference) == ("INTS", None, "axes")


# files that are not sound


def codes(found: Model) -> list[str]:
    return [problem.fault.rule.name for problem in found.problems]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"<html></html>", b"hello world", b"\x80\x02}q\x00.", field(1, 8), field(1, 8) + field(2, b"me")],
)
def test_what_is_no_model(content, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    for found in (reader.read(path), parsed(content)):
        assert found.graph is None
        assert codes(found) == ["not-a-model"]


def test_a_pipe_is_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="no regular file"):
        reader.read(path)


@pytest.mark.parametrize("short", [1, 40, 1 << 16])
def test_a_large_file_is_read_without_the_insides_of_weights(short, rich, tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    path.write_bytes(rich)
    whole = repr(reader.read(path))
    monkeypatch.setattr(reader, "SMALL", 0)
    monkeypatch.setattr(skeleton, "SHORT", short)
    monkeypatch.setattr(skeleton, "BLOCK", 1)
    assert (repr(reader.read(path)) == whole) or short == 1
    path.write_bytes(rich[: len(rich) // 2])
    assert codes(reader.read(path)) == codes(parsed(rich[: len(rich) // 2]))


@pytest.mark.parametrize(("entry", "kind"), [(b"\x4a\x04LEAF", 8), (b"\x40\x05", 7)])
def test_a_long_list_of_a_large_file_is_read_at_once(entry, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(skeleton, "BLOCK", 1 << 12)
    attribute = b"\x0a\x01n" + entry * 40_000 + b"\xa0\x01" + bytes([kind])
    content = field(1, 8) + field(7, field(1, field(5, attribute)))
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    parts = []
    read = skeleton._Copy.read
    monkeypatch.setattr(skeleton._Copy, "read", lambda self, start, end: (parts.append(end), read(self, start, end))[1])
    with path.open("rb", buffering=0) as file:
        assert skeleton.copied(file)[:] == content
    assert len(parts) < 10


def test_a_file_that_shrinks_while_it_is_read(rich, tmp_path):
    path = tmp_path / "m.onnx"
    for read in (reader.bytes_of, skeleton.copied):
        path.write_bytes(rich)
        with path.open("r+b", buffering=0) as file, pytest.raises(OSError, match="became shorter"):
            read(Shrinking(file, len(rich) - 20))


class Shrinking:
    """A file that has fewer bytes once it is read."""

    def __init__(self, file, left):
        self.file, self.left, self.name = file, left, file.name

    def __getattr__(self, name):
        if name.startswith("read"):
            self.file.truncate(self.left)
        return getattr(self.file, name)


def test_a_truncated_file_says_how_much_is_missing():
    content = field(1, 10) + field(7, field(1, field(4, b"Relu")) + field(2, b"a name of 20 letters"))
    found = parsed(content[:-15])
    assert (codes(found), found.graph) == (["truncated-file"], None)
    assert found.problems[0].fault.message == (
        f"the field graph runs 15 bytes past the end of the file, which has {len(content) - 15} bytes"
    )
    assert f"at least {len(content)} bytes" in found.problems[0].fault.help


@pytest.mark.parametrize(
    "body",
    [
        b"\x0b\x08\x01",
        b"\x0e",
        b"\x00\x01",
        b"\x08" + b"\xff" * 11,
        b"\x0a\x7f",
        b"\x0d\x01",
        b"\x09\x01",
        b"\x0a",
    ],
    ids=["group", "wire type 6", "field 0", "long varint", "length", "32 bits", "64 bits", "no length"],
)
def test_a_damaged_graph(body):
    content = field(1, 10) + field(7, body)
    with pytest.raises(DecodeError):
        onnx.load_model_from_string(content)
    found = parsed(content)
    assert (codes(found), found.graph) == (["malformed-onnx"], None)


def test_groups_are_passed_over():
    """As every implementation of protobuf does with a field that a message does not have."""
    group = b"\xfb\x07\x08\x01\xfb\x07\x12\x01x\xfc\x07\x15abcd\x11abcdefgh\xfc\x07"
    graph = field(1, field(1, b"x") + field(2, b"y") + field(4, b"Relu") + group) + group
    content = field(1, 10) + group + field(7, graph)
    assert onnx.load_model_from_string(content).graph.node[0].op_type == "Relu"
    found = parsed(content)
    assert codes(found) == []
    assert [node.op for node in found.graph.nodes] == ["Relu"]


@pytest.mark.parametrize("body", [b"\xfb\x07\x08\x01", b"\x0c", b"\x0b\x14", b"\x0b\x0a\x7f\x0c", b"\x0b\x0e\x0c"])
def test_a_damaged_group(body):
    content = field(1, 10) + field(7, body)
    with pytest.raises(DecodeError):
        onnx.load_model_from_string(content)
    found = parsed(content)
    assert (codes(found), found.graph) == (["malformed-onnx"], None)


def test_a_damaged_attribute_leaves_the_rest():
    good = field(1, b"axis") + field(3, 1) + field(20, 2)
    node = field(1, b"x") + field(2, b"y") + field(4, b"Op") + field(5, field(1, b"bad") + b"\x0e") + field(5, good)
    found = parsed(field(1, 10) + field(7, field(1, node) + field(1, field(1, b"y"))))
    (problem,) = found.problems
    assert codes(found) == ["malformed-onnx"]
    assert (problem.node, problem.fault.attribute) == (found.graph.nodes[0], "bad")
    assert (names(found.graph.nodes[1].inputs), found.graph.undefined[1:]) == (["y"], ())
    assert list(found.graph.nodes[0].attributes) == ["axis"]


@pytest.mark.parametrize("kind", [4, 5, 11, 13])
def test_an_attribute_that_holds_no_message(kind):
    node = field(4, b"Op") + field(5, field(1, b"bad") + field(20, kind))
    found = parsed(field(1, 10) + field(7, field(1, node)))
    assert codes(found) == ["malformed-onnx"]
    assert found.graph.nodes[0].attributes == {}


def test_a_damaged_initializer_is_a_constant_of_unknown_type():
    tensor = field(1, 2) + field(2, 1) + field(8, b"w") + b"\x4a\x7f"
    found = parsed(field(1, 10) + field(7, field(1, field(1, b"w")) + field(5, tensor)))
    assert [(code, problem.value) for code, problem in zip(codes(found), found.problems)] == [("malformed-onnx", "w")]
    assert found.graph.constants == {found.graph.nodes[0].inputs[0]: Constant(Tensor())}


def test_a_damaged_type_is_no_declaration():
    value = field(1, b"x") + field(2, field(1, b"\x0e"))
    found = parsed(field(1, 10) + field(7, field(11, value)))
    assert [(code, problem.value) for code, problem in zip(codes(found), found.problems)] == [("malformed-onnx", "x")]
    assert found.graph.inputs[0].declared == ()


def nested_graphs(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = field(1, field(5, field(1, b"b") + field(6, inner) + field(20, 5)))
    return field(1, 10) + field(7, inner)


def nested_types(depth: int) -> bytes:
    inner = field(1, field(1, 1))
    for _ in range(depth):
        inner = field(4, field(1, inner))
    return field(1, 10) + field(7, field(11, field(1, b"x") + field(2, inner)))


@pytest.mark.parametrize(("source", "deepest"), [(nested_graphs, 33), (nested_types, 47)])
def test_nesting_is_bounded_as_in_protobuf(source, deepest):
    onnx.load_model_from_string(source(deepest))
    assert parsed(source(deepest)).problems == ()
    for depth in (deepest + 3, 2000):
        with pytest.raises(DecodeError):
            onnx.load_model_from_string(source(depth))
        assert codes(parsed(source(depth))) == ["malformed-onnx"]


def test_a_field_of_another_wire_type_is_unknown():
    content = field(1, 10) + field(7, field(2, b"g") + field(2, 7) + field(1, 3))
    assert onnx.load_model_from_string(content).graph.name == graph(content).name == "g"


def test_a_field_of_another_wire_type_is_no_type():
    tensor = field(1, field(1, 1) + field(2, b""))
    for declared, expected in ((tensor + field(1, 5), []), (field(1, b"\x0c") + field(1, 5), ["malformed-onnx"] * 2)):
        value = field(1, b"x") + field(2, declared)
        content = field(1, 10) + field(7, field(2, b"g") + field(11, value) + field(12, value)) + field(8, field(2, 17))
        found = parsed(content)
        assert codes(found) == expected
        if not expected:
            assert found.graph.inputs[0].type == Tensor("float32", ())


def test_a_message_in_two_pieces_is_one():
    first, second = (field(7, field(1, field(4, name))) for name in (b"A", b"B"))
    content = field(1, 10) + first + second
    assert len(onnx.load_model_from_string(content).graph.node) == 2
    assert [node.op for node in graph(content).nodes] == ["A", "B"]


def sound(content: bytes) -> bool | None:
    """Whether the onnx package reads a graph; None where only the file's form decides."""
    try:
        return onnx.load_model_from_string(content).HasField("graph") or None
    except DecodeError:
        return False


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_every_prefix_is_a_model(rich, data):
    content = rich[: data.draw(st.integers(0, len(rich) - 1))]
    found = parsed(content)
    whole = found.graph is not None
    assert len(found.problems) == (0 if whole else 1)
    assert whole == bool(sound(content))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_flipped_bytes_never_raise(rich, data):
    content = bytearray(rich)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(rich) - 1))] = data.draw(st.integers(0, 255))
    found = parsed(bytes(content))
    assert isinstance(found.nodes, int)
    messages = [problem.fault.message for problem in found.problems if problem.fault.rule.family == "reading"]
    if sound(bytes(content)) and not any("holds none" in text for text in messages):
        assert messages == []


@given(st.binary(max_size=200))
def test_any_bytes_give_a_model(content):
    assert isinstance(parsed(content), Model)
    assert isinstance(parsed(field(1, 10) + field(7, content)), Model)


@given(st.integers(-(2**63), 2**63 - 1))
def test_varints(number):
    encoded = varint(number % 2**64)
    assert protobuf.varint(encoded, 0) == (number % 2**64, len(encoded))
    assert protobuf.signed(number % 2**64) == number


# size and speed


def hole(path: Path, head: bytes, size: int) -> None:
    """A file of ``size`` bytes that takes up no more than its head."""
    with path.open("wb") as file:
        file.write(head)
        try:
            file.truncate(size)
        except OSError:
            pytest.skip("the file system has no sparse files")
    if getattr(path.stat(), "st_blocks", 0) * 512 > size // 2:
        pytest.skip("the file system has no sparse files")


@pytest.mark.skipif(sys.maxsize < 2**32, reason="needs an address space of 64 bits")
def test_gigabytes_of_raw_data_are_not_read(tmp_path):
    size = (2 << 30) - (1 << 16)
    lengths = field(1, size >> 2) + field(2, F) + field(8, b"w") + varint(9 << 3 | 2) + varint(size)
    node = field(1, field(1, b"w") + field(2, b"y") + field(4, b"Relu"))
    tensor = varint(5 << 3 | 2) + varint(len(lengths) + size) + lengths
    head = field(1, 10) + varint(7 << 3 | 2) + varint(len(node) + len(tensor) + size) + node + tensor
    hole(tmp_path / "m.onnx", head, len(head) + size)
    found = within(0.5, lambda: reader.read(tmp_path / "m.onnx"))
    assert named(found).problems == ()
    ((value, constant),) = found.graph.constants.items()
    assert (found.graph.nodes[0].inputs, constant.tensor) == ((value,), Tensor("float32", (size >> 2,)))
    assert (constant.stored.size, constant.stored.offset) == (size, len(head))


def test_gigabytes_of_external_data_are_not_read(tmp_path):
    hole(tmp_path / "w.bin", b"", 3 << 30)
    found = within(0.5, lambda: external(tmp_path, (1 << 29,), None, offset=str(1 << 30), length=str(1 << 31)))
    assert (found.stored.size, found.stored.available) == (1 << 31, 1 << 31)


@pytest.mark.parametrize(("nodes", "seconds"), [(100, 0.03), (2000, 0.6)])
def test_reading_is_quick(tmp_path, nodes, seconds):
    chain = [
        helper.make_node("Conv", [f"x{n}", "w"], [f"x{n + 1}"], f"conv_{n}", pads=[1, 1, 1, 1], group=n % 7 + 1)
        for n in range(nodes)
    ]
    infos = [info(f"x{n}", "N", 64, 56, 56) for n in range(1, nodes)]
    source = proto(chain, [info("x0", "N", 64, 56, 56)], [info(f"x{nodes}")], value_info=infos)
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    assert within(seconds, lambda: reader.read(path)).nodes == nodes


def test_values_are_equal_to_themselves_only():
    found = graph("m (float[2] x) => (float[2] y) { y = Relu (x) }")
    assert found.inputs[0] != Value("x", found.inputs[0].declared)
