"""The name of an operator stands in the module that defines it, in what is written from there, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

from irlint.ops import index

PACKAGE = Path(__file__).resolve().parent.parent / "irlint"

#: By name, the modules of ``irlint/ops`` that may speak of it. A name of several words counts in lower case too.
HOMES: dict[str, set[str]] = {}
for table in (index.ONNX, index.OPENVINO, index.WITHOUT_RULE):
    for key, module in table.items():
        name = key.rpartition(":")[2]
        HOMES.setdefault(name, set()).add(module)
        if sum(letter.isupper() for letter in name) > 1:
            HOMES.setdefault(name.lower(), set()).add(module)

#: What is written by tests/make.
WRITTEN = {"ops/index.py", "parsers/openvino/operations.py"}

#: What releases of runtimes do with operators goes by their names, and is none of what the operators do.
OF_RELEASES = "targets/*"

#: Names that may stand elsewhere: where, and why.
EXCEPTIONS = (
    (
        "Parameter Result Assign Const",
        "model/formats.py",
        "they are the boundary of an IR's graphs, and no operations of theirs",
    ),
    (
        "Parameter Result Assign Const",
        "parsers/openvino/*",
        "they are the boundary of an IR's graphs, which the parser makes",
    ),
    ("Sum", "ops/nn/convolution.py", "it is the name of an input"),
    ("Cast Transpose Squeeze Unsqueeze Flatten Reshape", "fixes/inserted.py", "they are the nodes that fixes insert"),
    (
        "Cast CastLike Clamp Clip ConstantOfShape Conv ConvInteger ConvTranspose Convert ConvertLike Convolution "
        "ConvolutionBackpropData DequantizeLinear Div Divide Dropout FakeQuantize MatMulInteger Mul Multiply "
        "NonMaxSuppression OneHot Pad QuantizeLinear ReduceL1 ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
        "ReduceSum ReduceSumSquare ScaledDotProductAttention Sub Subtract",
        "checks/values.py",
        "it looks at constants and attributes of many operators",
    ),
    (
        "Abs Acos Acosh AdaptiveAvgPool Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool AvgPool Bernoulli "
        "Broadcast Cast CastLike Ceil Ceiling Celu Clamp Clip Compress Concat Convert ConvertLike Cos CumSum "
        "DepthToSpace DequantizeLinear Det Div Divide Dropout Elu Erf Exp Expand EyeLike FakeQuantize Flatten "
        "Floor Gather GatherElements GatherND Gelu GlobalAveragePool GlobalLpPool GlobalMaxPool Greater "
        "GreaterEqual GreaterOrEqual HSigmoid HSwish HardSigmoid HardSwish Hardmax Identity Interpolate LeakyRelu "
        "Less LessEqual LessOrEqual Log LogSoftmax LogicalAnd LogicalNot LogicalOr LpNormalization LpPool MatMul "
        "Max MaxPool Maximum Mean Min Minimum Mish Mul Multiply Neg Negative NonZero NormalizeL2 Not OneHot Or "
        "PRelu Pad Pow Power RandomUniform RandomUniformLike Reciprocal ReduceL1 ReduceL2 ReduceLogSum "
        "ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize "
        "ReverseSequence Roll Round ScatterElements ScatterElementsUpdate ScatterND ScatterNDUpdate ScatterUpdate "
        "Select Selu Shape ShapeOf Sigmoid Sign Sin Size Slice SoftPlus SoftSign Softmax Softplus Softsign "
        "SpaceToDepth Split Sqrt SquaredDifference Squeeze StridedSlice Sub Subtract Sum Swish Tanh "
        "ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze VariadicSplit Where",
        "checks/transfer_table.py",
        "intervals cross operators: what one gives, another one asks for",
    ),
    (
        "Cosh Sinh",
        "checks/curves.py",
        "it names functions in messages",
    ),
    (
        "Acos Acosh Add Asin Atanh Cast Convert Div Divide Exp Expand GlobalAveragePool Identity Log "
        "LogSoftmax Max Maximum Min Minimum Mul Multiply Neg Negative Pow Power Reciprocal ReduceMean Softmax "
        "Sqrt Sub Subtract Sum",
        "checks/ranges.py",
        "it asks which numbers operators get",
    ),
    (
        "Ceil Ceiling Clamp Clip Erf Floor Round Sigmoid SoftSign Softmax Softsign Tanh",
        "checks/casts.py",
        "it asks which numbers operators get",
    ),
    (
        "Add Loop Scan Sub Subtract Sum",
        "checks/first_iterations.py",
        "it runs bodies and follows infinity",
    ),
    (
        "Abs Broadcast CumSum Exp Expand Gather Hardmax Neg Negative OneHot Range Reciprocal ReduceMax "
        "ReduceMin Slice Sqrt StridedSlice Sub Subtract Tile Transpose",
        "checks/zeros.py",
        "it follows the numbers that operators give",
    ),
    (
        "AdaptiveAvgPool Add AveragePool AvgPool CumSum Div GRU Gemm GlobalAveragePool LSTM LogSoftmax RNN "
        "ReduceMax ReduceMean ReduceSum Softmax Sub Subtract",
        "checks/infinite.py",
        "it follows infinity through these operators",
    ),
    (
        "InstanceNormalization LRN LayerNormalization MVN NormalizeL2 RMSNormalization SimplifiedLayerNormalization "
        "SkipSimplifiedLayerNormalization",
        "checks/normalizations.py",
        "it compares the elements of which each takes a mean",
    ),
    (
        "Cast ConvInteger Convert DynamicQuantizeLinear MatMulInteger QuantizeLinear Sub Subtract",
        "checks/quantized.py",
        "it follows numbers through these operators",
    ),
    (
        "Add Concat Conv ConvTranspose Convolution ConvolutionBackpropData DequantizeLinear DynamicQuantizeLinear "
        "FakeQuantize MatMul QuantizeLinear",
        "checks/dequantized.py",
        "it is about what runtimes make of these nodes together",
    ),
    (
        "Celu Gemm GlobalLpPool HardSigmoid LpPool Selu Shrink ThresholdedRelu",
        "checks/factors.py",
        "its ``alpha`` is a threshold",
    ),
    (
        "Add Div Divide Expand Hardmax Identity LogSoftmax MatMul Mul Multiply ReduceL1 ReduceLogSum "
        "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Softmax SquaredDifference Sub "
        "Subtract",
        "checks/intervals.py",
        "it gives each element of the result that of the input",
    ),
    ("IsNaN Select Where", "checks/constants.py", "they select elements, or test them"),
    (
        "Clamp Clip Dropout OneHot",
        "checks/failing.py",
        "it is about numbers that these nodes do not take",
    ),
    (
        "Abs Acos Acosh Add Asin Atan Atanh BatchNormInference BatchNormalization Broadcast Cast Ceil Ceiling "
        "Clamp Clip Concat Conv ConvTranspose Convert Convolution ConvolutionBackpropData Cos Cosh DeformConv "
        "Div Divide DynamicQuantizeLinear Einsum Erf Exp Expand FakeQuantize Flatten Floor FusedConv "
        "FusedMatMul GRU GRUCell GRUSequence Gather Gemm Greater GreaterEqual GreaterOrEqual GroupConvolution "
        "GroupConvolutionBackpropData GroupNormalization HSigmoid HardSigmoid Identity InstanceNormalization "
        "LRN LSTM LSTMCell LSTMSequence LayerNormalization Less LessEqual LessOrEqual LinearClassifier "
        "LinearRegressor Log LogSoftmax Loop MVN MatMul MatMulNBits Max Maximum Min Minimum Mul Multiply Neg "
        "Negative NegativeLogLikelihoodLoss NormalizeL2 PRelu Pow Power RMSNormalization RNN RNNCell "
        "RNNSequence Reciprocal ReduceLogSum Relu Reshape Round SVMClassifier SVMRegressor "
        "ScaledDotProductAttention Scaler Scan ScatterElements ScatterND Select Sigmoid Sign "
        "SimplifiedLayerNormalization Sin Sinh SkipLayerNormalization SkipSimplifiedLayerNormalization Slice "
        "SoftPlus SoftSign Softmax SoftmaxCrossEntropyLoss Softplus Softsign Split Sqrt Squeeze StridedSlice "
        "Sub Subtract Sum Tanh TensorIterator Tile Transpose TreeEnsembleClassifier TreeEnsembleRegressor "
        "Unsqueeze VariadicSplit Where",
        "checks/examined.py",
        "it lists what is examined of many operators",
    ),
    (
        "If Loop Scan TensorIterator",
        "checks/carried.py",
        "it is about what enters the bodies of these nodes",
    ),
    (
        "Clip Erf Shape ShapeOf Sigmoid Tanh",
        "checks/collapsed.py",
        "it is about numbers from which on these functions are flat",
    ),
    (
        "Broadcast Concat DepthToSpace Det Expand Gather GatherElements GatherND MatMul OneHot ReverseSequence "
        "Roll Slice SpaceToDepth StridedSlice Tile Transpose Trilu",
        "checks/elements.py",
        "it is about which elements these operators take",
    ),
    (
        "If IsFinite IsInf IsNaN Shape ShapeOf Size",
        "checks/removed.py",
        "they replace NaN and infinity, or read only a shape",
    ),
    ("ReadValue", "folders/openvino_genai.py", "it reads the state that the pipeline needs"),
    ("RotaryEmbedding GroupQueryAttention", "folders/genai.py", "they have the rotary tables"),
    ("Shape", "folders/triton/schema.py", "it is a message of Triton's configuration"),
    ("Gather", "fixes/computed.py", "shapes are computed from elements that are taken"),
    ("Concat", "fixes/indices.py", "it joins the parts of a shape"),
    ("Unsqueeze Cast Convert Reshape Squeeze", "fixes/indices.py", "a size passes them on its way into a target"),
    ("Identity", "inference/origins.py", "exporters give a shared weight another name by it"),
    ("Reshape", "checks/mixed_rows.py", "it may mix the rows of a batch"),
    ("Transpose", "checks/transposed.py", "it may bring an axis of another meaning to the channels"),
    ("Pad", "fixes/rivals.py", "padding and the distance of taps have the same effect on a size"),
    ("MatMul MatMulInteger FusedMatMul", "fixes/objections.py", "what is added to their results is a bias"),
    ("Add", "fixes/relations.py", "it adds the result of a layer to the layer's input"),
    ("MatMul Mul Multiply Div Divide", "fixes/scales.py", "attention scales products of matrices by a factor"),
    ("Reshape Convert", "fixes/new_layers.py", "they are the layers that fixes insert"),
    ("Transpose Squeeze Unsqueeze Reshape", "fixes/wiring.py", "each layer that fixes insert calls its list otherwise"),
    (
        "Max Min Mod",
        "dims/expressions.py",
        "they are functions of the texts that PyTorch's exporter writes, and no operators",
    ),
    ("Parameter Result", "ops/shared/port_maps.py", "a port map names the boundary of a body by its layers"),
    (
        "Parameter Result Const",
        "binding/openvino*",
        "the parser has judged them; OpenVINO takes them by their very spelling",
    ),
    ("Const", "checks/constants.py", "the check of what constants hold finds the layer of each"),
    ("Constant", "model/formats.py", "ONNX's constants are nodes or initializers"),
    ("Constant", "parsers/onnx/*", "ONNX's constants are nodes or initializers, and the parser reads both"),
    (
        "Constant",
        "binding/onnx.py",
        "ONNX Runtime makes initializers of these nodes before it counts inputs and outputs",
    ),
    ("Constant", "model/order.py", "ONNX's constants are nodes or initializers"),
    ("Constant", "checks/*", "ONNX Runtime makes initializers of these nodes before it judges the graph"),
    (
        "Convert",
        "checks/declared.py",
        "OpenVINO's writer states the type of compressed weights behind it, as of no other operation",
    ),
    ("Assign ReadValue", "checks/variables.py", "the check is about this pair of operations across the graph"),
    ("Identity", "snippets/shared_constants.py", "exporters copy shared constants with it, as with no other operator"),
    ("ConvertLike", "checks/variables.py", "OpenVINO removes what only gives it an element type"),
    (
        "leakyrelu thresholdedrelu scaledtanh hardsigmoid softsign softplus",
        "ops/shared/gates.py",
        "activations by their own names",
    ),
    ("Tanh", "ops/nn/recurrent.py", "activations by their own names"),
    (
        "Relu Tanh Sigmoid LeakyRelu HardSigmoid Elu Selu Celu Softplus Softsign ThresholdedRelu ScaledTanh "
        "ParametricSoftplus",
        "ops/math/linear.py",
        "the values of FusedGemm's attribute",
    ),
    (
        "Relu Tanh Sigmoid LeakyRelu Clip HardSigmoid HardSwish",
        "ops/nn/convolution.py",
        "the values of FusedConv's attribute",
    ),
    (
        "Reshape Flatten Squeeze Unsqueeze Identity Result ReadValue Assign Cast Celu Clip Elu HardSigmoid LeakyRelu "
        "LogSoftmax Relu Selu Shrink Sigmoid Softmax Softplus Softsign Tanh ThresholdedRelu Clamp Convert "
        "SoftPlus SoftSign",
        "costs/activations.py",
        "runtimes make views of them, or write them over their input",
    ),
    ("If Loop Scan SequenceMap", "costs/counted.py", "each states how often its body runs in a way of its own"),
    (
        "ConstantOfShape If Loop Resize Upsample Interpolate TopK Trilu MatMulNBits GatherBlockQuantized FakeConvert "
        "ArrayFeatureExtractor MaxUnpool Convert Cast Identity Reshape Unsqueeze Squeeze Transpose Subtract Sub "
        "Multiply Mul",
        "costs/stored.py",
        "names of inputs that are settings of these alone, and what stands between stored weights and their scales",
    ),
    ("Range", "parsers/remote/web.py", "a header of HTTP"),
    ("swiglu", "ops/onnxruntime/transformer.py", "a value of MoE's attribute"),
    ("Shape", "dims/__init__.py", "the type of a shape"),
)


#: What is a text of names, in the only quotes that the formatter leaves; quick to find.
QUOTED = re.compile(r'"([\w ]+)"')


def literals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names of operators in a module, alone or in a list with spaces; not those of type variables, nor parts of
    texts."""
    passed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "TypeVar":
            passed.update(map(id, node.args))
        elif isinstance(node, ast.JoinedStr):
            passed.update(map(id, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
            words = node.value.split()
            if words and all(word in HOMES for word in words):
                yield from ((node.lineno, word) for word in words)


@cache
def strays(path: Path) -> list[tuple[str, int]]:
    """The names of operators in a module that defines others, with their lines."""
    own = path.relative_to(PACKAGE).as_posix().removeprefix("ops/").removesuffix(".py").replace("/", ".")
    text = path.read_text("utf-8")
    if all(own in HOMES.get(word, (own,)) for quoted in QUOTED.findall(text) for word in quoted.split()):
        return []
    return [(name, line) for line, name in literals(ast.parse(text)) if own not in HOMES[name]]


def excepted(path: Path) -> set[str]:
    """The names that may stand in a module all the same."""
    place = path.relative_to(PACKAGE).as_posix()
    return {name for names, pattern, _ in EXCEPTIONS if fnmatch(place, pattern) for name in names.split()}


MODULES = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_names_of_operators_stand_where_these_are_defined() -> None:
    wrong = []
    for place, path in MODULES.items():
        if place not in WRITTEN and not fnmatch(place, OF_RELEASES):
            wrong += [f"{place}:{line} {name}" for name, line in strays(path) if name not in excepted(path)]
    assert not wrong, (
        "a decorator of the operator says what is known of it; of a module that is about the operator, EXCEPTIONS says "
        "why: " + ", ".join(wrong)
    )


def test_every_exception_is_needed() -> None:
    for names, pattern, reason in EXCEPTIONS:
        found = {name for place, path in MODULES.items() if fnmatch(place, pattern) for name, _ in strays(path)}
        assert set(names.split()) <= found, f"{pattern}: {names} ({reason})"
