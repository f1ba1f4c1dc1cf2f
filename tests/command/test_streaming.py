"""Findings that are written as they come: the lines, runs that go on where they were cut off, and counts over them."""

from __future__ import annotations

import json
import os
import shutil
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest
from command.process import BAD, FIXTURES, GOOD, WARNING, run

from irlint.command import streaming
from irlint.command.options import DEFAULTS
from irlint.findings.report import CheckedFile
from irlint.run.files import Outcome
from irlint.run.search import Excluded

POINTER = FIXTURES / "onnx" / "bad" / "IRL002-lfs-pointer.onnx"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """Sound and broken models, one that cannot be read, and no model."""
    folder = tmp_path / "models"
    folder.mkdir()
    for number, file in enumerate((GOOD, BAD, WARNING, POINTER, BAD, GOOD)):
        shutil.copy(file, folder / f"{number}.onnx")
    (folder / "pom.xml").write_text("<project/>")
    written = onnx.load(BAD)
    written.producer_name, written.producer_version = "pytorch", "2.9"
    onnx.save(written, folder / "9.onnx")
    return tmp_path


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_lines_are_the_report(models: Path) -> None:
    result = run("models", "--format", "jsonl", cwd=models)
    entries = lines(result.stdout)
    report = json.loads(run("models", "--format", "json", cwd=models).stdout)
    assert (result.returncode, result.stderr) == (1, "")
    assert [entry["kind"] for entry in entries[:3]] == ["run", "file", "finding"]
    assert [{k: v for k, v in each.items() if k != "kind"} for each in entries if each["kind"] == "finding"] == report[
        "findings"
    ]
    files = [each for each in entries if each["kind"] == "file"]
    assert [{name: each[name] for name in report["files"][at]} for at, each in enumerate(files)] == report["files"]
    assert all(each["size"] == os.stat(models / each["path"]).st_size for each in files)
    assert [each["producer"] for each in files if "producer" in each] == ["pytorch 2.9"]
    assert entries[-1] == {"kind": "summary", **report["summary"]}
    assert run("models", "--format", "jsonl", "--jobs", "3", cwd=models).stdout == result.stdout


def test_a_file_of_lines_beside_another_report(models: Path) -> None:
    result = run("models", "--output", "run.jsonl", "--format", "concise", cwd=models)
    assert "Found 4 errors" in result.stdout
    entries = lines((models / "run.jsonl").read_text())
    assert [each["kind"] for each in entries].count("file") == 8
    assert entries[-1]["errors"] == 4
    assert "Found 4 errors, 1 warning in 5 of 7 models." in run("summary", "run.jsonl", cwd=models).stdout


def test_nothing_is_written_where_there_is_nothing_to_check(tmp_path: Path) -> None:
    assert (run(tmp_path, "--format", "jsonl").returncode, run(tmp_path, "--format", "jsonl").stdout) == (2, "")
    (tmp_path / "pom.xml").write_text("<project/>")
    result = run(tmp_path, "--format", "jsonl")
    assert (result.returncode, "pom.xml: its root element is not <net>" in result.stderr) == (2, True)
    assert run(tmp_path, "--format", "jsonl", "--allow-empty").returncode == 0


def test_a_run_that_was_cut_off_goes_on(models: Path) -> None:
    first = run("models", "--resume", "run.jsonl", "--statistics", cwd=models)
    assert (first.returncode, first.stderr) == (1, "")
    assert first.stdout.startswith("Found 4 errors, 1 warning in 5 of 7 models.\n7 models: 6 checked, 1 unreadable")
    whole = (models / "run.jsonl").read_bytes()
    for end in (*range(0, len(whole), 997), len(whole) - 1):
        (models / "run.jsonl").write_bytes(whole[:end])
        if end and b"\n" not in whole[:end]:
            continue
        again = run("models", "--resume", "run.jsonl", "--statistics", cwd=models)
        assert (again.returncode, again.stdout, again.stderr) == (1, first.stdout, "")
        assert (models / "run.jsonl").read_bytes() == whole


def test_a_run_with_a_journal_says_where_the_findings_are(models: Path) -> None:
    plain, other = (run("models", "--resume", "run.jsonl", *form, cwd=models) for form in ((), ("--format", "json")))
    assert (plain.stderr, other.stdout) == ("", plain.stdout)
    assert other.stderr == (
        "irlint: note: with --resume, irlint prints only a summary in text; run.jsonl has the findings, in JSON Lines\n"
    )


def test_only_what_is_new_is_checked_again(models: Path) -> None:
    arguments = ("models", "--resume", "run.jsonl", "-v")
    assert len(checked := run(*arguments, cwd=models).stderr.splitlines()) == 8, checked
    assert run(*arguments, cwd=models).stderr == ""
    shutil.copy(GOOD, models / "models" / "1.onnx")
    (models / "models" / "2.onnx").unlink()
    shutil.copy(BAD, models / "models" / "new.onnx")
    result = run(*arguments, cwd=models)
    assert [line.split(":")[1] for line in result.stderr.splitlines()] == [" models/1.onnx", " models/new.onnx"]
    assert "Found 4 errors in 4 of 7 models." in result.stdout
    files = [each["path"] for each in lines((models / "run.jsonl").read_text()) if each["kind"] == "file"]
    assert sorted(files) == sorted(f"models/{path.name}" for path in (models / "models").iterdir())


def test_a_journal_of_another_run_is_left_alone(models: Path) -> None:
    run("models", "--resume", "run.jsonl", cwd=models)
    before = (models / "run.jsonl").read_bytes()
    for arguments, entries in (
        (("models/0.onnx",), "records a run with other paths"),
        (("models", "--ignore", "IRL2"), "records a run with other options"),
        (("models", "--output", "x.sarif"), "--resume collects no report for --output"),
    ):
        result = run(*arguments, "--resume", "run.jsonl", cwd=models)
        assert (result.returncode, entries in result.stderr) == (2, True), result.stderr
    assert (models / "run.jsonl").read_bytes() == before
    (models / "notes.jsonl").write_text("{}\n")
    assert "is no journal of a check" in run("models", "--resume", "notes.jsonl", cwd=models).stderr
    assert (models / "notes.jsonl").read_text() == "{}\n"


def test_other_paths_join(models: Path) -> None:
    run("models/1.onnx", "models/2.onnx", "--resume", "run.jsonl", cwd=models)
    result = run("models/2.onnx", "models/3.onnx", "models/4.onnx", "--resume", "run.jsonl", "-v", cwd=models)
    assert [line.split(":")[1] for line in result.stderr.splitlines()] == [" models/3.onnx", " models/4.onnx"]
    entries = lines((models / "run.jsonl").read_text())
    assert [each["path"] for each in entries if each["kind"] == "file"] == [f"models/{n}.onnx" for n in (2, 3, 4)]
    assert entries[0]["paths"] == ["models/2.onnx", "models/3.onnx", "models/4.onnx"]


def test_counts_of_a_journal(models: Path) -> None:
    (models / "run.jsonl").write_text(run("models", "--format", "jsonl", cwd=models).stdout)
    entries = json.loads(run("summary", "run.jsonl", "--format", "json", cwd=models).stdout)
    assert entries["summary"]["errors"] == 4
    assert entries["rules"][0] == {"code": "IRL201", "rule": "broadcast-mismatch", "findings": 3}
    assert entries["operators"][0] == {"op": "Add", "findings": 3}
    assert entries["exporters"] == [
        {"producer": "(unknown)", "models": 6, "with_errors": 3, "findings": 4},
        {"producer": "pytorch 2.9", "models": 1, "with_errors": 1, "findings": 1},
    ]
    text = run("summary", "run.jsonl", cwd=models)
    counted = run("models", "--statistics", "--format", "json", cwd=models).stderr
    assert (text.returncode, text.stderr) == (0, "")
    assert text.stdout.endswith(counted)
    page = run("summary", "run.jsonl", "--format", "html", cwd=models).stdout
    assert "<td>IRL201</td>" in page
    assert "<script" not in page


def test_a_journal_that_was_cut_off_says_so(models: Path) -> None:
    whole = run("models", "--format", "jsonl", cwd=models).stdout.splitlines(keepends=True)
    (models / "run.jsonl").write_text("".join(whole[:4]) + whole[4][:20])
    result = run("summary", "run.jsonl", cwd=models)
    assert (result.returncode, "was interrupted" in result.stderr) == (0, True)
    assert "Checked 2 models" in result.stdout
    assert run("summary", "missing.jsonl", cwd=models).returncode == 2
    (models / "run.jsonl").write_text("<html>")
    assert "is no journal of a check" in run("summary", "run.jsonl", cwd=models).stderr


def test_memory_does_not_grow_with_the_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    shutil.copy(BAD, tmp_path / "m.onnx")
    (finding,) = json.loads(run("m.onnx", "--format", "json", cwd=tmp_path).stdout)["findings"]
    assert finding["code"] == "IRL201"
    count = 2_000

    def many(*_: object, **__: object) -> Iterator[Outcome]:
        for number in range(count):
            yield Outcome(CheckedFile(f"{number}.onnx", "onnx", producer="x" * 10_000))

    def peak(number: int) -> int:
        nonlocal count
        count = number
        tracemalloc.start()
        with pytest.raises(SystemExit):
            streaming.check(["."], {**DEFAULTS, "format": "jsonl", "fail_on": "error"}, None, None, Excluded(), None)
        _, found = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        capsysbinary.readouterr()
        return found

    def none(*_: object) -> Iterable[str]:
        return []

    monkeypatch.setattr(streaming, "outcomes", many)
    monkeypatch.setattr(streaming, "discovered", none)
    monkeypatch.setattr(streaming, "emit", lambda *_: None)
    peak(10)
    assert peak(1000) < peak(100) + 50_000
