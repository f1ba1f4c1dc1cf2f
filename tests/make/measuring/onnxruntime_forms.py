"""Forms of nodes that a release of ONNX Runtime is asked about one by one: what neither its kernels nor its schemas
show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import onnx.parser

#: Conditions under which releases may refuse an operator though they have its kernel: an opset, and a graph for which
#: they hold.
REFUSED: dict[str, tuple[int, str]] = {
    **{
        f"refuses :{op} attribute-is layout 1": (14, f"""(float[1,3,2] x, float[1,{gates * 4},2] w,
float[1,{gates * 4},4] r) => (y) {{ y = {op} <layout = 1, hidden_size = 4> (x, w, r) }}""")
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
    },
    **{
        f"refuses :{op} not-spatial kernel_shape,strides,dilations": (
            17, f"(float[1,2,8] x) => (y) {{ y = {op} <kernel_shape = [3,3]> (x) }}")
        for op in ("AveragePool", "LpPool", "MaxPool")
    },
    "refuses :Conv not-spatial kernel_shape,strides,dilations": (
        17, "(float[1,2,8,8] x, float[2,2,3,3] w) => (y) { y = Conv <strides = [1]> (x, w) }"),
    **{
        f"refuses :{op} ranks-differ 0 1": (
            17, f"(float[1,2,8] x, float[2,2,3,3] w) => (y) {{ y = {op} (x, w) }}")
        for op in ("Conv", "ConvTranspose")
    },
    "refuses :DFT attribute-is inverse 1 & attribute-is onesided 1": (
        17, "(float[1,5,2] x) => (y) { y = DFT <inverse = 1, onesided = 1> (x) }"),
}  # fmt: skip

#: Conditions under which a node may fail when it runs: an opset, and a graph, whose inputs get ones.
FAILING: dict[str, tuple[int, str]] = {
    f"fails :{op} type 0 {name} & attribute-is reduction {reduction}": (
        18, f"({kind}[3] x, int64[{sizes}] i, {kind}[1] u) => ({kind}[3] y) "
            f'{{ y = {op} <reduction = "{reduction}"> (x, i, u) }}')
    for op, sizes in (("ScatterElements", "1"), ("ScatterND", "1,1"))
    for name, kind in {"float16": "float16", "float32": "float", "int64": "int64", "bool": "bool"}.items()
    for reduction in ("add", "mul", "max", "min")
}  # fmt: skip

#: Errors of the check with which a release may load a node, by operator and code: an opset, and a graph with the error.
LOADED: Mapping[tuple[str, str], tuple[int, str]] = {
    (":Gemm", "IRL320"): (17, "(float[3,2] x, float[4,3] z) => (y) { y = Gemm (x, z) }"),
    **{
        (f":{op}", "IRL201"): (18, f"(float[3,4] x, float[2,4] z) => (y) {{ y = {op} (x, z) }}")
        for op in ("GreaterOrEqual", "LessOrEqual")
    },
    (":CumSum", "IRL300"): (14, "(float[2,3] x) => (y) <int64 a = {2}> { y = CumSum (x, a) }"),
    (":GatherElements", "IRL300"): (13, "(float[2] x, int64[2] i) => (y) { y = GatherElements <axis = 1> (x, i) }"),
    (":ScatterElements", "IRL300"): (
        18, "(float[2] x, int64[2] i) => (y) { y = ScatterElements <axis = 1> (x, i, x) }"),
    (":Clip", "IRL339"): (13, "(float[2,3] x, float[3] m) => (y) { y = Clip (x, m) }"),
    (":CumSum", "IRL339"): (14, "(float[2,3] x) => (y) <int64[2] a = {0, 1}> { y = CumSum (x, a) }"),
    (":Pad", "IRL339"): (
        13, "(float[2,3] x) => (y) <int64[4] p = {0, 1, 0, 1}, float[1,2] c = {1, 1}> { y = Pad (x, p, c) }"),
    (":ReduceSum", "IRL339"): (13, "(float[2,3] x) => (y) <int64[2,1] a = {0, 1}> { y = ReduceSum (x, a) }"),
    (":Slice", "IRL339"): (13, "(float[2,3] x) => (y) <int64 s = {0}, int64 e = {1}> { y = Slice (x, s, e) }"),
    (":Split", "IRL339"): (18, "(float[2,6] x, int64[2,2] s) => (y, z) { y, z = Split <axis = 1> (x, s) }"),
    (":Slice", "IRL345"): (13, "(float[2,3] x, int64[3] s) => (y) { y = Slice (x, s, s) }"),
    (":Split", "IRL343"): (13, "(float[6] x, int64[2] s) => (y) { y = Split (x, s) }"),
    (":Tile", "IRL334"): (13, "(float[2] x, int64[2] r) => (y) { y = Tile (x, r) }"),
}  # fmt: skip

#: Those of them with which other nodes of the operator are refused.
MIXED = ((":Slice", "IRL345"), (":Split", "IRL343"), (":Tile", "IRL334"))


def _of_loaded(name: str, code: str) -> tuple[str, ...]:
    """The facts that hold where such a node is loaded."""
    return f"reads {name} {code}", *([f"doubts {name} fault {code}"] if (name, code) in MIXED else [])


#: Every fact that these models ask about.
FACTS = (*REFUSED, *FAILING, *chain.from_iterable(_of_loaded(*each) for each in LOADED))


def models() -> Iterator[tuple[str, Any]]:
    """Models by the fact that they ask about; one that is to run comes with ``True``."""
    loaded = {_of_loaded(*error)[0]: asked for error, asked in LOADED.items()}
    for fact, (opset, graph) in (REFUSED | FAILING | loaded).items():
        data = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}').SerializeToString()
        yield fact, ((data, True) if fact in FAILING else data)


def facts(answers: Mapping[str, str]) -> Iterator[str]:
    """The facts about forms that hold for a release."""
    yield from (fact for fact in (*REFUSED, *FAILING) if answers[fact])
    for error in LOADED:
        facts_of_error = _of_loaded(*error)
        yield from facts_of_error if not answers[facts_of_error[0]] else ()
