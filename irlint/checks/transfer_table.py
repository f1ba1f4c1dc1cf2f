"""The transfers of operators. A transfer computes the interval of a result from the intervals of the inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import inf

from irlint.checks import curves, reductions, transfers
from irlint.checks.transfers import NOT_NEGATIVE, Interval, Transfer, comparison, within

#: Operators that convert to another element type.
CONVERTING = ("Cast", "CastLike", "Convert", "ConvertLike")

COMPARISONS: Mapping[str, Transfer] = {
    "Greater": comparison(0, strict=True),
    "Less": comparison(1, strict=True),
    **dict.fromkeys(("GreaterOrEqual", "GreaterEqual"), comparison(0, strict=False)),
    **dict.fromkeys(("LessOrEqual", "LessEqual"), comparison(1, strict=False)),
}

#: Operators whose result is true where all inputs are true.
CONJUNCTIONS = ("And", "LogicalAnd")

#: For each comparison, the index of the operand that is larger if the comparison is true.
LARGER: Mapping[str, int] = {op: 0 if op.startswith("Greater") else 1 for op in COMPARISONS}

#: The transfers of elementwise operators of either format.
ELEMENTWISE: Mapping[str, Transfer] = {
    **dict.fromkeys(("Add", "Sum"), transfers.added),
    **dict.fromkeys(("Sub", "Subtract"), transfers.difference),
    "SquaredDifference": transfers.square_of_difference,
    **dict.fromkeys(("Mul", "Multiply"), transfers.product),
    **dict.fromkeys(("Div", "Divide"), transfers.quotient),
    "Reciprocal": transfers.reciprocal,
    **dict.fromkeys(("Pow", "Power"), transfers.power),
    **dict.fromkeys(("Neg", "Negative"), transfers.negated),
    "Abs": transfers.magnitude,
    **dict.fromkeys(("Min", "Minimum"), transfers.least),
    **dict.fromkeys(("Max", "Maximum"), transfers.most),
    "Mean": reductions.mean,
    **dict.fromkeys(("Clip", "Clamp"), transfers.clipped),
    **dict.fromkeys(("Where", "Select"), transfers.chosen),
    **COMPARISONS,
    **dict.fromkeys(CONJUNCTIONS, transfers.conjunction),
    **dict.fromkeys(("Or", "LogicalOr"), transfers.most),
    **dict.fromkeys(("Not", "LogicalNot"), curves.opposite),
    **dict.fromkeys(CONVERTING, transfers.converted),
    **dict.fromkeys(("Relu", "ReLU"), curves.rectified),
    "LeakyRelu": curves.leaky,
    "PRelu": curves.parametric,
    **dict.fromkeys(("Elu", "Celu"), curves.linear_unit),
    "Selu": curves.scaled_linear_unit,
    "Gelu": curves.dipping(-0.1701),
    "Swish": curves.dipping(-0.2785),
    "Mish": curves.dipping(-0.3089),
    **dict.fromkeys(("HardSwish", "HSwish"), curves.dipping(-0.3751)),
    "Sqrt": curves.root,
    "Log": curves.logarithm,
    "Exp": curves.exponential,
    **dict.fromkeys(curves.HYPERBOLIC, curves.hyperbolic),
    "Floor": curves.floored,
    **dict.fromkeys(("Ceil", "Ceiling"), curves.raised),
    "Round": curves.to_integers,
    "Sign": curves.sign,
    "Asin": curves.defined(-1, 1, "its inverse sine is NaN", Interval(-1.5708, 1.5708)),
    "Acos": curves.defined(-1, 1, "its inverse cosine is NaN", Interval(0, 3.1416)),
    "Acosh": curves.defined(1, inf, "its inverse hyperbolic cosine is NaN below 1", NOT_NEGATIVE),
    "Atanh": curves.artanh,
    "Sigmoid": curves.growing(curves.logistic, 0, 1),
    **dict.fromkeys(("HardSigmoid", "HSigmoid"), within(0, 1)),
    "Tanh": curves.growing(math.tanh, -1, 1),
    "Erf": curves.growing(math.erf, -1, 1),
    **dict.fromkeys(("Softsign", "SoftSign"), curves.growing(curves.soft_sign, -1, 1)),
    "Sin": curves.circular,
    "Cos": within(-1, 1),
    "Atan": curves.growing(math.atan, -1.5708, 1.5708),
    "Asinh": curves.growing(math.asinh, -inf, inf),
    **dict.fromkeys(("Softplus", "SoftPlus"), curves.growing(curves.soft_plus, 0, inf)),
    "ThresholdedRelu": within(0, inf),
}

#: Operators that keep the elements of input 0 and their order, so that intervals of single elements stay valid.
KEEPING: Mapping[str, Transfer] = dict.fromkeys(
    ("Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"), transfers.same
)

#: Operators whose results lie in the interval of input 0: they move, repeat, select or average its elements.
MOVING = (
    *("Transpose", "Expand", "Broadcast", "Tile", "Slice", "StridedSlice", "Gather", "Split", "GatherElements"),
    *("GatherND", "VariadicSplit", "DepthToSpace", "SpaceToDepth", "TopK", "Compress", "ReverseSequence", "Roll"),
    *("ReduceMax", "ReduceMin", "ReduceMean", "MaxPool", "GlobalMaxPool", "GlobalAveragePool", "AdaptiveAvgPool"),
)

#: The transfers of operators that compute one interval for all elements.
GATHERED: Mapping[str, Transfer] = {
    **dict.fromkeys(MOVING, transfers.same),
    **dict.fromkeys(("AveragePool", "AvgPool"), transfers.pooled),
    **dict.fromkeys(("LpPool", "GlobalLpPool"), within(0, inf)),
    **dict.fromkeys(("Resize", "Interpolate"), transfers.resized),
    **dict.fromkeys(("ScatterElements", "ScatterND", "ScatterElementsUpdate"), transfers.scattered),
    **dict.fromkeys(("ScatterNDUpdate", "ScatterUpdate"), transfers.scattered),
    "Pad": transfers.padded,
    "Trilu": transfers.with_zero,
    "Dropout": transfers.dropped,
    "OneHot": transfers.one_hot,
    "Det": transfers.anything,
    **dict.fromkeys(("EyeLike", "Bernoulli"), within(0, 1)),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), transfers.drawn),
    "Concat": transfers.any_of,
    "ReduceSum": reductions.total,
    "ReduceLogSum": reductions.logarithm_of_total,
    "ReduceLogSumExp": reductions.logarithm_of_exponentials,
    "ReduceL1": reductions.total_magnitude,
    "ReduceL2": reductions.norm,
    "ReduceSumSquare": reductions.total_square,
    "ReduceProd": reductions.total_product,
    "CumSum": transfers.accumulated,
    "MatMul": reductions.matrix_product,
    "DequantizeLinear": transfers.dequantized,
    "FakeQuantize": transfers.levels,
    **dict.fromkeys(("Softmax", "SoftMax", "Hardmax"), transfers.shares),
    "LogSoftmax": transfers.logarithms_of_shares,
    **dict.fromkeys(("LpNormalization", "NormalizeL2"), within(-1.0001, 1.0001)),
    **dict.fromkeys(("Shape", "ShapeOf", "Size", "ArgMax", "ArgMin", "NonZero"), within(0, inf)),
}

#: The transfers of reductions whose elements have an interval each.
REDUCING: Mapping[str, Transfer] = {
    "ReduceMax": transfers.most,
    "ReduceMin": transfers.least,
    "ReduceSum": transfers.added,
    "ReduceMean": reductions.mean,
    "ReduceL1": reductions.sum_of_magnitudes,
    "ReduceL2": reductions.length,
    "ReduceSumSquare": reductions.sum_of_squares,
    "ReduceProd": reductions.multiple,
}

#: The minimum number of inputs of these transfers. Other transfers need one input.
ARITY: Mapping[Transfer, int] = {
    **dict.fromkeys((transfers.difference, transfers.square_of_difference, transfers.product, transfers.quotient), 2),
    **dict.fromkeys((transfers.power, reductions.matrix_product, *COMPARISONS.values()), 2),
    **dict.fromkeys((transfers.chosen, transfers.scattered, transfers.one_hot), 3),
}

#: The inputs whose elements determine the result. The other inputs are axes, indices, shapes or slopes. Operators that
#: are not listed use all inputs.
OPERANDS: Mapping[str, slice] = {
    **dict.fromkeys((*CONVERTING, *KEEPING, *MOVING, *REDUCING, "ReduceLogSum", "ReduceLogSumExp"), slice(1)),
    **dict.fromkeys(("PRelu", "Resize", "Interpolate", "CumSum", "Trilu"), slice(1)),
    "FakeQuantize": slice(3, 5),
}

#: Operators whose outputs all have the interval of output 0.
SPLITTING = frozenset(("Split", "VariadicSplit"))

#: The operators with a transfer.
TRANSFERS: Mapping[str, Transfer] = {**ELEMENTWISE, **KEEPING, **GATHERED}
