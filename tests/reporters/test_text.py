"""What the text report shows: golden pages of small models, its colours, its width, and that nothing makes it fall
over."""

from __future__ import annotations

import os
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path

import onnx.parser
import pytest
from hypothesis import settings
from reporters.pages import PAGES, Files, detector_ir, from_text
from timing import within

from irlint.findings.faults import SEVERITIES, Fault, Rule, Severity
from irlint.findings.report import Finding, Report
from irlint.inference.origins import Makers
from irlint.inference.walk import inferred
from irlint.model import Problem
from irlint.parsers import read
from irlint.reporters import ansi, text
from irlint.run.files import Settings
from irlint.run.one_file import inspected
from irlint.snippets.finding import Snippets, drawn, related

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

#: Set, the golden pages are written instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def checked(folder: Path, files: Files, monkeypatch: pytest.MonkeyPatch) -> Report:
    monkeypatch.chdir(folder)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    found = [inspected(name, settings=Settings(drawn=True)) for name in files if not name.endswith(".bin")]
    return Report(tuple(file for file, _ in found), tuple(f for _, findings in found for f in findings), "0")


@pytest.mark.parametrize("page", PAGES)
def test_pages(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES[page], monkeypatch)
    width = page.partition("@")[2]
    columns = int(width) if width else None
    shown = text.rendered(report, columns=columns)
    golden = GOLDEN / f"{page.replace('@', '-at-')}.txt"
    if os.environ.get(REWRITE):
        golden.write_text(shown, encoding="utf-8")
    assert shown == golden.read_text(encoding="utf-8"), f"with {REWRITE}=1 this test writes {golden}"
    unwrapped = [line for line in shown.splitlines() if not re.match(r" +(\||= |  )| *\S+ \|", line)]
    assert all(len(line) <= columns for line in unwrapped if columns is not None)


@pytest.mark.parametrize("page", PAGES)
def test_colour_adds_nothing_but_colour(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES[page], monkeypatch)
    for columns in (60, 100, 120):
        plain = text.rendered(report, columns=columns)
        colored = text.rendered(report, columns=columns, color=True)
        assert "\x1b" not in plain
        assert ESCAPES.sub("", colored) == plain
        assert (colored != plain) == bool(report.findings)


@pytest.mark.parametrize("page", PAGES)
def test_details_travel_between_processes(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES[page], monkeypatch)
    again = [pickle.loads(pickle.dumps(finding.detail)) for finding in report.findings]
    assert again == [finding.detail for finding in report.findings]


# --- many findings ----------------------------------------------------------------------------------------------------


def rule(code: str, severity: Severity) -> Rule:
    """A rule that no other test meets."""
    return Rule(code, f"for-tests-{code[3:].lower()}", severity, "For tests.")


MANY = rule("IRL9XY", Severity.WARNING)


def test_findings_beyond_the_tenth_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES["onnx-many"], monkeypatch)
    shown = text.rendered(report)
    assert shown.count("error[IRL201]") == 10
    assert "4 more IRL201 broadcast-mismatch in this file; -v shows them all\n" in shown
    assert text.rendered(report, every=True).count("error[IRL201]") == 14


def test_repeated_findings_are_shown_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES["onnx-repeated"], monkeypatch)
    shown = text.rendered(report)
    assert shown.count("error[IRL201]") == 1
    assert "the same at 12 more nodes: xN, N from 1 to 12\n" in shown
    assert text.rendered(report, every=True).count("error[IRL201]") == 13


@pytest.mark.parametrize("message", ["one message", "message {}"])
def test_thousands_of_findings_are_quick(message: str) -> None:
    findings = tuple(
        Finding(f"m{i % 50}.onnx", MANY, Severity.WARNING, message.format(i), node=f"n{i}", op="Add")
        for i in range(5000)
    )
    shown = within(1, lambda: text.rendered(Report((), findings, "0")))
    assert len(shown.splitlines()) < 50 * 60


def test_quiet_has_no_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = checked(tmp_path, PAGES["onnx-types"], monkeypatch)
    assert text.rendered(report).startswith(text.rendered(report, quiet=True))
    assert "Found" not in text.rendered(report, quiet=True)
    nothing = checked(tmp_path, PAGES["nothing-found"], monkeypatch)
    assert text.rendered(nothing, quiet=True) == ""


def test_a_finding_without_a_picture() -> None:
    finding = Finding("m.onnx", MANY, Severity.WARNING, "two\nlines", "do it", "if_0/then_branch", "n\x1b[1m", "Add")
    assert text.rendered(Report((), (finding,), "0"), quiet=True).splitlines() == [
        "warning[IRL9XY]: Add: two\\nlines",
        '   --> m.onnx   node "n\\x1b[1m" of graph "if_0/then_branch"',
        "    = help: do it",
        "    = rule: IRL9XY for-tests-9xy, explained by `irlint explain IRL9XY`",
    ]


# --- related nodes ----------------------------------------------------------------------------------------------------


def test_related_are_the_makers_of_the_inputs_at_fault(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(detector_ir())
    known = inferred(read(path))
    makers = Makers(known)
    problem = next(problem for problem in known.problems if problem.fault.rule.code == "IRL201")
    found = related(makers, problem)
    assert [(entry.node, entry.message) for entry, _ in found] == [
        ("/backbone/act/Relu", "input 0, [1, 64, 56, 56], comes from here"),
        ("skip", "input 1, [1, 64, 56, 55], comes from here"),
    ]
    assert known.model.graph is not None
    places = {node.name: node.place for node in known.model.graph.nodes}
    assert [place for _, place in found] == [places["/backbone/act/Relu"], places["skip"]]


# --- colour and width -------------------------------------------------------------------------------------------------


class Terminal:
    def __init__(self, answer: bool) -> None:
        self.answer = answer

    def isatty(self) -> bool:
        return self.answer


class Closed:
    def isatty(self) -> bool:
        raise ValueError("I/O operation on closed file")


@pytest.mark.parametrize(
    ("option", "environment", "terminal", "expected"),
    [
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, True, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("auto", {"CLICOLOR_FORCE": "1"}, False, True),
        ("auto", {"CLICOLOR_FORCE": "0"}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colour_is_asked_for(
    option: str, environment: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert text.colored(option, Terminal(terminal)) is expected


def test_a_closed_stream_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    assert text.colored("auto", Closed()) is False
    assert text.colored("auto", None) is False


@pytest.mark.parametrize(
    ("terminal", "columns", "expected"), [(False, 70, None), (True, 70, 70), (True, 40, 60), (True, 300, 300)]
)
def test_the_page_is_as_wide_as_the_terminal(
    terminal: bool, columns: int, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert text.terminal_width(Terminal(terminal)) == expected
    assert ansi.width(Terminal(terminal)) == min(120, expected or 100)


def test_every_role_has_a_colour() -> None:
    assert {severity.value for severity in SEVERITIES} <= set(ansi.ROLES)
    assert ansi.painted("x", "bad", True) == "\x1b[1;4;31mx\x1b[0m"
    assert ansi.painted("x", "bad", False) == "x"


# --- anything goes ----------------------------------------------------------------------------------------------------

ANY = [rule(f"IRL{digit}ZZ", Severity.ERROR) for digit in range(10)]


def any_fault(chance: random.Random) -> Fault:
    index: Callable[[], int] = lambda: chance.randint(-3, 6)  # noqa: E731
    marks = tuple((index(), index()) for _ in range(chance.randint(0, 3)))
    return chance.choice(ANY).fault(
        "message [2, 3]",
        help=chance.choice(["", "help " * 30]),
        input=chance.choice([None, index()]),
        marks=marks,
        aligned=chance.choice(["left", "right"]),
        remark=chance.choice(["", "differ"]),
        attribute=chance.choice([None, "axis", "alhpa", "no such attribute", "["]),
        notes=chance.choice([(), ("a note\nof two lines",)]),
    )


@pytest.mark.parametrize("page", [page for page in PAGES if not page.endswith("@80")])
def test_any_problem_can_be_drawn(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from irlint.model.order import graphs

    chance = random.Random(page)
    checked(tmp_path, PAGES[page], monkeypatch)
    for name in (name for name in PAGES[page] if not name.endswith(".bin")):
        model = read(name)
        known = inferred(model)
        every = list(graphs(model))
        places = [None, *(node.place for graph in every for node in graph.nodes)]
        problems = []
        for _ in range(settings().max_examples // 2):
            graph = chance.choice(every) if every else None
            node = chance.choice([None, *graph.nodes]) if graph is not None else None
            value = chance.choice([None, "x", "y", "r", "no such value"])
            path = chance.choice(["", graph.path if graph is not None else "", "no such graph"])
            problems.append(Problem(any_fault(chance), path, node, value, chance.choice(places)))
        findings = [
            Finding(name, each.fault.rule, Severity.NOTE, each.fault.message, each.fault.help, node="n", op="Op")
            for each in problems
        ]
        for limit in (3, None):
            result = drawn(model, Makers(known), problems, findings, None, limit)
            assert len(result) == len(findings)
            for columns in (60, 120):
                report = Report((), tuple(result), "0")
                shown = text.rendered(report, columns=columns, every=True)
                assert ESCAPES.sub("", text.rendered(report, columns=columns, every=True, color=True)) == shown
        assert all(related(Makers(known), each) is not None for each in problems)


@pytest.mark.parametrize("value", ["y", None])
def test_nothing_is_known(value: str | None, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(PAGES["onnx-broadcast"]["detector.onnx"])
    known = inferred(read(path))
    known.types.clear()
    known.calls.clear()
    for node in known.model.graph.nodes:  # type: ignore[union-attr]
        problem = Problem(ANY[2].fault("m", input=1, marks=((0, 1), (1, 1))), "", node, value)
        assert Snippets(known.model, Makers(known), None).snippet(problem).lines


def test_a_stale_declaration_stands_behind_the_error_that_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = "<float[2,5] a, float[9] b> { b = Relu (s) a = Relu (x) c = Neg (a) y = Add (c, z) }"
    model = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x, float[2,4] z, float[7] s) => (float[2,4] y) {nodes}'
    )
    report = checked(tmp_path, {"m.onnx": model.SerializeToString()}, monkeypatch)
    assert [each.rule.code for each in report.findings] == ["IRL601", "IRL601", "IRL201"]
    heads = [line[:45] for line in text.rendered(report).splitlines() if "[IRL" in line]
    assert [head.split(":")[0] for head in heads] == ["error[IRL201]", "warning[IRL601]", "warning[IRL601]"]
    assert "node[1]" in text.rendered(report).split("IRL601]")[1]


def test_errors_stand_before_warnings_and_these_before_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = "g (float[2,3] x, float[4] b) => (float[2,3] y) { y = Add (x, b) }"
    files = {name: from_text(fault, head='<ir_version: 6, opset_import: ["" : 13]>\n') for name in ("a.onnx", "b.onnx")}
    report = checked(tmp_path, files, monkeypatch)
    assert [each.severity.value for each in report.findings] == ["note", "error"] * 2
    heads = [line for line in text.rendered(report).splitlines() if "[IRL" in line]
    assert [head.split("[")[0] for head in heads] == ["error", "note"] * 2
