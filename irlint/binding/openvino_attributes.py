"""Assigns the attributes of an IR layer to its operation, and finds wrong, missing and misspelled ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.binding.calls import ATTRIBUTE_VALUE, MISSING_ATTRIBUTE, UNKNOWN_ATTRIBUTE, closest, did_you_mean
from irlint.binding.openvino_texts import allowed_texts, read_text
from irlint.findings import wording
from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.ops import Operator, openvino_versions
from irlint.ops.signatures import REQUIRED, Signature, signature
from irlint.records import record

#: Attributes that tools write into any layer and that no runtime reads.
HARMLESS = frozenset(
    ["PrimitivesPriority", "cacheable", "originalLayersNames", "InputMemoryFormats", "OutputMemoryFormats", "execOrder"]
)


@record
class Reading:
    """The attributes of a layer after they are read.

    ``parameters`` maps attributes of the operation to parameters of its rule, and ``arguments`` maps parameters to
    values. ``misread`` are the parameters whose texts OpenVINO refuses, and ``unknown`` the attributes that the
    operation does not have. ``faults`` are the faults of the texts.
    """

    parameters: Mapping[str, str]
    arguments: dict[str, Any]
    misread: set[str]
    unknown: list[str]
    faults: list[Fault]


def openvino_attributes(node: Node, operator: Operator, known: Signature) -> tuple[dict[str, Any], list[Fault]]:
    """The arguments for the operation's rule, and the faults of the attributes."""
    reading = _reading(node, operator, known)
    arguments, faults = reading.arguments, reading.faults
    missing: list[str] = []
    for name, (_, default) in known.attributes.items():
        if name in arguments:
            continue
        if name in operator.absent:
            arguments[name] = operator.absent[name]
        documented = None if name in reading.misread else _documented(operator, name, known, reading.unknown)
        if documented is not None:
            faults.append(documented)
            if name in operator.refused_without:
                arguments[name] = operator.refused_without[name]
        elif name not in reading.misread and (name in operator.absent or default is REQUIRED):
            missing.append(name)
    if node.op != "Const":
        faults += _unwritten(node, operator, reading, missing)
    return arguments, faults


def _reading(node: Node, operator: Operator, known: Signature) -> Reading:
    parameters = {operator.spelled.get(name, name): name for name in known.attributes}
    reading = Reading(parameters, {}, set(), [], [])
    for written, attribute in node.attributes.items():
        name = parameters.get(written)
        if name is None:
            if attribute.kind == "TEXT" and written not in HARMLESS:
                reading.unknown.append(written)
        elif attribute.kind != "TEXT":
            reading.arguments[name] = attribute.value
        else:
            _read(node, written, name, operator, known, reading)
    return reading


def _read(node: Node, written: str, name: str, operator: Operator, known: Signature, reading: Reading) -> None:
    """Adds the value of one attribute's text to ``reading``, or its fault."""
    text, (annotation, default) = node.attributes[written].value, known.attributes[name]
    try:
        value, remark = read_text(text, name, annotation, operator)
    except ValueError as error:
        ignored = None if _is_read(node, written) else Severity.WARNING
        fault = _misread(written, text, str(error), ignored, allowed_texts(text, annotation, operator))
        reading.faults.append(fault.changed(refused=ignored is None))
        reading.misread.add(name)
        return
    if remark:
        reading.faults.append(_misread(written, text, remark, Severity.WARNING))
    if value is None and not annotation.startswith("DType"):
        value = operator.absent.get(name, None if default is REQUIRED else default)
    reading.arguments[name] = value


def _unwritten(node: Node, operator: Operator, reading: Reading, missing: list[str]) -> list[Fault]:
    """The faults of missing required attributes and of attributes that the operation does not have.

    A misspelled attribute results in one fault. There is one fault for all missing attributes, and one for all
    attributes of other operations.
    """
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
    for names in (refused, [name for name in missing if name in operator.absent]):
        if names:
            faults.append(_missing(node, operator, names))
    return faults


def _intended(written: str, operator: Operator, missing: list[str], unknown: list[str]) -> str | None:
    """The missing attribute for which ``written`` is probably a misspelling, or None.

    It is the closest one. If one attribute is missing and one is unknown, it is the missing one.
    """
    spelled = {operator.spelled.get(name, name).lower(): name for name in missing}
    close = wording.closest(written.lower(), sorted(spelled))
    if close is not None:
        return spelled[close]
    if len(missing) == len(unknown) == 1 and not _in_another_version(operator.name, written):
        return missing[0]
    return None


def _misspelled(node: Node, written: str, operator: Operator, intended: str) -> Fault:
    spelled = operator.spelled.get(intended, intended)
    passed = intended in operator.absent and not _is_needed(node, operator)
    taken = f", and OpenVINO uses {_absent(operator.absent[intended])} for it" if passed else ""
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{written}`, and OpenVINO ignores it; the required attribute `{spelled}` is missing{taken}",
        help=f"did you mean `{spelled}`?",
        attribute=written,
        role="attribute",
        severity=Severity.WARNING if passed else Severity.ERROR,
        stage="compile" if intended in operator.absent and not passed else "load",
        intended=spelled,
    )


def _is_needed(node: Node, operator: Operator) -> bool:
    return operator.needed is not None and operator.needed(node)


def _missing(node: Node, operator: Operator, names: list[str]) -> Fault:
    """The fault of missing required attributes; a warning if OpenVINO uses a value of its own for them."""
    spelled = [f"`{operator.spelled.get(name, name)}`" for name in names]
    listed = " and ".join([", ".join(spelled[:-1])] * (len(spelled) > 1) + spelled[-1:])
    some = f"the required attribute {listed} is" if len(names) == 1 else f"the required attributes {listed} are"
    if names[0] not in operator.absent or _is_needed(node, operator):
        return MISSING_ATTRIBUTE.fault(
            f"{some} missing",
            help=f"write {listed}",
            attribute=operator.spelled.get(names[0], names[0]),
            stage="compile" if names[0] in operator.absent else "load",
        )
    values = [
        '"", the shape of a scalar,'
        if (name, operator.absent[name]) == ("shape", "")
        else _absent(operator.absent[name])
        for name in names
    ]
    one = len(names) > 1 and len(set(values)) == 1
    taken = f"{values[0]} for each of them" if one else f"{', '.join(values)} for {'it' if len(names) == 1 else 'them'}"
    return MISSING_ATTRIBUTE.fault(
        f"{some} missing; OpenVINO uses {taken}",
        help=f"write {listed}",
        attribute=operator.spelled.get(names[0], names[0]),
        severity=Severity.WARNING,
    )


def _documented(operator: Operator, name: str, known: Signature, unknown: list[str]) -> Fault | None:
    """The warning about an absent attribute whose default only the specification has; OpenVINO does not use it.

    None for other attributes, and if one of the ``unknown`` attributes is a misspelling of this one.
    """
    refused = name in operator.refused_without
    default = operator.refused_without.get(name, operator.documented.get(name))
    if default is None or (known.attributes[name][1] is not REQUIRED and name not in operator.absent):
        return None
    if did_you_mean(name, unknown, ""):
        return None
    taken = "refuses the layer" if refused else f"takes {_shown(operator.absent[name])}"
    return MISSING_ATTRIBUTE.fault(
        f"attribute `{name}` is absent: its default is {_shown(default)} in the specification, but OpenVINO {taken}",
        help=f'write {name}="{_shown(default)}"',
        attribute=name,
        severity=Severity.WARNING,
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_read(node: Node, written: str) -> bool:
    """Whether OpenVINO reads an attribute: it reads the axis of a broadcast only if its mode is pdpd."""
    mode, dot, _ = written.partition(".")
    if not dot:
        return True
    return mode in node.attributes and str(node.attributes[mode].value).lower() == "pdpd"


#: The largest number of allowed values that a message lists.
FEW = 4


def _quoted(text: str) -> str:
    return f'"{text}"'


def _misread(
    written: str, text: str, remark: str, severity: Severity | None = None, allowed: Sequence[str] = ()
) -> Fault:
    few = 0 < len(allowed) <= FEW
    otherwise = f"write {wording.either(*map(_quoted, allowed))}" if few else f"correct `{written}`"
    return ATTRIBUTE_VALUE.fault(
        f'attribute `{written}` is "{wording.shortened(text)}"; {remark}',
        help=f'write "{allowed[0]}"' if len(allowed) == 1 else did_you_mean(text, allowed, otherwise),
        attribute=written,
        severity=severity,
    )


def _is_foreign(node: Node, written: str, parameters: Mapping[str, str]) -> bool:
    """Whether an attribute belongs to another operation and is not a misspelling."""
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
        intended = meant_version(node) if len(node.outputs) > 1 else ""
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
    """The attribute in ``names`` that an unknown one probably is: one in another case, a longer form, or the
    closest."""
    begun = [name for name in names if name.startswith(f"{written}_") or name.lower() == written.lower()]
    return closest(begun[0] if len(begun) == 1 else written, names)


def _absent(value: object) -> str:
    """The value that OpenVINO uses for an absent attribute, as a phrase."""
    if value is None:
        return '"dynamic"'
    return "an empty list" if value == () else f'"{str(value).lower() if isinstance(value, bool) else value}"'


def _in_another_version(op: str, written: str) -> bool:
    """Whether some version of the operation has or had the attribute; tools write it into the other versions, too."""
    return any(written in _attributes_of(operator) for operator in openvino_versions(op))


def meant_version(node: Node) -> str:
    """The help for a layer whose attributes all belong to a later version of its operation: to write that version.

    "" if its own version has them, or if no version does.
    """
    written = {name for name in node.attributes if "." not in name}
    number = str(node.version).removeprefix("opset")
    versions = openvino_versions(node.op)
    fitting = [each.since for each in versions if written <= _attributes_of(each)]
    own = [each.since for each in versions if number.isdigit() and each.since <= int(number)]
    if not fitting or not own or min(fitting) <= max(own):
        return ""
    return f'write version="opset{min(fitting)}", which has all attributes of this layer'


def _attributes_of(operator: Operator) -> set[str]:
    return {operator.spelled.get(name, name) for name in signature(operator.function).attributes} | set(operator.legacy)
