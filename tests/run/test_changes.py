"""Which models have changed since a revision: git lists the files, and the models name the files that they need."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import onnx.numpy_helper
import pytest
from command.process import BAD, GOOD, run

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

WHO = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
ENV = {**os.environ, **dict.fromkeys(WHO, "irlint"), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

IR = """<net version="11"><layers><layer id="0" name="c" type="Const" version="opset1">
<data element_type="f32" shape="4" offset="0" size="16"/><output><port id="0" precision="FP32"><dim>4</dim></port>\
</output></layer>
<layer id="1" name="r" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>4</dim></port></input>\
</layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges></net>
"""


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, env=ENV, check=True, capture_output=True)


def external(path: Path, location: str) -> None:
    """A model whose weights lie in another file."""
    model = onnx.load(GOOD)
    weights = onnx.numpy_helper.from_array(numpy.zeros(2000, "float32"), "w")
    del model.graph.initializer[:]
    model.graph.initializer.append(weights)
    onnx.external_data_helper.set_external_data(weights := model.graph.initializer[0], location, length=8000)
    weights.ClearField("raw_data")
    weights.data_location = onnx.TensorProto.EXTERNAL
    path.write_bytes(model.SerializeToString())
    data = path.parent / location
    data.parent.mkdir(exist_ok=True)
    data.write_bytes(bytes(8000))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    for name in ("a.onnx", "sub/b.onnx", "sub/c d.onnx"):
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(GOOD, root / name)
    external(root / "sub" / "big.onnx", "data/big.weights")
    (root / "ir.xml").write_text(IR)
    (root / "ir.bin").write_bytes(bytes(16))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def chosen(root: Path, *arguments: str) -> list[str]:
    result = run(".", "--changed-since", "HEAD", "--show-files", *arguments, cwd=root, **ENV)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_nothing_has_changed(repository: Path) -> None:
    assert chosen(repository) == []
    result = run(".", "--changed-since", "HEAD", cwd=repository)
    assert (result.returncode, result.stdout) == (0, "Nothing to check.\nChecked nothing.\n")
    assert result.stderr == "irlint: note: not checked: 5 models unchanged since HEAD\n"
    for form in ("json", "jsonl"):
        assert run(".", "--changed-since", "HEAD", "--format", form, cwd=repository).returncode == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda root: shutil.copy(BAD, root / "sub/c d.onnx"), ["sub/c d.onnx"]),
        (lambda root: shutil.copy(BAD, root / "new.onnx"), ["new.onnx"]),
        (lambda root: (root / "a.onnx").rename(root / "sub" / "renamed.onnx"), ["sub/renamed.onnx"]),
        (lambda root: (root / "a.onnx").unlink(), []),
        (lambda root: (root / "ir.bin").write_bytes(bytes(8)), ["ir.xml"]),
        (lambda root: (root / "ir.bin").unlink(), ["ir.xml"]),
        (lambda root: (root / "sub/data/big.weights").write_bytes(bytes(9)), ["sub/big.onnx"]),
        (lambda root: (root / "sub/data/big.weights").unlink(), ["sub/big.onnx"]),
        (lambda root: (root / "sub/data/other").write_bytes(bytes(9)), []),
        (lambda root: (root / "README").write_text("text"), []),
        (lambda root: (root / "irlint.toml").write_text(""), None),
    ],
    ids=["changed", "new", "renamed", "gone", "bin", "no bin", "data", "no data", "other data", "text", "config"],
)
@pytest.mark.parametrize("commit", [False, True])
def test_what_has_changed(
    change: Callable[[Path], object], expected: list[str] | None, commit: bool, repository: Path
) -> None:
    git(repository, "tag", "before")
    change(repository)
    if commit:
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "second")
    every = ["a.onnx", "ir.xml", "sub/b.onnx", "sub/big.onnx", "sub/c d.onnx"]
    found = chosen(repository, "--changed-since", "before")
    assert found == (every if expected is None else expected)
    inside = chosen(repository / "sub", "--changed-since", "before")
    assert inside == [each.removeprefix("sub/") for each in found if each.startswith("sub/")]


def test_what_the_other_branch_has_changed_does_not_count(repository: Path) -> None:
    git(repository, "checkout", "-qb", "work")
    shutil.copy(BAD, repository / "a.onnx")
    git(repository, "commit", "-qam", "here")
    git(repository, "checkout", "-q", "main")
    shutil.copy(BAD, repository / "sub" / "b.onnx")
    git(repository, "commit", "-qam", "there")
    git(repository, "checkout", "-q", "work")
    assert chosen(repository, "--changed-since", "main") == ["a.onnx"]


def test_named_files_that_git_ignores(repository: Path) -> None:
    (repository / ".gitignore").write_text("scratch.onnx\n")
    shutil.copy(BAD, repository / "scratch.onnx")
    result = run("scratch.onnx", "a.onnx", "--changed-since", "HEAD", cwd=repository)
    assert (result.returncode, "Found 1 error in 1 of 1 model" in result.stdout) == (1, True)


def test_in_a_hook(repository: Path) -> None:
    shutil.copy(BAD, repository / "a.onnx")
    text = run("a.onnx", "--changed-since", "HEAD", "-q", cwd=repository, GIT_DIR="nowhere", GIT_INDEX_FILE="none")
    assert text.returncode == 1


def test_submodules(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "models")
    git(outer, "commit", "-qm", "models")
    assert chosen(outer) == []
    shutil.copy(BAD, outer / "models" / "a.onnx")
    assert "models/a.onnx" in chosen(outer)


def test_what_cannot_be_compared(repository: Path, tmp_path: Path) -> None:
    result = run(".", "--changed-since", "v9", cwd=repository)
    assert (result.returncode, "has no revision v9" in result.stderr) == (2, True)
    assert run(".", "--changed-since=--help", cwd=repository).returncode == 2
    shutil.copy(GOOD, tmp_path / "m.onnx")
    result = run("m.onnx", "--changed-since", "HEAD", cwd=tmp_path)
    assert (result.returncode, "is in no git repository" in result.stderr) == (2, True)
    assert "not for URLs" in run("s3://bucket/m.onnx", "--changed-since", "HEAD", cwd=repository).stderr
    (tmp_path / "empty").mkdir()
    assert run(tmp_path / "empty", "--changed-since", "HEAD").returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="a program of a shell")
@pytest.mark.parametrize(
    "keys",
    [
        ["core.fsmonitor={}"],
        ["filter.e=1.clean={}", "filter.e=1.required=true"],
        ["filter.e=1.process={}"],
        ["extensions.worktreeConfig=true", "filter.e=1.clean={}"],
        ["core.hooksPath={}/.."],
        ["diff.external={}", "diff.e=1.textconv={}", "core.pager={}", "core.alternateRefsCommand={}"],
        ["core.repositoryFormatVersion=1", "extensions.partialClone=origin", "remote.origin.promisor=true"]
        + ["remote.origin.url=ext::{}", "protocol.ext.allow=always"],
    ],
    ids=str,
)
@pytest.mark.parametrize("inner", ["", "models"], ids=["repository", "submodule"])
def test_programs_of_a_repository_are_not_executed(
    keys: list[str], inner: str, repository: Path, tmp_path: Path
) -> None:
    outer = repository
    if inner:
        outer = tmp_path / "outer"
        outer.mkdir()
        git(outer, "init", "-q")
        git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), inner)
        git(outer, "commit", "-qm", inner)
    program = tmp_path / "hooks" / "post-index-change"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/executed'\nexit 1\n")
    program.chmod(0o755)
    (outer / inner / ".gitattributes").write_text("*.onnx filter=e=1 diff=e=1\n")
    for key in keys:
        name, _, value = key.rpartition("=") if "{}" in key else key.partition("=")
        git(outer / inner, "config", name, value.format(program))
    os.utime(outer / inner / "a.onnx", (1, 1))
    if "extensions.partialClone=origin" in keys:
        tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=outer / inner, capture_output=True, text=True)
        next((outer / ".git").glob(f"**/{tree.stdout[:2]}/{tree.stdout[2:].strip()}")).unlink()
    result = run(".", "--changed-since", "HEAD", cwd=outer, **ENV)
    assert result.returncode in (0, 1, 2)
    assert not (tmp_path / "executed").exists()


def test_submodules_that_are_to_be_ignored(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository), "models")
    git(outer, "commit", "-qm", "models")
    shutil.copy(BAD, outer / "models" / "a.onnx")
    git(outer, "config", "--file", ".gitmodules", "submodule.models.ignore", "all")
    assert run(".", "--changed-since", "HEAD", cwd=outer, **ENV).returncode == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes")
def test_a_pipe_in_place_of_a_repository(repository: Path) -> None:
    os.mkfifo(repository / "sub" / ".git")
    assert run(".", "--changed-since", "HEAD", cwd=repository, **ENV).returncode in (0, 2)
