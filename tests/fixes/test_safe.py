"""Safe fixes: what each rule's finding becomes, what a fix leaves alone, and that a second run changes nothing."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import onnx
import pytest
from onnx import parser

import irlint
from irlint.findings.edits import Fixed
from irlint.fixes import ports, tidy
from irlint.policy.rulebook import every_rule

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y)'

#: A model of which one thing is untidy, and the edits that put it in order.
UNTIDY = {
    "order": (HEAD + "{ y = Relu (z) z = Neg (x) }", ["sort the nodes"]),
    "order of a body": (
        '<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[2] x) => (float[2] y) { [if] y = If (c) '
        "<then_branch = t () => (float[2] a) { a = Relu (b) b = Neg (x) }, else_branch = e () => (float[2] d) { d = "
        "Abs (x) }> }",
        ['sort the nodes of the graph "if/then_branch"'],
    ),
    "names of nodes": (
        HEAD + "{ [n] a = Relu (x) [n] b = Neg (a) [n_1] c = Abs (b) [n] y = Exp (c) }",
        ['rename node 1 "n" to "n_2"', 'rename node 3 "n" to "n_3"'],
    ),
    "an initializer": (HEAD + "<float[2] w = {1, 2}> { y = Relu (x) }", ['remove the initializer "w"']),
    "nodes, and what they used": (
        HEAD + "<float[3] w = {1, 2, 3}> { y = Relu (x) a = Add (x, w) b = Exp (a) }",
        ['remove node 1 "a"', 'remove node 2 "b"', 'remove the initializer "w"'],
    ),
    "value_info of nothing": (HEAD + "<float[2,3] old> { y = Relu (x) }", ['remove "old" from value_info']),
    "stale value_info": (HEAD + "<float[2,4] z> { z = Relu (x) y = Neg (z) }", ['remove "z" from value_info']),
    "an import": (
        HEAD.replace("17]", '17, "ai.onnx.ml" : 3]') + "{ y = Relu (x) }",
        ["remove the import of ai.onnx.ml"],
    ),
    "an import twice": (
        HEAD.replace("17]", '17, "" : 17]') + "{ y = Relu (x) }",
        ["remove a repeated import of ai.onnx"],
    ),
    "a missing import": (HEAD + "{ y = com.microsoft.Gelu (x) }", ["import opset 1 of com.microsoft"]),
    "a key twice": (
        HEAD.replace("17]", '17], metadata_props: ["a" : "1", "b" : "2", "a" : "3"]') + "{ y = Relu (x) }",
        ["remove all but the last metadata entry of each key"],
    ),
    "a domain spelled out": (
        HEAD + "{ z = ai.onnx.Relu (x) y = Neg (z) }",
        ['leave the domain of the nodes empty, instead of "ai.onnx"'],
    ),
}

#: Models that stay as they are, although they have findings.
LEFT = {
    "an unused input": HEAD.replace("x)", "x, float[2] unused)") + "{ y = Relu (x) }",
    "an initializer that is an input": HEAD.replace("x)", "x, float[2] w)") + "<float[2] w = {1, 2}> { y = Relu (x) }",
    "nodes after which an input is unused": HEAD.replace("x)", "x, float[2] v)") + "{ y = Relu (x) z = Neg (v) }",
    "an output that is declared wrongly": HEAD.replace("float[2,3] y", "float[2,4] y") + "{ y = Relu (x) }",
    "value_info where an output is declared like it": HEAD.replace("float[2,3] y", "float[2,4] y")
    + "<float[2,4] z> { z = Relu (x) y = Neg (z) }",
    "two imports that differ": HEAD.replace("17]", '17, "" : 18]') + "{ y = Relu (x) }",
    "an import whose version is not known": HEAD + "{ y = ai.onnx.ml.Scaler <offset = [0.0], scale = [1.0]> (x) }",
    "nodes that use what a used node makes": HEAD + "{ a = Exp (x) y = Relu (a) b = Neg (a) c = Abs (b) }",
    "nodes on a cycle": HEAD + "{ a = Add (x, b) b = Neg (a) y = Relu (b) }",
    "a node of another domain": HEAD.replace("17]", '17, "my" : 1]') + "{ y = Relu (x) z = my.Log (x) }",
}


def model(text: str) -> onnx.ModelProto:
    return parser.parse_model(text)


def texts(found: Fixed) -> list[str]:
    return [edit.text for edit in found.edits]


@pytest.mark.parametrize("name", UNTIDY)
def test_what_is_untidy_is_put_in_order(name: str) -> None:
    text, edits = UNTIDY[name]
    found = irlint.fix(model(text))
    assert texts(found) == edits
    assert [each.rule.code for each in found.report.findings] == []
    again = irlint.fix(found.data)
    assert (again.edits, again.data) == ((), found.data)


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_alone(name: str) -> None:
    given = model(LEFT[name])
    found = irlint.fix(given)
    assert (texts(found), found.data) == ([], given.SerializeToString())


def test_a_model_without_a_version_gets_one() -> None:
    given = model(HEAD.replace("17", "21") + "{ y = Relu (x) }")
    given.ClearField("ir_version")
    found = irlint.fix(given)
    assert texts(found) == ["set ir_version = 10"]
    assert onnx.load_from_string(found.data).ir_version == 10


def test_a_graph_and_initializers_without_names() -> None:
    given = model(HEAD + "<float[2] w = {1, 2}, float[2] v = {3, 4}> { y = Relu (x) z = Add (w, v) }")
    given.graph.name = ""
    given.graph.node.pop()
    given.graph.initializer[0].name = ""
    found = irlint.fix(given)
    assert sorted(texts(found)) == [
        'name the graph "graph"',
        'remove the initializer "v"',
        "remove the initializers without a name",
    ]
    assert not onnx.load_from_string(found.data).graph.initializer


def test_unknown_fields_and_the_order_of_fields_survive() -> None:
    """Fields that onnx.proto does not have, and a graph before the version."""
    given = model(UNTIDY["an initializer"][0])
    graph = given.graph.SerializeToString() + b"\xfa\x7f\x03abc"
    given.ClearField("graph")
    data = b"\x3a" + len(graph).to_bytes(1, "little") + graph + given.SerializeToString() + b"\xf8\x7f\x07"
    found = irlint.fix(data)
    assert texts(found) == UNTIDY["an initializer"][1]
    assert found.data.endswith(b"\xf8\x7f\x07")
    assert b"\xfa\x7f\x03abc" in found.data
    assert not onnx.load_from_string(found.data).graph.initializer


@pytest.mark.parametrize("change", ["training", "annotation", "pieces"])
def test_what_cannot_be_written_is_left(change: str) -> None:
    given = model(UNTIDY["an initializer"][0])
    data = given.SerializeToString()
    if change == "training":
        given.training_info.add().algorithm.name = "a"
        data = given.SerializeToString()
    elif change == "annotation":
        given.graph.quantization_annotation.add().tensor_name = "w"
        data = given.SerializeToString()
    else:
        data += onnx.ModelProto(graph=onnx.GraphProto(doc_string="more")).SerializeToString()
    assert irlint.fix(data).data == data
    assert [each.fix for each in irlint.check(data).findings] == [None]


def test_a_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model(UNTIDY["order"][0]).SerializeToString())
    before = path.read_bytes()
    found = irlint.fix(path)
    assert path.read_bytes() == before
    assert found.data != before
    assert irlint.fix(BytesIO(before)).data == found.data


def test_a_large_file_is_copied(tmp_path: Path) -> None:
    """Weights past the size up to which files are fixed in memory."""
    given = model(HEAD + "<float[2] v = {1, 2}, float[2,3] w = {1,2,3,4,5,6}> { y = Add (z, w) z = Neg (x) }")
    large = given.graph.initializer.add(
        name="large", data_type=1, dims=[5_000_000], raw_data=bytes(range(256)) * 78_125
    )
    given.graph.node.add(op_type="Shape", input=[large.name], output=["s"])
    given.graph.output.add(name="s")
    path = tmp_path / "m.onnx"
    path.write_bytes(given.SerializeToString())
    found = onnx.load_from_string(irlint.fix(path).data)
    assert [each.name for each in found.graph.initializer] == ["w", "large"]
    assert found.graph.initializer[1] == large
    assert [each.op_type for each in found.graph.node] == ["Neg", "Add", "Shape"]
    assert list(tmp_path.iterdir()) == [path]


def test_rules_say_whether_they_can_be_fixed() -> None:
    assert {rule for rule in every_rule() if rule.fixable} == {*tidy.SAFE_FIXES, *ports.SAFE_FIXES}


def test_json_has_the_edits() -> None:
    (finding,) = irlint.check(model(UNTIDY["order"][0])).findings
    assert finding.as_dict()["fix"] == {
        "applicability": "safe",
        "message": "sort the nodes",
        "edits": [{"kind": "order", "of": "node", "graph": "", "value": [1, 0]}],
    }
