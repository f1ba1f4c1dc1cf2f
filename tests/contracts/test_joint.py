"""Conditions on several sizes that hold for no sizes together, and such that hold for some."""

from __future__ import annotations

import itertools
import random

import pytest

from irlint.contracts import implied
from irlint.contracts.assumptions import assumed
from irlint.contracts.joint import contradicting
from irlint.contracts.simplified import decided, simplified
from irlint.contracts.sizes import solved
from irlint.dims import symbol
from irlint.findings.statements import Relation

NAMES = ("A", "B", "C", "D")

CONTRADICTING = [
    ["A >= B + 1", "B >= A"],
    ["A >= B + 1", "B >= C", "C >= A"],
    ["5 >= A + 8"],
    ["A + B >= 7", "A <= 3", "B <= 3"],
    ["2*A == 2*B + 1"],
    ["2*A == B", "2*C + 1 == B"],
    ["A == B + 1", "A == C", "B == C"],
    ["A*B >= 13", "A <= 3", "B <= 4"],
    ["A*B == 5", "A >= 2", "B >= 3"],
    ["A//2 >= B", "B >= A"],
    ["A == B or A == C", "A >= B + 1", "A >= C + 1"],
    ["A == 1 or B == 1", "A >= B + 1", "B >= 2"],
    ["A + B + C == 2"],
    ["A*B == A*C", "B >= C + 1"],
]

POSSIBLE = [
    ["A >= B + 1", "B >= C"],
    ["5 >= A + 3"],
    ["A + B >= 7", "A <= 3", "B <= 4"],
    ["2*A == 2*B + 2"],
    ["A*B >= 12", "A <= 3", "B <= 4"],
    ["A//2 >= B", "A >= 2*B"],
    ["A == B or A == C", "A >= B + 1"],
    ["A + B + C == 3"],
    ["A*B == 6", "A >= 2", "B >= 3"],
    ["A == B + 1 or B == A + 1", "A + B >= 9"],
]


def relations(texts: list[str]) -> list[tuple[Relation, ...]]:
    return [each for text in texts for each in assumed(text, NAMES)]


@pytest.mark.parametrize("texts", CONTRADICTING, ids=map(", ".join, CONTRADICTING))
def test_no_sizes_fit(texts: list[str]) -> None:
    assert contradicting(relations(texts), {})


@pytest.mark.parametrize("texts", POSSIBLE, ids=map(", ".join, POSSIBLE))
def test_some_sizes_fit(texts: list[str]) -> None:
    assert not contradicting(relations(texts), {})


def test_only_what_contradicts_is_named() -> None:
    texts = ["A >= D", "A >= B + 1", "D >= 4", "B >= A"]
    assert contradicting(relations(texts), {}) == [1, 3]


def test_limits_of_sizes_count() -> None:
    assert contradicting(relations(["A >= B"]), {"A": (1, 4), "B": (5, None)})
    assert not contradicting(relations(["A >= B"]), {"A": (1, 5), "B": (5, None)})


def test_nothing_is_claimed_that_sizes_contradict() -> None:
    """Random conditions, each against all small sizes."""
    chosen = random.Random(22)
    sides = ["A", "B", "C", "A + B", "2*A", "A*B", "B*C", "A//2", "3*C - A", "A + B - C", "2*B + 1", "4", "7", "12"]
    proven = 0
    for _ in range(700):
        texts = []
        for _ in range(chosen.randint(1, 4)):
            alternatives = [
                f"{chosen.choice(sides)} {chosen.choice(('==', '>=', '=='))} {chosen.choice(sides)}"
                for _ in range(chosen.choice((1, 1, 2)))
            ]
            texts.append(" or ".join(alternatives))
        if not contradicting(relations(texts), {}):
            continue
        proven += 1
        codes = [compile(text, "condition", "eval") for text in texts]
        for sizes in itertools.product(range(1, 12), repeat=3):
            known = dict(zip(NAMES, sizes))
            assert not all(eval(code, {}, known) for code in codes), (texts, known)
    assert proven > 150


A, B, C, D = (symbol(name, 1) for name in NAMES)


@pytest.mark.parametrize(
    ("relation", "text"),
    [
        (Relation(">=", A * B, A * B + C + D - B), "B >= C + D"),
        (Relation(">=", A + 2, A + 8 - B), "B >= 6"),
        (Relation("==", 3 * A, A + 8), "A == 4"),
        (Relation(">=", A, A + B - 5), "5 >= B"),
        (Relation("%", 64 * A * B, 12 * A * B), "16 % 3 == 0"),
        (Relation("%", 4 * A, A + 1), "4 % (A + 1) == 0"),
        (Relation("==", A * B, A * C), "B == C"),
        (Relation("==", A * B - 2 * B, 20), "A*B - 2*B == 20"),
    ],
    ids=str,
)
def test_what_both_sides_share_is_removed(relation: Relation, text: str) -> None:
    assert str(simplified(relation)) == text


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        (Relation("%", 16, 3 * A), False),
        (Relation("%", 16, 4 * A), None),
        (Relation("%", A, A + 1), False),
        (Relation("%", 0, A), True),
        (Relation("%", A, 0), False),
    ],
    ids=str,
)
def test_whether_a_divisor_divides(relation: Relation, expected: bool | None) -> None:
    assert decided(relation) is expected


def test_the_divisors_of_a_number() -> None:
    sizes = solved([Relation("%", 48, 4 * A)])
    assert sizes is not None
    assert list(sizes.elements(50)) == [1, 2, 3, 4, 6, 12]


def test_proofs_about_implied_demands_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    is_implied = implied._is_implied
    monkeypatch.setattr(implied, "_is_implied", lambda *given: tried.append(given) or is_implied(*given))
    sizes = [symbol(f"s{index}", 1) for index in range(80)]
    many = tuple(Relation("==", *pair) for pair in itertools.pairwise(sizes))
    demands = [many, (Relation(">=", A, B),), (Relation(">=", A + 1, B),)]
    assert implied.without_implied(demands) == [*demands[:2], None]
    assert implied.MOST_PROOFS < len(tried) <= 2 * implied.MOST_PROOFS
