"""Aligns the nodes of two versions of a graph: by the nodes before them, the nodes after them, names and positions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from irlint.contracts.identity import NumberedGraph, Numbering
from irlint.model import Node, Value

#: If more nodes than this are not aligned, a further step aligns nodes that differ only in the elements of constants.
FEW = 16

#: The most passes that align the neighbors of aligned nodes.
ROUNDS = 4

#: The outputs of a graph. Corresponding outputs of two graphs have equal numbers.
Outputs = Iterable[tuple[Value, int]]

#: The users of each value, with the index of the input; -1 is a use in a body.
Uses = dict[Value, list[tuple[Node, int]]]

#: A property that two nodes must share to be aligned.
Kind = Callable[[Node], Hashable]

#: A value, the index of the input, the kind of the user, and the label of the user (None: any).
Use = tuple[Value, int, Hashable, "str | None"]


class Aligned:
    """The aligned nodes of two graphs: ``new_of`` maps old nodes to new ones, ``old_of`` maps them back."""

    def __init__(
        self,
        old: NumberedGraph,
        new: NumberedGraph,
        numberings: tuple[Numbering, Numbering],
        ends: tuple[Outputs, Outputs],
    ) -> None:
        self.old, self.new = old, new
        self._ends = [list(outputs) for outputs in ends]
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
        #: For each output of the old graph, the source of the corresponding output: (new node, index of its output).
        self._makers_of_outputs = {value: makers.get(number) for value, number in self._ends[0]}
        both = tuple(zip((old, new), numberings, self._uses, self._ends))
        self._by_key(*[_numbers_by_users(*context, context[0].leaves) for context in both])
        if min(map(len, self._remaining)) > FEW:
            self._by_key(*[numbering.numbers_by_type(graph)[0] for graph, numbering, *_ in both])
            self._by_key(*[_numbers_by_users(*context, context[0].typed) for context in both])

        for step in (self._by_neighbors, self._by_operator_and_label, self._by_neighbors, self._by_name, self._between):
            if self.is_done:
                return
            step()

    @property
    def is_complete(self) -> bool:
        return len(self.new_of) == len(self.old.nodes) == len(self.new.nodes)

    @property
    def is_done(self) -> bool:
        """Whether all nodes of one of the graphs are aligned."""
        return not all(self._remaining)

    def _pair(self, one: Node, other: Node) -> None:
        self.new_of[one] = other
        self.old_of[other] = one

    def _by_key(self, old_keys: Mapping[Node, Hashable], new_keys: Mapping[Node, Hashable]) -> None:
        """Aligns nodes that have the same key, among those that are not aligned yet."""
        waiting: dict[Hashable, list[Node]] = {}
        for node in self._remaining[1]:
            waiting.setdefault(new_keys.get(node), []).append(node)
        waiting.pop(None, None)
        groups: dict[Hashable, list[Node]] = {}
        for node in self._remaining[0]:
            if old_keys.get(node) in waiting:
                groups.setdefault(old_keys[node], []).append(node)
        for key, nodes in groups.items():
            self._by_label_then_order(nodes, waiting[key])
        self._remove_aligned()

    def _remove_aligned(self) -> None:
        old, new = self._remaining
        self._remaining = (
            [node for node in old if node not in self.new_of],
            [node for node in new if node not in self.old_of],
        )

    def _by_operator_and_label(self) -> None:
        self._by_key(*[{node: (node.op, node.domain, node.label) for node in nodes} for nodes in self._remaining])

    def _by_name(self) -> None:
        self._by_key(*[{node: node.name for node in nodes if node.name} for nodes in self._remaining])

    def _by_label_then_order(self, nodes: list[Node], others: list[Node]) -> None:
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
        """Aligns nodes with the same operator that have a corresponding input or output."""
        for _ in range(ROUNDS):
            before = len(self.new_of)
            for node in self._remaining[0]:
                other = self._with_same_input(node, _operator_kind) or self._with_same_user(node, _operator_kind)
                if other is not None:
                    self._pair(node, other)
            self._remove_aligned()
            if len(self.new_of) == before:
                return

    def _with_same_input(self, node: Node, kind: Kind) -> Node | None:
        """A new node of this kind that is not aligned yet and uses the counterpart of an input of ``node``.

        Prefers a node with the same label.
        """
        inputs = [(other, at) for at, value in enumerate(node.inputs) if (other := self.counterpart(value)) is not None]
        for label in (node.label, None):
            for other, at in inputs:
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

    def _with_same_user(self, node: Node, kind: Kind) -> Node | None:
        """A new node of this kind that is not aligned yet and computes a counterpart of an output of ``node``."""
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
        """Aligns nodes, also of different operators, if they have a corresponding input and a corresponding user."""
        for node in self._remaining[0]:
            other = self._with_same_input(node, _any_kind)
            if other is not None and other is self._with_same_user(node, _any_kind):
                self._pair(node, other)

    def counterpart(self, value: Value | None) -> Value | None:
        """The new graph's value that corresponds to a value of the old graph, or None."""
        if value is None:
            return None
        if value in self.old.makers:
            node, at = self.old.makers[value]
            other = self.new_of.get(node)
            return other.outputs[at] if other is not None and at < len(other.outputs) else None
        number = self.old.values.get(value)
        return self._inputs.get(number) if number is not None else None


def _uses(graph: NumberedGraph) -> Uses:
    found: Uses = {}
    for node in graph.nodes:
        for at, value in enumerate(node.inputs):
            if value is not None:
                found.setdefault(value, []).append((node, at))
        for _, body in node.bodies if graph.has_bodies else ():
            for captured in body.captured:
                found.setdefault(captured, []).append((node, -1))
    return found


def _numbers_by_users(
    graph: NumberedGraph, numbering: Numbering, uses: Uses, ends: Outputs, leaves: Mapping[Value, int]
) -> dict[Node, int]:
    """A number for each node. Nodes with equal users and equal inputs among ``leaves`` have equal numbers."""
    outputs: dict[Value, list[int]] = {}
    for value, number in ends:
        outputs.setdefault(value, []).append(number)
    found: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        used: list[tuple[object, ...]] = []
        for output in node.outputs:
            if output is None:
                used.append(())
                continue
            # In a cycle, the number of a user may not be known yet.
            users = [(found.get(user, -1), at) for user, at in uses.get(output, ())]
            if len(users) > 1:
                users.sort()
            used.append((tuple(users), tuple(sorted(outputs[output])) if output in outputs else ()))
        found[node] = numbering.numbers.of("ahead", numbering.local(node), numbering.inputs(node, leaves), tuple(used))
    return found


def _operator_kind(node: Node) -> Hashable:
    return node.op, node.domain


def _any_kind(node: Node) -> Hashable:
    return None
