"""Aligns the nodes of two versions of a graph: by the nodes before them, the nodes after them, names and positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from irlint.contracts.identity import Identity, Wired, trimmed
from irlint.model import Node, Value

#: Up to this many remaining nodes are aligned only by their neighbors and names.
FEW = 16

#: The largest number of passes that align the neighbors of aligned nodes.
ROUNDS = 4

Outputs = Iterable[tuple[Value, int]]
Uses = dict[Value, list[tuple[Node, int]]]
#: A property that two nodes must share to be aligned.
Kind = Callable[[Node], Hashable]

#: A use of a value: the value, the index of the input, the kind of the node, and its label (None: any label).
Use = tuple[Value, int, Hashable, "str | None"]


class Aligned:
    """The aligned nodes of two graphs.

    ``new_of`` maps nodes of the old graph to nodes of the new one, and ``old_of`` the reverse.
    """

    def __init__(self, old: Wired, new: Wired, sides: tuple[Identity, Identity], ends: tuple[Outputs, Outputs]) -> None:
        self.old, self.new = old, new
        self._ends = [list(each) for each in ends]
        self.new_of: dict[Node, Node] = {}
        self.old_of: dict[Node, Node] = {}
        self._left = old.nodes, new.nodes
        self._by_key(old.deep, new.deep)
        if self.is_done:
            return
        self._uses = _uses(old), _uses(new)
        self._users: dict[Kind, dict[Use, list[Node]]] = {}
        self._inputs = {
            new.values[value]: value for value in (*new.graph.captured, *new.graph.inputs) if value in new.values
        }
        makers = {number: new.makers.get(value) for value, number in self._ends[1]}
        self._leaving = {value: makers.get(number) for value, number in self._ends[0]}
        both = tuple(zip((old, new), sides, self._uses, self._ends))
        self._by_key(*[_ahead(*each, each[0].leaves) for each in both])
        if min(map(len, self._left)) > FEW:
            self._by_key(*[side.loose(wired)[0] for wired, side, *_ in both])
            self._by_key(*[_ahead(*each, each[0].typed) for each in both])
        for step in (self._in_sequence, self._by_name, self._in_sequence, self._by_label, self._in_place):
            if self.is_done:
                return
            step()

    @property
    def is_whole(self) -> bool:
        """Whether every node is aligned."""
        return len(self.new_of) == len(self.old.nodes) == len(self.new.nodes)

    @property
    def is_done(self) -> bool:
        """Whether one of the graphs has no node left to align."""
        return not all(self._left)

    def _pair(self, one: Node, other: Node) -> None:
        self.new_of[one] = other
        self.old_of[other] = one

    def _by_key(self, old_keys: Mapping[Node, Hashable], new_keys: Mapping[Node, Hashable]) -> None:
        """Aligns nodes with the same key: first those with the same name, then in order."""
        waiting: dict[Hashable, list[Node]] = {}
        for node in self._left[1]:
            waiting.setdefault(new_keys.get(node), []).append(node)
        waiting.pop(None, None)
        groups: dict[Hashable, list[Node]] = {}
        for node in self._left[0]:
            if old_keys.get(node) in waiting:
                groups.setdefault(old_keys[node], []).append(node)
        for key, nodes in groups.items():
            self._in_order(nodes, waiting[key])
        self._sift()

    def _sift(self) -> None:
        """Removes the aligned nodes from the remaining ones."""
        old, new = self._left
        self._left = (
            [each for each in old if each not in self.new_of],
            [each for each in new if each not in self.old_of],
        )

    def _by_name(self) -> None:
        self._by_key(*[{node: (node.op, node.domain, node.label) for node in nodes} for nodes in self._left])

    def _by_label(self) -> None:
        self._by_key(*[{node: node.name for node in nodes if node.name} for nodes in self._left])

    def _in_order(self, nodes: list[Node], others: list[Node]) -> None:
        if len(nodes) > 1 or len(others) > 1:
            names = {node.label: node for node in reversed(others)}
            left = []
            for node in nodes:
                other = names.pop(node.label, None)
                left.append(node) if other is None else self._pair(node, other)
            nodes, others = left, [node for node in others if node not in self.old_of]
        for node, other in zip(nodes, others):
            self._pair(node, other)

    def _in_sequence(self) -> None:
        """Aligns nodes of one operator that take the same value at the same input, or feed the same input."""
        for _ in range(ROUNDS):
            before = len(self.new_of)
            for node in self._left[0]:
                other = self._behind(node, _operator) or self._before(node, _operator)
                if other is not None:
                    self._pair(node, other)
            self._sift()
            if len(self.new_of) == before:
                return

    def _behind(self, node: Node, kind: Kind) -> Node | None:
        """The node of the new graph that takes the same input as this one, preferably with the same name; None without
        one."""
        taken = [(other, at) for at, value in enumerate(node.inputs) if (other := self.counterpart(value)) is not None]
        for label in (node.label, None):
            for other, at in taken:
                user = self._unpaired_user(kind, (other, at, kind(node), label))
                if user is not None:
                    return user
        return None

    def _unpaired_user(self, kind: Kind, key: Use) -> Node | None:
        if kind not in self._users:
            users: dict[Use, list[Node]] = {}
            for value, uses in self._uses[1].items():
                for user, at in reversed(uses):
                    for label in (user.label, None):
                        users.setdefault((value, at, kind(user), label), []).append(user)
            self._users[kind] = users
        waiting = self._users[kind].get(key, [])
        while waiting and waiting[-1] in self.old_of:
            waiting.pop()
        return waiting[-1] if waiting else None

    def _before(self, node: Node, kind: Kind) -> Node | None:
        """The node of the new graph that feeds the same input or output as this one, or None."""
        for place, value in enumerate(node.outputs):
            if value is None:
                continue
            makers = [self._leaving.get(value)]
            for user, at in self._uses[0].get(value, ()):
                other = self.new_of.get(user)
                fed = other.inputs[at] if other is not None and 0 <= at < len(other.inputs) else None
                makers.append(self.new.makers.get(fed) if fed is not None else None)
            for maker in makers:
                if maker is not None and maker[1] == place and self._fits(node, maker[0], kind):
                    return maker[0]
        return None

    def _fits(self, node: Node, other: Node, kind: Kind) -> bool:
        return other not in self.old_of and kind(node) == kind(other)

    def _in_place(self) -> None:
        """Aligns nodes of different operators that are between the same nodes."""
        for node in self._left[0]:
            other = self._behind(node, _any)
            if other is not None and other is self._before(node, _any):
                self._pair(node, other)

    def counterpart(self, value: Value | None) -> Value | None:
        """The value of the new graph that corresponds to one of the old graph, or None.

        The aligned nodes make both, or both are the same input or captured value.
        """
        if value is None:
            return None
        if value in self.old.makers:
            node, at = self.old.makers[value]
            other = self.new_of.get(node)
            return other.outputs[at] if other is not None and at < len(other.outputs) else None
        number = self.old.values.get(value)
        return self._inputs.get(number) if number is not None else None


def _uses(wired: Wired) -> Uses:
    """The users of each value, with the index of the input; a use in a body has the index -1."""
    found: Uses = {}
    for node in wired.nodes:
        for at, value in enumerate(node.inputs):
            if value is not None:
                found.setdefault(value, []).append((node, at))
        for _, body in node.bodies if wired.has_bodies else ():
            for captured in body.captured:
                found.setdefault(captured, []).append((node, -1))
    return found


def _ahead(wired: Wired, side: Identity, uses: Uses, ends: Outputs, leaves: Mapping[Value, int]) -> dict[Node, int]:
    """The number of each node together with all nodes after it, and with the inputs and constants that it takes."""
    leaving: dict[Value, list[int]] = {}
    for value, number in ends:
        leaving.setdefault(value, []).append(number)
    found: dict[Node, int] = {}
    for node in reversed(wired.nodes):
        fed: list[tuple[object, ...]] = []
        for output in node.outputs:
            if output is None:
                fed.append(())
                continue
            users = [(found.get(user, -1), at) for user, at in uses.get(output, ())]
            if len(users) > 1:
                users.sort()
            fed.append((tuple(users), tuple(sorted(leaving[output])) if output in leaving else ()))
        inputs = tuple([-1 if value is None else leaves.get(value, -2) for value in trimmed(node.inputs)])
        found[node] = side.numbers.of("ahead", side.local(node), inputs, tuple(fed))
    return found


def _operator(node: Node) -> Hashable:
    return node.op, node.domain


def _any(node: Node) -> Hashable:
    return None
