"""How an input of a node is related to other values: both factors of ``x * Sigmoid(x)`` are computed from x, and the
result of a layer is added to its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.fixes.candidate import SEVERAL, Candidate
from irlint.fixes.other_values import EVIDENT
from irlint.inference.origins import Makers, shape_of
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Node, Value

if TYPE_CHECKING:
    from irlint.fixes.inputs import Inputs

#: A path from an input of a node to a value from which it is computed: the index of the input, then for each node on
#: the path its operator and the index of an input.
Path = tuple[object, ...]

#: At most this many nodes are on a path.
FARTHEST = 4

#: The operator that adds a layer to its input, at most this many nodes after the first node of the layer. At most this
#: many siblings, the nearest ones, are compared.
SUM, NEAR, SIBLINGS = "Add", 64, 16


def related_value(node: Node, port: int, others: Sequence[Node], makers: Makers) -> Value | None:
    """The value to which the shortest path leads from other inputs of a node, if it leads to the input ``port`` at all
    ``others``; None if there is no such path, or if several values are as near."""
    leading = [{path for path, value in _paths(each, port, makers) if value is each.inputs[port]} for each in others]
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


def connected_as_joined(nodes: Sequence[Node], inputs: Inputs) -> Iterator[Candidate]:
    """Connects the value to which a sum after a node adds what is computed from the node, if siblings have their input
    in such a sum: a layer takes its input twice, at its first node and at the sum at its end."""
    for node in nodes:
        joined = _joined_after(node, inputs)
        if joined is None or joined in node.inputs or inputs.node_of(joined) is None:
            continue
        siblings = sorted(inputs.editor.siblings(node), key=lambda each: abs(each.index - node.index))[:SIBLINGS]
        others = [(each, value) for each in siblings if (value := _joined_after(each, inputs)) is not None]
        ports = [each.inputs.index(value) for each, value in others if value in each.inputs]
        is_last = all(user.index > node.index for user in inputs.users.get(joined, ()) if user is not node)
        if len(ports) < SEVERAL or len(ports) < len(others) or len(set(ports)) > 1:
            continue
        if is_last and ports[0] < len(node.inputs) and inputs.is_made(node.inputs[ports[0]]):
            called = f"{inputs.editor.called(joined)}, to which the result of the layer is added,"
            edit = inputs.editor.connected(joined, node, ports[0], called)
            yield Candidate((edit,), EVIDENT, node, evidence=len(ports))


def _joined_after(node: Node, inputs: Inputs) -> Value | None:
    """The value that the first sum after a node takes, if it does not depend on the node, and has the shape of the sum;
    None if there is no such sum near the node."""
    reached = {value for value in node.outputs if value is not None}
    for each in inputs.graph.nodes[node.index + 1 : node.index + 1 + NEAR]:
        others = [value for value in each.inputs if value is not None and value not in reached]
        if len(others) == len([value for value in each.inputs if value is not None]):
            continue
        value = others[0] if len(others) == 1 and each.op == SUM and inputs.is_made(others[0]) else None
        shapes = {shape_of(end, inputs.known) for end in (value, *each.outputs[:1])} if value is not None else set()
        if len(shapes - {None}) == 1:
            return value
        reached |= {value for value in each.outputs if value is not None}
    return None
