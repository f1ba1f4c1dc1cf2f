"""Binding finds the operator or the model's function that a node calls, and assigns the node's attributes to it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from irlint.binding.calls import Call
from irlint.findings.faults import Fault
from irlint.lazy_typing import Protocol
from irlint.model import Attribute, Model, Node

#: At most this many calls are kept.
MAX_REMEMBERED = 10_000

#: Attributes of these kinds can be compared. A node with another kind of attribute does not share its call.
_COMPARABLE = frozenset(["TEXT", "INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"])


class _Format(Protocol):
    """The module of a format in this package."""

    def bound(
        self, node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """See ``Binder.bound``."""
        ...


class Binder:
    """Binds the nodes of a model. Nodes with the same operator and attributes share one call."""

    def __init__(self, model: Model) -> None:
        assert model.format is not None
        self._model = model
        self._format: _Format = import_module(f"{__name__}.{model.format.name}")
        # Calls without faults, by the values and by the identities of the attributes.
        self._by_value: dict[tuple[object, ...], Call] = {}
        self._by_identity: dict[tuple[object, ...], Call] = {}
        # The attributes that a rule ignores, by the operator's name, domain, overload and version.
        self._unheeded: dict[tuple[object, ...], tuple[str, ...]] = {}

    def bound(
        self, node: Node, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """The call of a node, and the faults of the operator's name, the number of inputs and outputs, and attributes.

        ``scope`` has the attributes of the enclosing function, by name: those that its call passes, and the defaults.
        """
        # The parsers share the mapping, or the attributes in it, between equal nodes. Comparing identities is faster.
        inputs, outputs = node.inputs, node.outputs
        callee = node.op, node.domain, node.overload, node.version
        unheeded = self._unheeded.get(callee, ()) if self._unheeded else ()
        identity: tuple[object, ...] | None = None
        if all(inputs) and all(outputs):
            attributes = _identities(node.attributes, unheeded) if unheeded else id(node.attributes)
            identity = attributes, len(inputs), len(outputs), within_function, callee
            known = self._by_identity.get(identity)
            if known is not None:
                return known, []
        key = _key(node, within_function, unheeded)
        known = self._by_value.get(key) if key is not None else None
        if known is not None:
            if identity is not None:
                self._by_identity[identity] = known
            return known, []
        call, faults = self._format.bound(node, self._model, scope, within_function=within_function)
        if key is not None and not faults and call.function is None and len(self._by_value) < MAX_REMEMBERED:
            self._by_value[key] = call
            if call.operator is not None and call.operator.unheeded:
                self._unheeded[callee] = call.operator.unheeded
        return call, faults


def _identities(attributes: Mapping[str, Attribute], unheeded: tuple[str, ...]) -> tuple[object, ...]:
    return *attributes, *[id(attribute) for name, attribute in attributes.items() if name not in unheeded]


def _key(node: Node, within_function: bool, unheeded: tuple[str, ...]) -> tuple[object, ...] | None:
    """A key that nodes with the same call share; None for an incomparable attribute."""
    key: list[object] = [node.domain, node.op, node.overload, node.version, within_function]
    for name, attribute in node.attributes.items():
        if attribute.kind not in _COMPARABLE or attribute.reference is not None:
            return None
        value = attribute.value if name not in unheeded else None
        key += (name, attribute.kind, tuple(value) if isinstance(value, list) else value)
    key += [value is None for value in node.inputs]
    key.append(len(node.inputs))
    key += [value is None for value in node.outputs]
    return tuple(key)
