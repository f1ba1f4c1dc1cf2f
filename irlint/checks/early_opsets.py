"""The operators of the opsets before 7 that ONNX Runtime does not run."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Model
from irlint.model.order import graphs
from irlint.schemas import late_kernels, official

NO_KERNEL = Rule(
    "IRL808",
    "operator-before-onnxruntime",
    Severity.WARNING,
    "The model uses operators in a version that ONNX Runtime has never run.",
    why="""ONNX Runtime guarantees the opsets from 7 on. Of older ones it knows the operators, and has kernels for some of them: with
any other it refuses the model, which the ONNX specification allows.""",
    mend="Convert the model with onnx.version_converter, or export it again for opset 7 or later.",
    bad="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }""",
    good="""<ir_version: 3, opset_import: ["" : 7]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }""",
)

#: So many operators are named.
_SHOWN = 8


def without_kernel(model: Model, runtime: str) -> Iterator[Fault]:
    """One fault of all nodes of a model whose operators ``runtime`` does not run, in the opsets that they have."""
    first = late_kernels()
    counts: dict[str, int] = {}
    opsets: dict[int, None] = {}
    for graph in graphs(model):
        for node in graph.nodes:
            if node.domain == "" and isinstance(node.version, int) and 0 < node.version < first.get(node.op, 0):
                schema = official(node.op, node.version, "")
                if schema is not None:
                    operator = f"{node.op}-{schema.since}"
                    counts[operator] = counts.get(operator, 0) + 1
                    opsets[node.version] = None
    if not counts:
        return
    told = [operator if count == 1 else f"{operator} ({count} nodes)" for operator, count in counts.items()]
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    numbers = " and ".join(map(str, sorted(opsets)))
    begin = max(first[operator.partition("-")[0]] for operator in counts)
    yield NO_KERNEL.fault(
        f"opset {numbers} allows {', '.join(told[:_SHOWN])}{more}; ONNX Runtime {runtime} refuses the model: its kernels for "
        f"{'this operator' if len(told) == 1 else 'these operators'} begin with opset {begin}",
        help="convert the model with onnx.version_converter, or export it again, for opset 7 or later",
    )
