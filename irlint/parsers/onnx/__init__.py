"""An ONNX file as a Model: names become values, scope by scope, and the texts of sizes become symbols."""

from __future__ import annotations

import os
import sys

from irlint.dims import symbol
from irlint.findings.faults import Fault, Severity
from irlint.findings.wording import counted
from irlint.lazy_typing import TYPE_CHECKING, BinaryIO
from irlint.model import Attribute, Constant, Declaration, Function, Graph, Model, Node, Problem, Value, bodies_among
from irlint.model.formats import ONNX
from irlint.parsers import opening
from irlint.parsers.faults import (
    DOMAIN_SPELLED_OUT,
    DUPLICATE_FUNCTION,
    MALFORMED_ONNX,
    NOT_A_MODEL,
    TRUNCATED_FILE,
    TYPE_MISSING,
)
from irlint.parsers.onnx import messages as onnx_messages
from irlint.parsers.onnx import protobuf, unread
from irlint.parsers.onnx import tensors as onnx_tensors
from irlint.parsers.onnx import types as onnx_types
from irlint.parsers.onnx.attribute_kinds import LINKED
from irlint.parsers.onnx.graph_records import FunctionRecord, GraphRecord, NodeRecord, standard
from irlint.parsers.onnx.messages import Reader
from irlint.parsers.onnx.protobuf import Damage
from irlint.parsers.onnx.symbols import expressions, identifiers
from irlint.parsers.opening import opened, shrunk
from irlint.records import replaced

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence, Set
    from mmap import mmap

    from irlint.model.tensor import Type
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

    Types = Mapping[bytes, Type | Fault | None]
    Scope = dict[str, Value]

_IR_VERSION, _GRAPH, _OPSET_IMPORT, _METADATA, _TRAINING_INFO, _FUNCTIONS = (
    1 << 3,
    7 << 3 | 2,
    8 << 3 | 2,
    14 << 3 | 2,
    20 << 3 | 2,
    25 << 3 | 2,
)

#: The fields of ModelProto with the name and the version of what wrote it.
_PRODUCER = (2, 3)

#: The fields of ModelProto that hold a message or text.
_FIELD_NAMES = {
    2: "producer_name",
    3: "producer_version",
    4: "domain",
    6: "doc_string",
    7: "graph",
    8: "opset_import",
    14: "metadata_props",
    20: "training_info",
    25: "functions",
    26: "configuration",
}

#: The module that texts too long to be names need.
_LONG_TEXTS = f"{__name__}.long_texts"

#: A file of at most so many bytes is read whole.
SMALL = 1 << 24


def read(path: str | os.PathLike[str], data: bytes | bytearray | memoryview | mmap | None = None) -> Model:
    """The model in an ONNX file, or in ``data``, its bytes; external data is looked for next to ``path``.

    A file that is no sound protobuf message gives a model without a graph and one problem. Damage inside a type, an
    attribute or an initializer gives a problem there and leaves it unknown. Raises OSError where the file cannot be opened.
    """
    name = os.fspath(path)
    if data is not None:
        return _model(name, bytes(data) if isinstance(data, (bytearray, memoryview)) else data)
    with opened(name) as file:
        return _model(name, bytes_of(file))


#: What is told of a file that a model names.
told_beside = onnx_tensors.told_beside


def bytes_of(file: BinaryIO) -> Buffer:
    """The bytes of a file in memory of their own, where one that shrinks cannot take them away; of a large file, those that the parser
    looks at. Raises OSError where it shrinks while it is read."""
    size = opening.size(file)
    if size > getattr(file, "small", SMALL):
        from irlint.parsers.onnx.skeleton import copied

        return copied(file)
    data = file.read()
    if len(data) < size:
        raise shrunk(file)
    return data


def _model(path: str, data: Buffer) -> Model:
    if len(data) > protobuf.MOST_BYTES:
        return Model(path, ONNX, problems=(Problem(_too_large(len(data))),))
    found: Fields = {}
    _long_names(())
    try:
        protobuf.fields(data, 0, len(data), found)
    except Damage as damage:
        return Model(path, ONNX, problems=(Problem(_unreadable(data, found, damage)),))
    version = str(protobuf.last(found, _IR_VERSION)) if _IR_VERSION in found else None
    if _GRAPH not in found:
        fault = NOT_A_MODEL.fault("the file holds no graph", help="check that it is an ONNX model")
        return Model(path, ONNX, version, problems=(Problem(fault),))
    try:
        reader = Reader(data, onnx_tensors.Files(path))
        # ONNX Runtime reads 32 bits of a version.
        imports = [
            (domain, protobuf.int32(number)) for domain, number in reader.imports(found.get(_OPSET_IMPORT, ()), 1)
        ]
        graph = reader.graph(found[_GRAPH], 1)
        functions = [reader.function(*span) for span in found.get(_FUNCTIONS, ())]
        metadata = onnx_tensors.string_entries(data, found.get(_METADATA, ()))
        unread.walk_fields(data, found, unread.OF_MODEL, 0)
    except Damage as damage:
        return Model(path, ONNX, version, problems=(Problem(onnx_messages.damaged("the file", damage)),))
    opsets = {standard(domain): number for domain, number in imports}
    if version is not None and int(version) < 3 and not imports:
        opsets = {"": 1}
    types, flaws, negative, symbols = _types(reader.types, {raw for _, raw in graph.inputs})
    linker = _Linker(types, flaws, negative)
    if len(metadata) < len(found.get(_METADATA, ())):
        linker.problems.append(_duplicate_keys(data, found[_METADATA]))
    main = linker.graph(graph, "", opsets, ())
    linked = linker.functions(functions, graph)
    producer = " ".join(filter(None, (protobuf.last_text(data, found, number) for number in _PRODUCER)))
    long = _long_names(metadata.values())
    problems = (*linker.problems, *([Problem(long)] if long is not None else ()))
    return Model(
        path,
        ONNX,
        version,
        main,
        linked,
        opsets,
        symbols,
        metadata,
        problems,
        tuple(imports),
        producer,
        _TRAINING_INFO in found,
    )


def _long_names(apart: Collection[str]) -> Fault | None:
    """The fault of the names that were too long to be read; the texts in ``apart`` are no names."""
    if _LONG_TEXTS not in sys.modules:
        return None
    from irlint.parsers.onnx import long_texts

    return long_texts.long_names(apart)


def _unreadable(data: Buffer, found: Fields, damage: Damage) -> Fault:
    """The fault of a file that is no whole message."""
    if _IR_VERSION not in found and not (damage.excess and damage.field == _GRAPH >> 3):
        return NOT_A_MODEL.fault("the file is no ONNX model", help="export or download the model again")
    if not damage.excess:
        return onnx_messages.converted(damage) if _converted(data) else onnx_messages.damaged("the file", damage)
    size = len(data)
    if _converted(data):
        return onnx_messages.converted(damage)
    name = _FIELD_NAMES.get(damage.field, f"with the number {damage.field}")
    return TRUNCATED_FILE.fault(
        f"the field {name} runs {damage.excess} byte{'s' * (damage.excess != 1)} past the end of the file, which has {size} byte{'s' * (size != 1)}",
        help=f"copy or download the file again: it has at least {size + damage.excess} bytes",
    )


def _too_large(size: int) -> Fault:
    return MALFORMED_ONNX.fault(
        f"the file has {size} bytes, and a protobuf message has at most {protobuf.MOST_BYTES}: no runtime reads it",
        help="save the model with its weights in a file of their own",
    )


def _converted(data: Buffer) -> bool:
    """Whether all of several line feeds follow a carriage return, as in a file whose line ends were converted."""
    raw = bytes(data[:1_000_000])
    feeds = raw.count(b"\n")
    return feeds > 2 and feeds == raw.count(b"\r\n")


def _types(
    collected: Mapping[bytes, int], inputs: Set[bytes]
) -> tuple[Types, dict[bytes, str], dict[bytes, str], dict[str, str]]:
    """Each TypeProto's type, or the fault in it; what types lack; their sizes below 0; and the texts behind the symbols that have
    another name. ``inputs`` are the types of the model's inputs."""
    texts: dict[str, None] = {}
    fed: dict[str, None] = {}
    types: dict[bytes, Type | Fault | None] = {}
    flaws: dict[bytes, str] = {}
    negative: dict[bytes, str] = {}

    def noted(name: str) -> None:
        texts[name] = None

    def noted_of_input(name: str) -> None:
        texts[name] = fed[name] = None

    for raw, depth in collected.items():
        try:
            unread.walk(raw, 0, len(raw), unread.TYPE, depth)
            types[raw] = onnx_types.type_of(raw, noted_of_input if raw in inputs else noted)
        except Damage as damage:
            types[raw] = onnx_messages.damaged("the type", damage)
    sizes = expressions(texts, fed)
    names = identifiers(text for text in texts if text not in sizes)
    for text, identifier in names.items():
        sizes[text] = symbol(identifier, by_data=text not in fed)
    for raw, known in types.items():
        if isinstance(known, Fault):
            continue
        named = onnx_types.type_of(raw, sizes.get)
        if flaw := onnx_types.flaw(raw, known):
            flaws[raw] = flaw
        if below := onnx_types.negative_sizes(raw, named):
            negative[raw] = below
        types[raw] = onnx_types.usable(named) if flaw else named
    return types, flaws, negative, {identifier: name for name, identifier in names.items() if identifier != name}


class _Linker:
    """Turns records into graphs whose nodes share values; ``problems`` collects what is damaged."""

    def __init__(self, types: Types, flaws: Mapping[bytes, str], negative: Mapping[bytes, str]) -> None:
        self.types = types
        self.flaws = flaws
        self.negative = negative
        self.problems: list[Problem] = []

    def functions(self, records: Sequence[FunctionRecord], main: GraphRecord) -> dict[tuple[str, str, str], Function]:
        """The functions by domain, name and overload; the first of several that share them. ``main`` is the graph of the model."""
        functions: dict[tuple[str, str, str], Function] = {}
        graphs = [main, *(record.graph for record in records)]
        for record in records:
            key = record.domain, record.name, record.overload
            if key not in functions:
                functions[key] = self._function(record, graphs)
                continue
            more = f" and the overload {record.overload!r}" if record.overload else ""
            fault = DUPLICATE_FUNCTION.fault(
                f'two functions of the domain "{record.domain}" have the name {record.name!r}{more}',
                help="remove one of them, or give it another name",
            )
            self.problems.append(Problem(fault, functions[key].graph.path))
        return functions

    def graph(self, record: GraphRecord, path: str, opsets: Mapping[str, int], outer: tuple[Scope, ...]) -> Graph:
        """The graph of a record; ``outer`` are the scopes around it, innermost first."""
        self.problems += [Problem(fault, path, value=name or None) for name, fault in record.faults]
        if self.negative or _lacks_names(record, path):
            from irlint.parsers.onnx import interface

            self.problems += interface.problems(record, path, self.negative)
        links = _Links(self._declared(record, path), outer)
        inputs = [links.input(name, self._declaration("input", name, raw, path)) for name, raw in record.inputs]
        constants = links.constants(record)
        outputs = [links.defined(node.outputs) for node in record.nodes]
        if len(links.scope) < len({*inputs, *constants}) + sum(map(len, outputs)):
            links.prefer_last([*constants, *(outputs[at][0] for at in _constant_nodes(record) if outputs[at])])
        nodes = tuple(
            self._node(node, index, outputs[index], path, opsets, links) for index, node in enumerate(record.nodes)
        )
        spelled_out = [node for node, each in zip(nodes, record.nodes) if each.spelled_out]
        if spelled_out:
            self.problems.append(_spelled_out(spelled_out, path))
        left = [links.used(name) for name, _ in record.outputs]
        return Graph(
            path,
            record.name,
            tuple(inputs),
            tuple(value for value in left if value is not None),
            constants,
            nodes,
            tuple(links.undefined.values()),
            tuple(links.captured),
            tuple([name for name, _ in record.declared if name not in links.scope and not links.is_known(name)]),
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
        for name, attribute in record.attributes.items():
            if attribute is not None and isinstance(attribute.value, Constant):
                faults += [fault.changed(attribute=name) for fault in attribute.value.faults]
        self.problems += [Problem(fault, path) for fault in faults]
        if len(self.problems) > before:
            from irlint.parsers.onnx.defaults import defaults_in_use

            looked_at = defaults_in_use(record, graphs)
            self.problems[before:] = [
                each
                if each.fault.attribute in looked_at
                or each.graph.removeprefix(f"{path}/").partition("/")[0] in looked_at
                else replaced(each, fault=each.fault.at_most(Severity.WARNING))
                for each in self.problems[before:]
            ]
        graph = self.graph(record.graph, path, opsets, ())
        listed = [("input", record.graph.inputs), ("output", record.graph.outputs)]
        nameless = (f"{what} {at}" for what, each in listed for at, (name, _) in enumerate(each) if not name)
        unnamed = next(nameless, "")
        return Function(
            record.domain, record.name, record.overload, graph, attributes, opsets, unnamed, tuple(record.imports)
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
        if record.linked:
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
            bodies=bodies_among(attributes) if record.linked else (),
        )
        if faults:
            self.problems += [Problem(fault, path, node) for fault in faults]
        return node

    def _linked(
        self, attribute: Attribute, path: str, opsets: Mapping[str, int], links: _Links, faults: list[Fault]
    ) -> Attribute:
        """The attribute with graphs and types in place of records and bytes; ``faults`` gets those of the types."""
        kind, value = attribute.kind, attribute.value
        if kind not in LINKED or attribute.reference:
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
        sound = tuple(None if isinstance(known, Fault) else known for known in types)
        return Attribute(kind, sound if kind == "TYPE_PROTOS" else sound[0])

    def _declared(self, record: GraphRecord, path: str) -> dict[str, tuple[Declaration, ...]]:
        """What outputs and ``value_info`` declare, by name, in this order."""
        declared: dict[str, tuple[Declaration, ...]] = {}
        several: dict[str, list[Declaration]] = {}
        for by, entries in (("output", record.outputs), ("value_info", record.declared)):
            for name, raw in entries:
                declaration = self._declaration(by, name, raw, path)
                if declaration and name in declared:
                    several.setdefault(name, [*declared[name]]).extend(declaration)
                elif declaration:
                    declared[name] = declaration
        return {**declared, **{name: tuple(each) for name, each in several.items()}} if several else declared

    def _declaration(self, by: str, name: str, raw: bytes, path: str) -> tuple[Declaration, ...]:
        known = self.types.get(raw)
        if isinstance(known, Fault):
            self.problems.append(Problem(known, path, value=name))
            return ()
        return () if known is None else (Declaration(by, known, flaw=self.flaws.get(raw, "")),)


def _lacking(flaw: str) -> Fault:
    """The fault of an attribute whose type lacks something: ONNX Runtime loads most of them."""
    return TYPE_MISSING.fault(
        f"the type that an attribute states is declared {flaw}", help="state the type", severity=Severity.WARNING
    )


def _spelled_out(nodes: list[Node], path: str) -> Problem:
    """The problem of nodes that give the domain ai.onnx by that name: ONNX Runtime takes it in the main graph."""
    more = f", as {counted(len(nodes) - 1, 'more node')} of this graph {'has' if len(nodes) == 2 else 'have'} it"
    fault = DOMAIN_SPELLED_OUT.fault(
        f'its domain is written as "ai.onnx"{more * (len(nodes) > 1)}; a node of ONNX\'s own operators has the domain ""',
        help="leave the domain empty",
        severity=None if path else Severity.WARNING,
    )
    return Problem(fault, path, nodes[0])


def _lacks_names(record: GraphRecord, path: str) -> bool:
    """Whether a graph that is not a function's, or one of its inputs and outputs, has no name."""
    if path.startswith("function:") and "/" not in path:
        return False
    named = (*record.inputs, *record.outputs)
    return not record.name or not all(entry[0] for entry in named)


def _duplicate_keys(data: Buffer, spans: Iterable[Span]) -> Problem:
    from irlint.parsers.onnx.interface import duplicate_keys

    return duplicate_keys([protobuf.last_text(data, protobuf.fields(data, *span), 1) for span in spans])


def _constant_nodes(record: GraphRecord) -> list[int]:
    return [index for index, node in enumerate(record.nodes) if node.op == "Constant"]


class _Links:
    """The names of one graph: those that it defines, uses of outer ones, and uses of what nothing defines."""

    def __init__(self, declared: Mapping[str, tuple[Declaration, ...]], outer: tuple[Scope, ...]) -> None:
        self.declared = declared
        self.outer = outer
        self.scope: Scope = {}
        self.scopes = (self.scope, *outer)
        self.undefined: dict[str, Value] = {}
        self.captured: dict[Value, None] = {}

    def input(self, name: str, declaration: tuple[Declaration, ...]) -> Value:
        value = Value(name, declaration + self.declared.get(name, ()))
        return self._first(value)

    def constants(self, record: GraphRecord) -> dict[Value, Constant]:
        """The initializers of a graph whose inputs are the only names so far, by value."""
        inputs = dict(self.scope)
        constants: dict[Value, Constant] = {}
        for name, constant in record.constants:
            value = inputs.get(name)
            if value is None or value in constants:
                value = self._first(Value(name, self.declared.get(name, ())))
            constants[value] = constant
        return constants

    def prefer_last(self, constants: Iterable[Value | None]) -> None:
        """Lets uses of a name that several constants have refer to the last of them, as ONNX Runtime does."""
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
        values = tuple(map(self.scope.get, names))
        return values if all(values) else tuple(map(self.used, names))

    def used(self, name: str) -> Value | None:
        """The value that a name stands for, None for the empty name."""
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
        """Whether a name stands for a value of this graph or one around it, or is used without being defined."""
        return not name or name in self.undefined or any(name in scope for scope in self.scopes)

    def body(self, graph: Graph) -> Graph:
        """The same graph, after noting what it captures from further out."""
        for value in graph.captured:
            if self.scope.get(value.name) is not value:
                self.captured[value] = None
        return graph

    def _first(self, value: Value) -> Value:
        if value.name:
            self.scope.setdefault(value.name, value)
        return value
