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
    """A requirement of a node that is not proven."""

    graph: str
    node: Node
    requirement: Requirement
    #: The path of the innermost body around the node that may never run; "" if the requirement always applies.
    when: str = ""


@record(eq=False)
class Known:
    """The result of inference for a model."""

    model: Model
    #: None for a function's input that the call omits. A value of unknown type may be missing.
    types: MutableMapping[Value, Type | None]
    #: The producers of each graph's values. ``makers`` adds a graph on first use.
    producers: MutableMapping[Graph, Mapping[Value, Node]]
    problems: tuple[Problem, ...] = ()
    requires: tuple[Demand, ...] = ()
    #: The nodes whose outputs have only their declared types, because no rule computed the outputs.
    faulted: Set[Node] = frozenset()
    calls: Mapping[Node, Call] = NOTHING
    #: The names of sizes in the file, by the names of symbols.
    symbols: Mapping[str, str] = NOTHING
    #: The symbols of unknown sizes, by ``unknowns.place_of``.
    sizes: Mapping[object, Dim] = NOTHING
    #: The inputs with a shape that the user passed. The text names the source, such as ``--shape``.
    overridden: Mapping[Value, str] = NOTHING
    uncalled: Set[str] = frozenset()
    orders: Mapping[Graph, Order] = NOTHING

    def makers(self, graph: Graph) -> Mapping[Value, Node]:
        """The node that computes each value of a graph of the model."""
        found = self.producers.get(graph)
        if found is None:
            found = self.producers[graph] = producers(graph)
        return found

    def order(self, graph: Graph) -> Order:
        """The topological order of a graph of the model."""
        return self.orders.get(graph) or ordered(graph)

    def kinds(self) -> list[Type | None]:
        """The distinct types of all values."""
        types = list(self.types.values())
        return list(dict(zip(map(id, types), types)).values())

    def types_of(
        self, values: Iterable[Value | None], instead: Mapping[Value, Type | None] = NOTHING
    ) -> list[Type | None]:
        """The types of values; None for an omitted or unknown value. ``instead`` has types that replace known ones."""
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
        """The format of the model."""
        assert self.model.format is not None
        return self.model.format
