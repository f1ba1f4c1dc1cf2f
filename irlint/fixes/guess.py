"""A guess: edits that may fix a node, and how likely they are."""

from __future__ import annotations

from irlint.findings.edits import Edit
from irlint.fixes.other_values import USUAL
from irlint.model import Node
from irlint.records import record

#: At most this many values that similar nodes have are tried.
OTHERS = 8

#: How many similar nodes count as evidence: SEVERAL for a common value, MANY against a value that none of them has,
#: VERY_MANY to reject such a value.
SEVERAL = 2
MANY = 3
VERY_MANY = 9


@record
class Guess:
    """Edits that may fix a node.

    * ``likely``: the rank of the guess, from USUAL (best) to UNSURE.
    * ``within``: the node that the edits change, if it is not the faulty one.
    * ``count``: the number of nodes that already have the new value.
    * ``about``: the attribute, value or place that changes; guesses about the same one compete.
    * ``adds``: the edits set an attribute that the node does not have.
    * ``sure``: if False, the guess is only suggested.
    """

    edits: tuple[Edit, ...]
    likely: int = USUAL
    within: Node | None = None
    count: int = 0
    about: object = None
    adds: bool = False
    sure: bool = True

    @property
    def swaps(self) -> bool:
        """Whether the edits swap two inputs of a node."""
        return all(edit.swaps for edit in self.edits)

    @property
    def redeclares(self) -> bool:
        """Whether an input of the model is declared with another order or number of axes."""
        return any(
            (edit.shape is not None and sorted(map(str, edit.shape)) == sorted(map(str, edit.before or ())))
            or len(edit.shape or ()) != len(edit.before or ())
            for edit in self.edits
            if edit.kind == "declaration"
        )

    @property
    def changes_node(self) -> bool:
        """Whether a node changes, and not only a constant or the declaration of an input."""
        return any(edit.kind not in ("constant", "declaration") for edit in self.edits)
