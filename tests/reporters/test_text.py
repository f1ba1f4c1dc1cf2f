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
from onnx import ModelProto, helper
from timing import within

from irlint.findings.faults import RULES, SEVERITIES, Fault, Rule, Severity
from irlint.findings.report import Finding, Report
from irlint.inference.origins import Makers
from irlint.inference.walk import inferred
from irlint.model import Problem
from irlint.parsers import read
from irlint.reporters import ansi, text
from irlint.run.files import Settings
from irlint.run.one_file import inspected
from irlint.snippets.finding import Pictures, drawn, related

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

#: Set, the golden pages are written instead of compared.
REWRITE = "IRLINT_REWRITE_GOLDEN"

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")

Files = dict[str, bytes]


# --- models -----------------------------------------------------------------------------------------------------------


def from_text(body: str, edit: Callable[[ModelProto], None] | None = None, head: str = HEAD) -> bytes:
    model = onnx.parser.parse_model(head + body)
    if edit is not None:
        edit(model)
    return model.SerializeToString()


def detector(model: ModelProto) -> None:
    for node, name in zip(model.graph.node, ("/backbone/conv1/Conv", "/backbone/act/Relu", "/neck/Add_3")):
        node.name = name
    model.graph.initializer.append(helper.make_tensor("w", 1, [64, 3, 7, 7], bytes(64 * 3 * 7 * 7 * 4), raw=True))


def tables(model: ModelProto) -> None:
    model.graph.initializer.append(helper.make_tensor("positions", 1, [1, 77, 16], bytes(4 * 77 * 16), raw=True))


def weights(model: ModelProto) -> None:
    model.graph.initializer.append(helper.make_tensor("w", 1, [12288, 5], bytes(4 * 12288 * 5), raw=True))


def awkward(model: ModelProto) -> None:
    model.graph.name = 'main\n"g"'
    model.graph.node[0].name = 'red\x1b[31m\x1b]0;title\x07\n"q" \u202e 中文'
    model.graph.input[1].name = model.graph.node[0].input[1] = 'b "x"\n\x1b[2J'


def port(id: int, dims: tuple[int, ...], precision: str = "") -> str:
    rows = "".join(f"\t\t\t\t\t<dim>{dim}</dim>\n" for dim in dims)
    return f'\t\t\t\t<port id="{id}"{precision}>\n{rows}\t\t\t\t</port>\n'


def layer(id: int, name: str, op: str, data: str, inputs: list[tuple[int, ...]], output: tuple[int, ...] | None) -> str:
    parts = [f'\t\t<layer id="{id}" name="{name}" type="{op}" version="opset1">\n']
    if data:
        parts.append(f"\t\t\t<data {data}/>\n")
    if inputs:
        parts += ["\t\t\t<input>\n", *(port(at, dims) for at, dims in enumerate(inputs)), "\t\t\t</input>\n"]
    if output is not None:
        parts += ["\t\t\t<output>\n", port(len(inputs), output, ' precision="FP32"'), "\t\t\t</output>\n"]
    return "".join([*parts, "\t\t</layer>\n"])


def net(layers: list[str], edges: list[tuple[int, int, int, int]]) -> str:
    lines = "".join(
        f'\t\t<edge from-layer="{a}" from-port="{b}" to-layer="{c}" to-port="{d}"/>\n' for a, b, c, d in edges
    )
    return (
        '<?xml version="1.0"?>\n<net name="main_graph" version="11">\n\t<layers>\n'
        f"{''.join(layers)}\t</layers>\n\t<edges>\n{lines}\t</edges>\n</net>\n"
    )


def detector_ir(skip: int = 55, relu: int = 56, auto_broadcast: str = "auto_broadcast", declared: int = 56) -> str:
    images, weights, conv = (1, 3, 224, 224), (64, 3, 7, 7), (1, 64, 56, 56)
    windows = 'strides="4,4" dilations="1,1" pads_begin="3,3" pads_end="3,3" auto_pad="explicit"'
    other = (1, 64, 56, skip)
    return net(
        [
            layer(0, "images", "Parameter", 'shape="1,3,224,224" element_type="f32"', [], images),
            layer(1, "skip", "Parameter", f'shape="1,64,56,{skip}" element_type="f32"', [], other),
            layer(2, "w", "Const", 'element_type="f32" shape="64,3,7,7" offset="0" size="37632"', [], weights),
            layer(5, "/backbone/conv1/Conv", "Convolution", windows, [images, weights], conv),
            layer(12, "/backbone/act/Relu", "Relu", "", [conv], (1, 64, declared, 56)),
            layer(31, "/neck/Add_3", "Add", f'{auto_broadcast}="numpy"', [conv, other], conv),
            layer(32, "y", "Result", "", [conv], None),
        ],
        [(0, 0, 5, 0), (2, 0, 5, 1), (5, 2, 12, 0), (12, 1, 31, 0), (1, 0, 31, 1), (31, 2, 32, 0)],
    )


def table_ir() -> str:
    images, table = (-1, -1, 4), (1, 77, 4)
    return net(
        [
            layer(0, "x", "Parameter", 'shape="?,?,4" element_type="f32"', [], images),
            layer(1, "positions", "Const", 'element_type="f32" shape="1,77,4" offset="0" size="1232"', [], table),
            layer(2, "relu", "Relu", "", [images], images),
            layer(3, "sum", "Add", 'auto_broadcast="numpy"', [images, table], (-1, 77, 4)),
            layer(4, "y", "Result", "", [(-1, 77, 4)], None),
        ],
        [(0, 0, 2, 0), (2, 1, 3, 0), (1, 0, 3, 1), (3, 2, 4, 0)],
    )


WEIGHTS = bytes(37632)
TABLE = """encoder (float[batch,seq,16] words) => (float[batch,77,16] y) {
  x = Relu (words)
  y = Add (x, positions)
}"""
LAYER = """classifier (float[batch,3,H,W] image) => (float[batch,5] y) {
  r = Relu (image)
  f = Flatten (r)
  y = MatMul (f, w)
}"""
DETECTOR = """main_graph (float[1,3,224,224] images, float[1,64,56,55] skip) => (float[1,64,56,56] y) <float[64,3,7,7] w> {
  c = Conv <pads = [3,3,3,3], strides = [4,4]> (images, w)
  r = Relu (c)
  y = Add (r, skip)
}"""
BLOCKS = "".join(f"  a{i} = Relu (x)\n  x{i} = Add (a{i}, b)\n" for i in range(13))
KINDS = "".join(f"  d{i} = Add (x, b{i})\n" for i in range(14))
KINDS_INPUTS = ", ".join(f"float[{i + 4}] b{i}" for i in range(14))

#: The files of each page by the name of the page, the columns it is shown in behind a ``@``.
PAGES: dict[str, Files] = {
    "ir-broadcast": {"detector.xml": detector_ir().encode(), "detector.bin": WEIGHTS},
    "ir-broadcast@80": {"detector.xml": detector_ir().encode(), "detector.bin": WEIGHTS},
    "ir-one-line": {"m.xml": re.sub(r"[\t\n]", "", detector_ir()).encode(), "m.bin": WEIGHTS},
    "ir-attribute": {"m.xml": detector_ir(56, auto_broadcast="auto_brodcast").encode(), "m.bin": WEIGHTS},
    "ir-declared": {"m.xml": detector_ir(56, declared=54).encode(), "m.bin": WEIGHTS},
    "ir-no-weights": {"m.xml": detector_ir(56).encode()},
    "ir-truncated": {"m.xml": detector_ir().encode()[:1500]},
    "ir-malformed": {"m.xml": detector_ir().replace("</layers>", "</layer>").encode()},
    "onnx-broadcast": {"detector.onnx": from_text(DETECTOR, detector)},
    "onnx-broadcast@80": {"detector.onnx": from_text(DETECTOR, detector)},
    "onnx-undefined": {
        "m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { skip = Relu (x) y = Add (x, skipp) }"),
    },
    "onnx-attribute": {"m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alhpa = 0.1> (x) }")},
    "onnx-declared": {"m.onnx": from_text("g (float[2,3] x) => (float[2,4] y) { z = Neg (x) y = Relu (z) }")},
    "onnx-types": {"m.onnx": from_text("g (float[2,3] x, int64[3] b) => (float[2,3] y) { y = Add (x, b) }")},
    "onnx-symbolic": {
        "m.onnx": from_text(
            """g (float[N,3,H,W] x, float[3,1,5] b) => (float[N,3,H,W] y) {
  s = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x)
  t = Concat <axis = 3> (s, s)
  y = Add (t, b)
}"""
        ),
    },
    "onnx-fixed-size": {"m.onnx": from_text(TABLE, tables)},
    "onnx-fixed-product": {"m.onnx": from_text(LAYER, weights)},
    "ir-fixed-size": {"m.xml": table_ir().encode(), "m.bin": bytes(1232)},
    "onnx-repeated": {
        "m.onnx": from_text(f"g (float[2,3] x, float[4] b) => (float[2,3] y) {{\n{BLOCKS}  y = Relu (x)\n}}"),
    },
    "onnx-many": {
        "m.onnx": from_text(f"g (float[2,3] x, {KINDS_INPUTS}) => (float[2,3] y) {{\n{KINDS}  y = Neg (x)\n}}")
    },
    "onnx-function": {
        "m.onnx": from_text(
            """g (float[2,3] x, float[4] b) => (float[2,3] y) { a = custom.scaled (x, x) y = custom.scaled (x, b) }
<domain: "custom", opset_import: ["" : 17]>
scaled (p, q) => (r) { s = Relu (p) r = Mul (s, q) }""",
            head='<ir_version: 8, opset_import: ["" : 17, "custom" : 1]>\n',
        ),
    },
    "onnx-body": {
        "m.onnx": from_text(
            """g (bool c, float[2,3] x, float[4] b) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] o) { o = Add (x, b) }, else_branch = e () => (float[2,3] p) { p = Relu (x) }>
}"""
        ),
    },
    "onnx-awkward-names": {
        "m.onnx": from_text("g (float[2,3] x, float[4] b) => (float[2,3] y) { y = Add (x, b) }", awkward),
    },
    "onnx-truncated": {"m.onnx": from_text(DETECTOR, detector)[:9000]},
    "lfs-pointer": {
        "m.onnx": b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 1288490188\n",
    },
    "archive": {"m.onnx": b"PK\3\4\24\0\0\0\10\0abcdefghijkl"},
    "nothing-found": {"m.onnx": from_text("g (float[2,3] x) => (float[2,3] y) { y = Add (x, x) }")},
}


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
    made = Rule(code, f"for-tests-{code[3:].lower()}", severity, "For tests.")
    del RULES[code]
    return made


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
            result = drawn(model, known, problems, findings, None, limit)
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
        assert Pictures(known.model, known, None).drawing(problem).lines


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
