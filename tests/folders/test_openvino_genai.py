"""Folders of OpenVINO GenAI: a tiny decoder with a state, and what irlint finds once one thing changes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

import irlint

HERE = Path(__file__).parent

#: What is replaced in the model by what, the codes that irlint finds, and whether the pipeline fails.
CASES: Mapping[str, tuple[tuple[str, str], str, bool]] = {
    "sound": (("", ""), "", False),
    "tokens of another name": (('"input_ids"', '"tokens"'), "IRL623", True),
    "mask of another name": (('"attention_mask"', '"mask"'), "IRL623", True),
    "beams of another name": (('"beam_idx"', '"beams"'), "IRL623", True),
    "logits of another name": (('"logits"', '"scores"'), "IRL623", True),
}


def written(folder: Path, name: str) -> Path:
    """Writes the folder of a case, and returns the path of its configuration."""
    (old, new), _, _ = CASES[name]
    text = (HERE / "stateful.xml").read_text()
    (folder / "openvino_model.xml").write_text(text.replace(old, new) if old else text)
    (folder / "openvino_model.bin").write_bytes((HERE / "stateful.bin").read_bytes())
    path = folder / "config.json"
    path.write_text('{"model_type": "llama", "eos_token_id": 2}')
    return path


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    report = irlint.check(written(tmp_path, name))
    found = [each for each in report.findings if each.rule.code != "IRL622"]
    assert [each.rule.code for each in found] == CASES[name][1].split(), [each.message for each in found]
    assert report.as_dict()["files"][0]["kind"] == "openvino-genai"


def test_missing_tokenizers_are_a_warning(tmp_path: Path) -> None:
    found = irlint.check(written(tmp_path, "sound")).findings
    assert [(each.severity.value, each.rule.code) for each in found] == [("warning", "IRL622")] * 2
    for name in ("openvino_tokenizer.xml", "openvino_detokenizer.xml"):
        (tmp_path / name).write_text("<net/>")
    assert irlint.check(tmp_path / "config.json").findings == ()


def test_a_model_without_state_and_beams_is_of_no_pipeline(tmp_path: Path) -> None:
    path = written(tmp_path, "sound")
    (tmp_path / "openvino_model.xml").write_bytes(
        (HERE.parents[1] / "fixtures" / "openvino" / "good" / "IRL354-slice-updates-mismatch.xml").read_bytes()
    )
    assert irlint.check(path).files[0].status == "skipped"


CODE = """import sys
import numpy
import openvino
import openvino_genai
pipeline = openvino_genai.LLMPipeline(sys.argv[1], "CPU")
settings = openvino_genai.GenerationConfig()
settings.max_new_tokens = 3
pipeline.generate(openvino.Tensor(numpy.array([[1, 2, 3]], numpy.int64)), settings)
"""


@pytest.mark.oracle
@pytest.mark.skipif(find_spec("openvino_genai") is None, reason="openvino_genai is not installed")
@pytest.mark.parametrize("name", CASES)
def test_the_pipeline_agrees(name: str, tmp_path: Path) -> None:
    written(tmp_path, name)
    run = subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (run.returncode != 0) == CASES[name][2], run.stderr[-500:]
