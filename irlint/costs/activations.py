"""Computes the peak memory of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from irlint.dims import Dim, MaybeDim, TooComplex, at_least, ceildiv, guarded, largest, product, total
from irlint.dims.proofs import fed
from irlint.dims.rounding import magnitude
from irlint.model import Graph, Node, Value
from irlint.model.order import used
from irlint.model.tensor import BITS, Map, Opaque, Optional, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.records import NOTHING

#: Operators whose output shares the memory of the first input.
VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Result", "ReadValue", "Assign"})


#: Operators whose output ONNX Runtime writes to the memory of the first input, if no later node uses that input and the
#: output has the same size.
IN_PLACE = frozenset(
    {
        *("Cast", "Celu", "Clip", "Elu", "HardSigmoid", "LeakyRelu", "LogSoftmax", "Relu", "Selu", "Shrink", "Sigmoid"),
        *("Softmax", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"),
        *("Clamp", "Convert", "ReLU", "SoftMax", "SoftPlus", "SoftSign"),
    }
)

#: A maximum of more expressions is unknown.
MOST_CANDIDATES = 32


def size_of(known: Type | None) -> MaybeDim:
    """The bytes of a value; None if unknown. Texts, maps, sparse tensors and opaque values have 0."""
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


def weight(size: MaybeDim, sizes: Mapping[str, int] = NOTHING) -> int:
    """A key that sorts costs by their magnitude for ``sizes`` of symbols, unknown costs first."""
    return -1 if size is None else magnitude(size, sizes)


def peak(
    graph: Graph,
    nodes: Iterable[Node],
    types: Mapping[Value, Type | None],
    fixed: Set[Value],
    inside: Mapping[Node, MaybeDim],
    scratch: Mapping[Node, MaybeDim],
) -> MaybeDim:
    """The largest number of bytes in use while a node runs; None if unknown.

    ``inside`` are the bytes that the bodies of a node need. ``scratch`` are the bytes that a node needs beside its
    inputs and outputs. Values in ``fixed`` and the inputs of the graph are not counted.
    """
    listed = tuple(nodes)
    created, ended = _lifetimes(listed, types, fixed, frozenset(graph.outputs))
    live: MaybeDim = 0
    peaks: list[MaybeDim] = []
    for index, node in enumerate(listed):
        fresh = total(size_of(types.get(value)) for value in created[index])
        peaks.append(total((live, most((total((fresh, scratch.get(node, 0))), inside.get(node, 0))))))
        live = total((live, fresh, *(_released_bytes(types.get(value)) for value in ended[index])))
        if live is None:
            return None
    return most(
        bytes_in_use
        for index, bytes_in_use in enumerate(peaks)
        if ended[index] or index == len(listed) - 1 or listed[index] in inside or listed[index] in scratch
    )


def _released_bytes(known: Type | None) -> MaybeDim:
    return product((-1, size_of(known)))


def _lifetimes(
    nodes: Sequence[Node], types: Mapping[Value, Type | None], fixed: Set[Value], outputs: Set[Value]
) -> tuple[list[list[Value]], list[list[Value]]]:
    """(the values for which each node allocates memory, the values whose memory each node is the last to use)."""
    last = _last_uses(nodes, outputs)
    created: list[list[Value]] = [[] for _ in nodes]
    # For each value, the value for which the memory that it uses was allocated.
    places: dict[Value, Value] = {}
    ends: dict[Value, int] = {}
    unused: dict[object, list[Value]] = {}
    for index, node in enumerate(nodes):
        first = node.inputs[0] if node.inputs else None
        place = places.get(first) if first is not None else None
        is_view = _is_view(node, outputs)
        is_in_place = place is not None and ends[place] == index and _may_run_in_place(node, types, outputs)
        for value in node.outputs:
            if value is None or value in fixed or (is_view and place is None):
                continue
            if place is not None and (is_view or is_in_place):
                places[value], ends[place] = place, last[value] if is_in_place else ends[place]
                continue
            reusable = unused.get(_memory_key(types.get(value))) if value not in outputs else None
            if not reusable:
                created[index].append(value)
            places[value] = own = reusable.pop() if reusable else value
            ends[own] = last[value]
        for own in {places[value] for value in (*used(node), *node.outputs) if value is not None and value in places}:
            if ends[own] == index:
                unused.setdefault(_memory_key(types.get(own)), []).append(own)
    ended: list[list[Value]] = [[] for _ in nodes]
    for value, index in ends.items():
        if index < len(nodes):
            ended[index].append(value)
    return created, ended


def _memory_key(known: Type | None) -> object:
    """A key that is equal for tensors that can share memory: (bits of an element, shape).

    The key of a scalar or of a tensor with unknown sizes is unique.
    """
    if not isinstance(known, Tensor) or known.dtype is None or not known.shape or None in known.shape:
        return object()
    return BITS.get(known.dtype), known.shape


def _last_uses(nodes: Sequence[Node], outputs: Set[Value]) -> dict[Value, int]:
    """The index of the last node that uses a value or a view of it; for an output, the number of nodes."""
    last: dict[Value, int] = {}
    for index, node in enumerate(nodes):
        last.update((value, index) for value in node.outputs if value is not None)
        last.update((value, index) for value in used(node))
    last.update((value, len(nodes)) for value in outputs)
    for node in reversed(nodes):
        if _is_view(node, outputs) and node.inputs[0] is not None:
            last[node.inputs[0]] = max(last[value] for value in (node.inputs[0], *node.outputs) if value is not None)
    return last


def _is_view(node: Node, outputs: Set[Value]) -> bool:
    return node.op in VIEWS and not node.bodies and bool(node.inputs) and outputs.isdisjoint(_present_outputs(node))


def _may_run_in_place(node: Node, types: Mapping[Value, Type | None], outputs: Set[Value]) -> bool:
    values = (*node.inputs[:1], *node.outputs[:1])
    ends = [None if value is None else size_of(types.get(value)) for value in values]
    has_room = ends[0] is not None and ends[0] == ends[-1]
    return node.op in IN_PLACE and has_room and outputs.isdisjoint(_present_outputs(node))


def _present_outputs(node: Node) -> Iterable[Value]:
    return (value for value in node.outputs if value is not None)


def most(sizes: Iterable[MaybeDim]) -> MaybeDim:
    """The largest size for input sizes of at least 1; 0 without sizes.

    Returns None if a size is unknown, or if more than MOST_CANDIDATES could be the largest.
    """
    kept: list[tuple[Dim, MaybeDim]] = []
    for size in sorted(dict.fromkeys(sizes), key=weight, reverse=True):
        if size is None:
            return None
        raised = guarded(fed, size)
        if any(at_least(other, raised) for _, other in kept):
            continue
        kept.append((size, raised))
        if len(kept) > MOST_CANDIDATES:
            return None
    if not kept:
        return 0
    return kept[0][0] if len(kept) == 1 else largest(*(size for size, _ in kept))
