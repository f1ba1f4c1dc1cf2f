"""Poolings behind each other of inputs of any size: what irlint says of the last one, and what ONNX Runtime gives or
refuses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from onnx import TensorProto, helper

from irlint.dims import evaluated
from irlint.findings.statements import Relation
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.parsers.onnx import read

pytestmark = pytest.mark.oracle

SIZES = (*range(1, 41), 63, 64, 65)

#: Kernel, stride and the padding before and behind.
WINDOWS = [(2, 2, 0), (3, 2, 0), (3, 3, 0), (3, 1, 0), (5, 2, 0), (2, 3, 0), (3, 2, 1), (5, 2, 1), (4, 3, 1), (7, 3, 0)]


def _model(op: str, windows: tuple[tuple[int, int, int], ...], ceil: int) -> bytes:
    nodes = [
        helper.make_node(op, [f"n{at}"], [f"n{at + 1}"], kernel_shape=[k], strides=[s], pads=[p, p], ceil_mode=ceil)
        for at, (k, s, p) in enumerate(windows)
    ]
    given = helper.make_tensor_value_info("n0", TensorProto.FLOAT, [1, 1, "H"])
    last = helper.make_tensor_value_info(f"n{len(windows)}", TensorProto.FLOAT, [1, 1, None])
    graph = helper.make_graph(nodes, "g", [given], [last])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    return bytes(model.SerializeToString())


def _holds(relation: Relation, size: int) -> bool:
    assert relation.kind == ">="
    return evaluated(relation.left, {"H": size}) >= evaluated(relation.right, {"H": size})


@pytest.mark.parametrize("ceil", [0, 1])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("first", WINDOWS, ids=str)
def test_two_and_three(first: tuple[int, int, int], op: str, ceil: int) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for others in [(), *itertools.product(WINDOWS, repeat=1), ((3, 2, 0), (2, 2, 0)), (first, first)]:
        data = _model(op, (first, *others), ceil)
        known = inferred(read("m.onnx", data))
        assert known.model.graph is not None
        kind = known.types[known.model.graph.outputs[0]]
        assert isinstance(kind, Tensor) and kind.shape is not None and kind.shape[2] is not None
        demands = [each.requirement.any_of for each in known.requires]
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        for size in SIZES:
            try:
                found = session.run(None, {"n0": np.ones((1, 1, size), np.float32)})[0].shape[2]
            except Exception:
                found = None
            allowed = all(any(_holds(each, size) for each in demand) for demand in demands)
            assert (evaluated(kind.shape[2], {"H": size}) if allowed else None) == found, (others, size)
