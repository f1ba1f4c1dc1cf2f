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
    """The outcome of edits that fix a problem."""

    fixed: tuple[Problem, ...]
    #: The values whose declarations become wrong.
    stale: tuple[Value, ...] = ()
    #: The new types of the inputs of the problem's node.
    inputs: tuple[Type | None, ...] = ()
    #: The new types of values.
    types: Mapping[Value, Type | None] = NOTHING
    #: The number of new problems that safe fixes remove.
    new_warnings: int = 0
    #: Whether a Reshape that only joined or divided axes now mixes them.
    mixes_axes: bool = False
    #: Whether a requirement that limits sizes is kept, perhaps at another node.
    keeps_limit: bool = False
    #: The number of new requirements that a product of sizes is divisible.
    new_divisions: int = 0
    #: Whether the edits change an input of a body or a function, which the trial did not infer.
    in_body: bool = False
