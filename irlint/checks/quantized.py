"""Finds faulty quantization: all numbers become one, scales on an axis that is ignored, wrong scales of biases, and
nodes of which only one input is quantized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import inf, isfinite

from irlint.checks.transfers import ANY, Interval, joined, of_type
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node, Value
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops.quantized.parameters import SCALE_UNUSABLE
from irlint.ops.shared.contents import extent

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
)
AXIS_IGNORED = Rule(
    "IRL748",
    "quantization-axis-ignored",
    Severity.WARNING,
    "The scales of a weight lie on an axis that ONNX Runtime ignores.",
    why="ONNX Runtime replaces a quantized Conv by QLinearConv, and a quantized MatMul by MatMulIntegerToFloat. Both "
    "use the scales for the output channels, whatever `axis` states: axis 0 of the weight of a Conv, the last axis of "
    "that of a MatMul. The results are wrong, or the node fails when it runs if the number of scales differs.",
    fix="Quantize the weight along its output channels.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,2] q) => (float[1,2] y) <float s = {0.1}, uint8 z = {0}, int8[2,2] w = {1, 2, 3, 4}, float[2] t = {0.1, 0.5}>
{ x = DequantizeLinear (q, s, z) v = DequantizeLinear <axis = 0> (w, t) y = MatMul (x, v) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,2] q) => (float[1,2] y) <float s = {0.1}, uint8 z = {0}, int8[2,2] w = {1, 2, 3, 4}, float[2] t = {0.1, 0.5}>
{ x = DequantizeLinear (q, s, z) v = DequantizeLinear <axis = 1> (w, t) y = MatMul (x, v) }""",
)
BIAS_SCALE = Rule(
    "IRL749",
    "quantization-bias-scale",
    Severity.WARNING,
    "The scale of an int32 bias is not the product of the scales of data and weight.",
    why="Integer kernels add the int32 bias directly to the int32 sums. The scale of these sums is (scale of data) * "
    "(scale of weight), so the bias must have the same scale. ONNX Runtime before 1.27 ignores the scale of the bias "
    "where it replaces the node by QLinearConv, and gives other results than the model states; later releases compute "
    "the node in float32.",
    fix="Quantize the bias again with the product as its scale.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,1,4] q) => (uint8[1,1,4] y) <float s = {0.1}, uint8 z = {0}, int8[1,1,1] w = {9}, float t = {0.2},
int32[1] b = {50}, float u = {0.1}> { x = DequantizeLinear (q, s, z) v = DequantizeLinear (w, t)
c = DequantizeLinear (b, u) r = Conv (x, v, c) y = QuantizeLinear (r, s, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[1,1,4] q) => (uint8[1,1,4] y) <float s = {0.1}, uint8 z = {0}, int8[1,1,1] w = {9}, float t = {0.2},
int32[1] b = {50}, float u = {0.02}> { x = DequantizeLinear (q, s, z) v = DequantizeLinear (w, t)
c = DequantizeLinear (b, u) r = Conv (x, v, c) y = QuantizeLinear (r, s, z) }""",
)

IN_PART = Rule(
    "IRL750",
    "quantized-in-part",
    Severity.NOTE,
    "One input of a node is dequantized and the other is not, though the result is quantized.",
    why="A runtime computes in integers only if both inputs are integers. ONNX Runtime computes such an Add or Concat "
    "in float32. OpenVINO and ONNX Runtime 1.20 compute such a Conv in floating point; ONNX Runtime 1.24 and later "
    "quantize its weight themselves. The results are right, but the speed of integers is lost.",
    fix="Quantize both inputs, or neither.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2] q, float[2] x) => (uint8[2] y) <float s = {0.1}, uint8 z = {0}>
{ a = DequantizeLinear (q, s, z) r = Add (a, x) y = QuantizeLinear (r, s, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (uint8[2] q, uint8[2] p) => (uint8[2] y) <float s = {0.1}, uint8 z = {0}>
{ a = DequantizeLinear (q, s, z) x = DequantizeLinear (p, s, z) r = Add (a, x) y = QuantizeLinear (r, s, z) }""",
)

#: At most this many nodes are followed from a value back to a constant.
STEPS = 8

#: Element types of which ONNX Runtime has integer kernels.
EIGHT_BITS = ("int8", "uint8")

#: The greatest relative difference of the scale of a bias from the product: both are rounded to float32.
TOLERANCE = 1e-3

#: The axis of the output channels of a weight, by the operator that ONNX Runtime replaces.
CHANNELS: Mapping[str, int] = {"Conv": 0, "MatMul": 1}

#: Operators whose inputs are quantized together.
JOINING = ("Add", "Concat")

#: Operators that are examined in graphs that dequantize values.
EXAMINED = frozenset((*CHANNELS, *JOINING, "DequantizeLinear"))

#: Element types in which weights are compressed.
COMPRESSED = frozenset(("int4", "uint4", "int8", "uint8"))

#: The least normal number of float32.
SMALLEST_NORMAL = 2.0**-126

#: Numbers above the root of the largest float32 overflow when they are multiplied by each other.
LARGE = 2.0**64

#: The levels of a wider range have normal numbers between them, however many there are.
NARROW = SMALLEST_NORMAL * 2**32


def faults(values: Values, node: Node) -> tuple[Fault, ...]:
    """The fault of a QuantizeLinear or FakeQuantize that maps all numbers to one number or to its limits; none if it
    does not."""
    found = _quantized(values, node) if node.op == "QuantizeLinear" else _limited(values, node)
    return (ONE_VALUE.fault(found, help="measure the scale again on data of input 0", input=0),) if found else ()


def _quantized(values: Values, node: Node) -> str:
    """The message about a QuantizeLinear that maps every number to the same one; "" if it maps numbers to several, or
    if that is unknown."""
    scale, zero = values.number(node, 1), values.number(node, 2) if len(node.inputs) > 2 else 0.0
    made = values.known.types.get(node.outputs[0]) if node.outputs[0] is not None else None
    if scale is None or zero is None or not 0 < scale < inf or not isinstance(made, Tensor):
        return ""
    span = values.intervals.whole(node.inputs[0])
    if made.dtype not in INTEGERS or span.low == span.high:
        return ""
    if scale > 2 * LARGE:
        return f"the scale is {scale:g}: every number below {scale / 2:g} becomes {zero:g}"
    held = of_type(made.dtype)
    ends = [_step(end / scale + zero, held) for end in (span.low, span.high)]
    return (
        f"input 0 is {span.text} and the scale is {scale:g}: every number becomes {ends[0]:g}"
        if (ends[0] == ends[1])
        else ""
    )


def _step(number: float, held: Interval) -> float:
    """The quantized number before it is stored: rounded, and limited to the numbers of the type."""
    return min(max(number if abs(number) == inf else round(number), held.low), held.high)


def _limited(values: Values, node: Node) -> str:
    """The message about a FakeQuantize that maps every number to one number or to its limits; "" if it maps numbers to
    several, or if that is unknown."""
    if len(node.inputs) < 5:
        return ""
    whole, levels = values.intervals.whole, _levels(node)
    least, most = whole(node.inputs[1]), whole(node.inputs[2])
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
    data = whole(node.inputs[0])
    if data.low == data.high:
        return ""
    if data.high <= least.low < inf or data.low > most.high > -inf:
        return f"input 0 is {data.text}, beyond the limits {least.low:g} to {most.high:g}: every number becomes one"
    types = values.known.types_of(node.inputs)
    given = types[3] is types[1] and types[4] is types[2]
    made = ANY if given else joined([whole(node.inputs[index]) for index in (3, 4)])
    if _is_known(made) and isfinite(made.low):
        return f"output_low and output_high are {made.low:g}: every number becomes {made.low:g}"
    return _of_steps(data, least, most, levels) if data.high - data.low < inf else ""


def _of_steps(data: Interval, least: Interval, most: Interval, levels: int) -> str:
    """The message about levels that are so far apart that every number becomes the same one; "" if they are not."""
    if levels < 2 or not (_is_known(least) and _is_known(most) and least.low < most.low):
        return ""
    step = (most.low - least.low) / (levels - 1)
    first, last = (round((min(max(end, least.low), most.low) - least.low) / step) for end in (data.low, data.high))
    if first < last:
        return ""
    return f"input 0 is {data.text}, and the {levels} levels are {step:g} apart: every number becomes one"


def _levels(node: Node) -> int:
    """The number of levels of a FakeQuantize, 0 if it is not readable."""
    levels = node.attributes.get("levels")
    text = "" if levels is None else str(levels.value)
    return int(text) if text.isdecimal() else 0


def decompressed(values: Values, node: Node, maker: Node) -> Iterator[Fault]:
    """The fault of a product with a scale of 0 after compressed weights are converted to floating point; none if they
    are not compressed weights. ``maker`` is the conversion, or the subtraction after it."""
    while maker.op in ("Sub", "Subtract"):
        before = values.makers.get(maker.inputs[0]) if maker.inputs[0] is not None else None
        if before is None:
            return
        maker = before
    stored = values.tensor(maker, 0)
    is_weight = maker.op in ("Cast", "Convert") and maker.inputs[0] in values.graph.constants
    if is_weight and stored is not None and stored.dtype in COMPRESSED:
        yield SCALE_UNUSABLE.fault(
            "input 1 (scale) contains a scale that is 0, which erases weights; a scale is a finite number above 0",
            help="compress the weights again",
            input=1,
        )


def _is_known(given: Interval) -> bool:
    """Whether an interval is a single number."""
    return given.low == given.high


class Dequantized:
    """Checks of nodes that read dequantized values, in one graph."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.makers = values.makers

    @cached_property
    def requantized(self) -> frozenset[Value | None]:
        """The inputs of QuantizeLinear nodes."""
        nodes = self.values.graph.nodes
        return frozenset(node.inputs[0] for node in nodes if node.op == "QuantizeLinear" and node.inputs)

    def source(self, node: Node, index: int) -> Node | None:
        """The DequantizeLinear that computes an input, if it reads integers of 8 bits or, for input 2 (a bias), of 32
        bits; else None."""
        value = node.inputs[index] if index < len(node.inputs) else None
        maker = self.makers.get(value) if value is not None else None
        if maker is None or maker.op != "DequantizeLinear" or len(maker.inputs) < 2:
            return None
        stored = self.values.tensor(maker, 0)
        wanted = EIGHT_BITS if index < 2 else ("int32",)
        return maker if stored is not None and stored.dtype in wanted else None

    def faults(self, node: Node) -> Iterator[Fault]:
        """The faults of the scales of a node, and of inputs that are not quantized."""
        if node.op in JOINING:
            yield from self._in_part(node)
            return
        if node.op == "DequantizeLinear":
            yield from self._all_zeros(node)
            return
        if node.op == "Conv":
            yield from self._float_weight(node)
            yield from self._float_data(node)
        data, weight = self.source(node, 0), self.source(node, 1)
        if data is None or weight is None:
            return
        if (node.outputs[0] in self.requantized) == (node.op == "Conv"):
            yield from self._axis(node, weight)
        if node.op == "Conv":
            bias = self.source(node, 2)
            if bias is not None:
                yield from self._bias(data, weight, bias)

    def _in_part(self, node: Node) -> Iterator[Fault]:
        """The fault of a node with a quantized result, of which one input is dequantized and another is not."""
        if node.outputs[0] not in self.requantized:
            return
        varying = {index: value for index, value in enumerate(node.inputs) if not self._is_constant(value)}
        makers = {index: self.makers.get(value) for index, value in varying.items() if value is not None}
        done = [maker for maker in makers.values() if maker is not None and maker.op == "DequantizeLinear"]
        left = [index for index, maker in makers.items() if maker not in done]
        if done and left:
            yield IN_PART.fault(
                f"`{done[0].label}` dequantizes another input, and input {left[0]} is not quantized",
                help=f"quantize input {left[0]}, too, or neither",
                input=left[0],
            )

    def _float_weight(self, node: Node) -> Iterator[Fault]:
        """The fault of a weight that is not quantized, although the data and the result are."""
        data, weight = self.source(node, 0), node.inputs[1] if len(node.inputs) > 1 else None
        if data is not None and weight in self.values.graph.constants and node.outputs[0] in self.requantized:
            yield IN_PART.fault(
                f"`{data.label}` dequantizes input 0, and input 1, the weight, is not quantized",
                help="quantize the weight, too, or neither",
                input=1,
            )

    def _float_data(self, node: Node) -> Iterator[Fault]:
        """The fault of data that is not quantized, although the weight and the result are."""
        weight, data = self.source(node, 1), node.inputs[0]
        maker = self.makers.get(data) if data is not None else None
        is_float = (maker is None or maker.op != "DequantizeLinear") and not self._is_constant(data)
        if (
            weight is not None
            and self._is_constant(weight.inputs[0])
            and is_float
            and node.outputs[0] in self.requantized
        ):
            yield IN_PART.fault(
                f"`{weight.label}` dequantizes input 1, the weight, and input 0 is not quantized",
                help="quantize input 0, too, or neither",
                input=0,
            )

    def _all_zeros(self, node: Node) -> Iterator[Fault]:
        """The fault of a weight that consists of zeros although its scale is above 1: quantizers give a weight of zeros
        a scale of 1 at most."""
        stored = node.inputs[0] if node.inputs else None
        numbers = self.values.tensor(node, 0) if stored in self.values.graph.constants else None
        if numbers is None or numbers.dtype not in EIGHT_BITS or numbers.value is None or len(numbers.value) < 2:
            return
        scale = self.values.number(node, 1)
        zero = self.values.number(node, 2) if len(node.inputs) > 2 else 0.0
        if scale is not None and scale > 1 and all(number == zero for number in numbers.value):
            yield ONE_VALUE.fault(
                f"all {len(numbers.value)} numbers of input 0 are {zero:g}, and the scale is {scale:g}: nothing is "
                "left of the weight",
                help="quantize the weight again with a scale of its own",
                input=1,
            )

    def _is_constant(self, value: Value | None, steps: int = STEPS) -> bool:
        """Whether a value is known before the model runs: it is omitted, constant, or quantized or dequantized from a
        constant."""
        if not steps:
            return False
        if value is None or value in self.values.graph.constants:
            return True
        maker, known = self.makers.get(value), self.values.known.types.get(value)
        if isinstance(known, Tensor) and known.value is not None:
            return True
        passes = maker is not None and maker.op in ("DequantizeLinear", "QuantizeLinear") and maker.inputs
        return maker is not None and (
            not maker.inputs or bool(passes and self._is_constant(maker.inputs[0], steps - 1))
        )

    def _axis(self, node: Node, weight: Node) -> Iterator[Fault]:
        """The fault of a weight whose scales are not on the axis of the output channels."""
        stored, scales = self.values.tensor(weight, 0), self.values.tensor(weight, 1)
        if stored is None or not stored.rank or scales is None or scales.shape is None or len(scales.shape) != 1:
            return
        if scales.shape[0] == 1 or (node.op == "MatMul" and stored.rank != 2) or "block_size" in weight.attributes:
            return
        attribute = weight.attributes.get("axis")
        stated = attribute.value if attribute is not None else 1
        channels = CHANNELS[node.op]
        if isinstance(stated, int) and stated % stored.rank != channels:
            yield AXIS_IGNORED.fault(
                f"the scales of input 1 lie on axis {stated % stored.rank}; ONNX Runtime takes them for those of axis "
                f"{channels}, the output channels",
                help=f"quantize the weight along axis {channels}",
                input=1,
            )

    def _bias(self, data: Node, weight: Node, bias: Node) -> Iterator[Fault]:
        """The fault of a bias whose scale is not the product of the scales of data and weight."""
        spans = [extent(self.values.tensor(node, 1)) for node in (data, weight, bias)]
        ends = [(span.least, span.most) for span in spans if span is not None]
        if len(ends) < 3 or any(end is None or end <= 0 for pair in ends for end in pair):
            return
        for at in (0, 1):
            x, w, b = (pair[at] or 0.0 for pair in ends)
            if abs(x * w - b) > TOLERANCE * x * w:
                yield BIAS_SCALE.fault(
                    f"the scale of input 2 (bias) is {b:g}, and that of input 0 times that of input 1 is {x * w:g}",
                    help=f"quantize the bias again with the scale {x * w:g}",
                    input=2,
                )
                return


def of_graph(values: Values) -> Iterator[tuple[Node, Fault]]:
    """Each fault of a node that reads dequantized values, with the node."""
    read = Dequantized(values)
    for node in values.graph.nodes:
        is_read = node.op in EXAMINED and node.outputs
        if is_read and node not in values.known.faulted:
            for fault in read.faults(node):
                yield node, fault
