"""Finds numbers with which ONNX Runtime fails when a node runs, and Clips whose minimum is not below the maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from irlint.checks.factors import RESULT_CONSTANT
from irlint.checks.values import Values, number_in
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node
from irlint.model.order import used_values
from irlint.model.tensor import FLOATS, Tensor

FAILS_WHEN_RUN = Rule(
    "IRL744",
    "fails-when-run",
    Severity.WARNING,
    "ONNX Runtime loads a node that fails each time it runs.",
    why="ONNX Runtime reads the ratio of a Dropout and the depth of a OneHot only when the node runs: it fails for a "
    "ratio below 0 or of at least 1, also without training, and for a depth of 0. A Dropout that its optimizer removes "
    "before is not reported. OpenVINO ignores the ratio, and gives an empty tensor for the depth.",
    fix="Correct the number.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float r = {1.5}> { y = Dropout (x, r) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float r = {0.5}> { y = Dropout (x, r) }""",
)
BOUNDS_CROSSED = Rule(
    "IRL746",
    "clip-bounds-crossed",
    Severity.WARNING,
    "The minimum of a Clip is not below its maximum.",
    why="The result is the same for every number: ONNX Runtime and OpenVINO return the maximum. NaN may stay "
    "NaN. A Clip of floating-point numbers is also reported if its bounds are equal.",
    fix="Exchange the minimum and the maximum, or correct the bounds.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float low = {6.0}, float high = {0.0}> { y = Clip (x, low, high) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float low = {0.0}, float high = {6.0}> { y = Clip (x, low, high) }""",
    role="value",
)

#: The bounds of a Clip or Clamp, by the index of the input that replaces them.
BOUNDS: Mapping[int, str] = {1: "min", 2: "max"}


def faults(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a Dropout, a OneHot or a Clip; nothing if its numbers are sound or unknown, or if another rule
    reports them."""
    return CHECKS[node.op](values, node)


def _dropout(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a ratio that ONNX Runtime refuses; nothing if the ratio is sound or unknown, or the node may be
    removed."""
    ratio = values.number(node, 1)
    if ratio is not None and not 0 <= ratio < 1 and not _may_be_removed(values, node):
        yield FAILS_WHEN_RUN.fault(
            f"input 1 (ratio) is {ratio:g}: ONNX Runtime accepts 0 to less than 1, and fails when the node runs",
            help="write a ratio from 0 to less than 1",
            input=1,
        )


def _may_be_removed(values: Values, node: Node) -> bool:
    """Whether ONNX Runtime's optimizer may remove a Dropout: one behind another node, whose result is no output of the
    graph, and whose mask is not used. Calls and branches may be inlined, so that their Dropouts may be removed, too."""
    if values.first is not None:
        return True
    made, *masks = node.outputs
    needed = used_values(values.graph)
    is_kept = values.maker(node, 0) is None or made in values.graph.outputs or not needed.isdisjoint(masks)
    return not is_kept


def _one_hot(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a depth of 0; nothing if the depth is another number or unknown."""
    if values.number(node, 1) == 0 and node.domain == "":
        yield FAILS_WHEN_RUN.fault(
            "input 1 (depth) is 0: ONNX Runtime fails when the node runs",
            help="write the number of classes",
            input=1,
        )


def _clip(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a minimum that is not below the maximum; nothing if one of the two is unknown or NaN.

    Integers may have equal bounds: indices along an axis of size 1 can only be 0.
    """
    by_input = len(node.inputs) > 1
    bounds = [values.number(node, at) if by_input else number_in(node.attributes.get(BOUNDS[at])) for at in (1, 2)]
    least, most = bounds
    clipped = values.tensor(node, 0)
    if least is None or most is None or not least >= most or (least == most and not _is_float(clipped)):
        return
    names = ("input 1 (min)", "input 2 (max)") if by_input else ("`min`", "`max`")
    yield BOUNDS_CROSSED.fault(
        f"{names[0]} is {least:g} and {names[1]} is {most:g}: every result is {most:g}",
        help="exchange the minimum and the maximum" if least > most else "write the bounds that are intended",
        input=1 if by_input else None,
        attribute=None if by_input else "min",
    )


def reduced_nothing(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a reduction over an axis of size 0 whose result has elements. Runtimes return 0, an infinity,
    or the largest or smallest number of float32 for them."""
    made = values.known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
    if isinstance(made, Tensor) and made.dtype in FLOATS and made.shape is not None and 0 not in made.shape:
        yield RESULT_CONSTANT.fault(
            "an axis that is reduced has size 0: every result is made of no element",
            help="correct the slice, or the axes that are reduced",
            input=0,
        )


def _is_float(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dtype in FLOATS


CHECKS: Mapping[str, Callable[[Values, Node], Iterator[Fault]]] = {
    "Dropout": _dropout,
    "OneHot": _one_hot,
    "Clip": _clip,
    "Clamp": _clip,
}
