"""The hooks as pre-commit installs and runs them, each case a commit to a repository of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from package_index import UNREACHABLE

#: It needs a package index, and half a minute for an environment.
pytestmark = [pytest.mark.oracle, pytest.mark.together]

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"

GOOD = (FIXTURES / "onnx/good/IRL201-broadcast-mismatch.onnx").read_bytes()
BAD = (FIXTURES / "onnx/bad/IRL201-broadcast-mismatch.onnx").read_bytes()
POINTER = (FIXTURES / "onnx/bad/IRL002-lfs-pointer.onnx").read_bytes()
UNSORTED = (FIXTURES / "onnx/bad/IRL104-nodes-not-sorted.onnx").read_bytes()
IR = (FIXTURES / "openvino/good/IRL205-pdpd-axis-ambiguous.xml").read_bytes()
POM = b'<?xml version="1.0"?>\n<project xmlns="http://maven.apache.org/POM/4.0.0"/>\n'

#: A model repository of Triton, and a configuration that does not fit its model.
REPOSITORY = {
    f"model/{name}": (FIXTURES / "folders/good/IRL626-config-shape-mismatch/model" / name).read_bytes()
    for name in ("config.pbtxt", "1/model.onnx")
}
FAULTY = (FIXTURES / "folders/bad/IRL626-config-shape-mismatch/model/config.pbtxt").read_bytes()

#: An IR with a constant of 16 bytes.
WEIGHTS_TYPES = b"""<net version="11">
  <layers>
    <layer id="0" name="c" type="Const" version="opset1">
      <data element_type="f32" shape="4" offset="0" size="16"/>
      <output><port id="0" precision="FP32"><dim>4</dim></port></output>
    </layer>
    <layer id="1" name="r" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>4</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
"""

Files = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class Hooks:
    """The project as a repository of hooks, their environment installed."""

    repository: Path
    revision: str
    env: dict[str, str]

    def committed(self, folder: Path, hook: str, before: Files, files: Files) -> subprocess.CompletedProcess[str]:
        """What ``git commit`` says to ``files`` in a repository that has ``before`` and this hook."""
        folder.mkdir()
        run(self.env, folder, "git", "init", "-q")
        self.configure(folder, hook)
        write(folder, before)
        run(self.env, folder, "git", "add", "-A")
        run(self.env, folder, "git", "commit", "-q", "-m", "before")
        run(self.env, folder, sys.executable, "-m", "pre_commit", "install")
        write(folder, files)
        run(self.env, folder, "git", "add", "-A")
        return run(self.env, folder, "git", "commit", "-q", "-m", "after", check=False)

    def configure(self, folder: Path, hook: str) -> None:
        lines = ["repos:", f"  - repo: {self.repository.as_uri()}", f"    rev: {self.revision}", "    hooks:"]
        (folder / ".pre-commit-config.yaml").write_text("\n".join([*lines, f"      - id: {hook}\n"]))


def run(env: dict[str, str], cwd: Path, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    assert result.returncode == 0 or not check, result.stdout
    return result


def write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Hooks:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    pytest.importorskip("pre_commit")
    folder = tmp_path_factory.mktemp("hooks")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT", "SKIP"))}
    person = {
        f"GIT_{who}_{what}": "irlint@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    env |= {
        "PRE_COMMIT_HOME": str(folder / "home"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "PIP_NO_COMPILE": "1",  # of what is installed, a hook imports a tenth
        **person,
    }

    repository = folder / "irlint"
    shutil.copytree(ROOT / "irlint", repository / "irlint", ignore=shutil.ignore_patterns("__pycache__"))
    (repository / ".github").mkdir()
    for name in ("pyproject.toml", ".github/hatch_build.py", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, repository / name)
    run(env, repository, "git", "init", "-q")
    run(env, repository, "git", "add", "-A")
    run(env, repository, "git", "commit", "-q", "-m", "hooks")
    revision = run(env, repository, "git", "rev-parse", "HEAD").stdout.strip()

    found = Hooks(repository, revision, env)
    trial = folder / "trial"
    trial.mkdir()
    run(env, trial, "git", "init", "-q")
    found.configure(trial, "irlint")
    installed = run(env, trial, sys.executable, "-m", "pre_commit", "install-hooks", check=False)
    if installed.returncode and any(text in installed.stdout for text in UNREACHABLE):
        pytest.skip("pre-commit cannot install an environment without a package index")
    assert installed.returncode == 0, installed.stdout
    return found


@pytest.mark.parametrize("hook", ["irlint", "irlint-all"])
@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"a b/good.onnx": GOOD, "ir.XML": IR, "pom.xml": POM}, "Passed"),
        ({"pom.xml": POM}, "Passed"),
        ({"README": b"no model"}, "Skipped"),
        ({"a b/bad.onnx": BAD, "good.onnx": GOOD, "pom.xml": POM}, "error[IRL201]"),
        ({"big/decoder.onnx": POINTER}, 'git lfs pull --include "big/decoder.onnx"'),
        (REPOSITORY, "Passed"),
        ({**REPOSITORY, "model/config.pbtxt": FAULTY}, "error[IRL626]"),
        ({"config.json": b"{}"}, "Passed"),
    ],
    ids=["sound", "no model", "neither", "broken", "lfs", "repository", "broken repository", "other configuration"],
)
def test_commit(hooks: Hooks, hook: str, files: Files, text: str, tmp_path: Path) -> None:
    result = hooks.committed(tmp_path / "repository", hook, {}, files)
    assert text in result.stdout
    assert "Traceback" not in result.stdout
    assert (result.returncode == 0) == (text in ("Passed", "Skipped"))


@pytest.mark.parametrize(
    ("hook", "before", "files", "text"),
    [
        ("irlint", {"m.xml": WEIGHTS_TYPES, "m.bin": bytes(16)}, {"m.bin": bytes(8)}, "Skipped"),
        ("irlint-fix", {}, {"m.onnx": GOOD, "pom.xml": POM}, "Passed"),
        ("irlint-fix", {}, {"m.onnx": UNSORTED}, "m.onnx: sort the nodes (IRL104)"),
        ("irlint-all", {"m.xml": WEIGHTS_TYPES, "m.bin": bytes(16)}, {"m.bin": bytes(8)}, "error[IRL702]"),
        ("irlint-all", {"m.xml": WEIGHTS_TYPES, "m.bin": bytes(8)}, {"m.bin": bytes(16)}, "Passed"),
        ("irlint-all", {}, {"firmware.bin": bytes(8)}, "Passed"),
        (
            "irlint-changed",
            {"m.xml": WEIGHTS_TYPES, "m.bin": bytes(16), "b.onnx": BAD},
            {"m.bin": bytes(8)},
            "error[IRL702]",
        ),
        ("irlint-changed", {"m.xml": WEIGHTS_TYPES, "m.bin": bytes(16), "b.onnx": BAD}, {"m.bin": bytes(17)}, "Passed"),
    ],
    ids=[
        "not seen",
        "in order",
        "not in order",
        "too short",
        "fixed",
        "no model",
        "too short, and another",
        "others unchanged",
    ],
)
def test_commit_of_weights_alone(
    hooks: Hooks, hook: str, before: Files, files: Files, text: str, tmp_path: Path
) -> None:
    result = hooks.committed(tmp_path / "repository", hook, before, files)
    assert text in result.stdout
    assert (result.returncode == 0) == (text in ("Passed", "Skipped"))
