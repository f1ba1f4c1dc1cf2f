"""Binds an ONNX node: finds its operator or function, and checks name, opset, inputs and attributes with the
schemas."""

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
from irlint.model import Attribute, Model, Node
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


def bound(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
) -> tuple[Call, list[Fault]]:
    """The operator or function that a node calls, and the faults of its name, arity and attributes.

    ``scope`` has the attributes of the enclosing function's call.
    """
    function = model.functions.get((node.domain, node.op, node.overload)) if model.functions else None
    if function is not None and not _is_official(node):
        from irlint.binding.onnx_functions import function_call

        call, faults = function_call(node, function, model)
        if not isinstance(node.version, int):
            faults = [_no_import(node, model, within_function), *faults]
        return call, faults
    if function is None and not _is_official(node):
        custom = declared_call(node)
        if custom is not None:
            call, faults = custom
            return call, faults if isinstance(node.version, int) else [
                _no_import(node, model, within_function),
                *faults,
            ]
    return onnx_call(node, model, scope, within_function)


def _is_official(node: Node) -> bool:
    """Whether ONNX has the operator of a node. ONNX Runtime then uses it instead of a function with that name."""
    version = node.version if isinstance(node.version, int) else latest_opset(node.domain)
    return node.domain in OFFICIAL_DOMAINS and official(node.op, version, node.domain) is not None


def onnx_call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    """The operator that an ONNX node calls, and the faults of its name, opset, arity and attributes."""
    call, faults = _call(node, model, scope, within_function)
    if within_function and node.version != model.opsets.get(node.domain):
        call, faults = _as_in_the_model(node, model, scope, call=call, faults=faults)
    if not (node.inputs or node.outputs or node.op == "Constant"):
        # ONNX Runtime ignores such a node of the main graph, and checks only the rules in ``counted`` in a function.
        counted = (INPUT_COUNT, OUTPUT_COUNT, MISSING_OPSET_IMPORT) if within_function else ()
        if counted or _in_main(node, model):
            return call, [fault if fault.rule in counted else fault.at_most(Severity.WARNING) for fault in faults]
    may_be_taken = _in_main(node, model) if call.broken else len(node.attributes) > 1
    return _as_taken(node, call, faults) if may_be_taken and not within_function else (call, faults)


def _as_in_the_model(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], *, call: Call, faults: list[Fault]
) -> tuple[Call, list[Fault]]:
    """The call and faults of a function's node if the model imports another opset than the function.

    ONNX Runtime replaces a call by the nodes of the function. It counts the inputs of these nodes by both opsets, and
    reads everything else by the opset of the model.
    """
    opset = model.opsets.get(node.domain)
    if node.domain not in OFFICIAL_DOMAINS or opset is None or not isinstance(node.version, int):
        return call, faults
    if not (0 < opset <= latest_opset(node.domain) and 0 < node.version <= latest_opset(node.domain)):
        return call, faults
    if official(node.op, opset, node.domain) is official(node.op, node.version, node.domain):
        return call, faults
    theirs, found = _call(replaced(node, version=opset), model, scope, within_function=False)
    refused = {fault.rule for fault in found if fault.severity is Severity.ERROR} | {INPUT_COUNT}
    kept = [fault if fault.rule in refused else fault.lowered(Severity.WARNING) for fault in faults]
    broken_rules = {fault.rule for fault in kept}
    note = f"ONNX Runtime reads the nodes of functions by the opset that the model imports, {opset}"
    kept += [
        fault.changed(notes=(*fault.notes, note))
        for fault in found
        if fault.severity is Severity.ERROR and fault.rule not in broken_rules
    ]
    return replaced(theirs, broken=any(fault.severity is Severity.ERROR for fault in kept)), kept


def _in_main(node: Node, model: Model) -> bool:
    """Whether a node is in the main graph; ONNX Runtime checks nodes in bodies with the ONNX checker."""
    nodes = model.graph.nodes if model.graph is not None else ()
    at = bisect_left(nodes, node.index, key=lambda each: each.index)
    return at < len(nodes) and nodes[at] is node


def _as_taken(node: Node, call: Call, faults: list[Fault]) -> tuple[Call, list[Fault]]:
    """The call and faults of a node that ONNX Runtime runs though it breaks its schema, as ``read_as`` of its operator
    states, if it has one.

    ONNX Runtime runs such nodes of any domain in the main graph; in bodies, the ONNX checker refuses them. A Constant
    with two values does not break its schema.
    """
    operator = onnx_operator("", node.op, latest_opset("")) if call.broken else call.operator
    taken = operator.read_as(node) if operator is not None and operator.read_as is not None else None
    if operator is None or taken is None:
        return call, faults
    attributes, fault = taken
    if fault is not None and not faults:
        faults = [fault]
    faults = [each.lowered(Severity.WARNING) for each in faults if each.rule is not CUSTOM_OPERATOR]
    arguments = {name: argument(attribute) for name, attribute in attributes.items()}
    known = signature(operator.function)
    return Call(node.op, call.version, operator, signature=known, attributes=arguments), faults


@record
class _Found:
    """The definitions found for a node: the opset ``version`` that counts, irlint's operator, and ONNX's schema.

    ``runtime`` is the schema of an operator that only ONNX Runtime has. ``begins`` is the first opset of ONNX with the
    operator, if ONNX Runtime has it earlier.
    """

    version: int
    operator: Operator | None
    schema: OfficialSchema | None = None
    runtime: OfficialSchema | None = None
    begins: int | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether neither ONNX, ONNX Runtime nor irlint has the operator at this version."""
        removed = self.schema is None or self.schema.deprecated
        return removed and self.operator is None and self.runtime is None and self.begins is None


def _found(node: Node, imported: int) -> _Found:
    operator = onnx_operator(node.domain, node.op, imported)
    schema = official(node.op, imported, node.domain) if node.domain in OFFICIAL_DOMAINS else None
    if schema is not None:
        return _Found(imported, operator, schema)
    begins = _standard_begin(node, imported)
    if begins is None:
        return _Found(imported, operator, runtime=of_runtime(node.op, node.domain))
    if operator is not None:
        return _Found(imported, operator, begins=begins)
    return _Found(begins, onnx_operator(node.domain, node.op, begins), begins=begins)


def _call(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], within_function: bool
) -> tuple[Call, list[Fault]]:
    imported = node.version if isinstance(node.version, int) else latest_opset(node.domain) or 1
    faults = [] if isinstance(node.version, int) else [_no_import(node, model, within_function)]
    found = _found(node, imported)
    operator, schema = found.operator, found.schema
    fault = _name_fault(node, found, imported, model=model, who="function" if within_function else "model")
    faults += [fault] if fault is not None else []
    if found.is_unknown or _is_error(fault):
        return Call(node.op, imported, broken=True), faults
    moved = of_other_versions(node, schema) if schema is not None else ()
    faults += arity_faults(node, found.runtime or schema, operator, moved)
    stated = schema or (found.runtime if operator is None else None)
    attributes, attribute_faults = onnx_attributes(node, stated, operator, scope, moved)
    faults += attribute_faults
    if _is_newer(node, found):
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


def _name_fault(node: Node, found: _Found, imported: int, *, model: Model, who: str) -> Fault | None:
    """The fault of an operator that ONNX does not have at the imported opset, or None."""
    if found.begins is not None:
        return _early(imported, found.begins, who)
    if found.schema is None or (found.schema.deprecated and found.operator is None):
        return _missing_operator(node, imported, found.schema, model=model, who=who)
    return None


def _is_error(fault: Fault | None) -> bool:
    return fault is not None and fault.severity is Severity.ERROR


def _is_newer(node: Node, found: _Found) -> bool:
    """Whether the model imports an opset that is newer than any that irlint knows."""
    return node.domain in OFFICIAL_DOMAINS and found.begins is None and found.version > latest_opset(node.domain)


def _schema_of_types(node: Node, found: _Found) -> OfficialSchema | None:
    """The schema for element types; None if they are not checked. Below the operator's first opset, ONNX Runtime uses
    the types of that opset."""
    if found.begins is not None:
        checked = found.operator is not None and not found.operator.unchecked
        return official(node.op, found.begins, node.domain) if checked else None
    return found.runtime or (None if _is_newer(node, found) else found.schema)


def _standard_begin(node: Node, version: int) -> int | None:
    """The first opset of ONNX with an operator that ONNX Runtime has earlier; None for other operators."""
    if not any(operator.early for operator in onnx_versions(node.domain, node.op)):
        return None
    return next((since for since in official_versions(node.op, node.domain) if since > version), None)


def _no_import(node: Node, model: Model, within_function: bool) -> Fault:
    """The fault of a missing import; a warning if ONNX Runtime uses its own version instead."""
    known = node.domain in OFFICIAL_DOMAINS or node.domain.startswith("com.microsoft")
    who = "function" if within_function else "model"
    return MISSING_OPSET_IMPORT.fault(
        f"the {who} imports no version of the domain {_domain(node.domain)}, to which the operator belongs",
        help=f"add {_domain(node.domain)} with its version to the opset_import of the {who}",
        severity=Severity.WARNING if known and model.opsets and not within_function else None,
    )


def _early(version: int, begins: int, who: str) -> Fault:
    return OPSET_LACKS_OPERATOR.fault(
        f"the operator begins with opset {begins} of {_name('')}; the {who} imports opset {version}, in which only "
        "ONNX Runtime has it",
        help=f"import opset {begins} or later",
        severity=Severity.WARNING,
    )


def _domain(domain: str) -> str:
    return f'"{domain}"' if domain else 'ai.onnx (written as "")'


def _name(domain: str) -> str:
    return domain or "ai.onnx"


def _missing_operator(
    node: Node, version: int, schema: OfficialSchema | None, *, model: Model, who: str
) -> Fault | None:
    """Why the operator does not exist at this version; None if irlint knows it."""
    if not node.op:
        return UNKNOWN_OPERATOR.fault("the node has no op_type", help="set its op_type, or remove the node")
    if node.domain not in OFFICIAL_DOMAINS:
        known = bool(onnx_versions(node.domain, node.op))
        if node.domain in (MICROSOFT, NCHWC) and of_runtime(node.op, node.domain) is None:
            return _unknown_to_the_runtime(node, trains=known)
        if known:
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
    """The fault of an operator of ONNX's domains that no opset known to irlint has; a newer opset may have it."""
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


def _unknown_to_the_runtime(node: Node, *, trains: bool) -> Fault:
    """The fault of an operator of ONNX Runtime's domains that its builds for inference lack; with ``trains``, training
    builds have it."""
    text = f"{node.domain} has no operator of this name in ONNX Runtime {runtime_version()}"
    if trains:
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
    text = f"irlint does not know this operator of the domain {_domain(node.domain)}"
    if all(value is None or tensor_shape(value.type) is not None for value in node.outputs):
        return CUSTOM_OPERATOR.fault(
            f"{text}, and uses the declared shapes of its outputs",
            help="describe the operator under [[operators]] in irlint.toml, so that irlint can infer them",
        )
    return CUSTOM_OPERATOR.fault(
        f"{text}, and the shapes of its outputs are not all declared",
        help="declare the shapes in value_info, or describe the operator under [[operators]] in irlint.toml, so that "
        "irlint can check the nodes after it",
    )
