"""Where OpenVINO differs from its documents, and what its reader passes over: one line each, the library being
asked."""

from __future__ import annotations

import pytest
from cases.ir_documents import net, parameter, refused, result, small, sound, written
from oracles.random_irs import irlint_types, openvino_types, severity

from irlint.dims import bounds
from irlint.findings.faults import Severity

pytestmark = pytest.mark.oracle


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


@pytest.mark.parametrize(
    "label", ["Opset1", "1", "", "opset01", "mine", "custom", "util", "ie_internal_opset", "type_relaxed_opset"]
)
def test_a_label_that_is_no_opset_is_an_error(label, tmp_path):
    path = written(tmp_path, sound('type="Subtract" version="opset1"', f'type="Subtract" version="{label}"'))
    assert refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.ERROR}


@pytest.mark.parametrize("label", ["extension", "experimental"])
def test_the_label_of_an_extension_is_a_warning(label, tmp_path):
    path = written(tmp_path, sound('type="Subtract" version="opset1"', f'type="Subtract" version="{label}"'))
    assert refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.WARNING}


def test_an_unknown_layer_that_nothing_uses_is_accepted(tmp_path):
    path = written(tmp_path, small('<layer id="7" name="x" type="Nonsense" version="opset99"/>'))
    assert not refused(path)
    assert {severity(fault) for fault in irlint_types(path.read_bytes(), b"")[1]} == {Severity.WARNING}
