"""Finds indices outside of their axis, if other nodes of the model show the intended axis or number of rows."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.dims import MaybeDim, symbols
from irlint.findings.faults import Severity
from irlint.inference.known import Demand, Known
from irlint.inference.origins import Makers, Position, read_from, shape_of, trail
from irlint.model import Node, Problem, Value
from irlint.model.order import graphs
from irlint.model.tensor import FLOATS, Ends, Tensor
from irlint.ops.shared.bounds import ramp_of
from irlint.ops.shared.index_ranges import INDEX_OUT_OF_RANGE
from irlint.records import record


@record
class Lookup:
    """A node that reads a constant table of ``rows`` rows, and skips the rows before row ``first``."""

    node: Node
    table: Value
    rows: int
    first: int


def problems(known: Known) -> list[Problem]:
    """The problems of Loop trip counts that come from the wrong axis, and of tables without the first rows, which
    their lookup skips."""
    if not any(graph.path for graph in graphs(known.model)) and len(known.requires) < 2:
        return []
    makers = Makers(known)
    return [*_loops(known, makers), *_tables(known, makers)]


def _loops(known: Known, makers: Makers) -> Iterator[Problem]:
    """A problem for each Loop whose trip count is the size of one axis, but whose iteration number indexes another."""
    nodes = {
        each.path: (node, each) for graph in graphs(known.model) for node in graph.nodes for _, each in node.bodies
    }
    for demand in known.requires:
        loop, body = nodes.get(demand.graph, (None, None))
        number = body.inputs[0] if body is not None and body.inputs else None
        number_type = known.types.get(number) if number is not None else None
        if loop is None or number not in demand.node.inputs or not isinstance(number_type, Tensor):
            continue
        trip_count = loop.inputs[0] if loop.inputs else None
        if not isinstance(number_type.extent, Ends) or trip_count is None:
            continue
        source, place = read_from(trip_count, Position(0, 0, True), makers)
        shape = shape_of(source, known)
        if place.in_contents or shape is None or not isinstance(shape[place.index], int):
            continue
        yield from _index_into_other_axis(demand, source, place.index, makers)


def _index_into_other_axis(demand: Demand, source: Value, counted_axis: int, makers: Makers) -> Iterator[Problem]:
    """The problem of an index into another axis than ``counted_axis``, which gives the trip count."""
    node, known = demand.node, makers.known
    names = {name for each in demand.requirement.any_of for name in symbols(each.left)}
    shapes = ((value, shape_of(value, known) or ()) for value in node.inputs[:1] if value is not None)
    axes = [(value, axis, dim) for value, shape in shapes for axis, dim in enumerate(shape)]
    for value, axis, dim in axes:
        found = trail(value, axis, makers)
        is_other = found is not None and found.value is source and found.axis != counted_axis
        if found is None or not is_other or not _contains_symbol(dim, names):
            continue
        trip_count = (shape_of(source, known) or ())[counted_axis]
        last = trip_count - 1 if isinstance(trip_count, int) else trip_count
        fault = INDEX_OUT_OF_RANGE.fault(
            f"the iteration number, 0 to {last}, is an index into axis {axis} of input 0, whose size is {dim}; the "
            f"trip count {trip_count} is the size of axis {counted_axis} of `{source.name}`, and {dim} that of axis "
            f"{found.axis}",
            help=f"take axis {found.axis} of `{source.name}` as the trip count, or read axis {counted_axis}",
            marks=((0, axis),),
            severity=Severity.WARNING,
        )
        yield Problem(fault, demand.graph, node, place=node.place)
        return


def _contains_symbol(dim: MaybeDim, names: set[str]) -> bool:
    return dim is not None and not isinstance(dim, int) and bool(symbols(dim) & names)


def _tables(known: Known, makers: Makers) -> Iterator[Problem]:
    """A problem for each table whose lookup skips its first n rows, if another lookup also skips n rows, and its table
    has exactly n more rows."""
    found = [each for demand in known.requires if (each := _lookup(demand.node, makers)) is not None]
    for one in dict.fromkeys(found):
        for other in found:
            if one.first == other.first and one.rows + one.first == other.rows:
                fault = INDEX_OUT_OF_RANGE.fault(
                    f"the lookup skips the first {one.first} of {one.rows} rows, so {one.rows - one.first} positions "
                    f"work; `{other.table.name}`, which {other.node.op} {other.node.label!r} reads in the "
                    f"same way, has {other.rows} rows",
                    help=f"store {other.rows} rows in `{one.table.name}`: the {one.first} rows that the lookup skips "
                    "are probably missing",
                    severity=Severity.NOTE,
                )
                yield Problem(fault, "", one.node, place=one.node.place)
                break


def _lookup(node: Node, makers: Makers) -> Lookup | None:
    """The lookup of increasing positions in a constant table; None for other nodes."""
    if len(node.inputs) != 2 or None in node.inputs:
        return None
    table, positions = node.inputs
    known = makers.known.types.get
    stored, given = (known(value) if value is not None else None for value in (table, positions))
    if table is None or not isinstance(stored, Tensor) or not isinstance(given, Tensor):
        return None
    ramp = ramp_of(given) if given.value is None else None
    rows = (stored.shape or (None,))[0]
    is_table = stored.dtype in FLOATS and stored.rank == 2 and makers.is_constant(table)
    if ramp is None or not is_table or not isinstance(rows, int) or not isinstance(ramp.first, int) or ramp.first < 1:
        return None
    return Lookup(node, table, rows, ramp.first)
