"""Record classes with slots. Defining one takes a quarter of the time that ``dataclasses`` takes."""

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

#: After this many records of a class, compiling an ``__init__`` for it costs less than setting the fields one by one.
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
    body |= {"__slots__": names, "__match_args__": names, "__field_defaults__": defaults}
    body.setdefault("__repr__", _repr)
    body |= _methods(names, defaults, "__post_init__" in body, eq)
    return type(cls)(cls.__name__, cls.__bases__, body)


def _methods(names: tuple[str, ...], defaults: dict[str, Any], post: bool, eq: bool) -> dict[str, Any]:
    """``__init__``, and with ``eq`` also ``__eq__`` and ``__hash__`` over the fields.

    ``__init__`` sets the fields one by one. After ``FEW`` records, or at a call that does not fit the fields, it
    compiles a faster one. Compiling is most of the cost of a class, and most classes have few records in a run.
    """
    records = 0

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        nonlocal records
        records += 1
        values = defaults | dict(zip(names, arguments)) | named
        fits = len(values) == len(names) >= len(arguments) and named.keys().isdisjoint(names[: len(arguments)])
        if records > FEW or not fits:
            type(self).__init__ = made = _init(names, defaults, post)
            made(self, *arguments, **named)
            return
        for name in names:
            setattr(self, name, values[name])
        if post:
            self.__post_init__()

    if not eq:
        return {"__init__": __init__}
    values = attrgetter(*names)

    def __eq__(self: Any, other: object) -> bool:
        return self is other or (type(other) is type(self) and values(self) == values(other))

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__init__": __init__, "__eq__": __eq__, "__hash__": __hash__}


def _init(names: tuple[str, ...], defaults: dict[str, Any], post: bool) -> Any:
    parameters = ", ".join(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names)
    lines = [f" self.{name} = {name}" for name in names]
    if post:
        lines.append(" self.__post_init__()")
    scope: dict[str, Any] = {"_defaults": defaults}
    exec(f"def __init__(self, {parameters}):\n" + "\n".join(lines), scope)
    return scope["__init__"]


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__match_args__)})"


def replaced(origin: Record, **changes: Any) -> Record:
    """A copy of the record with other values for some fields."""
    names: tuple[str, ...] = origin.__match_args__  # type: ignore[attr-defined]
    return type(origin)(**{name: getattr(origin, name) for name in names} | changes)
