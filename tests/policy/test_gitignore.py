"""What git ignores: git itself is the referee."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from irlint.run.search import Excluded, discovered

PATHS = ("a.onnx", "b.onnx", "build/c.onnx", "x/build/d.onnx", "x/y/e.onnx", "x/y/z/f.onnx", "q r.onnx", "#g.onnx")


@pytest.mark.parametrize(
    ("patterns", "inner"),
    [
        ("*.onnx", ""),
        ("*.onnx\n!b.onnx", ""),
        ("build/", ""),
        ("/build", ""),
        ("x/build", "!e.onnx"),
        ("build/c.onnx\n/a.onnx", ""),
        ("**/y", ""),
        ("x/**", ""),
        ("x/**/f.onnx", ""),
        ("x/*\n!x/y", ""),
        ("# comment\n\n\\#g.onnx", ""),
        ("q\\ r.onnx   ", ""),
        ("[ab].onnx", ""),
        ("[^a].onnx\n?.onnx/", ""),
        ("e.onnx", "!e.onnx\nz"),
        ("*", "!*"),
        ("a.onnx/", "/f.onnx"),
        ("!a.onnx\na*", "z/*.onnx"),
    ],
)
def test_as_git_does(patterns: str, inner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.policy.gitignore import GitIgnores

    monkeypatch.chdir(tmp_path)
    for path in map(Path, PATHS):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    git = ["git", "-c", "core.excludesFile=/dev/null", "-c", "core.quotePath=false"]
    subprocess.run([*git, "init", "-q", "."], check=True)
    Path(".gitignore").write_text(patterns)
    Path("x/y/.gitignore").write_text(inner)
    listed = [*git, "ls-files", "-o", "-z", "--exclude-standard"]
    text = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    assert discovered(["."], Excluded(git=GitIgnores())) == sorted(path for path in text if path.endswith(".onnx"))


def test_outside_of_a_repository_nothing_is_ignored(tmp_path: Path) -> None:
    from irlint.policy.gitignore import GitIgnores

    (tmp_path / ".gitignore").write_text("*")
    (tmp_path / "m.onnx").write_bytes(b"")
    assert len(discovered([str(tmp_path)], Excluded(git=GitIgnores()))) == 1
