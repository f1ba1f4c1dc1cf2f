"""Repeated ids of nodes, and warnings about the order in which the nodes of a tree ensemble are listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, takewhile

from irlint.findings.faults import Severity
from irlint.findings.statements import warn
from irlint.findings.wording import counted, span
from irlint.model.lists import LongList

#: (id of a tree, id of a node).
Place = tuple[int, int]

#: If this many nodes of a tree are repeated, from its root on, a further tree begins.
SEVERAL = 2


def warn_of_split_tree(trees: Sequence[int]) -> None:
    """Warns of a tree whose nodes are not listed together. ``trees`` has the id of the tree of each node.

    ONNX Runtime takes the first node of every group as the root of a further tree.
    """
    at = _first_after_another_tree(trees)
    if at is not None:
        tree = next(entry for index, entry in enumerate(trees) if index == at)
        _warn(
            f"node entry {at} belongs to tree {tree} and follows an entry of another tree, but earlier entries belong "
            f"to tree {tree} too; ONNX Runtime evaluates each group as a tree and adds all results",
            "list the nodes of each tree together",
            "nodes_treeids",
        )


def _first_after_another_tree(trees: Sequence[int]) -> int | None:
    """The index of the first entry whose tree has earlier entries, but not directly before it; None if none has."""
    if isinstance(trees, LongList):
        import numpy

        numbers = trees.numbers
        starts = numpy.concatenate(([0], numpy.flatnonzero(numbers[1:] != numbers[:-1]) + 1)).tolist()
        groups = [(start, int(numbers[start])) for start in starts]
    else:
        groups = [(at, tree) for at, tree in enumerate(trees) if not at or trees[at - 1] != tree]
    seen: set[int] = set()
    for at, tree in groups:
        if tree in seen:
            return at
        seen.add(tree)
    return None


def repeated_node(places: Sequence[Place], votes: str) -> tuple[str, str, str] | None:
    """(message, help, attribute) about a node that a tree has twice; None if there is none.

    If the ids of the tree start again, a further tree has the same id. ``votes`` is the list with the trees of leaves.
    """
    first: dict[Place, int] = {}
    at = next((at for at, place in enumerate(places) if first.setdefault(place, at) != at), None)
    if at is None:
        return None
    tree, node = places[at]
    copied = list(takewhile(lambda place: place[0] == tree, places[at:]))
    is_root = first[tree, node] == min(index for place, index in first.items() if place[0] == tree)
    repeated = len(first.keys() & set(copied))
    if not is_root or repeated < SEVERAL or len(set(copied)) < len(copied):
        return f"tree {tree} has node {node} twice", "give each node of a tree its own id", "nodes_nodeids"
    trees = {each for each, _ in places}
    unused = next(each for each in range(len(trees) + 1) if each not in trees)
    more = counted(repeated - 1, "more node")
    return (
        f"tree {tree} has node {node} and {more} twice: its ids start again at entry {at}, like those of another tree",
        f"give this tree an unused id, such as {unused}: at entries {span(at, at + len(copied) - 1)} of "
        f"`nodes_treeids`, and for its leaves in `{votes}`",
        "nodes_treeids",
    )


def warn_of_parents(roots: Mapping[int, Place], children: Mapping[Place, Collection[Place]]) -> None:
    """Warns of a tree whose first listed node, its root, is the child of another node."""
    with_parent = set(chain.from_iterable(children.values()))
    wrong = next((root for root in roots.values() if root in with_parent), None)
    if wrong is not None:
        tree, node = wrong
        parent = next(place[1] for place, found in children.items() if wrong in found)
        _warn(
            f"tree {tree} begins with node {node}, a child of node {parent}; the first node is the root, so no path "
            f"reaches node {parent}",
            f"list the root of tree {tree} first",
            "nodes_nodeids",
        )


def _warn(message: str, help: str, attribute: str) -> None:
    from irlint.ops.ml.tree_lists import TREE_MALFORMED

    warn(TREE_MALFORMED.fault(message, help=help, attribute=attribute, severity=Severity.WARNING))
