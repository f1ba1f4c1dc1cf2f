"""Converts records to plain JSON data and back. Reading checks the types of all fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from irlint.findings import edits, report
from irlint.findings.faults import SEVERITIES, Rule, Severity
from irlint.lazy_typing import Any
from irlint.parsers import trace
from irlint.run import files
from irlint.snippets import drawing

Reader = Callable[[Any], Any]

#: The modules with the classes of records that can be read.
MODULES = (edits, report, trace, drawing, files)

#: The types of fields that have a less exact annotation. Any other field annotated with Any has a scalar or a tuple of
#: scalars.
EXACT_TYPES = {
    ("Finding", "detail"): "Snippet | None",
    ("Outcome", "error"): "None",
    ("Edit", "kind"): "str",
    ("Edit", "of"): "str",
    ("Fix", "applicability"): "str",
}


def plain(value: Any) -> Any:
    """Converts a value to lists, texts, numbers, booleans and None. Raises TypeError if it cannot be converted."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Severity):
        return value.value
    if isinstance(value, Rule):
        return value.code
    names = getattr(type(value), "__match_args__", None)
    if names is None:
        raise TypeError(f"{type(value).__name__} is no plain data")
    return [plain(getattr(value, name)) for name in names]


def record_from(kind: Any, value: Any) -> Any:
    """The record of the class ``kind`` in plain data. Raises ValueError if the data do not match the class."""
    names = kind.__match_args__
    if not isinstance(value, list) or len(value) != len(names):
        raise ValueError(f"no {kind.__name__}")
    return kind(*(read(each) for read, each in zip(_readers_of_fields(kind), value)))


@cache
def _readers_of_fields(kind: Any) -> tuple[Reader, ...]:
    declared: dict[str, str] = kind.__annotations__
    return tuple(_reader(EXACT_TYPES.get((kind.__name__, name), declared[name])) for name in kind.__match_args__)


@cache
def _reader(annotation: str) -> Reader:
    alternatives = _parts(annotation, " | ")
    if len(alternatives) > 1:
        readers_of_others = [_reader(kind) for kind in alternatives if kind != "None"]
        return lambda value: None if value is None and "None" in alternatives else _read_by(readers_of_others, value)
    if annotation.startswith("tuple["):
        inside = _parts(annotation[len("tuple[") : -1], ", ")
        if inside[-1] == "...":
            read_element = _reader(inside[0])
            return lambda value: tuple(map(read_element, _listed(value)))
        readers = [_reader(kind) for kind in inside]
        return lambda value: tuple(read(part) for read, part in zip(readers, _listed(value, len(readers))))
    found = _readers().get(annotation)
    if found is None:
        raise ValueError(f"{annotation} is no plain data")
    return found


def _parts(annotation: str, separator: str) -> list[str]:
    """The parts of an annotation between separators. Separators inside brackets do not count."""
    result: list[str] = []
    for part in annotation.split(separator):
        if result and result[-1].count("[") > result[-1].count("]"):
            result[-1] += separator + part
        else:
            result.append(part)
    return result


def _read_by(readers: list[Reader], value: Any) -> Any:
    """The result of the first reader that accepts a value. Raises ValueError."""
    for read in readers:
        try:
            return read(value)
        except ValueError:
            continue
    raise ValueError("of none of the types")


def _listed(value: Any, length: int | None = None) -> list[Any]:
    """The value, if it is a list of this length (None: any length). Else raises ValueError."""
    if not isinstance(value, list) or length not in (None, len(value)):
        raise ValueError("no such list")
    return value


@cache
def _readers() -> dict[str, Reader]:
    """The readers of types without parameters, by the name of the type."""
    scalars: dict[str, Reader] = {kind.__name__: _exact(kind) for kind in (str, int, float, bool)}
    kinds = [kind for module in MODULES for kind in vars(module).values() if hasattr(kind, "__match_args__")]
    records: dict[str, Reader] = {kind.__name__: _record(kind) for kind in kinds if isinstance(kind, type)}
    special = {"None": _nothing, "Any": _any, "bytes": _bytes, "Severity": _severity, "Rule": _rule}
    return {**records, **scalars, **special}


def _record(kind: Any) -> Reader:
    return lambda value: record_from(kind, value)


def _exact(kind: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise ValueError(f"no {kind.__name__}")
        return value

    return read


def _nothing(value: Any) -> None:
    if value is not None:
        raise ValueError("something")


def _any(value: Any) -> Any:
    """The value as a scalar or, if it is a list, as a tuple. Raises ValueError for other values."""
    return tuple(map(_any, value)) if isinstance(value, list) else _scalar(value)


def _scalar(value: Any) -> Any:
    if value is not None and not isinstance(value, (str, int, float)):
        raise ValueError("no text and no number")
    return value


def _bytes(value: Any) -> bytes:
    return bytes.fromhex(_exact(str)(value))


def _severity(value: Any) -> Severity:
    found = [each for each in SEVERITIES if each.value == value]
    if not found:
        raise ValueError("no severity")
    return found[0]


def _rule(value: Any) -> Rule:
    from irlint.policy.rulebook import by_code

    return by_code(_exact(str)(value))
