"""``irlint targets``, ``--target`` and the key ``targets``: forms, status and the JSON that others read."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest
from command.process import GOOD, run

import irlint
from irlint.checks import versions

REFUSED = """<ir_version: 10, opset_import: ["" : 22]>
g (float[1,3,8,8] x, float[2,4] r, int64[2] b) => (float[2,3,1,1] y, float[2,3,1,1] z)
{ y = RoiAlign (x, r, b) z = RoiAlign (x, r, b) }"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(REFUSED), path)
    return path


def test_the_matrix(model: Path) -> None:
    shown = run("targets", model.name, cwd=model.parent)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "RoiAlign (22): no CPU kernel of version 22; the last one is of version 16 (2 nodes)\n" in shown.stdout
    assert "-> write the model at an opset of at most 21\n" in shown.stdout
    found = json.loads(run("targets", model.name, "--format", "json", cwd=model.parent).stdout)
    assert found == {**irlint.targets(model), "path": "m.onnx"}
    assert found["schema"] == "irlint-targets-1"
    entry = (
        found["targets"][-1]
        if found["targets"][-1]["name"] == "onnxruntime"
        else next(each for each in reversed(found["targets"]) if each["name"] == "onnxruntime")
    )
    assert entry["verdict"] == "refused"
    assert entry["reasons"][0]["rule"] == "operator-not-in-release"
    assert (entry["reasons"][0]["op"], entry["reasons"][0]["nodes"]) == ("RoiAlign", 2)


def test_errors_of_the_model_are_reasons() -> None:
    bad = GOOD.parents[1] / "bad" / "IRL507-input-count-wrong.onnx"
    entries = irlint.targets(bad)["targets"]
    assert {each["verdict"] for each in entries if each["name"] == "onnxruntime"} == {"refused"}
    assert entries[0]["reasons"][0]["rule"] == "input-count-wrong"


def test_a_check_reports_what_a_target_refuses(model: Path) -> None:
    done = run(model, "--target", "onnxruntime@1.31", "--format", "json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert done.returncode == 1
    assert (finding["code"], finding["op"], finding["target"]) == ("IRL813", "RoiAlign", "onnxruntime@1.31")
    assert finding["message"].endswith("(2 nodes)")
    assert run(model).returncode == 0
    report = irlint.check(model, targets=["onnxruntime@1.17"])
    assert [each.target for each in report.findings if each.target] == ["onnxruntime@1.17"] * 2


def test_a_release_that_was_not_measured_is_reported_to_be_assumed_or_not_known() -> None:
    (finding,) = irlint.check(GOOD, targets=["onnxruntime@9.9"]).findings
    assert (finding.rule.code, finding.severity.value) == ("IRL816", "note")
    (finding,) = irlint.check(GOOD, targets=["onnxruntime@1.2"]).findings
    assert (finding.rule.code, finding.severity.value) == ("IRL816", "warning")


def test_wrong_targets_end_the_run(tmp_path: Path) -> None:
    for text in ("onnxruntim", "onnxruntime@new", ","):
        done = run(GOOD, "--target", text)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--target" in done.stderr
    assert "did you mean onnxruntime?" in run(GOOD, "--target", "onnxruntim").stderr
    (tmp_path / "irlint.toml").write_text('targets = ["onnxruntime@1.17", "nonsense"]\n', "utf-8")
    done = run(GOOD, cwd=tmp_path)
    assert done.returncode == 2
    assert "unknown target 'nonsense'" in done.stderr


def test_the_configuration_names_targets(model: Path) -> None:
    (model.parent / "irlint.toml").write_text('targets = ["onnxruntime@1.31"]\n', "utf-8")
    assert run(model, cwd=model.parent).returncode == 1
    assert run(model, "--target", "onnxruntime@1.20", cwd=model.parent).stdout.count("error[IRL812]") == 1
    assert run(model, "--isolated", cwd=model.parent).returncode == 0


def test_warnings_of_the_newest_release_give_way_to_those_of_the_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What onnx writes, and the newest ONNX Runtime does not take: as it was when that was 1.31."""
    monkeypatch.setattr(versions, "RUNTIME_IR_VERSION", 13)
    monkeypatch.setattr(versions, "RUNTIME_OPSETS", {"": 26})
    for text, alone, held in (
        ('<ir_version: 14, opset_import: ["" : 17]>', "IRL805", "IRL811"),
        ('<ir_version: 13, opset_import: ["" : 28]>', "IRL803", "IRL812"),
    ):
        model = onnx.parser.parse_model(text + " g (float[2] x) => (float[2] y) { y = Relu (x) }")
        path = tmp_path / "m.onnx"
        onnx.save(model, path)
        (finding,) = irlint.check(path, ignore=["IRL807"]).findings
        assert (finding.rule.code, finding.severity) == (alone, irlint.Severity.WARNING)
        (finding,) = irlint.check(path, ignore=["IRL807"], targets=["onnxruntime@1.31"]).findings
        assert (finding.rule.code, finding.severity) == (held, irlint.Severity.ERROR)


@pytest.mark.parametrize(
    ("named", "status", "headings"),
    [
        ("onnxruntime@1.31", 1, ["refused by", "onnxruntime  1.31"]),
        ("openvino@2025.0", 0, ["runs on", "openvino  2025.0"]),
        ("onnxruntime@1.2", 0, ["not known", "onnxruntime  1.2"]),
        ("openvino@2099.1", 0, ["runs on", "openvino  2099.1 (judged as "]),
    ],
)
def test_a_named_release_decides_the_status(model: Path, named: str, status: int, headings: list[str]) -> None:
    done = run("targets", model, "--target", named)
    assert done.returncode == status
    assert all(each in done.stdout for each in headings)
    (entry,) = irlint.targets(model, targets=[named])["targets"]
    assert f"{entry['name']}@{entry['release']}" == named


def test_releases_in_any_order() -> None:
    done = run("targets", GOOD, *(f"--target={each}" for each in ("openvino@2025.0", "onnxruntime@1.30")))
    assert "\n  onnxruntime  1.30\n" in done.stdout
    named = ("onnxruntime@1.30", "openvino@2025.0", "onnxruntime@1.28", "onnxruntime@1.29", "onnxruntime@1.26")
    done = run("targets", GOOD, *(f"--target={each}" for each in named))
    assert "\n  onnxruntime  1.26, 1.28 to 1.30\n" in done.stdout
    assert run("targets", GOOD, "--target", f"onnxruntime@{'1' * 5000}").returncode == 2


def test_wrong_named_targets_end_the_run(model: Path) -> None:
    done = run("targets", model, "--target", "onnxruntim")
    assert (done.returncode, done.stdout) == (2, "")


def test_releases_that_run_the_model_come_first_and_each_reason_once(model: Path) -> None:
    lines = run("targets", model).stdout.splitlines()
    assert lines.index("runs on") < lines.index("refused by") < lines.index("reasons")
    reasons = [each for each in lines if each.startswith("  RoiAlign")]
    assert reasons
    assert len(reasons) == len(set(reasons))


@pytest.mark.parametrize(
    ("named", "ending"),
    [
        (["openvino@2024"], "; target: openvino@2024.6.\n"),
        (["openvino@2024.5"], "; target: openvino@2024.5.\n"),
        (["openvino@2024", "onnxruntime@1.20"], "; targets: openvino@2024.6, onnxruntime@1.20.\n"),
        (["openvino@2024", "openvino@2024.6"], "; target: openvino@2024.6.\n"),
        (["openvino@2099"], "; target: openvino@2099.\n"),
    ],
)
def test_the_report_names_the_releases(named: list[str], ending: str) -> None:
    options = [option for each in named for option in ("--target", each)]
    assert run("check", GOOD, "--isolated", *options).stdout.endswith(f"Checked 1 ONNX model{ending}")
    releases = ending.partition(": ")[2].removesuffix(".\n").split(", ")
    assert irlint.check(GOOD, targets=named).as_dict()["targets"] == releases
    assert "targets" not in irlint.check(GOOD).as_dict()


def test_findings_name_the_release(model: Path) -> None:
    (found,) = {each.target for each in irlint.check(model, targets=["onnxruntime@1"]).errors}
    newest = irlint.targets(model, targets=["onnxruntime"])["targets"][0]["release"]
    assert found == f"onnxruntime@{newest}"


def test_reasons_with_one_fix_are_one(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    header = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (float[N, 3] y)'
    onnx.save(onnx.parser.parse_model(f"{header} {{ a = Sin (x) b = Sin (a) c = Relu (b) y = Sqrt (c) }}"), path)
    reason = "Sin (7), Relu (14), Sqrt (13): it has a dynamic size; it runs on the CPU"
    assert f"  {reason} (4 nodes)\n    qnn 2.5 to" in run("targets", path).stdout
    entry = irlint.targets(path, targets=["qnn"])["targets"][0]
    assert [each["nodes"] for each in entry["reasons"]] == [2, 1, 1]


def test_reasons_that_are_not_shown_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    nodes = " ".join(f"y{number} = my.Op{number} (x)" for number in range(32))
    header = '<ir_version: 8, opset_import: ["" : 17, "my" : 1]> g (float[2] x) => (float[2] y0)'
    onnx.save(onnx.parser.parse_model(f"{header} {{ {nodes} }}"), path)
    found = irlint.targets(path)
    for number, reason in enumerate(found["targets"][0]["reasons"]):
        reason["help"] = str(number)
    from irlint.reporters.html.targets import matrix
    from irlint.reporters.targets import markdown, rendered

    one = {**found, "targets": found["targets"][:1]}
    for form in (rendered, markdown, matrix):
        assert "and 2 more: " in form(one) and "irlint targets MODEL" in form(one)


def test_the_matrix_in_markdown_has_a_column_for_each_release(model: Path) -> None:
    text = run("targets", model, "--format", "markdown").stdout
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    entries = irlint.targets(model)["targets"]
    assert [len(table[0].split(" | ")) - 1 for table in tables] == [
        sum(each["name"] == name for each in entries) for name in dict.fromkeys(each["name"] for each in entries)
    ]
    assert all(line.count(" | ") == table[0].count(" | ") for table in tables for line in table)


def test_the_matrix_as_a_page_has_each_release_and_escapes_names(tmp_path: Path) -> None:
    path = tmp_path / "a&b.onnx"
    onnx.save(onnx.parser.parse_model(REFUSED), path)
    text = run("targets", path, "--format", "html").stdout
    assert text.count("<li class=") == len(irlint.targets(path)["targets"])
    assert "a&amp;b.onnx" in text
    assert "a&b" not in text


def test_the_highest_versions_that_gain_most_releases_are_advised() -> None:
    bad = GOOD.parents[1] / "bad" / "IRL805-ir-version-too-new.onnx"
    stamp = irlint.targets(bad)["restamp"]
    assert (stamp["opset"], stamp["ir_version"]) == (11, 6)


def test_a_release_that_was_asked_to_compile_refuses_what_others_may_compile() -> None:
    bad = GOOD.parents[2] / "openvino" / "bad" / "IRL525-layer-not-compiled.xml"
    *older, newest = irlint.targets(bad)["targets"]
    assert (newest["stage"], newest["verdict"]) == ("compiled", "refused")
    assert [each["rule"] for each in newest["reasons"]] == ["layer-not-compiled"]
    assert {(each["stage"], each["verdict"]) for each in older} == {("read", "unknown")}
    lines = run("targets", bad).stdout.splitlines()
    assert sum(each.startswith("  Parameter: ") for each in lines) == 1
    assert run("targets", bad, "--target", "openvino").returncode == 1
    assert run("targets", bad, "--target", "openvino@2025.0").returncode == 0


def test_a_release_that_was_asked_to_compile_runs_what_it_compiles() -> None:
    good = GOOD.parents[2] / "openvino" / "good" / "IRL525-layer-not-compiled.xml"
    *older, newest = irlint.targets(good)["targets"]
    assert (newest["stage"], newest["verdict"]) == ("compiled", "runs")
    assert {(each["stage"], each["verdict"]) for each in older} == {("read", "runs")}
