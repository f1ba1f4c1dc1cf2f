"""The walk visits the nodes of graphs, bodies and functions in order, and infers the type of every value.

A body is a graph in an attribute of a node, such as a branch of If.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import partial

from irlint.binding import Binder
from irlint.binding.calls import Call
from irlint.dims import Dim, Shape
from irlint.findings.faults import Fault, Severity
from irlint.inference.answers import Answer, Memory
from irlint.inference.known import SHAPE_OPTION, Demand, Known
from irlint.inference.limits import Limits, surplus_outputs
from irlint.inference.recorded import Recorded, Recorder, in_second_iteration, problems
from irlint.inference.unknowns import (
    Unknowns,
    constant_type,
    declared_names,
    filled,
    is_complete,
    names_in,
    place_of,
    without_other_symbols,
)
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Function, Graph, Model, Node, Value
from irlint.model.formats import Format
from irlint.model.order import Order, live, ordered, producers
from irlint.model.tensor import UNKNOWN, Tensor, Type
from irlint.ops import Context, Runs
from irlint.records import NOTHING, record, replaced

if TYPE_CHECKING:
    from irlint.inference.levels import Obstacle

#: Bodies and functions nested deeper than this keep their declared types and shapes.
MAX_DEPTH = 64

#: Once the inferred function calls have more nodes than this together, further calls have only declared types.
CALLED_NODES = 30_000


def inferred(model: Model, shapes: Mapping[str, Shape] | None = None, given_by: Mapping[str, str] = NOTHING) -> Known:
    """The types, shapes and small constants of all values of a model, and the faults.

    ``shapes`` replaces the shapes of graph inputs, by name. In an IR, this is the name of the Parameter layer or of its
    tensor. ``given_by`` has the source of each of these shapes, by default --shape. Raises ValueError for a name that
    no input has.
    """
    if model.graph is None:
        return Known(model, {}, {})
    if not shapes:
        return Walk(model, {}).known(model.graph)
    from irlint.inference.inputs import input_names, overridden

    known = Walk(model, overridden(model, shapes)).known(model.graph)
    inputs = input_names(model)
    return replaced(known, overridden={**known.overridden, **{inputs[name]: by for name, by in given_by.items()}})


@record
class Frame:
    """The position of the walk."""

    #: The attributes of the innermost called function: those that the call passes, and the defaults.
    scope: Mapping[str, Attribute | None] = NOTHING
    #: The enclosing function calls.
    path: tuple[Node, ...] = ()
    #: The number of enclosing bodies and calls.
    depth: int = 0
    obstacles: tuple[Obstacle, ...] = ()
    when: str = ""
    #: The outermost call: (path of its graph, calling node).
    call: tuple[str, Node] | None = None


class Functions:
    """The inferred function calls. Calls with equal arguments are inferred once."""

    __slots__ = ("entered", "nodes", "results")

    def __init__(self) -> None:
        self.results: dict[object, tuple[Type | None, ...]] = {}
        self.entered: set[Function] = set()
        #: The number of nodes that have been inferred inside functions.
        self.nodes = 0


class Walk:
    """The walk through one model. It may start from the result ``before`` of an earlier walk, which stays unchanged.

    ``overridden`` has other shapes for inputs of the main graph, and for constants, which then have no values.
    With ``folds=False``, the outputs of nodes other than constants have no values and no symbolic sizes.
    """

    def __init__(
        self,
        model: Model,
        overridden: Mapping[Value, Shape],
        before: Known | None = None,
        *,
        folds: bool = True,
    ) -> None:
        assert model.format is not None
        self.model = model
        self.format: Format = model.format
        self.binder = Binder(model)
        self.overridden = overridden
        self.folds = folds
        self.types: MutableMapping[Value, Type | None] = {} if before is None else ChainMap({}, before.types)
        self.sizes_before: Mapping[object, Dim] = {} if before is None else before.sizes
        self.unknowns = Unknowns(model.symbols, partial(declared_names, model))
        self.memory = Memory()
        self.limits = Limits()
        self.functions = Functions()
        self.calls: dict[Node, Call] = {}
        self.orders: dict[Graph, Order] = {}
        self.producers: dict[Graph, Mapping[Value, Node]] = {}
        self.faulted: set[Node] = set()
        self.constants: set[Value | None] = set()
        self.unreadable: set[Value | None] = set()
        self.arguments: set[Value] = set()
        self.unused: set[Node] = set()
        self.damaged = {problem.node for problem in model.problems if problem.is_error and problem.node is not None}

    def known(self, graph: Graph) -> Known:
        """The result for a model with this main graph."""
        recorder = Recorder()
        self.graph(graph, Frame(), recorder)
        uncalled: frozenset[str] = frozenset()
        if self.model.functions:
            from irlint.inference.uncalled import walked

            uncalled = walked(self, recorder)
        return Known(
            self.model,
            self.types,
            self.producers,
            problems=problems(self._leveled(recorder.faults)),
            requires=tuple(recorder.requires),
            faulted=frozenset(self.faulted),
            calls=self.calls,
            symbols=self.unknowns.symbols,
            sizes=self.unknowns.sizes,
            overridden=dict.fromkeys(self.overridden, SHAPE_OPTION),
            uncalled=uncalled,
            orders=self.orders,
        )

    def _leveled(self, faults: Sequence[Recorded]) -> Iterable[tuple[Recorded, Fault]]:
        """See ``loading.levels``."""
        if not any(fault.obstacles or fault.when for fault in faults):
            return [(fault, fault.fault) for fault in faults]
        from irlint.inference.loading import levels

        return levels(faults, self.model, self.calls, self.overridden)

    # --- graphs -------------------------------------------------------------------------------------------------------

    def graph(
        self, graph: Graph, frame: Frame, recorder: Recorder, arguments: Sequence[Type | None] = ()
    ) -> tuple[Type | None, ...]:
        """The types of a graph's outputs. Inputs without arguments have their declared types."""
        self._bind_inputs(graph, arguments)
        order = self.orders.get(graph)
        if order is None:
            order = self.orders[graph] = ordered(graph)
        if self.format.keeps_alive:
            makers = self.producers[graph] = producers(graph)
            self.unused |= set(graph.nodes) - live(graph, self.format.keeps_alive, makers)
        within = is_function(graph)
        for node in order.nodes:
            self._node(graph, frame, node, recorder, within_function=within)
        for node in order.cyclic:
            self._take_declared(frame, node)
        return tuple(self.types.get(value, UNKNOWN) for value in graph.outputs)

    def _bind_inputs(self, graph: Graph, arguments: Sequence[Type | None]) -> None:
        has_no_input_nodes = self.format.input_node is None
        for position, value in enumerate(graph.inputs):
            declared = value.type
            if position < len(arguments):
                known = arguments[position]
                self.types[value] = filled(known, declared) if known is not None and has_no_input_nodes else known
                self.arguments.add(value)
            elif declared is not None and has_no_input_nodes:
                self.types[value] = self._input_type(value, declared)
        for value, constant in graph.constants.items():
            self.types[value] = constant_type(constant.tensor)
        if self.overridden:
            self._give_shapes(graph.constants)
        self.constants.update(graph.constants)
        if self.model.inputs_have_defaults:
            self.constants.difference_update(graph.inputs)
        if self.format.ports_declare:
            self.unreadable.update(
                value for value, constant in graph.constants.items() if constant.stored and constant.stored.reason
            )

    def _give_shapes(self, constants: Iterable[Value | None]) -> None:
        """Gives constants their shapes in ``overridden``. Their values are then unknown."""
        for value in constants:
            if value is not None and value in self.overridden:
                known = self.types.get(value)
                self.types[value] = Tensor(known.dtype if isinstance(known, Tensor) else None, self.overridden[value])

    def _input_type(self, value: Value, declared: Type) -> Type:
        shape = self.overridden.get(value)
        if shape is not None:
            declared = Tensor(declared.dtype if isinstance(declared, Tensor) else None, shape)
        return self.unknowns.named(declared, value, value.name)

    def _body(
        self,
        frame: Frame,
        node: Node,
        recorder: Recorder,
        graph: Graph,
        inputs: Sequence[Type | None] = (),
        runs: Runs = "always",
    ) -> tuple[Type | None, ...]:
        if frame.depth >= MAX_DEPTH:
            return tuple(value.type for value in graph.outputs)
        inner = replaced(frame, depth=frame.depth + 1)
        match runs:
            case "never":
                inner = replaced(inner, obstacles=(*frame.obstacles, self._obstacle(node)))
            case "as declared":
                inner = replaced(inner, obstacles=(*frame.obstacles, "as declared"))
            case "maybe":
                inner = replaced(inner, when=graph.path)
            case "tried":
                recorder = Recorder(discards=True)
            case "second" | "maybe second" | "probed":
                own, before = Recorder(discards=recorder.discards), set(self.faulted)
                outputs = self.graph(graph, replaced(inner, when=graph.path), own, inputs)
                found = [*in_second_iteration(own.faults, before, is_certain=runs == "second")]
                recorder.faults += found if runs != "probed" else ()
                return () if runs == "probed" and found else outputs
        return self.graph(graph, inner, recorder, inputs)

    def _obstacle(self, node: Node) -> Obstacle:
        """The obstacle of a body that never runs."""
        if not self.constants.isdisjoint(node.inputs[:2]):
            return "dead"
        return "dead by given size" if self.overridden else "dead by size"

    def _function(
        self,
        graph: Graph,
        frame: Frame,
        node: Node,
        function: Function,
        inputs: Sequence[Type | None],
        recorder: Recorder,
        call: Call,
    ) -> tuple[Type | None, ...]:
        """The types of the outputs of a function call. Beyond CALLED_NODES or MAX_DEPTH, only the declared types."""
        arguments = (*inputs, *[None] * (len(function.graph.inputs) - len(inputs)))
        resolved = given_attributes(call, function, frame.scope)
        attributes = tuple(sorted((name, id(attribute)) for name, attribute in resolved.items()))
        key = (function, arguments, frame.obstacles, recorder.discards, frame.when, attributes)
        if key in self.functions.results:
            return self.functions.results[key]
        if self.functions.nodes > CALLED_NODES or frame.depth >= MAX_DEPTH:
            return tuple(value.type for value in function.graph.outputs)
        self.functions.nodes += len(function.graph.nodes)
        self.functions.entered.add(function)
        inner = replaced(
            frame,
            scope={**function.attributes, **resolved},
            path=(*frame.path, node),
            depth=frame.depth + 1,
            call=frame.call or (graph.path, node),
        )
        outputs = self.graph(function.graph, inner, recorder, arguments)
        if names_in(outputs) <= names_in(arguments) | self.unknowns.names:
            self.functions.results[key] = outputs
        return outputs

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, graph: Graph, frame: Frame, node: Node, recorder: Recorder, *, within_function: bool) -> None:
        """Binds a node, and records its faults and the types of its outputs."""
        form = self.format
        is_input = node.op == form.input_node
        if node in self.damaged and not is_input:
            self._take_declared(frame, node)
            return
        call, faults = self.binder.bound(node, frame.scope, within_function=within_function)
        self.calls[node] = call
        if faults:
            self._record(graph, frame, node, faults, recorder, by_rule=False)
        if is_input:
            self._parameter(graph, frame, node, call, recorder)
            return
        if node.op == form.constant_node:
            if node.outputs and node.outputs[0] in graph.constants:
                if len(node.outputs) > 1:
                    self._record(graph, frame, node, surplus_outputs(self.model, graph, node, 1), recorder)
                return
            self.constants.update(node.outputs)
        type_of = self.types.get
        inputs = [None if value is None else type_of(value, UNKNOWN) for value in node.inputs]
        outputs = self._outputs(graph, frame, node, call, inputs, recorder)
        if outputs is None:
            self.faulted.add(node)
        elif self.unreadable or not self.folds:
            outputs = self._kept(node, inputs, outputs)
        self._declare(frame, node, outputs or ())
        if self.overridden and node.op == form.constant_node:
            self._give_shapes(node.outputs)

    def _kept(
        self, node: Node, inputs: Sequence[Type | None], outputs: tuple[Type | None, ...]
    ) -> tuple[Type | None, ...]:
        """The outputs without sizes that depend on unreadable weights; without ``folds``, what ``as_loaded`` keeps."""
        if not self.folds and node.op != self.format.constant_node:
            from irlint.inference.loading import as_loaded

            return tuple(map(as_loaded, outputs))
        if self.unreadable.isdisjoint(node.inputs):
            return outputs
        return tuple(without_other_symbols(output, names_in(inputs)) for output in outputs)

    def _declare(self, frame: Frame, node: Node, outputs: tuple[Type | None, ...]) -> None:
        """Records the types of a node's outputs. Declarations supply missing outputs and unknown parts of outputs."""
        are_complete = self.limits.are_complete(outputs)
        for port, value in enumerate(node.outputs):
            if value is not None:
                output = outputs[port] if port < len(outputs) else None
                is_known = (are_complete and output is not None) or is_complete(output)
                self.types[value] = output if is_known else self._settled(frame, node, port, value, output)

    def _parameter(self, graph: Graph, frame: Frame, node: Node, call: Call, recorder: Recorder) -> None:
        """Infers the type of an input node from the caller's argument, else from its attributes."""
        value = node.outputs[0] if node.outputs else None
        if value is None:
            return
        if value in self.arguments and self.types.get(value) is not None:
            answer = self.ask(frame, node, call, (), recorder)
            self._record(graph, frame, node, (*answer.faults, *surplus_outputs(self.model, graph, node, 1)), recorder)
            return
        declared = value.type if isinstance(value.type, Tensor) else UNKNOWN
        outputs = self._outputs(graph, frame, node, call, (), recorder)
        found = outputs[0] if outputs else declared
        tensor = found if isinstance(found, Tensor) else declared
        if value in self.overridden:
            tensor = Tensor(tensor.dtype, self.overridden[value])
        name = node.name or f"input{node.index}"
        self.types[value] = self.unknowns.named(tensor, value, name, intervals=value not in self.overridden)

    def _outputs(
        self, graph: Graph, frame: Frame, node: Node, call: Call, inputs: Sequence[Type | None], recorder: Recorder
    ) -> tuple[Type | None, ...] | None:
        """The outputs of the node; None if its rule cannot be asked or raises a fault."""
        if call.function is not None and not call.broken:
            return self._function(graph, frame, node, call.function, inputs, recorder, call)
        answer = self.ask(frame, node, call, inputs, recorder)
        outputs = answer.outputs
        faults = answer.faults
        if outputs is not None and 1 < len(node.outputs) > len(outputs) and call.operator is not None:
            surplus = surplus_outputs(self.model, graph, node, len(outputs))
            if any(fault.severity is Severity.ERROR for fault in surplus):
                outputs = None
            faults = (*surplus, *faults)
        if outputs is not None:
            outputs, more = self.limits.checked(node, inputs, outputs)
            faults = (*faults, *more)
        if faults:
            self._record(graph, frame, node, faults, recorder)
        if answer.requirements and not recorder.discards and not frame.obstacles and node not in self.unused:
            recorder.requires += [
                Demand(graph.path, node, requirement, frame.when) for requirement in answer.requirements
            ]
        return outputs

    def ask(self, frame: Frame, node: Node, call: Call, inputs: Sequence[Type | None], recorder: Recorder) -> Answer:
        """The answer of the node's rule. Faults in its bodies are recorded."""
        takes_context = call.signature is not None and call.signature.context
        context = partial(self._context, frame, node, call, recorder) if takes_context else None
        return self.memory.ask(call, inputs, outputs=len(node.outputs), context=context)

    def _context(self, frame: Frame, node: Node, call: Call, recorder: Recorder) -> Context:
        run, size = partial(self._body, frame, node, recorder), partial(self._size, frame, node)
        return Context(call.op, node, call.version, run=run, unknown=size, constant=partial(self._is_constant, node))

    def _is_constant(self, node: Node, index: int) -> bool:
        return index < len(node.inputs) and node.inputs[index] in self.constants

    def _take_declared(self, frame: Frame, node: Node) -> None:
        self.faulted.add(node)
        self._declare(frame, node, ())

    def _settled(self, frame: Frame, node: Node, port: int, value: Value, inferred: Type | None) -> Type | None:
        """An output's type, with unknown parts from the declarations."""
        # The declarations hold for the declared input shapes only.
        return self.unknowns.settled(
            inferred,
            () if self.overridden and inferred is not None else value.declared,
            node=node,
            path=frame.path,
            port=port,
            no_dims_means_unknown=self.format.no_dims_means_unknown,
        )

    def _size(self, frame: Frame, node: Node, key: object, upper: int | None = None, lower: int = 0) -> Dim:
        known = self.sizes_before.get(place_of(node, frame.path, key)) if self.sizes_before else None
        return known if known is not None else self.unknowns.of_node(node, frame.path, key, upper, lower)

    # --- findings -----------------------------------------------------------------------------------------------------

    def _record(
        self,
        graph: Graph,
        frame: Frame,
        node: Node,
        faults: Iterable[Fault],
        recorder: Recorder,
        *,
        by_rule: bool = True,
    ) -> None:
        if recorder.discards:
            return
        obstacles: tuple[Obstacle, ...] = (*frame.obstacles, "unused") if node in self.unused else frame.obstacles
        recorder.faults += [
            Recorded(graph.path, node, fault, obstacles, by_rule, frame.when, frame.call) for fault in faults
        ]


def given_attributes(
    call: Call, function: Function, scope: Mapping[str, Attribute | None]
) -> dict[str, Attribute | None]:
    """The attributes that a call passes to a function. References refer to ``scope``."""
    return {
        name: scope.get(attribute.reference) if attribute.reference is not None else attribute
        for name, attribute in (call.attributes or {}).items()
        if name in function.attributes
    }


def is_function(graph: Graph) -> bool:
    """Whether a graph is a function of the model, or is inside a function."""
    return graph.path.startswith("function:")
