"""Of very many problems of one rule the first are listed, and the others counted: the verdict and the number of all
stay."""

from __future__ import annotations

import re

import pytest

import irlint
from irlint.findings.faults import Rule, Severity
from irlint.model import Problem
from irlint.parsers.openvino import layers
from irlint.run import limited as subject
from irlint.run import one_file

RULES = [
    Rule(f"IRL99{at}x", f"made-up-{at}", severity, "Made up.")
    for at, severity in enumerate([Severity.ERROR, Severity.WARNING])
]

LAYER = '<layer id="{0}" name="{0}" type="{1}" version="opset1">{2}</layer>'
GIVEN = '<data shape="2" element_type="f32"/><output><port id="0" precision="FP32"><dim>2</dim></port></output>'
TAKEN = '<input><port id="0"><dim>2</dim></port></input>'
NET = (
    '<net name="n" version="11"><layers>'
    + LAYER.format(0, "Parameter", GIVEN)
    + LAYER.format(1, "Result", TAKEN)
    + "</layers><edges>{}</edges></net>"
)
EDGE = '<edge from-layer="{}" from-port="0" to-layer="1" to-port="0"/>'


def problems(count: int, rule: Rule, because: Problem | None = None) -> list[Problem]:
    return [Problem(rule.fault(f"number {at}"), value=str(at), because=because) for at in range(count)]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (one_file, layers):
        monkeypatch.setattr(module, "MOST_LISTED", 10)
    monkeypatch.setattr("irlint.parsers.openvino.MOST_LISTED", 10)


def test_each_rule_and_severity_has_its_own() -> None:
    found = subject.limited([*problems(11, RULES[0]), *problems(10, RULES[1])], 10)
    assert len(found) == 21
    assert [each.fault.message for each in found if "not listed" in each.fault.message] == [
        "11 errors of this file are of this rule, and 1 of these is not listed: the error at this place and all later "
        "ones"
    ]
    assert found[-1].is_error


def test_what_follows_from_one_that_is_not_listed_follows_from_its_stand_in() -> None:
    roots = problems(12, RULES[0])
    found = subject.limited([*roots, *problems(1, RULES[1], because=roots[-1])], 10)
    listed = {id(each) for each in found}
    follower = next(each for each in found if each.fault.rule is RULES[1])
    assert id(follower.because) in listed
    assert follower.because is not None
    assert "not listed" in follower.because.fault.message


@pytest.mark.parametrize(
    ("edges", "rule"),
    [
        (EDGE.format(0) * 33, "IRL107"),
        ("".join(EDGE.format(at) for at in range(33)), "IRL105"),
        (EDGE.format(0) + "<edge/>" * 32, "IRL110"),
    ],
)
def test_edges_are_counted(edges: str, rule: str) -> None:
    report = irlint.check(NET.format(edges).encode(), name="m.xml")
    found = [each for each in report.findings if each.rule.code == rule]
    more = next(each for each in found if "not listed" in each.message)
    assert len(found) == 11
    assert re.findall(r"\d+", more.message) == ["32", "22"]
    assert more.severity is Severity.ERROR
    assert more.line == 1
