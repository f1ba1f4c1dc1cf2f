"""Every operator of both formats at every version: irlint has a rule for it, whose signature is its schema."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import onnx
from cases.notation import files, lines
from every import of_each

from irlint.ops import onnx_operator, onnx_versions, openvino_operator, tables
from irlint.ops.signatures import REQUIRED, signature
from irlint.schemas import OFFICIAL_DOMAINS

Schema = Any
FormalParameterOption = onnx.defs.OpSchema.FormalParameterOption

tables()

SCHEMAS: list[Schema] = sorted(
    (schema for schema in onnx.defs.get_all_schemas_with_history() if not schema.deprecated),
    key=lambda schema: (schema.domain, schema.name, schema.since_version),
)

#: Schema versions without a rule.
MISSING: set[str] = set()

#: Attributes that no rule reads although the schema has them: Split-1 has `split` as an input too.
UNREAD = {("Split-1", "split")}

#: Attributes that only ONNX Runtime's version of the operator has.
OF_THE_RUNTIME = {("LinearAttention", "state_window")}

#: Versions that only ONNX Runtime has.
OF_THE_RUNTIME_ALONE = {"LayerNormalization-1", "MeanVarianceNormalization-1"}

#: Defaults that are not the schema's: a misspelling in the schema; a default that only its text states.
OTHER_DEFAULTS = {("GRU-1", "direction"), ("SequenceEmpty-11", "dtype")}


def label(schema: Schema) -> str:
    return f"{schema.domain}{'.' if schema.domain else ''}{schema.name}-{schema.since_version}"


def served() -> dict[Callable[..., Any], list[Schema]]:
    """Every rule, with the schema versions that it serves."""
    result: dict[Callable[..., Any], list[Schema]] = defaultdict(list)
    for schema in SCHEMAS:
        operator = onnx_operator(schema.domain, schema.name, schema.since_version)
        if operator is not None:
            result[operator.function].append(schema)
    return result


SERVED = served()
RULES = {label(schemas[0]): (rule, schemas) for rule, schemas in SERVED.items()}


def test_every_schema_version_has_a_rule() -> None:
    without = {label(each) for each in SCHEMAS if onnx_operator(each.domain, each.name, each.since_version) is None}
    assert without == MISSING


def single_count(schema: Schema) -> int:
    """How many inputs come before the first that may be left out."""
    options = [parameter.option for parameter in schema.inputs]
    single = [option == FormalParameterOption.Single for option in options]
    return single.index(False) if False in single else len(single)


def is_variadic(schema: Schema) -> bool:
    return bool(schema.inputs) and schema.inputs[-1].option == FormalParameterOption.Variadic


@of_each(RULES)
def test_positional_parameters_are_the_inputs(rule: Callable[..., Any], schemas: list[Schema]) -> None:
    ours = signature(rule)
    assert {is_variadic(schema) for schema in schemas} == {ours.variadic is not None}
    assert len(ours.inputs) == max(len(schema.inputs) - is_variadic(schema) for schema in schemas)
    assert ours.required == min(min(single_count(schema) for schema in schemas), len(ours.inputs))
    if len(schemas) == 1:
        positional = [parameter.name for parameter in schemas[0].inputs][: len(ours.inputs)]
        swapped = [
            (name, position, positional.index(name))
            for position, name in enumerate(ours.inputs)
            if name in positional and positional.index(name) != position
        ]
        assert not swapped


@of_each(RULES)
def test_keyword_parameters_are_the_attributes(rule: Callable[..., Any], schemas: list[Schema]) -> None:
    ours = set(signature(rule).attributes)
    names = {schema.name for schema in schemas}
    known = {name for schema in SCHEMAS if schema.name in names for name in schema.attributes}
    known |= {attribute for name, attribute in OF_THE_RUNTIME if name in names}
    assert ours <= known
    for schema in schemas:
        unread = {name for name in schema.attributes if (label(schema), name) not in UNREAD} - ours
        assert not unread, label(schema)


def default_of(attribute: Any) -> Any:
    value = onnx.helper.get_attribute_value(attribute.default_value)
    if isinstance(value, list):
        return tuple(entry.decode() if isinstance(entry, bytes) else entry for entry in value)
    return value.decode() if isinstance(value, bytes) else value


#: What the schemas call optional without a default, and ONNX Runtime refuses a node without.
REQUIRED_BY_THE_RUNTIME = {
    "RegexFullMatch": {"pattern"},
    "FeatureVectorizer": {"inputdimensions"},
    "LinearClassifier": {"intercepts"},
    "SVMClassifier": {"coefficients", "kernel_params", "rho"},
    "SVMRegressor": {"coefficients", "kernel_params", "rho"},
    "TreeEnsemble": {"n_targets"},
    "TreeEnsembleRegressor": {"n_targets"},
}


def is_default(given: Any, attribute: Any, required: bool) -> bool:
    if attribute.default_value.type:
        wanted = default_of(attribute)
        return given == wanted or (isinstance(wanted, float) and math.isclose(given, wanted, rel_tol=1e-6))
    return given is REQUIRED if required else given is None


@of_each(RULES)
def test_defaults_are_the_schemas(rule: Callable[..., Any], schemas: list[Schema]) -> None:
    for name, (_, given) in signature(rule).attributes.items():
        having = [schema for schema in schemas if name in schema.attributes]
        required = bool(having) and all(
            schema.attributes[name].required or name in REQUIRED_BY_THE_RUNTIME.get(schema.name, ())
            for schema in having
        )
        for schema in having:
            if (label(schema), name) not in OTHER_DEFAULTS:
                assert is_default(given, schema.attributes[name], required), (label(schema), name, given)


def test_rules_begin_where_a_schema_does() -> None:
    versions = defaultdict(set)
    for schema in onnx.defs.get_all_schemas_with_history():
        versions[schema.domain, schema.name].add(schema.since_version)
    late = {
        f"{name}-{operator.since}"
        for (domain, name), since in versions.items()
        if domain in OFFICIAL_DOMAINS
        for operator in onnx_versions(domain, name)
        if operator.since not in since
    }
    assert late == OF_THE_RUNTIME_ALONE


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

#: The opsets of each operation of OpenVINO 2026.4, a group for each of its versions: the layers' types by their opsets.
OPERATIONS = {
    "1": "Reverse Xor",
    "1,3-16": "RNNCell ShuffleChannels",
    "1-16": """Abs Acos Add Asin Atan BinaryConvolution CTCGreedyDecoder Ceiling Clamp Concat Const ConvertLike Convolution
ConvolutionBackpropData Cos Cosh DeformablePSROIPooling DepthToSpace Divide Elu Equal Erf Exp FakeQuantize
Floor FloorMod GRN GatherTree Greater GreaterEqual GroupConvolution GroupConvolutionBackpropData HardSigmoid
LRN Less LessEqual Log LogicalAnd LogicalNot LogicalOr LogicalXor MatMul Maximum Minimum Mod Multiply Negative
NormalizeL2 NotEqual PReLU PSROIPooling Power PriorBoxClustered ReLU ReduceLogicalAnd ReduceLogicalOr
ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum RegionYolo Reshape Result ReverseSequence Select Selu
Sigmoid Sign Sin Sinh SpaceToDepth Split Sqrt SquaredDifference StridedSlice Subtract Tan Tanh TensorIterator
Tile Transpose Unsqueeze VariadicSplit""",
    "1-17": "Convert Parameter",
    "2-16": "BatchToSpace ROIPooling ReorgYolo SpaceToBatch",
    "3-16": """Bucketize CumSum EmbeddingBagOffsetsSum EmbeddingBagPackedSum EmbeddingSegmentsSum ExtractImagePatches GRUCell
NonZero ScatterUpdate""",
    "4-16": "Acosh Asinh Atanh CTCLoss HSwish Mish ReduceL1 ReduceL2 SoftPlus Swish",
    "5-16": "GRUSequence HSigmoid LSTMSequence LogSoftmax Loop RNNSequence Round",
    "6-16": """CTCGreedyDecoderSeqLen ExperimentalDetectronDetectionOutput ExperimentalDetectronGenerateProposalsSingleImage
ExperimentalDetectronPriorGridGenerator ExperimentalDetectronROIFeatureExtractor ExperimentalDetectronTopKROIs
GatherElements""",
    "7-16": "DFT Einsum IDFT Roll",
    "8-16": "AdaptiveAvgPool AdaptiveMaxPool I420toBGR I420toRGB If MatrixNms NV12toBGR NV12toRGB RandomUniform Slice",
    "9-16": "Eye GenerateProposals GridSample IRDFT RDFT SoftSign",
    "10-16": "IsFinite IsInf IsNaN Unique",
    "12-16": "GroupNormalization",
    "13-16": "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor FakeConvert Multinomial NMSRotated ScaledDotProductAttention",
    "14-16": "ConvertPromoteTypes Inverse",
    "15-16": """BitwiseLeftShift BitwiseRightShift Col2Im EmbeddingBagOffsets EmbeddingBagPacked ROIAlignRotated STFT
SearchSorted SliceScatter StringTensorPack StringTensorUnpack""",
    "16": "ISTFT Identity SegmentMax SparseFillEmptyRows",
    "17": "BGRtoNV12 ErfInv GroupedMatMul RGBtoNV12",
    "1-11 12-16": "Pad",
    "1-14 15-16": "Squeeze",
    "1-15 16": "OneHot",
    "1-2 3-16": "Broadcast",
    "1-2 3-17": "ShapeOf",
    "1-3 4-16": "LSTMCell Proposal Range",
    "1-4 5-16": "BatchNormInference",
    "1-7 8-16": "DeformableConvolution DetectionOutput PriorBox SoftMax",
    "2-5 6-16": "MVN",
    "2-6 7-16": "Gelu",
    "3-11 12-16": "ScatterElementsUpdate",
    "3-5 6-16": "Assign ReadValue",
    "3-8 9-16": "ROIAlign",
    "4-14 15-16": "ScatterNDUpdate",
    "5-7 8-16": "GatherND",
    "8 9-16": "MulticlassNms",
    "1-13 14-15 16": "AvgPool",
    "1-2 3-10 11-16": "TopK",
    "1-3 4-10 11-16": "Interpolate",
    "1-6 7 8-16": "Gather",
    "1-7 8-13 14-16": "MaxPool",
    "1-2 3 4 5-8 9-16": "NonMaxSuppression",
}

#: Operations without a rule.
MISSING_OPERATIONS: set[str] = set()


def opsets(text: str) -> set[int]:
    """``1,3-16`` as numbers."""
    result: set[int] = set()
    for part in text.replace(" ", ",").split(","):
        low, _, high = part.partition("-")
        result |= set(range(int(low), int(high or low) + 1))
    return result


LAYERS = [(name, opsets(text)) for text, names in OPERATIONS.items() for name in names.split()]


@of_each({name: (name, wanted) for name, wanted in LAYERS})
def test_operation_has_a_rule_in_exactly_its_opsets(name: str, wanted: set[int]) -> None:
    found = {number for number in range(1, 18) if openvino_operator(name, number) is not None}
    assert found == (set() if name in MISSING_OPERATIONS else wanted)


def test_no_operation_is_made_up() -> None:
    """One that the release above does not have stands among the cases, of which OpenVINO is asked."""
    known = {"constant", *(name.lower() for name, _ in LAYERS)} - {name.lower() for name in MISSING_OPERATIONS}
    heads = (re.match(r"openvino ([\w,]+)@", line) for path in files() for _, line in lines(path))
    asked = {name.lower() for head in heads if head is not None for name in head[1].split(",")}
    made_up = set(tables()[1]) - asked - known
    assert not made_up, f"a line of the cases has to be of each: {sorted(made_up)}"
    assert known - {"constant"} <= set(tables()[1])
