"""Layers such as OpenVINO's documents show them: sound ones give no finding, the others report their defect once."""

from __future__ import annotations

import pytest
from cases.ir_documents import EDGES, LAYERS, net, refused, written
from oracles.ir_generator import document, line
from oracles.random_irs import irlint_types, openvino_types, severity

import irlint
from irlint.dims import bounds
from irlint.findings.faults import Severity

pytestmark = pytest.mark.oracle

Sizes = list[tuple[int | None, int | None]]


def seen(text: str) -> tuple[list[Sizes | None] | str, list[Sizes | None] | str, list[str]]:
    """The shapes that the library and irlint give a layer, ``refused`` where they take it not; irlint's messages."""
    xml, weights = document(line(text).case())
    theirs = openvino_types(xml, weights)
    ours, faults = irlint_types(xml, weights)
    errors = [fault for fault in faults if severity(fault) is Severity.ERROR]
    mine = [None if known.shape is None else [bounds(dim) for dim in known.shape] for known in ours]
    reported = [f"{fault.rule.code} {fault.message} ({fault.help})" for fault in faults]
    return (
        "refused" if isinstance(theirs, str) else [shape for _, shape in theirs],
        "refused" if errors else mine,
        reported,
    )


# --- layers -----------------------------------------------------------------------------------------------------------


#: Layers with a defect, and for each finding its code and words of its message or its help.
DEFECTIVE = """
BatchNormInference@1 f32[10,128] f32[128] f32[128] f32[128] f32[128] | IRL339 after gamma and beta) is [128] with 1 axis; the operator takes at least 2 | IRL504 `epsilon`
Roll@7 f32[3,10,100,200] i64[1] i64{0,1} | IRL334 input 1 (shift) is [1] and input 2 (axes) is [2]
GRUCell@3 f32[1,16] f32[1,128] f32[384,16] f32[384,128] f32[768] ; hidden_size=128 linear_before_reset=1 | IRL375 axis 0 of input 4 (B) is 768; expected 4*hidden_size, which is 512
LSTMSequence@1 f32[1,4,16] f32[1,1,128] f32[1,1,128] i32[1] f32[1,512,16] f32[1,512,128] f32[1,512] ; hidden_size=128 -> 3 | IRL509 write version="opset5"
MatrixNonMaxSuppression@8 f32[3,100,4] f32[3,5,100] -> 3 | IRL501 write `MatrixNms`
MulticlassNonMaxSuppression@9 f32[3,100,4] f32[3,5,100] -> 3 | IRL501 write `MulticlassNms`
AUGRUCell@8 f32[1,16] f32[1,128] f32[384,16] f32[384,128] f32[384] f32[1,1] ; hidden_size=128 | IRL501 does not read it from a file
Bincount@17 i64[3] | IRL501 it is newer than OpenVINO 2026.4
MatrixNms@8 f32[3,100,4] f32[3,5,100] ; decay_function=guassian -> 3 | IRL506 did you mean `gaussian`?
MulticlassNms@9 f32[3,100,4] f32[3,5,100] ; sort_result=score -> 3 | IRL503 did you mean `sort_result_type`?
OneHot@16 i64[4] i64=3 f32=1.0 f32=2.0 ; axis=-1 negative_indices_mode=ignore-negative | IRL506 did you mean `ignore_negative`?
SearchSorted@15 f32[7,20] f32[7,10] ; right=True | IRL503 did you mean `right_mode`?
SegmentMax@16 f32[5] i32{0,0,2,3,3} i64{} ; fill_mode=ZERO | IRL339 make input 2 a scalar
AdaptiveAvgPool@8 f32[1,3,32,32] i64{16,16} ; output_type=i64 | IRL503 remove `output_type`
StringTensorPack@15 i64[2] i64[5] u8[13] | IRL203 axis 0 is 2 in input 0 and 5 in input 1
ScaledDotProductAttention@13 f32[1,6,5,-1,80] f32[2,2,2,-1,80] f32[4,3,10,-1,80] ; causal=false | IRL381 input 1 is [2, 2, 2] and input 2 is [4, 3, 10]
EmbeddingBagOffsets@15 f32[5,2] i32{0,2,3,4} i32{0,2,2} i32=0 f32[4] ; reduction=mean | IRL352 remove the weights
Slice@8 f32[20,10,5] i64{0,0} i64{4,10,5} i64{1,1,1} i64{0,1,2} | IRL345 input 1 (start) has 2 entries and input 2 (stop) has 3
Squeeze@1 f32[1,3,1,2] i64{0,1} | IRL332 axis 1 of input 0 is 3
Acosh@3 f32[2] | IRL509 write version="opset4"
Add@1 f32[8,1,6,1] f32[7,1,5] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | IRL204 change its 7 to 1, or choose
Transpose@1 f32[3] i64{0,1} | IRL333 2
Concat@1 f32[3] f32[3] ; axis=1 | IRL300 axis is 1 and input 0 has 1 axis; allowed: -1 to 0
Softmax@1 f32[2,3] | IRL504 its default is 1 in the specification, but OpenVINO takes 0
RegionYolo@1 f32[1,125,13,13] ; anchors=1,2 axis=1 classes=20 coords=4 end_axis=3 mask=0,1,2,3,4 num=5 | IRL504 its default is true in the specification, but OpenVINO takes false
CTCLoss@4 f32[8,20,128] i32[8] i32[8,20] i32[8] i32=120 | IRL504 its default is true in the specification, but OpenVINO takes false
Interpolate@11 f32[1,2,48,80] i64{24,160} f32{0.5,2.0} i64{2,3} ; shape_calculation_mode=scales mode=bicubic_pillow | IRL507 4
Col2Im@15 f32[1,27,25] i64{16,16} i64{3,3} ; dilations=2,2 pads_begin=1,1 pads_end=1,1 strides=2,2 | IRL336 has 49
ScatterNDUpdate@15 f32[4] i32[5] f32[5] ; reduction=sum | IRL347 each index covers 5 axes
SegmentMax@16 i32[3,4] i64{0,1,1} i64=2 ; fill_mode=LOWEST empty_segment_value=LOWEST | IRL503 `empty_segment_value`
GroupedMatMul@17 f32[10,64] f32[3,64,128] i32{3,8,10} | IRL320 64 (axis 1 of input 0) against 128 (axis 2 of input 1)
FillEmptyRows@16 f32[2] i32{3,3} i32[2,2] f32=42.0 -> 3 | IRL501 write `SparseFillEmptyRows`
Softmax@1 f32[2,3] ; axes=1 | IRL503 did you mean `axis`?
"""


@pytest.mark.parametrize("text", DEFECTIVE.strip().splitlines())
def test_defective(text: str) -> None:
    case, *findings = text.split(" | ")
    theirs, mine, reported = seen(case)
    assert (theirs == "refused") == (mine == "refused")
    assert sorted(line[:6] for line in reported) == sorted(finding[:6] for finding in findings)
    for finding in findings:
        assert any(line[:6] == finding[:6] and finding[7:] in line for line in reported), reported


# --- documents --------------------------------------------------------------------------------------------------------

PAIR = net(LAYERS, EDGES)
SECOND = '<port id="1"><dim>2</dim><dim>3</dim></port></input>'


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("", "", []),
        ('<port id="1"><dim>', '</input><input><port id="1"><dim>', ["IRL105"]),
        (SECOND, SECOND.replace('"1"', '"0"'), ["IRL111"]),
        ('type="Subtract" version="opset1"', 'type="Subtract"', ["IRL110"]),
        ('<port id="2" precision="FP32">', '<port id="2">', ["IRL110"]),
        ('<port id="2" precision="FP32">', '<port id="2" precision="F32">', ["IRL111"]),
        (SECOND, SECOND.removesuffix("</input>"), ["IRL005"]),
        (
            '<dim>3</dim></port></output></layer>\n<layer id="3"',
            '<dim>3/dim></port></output></layer>\n<layer id="3"',
            ["IRL005"],
        ),
        ('<port id="2" precision="FP32"><dim>2</dim>', '<port id="2" precision="FP32"><dim>4</dim>', ["IRL601"]),
        ('<port id="2" precision="FP32">', '<port id="2" precision="I32">', ["IRL602"]),
    ],
)
def test_what_a_document_writes_otherwise(old: str, new: str, codes: list[str], tmp_path) -> None:
    assert old in PAIR
    path = written(tmp_path, PAIR.replace(old, new, 1) if old else PAIR, None)
    found = irlint.check(path).folded().findings
    assert sorted(finding.rule.code for finding in found) == codes
    assert refused(path) == any(code < "IRL6" for code in codes)
