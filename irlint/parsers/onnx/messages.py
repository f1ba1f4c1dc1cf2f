"""Reads ONNX's messages into records, and reports damaged parts.

The depth of a message is the number of messages around it: the main graph has depth 1, and its nodes have depth 2.
"""

from __future__ import annotations

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import IGNORE, Attribute, Constant
from irlint.model.tensor import Tensor
from irlint.parsers.faults import DUPLICATE_ATTRIBUTE, DUPLICATE_FUNCTION, MALFORMED_ONNX
from irlint.parsers.onnx import tensors, unused_fields
from irlint.parsers.onnx.attribute_kinds import (
    CONSTANT_VALUES,
    LINKED_KINDS,
    MESSAGE_KINDS,
    PLAIN_KINDS,
    attribute_kind,
)
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

#: ``long_lists`` tries to read attributes with more bytes than this.
_LONG_BYTES = 1 << 16

#: At most this many bytes of a string attribute are kept.
_STRING_BYTES = 1 << 16

_VALUE_METADATA = 4 << 3 | 2

#: The only metadata key that irlint reads. It is searched in the first _KEY_BYTES of each entry.
_IGNORE = IGNORE.encode()
_KEY_BYTES = 64

#: The depth of the bodies of nodes that are directly in a function.
_FUNCTION_DEPTH = 4


class Reader:
    """Reads the messages of one file: first the graph, then the functions."""

    def __init__(self, data: Buffer, files: tensors.Files) -> None:
        self.data = data
        self.files = files
        #: The greatest depth at which each TypeProto occurs, by the bytes of the TypeProto, in the order of the file.
        self.types: dict[bytes, int] = {}
        #: The names that were shortened because they are too long.
        self.long: LongTexts = {}
        #: The number of equal entries that were skipped, by the name of their list.
        self.skipped_entries: dict[str, int] = {}
        #: Whether a function is being read, or was read before.
        self.within_function = False
        self._plain = PlainNodes()

    def graph(self, spans: list[Span], depth: int) -> GraphRecord:
        """The GraphProto at ``depth`` whose pieces are at ``spans``. Raises Damage."""
        found = merged(self.data, spans, depth)
        record = GraphRecord(last_text(self.data, found, 2, self.long), len(spans))
        record.annotated = 14 << 3 | 2 in found
        unused_fields.check_fields(self.data, found, unused_fields.OF_GRAPH, depth)
        inputs = self.entries(found, 11, "input")
        record.inputs = self._value_infos(inputs, depth + 1)
        if depth == 1 and not all(name for name, _ in record.inputs):
            messages = [fields(self.data, start, end, None, depth + 1) for start, end in inputs]
            record.lacks_name = any(1 << 3 | 2 not in message for message in messages)
        record.outputs = self._value_infos(found.get(12 << 3 | 2, ()), depth + 1)
        record.value_info = self._value_infos(found.get(13 << 3 | 2, ()), depth + 1)
        for span in self.entries(found, 5, "initializer"):
            self._initializer(record, span, depth + 1)
        for span in self.entries(found, 15, "sparse_initializer"):
            record.constants.append(self._named_sparse_tensor([span], depth + 1))
        where: Where = "function" if self.within_function else "main" if depth == 1 else "body"
        self._add_nodes(record, found.get(1 << 3 | 2, ()), depth + 3, where)
        return record

    def entries(self, found: Fields, number: int, name: str) -> Sequence[Span]:
        """The spans of the entries of the list ``name`` in a field. Skips equal short entries."""
        spans = found.get(number << 3 | 2, ())
        places = self._places(spans, name)
        return spans if len(places) == len(spans) else [spans[at] for at in places]

    def _places(self, spans: Sequence[Span], name: str) -> Sequence[int]:
        """The positions of the entries that must be read. Counts skipped entries in ``skipped_entries``."""
        if len(spans) <= MOST_EQUAL:
            return range(len(spans))
        from irlint.parsers.onnx.equal_entries import kept

        places = kept(self.data, spans)
        if len(places) < len(spans):
            self.skipped_entries[name] = self.skipped_entries.get(name, 0) + len(spans) - len(places)
        return places

    def _add_nodes(self, record: GraphRecord, spans: Sequence[Span], body_depth: int, where: Where) -> None:
        record.places = self._places(spans, "node")
        read = spans if len(record.places) == len(spans) else [spans[at] for at in record.places]
        record.nodes = [self._node(start, end, body_depth, where) for start, end in read]

    def function(self, start: int, end: int) -> FunctionRecord:
        """The FunctionProto in ``data[start:end]``. Raises Damage."""
        self.within_function = True
        data = self.data
        found = fields(data, start, end, None, 1)
        unused_fields.check_fields(data, found, unused_fields.OF_FUNCTION, 1)
        graph = GraphRecord(last_text(data, found, 1, self.long))
        graph.inputs = [(text(data, span, self.long), b"") for span in found.get(4 << 3 | 2, ())]
        graph.outputs = [(text(data, span, self.long), b"") for span in found.get(5 << 3 | 2, ())]
        graph.value_info = self._value_infos(found.get(12 << 3 | 2, ()), 2)
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
        """(domain, opset version) of each OperatorSetIdProto. Raises Damage."""
        messages = [fields(self.data, start, end, None, depth) for start, end in spans]
        return [(last_text(self.data, found, 1, self.long), last(found, 2 << 3)) for found in messages]

    def _value_infos(self, spans: Iterable[Span], depth: int) -> list[tuple[str, bytes]]:
        return [self._value_info(start, end, depth) for start, end in spans]

    def _value_info(self, start: int, end: int, depth: int) -> tuple[str, bytes]:
        data = self.data
        found = fields(data, start, end, None, depth)
        if _VALUE_METADATA in found:
            unused_fields.check_fields(data, found, unused_fields.OF_VALUE, depth)
        return last_text(data, found, 1, self.long), self._type(found.get(2 << 3 | 2, ()), depth + 1)

    def _type(self, spans: Collection[Span], depth: int) -> bytes:
        """The bytes of the TypeProto whose pieces are at ``spans``. Adds them to ``types``. Raises Damage."""
        if len(spans) > 1:
            # A field cannot continue in the next piece, so each piece must be a valid message.
            for start, end in spans:
                unused_fields.check(self.data, start, end, unused_fields.TYPE, depth)
        raw = b"".join([self.data[start:end] for start, end in spans])
        if self.types.get(raw, 0) < depth:
            self.types[raw] = depth
        return raw

    def _initializer(self, record: GraphRecord, span: Span, depth: int) -> None:
        """Adds a TensorProto to the constants of a graph.

        A damaged TensorProto becomes a fault and a constant of unknown type. Raises Damage if it has no name.
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

    def _node(self, start: int, end: int, body_depth: int, where: Where) -> NodeRecord:
        """The NodeProto in ``data[start:end]``. Omits damaged attributes. Raises Damage.

        ``body_depth`` is the depth of a body of this node. It is the depth of the node plus 2.
        """
        data = self.data
        if end - start <= PLAIN_BYTES and body_depth <= DEPTH_LIMIT:
            plain = self._plain.node(data[start:end])
            if plain is not None:
                return plain
        found = fields(data, start, end, None, body_depth - 2)
        op, domain = last_text(data, found, 4, self.long), last_text(data, found, 7, self.long)
        faults: list[Fault] = []
        attributes, duplicates = self._attributes(found, op, body_depth, where, faults)
        try:
            unused_fields.check_fields(data, found, unused_fields.OF_NODE, body_depth - 2)
        except Damage as damage:
            faults.append(damaged("a part of the node that no operator reads", damage))
        is_tolerated = _is_in_function(where, body_depth) or (where == "main" and op == "Constant")
        faults += [repeated(name, is_tolerated) for name in dict.fromkeys(duplicates)]
        needs_linking = any(attribute.kind in LINKED_KINDS for attribute in attributes.values())
        if not (needs_linking or faults):
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
            needs_linking,
            faults,
            self._metadata(found[9 << 3 | 2]) if 9 << 3 | 2 in found else {},
            domain == STANDARD,
        )

    def _attributes(
        self, found: Fields, op: str, body_depth: int, where: Where, faults: list[Fault]
    ) -> tuple[dict[str, Attribute], list[str]]:
        """(attributes of a NodeProto, names of repeated attributes).

        Omits damaged and nameless attributes. Adds the faults of all attributes to ``faults``.
        """
        attributes: dict[str, Attribute] = {}
        duplicates: list[str] = []
        spans = self.entries(found, 5, "attribute")
        is_constant = op == "Constant"
        last_counts = _is_in_function(where, body_depth) and not is_constant
        for at, (start, end) in enumerate(spans):
            before = len(faults)
            try:
                name, attribute = self._attribute(start, end, body_depth - 1, faults, op, where)
            except Damage as damage:
                name = _name_before_damage(self.data, start, end)
                faults.append(damaged(f"attribute {name}", damage, attribute=name))
                continue
            if _is_ignored(found, op, at) and (where == "main" or _is_in_function(where, body_depth)):
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
        """The entries of a node's metadata that irlint reads. Raises Damage."""
        data = self.data
        for_irlint = [(start, end) for start, end in spans if _IGNORE in data[start : min(end, start + _KEY_BYTES)]]
        return tensors.string_entries(data, for_irlint) if for_irlint else {}

    def _attribute(
        self, start: int, end: int, depth: int, faults: list[Fault], op: str, where: Where
    ) -> tuple[str, Attribute | None]:
        """(name, attribute) of the AttributeProto in ``data[start:end]``.

        The attribute is None if its type is a message, and this message is missing. Adds the faults of the attribute to
        ``faults``. Raises Damage.
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
        kind = attribute_kind(found)
        is_doubtful = kind.has_other_fields or not kind.is_declared or not name
        if kind.has_other_fields or reference:
            unused_fields.check_fields(data, found, unused_fields.ATTRIBUTE, depth)
        if is_doubtful:
            from irlint.parsers.onnx.attribute_faults import attribute_faults

            faults += attribute_faults(name, kind, in_constant=op == "Constant", where=where)
        if reference and where == "function":
            return name, Attribute(kind.name, None, reference)
        value = self._value(kind.name, found, depth + 1)
        if value is None and kind.name in MESSAGE_KINDS:
            if not any(fault.severity is Severity.ERROR for fault in faults[before:]):
                damage = Damage(f"its type is {kind.name}, but it has no such value", 20, start)
                faults.append(damaged(f"attribute {name}", damage, attribute=name))
            return name, None
        attribute = Attribute(kind.name, value, cut=_cut_text(found) if kind.name == "STRING" else None)
        if raw and kind.name in PLAIN_KINDS and not is_doubtful:
            self._plain.attributes[raw] = name, attribute
        return name, attribute

    def _value(self, kind: str, found: Fields, depth: int) -> Any:
        """The value of an attribute. A message in the value has this ``depth``. Raises Damage.

        A missing message is None, a missing number is 0, and a missing text is "". A value of undefined kind is None.
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
    """The fault of a file or a part of a file that cannot be decoded. ``where`` names the part."""
    return MALFORMED_ONNX.fault(f"{where} cannot be decoded: {damage}", help="export or copy the file again", **details)


def repeated(name: str, is_tolerated: bool) -> Fault:
    """The fault of a repeated attribute of a node."""
    return DUPLICATE_ATTRIBUTE.fault(
        f"attribute `{name}` appears more than once",
        help=f"keep only one `{name}`",
        attribute=name,
        severity=Severity.WARNING if is_tolerated else None,
    )


def same_attribute(name: str) -> Fault:
    """The fault of a repeated attribute of a function."""
    return DUPLICATE_FUNCTION.fault(
        f"the function has two attributes named {name!r}", help="remove one of them", severity=Severity.WARNING
    )


def converted(damage: Damage) -> Fault:
    """The fault of a file whose line ends were converted."""
    return MALFORMED_ONNX.fault(
        "the file cannot be decoded, and every line feed at its beginning follows a carriage return: its line ends "
        f"were converted ({damage})",
        help="mark *.onnx as binary in .gitattributes (*.onnx -text), and check out or copy the file again",
    )


def _string(data: Buffer, span: Span) -> str:
    start, end = span
    return data[start : min(end, start + _STRING_BYTES)].decode("utf-8", "backslashreplace")


def _cut_text(found: Fields) -> Span | None:
    """The span of the text of a string attribute, if the text is too long to be kept completely."""
    texts = found.get(4 << 3 | 2)
    return texts[-1] if texts and texts[-1][1] - texts[-1][0] > _STRING_BYTES else None


def _is_in_function(where: Where, body_depth: int) -> bool:
    """Whether a node with bodies at ``body_depth`` is directly in a function."""
    return where == "function" and body_depth == _FUNCTION_DEPTH


def _is_ignored(found: Fields, op: str, at: int) -> bool:
    """Whether ONNX Runtime ignores the attribute at position ``at`` of a node that is not in a body."""
    if op == "Constant":
        return at > 0
    has_inputs, has_outputs = 1 << 3 | 2 in found, 2 << 3 | 2 in found
    return not (has_inputs or has_outputs)


def _without_tensor(attribute: Attribute) -> Attribute:
    """The attribute. A tensor is replaced by an unknown one, so that no check reports its faults."""
    return Attribute(attribute.kind, Constant(Tensor())) if isinstance(attribute.value, Constant) else attribute


def _name_before_damage(data: Buffer, start: int, end: int) -> str:
    found: Fields = {}
    try:
        fields(data, start, end, found)
    except Damage:
        pass
    return last_text(data, found, 1)
