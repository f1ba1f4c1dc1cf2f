"""The helps of rules that propose an edit: the edit is tried, and a refused one is no longer proposed alone."""

from __future__ import annotations

from irlint.findings.edits import Edit
from irlint.fixes.editor import Editor
from irlint.fixes.suggestions import FINDINGS, NODES_CHECKED, Suggestions
from irlint.model import Problem
from irlint.model.tensor import Tensor


class Proposals:
    """Tries the proposals of the findings of one model."""

    def __init__(self, suggestions: Suggestions) -> None:
        self.suggestions = suggestions
        #: By (rule, message): the help.
        self._helps: dict[tuple[str, str], str] = {}

    def help(self, problem: Problem) -> str:
        """The help of a problem without a suggestion. Proposals are tried for at most ``FINDINGS`` different faults."""
        fault = problem.fault
        if fault.proposal is None or problem.graph or self.suggestions.cost > NODES_CHECKED:
            return fault.help
        key = fault.rule.code, fault.message
        if key not in self._helps:
            may_try = len(self._helps) < FINDINGS
            self._helps[key] = fault.proposal.otherwise if may_try and self._is_refused(problem) else fault.help
        return self._helps[key]

    def _is_refused(self, problem: Problem) -> bool:
        """Whether the file can be written with the proposed entry, and then has other problems."""
        edit, rechecked = self._edit(problem), self.suggestions.rechecked
        return edit is not None and rechecked.is_writable((edit,)) and rechecked.outcome((edit,), problem) is None

    def _edit(self, problem: Problem) -> Edit | None:
        node, proposal, known = problem.node, problem.fault.proposal, self.suggestions.known
        graph = known.model.graph
        if node is None or proposal is None or graph is None or proposal.input >= len(node.inputs):
            return None
        value, editor = node.inputs[proposal.input], Editor(known, graph, self.suggestions.makers, {})
        place = editor.constants.stored_entry(value, proposal.index) if value is not None else None
        stored = known.types.get(place[0]) if place is not None else None
        if place is None or not isinstance(stored, Tensor) or stored.value is None:
            return None
        constant, at = place
        return editor.constant(constant, (*stored.value[:at], proposal.entry, *stored.value[at + 1 :]))
