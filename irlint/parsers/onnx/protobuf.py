"""Protobuf's wire format: a message as the positions of its fields, nothing copied and nothing below it read."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from irlint.lazy_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mmap import mmap

    Buffer = bytes | mmap

#: Where a length-delimited field begins and ends.
Span = tuple[int, int]

#: The fields of a message by key (``number << 3 | wire type``), each in the order of the file. A varint is a number, a
#: length-delimited field a span, a field of 32 or 64 bits the position of its first byte.
Fields = dict[int, list[Any]]

#: Messages are nested at most this deep, as in Google's implementations.
DEPTH_LIMIT = 100

#: Packed varints in more bytes than this are not counted.
COUNTED_BYTES = 1 << 22

#: A longer text is not read: its beginning, its size and a hash stand for it.
LONGEST_TEXT = 1 << 16

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5

_CONTINUED = bytes(range(128, 256))


class Damage(Exception):
    """Bytes that are no message: the number of the field at fault (0: none), the position of its first byte, and the bytes
    by which it runs past the end of its message (0 for any other damage)."""

    def __init__(self, message: str, field: int, at: int, excess: int = 0) -> None:
        super().__init__(message)
        self.field = field
        self.at = at
        self.excess = excess


def fields(data: Buffer, start: int, end: int, found: Fields | None = None) -> Fields:
    """The fields of the message in ``data[start:end]``, added to ``found``; raises Damage, and leaves those before it.

    A field of an unexpected wire type stands under its own key: to a reader it is an unknown field, as in every
    implementation of protobuf. Groups, which no ONNX message has, are passed over.
    """
    found = {} if found is None else found
    at = first = start
    key = 0
    value: Any
    try:
        while at < end:
            first = at
            key = data[at]
            at += 1
            if key > 127:
                key, at = varint(data, first)
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
                        size, at = varint(data, at - 1)
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
                at = _past_group(data, key, at)
                if at > end:
                    raise _overrun(key, first, at - end)
                continue
            else:
                raise _impossible(key, first)
            if key in found:
                found[key].append(value)
            elif key > 7:
                found[key] = [value]
            else:
                raise Damage(f"byte {first} begins a field with the number 0", 0, first)
    except IndexError:
        raise _overrun(key, first, 1) from None
    if at > end:
        _take_back(found, key)
        raise _overrun(key, first, at - end)
    return found


def _past_group(data: Buffer, key: int, at: int) -> int:
    """The position behind the group that ``key`` begins; raises Damage, and IndexError past the end."""
    open_groups = [key]
    while open_groups:
        start = at
        key, at = varint(data, at)
        wire = key & 7
        if key < 8:
            raise Damage(f"byte {start} begins a field with the number 0", 0, start)
        if wire == 3:
            open_groups.append(key)
        elif wire == 4:
            if open_groups.pop() >> 3 != key >> 3:
                raise _impossible(key, start)
        elif wire == 2:
            size, at = varint(data, at)
            at += size
        elif wire == 0:
            _, at = varint(data, at)
        elif wire in {1, 5}:
            at += 8 if wire == 1 else 4
        else:
            raise _impossible(key, start)
    return at


def merged(data: Buffer, spans: Iterable[Span]) -> Fields:
    """The fields of a message that is given in pieces, which protobuf joins; raises Damage."""
    found: Fields = {}
    for start, end in spans:
        fields(data, start, end, found)
    return found


def varint(data: Buffer, at: int) -> tuple[int, int]:
    """The unsigned varint at ``at``, and the position after it; raises Damage past ten bytes, IndexError past the end."""
    value = shift = 0
    for position in range(at, at + 10):
        byte = data[position]
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, position + 1
        shift += 7
    raise Damage(f"the varint at byte {at} has more than 10 bytes", 0, at)


def signed(value: int) -> int:
    """The int64 that an unsigned varint stands for."""
    return value - (1 << 64) if value >> 63 else value


def text(data: Buffer, span: Span) -> str:
    """The text of a string field; bytes that are no UTF-8 as backslash escapes."""
    if span[1] - span[0] > LONGEST_TEXT:
        from irlint.parsers.onnx.long_texts import shortened

        return shortened(data, *span)
    return data[span[0] : span[1]].decode("utf-8", "backslashreplace")


def last(found: Fields, key: int, default: int = 0) -> int:
    """The value of a singular varint field: the last one given, as protobuf has it."""
    values = found.get(key)
    return signed(values[-1]) if values else default


def last_text(data: Buffer, found: Fields, number: int) -> str:
    """The value of a singular string field, "" where it is not given."""
    spans = found.get(number << 3 | DELIMITED)
    return text(data, spans[-1]) if spans else ""


def integers(data: Buffer, found: Fields, number: int) -> list[int]:
    """A repeated field of signed varints, packed or not; raises Damage."""
    values = list(found.get(number << 3 | VARINT, ()))
    for start, end in found.get(number << 3 | DELIMITED, ()):
        values += _unpacked(data[start:end], start)
    return [value - (1 << 64) if value >> 63 else value for value in values]


def integers_count(data: Buffer, found: Fields, number: int) -> int | None:
    """How many varints a repeated field has; None where they are packed into too many bytes to be counted."""
    count = len(found.get(number << 3 | VARINT, ()))
    for start, end in found.get(number << 3 | DELIMITED, ()):
        if end - start > COUNTED_BYTES:
            return None
        count += len(data[start:end].translate(None, _CONTINUED))
    return count


def fixed(data: Buffer, found: Fields, number: int, width: int) -> bytes:
    """A repeated field of 32 or 64 bits (``width`` in bytes), packed or not, as one run of little-endian bytes."""
    wire = FIXED32 if width == 4 else FIXED64
    parts = [data[at : at + width] for at in found.get(number << 3 | wire, ())]
    parts += [data[start:end] for start, end in found.get(number << 3 | DELIMITED, ())]
    return b"".join(parts)


def fixed_count(found: Fields, number: int, width: int) -> int:
    """How many elements a repeated field of 32 or 64 bits has; raises Damage where one is cut."""
    wire = FIXED32 if width == 4 else FIXED64
    count = len(found.get(number << 3 | wire, ()))
    for start, end in found.get(number << 3 | DELIMITED, ()):
        if (end - start) % width:
            raise Damage(f"field {number} packs elements of {width} bytes into {end - start} bytes", number, start)
        count += (end - start) // width
    return count


def floats(data: Buffer, found: Fields, number: int) -> tuple[float, ...]:
    """A repeated field of floats, packed or not; raises Damage."""
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
        raise Damage(f"the packed varints at byte {origin} end within a varint", 0, origin) from None
    return values


def _impossible(key: int, first: int) -> Damage:
    wire = key & 7
    what = "the end of a group that has not begun" if wire == 4 else f"a field of wire type {wire}"
    return Damage(f"byte {first} begins {what}", key >> 3, first)


def _overrun(key: int, first: int, excess: int) -> Damage:
    unit = "byte" if excess == 1 else "bytes"
    message = f"field {key >> 3} at byte {first} runs {excess} {unit} past the end of its message"
    return Damage(message, key >> 3, first, excess)


def _take_back(found: Fields, key: int) -> None:
    """Removes the last field, which is not whole."""
    found[key].pop()
    if not found[key]:
        del found[key]
