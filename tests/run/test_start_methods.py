"""However processes begin, the report is the same: Windows and macOS start them anew."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command.process import BAD, FIXTURES, ran

from irlint.run import processes

RUN = """
import multiprocessing, sys
if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv.pop(1))
    from irlint.command.entry import main
    main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some models, and a configuration with something of every kind."""
    for file in sorted((FIXTURES / "onnx" / "bad").glob("*"))[:4]:
        shutil.copy(file, tmp_path)
    shutil.copy(FIXTURES / "onnx" / "good" / "small-detector.onnx", tmp_path / "detector.onnx")
    shutil.copy(BAD, tmp_path / "kept.onnx")
    (tmp_path / "irlint.toml").write_text(
        'severity = { IRL1 = "note" }\nignore = ["IRL003"]\n[per-file-ignores]\n"*IRL004*" = ["IRL0"]\n'
        '[[suppress]]\nrule = "IRL102"\nreason = "known"\nexpires = 9999-12-31\n'
        '[[models]]\nfile = "detector.onnx"\nshapes = { images = "N,3,H,226" }\n'
    )
    (tmp_path / "run.py").write_text(RUN)
    return tmp_path


def test_spawned_processes_find_the_same(folder: Path) -> None:
    arguments = [".", "--exclude", "*.py", "--jobs"]
    alone = ran(*arguments, "1", cwd=folder)
    assert (alone.returncode, alone.stderr) == (1, b"")
    assert b"IRL201" in alone.stdout
    for method in ("spawn", "forkserver") if hasattr(os, "fork") else ("spawn",):
        command = [sys.executable, "run.py", method, *arguments, "2"]
        other = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        assert (other.returncode, other.stdout, other.stderr) == (1, alone.stdout, b"")


def test_no_more_processes_than_windows_can_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST", 2)
    pids = [pid for _, pid in processes.results(own_process, range(12), 12, died=lambda item, ending: -1)]
    assert 1 <= len(set(pids)) <= 2


def own_process(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize(
    ("code", "ending"),
    [(3, "ended with status 3"), (0xC0000005, "ended with status 0xc0000005"), (None, "ended with status None")],
)
def test_ending(code: int | None, ending: str) -> None:
    assert processes._ending(code) == ending
