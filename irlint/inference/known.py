"""The result of inference, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Set

from irlint.binding.calls import Call
from irlint.dims import Dim
from irlint.findings.statements import Requirement
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.formats import Format
from irlint.model.order import Order, ordered, producers
from irlint.model.tensor import Type
from irlint.ops import Operator
from irlint.records import NOTHING, record

#: The default source of shapes.
SHAPE_OPTION = "--shape"


@record
class Demand:
    """A requirement of a node in the graph ``graph`` that is not proven.

    ``when`` is the path of the innermost enclosing body that may never run, or "" if the requirement always applies.
    """

    graph: str
    node: Node
    requirement: Requirement
    when: str = ""


@record(eq=False)
class Known:
    """The result of inference for a model.

    ``types`` maps each value to its type; a missing value is unknown, and None is an omitted optional input.
    ``problems`` are the faults with their nodes, and ``requires`` the requirements of operators. ``faulted`` are the
    nodes whose outputs have only their declared types, and ``calls`` maps each node to its call. ``symbols``
    maps names of symbols to the names in the file, and ``sizes`` maps keys (``unknowns.place_of``) to the symbols of
    unknown sizes. ``overridden`` are the inputs whose shapes do not come from the file, each with the source of its
    shape. ``idle`` are the paths of uncalled functions, and ``orders`` the sorted nodes of the visited graphs.
    ``indexed`` maps graphs to the nodes that compute their values, where the walk needed them.
    """

    model: Model
    types: MutableMapping[Value, Type | None]
    problems: tuple[Problem, ...] = ()
    requires: tuple[Demand, ...] = ()
    faulted: Set[Node] = frozenset()
    calls: Mapping[Node, Call] = NOTHING
    symbols: Mapping[str, str] = NOTHING
    sizes: Mapping[object, Dim] = NOTHING
    overridden: Mapping[Value, str] = NOTHING
    idle: Set[str] = frozenset()
    orders: Mapping[Graph, Order] = NOTHING
    indexed: Mapping[Graph, Mapping[Value, Node]] = NOTHING

    def makers(self, graph: Graph) -> Mapping[Value, Node]:
        """The node that computes each value of a graph of the model."""
        return self.indexed.get(graph) or producers(graph)

    def order(self, graph: Graph) -> Order:
        """The sorted nodes of a graph of the model."""
        return self.orders.get(graph) or ordered(graph)

    def kinds(self) -> list[Type | None]:
        """The distinct types of all values."""
        types = list(self.types.values())
        return list(dict(zip(map(id, types), types)).values())

    def types_of(
        self, values: Iterable[Value | None], instead: Mapping[Value, Type | None] = NOTHING
    ) -> list[Type | None]:
        """The types of values, None for an omitted or unknown one; ``instead`` replaces the types of some values."""
        types = self.types
        if not instead:
            return list(map(types.get, values))  # type: ignore[arg-type]
        return [None if value is None else instead[value] if value in instead else types.get(value) for value in values]

    def operator(self, node: Node) -> Operator | None:
        """The operator that a node calls; None for a function or an unknown operator."""
        call = self.calls.get(node)
        return None if call is None else call.operator

    @property
    def format(self) -> Format:
        """The format of the model, which has a graph."""
        assert self.model.format is not None
        return self.model.format
