"""Of one mistake one finding stands for itself, and what follows from it says so."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest
from cases.answers import NOT_REPORTED
from every import of_each

import irlint
from irlint.reporters.forms import FORMS

#: The findings of a model: the rule and the node of each root, and then the same of what follows from it.
Roots = list[tuple[str, list[str]]]

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'

#: A model in ONNX's text syntax, and the roots with what follows from them.
CASES: dict[str, tuple[str, Roots]] = {
    "an output is lost": (
        HEAD + "g (float[2,3] x) => (float[2,3] y) { [a] '' = Relu (x) [b] y = Neg (z) }",
        [("IRL508 a", ["IRL101 b"])],
    ),
    "one lost output does not explain two names": (
        HEAD + "g (float[2,3] x) => (float[2,3] y) { [a] '' = Relu (x) [b] y = Add (z, w) }",
        [("IRL508 a", []), ("IRL101 b", []), ("IRL101 b", [])],
    ),
    "a name is given twice": (
        HEAD + "g (float[2,3] x) => (float[2,3] y) { [a] z = Relu (x) [b] z = Neg (x) [c] y = Add (z, w) }",
        [("IRL102 b", ["IRL101 c"])],
    ),
    "a constant that two nodes refuse": (
        HEAD + "g (float[2] x) => (y) <float s = {1}, int16 z = {0}> "
        "{ [q] a = QuantizeLinear (x, s, z) [d] y = DequantizeLinear (a, s, z) }",
        [("IRL401 q", ["IRL401 d"])],
    ),
    "an input that two nodes refuse": (
        HEAD + "g (bool[2] x) => (y, z) { [a] y = Abs (x) [b] z = Neg (x) }",
        [("IRL401 a", []), ("IRL401 b", [])],
    ),
    "a body lacks an input that its nodes use": (
        HEAD
        + "g (int64 m, bool c, float[3] x) => (float[3] y) { [l] y = Loop (m, c, x) <body = b (int64 i, float[3] s) => "
        "(bool o, float[3] t) { [a] o = Identity (k) [b] t = Relu (s) }> }",
        [("IRL390 l", ["IRL101 a"])],
    ),
    "a missing input has nothing to do with a name that is given twice": (
        HEAD + 'g (float[2,3] x) => (float[2,3] y) { [a] z = Relu (x) [b] z = Neg (x) [c] y = Add (z, "") }',
        [("IRL102 b", []), ("IRL507 c", [])],
    ),
    "an import is missing": (
        '<ir_version: 8, opset_import: ["" : 17]>\n'
        "g (float[2,3] x) => (float[2,3] y) { [a] z = other.Thing (x) [b] w = other.Thing (z) [c] y = other.Else (w) }",
        [("IRL801 a", ["IRL502 a", "IRL801 b", "IRL502 c", "IRL801 c"])],
    ),
    "a stale declaration runs on": (
        HEAD + "g (float[2,3] x) => (float[2,3] y) <float[2,4] z, float[2,4] w> "
        "{ [a] z = Relu (x) [b] w = Neg (z) [c] y = Abs (w) }",
        [("IRL601 a", ["IRL601 b"])],
    ),
    "two declarations that differ from each other": (
        HEAD + "g (float[2,3] x) => (float[2,3] y) <float[2,4] z, float[2,5] w> "
        "{ [a] z = Relu (x) [b] w = Neg (z) [c] y = Abs (w) }",
        [("IRL601 a", []), ("IRL601 b", [])],
    ),
    "a size that only a declaration behind a fault has": (
        HEAD
        + "g (float[2,3] x, float[4] c, float[5] d) => (y) <float[2,7] z> { [a] z = Add (x, c) [b] y = Add (z, d) }",
        [("IRL201 a", ["IRL201 b"])],
    ),
    "a fault that does not depend on what is behind another": (
        HEAD + "g (float[2,3] x, float[4] c, float[5] d, float[6] e) => (y) <float[2,7] z> "
        "{ [a] z = Add (x, c) [b] w = Add (d, e) [c] y = Sum (z, w) }",
        [("IRL201 a", []), ("IRL201 b", [])],
    ),
    "a rank that no size changes": (
        HEAD
        + "g (float[2,3] x, float[4] c, float[3,3] m) => (y) <float[1,2,3] z> { [a] z = Add (x, c) [b] y = Gemm (z, m) "
        "}",
        [("IRL201 a", []), ("IRL321 b", [])],
    ),
    "what is declared as it is worked out is beyond doubt": (
        HEAD + "g (float[2,3] x, float[4] c, float[5] d) => (y) <float[2,7] z, float[2,7] w> "
        "{ [a] z = Add (x, c) [b] w = Relu (z) [e] y = Add (w, d) }",
        [("IRL201 a", []), ("IRL201 e", [])],
    ),
}


def roots(path: Path) -> Roots:
    report = irlint.check(path).folded()
    return [
        (name(root), [name(each) for each in root.following])
        for root in report.findings
        if root.rule.code not in NOT_REPORTED
    ]


def name(finding: irlint.findings.report.Finding) -> str:
    return f"{finding.rule.code} {finding.node}"


def written(text: str, folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(onnx.parser.parse_model(text.replace("''", "gone")).SerializeToString())
    if "''" in text:
        model = onnx.load(path)
        model.graph.node[0].output[0] = ""
        path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_roots_and_what_follows(text: str, expected: Roots, tmp_path: Path) -> None:
    assert roots(written(text, tmp_path)) == expected


def test_a_root_is_as_bad_as_what_follows(tmp_path: Path) -> None:
    layer = (
        '<layer id="1" name="p" type="AvgPool" version="opset1"><data kernel="2,2" pads_begin="0,0" pads_end="0,0" '
        'exclude-pad="true" rounding_type="floor" auto_pad="explicit"/>'
    )
    document = (
        '<?xml version="1.0"?>\n<net name="n" version="11"><layers>\n'
        '<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,3,8,8" element_type="f32"/>'
        '<output><port id="0" precision="FP32"><dim>1</dim><dim>3</dim><dim>8</dim><dim>8</dim></port></output></layer>'
        "\n"
        f'{layer}<input><port id="0"/></input><output><port id="1" precision="FP32"/></output></layer>\n'
        '<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer></layers>\n'
        '<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>'
        '<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>'
    )
    (tmp_path / "m.xml").write_text(document)
    (root,) = irlint.check(tmp_path / "m.xml").folded().findings
    assert (root.rule.code, root.severity.value) == ("IRL504", "error")
    assert [each.node for each in root.following] == ["p"]


def test_the_report_for_scripts_has_the_fingerprint_of_the_root(tmp_path: Path) -> None:
    report = irlint.check(written(CASES["an import is missing"][0], tmp_path)).as_dict()
    roots = [finding for finding in report["findings"] if "because" not in finding]
    assert [finding["node"] for finding in roots] == ["a"]
    assert {finding.get("because") for finding in report["findings"]} == {None, roots[0]["fingerprint"]}
    assert report["summary"] == {"files": 1, "errors": 1, "warnings": 0, "notes": 0, "following": 4}


def test_what_follows_from_a_rule_that_is_not_selected_stands_for_itself(tmp_path: Path) -> None:
    path = written(CASES["an output is lost"][0], tmp_path)
    from irlint.policy.suppressions import Policy, selection
    from irlint.run.files import Settings
    from irlint.run.one_file import inspected

    _, findings = inspected(str(path), settings=Settings(policy=Policy((selection(None, ["IRL508"], []),))))[:2]
    assert [(finding.rule.code, finding.because) for finding in findings] == [("IRL101", "")]


FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@of_each({path.name: path for path in sorted(FIXTURES.glob("*/bad/IRL*.[ox]*"))})
def test_every_broken_fixture_has_one_root(path: Path) -> None:
    roots = [finding.rule.code for finding in irlint.check(path).folded().findings]
    assert len([code for code in roots if path.stem.startswith(code)]) == 1, roots


def test_what_follows_is_folded_or_shown_in_full(tmp_path: Path) -> None:
    report = irlint.check(written(CASES["an import is missing"][0], tmp_path))
    folded = FORMS["text"].rendered(report, color=False, every=False, quiet=False, columns=100, encoding="utf-8")
    full = FORMS["text"].rendered(report, color=False, every=True, quiet=False, columns=100, encoding="utf-8")
    assert "4 more follow from this: IRL502 at a, IRL801 at b, IRL502 at c (Else), ..." in " ".join(folded.split())
    assert [text.count("error[IRL801]") for text in (folded, full)] == [1, 3]
    for form in ("concise", "sarif", "github", "gitlab", "junit"):
        text = FORMS[form].rendered(report, quiet=False, fail_on="error")
        assert text.count("opset_import of the model") <= (2 if form == "github" else 1), form
        assert "and 4 that follow" in text, form


def test_a_fault_in_a_function_is_reported_at_the_call_as_well(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "f" : 1]>
    g (float[2] x, float[3] z) => (float[2] y, float[K] w) { [one] y = f.Half (x, x) [other] w = f.Half (x, z) }
    <domain: "f", opset_import: ["" : 21]>
    Half (a, b) => (c) { c = Add (a, b) }"""
    path = tmp_path / "model.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    found = irlint.check(path).findings
    assert [(each.rule.code, each.node) for each in found] == [("IRL136", "other"), ("IRL201", "c")]
    assert found[0].because == found[1].fingerprint
