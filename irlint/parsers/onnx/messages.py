"""ONNX's messages as records: names still texts, bodies still records, types still bytes; the damaged left out."""

from __future__ import annotations

from irlint.findings.faults import Fault, Severity
from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import IGNORE, Attribute, Constant
from irlint.model.tensor import Tensor
from irlint.parsers.faults import DUPLICATE_ATTRIBUTE, DUPLICATE_FUNCTION, MALFORMED_ONNX
from irlint.parsers.onnx import tensors as onnx_tensors
from irlint.parsers.onnx import unread
from irlint.parsers.onnx.protobuf import (
    DEPTH_LIMIT,
    Damage,
    fields,
    floats,
    integers,
    last,
    last_known,
    last_text,
    merged,
    text,
)
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from irlint.parsers.onnx.attribute_faults import Where
    from irlint.parsers.onnx.protobuf import Buffer, Fields, Span

_KINDS = dict(
    enumerate(
        [
            "FLOAT",
            "INT",
            "STRING",
            "TENSOR",
            "GRAPH",
            "FLOATS",
            "INTS",
            "STRINGS",
            "TENSORS",
            "GRAPHS",
            "SPARSE_TENSOR",
            "SPARSE_TENSORS",
            "TYPE_PROTO",
            "TYPE_PROTOS",
        ],
        start=1,
    )
)

#: The kind of an attribute without a type (IR versions 1 and 2) by the first of these fields that it has.
_INFERRED = (
    (2 << 3 | 5, "FLOAT"),
    (3 << 3, "INT"),
    (4 << 3 | 2, "STRING"),
    (5 << 3 | 2, "TENSOR"),
    (6 << 3 | 2, "GRAPH"),
    (7 << 3 | 5, "FLOATS"),
    (7 << 3 | 2, "FLOATS"),
    (8 << 3, "INTS"),
    (8 << 3 | 2, "INTS"),
    (9 << 3 | 2, "STRINGS"),
    (10 << 3 | 2, "TENSORS"),
    (11 << 3 | 2, "GRAPHS"),
    (22 << 3 | 2, "SPARSE_TENSOR"),
    (23 << 3 | 2, "SPARSE_TENSORS"),
    (14 << 3 | 2, "TYPE_PROTO"),
    (15 << 3 | 2, "TYPE_PROTOS"),
)

#: The fields of AttributeProto that hold a value or stand for one, and those of each kind.
_VALUE_KEYS = frozenset([21 << 3 | 2, *(key for key, _ in _INFERRED)])
_OWN_KEYS = {kind: frozenset(key for key, own in _INFERRED if own == kind) for kind in _KINDS.values()}

#: Those of packed numbers: where there are none in them, they hold no value.
_PACKED_KEYS = frozenset([7 << 3 | 2, 8 << 3 | 2])

#: The attribute of a Constant by its kind: ONNX Runtime goes by that, and not by the name.
_CONSTANT_VALUES = {
    "TENSOR": "value",
    "SPARSE_TENSOR": "sparse_value",
    **{kind: f"value_{kind.lower()}" for kind in ("FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS")},
}

#: The numbers of AttributeProto.AttributeType.
_NUMBERS = range(len(_KINDS) + 1)

#: Attributes whose values depend on nothing but their bytes.
_PLAIN = frozenset({"FLOAT", "INT", "STRING", "FLOATS", "INTS", "STRINGS"})

#: Attributes whose records the linker still has to turn into values.
LINKED = frozenset({"GRAPH", "GRAPHS", "TYPE_PROTO", "TYPE_PROTOS"})

#: Attributes that are nothing without the message that they hold.
_MESSAGES = frozenset({"TENSOR", "GRAPH", "SPARSE_TENSOR", "TYPE_PROTO"})

#: Attributes of at most so many bytes are decoded once for all nodes that have them.
_SHARED_BYTES = 128

#: Nodes of at most so many bytes are read at once where nothing about them is unusual.
_PLAIN_BYTES = 1 << 14


#: So many different ends of nodes, what stands behind the names, are kept.
_MOST_ENDS = 10_000

#: Of an attribute of more bytes than this it is tried whether it is one long list.
_LONG_BYTES = 1 << 16

#: Strings of an attribute are kept up to so many bytes: embedded engines and vocabularies are longer.
_STRING_BYTES = 1 << 16


_VALUE_METADATA = 4 << 3 | 2

#: The key of metadata that irlint looks for, and the first bytes of an entry among which it is.
_IGNORE = IGNORE.encode()
_KEY_BYTES = 64


@record(frozen=False)
class NodeRecord:
    name: str
    op: str
    domain: str
    overload: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Attribute]
    linked: bool
    faults: list[Fault]
    metadata: dict[str, str]
    spelled_out: bool


class GraphRecord:
    """A graph; ``inputs``, ``outputs`` and ``declared`` (``value_info``) are names with the bytes of a TypeProto, none where it has none.

    ``lacks_name`` says that an input of the main graph has no name, not even an empty one.
    """

    __slots__ = (
        "annotated",
        "constants",
        "declared",
        "faults",
        "inputs",
        "lacks_name",
        "name",
        "nodes",
        "outputs",
        "pieces",
    )

    def __init__(self, name: str, pieces: int = 1) -> None:
        self.name = name
        self.pieces = pieces
        self.annotated = False
        self.inputs: list[tuple[str, bytes]] = []
        self.outputs: list[tuple[str, bytes]] = []
        self.declared: list[tuple[str, bytes]] = []
        self.constants: list[tuple[str, Constant]] = []
        self.nodes: list[NodeRecord] = []
        self.faults: list[tuple[str, Fault]] = []
        self.lacks_name = False


@record(frozen=False)
class FunctionRecord:
    domain: str
    name: str
    overload: str
    graph: GraphRecord
    attributes: dict[str, Attribute | None]
    faults: list[Fault]
    imports: list[tuple[str, int]]


class Reader:
    """Reads the messages of one file. ``types`` collects the bytes of every TypeProto, in the order of the file, and how many messages
    below the model it stands at most; ``within_function`` tells whether a function is being read."""

    def __init__(self, data: Buffer, files: onnx_tensors.Files) -> None:
        self.data = data
        self.files = files
        self.types: dict[bytes, int] = {}
        self.within_function = False
        self._shared: dict[bytes, tuple[str, Attribute]] = {}
        self._lists: dict[tuple[str, bytes], dict[str, Attribute]] = {}
        #: What stands behind the names of nodes.
        self._ends: dict[bytes, tuple[str, str, str, dict[str, Attribute]]] = {}

    def graph(self, spans: list[Span], depth: int) -> GraphRecord:
        """The GraphProto at ``spans``, ``depth`` messages below the model; raises Damage."""
        found = merged(self.data, spans, depth)
        record = GraphRecord(last_text(self.data, found, 2), len(spans))
        record.annotated = 14 << 3 | 2 in found
        unread.walk_fields(self.data, found, unread.OF_GRAPH, depth)
        record.inputs = self._value_infos(found.get(11 << 3 | 2, ()), depth + 1)
        if depth == 1 and not all(name for name, _ in record.inputs):
            messages = [fields(self.data, start, end, None, depth + 1) for start, end in found[11 << 3 | 2]]
            record.lacks_name = any(1 << 3 | 2 not in each for each in messages)
        record.outputs = self._value_infos(found.get(12 << 3 | 2, ()), depth + 1)
        record.declared = self._value_infos(found.get(13 << 3 | 2, ()), depth + 1)
        for span in found.get(5 << 3 | 2, ()):
            self._initializer(record, span, depth + 1)
        for span in found.get(15 << 3 | 2, ()):
            record.constants.append(self._named_sparse_tensor([span], depth + 1))
        where: Where = "function" if self.within_function else "main" if depth == 1 else "body"
        record.nodes = [self._node(start, end, depth + 3, where) for start, end in found.get(1 << 3 | 2, ())]
        return record

    def function(self, start: int, end: int) -> FunctionRecord:
        """The FunctionProto at the given place; raises Damage."""
        self.within_function = True
        data = self.data
        found = fields(data, start, end, None, 1)
        unread.walk_fields(data, found, unread.OF_FUNCTION, 1)
        graph = GraphRecord(last_text(data, found, 1))
        graph.inputs = [(text(data, span), b"") for span in found.get(4 << 3 | 2, ())]
        graph.outputs = [(text(data, span), b"") for span in found.get(5 << 3 | 2, ())]
        graph.declared = self._value_infos(found.get(12 << 3 | 2, ()), 2)
        graph.nodes = [self._node(start, end, _FUNCTION_DEPTH, "function") for start, end in found.get(7 << 3 | 2, ())]
        faults: list[Fault] = []
        names = [text(data, span) for span in found.get(6 << 3 | 2, ())]
        stated = [self._attribute(start, end, 2, faults, "", "function") for start, end in found.get(11 << 3 | 2, ())]
        names += [name for name, _ in stated]
        # Of two defaults the first counts.
        attributes: dict[str, Attribute | None] = {**dict.fromkeys(names), **dict(reversed(stated))}
        if len(attributes) < len(names):
            counts: dict[str, int] = {}
            for name in names:
                counts[name] = counts.get(name, 0) + 1
            faults += [same_attribute(name) for name in attributes if counts[name] > 1]
        return FunctionRecord(
            standard(last_text(data, found, 10)),
            graph.name,
            last_text(data, found, 13),
            graph,
            attributes,
            faults,
            self.imports(found.get(9 << 3 | 2, ()), 2),
        )

    def imports(self, spans: Iterable[Span], depth: int) -> list[tuple[str, int]]:
        """The domains and opset versions of OperatorSetIdProto messages; raises Damage."""
        messages = [fields(self.data, start, end, None, depth) for start, end in spans]
        return [(last_text(self.data, found, 1), last(found, 2 << 3)) for found in messages]

    def _value_infos(self, spans: Iterable[Span], depth: int) -> list[tuple[str, bytes]]:
        return [self._value_info(start, end, depth) for start, end in spans]

    def _value_info(self, start: int, end: int, depth: int) -> tuple[str, bytes]:
        data = self.data
        found = fields(data, start, end, None, depth)
        if _VALUE_METADATA in found:
            unread.walk_fields(data, found, unread.OF_VALUE, depth)
        return last_text(data, found, 1), self._type(found.get(2 << 3 | 2, ()), depth + 1)

    def _type(self, spans: Collection[Span], depth: int) -> bytes:
        if len(spans) > 1:
            # Each piece is a message by itself, and what is cut in one does not go on in the next.
            for start, end in spans:
                unread.walk(self.data, start, end, unread.TYPE, depth)
        known = b"".join([self.data[start:end] for start, end in spans])
        if self.types.get(known, 0) < depth:
            self.types[known] = depth
        return known

    def _initializer(self, record: GraphRecord, span: Span, depth: int) -> None:
        """Adds a TensorProto to a graph; one that is damaged behind its name becomes a constant of unknown type."""
        plain = onnx_tensors.plain_constant(self.data, *span)
        if plain is not None and depth <= DEPTH_LIMIT:
            record.constants.append(plain)
            return
        found: Fields = {}
        try:
            known = onnx_tensors.constant(self.data, fields(self.data, *span, found, depth), self.files, depth)
        except Damage as damage:
            name = last_text(self.data, found, 8)
            if not name:
                raise
            record.faults.append((name, damaged(f"initializer {name}", damage)))
            known = Constant(Tensor())
        record.constants.append((last_text(self.data, found, 8), known))

    def _node(self, start: int, end: int, depth: int, where: Where) -> NodeRecord:
        """The NodeProto at the given place, in a graph that is ``where``, without its damaged attributes; its bodies stand at
        ``depth``."""
        data = self.data
        plain = self._plain_node(data[start:end]) if end - start <= _PLAIN_BYTES and depth <= DEPTH_LIMIT else None
        if plain is not None:
            return plain
        found = fields(data, start, end, None, depth - 2)
        attributes: dict[str, Attribute] = {}
        linked = False
        faults: list[Fault] = []
        twice: list[str] = []
        op, domain = last_text(data, found, 4), last_text(data, found, 7)
        in_function = where == "function" and depth == _FUNCTION_DEPTH
        in_main = in_function or where == "main"
        is_left_out = in_main and op != "Constant" and 1 << 3 | 2 not in found and 2 << 3 | 2 not in found
        for at, (begin, stop) in enumerate(found.get(5 << 3 | 2, ())):
            known = len(faults)
            try:
                name, attribute = self._attribute(begin, stop, depth - 1, faults, op, where)
            except Damage as damage:
                name = _name_before_damage(data, begin, stop)
                faults.append(damaged(f"attribute {name}", damage, attribute=name))
                continue
            if in_main and (is_left_out or (at and op == "Constant")):
                faults[known:] = [fault.at_most(Severity.WARNING) for fault in faults[known:]]
                attribute = Attribute(attribute.kind, Constant(Tensor())) if _holds_tensor(attribute) else attribute
            if not name and op == "Constant":
                name = _CONSTANT_VALUES.get(attribute.kind, "")
            if name in attributes:
                twice.append(name)
                if not in_function or op == "Constant":
                    continue
            if name:
                attributes[name] = attribute
                linked = linked or attribute.kind in LINKED
        try:
            unread.walk_fields(data, found, unread.OF_NODE, depth - 2)
        except Damage as damage:
            faults.append(damaged("a part of the node that no operator reads", damage))
        tolerated = in_function or (where == "main" and op == "Constant")
        faults += [repeated(name, tolerated) for name in dict.fromkeys(twice)]
        if not (linked or faults):
            self._keep(op, found.get(5 << 3 | 2, ()), attributes)
        return NodeRecord(
            last_text(data, found, 3),
            op,
            standard(domain),
            last_text(data, found, 8),
            [text(data, span) for span in found.get(1 << 3 | 2, ())],
            [text(data, span) for span in found.get(2 << 3 | 2, ())],
            attributes,
            linked,
            faults,
            self._metadata(found[9 << 3 | 2]) if 9 << 3 | 2 in found else {},
            domain == STANDARD,
        )

    def _keep(self, op: str, spans: Iterable[Span], attributes: dict[str, Attribute]) -> None:
        """Keeps the attributes of a node for others of its operator that have the same bytes."""
        raws = [self.data[start:end] if end - start <= _SHARED_BYTES else b"" for start, end in spans]
        if all(raw in self._shared for raw in raws):
            # No attribute here takes more than _SHARED_BYTES, so its size is one byte, or two.
            sizes = [
                bytes([size]) if (size := len(raw)) < 128 else bytes([size & 127 | 128, size >> 7]) for raw in raws
            ]
            self._lists[op, b"".join([b"*" + size + raw for size, raw in zip(sizes, raws)])] = attributes

    def _plain_node(self, raw: bytes) -> NodeRecord | None:
        """The NodeProto in ``raw``, where it has inputs, outputs and a name, and then an end as ``_end`` reads it; None for any other."""
        inputs: list[str] = []
        outputs: list[str] = []
        names: list[str] = []
        at = 0
        try:
            for key, texts in ((1 << 3 | 2, inputs), (2 << 3 | 2, outputs), (3 << 3 | 2, names)):
                while raw[at] == key:
                    begin = at + 2
                    at = begin + raw[at + 1]
                    if at - begin > 127:
                        if raw[begin] > 127:
                            return None
                        at += (raw[begin] - 1) * 128 + 1
                        begin += 1
                    texts.append(raw[begin:at].decode())
            end = self._ends.get(raw[at:]) if len(raw) - at <= _SHARED_BYTES else None
            end = end or self._end(raw, at)
        except (IndexError, UnicodeDecodeError):
            return None
        if end is None:
            return None
        op, domain, overload, attributes = end
        spelled_out = domain == STANDARD
        domain = "" if spelled_out else domain
        name = names[-1] if names else ""
        return NodeRecord(name, op, domain, overload, inputs, outputs, attributes, False, [], {}, spelled_out)

    def _end(self, raw: bytes, start: int) -> tuple[str, str, str, dict[str, Attribute]] | None:
        """The operator, domain, overload and attributes of the NodeProto in ``raw``, where it has nothing else from ``start`` on, and its
        attributes were read before; None for any other. Raises IndexError and UnicodeDecodeError."""
        op = domain = overload = ""
        at, first, last = start, 0, 0
        while at < len(raw):
            key, size = raw[at], raw[at + 1]
            begin = at + 2
            if size > 127:
                size += (raw[begin] - 1) * 128
                if raw[begin] > 127:
                    return None
                begin += 1
            end = begin + size
            if key == 74:
                if not _is_passed_over(raw, begin, end):
                    return None
            elif key == 42:
                if last not in (0, at):
                    return None
                first, last = first if last else at, end
            elif key == 34:
                op = raw[begin:end].decode()
            elif key == 58:
                domain = raw[begin:end].decode()
            elif key == 66:
                overload = raw[begin:end].decode()
            elif key != 50:
                return None
            at = end
        attributes = self._lists.get((op, raw[first:last]))
        if attributes is None or at != len(raw):
            return None
        found = op, domain, overload, attributes
        if at - start <= _SHARED_BYTES and len(self._ends) < _MOST_ENDS:
            self._ends[raw[start:]] = found
        return found

    def _metadata(self, spans: Iterable[Span]) -> dict[str, str]:
        """What a node's metadata tells irlint; the rest, a stack trace for each node, is left alone."""
        data = self.data
        meant = [(start, end) for start, end in spans if _IGNORE in data[start : min(end, start + _KEY_BYTES)]]
        return onnx_tensors.string_entries(data, meant) if meant else {}

    def _attribute(
        self, start: int, end: int, depth: int, faults: list[Fault], op: str, where: Where
    ) -> tuple[str, Attribute]:
        """The name and value of an AttributeProto of an operator, ``depth`` messages below the model, whose faults join ``faults``;
        raises Damage."""
        data = self.data
        raw = data[start:end] if end - start <= _SHARED_BYTES else b""
        shared = self._shared.get(raw)
        if shared is not None:
            return shared
        if end - start > _LONG_BYTES:
            from irlint.parsers.onnx.long_lists import long_list

            known = long_list(data, start, end, self.files.model)
            if known is not None:
                return known
        found = fields(data, start, end, None, depth)
        name = last_text(data, found, 1)
        number = last_known(found, 20 << 3, _NUMBERS)
        filled = [key for key in found if key in _VALUE_KEYS and not (key in _PACKED_KEYS and _is_empty(found[key]))]
        kind = _KINDS.get(number) or next((k for key, k in _INFERRED if key in filled), "UNDEFINED")
        other = set(filled) - _OWN_KEYS.get(kind, frozenset())
        doubtful = other or number not in _KINDS or not name
        reference = last_text(data, found, 21)
        if other or reference:
            unread.walk_fields(data, found, unread.ATTRIBUTE, depth)
        if doubtful:
            from irlint.parsers.onnx.attribute_faults import attribute_faults

            given = [key >> 3 for key in filled]
            faults += attribute_faults(name, number, kind, given, constant=op == "Constant", where=where)
        if reference and where == "function":
            return name, Attribute(kind, None, reference)
        value = self._value(kind, found, depth + 1)
        if value is None and kind in _MESSAGES:
            raise Damage(f"its type is {kind}, and it holds none", 20, start)
        texts = found.get(4 << 3 | 2) if kind == "STRING" else None
        cut = texts[-1] if texts and texts[-1][1] - texts[-1][0] > _STRING_BYTES else None
        attribute = Attribute(kind, value, cut=cut)
        if raw and kind in _PLAIN and not doubtful:
            self._shared[raw] = name, attribute
        return name, attribute

    def _value(self, kind: str, found: Fields, depth: int) -> Any:
        """The value of an attribute of a kind; messages in it are ``depth`` messages below the model. Raises Damage."""
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
                return tuple(self._tensor([span], depth) for span in found.get(10 << 3 | 2, ()))
            case "GRAPH":
                spans = found.get(6 << 3 | 2)
                return self.graph(spans, depth) if spans else None
            case "GRAPHS":
                return tuple(self.graph([span], depth) for span in found.get(11 << 3 | 2, ()))
            case "SPARSE_TENSOR":
                return self._sparse_tensor(found.get(22 << 3 | 2, ()), depth)
            case "SPARSE_TENSORS":
                return tuple(self._sparse_tensor([span], depth) for span in found.get(23 << 3 | 2, ()))
            case "TYPE_PROTO":
                spans = found.get(14 << 3 | 2)
                return self._type(spans, depth) if spans else None
            case "TYPE_PROTOS":
                return tuple(self._type([span], depth) for span in found.get(15 << 3 | 2, ()))
            case _:
                return None

    def _tensor(self, spans: list[Span] | tuple[()], depth: int) -> Constant | None:
        return onnx_tensors.constant(self.data, merged(self.data, spans, depth), self.files, depth) if spans else None

    def _sparse_tensor(self, spans: list[Span] | tuple[()], depth: int) -> Constant | None:
        return self._named_sparse_tensor(spans, depth)[1] if spans else None

    def _named_sparse_tensor(self, spans: Iterable[Span], depth: int) -> tuple[str, Constant]:
        return onnx_tensors.sparse_constant(self.data, merged(self.data, spans, depth), self.files, depth)


#: How deep the nodes of a function stand, those in its bodies apart.
_FUNCTION_DEPTH = 4

#: The other name of the empty domain.
STANDARD = "ai.onnx"


def standard(domain: str) -> str:
    """A domain by its one name: ``ai.onnx`` is the empty one."""
    return "" if domain == STANDARD else domain


def damaged(where: str, damage: Damage, **details: Any) -> Fault:
    """The fault of a place in the file that is left out."""
    return MALFORMED_ONNX.fault(f"{where} cannot be decoded: {damage}", help="export or copy the file again", **details)


def repeated(name: str, tolerated: bool) -> Fault:
    """The fault of an attribute that a node has more than once; ONNX Runtime reads the first one of a Constant,
    and the last one of another node of a function."""
    return DUPLICATE_ATTRIBUTE.fault(
        f"attribute `{name}` is given more than once",
        help=f"keep one `{name}`",
        attribute=name,
        severity=Severity.WARNING if tolerated else None,
    )


def same_attribute(name: str) -> Fault:
    """The fault of an attribute that a function declares more than once: runtimes take one of them."""
    return DUPLICATE_FUNCTION.fault(
        f"the function has two attributes named {name!r}", help="remove one of them", severity=Severity.WARNING
    )


def converted(damage: Damage) -> Fault:
    """The fault of a file whose line ends were converted: it is no text."""
    return MALFORMED_ONNX.fault(
        f"the file cannot be decoded, and every line feed in it follows a carriage return: its line ends were converted ({damage})",
        help="mark *.onnx as binary in .gitattributes (*.onnx -text), and check out or copy the file again",
    )


def _string(data: Buffer, span: Span) -> str:
    start, end = span
    return data[start : min(end, start + _STRING_BYTES)].decode("utf-8", "backslashreplace")


def _holds_tensor(attribute: Attribute) -> bool:
    return isinstance(attribute.value, Constant)


def _is_empty(spans: Iterable[Span]) -> bool:
    return all(start == end for start, end in spans)


def _is_passed_over(raw: bytes, start: int, end: int) -> bool:
    """Whether ``raw[start:end]`` is a key and a value of metadata as every writer writes them, and the key is not what irlint looks for.
    Raises IndexError."""
    at = start + 2 + raw[start + 1]
    size = end - at - 2
    if size > 127:
        size -= 1
        if raw[at + 1] != size & 127 | 128 or raw[at + 2] != size >> 7:
            return False
    elif raw[at + 1] != size:
        return False
    if raw[start] != 10 or raw[at] != 18 or at > start + 129:
        return False
    return at != start + 2 + len(_IGNORE) or raw[start + 2 : at] != _IGNORE


def _name_before_damage(data: Buffer, start: int, end: int) -> str:
    found: Fields = {}
    try:
        fields(data, start, end, found)
    except Damage:
        pass
    return last_text(data, found, 1)
