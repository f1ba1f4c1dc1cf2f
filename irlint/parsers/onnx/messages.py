"""Reads ONNX's messages into records (``GraphRecord``, ``NodeRecord``); damaged parts are reported and omitted.

In these records, values are names and types are bytes; ``linking`` resolves both. The depth of a message is the number
of messages around it: the main graph has depth 1, and its nodes have depth 2.
"""

from __future__ import annotations

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import IGNORE, Attribute, Constant
from irlint.model.tensor import Tensor
from irlint.parsers.faults import DUPLICATE_ATTRIBUTE, DUPLICATE_FUNCTION, MALFORMED_ONNX
from irlint.parsers.onnx import tensors, unread
from irlint.parsers.onnx.attribute_kinds import CONSTANT_VALUES, LINKED, MESSAGES, PLAIN, stated_kind
from irlint.parsers.onnx.graph_records import STANDARD, FunctionRecord, GraphRecord, NodeRecord, standard
from irlint.parsers.onnx.plain_nodes import PLAIN_BYTES, SHARED_BYTES, PlainNodes
from irlint.parsers.onnx.protobuf import (
    DEPTH_LIMIT,
    MOST_EQUAL,
    Damage,
    fields,
    floats,
    integers,
    last,
    last_text,
    merged,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from irlint.parsers.onnx.attribute_faults import Where
    from irlint.parsers.onnx.protobuf import Buffer, Fields, LongTexts, Span

#: Attributes with more bytes than this are given to ``long_lists`` first.
_LONG_BYTES = 1 << 16

#: At most this many bytes of a string attribute are kept. Embedded engines and vocabularies are longer.
_STRING_BYTES = 1 << 16

_VALUE_METADATA = 4 << 3 | 2

#: The metadata key that irlint reads, and the number of first bytes of a metadata entry in which it is searched.
_IGNORE = IGNORE.encode()
_KEY_BYTES = 64

#: The depth of the bodies of a function's nodes. Bodies inside these bodies are deeper.
_FUNCTION_DEPTH = 4


class Reader:
    """Reads the messages of one file.

    ``types`` maps the bytes of each TypeProto, in the order of the file, to the greatest depth at which they occur.
    ``unread_entries`` maps the name of a list to the number of its equal entries that were not read. ``long`` has the
    names that are too long. ``within_function`` is True once a function has been read.
    """

    def __init__(self, data: Buffer, files: tensors.Files) -> None:
        self.data = data
        self.files = files
        self.types: dict[bytes, int] = {}
        self.long: LongTexts = {}
        self.unread_entries: dict[str, int] = {}
        self.within_function = False
        self._plain = PlainNodes()

    def graph(self, spans: list[Span], depth: int) -> GraphRecord:
        """The GraphProto whose pieces are at ``spans``, ``depth`` messages below the model; raises Damage."""
        found = merged(self.data, spans, depth)
        record = GraphRecord(last_text(self.data, found, 2, self.long), len(spans))
        record.annotated = 14 << 3 | 2 in found
        unread.walk_fields(self.data, found, unread.OF_GRAPH, depth)
        inputs = self.entries(found, 11, "input")
        record.inputs = self._value_infos(inputs, depth + 1)
        if depth == 1 and not all(name for name, _ in record.inputs):
            messages = [fields(self.data, start, end, None, depth + 1) for start, end in inputs]
            record.lacks_name = any(1 << 3 | 2 not in each for each in messages)
        record.outputs = self._value_infos(found.get(12 << 3 | 2, ()), depth + 1)
        record.declared = self._value_infos(found.get(13 << 3 | 2, ()), depth + 1)
        for span in self.entries(found, 5, "initializer"):
            self._initializer(record, span, depth + 1)
        for span in self.entries(found, 15, "sparse_initializer"):
            record.constants.append(self._named_sparse_tensor([span], depth + 1))
        where: Where = "function" if self.within_function else "main" if depth == 1 else "body"
        self._add_nodes(record, found.get(1 << 3 | 2, ()), depth + 3, where)
        return record

    def entries(self, found: Fields, number: int, name: str) -> Sequence[Span]:
        """The places of the entries of the list ``name`` in field ``number``, as ``_places`` selects them."""
        spans = found.get(number << 3 | 2, ())
        places = self._places(spans, name)
        return spans if len(places) == len(spans) else [spans[at] for at in places]

    def _places(self, spans: Sequence[Span], name: str) -> Sequence[int]:
        """The positions of the entries of a list to read; counts the other entries in ``unread_entries``.

        Of more than MOST_EQUAL equal short entries, only the first are read.
        """
        if len(spans) <= MOST_EQUAL:
            return range(len(spans))
        from irlint.parsers.onnx.equal_entries import kept

        places = kept(self.data, spans)
        if len(places) < len(spans):
            self.unread_entries[name] = self.unread_entries.get(name, 0) + len(spans) - len(places)
        return places

    def _add_nodes(self, record: GraphRecord, spans: Sequence[Span], depth: int, where: Where) -> None:
        record.places = self._places(spans, "node")
        read = spans if len(record.places) == len(spans) else [spans[at] for at in record.places]
        record.nodes = [self._node(start, end, depth, where) for start, end in read]

    def function(self, start: int, end: int) -> FunctionRecord:
        """The FunctionProto at the given place; raises Damage."""
        self.within_function = True
        data = self.data
        found = fields(data, start, end, None, 1)
        unread.walk_fields(data, found, unread.OF_FUNCTION, 1)
        graph = GraphRecord(last_text(data, found, 1, self.long))
        graph.inputs = [(text(data, span, self.long), b"") for span in found.get(4 << 3 | 2, ())]
        graph.outputs = [(text(data, span, self.long), b"") for span in found.get(5 << 3 | 2, ())]
        graph.declared = self._value_infos(found.get(12 << 3 | 2, ()), 2)
        self._add_nodes(graph, found.get(7 << 3 | 2, ()), _FUNCTION_DEPTH, "function")
        faults: list[Fault] = []
        names = [text(data, span, self.long) for span in found.get(6 << 3 | 2, ())]
        spans = self.entries(found, 11, "attribute_proto")
        defaults = [self._attribute(start, end, 2, faults, "", "function") for start, end in spans]
        names += [name for name, _ in defaults]
        # If an attribute has two defaults, the first one counts.
        attributes: dict[str, Attribute | None] = {**dict.fromkeys(names), **dict(reversed(defaults))}
        if len(attributes) < len(names):
            counts: dict[str, int] = {}
            for name in names:
                counts[name] = counts.get(name, 0) + 1
            faults += [same_attribute(name) for name in attributes if counts[name] > 1]
        return FunctionRecord(
            standard(last_text(data, found, 10, self.long)),
            graph.name,
            last_text(data, found, 13, self.long),
            graph,
            attributes,
            faults,
            self.imports(found.get(9 << 3 | 2, ()), 2),
        )

    def imports(self, spans: Iterable[Span], depth: int) -> list[tuple[str, int]]:
        """The domain and opset version of each OperatorSetIdProto; raises Damage."""
        messages = [fields(self.data, start, end, None, depth) for start, end in spans]
        return [(last_text(self.data, found, 1, self.long), last(found, 2 << 3)) for found in messages]

    def _value_infos(self, spans: Iterable[Span], depth: int) -> list[tuple[str, bytes]]:
        return [self._value_info(start, end, depth) for start, end in spans]

    def _value_info(self, start: int, end: int, depth: int) -> tuple[str, bytes]:
        data = self.data
        found = fields(data, start, end, None, depth)
        if _VALUE_METADATA in found:
            unread.walk_fields(data, found, unread.OF_VALUE, depth)
        return last_text(data, found, 1, self.long), self._type(found.get(2 << 3 | 2, ()), depth + 1)

    def _type(self, spans: Collection[Span], depth: int) -> bytes:
        """The bytes of a TypeProto whose pieces are at ``spans``, which are added to ``types``. Raises Damage."""
        if len(spans) > 1:
            # A field cannot continue in the next piece, so each piece must be a valid message.
            for start, end in spans:
                unread.walk(self.data, start, end, unread.TYPE, depth)
        known = b"".join([self.data[start:end] for start, end in spans])
        if self.types.get(known, 0) < depth:
            self.types[known] = depth
        return known

    def _initializer(self, record: GraphRecord, span: Span, depth: int) -> None:
        """Adds a TensorProto to the constants of a graph.

        If the TensorProto is damaged and has a name, adds a constant of unknown type and a fault. Raises Damage if it
        is damaged and has no name.
        """
        plain = tensors.plain_constant(self.data, *span)
        if plain is not None and depth <= DEPTH_LIMIT:
            record.constants.append(plain)
            return
        found: Fields = {}
        try:
            known = tensors.constant(self.data, fields(self.data, *span, found, depth), self.files, depth)
        except Damage as damage:
            name = last_text(self.data, found, 8, self.long)
            if not name:
                raise
            record.faults.append((name, damaged(f"initializer {name}", damage)))
            known = Constant(Tensor())
        record.constants.append((last_text(self.data, found, 8, self.long), known))

    def _node(self, start: int, end: int, depth: int, where: Where) -> NodeRecord:
        """The NodeProto at the given place, without damaged attributes; raises Damage.

        ``depth`` is the depth of the bodies in the node, two more than the depth of the node. ``where`` is the kind of
        graph that contains the node.
        """
        data = self.data
        if end - start <= PLAIN_BYTES and depth <= DEPTH_LIMIT:
            plain = self._plain.node(data[start:end])
            if plain is not None:
                return plain
        found = fields(data, start, end, None, depth - 2)
        op, domain = last_text(data, found, 4, self.long), last_text(data, found, 7, self.long)
        faults: list[Fault] = []
        attributes, duplicates = self._attributes(found, op, depth, where, faults)
        try:
            unread.walk_fields(data, found, unread.OF_NODE, depth - 2)
        except Damage as damage:
            faults.append(damaged("a part of the node that no operator reads", damage))
        is_tolerated = _is_in_function(where, depth) or (where == "main" and op == "Constant")
        faults += [repeated(name, is_tolerated) for name in dict.fromkeys(duplicates)]
        linked = any(each.kind in LINKED for each in attributes.values())
        if not (linked or faults):
            spans = found.get(5 << 3 | 2, ())
            raws = [data[begin:stop] if stop - begin <= SHARED_BYTES else b"" for begin, stop in spans]
            self._plain.keep(op, raws, attributes)
        return NodeRecord(
            last_text(data, found, 3, self.long),
            op,
            standard(domain),
            last_text(data, found, 8, self.long),
            [text(data, span, self.long) for span in found.get(1 << 3 | 2, ())],
            [text(data, span, self.long) for span in found.get(2 << 3 | 2, ())],
            attributes,
            linked,
            faults,
            self._metadata(found[9 << 3 | 2]) if 9 << 3 | 2 in found else {},
            domain == STANDARD,
        )

    def _attributes(
        self, found: Fields, op: str, depth: int, where: Where, faults: list[Fault]
    ) -> tuple[dict[str, Attribute], list[str]]:
        """The attributes of a NodeProto of the operator ``op``, and the names of attributes that it has repeatedly.

        Damaged attributes and attributes without a name are omitted. Adds the faults of all attributes to ``faults``.
        """
        attributes: dict[str, Attribute] = {}
        duplicates: list[str] = []
        spans = self.entries(found, 5, "attribute")
        is_constant = op == "Constant"
        last_counts = _is_in_function(where, depth) and not is_constant
        for at, (start, end) in enumerate(spans):
            before = len(faults)
            try:
                name, attribute = self._attribute(start, end, depth - 1, faults, op, where)
            except Damage as damage:
                name = _name_before_damage(self.data, start, end)
                faults.append(damaged(f"attribute {name}", damage, attribute=name))
                continue
            if _is_ignored(found, op, at) and (where == "main" or _is_in_function(where, depth)):
                faults[before:] = [fault.at_most(Severity.WARNING) for fault in faults[before:]]
                attribute = attribute and _without_tensor(attribute)
            if attribute is None:
                continue
            if not name and is_constant:
                name = CONSTANT_VALUES.get(attribute.kind, "")
            if name in attributes:
                duplicates.append(name)
            if name and (last_counts or name not in attributes):
                attributes[name] = attribute
        return attributes, duplicates

    def _metadata(self, spans: Iterable[Span]) -> dict[str, str]:
        """The metadata entries of a node with the key that irlint reads; other entries are skipped. Raises Damage."""
        data = self.data
        for_irlint = [(start, end) for start, end in spans if _IGNORE in data[start : min(end, start + _KEY_BYTES)]]
        return tensors.string_entries(data, for_irlint) if for_irlint else {}

    def _attribute(
        self, start: int, end: int, depth: int, faults: list[Fault], op: str, where: Where
    ) -> tuple[str, Attribute | None]:
        """The name and value of an AttributeProto of the operator ``op``, ``depth`` messages below the model.

        The value is None if the declared type is a message and the attribute has no such message. Adds the faults of
        the attribute to ``faults``; raises Damage.
        """
        data, before = self.data, len(faults)
        raw = data[start:end] if end - start <= SHARED_BYTES else b""
        known = self._plain.attributes.get(raw)
        if known is None and end - start > _LONG_BYTES:
            from irlint.parsers.onnx.long_lists import long_list

            known = long_list(data, start, end, self.files.model)
        if known is not None:
            return known
        found = fields(data, start, end, None, depth)
        name, reference = last_text(data, found, 1, self.long), last_text(data, found, 21, self.long)
        stated = stated_kind(found)
        is_doubtful = stated.has_others or not stated.is_stated or not name
        if stated.has_others or reference:
            unread.walk_fields(data, found, unread.ATTRIBUTE, depth)
        if is_doubtful:
            from irlint.parsers.onnx.attribute_faults import attribute_faults

            faults += attribute_faults(name, stated, constant=op == "Constant", where=where)
        if reference and where == "function":
            return name, Attribute(stated.kind, None, reference)
        value = self._value(stated.kind, found, depth + 1)
        if value is None and stated.kind in MESSAGES:
            if not any(fault.severity is Severity.ERROR for fault in faults[before:]):
                damage = Damage(f"its type is {stated.kind}, but it has no such value", 20, start)
                faults.append(damaged(f"attribute {name}", damage, attribute=name))
            return name, None
        attribute = Attribute(stated.kind, value, cut=_cut_text(found) if stated.kind == "STRING" else None)
        if raw and stated.kind in PLAIN and not is_doubtful:
            self._plain.attributes[raw] = name, attribute
        return name, attribute

    def _value(self, kind: str, found: Fields, depth: int) -> Any:
        """The value of an attribute of this kind; messages in the value have this ``depth``. Raises Damage.

        Returns None for a message that is absent and for an unknown kind. Absent numbers and texts are 0 and empty.
        """
        data = self.data
        match kind:
            case "INT":
                return last(found, 3 << 3)
            case "INTS":
                return tuple(integers(data, found, 8))
            case "FLOAT":
                return (floats(data, found, 2) or (0.0,))[-1]
            case "FLOATS":
                return floats(data, found, 7)
            case "STRING":
                return _string(data, found.get(4 << 3 | 2, [(0, 0)])[-1])
            case "STRINGS":
                return tuple(_string(data, span) for span in found.get(9 << 3 | 2, ()))
            case "TENSOR":
                return self._tensor(found.get(5 << 3 | 2, ()), depth)
            case "TENSORS":
                return tuple(self._tensor([span], depth) for span in self.entries(found, 10, "tensors"))
            case "GRAPH":
                spans = found.get(6 << 3 | 2)
                return self.graph(spans, depth) if spans else None
            case "GRAPHS":
                return tuple(self.graph([span], depth) for span in self.entries(found, 11, "graphs"))
            case "SPARSE_TENSOR":
                return self._sparse_tensor(found.get(22 << 3 | 2, ()), depth)
            case "SPARSE_TENSORS":
                return tuple(self._sparse_tensor([span], depth) for span in self.entries(found, 23, "sparse_tensors"))
            case "TYPE_PROTO":
                spans = found.get(14 << 3 | 2)
                return self._type(spans, depth) if spans else None
            case "TYPE_PROTOS":
                return tuple(self._type([span], depth) for span in found.get(15 << 3 | 2, ()))
            case _:
                return None

    def _tensor(self, spans: list[Span] | tuple[()], depth: int) -> Constant | None:
        return tensors.constant(self.data, merged(self.data, spans, depth), self.files, depth) if spans else None

    def _sparse_tensor(self, spans: list[Span] | tuple[()], depth: int) -> Constant | None:
        return self._named_sparse_tensor(spans, depth)[1] if spans else None

    def _named_sparse_tensor(self, spans: Iterable[Span], depth: int) -> tuple[str, Constant]:
        return tensors.sparse_constant(self.data, merged(self.data, spans, depth), self.files, depth)


def damaged(where: str, damage: Damage, **details: Any) -> Fault:
    """The fault of the file, or of a part that is omitted, because its bytes cannot be decoded."""
    return MALFORMED_ONNX.fault(f"{where} cannot be decoded: {damage}", help="export or copy the file again", **details)


def repeated(name: str, is_tolerated: bool) -> Fault:
    """The fault of an attribute that a node has more than once.

    ONNX Runtime tolerates it in two cases: it reads the first attribute of a Constant, and the last attribute of
    another node of a function.
    """
    return DUPLICATE_ATTRIBUTE.fault(
        f"attribute `{name}` appears more than once",
        help=f"keep only one `{name}`",
        attribute=name,
        severity=Severity.WARNING if is_tolerated else None,
    )


def same_attribute(name: str) -> Fault:
    """The fault of an attribute that a function declares more than once; runtimes use one of them."""
    return DUPLICATE_FUNCTION.fault(
        f"the function has two attributes named {name!r}", help="remove one of them", severity=Severity.WARNING
    )


def converted(damage: Damage) -> Fault:
    """The fault of a file whose line endings were converted as if it were a text."""
    return MALFORMED_ONNX.fault(
        "the file cannot be decoded, and every line feed at its beginning follows a carriage return: its line ends "
        f"were converted ({damage})",
        help="mark *.onnx as binary in .gitattributes (*.onnx -text), and check out or copy the file again",
    )


def _string(data: Buffer, span: Span) -> str:
    start, end = span
    return data[start : min(end, start + _STRING_BYTES)].decode("utf-8", "backslashreplace")


def _cut_text(found: Fields) -> Span | None:
    """The position of the text of a string attribute if the text is too long to be kept completely, else None."""
    texts = found.get(4 << 3 | 2)
    return texts[-1] if texts and texts[-1][1] - texts[-1][0] > _STRING_BYTES else None


def _is_in_function(where: Where, depth: int) -> bool:
    """Whether a node is in a function, but not in a body inside of it; ``depth`` is the depth of the node's bodies."""
    return where == "function" and depth == _FUNCTION_DEPTH


def _is_ignored(found: Fields, op: str, at: int) -> bool:
    """Whether ONNX Runtime ignores attribute ``at`` of a node that is not in a body.

    It ignores all attributes of a Constant but the first, and all attributes of a node without inputs and outputs.
    """
    if op == "Constant":
        return at > 0
    return 1 << 3 | 2 not in found and 2 << 3 | 2 not in found


def _without_tensor(attribute: Attribute) -> Attribute:
    """The attribute with an unknown tensor in place of a tensor, so that no check reports the tensor."""
    return Attribute(attribute.kind, Constant(Tensor())) if isinstance(attribute.value, Constant) else attribute


def _name_before_damage(data: Buffer, start: int, end: int) -> str:
    """The name of a damaged AttributeProto, "" if the name comes after the damage."""
    found: Fields = {}
    try:
        fields(data, start, end, found)
    except Damage:
        pass
    return last_text(data, found, 1)
