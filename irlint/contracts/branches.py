"""A demand of both branches of a node such as If is a demand of the graph around the node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from irlint.contracts.implied import Alternatives
from irlint.contracts.simplified import key_of
from irlint.contracts.sizes import within
from irlint.inference.known import Demand
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph
from irlint.records import replaced

if TYPE_CHECKING:
    from irlint.contracts.contract import Group

#: The number of bodies of a node that chooses between two branches.
BRANCHES = 2


def demanded_by_both(demands: Sequence[Demand], graph: Graph, group: Callable[[], Group]) -> Sequence[Demand]:
    """The demands, where each demand that both branches of a node have becomes a demand of the graph around the node.

    If several branches have the same path, their demands stay as they are. ``group`` creates a group with the
    unconditional values.
    """
    pairs = list(_pairs(graph, ""))
    paths = [path for _, branches in pairs for path in branches]
    for around, branches in pairs:
        if any(paths.count(path) > 1 for path in branches):
            continue
        one, other = (_grouped(demands, path, group) for path in branches)
        if one is None or other is None:
            continue
        shared = {id(demand) for demand in _shared(one, other)}
        if shared:
            demands = [replaced(each, when=around) if id(each) in shared else each for each in demands]
    return demands


def _pairs(graph: Graph, around: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The path of the graph around each node with two bodies, and the paths of these bodies; inner nodes come first."""
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _pairs(body, body.path)
        if len(node.bodies) == BRANCHES:
            (_, one), (_, other) = node.bodies
            yield around, (one.path, other.path)


def _grouped(demands: Sequence[Demand], path: str, group: Callable[[], Group]) -> Group | None:
    """The group of the demands of the branch ``path``; None if the branch has no demand."""
    of_branch = [demand for demand in demands if demand.when == path]
    if not of_branch:
        return None
    found = group()
    found.add(of_branch)
    return found


def _shared(one: Group, other: Group) -> Iterator[Demand]:
    """The demands that hold whichever branch runs.

    If no sizes fit one branch, these are all demands of the other branch. If no sizes fit either, they are the demands
    that make both impossible.
    """
    if one.impossible and other.impossible:
        yield from (*one.impossible, *other.impossible)
        return
    if one.impossible or other.impossible:
        yield from (other if one.impossible else one).demands()
        return
    for name in one.sizes.keys() & other.sizes.keys():
        for narrow, wide in ((one, other), (other, one)):
            if within(narrow.sizes[name], wide.sizes[name]):
                yield from (demand for demand, _ in wide.makers[name])
                break
    keys = {key_of(relations) for relations in _unsolved(other)}
    yield from (each.demand for each in (*one.raw, *one.joint) if key_of(each.relations) in keys)
    texts = {text for text, _ in other.equal}
    yield from (demand for text, demand in one.equal if text in texts)


def _unsolved(group: Group) -> list[Alternatives]:
    return [each.relations for each in (*group.raw, *group.joint)]
