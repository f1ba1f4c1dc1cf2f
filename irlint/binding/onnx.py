"""From an ONNX node to its operator or function: name, opset, arity and attributes, as the official schemas state them."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.binding.calls import (
    ATTRIBUTE_KIND,
    ATTRIBUTE_VALUE,
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    MISSING_OPSET_IMPORT,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
    Call,
    choices,
    did_you_mean,
    listed,
)
from irlint.binding.onnx_arity import arity_faults
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.model import Attribute, Constant, Function, Model, Node
from irlint.ops import Operator, onnx_operator, onnx_versions
from irlint.ops.signatures import REQUIRED, Signature, signature
from irlint.schemas import (
    MICROSOFT,
    OFFICIAL_DOMAINS,
    OfficialSchema,
    latest_opset,
    of_runtime,
    official,
    official_names,
    official_versions,
    runtime_version,
)

#: Operators that stood in the default domain before it was stable, which ONNX Runtime still runs.
EXPERIMENTAL = frozenset(
    [
        "Affine",
        "ATen",
        "ConstantFill",
        "Crop",
        "DynamicSlice",
        "GivenTensorFill",
        "GRUUnit",
        "ImageScaler",
        "ParametricSoftplus",
        "Scale",
        "ScaledTanh",
        "GeluGrad",
        "SGD",
        "SoftmaxGrad",
        "LayerNormalizationGrad",
    ]
)


#: Operators that ONNX Runtime has in every opset of the default domain, and the opset with which ONNX has them.
EARLY: Mapping[str, int] = {"LayerNormalization": 17, "ThresholdedRelu": 10}

#: Attributes that ONNX Runtime also takes as another kind.
TOLERATED_KINDS = frozenset({("Constant", "value", "SPARSE_TENSOR")})


#: Attributes of which ONNX Runtime takes any text that it does not know for the default.
TOLERATED_VALUES = frozenset(
    [
        ("NegativeLogLikelihoodLoss", "reduction"),
        ("ScatterElements", "reduction"),
        ("ScatterND", "reduction"),
        ("SoftmaxCrossEntropyLoss", "reduction"),
    ]
)

#: Operators whose schema in ONNX Runtime takes attributes that it does not have.
UNCHECKED_ATTRIBUTES = frozenset({"LayerNormalization"})

#: The attribute of a Constant that holds a value, by its kind.
CONSTANT_FORMS: Mapping[str, str] = {
    "TENSOR": "value",
    "SPARSE_TENSOR": "sparse_value",
    "FLOAT": "value_float",
    "FLOATS": "value_floats",
    "INT": "value_int",
    "INTS": "value_ints",
    "STRING": "value_string",
    "STRINGS": "value_strings",
}


def onnx_call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    """What an ONNX node calls, and the faults of its name, opset, arity and attributes."""
    call, faults = _call(node, model, scope, within_function)
    if node.op == "Constant" and not within_function and (call.broken or len(node.attributes) > 1):
        if _in_main(node, model) or not call.broken:
            return _stray_constant(node, call, faults)
    return call, faults


def _in_main(node: Node, model: Model) -> bool:
    """Whether a node stands in the main graph: ONNX Runtime has the ONNX checker look at what stands in bodies."""
    nodes = model.graph.nodes if model.graph is not None else ()
    return node.index < len(nodes) and nodes[node.index] is node


def _stray_constant(node: Node, call: Call, faults: list[Fault]) -> tuple[Call, list[Fault]]:
    """A Constant that breaks its schema: ONNX Runtime looks at the kind of its first attribute, and at nothing else of it;
    what stands in bodies, the ONNX checker has looked at before.
    """
    from irlint.ops.layout.creation import CONSTANT_FORM

    first = next(iter(node.attributes.values()), None)
    form = CONSTANT_FORMS.get(first.kind) if first is not None else None
    if first is None or form is None or len(node.outputs) != 1:
        return call, faults
    if len(node.attributes) > 1 and not faults:
        names = " and ".join(f"`{name}`" for name in node.attributes)
        faults = [CONSTANT_FORM.fault(f"the node has {names}; expected is exactly one", help="keep one of them")]
    faults = [fault.lowered(Severity.WARNING) for fault in faults if fault.rule is not CUSTOM_OPERATOR]
    operator = onnx_operator("", "Constant", latest_opset(""))
    known = signature(operator.function) if operator is not None else None
    attributes = {form: _argument(first)}
    return Call(node.op, call.version, operator, signature=known, attributes=attributes), faults


def _call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    faults: list[Fault] = []
    version = node.version if isinstance(node.version, int) else latest_opset(node.domain) or 1
    if not isinstance(node.version, int):
        faults.append(_no_import(node, model, within_function))
    early = node.domain == "" and version < EARLY.get(node.op, 0)
    if early:
        faults.append(_early(node, version))
        version = EARLY[node.op]
    official_here = node.domain in OFFICIAL_DOMAINS and not early
    schema = official(node.op, version, node.domain) if official_here else None
    runtime = of_runtime(node.op) if node.domain == MICROSOFT else None
    operator = onnx_operator(node.domain, node.op, version)
    if not early and (schema is None or (schema.deprecated and operator is None)):
        missing = _missing_operator(node, version, schema)
        if operator is None or missing is not None:
            return Call(node.op, version, broken=True), [*faults, missing] if missing is not None else faults
    moved = _of_other_versions(node, schema) if schema is not None else ()
    faults += arity_faults(node, runtime or schema, operator, moved)
    attributes, attribute_faults = _onnx_attributes(node, schema, operator, scope, moved)
    faults += attribute_faults
    if official_here and version > latest_opset(node.domain):
        faults = [fault.lowered(Severity.WARNING) for fault in faults]
        schema = None
    return (
        Call(
            node.op,
            version,
            operator=operator,
            schema=runtime or schema,
            signature=signature(operator.function) if operator is not None else None,
            attributes=attributes,
            broken=any(fault.severity is Severity.ERROR for fault in faults),
        ),
        faults,
    )


def _no_import(node: Node, model: Model, within_function: bool) -> Fault:
    """The missing import; for nodes of the main graph ONNX Runtime takes its own version of a domain it knows."""
    known = node.domain in OFFICIAL_DOMAINS or node.domain.startswith("com.microsoft")
    who = "function" if within_function else "model"
    return MISSING_OPSET_IMPORT.fault(
        f"the {who} imports no version of the domain {_domain(node.domain)}, which the operator belongs to",
        help=f"add {_domain(node.domain)} with its version to the opset_import of the {who}",
        severity=Severity.WARNING if known and model.opsets and _in_main(node, model) else None,
    )


def _early(node: Node, version: int) -> Fault:
    begins = EARLY[node.op]
    return OPSET_LACKS_OPERATOR.fault(
        f"the operator begins with opset {begins} of {_name('')}; the model imports opset {version}, "
        "where only ONNX Runtime has it",
        help=f"import opset {begins} or later",
        severity=Severity.WARNING,
    )


def _domain(domain: str) -> str:
    return f'"{domain}"' if domain else 'ai.onnx (written as "")'


def _name(domain: str) -> str:
    return domain or "ai.onnx"


def _missing_operator(node: Node, version: int, schema: OfficialSchema | None) -> Fault | None:
    """Why there is no such operator at this version; None where irlint has a rule of its own for it."""
    if node.domain not in OFFICIAL_DOMAINS:
        if onnx_versions(node.domain, node.op):
            return None
        return _custom(node)
    if schema is not None and schema.deprecated:
        return OPSET_LACKS_OPERATOR.fault(
            f"the operator was removed with opset {schema.since}; the model imports opset {version}",
            help=f"import an opset below {schema.since}, or use the operator that took its place",
        )
    versions = official_versions(node.op, node.domain)
    if versions:
        return OPSET_LACKS_OPERATOR.fault(
            f"the operator begins with opset {versions[0]} of {_name(node.domain)}; the model imports opset {version}",
            help=f"import opset {versions[0]} or later",
        )
    rules = onnx_versions(node.domain, node.op)
    if any(rule.since <= version and (rule.until is None or version <= rule.until) for rule in rules):
        return None
    if rules:
        last = max(rule.until or version for rule in rules)
        return OPSET_LACKS_OPERATOR.fault(
            f"it is an experimental operator that ONNX Runtime has up to opset {last}; the model imports opset "
            f"{version}",
            help=f"import opset {last} or below, or use operators of the standard",
        )
    newest = latest_opset(node.domain)
    if node.op in EXPERIMENTAL or version > newest:
        return _custom(node)
    return UNKNOWN_OPERATOR.fault(
        f"{_name(node.domain)} has no operator of this name in any opset up to {newest}",
        help=did_you_mean(node.op, official_names(node.domain), "correct the name, or import the domain that has it"),
    )


def _custom(node: Node) -> Fault:
    return CUSTOM_OPERATOR.fault(
        f"no rule for this operator of the domain {_domain(node.domain)}: its outputs are taken as the file declares them",
        help="declare the shapes of its outputs as value_info, so that what follows is checked",
    )


def _onnx_attributes(
    node: Node,
    schema: OfficialSchema | None,
    operator: Operator | None,
    scope: Mapping[str, Attribute | None],
    moved: tuple[str, ...],
) -> tuple[dict[str, Any], list[Fault]]:
    known = signature(operator.function) if operator is not None else None
    arguments: dict[str, Any] = {}
    faults = [_moved_fault(node, moved, schema)] if moved and schema is not None else []
    present = set()
    for name, written in node.attributes.items():
        if name in moved:
            continue
        attribute: Attribute | None = written
        if written.reference is not None:
            attribute = scope.get(written.reference)
        if attribute is None:
            continue
        present.add(name)
        fault = _attribute_fault(node, name, attribute, schema, known)
        if fault is not None:
            faults.append(fault)
            if fault.severity is not Severity.WARNING:
                continue
        if known is not None and name in known.attributes:
            arguments[name] = _argument(attribute)
            fault = _enum_fault(name, arguments[name], known, operator)
            if fault is not None:
                faults.append(fault.lowered(Severity.WARNING) if _unread(node, name) else fault)
    required = [name for name, (_, needed) in schema.attributes.items() if needed] if schema is not None else []
    if schema is None and known is not None:
        required = [name for name, (_, default) in known.attributes.items() if default is REQUIRED]
    for name in required:
        if name not in present:
            faults.append(
                MISSING_ATTRIBUTE.fault(
                    f"the required attribute `{name}` is missing", help=f"write `{name}`", attribute=name
                )
            )
    return arguments, faults


def _of_other_versions(node: Node, schema: OfficialSchema) -> tuple[str, ...]:
    """Attributes of the node that its operator has at other opsets, and not at this one."""
    unknown = [name for name in node.attributes if name not in schema.attributes]
    if not unknown:
        return ()
    others = [official(node.op, version, node.domain) for version in official_versions(node.op, node.domain)]
    return tuple(name for name in unknown if any(other and name in other.attributes for other in others))


def _moved_fault(node: Node, names: tuple[str, ...], schema: OfficialSchema) -> Fault:
    versions = official_versions(node.op, node.domain)
    having = [
        position
        for position, version in enumerate(versions)
        if names[0] in getattr(official(node.op, version, node.domain), "attributes", ())
    ]
    earlier = [position for position in having if versions[position] < schema.since]
    opset = versions[earlier[-1] + 1] - 1 if earlier else versions[having[0]]
    inputs = {formal.name.casefold() for formal in schema.inputs}
    passed = [f"`{name}`" for name in names if name.casefold() in inputs]
    text = ", ".join(f"`{name}`" for name in names)
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute {text} at opset {node.version}, only {'up to' if earlier else 'from'} opset {opset}"
        + (f"; it takes {', '.join(passed)} as input" if passed else ""),
        help=f"{f'pass {passed[0]} as an input' if passed else f'remove {text}'}, or import opset {opset}",
        attribute=names[0],
    )


def _attribute_fault(
    node: Node, name: str, attribute: Attribute, schema: OfficialSchema | None, known: Signature | None
) -> Fault | None:
    runtime = of_runtime(node.op) if node.domain == MICROSOFT else None
    if runtime is not None:
        return _runtime_attribute_fault(name, attribute, runtime)
    if schema is None:
        if known is None or name in known.attributes:
            return None
        return UNKNOWN_ATTRIBUTE.fault(
            f"the operator of {_name(node.domain)}, as ONNX Runtime has it, is not known to have an attribute `{name}`",
            help=did_you_mean(name, list(known.attributes), "correct the name"),
            attribute=name,
            severity=Severity.NOTE,
        )
    if name not in schema.attributes:
        if name.startswith("__"):
            return None
        names = ", ".join(f"`{key}`" for key in sorted(schema.attributes)) or "none"
        return UNKNOWN_ATTRIBUTE.fault(
            f"no attribute `{name}` at opset {node.version}; the operator has {names}",
            help=did_you_mean(name, list(schema.attributes), f"remove `{name}`"),
            attribute=name,
            severity=Severity.WARNING if node.op in UNCHECKED_ATTRIBUTES else None,
        )
    kind = schema.attributes[name][0]
    if attribute.kind != kind:
        return ATTRIBUTE_KIND.fault(
            f"attribute `{name}` is of type {attribute.kind}; the operator takes it as {kind}",
            help=f"write `{name}` as {kind}",
            attribute=name,
            severity=Severity.WARNING if (node.op, name, attribute.kind) in TOLERATED_KINDS else None,
        )
    return None


def _runtime_attribute_fault(name: str, attribute: Attribute, schema: OfficialSchema) -> Fault | None:
    """The fault of an attribute of an operator of com.microsoft; a newer ONNX Runtime may have more of them."""
    if name not in schema.attributes:
        return UNKNOWN_ATTRIBUTE.fault(
            f"the operator of {schema.domain} has no attribute `{name}` in ONNX Runtime {runtime_version()}, which refuses it",
            help=did_you_mean(name, list(schema.attributes), f"remove `{name}`"),
            attribute=name,
            severity=Severity.WARNING,
        )
    kind = schema.attributes[name][0]
    if attribute.kind == kind:
        return None
    return ATTRIBUTE_KIND.fault(
        f"attribute `{name}` is of type {attribute.kind}; the operator takes it as {kind}",
        help=f"write `{name}` as {kind}",
        attribute=name,
    )


def _argument(attribute: Attribute) -> Any:
    if isinstance(attribute.value, Constant):
        return attribute.value.tensor
    if isinstance(attribute.value, list):
        return tuple(attribute.value)
    return attribute.value


def _unread(node: Node, name: str) -> bool:
    """Whether ONNX Runtime goes on where it does not know the text of an attribute."""
    mode = node.attributes.get("mode")
    if (node.op, name) == ("Resize", "nearest_mode"):
        return mode is not None and mode.value != "nearest"
    return (node.op, name) in TOLERATED_VALUES


def _enum_fault(name: str, value: object, known: Signature, operator: Operator | None) -> Fault | None:
    if not isinstance(value, str) or operator is None:
        return None
    allowed = choices(known.attributes[name][0], operator.function)
    if not allowed or value in allowed:
        return None
    return ATTRIBUTE_VALUE.fault(
        f'attribute `{name}` is "{value}"; allowed is {listed(allowed)}',
        help=did_you_mean(value, allowed, f"use one of {listed(allowed)}"),
        attribute=name,
    )


def function_call(node: Node, function: Function, model: Model, within_function: bool) -> tuple[Call, list[Fault]]:
    """The call of a function of the model, and the faults of its arity, its attributes and a missing version."""
    missing = not isinstance(node.version, int)
    faults = [_no_import(node, model, within_function)] if missing else []
    if len(node.inputs) > len(function.graph.inputs):
        faults.append(
            INPUT_COUNT.fault(
                f"{counted(len(node.inputs), 'input')}; the function takes {len(function.graph.inputs)}",
                help="remove the surplus inputs",
                input=len(function.graph.inputs),
            )
        )
    if len(node.outputs) > len(function.graph.outputs):
        faults.append(
            OUTPUT_COUNT.fault(
                f"{counted(len(node.outputs), 'output')}; the function has {len(function.graph.outputs)}",
                help="remove the surplus outputs",
            )
        )
    for name in node.attributes:
        if name not in function.attributes:
            faults.append(
                UNKNOWN_ATTRIBUTE.fault(
                    f"the function has no attribute `{name}`",
                    help=did_you_mean(
                        name, list(function.attributes), f"remove `{name}`, or declare it in the function"
                    ),
                    attribute=name,
                    severity=Severity.WARNING,
                )
            )
    version = node.version if isinstance(node.version, int) else 0
    broken = any(fault.severity is Severity.ERROR for fault in faults[missing:])
    return Call(node.op, version, function=function, attributes=node.attributes, broken=broken), faults
