"""What irlint adds to pytest, in a run that tests a folder of models and nothing else of this project."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
BAD, GOOD = (FIXTURES / "onnx" / kind / "IRL201-broadcast-mismatch.onnx" for kind in ("bad", "good"))

TESTS = """
import sys

def test_nothing_of_irlint_is_loaded():
    assert not [name for name in sys.modules if name.startswith("irlint.") and name not in LOADED]

LOADED = ("irlint.lazy_typing", "irlint.pytest_plugin", "irlint.run") if "--irlint" not in sys.argv else sys.modules

def test_fixture(irlint_check):
    assert irlint_check("models/good.onnx").ok
    irlint_check("models/bad.onnx", ignore="IRL201")
    irlint_check("models/bad.onnx")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    models.mkdir()
    (models / "good.onnx").write_bytes(GOOD.read_bytes())
    (models / "bad.onnx").write_bytes(BAD.read_bytes())
    (models / "note.xml").write_text("<note/>", "utf-8")
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "irlint.toml").write_text('exclude = ["models/note.xml"]\nignore = ["IRL201"]', "utf-8")
    return tmp_path


def ran(folder: Path, *arguments: str) -> tuple[int, str]:
    """The exit status of pytest, and what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "irlint.pytest_plugin", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def test_each_model_is_a_test(folder: Path) -> None:
    status, text = ran(folder, "--irlint", "models")
    assert status == 1 and re.search(r"2 failed, 2 passed, 1 skipped", text)
    assert text.count("\nerror[IRL201]: Add: axis 1 is 64") == 2 and "FAILED models/bad.onnx::irlint" in text
    assert "   --> models/bad.onnx " in text and "irlint: 3 models" in text and "pytest_plugin.py" not in text


def test_models_alone_with_a_configuration(folder: Path) -> None:
    status, text = ran(folder, "--irlint", "models", "--irlint-config", "irlint.toml", "-m", "irlint", "-v")
    assert status == 0 and re.search(r"2 passed, 2 deselected", text)


def test_costs_nothing_where_it_is_not_used(folder: Path) -> None:
    status, text = ran(folder, "-k", "loaded")
    assert status == 0 and "irlint:" not in text


@pytest.mark.parametrize("arguments", [("--irlint", "gone"), ("--irlint", "models", "--irlint-config", "gone.toml")])
def test_what_is_missing(folder: Path, arguments: tuple[str, ...]) -> None:
    status, text = ran(folder, *arguments)
    assert status == 4 and "--irlint: " in text and "gone" in text


@pytest.mark.skipif(os.name == "nt", reason="names that Windows does not take")
def test_hostile_names_and_files(tmp_path: Path) -> None:
    names = ["::error::x.onnx", "##[error]x.onnx", "a\x1b[2J\x07b.onnx", "c\nd.onnx", "\udcff.onnx", "\u202e.onnx"]
    for name in names:
        (tmp_path / name).write_bytes(BAD.read_bytes())
    os.mkfifo(tmp_path / "pipe.onnx")
    (tmp_path / "loop.onnx").symlink_to("loop.onnx")
    status, text = ran(tmp_path, "--irlint", ".", "-v", "--junitxml=report.xml")
    assert (status, "8 failed" in text, "Traceback" in text, ".py:" in text) == (1, True, False, False)
    assert "pipe.onnx cannot be opened: it is not a regular file" in text and (tmp_path / "report.xml").stat().st_size
    for line in text.split("\n"):
        assert line.isprintable() and not line.startswith("::") and "##[" not in line
