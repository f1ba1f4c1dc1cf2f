"""Binds an IR layer: finds its operation by opset and name, and checks its inputs and attributes."""

from __future__ import annotations

from collections.abc import Mapping

from irlint.binding.calls import (
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    OPSET_LACKS_OPERATOR,
    UNKNOWN_OPERATOR,
    Call,
    corrected,
    counts,
    declared_call,
)
from irlint.binding.openvino_attributes import openvino_attributes
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.model import Attribute, Model, Node
from irlint.ops import index, instead_of, openvino_operator, openvino_versions
from irlint.ops.signatures import Signature, signature

NEWEST_OPSET = 17

#: Values of a layer's ``version`` for operations that an extension registers.
EXTENSIONS = frozenset(["extension", "experimental"])

#: Values of a layer's ``version`` for operations that OpenVINO creates only in memory.
INTERNAL = frozenset(["ie_internal_opset", "type_relaxed_opset", "util"])


def opset_number(node: Node) -> int | None:
    """The number of a layer's opset; None if OpenVINO has no such opset."""
    label = str(node.version)
    for operator in openvino_versions(node.op):
        if label in operator.labels:
            return operator.labels[label]
    if not label.startswith("opset") or not label[5:].isdecimal() or len(label) > len("opset999"):
        return None
    number = int(label[5:])
    return number if label == f"opset{number}" and 1 <= number <= NEWEST_OPSET else None


def bound(
    node: Node, model: Model, scope: Mapping[str, Attribute | None], *, within_function: bool
) -> tuple[Call, list[Fault]]:
    """See ``Binder.bound``."""
    number = opset_number(node)
    custom = declared_call(node) if number is None else None
    if custom is not None:
        return custom
    if number is None:
        return Call(node.op, 0, broken=True), [] if node.version is None else [_unknown_opset(node)]
    operator = openvino_operator(node.op, number)
    if operator is None or (operator.name == "Const" and node.op != "Const"):
        return Call(node.op, number, broken=True), [_unknown_operation(node, number)]
    rule_signature = signature(operator.function)
    is_lenient = model.format is not None and model.format_version == model.format.lenient_version
    faults = _input_count_faults(node, rule_signature, ignores_extra=operator.ignores_extra_inputs and is_lenient)
    attributes, attribute_faults = openvino_attributes(node, operator, rule_signature)
    faults += attribute_faults
    broken = any(fault.severity is Severity.ERROR for fault in faults)
    return Call(
        operator.name, number, operator=operator, signature=rule_signature, attributes=attributes, broken=broken
    ), faults


def _unknown_opset(node: Node) -> Fault:
    label = str(node.version)
    foreign = not label.lower().startswith("opset") and (label in EXTENSIONS or not openvino_versions(node.op))
    if foreign and openvino_versions(node.op) and node.op not in ("Parameter", "Result", "Const"):
        newest = max(min(operator.until or NEWEST_OPSET, NEWEST_OPSET) for operator in openvino_versions(node.op))
        return CUSTOM_OPERATOR.fault(
            f'the operation is of "{node.version}": OpenVINO has no such operation there (only in opset{newest}), and '
            "refuses the layer unless an extension registers one",
            help=f'write version="opset{newest}", or load the extension in OpenVINO',
            severity=Severity.WARNING,
        )
    if foreign and node.op not in ("Parameter", "Result", "Const"):
        return CUSTOM_OPERATOR.fault(
            f'irlint does not know this operation of "{node.version}", and uses the declared outputs',
            help="load the extension that registers this operation in OpenVINO",
        )
    if label in INTERNAL:
        return UNKNOWN_OPERATOR.fault(
            f'the operation is of "{label}", which OpenVINO reserves for operations that it creates itself and reads '
            "from no IR",
            help=_version_advice(node),
        )
    return UNKNOWN_OPERATOR.fault(
        f'the operation is of "{node.version}"; OpenVINO knows opset1 to opset{NEWEST_OPSET}',
        help=_version_advice(node),
    )


def _unknown_operation(node: Node, number: int) -> Fault:
    versions = openvino_versions(node.op) if node.op.lower() != "const" else ()
    if not versions:
        return UNKNOWN_OPERATOR.fault("no opset of OpenVINO has an operation of this name", **_name_advice(node))
    ranges = sorted({(operator.since, operator.until or NEWEST_OPSET) for operator in versions})
    text = ", ".join(f"opset{low}" if low == high else f"opset{low} to opset{high}" for low, high in _merged(ranges))
    return OPSET_LACKS_OPERATOR.fault(
        f"opset{number} has no such operation, but {text} has", help=f'write version="opset{ranges[-1][0]}"'
    )


def _version_advice(node: Node) -> str:
    """The help that names the newest opset with the operation, or a similar name."""
    since = max((operator.since for operator in openvino_versions(node.op)), default=None)
    return _name_advice(node)["help"] if since is None else f'write version="opset{since}"'


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged = ranges[:1]
    for low, high in ranges[1:]:
        if low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(merged[-1][1], high)
        else:
            merged.append((low, high))
    return merged


def _name_advice(node: Node) -> dict[str, str]:
    """The fields ``help`` and ``intended`` of the fault of an unknown type."""
    instead = instead_of(node.op)
    if instead:
        return {"help": instead}
    otherwise = 'correct the type, or write version="extension"'
    found = corrected(node.op, list(index.OPENVINO), otherwise)
    versions = openvino_versions(found.get("intended", ""))
    if versions and all(_input_count_faults(node, signature(version.function)) for version in versions):
        return {"help": otherwise}
    return found


def _input_count_faults(node: Node, rule_signature: Signature, *, ignores_extra: bool = False) -> list[Fault]:
    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    highest = 1 << 30 if rule_signature.variadic else len(rule_signature.inputs)
    lowest = rule_signature.fewest
    names = ", ".join(rule_signature.inputs) or rule_signature.variadic or "none"
    if count < lowest:
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operation takes {counts(lowest, highest)} ({names})",
                help="connect the inputs that the operation takes",
                input=count,
            )
        ]
    if count > highest:
        remark = ", and OpenVINO ignores the rest in an IR of this version" if ignores_extra else ""
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operation takes {counts(lowest, highest)} ({names}){remark}",
                help=f"remove the inputs from index {highest} on",
                input=highest,
                severity=Severity.WARNING if ignores_extra else INPUT_COUNT.severity,
            )
        ]
    return []
