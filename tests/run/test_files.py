"""One run over several paths."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command.process import BAD, FIXTURES

from irlint import parsers
from irlint.dims import symbol
from irlint.run import files

DETECTOR = FIXTURES / "onnx" / "good" / "small-detector.onnx"


def test_a_file_is_read_once_with_shapes_as_without(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    sound = parsers.read
    monkeypatch.setattr(
        parsers, "read", lambda path, *rest, **options: read.append(path) or sound(path, *rest, **options)
    )  # type: ignore[func-returns-value]
    report = files.checked([str(DETECTOR), str(BAD)], shapes={"images": (symbol("N"), 3, 224, 226)})
    assert [finding.rule.code for finding in report.findings] == ["IRL201", "IRL340"]
    assert sorted(read) == sorted([str(DETECTOR), str(BAD)])


def test_a_name_that_only_some_models_have_is_left_out_elsewhere(tmp_path: Path) -> None:
    shutil.copy(DETECTOR, tmp_path / "a.onnx")
    shutil.copy(BAD, tmp_path / "b.onnx")
    report = files.checked([str(tmp_path)], shapes={"images": (1, 3, 64, 64)})
    assert [file.missing for file in report.files] == [(), ("images",)]
    with pytest.raises(ValueError, match=r"--shape nobody: no input named nobody; the inputs of .*a\.onnx are images"):
        files.checked([str(tmp_path)], shapes={"nobody": (1,)})


def test_paths_of_findings_have_slashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if os.sep == "\\":
        Path("models").mkdir()
    for name, text in {"bad.onnx": BAD.read_bytes(), "pom.xml": b"<project/>", "cut.onnx": b"\x08"}.items():
        Path(f"models\\{name}").write_bytes(text)
    monkeypatch.setattr(os, "sep", "\\")
    report = files.checked([f"models\\{name}" for name in ("bad.onnx", "pom.xml", "cut.onnx")])
    assert [file.path for file in report.files] == ["models/bad.onnx", "models/cut.onnx", "models/pom.xml"]
    assert {finding.path for finding in report.findings} == {"models/bad.onnx", "models/cut.onnx"}


@pytest.mark.parametrize(
    "failing",
    [
        "irlint.fixes.explaining.explained",
        "irlint.fixes.suggestions.Suggestions.rooted",
        "irlint.snippets.finding.drawn",
    ],
)
def test_a_failing_search_for_fixes_keeps_the_findings(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(FIXTURES / "onnx" / "bad" / "IRL320-matmul-inner-mismatch.onnx")
    settings = files.Settings(drawn=True)
    (known,) = files.outcome(settings, path).findings

    def fail(*arguments: object, **options: object) -> object:
        raise ZeroDivisionError("no such divisor")

    monkeypatch.setattr(failing, fail)
    found = files.outcome(settings, path)
    crash, finding = found.findings
    assert (crash.rule.code, found.file.status) == ("IRL008", "checked")
    assert crash.message.startswith(
        "the search for causes and fixes failed: ZeroDivisionError: no such divisor (irlint/"
    )
    assert crash.message.endswith("; the other findings are complete")
    assert (finding.rule, finding.message, finding.node) == (known.rule, known.message, known.node)
