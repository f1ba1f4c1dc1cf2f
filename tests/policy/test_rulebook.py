"""Every rule: its page, and its examples run as a user would run them."""

from __future__ import annotations

from pathlib import Path

import pytest
from every import of_each
from make import fixtures as make_fixtures

import irlint
from irlint.findings.faults import Rule
from irlint.policy.rulebook import every_rule, in_order, named

RULES = every_rule()

WRITE = "run tests/make/fixtures.py, after tests/make/index.py"

#: Rules about files, defects of irlint itself and releases that somebody names, whose examples are no text.
WITHOUT_EXAMPLES = {
    "IRL001",
    "IRL002",
    "IRL003",
    "IRL004",
    "IRL008",
    "IRL009",
    "IRL010",
    "IRL011",
    "IRL012",
    "IRL136",
    "IRL403",
    "IRL520",
    "IRL524",
    "IRL522",
    "IRL599",
    "IRL604",
    "IRL611",
    "IRL640",
    "IRL701",
    "IRL702",
    "IRL703",
    "IRL720",
    "IRL704",
    "IRL735",
    *(f"IRL{number}" for number in range(707, 716)),
    "IRL717",
    *(f"IRL{number}" for number in range(811, 817)),
    "IRL802",
    "IRL818",
}


def findings(text: str, folder: Path) -> list[str]:
    if make_fixtures.is_folder(text):
        for name, data in make_fixtures.files(text).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return [f"{finding.rule.code} {finding.message}" for finding in irlint.check(folder).folded().findings]
    form, data = make_fixtures.example(text)
    path = folder / ("model.onnx" if form == "onnx" else "model.xml")
    path.write_bytes(data)
    if weights := make_fixtures.zeros(text):
        path.with_suffix(".bin").write_bytes(weights)
    return [f"{finding.rule.code} {finding.message}" for finding in irlint.check(path).folded().findings]


@of_each({rule.code: rule for rule in RULES})
def test_page_is_complete(rule: Rule) -> None:
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert rule.why
    assert rule.fix
    assert rule.name == rule.name.lower().replace("_", "-").replace(" ", "-")
    assert rule.code in WITHOUT_EXAMPLES or (rule.bad and rule.good)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.bad], ids=lambda rule: rule.code)
def test_bad_example_breaks_this_rule_and_no_other(rule: Rule, tmp_path: Path) -> None:
    found = findings(rule.bad, tmp_path)
    assert found
    assert {text[:6] for text in found} == {rule.code}, found


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.good], ids=lambda rule: rule.code)
def test_good_example_has_no_finding(rule: Rule, tmp_path: Path) -> None:
    assert findings(rule.good, tmp_path) == []


def test_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_fixtures_are_those_that_the_script_writes() -> None:
    wanted = make_fixtures.models()
    there = {
        file.relative_to(make_fixtures.ROOT).as_posix(): file.read_bytes()
        for file in make_fixtures.ROOT.rglob("*")
        if file.is_file()
    }
    assert sorted(there) == sorted(wanted), WRITE
    assert all(there[path] == data for path, data in wanted.items()), WRITE


def bad_fixtures() -> list[str]:
    """The models, and the folders of configurations."""
    paths = [path for path in make_fixtures.models() if "/bad/" in path and not path.endswith(".bin")]
    return sorted({"/".join(path.split("/")[:3]) for path in paths})


@of_each({path: path for path in bad_fixtures()})
def test_bad_fixture_is_named_after_its_rule(path: str) -> None:
    codes = {finding.rule.code for finding in irlint.check(make_fixtures.ROOT / path).folded().findings}
    assert codes == {Path(path).name[:6]}


@pytest.mark.parametrize("kind", ["onnx", "openvino", "folders"])
def test_good_fixtures_have_no_finding(kind: str) -> None:
    report = irlint.check(make_fixtures.ROOT / kind / "good")
    assert [(finding.path, finding.message) for finding in report.findings] == []
    assert report.files


def test_a_family_continues_with_four_digits() -> None:
    first, later = (object.__new__(Rule) for _ in range(2))
    first.code, first.name = "IRL310", "first"  # type: ignore[misc]
    later.code, later.name = "IRL3100", "later"  # type: ignore[misc]
    assert [named(each, "IRL310") for each in (first, later)] == [True, False]
    assert [named(each, "irl3100") for each in (first, later)] == [False, True]
    assert [named(each, "IRL31") for each in (first, later)] == [True, True]
    assert sorted(["IRL401", "IRL3100", "IRL399"], key=in_order) == ["IRL399", "IRL3100", "IRL401"]
