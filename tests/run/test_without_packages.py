"""A check where onnx, NumPy, lxml and protobuf are not installed: the same findings, or a file that is skipped with the
reason."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from irlint.reporters import html, sarif
from irlint.reporters.text import rendered
from irlint.run.files import Settings, checked

ROOT = Path(__file__).parents[2]
FIXTURES = [
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "fixtures").rglob("*"))
    if path.suffix in (".onnx", ".xml")
]
SCRIPT = Path(__file__).with_name("without_packages.py")
REASON = "not checked: it needs the package lxml, which is not installed"
CONTROLS = """import sys
sys.modules.update(dict.fromkeys(("lxml",)))
sys.argv = ["irlint", *sys.argv[1:]]
from irlint.command.entry import main
main()
"""

#: IRs that other tools read as little as libxml2.
NEEDS_LXML = ["fixtures/openvino/bad/IRL006-not-well-formed.xml"]


def without_page(entry: dict[str, Any]) -> dict[str, Any]:
    """An object of JSON without the address of a rule's page, which a process of its own takes from the metadata."""
    return {key: value for key, value in entry.items() if key != "url"}


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What a process without the packages finds in each fixture."""
    command = [sys.executable, str(SCRIPT), *FIXTURES]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    reports: dict[str, Any] = json.loads(result.stdout, object_hook=without_page)
    return reports


def test_findings_are_the_same(found: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert len(FIXTURES) > 390
    for path in FIXTURES:
        if path not in NEEDS_LXML:
            report = json.loads(json.dumps(checked([path]).as_dict()))
            assert {**found[path], "html": ""} == {**report, "html": ""}


def test_what_needs_lxml_is_skipped_with_the_reason(found: dict[str, Any]) -> None:
    skipped = {path: report for path, report in found.items() if report["files"][0]["status"] == "skipped"}
    assert sorted(skipped) == NEEDS_LXML
    for report in skipped.values():
        assert report["files"][0] == {**report["files"][0], "format": "openvino", "reason": REASON}
        assert report["findings"] == [] and "No findings" not in report["html"] and REASON in report["html"]


def test_targets_that_need_a_function_are_unknown(found: dict[str, Any]) -> None:
    page = found["fixtures/onnx/good/IRL325-normalization-groups-mismatch.onnx"]["html"]
    assert "a function may stand for it, which the package onnx has" in page


@pytest.fixture
def without_lxml(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, "lxml", None)


@pytest.mark.usefixtures("without_lxml")
def test_reports_name_what_was_not_checked() -> None:
    report = checked([NEEDS_LXML[0], "fixtures/onnx/good/IRL201-broadcast-mismatch.onnx"], settings=Settings({}))
    assert not report.ok and repr(report) == "<Report: no findings in 1 model, 1 model not checked>"
    assert rendered(report) == (
        "No findings in the 1 model that could be checked.\n"
        "Checked 1 ONNX model; 1 model not checked without the package lxml.\n"
    )
    [run] = json.loads(sarif.rendered(report))["runs"]
    [notification] = run["invocations"][0]["toolExecutionNotifications"]
    assert not run["invocations"][0]["executionSuccessful"]
    assert notification["message"]["text"] == f"{NEEDS_LXML[0]} was {REASON}."
    assert "1 model not checked" in html.rendered(report)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((NEEDS_LXML[0],), ""),
        ((NEEDS_LXML[0], "fixtures/onnx/good/IRL201-broadcast-mismatch.onnx"), "No findings in the 1 model that could"),
        ((NEEDS_LXML[0], "fixtures/onnx/good/IRL201-broadcast-mismatch.onnx", "--format", "jsonl"), '"skipped"'),
        ((NEEDS_LXML[0], "--allow-empty"), "Not checked."),
    ],
)
def test_a_command_that_could_not_check_fails(arguments: tuple[str, ...], shown: str) -> None:
    command = [sys.executable, "-c", CONTROLS, *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    assert result.returncode == 2
    assert "1 model not checked" in result.stderr and "pip install lxml" in result.stderr
    assert shown in result.stdout
