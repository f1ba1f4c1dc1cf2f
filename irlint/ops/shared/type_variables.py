"""Checks of the types of a node against its ONNX schema, and the types of type variables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat

from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import warn
from irlint.model.tensor import FLOATS, Map, Opaque, Optional, SparseTensor, Tensor, Type, type_text
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops.shared.element_types import (
    ELEMENT_TYPE_REFUSED,
    ELEMENT_TYPES_DIFFER,
    RefusedType,
    most_similar,
    one_of,
    to_one_type,
    types_refused,
)
from irlint.schemas import (
    MICROSOFT,
    RUNTIME_DOMAINS,
    Formal,
    OfficialSchema,
    official,
    official_names,
    official_versions,
)

SMALL_FLOATS = FLOATS - {"float32", "float64"}


def type_key(known: Type | None) -> str | None:
    """The name of a type in schemas: ``float32``, ``seq(int64)``; None if an element type in it is unknown."""
    if isinstance(known, Tensor):
        return known.dtype
    if isinstance(known, SparseTensor):
        return f"sparse_tensor({known.dtype})" if known.dtype else None
    if isinstance(known, (SequenceType, Optional)):
        inner = type_key(known.element)
        return f"{'seq' if isinstance(known, SequenceType) else 'optional'}({inner})" if inner else None
    if isinstance(known, Map):
        value = type_key(known.value)
        return f"map({known.key},{value})" if known.key and value else None
    if isinstance(known, Opaque):
        return f"opaque({known.domain},{known.name})"
    return None


def kind_text(known: Type | None) -> str:
    """The text of a type without its shape: ``a tensor of float32``, ``seq(int64)``, ``seq(?)``."""
    if isinstance(known, Tensor):
        return f"a tensor of {known.dtype}" if known.dtype else "a tensor"
    return type_key(known) or type_text(known)


def types_text(one: Type | None, other: Type | None) -> tuple[str, str]:
    """The texts of two types that differ: only the element types if both are tensors."""
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.dtype or "?", other.dtype or "?"
    return kind_text(one), kind_text(other)


def _without_end(formals: Sequence[Formal]) -> Iterator[Formal | None]:
    """The formal of each index without end. After the last formal: the last formal if it is variadic, else None."""
    return chain(formals, repeat(formals[-1] if formals and formals[-1].option == "variadic" else None))


def type_variables(schema: OfficialSchema, inputs: Sequence[Type | None]) -> dict[str, str]:
    """The type of each type variable of ``schema``, from the types of the inputs.

    Raises an ``ELEMENT_TYPE_REFUSED`` or ``ELEMENT_TYPES_DIFFER`` fault. Reports a warning for a type that only some
    releases of ONNX Runtime accept.
    """
    variables: dict[str, str] = {}
    first: dict[str, int] = {}
    refused: list[RefusedType] = []
    for index, (known, formal) in enumerate(zip(inputs, _without_end(schema.inputs))):
        key = known.dtype if isinstance(known, Tensor) else type_key(known)
        if formal is not None and key is None and _is_of_refused_kind(known, formal):
            refused.append(_refused(schema, formal, index, key=type_text(known)))
        if formal is None or key is None:
            continue
        if key not in formal.types:
            required = _type_of_equal_input(schema, inputs, formal)
            one = _refused(schema, formal, index, key=key, required=required)
            if not _is_accepted_by_some(schema, formal, key):
                refused.append(one)
                continue
            warn(types_refused([one], "cast").lowered(Severity.WARNING))
        if refused or not formal.homogeneous or "(" in formal.variable:
            continue
        if variables.setdefault(formal.variable, key) != key:
            raise _differing(formal, (first[formal.variable], variables[formal.variable]), (index, key))
        first.setdefault(formal.variable, index)
    if refused:
        raise types_refused(refused, "cast")
    return variables


def _differing(formal: Formal, one: tuple[int, str], other: tuple[int, str]) -> Fault:
    """The fault of two inputs, given as (index, type), that must have the same type."""
    return ELEMENT_TYPES_DIFFER.fault(
        f"input {one[0]} is {one[1]} and input {other[0]} is {other[1]}: both must have the same type "
        f"({formal.variable})",
        help=f"store input {other[0]} as {one[1]}, like input {one[0]}"
        if formal.name.endswith("zero_point")
        else f"cast {to_one_type(one, other)}",
        input=other[0],
    )


def _type_of_equal_input(schema: OfficialSchema, inputs: Sequence[Type | None], formal: Formal) -> str:
    """The text of an accepted type that another input with the same type variable has; "" if there is none."""
    for index, (known, other) in enumerate(zip(inputs, _without_end(schema.inputs))):
        key = type_key(known)
        if other is not None and other.homogeneous and other.variable == formal.variable and key in formal.types:
            return f"{key}, the type of input {index}"
    return ""


def _is_of_refused_kind(known: Type | None, formal: Formal) -> bool:
    """Whether the operator never accepts the kind (sequence, map, …) of an input."""
    if known is None or isinstance(known, Tensor):
        return False
    kind = type_text(known).partition("(")[0].replace("sparse", "sparse_tensor") + "("
    return not any(name.startswith(kind) for name in formal.types)


def _is_accepted_by_some(schema: OfficialSchema, formal: Formal, key: str) -> bool:
    """Whether some releases of ONNX Runtime may accept the refused type ``key``."""
    varies = schema.domain == MICROSOFT and "(" not in formal.variable and len(formal.types) > 1
    return varies and key in SMALL_FLOATS and bool(formal.types & FLOATS)


def _refused(schema: OfficialSchema, formal: Formal, index: int, *, key: str, required: str = "") -> RefusedType:
    """The input ``index`` of the refused type ``key``."""
    runtime = schema.domain in RUNTIME_DOMAINS
    where = "in ONNX Runtime" if runtime else f"since opset {schema.since}"
    other = "a release" if runtime else _opset_that_accepts(schema, index, key)
    tensors = {name for name in formal.types if "(" not in name}
    return RefusedType(
        index,
        key,
        f"{_types_text(formal.types)} {where}",
        required or _best(formal.types, key),
        required.partition(",")[0] or most_similar(tensors, key),
        formal.name,
        _quantized(schema, formal, index, key=key) or _of_other_kind(schema, formal, index, key=key),
        f", or use {other} whose operator supports {key}" * bool(other),
    )


def _best(types: Collection[str], key: str) -> str:
    """The help's text for the types to which a tensor of type ``key`` can be cast."""
    names = {name for name in types if "(" not in name}
    return one_of(names, key) if names else "one of these types"


def _quantized(schema: OfficialSchema, formal: Formal, index: int, *, key: str) -> str:
    """The help for a floating-point bias that must be quantized; "" for other inputs."""
    scales = [each.name for each in schema.inputs if each.name.endswith("_scale")]
    if len(scales) < 2 or key not in FLOATS or formal.types != {"int32"}:
        return ""
    return (
        f"quantize input {index}: round({formal.name} / ({scales[0]} * {scales[1]})); a Cast would truncate its numbers"
    )


def _of_other_kind(schema: OfficialSchema, formal: Formal, index: int, *, key: str) -> str:
    """The help for a sequence or an optional value where the operator takes a tensor, or the reverse; else ""."""
    takes_tensor = any("(" not in name for name in formal.types)
    if takes_tensor and key.startswith("optional("):
        return f"take the element of input {index} with OptionalGetElement"
    if takes_tensor and key.startswith("seq(map("):
        return f"connect the tensor from which input {index} is made, such as the input of ZipMap"
    if takes_tensor and key.startswith("seq("):
        if (other := f"{schema.name}FromSequence") in official_names(schema.domain):
            return f"use {other}, which takes a sequence"
        return f"take one element of input {index} with SequenceAt, or all with ConcatFromSequence"
    if "(" not in key and all(name.startswith("seq(") for name in formal.types):
        return f"make a sequence of input {index}, with SequenceConstruct or SplitToSequence"
    return ""


def _opset_that_accepts(schema: OfficialSchema, index: int, key: str) -> str:
    """A text such as ``opset 21,``: the next opset that accepts type ``key``, or else the last earlier opset.

    "" if no opset accepts the type.
    """
    versions = official_versions(schema.name, schema.domain)
    accepting = []
    for since in versions:
        other = official(schema.name, since, schema.domain)
        formal = next(islice(_without_end(other.inputs), index, None)) if other is not None else None
        if formal is not None and key in formal.types:
            accepting.append(since)
    later = next((since for since in accepting if since > schema.since), None)
    if later is not None:
        return f"opset {later},"
    until = next((since for since in versions if accepting and since > accepting[-1]), None)
    return f"opset {until - 1}," if until is not None else ""


def check_output_types(schema: OfficialSchema, outputs: Sequence[Type | None]) -> None:
    """Checks that the schema allows the types of the outputs, which may come from a body.

    Raises an ``ELEMENT_TYPE_REFUSED`` fault; for a tensor, reports it as a warning.
    """
    for index, (known, formal) in enumerate(zip(outputs, _without_end(schema.outputs))):
        key = known.dtype if isinstance(known, Tensor) else type_key(known)
        if formal is None or key is None or key in formal.types or schema.domain in RUNTIME_DOMAINS:
            continue
        fault = ELEMENT_TYPE_REFUSED.fault(
            f"output {index} ({formal.name}) is {key}; the operator returns {_types_text(formal.types)} since opset "
            f"{schema.since}",
            help=f"cast output {index} to {_best(formal.types, key)}, or use an opset whose operator returns {key}",
        )
        if not isinstance(known, Tensor):
            raise fault
        warn(fault.lowered(Severity.WARNING))


def _types_text(types: frozenset[str]) -> str:
    names = sorted(types)
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:7])} and {len(names) - 7} more"


def output_type(schema: OfficialSchema, index: int, variables: Mapping[str, str]) -> str | None:
    """The type of an output by the schema; None if it is unknown. ``variables`` are the types of type variables."""
    formal = next(islice(_without_end(schema.outputs), index, None))
    if formal is None or not formal.homogeneous:
        return None
    if formal.variable in variables:
        return variables[formal.variable]
    return next(iter(formal.types)) if len(formal.types) == 1 else None
