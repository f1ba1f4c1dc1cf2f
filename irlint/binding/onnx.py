"""Binds an ONNX node: finds its operator or function, and checks its name, opset, arity and attributes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from irlint.binding.calls import (
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_OPSET_IMPORT,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_OPERATOR,
    Call,
    corrected,
    declared_call,
)
from irlint.binding.onnx_arity import arity_faults
from irlint.binding.onnx_attributes import argument, of_other_versions, onnx_attributes
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import closest, either
from irlint.model import Attribute, Function, Model, Node
from irlint.model.tensor import tensor_shape
from irlint.ops import Operator, instead_of, onnx_operator, onnx_versions
from irlint.ops.signatures import signature
from irlint.records import record, replaced
from irlint.schemas import (
    MICROSOFT,
    NCHWC,
    OFFICIAL_DOMAINS,
    OfficialSchema,
    latest_opset,
    of_runtime,
    official,
    official_names,
    official_versions,
    runtime_version,
)

#: The domains whose operators ONNX Runtime has. An unknown domain misspells one of them if their similarity is at least
#: SLIP.
KNOWN_DOMAINS, SLIP = ("", *sorted(OFFICIAL_DOMAINS - {""}), MICROSOFT), 0.9


def bound(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
) -> tuple[Call, list[Fault]]:
    """See ``Binder.bound``."""
    function = model.functions.get((node.domain, node.op, node.overload)) if model.functions else None
    if not _is_official(node):
        found = declared_call(node) if function is None else _function_call(node, function, model)
        if found is not None:
            call, faults = found
            if not isinstance(node.version, int):
                faults = [_no_import(node, model, within_function), *faults]
            return call, faults
    return onnx_call(node, model, scope, within_function)


def _function_call(node: Node, function: Function, model: Model) -> tuple[Call, list[Fault]]:
    from irlint.binding.onnx_functions import function_call

    return function_call(node, function, model)


def _is_official(node: Node) -> bool:
    """Whether ONNX has the operator. ONNX Runtime then ignores functions of the same name."""
    version = node.version if isinstance(node.version, int) else latest_opset(node.domain)
    return node.domain in OFFICIAL_DOMAINS and official(node.op, version, node.domain) is not None


def onnx_call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    """The operator that a node calls, and the faults of its name, opset, arity and attributes."""
    call, faults = _call(node, model, scope, within_function)
    if within_function and node.version != model.opsets.get(node.domain):
        call, faults = _at_opset_of_model(node, model, scope, call=call, faults=faults)
    if not (node.inputs or node.outputs or node.op == "Constant"):
        # ONNX Runtime ignores this node in the main graph. In a function, it checks only these rules for the node.
        checked_rules = (INPUT_COUNT, OUTPUT_COUNT, MISSING_OPSET_IMPORT) if within_function else ()
        if within_function or _is_in_main_graph(node, model):
            return call, [fault if fault.rule in checked_rules else fault.at_most(Severity.WARNING) for fault in faults]
    # The ONNX checker refuses a broken node in a body. A Constant with two values is not broken.
    may_run = _is_in_main_graph(node, model) if call.broken else len(node.attributes) > 1
    return _as_run(node, call, faults) if may_run and not within_function else (call, faults)


def _at_opset_of_model(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], *, call: Call, faults: list[Fault]
) -> tuple[Call, list[Fault]]:
    """The call and faults of a node in a function. The model imports another opset than the function."""
    # ONNX Runtime inlines the function. It counts inputs by both opsets, and checks all else by the model's opset.
    opset = model.opsets.get(node.domain)
    if node.domain not in OFFICIAL_DOMAINS or opset is None or not isinstance(node.version, int):
        return call, faults
    if not (0 < opset <= latest_opset(node.domain) and 0 < node.version <= latest_opset(node.domain)):
        return call, faults
    if official(node.op, opset, node.domain) is official(node.op, node.version, node.domain):
        return call, faults
    call_of_model, faults_of_model = _call(replaced(node, version=opset), model, scope, within_function=False)
    refused = {fault.rule for fault in faults_of_model if fault.severity is Severity.ERROR} | {INPUT_COUNT}
    kept = [fault if fault.rule in refused else fault.lowered(Severity.WARNING) for fault in faults]
    reported = {fault.rule for fault in kept}
    note = f"ONNX Runtime reads the nodes of functions by the opset that the model imports, {opset}"
    kept += [
        fault.changed(notes=(*fault.notes, note))
        for fault in faults_of_model
        if fault.severity is Severity.ERROR and fault.rule not in reported
    ]
    return replaced(call_of_model, broken=any(fault.severity is Severity.ERROR for fault in kept)), kept


def _is_in_main_graph(node: Node, model: Model) -> bool:
    nodes = model.graph.nodes if model.graph is not None else ()
    at = bisect_left(nodes, node.index, key=lambda other: other.index)
    return at < len(nodes) and nodes[at] is node


def _as_run(node: Node, call: Call, faults: list[Fault]) -> tuple[Call, list[Fault]]:
    """The call and faults of a node. If ONNX Runtime runs the node although it is invalid, the faults are warnings."""
    operator = onnx_operator("", node.op, latest_opset("")) if call.broken else call.operator
    accepted = operator.read_as(node) if operator is not None and operator.read_as is not None else None
    if operator is None or accepted is None:
        return call, faults
    attributes, fault = accepted
    if fault is not None and not faults:
        faults = [fault]
    faults = [fault.lowered(Severity.WARNING) for fault in faults if fault.rule is not CUSTOM_OPERATOR]
    arguments = {name: argument(attribute) for name, attribute in attributes.items()}
    return Call(node.op, call.version, operator, signature=signature(operator.function), attributes=arguments), faults


@record
class _Definitions:
    """irlint's rule and the schemas of the operator that a node names."""

    #: The opset version of the rule and of the schema.
    version: int
    operator: Operator | None
    schema: OfficialSchema | None = None
    #: The schema of an operator that only ONNX Runtime has.
    runtime: OfficialSchema | None = None
    #: ONNX's first opset with the operator, if ONNX Runtime has the operator already at earlier opsets; else None.
    first_opset: int | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether neither ONNX, ONNX Runtime nor irlint has the operator at this version."""
        is_absent = self.schema is None or self.schema.deprecated
        return is_absent and self.operator is None and self.runtime is None and self.first_opset is None


def _definitions(node: Node, imported: int) -> _Definitions:
    operator = onnx_operator(node.domain, node.op, imported)
    schema = official(node.op, imported, node.domain) if node.domain in OFFICIAL_DOMAINS else None
    if schema is not None:
        return _Definitions(imported, operator, schema)
    first_opset = _first_opset(node, imported)
    if first_opset is None:
        return _Definitions(imported, operator, runtime=of_runtime(node.op, node.domain))
    if operator is not None:
        return _Definitions(imported, operator, first_opset=first_opset)
    return _Definitions(first_opset, onnx_operator(node.domain, node.op, first_opset), first_opset=first_opset)


def _call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    imported = node.version if isinstance(node.version, int) else latest_opset(node.domain) or 1
    faults = [] if isinstance(node.version, int) else [_no_import(node, model, within_function)]
    found = _definitions(node, imported)
    operator, schema = found.operator, found.schema
    fault = _name_fault(node, found, imported, model=model, who="function" if within_function else "model")
    faults += [fault] if fault is not None else []
    if found.is_unknown or _is_error(fault):
        return Call(node.op, imported, broken=True), faults
    moved = of_other_versions(node, schema) if schema is not None else ()
    faults += arity_faults(node, found.runtime or schema, operator, moved)
    schema_of_attributes = schema or (found.runtime if operator is None else None)
    attributes, attribute_faults = onnx_attributes(node, schema_of_attributes, operator, scope, moved)
    faults += attribute_faults
    if _imports_unknown_opset(node, found):
        faults = [fault.lowered(Severity.WARNING) for fault in faults]
    call = Call(
        node.op,
        found.version,
        operator=operator,
        schema=_schema_of_types(node, found),
        signature=signature(operator.function) if operator is not None else None,
        attributes=attributes,
        broken=any(map(_is_error, faults)),
    )
    return call, faults


def _name_fault(node: Node, found: _Definitions, imported: int, *, model: Model, who: str) -> Fault | None:
    """The fault of an operator that ONNX lacks at the imported opset, or None."""
    if found.first_opset is not None:
        return _too_early(imported, found.first_opset, who)
    if found.schema is None or (found.schema.deprecated and found.operator is None):
        return _missing_operator(node, imported, found.schema, model=model, who=who)
    return None


def _is_error(fault: Fault | None) -> bool:
    return fault is not None and fault.severity is Severity.ERROR


def _imports_unknown_opset(node: Node, found: _Definitions) -> bool:
    """Whether the imported opset is newer than those that irlint knows."""
    return node.domain in OFFICIAL_DOMAINS and found.first_opset is None and found.version > latest_opset(node.domain)


def _schema_of_types(node: Node, found: _Definitions) -> OfficialSchema | None:
    """The schema of the element types that ONNX Runtime accepts; None if irlint does not check them."""
    if found.first_opset is not None:
        checked = found.operator is not None and not found.operator.unchecked
        return official(node.op, found.first_opset, node.domain) if checked else None
    return found.runtime or (None if _imports_unknown_opset(node, found) else found.schema)


def _first_opset(node: Node, version: int) -> int | None:
    """ONNX's first opset with the operator, if it is later than ``version`` and ONNX Runtime has the operator earlier.

    None for other operators.
    """
    if not any(operator.early for operator in onnx_versions(node.domain, node.op)):
        return None
    return next((since for since in official_versions(node.op, node.domain) if since > version), None)


def _no_import(node: Node, model: Model, within_function: bool) -> Fault:
    is_known = node.domain in OFFICIAL_DOMAINS or node.domain.startswith("com.microsoft")
    who = "function" if within_function else "model"
    return MISSING_OPSET_IMPORT.fault(
        f"the {who} imports no version of the domain {_domain(node.domain)}, to which the operator belongs",
        help=f"add {_domain(node.domain)} with its version to the opset_import of the {who}",
        severity=Severity.WARNING if is_known and model.opsets and not within_function else None,
    )


def _too_early(version: int, first_opset: int, who: str) -> Fault:
    return OPSET_LACKS_OPERATOR.fault(
        f"the operator begins with opset {first_opset} of {_name('')}; the {who} imports opset {version}, in which "
        "only ONNX Runtime has it",
        help=f"import opset {first_opset} or later",
        severity=Severity.WARNING,
    )


def _domain(domain: str) -> str:
    return f'"{domain}"' if domain else 'ai.onnx (written as "")'


def _name(domain: str) -> str:
    return domain or "ai.onnx"


def _missing_operator(
    node: Node, version: int, schema: OfficialSchema | None, *, model: Model, who: str
) -> Fault | None:
    if not node.op:
        return UNKNOWN_OPERATOR.fault("the node has no op_type", help="set its op_type, or remove the node")
    if node.domain not in OFFICIAL_DOMAINS:
        is_known = bool(onnx_versions(node.domain, node.op))
        if node.domain in (MICROSOFT, NCHWC) and of_runtime(node.op, node.domain) is None:
            return _unknown_to_the_runtime(node, in_training_builds=is_known)
        if is_known:
            return None
        return _unknown_function(node, model) or _custom(node)
    if schema is not None and schema.deprecated:
        return OPSET_LACKS_OPERATOR.fault(
            f"the operator was removed with opset {schema.since}; the {who} imports opset {version}",
            help=f"import an opset below {schema.since}, or use the operator that replaced it",
        )
    versions = official_versions(node.op, node.domain)
    if versions:
        return OPSET_LACKS_OPERATOR.fault(
            f"the operator begins with opset {versions[0]} of {_name(node.domain)}; the {who} imports opset {version}",
            help=f"import opset {versions[0]} or later",
            intended=str(versions[0]),
        )
    rules = onnx_versions(node.domain, node.op)
    if any(rule.since <= version and (rule.until is None or version <= rule.until) for rule in rules):
        return None
    return _experimental(rules, version, who) if rules else _of_no_opset(node, version)


def _experimental(rules: list[Operator], version: int, who: str) -> Fault:
    last = max(rule.until or version for rule in rules)
    return OPSET_LACKS_OPERATOR.fault(
        f"it is an experimental operator that ONNX Runtime has up to opset {last}; the {who} imports opset {version}",
        help=f"import opset {last} or below, or use operators of the standard",
    )


def _of_no_opset(node: Node, version: int) -> Fault:
    """The fault of an operator that no known opset of ONNX's domains has."""
    newest = latest_opset(node.domain)
    if version > newest:
        return _custom(node)
    advice = instead_of(node.op, node.domain)
    if advice:
        text = "it was an experimental operator of early ONNX; no opset contains it, and ONNX Runtime does not run it"
        return UNKNOWN_OPERATOR.fault(text, help=advice)
    return UNKNOWN_OPERATOR.fault(
        f"{_name(node.domain)} has no operator of this name in any opset up to {newest}",
        **corrected(node.op, official_names(node.domain), "correct the name, or import the domain that has it"),
    )


def _unknown_to_the_runtime(node: Node, *, in_training_builds: bool) -> Fault:
    text = f"{node.domain} has no operator of this name in ONNX Runtime {runtime_version()}"
    if in_training_builds:
        advice = "use a training build of ONNX Runtime, or export the model for inference"
        return UNKNOWN_OPERATOR.fault(f"{text}, only in its training builds", help=advice, severity=Severity.WARNING)
    if node.op in official_names(""):
        return UNKNOWN_OPERATOR.fault(f"{text}; it is one of {_name('')}", help="remove the domain of the node")
    advice = "correct the name, or use a release of ONNX Runtime that has the operator"
    return UNKNOWN_OPERATOR.fault(text, **corrected(node.op, official_names(node.domain), advice))


def _unknown_function(node: Node, model: Model) -> Fault | None:
    if not model.functions:
        return None
    from irlint.binding.onnx_functions import unknown_function

    return unknown_function(node, model)


def _custom(node: Node) -> Fault:
    """The fault of an operator of an unknown domain.

    If a known domain with a similar name has an operator of this name, the domain is probably misspelled. The fault is
    then a warning.
    """
    text = f"irlint does not know this operator of the domain {_domain(node.domain)}"
    known = [each for each in KNOWN_DOMAINS if each != node.domain and node.op in official_names(each)]
    intended = closest(node.domain.casefold(), known, SLIP)
    if intended is not None:
        return CUSTOM_OPERATOR.fault(
            f"{text}; {intended} has an operator of this name",
            help=f'set the domain to "{intended}"',
            severity=Severity.WARNING,
            intended=intended,
        )
    if all(value is None or tensor_shape(value.type) is not None for value in node.outputs):
        text = f"{text}, and uses the declared shapes of its outputs"
        help = "describe the operator under [[operators]] in irlint.toml, so that irlint can infer them"
    else:
        text = f"{text}, and the shapes of its outputs are not all declared"
        help = (
            "declare the shapes in value_info, or describe the operator under [[operators]] in irlint.toml, so that "
            "irlint can check the nodes after it"
        )
    if known:
        domains = either(*(f'"{each}"' for each in known))
        help = f"set the domain to {domains} if you intend the operator of this name there; otherwise {help}"
    return CUSTOM_OPERATOR.fault(text, help=help)
