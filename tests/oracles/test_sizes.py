"""Sizes that nodes compute: random chains of arithmetic on shapes, each entry as ONNX Runtime computes it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from irlint.dims import Dim, evaluated
from irlint.inference.walk import inferred
from irlint.model.tensor import Tensor
from irlint.parsers.onnx import read

pytestmark = pytest.mark.oracle

CHAINS = 60
LENGTH = 7
SIZES = (*range(1, 40), 63, 64, 65, 224, 1023, 4097, 65535)

FLOATS = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}


class Chain:
    """A graph that computes numbers from the size H of its input; ``numbers`` are those that are whole."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.nodes = [helper.make_node("Shape", ["x"], ["n0"])]
        self.constants: list[Any] = []
        self.numbers = ["n0"]
        for _ in range(LENGTH):
            (self.add_whole if self.draw.random() < 0.6 else self.add_float)()

    def name(self) -> str:
        return f"n{len(self.nodes)}"

    def constant(self, number: float, dtype: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(np.array([number], dtype), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = self.name()
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def add_whole(self) -> None:
        given = self.draw.choice(self.numbers)
        op = self.draw.choice(["Add", "Sub", "Mul", "Div", "Div", "Neg", "Mod", "Max", "pair"])
        if op == "Neg":
            found = self.node(op, given)
        elif op == "pair":
            found = self.node(self.draw.choice(["Add", "Sub"]), given, self.draw.choice(self.numbers))
        else:
            number = self.draw.choice([1, 2, 3, 4, 7, 32]) * (-1 if op == "Div" and self.draw.random() < 0.2 else 1)
            found = self.node(op, given, self.constant(number, np.int64))
        self.numbers.append(found)

    def add_float(self) -> None:
        dtype = self.draw.choice(list(FLOATS))
        given = self.node("Cast", self.draw.choice(self.numbers), to=dtype)
        op = self.draw.choice(["Div", "Div", "Mul"])
        number = (
            self.draw.choice([2.0, 3.0, 7.0, 32.0, 1.5, -4.0]) if op == "Div" else self.draw.choice([0.5, 1.5, 0.1])
        )
        found = self.node(op, given, self.constant(number, FLOATS[dtype]))
        rounded = self.draw.choice(["Ceil", "Floor", ""])
        found = self.node(rounded, found) if rounded else found
        if rounded and self.draw.random() < 0.5:
            found = self.node("Mul", found, self.constant(self.draw.choice([2.0, 3.0]), FLOATS[dtype]))
        self.numbers.append(self.node("Cast", found, to=TensorProto.INT64))

    def model(self) -> Any:
        outputs = [helper.make_tensor_value_info(name, TensorProto.INT64, [1]) for name in self.numbers]
        given = helper.make_tensor_value_info("x", TensorProto.BOOL, ["H"])
        graph = helper.make_graph(self.nodes, "g", [given], outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


@pytest.mark.parametrize("seed", range(CHAINS))
def test_a_chain(seed: int) -> None:
    import onnxruntime

    chain = Chain(seed)
    data = chain.model().SerializeToString()
    known = {value.name: each for value, each in inferred(read("m.onnx", data)).types.items()}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    compared = 0
    for size in SIZES:
        for name, found in zip(chain.numbers, session.run(None, {"x": np.zeros(size, bool)})):
            each = known[name]
            assert isinstance(each, Tensor)
            if each.value is not None and each.value[0] is not None:
                number = each.value[0]
                assert not isinstance(number, float)
                expected: Dim = number
                assert evaluated(expected, {"H": size}) == found[0], (name, str(number), size)
                compared += 1
    assert compared > len(SIZES)
