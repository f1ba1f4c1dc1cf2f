"""Which IR versions, opsets and element types each release of ONNX Runtime takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irlint.inference.known import Known
from irlint.model import Graph
from irlint.model.order import graphs
from irlint.targets import tables
from irlint.targets.objections import (
    ELEMENT_TYPE_NOT_IN_RELEASE,
    IR_VERSION_NOT_IN_RELEASE,
    OPSET_NOT_IN_RELEASE,
    Objection,
)
from irlint.targets.uses import element_type

NAME = "onnxruntime"


def objections(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    """What the releases, given as bits, have against the versions and the element types of a model."""
    yield from _ir_version(known, releases)
    yield from _opsets(known, releases)
    yield from _types(known, releases)


def _ir_version(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    stated = known.model.format_version
    version = int(stated) if stated is not None else 0
    limits = tables.greatest(NAME, "ir ")
    for limit, having in _above(limits, version, releases):
        text = f"IR version {version}; the release takes {limit} at most"
        yield having, Objection(IR_VERSION_NOT_IN_RELEASE, text, f"save with ir_version={limit}")


def _above(limits: Sequence[int], version: int, releases: int) -> Iterator[tuple[int, int]]:
    """The limits below a version, each with the releases that have it."""
    found: dict[int, int] = {}
    for at, limit in enumerate(limits):
        if releases >> at & 1 and version > limit:
            found[limit] = found.get(limit, 0) | 1 << at
    yield from found.items()


def too_new(known: Known, releases: int) -> dict[str, int]:
    """By domain the releases that refuse the opset that the model imports."""
    found: dict[str, int] = {}
    for domain, version in _imports(known).items():
        limits = tables.greatest(NAME, f"opset {domain} ")
        found[domain] = sum(having for limit, having in _above(limits, version, releases) if limit)
    return found


def _imports(known: Known) -> dict[str, int]:
    imports = dict(known.model.opsets)
    for function in known.model.functions.values():
        for domain, version in function.opsets.items():
            imports[domain] = max(version, imports.get(domain, version))
    return imports


def _opsets(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    for domain, version in _imports(known).items():
        limits = tables.greatest(NAME, f"opset {domain} ")
        if not any(limits):
            continue
        for limit, having in _above(limits, version, releases):
            if limit:
                text = f"opset {version} of {domain or 'ai.onnx'}; the release takes {limit} at most"
                yield having, Objection(OPSET_NOT_IN_RELEASE, text, f"write the model at an opset of at most {limit}")


def _types(known: Known, releases: int) -> Iterator[tuple[int, Objection]]:
    """Element types of inputs, initializers and declared values that a release does not know."""
    inputs: dict[str, None] = {}
    constants: dict[str, None] = {}
    for graph in graphs(known.model):
        _gather(graph, known, inputs, constants)
    for kind, names in (("input", inputs), ("initializer", constants)):
        for name in names:
            lacking = releases & ~tables.holds(NAME, f"{kind} {name}")
            if lacking:
                what = "an initializer" if kind == "initializer" else "a value"
                text = f"{what} of {name}, an element type that the release does not know"
                yield lacking, Objection(ELEMENT_TYPE_NOT_IN_RELEASE, text, "use another element type")


def _gather(graph: Graph, known: Known, inputs: dict[str, None], constants: dict[str, None]) -> None:
    for value in graph.inputs:
        name = element_type(known.types, value)
        if name and "(" not in name:
            inputs[name] = None
    for value in graph.constants:
        name = element_type(known.types, value)
        if name and "(" not in name:
            constants[name] = None
