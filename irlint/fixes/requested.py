"""Edits that a user requests: fixed sizes of inputs, missing annotations, and versions that a target loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from irlint.dims import Expr, MaybeDim, Shape, same, symbols
from irlint.findings.edits import Edit, Of
from irlint.findings.wording import counted
from irlint.fixes.wire import Unwritable
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Value
from irlint.model.order import graphs
from irlint.model.tensor import Tensor, Type

if TYPE_CHECKING:
    from irlint.targets.restamping import Stamp
    from irlint.targets.verdicts import Target


def with_fixed_sizes(known: Known, shapes: Mapping[Value, Shape]) -> Iterator[Edit]:
    """Declares the inputs with the sizes of ``shapes``, and updates other declarations that become wrong or imprecise.

    ``known`` is inferred with these shapes. Raises Unwritable if an input has another rank.
    """
    graph = known.model.graph
    assert graph is not None
    nodes = {node.outputs[0]: node for node in graph.nodes if node.op == known.format.input_node and node.outputs}
    declared = {value: value.type.shape for value in shapes if isinstance(value.type, Tensor)}
    for value, old in declared.items():
        if old is not None and len(old) != len(shapes[value]):
            raise Unwritable(f"{value.name} has {counted(len(old), 'axis', 'axes')}, not {len(shapes[value])}")
    for value, old in declared.items():
        kept = [None] * len(shapes[value]) if old is None else list(map(_kept, old))
        shape = tuple(dim if isinstance(dim, int) else stays for dim, stays in zip(shapes[value], kept))
        node = nodes.get(value)
        if list(shape) == kept and old is not None:
            continue
        if node is None:
            yield Edit("declaration", "input", name=value.name, shape=shape)
        else:
            yield Edit("declaration", "node", "", node.label, node.index, name=value.name, shape=shape)
    for each in graphs(known.model):
        if each.path in known.uncalled or each.path.startswith("function:"):
            continue
        yield from _ports(each, known) if known.format.ports_declare else _declared(each, known)


def _declared(graph: Graph, known: Known) -> Iterator[Edit]:
    """Corrects declarations of outputs, body inputs and ``value_info`` that are wrong or imprecise."""
    listed: dict[Of, Sequence[Value | None]] = {"output": graph.outputs}
    if graph.path:
        listed["input"] = graph.inputs
    outer = {*graph.inputs, *graph.outputs}
    listed["value_info"] = [value for node in graph.nodes for value in node.outputs if value not in outer]
    for of, values in listed.items():
        for value in values:
            for each in value.declared if value is not None else ():
                shape = _corrected(known.types.get(value), each.type) if value is not None and each.by == of else None
                if value is not None and shape is not None:
                    yield Edit("declaration", of, graph.path, name=value.name, shape=shape)


def _ports(graph: Graph, known: Known) -> Iterator[Edit]:
    """Corrects port declarations of a graph's layers that are wrong or imprecise."""
    for node in graph.nodes:
        is_model_input = node.op == known.format.input_node and not graph.path
        for value in () if is_model_input else node.outputs:
            shape = _corrected(known.types.get(value), value.type) if value is not None else None
            if value is not None and shape is not None:
                yield Edit("declaration", "node", graph.path, node.label, node.index, name=value.name, shape=shape)
        for index, (port, source) in enumerate(zip(node.input_ports, node.inputs)):
            shape = _corrected(known.types.get(source), port.type) if source is not None else None
            if shape is not None:
                yield Edit("declaration", "node", graph.path, node.label, node.index, input=index, shape=shape)


def _corrected(given: Type | None, declared: Type | None) -> tuple[int | str | None, ...] | None:
    """The declared shape with known sizes; "" keeps a dim. None if the declaration needs no change."""
    if not isinstance(given, Tensor) or not isinstance(declared, Tensor) or given.shape is None or not declared.shape:
        return None
    if len(given.shape) != len(declared.shape):
        return tuple(dim if isinstance(dim, int) else None for dim in given.shape)
    fixed = [_fixed(one, other) for one, other in zip(given.shape, declared.shape)]
    return None if all(fixed[axis] == _kept(dim) for axis, dim in enumerate(declared.shape)) else tuple(fixed)


def _fixed(given: MaybeDim, declared: MaybeDim) -> int | str | None:
    """The size to declare: a known integer, None if the declared size is wrong, else the declared size."""
    if isinstance(given, int):
        return given
    return None if same(given, declared) is False else _kept(declared)


def _kept(declared: MaybeDim) -> int | str:
    """An integer, or "" for any other dim."""
    return declared if isinstance(declared, int) else ""


def annotated(known: Known) -> Iterator[Edit]:
    """Adds ``value_info`` to values inside graphs, if each of their sizes is a number or a name in the file."""
    named = _names(known)
    for graph in () if known.format.ports_declare else graphs(known.model):
        if graph.path.startswith("function:"):
            continue
        outer = {*graph.inputs, *graph.outputs}
        for node in graph.nodes:
            for value in node.outputs:
                given = known.types.get(value) if value is not None and not value.declared else None
                if (
                    value is None
                    or value in outer
                    or not isinstance(given, Tensor)
                    or not given.dtype
                    or given.shape is None
                ):
                    continue
                shape = [dim if isinstance(dim, int) else named.get(dim) for dim in given.shape]
                if None not in shape and node not in known.faulted:
                    yield Edit(
                        "declaration", "value_info", graph.path, name=value.name, shape=tuple(shape), dtype=given.dtype
                    )


def _names(known: Known) -> dict[object, str]:
    """The symbols in inputs of the model, with their names in the file."""
    assert known.model.graph is not None
    types = [value.type for value in known.model.graph.inputs]
    dims = [dim for type in types if isinstance(type, Tensor) for dim in type.shape or () if isinstance(dim, Expr)]
    alone = [dim for dim in dims if symbols(dim) == {str(dim)}]
    return {dim: known.model.symbols.get(str(dim), str(dim)) for dim in alone}


def restamped(known: Known, targets: Sequence[str]) -> Iterator[Edit]:
    """The nearest opset and IR version with which all ``targets`` run the model; nothing if they already do."""
    from irlint.targets.restamping import restamped as after
    from irlint.targets.restamping import stamps
    from irlint.targets.verdicts import target

    requested = map(target, targets)
    releases = [each for each in requested if each.runtime in known.format.runtimes and each.column is not None]
    if releases and known.format.restamps and not _all_run(known, None, releases):
        stamp = next((each for each in stamps(known) if _all_run(after(known, each), each.opset, releases)), None)
        yield from _versions(known, stamp)


def loadable(known: Known) -> Iterator[Edit]:
    """The nearest opset and IR version with which a release runs a model that every release refuses."""
    from irlint.targets import tables
    from irlint.targets.restamping import restamped as after
    from irlint.targets.restamping import stamps
    from irlint.targets.verdicts import REFUSED, RUNS, reasons, verdict

    runtime = next(iter(known.format.runtimes))
    columns = range(len(tables.releases(runtime)))

    def verdicts(at: Known, opset: int | None) -> set[str]:
        found = reasons(at, runtime, None, opset)
        return {verdict(each for each in found if each.releases >> column & 1) for column in columns}

    if known.format.restamps and verdicts(known, None) == {REFUSED}:
        stamp = next((each for each in stamps(known) if RUNS in verdicts(after(known, each), each.opset)), None)
        yield from _versions(known, stamp)


def _all_run(known: Known, opset: int | None, releases: Sequence[Target]) -> bool:
    """Whether all releases run the model with nodes of this opset; None is the opset of the model."""
    from irlint.targets.verdicts import RUNS, reasons, verdict

    return all(verdict(reasons(known, each.runtime, 1 << (each.column or 0), opset)) == RUNS for each in releases)


def _versions(known: Known, stamp: Stamp | None) -> Iterator[Edit]:
    if stamp is not None and stamp.opset != known.model.opsets.get(""):
        yield Edit("opset", "opset_import", value=stamp.opset)
    if stamp is not None and str(stamp.ir_version) != known.model.format_version:
        yield Edit("ir_version", "graph", value=stamp.ir_version)
