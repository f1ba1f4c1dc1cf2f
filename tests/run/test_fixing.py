"""Fixes of a model: when they are kept, and where a large model is written."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx.parser
import pytest
from cases.ir_documents import edge, layer, net, parameter, result

import irlint
from irlint.run import fixing

UNSORTED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { y = Neg (a) a = Relu (x) }"""


def outcome(findings: Any, format: str) -> Any:
    return SimpleNamespace(findings=findings, error=None, file=SimpleNamespace(format=format))


def test_a_note_that_an_error_hid_does_not_make_an_ir_worse(tmp_path: Path) -> None:
    """Without the error, the layer that nothing uses is noted."""
    sound = layer(1, "ReLU", "0", "5")
    wrong = sound.replace("<dim>3</dim></port></output>", "<dim>4</dim></port></output>")
    found = []
    for relu in (wrong, sound):
        layers = [parameter(0), relu, result(2), layer(3, "Abs", "0", "5", name="unused")]
        path = tmp_path / "m.xml"
        path.write_text(net(layers, [edge(0, 0, 1, 0), edge(1, 5, 2, 0), edge(0, 0, 3, 0)]))
        found.append(outcome(irlint.check(path).findings, "openvino_ir"))
    before, after = found
    codes = [[each.rule.code for each in version.findings] for version in (before, after)]
    assert codes == [["IRL601"], ["IRL905"]]
    assert not fixing._is_worse(after, before)
    assert fixing._is_worse(after, outcome((), "openvino_ir"))


def test_a_large_model_in_memory_needs_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fixing, "SMALL", 0)
    model = onnx.parser.parse_model(UNSORTED)
    for name in (tmp_path / "missing" / "m.onnx", tmp_path / "m.onnx", "m.onnx"):
        fixed = irlint.fix(model, name=name)
        assert [each.op_type for each in onnx.load_from_string(fixed.data).graph.node] == ["Relu", "Neg"]


def test_a_refusal_names_a_finding_of_the_rule_that_grew() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> g (float[2] x) => (float[2] y) '
    model = onnx.parser.parse_model(text + "{ y = Relu (x) a = Neg (x) }")
    before = irlint.check(model).findings
    assert [each.rule.code for each in before] == ["IRL904", "IRL905"]
    one, other = (SimpleNamespace(outcome=outcome(each, "onnx")) for each in (before, (*before, before[1])))
    refused: Any = fixing._refusal
    assert refused("annotate", other, one).startswith("--annotate was not applied: it would cause IRL905 (")
