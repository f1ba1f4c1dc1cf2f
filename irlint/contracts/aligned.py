"""Aligns the nodes of two versions of a graph: by the nodes before them, the nodes after them, names and positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from irlint.contracts.identity import Identity, Wired
from irlint.model import Node, Value

#: If at most this many nodes of a graph are not aligned yet, keys that ignore the elements of constants are not
#: computed.
FEW = 16

#: The largest number of passes that align the neighbors of aligned nodes.
ROUNDS = 4

#: The outputs of a graph with numbers, which are equal for corresponding outputs of two graphs.
Outputs = Iterable[tuple[Value, int]]

#: The users of each value, with the index of the input, or -1 for a use in a body.
Uses = dict[Value, list[tuple[Node, int]]]

#: A property that two nodes must share to be aligned.
Kind = Callable[[Node], Hashable]

#: A use of a value: the value, the index of the input, the kind of the user, and the label of the user (None: any).
Use = tuple[Value, int, Hashable, "str | None"]


class Aligned:
    """The aligned nodes of two graphs.

    ``new_of`` maps nodes of the old graph to nodes of the new graph, and ``old_of`` maps them back. ``counterpart``
    maps values.
    """

    def __init__(self, old: Wired, new: Wired, sides: tuple[Identity, Identity], ends: tuple[Outputs, Outputs]) -> None:
        self.old, self.new = old, new
        self._ends = [list(each) for each in ends]
        self.new_of: dict[Node, Node] = {}
        self.old_of: dict[Node, Node] = {}
        self._remaining = old.nodes, new.nodes
        self._by_key(old.deep, new.deep)
        if self.is_done:
            return
        self._uses = _uses(old), _uses(new)
        self._users: dict[Kind, dict[Use, list[Node]]] = {}
        self._inputs = {
            new.values[value]: value for value in (*new.graph.captured, *new.graph.inputs) if value in new.values
        }
        makers = {number: new.makers.get(value) for value, number in self._ends[1]}
        #: The node of the new graph that computes the same output of the graph, and the index of the node's output.
        self._makers_of_outputs = {value: makers.get(number) for value, number in self._ends[0]}
        both = tuple(zip((old, new), sides, self._uses, self._ends))
        self._by_key(*[_ahead(*each, each[0].leaves) for each in both])
        if min(map(len, self._remaining)) > FEW:
            self._by_key(*[side.loose(wired)[0] for wired, side, *_ in both])
            self._by_key(*[_ahead(*each, each[0].typed) for each in both])

        for step in (self._by_neighbors, self._by_operator_and_label, self._by_neighbors, self._by_name, self._between):
            if self.is_done:
                return
            step()

    @property
    def is_complete(self) -> bool:
        """Whether every node is aligned."""
        return len(self.new_of) == len(self.old.nodes) == len(self.new.nodes)

    @property
    def is_done(self) -> bool:
        """Whether all nodes of one of the graphs are aligned."""
        return not all(self._remaining)

    def _pair(self, one: Node, other: Node) -> None:
        """Aligns a node of the old graph with a node of the new one."""
        self.new_of[one] = other
        self.old_of[other] = one

    def _by_key(self, old_keys: Mapping[Node, Hashable], new_keys: Mapping[Node, Hashable]) -> None:
        """Aligns remaining nodes with the same key; nodes without a key stay."""
        waiting: dict[Hashable, list[Node]] = {}
        for node in self._remaining[1]:
            waiting.setdefault(new_keys.get(node), []).append(node)
        waiting.pop(None, None)
        groups: dict[Hashable, list[Node]] = {}
        for node in self._remaining[0]:
            if old_keys.get(node) in waiting:
                groups.setdefault(old_keys[node], []).append(node)
        for key, nodes in groups.items():
            self._in_order(nodes, waiting[key])
        self._sift()

    def _sift(self) -> None:
        """Removes the aligned nodes from the remaining ones."""
        old, new = self._remaining
        self._remaining = (
            [each for each in old if each not in self.new_of],
            [each for each in new if each not in self.old_of],
        )

    def _by_operator_and_label(self) -> None:
        self._by_key(*[{node: (node.op, node.domain, node.label) for node in nodes} for nodes in self._remaining])

    def _by_name(self) -> None:
        """Aligns nodes with the same name, also of different operators."""
        self._by_key(*[{node: node.name for node in nodes if node.name} for nodes in self._remaining])

    def _in_order(self, nodes: list[Node], others: list[Node]) -> None:
        """Aligns nodes with the same label, then the other nodes in their order, as far as there are pairs."""
        if len(nodes) > 1 or len(others) > 1:
            labels = {node.label: node for node in reversed(others)}
            unpaired = []
            for node in nodes:
                other = labels.pop(node.label, None)
                unpaired.append(node) if other is None else self._pair(node, other)
            nodes, others = unpaired, [node for node in others if node not in self.old_of]
        for node, other in zip(nodes, others):
            self._pair(node, other)

    def _by_neighbors(self) -> None:
        """Aligns nodes of the same operator that use the same value at the same input, or make the same value."""
        for _ in range(ROUNDS):
            before = len(self.new_of)
            for node in self._remaining[0]:
                other = self._with_same_input(node, _operator) or self._with_same_user(node, _operator)
                if other is not None:
                    self._pair(node, other)
            self._sift()
            if len(self.new_of) == before:
                return

    def _with_same_input(self, node: Node, kind: Kind) -> Node | None:
        """A remaining node of the new graph, of the same kind, that uses the same value at the same input; or None.

        A node with the same label is preferred.
        """
        inputs = [(other, at) for at, value in enumerate(node.inputs) if (other := self.counterpart(value)) is not None]
        for label in (node.label, None):
            for other, at in inputs:
                user = self._unpaired_user(kind, (other, at, kind(node), label))
                if user is not None:
                    return user
        return None

    def _unpaired_user(self, kind: Kind, key: Use) -> Node | None:
        """The first remaining node of the new graph with this use, or None."""
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

    def _with_same_user(self, node: Node, kind: Kind) -> Node | None:
        """A remaining node of the new graph, of the same kind, with an output for the same input of a node; or None.

        It may also make the same output of the graph.
        """
        for index, value in enumerate(node.outputs):
            if value is None:
                continue
            makers = [self._makers_of_outputs.get(value)]
            for user, at in self._uses[0].get(value, ()):
                other = self.new_of.get(user)
                used = other.inputs[at] if other is not None and 0 <= at < len(other.inputs) else None
                makers.append(self.new.makers.get(used) if used is not None else None)
            for maker in makers:
                if maker is not None and maker[1] == index and self._may_pair(node, maker[0], kind):
                    return maker[0]
        return None

    def _may_pair(self, node: Node, other: Node, kind: Kind) -> bool:
        return other not in self.old_of and kind(node) == kind(other)

    def _between(self) -> None:
        """Aligns nodes of any operators that are between the same nodes."""
        for node in self._remaining[0]:
            other = self._with_same_input(node, _any)
            if other is not None and other is self._with_same_user(node, _any):
                self._pair(node, other)

    def counterpart(self, value: Value | None) -> Value | None:
        """The value of the new graph that corresponds to a value of the old graph, or None.

        Corresponding values are the same output of aligned nodes, the same input, or the same captured value.
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
    """The uses of each value in a graph and in the bodies of its nodes."""
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
    """Numbers for nodes that are equal if the nodes, what uses their outputs, and their inputs among ``leaves`` are.

    In a cycle, a user whose number is not known yet counts as -1.
    """
    outputs: dict[Value, list[int]] = {}
    for value, number in ends:
        outputs.setdefault(value, []).append(number)
    found: dict[Node, int] = {}
    for node in reversed(wired.nodes):
        used: list[tuple[object, ...]] = []
        for output in node.outputs:
            if output is None:
                used.append(())
                continue
            users = [(found.get(user, -1), at) for user, at in uses.get(output, ())]
            if len(users) > 1:
                users.sort()
            used.append((tuple(users), tuple(sorted(outputs[output])) if output in outputs else ()))
        found[node] = side.numbers.of("ahead", side.local(node), side.inputs(node, leaves), tuple(used))
    return found


def _operator(node: Node) -> Hashable:
    return node.op, node.domain


def _any(node: Node) -> Hashable:
    return None
