"""Copies an ONNX file into memory without its large weights. If the file is truncated later, the copy stays valid."""

from __future__ import annotations

import re

from irlint.lazy_typing import TYPE_CHECKING, BinaryIO
from irlint.parsers import opening
from irlint.parsers.onnx.protobuf import DELIMITED, FIXED32, FIXED64, VARINT, Damage, varint
from irlint.parsers.opening import shrunk

if TYPE_CHECKING:
    from mmap import mmap

#: Fields of at most this many bytes are always read. Longer weights are not.
SHORT = 1 << 16

#: The largest number of bytes of the key and the length of a field.
HEADER = 20

#: The number of bytes of a value of fixed size, by wire type.
WIDTHS = {FIXED64: 8, FIXED32: 4}

#: Matches consecutive varint fields whose key and value take one byte each.
_VARINTS = re.compile(b"(?:[%s][\0-\x7f])+" % bytes(range(8, 128, 8)))

#: The least number of bytes of a read. A file object may have its own limit, ``block``.
BLOCK = 1 << 16

_MODEL, _GRAPH, _NODE, _ATTRIBUTE, _TENSOR, _SPARSE, _FUNCTION = range(7)

#: For each message, the fields that may contain large tensors, and the message in each of these fields.
_INNER = {
    _MODEL: {7: _GRAPH, 25: _FUNCTION},
    _GRAPH: {1: _NODE, 5: _TENSOR, 15: _SPARSE},
    _NODE: {5: _ATTRIBUTE},
    _ATTRIBUTE: {5: _TENSOR, 6: _GRAPH, 10: _TENSOR, 11: _GRAPH, 22: _SPARSE, 23: _SPARSE},
    _SPARSE: {1: _TENSOR, 2: _TENSOR},
    _FUNCTION: {7: _NODE},
    _TENSOR: {},
}

#: ``floats``, ``ints`` and ``strings`` of an attribute.
_LISTS = (7, 8, 9)

#: ``float_data``, ``raw_data`` and ``double_data`` of a tensor.
_WEIGHTS = (4, 9, 10)


def copied(file: BinaryIO) -> mmap:
    """A copy of the file with zeros in place of large weights.

    Raises OSError if the file is truncated while it is read.
    """
    size = opening.size(file)
    copy = _Copy(file, size)
    copy.message(_MODEL, 0, size)
    return copy.data


def _memory(size: int) -> mmap:
    """``size`` zero bytes, which take no memory until they are written."""
    import mmap

    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return mmap.mmap(-1, size)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
    return mmap.mmap(-1, size, flags=flags)


class _Copy:
    """A file, and the memory into which it is read."""

    def __init__(self, file: BinaryIO, file_size: int) -> None:
        self.file = file
        self.file_size = file_size
        self.block: int = getattr(file, "block", BLOCK)
        self.data = _memory(file_size)
        #: The end of the last read. Bytes before this position were read or are not needed.
        self.read_end = 0

    def message(self, kind: int, start: int, end: int) -> None:
        """Reads a message without large weights. At a damaged field, reads SHORT more bytes and stops."""
        at, data = start, self.data
        while at < end:
            if at + HEADER > self.read_end:
                self.read(at, min(self.file_size, at + HEADER))
            try:
                length, begin = data[at + 1], at + 2
                if length > 127:
                    # Most lengths take one or two bytes. A longer length is replaced by one that exceeds the file.
                    length += (data[begin] - 1) * 128 if data[begin] < 128 else self.file_size
                    begin += 1
                is_read = data[at] & 0x87 == DELIMITED and begin + length <= min(end, self.read_end)
                at = begin + length if is_read and kind != _ATTRIBUTE else self._field(kind, at, end)
            except (Damage, IndexError):
                self.read(at, min(end, at + SHORT))
                return

    def _field(self, kind: int, at: int, end: int) -> int:
        """Reads a field, and returns the position of the next one. Raises Damage and IndexError."""
        first = at
        key, at = varint(self.data, at)
        number, wire = key >> 3, key & 7
        if not number:
            raise Damage(f"byte {first} begins a field with the number 0", 0, first)
        if kind == _ATTRIBUTE and number in _LISTS:
            self.read(at, end)
            return end
        if wire == VARINT:
            return self._past_varints(first, end)
        if wire != DELIMITED:
            # The start or the end of a group has no value.
            return at + WIDTHS.get(wire, 0)
        length, at = varint(self.data, at)
        stop = at + length
        if stop > end:
            raise IndexError
        inner = _INNER[kind].get(number)
        if length <= SHORT or (inner is None and not (kind == _TENSOR and number in _WEIGHTS)):
            self.read(at, stop)
        elif inner is not None:
            self.message(inner, at, stop)
        return stop

    def _past_varints(self, at: int, end: int) -> int:
        """The position after one or several varint fields."""
        several = _VARINTS.match(self.data, at, min(end, self.read_end))
        return several.end() if several is not None else varint(self.data, varint(self.data, at)[1])[1]

    def read(self, start: int, end: int) -> None:
        """Reads the bytes from ``start`` to ``end``, without those before ``read_end``. Reads at least one block."""
        start = max(start, self.read_end)
        if start >= end:
            return
        end = min(self.file_size, max(end, start + self.block))
        self.file.seek(start)
        view = memoryview(self.data)[start:end]
        while view:
            count = self.file.readinto(view)  # type: ignore[attr-defined]
            if not count:
                raise shrunk(self.file)
            view = view[count:]
        self.read_end = end
