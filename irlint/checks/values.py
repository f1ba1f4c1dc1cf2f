"""What the values of constants and attributes lead to: infinite operands, roots that do not exist, nodes that fail when
they run.

Only what is certain for every input is reported: an interval is known of what constants, activations and the
operators between them give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf, isfinite

from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.wording import counted
from irlint.inference.known import Known
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graphs, producers
from irlint.model.tensor import Tensor
from irlint.ops.shared.contents import extent
from irlint.records import record

OPERAND_INFINITE = Rule(
    "IRL740",
    "operand-infinite",
    Severity.WARNING,
    "A weight or bias contains infinity.",
    why="A conversion to float16 that overflowed ends here, or a training that diverged. Every result that it takes "
    "part in is infinite, or NaN for 0 times infinity. Masks are not reported: they are added, and feed no product, "
    "convolution or normalization. Large weights are looked through only with `--weights`.",
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
    why="A normalization divides by the square root of variance plus epsilon. Epsilon is there to keep that sum above "
    "0. ONNX Runtime computes NaN or infinity without a message; OpenVINO refuses a negative epsilon in a "
    "BatchNormalization.",
    fix="Write an epsilon above 0, such as 1e-5.",
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
    why="Every result of the node is then NaN or infinite. OpenVINO refuses some of these when it loads the model.",
    fix="Write the factor that is intended.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = nan> (x, w) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x, float[2,2] w) => (float[1,2] y) { y = Gemm <alpha = 0.5> (x, w) }""",
)
ALWAYS_NAN = Rule(
    "IRL743",
    "result-never-finite",
    Severity.WARNING,
    "A node gives NaN or infinity for every input.",
    why="The root and the logarithm of a negative number do not exist, and a row of a mask that is infinite everywhere "
    "leaves no element for a Softmax. Runtimes compute NaN without a message.",
    fix="Correct the sign or the mask.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { s = Sigmoid (x) n = Neg (s) m = Sub (n, s) y = Log (m) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { s = Sigmoid (x) y = Log (s) }""",
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

#: The inputs that are weights or biases, by operator of either format.
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), (1, 2)),
    **dict.fromkeys(("Convolution", "GroupConvolution", "ConvolutionBackpropData"), (1,)),
    **dict.fromkeys(("GroupConvolutionBackpropData", "DeformConv"), (1,)),
    "MatMul": (0, 1),
    "Gemm": (0, 1, 2),
    "BatchNormalization": (1, 2, 3, 4),
    "BatchNormInference": (1, 2, 3, 4),
    **dict.fromkeys(("LayerNormalization", "InstanceNormalization", "GroupNormalization"), (1, 2)),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (1, 2, 3)),
}

#: Normalizations with an epsilon.
NORMALIZATIONS = (
    *("BatchNormalization", "InstanceNormalization", "LayerNormalization", "GroupNormalization"),
    *("SimplifiedLayerNormalization", "SkipLayerNormalization", "RMSNormalization"),
)

#: Attributes that are factors or terms of every result.
FACTORS = ("alpha", "beta", "gamma", "epsilon", "lambd", "bias", "scale", "cubic_coeff_a", "momentum")

#: The opset from which on a Softmax works on the last axis by default.
LAST_AXIS_SINCE = 13

#: How far back an interval is looked for.
DEPTH = 24


@record
class Interval:
    """What the elements of a value lie between, both ends included."""

    low: float
    high: float


EVERYTHING = Interval(-inf, inf)

#: What operators give, whatever comes in.
RANGES: Mapping[str, Interval] = {
    **dict.fromkeys(("Sigmoid", "HardSigmoid", "Softmax", "SoftMax", "HSigmoid"), Interval(0, 1)),
    **dict.fromkeys(("Tanh", "Erf", "Sin", "Cos", "Softsign"), Interval(-1, 1)),
    **dict.fromkeys(("Exp", "Abs", "Sqrt", "Softplus", "SoftPlus", "ReduceL1", "ReduceL2"), Interval(0, inf)),
    **dict.fromkeys(("ReduceSumSquare", "Shape", "ShapeOf", "Size"), Interval(0, inf)),
}

#: Operators that give elements of their first input.
KEEPING = frozenset(
    (
        *("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Broadcast", "Tile"),
        *("Slice", "StridedSlice", "Gather", "Split", "VariadicSplit", "DepthToSpace", "SpaceToDepth"),
        *("ReduceMax", "ReduceMin", "ReduceMean", "MaxPool", "GlobalMaxPool", "GlobalAveragePool"),
    )
)


def problems(known: Known) -> list[Problem]:
    """What the values of the nodes of every graph lead to."""
    return [problem for graph in graphs(known.model) for problem in Values(known, graph).problems()]


class Values:
    """The intervals of one graph, looked for where a node asks."""

    def __init__(self, known: Known, graph: Graph) -> None:
        self.known = known
        self.graph = graph
        self._makers: dict[Value, Node] | None = None
        self._found: dict[Value, Interval] = {}

    def problems(self) -> Iterator[Problem]:
        for node in self.graph.nodes:
            for fault in () if node in self.known.faulted else self._faults(node):
                yield Problem(fault, self.graph.path, node, place=node.place)

    def _faults(self, node: Node) -> Iterator[Fault]:
        if node.op in WEIGHTS:
            yield from self._infinite(node)
        if node.op in NORMALIZATIONS:
            yield from self._epsilon(node)
        if node.attributes and node.domain != "ai.onnx.ml":
            yield from _not_finite(node)
        check = CHECKS.get(node.op)
        if check is not None:
            yield from check(self, node)

    def tensor(self, node: Node, index: int) -> Tensor | None:
        """What is known of an input."""
        value = node.inputs[index] if index < len(node.inputs) else None
        found = self.known.types.get(value) if value is not None else None
        return found if isinstance(found, Tensor) else None

    def _infinite(self, node: Node) -> Iterator[Fault]:
        for index in WEIGHTS[node.op]:
            tensor = self.tensor(node, index)
            span = extent(tensor) if tensor is not None and (tensor.value or tensor.extent) else None
            if span is not None and span.infinities:
                value = node.inputs[index]
                name = value.name if value is not None else ""
                number = counted(span.infinities, "element")
                yield OPERAND_INFINITE.fault(
                    f"{number} of input {index} (`{name}`) {_are(span.infinities)} infinite",
                    help="export the weights again, with a type that is wide enough",
                    input=index,
                )

    def _epsilon(self, node: Node) -> Iterator[Fault]:
        attribute = node.attributes.get("epsilon")
        if attribute is None or not isinstance(attribute.value, float):
            return
        epsilon = attribute.value
        if epsilon < 0:
            yield EPSILON_UNUSABLE.fault(
                f"epsilon is {epsilon:g}: the root of a variance below {-epsilon:g} plus epsilon does not exist",
                help="write an epsilon above 0, such as 1e-5",
                attribute="epsilon",
            )
        span = extent(self.tensor(node, 4)) if node.op == "BatchNormalization" and epsilon == 0 else None
        if span is not None and span.has_zero:
            yield EPSILON_UNUSABLE.fault(
                "epsilon is 0, and input 4 (var) holds 0: the channel is divided by 0",
                help="write an epsilon above 0, such as 1e-5",
                attribute="epsilon",
                input=4,
            )

    # --- intervals ----------------------------------------------------------------------------------------------------

    def interval(self, value: Value | None, depth: int = DEPTH) -> Interval:
        """What the elements of a value lie between."""
        if value is None or depth == 0:
            return EVERYTHING
        found = self._found.get(value)
        if found is None:
            self._found[value] = EVERYTHING
            self._found[value] = found = self._computed(value, depth - 1)
        return found

    def _computed(self, value: Value, depth: int) -> Interval:
        known = self.known.types.get(value)
        span = extent(known) if isinstance(known, Tensor) and known.value is not None else None
        if span is not None:
            whole = isinstance(known, Tensor) and all(isinstance(each, (int, float)) for each in known.value or ())
            if not whole or span.nans or span.infinities or span.least is None or span.most is None:
                return EVERYTHING
            return Interval(span.least, span.most)
        if self._makers is None:
            self._makers = producers(self.graph)
        node = self._makers.get(value)
        if node is None or self.known.format.operator_name(node.domain, node.op) != node.op:
            return EVERYTHING
        if node.op in RANGES:
            return RANGES[node.op]
        if node.op in KEEPING:
            return self.interval(node.inputs[0] if node.inputs else None, depth)
        rule = ARITHMETIC.get(node.op)
        if rule is None:
            return EVERYTHING
        return rule([self.interval(each, depth) for each in node.inputs])

    def _root(self, node: Node) -> Iterator[Fault]:
        given = self.interval(node.inputs[0] if node.inputs else None)
        if given.high < 0:
            yield ALWAYS_NAN.fault(
                f"input 0 is at most {given.high:g}: its root does not exist", help="correct the sign", input=0
            )

    def _logarithm(self, node: Node) -> Iterator[Fault]:
        given = self.interval(node.inputs[0] if node.inputs else None)
        if given.high <= 0:
            yield ALWAYS_NAN.fault(
                f"input 0 is at most {given.high:g}: its logarithm is NaN, or minus infinity for 0",
                help="correct the sign",
                input=0,
            )

    def _softmax(self, node: Node) -> Iterator[Fault]:
        if self._makers is None:
            self._makers = producers(self.graph)
        maker = self._makers.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
        axis = node.attributes.get("axis")
        tensor = self.tensor(node, 0)
        rank = len(tensor.shape) if tensor is not None and tensor.shape is not None else None
        by_default = -1 if isinstance(node.version, int) and node.version >= LAST_AXIS_SINCE else 1
        stated = str(axis.value if axis is not None else by_default)
        if maker is None or maker.op != "Add" or rank is None or stated not in ("-1", str(rank - 1)):
            return
        for index in range(len(maker.inputs)):
            mask = self.tensor(maker, index)
            row = _infinite_row(mask)
            if mask is not None and row is not None:
                value = maker.inputs[index]
                name = value.name if value is not None else ""
                yield ALWAYS_NAN.fault(
                    f"row {row} of the mask `{name}` is minus infinity everywhere: its Softmax is NaN",
                    help="leave at least one element of each row finite",
                    input=0,
                )

    def _dropout(self, node: Node) -> Iterator[Fault]:
        tensor = self.tensor(node, 1)
        ratio = tensor.value[0] if tensor is not None and tensor.value and len(tensor.value) == 1 else None
        if isinstance(ratio, (int, float)) and not 0 <= ratio < 1:
            yield FAILS_WHEN_RUN.fault(
                f"input 1 (ratio) is {ratio:g}: ONNX Runtime takes 0 to less than 1, and fails when the node runs",
                help="write a ratio from 0 to less than 1",
                input=1,
            )

    def _one_hot(self, node: Node) -> Iterator[Fault]:
        tensor = self.tensor(node, 1)
        depth = tensor.value[0] if tensor is not None and tensor.value and len(tensor.value) == 1 else None
        if isinstance(depth, int) and depth == 0:
            yield FAILS_WHEN_RUN.fault(
                "input 1 (depth) is 0: ONNX Runtime fails when the node runs",
                help="write the number of classes",
                input=1,
            )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _infinite_row(mask: Tensor | None) -> int | None:
    """The first row of a small constant that is minus infinity everywhere."""
    if mask is None or not mask.value or not mask.shape or not isinstance(mask.shape[-1], int) or mask.shape[-1] < 1:
        return None
    width = mask.shape[-1]
    entries = tuple(mask.value)
    rows = (entries[at : at + width] for at in range(0, len(entries), width))
    return next((number for number, row in enumerate(rows) if all(each == -inf for each in row)), None)


def _not_finite(node: Node) -> Iterator[Fault]:
    for name, attribute in node.attributes.items():
        if attribute.kind != "FLOAT" or not isinstance(attribute.value, float) or isfinite(attribute.value):
            continue
        is_nan = attribute.value != attribute.value
        if name in FACTORS or (is_nan and name.startswith("value_float")):
            text = "NaN" if is_nan else "infinite"
            yield ATTRIBUTE_NOT_FINITE.fault(
                f"`{name}` is {text}", help=f"write the `{name}` that is intended", attribute=name
            )


def _sum(given: list[Interval]) -> Interval:
    return Interval(_added(given, "low", -inf), _added(given, "high", inf))


def _added(given: list[Interval], end: str, unknown: float) -> float:
    ends = [getattr(each, end) for each in given]
    return sum(ends) if all(map(isfinite, ends)) else unknown


def _difference(given: list[Interval]) -> Interval:
    if len(given) != 2:
        return EVERYTHING
    return _sum([given[0], Interval(-given[1].high, -given[1].low)])


def _product(given: list[Interval]) -> Interval:
    if len(given) != 2:
        return EVERYTHING
    corners = [_times(a, b) for a in (given[0].low, given[0].high) for b in (given[1].low, given[1].high)]
    return Interval(min(corners), max(corners))


def _times(a: float, b: float) -> float:
    return 0.0 if 0 in (a, b) else a * b


def _negated(given: list[Interval]) -> Interval:
    return Interval(-given[0].high, -given[0].low) if given else EVERYTHING


def _rectified(given: list[Interval]) -> Interval:
    return Interval(max(given[0].low, 0), max(given[0].high, 0)) if given else EVERYTHING


def _joined(given: list[Interval]) -> Interval:
    return Interval(min(each.low for each in given), max(each.high for each in given)) if given else EVERYTHING


def _least(given: list[Interval]) -> Interval:
    return Interval(min(each.low for each in given), min(each.high for each in given)) if given else EVERYTHING


def _most(given: list[Interval]) -> Interval:
    return Interval(max(each.low for each in given), max(each.high for each in given)) if given else EVERYTHING


#: What operators make of the intervals of their inputs.
ARITHMETIC: Mapping[str, Callable[[list[Interval]], Interval]] = {
    **dict.fromkeys(("Add", "Sum"), _sum),
    **dict.fromkeys(("Sub", "Subtract"), _difference),
    **dict.fromkeys(("Mul", "Multiply"), _product),
    **dict.fromkeys(("Neg", "Negative"), _negated),
    **dict.fromkeys(("Relu", "ReLU"), _rectified),
    "Concat": _joined,
    **dict.fromkeys(("Min", "Minimum"), _least),
    **dict.fromkeys(("Max", "Maximum"), _most),
}

#: What is asked of a node, by its operator.
CHECKS: Mapping[str, Callable[[Values, Node], Iterator[Fault]]] = {
    "Sqrt": Values._root,
    "Log": Values._logarithm,
    "Softmax": Values._softmax,
    "SoftMax": Values._softmax,
    "Dropout": Values._dropout,
    "OneHot": Values._one_hot,
}
