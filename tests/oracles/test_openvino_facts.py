"""Where OpenVINO differs from its documents, and what its reader passes over: one line each, the library being asked."""

from __future__ import annotations

import pytest
from cases.ir_documents import net, parameter, refused, result, small, sound, written
from oracles.ir_generator import document, line
from oracles.random_irs import irlint_types, openvino_types, severity

from irlint.dims import bounds
from irlint.findings.faults import Severity

pytestmark = pytest.mark.oracle

PDPD = "auto_broadcast=pdpd"
AXIS = f"{PDPD} auto_broadcast.auto_broadcast_axis"


def shape(text: str) -> list[tuple[int, int | None]] | None:
    """``2,0..3,?`` as intervals; ``...`` is an unknown rank."""
    if text == "...":
        return None
    parts = [part.partition("..") for part in text.replace("?", "0..").split(",") if part]
    return [(int(low), int(high) if high else None if dots else int(low)) for low, dots, high in parts]


def seen(text: str):
    """What the library and irlint say of a layer: the first shape, None where it is refused; and irlint's faults."""
    xml, weights = document(line(text).case())
    theirs = openvino_types(xml, weights)
    ours, faults = irlint_types(xml, weights)
    errors = [fault for fault in faults if severity(fault) is Severity.ERROR]
    mine = None if errors or ours[0].shape is None else [bounds(dim) for dim in ours[0].shape]
    codes = {fault.rule.code for fault in faults if severity(fault) is not Severity.NOTE}
    return ("refused" if isinstance(theirs, str) else theirs[0][1]), ("refused" if errors else mine), codes


@pytest.mark.parametrize(
    ("text", "expected", "codes"),
    [
        # pdpd: an absent axis is 0, its name has the attribute's in front
        (f"Add@1 f32[2,3,4,5] f32[2,3] ; {PDPD}", "2,3,4,5", {"IRL205"}),
        (f"Add@1 f32[2,3,4,5] f32[2,3] ; {AXIS}=0", "2,3,4,5", set()),
        (f"Add@1 f32[2,3,4,5] f32[3,4] ; {AXIS}=1", "2,3,4,5", set()),
        (f"Add@1 f32[2,3,4,5] f32[4,5] ; {AXIS}=-1", "2,3,4,5", set()),
        # pdpd: inner 1s anywhere; a 1 of the first input under a 0 or an open size
        (f"Add@1 f32[2,3,4,5] f32[3,1,5] ; {AXIS}=1", "2,3,4,5", set()),
        (f"Add@1 f32[2,1,4] f32[0,4] ; {AXIS}=1", "2,0,4", set()),
        (f"Add@1 f32[2,1,4] f32[-1,4] ; {AXIS}=1", "2,?,4", set()),
        # Broadcast-3 takes any element type, and two modes more
        ("Broadcast@3 boolean[3,1] i64{2,3,4} ; mode=numpy", "2,3,4", set()),
        ("Broadcast@3 string[3,1] i64{2,3,4} ; mode=bidirectional", "2,3,4", set()),
        ("Broadcast@3 f32[3,4] i64{2,3,4} ; mode=pdpd mode.mode.axis=1", "2,3,4", set()),
        ("Broadcast@3 f32[3] i64{2,3,4} i64{1} ; mode=none", "2,3,4", set()),
        ("Broadcast@3 f32[2,3] i64{} ; mode=bidirectional", "2,3", set()),
        # an entry of -1 of a target leaves the size open, a lower one is 0
        ("Broadcast@3 f32[16,1,1] i64{1,16,-1,50} ; mode=numpy", "1,16,?,50", {"IRL361"}),
        ("Broadcast@3 f32[16,1,1] i64{-2,1,50,50} ; mode=bidirectional", "0,16,50,50", {"IRL361"}),
        # Broadcast-1 without a mode follows the number of its inputs
        ("Broadcast@1 f32[3] i64{2,3,4} i64{1}", "2,3,4", set()),
        ("Broadcast@1 f32[3,1] i64{2,3,4}", "2,3,4", set()),
        # none: open sizes and ranks are merged
        ("Add@1 f32[2,-1] f32[-1,3] ; auto_broadcast=none", "2,3", set()),
        ("Add@1 f32[...] f32[2,3] ; auto_broadcast=none", "2,3", set()),
        # numpy: intervals
        ("Add@1 f32[-1] f32[5]", "5", set()),
        ("Add@1 f32[1..8] f32[9]", "9", set()),
        ("Add@1 f32[2..8] f32[8]", "8", set()),
        ("Add@1 f32[...] f32[5]", "...", set()),
        ("Add@1 f32[0] f32[1]", "0", set()),
        # Select's condition may enlarge the result
        ("Select@1 boolean[4,2,3] f32[3] f32[1]", "4,2,3", set()),
        # what the operation does not compare
        ("FakeQuantize@1 f32[2,1] f32[2,4] f32[1] f32[1] f32[1] ; levels=2", "2,1", set()),
        ("MatMul@1 boolean[2,3] boolean[3,4]", "2,4", set()),
        # texts of attributes
        ("MatMul@1 f32[2,3] f32[3,4] ; transpose_a=yes", "2,4", {"IRL506"}),
        ("MatMul@1 f32[2,3] f32[4,3] ; transpose_b=TRUE", "2,4", set()),
        ("MatMul@1 f32[2,3] f32[4,3] ; transpose_b=1", "2,4", set()),
        ("MatMul@1 f32[2,3] f32[3,4] ; transpse_a=true", "2,4", {"IRL503"}),
        ("Concat@1 f32[2,3] f32[2,5] ; axis=1.7", "2,8", {"IRL506"}),
        ("Concat@1 f32[2,3] f32[2,5] ; axis=1e3", "2,8", {"IRL506"}),
        ("Concat@1 f32[2,3] f32[2,5] ; axis=1,0", "2,8", {"IRL506"}),
        ("Add@1 f32[2,3] f32[3] ; auto_broadcast=NumPy", "2,3", set()),
        ("Add@1 f32[2,3] f32[3] ; auto_broadcast.auto_broadcast_axis=x", "2,3", {"IRL506"}),
        # what the library takes for an attribute that is not there
        ("Softmax@1 f32[2,3]", "2,3", {"IRL504"}),
        ("Clamp@1 f32[2,3]", "2,3", {"IRL504"}),
        ("TopK@11 f32[2,3] i64=1", "1,3", {"IRL504"}),
        (
            "RegionYolo@1 f32[1,255,26,26] ; axis=1 coords=4 classes=80 end_axis=3 num=3 mask=0,1,2",
            "1,255,26,26",
            {"IRL504"},
        ),
        # operations by opset and by label
        ("Add@16 f32[2,3] f32[3]", "2,3", set()),
        ("Xor@1 boolean[2,3] boolean[3]", "2,3", set()),
        ("Reverse@1 f32[2,3] i64{0} ; mode=index", "2,3", set()),
        ("MVN@1 f32[1,3,4,5] ; eps=0.1 normalize_variance=true", "1,3,4,5", set()),
    ],
)
def test_what_the_library_takes(text, expected, codes):
    assert seen(text) == (shape(expected), shape(expected), codes)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        # what the specification allows: a warning
        (f"Add@1 f32[2,3,4,5] f32[4,5] ; {PDPD}", {"IRL205"}),
        (f"Add@1 f32[2,3,4,5] f32[3,4] ; {PDPD} axis=1", {"IRL205"}),
        (f"Add@1 f32[2,3,4,5] f32[5,1] ; {AXIS}=3", {"IRL205"}),
        (f"Add@1 f32[2,3,4,5] f32[3,1,1,1] ; {AXIS}=1", {"IRL205"}),
        (f"Add@1 f32[2,3,4,5] f32[3,4,1,1] ; {AXIS}=1", {"IRL205"}),
        (f"Add@1 f32[2,0,4] f32[1,4] ; {AXIS}=1", {"IRL205"}),
        ("ShapeOf@3 f32[2,3]", {"IRL510"}),
        ("Bucketize@3 f32[49,11] f32[5]", {"IRL504"}),
        ("PSROIPooling@1 f32[1,90,38,38] f32[100,5] ; output_dim=90 spatial_scale=1 group_size=1", {"IRL504"}),
        (
            "DeformableConvolution@1 f32[1,4,9,9] f32[1,50,5,5] f32[6,4,5,5] ; strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1 deformable_group=1",
            {"IRL504"},
        ),
        ("SpaceToDepth@1 f32[1,8,4,6] ; mode=blocks_first", {"IRL510"}),
    ],
)
def test_what_only_the_library_refuses(text, codes):
    theirs, ours, found = seen(text)
    assert theirs == "refused"
    assert ours != "refused"
    assert found == codes


@pytest.mark.parametrize(
    "text",
    [
        f"Add@1 f32[2,3,4,5] f32[2,3] ; {AXIS}=-2",
        f"Add@1 f32[3] f32[2,3] ; {AXIS}=0",
        f"Add@1 f32[2,3,4,5] f32[2,3] ; {AXIS}=1",
        "Add@1 f32[2..8] f32[9]",
        "Add@1 f32[0] f32[5]",
        "Add@1 boolean[2] boolean[2]",
        "Add@1 f32[2] i64[2]",
        "Add@1 f32[2,3] f32[3] ; auto_broadcast=weird",
        "LogicalAnd@2 f32[2] f32[2]",
        "Select@1 f32[2] f32[2] f32[2]",
        "MatMul@1 f32[] f32[2,3]",
        "HardSigmoid@1 f32[2] f32[1] f32=0.5",
        "Broadcast@1 f32[3] i64{3} ; mode=bidirectional",
        "Broadcast@1 f32[3] i64{3} ; mode=pdpd",
        "Broadcast@3 f32[2,3] i64=3 ; mode=bidirectional",
        "Broadcast@3 f32[3] i64{2,3} ; mode=explicit",
        "Broadcast@3 f32[3] f32{2.0,3.0} ; mode=numpy",
        "Concat@1 f32[2,3] f32[2,5] ; axis=+1",
        "Concat@1 f32[2,3] f32[2,5] ; axis=_empty_",
        "Convolution@1 f32[1,3,8] f32[4,3,3] ; strides=1,,1",
        "Interpolate@4 f32[1,3,8,9] i64{16,20} f32{2.0,2.0} i64{2,3} ; mode=nearest shape_calculation_mode=sizes pads_begin=-1",
        "PSROIPooling@1 f32[1,18,20,20] f32[10,5] ; output_dim=2 spatial_scale=0.0625 group_size=3 mode=Average",
        "GroupedMatMul@17 f32[1,1,4] f32[3,5,4]",
        "LSTMCell@1 f32[2,16] f32[2,8] f32[2,8] f32[32,16] f32[32,8] f32[32] ; hidden_size=3 -> 2",
        "MaxPool@1 f32[1,3,8] ; strides=2 pads_begin=1 pads_end=-2 kernel=3",
        "Unsqueeze@1 f32[2,3] i64{2,4,4}",
        "Slice@8 f32[10,-1,30] i64[-1] i64{8,18} i64{2,1,2}",
        "StridedSlice@1 f32[4,5,6] i64{1,0} i64{3,-1} i64{1,2} ; end_mask=0,1",
        "Reshape@1 f32[2,-1,4] i64{0,-1} ; special_zero=false",
        "Transpose@1 f32[2,3,4] i64[4..7]",
        "VariadicSplit@1 f32[2,6,4] i64=1 i64[-1] -> 3",
        "ReadValue@6 f32[2,-1] ; variable_id=v variable_type=f32 variable_shape=2,3",
        "Relu@1 f32[2,3] -> 2",
        "RGBtoNV12@17 u8[1,4,6,3] ; single_plane=true -> 2",
        # operations that an opset has not got
        "Swish@1 f32[2,3]",
        "Xor@2 boolean[2,3] boolean[3]",
        "Reverse@2 f32[2,3] i64{0} ; mode=index",
        "ShuffleChannels@2 f32[2,6,4] ; axis=1 group=3",
        "Add@17 f32[2,3] f32[3]",
        "Atan2@17 f32[2,3] f32[3]",
        "FillEmptyRows@16 f32[4] i64{5,3} i64[4,2] f32=0.0 -> 3",
    ],
)
def test_what_both_refuse(text):
    theirs, ours, _ = seen(text)
    assert (theirs, ours) == ("refused", "refused")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("", "scalar"),
        ('shape=""', "scalar"),
        ('shape="..."', None),
        ('shape="[2,3]"', [(2, 2), (3, 3)]),
        ('shape="?,-1,1..8,..8,2.."', [(0, None), (0, None), (1, 8), (0, 8), (2, None)]),
        ('shape="2, 3"', [(2, 2), (3, 3)]),
    ],
)
def test_the_shape_of_a_parameter(data, expected):
    text = net(
        [parameter(0).replace('shape="2,3"', data), result(1)],
        ['<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'],
    )
    text = text.replace("<dim>2</dim><dim>3</dim>", "").encode()
    (_, theirs), *_ = openvino_types(text, b"")
    (ours, *_), faults = irlint_types(text, b"")
    assert not [fault for fault in faults if severity(fault) is Severity.ERROR]
    mine = None if ours.shape is None else [bounds(dim) for dim in ours.shape]
    assert mine == theirs == ([] if expected == "scalar" else expected)


@pytest.mark.parametrize(
    ("old", "new", "accepted"),
    [
        ('type="Subtract"', 'type="subtract"', True),
        ('type="Subtract"', 'type="SUBTRACT"', True),
        ('type="Subtract"', 'type="Substract"', False),
        ('type="Result"', 'type="result"', True),
        ('type="Parameter"', 'type="parameter"', True),
        ('version="opset1"', 'version="opset16"', True),
        ('version="opset1"', 'version="opset18"', False),
    ],
)
def test_the_names_of_a_layer(old, new, accepted, tmp_path):
    path = written(tmp_path, sound(old, new))
    assert refused(path) is not accepted
    faults = irlint_types(path.read_bytes(), b"")[1]
    assert (Severity.ERROR in {severity(fault) for fault in faults}) is not accepted


@pytest.mark.parametrize("label", ["Opset1", "1", "", "opset01", "mine"])
def test_a_label_that_is_no_opset_is_an_error(label, tmp_path):
    path = written(tmp_path, sound('type="Subtract" version="opset1"', f'type="Subtract" version="{label}"'))
    assert refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.ERROR}


@pytest.mark.parametrize("label", ["extension", "experimental", "custom"])
def test_the_label_of_an_extension_is_a_note(label, tmp_path):
    path = written(tmp_path, sound('type="Subtract" version="opset1"', f'type="Subtract" version="{label}"'))
    assert refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.NOTE}


def test_an_unknown_layer_that_nothing_uses_is_accepted(tmp_path):
    path = written(tmp_path, small('<layer id="7" name="x" type="Nonsense" version="opset99"/>'))
    assert not refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Unique@10 f32[6]", "1..6"),
        ("Unique@10 f32[2..4,3] i64{0}", "1..4,3"),
        ("NonZero@3 f32[2,3]", "2,0..6"),
        ("TopK@11 f32[2,3] i64[] ; axis=1 mode=max sort=value", "2,0..3"),
        ("ReadValue@6 f32[3,2] ; variable_id=v variable_type=f32 variable_shape=2..4,2", "2..4,2"),
    ],
)
def test_the_bounds_of_sizes_that_depend_on_data(text, expected):
    theirs, ours, _ = seen(text)
    assert ours == shape(expected)
    assert theirs == shape(expected)
