"""Models of which irlint and an engine are known to differ: both still say what the list says."""

from __future__ import annotations

from pathlib import Path

import pytest
from cases.ir_documents import WEIGHTS
from cases.models import document
from cases.notation import cases
from oracles import onnxruntime_worker, openvino_worker
from oracles.differences import MODELS

from irlint.findings.faults import Severity
from irlint.run.one_file import inspected

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("name", MODELS)
def test_difference(name: str, tmp_path: Path) -> None:
    listed = MODELS[name]
    path = tmp_path / "model.xml"
    if listed.model.startswith("onnx"):
        (case,) = cases(f"{listed.model} -> sound")
        path, data = tmp_path / "model.onnx", document(case.model)[1]
        ((stage, text),) = onnxruntime_worker.outcomes([(data, {})], tmp_path)
    else:
        data = listed.model.encode()
        path.write_bytes(data)
        path.with_suffix(".bin").write_bytes(WEIGHTS)
        ((stage, text, _),) = openvino_worker.outcomes([path], runs=True)
    found = [each for each in inspected(str(path), data)[1] if each.severity is not Severity.NOTE and not each.because]
    codes = [each.rule.code if each.severity is Severity.ERROR else f"({each.rule.code})" for each in found]
    assert (" ".join(code for code in codes if code not in ("(IRL118)", "(IRL720)")), stage) == (
        listed.says,
        listed.ends,
    ), text
