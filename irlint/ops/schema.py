"""What an operator accepts: the schema in a rule's signature, and ONNX's own schemas."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_VARIADIC = 0x04

REQUIRED = object()


@dataclass(frozen=True, slots=True)
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


@lru_cache(maxsize=None)
def signature(function: Callable[..., Any]) -> Signature:
    """Reads a rule's signature; annotations are taken as texts and never evaluated."""
    code = function.__code__  # type: ignore[attr-defined]
    names = code.co_varnames
    positional, keywords = code.co_argcount, code.co_kwonlyargcount
    defaults = function.__defaults__ or ()  # type: ignore[attr-defined]
    keyword_defaults = function.__kwdefaults__ or {}  # type: ignore[attr-defined]
    annotations = function.__annotations__
    attributes = {
        name: (str(annotations.get(name, "")), keyword_defaults.get(name, REQUIRED))
        for name in names[positional : positional + keywords]
        if name != "context"
    }
    variadic = names[positional + keywords] if code.co_flags & _VARIADIC else None
    context = "context" in names[positional : positional + keywords]
    return Signature(names[:positional], positional - len(defaults), variadic, attributes, context)


@dataclass(frozen=True, slots=True)
class Formal:
    """A formal input or output of an ONNX schema; ``option`` is ``single``, ``optional`` or ``variadic``."""

    name: str
    option: str
    variable: str
    types: frozenset[str]
    homogeneous: bool


@dataclass(frozen=True, slots=True)
class OfficialSchema:
    """An operator's schema as the ``onnx`` package states it; ``attributes`` maps names to (kind, required)."""

    name: str
    domain: str
    since: int
    deprecated: bool
    inputs: tuple[Formal, ...]
    outputs: tuple[Formal, ...]
    min_input: int
    max_input: int
    min_output: int
    max_output: int
    attributes: Mapping[str, tuple[str, bool]]


#: Domains that the ``onnx`` package has schemas for.
OFFICIAL_DOMAINS = frozenset(
    {"", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview", "ai.onnx.preview.training"}
)

_DTYPES = {"float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn"}
_DTYPES |= {"float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2", "float8e5m2fnuz": "float8_e5m2fnuz"}
_DTYPES |= {"float8e8m0": "float8_e8m0", "float4e2m1": "float4_e2m1"}


@lru_cache(maxsize=1)
def _defs() -> Any:
    """``onnx.defs`` in C++; the extension alone loads in a tenth of the time of the package."""
    if "onnx" in sys.modules:
        import onnx.onnx_cpp2py_export as extension

        return extension.defs
    try:
        return _extension().defs
    except Exception:
        import onnx.onnx_cpp2py_export as extension

        return extension.defs


def _extension() -> Any:
    import importlib.machinery
    import importlib.util
    import os

    package = importlib.machinery.PathFinder.find_spec("onnx")
    if package is None or not package.submodule_search_locations:
        raise ImportError("the onnx package is not installed")
    name = "onnx.onnx_cpp2py_export"
    folder = next(iter(package.submodule_search_locations))
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        path = os.path.join(folder, f"onnx_cpp2py_export{suffix}")
        if os.path.exists(path):
            loader = importlib.machinery.ExtensionFileLoader(name, path)
            spec = importlib.util.spec_from_file_location(name, path, loader=loader)
            assert spec is not None
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
            sys.modules.setdefault(name, module)
            return module
    raise ImportError("the onnx package has no compiled schemas")


def type_name(text: str) -> str:
    """``tensor(float)`` as ``float32``, ``seq(tensor(int64))`` as ``seq(int64)``: NumPy's names throughout."""
    head, _, rest = text.partition("(")
    if not rest:
        return _DTYPES.get(text, text)
    inner = rest[:-1]
    if head == "tensor":
        return _DTYPES.get(inner, inner)
    if head == "map":
        key, _, value = inner.partition(",")
        return f"map({type_name(key.strip())},{type_name(value.strip())})"
    return f"{head}({type_name(inner)})"


@lru_cache(maxsize=None)
def _type_names(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(type_name(text) for text in texts)


def _formal(parameter: Any) -> Formal:
    return Formal(
        parameter.name,
        parameter.option.name.lower(),
        parameter.type_str,
        _type_names(frozenset(parameter.types)),
        parameter.is_homogeneous,
    )


@lru_cache(maxsize=None)
def official(name: str, version: int, domain: str) -> OfficialSchema | None:
    """The official schema of an operator at an opset version, None where ``onnx`` has none."""
    defs = _defs()
    try:
        schema = defs.get_schema(name, version, domain)
    except Exception:
        return None
    return OfficialSchema(
        name=name,
        domain=domain,
        since=schema.since_version,
        deprecated=schema.deprecated,
        inputs=tuple(_formal(parameter) for parameter in schema.inputs),
        outputs=tuple(_formal(parameter) for parameter in schema.outputs),
        min_input=schema.min_input,
        max_input=schema.max_input,
        min_output=schema.min_output,
        max_output=schema.max_output,
        attributes={key: (entry.type.name, entry.required) for key, entry in schema.attributes.items()},
    )


@lru_cache(maxsize=None)
def official_versions(name: str, domain: str) -> tuple[int, ...]:
    """The opset versions at which the official schema of an operator changed, () for an unknown one."""
    found = {
        schema.since_version
        for schema in _defs().get_all_schemas_with_history()
        if schema.name == name and schema.domain == domain
    }
    return tuple(sorted(found))


@lru_cache(maxsize=None)
def official_names(domain: str) -> frozenset[str]:
    """The names of all operators of a domain."""
    return frozenset(
        schema.name for schema in _defs().get_all_schemas_with_history() if schema.domain == domain
    )


@lru_cache(maxsize=None)
def latest_opset(domain: str) -> int:
    """The newest opset version of a domain that the installed ``onnx`` knows, 0 for none."""
    return int(_defs().schema_version_map().get(domain, (0, 0))[1])
