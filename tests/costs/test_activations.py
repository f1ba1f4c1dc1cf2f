"""Peak memory: values from their creation to their last use, in the order of the file."""

from __future__ import annotations

import onnx.parser
import pytest

import irlint
from irlint.dims import floordiv, symbol
from irlint.dims.rounding import TYPICAL, magnitude

#: Graphs of the float[2,8] x, and the most bytes that are in use while a node runs; a float[2,8] takes 64.
GRAPHS = {
    "one value": ("y = Relu (x)", 64),
    "one after the other": ("a = Neg (x) b = Neg (a) c = Neg (b) y = Neg (c)", 128),
    "written over the input": (
        "a = Neg (x) b = Relu (a) c = Sigmoid (b) d = Softmax (c) y = ReduceMax <keepdims = 0> (d)",
        64 + 4,
    ),
    "an output of the graph, which is not written over an input": ("a = Neg (x) y = Relu (a)", 128),
    "an output of the graph, which is no view": ("a = Neg (x) y = Identity (a)", 128),
    "memory that a later value of the same shape takes": (
        "a = Neg (x) b = Concat <axis = 1> (a, a) c = Concat <axis = 1> (b, b) d = Slice (c, k, l) e = Neg (d)"
        " y = ReduceMax <keepdims = 0> (e)",
        64 + 128 + 256,
    ),
    "memory that no value of another shape takes": (
        "a = Neg (x) b = Concat <axis = 1> (a, a) c = Concat <axis = 1> (b, b) d = Neg (c)"
        " y = ReduceMax <keepdims = 0> (d)",
        256 + 256,
    ),
    "what lies between the two parts of a HardSwish": ("a = Neg (x) y = HardSwish (a)", 192),
    "what a Where selects": ("a = Neg (x) b = Less (a, x) y = Where (b, a, x)", 64 + 16 + 64 + 128),
    "a Softmax along another axis than the last one": ("a = Neg (x) y = Softmax <axis = 0> (a)", 128 + 128),
    "columns of a transposed convolution": (
        "r = Constant <value_ints = [1,2,1,8]> () w = Constant <value = float[2,1,1,2] {1,1,1,1}> () "
        "a = Reshape (x, r) y = ConvTranspose <strides = [1,2]> (a, w)",
        64 + 64,
    ),
    "written over a view": ("a = Neg (x) s = Shape (x) b = Reshape (a, s) c = Relu (b) y = Neg (c)", 128),
    "an input that is used later": ("a = Neg (x) b = Relu (a) c = Neg (a) y = Add (b, c)", 192),
    "a view that is used later": ("a = Neg (x) b = Identity (a) c = Relu (b) d = Neg (a) y = Add (c, d)", 192),
    "a graph input, over which nothing is written": ("a = Relu (x) y = Add (a, x)", 128),
    "an output of the graph in between": ("a = Neg (x) y = Relu (a) z = Neg (y)", 128),
    "another size of the element type": (
        "a = Neg (x) b = Cast <to = 10> (a) c = Cast <to = 5> (b) y = Cast <to = 1> (c)",
        96,
    ),
    "one that stays": ("a = Relu (x) b = Relu (a) c = Relu (b) y = Add (a, c)", 192),
    "views": ("a = Relu (x) s = Shape (a) b = Reshape (a, s) c = Reshape (b, s) y = Neg (c)", 128),
    "a view keeps its source": ("a = Relu (x) b = Identity (a) c = Relu (x) d = Relu (c) y = Add (b, d)", 192),
    "what nothing uses": ("a = Relu (x) b = Relu (x) y = Relu (x)", 64),
    "a constant": ("c = Constant <value_float = 2.0> () d = Neg (c) y = Mul (x, d)", 64),
    "half the type": ("a = Cast <to = 10> (x) y = Cast <to = 1> (a)", 96),
    "a larger value in between": ("a = Concat <axis = 0> (x, x, x) y = Slice (a, k, l) ", 256),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_peak_memory(name: str) -> None:
    text, expected = GRAPHS[name]
    head = '<ir_version: 9, opset_import: ["" : 17]> g (float[2,8] x) => (y)'
    constants = "<int64[2] k = {0,0}, int64[2] l = {2,8}>" if " k" in text else ""
    assert irlint.info(onnx.parser.parse_model(f"{head} {constants} {{ {text} }}"))["peak_memory"] == expected


def test_the_larger_of_two_peaks_that_depend_on_different_sizes() -> None:
    text = """<ir_version: 9, opset_import: ["" : 17]> g (float[N] x, float[M] z) => (p, q)
        { a = Neg (x) b = Neg (a) p = ReduceSum <keepdims = 0> (b)
          c = Neg (z) d = Neg (c) q = ReduceSum <keepdims = 0> (d) }"""
    found = irlint.info(onnx.parser.parse_model(text))["peak_memory"]
    for n, m in ((1, 9), (9, 1), (5, 5)):
        assert eval(found, {"max": max, "N": n, "M": m}) == max(8 * n, 8 * m + 4)


def test_a_body_takes_its_memory_while_the_node_runs() -> None:
    text = """<ir_version: 9, opset_import: ["" : 17]> g (float[8] x, bool c) => (y)
        { a = Relu (x) b = Relu (x)
          t = If (c) <then_branch = g () => (p) { d = Concat <axis = 0> (a, a, a, a) p = ReduceSum (d) },
                      else_branch = g () => (p) { p = ReduceSum (a) }> y = Add (b, t) }"""
    assert irlint.info(onnx.parser.parse_model(text))["peak_memory"] == 32 + 32 + 128 + 4


def test_a_size_that_a_typical_one_divides_by_zero() -> None:
    size = symbol("K")
    assert magnitude(floordiv(size * size, size - TYPICAL)) == (TYPICAL + 1) ** 2
