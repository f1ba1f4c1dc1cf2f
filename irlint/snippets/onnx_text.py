"""Nodes, types and graph signatures in ONNX's text syntax, without large values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from irlint.model import Attribute, Constant, Graph, Node, Value
from irlint.model.tensor import Tensor, Type, type_text
from irlint.records import NOTHING
from irlint.snippets.drawing import Piece

#: The largest numbers of entries of a list or tensor, and of characters of a text, in an attribute.
ENTRIES = 12
CHARACTERS = 48

#: The largest number of inputs, outputs or attributes before an ellipsis. After the ellipsis, only marked ones follow.
LISTED = 48

#: The longest single attribute, and the largest number of inputs, with ``Piece.expendable`` 1.
SHORT = 24
MANY = 6

#: (mark, label) of a ``Piece``.
Mark = tuple[str, str]

#: (text of an input, output or attribute, name at the end of the text, mark).
Entry = tuple[str, str, "Mark | None"]

#: The entry in place of omitted entries.
OMITTED: Entry = ("...", "", None)

_NAMES = {
    "float32": "float",
    "float64": "double",
    "float8_e4m3fn": "float8e4m3fn",
    "float8_e4m3fnuz": "float8e4m3fnuz",
    "float8_e5m2": "float8e5m2",
    "float8_e5m2fnuz": "float8e5m2fnuz",
    "float8_e8m0": "float8e8m0",
    "float4_e2m1": "float4e2m1",
}
_AWKWARD = frozenset(" \t,()[]{}<>=\"'#")


def element(dtype: str | None) -> str:
    """The name of an element type in the text syntax, such as ``float``; ``?`` for None."""
    return "?" if dtype is None else _NAMES.get(dtype, dtype)


def onnx_type(known: Type | None) -> str:
    """A type in the text syntax: ``float[1,64,56,56]``, or ``float`` for a scalar.

    For an unknown rank it is ``float[...]``, where ONNX writes ``float[]``.
    """
    if not isinstance(known, Tensor):
        return type_text(known)
    name = element(known.dtype)
    if known.shape is None:
        return f"{name}[...]"
    return f"{name}[{','.join('?' if dim is None else f'{dim}' for dim in known.shape)}]" if known.shape else name


def named(name: str) -> str:
    """A name in the text syntax, quoted if it is empty, or contains a space or a sign of the syntax such as `[`."""
    if name and not _AWKWARD.intersection(name):
        return name
    return '"' + name.replace('"', '\\"') + '"'


def node_pieces(
    node: Node,
    operands: Mapping[int, Mark] | None = None,
    attribute: str | None = None,
    *,
    op: Mark = ("", ""),
    outputs: Mapping[int, Mark] | None = None,
) -> tuple[Piece, ...]:
    """A node in the text syntax: ``y = Conv <pads = [1,1,1,1]> (x, w)``.

    ``operands``, ``outputs`` and ``op`` are marks of inputs, outputs and the operator. The attribute with the name
    ``attribute`` is also marked.
    """
    pieces = _separated_by_commas(_names(node.outputs, outputs or {}))
    name = f"{node.domain}.{node.op}" if node.domain else node.op
    pieces += [Piece(" = "), Piece(name, *op)]
    if node.attributes:
        written = list(_attributes(node, attribute))
        short = len(written) == 1 and len(written[0][0]) <= SHORT
        pieces += [Piece(" <"), *_separated_by_commas(written, 1 if short else 2), Piece(">")]
    pieces += [Piece(" (")]
    expendable = 1 if len(node.inputs) <= MANY else 3
    pieces += _separated_by_commas(_names(node.inputs, operands or {}), expendable)
    return (*pieces, Piece(")"))


def signature_pieces(
    graph: Graph, marked: Mapping[Value, Mark], title: str, types: Mapping[Value, Type | None] = NOTHING
) -> tuple[Piece, ...]:
    """The inputs of a graph: ``main_graph (float[1,3,224,224] images, float[1,64,56,55] skip)``.

    Inputs with an initializer are omitted unless they are ``marked``. ``types`` replace declared types.
    """
    inputs = (value for value in graph.inputs if value not in graph.constants or value in marked)
    shown: list[Value | None] = list(islice(inputs, LISTED))
    later = [value for value in marked if value not in shown]
    if later or (len(graph.inputs) > LISTED and next(inputs, None) is not None):
        shown += [None, *later]

    def written(value: Value) -> Entry:
        name = named(value.name)
        return f"{onnx_type(types.get(value, value.type))} {name}", name, marked.get(value)

    entries = (OMITTED if value is None else written(value) for value in shown)
    return (name_piece(title), Piece(" ("), *_separated_by_commas(entries, 3), Piece(")"))


def name_piece(name: str, before: str = "", mark: str = "", label: str = "") -> Piece:
    """A name after the text ``before``."""
    return Piece(before + named(name), mark, label, name=named(name))


def _names(values: Sequence[Value | None], marks: Mapping[int, Mark]) -> Iterator[Entry]:
    """The names of the first LISTED values, and of at most LISTED marked values after them."""
    last = -1
    later = islice(sorted(index for index in marks if LISTED <= index < len(values)), LISTED)
    for index in (*range(min(LISTED, len(values))), *later):
        if index > last + 1:
            yield OMITTED
        yield _name(values[index], marks.get(index))
        last = index
    if last + 1 < len(values):
        yield OMITTED


def _name(value: Value | None, mark: Mark | None) -> Entry:
    return ('""', "", mark) if value is None else (named(value.name), named(value.name), mark)


def _attributes(node: Node, marked: str | None) -> Iterator[Entry]:
    """The first LISTED attributes, and the marked attribute."""
    names = list(islice(node.attributes, LISTED))
    for name in names:
        yield _attribute(node, name, marked)
    if len(names) == len(node.attributes):
        return
    yield OMITTED
    if marked is not None and marked in node.attributes and marked not in names:
        yield _attribute(node, marked, marked)


def _attribute(node: Node, name: str, marked: str | None) -> Entry:
    return f"{name} = {_attribute_text(node.attributes[name])}", "", ("primary", "") if name == marked else None


def _separated_by_commas(entries: Iterable[Entry], expendable: int = 1) -> list[Piece]:
    pieces: list[Piece] = []
    for text, name, mark in entries:
        if pieces:
            pieces.append(Piece(", ", expendable=expendable))
        pieces.append(Piece(text, *(mark or ("", "")), expendable, name))
    return pieces


def _attribute_text(attribute: Attribute) -> str:
    if attribute.reference is not None:
        return f"@{attribute.reference}"
    return _KINDS.get(attribute.kind, _plainly)(attribute.value)


def _plainly(value: object) -> str:
    text = str(value)
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 3]}..."


def _quoted(value: object) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    text = text[:CHARACTERS].replace('"', '\\"') + "..." * (len(text) > CHARACTERS)
    return f'"{text}"'


def _number(value: object) -> str:
    if not isinstance(value, float):
        return str(value)
    shown = f"{value:g}"
    return f"{shown}.0" if shown.lstrip("-").isdigit() else shown


def _list_of(text: Callable[[object], str]) -> Callable[[Iterable[object]], str]:
    def written(values: Iterable[object]) -> str:
        entries = list(values or ())
        shown = [text(entry) for entry in entries[:ENTRIES]] + ["..."] * (len(entries) > ENTRIES)
        return f"[{','.join(shown)}]"

    return written


def _tensor(value: object) -> str:
    if not isinstance(value, Constant):
        return "{...}"
    elements = value.tensor.value
    if elements is None or len(elements) > ENTRIES:
        return f"{onnx_type(value.tensor)} {{...}}"
    return f"{onnx_type(value.tensor)} {{{','.join('?' if entry is None else _number(entry) for entry in elements)}}}"


def _sparse(value: object) -> str:
    return f"sparse {_tensor(value)}"


def _graph(value: object) -> str:
    return "{...}"


def _type(value: object) -> str:
    return onnx_type(value)  # type: ignore[arg-type]


_KINDS: Mapping[str, Callable[..., str]] = {
    "INT": _number,
    "FLOAT": _number,
    "STRING": _quoted,
    "INTS": _list_of(_number),
    "FLOATS": _list_of(_number),
    "STRINGS": _list_of(_quoted),
    "TENSOR": _tensor,
    "TENSORS": _list_of(_tensor),
    "SPARSE_TENSOR": _sparse,
    "SPARSE_TENSORS": _list_of(_sparse),
    "GRAPH": _graph,
    "GRAPHS": _list_of(_graph),
    "TYPE_PROTO": _type,
    "TYPE_PROTOS": _list_of(_type),
}
