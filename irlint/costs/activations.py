"""The most memory that the values of a graph take at a time: each from its creation to its last use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from irlint.dims import Dim, MaybeDim, TooComplex, at_least, ceildiv, guarded, largest, product, total
from irlint.dims.proofs import fed
from irlint.dims.rounding import magnitude
from irlint.model import Graph, Node, Value
from irlint.model.order import used
from irlint.model.tensor import BITS, Map, Opaque, Optional, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType

#: Operators whose first output is their first input under another shape: it takes no memory.
VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Result", "ReadValue", "Assign"})


#: More expressions of which none is proven to be the largest have no maximum that is of use.
MOST = 32


def size_of(known: Type | None) -> MaybeDim:
    """The bytes that a value takes; texts, maps and sparse tensors count as 0."""
    match known:
        case Tensor(dtype, shape):
            return None if dtype is None or shape is None else _bytes(product(shape), BITS.get(dtype, 0))
        case SequenceType(element, length):
            return product((size_of(element), length))
        case Optional(element):
            return size_of(element)
        case SparseTensor() | Map() | Opaque():
            return 0
        case _:
            return None


def _bytes(elements: MaybeDim, bits: int) -> MaybeDim:
    if elements is None or bits % 8 == 0:
        return product((elements, bits // 8))
    try:
        return ceildiv(elements * bits, 8)
    except TooComplex:
        return None


def weight(size: MaybeDim) -> int:
    """A number by which sizes are sorted, the unknown one first."""
    return -1 if size is None else magnitude(size)


def peak(
    graph: Graph,
    nodes: Iterable[Node],
    types: Mapping[Value, Type | None],
    fixed: Set[Value],
    inside: Mapping[Node, MaybeDim],
) -> MaybeDim:
    """The most bytes that are in use while a node runs; ``inside`` are those that the bodies of nodes take meanwhile.

    What constants alone decide (``fixed``) takes none, nor do the inputs of the graph, which belong to the caller.
    """
    listed = tuple(nodes)
    created, ended = _lives(listed, fixed, frozenset(graph.outputs))
    live: MaybeDim = 0
    peaks: list[MaybeDim] = []
    for index, node in enumerate(listed):
        fresh = total(size_of(types.get(value)) for value in created[index])
        peaks.append(total((live, most((fresh, inside.get(node, 0))))))
        live = total((live, fresh, *(_released(types.get(value)) for value in ended[index])))
        if live is None:
            return None
    return most(
        each for index, each in enumerate(peaks) if ended[index] or index == len(listed) - 1 or listed[index] in inside
    )


def _released(known: Type | None) -> MaybeDim:
    return product((-1, size_of(known)))


def _lives(
    nodes: Sequence[Node], fixed: Set[Value], outputs: Set[Value]
) -> tuple[list[list[Value]], list[list[Value]]]:
    """By the index of a node the values that it creates, and those that nothing uses after it."""
    created: list[list[Value]] = [[] for _ in nodes]
    ended: list[list[Value]] = [[] for _ in nodes]
    roots: dict[Value, Value] = {}
    last: dict[Value, int] = {}
    for index, node in enumerate(nodes):
        last.update((roots[value], index) for value in used(node) if value in roots)
        first = node.inputs[0] if node.inputs else None
        view = node.op in VIEWS and not node.bodies
        for value in node.outputs:
            if value is None or value in fixed:
                continue
            if view and first is not None:
                roots[value] = roots.get(first, first)
                continue
            roots[value] = value
            last[value] = index
            created[index].append(value)
    kept = {roots.get(value, value) for value in outputs}
    made = {value for each in created for value in each}
    for value, index in last.items():
        if value in made and value not in kept:
            ended[index].append(value)
    return created, ended


def most(sizes: Iterable[MaybeDim]) -> MaybeDim:
    """The largest of sizes, where those of inputs are at least 1.

    0 for none, and None where one is unknown, or too many may be the largest.
    """
    kept: list[tuple[Dim, MaybeDim]] = []
    for size in sorted(dict.fromkeys(sizes), key=weight, reverse=True):
        if size is None:
            return None
        raised = guarded(fed, size)
        if any(at_least(other, raised) for _, other in kept):
            continue
        kept.append((size, raised))
        if len(kept) > MOST:
            return None
    if not kept:
        return 0
    return kept[0][0] if len(kept) == 1 else largest(*(size for size, _ in kept))
