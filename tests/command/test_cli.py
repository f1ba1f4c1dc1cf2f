"""The command as a shell calls it: output, exit status, and never a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from command.process import BAD, FIXTURES, GOOD, IR, WARNING, run, words

import irlint
from irlint.command.options import CHECK, SECTIONS


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ((GOOD,), 0),
        (("check", GOOD), 0),
        ((BAD,), 1),
        ((IR,), 1),
        ((WARNING,), 0),
        ((WARNING, "--fail-on", "warning"), 1),
        ((BAD, "--fail-on", "never"), 0),
        ((BAD, "--ignore", "IRL201"), 0),
        ((BAD, "--ignore", "IRL2"), 0),
        ((BAD, "--ignore", "broadcast-mismatch"), 0),
        ((BAD, "--select", "IRL3,IRL4"), 0),
        ((BAD, "--select", "IRL3", "--extend-select", "IRL201"), 1),
        ((BAD, "--severity", "IRL201=note"), 0),
        ((FIXTURES / "onnx" / "good", FIXTURES / "openvino" / "good"), 0),
        ((FIXTURES / "openvino",), 1),
        ((), 2),
        (("missing.onnx",), 2),
        ((BAD, "--select", "IRL999"), 2),
        ((BAD, "--severity", "IRL201=bad"), 2),
        ((BAD, "--shape", "nonsense"), 2),
        ((BAD, "--shape", "nosuch=1,2"), 2),
        ((BAD, "--format", "nonsense"), 2),
        ((BAD, "--no-such-option"), 2),
        (("explain", "IRL201"), 0),
        (("explain", "broadcast-mismatch"), 0),
        (("explain", "IRL999"), 2),
        (("rules",), 0),
        (("shapes", GOOD), 0),
        (("shapes", "missing.onnx"), 2),
        (("shapes", FIXTURES / "onnx" / "bad" / "IRL003-truncated-file.onnx"), 2),
        (("contract", GOOD), 0),
        (("contract", GOOD, "--format", "json"), 0),
        (("contract", GOOD, "--as", "torch"), 0),
        (("contract", GOOD, "--as", "openvino", "--assume", "K <= 3"), 2),
        (("contract", GOOD, "--as", "torch", "--format", "json"), 2),
        (("contract", GOOD, "--as", "tensorflow"), 2),
        (("contract", GOOD, "--assume", "K <= 3"), 2),
        (("contract", IR, "--as", "trtexec"), 2),
        (("contract", IR, "--as", "openvino"), 0),
        (("contract", "missing.onnx", "--as", "torch"), 2),
        (("--help",), 0),
        (("--version",), 0),
    ],
)
def test_status(arguments: tuple[object, ...], status: int) -> None:
    assert run(*arguments).returncode == status
    if arguments and isinstance(arguments[0], Path) and arguments[0].is_file() and "--format" not in arguments:
        for form in ("concise", "json"):
            assert run(*arguments, "--format", form).returncode == status


def test_every_missing_path_is_named() -> None:
    result = run("one.onnx", GOOD, "two.xml")
    assert result.returncode == 2
    assert "one.onnx" in result.stderr
    assert "two.xml" in result.stderr
    assert result.stdout == ""


def test_unknown_rule_suggests_one() -> None:
    assert "broadcast-mismatch" in run(BAD, "--ignore", "brodcast-mismatch").stderr


def test_nothing_to_check(tmp_path: Path) -> None:
    (tmp_path / "pom.xml").write_text("<project/>")
    assert run(tmp_path).returncode == 2
    assert run(tmp_path, "--allow-empty").returncode == 0
    (file,) = json.loads(run(tmp_path / "pom.xml", "--allow-empty", "--format", "json").stdout)["files"]
    assert file["status"] == "skipped"
    assert file["reason"]


def test_exclude(tmp_path: Path) -> None:
    shutil.copy(BAD, tmp_path / "bad.onnx")
    shutil.copy(GOOD, tmp_path / "good.onnx")
    assert run(tmp_path, "--exclude", "bad.onnx").returncode == 0
    assert run(tmp_path / "bad.onnx", "--exclude", "bad.onnx").returncode == 1
    assert run(tmp_path / "bad.onnx", "--exclude", "*.onnx", "--force-exclude", "--allow-empty").returncode == 0


def test_standard_input() -> None:
    result = run("-", "--stdin-filename", "models/x.onnx", "--format", "json", data=BAD.read_bytes())
    (finding,) = json.loads(result.stdout)["findings"]
    assert result.returncode == 1
    assert finding["path"] == "models/x.onnx"
    assert run("-", data=BAD.read_bytes()).returncode == 2


def test_json_is_the_public_interface() -> None:
    report = json.loads(run(BAD, IR, "--format", "json").stdout)
    assert list(report) == ["schema", "version", "files", "findings", "summary"]
    assert report["schema"] == "irlint-report-1"
    assert list(report["files"][0]) == ["path", "format", "format_version", "nodes", "status"]
    keys = "path code rule severity message help graph node op op_version value input line column related fingerprint"
    further = "because target index axis operands end_line end_column"
    for finding in report["findings"]:
        named = list(finding)
        assert named[: len(keys.split())] == keys.split()
        assert set(named[len(keys.split()) :]) <= set(further.split())
        assert all(
            list(operand)[:5] == ["input", "name", "dtype", "shape", "producer"]
            for operand in finding.get("operands", ())
        )
    assert any(operand.get("axes") for finding in report["findings"] for operand in finding.get("operands", ()))
    by_code = {finding["code"]: finding for finding in report["findings"]}
    onnx, openvino = by_code["IRL201"], by_code["IRL204"]
    assert onnx["message"] == "axis 1 is 64 against 32: input 0 is [1, 64, 56, 56] and input 1 is [32, 1, 1]"
    assert (onnx["node"], onnx["op"], onnx["op_version"], onnx["input"], onnx["line"]) == ("y", "Add", "17", 1, None)
    assert (openvino["node"], openvino["op"], openvino["op_version"]) == ("add", "Add", "opset1")
    text = IR.read_text().splitlines()
    assert text[openvino["line"] - 1][openvino["column"] - 1 :].startswith('<layer id="2"')
    assert report["summary"] == {"files": 2, "errors": 2, "warnings": 0, "notes": 0}


def test_files_stand_in_the_order_of_their_paths() -> None:
    first = run("openvino", "--format", "json", cwd=FIXTURES).stdout
    paths = [file["path"] for file in json.loads(first)["files"]]
    assert paths == sorted(paths)
    assert len(json.loads(first)["findings"]) > 30


def test_one_file_given_twice_is_checked_once(tmp_path: Path) -> None:
    shutil.copy(BAD, tmp_path / "m.onnx")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    result = run(tmp_path, tmp_path / "m.onnx", tmp_path / "loop", "--format", "json")
    assert len(json.loads(result.stdout)["files"]) == 1


def test_output_files(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    result = run(
        BAD, "--format", "concise", "--output", f"json={target}", "--output", f"text={tmp_path / 'report.txt'}"
    )
    assert result.returncode == 1
    assert json.loads(target.read_text())["summary"]["errors"] == 1
    assert "IRL201" in (tmp_path / "report.txt").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "report.txt"]
    assert run(BAD, "--output", "nonsense").returncode == 2


def test_folders_of_output_files_are_made(tmp_path: Path) -> None:
    assert run(BAD, "--output", f"json={tmp_path}/new/folder/x").returncode == 1
    assert json.loads((tmp_path / "new" / "folder" / "x").read_text())["summary"]["errors"] == 1
    (tmp_path / "file").write_text("")
    for file, reason in {"file/x.json": "file is no folder", "new": "it is a folder"}.items():
        result = run(BAD, "--output", f"json={tmp_path}/{file}")
        assert (result.returncode, result.stdout) == (2, "")
        assert f"{reason}\nNothing was linted.\n" in result.stderr


def test_the_name_of_an_output_file_states_its_form(tmp_path: Path) -> None:
    names = {"a.sarif": '"$schema"', "b.sarif.json": '"$schema"', "c.json": "irlint-report-1", "d.txt": "error[IRL201]"}
    names |= {"e.xml": "<testsuites", "gl-code-quality-report.json": "check_name"}
    assert run(BAD, *(f"--output={name}" for name in names), cwd=tmp_path).returncode == 1
    for name, part in names.items():
        assert part in (tmp_path / name).read_text()
    for name in ("x", "x.onnx", "sarfi=x.sarif", "a=b.json", "json="):
        result = run(BAD, "--output", name, cwd=tmp_path)
        assert (result.returncode, result.stdout, "FORMAT=FILE" in result.stderr) == (2, "", True)


def test_what_lies_beside_models_is_passed_over(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "good.onnx")
    shutil.copy(GOOD, tmp_path / "model.dat")
    shutil.copy(GOOD, tmp_path / "odd.json")
    shutil.copy(IR, tmp_path / "ir.xml")
    non_models = ("README.md", "config.json", "LICENSE", "lone.bin", "good.onnx.data", "good.onnx_data_1", "pom.xml")
    for name in (*non_models, "ir.bin"):
        (tmp_path / name).write_text("<project/>")
    result = run(*sorted(path.name for path in tmp_path.iterdir()), "--format", "concise", cwd=tmp_path)
    assert result.stdout.splitlines()[-2:] == [
        "Found 1 error in 1 of 4 models.",
        "Checked 3 ONNX and 1 IR models; 7 are not models.",
    ]
    assert run("ir.bin", "--show-files", cwd=tmp_path).stdout == "ir.xml\n"
    alone = run("README.md", "lone.bin", cwd=tmp_path)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "nothing to check (2 are not models)\n" in alone.stderr
    assert "lone.bin: weights without a model: there is no lone.xml beside them" in alone.stderr
    (tmp_path / "model.pt").write_bytes(b"\x80\x02}")
    assert run("model.pt", "good.onnx", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("chek", GOOD), "`irlint check`"),
        (("shape", GOOD), "`irlint shapes`"),
        (("explian", "IRL201"), "`irlint explain`"),
        (("hepl",), "`irlint help`"),
    ],
)
def test_a_command_that_is_misspelt(arguments: tuple[object, ...], meant: str, tmp_path: Path) -> None:
    result = run(*arguments, cwd=tmp_path)
    assert (result.returncode, f"help: did you mean {meant}?" in result.stderr) == (2, True)
    (tmp_path / str(arguments[0])).mkdir()
    assert "did you mean" not in run(arguments[0], cwd=tmp_path).stderr


def test_no_command_is_guessed_for_a_path() -> None:
    for arguments in (("check", "chek"), ("chek.onnx",), ("models/chek",), ("zzz",)):
        assert "did you mean" not in run(*arguments).stderr


def test_explain_lists_a_family() -> None:
    text = run("explain", "irl2").stdout
    assert text.startswith("IRL2: broadcasting (")
    assert "IRL201  error    broadcast-mismatch" in text
    assert "IRL3" not in text
    assert run("explain", "IRL99x").returncode == 2


def test_rules_as_json() -> None:
    document = json.loads(run("rules", "--format", "json").stdout)
    assert document["schema"] == "irlint-rules-1"
    (rule,) = (each for each in document["rules"] if each["name"] == "broadcast-mismatch")
    assert (rule["code"], rule["severity"], rule["family"]) == ("IRL201", "error", "broadcasting")
    assert all(rule[key] for key in ("summary", "why", "mend", "bad", "good"))


def test_help_has_every_option_in_its_section() -> None:
    text = run("check", "--help").stdout
    assert [line[:-1] for line in text.splitlines() if line.endswith(":") and line[0] != " "] == [*SECTIONS, "Help"]
    assert all(f"{option.flag} " in text.replace("\n", " ") for option in CHECK)
    assert all(option.section in SECTIONS for option in CHECK)


def test_what_excludes_everything_is_reported(tmp_path: Path) -> None:
    shutil.copy(GOOD, tmp_path / "m.onnx")
    (tmp_path / ".git").mkdir()
    for arguments, line in {("--exclude", "*.onnx"): "--exclude *.onnx excludes 1 model"}.items():
        assert f"   = {line}\n" in run(".", *arguments, cwd=tmp_path).stderr
    (tmp_path / "pyproject.toml").write_text('[tool.irlint]\nexclude = [\n  "old",\n  "m*",\n]\n')
    text = 'pyproject.toml:4: exclude "m*" excludes 1 model'
    for arguments in ((".",), (".", "--show-files"), ("m.onnx", "--force-exclude")):
        result = run(*arguments, cwd=tmp_path)
        assert (result.returncode, f"   = {text}\n" in result.stderr) == (2, True)


def test_concise_is_one_line_for_each_finding() -> None:
    lines = run(BAD, IR, "--format", "concise").stdout.splitlines()
    assert lines[0].startswith(f"{BAD.as_posix()}: error[IRL201] Add: axis 1 is 64 ")
    assert lines[1].startswith(f"{IR.as_posix()}:5:1: error[IRL204] Add: ")


def test_what_if(tmp_path: Path) -> None:
    model = FIXTURES / "onnx" / "good" / "small-detector.onnx"
    assert run(model, "--shape", "images=1,3,64,64").returncode == 0
    assert run(model, "--shape", "images=1,3,65,65").returncode == 1
    listed = json.loads(run("shapes", model, "--shape", "images=B,3,64,W", "--format", "json").stdout)
    (images,) = [value for value in listed["values"] if value["name"] == "images"]
    assert images["shape"] == ["B", 3, 64, "W"]
    assert listed["values"][-1]["shape"][:3] == ["B", 8, 32]


@pytest.mark.parametrize(
    ("encoding", "form", "every"),
    [("ascii", "text", 2), ("ascii", "concise", 8), ("ascii", "json", 8), ("cp1252", "text", 8), ("utf-8", "text", 8)],
)
def test_any_standard_output(encoding: str, form: str, every: int) -> None:
    models = sorted(FIXTURES.glob("*/bad/*.onnx")) + sorted(FIXTURES.glob("*/bad/*.xml"))
    assert run(*models[::every], "--format", form, PYTHONIOENCODING=encoding).returncode == 1


def test_closed_pipe() -> None:
    result = subprocess.run(
        f"{words()} {FIXTURES / 'openvino'} | head -n 1", shell=True, capture_output=True, text=True, check=False
    )
    assert (result.stderr, result.stdout.count("\n")) == ("", 1)


def test_from_python() -> None:
    report = irlint.check(GOOD, shapes={"x": (1, 32, 56, 56)})
    names = ["given-shape-not-as-declared", "broadcast-mismatch"]
    assert [finding.rule.name for finding in report.findings] == names
    assert irlint.check([GOOD, str(BAD)]).as_dict()["summary"]["errors"] == 1
    with pytest.raises(FileNotFoundError, match=r"gone\.onnx"):
        irlint.check("gone.onnx")
    with pytest.raises(ValueError, match="nosuch"):
        irlint.check(GOOD, shapes={"nosuch": (1,)})
    assert irlint.shapes(GOOD)["outputs"] == ["y"]
