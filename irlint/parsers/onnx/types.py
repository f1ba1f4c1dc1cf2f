"""Reads ONNX's TypeProto: the declared type, the missing part of an incomplete type, and the names of sizes.

Each name of a size gets a Python identifier, such as ``batch_size`` for ``batch.size``.
"""

from __future__ import annotations

from keyword import iskeyword

from irlint.dims import Expr, symbol, unused_name
from irlint.findings.faults import Fault
from irlint.lazy_typing import TYPE_CHECKING
from irlint.model.tensor import UNKNOWN, Map, Opaque, Optional, Sequence, SparseTensor, Tensor, Type
from irlint.parsers.onnx import unused_fields
from irlint.parsers.onnx.messages import damaged
from irlint.parsers.onnx.protobuf import Damage, fields, keys, last, last_int32, last_text, merged
from irlint.parsers.onnx.tensors import DTYPES
from irlint.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Set

    from irlint.dims import Dim, MaybeDim, Shape
    from irlint.parsers.onnx.protobuf import Fields, LongTexts, Span

    Types = Mapping[bytes, Type | Fault | None]

#: The keys of the fields of TypeProto's oneof ``value``.
_TYPE_KEYS = frozenset(number << 3 | 2 for number in (1, 4, 5, 7, 8, 9))

#: The fields with ``elem_type`` or ``key_type``: tensor_type, map_type and sparse_tensor_type.
_NUMBERED = (1, 5, 8)

_DIM_VALUE, _DIM_PARAM = 1 << 3, 2 << 3 | 2

#: The identifier of a name uses at most this many characters of the name.
LONGEST = 200

#: Names of functions in expressions of sizes. No identifier may equal one of these.
_RESERVED = frozenset({"min", "max", "abs"})


@record
class FileTypes:
    """The types of a file. A key of type ``bytes`` is the bytes of a TypeProto."""

    #: The type in a TypeProto, None for an empty TypeProto, or a fault for a damaged one.
    types: Types
    #: What an incomplete type lacks, as a text. Other types have no entry.
    flaws: Mapping[bytes, str]
    #: The sizes below 0 as a text. Types without such a size have no entry.
    negative: Mapping[bytes, str]
    #: The name of a size in the file, by the symbol of this size. Omitted if the two are equal.
    symbols: Mapping[str, str]


def file_types(depths: Mapping[bytes, int], inputs: Set[bytes], long: LongTexts) -> FileTypes:
    """The types of a file.

    ``depths`` maps each TypeProto to its depth. ``inputs`` are the TypeProtos of the model's inputs. Names of
    sizes that are too long are added to ``long``.
    """
    texts: dict[str, None] = {}
    texts_of_inputs: dict[str, None] = {}
    types: dict[bytes, Type | Fault | None] = {}
    flaws: dict[bytes, str] = {}
    negative: dict[bytes, str] = {}
    named: set[bytes] = set()
    for raw, depth in depths.items():
        own: list[str] = []
        try:
            unused_fields.check(raw, 0, len(raw), unused_fields.TYPE, depth)
            types[raw] = type_of(raw, own.append, long)
        except Damage as damage:
            types[raw] = damaged("the type", damage)
        texts |= dict.fromkeys(own)
        texts_of_inputs |= dict.fromkeys(own if raw in inputs else ())
        named |= {raw} if own else set()
    sizes = expressions(texts, texts_of_inputs)
    names = identifiers(text for text in texts if text not in sizes)
    for text, identifier in names.items():
        sizes[text] = symbol(identifier, by_data=text not in texts_of_inputs)
    for raw, known in types.items():
        if isinstance(known, Fault):
            continue
        sized = type_of(raw, sizes.get, long) if raw in named else known
        if lacking := flaw(raw, known):
            flaws[raw] = lacking
        if below := negative_sizes(raw, sized):
            negative[raw] = below
        types[raw] = usable(sized) if lacking else sized
    symbols = {identifier: name for name, identifier in names.items() if identifier != name}
    return FileTypes(types, flaws, negative, symbols)


def type_of(raw: bytes, dim: Callable[[str], MaybeDim], long: LongTexts) -> Type | None:
    """The type in a TypeProto; None if the TypeProto is empty. Raises Damage.

    ``dim`` returns the size for a ``dim_param``. Names that are too long are added to ``long``.
    """
    return _type_at(raw, [(0, len(raw))], dim, long)


def _type_at(raw: bytes, spans: list[Span], dim: Callable[[str], MaybeDim], long: LongTexts) -> Type | None:
    number, found = _chosen(raw, spans)
    inner = found.get((2 if number == 5 else 1) << 3 | 2)
    match number:
        case 1:
            return Tensor(DTYPES.get(last_int32(found, 1 << 3)), _shape(raw, found, dim, long))
        case 4:
            return Sequence(_type_at(raw, inner, dim, long) if inner else None)
        case 5:
            return Map(DTYPES.get(last_int32(found, 1 << 3)), _type_at(raw, inner, dim, long) if inner else None)
        case 7:
            return Opaque(last_text(raw, found, 1, long), last_text(raw, found, 2, long))
        case 8:
            return SparseTensor(DTYPES.get(last_int32(found, 1 << 3)), _shape(raw, found, dim, long))
        case 9:
            return Optional(_type_at(raw, inner, dim, long) if inner else None)
    return None


def _chosen(raw: bytes, spans: list[Span]) -> tuple[int, Fields]:
    """(number of the field in the oneof ``value`` or 0, fields of its message). Raises Damage."""
    found = merged(raw, spans)
    present = [key for key in found if key in _TYPE_KEYS]
    if not present:
        return 0, {}
    key, pieces = present[0], found[present[0]]
    if len(present) > 1:
        # As in protobuf, the last field counts. Each field of the oneof clears the earlier pieces of the other fields.
        *_, other, key = sorted(present, key=lambda key: found[key][-1])
        pieces = [span for span in found[key] if span > found[other][-1]]
    return key >> 3, merged(raw, pieces)


def _shape(raw: bytes, found: Fields, dim: Callable[[str], MaybeDim], long: LongTexts) -> Shape | None:
    spans = found.get(2 << 3 | 2)
    if spans is None:
        return None
    return tuple(_dim(raw, span, dim, long) for span in merged(raw, spans).get(1 << 3 | 2, ()))


def _dim(raw: bytes, span: Span, dim: Callable[[str], MaybeDim], long: LongTexts) -> MaybeDim:
    found = fields(raw, *span)
    if _DIM_PARAM in found and _is_named(raw, span, found):
        return dim(last_text(raw, found, 2, long))
    sizes = found.get(_DIM_VALUE)
    # A varint of 64 bits is a negative number.
    return sizes[-1] if sizes and not sizes[-1] >> 63 else None


def _is_named(raw: bytes, span: Span, found: Fields) -> bool:
    """Whether the last field in the oneof of a Dimension is ``dim_param``."""
    if _DIM_PARAM not in found or _DIM_VALUE not in found:
        return _DIM_PARAM in found
    return [key for key in keys(raw, *span) if key in (_DIM_PARAM, _DIM_VALUE)][-1] == _DIM_PARAM


def negative_sizes(raw: bytes, known: Type | None) -> str:
    """The sizes below 0 of a tensor type, such as ``axis 0 is -2, axis 1 is -1``, or ""."""
    if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
        return ""
    spans = _chosen(raw, [(0, len(raw))])[1].get(2 << 3 | 2)
    dims = merged(raw, spans).get(1 << 3 | 2, ()) if spans else ()
    found = [(span, fields(raw, *span)) for span in dims]
    sizes = [0 if _is_named(raw, span, dim) else last(dim, _DIM_VALUE) for span, dim in found]
    return ", ".join(f"axis {axis} is {size}" for axis, size in enumerate(sizes) if size < 0)


def flaw(raw: bytes, known: Type | None) -> str:
    """What the type ``known`` of the TypeProto ``raw`` lacks, such as ``without element type``, or ""."""
    match known:
        case Tensor(dtype) | SparseTensor(dtype):
            return "" if dtype is not None else _number_flaw("element type", _numbers(raw))
        case Sequence(None) | Optional(None):
            return f"as {'a sequence' if isinstance(known, Sequence) else 'an optional'} without an element type"
        case Sequence(element) | Optional(element):
            return flaw(raw, element)
        case Map(None):
            return _number_flaw("key type", _numbers(raw))
        case Map(_, None):
            return "as a map without a value type"
        case Map(_, value):
            return flaw(raw, value)
        case _:
            return ""


def _number_flaw(what: str, numbers: tuple[int, ...]) -> str:
    number = next((number for number in numbers if number not in DTYPES), 0)
    return f"with the {what} {number}, which ONNX does not define" if number else f"without {what}"


def _numbers(raw: bytes) -> tuple[int, ...]:
    """The numbers of the element and key types in a TypeProto, outermost first. 0 is an absent type."""
    found: list[int] = []
    spans = [(0, len(raw))]
    while spans:
        number, inner = _chosen(raw, spans)
        if number in _NUMBERED:
            found.append(last_int32(inner, 1 << 3))
        spans = inner.get((2 if number == 5 else 1) << 3 | 2, []) if number in (4, 5, 9) else []
    return tuple(found)


def usable(known: Type | None) -> Type:
    """The part of an incomplete type that operators may use: the type if it is a tensor, else UNKNOWN."""
    return known if isinstance(known, Tensor) else UNKNOWN


def identifiers(texts: Iterable[str]) -> dict[str, str]:
    """A distinct Python identifier for each name of a size. The texts "?" and "" are not names."""
    named = [text for text in texts if text not in {"", "?"}]
    found = {text: text for text in named if _can_be_symbol(text)}
    taken = set(found)
    numbers: dict[str, int] = {}
    for text in named:
        if text not in found:
            found[text] = unused_name(_identifier(text), taken, numbers)
    return found


def expressions(texts: Iterable[str], inputs: Collection[str]) -> dict[str, Dim]:
    """The size for each text that is an expression, such as ``2*H``, of the names of sizes in ``inputs``."""
    candidates = [
        text for text in texts if text not in inputs and not text.isidentifier() and any(map(str.isalpha, text))
    ]
    sizes = {text: symbol(text) for text in inputs if _can_be_symbol(text)} if candidates else {}
    if not sizes:
        return {}
    from irlint.dims.expressions import read

    found = {text: read(text, sizes) for text in candidates}
    return {text: size for text, size in found.items() if isinstance(size, Expr)}


def _identifier(text: str) -> str:
    kept = [letter if (letter.isascii() and letter.isalnum()) or letter == "_" else " " for letter in text[:LONGEST]]
    name = "_".join("".join(kept).split()).strip("_") or "dim"
    name = f"d{name}" if name[0].isdigit() else name
    return name if _can_be_symbol(name) else f"dim_{name}"


def _can_be_symbol(text: str) -> bool:
    # The names of irlint's own symbols begin with "_".
    return (
        len(text) <= LONGEST
        and text.isidentifier()
        and text[0] != "_"
        and not iskeyword(text)
        and text not in _RESERVED
    )
