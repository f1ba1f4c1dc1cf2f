"""Reads the signature of a rule as the schema of its operator."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache

from irlint.lazy_typing import Any, TypeVar
from irlint.records import record, replaced

_VARIADIC = 0x04


REQUIRED = object()

Class = TypeVar("Class", bound=type)

_groups: set[type] = set()


def group(cls: Class) -> Class:
    """Makes a record a group of attributes. A rule has the group as one keyword-only parameter, annotated with the
    record.

    The fields are attributes of the operator. A default of the parameter gives their defaults.
    """
    _groups.add(cls)
    return cls


#: Roles of inputs and attributes, for the search of fixes: sizes of the parts of an axis, one factor for each axis,
#: attributes that change together, and attributes that are changed only if other nodes of the model have the value.
PARTS, FACTORS, TOGETHER, UNLIKELY = "parts", "factors", "together", "unlikely"

Held = TypeVar("Held", bound=Callable[..., Any])

_roles: dict[object, Mapping[str, str]] = {}


def holds(**roles: str) -> Callable[[Held], Held]:
    """Declares the roles (above) of inputs and attributes of a rule, or of a group, by parameter."""

    def register(target: Held) -> Held:
        _roles[target] = roles
        return target

    return register


@record
class Signature:
    """The signature of a rule as a schema: inputs, of which the first ``required`` are required, and attributes.

    ``attributes`` maps each attribute to the text of its annotation and its default (``REQUIRED`` if it has none).
    ``groups`` are the parameters that are records of attributes, with the class and the default. ``context`` and
    ``fold`` state whether the rule has these parameters.
    """

    inputs: tuple[str, ...]
    required: int
    variadic: str | None
    attributes: Mapping[str, tuple[str, object]]
    context: bool
    fold: bool = False
    groups: tuple[tuple[str, type, object], ...] = ()

    @property
    def fewest(self) -> int:
        """The least number of inputs; at least one if the number is variadic."""
        return self.required + (1 if self.variadic and not self.inputs else 0)

    def bound(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments for the rule; the attributes of a group become its record."""
        arguments = dict(attributes)
        for name, cls, default in self.groups:
            given = {field: arguments.pop(field) for field in _names(cls) if field in arguments}
            arguments[name] = cls(**given) if default is REQUIRED else replaced(default, **given)
        return arguments


def roles(function: Callable[..., Any]) -> dict[str, str]:
    """The roles of the inputs and attributes of a rule, including those of its groups."""
    found: dict[str, str] = {}
    for target in (*(cls for _, cls, _ in signature(function).groups), function):
        found.update(_roles.get(target, {}))
    return found


@cache
def signature(function: Callable[..., Any]) -> Signature:
    """Reads a rule's signature; annotations are taken as texts and never evaluated."""
    code = function.__code__
    names = code.co_varnames
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    annotations = function.__annotations__
    attributes: dict[str, tuple[str, object]] = {}
    groups = []
    for name in names[positional : positional + keywords]:
        annotation, default = str(annotations.get(name, "")), keyword_defaults.get(name, REQUIRED)
        cls = function.__globals__.get(annotation)
        if isinstance(cls, type) and cls in _groups:
            groups.append((name, cls, default))
            attributes |= _fields(cls, default)
        elif name not in ("context", "fold"):
            attributes[name] = (annotation, default)
    variadic = names[positional + keywords] if code.co_flags & _VARIADIC else None
    return Signature(
        inputs=names[:positional],
        required=positional - len(defaults),
        variadic=variadic,
        attributes=attributes,
        context="context" in names[positional : positional + keywords],
        fold="fold" in names[positional : positional + keywords],
        groups=tuple(groups),
    )


def _names(cls: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = cls.__match_args__
    return names


def _fields(cls: Any, default: object) -> dict[str, tuple[str, object]]:
    """The attributes in a group, with their annotations and defaults."""
    names = _names(cls)
    if default is not REQUIRED:
        return {name: (cls.__annotations__[name], getattr(default, name)) for name in names}
    own = cls.__field_defaults__
    return {name: (cls.__annotations__[name], own.get(name, REQUIRED)) for name in names}


def named(annotation: str, function: Callable[..., Any]) -> object:
    """The object that a name in an annotation denotes, in the module of the rule or of one of its groups."""
    for scope in (
        function.__globals__,
        *(vars(sys.modules[cls.__module__]) for _, cls, _ in signature(function).groups),
    ):
        if annotation in scope:
            return scope[annotation]
    return None
