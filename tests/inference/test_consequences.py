"""Nodes behind a fault add no finding."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest
from cases.answers import NOT_REPORTED
from cases.models import text_model
from cases.notation import FOLDER, Text, cases, lines

from irlint.findings.faults import Severity
from irlint.run.files import Settings
from irlint.run.one_file import inspected

CHAIN = """<ir_version: 10, opset_import: ["" : 21]> chain (v0) => (v6) {
v1 = Cast <to = 1> (v0) v2 = Flatten <axis = 0> (v1) v3 = Transpose (v2)
v4 = MatMul (v2, v3) v5 = Softmax <axis = 1> (v4) v6 = Add (v5, v4) }"""


def found(model: onnx.ModelProto) -> list[tuple[str, str | None, str]]:
    findings = inspected("model.onnx", model.SerializeToString(), Settings(operands=False))[1]
    return [
        (each.rule.code, each.node, each.message)
        for each in findings
        if each.severity is not Severity.NOTE and not each.because and each.rule.code not in NOT_REPORTED
    ]


@pytest.mark.slow
def test_six_nodes_behind_a_fault() -> None:
    asked = 0
    for number, line in lines(FOLDER / "graphs" / "onnx.txt"):
        broken = next(cases(line)).model
        assert isinstance(broken, Text)
        model = text_model(broken)
        if any(entry.domain == "" and entry.version < 7 for entry in model.opset_import) or not model.graph.output:
            continue
        before = found(model)
        chain = onnx.parser.parse_model(CHAIN).graph.node
        chain[0].input[0] = model.graph.output[0].name
        model.graph.node.extend(chain)
        assert found(model) == before, f"graphs/onnx.txt:{number}: {line}"
        asked += 1
    assert asked > 480


def test_a_name_of_two_values_causes_the_errors_of_both_types() -> None:
    text = """<ir_version: 10, opset_import: ["" : 21]> g (int64[4] i, float[4] x) => (int64[4] y) {
    t = Add (i, i) r = Neg (t) t = Relu (x) e = Neg (t) y = Add (r, i) z = Mul (e, i) }"""
    (only,) = found(onnx.parser.parse_model(text))
    assert only[0] == "IRL102"
