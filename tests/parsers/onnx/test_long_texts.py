"""Names of more than 64 KiB: one finding, and texts that differ stay different."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from irlint.parsers import onnx as reader
from irlint.parsers.faults import LONG_NAME
from irlint.parsers.onnx.protobuf import LONGEST_TEXT


def model(names: list[str], metadata: str = "") -> bytes:
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Relu", ["x"], [each]) for each in names]
    graph = helper.make_graph(nodes, "g", [value("x", 1, [2])], [value(names[0], 1, [2])])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    if metadata:
        onnx.helper.set_model_props(made, {"text": metadata})
    return made.SerializeToString()


def test_names_are_one_finding_and_stay_different() -> None:
    names = ["n" * (LONGEST_TEXT + at) for at in (0, 1, 2)] + [f"{'n' * LONGEST_TEXT}m"]
    found = reader.read("m.onnx", model(names))
    assert [each.fault.rule for each in found.problems] == [LONG_NAME]
    assert "3 names have more than 65,536 bytes; the longest has 65,538 bytes" in found.problems[0].fault.message
    assert found.graph is not None
    made = [value.name for node in found.graph.nodes for value in node.outputs if value is not None]
    assert len(set(made)) == 4
    assert made[0] == names[0]
    assert max(map(len, made[1:])) < 200


@pytest.mark.parametrize("size", [LONGEST_TEXT, 3 * LONGEST_TEXT])
def test_metadata_is_no_name(size: int) -> None:
    assert reader.read("m.onnx", model(["y"], "t" * size)).problems == ()


def test_names_of_sizes_are_names() -> None:
    made = onnx.load_from_string(model(["y"]))
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "s" * (LONGEST_TEXT + 1)
    assert [each.fault.rule for each in reader.read("m.onnx", made.SerializeToString()).problems] == [LONG_NAME]


def test_names_of_a_broken_file_do_not_count_for_the_next() -> None:
    long = model(["n" * (LONGEST_TEXT + 1)])
    assert reader.read("m.onnx", long).problems
    assert reader.read("m.onnx", model(["y"])).problems == ()
