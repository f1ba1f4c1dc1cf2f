"""Edits, written into the bytes of an ONNX file: what they do not touch stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from irlint.findings.edits import Edit
from irlint.fixes.wire import Field, Message, Piece, Unwritable
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Model
from irlint.model.tensor import NUMBERED_TYPES
from irlint.parsers.onnx.messages import STANDARD
from irlint.parsers.onnx.protobuf import VARINT

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: Fields of ModelProto (onnx.proto).
_IR_VERSION, _GRAPH, _OPSET_IMPORT, _METADATA, _TRAINING_INFO = 1, 7, 8, 14, 20

#: Fields of GraphProto.
_NODE, _GRAPH_NAME, _INITIALIZER, _VALUE_INFO, _QUANTIZATION, _SPARSE_INITIALIZER = 1, 2, 5, 13, 14, 15

#: Fields of NodeProto, of AttributeProto, and of the entries of lists.
_NODE_NAME, _OP_TYPE, _ATTRIBUTE, _DOMAIN = 3, 4, 5, 7
_ATTRIBUTE_NAME, _BODY, _BODIES = 1, 6, 11
_TENSOR_NAME, _SPARSE_VALUES, _VALUE_NAME, _KEY, _IMPORTED, _VERSION = 8, 1, 1, 1, 1, 2

#: Fields of GraphProto with what is declared of values, and those of ValueInfoProto, TypeProto, its Tensor, and TensorShapeProto.
_DECLARED = {"input": 11, "output": 12, "value_info": _VALUE_INFO}
_TYPE, _TENSOR_TYPE, _ELEM_TYPE, _SHAPE, _DIM, _DIM_VALUE, _DIM_PARAM = 2, 1, 1, 2, 1, 1, 2


def rewritten(data: Buffer, model: Model, edits: Iterable[Edit]) -> list[Piece]:
    """The file in ``data``, of which ``model`` was read, with edits that name nodes by their indices in it. Raises Unwritable."""
    root = Message(data, 0, len(data))
    if len(root.of(_GRAPH)) != 1 or root.of(_TRAINING_INFO):
        raise Unwritable("the model's graph is in several pieces, or is trained by others")
    assert model.graph is not None
    writer = _Writer(root, model.graph)
    # Indices are those in the file as it is: nodes move, and leave, at last.
    for edit in sorted(edits, key=lambda edit: (edit.of == "node", edit.kind == "remove", edit.kind == "order")):
        writer.edit(edit)
    writer.finish()
    return list(root.pieces())


class _Writer:
    """One file; ``nodes`` are the NodeProtos of a graph as the file has them, by its path, and ``gone`` is what leaves at last.
    ``entries`` are those of a list of declarations by their names, and ``added`` what comes behind those of ``value_info``."""

    def __init__(self, root: Message, graph: Graph) -> None:
        self.root = root
        self.ways: dict[str, list[tuple[_Step, ...]]] = {}
        for path, way in _ways(graph, ()):
            self.ways.setdefault(path, []).append(way)
        self.graphs: dict[str, Message] = {}
        self.nodes: dict[str, list[Field]] = {}
        self.orders: dict[str, tuple[int, ...]] = {}
        self.gone: dict[str, set[int]] = {}
        self.initializers: dict[str, set[str]] = {}
        self.declarations: dict[str, set[str]] = {}
        self.entries: dict[tuple[str, int], dict[str, list[Field]]] = {}
        self.added: dict[str, list[Message]] = {}

    def edit(self, edit: Edit) -> None:
        """Makes one edit, but for the order and the removal of nodes, which are kept for ``finish``."""
        _EDITS[edit.kind, edit.of](self, edit)

    def finish(self) -> None:
        """Removes initializers and declarations, adds declarations, and sorts and removes nodes."""
        for path, gone in self.initializers.items():
            _remove_initializers(self.graph(path), gone)
        for path, gone in self.declarations.items():
            graph = self.graph(path)
            graph.remove(field for field in graph.of(_VALUE_INFO) if graph.text_in(field, _VALUE_NAME) in gone)
        for path, added in self.added.items():
            self.graph(path).append(_VALUE_INFO, *added)
        for path in self.orders.keys() | self.gone.keys():
            graph, fields = self.graph(path), self.nodes[path]
            if path in self.orders:
                graph.reorder(_NODE, self.orders[path])
            graph.remove(fields[index] for index in self.gone.get(path, ()))

    def graph(self, path: str) -> Message:
        """The GraphProto of a path. Raises Unwritable where there are several, or it is in pieces."""
        if path not in self.graphs:
            ways = self.ways.get(path, [])
            if len(ways) != 1:
                raise Unwritable(f"{len(ways)} graphs have the path {path!r}")
            message = self.root.inner(self.root.of(_GRAPH)[0])
            for index, attribute, position in ways[0]:
                message = _body(message, index, attribute, position)
            self.graphs[path] = message
            self.nodes[path] = message.of(_NODE)
        return self.graphs[path]

    def node(self, edit: Edit) -> Message:
        """The NodeProto that an edit names."""
        graph = self.graph(edit.graph)
        fields = self.nodes[edit.graph]
        if edit.index is None or edit.index >= len(fields):
            raise Unwritable("there is no such node")
        return graph.inner(fields[edit.index])

    def order(self, edit: Edit) -> None:
        self.graph(edit.graph)
        if sorted(edit.order) != list(range(len(self.nodes[edit.graph]))):
            raise Unwritable("nodes of the graph are damaged")
        self.orders[edit.graph] = edit.order

    def remove_node(self, edit: Edit) -> None:
        self.node(edit)
        assert edit.index is not None
        self.gone.setdefault(edit.graph, set()).add(edit.index)

    def rename_node(self, edit: Edit) -> None:
        node = self.node(edit)
        if node.text(_NODE_NAME) != edit.node:
            raise Unwritable("the node has another name")
        node.set_text(_NODE_NAME, str(edit.value))

    def clear_domain(self, edit: Edit) -> None:
        """Leaves the domain of every node of a graph empty that has this one."""
        graph = self.graph(edit.graph)
        for field in self.nodes[edit.graph]:
            if graph.text_in(field, _DOMAIN) == edit.name:
                node = graph.inner(field)
                node.remove(node.of(_DOMAIN))

    def name_graph(self, edit: Edit) -> None:
        self.graph(edit.graph).set_text(_GRAPH_NAME, str(edit.value))

    def remove_initializer(self, edit: Edit) -> None:
        if self.graph(edit.graph).of(_QUANTIZATION):
            raise Unwritable("annotations of quantization may name the initializer")
        self.initializers.setdefault(edit.graph, set()).add(edit.name)

    def remove_value_info(self, edit: Edit) -> None:
        self.declarations.setdefault(edit.graph, set()).add(edit.name)

    def remove_import(self, edit: Edit) -> None:
        """Removes every import of a domain, or with an index all but that one, counted among those of the domain."""
        found = [field for field in self.root.of(_OPSET_IMPORT) if self.root.text_in(field, _IMPORTED) == edit.name]
        self.root.remove(field for at, field in enumerate(found) if at != edit.index)

    def remove_metadata(self, edit: Edit) -> None:
        """Removes all entries of each key but the last."""
        entries = self.root.of(_METADATA)
        last = {self.root.text_in(field, _KEY): field for field in entries}
        kept = {id(field) for field in last.values()}
        self.root.remove(field for field in entries if id(field) not in kept)

    def set_import(self, edit: Edit) -> None:
        """Imports a domain, which is empty or "ai.onnx" for ONNX's own operators."""
        names = ("", STANDARD) if edit.name == "" else (edit.name,)
        found = [field for field in self.root.of(_OPSET_IMPORT) if self.root.text_in(field, _IMPORTED) in names]
        entries = [self.root.inner(field) for field in found] or [Message(b"", 0, 0)]
        if not found:
            entries[0].set_text(_IMPORTED, edit.name)
            self.root.append(_OPSET_IMPORT, entries[0])
        for entry in entries:
            entry.set_number(_VERSION, int(str(edit.value)))

    def declare(self, edit: Edit) -> None:
        """Writes what an input, an output or ``value_info`` declares of a value; of the last one a new entry where there is none."""
        graph = self.graph(edit.graph)
        number = _DECLARED[edit.of]
        if (edit.graph, number) not in self.entries:
            entries = self.entries[edit.graph, number] = {}
            for field in graph.of(number):
                entries.setdefault(graph.text_in(field, _VALUE_NAME), []).append(field)
        found = [graph.inner(field) for field in self.entries[edit.graph, number].get(edit.name, ())]
        if not found and edit.of != "value_info":
            raise Unwritable("there is no such input or output")
        if not found:
            found = [Message(b"", 0, 0)]
            found[0].set_text(_VALUE_NAME, edit.name)
            self.added.setdefault(edit.graph, []).extend(found)
        for each in found:
            tensor = _only(_only(each, _TYPE), _TENSOR_TYPE)
            if edit.dtype:
                tensor.set_number(_ELEM_TYPE, NUMBERED_TYPES.index(edit.dtype) + 1)
            if edit.shape is not None:
                _set_dims(_only(tensor, _SHAPE), edit.shape)

    def set_ir_version(self, edit: Edit) -> None:
        if all(field.key != _IR_VERSION << 3 | VARINT for field in self.root.fields):
            # Readers tell an ONNX file by its first byte.
            self.root.fields.insert(0, Field(_IR_VERSION << 3 | VARINT, 0, 0, b"\x08\x00"))
        self.root.set_number(_IR_VERSION, int(str(edit.value)))


_EDITS: dict[tuple[str, str], Callable[[_Writer, Edit], None]] = {
    ("order", "node"): _Writer.order,
    ("remove", "node"): _Writer.remove_node,
    ("rename", "node"): _Writer.rename_node,
    ("rename", "domain"): _Writer.clear_domain,
    ("rename", "graph"): _Writer.name_graph,
    ("remove", "initializer"): _Writer.remove_initializer,
    ("remove", "value_info"): _Writer.remove_value_info,
    ("remove", "opset_import"): _Writer.remove_import,
    ("remove", "metadata"): _Writer.remove_metadata,
    ("opset", "opset_import"): _Writer.set_import,
    ("declaration", "input"): _Writer.declare,
    ("declaration", "output"): _Writer.declare,
    ("declaration", "value_info"): _Writer.declare,
    ("ir_version", "graph"): _Writer.set_ir_version,
}

#: How a body is reached: the index of its node, the attribute, and its place in a list of bodies.
_Step = tuple[int, str, int | None]


def _ways(graph: Graph, steps: tuple[_Step, ...]) -> Iterator[tuple[str, tuple[_Step, ...]]]:
    """The path of a graph and of each body in it, and how it is reached."""
    yield graph.path, steps
    for node in graph.nodes:
        for name, attribute in node.attributes.items() if node.bodies else ():
            bodies = attribute.value if attribute.kind == "GRAPHS" else [attribute.value]
            for position, body in enumerate(bodies) if attribute.kind in ("GRAPH", "GRAPHS") else ():
                if isinstance(body, Graph):
                    at = position if attribute.kind == "GRAPHS" else None
                    yield from _ways(body, (*steps, (node.index, name, at)))


def _remove_initializers(graph: Message, gone: Collection[str]) -> None:
    graph.remove(field for field in graph.of(_INITIALIZER) if graph.text_in(field, _TENSOR_NAME) in gone)
    for field in graph.of(_SPARSE_INITIALIZER):
        sparse = Message(graph.data, *graph.span(field))
        values = sparse.of(_SPARSE_VALUES)
        if values and sparse.text_in(values[-1], _TENSOR_NAME) in gone:
            graph.remove([field])


def _only(message: Message, number: int) -> Message:
    """The message in a field, a new one where there is none. Raises Unwritable where it is in pieces."""
    found = message.of(number)
    if len(found) > 1:
        raise Unwritable("a declared type is in several pieces")
    if not found:
        message.append(number, Message(b"", 0, 0))
    return message.inner(message.of(number)[0])


def _set_dims(shape: Message, sizes: Sequence[int | str | None]) -> None:
    """Writes the dims of a TensorShapeProto but those that stay; what they denote stays, too."""
    dims = shape.of(_DIM)
    if len(dims) != len(sizes):
        shape.remove(dims)
        shape.append(_DIM, *[Message(b"", 0, 0) for _ in sizes])
    for field, size in zip(shape.of(_DIM), sizes):
        if size == "":
            continue
        dim = shape.inner(field)
        dim.fields = [each for each in dim.fields if each.key >> 3 not in (_DIM_VALUE, _DIM_PARAM)]
        if isinstance(size, int):
            dim.set_number(_DIM_VALUE, size)
        elif size is not None:
            dim.set_text(_DIM_PARAM, size)


def _body(graph: Message, index: int, attribute: str, position: int | None) -> Message:
    """The GraphProto in an attribute of a node. Raises Unwritable where it is in pieces, or the attribute stands there twice."""
    nodes = graph.of(_NODE)
    node = graph.inner(nodes[index])
    named = [field for field in node.of(_ATTRIBUTE) if node.text_in(field, _ATTRIBUTE_NAME) == attribute]
    if len(named) != 1:
        raise Unwritable(f"a node has {len(named)} attributes {attribute!r}")
    holder = node.inner(named[0])
    bodies = holder.of(_BODY if position is None else _BODIES)
    if position is None and len(bodies) != 1:
        raise Unwritable("a body is in several pieces")
    return holder.inner(bodies[position or 0])
