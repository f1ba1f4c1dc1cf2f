"""Objections to other numbers in attributes and constants."""

from __future__ import annotations

from irlint.fixes.case import Case
from irlint.fixes.ranking import proves_little
from irlint.fixes.ratios import values_in_ratio
from irlint.fixes.rechecking import TYPE_ATTRIBUTES
from irlint.inference.origins import shape_of
from irlint.ops.shared.broadcast import BROADCAST_MISMATCH
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE


def is_any_index(case: Case) -> bool:
    """Whether the candidate sets another k of TopK, or an index into data that is no list. Any number in range fits.

    The only index that no sibling takes is an exception.
    """
    node, rule = case.problem.node, case.problem.fault.rule
    if node is None or all(edit.kind != "constant" for edit in case.candidate.edits):
        return False
    if rule is INDEX_OUT_OF_RANGE:
        if [edit.value for edit in case.candidate.edits] == [(case.inputs.editor.constants.indices.missing(node),)]:
            return False
        return len(shape_of(node.inputs[0] if node.inputs else None, case.inputs.known) or (1,)) != 1
    from irlint.ops.indexing.selecting import TOPK_TOO_LARGE

    return rule is TOPK_TOO_LARGE


def is_one_number_of_several(case: Case) -> bool:
    """Whether another candidate sets another number for the attribute, and not all siblings have the new number."""
    edit, *more = case.candidate.edits
    if more or edit.kind != "attribute" or type(edit.value) is not int or "ax" in edit.name:
        return False
    editor = case.inputs.editor
    if {editor.value_of(each, edit.name) for each in editor.siblings(case.node)} == {edit.value}:
        return False
    if edit.value in values_in_ratio(case.node, edit.name, {}, editor):
        return False
    least = case.candidate.evidence if edit.name in TYPE_ATTRIBUTES else min(0, case.candidate.evidence)
    others = (
        candidate.edits[0] for candidate in case.rivals if len(candidate.edits) == 1 and candidate.evidence >= least
    )
    return any((each.kind, each.index, each.name) == (edit.kind, edit.index, edit.name) for each in others)


def hides_clash(case: Case) -> bool:
    """Whether another number in a constant, or another constant, makes one of two unequal sizes 1, so that it is
    broadcast."""
    edits, problem = case.candidate.edits, case.problem
    exchanges = all(edit.swaps for edit in edits) and len({edit.index for edit in edits}) > 1
    if problem.fault.rule is not BROADCAST_MISMATCH or not (exchanges or all(edit.of == "entries" for edit in edits)):
        return False
    return proves_little(problem, case.outcome, case.inputs.known)
