"""Guesses that restore a lost node: a node between two others was removed, and its second input is now unused."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.findings.edits import Edit
from irlint.fixes.guess import Guess
from irlint.fixes.inputs import Inputs
from irlint.fixes.inserted import AXES_ARE_AN_INPUT, FLATTEN, RESHAPE, SQUEEZE, UNSQUEEZE
from irlint.fixes.other_values import USUAL
from irlint.inference.origins import inputs_of
from irlint.model import Node
from irlint.model.tensor import Tensor

#: If this many users of a value are faulty, the node was lost before all of them.
SEVERAL = 2


def with_left_over(node: Node, inputs: Inputs) -> Iterator[Guess]:
    """A Reshape before an input, with a target that nobody uses, or a Squeeze or Unsqueeze with axes that nobody uses.

    The axes are an input since Squeeze-13 and Unsqueeze-13, the target since Reshape-5.
    """
    known, guesses = inputs.known, inputs.guesses
    if known.format.writer != "onnx":
        return
    for value, left in inputs.spare:
        if left.dtype != "int64" or left.rank != 1 or left.ints is None or value in node.inputs:
            continue
        for port, given in enumerate(inputs_of(node, known)):
            if isinstance(given, Tensor) and given.shape is not None and node.inputs[port] is not None:
                for op in _operators(given, left, known.model.opsets.get("", 0)):
                    edit = guesses.inserted(op, node, port, inputs=(value.name,))
                    yield Guess((edit,), USUAL, count=1)


def _operators(given: Tensor, left: Tensor, opset: int) -> Iterator[str]:
    """The operators that may have had the unused list of integers as their second input."""
    entries = left.ints
    rank = given.rank or 0
    for op, most in ((SQUEEZE, rank), (UNSQUEEZE, rank + len(entries or ()))) if opset >= AXES_ARE_AN_INPUT else ():
        if entries and all(type(each) is int and -most <= each < most for each in entries):
            yield op
    if given.value is None:
        yield RESHAPE


def everywhere(edit: Edit, inputs: Inputs, faulty: set[Node]) -> tuple[Edit, ...] | None:
    """The same inserted node before every faulty use of the value; None if fewer than ``SEVERAL`` users are faulty."""
    node, value = inputs.edited(edit)
    if value is None or edit.kind != "insert":
        return None
    users = [each for each in inputs.users.get(value, ()) if each in faulty]
    places = [(user, port) for user in users for port, given in enumerate(user.inputs) if given is value]
    if len(users) < SEVERAL or node not in users:
        return None
    return tuple(
        inputs.guesses.inserted(edit.name, user, port, edit.value, edit.called, edit.inputs) for user, port in places
    )


def keeps_elements(edit: Edit) -> bool:
    """Whether an edit only changes how the elements of one value are divided into axes."""
    match edit.kind, edit.of:
        case "insert", "node":
            return edit.name in (SQUEEZE, UNSQUEEZE, FLATTEN, RESHAPE)
        case "constant", "shape":
            return not edit.order
        case "attribute", "node":
            return edit.op == FLATTEN
    return False
