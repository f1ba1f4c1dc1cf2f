"""Every difference between irlint and an engine that is known, with its reason: those of drawn models as patterns,
others as models.

A line of a case says of its own model what an engine answers differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cases.ir_documents import BASES, const, edge, layer, named, net, parameter, result

# --- mutants of ONNX models -------------------------------------------------------------------------------------------

#: What ONNX Runtime alone refuses: kernels, opsets and functions that it does not have.
NO_FAULT = re.compile("NOT_IMPLEMENTED|ValidateOpsetForDomain|is not a registered function/op|Model::Model")

#: Refusals that irlint answers with a warning or not at all, as a part of ONNX Runtime's text, and why.
MISSED = {
    'GetAttr("hidden_size"': "the specification lets recurrent operators go without: a warning",
    "items % ngram_size == 0": "the lists of a TfIdfVectorizer are not counted",
    "OpNodeProtoHelper<Impl_t>::GetAttr": "the specification lets RegexFullMatch go without a pattern",
    "Failed to construct locale": "the locales of this machine",
}

#: Errors that ONNX Runtime does without, by rule, and why.
FALSE = {
    "IRL361": "a size below 0 in an operator that the runtime puts together from others",
    "IRL366": "with keep_aspect_ratio_policy=not_smaller the runtime takes the larger of several sizes",
    "IRL324": "parameters of one element, which the runtime stretches",
    "IRL340": "sizes that the runtime does not know before it runs, of tensors without elements",
}

# --- constants of ONNX models in files --------------------------------------------------------------------------------

#: Where irlint has nothing to compare: the list is empty or no list at all, or its contents do not change the answer.
UNCOMPARED = {
    "Expand@13 float32[3,1] int64=2",
    "Slice@13 float32[2,3,10] int64{} int64{}",
    "Resize@11 float32[1,3,10,20] float32{} float32{} int64{1,3,5,5}",
}

# --- drawn IRs --------------------------------------------------------------------------------------------------------

#: Where irlint and OpenVINO differ on purpose: (kind of difference, what stands in the case or the text, why).
LISTED = (
    # refused by the library, allowed by the specification: a warning that quotes both
    (
        "missed .*IRL205",
        "",
        "the specification ignores trailing 1s, calls the attribute `axis` and takes -1 for its default",
    ),
    ("missed .*IRL510", r"DepthToSpace@|SpaceToDepth@", "the default of block_size is 1 by the specification"),
    (
        "missed .*IRL504",
        r"(Bucketize|DeformableConvolution|PSROIPooling)@",
        "the attribute has a default by the specification; the library refuses the layer without it",
    ),
    (
        "missed .*IRL510",
        r"pads_(begin|end)='[^']*-|dilations='[^']*-|strides='[^']*-",
        "nothing follows from a window below 0",
    ),
    # refused by the library for what it does not know, not for what the file says
    (
        "missed",
        r"dynamic\[",
        "the library wants an element type from the input of some operations, whatever it may become",
    ),
    (
        "missed",
        "Value for partial shape evaluation can't be lower",
        "the library evaluates a -1 that the operation allows",
    ),
    ("missed", r"\[\.\.\.\].*Accessing out-of-range dimension", "the library reads a size of an unknown rank"),
    (
        "missed",
        r"Unique@\d+ \S+ (%\d+|\w+(\[|\S*<|\{\S*as\[)).*'axis' input of the Unique",
        "that a value is a Const, and not computed, is not part of what is known of it",
    ),
    ("missed", r"has to extend \(relax\)", "an unknown rank may come from anywhere"),
    ("missed", r"Broadcast incorrect target shape", "the size may be 1, and is then stretched"),
    (
        "missed",
        r"BackpropData@.*(\.\.\d*|-1)\].*Accessing out-of-range",
        "the library wants the length of output_shape",
    ),
    ("missed", r"Col2Im@.*to_shape was called on a dynamic shape", "the library wants the length of a list"),
    (
        "missed",
        r"VariadicSplit@.*i(32|64)\[\.\.\.\].*out of range",
        "the library makes no output for a list of unknown rank",
    ),
    ("missed", r"Transpose@\d+ \S+ \S+\{\}.*cannot be a scalar", "an empty order reverses an input of unknown rank"),
    ("false IRL365", r"Interpolate@[123] .*entr(y|ies) for \d ax[ei]s", "the library reads past the end of the sizes"),
    ("died", r"Interpolate@[123] ", "the library reads past the end of the sizes"),
    ("died", r"(MaxPool|AvgPool|Slice|Broadcast)", "an input is missing"),
    ("false IRL510", "Col2Im@", "the library reads past the end of a list of one"),
    # another number of elements, or more of them than there are: the library cuts off what is there, or reads what is
    # not
    (
        "false IRL330",
        r"Reshape@\d+ [^\n]*(?i:special_zero='true')",
        "a 0 copies a size, and the library cuts off the rest",
    ),
    # refused where there are elements, and never looked at where there are none
    ("false IRL349", "TopK@", "k exceeds the axis"),
    ("false IRL202", "PRelu@", "the slope does not fit"),
    # numbers that the specification forbids and the library takes: irlint warns and draws no conclusion
    (
        "dim unknown",
        r"(strides|dilations|pads_begin|pads_end|rates|sizes)='[^']*(-\d|\b0\b)",
        "a window below 0 or of 0",
    ),
    ("dim unknown", r"(Convolution|ConvolutionBackpropData)@.*[\[,]0[\],]", "a kernel of size 0"),
    ("dim unknown", r"(max_detections_per_image|post_nms_count|post_nms_topn|max_rois)='-", "a count below 0"),
    ("dim unknown", r"NonMaxSuppression@.*i(32|64)(=|\{)-", "a count below 0"),
    # the library knows too much
    (
        "dim unknown|^dim$",
        r"RDFT@",
        "without a known signal_size the library keeps the input's size; running gives another",
    ),
    (
        "dim unknown",
        r"NonMaxSuppression@[1-4] .*(\.\.|-1)",
        "the library takes the upper end of an interval, or 1, for the number",
    ),
    ("dim unknown", r"Reshape@.*(<interval>|\.\.)", "the library divides the ends of intervals, and rounds"),
    ("dim unknown", r"Reshape@.*0,-1", "the library takes 1 for a -1 beside a size of 0"),
    (
        "dim unknown",
        r"(GatherTree|ROIAlign|FakeConvert|Select)@.*\.\.",
        "the library takes what two intervals share; irlint states that both are equal",
    ),
    ("dim unknown", r"\.\..*='[Pp][Dd]", "no number of the interval fits"),
    ("dim unknown", r"Unique@", "the library knows that there is at least one unique slice"),
    (
        "dim unknown",
        r"Slice@\d+ \S*\.\.",
        "the library takes the upper end of an interval for the size that a -2 counts from",
    ),
    ("dim unknown", r"RNN(Cell|Sequence)@.*-1", "the hidden size follows from W alone"),
    ("^dim$", r"NonMaxSuppression@[1-4] \S+ \S*\.\.", "the library takes the upper end of an interval for the number"),
    ("^dim$", r"BackpropData@\d+ \S*\b0\b", "no input"),
    (
        "rank unknown",
        r"Transpose@\d+ \w+\[\.\.\.\] \w+\{\}\S* .*openvino \('\w+', \[\]\)",
        "an empty order reverses an input of unknown rank; no scalar follows",
    ),
    ("^rank$", r"BackpropData@.*(\.\.|-1)\S*\] ;", "with an output_shape of unknown length the library loses an axis"),
    ("dim unknown", r"\.\..*\.\.", "the library takes what two intervals share; irlint states that both are equal"),
    ("type", r"dynamic\[", "an element type left open, which another input fixes"),
    ("missed", r"Unique@.*Split@.*Interval\(1, ", "the library knows that there is at least one unique slice"),
    ("^rank$", r"Col2Im@\d+ \w+\[\d*\.\..*Squeeze@", "irlint knows ends of the number of channels, the library none"),
    (
        "missed",
        r"Axis -?\d{10,} out of",
        "the library divides by 0, or counts an empty interval",
    ),
    ("missed", r"(\.\.|-1).*Cannot infer '-1' dimension with zero-size", "a size of input 0 may be 0"),
    ("missed", "Output pattern dim.* has invalid bounds", "the library works out the bounds of a target to nonsense"),
    ("missed", r"Unique@.*Divide@.*Axis \d+ out of", "the library knows that there is at least one unique slice"),
    ("^dim$", r"Unique@\d+ %", "the library knows that there is at least one unique slice, even of nothing"),
    (
        "dim unknown",
        r"\.\..*Slice@\d+ %",
        "the library takes the upper end of an interval for the size that a -2 counts from",
    ),
    ("missed", r"Transpose@\d+ \w+\[\.\.\.\] \w+\{\} ", "the reverse of an unknown rank is no scalar"),
    ("dim unknown", r"Subtract@.*Interpolate@", "a size below 0"),
    ("dim unknown", r"Convolution@\d+ \S+ \w+\[[^\]]*\.\.", "only one number of the interval leaves an output"),
    ("^rank$", r"(Minimum|Maximum|Negative|Select)@.*Squeeze@", "the library does not know the axis"),
    (
        "missed",
        r"DetectionOutput@.*num_loc_classes \* 4 \(0\)",
        "the library counts 0 classes where it cannot count them",
    ),
    ("missed", r"body (changes|uneven).*Squeeze@", "what is removed in a body depends on when it is asked"),
    ("died", r"DetectionOutput@.*keep_top_k=''", "the library crashes on an empty list"),
    ("missed", r"Requested output shape \[\d{10,}\]", "the library counts an empty interval"),
    ("missed", r"Transpose@\d+ \S+ \w+\{\} .*rank range \[-\d, 0\]", "the reverse of an unknown rank is no scalar"),
    ("dim outside", r"Broadcast@.*='pdpd'", "no number of the interval fits"),
    (
        "missed",
        r"DeformableConvolution@.*-1.*offsets and output",
        "the library takes an open kernel for one of 1 at least",
    ),
    ("missed", r"\[\.\.\.\].*Concat@.*Got: \d+\.\.", "the library knows a lower end for the sum with an open size"),
    ("missed", "'0' dimension is out of range", "an entry of a target may be 0, and need not be"),
    ("dim outside", "NonMaxSuppression@[1-4] ", "a count below 0"),
    (
        "dim outside",
        "special_zero='true'",
        "an entry of a target may be 0, and then copies a size; irlint takes it for a size",
    ),
    (
        "^rank$|missed .*IRL332",
        r"(Loop|TensorIterator|If)@.*Squeeze@",
        "what is removed in a body depends on when it is asked",
    ),
    ("missed", r"SliceScatter@\d+ \w+\[\.\.\.\] .*expected slice shape \[0,", "no elements, from whatever there is"),
    (
        "rank unknown",
        r"Transpose@\d+ \S+ i64\{\}\S* .*openvino \('\w+', \[\]\)",
        "the reverse of an unknown rank is no scalar",
    ),
    ("missed", "integer division by zero", "the library computes what no shape follows from"),
    (
        "^(dim|rank|type)",
        r"body (changes|uneven)",
        "the library looks at the first iteration, at the last number of slices",
    ),
    ("dim unknown", r"Reshape@.*\{.*-1", "the library takes 1 for a -1 beside a size of 0"),
    ("rank unknown|missed .*IRL347", r"Gather@.*batch_dims='-", "a batch_dims below what the specification allows"),
    ("died", "Col2Im@", "the specification has defaults for the attributes without which the library crashes"),
    (
        "dim unknown",
        "Einsum@",
        "the library takes what two sizes of one label share; irlint states that both are equal",
    ),
    ("type", r"ConvertPromoteTypes@.*\[\.\.\.\]", "whether an input is a scalar decides its part"),
    ("missed", r"Concat@.*\[\.\.\.\].*Got: \d+\.\.", "the library knows a lower end for the sum with an open size"),
    (
        "dim unknown",
        r"TopK@.*<(open|interval)>|TopK@.*\.\.",
        "the library takes the smaller of k and the axis; irlint states that k is not larger",
    ),
    (
        "dim unknown",
        r"(STFT|DepthToSpace|SpaceToDepth|BatchToSpace|Reshape)@.*\.\.",
        "the library rounds the ends of an interval; irlint keeps the formula",
    ),
    (
        "missed",
        r"Convolution\S*@.*[\[,]0[,\]].*Input channels dimension",
        "no channels, which an open number of channels may be",
    ),
    ("missed", r"\[\.\.\.\].*Rank must be static", "the library counts from the end of a known rank only"),
)

# --- models -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """A model, the codes that irlint gives it, warnings in parentheses, how it ends in the engine (``load``, ``run``,
    ``ok``), and why irlint says less: ``model`` is a case's line without answers, or the text of an IR."""

    model: str
    says: str
    ends: str
    reason: str


def _fake_quantize(id: int, levels: int = 65536) -> str:
    return layer(id, "FakeQuantize", "01234", "5", name=f"f{id}", data=f'<data levels="{levels}"/>')


def _bounds(to: int) -> list[str]:
    return [edge(7, 0, to, port) for port in range(1, 5)]


_BOUND = const(7, 'element_type="f32" shape="2,3" offset="0" size="24"')

_FUNCTIONS = (
    'onnx <ir_version: 10, opset_import: ["" : 17, "f" : 1]> g (float[2] x) => (y) { y = f.f (x) } <domain: "f", '
    'opset_import: ["" : 17]> '
)

MODELS = {
    "two layers of 65536 levels": Difference(
        net(
            [parameter(0), _BOUND, _fake_quantize(2), _fake_quantize(3), result(4)],
            [edge(0, 0, 2, 0), *_bounds(2), edge(2, 5, 3, 0), *_bounds(3), edge(3, 5, 4, 0)],
        ),
        "(IRL747) (IRL747)",
        "run",
        "the CPU plugin removes the first one, after which the second stands between an input and an output",
    ),
    "int32 in 256 levels behind a layer": Difference(
        net(
            [parameter(0), layer(1, "Abs", "0", "1", name="a"), _fake_quantize(2, 256), result(4), _BOUND],
            [edge(0, 0, 1, 0), edge(1, 1, 2, 0), *_bounds(2), edge(2, 5, 4, 0)],
        )
        .replace('shape="2,3" element_type="f32"', 'shape="2,3" element_type="i32"')
        .replace('precision="FP32"', 'precision="I32"')
        .replace(
            'name="c" type="Const" version="opset1"><data element_type="f32" shape="2,3" offset="0" '
            'size="24"/><output><port id="0" precision="I32"',
            'name="c" type="Const" version="opset1"><data element_type="f32" shape="2,3" offset="0" '
            'size="24"/><output><port id="0" precision="FP32"',
        ),
        "(IRL747)",
        "run",
        "which layers the plugin fuses before it, after which it takes the type, differs by layer; a Convert is taken",
    ),
    "a variable that a branch reads and nothing writes": Difference(
        BASES["if"].replace(
            'type="Relu" version="opset1">',
            'type="ReadValue" version="opset6"><data variable_id="v" variable_type="f32" variable_shape="2,3"/>',
            1,
        ),
        "",
        "run",
        "only the variables of the main graph are followed; the other branch works",
    ),
    "names that stand twice in version 10": Difference(
        named(10, "tx", "tx", "x"), "", "load", "OpenVINO renames one of two equal tensor names, in an order of its own"
    ),
    "two defaults of a function": Difference(
        _FUNCTIONS + "f <a: int = 0, a: int = 5> (x) => (y) { y = Softmax <axis : int = @a> (x) }",
        "(IRL130)",
        "load",
        "ONNX Runtime infers shapes with the last one and runs with the first one",
    ),
    "two values of a function's Constant": Difference(
        _FUNCTIONS
        + "f (x) => (y) { c = Constant <value_floats = [1.0], value_floats = [1.0,2.0,3.0]> () y = Add (x, c) }",
        "(IRL519)",
        "load",
        "ONNX Runtime infers shapes with the last one and runs with the first one",
    ),
}
