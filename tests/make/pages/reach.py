"""Which rules a function can raise: those that its code names, and the code of what it calls among the operators."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from irlint.findings.faults import Rule

#: Code of other layers is shared by all operators.
WITHIN = "irlint.ops."


@cache
def rules(function: FunctionType) -> frozenset[Rule]:
    """The rules that a function of an operator can raise."""
    return frozenset(_rules(function, set()))


def _rules(function: FunctionType, seen: set[object]) -> Iterator[Rule]:
    if function in seen:
        return
    seen.add(function)
    for code in _codes(function.__code__):
        for name in code.co_names:
            yield from _of(function.__globals__.get(name), code.co_names, seen)
    for cell in function.__closure__ or ():
        yield from _of(cell.cell_contents, (), seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _of(found: Any, names: tuple[str, ...], seen: set[object]) -> Iterator[Rule]:
    found = getattr(found, "fget", found)
    found = getattr(found, "__wrapped__", found)
    if isinstance(found, Rule):
        yield found
    elif isinstance(found, ModuleType) and found.__name__.startswith(WITHIN):
        for name in names:
            yield from _of(vars(found).get(name), (), seen)
    elif not str(getattr(found, "__module__", "")).startswith(WITHIN):
        return
    elif isinstance(found, FunctionType):
        yield from _rules(found, seen)
    elif isinstance(found, type) and found not in seen:
        seen.add(found)
        for each in vars(found).values():
            yield from _of(each, (), seen)
