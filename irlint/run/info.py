"""The size and cost of a model, as data."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping

from irlint.costs.activations import weight
from irlint.costs.assumed import assumed_sizes
from irlint.costs.counted import Cost, NodeCost, counted
from irlint.costs.stored import Sums, sums
from irlint.dims import Expr, MaybeDim, Shape, symbols, total
from irlint.inference.known import Known
from irlint.lazy_typing import Any
from irlint.model import Node
from irlint.model.order import graphs
from irlint.records import NOTHING
from irlint.run.contract import contract_data_of
from irlint.run.listing import dim_entry, inferred_file
from irlint.run.search import Excluded, models

#: The nodes with the most MACs are listed, at most this many.
MOST_LISTED = 5


def info_data(
    path: str,
    data: bytes | None = None,
    shapes: Mapping[str, Shape] | None = None,
    given_by: Mapping[str, str] = NOTHING,
) -> dict[str, Any]:
    """The data of ``irlint info --format json``. Raises like ``listing.shapes_data``."""
    return info_data_of(inferred_file(path, data, shapes, given_by), path)


def folder_info_data(folder: str, shapes: Callable[[str], Mapping[str, Any]]) -> dict[str, Any]:
    """The data of ``irlint info --format json`` for a folder. The entry of an unreadable model has an ``error``.

    ``shapes(path)`` returns keyword arguments of ``info_data``. Raises ValueError for a folder without models.
    """
    paths = models([folder], Excluded(configurations=True))
    if not paths:
        raise ValueError("this folder has no models")
    return {"schema": "irlint-infos-1", "models": [_data_or_error(path, shapes(path)) for path in paths]}


def _data_or_error(path: str, shapes: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return info_data(path, **shapes)
    except (OSError, ValueError) as error:
        return {"schema": "irlint-info-1", "path": path.replace(os.sep, "/"), "error": str(error)}


def info_data_of(known: Known, path: str, contract: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The data of ``irlint info --format json`` for an inferred model. ``contract`` is its ``contract_data_of``."""
    model, cost, stored = known.model, counted(known), sums(known)
    contract = contract or contract_data_of(known, path)
    sizes = assumed_sizes(known, (cost.macs, cost.peak, *(each.macs for each in cost.nodes)))
    found: dict[str, Any] = {
        "schema": "irlint-info-1",
        "path": path.replace(os.sep, "/"),
        "format": known.format.name,
        "format_version": model.format_version,
        "opsets": dict(model.opsets),
        "producer": model.producer,
        "nodes": sum(_nodes(known).values()),
        **{name: contract[name] for name in ("notes", "inputs", "outputs", "requires") if name in contract},
        "symbols": _symbol_meanings(known, contract, cost),
        "parameters": stored.parameters,
        "parameters_by_type": dict(stored.parameters_by_type),
        "parameters_without_node": _parameters_without_node(known, stored),
        "bytes": stored.bytes,
        "bytes_by_type": dict(stored.bytes_by_type),
        "macs": dim_entry(cost.macs),
        "peak_memory": dim_entry(cost.peak),
        "by_operator": _by_operator(known, cost, stored),
        "sizes": sizes,
        "dearest": [_node_entry(each, stored) for each in _most_expensive(cost, sizes)],
    }
    if cost.uncounted:
        found["uncounted"] = dict(Counter(_operator(known, node) for node in cost.uncounted))
    return found


def _operator(known: Known, node: Node) -> str:
    return known.format.operator_name(node.domain, node.op)


def _nodes(known: Known) -> Counter[str]:
    """The number of nodes of each operator. Nodes for inputs, outputs and constants do not count."""
    nodes = (node for graph in graphs(known.model) for node in graph.nodes if not _is_omitted(known, node))
    return Counter(_operator(known, node) for node in nodes)


def _is_omitted(known: Known, node: Node) -> bool:
    return node.op in (known.format.input_node, known.format.constant_node, known.format.output_node)


def _parameters_without_node(known: Known, stored: Sums) -> int:
    """The number of parameters that no counted node uses. They are unused, or the model returns them."""
    return stored.unused + sum(count for node, count in stored.by_node.items() if _is_omitted(known, node))


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


def _most_expensive(cost: Cost, sizes: Mapping[str, int]) -> list[NodeCost]:
    found = [each for each in cost.nodes if each.macs is not None and each.macs != 0]
    return sorted(found, key=lambda each: -weight(each.macs, sizes))[:MOST_LISTED]


def _node_entry(cost: NodeCost, stored: Sums) -> dict[str, Any]:
    return {
        "graph": cost.graph,
        "node": cost.node.label,
        "op": cost.operator,
        "macs": dim_entry(cost.macs),
        "parameters": stored.by_node.get(cost.node, 0),
    }


def _symbol_meanings(known: Known, contract: Mapping[str, Any], cost: Cost) -> dict[str, str]:
    """The meanings of the symbols in the contract and in the costs."""
    names = {name for size in (cost.macs, cost.peak) if isinstance(size, Expr) for name in symbols(size)}
    in_costs = {name: text for name, text in known.symbols.items() if name in names}
    return {**contract["symbols"], **in_costs}
