"""The schema in a rule's signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from irlint.lazy_typing import Any
from irlint.records import record

_VARIADIC = 0x04


REQUIRED = object()


@record
class Signature:
    """A rule's signature as a schema: inputs, of which the first ``required`` must be there, and attributes.

    ``attributes`` maps each keyword-only parameter to its annotation's text and its default (``REQUIRED`` where it has
    none).
    """

    inputs: tuple[str, ...]
    required: int
    variadic: str | None
    attributes: Mapping[str, tuple[str, object]]
    context: bool


@cache
def signature(function: Callable[..., Any]) -> Signature:
    """Reads a rule's signature; annotations are taken as texts and never evaluated."""
    code = function.__code__
    names = code.co_varnames
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    annotations = function.__annotations__
    attributes = {
        name: (str(annotations.get(name, "")), keyword_defaults.get(name, REQUIRED))
        for name in names[positional : positional + keywords]
        if name != "context"
    }
    variadic = names[positional + keywords] if code.co_flags & _VARIADIC else None
    context = "context" in names[positional : positional + keywords]
    return Signature(names[:positional], positional - len(defaults), variadic, attributes, context)
