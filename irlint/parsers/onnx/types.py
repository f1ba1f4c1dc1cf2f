"""ONNX's TypeProto: the type that it states, and what it lacks where it states none."""

from __future__ import annotations

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model.tensor import UNKNOWN, Map, Opaque, Optional, Sequence, SparseTensor, Tensor, Type
from irlint.parsers.onnx.protobuf import DEPTH_LIMIT, Damage, fields, last, last_text, merged
from irlint.parsers.onnx.tensors import DTYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from irlint.dims import MaybeDim, Shape
    from irlint.parsers.onnx.protobuf import Fields, Span

#: The fields of TypeProto that hold a kind of type.
_TYPE_KEYS = frozenset(number << 3 | 2 for number in (1, 4, 5, 7, 8, 9))


def type_of(raw: bytes, dim: Callable[[str], MaybeDim]) -> Type | None:
    """The type that a TypeProto states, None for an empty one; ``dim`` turns each ``dim_param`` into a size. Raises Damage."""
    return _type_at(raw, [(0, len(raw))], dim, 3)


def _type_at(raw: bytes, spans: list[Span], dim: Callable[[str], MaybeDim], depth: int) -> Type | None:
    if depth > DEPTH_LIMIT:
        raise Damage(f"messages are nested more than {DEPTH_LIMIT} deep", 0, spans[0][0])
    for key, places in reversed(merged(raw, spans).items()):
        if key not in _TYPE_KEYS:
            continue
        found = merged(raw, places)
        inner = found.get(1 << 3 | 2)
        match key >> 3:
            case 1:
                return Tensor(DTYPES.get(last(found, 1 << 3)), _shape(raw, found, dim))
            case 4:
                return Sequence(_type_at(raw, inner, dim, depth + 2) if inner else None)
            case 5:
                inner = found.get(2 << 3 | 2)
                value = _type_at(raw, inner, dim, depth + 2) if inner else None
                return Map(DTYPES.get(last(found, 1 << 3)), value)
            case 7:
                return Opaque(last_text(raw, found, 1), last_text(raw, found, 2))
            case 8:
                return SparseTensor(DTYPES.get(last(found, 1 << 3)), _shape(raw, found, dim))
            case 9:
                return Optional(_type_at(raw, inner, dim, depth + 2) if inner else None)
    return None


def _shape(raw: bytes, found: Fields, dim: Callable[[str], MaybeDim]) -> Shape | None:
    spans = found.get(2 << 3 | 2)
    if spans is None:
        return None
    return tuple(_dim(raw, fields(raw, *span), dim) for span in merged(raw, spans).get(1 << 3 | 2, ()))


def _dim(raw: bytes, found: Fields, dim: Callable[[str], MaybeDim]) -> MaybeDim:
    for key in reversed(found):
        if key == 1 << 3:
            size = last(found, key)
            return size if size >= 0 else None
        if key == 2 << 3 | 2:
            return dim(last_text(raw, found, 2))
    return None


def negative_sizes(raw: bytes, known: Type | None) -> str:
    """The sizes below 0 of a TypeProto of the type ``known``, where that is a tensor, with their axes; "" where it has none."""
    if not isinstance(known, Tensor) or known.shape is None or None not in known.shape:
        return ""
    spans = merged(raw, [(0, len(raw))]).get(1 << 3 | 2)
    spans = merged(raw, spans).get(2 << 3 | 2) if spans else None
    dims = merged(raw, spans).get(1 << 3 | 2, ()) if spans else ()
    sizes = [last(fields(raw, *span), 1 << 3) for span in dims]
    return ", ".join(f"axis {axis} is {size}" for axis, size in enumerate(sizes) if size < 0)


def flaw(raw: bytes, known: Type | None) -> str:
    """What the type ``known`` of a TypeProto lacks, as the end of a sentence; "" where it lacks nothing."""
    match known:
        case Tensor(dtype) | SparseTensor(dtype):
            return "" if dtype is not None else _number_flaw("element type", _numbers(raw))
        case Sequence(None) | Optional(None):
            return f"as {'a sequence' if isinstance(known, Sequence) else 'an optional'} of no type"
        case Sequence(element) | Optional(element):
            return flaw(raw, element)
        case Map(None):
            return _number_flaw("key type", _numbers(raw))
        case Map(_, None):
            return "as a map to values of no type"
        case Map(_, value):
            return flaw(raw, value)
        case _:
            return ""


def _number_flaw(what: str, numbers: tuple[int, ...]) -> str:
    unknown = [number for number in numbers if number and number not in DTYPES]
    return f"with the {what} {unknown[0]}, which ONNX does not define" if unknown else f"with no {what}"


def _numbers(raw: bytes) -> tuple[int, ...]:
    """The element and key types that a TypeProto states, from outside in."""
    found: list[int] = []
    spans = [(0, len(raw))]
    while spans:
        keys = [(key, places) for key, places in merged(raw, spans).items() if key in _TYPE_KEYS]
        spans = []
        for key, places in keys[-1:]:
            inner = merged(raw, places)
            if 1 << 3 in inner:
                found.append(last(inner, 1 << 3))
            spans = inner.get((2 if key >> 3 == 5 else 1) << 3 | 2, []) if key >> 3 in (4, 5, 9) else []
    return tuple(found)


def usable(known: Type | None) -> Type:
    """A type that lacks something, as far as a rule can do with it: of what it is to hold, nothing is known."""
    return known if isinstance(known, Tensor) else UNKNOWN
