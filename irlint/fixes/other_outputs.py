"""Other outputs of the node that computes a value: perhaps a user of the value needs one of them."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.model import Graph, Node, Value
from irlint.model.order import used_values
from irlint.model.tensor import Tensor, Type


def other_outputs(value: Value, maker: Node | None, types: Mapping[Value, Type | None]) -> list[Value]:
    """The other outputs of the node that computes a value, if they have another element type or rank."""
    given = types.get(value)
    return [
        each
        for each in (maker.outputs if maker is not None else ())
        if each is not None
        and isinstance(known := types.get(each), Tensor)
        and isinstance(given, Tensor)
        and (known.dtype, known.rank) != (given.dtype, given.rank)
    ]


def is_usual(other: Value, value: Value, maker: Node, graph: Graph) -> bool:
    """Whether all siblings of a node have users of the output ``other``, and none of ``value``. One must exist."""
    used = used_values(graph)
    siblings = [
        each for each in graph.nodes if each is not maker and (each.domain, each.op) == (maker.domain, maker.op)
    ]
    uses = [{at for at, each in enumerate(sibling.outputs) if each in used} for sibling in siblings]
    good, bad = maker.outputs.index(other), maker.outputs.index(value)
    return bool(uses) and all(good in each and bad not in each for each in uses)
