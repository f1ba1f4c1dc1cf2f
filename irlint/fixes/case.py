"""A candidate that fixes a problem, with the facts that objections and cautions examine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.findings.edits import Edit
from irlint.findings.faults import Rule
from irlint.fixes.candidate import Candidate
from irlint.fixes.constants import TARGETS
from irlint.fixes.indices import JOIN
from irlint.fixes.inputs import Inputs
from irlint.fixes.rechecking import Outcome
from irlint.inference.known import Known
from irlint.model import Node, Problem
from irlint.records import record


@record
class Case:
    """A candidate that fixes a problem, with its outcome."""

    candidate: Candidate
    problem: Problem
    outcome: Outcome
    #: All problems of the model.
    problems: Sequence[Problem]
    inputs: Inputs
    #: Other candidates that fix at least as much.
    rivals: Sequence[Candidate] = ()
    #: Whether another candidate ranks as high, although it was excluded by a comparison with similar nodes.
    outranked: bool = False
    #: Whether an unused value would also fix the problem.
    unused_value_fixes: bool = False

    @property
    def node(self) -> Node:
        """The node that the candidate changes."""
        node = self.candidate.node or self.problem.node
        assert node is not None
        return node

    @property
    def remaining(self) -> Iterator[Problem]:
        """The root problems that the candidate does not fix."""
        fixed = {id(each) for each in self.outcome.fixed}
        return (problem for problem in self.problems if problem.because is None and id(problem) not in fixed)

    def faulty_nodes(self, rule: Rule | None = None) -> set[Node]:
        """The nodes of the main graph with remaining errors. With ``rule``, only errors of this rule count."""
        errors = (problem for problem in self.remaining if problem.is_error and not problem.graph)
        return {error.node for error in errors if error.node is not None and rule in (None, error.fault.rule)}

    def unfixed_nodes(self, rule: Rule) -> set[Node]:
        """The nodes of the main graph with errors of a rule that remain, even those that follow from other errors."""
        fixed = {id(each) for each in self.outcome.fixed}
        errors = (each for each in self.problems if each.is_error and not each.graph and id(each) not in fixed)
        return {error.node for error in errors if error.node is not None and error.fault.rule is rule}


def takes_target(node: Node, name: str, known: Known) -> bool:
    """Whether a node takes the value ``name`` as a target shape (like Reshape), or joins it to one (like Concat)."""
    return node.op == JOIN or takes_as(TARGETS, node, name, known)


def takes_as(roles: Sequence[str], node: Node, name: str, known: Known) -> bool:
    """Whether the signature has one of the names ``roles`` for every input of the node that is the value ``name``."""
    call = known.calls.get(node)
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    ports = [port for port, value in enumerate(node.inputs) if value is not None and value.name == name]
    return all(port < len(names) and names[port] in roles for port in ports)


def is_permutation(edit: Edit) -> bool:
    """Whether an edit gives a list of several entries another order."""
    return len(edit.value) > 1 and sorted(map(str, edit.value)) == sorted(map(str, edit.before or ()))
