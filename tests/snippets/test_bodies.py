"""What the bodies of a node give, shown where the finding is about them."""

from __future__ import annotations

import onnx.parser

import irlint

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'


def notes(text: str) -> list[str]:
    shown = irlint.check(onnx.parser.parse_model(f"{HEAD}g {text}")).text(width=200)
    return [line.partition("= note: ")[2] for line in shown.splitlines() if "= note: " in line]


def test_what_each_branch_gives() -> None:
    assert notes(
        """(bool c, float[2,3] x) => (float[2,3] y) {
  y = If (c) <then_branch = t () => (float[2,3] a) { a = Relu (x) },
    else_branch = e () => (float16[2,3] b) { n = Neg (x) [half] b = Cast <to = 10> (n) }> }"""
    ) == [
        "`then_branch` returns `a`, float[2, 3], by Relu[0]",
        '`else_branch` returns `b`, float16[2, 3], by Cast[1] "half"',
        "`y` is declared as float, output 0 of the node",
    ]


def test_the_condition_that_a_body_lacks() -> None:
    found = irlint.check(
        onnx.parser.parse_model(
            f"""{HEAD}g (int64 m, bool c, float[3] x) => (float[3] y) {{
  y = Loop (m, c, x) <body = b (int64 i, bool k, float[3] s) => (float[3] o) {{ o = Relu (s) }}> }}"""
        )
    ).findings
    assert [each.message for each in found if each.rule.code == "IRL390"] == [
        "`body` has 1 output; expected 2 outputs: the condition comes first, and the node has 1"
    ]
