"""Errors in bodies: the size of the model's input that fits, and what follows from an error in a branch. ONNX Runtime
is asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
from onnx import ModelProto

import irlint

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
SQUEEZED = """v = Conv <strides = [64]> (x, k) s = Shape (v) g = Gather (s, i) c = Equal (g, one)
  q = If (c) <then_branch = t () => (float[a,b] p) { p = Squeeze (v, two) }, else_branch = e () => (float[d,e,f] r) { r = Identity (v) }>
  y = Transpose <perm = [1,0]> (q)"""
NESTED = f"""h = Equal (rate, n) y = If (h) <then_branch = tt () => (float[m,n] yy) {{ {SQUEEZED.replace("y =", "yy =")} }},
  else_branch = ff () => (float[m,n] zz) {{ w = Conv <strides = [64]> (x, k) z = Squeeze (w, two) zz = Transpose <perm = [1,0]> (z) }}>"""

#: A graph, in which ~ is the size of the last axis of its input: a wrong one, one that fits, the numbers of errors that
#: follow from none, and of all errors.
SIZED = [
    ("(bool b, float[4,2,~] x) => (float[4,2] y) { y = If (b) <then_branch = t () => (float[a,b] p) { p = Squeeze (x, two) }, else_branch = e () => (float[d,e] r) { r = ReduceMean <axes = [2], keepdims = 0> (x) }> }", 3, 1, (1, 1)),
    ("(bool b, float[4,2,~] x) => (float[4,2] y) { y = If (b) <then_branch = t () => (float[a,b] p) { r = ReduceMax <axes = [2], keepdims = 1> (x) u = Concat <axis = 2> (x, r) w = Squeeze (u, two) p = Relu (w) }, else_branch = e () => (float[d,e] r) { r = ReduceMean <axes = [2], keepdims = 0> (x) }> }", 3, None, (1, 1)),
    (f"(float[1,1,~] x) => (float[4,1] y) {{ {SQUEEZED} }}", 256, 127, (1, 2)),
    (f"(float[1,1,~] x, int64 rate) => (float[4,1] y) {{ {NESTED} }}", 256, 127, (1, 3)),
]  # fmt: skip


def model_of(text: str, size: int) -> ModelProto:
    constants = "<int64[1] two = {2}, int64 one = {1}, int64 i = {2}, int64 n = {16000}>"
    model = onnx.parser.parse_model(f"{HEAD}g {text.replace('~', str(size)).replace('{', constants + ' {', 1)}")
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((4, 1, 64), "float32"), "k"))
    return model


def ran(model: ModelProto) -> Any:
    import onnxruntime

    feeds = {}
    for each in model.graph.input:
        shape = [dim.dim_value for dim in each.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(each.type.tensor_type.elem_type)
        feeds[each.name] = np.full(shape, 16000 if each.name == "rate" else 1, dtype)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


@pytest.mark.oracle
@pytest.mark.parametrize(("text", "wrong", "right", "counts"), SIZED)
def test_the_size_of_an_input_that_fits_a_body(
    text: str, wrong: int, right: int | None, counts: tuple[int, int]
) -> None:
    with pytest.raises(Exception, match=r"[Ss]queeze"):
        ran(model_of(text, wrong))
    found = [each for each in irlint.check(model_of(text, wrong)).findings if each.severity.value == "error"]
    roots = [each for each in found if not each.because]
    assert (len(roots), len(found)) == counts
    assert all(each.rule.code == "IRL332" and each.graph and each.fix is None for each in roots)
    if right is None:
        assert not roots[0].suggestion
        return
    also = f"; this also fixes {len(found) - 1} more" if len(found) > 1 else ""
    assert {each.suggestion for each in roots} == {f"change {wrong} to {right} on axis 2 of input `x`{also}"}
    assert not [each for each in irlint.check(model_of(text, right)).findings if each.severity.value != "note"]
    ran(model_of(text, right))


#: A model whose loop runs once more than its input has rows.
ONCE_MORE = """(float[~,4] x) => (float[?,4] y) <int64 zero = {0}, int64 one = {1}, bool d = {1}> {
  s = Shape (x) n = Gather (s, zero) m = Add (n, one)
  y = Loop (m, d) <body = b (int64 i, bool c) => (bool e, float[4] o) {
    e = Identity (c) r = Gather <axis = 0> (x, i) o = Relu (r) }> }"""


@pytest.mark.oracle
@pytest.mark.parametrize("rows", ["7", "S"])
def test_a_trip_count_that_is_one_too_large(rows: str) -> None:
    import onnxruntime

    model = onnx.parser.parse_model(f"{HEAD}g {ONCE_MORE.replace('~', rows)}")
    feed = {"x": np.ones((7, 4), "float32")}
    session = onnxruntime.InferenceSession(model.SerializeToString())
    with pytest.raises(Exception, match="out of data bounds"):
        session.run(None, feed)
    (found,) = [each for each in irlint.check(model).findings if each.severity.value == "error"]
    assert found.suggestion == "connect `n`, without the Add, as input 0 in Loop[3]"
    (y,) = onnxruntime.InferenceSession(irlint.fix(model, unsafe=True).data).run(None, feed)
    assert y.shape == (7, 4)


#: A sound graph with a body, what of its text is replaced by what, the suggestion, and the opset if it is not 17.
BROKEN = """
(float[N,8] x, bool c) => (float[N,4] y) { y = If (c) <then_branch = t () => (float[N,4] p) { p = Gemm <transB = 1> (x, w) }, else_branch = e () => (float[N,4] q) { q = MatMul (x, v) }> } | transB = 1 > transB = 0 | set `transB = 1`
(float[S,N,8] x, float[N,4] h) => (float[N,4] y, float[S,N,4] z) { y, z = Scan <num_scan_inputs = 1, body = b (float[N,4] a, float[N,8] i) => (float[N,4] d, float[N,4] o) { j = Concat <axis = 1> (i, a) d = MatMul (j, u) o = Identity (d) }> (h, x) } | axis = 1 > axis = 0 | set `axis = 1`
(float[S,N,8] x, float[N,2] h) => (float[N,2] y, float[S,N,2] z) { y, z = Scan <num_scan_inputs = 1, body = b (float[N,2] a, float[N,8] i) => (float[N,2] d, float[N,2] o) { j = Slice <axes = [1], starts = [4], ends = [6]> (i) k = Slice <axes = [1], starts = [0], ends = [2]> (i) l = Slice <axes = [1], starts = [2], ends = [4]> (i) m = Slice <axes = [1], starts = [6], ends = [8]> (i) n = Mul (j, a) q = Mul (k, l) d = Mul (n, q) o = Identity (m) }> (h, x) } | ends = [6] > ends = [8] | set `ends = [6]` in Slice[0] | 9
(float[S,N,8] x, float[N,4] h) => (float[N,4] y, float[S,N,4] z) { y, z = Scan <num_scan_inputs = 1, body = b (float[N,4] a, float[N,8] i) => (float[N,4] d, float[N,4] o) { j = Gemm <transB = 1> (i, w) k = Gemm <transB = 1> (a, r) d = Add (j, k) o = Identity (d) }> (h, x) } | (i, w) k = Gemm <transB = 1> (a, r) > (i, r) k = Gemm <transB = 1> (a, w) | swap input 1, `r`, with input 1 of Gemm[1], `w`
(float[5,2,8] x, float[2,4] h) => (float[2,4] y) <int64 z = {0}, bool t = {1}> { s = Shape (x) n = Gather (s, z) y = Loop (n, t, h) <body = b (int64 i, bool c, float[?,?] a) => (bool e, float[?,?] o) { e = Identity (c) g = Gather <axis = 0> (x, i) j = Concat <axis = 1> (g, a) o = MatMul (j, u) }> } | <axis = 0> (x > <axis = 1> (x | set `axis = 0`
(float[5,2,8] x) => (float[?,?] y) <int64 z = {0}, int64[2] k = {2,4}, bool t = {1}> { s = Shape (x) n = Gather (s, z) h = ConstantOfShape (k) y = Loop (n, t, h) <body = b (int64 i, bool c, float[?,?] a) => (bool e, float[?,?] o) { e = Identity (c) g = Gather <axis = 0> (x, i) j = Concat <axis = 1> (g, a) o = MatMul (j, u) }> } | {2,4} > {2,6} | change 6 to 4 in constant `k` (entry 1)
(float[3,S,8] x) => (float[?,?] y) <int64 z = {1}, int64[2] k = {3,4}, bool t = {1}> { s = Shape (x) n = Gather (s, z) h = ConstantOfShape (k) y = Loop (n, t, h) <body = b (int64 i, bool c, float[?,?] a) => (bool e, float[?,?] o) { e = Identity (c) g = Gather <axis = 1> (x, i) j = Concat <axis = 1> (g, a) o = MatMul (j, u) }> } | {3,4} > {3,6} | change 6 to 4 in constant `k` (entry 1)
(float[5,2,8] x) => (float[?,?] y, float[?,?] yy) <int64 z = {0}, int64[2] k = {2,4}, int64[2] l = {2,4}, bool t = {1}> { s = Shape (x) n = Gather (s, z) h = ConstantOfShape (k) q = ConstantOfShape (l) y, yy = Loop (n, t, h, q) <body = b (int64 i, bool c, float[?,?] a, float[?,?] d) => (bool e, float[?,?] o, float[?,?] p) { e = Identity (c) g = Gather <axis = 0> (x, i) j = Concat <axis = 1> (g, a) m = MatMul (j, u) o = Tanh (m) p = Add (o, d) }> } | k = {2,4}, int64[2] l = {2,4} > k = {2,6}, int64[2] l = {2,6} | change 6 to 4 in constant `k` (entry 1), and likewise in `l`
""".strip().splitlines()

WEIGHTS = {"w": (4, 8), "v": (8, 4), "u": (12, 4), "r": (4, 4)}


@pytest.mark.oracle
@pytest.mark.parametrize("line", BROKEN)
def test_a_body_is_restored(line: str) -> None:
    import onnxruntime

    text, change, expected, *opsets = (part.strip() for part in line.split(" | "))
    head = HEAD.replace("17", *opsets) if opsets else HEAD
    before, _, after = change.partition(" > ")
    assert before in text

    def model_of(text: str) -> ModelProto:
        model = onnx.parser.parse_model(f"{head}g {text}")
        stored = {name: np.arange(np.prod(shape), dtype="float32").reshape(shape) for name, shape in WEIGHTS.items()}
        used = [each for each in stored if f"{each})" in text or f" {each}," in text]
        model.graph.initializer.extend(onnx.numpy_helper.from_array(stored[each], each) for each in used)
        return model

    rng = np.random.default_rng(0)
    feed = {
        each.name: np.ones((), bool)
        if each.name == "c"
        else rng.random([dim.dim_value or 3 for dim in each.type.tensor_type.shape.dim], dtype="float32")
        for each in model_of(text).graph.input
    }

    def outputs(data: bytes) -> list[Any]:
        return onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, feed)

    wanted, broken = outputs(model_of(text).SerializeToString()), model_of(text.replace(before, after))
    with pytest.raises(Exception, match=r"."):
        outputs(broken.SerializeToString())
    (root,) = [each for each in irlint.check(broken, ignore=["IRL9"]).findings if not each.because]
    assert root.suggestion.partition(";")[0] == expected
    found = outputs(irlint.fix(broken.SerializeToString(), unsafe=True).data)
    assert all(np.array_equal(one, other) for one, other in zip(found, wanted, strict=True))


CELL = """body = b (float[B,6] g, float[B,4] t) => (float[B,6] o, float[B,6] p) {
  c = Concat <axis = 1> (g, t) z = MatMul (c, w) o = Tanh (z) p = Identity (o) }"""
PAIR = """body = b (float[B,4] g, float[B,4] t, float[B,4] m) => (float[B,4] o, float[B,4] p) {
  a = Mul (t, m) o = Add (g, a) p = Identity (o) }"""

#: Inputs and a Scan that takes them after a Transpose, the attribute in place of this Transpose, and the suggestion.
SCANS = [
    ("float[4,20,4] x, float[4,6] h", f"num_scan_inputs = 1, {CELL}", "[1]", "set `scan_input_axes = [1]` in Scan[0]"),
    ("float[20,4,4] x, float[4,6] h", f"num_scan_inputs = 1, {CELL}", "[0]", ""),
    ("float[N,20,4] x, float[N,6] h", f"num_scan_inputs = 1, {CELL}", "[1]", "set `scan_input_axes = [1]` in Scan[0]"),
    ("float[N,T,4] x, float[N,6] h", f"num_scan_inputs = 1, {CELL}", "[1]", "set `scan_input_axes = [1]` in Scan[0]"),
    ("float[4,4,20] x, float[4,6] h", f"num_scan_inputs = 1, {CELL}", "[2]", "set `scan_input_axes = [2]`"),
    (
        "float[5,20,4] x, float[5,4] h, float[5,20,4] k",
        f"num_scan_inputs = 2, {PAIR}",
        "[1,1]",
        "set `scan_input_axes = [1, 1]` in Scan[0]",
    ),
]


@pytest.mark.oracle
@pytest.mark.parametrize(("inputs", "scan", "axes", "expected"), SCANS)
def test_a_scan_along_another_axis(inputs: str, scan: str, axes: str, expected: str) -> None:
    import onnxruntime

    names = "h, x, k" if "k" in inputs else "h, x"
    weights = ", ".join(["0.5"] * 60)
    head, nodes = (
        f"g ({inputs}) => (float[?,?,?] y, float[?,?] u) <float[10,6] w = {{{weights}}}>",
        f"({names}) y = Relu (v)",
    )
    texts = [f"{HEAD}{head} {{ u, v = Scan <{each}{scan}> {nodes} }}" for each in ("", f"scan_input_axes = {axes}, ")]
    wrong, right = map(onnx.parser.parse_model, texts)

    def run(model: ModelProto) -> None:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        given = {"N": 3, "T": 7}
        shapes = {each.name: [given.get(dim, dim) for dim in each.shape] for each in session.get_inputs()}
        session.run(None, {name: np.ones(shape, "float32") for name, shape in shapes.items()})

    run(right)
    found = [each for each in irlint.check(wrong, ignore=["IRL9", "IRL118"]).findings if not each.because]
    assert [(each.suggestion, each.fix) for each in found] == ([(expected, None)] if expected else [])
    if expected:
        with pytest.raises(Exception, match=r"[Ss]hape|[Dd]imension"):
            run(wrong)
