"""Reads protobuf's wire format. A message is read as the positions of its fields; bytes are not copied.

The key of a field is ``number << 3 | wire type``.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterable, Iterator

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmap import mmap

    Buffer = bytes | mmap

#: Where a length-delimited field begins and ends.
Span = tuple[int, int]

#: The fields of a message by key, each list in the order of the file.
#:
#: * A varint is a number.
#: * A length-delimited field is a span.
#: * A field of 32 or 64 bits is the position of its first byte.
#:
#: A number may occur in varints and in length-delimited fields. Then the key 0 is present, and the key ``-number`` has
#: a flag for each of these fields in the order of the file. True means length-delimited.
Fields = dict[int, list[Any]]

#: The size in bytes of each text that is too long, by the replacement of the text.
LongTexts = dict[str, int]

#: The deepest nesting of messages and groups, as in Google's implementations.
DEPTH_LIMIT = 100

#: The largest file in bytes.
MOST_BYTES = (1 << 31) - 1

#: The largest number of bytes of a key, and of the size of a field.
_KEY_BYTES = 5

#: The largest size of a field.
_MOST_SIZE = MOST_BYTES - 16

#: The varints in a packed field are counted only if the field has at most this many bytes.
COUNTED_BYTES = 1 << 22

#: A text of more bytes is replaced by a short text.
LONGEST_TEXT = 1 << 16

#: The largest number of equal short entries of a list that are read.
MOST_EQUAL = 1000

#: Wire types.
VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5

#: The bytes after which a varint continues.
_CONTINUED = bytes(range(128, 256))


class Damage(Exception):
    """Bytes that are not a valid message."""

    def __init__(self, message: str, field: int, at: int, excess: int = 0) -> None:
        super().__init__(message)
        #: The number of the field, 0 if it is unknown.
        self.field = field
        #: The position of the damage.
        self.at = at
        #: If the field is longer than its message, at least this many bytes are missing; 0 for other damage.
        self.excess = excess


def fields(data: Buffer, start: int, end: int, found: Fields | None = None, depth: int = 0) -> Fields:
    """Adds the fields of the message in ``data[start:end]``, except groups, to ``found``, and returns ``found``.

    Raises Damage. In that case, ``found`` has the fields before the damage.
    """
    if depth > DEPTH_LIMIT:
        raise _too_deep(start)
    found = {} if found is None else found
    mixed = 0 in found
    at = first = start
    key = 0
    value: Any
    try:
        while at < end:
            first = at
            key = data[at]
            at += 1
            if key > 127:
                key, at = _key(data, first)
            wire = key & 7
            if wire == 2:
                size = data[at]
                at += 1
                if size > 127:
                    # Most sizes take one byte or two.
                    if data[at] < 128:
                        size += (data[at] - 1) * 128
                        at += 1
                    else:
                        size, at = length(data, at - 1)
                value = (at, at + size)
                at += size
            elif wire == 0:
                value = data[at]
                at += 1
                if value > 127:
                    value, at = varint(data, at - 1)
            elif wire == 5:
                value = at
                at += 4
            elif wire == 1:
                value = at
                at += 8
            elif wire == 3:
                at = _past_group(data, key, first, at, depth)
                if at > end:
                    raise _overrun(key, first, at - end)
                continue
            else:
                raise _impossible(key, first)
            if key in found:
                found[key].append(value)
            elif key > 7:
                found[key] = [value]
                if key ^ 2 in found:
                    mixed = True
            else:
                raise _numberless(first)
    except IndexError:
        raise _overrun(key, first, 1) from None
    if at > end:
        _remove_last(found, key)
        raise _overrun(key, first, at - end)
    if mixed:
        _note_order(data, start, end, found)
    return found


def keys(data: Buffer, start: int, end: int) -> Iterator[int]:
    """The keys of the fields of a valid message, in the order of the file."""
    return (key for key, _, _ in entries(data, start, end))


def entries(data: Buffer, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(key, start, end) of each field of a valid message, in the order of the file."""
    at = start
    while at < end:
        first = at
        key, behind = _key(data, at)
        at = _past_group(data, key, first, behind, 0) if key & 7 == 3 else _past(data, key, first, behind)
        yield key, first, at


def _note_order(data: Buffer, start: int, end: int, found: Fields) -> None:
    """Adds the keys 0 and ``-number`` to ``found``, whose last fields are those of ``data[start:end]``."""
    flags: dict[int, list[bool]] = {}
    for key in keys(data, start, end):
        if key & 5 == 0 and key in found and key ^ 2 in found:
            flags.setdefault(key >> 3, []).append(key & 7 == DELIMITED)
    found[0] = []
    for number, here in flags.items():
        if -number not in found:
            packed, before = found[number << 3 | DELIMITED], found[number << 3]
            found[-number] = [len(packed) > sum(here)] * (len(packed) + len(before) - len(here))
        found[-number] += here


def _past_group(data: Buffer, key: int, first: int, at: int, depth: int) -> int:
    """The position after the group that ``key`` begins. Raises Damage, and IndexError at the end of ``data``."""
    open_groups: list[int] = []
    while True:
        wire = key & 7
        if wire == 3:
            if key < 8:
                raise _numberless(first)
            open_groups.append(key)
            if len(open_groups) + depth > DEPTH_LIMIT:
                raise _too_deep(first)
        elif wire != 4:
            at = _past(data, key, first, at)
        elif open_groups.pop() >> 3 != key >> 3:
            raise _impossible(key, first)
        if not open_groups:
            return at
        first = at
        key, at = _key(data, at)


def _past(data: Buffer, key: int, first: int, at: int) -> int:
    """The position after a field whose key ends at ``at``. Raises Damage, and IndexError at the end of ``data``."""
    if key < 8:
        raise _numberless(first)
    match key & 7:
        case 0:
            return varint(data, at)[1]
        case 1:
            return at + 8
        case 2:
            size, at = length(data, at)
            return at + size
        case 5:
            return at + 4
        case _:
            raise _impossible(key, first)


def merged(data: Buffer, spans: Iterable[Span], depth: int = 0) -> Fields:
    """The fields of a message that the file stores in pieces at ``spans``. Protobuf merges them. Raises Damage."""
    found: Fields = {}
    for start, end in spans:
        fields(data, start, end, found, depth)
    return found


def _key(data: Buffer, at: int) -> tuple[int, int]:
    """(key modulo 2**32, position after it). Raises Damage, and IndexError at the end of ``data``."""
    key, behind = varint(data, at)
    if behind - at > _KEY_BYTES:
        raise Damage(f"the key at byte {at} has more than {_KEY_BYTES} bytes", 0, at)
    return key & 0xFFFF_FFFF, behind


def length(data: Buffer, at: int) -> tuple[int, int]:
    """(size of a length-delimited field, position after the size).

    Raises Damage, and IndexError at the end of ``data``.
    """
    size, behind = varint(data, at)
    if behind - at > _KEY_BYTES or size > _MOST_SIZE:
        raise Damage(
            f"the size at byte {at} has {behind - at} bytes and is {size}; at most {_KEY_BYTES} bytes and "
            f"{_MOST_SIZE} are allowed",
            0,
            at,
        )
    return size, behind


def varint(data: Buffer, at: int) -> tuple[int, int]:
    """(unsigned varint, position after it). Raises Damage, and IndexError at the end of ``data``."""
    value = shift = 0
    for position in range(at, at + 10):
        byte = data[position]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise Damage(f"the varint at byte {at} has more than 10 bytes", 0, at)


def signed(value: int) -> int:
    """An unsigned varint as an int64."""
    return value - (1 << 64) if value >> 63 else value


def int32(value: int) -> int:
    """The lower 32 bits of an unsigned varint as an int32."""
    value &= 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value


def text(data: Buffer, span: Span, long: LongTexts | None = None) -> str:
    """The text of a string field. Bytes that are not UTF-8 become lone surrogates.

    A text of more than LONGEST_TEXT bytes is replaced and added to ``long``.
    """
    if span[1] - span[0] > LONGEST_TEXT:
        from irlint.parsers.onnx.long_texts import shortened

        short = shortened(data, *span)
        if long is not None:
            long[short] = span[1] - span[0]
        return short
    return data[span[0] : span[1]].decode("utf-8", "surrogateescape")


def last(found: Fields, key: int, default: int = 0) -> int:
    """The value of a singular varint field. As in protobuf, the last occurrence in the message counts."""
    values = found.get(key)
    return signed(values[-1]) if values else default


def last_int32(found: Fields, key: int) -> int:
    """The value of a singular int32 field; 0 if it is absent."""
    values = found.get(key)
    return int32(values[-1]) if values else 0


def last_known(found: Fields, key: int, known: Container[int]) -> int:
    """The value of an enum field: the last number that is in ``known``, else the last number, else 0."""
    values = found.get(key, (0,))
    return next((number for number in map(int32, reversed(values)) if number in known), int32(values[-1]))


def last_text(data: Buffer, found: Fields, number: int, long: LongTexts | None = None) -> str:
    """The value of a singular string field, as ``text`` returns it; "" if it is absent."""
    spans = found.get(number << 3 | DELIMITED)
    return text(data, spans[-1], long) if spans else ""


def integers(data: Buffer, found: Fields, number: int) -> list[int]:
    """The values of a repeated field of signed varints, packed or not. Raises Damage."""
    values = list(found.get(number << 3 | VARINT, ()))
    packed = found.get(number << 3 | DELIMITED, ())
    if -number in found:
        values = _in_order(data, iter(values), iter(packed), found[-number])
    else:
        for start, end in packed:
            values += _unpacked(data[start:end], start)
    return [value - (1 << 64) if value >> 63 else value for value in values]


def _in_order(data: Buffer, plain: Iterator[int], packed: Iterator[Span], order: Iterable[bool]) -> list[int]:
    """The varints of a field in the order of the file. ``order`` has True for each packed occurrence of the field."""
    values: list[int] = []
    for is_packed in order:
        if is_packed:
            start, end = next(packed)
            values += _unpacked(data[start:end], start)
        else:
            values.append(next(plain))
    return values


def integers_count(data: Buffer, found: Fields, number: int) -> int | None:
    """The number of varints in a repeated field; None if they are packed into more than COUNTED_BYTES bytes."""
    count = len(found.get(number << 3 | VARINT, ()))
    for start, end in found.get(number << 3 | DELIMITED, ()):
        if end - start > COUNTED_BYTES:
            return None
        count += len(data[start:end].translate(None, _CONTINUED))
    return count


def fixed(data: Buffer, found: Fields, number: int, width: int) -> bytes:
    """The little-endian bytes of a repeated field of numbers of ``width`` (4 or 8) bytes, packed or not."""
    wire = FIXED32 if width == 4 else FIXED64
    spans = [(at, at + width) for at in found.get(number << 3 | wire, ())]
    packed = found.get(number << 3 | DELIMITED, [])
    spans = sorted(spans + packed) if spans and packed else spans or packed
    return b"".join([data[start:end] for start, end in spans])


def fixed_count(found: Fields, number: int, width: int) -> int:
    """The length of a repeated field of numbers of ``width`` bytes. Raises Damage if a number is incomplete."""
    wire = FIXED32 if width == 4 else FIXED64
    count = len(found.get(number << 3 | wire, ()))
    for start, end in found.get(number << 3 | DELIMITED, ()):
        if (end - start) % width:
            raise Damage(f"field {number} packs elements of {width} bytes into {end - start} bytes", number, start)
        count += (end - start) // width
    return count


def floats(data: Buffer, found: Fields, number: int) -> tuple[float, ...]:
    """The values of a repeated field of floats, packed or not. Raises Damage."""
    count = fixed_count(found, number, 4)
    return struct.unpack(f"<{count}f", fixed(data, found, number, 4))


def _unpacked(packed: bytes, origin: int) -> list[int]:
    values = []
    at, end = 0, len(packed)
    try:
        while at < end:
            value = packed[at]
            at += 1
            if value > 127:
                value, at = varint(packed, at - 1)
            values.append(value)
    except IndexError:
        raise Damage(f"the packed varints at byte {origin} end in the middle of a varint", 0, origin) from None
    return values


def _impossible(key: int, first: int) -> Damage:
    wire = key & 7
    what = "the end of a group that was not started" if wire == 4 else f"a field of wire type {wire}"
    return Damage(f"byte {first} begins {what}", key >> 3, first)


def _numberless(first: int) -> Damage:
    return Damage(f"byte {first} begins a field with the number 0", 0, first)


def _too_deep(at: int) -> Damage:
    return Damage(f"messages are nested more than {DEPTH_LIMIT} deep", 0, at)


def _overrun(key: int, first: int, excess: int) -> Damage:
    unit = "byte" if excess == 1 else "bytes"
    message = f"field {key >> 3} at byte {first} runs {excess} {unit} past the end of its message"
    return Damage(message, key >> 3, first, excess)


def _remove_last(found: Fields, key: int) -> None:
    found[key].pop()
    if not found[key]:
        del found[key]
