"""The ONNX reader, held against the onnx package's own loading."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, GraphProto, TensorProto, helper, numpy_helper
from parsers.onnx.models import INT64, F, field, graph, info, model, names, parsed, proto, varint

from irlint.dims import symbol
from irlint.model import Constant, Graph, Node
from irlint.model.tensor import Map, Opaque, Optional, Sequence, SparseTensor, Tensor
from irlint.parsers import onnx as reader
from irlint.parsers.onnx.tensors import DTYPES
from irlint.parsers.onnx.types import flaw, type_of

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
    ("key", "element", "expected"),
    [
        (0, 99, "without key type"),
        (99, 1, "with the key type 99, which ONNX does not define"),
        (7, 99, "with the element type 99, which ONNX does not define"),
        (7, 0, "without element type"),
    ],
)
def test_what_a_map_lacks(key, element, expected):
    source = onnx.TypeProto(map_type=onnx.TypeProto.Map(key_type=key or None, value_type=T(element, [])))
    raw = source.SerializeToString()
    assert flaw(raw, type_of(raw, symbol, [])) == expected


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
