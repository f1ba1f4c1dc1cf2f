"""Compares the graphs of two models: changed, removed and new nodes, and how many nodes differ only because of them."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.contracts.aligned import Aligned, Outputs
from irlint.contracts.changes import Change
from irlint.contracts.identity import Identity, Wired, attribute_text, constant_text, trimmed
from irlint.model import Graph, Node, Value
from irlint.records import replaced


class Graphs:
    """Compares a graph of one model with a graph of another."""

    def __init__(self, old: Identity, new: Identity) -> None:
        self.old, self.new = old, new

    def changes(self, old: Wired, new: Wired, ends: tuple[Outputs, Outputs]) -> list[Change]:
        """The changes between the nodes of two graphs: removed nodes first, then in the order of the new graph.

        ``ends`` are the outputs of both graphs; corresponding outputs have the same number.
        """
        aligned = Aligned(old, new, (self.old, self.new), ends)
        return _Compared(self, aligned).changes(ends)

    def bodies(self, old: Node, new: Node) -> list[Change]:
        """The changes in the bodies that two nodes have under the same names."""
        others = dict(new.bodies)
        found = []
        for name, body in old.bodies:
            other = others.get(name)
            if other is not None:
                found += self.graphs(body, other)
        return found

    def graphs(self, old: Graph, new: Graph) -> list[Change]:
        """The changes in two bodies or functions; their outputs correspond by position."""
        ends = [[(value, at) for at, value in enumerate(graph.outputs)] for graph in (old, new)]
        return self.changes(self.old.graphs[old], self.new.graphs[new], (ends[0], ends[1]))


class _Compared:
    """The comparison of two graphs whose nodes are aligned."""

    def __init__(self, graphs: Graphs, aligned: Aligned) -> None:
        self.graphs, self.aligned = graphs, aligned
        self.old, self.new = aligned.old, aligned.new
        self.format = graphs.new.known.format
        #: The index in ``found`` of the change of a node of the new graph, or of the change from which the node
        #: follows.
        self.roots: dict[Node, int] = {}
        #: The index in ``found`` of the change of a node that only the old graph has.
        self.gone: dict[Node, int] = {}
        self.found: list[Change] = []
        #: The number of nodes that follow from each change, by the index of the change.
        self.follow: dict[int, int] = {}

    def changes(self, ends: tuple[Outputs, Outputs]) -> list[Change]:
        aligned = self.aligned
        are_equal = aligned.is_complete and all(
            self.old.deep[one] == self.new.deep[other] for one, other in aligned.new_of.items()
        )
        if not are_equal:
            for node in self.old.nodes:
                if node not in aligned.new_of:
                    self.gone[node] = len(self.found)
                    self.found.append(self._removed(node))
            for node in self.new.nodes:
                self._visit(node)
        self.found += self._outputs(*ends)
        return [replaced(each, follow=self.follow.get(at, 0)) for at, each in enumerate(self.found)]

    def _visit(self, node: Node) -> None:
        """Adds the changes of a node; if it differs only because of another change, counts it there."""
        old = self.aligned.old_of.get(node)
        if old is None:
            self._add(node, [self._added(node)])
            return
        if self.old.deep[old] == self.new.deep[node]:
            return
        changes = [*self._of_node(old, node), *self.graphs.bodies(old, node)]
        if changes:
            self._add(node, changes)
            return
        root = self._cause(old, node)
        if root is not None:
            self.roots[node] = root
            self.follow[root] = self.follow.get(root, 0) + 1

    def _add(self, node: Node, changes: list[Change]) -> None:
        self.roots[node] = len(self.found)
        self.found += changes

    def _cause(self, old: Node, new: Node) -> int | None:
        """The index of the first change from which a node follows, by the nodes of its inputs, or None."""
        makers = [self.new.makers[value][0] for value in new.inputs if value is not None and value in self.new.makers]
        causes = [self.roots[maker] for maker in makers if maker in self.roots]
        makers = [self.old.makers[value][0] for value in old.inputs if value is not None and value in self.old.makers]
        causes += [self.gone[maker] for maker in makers if maker in self.gone]
        return min(causes, default=None)

    # --- one node -----------------------------------------------------------------------------------------------------

    def _operator(self, node: Node) -> str:
        return self.format.operator_name(node.domain, node.op)

    def _named(self, node: Node) -> str:
        return f"{self._operator(node)} `{node.label}`"

    def _change(self, kind: str, node: Node, message: str, wired: Wired) -> Change:
        return Change(kind, f"{self._named(node)}{message}", node.label, graph=wired.graph.path)

    def _removed(self, node: Node) -> Change:
        return self._change("node-removed", node, f" is gone{self._behind(node, self.old)}", self.old)

    def _added(self, node: Node) -> Change:
        return self._change("node-added", node, f" is new{self._behind(node, self.new)}", self.new)

    def _behind(self, node: Node, wired: Wired) -> str:
        """The first two nodes or inputs before a node and the number of further ones, as the end of a message."""
        behind = []
        for value in node.inputs:
            if value in wired.makers:
                behind.append(self._named(wired.makers[value][0]))
            elif value in wired.graph.inputs and value not in wired.graph.constants:
                behind.append(f"`{value.name}`")
        named = list(dict.fromkeys(behind))
        more = f" and {len(named) - 2} more" if len(named) > 2 else ""
        return f", behind {' and '.join(named[:2])}{more}" if named else ""

    def _of_node(self, old: Node, new: Node) -> Iterator[Change]:
        """The changes of a node itself: its operator, attributes, version, constants, and sources of inputs."""
        if (old.op, old.domain, old.overload) != (new.op, new.domain, new.overload):
            yield self._change("node-changed", old, f" is {self._operator(new)} now{_called(old, new)}", self.new)
        else:
            differences = list(self._attributes(old, new))
            if old.version != new.version and isinstance(new.version, str):
                differences.append(f"version {old.version} -> {new.version}")
            if differences:
                yield self._change("node-changed", new, f": {'; '.join(differences)}", self.new)
        weights, wires = self._inputs(old, new)
        if weights:
            yield self._change("node-weights", new, f": {'; '.join(weights)}", self.new)
        if wires:
            yield self._change("node-rewired", new, f": {'; '.join(wires)}", self.new)

    def _attributes(self, old: Node, new: Node) -> Iterator[str]:
        """A text for each attribute that differs: ``strides [1, 1] -> [2, 2]``."""
        one, other = self.graphs.old, self.graphs.new
        before, after = one.counted(old), other.counted(new)
        for name in dict.fromkeys((*before, *after)):
            has, had = name in after, name in before
            if has and had and one.attribute(old, name) == other.attribute(new, name):
                continue
            was = attribute_text(old, name, one.digest) if name in old.attributes else "none"
            now = attribute_text(new, name, other.digest) if name in new.attributes else "none"
            yield f"{name} {was} -> {now}"

    def _inputs(self, old: Node, new: Node) -> tuple[list[str], list[str]]:
        """Texts for the differences between the constants of two nodes, and between the sources of other inputs."""
        weights: list[str] = []
        wires: list[str] = []
        before, after = trimmed(old.inputs), trimmed(new.inputs)
        for at in range(max(len(before), len(after))):
            one = before[at] if at < len(before) else None
            other = after[at] if at < len(after) else None
            if one in self.old.constants and other in self.new.constants:
                if self.old.leaves[one] != self.new.leaves[other]:
                    was, now = self._sources(one, other)
                    weights.append(f"input {at} {was} -> {now}")
            elif self._differ(one, other):
                was, now = self._sources(one, other)
                wires.append(f"input {at} is {now}, and was {was}")
        return weights, wires

    def _differ(self, old: Value | None, new: Value | None) -> bool:
        """Whether corresponding inputs or outputs come from different sources; False if a source is a removed or new
        node, which is a change of its own."""
        if old is None or new is None:
            return old is not new
        if self.old.values.get(old) == self.new.values.get(new):
            return False
        one, other = self.old.makers.get(old), self.new.makers.get(new)
        if (one is not None and one[0] in self.gone) or (other is not None and other[0] not in self.aligned.old_of):
            return False
        if one is None or other is None:
            return True
        return self.aligned.new_of[one[0]] is not other[0] or one[1] != other[1]

    def _sources(self, old: Value | None, new: Value | None) -> tuple[str, str]:
        """The sources of corresponding inputs or outputs in the old and the new graph."""
        return self._source(old, self.old, self.graphs.old), self._source(new, self.new, self.graphs.new)

    def _source(self, value: Value | None, wired: Wired, side: Identity) -> str:
        """The source of an input, or the constant itself, as a text."""
        if value is None:
            return "left out"
        if value in wired.constants:
            constant = wired.constants[value]
            return "a constant" if constant is None else constant_text(constant, side.digest)
        if value in wired.makers:
            node, at = wired.makers[value]
            return f"output {at} of {self._named(node)}" if len(node.outputs) > 1 else self._named(node)
        return f"`{value.name}`"

    def _outputs(self, old: Outputs, new: Outputs) -> Iterator[Change]:
        """The changes of outputs that now come from another node."""
        after = {number: value for value, number in new}
        for value, number in old:
            other = after.get(number)
            if other is None or value not in self.old.makers or other not in self.new.makers:
                continue
            if self._differ(value, other):
                was, now = self._sources(value, other)
                message = f"output `{other.name}` comes from {now}, before from {was}"
                yield Change("node-rewired", message, other.name, graph=self.new.graph.path)


def _called(old: Node, new: Node) -> str:
    """The new name of a renamed node, as the end of a message; "" for other nodes and for nodes without a name."""
    return f", and called `{new.label}`" if old.name and old.name != new.name else ""
