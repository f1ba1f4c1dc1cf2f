"""One model file from its bytes to its findings."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from irlint import parsers
from irlint.checks import problems
from irlint.diagnostics import CheckedFile, Finding
from irlint.dims import Shape
from irlint.model import Graph, Model, Node, Place, Problem
from irlint.propagate import propagated

#: Of one rule in one file, the text report draws at most so many findings in full.
DRAWN = 10


def inspected(
    path: str, data: bytes | None = None, shapes: Mapping[str, Shape] | None = None, *, draw: bool = False
) -> tuple[CheckedFile, tuple[Finding, ...]]:
    """The findings of one file, in document order; with ``draw`` each carries what the text report shows of it.

    Raises OSError where the file cannot be opened, and ValueError where ``shapes`` names an input that it lacks.
    """
    model = parsers.read(path, data)
    known = propagated(model, shapes)
    found = [*model.problems, *known.problems, *(problems(known) if model.graph is not None else ())]
    found = _in_document_order(model, found)
    findings = _findings(model, found, data)
    if draw and findings:
        from irlint.provenance import drawn

        findings = drawn(model, known, found, findings, data, DRAWN)
    return _checked(model), tuple(findings)


def _checked(model: Model) -> CheckedFile:
    status = "unreadable" if model.graph is None else "checked"
    return CheckedFile(model.path.replace(os.sep, "/"), model.format, model.format_version, model.nodes, status)


def _in_document_order(model: Model, found: Iterable[Problem]) -> list[Problem]:
    order: dict[str, int] = {}
    for graph in _graphs(model):
        order.setdefault(graph.path, len(order))

    def key(problem: Problem) -> tuple[int, int, int, str]:
        element = problem.place.element if problem.place is not None else -1
        index = problem.node.index if problem.node is not None else -1
        if model.format == "openvino":
            return (0, element, index, problem.fault.rule.code)
        return (order.get(problem.graph, -1), index, element, problem.fault.rule.code)

    return sorted(found, key=key)


def _graphs(model: Model) -> list[Graph]:
    from irlint.checks import graphs

    return list(graphs(model))


def _findings(model: Model, found: list[Problem], data: bytes | None) -> list[Finding]:
    positions = positions_of(model, [problem.place for problem in found], data)
    counts: dict[str, int] = {}
    result = []
    for problem in found:
        fault, node = problem.fault, problem.node
        line, column = positions.get(problem.place, (None, None)) if problem.place is not None else (None, None)
        result.append(
            Finding(
                path=model.path.replace(os.sep, "/"),
                rule=fault.rule,
                severity=fault.severity or fault.rule.severity,
                message=fault.message,
                help=fault.help,
                graph=problem.graph,
                node=node.label if node is not None else None,
                op=node.op if node is not None else None,
                op_version=_version(node),
                value=problem.value,
                input=fault.input,
                line=line,
                column=column,
                fingerprint=_fingerprint(problem, counts),
            )
        )
    return result


def _version(node: Node | None) -> str | None:
    if node is None or node.version is None:
        return None
    return node.version if isinstance(node.version, str) else str(node.version)


def _fingerprint(problem: Problem, counts: dict[str, int]) -> str:
    """A text that does not change when nodes elsewhere come and go."""
    from hashlib import sha256

    node = problem.node
    name = "" if node is None else node.label
    parts = [problem.fault.rule.code, problem.graph, name, problem.value or "", str(problem.fault.input)]
    key = "\0".join(parts)
    counts[key] = count = counts.get(key, 0) + 1
    return sha256(f"{key}\0{count}".encode("utf-8", "backslashreplace")).hexdigest()[:32]


def positions_of(
    model: Model, places: Iterable[Place | None], data: bytes | None
) -> dict[Place | None, tuple[int | None, int | None]]:
    """The line and column of places in an IR document, both from 1."""
    wanted = {place for place in places if place is not None}
    if model.format != "openvino" or not wanted:
        return {}
    from irlint.parsers.positions import positions

    if data is None:
        with open(model.path, "rb") as file:
            data = file.read()
    found = positions(data, sorted({place.element for place in wanted}))
    result: dict[Place | None, tuple[int | None, int | None]] = {}
    for place in wanted:
        position = found.get(place.element)
        if position is not None:
            result[place] = position.of(place.attribute)
    return result


