"""Binding finds what a node calls: the operator with its name at its version, or a function of the model.

The result is a ``Call``, with the node's attributes assigned to the parameters of the operator's rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from irlint.binding.calls import Call
from irlint.findings.faults import Fault
from irlint.lazy_typing import Protocol
from irlint.model import Attribute, Model, Node

#: At most this many calls without faults are kept.
MAX_REMEMBERED = 10_000

#: Nodes whose attributes are all of these kinds are compared with each other; other nodes are bound separately.
_COMPARED = frozenset(["TEXT", "INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"])


class _Format(Protocol):
    """The module of this package for one format."""

    def bound(
        self, node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """As ``Binder.bound``."""
        ...


class Binder:
    """Binds the nodes of a model; nodes with the same operator and attributes share one call."""

    def __init__(self, model: Model) -> None:
        assert model.format is not None
        self._model = model
        self._format: _Format = import_module(f"{__name__}.{model.format.name}")
        self._sound: dict[tuple[object, ...], Call] = {}
        self._alike: dict[tuple[object, ...], Call] = {}
        #: The attributes that a rule ignores, by the names and the version of the operator.
        self._unheeded: dict[tuple[object, ...], tuple[str, ...]] = {}

    def bound(
        self, node: Node, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """The operator or function that ``node`` calls, and the faults of its name, arity and attributes.

        ``scope`` has the attributes of the call of the enclosing function, by name.
        """
        # Nodes whose attributes were read only once share the same mapping, so its identity is enough; or the same
        # attributes, except for those that are not heeded.
        inputs, outputs = node.inputs, node.outputs
        callee = node.op, node.domain, node.overload, node.version
        unheeded = self._unheeded.get(callee, ()) if self._unheeded else ()
        short: tuple[object, ...] | None = None
        if all(inputs) and all(outputs):
            stated = _identity(node.attributes, unheeded) if unheeded else id(node.attributes)
            short = stated, len(inputs), len(outputs), within_function, callee
            known = self._alike.get(short)
            if known is not None:
                return known, []
        key = _key(node, within_function, unheeded)
        known = self._sound.get(key) if key is not None else None
        if known is not None:
            if short is not None:
                self._alike[short] = known
            return known, []
        call, faults = self._format.bound(node, self._model, scope, within_function=within_function)
        if key is not None and not faults and call.function is None and len(self._sound) < MAX_REMEMBERED:
            self._sound[key] = call
            if call.operator is not None and call.operator.unheeded:
                self._unheeded[callee] = call.operator.unheeded
        return call, faults


def _identity(attributes: Mapping[str, Attribute], unheeded: tuple[str, ...]) -> tuple[object, ...]:
    """The names of attributes, with the ids of those that are heeded."""
    return *attributes, *[id(each) for name, each in attributes.items() if name not in unheeded]


def _key(node: Node, within_function: bool, unheeded: tuple[str, ...]) -> tuple[object, ...] | None:
    """All facts on which a sound call depends, except ``unheeded`` attributes; None if an attribute cannot be
    compared."""
    key: list[object] = [node.domain, node.op, node.overload, node.version, within_function]
    for name, attribute in node.attributes.items():
        if attribute.kind not in _COMPARED or attribute.reference is not None:
            return None
        value = attribute.value if name not in unheeded else None
        key += (name, attribute.kind, tuple(value) if isinstance(value, list) else value)
    key += [value is None for value in node.inputs]
    key.append(len(node.inputs))
    key += [value is None for value in node.outputs]
    return tuple(key)
