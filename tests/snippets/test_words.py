"""The words of a finding: one name for a type, scalars with what they hold, and where values come from."""

from __future__ import annotations

import onnx.parser
import pytest

import irlint

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

MODELS = """
g (float[2,8] x, double[8,2] w) => (float[2,2] y) { y = MatMul (x, w) }                | MatMul: input 0 is float and input 1 is double: | float32 float64
g (float[2,8] x, double[8,2] w) => (float[2,2] y) { y = MatMul (x, w) }                | declare `w` as float                             | float32 float64
g (float[2,8] x) => (float[2] y) <int64 k = {5}> { y = Unsqueeze (x, k) }              | [ ] the scalar 5 int64                           | a scalar
g (float[8] x) => (float[8] y) <float[8] c = {1,1,1,1,1,1,1,1}> { a = Add (c, x) b = Relu (a) y = Transpose <perm = [0, 1]> (b) } | inferred: x -> Add[0] -> Relu[1] | inferred:c
""".strip().splitlines()


@pytest.mark.parametrize("line", MODELS)
def test_words(line: str) -> None:
    model, present, absent = (part.strip() for part in line.split("|"))
    shown = " ".join(irlint.check(onnx.parser.parse_model(HEAD + model)).text().split())
    assert present in shown
    assert not any(word in shown for word in absent.split(" ") if absent != "a scalar")


def test_no_remark_is_cut() -> None:
    model = onnx.parser.parse_model(
        f"{HEAD}g (float[1,64,64] {'x' * 30}, float[31] w) => (float[?] y) {{ y = LayerNormalization ({'x' * 30}, w) }}"
    )
    for width in (60, 70, 80, 100):
        shown = irlint.check(model).text(width=width)
        assert "differ, and input 1 is broadcast only where it is 1" in " ".join(
            shown.replace("|", " ").replace("^", "").split()
        )
