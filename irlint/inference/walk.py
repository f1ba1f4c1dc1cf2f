"""The one walk over a model: from what the file says to what is known of every value."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from irlint.binding import bound
from irlint.binding.calls import OUTPUT_COUNT, Call
from irlint.dims import Bounds, Dim, Expr, MaybeDim, Shape, TooComplex, bounds, same, symbol, symbols
from irlint.findings.faults import Fault, Rule, Severity
from irlint.findings.statements import Requirement, Statements, stated, statements
from irlint.findings.wording import counted
from irlint.lazy_typing import Any
from irlint.model import Attribute, Declaration, Function, Graph, Model, Node, Problem, Value
from irlint.model.order import live, ordered
from irlint.model.tensor import UNKNOWN, Optional, SparseTensor, Tensor, Type
from irlint.model.tensor import Sequence as SequenceType
from irlint.ops import Context
from irlint.ops.kernels.type_variables import output_type, type_key, type_variables

NOT_WORKED_OUT = Rule(
    "IRL599",
    "rule-failed",
    Severity.NOTE,
    "irlint's own rule for this operator failed; the node's outputs are taken as the file declares them.",
    why="This is a defect of irlint, not of the model.",
    mend="Report it with the node that the message names.",
)

#: Functions that call each other deeper than this are taken as the file declares them.
MAX_DEPTH = 64

#: So many nodes are worked out inside functions; the calls behind them give what their functions declare.
CALLED_NODES = 200_000

#: So many answers of rules are kept.
MAX_REMEMBERED = 10_000


class Known:
    """What was worked out of a model.

    ``types`` maps each value to its type; a value that is not in it is unknown, None stands for an optional input that
    was left out. ``problems`` are the faults with their nodes; ``requires`` what the operators need and could not
    prove; ``faulted`` the nodes whose outputs are only what the file declares.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.types: dict[Value, Type | None] = {}
        self.problems: list[Problem] = []
        self.requires: list[tuple[str, Node, Requirement]] = []
        self.faulted: set[Node] = set()
        self.calls: dict[Node, Call] = {}
        self.symbols = dict(model.symbols)
        self.walk: _Walk | None = None

    def inferred(self, node: Node, inputs: Sequence[Type | None]) -> tuple[Type | None, ...] | None:
        """What the node's rule says of its outputs for other inputs, None where it has no rule or raises a fault."""
        assert self.walk is not None
        return self.walk.reinferred(node, inputs)


def propagated(model: Model, shapes: Mapping[str, Shape] | None = None) -> Known:
    """Works out type, shape and small contents of every value of ``model``.

    ``shapes`` replaces the shapes of graph inputs, by name (ONNX: the value's; IR: the Parameter layer's or tensor's).
    Raises ValueError where ``shapes`` names an input that the model does not have.
    """
    known = Known(model)
    if model.graph is None:
        return known
    walk = _Walk(model, known, shapes or {})
    known.walk = walk
    walk.main(model.graph)
    return known


def overridden_inputs(model: Model) -> dict[str, Value]:
    """The graph inputs of the main graph by every name that ``shapes`` may use."""
    assert model.graph is not None
    names = {value.name: value for value in model.graph.inputs}
    for node in model.graph.nodes:
        if node.op == "Parameter" and model.format == "openvino" and node.outputs and node.outputs[0] is not None:
            value = node.outputs[0]
            for name in (*(name for port in node.output_ports for name in port.names), node.name):
                names[name] = value
    return names


class _Walk:
    """One walk; ``scope`` holds the attributes of the function call that is being worked out."""

    def __init__(self, model: Model, known: Known, shapes: Mapping[str, Shape]) -> None:
        self.model = model
        self.known = known
        self.scope: Mapping[str, Attribute | None] = {}
        self.quiet = 0
        self.idle = 0
        self.spared = 0
        self.fixed: set[Value | None] = set()
        self.path: tuple[object, ...] = ()
        self.unknowns: dict[object, Dim] = {}
        self.counts: dict[str, int] = {}
        self.names = set(model.symbols)
        self.mentioned: set[tuple[str | None, ...]] = set()
        self.said: dict[tuple[object, ...], int] = {}
        self.depth = 0
        self.results: dict[object, tuple[Type | None, ...]] = {}
        self.answers: dict[tuple[object, ...], tuple[Any, list[Requirement]]] = {}
        self.called = 0
        self.overridden = self._overrides(shapes)
        errors = (each for each in model.problems if each.fault.severity is Severity.ERROR)
        self.damaged = {problem.node for problem in errors if problem.node is not None}
        self.dead: set[Node] = set()
        self.given: set[Value] = set()

    def _overrides(self, shapes: Mapping[str, Shape]) -> dict[Value, Shape]:
        if not shapes:
            return {}
        inputs = overridden_inputs(self.model)
        missing = [name for name in shapes if name not in inputs]
        if missing:
            raise ValueError(f"no input named {', '.join(missing)}; the model's inputs are {', '.join(inputs)}")
        return {inputs[name]: tuple(shape) for name, shape in shapes.items()}

    # --- graphs -------------------------------------------------------------------------------------------------------

    def main(self, graph: Graph) -> None:
        self.bind_inputs(graph, ())
        self.nodes(graph)

    def bind_inputs(self, graph: Graph, arguments: Sequence[Type | None]) -> None:
        types = self.known.types
        for position, value in enumerate(graph.inputs):
            declared = value.type
            if position < len(arguments):
                given = arguments[position]
                fits = given is not None and self.model.format == "onnx"
                types[value] = _filled(given, declared) if fits else given
                self.given.add(value)
            elif declared is not None and self.model.format == "onnx":
                types[value] = self.input_type(value, declared)
        for value, constant in graph.constants.items():
            types[value] = _sound(constant.tensor, value.type if self.model.format == "onnx" else None)
        self.fixed.update(graph.constants)

    def input_type(self, value: Value, declared: Type) -> Type:
        """The type of a graph input, with a symbol for every size that the model leaves open."""
        shape = self.overridden.get(value)
        if shape is not None:
            dtype = declared.dtype if isinstance(declared, Tensor) else None
            return self.named(Tensor(dtype, shape), value)
        return self.named(declared, value)

    def named(self, known: Type, value: Value, label: str = "", *, intervals: bool = False) -> Type:
        """``known`` with a symbol of the input's own for every size that is open, or one of the ``intervals``."""
        if not isinstance(known, Tensor) or known.shape is None:
            return known
        name = label or value.name
        dims = list(known.shape)
        for axis, dim in enumerate(known.shape):
            if dim is None:
                dims[axis] = self.input_symbol(value, name, axis)
            elif intervals and isinstance(dim, Expr):
                dims[axis] = self.input_symbol(value, name, axis, bounds(dim))
        return Tensor(known.dtype, tuple(dims), known.value)

    def input_symbol(self, value: Value, name: str, axis: int, limits: Bounds = (0, None)) -> Dim:
        key = (value, axis)
        if key not in self.unknowns:
            wanted = _identifier(f"{name}_{axis}")
            free, count = wanted, 1
            while free in self.names:
                count += 1
                free = f"{wanted}_{count}"
            self.names.add(free)
            self.known.symbols[free] = f"{name}[{axis}]"
            self.unknowns[key] = symbol(free, limits[0] or 0, limits[1])
        return self.unknowns[key]

    def nodes(self, graph: Graph) -> tuple[Type | None, ...]:
        order = ordered(graph)
        if self.model.format == "openvino":
            self.dead |= set(graph.nodes) - live(graph)
        for node in order.nodes:
            self.node(graph, node)
        for node in order.cyclic:
            self.take_declared(node)
        return tuple(self.known.types.get(value, UNKNOWN) for value in graph.outputs)

    def body(
        self,
        graph: Graph,
        inputs: Sequence[Type | None] = (),
        *,
        node: Node | None = None,
        quiet: bool = False,
        dead: bool = False,
    ) -> tuple[Type | None, ...]:
        """The types of a body's outputs for the given inputs; ``dead`` tells that it never runs.

        What is wrong in a body that constants of ``node`` keep from running is a warning, and a note where sizes do.
        """
        if self.depth >= MAX_DEPTH:
            return tuple(value.type for value in graph.outputs)
        spared = dead and node is not None and not self.fixed.intersection(node.inputs[:2])
        self.depth += 1
        self.quiet += quiet
        self.idle += dead
        self.spared += spared
        try:
            self.bind_inputs(graph, inputs)
            return self.nodes(graph)
        finally:
            self.quiet -= quiet
            self.idle -= dead
            self.spared -= spared
            self.depth -= 1

    def function(
        self, node: Node, function: Function, inputs: Sequence[Type | None], attributes: Mapping[str, Attribute]
    ) -> tuple[Type | None, ...]:
        """What a call of a model-local function gives; a call of the same types is worked out once."""
        given = (*inputs, *[None] * (len(function.graph.inputs) - len(inputs)))
        outer = self.scope
        resolved = {
            name: outer.get(attribute.reference) if attribute.reference is not None else attribute
            for name, attribute in attributes.items()
        }
        key = (
            function,
            given,
            (self.idle > 0, self.spared > 0),
            tuple(sorted((name, id(attribute)) for name, attribute in resolved.items())),
        )
        if key in self.results:
            return self.results[key]
        if self.called > CALLED_NODES:
            return tuple(value.type for value in function.graph.outputs)
        self.called += len(function.graph.nodes)
        self.scope, self.path = {**function.attributes, **resolved}, (*self.path, node)
        try:
            outputs = self.body(function.graph, given)
        finally:
            self.scope, self.path = outer, self.path[:-1]
        if _names(outputs) <= _names(given) | self.names:
            self.results[key] = outputs
        return outputs

    def take_declared(self, node: Node) -> None:
        self.known.faulted.add(node)
        for port, value in enumerate(node.outputs):
            if value is not None:
                self.known.types[value] = self.settled(node, port, value, None)

    # --- nodes --------------------------------------------------------------------------------------------------------

    def node(self, graph: Graph, node: Node) -> None:
        types = self.known.types
        if node.op == "Parameter" and self.model.format == "openvino":
            self.parameter(graph, node)
            return
        if node in self.damaged:
            self.take_declared(node)
            return
        call, faults = bound(node, self.model, self.scope, within_function=graph.path.startswith("function:"))
        self.known.calls[node] = call
        for fault in faults:
            self.report(graph, node, fault)
        if node.op == "Const" and node.outputs and node.outputs[0] in graph.constants:
            self.constant(graph, node)
            return
        inputs = [None if value is None else types.get(value, UNKNOWN) for value in node.inputs]
        with stated() as statements:
            outputs = self.outputs(graph, node, call, inputs)
        self.take_statements(graph, node, statements)
        if outputs is None:
            self.known.faulted.add(node)
        if node.op == "Constant":
            self.fixed.update(node.outputs)
        for port, value in enumerate(node.outputs):
            if value is None:
                continue
            inferred = outputs[port] if outputs is not None and port < len(outputs) else None
            types[value] = self.settled(node, port, value, inferred)

    def constant(self, graph: Graph, node: Node) -> None:
        """An IR's Const, whose one output the parser has read."""
        self.counts_outputs(graph, node, 1)

    def parameter(self, graph: Graph, node: Node) -> None:
        """An IR's Parameter: what the body's caller gives, else its attributes, with a symbol for every open size."""
        value = node.outputs[0] if node.outputs else None
        if value is None:
            return
        call, faults = bound(node, self.model, self.scope)
        self.known.calls[node] = call
        for fault in faults:
            self.report(graph, node, fault)
        if value in self.given and self.known.types.get(value) is not None:
            self.counts_outputs(graph, node, 1)
            return
        declared = value.type if isinstance(value.type, Tensor) else UNKNOWN
        with stated() as statements:
            outputs = self.outputs(graph, node, call, ())
        self.take_statements(graph, node, statements)
        found = outputs[0] if outputs else declared
        tensor = found if isinstance(found, Tensor) else declared
        if value in self.overridden:
            tensor = Tensor(tensor.dtype, self.overridden[value])
        name = node.name or f"input{node.index}"
        self.known.types[value] = self.named(tensor, value, name, intervals=value not in self.overridden)

    def outputs(
        self, graph: Graph, node: Node, call: Call, inputs: Sequence[Type | None]
    ) -> Sequence[Type | None] | None:
        """What the node's rule says of its outputs, None where it cannot be asked or raises a fault."""
        if call.broken:
            return None
        try:
            if call.function is not None:
                return self.function(node, call.function, inputs, call.attributes or {})
            outputs = self.evaluated(node, call, inputs)
            if outputs is None or call.operator is None or self.counts_outputs(graph, node, len(outputs)):
                return outputs
        except Fault as fault:
            self.report(graph, node, fault)
        except TooComplex:
            pass
        except RecursionError:
            raise
        except Exception as error:
            if os.environ.get("IRLINT_DEBUG"):
                raise
            self.report(
                graph, node, NOT_WORKED_OUT.fault(f"irlint's rule for it failed: {error!r}", help=NOT_WORKED_OUT.advice)
            )
        return None

    def evaluated(self, node: Node, call: Call, inputs: Sequence[Type | None]) -> Sequence[Type | None] | None:
        variables: Mapping[str, str] = {}
        if call.schema is not None:
            variables = type_variables(call.schema, inputs)
        if call.operator is None or call.signature is None:
            if call.schema is None:
                return None
            return [_typed(UNKNOWN, call, port, variables) for port in range(len(node.outputs))]
        arguments = call.signature.bound(call.attributes or {})
        if call.signature.context:
            arguments["context"] = self.context(node, call)
        given = list(inputs) if call.signature.variadic else list(inputs[: len(call.signature.inputs)])
        if call.signature.variadic and self.model.format == "openvino":
            given = [UNKNOWN if known is None else known for known in given]
        if any(known is None for known in given[: call.signature.required]):
            return None
        result = self.answer(call, call.operator.function, given, arguments)
        outputs: Sequence[Type | None] = result if isinstance(result, (tuple, list)) else (result,)
        if call.schema is None:
            return outputs
        return [_typed(known, call, port, variables) for port, known in enumerate(outputs)]

    def answer(
        self, call: Call, function: Callable[..., Any], given: Sequence[Type | None], arguments: Mapping[str, Any]
    ) -> Any:
        """What a rule says; a rule that knows no node is asked once for equal inputs and attributes."""
        if call.signature is None or call.signature.context or any(map(_holds_floats, given)):
            return function(*given, **arguments)
        key = (function, *given, *arguments.items())
        try:
            known = self.answers.get(key)
        except TypeError:
            return function(*given, **arguments)
        said = statements()
        if known is not None:
            said.requirements += known[1]
            return known[0]
        faults, requirements = len(said.faults), len(said.requirements)
        result = function(*given, **arguments)
        if len(said.faults) == faults and len(self.answers) < MAX_REMEMBERED:
            self.answers[key] = result, said.requirements[requirements:]
        return result

    def counts_outputs(self, graph: Graph, node: Node, made: int) -> bool:
        """Whether an IR's layer has no more output ports than the operation makes; IR 10 may have ones that nothing uses."""
        if self.model.format != "openvino" or len(node.outputs) <= max(made, 1):
            return True
        fault = OUTPUT_COUNT.fault(
            f"the layer has {counted(len(node.outputs), 'output port')}; the operation makes {made} here",
            help=f"remove the output ports from index {made} on",
        )
        more = set(node.outputs[made:])
        spared = self.model.format_version == "10" and all(more.isdisjoint(each.inputs) for each in graph.nodes)
        self.report(graph, node, fault.lowered(Severity.WARNING) if spared else fault)
        return spared

    def context(self, node: Node, call: Call) -> Context:
        run = partial(self.body, node=node)
        return Context(call.op, node, call.version, len(node.outputs), run, partial(self.unknown, node))

    def reinferred(self, node: Node, inputs: Sequence[Type | None]) -> tuple[Type | None, ...] | None:
        call = self.known.calls.get(node)
        if call is None or call.broken or call.operator is None:
            return None
        with stated():
            try:
                result = self.evaluated(node, call, inputs)
            except Exception:
                return None
        return None if result is None else tuple(result)

    # --- holes --------------------------------------------------------------------------------------------------------

    def settled(self, node: Node, port: int, value: Value, inferred: Type | None) -> Type | None:
        """An output's type: what was inferred, its holes filled from the declaration, what is left given a symbol."""
        declarations = () if self.overridden and inferred is not None else value.declared
        known: Type = inferred if inferred is not None else UNKNOWN
        for declaration in declarations:
            known = _filled(known, self.declared(declaration)) or known
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        dims = tuple(self.unknown(node, (port, axis)) if dim is None else dim for axis, dim in enumerate(known.shape))
        return Tensor(known.dtype, dims, known.value)

    def declared(self, declaration: Declaration) -> Type:
        """A declared type; an IR's port without dims is a scalar or of unknown rank, and nobody can tell which."""
        declared = declaration.type
        if self.model.format == "openvino" and isinstance(declared, Tensor) and declared.shape == ():
            return Tensor(declared.dtype)
        return declared

    def unknown(self, node: Node, key: object, upper: int | None = None, lower: int = 0) -> Dim:
        """The size that nothing tells: one for each node and key, or for each key that is a value."""
        place = (
            (key, self.path)
            if isinstance(key, tuple) and key and isinstance(key[-1], Value)
            else (node, key, self.path)
        )
        if place not in self.unknowns:
            stem = _identifier(f"_{node.op.lower()}")
            self.counts[stem] = count = self.counts.get(stem, -1) + 1
            self.unknowns[place] = symbol(f"{stem}_{count}", lower, upper)
        return self.unknowns[place]

    # --- findings -----------------------------------------------------------------------------------------------------

    def take_statements(self, graph: Graph, node: Node, statements: Statements) -> None:
        for fault in statements.faults:
            self.report(graph, node, fault)
        if not self.quiet and not self.idle:
            self.known.requires += [(graph.path, node, requirement) for requirement in statements.requirements]

    def report(self, graph: Graph, node: Node, fault: Fault) -> None:
        if self.quiet:
            return
        if fault.severity is Severity.NOTE:
            mention = (fault.rule.code, node.domain, node.op, fault.attribute)
            if mention in self.mentioned:
                return
            self.mentioned.add(mention)
        if (self.idle or node in self.dead) and fault.severity is not Severity.NOTE:
            fault = fault.lowered(Severity.NOTE if self.spared else Severity.WARNING)
        key = (fault.rule.code, node, fault.message)
        if key in self.said and not self.louder(fault, self.said[key]):
            return
        place = node.place
        if fault.attribute is not None and fault.attribute in node.attributes:
            place = node.attributes[fault.attribute].place or place
        problem = Problem(fault, graph.path, node, None, place)
        if key in self.said:
            self.known.problems[self.said[key]] = problem
            return
        self.said[key] = len(self.known.problems)
        self.known.problems.append(problem)

    def louder(self, fault: Fault, index: int) -> bool:
        """Whether a fault is louder than it was before, in a body that never runs."""
        before = self.known.problems[index].fault
        return fault.severity.rank > before.severity.rank


def _holds_floats(known: Type | None) -> bool:
    """Whether the contents are floating-point numbers, which may be equal and not the same: 0.0 and -0.0."""
    return (
        isinstance(known, Tensor) and known.value is not None and any(isinstance(each, float) for each in known.value)
    )


def _names(types: Sequence[Type | None]) -> frozenset[str]:
    """The symbols in the shapes and contents of ``types``."""
    found: set[str] = set()
    for known in types:
        if isinstance(known, Tensor):
            for dim in (*(known.shape or ()), *(known.value or ())):
                if isinstance(dim, Expr):
                    found |= symbols(dim)
    return frozenset(found)


def _sound(tensor: Tensor, declared: Type | None) -> Tensor:
    """A constant's type; without what its declaration contradicts, and without a shape that has a size below 0."""
    shape, dtype = tensor.shape, tensor.dtype
    if isinstance(declared, Tensor):
        if declared.dtype and dtype != declared.dtype:
            dtype = None
        if shape is not None and declared.shape is not None and not _alike(shape, declared.shape):
            shape = None
    if shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape):
        shape = None
    return tensor if (shape, dtype) == (tensor.shape, tensor.dtype) else Tensor(dtype, shape)


def _alike(one: Shape, other: Shape) -> bool:
    return len(one) == len(other) and all(same(a, b) is not False for a, b in zip(one, other))


def _typed(known: Type | None, call: Call, port: int, variables: Mapping[str, str]) -> Type | None:
    """An output with the element type that the schema gives, where the rule leaves it open."""
    if call.schema is None or type_key(known) is not None or not (known is None or isinstance(known, Tensor)):
        return known
    name = output_type(call.schema, port, variables)
    if name is None:
        return known
    if "(" in name:
        return _structured(name)
    if known is None:
        return None
    return Tensor(name, known.shape, known.value)


def _structured(name: str) -> Type | None:
    if name.startswith("seq("):
        return SequenceType(_structured(name[4:-1]))
    if name.startswith("optional("):
        return Optional(_structured(name[9:-1]))
    return None if "(" in name else Tensor(name)


def _filled(known: Type | None, declared: Type | None) -> Type | None:
    """``known`` with its holes filled from a declaration; it never overrides what is known."""
    if known is None or declared is None:
        return known if known is not None else declared
    if isinstance(known, SequenceType) and isinstance(declared, SequenceType):
        return SequenceType(known.element or declared.element, known.length)
    if isinstance(known, Optional) and isinstance(declared, Optional):
        return Optional(known.element or declared.element, known.present)
    if isinstance(known, SparseTensor) and isinstance(declared, SparseTensor):
        return SparseTensor(known.dtype or declared.dtype, known.shape if known.shape is not None else declared.shape)
    if known == UNKNOWN and not isinstance(declared, Tensor):
        return declared
    if not isinstance(known, Tensor) or not isinstance(declared, Tensor):
        return known
    dtype = known.dtype or declared.dtype
    if known.shape is None or declared.shape is None:
        return Tensor(dtype, declared.shape if known.shape is None else known.shape, known.value)
    if len(known.shape) != len(declared.shape) or None not in known.shape:
        return Tensor(dtype, known.shape, known.value)
    dims: list[MaybeDim] = [b if a is None else a for a, b in zip(known.shape, declared.shape)]
    return Tensor(dtype, tuple(dims), known.value)


def _identifier(text: str) -> str:
    """A Python identifier for a name of the model."""
    name = "".join(character if character.isalnum() and character.isascii() else "_" for character in text)
    while "__" in name:
        name = name.replace("__", "_")
    return f"d{name}" if name[:1].isdigit() else name or "_"
