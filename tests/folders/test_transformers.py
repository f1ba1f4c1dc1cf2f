"""What irlint finds in folders that optimum exported, case by case, and what optimum and transformers do."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from folders.transformers_cases import ASKED, CASES, written

import irlint

NAMES = ("config.json", "preprocessor_config.json")


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, CASES[name])
    paths = [folder / each for each in NAMES if (folder / each).exists()]
    found = irlint.check(paths).findings
    assert [each.rule.code for each in found] == CASES[name].codes.split(), [each.message for each in found]
    assert all(each.line for each in found)


@pytest.mark.oracle
@pytest.mark.skipif(
    find_spec("optimum") is None or find_spec("transformers") is None or find_spec("PIL") is None,
    reason="optimum-onnx, transformers and pillow are not installed",
)
@pytest.mark.parametrize("name", CASES)
def test_the_libraries_agree(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    code = f"import sys\nimport torch\nfolder = sys.argv[1]\n{ASKED[case.folder]}"
    command = [sys.executable, "-c", code, str(written(tmp_path, case))]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (run.returncode != 0) == case.fails, run.stderr[-500:]
