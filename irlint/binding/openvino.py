"""From an IR layer to its operation: opset, arity, and attributes read from their texts as the library reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.binding.calls import (
    ATTRIBUTE_VALUE,
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    OPSET_LACKS_OPERATOR,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
    Call,
    choices,
    counts,
    did_you_mean,
    listed,
)
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.ops import Operator, openvino_operator, openvino_versions
from irlint.ops.signatures import REQUIRED, Signature, signature

_OPSET6_UNDER_OLD_LABELS = frozenset(
    [
        "grucell",
        "rnncell",
        "proposal",
        "experimentaldetectrondetectionoutput",
        "experimentaldetectrongenerateproposalssingleimage",
        "experimentaldetectronpriorgridgenerator",
        "experimentaldetectronroifeatureextractor",
        "experimentaldetectrontopkrois",
    ]
)
_OPSET2_UNDER_OPSET1 = frozenset({"mvn", "roipooling", "reorgyolo"})
NEWEST_OPSET = 17

#: Attributes that older writers put on an operation that has not got them.
LEGACY = {
    "Convolution": ("output_padding", "group", "kernel"),
    "GroupConvolution": ("output_padding", "group", "kernel"),
}

#: Attributes that the library reads as numbers of at least 0, by operation.
UNSIGNED = {"interpolate": ("pads_begin", "pads_end")}

#: Attributes whose texts the library compares letter for letter, by operation.
EXACT = {"roipooling": ("method",)}

#: What the library calls operations that its documents name otherwise.
NAMES = {
    "matrixnonmaxsuppression": "MatrixNms",
    "multiclassnonmaxsuppression": "MulticlassNms",
    "fillemptyrows": "SparseFillEmptyRows",
}

#: Operations of documents that are newer than the library.
LATER = frozenset({"atan2", "bincount", "randompoisson"})

#: Operations that the library makes for itself and reads from no file.
INTERNAL = frozenset({"augrucell", "augrusequence"})

#: Defaults of the specification that the library does not take, by operation and attribute.
DOCUMENTED: dict[tuple[str, str], object] = {
    ("softmax", "axis"): 1,
    ("regionyolo", "do_softmax"): True,
    ("ctcloss", "ctc_merge_repeated"): True,
    ("experimentaldetectronpriorgridgenerator", "flatten"): True,
    ("deformableconvolution", "group"): 1,
    ("deformableconvolution", "deformable_group"): 1,
    ("bucketize", "output_type"): "i64",
    ("psroipooling", "mode"): "average",
    ("psroipooling", "group_size"): 1,
}

#: The operations of these that the library refuses without the attribute.
REFUSED = frozenset({"deformableconvolution", "bucketize", "psroipooling"})

#: Attributes that writers put on any layer, and that no reader heeds.
HARMLESS = frozenset(
    ["PrimitivesPriority", "cacheable", "originalLayersNames", "InputMemoryFormats", "OutputMemoryFormats", "execOrder"]
)


#: What a layer's ``version`` says where an extension registers the operation.
EXTENSIONS = frozenset(["extension", "experimental", "custom", "ie_internal_opset", "type_relaxed_opset", "util"])


def opset_number(node: Node) -> int | None:
    """The opset that a layer's ``version`` names, None where the library knows no such opset."""
    label = str(node.version)
    if label in ("experimental", "extension") and node.op.lower() in _OPSET6_UNDER_OLD_LABELS:
        return 6
    if not label.startswith("opset") or not label[5:].isdecimal():
        return None
    number = int(label[5:])
    if label != f"opset{number}":
        return None
    if number == 1 and node.op.lower() in _OPSET2_UNDER_OPSET1:
        return 2
    return number if 1 <= number <= NEWEST_OPSET else None


#: Sound calls by what they depend on: a model has many layers of one operation with the same attributes.
_sound: dict[tuple[object, ...], Call] = {}
MAX_REMEMBERED = 10_000


def openvino_call(node: Node) -> tuple[Call, list[Fault]]:
    """The operation at its opset, with what was bound to its parameters, and the faults of binding it."""
    texts = [(name, each.value) for name, each in node.attributes.items() if each.kind == "TEXT"]
    if len(texts) < len(node.attributes):
        return _bound(node)
    key = (node.op, node.version, *[value is None for value in node.inputs], *texts)
    known = _sound.get(key)
    if known is not None:
        return known, []
    call, faults = _bound(node)
    if not faults and len(_sound) < MAX_REMEMBERED:
        _sound[key] = call
    return call, faults


def _bound(node: Node) -> tuple[Call, list[Fault]]:
    number = opset_number(node)
    if number is None:
        return Call(node.op, 0, broken=True), [] if node.version is None else [_unknown_opset(node)]
    operator = openvino_operator(node.op, number)
    if operator is None or (operator.name == "Const" and node.op != "Const"):
        return Call(node.op, number, broken=True), [_unknown_operation(node, number)]
    known = signature(operator.function)
    faults = _openvino_arity(node, known)
    attributes, attribute_faults = _openvino_attributes(node, operator, known)
    faults += attribute_faults
    broken = any(fault.severity is Severity.ERROR for fault in faults)
    return Call(operator.name, number, operator=operator, signature=known, attributes=attributes, broken=broken), faults


def _unknown_opset(node: Node) -> Fault:
    label = str(node.version)
    foreign = not label.lower().startswith("opset") and (label in EXTENSIONS or not openvino_versions(node.op))
    if foreign and node.op not in ("Parameter", "Result", "Const"):
        return CUSTOM_OPERATOR.fault(
            f'no rule for this operation of "{node.version}": its outputs are taken as the file declares them',
            help="give OpenVINO the extension that registers this operation",
        )
    return UNKNOWN_OPERATOR.fault(
        f'the operation is of "{node.version}"; OpenVINO knows opset1 to opset{NEWEST_OPSET}',
        help="write the opset that has the operation",
    )


def _unknown_operation(node: Node, number: int) -> Fault:
    versions = openvino_versions(node.op) if node.op.lower() != "const" else ()
    if not versions:
        return UNKNOWN_OPERATOR.fault("no opset of OpenVINO has an operation of this name", help=_in_its_place(node.op))
    ranges = sorted({(operator.since, operator.until or NEWEST_OPSET) for operator in versions})
    text = ", ".join(f"opset{low}" if low == high else f"opset{low} to opset{high}" for low, high in ranges)
    return OPSET_LACKS_OPERATOR.fault(
        f"opset{number} has no such operation; it is in {text}", help=f'write version="opset{ranges[-1][0]}"'
    )


def _in_its_place(op: str) -> str:
    """What to write for an operation's type that no opset has."""
    from irlint.ops import tables

    if op.lower() in INTERNAL:
        return "write the operations that it stands for: OpenVINO makes this one for itself, and reads it from no file"
    if op.lower() in LATER:
        return "write the operation with others: it came after OpenVINO 2026.4, whose operations irlint knows"
    if op.lower() in NAMES:
        return f"write `{NAMES[op.lower()]}`, as OpenVINO calls this operation"
    names = [operators[0].name for operators in tables()[1].values()]
    return did_you_mean(op, names, "correct the type, or give the version as `extension`")


def _openvino_arity(node: Node, known: Signature) -> list[Fault]:
    count = len(node.inputs)
    while count and node.inputs[count - 1] is None:
        count -= 1
    highest = 1 << 30 if known.variadic else len(known.inputs)
    lowest = known.required + (1 if known.variadic and not known.inputs else 0)
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
        return [
            INPUT_COUNT.fault(
                f"{counted(count, 'input')}; the operation takes {counts(lowest, highest)} ({names})",
                help=f"remove the inputs from index {highest} on",
                input=highest,
            )
        ]
    return []


def _openvino_attributes(node: Node, operator: Operator, known: Signature) -> tuple[dict[str, Any], list[Fault]]:
    arguments: dict[str, Any] = {}
    faults: list[Fault] = []
    parameters = {operator.spelled.get(name, name): name for name in known.attributes}
    strange: list[str] = []
    misread: set[str] = set()
    for written, attribute in node.attributes.items():
        name = parameters.get(written)
        if name is None:
            if attribute.kind == "TEXT" and written not in HARMLESS:
                strange.append(written)
            continue
        if attribute.kind != "TEXT":
            arguments[name] = attribute.value
            continue
        try:
            value, remark = _read_text(attribute.value, known.attributes[name][0], operator, written)
        except ValueError as error:
            ignored = None if _is_read(node, written) else Severity.WARNING
            allowed = _allowed(attribute.value, known.attributes[name][0], operator)
            faults.append(_misread(written, attribute.value, str(error), ignored, allowed))
            misread.add(name)
            continue
        if remark:
            faults.append(_misread(written, attribute.value, remark, Severity.WARNING))
        arguments[name] = _library_default(operator, known, name) if value is None else value
    missing: list[str] = []
    for name, (_, default) in known.attributes.items():
        if name in arguments:
            continue
        if name in operator.absent:
            arguments[name] = operator.absent[name]
        documented = None if name in misread else _documented(operator, name, known, strange)
        if documented is not None:
            faults.append(documented)
            if operator.name.lower() in REFUSED:
                arguments[name] = DOCUMENTED[operator.name.lower(), name]
            continue
        if name not in misread and (name in operator.absent or default is REQUIRED):
            missing.append(name)
    if node.op != "Const":
        faults += _unwritten(node, operator, parameters, missing, strange)
    return arguments, faults


def _unwritten(
    node: Node, operator: Operator, parameters: Mapping[str, str], missing: list[str], strange: list[str]
) -> list[Fault]:
    """The faults for required attributes that are missing and for attributes that the operation has not got.

    One that is the misspelling of another is told once; all that are missing, or of other operations, are told together.
    """
    faults = []
    foreign = []
    for written in strange:
        meant = _meant(written, operator, parameters, missing, strange)
        if meant is not None:
            missing.remove(meant)
            faults.append(_misspelled(written, operator, meant))
        elif len(strange) > 1 and _is_foreign(node, written, parameters):
            foreign.append(written)
        else:
            faults.append(_ignored(node, written, parameters))
    if foreign:
        faults.append(_all_ignored(node, foreign, parameters))
    refused = [name for name in missing if name not in operator.absent]
    for names in (refused, [name for name in missing if name in operator.absent]):
        if names:
            faults.append(_missing(operator, names))
    return faults


def _meant(
    written: str, operator: Operator, parameters: Mapping[str, str], missing: list[str], strange: list[str]
) -> str | None:
    """The missing attribute that an unknown one stands for: the closest, or the only one beside the only unknown one."""
    from difflib import get_close_matches

    spelled = {operator.spelled.get(name, name).lower(): name for name in missing}
    close = get_close_matches(written.lower(), sorted(spelled), n=1, cutoff=0.6)
    if close:
        return spelled[close[0]]
    elsewhere = written in LEGACY.get(operator.name, ()) or _in_another_version(operator.name, written)
    return missing[0] if len(missing) == len(strange) == 1 and not elsewhere else None


def _misspelled(written: str, operator: Operator, meant: str) -> Fault:
    spelled = operator.spelled.get(meant, meant)
    taken = f", and OpenVINO takes {_absent(operator.absent[meant])} for it" if meant in operator.absent else ""
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{written}`, and OpenVINO ignores it; the required attribute `{spelled}` is missing{taken}",
        help=f"did you mean `{spelled}`?",
        attribute=written,
        severity=Severity.WARNING if meant in operator.absent else Severity.ERROR,
    )


def _missing(operator: Operator, names: list[str]) -> Fault:
    """The fault of required attributes that are missing: an error where OpenVINO takes nothing for them."""
    spelled = [f"`{operator.spelled.get(name, name)}`" for name in names]
    listed = " and ".join([", ".join(spelled[:-1])] * (len(spelled) > 1) + spelled[-1:])
    some = f"the required attribute {listed} is" if len(names) == 1 else f"the required attributes {listed} are"
    if names[0] not in operator.absent:
        return MISSING_ATTRIBUTE.fault(
            f"{some} missing", help=f"write {listed}", attribute=operator.spelled.get(names[0], names[0])
        )
    taken = ", ".join(_absent(operator.absent[name]) for name in names)
    return MISSING_ATTRIBUTE.fault(
        f"{some} missing; OpenVINO takes {taken} for {'it' if len(names) == 1 else 'them'}",
        help=f"write {listed}",
        attribute=operator.spelled.get(names[0], names[0]),
        severity=Severity.WARNING,
    )


def _documented(operator: Operator, name: str, known: Signature, strange: list[str]) -> Fault | None:
    """The warning about an absent attribute whose default only the specification knows.

    None for other attributes, and where one of the ``strange`` ones is its misspelling.
    """
    default = DOCUMENTED.get((operator.name.lower(), name))
    if default is None or (known.attributes[name][1] is not REQUIRED and name not in operator.absent):
        return None
    if did_you_mean(name, strange, ""):
        return None
    refused = operator.name.lower() in REFUSED
    taken = "refuses the layer" if refused else f"takes {_shown(operator.absent[name])}"
    return MISSING_ATTRIBUTE.fault(
        f"attribute `{name}` is absent: the specification takes {_shown(default)} then, and OpenVINO {taken}",
        help=f'write {name}="{_shown(default)}"',
        attribute=name,
        severity=Severity.WARNING,
    )


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_read(node: Node, written: str) -> bool:
    """Whether the library reads an attribute: the axis of a broadcast only where its mode is pdpd."""
    mode, dot, _ = written.partition(".")
    if not dot:
        return True
    return mode in node.attributes and str(node.attributes[mode].value).lower() == "pdpd"


def _allowed(text: str, annotation: str, operator: Operator) -> list[str]:
    """The texts that an attribute may have; of the names of element types the one that ``text`` stands for."""
    if not annotation.startswith("DType"):
        return [each for each in choices(annotation, operator.function) if isinstance(each, str)]
    from irlint.parsers.openvino.types import renamed_type

    name = renamed_type(text)
    return [name] if name else []


def _misread(
    written: str, text: str, remark: str, severity: Severity | None = None, allowed: Sequence[str] = ()
) -> Fault:
    return ATTRIBUTE_VALUE.fault(
        f'attribute `{written}` is "{text}"; {remark}',
        help=f'write "{allowed[0]}"' if len(allowed) == 1 else did_you_mean(text, allowed, f"correct `{written}`"),
        attribute=written,
        severity=severity,
    )


def _library_default(operator: Operator, known: Signature, name: str) -> Any:
    """What the library takes for an attribute whose text it passes over."""
    default = operator.absent.get(name, known.attributes[name][1])
    return None if default is REQUIRED else default


def _is_foreign(node: Node, written: str, parameters: Mapping[str, str]) -> bool:
    """Whether an attribute is one of another operation, and no misspelling."""
    known = written in LEGACY.get(node.op, ()) or _in_another_version(node.op, written)
    return not known and not _closest(written, list(parameters)).startswith("did you mean")


def _all_ignored(node: Node, foreign: list[str], parameters: Mapping[str, str]) -> Fault:
    if len(foreign) == 1:
        return _ignored(node, foreign[0], parameters)
    spelled = [f"`{written}`" for written in foreign]
    names = ", ".join(f"`{name}`" for name in parameters) or "none"
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attributes {', '.join(spelled[:-1])} and {spelled[-1]}, and OpenVINO ignores them; the operation has {names}",
        help="remove them, or correct the type of the layer",
        attribute=foreign[0],
        severity=Severity.WARNING,
    )


def _ignored(node: Node, written: str, parameters: Mapping[str, str]) -> Fault:
    if written in LEGACY.get(node.op, ()) or _in_another_version(node.op, written):
        return UNKNOWN_ATTRIBUTE.fault(
            f"no attribute `{written}` in {node.version}, though in another version; OpenVINO ignores it",
            help=f"remove `{written}`",
            attribute=written,
            severity=Severity.NOTE,
        )
    names = ", ".join(f"`{name}`" for name in parameters) or "none"
    return UNKNOWN_ATTRIBUTE.fault(
        f"no attribute `{written}`, and OpenVINO ignores it; the operation has {names}",
        help=_closest(written, list(parameters)),
        attribute=written,
        severity=Severity.WARNING,
    )


def _closest(written: str, names: Sequence[str]) -> str:
    """The help for an attribute that the operation has not got: the one name that it begins or has in another case, or the closest one."""
    begun = [name for name in names if name.startswith(f"{written}_") or name.lower() == written.lower()]
    return did_you_mean(begun[0] if len(begun) == 1 else written, names, f"remove `{written}`")


def _absent(value: object) -> str:
    """A value that stands for an attribute that is not written, in words."""
    if value is None:
        return '"dynamic"'
    return "an empty list" if value == () else f'"{str(value).lower() if isinstance(value, bool) else value}"'


def _in_another_version(op: str, written: str) -> bool:
    """Whether some version of the operation has the attribute: writers put it on the others as well."""
    return any(
        written in {operator.spelled.get(name, name) for name in signature(operator.function).attributes}
        for operator in openvino_versions(op)
    )


def _read_text(text: str, annotation: str, operator: Operator, written: str) -> tuple[Any, str]:
    """An IR attribute's text as the parameter's annotation says, and what the library passes over in it, "" for nothing.

    The value is None where the library passes over all of it. Raises ValueError where it refuses the text.
    """
    kind = annotation.removesuffix(" | None")
    if kind in ("int", "float"):
        return _number(text, kind)
    if kind == "bool":
        return _truth(text)
    if kind in ("Ints", "Floats"):
        unsigned = written in UNSIGNED.get(operator.name.lower(), ())
        parts = text.split(",") if text.strip() else []
        read = [_number(part, "int" if kind == "Ints" else "float", unsigned) for part in parts]
        return tuple(value for value, _ in read), next((remark for _, remark in read if remark), "")
    if kind == "DType":
        from irlint.parsers.openvino.types import element_type

        return element_type(text), ""
    allowed = choices(kind, operator.function)
    if allowed:
        lowered = {choice.lower(): choice for choice in allowed}
        exact = written in EXACT.get(operator.name.lower(), ())
        if text.lower() not in lowered or (exact and text not in allowed):
            raise ValueError(f"it has to be one of {listed(allowed)}{', letter for letter' if exact else ''}")
        return lowered[text.lower()], ""
    return text, ""


def _truth(text: str) -> tuple[bool | None, str]:
    if text.lower() in ("true", "1"):
        return True, ""
    if text.lower() in ("false", "0"):
        return False, ""
    return None, "it has to be true or false, and OpenVINO passes over anything else"


def _number(text: str, kind: str, unsigned: bool = False) -> tuple[int | float, str]:
    """The number that a text begins with; an ``int`` has no plus sign, and an unsigned one no minus sign either."""
    stripped = text.lstrip()
    end = len(stripped)
    while end and (number := _whole(stripped, end) if kind == "int" else _real(stripped, end)) is None:
        end -= 1
    if not end or (kind == "int" and not -(2**63) <= number < 2**63):  # type: ignore[operator]
        raise ValueError("it has to be a whole number" if kind == "int" else "it has to be a number")
    if unsigned and stripped.startswith("-"):
        raise ValueError("it has to be a whole number of at least 0")
    assert number is not None
    return number, "" if not stripped[end:].strip() else f"OpenVINO reads {number} and passes over the rest"


def _whole(text: str, end: int) -> int | None:
    digits = text[1:end] if text.startswith("-") else text[:end]
    return int(text[:end]) if digits.isascii() and digits.isdecimal() else None


def _real(text: str, end: int) -> float | None:
    try:
        return float(text[:end]) if "_" not in text[:end] else None
    except ValueError:
        return None
