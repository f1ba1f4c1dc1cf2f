"""The outcome of edits of a model."""

from __future__ import annotations

from irlint.model import Problem, Value
from irlint.model.tensor import Type
from irlint.records import record


@record
class Outcome:
    """The outcome of edits.

    * ``fixed``: the problems that disappear.
    * ``stale``: the values whose declarations become wrong.
    * ``inputs``: the new types of the inputs of the node that was to be fixed.
    * ``new``: the number of new warnings, which safe fixes remove.
    * ``scrambles``: a Reshape that joined and divided axes now mixes them.
    * ``left``: a node still fixes the same sizes.
    """

    fixed: tuple[Problem, ...]
    stale: tuple[Value, ...] = ()
    inputs: tuple[Type | None, ...] = ()
    new: int = 0
    scrambles: bool = False
    left: bool = False
