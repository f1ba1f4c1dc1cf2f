"""Compares nodes with their bodies: do two nodes do the same with the same values, and name their results alike?"""

from __future__ import annotations

from collections.abc import Iterable

from irlint.model import Attribute, Constant, Graph, Node, Value


def are_equal(one: Node, other: Node) -> bool:
    """Whether two nodes have the same operator, attributes and bodies, and inputs and outputs of the same names."""
    return (
        (one.op, one.domain) == (other.op, other.domain)
        and _names(one.inputs) == _names(other.inputs)
        and _names(one.outputs) == _names(other.outputs)
        and one.attributes.keys() == other.attributes.keys()
        and all(_have_equal_values(each, other.attributes[name]) for name, each in one.attributes.items())
    )


def _have_equal_values(one: Attribute, other: Attribute) -> bool:
    if (one.kind, one.reference) != (other.kind, other.reference):
        return False
    if isinstance(one.value, Graph) and isinstance(other.value, Graph):
        return _are_equal_graphs(one.value, other.value)
    if isinstance(one.value, Constant) and isinstance(other.value, Constant):
        return _are_equal_constants(one.value, other.value)
    return bool(one.value == other.value)


def _are_equal_graphs(one: Graph, other: Graph) -> bool:
    """Whether two bodies have the same nodes, inputs, outputs and constants."""
    names = [(_names(each.inputs), _names(each.outputs), _names(each.constants)) for each in (one, other)]
    pairs = zip(one.constants.values(), other.constants.values())
    return (
        names[0] == names[1]
        and len(one.nodes) == len(other.nodes)
        and all(_are_equal_constants(*pair) for pair in pairs)
        and all(are_equal(*pair) for pair in zip(one.nodes, other.nodes))
    )


def _are_equal_constants(one: Constant, other: Constant) -> bool:
    """Whether two constants are the same, or have equal elements, which are known."""
    return one == other or (one.tensor.value is not None and one.tensor == other.tensor)


def _names(values: Iterable[Value | None]) -> list[str | None]:
    return [value.name if value is not None else None for value in values]
