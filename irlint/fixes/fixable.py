"""For which problems irlint searches edits."""

from __future__ import annotations

from irlint.checks.structure import UNDEFINED_NAME
from irlint.findings.faults import ELEMENT_TYPES, Severity
from irlint.fixes.trials import limits_sizes
from irlint.inference.consequences import DECLARED
from irlint.inference.contradictions import contradicts
from irlint.inference.known import Known
from irlint.model import Problem

#: No edit is searched if a node fixes more than this many dynamic sizes.
SIZES = 3

#: The families of rules for which edits are searched.
SIZED = ("broadcasting", "shapes")
TYPED = (*SIZED, ELEMENT_TYPES, "operators")


def may_be_fixed(problem: Problem, known: Known) -> bool:
    """Whether irlint searches for edits that fix a problem of a node of the main graph."""
    node, family = problem.node, problem.fault.rule.family
    if node is None or problem.graph or problem.because is not None or node not in known.calls or node.bodies:
        return False
    if problem.fault.severity is Severity.NOTE:
        return False
    if problem.fault.rule is UNDEFINED_NAME or limits_sizes(problem):
        return len(problem.sizes) <= SIZES
    if family == DECLARED:
        from irlint.inference.agreement import disagrees, size_facts

        given = [value for value in node.outputs if value is not None and value.name == problem.value]
        facts = size_facts(known)
        return any(
            contradicts(each := known.types.get(value), value) or disagrees(each, value, facts) for value in given
        )
    from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE

    is_certain = problem.is_error or problem.fault.rule is INDEX_OUT_OF_RANGE
    return problem.by_rule and is_certain and family in TYPED


def may_be_fixed_in_body(problem: Problem) -> bool:
    """Whether irlint searches for edits in a body, or of the model's inputs, that fix an error in the body."""
    is_root = problem.because is None and problem.node is not None and not problem.node.bodies
    in_body = bool(problem.graph) and not problem.graph.startswith("function:")
    is_certain = problem.is_error and problem.by_rule
    return in_body and is_root and is_certain and problem.fault.rule.family in (*SIZED, ELEMENT_TYPES)
