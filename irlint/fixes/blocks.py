"""The blocks of a model, such as ``layer.0`` and ``layer.1``, and candidates that make a node like its twins.

Twins are the corresponding nodes of different blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from posixpath import commonprefix

from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.fixes.candidate import SEVERAL, VERY_MANY, Candidate
from irlint.fixes.editor import STRIDES, Editor
from irlint.fixes.inserted import CAST, RESHAPE
from irlint.fixes.other_values import EVIDENT
from irlint.inference.known import Known
from irlint.inference.origins import Makers
from irlint.lazy_typing import Any
from irlint.model import Graph, Node, Value
from irlint.model.order import downstream, users
from irlint.model.tensor import FLOATS, Tensor
from irlint.records import replaced

#: A number in a name, and a number at the end of a name. A number at the end may count the nodes of one block, and so
#: may those in the name of an output, as in ``Add_2_output_0_QuantizeLinear``.
NUMBER = re.compile(r"(?<!\d)(?<!_output_)\d+(?!\d)(?!_output_)")
LAST_NUMBER = re.compile(r"\d+$")

#: The number of inputs that are changed together.
PORTS = 2

#: The place of a node in its block: (operator, name without numbers, number at the end of the name). ``Numbers`` are
#: the other numbers in the name. Twins have the same place and different ``Numbers``.
Place = tuple[str, str, str]
Numbers = tuple[str, ...]


class Blocks:
    """The blocks of the main graph."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor

    @cached_property
    def _by_place(self) -> dict[Place, list[tuple[Numbers, Node]]]:
        found: dict[Place, list[tuple[Numbers, Node]]] = {}
        for node in self.editor.graph.nodes:
            place, numbers = _place(node)
            if numbers:
                found.setdefault(place, []).append((numbers, node))
        return found

    def twins(self, node: Node) -> list[Node]:
        """The nodes in the place of ``node`` in other blocks. Their names differ in one number, and not at the end."""
        place, numbers = _place(node)
        others = self._by_place.get(place, ()) if numbers else ()
        return [
            each
            for found, each in others
            if len({pair for pair in zip(found, numbers) if pair[0] != pair[1]}) == 1
            and self._have_same_nodes(place, found, numbers)
        ]

    @cached_property
    def _last_numbers(self) -> dict[tuple[str, str, Numbers], set[str]]:
        """For each operator and block, the numbers at the ends of the nodes' names."""
        found: dict[tuple[str, str, Numbers], set[str]] = {}
        for (op, begin, last), several in self._by_place.items():
            for numbers, _ in several:
                found.setdefault((op, begin, numbers), set()).add(last)
        return found

    def _have_same_nodes(self, place: Place, one: Numbers, other: Numbers) -> bool:
        """Whether two blocks have the same nodes of an operator, or differ in one of these nodes. Otherwise the numbers
        at the ends of their names do not correspond."""
        last = [self._last_numbers.get((*place[:2], numbers), set()) for numbers in (one, other)]
        return len(last[0] ^ last[1]) <= 1

    @cached_property
    def candidates_with_numbers_of_twins(self) -> list[tuple[Node, Candidate]]:
        """(node, candidate) of all nodes with a number that differs from the number of all their twins."""
        several = (nodes for nodes in self._by_place.values() if len(nodes) > 1)
        return [
            (node, candidate)
            for nodes in several
            for _, node in nodes
            for candidate in self.with_numbers_of_twins(node)
        ]

    def with_numbers_of_twins_near(self, node: Node) -> Iterator[Candidate]:
        """Gives a node, or a node before it, the numbers of its twins."""
        yield from self.with_numbers_of_twins(node)
        for each, candidate in self.candidates_with_numbers_of_twins:
            if each is not node and node in downstream(each, self.editor.graph):
                yield replaced(candidate, node=each)

    def with_numbers_of_twins(self, node: Node) -> Iterator[Candidate]:
        """Gives a constant or an attribute the value that all twins have."""
        others = self.twins(node)
        for what in self._attributes_and_inputs(node) if others else ():
            found = {self.editor.value_of(each, what) for each in others}
            before, after = self.editor.value_of(node, what), found.pop()
            if found or None in (before, after) or before == after or self._lacks_unused_counterpart(node, what):
                continue
            for candidate in self._with_value(node, what, before, after):
                yield replaced(candidate, evidence=VERY_MANY * len(others))
        yield from self._with_constants_of_twins(node, others)

    def _with_constants_of_twins(self, node: Node, others: Sequence[Node]) -> Iterator[Candidate]:
        """Gives a constant the shape and the entries that the constants of all twins have, if the shapes differ."""
        known, is_constant = self.editor.known.types.get, self.editor.makers.is_constant
        for port, value in enumerate(node.inputs if others else ()):
            given = known(value) if value is not None and is_constant(value) else None
            values = [each.inputs[port] if port < len(each.inputs) else None for each in others]
            types = {known(each) if each is not None and is_constant(each) else None for each in values}
            expected = types.pop() if len(types) == 1 else None
            if value is None or not isinstance(given, Tensor) or not isinstance(expected, Tensor):
                continue
            is_other = given.shape != expected.shape and given.dtype == expected.dtype
            if not is_other or None in (given.value, expected.value, expected.shape):
                continue
            if product(given.shape or ()) != product(expected.shape or ()):
                continue
            edits = [self.editor.constant(value, expected.value)] if given.value != expected.value else []
            edits.append(self.editor.constant(value, expected.shape, "shape"))
            yield Candidate(tuple(edits), EVIDENT, evidence=len(others), subject=value)

    def _lacks_unused_counterpart(self, node: Node, what: str | int) -> bool:
        """Whether the counterpart of the twins' inputs is an unused value, and the node has another value as input."""
        expected = self.counterparts(node) if isinstance(what, int) else []
        if not isinstance(what, int) or what >= min(len(expected), len(node.inputs)):
            return False
        value = expected[what]
        return value is not None and value is not node.inputs[what] and not self.editor.users.get(value)

    def has_number_of_twins(self, edit: Edit, node: Node) -> bool:
        """Whether all twins have the number that an edit would change."""
        others = self.twins(node)
        if edit.kind == "attribute":
            of_filters = edit.name == STRIDES and len(others) == 1
            alone = of_filters and self._shapes_of_weights(others[0]) != self._shapes_of_weights(node)
            return (
                bool(others)
                and not alone
                and edit.index == node.index
                and self._all_have_value_of(node, edit.name, others)
            )
        for port, value in enumerate(node.inputs if others and edit.kind == "constant" and edit.of != "type" else ()):
            if value is not None and value.name == edit.name:
                if not self._has_shape_of(value, port, others):
                    return False
                return self._all_have_value_of(node, port, others) and all(value not in each.inputs for each in others)
        return False

    def _shapes_of_weights(self, node: Node) -> list[object]:
        types = (
            self.editor.known.types.get(each) for each in node.inputs if each and self.editor.makers.is_constant(each)
        )
        return [each.shape for each in types if isinstance(each, Tensor) and len(each.shape or ()) > 1]

    def counterpart(self, value: Value, twin: Node, node: Node) -> Value | None:
        """The value in the block of ``node`` that corresponds to a value of its ``twin``; None if there is none.

        A value is its own counterpart if it is outside of blocks, or if another node in the block of ``node`` uses it.
        """
        if self._is_used_in_block(value, twin, node):
            return value
        maker = self.editor.makers.of(value)
        made = maker.node if maker is not None else None
        made = None if made is not None and _has_other_name(value, made) else made
        place, numbers = _place(made) if made is not None else _place_of_name("", value.name)
        own_numbers = _numbers_in_block(numbers, _place(twin)[1], _place(node)[1])
        if own_numbers is None:
            return value if not numbers and not self._is_weight(value) else None
        if made is None:
            return self._values_by_place.get((place, own_numbers))
        if not self._have_same_nodes(place, numbers, own_numbers):
            return None
        found = next((each for name, each in self._by_place.get(place, ()) if name == own_numbers), None)
        port = made.outputs.index(value) if value in made.outputs else 0
        return found.outputs[port] if found is not None and port < len(found.outputs) else None

    def _is_used_in_block(self, value: Value, twin: Node, node: Node) -> bool:
        """Whether a value has a user other than ``node`` in the block of ``node``, outside of the block of ``twin``."""
        shared = len(commonprefix((twin.name, node.name)))
        users = (each for each in self.editor.users.get(value, ()) if each is not node)
        return any(len(commonprefix((each.name, node.name))) > shared for each in users)

    def _is_weight(self, value: Value) -> bool:
        known = self.editor.known.types.get(value)
        is_list = isinstance(known, Tensor) and known.dtype in FLOATS and bool(known.rank)
        return is_list and self.editor.makers.is_constant(value)

    @cached_property
    def _values_by_place(self) -> dict[tuple[Place, Numbers], Value]:
        made = ((node, value) for node in self.editor.graph.nodes for value in node.outputs if value is not None)
        results = [value for node, value in made if _has_other_name(value, node)]
        return {_place_of_name("", value.name): value for value in (*results, *self.editor.graph.constants)}

    def counterparts(self, node: Node) -> list[Value | None]:
        """For each input, the one value that corresponds to this input of all twins; None if there is no such value.

        A computed value outside of blocks counts only with ``SEVERAL`` twins, or with another user in the block.
        """
        others = self.twins(node)
        counts = {len(each.inputs) for each in others}
        found: list[Value | None] = []
        for port in range(counts.pop() if len(counts) == 1 else 0):
            values = {self.counterpart(value, each, node) if (value := each.inputs[port]) else None for each in others}
            value = values.pop() if len(values) == 1 else None
            is_outside = value is not None and len(others) < SEVERAL and value in [each.inputs[port] for each in others]
            if is_outside and value is not None and not self.editor.makers.is_constant(value):
                value = value if self._is_used_in_block(value, others[0], node) else None
            found.append(value)
        return found

    def used_in_block(self, node: Node, port: int) -> Value | None:
        """The one value that the twins of other users have, of those users in the block of a twin that take its input.

        A layer has its input several times, such as at its first product and at the sum after it.
        """
        found: set[Value | None] = set()
        for twin in self.twins(node):
            value, shared = twin.inputs[port] if port < len(twin.inputs) else None, commonprefix((twin.name, node.name))
            users = self.editor.users.get(value, ()) if value is not None else ()
            for user in (each for each in users if each is not twin and each.name.startswith(shared)):
                numbers = _numbers_in_block(_place(user)[1], _place(twin)[1], _place(node)[1])
                if numbers is None or len(commonprefix((user.name, twin.name))) <= len(shared):
                    continue
                others = [each for each in self.twins(user) if _place(each)[1] == numbers]
                found.update(each.inputs[user.inputs.index(value)] for each in others)
        return found.pop() if len(found) == 1 else None

    def connected_as_twins(self, node: Node) -> Iterator[Candidate]:
        """Connects one input, or two, as the twins are connected, and inserts the nodes that only twins have."""
        others = self.twins(node)
        edits = []
        expected = self.counterparts(node) if others else []
        for port, value in enumerate(expected):
            before = node.inputs[port] if port < len(node.inputs) else None
            if value is not None and value is not before:
                edits.append(
                    self.editor.connected(value, node, port, f"{self.editor.called(value)}, as in other blocks,")
                )
            elif (
                value is None
                and before is not None
                and (edit := self._inserted_as_at_twins(node, port, before, others)) is not None
            ):
                edits.append(edit)
        if len(expected) > len(node.inputs) and edits:
            yield Candidate(tuple(edits), EVIDENT, evidence=len(others))
            return
        own = {value.name for value in node.inputs if value is not None}
        alone = (edit for edit in edits if edit.kind != "input" or edit.value not in own)
        count = VERY_MANY * len(others)
        yield from (Candidate(self._at_all_users(edit, node), EVIDENT, evidence=count) for edit in alone)
        if len(edits) == PORTS:
            yield Candidate(tuple(edits), EVIDENT)

    def _at_all_users(self, edit: Edit, node: Node) -> tuple[Edit, ...]:
        """The edit. An inserted node is also inserted before other users of the value, if their twins have it."""
        before = node.inputs[edit.input] if edit.kind == "insert" and edit.input is not None else None
        found = [edit]
        for user in self.editor.users.get(before, ()) if before is not None else ():
            for port, value in enumerate(user.inputs if user is not node else ()):
                other = (
                    self._inserted_as_at_twins(user, port, value, self.twins(user))
                    if value is before and value
                    else None
                )
                if other and (other.name, other.value, other.inputs) == (edit.name, edit.value, edit.inputs):
                    found.append(other)
        return tuple(sorted(found, key=lambda each: (each.index or 0, each.input or 0)))

    def _inserted_as_at_twins(self, node: Node, port: int, before: Value, others: Sequence[Node]) -> Edit | None:
        """Inserts the node that all twins have before an input, if its own input corresponds to ``before``."""
        makers = [self.editor.makers.of(value) if (value := each.inputs[port]) else None for each in others]
        nodes = [each.node for each in makers if each is not None and each.node is not None and each.node.inputs]
        firsts = [self.counterpart(one.inputs[0], each, node) for one, each in zip(nodes, others) if one.inputs[0]]
        if len(firsts) != len(others) or set(firsts) != {before}:
            return None
        if nodes[0].op == RESHAPE and len(nodes[0].inputs) > 1 and (given := nodes[0].inputs[1]) is not None:
            target = self.counterpart(given, others[0], node) or given
            return self.editor.inserted(RESHAPE, node, port, inputs=(target.name,))
        return self.editor.copied(nodes[0], node, port)

    def is_connected_as_twins(self, edit: Edit, node: Node) -> bool:
        """Whether the input that an edit changes is connected as at all twins. A Cast changes no connection."""
        port = edit.input
        if edit.kind not in ("input", "insert") or edit.name == CAST or edit.index != node.index or port is None:
            return False
        expected = self.counterparts(node)
        if port >= min(len(expected), len(node.inputs)):
            return False
        value = node.inputs[port]
        return value is not None and expected[port] is value and self._has_shape_of(value, port, self.twins(node))

    def _has_shape_of(self, value: Value, port: int, others: Sequence[Node]) -> bool:
        """Whether a value has the shape of the twins' constants. True unless these are known integers of one shape."""
        values = [each.inputs[port] for each in others if port < len(each.inputs)]
        types = [self.editor.known.types.get(each) for each in values if each is not None]
        shapes = {each.shape for each in types if isinstance(each, Tensor) and each.ints is not None}
        given = self.editor.known.types.get(value)
        return len(shapes) != 1 or not isinstance(given, Tensor) or given.shape in shapes

    def _all_have_value_of(self, node: Node, what: str | int, others: Sequence[Node]) -> bool:
        before = self.editor.value_of(node, what)
        return before is not None and {self.editor.value_of(each, what) for each in others} == {before}

    def _attributes_and_inputs(self, node: Node) -> tuple[str | int, ...]:
        call = self.editor.known.calls.get(node)
        return (*range(len(node.inputs)), *((call.attributes or {}) if call is not None else ()))

    def _with_value(self, node: Node, what: int | str, before: Any, after: Any) -> Iterator[Candidate]:
        if isinstance(what, str):
            yield Candidate((self.editor.attribute(node, what, after, before),), EVIDENT, subject=what)
            return
        value = node.inputs[what]
        if value is not None and self.editor.makers.is_constant(value):
            yield from self.editor.constants.with_entries(node, what, value, after, EVIDENT)


def blocks_of(known: Known, graph: Graph) -> Blocks:
    """The blocks of a graph."""
    return Blocks(Editor(known, graph, Makers(known), users(graph)))


def _numbers_in_block(numbers: Numbers, before: Numbers, after: Numbers) -> Numbers | None:
    """The numbers in a name, moved from the block ``before`` to the block ``after``; None if the name has too few."""
    places = [at for at, (one, two) in enumerate(zip(before, after)) if one != two]
    if places[0] >= len(numbers):
        return None
    moved = {at: int(numbers[at]) - int(before[at]) + int(after[at]) for at in places if at < len(numbers)}
    return tuple(str(moved.get(at, each)) for at, each in enumerate(numbers))


def is_named_as(name: str, node: Node, other: str, twin: Node) -> bool:
    """Whether the name of a node's value corresponds to the name of a value of its twin."""
    (place, numbers), (there, others) = _place_of_name("", name), _place_of_name("", other)
    return place == there and numbers == _numbers_in_block(others, _place(twin)[1], _place(node)[1])


def _has_other_name(value: Value, node: Node) -> bool:
    """Whether a node is in no block, and the name of its result does not contain the name of the node."""
    return bool(node.name) and not _place(node)[1] and node.name not in value.name


def numbers_of(node: Node) -> Numbers:
    """The numbers in the name of a node, except a number at its end."""
    return _place(node)[1]


def _place(node: Node) -> tuple[Place, Numbers]:
    return _place_of_name(node.op, node.name)


def _place_of_name(op: str, name: str) -> tuple[Place, Numbers]:
    last = LAST_NUMBER.search(name)
    begin = name[: last.start()] if last is not None else name
    return (op, NUMBER.sub("#", begin), last.group() if last is not None else ""), tuple(NUMBER.findall(begin))
