"""Candidates for values that already have the axes of size 1 that Unsqueezes add to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from irlint.fixes.candidate import Candidate
from irlint.fixes.editor import Editor
from irlint.fixes.inserted import NAMES, UNSQUEEZE
from irlint.fixes.other_values import PROBABLE
from irlint.fixes.sizes import nodes_before
from irlint.inference.origins import shape_of
from irlint.model import Node
from irlint.model.order import uses

#: The Unsqueezes among this many nodes before the faulty one are bypassed.
NEAR = 64

#: The index of the input that lists the new axes.
AXES = 1


def without_new_axes(node: Node, editor: Editor) -> Iterator[Candidate]:
    """Bypasses Unsqueezes in a row whose data already has their axes, or declares the data without these axes.

    Such data is a mask [N, 1, 1, S] to which a model adds the axes 1 and 2, because it was [N, S].
    """
    has_row = any(each.op == UNSQUEEZE for each in editor.graph.nodes)
    for last in islice(nodes_before(node, editor.makers), NEAR) if has_row else ():
        row = _row(last, editor) if last.op == UNSQUEEZE else []
        source, result = (row[0].inputs[0], last.outputs[0]) if row else (None, None)
        shape = shape_of(source, editor.known)
        if source is None or result is None or shape is None or result in editor.graph.outputs:
            continue
        added = _added(row, len(shape), editor)
        if not added or any(shape[axis] != 1 for axis in added):
            continue
        nodes = " and ".join(f"{each.op}[{each.index}]" for each in row)
        called = f"{editor.called(source)}, without {nodes},"
        places = uses(result, editor.users.get(result, ()))
        edits = [editor.connected(source, *place, called) for place in places]
        if edits:
            yield Candidate(tuple(edits), PROBABLE, last, evidence=1)
        if source in editor.graph.inputs and not editor.makers.is_constant(source):
            rest = tuple(dim for axis, dim in enumerate(shape) if axis not in added)
            yield Candidate((editor.declared(source, rest),), PROBABLE, last, evidence=1)


def _row(last: Node, editor: Editor) -> list[Node]:
    """The Unsqueezes in a row that ends with ``last``; [] if another Unsqueeze follows."""
    if any(user.op == UNSQUEEZE for value in last.outputs if value for user in editor.users.get(value, ())):
        return []
    row = [last]
    while (value := next(iter(row[0].inputs), None)) is not None:
        maker = editor.makers.of(value)
        if maker is None or maker.node is None or maker.node.op != UNSQUEEZE:
            break
        row.insert(0, maker.node)
    return row


def _added(row: Sequence[Node], rank: int, editor: Editor) -> set[int]:
    """The axes that a row of Unsqueezes adds if its result has ``rank`` axes; empty if they are unknown."""
    lists = [editor.value_of(each, NAMES[UNSQUEEZE]) or editor.value_of(each, AXES) for each in row]
    if not all(lists) or rank <= (count := sum(map(len, lists))):
        return set()
    is_new = [False] * (rank - count)
    for axes in lists:
        size = len(is_new) + len(axes)
        for axis in sorted(each % size for each in axes):
            is_new.insert(axis, True)
    return {axis for axis, each in enumerate(is_new) if each}
