"""Nodes with the same surroundings, and candidates that connect a node, or number it, as these nodes are.

The surroundings of a node are the operators before its inputs and after its outputs. They show repeated layers where
names do not, as in files of exporters that only number their nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from irlint.checks.intended import plain
from irlint.findings.edits import Edit
from irlint.fixes.candidate import MANY, SEVERAL, Candidate
from irlint.fixes.constants import entries_of
from irlint.fixes.editor import Editor
from irlint.fixes.other_values import EVIDENT, PROBABLE
from irlint.fixes.relations import related_value
from irlint.fixes.sizes import nodes_before
from irlint.inference.origins import Makers
from irlint.lazy_typing import Any
from irlint.model import Node, Value
from irlint.model.order import downstream
from irlint.model.tensor import Tensor
from irlint.records import replaced

#: Surroundings of this many nodes in each direction are compared, the widest first.
DEPTHS, WIDE = (6, 4, 3, 2), 4

#: At most this many nodes before a node are corrected, in graphs of at least ``FEWEST`` nodes.
FARTHER, FEWEST = 48, 24

#: The attributes of orders and axes. Other numbers, such as dilations, often differ between similar layers.
ORDERS = ("perm", "axis", "axes")

#: In narrow surroundings of this many nodes, nodes of other roles are similar, too: of cross-attention, for example.
NARROW = 3

#: A value may be farther from its user than at the similar nodes: by this many nodes, or by a quarter.
NEAR = 8

#: For the inputs of users, and for corresponding values of different layers, this many nodes back are compared.
BESIDE, KIND = 1, 2


class Surroundings:
    """The surroundings of the nodes of one graph, as numbers: equal surroundings have equal numbers."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.makers: Makers = editor.makers
        self._numbers: dict[object, int] = {}
        self._before: dict[tuple[Value, int], int] = {}
        self._after: dict[tuple[Node, int], int] = {}
        self._grouped: dict[tuple[object, ...], dict[int, list[Node]]] = {}
        self._values: dict[int, list[Value]] = {}

    def _number(self, key: object) -> int:
        """The number of a key, which stands for it in other keys."""
        return self._numbers.setdefault(key, len(self._numbers))

    def before(self, value: Value | None, depth: int) -> int:
        """The operators that compute a value, up to ``depth`` nodes back."""
        if value is None:
            return self._number(None)
        if (value, depth) not in self._before:
            self._before[value, depth] = self._number(self._origin(value, depth))
        return self._before[value, depth]

    def _origin(self, value: Value, depth: int) -> object:
        known, maker = self.editor.known.types.get(value), self.makers.of(value)
        if maker is None:
            return value
        if maker.is_constant or maker.node is None:
            dtype, rank = (known.dtype, known.rank) if isinstance(known, Tensor) else (None, None)
            return "", maker.is_constant or plain(value.name), dtype, rank, entries_of(known)
        node = maker.node
        place = node.outputs.index(value) if value in node.outputs else 0
        if not depth:
            return node.domain, node.op, place
        return node.domain, node.op, place, tuple(self.before(each, depth - 1) for each in node.inputs)

    def after(self, node: Node, depth: int) -> int:
        """The operators that use the outputs of a node, up to ``depth`` nodes on, with what computes their inputs."""
        if (node, depth) not in self._after:
            found = [
                (place, *each)
                for place, value in enumerate(node.outputs)
                if value is not None
                for each in self._uses(value, node, depth)
            ]
            self._after[node, depth] = self._number(("after", *sorted(found)))
        return self._after[node, depth]

    def _uses(self, value: Value, node: Node, depth: int) -> Iterator[tuple[int, ...]]:
        """The uses of an output of a node by later nodes. Others may be wrong: they close a cycle."""
        if value in self.editor.graph.outputs:
            yield (-1,)
        users = dict.fromkeys(self.editor.users.get(value, ())) if depth else ()
        for user in (each for each in users if each.index > node.index):
            op = self._number((user.domain, user.op))
            others = tuple(self.before(each, BESIDE) for each in user.inputs if each is not value)
            places = tuple(port for port, each in enumerate(user.inputs) if each is value)
            yield op, self._number((places, others)), self.after(user, depth - 1)

    def similar(self, node: Node, without: Sequence[str | int], depth: int, after: int | None = None) -> list[Node]:
        """The other nodes with the surroundings of a node, except for the inputs and attributes ``without``.

        ``after`` is the number of nodes that are compared after each node, if it differs from ``depth``.
        """
        after = depth if after is None else after
        what = (node.domain, node.op, len(node.inputs), *without, depth, after)
        if what not in self._grouped:
            found = self._grouped.setdefault(what, {})
            for each in (node, *self.editor.siblings(node)):
                if len(each.inputs) == len(node.inputs):
                    found.setdefault(self._surroundings(each, without, depth, after), []).append(each)
        others = self._grouped[what].get(self._surroundings(node, without, depth, after), [])
        return [each for each in others if each is not node and each.index != node.index]

    def _surroundings(self, node: Node, without: Sequence[str | int], depth: int, after: int) -> int:
        """The surroundings of a node and its attributes, except for the inputs and attributes ``without``."""
        inputs = tuple(self.before(each, depth) for port, each in enumerate(node.inputs) if port not in without)
        names = (name for name in sorted(node.attributes) if name not in without)
        attributes = tuple((name, _comparable(node.attributes[name].value)) for name in names)
        return self._number((inputs, attributes, self.after(node, after)))

    # --- candidates ---------------------------------------------------------------------------------------------------

    def candidates_near(self, node: Node, nodes: Iterable[Node]) -> Iterator[Candidate]:
        """The candidates at a node, at ``nodes``, and at the nearest nodes before it. Small graphs repeat no layers."""
        if len(self.editor.graph.nodes) < FEWEST:
            return
        for each in dict.fromkeys((node, *nodes, *islice(nodes_before(node, self.makers), FARTHER))):
            yield from self.candidates_at(each)

    def candidates_at(self, node: Node) -> Iterator[Candidate]:
        """Candidates that connect one input of a node, or change one of its numbers, as at similar nodes."""
        for port in range(len(node.inputs)):
            is_constant = self.makers.is_constant(node.inputs[port])
            yield from self._numbered(node, port) if is_constant else self.connected(node, port)
        for name in (each for each in node.attributes if each in ORDERS):
            yield from self._numbered(node, name)
        if {len(each.inputs) for each in self.editor.siblings(node)} == {len(node.inputs) + 1}:
            for after, port in self.with_lost_input(node, range(len(node.inputs) + 1)):
                pairs = [(at, each) for at, each in enumerate(after) if at >= port and each is not None]
                edits = tuple(self.editor.connected(each, node, at) for at, each in pairs)
                yield Candidate(edits, PROBABLE, node, evidence=1)

    def with_lost_input(self, node: Node, ports: Iterable[int]) -> Iterator[tuple[tuple[Value | None, ...], int]]:
        """(inputs, index of the new one) of a node that lost an input at one of ``ports``, by the similar nodes.

        The input is also the constant that all siblings have there, if there are several, or that all nodes of other
        layers have there. Or other inputs are computed from it, as in other layers.
        """
        for port in ports:
            others = node.inputs[port + 1 :] if None in node.inputs else node.inputs[port:]
            whole = replaced(node, inputs=(*node.inputs[:port], None, *others))
            value = self.expected(whole, port) or self._constant_of_siblings(whole, port)
            value = value or self._constant_of_layers(whole, port)
            if value is None or value in node.inputs:
                value = self._related(whole, port)
            if value is not None:
                yield (*node.inputs[:port], value, *others), port

    def _constant_of_siblings(self, node: Node, port: int) -> Value | None:
        """The constant that all siblings have as an input, if they have constants where the node has them, and the same
        ones; None for less than ``SEVERAL`` siblings."""
        siblings = [each for each in self.editor.siblings(node) if len(each.inputs) == len(node.inputs)]
        siblings = [each for each in siblings if each.outputs != node.outputs]
        columns = [{each.inputs[at] for each in siblings} for at in range(len(node.inputs))]
        shared = [next(iter(each)) if len(each) == 1 else None for each in columns]
        constants = [each if self.makers.is_constant(each) else None for each in shared]
        fits = all(
            own is expected if expected is not None else not self.makers.is_constant(own)
            for at, (own, expected) in enumerate(zip(node.inputs, constants))
            if at != port
        )
        return constants[port] if fits and len(siblings) >= SEVERAL else None

    def _constant_of_layers(self, node: Node, port: int) -> Value | None:
        """The one constant that ``MANY`` nodes have as an input, if they follow the same operators and precede the same
        ones. More operators may differ after the last layer."""
        others = self._in_other_layers(node, port, WIDE)
        values = {each.inputs[port] for each in others}
        value = values.pop() if len(values) == 1 and len(others) >= MANY else None
        return value if self.makers.is_constant(value) else None

    def _related(self, node: Node, port: int) -> Value | None:
        """The value from which other inputs are computed, as in other layers (see ``related_value``)."""
        for depth in DEPTHS:
            if others := self._in_other_layers(node, port, depth):
                is_sure = depth >= WIDE or len(others) >= SEVERAL
                return related_value(node, port, others, self.makers) if is_sure else None
        return None

    def _in_other_layers(self, node: Node, port: int, depth: int) -> list[Node]:
        """The nodes that follow the same operators, except before an input, and precede the same ones."""
        others = self.similar(node, (port,), depth, 0)
        return [each for each in others if self._users_of(each) == self._users_of(node)]

    def _users_of(self, node: Node) -> set[tuple[str, str]]:
        """The operators of the users of a node's results."""
        values = [value for value in node.outputs if value is not None]
        return {(user.domain, user.op) for value in values for user in self.editor.users.get(value, ())}

    def connected(self, node: Node, port: int) -> Iterator[Candidate]:
        """Connects an input as at the similar nodes, inserts the node before it that they have, or bypasses one."""
        others = self._nearest(node, port)
        grade = EVIDENT if len(others) >= SEVERAL else PROBABLE
        value = self._as_others(node, port, others) if others else None
        edits = self._inserted_at_users(node, port, others) if others and value is None else ()
        if value is not None and value not in node.inputs and not self.makers.is_constant(value):
            edits = (self.editor.connected(value, node, port, f"{self.editor.called(value)}, as at similar nodes,"),)
        if edits:
            yield Candidate(edits, grade, node, evidence=len(others))

    def expected(self, node: Node, port: int) -> Value | None:
        """The value that an input has by the similar nodes; None if there are none, or if they differ."""
        return self._as_others(node, port, others) if (others := self._nearest(node, port)) else None

    def _nearest(self, node: Node, port: int) -> list[Node]:
        """The nodes that are similar, apart from an input, in the widest surroundings for which there are any.

        In surroundings of less than ``WIDE`` nodes, there must be several.
        """
        for depth in DEPTHS:
            if others := self.similar(node, (port,), depth):
                return others if depth >= WIDE or len(others) >= SEVERAL else []
        return []

    def _as_others(self, node: Node, port: int, others: Sequence[Node]) -> Value | None:
        """The value for an input that all of the similar nodes ``others`` support; None if they differ."""
        values, own = [each.inputs[port] for each in others], node.inputs[port]
        kinds = {self.before(each, KIND) for each in values}
        if len(kinds) != 1 or None in values:
            return None
        is_shared = len(set(values)) == 1
        if is_shared and (len(others) >= SEVERAL or self.makers.is_constant(values[0])):
            roles = {each.inputs[port] for each in self.similar(node, (port,), NARROW)}
            return values[0] if len(roles) == 1 else None
        value = self._corresponding(node, own, kinds.pop(), others, values)
        farthest = max(each.index - self._place(other) for each, other in zip(others, values) if other is not None)
        is_far = value is not None and node.index - self._place(value) > farthest + max(NEAR, farthest // 4)
        return None if is_far or value in values else value

    def _corresponding(
        self, node: Node, own: Value | None, kind: int, others: Sequence[Node], values: Sequence[Value | None]
    ) -> Value | None:
        """The value of a kind that corresponds to those of the similar nodes; perhaps the present value.

        This is the last one before the node, if each of the similar nodes takes the last one before it. Otherwise it is
        the only unused one, or an input of the node that computes the present value.
        """
        behind = {each for made in downstream(node, self.editor.graph) for each in made.outputs}
        every = self._of_kind(kind)
        found = [each for each in every if each not in behind]
        if all(self._last_before(each, every) is value for each, value in zip(others, values)):
            return self._last_before(node, found)
        unused = [each for each in found if not self.editor.users.get(each) and each not in self.editor.graph.outputs]
        if len(unused) == 1:
            return unused[0]
        maker = self.makers.of(own) if own is not None else None
        near = [each for each in found if maker is not None and maker.node is not None and each in maker.node.inputs]
        return near[0] if len(near) == 1 else None

    def _of_kind(self, kind: int) -> list[Value]:
        """The results of nodes that are computed in this way, in the order of the file."""
        if not self._values:
            for node in self.editor.graph.nodes:
                for value in node.outputs:
                    if value is not None and not self.makers.is_constant(value):
                        self._values.setdefault(self.before(value, KIND), []).append(value)
        return self._values.get(kind, [])

    def _last_before(self, node: Node, values: Sequence[Value]) -> Value | None:
        earlier = [each for each in values if self._place(each) < node.index]
        return max(earlier, key=self._place, default=None)

    def _place(self, value: Value) -> int:
        maker = self.makers.of(value)
        return maker.node.index if maker is not None and maker.node is not None else -1

    def _inserted_at_users(self, node: Node, port: int, others: Sequence[Node]) -> tuple[Edit, ...]:
        """Inserts the node that the similar nodes have before an input, also before all other users of the value, if
        their similar nodes have it as well."""
        first, given = self._inserted(node, port, [each.inputs[port] for each in others]), node.inputs[port]
        found = [first] if first is not None and given is not None else []
        for user in self.editor.users.get(given, ()) if found and given is not None else ():
            for at in (at for at, value in enumerate(user.inputs) if value is given and (user, at) != (node, port)):
                edit = self._inserted(user, at, [each.inputs[at] for each in self._nearest(user, at)])
                if edit is not None and first is not None and (edit.name, edit.value) == (first.name, first.value):
                    found.append(edit)
        return tuple(sorted(dict.fromkeys(found), key=lambda each: (each.index or 0, each.input or 0)))

    def _inserted(self, node: Node, port: int, values: Sequence[Value | None]) -> Edit | None:
        """Inserts a copy of the node that the similar nodes have before an input, if its own input corresponds."""
        makers = [self.makers.of(each) for each in values if each is not None]
        nodes = [each.node for each in makers if each is not None and each.node is not None]
        firsts = {self.before(each.inputs[0], KIND) for each in nodes if each.inputs}
        if len(nodes) != len(values) or firsts != {self.before(node.inputs[port], KIND)}:
            return None
        return self.editor.copied(nodes[0], node, port)

    def _numbered(self, node: Node, what: str | int) -> Iterator[Candidate]:
        """Gives a constant or an attribute the value that all similar nodes have."""
        before = self.editor.value_of(node, what)
        for depth in DEPTHS if before is not None else ():
            others = [each for each in self.similar(node, (what,), depth) if not self._have_equal_data(each, node)]
            if not others:
                continue
            found: set[Any] = {self.editor.value_of(each, what) for each in others}
            after = found.pop()
            if not found and after not in (None, before):
                grade = EVIDENT if len(others) >= SEVERAL else PROBABLE
                for edits in self._with_value(node, what, before, after):
                    yield Candidate(edits, grade, node, evidence=len(others), subject=what)
            return

    def _have_equal_data(self, one: Node, other: Node) -> bool:
        """Whether two nodes have the same first input, or the shape of the same value. Their numbers rather differ."""
        indexed = self.editor.constants.indices.indexed_value
        return bool(one.inputs) and bool(other.inputs) and indexed(one) is indexed(other)

    def _with_value(self, node: Node, what: str | int, before: Any, after: Any) -> Iterator[tuple[Edit, ...]]:
        if isinstance(what, str):
            yield (self.editor.attribute(node, what, after, before),)
            return
        value = node.inputs[what]
        if value is not None and isinstance(after, tuple) and isinstance(before, tuple) and len(after) == len(before):
            for each in self.editor.constants.with_entries(node, what, value, after, EVIDENT):
                yield each.edits


def _comparable(value: object) -> object:
    """An integer, text or list of an attribute; None for other values."""
    value = tuple(value) if isinstance(value, list) else value
    return value if isinstance(value, (int, str, tuple)) else None
