"""Edits, written into the bytes of an ONNX file: what they do not touch stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from irlint.findings.edits import Edit
from irlint.fixes.wire import Field, Message, Piece, Unwritable
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Graph, Model
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
    """One file; ``nodes`` are the NodeProtos of a graph as the file has them, by its path."""

    def __init__(self, root: Message, graph: Graph) -> None:
        self.root = root
        self.main = graph
        self.nodes: dict[str, list[Field]] = {}
        self.orders: dict[str, tuple[int, ...]] = {}
        self.gone: dict[str, set[int]] = {}

    def edit(self, edit: Edit) -> None:
        """Makes one edit, but for the order and the removal of nodes, which are kept for ``finish``."""
        _EDITS[edit.kind, edit.of](self, edit)

    def finish(self) -> None:
        """Sorts and removes nodes."""
        for path in self.orders.keys() | self.gone.keys():
            graph, gone = self.graph(path), self.gone.get(path, set())
            fields = self.nodes[path]
            if path in self.orders:
                graph.reorder(_NODE, self.orders[path])
            graph.remove(fields[index] for index in gone)

    def graph(self, path: str) -> Message:
        """The GraphProto of a path. Raises Unwritable where there are several, or it is in pieces."""
        message = self.root.inner(self.root.of(_GRAPH)[0])
        found = list(_ways(self.main, path, ()))
        if len(found) != 1:
            raise Unwritable(f"{len(found)} graphs have the path {path!r}")
        for index, attribute, position in found[0]:
            message = _body(message, index, attribute, position)
        self.nodes.setdefault(path, message.of(_NODE))
        return message

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
        graph = self.graph(edit.graph)
        if graph.of(_QUANTIZATION):
            raise Unwritable("annotations of quantization may name the initializer")
        graph.remove(field for field in graph.of(_INITIALIZER) if graph.text_in(field, _TENSOR_NAME) == edit.name)
        for field in graph.of(_SPARSE_INITIALIZER):
            sparse = Message(graph.data, *graph.span(field))
            values = sparse.of(_SPARSE_VALUES)
            if values and sparse.text_in(values[-1], _TENSOR_NAME) == edit.name:
                graph.remove([field])

    def remove_value_info(self, edit: Edit) -> None:
        graph = self.graph(edit.graph)
        graph.remove(field for field in graph.of(_VALUE_INFO) if graph.text_in(field, _VALUE_NAME) == edit.name)

    def remove_import(self, edit: Edit) -> None:
        """Removes every import of a domain, or with an index all but that one, counted among those of the domain."""
        found = [field for field in self.root.of(_OPSET_IMPORT) if self.root.text_in(field, _IMPORTED) == edit.name]
        self.root.remove(field for at, field in enumerate(found) if at != edit.index)

    def remove_metadata(self, edit: Edit) -> None:
        """Removes all entries of each key but the last."""
        last = {self.root.text_in(field, _KEY): field for field in self.root.of(_METADATA)}
        self.root.remove(field for field in self.root.of(_METADATA) if field not in last.values())

    def add_import(self, edit: Edit) -> None:
        entry = Message(b"", 0, 0)
        entry.set_text(_IMPORTED, edit.name)
        entry.set_number(_VERSION, int(edit.value or 0))
        self.root.append(_OPSET_IMPORT, b"".join(piece for piece in entry.pieces() if isinstance(piece, bytes)))

    def set_ir_version(self, edit: Edit) -> None:
        if all(field.key != _IR_VERSION << 3 | VARINT for field in self.root.fields):
            # Readers tell an ONNX file by its first byte.
            self.root.fields.insert(0, Field(_IR_VERSION << 3 | VARINT, 0, 0, b"\x08\x00"))
        self.root.set_number(_IR_VERSION, int(edit.value or 0))


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
    ("opset", "opset_import"): _Writer.add_import,
    ("ir_version", "graph"): _Writer.set_ir_version,
}

#: How a body is reached: the index of its node, the attribute, and its place in a list of bodies.
_Step = tuple[int, str, int | None]


def _ways(graph: Graph, path: str, steps: tuple[_Step, ...]) -> Iterable[tuple[_Step, ...]]:
    """How the graphs of a path are reached from this one."""
    if graph.path == path:
        yield steps
    for node in graph.nodes:
        for name, attribute in node.attributes.items() if node.bodies else ():
            bodies = attribute.value if attribute.kind == "GRAPHS" else [attribute.value]
            for position, body in enumerate(bodies) if attribute.kind in ("GRAPH", "GRAPHS") else ():
                if isinstance(body, Graph):
                    at = position if attribute.kind == "GRAPHS" else None
                    yield from _ways(body, path, (*steps, (node.index, name, at)))


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
