"""What two models differ in, each pair in both directions: the kinds of the changes, and which of them are breaking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from contracts.models import HEAD
from onnx import TensorProto, helper, numpy_helper

import irlint

X = "g (float[N,3,H,W] x) => (float[N,3,H,W] y) { y = Relu (x) }"

#: Two models, and the changes from the first to the second and back; breaking ones have a ``!``.
PAIRS = {
    "nothing": (X, X, "", ""),
    "names": (
        "g (float[N,3] x) => (float[N,3] y) { [one] a = Relu (x) [two] y = Neg (a) }",
        "g (float[batch,3] x) => (float[batch,3] y) { [three] b = Relu (x) [four] y = Neg (b) }",
        "",
        "",
    ),
    "order": (
        "g (float[N] x) => (float[N] y) { a = Relu (x) b = Neg (x) y = Add (a, b) }",
        "g (float[N] x) => (float[N] y) { b = Neg (x) a = Relu (x) y = Add (a, b) }",
        "",
        "",
    ),
    "a default that is written": (
        "g (float[2,3] x) => (float[2,3] y) { y = Softmax (x) }",
        "g (float[2,3] x) => (float[2,3] y) { y = Softmax <axis = -1> (x) }",
        "",
        "",
    ),
    "a default of float32": (
        "g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu (x) }",
        "g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alpha = 0.01> (x) }",
        "",
        "",
    ),
    "defaults of a window": (
        "g (float[1,3,8,8] x) => (float[1,3,7,7] y) { y = MaxPool <kernel_shape = [2, 2]> (x) }",
        "g (float[1,3,8,8] x) => (float[1,3,7,7] y) { y = MaxPool <kernel_shape = [2, 2], strides = [1, 1], "
        "pads = [0, 0, 0, 0], dilations = [1, 1]> (x) }",
        "",
        "",
    ),
    "an initializer as a node": (
        "g (float[2] x) => (float[2] y) <float[2] c = {1, 2}> { y = Add (x, c) }",
        "g (float[2] x) => (float[2] y) { c = Constant <value = float[2] {1, 2}> () y = Add (x, c) }",
        "",
        "",
    ),
    "input": (
        "g (float[N] x) => (float[N] y) { y = Relu (x) }",
        "g (float[N] x, float[N] z) => (float[N] y) { y = Relu (x) }",
        "input-added!",
        "input-removed!",
    ),
    "input under another name": (
        X,
        X.replace("x)", "images)"),
        "input-removed! input-added!",
        "input-removed! input-added!",
    ),
    "an input that need not be fed": (
        "g (float[2] x) => (float[2] y) <float[2] c = {1, 2}> { y = Add (x, c) }",
        "g (float[2] x, float[2] c = {1, 2}) => (float[2] y) { y = Add (x, c) }",
        "input-added",
        "input-removed",
    ),
    "a default": (
        "g (float[2] x, float[2] c) => (float[2] y) { y = Add (x, c) }",
        "g (float[2] x, float[2] c = {1, 2}) => (float[2] y) { y = Add (x, c) }",
        "input-widened node-rewired",
        "input-narrowed! node-rewired",
    ),
    "inputs in another order": (
        "g (float[N] x, float[N] z) => (float[N] y) { y = Sub (x, z) }",
        "g (float[N] z, float[N] x) => (float[N] y) { y = Sub (x, z) }",
        "input-moved!",
        "input-moved!",
    ),
    "output": (
        "g (float[N] x) => (float[N] y) { y = Relu (x) }",
        "g (float[N] x) => (float[N] y, float[N] z) { y = Relu (x) z = Neg (x) }",
        "output-added operator-added node-added",
        "output-removed! operator-removed node-removed",
    ),
    "an output before another one": (
        "g (float[N] x) => (float[N] y) { y = Relu (x) }",
        "g (float[N] x) => (float[N] z, float[N] y) { y = Relu (x) z = Neg (x) }",
        "output-added output-moved! operator-added node-added",
        "output-removed! operator-removed node-removed",
    ),
    "outputs in another order": (
        "g (float[N] x) => (float[N] y, float[N] z) { y = Relu (x) z = Neg (x) }",
        "g (float[N] x) => (float[N] z, float[N] y) { y = Relu (x) z = Neg (x) }",
        "output-moved!",
        "output-moved!",
    ),
    "element type": (
        "g (float[N] x) => (float[N] y) { y = Neg (x) }",
        "g (int64[N] x) => (int64[N] y) { y = Neg (x) }",
        "type-changed! type-changed!",
        "type-changed! type-changed!",
    ),
    "a fixed size": (
        X,
        X.replace("float[N,", "float[1,"),
        "input-narrowed!",
        "input-widened",
    ),
    "another fixed size": (
        X.replace("H,W", "224,224"),
        X.replace("H,W", "256,256"),
        "input-narrowed! output-changed!",
        "input-narrowed! output-changed!",
    ),
    "another rank": (
        "g (float[N,3] x) => (float[N,3] y) { y = Relu (x) }",
        "g (float[N,3,1] x) => (float[N,3,1] y) { y = Relu (x) }",
        "input-narrowed! output-changed!",
        "input-narrowed! output-changed!",
    ),
    "a size that the graph has frozen": (
        "g (float[batch,16,8] x) => (float[batch,m] y) <int64[2] s = {-1, 128}> { y = Reshape (x, s) }",
        "g (float[batch,16,8] x) => (float[batch,m] y) <int64[2] s = {1, 128}> { y = Reshape (x, s) }",
        "input-narrowed! node-weights",
        "input-widened node-weights",
    ),
    "a multiple": (
        "g (float[H,3] x) => (y) <int64[2] s = {-1, 3}> { y = Reshape (x, s) }",
        "g (float[n,3] x) => (y) <int64[2] s = {-1, 6}> { y = Reshape (x, s) }",
        "input-narrowed! output-changed! node-weights",
        "input-widened output-changed! node-weights",
    ),
    "one symbol for two": (
        "g (float[N,3] x, float[M,3] z) => (float[N,3] a, float[M,3] b) { a = Relu (x) b = Relu (z) }",
        "g (float[N,3] x, float[N,3] z) => (float[N,3] a, float[N,3] b) { a = Relu (x) b = Relu (z) }",
        "contract-narrowed!",
        "contract-widened",
    ),
    "sizes that have to agree": (
        "g (float[N,3] x, float[M,3] z) => (y) { y = Concat <axis = 0> (x, z) }",
        "g (float[N,3] x, float[M,3] z) => (y) { y = Concat <axis = 1> (x, z) }",
        "contract-narrowed! output-changed! node-changed",
        "contract-widened output-changed! node-changed",
    ),
    "no sizes": (
        "g (float[n] x, float[6] a, float[12] b) => (y, z) "
        "{ r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x, x) z = Sub (b, s) }",
        "g (float[n] x, float[6] a, float[12] b) => (y, z) "
        "{ r = Concat <axis = 0> (x, x) y = Sub (a, r) s = Concat <axis = 0> (x, x, x) z = Sub (b, s) }",
        "contract-unsatisfiable! node-rewired",
        "contract-satisfiable node-rewired",
    ),
    "a branch": (
        "g (bool c, float[N,3] x, float[4,3] a) => (y) { y = If (c) <then_branch = t () => (float[P,3] u) { u = Neg "
        "(x) }, "
        "else_branch = e () => (float[P,3] v) { v = Relu (x) }> }",
        "g (bool c, float[N,3] x, float[4,3] a) => (y) { y = If (c) <then_branch = t () => (float[P,3] u) { u = Sub "
        "(x, a) }, "
        "else_branch = e () => (float[P,3] v) { v = Relu (x) }> }",
        "contract-narrowed output-untold! operator-removed operator-added node-changed node-rewired",
        "contract-widened output-told operator-added operator-removed node-changed node-rewired",
    ),
    "an output of which less is known": (
        "g (float[N] x) => (float[N] y) { y = Relu (x) }",
        "g (float[N] x) => (y) { z = NonZero (x) w = Cast <to = 1> (z) s = Constant <value_ints = [0]> () y = Squeeze "
        "(w, s) }",
        "output-untold! operator-added operator-added operator-removed operator-added node-removed node-added "
        "node-added node-added",
        "output-told operator-removed operator-removed operator-added operator-removed node-removed node-removed "
        "node-removed node-added",
    ),
    "attributes": (
        "g (float[1,3,8,8] x, float[4,3,3,3] w) => (y) { [c] y = Conv <strides = [1, 1]> (x, w) }",
        "g (float[1,3,8,8] x, float[4,3,3,3] w) => (y) { [c] y = Conv <strides = [2, 2]> (x, w) }",
        "output-changed! node-changed",
        "output-changed! node-changed",
    ),
    "weights": (
        "g (float[N,2] x) => (y) <float[2] w = {1, 2}> { y = Add (x, w) }",
        "g (float[N,2] x) => (y) <float[2] w = {1, 3}> { y = Add (x, w) }",
        "node-weights",
        "node-weights",
    ),
    "a node between two": (
        "g (float[N] x) => (y) { a = Neg (x) b = Exp (a) y = Add (b, x) }",
        "g (float[N] x) => (y) { a = Neg (x) n = Relu (a) b = Exp (n) y = Add (b, x) }",
        "operator-added node-added",
        "operator-removed node-removed",
    ),
    "another operator": (
        "g (float[N] x) => (y) { a = Neg (x) [act] b = Relu (a) y = Exp (b) }",
        "g (float[N] x) => (y) { a = Neg (x) [act] b = Tanh (a) y = Exp (b) }",
        "operator-removed operator-added node-changed",
        "operator-added operator-removed node-changed",
    ),
    "inputs of a node": (
        "g (float[N] x) => (y) { a = Neg (x) b = Exp (x) y = Sub (a, b) }",
        "g (float[N] x) => (y) { a = Neg (x) b = Exp (x) y = Sub (b, a) }",
        "node-rewired",
        "node-rewired",
    ),
    "more nodes": (
        "g (float[N] x) => (y) { a = Neg (x) y = Neg (a) }",
        "g (float[N] x) => (y) { a = Neg (x) b = Neg (a) y = Neg (b) }",
        "operator-count node-added",
        "operator-count node-removed",
    ),
}


def written(text: str, path: Path, opset: int = 17) -> Path:
    path.write_bytes(onnx.parser.parse_model(HEAD.replace("17", str(opset)) + text).SerializeToString())
    return path


def kinds(changes: list[dict[str, Any]]) -> str:
    """The changes but those of costs, which follow from the others."""
    found = [each for each in changes if not each["kind"].startswith("cost-")]
    return " ".join(each["kind"] + "!" * each["breaking"] for each in found)


@pytest.mark.parametrize("name", PAIRS)
def test_both_directions(name: str, tmp_path: Path) -> None:
    old, new, there, back = PAIRS[name]
    one, other = written(old, tmp_path / "old.onnx"), written(new, tmp_path / "new.onnx")
    for first, second, expected in ((one, other, there), (other, one, back)):
        found = irlint.diff(first, second)
        assert kinds(found["changes"]) == expected, found["changes"]
        assert found["compatible"] is ("!" not in expected)


#: Two models whose axis 0 of `x` becomes 1, and the reason, which a new size with the name of an old one is not.
REASONS = (
    (
        "g (float[batch,16,8] x) => (float[batch,m] y) <int64[2] s = {-1, 128}> { y = Reshape (x, s) }",
        "g (float[n,16,8] x) => (float[n,m] y) <int64[2] s = {1, 128}> { y = Reshape (x, s) }",
        " (Reshape `y`: [n, 16, 8] is reshaped to [1, 128])",
    ),
    (
        "g (float[batch,3] x, float[n,3] z) => (y, w) { y = Relu (x) w = Relu (z) }",
        "g (float[1,3] x, float[batch,3] z) => (y, w) <float[2] k = {1, 2}, int64[2] s = {2, 3}> "
        "{ y = Relu (x) w = Reshape (z, s) }",
        "",
    ),
)


@pytest.mark.parametrize(("old", "new", "reason"), REASONS)
def test_the_node_that_demands_a_size(old: str, new: str, reason: str, tmp_path: Path) -> None:
    found = irlint.diff(written(old, tmp_path / "old.onnx"), written(new, tmp_path / "new.onnx"))
    of_x = [each["message"] for each in found["changes"] if each["message"].startswith("axis 0 of `x`")]
    assert of_x == [f"axis 0 of `x`: only 1, where it was any size{reason}"]


def test_opsets_and_the_format(tmp_path: Path) -> None:
    text = "g (float[N] x) => (float[N] y) { y = Relu (x) }"
    one, other = written(text, tmp_path / "1.onnx", 13), written(text, tmp_path / "2.onnx", 17)
    model = onnx.load(other)
    model.ir_version = 9
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(model, other)
    assert kinds(irlint.diff(one, other)["changes"]) == "opset-format opset-changed opset-added"
    assert kinds(irlint.diff(other, one)["changes"]) == "opset-format opset-changed opset-removed"


def test_a_changed_node_is_reported_by_its_attributes_and_what_follows_is_counted(tmp_path: Path) -> None:
    chain = " ".join(f"r{at + 1} = Relu (r{at})" for at in range(43))
    text = f"g (float[1,3,H,W] x, float[4,3,1,1] w) => (r43) {{ [x1] r0 = Conv <strides = [1, 1]> (x, w) {chain} }}"
    one, other = written(text, tmp_path / "1.onnx"), written(text.replace("[1, 1]>", "[2, 2]>"), tmp_path / "2.onnx")
    (change,) = [each for each in irlint.diff(one, other)["changes"] if each["kind"].startswith("node")]
    assert change["message"] == "Conv `x1`: strides [1, 1] -> [2, 2]"
    assert change["follow"] == 43


def test_long_strings_are_cut_and_distinguished_by_a_hash(tmp_path: Path) -> None:
    graph = 'g (float[2] x) => (float[?] y) {{ y = custom.Op <mode = "{}"> (x) }}'
    old, new = (tmp_path / name for name in ("old.onnx", "new.onnx"))
    for path, end in ((old, "a"), (new, "b")):
        model = onnx.parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : 17, "custom" : 1]> {graph.format("m" * 70 + end)}'
        )
        onnx.save(model, path)
    (change,) = irlint.diff(old, new)["changes"]
    before, after = change["message"].partition("mode ")[2].split(" -> ")
    assert before != after
    assert before.startswith('"mmm')
    assert '..." #' in before
    assert irlint.diff(old, old)["changes"] == []


def test_a_body_says_where_it_is(tmp_path: Path) -> None:
    old, new, *_ = PAIRS["a branch"]
    found = irlint.diff(written(old, tmp_path / "1.onnx"), written(new, tmp_path / "2.onnx"))["changes"]
    assert found[-1]["graph"] == "y/then_branch"


def test_a_function_is_compared_where_it_is_called_or_not(tmp_path: Path) -> None:
    text = (
        '<ir_version: 9, opset_import: ["" : 17, "my" : 1]>\n'
        "g (float[N] x) => (float[N] y) { a = my.f (x) y = Exp (a) }\n"
        '<domain: "my", opset_import: ["" : 17]> f (a) => (b) { c = Neg (a) b = Relu (c) }'
    )
    paths = [tmp_path / "1.onnx", tmp_path / "2.onnx"]
    for path, body in zip(paths, (text, text.replace("Relu (c)", "Tanh (c)"))):
        path.write_bytes(onnx.parser.parse_model(body).SerializeToString())
    found = irlint.diff(*paths)["changes"]
    assert [each["message"] for each in found if each["kind"].startswith("node")] == ["Relu `b` is Tanh now"]
    renamed = text.replace("my.f", "my.h").replace("f (a)", "h (a)")
    paths[1].write_bytes(onnx.parser.parse_model(renamed).SerializeToString())
    assert [each["kind"] for each in irlint.diff(*paths)["changes"]] == ["operator-removed", "operator-added"]


def test_large_constants_are_distinguished_by_their_bytes(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(__import__("numpy").arange(2000, dtype="float32"), "w")
    typed = helper.make_tensor("w", TensorProto.FLOAT, [2000], list(map(float, range(2000))))
    other = helper.make_tensor("w", TensorProto.FLOAT, [2000], [*map(float, range(1999)), 5.0])
    paths = []
    for at, tensor in enumerate((weights, typed, other)):
        graph = helper.make_graph(
            [helper.make_node("Add", ["x", "w"], ["y"], "add")],
            "g",
            [helper.make_tensor_value_info("x", 1, [2000])],
            [helper.make_tensor_value_info("y", 1, [2000])],
            [tensor],
        )
        paths.append(tmp_path / f"{at}.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), paths[-1])
    assert irlint.diff(paths[0], paths[1])["changes"] == []
    (change,) = irlint.diff(paths[0], paths[2])["changes"]
    assert change["message"].startswith("Add `add`: input 1 float32[2000] #")


def test_weights_that_are_not_there_count_by_their_types(tmp_path: Path) -> None:
    text = "g (float[300] x) => (y) { y = Add (x, w) }"
    paths = []
    for at in range(2):
        model = onnx.parser.parse_model(HEAD + text)
        weights = numpy_helper.from_array(__import__("numpy").full(300, at, "float32"), "w")
        model.graph.initializer.append(weights)
        folder = tmp_path / str(at)
        folder.mkdir()
        paths.append(folder / "m.onnx")
        onnx.save(model, paths[-1], save_as_external_data=True, location="w.bin", size_threshold=0)
    assert kinds(irlint.diff(*paths)["changes"]) == "node-weights"
    (tmp_path / "1" / "w.bin").unlink()
    found = irlint.diff(*paths)
    assert found["changes"] == []
    assert found["notes"][-1].endswith("cannot be read (w.bin does not exist)")


def test_a_model_with_errors_is_compared_and_reported_to_have_them(tmp_path: Path) -> None:
    text = "g (float[2,3] x, float[2,4] z) => (y) { y = Add (x, z) }"
    one = written(text, tmp_path / "1.onnx")
    found = irlint.diff(one, written(text.replace("Add", "Mul"), tmp_path / "2.onnx"))
    assert kinds(found["changes"]) == "operator-removed operator-added node-changed"
    assert "1.onnx has 1 error, so" in found["notes"][0]


def test_a_size_that_is_called_by_a_sum_is_that_sum(tmp_path: Path) -> None:
    """The old model's operator demands nothing; what it is fed fulfils the new one's demand by its names."""
    paths = []
    for at, op in enumerate(("Neg", "Add")):
        info = helper.make_tensor_value_info
        names = ["x", "past", "mask"]
        shapes = [["seq"], ["past"], ["past + seq" if at == 0 else "whole"]]
        nodes = [
            helper.make_node("Concat", ["past", "x"], ["all"], axis=0),
            helper.make_node("Neg", ["mask"], ["y"])
            if op == "Neg"
            else helper.make_node("Add", ["all", "mask"], ["y"]),
        ]
        inputs = [info(name, 1, shape) for name, shape in zip(names, shapes)]
        graph = helper.make_graph(nodes, "g", inputs, [info("y", 1, [None])])
        paths.append(tmp_path / f"{at}.onnx")
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), paths[-1])
    assert irlint.diff(*paths)["compatible"]
    model = onnx.load(paths[0])
    model.graph.input[2].type.tensor_type.shape.dim[0].dim_param = "other"
    onnx.save(model, paths[0])
    assert kinds(irlint.diff(*paths)["changes"]).startswith("contract-narrowed!")


@pytest.mark.parametrize("text", ["9**9**9**9", "(" * 500, "a.b + c", "a + ", "seq + seq()", "1 // 0"])
def test_what_is_no_sum_is_a_name(text: str, tmp_path: Path) -> None:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["y"])], "g", [info("x", 1, [text])], [info("y", 1, [text])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "m.onnx")
    assert irlint.diff(tmp_path / "m.onnx", tmp_path / "m.onnx")["changes"] == []
