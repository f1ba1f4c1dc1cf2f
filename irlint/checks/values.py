"""What the values of constants and attributes lead to: infinite operands, roots that do not exist, nodes that fail when
they run.

Only what is certain for every input is reported. ``ranges`` asks what constants and activations lead to, and
``quantized`` what is left of quantized values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from math import inf, isfinite, prod

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Graph, Node, Problem, Value
from irlint.model.order import graphs, producers
from irlint.model.tensor import FLOATS, Extent, Tensor, Type
from irlint.ops.shared.contents import extent, rounded
from irlint.parsers.weights import Weights

if TYPE_CHECKING:
    from irlint.checks.intervals import Intervals

OPERAND_INFINITE = Rule(
    "IRL740",
    "operand-infinite",
    Severity.WARNING,
    "A weight or bias contains infinity.",
    why="A conversion to float16 that overflowed ends here, or a training that diverged. Every result that it takes "
    "part in is infinite, or NaN for 0 times infinity. Masks are not reported: they are added, and feed no product, "
    "convolution or normalization. A weight that a Cast, Transpose or Gather of a constant gives counts as well. Large "
    "weights are read only with `--weights`.",
    fix="Export the weights again, with a type that is wide enough.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {inf, 1.0, 1.0, 1.0}> { y = MatMul (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {2.0, 1.0, 1.0, 1.0}> { y = MatMul (x, w) }""",
)
EPSILON_UNUSABLE = Rule(
    "IRL741",
    "epsilon-unusable",
    Severity.WARNING,
    "A normalization divides by 0, or by the root of a negative number.",
    why="A normalization divides by the square root of variance plus epsilon. Epsilon keeps that sum above 0: a "
    "channel may have a variance of 0, and the variance of a single element is 0. In float16, numbers below 3e-8 are "
    "0. ONNX Runtime computes NaN or infinity without a message; OpenVINO refuses a negative epsilon in a "
    "BatchNormalization.",
    fix="Set epsilon to 1e-5, or to at least 6e-8 in float16.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b) => (float[1,2,3] y)
{ y = InstanceNormalization <epsilon = -1.0> (x, s, b) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,3] x, float[2] s, float[2] b) => (float[1,2,3] y)
{ y = InstanceNormalization <epsilon = 0.00001> (x, s, b) }""",
)
ATTRIBUTE_NOT_FINITE = Rule(
    "IRL742",
    "attribute-not-finite",
    Severity.WARNING,
    "A factor among the attributes is NaN or infinite.",
    why="The products with the factor are NaN or infinite, and so are most results that are computed from them. "
    "LeakyRelu and Elu multiply only negative numbers by it. OpenVINO refuses some of these when it loads the model.",
    fix="Write the factor that is intended.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = nan> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = 0.5> (x, w) }""",
)
FAILS_WHEN_RUN = Rule(
    "IRL744",
    "fails-when-run",
    Severity.WARNING,
    "ONNX Runtime loads a node that fails each time it runs.",
    why="ONNX Runtime reads the ratio of a Dropout and the depth of a OneHot only when the node runs: it fails for a "
    "ratio outside of 0 to 1, also without training, and for a depth of 0. OpenVINO ignores the ratio, and gives an "
    "empty tensor for the depth.",
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
    "The least number of a Clip is above the largest.",
    why="The result is the same for every input: ONNX Runtime and OpenVINO give the largest number.",
    fix="Exchange the two.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float low = {6.0}, float high = {0.0}> { y = Clip (x, low, high) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) <float low = {0.0}, float high = {6.0}> { y = Clip (x, low, high) }""",
)

#: The inputs that are weights, biases or scales, by operator of either format.
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), (1, 2)),
    **dict.fromkeys(("Convolution", "GroupConvolution", "ConvolutionBackpropData"), (1,)),
    **dict.fromkeys(("GroupConvolutionBackpropData", "DeformConv", "PRelu"), (1,)),
    "MatMul": (0, 1),
    "Gemm": (0, 1, 2),
    "BatchNormalization": (1, 2, 3, 4),
    "BatchNormInference": (1, 2, 3, 4),
    **dict.fromkeys(("LayerNormalization", "InstanceNormalization", "GroupNormalization"), (1, 2)),
    **dict.fromkeys(("RMSNormalization", "SimplifiedLayerNormalization"), (1,)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (1, 2, 3)),
    "LSTMSequence": (4, 5, 6),
    **dict.fromkeys(("GRUSequence", "RNNSequence", "LSTMCell"), (3, 4, 5)),
    **dict.fromkeys(("GRUCell", "RNNCell"), (2, 3, 4)),
    "FakeQuantize": (1, 2, 3, 4),
}

#: Operators behind which biases are added.
PRODUCTS = frozenset(("MatMul", "Conv", "ConvTranspose", "Convolution", "GroupConvolution", "ConvolutionBackpropData"))

#: Operators between a constant and the node whose weight it is.
PASSING = frozenset(("Identity", "Transpose", "Gather", "Cast", "Convert", "Reshape", "Squeeze", "Unsqueeze"))

#: How many of them are followed.
STEPS = 4

#: Normalizations with an epsilon, and the attribute.
NORMALIZATIONS: Mapping[str, str] = {
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization", "LayerNormalization"), "epsilon"),
    **dict.fromkeys(("GroupNormalization", "RMSNormalization", "BatchNormInference"), "epsilon"),
    **dict.fromkeys(("SimplifiedLayerNormalization", "SkipLayerNormalization"), "epsilon"),
    **dict.fromkeys(("MVN", "NormalizeL2"), "eps"),
}

#: Attributes that are factors or terms of every result.
FACTORS = frozenset(("alpha", "beta", "gamma", "epsilon", "eps", "lambd", "bias", "scale", "cubic_coeff_a", "momentum"))

#: Operators that give infinity or NaN where one of their inputs does, of which only those are examined.
SPREADING = frozenset(("Add", "Sub", "Subtract", "Mul", "Multiply"))


def problems(known: Known) -> list[Problem]:
    """What the values of the nodes of every graph lead to."""
    return [problem for graph in graphs(known.model) for problem in Values(known, graph).problems()]


class Values:
    """The nodes of one graph, with the intervals of their values; intervals are computed when a node needs them."""

    def __init__(self, known: Known, graph: Graph) -> None:
        self.known = known
        self.graph = graph
        self.dequantizes = False
        self._plain: set[int] = set()

    @cached_property
    def intervals(self) -> Intervals:
        """The intervals of the graph."""
        from irlint.checks.intervals import Intervals

        return Intervals(self.known, self.makers)

    @cached_property
    def makers(self) -> Mapping[Value, Node]:
        """The node that makes each value of the graph."""
        return producers(self.graph)

    def problems(self) -> Iterator[Problem]:
        finite: set[int] = set()
        for node in self.graph.nodes:
            if node in self.known.faulted or not node.outputs:
                continue
            # Nodes with the same attributes share them.
            if node.attributes and id(node.attributes) not in finite:
                faults: Iterable[Fault] = list(_not_finite(node))
                if faults:
                    yield from self._problems(node, faults)
                else:
                    finite.add(id(node.attributes))
            for check in CHECKS.get(node.op, ()):
                faults = check(self, node)
                if faults:
                    yield from self._problems(node, faults)
        if self.dequantizes:
            from irlint.checks import quantized

            for node, fault in quantized.of_graph(self):
                yield from self._problems(node, (fault,))

    def _problems(self, node: Node, faults: Iterable[Fault]) -> Iterator[Problem]:
        for fault in faults:
            yield Problem(fault, self.graph.path, node, place=node.place)

    def tensor(self, node: Node, index: int) -> Tensor | None:
        """What is known of an input."""
        value = node.inputs[index] if index < len(node.inputs) else None
        found = self.known.types.get(value) if value is not None else None
        return found if isinstance(found, Tensor) else None

    def number(self, node: Node, index: int) -> float | None:
        """The only number of an input."""
        tensor = self.tensor(node, index)
        found = tensor.scalar if tensor is not None else None
        return found if isinstance(found, (int, float)) else None

    @cached_property
    def ranged(self) -> Callable[[Values, Node], Iterable[Fault]]:
        """What asks for the ranges of values."""
        from irlint.checks import ranges

        return ranges.faults

    def name(self, value: Value) -> str:
        """The name of a value in messages: its own name in an ONNX model, the name of its layer in an IR."""
        maker = self.makers.get(value)
        return maker.label if maker is not None and maker.id is not None else value.name

    # --- constants ----------------------------------------------------------------------------------------------------

    def _spread(self, node: Node) -> Iterable[Fault]:
        types, plain = self.known.types, self._plain
        for value in node.inputs:
            tensor = types.get(value) if value is not None else None
            if id(tensor) in plain:
                continue
            if _is_strange(tensor):
                return [*self._ranged(node), *self._infinite_bias(node)]
            plain.add(id(tensor))
        return ()

    def _infinite_bias(self, node: Node) -> Iterable[Fault]:
        """An infinite constant that is added to the product of a weight; minus infinity alone may mask results."""
        makers = [self.makers.get(value) if value is not None else None for value in node.inputs]
        if node.op != "Add" or not any(maker is not None and self._has_weight(maker) for maker in makers):
            return []
        terms = [self.tensor(node, index) for index in range(len(node.inputs))]
        masks = [tensor is None or inf not in (tensor.value or ()) for tensor in terms]
        found = [self._infinite_input(node, index) for index, is_mask in enumerate(masks) if not is_mask]
        return [fault for fault in found if fault is not None]

    def _has_weight(self, node: Node) -> bool:
        """Whether a node is a product or a convolution with a constant."""
        value = node.inputs[1] if node.op in PRODUCTS and len(node.inputs) > 1 else None
        for _ in range(STEPS):
            maker = self.makers.get(value) if value is not None else None
            if value is None or value in self.graph.constants or maker is None:
                break
            value = maker.inputs[0] if maker.op in PASSING and maker.inputs else None
        return value is not None and value in self.graph.constants

    def _infinite(self, node: Node) -> Iterable[Fault]:
        inputs, types = node.inputs, self.known.types
        found: list[Fault] = []
        for index in WEIGHTS[node.op]:
            value = inputs[index] if index < len(inputs) else None
            tensor = types.get(value) if value is not None else None
            if value is not None and not (type(tensor) is Weights and tensor.is_finite):
                fault = self._infinite_input(node, index)
                found += [fault] if fault is not None else []
        return found

    def _infinite_input(self, node: Node, index: int) -> Fault | None:
        value = node.inputs[index]
        span = self._source(value) if value is not None else None
        if value is None or span is None or not span.infinities:
            return None
        number = counted(span.infinities, "element")
        return OPERAND_INFINITE.fault(
            f"{number} of input {index} (`{self.name(value)}`) {_are(span.infinities)} infinite",
            help="export the weights again, with a type that is wide enough",
            input=index,
        )

    def _source(self, value: Value, steps: int = STEPS) -> Extent | None:
        """What the numbers span of the constant that a weight comes from, None where it comes from none."""
        tensor = self.known.types.get(value)
        if isinstance(tensor, Tensor) and (tensor.value is not None or isinstance(tensor.extent, Extent)):
            return extent(tensor)
        node = self.makers.get(value) if steps else None
        if node is None or node.op not in PASSING or not node.inputs or node.inputs[0] is None:
            return None
        return self._source(node.inputs[0], steps - 1)

    # --- normalizations -----------------------------------------------------------------------------------------------

    def _epsilon(self, node: Node) -> Iterator[Fault]:
        name = NORMALIZATIONS[node.op]
        attribute = node.attributes.get(name)
        epsilon = _real(attribute)
        if epsilon is None or epsilon != epsilon:
            return
        found = ""
        if epsilon < 0:
            found = f"{name} is {epsilon:g}: the root of a variance below {-epsilon:g} plus {name} does not exist"
        elif node.op.startswith("BatchNorm"):
            found = self._zero_variance(node, epsilon)
        elif epsilon == 0 and self._normalizes_one(node):
            found = f"{name} is 0, and each mean is taken of 1 element: the variance is 0, and the result is NaN"
        if found:
            yield EPSILON_UNUSABLE.fault(
                found,
                help=f"set `{name}` to 1e-5, in float16 to at least 6e-8",
                attribute=name,
                input=4 if "(var)" in found else None,
            )

    def _zero_variance(self, node: Node, epsilon: float) -> str:
        """What is wrong with the epsilon of a BatchNormalization whose variance is 0 for a channel."""
        tensor, training = self.tensor(node, 4), node.attributes.get("training_mode")
        dtype = tensor.dtype if tensor is not None else None
        kept = rounded(epsilon, "float16") if dtype == "float16" else epsilon
        span = extent(tensor) if kept == 0 else None
        if span is None or not span.has_zero or (training is not None and training.value):
            return ""
        which = "0" if epsilon == 0 else f"{epsilon:g}, which is 0 in float16"
        return f"epsilon is {which}, and input 4 (var) holds 0: the channel is divided by 0"

    def _normalizes_one(self, node: Node) -> bool:
        """Whether a normalization takes each mean of a single element."""
        tensor = self.tensor(node, 0)
        if tensor is None or tensor.shape is None:
            return False
        if node.op == "InstanceNormalization":
            sizes = tensor.shape[2:]
        elif node.op == "LayerNormalization":
            axis = node.attributes.get("axis")
            sizes = tensor.shape[axis.value if axis is not None else -1 :]
        elif node.op == "MVN":
            axes = self.tensor(node, 1)
            chosen = axes.ints if axes is not None else None
            rank = len(tensor.shape)
            sizes = tuple(tensor.shape[at] for at in chosen or () if isinstance(at, int) and -rank <= at < rank)
        else:
            return False
        return bool(sizes) and all(isinstance(size, int) for size in sizes) and prod(sizes) == 1  # type: ignore[arg-type]

    # --- what fails when it runs --------------------------------------------------------------------------------------

    def _dropout(self, node: Node) -> Iterator[Fault]:
        ratio = self.number(node, 1)
        if ratio is not None and not 0 <= ratio < 1:
            yield FAILS_WHEN_RUN.fault(
                f"input 1 (ratio) is {ratio:g}: ONNX Runtime takes 0 to less than 1, and fails when the node runs",
                help="write a ratio from 0 to less than 1",
                input=1,
            )

    def _one_hot(self, node: Node) -> Iterator[Fault]:
        if self.number(node, 1) == 0 and node.domain == "":
            yield FAILS_WHEN_RUN.fault(
                "input 1 (depth) is 0: ONNX Runtime fails when the node runs",
                help="write the number of classes",
                input=1,
            )

    def _clip(self, node: Node) -> Iterator[Fault]:
        least, most = self.number(node, 1), self.number(node, 2)
        if least is not None and most is not None and least > most:
            yield BOUNDS_CROSSED.fault(
                f"input 1 (min) is {least:g} and input 2 (max) is {most:g}: every result is {most:g}",
                help="exchange inputs 1 and 2",
                input=1,
            )

    def _ranged(self, node: Node) -> Iterable[Fault]:
        return self.ranged(self, node)

    def _dequantizer(self, node: Node) -> Iterable[Fault]:
        self.dequantizes = True
        return ()

    def _quantizer(self, node: Node) -> Iterator[Fault]:
        from irlint.checks import quantized

        return quantized.faults(self, node)


def _is_strange(tensor: Type | None) -> bool:
    """Whether a small constant may hold what is not finite."""
    if type(tensor) is Weights:
        return not tensor.is_finite
    if not isinstance(tensor, Tensor) or tensor.value is None or tensor.dtype not in FLOATS:
        return False
    return any(not isinstance(entry, (int, float)) or not isfinite(entry) for entry in tensor.value)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _real(attribute: Attribute | None) -> float | None:
    """The number of an attribute of either format."""
    if attribute is None or attribute.reference is not None:
        return None
    try:
        return float(attribute.value)
    except (TypeError, ValueError):
        return None


def _not_finite(node: Node) -> Iterator[Fault]:
    if node.domain == "ai.onnx.ml":
        return
    for name, attribute in node.attributes.items():
        if attribute.kind not in ("FLOAT", "TEXT") or attribute.reference is not None:
            continue
        if attribute.kind == "TEXT" and name not in FACTORS:
            continue
        number = _real(attribute)
        if number is None or isfinite(number):
            continue
        is_nan = number != number
        if name in FACTORS or (is_nan and name.startswith("value_float")):
            text = "NaN" if is_nan else "infinite"
            yield ATTRIBUTE_NOT_FINITE.fault(
                f"`{name}` is {text}", help=f"write the `{name}` that is intended", attribute=name
            )


#: Operators whose results and conversions depend on the ranges of their inputs.
RANGED = (
    *("Sqrt", "Log", "Exp", "Reciprocal", "Asin", "Acos", "Acosh", "Atanh", "Div", "Divide", "Pow", "Power"),
    *("Softmax", "SoftMax", "LogSoftmax", "Cast", "CastLike", "Convert", "ConvertLike"),
)

#: What is asked of a node, by its operator.
CHECKS: dict[str, tuple[Callable[[Values, Node], Iterable[Fault]], ...]] = {
    **dict.fromkeys(SPREADING, (Values._spread,)),
    **dict.fromkeys(WEIGHTS, (Values._infinite,)),
    **dict.fromkeys(RANGED, (Values._ranged,)),
    **dict.fromkeys(NORMALIZATIONS, (Values._epsilon,)),
    **{op: (Values._infinite, Values._epsilon) for op in NORMALIZATIONS if op in WEIGHTS},
    "Dropout": (Values._dropout,),
    "OneHot": (Values._one_hot,),
    "Clip": (Values._clip,),
    "QuantizeLinear": (Values._quantizer,),
    "DequantizeLinear": (Values._dequantizer,),
    "FakeQuantize": (Values._infinite, Values._quantizer),
}
