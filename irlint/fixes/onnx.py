"""Edits, written into the bytes of an ONNX file: what they do not touch stays as it is, byte for byte."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

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
    """One file; ``nodes`` are the NodeProtos of a graph as the file has them, by its path, and ``gone``, ``initializers``,
    ``declarations`` and ``imports`` are what leaves at last."""

    def __init__(self, root: Message, graph: Graph) -> None:
        self.root = root
        self.ways: dict[str, list[tuple[_Step, ...]]] = {}
        for path, way in _ways(graph, ()):
            self.ways.setdefault(path, []).append(way)
        self.reached: dict[tuple[_Step, ...], tuple[Message, list[Field]]] = {}
        self.graphs: dict[str, Message] = {}
        self.nodes: dict[str, list[Field]] = {}
        self.orders: dict[str, tuple[int, ...]] = {}
        self.gone: dict[str, set[int]] = {}
        self.initializers: dict[str, set[str]] = {}
        self.declarations: dict[str, set[str]] = {}
        self.imports: dict[str, int | None] = {}

    def edit(self, edit: Edit) -> None:
        """Makes one edit, but for the order and the removal of nodes, which are kept for ``finish``."""
        _EDITS[edit.kind, edit.of](self, edit)

    def finish(self) -> None:
        """Removes imports, initializers and declarations, and sorts and removes nodes."""
        if self.imports:
            _remove_imports(self.root, self.imports)
        for path, gone in self.initializers.items():
            _remove_initializers(self.graph(path), gone)
        for path, gone in self.declarations.items():
            graph = self.graph(path)
            graph.remove(field for field in graph.of(_VALUE_INFO) if graph.text_in(field, _VALUE_NAME) in gone)
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
            self.graphs[path], self.nodes[path] = self.at_end(ways[0])
        return self.graphs[path]

    def at_end(self, way: tuple[_Step, ...]) -> tuple[Message, list[Field]]:
        """The GraphProto that some steps lead to, and its nodes. Raises Unwritable where one on the way is in pieces."""
        if way not in self.reached:
            if way:
                (graph, nodes), (index, attribute, position) = self.at_end(way[:-1]), way[-1]
                found = _body(graph.inner(nodes[index]), attribute, position)
            else:
                found = self.root.inner(self.root.of(_GRAPH)[0])
            self.reached[way] = found, found.of(_NODE)
        return self.reached[way]

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
        self.initializers.setdefault(edit.graph, set()).add(edit.name)

    def remove_value_info(self, edit: Edit) -> None:
        self.declarations.setdefault(edit.graph, set()).add(edit.name)

    def remove_import(self, edit: Edit) -> None:
        """Removes every import of a domain, or with an index all but that one, counted among those of the domain."""
        if self.imports.get(edit.name, 0) is not None:
            self.imports[edit.name] = edit.index

    def remove_metadata(self, edit: Edit) -> None:
        """Removes all entries of each key but the last."""
        entries = self.root.of(_METADATA)
        last = {self.root.text_in(field, _KEY): field for field in entries}
        kept = {id(field) for field in last.values()}
        self.root.remove(field for field in entries if id(field) not in kept)

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


def _remove_imports(root: Message, gone: Mapping[str, int | None]) -> None:
    """Removes every import of some domains, but for the one of each that an index counts."""
    at: Counter[str] = Counter()
    for field in root.of(_OPSET_IMPORT):
        domain = root.text_in(field, _IMPORTED)
        if domain in gone and at[domain] != gone[domain]:
            root.remove([field])
        at[domain] += 1


def _remove_initializers(graph: Message, gone: Collection[str]) -> None:
    if graph.of(_QUANTIZATION):
        raise Unwritable("annotations of quantization may name the initializer")
    graph.remove(field for field in graph.of(_INITIALIZER) if graph.text_in(field, _TENSOR_NAME) in gone)
    for field in graph.of(_SPARSE_INITIALIZER):
        sparse = Message(graph.data, *graph.span(field))
        values = sparse.of(_SPARSE_VALUES)
        if values and sparse.text_in(values[-1], _TENSOR_NAME) in gone:
            graph.remove([field])


def _body(node: Message, attribute: str, position: int | None) -> Message:
    """The GraphProto in an attribute of a node. Raises Unwritable where it is in pieces, or the attribute stands there twice."""
    named = [field for field in node.of(_ATTRIBUTE) if node.text_in(field, _ATTRIBUTE_NAME) == attribute]
    if len(named) != 1:
        raise Unwritable(f"a node has {len(named)} attributes {attribute!r}")
    holder = node.inner(named[0])
    bodies = holder.of(_BODY if position is None else _BODIES)
    if position is None and len(bodies) != 1:
        raise Unwritable("a body is in several pieces")
    return holder.inner(bodies[position or 0])
