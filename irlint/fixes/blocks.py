"""Repeated parts of a model, such as ``layer.0`` and ``layer.1``: which nodes have the same place in them, and guesses
that make a node like those, or like the other users of its constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from posixpath import commonprefix

from irlint.findings.edits import Edit
from irlint.fixes.guess import SEVERAL, Guess
from irlint.fixes.guesses import STRIDES, Guesses
from irlint.fixes.inserted import CAST, RESHAPE
from irlint.fixes.other_values import USUAL
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.lazy_typing import Any
from irlint.model import Graph, Node, Value
from irlint.model.order import users
from irlint.model.tensor import FLOATS, Tensor, Type
from irlint.records import replaced

#: The numbers in a name, and a number at its end, which counts the nodes of one block.
NUMBER = re.compile(r"\d+")
LAST = re.compile(r"\d+$")

#: So many inputs of a node are connected together as at its twins.
PORTS = 2

#: The place of a node: its operator, and its name without the numbers before its end. Then these numbers.
Place = tuple[str, str, str]
Numbers = tuple[str, ...]


class Blocks:
    """The nodes of the main graph by their place in a block."""

    def __init__(self, guesses: Guesses) -> None:
        self.guesses = guesses

    @cached_property
    def _by_place(self) -> dict[Place, list[tuple[Numbers, Node]]]:
        found: dict[Place, list[tuple[Numbers, Node]]] = {}
        for node in self.guesses.graph.nodes:
            place, numbers = _place(node)
            if numbers:
                found.setdefault(place, []).append((numbers, node))
        return found

    def twins(self, node: Node) -> list[Node]:
        """The nodes in the place of ``node`` in other blocks: their names differ from its name in one number, which may
        occur several times, but not as the last part of the name."""
        place, numbers = _place(node)
        others = self._by_place.get(place, ()) if numbers else ()
        return [
            each
            for found, each in others
            if len({pair for pair in zip(found, numbers) if pair[0] != pair[1]}) == 1
            and self._is_counted_alike(place, found, numbers)
        ]

    @cached_property
    def _counts(self) -> dict[tuple[str, str, Numbers], set[str]]:
        """The last numbers in the names of the nodes of an operator in each block."""
        found: dict[tuple[str, str, Numbers], set[str]] = {}
        for (op, begin, last), several in self._by_place.items():
            for numbers, _ in several:
                found.setdefault((op, begin, numbers), set()).add(last)
        return found

    def _is_counted_alike(self, place: Place, one: Numbers, other: Numbers) -> bool:
        """Whether two blocks have the same nodes of an operator, but for one. Otherwise nodes with the same last number
        differ in their place: exporters count the nodes of each block."""
        held = [self._counts.get((*place[:2], numbers), set()) for numbers in (one, other)]
        return len(held[0] ^ held[1]) <= 1

    @cached_property
    def differing(self) -> list[tuple[Node, Guess]]:
        """The nodes with a number that all their twins have otherwise, each with the guess that it has theirs."""
        several = (nodes for nodes in self._by_place.values() if len(nodes) > 1)
        return [(node, guess) for nodes in several for _, node in nodes for guess in self.as_twins(node)]

    def as_twins(self, node: Node) -> Iterator[Guess]:
        """Gives a constant or an attribute the numbers that all twins have."""
        others = self.twins(node)
        for what in self._numbered(node) if others else ():
            found = {self.guesses.had(each, what) for each in others}
            before, after = self.guesses.had(node, what), found.pop()
            if found or None in (before, after) or before == after or self._has_own(node, what):
                continue
            for guess in self._changed(node, what, before, after):
                yield replaced(guess, count=len(others))

    def _has_own(self, node: Node, what: str | int) -> bool:
        """Whether an input has another value where all twins have the counterpart of an unused one."""
        wired = self.wired(node) if isinstance(what, int) else []
        if not isinstance(what, int) or what >= min(len(wired), len(node.inputs)):
            return False
        value = wired[what]
        return value is not None and value is not node.inputs[what] and not self.guesses.users.get(value)

    def is_as_at_twins(self, edit: Edit, node: Node) -> bool:
        """Whether a node that an edit changes has the number before as all its twins, which stay as they are."""
        others = self.twins(node)
        if edit.kind == "attribute":
            of_filters = edit.name == STRIDES and len(others) == 1
            alone = of_filters and self._weights(others[0]) != self._weights(node)
            return bool(others) and not alone and edit.index == node.index and self._is_shared(node, edit.name, others)
        for port, value in enumerate(node.inputs if others and edit.kind == "constant" and edit.of != "type" else ()):
            if value is not None and value.name == edit.name:
                return self._is_shared(node, port, others) and all(value not in each.inputs for each in others)
        return False

    def _weights(self, node: Node) -> list[object]:
        """The shapes of the constants of a node that have several axes."""
        types = (self.guesses.known.types.get(value) for _, value in _constants(node, self.guesses))
        return [each.shape for each in types if isinstance(each, Tensor) and len(each.shape or ()) > 1]

    def counterpart(self, value: Value, twin: Node, node: Node) -> Value | None:
        """The value that is to ``node`` what ``value`` is to its ``twin``: the value itself outside of blocks, or if
        another node of the block of ``node`` uses it, else the one with the same place in that block. None if there is
        none."""
        if self._is_used_in_block(value, twin, node):
            return value
        maker = self.guesses.makers.of(value)
        made = maker.node if maker is not None else None
        made = None if made is not None and _is_named_apart(value, made) else made
        place, numbers = _place(made) if made is not None else _place_of_name("", value.name)
        wanted = _moved(numbers, _place(twin)[1], _place(node)[1])
        if wanted is None:
            return value if not numbers and not self._is_weight(value) else None
        if made is None:
            return self._named.get((place, wanted))
        if not self._is_counted_alike(place, numbers, wanted):
            return None
        found = next((each for name, each in self._by_place.get(place, ()) if name == wanted), None)
        port = made.outputs.index(value) if value in made.outputs else 0
        return found.outputs[port] if found is not None and port < len(found.outputs) else None

    def _is_used_in_block(self, value: Value, twin: Node, node: Node) -> bool:
        """Whether another node of the block of ``node``, which is not that of ``twin``, uses a value."""
        apart = len(commonprefix((twin.name, node.name)))
        users = (each for each in self.guesses.users.get(value, ()) if each is not node)
        return any(len(commonprefix((each.name, node.name))) > apart for each in users)

    def _is_weight(self, value: Value) -> bool:
        """Whether a value is a constant of floats with axes: each block has its own."""
        known = self.guesses.known.types.get(value)
        is_list = isinstance(known, Tensor) and known.dtype in FLOATS and bool(known.rank)
        return is_list and self.guesses.makers.is_constant(value)

    @cached_property
    def _named(self) -> dict[tuple[Place, Numbers], Value]:
        """The constants, and the results that are named apart from their nodes, by their own names."""
        made = ((node, value) for node in self.guesses.graph.nodes for value in node.outputs if value is not None)
        apart = [value for node, value in made if _is_named_apart(value, node)]
        return {_place_of_name("", value.name): value for value in (*apart, *self.guesses.graph.constants)}

    def wired(self, node: Node) -> list[Value | None]:
        """For each input of the twins of a node, the counterpart on which all of them agree; None if they do not. A
        value outside of blocks counts only if several twins take it, or if other nodes of the block do: a first block
        takes what is before it."""
        others = self.twins(node)
        counts = {len(each.inputs) for each in others}
        found: list[Value | None] = []
        for port in range(counts.pop() if len(counts) == 1 else 0):
            values = {self.counterpart(value, each, node) if (value := each.inputs[port]) else None for each in others}
            value = values.pop() if len(values) == 1 else None
            is_outside = value is not None and len(others) < SEVERAL and value in [each.inputs[port] for each in others]
            if is_outside and value is not None and not self.guesses.makers.is_constant(value):
                value = value if self._is_used_in_block(value, others[0], node) else None
            found.append(value)
        return found

    def as_wired(self, node: Node) -> Iterator[Guess]:
        """Connects a node as its twins are connected, and inserts the nodes that only they have before an input: at one
        input, or else at two. One input is not given a value that another one has."""
        others = self.twins(node)
        edits = []
        wired = self.wired(node) if others else []
        for port, value in enumerate(wired):
            before = node.inputs[port] if port < len(node.inputs) else None
            if value is not None and value is not before:
                edits.append(
                    self.guesses.connected(value, node, port, f"{self.guesses.called(value)}, as in other blocks,")
                )
            elif value is None and before is not None and (edit := self._lost(node, port, before, others)) is not None:
                edits.append(edit)
        held = {value.name for value in node.inputs if value is not None}
        alone = (edit for edit in edits if edit.kind != "input" or edit.value not in held)
        yield from (Guess(self._likewise(edit, node), USUAL, count=len(others)) for edit in alone)
        if len(edits) == PORTS:
            yield Guess(tuple(edits), USUAL)

    def _likewise(self, edit: Edit, node: Node) -> tuple[Edit, ...]:
        """An edit; if it inserts a node, also the edits that insert it before the other users of the value, as their
        twins have it."""
        before = node.inputs[edit.input] if edit.kind == "insert" and edit.input is not None else None
        found = [edit]
        for user in self.guesses.users.get(before, ()) if before is not None else ():
            for port, value in enumerate(user.inputs if user is not node else ()):
                other = self._lost(user, port, value, self.twins(user)) if value is before and value else None
                if other and (other.name, other.value, other.inputs) == (edit.name, edit.value, edit.inputs):
                    found.append(other)
        return tuple(found)

    def _lost(self, node: Node, port: int, before: Value, others: Sequence[Node]) -> Edit | None:
        """Inserts the node that all twins have before an input, behind the counterpart of the value that is there."""
        makers = [self.guesses.makers.of(value) if (value := each.inputs[port]) else None for each in others]
        nodes = [each.node for each in makers if each is not None and each.node is not None and each.node.inputs]
        firsts = [self.counterpart(one.inputs[0], each, node) for one, each in zip(nodes, others) if one.inputs[0]]
        if len(firsts) != len(others) or set(firsts) != {before}:
            return None
        if nodes[0].op == RESHAPE and len(nodes[0].inputs) > 1 and (given := nodes[0].inputs[1]) is not None:
            target = self.counterpart(given, others[0], node) or given
            return self.guesses.inserted(RESHAPE, node, port, inputs=(target.name,))
        return self.guesses.copied(nodes[0], node, port)

    def is_wired_as_twins(self, edit: Edit, node: Node) -> bool:
        """Whether an input that an edit connects, or before which it inserts a node that is no Cast, is connected as at
        all twins."""
        port = edit.input
        if edit.kind not in ("input", "insert") or edit.name == CAST or edit.index != node.index or port is None:
            return False
        wired = self.wired(node)
        return port < min(len(wired), len(node.inputs)) and wired[port] is not None and wired[port] is node.inputs[port]

    def _is_shared(self, node: Node, what: str | int, others: Sequence[Node]) -> bool:
        before = self.guesses.had(node, what)
        return before is not None and {self.guesses.had(each, what) for each in others} == {before}

    def _numbered(self, node: Node) -> tuple[str | int, ...]:
        """The names of the attributes of a node, and the indices of its inputs."""
        call = self.guesses.known.calls.get(node)
        return (*range(len(node.inputs)), *((call.attributes or {}) if call is not None else ()))

    def _changed(self, node: Node, what: int | str, before: Any, after: Any) -> Iterator[Guess]:
        """The guess that changes an attribute, or the constant that an input is."""
        if isinstance(what, str):
            yield Guess((self.guesses.attribute(node, what, after, before),), USUAL, about=what)
            return
        value = node.inputs[what]
        if value is not None and self.guesses.makers.is_constant(value):
            yield from self.guesses.contents.held_otherwise(node, what, value, after, USUAL)


def blocks_of(known: Known, graph: Graph) -> Blocks:
    """The blocks of the main graph of a model."""
    return Blocks(Guesses(known, graph, Makers(known), users(graph)))


def _moved(numbers: Numbers, before: Numbers, after: Numbers) -> Numbers | None:
    """The numbers in a name of the block of one node, for the block of its twin; None if no number stands where those
    of the two nodes differ."""
    places = [at for at, (one, two) in enumerate(zip(before, after)) if one != two]
    if places[0] >= len(numbers):
        return None
    moved = {at: int(numbers[at]) - int(before[at]) + int(after[at]) for at in places if at < len(numbers)}
    return tuple(str(moved.get(at, each)) for at, each in enumerate(numbers))


def is_named_as(name: str, node: Node, other: str, twin: Node) -> bool:
    """Whether a name is in the block of a node what another one is in the block of its twin."""
    (place, numbers), (there, others) = _place_of_name("", name), _place_of_name("", other)
    return place == there and numbers == _moved(others, _place(twin)[1], _place(node)[1])


def _is_named_apart(value: Value, node: Node) -> bool:
    """Whether a result is not named after its node, which is in no block: an Identity gives weights their name."""
    return bool(node.name) and not _place(node)[1] and node.name not in value.name


def _place(node: Node) -> tuple[Place, Numbers]:
    return _place_of_name(node.op, node.name)


def _place_of_name(op: str, name: str) -> tuple[Place, Numbers]:
    last = LAST.search(name)
    begin = name[: last.start()] if last is not None else name
    return (op, NUMBER.sub("#", begin), last.group() if last is not None else ""), tuple(NUMBER.findall(begin))


def as_other_users(node: Node, guesses: Guesses) -> Iterator[Guess]:
    """Connects the constants that another user of one of the node's scales has beside it, or the result of that user:
    QuantizeLinear and DequantizeLinear have the same scale and zero point. The node that makes the data comes first,
    also if its scale is an equal constant."""
    constants = _constants(node, guesses)
    scales = [value for _, value in constants if _is_float(value, guesses)]
    yield from _as_maker(node, constants, scales, guesses)
    users = dict.fromkeys(user for value in scales for user in guesses.users.get(value, ()) if user.op != node.op)
    shared = dict.fromkeys(user for _, value in constants for user in guesses.users.get(value, ()))
    for user in dict.fromkeys((*users, *(each for each in shared if each.op != node.op))):
        others = _constants(user, guesses)
        missing = [each for each in others if each not in constants]
        if missing and len(user.inputs) >= len(node.inputs) and any(_is_float(value, guesses) for _, value in others):
            yield Guess(tuple(guesses.connected(value, node, port) for port, value in missing), USUAL, count=1)
        result = user.outputs[0]
        if user in users and not missing and result is not None and result not in node.inputs:
            held = [port for port, _ in constants]
            ports = (port for port in range(len(node.inputs)) if port not in held)
            yield from (Guess((guesses.connected(result, node, port),), USUAL, count=1) for port in ports)


def _as_maker(
    node: Node, constants: Sequence[tuple[int, Value]], scales: Sequence[Value], guesses: Guesses
) -> Iterator[Guess]:
    """Connects the constants that differ from those of the node that makes the data, if that has the same scale."""
    type_of = guesses.known.types.get
    maker = guesses.makers.of(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    before = maker.node if maker is not None else None
    others = _constants(before, guesses) if before is not None and before.op != node.op else []
    held = {type_of(value) for _, value in others if _is_float(value, guesses)}
    if before is None or not any(value in dict(others).values() or _is_known(type_of(value), held) for value in scales):
        return
    own = dict(constants)
    differing = [(port, each) for port, each in others if port in own and type_of(each) != type_of(own[port])]
    if differing and len(differing) < len(own):
        yield Guess(tuple(guesses.connected(each, node, port) for port, each in differing), USUAL, count=1)


def _is_known(type: Type | None, held: Set[Type | None]) -> bool:
    """Whether the elements of a type are known and ``held`` has the same."""
    return isinstance(type, Tensor) and type.value is not None and type in held


def _constants(node: Node, guesses: Guesses) -> list[tuple[int, Value]]:
    """The constants among the inputs of a node, each with its port."""
    ports = enumerate(node.inputs)
    return [(port, value) for port, value in ports if value is not None and guesses.makers.is_constant(value)]


def _is_float(value: Value, guesses: Guesses) -> bool:
    known = guesses.known.types.get(value)
    return isinstance(known, Tensor) and known.dtype in FLOATS
