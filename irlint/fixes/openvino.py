"""Writes edits into the text of an IR. All other bytes stay the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from irlint.findings.edits import Edit, Replacement
from irlint.fixes.document import ENDS, ROOT, Wires, wires_of
from irlint.fixes.outline import Element, Outline
from irlint.fixes.wire import Piece, Unwritable
from irlint.model import Model, Node, Place, Port
from irlint.model.formats import OPENVINO
from irlint.parsers.openvino.positions import Offsets, line_and_column, line_starts
from irlint.parsers.openvino.types import BLANKS, renamed_type
from irlint.parsers.openvino.xml import Decoded, decoded
from irlint.records import record

#: The characters that an attribute's value must escape.
_REFERENCES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


@record
class Change:
    """A text that replaces the text between two indices of the document."""

    start: int
    end: int
    text: str


def rewritten(data: bytes, model: Model, edits: Iterable[Edit]) -> list[Piece]:
    """The edited document, as pieces. ``model`` was read from ``data``. Raises Unwritable."""
    source = decoded(data)
    if source.encoding != "utf-8" and source.text.encode(source.encoding, "replace") != data[source.mark_size :]:
        raise Unwritable("some bytes of the document are not characters of its encoding")
    edits = tuple(edits)
    return list(_pieces(source, Writer(source.text, model, edits).changed(edits), len(data)))


def replacements(data: bytes, model: Model, several: Sequence[Sequence[Edit]]) -> list[tuple[Replacement, ...]]:
    """The replacements of each list of edits in a document; () for a list that cannot be written."""
    text = decoded(data).text
    lines = line_starts(text)
    found: list[tuple[Replacement, ...]] = [()] * len(several)
    with suppress(Unwritable):
        writer = Writer(text, model, [edit for edits in several for edit in edits])
        for at, edits in enumerate(several):
            with suppress(Unwritable):
                found[at] = tuple([_replacement(each, lines) for each in writer.changed(edits)])
    return found


def _replacement(change: Change, lines: Sequence[int]) -> Replacement:
    return Replacement(*line_and_column(lines, change.start), *line_and_column(lines, change.end), change.text)


def _sorted(found: Iterable[Change]) -> list[Change]:
    """The changes in ascending order, without those in removed elements. Raises Unwritable if two overlap."""
    result: list[Change] = []
    for change in sorted(found, key=lambda each: (each.start, -each.end)):
        if not result or change.start >= result[-1].end:
            result.append(change)
        elif result[-1].text or change.end > result[-1].end:
            raise Unwritable("two edits change the same text")
    return result


def _pieces(source: Decoded, found: Sequence[Change], size: int) -> Iterator[Piece]:
    offsets = Offsets(source)
    behind = 0
    for change in found:
        start = offsets.of(change.start)
        if behind < start:
            yield behind, start
        behind = offsets.of(change.end)
        if change.text:
            yield change.text.encode(
                source.encoding, "surrogateescape" if source.encoding == "utf-8" else "xmlcharrefreplace"
            )
    if behind < size:
        yield behind, size


class Writer:
    """Writes the edits of one document."""

    def __init__(self, text: str, model: Model, edits: Iterable[Edit]) -> None:
        self.text = text
        self.model = model
        #: The id of the last inserted layer; 0 if there is none.
        self.last_new_id = 0
        #: The changes, by ordinal of the element and by changed part. A later change replaces an earlier one.
        self.changes: dict[tuple[int, object], Change] = {}
        paths = {edit.graph for edit in edits}
        self.wires = wires_of(model.graph, paths) if model.graph is not None else {}
        places = [self.node(edit).place for edit in edits if edit.index is not None]
        makers = [
            self.wires[edit.graph].makers.get(edit.name)
            for edit in edits
            if edit.kind == "constant" and edit.graph in self.wires
        ]
        places += [each[0].place for each in makers if each is not None]
        wanted = {place.element for place in places if place is not None}
        rewired = [self.graph(edit) for edit in edits if (edit.kind, edit.of) in _REWIRING]
        if any(edit.kind == "ir_version" for edit in edits):
            wanted.add(ROOT)
        self.outline = Outline(text, wanted, {each.ordinal for each in rewired})
        for each in {each.ordinal: each for each in rewired}.values():
            each.read(self.outline)

    def changed(self, edits: Iterable[Edit]) -> list[Change]:
        """The changes of edits, in ascending order. Raises Unwritable."""
        self.changes, self.last_new_id = {}, 0
        for edit in edits:
            written = _EDITS.get((edit.kind, edit.of))
            if written is None:
                raise Unwritable("edits of this kind are not written into an IR")
            written(self, edit)
        return _sorted(self.changes.values())

    def graph(self, edit: Edit) -> Wires:
        """The graph that an edit names."""
        if edit.graph not in self.wires:
            raise Unwritable(f"not one graph has the path {edit.graph!r}")
        return self.wires[edit.graph]

    def node(self, edit: Edit) -> Node:
        """The layer that an edit names."""
        node = self.graph(edit).nodes.get(-1 if edit.index is None else edit.index)
        if node is None or node.label != edit.node:
            raise Unwritable("there is no such layer")
        return node

    def layer(self, edit: Edit) -> Element:
        """The element of the layer that an edit names."""
        return self.element(self.node(edit).place)

    def element(self, place: Place | None) -> Element:
        """The element at a place of the document."""
        found = self.outline.elements.get(place.element) if place is not None else None
        if found is None:
            raise Unwritable("the layer is not at the expected position in the document")
        return found

    def change(self, element: Element, part: object, start: int, end: int, text: str) -> None:
        """Records a change."""
        self.changes[element.tag.ordinal, part] = Change(start, end, text)

    def set_attribute(self, element: Element, name: str, value: str | None) -> None:
        """Writes an attribute of an element; None removes it."""
        found = [each for each in self.outline.attributes(element) if each[0] == name]
        if value is None:
            for number, (_, start, _, end) in enumerate(found):
                self.change(element, (name, number), start - len(self.outline.blank_before(start)), end, "")
        elif found:
            _, _, begin, end = found[0]
            self.change(element, (name, 0), begin, end - 1, escaped(value))
        else:
            at = element.tag.attributes_start + len(element.tag.attributes)
            self.change(element, (name, 0), at, at, f' {name}="{escaped(value)}"')

    def attribute(self, edit: Edit) -> None:
        """Writes or removes an attribute of the ``<data>`` of a layer."""
        layer = self.layer(edit)
        value = None if edit.value is None else attribute_text(edit.value)
        data = next(iter(layer.named("data")), None)
        if data is not None:
            self.set_attribute(data, edit.name, value)
        elif value is not None:
            self.insert_inside(layer, [f'<data {edit.name}="{escaped(value)}"/>'])

    def rename_attribute(self, edit: Edit) -> None:
        """Renames an attribute of the ``<data>`` of a layer."""
        data = next(iter(self.layer(edit).named("data")), None)
        for number, (name, start, _, _) in enumerate(self.outline.attributes(data) if data is not None else ()):
            if name == edit.name and data is not None:
                self.change(data, (name, number), start, start + len(name), str(edit.value))

    def rename_operator(self, edit: Edit) -> None:
        self.set_attribute(self.layer(edit), "type", str(edit.value))

    def insert_inside(self, element: Element, inserted: Sequence[str]) -> None:
        """Inserts elements before the children of an element, with their indentation."""
        outer = self.outline.blank_before(element.tag.start)
        inner = self.outline.blank_before(element.children[0].tag.start) if element.children else deeper(outer)
        text = "".join(inner + each for each in inserted)
        if not element.is_empty:
            self.change(element, "inside", element.tag.end, element.tag.end, text)
            return
        self.change(
            element, "inside", element.tag.end - 2, element.tag.end, f">{text}{outer * bool(inner)}</{element.name}>"
        )

    def declaration(self, edit: Edit) -> None:
        """Writes the dims and the precision of a port, and the ``<data>`` of a Parameter."""
        node, port = self.port(edit)
        element = self.element(node.located(port.place))
        if edit.dtype:
            self.set_attribute(element, "precision", type_name(edit.dtype, port=True))
        if edit.shape is not None:
            self.set_dims(element, edit.shape)
        if node.op == OPENVINO.input_node and edit.input is None:
            self.set_parameter(self.layer(edit), edit)

    def port(self, edit: Edit) -> tuple[Node, Port]:
        """(layer, port) that an edit names, by ``input`` or by an output value. Raises Unwritable if there is none."""
        node = self.node(edit)
        if edit.input is not None:
            if edit.input >= len(node.input_ports):
                raise Unwritable("the layer has no such input")
            return node, node.input_ports[edit.input]
        maker, id, _ = self.graph(edit).makers.get(edit.name, (None, 0, None))
        if maker is not node:
            raise Unwritable("the layer has no such output")
        return node, next(port for port in node.output_ports if port.id == id)

    def set_parameter(self, layer: Element, edit: Edit) -> None:
        data = next(iter(layer.named("data")), None)
        if data is None:
            raise Unwritable("the Parameter states no shape")
        if edit.dtype:
            self.set_attribute(data, "element_type", type_name(edit.dtype, port=False))
        if edit.shape is not None:
            written = self.outline.value(data, "shape").strip(BLANKS).removeprefix("[").removesuffix("]")
            old = [each.strip(BLANKS) for each in written.split(",")]
            kept = old if len(old) == len(edit.shape) else ["?"] * len(edit.shape)
            dims = [
                kept[axis] if isinstance(dim, str) else "?" if dim is None else str(dim)
                for axis, dim in enumerate(edit.shape)
            ]
            self.set_attribute(data, "shape", ",".join(dims))

    def set_dims(self, port: Element, shape: Sequence[int | str | None]) -> None:
        """Writes the dims of a port. Where ``shape`` has a text, the dim stays."""
        written = port.named("dim")
        for dim, size in zip(written, shape):
            text = size_text(size)
            if isinstance(size, str):
                continue
            if dim.is_empty:
                self.change(dim, "size", dim.tag.start, dim.tag.end, f"<dim>{text}</dim>")
            elif self.text[dim.tag.end : dim.inside_end].strip(BLANKS) != text:
                self.change(dim, "size", dim.tag.end, dim.inside_end, text)
        for dim in written[len(shape) :]:
            self.change(dim, "size", dim.tag.start - len(self.outline.blank_before(dim.tag.start)), dim.end, "")
        more = [f"<dim>{size_text(size)}</dim>" for size in shape[len(written) :]]
        if more and written:
            last = written[-1]
            blank = self.outline.blank_before(last.tag.start)
            self.change(port, "inside", last.end, last.end, "".join(blank + each for each in more))
        elif more:
            self.insert_inside(port, more)

    def rename(self, edit: Edit) -> None:
        self.set_attribute(self.layer(edit), "name", str(edit.value))

    def remove_layer(self, edit: Edit) -> None:
        """Removes a layer and its edges."""
        node, wires = self.node(edit), self.graph(edit)
        if edit.graph and node.op in (OPENVINO.input_node, OPENVINO.output_node):
            raise Unwritable("the layer around the body needs this layer")
        self.remove(self.layer(edit))
        for each in wires.of_layer(wires.key(node)):
            self.remove(each.element)

    def remove(self, element: Element) -> None:
        start = element.tag.start
        self.change(element, "gone", start - len(self.outline.blank_before(start)), element.end, "")

    def connect(self, edit: Edit) -> None:
        """Leads exactly one edge from a value into an input port, preferably an existing or a broken edge."""
        node, port = self.port(edit)
        wires = self.graph(edit)
        end, source = (wires.key(node), port.id), wires.end(str(edit.value))
        found = wires.into(end)
        kept = next(
            (each for each in found if each.source == source), found[0] if found else wires.nearest(source, end)
        )
        for each in found:
            if each is not kept:
                self.remove(each.element)
        texts = dict(zip(ENDS, map(str, (*source, *end))))
        if kept is None:
            self.add_edge(wires, texts)
        elif kept.ids != (*source, *end):
            self.rewire(kept.element, texts)

    def rewire(self, edge: Element, texts: Mapping[str, str]) -> None:
        """Writes the ends of an edge."""
        names = {name for name, *_ in self.outline.attributes(edge)}
        if not names >= texts.keys():
            self.change(edge, "gone", edge.tag.start, edge.end, _edge(texts))
            return
        for name, text in texts.items():
            if self.outline.value(edge, name) != text:
                self.set_attribute(edge, name, text)

    def add_edge(self, wires: Wires, texts: Mapping[str, str]) -> None:
        edges = self.outline.edges.get(wires.ordinal)
        if edges is None:
            raise Unwritable("the graph has no edges")
        if not edges.children:
            self.insert_inside(edges, [_edge(texts)])
            return
        last = edges.children[-1]
        self.change(
            edges, tuple(texts.items()), last.end, last.end, self.outline.blank_before(last.tag.start) + _edge(texts)
        )

    def layer_attribute(self, edit: Edit) -> None:
        """Writes an attribute of a layer itself."""
        self.set_attribute(self.layer(edit), edit.name, str(edit.value))

    def port_id(self, edit: Edit) -> None:
        """Writes the id of an input port."""
        node, port = self.port(edit)
        self.set_attribute(self.element(node.located(port.place)), "id", str(edit.value))

    def port_map(self, edit: Edit) -> None:
        """Writes an id in an entry of a port map, or in a back edge."""
        found = next(iter(self.layer(edit).named(edit.of)), None)
        names = ("input", "output") if edit.of == "port_map" else ("edge",)
        entries = [each for each in found.children if each.name in names] if found is not None else []
        if edit.input is None or edit.input >= len(entries):
            raise Unwritable(f"the {edit.of} has no such entry")
        self.set_attribute(entries[edit.input], edit.name, str(edit.value))

    def insert_port(self, edit: Edit) -> None:
        from irlint.fixes.new_layers import insert_port

        insert_port(self, edit)

    def insert_layer(self, edit: Edit) -> None:
        from irlint.fixes.new_layers import insert_layer

        insert_layer(self, edit)

    def entries(self, edit: Edit) -> None:
        """Moves the offset of a constant to its new entries. Raises Unwritable if the weights do not contain them."""
        from irlint.fixes.stored import leaves_end_unused, offset_of

        graph = self.model.graph
        value, constant = (
            next(((value, each) for value, each in graph.constants.items() if value.name == edit.name), (None, None))
            if graph is not None and not edit.graph
            else (None, None)
        )
        if value is None or constant is None or len(edit.value) != len(constant.tensor.value or ()):
            raise Unwritable("there is no such constant")
        offset = offset_of(self.model, edit.value, constant.tensor.dtype or "")
        node = self.graph(edit).makers[edit.name][0]
        layer = self.element(node.place)
        data = next(iter(layer.named("data")), None)
        if offset is None or data is None:
            raise Unwritable("the weights do not contain these entries")
        if leaves_end_unused(self.model, constant, offset):
            raise Unwritable("the weights would end with bytes that belong to no constant")
        self.set_attribute(data, "offset", str(offset))

    def version(self, edit: Edit) -> None:
        """Writes the version of the file."""
        net = self.outline.elements.get(ROOT)
        if net is None:
            raise Unwritable("the document has no root")
        self.set_attribute(net, "version", str(edit.value))


#: The kinds of edits that change edges.
_REWIRING = {("input", "node"), ("remove", "node"), ("insert", "node")}

_EDITS: dict[tuple[str, str], Callable[[Writer, Edit], None]] = {
    ("attribute", "node"): Writer.attribute,
    ("declaration", "node"): Writer.declaration,
    ("input", "node"): Writer.connect,
    ("rename", "attribute"): Writer.rename_attribute,
    ("rename", "operator"): Writer.rename_operator,
    ("rename", "node"): Writer.rename,
    ("remove", "node"): Writer.remove_layer,
    ("attribute", "layer"): Writer.layer_attribute,
    ("attribute", "port"): Writer.port_id,
    ("attribute", "port_map"): Writer.port_map,
    ("attribute", "back_edges"): Writer.port_map,
    ("insert", "port"): Writer.insert_port,
    ("insert", "node"): Writer.insert_layer,
    ("constant", "entries"): Writer.entries,
    ("ir_version", "graph"): Writer.version,
}


def _edge(texts: Mapping[str, str]) -> str:
    return "<edge " + " ".join(f'{name}="{text}"' for name, text in texts.items()) + "/>"


def type_name(dtype: str, *, port: bool) -> str:
    name = renamed_type(dtype, port=port)
    if name is None:
        raise Unwritable(f"an IR has no element type {dtype}")
    return name


def size_text(size: object) -> str:
    """The text of a dim of a port; -1 for unknown dims."""
    return str(size) if isinstance(size, int) else "-1"


def deeper(blank: str) -> str:
    """The whitespace before the children of an element; ``blank`` is the whitespace before the element."""
    if "\n" not in blank and "\r" not in blank:
        return ""
    return blank + ("\t" if blank.endswith("\t") else "  ")


def attribute_text(value: object) -> str:
    """A value as an IR writes it: lists with commas, booleans in lower case."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(attribute_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def escaped(text: str) -> str:
    """A text, escaped for an attribute in quotes of either kind. Raises Unwritable for characters that XML excludes."""
    if any((each < " " and each not in "\t\n\r") or each in "\ufffe\uffff" for each in text):
        raise Unwritable("XML has no such character")
    return "".join([_REFERENCES.get(each, each) for each in text])
