"""The values of a model with their element types, shapes and elements, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Set
from itertools import islice

from irlint import parsers
from irlint.contracts.interface import converted_type
from irlint.dims import Expr, Shape
from irlint.findings.wording import counted
from irlint.inference.inputs import input_names
from irlint.inference.known import Known
from irlint.inference.walk import inferred
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Graph, Model, Node, Value
from irlint.model.order import graphs, producers
from irlint.model.tensor import Contents, Map, Optional, Scalar, Sequence, SparseTensor, Tensor, Type
from irlint.records import NOTHING

if TYPE_CHECKING:
    from irlint.run.selection import Selection

#: The elements of a tensor are listed only if there are at most this many.
LISTED_CONTENTS = 64


def shapes_data(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
    *,
    selection: Selection | None = None,
    marked: bool = False,
) -> dict[str, Any]:
    """The data of ``irlint shapes --format json``, for all values or only those of the ``selection``.

    With ``marked``, each value has ``marks``, a list. It states whether the value is an ``input``, a ``constant`` or an
    ``output`` of its graph.

    Raises OSError if the file cannot be opened. Raises ValueError if the file is not a readable model, or if ``shapes``
    names an input that the model does not have.
    """
    return shapes_data_of(inferred_file(path, data, shapes, given_by), path, selection=selection, marked=marked)


def shapes_data_of(
    known: Known, path: str, *, selection: Selection | None = None, marked: bool = False, most: int | None = None
) -> dict[str, Any]:
    """The data of ``irlint shapes --format json`` for an inferred model. Skips values after the first ``most``."""
    model = known.model
    shown = None
    if selection is not None:
        from irlint.run.selection import selected

        shown = selected(model, selection)
    pairs = (pair for graph in graphs(model) for pair in _entries(graph, known, marked))
    values = [entry for value, entry in islice(pairs, most) if shown is None or value in shown]
    mentioned = _mentioned(values)
    return {
        "schema": "irlint-shapes-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        **notes_on(known),
        "inputs": _input_names(model),
        "outputs": _output_names(model),
        "values": values,
        "requires": [] if selection is not None and selection.ends else _requires(known, shown),
        "symbols": {name: text for name, text in known.symbols.items() if name in mentioned},
    }


def inferred_file(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> Known:
    """The inferred model in a file. ``shapes`` replace the declared shapes of inputs, by their names.

    ``given_by`` maps names of inputs to what states their shapes, such as the configuration. If the model does not have
    an input, a shape of the configuration is ignored. Raises like ``shapes_data``.
    """
    model = parsers.read(path, data)
    if model.graph is None:
        raise ValueError("; ".join(problem.fault.message for problem in model.problems) or "it is not a model")
    if not given_by:
        return inferred(model, shapes)
    from irlint.policy.shape_options import BY

    inputs = input_names(model)
    ignored = {name for name, source in given_by.items() if source != BY and name not in inputs}
    applicable = {name: shape for name, shape in (shapes or {}).items() if name not in ignored}
    return inferred(model, applicable, {name: by for name, by in given_by.items() if name in inputs})


def notes_on(known: Known) -> dict[str, list[str]]:
    """The entry ``notes`` on shapes that the user passed and that contradict declarations of the file; or {}."""
    if not known.overridden:
        return {}
    from irlint.checks.given import problems

    found = [problem.fault.message for problem in problems(known)]
    return {"notes": found} if found else {}


def error_notes(known: Known, path: str) -> list[str]:
    """A note that shapes may be unknown because the model has errors; [] if it has none."""
    problems = (*known.model.problems, *known.problems)
    count = sum(each.is_error and each.because is None for each in problems)
    if not count:
        return []
    return [f"{path} has {counted(count, 'error')}, so later shapes may be unknown: see `irlint {path}`"]


def _input_names(model: Model) -> list[str]:
    assert model.graph is not None and model.format is not None
    if model.format.input_node is None:
        return [value.name for value in model.graph.inputs if value not in model.graph.constants]
    makers = producers(model.graph)
    return [makers[value].name if value in makers else value.name for value in model.graph.inputs]


def _output_names(model: Model) -> list[str]:
    assert model.graph is not None and model.format is not None
    output_node = model.format.output_node
    if output_node is None:
        return [value.name for value in model.graph.outputs]
    return [node.name for node in model.graph.nodes if node.op == output_node]


def _entries(graph: Graph, known: Known, marked: bool) -> Iterator[tuple[Value, dict[str, Any]]]:
    outputs = set(graph.outputs) if marked else set()
    for value, node in _values(graph, known):
        entry = _entry(graph, value, node, None if node is None else value.port, known)
        if marked:
            entry["marks"] = _marks(graph, value, node, outputs, known)
        yield value, entry


def _marks(graph: Graph, value: Value, node: Node | None, outputs: set[Value], known: Known) -> list[str]:
    is_constant = value in graph.constants or (node is not None and node.op == known.format.constant_node)
    found = (("constant", is_constant), ("input", node is None and not is_constant), ("output", value in outputs))
    return [name for name, holds in found if holds]


def _values(graph: Graph, known: Known) -> Iterator[tuple[Value, Node | None]]:
    """(value, node that computes the value or None) for each value of a graph, in order."""
    if known.format.input_node is None:
        seen: set[Value] = set()
        for value in (*graph.inputs, *graph.constants):
            if value not in seen:
                seen.add(value)
                yield value, None
    for node in graph.nodes:
        for output in node.outputs:
            if output is not None:
                yield output, node


def _entry(graph: Graph, value: Value, node: Node | None, port: int | None, known: Known) -> dict[str, Any]:
    found = known.types.get(value)
    if node is not None and node.op == known.format.input_node and not graph.path:
        found = converted_type(found, known, known.format.converted_inputs)
    return {
        "graph": graph.path,
        "name": value.name,
        "node": None if node is None else node.label,
        "op": None if node is None else node.op,
        "port": port,
        **typed(found),
        "value": _elements(found),
    }


def entry_of(graph: Graph, value: Value, known: Known) -> dict[str, Any]:
    """The entry of one value of ``graph``."""
    node = next((node for node in graph.nodes if value in node.outputs), None)
    return _entry(graph, value, node, value.port if node is not None else None, known)


def typed(known: Type | None) -> dict[str, Any]:
    """The entries ``dtype`` and ``shape`` of a value."""
    shape = known.shape if isinstance(known, (Tensor, SparseTensor)) else None
    return {"dtype": _dtype(known), "shape": None if shape is None else [dim_entry(dim) for dim in shape]}


def _dtype(known: Type | None) -> str | None:
    match known:
        case Tensor(dtype):
            return dtype
        case SparseTensor(dtype):
            return f"sparse({dtype})"
        case Sequence(element):
            return f"seq({_dtype(element)})"
        case Optional(element):
            return f"optional({_dtype(element)})"
        case Map(key, value):
            return f"map({key},{_dtype(value)})"
        case _:
            return None


def dim_entry(dim: object) -> object:
    """A size in JSON: a number, the text of an expression, or None."""
    return str(dim) if isinstance(dim, Expr) else dim


def _elements(known: Type | None) -> Any:
    """The elements of a tensor as nested lists; None if there are too many, or if an element or size is unknown."""
    if not isinstance(known, Tensor) or known.value is None or known.shape is None:
        return None
    if len(known.value) > LISTED_CONTENTS or None in known.value:
        return None
    if not all(isinstance(dim, int) for dim in known.shape):
        return None
    return _nested(known.value, [dim for dim in known.shape if isinstance(dim, int)])


def _nested(entries: Contents, shape: list[int]) -> Any:
    if not shape:
        return _scalar(entries[0])
    step = len(entries) // shape[0] if shape[0] else 0
    return [_nested(entries[at * step : (at + 1) * step], shape[1:]) for at in range(shape[0])]


def _scalar(entry: Scalar) -> Any:
    if isinstance(entry, Expr):
        return str(entry)
    if isinstance(entry, float) and (entry != entry or entry in (float("inf"), float("-inf"))):
        return str(entry)
    return entry


def _requires(known: Known, shown: Set[Value] | None) -> list[dict[str, str]]:
    """The requirements of the nodes that compute a value in ``shown``. If ``shown`` is None, those of all nodes."""
    result: dict[tuple[str, str], dict[str, str]] = {}
    for demand in known.requires:
        node, requirement = demand.node, demand.requirement
        if shown is not None and shown.isdisjoint(node.outputs):
            continue
        entry = {"condition": requirement.condition, "node": node.label, "op": node.op, "why": requirement.why}
        if demand.when:
            entry["when"] = demand.when
        result.setdefault((requirement.condition, node.label), entry)
    return list(result.values())


def _mentioned(values: list[dict[str, Any]]) -> set[str]:
    """The symbols in the shapes and elements."""
    names: set[str] = set()
    waiting: list[Any] = [(entry["shape"], entry["value"]) for entry in values]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, (list, tuple)):
            waiting += entry
        elif isinstance(entry, str):
            names.update("".join(c if c.isalnum() or c == "_" else " " for c in entry).split())
    return names
