"""Finds the objections of releases to versions, element types and forms of a model. ``releases`` is a bit mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from irlint.inference.known import Known
from irlint.model import Graph, Value
from irlint.model.order import graphs
from irlint.model.tensor import SparseTensor, Tensor
from irlint.parsers.faults import DOMAIN_SPELLED_OUT
from irlint.targets import tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    IR_VERSION_NOT_IN_RELEASE,
    OPERATOR_NOT_IN_RELEASE,
    OPSET_NOT_IN_RELEASE,
    RESTRICTED_IN_RELEASE,
    Objection,
)
from irlint.targets.runtimes import Runtime
from irlint.targets.uses import element_type


def objections(known: Known, runtime: Runtime, releases: int) -> Iterator[tuple[int, Objection]]:
    """(releases, their objection) of each objection to the model itself. Objections to nodes are not included."""
    stated = known.model.format_version
    if stated is not None and stated.isdecimal():
        for having, versions in _lacking(runtime, "ir ", int(stated), releases):
            text = f"IR version {stated}; {runtime.says} {runtime.accepts} {_span(versions)}"
            help = f"save with ir_version={_nearest(versions, int(stated))}"
            yield having, Objection(IR_VERSION_NOT_IN_RELEASE, text, help)
    for domain, version in _highest_imports(known).items():
        for having, versions in _lacking(runtime, f"opset {domain} ", version, releases):
            text = f"opset {version} of {domain or 'ai.onnx'}; {runtime.says} {runtime.accepts} {_span(versions)}"
            help = f"write the model at opset {_nearest(versions, version)}"
            yield having, Objection(OPSET_NOT_IN_RELEASE, text, help)
    called = {call.function for call in known.calls.values() if call.function is not None}
    refusing = releases & tables.holds(runtime.table, "no-functions")
    if called and refusing:
        text = f"{len(called)} of its own functions are called; {runtime.says} does not read calls of such functions"
        help = "inline them with onnx.inliner.inline_local_functions"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, help)
    graph = known.model.graph
    refusing = releases & tables.holds(runtime.table, "no-spelled-domains")
    if refusing and any(each.fault.rule is DOMAIN_SPELLED_OUT for each in known.model.problems):
        text = f"a node writes its domain as ai.onnx, of which {runtime.says} knows no operator"
        yield refusing, Objection(OPERATOR_NOT_IN_RELEASE, text, "set the domain of the node to the empty string")
    if graph is not None:
        yield from _of_sparse(graph, runtime, releases)
    refusing = releases & tables.holds(runtime.table, "no-empty-inputs")
    if refusing and graph is not None and any(map(_is_empty, graph.inputs)):
        text = f"an input of the model has a size of 0, which {runtime.says} does not read"
        yield refusing, Objection(RESTRICTED_IN_RELEASE, text, "declare it with another size")
    refusing = releases & tables.holds(runtime.table, "no-early-outputs")
    early = _output_used_early(graph) if refusing and graph is not None else None
    if early is not None:
        text = f"a node takes {early.name!r}, an output of the model, before the node that gives it"
        yield refusing, Objection(RESTRICTED_IN_RELEASE, text, "write the nodes in the order in which they run")
    yield from _unknown_types(known, runtime, releases)


def _of_sparse(graph: Graph, runtime: Runtime, releases: int) -> Iterator[tuple[int, Objection]]:
    """The objections to sparse initializers and outputs."""
    sparse = {value for value, constant in graph.constants.items() if constant.parts} - set(graph.inputs)
    taken = any(value in sparse for node in graph.nodes for value in node.inputs)
    given = not sparse.isdisjoint(graph.outputs)
    typed = any(isinstance(value.type, SparseTensor) for value in graph.outputs)
    forms = {
        "no-sparse-initializers": (taken and not given, "a node takes a sparse initializer"),
        "no-sparse-outputs": (given and not taken, "an output of the model is a sparse initializer"),
        "no-sparse-types": (typed, "an output of the model has a sparse type"),
    }
    for fact, (applies, text) in forms.items():
        refusing = releases & tables.holds(runtime.table, fact)
        if applies and refusing:
            text = f"{text}, which {runtime.says} does not read"
            yield refusing, Objection(RESTRICTED_IN_RELEASE, text, "write a dense tensor")


def _output_used_early(graph: Graph) -> Value | None:
    missing = set(graph.outputs) - set(graph.inputs) - set(graph.constants)
    for node in graph.nodes:
        early = next((value for value in node.inputs if value in missing), None)
        if early is not None:
            return early
        missing.difference_update(node.outputs)
    return None


def _is_empty(value: Value) -> bool:
    return isinstance(value.type, Tensor) and value.type.shape is not None and 0 in value.type.shape


def too_new(known: Known, runtime: Runtime, releases: int) -> dict[str, int]:
    """The releases that refuse the imported opset, by domain."""
    return {
        domain: sum(having for having, _ in _lacking(runtime, f"opset {domain} ", version, releases))
        for domain, version in _highest_imports(known).items()
    }


def _lacking(runtime: Runtime, start: str, version: int, releases: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(releases that accept other versions but not this one, the versions that they accept)."""
    for versions, having in _versions(runtime.table, start):
        if having & releases and version not in versions:
            yield having & releases, versions


@cache
def _versions(table: str, start: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """(versions in ascending order, the releases that accept exactly these versions)."""
    found: dict[tuple[int, ...], int] = {}
    facts = tables.facts(table, start)
    for at in range(len(tables.releases(table)) if facts else 0):
        versions = tuple(sorted(int(rest) for rest, mask in facts if mask >> at & 1))
        if versions:
            found[versions] = found.get(versions, 0) | 1 << at
    return tuple(found.items())


def _span(versions: tuple[int, ...]) -> str:
    return f"{versions[-1]} at most" if versions[0] <= 1 else f"{versions[0]} to {versions[-1]}"


def _nearest(versions: tuple[int, ...], version: int) -> int:
    return min(versions, key=lambda each: abs(each - version))


def _highest_imports(known: Known) -> Mapping[str, int]:
    imports = dict(known.model.opsets)
    for function in known.model.functions.values():
        for domain, version in function.opsets.items():
            imports[domain] = max(version, imports.get(domain, version))
    return imports


def _unknown_types(known: Known, runtime: Runtime, releases: int) -> Iterator[tuple[int, Objection]]:
    every = list(graphs(known.model))
    values: Mapping[str, Iterator[Value | None]] = {
        "input": (value for graph in every for value in graph.inputs if value not in graph.constants),
        "initializer": (value for graph in every for value in graph.constants),
        "value": (value for graph in every for node in graph.nodes for value in node.outputs),
    }
    refused: dict[str, int] = {}
    for kind, listed in values.items():
        if not tables.has(runtime.table, f"{kind} "):
            continue
        for name in dict.fromkeys(element_type(known.types, value) for value in listed):
            having = tables.holds(runtime.table, f"{kind} {name}")
            refusing = releases & ~having & ~refused.get(name or "", 0)
            if name and "(" not in name and refusing:
                refused[name] = refused.get(name, 0) | refusing
                what = "a value" if kind == "value" else f"an {kind}"
                text = f"{what} of {name}, an element type that the release does not know"
                yield refusing, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, "use another element type")
