"""The order of guesses: a wider one is compared with its own narrow one only."""

from __future__ import annotations

from types import SimpleNamespace

from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.outcomes import Outcome
from irlint.fixes.search import WIDER, Search


def orders(*outcomes: Outcome | None) -> list[tuple[int, ...]]:
    """The orders of three guesses with these outcomes: one that two nodes confirm, a narrow one and its wider one."""
    guesses = [Guess((Edit("constant", value=at),), count=count) for at, count in enumerate((2, 0, WIDER))]
    searched = SimpleNamespace(_widened=lambda guesses, _: iter(guesses), graph=SimpleNamespace(outputs=()), known=None)
    trials = SimpleNamespace(left=9, outcome=lambda edits, _: outcomes[edits[0].value])
    problem = SimpleNamespace(node=None, fault=SimpleNamespace(marks=()))
    return [each.order for each in Search._tried(searched, guesses, problem, trials)]  # type: ignore[arg-type]


def test_a_wider_guess_comes_before_its_narrow_one_if_less_must_be_divisible() -> None:
    _, narrow, wider = orders(Outcome(()), Outcome((), divides=1), Outcome(()))
    assert wider < narrow
    _, narrow, wider = orders(Outcome(()), Outcome(()), Outcome(()))
    assert narrow < wider


def test_a_wider_guess_whose_narrow_one_fails_comes_last() -> None:
    other, wider = orders(Outcome((), divides=1), None, Outcome(()))
    assert other < wider
