"""Cautions about other element types: of inputs of the model, and by a Cast."""

from __future__ import annotations

from irlint.fixes.case import Case
from irlint.fixes.inputs import Inputs, dtype_of
from irlint.fixes.inserted import CAST
from irlint.fixes.lost_inputs import result_of
from irlint.fixes.rechecking import TYPE_ATTRIBUTES
from irlint.fixes.retyped import nodes_that_give_types
from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, INTEGERS

#: The attributes that give the element type of a result.
TYPED = (*TYPE_ATTRIBUTES, "value")

#: Two integers that an operator divides to 3, if it rounds.
DIVIDED = (7, 2)


def retypes_input(case: Case) -> bool:
    """Whether an input of the model gets another element type, although another candidate inserts a Cast instead."""
    declared = {edit.name: edit.dtype for edit in case.candidate.edits if edit.kind == "declaration" and edit.dtype}
    casts = (edit.name == CAST for candidate in case.rivals for edit in candidate.edits if edit.kind == "insert")
    if declared and case.inputs.graph.undefined_value_info:
        return True
    if case.candidate.evidence or not declared or not any(casts):
        return False
    values = (value for value in case.inputs.graph.inputs if value.name in declared)
    return any(declared[each.name] == "bool" or _is_converted(each, case.inputs) for each in values)


def casts_rounded_result(case: Case) -> bool:
    """Whether a Cast to floats is inserted after an operator that rounds. Perhaps the Cast belongs before it."""
    for edit in case.candidate.edits:
        casts = edit.kind == "insert" and edit.name == CAST and dict(edit.value).get("to") in FLOATS
        value = case.inputs.edited(edit)[1] if casts else None
        maker = case.inputs.node_of(value)
        if maker is not None and _rounds(maker, case.inputs.known):
            return True
    return False


def casts_repeated_input(case: Case) -> bool:
    """Whether a Cast is inserted, and a node that decides the element type has one value as two of its inputs.

    Perhaps one of these two inputs is wrong.
    """
    inserts = any(edit.kind == "insert" and edit.name == CAST for edit in case.candidate.edits)
    node, inputs = case.problem.node, case.inputs
    makers = nodes_that_give_types(node, inputs) if inserts and node is not None else ()
    return any(len(set(maker.inputs) - {None}) < len(maker.inputs) - maker.inputs.count(None) for maker in makers)


def type_attribute_is_missing(case: Case) -> bool:
    """Whether a Cast is inserted after a node that lacks the attribute for the element type of its result."""
    for edit in case.candidate.edits:
        value = case.inputs.edited(edit)[1] if edit.kind == "insert" and edit.name == CAST else None
        maker = case.inputs.node_of(value)
        call = case.inputs.known.calls.get(maker) if maker is not None else None
        stated = call.signature.attributes if call is not None and call.signature is not None else {}
        given = (call.attributes or {}) if call is not None else {}
        if any(name in stated and name not in given for name in TYPED):
            return True
    return False


def _rounds(node: Node, known: Known) -> bool:
    """Whether a node computes an integer from an integer and a float, or divides integers."""
    types = [dtype_of(known.types.get(value)) if value is not None else None for value in node.inputs]
    is_mixed = bool(types) and types[0] in INTEGERS and any(each in FLOATS for each in types[1:])
    return is_mixed or result_of(node, DIVIDED, known) == DIVIDED[0] // DIVIDED[1]


def _is_converted(value: Value, inputs: Inputs) -> bool:
    """Whether a Cast converts a value, or a result of the same element type that is computed from the value."""
    type_of, seen = inputs.known.types.get, {value}
    waiting = [value]
    for each in waiting:
        for user in inputs.users.get(each, ()):
            if user.op == CAST:
                return True
            made = {one for one in user.outputs if one is not None} - seen
            waiting += [one for one in made if dtype_of(type_of(one)) == dtype_of(type_of(value))]
            seen |= made
    return False
