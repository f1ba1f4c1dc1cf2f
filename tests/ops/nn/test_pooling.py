"""Poolings: against ONNX's node tests, ONNX Runtime and OpenVINO, and with symbols."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from oracles.engines import assert_same_verdict, irlint_on_onnx, node_case_difference, node_cases, onnx_verdict

from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.parsers import onnx as onnx_parser

OPS = [
    "MaxPool",
    "AveragePool",
    "LpPool",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "GlobalLpPool",
    "MaxUnpool",
    "MaxRoiPool",
    "Col2Im",
]


def x(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def sizes(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def indices(*dims: int) -> np.ndarray:
    return np.zeros(dims, np.int64)


ANY = Input.any_rank("float32")

# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", node_cases(*OPS), ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    assert node_case_difference(case) is None


def run(model: Any) -> list[tuple[int, ...]] | None:
    """The shapes that ONNX Runtime computes for zeros, None where it refuses."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    types = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(uint8)": "uint8"}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        feeds = {
            known.name: np.zeros([d if isinstance(d, int) else 6 for d in known.shape], types[known.type])
            for known in session.get_inputs()
        }
        return [result.shape for result in session.run(None, feeds)]
    except Exception:
        return None


WINDOWS = [
    ((1, 3, 9, 8), {"kernel_shape": [3, 3]}),
    ((1, 3, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 3], "pads": [1, 0, 2, 1]}),
    ((1, 3, 9, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ((1, 3, 9, 8), {"kernel_shape": [3, 3], "dilations": [2, 3]}),
    ((1, 3, 2, 2), {"kernel_shape": [1, 1], "strides": [2, 2], "ceil_mode": 1}),
    ((1, 3, 4, 4), {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [1, 1, 2, 2], "ceil_mode": 1}),
    ((1, 3, 7, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ((1, 3, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_LOWER", "ceil_mode": 1}),
    ((1, 3, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "VALID", "ceil_mode": 1}),
    ((1, 3, 6, 6), {"kernel_shape": [2, 2], "strides": [5, 5], "auto_pad": "SAME_LOWER"}),
    ((1, 3, 5, 5), {"kernel_shape": [6, 6], "strides": [2, 2], "ceil_mode": 1}),
    ((1, 3, 9), {"kernel_shape": [3]}),
    ((1, 3, 9, 9, 9), {"kernel_shape": [3, 2, 1]}),
    ((0, 3, 5, 5), {"kernel_shape": [3, 3]}),
]


@pytest.mark.parametrize(("dims", "attributes"), WINDOWS)
@pytest.mark.parametrize("opset", [10, 12, 19, 22])
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_sizes_as_onnx_runtime_computes_them(op: str, opset: int, dims: tuple[int, ...], attributes: Any) -> None:
    if (op == "AveragePool" and "dilations" in attributes and opset < 19) or (op == "LpPool" and opset < 18):
        return
    model = onnx_model(op, [x(*dims)], attributes, opset)
    computed = run(model)
    assert computed is not None
    assert irlint_on_onnx(model) == [("float32", computed[0])]


@pytest.mark.parametrize("opset", [1, 8, 10, 11, 12, 22])
def test_every_version_of_max_pool(opset: int) -> None:
    outputs = 1 if opset < 8 else 2
    model = onnx_model("MaxPool", [x(1, 3, 8, 8)], {"kernel_shape": [2, 2], "strides": [2, 2]}, opset, outputs=outputs)
    assert irlint_on_onnx(model) == [("float32", (1, 3, 4, 4)), ("int64", (1, 3, 4, 4))][:outputs]


@pytest.mark.parametrize("opset", [1, 7, 10, 11, 19, 22])
def test_every_version_of_average_pool(opset: int) -> None:
    model = onnx_model("AveragePool", [x(1, 3, 8, 8)], {"kernel_shape": [2, 2]}, opset)
    assert irlint_on_onnx(model) == [("float32", (1, 3, 7, 7))]


@pytest.mark.parametrize(("opset", "p"), [(1, 2.0), (2, 2), (11, 3), (18, 1), (22, 2)])
def test_every_version_of_lp_pool(opset: int, p: float) -> None:
    model = onnx_model("LpPool", [x(1, 3, 8, 8)], {"kernel_shape": [2, 2], "p": p}, opset)
    assert irlint_on_onnx(model) == [("float32", (1, 3, 7, 7))]
    model = onnx_model("GlobalLpPool", [x(1, 3, 8, 8)], {"p": p}, opset)
    assert irlint_on_onnx(model) == [("float32", (1, 3, 1, 1))]


def test_lp_pool_without_kernel_shape() -> None:
    assert irlint_on_onnx(onnx_model("LpPool", [x(1, 3, 8, 8)], {}, 1)) == [("float32", (1, 3, None, None))]


SOUND = [
    ("GlobalAveragePool", (x(1, 3, 5),), {}),
    ("GlobalMaxPool", (x(0, 3, 4, 5),), {}),
    ("MaxUnpool", (x(1, 1, 2, 2), indices(1, 1, 2, 2)), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("MaxUnpool", (x(1, 1, 2, 2), indices(1, 1, 2, 2)), {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1] * 4}),
    ("Col2Im", (x(1, 10, 5), sizes(5, 5), sizes(1, 5)), {}),
    ("Col2Im", (x(1, 9, 9), sizes(5, 5), sizes(3, 3)), {"pads": [1] * 4, "strides": [2, 2]}),
]


@pytest.mark.parametrize(("op", "inputs", "attributes"), SOUND)
def test_sizes_as_onnx_infers_them(op: str, inputs: Any, attributes: dict[str, Any]) -> None:
    model = onnx_model(op, inputs, attributes, 22)
    assert irlint_on_onnx(model) == onnx_verdict(model)
    assert run(model) == [irlint_on_onnx(model)[0][1]]


def test_max_roi_pool() -> None:
    model = onnx_model("MaxRoiPool", [x(1, 3, 8, 8), x("R", 5)], {"pooled_shape": [2, 4], "spatial_scale": 0.5}, 22)
    assert irlint_on_onnx(model) == [("float32", (None, 3, 2, 4))]


def test_unpooled_to_a_given_shape() -> None:
    inputs = [x(1, 1, 2, 2), indices(1, 1, 2, 2), sizes(1, 1, 5, 5)]
    model = onnx_model("MaxUnpool", inputs, {"kernel_shape": [2, 2], "strides": [2, 2]}, 22)
    assert irlint_on_onnx(model) == [("float32", (1, 1, 5, 5))]
    assert run(model) == [(1, 1, 5, 5)]


IMAGE = x(1, 3, 5, 5)
UNPOOL = {"kernel_shape": [2, 2], "strides": [2, 2]}
SMALL = x(1, 1, 2, 2)

FAULTS = [
    ("MaxPool", (x(3, 5),), {"kernel_shape": [3]}, "IRL314"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3]}, "IRL314"),
    ("AveragePool", (IMAGE,), {"kernel_shape": [3, 3], "strides": [1]}, "IRL314"),
    ("LpPool", (IMAGE,), {"kernel_shape": [3, 3], "dilations": [1]}, "IRL314"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "pads": [1, 1]}, "IRL314"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [0, 3]}, "IRL510"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "strides": [0, 1]}, "IRL510"),
    ("AveragePool", (IMAGE,), {"kernel_shape": [3, 3], "dilations": [0, 1]}, "IRL510"),
    ("AveragePool", (IMAGE,), {"kernel_shape": [3, 3], "pads": [-1, 0, 0, 0]}, "IRL510"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "storage_order": 2}, "IRL510"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "auto_pad": "SAME"}, "IRL506"),
    ("MaxPool", (IMAGE,), {"kernel_shape": [7, 7]}, "IRL316"),
    ("AveragePool", (IMAGE,), {"kernel_shape": [9, 9], "strides": [2, 2]}, "IRL316"),
    ("AveragePool", (IMAGE,), {"kernel_shape": [9, 9], "strides": [2, 2], "auto_pad": "VALID"}, "IRL316"),
    ("LpPool", (IMAGE,), {"kernel_shape": [3, 3], "dilations": [3, 3]}, "IRL316"),
    ("MaxPool", (x(1, 3, 0, 6),), {"kernel_shape": [3, 3], "pads": [2] * 4}, "IRL316"),
    ("MaxPool", (x(1, 0, 5, 5),), {"kernel_shape": [3, 3]}, "IRL316"),
    ("MaxPool", (x(1, 3, 0, 5),), {"kernel_shape": [3, 3], "auto_pad": "SAME_UPPER"}, "IRL316"),
    ("GlobalMaxPool", (x(1, 3, 0, 5),), {}, "IRL316"),
    ("GlobalAveragePool", (x(3),), {}, "IRL314"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 3)), UNPOOL, "IRL315"),
    ("MaxUnpool", (SMALL, indices(4)), UNPOOL, "IRL315"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2)), {"kernel_shape": [2]}, "IRL314"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2)), {"kernel_shape": [2, 2], "strides": [0, 2]}, "IRL510"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2), sizes(5, 5)), UNPOOL, "IRL315"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2), sizes(1, 1, 2, 2)), UNPOOL, "IRL315"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2), sizes(1, 2, 5, 5)), UNPOOL, "IRL315"),
    ("MaxUnpool", (SMALL, indices(1, 1, 2, 2)), {"kernel_shape": [2, 2], "pads": [2] * 4}, "IRL316"),
    ("MaxRoiPool", (x(1, 3, 8, 8), x(2, 4)), {"pooled_shape": [2, 2]}, "IRL315"),
    ("MaxRoiPool", (x(1, 3, 8), x(2, 5)), {"pooled_shape": [2, 2]}, "IRL314"),
    ("MaxRoiPool", (x(1, 3, 8, 8), x(2, 5)), {"pooled_shape": [2]}, "IRL314"),
    ("MaxRoiPool", (x(1, 3, 8, 8), x(2, 5)), {"pooled_shape": [0, 2]}, "IRL510"),
    ("MaxRoiPool", (x(1, 3, 8, 8), x(2, 5)), {"pooled_shape": [2, 2], "spatial_scale": 0.0}, "IRL510"),
    ("Col2Im", (x(1, 5, 5), sizes(5, 5), sizes(2, 5)), {}, "IRL315"),
    ("Col2Im", (x(1, 5, 4), sizes(5, 5), sizes(1, 5)), {}, "IRL315"),
    ("Col2Im", (x(1, 5, 5), sizes(5), sizes(1, 5)), {}, "IRL315"),
    ("Col2Im", (x(1, 5, 5), sizes(5, 5), sizes(1, 5)), {"strides": [1]}, "IRL314"),
    ("Col2Im", (x(1, 5), sizes(5, 5), sizes(1, 5)), {}, "IRL314"),
    ("Col2Im", (x(1, 5, 5), sizes(5, 5), sizes(1, 5)), {"strides": [0, 1]}, "IRL510"),
    ("Col2Im", (x(1, 5, 5), sizes(0, 5), sizes(1, 5)), {}, "IRL510"),
    ("Col2Im", (x(1, 35, 1), sizes(5, 5), sizes(7, 5)), {}, "IRL316"),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "code"), FAULTS)
def test_fault(op: str, inputs: Any, attributes: dict[str, Any], code: str) -> None:
    model = onnx_model(op, inputs, attributes, 22)
    ours = irlint_on_onnx(model)
    assert isinstance(ours, str)
    assert ours.startswith(code)
    assert run(model) is None


WARNINGS = [
    ("MaxPool", (IMAGE,), {"kernel_shape": [6, 6]}, (1, 3, 0, 0), ["IRL316", "IRL316"]),
    ("AveragePool", (IMAGE,), {"kernel_shape": [6, 5], "strides": [2, 2]}, (1, 3, 1, 1), ["IRL316"]),
    ("MaxPool", (IMAGE,), {"kernel_shape": [7, 5], "strides": [2, 2], "ceil_mode": 1}, (1, 3, 0, 1), ["IRL316"]),
    ("MaxPool", (IMAGE,), {"kernel_shape": [2, 2], "pads": [2] * 4}, (1, 3, 8, 8), ["IRL318"]),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "pads": [1] * 4, "auto_pad": "VALID"}, (1, 3, 3, 3), ["IRL317"]),
    ("MaxPool", (IMAGE,), {"kernel_shape": [3, 3], "pads": [0] * 4, "auto_pad": "VALID"}, (1, 3, 3, 3), []),
    (
        "MaxPool",
        (IMAGE,),
        {"kernel_shape": [3, 3], "dilations": [2, 2], "auto_pad": "SAME_UPPER"},
        IMAGE.dims,
        ["IRL318"],
    ),
    ("GlobalMaxPool", (x(1, 3),), {}, (1, 3), ["IRL314"]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "shape", "codes"), WARNINGS)
def test_warning(op: str, inputs: Any, attributes: dict[str, Any], shape: tuple[int, ...], codes: list[str]) -> None:
    model = onnx_model(op, inputs, attributes, 22)
    problems = inferred(onnx_parser.read("model.onnx", model.SerializeToString())).problems
    assert [problem.fault.rule.code for problem in problems] == codes
    assert all(p.fault.severity is Severity.WARNING for p in problems)
    assert irlint_on_onnx(model) == [("float32", shape)]


SCALE, ZERO = np.ones((), np.float32), np.zeros((), np.uint8)
BYTES = Input("uint8", 1, 5, 6, 3)

MICROSOFT = [
    ("com.microsoft", "NhwcMaxPool", (BYTES,), {"kernel_shape": [2, 3]}, (1, 4, 4, 3)),
    ("com.microsoft", "QLinearAveragePool", (BYTES, SCALE, ZERO, SCALE, ZERO), {"kernel_shape": [2, 3]}, (1, 5, 5, 1)),
    (
        "com.microsoft",
        "QLinearAveragePool",
        (BYTES, SCALE, ZERO, SCALE, ZERO),
        {"kernel_shape": [2, 3], "channels_last": 1},
        (1, 4, 4, 3),
    ),
    (
        "com.microsoft",
        "QLinearGlobalAveragePool",
        (BYTES, SCALE, ZERO, SCALE, ZERO),
        {"channels_last": 1},
        (1, 1, 1, 3),
    ),
    ("com.microsoft", "QLinearGlobalAveragePool", (BYTES, SCALE, ZERO, SCALE, ZERO), {}, (1, 5, 1, 1)),
    ("com.microsoft.nchwc", "MaxPool", (x(1, 16, 5, 5),), {"kernel_shape": [2, 2]}, (1, 16, 4, 4)),
    ("com.microsoft.nchwc", "GlobalMaxPool", (x(1, 16, 5, 5),), {}, (1, 16, 1, 1)),
    ("com.microsoft.nchwc", "ReorderInput", (x(1, 16, 5, 6),), {}, (1, 16, 5, 6)),
    ("com.microsoft.nchwc", "ReorderInput", (x(1, 5, 6, 16),), {"channels_last": 1}, (1, 16, 5, 6)),
    ("com.microsoft.nchwc", "ReorderOutput", (x(1, 16, 5, 6),), {"channels": 10}, (1, 10, 5, 6)),
    ("com.microsoft.nchwc", "ReorderOutput", (x(1, 16, 5, 6),), {"channels": 10, "channels_last": 1}, (1, 5, 6, 10)),
    ("com.microsoft.nchwc", "Upsample", (x(1, 16, 5, 6),), {"scales": [1, 1, 2, 3]}, (1, 16, 10, 18)),
]


@pytest.mark.parametrize(("domain", "op", "inputs", "attributes", "shape"), MICROSOFT)
def test_onnx_runtime_domains(domain: str, op: str, inputs: Any, attributes: Any, shape: tuple[int, ...]) -> None:
    model = onnx_model(op, inputs, attributes, 21, domain)
    assert irlint_on_onnx(model) == [(inputs[0].dtype, shape)]
    assert run(model) == [shape]


@pytest.mark.parametrize(
    ("op", "attributes", "shape"),
    [
        ("MaxPool", {"kernel_shape": [2, 3]}, (1, 4, 4, 3)),
        ("AveragePool", {"kernel_shape": [2, 3]}, (1, 4, 4, 3)),
        ("LpPool", {"kernel_shape": [2, 3]}, (1, 4, 4, 3)),
        ("GlobalAveragePool", {}, (1, 1, 1, 3)),
    ],
)
def test_internal_channels_last(op: str, attributes: Any, shape: tuple[int, ...]) -> None:
    model = onnx_model(op, [x(1, 5, 6, 3)], attributes, 21, "com.ms.internal.nhwc")
    assert irlint_on_onnx(model) == [("float32", shape)]


# --- symbols ----------------------------------------------------------------------------------------------------------

SYMBOLIC = [
    ({"kernel_shape": [2, 2], "strides": [2, 2]}, ["N", "3", "H//2", "W//2"], {"H >= 2", "W >= 2"}),
    (
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
        ["N", "3", "(H + 1)//2", "(W + 1)//2"],
        {"H >= 1", "W >= 1"},
    ),
    ({"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, ["N", "3", "H//2", "W//2"], {"H >= 2", "W >= 2"}),
    (
        {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
        ["N", "3", "(H + 1)//2", "(W + 1)//2"],
        {"H >= 1", "W >= 1"},
    ),
    ({"kernel_shape": [1, 1], "strides": [2, 2], "ceil_mode": 1}, ["N", "3", "(H + 1)//2", "(W + 1)//2"], set()),
    (
        {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"},
        ["N", "3", "(H + 1)//2", "(W + 1)//2"],
        set(),
    ),
]


@pytest.mark.parametrize(("attributes", "dims", "requires"), SYMBOLIC)
def test_symbolic_sizes(attributes: dict[str, Any], dims: list[str], requires: set[str]) -> None:
    data = onnx_model("MaxPool", [x("N", 3, "H", "W")], attributes, 22).SerializeToString()
    known = inferred(onnx_parser.read("model.onnx", data))
    assert known.model.graph is not None
    assert [str(dim) for dim in known.types[known.model.graph.outputs[0]].shape] == dims
    assert {requirement.condition for _, _, requirement in known.requires} == requires


def test_the_reason_names_the_axis() -> None:
    data = onnx_model("MaxPool", [x("N", 3, "H", 9)], {"kernel_shape": [7, 7]}, 22).SerializeToString()
    known = inferred(onnx_parser.read("model.onnx", data))
    assert [requirement.why for _, _, requirement in known.requires] == ["the kernel is 7 on axis 2"]


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

PLAIN = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "kernel": "3,3"}
LINE = {"strides": "1", "pads_begin": "0", "pads_end": "0", "kernel": "3"}

POOLED = [
    (IMAGE, {}),
    (IMAGE, {"strides": None}),
    (IMAGE, {"pads_begin": None, "pads_end": None}),
    (IMAGE, {"kernel": None}),
    (IMAGE, {"strides": "1"}),
    (IMAGE, {"kernel": "3"}),
    (IMAGE, {"pads_begin": "1"}),
    (IMAGE, {"strides": "0,1"}),
    (IMAGE, {"kernel": "0,1"}),
    (IMAGE, {"kernel": "-1,1"}),
    (IMAGE, {"pads_begin": "-1,1"}),
    (IMAGE, {"kernel": "6,6"}),
    (IMAGE, {"kernel": "6,6", "strides": "2,2", "rounding_type": "ceil"}),
    (x(1, 3, None, 5), {"kernel": "6,3"}),
    (IMAGE, {"pads_begin": "2,2"}),
    (IMAGE, {"pads_begin": "3,3"}),
    (IMAGE, {"pads_begin": "4,4", "pads_end": "4,4"}),
    (x(1, 3, 6, 6), {"auto_pad": "same_upper", "strides": "4,4"}),
    (x(1, 3, 6, 6), {"auto_pad": "same_lower", "strides": "5,5", "rounding_type": "ceil", "kernel": "1,1"}),
    (x(1, 3, 6, 5), {"auto_pad": "same_lower", "strides": "3,3", "rounding_type": "ceil", "kernel": "1,1"}),
    (x(1, 3, None, 6), {"auto_pad": "same_lower", "strides": "5,5", "rounding_type": "ceil"}),
    (x(1, 3, 6, 6), {"auto_pad": "valid", "strides": "2,2", "pads_begin": "1,1"}),
    (x(1, 3, 6, 6), {"auto_pad": "VALID", "strides": "2,2", "rounding_type": "CEIL"}),
    (x(1, 3, 2, 2), {"strides": "2,2", "kernel": "1,1", "rounding_type": "ceil"}),
    (x(1, 3, 2, 2), {"strides": "2,2", "kernel": "1,1", "rounding_type": "ceil_torch"}),
    (x(1, 3, None, 2), {"strides": "2,2", "kernel": "1,1", "rounding_type": "ceil_torch"}),
    (x(1, 3, 4, 4), {"strides": "3,3", "pads_begin": "1,1", "pads_end": "2,2", "rounding_type": "ceil_torch"}),
    (x(1, 3, 4, 4), {"strides": "3,3", "pads_begin": "1,1", "pads_end": "2,2", "rounding_type": "ceil"}),
    (x(0, 3, 5, 5), {}),
    (x(1, 0, 5, 5), {}),
    (x(1, 3, 0, 5), {}),
    (x(1, 3, 0, 5), {"auto_pad": "same_upper"}),
    (x(1, 3, 5), {}),
    (x(1, 3, 5), LINE),
    (x(3, 5), dict.fromkeys(PLAIN, "")),
    (x(1, 3, 3, 3, 3, 3), {"kernel": "1,1,1,1", "strides": "1,1,1,1", "pads_begin": None, "pads_end": None}),
    (ANY, {}),
    (ANY, {"strides": None}),
    (ANY, {"kernel": "3"}),
    (ANY, dict.fromkeys(PLAIN)),
    (Input("bool", 1, 3, 5, 5), {}),
    (Input("int32", 1, 3, 5, 5), {}),
    (IMAGE, {"rounding_type": "x"}),
    (IMAGE, {"auto_pad": "x"}),
]


def merged(*attributes: dict[str, Any]) -> dict[str, Any]:
    joined = {name: value for mapping in attributes for name, value in mapping.items()}
    return {name: value for name, value in joined.items() if value is not None}


@pytest.mark.parametrize(("data", "attributes"), POOLED)
@pytest.mark.parametrize("opset", ["opset1", "opset8", "opset14"])
def test_openvino_max_pool(opset: str, data: Input, attributes: dict[str, Any]) -> None:
    outputs = 1 if opset == "opset1" else 2
    assert_same_verdict("MaxPool", opset, [data], merged(PLAIN, attributes), outputs, finer=True)


@pytest.mark.parametrize(("data", "attributes"), POOLED)
@pytest.mark.parametrize("opset", ["opset1", "opset14", "opset16"])
def test_openvino_avg_pool(opset: str, data: Input, attributes: dict[str, Any]) -> None:
    assert_same_verdict("AvgPool", opset, [data], merged(PLAIN, {"exclude-pad": True}, attributes), finer=True)


@pytest.mark.parametrize("attributes", [{"pads_begin": "4,4", "pads_end": "4,4"}, {}])
@pytest.mark.parametrize("exclude", [True, False, None])
def test_openvino_exclude_pad(attributes: dict[str, Any], exclude: bool | None) -> None:
    assert_same_verdict("AvgPool", "opset1", [IMAGE], merged(PLAIN, {"exclude-pad": exclude}, attributes))


@pytest.mark.parametrize(
    "attributes",
    [
        {"dilations": "2,2"},
        {"dilations": "2"},
        {"dilations": "0,1"},
        {"dilations": "3,3"},
        {"dilations": "", "index_element_type": "i32"},
        {"index_element_type": "f32"},
        {"axis": 2},
        {"axis": 4},
        {"axis": -1},
        {"axis": -5},
        {"dilations": "2,2", "strides": "2,2", "auto_pad": "same_upper"},
    ],
)
@pytest.mark.parametrize("opset", ["opset8", "opset14"])
def test_openvino_max_pool_indices(opset: str, attributes: dict[str, Any]) -> None:
    assert_same_verdict("MaxPool", opset, [IMAGE], merged(PLAIN, attributes), 2)


@pytest.mark.parametrize("dilations", ["2,2", "0,2", "2", "3,3", ""])
@pytest.mark.parametrize("pads_begin", ["0,0", "3,3", "5,5"])
def test_openvino_avg_pool_dilations(dilations: str, pads_begin: str) -> None:
    attributes = {**PLAIN, "exclude-pad": True, "dilations": dilations, "pads_begin": pads_begin}
    assert_same_verdict("AvgPool", "opset16", [IMAGE], attributes)


ADAPTIVE = [
    (IMAGE, sizes(2, 3)),
    (IMAGE, sizes(2)),
    (IMAGE, sizes(-1, 0)),
    (IMAGE, sizes(-3, 9)),
    (IMAGE, Input("int64", 2)),
    (IMAGE, Input("int32", 3)),
    (IMAGE, Input("float32", 2)),
    (IMAGE, Input.any_rank("int64")),
    (ANY, sizes(2, 3)),
    (x(1, 3), sizes()),
    (x(1, 3, 5, 5, 5, 5), sizes(1, 1, 1, 1)),
    (IMAGE, np.array([[2, 3]])),
    (IMAGE, np.array([[2], [3]])),
    (IMAGE, np.array(2)),
    (Input("int32", 1, 3, 5, 5), sizes(2, 3)),
    (Input("bool", 1, 3, 5, 5), sizes(2, 3)),
    (x(None, 3, None, None), sizes(2, 3)),
]


@pytest.mark.parametrize("inputs", ADAPTIVE)
@pytest.mark.parametrize(("op", "outputs"), [("AdaptiveAvgPool", 1), ("AdaptiveMaxPool", 2)])
def test_openvino_adaptive_pool(op: str, outputs: int, inputs: Any) -> None:
    assert_same_verdict(op, "opset8", inputs, {}, outputs)


@pytest.mark.parametrize("index_type", ["i32", "i64", "f32"])
def test_openvino_adaptive_max_pool_indices(index_type: str) -> None:
    assert_same_verdict("AdaptiveMaxPool", "opset8", [IMAGE, sizes(2, 3)], {"index_element_type": index_type}, 2)
