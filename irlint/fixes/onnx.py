"""Writes edits into the bytes of an ONNX file. All other bytes stay the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, count

from irlint.dims import product
from irlint.findings.edits import Edit
from irlint.fixes.inserted import AXES_ARE_AN_INPUT
from irlint.fixes.onnx_messages import (
    body_in,
    constant,
    convert,
    number_of,
    only,
    set_dims,
    set_entries,
    set_type,
    set_value,
)
from irlint.fixes.onnx_messages import node as new_node
from irlint.fixes.wire import Field, Message, Piece, Unwritable
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant, Graph, Model
from irlint.model.order import graphs
from irlint.model.tensor import Tensor
from irlint.parsers.onnx.graph_records import STANDARD
from irlint.parsers.onnx.protobuf import VARINT

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: Fields of ModelProto (onnx.proto).
_IR_VERSION, _GRAPH, _OPSET_IMPORT, _METADATA, _TRAINING_INFO = 1, 7, 8, 14, 20

#: Fields of GraphProto.
_NODE, _GRAPH_NAME, _INITIALIZER, _INPUT, _OUTPUT = 1, 2, 5, 11, 12
_VALUE_INFO, _QUANTIZATION, _SPARSE_INITIALIZER = 13, 14, 15

#: Fields of NodeProto, AttributeProto and the entries of lists.
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _OP_TYPE, _ATTRIBUTE, _DOMAIN = 1, 2, 3, 4, 5, 7
_ATTRIBUTE_NAME, _TENSOR = 1, 5
_TENSOR_NAME, _SPARSE_VALUES, _VALUE_NAME, _KEY, _IMPORTED, _VERSION = 8, 1, 1, 1, 1, 2

#: Fields of GraphProto that hold declarations, and fields of ValueInfoProto, TypeProto and its Tensor.
_DECLARED = {"input": 11, "output": 12, "value_info": _VALUE_INFO}
_TYPE = 2


def rewritten(data: Buffer, model: Model, edits: Iterable[Edit]) -> list[Piece]:
    """The edited file, as pieces. ``model`` was read from ``data``. Raises Unwritable."""
    root = Message(data, 0, len(data))
    if len(root.of(_GRAPH)) != 1 or root.of(_TRAINING_INFO):
        raise Unwritable("the model's graph is in several pieces, or the file contains training graphs")
    assert model.graph is not None
    writer = _Writer(root, model, model.graph)
    # Edits have the indices of the unchanged file, so nodes are moved and removed last.
    for edit in sorted(edits, key=lambda edit: (edit.of == "node", edit.kind == "remove", edit.kind == "order")):
        if (edit.kind, edit.of) not in _EDITS:
            raise Unwritable(f"{edit.text} is not written")
        writer.edit(edit)
    writer.finish()
    return list(root.pieces())


class _Writer:
    """Writes the edits of one file. ``finish`` writes the edits that are only recorded at first."""

    def __init__(self, root: Message, model: Model, graph: Graph) -> None:
        self.root = root
        self.model = model
        self.used_names: set[str] = set()
        self.paths = {each.path: each for each in reversed(list(graphs(model)))}
        self.steps: dict[str, list[tuple[_Step, ...]]] = {}
        for path, steps in _steps(graph, ()):
            self.steps.setdefault(path, []).append(steps)
        self.found: dict[tuple[_Step, ...], tuple[Message, list[Field]]] = {}
        self.graphs: dict[str, Message] = {}
        #: The NodeProtos of each graph in file order, by path.
        self.nodes: dict[str, list[Field]] = {}
        self.node_orders: dict[str, tuple[int, ...]] = {}
        #: The indices of removed nodes, by path.
        self.removed_nodes: dict[str, set[int]] = {}
        self.new_nodes: dict[str, list[tuple[Field, bytes]]] = {}
        #: The names of removed initializers, and of removed declarations, by path.
        self.removed_initializers: dict[str, set[str]] = {}
        self.removed_declarations: dict[str, set[str]] = {}
        self.dtypes: dict[tuple[str, str], str] = {}
        #: The declarations by name, for a graph and a field of GraphProto.
        self.declared: dict[tuple[str, int], dict[str, list[Field]]] = {}
        #: New entries of ``value_info``, by path.
        self.new_declarations: dict[str, list[Message]] = {}
        #: Domains of removed imports, and the index of the import to keep.
        self.removed_imports: dict[str, int | None] = {}

    def edit(self, edit: Edit) -> None:
        """Makes one edit, or records it for ``finish``."""
        _EDITS[edit.kind, edit.of](self, edit)

    def finish(self) -> None:
        """Makes the recorded edits."""
        if self.removed_imports:
            _remove_imports(self.root, self.removed_imports)
        for path, gone in self.removed_initializers.items():
            _remove_initializers(self.graph(path), gone)
        for path, gone in self.removed_declarations.items():
            graph = self.graph(path)
            graph.remove(field for field in graph.of(_VALUE_INFO) if graph.text_in(field, _VALUE_NAME) in gone)
        for path, added in self.new_declarations.items():
            self.graph(path).append(_VALUE_INFO, *added)
        for path in self.node_orders.keys() | self.removed_nodes.keys():
            graph, fields = self.graph(path), self.nodes[path]
            if path in self.node_orders:
                graph.reorder(_NODE, self.node_orders[path])
            graph.remove(fields[index] for index in self.removed_nodes.get(path, ()))
        for path, found in self.new_nodes.items():
            for user, node in found:
                self.graph(path).append_before(user, _NODE, node)

    def graph(self, path: str) -> Message:
        """The GraphProto of a path. Raises Unwritable if there are several, or if it is in several pieces."""
        if path not in self.graphs:
            found = self.steps.get(path, [])
            if len(found) != 1:
                raise Unwritable(f"{len(found)} graphs have the path {path!r}")
            self.graphs[path], self.nodes[path] = self.at_end(found[0])
        return self.graphs[path]

    def at_end(self, steps: tuple[_Step, ...]) -> tuple[Message, list[Field]]:
        """(GraphProto, its NodeProtos) to which steps lead. Raises Unwritable if a body is in several pieces."""
        if steps not in self.found:
            if steps:
                (graph, nodes), (index, attribute, position) = self.at_end(steps[:-1]), steps[-1]
                found = body_in(graph.inner(nodes[index]), attribute, position)
            else:
                found = self.root.inner(self.root.of(_GRAPH)[0])
            self.found[steps] = found, found.of(_NODE)
        return self.found[steps]

    def node(self, edit: Edit) -> Message:
        """The NodeProto that an edit names."""
        graph = self.graph(edit.graph)
        fields = self.nodes[edit.graph]
        if edit.index is None or edit.index >= len(fields):
            raise Unwritable("there is no such node")
        return graph.inner(fields[edit.index])

    def order(self, edit: Edit) -> None:
        graph = self.graph(edit.graph)
        if sorted(edit.order) != list(range(len(graph.of(_OUTPUT if edit.of == "output" else _NODE)))):
            raise Unwritable("nodes or outputs of the graph are damaged")
        if edit.of == "output":
            graph.reorder(_OUTPUT, edit.order)
        else:
            self.node_orders[edit.graph] = edit.order

    def remove_node(self, edit: Edit) -> None:
        self.node(edit)
        assert edit.index is not None
        self.removed_nodes.setdefault(edit.graph, set()).add(edit.index)

    def rename_node(self, edit: Edit) -> None:
        node = self.node(edit)
        if node.text(_NODE_NAME) != edit.node:
            raise Unwritable("the node has another name")
        node.set_text(_NODE_NAME, str(edit.value))

    def set_domain(self, edit: Edit) -> None:
        """Gives one node another domain, or removes the domain ``name`` from all nodes of a graph."""
        if edit.index is not None:
            self.node(edit).set_text(_DOMAIN, str(edit.value))
            return
        graph = self.graph(edit.graph)
        for field in self.nodes[edit.graph]:
            if graph.text_in(field, _DOMAIN) == edit.name:
                node = graph.inner(field)
                node.remove(node.of(_DOMAIN))

    def name_graph(self, edit: Edit) -> None:
        self.graph(edit.graph).set_text(_GRAPH_NAME, str(edit.value))

    def set_attribute(self, edit: Edit) -> None:
        node = self.node(edit)
        found = [field for field in node.of(_ATTRIBUTE) if node.text_in(field, _ATTRIBUTE_NAME) == edit.name]
        if not found:
            node.append(_ATTRIBUTE, b"")
            found = node.of(_ATTRIBUTE)
        set_value(node.inner(found[-1]), edit.name, edit.value)

    def rename_attribute(self, edit: Edit) -> None:
        node = self.node(edit)
        for field in node.of(_ATTRIBUTE):
            if node.text_in(field, _ATTRIBUTE_NAME) == edit.name:
                node.inner(field).set_text(_ATTRIBUTE_NAME, str(edit.value))

    def remove_attribute(self, edit: Edit) -> None:
        node = self.node(edit)
        node.remove(field for field in node.of(_ATTRIBUTE) if node.text_in(field, _ATTRIBUTE_NAME) == edit.name)

    def rename_operator(self, edit: Edit) -> None:
        self.node(edit).set_text(_OP_TYPE, str(edit.value))

    def connect(self, edit: Edit) -> None:
        """Connects another value as an input of a node."""
        assert edit.input is not None
        self.node(edit).set_bytes_at(_NODE_INPUT, edit.input, str(edit.value).encode("utf-8", "surrogateescape"))

    def remove_input(self, edit: Edit) -> None:
        self.node(edit).remove(self.node(edit).of(_NODE_INPUT)[edit.input or 0 :][:1])

    def rename_value(self, edit: Edit) -> None:
        """Renames a value in a graph. Raises Unwritable if a body uses the value."""
        graph, stated = self.graph(edit.graph), self.paths[edit.graph]
        if any(value.name == edit.name for body in stated.bodies for value in body.captured):
            raise Unwritable("a body uses the value")
        for field in self.nodes[edit.graph]:
            for number in (_NODE_INPUT, _NODE_OUTPUT):
                node = graph.inner(field)
                for at, name in enumerate(node.of(number)):
                    if node.text_of(name) == edit.name:
                        node.set_bytes_at(number, at, str(edit.value).encode("utf-8", "surrogateescape"))
        for number in (_VALUE_INFO, _INITIALIZER):
            key = _VALUE_NAME if number == _VALUE_INFO else _TENSOR_NAME
            for field in graph.of(number):
                if graph.text_in(field, key) == edit.name:
                    graph.inner(field).set_text(key, str(edit.value))

    def insert(self, edit: Edit) -> None:
        """Inserts a node before the user of its result."""
        node, graph, port = self.node(edit), self.graph(edit.graph), edit.input
        inputs = node.of(_NODE_INPUT)
        if port is None or port >= len(inputs):
            raise Unwritable("there is no such input")
        name = self.new_name(f"{node.text_of(inputs[port])}_{edit.name}")
        given, attributes = [node.text_of(inputs[port]), *edit.inputs], []
        for key, value in edit.value:
            if key == "axes" and self.model.opsets.get("", 0) >= AXES_ARE_AN_INPUT:
                given.append(self.new_name(f"{name}_axes"))
                graph.append(_INITIALIZER, constant(given[-1], value))
            else:
                attributes.append((key, number_of(value) if key == "to" else value))
        user = self.nodes[edit.graph][edit.index or 0]
        self.new_nodes.setdefault(edit.graph, []).append((user, new_node(edit.name, name, given, name, attributes)))
        node.set_bytes_at(_NODE_INPUT, port, name.encode("utf-8", "surrogateescape"))

    def insert_output(self, edit: Edit) -> None:
        """Adds a value to the outputs of a graph, with its declaration in ``value_info``."""
        graph = self.graph(edit.graph)
        found = self.declaring(edit, _VALUE_INFO)
        entry = graph.inner(found[0]) if found else Message(b"", 0, 0, is_new=True)
        entry.set_text(_VALUE_NAME, edit.name)
        graph.remove(found)
        count = len(graph.of(_OUTPUT))
        graph.append(_OUTPUT, entry)
        graph.reorder(_OUTPUT, (*range(edit.input or 0), count, *range(edit.input or 0, count)))

    def new_name(self, wanted: str) -> str:
        """A name that no node and no value has."""
        if not self.used_names:
            for graph in graphs(self.model):
                self.used_names.update(value.name for value in (*graph.inputs, *graph.constants, *graph.outputs))
                for node in graph.nodes:
                    self.used_names.update(value.name for value in (*node.inputs, *node.outputs) if value is not None)
                    self.used_names.add(node.name)
        name = next(
            each for each in chain([wanted], (f"{wanted}_{at}" for at in count(1))) if each not in self.used_names
        )
        self.used_names.add(name)
        return name

    def set_constant(self, edit: Edit) -> None:
        """Writes other entries of an initializer, or of a Constant node."""
        tensor = self.tensor(edit)
        known, values = self.constant(edit), tuple(edit.value)
        shape = known.shape if product(known.shape or ()) == len(values) else (len(values),)
        dtype = self.dtypes.get((edit.graph, edit.name), known.dtype or "")
        set_entries(tensor, dtype, [dim for dim in shape or () if isinstance(dim, int)], values)

    def set_constant_shape(self, edit: Edit) -> None:
        known = self.constant(edit)
        if product(known.shape or ()) != product(edit.value):
            raise Unwritable("the elements of the constant do not fit the shape")
        set_dims(self.tensor(edit), edit.value)

    def set_constant_type(self, edit: Edit) -> None:
        convert(self.tensor(edit), str(edit.value))
        self.dtypes[edit.graph, edit.name] = str(edit.value)

    def constant(self, edit: Edit) -> Tensor:
        """The type and values of a constant. Raises Unwritable if there is no such constant."""
        graph = self.paths.get(edit.graph)
        for value, each in graph.constants.items() if graph is not None else ():
            if value.name == edit.name:
                return each.tensor
        for node in graph.nodes if graph is not None else ():
            if any(value is not None and value.name == edit.name for value in node.outputs):
                attribute = node.attributes.get("value")
                if attribute is not None and isinstance(attribute.value, Constant):
                    return attribute.value.tensor
        raise Unwritable("there is no such constant")

    def tensor(self, edit: Edit) -> Message:
        """The TensorProto of a constant. Raises Unwritable if there is no such constant."""
        graph = self.graph(edit.graph)
        found = [field for field in graph.of(_INITIALIZER) if graph.text_in(field, _TENSOR_NAME) == edit.name]
        if found:
            return graph.inner(found[-1])
        for field in self.nodes[edit.graph]:
            if graph.text_in(field, _NODE_OUTPUT) == edit.name:
                node = graph.inner(field)
                for attribute in node.of(_ATTRIBUTE):
                    if node.text_in(attribute, _ATTRIBUTE_NAME) == "value":
                        inner = node.inner(attribute)
                        return inner.inner(inner.of(_TENSOR)[-1])
        raise Unwritable("there is no such constant")

    def remove_initializer(self, edit: Edit) -> None:
        self.removed_initializers.setdefault(edit.graph, set()).add(edit.name)

    def remove_value_info(self, edit: Edit) -> None:
        self.removed_declarations.setdefault(edit.graph, set()).add(edit.name)

    def remove_import(self, edit: Edit) -> None:
        """Removes the imports of a domain, except the import with the index ``index`` among them."""
        if self.removed_imports.get(edit.name, 0) is not None:
            self.removed_imports[edit.name] = edit.index

    def remove_metadata(self, edit: Edit) -> None:
        """Removes all entries of each metadata key except the last."""
        entries = self.root.of(_METADATA)
        last = {self.root.text_in(field, _KEY): field for field in entries}
        kept = {id(field) for field in last.values()}
        self.root.remove(field for field in entries if id(field) not in kept)

    def set_import(self, edit: Edit) -> None:
        """Sets the opset of a domain, and adds a missing import."""
        names = ("", STANDARD) if edit.name == "" else (edit.name,)
        found = [field for field in self.root.of(_OPSET_IMPORT) if self.root.text_in(field, _IMPORTED) in names]
        entries = [self.root.inner(field) for field in found] or [Message(b"", 0, 0, is_new=True)]
        if not found:
            entries[0].set_text(_IMPORTED, edit.name)
            self.root.append(_OPSET_IMPORT, entries[0])
        for entry in entries:
            entry.set_number(_VERSION, int(str(edit.value)))

    def declaring(self, edit: Edit, number: int) -> list[Field]:
        """The declarations of the edit's value in one field of GraphProto."""
        if (edit.graph, number) not in self.declared:
            graph, entries = self.graph(edit.graph), dict[str, list[Field]]()
            self.declared[edit.graph, number] = entries
            for field in graph.of(number):
                entries.setdefault(graph.text_in(field, _VALUE_NAME), []).append(field)
        return self.declared[edit.graph, number].get(edit.name, [])

    def declare(self, edit: Edit) -> None:
        """Changes the declared type of a value in one list, or in all. Raises Unwritable if a list has no entry.

        An entry of ``value_info`` is added if it is missing.
        """
        graph = self.graph(edit.graph)
        numbers = [_DECLARED[edit.of]] if edit.of in _DECLARED else list(_DECLARED.values())
        found = [graph.inner(field) for number in numbers for field in self.declaring(edit, number)]
        if not found and edit.of != "value_info":
            raise Unwritable("nothing is declared of the value")
        if not found:
            found = [Message(b"", 0, 0, is_new=True)]
            found[0].set_text(_VALUE_NAME, edit.name)
            self.new_declarations.setdefault(edit.graph, []).extend(found)
        for each in found:
            set_type(only(each, _TYPE), edit.dtype, edit.shape)

    def set_ir_version(self, edit: Edit) -> None:
        if all(field.key != _IR_VERSION << 3 | VARINT for field in self.root.fields):
            # Readers recognize an ONNX file by its first byte.
            self.root.fields.insert(0, Field(_IR_VERSION << 3 | VARINT, 0, 0, b"\x08\x00"))
        self.root.set_number(_IR_VERSION, int(str(edit.value)))


_EDITS: dict[tuple[str, str], Callable[[_Writer, Edit], None]] = {
    ("attribute", "node"): _Writer.set_attribute,
    ("input", "node"): _Writer.connect,
    ("insert", "node"): _Writer.insert,
    ("insert", "output"): _Writer.insert_output,
    ("constant", "entries"): _Writer.set_constant,
    ("constant", "shape"): _Writer.set_constant_shape,
    ("constant", "type"): _Writer.set_constant_type,
    ("declaration", "node"): _Writer.declare,
    ("remove", "attribute"): _Writer.remove_attribute,
    ("rename", "attribute"): _Writer.rename_attribute,
    ("rename", "value"): _Writer.rename_value,
    ("rename", "operator"): _Writer.rename_operator,
    ("order", "node"): _Writer.order,
    ("order", "output"): _Writer.order,
    ("remove", "node"): _Writer.remove_node,
    ("remove", "input"): _Writer.remove_input,
    ("rename", "node"): _Writer.rename_node,
    ("rename", "domain"): _Writer.set_domain,
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

#: A step to a body: the index of its node, the attribute, and its index in a list of bodies.
_Step = tuple[int, str, int | None]


def _steps(graph: Graph, steps: tuple[_Step, ...]) -> Iterator[tuple[str, tuple[_Step, ...]]]:
    """The paths of a graph and of the bodies in it, with the steps that lead there."""
    yield graph.path, steps
    for node in graph.nodes:
        for name, attribute in node.attributes.items() if node.bodies else ():
            bodies = attribute.value if attribute.kind == "GRAPHS" else [attribute.value]
            for position, body in enumerate(bodies) if attribute.kind in ("GRAPH", "GRAPHS") else ():
                if isinstance(body, Graph):
                    at = position if attribute.kind == "GRAPHS" else None
                    yield from _steps(body, (*steps, (node.index, name, at)))


def _remove_imports(root: Message, gone: Mapping[str, int | None]) -> None:
    """Removes the imports of some domains, except the import at a given index."""
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
