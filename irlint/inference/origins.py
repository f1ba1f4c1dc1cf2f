"""Where a size comes from: back through the operators that keep it to the one that made it."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.dims import MaybeDim, Shape, same
from irlint.inference.known import Known
from irlint.model import Constant, Graph, Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor
from irlint.records import record

#: A size is followed back through at most so many operators.
FARTHEST = 400


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


#: Operators whose result has, aligned on the last axes, the sizes of their inputs.
BROADCASTING = names(
    """
    Add Sub Mul Div Pow Mod Max Min Sum Mean Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Where
    PRelu BitwiseAnd BitwiseOr BitwiseXor BitShift Subtract Multiply Divide Power Maximum Minimum FloorMod
    SquaredDifference NotEqual LessEqual GreaterEqual LogicalAnd LogicalOr LogicalXor Select BitwiseLeftShift
    BitwiseRightShift FakeQuantize
    """
)

#: Operators whose result has, where the size is the same, axis by axis the sizes of their first input.
KEEPING = names(
    """
    Relu Sigmoid Tanh Exp Log Sqrt Neg Abs Floor Ceil Reciprocal Acos Asin Atan Cos Sin Tan Acosh Asinh Atanh
    Cosh Sinh Sign Erf Round Not Softplus Softsign HardSwish Mish BitwiseNot Ceiling LogicalNot Negative
    HSwish SoftPlus HSigmoid SoftSign ErfInv LeakyRelu Elu Selu ThresholdedRelu HardSigmoid Celu Gelu Swish
    Clip Clamp Shrink Hardmax Softmax LogSoftmax LogSoftMax SoftMax Cast CastLike Convert ConvertLike Identity
    Dropout Result BatchNormalization InstanceNormalization LayerNormalization GroupNormalization
    MeanVarianceNormalization LpNormalization BatchNormInference MVN NormalizeL2 LRN RMSNormalization
    SimplifiedLayerNormalization RMS QuantizeLinear DequantizeLinear DynamicQuantizeLinear CumSum
    ReverseSequence Trilu EyeLike Scatter ScatterElements ScatterND ScatterUpdate ScatterNDUpdate
    ScatterElementsUpdate TensorScatter IsNaN IsInf IsFinite Bernoulli Conv Convolution GroupConvolution
    BinaryConvolution ConvInteger QLinearConv DeformConv DeformableConvolution ConvTranspose
    ConvolutionBackpropData GroupConvolutionBackpropData MaxPool AveragePool LpPool AvgPool GlobalAveragePool
    GlobalMaxPool GlobalLpPool AdaptiveAvgPool AdaptiveMaxPool Pad Slice StridedSlice Split VariadicSplit
    Resize Interpolate Upsample Crop CenterCropPad TopK Compress Roll Reverse ReduceSum ReduceMean ReduceMax
    ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare ReduceLogicalAnd
    ReduceLogicalOr ArgMax ArgMin Assign ReadValue BatchToSpace SpaceToBatch
    """
)

#: The input whose first axis is the number of channels that a convolution makes.
WEIGHTS: Mapping[str, int] = {
    "Conv": 1,
    "Convolution": 1,
    "BinaryConvolution": 1,
    "ConvInteger": 1,
    "QLinearConv": 3,
    "DeformConv": 1,
    "DeformableConvolution": 2,
}

#: Operators whose second axis is neither that of an input nor the first of their weights.
_OWN_CHANNELS = names(
    """
    GroupConvolution ConvTranspose ConvolutionBackpropData GroupConvolutionBackpropData
    """
)


@record
class Maker:
    """What gives a value of ``graph``: a node, else a constant, else the graph's caller."""

    graph: Graph
    node: Node | None = None
    constant: Constant | None = None


class Makers:
    """What gives each value of a model."""

    __slots__ = ("known", "_makers")

    def __init__(self, known: Known) -> None:
        self.known = known
        self._makers: dict[Value, Maker] | None = None

    def of(self, value: Value) -> Maker | None:
        """None for a value that nothing defines."""
        if self._makers is None:
            self._makers = _makers(self.known)
        return self._makers.get(value)


def _makers(known: Known) -> dict[Value, Maker]:
    found: dict[Value, Maker] = {}
    for graph in graphs(known.model):
        for value in graph.inputs:
            found[value] = Maker(graph)
        for value, constant in graph.constants.items():
            found[value] = Maker(graph, None, constant)
        for node in graph.nodes:
            for output in node.outputs:
                if output is not None:
                    held = graph.constants.get(output)
                    found[output] = Maker(graph, node, held)
    return found


@record
class Trail:
    """A size, and axis ``axis`` of ``value``, where it was made; ``kept`` are the nodes that handed it on, in order."""

    dim: MaybeDim
    value: Value
    axis: int
    maker: Maker | None
    kept: tuple[Node, ...]


def trail(value: Value, axis: int, makers: Makers) -> Trail | None:
    """Where the size of an axis comes from; None where the shape is not known or has no such axis."""
    shape = shape_of(value, makers.known)
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    axis %= len(shape)
    dim = shape[axis]
    kept: list[Node] = []
    for _ in range(FARTHEST):
        maker = makers.of(value)
        step = None
        if maker is not None and maker.node is not None and maker.node not in makers.known.faulted:
            step = _source(maker.node, value, axis, dim, makers.known)
        if step is None or maker is None or maker.node is None:
            return Trail(dim, value, axis, maker, tuple(reversed(kept)))
        kept.append(maker.node)
        value, axis = step
    return None


def shape_of(value: Value | None, known: Known) -> Shape | None:
    """The shape that was worked out, None where not even its rank is known."""
    tensor = known.types.get(value) if value is not None else None
    return tensor.shape if isinstance(tensor, Tensor) else None


def contents_of(value: Value | None, known: Known) -> tuple[MaybeDim, ...] | None:
    """The contents of a value as whole numbers, None where they are not known."""
    tensor = known.types.get(value) if value is not None else None
    return tensor.ints if isinstance(tensor, Tensor) else None


def _source(node: Node, value: Value, axis: int, dim: MaybeDim, known: Known) -> tuple[Value, int] | None:
    """The input and its axis that the node takes the size from unchanged; None where it makes the size itself."""
    shape = shape_of(value, known)
    if shape is None or not node.inputs or dim is None:
        return None
    if node.op in BROADCASTING:
        return _widest(node, len(shape) - axis, dim, known)
    if node.op == "Transpose":
        return _transposed(node, len(shape), axis, dim, known)
    if node.op in ("MatMul", "Gemm"):
        return _multiplied(node, len(shape), axis, dim, known)
    if node.op == "Concat" and axis == first_number(node, "axis", 0) % len(shape):
        return None
    if axis == 1 and node.op in WEIGHTS:
        at = WEIGHTS[node.op]
        return _checked(node.inputs[at], 0, dim, known) if at < len(node.inputs) else None
    if axis == 1 and node.op in _OWN_CHANNELS:
        return None
    if node.op in ("Unsqueeze", "Squeeze"):
        return _squeezed(node, len(shape), axis, dim, known)
    if node.op == "Reshape" and not _copied(node, axis, known):
        return None
    if node.op in KEEPING or node.op in ("Concat", "Reshape"):
        return _checked(node.inputs[0], axis, dim, known, len(shape))
    return None


def _checked(
    value: Value | None, axis: int, dim: MaybeDim, known: Known, rank: int | None = None
) -> tuple[Value, int] | None:
    """The value and the axis, if that has the size; ``rank`` is the number of axes that it has to have."""
    shape = shape_of(value, known)
    if value is None or shape is None or not 0 <= axis < len(shape) or (rank is not None and len(shape) != rank):
        return None
    return (value, axis) if same(shape[axis], dim) else None


def _widest(node: Node, from_end: int, dim: MaybeDim, known: Known) -> tuple[Value, int] | None:
    for value in node.inputs:
        shape = shape_of(value, known)
        if shape is None:
            continue
        found = _checked(value, len(shape) - from_end, dim, known)
        if found is not None:
            return found
    return None


def _transposed(node: Node, rank: int, axis: int, dim: MaybeDim, known: Known) -> tuple[Value, int] | None:
    order: tuple[MaybeDim, ...] | None = numbers(node, "perm")
    if order is None and len(node.inputs) > 1:
        order = contents_of(node.inputs[1], known) or None
    if order is None:
        order = tuple(range(rank))[::-1]
    source = order[axis] if axis < len(order) else None
    return _checked(node.inputs[0], source, dim, known, rank) if isinstance(source, int) else None


def _multiplied(node: Node, rank: int, axis: int, dim: MaybeDim, known: Known) -> tuple[Value, int] | None:
    if len(node.inputs) < 2 or axis < rank - 2:
        return _widest(node, rank - axis, dim, known)
    right = axis == rank - 1
    flipped = _flag(node, ("transB", "transpose_b") if right else ("transA", "transpose_a"))
    value = node.inputs[1] if right else node.inputs[0]
    shape = shape_of(value, known)
    if shape is None or len(shape) < 2:
        return None
    return _checked(value, len(shape) - (2 if right == flipped else 1), dim, known)


def _squeezed(node: Node, rank: int, axis: int, dim: MaybeDim, known: Known) -> tuple[Value, int] | None:
    axes: tuple[MaybeDim, ...] | None = numbers(node, "axes")
    if axes is None and len(node.inputs) > 1:
        axes = contents_of(node.inputs[1], known)
    inner = shape_of(node.inputs[0], known)
    if axes is None or inner is None or not all(isinstance(each, int) for each in axes):
        return None
    wide = max(rank, len(inner))
    taken = {each % wide for each in axes if isinstance(each, int)} if wide else set()
    left = [each for each in range(wide) if each not in taken]
    if node.op == "Squeeze":
        return _checked(node.inputs[0], left[axis], dim, known) if axis < len(left) else None
    return _checked(node.inputs[0], left.index(axis), dim, known) if axis in left else None


def _copied(node: Node, axis: int, known: Known) -> bool:
    """Whether a Reshape copies the size of the same axis."""
    target = contents_of(node.inputs[1], known) if len(node.inputs) > 1 else numbers(node, "shape")
    copies = text(node, "special_zero") in ("true", "1") if "special_zero" in node.attributes else True
    if first_number(node, "allowzero", 0):
        copies = False
    return copies and target is not None and axis < len(target) and target[axis] == 0


def _flag(node: Node, names: tuple[str, ...]) -> bool:
    return any(text(node, name) in ("1", "true", "True", "yes") for name in names)


# --- attributes of either format --------------------------------------------------------------------------------------


def text(node: Node, name: str) -> str | None:
    """An attribute as text, None where it is not there."""
    attribute = node.attributes.get(name)
    return None if attribute is None or attribute.reference is not None else str(attribute.value)


def numbers(node: Node, name: str) -> tuple[int, ...] | None:
    """The whole numbers of an attribute of either format, None where it is not there or holds something else."""
    attribute = node.attributes.get(name)
    if attribute is None or attribute.reference is not None:
        return None
    if attribute.kind == "INTS":
        return tuple(attribute.value)
    if attribute.kind == "INT":
        return (attribute.value,)
    if attribute.kind != "TEXT":
        return None
    try:
        return tuple(int(entry) for entry in str(attribute.value).split(",") if entry.strip())
    except ValueError:
        return None


def first_number(node: Node, name: str, default: int) -> int:
    """The whole number in an attribute, ``default`` where there is none."""
    found = numbers(node, name)
    return found[0] if found else default
