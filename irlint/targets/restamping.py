"""Finds lower opsets and IR versions with which a model can be saved without other changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Graph, Node
from irlint.model.order import graphs
from irlint.model.tensor import INTEGERS
from irlint.records import record, replaced
from irlint.schemas import IR_VERSIONS, Formal, OfficialSchema, latest_opset, official
from irlint.targets.uses import OMITTED, Use, element_type, uses

#: The lowest opset that is proposed. Runtimes guarantee support from this opset on.
LOWEST_OPSET = 7

#: The first IR version that has each of these element types. All IR versions have the other types.
_TYPES = {
    "float8_e4m3fn": 9,
    "float8_e4m3fnuz": 9,
    "float8_e5m2": 9,
    "float8_e5m2fnuz": 9,
    "uint4": 10,
    "int4": 10,
    "float4_e2m1": 11,
    "float8_e8m0": 12,
    "uint2": 13,
    "int2": 13,
    "float6_e2m3": 14,
    "float6_e3m2": 14,
}

#: The first IR version with initializers that are not inputs, the first with functions, the first with overloads.
_WITH_CONSTANTS, _WITH_FUNCTIONS, _WITH_OVERLOADS = 4, 8, 10

#: The IR version of the opsets that are lower than all opsets in IR_VERSIONS.
LOWEST_IR_VERSION = 3


@record
class Stamp:
    """An opset of ai.onnx and an IR version."""

    opset: int
    ir_version: int


def lowest(known: Known) -> Stamp | None:
    """The lowest opset at which all nodes keep their meaning, and the lowest IR version that this opset allows.

    Returns None for an OpenVINO IR. Returns None for an ONNX model that lacks its IR version or an opset of ai.onnx.
    """
    imported = known.model.opsets.get("")
    stated = known.model.format_version
    if imported is None or stated is None or not known.format.restamps:
        return None
    opset = min(imported, _lowest_opset(known, imported))
    of_opset = next((version for since, version in IR_VERSIONS.items() if since <= opset), LOWEST_IR_VERSION)
    return Stamp(opset, min(int(stated), max(_lowest_ir_version(known), of_opset)))


def stamps(known: Known) -> Iterator[Stamp]:
    """The pairs of lower versions with which a model has the same meaning, in descending order.

    A model whose opset is newer than all known opsets has no such pair. A model with functions keeps its opset.
    """
    least = lowest(known)
    if least is None:
        return
    imported, stated = known.model.opsets[""], int(known.model.format_version or 0)
    if imported > latest_opset(""):
        return
    needed = max(_lowest_ir_version(known), _WITH_CONSTANTS if known.model.inputs_have_defaults else 0)
    for opset in range(imported, (imported if known.model.functions else least.opset) - 1, -1):
        of_opset = next((version for since, version in IR_VERSIONS.items() if since <= opset), LOWEST_IR_VERSION)
        versions = dict.fromkeys((stated, min(stated, max(needed, of_opset))))
        yield from (Stamp(opset, version) for version in versions if (opset, version) != (imported, stated))


def restamped(known: Known, stamp: Stamp) -> Known:
    """The model with the opset and IR version of ``stamp``. Its nodes keep the old opset as version.

    Therefore, pass ``stamp.opset`` as ``opset`` to ``reasons`` to examine the nodes at the new opset.
    """
    opsets = {**known.model.opsets, "": stamp.opset}
    return replaced(known, model=replaced(known.model, opsets=opsets, format_version=str(stamp.ir_version)))


def _lowest_opset(known: Known, imported: int) -> int:
    """The lowest opset at which all nodes keep their meaning. If a function imports another opset, the model's own."""
    if any(function.opsets.get("", imported) != imported for function in known.model.functions.values()):
        return imported
    found = [use for use in uses(known, lambda use: _compared_attributes(use.node)) if use.node.domain == ""]
    lowest = LOWEST_OPSET
    for use in found:
        lowest = max(lowest, _lowest_opset_of(use, imported, lowest))
    return lowest


def _compared_attributes(node: Node) -> object:
    """The names of all attributes of a node, with the values that ``_means_the_same_before`` compares."""
    return tuple((name, str(each.value) if name in _COMPARED else "") for name, each in node.attributes.items())


_COMPARED = frozenset({"axis", "axes", "fmod", "mode", "reduction", "coordinate_transformation_mode"})


def _lowest_opset_of(use: Use, imported: int, least: int) -> int:
    schema = official(use.node.op, imported, "")
    if schema is None:
        return imported
    opset = imported
    while opset > least:
        below = max(schema.since - 1, 0)
        if schema.since <= least:
            return least
        earlier = official(use.node.op, below, "") if below else None
        if earlier is None or not _means_the_same_before(use, schema.since) or not _fits(use, earlier):
            return schema.since
        opset, schema = schema.since - 1, earlier
    return max(opset, least)


@cache
def _conditions_of_steps() -> Mapping[tuple[str, int], str]:
    """For each (operator, version): the condition under which nodes mean the same as in the version before.

    The condition is "" if all nodes do. A version without an entry may have changed the meaning of all nodes.
    """
    import os

    with open(os.path.join(os.path.dirname(__file__), "same_meaning.txt"), encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    return {(row[0], int(row[2])): " ".join(row[3:]) for row in rows}


def _means_the_same_before(use: Use, since: int) -> bool:
    condition = _conditions_of_steps().get((use.node.op, since))
    if condition is None:
        return False
    if condition == "axes-not-below-0":
        return all(each >= 0 for name in ("axis", "axes") for each in _numbers(use.node, name))
    if condition == "floats-with-fmod":
        return use.inputs[0] in INTEGERS or _numbers(use.node, "fmod") == [1]
    name, _, allowed = condition.partition("=")
    attribute = use.node.attributes.get(name) if name else None
    if attribute is None:
        return True
    value = attribute.value
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text in allowed.split("|")


def _numbers(node: Node, name: str) -> list[Any]:
    attribute = node.attributes.get(name)
    if attribute is None or attribute.reference is not None:
        return []
    return list(attribute.value) if isinstance(attribute.value, (list, tuple)) else [attribute.value]


def _fits(use: Use, schema: OfficialSchema) -> bool:
    """Whether an earlier version of the operator allows the attributes, inputs, outputs and element types of a node."""
    node = use.node
    if schema.deprecated or any(name not in schema.attributes for name in node.attributes):
        return False
    if any(needed and name not in node.attributes for name, (_, needed) in schema.attributes.items()):
        return False
    if not (schema.min_input <= len(use.inputs) <= schema.max_input and len(use.outputs) <= schema.max_output):
        return False
    return _types_fit(schema.inputs, use.inputs) and _types_fit(schema.outputs, use.outputs)


def _types_fit(formals: tuple[Formal, ...], types: tuple[str | None, ...]) -> bool:
    for index, name in enumerate(types):
        formal = formals[min(index, len(formals) - 1)] if formals else None
        if formal is None or name is None:
            return False
        if name == OMITTED:
            if formal.option == "single":
                return False
        elif name not in formal.types:
            return False
    return True


def _lowest_ir_version(known: Known) -> int:
    needed = 0
    if known.model.functions:
        overloaded = any(function.overload for function in known.model.functions.values())
        needed = _WITH_OVERLOADS if overloaded else _WITH_FUNCTIONS
    for graph in graphs(known.model):
        inputs = set(graph.inputs)
        if any(value not in inputs for value in graph.constants):
            needed = max(needed, _WITH_CONSTANTS)
        needed = max([needed, *(_TYPES.get(name, 0) for name in _types(graph, known))])
    return needed


def _types(graph: Graph, known: Known) -> Iterator[str]:
    for value in (*graph.inputs, *graph.constants, *(each for node in graph.nodes for each in node.outputs)):
        name = element_type(known.types, value)
        if name:
            yield name
