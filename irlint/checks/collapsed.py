"""Finds activations, limits and comparisons that return the same number for every possible input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isfinite

from irlint.checks.factors import RESULT_CONSTANT
from irlint.checks.transfer_table import COMPARISONS
from irlint.checks.transfers import Interval
from irlint.checks.values import Values
from irlint.findings.faults import Fault
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, Tensor

#: (high, low) of each function. All inputs of at least ``high`` have the same result in float32; so do all inputs of
#: at most ``low``.
FLAT: Mapping[str, tuple[float, float]] = {"Sigmoid": (40, -110), "Tanh": (20, -20), "Erf": (10, -10)}

#: Comparisons with numbers of this magnitude test for infinity.
HUGE = 1e30

#: Comparisons of numbers with a limit.
COMPARING = frozenset(COMPARISONS)


def faults(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a node whose result is the same number for all data; nothing if its results may differ."""
    varying = [value for value in node.inputs if value is not None and not _is_constant(values, value)]
    if not varying or _is_crossed(values, node) or not all(map(values.is_limited, varying)):
        return
    known, span = values.known.types.get(varying[0]), values.intervals.whole(varying[0])
    result = _result(values, node, span) if isinstance(known, Tensor) and known.dtype in FLOATS else ""
    if result and any(values.intervals.whole(each).low < values.intervals.whole(each).high for each in varying):
        if any(_is_of_data(values, value) for value in varying):
            at = node.inputs.index(varying[0])
            yield RESULT_CONSTANT.fault(
                f"input {at} is {span.text}: every result is {result}",
                help="correct the sign or the size of the input, or the limit",
                input=at,
            )


def _result(values: Values, node: Node, span: Interval) -> str:
    """The text of the only result of a node if its varying input lies in ``span``; "" if the results may differ."""
    if node.op in COMPARING:
        one, other = map(values.intervals.whole, node.inputs)
        is_apart = -HUGE < one.high < other.low < HUGE or -HUGE < other.high < one.low < HUGE
        return "the same" if is_apart else ""
    above, below = FLAT.get(node.op, (inf, -inf))
    if above <= span.low or span.high <= below:
        return "the same"
    result = values.intervals.result(node)
    return f"{result.low:g}" if result.low == result.high and isfinite(result.low) else ""


def _is_constant(values: Values, value: Value) -> bool:
    tensor = values.known.types.get(value)
    return isinstance(tensor, Tensor) and (tensor.value is not None or tensor.extent is not None)


def _is_crossed(values: Values, node: Node) -> bool:
    """Whether a Clip can only return one number because its minimum is not below its maximum (another rule reports
    it)."""
    low, high = (values.number(node, index) for index in (1, 2))
    return node.op == "Clip" and low is not None and high is not None and low >= high


def _is_of_data(values: Values, value: Value, steps: int = 64) -> bool:
    """Whether a value is computed from an input of the model."""
    waiting = [value]
    while waiting and steps:
        node, steps = values.makers.get(waiting[-1]), steps - 1
        found = waiting.pop()
        if node is None or not node.inputs:
            if not _is_constant(values, found):
                return True
            continue
        if node.op not in ("Shape", "ShapeOf"):
            waiting += [each for each in node.inputs if each is not None and not _is_constant(values, each)]
    return False


def selected(values: Values, node: Node) -> Iterator[Fault]:
    """The faults of a NonMaxSuppression that selects no box; nothing if it may select one.

    It selects none if the maximum number of boxes is 0, or if no score can reach the threshold.
    """
    if values.number(node, 2) == 0:
        yield RESULT_CONSTANT.fault(
            "input 2 (max_output_boxes_per_class) is 0: no box is ever selected",
            help="write the number of boxes",
            input=2,
        )
    scores, threshold = values.intervals.whole(node.inputs[1]), values.number(node, 4)
    if threshold is not None and scores.high < threshold:
        yield RESULT_CONSTANT.fault(
            f"input 1 (scores) is {scores.text} and input 4 (score_threshold) is {threshold:g}: no box is selected",
            help="write a threshold in the range of the scores",
            input=4,
        )
