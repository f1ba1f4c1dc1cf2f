"""Convolutions: against ONNX's node tests, ONNX Runtime and OpenVINO, with symbols, and the law of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cases.models import Input, onnx_model
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import evaluated, symbol
from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.ops.shared.windows import same_count, transposed_size, window_count
from irlint.parsers import onnx as onnx_parser


def x(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def w(*dims: int, dtype: str = "float32") -> np.ndarray:
    return np.ones(dims, dtype)


ONE, ZERO = w(), np.zeros((), np.uint8)
BYTES = Input("uint8", 1, 3, 5, 5)

# --- laws -------------------------------------------------------------------------------------------------------------


def counted(size: int, kernel: int, stride: int, dilation: int, begin: int, end: int, rounding: str) -> int:
    """The windows one by one: NumPy marks what is data, a window needs its place."""
    span = dilation * (kernel - 1) + 1
    total = size + begin + end
    starts = np.arange(0, total + stride, stride)
    if rounding == "floor":
        return int(np.sum(starts + span <= total))
    needed = np.sum(starts + span < total + stride)
    return int(needed if rounding == "ceil" else min(needed, np.sum(starts < size + begin)))


@given(
    st.integers(0, 40),
    st.integers(1, 6),
    st.integers(1, 5),
    st.integers(1, 3),
    st.data(),
    st.sampled_from(["floor", "ceil", "ceil_torch"]),
)
def test_window_count(size: int, kernel: int, stride: int, dilation: int, data: Any, rounding: Any) -> None:
    span = dilation * (kernel - 1) + 1
    begin, end = data.draw(st.integers(0, kernel - 1)), data.draw(st.integers(0, kernel - 1))
    if size + begin + end < span:
        return
    expected = counted(size, kernel, stride, dilation, begin, end, rounding)
    assert window_count(size, span, stride, begin=begin, end=end, rounding=rounding) == expected
    for known in (span, symbol("K", span, span + 1)):
        formula = window_count(symbol("H"), known, stride, begin=begin, end=end, rounding=rounding)
        assert evaluated(formula, {"H": size, "K": span}) == expected


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.integers(0, 4))
def test_transposed_size_is_the_way_back(size: int, span: int, stride: int, extra: int) -> None:
    back = window_count(transposed_size(size, span, stride, added=extra % stride), span, stride, begin=0, end=0)
    assert back == size


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5))
def test_same_count_pads_as_much_as_needed(size: int, span: int, stride: int) -> None:
    pads = max((-(-size // stride) - 1) * stride + span - size, 0)
    assert same_count(size, span, stride) == window_count(size, span, stride, begin=pads, end=0)
    assert same_count(size, span, stride, rounding="ceil") == window_count(
        size, span, stride, begin=pads, end=0, rounding="ceil"
    )


# --- ONNX -------------------------------------------------------------------------------------------------------------


def warnings(op: str, inputs: Any, attributes: dict[str, Any], opset: int = 22) -> list[str]:
    model = onnx_model(op, inputs, attributes, opset)
    problems = inferred(onnx_parser.read("model.onnx", model.SerializeToString())).problems
    assert all(p.fault.severity is Severity.WARNING for p in problems)
    return [problem.fault.rule.code for problem in problems]


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "code"),
    [
        ("Conv", (x(1, 3, 9, 9), w(8, 3, 3, 3)), {"auto_pad": "SAME_UPPER", "dilations": [2, 2]}, "IRL318"),
        ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"strides": [2, 2], "output_shape": [20, 9]}, "IRL319"),
        ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"dilations": [3, 3], "output_padding": [2, 0]}, "IRL319"),
        ("DeformConv", (x(1, 4, 5, 5), w(8, 4, 6, 5), x(1, 60, 0, 1)), {}, "IRL316"),
    ],
)
def test_warning(op: str, inputs: Any, attributes: dict[str, Any], code: str) -> None:
    assert warnings(op, inputs, attributes) == [code]


def test_zero_point_for_each_channel_is_a_note() -> None:
    inputs = (BYTES, w(8, 3, 3, 3, dtype="uint8"), ZERO, w(8, dtype="uint8"))
    model = onnx_parser.read("model.onnx", onnx_model("ConvInteger", inputs, {}, 22).SerializeToString())
    (problem,) = inferred(model).problems
    assert (problem.fault.rule.code, problem.fault.severity) == ("IRL315", Severity.NOTE)


# --- symbols ----------------------------------------------------------------------------------------------------------


def known_of(op: str, inputs: Any, attributes: dict[str, Any]) -> tuple[list[str], set[tuple[str, str]]]:
    """The output's dims as texts, and what is required with the reason."""
    model = onnx_parser.read("model.onnx", onnx_model(op, inputs, attributes, 22).SerializeToString())
    known = inferred(model)
    assert model.graph is not None
    assert not known.problems
    shape = known.types[model.graph.outputs[0]].shape
    return [str(dim) for dim in shape], {(r.condition, r.why) for r in (each.requirement for each in known.requires)}


IMAGE = x("N", 3, "H", "W")

SYMBOLIC = [
    ("Conv", (IMAGE, w(8, 3, 7, 7)), {}, ["N", "8", "H - 6", "W - 6"]),
    ("Conv", (IMAGE, w(8, 3, 3, 3)), {"pads": [1] * 4}, ["N", "8", "H", "W"]),
    ("Conv", (IMAGE, w(8, 3, 7, 7)), {"pads": [3] * 4, "strides": [2, 2]}, ["N", "8", "(H + 1)//2", "(W + 1)//2"]),
    (
        "Conv",
        (IMAGE, w(8, 3, 3, 3)),
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        ["N", "8", "(H + 1)//2", "(W + 1)//2"],
    ),
    ("Conv", (IMAGE, w(8, 3, 3, 3)), {"dilations": [2, 1], "pads": [2, 1, 2, 1]}, ["N", "8", "H", "W"]),
    ("ConvTranspose", (IMAGE, w(3, 8, 2, 2)), {"strides": [2, 2]}, ["N", "8", "2*H", "2*W"]),
    ("ConvTranspose", (IMAGE, w(3, 8, 4, 4)), {"strides": [2, 2], "pads": [1] * 4}, ["N", "8", "2*H", "2*W"]),
    ("ConvTranspose", (IMAGE, w(3, 8, 3, 3)), {"strides": [2, 2], "auto_pad": "SAME_LOWER"}, ["N", "8", "2*H", "2*W"]),
    ("ConvTranspose", (IMAGE, w(3, 8, 3, 3)), {"output_shape": [9, 9]}, ["N", "8", "9", "9"]),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "dims"), SYMBOLIC)
def test_symbolic_sizes(op: str, inputs: Any, attributes: dict[str, Any], dims: list[str]) -> None:
    assert known_of(op, inputs, attributes)[0] == dims


REQUIRED = [
    ("Conv", (x(1, 3, "H", 99), w(8, 3, 7, 7)), {}, {("H >= 7", "the kernel is 7 on axis 2")}),
    ("Conv", (x(1, 3, "H", 99), w(8, 3, 7, 7)), {"pads": [1] * 4}, {("H >= 5", "the kernel is 7 on axis 2")}),
    ("Conv", (x(1, 3, "H", 99), w(8, 3, 7, 7)), {"pads": [3] * 4}, {("H >= 1", "the kernel is 7 on axis 2")}),
    ("Conv", (x(1, 3, "H", 99), w(8, 3, 1, 1)), {"pads": [1] * 4}, set()),
    (
        "Conv",
        (x(1, 3, "H", 99), w(8, 3, 7, 7)),
        {"dilations": [2, 2]},
        {("H >= 13", "the window spans 13 on axis 2 (kernel 7, dilation 2)")},
    ),
    (
        "Conv",
        (x(1, "C", 99, 99), w(8, 3, 7, 7)),
        {"group": 2},
        {("C == 6", "axis 1 of input 0 has the channels that input 1 needs")},
    ),
    (
        "ConvTranspose",
        (x(1, 3, "H", 9), w(3, 8, 3, 3)),
        {"pads": [1] * 4},
        {("H >= 1", "axis 2 has elements after the padding is removed")},
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "requires"), REQUIRED)
def test_requirements(op: str, inputs: Any, attributes: dict[str, Any], requires: set[tuple[str, str]]) -> None:
    assert known_of(op, inputs, attributes)[1] == requires
