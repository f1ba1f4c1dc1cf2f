"""Turns the records of ONNX messages into graphs. In a graph, values replace names."""

from __future__ import annotations

from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Attribute, Constant, Declaration, Function, Graph, Node, Problem, Value, bodies_among
from irlint.parsers.faults import DOMAIN_SPELLED_OUT, DUPLICATE_FUNCTION, TYPE_MISSING
from irlint.parsers.onnx.attribute_kinds import LINKED_KINDS
from irlint.parsers.onnx.graph_records import FunctionRecord, GraphRecord, NodeRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from irlint.model.tensor import Type
    from irlint.parsers.onnx.types import FileTypes

    #: The values of the names that one graph defines.
    Scope = dict[str, Value]


class Linker:
    """Turns records into graphs, and collects ``problems``."""

    def __init__(self, types: FileTypes) -> None:
        self.types = types.types
        self.flaws = types.flaws
        self.negative = types.negative
        self.problems: list[Problem] = []

    def functions(self, records: Sequence[FunctionRecord], main: GraphRecord) -> dict[tuple[str, str, str], Function]:
        """The first function of each (domain, name, overload)."""
        functions: dict[tuple[str, str, str], Function] = {}
        graphs = [main, *(function.graph for function in records)]
        for function in records:
            key = function.domain, function.name, function.overload
            if key in functions:
                self.problems.append(Problem(_duplicate_function(function), functions[key].graph.path))
            else:
                functions[key] = self._function(function, graphs)
        return functions

    def graph(self, record: GraphRecord, path: str, opsets: Mapping[str, int], outer: tuple[Scope, ...]) -> Graph:
        """The graph of a record. ``outer`` are the scopes of the graphs around it, innermost first."""
        self.problems += [Problem(fault, path, value=name or None) for name, fault in record.faults]
        if self.negative or _lacks_names(record, path):
            from irlint.parsers.onnx import interface

            self.problems += interface.problems(record, path, self.negative)
        links = _Links(self._declared(record, path), outer)
        inputs = [links.input(name, self._declaration("input", name, raw, path)) for name, raw in record.inputs]
        constants = links.constants(record)
        outputs = [links.defined(node.outputs) for node in record.nodes]
        if len(links.scope) < len({*inputs, *constants}) + sum(map(len, outputs)):
            links.prefer_last([*constants, *_outputs_of_constants(record, outputs)])
        nodes = [
            self._node(node, index, values, path, opsets, links)
            for index, node, values in zip(record.places, record.nodes, outputs)
        ]
        spelled_out = [node for node, of_node in zip(nodes, record.nodes) if of_node.spelled_out]
        if spelled_out:
            self.problems.append(_spelled_out(spelled_out, path))
        returned = [links.used(name) for name, _ in record.outputs]
        lost = [each for each in record.value_info if each[0] not in links.scope and not links.is_known(each[0])]
        return Graph(
            path,
            record.name,
            tuple(inputs),
            tuple(value for value in returned if value is not None),
            constants,
            tuple(nodes),
            tuple(links.undefined.values()),
            tuple(links.captured),
            tuple([name for name, _ in lost]) if lost else (),
            tuple([self._type(raw) for _, raw in lost]) if lost else (),
            pieces=record.pieces,
            annotated=record.annotated,
        )

    def _function(self, record: FunctionRecord, graphs: Sequence[GraphRecord]) -> Function:
        path = f"function:{record.domain}:{record.name}"
        faults = list(record.faults)
        scopes = _Links({}, ())
        opsets = dict(record.imports)
        before = len(self.problems)
        attributes = {
            name: attribute and self._linked(attribute, f"{path}/{name}", opsets, scopes, faults)
            for name, attribute in record.attributes.items()
        }
        faults += _constant_faults(record.attributes)
        self.problems += [Problem(fault, path) for fault in faults]
        if len(self.problems) > before:
            from irlint.parsers.onnx.defaults import defaults_in_use, lowered_if_unused

            used = defaults_in_use(record, graphs)
            self.problems[before:] = [lowered_if_unused(problem, path, used) for problem in self.problems[before:]]
        graph = self.graph(record.graph, path, opsets, ())
        imports = tuple(record.imports)
        return Function(
            record.domain, record.name, record.overload, graph, attributes, opsets, _unnamed(record.graph), imports
        )

    def _node(
        self,
        record: NodeRecord,
        index: int,
        outputs: tuple[Value | None, ...],
        path: str,
        opsets: Mapping[str, int],
        links: _Links,
    ) -> Node:
        inputs = links.all_used(record.inputs) if path or record.op != "Constant" else (None,) * len(record.inputs)
        attributes, faults = record.attributes, record.faults
        if record.needs_linking:
            faults = list(faults)
            label = record.name or next((name for name in record.outputs if name), "")
            here = f"{path}/{label}" if path else label
            attributes = {
                name: self._linked(attribute, f"{here}/{name}", opsets, links, faults)
                for name, attribute in attributes.items()
            }
        node = Node(
            record.name,
            record.op,
            record.domain,
            opsets.get(record.domain),
            inputs,
            outputs,
            attributes,
            index,
            overload=record.overload,
            metadata=record.metadata,
            bodies=bodies_among(attributes) if record.needs_linking else (),
        )
        if faults:
            self.problems += [Problem(fault, path, node) for fault in faults]
        return node

    def _linked(
        self, attribute: Attribute, path: str, opsets: Mapping[str, int], links: _Links, faults: list[Fault]
    ) -> Attribute:
        """The attribute, with graphs in place of records and types in place of bytes. Adds faults to ``faults``."""
        kind, value = attribute.kind, attribute.value
        if kind not in LINKED_KINDS or attribute.reference:
            return attribute
        if kind == "GRAPH":
            return Attribute(kind, links.body(self.graph(value, path, opsets, links.scopes)))
        if kind == "GRAPHS":
            paths = [f"{path}[{position}]" for position in range(len(value))]
            graphs = [self.graph(body, at, opsets, links.scopes) for body, at in zip(value, paths)]
            return Attribute(kind, tuple(map(links.body, graphs)))
        raws = value if kind == "TYPE_PROTOS" else (value,)
        types = [self.types.get(raw) for raw in raws]
        faults += [known for known in types if isinstance(known, Fault)]
        faults += [_lacking(self.flaws[raw]) for raw in raws if raw in self.flaws]
        undamaged = tuple(None if isinstance(known, Fault) else known for known in types)
        return Attribute(kind, undamaged if kind == "TYPE_PROTOS" else undamaged[0])

    def _declared(self, record: GraphRecord, path: str) -> dict[str, tuple[Declaration, ...]]:
        """The declarations of each name: those in ``output`` first, then those in ``value_info``."""
        declared: dict[str, tuple[Declaration, ...]] = {}
        repeated: dict[str, list[Declaration]] = {}
        for by, entries in (("output", record.outputs), ("value_info", record.value_info)):
            for name, raw in entries:
                declaration = self._declaration(by, name, raw, path)
                if declaration and name in declared:
                    repeated.setdefault(name, [*declared[name]]).extend(declaration)
                elif declaration:
                    declared[name] = declaration
        for name, declarations in repeated.items():
            declared[name] = tuple(declarations)
        return declared

    def _type(self, raw: bytes) -> Type | None:
        """The type in a TypeProto; None if it is damaged."""
        known = self.types.get(raw)
        return None if isinstance(known, Fault) else known

    def _declaration(self, by: str, name: str, raw: bytes, path: str) -> tuple[Declaration, ...]:
        """The declaration with the TypeProto ``raw``. Returns () if ``raw`` is empty or damaged."""
        known = self.types.get(raw)
        if isinstance(known, Fault):
            self.problems.append(Problem(known, path, value=name))
            return ()
        return () if known is None else (Declaration(by, known, flaw=self.flaws.get(raw, "")),)


def _duplicate_function(record: FunctionRecord) -> Fault:
    more = f" and the overload {record.overload!r}" if record.overload else ""
    return DUPLICATE_FUNCTION.fault(
        f'two functions of the domain "{record.domain}" have the name {record.name!r}{more}',
        help="remove one of them, or give it another name",
    )


def _constant_faults(attributes: Mapping[str, Attribute | None]) -> Iterator[Fault]:
    for name, attribute in attributes.items():
        if attribute is not None and isinstance(attribute.value, Constant):
            yield from (fault.changed(attribute=name) for fault in attribute.value.faults)


def _unnamed(graph: GraphRecord) -> str:
    """The first input or output without a name, such as ``input 0``, or ""."""
    for what, entries in (("input", graph.inputs), ("output", graph.outputs)):
        for at, (name, _) in enumerate(entries):
            if not name:
                return f"{what} {at}"
    return ""


def _lacking(flaw: str) -> Fault:
    # ONNX Runtime loads most models with an incomplete type in an attribute.
    return TYPE_MISSING.fault(
        f"the type that an attribute states is declared {flaw}", help="set the type", severity=Severity.WARNING
    )


def _spelled_out(nodes: list[Node], path: str) -> Problem:
    """The problem of nodes with the domain "ai.onnx". ONNX Runtime accepts this spelling in the main graph only."""
    more = f", as {counted(len(nodes) - 1, 'more node')} of this graph {'does' if len(nodes) == 2 else 'do'}"
    fault = DOMAIN_SPELLED_OUT.fault(
        f'its domain is written as "ai.onnx"{more * (len(nodes) > 1)}; for ONNX\'s own operators, the domain is ""',
        help="set the domain to the empty string",
        severity=None if path else Severity.WARNING,
    )
    return Problem(fault, path, nodes[0])


def _lacks_names(record: GraphRecord, path: str) -> bool:
    """Whether a main graph or a body, or one of its inputs or outputs, has no name."""
    if path.startswith("function:") and "/" not in path:
        return False
    return not record.name or not all(name for name, _ in (*record.inputs, *record.outputs))


def _outputs_of_constants(record: GraphRecord, outputs: Sequence[tuple[Value | None, ...]]) -> Iterator[Value | None]:
    return (values[0] for node, values in zip(record.nodes, outputs) if node.op == "Constant" and values)


class _Links:
    """The values that the nodes of one graph can use, by name."""

    def __init__(self, declared: Mapping[str, tuple[Declaration, ...]], outer: tuple[Scope, ...]) -> None:
        self.declared = declared
        self.scope: Scope = {}
        self.scopes = (self.scope, *outer)
        #: The values for names that nodes use and no graph defines, by name.
        self.undefined: dict[str, Value] = {}
        #: The values of outer graphs that this graph uses.
        self.captured: dict[Value, None] = {}

    def input(self, name: str, declaration: tuple[Declaration, ...]) -> Value:
        """A new value for an input of the graph."""
        return self._defined(Value(name, declaration + self.declared.get(name, ())))

    def constants(self, record: GraphRecord) -> dict[Value, Constant]:
        """The initializers of the graph. Must be called after ``input`` and before ``defined``."""
        inputs = dict(self.scope)
        constants: dict[Value, Constant] = {}
        for name, constant in record.constants:
            value = inputs.get(name)
            if value is None or value in constants:
                value = self._defined(Value(name, self.declared.get(name, ())))
            constants[value] = constant
        return constants

    def prefer_last(self, constants: Iterable[Value | None]) -> None:
        """If several constants have the same name, the name refers to the last one, as in ONNX Runtime."""
        seen: set[Value] = set()
        for value in constants:
            if value is None:
                continue
            seen.add(value)
            if self.scope.get(value.name) in seen:
                self.scope[value.name] = value

    def defined(self, names: Iterable[str]) -> tuple[Value | None, ...]:
        """New values for the outputs of a node."""
        declared, scope = self.declared, self.scope
        values: list[Value | None] = []
        for port, name in enumerate(names):
            if not name:
                values.append(None)
                continue
            value = Value(name, declared.get(name, ()), port)
            scope.setdefault(name, value)
            values.append(value)
        return tuple(values)

    def all_used(self, names: Iterable[str]) -> tuple[Value | None, ...]:
        """The values with these names, as ``used`` returns them."""
        values = tuple(map(self.scope.get, names))
        return values if all(values) else tuple(map(self.used, names))

    def used(self, name: str) -> Value | None:
        """The value with this name; None for "". An undefined name gets a new value."""
        if not name:
            return None
        for scope in self.scopes:
            if value := scope.get(name):
                if scope is not self.scope:
                    self.captured[value] = None
                return value
        if name not in self.undefined:
            self.undefined[name] = Value(name, self.declared.get(name, ()))
        return self.undefined[name]

    def is_known(self, name: str) -> bool:
        """Whether a name is empty, or ``used`` returns an existing value for it."""
        return not name or name in self.undefined or any(name in scope for scope in self.scopes)

    def body(self, graph: Graph) -> Graph:
        """Returns the ``graph`` of a body. Its captured values from outside this graph become captured values here."""
        for value in graph.captured:
            if self.scope.get(value.name) is not value:
                self.captured[value] = None
        return graph

    def _defined(self, value: Value) -> Value:
        """Makes the name of a value refer to the value, unless the name is empty or already refers to one."""
        if value.name:
            self.scope.setdefault(value.name, value)
        return value
