"""Writes protobuf messages: each field is copied from the file, changed, or omitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.onnx.protobuf import DELIMITED, FIXED32, VARINT, entries, varint

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: A part of the new file: new bytes, or the start and the end of a part of the old file.
Piece = bytes | tuple[int, int]


class Unwritable(Exception):
    """An edit that cannot be written to this file without another change."""


class Field:
    """A field of a message. ``new`` replaces the bytes from ``start`` to ``end``, if any."""

    __slots__ = ("key", "start", "end", "new")

    def __init__(self, key: int, start: int, end: int, new: Message | bytes | None = None) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.new = new

    @property
    def size(self) -> int:
        """The size in bytes, with key and length."""
        if isinstance(self.new, Message):
            size = self.new.size
            return len(encoded(self.key)) + len(encoded(size)) + size
        return self.end - self.start if self.new is None else len(self.new)

    def pieces(self) -> Iterator[Piece]:
        """The bytes of the written field, as pieces."""
        if isinstance(self.new, Message):
            yield encoded(self.key) + encoded(self.new.size)
            yield from self.new.pieces()
        else:
            yield (self.start, self.end) if self.new is None else self.new


class Message:
    """A valid protobuf message in ``data[start:end]``. ``is_new``: whether ``data`` are new bytes, not the file."""

    __slots__ = ("data", "fields", "is_new")

    def __init__(self, data: Buffer, start: int, end: int, *, is_new: bool = False) -> None:
        self.data = data
        self.fields = [Field(*entry) for entry in entries(data, start, end)]
        self.is_new = is_new

    @property
    def size(self) -> int:
        """The size of the written message in bytes."""
        return sum(field.size for field in self.fields)

    def of(self, number: int) -> list[Field]:
        """The length-delimited fields of a number, in the order of the file."""
        return [field for field in self.fields if field.key == number << 3 | DELIMITED and field.new != b""]

    def inner(self, field: Field) -> Message:
        """The message in a field. Its changes are changes of this message."""
        if isinstance(field.new, bytes):
            begin = varint(field.new, varint(field.new, 0)[1])[1]
            field.new = Message(field.new, begin, len(field.new), is_new=True)
        elif field.new is None:
            field.new = Message(self.data, *self.span(field), is_new=self.is_new)
        return field.new

    def number(self, number: int) -> int:
        """The varint in the last field of this number; 0 if there is none."""
        found = [field for field in self.fields if field.key == number << 3 | VARINT and field.new != b""]
        if not found:
            return 0
        data, start = (found[-1].new, 0) if isinstance(found[-1].new, bytes) else (self.data, found[-1].start)
        return varint(data, varint(data, start)[1])[0]

    def span(self, field: Field) -> tuple[int, int]:
        """(start, end) of the payload of a length-delimited field in the file."""
        return varint(self.data, varint(self.data, field.start)[1])[1], field.end

    def text(self, number: int) -> str:
        """The text in the last field of this number; "" if there is none."""
        found = self.of(number)
        return self.text_of(found[-1]) if found else ""

    def text_of(self, field: Field) -> str:
        """The text that a field holds."""
        if isinstance(field.new, bytes):
            raw = field.new
            _, behind = varint(raw, 0)
            return raw[varint(raw, behind)[1] :].decode("utf-8", "surrogateescape")
        begin, end = self.span(field)
        return self.data[begin:end].decode("utf-8", "surrogateescape")

    def text_in(self, field: Field, number: int) -> str:
        """The text in the last field of this number of the message that ``field`` holds."""
        if isinstance(field.new, bytes):
            return self.inner(field).text(number)
        inner = field.new if isinstance(field.new, Message) else Message(self.data, *self.span(field))
        return inner.text(number)

    def remove(self, removed: Iterable[Field]) -> None:
        """Removes fields."""
        for field in removed:
            field.new = b""

    def set_text(self, number: int, text: str) -> None:
        """Replaces the text in the last field of this number, or adds a field at the end."""
        self.set_bytes(number, text.encode("utf-8", "surrogateescape"))

    def set_bytes(self, number: int, raw: bytes) -> None:
        """Replaces the bytes in the last field of this number, or adds a field at the end."""
        self._set(self.of(number), encoded(number << 3 | DELIMITED) + encoded(len(raw)) + raw, number << 3 | DELIMITED)

    def set_number(self, number: int, value: int) -> None:
        """Replaces the varint in the last field of this number, or adds a field at the end."""
        key = number << 3 | VARINT
        self._set([field for field in self.fields if field.key == key], encoded(key) + encoded(value), key)

    def append(self, number: int, *added: Message | bytes) -> None:
        """Adds length-delimited fields after the existing fields with this number."""
        key = number << 3 | DELIMITED
        at = max((at for at, field in enumerate(self.fields, 1) if field.key == key), default=len(self.fields))
        self.fields[at:at] = [Field(key, 0, 0, _delimited(key, each)) for each in added]

    def append_before(self, field: Field, number: int, raw: bytes) -> None:
        """Adds a length-delimited field before another one."""
        key = number << 3 | DELIMITED
        self.fields.insert(self.fields.index(field), Field(key, 0, 0, encoded(key) + encoded(len(raw)) + raw))

    def set_bytes_at(self, number: int, index: int, raw: bytes) -> None:
        """Replaces the field of this number at an index. Adds empty fields before it if there are too few."""
        while len(self.of(number)) <= index:
            self.append(number, b"")
        key = number << 3 | DELIMITED
        self.of(number)[index].new = encoded(key) + encoded(len(raw)) + raw

    def append_fixed(self, number: int, raw: bytes) -> None:
        """Adds a field of 4 bytes at the end."""
        key = number << 3 | FIXED32
        self.fields.append(Field(key, 0, 0, encoded(key) + raw))

    def reorder(self, number: int, order: Iterable[int]) -> None:
        """Reorders the fields of a number; ``order`` lists their old indices."""
        places = [
            at for at, field in enumerate(self.fields) if field.key == number << 3 | DELIMITED and field.new != b""
        ]
        moved = [self.fields[places[at]] for at in order]
        for place, field in zip(places, moved, strict=True):
            self.fields[place] = field

    def _set(self, found: list[Field], raw: bytes, key: int) -> None:
        if found:
            found[-1].new = raw
        else:
            self.fields.append(Field(key, 0, 0, raw))

    def pieces(self) -> Iterator[Piece]:
        """The written message, with adjacent parts of the file joined."""
        if self.is_new:
            for field in self.fields:
                for piece in field.pieces():
                    yield piece if isinstance(piece, bytes) else bytes(self.data[piece[0] : piece[1]])
            return
        start = end = 0
        for field in self.fields:
            for piece in field.pieces():
                if isinstance(piece, tuple) and piece[0] == end and start < end:
                    end = piece[1]
                    continue
                if start < end:
                    yield start, end
                    start = end = 0
                if isinstance(piece, tuple):
                    start, end = piece
                elif piece:
                    yield piece
        if start < end:
            yield start, end


def _delimited(key: int, payload: Message | bytes) -> Message | bytes:
    """A length-delimited field as ``Field`` stores it."""
    return encoded(key) + encoded(len(payload)) + payload if isinstance(payload, bytes) else payload


def encoded(value: int) -> bytes:
    """A number of 64 bits as a varint."""
    found = bytearray()
    value &= 0xFFFF_FFFF_FFFF_FFFF
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
