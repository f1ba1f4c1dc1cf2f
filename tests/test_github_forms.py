"""The workflows, the issue forms and the project's metadata agree with each other."""

from __future__ import annotations

import re
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
GITHUB = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted((GITHUB / "workflows").glob("*.yml"))
}
JOBS = {(name, job): spec for name, workflow in WORKFLOWS.items() for job, spec in workflow["jobs"].items()}
FORMS = sorted(GITHUB.glob("ISSUE_TEMPLATE/[0-9]*.yml"))

#: What a job may do that no other may.
PRIVILEGES = {
    ("release", "publish"): {"id-token": "write"},
    ("release", "announce"): {"contents": "write"},
    ("site", "site"): {"contents": "read", "pages": "write", "id-token": "write"},
    ("example", "irlint"): {"contents": "read", "security-events": "write"},
}


def steps(job: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = job.get("steps", [])
    return found


@pytest.mark.parametrize("key", JOBS, ids="/".join)
def test_job_may_do_little_and_ends(key: tuple[str, str]) -> None:
    assert WORKFLOWS[key[0]]["permissions"] == {"contents": "read"}
    assert JOBS[key].get("permissions") == PRIVILEGES.get(key)
    assert "uses" in JOBS[key] or JOBS[key]["timeout-minutes"] <= 60


@pytest.mark.parametrize("key", JOBS, ids="/".join)
def test_steps_name_a_major_version_and_put_no_expression_of_others_into_a_script(key: tuple[str, str]) -> None:
    for step in steps(JOBS[key]):
        assert re.search(r"^\./|@v\d+$|@release/v\d+$|@v\d+\.\d+\.\d+$|@COMMIT$", step.get("uses", "./"))
        assert all(found.startswith("matrix.") for found in re.findall(r"\$\{\{ *(.*?) *\}\}", step.get("run", "")))
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] is False


def test_one_job_gathers_all() -> None:
    jobs = WORKFLOWS["ci"]["jobs"]
    assert set(jobs["all"]["needs"]) == set(jobs) - {"all"}


def test_pythons_are_those_of_the_classifiers() -> None:
    versions = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    matrix = WORKFLOWS["ci"]["jobs"]["checkout"]["strategy"]["matrix"]
    run = {*product(matrix["os"], matrix["python"]), *((each["os"], each["python"]) for each in matrix["include"])}
    assert run >= set(product(matrix["os"], versions))
    assert {python for _, python in run} == set(versions)
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert WORKFLOWS["ci"]["jobs"]["wheel"]["strategy"]["matrix"]["python"] == [versions[0], versions[-1]]


def test_systems_are_those_of_the_classifiers() -> None:
    versions = {
        name.rpartition(" ")[2].lower() for name in PROJECT["classifiers"] if name.startswith("Operating System")
    }
    matrix = WORKFLOWS["ci"]["jobs"]["checkout"]["strategy"]["matrix"]
    names = {"ubuntu-latest": "linux", "windows-latest": "windows", "macos-latest": "macos"}
    assert {names[each] for each in matrix["os"]} == versions


def test_extras_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    matrix = WORKFLOWS["ci"]["jobs"]["checkout"]["strategy"]["matrix"]
    named = {*matrix["extra"], *(each["extra"] for each in matrix["include"])}
    for job in JOBS.values():
        for step in steps(job):
            named |= set(re.findall(r"install .*\[([a-z-]+)\]", step.get("run", "")))
    for requirements in extras.values():
        named |= {
            name for each in requirements for names in re.findall(r"irlint\[(.+)\]", each) for name in names.split(",")
        }
    assert named <= set(extras)
    assert {"test-core", "lint"} <= named


def test_oldest_versions_are_those_that_are_required() -> None:
    (command,) = (
        step["run"] for step in steps(WORKFLOWS["ci"]["jobs"]["oldest"]) if "pip install" in step.get("run", "")
    )
    pinned = dict(re.findall(r"(\w+)==([\d.]+)", command))
    required = dict(re.findall(r"^(\w+)>=([\d.]+)", "\n".join(PROJECT["dependencies"]), re.M))
    assert set(pinned) == set(required)
    assert all(f"{version}.0".startswith(f"{required[name]}.") for name, version in pinned.items())


def test_release_publishes_what_ci_tested() -> None:
    jobs = WORKFLOWS["release"]["jobs"]
    assert jobs["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert (jobs["ci"]["needs"], jobs["publish"]["needs"], jobs["announce"]["needs"]) == ("notes", "ci", "publish")
    assert not any("build" in step.get("run", "") for job in jobs.values() for step in steps(job))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_form_asks_what_a_case_needs(path: Path) -> None:
    form = yaml.safe_load(path.read_text("utf-8"))
    fields = {each["id"]: each for each in form["body"] if "id" in each}
    assert list(fields)[:2] == ["version", "format"]
    assert set(fields) == {"version", "format", "finding", "runtime", "model", "origin"}
    assert [name for name, each in fields.items() if not each.get("validations", {}).get("required")] == ["origin"]
    assert fields["format"]["attributes"]["options"] == ["ONNX", "OpenVINO IR"]
    assert "cut" in fields["model"]["attributes"]["description"]


@pytest.mark.oracle
@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_form_shows_how_to_cut_a_model_down(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import onnx.parser

    form = yaml.safe_load(path.read_text("utf-8"))
    (text,) = (each["attributes"]["description"] for each in form["body"] if each.get("id") == "model")
    commands = re.findall(r"python -c '(.*)'", text)
    assert len(commands) == 2
    monkeypatch.chdir(tmp_path)
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) '
        "{ a = Relu (x) b = Sigmoid (a) c = Tanh (b) y = Neg (c) }"
    )
    onnx.save(model, "model.onnx")
    for command in commands:
        exec(command.replace("INPUT", "a").replace("OUTPUT", "c"), {})
    assert re.findall(r"= (\w+) \(", capsys.readouterr().out) == ["Sigmoid", "Tanh"]
