"""Solving conditions on one size: the result holds for exactly the same sizes."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irlint.contracts.assumptions import assumed
from irlint.contracts.conditions import conditions
from irlint.contracts.sizes import ALL, met, solved
from irlint.dims import Dim, MaybeDim, TooComplex, evaluated, floordiv, largest, smallest, symbol
from irlint.findings.statements import Relation

H = symbol("H")
LARGEST = 130


def dims(depth: int) -> st.SearchStrategy[Dim]:
    leaves = st.one_of(st.just(H), st.integers(-6, 40))
    if depth == 0:
        return leaves
    below = dims(depth - 1)
    return st.one_of(
        leaves,
        st.builds(lambda a, b, factor: a + factor * b, below, below, st.integers(-3, 3)),
        st.builds(lambda a, b: a * b, below, below),
        st.builds(floordiv, below, st.integers(1, 6)),
        st.builds(_sound, st.just(largest), below, below),
        st.builds(_sound, st.just(smallest), below, below),
    )


def _sound(function: object, a: Dim, b: Dim) -> Dim:
    found: MaybeDim = function(a, b)  # type: ignore[operator]
    return a if found is None else found


relations = st.one_of(
    st.builds(Relation, st.sampled_from(["==", ">="]), dims(3), dims(2)),
    st.builds(Relation, st.just("%"), dims(3), st.integers(1, 9)),
)


def holds(relation: Relation, size: int) -> bool:
    left, right = (evaluated(side, {"H": size}) for side in (relation.left, relation.right))
    return {"==": left == right, ">=": left >= right, "%": bool(right) and left % (right or 1) == 0}[relation.kind]


@settings(max_examples=40)
@given(st.lists(relations, min_size=1, max_size=2), st.lists(relations, min_size=1, max_size=1))
def test_exactly_the_sizes_that_fulfil_them(first: list[Relation], second: list[Relation]) -> None:
    try:
        one, two = solved(first), solved(second)
    except TooComplex:
        return
    both = met(one, two) if one is not None and two is not None else None
    if both is None:
        return
    wanted = {size for size in range(1, LARGEST) if any(holds(each, size) for each in first) and holds(second[0], size)}
    assert {size for size in range(1, LARGEST) if size in both} == wanted
    texts = conditions("H", both)
    if texts is not None:
        assert {size for size in range(1, LARGEST) if all(eval(text, {"H": size}) for text in texts)} == wanted
        read = [alternatives for text in texts for alternatives in assumed(text, "H")]
        assert wanted == {
            size for size in range(1, LARGEST) if all(any(holds(each, size) for each in some) for some in read)
        }


@pytest.mark.parametrize(
    ("relation", "stated"),
    [
        (Relation("==", 2 * floordiv(H + 3, 4), floordiv(H + 1, 2)), ("H % 4 in (0, 3)",)),
        (Relation("==", 256 * H, 256), ("H == 1",)),
        (Relation("==", floordiv(H - 3, 4), 9), ("39 <= H <= 42",)),
        (Relation(">=", 512, H), ("H <= 512",)),
        (Relation(">=", floordiv(H - 7, 2), 0), ("H >= 7",)),
        (Relation("%", H, 32), ("H % 32 == 0",)),
        (Relation("==", H * H, 49), ("H == 7",)),
        (Relation(">=", H, 1), ()),
        (Relation("==", 4 * (floordiv(H - 3, 2) + 1), 2 * H), None),
        (Relation(">=", 1_000_000 - H, 0), ("H <= 1000000",)),
    ],
)
def test_words(relation: Relation, stated: tuple[str, ...] | None) -> None:
    sizes = solved([relation])
    assert sizes is not None
    assert conditions("H", sizes) == stated
    assert sizes.is_empty == (stated is None)


def test_a_conjunction_is_one_condition() -> None:
    together = ALL
    for each in (Relation("%", H, 2), Relation("%", H, 32), Relation(">=", H, 33), Relation(">=", 2048, H)):
        found = solved([each])
        assert found is not None
        narrowed = met(together, found)
        assert narrowed is not None
        together = narrowed
    assert conditions("H", together) == ("64 <= H <= 2048", "H % 32 == 0")


@pytest.mark.parametrize("other", [2304, 2**60])
def test_alternatives(other: int) -> None:
    sizes = solved([Relation("==", H, other), Relation("==", H, 1)])
    assert sizes is not None
    assert conditions("H", sizes) == (f"H in (1, {other})",)


@settings(max_examples=40)
@given(st.lists(relations, min_size=1, max_size=2), st.integers(1, LARGEST))
def test_the_nearest_sizes_of_a_set(wanted: list[Relation], size: int) -> None:
    sizes = solved(wanted)
    if sizes is None:
        return
    every = list(sizes.elements(LARGEST))
    assert list(sizes.beyond(size, -1)) == [each for each in reversed(every) if each < size]
    above = [each for each in every if each > size]
    assert list(islice(sizes.beyond(size, 1), len(above))) == above
