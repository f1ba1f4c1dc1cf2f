"""The baseline: what it hides, how it is written, and what becomes of entries that are no longer needed."""

from __future__ import annotations

import difflib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from command.process import BAD, FIXTURES, GOOD, IR, WARNING, run

import irlint
from irlint.policy import baseline

MANY = FIXTURES / "onnx" / "bad" / "IRL340-concat-shape-mismatch.onnx"
TRUNCATED = FIXTURES / "onnx" / "bad" / "IRL003-truncated-file.onnx"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository of three models, each with one finding, and a configuration that names a baseline."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "models").mkdir()
    for name, model in {"bad.onnx": BAD, "unsorted.onnx": WARNING, "ir.xml": IR}.items():
        shutil.copy(model, tmp_path / "models" / name)
    (tmp_path / "irlint.toml").write_text('baseline = "known.json"')
    return tmp_path


def known(folder: Path) -> dict[str, Any]:
    findings: dict[str, Any] = json.loads((folder / "known.json").read_text("utf-8"))["findings"]
    return {file: sorted(rules) for file, rules in findings.items()}


def summary(*arguments: object, cwd: Path) -> dict[str, int]:
    document: dict[str, Any] = json.loads(run(*arguments, "--format", "json", cwd=cwd).stdout)
    return document["summary"]  # type: ignore[no-any-return]


ALL = {"models/bad.onnx": ["IRL201"], "models/ir.xml": ["IRL204"], "models/unsorted.onnx": ["IRL104"]}


def test_what_it_knows_is_hidden_and_counted(folder: Path) -> None:
    missing = run(".", cwd=folder)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no such baseline: known.json\n   = help: --update-baseline writes it\nNothing was linted." in missing.stderr
    result = run(".", "--update-baseline", cwd=folder)
    assert result.returncode == 0
    assert result.stdout == "No new findings.\nChecked 2 ONNX and 1 IR models; 3 findings in the baseline.\n"
    assert result.stderr == "irlint: note: wrote known.json: 3 added, 0 kept, 0 removed\n"
    assert known(folder) == ALL
    for form in ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown"):
        again = run(".", "--fail-on", "note", "--format", form, cwd=folder)
        assert (again.returncode, again.stderr) == (0, "")
        assert ("IRL" in again.stdout) == (form == "sarif") == ("suppressions" in again.stdout)
        assert ("3 findings in the baseline" in again.stdout) == (form in ("text", "concise", "github", "markdown"))
    assert summary(".", cwd=folder) == {"files": 3, "errors": 0, "warnings": 0, "notes": 0, "hidden": 3}
    assert run(".", "--isolated", cwd=folder).returncode == 1


def test_paths_are_those_from_the_folder_of_the_baseline(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    assert run(".", cwd=folder / "models").returncode == 0
    assert run(folder / "models" / "bad.onnx", cwd=folder).returncode == 0
    (folder / "ci").mkdir()
    result = run("..", "--update-baseline", "--baseline", "own.json", cwd=folder / "ci")
    assert result.returncode == 0
    assert sorted(json.loads((folder / "ci" / "own.json").read_text())["findings"])[0] == "../models/bad.onnx"
    assert run("models", "--baseline", "ci/own.json", cwd=folder).returncode == 0


def test_a_new_finding_is_reported(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    shutil.copy(MANY, folder / "models" / "new.onnx")
    result = run(".", "--format", "concise", cwd=folder)
    assert result.returncode == 1
    assert result.stdout.startswith("models/new.onnx: error[IRL340]")
    assert "\nFound 1 error in 1 of 4 models.\n" in result.stdout


def test_the_file_is_sorted_and_changes_little(folder: Path) -> None:
    run("models/unsorted.onnx", "--update-baseline", cwd=folder)
    run("models/bad.onnx", "--update-baseline", cwd=folder)
    before = (folder / "known.json").read_text().splitlines()
    result = run("models/ir.xml", "--update-baseline", cwd=folder)
    assert "1 added, 2 kept, 0 removed" in result.stderr
    after = (folder / "known.json").read_text().splitlines()
    assert known(folder) == ALL
    assert list(known(folder)) == sorted(ALL)
    changed = [line[0] for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert changed == ["+"] * 5
    run(".", "--update-baseline", cwd=folder)
    assert (folder / "known.json").read_text().splitlines() == after
    assert sorted(path.name for path in folder.iterdir()) == [".git", "irlint.toml", "known.json", "models"]


def test_stale_entries_are_reported_and_taken_out(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    shutil.copy(GOOD, folder / "models" / "bad.onnx")
    (folder / "models" / "unsorted.onnx").unlink()
    result = run(".", cwd=folder)
    assert result.returncode == 0
    assert result.stderr == (
        "irlint: note: known.json: stale entries: 2 (models/bad.onnx: IRL201; models/unsorted.onnx: IRL104); "
        "--update-baseline removes them\n"
    )
    assert run(".", "-q", cwd=folder).stderr == ""
    assert "0 added, 1 kept, 2 removed" in run(".", "--update-baseline", cwd=folder).stderr
    assert known(folder) == {"models/ir.xml": ["IRL204"]}


LINKS = [
    ("known.json", "../outside.json"),
    ("known.json", "../none.json"),
    ("sub", ".."),
    ("known.json", "/dev/stdout"),
]


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize(("name", "target"), LINKS)
def test_a_configuration_leads_to_no_file_outside_of_its_folder(name: str, target: str, tmp_path: Path) -> None:
    outside = baseline.text({"bad.onnx": {"IRL201": frozenset(["0" * 32])}})
    (tmp_path / "outside.json").write_text(outside)
    folder = tmp_path / "repository"
    folder.mkdir()
    shutil.copy(BAD, folder)
    (folder / name).symlink_to(target)
    file = "sub/outside.json" if name == "sub" else name
    (folder / "irlint.toml").write_text(f'baseline = "{file}"')
    for options in ((), ("--update-baseline",), ("--config", folder / "irlint.toml")):
        result = run(".", *options, cwd=folder)
        assert result.returncode == 2
        assert "`baseline` is outside of the folder of the configuration" in result.stderr
    assert (tmp_path / "outside.json").read_text() == outside
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.json", "repository"]
    with pytest.raises(ValueError, match="is outside of the folder"):
        irlint.check(folder / BAD.name, config=folder / "irlint.toml")
    assert run(".", "--baseline", "../outside.json", "--isolated", cwd=folder).returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_a_baseline_may_be_a_link_below_the_folder(folder: Path) -> None:
    (folder / "state").mkdir()
    (folder / "known.json").symlink_to("state/known.json")
    assert run(".", "--update-baseline", cwd=folder).returncode == 0
    assert (folder / "known.json").is_symlink()
    assert known(folder) == ALL
    moved = folder.parent / "link"
    moved.symlink_to(folder.name)
    assert run(".", cwd=moved).returncode == 0


def test_what_was_not_checked_stays(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    shutil.copy(GOOD, folder / "models" / "bad.onnx")
    for arguments in (
        ("models/ir.xml",),
        (".", "--ignore", "IRL201"),
        (".", "--select", "IRL1,IRL204"),
        (".", "--exclude", "bad.onnx"),
    ):
        assert run(*arguments, cwd=folder).stderr == ""
        assert "0 removed" in run(*arguments, "--update-baseline", cwd=folder).stderr
    shutil.copy(TRUNCATED, folder / "models" / "bad.onnx")
    assert "stale" not in run(".", cwd=folder).stderr
    assert known(folder) == ALL


def test_unreadable_model_can_be_known_and_becomes_stale(folder: Path) -> None:
    shutil.copy(TRUNCATED, folder / "models" / "bad.onnx")
    run(".", "--update-baseline", cwd=folder)
    assert known(folder)["models/bad.onnx"] == ["IRL003"]
    assert run(".", cwd=folder).returncode == 0
    shutil.copy(GOOD, folder / "models" / "bad.onnx")
    assert "models/bad.onnx: IRL003" in run(".", cwd=folder).stderr


def test_no_file_to_write(folder: Path) -> None:
    result = run(".", "--update-baseline", "--isolated", cwd=folder)
    assert (result.returncode, result.stdout) == (2, "")
    assert "--update-baseline needs a file to write" in result.stderr
    assert run(".", "--update-baseline", "--baseline", "no/such/folder.json", cwd=folder).returncode == 2


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"schema": "irlint-baseline-2", "findings": {}}', '{"schema": "irlint-baseline-1"}']
    + [f'{{"schema": "irlint-baseline-1", "findings": {each}}}' for each in ("[]", '{"a": []}', '{"a": {"b": [1]}}')],
)
def test_broken_baseline(text: str, folder: Path) -> None:
    (folder / "known.json").write_text(text)
    for arguments in ((), ("--update-baseline",)):
        result = run(".", *arguments, cwd=folder)
        assert (result.returncode, result.stdout) == (2, "")
        assert "known.json is not a baseline" in result.stderr
    assert (folder / "known.json").read_text() == text


def test_text_can_be_read_again(tmp_path: Path) -> None:
    entries = {"b é.xml": {"IRL201": frozenset("cab")}, "a": {"IRL9": frozenset("z"), "IRL1": frozenset("y")}, "c": {}}
    (tmp_path / "b.json").write_text(baseline.text(entries), "utf-8")
    assert baseline.read(str(tmp_path / "b.json")) == {name: rules for name, rules in entries.items() if rules}


def test_a_renamed_file_keeps_its_entries(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    (folder / "models" / "bad.onnx").rename(folder / "models" / "better.onnx")
    result = run(".", cwd=folder)
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, "No new findings.")
    text = "irlint: note: known.json: models/bad.onnx was renamed to models/better.onnx"
    assert result.stderr == f"{text}; --update-baseline writes the new name\n"
    assert summary(".", cwd=folder)["hidden"] == 3
    updated = run(".", "--update-baseline", cwd=folder)
    assert updated.stderr == f"{text}\nirlint: note: wrote known.json: 0 added, 3 kept, 0 removed\n"
    assert known(folder) == {
        "models/better.onnx": ["IRL201"],
        "models/ir.xml": ["IRL204"],
        "models/unsorted.onnx": ["IRL104"],
    }
    assert run(".", cwd=folder).stderr == ""


def test_what_is_no_renamed_file(folder: Path) -> None:
    run(".", "--update-baseline", cwd=folder)
    shutil.copy(folder / "models" / "bad.onnx", folder / "models" / "copy.onnx")
    assert run(".", cwd=folder).returncode == 1
    (folder / "models" / "copy.onnx").unlink()
    (folder / "models" / "bad.onnx").unlink()
    shutil.copy(MANY, folder / "models" / "other.onnx")
    result = run(".", cwd=folder)
    assert (result.returncode, "is called" in result.stderr) == (1, False)
    shutil.copy(TRUNCATED, folder / "models" / "cut.onnx")
    run(".", "--update-baseline", cwd=folder)
    (folder / "models" / "cut.onnx").rename(folder / "models" / "torn.onnx")
    assert run(".", cwd=folder).returncode == 1
    (folder / "models" / "torn.onnx").rename(folder / "cut.onnx")
    assert run(".", cwd=folder).returncode == 0
