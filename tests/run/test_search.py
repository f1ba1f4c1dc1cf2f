"""Which files a folder stands for: links are followed only to folders below one that is named."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from time import monotonic

import pytest
from command.process import GOOD, run

from irlint.run.search import discovered

pytestmark = pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a model, beside another one."""
    for name in ("here/models/deep", "there"):
        (tmp_path / name).mkdir(parents=True)
        shutil.copy(GOOD, tmp_path / name / "m.onnx")
    return tmp_path / "here"


def found(folder: Path, *paths: str) -> list[str]:
    return [os.path.relpath(path, folder) for path in discovered([str(folder / path) for path in paths])]


@pytest.mark.parametrize("target", ["..", "/", "../there", "models/../../there"])
def test_links_to_folders_outside_are_not_followed(target: str, folder: Path) -> None:
    (folder / "data").symlink_to(target)
    assert found(folder, ".") == ["models/deep/m.onnx"]
    result = run(".", cwd=folder)
    assert result.returncode == 0
    assert result.stderr == (
        "irlint: note: not followed: 1 link to folders outside of the named paths (data); name a folder to check it\n"
    )
    assert "there" not in result.stdout + result.stderr


def test_a_folder_whose_name_begins_alike_is_another_one(folder: Path) -> None:
    shutil.copytree(folder.parent / "there", folder.parent / "here-too")
    (folder / "data").symlink_to("../here-too")
    assert found(folder, ".") == ["models/deep/m.onnx"]


def test_links_to_folders_below_are_followed(folder: Path) -> None:
    (folder / ".store").mkdir()
    shutil.copy(GOOD, folder / ".store" / "a.onnx")
    (folder / "store").symlink_to(".store")
    (folder / "also").symlink_to("models")
    (folder / "models" / "deep" / "up").symlink_to("../..")
    assert found(folder, ".") == ["models/deep/m.onnx", "store/a.onnx"]


def test_a_link_that_is_named_is_followed(folder: Path) -> None:
    (folder / "data").symlink_to("../there")
    assert found(folder, "data") == found(folder, "data/") == ["data/m.onnx"]
    assert found(folder, ".", "data") == ["data/m.onnx", "models/deep/m.onnx"]
    assert found(folder, ".", "../there") == ["data/m.onnx", "models/deep/m.onnx"]


def test_links_to_files_are_followed(folder: Path) -> None:
    (folder / "linked.onnx").symlink_to("../there/m.onnx")
    assert found(folder, ".") == ["linked.onnx", "models/deep/m.onnx"]


@pytest.mark.parametrize("options", [(), ("--format", "jsonl"), ("--show-files",), ("--resume", "journal.jsonl")])
def test_links_to_everything_take_no_time(options: tuple[str, ...], folder: Path) -> None:
    for name, target in {"root": "/", "dev": "/dev", "self": ".", "loop": "loop", "proc": "/proc"}.items():
        (folder / name).symlink_to(target)
    start = monotonic()
    result = run(".", *options, cwd=folder)
    assert monotonic() - start < 3
    assert result.returncode == 0
    assert result.stderr.count("not followed: 3 links") == 1
    assert "(dev, proc, root)" in result.stderr
    assert "/usr" not in result.stdout


def test_links_where_there_is_nothing_else(folder: Path) -> None:
    shutil.rmtree(folder / "models")
    (folder / "data").symlink_to("../there")
    result = run(".", cwd=folder)
    assert result.returncode == 2
    assert "not followed: 1 link" in result.stderr
