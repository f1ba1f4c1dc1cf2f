"""What may fix a node: edits, and how likely they are."""

from __future__ import annotations

from irlint.findings.edits import Edit
from irlint.fixes.other_values import USUAL
from irlint.model import Node
from irlint.records import record

#: At most this many values that other nodes have in the place are tried.
OTHERS = 8

#: What none of so many nodes alike has is a guess, and not meant where they are very many.
SEVERAL = 2
MANY = 3
VERY_MANY = 9


@record
class Guess:
    """Edits, how ``likely`` they are, ``count`` nodes have what they set, what they are ``about``, and whether they set
    what the node does without (``adds``); what is not ``sure`` is only suggested. ``within`` is the node that they
    change, where that is not the one at fault."""

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
        """Whether an input of the model is declared with other axes."""
        return any(
            (edit.shape is not None and sorted(map(str, edit.shape)) == sorted(map(str, edit.before or ())))
            or len(edit.shape or ()) != len(edit.before or ())
            for edit in self.edits
            if edit.kind == "declaration"
        )

    @property
    def changes_node(self) -> bool:
        """Whether a node changes, and not only what the graph stores or is given."""
        return any(edit.kind not in ("constant", "declaration") for edit in self.edits)
