"""What both branches of a choice demand is demanded always."""

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

#: A node that chooses between bodies has two of them.
BRANCHES = 2


def demanded_by_both(demands: Sequence[Demand], graph: Graph, group: Callable[[], Group]) -> Sequence[Demand]:
    """The demands; those of one branch that hold in the other as well as demands of the graph around both.

    ``group`` makes a group that knows what holds always.
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
    """The paths of the two branches of each node that has two, the innermost first, with that of the body around the
    node."""
    for node in graph.nodes:
        for _, body in node.bodies:
            yield from _pairs(body, body.path)
        if len(node.bodies) == BRANCHES:
            (_, one), (_, other) = node.bodies
            yield around, (one.path, other.path)


def _grouped(demands: Sequence[Demand], path: str, group: Callable[[], Group]) -> Group | None:
    """What a branch demands; None where that is nothing."""
    own = [demand for demand in demands if demand.when == path]
    if not own:
        return None
    found = group()
    found.add(own)
    return found


def _shared(one: Group, other: Group) -> Iterator[Demand]:
    """The demands of one branch that hold in the other, too: all of them where no sizes fit the other."""
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
