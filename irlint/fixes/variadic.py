"""Candidates that restore a lost input of a node with any number of inputs, such as a Concat or a Sum."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from irlint.checks.intended import without_numbers
from irlint.fixes.candidate import Candidate
from irlint.fixes.case import Case
from irlint.fixes.inputs import Inputs
from irlint.fixes.other_values import EVIDENT
from irlint.inference.origins import inputs_of
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import Tensor

#: ``Candidate.evidence``. It ranks a further input of an existing node before an inserted node.
EVIDENCE = 2

NUMBERS = re.compile(r"\d+")


def with_lost_input(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects an unused computed value as a further input of a variadic node.

    The place of the value follows from the numbers in names; without such numbers, the value is the last input. It is
    only written if the names decide the place, and another input has its type.
    """
    unused = [(value, known) for value, known in inputs.unused_values if inputs.is_made(value) and known.rank]
    for node in nodes if unused and inputs.known.format.writer == "onnx" else ():
        if not _is_variadic(node, inputs) or None in node.inputs:
            continue
        given, behind = inputs_of(node, inputs.known), downstream(node, inputs.graph)
        for value, known in unused:
            similar = [each for each in given if isinstance(each, Tensor)]
            fits = all((each.dtype, each.rank) == (known.dtype, known.rank) for each in similar)
            if not fits or len(similar) < len(given) or value in node.outputs or inputs.node_of(value) in behind:
                continue
            place = _place_by_number(value, node.inputs)
            port = len(node.inputs) if place is None else place
            moved = enumerate((value, *node.inputs[port:]), port)
            edits = tuple(
                inputs.editor.connected(each, node, at, inputs.editor.called_unused(each) if each is value else "")
                for at, each in moved
                if each is not None
            )
            is_sure = place is not None and known.shape in [each.shape for each in similar]
            yield Candidate(edits, EVIDENT, node, evidence=EVIDENCE, subject=(node, value), sure=is_sure)


def _is_variadic(node: Node, inputs: Inputs) -> bool:
    call = inputs.known.calls.get(node)
    formal = call.schema.inputs if call is not None and call.schema is not None else ()
    return len(formal) == 1 and formal[0].option == "variadic"


def _place_by_number(value: Value, others: Sequence[Value | None]) -> int | None:
    """The index at which a value continues a series of inputs whose names differ only in numbers.

    None if no input belongs to its series, or if the numbers of the series do not ascend.
    """
    series = [
        (_numbers(each.name), at)
        for at, each in enumerate(others)
        if each is not None and without_numbers(each.name) == without_numbers(value.name)
    ]
    own, numbers = _numbers(value.name), [each for each, _ in series]
    if not series or own in numbers or numbers != sorted(set(numbers)):
        return None
    smaller = [at for each, at in series if each < own]
    return smaller[-1] + 1 if smaller else series[0][1]


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, NUMBERS.findall(name)))


def adds_input_in_vain(case: Case) -> bool:
    """Whether a variadic node gets a further input with several axes, or of floats, and an error remains after it."""
    for edit in case.candidate.edits:
        node = case.inputs.edited(edit)[0] if edit.kind == "input" else None
        value = case.inputs.flow.values.get(str(edit.value))
        known = case.inputs.known.types.get(value) if value is not None else None
        is_added = node is not None and edit.input is not None and edit.input >= len(node.inputs)
        if is_added and node is not None and _is_variadic(node, case.inputs) and not _is_list(known):
            return not case.faulty_nodes().isdisjoint(downstream(node, case.inputs.graph))
    return False


def _is_list(known: object) -> bool:
    return isinstance(known, Tensor) and known.rank == 1 and known.ints is not None
