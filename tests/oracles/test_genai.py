"""The cases of ONNX Runtime GenAI against the library itself: it loads each folder and generates two tokens.

It is asked where the package ``onnxruntime_genai`` is installed, which no extra brings.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from folders.genai_cases import CASES, EXPORTED, exported, written

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(find_spec("onnxruntime_genai") is None, reason="onnxruntime_genai is not installed"),
]

CODE = """import sys
import onnxruntime_genai
model = onnxruntime_genai.Model(sys.argv[1])
generator = onnxruntime_genai.Generator(model, onnxruntime_genai.GeneratorParams(model))
generator.append_tokens([1, 2, 3])
generator.generate_next_token()
generator.generate_next_token()
"""


@pytest.mark.parametrize("name", CASES)
def test_the_library_agrees(name: str, tmp_path: Path) -> None:
    written(tmp_path, CASES[name])
    run = subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (run.returncode != 0) == CASES[name].fails, run.stderr[-500:]


@pytest.mark.parametrize("name", EXPORTED)
def test_the_library_agrees_of_an_exported_model(name: str, tmp_path: Path) -> None:
    exported(tmp_path, name)
    run = subprocess.run([sys.executable, "-c", CODE, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (run.returncode != 0) == EXPORTED[name][1], run.stderr[-500:]
