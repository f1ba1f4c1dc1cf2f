"""The size and cost of a model, as data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping

from irlint.costs.activations import weight
from irlint.costs.counted import Cost, NodeCost, counted
from irlint.costs.stored import Sums, sums
from irlint.dims import Expr, MaybeDim, Shape, symbols, total
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.model.order import graphs
from irlint.records import NOTHING
from irlint.run.contract import demanded_by
from irlint.run.listing import dim_entry, worked_out
from irlint.run.search import Excluded, models

#: The number of most expensive nodes (by MACs) that are listed.
DEAREST = 5


def described(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """The data of ``irlint info --format json``. Raises like ``listing.listed``."""
    return described_by(worked_out(path, data, shapes, given_by), path)


def described_folder(folder: str, shapes: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """The data of ``irlint info --format json`` for a folder; the entry of an unreadable model has an ``error``.

    ``shapes`` returns the keyword arguments of ``described`` for a path. Raises ValueError for a folder without models.
    """
    paths = models([folder], Excluded(configurations=True))
    if not paths:
        raise ValueError("this folder has no models")
    return {"schema": "irlint-infos-1", "models": [_described(path, shapes(path)) for path in paths]}


def _described(path: str, shapes: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return described(path, **shapes)
    except (OSError, ValueError) as error:
        return {"schema": "irlint-info-1", "path": path.replace(os.sep, "/"), "error": str(error)}


def described_by(known: Known, path: str, contract: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The data of ``irlint info --format json`` for an inferred model; ``contract`` is the result of ``demanded_by``,
    if the caller has it."""
    model, cost, stored = known.model, counted(known), sums(known)
    contract = contract or demanded_by(known, path)
    found: dict[str, Any] = {
        "schema": "irlint-info-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        "format_version": model.format_version,
        "opsets": dict(model.opsets),
        "producer": model.producer,
        "nodes": sum(_nodes(known).values()),
        **{name: contract[name] for name in ("notes", "inputs", "outputs", "requires") if name in contract},
        "symbols": _named(known, contract, cost),
        "parameters": stored.parameters,
        "parameters_by_type": dict(stored.parameters_by_type),
        "bytes": stored.bytes,
        "bytes_by_type": dict(stored.bytes_by_type),
        "macs": dim_entry(cost.macs),
        "peak_memory": dim_entry(cost.peak),
        "by_operator": _by_operator(known, cost, stored),
        "dearest": [_dear(each, stored) for each in _dearest(cost)],
    }
    if cost.uncounted:
        found["uncounted"] = dict(Counter(_operator(known, node) for node in cost.uncounted))
    return found


def _operator(known: Known, node: Node) -> str:
    return known.format.operator_name(node.domain, node.op)


def _nodes(known: Known) -> Counter[str]:
    """The number of nodes of each operator, without nodes that represent inputs, outputs and constants."""
    omitted = (known.format.input_node, known.format.constant_node, known.format.output_node)
    every = (node for graph in graphs(known.model) for node in graph.nodes if node.op not in omitted)
    return Counter(_operator(known, node) for node in every)


def _by_operator(known: Known, cost: Cost, stored: Sums) -> dict[str, dict[str, Any]]:
    """The nodes, MACs and parameters of each operator, the most frequent operator first."""
    macs: dict[str, list[MaybeDim]] = {}
    for each in cost.nodes:
        macs.setdefault(each.operator, []).append(each.macs)
    parameters: Counter[str] = Counter()
    for node, count in stored.by_node.items():
        parameters[_operator(known, node)] += count
    return {
        name: {"nodes": count, "macs": dim_entry(total(macs.get(name, ()))), "parameters": parameters[name]}
        for name, count in sorted(_nodes(known).items(), key=lambda each: (-each[1], each[0]))
    }


def _dearest(cost: Cost) -> list[NodeCost]:
    found = [each for each in cost.nodes if each.macs is not None and each.macs != 0]
    return sorted(found, key=lambda each: -weight(each.macs))[:DEAREST]


def _dear(each: NodeCost, stored: Sums) -> dict[str, Any]:
    return {
        "graph": each.graph,
        "node": each.node.label,
        "op": each.operator,
        "macs": dim_entry(each.macs),
        "parameters": stored.by_node.get(each.node, 0),
    }


def _named(known: Known, contract: Mapping[str, Any], cost: Cost) -> dict[str, str]:
    """The names in the file, or the meanings, of the symbols in the contract and in the costs."""
    names = {name for size in (cost.macs, cost.peak) if isinstance(size, Expr) for name in symbols(size)}
    found = {name: text for name, text in known.symbols.items() if name in names}
    return {**contract["symbols"], **found}
