"""How one input of a node is computed from another one, as both factors of ``x * Sigmoid(x)`` are computed from x."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.inference.origins import Makers
from irlint.model import Node, Value

#: A path from an input of a node to a value from which it is computed: the index of the input, then for each node on
#: the path its operator and the index of an input.
Path = tuple[object, ...]

#: At most this many nodes are on a path.
FARTHEST = 4


def related_value(node: Node, port: int, others: Sequence[Node], makers: Makers) -> Value | None:
    """The value to which the shortest path leads from other inputs of a node, if it leads to the input ``port`` at all
    ``others``; None if there is no such path, or if several values are as near."""
    found = [_paths(each, port, makers) for each in others]
    leading = [
        {path for path, value in paths if value is each.inputs[port]} for each, paths in zip(others, map(list, found))
    ]
    shared = set.intersection(*leading) if leading else set()
    least = min(map(len, shared), default=0)
    values = {value for path, value in _paths(node, port, makers) if len(path) == least and path in shared}
    return values.pop() if len(values) == 1 else None


def _paths(node: Node, port: int, makers: Makers) -> Iterator[tuple[Path, Value]]:
    """The paths from the inputs of a node except ``port``, and the values to which they lead."""
    starts = ((at, value) for at, value in enumerate(node.inputs) if at != port and value is not None)
    reached: list[tuple[Path, Value]] = [((at,), value) for at, value in starts if not makers.is_constant(value)]
    for path, value in reached:
        yield path, value
        maker = makers.of(value)
        made = maker.node if maker is not None else None
        if made is None or len(path) > FARTHEST:
            continue
        before = [(at, each) for at, each in enumerate(made.inputs) if each is not None]
        reached += [((*path, (made.op, at)), each) for at, each in before if not makers.is_constant(each)]
