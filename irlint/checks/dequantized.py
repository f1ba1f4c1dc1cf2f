"""Finds faults of nodes that read dequantized values: scales on an axis that ONNX Runtime ignores, wrong scales of
biases, zero points that differ from those of the quantization, and nodes of which only one input is quantized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from irlint.checks.examined import DECOMPRESSING
from irlint.checks.quantized import COMPRESSED, nothing_left, only_number
from irlint.checks.values import Values
from irlint.findings.faults import Fault, Rule, Severity
from irlint.model import Node, Value
from irlint.model.tensor import Tensor
from irlint.ops.shared.contents import extent

AXIS_IGNORED = Rule(
    "IRL748",
    "quantization-axis-ignored",
    Severity.WARNING,
    "The scales of a weight lie on an axis that ONNX Runtime ignores.",
    why="ONNX Runtime replaces a quantized Conv by QLinearConv, and a quantized MatMul by MatMulIntegerToFloat. Both "
    "use the scales for the output channels, whatever `axis` states: axis 0 of a Conv weight, the last axis of a "
    "MatMul weight. The results are wrong, or the node fails when it runs if the number of scales differs.",
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

ZERO_POINTS_DIFFER = Rule(
    "IRL752",
    "zero-points-differ",
    Severity.WARNING,
    "A node subtracts another zero point than the quantization before it has added.",
    why="QuantizeLinear and DynamicQuantizeLinear add the zero point; DequantizeLinear, MatMulInteger and ConvInteger "
    "subtract it. If the two differ, every number is shifted by their difference, times the scale.",
    fix="Connect the zero point of the quantization.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float s = {0.1}, uint8 z = {120}, uint8 o = {0}>
{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, o) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float s = {0.1}, uint8 z = {120}>
{ q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }""",
)

INPUT_CHANNELS = Rule(
    "IRL753",
    "scales-of-input-channels",
    Severity.NOTE,
    "The scales of the weight of a convolution lie on its input channels.",
    why="Quantizers give each output channel of a convolution its own scale. If a weight has as many input channels as "
    "output channels, scales on the wrong axis also fit, and each number is multiplied by the scale of another "
    "channel.",
    fix="Check along which axis the weight was quantized.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,4] x) => (float[1,2,4] y) <int8[2,2,1] w = {1, 2, 3, 4}, float[2] s = {0.1, 0.5}>
{ v = DequantizeLinear <axis = 1> (w, s) y = Conv (x, v) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,4] x) => (float[1,2,4] y) <int8[2,2,1] w = {1, 2, 3, 4}, float[2] s = {0.1, 0.5}>
{ v = DequantizeLinear <axis = 0> (w, s) y = Conv (x, v) }""",
)

#: At most this many nodes are followed from a value back to a constant.
STEPS = 8

#: Element types of which ONNX Runtime has integer kernels.
EIGHT_BITS = ("int8", "uint8")

#: The maximum relative difference between the scale of a bias and the product of the two other scales. All are rounded
#: to float32.
TOLERANCE = 1e-3

#: The axis of the output channels of a weight, by the operator that ONNX Runtime replaces.
CHANNELS: Mapping[str, int] = {"Conv": 0, "MatMul": 1}

#: The axis of the input channels of a weight, by the convolution of either format.
INPUT_AXES: Mapping[str, int] = {"Conv": 1, "Convolution": 1, "ConvTranspose": 0, "ConvolutionBackpropData": 0}

#: Operators whose inputs are quantized together.
JOINING = ("Add", "Concat")

#: Operators that are examined in graphs that dequantize values.
EXAMINED = frozenset((*CHANNELS, *JOINING, "DequantizeLinear"))


def misplaced(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of a convolution whose weight has its scales along the input channels, if it has as many output
    channels as input channels."""
    maker, wrong = values.maker(node, 1), INPUT_AXES[node.op]
    weight, scales = values.tensor(node, 1), values.tensor(maker, 1) if maker is not None else None
    if maker is None or scales is None or scales.shape is None or weight is None or weight.shape is None:
        return
    if maker.op == "DequantizeLinear":
        attribute = maker.attributes.get("axis")
        axis = attribute.value if attribute is not None else 1
        is_input = len(scales.shape) == 1 and axis in (wrong, wrong - len(weight.shape))
    else:
        before = values.maker(maker, 0)
        is_scaled = maker.op == "FakeQuantize" or (before is not None and before.op in DECOMPRESSING)
        is_input = is_scaled and len(scales.shape) == len(weight.shape)
        is_input = is_input and all((dim == 1) == (axis != wrong) for axis, dim in enumerate(scales.shape))
    inputs, outputs = weight.shape[wrong], weight.shape[1 - wrong]
    if is_input and inputs == outputs and inputs not in (None, 1) and scales.shape != (1,):
        yield INPUT_CHANNELS.fault(
            f"the scales of input 1 lie on axis {wrong} of {inputs} input channels; there are as many output channels "
            f"on axis {1 - wrong}",
            help=f"use the scales along axis {1 - wrong}, or quantize the weight again",
            input=1,
        )


def unshifted(values: Values, node: Node) -> Iterator[Fault]:
    """The fault of an integer product that omits the zero point of its data, although a DynamicQuantizeLinear computes
    the data."""
    maker = values.maker(node, 0)
    is_omitted = len(node.inputs) < 3 or node.inputs[2] is None
    if maker is not None and maker.op == "DynamicQuantizeLinear" and is_omitted:
        yield ZERO_POINTS_DIFFER.fault(
            f"input 2, the zero point, is omitted, and `{maker.label}` adds a zero point to each number",
            help=f"connect output 2 of `{maker.label}` as input 2",
            input=0,
        )


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
        """The DequantizeLinear that computes an input, if it dequantizes 8-bit integers, or int32 for input 2 (a bias);
        None otherwise."""
        value = node.inputs[index] if index < len(node.inputs) else None
        maker = self.makers.get(value) if value is not None else None
        if maker is None or maker.op != "DequantizeLinear" or len(maker.inputs) < 2:
            return None
        stored = self.values.tensor(maker, 0)
        wanted = EIGHT_BITS if index < 2 else ("int32",)
        return maker if stored is not None and stored.dtype in wanted else None

    def faults(self, node: Node) -> Iterator[Fault]:
        """The faults of the scales and zero points of a node, and of its inputs that are not quantized."""
        if node.op in JOINING:
            yield from self._in_part(node)
            return
        if node.op == "DequantizeLinear":
            yield from self._all_zeros(node)
            yield from self._shifted(node)
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
        """The fault of a node with a quantized result, if one input is dequantized and another is not."""
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
        """The fault of a weight whose elements all equal its zero point."""
        stored = node.inputs[0] if node.inputs else None
        numbers = self.values.tensor(node, 0) if stored in self.values.graph.constants else None
        scales = extent(self.values.tensor(node, 1))
        if numbers is None or numbers.dtype not in COMPRESSED or scales is None:
            return
        zero = only_number(self.values.tensor(node, 2)) if len(node.inputs) > 2 else 0.0
        if zero is not None and only_number(numbers) == zero:
            yield from nothing_left(numbers, scales)

    def _shifted(self, node: Node) -> Iterator[Fault]:
        """The fault of a zero point that differs from the zero point of the QuantizeLinear before the node."""
        maker = self.values.maker(node, 0)
        if maker is None or maker.op != "QuantizeLinear":
            return
        added, subtracted = (self.values.number(each, 2) if len(each.inputs) > 2 else 0.0 for each in (maker, node))
        scale = self.values.number(node, 1)
        if added is None or subtracted is None or added == subtracted or scale is None:
            return
        yield ZERO_POINTS_DIFFER.fault(
            f"the zero point is {subtracted:g}, and `{maker.label}` added {added:g}: every number is shifted by "
            f"{(added - subtracted) * scale:g}",
            help=f"use the zero point of `{maker.label}`",
            input=2 if len(node.inputs) > 2 else None,
        )

    def _is_constant(self, value: Value | None, steps: int = STEPS) -> bool:
        """Whether a value is known before the model runs: the value is omitted, is a constant, or is computed from a
        constant by QuantizeLinear and DequantizeLinear."""
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
        """The fault of a weight whose scales are not on the axis of the output channels. A weight whose
        DequantizeLinear has another fault is skipped."""
        if weight in self.values.known.faulted:
            return
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
