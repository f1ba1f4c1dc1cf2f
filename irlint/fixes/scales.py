"""The factors by which attention scales its scores, and the head sizes that fit them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.dims import MaybeDim
from irlint.findings.edits import Edit
from irlint.fixes.inputs import Inputs
from irlint.model import Node, Value
from irlint.model.tensor import FLOATS, Tensor, Type, tensor_shape

#: The operators that multiply by a factor, and those that divide by a number, in both formats.
MULTIPLIERS, DIVISORS = ("Mul", "Multiply"), ("Div", "Divide")

#: The matrix product, in both formats, and the attribute of OpenVINO that transposes its second input.
PRODUCT, TRANSPOSED = "MatMul", "transpose_b"

#: Scores are divided by the first power of the head size. The second one is for queries and keys that are both divided.
POWERS = (0.5, 0.25)

#: The relative rounding error of a stored factor. A float16 has 11 bits.
ROUNDING = 2**-10


def fitting_scales(edits: Sequence[Edit], types: Mapping[Value, Type | None], inputs: Inputs) -> int:
    """How often other entries of constants give heads a new size that fits the factor of their scores.

    ``types`` are the types that the edits change.
    """
    if not all(edit.of == "entries" for edit in edits):
        return 0
    return sum(_fits(*each) for value in types for each in _scaled(value, types, inputs))


def _fits(size: int, factor: float) -> bool:
    """Whether the scores of heads of a size are multiplied by the factor. A factor of 1 fits no size."""
    return size > 1 and any(abs(factor * size**power - 1) <= ROUNDING for power in POWERS)


def _scaled(value: Value, types: Mapping[Value, Type | None], inputs: Inputs) -> Iterator[tuple[int, float]]:
    """(new size that a matrix product sums over, constant factor of an input or of the result) for each user."""
    for node in inputs.users.get(value, ()):
        factor = _factor(node, value, inputs) if node.op in (*MULTIPLIERS, *DIVISORS) else None
        for size in _new_sums(node, value, types, inputs) if factor else ():
            yield size, factor or 0


def _factor(node: Node, value: Value, inputs: Inputs) -> float | None:
    """The constant by which a node multiplies a value; None if it is not a positive scalar."""
    divides = node.op in DIVISORS
    others = [each for each in node.inputs if each is not value]
    known = inputs.known.types.get(others[0]) if len(others) == 1 and others[0] is not None else None
    entries = known.value if isinstance(known, Tensor) and known.dtype in FLOATS else None
    number = entries[0] if entries is not None and len(entries) == 1 else None
    if not isinstance(number, float) or number <= 0 or (divides and node.inputs[0] is not value):
        return None
    return 1 / number if divides else number


def _new_sums(node: Node, value: Value, types: Mapping[Value, Type | None], inputs: Inputs) -> Iterator[int]:
    """The changed sizes over which matrix products sum: the one that computes ``value``, and users of the result."""
    maker, result = inputs.node_of(value), node.outputs[0]
    pairs = [(maker, 0, maker.inputs[0])] if maker is not None and maker.op == PRODUCT else []
    users = inputs.users.get(result, ()) if result is not None else ()
    pairs += [(user, user.inputs.index(result), value) for user in users if user.op == PRODUCT]
    for product, port, given in pairs:
        axis = -1 if port == 0 or inputs.editor.value_of(product, TRANSPOSED) else -2
        known = inputs.known.types.get(given) if given is not None else None
        after = types.get(given, known) if given is not None else None
        before, size = (_size(each, axis) for each in (known, after))
        if isinstance(size, int) and size != before:
            yield size


def _size(known: Type | None, axis: int) -> MaybeDim:
    """The size of a type on an axis that is counted from the end; None if it is unknown."""
    shape = tensor_shape(known)
    return shape[axis] if shape is not None and len(shape) >= -axis else None
