"""Writes the tables of schemas from the installed ``onnx`` and ``onnxruntime``: run it after updating these
packages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx.defs

from irlint.schemas import OFFICIAL_DOMAINS, RUNTIME_DOMAINS, Formal, OfficialSchema, from_package, type_name

TABLE = Path(__file__).resolve().parents[2] / "irlint" / "schemas" / "onnx.txt"
RUNTIME_TABLE = TABLE.with_name("onnxruntime.txt")


def schemas() -> list[OfficialSchema]:
    """Every schema version of the package, by domain, name and version."""
    found = [from_package(schema) for schema in onnx.defs.get_all_schemas_with_history()]
    return sorted(
        (schema for schema in found if schema.domain in OFFICIAL_DOMAINS),
        key=lambda schema: (schema.domain, schema.name, schema.since),
    )


def table() -> str:
    """The file's text: the newest opsets, the sets of element types, and a line for each schema version."""
    newest = onnx.defs.C.schema_version_map()
    lines = ["ONNX operator schemas: since deprecated inputs outputs | inputs | outputs | attributes"]
    lines += [f"opset {domain} {newest[domain][1]}" for domain in sorted(OFFICIAL_DOMAINS) if domain in newest]
    numbers: dict[str, int] = {}
    rows = [_row(schema, numbers) for schema in schemas()]
    lines += [f"types {number} {types}" for types, number in numbers.items()]
    return "\n".join([*lines, *rows, ""])


def runtime_schemas() -> list[OfficialSchema]:
    """ONNX Runtime's schemas of its own operators, by domain and name; those in ONNX's own domain as of ai.onnx."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

    standard = {schema.name for schema in schemas() if schema.domain == ""}
    found = [
        _from_runtime(schema)
        for schema in get_all_operator_schema()
        if schema.domain in RUNTIME_DOMAINS or (schema.domain == "" and schema.name not in standard)
    ]
    return sorted(found, key=lambda schema: (schema.domain, schema.name, schema.since))


def _from_runtime(schema: Any) -> OfficialSchema:
    return OfficialSchema(
        name=schema.name,
        domain=schema.domain or "ai.onnx",
        since=schema.since_version,
        deprecated=schema.deprecated,
        inputs=tuple(_runtime_formal(parameter) for parameter in schema.inputs),
        outputs=tuple(_runtime_formal(parameter) for parameter in schema.outputs),
        min_input=schema.min_input,
        max_input=schema.max_input,
        min_output=schema.min_output,
        max_output=schema.max_output,
        attributes={name: (each.type.name, each.required) for name, each in sorted(schema.attributes.items())},
    )


def _runtime_formal(parameter: Any) -> Formal:
    types = frozenset(type_name(text) for text in parameter.types)
    option = parameter.option.name.lower()
    return Formal(parameter.name, option, parameter.typeStr, types, parameter.isHomogeneous)


def runtime_table() -> str:
    """The text of ONNX Runtime's file: its version, the sets of element types, and a line for each schema."""
    import onnxruntime

    numbers: dict[str, int] = {}
    rows = [_row(schema, numbers) for schema in runtime_schemas()]
    lines = [f"ONNX Runtime {onnxruntime.__version__} operator schemas, laid out as those of ONNX"]
    lines += [f"types {number} {types}" for types, number in numbers.items()]
    lines += [f"kernels {name} {opset}" for name, opset in late_kernels().items()]
    lines += [f"ended {name} {opset}" for name, opset in ended_kernels().items()]
    return "\n".join([*lines, *rows, ""])


def late_kernels() -> dict[str, int]:
    """The operators of ai.onnx that are older than ONNX Runtime's first CPU kernel of them, with the opset of that
    one."""
    first = {name: min(begin for begin, _ in spans) for name, spans in kernels().items()}
    since = {schema.name: schema.since for schema in reversed(schemas()) if schema.domain == ""}
    return {name: first[name] for name in sorted(first) if since.get(name, first[name]) < first[name]}


def ended_kernels() -> dict[str, int]:
    """The operators of ai.onnx that are newer than ONNX Runtime's last CPU kernel of them, with the first opset that
    has none; without those that have a function for a body."""
    ended: dict[str, int] = {}
    served = kernels()
    for schema in onnx.defs.get_all_schemas_with_history():
        spans = served.get(schema.name, []) if schema.domain == "" else []
        if not spans or schema.deprecated or schema.has_function or schema.has_context_dependent_function:
            continue
        version = schema.since_version
        last = max(begin if end >= OPEN else end for begin, end in spans)
        if version > last:
            ended[schema.name] = min(ended.get(schema.name, version), version)
    return dict(sorted(ended.items()))


#: The end of a kernel's versions where none is stated; such a kernel serves the version of its beginning.
OPEN = 2**31 - 1


def kernels() -> dict[str, list[tuple[int, int]]]:
    """ONNX Runtime's CPU kernels of ai.onnx: for each operator the first and the last version of each."""
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_opkernel_def

    found: dict[str, list[tuple[int, int]]] = {}
    for kernel in get_all_opkernel_def():
        if kernel.domain == "" and kernel.provider == "CPUExecutionProvider":
            found.setdefault(kernel.op_name, []).append(kernel.version_range)
    return found


def _row(schema: OfficialSchema, numbers: dict[str, int]) -> str:
    counts = (schema.min_input, schema.max_input, schema.min_output, schema.max_output)
    head = f"{schema.domain}:{schema.name} {schema.since} {int(schema.deprecated)} {' '.join(map(str, counts))}"
    inputs = ";".join(_formal(formal, numbers) for formal in schema.inputs)
    outputs = ";".join(_formal(formal, numbers) for formal in schema.outputs)
    attributes = ";".join(f"{name}:{kind}:{int(needed)}" for name, (kind, needed) in schema.attributes.items())
    return f"{head}|{inputs}|{outputs}|{attributes}"


def _formal(formal: Formal, numbers: dict[str, int]) -> str:
    number = numbers.setdefault(" ".join(sorted(formal.types)), len(numbers))
    return f"{formal.name}:{formal.option[0]}:{formal.variable}:{number}:{int(formal.homogeneous)}"


if __name__ == "__main__":
    TABLE.write_text(table(), "ascii")
    RUNTIME_TABLE.write_text(runtime_table(), "ascii")
