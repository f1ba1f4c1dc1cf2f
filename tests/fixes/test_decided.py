"""Mistakes that the rest of a model decides are fixed, and doubtful ones are not. ONNX Runtime is asked."""

from __future__ import annotations

import pytest
from fixes.test_restored import assert_restored, model_of

import irlint

#: Two blocks of a cache of keys and values.
CACHE = """(float[N,2,S,4] past_0_k, float[N,2,S,4] past_0_v, float[N,2,S,4] past_1_k, float[N,2,1,4] x) => (float[N,2,T,4] y, float[N,2,T,4] z, float[N,2,T,4] v) {
  y = Concat <axis = 2> (past_0_k, x) z = Concat <axis = 2> (past_0_v, x) v = Concat <axis = 2> (past_1_k, x) }"""

#: A table of positions fixes the number of patches.
VISION = f"(float[N,3,H,W] x) => (float[N,6,2] y) <float[2,3,4,4] k = {{{', '.join(map(str, range(96)))}}}, float[6,2] p = {{1,2,3,4,5,6,7,8,9,10,11,12}}, int64[3] t = {{0,2,-1}}> {{ c = Cast <to = 1> (x) e = Conv <strides = [4,4]> (c, k) f = Reshape (e, t) q = Transpose <perm = [0,2,1]> (f) y = Add (q, p) }}"

#: A model whose file declares the shapes of its values.
DECLARED = """(int64[N,S] ids, int64[N,S] mask) => (float[N,4,S] y)
  <float[9,4] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}, int64[1] a = {1}, float[N,S,4] e, float[N,S,4] r, float[N,S,4] h, float[N,S] f, float[N,1,S] u, float[N,4,S] t> {
  e = Gather (w, ids) r = Relu (e) h = Neg (r) t = Transpose <perm = [0,2,1]> (h) f = Cast <to = 1> (mask) u = Unsqueeze (f, a) y = Mul (t, u) }"""

#: Weights of 8 x 6 and 6 x 8.
WEIGHTS = ", ".join(
    f"float[{shape}] {name} = {{{', '.join(str(at % 7 - 3) for at in range(48))}}}"
    for name, shape in (("w", "8,6"), ("u", "6,8"), ("p", "6,8"))
)


def layers() -> str:
    """Eight equal layers one after another, whose values have names such as ``a1``, and no names of layers."""
    nodes = []
    for at in range(1, 9):
        x = f"e{at - 1}" if at > 1 else "x"
        nodes += [
            f"a{at} = MatMul ({x}, w) b{at} = Tanh (a{at}) c{at} = MatMul (b{at}, u) d{at} = MatMul (b{at}, p)",
            f"s{at} = Shape ({x}) g{at} = Gather (s{at}, i{at}) h{at} = Unsqueeze (g{at}, zero)",
            f"j{at} = Concat <axis = 0> (minus, h{at}, eight) r{at} = Reshape (c{at}, j{at})",
            f"m{at} = Add (r{at}, k) f{at} = Add (m{at}, d{at}) e{at} = Add (f{at}, {x})",
        ]
    indices = ", ".join(f"int64 i{at} = {{1}}" for at in range(1, 9))
    lists = "int64[1] zero = {0}, int64[1] minus = {-1}, int64[1] eight = {8}, int64 last = {-1}"
    return f"(float[N,S,8] x, float[N,1,8] k) => (float[N,S,8] y, int64 z) <{WEIGHTS}, {indices}, {lists}> {{ {' '.join(nodes)} o = Shape (x) z = Gather (o, last) y = Relu (e8) }}"


#: Pads in the order of PyTorch, the last axis first, as its exporter converts them.
PADS = """(float[N,1,S] x) => (float[N,2,T] y) <float[2,1,3] k = {1,2,3,4,5,6}, int64[6] q = {2,1,0,0,0,0}, int64[2] r = {-1,2}, int64[1] m = {-1}, int64[1] e = {-9223372036854775807}, int64[1] a = {0}, int64[1] flat = {-1}> {
  p = Reshape (q, r) v = Slice (p, m, e, a, m) t = Transpose <perm = [1,0]> (v) f = Reshape (t, flat) d = Pad (x, f) y = Conv (d, k) }"""

#: Three layers, each with its input in a product and in the sum at its end.
BLOCKS = f"""(float[N,S,8] x) => (float[N,S,8] y) <{WEIGHTS}> {{
  "/l.0/in/MatMul" = MatMul (x, w) "/l.0/act/Relu" = Relu ("/l.0/in/MatMul") "/l.0/out/MatMul" = MatMul ("/l.0/act/Relu", u) "/l.0/out/Add" = Add ("/l.0/out/MatMul", x)
  "/l.1/in/MatMul" = MatMul ("/l.0/out/Add", w) "/l.1/act/Relu" = Relu ("/l.1/in/MatMul") "/l.1/out/MatMul" = MatMul ("/l.1/act/Relu", u) "/l.1/out/Add" = Add ("/l.1/out/MatMul", "/l.0/out/Add")
  z = Neg ("/l.1/out/Add") y = Add (z, x) }}"""

#: A sound graph, what is replaced in it, and by what.
RESTORED = [
    ("the input of a layer in the sum at its end", BLOCKS, 'Add ("/l.1/out/MatMul", "/l.0/out/Add")', 'Add ("/l.1/out/MatMul")'),
    ("a Transpose of pads that is missing", PADS, "t = Transpose <perm = [1,0]> (v) f = Reshape (t, flat)", "f = Reshape (v, flat)"),
    ("a Transpose of pads that changes nothing", PADS, "Transpose <perm = [1,0]> (v)", "Transpose <perm = [0,1]> (v)"),
    ("a second Transpose of pads", PADS, "t = Transpose <perm = [1,0]> (v)", "w = Transpose <perm = [1,0]> (v) t = Transpose <perm = [1,0]> (w)"),
    ("an input that several users of a value have", layers(), "d5 = MatMul (b5, p)", "d5 = MatMul (e4, p)"),
    ("an index that is out of range", layers(), "i5 = {1}", "i5 = {5}"),
    ("an input of another layer in a cycle", layers(), "f5 = Add (m5, d5)", "f5 = Add (e5, d5)"),
    ("a shared input in a cycle", layers(), "m5 = Add (r5, k)", "m5 = Add (r5, e5)"),
    ("a lost first input that other nodes use", layers(), "d5 = MatMul (b5, p)", "d5 = MatMul (p)"),
    ("a lost last input that other nodes use", layers(), "m5 = Add (r5, k)", "m5 = Add (r5)"),
    ("a constant that other nodes of the operator have", "(float[N,S] x) => (int64[N] a, int64[S] b, int64[N] c) <int64 i = {0}, int64 j = {1}> { s = Shape (x) n = Gather (s, i) t = Gather (s, j) a = Range (i, n, j) b = Range (i, t, j) c = Range (i, n, j) }", "b = Range (i, t, j)", "b = Range (t, j)"),
    ("the start of a range", "(float[N,S] x) => (float[N,S] y) <int64 o = {0}, int64 j = {1}> { s = Shape (x) t = Gather (s, j) r = Range (o, t, j) c = Cast <to = 1> (r) y = Add (x, c) }", "o = {0}", "o = {1}"),
    ("a Transpose whose result is declared", "(float[N,S,4] x, float[S,N,4] k) => (float[S,N,4] y) <float[N,S,4] r, float[S,N,4] t> { r = Neg (x) t = Transpose <perm = [1,0,2]> (r) y = Add (t, k) }", "t = Transpose <perm = [1,0,2]> (r) y = Add (t, k)", "y = Add (r, k)"),
    ("an end of a slice that is also an entry of a target, where values are declared", "(float[N,3,4] x) => (float[N,4] y, float[N,1,4] v, float[N,1,4] w) <int64[1] b = {-1}, int64[1] c = {-1}, int64[1] m = {-1}, int64[1] e = {9223372036854775807}, int64[1] a = {1}, int64[1] f = {4}, float[N,1,4] l, float[N,1,4] r, float[N,1,4] g> { l = Slice (x, m, e, a) r = Relu (l) g = Neg (r) t = Concat <axis = 0> (m, f) y = Reshape (g, t) v = Slice (x, b, e, a) w = Slice (x, c, e, a) }", "m = {-1}", "m = {-2}"),
    ("an axis of a new size, where each gives the same result", "(float[N,S] x) => (float[1,1,N,S] y) <int64[1] a = {3}, int64[1] j = {1}, int64[3] r = {1,1,1}> { s = Shape (x) g = Gather (s, j) c = Cast <to = 1> (g) b = Reshape (c, r) u = Unsqueeze (b, a) y = Mul (x, u) }", "a = {3}", "a = {4}"),
    ("a Transpose that three nodes use", "(float[N,S,8] x, float[N,S,8] z) => (float[N,2,S,4] y, float[N,2,S,4] v) <int64[4] t = {0,0,2,4}> { a = Reshape (x, t) b = Transpose <perm = [0,2,1,3]> (a) c = Neg (b) d = Add (c, b) y = Softmax (d) e = Reshape (z, t) f = Transpose <perm = [0,2,1,3]> (e) g = Neg (f) h = Add (g, f) k = Softmax (h) v = Add (k, y) }", "f = Transpose <perm = [0,2,1,3]> (e) g = Neg (f) h = Add (g, f)", "g = Neg (e) h = Add (g, e)"),
    ("a node that is listed twice", "(float[N,S] x) => (float[N,S] y) { s = Shape (x) c = ConstantOfShape <value = float[1] {2}> (s) y = Add (x, c) }", "c = ConstantOfShape <value = float[1] {2}> (s)", "c = ConstantOfShape <value = float[1] {2}> (s) c = ConstantOfShape <value = float[1] {2}> (s)"),
    ("an operator in another case", "(float[N,S] x) => (float[N,S] y) { a = Exp (x) y = Relu (a) }", "Relu", "ReLU"),
    ("a short operator in another case", "(float[N,S] x) => (float[N,S] y) { a = Exp (x) y = Add (a, x) }", "Add", "ADD"),
    ("the element type of the other inputs of a series", CACHE, "float[N,2,S,4] past_0_v", "int64[N,2,S,4] past_0_v"),
    ("the channels of an image, where a table limits its size", VISION, "float[N,3,H,W] x", "float[N,H,W] x"),
    ("the batch of tokens, where values are declared", DECLARED, "int64[N,S] ids", "int64[S] ids"),
    ("an axis of size 1 too many, where values are declared", DECLARED, "int64[N,S] ids", "int64[N,1,S] ids"),
    ("a doubled digit in a name", "(float[N,S] x) => (float[N,S] y) { val_6 = Exp (x) val_7 = Neg (x) val_8 = Add (val_6, val_7) val_9 = Exp (val_8) y = Add (val_9, val_7) }", "Add (val_9, val_7)", "Add (val_9, val_77)"),
    ("a prefix that no other name has", '(float[N,S] x) => (float[N,S] y) { add_1 = Add (x, x) add_2 = Add (add_1, x) y = Add (add_2, "add_1") }', 'Add (add_2, "add_1")', 'Add (add_2, "model.add_1")'),
    ("weights whose number lacks a digit", '(float[N,3,H] x) => (float[N,3,H] y) <float[3,3,1] "onnx::Conv_197" = {1,2,3,4,5,6,7,8,9}, float[3] "onnx::Conv_198" = {1,2,3}> { y = Conv (x, "onnx::Conv_197", "onnx::Conv_198") }', '"onnx::Conv_197" = {1', '"onnx::Conv_17" = {1'),
]  # fmt: skip


@pytest.mark.oracle
@pytest.mark.parametrize(("what", "text", "old", "new"), RESTORED)
def test_restored(what: str, text: str, old: str, new: str) -> None:
    assert_restored(text, old, new)


#: A graph that more than one edit may fix.
UNTOUCHED = [
    ("an output, beside an unused constant of its shape", "(float[N,3] x) => (float[N,3] probabilities, int64[N] label) { a = Exp (x) s = Shape (x) zero = ConstantOfShape (s) b = Neg (a) c = Relu (b) label = ArgMax <axis = 1, keepdims = 0> (c) }"),
    ("an index out of range, where others are negative", "(float[N,4,S,8] x, float[N,4,8,S] z) => (int64 a, int64 b, int64 c) <int64 i = {-1}, int64 j = {-1}, int64 k = {4}> { s = Shape (x) t = Shape (z) u = Shape (x) a = Gather (s, i) b = Gather (t, j) c = Gather (u, k) }"),
    ("the last value of a series, which is missing", "(float[N,S] x) => (float[N,S] y) { val_30 = Exp (x) val_298 = Neg (val_30) val_299 = Exp (val_298) y = Add (val_300, val_30) z = Neg (val_299) }"),
    ("a missing value in a scope that others have", '(float[N,S] x) => (float[N,S] y) { "model.add" = Add (x, x) "mul" = Mul ("model.add", x) y = Add ("mul", "model.mul") }'),
    ("a lost node of several outputs", "(float[2,3] x) => (float[2,2] y) <uint8[3,2] w = {1,2,3,4,5,6}, float k = {0.5}> { r = Relu (x) m = MatMulInteger (r_quantized, w, r_zero_point) c = Cast <to = 1> (m) s = Mul (r_scale, k) y = Mul (c, s) }"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text"), UNTOUCHED)
def test_untouched(what: str, text: str) -> None:
    data = model_of(text).SerializeToString()
    assert [each for each in irlint.check(data).findings if each.severity.value != "note"]
    edits = irlint.fix(data, unsafe=True).edits
    assert not [each for each in edits if each.kind in ("input", "constant") or each.of == "value"]
