"""Forms of nodes that a release of ONNX Runtime is asked about one by one: what neither its kernels nor its schemas
show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx.parser

#: Conditions under which releases may refuse an operator though they have its kernel: an opset, and a graph for which
#: they hold.
REFUSED: Mapping[str, tuple[int, str]] = {
    **{
        f"refuses :{op} attribute-is layout 1": (14, f"""(float[1,3,2] x, float[1,{gates * 4},2] w,
float[1,{gates * 4},4] r) => (y) {{ y = {op} <layout = 1, hidden_size = 4> (x, w, r) }}""")
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4))
    },
    "refuses :DFT attribute-is inverse 1 & attribute-is onesided 1": (
        17, "(float[1,5,2] x) => (y) { y = DFT <inverse = 1, onesided = 1> (x) }"),
}  # fmt: skip

#: Conditions under which a node may fail when it runs: an opset, and a graph, whose inputs get ones.
FAILING: Mapping[str, tuple[int, str]] = {
    f"fails :{op} type 0 {name} & attribute-is reduction {reduction}": (
        18, f"({kind}[3] x, int64[{sizes}] i, {kind}[1] u) => ({kind}[3] y) "
            f'{{ y = {op} <reduction = "{reduction}"> (x, i, u) }}')
    for op, sizes in (("ScatterElements", "1"), ("ScatterND", "1,1"))
    for name, kind in {"float16": "float16", "float32": "float", "int64": "int64", "bool": "bool"}.items()
    for reduction in ("add", "mul", "max", "min")
}  # fmt: skip

#: Every fact that these models ask about.
FACTS = (*REFUSED, *FAILING)


def models() -> Iterator[tuple[str, Any]]:
    """Models by the fact that they ask about; one that is to run comes with ``True``."""
    for fact, (opset, graph) in (REFUSED | FAILING).items():
        data = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> g {graph}').SerializeToString()
        yield fact, ((data, True) if fact in FAILING else data)


def facts(answers: Mapping[str, str]) -> Iterator[str]:
    """The facts about forms that hold for a release."""
    yield from (fact for fact in FACTS if answers[fact])
