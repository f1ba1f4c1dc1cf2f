"""The walk: what reaches a value through chains of shape arithmetic, bodies, functions and declarations."""

from __future__ import annotations

import time
from pathlib import Path

import onnx
import pytest
from cases.ir_documents import edge, layer, net, parameter, result

import irlint
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor, shape_text
from irlint.parsers.onnx import read

HEAD = '<ir_version: 10, opset_import: ["" : 17, "f" : 1]>\n'


def known(text: str, **shapes: tuple[int | str | None, ...]) -> dict[str, str]:
    """The inferred shape of every value of the main graph, as a text."""
    from irlint.policy.shape_options import named_shapes

    model = read("m.onnx", onnx.parser.parse_model(HEAD + text).SerializeToString())
    found = inferred(model, named_shapes(shapes))
    assert not [problem.fault.message for problem in found.problems]
    return {value.name: shape_text(each.shape) for value, each in found.types.items() if isinstance(each, Tensor)}


CHAIN = """g (float[batch,seq,16] x) => (float[a,b,c,d] y) <int64 zero = {0}, int64 one = {1}, int64[1] axes = {0},
    int64[2] rest = {4, 4}> {
  shape = Shape (x)
  b = Gather (shape, zero)
  s = Gather (shape, one)
  b1 = Unsqueeze (b, axes)
  s1 = Unsqueeze (s, axes)
  target = Concat <axis = 0> (b1, s1, rest)
  r = Reshape (x, target)
  y = Transpose <perm = [0, 2, 1, 3]> (r)
}"""


def test_shape_chain_keeps_its_symbols() -> None:
    assert known(CHAIN)["r"] == "[batch, seq, 4, 4]"
    assert known(CHAIN)["y"] == "[batch, 4, seq, 4]"
    assert known(CHAIN, x=(2, "T", 16))["y"] == "[2, 4, T, 4]"


def test_declarations_fill_holes_and_override_nothing() -> None:
    text = "g (float[2,3] x, int64[2] s) => (float[5,N] y) <float[7,7] z> { z = Reshape (x, s) y = Neg (z) }"
    assert known(text)["z"] == "[7, 7]"
    model = onnx.parser.parse_model(HEAD + "g (float[2,3] x) => (float[2,4] y) { y = Neg (x) }")
    found = inferred(read("m.onnx", model.SerializeToString()))
    assert [shape_text(each.shape) for value, each in found.types.items() if value.name == "y"] == ["[2, 3]"]


@pytest.mark.parametrize(
    ("declared", "shape"),
    [
        ("((H - 1)//2) + 1", "[(H + 1)//2]"),
        ("2*H", "[2*H]"),
        ("Max(1, H - 3)", "[max(H - 3, 1)]"),
        ("CeilToInt(IntTrueDiv(H, 2))", "[(H + 1)//2]"),
        ("2*u0", "[d2_u0]"),
        ("H +", "[H_2]"),
        ("2*3", "[d2_3]"),
    ],
)
def test_a_declared_expression_of_sizes_of_inputs_has_its_value(declared: str, shape: str) -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[H] x, bool[H] c) => (float[A] y) { y = Compress (x, c) }")
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = declared
    found = inferred(read("m.onnx", model.SerializeToString()))
    assert [shape_text(each.shape) for value, each in found.types.items() if value.name == "y"] == [shape]


def test_an_expression_that_an_input_declares_is_a_size_of_its_own() -> None:
    model = onnx.parser.parse_model(
        HEAD + "g (float[P] x, float[A] m) => (float[B] y) { y = Concat <axis = 0> (x, m) }"
    )
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "P + 1"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "2*P + 1"
    found = inferred(read("m.onnx", model.SerializeToString()))
    assert not found.problems
    assert [shape_text(each.shape) for value, each in found.types.items() if value.name == "y"] == ["[P + P_1]"]


@pytest.mark.parametrize(
    ("declared", "shape"),
    [("A,B", "[N, M]"), ("A", "[A]"), ("A,B,C", "[A, B, C]"), ("", "[...]")],
)
def test_squeeze_without_axes_takes_the_rank_that_is_declared(declared: str, shape: str) -> None:
    found = known(f"g (float[N,1,M] x) => (float[{declared}] y) {{ y = Squeeze (x) }}")
    assert found["y"] == shape
    assert known("g (float[N,3] x) => (float[A] y) { y = Squeeze (x) }")["y"] == "[3]"


def test_open_sizes_are_named_after_where_they_stand(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(HEAD + "g (float[?,3,H] images) => (float[?,?] y) { y = Flatten (images) }")
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    listed = irlint.shapes(path)
    assert listed["values"][0]["shape"] == ["images_0", 3, "H"]
    assert listed["values"][1]["shape"] == ["images_0", "3*H"]
    assert listed["symbols"] == {"images_0": "images[0]"}


FUNCTION = """g (float[2,N] x, float[3,N] z) => (float[a,b] y, float[c,d] w) {{ y = f.twice {0} (x) w = f.twice {0} (z) }}
<domain: "f", opset_import: ["" : 17]> twice {1} (t) => (u) {{ u = Concat <axis{2}> (t, t) }}"""


@pytest.mark.parametrize(
    ("call", "declared", "axis", "shapes"),
    [
        ("", "", " = 0", ("[4, N]", "[6, N]")),
        ("<k = 1>", "<k>", ": int = @k", ("[2, 2*N]", "[3, 2*N]")),
    ],
)
def test_function_is_worked_out_for_each_call(call: str, declared: str, axis: str, shapes: tuple[str, str]) -> None:
    found = known(FUNCTION.format(call, declared, axis))
    assert (found["y"], found["w"]) == shapes


def test_calls_have_unknown_sizes_of_their_own() -> None:
    text = """g (bool[N] x, bool[N] z) => (int64[a,b] y, int64[c,d] w) { y = f.hits (x) w = f.hits (z) }
<domain: "f", opset_import: ["" : 17]> hits (t) => (u) { u = NonZero (t) }"""
    found = known(text)
    assert found["y"].startswith("[1, _nonzero_")
    assert found["y"] != found["w"]


def test_nested_calls_do_not_multiply() -> None:
    levels = 40
    functions = "".join(
        f'<domain: "f", opset_import: ["" : 17, "f" : 1]> l{n} (t) => (u) {{ a = f.l{n + 1} (t) b = f.l{n + 1} (t) u = '
        "Add (a, b) }\n"
        for n in range(levels)
    )
    last = f'<domain: "f", opset_import: ["" : 17]> l{levels} (t) => (u) {{ u = Neg (t) }}'
    start = time.perf_counter()
    assert known(f"g (float[N] x) => (float[M] y) {{ y = f.l0 (x) }}\n{functions}{last}")["y"] == "[N]"
    assert time.perf_counter() - start < 5


def test_recursive_function_ends() -> None:
    text = """g (float[N] x) => (float[M] y) { y = f.again (x) }
<domain: "f", opset_import: ["" : 17, "f" : 1]> again (t) => (u) { u = f.again (t) }"""
    assert "y" in known(text)


def test_requirements_are_listed_with_their_node(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(
        onnx.parser.parse_model(HEAD + "g (float[N,4] x, float[M,4] z) => (float[?,4] y) { y = Add (x, z) }"), path
    )
    (requirement,) = irlint.shapes(path)["requires"]
    assert requirement["condition"] == "N == M or N == 1 or M == 1"
    assert (requirement["node"], requirement["op"]) == ("y", "Add")


def test_one_custom_operator_does_not_silence_the_rest(tmp_path: Path) -> None:
    text = """g (float[2,3] x, float[4] b) => (float[2,3] y) <float[2,3] z> {
      z = f.Mystery (x) w = Add (z, b) v = f.Mystery (w) y = Relu (x) }"""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + text), path)
    assert [finding.rule.code for finding in irlint.check(path).folded().findings] == ["IRL502", "IRL201"]


@pytest.mark.parametrize("names", [("a.b", "a_b"), ("a", "a")])
def test_the_intervals_of_two_parameters_are_two_symbols(names, tmp_path):
    first, second = (parameter(id, name, "1..8,3") for id, name in enumerate(names))
    concat = layer(2, "Concat", "01", "2", data='<data axis="1"/>')
    text = net([first, second, concat, result(3)], [edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 3, 0)])
    path = tmp_path / "model.xml"
    path.write_text(text.replace("<dim>2</dim><dim>3</dim>", "<dim>-1</dim><dim>3</dim>"))
    listing = irlint.shapes(path)
    (requirement,) = listing["requires"]
    assert requirement["condition"] in ("a_b_0 == a_b_0_2", "a_0 == a_0_2")
    assert [listing["symbols"][name] for name in requirement["condition"].split(" == ")] == [f"{n}[0]" for n in names]


def test_equal_nodes_are_worked_out_once_and_each_says_what_it_requires(monkeypatch):
    from irlint.ops.layout import joining

    asked = []
    once = joining.concatenated
    monkeypatch.setattr(joining, "concatenated", lambda shapes, axis: asked.append(axis) or once(shapes, axis))
    nodes = "".join(f"y{i} = Concat <axis = 1> (a, b) " for i in range(3))
    text = f"g (float[N,2] a, float[M,3] b) => (float[K,L] y0) {{ {nodes} }}"
    model = read("m.onnx", onnx.parser.parse_model(HEAD + text).SerializeToString())
    found = inferred(model)
    assert asked == [1]
    assert [(each.node.label, each.requirement.condition) for each in found.requires] == [
        (f"y{i}", "N == M") for i in range(3)
    ]


ONE_BRANCH = """g (bool c, float[B,N] x, float[B,4] s, float[B,3] t) => (float[B,M] y) {
  y = If (c) <
    then_branch = h () => (float[B,M] a) { a = Add (x, s) },
    else_branch = i () => (float[B,M] b) { b = Add (x, t) }
  >
}"""


def test_what_a_branch_demands_holds_only_where_it_runs(tmp_path: Path) -> None:
    """Fed with 4, the model runs as long as the condition is true."""
    path = tmp_path / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(HEAD.replace(', "f" : 1', "") + ONE_BRANCH).SerializeToString())
    demands = irlint.shapes(path)["requires"]
    assert [(each["condition"], each["when"]) for each in demands] == [
        ("N == 4 or N == 1", "y/then_branch"),
        ("N == 3 or N == 1", "y/else_branch"),
    ]
    fed = irlint.check(path, shapes={"x": ("B", 4)})
    assert [(each.rule.code, each.severity.value, each.graph) for each in fed.findings] == [
        ("IRL201", "warning", "y/else_branch")
    ]


def test_what_the_file_itself_states_is_an_error_in_every_branch(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    text = HEAD + ONE_BRANCH.replace("float[B,N] x", "float[B,4] x")
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    for shapes in ({}, {"x": (2, 4)}):
        (found,) = irlint.check(path, shapes=shapes).findings
        assert (found.rule.code, found.severity.value, found.graph) == ("IRL201", "error", "y/else_branch")


def test_sizes_within_sizes_are_followed_as_far_as_known() -> None:
    """A layer makes 2 * ((n + 34) // 3) of n: each size contains all that come before it."""
    layer = (
        "p{at} = MaxPool <kernel_shape = [35], strides = [3], pads = [33, 33]> (v{at}) v{to} = Concat <axis = 2> "
        "(p{at}, p{at})"
    )
    layers = " ".join(layer.format(at=at, to=at + 1) for at in range(150))
    found = known(f"g (float[1,1,H] v0) => (float[1,1,W] v150) {{ {layers} }}")
    assert found["v1"] == "[1, 1, 2*((H + 1)//3) + 22]"
    assert "H" in found["v30"]
    assert "_maxpool" in found["v150"]
