"""Record classes with slots, defined in a quarter of the time of ``dataclasses``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType

from irlint.lazy_typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[Any], Any]:
        return lambda decorator: decorator


Class = TypeVar("Class", bound=type)
Record = TypeVar("Record")

#: An empty mapping, the default of fields.
NOTHING: Mapping[Any, Any] = MappingProxyType({})

#: After this many records of a class, compiling its ``__init__`` is faster than setting fields one by one.
FEW = 8


@overload
def record(cls: Class, /) -> Class: ...


@overload
def record(*, eq: bool = True, frozen: bool = True) -> Callable[[Class], Class]: ...


@dataclass_transform(frozen_default=True)
def record(cls: Any = None, /, *, eq: bool = True, frozen: bool = True) -> Any:
    """The class as a record, like ``dataclass(frozen=True, slots=True)``. Only the type checker forbids assignments.

    With ``eq=False``, a record equals only itself.
    """
    if cls is None:
        return lambda decorated: record(decorated, eq=eq)  # type: ignore[call-overload]
    names = tuple(cls.__annotations__)
    body = {name: entry for name, entry in cls.__dict__.items() if name not in ("__dict__", "__weakref__", *names)}
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    body |= {"__slots__": names, "__match_args__": names, "__field_defaults__": defaults, "__records__": 0}
    body.setdefault("__repr__", _repr)
    body["__init__"] = _init
    if eq:
        body |= {"__values__": attrgetter(*names), "__eq__": _eq, "__hash__": _hash}
    return type(cls)(cls.__name__, cls.__bases__, body)


def _init(self: Any, *arguments: Any, **named: Any) -> None:
    """Sets the fields one by one; after FEW records, compiles a faster function."""
    cls, names = type(self), self.__match_args__
    cls.__records__ += 1
    values = cls.__field_defaults__ | dict(zip(names, arguments)) | named
    fits = len(values) == len(names) >= len(arguments) and named.keys().isdisjoint(names[: len(arguments)])
    if cls.__records__ > FEW or not fits:
        cls.__init__ = _compiled(cls)
        cls.__init__(self, *arguments, **named)
        return
    for name in names:
        setattr(self, name, values[name])
    if hasattr(cls, "__post_init__"):
        self.__post_init__()


def _compiled(cls: Any) -> Any:
    names, defaults = cls.__match_args__, cls.__field_defaults__
    parameters = ", ".join(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names)
    lines = [f" self.{name} = {name}" for name in names]
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    scope: dict[str, Any] = {"_defaults": defaults}
    exec(f"def __init__(self, {parameters}):\n" + "\n".join(lines), scope)
    return scope["__init__"]


def _eq(self: Any, other: Any) -> bool:
    return self is other or (type(other) is type(self) and self.__values__(self) == other.__values__(other))


def _hash(self: Any) -> int:
    return hash(self.__values__(self))


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"


def replaced(origin: Record, **changes: Any) -> Record:
    """A copy of the record with other values for some fields."""
    names: tuple[str, ...] = origin.__match_args__  # type: ignore[attr-defined]
    return type(origin)(**{name: getattr(origin, name) for name in names} | changes)
