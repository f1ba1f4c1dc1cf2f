"""Guesses that change constants from which shapes are computed: other numbers, or the parts of a shape in another
order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from irlint.dims import MaybeDim
from irlint.fixes.contents import FEW, JOIN, SLICED
from irlint.fixes.guess import OTHERS, Guess
from irlint.fixes.guesses import Guesses
from irlint.fixes.other_values import ENTRIES, LAST, SELDOM, USUAL
from irlint.fixes.slices import BOUNDS, other_bounds
from irlint.inference.origins import inputs_of
from irlint.model import Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.records import replaced

#: At most this many nodes that compute the values of a node's inputs are examined, and at most this many constants.
NODES, CONSTANTS = 24, 6

#: At most this many nodes are searched for sizes that are read on the wrong axis.
FARTHER = 96

#: A number is probably wrong by one of these factors, or by 1.
FACTORS = (2, 3, 4)

#: The operator that takes an element of a shape, by both formats.
TAKE = "Gather"


def computed(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Guesses for the constants from which the values of a node's inputs are computed. Numbers that other nodes of the
    operator use come first; exchanged inputs of a Concat are included."""
    constants: dict[tuple[Node, int], Value] = {}
    for maker in _before(node, guesses):
        call = guesses.known.calls[maker]
        names = call.signature.inputs if call.signature is not None else ()
        for port, (value, known) in enumerate(zip(maker.inputs, inputs_of(maker, guesses.known))):
            is_axes = names[port : port + 1] == (SLICED,)
            if value is not None and not is_axes and _has_contents(known) and guesses.makers.is_constant(value):
                constants[maker, port] = value
        if maker.op == JOIN:
            yield from _exchanged(maker, guesses)
        if call.signature is not None and not BOUNDS.isdisjoint((*call.signature.inputs, *call.signature.attributes)):
            for guess in other_bounds(maker, call, inputs_of(maker, guesses.known), (), guesses):
                yield replaced(guess, within=maker)
    for (maker, port), value in list(constants.items())[:CONSTANTS]:
        if maker.op == TAKE and port:
            yield from _other_index(maker, port, value, guesses)
        if not _is_index_of_others(maker, value, guesses):
            yield from _numbers(maker, port, value, guesses)


def read_otherwise(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Guesses that read a size on another axis, for each size from which the values of a node's inputs are computed."""
    for maker in _before(node, guesses, FARTHER):
        value = maker.inputs[1] if maker.op == TAKE and len(maker.inputs) > 1 else None
        if value is not None and guesses.makers.is_constant(value):
            yield from _other_index(maker, 1, value, guesses)
            if not _is_index_of_others(maker, value, guesses):
                yield from _numbers(maker, 1, value, guesses)


def _other_index(node: Node, port: int, value: Value, guesses: Guesses) -> Iterator[Guess]:
    """Connects a constant with another index: one that nothing uses, or any one in place of a constant by which other
    nodes index the same value."""
    known, size = guesses.known.types.get(value), _length(node, guesses)
    if not isinstance(known, Tensor) or known.ints is None or size is None:
        return
    shared = _is_index_of_others(node, value, guesses)
    for other in guesses.graph.constants:
        held, unused = guesses.known.types.get(other), not guesses.users.get(other)
        if not isinstance(held, Tensor) or (held.dtype, held.shape) != (known.dtype, known.shape) or held == known:
            continue
        index = held.ints[0] if held.ints else None
        if isinstance(index, int) and -size <= index < size and (unused or shared):
            called = f"{guesses.called(other)}, which nothing uses," if unused else ""
            edit = guesses.connected(other, node, port, called)
            yield Guess((edit,), USUAL if unused else SELDOM, within=node, count=int(unused))


def _before(node: Node, guesses: Guesses, limit: int = NODES) -> Iterator[Node]:
    """The nodes that compute the values of a node's inputs, the nearest first; about ``limit``."""
    waiting, seen = [node], {node}
    for each in waiting:
        if each is not node:
            yield each
        for value, known in zip(each.inputs, inputs_of(each, guesses.known)):
            maker = guesses.makers.of(value) if value is not None and _has_contents(known) else None
            inner = maker.node if maker is not None and maker.constant is None else None
            if inner is None or inner in seen or len(seen) > limit or inner.op == guesses.known.format.constant_node:
                continue
            seen.add(inner)
            waiting.append(inner)


def _has_contents(known: Type | None) -> bool:
    """Whether a value consists of at most ``ENTRIES`` known integers."""
    ints = known.ints if isinstance(known, Tensor) and known.dtype in INTEGERS else None
    return ints is not None and len(ints) <= ENTRIES


def _numbers(node: Node, port: int, value: Value, guesses: Guesses) -> Iterator[Guess]:
    """Other numbers for a constant of one number."""
    known = guesses.known.types.get(value)
    held = known.ints if isinstance(known, Tensor) else None
    number = held[0] if held is not None and len(held) == 1 else None
    if not isinstance(number, int):
        return
    usual = {} if node.op == TAKE else _joined_elsewhere(node, number, guesses)
    if node.op not in (TAKE, JOIN):
        usual = guesses.usual(node, port)
    tried = {(number,)}
    for contents, count in list(usual.items())[:OTHERS]:
        if len(contents) == 1 and contents not in tried:
            tried.add(contents)
            for guess in guesses.contents.held_otherwise(node, port, value, contents, USUAL):
                yield replaced(guess, within=node, count=count)
    for other in _indices(node, number, guesses) if node.op == TAKE else _near(number):
        if (other,) not in tried:
            for guess in guesses.contents.held_otherwise(node, port, value, (other,), SELDOM):
                yield replaced(guess, within=node)


def _joined_elsewhere(node: Node, number: int, guesses: Guesses) -> dict[tuple[int, ...], int]:
    """The numbers with which a Concat joins the same parts of a shape as others do, in any order, each with the number
    of these."""
    own, found = _parts_of(node, guesses), dict[tuple[int, ...], int]()
    for each in guesses.of(node):
        theirs = _parts_of(each, guesses)
        (more, less) = (list((theirs - own).elements()), list((own - theirs).elements()))
        if less == [number] and len(more) == 1 and isinstance(more[0], int):
            found[(more[0],)] = found.get((more[0],), 0) + 1
    return found


def _parts_of(node: Node, guesses: Guesses) -> Counter[MaybeDim]:
    known = guesses.known.types.get(node.outputs[0]) if node.op == JOIN and node.outputs and node.outputs[0] else None
    return Counter(known.ints or () if isinstance(known, Tensor) else ())


def _is_index_of_others(node: Node, value: Value, guesses: Guesses) -> bool:
    """Whether other nodes take the element of this index from the same list, or from the shape of the same value."""
    users = (each for each in guesses.users.get(value, ()) if each is not node and each.op == node.op == TAKE)
    return any(guesses.contents.source(each) is guesses.contents.source(node) for each in users)


def _indices(node: Node, number: int, guesses: Guesses) -> list[int]:
    """The other indices into a list of a few elements."""
    size = _length(node, guesses)
    return [each for each in range(size) if each != number % size] if size is not None else []


def _length(node: Node, guesses: Guesses) -> int | None:
    """The length of the list of a few elements from which a node takes some; None if it takes them from another
    value."""
    data = guesses.known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    size = data.shape[0] if isinstance(data, Tensor) and data.shape is not None and len(data.shape) == 1 else None
    return size if isinstance(size, int) and 0 < size <= FEW else None


def _near(number: int) -> list[int]:
    """The numbers that may have been intended: 1 less, 1 more, and multiples and fractions by ``FACTORS``."""
    parts = [number // factor for factor in FACTORS if number % factor == 0]
    return list(dict.fromkeys((number - 1, number + 1, *parts, *(number * factor for factor in FACTORS))))


def _exchanged(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Exchanges each two neighboring inputs of a node. If both are computed, their order may well be wrong."""
    for port, (one, other) in enumerate(zip(node.inputs, node.inputs[1:])):
        if one is not None and other is not None and one is not other:
            edits = guesses.connected(other, node, port), guesses.connected(one, node, port + 1)
            computed = not guesses.makers.is_constant(one) and not guesses.makers.is_constant(other)
            likely = SELDOM if computed else LAST
            yield Guess(tuple(replaced(edit, swaps=True) for edit in edits), likely, within=node)
