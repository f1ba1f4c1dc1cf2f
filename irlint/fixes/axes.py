"""How a Reshape divides the elements of a value into axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import lcm

from irlint.contracts.simplified import has_extremes, lone_symbol
from irlint.dims import Dim, Shape, TooComplex, product, substituted, symbol
from irlint.dims.polynomials import atoms_of
from irlint.inference.origins import Makers
from irlint.model import Node, Value
from irlint.model.tensor import Tensor, Type, tensor_shape

Users = Mapping[Value, Sequence[Node]]

#: A Reshape may restore the shape of a value at most this many nodes before it.
NEAR = 8


def mixes_axes(given: Type | None, made: Type | None) -> bool | None:
    """Whether a Reshape does more than join and divide axes; None if a shape is unknown or too complex.

    ``[N, 12, 32]`` to ``[N, 12, 4, 8]`` divides one axis. ``[N, 12, 32]`` to ``[N, 8, 6, 8]`` mixes two. Sizes count as
    multiples of the numbers that divide them.
    """
    shapes = [each.shape if isinstance(each, Tensor) else None for each in (given, made)]
    before, after = _without_quotients(shapes)
    ends = [_ends(shape) for shape in (before, after) if shape is not None]
    if len(ends) < 2 or None in ends[0] or None in ends[1]:
        return None
    shared = [end for end in ends[0] if end in ends[1]]
    is_complex = any(has_extremes(dim) for dim in (*(before or ()), *(after or ())) if dim is not None)
    mixes = any(min(counts) > 1 for counts in zip(*(_counts(each, shared) for each in ends)))
    return None if mixes and is_complex else mixes


def _without_quotients(shapes: Sequence[Shape | None]) -> list[Shape | None]:
    """The shapes with multiples in place of the symbols that they divide: ``[2*H, H, 2]`` for ``[H, H//2, 2]``."""
    multiples: dict[str, int] = {}
    for dim in (dim for shape in shapes for dim in shape or () if dim is not None):
        for atom in (each for each in atoms_of(dim) if each.kind == "//"):
            size, divisor = lone_symbol(atom.parts[0]), atom.parts[1]
            if size is not None and isinstance(divisor, int) and divisor > 0:
                multiples[size.name] = lcm(divisor, multiples.get(size.name, 1))
    if not multiples:
        return list(shapes)
    values = {name: symbol(name, 1) * number for name, number in multiples.items()}
    try:
        return [shape and tuple(dim if dim is None else substituted(dim, values) for dim in shape) for shape in shapes]
    except TooComplex:
        return list(shapes)


def _ends(shape: Shape) -> list[Dim | None]:
    """The number of elements up to the end of each axis longer than 1."""
    return [product(shape[: axis + 1]) for axis, dim in enumerate(shape) if dim != 1]


def _counts(ends: list[Dim | None], shared: list[Dim | None]) -> list[int]:
    """The number of axes between shared ends, and after the last one."""
    places = [*(ends.index(end) + 1 for end in shared), len(ends)]
    return [place - before for before, place in zip([0, *places], places)]


def is_undone(node: Node, types: Mapping[Value, Type | None], makers: Makers, users: Users) -> bool:
    """Whether a Reshape gives the shape that the data had before an earlier Reshape, or a later one undoes it, as
    around a normalization of groups. ``types`` has the types that differ from those of the model."""
    if _restores_shape(node, types, makers):
        return True
    near = [node]
    for _ in range(NEAR):
        made = (value for each in near for value in each.outputs[:1] if value is not None)
        near = list(dict.fromkeys(user for value in made for user in users.get(value, ())))
        if any(each.op == node.op and _restores_shape(each, types, makers, first=node) for each in near):
            return True
    return False


def _restores_shape(node: Node, types: Mapping[Value, Type | None], makers: Makers, first: Node | None = None) -> bool:
    """Whether a Reshape gives the shape that the data had before an earlier Reshape, or before ``first``."""
    value, own = node.inputs[0], _shape(node.outputs[0], types, makers) if node.outputs else None
    for _ in range(NEAR):
        maker = makers.of(value) if value is not None else None
        made = maker.node if maker is not None else None
        if made is None or not made.inputs:
            return False
        value = made.inputs[0]
        is_earlier = made.op == node.op and first in (None, made)
        if is_earlier and own is not None and _shape(value, types, makers) == own:
            return True
    return False


def _shape(value: Value | None, types: Mapping[Value, Type | None], makers: Makers) -> Shape | None:
    return tensor_shape(types.get(value, makers.known.types.get(value))) if value is not None else None
