"""Hashes of the elements of constants."""

from __future__ import annotations

import os
from collections.abc import Iterator
from math import prod

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model import Constant
from irlint.model.tensor import BITS
from irlint.parsers.weights import byte_size, pieces

if TYPE_CHECKING:
    from irlint.parsers.weights import Buffer

#: The number of hexadecimal digits that are compared.
DIGITS = 32

#: The number of hexadecimal digits that are shown.
SHOWN = 8


class Digests:
    """Hashes constants. Raw bytes that several constants share are read only once."""

    def __init__(self) -> None:
        self._known: dict[object, str | None] = {}

    def of(
        self, constant: Constant, model: str, data: Buffer | None = None, *, source: str | None = None
    ) -> str | None:
        """The hash of the elements of a constant; None if they cannot be read.

        ``model`` is the path of the model. The bytes of the model are ``data`` if given, else those of the file
        ``source`` if given, else those of ``model``. Two constants of the same type and shape have equal hashes if
        and only if their elements are equal.
        """
        if constant.parts:
            found = [self.of(part, model, data, source=source) for part in constant.parts]
            return None if None in found else _hash(iter(["".join(map(str, found)).encode()]))
        if constant.tensor.value is not None:
            return _hash(iter([repr(constant.tensor.value).encode()]))
        stored = constant.stored
        if stored is None or stored.reason:
            return None
        if stored.file is None and source is not None:
            model = source
        if stored.coded is not None:
            return _of_coded(constant.tensor.dtype, *stored.coded, model, data)
        size = self._size(constant)
        if size is None or size > (stored.available or 0) or (stored.file is None and not stored.offset):
            return None
        inside = stored.file is None and data is not None
        key = (id(data) if inside else _identity(model, stored.file), stored.offset, size)
        if key not in self._known:
            try:
                self._known[key] = _hash(pieces(model, stored.file, stored.offset, size, data))
            except OSError:
                return None
        return self._known[key]

    @staticmethod
    def lack(constant: Constant) -> str:
        """Why the elements of a constant cannot be read; "" if they can be read."""
        if constant.parts:
            return next((why for part in constant.parts if (why := Digests.lack(part))), "")
        stored = constant.stored
        if constant.tensor.value is not None:
            return ""
        if stored is None:
            return "nothing is stored"
        if stored.reason or stored.coded is not None:
            return stored.reason or ""
        size = Digests._size(constant)
        if size is None or (stored.file is None and not stored.offset):
            return "their place is unknown"
        return f"{stored.file or 'the file'} ends before them" if size > (stored.available or 0) else ""

    @staticmethod
    def _size(constant: Constant) -> int | None:
        """The number of bytes that type and shape need or, if these are unknown, the number of stored bytes."""
        shape = constant.tensor.shape
        sizes = [dim for dim in shape or () if isinstance(dim, int) and dim >= 0]
        stored = constant.stored.size if constant.stored is not None else None
        if shape is None or len(sizes) < len(shape):
            return stored
        return byte_size(constant.tensor.dtype, prod(sizes)) or stored


def _identity(model: str, file: str | None) -> object:
    """A key that is equal for all paths to one file on disk."""
    path = model if file is None else os.path.join(os.path.dirname(model), file)
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path
    return status.st_dev, status.st_ino or path


def _hash(parts: Iterator[bytes]) -> str:
    import hashlib

    found = hashlib.sha256(usedforsecurity=False)
    for part in parts:
        found.update(part)
    return found.hexdigest()[:DIGITS]


def _of_coded(dtype: str | None, start: int, end: int, model: str, data: Buffer | None) -> str | None:
    """The hash of elements in a typed field, such as ``int32_data``. It equals that of the elements in ``raw_data``."""
    try:
        parts = pieces(model, None, start, end - start, data)
        if dtype not in BITS:
            return _hash(parts)
        return _hash(_elements(parts, max(1, BITS[dtype] // 8)))
    except OSError:
        return None


def _elements(parts: Iterator[bytes], width: int) -> Iterator[bytes]:
    """Converts packed varints to little-endian elements of ``width`` bytes. A varint may continue in the next part."""
    mask, value, shift = (1 << 8 * width) - 1, 0, 0
    for part in parts:
        found = bytearray()
        for byte in part:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                found += (value & mask).to_bytes(width, "little")
                value = shift = 0
        yield bytes(found)
