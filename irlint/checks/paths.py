"""The nodes that lead to sizes which have to be equal."""

from __future__ import annotations

from collections.abc import Sequence

from irlint.findings.wording import listed
from irlint.inference.origins import Makers, chain, shape_of, trail
from irlint.model import Node

#: At most this many nodes of a path are named; a size of more characters is not written out.
NAMED, LONG = 3, 40


def correction(node: Node, marks: Sequence[tuple[int, int]], makers: Makers) -> str:
    """The help for two inputs of a node whose sizes differ: which nodes compute each of them, without those that
    compute both. "" unless the marks are about two inputs, or if no node computes the sizes."""
    first = dict(reversed(marks))
    paths = {index: _computing(node, index, axis, makers) for index, axis in sorted(first.items())}
    shared = set.intersection(*map(set, paths.values())) if paths else set()
    apart = {index: [each for each in path if each not in shared] for index, path in paths.items()}
    if len(apart) != 2 or not any(apart.values()):
        return ""
    texts = [_text(node, index, first[index], path, makers) for index, path in apart.items()]
    nodes = [each for path in apart.values() for each in path]
    which = _called(nodes[0]) if len(nodes) == 1 else "one of these nodes"
    return f"correct {which}, or insert the node that the other path lacks: {', and '.join(texts)}"


def unstrided(node: Node, index: int, axis: int, makers: Makers) -> str:
    """The nodes that keep the size of an input's axis although they slide a window over it, and so may have lost their
    strides, in words; "" if there are none."""
    value = node.inputs[index] if index < len(node.inputs) else None
    found = trail(value, axis, makers) if value is not None else None
    nodes = [each for each in (found.kept if found is not None else ()) if _slides(each, makers)]
    return " or ".join(_called(each) for each in nodes[-NAMED:])


def _slides(node: Node, makers: Makers) -> bool:
    """Whether a node slides a window of several elements over its data, one element at a time."""
    call = makers.known.calls.get(node)
    given = (call.attributes or {}) if call is not None else {}
    filters = shape_of(node.inputs[1], makers.known) or () if len(node.inputs) > 1 else ()
    window = given.get("kernel_shape") or given.get("kernel") or filters[2:]
    takes = call is not None and call.signature is not None and "strides" in call.signature.attributes
    return takes and set(given.get("strides") or (1,)) == {1} and any(each != 1 for each in window)


def _computing(node: Node, index: int, axis: int, makers: Makers) -> list[Node]:
    """The nodes that compute the size of an input's axis, the last one first."""
    value = node.inputs[index] if index < len(node.inputs) else None
    found = chain(value, axis, makers) if value is not None else []
    return [each.maker.node for each in found if each.maker is not None and each.maker.node is not None]


def _text(node: Node, index: int, axis: int, path: Sequence[Node], makers: Makers) -> str:
    shape = shape_of(node.inputs[index], makers.known) or ()
    size = f"{shape[axis]}" if axis < len(shape) else ""
    has = f" has {size}" if 0 < len(size) <= LONG else " has its size"
    more = f" and {len(path) - NAMED} more" if len(path) > NAMED else ""
    names = [_called(each) for each in path[:NAMED]]
    by = f" by {', '.join(names) + more if more else listed(names)}" if path else ""
    return f"input {index}{has}{by}"


def _called(node: Node) -> str:
    return f"{node.op} {node.label!r}"
