"""If, Loop, Scan, SequenceMap, TensorIterator and variables against ONNX's node tests, ONNX Runtime and OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
from oracles.engines import irlint_on_ir, irlint_on_onnx, onnxruntime_verdict, openvino_verdict
from oracles.openvino_worker import compiles

from irlint.dims import symbol
from irlint.inference.walk import inferred
from irlint.model.tensor import UNKNOWN, Optional, Tensor
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops.shared.carrying import joined, outside
from irlint.ops.shared.port_maps import iterations
from irlint.parsers import onnx as onnx_parser
from irlint.parsers.openvino.types import PortMapEntry

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
    assert outside(Tensor("int64", (N, M + 1), (2, N)), frozenset({"N"})) == Tensor("int64", (None, M + 1), (2, None))


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


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

NUMBERS = np.array([3, -1, 0, 2**63 - 1], np.int64).tobytes()
FLAGS = bytes([1, 0, 0, 0, 0, 0, 0, 0])
WEIGHTS = NUMBERS + FLAGS + np.arange(16, dtype=np.float32).tobytes()
TRUE, FALSE, FLOATS = 32, 33, 40
PRECISIONS = {"f32": "FP32", "f16": "FP16", "i64": "I64", "boolean": "BOOL"}


def parameter(id: int, kind: str, shape: str) -> str:
    return layer(id, "Parameter", 0, 1, f'element_type="{kind}" shape="{shape}"', kind)


def constant(id: int, kind: str, shape: str, offset: int, size: int) -> str:
    return layer(id, "Const", 0, 1, f'element_type="{kind}" shape="{shape}" offset="{offset}" size="{size}"', kind)


def layer(
    id: int, type: str, inputs: int = 0, outputs: int = 0, data: str = "", kind: str = "f32", version: str = "opse"
        "t1", inside: str = ""
) -> str:  # fmt: skip
    ins = "".join(f'<port id="{port}"/>' for port in range(inputs))
    outs = "".join(f'<port id="{inputs + port}" precision="{PRECISIONS[kind]}"/>' for port in range(outputs))
    text = f'<layer id="{id}" name="n{id}" type="{type}" version="{version}">' + (f"<data {data}/>" if data else "")
    return f"{text}{f'<input>{ins}</input>' if ins else ''}{f'<output>{outs}</output>' if outs else ''}{inside}</layer>"


def graph(layers: Sequence[str], *edges: tuple[int, int, int, int]) -> str:
    text = "".join(f'<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>' for a, b, c, d in edges)
    return f"<layers>{''.join(layers)}</layers><edges>{text}</edges>"


def document(layers: Sequence[str], *edges: tuple[int, int, int, int]) -> bytes:
    return f'<?xml version="1.0"?><net name="g" version="11">{graph(layers, *edges)}</net>'.encode()


RESULTS = [layer(id, "Result", 1) for id in range(12)]


def iterator(
    x: str = "2,10,4", cut: str = 'axis="1"', join: str = 'axis="1"', state: str = "2,1,4", **ids: int
) -> bytes:
    """A TensorIterator that adds each slice of x to a carried state; ``ids`` replaces ids of its port map."""
    ids = {"input": 0, "parameter": 0, "result": 3, "output": 2, "from": 4, "outputs": 1} | ids
    body = graph(
        [parameter(0, "f32", state), parameter(1, "f32", state), layer(2, "Add", 2, 1), RESULTS[3], RESULTS[4]],
        (0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0), (2, 2, 4, 0),
    )  # fmt: skip
    ports = f"""<port_map><input external_port_id="{ids["input"]}" internal_layer_id="{ids["parameter"]}" {cut}/>
<input external_port_id="1" internal_layer_id="1"/>
<output external_port_id="{ids["output"]}" internal_layer_id="{ids["result"]}" {join}/></port_map>
<back_edges><edge from-layer="{ids["from"]}" from-port="0" to-layer="1" to-port="0"/></back_edges>"""
    node = layer(2, "TensorIterator", 2, ids["outputs"], inside=f"{ports}<body>{body}</body>")
    return document(
        [parameter(0, "f32", x), parameter(1, "f32", state), node, RESULTS[3]], (0, 0, 2, 0), (1, 0, 2, 1), (2, 2, 3, 0)
    )


def looping(
    trip: str = constant(0, "i64", "1", 0, 8),
    condition: str = constant(1, "boolean", "", TRUE, 1),
    x: str = "1,2",
    inside: str = "true",
    back: bool = True,
    grow: bool = False,
    join: str = 'axis="0"',
    mapped: bool = True,
    purpose: bool = True,
    from_layer: int = 6,
    kind: str = "f32",
) -> bytes:
    """A Loop that carries x and stacks it; ``inside`` is its condition: true, false, given on, computed or float."""
    flags = {
        "true": [constant(3, "boolean", "", TRUE, 1)],
        "false": [constant(3, "boolean", "", FALSE, 1)],
        "given": [parameter(3, "boolean", "")],
        "computed": [parameter(30, "boolean", ""), layer(3, "LogicalNot", 1, 1, kind="boolean")],
        "float": [constant(3, "f32", "", FLOATS, 4)],
    }[inside]
    edges = [(30, 0, 3, 0), (3, 1, 4, 0)] if inside == "computed" else [(3, 0, 4, 0)]
    step = layer(5, "Concat", 2, 1, 'axis="0"') if grow else layer(5, "Relu", 1, 1)
    edges += (
        [(2, 0, 5, 0), (2, 0, 5, 1), (5, 2, 6, 0), (5, 2, 7, 0)] if grow else [(2, 0, 5, 0), (5, 1, 6, 0), (5, 1, 7, 0)]
    )
    body = graph([parameter(2, "f32", "1,2"), *flags, RESULTS[4], step, RESULTS[6], RESULTS[7]], *edges)
    flag = {"given": 3, "computed": 30}.get(inside)
    ports = '<input external_port_id="2" internal_layer_id="2"/>' if mapped else ""
    ports += f'<input external_port_id="1" internal_layer_id="{flag}"/>' if flag else ""
    ports += '<output external_port_id="-1" internal_layer_id="4" purpose="execution_condition"/>' if purpose else ""
    ports += (
        '<output external_port_id="3" internal_layer_id="6"/><output external_port_id="4" internal_layer_id="7" '
        f"{join}/>"
    )
    backs = f'<edge from-layer="{from_layer}" from-port="0" to-layer="2" to-port="0"/>' if back else ""
    backs += f'<edge from-layer="4" from-port="0" to-layer="{flag}" to-port="0"/>' if flag else ""
    text = f"<port_map>{ports}</port_map><back_edges>{backs}</back_edges><body>{body}</body>"
    node = layer(3, "Loop", 3, 2, version="opset5", inside=text)
    return document(
        [trip, condition, parameter(2, kind, x), node, RESULTS[4], RESULTS[5]],
        (0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0), (3, 4, 5, 0),
    )  # fmt: skip


def choosing(
    condition: str = parameter(0, "boolean", ""),
    shapes: tuple[str, str] = ("2,3", "2,3"),
    kinds: tuple[str, str] = ("f32", "f32"),
    add: int = 0,
    parameter_id: int = 0,
    result_id: int = 2,
    input_id: int = 1,
    output_ids: tuple[str, str] = ("0", "0"),
    outputs: int = 1,
    bodies: tuple[str, str] = ("then", "else"),
) -> bytes:
    """An If whose branches give on inputs 1 and 2; with ``add`` the second one adds a vector of so many elements."""

    def body(shape: str, kind: str, plus: int) -> str:
        if not plus:
            return graph([parameter(0, kind, shape), layer(1, "Relu", 1, 1), RESULTS[2]], (0, 0, 1, 0), (1, 1, 2, 0))
        vector = constant(3, "f32", str(plus), FLOATS, 4 * plus)
        layers = [parameter(0, kind, f"2,{plus}"), vector, layer(1, "Add", 2, 1), RESULTS[2]]
        return graph(layers, (0, 0, 1, 0), (3, 0, 1, 1), (1, 2, 2, 0))

    text = ""
    for name, index, output in (("then", input_id, output_ids[0]), ("else", 2, output_ids[1])):
        ties = f'<output external_port_id="{output}" internal_layer_id="{result_id}"/>' if output else ""
        ties = f'<input external_port_id="{index}" internal_layer_id="{parameter_id}"/>{ties}'
        text += f"<{name}_port_map>{ties}</{name}_port_map>"
    for name, shape, kind, plus in (("then", shapes[0], kinds[0], 0), ("else", shapes[1], kinds[1], add)):
        text += f"<{name}_body>{body(shape, kind, plus)}</{name}_body>" if name in bodies else ""
    node = layer(3, "If", 3, outputs, version="opset8", inside=text)
    return document(
        [condition, parameter(1, kinds[0], shapes[0]), parameter(2, kinds[1], shapes[1]), node, RESULTS[4]],
        (0, 0, 3, 0), (1, 0, 3, 1), (2, 0, 3, 2), (3, 3, 4, 0),
    )  # fmt: skip


def reading(attributes: str, x: str = "1,2", kind: str = "f32", version: str = "opset6", init: bool = True) -> bytes:
    """A variable that is read with an initial value, and written again."""
    before = [parameter(0, kind, x)] if init else []
    layers = [*before, layer(1, "ReadValue", int(init), 1, f'variable_id="a" {attributes}', version=version)]
    layers += [layer(2, "Relu", 1, 1), RESULTS[3], layer(4, "Assign", 1, 1, 'variable_id="a"', version="opset6")]
    edges = [(0, 0, 1, 0)] if init else []
    return document(layers, *edges, (1, int(init), 2, 0), (2, 1, 3, 0), (2, 1, 4, 0))


FULL = 'variable_type="f32" variable_shape="{}"'

IRS = {
    "iterator": iterator(),
    "iterator, length unknown": iterator(x="2,?,4"),
    "iterator, slices of 2": iterator(cut='axis="1" part_size="2"', join='axis="1" part_size="2"', state="2,2,4"),
    "iterator, slices of 3 of 10": iterator(cut='axis="1" part_size="3"', join='axis="1" part_size="3"', state="2,3,4"),
    "iterator, slices of 2 give 1": iterator(cut='axis="1" part_size="2"', state="2,2,4"),
    "iterator, stride without part": iterator(cut='axis="1" stride="2"'),
    "iterator, backward": iterator(cut='axis="1" start="-1" end="0" stride="-1"'),
    "iterator, a part of it": iterator(cut='axis="1" start="2" end="5"'),
    "iterator, start behind the end": iterator(cut='axis="1" start="20" end="5"'),
    "iterator, the last one": iterator(join=""),
    "iterator, input axis": iterator(cut='axis="3"'),
    "iterator, output axis": iterator(join='axis="3"'),
    "iterator, state differs": iterator(x="3,10,4"),
    "iterator, external input": iterator(input=9),
    "iterator, internal parameter": iterator(parameter=9),
    "iterator, internal result": iterator(result=9),
    "iterator, external output": iterator(output=7),
    "iterator, two outputs": iterator(outputs=2),
    "iterator, back edge": iterator(**{"from": 9}),
    "loop": looping(),
    "loop, size unknown": looping(x="?,2"),
    "loop, condition false inside": looping(inside="false"),
    "loop, condition given on": looping(inside="given"),
    "loop, condition computed": looping(inside="computed"),
    "loop, condition float": looping(inside="float"),
    "loop, trip count unknown": looping(trip=parameter(0, "i64", "")),
    "loop, trip count of two": looping(trip=parameter(0, "i64", "2")),
    "loop, constant trip count of two": looping(trip=constant(0, "i64", "2", 0, 16)),
    "loop, trip count of two axes": looping(trip=parameter(0, "i64", "1,1")),
    "loop, trip count float": looping(trip=constant(0, "f32", "", FLOATS + 8, 4)),
    "loop, no trip": looping(trip=constant(0, "i64", "", 16, 8)),
    "loop, endless": looping(trip=constant(0, "i64", "", 8, 8)),
    "loop, longest": looping(trip=constant(0, "i64", "", 24, 8)),
    "loop, condition unknown": looping(condition=parameter(1, "boolean", "")),
    "loop, condition of two": looping(condition=parameter(1, "boolean", "2")),
    "loop, condition of two axes": looping(condition=parameter(1, "boolean", "1,1")),
    "loop, condition of a float": looping(condition=parameter(1, "f32", "")),
    "loop, grows": looping(grow=True),
    "loop, grows once": looping(grow=True, back=False),
    "loop, other element type": looping(kind="f16"),
    "loop, input not mapped": looping(mapped=False),
    "loop, axis 1": looping(join='axis="1"'),
    "loop, axis 5": looping(join='axis="5"'),
    "loop, back edge": looping(from_layer=66),
    "loop, no condition": looping(purpose=False),
    "if": choosing(),
    "if, sizes differ": choosing(shapes=("2,3", "2,4")),
    "if, sizes unknown": choosing(shapes=("2,3", "?,4")),
    "if, ranks differ": choosing(shapes=("2,3", "2")),
    "if, scalar and one": choosing(shapes=("1", "")),
    "if, scalar and five": choosing(shapes=("5", "")),
    "if, types differ": choosing(kinds=("f32", "f16")),
    "if, condition float": choosing(condition=parameter(0, "f32", "")),
    "if, condition of two": choosing(condition=parameter(0, "boolean", "2")),
    "if, condition of two axes": choosing(condition=parameter(0, "boolean", "1,1")),
    "if, constant of two": choosing(condition=constant(0, "boolean", "2", TRUE, 2)),
    "if, true": choosing(condition=constant(0, "boolean", "", TRUE, 1), shapes=("2,3", "2,4")),
    "if, false": choosing(condition=constant(0, "boolean", "", FALSE, 1), shapes=("2,3", "2,4")),
    "if, false and types differ": choosing(condition=constant(0, "boolean", "", FALSE, 1), kinds=("f32", "f16")),
    "if, dead branch at fault": choosing(condition=constant(0, "boolean", "", TRUE, 1), add=5),
    "if, branch at fault": choosing(add=5),
    "if, output ids": choosing(output_ids=("5", "0")),
    "if, then without output": choosing(output_ids=("", "0")),
    "if, else without output": choosing(output_ids=("0", "")),
    "if, false, then without output": choosing(condition=constant(0, "boolean", "", FALSE, 1), output_ids=("", "0")),
    "if, true, then without output": choosing(condition=constant(0, "boolean", "", TRUE, 1), output_ids=("", "0")),
    "if, true, else without output": choosing(condition=constant(0, "boolean", "", TRUE, 1), output_ids=("0", "")),
    "if, false, no output": choosing(condition=constant(0, "boolean", "", FALSE, 1), output_ids=("", "")),
    "if, false, two outputs": choosing(condition=constant(0, "boolean", "", FALSE, 1), outputs=2),
    "if, false, external input": choosing(condition=constant(0, "boolean", "", FALSE, 1), input_id=9),
    "if, external input": choosing(input_id=9),
    "if, internal parameter": choosing(parameter_id=9),
    "if, internal result": choosing(result_id=9),
    "if, two outputs": choosing(outputs=2),
    "if, no else": choosing(bodies=("then",)),
    "read": reading(FULL.format("1,2")),
    "read, relaxed": reading(FULL.format("?,2")),
    "read, interval": reading(FULL.format("1..4,2")),
    "read, interval too small": reading(FULL.format("2..4,2")),
    "read, size differs": reading(FULL.format("1,3")),
    "read, rank differs": reading(FULL.format("1,2,3")),
    "read, type differs": reading(FULL.format("1,2"), kind="i64"),
    "read, any": reading('variable_type="dynamic" variable_shape="..."'),
    "read, without an initial value": reading(FULL.format("?,2"), init=False),
    "read, no shape": reading('variable_type="f32"'),
    "read, nothing": reading(""),
    "read, bad type": reading('variable_type="FP32" variable_shape="1,2"'),
    "read, bad shape": reading(FULL.format("1,a")),
    "read 3": reading("", version="opset3"),
    "read 3, unknown size": reading("", version="opset3", x="?,2"),
    "read 3, no input": reading("", version="opset3", init=False),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", IRS)
def test_openvino_says_the_same(name: str) -> None:
    theirs, ours = openvino_verdict(IRS[name], WEIGHTS), irlint_on_ir(IRS[name], WEIGHTS)
    if isinstance(theirs, str) or isinstance(ours, str):
        refused = isinstance(theirs, str) or not compiles(IRS[name], WEIGHTS)
        assert refused == isinstance(ours, str), f"openvino: {theirs}\nirlint: {ours}"
        return
    assert ours == theirs


def test_no_trip_at_all() -> None:
    """OpenVINO gives shapes of its own making to a Loop whose condition is false before it begins."""
    assert irlint_on_ir(looping(condition=constant(1, "boolean", "", FALSE, 1)), WEIGHTS) == [("float32", None)] * 2


def test_slices_of_nothing_are_an_error() -> None:
    """OpenVINO ends with a division by zero."""
    assert str(irlint_on_ir(iterator(cut='axis="1" part_size="0"'), WEIGHTS)).startswith("IRL395")


def test_a_variable_without_an_id_is_an_error() -> None:
    """OpenVINO ends with a segmentation fault."""
    text = reading(FULL.format("1,2")).replace(b'variable_id="a" variable_type', b"variable_type")
    assert str(irlint_on_ir(text, WEIGHTS)).startswith("IRL504")


@pytest.mark.parametrize(
    ("entry", "size", "count"),
    [
        ({}, N, N),
        ({"part_size": 2}, N, N // 2),
        ({"start": -1, "end": 0, "stride": -1}, N, N),
        ({"start": 2, "end": 5}, N, 4),
        ({"start": 2}, N, N - 2),
        ({}, None, None),
        ({"start": -3, "end": -1}, 10, 3),
    ],
)
def test_iterations(entry: dict[str, int], size: Any, count: Any) -> None:
    assert iterations(size, PortMapEntry("input", 0, "0", axis=0, **entry)) == count
