"""Lists the uses of operators in a model, with their versions and element types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set

from irlint.inference.known import Known
from irlint.inference.questions import types_within
from irlint.model import Attribute, Function, Graph, Node, Value
from irlint.model.order import live
from irlint.model.tensor import Tensor, Type
from irlint.ops.shared.type_variables import type_key
from irlint.records import NOTHING, record, replaced
from irlint.schemas import OFFICIAL_DOMAINS, official

#: The element type of an omitted input or output. None is an unknown type.
OMITTED = ""

#: The maximum depth of nested calls of functions.
MAX_DEPTH = 64


@record(eq=False)
class Use:
    """A use of an operator: one node, or several nodes that are equal for a runtime."""

    #: The first of the nodes.
    node: Node
    #: The path of the graph with the node.
    graph: str
    version: int | str | None
    #: The element types of the inputs and of the outputs.
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    #: The types of the values in the graph.
    types: Mapping[Value, Type | None]
    #: The attributes of the function around the node.
    scope: Mapping[str, Attribute | None] = NOTHING
    #: False in a branch that never runs.
    may_run: bool = True
    #: The number of nodes.
    nodes: int = 1
    #: The opset of ai.onnx.
    opset: int = 0
    #: The constants of all graphs.
    constants: Set[Value] = frozenset()
    #: Whether the node reads an input of its graph, and whether it computes an output of its graph.
    reads_input: bool = False
    returns_output: bool = False
    #: The codes of the errors of the node.
    faults: Set[str] = frozenset()


def uses(known: Known, distinction: Callable[[Use], object] | None = None, opset: int | None = None) -> list[Use]:
    """The uses of ``each_use``, joined by ``grouped``."""
    return grouped(each_use(known, opset), distinction)


def each_use(known: Known, opset: int | None = None) -> Iterator[Use]:
    """The use of each node that a runtime creates, in the order of the nodes. ``opset`` replaces the opset of
    ai.onnx."""
    if known.model.graph is not None:
        yield from _Walk(known, opset).graph(known.model.graph, known.types, NOTHING, may_run=True, depth=0)


def grouped(single: Iterable[Use], distinction: Callable[[Use], object] | None) -> list[Use]:
    """The uses, in which equal nodes are joined into one use. Equal nodes have the same operator, version, element
    types and ``distinction``."""
    found: dict[object, list[Use]] = {}
    for use in single:
        node = use.node
        more = distinction(use) if distinction is not None else None
        key = (
            node.domain,
            node.op,
            use.version,
            use.inputs,
            use.outputs,
            use.may_run,
            use.reads_input and use.returns_output,
            more,
        )
        found.setdefault(key, []).append(use)
    return [alike[0] if len(alike) == 1 else replaced(alike[0], nodes=len(alike)) for alike in found.values()]


def is_static(use: Use) -> bool:
    """Whether all inputs and outputs of a node have fixed sizes."""
    values = (*use.node.inputs, *use.node.outputs)
    return all(map(is_fixed, [use.types.get(value) for value in values if value is not None]))


def is_fixed(known: Type | None) -> bool:
    """Whether a type is a tensor with fixed sizes."""
    return isinstance(known, Tensor) and known.shape is not None and {int}.issuperset(map(type, known.shape))


def plain_value(attribute: Attribute | None) -> object:
    """The content of an attribute for comparisons."""
    if attribute is None:
        return None
    return attribute.kind, attribute.reference, str(attribute.value)


def element_type(types: Mapping[Value, Type | None], value: Value | None) -> str | None:
    """The element type of a value, or its sequence or optional type, as the schemas name it."""
    return OMITTED if value is None else type_key(types.get(value))


class _Walk:
    def __init__(self, known: Known, opset: int | None = None) -> None:
        self.known = known
        self.opset = opset
        self.faults: dict[Node, set[str]] = {}
        for problem in known.problems:
            if problem.node is not None and problem.is_error:
                self.faults.setdefault(problem.node, set()).add(problem.fault.rule.code)
        self.format = known.format
        self.opsets = [known.model.opsets.get("", 0)]
        self.constants: set[Value] = set()
        self.called: dict[Function, dict[object, Mapping[Value, Type | None]]] = {}
        #: The element types of values that faulty nodes compute, for releases that accept these nodes.
        self.kept: dict[Value, str] = {}

    def graph(
        self,
        graph: Graph,
        types: Mapping[Value, Type | None],
        scope: Mapping[str, Attribute | None],
        *,
        may_run: bool,
        depth: int,
    ) -> Iterator[Use]:
        alive = live(graph, self.format.keeps_alive) if self.format.keeps_alive else None
        self.constants.update(graph.constants)
        inputs_of, outputs_of = set(graph.inputs), set(graph.outputs)
        for node in graph.nodes:
            if node.op == self.format.constant_node:
                self.constants.update(value for value in node.outputs if value is not None)
            if alive is not None and node not in alive:
                continue
            call = self.known.calls.get(node)
            function = call.function if call is not None else None
            if function is not None and depth < MAX_DEPTH:
                yield from self._function(function, node, types, scope, may_run=may_run, depth=depth)
                continue
            inputs = tuple([self._type(types, value) for value in node.inputs])
            outputs = tuple([self._type(types, value) for value in node.outputs])
            if None in outputs and (node in self.faults or not self.kept.keys().isdisjoint(node.inputs)):
                outputs = self._kept(node, inputs, outputs)
            yield Use(
                node,
                graph.path,
                node.version if self.opset is None or node.domain else self.opset,
                inputs,
                outputs,
                types,
                scope,
                may_run,
                opset=self.opsets[-1] if self.opset is None else self.opset,
                constants=self.constants,
                reads_input=not inputs_of.isdisjoint(node.inputs),
                returns_output=not outputs_of.isdisjoint(node.outputs),
                faults=self.faults.get(node, frozenset()),
            )
            for name, body in node.bodies:
                runs = may_run and not _never_runs(node, name, types)
                yield from self.graph(body, types, scope, may_run=runs, depth=depth)

    def _type(self, types: Mapping[Value, Type | None], value: Value | None) -> str | None:
        found = element_type(types, value)
        return self.kept.get(value) if found is None and value is not None else found

    def _kept(
        self, node: Node, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]
    ) -> tuple[str | None, ...]:
        """The element types of the outputs. An unknown type becomes the type of the first input with the same type
        variable."""
        is_official = isinstance(node.version, int) and node.domain in OFFICIAL_DOMAINS
        schema = official(node.op, node.version, node.domain) if is_official else None
        if schema is None:
            return outputs
        given: dict[str, str] = {}
        for formal, type in zip(schema.inputs, inputs):
            if type:
                given.setdefault(formal.variable, type)
        for formal, value, type in zip(schema.outputs, node.outputs, outputs):
            if type is None and value is not None and formal.variable in given:
                self.kept[value] = given[formal.variable]
        return tuple(
            self.kept.get(value) if type is None and value is not None else type
            for value, type in zip(node.outputs, outputs)
        )

    def _function(
        self,
        function: Function,
        node: Node,
        types: Mapping[Value, Type | None],
        scope: Mapping[str, Attribute | None],
        *,
        may_run: bool,
        depth: int,
    ) -> Iterator[Use]:
        attributes = {
            name: scope.get(each.reference) if each.reference is not None else each
            for name, each in node.attributes.items()
        }
        inner = {**function.attributes, **attributes}
        given = [None if value is None else types.get(value) for value in node.inputs]
        key = (*map(type_key, given), *((name, plain_value(each)) for name, each in sorted(inner.items())))
        seen = self.called.setdefault(function, {})
        if key not in seen:
            several = types if not seen and self._is_called_once(function) else None
            seen[key] = several if several is not None else types_within(self.known, function, given, inner)
        self.opsets.append(function.opsets.get("", 0))
        yield from self.graph(function.graph, seen[key], inner, may_run=may_run, depth=depth + 1)
        self.opsets.pop()

    def _is_called_once(self, function: Function) -> bool:
        return sum(call.function is function for call in self.known.calls.values()) == 1


def _never_runs(node: Node, name: str, types: Mapping[Value, Type | None]) -> bool:
    if node.op != "If" or not node.inputs or node.inputs[0] is None:
        return False
    condition = types.get(node.inputs[0])
    taken = condition.scalar if isinstance(condition, Tensor) else None
    return isinstance(taken, (bool, int)) and (name == "then_branch") != bool(taken)
