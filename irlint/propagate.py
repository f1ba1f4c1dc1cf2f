"""The one walk over a model: from what the file says to what is known of every value."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial


from irlint.bind import Call, bound, output_type, type_key, type_variables
from irlint.diagnostics import Fault, Requirement, Rule, Severity, Statements, stated
from irlint.dims import Dim, MaybeDim, Shape, TooComplex, symbol
from irlint.model import Attribute, Function, Graph, Model, Node, Problem, Value, ordered
from irlint.ops import Context
from irlint.tensor import UNKNOWN, Optional, Sequence as SequenceType, SparseTensor, Tensor, Type

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


@dataclass(slots=True)
class Known:
    """What was worked out of a model.

    ``types`` maps each value to its type; a value that is not in it is unknown, None stands for an optional input that
    was left out. ``problems`` are the faults with their nodes; ``requires`` what the operators need and could not
    prove; ``faulted`` the nodes whose outputs are only what the file declares.
    """

    model: Model
    types: dict[Value, Type | None] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    requires: list[tuple[str, Node, Requirement]] = field(default_factory=list)
    faulted: set[Node] = field(default_factory=set)
    calls: dict[Node, Call] = field(default_factory=dict)
    symbols: dict[str, str] = field(default_factory=dict)
    walk: _Walk | None = None

    def inferred(self, node: Node, inputs: Sequence[Type | None]) -> tuple[Type | None, ...] | None:
        """What the node's rule says of its outputs for other inputs, None where it has no rule or raises a fault."""
        assert self.walk is not None
        return self.walk.reinferred(node, inputs)


def propagated(model: Model, shapes: Mapping[str, Shape] | None = None) -> Known:
    """Works out type, shape and small contents of every value of ``model``.

    ``shapes`` replaces the shapes of graph inputs, by name (ONNX: the value's; IR: the Parameter layer's or tensor's).
    Raises ValueError where ``shapes`` names an input that the model does not have.
    """
    known = Known(model, symbols=dict(model.symbols))
    if model.graph is None:
        return known
    walk = _Walk(model, known, shapes or {})
    known.walk = walk
    walk.main(model.graph)
    called = {call.function for call in known.calls.values() if call.function is not None}
    for function in model.functions.values():
        if function not in called:
            walk.function(function, [UNKNOWN] * len(function.graph.inputs), {})
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
        self.path: tuple[object, ...] = ()
        self.unknowns: dict[object, Dim] = {}
        self.counts: dict[str, int] = {}
        self.names = set(model.symbols)
        self.mentioned: set[tuple[str, str]] = set()
        self.said: set[tuple[object, ...]] = set()
        self.depth = 0
        self.overridden = self._overrides(shapes)

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
                types[value] = _filled(given, declared) if given is not None else None
            elif declared is not None:
                types[value] = self.input_type(value, declared)
        for value, constant in graph.constants.items():
            types[value] = constant.tensor

    def input_type(self, value: Value, declared: Type) -> Type:
        """The type of a graph input, with a symbol for every size that the model leaves open."""
        shape = self.overridden.get(value)
        if shape is not None:
            dtype = declared.dtype if isinstance(declared, Tensor) else None
            return self.named(Tensor(dtype, shape), value)
        return self.named(declared, value)

    def named(self, known: Type, value: Value, label: str = "") -> Type:
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        name = label or value.name
        dims = [self.input_symbol(value, name, axis) if dim is None else dim for axis, dim in enumerate(known.shape)]
        return Tensor(known.dtype, tuple(dims), known.value)

    def input_symbol(self, value: Value, name: str, axis: int) -> Dim:
        key = (value, axis)
        if key not in self.unknowns:
            wanted = _identifier(f"{name}_{axis}")
            free, count = wanted, 1
            while free in self.names:
                count += 1
                free = f"{wanted}_{count}"
            self.names.add(free)
            self.known.symbols[free] = f"{name}[{axis}]"
            self.unknowns[key] = symbol(free)
        return self.unknowns[key]

    def nodes(self, graph: Graph) -> tuple[Type | None, ...]:
        order = ordered(graph)
        for node in order.nodes:
            self.node(graph, node)
        for node in order.cyclic:
            self.known.faulted.add(node)
            for value in node.outputs:
                if value is not None and value.type is not None:
                    self.known.types[value] = value.type
        return tuple(self.known.types.get(value, UNKNOWN) for value in graph.outputs)

    def body(self, graph: Graph, inputs: Sequence[Type | None] = (), *, quiet: bool = False) -> tuple[Type | None, ...]:
        """The types of a body's outputs for the given inputs."""
        if self.depth >= MAX_DEPTH:
            return tuple(value.type for value in graph.outputs)
        self.depth += 1
        self.quiet += quiet
        try:
            self.bind_inputs(graph, inputs)
            return self.nodes(graph)
        finally:
            self.quiet -= quiet
            self.depth -= 1

    def function(
        self, function: Function, inputs: Sequence[Type | None], attributes: Mapping[str, Attribute]
    ) -> tuple[Type | None, ...]:
        given = [*inputs, *[None] * (len(function.graph.inputs) - len(inputs))]
        outer = self.scope
        resolved = {
            name: outer.get(attribute.reference) if attribute.reference is not None else attribute
            for name, attribute in attributes.items()
        }
        self.scope = {**function.attributes, **resolved}
        try:
            return self.body(function.graph, given)
        finally:
            self.scope = outer

    # --- nodes --------------------------------------------------------------------------------------------------------

    def node(self, graph: Graph, node: Node) -> None:
        types = self.known.types
        if node.op == "Parameter" and self.model.format == "openvino":
            self.parameter(graph, node)
            return
        call, faults = bound(node, self.model, self.scope)
        self.known.calls[node] = call
        for fault in faults:
            self.report(graph, node, fault)
        if node.op == "Const" and node.outputs and node.outputs[0] in graph.constants:
            return
        inputs = [None if value is None else types.get(value, UNKNOWN) for value in node.inputs]
        with stated() as statements:
            outputs = self.outputs(graph, node, call, inputs)
        self.take_statements(graph, node, statements)
        if outputs is None:
            self.known.faulted.add(node)
        for port, value in enumerate(node.outputs):
            if value is None:
                continue
            inferred = outputs[port] if outputs is not None and port < len(outputs) else None
            types[value] = self.settled(node, port, value, inferred)

    def parameter(self, graph: Graph, node: Node) -> None:
        """An IR's Parameter: what the body's caller gives, else its attributes, with a symbol for every open size."""
        value = node.outputs[0] if node.outputs else None
        if value is None:
            return
        if graph is not self.model.graph and value in self.known.types and self.depth:
            given = self.known.types[value]
            if given is not None and given != value.type:
                return
        call, faults = bound(node, self.model, self.scope)
        self.known.calls[node] = call
        for fault in faults:
            self.report(graph, node, fault)
        declared = value.type if isinstance(value.type, Tensor) else UNKNOWN
        with stated() as statements:
            outputs = self.outputs(graph, node, call, ())
        self.take_statements(graph, node, statements)
        found = outputs[0] if outputs else declared
        tensor = found if isinstance(found, Tensor) else declared
        if value in self.overridden:
            tensor = Tensor(tensor.dtype, self.overridden[value])
        self.known.types[value] = self.named(tensor, value, node.name or f"input{node.index}")

    def outputs(
        self, graph: Graph, node: Node, call: Call, inputs: Sequence[Type | None]
    ) -> Sequence[Type | None] | None:
        """What the node's rule says of its outputs, None where it cannot be asked or raises a fault."""
        if call.broken:
            return None
        try:
            if call.function is not None:
                return self.function(call.function, inputs, call.attributes or {})
            return self.evaluated(node, call, inputs)
        except Fault as fault:
            self.report(graph, node, fault)
        except TooComplex:
            pass
        except RecursionError:
            raise
        except Exception as error:
            if os.environ.get("IRLINT_DEBUG"):
                raise
            self.report(graph, node, NOT_WORKED_OUT.fault(f"irlint's rule for {node.op} failed: {error!r}"))
        return None

    def evaluated(self, node: Node, call: Call, inputs: Sequence[Type | None]) -> Sequence[Type | None] | None:
        variables: Mapping[str, str] = {}
        if call.schema is not None:
            variables = type_variables(call.schema, inputs, node.op)
        if call.operator is None or call.signature is None:
            if call.schema is None:
                return None
            return [_typed(UNKNOWN, call, port, variables) for port in range(len(node.outputs))]
        arguments = dict(call.attributes or {})
        if call.signature.context:
            arguments["context"] = self.context(node, call)
        given = list(inputs) if call.signature.variadic else list(inputs[: len(call.signature.inputs)])
        result = call.operator.function(*given, **arguments)
        if not isinstance(result, (tuple, list)):
            result = (result,)
        if call.schema is None:
            return result
        return [_typed(known, call, port, variables) for port, known in enumerate(result)]

    def context(self, node: Node, call: Call) -> Context:
        return Context(call.op, node, call.version, len(node.outputs), self.body, partial(self.unknown, node))

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
        declared = None if self.overridden and inferred is not None else value.type
        known = inferred if inferred is not None else declared
        if known is None:
            return UNKNOWN
        for declaration in value.declared if declared is not None else ():
            known = _filled(known, declaration.type)
        if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
            return known
        dims = tuple(
            self.unknown(node, (port, axis)) if dim is None else dim for axis, dim in enumerate(known.shape)
        )
        return Tensor(known.dtype, dims, known.value)

    def unknown(self, node: Node, key: object, upper: int | None = None) -> Dim:
        """The size that nothing tells: one for each node and key, or for each key that is a value."""
        place = (key, self.path) if isinstance(key, tuple) and key and isinstance(key[-1], Value) else (node, key, self.path)
        if place not in self.unknowns:
            stem = _identifier(f"_{node.op.lower()}")
            self.counts[stem] = count = self.counts.get(stem, -1) + 1
            self.unknowns[place] = symbol(f"{stem}_{count}", 0, upper)
        return self.unknowns[place]

    # --- findings -----------------------------------------------------------------------------------------------------

    def take_statements(self, graph: Graph, node: Node, statements: Statements) -> None:
        for fault in statements.faults:
            self.report(graph, node, fault)
        if not self.quiet:
            self.known.requires += [(graph.path, node, requirement) for requirement in statements.requirements]

    def report(self, graph: Graph, node: Node, fault: Fault) -> None:
        if self.quiet:
            return
        if fault.rule.code == "IRL502":
            if (node.domain, node.op) in self.mentioned:
                return
            self.mentioned.add((node.domain, node.op))
        key = (fault.rule.code, node, fault.message)
        if key in self.said:
            return
        self.said.add(key)
        place = node.place
        if fault.attribute is not None and fault.attribute in node.attributes:
            place = node.attributes[fault.attribute].place or place
        self.known.problems.append(Problem(fault, graph.path, node, None, place))


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


