"""Assigns the attributes of an IR layer to its operation, and reports wrong, missing and misspelled attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.binding.calls import ATTRIBUTE_VALUE, MISSING_ATTRIBUTE, UNKNOWN_ATTRIBUTE, closest, did_you_mean, quoted
from irlint.binding.openvino_texts import allowed_texts, read_text
from irlint.findings import wording
from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.ops import Operator, openvino_versions
from irlint.ops.signatures import REQUIRED, Signature, signature
from irlint.records import record

#: Attributes that tools write into any layer. Runtimes read none of them, except that the CPU plugin of OpenVINO reads
#: PrimitivesPriority.
HARMLESS = frozenset(
    ["PrimitivesPriority", "cacheable", "originalLayersNames", "InputMemoryFormats", "OutputMemoryFormats", "execOrder"]
)

#: The annotations of what elements of the layer define. OpenVINO ignores texts of their names.
ELEMENTS = ("Graph", "Entries", "BackEdges")


@record
class Reading:
    """The values of a layer's attributes, and the faults of their texts."""

    #: The parameters of the operation's rule, by the names of the attributes.
    parameters: Mapping[str, str]
    #: The values of parameters.
    arguments: dict[str, Any]
    #: The parameters with a wrong text. OpenVINO refuses it if it reads the attribute.
    refused: set[str]
    #: The attributes that the operation does not have.
    unknown: list[str]
    faults: list[Fault]


def openvino_attributes(
    node: Node, operator: Operator, rule_signature: Signature
) -> tuple[dict[str, Any], list[Fault]]:
    """The arguments for the operation's rule, and the faults of the attributes."""
    reading = _reading(node, operator, rule_signature)
    arguments, faults = reading.arguments, reading.faults
    missing: list[str] = []
    for name, (_, default) in rule_signature.attributes.items():
        if name in arguments:
            continue
        if name in operator.absent:
            arguments[name] = operator.absent[name]
        fault = None if name in reading.refused else _absence_warning(operator, name, rule_signature, reading.unknown)
        if fault is not None:
            faults.append(fault)
            if name in operator.refused_without:
                arguments[name] = operator.refused_without[name]
        elif name not in reading.refused and (name in operator.absent or default is REQUIRED):
            missing.append(name)
    if node.op != "Const":
        faults += _name_faults(node, operator, reading, missing)
    return arguments, faults


def _reading(node: Node, operator: Operator, rule_signature: Signature) -> Reading:
    parameters = {operator.spelled.get(name, name): name for name in rule_signature.attributes}
    reading = Reading(parameters, {}, set(), [], [])
    for written, attribute in node.attributes.items():
        name = parameters.get(written)
        if name is None:
            if attribute.kind == "TEXT" and written not in HARMLESS:
                reading.unknown.append(written)
        elif attribute.kind != "TEXT":
            reading.arguments[name] = attribute.value
        elif rule_signature.attributes[name][0] not in ELEMENTS:
            _read(node, written, name, operator, rule_signature, reading)
    return reading


def _read(node: Node, written: str, name: str, operator: Operator, rule_signature: Signature, reading: Reading) -> None:
    """Adds the value or the fault of an attribute's text to ``reading``."""
    text, (annotation, default) = node.attributes[written].value, rule_signature.attributes[name]
    try:
        value, remark = read_text(text, name, annotation, operator)
    except ValueError as error:
        is_read = _is_read(node, written)
        severity = None if is_read else Severity.WARNING
        fault = _text_fault(written, text, str(error), severity, allowed_texts(text, annotation, operator))
        reading.faults.append(fault.changed(refused=is_read))
        reading.refused.add(name)
        return
    if remark:
        reading.faults.append(_text_fault(written, text, remark, Severity.WARNING))
    if value is None and not annotation.startswith("DType"):
        value = operator.absent.get(name, None if default is REQUIRED else default)
    reading.arguments[name] = value


def _name_faults(node: Node, operator: Operator, reading: Reading, missing: list[str]) -> list[Fault]:
    """The faults of missing and unknown attributes."""
    faults = []
    foreign = []
    parameters, unknown = reading.parameters, reading.unknown
    for written in unknown:
        intended = _intended(written, operator, missing, unknown)
        if intended is not None:
            missing.remove(intended)
            faults.append(_misspelled(node, written, operator, intended))
        elif len(unknown) > 1 and _is_foreign(node, written, parameters):
            foreign.append(written)
        else:
            faults.append(_ignored(node, written, parameters))
    if foreign:
        faults.append(_all_ignored(node, foreign, parameters))
    refused = [name for name in missing if name not in operator.absent]
    replaced = [name for name in missing if name in operator.absent]
    return faults + [_missing(node, operator, names) for names in (refused, replaced) if names]


def _intended(written: str, operator: Operator, missing: list[str], unknown: list[str]) -> str | None:
    """The missing attribute that was probably misspelled as ``written``, or None."""
    spelled = {operator.spelled.get(name, name).lower(): name for name in missing}
    close = wording.closest(written.lower(), sorted(spelled))
    if close is not None:
        return spelled[close]
    if len(missing) == len(unknown) == 1 and not _in_another_version(operator.name, written):
        return missing[0]
    return None


def _misspelled(node: Node, written: str, operator: Operator, intended: str) -> Fault:
    spelled = operator.spelled.get(intended, intended)
    is_replaced = intended in operator.absent and not _is_needed(node, operator)
    remark = f", and OpenVINO uses {_phrase(operator.absent[intended])} for it" if is_replaced else ""
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{written}`, and OpenVINO ignores it; the required attribute `{spelled}` is missing{remark}",
        help=f"did you mean `{spelled}`?",
        attribute=written,
        role="attribute",
        severity=Severity.WARNING if is_replaced else Severity.ERROR,
        stage="compile" if intended in operator.absent and not is_replaced else "load",
        intended=spelled,
    )


def _is_needed(node: Node, operator: Operator) -> bool:
    return operator.needed is not None and operator.needed(node)


def _missing(node: Node, operator: Operator, names: list[str]) -> Fault:
    """The fault of missing required attributes; a warning if OpenVINO uses its own value for them."""
    spelled = [f"`{operator.spelled.get(name, name)}`" for name in names]
    listed = " and ".join([", ".join(spelled[:-1])] * (len(spelled) > 1) + spelled[-1:])
    subject = f"the required attribute {listed} is" if len(names) == 1 else f"the required attributes {listed} are"
    if names[0] not in operator.absent or _is_needed(node, operator):
        return MISSING_ATTRIBUTE.fault(
            f"{subject} missing",
            help=f"write {listed}",
            attribute=operator.spelled.get(names[0], names[0]),
            stage="compile" if names[0] in operator.absent else "load",
        )
    values = [
        '"", the shape of a scalar,'
        if (name, operator.absent[name]) == ("shape", "")
        else _phrase(operator.absent[name])
        for name in names
    ]
    same = len(names) > 1 and len(set(values)) == 1
    uses = f"{values[0]} for each of them" if same else f"{', '.join(values)} for {'it' if len(names) == 1 else 'them'}"
    return MISSING_ATTRIBUTE.fault(
        f"{subject} missing; OpenVINO uses {uses}",
        help=f"write {listed}",
        attribute=operator.spelled.get(names[0], names[0]),
        severity=Severity.WARNING,
    )


def _absence_warning(operator: Operator, name: str, rule_signature: Signature, unknown: list[str]) -> Fault | None:
    """The warning about an absent attribute, if OpenVINO does not use the default in the specification; else None."""
    is_refused = name in operator.refused_without
    default = operator.refused_without.get(name, operator.documented.get(name))
    if default is None or (rule_signature.attributes[name][1] is not REQUIRED and name not in operator.absent):
        return None
    if did_you_mean(name, unknown, ""):
        return None
    action = "refuses the layer" if is_refused else f"takes {_shown(operator.absent[name])}"
    return MISSING_ATTRIBUTE.fault(
        f"attribute `{name}` is absent: its default is {_shown(default)} in the specification, but OpenVINO {action}",
        help=f'write {name}="{_shown(default)}"',
        attribute=name,
        severity=Severity.WARNING,
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_read(node: Node, written: str) -> bool:
    """Whether OpenVINO reads the attribute; it reads the axis of a broadcast only in mode pdpd."""
    mode, dot, _ = written.partition(".")
    if not dot:
        return True
    return mode in node.attributes and str(node.attributes[mode].value).lower() == "pdpd"


#: A help lists at most this many allowed values.
MOST_LISTED = 4


def _text_fault(
    written: str, text: str, remark: str, severity: Severity | None = None, allowed: Sequence[str] = ()
) -> Fault:
    otherwise = f"correct `{written}`"
    if 0 < len(allowed) <= MOST_LISTED:
        otherwise = f"write {wording.either(*(quoted([choice]) for choice in allowed))}"
    return ATTRIBUTE_VALUE.fault(
        f'attribute `{written}` is "{wording.shortened(text)}"; {remark}',
        help=f'write "{allowed[0]}"' if len(allowed) == 1 else did_you_mean(text, allowed, otherwise),
        attribute=written,
        severity=severity,
    )


def _is_foreign(node: Node, written: str, parameters: Mapping[str, str]) -> bool:
    """Whether an unknown attribute probably belongs to another operation, because no attribute has a similar name."""
    return not _in_another_version(node.op, written) and _closest(written, list(parameters)) is None


def _all_ignored(node: Node, foreign: list[str], parameters: Mapping[str, str]) -> Fault:
    if len(foreign) == 1:
        return _ignored(node, foreign[0], parameters)
    spelled = [f"`{written}`" for written in foreign]
    names = ", ".join(f"`{name}`" for name in parameters) or "none"
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attributes {', '.join(spelled[:-1])} and {spelled[-1]}, and OpenVINO ignores them; the operation has "
        f"{names}",
        help="remove them, or correct the type of the layer",
        attribute=foreign[0],
        severity=Severity.WARNING,
    )


def _ignored(node: Node, written: str, parameters: Mapping[str, str]) -> Fault:
    if _in_another_version(node.op, written):
        intended = version_advice(node) if len(node.outputs) > 1 else ""
        return UNKNOWN_ATTRIBUTE.fault(
            f"no attribute `{written}` in {node.version}, though in another version; OpenVINO ignores it",
            help=f"remove `{written}`" + f", or {intended}" * bool(intended),
            attribute=written,
            severity=Severity.NOTE,
        )
    names = ", ".join(f"`{name}`" for name in parameters) or "none"
    close = _closest(written, list(parameters))
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{written}`, and OpenVINO ignores it; the operation has {names}",
        help=f"remove `{written}`" if close is None else f"did you mean `{close}`?",
        attribute=written,
        severity=Severity.WARNING,
        role="" if close is None else "attribute",
        intended=close or "",
    )


def _closest(written: str, names: Sequence[str]) -> str | None:
    """The attribute that was probably intended, or None."""
    begun = [name for name in names if name.startswith(f"{written}_") or name.lower() == written.lower()]
    return closest(begun[0] if len(begun) == 1 else written, names)


def _phrase(value: object) -> str:
    """The value that OpenVINO uses for an absent attribute, as a phrase."""
    if value is None:
        return '"dynamic"'
    return "an empty list" if value == () else f'"{str(value).lower() if isinstance(value, bool) else value}"'


def _in_another_version(op: str, written: str) -> bool:
    return any(written in _attributes_of(operator) for operator in openvino_versions(op))


def version_advice(node: Node) -> str:
    """The help that names the first opset in which the operation has all attributes of a layer.

    "" if there is none, or if the version of the operation in the layer's opset is unknown or not earlier.
    """
    written = {name for name in node.attributes if "." not in name}
    number = str(node.version).removeprefix("opset")
    versions = openvino_versions(node.op)
    fitting = [operator.since for operator in versions if written <= _attributes_of(operator)]
    is_number = number.isdecimal() and len(number) <= len("999")
    own = [operator.since for operator in versions if is_number and operator.since <= int(number)]
    if not fitting or not own or min(fitting) <= max(own):
        return ""
    return f'write version="opset{min(fitting)}", which has all attributes of this layer'


def _attributes_of(operator: Operator) -> set[str]:
    return {operator.spelled.get(name, name) for name in signature(operator.function).attributes} | set(operator.legacy)
