"""Names the nodes that compute sizes, in helps about sizes that must be equal."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.wording import listed
from irlint.inference.origins import Makers, chain, shape_of, trail
from irlint.model import Node

#: The maximum number of nodes of a path in a help.
MOST_NODES = 3

#: A size with more characters is not written out.
LONGEST_SIZE = 40


def correction(node: Node, marks: Sequence[tuple[int, int]], makers: Makers) -> str:
    """The help for a node with two inputs whose sizes differ. The help names the nodes that compute only one of the
    sizes; "" if there are none."""
    first = dict(reversed(marks))
    paths = {index: _computing_nodes(node, index, axis, makers) for index, axis in sorted(first.items())}
    shared = set.intersection(*map(set, paths.values())) if paths else set()
    own_paths = {index: [each for each in path if each not in shared] for index, path in paths.items()}
    if len(own_paths) != 2 or not any(own_paths.values()):
        return ""
    texts = [_path_text(node, index, first[index], path, makers) for index, path in own_paths.items()]
    nodes = [each for path in own_paths.values() for each in path]
    culprits = _node_text(nodes[0]) if len(nodes) == 1 else "one of these nodes"
    return f"correct {culprits}, or insert the node that the other path lacks: {', and '.join(texts)}"


def unstrided(node: Node, index: int, axis: int, makers: Makers) -> str:
    """The nodes, as text, that keep the size of an axis although they slide a window. They may have lost their
    strides."""
    value = node.inputs[index] if index < len(node.inputs) else None
    found = trail(value, axis, makers) if value is not None else None
    nodes = [each for each in (found.kept if found is not None else ()) if _slides_window_by_one(each, makers)]
    return " or ".join(_node_text(each) for each in nodes[-MOST_NODES:])


def _slides_window_by_one(node: Node, makers: Makers) -> bool:
    call = makers.known.calls.get(node)
    given = (call.attributes or {}) if call is not None else {}
    filters = shape_of(node.inputs[1], makers.known) or () if len(node.inputs) > 1 else ()
    window = given.get("kernel_shape") or given.get("kernel") or filters[2:]
    has_strides = call is not None and call.signature is not None and "strides" in call.signature.attributes
    return has_strides and set(given.get("strides") or (1,)) == {1} and any(each != 1 for each in window)


def _computing_nodes(node: Node, index: int, axis: int, makers: Makers) -> list[Node]:
    """The nodes that compute the size of an input's axis, the last one first."""
    value = node.inputs[index] if index < len(node.inputs) else None
    found = chain(value, axis, makers) if value is not None else []
    return [each.maker.node for each in found if each.maker is not None and each.maker.node is not None]


def _path_text(node: Node, index: int, axis: int, path: Sequence[Node], makers: Makers) -> str:
    shape = shape_of(node.inputs[index], makers.known) or ()
    size = f"{shape[axis]}" if axis < len(shape) else ""
    size_text = f" has {size}" if 0 < len(size) <= LONGEST_SIZE else " has its size"
    more = f" and {len(path) - MOST_NODES} more" if len(path) > MOST_NODES else ""
    names = [_node_text(each) for each in path[:MOST_NODES]]
    path_text = f" by {', '.join(names) + more if more else listed(names)}" if path else ""
    return f"input {index}{size_text}{path_text}"


def _node_text(node: Node) -> str:
    return f"{node.op} {node.label!r}"
