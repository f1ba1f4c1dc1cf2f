"""The intervals of random graphs against ONNX Runtime: it computes no element outside of them."""

from __future__ import annotations

from random import Random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from irlint.checks.intervals import Intervals
from irlint.checks.transfer_table import ELEMENTWISE, TRANSFERS
from irlint.checks.transfers import Interval
from irlint.inference.walk import inferred
from irlint.parsers import onnx as parser

pytestmark = pytest.mark.oracle

GRAPHS = 300
NODES = 14

#: ONNX Runtime's functions may give a number beyond the end of their range by so much.
SLACK = 1e-5

#: What the reasons of functions contain whose result is 0 at the border of their domain.
BORDERS = ("root", "cosine", "only for 0")

#: Numbers that constants have.
NUMBERS = (
    -3.4e38,
    -65504.0,
    -100.0,
    -2.5,
    -1.0,
    -0.5,
    0.0,
    1e-9,
    0.5,
    1.0,
    2.0,
    3.0,
    90.0,
    7e4,
    3.4e38,
    np.inf,
    -np.inf,
)

UNARY = (
    *("Neg", "Abs", "Reciprocal", "Relu", "LeakyRelu", "Sqrt", "Log", "Exp", "Floor", "Asin", "Acos", "Acosh", "Atanh"),
    *("Atan", "Cosh", "Sinh"),
    *("Sigmoid", "HardSigmoid", "Tanh", "Erf", "Sin", "Cos", "Softsign", "Sign", "Softplus", "ThresholdedRelu"),
    *("Identity", "Softmax", "LogSoftmax", "Hardmax"),
    *("Elu", "Celu", "Selu", "HardSwish", "Ceil", "Round", "Asinh"),
)
BINARY = ("Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Mean")
REDUCED = (
    "ReduceMax",
    "ReduceMin",
    "ReduceMean",
    "ReduceL1",
    "ReduceL2",
    "ReduceSumSquare",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceProd",
    "ReduceSum",
)


def graph(random: Random) -> onnx.ModelProto:
    """A model of random operators, with every value among its outputs."""
    constants: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []
    values = ["x", "z"]

    def constant() -> str:
        shape = random.choice([(), (3,), (2, 1), (2, 3)])
        array = np.array([random.choice(NUMBERS) for _ in range(int(np.prod(shape)))], np.float32).reshape(shape)
        constants.append(numpy_helper.from_array(array, f"c{len(constants)}"))
        return constants[-1].name

    def value() -> str:
        return random.choice(values[-6:]) if random.random() < 0.65 else constant()

    for at in range(NODES):
        name, kind = f"v{at}", random.random()
        if kind < 0.4:
            nodes.append(helper.make_node(random.choice(UNARY), [random.choice(values)], [name]))
        elif kind < 0.75:
            pair = [random.choice(values), value()]
            nodes.append(helper.make_node(random.choice(BINARY), random.sample(pair, 2), [name]))
        elif kind < 0.8:
            nodes.append(helper.make_node("Clip", [random.choice(values), "least", "most"], [name]))
        elif kind < 0.85:
            nodes.append(
                helper.make_node("Where", ["mask", *random.sample([random.choice(values), value()], 2)], [name])
            )
        elif kind < 0.88:
            taken = {"Gather": (["order"], {"axis": 1}), "Trilu": ([], {"upper": 0}), "MatMul": (["square"], {})}
            op = random.choice(sorted(taken))
            others, attributes = taken[op]
            nodes.append(helper.make_node(op, [random.choice(values), *others], [name], **attributes))
        elif kind < 0.9:
            nodes.append(
                helper.make_node("Concat", [random.choice(values), random.choice(values)], [f"{name}_"], axis=1)
            )
            nodes.append(helper.make_node("Slice", [f"{name}_", "from", "to", "axis"], [name]))
        elif kind < 0.95:
            nodes.append(helper.make_node("Cast", [random.choice(values)], [f"{name}_"], to=TensorProto.FLOAT16))
            nodes.append(helper.make_node("Cast", [f"{name}_"], [name], to=TensorProto.FLOAT))
        else:
            op = random.choice(REDUCED)
            axes = ["axis"] if op == "ReduceSum" else []
            attributes = {} if op == "ReduceSum" else {"axes": [1]}
            nodes.append(helper.make_node(op, [random.choice(values), *axes], [f"{name}_"], keepdims=1, **attributes))
            nodes.append(helper.make_node("Add", [f"{name}_", "zeros"], [name]))
        values.append(name)
    lists = {"from": [1], "to": [4], "axis": [1], "order": [2, 0, 1]}
    constants += [numpy_helper.from_array(np.array(entries, np.int64), name) for name, entries in lists.items()]
    constants.append(numpy_helper.from_array(np.zeros((2, 3), np.float32), "zeros"))
    square = np.array([[random.choice((0, 0, 0.5, -2)) for _ in range(3)] for _ in range(3)], np.float32)
    constants.append(numpy_helper.from_array(square, "square"))
    constants.append(numpy_helper.from_array(np.float32(random.choice(NUMBERS[1:-3])), "least"))
    constants.append(numpy_helper.from_array(np.float32(random.choice(NUMBERS[1:-3])), "most"))
    constants.append(numpy_helper.from_array(np.array([True, False, random.random() < 0.5]), "mask"))
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in ("x", "z")]
    made = [output for node in nodes for output in node.output]
    outputs = [helper.make_empty_tensor_value_info(name) for name in made]
    model = helper.make_graph(nodes, "g", inputs, outputs, constants)
    return helper.make_model(model, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outside(computed: np.ndarray, part: Interval) -> bool:
    """Whether a number is no element of an interval: it is finite where none is, or beyond an end.

    0 is the root of 0, a power of 0, and the inverse hyperbolic cosine of 1, the only numbers of their ranges that have
    one.
    """
    number = float(computed)
    if part.why:
        return bool(np.isfinite(number)) and not (number == 0 and any(border in part.why for border in BORDERS))
    slack = SLACK * max(abs(number), 1.0) if np.isfinite(number) else 0.0
    return number == number and not part.low - slack <= number <= part.high + slack


def test_no_element_lies_outside_of_its_interval() -> None:
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    met: set[str] = set()
    never = 0
    for seed in range(GRAPHS):
        model = graph(Random(seed))
        known = inferred(parser.read("m.onnx", model.SerializeToString()))
        assert known.model.graph is not None
        intervals = Intervals(known)
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        drawn = np.random.default_rng(seed)
        scales = (1e-3, 1.0, 50.0, 1e30)
        runs = [
            session.run(None, {name: (drawn.standard_normal((2, 3)) * scale).astype(np.float32) for name in "xz"})
            for scale in scales
        ]
        for node in known.model.graph.nodes:
            value = node.outputs[0]
            assert value is not None
            parts = intervals.results(node)
            never += any(part.why for part in parts)
            met.add(node.op)
            at = [output.name for output in session.get_outputs()].index(value.name)
            for run in runs:
                numbers = run[at].ravel()
                each = parts * numbers.size if len(parts) == 1 else parts
                assert len(each) == numbers.size
                wrong = [(number, part) for number, part in zip(numbers, each) if outside(number, part)]
                grid = intervals.grid_of(node)
                if grid is not None:
                    wide = np.broadcast_to(np.arange(len(grid.parts)).reshape(grid.shape), run[at].shape).ravel()
                    pairs = [(number, grid.parts[index]) for number, index in zip(numbers, wide)]
                    wrong += [(number, part) for number, part in pairs if outside(number, part)]
                assert not wrong, (seed, node.op, value.name, wrong[:3])
    assert never > GRAPHS / 10
    assert met >= {*UNARY, *BINARY, "Gather", "Trilu", "MatMul"}
    assert {op for op in ELEMENTWISE if op in met} <= TRANSFERS.keys()
