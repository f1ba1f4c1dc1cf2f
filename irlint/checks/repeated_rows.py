"""Finds rows of nodes that repeat the names of earlier nodes, as in graphs that were merged without a prefix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from irlint.checks.names import DUPLICATE_NAME, DUPLICATE_NODE
from irlint.findings.wording import counted
from irlint.model import Graph, Node, Problem, Value
from irlint.records import record, replaced

#: The minimum number of nodes of a row that is taken for part of a merged graph.
LEAST_NODES = 3

#: The maximum number of rows in a message.
SHOWN = 2


@record
class Row:
    """The nodes ``first`` to ``last`` of a graph. They repeat the same number of nodes that start at index
    ``before``."""

    first: int
    last: int
    before: int

    def __str__(self) -> str:
        return f"nodes {self.first} to {self.last} repeat nodes {self.before} to {self.before + self.last - self.first}"


def grouped(duplicates: Sequence[Problem], graph: Graph) -> list[Problem]:
    """The problems, and one problem about all repeated rows. The problems of nodes in these rows name it as
    ``because``."""
    rows = [row for row in _rows(graph) if row.last - row.first + 1 >= LEAST_NODES]
    if not rows:
        return list(duplicates)
    repeated = {node for row in rows for node in graph.nodes[row.first : row.last + 1]}
    first = graph.nodes[rows[0].first]
    rule = (
        DUPLICATE_NAME
        if any(each.fault.rule is DUPLICATE_NAME and each.node is first for each in duplicates)
        else DUPLICATE_NODE
    )
    what = "their outputs have the same names" if rule is DUPLICATE_NAME else "they have the same names"
    more = f", and {counted(len(rows) - SHOWN, 'more row')} of nodes repeat others" * (len(rows) > SHOWN)
    fault = rule.fault(
        f"{'; '.join(map(str, rows[:SHOWN]))}{more}: {what}",
        help=f"remove nodes {rows[0].first} to {rows[0].last} if they are a copy, or merge the graphs with a prefix "
        "for the names of one graph (onnx.compose.add_prefix)",
    )
    root = Problem(fault, graph.path, first, place=first.place, disputes=_values_with_shared_names(graph))
    return [root, *(replaced(each, because=root) if _is_explained(each, repeated) else each for each in duplicates)]


def _is_explained(problem: Problem, repeated: set[Node]) -> bool:
    return problem.node is None or problem.node in repeated


def _rows(graph: Graph) -> Iterator[Row]:
    """The longest rows of nodes that repeat earlier nodes in the same order."""
    makers: dict[str, int] = {}
    named: dict[str, int] = {}
    row: Row | None = None
    for at, node in enumerate(graph.nodes):
        before = _repeated_index(node, graph, makers, named)
        if row is not None and before == row.before + at - row.first and row.last == at - 1:
            row = Row(row.first, at, row.before)
        else:
            if row is not None:
                yield row
            row = Row(at, at, before) if before is not None else None
        for value in node.outputs:
            if value is not None:
                makers.setdefault(value.name, at)
        if node.name:
            named.setdefault(node.name, at)
    if row is not None:
        yield row


def _repeated_index(node: Node, graph: Graph, makers: dict[str, int], named: dict[str, int]) -> int | None:
    """The index of the earlier node that ``node`` repeats; None if there is none. Both have the same operator, and an
    output with the same name; without such an output, the same name."""
    earlier = [makers.get(value.name) for value in node.outputs if value is not None and value.name]
    before = next((each for each in earlier if each is not None), None)
    if before is None:
        before = named.get(node.name)
    if before is None or (graph.nodes[before].domain, graph.nodes[before].op) != (node.domain, node.op):
        return None
    return before


def _values_with_shared_names(graph: Graph) -> tuple[Value, ...]:
    computed = (value for value in chain.from_iterable([node.outputs for node in graph.nodes]) if value is not None)
    every = list(dict.fromkeys((*graph.inputs, *graph.constants, *computed)))
    counts: dict[str, int] = {}
    for value in every:
        counts[value.name] = counts.get(value.name, 0) + 1
    return tuple(value for value in every if counts[value.name] > 1)
