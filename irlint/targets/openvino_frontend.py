"""Which releases of OpenVINO read an ONNX model: the converters of its front end, element types, and forms of
operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from irlint.binding.calls import INPUT_COUNT, MISSING_ATTRIBUTE, UNKNOWN_ATTRIBUTE
from irlint.inference.known import Known
from irlint.model import Node, Value
from irlint.model.order import graphs
from irlint.model.tensor import Sequence as SequenceType
from irlint.model.tensor import Tensor
from irlint.ops.shared.axes import AXIS_OUT_OF_RANGE
from irlint.ops.shared.element_types import ELEMENT_TYPE_REFUSED
from irlint.records import replaced
from irlint.schemas import MICROSOFT, OFFICIAL_DOMAINS, official_versions
from irlint.targets import openvino_forms, openvino_nodes, openvino_readings, tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    TARGET_NOT_KNOWN,
    Objection,
    Reason,
)
from irlint.targets.tables import spans
from irlint.targets.uses import Use, element_type, uses

NAME = "openvino"

#: Whether the releases were asked themselves.
MEASURED = True

#: The furthest stage that was measured.
STAGE = "read"

#: Rules of which the front end refuses a breach only at some operators: it passes over much that a model may not have.
REFUSED_AT = {
    AXIS_OUT_OF_RANGE: ("Concat",),
    ELEMENT_TYPE_REFUSED: ("BiasGelu", "DynamicQuantizeLinear"),
    UNKNOWN_ATTRIBUTE: ("Pad", "Slice"),
    MISSING_ATTRIBUTE: ("DepthToSpace", "SpaceToDepth"),
    INPUT_COUNT: ("Slice", "Unsqueeze"),
}

#: Domains with one version, of which the front end has converters.
OTHER_DOMAINS = {
    "ai.onnx.ml": 3,
    "ai.onnx.preview": 1,
    MICROSOFT: 1,
    "ai.onnx.preview.training": 1,
    "org.openvinotoolkit": 1,
}


#: What joins tensors to a sequence.
JOINING = ("SequenceConstruct", "SequenceInsert")
SEQUENCE = "an output is a sequence, a SequenceMark or SequenceInsert for the release"

passes = openvino_nodes.passes


def reasons(known: Known, releases: int, opset: int | None = None) -> list[Reason]:
    """What releases of OpenVINO, given as bits, have against an ONNX model; ``opset`` stands for that of its nodes."""
    read, written = openvino_readings.lifted(known)
    asked = openvino_nodes.Questions(read)
    every = [
        _as_written(each, written)
        for each in uses(read, lambda use: asked.apart(use.node, of_form=use.node.op in openvino_forms.FORMS), opset)
    ]
    asked.wrong = {written.get(node, node): codes for node, codes in asked.wrong.items()}
    whole = (
        *_whole(known, releases),
        *_types(read, every, releases),
        *openvino_readings.objections(read, releases, opset),
    )
    found = [Reason(having, objection) for having, objection in whole]
    for use in every:
        found += [Reason(having, objection, use) for having, objection in _converter(use, releases)]
        found += _of_node(asked, use, openvino_nodes.refusing(use, releases))
    return [*found, *_of_other_branches(read, asked, releases, opset)]


def _of_node(asked: openvino_nodes.Questions, use: Use, releases: int) -> list[Reason]:
    """What releases have against a node of which they have a converter."""
    found = []
    for having, objection in openvino_forms.objections(use, releases):
        found.append(Reason(having, objection, use))
    for each in found:
        releases &= ~each.releases
    return found + [Reason(having, objection, use) for having, objection in asked.objections(use, releases)]


def _of_other_branches(
    known: Known, asked: openvino_nodes.Questions, releases: int, opset: int | None
) -> Iterator[Reason]:
    """What releases have against nodes of branches that never run."""
    reading, both = openvino_readings.both_branches(known, releases)
    for use in uses(both, lambda use: id(use.node), opset) if both is not None else ():
        if use.graph and not use.graph.startswith("function:") and _is_undecided(known, use.node):
            yield from _of_node(asked, use, openvino_nodes.refusing(use, reading))


def _is_undecided(known: Known, node: Node) -> bool:
    """Whether nothing was worked out of what a node gives, as of one in a branch that never runs."""
    return all(known.types.get(value) is None for value in node.outputs if value is not None)


def _as_written(use: Use, written: Mapping[Node, Node]) -> Use:
    """The use of a node as the file has it, with the types that it has as it is read."""
    node = written.get(use.node)
    return use if node is None else replaced(use, node=node, version=node.version)


def _whole(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    refusing = releases & ~tables.holds(NAME, "onnx-form local-function")
    called = {call.function for call in known.calls.values() if call.function is not None}
    if called and refusing:
        text = f"{len(called)} of its own functions are called; the release does not read calls of such functions"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, "inline them with onnx.inliner.inline_local_functions")
    for fact, found, text, advice in (
        ("zero-size-input", any(_read(known)), "an input has a size of 0",
         "give it another size"),
        ("undefined-output", any(each in _undefined(known) for each in _outputs(known)),
         "an output that no node gives", "give it, or leave it out"),
        ("unsorted-output", _is_taken_early(known), "an output is taken by a node before the one that gives it",
         "sort the nodes"),
        ("If.sequence-output", _gives_sequence(known, within=True), SEQUENCE, "give its tensors"),
        *((f"SplitToSequence.{form}output", _gives_parts(known, form), SEQUENCE, "give its tensors")
          for form in ("", "flat-", "sized-")),
        ("sequence-output", _gives_sequence(known, within=False), SEQUENCE, "give its tensors"),
    ):  # fmt: skip
        refusing = releases & ~tables.holds(NAME, f"onnx-form {fact}")
        if found and refusing:
            yield refusing, Objection(RESTRICTED_IN_RELEASE, f"{text}; the release does not read that", advice)


def _read(known: Known) -> Iterator[Value]:
    """The inputs of the model that nodes take, without those that give the axes of a reduction."""
    graph = known.model.graph
    if graph is None:
        return
    inputs = {each for each in graph.inputs if each not in graph.constants and _is_empty(each)}
    for node in graph.nodes if inputs else ():
        taken = node.inputs[:1] if node.op in (*openvino_readings.REDUCING, "ReduceSum") else node.inputs
        yield from (each for each in taken if each in inputs)


def _outputs(known: Known) -> Sequence[Value]:
    return known.model.graph.outputs if known.model.graph is not None else ()


def _undefined(known: Known) -> Sequence[Value]:
    return known.model.graph.undefined if known.model.graph is not None else ()


def _gives_sequence(known: Known, *, within: bool) -> bool:
    """Whether a node that joins tensors to a sequence gives an output, or one whose bodies, ``within`` it, hold such a
    node."""
    graph = known.model.graph
    outputs = {each for each in _outputs(known) if isinstance(known.types.get(each), SequenceType)}
    for node in graph.nodes if graph is not None and outputs else ():
        among = [each for _, body in node.bodies for each in body.nodes] if within else [node]
        if not outputs.isdisjoint(node.outputs) and any(each.op in JOINING for each in among):
            return True
    return False


def _gives_parts(known: Known, form: str) -> bool:
    """Whether a SplitToSequence gives an output: of one size, without the axis (``flat-``), or of the sizes that it
    takes."""
    outputs = set(_outputs(known))
    for node in known.model.graph.nodes if known.model.graph is not None else ():
        if node.op == "SplitToSequence" and not outputs.isdisjoint(node.outputs):
            is_flat = "keepdims" in node.attributes and node.attributes["keepdims"].value == 0
            return form == ("sized-" if node.inputs[1:] else "flat-" if is_flat else "")
    return False


def _is_taken_early(known: Known) -> bool:
    """Whether a node takes an output of the model that a later one gives."""
    graph = known.model.graph
    left = (
        set(_outputs(known)).difference(graph.inputs, graph.constants, graph.undefined) if graph is not None else set()
    )
    for node in graph.nodes if graph is not None else ():
        if not left.isdisjoint(node.inputs):
            return True
        left.difference_update(node.outputs)
    return False


def _is_empty(value: Value) -> bool:
    given = value.type
    return isinstance(given, Tensor) and given.shape is not None and 0 in given.shape


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
    if use.graph and not use.graph.startswith("function:"):
        open_ = refusing & (tables.holds(NAME, "onnx-form If.absent") | tables.holds(NAME, "onnx-form Loop.absent"))
        refusing &= ~open_
        text = (
            "no converter in the front end for nodes of the main graph; of those in bodies some are read all the same"
        )
        if open_:
            yield open_, Objection(TARGET_NOT_KNOWN, text, "read the model once")
    if refusing:
        text = f"no converter in the front end; {spans(NAME, having)} one" if having else "no release has a converter"
        advice = (
            "use one of these releases, or write it with other operators" if having else "write it with other operators"
        )
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, advice)


def _probed(use: Use) -> int | None:
    """The version of the operator that was asked about: of one that begins later the opset before; None where none
    was."""
    node = use.node
    if node.domain in OTHER_DOMAINS:
        known = tables.facts(NAME, f"onnx {node.domain}:{node.op} ")
        return OTHER_DOMAINS[node.domain] if known or node.domain != "org.openvinotoolkit" else None
    if node.domain or not isinstance(use.version, int):
        return None
    return _begins(node.op, use.version)


@cache
def _begins(op: str, version: int) -> int | None:
    versions = official_versions(op, "")
    return max((each for each in versions if each <= version), default=versions[0] - 1 if versions else None)
