"""The order of candidates: a wider one is compared with its own narrow one only."""

from __future__ import annotations

from types import SimpleNamespace

from irlint.findings.edits import Edit
from irlint.fixes.candidate import Candidate
from irlint.fixes.rechecking import Outcome
from irlint.fixes.search import EVERYWHERE, Search


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
