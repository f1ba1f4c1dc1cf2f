"""Helps for branches of trees that lead to themselves or to missing nodes."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.wording import are, first_few, listed
from irlint.lazy_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irlint.ops.ml.tree_lists import TreeNodes

#: A help names at most this many nodes.
NAMED = 6


def help_for_target(nodes: TreeNodes, tree: int, *, name: str, at: int) -> str:
    """The help for entry ``at`` of the list ``name``, which leads to its own node or to a missing one.

    If exactly one node of the tree has no parent, the entry should lead to this node. If the tree lacks several nodes
    with larger ids than its own, its list of nodes has probably been cut off.
    """
    help = _help_for_lost_node(nodes, tree, name=name, at=at)
    own = _rows_of(nodes, tree)
    targets = _targets(own)
    last = max(node for node, *_ in own)
    missing = sorted({target for _, target in targets} - {node for node, *_ in own})
    if help or not missing:
        return help or "connect each branch to a later node"
    if missing[0] <= last:
        return f"write nodes of the same tree in `{name}`"
    parents = dict.fromkeys(node for node, target in targets if target in missing)
    return (
        f"tree {tree} ends with node {last}, and {_nodes_text(missing)} {are(len(missing))} missing: add "
        f"{'it' if len(missing) == 1 else 'them'}, or make {_nodes_text(sorted(parents))} "
        f"{'a leaf' if len(parents) == 1 else 'leaves'}"
    )


def _help_for_lost_node(nodes: TreeNodes, tree: int, *, name: str, at: int) -> str:
    """The help that sets entry ``at`` of the list ``name`` to the only node of the tree that no branch leads to.

    Returns "" if there is no single such node. The root, which is the first node, does not count.
    """
    own = _rows_of(nodes, tree)
    reached = {target for _, target in _targets(own)}
    lost = [node for node, *_ in own[1:] if node not in reached]
    if len(lost) != 1:
        return ""
    return f"set entry {at} of `{name}` to {lost[0]}: no branch leads to node {lost[0]} of tree {tree}"


def _targets(rows: Sequence[tuple[int, str, int, int]]) -> list[tuple[int, int]]:
    """(branch, node to which it leads) of all branches."""
    return [(node, target) for node, mode, *sides in rows if mode != "LEAF" for target in sides]


def _rows_of(nodes: TreeNodes, tree: int) -> list[tuple[int, str, int, int]]:
    """(node, mode, true child, false child) of each node of a tree."""
    rows = zip(
        nodes.nodes_treeids or (),
        nodes.nodes_nodeids or (),
        nodes.nodes_modes or (),
        nodes.nodes_truenodeids or (),
        nodes.nodes_falsenodeids or (),
    )
    return [(node, mode, yes, no) for each, node, mode, yes, no in rows if each == tree]


def _nodes_text(nodes: Sequence[int]) -> str:
    text = listed([str(node) for node in nodes]) if len(nodes) <= NAMED else first_few(nodes, NAMED)
    return f"{'node' if len(nodes) == 1 else 'nodes'} {text}"
