"""Candidates that restore a lost input of a node with any number of inputs, such as a Concat or a Sum."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from irlint.checks.intended import without_numbers
from irlint.fixes.candidate import Candidate
from irlint.fixes.case import Case
from irlint.fixes.indices import JOIN
from irlint.fixes.inputs import Inputs
from irlint.fixes.other_values import EVIDENT
from irlint.inference.origins import inputs_of
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import Tensor

#: ``Candidate.evidence``. It ranks a further input of an existing node before an inserted node.
EVIDENCE = 2

NUMBERS = re.compile(r"\d+")

#: The number of inputs that have an order.
PAIR = 2


def with_lost_input(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects an unused computed value as a further input of a variadic node.

    It is only written if the place of the value is certain (see ``_place``), and another input has its type.
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
            port, is_certain = _place(value, node, inputs)
            called = inputs.editor.called_unused(value)
            if not is_certain and node.op == JOIN:
                called = f"{called.rstrip(',')} (check the order of the inputs),"
            moved = enumerate((value, *node.inputs[port:]), port)
            edits = tuple(
                inputs.editor.connected(each, node, at, called if each is value else "")
                for at, each in moved
                if each is not None
            )
            is_sure = is_certain and known.shape in [each.shape for each in similar]
            yield Candidate(edits, EVIDENT, node, evidence=EVIDENCE, subject=(node, value), sure=is_sure)


def _is_variadic(node: Node, inputs: Inputs) -> bool:
    call = inputs.known.calls.get(node)
    formal = call.schema.inputs if call is not None and call.schema is not None else ()
    return len(formal) == 1 and formal[0].option == "variadic"


def _place(value: Value, node: Node, inputs: Inputs) -> tuple[int, bool]:
    """(index at which a value becomes an input of a variadic node, whether no other index is as likely).

    If other inputs differ from the value only in the numbers in their names, the value continues their order. It is
    certain if there are two of them, or if all siblings have such inputs in one order. Otherwise the value gets the
    place that the order of computation gives at all siblings, or the last place.
    """
    last, siblings = len(node.inputs), _siblings_of_type(value, node, inputs)
    series = [(_numbers(each.name), at) for at, each in enumerate(node.inputs) if each and _are_in_series(each, value)]
    own, numbers = _numbers(value.name), [each for each, _ in series]
    shown = _shared_direction(map(_numbers_of_series, siblings)) if len(numbers) == 1 else _direction(numbers)
    if own not in numbers and (shown or len(numbers) == 1):
        before = [at for each, at in series if (each < own) == (shown >= 0)]
        return (before[-1] + 1 if before else series[0][1]), shown != 0
    indices, of_value = _indices(node, inputs), _index(value, inputs)
    shown = _shared_direction(_indices(each, inputs) for each in siblings)
    if not shown or len(indices) < last or (last > 1 and _direction(indices) != shown):
        return last, False
    return len([each for each in indices if (each < of_value) == (shown > 0)]), True


def _shared_direction(several: Iterable[Sequence[object]]) -> int:
    """The direction of all lists of keys; 0 if there is none."""
    found = set(map(_direction, several))
    return found.pop() if len(found) == 1 else 0


def _siblings_of_type(value: Value, node: Node, inputs: Inputs) -> list[Node]:
    """The siblings of a node with several inputs, all of the element type and rank of a value."""
    types = inputs.known.types
    wanted = types.get(value)
    siblings = [each for each in inputs.editor.siblings(node) if len(each.inputs) > 1 and None not in each.inputs]
    return [
        each
        for each in siblings
        if all(
            isinstance(known, Tensor)
            and isinstance(wanted, Tensor)
            and (known.dtype, known.rank) == (wanted.dtype, wanted.rank)
            for known in inputs_of(each, inputs.known)
        )
    ]


def _direction(keys: Sequence[object]) -> int:
    """1 if two or more keys ascend, -1 if they descend, else 0."""
    ascending = sorted(set(keys))  # type: ignore[type-var]
    if len(keys) < PAIR or len(ascending) < len(keys):
        return 0
    return 1 if list(keys) == ascending else -int(list(keys) == ascending[::-1])


def _are_in_series(one: Value, other: Value) -> bool:
    return without_numbers(one.name) == without_numbers(other.name)


def _numbers_of_series(node: Node) -> list[tuple[int, ...]]:
    """The numbers in the names of the inputs of a node; [] if the names differ in more than numbers."""
    values = [each for each in node.inputs if each is not None]
    return [_numbers(each.name) for each in values] if all(_are_in_series(values[0], each) for each in values) else []


def _numbers(name: str) -> tuple[int, ...]:
    return tuple(map(int, NUMBERS.findall(name)))


def _indices(node: Node, inputs: Inputs) -> list[int]:
    """The indices of the nodes that compute the inputs of a node."""
    return [_index(each, inputs) for each in node.inputs if each is not None and inputs.is_made(each)]


def _index(value: Value, inputs: Inputs) -> int:
    maker = inputs.node_of(value)
    return maker.index if maker is not None else -1


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
