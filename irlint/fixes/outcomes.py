"""The outcome of edits of a model."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.model import Problem, Value
from irlint.model.tensor import Type
from irlint.records import NOTHING, record

#: The family of rules about declarations, and about the sizes that inputs declare.
DECLARED = "declarations"


@record
class Outcome:
    """The outcome of edits.

    * ``fixed``: the problems that disappear.
    * ``stale``: the values whose declarations become wrong.
    * ``inputs``: the new types of the inputs of the node that was to be fixed.
    * ``types``: the new types of all values that change.
    * ``new``: the number of new warnings, which safe fixes remove.
    * ``scrambles``: a Reshape that joined and divided axes now mixes them.
    * ``left``: a node still fixes the same sizes.
    * ``divides``: the number of new conditions that a product of sizes is divisible.
    * ``in_body``: the edits change what a body or a function receives, which was not tried.
    """

    fixed: tuple[Problem, ...]
    stale: tuple[Value, ...] = ()
    inputs: tuple[Type | None, ...] = ()
    types: Mapping[Value, Type | None] = NOTHING
    new: int = 0
    scrambles: bool = False
    left: bool = False
    divides: int = 0
    in_body: bool = False
