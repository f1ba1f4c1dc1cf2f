"""Lists of very many equal short entries: the first 1,000 are read, the others counted."""

from __future__ import annotations

import pytest
from onnx import ModelProto, helper

import irlint
from irlint.parsers import onnx as reader
from irlint.parsers.onnx.protobuf import MOST_EQUAL

X, Y = (helper.make_tensor_value_info(name, 1, [2]) for name in "xy")


def model(empty: int, more: int = 0) -> ModelProto:
    """A model with empty nodes, and behind them others that differ."""
    made = helper.make_model(helper.make_graph([], "g", [X], [Y]), opset_imports=[helper.make_opsetid("", 17)])
    made.graph.node.extend([helper.make_node("Relu", ["x"], ["y"])])
    for _ in range(empty):
        made.graph.node.add()
    made.graph.node.extend(helper.make_node("Relu", ["x"], [f"r{at}"]) for at in range(more))
    made.graph.node.add(op_type="Relu", input=["no"], output=["z"])
    return made


@pytest.mark.parametrize(
    ("empty", "passed_over"), [(MOST_EQUAL, ""), (MOST_EQUAL + 1, "1 entry"), (2500, "1,500 entries")]
)
def test_equal_entries_are_counted(empty: int, passed_over: str) -> None:
    report = irlint.check(model(empty, 2000))
    found = [each.rule.code for each in report.findings]
    assert found.count("IRL501") == MOST_EQUAL
    assert [each.message.partition(" equal")[0] for each in report.findings if each.rule.code == "IRL012"] == (
        [passed_over] if passed_over else []
    )
    assert "IRL101" in found


def test_nodes_keep_their_places() -> None:
    found = reader.read("m.onnx", model(1500).SerializeToString())
    assert found.graph is not None
    assert [len(found.graph.nodes), found.graph.nodes[-1].index] == [MOST_EQUAL + 2, 1501]
    assert found.graph.nodes[-1].outputs[0].name == "z"  # type: ignore[union-attr]


def test_verdict_of_a_node_behind_them_stays() -> None:
    for empty in (0, 1500):
        found = [each.severity.value for each in irlint.check(model(empty)).findings if each.rule.code == "IRL101"]
        assert found == ["error"]
