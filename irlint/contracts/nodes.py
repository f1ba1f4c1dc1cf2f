"""Compares the graphs of two models: changed, removed and new nodes."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.contracts.aligned import Aligned, Outputs
from irlint.contracts.changes import Change
from irlint.contracts.identity import NumberedGraph, Numbering, attribute_text, constant_text, trimmed
from irlint.model import Graph, Node, Value
from irlint.records import replaced


class GraphComparison:
    """Compares graphs of two models."""

    def __init__(self, old: Numbering, new: Numbering) -> None:
        self.old, self.new = old, new

    def changes(self, old: NumberedGraph, new: NumberedGraph, ends: tuple[Outputs, Outputs]) -> list[Change]:
        """The changes of nodes: removed nodes first, then in the order of the new graph.

        ``ends`` are the outputs of both graphs. Corresponding outputs have equal numbers.
        """
        aligned = Aligned(old, new, (self.old, self.new), ends)
        return _AlignedComparison(self, aligned).changes(ends)

    def bodies(self, old: Node, new: Node) -> list[Change]:
        """The changes between the bodies of two nodes. Bodies with the same attribute name are compared."""
        others = dict(new.bodies)
        found = []
        for name, body in old.bodies:
            other = others.get(name)
            if other is not None:
                found += self.graphs(body, other)
        return found

    def graphs(self, old: Graph, new: Graph) -> list[Change]:
        """The changes in two bodies or functions. Their outputs correspond by position."""
        ends = [[(value, at) for at, value in enumerate(graph.outputs)] for graph in (old, new)]
        return self.changes(self.old.graphs[old], self.new.graphs[new], (ends[0], ends[1]))


class _AlignedComparison:
    """The comparison of two graphs with aligned nodes."""

    def __init__(self, comparison: GraphComparison, aligned: Aligned) -> None:
        self.comparison, self.aligned = comparison, aligned
        self.old, self.new = aligned.old, aligned.new
        self.format = comparison.new.known.format
        #: For a node of the new graph, the index in ``found`` of its own change, or of the change that it follows from.
        self.roots: dict[Node, int] = {}
        #: The index in ``found`` of the change of a removed node.
        self.removed: dict[Node, int] = {}
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
                    self.removed[node] = len(self.found)
                    self.found.append(self._removed(node))
            for node in self.new.nodes:
                self._visit(node)
        self.found += self._outputs(*ends)
        return [replaced(change, follow=self.follow.get(at, 0)) for at, change in enumerate(self.found)]

    def _visit(self, node: Node) -> None:
        """Adds the changes of a node, or counts the node at the change that it follows from."""
        old = self.aligned.old_of.get(node)
        if old is None:
            self._add(node, [self._added(node)])
            return
        if self.old.deep[old] == self.new.deep[node]:
            return
        changes = [*self._of_node(old, node), *self.comparison.bodies(old, node)]
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
        makers = [self.new.makers[value][0] for value in new.inputs if value is not None and value in self.new.makers]
        causes = [self.roots[maker] for maker in makers if maker in self.roots]
        makers = [self.old.makers[value][0] for value in old.inputs if value is not None and value in self.old.makers]
        causes += [self.removed[maker] for maker in makers if maker in self.removed]
        return min(causes, default=None)

    # --- one node -----------------------------------------------------------------------------------------------------

    def _operator(self, node: Node) -> str:
        return self.format.operator_name(node.domain, node.op)

    def _named(self, node: Node) -> str:
        return f"{self._operator(node)} `{node.label}`"

    def _change(self, kind: str, node: Node, message: str, numbered: NumberedGraph) -> Change:
        return Change(kind, f"{self._named(node)}{message}", node.label, graph=numbered.graph.path)

    def _removed(self, node: Node) -> Change:
        return self._change("node-removed", node, f" is gone{self._inputs_text(node, self.old)}", self.old)

    def _added(self, node: Node) -> Change:
        return self._change("node-added", node, f" is new{self._inputs_text(node, self.new)}", self.new)

    def _inputs_text(self, node: Node, numbered: NumberedGraph) -> str:
        sources = []
        for value in node.inputs:
            if value in numbered.makers:
                sources.append(self._named(numbered.makers[value][0]))
            elif value in numbered.graph.inputs and value not in numbered.graph.constants:
                sources.append(f"`{value.name}`")
        named = list(dict.fromkeys(sources))
        more = f" and {len(named) - 2} more" if len(named) > 2 else ""
        return f", after {' and '.join(named[:2])}{more}" if named else ""

    def _of_node(self, old: Node, new: Node) -> Iterator[Change]:
        """The changes of the operator, attributes, version, constants and inputs of a node."""
        if (old.op, old.domain, old.overload) != (new.op, new.domain, new.overload):
            yield self._change(
                "node-changed", old, f" is {self._operator(new)} now{_new_name_text(old, new)}", self.new
            )
        else:
            differences = list(self._attribute_differences(old, new))
            if old.version != new.version and isinstance(new.version, str):
                differences.append(f"version {old.version} -> {new.version}")
            if differences:
                yield self._change("node-changed", new, f": {'; '.join(differences)}", self.new)
        weights, wires = self._inputs(old, new)
        if weights:
            yield self._change("node-weights", new, f": {'; '.join(weights)}", self.new)
        if wires:
            yield self._change("node-rewired", new, f": {'; '.join(wires)}", self.new)

    def _attribute_differences(self, old: Node, new: Node) -> Iterator[str]:
        one, other = self.comparison.old, self.comparison.new
        before, after = one.compared_attributes(old), other.compared_attributes(new)
        for name in dict.fromkeys((*before, *after)):
            in_both = name in before and name in after
            if in_both and one.attribute(old, name) == other.attribute(new, name):
                continue
            was = attribute_text(old, name, one.digest) if name in old.attributes else "none"
            now = attribute_text(new, name, other.digest) if name in new.attributes else "none"
            yield f"{name} {was} -> {now}"

    def _inputs(self, old: Node, new: Node) -> tuple[list[str], list[str]]:
        """(differences between constants, differences between the sources of other inputs)."""
        weights: list[str] = []
        wires: list[str] = []
        before, after = trimmed(old.inputs), trimmed(new.inputs)
        for at in range(max(len(before), len(after))):
            one = before[at] if at < len(before) else None
            other = after[at] if at < len(after) else None
            if one in self.old.constants and other in self.new.constants:
                if self.old.leaves[one] != self.new.leaves[other]:
                    was, now = self._source_texts(one, other)
                    weights.append(f"input {at} {was} -> {now}")
            elif self._differ(one, other):
                was, now = self._source_texts(one, other)
                wires.append(f"input {at} is {now}, and was {was}")
        return weights, wires

    def _differ(self, old: Value | None, new: Value | None) -> bool:
        """Whether the value ``old`` and the value ``new`` come from different sources.

        False if one of the sources is a removed or added node, which is a change of its own.
        """
        if old is None or new is None:
            return old is not new
        if self.old.values.get(old) == self.new.values.get(new):
            return False
        one, other = self.old.makers.get(old), self.new.makers.get(new)
        if (one is not None and one[0] in self.removed) or (other is not None and other[0] not in self.aligned.old_of):
            return False
        if one is None or other is None:
            return True
        return self.aligned.new_of[one[0]] is not other[0] or one[1] != other[1]

    def _source_texts(self, old: Value | None, new: Value | None) -> tuple[str, str]:
        return self._source_text(old, self.old, self.comparison.old), self._source_text(
            new, self.new, self.comparison.new
        )

    def _source_text(self, value: Value | None, numbered: NumberedGraph, numbering: Numbering) -> str:
        if value is None:
            return "omitted"
        if value in numbered.constants:
            constant = numbered.constants[value]
            return "a constant" if constant is None else constant_text(constant, numbering.digest)
        if value in numbered.makers:
            node, at = numbered.makers[value]
            return f"output {at} of {self._named(node)}" if len(node.outputs) > 1 else self._named(node)
        return f"`{value.name}`"

    def _outputs(self, old: Outputs, new: Outputs) -> Iterator[Change]:
        after = {number: value for value, number in new}
        for value, number in old:
            other = after.get(number)
            if other is None or value not in self.old.makers or other not in self.new.makers:
                continue
            if self._differ(value, other):
                was, now = self._source_texts(value, other)
                message = f"output `{other.name}` comes from {now}, before from {was}"
                yield Change("node-rewired", message, other.name, graph=self.new.graph.path)


def _new_name_text(old: Node, new: Node) -> str:
    return f", and called `{new.label}`" if old.name and old.name != new.name else ""
