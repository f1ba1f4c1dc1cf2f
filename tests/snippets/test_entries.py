"""The notes on lists that nodes compute: where each entry comes from."""

from __future__ import annotations

import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'
CONSTANTS = (
    "<int64[1] zero = {0}, int64[1] one = {1}, int64[1] c = {9}, int64[1] d = {7}, int64[1] two = {2}, int64 m = "
    "{3}, float[2] f = {4.5, 6.5}>"
)
SHAPE = "s = Shape (x) b = Gather <axis = 0> (s, zero) q = Gather <axis = 0> (s, one)"

NOTES = """
t = Concat <axis = 0> (b, q, c, d) y = Reshape (x, t)                                | [batch, seq, 9, 7] by Concat[3]: batch and seq are axes 0 and 1 of `x`, 9 is constant `c`, 7 is constant `d`
h = Gather <axis = 0> (s, two) n = Div (h, d) t = Concat <axis = 0> (n, b, q) y = Reshape (x, t) | [8, batch, seq] by Concat[5]: 8 is computed by Div[4] from 56 and 7 (constant `d`), batch and seq are axes 0 and 1 of `x`
t = Concat <axis = 0> (b, q, c) y = Expand (x, t)                                    | [batch, seq, 9] by Concat[3]: batch and seq are axes 0 and 1 of `x`, 9 is constant `c`
u = Unsqueeze (m, zero) t = Concat <axis = 0> (u, d) y = Slice (x, t, t, t)          | [3, 7] by Concat[4]: 3 is constant `m`, 7 is constant `d`
t = Cast <to = 7> (f) y = Slice (x, t, t, t)                                         | [4, 6] by Cast[3]: 4 and 6 are computed by Cast[3]
""".strip().splitlines()


@pytest.mark.parametrize("line", NOTES)
def test_where_the_entries_come_from(line: str) -> None:
    body, _, note = (part.strip() for part in line.partition("|"))
    model = onnx.parser.parse_model(f"{HEAD}g (float[batch,seq,56] x) => (float[?] y) {CONSTANTS} {{ {SHAPE} {body} }}")
    shown = " ".join(irlint.check(model).text().split())
    assert f"note: input 1 is {note} =" in shown


@pytest.mark.parametrize(
    ("target", "meant"),
    [
        ("int64[2] t = {3, -1}", None),
        ("int64[3] t = {5, 47, -1}", None),
        ("int64[4] t = {2, 48, 9, 2}", "8 = 4 * 2: write 4 for the 9 in entry 2 of the target"),
        ("int64[3] t = {2, 47, -1}", "write 48 for the 47 in entry 1 of the target"),
        ("int64[3] t = {2, 49, 8}", "write 48 for the 49 in entry 1 of the target"),
    ],
)
def test_the_entry_that_was_meant_to_be_another_number(target: str, meant: str | None) -> None:
    model = onnx.parser.parse_model(f"{HEAD}g (float[2,48,8] x) => (float[?] y) <{target}> {{ y = Reshape (x, t) }}")
    helps = [finding.help for finding in irlint.check(model).findings if finding.rule.code == "IRL330"]
    assert [meant in help for help in helps] == [True] if meant else all("meant" not in help for help in helps)
