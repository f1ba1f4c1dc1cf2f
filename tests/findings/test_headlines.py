"""What the headline of a fault says: the fact first, and whole shapes only where more than one axis matters."""

from __future__ import annotations

import onnx.parser
import pytest

import irlint
from irlint.dims import broadcast_size, symbol

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'

HEADLINES = """
(float[1,48,8,8] x, float[48,47,1,1] w) { y = Conv (x, w) }               | 48 channels arrive (axis 1 of input 0), but the weights need 47
(float[1,48,8,8] x, float[48,9,1,1] w) { y = Conv <group = 5> (x, w) }    | the 48 output channels (axis 0 of input 1) are not a multiple of `group`, 5
(float[1,48,8,8] x) { y = Transpose <perm = [0,2,1]> (x) }                | perm has 3 entries, input 0 has 4 axes
(float[2,768] x, float[512,768] w) { y = MatMul (x, w) }                  | 768 (axis 1 of input 0) against 512 (axis 0 of input 1): the product sums over both
(float[2,4,8] x, float[3,8,4] w) { y = MatMul (x, w) }                    | in the axes before the matrices, axis 0 is 2 in input 0 and 3 in input 1
(float[2,3,4] x, float[2,3,5] w) { y = Add (x, w) }                       | axis 2 is 4 in input 0 and 5 in input 1
(float[2,3,4] x, float[2,1] w) { y = Add (x, w) }                         | axis 1 is 3 against 2: input 0 is [2, 3, 4] and input 1 is [2, 1]
(float[2,3] x, float[3,2] w) { y = Add (x, w) }                           | axis 0 is 2 against 3; axis 1 is 3 against 2: input 0 is [2, 3] and input 1 is [3, 2]
(float[2,3] x, float[3] w, float[4] b) { y = Concat <axis = 0> (x, w) }   | input 0 has 2 axes and input 1 has 1
(float[2,8] x, float[3] w) { y = LayerNormalization (x, w) }              | axis 0 of input 1 (Scale) is 3; to be broadcast to axis 1, it must be 1 or 8
(float[2,8] x) <int64[2] t = {3, -1}> { y = Reshape (x, t) }              | 16 elements come in, which are no multiple of 3: input 0 is [2, 8], the target [3, -1]
(float[1,8] x) <int64[2] t = {2, 8}> { y = Reshape (x, t) }               | 8 elements come in, the target [2, 8] has 16; input 0 is [1, 8]
""".strip().splitlines()


@pytest.mark.parametrize("line", HEADLINES)
def test_the_fact_comes_first(line: str) -> None:
    model, _, headline = (part.strip() for part in line.partition("|"))
    inputs, brace, body = model.partition("{")
    signature, angle, constants = inputs.partition("<")
    text = f"{HEAD}g {signature} => (float[?] y) {angle}{constants} {brace}{body}"
    errors = irlint.check(onnx.parser.parse_model(text), select=["IRL2", "IRL3"]).errors
    assert [error.message for error in errors] == [headline]


def test_the_size_that_sizes_are_broadcast_to() -> None:
    a, b, c = symbol("a"), symbol("b"), symbol("c")
    joint = broadcast_size(a, b)
    assert (str(joint), f"{joint}") == ("max(a, b)*min(a, b, 1)", "max(a, b)")
    assert joint is not None
    assert f"{8 * joint + c}" == "8*max(a, b) + c"
    assert f"{(joint + 3) // 4}" == "(max(a, b) + 3)//4"
    assert f"{(a + 3) // 4}" == str((a + 3) // 4)


def test_long_symbols_have_letters() -> None:
    text = f"{HEAD}g (float[p2o_DynamicDimension_0,64] x, float[p2o_DynamicDimension_1,64] A) => (float[?] y) "
    report = irlint.check(
        onnx.parser.parse_model(f"{text} {{ s = Add (x, A) t = Transpose <perm = [0]> (s) y = Relu (t) }}")
    )
    shown = report.text()
    assert "B is p2o_DynamicDimension_0, C is p2o_DynamicDimension_1" in shown
    assert "float[max(B, C),64]" in shown
    assert shown.count("DynamicDimension") == 2
