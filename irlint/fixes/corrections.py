"""Corrections of wrong names, opsets, attributes, missing inputs, cycles and declarations of ONNX models."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from irlint.binding.calls import (
    ATTRIBUTE_KIND,
    CUSTOM_OPERATOR,
    INPUT_COUNT,
    MISSING_ATTRIBUTE,
    MISSING_OPSET_IMPORT,
    OPSET_LACKS_OPERATOR,
    OUTPUT_COUNT,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPERATOR,
)
from irlint.checks.declared import SHAPE_CONTRADICTED, TYPE_CONTRADICTED
from irlint.checks.initializers import INITIALIZER_NOT_INPUT
from irlint.checks.intended import is_marked, unused_values
from irlint.checks.names import DUPLICATE_NAME
from irlint.checks.structure import CYCLE, UNDEFINED_NAME
from irlint.checks.versions import IR_VERSION_TOO_NEW, OPSET_TOO_NEW
from irlint.findings.edits import Edit
from irlint.findings.faults import Rule
from irlint.findings.wording import closest
from irlint.fixes.interfaces import (
    TO,
    Edits,
    as_body_declares,
    as_state_is_returned,
    on_other_axes,
    other_scan_counts,
    outputs_swapped,
    retyped_outputs,
    with_unused_output,
)
from irlint.fixes.lost_inputs import UNUSED, out_of_cycle, with_missing_input
from irlint.fixes.names import (
    as_operator_with_attributes,
    have_same_letters,
    may_be_renamed,
    missing_in_series,
    named_in_sizes,
    names_another_operator,
    of_misspelled_number,
    of_siblings,
    similar_operators,
)
from irlint.fixes.redeclared import declared_as_stored, output_as_computed
from irlint.fixes.tidy import USUAL_IR_VERSION
from irlint.inference.contradictions import differ
from irlint.inference.known import Known
from irlint.inference.opsets import ANOTHER_OPSET
from irlint.lazy_typing import Literal
from irlint.model import Graph, Node, Problem, Value
from irlint.model.order import graph_at, graphs
from irlint.model.tensor import NUMBERED_TYPES, Tensor
from irlint.ops.shared.bodies import BODY_ARITY, BODY_TYPES, CARRIED_TYPE, CONTROL_INPUT, SCAN_LENGTH
from irlint.ops.shared.broadcast import SHAPES_DIFFER
from irlint.schemas import IR_VERSIONS, MICROSOFT, OFFICIAL_DOMAINS, official, official_names, official_versions
from irlint.targets.newest import RUNTIME_OPSETS

#: The least similarity (``difflib`` ratio) of almost equal names.
ALMOST = 0.9

#: The attribute with an axis.
AXIS = "axis"

#: The number of axes to try if the rank is unknown.
AXES = 8

#: The element types to try.
LIKELY_TYPES = ("float32", "int64", "float16", "int32", "bool", "float64")


def corrections(problem: Problem, known: Known) -> Iterator[Edits]:
    """Alternative edits that may fix a problem, the likely ones first."""
    found = CORRECTIONS.get(problem.fault.rule)
    if found is not None and not problem.graph.startswith("function:"):
        for each in found:
            yield from each(problem, known)
    if problem.graph or (problem.node is not None and problem.node.bodies):
        from irlint.fixes.trials import limits_sizes

        yield from on_other_axes(problem, known) if problem.is_error or limits_sizes(problem) else ()


def may_be_corrected(problem: Problem) -> bool:
    """Whether irlint searches for corrections of a problem."""
    if problem.fault.rule in (TYPE_CONTRADICTED, SHAPE_CONTRADICTED, UNDEFINED_NAME):
        return problem.node is None or bool(problem.fault.intended)
    return problem.fault.rule in CORRECTIONS


def _as_intended(problem: Problem, known: Known) -> Iterator[Edits]:
    fault, node = problem.fault, problem.node
    if not fault.intended:
        return
    if fault.rule in (ANOTHER_OPSET, OPSET_LACKS_OPERATOR):
        domain = problem.domain if node is None else node.domain
        yield (Edit("opset", "opset_import", name=domain or "", value=int(fault.intended)),)
    elif node is not None and fault.rule in (UNKNOWN_ATTRIBUTE, UNKNOWN_OPERATOR):
        of: Literal["attribute", "operator"] = "attribute" if fault.rule is UNKNOWN_ATTRIBUTE else "operator"
        name = fault.attribute if fault.rule is UNKNOWN_ATTRIBUTE else node.op
        layer = node.id or ""
        yield (
            Edit(
                "rename", of, problem.graph, node.label, node.index, name or "", fault.intended, op=node.op, layer=layer
            ),
        )


def _as_missing_attribute(problem: Problem, known: Known) -> Iterator[Edits]:
    """Renames an unknown attribute to the only missing attribute of the same kind (such as INT)."""
    node, name = problem.node, problem.fault.attribute or ""
    attribute = node.attributes.get(name) if node is not None else None
    if node is None or attribute is None or problem.fault.intended or known.format.ports_declare:
        return
    schemas = (official(node.op, since, node.domain) for since in official_versions(node.op, node.domain))
    if any(each is not None and name in each.attributes for each in schemas):
        return
    call = known.calls.get(node)
    stated = call.schema.attributes if call is not None and call.schema is not None else {}
    missing = [each for each, (kind, _) in stated.items() if kind == attribute.kind and each not in node.attributes]
    if len(missing) == 1:
        yield (Edit("rename", "attribute", problem.graph, node.label, node.index, name, missing[0], op=node.op),)


def _other_opsets(problem: Problem, known: Known) -> Iterator[Edits]:
    """The nearest opsets at which the operator has another version, later ones first."""
    node = problem.node
    imported = known.model.opsets.get(node.domain) if node is not None else None
    if (
        node is None
        or imported is None
        or problem.fault.intended
        or node.domain not in OFFICIAL_DOMAINS
        or known.format.ports_declare
    ):
        return
    versions = official_versions(node.op, node.domain)
    later = [since for since in versions if since > imported]
    earlier = [since - 1 for since in reversed(versions) if 1 < since <= imported]
    for opset in (*later, *earlier):
        yield (Edit("opset", "opset_import", name=node.domain, value=opset),)


def _imported(problem: Problem, known: Known) -> Iterator[Edits]:
    """Imports of the standard domain: the latest opset that the IR version allows, then earlier ones.

    For another domain, the earliest version comes first: more runtimes have it.
    """
    version, domain = known.model.format_version or "", problem.node.domain if problem.node is not None else None
    limit = RUNTIME_OPSETS.get(domain) if domain is not None else None
    if limit is None or not version.isdecimal():
        return
    newer = (since - 1 for since, needed in IR_VERSIONS.items() if needed > int(version))
    for opset in range(1, limit + 1) if domain else range(min(limit, *newer), 0, -1):
        yield (Edit("opset", "opset_import", name=domain or "", value=opset),)


def _older_opsets(problem: Problem, known: Known) -> Iterator[Edits]:
    """The opsets of the domain that ONNX Runtime knows, the newest first. Those of the standard domain only if the IR
    version of the model is older than the imported opset: then the import is wrong, and not the runtime too old."""
    domain = problem.domain or ""
    limit, version = RUNTIME_OPSETS.get(domain), known.model.format_version or ""
    if limit is None or not problem.is_error or problem.graph:
        return
    if not domain and version.isdecimal():
        newer = [since - 1 for since, needed in IR_VERSIONS.items() if needed > int(version)]
        limit = min(limit, *newer) if newer else 0
    for opset in range(limit if domain or version.isdecimal() else 0, 0, -1):
        yield (Edit("opset", "opset_import", name=domain, value=opset),)


def _in_domain_if_refused(problem: Problem, known: Known) -> Iterator[Edits]:
    """Moves the node to another domain that has its operator, if the runtime refuses the node."""
    if problem.is_error:
        yield from _in_domain_with_operator(problem, known)


def _usual_ir_version(problem: Problem, known: Known) -> Iterator[Edits]:
    """The lowest IR version that allows the imported opset, but at least ``USUAL_IR_VERSION``."""
    opset = known.model.opsets.get("", 0)
    needed = [version for since, version in IR_VERSIONS.items() if since <= opset]
    if needed:
        yield (Edit("ir_version", "graph", value=max(USUAL_IR_VERSION, *needed)),)


def _in_domain_with_operator(problem: Problem, known: Known) -> Iterator[Edits]:
    node = problem.node
    if node is None or known.format.ports_declare:
        return
    intended = [problem.fault.intended or ""] if problem.fault.rule is CUSTOM_OPERATOR else []
    for domain in intended or dict.fromkeys(("", MICROSOFT, *OFFICIAL_DOMAINS)):
        if domain != node.domain and node.op in official_names(domain):
            yield (Edit("rename", "domain", problem.graph, node.label, node.index, node.domain, domain, op=node.op),)


def _in_known_domain(problem: Problem, known: Known) -> Iterator[Edits]:
    """Moves the node to another domain, if its own has no schemas."""
    if problem.node is not None and not official_names(problem.node.domain):
        yield from _in_domain_with_operator(problem, known)


def _other_attribute_types(problem: Problem, known: Known) -> Iterator[Edits]:
    """The value of an attribute as another type, such as a list of one number or an integer."""
    node, name = problem.node, problem.fault.attribute
    attribute = node.attributes.get(name) if node is not None and name is not None else None
    if node is None or name is None or attribute is None:
        return
    value = attribute.value
    others: list[object] = []
    if isinstance(value, (tuple, list)) and all(isinstance(each, float) and each.is_integer() for each in value):
        others.append(tuple(map(int, value)))
    if isinstance(value, (tuple, list)) and len(set(value)) == 1:
        others.append(value[0])
    elif isinstance(value, float) and value.is_integer():
        others.append(int(value))
    elif isinstance(value, int):
        similar = (each for graph in graphs(known.model) for each in graph.nodes if each.op == node.op)
        values = (each.attributes[name].value for each in similar if name in each.attributes)
        at_others = [len(each) for each in values if isinstance(each, (tuple, list))]
        lengths = dict.fromkeys((*_lengths_beside(name, node), *at_others))
        counts = dict.fromkeys((*lengths, 1, 2, 3, 4))
        others += [*((value,) * count for count in lengths), float(value), *((value,) * count for count in counts)]
    for other in others:
        yield (_set(problem, node, name, other),)


def _lengths_beside(name: str, node: Node) -> list[int]:
    """The one length of the other lists of a node whose names begin with the same word, as ``nodes_modes`` and
    ``nodes_values``; [] if their lengths differ."""
    word, mark, _ = name.partition("_")
    values = [each.value for other, each in node.attributes.items() if mark and other.startswith(word + mark)]
    lengths = {len(each) for each in values if isinstance(each, (tuple, list))}
    return list(lengths) if len(lengths) == 1 else []


def _set(problem: Problem, node: Node, name: str, value: object) -> Edit:
    layer = node.id or ""
    return Edit("attribute", "node", problem.graph, node.label, node.index, name, value, op=node.op, layer=layer)


def _without_duplicate(problem: Problem, known: Known) -> Iterator[Edits]:
    """Removes a node that repeats another one and has the same output names."""
    node = problem.node
    graph = graph_at(known.model, problem.graph)
    if node is None or graph is None:
        return
    from irlint.fixes.equal_nodes import are_equal

    for other in graph.nodes:
        if other is not node and are_equal(other, node):
            yield (Edit("remove", "node", problem.graph, node.label, node.index),)
            return


def _with_missing_attribute(problem: Problem, known: Known) -> Iterator[Edits]:
    """Adds the missing attribute: renames an unknown attribute, or takes the value of twins, of an attribute that is
    equal at all siblings, or of siblings, or a guess."""
    node, name = problem.node, problem.fault.attribute
    call = known.calls.get(node) if node is not None else None
    if node is None or name is None:
        return
    stated = call.schema.attributes if call is not None and call.schema is not None else ()
    for unknown in node.attributes if stated else ():
        if unknown not in stated:
            place = problem.graph, node.label, node.index
            yield (Edit("rename", "attribute", *place, unknown, name, op=node.op, layer=node.id or ""),)
    from irlint.fixes.blocks import blocks_of
    from irlint.fixes.ratios import values_of_equal_attributes

    graph = known.model.graph
    twins = blocks_of(known, graph).twins(node) if graph is not None and not problem.graph else []
    values = _attribute_values(twins, name)
    others = [each for graph in graphs(known.model) for each in graph.nodes if each.op == node.op and each is not node]
    if len(values) != 1:
        values = dict.fromkeys(values_of_equal_attributes(node, name, others))
    if not values:
        values = _attribute_values(others, name) | dict.fromkeys(_likely_values(node, name, known))
    if name == TO and len(values) > 1:
        given = known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
        dtype = given.dtype if isinstance(given, Tensor) else None
        values.pop(NUMBERED_TYPES.index(dtype) + 1 if dtype in NUMBERED_TYPES else None, None)
    for value in values:
        yield (_set(problem, node, name, value),)


def _attribute_values(nodes: Iterable[Node], name: str) -> dict[object, None]:
    attributes = (node.attributes.get(name) for node in nodes)
    values = (each.value for each in attributes if each is not None and each.reference is None)
    known = (each for each in values if isinstance(each, (int, float, str, list, tuple)))
    return dict.fromkeys(tuple(each) if isinstance(each, list) else each for each in known)


def _likely_values(node: Node, name: str, known: Known) -> Iterable[object]:
    if name == TO:
        return [NUMBERED_TYPES.index(each) + 1 for each in LIKELY_TYPES]
    given = known.types.get(node.inputs[0]) if node.inputs and node.inputs[0] is not None else None
    count = AXES if not isinstance(given, Tensor) or given.rank is None else given.rank
    return range(count) if name == AXIS else ()


def _reconnected(problem: Problem, known: Known) -> Iterator[Edits]:
    """Connects the intended value in place of an undefined one, or inserts the missing node. For an undefined output of
    the graph, renames another value."""
    graph = graph_at(known.model, problem.graph)
    undefined = graph.undefined if graph is not None else ()
    value = next((each for each in undefined if each.name == problem.value), None)
    if graph is None or value is None:
        return
    made = {each for node in graph.nodes for each in node.outputs}
    unused = [each for each in unused_values(graph) if each in made and each not in graph.outputs]
    if value not in graph.outputs:
        intended = problem.fault.intended
        other = next((each for each in unused if each.name == intended), None)
        maker = next((node for node in graph.nodes if other in node.outputs), None) if other is not None else None
        lost = other is not None and not may_be_renamed(other, maker, value, graph)
        named = {each.name for each in (*graph.outputs, *graph.inputs)} | {intended}
        lost_users = _of_unused_nodes(graph, unused)
        others = [each for each in unused_values(graph) if each.name not in named]
        others = [each for each in others if each not in made or each in lost_users]
        is_typo = bool(closest(value.name, [intended], ALMOST)) and not others
        sure = have_same_letters(value.name, intended) or is_marked(value.name, intended, graph)
        sure = sure or (is_typo and not names_another_operator(value.name, intended, graph))
        # A lost node with several outputs names them after its input.
        lost = lost or sum(each.name.startswith(f"{intended}_") for each in undefined) > 1
        if intended and (sure or (_may_replace(unused, intended, graph, known) <= {other} and not lost)):
            is_outer = all(each is None or each.name != intended for each in (*graph.inputs, *graph.constants, *made))
            yield tuple(_as_inputs(value, intended, known, "" if is_outer else problem.graph))
        if intended and sure:
            return
        renamed = (*of_misspelled_number(value.name, graph, unused_values(graph)), *of_siblings(value, graph, known))
        for each in renamed:
            yield tuple(_as_inputs(value, each.name, known, problem.graph))
        from irlint.fixes.lost_nodes import lost_at_twins, lost_beside_unused

        yield from lost_at_twins(problem, known)
        yield from lost_beside_unused(problem, known)
        return
    from irlint.fixes.flow import Flow

    of_unused_nodes = _of_unused_nodes(graph, unused)
    values = unused or missing_in_series(value, graph) or named_in_sizes(value, graph)
    without_data = set() if problem.graph else Flow(known, graph).only_of_shapes
    values = [each for each in values if each not in without_data]
    fitting = [each for each in values if not differ(known.types.get(each), value.type)]
    fitting = [each for each in fitting if each in of_unused_nodes] or fitting
    names = dict.fromkeys((problem.fault.intended, *(each.name for each in fitting)))
    if len(names) > UNUSED:
        return
    for name in names:
        if name:
            yield (Edit("rename", "value", problem.graph, name=name, value=value.name),)


def _may_replace(unused: Iterable[Value], intended: str, graph: Graph, known: Known) -> set[Value]:
    """The unused results, without constants that have another element type than the value named ``intended``."""
    stored = (value for node in graph.nodes if not node.inputs for value in node.outputs if value is not None)
    types = {value: known.types.get(value) for value in (*graph.constants, *graph.inputs, *stored)}
    dtypes = {value: given.dtype for value, given in types.items() if isinstance(given, Tensor)}
    wanted = next((dtype for value, dtype in dtypes.items() if value.name == intended), None)
    return {each for each in unused if wanted is None or dtypes.get(each, wanted) == wanted}


def _of_unused_nodes(graph: Graph, unused: Collection[Value]) -> set[Value | None]:
    """The results of all nodes without any used result."""
    return {each for node in graph.nodes if set(node.outputs) <= {*unused, None} for each in node.outputs}


def _as_inputs(value: Value, intended: str, known: Known, path: str) -> Iterator[Edit]:
    for graph in (each for each in graphs(known.model) if not path or f"{each.path}/".startswith(f"{path}/")):
        for node in graph.nodes:
            for port, given in enumerate(node.inputs):
                if given is value or (given is not None and given in graph.undefined and given.name == value.name):
                    place = graph.path, node.label, node.index
                    yield Edit("input", "node", *place, "", intended, input=port, op=node.op)


#: The functions that propose corrections, by rule.
CORRECTIONS: dict[Rule, tuple[Callable[[Problem, Known], Iterator[Edits]], ...]] = {
    UNDEFINED_NAME: (_reconnected,),
    DUPLICATE_NAME: (_without_duplicate,),
    CYCLE: (out_of_cycle,),
    ANOTHER_OPSET: (_as_intended,),
    OPSET_LACKS_OPERATOR: (_as_intended, _in_domain_if_refused, _other_opsets),
    OPSET_TOO_NEW: (_older_opsets,),
    MISSING_OPSET_IMPORT: (_imported, _in_known_domain),
    CUSTOM_OPERATOR: (_in_domain_with_operator,),
    UNKNOWN_OPERATOR: (_in_domain_with_operator, _as_intended, similar_operators),
    IR_VERSION_TOO_NEW: (_usual_ir_version,),
    INITIALIZER_NOT_INPUT: (_usual_ir_version,),
    BODY_ARITY: (other_scan_counts, with_unused_output),
    BODY_TYPES: (as_body_declares, as_state_is_returned, other_scan_counts, outputs_swapped, retyped_outputs),
    CARRIED_TYPE: (as_state_is_returned, other_scan_counts, outputs_swapped, retyped_outputs),
    CONTROL_INPUT: (outputs_swapped,),
    SCAN_LENGTH: (other_scan_counts,),
    UNKNOWN_ATTRIBUTE: (_as_intended, _as_missing_attribute, as_operator_with_attributes, _other_opsets),
    MISSING_ATTRIBUTE: (_with_missing_attribute, _other_opsets),
    ATTRIBUTE_KIND: (_other_attribute_types, _other_opsets),
    INPUT_COUNT: (with_missing_input, _other_opsets),
    OUTPUT_COUNT: (_other_opsets,),
    SHAPES_DIFFER: (_other_opsets,),
    TYPE_CONTRADICTED: (declared_as_stored, output_as_computed),
    SHAPE_CONTRADICTED: (declared_as_stored,),
}
