"""What a model asks of a runtime: its operators at their versions, with the element types of their inputs and
outputs."""

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

#: What stands for the element type of an input or output that is left out; None stands for a type that is not known.
LEFT_OUT = ""

#: Calls of functions inside each other are followed so deep.
MAX_DEPTH = 64


@record(eq=False)
class Use:
    """Nodes that are alike for a runtime: an operator at a version of its domain, with the element types of its inputs
    and outputs.

    ``node`` is the first of them, in the graph ``graph``, and ``nodes`` counts them; ``opset`` is that of ai.onnx
    around them, and ``constants`` are the constants of the graphs around. It ``reads`` an input of its graph, and
    ``returns`` an output of it; ``faults`` are the codes of its errors. ``types`` are those of the values around the
    node, ``scope`` the attributes of the function that it stands in, and ``certain`` is False in a branch that never
    runs.
    """

    node: Node
    graph: str
    version: int | str | None
    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    types: Mapping[Value, Type | None]
    scope: Mapping[str, Attribute | None] = NOTHING
    certain: bool = True
    nodes: int = 1
    opset: int = 0
    constants: Set[Value] = frozenset()
    reads: bool = False
    returns: bool = False
    faults: Set[str] = frozenset()


def uses(known: Known, apart: Callable[[Use], object] | None = None, opset: int | None = None) -> list[Use]:
    """The uses of a model, in the order in which their first nodes come; nodes that no runtime creates are left out.

    ``apart`` gives what else distinguishes nodes of one operator, ``opset`` stands for that of the nodes of ai.onnx.
    """
    return grouped(each_use(known, opset), apart)


def each_use(known: Known, opset: int | None = None) -> Iterator[Use]:
    """The use of each node that a runtime creates, in the order of the nodes."""
    if known.model.graph is not None:
        yield from _Walk(known, opset).graph(known.model.graph, known.types, NOTHING, certain=True, depth=0)


def grouped(single: Iterable[Use], apart: Callable[[Use], object] | None) -> list[Use]:
    """Uses of nodes, of which nodes that nothing distinguishes are one use, in the order of their first nodes."""
    found: dict[object, list[Use]] = {}
    for use in single:
        node = use.node
        more = apart(use) if apart is not None else None
        key = (node.domain, node.op, use.version, use.inputs, use.outputs, use.certain, use.reads and use.returns, more)
        found.setdefault(key, []).append(use)
    return [alike[0] if len(alike) == 1 else replaced(alike[0], nodes=len(alike)) for alike in found.values()]


def is_static(use: Use) -> bool:
    """Whether the sizes of all inputs and outputs of a node are known numbers."""
    values = (*use.node.inputs, *use.node.outputs)
    return all(map(is_fixed, [use.types.get(value) for value in values if value is not None]))


def is_fixed(known: Type | None) -> bool:
    """Whether the sizes of a tensor are known numbers."""
    return isinstance(known, Tensor) and known.shape is not None and {int}.issuperset(map(type, known.shape))


def plain_value(attribute: Attribute | None) -> object:
    """An attribute, to be compared with others of its name."""
    if attribute is None:
        return None
    return attribute.kind, attribute.reference, str(attribute.value)


def element_type(types: Mapping[Value, Type | None], value: Value | None) -> str | None:
    """The element type of a value, as the schemas name it."""
    return LEFT_OUT if value is None else type_key(types.get(value))


class _Walk:
    """The walk over the graphs of a model; a function is gone through once for each set of types that it is called
    with."""

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
        #: The element types that values have for a release that reads the faulty node which gives them.
        self.kept: dict[Value, str] = {}

    def graph(
        self,
        graph: Graph,
        types: Mapping[Value, Type | None],
        scope: Mapping[str, Attribute | None],
        *,
        certain: bool,
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
                yield from self._function(function, node, types, scope, certain=certain, depth=depth)
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
                certain,
                opset=self.opsets[-1] if self.opset is None else self.opset,
                constants=self.constants,
                reads=not inputs_of.isdisjoint(node.inputs),
                returns=not outputs_of.isdisjoint(node.outputs),
                faults=self.faults.get(node, frozenset()),
            )
            for name, body in node.bodies:
                runs = certain and not _never_runs(node, name, types)
                yield from self.graph(body, types, scope, certain=runs, depth=depth)

    def _type(self, types: Mapping[Value, Type | None], value: Value | None) -> str | None:
        found = element_type(types, value)
        return self.kept.get(value) if found is None and value is not None else found

    def _kept(
        self, node: Node, inputs: tuple[str | None, ...], outputs: tuple[str | None, ...]
    ) -> tuple[str | None, ...]:
        """The element types of outputs: one that is not known is that of the first input of its type variable."""
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
        certain: bool,
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
        yield from self.graph(function.graph, seen[key], inner, certain=certain, depth=depth + 1)
        self.opsets.pop()

    def _is_called_once(self, function: Function) -> bool:
        return sum(call.function is function for call in self.known.calls.values()) == 1


def _never_runs(node: Node, name: str, types: Mapping[Value, Type | None]) -> bool:
    """Whether a branch of an If is known not to run."""
    if node.op != "If" or not node.inputs or node.inputs[0] is None:
        return False
    condition = types.get(node.inputs[0])
    taken = condition.scalar if isinstance(condition, Tensor) else None
    return isinstance(taken, (bool, int)) and (name == "then_branch") != bool(taken)
