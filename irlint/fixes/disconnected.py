"""Objections to edits that disconnect values: inputs of the model, weights, or results of several nodes."""

from __future__ import annotations

from collections.abc import Set

from irlint.findings.edits import Edit
from irlint.findings.faults import ELEMENT_TYPES
from irlint.fixes.case import Case
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import CAST
from irlint.fixes.other_outputs import other_outputs
from irlint.fixes.rewired import before_added, before_operator
from irlint.inference.origins import inputs_of
from irlint.model import Node
from irlint.model.tensor import FLOATS, Tensor

#: The number of nodes whose results may lose their last user.
MOST_LOST = 2


def loses_values(case: Case) -> bool:
    """Whether edits disconnect a value from its only user, or connect a constant in place of computed data.

    At other nodes than the faulty one, only inputs of the model, weights, and the results of over ``MOST_LOST`` nodes
    count.
    """
    if any(map(case.inputs.replaces_computed, case.candidate.edits)):
        return True
    lost = case.inputs.lost_nodes(case.candidate.edits)
    has_weights = any(_has_own_weights(each, lost, case.inputs) for each in lost)
    return len(lost) > MOST_LOST or has_weights or disconnects(case, inputs_only=case.candidate.node is not None)


def doubles_input(case: Case) -> bool:
    """Whether an edit connects the value that another input of the node has behind a Cast."""
    for edit in case.candidate.edits:
        node, before = case.inputs.edited(edit)
        if edit.kind != "input" or edit.swaps or node is None or before is None or edit.value == before.name:
            continue
        others = [each for each in node.inputs if each is not None and each is not before]
        given = [before_operator(each, CAST, case.inputs.makers) for each in others]
        if any(each is not None and each.name == edit.value for each in given):
            return True
    return False


def disconnects(case: Case, *, inputs_only: bool = False) -> bool:
    """Whether an edit disconnects a value, or with ``inputs_only`` an input of the model, from its only user."""
    candidate, inputs = case.candidate, case.inputs
    connected = {edit.value for edit in candidate.edits if edit.kind == "input"}
    for edit in candidate.edits:
        node, value = inputs.edited(edit)
        if edit.kind != "input" or edit.swaps or value is None or value.name in connected:
            continue
        if inputs_only and value not in inputs.graph.inputs:
            continue
        if inputs.makers.is_constant(value) and case.problem.fault.rule.family == ELEMENT_TYPES:
            continue
        if inputs.makers.is_constant(value) and node is not None and _is_unused_counterpart(node, edit, inputs):
            continue
        if inputs.makers.is_constant(value) and inputs.is_unused_result(str(edit.value)):
            continue
        if any(each.name == edit.value for each in other_outputs(value, inputs.node_of(value), inputs.known.types)):
            continue
        before = before_added(value, inputs.makers)
        while before is not None and before.name != edit.value:
            before = before_added(before, inputs.makers)
        if before is not None or (node is not None and node.bodies):
            continue
        elsewhere = node is not None and node.inputs.count(value) > 1
        kept = elsewhere or value in inputs.graph.undefined or value in inputs.graph.outputs
        if not kept and all(each is node for each in inputs.users.get(value, ())):
            return True
    return False


def _is_unused_counterpart(node: Node, edit: Edit, inputs: Inputs) -> bool:
    """Whether an edit connects an unused value that is the counterpart of the twins' inputs."""
    values, unused = inputs.blocks.counterparts(node), {value.name for value, _ in inputs.unused_values}
    value = values[edit.input] if edit.input is not None and edit.input < len(values) else None
    return value is not None and value.name == edit.value and value.name in unused


def _has_own_weights(node: Node, lost: Set[Node], inputs: Inputs) -> bool:
    """Whether a node takes a constant of floats with several axes that no node outside ``lost`` uses."""
    for value, known in zip(node.inputs, inputs_of(node, inputs.known)):
        is_weight = isinstance(known, Tensor) and known.dtype in FLOATS and (known.rank or 0) > 1
        if value is not None and is_weight and inputs.makers.is_constant(value):
            if all(user in lost for user in inputs.users.get(value, ())):
                return True
    return False
