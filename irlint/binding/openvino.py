"""Binds an IR layer: finds its operation by opset and name, and checks the number of its inputs."""

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

#: Values of a layer's ``version`` for operations that OpenVINO creates itself and does not read from an IR.
INTERNAL = frozenset(["ie_internal_opset", "type_relaxed_opset", "util"])


def opset_number(node: Node) -> int | None:
    """The opset in a layer's ``version``; None if OpenVINO has no such opset."""
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
    """The operation that a layer calls, and the faults of its opset, name, inputs and attributes."""
    number = opset_number(node)
    custom = declared_call(node) if number is None else None
    if custom is not None:
        return custom
    if number is None:
        return Call(node.op, 0, broken=True), [] if node.version is None else [_unknown_opset(node)]
    operator = openvino_operator(node.op, number)
    if operator is None or (operator.name == "Const" and node.op != "Const"):
        return Call(node.op, number, broken=True), [_unknown_operation(node, number)]
    known = signature(operator.function)
    lax = model.format is not None and model.format_version == model.format.lax_version
    faults = _openvino_arity(node, known, spare=operator.ignores_extra_inputs and lax)
    attributes, attribute_faults = openvino_attributes(node, operator, known)
    faults += attribute_faults
    broken = any(fault.severity is Severity.ERROR for fault in faults)
    return Call(operator.name, number, operator=operator, signature=known, attributes=attributes, broken=broken), faults


def _unknown_opset(node: Node) -> Fault:
    label = str(node.version)
    foreign = not label.lower().startswith("opset") and (label in EXTENSIONS or not openvino_versions(node.op))
    if foreign and openvino_versions(node.op) and node.op not in ("Parameter", "Result", "Const"):
        newest = max(min(operator.until or NEWEST_OPSET, NEWEST_OPSET) for operator in openvino_versions(node.op))
        return CUSTOM_OPERATOR.fault(
            f'the operation is of "{node.version}": OpenVINO has no such operation there (only in opset{newest}), and '
            "refuses "
            "the layer unless an extension registers one",
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
            help=_its_opset(node),
        )
    return UNKNOWN_OPERATOR.fault(
        f'the operation is of "{node.version}"; OpenVINO knows opset1 to opset{NEWEST_OPSET}',
        help=_its_opset(node),
    )


def _unknown_operation(node: Node, number: int) -> Fault:
    versions = openvino_versions(node.op) if node.op.lower() != "const" else ()
    if not versions:
        return UNKNOWN_OPERATOR.fault("no opset of OpenVINO has an operation of this name", **_advice(node))
    ranges = sorted({(operator.since, operator.until or NEWEST_OPSET) for operator in versions})
    text = ", ".join(f"opset{low}" if low == high else f"opset{low} to opset{high}" for low, high in _joined(ranges))
    return OPSET_LACKS_OPERATOR.fault(
        f"opset{number} has no such operation, but {text} has", help=f'write version="opset{ranges[-1][0]}"'
    )


def _its_opset(node: Node) -> str:
    """The help with the newest opset of an operation, or with a similar name if no opset has the operation."""
    since = max((operator.since for operator in openvino_versions(node.op)), default=None)
    return _advice(node)["help"] if since is None else f'write version="opset{since}"'


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order; adjacent ones are merged."""
    joined = ranges[:1]
    for low, high in ranges[1:]:
        if low <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], high)
        else:
            joined.append((low, high))
    return joined


def _advice(node: Node) -> dict[str, str]:
    """The fields of a fault that help with a type that no opset has. A similar name is given if one of the operations
    of this name takes as many inputs as the layer has."""
    instead = instead_of(node.op)
    if instead:
        return {"help": instead}
    otherwise = 'correct the type, or write version="extension"'
    found = corrected(node.op, list(index.OPENVINO), otherwise)
    versions = openvino_versions(found.get("intended", ""))
    if versions and all(_openvino_arity(node, signature(each.function), spare=False) for each in versions):
        return {"help": otherwise}
    return found


def _openvino_arity(node: Node, known: Signature, *, spare: bool) -> list[Fault]:
    """The fault of the number of inputs. With ``spare``, OpenVINO ignores extra inputs, so that is only a warning."""
    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    highest = 1 << 30 if known.variadic else len(known.inputs)
    lowest = known.fewest
    names = ", ".join(known.inputs) or known.variadic or "none"
    if count < lowest:
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operation takes {counts(lowest, highest)} ({names})",
                help="connect the inputs that the operation takes",
                input=count,
            )
        ]
    if count > highest:
        passed = ", and OpenVINO ignores the rest in an IR of this version" if spare else ""
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operation takes {counts(lowest, highest)} ({names}){passed}",
                help=f"remove the inputs from index {highest} on",
                input=highest,
                severity=Severity.WARNING if spare else INPUT_COUNT.severity,
            )
        ]
    return []
