"""The schemas of ONNX and of ONNX Runtime: inputs, outputs, attributes and element types of operators by version.

``onnx.txt`` has the schemas of the ``onnx`` package, which takes twenty times as long to import. The installed package
is used only for opsets that are newer than the table. ``onnxruntime.txt`` has the schemas of ONNX Runtime's own
operators, and the opsets at which its implementations begin and end.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from irlint.lazy_typing import Any
from irlint.records import record

#: ONNX Runtime's domains: its own operators, and operators on images in the layouts NHWC and NCHWc.
MICROSOFT = "com.microsoft"
NHWC = "com.ms.internal.nhwc"
NCHWC = "com.microsoft.nchwc"

#: The domains in ``onnxruntime.txt``. There, "ai.onnx" has operators that only ONNX Runtime has in ONNX's domain.
RUNTIME_DOMAINS = (MICROSOFT, NCHWC, "ai.onnx")


@record
class Formal:
    """A formal input or output of a schema."""

    name: str
    #: ``single``, ``optional`` or ``variadic``.
    option: str
    #: The type variable, or the only type.
    variable: str
    types: frozenset[str]
    #: Whether all values of a variadic input or output have the same type.
    homogeneous: bool


@record
class OfficialSchema:
    """The schema of an operator from the opset ``since`` on."""

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
    #: (kind such as ``INTS``, whether required), by name.
    attributes: Mapping[str, tuple[str, bool]]


#: The opsets of ai.onnx that came with a new IR version, and this IR version.
IR_VERSIONS = {28: 14, 25: 13, 24: 12, 23: 11, 21: 10, 19: 9, 15: 8, 12: 7, 11: 6, 10: 5, 9: 4}

#: The domains of the ``onnx`` package.
OFFICIAL_DOMAINS = frozenset({"", "ai.onnx.ml", "ai.onnx.training", "ai.onnx.preview", "ai.onnx.preview.training"})

_OPTIONS = {"s": "single", "o": "optional", "v": "variadic"}


@cache
def table_text(name: str) -> str:
    """The text of a table of this package."""
    import os

    with open(os.path.join(os.path.dirname(__file__), name), encoding="ascii") as file:
        return file.read()


def _lines(start: str, domain: str) -> list[str]:
    """The lines of the domain's table that begin with ``start``, without ``start``."""
    table, found = table_text("onnxruntime.txt" if domain in RUNTIME_DOMAINS else "onnx.txt"), []
    at = table.find(f"\n{start}")
    while at >= 0:
        end = table.index("\n", at + 1)
        found.append(table[at + 1 + len(start) : end])
        at = table.find(f"\n{start}", end)
    return found


@cache
def _types(number: str, domain: str) -> frozenset[str]:
    return frozenset(_lines(f"types {number} ", domain)[0].split())


def _formals(text: str, domain: str) -> tuple[Formal, ...]:
    result = []
    for entry in text.split(";") if text else ():
        name, option, variable, types, homogeneous = entry.split(":")
        result.append(Formal(name, _OPTIONS[option], variable, _types(types, domain), homogeneous == "1"))
    return tuple(result)


@cache
def _parsed(name: str, domain: str, line: str) -> OfficialSchema:
    numbers, inputs, outputs, attributes = line.split("|")
    since, deprecated, least_in, most_in, least_out, most_out = (int(number) for number in numbers.split())
    pairs = (entry.split(":") for entry in attributes.split(";")) if attributes else ()
    return OfficialSchema(
        name,
        domain,
        since,
        bool(deprecated),
        _formals(inputs, domain),
        _formals(outputs, domain),
        least_in,
        most_in,
        least_out,
        most_out,
        {key: (kind, required == "1") for key, kind, required in pairs},
    )


@cache
def _versions(name: str, domain: str) -> Mapping[int, str]:
    """The lines of an operator by the opset versions with a new schema, in order."""
    return {int(line.partition(" ")[0]): line for line in _lines(f"{domain}:{name} ", domain)}


@cache
def official(name: str, version: int, domain: str) -> OfficialSchema | None:
    """ONNX's schema of an operator at an opset; None without the operator at this opset."""
    if version > latest_opset(domain):
        return installed(name, version, domain)
    lines = [line for since, line in _versions(name, domain).items() if since <= version]
    return _parsed(name, domain, lines[-1]) if lines else None


@cache
def of_runtime(name: str, domain: str) -> OfficialSchema | None:
    """ONNX Runtime's schema of its own operator; None for an operator of ONNX or an unknown operator."""
    own = domain or "ai.onnx"
    lines = [*_versions(name, own).values()] if own in RUNTIME_DOMAINS else []
    return _parsed(name, own, lines[0]) if lines else None


def is_experimental(schema: OfficialSchema) -> bool:
    """Whether a schema is of an experimental operator of early ONNX, of which ONNX Runtime checks only the types."""
    return schema.domain == "ai.onnx" and len(_versions(schema.name, "ai.onnx")) > 1


@cache
def runtime_version() -> str:
    """The release of ONNX Runtime that ``onnxruntime.txt`` describes."""
    return table_text("onnxruntime.txt").split(maxsplit=3)[2]


@cache
def official_versions(name: str, domain: str) -> tuple[int, ...]:
    """The opset versions with a new schema of an operator of ONNX; () for an unknown operator."""
    return tuple(_versions(name, domain))


@cache
def official_names(domain: str) -> frozenset[str]:
    """The names of the operators of a domain."""
    return frozenset(line.partition(" ")[0] for line in _lines(f"{domain}:", domain))


@cache
def latest_opset(domain: str) -> int:
    """The newest opset version of a domain in the table; 0 for a domain without opsets."""
    return next((int(line) for line in _lines(f"opset {domain} ", domain)), 0)


_DTYPES = {
    "float": "float32",
    "double": "float64",
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0",
    "float4e2m1": "float4_e2m1",
    "float6e2m3": "float6_e2m3",
    "float6e3m2": "float6_e3m2",
}


def type_name(text: str) -> str:
    """A type with NumPy's names: ``float32`` for ``tensor(float)``, ``seq(int64)`` for ``seq(tensor(int64))``."""
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


def _formal(parameter: Any) -> Formal:
    types = frozenset(type_name(text) for text in parameter.types)
    return Formal(parameter.name, parameter.option.name.lower(), parameter.type_str, types, parameter.is_homogeneous)


def from_package(schema: Any) -> OfficialSchema:
    """A schema of the ``onnx`` package as a record."""
    return OfficialSchema(
        name=schema.name,
        domain=schema.domain,
        since=schema.since_version,
        deprecated=schema.deprecated,
        inputs=tuple(_formal(parameter) for parameter in schema.inputs),
        outputs=tuple(_formal(parameter) for parameter in schema.outputs),
        min_input=schema.min_input,
        max_input=schema.max_input,
        min_output=schema.min_output,
        max_output=schema.max_output,
        attributes={key: (entry.type.name, entry.required) for key, entry in sorted(schema.attributes.items())},
    )


def installed(name: str, version: int, domain: str) -> OfficialSchema | None:
    """The schema of an operator in the installed ``onnx`` package; without the package, the newest in the table.

    None for an unknown operator, and for a version that does not fit in 32 bits.
    """
    if version >= 1 << 31:
        return None
    try:
        import onnx.defs
    except ImportError:
        return official(name, latest_opset(domain), domain)
    try:
        return from_package(onnx.defs.get_schema(name, version, domain))
    except onnx.defs.SchemaError:
        return None


def installed_opset(domain: str) -> int:
    """The newest opset of ai.onnx or ai.onnx.ml in the installed ``onnx`` package; without the package, in the table.

    0 for another domain.
    """
    try:
        import onnx.defs
    except ImportError:
        return latest_opset(domain)
    if domain == "ai.onnx.ml":
        return onnx.defs.onnx_ml_opset_version()
    return 0 if domain else onnx.defs.onnx_opset_version()


def late_kernels() -> dict[str, int]:
    """The first opset that ONNX Runtime implements, by the operators of ai.onnx that begin with an earlier opset."""
    return _opsets("kernels ")


def ended_kernels() -> dict[str, int]:
    """The first opset that ONNX Runtime implements no more, by the operators of ai.onnx with such a newer version."""
    return _opsets("ended ")


def _opsets(kind: str) -> dict[str, int]:
    rows = (line.split() for line in table_text("onnxruntime.txt").splitlines() if line.startswith(kind))
    return {name: int(opset) for _, name, opset in rows}
