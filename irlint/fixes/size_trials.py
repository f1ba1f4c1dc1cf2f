"""Trials of other sizes of the model's inputs, for problems in bodies. The complete model is inferred again."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.dims import TooComplex
from irlint.findings.edits import Edit
from irlint.findings.statements import Requirement
from irlint.fixes.outcomes import Outcome
from irlint.fixes.rechecking import Rechecked
from irlint.inference.answers import Answer
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.model import Node, Problem

#: A model is inferred again at most this often.
MOST_TRIALS = 8


class SizeTrials:
    """Trials of declared sizes, with the methods of ``Trials`` that ``sizes.resized`` calls."""

    def __init__(self, known: Known, rechecked: Rechecked) -> None:
        graph = known.model.graph
        self.known = known
        self.rechecked = rechecked
        self.inputs = [value for value in graph.inputs if value not in graph.constants] if graph is not None else []
        self.questions_left = MOST_TRIALS

    def answer_after(self, edits: Sequence[Edit], node: Node) -> tuple[Answer, list[Requirement]] | None:
        """(answer, requirements of other nodes) of a node in a body; None if the node fails or no trials are left."""
        shapes = {edit.name: edit.shape for edit in edits if edit.shape is not None}
        self.questions_left -= 1
        if self.questions_left < 0:
            return None
        try:
            known = inferred(self.known.model, {**self.rechecked.shapes, **shapes})
        except (TooComplex, ValueError):
            return None
        own = tuple(each.requirement for each in known.requires if each.node is node)
        if node in known.faulted or not own:
            return None
        outputs = tuple(known.types.get(value) if value is not None else None for value in node.outputs)
        return Answer(outputs, (), own), [each.requirement for each in known.requires if each.node is not node]

    def outcome(self, edits: Sequence[Edit], problem: Problem) -> Outcome | None:
        """The outcome of edits that fix a problem; None as in ``Rechecked.outcome``."""
        return self.rechecked.outcome(edits, problem)
