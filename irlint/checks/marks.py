"""The axes of a node's inputs that a requirement on sizes concerns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.dims import Dim, Expr, symbols
from irlint.findings.statements import Relation
from irlint.inference.known import Demand, Known
from irlint.inference.origins import inputs_of
from irlint.model import Node
from irlint.model.tensor import Tensor, Type

#: (input, axis) of each marked axis.
Marks = tuple[tuple[int, int], ...]


def marks_of(demand: Demand, names: Sequence[str], known: Known) -> Marks:
    """(input, axis) of each axis to mark at a node.

    These are the axes of two inputs that must be equal, if broadcasting aligns them or if there is only one such pair.
    Otherwise, these are all axes whose sizes contain one of the ``names``.
    """
    types = inputs_of(demand.node, known)
    if lists_removed_axes(demand.node, types, known):
        types = types[:1]
    for relation in demand.requirement.any_of:
        pairs = _pairs(relation, types) if relation.kind == "==" else []
        aligned = [pair for pair in pairs if len({axis - rank_of(types[index]) for index, axis in pair}) == 1]
        chosen = aligned or (pairs if len(pairs) == 1 else [])
        if chosen:
            return tuple(dict.fromkeys(mark for pair in chosen for mark in sorted(pair)))
    return tuple(
        (index, axis)
        for index, axis, dim in axes_of(types)
        if isinstance(dim, Expr) and not symbols(dim).isdisjoint(names)
    )


def _pairs(relation: Relation, types: Sequence[Type | None]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Each pair of axes of two inputs, if one has the left size of the relation and the other the right size."""
    left, right = (
        [(index, axis) for index, axis, dim in axes_of(types) if dim == side]
        for side in (relation.left, relation.right)
    )
    return [(one, other) for one in left for other in right if one[0] != other[0]]


def axes_of(types: Sequence[Type | None]) -> Iterator[tuple[int, int, Dim | None]]:
    """(input, axis, size) of each axis of tensors."""
    for index, each in enumerate(types):
        for axis, dim in enumerate(each.shape or () if isinstance(each, Tensor) else ()):
            yield index, axis, dim


def rank_of(known: Type | None) -> int:
    return len(known.shape or ()) if isinstance(known, Tensor) else 0


def are_right_aligned(marks: Marks, node: Node, known: Known) -> bool:
    """Whether several inputs are marked, all on the same axes counted from the last one."""
    types = inputs_of(node, known)
    ends: dict[int, set[int]] = {}
    for index, axis in marks:
        ends.setdefault(index, set()).add(axis - rank_of(types[index]))
    return len(ends) > 1 and len({frozenset(each) for each in ends.values()}) == 1


def lists_removed_axes(node: Node, types: Sequence[Type | None], known: Known) -> bool:
    """Whether input 1 lists the axes of input 0 that the output lacks, as in Squeeze."""
    outputs = [known.types.get(value) for value in node.outputs if value is not None]
    if len(types) != 2 or len(outputs) != 1 or not isinstance(types[1], Tensor) or types[1].rank != 1:
        return False
    call, listed_axes = known.calls.get(node), types[1].value
    names = call.signature.inputs if call is not None and call.signature is not None else ()
    if len(names) < len(types) or "ax" not in names[1] or listed_axes is None:
        return False
    return 0 < len(listed_axes) == rank_of(types[0]) - rank_of(outputs[0])


def dim_of(known: Type | None, axis: int) -> Dim | None:
    return known.shape[axis] if isinstance(known, Tensor) and known.shape is not None else None
