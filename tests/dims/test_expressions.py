"""Sizes that are written as expressions: what they are for every size, and what is no size."""

from __future__ import annotations

import math
import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.dims import evaluated, symbol
from irlint.dims.expressions import LONGEST, read

SIZES = {"H": symbol("H"), "W": symbol("W")}

#: What the functions of the texts mean.
MEANINGS = {
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "ceiling": math.ceil,
    "ceil": math.ceil,
    "floor": math.floor,
    "IntTrueDiv": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Max": max,
    "Min": min,
    "max": max,
    "min": min,
}

TEXTS = [
    "H",
    " 2*H ",
    "-H + 3*W",
    "H**2 - 1",
    "(((H - 1)//2)) + 1",
    "((((((H - 1)//4)) - 7)//8)) + 1",
    "64*W*CeilToInt(IntTrueDiv((((H - 1)//8)) + 1, 2))",
    "H + Max(0, -H + 2*CeilToInt(IntTrueDiv(H, 2)) + 1)",
    "FloorToInt(IntTrueDiv(H, 3)) + floor(W/2) + ceiling((H + W)/5) + ceil(H)",
    "Max(0, H - Min(W, H))",
    "max(1, min(H, 64), W)",
    "Mod(H, 7) + PythonMod(W, 2) + H % 3 + FloorDiv(H, W)",
    "((H*W)//(H + 1))",
]

NO_SIZES = [
    "",
    "H +",
    "H W",
    "N",
    "2*N",
    "H/2",
    "IntTrueDiv(H, 2)",
    "H//0",
    "H//(W - 5)",
    "H**9",
    "H**W",
    "H**-1",
    "1.5*H",
    "True",
    "Max()",
    "Max(H, x=1)",
    "H if W else 1",
    "H < W",
    "__import__('os')",
    "(lambda: H)()",
    "H.real",
    "[H][0]",
    "sqrt(H)",
    "CeilToInt(H, 2)",
    "('" * 60,
    "(" * 250 + "H" + ")" * 150,
    "-" * LONGEST + "H",
    "9**8**8**8",
    "+".join(["H"] * LONGEST),
    "H\0",
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_expression_has_its_value_for_all_sizes(text: str) -> None:
    found = read(text, SIZES)
    assert found is not None
    for height in range(1, 40):
        for width in range(1, 12):
            sizes = {"H": height, "W": width}
            assert evaluated(found, sizes) == eval(text.strip(), dict(MEANINGS), sizes)


@pytest.mark.parametrize("text", NO_SIZES)
def test_any_other_text_is_no_size(text: str) -> None:
    assert read(text, SIZES) is None


atoms = st.sampled_from(["H", "W"]) | st.integers(0, 9).map(str)


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(inner, inner)
    divided = st.tuples(inner, st.integers(1, 9))
    return (
        pairs.map("({0[0]} + {0[1]})".format)
        | pairs.map("{0[0]} - ({0[1]})".format)
        | pairs.map("({0[0]})*({0[1]})".format)
        | pairs.map("Max({0[0]}, {0[1]})".format)
        | pairs.map("Min({0[0]}, {0[1]})".format)
        | divided.map("(({0[0]})//{0[1]})".format)
        | divided.map("CeilToInt(IntTrueDiv({0[0]}, {0[1]}))".format)
        | divided.map("Mod({0[0]}, {0[1]})".format)
    )


@given(st.recursive(atoms, grown, max_leaves=6), st.integers(1, 60), st.integers(1, 60))
def test_law_value(text: str, height: int, width: int) -> None:
    found = read(text, SIZES)
    sizes = {"H": height, "W": width}
    assert found is None or evaluated(found, sizes) == eval(text, dict(MEANINGS), sizes)


@given(st.text(max_size=40) | st.text("HW0129+-*/%(),. ", max_size=40))
def test_nothing_fails(text: str) -> None:
    read(text, SIZES)
