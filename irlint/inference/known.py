"""What was worked out of a model, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Set

from irlint.binding.calls import Call
from irlint.dims import Dim
from irlint.findings.statements import Requirement
from irlint.model import Graph, Model, Node, Problem, Value
from irlint.model.formats import Format
from irlint.model.order import Order, ordered
from irlint.model.tensor import Type
from irlint.ops import Operator
from irlint.records import NOTHING, record

#: The default source of shapes.
SHAPE_OPTION = "--shape"


@record
class Demand:
    """What a node of the graph ``graph`` needs and could not prove.

    ``when`` is the path of the innermost body around it that may never run, "" where the demand holds always.
    """

    graph: str
    node: Node
    requirement: Requirement
    when: str = ""


@record(eq=False)
class Known:
    """What was worked out of a model.

    ``types`` maps each value to its type; a value that is not in it is unknown, None stands for an optional input that
    was left out. ``problems`` are the faults with their nodes, ``requires`` what the operators demand. ``faulted`` are
    the nodes whose outputs are only what the file declares, and ``calls`` what each node calls. ``symbols`` maps the
    names of sizes back to what the file calls them, and ``sizes`` a place to the symbol of the unknown size there.
    ``overridden`` are the inputs whose shapes are not the file's, each with what gives them, and ``idle`` the paths of
    functions that nothing calls. ``orders`` are those of the graphs that were gone through.
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

    def order(self, graph: Graph) -> Order:
        """The order of the nodes of one of the model's graphs."""
        return self.orders.get(graph) or ordered(graph)

    def kinds(self) -> list[Type | None]:
        """The types of all values: equal nodes have one."""
        return list({id(known): known for known in self.types.values()}.values())

    def types_of(
        self, values: Iterable[Value | None], instead: Mapping[Value, Type | None] = NOTHING
    ) -> list[Type | None]:
        """The types of values, None for one that is left out or not known; of some the types that stand ``instead``."""
        types = self.types
        if not instead:
            return [None if value is None else types.get(value) for value in values]
        return [None if value is None else instead[value] if value in instead else types.get(value) for value in values]

    def operator(self, node: Node) -> Operator | None:
        """The operator that a node calls, None where it calls none that is known."""
        call = self.calls.get(node)
        return None if call is None else call.operator

    @property
    def format(self) -> Format:
        """The format of a model that has a graph."""
        assert self.model.format is not None
        return self.model.format
