"""What irlint finds in folders of OpenVINO GenAI, case by case, and what the pipeline does."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from folders.openvino_genai_cases import CASES, MODEL, written

import irlint
from irlint.findings.faults import Severity


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    written(tmp_path, CASES[name])
    report = irlint.check(tmp_path)
    found = [each for each in report.findings if each.severity is not Severity.NOTE]
    assert [each.rule.code for each in found] == CASES[name].codes.split(), [each.message for each in found]
    assert [each["kind"] for each in report.as_dict()["files"] if "kind" in each] == ["openvino-genai"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.fails == (False, True)])
def test_what_only_one_backend_needs_is_a_warning(name: str, tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path, CASES[name])).findings
    assert {each.severity for each in found} <= {Severity.WARNING}


def test_a_finding_shows_the_input_of_the_model(tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path, CASES["tokens of int32"])).findings
    assert [(each.node, each.message) for each in found[0].related] == [("input_ids", f"int32[?, ?] in {MODEL}")]


def test_a_model_without_state_and_beams_is_of_no_pipeline(tmp_path: Path) -> None:
    path = written(tmp_path, CASES["sound"])
    good = Path(__file__).parents[2] / "fixtures" / "openvino" / "good" / "IRL354-slice-updates-mismatch.xml"
    (tmp_path / MODEL).write_bytes(good.read_bytes())
    assert irlint.check(path).files[0].status == "skipped"


CODE = """import sys
import openvino_genai
options = {"ATTENTION_BACKEND": "SDPA"} if sys.argv[2] == "SDPA" else {}
pipeline = openvino_genai.LLMPipeline(sys.argv[1], "CPU", **options)
settings = openvino_genai.GenerationConfig()
settings.max_new_tokens = 3
pipeline.generate("the quick", settings)
"""


@pytest.mark.oracle
@pytest.mark.skipif(find_spec("openvino_genai") is None, reason="openvino_genai is not installed")
@pytest.mark.parametrize("name", CASES)
def test_the_pipeline_agrees(name: str, tmp_path: Path) -> None:
    written(tmp_path, CASES[name])
    for backend, fails in zip(("PA", "SDPA"), CASES[name].fails):
        command = [sys.executable, "-c", CODE, str(tmp_path), backend]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (run.returncode != 0) == fails, (backend, run.stderr[-500:])
