"""Finds quantizations that map every number to the same number."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, isfinite, prod

from irlint.checks.transfers import ANY, Interval, joined, of_type
from irlint.checks.values import Values, integer_in
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node
from irlint.model.tensor import INTEGERS, Extent, Tensor, Type
from irlint.ops.quantized.parameters import SCALE_UNUSABLE, out_of_range
from irlint.ops.shared.contents import are_finite, extent, static
from irlint.parsers.weights import Weights

ONE_VALUE = Rule(
    "IRL747",
    "quantization-one-value",
    Severity.WARNING,
    "A quantization gives the same number for every input.",
    why="Every number of the input is smaller than half the scale, or lies beyond the limits of the quantized type, so "
    "all results are equal. The scale may belong to another tensor, or the limits of a FakeQuantize are exchanged.",
    fix="Measure the scale again on data of this tensor.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (uint8[2] y) <float s = {4.0}, uint8 z = {0}> { p = Sigmoid (x) y = QuantizeLinear (p, s, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (uint8[2] y) <float s = {0.00392}, uint8 z = {0}> { p = Sigmoid (x) y = QuantizeLinear (p, s, z) }""",
    role="value",
)
#: Element types in which weights are compressed.
COMPRESSED = frozenset(("int4", "uint4", "int8", "uint8"))

#: Products of integers without a scale.
INTEGER_PRODUCTS = frozenset(("MatMulInteger", "ConvInteger"))

#: The least normal number of float32.
SMALLEST_NORMAL = 2.0**-126

#: Numbers above the root of the largest float32 overflow when they are multiplied by each other.
LARGE = 2.0**64

#: In a wider range, the distance between two levels is a normal number, for any number of levels.
NARROW = SMALLEST_NORMAL * 2**32

#: The highest bytes of numbers of float32 that are negative or below 2**-125, and of those that are at least 2**-31.
UP_TO_0, ABOVE_0 = bytes((0, *range(0x80, 0xFF))), bytes(range(0x30, 0x7F))


def faults(values: Values, node: Node) -> tuple[Fault, ...]:
    """The fault of a QuantizeLinear or FakeQuantize that maps all numbers to one number or to its limits; none if it
    does not."""
    found = _quantized(values, node) if node.op == "QuantizeLinear" else _limited(values, node)
    return (ONE_VALUE.fault(found, help="measure the scale again on data of input 0", input=0),) if found else ()


def _quantized(values: Values, node: Node) -> str:
    """The message about a QuantizeLinear that maps every number to the same number; "" if it may map numbers to several
    numbers."""
    whole, made = values.intervals.whole, values.known.types.get(node.outputs[0]) if node.outputs[0] else None
    if len(node.inputs) < 2 or not isinstance(made, Tensor) or made.dtype not in INTEGERS:
        return ""
    scale, span = whole(node.inputs[1]), whole(node.inputs[0])
    zero = whole(node.inputs[2]) if len(node.inputs) > 2 and node.inputs[2] is not None else Interval(0, 0)
    if not (scale.low > 0 and scale.high < inf and _is_known(zero)) or span.low == span.high:
        return ""
    if scale.low > 2 * LARGE:
        return f"the scale is {scale.text}: every number below {scale.low / 2:g} becomes {zero.low:g}"
    held = of_type(made.dtype)
    steps = {_step(end / each + zero.low, held) for end in (span.low, span.high) for each in (scale.low, scale.high)}
    if len(steps) > 1:
        return ""
    return f"input 0 is {span.text} and the scale is {scale.text}: every number becomes {steps.pop():g}"


def _step(number: float, held: Interval) -> float:
    """The number after it is rounded and limited to the range ``held`` of the quantized type."""
    return min(max(number if abs(number) == inf else round(number), held.low), held.high)


def _limited(values: Values, node: Node) -> str:
    """The message about a FakeQuantize that maps every number to one number or to its limits; "" if it may map numbers
    to other numbers."""
    if len(node.inputs) < 5:
        return ""
    types, whole = values.known.types_of(node.inputs), values.intervals.whole
    given = types[3] is types[1] and types[4] is types[2]
    data = whole(node.inputs[0])
    if given and data.low <= 0 and data.high == inf and _enclose_0(types[1], types[2]):
        return ""
    least, most, levels = whole(node.inputs[1]), whole(node.inputs[2]), _levels(node)
    width = most.high - least.low
    if 0 < width < NARROW and width < SMALLEST_NORMAL * (levels - 1):
        return (
            f"input_low is {least.low:g} and input_high is {most.high:g}, too near for float32 to have {levels} "
            "levels between them: every number becomes a limit"
        )
    if least.low >= most.low:
        low, high = (values.intervals.parts(node.inputs[index]) for index in (1, 2))
        if len(low) == len(high) and all(_is_known(a) and _is_known(b) and a.low >= b.low for a, b in zip(low, high)):
            return f"input_low is {low[0].low:g} and input_high is {high[0].low:g}: every number becomes a limit"
    if data.low == data.high:
        return ""
    if data.high <= least.low < inf or data.low >= most.high > -inf:
        return f"input 0 is {data.text}, beyond the limits {least.low:g} to {most.high:g}: every number becomes one"
    made = ANY if given else joined([whole(node.inputs[index]) for index in (3, 4)])
    if _is_known(made) and isfinite(made.low):
        return f"output_low and output_high are {made.low:g}: every number becomes {made.low:g}"
    if levels < 2 or not (most.high - least.low) / (levels - 1) > data.high - data.low:
        return ""
    lows, highs = (values.intervals.parts(node.inputs[index]) for index in (1, 2))
    if len(lows) != len(highs) or not all(map(_is_known, (*lows, *highs))):
        return ""
    steps = [_one_step(data, low.low, high.low, levels) for low, high in zip(lows, highs)]
    if not all(steps):
        return ""
    apart = f"{steps[0]:g}" if len(set(steps)) == 1 else f"{min(steps):g} or more"
    return f"input 0 is {data.text}, and the {levels} levels are {apart} apart: every number becomes one"


def _enclose_0(low: Type | None, high: Type | None) -> bool:
    """Whether the highest bytes of two constants show that all numbers of the first are at most almost 0, and those of
    the second are clearly above 0."""
    if not (type(low) is type(high) is Weights and low.dtype == high.dtype == "float32"):
        return False
    return not low.raw[3::4].translate(None, UP_TO_0) and not high.raw[3::4].translate(None, ABOVE_0)


def _one_step(data: Interval, least: float, most: float, levels: int) -> float:
    """The distance of the levels between two limits if every number becomes the same level; otherwise 0."""
    step = (most - least) / (levels - 1)
    if not step > 0:
        return 0.0
    first, last = (round((min(max(end, least), most) - least) / step) for end in (data.low, data.high))
    return step if first == last else 0.0


def _levels(node: Node) -> int:
    """The number of levels of a FakeQuantize; 0 if it is not readable."""
    return max(integer_in(node.attributes.get("levels")) or 0, 0)


def decompressed(values: Values, node: Node, maker: Node) -> Iterator[Fault]:
    """The fault of a multiplication by a scale that makes the results 0 or infinite. Input 0 must be compressed
    weights, a product of integers, or the measured scale of quantized data; other multiplications have no fault.

    ``maker`` computes input 0. It is a conversion to floating point, or the subtraction after the conversion.
    """
    zero: float | None = 0.0
    while maker.op in ("Sub", "Subtract"):
        before, zero = values.maker(maker, 0), only_number(values.tensor(maker, 1))
        if before is None:
            return
        maker = before
    stored, scale = values.tensor(maker, 0), values.tensor(node, 1)
    is_weight = maker.op in ("Cast", "Convert") and not values.graph.constants.keys().isdisjoint(maker.inputs)
    is_compressed = is_weight and stored is not None and stored.dtype in COMPRESSED
    if not is_compressed and not _is_of_integers(values, maker):
        return
    span = extent(scale)
    if span is None or span.nans or span.infinities:
        return
    wrong = "is 0, which erases weights" if span.has_zero else out_of_range(span, divides=False)
    if wrong:
        yield SCALE_UNUSABLE.fault(
            f"input 1 (scale) contains a scale that {wrong}; a scale is a finite number above 0",
            help="compress the weights again",
            input=1,
        )
    elif stored is not None and is_compressed and zero is not None and only_number(stored) == zero:
        yield from nothing_left(stored, span)


def _is_of_integers(values: Values, maker: Node) -> bool:
    """Whether a node converts a product of integers, or measures the scale of data (DynamicQuantizeLinear)."""
    before = values.maker(maker, 0) if maker.op in ("Cast", "Convert") else None
    return maker.op == "DynamicQuantizeLinear" or (before is not None and before.op in INTEGER_PRODUCTS)


def nothing_left(stored: Tensor, scale: Extent) -> Iterator[Fault]:
    """The fault of quantized weights that all equal their zero point, if each scale is above 1 or the scales differ.
    Weights that were 0 before quantization do not have these scales: quantizers give them equal scales of at most 1."""
    number, count = only_number(stored), prod(static(stored.shape or ()))
    if number is None or count < 2 or scale.least is None or not (scale.least > 1 or scale.least != scale.most):
        return
    text = f"{scale.least:g} or more" if scale.least > 1 else f"{scale.least:g} to {scale.most:g}"
    yield ONE_VALUE.fault(
        f"all {count} numbers of input 0 are {number:g}, and the scale is {text}: nothing is left of the weight",
        help="quantize the weight again with a scale of its own",
        input=1,
    )


def only_number(tensor: Tensor | None) -> float | None:
    """The number that all elements of a tensor equal; None if elements differ or are unknown."""
    span = extent(tensor)
    if tensor is None or span is None or span.least != span.most or span.nans or span.infinities:
        return None
    return span.least if tensor.value is None or are_finite(tensor.value) else None


def _is_known(given: Interval) -> bool:
    """Whether an interval is a single number."""
    return given.low == given.high
