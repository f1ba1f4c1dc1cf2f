"""The text report on narrow pages, with long names, with wide and combining letters, and in small encodings."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from irlint.findings.report import Finding, Report
from irlint.policy.rulebook import every_rule
from irlint.reporters import listing, text
from irlint.reporters.canvas import cut, display, fitting, wrapped
from irlint.reporters.pages import page, table
from irlint.run.files import Settings
from irlint.run.one_file import inspected
from irlint.snippets.drawing import Line, Piece, Row, Snippet, Table

WIDTHS = (60, 80, 100, 120)

LONG = "model/layers.17/self_attn/rotary_embedding/Mul_output_0/" * 3
NAMES = {
    "plain": ("images", "skip"),
    "long": (f"a/{LONG}", f"b/{LONG}"),
    "one word": ("a" * 300, "b" * 300),
    "chinese": ("卷积层输出特征图", "跳跃连接"),
    "long chinese": ("卷积层输出" * 13, "跳跃连接" * 16),
    "combining": ("e\u0301te\u0301", "กำลัง_ที่นี่"),
    "hangul": ("\u1112\u1161\u11ab\u1100\u1173\u11af", "u\u0308ber"),
    "right to left": ("שכבה", "مدخل"),
    "emoji": ("👩\u200d🔬", "❤\ufe0f🇩🇪"),
}
SHAPES: dict[str, tuple[list[int | str], list[int | str]]] = {
    "short": ([2, 3], [2, 4]),
    "rank 9": ([1, 2, 3, 4, 5, 6, 7, 8, 9], [2, 3, 4, 5, 6, 7, 9, 9]),
    "rank 16": ([*range(1, 17)], [*range(2, 8), 100, *range(9, 17)]),
    "long symbols": (["batch_size_" * 6, "sequence_length_" * 4, 128], ["batch_size_" * 6, "sequence_length_" * 4, 64]),
    "expressions": (["past_sequence_length + sequence_length + 1", "H", 8], [7]),
    "large": ([123456789012, 2], [123456789013, 2]),
}


def columns(line: str) -> int:
    """The columns that a line takes on a terminal, counted in another way than the reporter does."""
    composed = unicodedata.normalize("NFC", line)
    letters = [each for each in composed if unicodedata.category(each) not in ("Mn", "Me")]
    return sum(1 + (unicodedata.east_asian_width(each) in ("W", "F")) for each in letters)


def report(folder: Path, names: tuple[str, str], shapes: tuple[list[int | str], list[int | str]]) -> Report:
    left, right = names
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in zip(names, shapes)]
    nodes = [
        helper.make_node("Relu", [left], [f"{left}r"], name=f"{left}n"),
        helper.make_node("Add", [f"{left}r", right], ["y"], name=f"{right}n"),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes, left, inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    file, findings = inspected("m.onnx", settings=Settings(drawn=True))
    return Report((file,), findings, "0")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("names", NAMES)
def test_no_line_is_wider_than_the_page(names: str, shapes: str, tmp_path: Path) -> None:
    found = report(tmp_path, NAMES[names], SHAPES[shapes])
    for width in WIDTHS:
        lines = text.rendered(found, columns=width).splitlines()
        whole = {finding.node for finding in found.findings}
        assert [
            line
            for line in lines
            if columns(line) > width and line.strip() not in whole and "`~` stands for" not in line
        ] == []


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_marks_stand_under_what_they_mean(names: str, width: int, tmp_path: Path) -> None:
    lines = text.rendered(report(tmp_path, NAMES[names], SHAPES["short"]), columns=width).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("[1] |"))
    start, end = (
        columns(lines[at + 1][:match])
        for match in re.search(
            r"\^"
            r"+",
            lines[at + 1],
        ).span()
    )  # type: ignore[union-attr]
    before = next(index for index in range(len(lines[at])) if columns(lines[at][:index]) == start)
    after = max(index for index in range(len(lines[at]) + 1) if columns(lines[at][:index]) == end)
    assert lines[at][before - 1] in " .", "a mark begins with a name"
    assert lines[at][after:] in (")", "..."), "and ends with it"
    row = next(index for index, line in enumerate(lines) if re.match(r" +\|   input 1 ", line))
    assert columns(lines[row].split(" ]")[0]) == columns(lines[row + 1].rstrip().partition("^")[0]) + 1


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8", "UTF-8"])
def test_marks_stand_under_what_an_encoding_makes_of_names(encoding: str, tmp_path: Path) -> None:
    shown = text.rendered(report(tmp_path, ("é卷积", "ü跳跃"), SHAPES["short"]), columns=100, encoding=encoding)
    assert shown.encode(encoding).decode(encoding) == shown
    lines = shown.splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("[1] |"))
    mark = lines[at + 1].index("^")
    operand = lines[at].rpartition(", ")[0] + ", "
    assert columns(lines[at + 1][:mark]) == columns(operand)
    assert lines[at + 1].count("^") == columns(lines[at].rpartition(", ")[2]) - 1
    assert (r"\u8df3" in lines[at]) == (encoding in ("ascii", "cp1252"))


# --- names and shapes -------------------------------------------------------------------------------------------------


def drawn(drawing: Snippet, width: int = 80) -> list[str]:
    rule = every_rule()[0]
    finding = Finding("m.onnx", rule, rule.severity, "m", detail=drawing)
    return text.rendered(Report((), (finding,), "0"), quiet=True, columns=width).splitlines()


def rows(*found: Row, width: int = 80, remark: str = "") -> list[str]:
    lines = drawn(Snippet(table=Table(found, remark=remark)), width)
    bar = lines.index("    |")
    return [line.removeprefix("    |   ") for line in lines[bar + 1 : -2]]


def test_names_that_begin_alike_are_distinguished() -> None:
    names = [f"/model/backbone/very/long/path/of/folders/stage{index}/conv/Conv_output_0" for index in range(3)]
    lines = rows(*(Row(f"input {index}", ("1", "64"), "float", name=name) for index, name in enumerate(names)))
    assert [line[:39] for line in lines[1:]] == [
        f"input {index}  ~/stage{index}/conv/Conv_output_0  [" for index in range(3)
    ]


def test_what_is_no_tensor_has_its_type() -> None:
    assert rows(Row("input 0", None, instead="seq(float32[2])"), Row("input 1", (), "int64"), Row("input 2", None)) == [
        "input 0  seq(float32[2])",
        "input 1  [ ]  a scalar    int64",
        "input 2  of unknown rank",
    ]


def test_a_remark_without_room_stands_before_its_mark() -> None:
    wide = tuple("d" * 30 for _ in range(2))
    lines = rows(
        Row("input 0", (*wide, "3"), marked=(2,)),
        Row("input 1", (*wide, "4"), marked=(2,)),
        remark="differ, and neither is 1",
    )
    assert lines[-1].endswith("differ, and neither is 1 ^")
    assert lines[-1].index("^") == lines[-2].index("4 ]")


def test_of_a_long_list_the_ends_and_what_is_marked_are_left() -> None:
    operands = [
        piece for index in range(12) for piece in (Piece(", ", expendable=3), Piece(f"operand_{index}", expendable=3))
    ][1:]
    operands[18] = Piece("operand_9", "primary", "int64", 3)
    line = Line(
        "[7]",
        (
            Piece("y", expendable=1),
            Piece(" = Concat <"),
            Piece("axis = 1", expendable=2),
            Piece("> ("),
            *operands,
            Piece(")"),
        ),
    )
    shown = drawn(Snippet(lines=(line,)))
    assert shown[3] == "[7] | y = Concat <axis = 1> (operand_0, operand_1, ..., operand_9, ...)"
    assert shown[4] == "    |                                                   ^^^^^^^^^ int64"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([f"/layers.{index}/Add" for index in range(1, 40)], "/layers.N/Add, N from 1 to 39"),
        ([f"/l.{index}/Add" for index in (2, 4, 6, 8)], "/l.N/Add, N being 2, 4, 6, 8"),
        ([f"/l.{index}" for index in (1, 2, 3, 999_999_999)], "/l.N, N being 1, 2, 3, 999999999"),
        ([f"/l.{2**index}/a1" for index in range(12)], "/l.N/a1, N being 1, 2, 4, 8, 16, 32, 64, 128, ... 2048"),
        (["a1", "a2", "a3"], "a1, a2, a3"),
        (["a1/b1", "a2/b2", "a3/b3", "a4/b4"], "a1/b1, a2/b2, a3/b3, ..."),
        (["a", "b", "c", "d"], "a, b, c, ..."),
        ([f"{'1' * 5000}a{index}" for index in range(4)], None),
    ],
)
def test_repeated_parts_are_named_as_a_series(names: list[str], message: str | None) -> None:
    rule = every_rule()[0]
    findings = [Finding("m.onnx", rule, rule.severity, "m", node=name, op="Add") for name in ["first", *names]]
    shown = " ".join(text.rendered(Report((), tuple(findings), "0"), quiet=True, columns=120).split())
    assert message is None or f"= note: the same at {len(names)} more nodes: {message} = rule" in shown


def test_places_in_other_graphs_are_reported_with_them() -> None:
    rule = every_rule()[0]
    findings = [
        Finding("m.onnx", rule, rule.severity, "m", graph=f"if_{index}/then_branch", value="one") for index in (0, 1)
    ]
    assert "the same at 1 more place: if_1/then_branch: one\n" in text.rendered(Report((), tuple(findings), "0"))


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "room", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("the shape [1, 64, 56, 56] of x", 20, ["the shape", "[1, 64, 56, 56] of x"]),
        ("run `git lfs pull` first", 12, ["run", "`git lfs", "pull` first"]),
        ("run `git lfs pull` first", 16, ["run", "`git lfs pull`", "first"]),
        ("/aaaa/bbbb/cccc", 8, ["/aaaa/", "bbbb/", "cccc"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("输入特征图", 5, ["输入", "特征", "图"]),
        ("see m/very/long.xml:1:2 there", 10, ["see", "m/very/long.xml:1:2", "there"]),
        (
            "input 0 is [1, 2] and input 1 is [3]: axis 1 is 2 against 3",
            50,
            ["input 0 is [1, 2] and input 1 is [3]:", "axis 1 is 2 against 3"],
        ),
        ("", 5, [""]),
    ],
)
def test_words_are_wrapped(words: str, room: int, lines: list[str]) -> None:
    assert wrapped(words, room, intact="m/very/long.xml") == lines


@pytest.mark.parametrize("room", range(7, 40))
def test_what_is_cut_fits(room: int) -> None:
    for words in ("a" * 30, "卷积层输出特征图" * 3, "e\u0301" * 20, "กำลัง_ที่นี่" * 4, LONG):
        assert columns(cut(words, room)) <= room
        assert words.startswith(fitting(words, room))
        assert columns(fitting(words, room)) <= room


def test_width_of_letters() -> None:
    texts = ["abc", "卷积", "e\u0301", "ｗ", "ี่", "שכ", "\u1112\u1161\u11ab", ""]
    assert [display(each) for each in texts] == [3, 4, 1, 2, 0, 2, 2, 0]


# --- pages and tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 100])
def test_pages_fit_but_for_their_examples(width: int) -> None:
    for rule in every_rule():
        shown = page(rule, width).splitlines()
        assert all(len(line) <= width for line in shown if not line.startswith("    ")), rule.code
        assert shown[0] == f"{rule.code} {rule.name} ({rule.severity.value})"
        colored = page(rule, width, color=True)
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored).splitlines() == shown
        assert colored.count("\x1b[1m") >= 2


def test_table_of_rules() -> None:
    rules = every_rule()
    assert len(table(rules).splitlines()) == len(rules)
    for width in (60, 80, 120):
        assert max(map(len, table(rules, width).splitlines())) <= width
        colored = table(rules, width, color=True)
        assert all(rule.name in colored for rule in rules)


def test_listing_is_aligned_with_wide_letters() -> None:
    entries = [
        {"graph": "", "name": name, "node": None, "op": op, "dtype": "float32", "shape": [2], "value": None}
        for name, op in (("x", None), ("卷积", "Relu"), ("été", "Add"))
    ]
    values = {"path": "m.onnx", "format": "onnx", "inputs": ["x"], "values": entries, "requires": [], "symbols": {}}
    for encoding in ("utf-8", "ascii"):
        lines = listing.rendered(values, encoding).splitlines()[1:]
        assert len({columns(line.partition("float32")[0]) for line in lines}) == 1
        assert "".join(lines).isascii() == (encoding == "ascii")
