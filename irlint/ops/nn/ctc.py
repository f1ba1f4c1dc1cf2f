"""The CTC operations of OpenVINO."""

from __future__ import annotations

from irlint.findings.faults import Rule, Severity
from irlint.model.tensor import INTEGERS, Tensor
from irlint.ops import openvino
from irlint.ops.shared.compiling import first_of, output_type_at, types_at
from irlint.ops.shared.element_types import INDEX_TYPES, REAL, expect_type
from irlint.ops.shared.expectations import Expected, check
from irlint.ops.shared.sizes import narrower, size

DType = str

_CTC_GOOD = """<?xml version="1.0"?>
<net name="g" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="20,8,5" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>20</dim><dim>8</dim><dim>5</dim></port></output></layer>
<layer id="1" name="m" type="Parameter" version="opset1"><data shape="20,8" element_type="f32"/><output>\
<port id="0" precision="FP32"><dim>20</dim><dim>8</dim></port></output></layer>
<layer id="2" name="d" type="CTCGreedyDecoder" version="opset1"><data ctc_merge_repeated="true"/><input><port id="0"/>\
<port id="1"/></input><output><port id="2" precision="FP32"><dim>8</dim><dim>20</dim><dim>1</dim><dim>1</dim></port>\
</output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>\
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>\
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>"""

CTC_MISMATCH = Rule(
    "IRL379",
    "ctc-shape-mismatch",
    Severity.ERROR,
    "The sizes of the inputs of a CTC operation contradict each other.",
    why=(
        "All inputs must have the same batch size N. The mask of CTCGreedyDecoder and the labels of CTCLoss must have "
        "as many steps T as the scores. Otherwise, OpenVINO refuses the model."
    ),
    fix="Check the order of the axes: [T, N, C] in CTCGreedyDecoder, [N, T, C] in CTCGreedyDecoderSeqLen and CTCLoss.",
    bad=_CTC_GOOD.replace(
        "<dim>20</dim><dim>8</dim></port></output></layer>", "<dim>21</dim><dim>8</dim></port></output></layer>"
    ).replace('shape="20,8"', 'shape="21,8"'),
    good=_CTC_GOOD,
)


#: Element types of scores and masks that the CPU plugin can decode.
_DECODED = frozenset({"float32", "float16", "bfloat16", "float64"})

#: Element types that the CPU plugin does not support for the outputs of CTCGreedyDecoderSeqLen.
_NOT_AS_OUTPUTS = frozenset({"float64", "uint3", "uint6", "string"})


@openvino("CTCGreedyDecoder", compiles=types_at(0, 1, allowed=_DECODED), ignores_extra_inputs=True)
def ctc_greedy_decoder(data: Tensor, sequence_mask: Tensor, *, ctc_merge_repeated: bool = True) -> Tensor:
    """OpenVINO CTCGreedyDecoder-1: labels [N, T, 1, 1]."""
    steps = narrower(size(data, 0, 3), size(sequence_mask, 0, 2))
    batch = narrower(size(data, 1, 3), size(sequence_mask, 1, 2))
    check(data, Expected(0, "data", (("T", steps), ("N", batch), ("C", None)), CTC_MISMATCH))
    check(sequence_mask, Expected(1, "sequence_mask", (("T", steps), ("N", batch)), CTC_MISMATCH))
    return Tensor(data.dtype, (batch, steps, 1, 1))


@openvino(
    "CTCGreedyDecoderSeqLen",
    since=6,
    fills_in=True,
    compiles=first_of(
        types_at(0, allowed=_DECODED),
        types_at(1, allowed=INDEX_TYPES),
        output_type_at("classes_index_type", _NOT_AS_OUTPUTS, dynamic=False),
        output_type_at("sequence_length_type", _NOT_AS_OUTPUTS, dynamic=False),
    ),
)
def ctc_greedy_decoder_seq_len(
    data: Tensor,
    sequence_length: Tensor,
    blank_index: Tensor | None = None,
    *,
    merge_repeated: bool = True,
    classes_index_type: DType = "int32",
    sequence_length_type: DType = "int32",
) -> tuple[Tensor, Tensor]:
    """OpenVINO CTCGreedyDecoderSeqLen-6: labels [N, T], and the number of labels of each sequence [N]."""
    batch = narrower(size(data, 0, 3), size(sequence_length, 0, 1))
    check(data, Expected(0, "data", (("N", batch), ("T", None), ("C", None)), CTC_MISMATCH))
    check(sequence_length, Expected(1, "sequence_length", (("N", batch),), CTC_MISMATCH))
    expect_type(blank_index, 2, INTEGERS, read=False)
    if blank_index is not None and blank_index.shape:
        check(blank_index, Expected(2, "blank_index", (("1", 1),), CTC_MISMATCH))
    return Tensor(classes_index_type, (batch, size(data, 1, 3))), Tensor(sequence_length_type, (batch,))


@openvino(
    "CTCLoss",
    since=4,
    absent={"ctc_merge_repeated": False},
    fills_in=True,
    documented={"ctc_merge_repeated": True},
)
def ctc_loss(
    logits: Tensor,
    logit_length: Tensor,
    labels: Tensor,
    label_length: Tensor,
    blank_index: Tensor | None = None,
    *,
    preprocess_collapse_repeated: bool = False,
    ctc_merge_repeated: bool = True,
    unique: bool = False,
) -> Tensor:
    """OpenVINO CTCLoss-4: losses [N]."""
    expect_type(logits, 0, REAL)
    for index, tensor in enumerate((logit_length, labels, label_length, blank_index), 1):
        expect_type(tensor, index, INTEGERS, read=False)
    batch = narrower(size(logits, 0, 3), size(logit_length, 0, 1), size(labels, 0, 2), size(label_length, 0, 1))
    steps = narrower(size(logits, 1, 3), size(labels, 1, 2))
    check(logits, Expected(0, "logits", (("N", batch), ("T", steps), ("C", None)), CTC_MISMATCH))
    check(logit_length, Expected(1, "logit_length", (("N", batch),), CTC_MISMATCH))
    check(labels, Expected(2, "labels", (("N", batch), ("T", steps)), CTC_MISMATCH))
    check(label_length, Expected(3, "label_length", (("N", batch),), CTC_MISMATCH))
    check(blank_index, Expected(4, "blank_index", (), CTC_MISMATCH))
    return Tensor(logits.dtype, (batch,))
