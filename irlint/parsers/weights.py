"""Decodes elements of tensors, and reads parts of large files."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterable, Iterator

from irlint.lazy_typing import TYPE_CHECKING
from irlint.model.tensor import BITS, SIGNED, Contents, Tensor
from irlint.parsers.opening import beside, opened

if TYPE_CHECKING:
    from mmap import mmap

    Buffer = bytes | mmap

#: The largest number of bytes that ``pieces`` reads at once.
PIECE = 1 << 22

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"

#: Letters of the ``struct`` module for the types that it decodes.
_LETTERS = {
    "bool": "?",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
}

#: (bits of the exponent, bits of the mantissa, bias, codes that are not finite numbers).
_SMALL_FLOATS = {
    "float8_e4m3fn": (4, 3, 7, "one nan"),
    "float8_e4m3fnuz": (4, 3, 8, "negative zero is nan"),
    "float8_e5m2": (5, 2, 15, "ieee"),
    "float8_e5m2fnuz": (5, 2, 16, "negative zero is nan"),
    "float4_e2m1": (2, 1, 1, "finite"),
}


def byte_size(dtype: str | None, count: int) -> int | None:
    """The size of ``count`` packed elements in bytes; None for strings, unknown types and a negative count."""
    bits = BITS.get(dtype or "")
    return None if bits is None or count < 0 else -(-count * bits // 8)


def contents(dtype: str | None, count: int, data: bytes) -> Contents | None:
    """The first ``count`` elements of little-endian ``data``, packed from the lowest bits of each byte.

    Returns None if ``data`` is too short, and for strings, complex and unknown types.
    """
    size = byte_size(dtype, count)
    if dtype is None or size is None or len(data) < size:
        return None
    if dtype in _LETTERS:
        return struct.unpack_from(f"<{count}{_LETTERS[dtype]}", data)
    data = bytes(data[:size])
    if dtype == "bfloat16":
        return struct.unpack(f"<{count}f", b"".join(b"\0\0" + data[at : at + 2] for at in range(0, size, 2)))
    if dtype == "float8_e8m0":
        return tuple(float("nan") if code == 255 else 2.0 ** (code - 127) for code in data)
    if dtype in _SMALL_FLOATS:
        table = [_small_float(dtype, code) for code in range(1 << BITS[dtype])]
        return tuple(table[code] for code in _codes(data, BITS[dtype], count))
    if dtype in {"int2", "uint2", "int4", "uint4"}:
        bits = BITS[dtype]
        half = 1 << (bits - 1) if dtype in SIGNED else 0
        return tuple((code ^ half) - half for code in _codes(data, bits, count))
    return None


class Weights(Tensor):
    """A constant of floating-point numbers. Its ``value`` is decoded from ``raw`` on the first access.

    All constants of one element type and shape share one object ``form``.
    """

    __slots__ = ("_finite", "contents", "form", "raw")

    def __init__(self, tensor: Tensor, form: object, raw: bytes) -> None:
        self._finite: bool | None = None
        self.contents: Contents | None = None
        self.dtype, self.shape, self.extent = tensor.dtype, tensor.shape, None
        self.form, self.raw = form, raw

    @property
    def value(self) -> Contents | None:  # type: ignore[override]
        """The elements."""
        if self.contents is None:
            self.contents = contents(self.dtype, len(self.raw) * 8 // BITS[self.dtype or ""], self.raw)
        return self.contents

    @property
    def is_moderate(self) -> bool:
        """Whether the highest byte of each number proves that the number is finite and not close to overflow."""
        if self._finite is None:
            width, possible = _HIGHEST[self.dtype or ""]
            highest = self.raw[width - 1 :: width]
            self._finite = len(highest.translate(None, possible)) == len(highest)
        return self._finite


#: (size of a number in bytes, values of the highest byte of infinity, of NaN, and of numbers close to overflow).
_HIGHEST = {"float16": (2, bytes((*range(0x5C, 0x80), *range(0xDC, 0x100))))}
_HIGHEST |= {"bfloat16": (2, b"\x7f\xff"), "float32": (4, b"\x7e\x7f\xfe\xff"), "float64": (8, b"\x7f\xff")}

#: The element types of ``Weights``.
WEIGHTS_TYPES = frozenset(_HIGHEST)


def is_lfs_pointer(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is a Git LFS pointer."""
    return bytes(head[: len(_LFS_POINTER)]) == _LFS_POINTER


def other_kind(head: bytes) -> str:
    """What a file that begins with ``head`` is, in words; "" if it may be a weights file."""
    if is_lfs_pointer(head):
        return "a Git LFS pointer, not the weights"
    text = bytes(head).lstrip()[:14].lower()
    if text.startswith((b"<!doctype html", b"<html", b"<?xml ")):
        return "a web page, not the weights"
    return ""


def strings_fault(size: int, bytes_at: Callable[[int, int], bytes], count: int) -> str:
    """The fault in the count or positions of strings in an IR constant as the end of a sentence; else "".

    ``bytes_at(offset, size)`` reads the ``size`` bytes of the constant. Its shape has ``count`` elements.
    """
    if size < 4:
        return f"but {size} bytes are too few for their number"
    stated = struct.unpack("<i", bytes_at(0, 4))[0]
    if stated < 0:
        return f"and declares {stated}"
    begin = 4 * (stated + 2)
    if begin > size:
        return f"and declares {stated}, whose positions need {begin} of its {size} bytes"
    if stated != count:
        return f"{stated} by their own count and {count} by their shape"
    data = bytes_at(4, begin - 4)
    places = memoryview(data).cast("i") if sys.byteorder == "little" else struct.unpack(f"<{stated + 1}i", data)
    last = 0
    for index, place in enumerate(places):
        if place < last:
            return (
                f"and string {max(0, index - 1)} ends at {place}, before its beginning"
                if index
                else f"and the first begins at {place}"
            )
        last = place
    if last > size - begin:
        return f"which end at character {last} of {size - begin}"
    return ""


def slice_of(path: str | os.PathLike[str], offset: int, size: int) -> bytes:
    """At most ``size`` bytes from ``offset`` in a file; raises OSError."""
    with opened(path) as file:
        file.seek(offset)
        return file.read(size)


def pieces(model: str, file: str | None, offset: int, size: int, data: Buffer | None = None) -> Iterator[bytes]:
    """At most ``size`` bytes from ``offset`` in a file beside a model, or in the model if ``file`` is None.

    ``data`` are the bytes of the model, if the caller has them. Raises OSError.
    """
    if file is None and data is not None:
        for at in range(0, size, PIECE):
            yield data[offset + at : offset + min(at + PIECE, size)]
        return
    with opened(model if file is None else beside(model, file.partition("\0")[0])) as other:
        other.seek(offset)
        remaining = size
        while remaining > 0 and (piece := other.read(min(PIECE, remaining))):
            remaining -= len(piece)
            yield piece


def _codes(data: bytes, bits: int, count: int) -> Iterable[int]:
    """The first ``count`` numbers of ``bits`` bits each. In each byte, the lowest bits are the first number."""
    per_byte = 8 // bits
    mask = (1 << bits) - 1
    return (data[index // per_byte] >> index % per_byte * bits & mask for index in range(count))


def _small_float(dtype: str, code: int) -> float:
    exponent_bits, mantissa_bits, bias, special = _SMALL_FLOATS[dtype]
    sign = -1.0 if code >> (exponent_bits + mantissa_bits) else 1.0
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    mantissa = code & (1 << mantissa_bits) - 1
    top = exponent == (1 << exponent_bits) - 1
    if special == "negative zero is nan" and code == 0x80:
        return float("nan")
    if special == "one nan" and code & 0x7F == 0x7F:
        return float("nan")
    if special == "ieee" and top:
        return float("nan") if mantissa else sign * float("inf")
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
