"""A demand that both branches of a node such as If have is a demand of the graph around the node."""

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
    """The demands. A demand of one branch that also holds in the other becomes a demand of the surrounding graph.

    ``group`` creates a group with the unconditional values.
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
    """For each node with two branches, the path of the graph around it and the paths of its branches, innermost
    first."""
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _pairs(body, body.path)
        if len(node.bodies) == BRANCHES:
            (_, one), (_, other) = node.bodies
            yield around, (one.path, other.path)


def _grouped(demands: Sequence[Demand], path: str, group: Callable[[], Group]) -> Group | None:
    """The group of a branch's demands; None if it has none."""
    own = [demand for demand in demands if demand.when == path]
    if not own:
        return None
    found = group()
    found.add(own)
    return found


def _shared(one: Group, other: Group) -> Iterator[Demand]:
    """The demands of one branch that hold in the other, too; if no sizes fit the other branch, all of them."""
    if one.impossible or other.impossible:
        yield from (*one.impossible, *other.impossible) if one.impossible and other.impossible else ()
        yield from () if one.impossible else one.demands()
        yield from () if other.impossible else other.demands()
        return
    for name in one.sizes.keys() & other.sizes.keys():
        for narrow, wide in ((one, other), (other, one)):
            if within(narrow.sizes[name], wide.sizes[name]):
                yield from (demand for demand, _ in wide.makers[name])
                break
    keys = {key_of(relations) for relations in _joint(other)}
    yield from (each.demand for each in (*one.raw, *one.joint) if key_of(each.relations) in keys)
    texts = {text for text, _ in other.equal}
    yield from (demand for text, demand in one.equal if text in texts)


def _joint(group: Group) -> list[Alternatives]:
    return [each.relations for each in (*group.raw, *group.joint)]
