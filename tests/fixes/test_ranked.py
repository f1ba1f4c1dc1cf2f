"""The order of candidates: a wider one is compared with its own narrow one only. What hides a clash is no candidate."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from irlint.findings.edits import Edit
from irlint.fixes import numbers
from irlint.fixes.candidate import Candidate
from irlint.fixes.rechecking import Outcome
from irlint.fixes.search import EVERYWHERE, Search
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH


def orders(*outcomes: Outcome | None) -> list[tuple[int, ...]]:
    """The orders of candidates with these outcomes: one that two nodes confirm, a narrow one and its wider one."""
    candidates = [
        Candidate((Edit("constant", value=at),), evidence=count) for at, count in enumerate((2, 0, EVERYWHERE))
    ]
    distinct = SimpleNamespace(stored=(), pair=())
    searched = SimpleNamespace(
        _widened=lambda candidates, _: iter(candidates),
        graph=SimpleNamespace(outputs=()),
        known=None,
        inputs=None,
        editor=SimpleNamespace(constants=SimpleNamespace(distinct=distinct)),
    )
    trials = SimpleNamespace(questions_left=9, outcome=lambda edits, _: outcomes[edits[0].value])
    problem = SimpleNamespace(node=None, fault=SimpleNamespace(marks=()))
    return [each.order for each in Search._tried(searched, candidates, problem, trials)]  # type: ignore[arg-type]


def test_a_wider_candidate_comes_before_its_narrow_one_if_less_must_be_divisible() -> None:
    _, narrow, wider = orders(Outcome(()), Outcome((), new_divisions=1), Outcome(()))
    assert wider < narrow
    _, narrow, wider = orders(Outcome(()), Outcome(()), Outcome(()))
    assert narrow < wider


def test_a_wider_candidate_whose_narrow_one_fails_comes_last() -> None:
    other, wider = orders(Outcome((), new_divisions=1), None, Outcome(()))
    assert other < wider


@pytest.mark.parametrize(
    ("edits", "hides"),
    [
        ((Edit("input", "node", index=1, swaps=True), Edit("input", "node", index=2, swaps=True)), True),
        ((Edit("input", "node", index=1, swaps=True), Edit("input", "node", index=1, swaps=True)), False),
        ((Edit("constant", "entries", name="i"),), True),
        ((Edit("insert", "node", name="ReduceMean"),), False),
    ],
)
def test_constants_that_make_a_size_1_hide_a_clash(
    edits: tuple[Edit, ...], hides: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numbers, "proves_little", lambda *_: True)
    case = SimpleNamespace(
        candidate=SimpleNamespace(edits=edits),
        problem=SimpleNamespace(fault=SimpleNamespace(rule=BROADCAST_MISMATCH)),
        outcome=None,
        inputs=SimpleNamespace(known=None),
    )
    assert numbers.hides_clash(case) is hides  # type: ignore[arg-type]
