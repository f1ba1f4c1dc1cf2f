"""The action and its example workflow: what they say, and the action's script as a runner would run it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command.process import words

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures/onnx"
ACTION = ROOT / ".github/actions/irlint/action.yml"
EXAMPLE = ROOT / ".github/workflows/example.yml"

BAD = FIXTURES / "bad/IRL201-broadcast-mismatch.onnx"
GOOD = FIXTURES / "good/IRL201-broadcast-mismatch.onnx"
WARNING = FIXTURES / "bad/IRL104-nodes-not-sorted.onnx"


def parsed(path: Path) -> dict[str, Any]:
    # YAML 1.1 reads the key `on` as true
    return {("on" if key is True else key): value for key, value in yaml.safe_load(path.read_text("utf-8")).items()}


def steps() -> dict[str, dict[str, Any]]:
    return {step["id"]: step for step in parsed(ACTION)["runs"]["steps"]}


def checked(folder: Path, **inputs: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """The action's check in ``folder``, run as a runner does it, and its outputs."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    command = folder / "irlint.sh"
    command.write_text(f'#!/bin/sh\nexec {words()} "$@"\n')
    command.chmod(0o755)
    output = folder / "output.txt"
    output.touch()
    given = {name: str(spec.get("default", "")) for name, spec in parsed(ACTION)["inputs"].items()} | {
        name.replace("_", "-"): value for name, value in inputs.items()
    }
    values = {f"inputs.{name}": value for name, value in given.items()}
    values["steps.install.outputs.command"] = str(command)
    step = steps()["check"]
    env = {name: re.sub(r"\$\{\{ (.*?) \}\}", lambda m: values[m[1]], text) for name, text in step["env"].items()}
    env |= {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_ACTIONS": "true"}
    result = subprocess.run(
        [bash, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in result.stdout + result.stderr
    return result, dict(line.split("=", 1) for line in output.read_text().splitlines())


def test_inputs_reach_the_script_through_its_environment_only() -> None:
    action = parsed(ACTION)
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    used = "".join(text for step in action["runs"]["steps"] for text in step["env"].values())
    assert all(f"inputs.{name} " in used for name in action["inputs"])
    assert all(spec["description"] and "default" in spec for spec in action["inputs"].values())


def test_example_runs_only_by_hand_and_fits_the_action() -> None:
    example, action = parsed(EXAMPLE), parsed(ACTION)
    assert list(example["on"]) == ["workflow_dispatch"]
    assert example["permissions"] == {"contents": "read"}
    (job,) = example["jobs"].values()
    assert job["permissions"]["security-events"] == "write"
    (use,) = (step for step in job["steps"] if "irlint@" in step["uses"])
    assert use["uses"].split("@")[0].endswith(f"irlint/{ACTION.parent.relative_to(ROOT).as_posix()}")
    assert set(use["with"]) <= set(action["inputs"])
    (upload,) = (step for step in job["steps"] if "upload-sarif@" in step["uses"])
    output = re.findall(r"steps\.irlint\.outputs\.(\w+)", upload["with"]["sarif_file"] + upload["if"])
    assert set(output) <= set(action["outputs"])


@pytest.mark.parametrize(
    ("file", "inputs", "status"),
    [
        (GOOD, {}, 0),
        (BAD, {}, 1),
        (BAD, {"fail_on": "never"}, 0),
        (WARNING, {"fail_on": "warning"}, 1),
        (BAD, {"args": "--ignore\nIRL201\n"}, 0),
        (BAD, {"format": "text"}, 1),
        (BAD, {"format": "nonsense"}, 2),
        (BAD, {"paths": "missing"}, 2),
    ],
)
def test_status(file: Path, inputs: dict[str, str], status: int, tmp_path: Path) -> None:
    shutil.copy(file, tmp_path / "model.onnx")
    result, _ = checked(tmp_path, **inputs)
    assert result.returncode == status, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("fix", "status", "changed"),
    [("true", 0, True), ("diff", 1, False), ("false", 1, False), ("", 1, False), ("yes", 2, False)],
)
def test_models_are_fixed_before_the_check(fix: str, status: int, changed: bool, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    shutil.copy(WARNING, path)
    result, _ = checked(tmp_path, paths="model.onnx", fix=fix, fail_on="warning")
    assert (result.returncode, path.read_bytes() != WARNING.read_bytes()) == (status, changed)


def test_what_would_be_fixed_fails_the_step(tmp_path: Path) -> None:
    shutil.copy(WARNING, tmp_path / "model.onnx")
    assert checked(tmp_path, fix="diff", fail_on="never")[0].returncode == 1
    shutil.copy(BAD, tmp_path / "model.onnx")
    assert checked(tmp_path, fix="diff", fail_on="never")[0].returncode == 0


def test_report_and_summary(tmp_path: Path) -> None:
    folder = tmp_path / 'a b; echo "$(id)" #'
    folder.mkdir()
    shutil.copy(BAD, folder / "model.onnx")
    shutil.copy(GOOD, tmp_path / "-good.onnx")
    result, outputs = checked(tmp_path, paths=f"{folder.name}\n-good.onnx\n", output_sarif="out.sarif")
    assert result.returncode == 1
    assert outputs == {"sarif": "out.sarif"}
    (run,) = json.loads((tmp_path / "out.sarif").read_text("utf-8"))["runs"]
    assert [each["ruleId"] for each in run["results"]] == ["IRL201"]
    assert "IRL201" in (tmp_path / "summary.md").read_text("utf-8")
    assert "::error" in result.stdout


def test_a_report_of_an_earlier_run_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    (tmp_path / "out.sarif").write_text("{}")
    result, outputs = checked(tmp_path, paths="missing", output_sarif="out.sarif")
    assert result.returncode == 2
    assert outputs == {}


def test_only_what_a_pull_request_changes(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    shutil.copy(BAD, tmp_path / "old.onnx")
    who = ["-c", "user.name=irlint", "-c", "user.email=irlint@example.org"]
    for arguments in (["init", "-q"], ["add", "-A"], [*who, "commit", "-qm", "old"]):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    shutil.copy(GOOD, tmp_path / "new.onnx")
    assert checked(tmp_path, changed_since="HEAD")[0].returncode == 0
    assert checked(tmp_path)[0].returncode == 1
