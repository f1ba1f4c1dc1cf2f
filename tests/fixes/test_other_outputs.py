"""Suggestions for a node that takes the wrong output of a node with several outputs. Engines are asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from fixes.test_likely import assert_suggested
from oracles.openvino_worker import outcomes

import irlint

pytestmark = pytest.mark.oracle

HEAD = "(float[N,6] x) => (float[N,2] y, float[N,2] z)"
LSTM = "a, h, c = LSTM <hidden_size = 3> (x, w, r)"
STATES = "<float[1,12,4] w, float[1,12,3] r, float[3,5] v, int64[1] o = {0}>"

#: A sound graph, what is replaced in it, by what, and the suggestion; "=" before it: it is written and restores the graph.
OUTPUTS = [
    ("indices of windows", "(float[N,3,8,8] x) => (float[N,4,a,b] y) <float[4,3,3,3] w> { p, i = MaxPool <kernel_shape = [2,2]> (x) y = Conv (p, w) }", "(p, w)", "(i, w)", "= connect `p` as input 0"),
    ("indices that are an output of the model", "(float[N,3,8,8] x) => (float[N,4,a,b] y, int64[N,3,c,d] i) <float[4,3,3,3] w> { p, i = MaxPool <kernel_shape = [2,2]> (x) y = Conv (p, w) }", "(p, w)", "(i, w)", "= connect `p` as input 0"),
    ("values in place of indices", "(float[N,6] x) => (float[N,2,4] y, float[N,2] z) <float[6,4] t, int64[1] k = {2}> { v, i = TopK (x, k) z = Relu (v) y = Gather (t, i) }", "(t, i)", "(t, v)", "= connect `i` as input 1"),
    ("two users of the wrong output", "(float[N,3,8,8] x) => (float[N,4,a,b] y, float[N,3,c,d] z) <float[4,3,3,3] w> { p, i = MaxPool <kernel_shape = [2,2]> (x) y = Conv (p, w) z = Relu (p) }", "y = Conv (p, w) z = Relu (p)", "y = Conv (i, w) z = Relu (i)", "= connect `p` as input 0, and connect `p` as input 0 in Relu[2]; this also fixes 1 more"),
    ("an output that other nodes show", f"{HEAD} <int64[1] k = {{2}}> {{ v, i = TopK (x, k) y = Sigmoid (v) w, j = TopK (x, k) z = Neg (w) }}", "Sigmoid (v)", "Sigmoid (i)", "= connect `v` as input 0"),
    ("values, or a lost Cast", "(float[N,6] x) => (float[N,2] y) <int64[1] k = {2}> { v, i = TopK (x, k) y = Sigmoid (v) }", "Sigmoid (v)", "Sigmoid (i)", "connect `v` as input 0, or insert a Cast with `to = float32` before input 0"),
    ("two lists of indices", "(float[N] x) => (float[M,4] y) <float[9,4] t> { u, i, r, c = Unique (x) y = Gather (t, i) }", "(t, i)", "(t, u)", "connect `i` as input 1, or connect `c` as input 1"),
    ("all states in place of the last one", f"(float[7,2,4] x) => (float[2,5] y) {STATES} {{ {LSTM} s = Squeeze (h, o) y = MatMul (s, v) }}", "(h, o)", "(a, o)", "connect `h` as input 0, or connect `c` as input 0"),
    ("the last state in place of all states", f"(float[7,2,4] x) => (float[7,2,5] y) {STATES} {{ {LSTM} s = Squeeze (a, e) y = MatMul (s, v) }}".replace("o = {0}", "e = {1}"), "(a, e)", "(h, e)", "connect `a` as input 0"),
    ("a lost Cast before a product", "(float[N,6] x) => (float[N,2] y) <int64[1] k = {2}, float s = {2}> { v, i = TopK (x, k) f = Cast <to = 1> (i) y = Mul (f, s) }", "f = Cast <to = 1> (i) y = Mul (f, s)", "y = Mul (i, s)", "= insert a Cast with `to = float32` before input 0 in Mul[1]"),
    ("a lost Cast beside the values", "(float[N,6] x) => (float[N,4] y) <int64[1] k = {2}> { v, i = TopK (x, k) f = Cast <to = 1> (i) y = Concat <axis = 1> (v, f) }", "f = Cast <to = 1> (i) y = Concat <axis = 1> (v, f)", "y = Concat <axis = 1> (v, i)", "= insert a Cast with `to = float32` before input 1 in Concat[1]"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "old", "new", "expected"), OUTPUTS, ids=[each[0] for each in OUTPUTS])
def test_suggestion(what: str, text: str, old: str, new: str, expected: str) -> None:
    assert_suggested(text, old, new, expected)


def pooled(op: Any) -> Any:
    """Two pooling layers with convolutions behind them."""
    x = op.parameter([-1, 3, 16, 16], numpy.float32, name="x")
    filters = op.constant(numpy.ones((3, 3, 1, 1), "float32"))
    y = x
    for _ in range(2):
        y = op.max_pool(y, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
        y = op.convolution(y, filters, [1, 1], [0, 0], [0, 0], [1, 1])
    return y, x


def largest(op: Any) -> Any:
    """The product of the largest elements and a constant."""
    x = op.parameter([-1, 6], numpy.float32, name="x")
    found = op.topk(x, op.constant(numpy.int64(2)), -1, "max", "value", "i64").output(0)
    return op.multiply(found, op.constant(numpy.full((1, 2), 0.5, "float32"))), x


#: A model, the type of its layer from which an edge leaves at the wrong port, and the suggestion; "=": it is written.
PORTS = [
    (pooled, "MaxPool", r'= connect output port 1 of layer \d+ "\w+" as input 0'),
    (
        largest,
        "TopK",
        r'connect output port 2 of layer \d+ "\w+" as input 0, or insert a Convert with .* before input 0',
    ),
]


@pytest.mark.parametrize(("build", "type", "expected"), PORTS)
def test_output_port(build: Callable[[Any], Any], type: str, expected: str, tmp_path: Path) -> None:
    import openvino
    from openvino import opset13 as op

    output, x = build(op)
    path = tmp_path / "m.xml"
    openvino.save_model(openvino.Model([op.result(output)], [x], "m"), path, compress_to_fp16=False)
    text = path.read_text()
    assert not irlint.check(path).findings
    id = re.findall(rf'<layer id="(\d+)"[^>]*type="{type}"', text)[-1]
    (edge,) = re.findall(rf'<edge from-layer="{id}" from-port="\d+"', text)
    port = int(edge.rpartition("=")[2].strip('"'))
    path.write_text(text.replace(edge, edge.replace(f'from-port="{port}"', f'from-port="{port + 1}"')))
    assert outcomes([path])[0][0] != "ok"
    (found,) = [each for each in irlint.check(path).findings if not each.because]
    assert re.fullmatch(expected.removeprefix("= "), found.suggestion)
    assert (found.fix is not None) == expected.startswith("= ")
    if found.fix is not None:
        path.write_bytes(irlint.fix(path, unsafe=True).data)
        assert path.read_text() == text
