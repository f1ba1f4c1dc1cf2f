"""Configurations beside models in all that a check is used with: hooks, git, caches, journals, stores and forms."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
from command.process import run
from make.fixtures import files

from irlint.reporters.forms import FORMS

ROOT = Path(__file__).resolve().parents[2]

HEADER = '<ir_version: 8, opset_import: ["" : 17]>\n'
DOUBLE = f"{HEADER}g (float[batch,3] x) => (float[batch,3] y) {{ y = Add (x, x) }}"
CLASSES = (
    HEADER + "g (int64[batch,seq] input_ids) => (float[batch,3] logits) <float[9,3] table = {ONES}> "
    "{ rows = Gather (table, input_ids) logits = ReduceMean <axes = [1], keepdims = 0> (rows) }"
).replace("ONES", ",".join("1" * 27))


@dataclass(frozen=True)
class Kind:
    """A folder with a fault: its files, the configuration and the model in it, where the fault stands, and what changes
    it to a sound one."""

    name: str
    files: Mapping[str, bytes]
    path: str
    model: str
    code: str
    line: int
    fix: tuple[str, str]


KINDS = (
    Kind(
        "triton",
        files(f"""-- net/config.pbtxt --
backend: "onnxruntime"
max_batch_size: 8
output {{ name: "y" data_type: TYPE_FP32 dims: [ 4 ] }}
-- net/1/model.onnx --
{DOUBLE}"""),
        "net/config.pbtxt",
        "net/1/model.onnx",
        "IRL626",
        3,
        ("[ 4 ]", "[ 3 ]"),
    ),
    Kind(
        "huggingface",
        files(f"""-- net/config.json --
{{
  "model_type": "bert", "architectures": ["BertForSequenceClassification"],
  "id2label": {{"0": "a", "1": "b"}}
}}
-- net/onnx/model.onnx --
{CLASSES}"""),
        "net/config.json",
        "net/onnx/model.onnx",
        "IRL626",
        3,
        ('"1": "b"', '"1": "b", "2": "c"'),
    ),
)

each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def written(root: Path, kind: Kind) -> None:
    for path, data in kind.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)


def fixed(root: Path, kind: Kind) -> None:
    path = root / kind.path
    old, new = kind.fix
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def touched(path: Path) -> None:
    """Changes a model that stays as it computes."""
    model = onnx.load(path)
    model.doc_string += "changed"
    onnx.save(model, path)


def codes(root: Path, *arguments: object) -> list[str]:
    """The codes of a check that is run in a folder."""
    result = run("check", "--format", "json", "--allow-empty", "--no-progress", *arguments, cwd=root)
    return [each["code"] for each in json.loads(result.stdout)["findings"]]


def git(root: Path, *arguments: str) -> None:
    person = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True)


@each_kind
def test_named_and_in_a_folder(kind: Kind, tmp_path: Path) -> None:
    written(tmp_path, kind)
    for named in (kind.path, "net", "."):
        assert codes(tmp_path, named) == [kind.code]
    assert codes(tmp_path, kind.model) == []
    result = json.loads(run("check", "--format", "json", kind.path, cwd=tmp_path).stdout)
    assert [(each["format"], each["kind"]) for each in result["files"]] == [(None, kind.name)]
    assert result["findings"][0]["line"] == kind.line


@each_kind
@pytest.mark.parametrize("form", [name for name in FORMS if name != "text"])
def test_every_form_has_the_finding(kind: Kind, form: str, tmp_path: Path) -> None:
    written(tmp_path, kind)
    result = run("check", "--format", form, "--no-progress", ".", cwd=tmp_path, GITHUB_STEP_SUMMARY="")
    assert result.returncode == 1, result.stderr
    assert kind.code in result.stdout
    assert kind.path in result.stdout
    lines = {
        "concise": f"{kind.path}:{kind.line}:",
        "markdown": f"{kind.path}:{kind.line}:",
        "github": f"file={kind.path},line={kind.line},",
        "json": f'"line": {kind.line},',
        "jsonl": f'"line":{kind.line},',
        "sarif": f'"startLine": {kind.line}',
        "gitlab": f'"begin": {kind.line}',
        "html": "config",
    }
    assert lines.get(form, f"{kind.path}:{kind.line}:") in result.stdout, result.stdout


@each_kind
def test_switched_off(kind: Kind, tmp_path: Path) -> None:
    written(tmp_path, kind)
    (tmp_path / "irlint.toml").write_text("folders = false\n")
    assert codes(tmp_path, ".") == []
    assert codes(tmp_path, kind.path) == [kind.code]
    assert codes(tmp_path, "--folders", ".") == [kind.code]
    (tmp_path / "irlint.toml").write_text('exclude = ["net/config*"]\n')
    assert codes(tmp_path, ".") == []


@each_kind
@pytest.mark.parametrize("top", [".", "net"], ids=["below the root", "at the root"])
def test_changed_since(kind: Kind, top: str, tmp_path: Path) -> None:
    written(tmp_path, kind)
    root = tmp_path / top
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "before")
    since = ("--changed-since", "HEAD", ".")
    assert codes(root, *since) == []
    touched(tmp_path / kind.model)
    assert codes(root, *since) == [kind.code]
    git(root, "checkout", "-q", ".")
    path = tmp_path / kind.path
    path.write_text(f"{path.read_text()}\n")
    assert codes(root, *since) == [kind.code]


def renamed(path: Path) -> None:
    """Gives the output of a model another name."""
    model = onnx.load(path)
    name = f"{model.graph.output[0].name}_2"
    model.graph.output[0].name = model.graph.node[-1].output[0] = name
    onnx.save(model, path)


@each_kind
@pytest.mark.parametrize("option", [("--cache", "kept"), ("--resume", "run.jsonl")], ids=["cache", "journal"])
def test_what_is_kept(kind: Kind, option: tuple[str, str], tmp_path: Path) -> None:
    def summary() -> str:
        result = run("check", *option, "--no-progress", "net", cwd=tmp_path)
        if option[0] == "--resume":
            result = run("summary", option[1], cwd=tmp_path)
        return result.stdout

    written(tmp_path, kind)
    first = summary()
    assert kind.code in first
    assert summary() == first
    fixed(tmp_path, kind)
    assert "No findings" in summary()
    written(tmp_path, kind)
    assert kind.code in summary()
    renamed(tmp_path / kind.model)
    assert kind.code not in summary()


@each_kind
def test_standard_input(kind: Kind, tmp_path: Path) -> None:
    written(tmp_path, kind)
    text = (tmp_path / kind.path).read_bytes()
    (tmp_path / kind.path).unlink()
    result = run("check", "--stdin-filename", kind.path, "--format", "json", "-", cwd=tmp_path, data=text)
    assert [each["code"] for each in json.loads(result.stdout)["findings"]] == [kind.code]


@each_kind
def test_a_store(kind: Kind) -> None:
    from fsspec import filesystem

    from irlint.run.files import Settings, checked

    memory = filesystem("memory")
    for path, data in kind.files.items():
        memory.pipe_file(f"/use/{path}", data)
    report = checked([f"memory://use/{kind.path}"], settings=Settings({}))
    assert [each.status for each in report.files] == ["checked"]
    assert [each.rule.code for each in report.findings] == [kind.code]


@each_kind
def test_the_patterns_of_hooks(kind: Kind) -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    patterns = re.findall(r"^  files: (.*)$", text, re.M)
    assert [bool(re.search(pattern, kind.path)) for pattern in patterns] == [True, True, False]
    assert not any(re.search(pattern, kind.path.replace("config", "settings")) for pattern in patterns)


@each_kind
def test_the_hooks_name_files(kind: Kind, tmp_path: Path) -> None:
    """What pre-commit runs: the entry of the hook with the names of the files."""
    written(tmp_path, kind)
    arguments = ("check", "--force-exclude", "--allow-empty", "--no-progress", "--", kind.path)
    assert run(*arguments, cwd=tmp_path).returncode == 1
    fixed(tmp_path, kind)
    assert run(*arguments, cwd=tmp_path).returncode == 0


@each_kind
def test_the_action(kind: Kind, tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    from test_github_action import checked

    written(tmp_path, kind)
    result, outputs = checked(tmp_path, paths="net", output_sarif="out.sarif")
    assert result.returncode == 1
    assert f"::error file={kind.path},line={kind.line}," in result.stdout
    found = json.loads((tmp_path / outputs["sarif"]).read_text())["runs"][0]["results"]
    assert [each["ruleId"] for each in found] == [kind.code]
