"""The effects of edits on what is known of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irlint.binding.calls import Call
from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.findings.faults import Fault
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Node, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.records import NOTHING, record, replaced

if TYPE_CHECKING:
    from irlint.fixes.trials import Trials


@record
class Change:
    """The effect of edits on a graph.

    * ``calls``: other operators or attributes of nodes.
    * ``inputs``: other values as inputs of nodes.
    * ``types``: other types of values.
    * ``given``: other types of single inputs of nodes.
    * ``stale``: declarations of later values may become wrong.
    """

    calls: Mapping[Node, Call] = NOTHING
    inputs: Mapping[Node, Mapping[int, Value | None]] = NOTHING
    types: Mapping[Value, Type] = NOTHING
    given: Mapping[Node, Mapping[int, Type]] = NOTHING
    stale: bool = False

    def touches(self, node: Node) -> bool:
        """Whether the change replaces a node or the type of a value that the node uses."""
        if node in self.calls or node in self.inputs or node in self.given:
            return True
        return any(value in self.types for value in node.inputs)


class Changes:
    """Collects the effects of edits."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.known = trials.known
        self.calls: dict[Node, Call] = {}
        self.inputs: dict[Node, dict[int, Value | None]] = {}
        self.types: dict[Value, Type] = {}
        self.given: dict[Node, dict[int, Type]] = {}
        self.stale = False

    @property
    def change(self) -> Change:
        """The collected effect."""
        return Change(self.calls, self.inputs, self.types, self.given, self.stale)

    def add(self, edit: Edit) -> bool:
        """Adds the effect of an edit. Returns False if the edit names something that the graph does not have."""
        match edit.kind:
            case "constant" | "declaration":
                return self._typed(edit)
        node = self.trials.by_index.get(edit.index) if edit.index is not None else None
        if node is None or edit.graph:
            return False
        match edit.kind, edit.of:
            case "attribute", _:
                return self._attribute(node, edit)
            case "rename", "operator":
                return self._operator(node, edit)
            case "input", _:
                return self._input(node, edit)
            case "insert", _:
                return self._inserted(node, edit)
        return False

    def _typed(self, edit: Edit) -> bool:
        value = self.trials.values.get(edit.name)
        known = self.types.get(value, self.known.types.get(value)) if value is not None else None
        if value is None or not isinstance(known, Tensor):
            return False
        self.types[value] = _edited(known, edit)
        self.stale |= edit.shape is not None and not self.known.format.ports_declare
        return True

    def _attribute(self, node: Node, edit: Edit) -> bool:
        call = self.calls.get(node, self.known.calls.get(node))
        if call is None:
            return False
        given = call.attributes or {}
        value = list(edit.value) if isinstance(given.get(edit.name), list) else edit.value
        self.calls[node] = replaced(call, attributes={**given, edit.name: value})
        return True

    def _operator(self, node: Node, edit: Edit) -> bool:
        call, faults = bound(self.known, replaced(node, op=edit.value))
        self.calls[node] = call
        return not faults and call.operator is not None

    def _input(self, node: Node, edit: Edit) -> bool:
        value = self.trials.values.get(edit.value)
        if (value is None and edit.value != "") or edit.input is None:
            return False
        self.inputs.setdefault(node, {})[edit.input] = value
        return True

    def _inserted(self, node: Node, edit: Edit) -> bool:
        port = edit.input
        if port is None or not 0 <= port < len(node.inputs):
            return False
        value = self.inputs.get(node, NOTHING).get(port, node.inputs[port])
        known = self.given.get(node, NOTHING).get(port) or (self.known.types.get(value) if value is not None else None)
        result = self.trials.behind(edit, known)
        if result is not None:
            self.given.setdefault(node, {})[port] = result
        return result is not None


def bound(known: Known, node: Node) -> tuple[Call, Sequence[Fault]]:
    """The bound call of a new node, and its faults."""
    from irlint.binding import Binder

    return Binder(known.model).bound(node, NOTHING, within_function=False)


def _edited(known: Tensor, edit: Edit) -> Tensor:
    """The type of a value after an edit."""
    if edit.kind == "declaration":
        shape = known.shape if edit.shape is None else edit.shape
        return Tensor(edit.dtype or known.dtype, shape, None if edit.dtype else known.value)
    match edit.of:
        case "type":
            return Tensor(edit.value, known.shape, known.value if edit.value in INTEGERS else None)
        case "entries":
            shape = known.shape if len(edit.value) == len(known.value or ()) else (len(edit.value),)
            return Tensor(known.dtype, shape, edit.value)
    kept = known.value if product(edit.value) == len(known.value or ()) and not edit.order else None
    return Tensor(known.dtype, edit.value, kept)
