"""Where other counters count other MACs than irlint, and why: the smallest models that show it.

The numbers of the other counters are checked where their packages are installed: onnxsim, onnx-tool, torch and fvcore.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from make.measuring import counters

import irlint

HEAD = '<ir_version: 9, opset_import: ["" : 17, "com.microsoft" : 1, "ai.onnx.ml" : 3]> g '

#: Why the counts differ, a graph, the MACs that irlint counts, and those of onnxsim and of onnx-tool without biases.
FILES: dict[str, tuple[str, int, int, int]] = {
    "a convolution is counted alike": (
        "(float[1,3,8,8] x, float[4,3,3,3] w, float[4] b) => (float[1,4,6,6] y) { y = Conv (x, w, b) }",
        4 * 36 * 27,
        4 * 36 * 27,
        4 * 36 * 27,
    ),
    "onnx-tool multiplies each output of a transposed convolution with the filter, whatever its strides": (
        "(float[1,6,5,5] x, float[6,4,3,3] w) => (float[1,4,11,11] y) { y = ConvTranspose <strides = [2,2]> (x, w) }",
        6 * 25 * 4 * 9,
        6 * 25 * 4 * 9,
        4 * 121 * 4 * 9,
    ),
    "onnxsim adds up both branches of an If, onnx-tool looks into none": (
        "(float[2,3] x, bool c, float[3,5] w) => (float[2,5] y) { y = If (c) <then_branch = g () => (float[2,5] t)"
        " { t = MatMul (x, w) }, else_branch = g () => (float[2,5] e) { e = MatMul (x, w) }> }",
        30,
        60,
        0,
    ),
    "onnxsim counts the body of a Loop once, onnx-tool not at all": (
        "(float[2,2] x) => (float[2,2] y) <int64 n = {7}, bool t = {1}> { y = Loop (n, t, x)"
        " <body = g (int64 i, bool k, float[2,2] s) => (bool k2, float[2,2] s2)"
        " { k2 = Identity (k) s2 = MatMul (s, x) }> }",
        7 * 8,
        8,
        0,
    ),
    "onnxsim has no Einsum": (
        '(float[2,3] x, float[3,5] w) => (float[2,5] y) { y = Einsum <equation = "ij,jk->ik"> (x, w) }',
        30,
        0,
        30,
    ),
    "onnxsim has no LSTM, and onnx-tool adds biases, gates and activations": (
        "(float[5,2,3] x, float[1,16,3] w, float[1,16,4] r, float[1,32] b) => (float[5,1,2,4] y)"
        " { y = LSTM <hidden_size = 4> (x, w, r, b) }",
        5 * 2 * 16 * (3 + 4),
        0,
        8640,
    ),
    "neither has the attentions of ONNX Runtime": (
        "(float[2,5,16] x, float[16,48] w, float[48] b) => (float[2,5,16] y)"
        " { y = com.microsoft.Attention <num_heads = 4> (x, w, b) }",
        2 * 5 * 16 * 48 + 2 * 2 * 5 * 5 * 16,
        0,
        0,
    ),
    "neither has the models of ai.onnx.ml": (
        "(float[5,3] x) => (float[5,1] y) { y = ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0, 3.0]> (x) }",
        15,
        0,
        0,
    ),
    "onnx-tool reads the length of the left operand as its rows where the right one is a vector": (
        "(uint8[4,3] x, uint8[3] w) => (int32[4] y) { y = MatMulInteger (x, w) }",
        12,
        12,
        4,
    ),
}


def saved(text: str, folder: Path) -> Path:
    path = folder / "m.onnx"
    model = onnx.parser.parse_model(HEAD + text)
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("why", FILES)
def test_macs_of_files(why: str, tmp_path: Path) -> None:
    text, ours, _, _ = FILES[why]
    assert irlint.info(saved(text, tmp_path))["macs"] == ours


@pytest.mark.oracle
@pytest.mark.parametrize("package", ["onnxsim", "onnx_tool"])
@pytest.mark.parametrize("why", FILES)
def test_counters_of_files(why: str, package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    text, _, onnxsim, onnx_tool = FILES[why]
    path = saved(text, tmp_path)
    shapes = {each["name"]: each["shape"] for each in irlint.info(path)["inputs"]}
    assert getattr(counters, package)(path, shapes)[""] == {"onnxsim": onnxsim, "onnx_tool": onnx_tool}[package]


def products(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.Linear(144, 5))


def recurrent(torch: Any) -> Any:
    return torch.nn.LSTM(3, 4, batch_first=True)


def attention(torch: Any) -> Any:
    class Attention(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    return Attention()


def pooled(torch: Any) -> Any:
    return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(3, 5))


#: Why the counts differ, the network, the shape of its input, the MACs that irlint counts, those of torch and fvcore.
NETWORKS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...], int, int, int]] = {
    "products are counted alike": (
        products,
        (1, 3, 8, 8),
        4 * 36 * 27 + 144 * 5,
        4 * 36 * 27 + 144 * 5,
        4 * 36 * 27 + 144 * 5,
    ),
    "neither has an LSTM": (recurrent, (2, 5, 3), 2 * 5 * 16 * (3 + 4), 0, 0),
    "neither has an attention on a CPU": (attention, (1, 2, 5, 8), 2 * 5 * 5 * (8 + 8), 0, 0),
    "fvcore counts an average for each element": (pooled, (1, 3, 8, 8), 15, 15, 15 + 3 * 64),
}


@pytest.mark.oracle
@pytest.mark.parametrize("why", NETWORKS)
def test_counters_of_networks(why: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    openvino = pytest.importorskip("openvino")
    from torch.utils.flop_counter import FlopCounterMode

    make, shape, ours, theirs, of_fvcore = NETWORKS[why]
    module, example = make(torch).eval(), torch.ones(shape)
    openvino.save_model(openvino.convert_model(module, example_input=example, input=[list(shape)]), tmp_path / "m.xml")
    assert irlint.info(tmp_path / "m.xml")["macs"] == ours
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        module(example)
    assert counter.get_total_flops() // 2 == theirs
    fvcore = pytest.importorskip("fvcore.nn")
    counted = fvcore.FlopCountAnalysis(module, example).unsupported_ops_warnings(False)
    assert counted.total() == of_fvcore
