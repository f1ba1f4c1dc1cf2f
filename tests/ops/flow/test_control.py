"""If, Loop, Scan and SequenceMap of ONNX against its node tests and ONNX Runtime; what one of two values is."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.parser
import pytest
from oracles.engines import irlint_on_onnx, onnxruntime_verdict

import irlint
from irlint.dims import symbol
from irlint.inference.walk import inferred
from irlint.model.tensor import UNKNOWN, Optional, Tensor
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops.shared.carrying import joined, without_symbols
from irlint.parsers import onnx as onnx_parser

N, M = symbol("N"), symbol("M")


# --- what is one of two -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [
        (Tensor("int64", (2, N), None), Tensor("int64", (2, N), None), Tensor("int64", (2, N))),
        (Tensor("int64", (2, N)), Tensor("int64", (2, M)), Tensor("int64", (2, None))),
        (Tensor("int64", (2,)), Tensor("int64", (2, 1)), Tensor("int64")),
        (Tensor("int64", (2,)), Tensor("int32", (2,)), Tensor(None, (2,))),
        (Tensor("int64", (2,), (1, N)), Tensor("int64", (2,), (1, M)), Tensor("int64", (2,), (1, None))),
        (Tensor("int64", (1,), (1,)), Tensor("int64", (1,), (2,)), Tensor("int64", (1,))),
        (SequenceType(None, 0), SequenceType(Tensor("int64", (N,)), 1), SequenceType(Tensor("int64", (N,)))),
        (SequenceType(Tensor("int"
            "64", (2,)), 1), SequenceType(Tensor("int64", (3,)), 1), SequenceType(Tensor("int64", (None,)), 1)),
        (Optional(Tensor("int64", ()), True), Optional(Tensor("int64", ()), False), Optional(Tensor("int64", ()))),
        (Tensor("int64", ()), SequenceType(), UNKNOWN),
    ],
)  # fmt: skip
def test_joined(a: Any, b: Any, result: Any) -> None:
    assert joined(a, b) == result


def test_outside() -> None:
    assert without_symbols(Tensor("int64", (N, M + 1), (2, N)), frozenset({"N"})) == Tensor(
        "int64", (None, M + 1), (2, None)
    )


# --- ONNX -------------------------------------------------------------------------------------------------------------


def model(text: str, opset: int = 16) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')


IF = """g ({c} c, float[2,3] x, {y} y) => (float{out} z) {{
  z = If (c) <then_branch = t ({t_in}) => (float a{more}) {{ a = Identity (x) {extra} }}, else_branch = e () => ({b} b) {{ b = {op} (y) }}>
}}"""


def if_model(opset: int = 16, **words: str) -> onnx.ModelProto:
    plain = {
        "c": "bool",
        "y": "float[2,3]",
        "out": "[A,B]",
        "t_in": "",
        "more": "",
        "extra": "",
        "b": "float",
        "op": "Identity",
    }
    return model(IF.format(**(plain | words)), opset)


LOOP = """g (float[1,2] x{inputs}) => (float[A,B] y{outs}) <{m} m> {{
  y{names} = Loop ({call}) <body = b ({i} i, bool c, {a_in} a{b_in}) => ({co} co, {a_out} ao{b_out}) {{
    co = {cond} ao = {step} {extra} }}>
}}"""


def loop_model(**words: str) -> onnx.ModelProto:
    plain = {
        "inputs": "", "outs": "", "m": "int64 m "
            "= {3}", "names": "", "call": "m, , x", "i": "int64", "a_in": "float[1,2]",
        "b_in": "", "co": "bool", "a_out": "float[1,2]", "b_out": "", "cond": "Identity"
            " (c)", "step": "Identity (a)", "extra": "",
    }  # fmt: skip
    words = plain | words
    text = LOOP.replace("<{m} m>", "<{m}>").format(**words)
    return model(text)


STACK = {"outs": ", float[L,A,B] s", "names": ", s", "b_out": ", float[A,B] so"}

SCAN = """g (float[2] s, {x} x{inputs}) => (float[A] f, float[B,C] o) {{
  f, o = Scan <num_scan_inputs = {n}{attributes}, body = b (float[2] a, float[2] xi{b_in}) => (float{state} ao, float[2] so) {{ ao = {step} so = Identity (xi) }}> (s, x{call})
}}"""


def scan_model(**words: str) -> onnx.ModelProto:
    plain = {
        "x": "float[5,2]",
        "inputs": "",
        "n": "1",
        "attributes": "",
        "b_in": "",
        "state": "[2]",
        "step": "Add (a, xi)",
        "call": "",
    }
    return model(SCAN.format(**(plain | words)))


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("built", "expected"),
    [
        (if_model(y="float[2,4]"), [(2, None)]),
        (if_model(), [(2, 3)]),
        (if_model(1), [(2, 3)]),
        (if_model(1, y="float[2,4]"), [(2, None)]),
        (if_model(1, y="float[2]"), [(None, None)]),
        (loop_model(), [(1, 2)]),
        (loop_model(step="Concat <axis = 0> (a, a)", a_out="float[R,2]"), [(8, 2)]),
        (loop_model(**STACK, extra="so = Identity (x)"), [(1, 2), (3, 1, 2)]),
        (loop_model(**STACK, extra="so = Identity (x)", m="int64[1] m = {7}", i="int64[1]"), [(1, 2), (7, 1, 2)]),
        (loop_model(**STACK, extra="so = Identity (x)", m="int64 m = {-3}"), [(1, 2), (0, 1, 2)]),
        (loop_model(**STACK, extra="so = Identity (x)", cond="Not (c)"), [(1, 2), (1, 1, 2)]),
        (loop_model(**STACK, extra="so = Identity (x)", call=", , x"), [(1, 2), (None, 1, 2)]),
        (scan_model(), [(2,), (5, 2)]),
        (scan_model(x="float[2,5]", attributes=", scan_input_axes = [-1], scan_output_axes = [1]"), [(2,), (2, 5)]),
    ],
)
def test_onnx_shapes(built: onnx.ModelProto, expected: list[Any]) -> None:
    ours = irlint_on_onnx(built)
    assert [shape for _, shape in ours] == expected
    theirs = onnxruntime_verdict(built)
    assert not isinstance(theirs, str)


@pytest.mark.parametrize(
    ("built", "code"),
    [
        (if_model(c="bool[2]"), "IRL392"),
        (if_model(t_in="float i"), "IRL390"),
        (if_model(more=", float q", extra="q = Relu (x)"), "IRL390"),
        (if_model(y="double[2,3]", b="double"), "IRL391"),
        (if_model(op="Sigmoid", y="int32[2,3]", b="int32"), "IRL401"),
        (loop_model(a_out="double[1,2]", step="Cast <to = 11> (a)"), "IRL393"),
        (loop_model(a_in="double[1,2]", a_out="double[1,2]"), "IRL391"),
        (loop_model(i="int32"), "IRL391"),
        (loop_model(cond="Cast <to = 1> (c)", co="float"), "IRL392"),
        (loop_model(m="int64[2] m = {3, 4}"), "IRL392"),
        (loop_model(m="int32 m = {3}"), "IRL401"),
        (loop_model(b_out=", float[1,2] so", extra="so = Identity (x)"), "IRL390"),
        (loop_model(b_in=", float[1,2] z"), "IRL390"),
        (scan_model(state="[1]", step="ReduceSum (a)"), "IRL393"),
        (scan_model(x="float[2,5]", attributes=", scan_input_axes = [2]"), "IRL300"),
        (scan_model(attributes=", scan_input_axes = [0, 0]"), "IRL390"),
        (scan_model(attributes=", scan_output_axes = [2]"), "IRL300"),
        (scan_model(attributes=", scan_input_directions = [2]"), "IRL510"),
        (scan_model(n="0"), "IRL390"),
        (scan_model(n="3"), "IRL390"),
        (scan_model(inputs=", float[4,2] y", b_in=", float[2] yi", call=", y", n="2"), "IRL394"),
    ],
)  # fmt: skip
def test_onnx_faults(built: onnx.ModelProto, code: str) -> None:
    ours = irlint_on_onnx(built)
    assert isinstance(ours, str)
    assert ours[:6] == code, ours
    assert built.graph.node


def test_the_branch_that_runs_decides() -> None:
    text = """g (float[2,3] x) => (float[A,B] z) <int64 zero = {0}, int64 one = {1}> {
      s = Shape (x) d = Gather (s, zero) c = Equal (d, one)
      z = If (c) <then_branch = t () => (float[P] a) { a = ReduceSum <keepdims = 0> (x, ax) }, else_branch = e () => (float[P,Q] b) { b = Identity (x) }>
    }"""
    text = text.replace("int64 one = {1}>", "int64 one = {1}, int64[1] ax = {0}>")
    assert irlint_on_onnx(model(text)) == [("float32", (2, 3))]


def test_sizes_that_a_loop_changes_stay_inside() -> None:
    text = """g (float[N,2] x, int64 m) => (float[A,B] y, float[C,D,E] s) {
      y, s = Loop (m, , x) <body = b (int64 i, bool c, float[P,2] a) => (bool co, float[Q,2] ao, float[R,2] so) {
        co = Identity (c) ao = Concat <axis = 0> (a, x) so = Identity (x) }>
    }"""
    built = onnx_parser.read("model.onnx", model(text).SerializeToString())
    known = inferred(built)
    assert not known.problems
    assert built.graph is not None
    grown, stack = (known.types[value] for value in built.graph.outputs)
    assert grown == Tensor("float32", (symbol("A", by_data=True), 2))
    assert stack == Tensor("float32", (symbol("C", by_data=True), N, 2))


def test_trip_count_of_a_shape() -> None:
    text = """g (float[N,2] x) => (float[C] s) <int64 zero = {0}> {
      d = Shape (x) m = Gather (d, zero)
      s = Loop (m, ) <body = b (int64 i, bool c) => (bool co, float so) { co = Identity (c) so = Constant <value_float = 1.0> () }>
    }"""
    built = onnx_parser.read(
        "model.onnx",
        model(
            text.replace("(m, )", "(m, t)").replace("d = Shape", "t = Constant <value = bool {1}> () d = Shape")
        ).SerializeToString(),
    )
    known = inferred(built)
    assert built.graph is not None
    assert known.types[built.graph.outputs[0]] == Tensor("float32", (N,))


COUNTING = """g (float[N,2] x, int64 free) => (int64 last, float[C] s) <int64 zero = {{0}}, int64 one = {{1}}, int64 k = {{{first}}}> {{
  d = Shape (x) n = Gather (d, zero) t = Less (zero, {start})
  last, s = Loop (n, t, k) <body = b (int64 i, bool c, int64 a) => (bool co, int64 ao, float so) {{
    step = Constant <value_int = {step}> () ao = Add (a, step) f = Cast <to = 1> (ao) e = Cast <to = 1> ({end})
    q = Less (f, e) r = Less (i, n) co = And (q, r) so = Constant <value_float = 1.0> () }}>
}}"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("first", "step", "start", "end", "trips"),
    [
        (0, 1, "n", "n", "N"),
        (-3, 1, "n", "n", "N"),
        (0, 0, "n", "n", "N"),
        (0, -1, "n", "n", None),
        (1, 1, "n", "n", None),
        (0, 2, "n", "n", None),
        (0, 1, "free", "n", None),
        (0, 1, "n", "free", None),
    ],
)
def test_a_loop_that_counts_up_to_its_trip_count(
    first: int, step: int, start: str, end: str, trips: str | None
) -> None:
    import onnxruntime

    written = model(COUNTING.format(first=first, step=step, start=start, end=end))
    built = onnx_parser.read("model.onnx", written.SerializeToString())
    known = inferred(built)
    assert not known.problems
    assert built.graph is not None
    found = known.types[built.graph.outputs[1]]
    assert isinstance(found, Tensor)
    assert found.shape == (symbol("N") if trips else symbol("C", by_data=True),)
    session = onnxruntime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
    ran = [
        len(session.run(None, {"x": np.zeros((size, 2), np.float32), "free": np.array(3)})[1]) for size in range(1, 9)
    ]
    assert trips is None or ran == list(range(1, 9))


def test_deeply_nested_loops_end() -> None:
    body = "co = Identity (c) ao = Concat <axis = 0> (a, a)"
    for level in range(12):
        inner = f"b{level} (int64 i, bool c, float[P,2] a) => (bool co, float[Q,2] ao) {{ {body} }}"
        body = f"co = Identity (c) ao = Loop (m, , a) <body = {inner}>"
    text = f"g (float[1,2] a, bool c, int64 m) => (float[A,B] ao, bool co) {{ {body} }}"
    assert not isinstance(irlint_on_onnx(model(text)), str)


CARRIED = """g ({n}float[1,{rows}] x) => (float[a,b] y) <{trips}bool c = {{{go}}}, float[3,4] w = {{1,1,1,1,1,1,1,1,1,1,1,1}}, float[1,1] one = {{1}}> {{
  y = Loop (n, c, x) <body = b (int64 i, bool d, float[p,q] s) => (bool e, float[r,t] o) {{ e = Identity ({after}) {body} }}> }}"""


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("trips", "go", "after", "body", "severity"),
    [
        ("3", 1, "d", "o = MatMul (s, w)", "error"),
        ("1", 1, "d", "o = MatMul (s, w)", None),
        ("0", 1, "d", "o = MatMul (s, w)", None),
        ("3", 0, "d", "o = MatMul (s, w)", None),
        ("input", 1, "d", "o = MatMul (s, w)", "warning"),
        ("3", 1, "k", "j = ReduceSum <keepdims = 0> (s) h = Cast <to = 7> (j) v = Less (h, i) k = Identity (v) o = MatMul (s, w)", None),
        ("3", 1, "d", "o = Concat <axis = 1> (s, one)", None),
        ("input", 1, "d", "o = Concat <axis = 1> (s, one)", None),
        ("3", 1, "d", "u = Neg (s) v = MatMul (u, w) o = Relu (v)", "error"),
    ],
)  # fmt: skip
def test_the_second_iteration(trips: str, go: int, after: str, body: str, severity: str | None) -> None:
    """What the first iteration returns may not fit the second one, if there is one."""
    import onnxruntime

    given = ("int64 n, ", "") if trips == "input" else ("", f"int64 n = {{{trips}}}, ")
    nodes = body if after == "d" else body.replace(" o =", f" e = Identity ({after}) o =")
    text = CARRIED.format(n=given[0], trips=given[1], rows=3, go=go, after=after, body=body)
    text = text if after == "d" else text.replace("e = Identity (k) ", "").replace(body, nodes)
    found = [each for each in irlint.check(model(text)).findings if each.severity.value != "note"]
    assert [(each.rule.code, each.severity.value) for each in found] == [("IRL320", severity)] * (severity is not None)
    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model(text).SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {"x": np.ones((1, 3), np.float32)} | ({"n": np.array(2)} if trips == "input" else {})
    if severity is None:
        session.run(None, feeds)
    else:
        with pytest.raises(Exception, match="MatMul"):
            session.run(None, feeds)
