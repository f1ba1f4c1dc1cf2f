"""From a node to what it calls: the operator that it names at its version, or a function of the model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from irlint.binding.calls import Call
from irlint.findings.faults import Fault
from irlint.lazy_typing import Protocol
from irlint.model import Attribute, Model, Node

#: At most this many sound calls are kept.
MAX_REMEMBERED = 10_000

#: The kinds of attributes whose values are compared; other nodes are bound each on its own.
_COMPARED = frozenset(["TEXT", "INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS"])


class _Format(Protocol):
    """The module of this package for one format."""

    def bound(
        self, node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """As ``Binder.bound`` says."""
        ...


class Binder:
    """Binds the nodes of a model: a model has many nodes of one operator with the same attributes."""

    def __init__(self, model: Model) -> None:
        assert model.format is not None
        self._model = model
        self._format: _Format = import_module(f"{__name__}.{model.format.name}")
        self._sound: dict[tuple[object, ...], Call] = {}
        self._alike: dict[tuple[object, ...], Call] = {}
        #: The attributes that rules do not look at, by operator and version.
        self._unheeded: dict[tuple[str, int | str | None], tuple[str, ...]] = {}

    def bound(
        self, node: Node, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """What ``node`` calls, and the faults of its name, arity and attributes.

        ``scope`` holds the attributes of the call of the function that the node stands in, by name.
        """
        # Nodes of a model share the mapping of their attributes where these were read once for all of them.
        inputs, outputs = node.inputs, node.outputs
        short: tuple[object, ...] | None = None
        if None not in inputs and None not in outputs:
            callee = node.op, node.domain, node.overload, node.version
            short = (id(node.attributes), len(inputs), len(outputs), within_function, *callee)
        known = self._alike.get(short) if short is not None else None
        if known is not None:
            return known, []
        unheeded = self._unheeded.get((node.op, node.version), ())
        key = _key(node, within_function, unheeded)
        known = self._sound.get(key) if key is not None else None
        if known is not None:
            if short is not None and not unheeded:
                self._alike[short] = known
            return known, []
        call, faults = self._format.bound(node, self._model, scope, within_function=within_function)
        if key is not None and not faults and call.function is None and len(self._sound) < MAX_REMEMBERED:
            self._sound[key] = call
            if call.operator is not None and call.operator.unheeded:
                self._unheeded[node.op, node.version] = call.operator.unheeded
        return call, faults


def _key(node: Node, within_function: bool, unheeded: tuple[str, ...]) -> tuple[object, ...] | None:
    """What a sound call depends on, without what is ``unheeded`` of its attributes; None where that is not compared."""
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
