"""Graphs that were merged without a prefix."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper
from oracles import engines

import irlint
from irlint.findings.faults import Severity


def chain(count: int, *, width: int = 4, prefix: str = "", named: bool = True, values: str = "") -> onnx.GraphProto:
    """``count`` nodes in a row, every third a product with weights of ``width``."""
    nodes, stored, given = [], [], "x"
    for at in range(count):
        inputs = [given]
        if at % 3 == 0:
            stored.append(numpy_helper.from_array(np.ones((width, width), np.float32), f"w{at}"))
            inputs.append(f"w{at}")
        given = f"{values}t{at}"
        op = ("MatMul", "Relu", "Neg")[at % 3]
        nodes.append(helper.make_node(op, inputs, [given], name=f"{prefix}n{at}" if named else ""))
    ends = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, width])] for name in ("x", given)]
    return helper.make_graph(nodes, "g", *ends, stored)


def merged(*graphs: onnx.GraphProto, constants: bool = True) -> onnx.ModelProto:
    graph = onnx.GraphProto()
    graph.CopyFrom(graphs[0])
    for other in graphs[1:]:
        graph.node.extend(other.node)
        graph.initializer.extend(other.initializer if constants else ())
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


MERGED = {
    "the same graph": (merged(chain(14), chain(14)), "IRL102", "nodes 14 to 27 repeat nodes 0 to 13"),
    "no names of nodes": (
        merged(chain(14, named=False), chain(14, named=False)),
        "IRL102",
        "nodes 14 to 27 repeat nodes 0 to 13",
    ),
    "constants once": (merged(chain(14), chain(14), constants=False), "IRL102", "nodes 14 to 27 repeat nodes 0 to 13"),
    "nodes with a prefix": (merged(chain(14), chain(14, prefix="b_")), "IRL102", "nodes 14 to 27 repeat nodes 0 to 13"),
    "values with a prefix": (
        merged(chain(6), chain(6, values="b_"), constants=False),
        "IRL109",
        "nodes 6 to 11 repeat nodes 0 to 5",
    ),
    "a shorter graph": (merged(chain(14), chain(9)), "IRL102", "nodes 14 to 22 repeat nodes 0 to 8"),
    "another width": (merged(chain(14), chain(14, width=5)), "IRL102", "nodes 14 to 27 repeat nodes 0 to 13"),
    "three times": (
        merged(chain(5), chain(5), chain(5)),
        "IRL102",
        "nodes 5 to 9 repeat nodes 0 to 4; nodes 10 to 14 repeat nodes 0 to 4",
    ),
}


@pytest.mark.parametrize("name", MERGED)
def test_merged_graphs_are_one_finding(name: str) -> None:
    model, code, rows = MERGED[name]
    (root,) = irlint.check(model).folded().findings
    assert (root.rule.code, root.message.partition(": ")[0]) == (code, rows)


@pytest.mark.oracle
@pytest.mark.parametrize("name", MERGED)
def test_onnxruntime_refuses_merged_graphs(name: str) -> None:
    assert isinstance(engines.onnxruntime_verdict(MERGED[name][0]), str)


def test_names_that_differ_are_sound() -> None:
    assert not irlint.check(merged(chain(6), chain(6, prefix="b_", values="b_"), constants=False)).errors


def test_two_doubled_names_are_two_findings() -> None:
    found = irlint.check(merged(chain(2, named=False), chain(2, named=False), constants=False)).folded().findings
    assert [each.rule.code for each in found] == ["IRL102", "IRL102"]


def test_rows_of_a_function_that_nothing_calls_are_a_warning() -> None:
    nodes = "b = Relu (a) c = Neg (b) d = Abs (c)"
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "f" : 1]>\n'
        "g (float[2] x) => (float[2] y) { y = Relu (x) }\n"
        f'<domain: "f", opset_import: ["" : 17]> F (a) => (d) {{ {nodes} {nodes} }}'
    )
    (root,) = irlint.check(model).folded().findings
    assert (root.severity, root.rule.code) == (Severity.WARNING, "IRL102")
