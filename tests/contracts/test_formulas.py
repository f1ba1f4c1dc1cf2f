"""Texts over sizes are what Python makes of them, and nothing of them is executed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irlint.contracts.formulas import Formula

#: Texts as contracts state them.
TEXTS = """
H % 32 == 0
H % 4 in (0, 3)
1 <= H <= 512 and W >= 2
N == M or N == 1 or M == 1
not (H == W)
(H + 1)//2 - max(W, 3) * min(N, M) >= -abs(H - W)
-H + W != 2*N
""".strip().splitlines()

SIZES = st.fixed_dictionaries({name: st.integers(1, 600) for name in "HWNM"})


@pytest.mark.parametrize("text", TEXTS)
@given(sizes=SIZES)
def test_a_formula_is_what_python_makes_of_it(text: str, sizes: dict[str, int]) -> None:
    assert Formula(text).holds(sizes) is bool(eval(text, {}, dict(sizes)))


def test_names_are_those_of_sizes() -> None:
    assert Formula(TEXTS[5]).names == frozenset("HWNM")
    with pytest.raises(KeyError):
        Formula("H == W").holds({"H": 2})


@pytest.mark.parametrize(
    "text",
    ["__import__('os')", "H.real", "[H for H in (1,)]", "H / 2", "(lambda: 1)()", "H ==", "'a' in (1,)", "max(*H)"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises((SyntaxError, TypeError)):
        Formula(text)
