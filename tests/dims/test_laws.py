"""What holds of all sizes, over random expressions."""

from __future__ import annotations

import math
from collections.abc import Callable

from dims.test_dims import built
from hypothesis import assume, given, reject
from hypothesis import strategies as st

from irlint.dims import (
    Dim,
    Expr,
    TooComplex,
    at_least,
    bounds,
    ceildiv,
    divisible,
    evaluated,
    guarded,
    largest,
    product,
    quotient,
    same,
    substituted,
    symbols,
)

RANGES = {"N": (0, 40), "M": (0, 40), "P": (1, 40), "U": (0, 3)}
sizes = st.fixed_dictionaries({name: st.integers(*limits) for name, limits in RANGES.items()})
small = st.integers(-6, 12)
leaves = st.one_of(small.map(str), st.sampled_from(sorted(RANGES)))
numbers = st.sampled_from(["1", "2", "3", "4", "6", "8"])
sized = st.sampled_from(["P", "(P + 1)", "2*P"])


def grown(divisors: st.SearchStrategy[str]) -> Callable[[st.SearchStrategy[str]], st.SearchStrategy[str]]:
    return lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner),
        st.builds("(({}){}({}))".format, inner, st.sampled_from(["//", "%"]), divisors),
        st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), inner, inner),
    )


trees = st.recursive(leaves, grown(numbers | sized), max_leaves=6)
trees_over_numbers = st.recursive(leaves, grown(numbers), max_leaves=6)


def dim(tree: str) -> Dim:
    try:
        result = built(tree)
    except TooComplex:
        reject()
    assume(result is not None)
    return result


def number(text: str, values: dict[str, int]) -> int:
    return eval(text, {"min": min, "max": max, **values})


@given(trees, sizes)
def test_law_value(tree: str, values: dict[str, int]) -> None:
    expr = dim(tree)
    assert evaluated(expr, values) == number(tree, values) == number(str(expr), values)
    assert not isinstance(expr, Expr) or symbols(expr)


@given(trees_over_numbers)
def test_law_text_is_canonical(tree: str) -> None:
    assert dim(str(dim(tree))) == dim(tree)


@given(trees, sizes)
def test_law_bounds(tree: str, values: dict[str, int]) -> None:
    low, high = bounds(dim(tree))
    assert (-math.inf if low is None else low) <= number(tree, values) <= (math.inf if high is None else high)


@given(trees, trees, sizes)
def test_law_comparisons(left: str, right: str, values: dict[str, int]) -> None:
    a, b = number(left, values), number(right, values)
    assert same(dim(left), dim(right)) in (None, a == b)
    assert at_least(dim(left), dim(right)) in (None, a >= b)
    if min(values.values()) > 0:
        assert same(dim(left), dim(right), positive=True) in (None, a == b)


@given(trees, small, small, sizes)
def test_law_same_near_itself(tree: str, shift: int, factor: int, values: dict[str, int]) -> None:
    moved = f"((({tree})//4)*4 + ({tree})%4)*1 + {shift}*(({tree})//2 - N//2) + {factor}"
    assert same(dim(tree), dim(moved)) in (None, number(tree, values) == number(moved, values))


@given(trees, st.integers(1, 9), sizes)
def test_law_divisible(tree: str, divisor: int, values: dict[str, int]) -> None:
    assert divisible(dim(tree), divisor) in (None, number(tree, values) % divisor == 0)


@given(trees, trees)
def test_law_quotient(left: str, right: str) -> None:
    a, b = dim(left), dim(right)
    both = product([a, b])
    assume(b != 0 and both is not None)
    assert both is not None
    assert quotient(both, b) == a


@given(trees, small, st.integers(1, 9))
def test_law_multiples_leave_a_quotient(tree: str, constant: int, divisor: int) -> None:
    expr = dim(tree)
    assert same((expr + constant * divisor) // divisor, expr // divisor + constant) is True
    assert ceildiv(expr, divisor) == (expr - 1) // divisor + 1


@given(trees, trees, sizes)
def test_law_substituted(tree: str, replacement: str, values: dict[str, int]) -> None:
    inside = largest(dim(replacement), 1)
    assert inside is not None
    moved = {**values, "P": evaluated(inside, values)}
    result = guarded(substituted, dim(tree), {"P": inside})
    assert result is None or evaluated(result, values) == number(tree, moved)
    assert substituted(dim(tree), values) == number(tree, values)
    assert type(substituted(dim(tree), values)) is int
