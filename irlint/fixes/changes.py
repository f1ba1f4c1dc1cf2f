"""The effects of edits on an inferred model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from irlint.binding.calls import Call
from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.findings.faults import Fault, Severity
from irlint.findings.statements import Requirement
from irlint.fixes.inserted import CAST, RESULTS
from irlint.inference.known import Known
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Graph, Node, Problem, Value
from irlint.model.tensor import INTEGERS, Tensor, Type
from irlint.records import NOTHING, replaced

if TYPE_CHECKING:
    from irlint.fixes.trials import Trials

#: ONNX's kinds of attributes by the types of their values.
KINDS = {int: "INT", float: "FLOAT", str: "STRING", tuple: "INTS"}


class Trial:
    """The state of one trial. ``Outcome`` explains the fields that both classes have."""

    __slots__ = (
        "change",
        "problem",
        "types",
        "fixed",
        "stale",
        "keeps_limit",
        "new_divisions",
        "in_body",
        "requirements",
        "behind",
        "edits",
    )

    def __init__(self, change: Change, problem: Problem, edits: Sequence[Edit]) -> None:
        self.change = change
        self.problem = problem
        self.edits = edits
        self.types: dict[Value, Type | None] = dict(change.types)
        self.fixed: list[Problem] = []
        self.stale: list[Value] = []
        self.keeps_limit = False
        self.new_divisions = 0
        self.in_body = False
        self.requirements: list[Requirement] = []
        self.behind: Set[Node] = frozenset()


class Change:
    """The effect of edits on a graph."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.known = trials.known
        #: New operators and attributes of nodes.
        self.calls: dict[Node, Call] = {}
        #: New values as inputs of nodes, by port.
        self.inputs: dict[Node, dict[int, Value | None]] = {}
        #: The ports of removed inputs. The later inputs of the node move up.
        self.removed: dict[Node, set[int]] = {}
        #: New types of values.
        self.types: dict[Value, Type] = {}
        #: New types of inputs of nodes, by port. Other users of the value keep the old type.
        self.input_types: dict[Node, dict[int, Type]] = {}
        #: Whether declarations of later values may become wrong.
        self.may_be_stale = False

    @property
    def only_types(self) -> bool:
        """Whether the change only gives values other types."""
        return not (self.calls or self.inputs or self.input_types or self.removed)

    def touches(self, node: Node) -> bool:
        """Whether the change affects a node or the type of one of its inputs."""
        if node in self.calls or node in self.inputs or node in self.input_types or node in self.removed:
            return True
        return any(value in self.types for value in node.inputs)

    def add(self, edit: Edit) -> bool:
        """Adds the effect of an edit. Returns False if the graph does not have what the edit names."""
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
            case "remove", "input" if edit.input is not None:
                self.removed.setdefault(node, set()).add(edit.input)
                return edit.input < len(node.inputs)
        return False

    def _typed(self, edit: Edit) -> bool:
        value = self.trials.values.get(edit.name)
        known = self.types.get(value, self.known.types.get(value)) if value is not None else None
        if value is None or not isinstance(known, Tensor):
            return False
        self.types[value] = _type_after(known, edit)
        self.may_be_stale |= edit.shape is not None and not self.trials.format.ports_declare
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
        known = self.input_types.get(node, NOTHING).get(port)
        known = known or (self.known.types.get(value) if value is not None else None)
        result = self._result(edit, known) if isinstance(known, Tensor) else None
        if result is not None:
            self.input_types.setdefault(node, {})[port] = result
        return result is not None

    def _result(self, edit: Edit, known: Tensor) -> Type | None:
        """The output type of an inserted node for the type of its first input; None if it is unknown."""
        if edit.inputs:
            return self._result_of_several(edit, known)
        if edit.name in RESULTS:
            result = RESULTS[edit.name](known, **dict(edit.value))
            # Unknown values would hide a fault about values.
            is_known = known.value is not None or known.extent is not None
            is_lost = is_known and result is not None and result.value is None and result.extent is None
            return None if is_lost and edit.name != CAST else result
        template = next(
            (node for node in self.trials.graph.nodes if node.op == edit.name and len(node.inputs) == 1), None
        )
        answer = self.trials.makers.ask(template, [known], None) if template is not None else None
        return answer.outputs[0] if answer is not None and answer.outputs else None

    def _result_of_several(self, edit: Edit, known: Tensor) -> Type | None:
        """The output type of an inserted node with several inputs; None if the node fails or the type is unknown."""
        trials = self.trials
        node = trials.by_index.get(edit.index) if edit.index is not None else None
        others = [trials.values.get(name) for name in edit.inputs]
        if node is None or edit.input is None or None in others or trials.questions_left <= 0:
            return None
        trials.questions_left -= 1
        attributes = {name: Attribute(KINDS[type(value)], value) for name, value in edit.value}
        given = (node.inputs[edit.input], *others)
        new = replaced(node, name="", op=edit.name, inputs=given, outputs=node.outputs[:1], attributes=attributes)
        call, faults = bound(self.known, new)
        if faults or call.operator is None:
            return None
        answer = trials.makers.ask(new, [known, *(self.known.types.get(each) for each in others if each)], call)
        return answer.outputs[0] if answer is not None and answer.outputs and not grave(answer.faults) else None


def bound(known: Known, node: Node) -> tuple[Call, Sequence[Fault]]:
    """(call, faults) of a node that is not in the model."""
    from irlint.binding import Binder

    return Binder(known.model).bound(node, NOTHING, within_function=False)


def grave(faults: Iterable[Fault]) -> list[Fault]:
    """The faults that are no notes."""
    return [fault for fault in faults if fault.severity is not Severity.NOTE]


def _type_after(known: Tensor, edit: Edit) -> Tensor:
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


def defined(graph: Graph) -> Iterator[Value]:
    """The values of a graph. Of several values with one name, the last one that is returned counts."""
    yield from graph.captured
    for node in reversed(graph.nodes):
        yield from (value for value in node.outputs if value is not None)
    yield from graph.constants
    yield from graph.inputs
