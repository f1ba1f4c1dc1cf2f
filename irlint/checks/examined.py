"""The operators, inputs and attributes whose numbers the checks of values examine."""

from __future__ import annotations

from collections.abc import Mapping

#: The inputs that are examined for infinity if they come from a constant, by operator of either format: operands of
#: products, biases, scales, statistics, and limits of a quantization. Biases of recurrent operators are not listed,
#: because an infinite one only saturates a gate.
WEIGHTS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(("Conv", "ConvTranspose"), (1, 2)),
    **dict.fromkeys(("Convolution", "GroupConvolution", "ConvolutionBackpropData"), (1,)),
    **dict.fromkeys(("GroupConvolutionBackpropData", "DeformConv", "PRelu"), (1,)),
    "MatMul": (0, 1),
    **dict.fromkeys(("Gemm", "Einsum"), (0, 1, 2)),
    "FusedMatMul": (0, 1),
    "FusedConv": (1, 2),
    "BatchNormalization": (1, 2, 3, 4),
    "BatchNormInference": (1, 2, 3, 4),
    **dict.fromkeys(("LayerNormalization", "InstanceNormalization", "GroupNormalization"), (1, 2)),
    **dict.fromkeys(("RMSNormalization", "SimplifiedLayerNormalization"), (1,)),
    "SkipLayerNormalization": (2, 3, 4),
    "SkipSimplifiedLayerNormalization": (2, 3),
    "ScaledDotProductAttention": (4,),
    **dict.fromkeys(("LSTM", "GRU", "RNN"), (1, 2)),
    "LSTMSequence": (4, 5),
    **dict.fromkeys(("GRUSequence", "RNNSequence", "LSTMCell"), (3, 4)),
    **dict.fromkeys(("GRUCell", "RNNCell"), (2, 3)),
    "FakeQuantize": (1, 2, 3, 4),
    "MatMulNBits": (2, 5),
}

#: The products and convolutions that other modules examine.
PRODUCTS = frozenset(("MatMul", "Conv", "ConvTranspose", "Convolution", "GroupConvolution", "ConvolutionBackpropData"))

#: Operators that may stand between a constant and the node that uses the constant as a weight.
PASSING = frozenset(
    (
        *("Identity", "Transpose", "Gather", "Cast", "Convert", "Reshape", "Squeeze", "Unsqueeze", "Expand"),
        *("Broadcast", "Tile", "Flatten"),
    )
)

#: At most this many operators of PASSING are followed from a weight back to its constant.
STEPS = 4

#: At most this many operators are followed from a value back to the operators that limit its numbers.
FOLLOWED = 24

#: The normalizations, and the attribute that each adds to its divisor.
NORMALIZATIONS: Mapping[str, str] = {
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization", "LayerNormalization"), "epsilon"),
    **dict.fromkeys(("GroupNormalization", "RMSNormalization", "BatchNormInference"), "epsilon"),
    **dict.fromkeys(("SkipLayerNormalization", "SimplifiedLayerNormalization"), "epsilon"),
    "SkipSimplifiedLayerNormalization": "epsilon",
    **dict.fromkeys(("MVN", "NormalizeL2"), "eps"),
    "LRN": "bias",
}

#: An epsilon of at least this number is not examined, because it is above 0 even in float16.
LEAST_EPSILON = 6e-8

#: An epsilon of at least this number is larger than usual variances.
LARGEST_EPSILON = 1e4

#: The shapes of constants with a single element.
SINGLE = ((), (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1))

#: The inputs of a Pad that may be its fill value: ``constant_value`` in ONNX, ``pad_value`` in OpenVINO.
PADDING = (2, 3)

#: Attributes that operators use as factors or terms of results. They are reported if they are NaN or infinite.
FACTORS = frozenset(
    ("alpha", "beta", "gamma", "epsilon", "eps", "bias", "scale", "cubic_coeff_a", "cube_coeff", "momentum")
)

#: The examined attributes: FACTORS, and attributes that may be infinite. These are thresholds, the numbers of a
#: Constant, and the number that a Resize writes outside the image.
EXAMINED = FACTORS | {"lambd", "p", "value_float", "value_floats", "extrapolation_value"}

#: The lists of factors and terms among the attributes of operators of ai.onnx.ml.
FACTOR_LISTS: Mapping[str, tuple[str, ...]] = {
    "Scaler": ("scale", "offset"),
    **dict.fromkeys(("LinearRegressor", "LinearClassifier"), ("coefficients", "intercepts")),
    **dict.fromkeys(("SVMRegressor", "SVMClassifier"), ("coefficients", "support_vectors", "rho")),
    "TreeEnsembleRegressor": ("base_values", "target_weights"),
    "TreeEnsembleClassifier": ("base_values", "class_weights"),
}

#: Elementwise operators that are examined if an input is a constant with NaN or infinity.
SPREADING = frozenset(("Add", "Sum", "Sub", "Subtract", "Mul", "Multiply", "Max", "Maximum", "Min", "Minimum"))

#: Operators that may stand between compressed weights and the product with their scale.
DECOMPRESSING = frozenset(("Cast", "Convert", "Sub", "Subtract"))

#: Operators that may stand before a product with a scale.
SCALED = DECOMPRESSING | {"DynamicQuantizeLinear"}

#: Element types whose range is so wide that conversions to them are not examined.
WIDE = frozenset(("float32", "float64"))

#: The highest bytes of floating-point numbers that are 0, almost 0, or at least 2.
UNUSUAL = bytes((0x00, 0x80, *range(0x40, 0x80)))

#: Numbers of at least LARGE soon overflow in float32. LARGE_IN has this limit for other types.
LARGE, LARGE_IN = 2.0**125, {"float16": 2.0**8}

#: Element types whose largest number is small.
NARROW = frozenset(("float16",))

#: Operators before which a mask is added.
MASKED = ("Softmax", "SoftMax", "LogSoftmax")

#: Operators whose results are all NaN or infinite if the numbers of an input lie in certain ranges.
RANGED = (
    *("Sqrt", "Log", "ReduceLogSum", "Exp", "Cosh", "Sinh", "Reciprocal", "Asin", "Acos", "Acosh", "Atanh"),
    *("Div", "Divide", "Pow", "Power", *MASKED),
)

#: Operators that run a body several times.
REPEATING = frozenset(("Loop", "Scan", "TensorIterator"))

#: Losses with a weight for each class.
LOSSES = ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")

#: Operators that limit, round or compare numbers. All their results may be the same number.
LIMITING = (
    *("Relu", "ReLU", "Min", "Minimum", "Max", "Maximum", "Clip", "Clamp", "Round", "Floor", "Ceil", "Ceiling"),
    *("Sigmoid", "Tanh", "Erf", "Greater", "Less", "GreaterOrEqual", "GreaterEqual", "LessOrEqual", "LessEqual"),
)

#: Operators that replace infinity by a limit but keep NaN.
CLAMPING = frozenset(("Min", "Minimum", "Max", "Maximum", "Clip", "Clamp"))

#: Operators that choose between elements of inputs 1 and 2.
CHOOSING = frozenset(("Where", "Select"))

#: Activations whose result for infinity is finite.
SATURATING = frozenset(("Sigmoid", "HardSigmoid", "HSigmoid", "Tanh", "Erf", "Clip", "Clamp", "Atan", "Sign"))

#: Operators that add elements to those of a tensor, with the attribute ``reduction``.
SCATTERING = frozenset(("ScatterElements", "ScatterND"))

#: Operators whose results may be infinite although their operands have limits, such as Log at 0.
UNLIMITED = frozenset(("Reciprocal", "Div", "Divide", "Exp", "Log", "Pow", "Power"))

#: Operators whose results have a lower or an upper limit.
LIMITED = frozenset(
    (
        *(
            "Sigmoid",
            "HardSigmoid",
            "HSigmoid",
            "Tanh",
            "Erf",
            "Softmax",
            "SoftMax",
            "Softsign",
            "SoftSign",
            "Softplus",
        ),
        *("SoftPlus", "Relu", "ReLU", "Exp", "Abs", "Sqrt", "Clip", "Clamp", "Sin", "Cos", "Atan"),
    )
)

#: Operators whose results have a limit if each operand has a limit or is a constant.
COMPUTED = frozenset(
    ("Add", "Sub", "Subtract", "Mul", "Multiply", "Div", "Divide", "Neg", "Negative", "Min", "Max", "Identity")
)

#: Operators whose results have the limits of their first input.
TAKING = PASSING | {"Slice", "StridedSlice", "Concat", "Split", "VariadicSplit"}
