"""Poolings: against ONNX's node tests, ONNX Runtime and OpenVINO, and with symbols."""

from __future__ import annotations

from typing import Any

import pytest
from cases.models import Input, onnx_model
from oracles.engines import irlint_on_onnx

from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.parsers import onnx as onnx_parser


def x(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


# --- ONNX -------------------------------------------------------------------------------------------------------------


IMAGE = x(1, 3, 5, 5)


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


# --- symbols ----------------------------------------------------------------------------------------------------------

SYMBOLIC = [
    ({"kernel_shape": [2, 2], "strides": [2, 2]}, ["N", "3", "max(H//2, 1)", "max(W//2, 1)"], set()),
    (
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4},
        ["N", "3", "(H + 1)//2", "(W + 1)//2"],
        set(),
    ),
    ({"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, ["N", "3", "H//2", "W//2"], set()),
    (
        {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
        ["N", "3", "(H + 1)//2", "(W + 1)//2"],
        set(),
    ),
    ({"kernel_shape": [1, 1], "strides": [2, 2], "ceil_mode": 1}, ["N", "3", "(H + 1)//2", "(W + 1)//2"], set()),
    (
        {"kernel_shape": [5, 5], "strides": [2, 2]},
        ["N", "3", "max((H - 3)//2, min((H - 2)//2, 1))", "max((W - 3)//2, min((W - 2)//2, 1))"],
        {"H >= 2", "W >= 2"},
    ),
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
    assert {each.requirement.condition for each in known.requires} == requires


def test_the_reason_names_the_axis() -> None:
    data = onnx_model("MaxPool", [x("N", 3, "H", 9)], {"kernel_shape": [7, 7]}, 22).SerializeToString()
    known = inferred(onnx_parser.read("model.onnx", data))
    assert [each.requirement.why for each in known.requires] == ["the kernel is 7 on axis 2"]
