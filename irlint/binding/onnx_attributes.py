"""Assigns the attributes of an ONNX node to the rule of its operator, and checks them against the schema."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.binding.calls import (
    ATTRIBUTE_KIND,
    ATTRIBUTE_VALUE,
    MISSING_ATTRIBUTE,
    UNKNOWN_ATTRIBUTE,
    choices,
    corrected,
    did_you_mean,
    quoted,
)
from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import Any
from irlint.model import Attribute, Constant, Node
from irlint.ops import Operator
from irlint.ops.signatures import REQUIRED, Signature, signature
from irlint.schemas import (
    MICROSOFT,
    NCHWC,
    OFFICIAL_DOMAINS,
    OfficialSchema,
    latest_opset,
    of_runtime,
    official,
    official_versions,
    runtime_version,
)


def onnx_attributes(
    node: Node,
    schema: OfficialSchema | None,
    operator: Operator | None,
    scope: Mapping[str, Attribute | None],
    moved: tuple[str, ...],
) -> tuple[dict[str, Any], list[Fault]]:
    """The arguments for the operator's rule, and the faults of the attributes.

    ``scope`` has the attributes of the enclosing function: those that its call passes, and the defaults. ``moved`` are
    attributes of the node that its operator has only at other opsets.
    """
    rule_signature = signature(operator.function) if operator is not None else None
    arguments: dict[str, Any] = {}
    faults = [_moved_fault(node, moved, schema)] if moved and schema is not None else []
    assigned = set()
    for name, written in node.attributes.items():
        attribute = written if written.reference is None else scope.get(written.reference)
        if written.reference is not None and schema is not None:
            faults += _reference_faults(name, written, schema)
        if name in moved or attribute is None:
            continue
        assigned.add(name)
        fault = _attribute_fault(node, name, attribute, schema, operator)
        if fault is not None:
            faults.append(fault)
            if fault.severity is not Severity.WARNING:
                continue
        if operator is not None and rule_signature is not None and name in rule_signature.attributes:
            arguments[name] = argument(attribute)
            faults += _choice_faults(node, name, arguments[name], rule_signature, operator)
    return arguments, faults + _missing(schema, rule_signature, assigned)


def _reference_faults(name: str, written: Attribute, schema: OfficialSchema) -> list[Fault]:
    """The warning about a reference of the wrong type. Runtimes use the type of the referenced value."""
    kind = schema.attributes[name][0] if name in schema.attributes else written.kind
    if written.kind in (kind, "UNDEFINED"):
        return []
    text = (
        f"attribute `{name}` refers to `{written.reference}` of the function as {written.kind}; the operator takes "
        f"it as {kind}"
    )
    fault = ATTRIBUTE_KIND.fault(
        text, help=f"give the reference the type {kind}", attribute=name, severity=Severity.WARNING
    )
    return [fault]


def _missing(schema: OfficialSchema | None, rule_signature: Signature | None, assigned: set[str]) -> list[Fault]:
    required = [name for name, (_, needed) in schema.attributes.items() if needed] if schema is not None else []
    if rule_signature is not None:
        without_default = [name for name, (_, default) in rule_signature.attributes.items() if default is REQUIRED]
        required += [name for name in without_default if name not in required]
    return [
        MISSING_ATTRIBUTE.fault(
            f"the required attribute `{name}` is missing" + (_NEEDED if _is_optional(schema, name) else ""),
            help=f"write `{name}`",
            attribute=name,
        )
        for name in required
        if name not in assigned
    ]


_NEEDED = ": it is optional in the schema and has no default, but ONNX Runtime refuses the node without it"


def _is_optional(schema: OfficialSchema | None, name: str) -> bool:
    return schema is not None and not schema.attributes.get(name, ("", True))[1]


def of_other_versions(node: Node, schema: OfficialSchema) -> tuple[str, ...]:
    """The attributes of the node that its operator has only at other opsets."""
    unknown = [name for name in node.attributes if name not in schema.attributes]
    if not unknown:
        return ()
    others = [official(node.op, version, node.domain) for version in official_versions(node.op, node.domain)]
    return tuple(name for name in unknown if any(other and name in other.attributes for other in others))


def _opset(node: Node) -> int | str:
    return latest_opset(node.domain) if node.version is None else node.version


def _moved_fault(node: Node, names: tuple[str, ...], schema: OfficialSchema) -> Fault:
    versions = official_versions(node.op, node.domain)
    positions = [
        position
        for position, version in enumerate(versions)
        if names[0] in getattr(official(node.op, version, node.domain), "attributes", ())
    ]
    earlier = [position for position in positions if versions[position] < schema.since]
    opset = versions[earlier[-1] + 1] - 1 if earlier else versions[positions[0]]
    inputs = {formal.name.casefold() for formal in schema.inputs}
    now_inputs = [f"`{name}`" for name in names if name.casefold() in inputs]
    text = ", ".join(f"`{name}`" for name in names)
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute {text} at opset {_opset(node)}, only {'up to' if earlier else 'from'} opset {opset}"
        + (
            f"; at opset {_opset(node)}, {', '.join(now_inputs)} {'is' if len(now_inputs) == 1 else 'are'} "
            f"{'an input' if len(now_inputs) == 1 else 'inputs'}"
            if now_inputs
            else ""
        ),
        help=f"{f'pass {now_inputs[0]} as an input' if now_inputs else f'remove {text}'}, or import opset {opset}",
        attribute=names[0],
    )


def _attribute_fault(
    node: Node, name: str, attribute: Attribute, schema: OfficialSchema | None, operator: Operator | None
) -> Fault | None:
    runtime = of_runtime(node.op, node.domain) if node.domain in (MICROSOFT, NCHWC) else None
    if runtime is not None:
        return _runtime_attribute_fault(name, attribute, runtime)
    if schema is None:
        return None if operator is None else _fault_by_rule(node, name, attribute, operator)
    if name not in schema.attributes:
        return _unknown(node, name, schema, is_ignored=operator is not None and operator.unchecked)
    return _kind_fault(name, attribute, schema.attributes[name][0], operator)


def _kind_fault(name: str, attribute: Attribute, kind: str, operator: Operator | None = None) -> Fault | None:
    if attribute.kind in (kind, "UNDEFINED"):
        return None
    is_accepted = operator is not None and operator.kinds.get(name) == attribute.kind
    return ATTRIBUTE_KIND.fault(
        f"attribute `{name}` is of type {attribute.kind}; the operator takes it as {kind}",
        help=f"write `{name}` as {kind}",
        attribute=name,
        severity=Severity.WARNING if is_accepted else None,
    )


#: The types of attributes, by the annotations of a rule's parameters.
_ANNOTATED = {
    "int": "INT",
    "float": "FLOAT",
    "str": "STRING",
    "Tensor": "TENSOR",
    "Ints": "INTS",
    "Floats": "FLOATS",
    "tuple[float, ...]": "FLOATS",
    "Strings": "STRINGS",
    "tuple[str, ...]": "STRINGS",
}


def _fault_by_rule(node: Node, name: str, attribute: Attribute, operator: Operator) -> Fault | None:
    """The fault of an attribute of an operator with a rule but no schema, or None."""
    rule_signature = signature(operator.function)
    if name in rule_signature.attributes:
        annotation = rule_signature.attributes[name][0]
        kind = _ANNOTATED.get(annotation.removesuffix(" | None"))
        if kind is None and choices(annotation, operator.function):
            kind = "STRING"
        return _kind_fault(name, attribute, kind, operator) if kind is not None else None
    own = node.domain in OFFICIAL_DOMAINS or node.domain.startswith("com.microsoft")
    return UNKNOWN_ATTRIBUTE.fault(
        f"the operator of {node.domain or 'ai.onnx'}{', as ONNX Runtime has it,' if own else ''} has no known "
        f"attribute `{name}`",
        **corrected(name, list(rule_signature.attributes), "correct the name"),
        attribute=name,
        severity=Severity.ERROR if operator.early and not operator.unchecked else Severity.NOTE,
    )


def _unknown(node: Node, name: str, schema: OfficialSchema, *, is_ignored: bool) -> Fault | None:
    if name.startswith("__"):
        return None
    names = ", ".join(f"`{key}`" for key in sorted(schema.attributes)) or "none"
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{name}` at opset {_opset(node)}; the operator has {names}",
        **corrected(name, list(schema.attributes), f"remove `{name}`"),
        attribute=name,
        severity=Severity.WARNING if is_ignored else None,
    )


def _runtime_attribute_fault(name: str, attribute: Attribute, schema: OfficialSchema) -> Fault | None:
    if name not in schema.attributes:
        if name.startswith("__"):
            return None
        return UNKNOWN_ATTRIBUTE.fault(
            f"the operator of {schema.domain} has no attribute `{name}` in ONNX Runtime {runtime_version()}, which "
            "refuses it",
            **corrected(
                name, list(schema.attributes), f"remove `{name}`, or use a release of ONNX Runtime that has it"
            ),
            attribute=name,
        )
    return _kind_fault(name, attribute, schema.attributes[name][0])


def argument(attribute: Attribute) -> Any:
    """The value of an attribute as an argument of a rule."""
    if isinstance(attribute.value, Constant):
        return attribute.value.tensor
    if isinstance(attribute.value, list):
        return tuple(attribute.value)
    return attribute.value


def _choice_faults(node: Node, name: str, value: object, rule_signature: Signature, operator: Operator) -> list[Fault]:
    allowed = choices(rule_signature.attributes[name][0], operator.function) if isinstance(value, str) else ()
    if not allowed or value in allowed:
        return []
    in_upper_case = name in operator.any_case and str(value).lower() in allowed
    fault = ATTRIBUTE_VALUE.fault(
        f'attribute `{name}` is "{value}"; allowed: {quoted(allowed)}'
        + (", which ONNX Runtime also accepts in upper case" if in_upper_case else ""),
        help=did_you_mean(str(value), allowed, f"use one of {quoted(allowed)}"),
        attribute=name,
    )
    return [fault.lowered(Severity.WARNING) if in_upper_case or _is_accepted(node, name, value, operator) else fault]


def _is_accepted(node: Node, name: str, value: object, operator: Operator) -> bool:
    """Whether ONNX Runtime accepts a text that the rule does not allow."""
    if name in operator.lenient or (name in operator.empty and not value):
        return True
    other, required = operator.read_if.get(name, ("", ""))
    return other in node.attributes and node.attributes[other].value != required
