"""``irlint diff``: its forms, its exit status, and what git makes of a model that it prints."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import onnx
import onnx.parser
import pytest
from command.process import FIXTURES, run, words

import irlint

OLD, NEW = (FIXTURES / "onnx" / which / "IRL608-frozen-size.onnx" for which in ("good", "bad"))
POINTER = FIXTURES / "onnx" / "bad" / "IRL002-lfs-pointer.onnx"
SOUND = FIXTURES / "openvino" / "good" / "IRL350-strided-slice-mask-wrong.xml"
GUIDE = Path(__file__).resolve().parents[2] / "irlint" / "guide" / "ci.md"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((OLD, OLD), 0),
        ((NEW, OLD), 0),
        ((OLD, NEW), 1),
        ((OLD, SOUND), 1),
        ((SOUND, SOUND), 0),
        ((OLD,), 2),
        ((OLD, NEW, OLD), 2),
        ((OLD, "gone.onnx"), 2),
        ((OLD, POINTER), 2),
        ((OLD, FIXTURES), 2),
        ((OLD, FIXTURES / "onnx" / "bad" / "IRL003-truncated-file.onnx"), 2),
        (("--textconv", OLD), 0),
        (("--textconv", SOUND), 0),
        (("--textconv", POINTER), 0),
        (("--textconv", FIXTURES / "onnx" / "bad" / "IRL001-not-a-model.onnx"), 0),
        (("--textconv", OLD, NEW), 2),
        (("--textconv", "gone.onnx"), 2),
        (("--textconv", OLD, "--format", "json"), 2),
    ],
)
def test_status(arguments: tuple[object, ...], status: int) -> None:
    found = run("diff", *arguments)
    assert found.returncode == status, found.stderr
    assert bool(found.stderr) is (status == 2)
    if len(arguments) == 2 and arguments[0] != "--textconv":
        for form in ("json", "markdown"):
            assert run("diff", *arguments, "--format", form).returncode == status


def test_the_reason_is_reported() -> None:
    assert "gone.onnx" in run("diff", OLD, "gone.onnx").stderr
    assert "Git LFS pointer" in run("diff", OLD, POINTER).stderr


def test_json_is_what_python_gives() -> None:
    found = json.loads(run("diff", OLD, NEW, "--format", "json").stdout)
    assert found == irlint.diff(OLD, NEW)
    assert found["schema"] == "irlint-diff-1"
    assert found["compatible"] is False
    assert [(each["kind"], each["breaking"], each["name"]) for each in found["changes"]] == [
        ("input-narrowed", True, "x"),
        ("node-weights", False, "y"),
    ]


def test_markdown() -> None:
    text = run("diff", OLD, NEW, "--format", "markdown").stdout
    assert text.startswith("### `")
    assert "**not compatible: 1 of 2 changes breaks users of the old model**" in text
    assert "\n#### breaking\n\n- axis 0 of `x`: only 1, where it was any size" in text


def test_markdown_of_names_that_are_none(tmp_path: Path) -> None:
    paths = [tmp_path / "1.onnx", tmp_path / "2.onnx"]
    for path, name in zip(paths, ("<b>|*x*", "y`<i>_z_")):
        model = onnx.load(OLD)
        model.graph.node[0].name = name
        model.graph.output[0].name = model.graph.node[0].output[0] = name
        onnx.save(model, path)
    text = run("diff", *paths, "--format", "markdown").stdout
    assert "output `<b>|*x*` (" in text.replace("\\", "")
    assert "\\`y\\`\\<i>\\_z\\_\\`" in text


def test_text_where_no_utf_8_is_spoken(tmp_path: Path) -> None:
    model = onnx.load(OLD)
    model.graph.output[0].name = model.graph.node[0].output[0] = "ä"
    onnx.save(model, tmp_path / "m.onnx")
    assert "\\xe4" in run("diff", OLD, tmp_path / "m.onnx", PYTHONIOENCODING="ascii").stdout


def test_a_pointer_leads_to_what_the_repository_has(tmp_path: Path) -> None:
    contents = NEW.read_bytes()
    oid = sha256(contents).hexdigest()
    (tmp_path / "m.onnx").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(contents)}\n"
    )
    path = tmp_path / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
    path.parent.mkdir(parents=True)
    path.write_bytes(contents)
    assert irlint.diff(tmp_path / "m.onnx", NEW)["changes"] == []
    assert run("diff", OLD, tmp_path / "m.onnx").returncode == 1


# --- git --------------------------------------------------------------------------------------------------------------

needs_git = pytest.mark.skipif(shutil.which("git") is None or os.name != "posix", reason="no git")


class Repository:
    """A repository with the two lines that the guide shows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.folder.mkdir()
        tools = folder / "tools"
        tools.mkdir()
        command = tools / "irlint"
        command.write_text(f'#!/bin/sh\nexec {words()} "$@"\n')
        command.chmod(0o755)
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        attributes, config = re.findall(r"```ini\n(.+)\n```", GUIDE.read_text("utf-8"))[:2]
        self.git("init", "-q")
        self.git("config", "user.name", "n")
        self.git("config", "user.email", "n@example.org")
        (self.folder / ".gitattributes").write_text(f"{attributes}\n")
        subprocess.run(config, shell=True, check=True, cwd=self.folder, env=self.env)

    def git(self, *arguments: str) -> str:
        found = subprocess.run(["git", *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        return found.stdout

    def diff(self) -> list[str]:
        """The lines that git shows as gone or new."""
        lines = self.git("diff", "m.onnx").partition("@@")[2].splitlines()
        return [line for line in lines if line.startswith(("+", "-"))]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    found = Repository(tmp_path)
    shutil.copy(OLD, found.folder / "m.onnx")
    found.git("add", "-A")
    found.git("commit", "-qm", "first")
    return found


@needs_git
def test_git_shows_what_changed(repository: Repository) -> None:
    shutil.copy(NEW, repository.folder / "m.onnx")
    assert sorted(repository.diff()) == [
        "+Reshape (`x`, int64[2] = [1, 128])",
        "+output `y` float32[1, 128]",
        "+requires batch == 1",
        "-Reshape (`x`, int64[2] = [-1, 128])",
        "-output `y` float32[batch, 128]",
    ]


@needs_git
def test_git_shows_what_a_pointer_stands_for(repository: Repository) -> None:
    contents = NEW.read_bytes()
    oid = sha256(contents).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(contents)}\n"
    (repository.folder / "m.onnx").write_text(pointer)
    text = repository.diff()
    assert (
        text[-1]
        == f"+Git LFS pointer to {len(contents)} bytes with the SHA-256 {oid}, which is not in this repository's store"
    )
    path = repository.folder / ".git" / "lfs" / "objects" / oid[:2] / oid[2:4] / oid
    path.parent.mkdir(parents=True)
    path.write_bytes(contents)
    assert "+requires batch == 1" in repository.diff()


# --- one model as text ------------------------------------------------------------------------------------------------

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def text(model: str, path: Path) -> str:
    path.write_bytes(onnx.parser.parse_model(HEAD + model).SerializeToString())
    return run("diff", "--textconv", path).stdout


def test_names_order_and_places_are_not_in_it(tmp_path: Path) -> None:
    one = "g (float[N] x) => (float[N] y) { a = Relu (x) b = Neg (x) c = Exp (a) y = Add (c, b) }"
    other = "h (float[N] x) => (float[N] y) { [p] q = Neg (x) [r] s = Relu (x) t = Exp (s) y = Add (t, q) }"
    (tmp_path / "deep").mkdir()
    first = text(one, tmp_path / "m.onnx")
    assert text(other, tmp_path / "deep" / "n.onnx") == first
    assert first.splitlines()[4:] == ["Relu (`x`)", "Exp (Relu)", "Neg (`x`)", "Add (Exp, Neg)", "output `y` = Add"]


def test_a_node_between_two_changes_what_refers_across_it(tmp_path: Path) -> None:
    old = "g (float[N] x) => (float[N] y) { a = Neg (x) b = Relu (a) c = Exp (b) d = Relu (c) y = Add (d, b) }"
    new = old.replace("c = Exp (b)", "n = Relu (b) c = Exp (n)")
    lines = [set(text(each, tmp_path / "m.onnx").splitlines()) for each in (old, new)]
    assert lines[0] ^ lines[1] == {"Relu (Relu)", "Add (Relu, Relu^2)", "Add (Relu, Relu^3)"}


def test_bodies_and_functions(tmp_path: Path) -> None:
    body = (
        "then_branch = t () => (float[N] u) { v = Relu (a) u = Exp (v) }, else_branch = e () => (float[N] w) { w = "
        "Neg (x) }"
    )
    shown = text(f"g (bool c, float[N] x) => (float[N] y) {{ a = Abs (x) y = If (c) <{body}> }}", tmp_path / "m.onnx")
    assert shown.splitlines()[5:] == [
        "Abs (`x`)",
        "If (`c`)",
        "  then_branch",
        "    Relu (outer Abs)",
        "    Exp (Relu)",
        "    output 0 = Exp",
        "  else_branch",
        "    Neg (outer `x`)",
        "    output 0 = Neg",
        "output `y` = If",
    ]


def test_what_lies_beside_a_model_is_not_looked_at(tmp_path: Path) -> None:
    text = [run("diff", "--textconv", SOUND).stdout]
    shutil.copy(SOUND, tmp_path / "m.xml")
    text.append(run("diff", "--textconv", tmp_path / "m.xml").stdout)
    assert text[0] == text[1]
