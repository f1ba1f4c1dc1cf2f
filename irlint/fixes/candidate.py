"""A candidate: edits that may fix a problem, and how likely they are."""

from __future__ import annotations

from irlint.findings.edits import Edit
from irlint.fixes.other_values import EVIDENT
from irlint.model import Node
from irlint.records import record

#: At most this many values of similar nodes are tried.
OTHERS = 8

#: Numbers of similar nodes. If SEVERAL nodes have one value, they support it. If MANY nodes have other values than a
#: candidate, they oppose the candidate, and VERY_MANY exclude it. One twin counts as VERY_MANY nodes.
SEVERAL = 2
MANY = 3
VERY_MANY = 9


@record
class Candidate:
    """Edits that may fix a problem, and what ranks them."""

    edits: tuple[Edit, ...]
    #: How likely edits of this kind are, from EVIDENT (best) to ONLY_SUGGESTED (see ``other_values``).
    grade: int = EVIDENT
    #: The node that the edits change; None for the node of the problem.
    node: Node | None = None
    #: How much of the model supports the edits, mostly the number of nodes that already have the new value. Ranks
    #: candidates of equal grade.
    evidence: int = 0
    #: The attribute, value or port that changes. If many candidates have one subject, none of them is suggested.
    subject: object = None
    #: Whether the edits set an attribute that the node does not have.
    adds_attribute: bool = False
    #: Whether the edits may be written to the file.
    sure: bool = True

    @property
    def swaps(self) -> bool:
        """Whether the edits only swap inputs."""
        return all(edit.swaps for edit in self.edits)

    @property
    def resizes_input(self) -> bool:
        """Whether an input of the model is declared with another shape."""
        return any(edit.kind == "declaration" and edit.shape is not None for edit in self.edits)

    @property
    def redeclares(self) -> bool:
        """Whether an input of the model is declared with its axes in another order, or with more or fewer axes."""
        return any(
            (edit.shape is not None and sorted(map(str, edit.shape)) == sorted(map(str, edit.before or ())))
            or len(edit.shape or ()) != len(edit.before or ())
            for edit in self.edits
            if edit.kind == "declaration"
        )

    @property
    def changes_node(self) -> bool:
        """Whether the edits change more than constants and declarations."""
        return any(edit.kind not in ("constant", "declaration") for edit in self.edits)


def changes_sizes(edit: Edit) -> bool:
    """Whether an edit declares an input of the model with other sizes, not only with other axes."""
    before, after = edit.before, edit.shape
    if edit.kind != "declaration" or after is None or before is None or len(before) != len(after):
        return False
    return sorted(map(str, before)) != sorted(map(str, after))
