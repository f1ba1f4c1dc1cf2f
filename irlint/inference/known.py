"""What was worked out of a model, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Set

from irlint.binding.calls import Call
from irlint.dims import Dim
from irlint.findings.statements import Requirement
from irlint.model import Model, Node, Problem, Value
from irlint.model.formats import Format
from irlint.model.tensor import Type
from irlint.records import NOTHING, record


@record(eq=False)
class Known:
    """What was worked out of a model.

    ``types`` maps each value to its type; a value that is not in it is unknown, None stands for an optional input that
    was left out. ``problems`` are the faults with their nodes, ``requires`` what the operators need and could not prove,
    with the path of the graph and the node. ``faulted`` are the nodes whose outputs are only what the file declares, and
    ``calls`` what each node calls. ``symbols`` maps the names of sizes back to what the file calls them, and ``sizes`` a place
    to the symbol of the size there that nothing tells. ``overridden`` are the inputs whose
    shapes are not the file's.
    """

    model: Model
    types: MutableMapping[Value, Type | None]
    problems: tuple[Problem, ...] = ()
    requires: tuple[tuple[str, Node, Requirement], ...] = ()
    faulted: Set[Node] = frozenset()
    calls: Mapping[Node, Call] = NOTHING
    symbols: Mapping[str, str] = NOTHING
    sizes: Mapping[object, Dim] = NOTHING
    overridden: Set[Value] = frozenset()

    @property
    def format(self) -> Format:
        """The format of a model that has a graph."""
        assert self.model.format is not None
        return self.model.format
