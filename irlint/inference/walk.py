"""The walk over a model: graphs, nodes, bodies and calls, from what the file says to what is known of every value."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import partial

from irlint.binding import Binder
from irlint.binding.calls import INPUT_COUNT, MISSING_ATTRIBUTE, MISSING_OPSET_IMPORT, OUTPUT_COUNT, Call
from irlint.dims import Dim, Shape
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.inference.answers import Answer, Memory
from irlint.inference.holes import Holes, constant_type, filled, is_whole, names_in, opened, place_of
from irlint.inference.known import SHAPE_OPTION, Demand, Known
from irlint.inference.sightings import Said, Sighting, milder, once, too_large, too_many_axes
from irlint.model import Attribute, Function, Graph, Model, Node, Value
from irlint.model.formats import Format
from irlint.model.order import Order, live, ordered
from irlint.model.tensor import UNKNOWN, Tensor, Type
from irlint.ops import Context
from irlint.records import NOTHING, record, replaced

#: Functions that call each other deeper than this are taken as the file declares them.
MAX_DEPTH = 64

#: So many nodes are worked out inside functions; the calls behind them give what their functions declare.
CALLED_NODES = 200_000


#: What ONNX Runtime refuses of the nodes of a function that nothing calls.
COUNTED_AT_LOAD = (INPUT_COUNT, OUTPUT_COUNT, MISSING_OPSET_IMPORT)


def inferred(model: Model, shapes: Mapping[str, Shape] | None = None, given_by: Mapping[str, str] = NOTHING) -> Known:
    """Works out type, shape and small contents of every value of ``model``.

    ``shapes`` replaces the shapes of graph inputs, by name (ONNX: the value's; IR: the Parameter layer's or tensor's);
    ``given_by`` says of some of these names what gives the shape, of the others --shape does.
    Raises ValueError where ``shapes`` names an input that the model does not have.
    """
    if model.graph is None:
        return Known(model, {})
    if not shapes:
        return Walk(model, {}).known(model.graph)
    from irlint.inference.inputs import input_names, overridden

    known = Walk(model, overridden(model, shapes)).known(model.graph)
    inputs = input_names(model)
    return replaced(known, overridden={**known.overridden, **{inputs[name]: by for name, by in given_by.items()}})


@record
class Frame:
    """Where the walk stands: in a function called with the attributes ``scope``, behind the nodes ``path`` that called it.

    ``depth`` counts the bodies around. Nothing is as bad as it looks in a body that never runs: what is found there is no worse
    than ``worst``, or, in one that the runtime ``inferred`` all the same, than the rule makes it; in a ``quiet`` one it does not count
    at all. ``when`` is the path of the innermost body that may never run, and ``call``
    the outermost call with its graph.
    """

    scope: Mapping[str, Attribute | None] = NOTHING
    path: tuple[Node, ...] = ()
    depth: int = 0
    worst: Severity = Severity.ERROR
    inferred: bool = False
    quiet: bool = False
    when: str = ""
    call: tuple[str, Node] | None = None


class Walk:
    """The walk over one model; ``before`` is what an earlier one found, of which nothing is changed. One that does not
    ``reckon`` follows numbers in shapes, and no contents that nodes work out."""

    def __init__(
        self,
        model: Model,
        overridden: Mapping[Value, Shape],
        before: Known | None = None,
        *,
        reckons: bool = True,
    ) -> None:
        assert model.format is not None
        self.model = model
        self.format: Format = model.format
        self.binder = Binder(model)
        self.overridden = overridden
        self.reckons = reckons
        self.types: MutableMapping[Value, Type | None] = {} if before is None else ChainMap({}, before.types)
        self.before: Mapping[object, Dim] = {} if before is None else before.sizes
        self.holes = Holes(model.symbols)
        self.memory = Memory()
        #: Answers of which nothing is too large, by their identity: equal nodes have one.
        self.held: dict[int, tuple[Type | None, ...]] = {}
        #: Those of them that leave nothing open.
        self.whole: set[int] = set()
        self.calls: dict[Node, Call] = {}
        self.orders: dict[Graph, Order] = {}
        self.faulted: set[Node] = set()
        self.fixed: set[Value | None] = set()
        self.unread: set[Value | None] = set()
        self.given: set[Value] = set()
        self.dead: set[Node] = set()
        self.results: dict[object, tuple[Type | None, ...]] = {}
        self.called = 0
        self.entered: set[Function] = set()
        self.damaged = {each.node for each in model.problems if each.is_error and each.node is not None}

    def known(self, graph: Graph) -> Known:
        """Everything about the model whose main graph is ``graph``."""
        said = Said()
        self.graph(graph, Frame(), said)
        idle = self._uncalled(said) if self.model.functions else frozenset()
        return Known(
            self.model,
            self.types,
            once(self._of_any_sizes(self._as_loaded(said.faults))),
            tuple(said.requires),
            frozenset(self.faulted),
            self.calls,
            self.holes.symbols,
            self.holes.sizes,
            dict.fromkeys(self.overridden, SHAPE_OPTION),
            idle,
            self.orders,
        )

    def _uncalled(self, said: Said) -> frozenset[str]:
        """The paths of the functions that nothing calls: of them, runtimes look at the wiring only."""
        idle = []
        for function in self.model.functions.values():
            if function not in self.entered:
                idle.append(function.graph.path)
                seen = Said()
                frame = Frame(function.attributes, worst=Severity.WARNING)
                self.graph(function.graph, frame, seen, [UNKNOWN] * len(function.graph.inputs))
                said.faults += [each for each in seen.faults if not _is_open(each, function)]
        return frozenset(idle)

    def _as_loaded(self, faults: list[Sighting]) -> list[Sighting]:
        """The faults, of those that stand only if the runtime knows the sizes when it loads the model, the ones that then do."""
        if all(each.otherwise is Severity.ERROR for each in faults):
            return faults
        from irlint.inference.loading import as_loaded

        assert self.model.graph is not None
        said = Said()
        Walk(self.model, {}, reckons=False).graph(self.model.graph, Frame(), said)
        return as_loaded(faults, said.faults)

    def _of_any_sizes(self, faults: list[Sighting]) -> list[Sighting]:
        """The faults, where those that only the overridden shapes cause, in a body that may never run, are warnings."""
        if not self.overridden or not any(each.when for each in faults):
            return faults
        assert self.model.graph is not None
        said = Said()
        Walk(self.model, {}).graph(self.model.graph, Frame(), said)
        always = {(each.node, each.fault.rule.code) for each in said.faults}
        return [
            replaced(each, worst=milder(each.worst, Severity.WARNING))
            if each.when and (each.node, each.fault.rule.code) not in always
            else each
            for each in faults
        ]

    # --- graphs -------------------------------------------------------------------------------------------------------

    def graph(
        self, graph: Graph, frame: Frame, said: Said, arguments: Sequence[Type | None] = ()
    ) -> tuple[Type | None, ...]:
        """The types of a graph's outputs for the given arguments; its inputs without one are as the file declares them."""
        self._bind_inputs(graph, arguments)
        order = self.orders.get(graph)
        if order is None:
            order = self.orders[graph] = ordered(graph)
        if self.format.keeps_alive:
            self.dead |= set(graph.nodes) - live(graph, self.format.keeps_alive)
        within = is_function(graph)
        for node in order.nodes:
            self._node(graph, frame, node, said, within_function=within)
        for node in order.cyclic:
            self._take_declared(frame, node)
        return tuple(self.types.get(value, UNKNOWN) for value in graph.outputs)

    def _bind_inputs(self, graph: Graph, arguments: Sequence[Type | None]) -> None:
        by_value = self.format.input_node is None
        for position, value in enumerate(graph.inputs):
            declared = value.type
            if position < len(arguments):
                given = arguments[position]
                self.types[value] = filled(given, declared) if given is not None and by_value else given
                self.given.add(value)
            elif declared is not None and by_value:
                self.types[value] = self._input_type(value, declared)
        for value, constant in graph.constants.items():
            self.types[value] = constant_type(constant.tensor)
        self.fixed.update(graph.constants)
        if self.model.inputs_have_defaults:
            self.fixed.difference_update(graph.inputs)
        if self.format.ports_declare:
            self.unread.update(value for value, each in graph.constants.items() if each.stored and each.stored.reason)

    def _input_type(self, value: Value, declared: Type) -> Type:
        """The type of a graph input, with a symbol for every size that the model leaves open."""
        shape = self.overridden.get(value)
        if shape is not None:
            declared = Tensor(declared.dtype if isinstance(declared, Tensor) else None, shape)
        return self.holes.named(declared, value, value.name)

    def _body(
        self,
        frame: Frame,
        node: Node,
        said: Said,
        graph: Graph,
        inputs: Sequence[Type | None] = (),
        *,
        quiet: bool = False,
        dead: bool = False,
        maybe: bool = False,
        stated: bool = False,
    ) -> tuple[Type | None, ...]:
        """The types of the outputs of a body of ``node`` for the given inputs; ``dead`` tells that it never runs, ``maybe`` that
        it may never run, ``stated`` that the inputs are as the body declares them: of that, only what ONNX Runtime refuses then counts.

        What is wrong in a body that constants of the node keep from running is a warning, and a note where sizes do, unless the
        runtime looks at it all the same: not where the sizes are other ones than the model declares.
        """
        if frame.depth >= MAX_DEPTH:
            return tuple(value.type for value in graph.outputs)
        worst = frame.worst
        by_sizes = dead and not self.fixed.intersection(node.inputs[:2])
        inferred = dead and self.format.dead_bodies_are_inferred and not (by_sizes and self.overridden)
        most = Severity.NOTE if by_sizes else Severity.WARNING
        if dead and not inferred:
            worst = milder(worst, most)
        when = graph.path if maybe else frame.when
        inner = replaced(
            frame,
            depth=frame.depth + 1,
            worst=worst,
            inferred=frame.inferred or inferred,
            quiet=frame.quiet or quiet,
            when=when,
        )
        seen = Said() if stated or inferred else said
        outputs = self.graph(graph, inner, seen, inputs)
        if inferred:
            from irlint.inference.loading import of_dead_body

            if not by_sizes:
                said.requires += seen.requires
            said.faults += of_dead_body(seen.faults, self.calls, most)
        if stated:
            from irlint.inference.loading import of_stated_body

            said.faults += of_stated_body(seen.faults, self.calls)
        return outputs

    def _function(
        self,
        graph: Graph,
        frame: Frame,
        node: Node,
        function: Function,
        inputs: Sequence[Type | None],
        said: Said,
        call: Call,
    ) -> tuple[Type | None, ...]:
        """What a call of a model-local function gives; a call of the same types is worked out once."""
        given = (*inputs, *[None] * (len(function.graph.inputs) - len(inputs)))
        resolved = {
            name: frame.scope.get(attribute.reference) if attribute.reference is not None else attribute
            for name, attribute in (call.attributes or {}).items()
            if name in function.attributes
        }
        attributes = tuple(sorted((name, id(attribute)) for name, attribute in resolved.items()))
        key = (function, given, frame.worst, frame.inferred, frame.quiet, frame.when, attributes)
        if key in self.results:
            return self.results[key]
        if self.called > CALLED_NODES or frame.depth >= MAX_DEPTH:
            return tuple(value.type for value in function.graph.outputs)
        self.called += len(function.graph.nodes)
        self.entered.add(function)
        inner = replaced(
            frame,
            scope={**function.attributes, **resolved},
            path=(*frame.path, node),
            depth=frame.depth + 1,
            call=frame.call or (graph.path, node),
        )
        outputs = self.graph(function.graph, inner, said, given)
        if names_in(outputs) <= names_in(given) | self.holes.names:
            self.results[key] = outputs
        return outputs

    # --- nodes --------------------------------------------------------------------------------------------------------

    def _node(self, graph: Graph, frame: Frame, node: Node, said: Said, *, within_function: bool) -> None:
        is_input = node.op == self.format.input_node
        if node in self.damaged and not is_input:
            self._take_declared(frame, node)
            return
        call, faults = self.binder.bound(node, frame.scope, within_function=within_function)
        self.calls[node] = call
        if faults:
            self._say(graph, frame, node, faults, said, by_rule=False)
        if is_input:
            self._parameter(graph, frame, node, call, said)
            return
        if node.op == self.format.constant_node:
            if node.outputs and node.outputs[0] in graph.constants:
                if len(node.outputs) > 1:
                    self._say(graph, frame, node, self._too_many_outputs(graph, node, 1), said)
                return
            self.fixed.update(node.outputs)
        type_of = self.types.get
        inputs = [None if value is None else type_of(value, UNKNOWN) for value in node.inputs]
        outputs = self._outputs(graph, frame, node, call, inputs, said)
        if outputs is None:
            self.faulted.add(node)
        elif not self.reckons and node.op != self.format.constant_node:
            from irlint.inference.loading import unreckoned

            outputs = tuple(map(unreckoned, outputs))
        elif not self.unread.isdisjoint(node.inputs):
            outputs = tuple(opened(each, names_in(inputs)) for each in outputs)
        whole = id(outputs) in self.whole
        for port, value in enumerate(node.outputs):
            if value is not None:
                given = outputs[port] if outputs is not None and port < len(outputs) else None
                known = (whole and given is not None) or is_whole(given)
                self.types[value] = given if known else self._settled(frame, node, port, value, given)

    def _parameter(self, graph: Graph, frame: Frame, node: Node, call: Call, said: Said) -> None:
        """A node that is an input: what the body's caller gives, else its attributes, with a symbol for every open size."""
        value = node.outputs[0] if node.outputs else None
        if value is None:
            return
        if value in self.given and self.types.get(value) is not None:
            stated = self.ask(frame, node, call, (), said)
            self._say(graph, frame, node, (*stated.faults, *self._too_many_outputs(graph, node, 1)), said)
            return
        declared = value.type if isinstance(value.type, Tensor) else UNKNOWN
        outputs = self._outputs(graph, frame, node, call, (), said)
        found = outputs[0] if outputs else declared
        tensor = found if isinstance(found, Tensor) else declared
        if value in self.overridden:
            tensor = Tensor(tensor.dtype, self.overridden[value])
        name = node.name or f"input{node.index}"
        self.types[value] = self.holes.named(tensor, value, name, intervals=value not in self.overridden)

    def _outputs(
        self, graph: Graph, frame: Frame, node: Node, call: Call, inputs: Sequence[Type | None], said: Said
    ) -> tuple[Type | None, ...] | None:
        """What the node gives, None where its rule cannot be asked or raises a fault."""
        if call.function is not None and not call.broken:
            return self._function(graph, frame, node, call.function, inputs, said, call)
        answer = self.ask(frame, node, call, inputs, said)
        outputs = answer.outputs
        faults = answer.faults
        if outputs is not None and len(node.outputs) > max(len(outputs), 1) and call.operator is not None:
            surplus = self._too_many_outputs(graph, node, len(outputs))
            if any(fault.severity is Severity.ERROR for fault in surplus):
                outputs = None
            faults = (*surplus, *faults)
        if outputs is not None and id(outputs) not in self.held:
            outputs, more = self._within_limits(node, inputs, outputs)
            faults = (*faults, *more)
        if faults:
            self._say(graph, frame, node, faults, said)
        if answer.requirements and not frame.quiet and frame.worst is Severity.ERROR:
            said.requires += [Demand(graph.path, node, each, frame.when) for each in answer.requirements]
        return outputs

    def _within_limits(
        self, node: Node, inputs: Sequence[Type | None], outputs: tuple[Type | None, ...]
    ) -> tuple[tuple[Type | None, ...] | None, tuple[Fault, ...]]:
        """What a node gives, and its faults where that is more than a tensor can have, or than irlint follows."""
        large = too_large(outputs)
        if large is not None:
            return None, (large,)
        long = None if node.bodies else too_many_axes(inputs, outputs)
        if long is None:
            self.held[id(outputs)] = outputs
            if all(map(is_whole, outputs)):
                self.whole.add(id(outputs))
        return outputs, () if long is None else (long,)

    def ask(self, frame: Frame, node: Node, call: Call, inputs: Sequence[Type | None], said: Said) -> Answer:
        """The answer of the node's rule; what its bodies find is added to ``said``."""
        count = len(node.outputs)
        if call.signature is None or not call.signature.context:
            return self.memory.ask(call, inputs, outputs=count)

        def context() -> Context:
            run, size = partial(self._body, frame, node, said), partial(self._size, frame, node)
            fixed = partial(self._is_constant, node)
            return Context(call.op, node, call.version, run=run, unknown=size, constant=fixed)

        return self.memory.ask(call, inputs, outputs=count, context=context)

    def _is_constant(self, node: Node, index: int) -> bool:
        return index < len(node.inputs) and node.inputs[index] in self.fixed

    def _too_many_outputs(self, graph: Graph, node: Node, made: int) -> tuple[Fault, ...]:
        """The fault of output ports that the operation does not make; older files may have ones that nothing uses."""
        if not self.format.operators_count_outputs or len(node.outputs) <= max(made, 1):
            return ()
        from irlint.binding.openvino_attributes import meant_version

        fault = OUTPUT_COUNT.fault(
            f"the layer has {counted(len(node.outputs), 'output port')}; the operation makes {made} here",
            help=meant_version(node) or f"remove the output ports from index {made} on",
        )
        more = set(node.outputs[made:])
        unused = all(more.isdisjoint(each.inputs) for each in graph.nodes)
        lax = self.model.format_version == self.format.lax_version and unused
        return (fault.lowered(Severity.WARNING) if lax else fault,)

    def _take_declared(self, frame: Frame, node: Node) -> None:
        self.faulted.add(node)
        for port, value in enumerate(node.outputs):
            if value is not None:
                self.types[value] = self._settled(frame, node, port, value, None)

    def _settled(self, frame: Frame, node: Node, port: int, value: Value, inferred: Type | None) -> Type | None:
        return self.holes.settled(
            inferred,
            () if self.overridden and inferred is not None else value.declared,
            node=node,
            path=frame.path,
            port=port,
            no_dims_tell_nothing=self.format.no_dims_tell_nothing,
        )

    def _size(self, frame: Frame, node: Node, key: object, upper: int | None = None, lower: int = 0) -> Dim:
        """The size of a node that nothing tells."""
        known = self.before.get(place_of(node, frame.path, key)) if self.before else None
        return known if known is not None else self.holes.of_node(node, frame.path, key, upper, lower)

    # --- findings -----------------------------------------------------------------------------------------------------

    def _say(
        self, graph: Graph, frame: Frame, node: Node, faults: Iterable[Fault], said: Said, *, by_rule: bool = True
    ) -> None:
        if frame.quiet:
            return
        worst = milder(frame.worst, Severity.WARNING) if node in self.dead else frame.worst
        uncalled = not frame.path and is_function(graph)
        for fault in faults:
            most = Severity.ERROR if uncalled and fault.rule in COUNTED_AT_LOAD else worst
            said.faults.append(Sighting(graph.path, node, fault, most, by_rule, frame.when, frame.call))


def _is_open(sighting: Sighting, function: Function) -> bool:
    """Whether a fault is that of a node some of whose attributes only a call would give."""
    references = (each.reference for each in sighting.node.attributes.values() if each.reference is not None)
    asks = sighting.by_rule or sighting.fault.rule is MISSING_ATTRIBUTE
    return asks and any(function.attributes.get(name) is None for name in references)


def is_function(graph: Graph) -> bool:
    """Whether a graph is the body of a function of the model, or stands in one."""
    return graph.path.startswith("function:")
