"""Scales of weights and biases: irlint warns exactly where ONNX Runtime's optimizations change the results or fail."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import onnx
import pytest
from cases.models import text_model
from cases.notation import Text
from oracles.test_value_faults import by_onnx_runtime

import irlint

pytestmark = pytest.mark.oracle

#: An operator with its attributes, and the shapes of data and weight.
PRODUCTS = {
    "Conv": ((1, 4, 3, 3), (4, 4, 1, 1)),
    "Conv of more outputs": ((1, 2, 3, 3), (4, 2, 1, 1)),
    "ConvTranspose": ((1, 4, 3, 3), (4, 4, 1, 1)),
    "MatMul": ((3, 4), (4, 4)),
    "MatMul of more outputs": ((3, 4), (4, 6)),
    "Gemm": ((3, 4), (4, 4)),
    "Gemm <transB = 1>": ((3, 4), (4, 4)),
}


def numbers(count: int) -> str:
    return ",".join(str(at * 37 % 200 - 100) for at in range(count))


def quantized(what: str, axis: int, dtype: str, *, again: bool) -> onnx.ModelProto:
    """A product of dequantized data and weight, which may be quantized again."""
    (data, weight), op = PRODUCTS[what], what.removesuffix(" of more outputs")
    scales = ",".join(str(0.001 * (1 + 3 * at)) for at in range(weight[axis]))
    zero = 128 if dtype == "uint8" else 0
    last = "t = OP (a, v) u = QuantizeLinear (t, s, z) y = DequantizeLinear (u, s, z)" if again else "y = OP (a, v)"
    name, _, attributes = op.partition(" ")
    return text_model(
        Text(
            "21",
            f"(float{list(data)} x) => (y) <float s = {{0.05}}, {dtype} z = {{{zero}}}, "
            f"int8{list(weight)} w = {{{numbers(int(np.prod(weight)))}}}, float[{weight[axis]}] k = {{{scales}}}> "
            f"{{ q = QuantizeLinear (x, s, z) a = DequantizeLinear (q, s, z) "
            f"v = DequantizeLinear <axis = {axis}> (w, k) {last.replace('OP', f'{name} {attributes}')} }}",
        )
    )


def is_changed(model: onnx.ModelProto) -> bool:
    """Whether ONNX Runtime gives other results with its optimizations than without, or fails."""
    plain, fast = by_onnx_runtime(model, optimized=False), by_onnx_runtime(model)
    assert not isinstance(plain, str), plain
    if isinstance(fast, str):
        return True
    range_of = max(float(np.abs(each).max()) for each in plain)
    return any(float(np.abs(a - b).max()) > 0.1 * range_of for a, b in zip(plain, fast))


@pytest.mark.parametrize("what", PRODUCTS)
def test_axes_that_onnx_runtime_ignores(what: str, tmp_path: Path) -> None:
    path, seen = tmp_path / "model.onnx", set()
    for axis, dtype, again in product((0, 1), ("uint8", "int8"), (False, True)):
        model = quantized(what, axis, dtype, again=again)
        onnx.save(model, path)
        found = [each for each in irlint.check(path).findings if each.rule.code == "IRL748"]
        assert bool(found) == is_changed(model), (what, axis, dtype, again, [each.message for each in found])
        seen.add(bool(found))
    assert seen == ({True, False} if what.startswith(("Conv", "MatMul")) and "Transpose" not in what else {False})


def test_scales_that_fit_no_axis_have_one_finding(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    model = quantized("Conv of more outputs", 0, "uint8", again=True)
    assert not isinstance(by_onnx_runtime(model), str)
    (axis,) = [each for node in model.graph.node for each in node.attribute if each.name == "axis"]
    axis.i = 1
    assert isinstance(by_onnx_runtime(model, optimized=False), str)
    onnx.save(model, path)
    (found,) = irlint.check(path, ignore=["IRL118"]).findings
    assert found.rule.code == "IRL370"
    assert found.suggestion.startswith("set `axis = 0`; or ")
