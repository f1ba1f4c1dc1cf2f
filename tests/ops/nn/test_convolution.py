"""Convolutions: against ONNX's node tests, ONNX Runtime and OpenVINO, with symbols, and the law of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from cases.models import Input, ir_document, onnx_model
from hypothesis import given
from hypothesis import strategies as st
from oracles.engines import (
    assert_same_verdict,
    irlint_on_ir,
    irlint_on_onnx,
    node_case_difference,
    node_cases,
    onnx_verdict,
    openvino_verdict,
)

from irlint.dims import evaluated, symbol
from irlint.findings.faults import Severity
from irlint.inference.walk import inferred
from irlint.ops.kernels.windows import same_count, transposed_size, window_count
from irlint.parsers import onnx as onnx_parser

OPS = ("Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv", "CausalConvWithState")


def x(*dims: int | str | None) -> Input:
    return Input("float32", *dims)


def w(*dims: int, dtype: str = "float32") -> np.ndarray:
    return np.ones(dims, dtype)


def sizes(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


ANY = Input.any_rank("float32")
ANY_SIZES = Input.any_rank("int64")
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
    assert window_count(size, span, stride, begin, end, rounding) == expected
    for known in (span, symbol("K", span, span + 1)):
        formula = window_count(symbol("H"), known, stride, begin, end, rounding)
        assert evaluated(formula, {"H": size, "K": span}) == expected


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5), st.integers(0, 4))
def test_transposed_size_is_the_way_back(size: int, span: int, stride: int, extra: int) -> None:
    back = window_count(transposed_size(size, span, stride, extra % stride), span, stride, 0, 0)
    assert back == size


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 5))
def test_same_count_pads_as_much_as_needed(size: int, span: int, stride: int) -> None:
    pads = max((-(-size // stride) - 1) * stride + span - size, 0)
    assert same_count(size, span, stride) == window_count(size, span, stride, pads, 0)
    assert same_count(size, span, stride, "ceil") == window_count(size, span, stride, pads, 0, "ceil")


# --- ONNX -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", node_cases(*OPS), ids=lambda case: case.name)
def test_node_case(case: Any) -> None:
    assert node_case_difference(case) is None


SOUND = [
    ("Conv", (x(1, 3, 9, 8), w(8, 3, 3, 3)), {}),
    ("Conv", (x(1, 3, 9, 8), w(8, 3, 3, 3), w(8)), {"pads": [1, 1, 1, 1], "strides": [2, 2]}),
    ("Conv", (x(1, 3, 9, 8), w(8, 3, 3, 3)), {"dilations": [2, 3], "pads": [0, 1, 2, 3]}),
    ("Conv", (x(1, 6, 9), w(8, 3, 3)), {"group": 2}),
    ("Conv", (x(1, 3, 7, 7), w(8, 3, 3, 3)), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", (x(1, 3, 8, 8), w(8, 3, 1, 1)), {"auto_pad": "SAME_LOWER", "strides": [3, 3]}),
    ("Conv", (x(1, 3, 8, 8), w(8, 3, 3, 3)), {"auto_pad": "VALID", "kernel_shape": [3, 3]}),
    ("Conv", (x(1, 3, 8, 8), w(8, 3, 3, 3)), {"auto_pad": ""}),
    ("Conv", (x(0, 3, 8, 8), w(8, 3, 3, 3)), {}),
    ("Conv", (x(1, 3, 0, 5), w(8, 3, 3, 3)), {"pads": [2, 2, 2, 2]}),
    ("Conv", (x(1, 3, 5, 5, 5, 5), w(8, 3, 3, 3, 3, 3)), {}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"strides": [2, 2], "output_padding": [1, 1]}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3), w(4)), {"group": 2, "pads": [1, 1, 1, 1]}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 1, 1)), {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"strides": [2, 2], "auto_pad": "VALID"}),
    ("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"strides": [2, 2], "output_shape": [10, 11]}),
    ("ConvTranspose", (x(1, 4, 0, 5), w(4, 2, 3, 3)), {}),
    ("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 36, 3, 3), w(8), x(1, 18, 3, 3)), {"offset_group": 2}),
]


@pytest.mark.parametrize(("op", "inputs", "attributes"), SOUND)
def test_sizes_as_onnx_infers_them(op: str, inputs: Any, attributes: dict[str, Any]) -> None:
    model = onnx_model(op, inputs, attributes, 22)
    assert irlint_on_onnx(model) == onnx_verdict(model)


def q(*arrays: Any, **attributes: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """A QLinearConv: x_scale, w_scale, w_zero_point, bias."""
    x_scale, w_scale, w_zero_point, *bias = arrays
    operands = (x_scale, ZERO, w(8, 3, 3, 3, dtype="uint8"), w_scale, w_zero_point, ONE, ZERO, *bias)
    return "QLinearConv", (BYTES, *operands), attributes


FAULTS = [
    (("Conv", (x(1, 4, 5, 5), w(8, 3, 3, 3)), {}), "IRL310"),
    (("Conv", (x(1, 6, 5, 5), w(8, 3, 3, 3)), {"group": 3}), "IRL311"),
    (("Conv", (x(1, 9, 5, 5), w(9, 3, 3, 3)), {"group": 2}), "IRL311"),
    (("Conv", (x(1, 6, 5, 5), w(8, 3, 3, 3)), {"group": 0}), "IRL311"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"group": 2}), "IRL310"),
    (("Conv", (x("N", 4, "H", "W"), w(8, 3, 3, 3)), {}), "IRL310"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w(7)), {}), "IRL312"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w(1)), {}), "IRL312"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w(8, 1)), {}), "IRL312"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w()), {}), "IRL312"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"kernel_shape": [2, 2]}), "IRL313"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3)), {}), "IRL314"),
    (("Conv", (x(3, 5), w(8, 3)), {}), "IRL314"),
    (("Conv", (ANY, w(8, 3)), {}), "IRL314"),
    (("Conv", (ANY, w(8, 3, 3, 3)), {"strides": [1]}), "IRL314"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"kernel_shape": [3]}), "IRL314"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"strides": [1]}), "IRL314"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"dilations": [1, 1, 1]}), "IRL314"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"pads": [1, 1]}), "IRL314"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"strides": [0, 1]}), "IRL510"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"dilations": [1, -1]}), "IRL510"),
    (("Conv", (x(1, 3, "H", "W"), w(8, 3, 3, 3)), {"pads": [-1, 0, 0, 0]}), "IRL510"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 0, 3)), {}), "IRL510"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 7, 7)), {}), "IRL316"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 6, 6)), {"strides": [2, 2]}), "IRL316"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"dilations": [3, 1]}), "IRL316"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 6, 6)), {"auto_pad": "VALID"}), "IRL316"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"pads": [1] * 4, "auto_pad": "SAME_UPPER"}), "IRL317"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"pads": [0] * 4, "auto_pad": "VALID"}), "IRL317"),
    (("Conv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"auto_pad": "SAME"}), "IRL506"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(3, 2, 3, 3)), {}), "IRL310"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"group": 3}), "IRL311"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3), w(2)), {"group": 2}), "IRL312"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"kernel_shape": [2, 2]}), "IRL313"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3)), {}), "IRL314"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"output_padding": [1]}), "IRL314"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"output_shape": [1, 2, 10, 10]}), "IRL314"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"output_padding": [1, 0]}), "IRL510"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"output_padding": [-1, 0]}), "IRL510"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"output_shape": [0, 7]}), "IRL510"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"pads": [3, 3, 4, 4]}), "IRL316"),
    (("ConvTranspose", (x(1, 4, 5, 5), w(4, 2, 3, 3)), {"pads": [0] * 4, "auto_pad": "VALID"}), "IRL317"),
    (q(w(2), ONE, ZERO), "IRL315"),
    (q(ONE, w(7), ZERO), "IRL315"),
    (q(ONE, w(8, 1, 1, 1), ZERO), "IRL315"),
    (q(ONE, ONE, w(7, dtype="uint8")), "IRL315"),
    (q(ONE, ONE, ZERO, w(7, dtype="int32")), "IRL312"),
    (q(w(1), w(8), w(8, dtype="uint8"), w(8, dtype="int32"), group=2), "IRL310"),
    (("ConvInteger", (BYTES, w(8, 3, 3, 3, dtype="uint8"), w(2, dtype="uint8")), {}), "IRL315"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 17, 3, 3)), {}), "IRL315"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 18, 4, 3)), {}), "IRL315"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(2, 18, 3, 3)), {}), "IRL315"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 54, 3, 3)), {"offset_group": 3}), "IRL311"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 18, 3, 3), None, x(1, 18, 3, 3)), {}), "IRL315"),
    (("DeformConv", (x(1, 4, 5, 5), w(8, 4, 3, 3), x(1, 18, 3, 3), w(7)), {}), "IRL312"),
]


def runs(model: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime loads the model and computes it for ones."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    types = {f"tensor({name})": name for name in ("uint8", "int64")} | {"tensor(float)": "float32"}
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        feeds = {
            known.name: np.ones([d if isinstance(d, int) else 6 for d in known.shape], types[known.type])
            for known in session.get_inputs()
        }
        session.run(None, feeds)
    except Exception:
        return False
    return True


@pytest.mark.parametrize(("node", "code"), FAULTS)
def test_fault(node: Any, code: str) -> None:
    op, inputs, attributes = node
    ours = irlint_on_onnx(onnx_model(op, inputs, attributes, 22))
    assert isinstance(ours, str)
    assert ours.startswith(code)
    if attributes.get("group") != 0 and inputs[0] is not ANY:
        assert not runs(onnx_model(op, inputs, attributes, 22))


@pytest.mark.parametrize("node", [*SOUND, q(w(1), ONE, ZERO), q(ONE, w(8), ZERO, w(8, dtype="int32"))])
def test_sound_nodes_run(node: Any) -> None:
    op, inputs, attributes = node
    model = onnx_model(op, inputs, attributes, 22)
    assert not isinstance(irlint_on_onnx(model), str)
    assert runs(model)


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


@pytest.mark.parametrize("opset", [1, 7, 11, 21, 22])
def test_every_version_of_conv(opset: int) -> None:
    model = onnx_model("Conv", [x(1, 3, 8, 8), w(4, 3, 3, 3)], {"pads": [1, 1, 1, 1]}, opset)
    assert irlint_on_onnx(model) == [("float32", (1, 4, 8, 8))]


@pytest.mark.parametrize("opset", [1, 11, 22])
def test_every_version_of_conv_transpose(opset: int) -> None:
    model = onnx_model("ConvTranspose", [x(1, 4, 5, 5), w(4, 2, 3, 3)], {"strides": [2, 2]}, opset)
    assert irlint_on_onnx(model) == [("float32", (1, 2, 11, 11))]


MICROSOFT = [
    ("com.microsoft", "FusedConv", (x(1, 3, 5, 5), w(8, 3, 3, 3)), {"activation": "Relu"}, (1, 8, 3, 3)),
    ("com.microsoft", "FusedConv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w(8), x(1, 8, 3, 3)), {}, (1, 8, 3, 3)),
    ("com.microsoft", "FusedConv", (x(1, 3, 5, 5), w(8, 3, 3, 3), w(8), x(1, 8, 1, 1)), {}, "IRL315"),
    ("com.microsoft", "NhwcConv", (x(1, 5, 6, 3), w(8, 3, 3, 3)), {}, (1, 3, 4, 8)),
    ("com.microsoft", "NhwcConv", (x(1, 3, 5, 6), w(8, 3, 3, 3)), {}, "IRL310"),
    ("com.microsoft", "NhwcFusedConv", (x(1, 5, 6, 3), w(8, 3, 3, 3), None, x(1, 3, 4, 8)), {}, (1, 3, 4, 8)),
    ("com.ms.internal.nhwc", "Conv", (x(1, 5, 6, 3), w(8, 3, 3, 3)), {}, (1, 3, 4, 8)),
    ("com.ms.internal.nhwc", "ConvTranspose", (x(1, 5, 6, 4), w(4, 2, 3, 3)), {}, (1, 7, 8, 2)),
    ("com.microsoft.nchwc", "Conv", (x(1, 3, 5, 5), w(16, 3, 3, 3)), {}, (1, 16, 3, 3)),
    ("com.microsoft.nchwc", "Conv", (x(1, 16, 5, 5), w(16, 1, 3, 3)), {"group": 16}, (1, 16, 3, 3)),
]


@pytest.mark.parametrize(("domain", "op", "inputs", "attributes", "expected"), MICROSOFT)
def test_onnx_runtime_domains(domain: str, op: str, inputs: Any, attributes: dict[str, Any], expected: Any) -> None:
    ours = irlint_on_onnx(onnx_model(op, inputs, attributes, 21, domain))
    if isinstance(expected, str):
        assert isinstance(ours, str)
        assert ours.startswith(expected)
    else:
        assert ours == [("float32", expected)]


def test_quantized_channels_last() -> None:
    operands = (ONE, ZERO, w(8, 3, 3, 3, dtype="uint8"), ONE, ZERO, ONE, ZERO)
    inputs = (Input("uint8", 1, 5, 6, 3), *operands)
    ours = irlint_on_onnx(onnx_model("QLinearConv", inputs, {"channels_last": 1}, 21, "com.microsoft"))
    assert ours == [("uint8", (1, 3, 4, 8))]


# --- symbols ----------------------------------------------------------------------------------------------------------


def known_of(op: str, inputs: Any, attributes: dict[str, Any]) -> tuple[list[str], set[tuple[str, str]]]:
    """The output's dims as texts, and what is required with the reason."""
    model = onnx_parser.read("model.onnx", onnx_model(op, inputs, attributes, 22).SerializeToString())
    known = inferred(model)
    assert model.graph is not None
    assert not known.problems
    shape = known.types[model.graph.outputs[0]].shape
    return [str(dim) for dim in shape], {(r.condition, r.why) for _, _, r in known.requires}


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
        {("C == 6", "axis 1 of input 0 are the channels that input 1 takes")},
    ),
    (
        "ConvTranspose",
        (x(1, 3, "H", 9), w(3, 8, 3, 3)),
        {"pads": [1] * 4},
        {("H >= 1", "the padding on axis 2 leaves something")},
    ),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "requires"), REQUIRED)
def test_requirements(op: str, inputs: Any, attributes: dict[str, Any], requires: set[tuple[str, str]]) -> None:
    assert known_of(op, inputs, attributes)[1] == requires


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

PLAIN = {"strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "dilations": "1,1"}
LINE = {"strides": "1", "pads_begin": "0", "pads_end": "0", "dilations": "1"}
NONE: dict[str, str] = dict.fromkeys(PLAIN, "")

CONVOLUTION = [
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), PLAIN),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), NONE),
    ((x(1, 3, 5), w(8, 3, 3)), LINE),
    ((x(1, 3, 9, 8), w(8, 3, 3, 3)), {**PLAIN, "strides": "2,3", "pads_begin": "1,0", "pads_end": "2,1"}),
    ((x(1, 3, 9, 8), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": "same_upper", "strides": "2,2", "dilations": "2,2"}),
    ((x(1, 3, 9, 8), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": "VALID", "pads_begin": "1,1"}),
    ((x(1, 3, 9, 8), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": "same_lower", "pads_begin": "1,1"}),
    ((x(1, 3, 0, 5), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": "same_lower"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": "notset"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "auto_pad": ""}),
    ((ANY, w(8, 3, 3, 3)), {}),
    ((ANY, w(8, 3, 3, 3)), PLAIN),
    ((ANY, ANY), PLAIN),
    ((ANY, ANY), {}),
    ((x(1, 3, 5, 5), ANY), PLAIN),
    ((x(1, 3, 5, 5), ANY), {**PLAIN, "auto_pad": "same_upper"}),
    ((x(None, None, None, None), x(None, None, None, None)), PLAIN),
    ((x(None, None, None, None), w(8, 3, 3, 3)), PLAIN),
    ((x(1, None, 5, 5), w(8, 3, 3, 3)), PLAIN),
    ((x(1, 3, 5, 5), w(8, 3, 7, 7)), PLAIN),
    ((x(1, 3, 5, 5), w(8, 3, 6, 6)), {**PLAIN, "strides": "2,2"}),
    ((x(1, 3, 5, 5), w(8, 3, 6, 6)), {**PLAIN, "auto_pad": "valid"}),
    ((x(1, 3, 0, 5), w(8, 3, 3, 3)), PLAIN),
    ((x(1, 4, 5, 5), w(8, 3, 3, 3)), PLAIN),
    ((x(1, 3, 5), w(8, 3, 3, 3)), PLAIN),
    ((x(3, 5), w(8, 3)), NONE),
    ((x(1, 3, 5, 5, 5, 5), w(8, 3, 3, 3, 3, 3)), {}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "strides": "1"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "strides": "1,1,1"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "strides": "0,1"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "dilations": "1,0"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "dilations": "1"}),
    ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**PLAIN, "pads_begin": "1"}),
    ((Input("float16", 1, 3, 5, 5), w(8, 3, 3, 3)), PLAIN),
    ((Input("bool", 1, 3, 5, 5), w(8, 3, 3, 3, dtype="bool")), PLAIN),
    ((Input("int32", 1, 3, 5, 5), w(8, 3, 3, 3, dtype="int32")), PLAIN),
    ((x(0, 3, 5, 5), w(8, 3, 3, 3)), PLAIN),
]


@pytest.mark.parametrize(("inputs", "attributes"), CONVOLUTION)
def test_openvino_convolution(inputs: Any, attributes: dict[str, Any]) -> None:
    assert_same_verdict("Convolution", "opset1", inputs, attributes)


@pytest.mark.parametrize(
    ("filters", "attributes"),
    [
        (w(8, 3, 3, 3), {"strides": "-1,1"}),
        (w(8, 3, 3, 3), {"dilations": "-1,1"}),
        (w(8, 3, 3, 3), {"pads_begin": "-1,-1"}),
        (w(8, 3, 0, 3), {}),
    ],
)
def test_what_openvino_takes_in_silence(filters: np.ndarray, attributes: dict[str, str]) -> None:
    document = ir_document("Convolution", "opset1", [x(1, 3, 5, 5), filters], {**PLAIN, **attributes})
    assert not isinstance(openvino_verdict(*document), str)
    assert irlint_on_ir(*document) == [("float32", (1, 8, None, None))]


GROUPED = [
    (x(1, 6, 5, 5), w(2, 4, 3, 3, 3)),
    (x(1, 7, 5, 5), w(2, 4, 3, 3, 3)),
    (x(1, 8, 5, 5), w(2, 4, 3, 3, 3)),
    (x(1, None, 5, 5), w(2, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), x(None, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), x(None, 4, None, 3, 3)),
    (x(1, 6, 5, 5), x(2, 4, None, 3, 3)),
    (x(1, 7, 5, 5), x(None, 4, 3, 3, 3)),
    (x(1, None, 5, 5), x(None, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), w(8, 3, 3, 3)),
    (x(1, 6, 5, 5), w(0, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), w(2, 4, 0, 3, 3)),
    (x(1, 0, 5, 5), w(2, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), ANY),
    (ANY, w(2, 4, 3, 3, 3)),
    (x(1, 6, 5, 5), w(2, 4, 3, 6, 6)),
]


@pytest.mark.parametrize("inputs", GROUPED)
def test_openvino_group_convolution(inputs: Any) -> None:
    assert_same_verdict("GroupConvolution", "opset1", inputs, PLAIN)


TWO = {**PLAIN, "strides": "2,2"}
BACKPROP = [
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {}),
    ((x(1, 4, 5, 5), w(3, 2, 3, 3)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "auto_pad": "same_upper"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "auto_pad": "valid", "pads_begin": "1,1"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "output_padding": "1,1"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "output_padding": "7,1"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "output_padding": "1"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "output_padding": ""}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "pads_begin": "6,6", "pads_end": "6,6"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3)), {**TWO, "pads_begin": "6,6", "pads_end": "5,5"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(10, 10)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(10, 10)), {**TWO, "auto_pad": "same_upper"}),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(100, 100)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(0, -1)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(1, 2, 10, 10)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), sizes(10)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), np.array([[10, 10]])), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), np.array(10)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), w(2)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), Input("int32", 2)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), Input("float32", 2)), TWO),
    ((x(1, 4, 5, 5), w(4, 2, 3, 3), Input("int64", 3)), TWO),
    ((ANY, w(4, 2, 3, 3), Input("int64", 2)), TWO),
    ((ANY, w(4, 2, 3, 3), sizes(4, 5)), TWO),
    ((ANY, ANY, sizes(4, 5)), TWO),
    ((ANY, ANY, sizes(4, 5)), {}),
    ((ANY, ANY), TWO),
    ((ANY, ANY), {}),
    ((ANY, ANY, Input("int64", 2)), {}),
    ((ANY, ANY, ANY_SIZES), {}),
    ((x(1, 4, 5, 5), ANY), TWO),
    ((x(1, 4, None, 5), w(4, 2, 3, 3)), TWO),
    ((x(1, 4, 5), w(4, 2, 3, 3)), TWO),
]


@pytest.mark.parametrize(("inputs", "attributes"), BACKPROP)
def test_openvino_convolution_backprop_data(inputs: Any, attributes: dict[str, Any]) -> None:
    assert_same_verdict("ConvolutionBackpropData", "opset1", inputs, attributes)


@pytest.mark.parametrize(
    "inputs",
    [
        (x(1, 4, 5, 5), w(2, 2, 3, 3, 3)),
        (x(1, 4, 5, 5), w(2, 2, 3, 3, 3), sizes(9, 9)),
        (x(1, 5, 5, 5), w(2, 2, 3, 3, 3)),
        (x(1, None, 5, 5), w(2, 2, 3, 3, 3)),
        (x(1, 6, 5, 5), w(2, 2, 3, 3, 3)),
        (x(1, 4, 5, 5), x(None, 2, 3, 3, 3)),
        (x(1, 5, 5, 5), x(None, 2, 3, 3, 3)),
        (x(1, 4, 5, 5), w(4, 2, 3, 3)),
    ],
)
def test_openvino_group_convolution_backprop_data(inputs: Any) -> None:
    assert_same_verdict("GroupConvolutionBackpropData", "opset1", inputs, TWO)


BINARY = {**PLAIN, "mode": "xnor-popcount", "pad_value": "0.0"}


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        ((x(1, 3, 5, 5), w(8, 3, 3, 3)), BINARY),
        ((x(1, 3, 5, 5), w(8, 3, 3, 3, dtype="uint8")), BINARY),
        ((x(1, 3, 5), w(8, 3, 3)), {**BINARY, **LINE}),
        ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**BINARY, "mode": "other"}),
        ((x(1, 3, 5, 5), w(8, 3, 3, 3)), {**BINARY, "mode": "XNOR-popcount"}),
        ((Input("bool", 1, 3, 5, 5), w(8, 3, 3, 3)), BINARY),
        ((x(1, 4, 5, 5), w(8, 3, 3, 3)), BINARY),
        ((ANY, w(8, 3, 3, 3)), BINARY),
    ],
)
def test_openvino_binary_convolution(inputs: Any, attributes: dict[str, Any]) -> None:
    assert_same_verdict("BinaryConvolution", "opset1", inputs, attributes)


DEFORMED = {**PLAIN, "group": "1", "deformable_group": "1"}
DEFORMABLE = [
    ((x(1, 4, 5, 5), x(1, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 18, 3, 3), w(8, 4, 3, 3)), {"group": "1", "deformable_group": "1"}),
    ((x(1, 4, 5, 5), x(1, 17, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 18, 4, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(2, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 36, 3, 3), w(8, 4, 3, 3)), {**DEFORMED, "deformable_group": "2"}),
    ((x(1, 4, 5, 5), x(1, 54, 3, 3), w(8, 4, 3, 3)), {**DEFORMED, "deformable_group": "3"}),
    ((x(1, 4, 5, 5), x(1, 18, 3, 3), w(8, 2, 3, 3)), {**DEFORMED, "group": "2"}),
    ((x(1, 4, 5, 5), x(1, 18, 3, 3), w(7, 2, 3, 3)), {**DEFORMED, "group": "2"}),
    ((x(1, 5, 5, 5), x(1, 18, 3, 3), w(8, 2, 3, 3)), {**DEFORMED, "group": "2"}),
    ((x(1, 5, 5, 5), x(1, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 18, 3, 3), w(8, 4, 3, 3)), {**DEFORMED, "group": "-1"}),
    ((x(1, 4, 5), x(1, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 18, 5, 5), w(8, 4, 3, 3)), {**DEFORMED, "auto_pad": "same_upper"}),
    ((x(None, 4, 5, 5), x(2, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((ANY, x(2, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((ANY, ANY, w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), ANY, ANY), DEFORMED),
    ((x(1, 4, 5, 5), Input("float16", 1, 18, 3, 3), w(8, 4, 3, 3)), DEFORMED),
    ((x(1, 4, 5, 5), x(1, 72, 1, 1), w(8, 4, 6, 6)), DEFORMED),
]


@pytest.mark.parametrize(("inputs", "attributes"), DEFORMABLE)
@pytest.mark.parametrize("opset", ["opset1", "opset8"])
def test_openvino_deformable_convolution(inputs: Any, attributes: dict[str, Any], opset: str) -> None:
    assert_same_verdict("DeformableConvolution", opset, inputs, attributes, finer=True)


@pytest.mark.parametrize(
    "mask",
    [x(1, 9, 3, 3), x(1, 8, 3, 3), x(2, 9, 3, 3), x(1, 9, 4, 3), x(1, 9, 3), Input("float16", 1, 9, 3, 3), ANY],
    ids=lambda mask: f"{mask.dtype}{mask.dims}",
)
def test_openvino_deformable_convolution_with_mask(mask: Input) -> None:
    inputs = (x(1, 4, 5, 5), x(1, 18, 3, 3), w(8, 4, 3, 3), mask)
    assert_same_verdict("DeformableConvolution", "opset8", inputs, {**DEFORMED, "bilinear_interpolation_pad": True})
