"""Forms of ONNX models that a release of OpenVINO is asked about one by one: what no model of one node shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from irlint.model.tensor import NUMBERED_TYPES

#: The operators whose axes became an input with opset 18.
REDUCING = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSumSquare",
)  # fmt: skip

#: The opset in which axes became an input.
SINCE = {**dict.fromkeys(REDUCING, 18), "ReduceSum": 13}

_GROUPS = "(float[1,4,2,2] x, float[4] s) => (y) { y = GroupNormalization <num_groups = 2> (x, s, s) }"
_STFT = """(float[1,128{axis}] x, float[16] w) => (y) <int64 s = {{8}}, int64 l = {{16}}>
{{ y = STFT {attributes} ({inputs}) }}"""
_LOOP = """(float[5] x, int64 n, bool c) => (y) { y = Loop <body = l (int64 i, bool p, float[5] v)
=> (bool q, float[5] w) { q = Identity (p) BODY }> (n, c, x) }"""
_IF = """(float[5] x, bool c) => (y) { y = If <then_branch = t () => (a) { BODY },
else_branch = e () => (b) { b = Identity (x) }> (c) }"""


def _blocks(inputs: str) -> str:
    """A product with weights of 4 bits in two blocks, with these inputs behind the first three."""
    weights = (
        f"uint8[1,2,16] w = {{{', '.join('0' * 32)}}}, float[2] s = {{1, 1}}, uint8[1] z = {{0}}, float[1] b = {{0}}"
    )
    node = f"y = com.microsoft.MatMulNBits <K = 64, N = 1, bits = 4, block_size = 32> (x, w, s, {inputs})"
    return f"(float[2,64] x) => (float[2,1] y) <{weights}> {{ {node} }}"


#: Facts that hold where a model is refused: the opset, and the graph.
REFUSED = {
    "refuses :Loop returns-input": (17, """(int64 n, bool c, float[2] a) => (float[2] y) { y = Loop (n, c, a)
<body = b (int64 i, bool ci, float[2] ai) => (bool ci, float[2] ao) { ao = Add (ai, ai) }> }"""),
    "refuses :Scan outer-values": (17, """(float[2] i, float[3,2] x, float[2] z) => (float[2] o, float[3,2] y) {
o, y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] c, float[2] d)
{ c = Add (a, e) d = Add (e, z) }> (i, x) }"""),
    "refuses :STFT not-static 0 & rank 0 3": (17, """(float[N,128,1] x, float[16] w) => (float[N,15,9,2] y)
<int64 s = {8}> { y = STFT (x, s, w) }"""),
    "refuses :STFT rank 0 2": (17, _STFT.format(axis="", attributes="", inputs="x, s, w, l")),
    "refuses :STFT rank 0 2 & no-input 2": (17, _STFT.format(axis="", attributes="", inputs='x, s, "", l')),
    "refuses :STFT rank 0 2 & no-input 3": (17, _STFT.format(axis="", attributes="", inputs="x, s, w")),
    "refuses :STFT rank 0 2 & attribute-is onesided 0": (
        17, _STFT.format(axis="", attributes="<onesided = 0>", inputs="x, s, w, l")),
    "refuses :STFT rank 0 3 & rank 3 0": (17, _STFT.format(axis=",1", attributes="", inputs="x, s, w, l")),
    "refuses :STFT rank 0 3 & attribute-is onesided 0 & !complex 0": (
        17, _STFT.format(axis=",1", attributes="<onesided = 0>", inputs="x, s, w")),
    "refuses :STFT not-constant 1": (17, """(float[1,128,1] x, int64 s, float[16] w) => (float[1,15,9,2] y)
{ y = STFT (x, s, w) }"""),
    "refuses :MatMul fault IRL201": (17, "(float[3,2,4] x, float[2,4,5] w) => (y) { y = MatMul (x, w) }"),
    **{
        f"refuses :{op} not-spatial kernel_shape,strides,dilations": (
            17, f"(float[1,2,8] x) => (y) {{ y = {op} <kernel_shape = [3,3]> (x) }}")
        for op in ("AveragePool", "LpPool", "MaxPool")
    },
    **{
        f"refuses :{op} not-spatial strides,dilations": (
            17, f"(float[1,2,8,8] x, float[2,2,3,3] w) => (y) {{ y = {op} <strides = [1]> (x, w) }}")
        for op in ("Conv", "ConvTranspose")
    },
    **{
        f"refuses :{op} ranks-differ 0 1": (
            17, f"(float[1,2,8] x, float[2,2,3,3] w) => (y) {{ y = {op} (x, w) }}")
        for op in ("Conv", "ConvTranspose")
    },
    "refuses :Conv fault IRL312 & length-not 2 1 & !size 1 0 1": (
        17, "(float[1,2,8,8] x, float[2,2,3,3] w, float[3] b) => (y) { y = Conv (x, w, b) }"),
    "refuses :ReduceSum type 1 float32": (17, "(float[2,3] x) => (y) <float[1] a = {1}> { y = ReduceSum (x, a) }"),
    "refuses :Reshape fault IRL330 & constant 1 & !has-zero 1": (
        17, "(float[2,3] x) => (y) <int64[2] s = {2, 4}> { y = Reshape (x, s) }"),
    "refuses :Reshape fault IRL330 & negative 1": (
        17, "(float[2,3] x) => (y) <int64[2] s = {4, -1}> { y = Reshape (x, s) }"),
    **{
        f"refuses :{op} fault IRL300": (11, f"(float[2,3] x) => (y) {{ y = {op} {attributes} }}")
        for op, attributes in {
            "Concat": "<axis = 3> (x, x)", "Flatten": "<axis = 3> (x)", "Hardmax": "<axis = 3> (x)",
            "LogSoftmax": "<axis = 3> (x)", "Squeeze": "<axes = [3]> (x)", "Unsqueeze": "<axes = [3]> (x)",
        }.items()
    },
    "refuses :Softmax opset-from 11 & fault IRL300": (11, "(float[2,3] x) => (y) { y = Softmax <axis = 3> (x) }"),
    "refuses :Gather fault IRL300": (
        11, "(float[2,3] x, int64[2] i) => (y) { y = Gather <axis = 3> (x, i) }"),
    "refuses com.microsoft:MatMulNBits type 3 uint8 & smaller 3 2": (17, _blocks("z")),
    "refuses com.microsoft:MatMulNBits omitted 3": (17, _blocks('"", "", b')),
    "refuses :SequenceConstruct returned": (17, "(float[2,3] x) => (seq(float[2,3]) y) { y = SequenceConstruct (x) }"),
    "refuses :SequenceInsert returned": (17, """(float[2,3] x) => (seq(float[2,3]) y)
{ s = SequenceEmpty () y = SequenceInsert (s, x) }"""),
    "refuses :SplitToSequence returned": (17, """(float[4,6] x) => (seq(float[]) y)
{ y = SplitToSequence <axis = 1> (x) }"""),
    "refuses :DequantizeLinear rank 1 3,4": (21, """(uint8[4,2,2] x, float[2,2,2] s) => (y)
{ y = DequantizeLinear <axis = 0, block_size = 2> (x, s) }"""),
    "refuses :GroupNormalization opset-from 21 & not-as-long 1 num_groups": (21, _GROUPS),
    "refuses :Split uneven": (18, "(float[5] x) => (y, z) { y, z = Split <num_outputs = 2> (x) }"),
    "refuses :Split empty-part": (18, "(float[5] x) => (a, b, c, d) { a, b, c, d = Split <num_outputs = 4> (x) }"),
    "refuses :DequantizeLinear opset-below 13 & length-not 1 0,1": (10, """(uint8[4] x, float[4] s) => (y)
{ y = DequantizeLinear (x, s) }"""),
    "refuses :Transpose fault IRL333": (17, "(float[2,3,4] x) => (y) { y = Transpose <perm = [0,1]> (x) }"),
    "refuses :Reshape empty 1": (14, "(float[1,1] x) => (y) <int64[0] s = {}> { y = Reshape (x, s) }"),
    "doubts :Shape misread-part": (15, """(float[2,3,4] x, float[2] z) => (float[2] y)
{ s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }"""),
    **{
        f"doubts :{op} misread-axes": (18, f"""(float[2,3] x) => (y) <int64[1] a = {{1}}, int64[2] s = {{2, 1}}>
{{ r = {op} (x, a) y = Reshape (r, s) }}""")
        for op in REDUCING
    },
    "refuses :NegativeLogLikelihoodLoss attribute ignore_index": (17, """(float[3,5] x, int64[3] t) => (y)
{ y = NegativeLogLikelihoodLoss <ignore_index = 1> (x, t) }"""),
    "doubts com.microsoft:EmbedLayerNormalization output 2": (17, """(int32[1,4] i, float[4,4] w, float[4] g)
=> (y, m, e) { y, m, e = com.microsoft.EmbedLayerNormalization <epsilon = 0.00001> (i, , w, w, , g, g) }"""),
    "refuses :If body-outputs": (17, """(float[2] x, bool c) => (y) { y = If <then_branch = t () => (a, d)
{ a = Relu (x) d = Abs (x) }, else_branch = e () => (b) { b = Abs (x) }> (c) }"""),
    "drops :Shape attributes": (14, """(float[2,3,4] x, float[2] z) => (float[2] y)
{ s = Shape <start = 0, end = 1> (x) y = Reshape (z, s) }"""),
    **{
        f"drops :{op} inputs": (opset - 1, f"""(float[2,3] x) => (y) <int64[1] a = {{1}}, int64[2] s = {{2, 1}}>
{{ r = {op} (x, a) y = Reshape (r, s) }}""")
        for op, opset in SINCE.items()
    },
    **{
        f"drops :{op} attributes": (opset, f"""(float[2,3] x) => (y) <int64[2] s = {{2, 1}}>
{{ r = {op} <axes = [1]> (x) y = Reshape (r, s) }}""")
        for op, opset in SINCE.items()
    },
    "no-early-outputs": (17, "(float[2] x) => (a, y) { y = Relu (a) a = Abs (x) }"),
    "no-sparse-initializers": (17, """(float[2] x) => (float[2] y) <float[2] s = {0, 3}> { y = Add (x, s) }"""),
    "no-sparse-outputs": (17, """(float[2] x) => (float[2] y, float[2] s) <float[2] s = {0, 3}> { y = Relu (x) }"""),
    "no-sparse-types": (17, "() => (float[2] y) { y = Constant <value = float[2] {0, 3}> () }"),
    "no-spelled-domains": (17, "(float[2] x) => (float[2] y) { y = ai.onnx.Relu (x) }"),
    "no-empty-inputs": (17, "(float[0,2] x) => (y) { y = Relu (x) }"),
    "no-functions": (17, "(float[2] x) => (float[2] y) { y = f.Twice (x) }"),
}  # fmt: skip

#: Facts that hold where a model is read that has a node in a body which would be refused outside.
READ = {
    **{f"passes-over {body} operator": (17, _IF.replace("BODY", "a = Nothing (x)"))
       for body in ("then_branch", "else_branch")},
    **{f"passes-over {body} node": (17, _IF.replace("BODY", "k = Shape (x) a = Add (x, k)"))
       for body in ("then_branch", "else_branch")},
    **{
        f"op :SplitToSequence {opset}": (opset, """(float[4,6] x, int64 i) => (y)
{ s = SplitToSequence <axis = 1> (x) y = SequenceAt (s, i) }""")
        for opset in (11, 24)
    },
    **{f"op :Bernoulli {opset}": (opset, "(float[4] x) => (float[4] y) { y = Bernoulli (x) }") for opset in (15, 22)},
    "reads :If IRL390": (17, """(float[2] x, bool c) => (y) { y = If <then_branch = t (float[2] x) => (a)
{ a = Relu (x) }, else_branch = e () => (b) { b = Abs (x) }> (c) }"""),
    "reads :Reshape IRL330": (17, "(float[2,3] x) => (y) <int64[2] s = {0, 4}> { y = Reshape (x, s) }"),
    "passes-over body operator": (17, _LOOP.replace("BODY", "w = Nothing (v)")),
    "passes-over body node": (17, _LOOP.replace("BODY", "k = Shape (x) w = Add (x, k)")),
    "passes-over dead node": (17, """(float[5] x) => (y) <int64 one = {1}>
{ s = Shape (x) k = Size (s) c = Equal (k, one) y = If <then_branch = t () => (a) { a = Identity (x) },
else_branch = e () => (b) { b, q, r, u = Split (x) }> (c) }"""),
}  # fmt: skip

#: What holds where a node in a branch that never runs may be wrong.
DEAD_OPERATOR = "passes-over dead operator"

#: Every fact that these models ask about.
FACTS = (*REFUSED, *READ, DEAD_OPERATOR)

MICROSOFT = ', "com.microsoft" : 1'
FUNCTIONS = ', "f" : 1'
_FUNCTION = '<domain: "f", opset_import: ["" : 17]> Twice (a) => (b) { b = Add (a, a) }'


def facts(answers: dict[str, str]) -> Iterator[str]:
    """The facts about forms that hold for a release."""
    yield from (fact for fact in REFUSED if answers[fact])
    yield from (fact for fact in READ if not answers[fact])
    if not answers["passes-over dead node"]:
        yield DEAD_OPERATOR


def models() -> Iterator[tuple[str, Any]]:
    """Models by the element type, and by the fact, that they ask about."""
    for number, name in enumerate(NUMBERED_TYPES, 1):
        x, y = (helper.make_tensor_value_info(each, TensorProto.FLOAT, [2]) for each in "xy")
        z = helper.make_tensor_value_info("z", number, [2])
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x, z], [y])
        yield f"value {name}", (saved(graph, {"": 17}), b"")
    for fact, (opset, text) in (REFUSED | READ).items():
        own = fact == "no-functions"
        others = FUNCTIONS if own else MICROSOFT if "com.microsoft." in text else ""
        head = f'<ir_version: 8, opset_import: ["" : {opset}{others}]> g'
        model = onnx.parser.parse_model(f"{head} {text} {_FUNCTION if own else ''}")
        if "sparse" in fact:
            _make_sparse(model.graph)
        yield fact, (bytes(model.SerializeToString()), b"")


def _make_sparse(graph: onnx.GraphProto) -> None:
    """Stores the initializers of a graph, and what its first node is, as sparse tensors with the last element."""
    graph.sparse_initializer.extend(map(_sparse, graph.initializer))
    del graph.initializer[:]
    for attribute in graph.node[0].attribute:
        sparse = helper.make_attribute("sparse_value", _sparse(attribute.t))
        attribute.CopyFrom(sparse)
        graph.output[0].type.CopyFrom(helper.make_sparse_tensor_type_proto(TensorProto.FLOAT, [2]))


def _sparse(dense: TensorProto) -> onnx.SparseTensorProto:
    array = numpy_helper.to_array(dense)
    values = helper.make_tensor(dense.name or "values", dense.data_type, [1], [array[-1]])
    indices = helper.make_tensor(f"{values.name}.indices", TensorProto.INT64, [1], [len(array) - 1])
    return helper.make_sparse_tensor(values, indices, [len(array)])


def saved(graph: onnx.GraphProto, opsets: dict[str, int | None], ir_version: int = 8) -> bytes:
    """A graph as a model."""
    imports = [helper.make_opsetid(name, version) for name, version in opsets.items()]
    model = helper.make_model(graph, opset_imports=imports)
    model.ir_version = ir_version
    return bytes(model.SerializeToString())
