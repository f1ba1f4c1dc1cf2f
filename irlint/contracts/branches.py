"""Moves a demand from the branches of a node to the graph around the node, if both branches have the demand."""

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


def demanded_by_both(demands: Sequence[Demand], graph: Graph, group: Callable[[], Group]) -> Sequence[Demand]:
    """The demands. If both branches of a node have a demand, it becomes a demand of the graph around the node.

    ``group`` creates an empty group that knows the values of symbols from unconditional demands.
    """
    pairs = list(_pairs(graph, ""))
    paths = [path for _, branches in pairs for path in branches]
    for around, branches in pairs:
        if any(paths.count(path) > 1 for path in branches):
            continue  # Demands are assigned by path, so equal paths cannot be distinguished.
        one, other = (_grouped(demands, path, group) for path in branches)
        if one is None or other is None:
            continue
        shared = {id(demand) for demand in _shared(one, other)}
        if shared:
            demands = [replaced(demand, when=around) if id(demand) in shared else demand for demand in demands]
    return demands


def _pairs(graph: Graph, around: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The path of the graph around each node with two bodies, and the paths of the bodies."""
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _pairs(body, body.path)
        if len(node.bodies) == 2:
            (_, one), (_, other) = node.bodies
            yield around, (one.path, other.path)


def _grouped(demands: Sequence[Demand], path: str, group: Callable[[], Group]) -> Group | None:
    of_branch = [demand for demand in demands if demand.when == path]
    if not of_branch:
        return None
    found = group()
    found.add(of_branch)
    return found


def _shared(one: Group, other: Group) -> Iterator[Demand]:
    """The demands that hold in both branches. If no sizes fit one branch, only the other branch can run."""
    if one.impossible and other.impossible:
        yield from (*one.impossible, *other.impossible)
        return
    if one.impossible or other.impossible:
        yield from (other if one.impossible else one).demands()
        return
    for name in one.sizes.keys() & other.sizes.keys():
        for narrow, wide in ((one, other), (other, one)):
            if within(narrow.sizes[name], wide.sizes[name]):
                yield from (demand for demand, _ in wide.limiting[name])
                break
    keys = {key_of(relations) for relations in _unproven_alternatives(other)}
    yield from (unsolved.demand for unsolved in (*one.unsolved, *one.joint) if key_of(unsolved.relations) in keys)
    texts = {text for text, _ in other.equalities}
    yield from (demand for text, demand in one.equalities if text in texts)


def _unproven_alternatives(group: Group) -> list[Alternatives]:
    return [unsolved.relations for unsolved in (*group.unsolved, *group.joint)]
