"""Layers such as OpenVINO's documents show them: sound ones give no finding, the others tell their defect once."""

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


def sizes(text: str) -> Sizes:
    """``2,?`` as intervals."""
    return [(None, None) if part == "?" else (int(part), int(part)) for part in text.split(",") if part]


def seen(text: str) -> tuple[list[Sizes | None] | str, list[Sizes | None] | str, list[str]]:
    """The shapes that the library and irlint give a layer, ``refused`` where they take it not; irlint's messages."""
    xml, weights = document(line(text).case())
    theirs = openvino_types(xml, weights)
    ours, faults = irlint_types(xml, weights)
    errors = [fault for fault in faults if severity(fault) is Severity.ERROR]
    mine = [None if known.shape is None else [bounds(dim) for dim in known.shape] for known in ours]
    told = [f"{fault.rule.code} {fault.message} ({fault.help})" for fault in faults]
    return (
        "refused" if isinstance(theirs, str) else [shape for _, shape in theirs],
        "refused" if errors else mine,
        told,
    )


# --- broadcasting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["Add", "Less", "Maximum"])
@pytest.mark.parametrize(
    ("a", "b", "given"),
    [
        ("", "", ""),
        ("2,3", "1", "2,3"),
        ("3", "2,3", "2,3"),
        ("2,3,5", "", "2,3,5"),
        ("2,1,5", "1,4,5", "2,4,5"),
        ("6,5", "2,1,5", "2,6,5"),
        ("2,1,5", "4,1", "2,4,5"),
        ("3,2,1,4", "5,4", "3,2,5,4"),
        ("1,5,3", "5,2,1,3", "5,2,5,3"),
        ("3", "2", "refused"),
        ("3,1,5", "4,4,5", "refused"),
        ("8,1,6,1", "7,1,5", "8,7,6,5"),
    ],
)
def test_numpy(op: str, a: str, b: str, given: str) -> None:
    theirs, mine, told = seen(f"{op}@1 f32[{a}] f32[{b}] ; auto_broadcast=numpy")
    assert theirs == mine == ("refused" if given == "refused" else [sizes(given)])
    assert [text[:6] for text in told] == ["IRL201"] * (given == "refused")


@pytest.mark.parametrize("op", ["Add", "Less", "Maximum"])
@pytest.mark.parametrize(
    ("b", "axis", "fits"),
    [
        ("3,4", "1", True),
        ("3,1", "1", True),
        ("4,5", "-1", True),
        ("4,5", "2", True),
        ("1,3", "0", True),
        ("", "-1", True),
        ("5", "-1", True),
        ("5", "3", True),
        ("4,3", "1", False),
        ("4,5", "3", False),
        ("2,3,4,5,6", "-1", False),
    ],
)
def test_pdpd(op: str, b: str, axis: str, fits: bool) -> None:
    text = f"{op}@1 f32[2,3,4,5] f32[{b}] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis={axis}"
    theirs, mine, told = seen(text)
    assert theirs == mine == ([sizes("2,3,4,5")] if fits else "refused")
    assert [text[:6] for text in told] == ["IRL204"] * (not fits)


@pytest.mark.parametrize("op", ["Add", "Less", "Maximum"])
@pytest.mark.parametrize(("b", "fits"), [("2,3", True), ("1,3", False), ("3", False), ("2,4", False)])
def test_none(op: str, b: str, fits: bool) -> None:
    theirs, mine, told = seen(f"{op}@1 f32[2,3] f32[{b}] ; auto_broadcast=none")
    assert theirs == mine == ([sizes("2,3")] if fits else "refused")
    assert len(told) == (not fits)


@pytest.mark.parametrize(
    ("data", "target", "given"),
    [
        ("5", "1", "5"),
        ("2,3", "3", "2,3"),
        ("3,1", "3,4", "3,4"),
        ("3,4", "", "3,4"),
        ("3,1", "2,1,6", "2,3,6"),
        ("16,1,1", "1,1,50,50", "1,16,50,50"),
        ("3", "2", "refused"),
    ],
)
def test_bidirectional(data: str, target: str, given: str) -> None:
    theirs, mine, told = seen(f"Broadcast@3 f32[{data}] i64{{{target}}} ; mode=bidirectional")
    assert theirs == mine == ("refused" if given == "refused" else [sizes(given)])
    assert len(told) == (given == "refused")


@pytest.mark.parametrize("opset", [1, 3])
@pytest.mark.parametrize(
    ("data", "target", "mapping", "given"),
    [
        ("16", "1,16,50,50", "1", "1,16,50,50"),
        ("50,50", "1,50,50,16", "1,2", "1,50,50,16"),
        ("50,50", "1,50,50,16", "2,3", "refused"),
        ("16", "1,16,50,50", "1,2", "refused"),
        ("16", "1,16,50,50", "4", "refused"),
    ],
)
def test_explicit(opset: int, data: str, target: str, mapping: str, given: str) -> None:
    theirs, mine, told = seen(f"Broadcast@{opset} f32[{data}] i64{{{target}}} i64{{{mapping}}} ; mode=explicit")
    assert theirs == mine == ("refused" if given == "refused" else [sizes(given)])
    assert len(told) == (given == "refused")


# --- layers -----------------------------------------------------------------------------------------------------------

SOUND = """
PRelu@1 f32[1,20,128,128] f32[20] = 1,20,128,128
CumSum@3 f32[5] i32=0 ; exclusive=1 reverse=0 = 5
Select@1 boolean[3,2] f32[3,2] f32[3,2] = 3,2
BinaryConvolution@1 f32[1,3,224,224] u1[64,3,5,5] ; dilations=1,1 pads_begin=2,2 pads_end=2,2 strides=1,1 mode=xnor-popcount pad_value=0 auto_pad=explicit = 1,64,224,224
ConvolutionBackpropData@1 f32[1,20,2,2] f32[20,10,3,3] ; dilations=1,1 pads_begin=0,0 pads_end=0,0 strides=3,3 output_padding=2,2 auto_pad=explicit = 1,10,8,8
ConvolutionBackpropData@1 f32[1,20,224,224] f32[20,10,3,3] i64{450,450} ; dilations=1,1 pads_begin=1,1 pads_end=1,1 strides=1,1 output_padding=0,0 auto_pad=valid = 1,10,450,450
GroupConvolutionBackpropData@1 f32[1,20,224] f32[4,5,2,3] ; dilations=1 pads_begin=1 pads_end=1 strides=2 = 1,8,447
DeformableConvolution@1 f32[1,4,224,224] f32[1,200,220,220] f32[64,4,5,5] ; dilations=1,1 pads_begin=0,0 pads_end=0,0 strides=1,1 auto_pad=explicit group=1 deformable_group=4 = 1,64,220,220
ExperimentalDetectronTopKROIs@6 f32[5000,4] f32[5000] ; max_rois=1000 = 1000,4
Proposal@4 f32[7,4,28,28] f32[7,8,28,28] f32[3] ; base_size=16 feat_stride=8 min_size=16 nms_thresh=1.0 normalize=0 post_nms_topn=1000 pre_nms_topn=1000 ratio=1 scale=1,2 -> 2 = 7000,5 7000
PriorBoxClustered@1 i64{10,19} i64{180,320} ; clip=false height=44.0,10.0,30.0,19.0,94.0,32.0,61.0,53.0,17.0 offset=0.5 step=16.0 variance=0.1,0.1,0.2,0.2 width=86.0,13.0,57.0,39.0,68.0,34.0,142.0,50.0,23.0 = 2,6840
RegionYolo@1 f32[1,255,26,26] ; anchors=10,14,23,27,37,58,81,82,135,169,344,319 axis=1 classes=80 coords=4 do_softmax=0 end_axis=3 mask=0,1,2 num=6 = 1,255,26,26
RegionYolo@1 f32[1,125,13,13] ; anchors=1.08,1.19,3.42,4.41,6.63,11.38,9.42,5.11,16.62,10.52 axis=1 classes=20 coords=4 do_softmax=1 end_axis=3 num=5 = 1,21125
Eye@9 i32=5 i32=5 i32=0 ; output_type=i8 = 5,5
Range@4 f32=1.0 f32=2.5 f32=0.5 ; output_type=f32 = 3
Range@1 i32=23 i32=2 i32=-3 = 7
I420toBGR@8 u8[1,480,640,1] u8[1,240,320,1] u8[1,240,320,1] = 1,480,640,3
Interpolate@4 f32[1,2,48,80] i64{24,160} f32{0.5,2.0} i64{2,3} ; shape_calculation_mode=scales pads_begin=0 pads_end=0 mode=linear = 1,2,24,160
Einsum@7 f32[2,64] f32[2,64] ; equation=ij,ij->i = 2
MatMul@1 f32[1024] f32[1000,1024] ; transpose_b=true = 1000
BatchToSpace@2 f32[48,3,3,1,3] i64{1,2,4,3,1} i64{0,0,1,0,0} i64{0,0,1,0,0} = 2,6,10,3,3
SpaceToBatch@2 f32[2,6,10,3,3] i64{1,2,4,3,1} i64{0,0,1,0,0} i64{0,0,1,0,0} = 48,3,3,1,3
DepthToSpace@1 f32[5,28,2,3] ; mode=blocks_first block_size=2 = 5,7,4,6
ExtractImagePatches@3 f32[64,3,10,10] ; sizes=3,3 strides=5,5 rates=1,1 auto_pad=valid = 64,27,2,2
GatherND@5 f32[30,2,100,35] i32[30,2,3,1] ; batch_dims=2 = 60,3,35
GatherND@8 f32[30,2,100,35] i32[30,2,3,1] ; batch_dims=2 = 30,2,3,35
GatherTree@1 i32[100,1,10] i32[100,1,10] i32[1] i32[] = 100,1,10
Pad@1 f32[1,3,32,40] i64{0,5,2,1} i64{1,0,3,7} f32=15.0 ; pad_mode=constant = 2,8,37,48
Roll@7 f32[3,10,100,200] i64[2] i64[2] = 3,10,100,200
Slice@8 f32[10] i64{9} i64{-11} i64{-2} i64{0} = 5
Slice@8 f32[20,10,5] i64{0,0} i64{4,10} i64{1,1} i64{0,1} = 4,10,5
StridedSlice@1 f32[2,3,4] i64{1,0,0} i64{0,0,2} i64{1,1,1} ; begin_mask=0,1,1 end_mask=1,1,0 new_axis_mask=0,0,0 shrink_axis_mask=0,0,0 ellipsis_mask=0,0,0 = 1,3,2
Tile@1 f32[2,3,4] i64{5,1,2,3} = 5,2,6,12
Transpose@1 f32[2,3,4] i64{2,0,1} = 4,2,3
VariadicSplit@1 f32[6,12,10,24] i64=0 i64{-1,2} -> 2 = 4,12,10,24 2,12,10,24
NormalizeL2@1 f32[6,12,10,24] i64{1,2,3} ; eps=1e-8 eps_mode=add = 6,12,10,24
AvgPool@1 f32[1,3,32,32] ; auto_pad=valid exclude-pad=true kernel=5,5 pads_begin=1,1 pads_end=1,1 strides=2,2 = 1,3,14,14
ReduceSum@1 f32[6,12,10,24] i64{-2} ; keep_dims=false = 6,12,24
Reshape@1 f32[2,5,5,0] i64{0,4} ; special_zero=false = 0,4
Reshape@1 f32[2,5,5,24] i64{0,-1,4} ; special_zero=true = 2,150,4
Reshape@1 f32[3,1,1] i64{-1,0} ; special_zero=true = 3,1
Squeeze@1 f32[1,3,1,2] i64{0,2} = 3,2
Unsqueeze@1 f32[2,3] i64{0,3} = 1,2,3,1
RDFT@9 f32[16,768,580,320] i64{3,0,2} i64{258,-1,2056} = 16,768,1029,258,2
IRDFT@9 f32[1,161,161,2] i64{1,2} = 1,161,320
NonMaxSuppression@4 f32[3,100,4] f32[3,5,100] i64=10 f32=0.5 f32=0.5 ; box_encoding=corner sort_result_descending=1 output_type=i64 = 150,3
TopK@3 f32[6,12,10,24] i64=3 ; axis=1 mode=max sort=value index_element_type=i64 -> 2 = 6,3,10,24 6,3,10,24
EmbeddingSegmentsSum@3 f32[5,2] i32{0,2,3,4} i32{0,0,2,2} i32=3 i32=0 f32[4] = 3,2
EmbeddingBagOffsets@15 f32[5,2] i32{0,2,3,4} i32{0,2,2} ; reduction=mean = 3,2
Col2Im@15 i32[12,12,1296] i64{32,32} i64{2,2} ; strides=1,1 dilations=2,2 pads_begin=3,3 pads_end=3,3 = 12,3,32,32
OneHot@1 i64[2,3] i64=3 f32=1.0 f32=0.0 ; axis=1 = 2,3,3
OneHot@16 i64[4] i64=3 f32=1.0 f32=2.0 ; axis=-1 negative_indices_mode=normalize = 4,3
SliceScatter@15 f32[2,5] f32[2,3] i32{-25} i32{25} i32{2} i32{1} = 2,5
STFT@15 f32[3,56] f32[7] i64=11 i64=3 ; transpose_frames=true = 3,6,16,2
SegmentMax@16 f32[5] i32{0,0,2,3,3} i32=2 ; fill_mode=ZERO = 2
Unique@10 f32[3,3] i64{0} ; sorted=false index_element_type=i32 -> 4 = ?,3 ? 3 ?
ScaledDotProductAttention@13 f32[1,-1,80] f32[1,-1,80] f32[1,-1,80] f32[1,-1,-1] ; causal=false = 1,?,80
ROIAlignRotated@15 f32[7,256,200,200] f32[1000,5] i32[1000] ; pooled_h=6 pooled_w=6 spatial_scale=16.0 sampling_ratio=2 clockwise_mode=True = 1000,256,6,6
StringTensorPack@15 i64[2,2] i64[2,2] u8[21] = 2,2
SearchSorted@15 f32[7,256,200,200] f32[7,256,200,10] ; right_mode=true = 7,256,200,10
"""


@pytest.mark.parametrize("text", SOUND.strip().splitlines())
def test_sound(text: str) -> None:
    case, _, given = text.rpartition(" = ")
    theirs, mine, told = seen(case)
    assert told == []
    expected = [sizes(shape) for shape in given.split(" ")]
    assert len(theirs) == len(mine) == len(expected)
    for their, our, wanted in zip(theirs, mine, expected):
        assert their is not None and our is not None
        assert [low if low == high else None for low, high in our] == [low for low, _ in wanted]
        assert all(a == b or a[0] != a[1] for a, b in zip(their, our))


#: Layers with a defect, and for each finding its code and words of its message or its help.
DEFECTIVE = """
BatchNormInference@1 f32[10,128] f32[128] f32[128] f32[128] f32[128] | IRL339 behind gamma and beta) is [128] with 1 axis; the operator takes at least 2 | IRL504 `epsilon`
Roll@7 f32[3,10,100,200] i64[1] i64{0,1} | IRL334 input 1 (shift) is [1] and input 2 (axes) is [2]
GRUCell@3 f32[1,16] f32[1,128] f32[384,16] f32[384,128] f32[768] ; hidden_size=128 linear_before_reset=1 | IRL375 axis 0 of input 4 (B, [768]) is 768; expected is 4*hidden_size, which is 512
LSTMSequence@1 f32[1,4,16] f32[1,1,128] f32[1,1,128] i32[1] f32[1,512,16] f32[1,512,128] f32[1,512] ; hidden_size=128 -> 3 | IRL509 write version="opset5"
MatrixNonMaxSuppression@8 f32[3,100,4] f32[3,5,100] -> 3 | IRL501 write `MatrixNms`
MulticlassNonMaxSuppression@9 f32[3,100,4] f32[3,5,100] -> 3 | IRL501 write `MulticlassNms`
AUGRUCell@8 f32[1,16] f32[1,128] f32[384,16] f32[384,128] f32[384] f32[1,1] ; hidden_size=128 | IRL501 reads it from no file
Atan2@17 f32[2] f32[2] | IRL501 it came after OpenVINO 2026.4
MatrixNms@8 f32[3,100,4] f32[3,5,100] ; decay_function=guassian -> 3 | IRL506 did you mean `gaussian`?
MulticlassNms@9 f32[3,100,4] f32[3,5,100] ; sort_result=score -> 3 | IRL503 did you mean `sort_result_type`?
OneHot@16 i64[4] i64=3 f32=1.0 f32=2.0 ; axis=-1 negative_indices_mode=ignore-negative | IRL506 did you mean `ignore_negative`?
SearchSorted@15 f32[7,20] f32[7,10] ; right=True | IRL503 did you mean `right_mode`?
SegmentMax@16 f32[5] i32{0,0,2,3,3} i64{} ; fill_mode=ZERO | IRL339 make input 2 a scalar
AdaptiveAvgPool@8 f32[1,3,32,32] i64{16,16} ; output_type=i64 | IRL503 remove `output_type`
StringTensorPack@15 i64[2] i64[5] u8[13] | IRL203 axis 0 is 2 against 5
ScaledDotProductAttention@13 f32[1,6,5,-1,80] f32[2,2,2,-1,80] f32[4,3,10,-1,80] ; causal=false | IRL381 axis 0 is 2 against 4; axis 1 is 6 against 2; axis 2 is 5 against 2
EmbeddingBagOffsets@15 f32[5,2] i32{0,2,3,4} i32{0,2,2} i32=0 f32[4] ; reduction=mean | IRL352 leave the weights out
Slice@8 f32[20,10,5] i64{0,0} i64{4,10,5} i64{1,1,1} i64{0,1,2} | IRL345 input 1 (start) has 2 entries and input 2 (stop) has 3
Squeeze@1 f32[1,3,1,2] i64{0,1} | IRL332 axis 1 of input 0, [1, 3, 1, 2], is 3
Acosh@3 f32[2] | IRL509 write version="opset4"
Add@1 f32[8,1,6,1] f32[7,1,5] ; auto_broadcast=pdpd auto_broadcast.auto_broadcast_axis=1 | IRL204 let its axis 0 be 1, or choose
Transpose@1 f32[3] i64{0,1} | IRL333 2
Concat@1 f32[3] f32[3] ; axis=1 | IRL300 axis is 1 and input 0 has 1 axis: allowed is -1 to 0
Softmax@1 f32[2,3] | IRL504 the specification takes 1 then, and OpenVINO takes 0
RegionYolo@1 f32[1,125,13,13] ; anchors=1,2 axis=1 classes=20 coords=4 end_axis=3 mask=0,1,2,3,4 num=5 | IRL504 the specification takes true then, and OpenVINO takes false
CTCLoss@4 f32[8,20,128] i32[8] i32[8,20] i32[8] i32=120 | IRL504 the specification takes true then, and OpenVINO takes false
Softmax@1 f32[2,3] ; axes=1 | IRL503 did you mean `axis`?
"""


@pytest.mark.parametrize("text", DEFECTIVE.strip().splitlines())
def test_defective(text: str) -> None:
    case, *findings = text.split(" | ")
    theirs, mine, told = seen(case)
    assert (theirs == "refused") == (mine == "refused")
    assert sorted(line[:6] for line in told) == sorted(finding[:6] for finding in findings)
    for finding in findings:
        assert any(line[:6] == finding[:6] and finding[7:] in line for line in told), told


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
