"""The reports for other programs: golden documents, that each is sound whatever a model is called, and their limits."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import onnx.parser
import pytest
from cases import ir_documents as ir
from command.process import ran
from every import of_each
from lxml import etree
from reporters.validating import ISSUES, LOG, RESULT, assert_shape
from timing import within

import irlint
from irlint.findings.faults import Rule, Severity
from irlint.findings.report import CheckedFile, Finding, Related, Report
from irlint.reporters import excerpt, github, gitlab, junit, sarif
from irlint.reporters.headlines import headline, repository_paths

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "formats"

#: Set, the golden documents are written instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

SUFFIXES = {"sarif": "sarif", "github": "txt", "gitlab": "json", "junit": "xml"}

#: Where the log holds the text report.
IN_FULL = re.compile(r"^::group::The findings in full\n(.*?)^::endgroup::\n", re.M | re.S)

AWKWARD = (
    "a\"b'c\n::error file=x,line=1::d%25,e:f\r]]>\x00\x07\x1b[31m&amp;<g>|`h`\ud800\ufffe\U0001f600 ##[error]i "
    "[j](http://k) \u202e"
)


def rule(code: str, name: str, severity: Severity, **page: str) -> Rule:
    """A rule that no list of rules knows."""
    return Rule(code, name, severity, **{"summary": "For tests.", **page})


CLASH = rule(
    "IRL2X1",
    "sizes-clash",
    Severity.ERROR,
    summary='Two sizes are neither equal nor 1, "1" being 1.',
    why="NumPy's rule.\n\nA second paragraph.",
    fix="Make them equal.",
    bad='<?xml version="1.0"?>\n<net/>\n',
    good="g (float[2] x) => (float[2] y) { y = Relu(x) }\n",
)
STALE = rule("IRL6X1", "annotation-stale", Severity.WARNING)
ODD = rule("IRL9X1", "custom", Severity.NOTE)
BROKEN = rule("IRL0X1", "truncated", Severity.ERROR)


def checked_file(path: str, format: str | None = "onnx", **more: Any) -> CheckedFile:
    return CheckedFile(path, format, "8" if format == "onnx" else "11", 3, **more)


def finding(path: str, broken: Rule, message: str, **more: Any) -> Finding:
    return Finding(path, broken, more.pop("severity", broken.severity), message, **more)


REPORTS = {
    "findings": Report(
        (
            checked_file("models/clean.onnx"),
            checked_file("models/detector v2.xml", "openvino"),
            checked_file("models/half.onnx", None, status="unreadable"),
            checked_file("models/loop.onnx"),
            checked_file("pom.xml", None, status="skipped", reason="its root element is not <net>: no OpenVINO IR"),
        ),
        (
            finding(
                "models/detector v2.xml",
                CLASH,
                "axis 1 is 64 against 32: input 0 is [1, 64, 56, 56] and input 1 is [32, 1, 1]",
                help="make axis 1 equal in both inputs, or 1 in one of them",
                node="add_12",
                op="Add",
                op_version="opset1",
                input=1,
                line=1423,
                column=5,
                related=(Related("const_bias", "input 1, [32, 1, 1], comes from here", 17),),
                fingerprint="0f" * 16,
            ),
            finding("models/half.onnx", BROKEN, "the field graph runs 12 bytes past the end", fingerprint="1f" * 16),
            finding(
                "models/loop.onnx", STALE, "x is declared as [2]", graph="loop_1/body", value="x", fingerprint="2f" * 16
            ),
            finding("models/loop.onnx", ODD, "no rule", graph="loop_1/body", fingerprint="3f" * 16),
        ),
        "0.1.0",
    ),
    "awkward": Report(
        (checked_file(f"m {AWKWARD}.onnx".replace("\0", ""), "onnx"), checked_file("100%, a:b/é.xml", "openvino")),
        (
            finding(
                f"m {AWKWARD}.onnx".replace("\0", ""),
                CLASH,
                f"a message of {AWKWARD}",
                help=AWKWARD,
                graph=AWKWARD,
                node=AWKWARD,
                op=AWKWARD,
                op_version=AWKWARD,
                value=AWKWARD,
                related=(Related(AWKWARD, AWKWARD),),
                fingerprint="4f" * 16,
            ),
            finding("100%, a:b/é.xml", ODD, "the file", line=3, column=2, fingerprint="4f" * 16),
        ),
        "0.1.0",
    ),
    "empty": Report((checked_file("m.onnx"),), (), "0.1.0"),
    "nothing": Report((), (), "0.1.0"),
    "unreadable-hidden": Report((checked_file("half.onnx", None, status="unreadable"),), (), "0.1.0"),
}


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository around the working directory."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rendered(form: str, report: Report) -> str:
    text: str = import_module(f"irlint.reporters.{form}").rendered(report)
    return text


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("form", [*SUFFIXES, "summary"])
def test_document_is_the_golden_one(form: str, name: str) -> None:
    text = github.page(REPORTS[name]) if form == "summary" else rendered(form, REPORTS[name])
    golden = GOLDEN / f"{name}.{form}.{SUFFIXES.get(form, 'md')}"
    if os.environ.get(REWRITE):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(text.encode())
    assert text == golden.read_text(encoding="utf-8"), f"with {REWRITE}=1 this test writes {golden}"


def test_same_report_gives_the_same_bytes_in_another_process(repository: Path) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    forms = [*SUFFIXES, "json"]
    outputs = [f"--output={form}=out.{form}" for form in forms]
    first, second = (
        [run("m.onnx", *outputs, **seed).stdout, *((repository / f"out.{form}").read_bytes() for form in forms)]
        for seed in ({}, {"PYTHONHASHSEED": "1"})
    )
    assert first == second
    assert all(b"IRL201" in text for text in first)


MODEL = (
    onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]>\ng (float[2] x, float[3] b__) => (float[2] y) { y__ = Add (x, b__) y '
        "= Relu (y__) }"
    )
    .SerializeToString()
    .replace(b"y__", "y\u00e9".encode())
)


# --- whatever a model is called ---------------------------------------------------------------------------------------


def wild(seed: int) -> Report:
    """A report whose every text is made of what breaks documents."""
    draw = random.Random(seed)
    pieces = [
        *"\"'<>&%,:|`[](){}\\#*~$",
        "::",
        "\n",
        "\r",
        "\r\n",
        "\t",
        "\x00",
        "\x0b",
        "\x1b[2J",
        "\x7f",
        "\x85",
        "\u2028",
    ]
    pieces += [
        "\ud800",
        "\udcff",
        "\ufffe",
        "\uffff",
        "\U0001f600",
        "é",
        "]]>",
        "-->",
        "##[error]",
        "{0}",
        "](x)",
        "word",
        " ",
    ]

    def text() -> str:
        return "".join(draw.choices(pieces, k=draw.randrange(9)))

    files = [checked_file(f"{text()}{index}", status=draw.choice(["checked", "unreadable"])) for index in range(4)]
    findings = [
        finding(
            draw.choice(files).path,
            draw.choice([CLASH, STALE, ODD, BROKEN]),
            text(),
            help=text(),
            graph=text(),
            node=draw.choice([None, text()]),
            op=draw.choice([None, text()]),
            value=draw.choice([None, text()]),
            line=line,
            column=line,
            related=tuple(Related(text(), text(), line) for _ in range(draw.randrange(3))),
            fingerprint=draw.choice(["", "a", "b"]),
        )
        for line in draw.choices([None, 1, 77], k=draw.randrange(30))
    ]
    return Report((*files, checked_file(text(), None, status="skipped", reason=text())), tuple(findings), "0.1.0")


CASES = REPORTS | {f"wild {seed}": wild(seed) for seed in range(60)}


@of_each(CASES)
def test_sarif_is_sound(report: Report) -> None:
    text = sarif.rendered(report)
    assert text.isascii()
    log = json.loads(text)
    assert_shape(log, LOG)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [each["id"] for each in rules] == sorted({each.rule.code for each in report.findings})
    assert len(run["results"]) == len(report.findings)
    for result, each in zip(run["results"], report.findings):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == each.rule.code
        assert result["message"]["text"].isprintable()
        assert links(result["message"]["text"]) == [str(id) for id in range(1, len(each.related) + 1)]


def links(message: str) -> list[str]:
    """Where the embedded links of a message lead, as SARIF reads them: a bracket of a link's text has a backslash
    before it."""
    return re.findall(r"(?<!\\)(?:\\\\)*\[(?:[^\\\[\]]|\\.)*\]\(([^)]*)\)", message)


@of_each(CASES)
def test_gitlab_issues_are_sound_and_unlike_each_other(report: Report) -> None:
    text = gitlab.rendered(report)
    assert text.isascii()
    issues = json.loads(text)
    assert_shape(issues, ISSUES)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == len(report.findings)


@of_each(CASES)
def test_junit_is_well_formed_and_counts_right(report: Report) -> None:
    root = etree.fromstring(junit.rendered(report).encode())
    cases = root.findall("testsuite/testcase")
    assert len(cases) == sum(max(1, len(group)) for group in grouped(report))
    for element in (root, *root):
        inside = list(element.iter("testcase"))
        counts = {"failures": "failure", "errors": "error", "skipped": "skipped"}
        assert element.get("tests") == str(len(inside))
        assert {name: element.get(name) for name in counts} == {
            name: str(sum(case.find(tag) is not None for case in inside)) for name, tag in counts.items()
        }
    for suite in root:
        names = [case.get("name") for case in suite]
        assert len(set(names)) == len(names)


def grouped(report: Report) -> list[list[Finding]]:
    paths = [file.path for file in report.files]
    return [[each for each in report.findings if each.path == path] for path in paths]


@of_each(CASES)
def test_no_name_becomes_a_workflow_command(report: Report) -> None:
    text = rendered("github", report)
    assert bool(IN_FULL.search(text)) == bool(report.findings)
    for line in "".join(IN_FULL.findall(text)).splitlines():
        assert line.isprintable()
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
    lines = IN_FULL.sub("", text).splitlines()
    for line in lines:
        assert line.isprintable()
        if line.startswith("::"):
            assert re.fullmatch(
                r"::(error|warning|notice) ([a-z]+=[^:,]*,?)+::.*|::group::\d+ more findings?|::endgroup::", line
            )
        else:
            assert re.match(
                r"(error|warning|note)\[IRL...\] |Found |No findings|Nothing to check|Checked |\d+ models?: ", line
            )
            assert "##[" not in line
    commands = [line for line in lines if re.match("::(error|warning|notice) ", line)]
    log = [line for line in lines if re.match(r"(error|warning|note)\[", line)]
    written = [line for line in commands if not re.match(r"::\w+ title=irlint::\d+ more ", line)]
    assert len(written) + len(log) == len(report.findings)


@of_each(CASES)
def test_summary_page_keeps_a_row_a_row(report: Report) -> None:
    rows = [line for line in github.page(report).splitlines() if line.startswith("|")]
    assert len(rows) == (2 + len(report.findings) if report.findings else 0)
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 5 for row in rows)


@of_each(CASES)
def test_summary_page_folds_the_findings_in_full(report: Report) -> None:
    text = github.page(report)
    blocks = re.findall(
        r"^<details>\n<summary>([^\n]*)</summary>\n\n(`{3,})text\n(.*?)\n\2\n\n</details>$", text, re.M | re.S
    )
    assert text.count("\n<details>\n") == len(blocks) == len({each.path for each in report.findings})
    for title, fence, inside in blocks:
        assert re.fullmatch(r"<code>[^<>\"]*</code>: \d+ findings?", title)
        assert not re.search(rf"^ *{fence}", inside, re.M)


# --- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        (".", "m.onnx", "m.onnx"),
        (".", "./a//b/../m.onnx", "a/m.onnx"),
        ("sub", "m.onnx", "sub/m.onnx"),
        ("sub", "../m.onnx", "m.onnx"),
        ("sub", "{root}/a/m.onnx", "a/m.onnx"),
        ("sub", "{link}/a/m.onnx", "a/m.onnx"),
        ("sub", "{root}-other/m.onnx", "{root}-other/m.onnx"),
        (".", "a\ud800/\udcff.onnx", "a\ud800/\udcff.onnx"),
        (".", "/\0\ud800", "/\0\ud800"),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths as POSIX has them")
def test_paths_start_at_the_repository(
    folder: str, path: str, expected: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub").mkdir()
    link = repository / "link"
    root = repository / "repository"
    for each in (root / "sub", root / ".git"):
        each.mkdir(parents=True)
    link.symlink_to(root)
    monkeypatch.chdir(root / folder)
    given = path.format(root=root, link=link)
    found = repository_paths(Report((checked_file(given),), (), ""))
    assert found == {given: expected.format(root=root)}


def test_paths_without_a_repository_start_at_the_working_directory(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("irlint.reporters.headlines._root", lambda start: start)
    (repository / "sub").mkdir()
    monkeypatch.chdir("sub")
    assert set(repository_paths(Report((checked_file("a/m.onnx"),), (), "")).values()) == {"a/m.onnx"}


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        ("a b/ü%#?.onnx", "a%20b/%C3%BC%25%23%3F.onnx", True),
        ("c:d.onnx", "c%3Ad.onnx", True),
        ("\udcff.onnx", "%FF.onnx", True),
        ("\ud800.onnx", "%5Cud800.onnx", True),
        ("/elsewhere/m 1.onnx", "file:///elsewhere/m%201.onnx", False),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths as POSIX has them")
def test_sarif_uri(path: str, uri: str, base: bool) -> None:
    log = json.loads(sarif.rendered(Report((), (finding(path, ODD, "x"),), "1")))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": uri, **({"uriBaseId": "%SRCROOT%"} if base else {})}
    if base and "\ud800" not in path:
        assert unquote_to_bytes(uri) == path.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "it is"),
        ({"op": "Add"}, "Add: it is"),
        ({"op": "Add", "node": "n", "value": "v"}, "Add: it is (n)"),
        ({"value": "v"}, "it is (v)"),
        ({"graph": "if_1/then_branch", "node": "n"}, "it is (if_1/then_branch: n)"),
        ({"graph": "if_1/then_branch"}, "it is (if_1/then_branch)"),
    ],
)
def test_headline(fields: dict[str, str], expected: str) -> None:
    assert headline(finding("m.onnx", ODD, "it is", **fields)) == expected


# --- limits -----------------------------------------------------------------------------------------------------------


@cache
def many(count: int, files: int = 3) -> Report:
    """A warning, then an error, and so on."""
    paths = [f"models/{index}.onnx" for index in range(files)]
    findings = tuple(
        finding(
            paths[index * files // count],
            STALE if index % 2 == 0 else CLASH,
            f"input 0 is [1, 64, 56, 56] and input 1 is [1, {index}, 56, 56]",
            help="make axis 1 equal in both inputs",
            node=f"/model/layers.{index}/Add",
            op="Add",
            op_version="17",
            related=(Related(f"/model/layers.{index}/Conv", "input 1 comes from here"),),
            fingerprint=f"{index:032x}",
        )
        for index in range(count)
    )
    return Report(tuple(map(checked_file, paths)), findings, "0.1.0")


@pytest.mark.parametrize("form", [*SUFFIXES, "summary"])
def test_many_findings_take_little_time(form: str) -> None:
    report = many(4000)
    text = within(1, lambda: github.page(report) if form == "summary" else rendered(form, report))
    assert len(text) > 100_000


def test_sarif_keeps_the_worst_results_in_document_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sarif.RESULTS == 25_000, "what GitHub takes of a run"
    monkeypatch.setattr(sarif, "RESULTS", 1500)
    report = many(2 * sarif.RESULTS - 1000)
    run = json.loads(sarif.rendered(report))["runs"][0]
    levels = [result["level"] for result in run["results"]]
    prints = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
    assert len(levels) == sarif.RESULTS
    assert levels.count("error") == sarif.RESULTS - 500
    assert prints == sorted(prints)
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"] == "500 findings more: a run has at most 1,500 results."


def test_sarif_descriptions_are_short_enough() -> None:
    long = rule("IRL9X2", "long", Severity.NOTE, summary="s" * 2000, why="w " * 600)
    (written,) = json.loads(sarif.rendered(Report((), (finding("m", long, "x"),), "1")))["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert len(written["shortDescription"]["text"]) == len(written["fullDescription"]["text"]) == 1024
    assert written["fullDescription"]["text"].endswith(" ...")


def test_every_rule_fits_into_sarif() -> None:
    from irlint.policy.rulebook import every_rule

    rules = every_rule()
    report = Report((), tuple(finding("m.onnx", each, "x") for each in rules), "1")
    log = json.loads(sarif.rendered(report))
    assert_shape(log, LOG)
    assert len(log["runs"][0]["tool"]["driver"]["rules"]) == len(rules) > 100


def test_github_shows_errors_first_and_from_every_file() -> None:
    lines = rendered("github", many(60, files=4)).splitlines()
    commands = [line for line in lines if line.startswith(("::error", "::warning"))]
    assert [line.split()[0] for line in commands] == ["::error"] * 10 + ["::warning"] * 10
    shown = [line.split("file=")[1].split(",")[0] for line in commands[:9]]
    assert shown == [f"models/{index % 4}.onnx" for index in range(9)]
    assert commands[9] == "::error title=irlint::21 more errors in 4 files: the log of this step lists them"
    assert "::group::42 more findings" in lines


def test_github_says_ten_of_ten() -> None:
    text = IN_FULL.sub("", rendered("github", many(20)))
    assert text.count("\n") == 22
    assert "more" not in text


def test_log_has_whole_findings_up_to_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(github, "LOG", 2_000)
    (written,) = IN_FULL.findall(rendered("github", many(60)))
    *blocks, last = written.rstrip("\n").split("\n\n")
    assert len(written) < 2_000
    assert last == excerpt.MORE
    assert blocks
    assert all("= rule:" in block for block in blocks)


def test_report_in_other_forms_is_the_text_report(repository: Path) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    ended = run(
        "m.onnx",
        "--format",
        "github",
        *(f"--output={form}=o.{form}" for form in ("text", "gitlab", "junit", "markdown")),
    )
    written = (repository / "o.text").read_text("utf-8").partition("\n\nFound ")[0]
    assert f"::group::The findings in full\n{written}\n::endgroup::\n" in ended.stdout.decode()
    assert json.loads((repository / "o.gitlab").read_bytes())[0]["content"]["body"] == f"```text\n{written}\n```"
    assert etree.parse(repository / "o.junit").findtext(".//failure") == written
    assert f"```text\n{written}\n```\n\n</details>" in (repository / "o.markdown").read_text("utf-8")


def test_sarif_has_what_is_suppressed(repository: Path) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    (repository / "irlint.toml").write_text('[[suppress]]\nrule = "IRL201"\nreason = "the loader crops"\n')
    assert run("m.onnx", "--output", "o.sarif").returncode == 0
    (result,) = json.loads((repository / "o.sarif").read_bytes())["runs"][0]["results"]
    assert_shape(result, RESULT)
    assert result["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "the loader crops"}]
    run("m.onnx", "--isolated", "--baseline", "b.json", "--update-baseline", "--output", "o.sarif")
    first = json.loads((repository / "o.sarif").read_bytes())["runs"][0]["results"]
    run("m.onnx", "--isolated", "--baseline", "b.json", "--output", "o.sarif")
    assert json.loads((repository / "o.sarif").read_bytes())["runs"][0]["results"] == first
    assert [each["justification"] for each in first[0]["suppressions"]] == ["it is in the baseline"]


def test_sarif_states_where_a_place_ends() -> None:
    found = finding("m.xml", CLASH, "x", line=2, column=3, end_line=2, end_column=11)
    result = json.loads(sarif.rendered(Report((), (found,), "1")))["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 2,
        "startColumn": 3,
        "endLine": 2,
        "endColumn": 11,
    }


def test_sarif_has_the_fixes_of_documents() -> None:
    """Who replaces the regions of a fix in the text has what ``irlint fix`` writes."""
    dims = "<dim>2</dim><dim>3</dim>"
    stale = ir.net(
        [ir.parameter(0, "\U0001f600"), ir.layer(1, "Relu", "0", "1"), ir.layer(2, "Abs", "0", "1"), ir.result(3)],
        [ir.edge(0, 0, 1, 0), ir.edge(1, 1, 2, 0), ir.edge(2, 1, 3, 0)],
    )
    stale = stale.replace(
        f'<port id="1" precision="FP32">{dims}',
        '<port id="1" precision="FP32">\r\n<dim>5</dim><dim>4</dim><dim>1</dim>',
        1,
    )
    (found,) = json.loads(sarif.rendered(irlint.check(stale.encode(), name="m.xml")))["runs"][0]["results"]
    assert_shape(found, RESULT)
    ((change,),) = [each["artifactChanges"] for each in found["fixes"]]
    assert change["artifactLocation"] == found["locations"][0]["physicalLocation"]["artifactLocation"]
    lines = re.split("(?<=\n)", stale)
    for each in reversed(change["replacements"]):
        line, column, end_line, end_column = each["deletedRegion"].values()
        text = "".join(lines[line - 1 : end_line])
        end = len(text) - len(lines[end_line - 1]) + end_column - 1
        lines[line - 1 : end_line] = [
            text[: column - 1] + each.get("insertedContent", {"text": ""})["text"] + text[end:]
        ]
    assert "".join(lines).encode() == irlint.fix(stale.encode(), name="m.xml").data


@pytest.mark.parametrize("room", [-5, 0, 150, 400, 1_000, 5_000, github.PAGE])
def test_summary_page_keeps_to_its_size(room: int) -> None:
    report = many(8_000)
    text = github.page(report, room)
    assert len(text.encode()) <= max(room, 0)
    rows = text.count("\n| warning |") + text.count("\n| error |")
    if text:
        assert f"\n{8_000 - rows} more findings.\n" in text
    assert bool(text) == (room >= 1_000 or (room == 400 and rows > 0))
    assert len(github.page(REPORTS["empty"], max(room, 0)).encode()) <= max(room, 0)


@pytest.mark.parametrize(
    ("fail_on", "outcomes"),
    [
        ("error", ["failure", "error", "system-out", "system-out"]),
        ("warning", ["failure", "error", "failure", "system-out"]),
        ("note", ["failure", "error", "failure", "failure"]),
        ("never", ["failure", "error", "system-out", "system-out"]),
    ],
)
def test_junit_fails_what_the_gate_fails(fail_on: str, outcomes: list[str]) -> None:
    root = etree.fromstring(junit.rendered(REPORTS["findings"], fail_on).encode())
    found = [case[0].tag for case in root.iter("testcase") if len(case)]
    assert found == [*outcomes, "skipped"]


def test_finding_in_a_file_that_was_no_part_of_the_run_has_a_suite() -> None:
    root = etree.fromstring(junit.rendered(Report((), (finding("irlint.toml", CLASH, "x"),), "1")).encode())
    assert [(suite.get("name"), suite.get("failures")) for suite in root] == [("irlint.toml", "1")]


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return ran("check", *arguments, **{"GITHUB_STEP_SUMMARY": "", "PYTHONIOENCODING": "ascii", **environment})


def test_command_writes_every_form_at_once(repository: Path) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    outputs = [f"--output={form}=out.{form}" for form in SUFFIXES]
    ended = run("m.onnx", "--format", "github", *outputs)
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert ended.stdout == (repository / "out.github").read_bytes()
    assert ended.stdout.startswith(b"::error file=m.onnx,title=IRL201 broadcast-mismatch::Add: axis 0 is 2 in input 0")
    assert json.loads((repository / "out.sarif").read_bytes())["runs"][0]["results"][0]["ruleId"] == "IRL201"
    assert json.loads((repository / "out.gitlab").read_bytes())[0]["location"]["path"] == "m.onnx"
    assert etree.parse(repository / "out.junit").getroot().get("failures") == "1"


@pytest.mark.parametrize(("arguments", "written"), [(["--format", "github"], True), (["--output", "github=o"], False)])
def test_step_summary_is_appended_by_the_format_of_the_log(
    arguments: list[str], written: bool, repository: Path
) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    (repository / "summary.md").write_text("before\n")
    run("m.onnx", *arguments, GITHUB_STEP_SUMMARY="summary.md")
    text = (repository / "summary.md").read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert ("| error | IRL201 broadcast-mismatch | m.onnx | Add: " in text) == written


def test_step_summary_that_cannot_be_written_does_not_hide_the_result(repository: Path) -> None:
    (repository / "m.onnx").write_bytes(MODEL)
    ended = run("m.onnx", "--format", "github", GITHUB_STEP_SUMMARY="nowhere/summary.md")
    assert ended.returncode == 1
    assert ended.stderr.startswith(b"irlint: warning: cannot write GITHUB_STEP_SUMMARY nowhere/summary.md: ")
