"""Finds operators whose version has no kernel in ONNX Runtime: versions of opsets before 7 and of the newest opsets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import first_few
from irlint.model import Model
from irlint.model.order import graphs
from irlint.schemas import ended_kernels, late_kernels, official

NO_KERNEL = Rule(
    "IRL808",
    "operator-before-onnxruntime",
    Severity.WARNING,
    "The model uses operators in a version that ONNX Runtime has never run.",
    why=(
        "ONNX Runtime guarantees opsets from 7 on. For older operators it has only some kernels, and refuses a model "
        "that needs another one. The model is valid by the ONNX specification."
    ),
    fix="Convert the model with onnx.version_converter, or export it again for opset 7 or later.",
    bad="""<ir_version: 3, opset_import: ["" : 6]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }""",
    good="""<ir_version: 3, opset_import: ["" : 7]>
g (float[2,3] x, float[2,3] z) => (float[2,3] y) { y = Add (x, z) }""",
)

KERNEL_ENDED = Rule(
    "IRL817",
    "operator-ahead-of-onnxruntime",
    Severity.WARNING,
    "The model uses operators in a version for which ONNX Runtime has no CPU kernel yet.",
    why=(
        "A new opset may contain a new version of an operator, even if it only adds element types. A release of ONNX "
        "Runtime can accept an opset without having a CPU kernel for each of its operators. It then refuses a model "
        "that is valid by the ONNX specification."
    ),
    fix="Export the model for the opset that the message names, or convert it with onnx.version_converter.",
    bad="""<ir_version: 10, opset_import: ["" : 22]>
g (float[2,3] x) => (float[2,3] y) { y = RandomNormalLike (x) }""",
    good="""<ir_version: 10, opset_import: ["" : 21]>
g (float[2,3] x) => (float[2,3] y) { y = RandomNormalLike (x) }""",
)

#: The maximum number of operators that a message names.
_SHOWN = 8


def without_kernel(model: Model, release: str) -> Iterator[Fault]:
    """One fault for all nodes whose opset is older than ONNX Runtime's first kernel of their operator."""
    first = late_kernels()
    counts, opsets = _counts_and_opsets(model, lambda op, version: version < first.get(op, 0))
    if not counts:
        return
    begin = max(first[operator.partition("-")[0]] for operator in counts)
    yield NO_KERNEL.fault(
        f"opset {_opsets_text(opsets)} allows {_operators_text(counts)}; ONNX Runtime {release} refuses the model: its "
        "kernels for "
        f"{'this operator' if len(counts) == 1 else 'these operators'} begin with opset {begin}",
        help="convert the model with onnx.version_converter, or export it again, for opset 7 or later",
    )


def kernel_ended(model: Model, release: str) -> Iterator[Fault]:
    """One fault for all nodes whose opset is newer than ONNX Runtime's last kernel of their operator."""
    ended = ended_kernels()
    counts, opsets = _counts_and_opsets(model, lambda op, version: version >= ended.get(op, version + 1))
    if not counts:
        return
    last = min(ended[operator.partition("-")[0]] for operator in counts) - 1
    yield KERNEL_ENDED.fault(
        f"opset {_opsets_text(opsets)} allows {_operators_text(counts)}; ONNX Runtime {release} refuses the model "
        "on a CPU: its kernels for "
        f"{'this operator' if len(counts) == 1 else 'these operators'} end with opset {last}",
        help=f"export the model for opset {last}, or convert it with onnx.version_converter",
    )


def _counts_and_opsets(model: Model, lacks_kernel: Callable[[str, int], bool]) -> tuple[dict[str, int], set[int]]:
    """(number of nodes by operator and version, such as ``Add-6``; their opsets) of the nodes for which
    ``lacks_kernel`` holds."""
    counts: dict[str, int] = {}
    opsets: set[int] = set()
    for graph in graphs(model):
        for node in graph.nodes:
            if (
                node.domain == ""
                and isinstance(node.version, int)
                and node.version > 0
                and lacks_kernel(node.op, node.version)
            ):
                schema = official(node.op, node.version, "")
                if schema is not None:
                    operator = f"{node.op}-{schema.since}"
                    counts[operator] = counts.get(operator, 0) + 1
                    opsets.add(node.version)
    return counts, opsets


def _opsets_text(opsets: set[int]) -> str:
    return " and ".join(map(str, sorted(opsets)))


def _operators_text(counts: dict[str, int]) -> str:
    parts = [operator if count == 1 else f"{operator} ({count} nodes)" for operator, count in counts.items()]
    return first_few(parts, _SHOWN)
