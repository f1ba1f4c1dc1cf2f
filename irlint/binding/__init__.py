"""From a node to what it calls: the operator that it names at its version, or a function of the model."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from irlint.binding.calls import Call
from irlint.findings.faults import Fault
from irlint.lazy_typing import Protocol
from irlint.model import Attribute, Model, Node
from irlint.model.formats import Format


class Binder(Protocol):
    """The module of this package for one format."""

    def bound(
        self, node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
    ) -> tuple[Call, list[Fault]]:
        """What ``node`` calls, and the faults of its name, arity and attributes.

        ``scope`` holds the attributes of the call of the function that the node stands in, by name.
        """
        ...


def binder(form: Format) -> Binder:
    """What binds the nodes of a format."""
    module: Binder = import_module(f"{__name__}.{form.name}")
    return module
