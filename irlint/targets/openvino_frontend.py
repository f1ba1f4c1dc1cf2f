"""Which releases of OpenVINO read an ONNX model: the converters of its front end, element types, and forms of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.inference.known import Known
from irlint.model.order import graphs
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS, official_versions
from irlint.targets import openvino_forms, openvino_nodes, openvino_shapes, tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
)
from irlint.targets.uses import Use, element_type, uses
from irlint.targets.verdicts import Reason, spans

NAME = "openvino"

#: Whether the releases were asked themselves, and the rules whose errors they refuse a model for when they read it, some only of one
#: operator: the front end passes over much that a model may not have.
MEASURED = True
REFUSES = frozenset({"IRL336", "IRL390", "IRL402"}) | {
    "IRL300 Concat",
    "IRL401 BiasGelu",
    "IRL401 DynamicQuantizeLinear",
    "IRL503 Pad",
    "IRL504 DepthToSpace",
    "IRL504 SpaceToDepth",
    "IRL503 Slice",
    "IRL507 Slice",
    "IRL507 Unsqueeze",
}

#: Domains with one version, of which the front end has converters.
OTHER_DOMAINS = {
    "ai.onnx.ml": 3,
    "ai.onnx.preview": 1,
    MICROSOFT: 1,
    "ai.onnx.preview.training": 1,
    "org.openvinotoolkit": 1,
}


passes = openvino_nodes.passes


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of OpenVINO, given as bits, have against an ONNX model; ``opset`` stands for that of its nodes."""
    asked = openvino_nodes.Questions(known)
    every = uses(known, lambda node: id(node) if node.op in openvino_forms.FORMS else asked.apart(node), opset)
    found = [
        Reason(having, objection) for having, objection in (*_whole(known, releases), *_types(known, every, releases))
    ]
    found += [Reason(having, objection) for having, objection in openvino_shapes.objections(known, releases, opset)]
    for use in every:
        found += [Reason(having, objection, use) for having, objection in _converter(use, releases)]
        left = releases
        for having, objection in openvino_forms.objections(use, releases):
            found.append(Reason(having, objection, use))
            left &= ~having
        found += [Reason(having, objection, use) for having, objection in asked.objections(use, left)]
    return found


def _whole(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    refusing = releases & ~tables.holds(NAME, "onnx-form local-function")
    called = {call.function for call in known.calls.values() if call.function is not None}
    if called and refusing:
        text = f"{len(called)} of its own functions are called; the release does not read calls of such functions"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, "inline them with onnx.inliner.inline_local_functions")


def _types(known: Known, found: Sequence[Use], releases: int) -> Iterator[tuple[int, Objection]]:
    """Element types of values that a release does not read."""
    names: dict[str, None] = {}
    for graph in graphs(known.model):
        for value in (*graph.inputs, *graph.constants):
            names[element_type(known.types, value) or ""] = None
    for use in found:
        names.update((name or "", None) for name in use.outputs)
    for name in names:
        if not name or "(" in name:
            continue
        having = tables.holds(NAME, f"onnx-type {name}")
        refusing = releases & ~having
        if refusing:
            later = f"; {spans(NAME, having)} it" if having else ""
            text = f"a value of {name}, an element type that the release does not read{later}"
            yield refusing, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, "use another element type")


def _converter(use: Use, releases: int) -> Iterator[tuple[int, Objection]]:
    node = use.node
    probed = _probed(use)
    if probed is None:
        if node.domain in OFFICIAL_DOMAINS:
            return
        text = "a custom operator, which a release reads where an extension is registered"
        yield releases, Objection(TARGET_NOT_KNOWN, text, "register the extension, and read the model once")
        return
    having = tables.holds(NAME, f"onnx {node.domain}:{node.op} {probed}")
    refusing = releases & ~having
    if refusing and use.graph and not use.graph.startswith("function:"):
        text = (
            "no converter in the front end for nodes of the main graph; of those in bodies some are read all the same"
        )
        yield refusing, Objection(TARGET_NOT_KNOWN, text, "read the model once")
    elif refusing:
        text = f"no converter in the front end; {spans(NAME, having)} one" if having else "no release has a converter"
        advice = (
            "use one of these releases, or write it with other operators" if having else "write it with other operators"
        )
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, advice)


def _probed(use: Use) -> int | None:
    """The version of the operator that was asked about: of one that begins later the opset before; None where none was."""
    node = use.node
    if node.domain in OTHER_DOMAINS:
        known = tables.facts(NAME, f"onnx {node.domain}:{node.op} ")
        return OTHER_DOMAINS[node.domain] if known or node.domain != "org.openvinotoolkit" else None
    if node.domain or not isinstance(use.version, int):
        return None
    versions = official_versions(node.op, "")
    return max((each for each in versions if each <= use.version), default=versions[0] - 1 if versions else None)
