"""What the vendor's list says of ONNX operators on releases of TensorRT: which there are, their types, and their
conditions."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.inference.known import Known
from irlint.schemas import OFFICIAL_DOMAINS
from irlint.targets import tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    OPSET_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.tables import spans
from irlint.targets.tensorrt_conditions import CONDITIONS, apart
from irlint.targets.uses import LEFT_OUT, Use, uses

NAME = "tensorrt"

#: The releases were not asked: their vendor's page ``docs/operators.md`` of onnx-tensorrt was.
MEASURED = False

#: Element types by the names that the page gives them; the list says that it takes float64 as float32.
_NAMES = {
    "float32": "FP32",
    "float64": "FP32",
    "float16": "FP16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "FP8",
    "float4_e2m1": "FP4",
    "int4": "INT4",
    "int8": "INT8",
    "uint8": "UINT8",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
}


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of TensorRT, given as bits, have against an ONNX model by their vendor's list; ``opset`` stands for
    that of its nodes."""
    found = [Reason(having, objection) for having, objection in _opset(known, releases)]
    for use in uses(known, lambda use: apart(use.node), opset):
        if use.certain:
            found += [Reason(having, objection, use) for having, objection in objections(use, releases)]
    return found


def _opset(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    version = known.model.opsets.get("")
    refusing = releases & ~tables.holds(NAME, f"opset {version}")
    if version is None or not refusing:
        return
    for limit in dict.fromkeys(tables.greatest(NAME, "opset ")):
        mine = sum(1 << at for at, each in enumerate(tables.greatest(NAME, "opset ")) if each == limit) & refusing
        if mine:
            below = "at least 9" if version < limit else f"{limit} at most"
            text = f"opset {version} of ai.onnx; the vendor's list says {below}"
            yield mine, Objection(OPSET_NOT_IN_RELEASE, text, f"write the model at opset {max(9, min(version, limit))}")


def objections(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """What the list has against an operator."""
    node = use.node
    if node.domain:
        if node.domain not in OFFICIAL_DOMAINS:
            text = "a custom operator, which a release takes where a plugin is registered"
            yield releases, Objection(TARGET_NOT_KNOWN, text, "register the plugin, and build the engine once")
        else:
            text = f"the vendor's list has no operators of {node.domain}"
            yield releases, Objection(OPERATOR_NOT_IN_RELEASE, text, "write it with operators of ai.onnx")
        return
    having = tables.holds(NAME, f"op {node.op}")
    refusing = releases & ~having
    if refusing:
        text = (
            f"the vendor's list says that it is not supported; {spans(NAME, having)} it"
            if having
            else "not in the vendor's list of supported operators"
        )
        advice = (
            "use one of these releases, a plugin or other operators" if having else "use a plugin or other operators"
        )
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, advice)
    yield from _types(use, releases & having)
    yield from _conditions(use, releases & having)


def _types(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    """Whether the list has the element type of the first input, or of the output where there is none."""
    known = next((each for each in use.inputs or use.outputs if each != LEFT_OUT), None)
    if not known:
        return
    name = _NAMES.get(known, known)
    listed = 0
    allowed: dict[str, int] = {}
    for each, having in tables.facts(NAME, f"type {use.node.op} "):
        listed |= having
        allowed[each] = having
    taking = allowed.get(name, 0)
    if name == "INT64":
        taking |= allowed.get("INT32", 0) & tables.holds(NAME, "casts INT64")
    refusing = releases & listed & ~taking
    if refusing:
        names = [each for each, having in allowed.items() if having & refusing]
        text = f"{known} is not among the types of the vendor's list" + (
            f"; {spans(NAME, taking)} it" if taking else ""
        )
        yield refusing, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, f"cast to one that is: {', '.join(names)}")


def _conditions(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    for sentence, having in tables.facts(NAME, f"restriction {use.node.op} "):
        mine = releases & having
        breaks = CONDITIONS.get(sentence)
        if not mine or breaks is None:
            continue
        answer = breaks(use)
        if answer:
            text = f"the vendor's list says: {sentence}"
            yield mine, Objection(RESTRICTED_IN_RELEASE, text, "keep this condition")
        elif answer is None:
            text = f"whether the condition of the vendor's list holds is not known: {sentence}"
            yield mine, Objection(TARGET_NOT_KNOWN, text, "build the engine once")
