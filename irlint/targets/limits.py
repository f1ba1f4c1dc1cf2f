"""Which IR versions, opsets and element types of values releases take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from irlint.findings.faults import Rule
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
    """What the releases, given as bits, have against the versions and the element types of a model."""
    stated = known.model.format_version
    if stated is not None and stated.isdecimal():
        for having, versions in _lacking(runtime, "ir ", int(stated), releases):
            text = f"IR version {stated}; {runtime.says} {runtime.accepts} {_span(versions)}"
            help = f"save with ir_version={_nearest(versions, int(stated))}"
            yield having, Objection(IR_VERSION_NOT_IN_RELEASE, text, help)
    for domain, version in _imports(known).items():
        for having, versions in _lacking(runtime, f"opset {domain} ", version, releases):
            text = f"opset {version} of {domain or 'ai.onnx'}; {runtime.says} {runtime.accepts} {_span(versions)}"
            help = f"write the model at opset {_nearest(versions, version)}"
            yield having, Objection(OPSET_NOT_IN_RELEASE, text, help)
    for fact, rule, has, help in _forms(known) if tables.has(runtime.table, "no-") else ():
        refusing = releases & tables.holds(runtime.table, fact)
        if has and refusing:
            yield refusing, Objection(rule, f"{has}, which {runtime.says} does not read", help)
    yield from _types(known, runtime, releases)


def _forms(known: Known) -> Iterator[tuple[str, Rule, str, str]]:
    """The facts that a release does not read a form of models: the rule, what the model has, "" for one that it has
    not, and the help."""
    called = {call.function for call in known.calls.values() if call.function is not None}
    text = f"calls of {len(called)} of its own functions" if called else ""
    help = "inline them with onnx.inliner.inline_local_functions"
    yield "no-functions", OPERATOR_NOT_IN_RELEASE, text, help
    spelled = any(each.fault.rule is DOMAIN_SPELLED_OUT for each in known.model.problems)
    text = "a node that writes its domain as ai.onnx" if spelled else ""
    yield "no-spelled-domains", OPERATOR_NOT_IN_RELEASE, text, "set the domain of the node to the empty string"
    graph = known.model.graph
    if graph is None:
        return
    sparse = {value for value, constant in graph.constants.items() if constant.parts} - set(graph.inputs)
    taken = any(value in sparse for node in graph.nodes for value in node.inputs)
    given = not sparse.isdisjoint(graph.outputs)
    early = _early_output(graph)
    empty = any(isinstance(each.type, Tensor) and 0 in (each.type.shape or ()) for each in graph.inputs)
    typed = any(isinstance(value.type, SparseTensor) for value in graph.outputs)
    order = "write the nodes in the order in which they run"
    for fact, has, text, help in (
        ("sparse-initializers", taken and not given, "a sparse initializer that a node takes", "write a dense tensor"),
        ("sparse-outputs", given and not taken, "a sparse initializer as an output", "write a dense tensor"),
        ("sparse-types", typed, "an output of a sparse type", "write a dense tensor"),
        ("empty-inputs", empty, "an input of the model with a size of 0", "declare it with another size"),
        ("early-outputs", early, f"an output of the model, {early}, that a node takes before one gives it", order),
    ):
        yield f"no-{fact}", RESTRICTED_IN_RELEASE, text if has else "", help


def _early_output(graph: Graph) -> str:
    """The name of an output of the graph that a node takes before the node that gives it, "" for none."""
    missing = set(graph.outputs) - set(graph.inputs) - set(graph.constants)
    for node in graph.nodes:
        for value in node.inputs:
            if value in missing:
                return value.name
        missing.difference_update(node.outputs)
    return ""


def too_new(known: Known, runtime: Runtime, releases: int) -> dict[str, int]:
    """By domain the releases that refuse the opset that the model imports."""
    return {
        domain: sum(having for having, _ in _lacking(runtime, f"opset {domain} ", version, releases))
        for domain, version in _imports(known).items()
    }


def _lacking(runtime: Runtime, start: str, version: int, releases: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The releases that do not take a version though they take others, grouped by these."""
    for versions, having in _versions(runtime.table, start):
        if having & releases and version not in versions:
            yield having & releases, versions


@cache
def _versions(table: str, start: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """The sets of versions that releases take, in ascending order, each with these releases."""
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


def _imports(known: Known) -> Mapping[str, int]:
    """The opset of each domain: the highest that the model or a function of it imports."""
    imports = dict(known.model.opsets)
    for function in known.model.functions.values():
        for domain, version in function.opsets.items():
            imports[domain] = max(version, imports.get(domain, version))
    return imports


def _types(known: Known, runtime: Runtime, releases: int) -> Iterator[tuple[int, Objection]]:
    """Element types of inputs, initializers and other values that a release does not know."""
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
