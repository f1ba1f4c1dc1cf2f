"""From a node to the operator that it names, at its version: arity, attributes, and the types that its schema allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from irlint.diagnostics import Fault, Rule, Severity
from irlint.model import Attribute, Constant, Function, Model, Node
from irlint.ops import Operator, onnx_operator, onnx_versions, openvino_operator, openvino_versions
from irlint.ops.element_types import ELEMENT_TYPE_REFUSED, ELEMENT_TYPES_DIFFER
from irlint.ops.schema import (
    OFFICIAL_DOMAINS,
    REQUIRED,
    Formal,
    OfficialSchema,
    Signature,
    latest_opset,
    official,
    official_names,
    official_versions,
    signature,
)
from irlint.tensor import Map, Optional, Sequence as SequenceType, SparseTensor, Tensor, Type

UNKNOWN_OPERATOR = Rule(
    "IRL501",
    "unknown-operator",
    Severity.ERROR,
    "The operator does not exist in its domain or opset.",
    why="No runtime has a kernel for a name that no operator set defines; the model is refused when it is loaded.",
    mend="Correct the name, import the domain that has the operator, or add it as a model-local function.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relux (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)

CUSTOM_OPERATOR = Rule(
    "IRL502",
    "custom-operator",
    Severity.NOTE,
    "irlint has no rule for this operator: its outputs are taken as the file declares them.",
    why="""A custom operator, or one that irlint does not know yet, says nothing about its outputs. What the file declares for
them is used further on; where it declares nothing, what follows cannot be checked.""",
    mend="Declare the shapes of its outputs (ONNX `value_info`), so that what follows is checked.",
    bad="""<ir_version: 8, opset_import: ["" : 17, "my.domain" : 1]>
g (float[2,3] x) => (float[2,3] y) { y = my.domain.Special (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)

UNKNOWN_ATTRIBUTE = Rule(
    "IRL503",
    "unknown-attribute",
    Severity.ERROR,
    "The operator has no attribute of this name at this version.",
    why="""ONNX Runtime and the ONNX checker refuse an attribute that the operator does not have. OpenVINO ignores it in
silence, and takes the default for the one that was meant: there it is a warning.""",
    mend="Correct the name, or use the opset version that has the attribute.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alhpa = 0.1> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = LeakyRelu <alpha = 0.1> (x) }""",
)

MISSING_ATTRIBUTE = Rule(
    "IRL504",
    "missing-attribute",
    Severity.ERROR,
    "An attribute that the operator requires is not there.",
    why="""ONNX runtimes refuse the node. OpenVINO takes a value of its own where it can, which is seldom the one that was
meant: there it is a warning that names the value.""",
    mend="Write the attribute.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0> (x, z) }""",
)

ATTRIBUTE_KIND = Rule(
    "IRL505",
    "attribute-of-wrong-type",
    Severity.ERROR,
    "An attribute is of another type than the operator's schema says.",
    why="Runtimes read the attribute as the type that the schema states and refuse any other.",
    mend="Write the attribute as the type that the message names.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0.0> (x, z) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[2,3] z) => (float[4,3] y) { y = Concat <axis = 0> (x, z) }""",
)

ATTRIBUTE_VALUE = Rule(
    "IRL506",
    "attribute-value-not-allowed",
    Severity.ERROR,
    "An attribute has a value that the operator does not allow.",
    why="The operator defines what each value means; a runtime refuses any other, or takes a default in silence.",
    mend="Use one of the values that the message names.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Cast <to = 99> (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Cast <to = 1> (x) }""",
)

INPUT_COUNT = Rule(
    "IRL507",
    "input-count-wrong",
    Severity.ERROR,
    "The node has fewer or more inputs than its operator takes.",
    why="Runtimes refuse a node that leaves a required input out, or has one too many.",
    mend="Connect the inputs that the operator names, and no others; leave an optional one out by the empty name.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Add (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add (x, b) }""",
)

OUTPUT_COUNT = Rule(
    "IRL508",
    "output-count-wrong",
    Severity.ERROR,
    "The node names more or fewer outputs than its operator has.",
    why="Runtimes refuse a node with an output that its operator does not have.",
    mend="Name only the outputs that the operator has at this version.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y, z = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)

OPSET_LACKS_OPERATOR = Rule(
    "IRL509",
    "operator-not-in-opset",
    Severity.ERROR,
    "The operator exists, but not in the opset that the file uses.",
    why="The opset version fixes what each operator means; an operator that came later, or was removed, has no meaning in it.",
    mend="Use an opset that has the operator (ONNX: `opset_import`; IR: the layer's `version`), or another operator.",
    bad="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }""",
    good="""<ir_version: 9, opset_import: ["" : 20]>
g (float[2,3] x) => (float[2,3] y) { y = Gelu (x) }""",
)

MISSING_OPSET_IMPORT = Rule(
    "IRL801",
    "missing-opset-import",
    Severity.ERROR,
    "A node's domain is not among the opsets that the model imports.",
    why="Without the version of its domain an operator's meaning is not fixed; the ONNX checker and runtimes refuse the model.",
    mend="Add the domain and its version to `opset_import`.",
    bad="""<ir_version: 8, opset_import: ["ai.onnx.ml" : 3]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
    good="""<ir_version: 8, opset_import: ["" : 17]>
g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }""",
)

#: Operators that stood in the default domain before it was stable, which ONNX Runtime still runs.
EXPERIMENTAL = frozenset(
    "Affine ATen ConstantFill Crop DynamicSlice GivenTensorFill GRUUnit ImageScaler ParametricSoftplus Scale ScaledTanh "
    "GeluGrad SGD SoftmaxGrad LayerNormalizationGrad".split()
)


@dataclass(frozen=True, slots=True)
class Call:
    """What a node calls: the rule of an operator, a function of the model, or neither.

    ``version`` is the opset version; ``op`` the operator's name as its specification spells it. ``attributes`` are the
    keyword arguments for the rule. ``broken`` tells that the rule cannot be asked because of the faults.
    """

    op: str
    version: int
    operator: Operator | None = None
    function: Function | None = None
    schema: OfficialSchema | None = None
    signature: Signature | None = None
    attributes: Mapping[str, Any] | None = None
    broken: bool = False


def bound(node: Node, model: Model, scope: Mapping[str, Attribute | None] | None = None) -> tuple[Call, list[Fault]]:
    """What ``node`` calls, and the faults of its name, arity and attributes.

    ``scope`` holds the attributes of the enclosing function's call, by name.
    """
    if model.format == "openvino":
        return _openvino_call(node)
    function = model.functions.get((node.domain, node.op, node.overload))
    if function is not None:
        return _function_call(node, function)
    return _onnx_call(node, scope or {})


# --- ONNX -------------------------------------------------------------------------------------------------------------


def _onnx_call(node: Node, scope: Mapping[str, Attribute | None]) -> tuple[Call, list[Fault]]:
    if not isinstance(node.version, int):
        fault = MISSING_OPSET_IMPORT.fault(
            f"the model imports no version of the domain {_domain(node.domain)}, which {node.op} belongs to",
            help=f"add {_domain(node.domain)} with its version to opset_import",
        )
        return Call(node.op, 0, broken=True), [fault]
    version = node.version
    schema = official(node.op, version, node.domain) if node.domain in OFFICIAL_DOMAINS else None
    operator = onnx_operator(node.domain, node.op, version)
    if schema is None or (schema.deprecated and operator is None):
        missing = _missing_operator(node, version, schema)
        if operator is None or missing is not None:
            return Call(node.op, version, broken=True), [missing] if missing is not None else []
    faults = _arity_faults(node, schema, operator)
    attributes, attribute_faults = _onnx_attributes(node, schema, operator, scope)
    faults += attribute_faults
    return (
        Call(
            node.op,
            version,
            operator=operator,
            schema=schema,
            signature=signature(operator.function) if operator is not None else None,
            attributes=attributes,
            broken=any(fault.severity in (None, Severity.ERROR) for fault in faults),
        ),
        faults,
    )


def _domain(domain: str) -> str:
    return f'"{domain}"' if domain else 'ai.onnx (written as "")'


def _missing_operator(node: Node, version: int, schema: OfficialSchema | None) -> Fault | None:
    """Why there is no such operator at this version; None where irlint has a rule of its own for it."""
    if node.domain not in OFFICIAL_DOMAINS:
        if onnx_versions(node.domain, node.op):
            return None
        return _custom(node)
    if schema is not None and schema.deprecated:
        return OPSET_LACKS_OPERATOR.fault(
            f"{node.op} was removed with opset {schema.since}; the model imports opset {version}",
            help=f"import an opset below {schema.since}, or use the operator that took its place",
        )
    versions = official_versions(node.op, node.domain)
    if versions:
        return OPSET_LACKS_OPERATOR.fault(
            f"{node.op} begins with opset {versions[0]} of {_domain(node.domain)}; the model imports opset {version}",
            help=f"import opset {versions[0]} or later",
        )
    if onnx_versions(node.domain, node.op):
        return None
    newest = latest_opset(node.domain)
    if node.op in EXPERIMENTAL or version > newest:
        return _custom(node)
    return UNKNOWN_OPERATOR.fault(
        f"{_domain(node.domain)} has no operator {node.op} in any opset up to {newest}",
        help=_did_you_mean(node.op, official_names(node.domain), "correct the name, or import the domain that has it"),
    )


def _custom(node: Node) -> Fault:
    return CUSTOM_OPERATOR.fault(
        f"no rule for {node.op} of the domain {_domain(node.domain)}: its outputs are taken as the file declares them",
        help="declare the shapes of its outputs as value_info, so that what follows is checked",
    )


def _did_you_mean(name: str, candidates: Sequence[str] | frozenset[str], otherwise: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(candidates), n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else otherwise


def _arity_faults(node: Node, schema: OfficialSchema | None, operator: Operator | None) -> list[Fault]:
    faults: list[Fault] = []
    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    if schema is not None:
        names = [formal.name for formal in schema.inputs]
        lowest, highest = schema.min_input, schema.max_input
        optional = [formal.option != "single" for formal in schema.inputs]
    elif operator is not None:
        known = signature(operator.function)
        names, lowest = list(known.inputs), known.required
        highest = 1 << 30 if known.variadic else len(names)
        optional = [position >= lowest for position in range(len(names))]
    else:
        return faults
    if count > highest:
        faults.append(
            INPUT_COUNT.fault(
                f"{count} inputs; {node.op} takes {_counts(lowest, highest)} ({', '.join(names)})",
                help=f"remove the inputs from index {highest} on",
                input=highest,
            )
        )
    for index in range(max(lowest, min(count, len(names)))):
        given = node.inputs[index] if index < count else None
        if given is None and (index >= len(optional) or not optional[index] or index >= count):
            name = names[min(index, len(names) - 1)] if names else f"input {index}"
            faults.append(
                INPUT_COUNT.fault(
                    f"input {index} ({name}) is missing; {node.op} takes {_counts(lowest, highest)} inputs",
                    help=f"connect input {index} ({name})",
                    input=index,
                )
            )
            break
    if schema is not None and len(node.outputs) > schema.max_output:
        faults.append(
            OUTPUT_COUNT.fault(
                f"{len(node.outputs)} outputs; {node.op} has {_counts(schema.min_output, schema.max_output)}",
                help=f"remove the outputs from index {schema.max_output} on",
            )
        )
    return faults


def _counts(lowest: int, highest: int) -> str:
    if highest >= 1 << 30:
        return f"at least {lowest}"
    return str(lowest) if lowest == highest else f"{lowest} to {highest}"


def _onnx_attributes(
    node: Node,
    schema: OfficialSchema | None,
    operator: Operator | None,
    scope: Mapping[str, Attribute | None],
) -> tuple[dict[str, Any], list[Fault]]:
    known = signature(operator.function) if operator is not None else None
    arguments: dict[str, Any] = {}
    faults: list[Fault] = []
    present = set()
    for name, written in node.attributes.items():
        attribute: Attribute | None = written
        if written.reference is not None:
            attribute = scope.get(written.reference)
        if attribute is None:
            continue
        present.add(name)
        fault = _attribute_fault(node, name, attribute, schema, known)
        if fault is not None:
            faults.append(fault)
            continue
        if known is not None and name in known.attributes:
            arguments[name] = _argument(attribute)
            fault = _enum_fault(name, arguments[name], known, operator)
            if fault is not None:
                faults.append(fault)
    required = [name for name, (_, needed) in schema.attributes.items() if needed] if schema is not None else []
    if schema is None and known is not None:
        required = [name for name, (_, default) in known.attributes.items() if default is REQUIRED]
    for name in required:
        if name not in present:
            faults.append(
                MISSING_ATTRIBUTE.fault(
                    f"{node.op} requires the attribute `{name}`", help=f"write `{name}`", attribute=name
                )
            )
    return arguments, faults


def _attribute_fault(
    node: Node, name: str, attribute: Attribute, schema: OfficialSchema | None, known: Signature | None
) -> Fault | None:
    if schema is None:
        if known is None or name in known.attributes:
            return None
        return UNKNOWN_ATTRIBUTE.fault(
            f"{node.op} of {_domain(node.domain)} is not known to have an attribute `{name}`",
            help=_did_you_mean(name, list(known.attributes), "correct the name"),
            attribute=name,
            severity=Severity.NOTE,
        )
    if name not in schema.attributes:
        if name.startswith("__"):
            return None
        names = ", ".join(f"`{key}`" for key in sorted(schema.attributes)) or "none"
        return UNKNOWN_ATTRIBUTE.fault(
            f"{node.op} has no attribute `{name}` at opset {node.version}; it has {names}",
            help=_did_you_mean(name, list(schema.attributes), f"remove `{name}`"),
            attribute=name,
        )
    kind = schema.attributes[name][0]
    if attribute.kind != kind:
        return ATTRIBUTE_KIND.fault(
            f"attribute `{name}` is of type {attribute.kind}; {node.op} takes it as {kind}",
            help=f"write `{name}` as {kind}",
            attribute=name,
        )
    return None


def _argument(attribute: Attribute) -> Any:
    if isinstance(attribute.value, Constant):
        return attribute.value.tensor
    if isinstance(attribute.value, list):
        return tuple(attribute.value)
    return attribute.value


def choices(annotation: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """The texts that an attribute annotated as a ``Literal`` (or a name for one) allows; () for any other."""
    name = annotation.removesuffix(" | None")
    alias = function.__globals__.get(name)  # type: ignore[attr-defined]
    return tuple(getattr(alias, "__args__", ())) if getattr(alias, "__origin__", None) is not None or alias else ()


def _enum_fault(name: str, value: object, known: Signature, operator: Operator | None) -> Fault | None:
    if not isinstance(value, str) or operator is None:
        return None
    allowed = choices(known.attributes[name][0], operator.function)
    if not allowed or value in allowed:
        return None
    return ATTRIBUTE_VALUE.fault(
        f'attribute `{name}` is "{value}"; {operator.name} allows {_listed(allowed)}',
        help=_did_you_mean(value, allowed, f"use one of {_listed(allowed)}"),
        attribute=name,
    )


def _listed(allowed: Sequence[str]) -> str:
    return ", ".join(f'"{text}"' for text in allowed)


def _function_call(node: Node, function: Function) -> tuple[Call, list[Fault]]:
    faults: list[Fault] = []
    if len(node.inputs) > len(function.graph.inputs):
        faults.append(
            INPUT_COUNT.fault(
                f"{len(node.inputs)} inputs; the function {function.name} takes {len(function.graph.inputs)}",
                help="remove the surplus inputs",
                input=len(function.graph.inputs),
            )
        )
    if len(node.outputs) > len(function.graph.outputs):
        faults.append(
            OUTPUT_COUNT.fault(
                f"{len(node.outputs)} outputs; the function {function.name} has {len(function.graph.outputs)}",
                help="remove the surplus outputs",
            )
        )
    for name in node.attributes:
        if name not in function.attributes:
            faults.append(
                UNKNOWN_ATTRIBUTE.fault(
                    f"the function {function.name} has no attribute `{name}`",
                    help=_did_you_mean(name, list(function.attributes), f"remove `{name}`, or declare it in the function"),
                    attribute=name,
                    severity=Severity.WARNING,
                )
            )
    version = node.version if isinstance(node.version, int) else 0
    broken = any(fault.severity in (None, Severity.ERROR) for fault in faults)
    return Call(node.op, version, function=function, attributes=node.attributes, broken=broken), faults


# --- element types of ONNX --------------------------------------------------------------------------------------------


def type_key(known: Type | None) -> str | None:
    """A type as the schemas name it: ``float32``, ``seq(int64)``; None where it is not wholly known."""
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
    return None


def _formal_at(formals: Sequence[Formal], index: int) -> Formal | None:
    if index < len(formals):
        return formals[index]
    return formals[-1] if formals and formals[-1].option == "variadic" else None


def type_variables(schema: OfficialSchema, inputs: Sequence[Type | None], op: str) -> dict[str, str]:
    """What each type variable of ``schema`` stands for, given the types of the inputs.

    Raises an ``ELEMENT_TYPE_REFUSED`` or ``ELEMENT_TYPES_DIFFER`` fault.
    """
    variables: dict[str, str] = {}
    first: dict[str, int] = {}
    for index, known in enumerate(inputs):
        formal = _formal_at(schema.inputs, index)
        key = type_key(known)
        if formal is None or key is None:
            continue
        if key not in formal.types:
            raise ELEMENT_TYPE_REFUSED.fault(
                f"input {index} ({formal.name}) is {key}; {op} takes {_types_text(formal.types)} since opset {schema.since}",
                help=f"cast input {index} to one of these types, or use an opset whose {op} takes {key}",
                input=index,
            )
        if not formal.homogeneous or "(" in formal.variable:
            continue
        if variables.setdefault(formal.variable, key) != key:
            other = first[formal.variable]
            raise ELEMENT_TYPES_DIFFER.fault(
                f"input {other} is {variables[formal.variable]} and input {index} is {key}: "
                f"{op} takes both as one type ({formal.variable})",
                help=f"cast input {index} to {variables[formal.variable]}, or input {other} to {key}",
                input=index,
            )
        first.setdefault(formal.variable, index)
    return variables


def _types_text(types: frozenset[str]) -> str:
    names = sorted(types)
    return ", ".join(names) if len(names) <= 8 else f"{', '.join(names[:7])} and {len(names) - 7} more"


def output_type(schema: OfficialSchema, index: int, variables: Mapping[str, str]) -> str | None:
    """The type that the schema alone gives to output ``index``, None where it leaves it open."""
    formal = _formal_at(schema.outputs, index)
    if formal is None or not formal.homogeneous:
        return None
    if formal.variable in variables:
        return variables[formal.variable]
    return next(iter(formal.types)) if len(formal.types) == 1 else None


# --- OpenVINO ---------------------------------------------------------------------------------------------------------

_OPSET6_UNDER_OLD_LABELS = frozenset(
    "grucell rnncell proposal experimentaldetectrondetectionoutput experimentaldetectrongenerateproposalssingleimage "
    "experimentaldetectronpriorgridgenerator experimentaldetectronroifeatureextractor "
    "experimentaldetectrontopkrois".split()
)
_OPSET2_UNDER_OPSET1 = frozenset({"mvn", "roipooling", "reorgyolo"})
NEWEST_OPSET = 17


def opset_number(node: Node) -> int | None:
    """The opset that a layer's ``version`` names, None where the library knows no such opset."""
    label = str(node.version)
    if label in ("experimental", "extension") and node.op.lower() in _OPSET6_UNDER_OLD_LABELS:
        return 6
    if not label.startswith("opset") or not label[5:].isdecimal():
        return None
    number = int(label[5:])
    if number == 1 and node.op.lower() in _OPSET2_UNDER_OPSET1:
        return 2
    return number if 1 <= number <= NEWEST_OPSET else None


def _openvino_call(node: Node) -> tuple[Call, list[Fault]]:
    number = opset_number(node)
    if number is None:
        return Call(node.op, 0, broken=True), [_unknown_opset(node)]
    operator = openvino_operator(node.op, number)
    if operator is None:
        return Call(node.op, number, broken=True), [_unknown_operation(node, number)]
    known = signature(operator.function)
    faults = _openvino_arity(node, known)
    attributes, attribute_faults = _openvino_attributes(node, operator, known)
    faults += attribute_faults
    broken = any(fault.severity in (None, Severity.ERROR) for fault in faults)
    return Call(operator.name, number, operator=operator, signature=known, attributes=attributes, broken=broken), faults


def _unknown_opset(node: Node) -> Fault:
    if node.version in ("extension", "experimental", "custom") or not str(node.version).startswith("opset"):
        return CUSTOM_OPERATOR.fault(
            f'no rule for {node.op} of "{node.version}": its outputs are taken as the file declares them',
            help="OpenVINO needs the extension that registers this operation",
        )
    return UNKNOWN_OPERATOR.fault(
        f'{node.op} is of "{node.version}"; OpenVINO knows opset1 to opset{NEWEST_OPSET}',
        help="write the opset that has the operation",
    )


def _unknown_operation(node: Node, number: int) -> Fault:
    versions = openvino_versions(node.op)
    if not versions:
        from irlint.ops import tables

        names = [operators[0].name for operators in tables()[1].values()]
        return UNKNOWN_OPERATOR.fault(
            f"no opset of OpenVINO has an operation {node.op}",
            help=_did_you_mean(node.op, names, "correct the type, or give the version as `extension`"),
        )
    ranges = sorted({(operator.since, operator.until or NEWEST_OPSET) for operator in versions})
    text = ", ".join(f"opset{low}" if low == high else f"opset{low} to opset{high}" for low, high in ranges)
    return OPSET_LACKS_OPERATOR.fault(
        f"opset{number} has no {node.op}; it is in {text}", help=f'write version="opset{ranges[-1][0]}"'
    )


def _openvino_arity(node: Node, known: Signature) -> list[Fault]:
    count = len(node.inputs)
    highest = 1 << 30 if known.variadic else len(known.inputs)
    lowest = known.required + (1 if known.variadic and not known.inputs else 0)
    names = ", ".join(known.inputs) or known.variadic or "none"
    if count < lowest:
        return [
            INPUT_COUNT.fault(
                f"{count} inputs; {node.op} takes {_counts(lowest, highest)} ({names})",
                help="connect the inputs that the operation takes",
                input=count,
            )
        ]
    if count > highest:
        return [
            INPUT_COUNT.fault(
                f"{count} inputs; {node.op} takes {_counts(lowest, highest)} ({names})",
                help=f"remove the inputs from index {highest} on",
                input=highest,
            )
        ]
    return []


def _openvino_attributes(
    node: Node, operator: Operator, known: Signature
) -> tuple[dict[str, Any], list[Fault]]:
    arguments: dict[str, Any] = {}
    faults: list[Fault] = []
    parameters = {operator.spelled.get(name, name): name for name in known.attributes}
    for written, attribute in node.attributes.items():
        name = parameters.get(written)
        if name is None:
            if attribute.kind == "TEXT" and known.attributes.get("anything") is None:
                faults.append(_ignored(node, written, parameters))
            continue
        if attribute.kind != "TEXT":
            arguments[name] = attribute.value
            continue
        annotation = known.attributes[name][0]
        try:
            arguments[name] = _read_text(attribute.value, annotation, operator)
        except ValueError as error:
            faults.append(
                ATTRIBUTE_VALUE.fault(
                    f'attribute `{written}` is "{attribute.value}"; {error}',
                    help=f"correct `{written}`",
                    attribute=written,
                )
            )
    for name, (_, default) in known.attributes.items():
        if name in arguments:
            continue
        written = operator.spelled.get(name, name)
        if name in operator.absent:
            arguments[name] = operator.absent[name]
            faults.append(
                MISSING_ATTRIBUTE.fault(
                    f"{node.op} requires the attribute `{written}`; OpenVINO takes {operator.absent[name]!r} without it",
                    help=f"write `{written}`",
                    attribute=written,
                    severity=Severity.WARNING,
                )
            )
        elif default is REQUIRED:
            faults.append(
                MISSING_ATTRIBUTE.fault(
                    f"{node.op} requires the attribute `{written}`", help=f"write `{written}`", attribute=written
                )
            )
    return arguments, faults


def _ignored(node: Node, written: str, parameters: Mapping[str, str]) -> Fault:
    names = ", ".join(f"`{name}`" for name in parameters) or "none"
    return UNKNOWN_ATTRIBUTE.fault(
        f"{node.op} has no attribute `{written}`, and OpenVINO ignores it; it has {names}",
        help=_did_you_mean(written, list(parameters), f"remove `{written}`"),
        attribute=written,
        severity=Severity.WARNING,
    )


def _read_text(text: str, annotation: str, operator: Operator) -> Any:
    """An IR attribute's text as the parameter's annotation says. Raises ValueError."""
    kind = annotation.removesuffix(" | None")
    if kind == "int":
        return _number(text, int)
    if kind == "float":
        return _number(text, float)
    if kind == "bool":
        if text.strip().lower() in ("true", "1"):
            return True
        if text.strip().lower() in ("false", "0"):
            return False
        raise ValueError("it has to be true or false")
    if kind in ("Ints", "Floats"):
        parts = [part.strip() for part in text.split(",")] if text.strip() else []
        return tuple(_number(part, int if kind == "Ints" else float) for part in parts)
    if kind == "DType":
        from irlint.parsers.ir_types import element_type

        return element_type(text)
    allowed = choices(kind, operator.function)
    if allowed:
        lowered = {choice.lower(): choice for choice in allowed}
        if text.lower() not in lowered:
            raise ValueError(f"it has to be one of {_listed(allowed)}")
        return lowered[text.lower()]
    return text


def _number(text: str, kind: Callable[[str], Any]) -> Any:
    try:
        return kind(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        raise ValueError("it has to be a number") from None
    if kind is int and number != number // 1:
        return int(number)
    return kind(number)
