"""A message of protobuf's wire format as it is to be written: its fields as they stand in the file, changed, or left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.parsers.onnx.protobuf import DELIMITED, VARINT, entries, varint

if TYPE_CHECKING:
    from irlint.parsers.onnx.protobuf import Buffer

#: A part of the new file: new bytes, or where the old ones begin and end.
Piece = bytes | tuple[int, int]


class Unwritable(Exception):
    """A file in which an edit cannot be made without a change of something else."""


class Field:
    """A field of a message: the position of its key and of the next field, and what takes its place."""

    __slots__ = ("key", "start", "end", "new")

    def __init__(self, key: int, start: int, end: int, new: Message | bytes | None = None) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.new = new

    @property
    def size(self) -> int:
        """In bytes, with its key and length."""
        if isinstance(self.new, Message):
            size = self.new.size
            return len(encoded(self.key)) + len(encoded(size)) + size
        return self.end - self.start if self.new is None else len(self.new)

    def pieces(self) -> Iterator[Piece]:
        """The field as it is to be written."""
        if isinstance(self.new, Message):
            yield encoded(self.key) + encoded(self.new.size)
            yield from self.new.pieces()
        else:
            yield (self.start, self.end) if self.new is None else self.new


class Message:
    """A message in ``data[start:end]``, which was read before and is sound."""

    __slots__ = ("data", "fields")

    def __init__(self, data: Buffer, start: int, end: int) -> None:
        self.data = data
        self.fields = [Field(*entry) for entry in entries(data, start, end)]

    @property
    def size(self) -> int:
        """In bytes, as it is to be written."""
        return sum(field.size for field in self.fields)

    def of(self, number: int) -> list[Field]:
        """The length-delimited fields of a number, in the order of the file."""
        return [field for field in self.fields if field.key == number << 3 | DELIMITED and field.new != b""]

    def inner(self, field: Field) -> Message:
        """The message in a field; what is changed in it is changed in this one."""
        if not isinstance(field.new, Message):
            field.new = Message(self.data, *self.span(field))
        return field.new

    def span(self, field: Field) -> tuple[int, int]:
        """Where the contents of a length-delimited field begin and end in the file."""
        return varint(self.data, varint(self.data, field.start)[1])[1], field.end

    def text(self, number: int) -> str:
        """The text in the last field of a number, "" where there is none."""
        found = self.of(number)
        if not found:
            return ""
        if isinstance(found[-1].new, bytes):
            raw = found[-1].new
            _, behind = varint(raw, 0)
            return raw[varint(raw, behind)[1] :].decode("utf-8", "surrogateescape")
        begin, end = self.span(found[-1])
        return self.data[begin:end].decode("utf-8", "surrogateescape")

    def text_in(self, field: Field, number: int) -> str:
        """The text in the last field of a number of the message that a field holds."""
        inner = field.new if isinstance(field.new, Message) else Message(self.data, *self.span(field))
        return inner.text(number)

    def remove(self, removed: Iterable[Field]) -> None:
        """Leaves fields out."""
        for field in removed:
            field.new = b""

    def set_text(self, number: int, text: str) -> None:
        """Writes a text in place of the last field of a number, or behind all fields."""
        raw = text.encode("utf-8", "surrogateescape")
        self._set(self.of(number), encoded(number << 3 | DELIMITED) + encoded(len(raw)) + raw, number << 3 | DELIMITED)

    def set_number(self, number: int, value: int) -> None:
        """Writes a varint in place of the last field of a number, or behind all fields."""
        key = number << 3 | VARINT
        self._set([field for field in self.fields if field.key == key], encoded(key) + encoded(value), key)

    def append(self, number: int, *added: Message) -> None:
        """Adds length-delimited fields behind those of their number."""
        key = number << 3 | DELIMITED
        at = max((at for at, field in enumerate(self.fields, 1) if field.key == key), default=len(self.fields))
        self.fields[at:at] = [Field(key, 0, 0, each) for each in added]

    def reorder(self, number: int, order: Iterable[int]) -> None:
        """Puts the fields of a number into another order, given by their indices."""
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
        """The message as it is to be written, neighbouring parts of the file as one."""
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


def encoded(value: int) -> bytes:
    """An unsigned number as a varint."""
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)
