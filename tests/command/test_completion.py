"""What a shell is offered where a command line is not complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command.process import run


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_offered(shell: str, tmp_path: Path) -> None:
    result = run(cwd=tmp_path, _IRLINT_COMPLETE=f"{shell}_source")
    assert "_IRLINT_COMPLETE" in result.stdout


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("irlint exp", "explain"),
        ("irlint check --upd", "--update-baseline"),
        ("irlint check --format sa", "sarif"),
        ("irlint check --select IRL1,broadcast-m", "IRL1,broadcast-mismatch"),
        ("irlint explain IRL20", "IRL201"),
        ("irlint models/", "file"),
    ],
)
def test_completion_answers(words: str, found: str, tmp_path: Path) -> None:
    given = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_IRLINT_COMPLETE": "bash_complete"}
    assert found in re.split(r"[\n,]", run(cwd=tmp_path, **given).stdout) or found in run(cwd=tmp_path, **given).stdout
