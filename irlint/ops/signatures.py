"""The signature of a rule as the schema of its operator."""

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
    """Makes a record a group of attributes: each field is an attribute of the operators whose rules use the record."""
    _groups.add(cls)
    return cls


#: The role of an input or attribute that lists the sizes of the parts of an axis.
PARTS = "parts"
#: The role of a list with a factor for each axis.
FACTORS = "factors"
#: The role of attributes that a suggested fix changes together.
TOGETHER = "together"
#: The role of an attribute that is rarely wrong.
UNLIKELY = "unlikely"

Target = TypeVar("Target", bound=Callable[..., Any])

_roles: dict[object, Mapping[str, str]] = {}


def with_roles(**roles: str) -> Callable[[Target], Target]:
    """Declares the roles of inputs and attributes for suggested fixes, by the name of the parameter."""

    def register(target: Target) -> Target:
        _roles[target] = roles
        return target

    return register


@record
class Signature:
    """The signature of a rule as a schema. A default of ``REQUIRED`` means that there is no default."""

    inputs: tuple[str, ...]
    #: The number of required inputs that are not variadic.
    required: int
    #: The least number of inputs: at least 1 if all inputs are variadic.
    fewest: int
    #: The name of the parameter for any number of further inputs.
    variadic: str | None
    #: (text of the annotation, default) by the name of the attribute, including the attributes in groups.
    attributes: Mapping[str, tuple[str, object]]
    #: Whether the rule has a parameter ``context``.
    context: bool
    #: Whether the rule has a parameter ``fold``.
    fold: bool = False
    #: (parameter, class, default) of each group of attributes.
    groups: tuple[tuple[str, Any, object], ...] = ()

    def bound(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """The keyword arguments for the rule; the attributes of a group become its record."""
        arguments = dict(attributes)
        for name, cls, default in self.groups:
            given = {field: arguments.pop(field) for field in cls.__match_args__ if field in arguments}
            arguments[name] = cls(**given) if default is REQUIRED else replaced(default, **given)
        return arguments


def roles(function: Callable[..., Any]) -> dict[str, str]:
    """The roles of the inputs and attributes of a rule and of its groups."""
    found: dict[str, str] = {}
    for target in (*(cls for _, cls, _ in signature(function).groups), function):
        found.update(_roles.get(target, {}))
    return found


@cache
def signature(function: Callable[..., Any]) -> Signature:
    """The signature of a rule. Annotations are texts, which are never evaluated."""
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
        fewest=1 if variadic and not positional else positional - len(defaults),
        variadic=variadic,
        attributes=attributes,
        context="context" in names[positional : positional + keywords],
        fold="fold" in names[positional : positional + keywords],
        groups=tuple(groups),
    )


def _fields(cls: Any, default: object) -> dict[str, tuple[str, object]]:
    """(Annotation, default) by the name of each attribute in a group."""
    annotations, defaults = cls.__annotations__, cls.__field_defaults__
    if default is not REQUIRED:
        return {name: (annotations[name], getattr(default, name)) for name in cls.__match_args__}
    return {name: (annotations[name], defaults.get(name, REQUIRED)) for name in cls.__match_args__}


def named(annotation: str, function: Callable[..., Any]) -> object:
    """The object that an annotation names in the module of the rule or of a group; None if no module has the name."""
    for scope in (
        function.__globals__,
        *(vars(sys.modules[cls.__module__]) for _, cls, _ in signature(function).groups),
    ):
        if annotation in scope:
            return scope[annotation]
    return None
