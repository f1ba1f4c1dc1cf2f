"""The outcome of edits of a model."""

from __future__ import annotations

from irlint.model import Problem, Value
from irlint.model.tensor import Type
from irlint.records import record


@record
class Outcome:
    """The problems that disappear, the declarations that are stale then, what the node of the problem that was asked
    about takes, and how many warnings appear that safe fixes remove."""

    fixed: tuple[Problem, ...]
    stale: tuple[Value, ...] = ()
    inputs: tuple[Type | None, ...] = ()
    new: int = 0
