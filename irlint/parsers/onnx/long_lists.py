"""Reads an AttributeProto with a very long list, in pieces, with NumPy."""

from __future__ import annotations

from collections.abc import Iterator

from irlint.lazy_typing import TYPE_CHECKING, Any
from irlint.model import Attribute
from irlint.model.lists import LongList
from irlint.parsers.onnx.protobuf import Damage, length
from irlint.parsers.weights import pieces

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: The number of bytes of a piece, or of elements if the list has floats. Such a piece fits the processor's cache.
PIECE = 1 << 16

#: Each distinct text in a list gets one of these bytes as its code. UTF-8 does not use these bytes.
_CODES = bytes([*range(0xF5, 0x100), 0xC0, 0xC1])

#: Numbers of AttributeProto.AttributeType.
_FLOATS, _INTS, _STRINGS = 6, 7, 8
_KINDS = {_FLOATS: "FLOATS", _INTS: "INTS", _STRINGS: "STRINGS"}


class _Unusual(Exception):
    """The bytes are not in the form that exporters write."""


def long_list(data: Buffer, start: int, end: int, path: str) -> tuple[str, Attribute] | None:
    """(name, value) of an AttributeProto with a name, one list and a type, in this order.

    ``data`` are the bytes of the file ``path``. Returns None for any other message, if there are more distinct texts
    than codes, and if NumPy is not installed.
    """
    try:
        if data[start] != 0x0A or data[end - 3 : end - 1] != b"\xa0\x01" or data[end - 1] not in _KINDS:
            return None
        size, at = length(data, start + 1)
        name = data[at : at + size].decode()
        known = _LISTS[data[end - 1]](data, at + size, end - 3, path)
    except (_Unusual, Damage, IndexError, UnicodeDecodeError, ImportError):
        return None
    if not name:
        return None
    kind = _KINDS[data[end - 1]]
    _release(data, at, end)
    return name, Attribute(kind, known)


def _release(data: Buffer, start: int, end: int) -> None:
    """Returns the memory of decoded bytes to the system if ``data`` is the mmap that ``skeleton`` made."""
    if isinstance(data, bytes) or not hasattr(data, "madvise"):
        return
    import mmap

    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    last = end // mmap.PAGESIZE * mmap.PAGESIZE
    if first < last:
        data.madvise(mmap.MADV_DONTNEED, first, last - first)


def _first_entry(data: Buffer, start: int, end: int, packed_key: int) -> tuple[int, bool]:
    """(position of the first entry of a list, whether the entries are packed).

    Raises _Unusual if other bytes follow the packed entries. Raises Damage.
    """
    if start >= end or data[start] != packed_key:
        return start, False
    size, at = length(data, start + 1)
    if at + size != end:
        raise _Unusual
    return at, True


def _floats(data: Buffer, start: int, end: int, path: str) -> LongList:
    import numpy

    at, packed = _first_entry(data, start, end, 0x3A)
    width = 4 if packed else 5
    count, rest = divmod(end - at, width)
    if rest:
        raise _Unusual
    for begin in range(at, end, PIECE * width):
        raw = numpy.frombuffer(data[begin : min(end, begin + PIECE * width)], numpy.uint8)
        if not packed and not (raw[::5] == 0x3D).all():
            raise _Unusual
    in_memory = data if isinstance(data, bytes) else None

    def load() -> Any:
        raw = numpy.frombuffer(b"".join(pieces(path, None, at, end - at, in_memory)), numpy.uint8).reshape(-1, width)
        return numpy.ascontiguousarray(raw[:, width - 4 :]).view("<f4")[:, 0]

    return LongList(count, load)


def _ints(data: Buffer, start: int, end: int, _: str) -> LongList:
    import numpy

    at, packed = _first_entry(data, start, end, 0x42)
    parts = list(_decoded(data, at, end, key_bytes=0 if packed else 1))
    numbers = numpy.concatenate(parts) if parts else numpy.zeros(0, numpy.int64)
    return LongList(len(numbers), lambda: numbers)


def _decoded(data: Buffer, at: int, end: int, key_bytes: int) -> Iterator[Any]:
    """The varints of a list, in pieces. Each varint follows ``key_bytes`` bytes of its key: 0 if packed, else 1."""
    import numpy

    while at < end:
        raw = numpy.frombuffer(data[at : min(end, at + PIECE)], numpy.uint8)
        numbers, used = _of_one_size(raw, key_bytes) or _of_two_sizes(raw, key_bytes) or _of_any_size(raw, key_bytes)
        yield numbers
        at += used


def _of_one_size(raw: Any, key_bytes: int) -> tuple[Any, int] | None:
    """(values of the complete varints at the beginning of ``raw``, number of bytes that these varints and keys take).

    Returns None unless all varints have the same size of at most 3 bytes.
    """
    import numpy

    size = 1
    while size < 4 and key_bytes + size < len(raw) and raw[key_bytes + size - 1] > 127:
        size += 1
    width = key_bytes + size
    used = len(raw) // width * width
    if size > 3 or not used:
        return None
    if key_bytes and size == 1:
        pairs = raw[:used].view("<u2")
        return ((pairs >> 8).astype(numpy.int8), used) if ((pairs & 0x80FF) == 0x40).all() else None
    rows = raw[:used].reshape(-1, width)
    if (rows[:, :key_bytes] != 0x40).any() or (rows[:, key_bytes:-1] < 128).any() or (rows[:, -1] > 127).any():
        return None
    numbers = rows[:, key_bytes].astype((numpy.int8, numpy.int16, numpy.int32)[size - 1]) & 127
    for place in range(1, size):
        numbers |= (rows[:, key_bytes + place].astype(numbers.dtype) & 127) << (7 * place)
    return numbers, used


def _of_two_sizes(raw: Any, key_bytes: int) -> tuple[Any, int] | None:
    """Like ``_of_one_size``, for varints of one or two bytes."""
    import numpy

    if ((raw[1:] & raw[:-1]) > 127).any():
        return None
    # The high byte of a pair is a byte of ``raw``, the low byte the one before it.
    pairs = raw.astype(numpy.uint16) << 8
    pairs[1:] |= raw[:-1]
    ends = numpy.flatnonzero(raw < 128)
    ends = ends[: len(ends) // (1 + key_bytes) * (1 + key_bytes)]
    found = pairs.take(ends)
    if not len(ends) or (key_bytes and ((found[::2] & 0xFF80) != 0x4000).any()):
        return None
    found = found[key_bytes :: 1 + key_bytes].view(numpy.int16)
    low, high = found & 255, found >> 8
    return numpy.where(low > 127, high << 7 | low & 127, high), int(ends[-1]) + 1


def _of_any_size(raw: Any, key_bytes: int) -> tuple[Any, int]:
    """Like ``_of_one_size``, for varints of any size. Raises _Unusual if the bytes have another form."""
    import numpy

    ends = numpy.flatnonzero(raw < 128)
    if key_bytes:
        ends = ends[: len(ends) // 2 * 2]
        begins, ends = ends[::2], ends[1::2]
        if not len(ends) or begins[0] or (raw[begins] != 0x40).any() or (begins[1:] != ends[:-1] + 1).any():
            raise _Unusual
        begins = begins + 1
    else:
        if not len(ends):
            raise _Unusual
        begins = numpy.concatenate((numpy.zeros(1, ends.dtype), ends[:-1] + 1))
    sizes = ends - begins
    values = (raw[begins] & 127).astype(numpy.uint64)
    longest = int(sizes.max())
    if longest > 9:
        raise _Unusual
    for place in range(1, longest + 1):
        longer = numpy.flatnonzero(sizes >= place)
        more = (raw[begins[longer] + place] & numpy.uint8(127)).astype(numpy.uint64)
        values[longer] |= more << numpy.uint64(7 * place)
    return _narrow(values.view(numpy.int64)), int(ends[-1]) + 1


def _narrow(numbers: Any) -> Any:
    import numpy

    least, most = int(numbers.min()), int(numbers.max())
    for kind in (numpy.int8, numpy.int16, numpy.int32):
        if numpy.iinfo(kind).min <= least and most <= numpy.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers


def _strings(data: Buffer, start: int, end: int, _: str) -> LongList:
    import numpy

    found: dict[bytes, int] = {}
    codes = []
    at = start
    while at < end:
        raw = data[at : min(end, at + PIECE)]
        part, used = _of_known(raw, found) or _coded(raw, found)
        codes.append(numpy.frombuffer(part, numpy.uint8))
        at += used
    places = numpy.zeros(256, numpy.uint8)
    for place, code in enumerate(found.values()):
        places[code] = place
    numbers = places[numpy.concatenate(codes)]
    return LongList(len(numbers), lambda: numbers, tuple([field[2:].decode() for field in found]))


def _of_known(raw: bytes, found: dict[bytes, int]) -> tuple[bytes, int] | None:
    """The result of ``_coded``, computed faster. None unless all texts are in ``found`` and have different sizes."""
    sizes = bytes([field[1] for field in found])
    if len(set(sizes)) != len(found) or not found:
        return None
    coded = raw.translate(None, bytes(set(range(256)).difference(sizes)))
    expected = coded
    for field in found:
        expected = expected.replace(field[1:2], field)
    if len(expected) > len(raw):
        # The last text is not complete in ``raw``.
        expected, coded = expected[: -2 - coded[-1]], coded[:-1]
    if not expected or not raw.startswith(expected):
        return None
    return coded.translate(bytes.maketrans(sizes, bytes(found.values()))), len(expected)


def _coded(raw: bytes, found: dict[bytes, int]) -> tuple[bytes, int]:
    """(codes of the complete texts at the beginning of ``raw``, number of bytes of these texts).

    ``found`` maps each text, with its key and size, to its code; new texts are added. Raises _Unusual.
    """
    coded = raw
    for field, code in found.items():
        coded = coded.replace(field, bytes([code]))
    while True:
        rest = coded.lstrip(_CODES)
        if len(rest) < 2 or len(rest) < 2 + rest[1]:
            break
        field = rest[: 2 + rest[1]]
        if rest[0] != 0x4A or rest[1] > 127 or len(found) == len(_CODES) or not field[2:].decode().isprintable():
            raise _Unusual
        found[field] = _CODES[len(found)]
        coded = coded.replace(field, bytes([found[field]]))
    codes = coded[: len(coded) - len(rest)]
    used = sum(len(field) * codes.count(code) for field, code in found.items())
    if not used or used + len(rest) != len(raw):
        raise _Unusual
    return codes, used


_LISTS = {_FLOATS: _floats, _INTS: _ints, _STRINGS: _strings}
