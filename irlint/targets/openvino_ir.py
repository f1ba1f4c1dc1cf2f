"""Which releases of OpenVINO read an IR: its version, the operations of its layers by opset, and its element types."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.inference.known import Known
from irlint.ops.index import OPENVINO
from irlint.targets import tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    IR_VERSION_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.tables import spans
from irlint.targets.uses import Use, uses

NAME = "openvino"

#: Whether the releases were asked themselves.
MEASURED = True

#: The furthest stage that was measured.
STAGE = "read"

#: Element types that IRs name otherwise.
_NAMES = {
    "bool": "boolean",
    "bfloat16": "bf16",
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8e4m3",
    "float8_e5m2": "f8e5m2",
    "float8_e8m0": "f8e8m0",
    "float4_e2m1": "f4e2m1",
}

_KNOWN = frozenset(name.lower() for name in OPENVINO)


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of OpenVINO, given as bits, have against an IR, which has no opset."""
    found = [Reason(having, objection) for having, objection in _version(known, releases)]
    types: dict[str, Use] = {}
    for use in uses(known, opset=opset):
        found += [Reason(having, objection, use) for having, objection in _operation(use, releases)]
        found += [Reason(having, objection, use) for having, objection in _forms(use, releases)]
        for name in use.outputs:
            if name:
                types.setdefault(name, use)
    found += [reason for name, use in types.items() for reason in _type(name, use, releases)]
    return found


def _version(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    version = known.model.format_version
    refusing = releases & ~tables.holds(NAME, f"ir-version {version}")
    if version is not None and refusing:
        text = f"IR version {version}; the release reads 10 and 11"
        yield refusing, Objection(IR_VERSION_NOT_IN_RELEASE, text, "write the IR with version 11")


def _operation(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    node = use.node
    opset = str(use.version)
    having = tables.holds(NAME, f"ir {node.op.lower()} {opset}")
    refusing = releases & ~having
    if not refusing:
        return
    if not opset.startswith("opset") or node.op.lower() not in _KNOWN:
        text = f"an operation of `{opset}`, which a release reads where an extension is registered"
        yield refusing, Objection(TARGET_NOT_KNOWN, text, "register the extension, and read the model once")
    elif having:
        text = f"not in {opset} of the release; {spans(NAME, having)} it there"
        earlier = _earlier(node.op, opset, refusing)
        advice = f"write the layer as one of {earlier}" if earlier else "use one of these releases"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, advice)
    else:
        text = f"no release that was measured has it in {opset}"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, "write the layer as one of an opset that has it")


def _forms(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """Forms of layers that releases do not read."""
    refusing = releases & ~tables.holds(NAME, "ir-form zero-size")
    if refusing and use.node.op == "Parameter" and any(0 in (each.type.shape or ()) for each in use.node.output_ports):
        text = "has a size of 0, which the release does not read"
        yield refusing, Objection(RESTRICTED_IN_RELEASE, text, "declare it with another size")
    refusing = releases & ~tables.holds(NAME, "onnx-form Resize.f64")
    if refusing and use.node.op == "Interpolate" and use.inputs[:1] == ("float64",):
        yield refusing, Objection(RESTRICTED_IN_RELEASE, "the release does not read it with f64", "convert to f32")


def _earlier(op: str, opset: str, refusing: int) -> str:
    """The latest opset before, in which every refusing release has an operation of this name; "" for none."""
    number = opset.removeprefix("opset")
    if not number.isdecimal():
        return ""
    names = (f"opset{each}" for each in range(int(number) - 1, 0, -1))
    return next((each for each in names if refusing & ~tables.holds(NAME, f"ir {op.lower()} {each}") == 0), "")


def _type(name: str, use: Use, releases: int) -> Iterator[Reason]:
    spelled = _NAMES.get(name) or name.replace("uint", "u").replace("int", "i")
    having = tables.holds(NAME, f"type {spelled}")
    refusing = releases & ~having
    if refusing:
        later = f"; {spans(NAME, having)} it" if having else ""
        text = f"gives {spelled}, an element type that the release does not have{later}"
        yield Reason(refusing, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, "use another element type"), use)
